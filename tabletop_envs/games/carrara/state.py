"""The record of The Palaces of Carrara, one field per line, what is counted in it, and `check`, its invariants.

A set of tiles has bit 6 * type + level (`tables.TILE_SET`), a set of cities, types or kinds of object bit index.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np

from tabletop_envs.core.bits import count_bits
from tabletop_envs.core.header import NOBODY, OVER_RULES, RUNNING
from tabletop_envs.core.jit import jit
from tabletop_envs.core.record import HIDDEN, OWNER, Field, record_dtype
from tabletop_envs.games.carrara import GAME
from tabletop_envs.games.carrara.tables import (
    AFFORDABLE,
    ALL_BUILT,
    ALL_TILES,
    BEST_CITIES,
    BRICKS,
    BUILDING_DECK,
    CARD_LEAST,
    CARD_METRIC,
    CITIES,
    CITY_GROUP,
    CITY_TYPES,
    COLOURS,
    COST,
    COST_OF_LEVEL,
    DECK_START,
    DECKS,
    DISPLAY,
    FROM_COST,
    GROUP_SET,
    GROUPS,
    IMPROVEMENTS,
    LERICI,
    LEVEL_SET,
    LEVELS,
    MARKERS,
    MAX_CONDITIONS,
    MAX_PRICE,
    MONUMENT_COST,
    MONUMENT_LEVEL,
    MONUMENT_SET,
    NUM_CARDS,
    OBJECT_DECK,
    OBJECT_PRICE,
    OBJECTS,
    PILE,
    PLAIN_SET,
    REFILL,
    SEATS,
    SEGMENTS,
    TILE_SET,
    TILES,
    TOP,
    TYPE_SET,
    TYPES,
    Metric,
)


class Phase(IntEnum):
    """What is asked (R17.2). While nobody is asked, a refill is due in `SEGMENT`, the turn is over in `MAIN`, and
    the other phases may be passed over."""

    MAIN = 0
    SEGMENT = 1
    TAKE = 2
    SITE = 3
    PAY = 4
    IMPROVE = 5
    OBJECT = 6
    ANNOUNCE = 7
    OVER = 8


# events: (kind, seat, value)
NOT_PAYABLE: Final = 1  # R4.7, value = coins received
RELIEVED: Final = 2  # R10.1, value = coins received
EXHAUSTED: Final = 3  # R8.2

NONE: Final = -1
MAX_COINS: Final = 30_000
MAX_POINTS: Final = 5_000
MAX_IMPROVEMENTS: Final = int(IMPROVEMENTS.max())

# R15.1, R15.3: behind the screens are things that change in the open only; the bag follows from them
_OPEN: Final = "open_holdings"

FIELDS: Final = (
    Field("coins", np.int16, (SEATS,), "seat -> coins", (0, MAX_COINS), OWNER, True, _OPEN),
    Field("bricks", np.int8, (SEATS, COLOURS), "seat, colour -> bricks", (0, BRICKS), OWNER, True, _OPEN),
    Field("objects", np.int8, (SEATS, TYPES), "seat, kind -> objects", (0, OBJECTS), OWNER, True, _OPEN),
    Field("bag", np.int8, (COLOURS,), "colour -> bricks in the bag", (0, BRICKS), HIDDEN, True),
    Field("pile", np.int8, (PILE,), "place from the bottom -> tile, NONE above the top", (NONE, TILES - 1), HIDDEN),
    Field("pile_size", np.int8, (), "tiles in the pile", (0, PILE)),
    Field("in_pile", np.int64, (), "set of the tiles in the pile", (0, ALL_TILES)),
    Field("offer", np.int64, (), "set of the tiles in the display and the monuments left", (0, ALL_TILES)),
    Field("standing", np.int64, (SEATS, CITIES), "seat, city -> set of the buildings", (0, ALL_TILES)),
    Field("gone", np.int64, (), "set of the replaced tiles (R13.5)", (0, ALL_TILES)),
    Field("wheel", np.int8, (SEGMENTS, COLOURS), "segment, colour -> bricks", (0, BRICKS)),
    Field("vp", np.int16, (SEATS,), "seat -> points on the track", (0, MAX_POINTS)),
    Field("city_scored", np.int8, (CITIES,), "city -> seat that scored it, NONE before", (NONE, SEATS - 1)),
    Field("types_scored", np.int8, (SEATS,), "seat -> set of the types scored", (0, 2**TYPES - 1)),
    Field("groups_scored", np.int8, (SEATS,), "seat -> set of the groups scored", (0, 2**GROUPS - 1)),
    Field("improved", np.int8, (SEATS,), "seat -> set of its improved cities", (0, 2**CITIES - 1)),
    Field("improvements", np.int8, (CITIES,), "city -> improvements in stock", (0, MAX_IMPROVEMENTS)),
    Field("for_sale", np.int8, (), "set of the objects in the object display", (0, 2**TYPES - 1)),
    Field("supply", np.int8, (TYPES,), "kind -> objects in the object supply", (0, OBJECTS - 1)),
    Field("in_force", np.int8, (DECKS,), "deck -> card in force", (0, NUM_CARDS - 1)),
    Field("rounds", np.int16, (), "rounds completed", (0, 10_000)),
    Field("turn", np.int8, (), "seat in turn, also while nobody is asked", (0, SEATS - 1)),
    Field("triggered", np.int8, (), "1 when the end is triggered (R8.1)", (0, 1)),
    Field("announcer", np.int8, (), "seat that announced the end, NONE", (NONE, SEATS - 1)),
    # --- the decision in progress
    Field("segment", np.int8, (), "segment chosen, in TAKE", (NONE, SEGMENTS - 1)),
    Field("taken", np.int8, (), "bricks taken, in TAKE", (0, REFILL)),
    Field("tile", np.int8, (), "tile chosen, in SITE and PAY", (NONE, TILES - 1)),
    Field("replaced", np.int8, (), "own building to be replaced, in PAY", (NONE, TILES - 1)),
    Field("site", np.int8, (), "city chosen, in PAY and IMPROVE", (NONE, CITIES - 1)),
    Field("to_pay", np.int8, (), "bricks still to pay, in PAY", (0, MONUMENT_COST)),
    Field("last_colour", np.int8, (), "colour last taken or paid, in TAKE and PAY", (NONE, COLOURS - 1)),
    Field("paid", np.int8, (COLOURS,), "colour -> bricks of the payment in PAY, else of the last one", (0, BRICKS)),
    # --- kept for speed
    Field("wheel_total", np.int8, (), "bricks on the wheel", (0, REFILL)),
    Field("colours_on", np.int8, (SEGMENTS,), "segment -> set of the colours on it", (0, 2**COLOURS - 1)),
    Field("bag_empty", np.int8, (), "1 when the bag is empty", (0, 1)),
    Field("markers", np.int8, (SEATS,), "seat -> scoring markers left", (0, MARKERS)),
)

DTYPE: Final = record_dtype(GAME, FIELDS)

INVARIANTS: Final = {
    1: "phase, seat, turn and over agree (R17.2)",
    2: "every tile is in one place (R1.5, R13.5)",
    3: "the pile holds the tiles that it is known to hold, and the display is refilled from it (R5.7)",
    4: "no brick is lost (R1.2)",
    5: "what is kept of the wheel, the bag and the markers",
    6: "no object is lost (R1.6)",
    7: "no improvement is lost, and each city has one of a player at most (R13.6, R13.7)",
    8: "one card of each deck is in force, the printed ones without the module (R2.6, R12.2)",
    9: "the choices of the decision in progress belong to it (R17.2)",
    10: "the decision in progress can be asked for (R17.4 to R17.9)",
    11: "the end is triggered when it has to be, and announced by nobody else (R8.2, R8.7)",
    12: "scorings are those of the options and of the seats in play (R6, R14)",
}


# --- what is counted --------------------------------------------------------------------------------------------


@jit
def buildings(s, seat):
    """The set of all buildings of a seat."""
    tiles = 0
    for city in range(CITIES):
        tiles |= int(s.standing[seat, city])
    return tiles


@jit
def cost_of(tiles):
    """The sum of the costs of a set of tiles."""
    total = 0
    for level in range(LEVELS):
        total += int(COST_OF_LEVEL[level]) * count_bits(tiles & LEVEL_SET[level])
    return total


@jit
def held_up_to(s, seat, colour):
    """How many bricks a seat holds of the colours up to this one: what a city accepts (R5.4), or all bricks."""
    total = 0
    for finer in range(colour + 1):
        total += int(s.bricks[seat, finer])
    return total


@jit
def _object_sets(s, seat, size):
    # R12.5: the sets can be told apart when no kind counts more often than there are sets
    sets = 0
    while True:
        usable = 0
        for kind in range(TYPES):
            usable += min(int(s.objects[seat, kind]), sets + 1)
        if usable < size * (sets + 1):
            return sets
        sets += 1


@jit
def _object_metric(s, seat, what):
    if what == Metric.OBJECT_SETS_3:
        return _object_sets(s, seat, 3)
    if what == Metric.OBJECT_SETS_4:
        return _object_sets(s, seat, 4)
    if what == Metric.OBJECT_SETS_5:
        return _object_sets(s, seat, 5)
    size = 2 if what == Metric.OBJECT_PAIRS else 3 if what == Metric.OBJECT_TRIPLES else 1
    first = CITY_TYPES if what == Metric.COUNTRY_OBJECTS else 0
    last = CITY_TYPES if what == Metric.CITY_OBJECTS else TYPES
    units = 0
    for kind in range(first, last):
        units += int(s.objects[seat, kind]) // size
    return units


@jit
def _city_metric(s, seat, what):
    value = 0
    for city in range(CITIES):
        tiles = int(s.standing[seat, city])
        if what == Metric.CITY_SCORINGS:
            value += int(s.city_scored[city] == seat)
        elif what == Metric.CITIES_BUILT:
            value += int(tiles != 0)
        elif what == Metric.CITIES_WITH_THREE_BUILDINGS:
            value += int(count_bits(tiles) >= 3)
        elif city < BEST_CITIES:
            value += cost_of(tiles)
    return value


@jit
def _building_metric(s, seat, what):
    tiles = buildings(s, seat)
    if what == Metric.BUILDINGS:
        return count_bits(tiles)
    if what == Metric.BUILDING_COST:
        return cost_of(tiles)
    if what == Metric.BUILDINGS_COST_4_UP:
        return count_bits(tiles & (FROM_COST[4] | MONUMENT_SET))
    if what == Metric.BUILDINGS_COST_5_UP:
        return count_bits(tiles & (FROM_COST[5] | MONUMENT_SET))
    if what == Metric.COUNTRY_BUILDINGS:
        return count_bits(tiles & GROUP_SET[1 - CITY_GROUP])
    if what == Metric.CITY_BUILDINGS:
        return count_bits(tiles & GROUP_SET[CITY_GROUP])
    if what == Metric.BUILDINGS_IN_LERICI:
        return count_bits(int(s.standing[seat, LERICI]))
    types = 0
    for kind in range(TYPES):
        types += int(tiles & TYPE_SET[kind] != 0)
    return types


@jit
def metric(s, seat, what):
    """The value of a card's metric for a seat (R12.3, R12.5)."""
    if what >= Metric.OBJECTS:
        return _object_metric(s, seat, what)
    if what == Metric.NONE:
        return 0
    if what == Metric.SCORINGS:
        return MARKERS - int(s.markers[seat])
    if what == Metric.UNUSED_MARKERS:
        return int(s.markers[seat])
    if what == Metric.OWN_SCORINGS:
        return count_bits(int(s.types_scored[seat])) + count_bits(int(s.groups_scored[seat]))
    if what == Metric.COINS:
        return int(s.coins[seat])
    if what == Metric.VP:
        return int(s.vp[seat])
    if what == Metric.BRICKS:
        return held_up_to(s, seat, COLOURS - 1)
    if what == Metric.BRICK_PAIRS:
        return held_up_to(s, seat, COLOURS - 1) // 2
    by_city = what == Metric.CITY_SCORINGS or what == Metric.CITIES_BUILT
    if by_city or what == Metric.CITIES_WITH_THREE_BUILDINGS or what == Metric.COST_IN_BEST_THREE_CITIES:
        return _city_metric(s, seat, what)
    return _building_metric(s, seat, what)


@jit
def objective_met(s, seat, deck):
    """R8.4, R12.3: whether a seat fulfils the objective of the card in force of a deck."""
    card = int(s.in_force[deck])
    for number in range(MAX_CONDITIONS):
        what = int(CARD_METRIC[card, number])
        if what != Metric.NONE and metric(s, seat, what) < CARD_LEAST[card, number, int(s.num_players) - 2]:
            return False
    return True


@jit
def objectives_met(s, seat):
    """R8.3: whether a seat fulfils all three objectives. The bonus card has no condition."""
    return objective_met(s, seat, TOP) and objective_met(s, seat, OBJECT_DECK) and objective_met(s, seat, BUILDING_DECK)


# --- what can be paid and taken ---------------------------------------------------------------------------------


@jit
def payable_on(s, seat, segment):
    """R4.5, R4.6: the set of the colours on a segment that the seat can pay."""
    return int(s.colours_on[segment]) & AFFORDABLE[min(int(s.coins[seat]), MAX_PRICE), segment]


@jit
def payable_segments(s, seat):
    """R4.5: the set of the segments with a brick that the seat can pay."""
    segments = 0
    for segment in range(SEGMENTS):
        segments |= int(payable_on(s, seat, segment) != 0) << segment
    return segments


@jit
def open_improvements(s, seat):
    """R13.7: the set of the cities of which the seat, with a monument just built on the site, may take the tile."""
    cities = 0
    for city in range(CITIES):
        if city != s.site and s.improvements[city] > 0:
            cities |= 1 << city
    return cities & ~int(s.improved[seat])


@jit
def upgradable(s, seat, city):
    """R13.4: the set of own buildings in a city that the seat could pay to replace with a monument."""
    missing = MONUMENT_COST - held_up_to(s, seat, city)
    return int(s.standing[seat, city]) & FROM_COST[min(max(missing, 0), MONUMENT_COST)]


@jit
def site_exists(s, seat, tile):
    """R5.1, R13.3, R13.4: whether the seat could pay for the tile somewhere. Lerici takes every brick."""
    if held_up_to(s, seat, COLOURS - 1) >= COST[tile]:
        return True
    if tile % LEVELS == MONUMENT_LEVEL:
        for city in range(CITIES):
            if upgradable(s, seat, city) != 0:
                return True
    return False


@jit
def refresh_kept(s):
    """Write what is kept for speed out of the other fields."""
    s.wheel_total = 0
    for segment in range(SEGMENTS):
        colours = 0
        for colour in range(COLOURS):
            s.wheel_total += s.wheel[segment, colour]
            colours |= int(s.wheel[segment, colour] > 0) << colour
        s.colours_on[segment] = colours
    s.bag_empty = 1
    for colour in range(COLOURS):
        if s.bag[colour] > 0:
            s.bag_empty = 0
    for seat in range(int(s.num_players)):
        placed = metric(s, seat, Metric.OWN_SCORINGS) + metric(s, seat, Metric.CITY_SCORINGS)
        s.markers[seat] = MARKERS - placed


# --- invariants -------------------------------------------------------------------------------------------------


@jit
def check(s):
    """0, or the code of the broken invariant (`INVARIANTS`)."""
    if not _phase_agrees(s):
        return 1
    if not _tiles_kept(s):
        return 2
    if not _pile_agrees(s):
        return 3
    if not _bricks_kept(s):
        return 4
    if not _counts_kept(s):
        return 5
    if not _objects_kept(s):
        return 6
    if not _improvements_kept(s):
        return 7
    for deck in range(DECKS):
        first, card = int(DECK_START[deck]), int(s.in_force[deck])
        if not first <= card < DECK_START[deck + 1] or (s.cards == 0 and card != first):
            return 8
    if not _choices_agree(s):
        return 9
    if s.seat != NOBODY and not _can_be_asked(s):
        return 10
    if not _end_agrees(s):
        return 11
    return 0 if _scorings_agree(s) else 12


@jit
def _phase_agrees(s):
    over = int(s.phase) == Phase.OVER
    if s.turn >= s.num_players:
        return False
    if s.over == RUNNING:
        if over or s.rounds >= s.max_rounds:
            return False
        if s.seat != NOBODY:
            return s.seat == s.turn
        # a refill, phases that are entered when their conditions hold, and the end of the turn
        phase = int(s.phase)
        return phase != Phase.TAKE and phase != Phase.SITE and phase != Phase.PAY
    # the cap on decisions may stop the game in any phase
    return s.seat == NOBODY and (s.over != OVER_RULES or over)


@jit
def _tiles_kept(s):
    seen = int(s.offer)
    whole = count_bits(seen) + count_bits(int(s.in_pile)) + count_bits(int(s.gone))
    seen |= int(s.in_pile) | int(s.gone)
    for seat in range(SEATS):
        for city in range(CITIES):
            tiles = int(s.standing[seat, city])
            if tiles != 0 and seat >= s.num_players:
                return False
            whole += count_bits(tiles)
            seen |= tiles
    expected = ALL_TILES if s.monuments > 0 else PLAIN_SET
    # R13.5: one tile is gone for each monument that replaced it; monuments are never replaced
    monuments_built = count_bits(seen & MONUMENT_SET) - count_bits(int(s.offer) & MONUMENT_SET)
    if int(s.gone) & MONUMENT_SET != 0 or count_bits(int(s.gone)) > monuments_built:
        return False
    return seen == expected and whole == count_bits(expected)


@jit
def _pile_agrees(s):
    tiles = 0
    for place in range(PILE):
        tile = int(s.pile[place])
        if (tile == NONE) != (place >= s.pile_size):
            return False
        if tile != NONE:
            tiles |= int(TILE_SET[tile])
    if tiles != s.in_pile or count_bits(tiles) != s.pile_size or tiles & MONUMENT_SET != 0:
        return False
    shown = count_bits(int(s.offer) & PLAIN_SET)
    return shown == DISPLAY or (s.pile_size == 0 and shown < DISPLAY)


@jit
def _bricks_kept(s):
    for colour in range(COLOURS):
        bricks = int(s.bag[colour])
        for segment in range(SEGMENTS):
            bricks += int(s.wheel[segment, colour])
        for seat in range(SEATS):
            bricks += int(s.bricks[seat, colour])
            if s.bricks[seat, colour] > 0 and seat >= s.num_players:
                return False
        if bricks != BRICKS:
            return False
    return True


@jit
def _counts_kept(s):
    total = 0
    for segment in range(SEGMENTS):
        colours = 0
        for colour in range(COLOURS):
            total += int(s.wheel[segment, colour])
            colours |= int(s.wheel[segment, colour] > 0) << colour
        if colours != s.colours_on[segment]:
            return False
    if total != s.wheel_total:
        return False
    bag = 0
    for colour in range(COLOURS):
        bag += int(s.bag[colour])
    if (bag == 0) != (s.bag_empty == 1):
        return False
    for seat in range(SEATS):
        placed = metric(s, seat, Metric.OWN_SCORINGS) + metric(s, seat, Metric.CITY_SCORINGS)
        if seat < s.num_players and placed + int(s.markers[seat]) != MARKERS:
            return False
    return True


@jit
def _objects_kept(s):
    for kind in range(TYPES):
        objects = int(s.supply[kind]) + ((int(s.for_sale) >> kind) & 1)
        for seat in range(int(s.num_players)):
            objects += int(s.objects[seat, kind])
        if objects != OBJECTS:
            return False
    return True


@jit
def _improvements_kept(s):
    for city in range(CITIES):
        tiles = int(s.improvements[city])
        for seat in range(SEATS):
            tiles += (int(s.improved[seat]) >> city) & 1
        if tiles != (IMPROVEMENTS[int(s.improvement_supply), city] if s.monuments > 0 else 0):
            return False
    # R13.7: at most one for each monument
    for seat in range(SEATS):
        if count_bits(int(s.improved[seat])) > count_bits(buildings(s, seat) & MONUMENT_SET):
            return False
    return True


@jit
def _choices_agree(s):
    phase = int(s.phase)
    if s.over != RUNNING and phase != Phase.OVER:
        return True  # stopped at the cap in the middle of a turn
    taking, paying = phase == Phase.TAKE, phase == Phase.PAY
    if (s.segment != NONE) != taking or (s.taken > 0 and not taking):
        return False
    if (s.tile != NONE) != (phase == Phase.SITE or paying) or (s.replaced != NONE and not paying):
        return False
    if (s.site != NONE) != (paying or phase == Phase.IMPROVE) or (s.to_pay > 0) != paying:
        return False
    if s.last_colour != NONE and not taking and not paying:
        return False
    if taking:
        return (s.last_colour != NONE) == (s.taken > 0)
    if paying:
        bricks = 0
        for colour in range(COLOURS):
            bricks += int(s.paid[colour])
            if s.paid[colour] > 0 and colour < s.last_colour:
                return False
        return (s.last_colour != NONE) == (bricks > 0)
    return True


@jit
def _can_be_asked(s):
    seat, phase = int(s.seat), int(s.phase)
    if phase == Phase.SEGMENT:
        return payable_segments(s, seat) != 0
    if phase == Phase.TAKE:
        bricks = int(s.taken)
        for colour in range(COLOURS):
            bricks += int(s.wheel[int(s.segment), colour])
        return bricks > 0
    if phase == Phase.SITE:
        return int(s.offer) & TILE_SET[int(s.tile)] != 0 and site_exists(s, seat, int(s.tile))
    if phase == Phase.PAY:
        if int(s.offer) & TILE_SET[int(s.tile)] == 0:
            return False
        top = int(s.site) if s.last_colour == NONE else min(int(s.site), int(s.last_colour))
        return held_up_to(s, seat, top) >= s.to_pay and s.payment == 0
    if phase == Phase.IMPROVE:
        return open_improvements(s, seat) != 0
    if phase == Phase.OBJECT:
        return s.coins[seat] >= OBJECT_PRICE and s.for_sale != 0
    if phase == Phase.ANNOUNCE:
        return s.triggered == 0 and objectives_met(s, seat)
    return True


@jit
def _end_agrees(s):
    shown = count_bits(int(s.offer) & PLAIN_SET)
    exhausted = shown == 0 if s.exhaustion == ALL_BUILT else shown < DISPLAY
    if s.announcer != NONE:
        return s.triggered == 1 and s.announcer < s.num_players
    if s.triggered != int(exhausted):
        return False
    return s.over != OVER_RULES or s.triggered == 1


@jit
def _scorings_agree(s):
    for city in range(CITIES):
        if s.city_scored[city] >= s.num_players:
            return False
    for seat in range(SEATS):
        if s.groups_scored[seat] > 0 and s.colour_scoring == 0:
            return False
        absent = seat >= s.num_players
        if absent and (s.types_scored[seat] > 0 or s.groups_scored[seat] > 0 or s.vp[seat] > 0 or s.coins[seat] > 0):
            return False
    return True
