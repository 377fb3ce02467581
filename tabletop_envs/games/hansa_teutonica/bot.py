"""Hansa Teutonica's greedy baseline: the route that pays most an action, and the next step towards it.

What a route would pay now is worked out from the board (control points, marker, best reward), in `POINT`ths of a
point, and divided by the actions that it still takes. The order of the face-down markers is never looked at.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tabletop_envs.core.bits import lowest_bit
from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import TIES, word
from tabletop_envs.games.hansa_teutonica.actions import (
    ABILITY,
    COELLEN,
    DONE,
    EXTRA,
    INCOME,
    MAX_ACTIONS,
    MAX_INCOME_MERCHANTS,
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
from tabletop_envs.games.hansa_teutonica.rules import (
    ability_of,
    extra_allowed,
    in_stock,
    in_supply,
    office_fits,
    privilege,
    score_parts,
    usable_routes,
)
from tabletop_envs.games.hansa_teutonica.state import Phase, group_of, kind_of, owner_of, side
from tabletop_envs.games.hansa_teutonica.tables import (
    ABILITIES,
    BIT,
    COELLEN_POINTS,
    COELLEN_ROUTE,
    EAST,
    EAST_WEST_POINTS,
    END_CITIES,
    END_PRESTIGE,
    KEYS,
    KINDS,
    LAST_LEVEL,
    MERCHANT,
    OFFICE_COIN,
    OPEN_BONUS,
    PILE_SIZE,
    PROVINCE_ROUTES,
    PROVINCES,
    ROUTE_CITIES,
    ROUTE_FIRST,
    ROUTE_LENGTH,
    ROUTES,
    SIDE_ROUTES,
    SPACE_ROUTE,
    SPACES,
    SWAP_PAIRS,
    TRACK,
    TRADER,
    WEST,
)

POINT: Final = 16
LONG: Final = 16  # `time_left` at the start of the game

# [ability, level] -> worth in points of opening the next space at the start; it shrinks with the time left
OPENING: Final = np.array([(4, 2, 5, 5, 0), (16, 8, 12, 6, 8), (6, 5, 4, 0, 0), (3, 2, 2, 0, 0), (4, 2, 2, 0, 0)])
MARKER_SCORE: Final = 2  # points that a marker scores at the end, about
# [marker] -> worth in points of using it, at the start
MARKER_WORTH: Final = np.array([2, 1, 3, 4, 5, 1])
ENDING: Final = 20  # worth in points of ending the game as the leader
CONTROL: Final = 2  # points that a controlled city will still pay, besides the two at the end, in a whole game
GROWTH: Final = 8  # POINTths for an office that does not enlarge the largest network

INCOMES: Final = MAX_INCOME_MERCHANTS + 1

ENOUGH: Final = 9  # resources in play that leave nothing to be desired
SCARCE: Final = 8  # POINTths for each that is missing


@jit
def time_left(s):
    """How much of the game is left, from LONG down to 0, by the end that is nearest (R12.1)."""
    most = 0
    for seat in range(int(s.num_players)):
        most = max(most, int(s.prestige[seat]))
    left = LONG * (END_PRESTIGE - min(most, END_PRESTIGE)) // END_PRESTIGE
    left = min(left, LONG * (END_CITIES - min(int(s.completed), END_CITIES)) // END_CITIES)
    return min(left, LONG * (1 + int(s.pile_size)) // (1 + int(PILE_SIZE[s.edition])))


# --- what a reward is worth -------------------------------------------------------------------------------------


@jit
def _scarcity(s, seat):
    """POINTths that a resource is worth beyond its use in the next route: the fewer there are, the more."""
    number = in_supply(s, seat) + in_stock(s, seat)
    for space in range(SPACES):
        number += int(s.spaces[space] > 0 and owner_of(int(s.spaces[space])) == seat)
    return SCARCE * max(0, ENOUGH - number)


@jit
def _office_worth(s, seat, city, extra):
    """The worth of one office more in a city, coin left out; an extra one stands left of all others (R9.2)."""
    own, most = int(s.tally[seat, city]) + 1, 0
    for other in range(int(s.num_players)):
        if other != seat:
            most = max(most, int(s.tally[other, city]))
    held = s.controller[city] == 1 + seat
    worth = GROWTH - _scarcity(s, seat)
    if not held and (own > most or (own == most and not extra)):
        worth += 2 * POINT + CONTROL * POINT * time_left(s) // LONG
        if s.controller[city] > 0:
            worth += POINT
    keys = int(TRACK[KEYS, s.levels[seat, KEYS]])
    group = group_of(s, seat, city)
    if s.east_west_rank[seat] == 0 and group & BIT[WEST] != 0 and group & BIT[EAST] != 0:
        rank = 1
        for other in range(int(s.num_players)):
            rank += int(s.east_west_rank[other] > 0)
        if rank < len(EAST_WEST_POINTS):
            worth += POINT * int(EAST_WEST_POINTS[rank])
    size = 1
    while group != 0:
        size += int(s.tally[seat, lowest_bit(group)])
        group &= group - 1
    return worth + POINT * keys * max(0, size - int(s.network[seat]))


@jit
def _opening_worth(s, seat, ability):
    """The worth of the next space of a track (R1.3)."""
    level = int(s.levels[seat, ability])
    worth = POINT * int(OPENING[ability, level]) * time_left(s) // LONG + _scarcity(s, seat)
    if ability == KEYS:
        worth += POINT * int(s.network[seat]) * int(TRACK[KEYS, level + 1] - TRACK[KEYS, level])
    if level + 1 == LAST_LEVEL[ability]:
        worth += POINT * int(OPEN_BONUS[ability])
    return worth


@jit
def _reward_worth(s, seat, route, reward):
    """The worth of a reward of the route (R8.4), whether or not it is allowed now."""
    if reward == 0:
        return 0
    if reward == ABILITY:
        return _opening_worth(s, seat, ability_of(s, seat, route))
    if reward >= COELLEN:
        return POINT * int(COELLEN_POINTS[reward - COELLEN])
    number = reward - (EXTRA if reward >= EXTRA else OFFICE)
    city = int(ROUTE_CITIES[route, number // 2])
    worth = _office_worth(s, seat, city, reward >= EXTRA) - number % 2 * GROWTH  # a merchant is worth keeping
    if reward < EXTRA:
        return worth + POINT * int(OFFICE_COIN[side(s), city, int(s.filled[city])])
    return worth - 2 * POINT  # the marker is gone


@jit
def _allowed(s, seat, route, reward):
    # whether the reward could be had with such a resource on the route
    if reward == ABILITY:
        return ability_of(s, seat, route) >= 0
    if reward >= COELLEN:
        circle = reward - COELLEN
        return route == COELLEN_ROUTE and s.circles[circle] == 0 and circle <= privilege(s, seat)
    if reward == 0:
        return True
    number = reward - (EXTRA if reward >= EXTRA else OFFICE)
    city = int(ROUTE_CITIES[route, number // 2])
    return extra_allowed(s, seat, city) if reward >= EXTRA else office_fits(s, seat, city, number % 2)


@jit
def _needs_merchant(reward):
    return reward >= COELLEN or (reward not in (0, ABILITY) and (reward - OFFICE) % 2 == 1)


@jit
def best_reward(s, seat, route, merchant):
    """The best reward that the route could give the seat, and its worth; with or without a merchant on it."""
    best, choice = 0, 0
    for reward in range(REWARDS):
        if (merchant or not _needs_merchant(reward)) and _allowed(s, seat, route, reward):
            worth = _reward_worth(s, seat, route, reward)
            if worth > best:
                best, choice = worth, reward
    return best, choice


# --- what a route is worth --------------------------------------------------------------------------------------


@jit
def _on_route(s, seat, route):
    """Of a route: free spaces, own resources, own merchants among them, what displacing the others takes."""
    free, own, merchants, cost = 0, 0, 0, 0
    for number in range(int(ROUTE_LENGTH[route])):
        piece = int(s.spaces[int(ROUTE_FIRST[route]) + number])
        if piece == 0:
            free += 1
        elif owner_of(piece) == seat:
            own += 1
            merchants += kind_of(piece)
        else:
            cost += 2 + kind_of(piece)
    return free, own, merchants, cost


@jit
def _leads(s, seat):
    """Whether the seat would win if the game ended now."""
    track, east_west, abilities, markers, circles, cities, network = score_parts(s, seat)
    own = track + east_west + abilities + markers + circles + cities + network
    for other in range(int(s.num_players)):
        track, east_west, abilities, markers, circles, cities, network = score_parts(s, other)
        if other != seat and track + east_west + abilities + markers + circles + cities + network >= own:
            return False
    return True


@jit
def route_worth(s, seat, route):
    """What establishing the route now would be worth, and whether a merchant is wanted on it."""
    free, _, merchants, cost = _on_route(s, seat, route)
    can_have = merchants > 0 or (s.supply[seat, MERCHANT] > 0 and free + cost > 0)
    worth, reward = best_reward(s, seat, route, can_have)
    for end in range(2):
        controller = int(s.controller[int(ROUTE_CITIES[route, end])]) - 1
        if controller == seat:
            worth += POINT
        elif controller >= 0:
            worth -= POINT // 2
    if s.route_marker[route] > 0:
        marker = int(s.route_marker[route]) - 1
        worth += POINT * (int(MARKER_SCORE) + int(MARKER_WORTH[marker]) * time_left(s) // LONG)
        if s.pile_size == 0:
            worth += POINT * ENDING if _leads(s, seat) else -POINT * ENDING
    return worth, merchants == 0 and _needs_merchant(reward)


@jit
def _movable_elsewhere(s, seat, route):
    """Own resources on other routes that are not full."""
    number = 0
    for space in range(SPACES):
        piece = int(s.spaces[space])
        here = int(SPACE_ROUTE[space])
        if piece > 0 and owner_of(piece) == seat and here != route and s.full[seat] & BIT[here] == 0:
            number += 1
    return number


@jit
def route_rate(s, seat, route, added):
    """The worth of the route by the actions that it still takes, with so many resources more on it.

    0 at most if the resources that it takes are not at hand.
    """
    free, own, _, cost = _on_route(s, seat, route)
    worth, _ = route_worth(s, seat, route)
    foreign = int(ROUTE_LENGTH[route]) - free - own
    free = max(0, free - added)
    at_hand = in_supply(s, seat) + in_stock(s, seat) - cost
    if at_hand < free and (at_hand < 0 or at_hand + _movable_elsewhere(s, seat, route) < free):
        return min(0, worth)
    actions = 1 + free + foreign
    if free + cost > in_supply(s, seat):
        actions += 1  # an income on the way
    # what lies there already is not lost, so that a route begun is gone on with
    return POINT * worth // actions + own + added


@jit
def _target(s, seat, routes):
    """The route of the set that pays most an action, and its rate; -1 for none."""
    best, choice = 0, -1
    rest = routes
    while rest != 0:
        route = lowest_bit(rest)
        rest &= rest - 1
        rate = route_rate(s, seat, route, 0)
        if choice < 0 or rate > best:
            best, choice = rate, route
    return choice, best


# --- the choice -------------------------------------------------------------------------------------------------


@jit
def _first(mask, start, number):
    """The first legal action of a block, -1 for none."""
    for action in range(start, start + number):
        if mask[action] > 0:
            return action
    return -1


@jit
def _tied(s, salt, action, ties):
    # the last of so many equals is taken with a chance of 1 in so many
    return (word(salt, TIES, int(s.decisions) * MAX_ACTIONS + action) * ties) >> 32 == 0


@jit
def _choose_route(s, seat, mask, salt, offset):
    """Of the routes in a block the one on which one resource more is worth most."""
    best, choice, ties = 0, -1, 0
    for route in range(ROUTES):
        if mask[offset + route] == 0:
            continue
        rate = route_rate(s, seat, route, 1)
        ties = ties + 1 if choice >= 0 and rate == best else 1
        if choice < 0 or rate > best or (rate == best and _tied(s, salt, offset + route, ties)):
            best, choice = rate, offset + route
    return choice


@jit
def _choose_main(s, mask, salt):
    seat = int(s.seat)
    marker = _choose_marker(s, seat, mask)
    if marker >= 0:
        return marker
    if s.actions_left == 0:
        return DONE
    usable = usable_routes(s) & SIDE_ROUTES[side(s)]
    target, rate = _target(s, seat, usable)
    route, paid = _target(s, seat, s.full[seat] & usable)
    # what is full pays now; if it does not pay, it still gives back what is missing elsewhere
    if route >= 0 and (paid * 2 > rate or in_supply(s, seat) + in_stock(s, seat) == 0):
        return ROUTE + route
    if rate > 0:
        action = _towards(s, seat, target, mask)
        if action >= 0:
            return action
    return _otherwise(s, seat, mask, salt)


@jit
def _towards(s, seat, route, mask):
    """The next action towards a route; -1 if there is none."""
    free, _, _, cost = _on_route(s, seat, route)
    if mask[ROUTE + route] > 0:
        return ROUTE + route
    _, merchant = route_worth(s, seat, route)
    empty = in_supply(s, seat) + in_stock(s, seat) == 0
    if free >= 2 or (free == 1 and empty):
        move = _spare_piece(s, seat, route, mask, 1 if empty else 2)
        if move >= 0:
            return move
    if in_supply(s, seat) < min(free + cost, 3) and _first(mask, INCOME, INCOMES) >= 0:
        return _income(mask)
    if free > 0:
        kind = MERCHANT if merchant and s.supply[seat, MERCHANT] > 0 else TRADER
        for choice in (kind, 1 - kind):
            if mask[PLACE + ROUTES * choice + route] > 0:
                return PLACE + ROUTES * choice + route
    for number in range(int(ROUTE_LENGTH[route])):
        space = int(ROUTE_FIRST[route]) + number
        piece = int(s.spaces[space])
        if mask[SPACE + space] > 0 and piece > 0 and owner_of(piece) != seat:
            return SPACE + space
    return _income(mask) if _first(mask, INCOME, INCOMES) >= 0 else -1


@jit
def _spare_piece(s, seat, route, mask, enough):
    """A resource with which a Move towards the route may go on, from where it is worth least; -1 for none.

    Resources on the route itself and on routes that are full stay there. There must be enough to move.
    """
    worst, choice, number = 0, -1, 0
    for space in range(SPACES):
        piece = int(s.spaces[space])
        here = int(SPACE_ROUTE[space])
        if piece == 0 or owner_of(piece) != seat or here == route or s.full[seat] & BIT[here] != 0:
            continue
        number += 1
        if mask[SPACE + space] > 0:
            rate = route_rate(s, seat, here, 0)
            if choice < 0 or rate < worst:
                worst, choice = rate, SPACE + space
    return choice if number >= enough else -1


@jit
def _income(mask):
    # the most merchants
    for merchants in range(4, -1, -1):
        if mask[INCOME + merchants] > 0:
            return INCOME + merchants
    return DONE


@jit
def _otherwise(s, seat, mask, salt):
    if _first(mask, INCOME, INCOMES) >= 0:
        return _income(mask)
    if _first(mask, PLACE, ROUTES) >= 0:
        return _choose_route(s, seat, mask, salt, PLACE)
    return DONE if mask[DONE] > 0 else _first(mask, 0, len(mask))


@jit
def _choose_marker(s, seat, mask):
    """A marker worth using now; -1 for none."""
    best, choice = -1, -1
    for ability in range(ABILITIES):
        if mask[USE_UPGRADE + ability] > 0:
            worth = _opening_worth(s, seat, ability)
            if worth > best:
                best, choice = worth, USE_UPGRADE + ability
    if choice >= 0:
        return choice
    for pair in range(len(SWAP_PAIRS)):
        if mask[USE_SWAP + pair] > 0 and _swap_gains(s, seat, pair):
            return USE_SWAP + pair
    if mask[USE_REMOVE3] > 0:
        for other in range(int(s.num_players)):
            if other != seat and s.full[other] != 0:
                return USE_REMOVE3
    if s.actions_left == 0 and in_supply(s, seat) + in_stock(s, seat) > 2:
        for action in (USE_PLUS4, USE_PLUS3):
            if mask[action] > 0:
                return action
    return -1


@jit
def _swap_gains(s, seat, pair):
    # the right one of two equals controls the city: bring the own office there
    city, left = int(SWAP_PAIRS[pair, 0]), int(SWAP_PAIRS[pair, 1])
    if s.controller[city] == 1 + seat or owner_of(int(s.offices[city, left])) != seat:
        return False
    for other in range(int(s.num_players)):
        if s.tally[other, city] > s.tally[seat, city]:
            return False
    return int(s.controller[city]) - 1 == owner_of(int(s.offices[city, left + 1]))


@jit
def _choose_pay(s, mask):
    # the kind that the route wants, and a fee of traders
    _, merchant = route_worth(s, int(s.seat), int(s.route))
    for number in range(2 * PAY_KINDS):
        choice = (number + PAY_KINDS) % (2 * PAY_KINDS) if merchant else number
        if mask[PAY + choice] > 0:
            return PAY + choice
    return PAY


@jit
def _choose_extra(s, mask, salt):
    # where one resource more is worth most; own ones that lie well are left there
    for kind in range(KINDS):
        if _first(mask, PLACE + ROUTES * kind, ROUTES) >= 0:
            return _choose_route(s, int(s.seat), mask, salt, PLACE + ROUTES * kind)
    return DONE


@jit
def _choose_next_move(s, mask):
    # on while the best route has free spaces and resources lie elsewhere
    seat = int(s.seat)
    target, rate = _target(s, seat, usable_routes(s))
    if rate <= 0 or s.free & BIT[target] == 0:
        return DONE
    move = _spare_piece(s, seat, target, mask, 1)
    return move if move >= 0 else DONE


@jit
def _choose_reward(s, mask):
    best, choice = -1, REWARD
    for reward in range(REWARDS):
        if mask[REWARD + reward] > 0:
            worth = _reward_worth(s, int(s.seat), int(s.route), reward)
            if worth > best:
                best, choice = worth, REWARD + reward
    return choice


@jit
def _choose_removal(s, mask):
    """The resource of another whose route pays its owner most, full ones first; none of one's own."""
    seat = int(s.seat)
    best, choice = -1, -1
    for space in range(SPACES):
        piece = int(s.spaces[space])
        if mask[SPACE + space] == 0 or owner_of(piece) == seat:
            continue
        route = int(SPACE_ROUTE[space])
        rate = route_rate(s, owner_of(piece), route, 0)
        if s.full[owner_of(piece)] & BIT[route] != 0:
            rate += 100 * POINT
        if rate > best:
            best, choice = rate, SPACE + space
    if choice < 0 or (mask[DONE] > 0 and best <= 0):
        choice = DONE
    return choice if mask[choice] > 0 else _first(mask, SPACE, SPACES)


@jit
def _choose_exile(s, mask, salt):
    """The route that pays the owner of the moved resource least."""
    owner = owner_of(int(s.held))
    best, choice = 0, -1
    for route in range(ROUTES):
        if mask[ROUTE + route] > 0:
            rate = route_rate(s, owner, route, 1)
            if choice < 0 or rate < best:
                best, choice = rate, ROUTE + route
    return choice


@jit
def _choose_pawn(s, mask):
    """The province with the route that pays most; it stays if that is as good."""
    seat = int(s.seat)
    best, choice = -1, -1
    if mask[DONE] > 0:
        _, best = _target(s, seat, PROVINCE_ROUTES[s.pawn])
        choice = DONE
    for province in range(PROVINCES):
        if mask[PAWN + province] > 0:
            _, rate = _target(s, seat, PROVINCE_ROUTES[province])
            if rate > best:
                best, choice = rate, PAWN + province
    return choice


@jit
def greedy(s, mask, salt):
    """The baseline's choice among the actions of the mask; the salt breaks ties."""
    phase = int(s.phase)
    if phase == Phase.MAIN:
        return _choose_main(s, mask, salt)
    if phase == Phase.PAY:
        return _choose_pay(s, mask)
    if phase == Phase.DISP_EXTRA:
        return _choose_extra(s, mask, salt)
    if phase == Phase.MOVE_NEXT:
        return _choose_next_move(s, mask)
    if phase == Phase.REWARD:
        return _choose_reward(s, mask)
    if phase == Phase.REMOVE3 or phase == Phase.MOVE3_PICK:
        return _choose_removal(s, mask)
    if phase == Phase.MOVE3_DEST:
        return _choose_exile(s, mask, salt)
    if phase >= Phase.PAWN_START:
        return _choose_pawn(s, mask)
    return _choose_route(s, int(s.seat), mask, salt, ROUTE)
