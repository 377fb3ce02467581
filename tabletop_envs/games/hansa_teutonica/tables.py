"""Hansa Teutonica's board, desks and markers as printed, and what follows from them; all arrays are read-only.

Knows geometry and numbers only: no state, no actions, no rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

Table = TypeVar("Table", bound=NDArray[np.generic])
Point = tuple[float, float]


def _read_only(table: Table) -> Table:
    table.flags.writeable = False
    return table


def _vector(values: Iterable[int]) -> NDArray[np.int64]:
    return _read_only(np.array(list(values), np.int64))


# --- Printed: players and pieces (R1.2) -------------------------------------------------------------------------

SEATS: Final = 5
COLOURS: Final = ("red", "blue", "green", "yellow", "purple")  # [seat]

# The kinds of resource.
TRADER: Final = 0
MERCHANT: Final = 1
KINDS: Final = 2
KIND_NAMES: Final = ("trader", "merchant")
TOTAL: Final = _vector((26, 4))  # [kind] -> resources of a player that take part

# A piece on the board is 1 + KINDS * owner + kind; 0 is an empty place.
PIECES: Final = SEATS * KINDS

# R2.3: [kind] -> the resources that are on no desk; the supply of seat s has s traders more, the stock fewer.
FIRST_SUPPLY: Final = _vector((5, 1))
FIRST_STOCK: Final = _vector((6, 0))

# --- Printed: desks (R1.3) --------------------------------------------------------------------------------------

KEYS: Final = 0
ACTIONS: Final = 1
PRIVILEGE: Final = 2
BOOK: Final = 3
MONEY: Final = 4
ABILITY_NAMES: Final = ("keys", "actions", "privilege", "book", "money")
ABILITIES: Final = len(ABILITY_NAMES)
EVERYTHING: Final = 99  # C on the money track: more than a stock can hold (R4.3)

_TRACKS = ((1, 2, 2, 3, 4), (2, 3, 3, 4, 4, 5), (0, 1, 2, 3), (2, 3, 4, 5), (3, 5, 7, EVERYTHING))
MAX_LEVELS: Final = max(map(len, _TRACKS))
# [ability] -> the level of the open track; [ability] -> the kind of resource on its closed spaces
LAST_LEVEL: Final = _vector(len(track) - 1 for track in _TRACKS)
ABILITY_KIND: Final = _vector((TRADER, TRADER, TRADER, MERCHANT, TRADER))
ABILITY_CITY: Final = ("Halle", "Gottingen", "Stade", "Groningen", "Lubeck")
OPEN_BONUS: Final = _vector((0, 4, 4, 4, 4))  # R13.3
# int64[5, 6], [ability, level] -> its value; a privilege is the number of its colour
TRACK: Final = _read_only(np.array([(*track, *[0] * (MAX_LEVELS - len(track))) for track in _TRACKS], np.int64))

# --- Printed: markers (R1.7, R16.1) -----------------------------------------------------------------------------

EXTRA_OFFICE: Final = 0
SWAP_OFFICES: Final = 1
PLUS3: Final = 2
PLUS4: Final = 3
UPGRADE: Final = 4
REMOVE3: Final = 5
MARKER_NAMES: Final = ("extra_office", "swap_offices", "plus3_actions", "plus4_actions", "upgrade_ability", "remove3")
MARKERS: Final = len(MARKER_NAMES)
PLUS_ACTIONS: Final = _vector((0, 0, 3, 4, 0, 0))  # R10.5
REMOVALS: Final = 3  # R10.7

ORIGINAL: Final = 0
BIGBOX: Final = 1
START_MARKERS: Final = _vector((REMOVE3, SWAP_OFFICES, EXTRA_OFFICE))
# int64[2, 6], [edition, kind] -> markers in the pile at the start; behind it, with the start markers
PILE: Final = _read_only(np.array([(4, 1, 2, 2, 3, 1), (3, 2, 2, 2, 2, 1)], np.int64))
PILE_SIZE: Final = _vector(PILE.sum(axis=1).tolist())
MAX_PILE: Final = int(PILE_SIZE.max())
MARKER_COUNT: Final = _read_only(PILE + np.bincount(START_MARKERS, minlength=MARKERS))
MAX_EXTRAS: Final = int(MARKER_COUNT[:, EXTRA_OFFICE].max())  # extra offices on the whole board (R10.3)
MAX_MARKER_COUNT: Final = int(MARKER_COUNT.max())
ALL_MARKERS: Final = int(MARKER_COUNT[ORIGINAL].sum())
MAX_PLATE: Final = len(START_MARKERS)  # each marker drawn replaces one that lay on a route

# --- Printed: points (R1.8, R12, R13) ---------------------------------------------------------------------------

END_PRESTIGE: Final = 20
END_CITIES: Final = 10
EAST_WEST_POINTS: Final = _vector((0, 7, 4, 2))  # [rank, 0 for none]
COELLEN_POINTS: Final = _vector((7, 8, 9, 11))  # [circle]; circle c asks for privilege c (R8.7)
CIRCLES: Final = len(COELLEN_POINTS)
MARKER_POINTS: Final = _vector((0, 1, 3, 3, 6, 6, 10, 10, 15, 15, 21))  # R13.4: the last entry stands for more
CITY_POINTS: Final = 2  # R13.6

# --- Printed: cities (R1.1, R1.6) -------------------------------------------------------------------------------

PRIVILEGE_NAMES: Final = ("white", "orange", "pink", "black")
SQUARE: Final = 0  # takes a trader
CIRCLE: Final = 1  # takes a merchant
SIDE_2_3: Final = 0
SIDE_4_5: Final = 1
SIDES: Final = 2

# name, offices of the 4-5 side, of the 2-3 side, place on the board (fractions of its width and height). An office
# is its shape (s, c), its colour (White, Orange, Pink, Black), and + for a coin; from left to right.
_CITIES: Final[tuple[tuple[str, str, str, Point], ...]] = (
    ("Groningen", "sW+ cO", "sW+ cO", (0.088, 0.192)),
    ("Emden", "cW sP", "cW sP", (0.288, 0.184)),
    ("Stade", "cW", "cW+", (0.528, 0.126)),
    ("Hamburg", "sW sO sB", "sW sO sB", (0.735, 0.102)),
    ("Lubeck", "sW+ sP", "sW+ sP", (0.87, 0.113)),
    ("Kampen", "cO sB", "sO sB", (0.083, 0.336)),
    ("Osnabruck", "sW sO sB", "sW sO sB", (0.275, 0.443)),
    ("Bremen", "cW sP", "sP", (0.487, 0.245)),
    ("Luneburg", "cO sB", "cW", (0.762, 0.308)),
    ("Perleberg", "sW sP cB", "sW sP cB", (0.903, 0.265)),
    ("Arnheim", "sW cW sO sP", "sW cW sO sP", (0.098, 0.54)),
    ("Munster", "cW sO", "cW sO", (0.285, 0.581)),
    ("Minden", "sW sO sP sB", "sW sO sP sB", (0.463, 0.518)),
    ("Hannover", "sW sP", "sW sP", (0.601, 0.413)),
    ("Brunswiek", "sO", "sO", (0.706, 0.482)),
    ("Stendal", "sW cW sO sP", "sW cW sO sP", (0.897, 0.526)),
    ("Duisburg", "sW", "sW", (0.112, 0.735)),
    ("Dortmund", "cW sO sP", "cW sO", (0.263, 0.727)),
    ("Paderborn", "sW cB", "sW cB", (0.455, 0.75)),
    ("Hildesheim", "sW sB", "sW sB", (0.621, 0.615)),
    ("Goslar", "sW sB", "sW", (0.774, 0.683)),
    ("Magdeburg", "cW sO", "cW sO", (0.905, 0.757)),
    ("Coellen", "sW+ sP", "sW+ sP", (0.082, 0.861)),
    ("Warburg", "sO sP", "sO+ sP", (0.368, 0.905)),
    ("Gottingen", "sW cW sP", "sW sO", (0.58, 0.87)),
    ("Quedlinburg", "cO cP", "cO cP", (0.796, 0.796)),
    ("Halle", "sW+ sO", "sW+ sO", (0.874, 0.863)),
)
CITY_KEYS: Final = tuple(city[0] for city in _CITIES)
CITY_XY: Final[tuple[Point, ...]] = tuple(city[3] for city in _CITIES)
CITIES: Final = len(_CITIES)
# [side][city]
_OFFICES: Final = (tuple(city[2].split() for city in _CITIES), tuple(city[1].split() for city in _CITIES))
MAX_OFFICES: Final = max(len(offices) for side in _OFFICES for offices in side)


def _office_table(read: Any) -> NDArray[np.int64]:
    table = np.zeros((SIDES, CITIES, MAX_OFFICES), np.int64)
    for side, cities in enumerate(_OFFICES):
        for city, offices in enumerate(cities):
            table[side, city, : len(offices)] = [read(office) for office in offices]
    return _read_only(table)


# [side, city] -> printed offices; [side, city, office] -> shape, colour, points of its coin
OFFICE_COUNT: Final = _read_only(np.array([[len(offices) for offices in side] for side in _OFFICES], np.int64))
OFFICE_SHAPE: Final = _office_table(lambda office: "sc".index(office[0]))
OFFICE_COLOUR: Final = _office_table(lambda office: "WOPB".index(office[1]))
OFFICE_COIN: Final = _office_table(lambda office: office.count("+"))

# R10.4: int64[35, 2], [pair] -> city, left one of the two neighbouring offices; all pairs of either side
SWAP_PAIRS: Final = _read_only(
    np.array([(city, left) for city in range(CITIES) for left in range(int(OFFICE_COUNT[:, city].max()) - 1)], np.int64)
)

# [city] -> the ability that it develops (R1.3), -1 for none
CITY_ABILITY: Final = _vector(ABILITY_CITY.index(key) if key in ABILITY_CITY else -1 for key in CITY_KEYS)
WEST: Final = CITY_KEYS.index("Arnheim")
EAST: Final = CITY_KEYS.index("Stendal")

# --- Printed: routes (R1.1, R1.5) -------------------------------------------------------------------------------

# first city A, second city B, places of the spaces from A to B
_ROUTES: Final[tuple[tuple[int, int, tuple[Point, ...]], ...]] = (
    (0, 1, ((0.143, 0.254), (0.19, 0.238), (0.239, 0.202))),
    (1, 2, ((0.362, 0.192), (0.438, 0.153), (0.481, 0.142))),
    (1, 6, ((0.304, 0.239), (0.272, 0.281), (0.245, 0.332), (0.275, 0.371))),
    (2, 3, ((0.57, 0.172), (0.616, 0.158), (0.654, 0.12))),
    (3, 4, ((0.79, 0.136), (0.827, 0.181), (0.876, 0.173))),
    (3, 7, ((0.695, 0.164), (0.662, 0.214), (0.613, 0.243), (0.557, 0.253))),
    (3, 8, ((0.74, 0.158), (0.765, 0.202), (0.794, 0.241), (0.814, 0.286))),
    (5, 6, ((0.143, 0.397), (0.205, 0.413))),
    (5, 10, ((0.073, 0.395), (0.094, 0.429), (0.113, 0.476))),
    (6, 7, ((0.333, 0.386), (0.373, 0.331), (0.42, 0.287))),
    (7, 12, ((0.47, 0.311), (0.43, 0.376), (0.409, 0.447))),
    (7, 13, ((0.515, 0.3), (0.541, 0.336), (0.564, 0.376))),
    (8, 9, ((0.793, 0.366), (0.835, 0.354), (0.875, 0.328))),
    (8, 13, ((0.718, 0.354), (0.69, 0.387), (0.654, 0.418))),
    (9, 15, ((0.936, 0.328), (0.932, 0.392), (0.919, 0.449))),
    (10, 11, ((0.174, 0.546), (0.209, 0.561), (0.235, 0.584))),
    (10, 16, ((0.096, 0.593), (0.132, 0.625), (0.144, 0.682))),
    (11, 12, ((0.338, 0.595), (0.369, 0.564), (0.403, 0.565))),
    (12, 13, ((0.526, 0.489), (0.557, 0.47), (0.597, 0.467))),
    (12, 14, ((0.538, 0.546), (0.581, 0.544), (0.621, 0.534), (0.66, 0.515))),
    (12, 18, ((0.474, 0.577), (0.464, 0.623), (0.453, 0.667))),
    (14, 15, ((0.75, 0.502), (0.78, 0.534), (0.812, 0.565), (0.846, 0.59))),
    (15, 21, ((0.919, 0.584), (0.914, 0.635), (0.934, 0.692))),
    (16, 17, ((0.161, 0.74), (0.198, 0.738))),
    (17, 18, ((0.329, 0.744), (0.369, 0.755), (0.408, 0.726))),
    (18, 19, ((0.515, 0.738), (0.557, 0.713), (0.587, 0.686))),
    (19, 20, ((0.667, 0.629), (0.699, 0.64), (0.736, 0.656))),
    (20, 21, ((0.82, 0.71), (0.855, 0.739))),
    (20, 25, ((0.728, 0.719), (0.688, 0.739), (0.697, 0.797), (0.733, 0.821))),
    (18, 23, ((0.464, 0.806), (0.436, 0.839), (0.404, 0.873))),
    (22, 23, ((0.132, 0.919), (0.184, 0.921), (0.24, 0.919), (0.302, 0.92))),
    (23, 24, ((0.432, 0.927), (0.481, 0.924), (0.532, 0.924))),
    (24, 25, ((0.638, 0.921), (0.689, 0.887), (0.753, 0.873))),
    (25, 26, ((0.803, 0.86), (0.82, 0.897), (0.848, 0.924), (0.883, 0.925))),
)
BOARD_ASPECT: Final = 1.426  # width over height
ROUTES: Final = len(_ROUTES)
ROUTE_KEYS: Final = tuple(f"{CITY_KEYS[a]}-{CITY_KEYS[b]}" for a, b, _ in _ROUTES)
SPACE_XY: Final[tuple[Point, ...]] = tuple(place for _, _, places in _ROUTES for place in places)
SPACES: Final = len(SPACE_XY)
COELLEN_ROUTE: Final = ROUTE_KEYS.index("Coellen-Warburg")
COELLEN_XY: Final[tuple[Point, ...]] = ((0.169, 0.823), (0.208, 0.823), (0.247, 0.823), (0.286, 0.823))
TAVERNS: Final = _vector(map(ROUTE_KEYS.index, ("Osnabruck-Bremen", "Luneburg-Perleberg", "Hildesheim-Goslar")))
_MISSING: Final = ("Emden-Stade", "Warburg-Gottingen")  # on the 2-3 side

# [route, end] -> city; [route] -> its number of spaces and its first one
ROUTE_CITIES: Final = _read_only(np.array([route[:2] for route in _ROUTES], np.int64))
ROUTE_LENGTH: Final = _vector(len(places) for _, _, places in _ROUTES)
MAX_LENGTH: Final = int(ROUTE_LENGTH.max())
ROUTE_FIRST: Final = _vector(np.cumsum(ROUTE_LENGTH) - ROUTE_LENGTH)
SPACE_ROUTE: Final = _vector(np.repeat(np.arange(ROUTES), ROUTE_LENGTH))
# [route] -> the ability of either end city (no route touches two), -1 for none
ROUTE_ABILITY: Final = _vector(CITY_ABILITY[ROUTE_CITIES].max(axis=1))

# --- Printed: provinces of the pawn (R16.6) ---------------------------------------------------------------------

# name and bordering routes
_PROVINCES: Final[tuple[tuple[str, tuple[int, ...]], ...]] = (
    ("WestCentre", (7, 8, 9, 10, 15, 17)),
    ("BremenTriangle", (10, 11, 18)),
    ("Heath", (5, 6, 11, 13)),
    ("EastCentre", (12, 13, 14, 18, 19, 21)),
    ("Harz", (19, 20, 21, 22, 25, 26, 27)),
    ("Ruhr", (15, 16, 17, 20, 23, 24)),
    ("West", (0, 2, 7, 8)),
    ("North", (0, 2, 3, 5, 9)),
    ("NorthEast", (4, 6, 12, 14)),
    ("East", (22, 27, 28, 33)),
    ("SouthEast", (32, 33)),
    ("South", (25, 26, 28, 29, 32)),
    ("SouthWest", (16, 23, 24, 29, 30)),
)
PROVINCE_NAMES: Final = tuple(name for name, _ in _PROVINCES)
PROVINCES: Final = len(_PROVINCES)

# --- Derived: sets ----------------------------------------------------------------------------------------------
# A set of routes, cities or provinces is one int64 word. A set of spaces is two, word 0 the spaces below LOW_SPACES
# (routes 0 to 16), word 1 the others; no route lies in both.

WORDS: Final = 2
LOW_SPACES: Final = 53


def _set(members: Iterable[int]) -> int:
    return sum(1 << member for member in members)


def _rings() -> NDArray[np.int64]:
    found: list[list[list[int]]] = []
    for side in range(SIDES):
        found.append([_rings_around(side, route) for route in range(ROUTES)])
    deepest = max(len(rings) for side in found for rings in side)
    table = np.zeros((SIDES, ROUTES, deepest), np.int64)
    for side, routes in enumerate(found):
        for route, rings in enumerate(routes):
            table[side, route, : len(rings)] = rings
    return _read_only(table)


def _rings_around(side: int, route: int) -> list[int]:
    present = [other for other in range(ROUTES) if int(SIDE_ROUTES[side]) >> other & 1]
    seen, edge, rings = {route}, {route}, []
    while edge:
        cities = set(ROUTE_CITIES[sorted(edge)].ravel().tolist())
        edge = {other for other in present if other not in seen and cities & set(ROUTE_CITIES[other].tolist())}
        seen |= edge
        rings.append(_set(edge))
    return rings[:-1]


def _links() -> NDArray[np.int64]:
    table = np.zeros((SIDES, CITIES), np.int64)
    for side in range(SIDES):
        for route, (a, b) in enumerate(ROUTE_CITIES.tolist()):
            if int(SIDE_ROUTES[side]) >> route & 1:
                table[side, a] |= 1 << b
                table[side, b] |= 1 << a
    return _read_only(table)


def _near(borders: int) -> NDArray[np.int64]:
    sets = [set(routes) for _, routes in _PROVINCES]
    beside = [{q for q in range(PROVINCES) if q != p and sets[p] & sets[q]} for p in range(PROVINCES)]
    reached: list[set[int]] = [{p} for p in range(PROVINCES)]
    for _ in range(borders):
        reached = [here.union(*(beside[p] for p in here)) for here in reached]
    return _vector(_set(here - {p}) for p, here in enumerate(reached))


# [route], [city] -> the set of this one alone; [space] -> the same in its word, and which word that is
BIT: Final = _vector(1 << number for number in range(max(ROUTES, CITIES)))
SPACE_WORD: Final = _vector(int(space >= LOW_SPACES) for space in range(SPACES))
SPACE_BIT: Final = _vector(1 << (space - LOW_SPACES * (space >= LOW_SPACES)) for space in range(SPACES))
# [route] -> the set of its spaces, in the word of its spaces
ROUTE_SPACES: Final = _vector(
    sum(int(SPACE_BIT[first + number]) for number in range(length))
    for first, length in zip(ROUTE_FIRST.tolist(), ROUTE_LENGTH.tolist(), strict=True)
)
# [side] -> the set of its routes
SIDE_ROUTES: Final = _vector(
    _set(route for route in range(ROUTES) if side == SIDE_4_5 or ROUTE_KEYS[route] not in _MISSING)
    for side in range(SIDES)
)
# [side, route, d] -> the set of routes d + 1 steps away (R6.3), empty behind the last
RINGS: Final = _rings()
# [side, city] -> the set of cities at the other ends of its routes (R11.1)
LINKS: Final = _links()
# [province] -> the set of its routes; the provinces one border away, and one or two (R16.6)
PROVINCE_ROUTES: Final = _vector(_set(routes) for _, routes in _PROVINCES)
NEXT_PROVINCES: Final = _near(1)
NEAR_PROVINCES: Final = _near(2)


def side_of(num_players: int) -> int:
    """The side of the board that so many players use (R2.1)."""
    return SIDE_4_5 if num_players > 3 else SIDE_2_3


def members(word: int) -> list[int]:
    """The members of a set, ascending; in plain Python."""
    return [number for number in range(64) if word >> number & 1]


def city_offices(side: int, city: int) -> Sequence[str]:
    """The printed offices of a city as shape, colour and coin: `sW+`."""
    return tuple(_OFFICES[side][city])
