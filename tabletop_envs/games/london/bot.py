"""London's greedy baseline: every option of the node at hand gets a worth, and the best one is taken.

Worths are twelfths of a VP: a pound is worth a third of one, a poverty point a little more than one. It looks at its
own hand and at what lies open, never at what its seat may not know.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tabletop_envs.core.bits import count_bits
from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import weigh
from tabletop_envs.games.london.actions import (
    BOROUGH,
    DECK,
    DONE,
    EXCHANGE,
    FACE_DOWN_STACK,
    FLIP_HOSPITAL,
    LOAN_TAKEN,
    NEW_STACK,
    NUM_ACTIONS,
    OPPONENT,
    PEEK,
    RUN_CITY,
    SLOT,
    TAKE_THREE,
)
from tabletop_envs.games.london.rules import (
    END_ONLY,
    activatable,
    count_cards,
    final_poverty,
    lowest_poverty,
    payers,
    penalty,
    stone_shown,
    worth,
)
from tabletop_envs.games.london.state import EMPTY, Phase
from tabletop_envs.games.london.tables import (
    ANY_CARD,
    BLUE_CARD,
    BOROUGH_POINTS,
    BRIXTON_PRISON,
    CARDS,
    COFFEE,
    COST,
    DRAWN,
    FIRE_BRIGADE,
    FLEET,
    FLIPS,
    GAIN_COUNTERS,
    GAIN_MONEY,
    GAIN_POVERTY,
    HAND_LIMIT,
    LLOYDS_OF_LONDON,
    MILLBANK_PRISON,
    MONEY_PER_BROWN,
    NORTH,
    OMNIBUS,
    ON_THAMES,
    PAUPERS,
    PAYMENT,
    PAYMENT_MONEY,
    POINTS,
    POLICE_FORCE,
    PRICE,
    PRISON_CARDS,
    PUBLIC_HOUSES,
    RUN,
    SPACES,
    STEAMBOATS,
    STONE_TYPES,
    TOWN_HOUSES,
    TRAIN_STATION,
    TYPE_BIT,
    TYPES,
    UNDERGROUND,
    WHITEHALL,
    WORKHOUSE,
)

TIES: Final = 1  # the stream of words that breaks ties

POINT: Final = 12
POUND: Final = 4
POOR: Final = 15  # a poverty point
LOAN_COST: Final = 36  # of a loan that has to be taken
HAND_CARD: Final = 9  # any card in hand, to be spent for something
UNKNOWN_CARD: Final = 20  # the top card of the deck, or three of them by action 4
A_STACK: Final = 14  # that a new stack costs in every run to come
A_TURN: Final = 25  # what an action should bring
NEVER: Final = -10_000

# [standing text] -> what a visible card is worth besides
_STANDING: Final = {
    "free_placement": 24,
    "school": 12,
    "shops_income": 20,
    "stock_exchange": 30,
    "parliament": 24,
    "university": 30,
    "bank_of_england": 12,
    "hospital": 30,
    "take_two": 26,
    "wren": 26,
}
STANDS_FOR: Final = np.array([_STANDING.get(card.standing, 0) for card in CARDS], np.int64)
STANDS_FOR.flags.writeable = False


# --- worths -----------------------------------------------------------------------------------------------------


@jit
def runs_left(s):
    """How often the seat may still run its city, by the cards left in the deck; 0 in its last turn."""
    return 0 if s.ending > 0 else min(3, 1 + int(s.deck_size) // (9 * int(s.num_players)))


@jit
def gain(s, seat, kind):
    """What activating a card of the type brings the seat as things stand."""
    poverty = int(s.poverty[seat])
    value = POUND * int(GAIN_MONEY[kind]) + POINT * int(GAIN_COUNTERS[kind])
    value -= POOR * max(int(GAIN_POVERTY[kind]), -poverty)
    value -= POUND * int(PAYMENT_MONEY[kind])
    if PAYMENT[kind] in (ANY_CARD, BLUE_CARD):
        value -= HAND_CARD - POOR  # a card less in hand is a poverty point less
    if RUN[kind] > 0:
        value += _text_gain(s, seat, int(RUN[kind]), poverty)
    return value


@jit
def _text_gain(s, seat, text, poverty):
    owned, hand = int(s.owned[seat]), int(s.hand_size[seat])
    if text == MONEY_PER_BROWN:
        return POUND * count_cards(s, seat, True)
    if text == TOWN_HOUSES:
        return POINT * count_cards(s, seat, False)
    if text == OMNIBUS:
        return POUND * count_bits(owned)
    if text == STEAMBOATS:
        return 2 * POUND * count_bits(owned & ON_THAMES)
    if text == TRAIN_STATION:
        return 2 * POUND * count_bits(owned & NORTH)
    if text in (BRIXTON_PRISON, MILLBANK_PRISON):
        cards = min(PRISON_CARDS, hand)
        saved = POOR * (cards + min(cards, poverty)) - HAND_CARD * cards
        return saved + (POINT * cards if text == MILLBANK_PRISON else 0)
    if text == WORKHOUSE:
        return (2 * POOR + POUND) * int(s.hands[seat, PAUPERS])
    if text == LLOYDS_OF_LONDON:
        return 3 * POUND * (int(s.num_players) - 1)
    if text == FIRE_BRIGADE:
        return POUND * count_bits(int(s.occupied) & ~owned)
    if text == PUBLIC_HOUSES:
        return POOR * hand if s.public_houses != END_ONLY else 1
    if text in (FLEET, POLICE_FORCE):
        return POOR
    if text == UNDERGROUND:
        return 2 * POINT * min(2, count_bits(owned & ~int(s.underground)))
    if text == COFFEE:
        return 2 * POINT if stone_shown(s) else 0
    return POINT if text == WHITEHALL else POUND


@jit
def placing(s, seat, kind):
    """What placing a card of the type brings: its VP, its text, and what activations are to come."""
    runs = runs_left(s)
    value = POINT * int(POINTS[kind]) - POUND * int(COST[kind])
    if int(COST[kind]) > s.money[seat]:
        value -= LOAN_COST
    if runs > 0:
        value += int(STANDS_FOR[kind]) * runs // 3
        each = max(0, gain(s, seat, kind))
        value += each if FLIPS[kind] > 0 else each * runs
    return value


@jit
def holding(s, seat, kind):
    """What a card of the type is worth in hand."""
    if s.ending > 0:
        return 0
    if kind >= STONE_TYPES:
        return int(STANDS_FOR[kind])  # Paupers 0
    return HAND_CARD + max(0, placing(s, seat, kind)) // 2


@jit
def _left_on(s, seat, kind):
    # what is lost when a visible card is covered
    runs = runs_left(s)
    if runs == 0:
        return 0
    each = max(0, gain(s, seat, kind))
    return int(STANDS_FOR[kind]) + (each if FLIPS[kind] > 0 else each * runs)


@jit
def _cheapest(s, seat, low, high):
    # the least that a hand card of the set is worth
    least = -NEVER
    for kind in range(TYPES):
        if (low & TYPE_BIT[kind, 0]) | (high & TYPE_BIT[kind, 1]) != 0:
            least = min(least, holding(s, seat, kind))
    return least


@jit
def _run_gain(s, seat):
    # what a run of all that can be activated brings, with the poverty behind it
    low, high = activatable(s, seat)
    value = 0
    for kind in range(STONE_TYPES):
        if (low & TYPE_BIT[kind, 0]) | (high & TYPE_BIT[kind, 1]) != 0:
            value += max(0, gain(s, seat, kind)) * int(s.visible[seat, kind])
    change = int(s.stacks[seat]) + int(s.hand_size[seat]) - count_bits(int(s.owned[seat]))
    return value - POOR * max(change, -int(s.poverty[seat]))


# --- the choice -------------------------------------------------------------------------------------------------


@jit
def _play_worth(s, seat, kind):
    # a card placed in place of two in hand
    if kind >= STONE_TYPES:
        return int(STANDS_FOR[kind])
    low, high = payers(s, seat, kind)
    spent = 0 if s.free > 0 or low | high == 0 else _cheapest(s, seat, low, high)
    value = placing(s, seat, kind) - spent
    if s.ending > 0:
        return value + 2 * POOR  # a card in hand is a poverty point at the end
    return value + POOR - (A_STACK if s.face_down[seat] == 0 else 0)


@jit
def _turn_worth(s, seat, action):
    # one of the four actions (R4.2)
    if action < SLOT:
        return _play_worth(s, seat, action)
    if action == RUN_CITY:
        return _run_gain(s, seat)
    room = HAND_LIMIT - int(s.hand_size[seat])
    if action == TAKE_THREE:
        return UNKNOWN_CARD * min(3, max(0, room)) // 2 if s.ending == 0 else -3 * POOR
    if action == EXCHANGE:
        return _swap_worth(s, seat)
    if action == LOAN_TAKEN:
        return NEVER
    place = action - BOROUGH
    value = POINT * int(BOROUGH_POINTS[place]) - POUND * int(PRICE[place]) + POOR * runs_left(s)
    if PRICE[place] > s.money[seat]:
        value -= LOAN_COST
    cards = int(DRAWN[place])
    return value + (UNKNOWN_CARD * min(cards, max(0, room)) // 2 if s.ending == 0 else -POOR * cards)


@jit
def _swap_worth(s, seat):
    # the best card of the display for the worst in hand
    best = NEVER
    for space in range(SPACES):
        if s.display[space] != EMPTY:
            best = max(best, holding(s, seat, int(s.display[space])))
    return best - _cheapest(s, seat, s.hand_set[seat, 0], s.hand_set[seat, 1]) - HAND_CARD


@jit
def _opponent_worth(s, seat, action):
    # whoever would win but for the seat
    other = (seat + action - OPPONENT + 1) % int(s.num_players)
    return worth(s, other) - penalty(final_poverty(s, other) - lowest_poverty(s))


@jit
def _activation_worth(s, seat, kind):
    # R9.17, R9.18: cards that count others come first, Whitehall last
    value = gain(s, seat, kind)
    if value <= 0:
        return value
    if RUN[kind] in (MONEY_PER_BROWN, TOWN_HOUSES, COFFEE):
        return value + 10 * A_TURN
    return 1 if RUN[kind] == WHITEHALL else value


@jit
def _hand_worth(s, seat, phase, kind):
    # spending a card, or giving it away
    value = -holding(s, seat, kind)
    if phase == Phase.EXPEND:
        value += POOR + (POOR if s.poverty[seat] > 0 else 0)
        value += POINT if RUN[s.card] == MILLBANK_PRISON else 0
    return value


@jit
def _worth_of(s, seat, phase, action):
    if phase == Phase.ACTION:
        return _turn_worth(s, seat, action)
    if action == DONE:
        return 0
    if action == EXCHANGE:
        return _swap_worth(s, seat)
    if action == LOAN_TAKEN:
        return NEVER
    if phase == Phase.DRAW:
        if action == DECK:
            return UNKNOWN_CARD
        kind = s.display[action - SLOT] if action < DECK else s.seen[seat, action - PEEK]
        return holding(s, seat, int(kind))
    if phase == Phase.REORDER:
        # the others shall find the worst on top
        return -holding(s, seat, int(s.seen[seat, action - PEEK + int(s.put_back)]))
    if phase == Phase.PLAY_NEXT:
        return _play_worth(s, seat, action)
    if phase == Phase.TARGET:
        if action == NEW_STACK:
            return -A_STACK * runs_left(s)
        return 0 if action == FACE_DOWN_STACK else -_left_on(s, seat, action)
    if phase == Phase.ACTIVATE:
        return _activation_worth(s, seat, action)
    if phase == Phase.WHITEHALL_TARGET:
        return gain(s, seat, action)
    if phase == Phase.COFFEE_PICK:
        return placing(s, seat, int(s.display[action - SLOT]))
    if phase == Phase.UNDERGROUND:
        return (int(s.owned[seat]) >> (action - BOROUGH)) & 1
    if phase == Phase.OPPONENT:
        return _opponent_worth(s, seat, action)
    if phase == Phase.FLIP:
        # a Hospital is worth its flip for a good card, and for any in the last run
        return gain(s, seat, int(s.card)) - 2 * A_TURN if action == FLIP_HOSPITAL and runs_left(s) > 0 else 0
    if phase == Phase.EXCHANGE_TAKE:
        return holding(s, seat, int(s.display[action - SLOT]))
    return _hand_worth(s, seat, phase, action)


@jit
def greedy(s, mask, salt):
    """The baseline's choice among the actions of the mask; the salt breaks ties."""
    seat, phase = int(s.seat), int(s.phase)
    best, choice, ties = NEVER - 1, -1, 0
    for action in range(NUM_ACTIONS):
        if mask[action] == 0:
            continue
        value = _worth_of(s, seat, phase, action)
        best, choice, ties = weigh(s, salt, (best, choice, ties), value, action, NUM_ACTIONS, TIES)
    return choice
