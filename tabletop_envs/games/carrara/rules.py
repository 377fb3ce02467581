"""The rules of The Palaces of Carrara in the order of RULES.md: setup, main actions, object, end, score."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.bits import count_bits, lowest_bit
from tabletop_envs.core.header import NOBODY, OVER_CAP, OVER_RULES, report
from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import below, draw, shuffle
from tabletop_envs.games.carrara.actions import (
    ANNOUNCE,
    BUY_STAY,
    BUY_TURN,
    CITY,
    COLOUR,
    DONE,
    IMPROVE,
    NUM_ACTIONS,
    OBJECT,
    RELIEF,
    SCORE_CITY,
    SCORE_GROUP,
    SCORE_TYPE,
    SEGMENT,
    TILE,
)
from tabletop_envs.games.carrara.state import (
    EXHAUSTED,
    NONE,
    NOT_PAYABLE,
    RELIEVED,
    Phase,
    buildings,
    cost_of,
    held_up_to,
    metric,
    objectives_met,
    open_improvements,
    payable_on,
    payable_segments,
    site_exists,
    upgradable,
)
from tabletop_envs.games.carrara.tables import (
    ALL_BUILT,
    ANNOUNCE_POINTS,
    AUTO,
    BONUS,
    BRICKS,
    BUILDING_DECK,
    CARD_COIN_RATE,
    CARD_COUNTS,
    CARD_PER,
    CITIES,
    CITY_GROUP,
    COLOURS,
    COST,
    DECK_START,
    DECKS,
    DISPLAY,
    FIRST_BRICKS,
    GROUP_SET,
    GROUPS,
    IMPROVEMENTS,
    LEVELS,
    MARKERS,
    MAX_COST,
    MONUMENT_LEVEL,
    MONUMENT_SET,
    MULTIPLIER,
    NEEDED,
    OBJECT_DECK,
    OBJECT_PRICE,
    OBJECTS,
    OBJECTS_USED,
    ONE_OF_EACH,
    PAYS_COINS,
    PILE,
    PLAIN_SET,
    PRICE,
    REFILL,
    RELIEF_COINS,
    SEGMENTS,
    START_BRICK,
    START_COINS,
    TILE_SET,
    TILES,
    TOP,
    TYPE_SET,
    TYPES,
    UP_TO_COST,
    Metric,
)

# kinds of chance (R16)
TILE_ORDER: Final = 0  # R16.2
FIRST_WHEEL: Final = 1  # R16.3
BAG: Final = 2  # R16.4
CARD: Final = 3  # R16.5

ALL_TYPES: Final = 2**TYPES - 1


# --- setup (R2) -------------------------------------------------------------------------------------------------


@jit
def setup(s):
    """R2: tiles, objects, holdings, wheel, cards, monuments; seat 0 begins."""
    _lay_tiles(s)
    for city in range(CITIES):
        s.city_scored[city] = NONE
    for kind in range(TYPES):
        s.supply[kind] = OBJECTS - 1  # R2.3
    s.for_sale = ALL_TYPES
    for colour in range(COLOURS):
        s.bag[colour] = BRICKS
    for seat in range(int(s.num_players)):
        # R2.4
        s.markers[seat] = MARKERS
        s.coins[seat] = START_COINS[int(s.num_players) - 2]
        s.bricks[seat, START_BRICK[seat]] = 1
        s.bag[START_BRICK[seat]] -= 1
    for brick in range(FIRST_BRICKS):
        # R2.5
        colour = brick
        if s.wheel_setup == ONE_OF_EACH:
            s.bag[colour] -= 1
        else:
            colour = draw(s, FIRST_WHEEL, s.bag)
        s.wheel[0, colour] += 1
        s.colours_on[0] = int(s.colours_on[0]) | (1 << colour)
    s.wheel_total = FIRST_BRICKS
    for deck in range(DECKS):
        # R2.6, R12.2
        first = int(DECK_START[deck])
        s.in_force[deck] = first
        if s.cards > 0:
            s.in_force[deck] = first + below(s, CARD, int(DECK_START[deck + 1]) - first)
    for city in range(CITIES):
        if s.monuments > 0:
            s.improvements[city] = IMPROVEMENTS[int(s.improvement_supply), city]  # R13.1, R13.6
    if s.monuments > 0:
        s.offer |= MONUMENT_SET  # R13.1
    s.announcer = NONE
    clear_choice(s)
    s.phase = Phase.MAIN
    s.seat = 0


@jit
def _lay_tiles(s):
    # R2.2: nine tiles face up, the other 21 shuffled into the pile
    rest = PLAIN_SET
    for number in range(DISPLAY):
        tile = _nth_tile(rest, below(s, TILE_ORDER, PILE + DISPLAY - number))
        rest &= ~int(TILE_SET[tile])
    s.offer = PLAIN_SET & ~rest
    s.in_pile = rest
    s.pile_size = PILE
    for place in range(PILE):
        s.pile[place] = lowest_bit(rest)
        rest &= rest - 1
    shuffle(s, TILE_ORDER, s.pile, PILE)


@jit
def _nth_tile(tiles, number):
    for _ in range(number):
        tiles &= tiles - 1
    return lowest_bit(tiles)


@jit
def clear_choice(s):
    """No decision is in progress."""
    s.segment = NONE
    s.taken = 0
    s.tile = NONE
    s.replaced = NONE
    s.site = NONE
    s.to_pay = 0
    s.last_colour = NONE


# --- what may be done -------------------------------------------------------------------------------------------


@jit
def can_turn(s):
    """R4.1: a brick is on the wheel or in the bag."""
    return s.wheel_total > 0 or s.bag_empty == 0


@jit
def buildable(s, seat):
    """R5.1, R13.2: the set of the tiles and monuments that the seat could pay in some city."""
    held = held_up_to(s, seat, COLOURS - 1)
    tiles = int(s.offer) & UP_TO_COST[min(held, MAX_COST)]
    monuments = int(s.offer) & MONUMENT_SET
    if monuments != 0 and site_exists(s, seat, MONUMENT_LEVEL):
        tiles |= monuments
    return tiles


@jit
def scorable_cities(s, seat):
    """R6.1, R6.3: the set of the cities that the seat may score."""
    cities = 0
    if s.markers[seat] > 0:
        for city in range(CITIES):
            if s.city_scored[city] == NONE and count_bits(int(s.standing[seat, city])) >= NEEDED[city]:
                cities |= 1 << city
    return cities


@jit
def scorable_types(s, seat):
    """R6.1, R6.2: the set of the types that the seat may score."""
    types = 0
    if s.markers[seat] > 0:
        tiles = buildings(s, seat)
        for kind in range(TYPES):
            if tiles & TYPE_SET[kind] != 0:
                types |= 1 << kind
    return types & ~int(s.types_scored[seat])


@jit
def scorable_groups(s, seat):
    """R6.1, R14.1: the set of the groups that the seat may score."""
    groups = 0
    if s.colour_scoring > 0 and s.markers[seat] > 0:
        tiles = buildings(s, seat)
        for group in range(GROUPS):
            if tiles & GROUP_SET[group] != 0:
                groups |= 1 << group
    return groups & ~int(s.groups_scored[seat])


@jit
def has_main_action(s, seat):
    """R3.4, R10.1: whether the seat can buy, build or score. Buying without a turn needs a brick, too."""
    if can_turn(s) or buildable(s, seat) != 0:
        return True
    return scorable_cities(s, seat) | scorable_types(s, seat) | scorable_groups(s, seat) != 0


# --- masks (R17) ------------------------------------------------------------------------------------------------


@jit
def legal(s, mask):
    """The legal actions of the seat to act, and their number."""
    mask[:] = 0
    phase, seat = int(s.phase), int(s.seat)
    if phase == Phase.MAIN:
        return _legal_main(s, seat, mask)
    if phase == Phase.TAKE:
        return _legal_take(s, seat, mask)
    if phase == Phase.PAY:
        return _legal_pay(s, seat, mask)
    if phase == Phase.SITE:
        return _legal_site(s, seat, mask)
    if phase == Phase.SEGMENT:
        # R17.4
        return _mark(mask, SEGMENT, payable_segments(s, seat))
    if phase == Phase.IMPROVE:
        # R17.7
        return _mark(mask, IMPROVE, open_improvements(s, seat))
    # R17.8, R17.9
    mask[DONE] = 1
    if phase == Phase.OBJECT:
        return 1 + _mark(mask, OBJECT, int(s.for_sale))
    mask[ANNOUNCE] = 1
    return 2


@jit
def _mark(mask, offset, members):
    # the members of a set, in a mask that is zero
    count = 0
    while members != 0:
        mask[offset + lowest_bit(members)] = 1
        members &= members - 1
        count += 1
    return count


@jit
def _legal_main(s, seat, mask):
    # R17.3
    count = 0
    if can_turn(s):
        mask[BUY_TURN] = 1
        count += 1
    if s.no_turn > 0 and payable_segments(s, seat) != 0:
        mask[BUY_STAY] = 1
        count += 1
    count += _mark(mask, TILE, buildable(s, seat))
    count += _mark(mask, SCORE_CITY, scorable_cities(s, seat))
    count += _mark(mask, SCORE_TYPE, scorable_types(s, seat))
    count += _mark(mask, SCORE_GROUP, scorable_groups(s, seat))
    if count == 0:
        mask[RELIEF] = 1
        return 1
    return count


@jit
def _legal_take(s, seat, mask):
    # R17.4: from white to black, so that a purchase has one sequence; at least one brick
    first = max(int(s.last_colour), 0)
    mask[DONE] = int(s.taken > 0)
    return int(s.taken > 0) + _mark(mask, COLOUR, payable_on(s, seat, int(s.segment)) >> first << first)


@jit
def _legal_site(s, seat, mask):
    # R17.5: a city that accepts enough bricks, and for monuments an own building
    tile = int(s.tile)
    is_monument = tile % LEVELS == MONUMENT_LEVEL
    count = 0
    accepted = 0
    for city in range(CITIES):
        accepted += int(s.bricks[seat, city])
        if accepted >= COST[tile]:
            mask[CITY + city] = 1
            count += 1
        if is_monument:
            count += _mark(mask, TILE, upgradable(s, seat, city))
    return count


@jit
def _legal_pay(s, seat, mask):
    # R17.6: from poor to fine, and what follows must still suffice
    top = int(s.site) if s.last_colour == NONE else int(s.last_colour)
    count = 0
    held = 0
    for colour in range(top + 1):
        held += int(s.bricks[seat, colour])
        if s.bricks[seat, colour] > 0 and held >= s.to_pay:
            mask[COLOUR + colour] = 1
            count += 1
    return count


# --- decisions --------------------------------------------------------------------------------------------------


@jit
def apply(s, action):
    """Execute one decision of the seat to act."""
    assert 0 <= action < NUM_ACTIONS, "the action is outside the space (R17.1)"
    assert s.seat != NOBODY, "nobody is asked"
    phase, seat = int(s.phase), int(s.seat)
    if phase == Phase.MAIN:
        _act(s, seat, action)
    elif phase == Phase.SEGMENT:
        # R4.4
        assert SEGMENT <= action < SEGMENT + SEGMENTS, "a segment is asked (R17.4)"
        assert payable_on(s, seat, action - SEGMENT) != 0, "the segment has no brick that can be paid (R4.5)"
        s.segment = action - SEGMENT
        s.phase = Phase.TAKE
    elif phase == Phase.TAKE:
        _take(s, seat, action)
    elif phase == Phase.SITE:
        _choose_site(s, seat, action)
    elif phase == Phase.PAY:
        _pay(s, seat, action)
    elif phase == Phase.IMPROVE:
        # R13.7
        assert IMPROVE <= action < IMPROVE + CITIES, "an improvement is asked (R17.7)"
        city = action - IMPROVE
        assert (open_improvements(s, seat) >> city) & 1 == 1, "the improvement may not be taken (R13.7)"
        s.improvements[city] -= 1
        s.improved[seat] = int(s.improved[seat]) | (1 << city)
        s.site = NONE
        _end_step(s, Phase.OBJECT)
    elif phase == Phase.OBJECT:
        _buy_object(s, seat, action)
    else:
        _announce(s, seat, action)


@jit
def _end_step(s, phase):
    # what comes next is seen in `advance`
    s.phase = phase
    s.seat = NOBODY


@jit
def _act(s, seat, action):
    # R3.3: the main action
    if action == BUY_TURN:
        assert can_turn(s), "there is no brick (R4.1)"
        _turn_wheel(s)
        _end_step(s, Phase.SEGMENT)
    elif action == BUY_STAY:
        assert s.no_turn > 0, "the wheel has to be turned (R11)"
        assert payable_segments(s, seat) != 0, "no brick on the wheel can be paid (R11.3)"
        s.phase = Phase.SEGMENT
    elif TILE <= action < TILE + TILES:
        assert int(s.offer) & TILE_SET[action - TILE] != 0, "the tile is not on offer (R5.1, R13.1)"
        assert site_exists(s, seat, action - TILE), "the tile cannot be paid in any city (R5.1, R13.3)"
        s.tile = action - TILE
        s.phase = Phase.SITE
    elif SCORE_CITY <= action < SCORE_CITY + CITIES:
        city = action - SCORE_CITY
        assert (scorable_cities(s, seat) >> city) & 1 == 1, "the city cannot be scored (R6.1, R6.3)"
        _score_city(s, seat, city)
    elif SCORE_TYPE <= action < SCORE_TYPE + TYPES:
        kind = action - SCORE_TYPE
        assert (scorable_types(s, seat) >> kind) & 1 == 1, "the type cannot be scored (R6.1, R6.2)"
        _score_type(s, seat, kind)
    elif SCORE_GROUP <= action < SCORE_GROUP + GROUPS:
        group = action - SCORE_GROUP
        assert (scorable_groups(s, seat) >> group) & 1 == 1, "the group cannot be scored (R6.1, R14.1)"
        _score_group(s, seat, group)
    else:
        assert action == RELIEF, "a main action is asked (R17.3)"
        assert not has_main_action(s, seat), "there is something else to do (R10.1)"
        s.coins[seat] += RELIEF_COINS
        report(s, RELIEVED, seat, RELIEF_COINS)
        _end_step(s, Phase.OBJECT)


# --- buying bricks (R4) -----------------------------------------------------------------------------------------


@jit
def _turn_wheel(s):
    # R4.2
    for colour in range(COLOURS):
        last = s.wheel[SEGMENTS - 1, colour]
        for segment in range(SEGMENTS - 1, 0, -1):
            s.wheel[segment, colour] = s.wheel[segment - 1, colour]
        s.wheel[0, colour] = last
    colours = s.colours_on[SEGMENTS - 1]
    for segment in range(SEGMENTS - 1, 0, -1):
        s.colours_on[segment] = s.colours_on[segment - 1]
    s.colours_on[0] = colours


@jit
def _take(s, seat, action):
    # R4.5, R4.6
    if action == DONE:
        assert s.taken > 0, "at least one brick is taken (R4.5)"
        s.segment = NONE
        s.taken = 0
        s.last_colour = NONE
        _end_step(s, Phase.OBJECT)
        return
    assert COLOUR <= action < COLOUR + COLOURS, "a brick is asked (R17.4)"
    colour, segment = action - COLOUR, int(s.segment)
    assert colour >= s.last_colour, "bricks are taken from white to black (R17.4)"
    assert (payable_on(s, seat, segment) >> colour) & 1 == 1, "there is no such brick, or it cannot be paid (R4.5)"
    s.coins[seat] -= PRICE[segment, colour]
    s.wheel[segment, colour] -= 1
    s.wheel_total -= 1
    if s.wheel[segment, colour] == 0:
        s.colours_on[segment] = int(s.colours_on[segment]) & ~(1 << colour)
    s.bricks[seat, colour] += 1
    s.taken += 1
    s.last_colour = colour


# --- building (R5, R13) -----------------------------------------------------------------------------------------


@jit
def _choose_site(s, seat, action):
    # R5.2, R13.3, R13.4
    cost, replaced, city = int(COST[int(s.tile)]), NONE, NONE
    if CITY <= action < CITY + CITIES:
        city = action - CITY
        assert held_up_to(s, seat, city) >= cost, "the city does not accept enough bricks (R5.3, R5.4)"
    else:
        assert TILE <= action < TILE + TILES, "a city or an own building is asked (R17.5)"
        assert int(s.tile) % LEVELS == MONUMENT_LEVEL, "only a monument replaces a building (R13.4)"
        replaced = action - TILE
        for candidate in range(CITIES):
            if upgradable(s, seat, candidate) & TILE_SET[replaced] != 0:
                city = candidate
        assert city != NONE, "the building cannot be replaced (R13.4, R13.5)"
        cost -= int(COST[replaced])
    s.site = city
    s.replaced = replaced
    s.to_pay = cost
    s.phase = Phase.PAY
    for colour in range(COLOURS):
        s.paid[colour] = 0
    if s.payment == AUTO:
        # R5.3: the poorest accepted bricks first
        for colour in range(city, -1, -1):
            while s.to_pay > 0 and s.bricks[seat, colour] > 0:
                _pay_brick(s, seat, colour)
        _put_up(s, seat)


@jit
def _pay(s, seat, action):
    # R5.3, R17.6
    assert COLOUR <= action < COLOUR + COLOURS, "a brick is asked (R17.6)"
    colour = action - COLOUR
    assert colour <= s.site, "the city does not accept the colour (R5.4)"
    assert s.last_colour == NONE or colour <= s.last_colour, "bricks are paid from poor to fine (R17.6)"
    assert s.bricks[seat, colour] > 0, "the seat has no such brick (R5.3)"
    assert held_up_to(s, seat, colour) >= s.to_pay, "the finer bricks would not suffice (R17.6)"
    _pay_brick(s, seat, colour)
    if s.to_pay == 0:
        _put_up(s, seat)


@jit
def _pay_brick(s, seat, colour):
    # R5.5
    s.bricks[seat, colour] -= 1
    s.bag[colour] += 1
    s.bag_empty = 0
    s.paid[colour] += 1
    s.to_pay -= 1
    s.last_colour = colour


@jit
def _put_up(s, seat):
    # R5.6, R13.4, R13.5
    tile, city = int(s.tile), int(s.site)
    s.offer &= ~TILE_SET[tile]
    s.standing[seat, city] |= TILE_SET[tile]
    if s.replaced != NONE:
        s.standing[seat, city] &= ~TILE_SET[int(s.replaced)]
        s.gone |= TILE_SET[int(s.replaced)]
    clear_choice(s)
    if tile % LEVELS == MONUMENT_LEVEL:
        s.site = city
        _end_step(s, Phase.IMPROVE)
    else:
        _refill_display(s)
        _end_step(s, Phase.OBJECT)


@jit
def _refill_display(s):
    # R5.7, R8.2
    if s.pile_size > 0:
        top = int(s.pile_size) - 1
        tile = int(s.pile[top])
        s.pile[top] = NONE
        s.pile_size = top
        s.in_pile &= ~TILE_SET[tile]
        s.offer |= TILE_SET[tile]
    elif s.triggered == 0 and (s.exhaustion != ALL_BUILT or int(s.offer) & PLAIN_SET == 0):
        s.triggered = 1
        report(s, EXHAUSTED, NOBODY, 0)


# --- scoring (R6, R14) ------------------------------------------------------------------------------------------


@jit
def _reward(s, seat, city, tiles):
    # R6.4, R13.8
    reward = cost_of(tiles) * (int(MULTIPLIER[city]) + ((int(s.improved[seat]) >> city) & 1))
    if PAYS_COINS[city] > 0:
        s.coins[seat] += reward
    else:
        s.vp[seat] += reward


@jit
def _give_objects(s, seat, tiles):
    # R6.5, R6.6
    for kind in range(TYPES):
        given = min(count_bits(tiles & TYPE_SET[kind]), int(s.supply[kind]))
        s.supply[kind] -= given
        s.objects[seat, kind] += given


@jit
def _score_city(s, seat, city):
    # R6.3
    s.city_scored[city] = seat
    tiles = int(s.standing[seat, city])
    _reward(s, seat, city, tiles)
    _give_objects(s, seat, tiles)
    s.markers[seat] -= 1
    _end_step(s, Phase.OBJECT)


@jit
def _score_type(s, seat, kind):
    # R6.2
    s.types_scored[seat] = int(s.types_scored[seat]) | (1 << kind)
    for city in range(CITIES):
        tiles = int(s.standing[seat, city]) & TYPE_SET[kind]
        if tiles != 0:
            _reward(s, seat, city, tiles)
            _give_objects(s, seat, tiles)
    s.markers[seat] -= 1
    _end_step(s, Phase.OBJECT)


@jit
def _score_group(s, seat, group):
    # R14.2, R14.3: plain costs, no objects
    s.groups_scored[seat] = int(s.groups_scored[seat]) | (1 << group)
    reward = cost_of(buildings(s, seat) & GROUP_SET[group])
    if group == CITY_GROUP:
        s.coins[seat] += reward
    else:
        s.vp[seat] += reward
    s.markers[seat] -= 1
    _end_step(s, Phase.OBJECT)


# --- end of the turn (R7, R8) -----------------------------------------------------------------------------------


@jit
def _buy_object(s, seat, action):
    # R7.1 to R7.4
    if action != DONE:
        assert OBJECT <= action < OBJECT + TYPES, "an object is asked (R17.8)"
        kind = action - OBJECT
        assert (int(s.for_sale) >> kind) & 1 == 1, "the object is not for sale (R7.2)"
        s.for_sale = int(s.for_sale) & ~(1 << kind)
        s.coins[seat] -= OBJECT_PRICE
        s.objects[seat, kind] += 1
    _end_step(s, Phase.ANNOUNCE)


@jit
def _announce(s, seat, action):
    # R8.3, R8.5
    if action != DONE:
        assert action == ANNOUNCE, "an announcement is asked (R17.9)"
        s.triggered = 1
        s.announcer = seat
        s.vp[seat] += ANNOUNCE_POINTS
    _end_step(s, Phase.MAIN)


@jit
def advance(s):
    """The wheel is refilled, or the turn goes on to the next phase that can be entered (R17.3)."""
    seat = int(s.turn)
    if s.phase == Phase.SEGMENT:
        _refill_wheel(s, seat)
        return
    if s.phase == Phase.IMPROVE:
        # R13.7: mandatory, unless there is none to take
        if open_improvements(s, seat) != 0:
            s.seat = seat
            return
        s.site = NONE
        s.phase = Phase.OBJECT
    if s.phase == Phase.OBJECT:
        # R7.1, R7.2
        if s.coins[seat] >= OBJECT_PRICE and s.for_sale != 0:
            s.seat = seat
            return
        s.phase = Phase.ANNOUNCE
    if s.phase == Phase.ANNOUNCE:
        # R8.3, R8.7
        if s.triggered == 0 and objectives_met(s, seat):
            s.seat = seat
            return
        s.phase = Phase.MAIN
    _next_turn(s, seat)


@jit
def _refill_wheel(s, seat):
    # R4.3
    bricks = 0
    for colour in range(COLOURS):
        bricks += int(s.bag[colour])
    drawn = min(max(REFILL - int(s.wheel_total), 0), bricks)
    for _ in range(drawn):
        colour = draw(s, BAG, s.bag)
        s.wheel[0, colour] += 1
        s.colours_on[0] = int(s.colours_on[0]) | (1 << colour)
    s.wheel_total += drawn
    s.bag_empty = int(drawn == bricks)
    if payable_segments(s, seat) != 0:
        s.seat = seat
        return
    # R4.7, R10.2: no object can be paid
    s.coins[seat] += RELIEF_COINS
    report(s, NOT_PAYABLE, seat, RELIEF_COINS)
    s.phase = Phase.ANNOUNCE


@jit
def _next_turn(s, seat):
    # R3.1
    if seat + 1 < s.num_players:
        s.turn = seat + 1
        s.seat = seat + 1
        return
    s.turn = 0
    s.rounds += 1
    if s.triggered > 0:
        # R8.6: every seat has had the same number of turns
        s.phase = Phase.OVER
        s.over = OVER_RULES
    elif s.rounds >= s.max_rounds:
        # R8.8
        s.phase = Phase.OVER
        s.over = OVER_CAP
    else:
        s.seat = 0


# --- final scoring (R9, R12.4) ----------------------------------------------------------------------------------


@jit
def final_parts(s, seat):
    """R9.1, R12.4: track, objects, leftover objects, buildings, bonus, coins of a seat, all in points."""
    counted = int(CARD_COUNTS[int(s.in_force[OBJECT_DECK])])
    units = metric(s, seat, counted)
    leftover = metric(s, seat, Metric.OBJECTS) - units * int(OBJECTS_USED[counted])
    return (
        int(s.vp[seat]),
        units * int(CARD_PER[int(s.in_force[OBJECT_DECK])]),
        leftover,
        _card_points(s, seat, int(s.in_force[BUILDING_DECK])),
        _card_points(s, seat, int(s.in_force[BONUS])),
        int(s.coins[seat]) // int(CARD_COIN_RATE[int(s.in_force[TOP])]),
    )


@jit
def _card_points(s, seat, card):
    return metric(s, seat, int(CARD_COUNTS[card])) * int(CARD_PER[card])


@jit
def score(s, points, places):
    """R9.2, R9.3: totals, and places by totals, then by bricks left."""
    players = int(s.num_players)
    for seat in range(players):
        track, objects, leftover, building, bonus, coins = final_parts(s, seat)
        points[seat] = track + objects + leftover + building + bonus + coins
    for seat in range(players):
        places[seat] = 1
        for other in range(players):
            lead = int(points[other]) - int(points[seat])
            bricks = held_up_to(s, other, COLOURS - 1) - held_up_to(s, seat, COLOURS - 1)
            if lead > 0 or (lead == 0 and bricks > 0):
                places[seat] += 1
