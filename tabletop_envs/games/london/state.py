"""The record of London, one field per line, and `check`, its invariants. Knows what lies where, not a turn's rules.

Sets of card types are two words, see `tables.WORD`; sets of boroughs are one, bit b for borough b. Stacks have one
numbering for all seats, in the order in which they were begun. Everything below the line "kept for speed" follows from
the fields above it; `check` proves that it does.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np

from tabletop_envs.core.header import NOBODY, OVER_RULES, RUNNING
from tabletop_envs.core.jit import jit
from tabletop_envs.core.record import HIDDEN, OWNER, Field, record_dtype
from tabletop_envs.games.london import GAME
from tabletop_envs.games.london.tables import (
    ADJACENT,
    ALL_PLACES,
    CARDS_IN_ALL,
    COLOUR,
    COLOURS,
    COLUMNS,
    COPIES,
    COUNTERS,
    FREE_PLAYS,
    HAND_LIMIT,
    MAX_COPIES,
    MAX_POINTS,
    PER_UNDERGROUND,
    PLACES,
    POINTS,
    RED,
    ROWS,
    SEATS,
    SEEN_CARDS,
    SHOPS,
    SPACES,
    SPARE_COLUMNS,
    STONE_CARDS,
    STONE_TYPES,
    TAKE_THREE_CARDS,
    TYPE_BIT,
    TYPES,
    UNDERGROUNDS,
    UNIVERSITY,
    WHITEHALL_CARD,
    WORD,
    WORDS,
)


class Phase(IntEnum):
    """What is asked (R15), in the order of the observation."""

    DRAW = 0
    REORDER = 1
    ACTION = 2
    PLAY_NEXT = 3
    PAY_CARD = 4
    TARGET = 5
    ACTIVATE = 6
    ACT_PAY = 7
    EXPEND = 8
    COFFEE_PICK = 9
    UNDERGROUND = 10
    OPPONENT = 11
    WHITEHALL_TARGET = 12
    FLIP = 13
    EXCHANGE_GIVE = 14
    EXCHANGE_TAKE = 15
    END_TURN = 16
    DISCARD = 17
    OVER = 18


class Reason(IntEnum):
    """Why cards are taken (R6.3)."""

    START = 0
    BOROUGH = 1
    TAKE_THREE = 2
    REFUGEES = 3


# events: (kind, seat, value)
TURN: Final = 1  # a turn begins; value = turns completed before it (R4.1)
LOANS: Final = 2  # loans taken to pay; value = their number (R11.2)
POOR: Final = 3  # poverty points taken, or given back below 0, after a run (R9.9)
NO_DRAW: Final = 4  # nothing to take in the draw step (R6.2)
OVERFLOW: Final = 5  # row 1 of the display left the game; value = its cards (R5.4)
LAST_CARD: Final = 6  # the last deck card was taken (R12.1)

# of a stack's top card
FACE_UP: Final = 1
PLACED: Final = 2  # in this turn (R7.6)
ACTIVATED: Final = 4  # in this run (R9.2)

EMPTY: Final = -1  # no card, no stack
MAX_HAND: Final = CARDS_IN_ALL
MOST: Final = 2**31 - 1  # of money, loans and points, which have no limit (R1.5)
SET_OF_TYPES: Final = 2**WORD - 1

FIELDS: Final = (
    Field("money", np.int32, (SEATS,), "seat -> pounds", (0, MOST)),
    Field("loans", np.int32, (SEATS,), "seat -> loans taken (R11.1)", (0, MOST)),
    Field("poverty", np.int32, (SEATS,), "seat -> poverty points", (0, MOST)),
    Field("counters", np.int32, (SEATS,), "seat -> VP counters", (0, MOST)),
    Field("owned", np.int32, (SEATS,), "seat -> set of its boroughs (R10.1)", (0, ALL_PLACES)),
    Field("pub_activated", np.int8, (SEATS,), "seat -> 1 if it ever activated Public Houses (R9.15)", (0, 1)),
    Field("hands", np.int8, (SEATS, TYPES), "seat, type -> cards in hand", (0, MAX_COPIES), OWNER),
    Field("hand_size", np.int8, (SEATS,), "seat -> cards in hand", (0, MAX_HAND)),
    Field("known", np.int8, (SEATS, TYPES), "seat, type -> of these, openly taken", (0, MAX_COPIES)),
    Field(
        "deck", np.int8, (CARDS_IN_ALL,), "place -> type, from the bottom; EMPTY above the top", (-1, TYPES - 1), HIDDEN
    ),
    Field("deck_size", np.int8, (), "cards of the deck, seen ones included", (0, CARDS_IN_ALL)),
    Field("seen", np.int8, (SEATS, SEEN_CARDS), "seat -> seen top cards, the top first (R6.5)", (-1, TYPES - 1), OWNER),
    Field("num_seen", np.int8, (), "top cards of the deck that were seen and lie in `seen`", (0, SEEN_CARDS)),
    Field("reader", np.int8, (), "the seat that has seen them, -1 without any", (-1, SEATS - 1)),
    Field("display", np.int8, (SPACES,), "space -> type on the Card Display or EMPTY (R5)", (-1, TYPES - 1)),
    Field("discard", np.int8, (TYPES,), "type -> cards out of the game (R5.5)", (0, MAX_COPIES)),
    Field("underground", np.int32, (), "set of boroughs with an Underground counter", (0, ALL_PLACES)),
    # stacks
    Field("num_laid", np.int8, (), "cards placed so far", (0, STONE_CARDS)),
    Field("laid", np.int8, (STONE_CARDS,), "number -> type, in the order of placing", (-1, STONE_TYPES - 1)),
    Field("laid_on", np.int8, (STONE_CARDS,), "number -> stack", (-1, STONE_CARDS - 1)),
    Field("num_stacks", np.int8, (), "stacks of all seats", (0, STONE_CARDS)),
    Field("owner", np.int8, (STONE_CARDS,), "stack -> seat", (-1, SEATS - 1)),
    Field("state", np.int8, (STONE_CARDS,), "stack -> FACE_UP + PLACED + ACTIVATED of its top card", (0, 7)),
    Field("pounds", np.int8, (STONE_CARDS,), "stack -> money on its Shops (R7.10)", (0, STONE_CARDS)),
    # the game
    Field("start", np.int8, (), "the start player (R2.5)", (0, SEATS - 1)),
    Field("turn", np.int8, (), "seat whose turn it is, also while nobody is asked", (0, SEATS - 1)),
    Field("turns", np.int16, (), "turns completed", (0, 480)),
    Field("ending", np.int8, (), "turns still to play with this one, once the last card is taken; else 0", (0, SEATS)),
    # the turn
    Field("reason", np.int8, (), "why cards are taken (Reason)", (0, 3)),
    Field("due", np.int8, (), "cards still to take (R6)", (0, 5)),
    Field("optional", np.int8, (), "1: the draw may stop (R6.4)", (0, 1)),
    Field("peeking", np.int8, (), "1: the draw step goes with the University (R6.5)", (0, 1)),
    Field("put_back", np.int8, (), "seen cards already put back in order (R6.5)", (0, SEEN_CARDS)),
    Field("free", np.int8, (), "plays left without a payment card (R7.9)", (0, FREE_PLAYS)),
    Field("plays", np.int8, (), "plays completed in this action (R7.1)", (0, CARDS_IN_ALL)),
    Field("activations", np.int8, (), "activations completed in this run (R9.1)", (0, STONE_CARDS)),
    Field("expended", np.int8, (), "cards spent by a prison or Workhouse (R9.19)", (0, MAX_HAND)),
    Field("tubes", np.int8, (), "Underground counters to place by this activation (R9.14)", (0, PER_UNDERGROUND)),
    Field("exchanged", np.int8, (), "1: the Stock Exchange was used in this turn (R7.11)", (0, 1)),
    Field("loans_taken", np.int8, (), "voluntary loans of this turn (R11.5)", (0, 10)),
    Field("pub_run", np.int8, (), "1: Public Houses were activated in this run (R9.15)", (0, 1)),
    Field("card", np.int8, (), "type in progress: being placed, activated or given; else EMPTY", (-1, TYPES - 1)),
    Field("stack", np.int8, (), "stack being activated; else EMPTY", (-1, STONE_CARDS - 1)),
    Field("whitehall", np.int8, (), "stack of the Whitehall that is at work; else EMPTY", (-1, STONE_CARDS - 1)),
    Field("back", np.int8, (), "node to which an exchange returns; else 0", (0, int(Phase.END_TURN))),
    # --- kept for speed
    Field("hand_set", np.int64, (SEATS, WORDS), "seat -> set of the types in hand", (0, SET_OF_TYPES), OWNER),
    Field("hand_colours", np.int8, (SEATS, COLOURS), "seat, colour -> cards in hand", (0, MAX_HAND), OWNER),
    Field("shown", np.int8, (), "cards on the Card Display", (0, SPACES)),
    Field("occupied", np.int32, (), "set of boroughs with a building counter", (0, ALL_PLACES)),
    Field("open", np.int32, (), "set of boroughs that R10.2 allows", (0, ALL_PLACES)),
    Field("top", np.int8, (STONE_CARDS,), "stack -> type of its top card", (-1, STONE_TYPES - 1)),
    Field("first_stack", np.int8, (SEATS,), "seat -> its first stack", (-1, STONE_CARDS - 1)),
    Field("last_stack", np.int8, (SEATS,), "seat -> its last stack", (-1, STONE_CARDS - 1)),
    Field("next_stack", np.int8, (STONE_CARDS,), "stack -> the next one of its seat", (-1, STONE_CARDS - 1)),
    Field("stacks", np.int8, (SEATS,), "seat -> stacks", (0, STONE_CARDS)),
    Field("face_down", np.int8, (SEATS,), "seat -> stacks whose top card lies face down", (0, STONE_CARDS)),
    Field("built", np.int8, (SEATS, STONE_TYPES), "seat, type -> cards in the Building Display", (0, MAX_COPIES)),
    Field("visible", np.int8, (SEATS, STONE_TYPES), "seat, type -> visible tops (R7.12)", (0, MAX_COPIES)),
    Field("visible_set", np.int64, (SEATS, WORDS), "seat -> set of the visible types", (0, SET_OF_TYPES)),
    Field("placed", np.int8, (STONE_TYPES,), "type -> tops placed in this turn", (0, MAX_COPIES)),
    Field("activated", np.int8, (STONE_TYPES,), "type -> tops activated in this run, in either state", (0, MAX_COPIES)),
    Field("lit", np.int8, (STONE_TYPES,), "type -> of these, the visible ones", (0, MAX_COPIES)),
    Field("card_points", np.int16, (SEATS,), "seat -> printed VP in the Building Display (R13.6)", (0, 500)),
    Field("best_card", np.int8, (SEATS,), "seat -> highest printed VP of a card there (R13.10)", (0, MAX_POINTS)),
)

DTYPE: Final = record_dtype(GAME, FIELDS)

INVARIANTS: Final = {
    1: "phase, seat, turn and over agree (R14.1)",
    2: "every card is in one place (R1.1)",
    3: "hands: sizes, sets, colours, openly taken cards",
    4: "deck and seen cards fill their places (R2.2, R6.5)",
    5: "the Card Display has the columns of the number of players (R2.4)",
    6: "stacks: owners, tops, states, money (R7.5, R7.10)",
    7: "kept tables of the Building Displays",
    8: "boroughs have one owner, Underground counters an owned borough (R3.2, R9.14)",
    9: "what is in progress belongs to the phase (R15)",
    10: "the end phase follows from the deck (R12)",
    11: "turns and limits (R12.4, R11.5)",
}


@jit
def columns(s):
    """R2.4: how many columns of the Card Display are in use."""
    return int(s.num_players) + SPARE_COLUMNS


@jit
def in_place(s):
    """How many cards lie in the array of the deck: all but the seen ones."""
    return int(s.deck_size) - int(s.num_seen)


@jit
def sees(s, seat, kind):
    """R7.12: whether the seat has such a card visible."""
    return s.visible[seat, kind] > 0


# --- invariants -------------------------------------------------------------------------------------------------


@jit
def check(s):
    """0, or the code of the broken invariant (`INVARIANTS`)."""
    if not _phase_agrees(s):
        return 1
    if not _cards_conserved(s):
        return 2
    if not _hands_agree(s):
        return 3
    if not _deck_agrees(s):
        return 4
    if not _display_agrees(s):
        return 5
    if not _stacks_agree(s):
        return 6
    if not _tables_agree(s):
        return 7
    if not _boroughs_agree(s):
        return 8
    if not _progress_agrees(s):
        return 9
    if (s.deck_size == 0) != (s.ending > 0) and s.phase != Phase.OVER:
        return 10
    if s.turns > s.max_turns or s.loans_taken > s.max_voluntary_loans_per_turn:
        return 11
    return 0


@jit
def _phase_agrees(s):
    over = int(s.phase) == Phase.OVER
    players = int(s.num_players)
    if s.turn >= players or s.start >= players:
        return False
    if s.over == RUNNING:
        return not over and (s.seat == NOBODY or s.seat == s.turn)
    # a cap on decisions may stop the game in any phase, one on turns between two (R12.4)
    return s.seat == NOBODY and (over or s.over != OVER_RULES)


@jit
def _cards_conserved(s):
    cards = np.zeros(TYPES, dtype=np.int64)
    for kind in range(TYPES):
        cards[kind] = s.discard[kind]
        for seat in range(SEATS):
            cards[kind] += s.hands[seat, kind]
    for seat in range(SEATS):
        for place in range(SEEN_CARDS):
            _count(cards, int(s.seen[seat, place]))
    for place in range(CARDS_IN_ALL):
        _count(cards, int(s.deck[place]))
    for space in range(SPACES):
        _count(cards, int(s.display[space]))
    for number in range(STONE_CARDS):
        _count(cards, int(s.laid[number]))
    if s.phase == Phase.TARGET:
        _count(cards, int(s.card))  # it has left the hand
    whole = True
    for kind in range(TYPES):
        whole = whole and cards[kind] == COPIES[kind]
    return whole


@jit
def _count(cards, kind):
    if kind != EMPTY:
        cards[kind] += 1


@jit
def _hands_agree(s):
    for seat in range(SEATS):
        size, low, high = 0, 0, 0
        colours = np.zeros(COLOURS, dtype=np.int64)
        for kind in range(TYPES):
            cards = int(s.hands[seat, kind])
            if cards < s.known[seat, kind] or s.known[seat, kind] < 0:
                return False
            size += cards
            colours[COLOUR[kind]] += cards
            if cards > 0:
                low |= int(TYPE_BIT[kind, 0])
                high |= int(TYPE_BIT[kind, 1])
        for colour in range(COLOURS):
            if colours[colour] != s.hand_colours[seat, colour]:
                return False
        if size != s.hand_size[seat] or (seat >= s.num_players and size > 0):
            return False
        if low != s.hand_set[seat, 0] or high != s.hand_set[seat, 1]:
            return False
    return True


@jit
def _deck_agrees(s):
    if (s.num_seen > 0) != (s.reader != NOBODY) or s.reader >= s.num_players:
        return False
    if s.reader != NOBODY and s.built[s.reader, UNIVERSITY] == 0:
        return False
    for place in range(CARDS_IN_ALL):
        if (s.deck[place] != EMPTY) != (place < in_place(s)):
            return False
    for seat in range(SEATS):
        for place in range(SEEN_CARDS):
            here = seat == s.reader and place < s.num_seen
            if (s.seen[seat, place] != EMPTY) != here:
                return False
    return s.put_back <= s.num_seen


@jit
def _display_agrees(s):
    cards = 0
    for row in range(ROWS):
        for column in range(COLUMNS):
            used = s.display[row * COLUMNS + column] != EMPTY
            if used and column >= columns(s):
                return False
            cards += used
    return cards == s.shown


@jit
def _stacks_agree(s):
    # the tops are those that were placed last; a stack is begun with the next free number
    begun = 0
    tops = np.full(STONE_CARDS, EMPTY, dtype=np.int64)
    for number in range(STONE_CARDS):
        if number >= s.num_laid:
            if s.laid[number] != EMPTY or s.laid_on[number] != EMPTY:
                return False
            continue
        stack = int(s.laid_on[number])
        if s.laid[number] == EMPTY or not 0 <= stack <= begun:
            return False
        begun += stack == begun
        tops[stack] = s.laid[number]
    for stack in range(STONE_CARDS):
        if tops[stack] != s.top[stack]:
            return False
    if begun != s.num_stacks:
        return False
    for stack in range(STONE_CARDS):
        if stack >= s.num_stacks:
            if s.top[stack] != EMPTY or s.owner[stack] != EMPTY or s.state[stack] != 0 or s.pounds[stack] != 0:
                return False
            continue
        if not 0 <= s.owner[stack] < s.num_players:
            return False
        if s.state[stack] > FACE_UP and s.owner[stack] != s.turn:
            return False
        if s.pounds[stack] != 0 and (s.top[stack] != SHOPS or s.state[stack] & FACE_UP == 0):
            return False
    return _links_agree(s)


@jit
def _links_agree(s):
    for seat in range(SEATS):
        met, last = 0, EMPTY
        stack = int(s.first_stack[seat])
        while stack != EMPTY:
            if stack <= last or s.owner[stack] != seat:
                return False
            met += 1
            last = stack
            stack = int(s.next_stack[stack])
        if met != s.stacks[seat] or last != s.last_stack[seat]:
            return False
        own = 0
        for stack in range(int(s.num_stacks)):
            own += s.owner[stack] == seat
        if own != met:
            return False
    free = True
    for stack in range(int(s.num_stacks), STONE_CARDS):
        free = free and s.next_stack[stack] == EMPTY
    return free


@jit
def _tables_agree(s):
    built = np.zeros((SEATS, STONE_TYPES), dtype=np.int64)
    visible = np.zeros((SEATS, STONE_TYPES), dtype=np.int64)
    marked = np.zeros((3, STONE_TYPES), dtype=np.int64)
    down = np.zeros(SEATS, dtype=np.int64)
    for number in range(int(s.num_laid)):
        built[s.owner[s.laid_on[number]], s.laid[number]] += 1
    for stack in range(int(s.num_stacks)):
        kind, state, seat = int(s.top[stack]), int(s.state[stack]), int(s.owner[stack])
        visible[seat, kind] += state & FACE_UP > 0
        down[seat] += state & FACE_UP == 0
        marked[0, kind] += state & PLACED > 0
        marked[1, kind] += state & ACTIVATED > 0
        marked[2, kind] += state & (ACTIVATED | FACE_UP) == ACTIVATED | FACE_UP
    for kind in range(STONE_TYPES):
        if marked[0, kind] != s.placed[kind] or marked[1, kind] != s.activated[kind] or marked[2, kind] != s.lit[kind]:
            return False
    for seat in range(SEATS):
        points, best, low, high = 0, 0, 0, 0
        for kind in range(STONE_TYPES):
            if built[seat, kind] != s.built[seat, kind] or visible[seat, kind] != s.visible[seat, kind]:
                return False
            points += built[seat, kind] * int(POINTS[kind])
            best = max(best, int(POINTS[kind])) if built[seat, kind] > 0 else best
            if visible[seat, kind] > 0:
                low |= int(TYPE_BIT[kind, 0])
                high |= int(TYPE_BIT[kind, 1])
        if points != s.card_points[seat] or best != s.best_card[seat] or down[seat] != s.face_down[seat]:
            return False
        if low != s.visible_set[seat, 0] or high != s.visible_set[seat, 1]:
            return False
    return True


@jit
def _boroughs_agree(s):
    occupied, counters = 0, 0
    for seat in range(SEATS):
        owned = int(s.owned[seat])
        if owned & occupied != 0 or (seat >= s.num_players and owned != 0):
            return False
        occupied |= owned
        own = 0
        for place in range(PLACES):
            own += (owned >> place) & 1
        if own > COUNTERS:
            return False
    beside = 0
    for place in range(PLACES):
        if (occupied >> place) & 1:
            beside |= int(ADJACENT[place])
        counters += (int(s.underground) >> place) & 1
    if occupied != s.occupied or s.underground & ~occupied != 0 or counters > UNDERGROUNDS:
        return False
    return int(s.open) == (beside & ~occupied if occupied != 0 else RED)


@jit
def _progress_agrees(s):
    phase = int(s.phase)
    if phase == Phase.OVER:
        return s.card == EMPTY and s.stack == EMPTY and s.whitehall == EMPTY
    placing = phase == Phase.PAY_CARD or phase == Phase.TARGET
    running = Phase.ACT_PAY <= phase <= Phase.FLIP
    if (s.card != EMPTY) != (placing or running or phase == Phase.EXCHANGE_TAKE):
        return False
    if (s.stack != EMPTY) != running or (s.whitehall != EMPTY and not running):
        return False
    if running and (s.owner[s.stack] != s.turn or s.top[s.stack] != s.card or s.state[s.stack] & ACTIVATED == 0):
        return False
    if s.whitehall != EMPTY and (s.owner[s.whitehall] != s.turn or s.top[s.whitehall] != WHITEHALL_CARD):
        return False
    # what is placed or given is still in hand while it is paid for (R15)
    in_hand = phase == Phase.PAY_CARD or phase == Phase.EXCHANGE_TAKE
    if in_hand and s.hands[s.turn, s.card] == 0:
        return False
    if phase != Phase.DRAW and (s.due != 0 or s.optional != 0):
        return False
    if phase == Phase.DRAW and s.reason != Reason.START and s.due > max(TAKE_THREE_CARDS, 5):
        return False
    if s.peeking > 0 and (phase > Phase.REORDER or s.reason != Reason.START):
        return False
    if phase != Phase.REORDER and s.put_back != 0:
        return False
    exchanging = phase == Phase.EXCHANGE_GIVE or phase == Phase.EXCHANGE_TAKE
    if (s.back != 0) != exchanging or (exchanging and s.exchanged != 0):
        return False
    if s.tubes > 0 and phase != Phase.UNDERGROUND:
        return False
    if s.expended > 0 and phase != Phase.EXPEND:
        return False
    return phase != Phase.DISCARD or s.seat == NOBODY or s.hand_size[s.turn] > HAND_LIMIT
