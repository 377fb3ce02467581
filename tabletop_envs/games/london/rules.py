"""The rules of London in the order of RULES.md: setup, money, cards, the turn and its four actions, end, score.

What a card does is read from its row in `tables.py` and from the code of its text. Sets of card types are pairs of
words (low, high), see `tables.WORD`. `apply` goes to the next node; where that node may have nothing to ask, it leaves
the seat to NOBODY, and `advance` asks or moves on.
"""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.bits import count_bits, lowest_bit
from tabletop_envs.core.header import NOBODY, OVER_CAP, OVER_RULES, report
from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import below
from tabletop_envs.games.london.actions import (
    BOROUGH,
    CARD,
    DECK,
    DONE,
    EXCHANGE,
    FACE_DOWN_STACK,
    FLIP_HOSPITAL,
    FLIP_SELF,
    LOAN_TAKEN,
    NEW_STACK,
    NUM_ACTIONS,
    OPPONENT,
    PEEK,
    RUN_CITY,
    SLOT,
    TAKE_THREE,
)
from tabletop_envs.games.london.state import (
    ACTIVATED,
    EMPTY,
    FACE_UP,
    LAST_CARD,
    LOANS,
    NO_DRAW,
    OVERFLOW,
    PLACED,
    POOR,
    TURN,
    Phase,
    Reason,
    columns,
    in_place,
    sees,
)
from tabletop_envs.games.london.tables import (
    ADJACENT,
    ALWAYS,
    ANY_CARD,
    BANK_OF_ENGLAND,
    BLUE,
    BLUE_CARD,
    BOROUGH_POINTS,
    BRIXTON_PRISON,
    BROWN,
    CARDS_IN_ALL,
    CITY,
    COFFEE,
    COFFEE_HOUSE,
    COFFEE_HOUSES,
    COLOUR,
    COLOUR_TYPES,
    COLUMNS,
    COST,
    COUNTERS,
    DRAWN,
    FIRE_BRIGADE,
    FLEET,
    FLEET_STREET,
    FLIPS,
    FOR_ANY_CARD,
    FOR_BLUE_CARD,
    FREE_PLAYS,
    GAIN_COUNTERS,
    GAIN_MONEY,
    GAIN_POVERTY,
    HAND,
    HAND_LIMIT,
    HOSPITAL,
    IF_BOROUGH,
    IF_BROWN,
    IF_HAND,
    IF_NORTH,
    IF_PAUPERS,
    IF_POOR,
    IF_STONE_SHOWN,
    IF_TARGET,
    IF_THAMES,
    LAND,
    LETTER_COPIES,
    LETTER_SIZES,
    LLOYDS,
    LLOYDS_OF_LONDON,
    LOAN,
    LOAN_WITH_BANK,
    MILLBANK_PRISON,
    MONEY,
    MONEY_PER_BROWN,
    NO_TARGET,
    NORTH,
    OMNIBUS,
    ON_THAMES,
    PARLIAMENT,
    PARLIAMENT_CARDS,
    PAUPERS,
    PAYMENT,
    PAYMENT_MONEY,
    PENALTY,
    PENALTY_ABOVE,
    PER_UNDERGROUND,
    PINK,
    POINTS,
    POLICE_FORCE,
    POUNDS_A_POINT,
    POVERTY,
    PRICE,
    PRISON_CARDS,
    PUBLIC_HOUSES,
    PUBLIC_HOUSES_CARD,
    RED,
    REFUGEE_CARDS,
    REFUGEES,
    REPAY,
    RIVER,
    RUN,
    SCHOOL_FEE,
    SCHOOLS,
    SEEN_CARDS,
    SHOPS,
    SHOPS_COLLECT,
    SPACES,
    STANDING,
    STEAMBOATS,
    STOCK_EXCHANGE,
    STONE,
    STONE_BY_COLOUR,
    STONE_TYPES,
    TAKE_THREE_CARDS,
    TAKE_TWO,
    TOWN_HOUSES,
    TRAIN_STATION,
    TYPE_BIT,
    TYPES,
    UNDERGROUND,
    UNDERGROUND_POINTS,
    UNDERGROUNDS,
    UNIVERSITY,
    UNPAID,
    WHITEHALL,
    WHITEHALL_CARD,
    WITHOUT_CARD,
    WORD,
    WORKHOUSE,
    WRENS,
)

# kinds of chance (R2.6)
SHUFFLE: Final = 0  # + letter
STARTER: Final = 3

# values of the options
OFFICIAL: Final = 1  # public_houses: in the run alone
END_ONLY: Final = 2  # public_houses: at the end alone
COUNT_ALL: Final = 1  # count_scope


# --- setup (R2) -------------------------------------------------------------------------------------------------


@jit
def setup(s):
    """R2: money, poverty, the deck of A on B on C, six cards each, the start player."""
    clear(s)
    for seat in range(int(s.num_players)):
        s.money[seat] = MONEY
        s.poverty[seat] = POVERTY
    _shuffle_decks(s)
    for seat in range(int(s.num_players)):
        for _ in range(HAND):
            add_to_hand(s, seat, take_from_deck(s, 0))
    s.start = below(s, STARTER, int(s.num_players))
    s.turn = s.start
    start_turn(s)


@jit
def clear(s):
    """The empty values of a zeroed record."""
    s.deck[:] = EMPTY
    s.seen[:] = EMPTY
    s.reader = NOBODY
    s.display[:] = EMPTY
    s.laid[:] = EMPTY
    s.laid_on[:] = EMPTY
    s.owner[:] = EMPTY
    s.top[:] = EMPTY
    s.first_stack[:] = EMPTY
    s.last_stack[:] = EMPTY
    s.next_stack[:] = EMPTY
    s.card = EMPTY
    s.stack = EMPTY
    s.whitehall = EMPTY
    s.open = RED


@jit
def _shuffle_decks(s):
    # R2.2: from the bottom C, B, A, each shuffled by itself
    place = 0
    for letter in range(len(LETTER_SIZES) - 1, -1, -1):
        first = place
        for kind in range(TYPES):
            for _ in range(int(LETTER_COPIES[letter, kind])):
                s.deck[place] = kind
                place += 1
        for last in range(place - 1, first, -1):
            other = first + below(s, SHUFFLE + letter, last + 1 - first)
            kept = s.deck[last]
            s.deck[last] = s.deck[other]
            s.deck[other] = kept
    s.deck_size = CARDS_IN_ALL


# --- money (R11) ------------------------------------------------------------------------------------------------


@jit
def loan_cash(s, seat):
    """R11.1, R11.4: what a loan brings."""
    return LOAN_WITH_BANK if sees(s, seat, BANK_OF_ENGLAND) else LOAN


@jit
def pay(s, seat, amount):
    """R11.2: pay to the bank; the fewest loans that make it possible are taken first."""
    missing = amount - int(s.money[seat])
    if missing > 0:
        cash = loan_cash(s, seat)
        number = (missing + cash - 1) // cash
        s.loans[seat] += number
        s.money[seat] += number * cash
        report(s, LOANS, seat, number)
    s.money[seat] -= amount


# --- hands, deck and display (R5, R6) ---------------------------------------------------------------------------


@jit
def add_to_hand(s, seat, kind):
    """A card joins a hand."""
    s.hands[seat, kind] += 1
    s.hand_size[seat] += 1
    s.hand_colours[seat, COLOUR[kind]] += 1
    s.hand_set[seat, 0] |= TYPE_BIT[kind, 0]
    s.hand_set[seat, 1] |= TYPE_BIT[kind, 1]


@jit
def leave_hand(s, seat, kind):
    """A card leaves a hand, seen by all; of equal ones that which was openly taken."""
    s.hands[seat, kind] -= 1
    s.hand_size[seat] -= 1
    s.hand_colours[seat, COLOUR[kind]] -= 1
    if s.known[seat, kind] > 0:
        s.known[seat, kind] -= 1
    if s.hands[seat, kind] == 0:
        s.hand_set[seat, 0] &= ~TYPE_BIT[kind, 0]
        s.hand_set[seat, 1] &= ~TYPE_BIT[kind, 1]


@jit
def take_from_deck(s, number):
    """The top card of the deck (number 0), or another of its seen cards (R6.5); the others close up."""
    if s.num_seen == 0:
        place = in_place(s) - 1
        kind = int(s.deck[place])
        s.deck[place] = EMPTY
    else:
        reader = int(s.reader)
        kind = int(s.seen[reader, number])
        for place in range(number, SEEN_CARDS - 1):
            s.seen[reader, place] = s.seen[reader, place + 1]
        s.seen[reader, SEEN_CARDS - 1] = EMPTY
        s.num_seen -= 1
        if s.num_seen == 0:
            s.reader = NOBODY
    s.deck_size -= 1
    if s.deck_size == 0:
        # R12.1: this turn is still to play, and one of each other player
        s.ending = s.num_players
        report(s, LAST_CARD, int(s.turn), 0)
    return kind


@jit
def spend(s, seat, kind):
    """R5.1: a hand card goes to the Card Display."""
    leave_hand(s, seat, kind)
    width = columns(s)
    # R5.3: the first empty space of row 1, then of row 2
    for row in range(SPACES // COLUMNS):
        for column in range(width):
            if s.display[row * COLUMNS + column] == EMPTY:
                s.display[row * COLUMNS + column] = kind
                s.shown += 1
                return
    # R5.4: both rows are full
    for column in range(width):
        s.discard[s.display[column]] += 1
        s.display[column] = s.display[COLUMNS + column]
        s.display[COLUMNS + column] = EMPTY
    s.display[COLUMNS] = kind
    s.shown = width + 1
    report(s, OVERFLOW, NOBODY, width)


@jit
def stone_shown(s):
    """Whether a card with a stone base lies on the Card Display."""
    found = False
    for space in range(SPACES):
        found = found or EMPTY < s.display[space] < STONE_TYPES
    return found


@jit
def source_left(s):
    """R6.3: whether any card can be taken."""
    if s.shown > 0:
        return True
    return s.num_seen > 0 if s.peeking > 0 else s.deck_size > 0


# --- Building Displays (R7.5, R7.12) ----------------------------------------------------------------------------


@jit
def shows_school(s, seat):
    """R7.4: whether a School is visible."""
    return (s.visible_set[seat, 0] & SCHOOLS[0]) | (s.visible_set[seat, 1] & SCHOOLS[1]) != 0


@jit
def _appear(s, seat, kind):
    s.visible[seat, kind] += 1
    s.visible_set[seat, 0] |= TYPE_BIT[kind, 0]
    s.visible_set[seat, 1] |= TYPE_BIT[kind, 1]


@jit
def _vanish(s, seat, kind):
    s.visible[seat, kind] -= 1
    if s.visible[seat, kind] == 0:
        s.visible_set[seat, 0] &= ~TYPE_BIT[kind, 0]
        s.visible_set[seat, 1] &= ~TYPE_BIT[kind, 1]


@jit
def begin_stack(s, seat):
    """R7.5: a new stack of the seat, still without a card; returns its number."""
    stack = int(s.num_stacks)
    s.num_stacks += 1
    s.owner[stack] = seat
    if s.first_stack[seat] == EMPTY:
        s.first_stack[seat] = stack
    else:
        s.next_stack[s.last_stack[seat]] = stack
    s.last_stack[seat] = stack
    s.stacks[seat] += 1
    return stack


@jit
def _cover(s, stack):
    # the top card is no longer the top; R7.10: money on it goes back to the bank
    seat, kind, state = int(s.owner[stack]), int(s.top[stack]), int(s.state[stack])
    if state & FACE_UP > 0:
        _vanish(s, seat, kind)
    else:
        s.face_down[seat] -= 1
    if state & PLACED > 0:
        s.placed[kind] -= 1
    if state & ACTIVATED > 0:
        s.activated[kind] -= 1
        s.lit[kind] -= state & FACE_UP
    s.pounds[stack] = 0


@jit
def lay(s, stack, kind):
    """R7.5, R7.10: put a card face up on a stack, new or begun; other visible Shops of the seat earn a pound."""
    seat = int(s.owner[stack])
    if s.top[stack] != EMPTY:
        _cover(s, stack)
    if s.visible[seat, SHOPS] > 0:
        other = int(s.first_stack[seat])
        while other != EMPTY:
            if other != stack and s.top[other] == SHOPS and s.state[other] & FACE_UP > 0:
                s.pounds[other] += 1
            other = int(s.next_stack[other])
    number = int(s.num_laid)
    s.laid[number] = kind
    s.laid_on[number] = stack
    s.num_laid += 1
    s.top[stack] = kind
    s.state[stack] = FACE_UP | PLACED
    s.placed[kind] += 1
    s.built[seat, kind] += 1
    _appear(s, seat, kind)
    s.card_points[seat] += POINTS[kind]
    s.best_card[seat] = max(int(s.best_card[seat]), int(POINTS[kind]))


@jit
def turn_down(s, stack):
    """R9.7: the top card of a stack is turned face down."""
    seat, kind = int(s.owner[stack]), int(s.top[stack])
    s.lit[kind] -= int(s.state[stack] & ACTIVATED > 0)
    s.state[stack] &= ~FACE_UP
    s.face_down[seat] += 1
    _vanish(s, seat, kind)


@jit
def _same_bits(state, wanted, unwanted):
    return state & (wanted | unwanted) == wanted


@jit
def cheapest_stack(s, seat, kind):
    """R14.4, covering: of the visible stacks of the type not placed this turn that with least money, then the first."""
    best = EMPTY
    stack = int(s.first_stack[seat])
    while stack != EMPTY:
        if (
            s.top[stack] == kind
            and _same_bits(int(s.state[stack]), FACE_UP, PLACED)
            and (best == EMPTY or s.pounds[stack] < s.pounds[best])
        ):
            best = stack
        stack = int(s.next_stack[stack])
    return best


@jit
def richest_stack(s, seat, kind, wanted, unwanted):
    """R14.4, activating: of the stacks of the type in such a state that with most money, then the first."""
    best = EMPTY
    stack = int(s.first_stack[seat])
    while stack != EMPTY:
        if (
            s.top[stack] == kind
            and _same_bits(int(s.state[stack]), wanted, unwanted)
            and (best == EMPTY or s.pounds[stack] > s.pounds[best])
        ):
            best = stack
        stack = int(s.next_stack[stack])
    return best


@jit
def first_face_down(s, seat):
    """R14.4: the first stack of the seat whose top card lies face down."""
    stack = int(s.first_stack[seat])
    while stack != EMPTY and s.state[stack] & FACE_UP > 0:
        stack = int(s.next_stack[stack])
    return stack


# --- what may be chosen: plays (R7) -----------------------------------------------------------------------------


@jit
def playable(s, seat):
    """R7.1: the hand types that can legally be played, as a set."""
    hand_low, hand_high = s.hand_set[seat, 0], s.hand_set[seat, 1]
    if s.free > 0:
        low, high = STONE[0], STONE[1]  # R7.9
    else:
        # R7.2, R7.4: another card of the colour, or any with a School
        pays = 2 if shows_school(s, seat) and s.hand_size[seat] > 1 else 0
        low, high = COFFEE_HOUSES[0], COFFEE_HOUSES[1]
        for colour in range(BROWN, PINK + 1):
            if pays + int(s.hand_colours[seat, colour]) >= 2:
                low |= STONE_BY_COLOUR[colour, 0]
                high |= STONE_BY_COLOUR[colour, 1]
    # R7.8: something must be there to be taken
    if s.shown > 0 or s.deck_size > 0:
        low |= REFUGEES[0]
        high |= REFUGEES[1]
    # R7.9: a stone card must be in the rest of the hand
    if (hand_low & STONE[0]) | (hand_high & STONE[1]) != 0:
        low |= WRENS[0]
        high |= WRENS[1]
    return hand_low & low, hand_high & high


@jit
def payers(s, seat, kind):
    """R7.2, R7.4: the types of the other hand cards that can pay for placing a type, as a set."""
    low, high = s.hand_set[seat, 0], s.hand_set[seat, 1]
    if s.hands[seat, kind] == 1:
        low &= ~TYPE_BIT[kind, 0]
        high &= ~TYPE_BIT[kind, 1]
    if shows_school(s, seat):
        return low, high
    return low & COLOUR_TYPES[COLOUR[kind], 0], high & COLOUR_TYPES[COLOUR[kind], 1]


@jit
def coverable(s, seat):
    """R7.5, R7.6: the types on visible tops that were not placed in this turn, as a set."""
    low = _more_than(s.visible_set[seat, 0], s.visible[seat], s.placed, 0)
    return low, _more_than(s.visible_set[seat, 1], s.visible[seat], s.placed, WORD)


@jit
def _more_than(types, tops, some, first):
    # of a word of types those with more visible tops than some of them
    found = 0
    while types != 0:
        bit = types & -types
        types ^= bit
        kind = first + lowest_bit(bit)
        if tops[kind] > some[kind]:
            found |= bit
    return found


# --- what may be chosen: activations (R9) -----------------------------------------------------------------------


@jit
def effective(s, seat):
    """R9.4 but for Whitehall: the types that have an effect now, as a set."""
    low, high = ALWAYS[0], ALWAYS[1]
    if s.poverty[seat] > 0:
        low |= IF_POOR[0]
        high |= IF_POOR[1]
    if s.hand_size[seat] > 0:
        low |= IF_HAND[0]
        high |= IF_HAND[1]
        if s.hands[seat, PAUPERS] > 0:
            low |= IF_PAUPERS[0]
            high |= IF_PAUPERS[1]
    owned = int(s.owned[seat])
    if owned != 0:
        low |= IF_BOROUGH[0]
        high |= IF_BOROUGH[1]
        if owned & ON_THAMES != 0:
            low |= IF_THAMES[0]
            high |= IF_THAMES[1]
        if owned & NORTH != 0:
            low |= IF_NORTH[0]
            high |= IF_NORTH[1]
    if _any_brown(s, seat):
        low |= IF_BROWN[0]
        high |= IF_BROWN[1]
    if sees(s, seat, COFFEE_HOUSE) and stone_shown(s):
        low |= IF_STONE_SHOWN[0]
        high |= IF_STONE_SHOWN[1]
    return low, high


@jit
def _any_brown(s, seat):
    # R9.17, O5: a visible brown card, or one in any state
    brown = (s.visible_set[seat, 0] & COLOUR_TYPES[BROWN, 0]) | (s.visible_set[seat, 1] & COLOUR_TYPES[BROWN, 1])
    return brown != 0 or (s.count_scope == COUNT_ALL and count_cards(s, seat, True) > 0)


@jit
def count_cards(s, seat, brown):
    """R9.17, R9.18: the visible cards that are brown, or that are not; with `count_scope` "all" those in any state."""
    cards = 0
    for kind in range(STONE_TYPES):
        if (COLOUR[kind] == BROWN) == brown:
            cards += int(s.built[seat, kind] if s.count_scope == COUNT_ALL else s.visible[seat, kind])
    return cards


@jit
def payable(s, seat):
    """R9.3: the types whose activation cost can be paid; money always can (R11.2)."""
    low, high = WITHOUT_CARD[0], WITHOUT_CARD[1]
    if s.hand_size[seat] > 0:
        low |= FOR_ANY_CARD[0]
        high |= FOR_ANY_CARD[1]
        # O4: a School turns any card into a blue one
        if s.hand_colours[seat, BLUE] > 0 or (s.school_pays_activation > 0 and shows_school(s, seat)):
            low |= FOR_BLUE_CARD[0]
            high |= FOR_BLUE_CARD[1]
    return low, high


@jit
def targets(s, seat):
    """R9.13: the types that Whitehall can repeat: tops activated in this run that have an effect now, as a set."""
    effect_low, effect_high = effective(s, seat)
    low, high = 0, 0
    for kind in range(STONE_TYPES):
        if s.activated[kind] > 0:
            low |= TYPE_BIT[kind, 0]
            high |= TYPE_BIT[kind, 1]
    return low & effect_low & ~NO_TARGET[0], high & effect_high & ~NO_TARGET[1]


@jit
def activatable(s, seat):
    """R9.2: the types with a stack that can be activated now, as a set."""
    low, high = s.visible_set[seat, 0], s.visible_set[seat, 1]
    if s.activations > 0:
        low = _more_than(low, s.visible[seat], s.lit, 0)
        high = _more_than(high, s.visible[seat], s.lit, WORD)
    pay_low, pay_high = payable(s, seat)
    low, high = low & pay_low, high & pay_high
    effect_low, effect_high = effective(s, seat)
    if (low & IF_TARGET[0]) | (high & IF_TARGET[1]) != 0:
        target_low, target_high = targets(s, seat)
        if target_low | target_high != 0:
            effect_low |= IF_TARGET[0]
            effect_high |= IF_TARGET[1]
    return low & effect_low, high & effect_high


# --- what may be chosen: boroughs (R9.14, R10) ------------------------------------------------------------------


@jit
def buyable(s, seat):
    """R10.1, R10.2: the set of boroughs that the seat can buy."""
    return int(s.open) if count_bits(int(s.owned[seat])) < COUNTERS else 0


@jit
def underground_places(s):
    """R9.14: the set of boroughs that can take an Underground counter."""
    laid = int(s.underground)
    if laid == 0:
        near = int(ADJACENT[CITY]) | 1 << CITY
    else:
        near = 0
        rest = laid
        while rest != 0:
            near |= int(ADJACENT[lowest_bit(rest)])
            rest &= rest - 1
    if count_bits(laid) >= UNDERGROUNDS:
        return 0
    return near & int(s.occupied) & ~laid


# --- what may be chosen: at several nodes -----------------------------------------------------------------------


@jit
def exchange_available(s, seat):
    """R7.11: the Stock Exchange is visible and unused, and there are cards to swap."""
    return s.exchanged == 0 and sees(s, seat, STOCK_EXCHANGE) and s.hand_size[seat] > 0 and s.shown > 0


@jit
def loan_available(s):
    """R11.5: fewer voluntary loans than allowed were taken in this turn."""
    return s.loans_taken < s.max_voluntary_loans_per_turn


# --- what is chosen where (R15) ---------------------------------------------------------------------------------


@jit
def choosable(s, seat, phase):
    """The types of which a CARD may be chosen at a node, as a set: from the hand, or of stacks."""
    if phase == Phase.ACTION or phase == Phase.PLAY_NEXT:
        return playable(s, seat)
    if phase == Phase.ACTIVATE:
        return activatable(s, seat)
    if phase == Phase.PAY_CARD:
        return payers(s, seat, int(s.card))
    if phase == Phase.TARGET:
        return coverable(s, seat)
    if phase == Phase.WHITEHALL_TARGET:
        return targets(s, seat)
    low, high = s.hand_set[seat, 0], s.hand_set[seat, 1]
    if phase == Phase.EXCHANGE_GIVE or phase == Phase.DISCARD:
        return low, high
    if phase == Phase.EXPEND:
        # R9.19: any card, or Paupers alone
        if RUN[s.card] == WORKHOUSE:
            return low & TYPE_BIT[PAUPERS, 0], high & TYPE_BIT[PAUPERS, 1]
        return low, high
    if phase == Phase.ACT_PAY:
        # R9.3, O4
        if PAYMENT[s.card] == ANY_CARD or (s.school_pays_activation > 0 and shows_school(s, seat)):
            return low, high
        return low & COLOUR_TYPES[BLUE, 0], high & COLOUR_TYPES[BLUE, 1]
    return 0, 0


@jit
def takable(s, phase, space):
    """Whether the card of a space may be chosen at a node: R6.3 and R7.11 any, R9.16 one with a stone base."""
    kind = int(s.display[space])
    if phase == Phase.COFFEE_PICK:
        return EMPTY < kind < STONE_TYPES
    return kind != EMPTY and (phase == Phase.DRAW or phase == Phase.EXCHANGE_TAKE)


@jit
def places_to_choose(s, seat, phase):
    """The boroughs that may be chosen at a node, as a set."""
    if phase == Phase.ACTION:
        return buyable(s, seat)
    return underground_places(s) if phase == Phase.UNDERGROUND else 0


# --- masks (R15) ------------------------------------------------------------------------------------------------


@jit
def _mark(mask, action, condition):
    if condition:
        mask[action] = 1
        return 1
    return 0


@jit
def legal(s, mask):
    """The legal actions of the seat to act, and their number."""
    mask[:] = 0
    seat, phase = int(s.seat), int(s.phase)
    low, high = choosable(s, seat, phase)
    cards = 0
    while low != 0:
        mask[CARD + lowest_bit(low)] = 1
        low &= low - 1
        cards += 1
    while high != 0:
        mask[CARD + WORD + lowest_bit(high)] = 1
        high &= high - 1
        cards += 1
    if phase == Phase.DRAW or phase == Phase.COFFEE_PICK or phase == Phase.EXCHANGE_TAKE:
        for space in range(SPACES):
            cards += _mark(mask, SLOT + space, takable(s, phase, space))
    places = places_to_choose(s, seat, phase)
    while places != 0:
        mask[BOROUGH + lowest_bit(places)] = 1
        places &= places - 1
        cards += 1
    return cards + _mark_others(s, seat, phase, mask, cards)


@jit
def _mark_others(s, seat, phase, mask, cards):
    # what is no card, space or borough; `cards` are those marked so far
    if phase == Phase.DRAW:
        # R6.3, R6.5, R6.4
        seen = int(s.num_seen) if s.peeking > 0 else 0
        mask[PEEK : PEEK + seen] = 1
        from_deck = s.peeking == 0 and s.deck_size > 0
        return seen + _mark(mask, DECK, from_deck) + _mark(mask, DONE, s.optional > 0)
    if phase == Phase.REORDER:
        left = int(s.num_seen) - int(s.put_back)
        mask[PEEK : PEEK + left] = 1
        return left
    if phase == Phase.ACTION:
        # R4.2: one of the four actions; the last is always there
        mask[TAKE_THREE] = 1
        low, high = activatable(s, seat)
        count = 1 + _mark(mask, RUN_CITY, low | high != 0)
        return count + _mark(mask, EXCHANGE, exchange_available(s, seat)) + _mark(mask, LOAN_TAKEN, loan_available(s))
    if phase == Phase.PLAY_NEXT or phase == Phase.ACTIVATE:
        if (s.plays if phase == Phase.PLAY_NEXT else s.activations) == 0:
            return 0  # R7.9: Wren alone is no play; R9.1: at least one activation
        mask[DONE] = 1
        more = cards > 0 and loan_available(s)  # R11.5
        return 1 + _mark(mask, EXCHANGE, exchange_available(s, seat)) + _mark(mask, LOAN_TAKEN, more)
    if phase == Phase.TARGET:
        mask[NEW_STACK] = 1
        return 1 + _mark(mask, FACE_DOWN_STACK, s.face_down[seat] > 0)
    if phase == Phase.EXPEND:
        return _mark(mask, DONE, s.expended > 0)
    if phase == Phase.OPPONENT:
        others = int(s.num_players) - 1
        mask[OPPONENT : OPPONENT + others] = 1
        return others
    if phase == Phase.FLIP:
        mask[FLIP_SELF] = 1
        return 1 + _mark(mask, FLIP_HOSPITAL, True)
    return _mark(mask, DONE, True) + _mark(mask, EXCHANGE, True) if phase == Phase.END_TURN else 0


# --- decisions --------------------------------------------------------------------------------------------------

NOTHING_DUE: Final = -1
ACTIVATE: Final = int(Phase.ACTIVATE)


@jit
def _go(s, phase, asked):
    # to a node that certainly asks, or to one of which `advance` finds out
    s.phase = phase
    s.seat = s.turn if asked else NOBODY


@jit
def apply(s, action):
    """Execute one decision of the seat to act."""
    assert 0 <= action < NUM_ACTIONS, "the action is outside the space (R14.3)"
    assert s.seat != NOBODY, "nobody is asked"
    seat, phase = int(s.seat), int(s.phase)
    low, high = 0, 0
    if action < SLOT or action in (RUN_CITY, LOAN_TAKEN):
        node = phase
        if action == RUN_CITY:
            node = ACTIVATE
        low, high = choosable(s, seat, node)
    due = NOTHING_DUE
    if action < SLOT:
        kind = action - CARD
        assert (low & TYPE_BIT[kind, 0]) | (high & TYPE_BIT[kind, 1]) != 0, "the card cannot be chosen (R15)"
        if phase in (Phase.PAY_CARD, Phase.ACT_PAY, Phase.EXPEND, Phase.DISCARD):
            due = _spend_for(s, seat, phase, kind)
        elif phase == Phase.ACTION or phase == Phase.PLAY_NEXT:
            due = _play(s, seat, kind)
        elif phase == Phase.ACTIVATE:
            due = _activate(s, seat, kind)
        elif phase == Phase.WHITEHALL_TARGET:
            due = _repeat(s, seat, kind)
        elif phase == Phase.EXCHANGE_GIVE:
            s.card = kind  # R7.11
            _go(s, Phase.EXCHANGE_TAKE, True)
    elif action < DECK:
        _choose_space(s, seat, phase, action - SLOT)
    elif action < BOROUGH:
        _choose_unseen(s, seat, phase, action)
    elif action < OPPONENT:
        _choose_place(s, seat, phase, action - BOROUGH)
    elif action in (NEW_STACK, FACE_DOWN_STACK):
        assert phase == Phase.TARGET, "no card is to be placed now (R7.5)"
    else:
        _choose_way(s, seat, phase, action, low | high != 0)
    if phase == Phase.TARGET:
        _place(s, seat, action)
    if due != NOTHING_DUE:
        # R7.7, R9.6: first the price, then the place or the effect
        pay(s, seat, due)
        if s.stack == EMPTY:
            leave_hand(s, seat, int(s.card))
            _go(s, Phase.TARGET, True)
        else:
            _resolve(s, seat)


@jit
def _choose_space(s, seat, phase, space):
    # the card of a space of the Card Display
    assert takable(s, phase, space), "no card can be taken from the space here (R6.3, R7.11, R9.16)"
    kind = int(s.display[space])
    if phase == Phase.EXCHANGE_TAKE:
        _swap(s, seat, space)
        return
    s.display[space] = EMPTY  # R5.6
    s.shown -= 1
    if phase == Phase.COFFEE_PICK:
        # R9.16: its cost is due; it is put on top of this Coffee House
        pay(s, seat, int(COST[kind]))
        lay(s, int(s.stack), kind)
        _end_activation(s)
    else:
        add_to_hand(s, seat, kind)
        s.known[seat, kind] += 1
        _drawn(s)


@jit
def _choose_place(s, seat, phase, place):
    # a borough to buy, or for an Underground counter
    assert (places_to_choose(s, seat, phase) >> place) & 1 > 0, "the borough cannot be chosen (R9.14, R10.1, R10.2)"
    if phase == Phase.ACTION:
        pay(s, seat, int(PRICE[place]))  # R10.3
        settle_in(s, seat, place)
        _begin_draw(s, Reason.BOROUGH, int(DRAWN[place]))  # R10.4
        return
    # R9.14: across the river it costs, unless a counter lies beside it on land
    if s.underground != 0 and int(LAND[place]) & int(s.underground) == 0:
        pay(s, seat, RIVER)
    s.underground |= 1 << place
    s.tubes -= 1
    s.seat = NOBODY


@jit
def _choose_way(s, seat, phase, action, any_card):
    # all that names no card, space, borough or stack
    if action == DONE:
        _finish(s, seat, phase)
    elif action == EXCHANGE:
        _begin_exchange(s, seat, phase)
    elif action == LOAN_TAKEN:
        _take_loan(s, seat, phase, any_card)
    elif action in (FLIP_SELF, FLIP_HOSPITAL):
        # R9.7, R9.12
        assert phase == Phase.FLIP, "no card is flipped now (R9.7)"
        turn_down(s, int(s.stack) if action == FLIP_SELF else richest_stack(s, seat, HOSPITAL, FACE_UP, 0))
        _end_activation(s)
    elif action < NEW_STACK:
        _burden(s, seat, phase, action)
    else:
        # R4.2
        assert phase == Phase.ACTION, "an action of the turn is not asked now (R4.2)"
        if action == RUN_CITY:
            assert any_card, "no card can be activated (R9.1)"
            _go(s, Phase.ACTIVATE, True)
        else:
            _begin_draw(s, Reason.TAKE_THREE, TAKE_THREE_CARDS)  # R8.1


@jit
def _finish(s, seat, phase):
    # DONE, where it may be said (R15)
    if phase == Phase.DRAW:
        assert s.optional > 0, "a card must be taken (R6.1)"
        s.due = 0
        s.seat = NOBODY
    elif phase == Phase.PLAY_NEXT:
        assert s.plays > 0, "nothing has been played yet (R7.1, R7.9)"
        s.free = 0  # R7.9: the rest is lost
        s.plays = 0
        _go(s, Phase.DISCARD, False)
    elif phase == Phase.ACTIVATE:
        assert s.activations > 0, "nothing has been activated yet (R9.1)"
        _end_run(s, seat)
    elif phase == Phase.EXPEND:
        assert s.expended > 0, "at least one card is spent (R9.19)"
        s.expended = 0
        _go(s, Phase.FLIP, False)
    else:
        assert phase == Phase.END_TURN, "the node cannot be left (R15)"
        _go(s, Phase.DISCARD, False)


@jit
def _take_loan(s, seat, phase, any_card):
    # R11.5: at ACTION, or between two plays or activations
    between = (phase == Phase.PLAY_NEXT and s.plays > 0) or (phase == Phase.ACTIVATE and s.activations > 0)
    assert phase == Phase.ACTION or (between and any_card), "no voluntary loan is offered here (R11.5)"
    assert loan_available(s), "no more voluntary loans in this turn (R11.5)"
    s.loans_taken += 1
    s.loans[seat] += 1
    s.money[seat] += loan_cash(s, seat)


# --- taking cards (R6, R8) --------------------------------------------------------------------------------------


@jit
def start_turn(s):
    """R4.1, R6.4, R6.5: the draw step of the seat in turn is prepared by what it shows."""
    seat = int(s.turn)
    report(s, TURN, seat, int(s.turns))
    _begin_draw(s, Reason.START, 1)
    if sees(s, seat, PARLIAMENT):
        s.due = PARLIAMENT_CARDS
        s.optional = 1
    if sees(s, seat, UNIVERSITY):
        s.peeking = 1
        _look(s, seat)


@jit
def _look(s, seat):
    # R6.5: the top three cards of the deck, of which some may be known from the turn before
    while s.num_seen < SEEN_CARDS and in_place(s) > 0:
        place = in_place(s) - 1
        s.seen[seat, s.num_seen] = s.deck[place]
        s.deck[place] = EMPTY
        s.num_seen += 1
        s.reader = seat


@jit
def _begin_draw(s, reason, due):
    s.reason = reason
    s.due = due
    _go(s, Phase.DRAW, False)


@jit
def _drawn(s):
    s.due -= 1
    s.seat = NOBODY


@jit
def _choose_unseen(s, seat, phase, action):
    # R6.3, R6.5: the top card of the deck, or one of the seen ones
    if action == DECK:
        assert phase == Phase.DRAW and s.peeking == 0, "no card is taken from the deck now (R6.3, R6.5)"
        assert s.deck_size > 0, "the deck is empty (R6.3)"
        add_to_hand(s, seat, take_from_deck(s, 0))
        _drawn(s)
        return
    assert s.peeking > 0 and phase <= Phase.REORDER, "no seen card is chosen now (R6.5)"
    number = action - PEEK + int(s.put_back)
    assert number < s.num_seen, "there is no such seen card (R6.5)"
    if phase == Phase.DRAW:
        add_to_hand(s, seat, take_from_deck(s, number))
        _drawn(s)
        return
    # the chosen card becomes the next from the top
    kind = s.seen[seat, number]
    for place in range(number, int(s.put_back), -1):
        s.seen[seat, place] = s.seen[seat, place - 1]
    s.seen[seat, s.put_back] = kind
    s.put_back += 1
    s.seat = NOBODY


@jit
def order_matters(s):
    """R6.5: whether the seen cards not yet put back are of at least two types."""
    differ = False
    for place in range(int(s.put_back) + 1, int(s.num_seen)):
        differ = differ or s.seen[s.reader, place] != s.seen[s.reader, s.put_back]
    return differ


# --- action 3: buy a borough (R10) ------------------------------------------------------------------------------


@jit
def settle_in(s, seat, place):
    """R10.1, R10.2: a building counter on a borough."""
    before = int(s.open) if s.occupied != 0 else 0
    s.owned[seat] |= 1 << place
    s.occupied |= 1 << place
    s.open = (before | int(ADJACENT[place])) & ~int(s.occupied)


# --- action 1: play cards (R7) ----------------------------------------------------------------------------------


@jit
def _play(s, seat, kind):
    # returns what is due for a card that needs no payment card
    if kind >= STONE_TYPES:
        # R7.8, R7.9: a card without a stone base is used up
        leave_hand(s, seat, kind)
        s.discard[kind] += 1
        if STANDING[kind] == TAKE_TWO:
            _begin_draw(s, Reason.REFUGEES, REFUGEE_CARDS)
        else:
            s.free = FREE_PLAYS
            _go(s, Phase.PLAY_NEXT, True)
        return NOTHING_DUE
    s.card = kind
    if kind != COFFEE_HOUSE:
        if s.free == 0:
            _go(s, Phase.PAY_CARD, True)
            return NOTHING_DUE
        s.free -= 1  # R7.9; R7.2: a Coffee House uses none up
    return int(COST[kind])


@jit
def _spend_for(s, seat, phase, kind):
    # R5.1: a hand card is spent; returns what is due besides
    spend(s, seat, kind)
    if phase == Phase.PAY_CARD:
        # R7.3, R7.4: with a School another colour may pay, for a pound
        fee = SCHOOL_FEE if COLOUR[kind] != COLOUR[s.card] else 0
        return int(COST[s.card]) + fee
    if phase == Phase.ACT_PAY:
        # R9.3, O4
        return SCHOOL_FEE if PAYMENT[s.card] == BLUE_CARD and COLOUR[kind] != BLUE else 0
    if phase == Phase.EXPEND:
        # R9.19
        s.poverty[seat] = max(0, int(s.poverty[seat]) - 1)
        s.counters[seat] += int(RUN[s.card] == MILLBANK_PRISON)
        s.money[seat] += int(RUN[s.card] == WORKHOUSE)
        s.expended += 1
    # else R4.6: one of the cards over the limit
    s.seat = NOBODY
    return NOTHING_DUE


@jit
def _place(s, seat, action):
    # R7.5, R7.6
    if action == NEW_STACK:
        stack = begin_stack(s, seat)
    elif action == FACE_DOWN_STACK:
        stack = first_face_down(s, seat)
    else:
        assert action < SLOT, "a place to lay the card is asked (R7.5)"
        stack = cheapest_stack(s, seat, action - CARD)
    assert stack != EMPTY, "no stack has a face-down top (R7.5)"
    lay(s, stack, int(s.card))
    s.card = EMPTY
    s.plays += 1
    _go(s, Phase.PLAY_NEXT, True)


# --- the Stock Exchange (R7.11) ---------------------------------------------------------------------------------


@jit
def _begin_exchange(s, seat, phase):
    started = (phase == Phase.PLAY_NEXT and s.plays > 0) or (phase == Phase.ACTIVATE and s.activations > 0)
    offered = started or phase == Phase.ACTION or phase == Phase.END_TURN
    assert offered and exchange_available(s, seat), "the Stock Exchange cannot be used here (R7.11)"
    s.back = phase
    _go(s, Phase.EXCHANGE_GIVE, True)


@jit
def _swap(s, seat, space):
    # the given card takes exactly the space of the taken one
    taken = int(s.display[space])
    leave_hand(s, seat, int(s.card))
    s.display[space] = s.card
    add_to_hand(s, seat, taken)
    s.known[seat, taken] += 1
    s.card = EMPTY
    s.exchanged = 1
    back = int(s.back)
    s.back = 0
    _go(s, back, back != Phase.END_TURN)


# --- action 2: run the city (R9) --------------------------------------------------------------------------------


@jit
def _activate(s, seat, kind):
    # R9.2, R9.3: returns the money that is due, unless a card is
    stack = richest_stack(s, seat, kind, FACE_UP, ACTIVATED)
    s.state[stack] |= ACTIVATED
    s.activated[kind] += 1
    s.lit[kind] += 1
    s.stack = stack
    s.card = kind
    if PAYMENT[kind] in (ANY_CARD, BLUE_CARD):
        _go(s, Phase.ACT_PAY, True)
        return NOTHING_DUE
    return int(PAYMENT_MONEY[kind])


@jit
def _repeat(s, seat, kind):
    # R9.13: the card is activated again, and nothing is due; R14.4: most money, then face down, then the first
    face_down = richest_stack(s, seat, kind, ACTIVATED, FACE_UP)
    face_up = richest_stack(s, seat, kind, ACTIVATED | FACE_UP, 0)
    if face_down == EMPTY or (face_up != EMPTY and s.pounds[face_up] > s.pounds[face_down]):
        s.stack = face_up
    else:
        s.stack = face_down
    s.card = kind
    return 0


@jit
def _resolve(s, seat):
    """R9.6, R9.11: money, VP counters, poverty points by the icons, then the text, if any; the flip comes last."""
    kind = int(s.card)
    s.money[seat] += GAIN_MONEY[kind]
    s.counters[seat] += GAIN_COUNTERS[kind]
    s.poverty[seat] = max(0, int(s.poverty[seat]) + int(GAIN_POVERTY[kind]))
    text = int(RUN[kind])
    if text in (BRIXTON_PRISON, MILLBANK_PRISON, WORKHOUSE):
        _go(s, Phase.EXPEND, False)
    elif text == COFFEE:
        _go(s, Phase.COFFEE_PICK, True)
    elif text == UNDERGROUND:
        s.tubes = PER_UNDERGROUND
        _go(s, Phase.UNDERGROUND, False)
    elif text == FLEET or (text == POLICE_FORCE and s.poverty[seat] > 0):
        _go(s, Phase.OPPONENT, True)  # R9.22, R9.23
    elif text == WHITEHALL:
        s.whitehall = s.stack
        _go(s, Phase.WHITEHALL_TARGET, True)
    else:
        if text > 0:
            _take_effect(s, seat, text)
        _go(s, Phase.FLIP, False)


@jit
def _take_effect(s, seat, text):
    # the texts that ask nothing
    owned = int(s.owned[seat])
    if text == SHOPS_COLLECT:
        s.money[seat] += s.pounds[s.stack]
        s.pounds[s.stack] = 0
    elif text == MONEY_PER_BROWN:
        s.money[seat] += count_cards(s, seat, True)  # R9.17
    elif text == TOWN_HOUSES:
        # R9.18: itself exactly once, also when it is repeated face down
        itself = s.count_scope != COUNT_ALL and s.state[s.stack] & FACE_UP == 0
        s.counters[seat] += count_cards(s, seat, False) + int(itself)
    elif text == PUBLIC_HOUSES:
        s.pub_run = 1  # R9.15
        s.pub_activated[seat] = 1
    elif text == OMNIBUS:
        s.money[seat] += count_bits(owned)  # R9.24
    elif text == STEAMBOATS:
        s.money[seat] += 2 * count_bits(owned & ON_THAMES)
    elif text == TRAIN_STATION:
        s.money[seat] += 2 * count_bits(owned & NORTH)
    elif text in (FIRE_BRIGADE, LLOYDS_OF_LONDON):
        for on in range(1, int(s.num_players)):
            other = (seat + on) % int(s.num_players)
            if text == FIRE_BRIGADE:
                pay(s, other, count_bits(int(s.owned[other])))  # R9.20
            else:
                pay(s, other, LLOYDS)  # R9.21
                s.money[seat] += LLOYDS


@jit
def _burden(s, seat, phase, action):
    on = action - OPPONENT + 1
    assert phase == Phase.OPPONENT and on < s.num_players, "no such opponent is asked for (R9.22, R9.23)"
    other = (seat + on) % int(s.num_players)
    if RUN[s.card] == FLEET:
        s.poverty[other] += FLEET_STREET  # R9.22
    else:
        s.poverty[seat] -= 1  # R9.23
        s.poverty[other] += 1
    _go(s, Phase.FLIP, False)


@jit
def _end_activation(s):
    # R9.13: behind the repeated card Whitehall itself is flipped
    if s.whitehall != EMPTY and s.stack != s.whitehall:
        s.stack = s.whitehall
        s.card = WHITEHALL_CARD
        _go(s, Phase.FLIP, False)
        return
    s.whitehall = EMPTY
    s.stack = EMPTY
    s.card = EMPTY
    s.activations += 1
    _go(s, Phase.ACTIVATE, True)


@jit
def _end_run(s, seat):
    # R9.8, R9.9, R9.15; R9.10: other actions bring no poverty
    hand = int(s.hand_size[seat])
    if s.pub_run > 0 and s.public_houses != END_ONLY:
        hand = 0
    before = int(s.poverty[seat])
    result = int(s.stacks[seat]) + hand - count_bits(int(s.owned[seat]))
    s.poverty[seat] = max(0, before + result)
    report(s, POOR, seat, int(s.poverty[seat]) - before)
    s.activations = 0
    s.pub_run = 0
    _go(s, Phase.DISCARD, False)


# --- automatic steps --------------------------------------------------------------------------------------------


@jit
def advance(s):
    """The node is asked, or left because it has nothing to ask (R15)."""
    seat, phase = int(s.turn), int(s.phase)
    if phase == Phase.DRAW:
        if s.due > 0 and source_left(s):
            s.seat = seat
        else:
            _end_draw(s)
    elif phase == Phase.REORDER:
        if order_matters(s):
            s.seat = seat
        else:
            s.peeking = 0
            s.put_back = 0
            _go(s, Phase.ACTION, True)
    elif phase == Phase.EXPEND:
        low, high = choosable(s, seat, phase)
        if low | high == 0 or (s.expended == PRISON_CARDS and RUN[s.card] != WORKHOUSE):
            s.expended = 0
            s.phase = Phase.FLIP
        else:
            s.seat = seat
    elif phase == Phase.UNDERGROUND:
        if s.tubes > 0 and underground_places(s) != 0:
            s.seat = seat
        else:
            s.tubes = 0  # R9.14: the rest is lost
            s.phase = Phase.FLIP
    elif phase == Phase.FLIP:
        _flip(s, seat)
    elif phase == Phase.END_TURN and exchange_available(s, seat):
        s.seat = seat
    elif phase == Phase.END_TURN:
        s.phase = Phase.DISCARD
    elif s.hand_size[seat] > HAND_LIMIT:
        s.seat = seat  # R4.6
    else:
        _end_turn(s)


@jit
def _end_draw(s):
    reason, left = int(s.reason), int(s.due)
    s.due = 0
    s.optional = 0
    if reason == Reason.START:
        if left > 0 and s.deck_size == 0 and s.shown == 0:
            report(s, NO_DRAW, int(s.turn), left)  # R6.2
        _go(s, Phase.REORDER, False) if s.peeking > 0 else _go(s, Phase.ACTION, True)
    elif reason == Reason.REFUGEES:
        s.plays += 1
        s.reason = Reason.START
        _go(s, Phase.PLAY_NEXT, True)
    else:
        s.reason = Reason.START
        _go(s, Phase.END_TURN, False)


@jit
def _flip(s, seat):
    # R9.7, R9.12: a card with the icon is turned down, or a Hospital instead of it
    stack = int(s.stack)
    if FLIPS[s.card] > 0 and s.state[stack] & FACE_UP > 0:
        if sees(s, seat, HOSPITAL):
            s.seat = seat
            return
        turn_down(s, stack)
    _end_activation(s)


@jit
def _end_turn(s):
    """R12.1, R12.3, R12.4: the next seat is in turn, or the game is over."""
    for kind in range(STONE_TYPES):
        s.placed[kind] = 0
        s.activated[kind] = 0
        s.lit[kind] = 0
    for stack in range(int(s.num_stacks)):
        s.state[stack] &= FACE_UP
    s.exchanged = 0
    s.loans_taken = 0
    s.turns += 1
    if s.ending > 0:
        s.ending -= 1
        if s.ending == 0:
            s.phase = Phase.OVER
            s.over = OVER_RULES
            return
    if s.turns >= s.max_turns:
        s.phase = Phase.OVER
        s.over = OVER_CAP
        return
    s.turn = (int(s.turn) + 1) % int(s.num_players)
    start_turn(s)


# --- score (R13) ------------------------------------------------------------------------------------------------


@jit
def final_poverty(s, seat):
    """R13.3: poverty with a point for each hand card, unless Public Houses spare them."""
    spared = s.public_houses != OFFICIAL and s.pub_activated[seat] > 0 and sees(s, seat, PUBLIC_HOUSES_CARD)
    return int(s.poverty[seat]) + (0 if spared else int(s.hand_size[seat]))


@jit
def penalty(points):
    """R13.8: the VP that so many levelled poverty points cost."""
    if points < len(PENALTY):
        return int(PENALTY[points])
    return int(PENALTY[-1]) + PENALTY_ABOVE * (points + 1 - len(PENALTY))


@jit
def lowest_poverty(s):
    """R13.9: what every player gives back."""
    lowest = final_poverty(s, 0)
    for seat in range(1, int(s.num_players)):
        lowest = min(lowest, final_poverty(s, seat))
    return lowest


@jit
def worth(s, seat):
    """R13.2 to R13.7: the VP of a seat before the poverty penalty."""
    money, loans = int(s.money[seat]), int(s.loans[seat])
    repaid = min(loans, money // REPAY)
    points = (money - repaid * REPAY) // POUNDS_A_POINT - UNPAID * (loans - repaid)
    points += int(s.card_points[seat]) + int(s.counters[seat])
    owned = int(s.owned[seat])
    points += UNDERGROUND_POINTS * count_bits(owned & int(s.underground))
    while owned != 0:
        points += int(BOROUGH_POINTS[lowest_bit(owned)])
        owned &= owned - 1
    return points


@jit
def _ahead(s, points, one, other):
    # R13.10: more VP, then less poverty, then more boroughs, then the better single card
    if points[one] != points[other]:
        return points[one] > points[other]
    poverty = final_poverty(s, one) - final_poverty(s, other)
    if poverty != 0:
        return poverty < 0
    boroughs = count_bits(int(s.owned[one])) - count_bits(int(s.owned[other]))
    if boroughs != 0:
        return boroughs > 0
    return s.best_card[one] > s.best_card[other]


@jit
def score(s, points, places):
    """R13.1: VP as if the game ended now, and ranks; equal ones are shared (R13.11)."""
    lowest = lowest_poverty(s)
    for seat in range(int(s.num_players)):
        points[seat] = worth(s, seat) - penalty(final_poverty(s, seat) - lowest)
    for seat in range(int(s.num_players)):
        places[seat] = 1
        for other in range(int(s.num_players)):
            places[seat] += int(other != seat and _ahead(s, points, other, seat))
