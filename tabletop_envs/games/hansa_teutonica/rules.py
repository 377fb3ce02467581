"""The rules of Hansa Teutonica in the order of RULES.md: setup, the five actions, markers, end of the turn, score.

A piece is 1 + 2 * owner + kind, 0 an empty place; sets of routes are words, sets of spaces pairs of words (low, high),
see `tables`. Of equal pieces on one route only the first may be chosen: `lead` holds those, so a mask is made of sets.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tabletop_envs.core.bits import count_bits, lowest_bit
from tabletop_envs.core.header import NOBODY, OVER_CAP, OVER_RULES, report
from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import shuffle
from tabletop_envs.games.hansa_teutonica.actions import (
    ABILITY,
    COELLEN,
    DONE,
    EXTRA,
    INCOME,
    MAX_ACTIONS,
    MAX_INCOME_MERCHANTS,
    NOTHING,
    OFFICE,
    PAWN,
    PAY,
    PAY_KINDS,
    PLACE,
    REWARD,
    REWARDS,
    ROUTE,
    SPACE,
    USE_PLUS3,
    USE_PLUS4,
    USE_REMOVE3,
    USE_SWAP,
    USE_UPGRADE,
)
from tabletop_envs.games.hansa_teutonica.state import (
    COMPLETED,
    CONTROLLED,
    DREW,
    EAST_WEST,
    ENDED,
    KEPT,
    NO_MARKER,
    PASSED,
    REVEALED,
    TOOK,
    End,
    Phase,
    group_of,
    kind_of,
    owner_of,
    piece_of,
    recount_city,
    recount_network,
    recount_route,
    side,
)
from tabletop_envs.games.hansa_teutonica.tables import (
    ABILITIES,
    ABILITY_KIND,
    BIGBOX,
    BIT,
    BOOK,
    CIRCLE,
    CIRCLES,
    CITIES,
    CITY_POINTS,
    COELLEN_POINTS,
    COELLEN_ROUTE,
    EAST,
    EAST_WEST_POINTS,
    END_CITIES,
    END_PRESTIGE,
    EVERYTHING,
    EXTRA_OFFICE,
    FIRST_STOCK,
    FIRST_SUPPLY,
    KEYS,
    KINDS,
    LAST_LEVEL,
    LOW_SPACES,
    MARKER_POINTS,
    MARKERS,
    MAX_EXTRAS,
    MAX_PLATE,
    MERCHANT,
    MONEY,
    NEAR_PROVINCES,
    NEXT_PROVINCES,
    OFFICE_COIN,
    OFFICE_COLOUR,
    OFFICE_COUNT,
    OFFICE_SHAPE,
    OPEN_BONUS,
    PIECES,
    PILE,
    PLUS3,
    PLUS4,
    PLUS_ACTIONS,
    PRIVILEGE,
    PROVINCE_ROUTES,
    PROVINCES,
    REMOVALS,
    REMOVE3,
    RINGS,
    ROUTE_ABILITY,
    ROUTE_CITIES,
    ROUTE_FIRST,
    ROUTE_LENGTH,
    ROUTE_SPACES,
    ROUTES,
    SIDE_ROUTES,
    SPACE_BIT,
    SPACE_ROUTE,
    SPACE_WORD,
    SPACES,
    START_MARKERS,
    SWAP_OFFICES,
    SWAP_PAIRS,
    TAVERNS,
    TRACK,
    TRADER,
    UPGRADE,
    WEST,
)
from tabletop_envs.games.hansa_teutonica.tables import ACTIONS as ACTIONS_TRACK

# kinds of chance (R15.3)
START_DRAW: Final = 0
PILE_DRAW: Final = 1

IMMEDIATE: Final = 1  # the option `east_west` (R16.3)
MAX_CHOICES: Final = 6000  # R17.3


# --- setup (R2) -------------------------------------------------------------------------------------------------


@jit
def setup(s):
    """R2: supplies, start markers, pile; the first turn is to begin, or with the pawn its placing (R16.6.1)."""
    s.free = SIDE_ROUTES[side(s)]
    for seat in range(int(s.num_players)):
        # R2.3
        for kind in range(KINDS):
            later = seat if kind == TRADER else 0
            s.supply[seat, kind] = int(FIRST_SUPPLY[kind]) + later
            s.stock[seat, kind] = int(FIRST_STOCK[kind]) - later
    # R2.5
    for number in range(len(START_MARKERS)):
        s.pile[number] = 1 + START_MARKERS[number]
    shuffle(s, START_DRAW, s.pile, len(START_MARKERS))
    for number in range(len(TAVERNS)):
        s.route_marker[TAVERNS[number]] = s.pile[number]
    # R2.6
    size = 0
    for marker in range(MARKERS):
        s.unseen[marker] = PILE[s.edition, marker]
        for _ in range(int(s.unseen[marker])):
            s.pile[size] = 1 + marker
            size += 1
    s.pile_size = size
    shuffle(s, PILE_DRAW, s.pile, size)
    end_context(s)
    s.pawn = -1
    s.phase = Phase.TURN_START
    s.seat = NOBODY
    if s.two_player_pawn > 0:
        s.phase = Phase.PAWN_START
        s.turn = 1
        s.seat = 1


@jit
def end_context(s):
    """Nothing is under way any more."""
    s.route = -1
    s.space = -1
    s.held = 0
    s.extras_left = 0
    s.moves_left = 0
    s.removals_left = 0
    s.taken = 0
    s.draw_failed = 0


@jit
def to_main(s):
    """The turn goes on behind an action or a marker (R3.3)."""
    end_context(s)
    s.phase = Phase.MAIN
    s.seat = s.turn


# --- pieces on routes (R5.2) ------------------------------------------------------------------------------------


@jit
def put(s, piece, route):
    """R5.2: a piece on the lowest free space of a route that has one."""
    space = int(ROUTE_FIRST[route])
    while s.spaces[space] > 0:
        space += 1
    s.spaces[space] = piece
    recount_route(s, route)


@jit
def lift(s, space):
    """Take the piece off a space; returns it."""
    piece = int(s.spaces[space])
    s.spaces[space] = 0
    recount_route(s, int(SPACE_ROUTE[space]))
    return piece


@jit
def is_lead(s, space):
    """Whether the space is the first of its route that holds such a piece (canonical choice); false if it is empty."""
    return s.lead[s.spaces[space], SPACE_WORD[space]] & SPACE_BIT[space] != 0


@jit
def without_route(low, high, route):
    """A set of spaces without those of a route."""
    if SPACE_WORD[ROUTE_FIRST[route]] == 0:
        return low & ~ROUTE_SPACES[route], high
    return low, high & ~ROUTE_SPACES[route]


@jit
def own_pieces(s, seat):
    """The first pieces of each kind on each route of a seat: a set of spaces."""
    trader = piece_of(seat, TRADER)
    merchant = piece_of(seat, MERCHANT)
    return s.lead[trader, 0] | s.lead[merchant, 0], s.lead[trader, 1] | s.lead[merchant, 1]


@jit
def foreign_pieces(s, seat, kinds):
    """The first pieces of the other seats, traders alone (kinds = 1) or both kinds (2): a set of spaces."""
    low, high = 0, 0
    for other in range(int(s.num_players)):
        if other != seat:
            for kind in range(kinds):
                low |= s.lead[piece_of(other, kind), 0]
                high |= s.lead[piece_of(other, kind), 1]
    return low, high


@jit
def with_way_out(s, low, high):
    """Of a set of pieces those for which another route has a free space."""
    if s.free == 0:
        return 0, 0
    if s.free & (s.free - 1) != 0:
        return low, high
    return without_route(low, high, lowest_bit(s.free))


@jit
def usable_routes(s):
    """R16.6.4: the routes on which Place, Displace and Establish are allowed."""
    return PROVINCE_ROUTES[s.pawn] if s.pawn >= 0 else SIDE_ROUTES[side(s)]


@jit
def on_routes(low, high, routes):
    """Of a set of spaces those that lie on the routes."""
    for route in range(ROUTES):
        if routes & BIT[route] == 0:
            low, high = without_route(low, high, route)
    return low, high


# --- Displace (R6) ----------------------------------------------------------------------------------------------


@jit
def in_supply(s, seat):
    """Resources of either kind in a seat's supply."""
    return int(s.supply[seat, TRADER]) + int(s.supply[seat, MERCHANT])


@jit
def in_stock(s, seat):
    """Resources of either kind in a seat's stock."""
    return int(s.stock[seat, TRADER]) + int(s.stock[seat, MERCHANT])


@jit
def displaceable(s, seat):
    """R6.1, R6.7, R16.6.4: the pieces that a seat may displace."""
    kinds = min(in_supply(s, seat) - 1, KINDS)  # a trader costs 2 resources in all, a merchant 3
    if kinds <= 0:
        return 0, 0
    low, high = foreign_pieces(s, seat, kinds)
    low, high = with_way_out(s, low, high)
    return on_routes(low, high, usable_routes(s)) if s.pawn >= 0 else (low, high)


@jit
def ring(s, route):
    """R6.3: the routes with a free space that are nearest to a route, itself left out."""
    rings = RINGS[side(s), route]
    for distance in range(len(rings)):
        found = rings[distance] & s.free
        if found != 0:
            return found
    return 0


@jit
def liftable(s, seat):
    """R6.5: the own pieces on routes that could go to another route of the ring."""
    low, high = own_pieces(s, seat)
    near = ring(s, int(s.route))
    if near == 0:
        return 0, 0
    return without_route(low, high, lowest_bit(near)) if near & (near - 1) == 0 else (low, high)


@jit
def can_add(s, seat):
    """R6.4, R6.5: whether the displaced owner can add an extra."""
    if in_stock(s, seat) + in_supply(s, seat) > 0:
        return ring(s, int(s.route)) != 0
    low, high = liftable(s, seat)
    return low | high != 0


# --- Move (R7) --------------------------------------------------------------------------------------------------


@jit
def partners(s, space):
    """R7.3: the pieces with which the piece on a space could change places."""
    piece = int(s.spaces[space])
    other = piece_of(owner_of(piece), 1 - kind_of(piece))
    return without_route(s.lead[other, 0], s.lead[other, 1], int(SPACE_ROUTE[space]))


@jit
def movable(s, seat, moves):
    """R7.1 to R7.3: the own pieces that have a destination with so many moves left."""
    low, high = own_pieces(s, seat)
    free_low, free_high = with_way_out(s, low, high)
    if moves < 2 or (free_low == low and free_high == high):
        return free_low, free_high
    # those that have no free space elsewhere may still change places
    stuck = (low & ~free_low, high & ~free_high)
    for word in range(2):
        rest = stuck[word]
        while rest != 0:
            space = LOW_SPACES * word + lowest_bit(rest)
            rest &= rest - 1
            other_low, other_high = partners(s, space)
            if other_low | other_high != 0:
                if word == 0:
                    free_low |= SPACE_BIT[space]
                else:
                    free_high |= SPACE_BIT[space]
    return free_low, free_high


# --- Establish (R8) ---------------------------------------------------------------------------------------------


@jit
def kinds_on_route(s, seat, route):
    """Whether a trader and whether a merchant of the seat lies on a route."""
    word = int(SPACE_WORD[ROUTE_FIRST[route]])
    here = ROUTE_SPACES[route]
    trader = s.lead[piece_of(seat, TRADER), word] & here != 0
    merchant = s.lead[piece_of(seat, MERCHANT), word] & here != 0
    return trader, merchant


@jit
def privilege(s, seat):
    """The highest colour that a seat's privilege track shows."""
    return int(TRACK[PRIVILEGE, s.levels[seat, PRIVILEGE]])


@jit
def office_fits(s, seat, city, kind):
    """R8.5: whether a resource of the kind fits the leftmost free printed office of a city."""
    which = side(s)
    office = int(s.filled[city])
    if office == OFFICE_COUNT[which, city] or OFFICE_COLOUR[which, city, office] > privilege(s, seat):
        return False
    if OFFICE_SHAPE[which, city, office] == CIRCLE:
        return kind == MERCHANT
    return kind == TRADER or s.merchant_in_square > 0


@jit
def extra_allowed(s, seat, city):
    """R10.3: an extra office marker held before this action, and a printed office of the city filled."""
    return s.markers[seat, EXTRA_OFFICE] > 0 and s.filled[city] > 0


@jit
def ability_of(s, seat, route):
    """R8.6: the ability that a route develops for a seat, -1 for none."""
    ability = int(ROUTE_ABILITY[route])
    return ability if ability >= 0 and s.levels[seat, ability] < LAST_LEVEL[ability] else -1


# --- markers (R10) ----------------------------------------------------------------------------------------------


@jit
def swap_allowed(s, seat, pair):
    """R10.4, R16.4: two neighbouring filled printed offices of different owners."""
    city = int(SWAP_PAIRS[pair, 0])
    left = int(SWAP_PAIRS[pair, 1])
    if s.filled[city] < left + 2:
        return False
    one, other = owner_of(int(s.offices[city, left])), owner_of(int(s.offices[city, left + 1]))
    return one != other and (s.swap_requires_own == 0 or one == seat or other == seat)


@jit
def removable(s, seat):
    """R10.7: the pieces that remove three may take; R16.1: in `bigbox` those of others that can be moved."""
    if s.edition == BIGBOX:
        low, high = foreign_pieces(s, seat, KINDS)
        return with_way_out(s, low, high)
    low, high = 0, 0
    for piece in range(1, 1 + PIECES):
        low |= s.lead[piece, 0]
        high |= s.lead[piece, 1]
    return low, high


@jit
def marker_routes(s):
    """R10.8.1 to R10.8.3: the routes on which a marker may be put."""
    which = side(s)
    found = 0
    for route in range(ROUTES):
        if SIDE_ROUTES[which] & BIT[route] == 0 or s.route_marker[route] > 0:
            continue
        office = False
        for end in range(2):
            city = int(ROUTE_CITIES[route, end])
            office = office or s.filled[city] < OFFICE_COUNT[which, city]
        empty = True
        for number in range(int(ROUTE_LENGTH[route])):
            empty = empty and s.spaces[int(ROUTE_FIRST[route]) + number] == 0
        if office and empty:
            found |= BIT[route]
    return found


@jit
def marker_usable(s, seat):
    """R3.7: whether some marker can be used in MAIN."""
    if s.markers[seat, PLUS3] + s.markers[seat, PLUS4] > 0:
        return True
    if s.markers[seat, REMOVE3] > 0:
        low, high = removable(s, seat)
        if low | high != 0:
            return True
    if s.markers[seat, UPGRADE] > 0:
        for ability in range(ABILITIES):
            if s.levels[seat, ability] < LAST_LEVEL[ability]:
                return True
    if s.markers[seat, SWAP_OFFICES] > 0:
        for pair in range(len(SWAP_PAIRS)):
            if swap_allowed(s, seat, pair):
                return True
    return False


@jit
def action_possible(s, seat):
    """R16.5: whether an action is left and can be made."""
    if s.actions_left == 0:
        return False
    if s.pawn >= 0 or in_stock(s, seat) > 0:
        return True
    if in_supply(s, seat) > 0 and s.free != 0:
        return True
    if s.full[seat] != 0:
        return True
    low, high = displaceable(s, seat)
    own_low, own_high = movable(s, seat, int(TRACK[BOOK, s.levels[seat, BOOK]]))
    return low | high | own_low | own_high != 0


# --- masks ------------------------------------------------------------------------------------------------------


@jit
def _write_routes(mask, offset, routes):
    for route in range(ROUTES):
        mask[offset + route] = (routes >> route) & 1
    return count_bits(routes)


@jit
def _write_spaces(mask, low, high):
    for space in range(LOW_SPACES):
        mask[SPACE + space] = (low >> space) & 1
    for space in range(SPACES - LOW_SPACES):
        mask[SPACE + LOW_SPACES + space] = (high >> space) & 1
    return count_bits(low) + count_bits(high)


@jit
def legal(s, mask):
    """The legal actions of the seat to act, and their number."""
    mask[INCOME:] = 0
    if s.phase == Phase.MAIN:
        return _legal_main(s, mask)
    mask[:INCOME] = 0
    seat = int(s.seat)
    phase = int(s.phase)
    if phase == Phase.PAY:
        return _legal_pay(s, mask)
    if phase == Phase.DISP_PLACE:
        return _write_routes(mask, ROUTE, ring(s, int(s.route)))
    if phase == Phase.DISP_EXTRA:
        return _legal_extra(s, mask)
    if phase == Phase.DISP_BOARD:
        return _write_routes(mask, ROUTE, ring(s, int(s.route)) & ~BIT[SPACE_ROUTE[s.space]])
    if phase == Phase.MOVE_DEST or phase == Phase.MOVE3_DEST:
        count = _write_routes(mask, ROUTE, s.free & ~BIT[SPACE_ROUTE[s.space]])
        if s.moves_left >= 2:
            low, high = partners(s, int(s.space))
            count += _write_spaces(mask, low, high)
        return count
    if phase == Phase.MOVE_NEXT:
        low, high = movable(s, seat, int(s.moves_left))
        mask[DONE] = 1
        return 1 + _write_spaces(mask, low, high)
    if phase == Phase.REWARD:
        return _legal_reward(s, mask)
    if phase == Phase.REMOVE3 or phase == Phase.MOVE3_PICK:
        low, high = removable(s, seat)
        # R10.7: one at least
        mask[DONE] = s.removals_left < REMOVALS
        return _write_spaces(mask, low, high) + int(mask[DONE])
    if phase == Phase.MARKER_PLACE:
        return _write_routes(mask, ROUTE, marker_routes(s))
    return _legal_pawn(s, mask)


@jit
def _legal_main(s, mask):
    seat = int(s.seat)
    if s.actions_left > 0:
        count = _legal_actions(s, mask, seat)
    else:
        mask[:INCOME] = 0
        count = 0
    if count == 0 or s.actions_left == 0 or s.allow_early_end > 0:
        # R3.4, R16.5
        mask[DONE] = 1
        count += 1
    held = 0
    for marker in range(MARKERS):
        held += int(s.markers[seat, marker])
    return count + _legal_markers(s, mask, seat) if held > 0 else count


@jit
def _legal_actions(s, mask, seat):
    # R4 to R8 with an action left
    usable = usable_routes(s)
    free = s.free & usable
    # R5
    count = _write_routes(mask, PLACE, free if s.supply[seat, TRADER] > 0 else 0)
    count += _write_routes(mask, PLACE + ROUTES, free if s.supply[seat, MERCHANT] > 0 else 0)
    # R8.1
    count += _write_routes(mask, ROUTE, s.full[seat] & usable)
    # R6.1, R7.1
    low, high = displaceable(s, seat)
    own_low, own_high = movable(s, seat, int(TRACK[BOOK, s.levels[seat, BOOK]]))
    count += _write_spaces(mask, low | own_low, high | own_high)
    # R4.2, R4.3
    traders, merchants = int(s.stock[seat, TRADER]), int(s.stock[seat, MERCHANT])
    value = int(TRACK[MONEY, s.levels[seat, MONEY]])
    if value == EVERYTHING:
        if traders + merchants > 0:
            mask[INCOME + merchants] = 1
            count += 1
    else:
        for number in range(min(merchants, value, MAX_INCOME_MERCHANTS) + 1):
            if number + min(traders, value - number) > 0:
                mask[INCOME + number] = 1
                count += 1
    if s.pawn >= 0:
        # R16.6.4
        count += _write_provinces(mask, NEXT_PROVINCES[s.pawn])
    return count


@jit
def _legal_markers(s, mask, seat):
    # R10.4 to R10.7
    count = 0
    if s.markers[seat, PLUS3] > 0:
        mask[USE_PLUS3] = 1
        count += 1
    if s.markers[seat, PLUS4] > 0:
        mask[USE_PLUS4] = 1
        count += 1
    if s.markers[seat, REMOVE3] > 0:
        low, high = removable(s, seat)
        if low | high != 0:
            mask[USE_REMOVE3] = 1
            count += 1
    if s.markers[seat, UPGRADE] > 0:
        for ability in range(ABILITIES):
            if s.levels[seat, ability] < LAST_LEVEL[ability]:
                mask[USE_UPGRADE + ability] = 1
                count += 1
    if s.markers[seat, SWAP_OFFICES] > 0:
        for pair in range(len(SWAP_PAIRS)):
            if swap_allowed(s, seat, pair):
                mask[USE_SWAP + pair] = 1
                count += 1
    return count


@jit
def _legal_pay(s, mask):
    # R6.2
    seat = int(s.seat)
    fee = int(s.extras_left)
    count = 0
    for kind in range(KINDS):
        for merchants in range(fee + 1):
            traders = fee - merchants + int(kind == TRADER)
            if s.supply[seat, TRADER] >= traders and s.supply[seat, MERCHANT] >= merchants + int(kind == MERCHANT):
                mask[PAY + PAY_KINDS * kind + merchants] = 1
                count += 1
    return count


@jit
def _legal_extra(s, mask):
    # R6.4, R6.5
    seat = int(s.seat)
    mask[DONE] = 1
    source = s.stock[seat] if in_stock(s, seat) > 0 else s.supply[seat]
    if source[TRADER] + source[MERCHANT] == 0:
        low, high = liftable(s, seat)
        return 1 + _write_spaces(mask, low, high)
    near = ring(s, int(s.route))
    count = 1
    for kind in range(KINDS):
        if source[kind] > 0:
            count += _write_routes(mask, PLACE + ROUTES * kind, near)
    return count


@jit
def _legal_reward(s, mask):
    # R8.4 to R8.8, R10.3
    seat, route = int(s.seat), int(s.route)
    on_route = kinds_on_route(s, seat, route)
    mask[REWARD + NOTHING] = 1
    count = 1
    for end in range(2):
        city = int(ROUTE_CITIES[route, end])
        for kind in range(KINDS):
            if on_route[kind] and office_fits(s, seat, city, kind):
                mask[REWARD + OFFICE + 2 * end + kind] = 1
                count += 1
            if on_route[kind] and extra_allowed(s, seat, city):
                mask[REWARD + EXTRA + 2 * end + kind] = 1
                count += 1
    if ability_of(s, seat, route) >= 0:
        mask[REWARD + ABILITY] = 1
        count += 1
    if route == COELLEN_ROUTE and on_route[MERCHANT]:
        for circle in range(CIRCLES):
            if s.circles[circle] == 0 and circle <= privilege(s, seat):
                mask[REWARD + COELLEN + circle] = 1
                count += 1
    return count


@jit
def _write_provinces(mask, provinces):
    for province in range(PROVINCES):
        mask[PAWN + province] = (provinces >> province) & 1
    return count_bits(provinces)


@jit
def _legal_pawn(s, mask):
    # R16.6.1 to R16.6.3
    if s.phase == Phase.PAWN_START:
        return _write_provinces(mask, (1 << PROVINCES) - 1)
    mask[DONE] = 1
    return 1 + _write_provinces(mask, NEAR_PROVINCES[s.pawn])


# --- decisions --------------------------------------------------------------------------------------------------


@jit
def apply(s, action):
    """Execute one decision of the seat to act.

    R17.3 counts real choices. With `auto_forced` off others are asked too; these alone are counted by `legal`, into a
    mask of their own. No precondition rests on it.
    """
    assert 0 <= action < MAX_ACTIONS, "the action is outside the space"
    assert s.seat != NOBODY, "nobody is asked"
    if s.auto_forced == 0:
        s.forced += legal(s, np.empty(MAX_ACTIONS, dtype=np.int8)) == 1
    phase = int(s.phase)
    if phase == Phase.MAIN:
        _act(s, action)
    elif phase == Phase.PAY:
        _pay(s, action)
    elif phase == Phase.DISP_PLACE:
        _put_displaced(s, action)
    elif phase == Phase.DISP_EXTRA:
        _add_extra(s, action)
    elif phase == Phase.DISP_BOARD:
        _put_lifted(s, action)
    elif phase == Phase.MOVE_DEST:
        _move_to(s, action)
    elif phase == Phase.MOVE_NEXT:
        _move_on(s, action)
    elif phase == Phase.REWARD:
        _reward(s, action)
    elif phase == Phase.REMOVE3 or phase == Phase.MOVE3_PICK:
        _remove(s, action)
    elif phase == Phase.MOVE3_DEST:
        _move_foreign(s, action)
    elif phase == Phase.MARKER_PLACE:
        _place_marker(s, action)
    else:
        _move_pawn(s, action)


@jit
def _act(s, action):
    # R3.3 to R3.5: an action, a marker, or the end of the turn
    if action == DONE:
        _end_turn(s)
    elif USE_PLUS3 <= action < DONE:
        _use_marker(s, action)
    else:
        assert s.actions_left > 0, "no action is left (R3.2)"
        if action < ROUTE:
            _place(s, action)
        elif action < SPACE:
            _establish(s, action - ROUTE)
        elif action < INCOME:
            _choose_piece(s, action - SPACE)
        elif action < PAY:
            _take_income(s, action - INCOME)
        else:
            assert action >= PAWN, "an action is asked (R3.3)"
            province = action - PAWN
            assert s.pawn >= 0 and NEXT_PROVINCES[s.pawn] & BIT[province] != 0, "the pawn cannot go there (R16.6.4)"
            s.pawn = province
        s.actions_left -= 1


@jit
def _end_turn(s):
    # R3.4, R3.6, R16.5
    assert s.allow_early_end > 0 or not action_possible(s, int(s.seat)), "an action can be made (R16.5)"
    s.actions_left = 0
    s.phase = Phase.TURN_END
    s.seat = NOBODY
    if s.pawn >= 0 and s.pawn_moved == 0:
        # R16.6.3
        s.phase = Phase.PAWN_AFTER
        s.seat = s.turn


@jit
def _take_income(s, merchants):
    # R4.2, R4.3
    seat = int(s.seat)
    value = int(TRACK[MONEY, s.levels[seat, MONEY]])
    assert merchants <= s.stock[seat, MERCHANT] and merchants <= value, "so many merchants cannot be taken (R4.2)"
    assert value != EVERYTHING or merchants == s.stock[seat, MERCHANT], "the whole stock is taken (R4.3)"
    traders = min(int(s.stock[seat, TRADER]), value - merchants)
    assert merchants + traders > 0, "nothing would be taken (R4.2)"
    s.stock[seat, TRADER] -= traders
    s.supply[seat, TRADER] += traders
    s.stock[seat, MERCHANT] -= merchants
    s.supply[seat, MERCHANT] += merchants


@jit
def _place(s, action):
    # R5
    seat = int(s.seat)
    kind = action // ROUTES
    route = action % ROUTES
    assert s.supply[seat, kind] > 0, "the supply has no such resource (R5.1)"
    assert s.free & usable_routes(s) & BIT[route] != 0, "the route has no free space, or the pawn is not there (R5.1)"
    s.supply[seat, kind] -= 1
    put(s, piece_of(seat, kind), route)


@jit
def _choose_piece(s, space):
    # a foreign piece is displaced (R6.1), an own one moved (R7.1)
    seat = int(s.seat)
    assert is_lead(s, space), "no piece lies there, or an equal one before it on its route"
    s.space = space
    s.held = s.spaces[space]
    if owner_of(int(s.held)) == seat:
        moves = int(TRACK[BOOK, s.levels[seat, BOOK]])
        assert _in_set(space, movable(s, seat, moves)), "the piece has no destination (R7.2)"
        s.moves_left = moves
        s.phase = Phase.MOVE_DEST
    else:
        assert _in_set(space, displaceable(s, seat)), "it cannot be paid or has no way out (R6.1, R6.7)"
        s.route = SPACE_ROUTE[space]
        s.extras_left = 1 + kind_of(int(s.held))
        s.phase = Phase.PAY


@jit
def _in_set(space, spaces):
    return spaces[SPACE_WORD[space]] & SPACE_BIT[space] != 0


# --- displacing, step by step (R6) ------------------------------------------------------------------------------


@jit
def _pay(s, action):
    # R6.2: one resource on the space, the fee to the stock
    assert PAY <= action < REWARD, "what is placed and paid is asked (R6.2)"
    seat = int(s.seat)
    kind = (action - PAY) // PAY_KINDS
    merchants = (action - PAY) % PAY_KINDS
    traders = int(s.extras_left) - merchants
    assert traders >= 0, "the fee is smaller (R6.1)"
    assert s.supply[seat, TRADER] >= traders + int(kind == TRADER), "the supply has too few traders (R6.2)"
    assert s.supply[seat, MERCHANT] >= merchants + int(kind == MERCHANT), "the supply has too few merchants (R6.2)"
    s.supply[seat, kind] -= 1
    s.supply[seat, TRADER] -= traders
    s.stock[seat, TRADER] += traders
    s.supply[seat, MERCHANT] -= merchants
    s.stock[seat, MERCHANT] += merchants
    s.spaces[s.space] = piece_of(seat, kind)
    recount_route(s, int(s.route))
    s.space = -1
    s.phase = Phase.DISP_PLACE
    s.seat = owner_of(int(s.held))


@jit
def _put_displaced(s, action):
    # R6.3
    assert ROUTE <= action < SPACE, "a route is asked (R6.3)"
    assert ring(s, int(s.route)) & BIT[action - ROUTE] != 0, "the route is not in the nearest ring (R6.3)"
    put(s, int(s.held), action - ROUTE)
    s.held = 0
    _ask_extra(s)


@jit
def _ask_extra(s):
    # R6.4, R6.8
    if s.extras_left > 0 and can_add(s, int(s.seat)):
        s.phase = Phase.DISP_EXTRA
    else:
        to_main(s)


@jit
def _add_extra(s, action):
    # R6.4, R6.5: from the stock; else from the supply; else an own piece of the board; or no more
    seat = int(s.seat)
    if action == DONE:
        to_main(s)
        return
    if action >= SPACE:
        assert action < INCOME, "an extra is asked (R6.4)"
        space = action - SPACE
        assert in_stock(s, seat) + in_supply(s, seat) == 0, "stock or supply come first (R6.5)"
        assert is_lead(s, space), "no piece lies there, or an equal one before it on its route"
        assert _in_set(space, liftable(s, seat)), "the piece cannot go to another route of the ring (R6.5)"
        s.space = space
        s.held = s.spaces[space]
        s.phase = Phase.DISP_BOARD
        return
    assert action < ROUTE, "an extra is asked (R6.4)"
    kind = action // ROUTES
    route = action % ROUTES
    assert ring(s, int(s.route)) & BIT[route] != 0, "the route is not in the nearest ring (R6.3)"
    source = s.stock[seat] if in_stock(s, seat) > 0 else s.supply[seat]
    assert source[kind] > 0, "there is no such resource where it must come from (R6.5)"
    source[kind] -= 1
    put(s, piece_of(seat, kind), route)
    s.extras_left -= 1
    _ask_extra(s)


@jit
def _put_lifted(s, action):
    # R6.5: the ring is the one before lifting, and the piece goes to another route
    assert ROUTE <= action < SPACE, "a route is asked (R6.5)"
    route = action - ROUTE
    assert ring(s, int(s.route)) & BIT[route] != 0, "the route is not in the nearest ring (R6.3)"
    assert route != SPACE_ROUTE[s.space], "the piece must go to another route (R6.5)"
    put(s, lift(s, int(s.space)), route)
    s.space = -1
    s.held = 0
    s.extras_left -= 1
    _ask_extra(s)


# --- moving, step by step (R7) ----------------------------------------------------------------------------------


@jit
def _move_to(s, action):
    # R7.2, R7.3
    space = int(s.space)
    if ROUTE <= action < SPACE:
        route = action - ROUTE
        assert s.free & BIT[route] != 0, "the route has no free space (R7.1)"
        assert route != SPACE_ROUTE[space], "a move goes to another route (R7.2)"
        put(s, lift(s, space), route)
        s.moves_left -= 1
    else:
        assert SPACE <= action < INCOME, "a destination is asked (R7.1)"
        other = action - SPACE
        assert s.moves_left >= 2, "changing places takes two moves (R7.3)"
        assert _in_set(other, partners(s, space)), "they cannot change places (R7.3)"
        s.spaces[space] = s.spaces[other]
        s.spaces[other] = s.held
        recount_route(s, int(SPACE_ROUTE[space]))
        recount_route(s, int(SPACE_ROUTE[other]))
        s.moves_left -= 2
    s.space = -1
    s.held = 0
    s.phase = Phase.MOVE_NEXT
    low, high = movable(s, int(s.seat), int(s.moves_left))
    if s.moves_left == 0 or low | high == 0:
        to_main(s)


@jit
def _move_on(s, action):
    # R7.1, R7.2
    if action == DONE:
        to_main(s)
        return
    assert SPACE <= action < INCOME, "a piece is asked (R7.1)"
    space = action - SPACE
    assert is_lead(s, space), "no piece lies there, or an equal one before it on its route"
    assert _in_set(space, movable(s, int(s.seat), int(s.moves_left))), "no own piece with a destination (R7.1)"
    s.space = space
    s.held = s.spaces[space]
    s.phase = Phase.MOVE_DEST


# --- establishing (R8) ------------------------------------------------------------------------------------------


@jit
def _establish(s, route):
    # R8.1
    seat = int(s.seat)
    assert s.full[seat] & usable_routes(s) & BIT[route] != 0, "the route is not full of own resources (R8.1)"
    # step A, R8.2
    for end in range(2):
        city = int(ROUTE_CITIES[route, end])
        controller = int(s.controller[city]) - 1
        if controller >= 0:
            s.prestige[controller] += 1
            report(s, CONTROLLED, controller, city)
    # step B, R8.3
    if s.route_marker[route] > 0:
        s.taken = s.route_marker[route]
        s.route_marker[route] = 0
        report(s, TOOK, seat, int(s.taken) - 1)
        if s.pile_size > 0:
            s.pile_size -= 1
            s.drawn += 1
            report(s, DREW, seat, 0)
        else:
            s.draw_failed = 1
            report(s, NO_MARKER, seat, 0)
    # step C is asked, R8.4
    s.route = route
    s.phase = Phase.REWARD


@jit
def _reward(s, action):
    # R8.4, R8.9: the resource to its place, the others to the stock, the ability; then R11.2, R10.1, R12.1
    assert REWARD <= action < REWARD + REWARDS, "a reward is asked (R8.4)"
    seat, route = int(s.seat), int(s.route)
    reward = action - REWARD
    if reward == ABILITY:
        ability = ability_of(s, seat, route)
        assert ability >= 0, "no ability to develop here (R8.6)"
        _clear_route(s, seat, route)
        raise_level(s, seat, ability)
    else:
        if reward >= COELLEN:
            _take_circle(s, seat, route, reward - COELLEN)
        elif reward >= EXTRA:
            _found_extra(s, seat, route, (reward - EXTRA) // 2, (reward - EXTRA) % 2)
        elif reward >= OFFICE:
            _found_office(s, seat, route, (reward - OFFICE) // 2, (reward - OFFICE) % 2)
        _clear_route(s, seat, route)
        if OFFICE <= reward < COELLEN:
            _check_east_west(s, seat)
    if s.taken > 0:
        s.markers[seat, int(s.taken) - 1] += 1
    _end_action(s)


@jit
def _take_from_route(s, seat, route, kind):
    # the resource of step C; `_clear_route` keeps the sets
    piece = piece_of(seat, kind)
    for number in range(int(ROUTE_LENGTH[route])):
        space = int(ROUTE_FIRST[route]) + number
        if s.spaces[space] == piece:
            s.spaces[space] = 0
            return piece
    raise AssertionError("no such resource lies on the route (R8.5)")


@jit
def _clear_route(s, seat, route):
    # R8.9: back to the stock
    for number in range(int(ROUTE_LENGTH[route])):
        space = int(ROUTE_FIRST[route]) + number
        if s.spaces[space] > 0:
            s.stock[seat, kind_of(int(s.spaces[space]))] += 1
            s.spaces[space] = 0
    recount_route(s, route)


@jit
def _found_office(s, seat, route, end, kind):
    # R8.5, R8.10
    city = int(ROUTE_CITIES[route, end])
    assert office_fits(s, seat, city, kind), "the resource does not fit the next office (R8.5)"
    which = side(s)
    office = int(s.filled[city])
    s.offices[city, office] = _take_from_route(s, seat, route, kind)
    s.prestige[seat] += OFFICE_COIN[which, city, office]
    recount_city(s, city)
    recount_network(s, seat)
    if s.filled[city] == OFFICE_COUNT[which, city]:
        s.completed += 1
        report(s, COMPLETED, seat, city)


@jit
def _found_extra(s, seat, route, end, kind):
    # R10.3
    city = int(ROUTE_CITIES[route, end])
    assert extra_allowed(s, seat, city), "no marker held before, or no office filled there (R10.3)"
    extra = int(s.num_extras[city])
    assert extra < MAX_EXTRAS, "there are no more such markers (R1.7)"
    s.extras[city, extra] = _take_from_route(s, seat, route, kind)
    _use_up(s, seat, EXTRA_OFFICE)
    recount_city(s, city)
    recount_network(s, seat)


@jit
def _take_circle(s, seat, route, circle):
    # R8.7
    assert route == COELLEN_ROUTE, "the circles are on the route Coellen-Warburg (R8.7)"
    assert s.circles[circle] == 0 and circle <= privilege(s, seat), "the circle is taken or not allowed (R8.7)"
    _take_from_route(s, seat, route, MERCHANT)
    s.circles[circle] = 1 + seat


@jit
def raise_level(s, seat, ability):
    """R8.6, R10.6, R3.2: the leftmost closed resource of a track goes to the supply, and the new value holds."""
    level = int(s.levels[seat, ability])
    s.levels[seat, ability] = level + 1
    s.supply[seat, ABILITY_KIND[ability]] += 1
    if ability == ACTIONS_TRACK:
        s.actions_left += TRACK[ability, level + 1] - TRACK[ability, level]


@jit
def _check_east_west(s, seat):
    # R11.1, R11.2
    ends = BIT[WEST] | BIT[EAST]
    if s.east_west_rank[seat] > 0 or s.presence[seat] & ends != ends or group_of(s, seat, WEST) & BIT[EAST] == 0:
        return
    rank = 1
    for other in range(int(s.num_players)):
        rank += int(s.east_west_rank[other] > 0)
    if rank < len(EAST_WEST_POINTS):
        s.east_west_rank[seat] = rank
        report(s, EAST_WEST, seat, rank)
        if s.east_west == IMMEDIATE:
            # R16.3
            s.prestige[seat] += EAST_WEST_POINTS[rank]


@jit
def _end_action(s):
    # R12.1: no other action changes prestige, pile or completed cities
    prestige = 0
    for seat in range(int(s.num_players)):
        prestige = max(prestige, int(s.prestige[seat]))
    reason = End.NONE
    if s.draw_failed > 0:
        reason = End.MARKERS
    elif prestige >= END_PRESTIGE:
        reason = End.PRESTIGE
    elif s.completed >= END_CITIES:
        reason = End.CITIES
    to_main(s)
    if reason != End.NONE:
        _end_game(s, reason, OVER_RULES)


@jit
def _end_game(s, reason, over):
    s.end_reason = reason
    s.over = over
    s.phase = Phase.OVER
    s.seat = NOBODY
    report(s, ENDED, NOBODY, reason)


# --- markers (R10) ----------------------------------------------------------------------------------------------


@jit
def _use_up(s, seat, marker):
    s.markers[seat, marker] -= 1
    s.used[seat, marker] += 1


@jit
def _use_marker(s, action):
    seat = int(s.seat)
    if action >= USE_SWAP:
        # R10.4
        pair = action - USE_SWAP
        assert s.markers[seat, SWAP_OFFICES] > 0, "the marker is not held (R10.2)"
        assert swap_allowed(s, seat, pair), "these offices cannot be swapped (R10.4)"
        _use_up(s, seat, SWAP_OFFICES)
        city, left = int(SWAP_PAIRS[pair, 0]), int(SWAP_PAIRS[pair, 1])
        kept = int(s.offices[city, left])
        s.offices[city, left] = s.offices[city, left + 1]
        s.offices[city, left + 1] = kept
        recount_city(s, city)
    elif action >= USE_UPGRADE:
        # R10.6
        ability = action - USE_UPGRADE
        assert s.markers[seat, UPGRADE] > 0, "the marker is not held (R10.2)"
        assert s.levels[seat, ability] < LAST_LEVEL[ability], "the track is fully open (R10.6)"
        _use_up(s, seat, UPGRADE)
        raise_level(s, seat, ability)
    elif action == USE_REMOVE3:
        # R10.7, R16.1
        assert s.markers[seat, REMOVE3] > 0, "the marker is not held (R10.2)"
        low, high = removable(s, seat)
        assert low | high != 0, "no piece can be taken (R10.7)"
        _use_up(s, seat, REMOVE3)
        s.removals_left = REMOVALS
        s.phase = Phase.MOVE3_PICK if s.edition == BIGBOX else Phase.REMOVE3
    else:
        # R10.5
        marker = PLUS3 if action == USE_PLUS3 else PLUS4
        assert s.markers[seat, marker] > 0, "the marker is not held (R10.2)"
        _use_up(s, seat, marker)
        s.actions_left += PLUS_ACTIONS[marker]


@jit
def _remove(s, action):
    # R10.7: to the supply of its owner; R16.1: in `bigbox` to be moved
    if action == DONE:
        assert s.removals_left < REMOVALS, "one resource at least (R10.7)"
        to_main(s)
        return
    assert SPACE <= action < INCOME, "a resource is asked (R10.7)"
    space = action - SPACE
    assert is_lead(s, space), "no piece lies there, or an equal one before it on its route"
    assert _in_set(space, removable(s, int(s.seat))), "this resource cannot be taken (R10.7, R16.1)"
    if s.phase == Phase.MOVE3_PICK:
        s.space = space
        s.held = s.spaces[space]
        s.phase = Phase.MOVE3_DEST
        return
    piece = lift(s, space)
    s.supply[owner_of(piece), kind_of(piece)] += 1
    _ask_removal(s)


@jit
def _ask_removal(s):
    s.removals_left -= 1
    low, high = removable(s, int(s.seat))
    if s.removals_left == 0 or low | high == 0:
        to_main(s)


@jit
def _move_foreign(s, action):
    # R16.1
    assert ROUTE <= action < SPACE, "a route is asked (R16.1)"
    route = action - ROUTE
    assert s.free & BIT[route] != 0 and route != SPACE_ROUTE[s.space], "another route with a free space (R16.1)"
    put(s, lift(s, int(s.space)), route)
    s.space = -1
    s.held = 0
    s.phase = Phase.MOVE3_PICK
    _ask_removal(s)


@jit
def _place_marker(s, action):
    # R10.8
    assert ROUTE <= action < SPACE, "a route is asked (R10.8)"
    assert marker_routes(s) & BIT[action - ROUTE] != 0, "no marker may be put there (R10.8)"
    seat = int(s.seat)
    s.route_marker[action - ROUTE] = s.plate[seat, 0]
    for place in range(1, MAX_PLATE):
        s.plate[seat, place - 1] = s.plate[seat, place]
    s.plate[seat, MAX_PLATE - 1] = 0
    s.phase = Phase.TURN_END
    s.seat = NOBODY


# --- the pawn (R16.6) -------------------------------------------------------------------------------------------


@jit
def _move_pawn(s, action):
    phase = int(s.phase)
    province = action - PAWN
    if phase == Phase.PAWN_START:
        # R16.6.1
        assert province >= 0, "a province is asked (R16.6.1)"
        s.pawn = province
        s.turn = 0
        s.phase = Phase.TURN_START
        s.seat = NOBODY
        return
    if action != DONE:
        assert province >= 0 and NEAR_PROVINCES[s.pawn] & BIT[province] != 0, "one or two borders away (R16.6.2)"
        s.pawn = province
    if phase == Phase.PAWN_BEFORE:
        # R16.6.2
        s.pawn_moved = int(action != DONE)
        s.phase = Phase.MAIN
    else:
        # R16.6.3
        s.phase = Phase.TURN_END
        s.seat = NOBODY


# --- from turn to turn (R3.6, R10.8, R17) -----------------------------------------------------------------------


@jit
def advance(s):
    """The plate is turned up, its next marker is asked for, the turn is over, or the next one begins."""
    seat = int(s.turn)
    if s.phase == Phase.TURN_START:
        _begin_turn(s)
    elif s.drawn > 0:
        _reveal(s)
    elif s.plate[seat, 0] > 0 and marker_routes(s) != 0:
        s.phase = Phase.MARKER_PLACE
        s.seat = seat
    else:
        _finish_turn(s)


@jit
def _begin_turn(s):
    # R3.2, R17.1
    seat = int(s.turn)
    s.actions_left = TRACK[ACTIONS_TRACK, s.levels[seat, ACTIONS_TRACK]]
    s.pawn_moved = 0
    s.optionless = int(not action_possible(s, seat) and not marker_usable(s, seat))
    if s.optionless > 0:
        report(s, PASSED, seat, 0)
    s.phase = Phase.MAIN if s.pawn < 0 else Phase.PAWN_BEFORE
    s.seat = seat


@jit
def _reveal(s):
    # R10.8: in the order in which they were drawn, behind those left over
    seat = int(s.turn)
    place = 0
    while s.plate[seat, place] > 0:
        place += 1
    while s.drawn > 0:
        top = int(s.pile_size) + int(s.drawn) - 1
        s.plate[seat, place] = s.pile[top]
        s.pile[top] = 0
        s.drawn -= 1
        marker = int(s.plate[seat, place]) - 1
        s.unseen[marker] -= 1
        report(s, REVEALED, seat, marker)
        place += 1


@jit
def _finish_turn(s):
    seat = int(s.turn)
    players = int(s.num_players)
    for place in range(MAX_PLATE):
        # R10.8.4
        if s.plate[seat, place] > 0:
            report(s, KEPT, seat, int(s.plate[seat, place]) - 1)
    s.turns += 1
    s.stall = int(s.stall) + 1 if s.optionless > 0 else 0
    s.optionless = 0
    s.pawn_moved = 0
    if s.stall >= players:
        # R17.1
        _end_game(s, End.STALL, OVER_RULES)
    elif s.turns >= int(s.max_rounds) * players or int(s.decisions) - int(s.forced) >= MAX_CHOICES:
        # R17.2, R17.3
        _end_game(s, End.CAP, OVER_CAP)
    else:
        s.turn = (seat + 1) % players
        s.phase = Phase.TURN_START


# --- score (R13, R14) -------------------------------------------------------------------------------------------


@jit
def score_parts(s, seat):
    """R13.1 to R13.7: track, east-west, abilities, markers, Coellen, cities, network; final or as things stand."""
    east_west = 0 if s.east_west == IMMEDIATE else int(EAST_WEST_POINTS[s.east_west_rank[seat]])
    abilities = 0
    for ability in range(ABILITIES):
        if s.levels[seat, ability] == LAST_LEVEL[ability]:
            abilities += int(OPEN_BONUS[ability])
    collected = 0
    for marker in range(MARKERS):
        collected += int(s.markers[seat, marker]) + int(s.used[seat, marker])
    circles = 0
    for circle in range(CIRCLES):
        if s.circles[circle] == 1 + seat:
            circles += int(COELLEN_POINTS[circle])
    cities = 0
    for city in range(CITIES):
        if s.controller[city] == 1 + seat:
            cities += CITY_POINTS
    network = int(s.network[seat]) * int(TRACK[KEYS, s.levels[seat, KEYS]])
    markers = int(MARKER_POINTS[min(collected, len(MARKER_POINTS) - 1)])
    return int(s.prestige[seat]), east_west, abilities, markers, circles, cities, network


@jit
def score(s, points, places):
    """R13, R14: the totals; equal ones share a place."""
    for seat in range(int(s.num_players)):
        track, east_west, abilities, markers, circles, cities, network = score_parts(s, seat)
        points[seat] = track + east_west + abilities + markers + circles + cities + network
    for seat in range(int(s.num_players)):
        places[seat] = 1
        for other in range(int(s.num_players)):
            if points[other] > points[seat]:
                places[seat] += 1
