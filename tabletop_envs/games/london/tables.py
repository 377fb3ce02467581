"""London's cards and boroughs as printed, and what follows from them; all arrays are read-only.

Knows numbers and names only: no state, no actions, no rules. What a card does is told by its row alone; `rules.py`
knows the codes of texts, never a single card.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Table = TypeVar("Table", bound=NDArray[np.generic])


def _read_only(table: Table) -> Table:
    table.flags.writeable = False
    return table


# --- Printed: players, setup, money -------------------------------------------------------------------------

SEATS: Final = 4  # at most
MONEY: Final = 5  # R2.1
POVERTY: Final = 5  # R2.1
HAND: Final = 6  # R2.3
HAND_LIMIT: Final = 9  # R4.6
COUNTERS: Final = 11  # R1.5, building counters of each player
UNDERGROUNDS: Final = 10  # R1.5
PER_UNDERGROUND: Final = 2  # R9.14, counters an activation places
RIVER: Final = 3  # R9.14, pounds
TAKE_THREE_CARDS: Final = 3  # R8.1
REFUGEE_CARDS: Final = 2  # R7.8
PARLIAMENT_CARDS: Final = 2  # R6.4
SEEN_CARDS: Final = 3  # R6.5
FREE_PLAYS: Final = 2  # R7.9
SCHOOL_FEE: Final = 1  # R7.4
PRISON_CARDS: Final = 3  # R9.19
LLOYDS: Final = 2  # R9.21
FLEET_STREET: Final = 2  # R9.22
LOAN: Final = 10  # R11.1
LOAN_WITH_BANK: Final = 12  # R11.4
REPAY: Final = 15  # R13.2
UNPAID: Final = 7  # R13.7
POUNDS_A_POINT: Final = 3  # R13.4
UNDERGROUND_POINTS: Final = 2  # R13.5

# R1.4, R2.4, R5.2: the Card Display has two rows of up to five spaces; space = COLUMNS * row + column, both from 0.
ROWS: Final = 2
COLUMNS: Final = 5
SPACES: Final = ROWS * COLUMNS
SPARE_COLUMNS: Final = 1  # columns in use are players + 1

# R2.2: the decks from top to bottom.
LETTERS: Final = "ABC"

# R1.2
COLOUR_NAMES: Final[tuple[str, ...]] = ("brown", "blue", "pink", "grey")
BROWN: Final = 0
BLUE: Final = 1
PINK: Final = 2
GREY: Final = 3
COLOURS: Final = len(COLOUR_NAMES)

# R1.6: texts that work while the card is visible, or when a stone-less card is used.
STANDING_TEXTS: Final[tuple[str, ...]] = (
    "",
    "free_placement",
    "school",
    "shops_income",
    "stock_exchange",
    "parliament",
    "university",
    "bank_of_england",
    "hospital",
    "take_two",
    "wren",
)
# R1.6: texts that work on activation.
RUN_TEXTS: Final[tuple[str, ...]] = (
    "",
    "shops_collect",
    "whitehall",
    "underground",
    "public_houses",
    "coffee_house",
    "money_per_brown",
    "town_houses",
    "brixton_prison",
    "millbank_prison",
    "workhouse",
    "fire_brigade",
    "lloyds",
    "fleet_street",
    "police_force",
    "omnibus",
    "steamboats",
    "train_station",
)
PAYMENTS: Final[tuple[str, ...]] = ("", "card", "blue", "money")


class Card(NamedTuple):
    """A card type (R1.3).

    copies: in decks A, B, C; cost: pounds to place it; points: printed VP; payment: what activating costs, "",
    "card" (any), "blue" (card) or "money N"; money, counters, poverty: what the icons give (poverty below 0 is
    removed); flips; standing, run: texts, of STANDING_TEXTS and RUN_TEXTS.
    """

    name: str
    colour: str
    copies: tuple[int, int, int]
    cost: int
    points: int
    payment: str
    money: int
    counters: int
    poverty: int
    flips: bool
    standing: str
    run: str


class Borough(NamedTuple):
    """A borough (R3.1, R3.5): price, cards drawn, VP; its bank, whether it touches the Thames, whether it is red.

    x, y: where it lies on the map, 0 to 1, for drawing only.
    """

    name: str
    price: int
    cards: int
    points: int
    bank: str
    thames: bool
    red: bool
    x: float
    y: float


# name, colour, copies, cost, points, payment, money, counters, poverty, flips, standing text, text when run
# fmt: off
_CARDS = (
    ("Almshouses", "brown", (1, 0, 0), 0, 0, "", 0, 0, -2, True, "", ""),
    ("Coffee House", "brown", (2, 0, 0), 0, 0, "", 0, 0, 0, False, "free_placement", "coffee_house"),
    ("Covent Garden", "brown", (1, 0, 0), 0, 0, "", 5, 2, 0, True, "", ""),
    ("East India Company", "brown", (1, 0, 0), 4, 2, "card", 12, 0, 0, True, "", ""),
    ("Fishmongers", "brown", (1, 0, 0), 0, 0, "", 5, 0, 0, True, "", ""),
    ("Great Fire Monument", "pink", (1, 0, 0), 5, 4, "", 0, 0, 0, False, "", ""),
    ("Grocers", "brown", (1, 0, 0), 0, 0, "", 4, 0, 0, True, "", ""),
    ("Haberdashers", "brown", (1, 0, 0), 0, 0, "", 4, 0, 0, True, "", ""),
    ("Hospital", "blue", (1, 2, 0), 2, 3, "", 0, 0, 0, True, "hospital", ""),
    ("Mercers", "brown", (1, 0, 0), 0, 0, "", 5, 0, 0, True, "", ""),
    ("Salters", "brown", (1, 0, 0), 0, 0, "", 4, 0, 0, True, "", ""),
    ("School (blue, A)", "blue", (1, 0, 0), 2, 2, "", 0, 0, 0, False, "school", ""),
    ("School (brown, A)", "brown", (1, 0, 0), 2, 2, "", 0, 0, 0, False, "school", ""),
    ("St Paul's", "blue", (1, 0, 0), 10, 6, "", 0, 0, 0, False, "", ""),
    ("Theatre Royal", "blue", (1, 0, 0), 0, 0, "", 2, 2, 0, True, "", ""),
    ("Vauxhall Gardens", "brown", (1, 0, 0), 0, 0, "", 2, 2, -1, True, "", ""),
    ("Vintners", "brown", (1, 0, 0), 0, 0, "", 4, 0, 0, True, "", ""),
    ("Water Works", "blue", (2, 0, 0), 1, 1, "", 0, 0, -2, True, "", ""),
    ("Woolwich Arsenal", "pink", (1, 0, 0), 0, 0, "money 7", 0, 5, 0, True, "", ""),
    ("Albert Dock", "brown", (0, 1, 0), 2, 2, "card", 10, 1, 0, True, "", ""),
    ("Bank of England", "brown", (0, 1, 0), 0, 2, "", 0, 0, 0, False, "bank_of_england", ""),
    ("Brewing", "brown", (0, 2, 0), 2, 1, "card", 9, 0, 0, True, "", ""),
    ("Bridge", "pink", (0, 2, 0), 2, 2, "", 0, 0, 0, False, "", "money_per_brown"),
    ("British Museum", "blue", (0, 1, 0), 4, 2, "", 0, 1, -1, False, "", ""),
    ("Brixton Prison", "pink", (0, 1, 0), 0, 0, "", 0, 0, 0, True, "", "brixton_prison"),
    ("Buckingham Palace", "blue", (0, 1, 0), 10, 7, "", 0, 0, 0, False, "", ""),
    ("Fire Brigade", "pink", (0, 1, 0), 0, 0, "", 0, 2, 0, True, "", "fire_brigade"),
    ("Fleet Street", "pink", (0, 1, 0), 0, 0, "", 5, 0, 0, True, "", "fleet_street"),
    ("Furniture Makers", "brown", (0, 2, 0), 0, 1, "", 6, 0, 0, True, "", ""),
    ("Highgate Cemetery", "pink", (0, 1, 0), 4, 2, "", 0, 0, -2, True, "", ""),
    ("Kew Gardens", "blue", (0, 1, 0), 7, 4, "", 0, 0, -1, False, "", ""),
    ("Leather Industry", "brown", (0, 2, 0), 0, 1, "", 7, 0, 1, True, "", ""),
    ("Lloyds of London", "brown", (0, 1, 0), 0, 2, "", 0, 0, 0, True, "", "lloyds"),
    ("Lord's", "blue", (0, 1, 0), 0, 1, "", 0, 1, -1, False, "", ""),
    ("Millbank Prison", "pink", (0, 1, 0), 5, 0, "", 0, 0, 0, True, "", "millbank_prison"),
    ("Nelson's Column", "blue", (0, 1, 0), 8, 5, "", 0, 0, 0, False, "", ""),
    ("Omnibus", "brown", (0, 2, 0), 0, 0, "", 0, 0, 0, False, "", "omnibus"),
    ("Oxford Street", "brown", (0, 1, 0), 4, 0, "", 8, 2, -1, True, "", ""),
    ("Police Force", "pink", (0, 1, 0), 2, 0, "", 0, 2, 0, True, "", "police_force"),
    ("Regent Street", "pink", (0, 1, 0), 2, 2, "", 3, 2, -1, True, "", ""),
    ("Royal Victoria Dock", "brown", (0, 1, 0), 2, 2, "card", 10, 1, 0, True, "", ""),
    ("Ship Building", "brown", (0, 2, 0), 2, 1, "card", 6, 2, 0, True, "", ""),
    ("Shops", "brown", (0, 2, 2), 0, 0, "", 0, 2, -1, True, "shops_income", "shops_collect"),
    ("Silk Weaving", "brown", (0, 1, 0), 0, 1, "", 6, 0, 0, True, "", ""),
    ("Steamboats", "brown", (0, 2, 0), 0, 0, "", 0, 0, 0, True, "", "steamboats"),
    ("Stock Exchange", "brown", (0, 1, 0), 2, 1, "", 2, 0, 0, False, "stock_exchange", ""),
    ("Street Lights", "blue", (0, 2, 0), 0, 0, "money 4", 0, 1, -2, False, "", ""),
    ("Town Houses", "blue", (0, 2, 0), 4, 0, "", 0, 0, 0, True, "", "town_houses"),
    ("University of London", "blue", (0, 1, 0), 5, 3, "", 0, 0, 0, False, "university", ""),
    ("Watch Makers", "brown", (0, 1, 0), 0, 1, "", 6, 0, 0, True, "", ""),
    ("West India Docks", "brown", (0, 1, 0), 0, 2, "card", 7, 0, 0, True, "", ""),
    ("Workers' Houses", "brown", (0, 2, 0), 0, 0, "", 0, 0, -2, True, "", ""),
    ("Albert Hall", "blue", (0, 0, 1), 5, 3, "", 0, 2, 0, True, "", ""),
    ("Billingsgate Market", "brown", (0, 0, 1), 0, 0, "", 8, 0, 0, True, "", ""),
    ("Grand Hotel", "brown", (0, 0, 1), 0, 0, "", 4, 0, 0, False, "", ""),
    ("Great Exhibition", "pink", (0, 0, 1), 3, 0, "blue", 0, 5, 0, True, "", ""),
    ("Natural History Museum", "blue", (0, 0, 1), 6, 1, "", 0, 2, -1, False, "", ""),
    ("Parliament", "pink", (0, 0, 1), 9, 5, "", 0, 0, 0, False, "parliament", ""),
    ("Public Houses", "brown", (0, 0, 1), 0, 0, "", 0, 0, 0, False, "", "public_houses"),
    ("School (blue, C)", "blue", (0, 0, 1), 2, 2, "", 0, 0, -1, False, "school", ""),
    ("Sewers", "blue", (0, 0, 5), 4, 0, "", 0, 0, -3, True, "", ""),
    ("Smithfield Market", "brown", (0, 0, 1), 0, 0, "", 8, 0, -1, True, "", ""),
    ("Thames Embankment", "pink", (0, 0, 1), 8, 4, "", 0, 0, -1, True, "", ""),
    ("Tower Bridge", "pink", (0, 0, 1), 6, 4, "", 0, 0, 0, False, "", "money_per_brown"),
    ("Train Station", "brown", (0, 0, 3), 3, 3, "card", 0, 0, -1, True, "", "train_station"),
    ("Underground", "pink", (0, 0, 5), 7, 0, "card", 0, 4, 0, True, "", "underground"),
    ("Whitehall", "pink", (0, 0, 1), 4, 1, "", 0, 0, 0, True, "", "whitehall"),
    ("Workhouse", "pink", (0, 0, 1), 0, 2, "", 0, 0, 0, True, "", "workhouse"),
    ("Paupers", "grey", (2, 4, 5), 0, 0, "", 0, 0, 0, False, "", ""),
    ("Wren", "blue", (1, 0, 0), 0, 0, "", 0, 0, 0, False, "wren", ""),
    ("Huguenots", "brown", (1, 0, 0), 0, 0, "", 0, 0, 0, False, "take_two", ""),
    ("Jewish Refugees", "brown", (0, 0, 2), 0, 0, "", 0, 0, 0, False, "take_two", ""),
)
CARDS: Final[tuple[Card, ...]] = tuple(Card(*row) for row in _CARDS)
TYPES: Final = len(CARDS)
STONE_TYPES: Final = 68  # R1.1: the types from here on have no stone base

# name, price, cards, points, bank, touches the Thames, red, x, y
_BOROUGHS = (
    ("City", 8, 4, 6, "north", True, True, 0.553, 0.336),
    ("Westminster", 8, 2, 6, "north", True, True, 0.397, 0.448),
    ("Southwark & Bermondsey", 5, 4, 4, "south", True, True, 0.584, 0.494),
    ("Bethnal Green, Stepney & Poplar", 3, 5, 3, "north", True, False, 0.761, 0.323),
    ("Hackney", 3, 5, 2, "north", False, False, 0.698, 0.131),
    ("Islington & Stoke Newington", 4, 4, 3, "north", False, False, 0.522, 0.131),
    ("St. Pancras", 5, 3, 4, "north", False, False, 0.409, 0.227),
    ("Hampstead", 7, 2, 5, "north", False, False, 0.263, 0.147),
    ("St. Marylebone", 5, 3, 4, "north", False, False, 0.314, 0.309),
    ("Paddington", 5, 3, 4, "north", False, False, 0.238, 0.38),
    ("Kensington", 7, 2, 5, "north", False, False, 0.192, 0.471),
    ("Hammersmith", 6, 3, 4, "north", True, False, 0.087, 0.453),
    ("Fulham & Chelsea", 7, 2, 5, "north", True, False, 0.188, 0.632),
    ("Wandsworth", 4, 3, 3, "south", True, False, 0.209, 0.803),
    ("Battersea", 4, 4, 3, "south", True, False, 0.342, 0.68),
    ("Lambeth", 4, 4, 3, "south", True, False, 0.519, 0.707),
    ("Camberwell", 4, 4, 3, "south", False, False, 0.65, 0.681),
    ("Deptford", 3, 5, 2, "south", True, False, 0.774, 0.637),
    ("Lewisham", 3, 5, 2, "south", False, False, 0.847, 0.802),
    ("Greenwich", 3, 5, 2, "south", True, False, 0.946, 0.587),
)
# fmt: on
BOROUGHS: Final[tuple[Borough, ...]] = tuple(Borough(*row) for row in _BOROUGHS)
PLACES: Final = len(BOROUGHS)
CITY: Final = 0

# R3.3: pairs that share a border on one bank.
BORDERS: Final[tuple[tuple[int, int], ...]] = (
    *((0, 1), (0, 3), (0, 4), (0, 5), (0, 6), (0, 8), (1, 8), (1, 9), (1, 10), (1, 12), (3, 4), (4, 5), (5, 6)),
    *((6, 7), (6, 8), (7, 8), (8, 9), (9, 10), (10, 11), (10, 12), (11, 12), (2, 15), (2, 16), (2, 17), (14, 15)),
    *((13, 15), (15, 16), (13, 14), (16, 17), (16, 18), (17, 18), (17, 19), (18, 19)),
)
# R3.4
BRIDGES: Final[tuple[tuple[int, int], ...]] = ((0, 2), (1, 15), (12, 14), (12, 13))

# R13.8: VP lost by levelled poverty points 0 to 10, and for each point above.
PENALTY: Final[NDArray[np.int64]] = _read_only(np.array([0, 1, 1, 2, 3, 5, 7, 9, 11, 13, 15], np.int64))
PENALTY_ABOVE: Final = 3

# The line of the Thames on the map, 0 to 1, for drawing only.
# fmt: off
THAMES: Final[tuple[tuple[float, float], ...]] = (
    (0.0, 0.692), (0.03, 0.637), (0.05, 0.596), (0.073, 0.583), (0.092, 0.606), (0.117, 0.676), (0.133, 0.713),
    (0.153, 0.727), (0.207, 0.738), (0.25, 0.719), (0.276, 0.676), (0.296, 0.621), (0.362, 0.608), (0.422, 0.594),
    (0.458, 0.574), (0.47, 0.531), (0.473, 0.489), (0.483, 0.449), (0.517, 0.432), (0.588, 0.439), (0.656, 0.473),
    (0.69, 0.475), (0.743, 0.43), (0.777, 0.439), (0.79, 0.502), (0.812, 0.56), (0.85, 0.582), (0.88, 0.555),
    (0.889, 0.483), (0.915, 0.454), (0.949, 0.492), (0.998, 0.502),
)
# fmt: on

# --- Derived: cards -----------------------------------------------------------------------------------------


def _column(values: Iterable[int]) -> NDArray[np.int64]:
    return _read_only(np.array(list(values), np.int64))


def _code(texts: tuple[str, ...], name: str) -> int:
    return texts.index(name)


def _only(text: str) -> int:
    """The one type with this standing text."""
    (found,) = [kind for kind, card in enumerate(CARDS) if card.standing == text]
    return found


# int64[72], [type] -> number, all as printed
COLOUR: Final = _column(COLOUR_NAMES.index(card.colour) for card in CARDS)
COPIES: Final = _column(sum(card.copies) for card in CARDS)
COST: Final = _column(card.cost for card in CARDS)
POINTS: Final = _column(card.points for card in CARDS)
PAYMENT: Final = _column(PAYMENTS.index(card.payment.split(" ")[0]) for card in CARDS)
PAYMENT_MONEY: Final = _column(int(card.payment[6:]) if card.payment.startswith("money") else 0 for card in CARDS)
GAIN_MONEY: Final = _column(card.money for card in CARDS)
GAIN_COUNTERS: Final = _column(card.counters for card in CARDS)
GAIN_POVERTY: Final = _column(card.poverty for card in CARDS)
FLIPS: Final = _column(card.flips for card in CARDS)
STANDING: Final = _column(_code(STANDING_TEXTS, card.standing) for card in CARDS)
RUN: Final = _column(_code(RUN_TEXTS, card.run) for card in CARDS)
# int64[3, 72], [letter, type] -> copies in that deck
LETTER_COPIES: Final = _read_only(np.array([card.copies for card in CARDS], np.int64).T.copy())

CARDS_IN_ALL: Final = int(COPIES.sum())
STONE_CARDS: Final = int(COPIES[:STONE_TYPES].sum())
MAX_POINTS: Final = int(POINTS.max())
MAX_COPIES: Final = int(COPIES.max())
# int64[3], [letter] -> cards of the deck
LETTER_SIZES: Final = _read_only(LETTER_COPIES.sum(axis=1))

NO_PAYMENT: Final = PAYMENTS.index("")
ANY_CARD: Final = PAYMENTS.index("card")
BLUE_CARD: Final = PAYMENTS.index("blue")
FOR_MONEY: Final = PAYMENTS.index("money")

WREN: Final = STANDING_TEXTS.index("wren")
TAKE_TWO: Final = STANDING_TEXTS.index("take_two")

# the types that rules ask for by their standing text
COFFEE_HOUSE: Final = _only("free_placement")
SHOPS: Final = _only("shops_income")
STOCK_EXCHANGE: Final = _only("stock_exchange")
PARLIAMENT: Final = _only("parliament")
UNIVERSITY: Final = _only("university")
BANK_OF_ENGLAND: Final = _only("bank_of_england")
HOSPITAL: Final = _only("hospital")
PAUPERS: Final = next(kind for kind, card in enumerate(CARDS) if card.colour == "grey")

SHOPS_COLLECT: Final = RUN_TEXTS.index("shops_collect")
WHITEHALL: Final = RUN_TEXTS.index("whitehall")
UNDERGROUND: Final = RUN_TEXTS.index("underground")
PUBLIC_HOUSES: Final = RUN_TEXTS.index("public_houses")
COFFEE: Final = RUN_TEXTS.index("coffee_house")
MONEY_PER_BROWN: Final = RUN_TEXTS.index("money_per_brown")
TOWN_HOUSES: Final = RUN_TEXTS.index("town_houses")
BRIXTON_PRISON: Final = RUN_TEXTS.index("brixton_prison")
MILLBANK_PRISON: Final = RUN_TEXTS.index("millbank_prison")
WORKHOUSE: Final = RUN_TEXTS.index("workhouse")
FIRE_BRIGADE: Final = RUN_TEXTS.index("fire_brigade")
LLOYDS_OF_LONDON: Final = RUN_TEXTS.index("lloyds")
FLEET: Final = RUN_TEXTS.index("fleet_street")
POLICE_FORCE: Final = RUN_TEXTS.index("police_force")
OMNIBUS: Final = RUN_TEXTS.index("omnibus")
STEAMBOATS: Final = RUN_TEXTS.index("steamboats")
TRAIN_STATION: Final = RUN_TEXTS.index("train_station")

# the one type of a run text, where a rule asks for it by name
PUBLIC_HOUSES_CARD: Final = next(kind for kind, card in enumerate(CARDS) if card.run == "public_houses")
WHITEHALL_CARD: Final = next(kind for kind, card in enumerate(CARDS) if card.run == "whitehall")

# --- Derived: sets of card types ----------------------------------------------------------------------------

# A set of types is two int64 words of 36 bits: type t is bit t % 36 of word t // 36.
WORD: Final = 36
WORDS: Final = 2


def _types(chosen: Iterable[int]) -> NDArray[np.int64]:
    words = np.zeros(WORDS, np.int64)
    for kind in chosen:
        words[kind // WORD] |= 1 << kind % WORD
    return words


def _where(condition: NDArray[np.bool_]) -> NDArray[np.int64]:
    return _read_only(_types(int(kind) for kind in np.flatnonzero(condition)))


# int64[72, 2], [type] -> the set of this type alone
TYPE_BIT: Final = _read_only(np.array([_types([kind]) for kind in range(TYPES)], np.int64))
# int64[2]
STONE: Final = _where(np.arange(TYPES) < STONE_TYPES)
SCHOOLS: Final = _where(np.isin(STANDING, [STANDING_TEXTS.index("school")]))
REFUGEES: Final = _where(STANDING == TAKE_TWO)
WRENS: Final = _where(STANDING == WREN)
COFFEE_HOUSES: Final = _read_only(_types([COFFEE_HOUSE]))
# int64[4, 2], [colour] -> its types; its types with a stone base
COLOUR_TYPES: Final = _read_only(np.array([_where(np.isin(COLOUR, colour)) for colour in range(COLOURS)], np.int64))
STONE_BY_COLOUR: Final = _read_only(COLOUR_TYPES & STONE)

# R9.3: types by the card that activating them costs
WITHOUT_CARD: Final = _where((PAYMENT == NO_PAYMENT) | (PAYMENT == FOR_MONEY))
FOR_ANY_CARD: Final = _where(PAYMENT == ANY_CARD)
FOR_BLUE_CARD: Final = _where(PAYMENT == BLUE_CARD)


def _with_run(*texts: int) -> NDArray[np.int64]:
    return _where(np.isin(RUN, texts))


# R9.4: types that always have an effect, and those that have one on a condition
ALWAYS: Final = _where(
    (GAIN_MONEY > 0)
    | (GAIN_COUNTERS > 0)
    | (GAIN_POVERTY > 0)
    | np.isin(RUN, [TOWN_HOUSES, LLOYDS_OF_LONDON, PUBLIC_HOUSES])
)
IF_POOR: Final = _where(GAIN_POVERTY < 0)
IF_BROWN: Final = _with_run(MONEY_PER_BROWN)
IF_BOROUGH: Final = _with_run(OMNIBUS)
IF_THAMES: Final = _with_run(STEAMBOATS)
IF_NORTH: Final = _with_run(TRAIN_STATION)
IF_HAND: Final = _with_run(BRIXTON_PRISON, MILLBANK_PRISON)
IF_PAUPERS: Final = _with_run(WORKHOUSE)
IF_STONE_SHOWN: Final = _with_run(COFFEE)
IF_TARGET: Final = _with_run(WHITEHALL)
# R9.13: what Whitehall cannot repeat; a Coffee House is covered by its own effect
NO_TARGET: Final = _with_run(WHITEHALL, PUBLIC_HOUSES, COFFEE)

# --- Derived: boroughs --------------------------------------------------------------------------------------

# A set of boroughs is an int64 word, bit b for borough b.


def _places(chosen: Iterable[int]) -> int:
    return sum(1 << place for place in chosen)


def _beside(pairs: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    table = np.zeros(PLACES, np.int64)
    for one, other in pairs:
        table[one] |= 1 << other
        table[other] |= 1 << one
    return _read_only(table)


# int64[20], [borough] -> number
PRICE: Final = _column(borough.price for borough in BOROUGHS)
DRAWN: Final = _column(borough.cards for borough in BOROUGHS)
BOROUGH_POINTS: Final = _column(borough.points for borough in BOROUGHS)
# int64[20], [borough] -> boroughs adjacent on the same bank; on either
LAND: Final = _beside(BORDERS)
ADJACENT: Final = _beside((*BORDERS, *BRIDGES))
# sets: all, the red ones (R3.6), those on the Thames, those north of it (R3.5)
ALL_PLACES: Final = _places(range(PLACES))
RED: Final = _places(place for place, borough in enumerate(BOROUGHS) if borough.red)
ON_THAMES: Final = _places(place for place, borough in enumerate(BOROUGHS) if borough.thames)
NORTH: Final = _places(place for place, borough in enumerate(BOROUGHS) if borough.bank == "north")
