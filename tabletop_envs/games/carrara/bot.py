"""The greedy baseline of The Palaces of Carrara: one turn ahead, out of what its seat may know.

Every main action is given a worth in `POINT`ths of a point: a purchase by the bricks that it would bring, a building
by the scorings in which it may still count, a scoring by what it pays now, less what its marker may be worth later.
It looks at no holdings but its own, at the bag not at all.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tabletop_envs.core.bits import count_bits, lowest_bit
from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import weigh
from tabletop_envs.games.carrara.actions import (
    ANNOUNCE,
    BUY_STAY,
    BUY_TURN,
    CITY,
    COLOUR,
    DONE,
    IMPROVE,
    OBJECT,
    RELIEF,
    SCORE_CITY,
    SCORE_GROUP,
    SCORE_TYPE,
    SEGMENT,
    TILE,
)
from tabletop_envs.games.carrara.rules import final_parts
from tabletop_envs.games.carrara.state import NONE, Phase, buildings, cost_of, held_up_to, upgradable
from tabletop_envs.games.carrara.tables import (
    ALL_BUILT,
    ANNOUNCE_POINTS,
    CARD_COIN_RATE,
    CITIES,
    CITY_GROUP,
    COLOURS,
    COST,
    DISPLAY,
    GROUP_SET,
    LEVELS,
    MARKERS,
    MONUMENT_LEVEL,
    MULTIPLIER,
    NEEDED,
    OBJECT_PRICE,
    PAYS_COINS,
    PILE,
    PRICE,
    SEGMENTS,
    TILE_SET,
    TOP,
    TYPE_SET,
    TYPES,
)

# The figures below were found by playing: thousands of games between versions that differ in a few of them.
POINT: Final = 16
# [colour] -> worth of a brick in an empty hand
BRICK: Final = np.array([42, 31, 28, 18, 16, 11])
FULL_HAND: Final = 14  # bricks with which another one is worth nothing
COIN: Final = 5  # worth of a coin while bricks are to be bought
AN_OBJECT: Final = 3 * POINT
NEW_BRICKS: Final = 24  # what the refill may add to a purchase
# chances in POINT that a building will count in a scoring of its type, and of its city
TYPE_CHANCE: Final = 11
CITY_CHANCE: Final = 7
MARKER: Final = 14 * POINT  # worth of a scoring marker at the start of the game
EARLY: Final = 24  # coins that are kept for bricks while the game is young


# --- how late it is ---------------------------------------------------------------------------------------------


@jit
def _share_left(s):
    """How much of the game is left, in POINTths, told from the tiles."""
    if s.triggered > 0:
        return 0
    left = int(s.pile_size) + 1
    if s.exhaustion == ALL_BUILT:
        left += DISPLAY - 1
    return min(POINT, POINT * left // (PILE + 1))


@jit
def _coin(s):
    # at the end a coin is worth what the card says (R12.4)
    last = POINT // int(CARD_COIN_RATE[int(s.in_force[TOP])])
    return max(last, COIN) if _share_left(s) > 2 else last


# --- worths -----------------------------------------------------------------------------------------------------


@jit
def _city_worth(s, seat, city):
    """What a point of cost pays in a city."""
    factor = int(MULTIPLIER[city]) + ((int(s.improved[seat]) >> city) & 1)
    return factor * (_coin(s) if PAYS_COINS[city] > 0 else POINT)


@jit
def _chances(s, seat, tile, city):
    """How many scorings a building may still count in, in POINTths."""
    if s.markers[seat] == 0:
        return 0
    kind = tile // LEVELS
    chances = 0
    if (int(s.types_scored[seat]) >> kind) & 1 == 0:
        chances += TYPE_CHANCE
    if s.city_scored[city] == NONE:
        missing = int(NEEDED[city]) - count_bits(int(s.standing[seat, city]))
        chances += CITY_CHANCE + (4 if missing <= 1 else 0)
    return chances


@jit
def _building_worth(s, seat, tile, city):
    return (int(COST[tile]) * _city_worth(s, seat, city) + AN_OBJECT) * _chances(s, seat, tile, city) // POINT


@jit
def _brick_worth(s, held, colour):
    return int(BRICK[colour]) * max(FULL_HAND - held, 0) // FULL_HAND * min(_share_left(s) + 4, POINT) // POINT


@jit
def _payment_worth(s, seat, city, cost):
    """The worth of the bricks that would be paid, the poorest first."""
    worth = 0
    for colour in range(city, -1, -1):
        paid = min(int(s.bricks[seat, colour]), cost)
        cost -= paid
        worth += paid * int(BRICK[colour]) * min(_share_left(s), POINT) // (2 * POINT)
    return worth


@jit
def _site_worth(s, seat, tile, city):
    """Building a tile in a city that accepts enough bricks."""
    return _building_worth(s, seat, tile, city) - _payment_worth(s, seat, city, int(COST[tile]))


@jit
def _upgrade_worth(s, seat, tile, city, replaced):
    gain = _building_worth(s, seat, tile, city) - _building_worth(s, seat, replaced, city)
    return gain - _payment_worth(s, seat, city, int(COST[tile] - COST[replaced]))


@jit
def _tile_worth(s, seat, tile):
    """The best site of a tile."""
    best = -1000
    for city in range(CITIES):
        if held_up_to(s, seat, city) >= COST[tile]:
            best = max(best, _site_worth(s, seat, tile, city))
        if tile % LEVELS == MONUMENT_LEVEL:
            rest = upgradable(s, seat, city)
            while rest != 0:
                best = max(best, _upgrade_worth(s, seat, tile, city, lowest_bit(rest)))
                rest &= rest - 1
    return best


@jit
def _segment_worth(s, seat, segment, position):
    """What is bought from a segment that stands at a price position."""
    coins = int(s.coins[seat])
    held = held_up_to(s, seat, COLOURS - 1)
    worth = 0
    for colour in range(COLOURS):
        for _ in range(int(s.wheel[segment, colour])):
            price = int(PRICE[position, colour])
            gain = _brick_worth(s, held, colour) - price * _coin(s)
            if price <= coins and gain > 0:
                worth += gain
                coins -= price
                held += 1
    return worth


@jit
def _purchase_worth(s, seat, turned):
    best = 0
    for segment in range(SEGMENTS):
        best = max(best, _segment_worth(s, seat, segment, (segment + turned) % SEGMENTS))
    return best


@jit
def _scoring_worth(s, seat, tiles, city):
    """What a scoring of the buildings in a city pays."""
    worth = cost_of(tiles) * _city_worth(s, seat, city)
    for kind in range(TYPES):
        worth += AN_OBJECT * min(count_bits(tiles & TYPE_SET[kind]), int(s.supply[kind]))
    return worth


@jit
def _marker_worth(s, seat):
    # the fewer there are, the dearer; nothing at the end
    return MARKER * _share_left(s) // POINT * (MARKERS + 2 - int(s.markers[seat])) // MARKERS


@jit
def _type_worth(s, seat, kind):
    worth = 0
    for city in range(CITIES):
        worth += _scoring_worth(s, seat, int(s.standing[seat, city]) & TYPE_SET[kind], city)
    return worth


@jit
def _group_worth(s, seat, group):
    return cost_of(buildings(s, seat) & GROUP_SET[group]) * (_coin(s) if group == CITY_GROUP else POINT)


# --- the choice -------------------------------------------------------------------------------------------------


@jit
def _worth(s, seat, action):
    """The worth of an action in any phase but TAKE, PAY and ANNOUNCE."""
    if action == BUY_TURN:
        return _purchase_worth(s, seat, 1) + NEW_BRICKS * min(_share_left(s), 8) // 8
    if action == BUY_STAY:
        return _purchase_worth(s, seat, 0)
    if action < SCORE_CITY:
        tile = action - TILE
        if s.phase == Phase.MAIN:
            return _tile_worth(s, seat, tile)
        for city in range(CITIES):
            if int(s.standing[seat, city]) & TILE_SET[tile] != 0:
                return _upgrade_worth(s, seat, int(s.tile), city, tile)
    if action < SCORE_TYPE:
        city = action - SCORE_CITY
        return _scoring_worth(s, seat, int(s.standing[seat, city]), city) - _marker_worth(s, seat)
    if action < SCORE_GROUP:
        return _type_worth(s, seat, action - SCORE_TYPE) - _marker_worth(s, seat)
    if action < RELIEF:
        return _group_worth(s, seat, action - SCORE_GROUP) - _marker_worth(s, seat)
    if CITY <= action < SEGMENT:
        return _site_worth(s, seat, int(s.tile), action - CITY)
    if SEGMENT <= action < COLOUR:
        return _segment_worth(s, seat, action - SEGMENT, action - SEGMENT)
    if IMPROVE <= action < OBJECT:
        return _improvement_worth(s, seat, action - IMPROVE)
    return _object_worth(s, seat, action - OBJECT) if OBJECT <= action < DONE else 0


@jit
def _improvement_worth(s, seat, city):
    unit = _coin(s) if PAYS_COINS[city] > 0 else POINT
    return unit * (2 + cost_of(int(s.standing[seat, city])))


@jit
def _object_worth(s, seat, kind):
    """What an object adds to the final score, less its price."""
    before = final_parts(s, seat)
    s.objects[seat, kind] += 1
    after = final_parts(s, seat)
    s.objects[seat, kind] -= 1
    if _share_left(s) > 4 and s.coins[seat] < EARLY:
        return -1
    return POINT * (after[1] + after[2] - before[1] - before[2]) - OBJECT_PRICE * POINT // 5


@jit
def _choose_brick(s, seat, mask):
    """R17.4: the finest brick that is worth its price; the last one in order when none is and one must be taken."""
    held = held_up_to(s, seat, COLOURS - 1)
    choice = DONE
    for colour in range(COLOURS):
        if mask[COLOUR + colour] > 0:
            if _brick_worth(s, held, colour) > int(PRICE[int(s.segment), colour]) * _coin(s):
                return COLOUR + colour
            if mask[DONE] == 0:
                choice = COLOUR + colour
    return choice


@jit
def _choose_payment(mask):
    """The poorest brick."""
    for colour in range(COLOURS - 1, -1, -1):
        if mask[COLOUR + colour] > 0:
            return COLOUR + colour
    return COLOUR


@jit
def _choose_end(s, seat):
    """Announces when ahead of what the others show on the track, and of what they may have got with their markers."""
    track, objects, leftover, building, bonus, coins = final_parts(s, seat)
    own = track + objects + leftover + building + bonus + coins + ANNOUNCE_POINTS
    for other in range(int(s.num_players)):
        if other != seat and int(s.vp[other]) + 5 * (MARKERS - int(s.markers[other])) + 4 > own:
            return DONE
    return ANNOUNCE


@jit
def greedy(s, mask, salt):
    """The baseline's choice among the actions of the mask; the salt breaks ties."""
    seat = int(s.seat)
    if s.phase == Phase.TAKE:
        return _choose_brick(s, seat, mask)
    if s.phase == Phase.PAY:
        return _choose_payment(mask)
    if s.phase == Phase.ANNOUNCE:
        return _choose_end(s, seat)
    best, choice, ties = 0, -1, 0
    for action in range(len(mask)):
        if mask[action] == 0:
            continue
        best, choice, ties = weigh(s, salt, (best, choice, ties), _worth(s, seat, action), action, len(mask))
    return choice
