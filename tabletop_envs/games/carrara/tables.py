"""Tiles, cities, prices and cards of The Palaces of Carrara as printed, and what follows; all arrays are read-only.

Knows numbers and names only: no state, no actions, no rules. A set of tiles is an int64 with bit 6 * type + level.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Table = TypeVar("Table", bound=NDArray[np.generic])


def _read_only(table: Table) -> Table:
    table.flags.writeable = False
    return table


# --- Printed: bricks, wheel, cities, tiles ----------------------------------------------------------------------

SEATS: Final = 4

# R1.1: the colours of bricks, finest and dearest first.
COLOUR_NAMES: Final = ("white", "yellow", "red", "green", "blue", "black")
COLOURS: Final = len(COLOUR_NAMES)
BRICKS: Final = 7  # of a colour (R1.2)

# R1.3: the segments of the wheel by their price positions.
SEGMENT_NAMES: Final = ("I", "II", "III", "IV", "V", "VI")
SEGMENTS: Final = len(SEGMENT_NAMES)
REFILL: Final = 11  # bricks on the wheel after a refill (R4.3)
FIRST_BRICKS: Final = 6  # on segment I at the start (R2.5)

# R1.4: the cities by their own colours; a city accepts colours up to its own index.
CITY_NAMES: Final = ("livorno", "pisa", "lucca", "viareggio", "massa", "lerici")
CITIES: Final = len(CITY_NAMES)
LERICI: Final = CITY_NAMES.index("lerici")
BEST_CITIES: Final = 3  # Livorno, Pisa, Lucca (card B8)
# [city] -> coins or points for each point of cost
MULTIPLIER: Final[NDArray[np.int64]] = _read_only(np.array([3, 3, 2, 2, 1, 1]))
# [city] -> 1 when it pays coins, 0 when it pays points
PAYS_COINS: Final[NDArray[np.int64]] = _read_only(np.array([0, 1, 0, 1, 0, 1]))
# [city] -> buildings needed for a city scoring
NEEDED: Final[NDArray[np.int64]] = _read_only(np.array([2, 2, 2, 3, 3, 3]))

# R1.5, R1.6: the types of building, and the objects that they give.
TYPE_NAMES: Final = ("porta", "biblioteca", "cattedrale", "palazzo", "castello", "villa")
OBJECT_NAMES: Final = ("gate", "book", "cup", "crown", "flag", "coat of arms")
TYPES: Final = len(TYPE_NAMES)
OBJECTS: Final = 6  # of a kind (R1.6)
OBJECT_PRICE: Final = 10  # R7.1
# R1.5, R14: types 0 to 3 are of the city group, 4 and 5 of the country group.
GROUP_NAMES: Final = ("city", "country")
GROUPS: Final = len(GROUP_NAMES)
CITY_GROUP: Final = 0
CITY_TYPES: Final = 4

# [level] -> cost; the last level is that of the monuments (R13.1).
COST_OF_LEVEL: Final[NDArray[np.int64]] = _read_only(np.array([1, 2, 3, 4, 5, 8]))
LEVELS: Final = len(COST_OF_LEVEL)
MONUMENT_LEVEL: Final = LEVELS - 1
MONUMENT_COST: Final = int(COST_OF_LEVEL[MONUMENT_LEVEL])
MAX_COST: Final = int(COST_OF_LEVEL[MONUMENT_LEVEL - 1])  # of a tile that is no monument
TILES: Final = TYPES * LEVELS  # R17.1: tile 6 * type + level, monuments included
DISPLAY: Final = 9  # R2.2
PILE: Final = TYPES * (LEVELS - 1) - DISPLAY

MARKERS: Final = 6  # R1.7: scoring markers
# [players - 2] -> coins at the start (R2.4)
START_COINS: Final[NDArray[np.int64]] = _read_only(np.array([20, 20, 20]))
# [seat] -> colour of the first brick (R2.4)
START_BRICK: Final[NDArray[np.int64]] = _read_only(np.array([5, 4, 3, 2]))
RELIEF_COINS: Final = 2  # R4.7, R10.1
ANNOUNCE_POINTS: Final = 5  # R8.5
COINS_PER_POINT: Final = 5  # R9.1

# the option `wheel_setup`, `exhaustion`, `improvement_supply`, `payment`: stored numbers
ONE_OF_EACH: Final = 1
ALL_BUILT: Final = 1
EIGHT: Final = 1
AUTO: Final = 1

# [option improvement_supply][city] -> improvements (R13.6)
IMPROVEMENTS: Final[NDArray[np.int64]] = _read_only(np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 2, 2]]))


# --- Printed: cards ---------------------------------------------------------------------------------------------


class Metric(IntEnum):
    """What the cards count (R12.3, R12.4)."""

    NONE = 0
    SCORINGS = 1  # markers placed
    CITY_SCORINGS = 2  # markers on the game board
    OWN_SCORINGS = 3  # markers on the own board, types and groups
    COINS = 4
    BRICKS = 5
    BRICK_PAIRS = 6
    VP = 7  # on the track
    BUILDINGS = 8
    BUILDING_COST = 9
    BUILDINGS_COST_4_UP = 10
    BUILDINGS_COST_5_UP = 11
    CITIES_BUILT = 12
    TYPES_BUILT = 13
    COUNTRY_BUILDINGS = 14
    CITY_BUILDINGS = 15
    COST_IN_BEST_THREE_CITIES = 16
    BUILDINGS_IN_LERICI = 17
    CITIES_WITH_THREE_BUILDINGS = 18
    UNUSED_MARKERS = 19
    OBJECTS = 20
    OBJECT_PAIRS = 21
    OBJECT_TRIPLES = 22
    OBJECT_SETS_3 = 23
    OBJECT_SETS_4 = 24
    OBJECT_SETS_5 = 25
    COUNTRY_OBJECTS = 26
    CITY_OBJECTS = 27


DECK_NAMES: Final = ("top", "object", "building", "bonus")
DECKS: Final = len(DECK_NAMES)
TOP: Final = 0
OBJECT_DECK: Final = 1
BUILDING_DECK: Final = 2
BONUS: Final = 3


class Card(NamedTuple):
    """A card: `conditions` are metrics with the least value for 2, 3, 4 players; it pays `per` for each `counts`."""

    id: str
    name: str
    conditions: tuple[tuple[Metric, tuple[int, int, int]], ...] = ()
    counts: Metric = Metric.NONE
    per: int = 0
    coin_rate: int = COINS_PER_POINT


# R12: the decks one after another; the first card of each is the printed one of the beginner game.
CARDS: Final = (
    Card("T1", "four scorings", ((Metric.SCORINGS, (4, 4, 4)),)),
    Card("T2", "five scorings", ((Metric.SCORINGS, (5, 5, 5)),)),
    Card("T3", "two city scorings", ((Metric.CITY_SCORINGS, (2, 2, 2)),)),
    Card("T4", "four scorings on the own board", ((Metric.OWN_SCORINGS, (4, 4, 4)),)),
    Card(
        "T5",
        "one city and three own-board scorings",
        ((Metric.CITY_SCORINGS, (1, 1, 1)), (Metric.OWN_SCORINGS, (3, 3, 3))),
    ),
    Card("T6", "full treasury", ((Metric.COINS, (20, 20, 20)),), coin_rate=2),
    Card("T7", "renown", ((Metric.VP, (35, 30, 25)),)),
    Card("T8", "stone yard", ((Metric.BRICKS, (8, 8, 8)),)),
    Card("O1", "objects", ((Metric.OBJECTS, (8, 7, 6)),), Metric.OBJECTS, 3),
    Card("O2", "pairs of equal objects", ((Metric.OBJECT_PAIRS, (4, 3, 3)),), Metric.OBJECT_PAIRS, 5),
    Card("O3", "triples of equal objects", ((Metric.OBJECT_TRIPLES, (2, 2, 1)),), Metric.OBJECT_TRIPLES, 9),
    Card("O4", "sets of three different objects", ((Metric.OBJECT_SETS_3, (3, 2, 2)),), Metric.OBJECT_SETS_3, 8),
    Card("O5", "sets of four different objects", ((Metric.OBJECT_SETS_4, (2, 1, 1)),), Metric.OBJECT_SETS_4, 12),
    Card("O6", "sets of five different objects", ((Metric.OBJECT_SETS_5, (1, 1, 1)),), Metric.OBJECT_SETS_5, 16),
    Card("O7", "country objects", ((Metric.COUNTRY_OBJECTS, (4, 3, 3)),), Metric.COUNTRY_OBJECTS, 4),
    Card("O8", "city objects", ((Metric.CITY_OBJECTS, (6, 5, 5)),), Metric.CITY_OBJECTS, 3),
    Card("B1", "total cost", ((Metric.BUILDING_COST, (30, 25, 20)),)),
    Card("B2", "number of buildings", ((Metric.BUILDINGS, (9, 8, 7)),), Metric.BUILDINGS, 1),
    Card("B3", "grand buildings", ((Metric.BUILDINGS_COST_4_UP, (4, 4, 3)),), Metric.BUILDINGS_COST_4_UP, 3),
    Card("B4", "spread over cities", ((Metric.CITIES_BUILT, (5, 5, 4)),), Metric.CITIES_BUILT, 2),
    Card("B5", "variety of types", ((Metric.TYPES_BUILT, (6, 5, 5)),), Metric.TYPES_BUILT, 2),
    Card("B6", "country estates", ((Metric.COUNTRY_BUILDINGS, (4, 3, 3)),), Metric.COUNTRY_BUILDINGS, 3),
    Card("B7", "urban estates", ((Metric.CITY_BUILDINGS, (7, 6, 5)),), Metric.CITY_BUILDINGS, 2),
    Card(
        "B8",
        "fine cities",
        ((Metric.COST_IN_BEST_THREE_CITIES, (12, 10, 8)),),
        Metric.COST_IN_BEST_THREE_CITIES,
        1,
    ),
    Card("X1", "coins only"),
    Card("X2", "stored stone", (), Metric.BRICK_PAIRS, 1),
    Card("X3", "city scorings", (), Metric.CITY_SCORINGS, 4),
    Card("X4", "cost 5 and dearer", (), Metric.BUILDINGS_COST_5_UP, 3),
    Card("X5", "Lerici", (), Metric.BUILDINGS_IN_LERICI, 2),
    Card("X6", "kept markers", (), Metric.UNUSED_MARKERS, 3),
    Card("X7", "dense cities", (), Metric.CITIES_WITH_THREE_BUILDINGS, 4),
)
NUM_CARDS: Final = len(CARDS)
# [deck] -> its first card, which is in force without the module; [DECKS] -> NUM_CARDS
DECK_START: Final[NDArray[np.int64]] = _read_only(np.array([0, 8, 16, 24, NUM_CARDS]))
# the metrics that count objects -> objects in a unit (R12.4)
_OBJECTS_IN_UNIT: Final = {
    Metric.OBJECTS: 1,
    Metric.OBJECT_PAIRS: 2,
    Metric.OBJECT_TRIPLES: 3,
    Metric.OBJECT_SETS_3: 3,
    Metric.OBJECT_SETS_4: 4,
    Metric.OBJECT_SETS_5: 5,
    Metric.COUNTRY_OBJECTS: 1,
    Metric.CITY_OBJECTS: 1,
}
MAX_CONDITIONS: Final = 2


# --- Derived ----------------------------------------------------------------------------------------------------


def tile_name(tile: int) -> str:
    """`palazzo3` and the like."""
    return f"{TYPE_NAMES[tile // LEVELS]}{COST_OF_LEVEL[tile % LEVELS]}"


TILE_NAMES: Final = tuple(tile_name(tile) for tile in range(TILES))


def _set_of(tiles: list[int]) -> int:
    return sum(1 << tile for tile in tiles)


# [segment, colour] -> coins for a brick (R1.3)
PRICE: Final[NDArray[np.int64]] = _read_only(
    np.maximum(0, COLOURS - np.arange(SEGMENTS)[:, None] - np.arange(COLOURS)[None, :])
)
MAX_PRICE: Final = int(PRICE.max())
# [coins, at most MAX_PRICE][segment] -> the set of the colours that can be paid
AFFORDABLE: Final[NDArray[np.int64]] = _read_only(
    np.array(
        [[sum(1 << c for c in range(COLOURS) if row[c] <= coins) for row in PRICE] for coins in range(MAX_PRICE + 1)]
    )
)
# [tile] -> the set of this tile alone
TILE_SET: Final[NDArray[np.int64]] = _read_only(np.array([1 << tile for tile in range(TILES)], np.int64))
# [tile] -> cost
COST: Final[NDArray[np.int64]] = _read_only(np.tile(COST_OF_LEVEL, TYPES))
# [type] -> the set of its tiles
TYPE_SET: Final[NDArray[np.int64]] = _read_only(
    np.array([_set_of([t * LEVELS + level for level in range(LEVELS)]) for t in range(TYPES)], np.int64)
)
# [level] -> the set of its tiles
LEVEL_SET: Final[NDArray[np.int64]] = _read_only(
    np.array([_set_of([t * LEVELS + level for t in range(TYPES)]) for level in range(LEVELS)], np.int64)
)
MONUMENT_SET: Final = int(LEVEL_SET[MONUMENT_LEVEL])
ALL_TILES: Final = (1 << TILES) - 1
PLAIN_SET: Final = ALL_TILES & ~MONUMENT_SET  # the 30 tiles of R1.5
# [group] -> the set of its tiles
GROUP_SET: Final[NDArray[np.int64]] = _read_only(
    np.array([TYPE_SET[:CITY_TYPES].sum(), TYPE_SET[CITY_TYPES:].sum()], np.int64)
)
# [cost 0..8] -> the set of the tiles, no monuments, that cost at most so much
UP_TO_COST: Final[NDArray[np.int64]] = _read_only(
    np.array([LEVEL_SET[: min(cost, MAX_COST)].sum() for cost in range(MONUMENT_COST + 1)], np.int64)
)
# [cost 0..8] -> the set of the tiles, no monuments, that cost at least so much
FROM_COST: Final[NDArray[np.int64]] = _read_only(
    np.array([PLAIN_SET & ~int(UP_TO_COST[max(cost - 1, 0)]) for cost in range(MONUMENT_COST + 1)], np.int64)
)


def _conditions() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    metrics = np.zeros((NUM_CARDS, MAX_CONDITIONS), np.int64)
    least = np.zeros((NUM_CARDS, MAX_CONDITIONS, SEATS - 1), np.int64)
    for index, card in enumerate(CARDS):
        for number, (metric, values) in enumerate(card.conditions):
            metrics[index, number] = metric
            least[index, number] = values
    return metrics, least


_METRICS, _LEAST = _conditions()
# [card, number of the condition] -> metric, NONE without one; [card, number, players - 2] -> its least value
CARD_METRIC: Final[NDArray[np.int64]] = _read_only(_METRICS)
CARD_LEAST: Final[NDArray[np.int64]] = _read_only(_LEAST)
# [card] -> the metric that it pays for, the points for each unit, the coins for a point
CARD_COUNTS: Final[NDArray[np.int64]] = _read_only(np.array([card.counts for card in CARDS], np.int64))
CARD_PER: Final[NDArray[np.int64]] = _read_only(np.array([card.per for card in CARDS], np.int64))
CARD_COIN_RATE: Final[NDArray[np.int64]] = _read_only(np.array([card.coin_rate for card in CARDS], np.int64))
# [metric] -> objects in a unit, 0 for metrics of other things (R12.4)
OBJECTS_USED: Final[NDArray[np.int64]] = _read_only(
    np.array([_OBJECTS_IN_UNIT.get(metric, 0) for metric in Metric], np.int64)
)
