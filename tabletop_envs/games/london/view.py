"""What a seat may know of London: the observation, and `determinize`, which deals anew what it cannot know.

Hidden are the other hands, but for cards that were openly taken from the Card Display and have not left the hand
since, and the order of the deck, but for University cards that the seat has seen and that nobody has taken yet.
"""

from __future__ import annotations

from math import comb
from typing import Any, Final

import numpy as np

from tabletop_envs.core.arrays import overwrite
from tabletop_envs.core.bits import count_bits, lowest_bit
from tabletop_envs.core.header import NOBODY, RUNNING
from tabletop_envs.core.jit import jit
from tabletop_envs.core.layout import Block, ObservationLayout
from tabletop_envs.core.random import below, draw, rekey, shuffle
from tabletop_envs.games.london.rules import choosable, exchange_available, order_matters
from tabletop_envs.games.london.state import EMPTY, Phase, in_place, sees
from tabletop_envs.games.london.tables import (
    CARDS_IN_ALL,
    COLOUR,
    COLUMNS,
    COPIES,
    COUNTERS,
    FREE_PLAYS,
    LETTER_COPIES,
    LETTER_SIZES,
    LETTERS,
    MAX_POINTS,
    PER_UNDERGROUND,
    PLACES,
    ROWS,
    SEATS,
    SEEN_CARDS,
    SHOPS,
    SPACES,
    STOCK_EXCHANGE,
    STONE_TYPES,
    TYPE_BIT,
    TYPES,
    WORD,
)

# --- the layout -------------------------------------------------------------------------------------------------

# what numbers without a limit are divided by; above 1 they are clipped
MONEY_SCALE: Final = 60
LOANS_SCALE: Final = 10
POVERTY_SCALE: Final = 40
POINTS_SCALE: Final = 60
HAND_SCALE: Final = 16
STACKS_SCALE: Final = 20
SHOPS_SCALE: Final = 10
COUNT_SCALE: Final = 10
DRAW_SCALE: Final = 5

_NODES: Final = len(Phase) - 1  # all but OVER
_FACTS: Final = 15  # numbers of a player
_SEEN_BY: Final = ("self", "second", "third", "fourth")


def _player(number: int) -> tuple[Block, ...]:
    who = ("the observer", "the next seat", "the seat after it", "the last seat")[number]
    name = _SEEN_BY[number]
    facts = (
        f"{who}: money/60, loans/10, poverty/40, VP counters/60, hand/16, stacks/20, face-down tops/20, boroughs/11, "
        "printed VP/60, highest card VP/7, Public Houses ever activated, in turn, start player, money on Shops/10, "
        "most on one Shops/10; at most 1"
    )
    return (
        Block(f"{name}_facts", (_FACTS,), facts, "R2.1, R13"),
        Block(f"{name}_visible", (STONE_TYPES,), f"{who}: visible tops by type, of the copies", "R7.12"),
        Block(f"{name}_built", (STONE_TYPES,), f"{who}: cards in the Building Display, of the copies", "R7.5"),
        Block(f"{name}_boroughs", (PLACES,), f"{who}: owned boroughs", "R10"),
    )


OBSERVATIONS: Final = ObservationLayout(
    Block("players", (SEATS - 1,), "one-hot: 2, 3, 4 players"),
    Block("node", (_NODES,), "one-hot: what is asked, in the order of R15; all 0 when over", "R15"),
    Block("reason", (4,), "one-hot at DRAW: start, borough, take three, refugees", "R6.3"),
    Block(
        "turn",
        (11,),
        "cards due/5, draw optional, free plays/2, plays/10, activations/10, cards expended/10, Underground counters "
        "to place/2, exchange possible, voluntary loans left/allowed, Public Houses in this run, Whitehall at work; "
        "at most 1",
        "R15",
    ),
    Block("card", (TYPES,), "one-hot: the card in progress", "R15"),
    Block("hand", (TYPES,), "own hand by type, of the copies", "R2.3"),
    Block("seen", (SEEN_CARDS, TYPES), "one-hot: the seen University cards left, k-th = peek k", "R6.5"),
    Block("display", (ROWS, COLUMNS, TYPES), "one-hot: Card Display, row 1 first", "R5"),
    Block("discard", (TYPES,), "cards out of the game by type, of the copies", "R5.5"),
    Block("placed", (STONE_TYPES,), "tops that the seat in turn placed in this turn, of the copies", "R7.6"),
    Block("activated", (STONE_TYPES,), "tops that it activated in this run, face up or down, of the copies", "R9.2"),
    Block("open", (PLACES,), "boroughs that may be bought next", "R10.2"),
    Block("underground", (PLACES,), "boroughs with an Underground counter", "R9.14"),
    Block("deck", (4,), "cards left of A/25, B/50, C/35, all/110", "R2.2"),
    Block("end", (3,), "end phase on, turns still to play/4, turns completed/max_turns", "R12"),
    *(block for number in range(SEATS) for block in _player(number)),
)

_START: Final = OBSERVATIONS.start
_PLAYERS, _NODE, _REASON, _TURN = _START("players"), _START("node"), _START("reason"), _START("turn")
_CARD, _HAND, _SEEN, _DISPLAY = _START("card"), _START("hand"), _START("seen"), _START("display")
_DISCARD, _PLACED, _ACTIVATED = _START("discard"), _START("placed"), _START("activated")
_OPEN, _UNDERGROUND, _DECK, _END = _START("open"), _START("underground"), _START("deck"), _START("end")
_SELF: Final = _START("self_facts")
_PLAYER_SIZE: Final = _START("second_facts") - _SELF
_VISIBLE: Final = _START("self_visible") - _SELF  # within a player's numbers
_BUILT: Final = _START("self_built") - _SELF
_BOROUGHS: Final = _START("self_boroughs") - _SELF

# [type] -> 1 / copies
_SHARE: Final = (1.0 / COPIES).astype(np.float32)
_SHARE.flags.writeable = False


# --- the observation --------------------------------------------------------------------------------------------


@jit
def observe(s, seat, out):
    """The table from the observer's side; the turn that runs is public, hand and seen cards are its own."""
    out[:] = 0.0
    out[_PLAYERS + int(s.num_players) - 2] = 1.0
    _write_turn(s, out)
    low, high = s.hand_set[seat, 0], s.hand_set[seat, 1]
    while low != 0:
        kind = lowest_bit(low)
        out[_HAND + kind] = s.hands[seat, kind] * _SHARE[kind]
        low &= low - 1
    while high != 0:
        kind = WORD + lowest_bit(high)
        out[_HAND + kind] = s.hands[seat, kind] * _SHARE[kind]
        high &= high - 1
    if s.seat == seat and s.peeking > 0:
        for place in range(int(s.put_back), int(s.num_seen)):
            out[_SEEN + TYPES * (place - int(s.put_back)) + int(s.seen[seat, place])] = 1.0
    for space in range(SPACES):
        if s.display[space] != EMPTY:
            out[_DISPLAY + TYPES * space + int(s.display[space])] = 1.0
    for kind in range(TYPES):
        out[_DISCARD + kind] = s.discard[kind] * _SHARE[kind]
    _write_places(out, _OPEN, int(s.open))
    _write_places(out, _UNDERGROUND, int(s.underground))
    _write_end(s, out)
    for relative in range(int(s.num_players)):
        other = (seat + relative) % int(s.num_players)
        _write_player(s, other, out, _SELF + _PLAYER_SIZE * relative)


@jit
def _write_turn(s, out):
    if s.over == RUNNING:
        out[_NODE + int(s.phase)] = 1.0
        if s.phase == Phase.DRAW:
            out[_REASON + int(s.reason)] = 1.0
    out[_TURN] = min(1.0, s.due / DRAW_SCALE)
    out[_TURN + 1] = s.optional
    out[_TURN + 2] = s.free / FREE_PLAYS
    out[_TURN + 3] = min(1.0, s.plays / COUNT_SCALE)
    out[_TURN + 4] = min(1.0, s.activations / COUNT_SCALE)
    out[_TURN + 5] = min(1.0, s.expended / COUNT_SCALE)
    out[_TURN + 6] = s.tubes / PER_UNDERGROUND
    out[_TURN + 7] = 1.0 if s.exchanged == 0 and sees(s, int(s.turn), STOCK_EXCHANGE) else 0.0
    if s.max_voluntary_loans_per_turn > 0:
        out[_TURN + 8] = (s.max_voluntary_loans_per_turn - s.loans_taken) / s.max_voluntary_loans_per_turn
    out[_TURN + 9] = s.pub_run
    out[_TURN + 10] = 1.0 if s.whitehall != EMPTY else 0.0
    if s.card != EMPTY:
        out[_CARD + int(s.card)] = 1.0
    if s.plays > 0 or s.phase >= Phase.ACTIVATE:
        for kind in range(STONE_TYPES):
            out[_PLACED + kind] = s.placed[kind] * _SHARE[kind]
            out[_ACTIVATED + kind] = s.activated[kind] * _SHARE[kind]


@jit
def _write_places(out, offset, places):
    while places != 0:
        out[offset + lowest_bit(places)] = 1.0
        places &= places - 1


@jit
def _write_end(s, out):
    left = int(s.deck_size)
    for letter in range(len(LETTERS) - 1, -1, -1):
        size = min(left, int(LETTER_SIZES[letter]))
        out[_DECK + letter] = size / LETTER_SIZES[letter]
        left -= size
    out[_DECK + len(LETTERS)] = s.deck_size / CARDS_IN_ALL
    out[_END] = 1.0 if s.deck_size == 0 else 0.0  # R12.1
    out[_END + 1] = s.ending / SEATS
    out[_END + 2] = min(1.0, s.turns / s.max_turns)


@jit
def _write_player(s, seat, out, offset):
    out[offset] = min(1.0, s.money[seat] / MONEY_SCALE)
    out[offset + 1] = min(1.0, s.loans[seat] / LOANS_SCALE)
    out[offset + 2] = min(1.0, s.poverty[seat] / POVERTY_SCALE)
    out[offset + 3] = min(1.0, s.counters[seat] / POINTS_SCALE)
    out[offset + 4] = min(1.0, s.hand_size[seat] / HAND_SCALE)
    out[offset + 5] = min(1.0, s.stacks[seat] / STACKS_SCALE)
    out[offset + 6] = min(1.0, s.face_down[seat] / STACKS_SCALE)
    out[offset + 7] = count_bits(int(s.owned[seat])) / COUNTERS
    out[offset + 8] = min(1.0, s.card_points[seat] / POINTS_SCALE)
    out[offset + 9] = s.best_card[seat] / MAX_POINTS
    out[offset + 10] = s.pub_activated[seat]
    out[offset + 11] = 1.0 if s.turn == seat and s.over == RUNNING else 0.0
    out[offset + 12] = 1.0 if s.start == seat else 0.0
    if s.visible[seat, SHOPS] > 0:
        total, most = shops_money(s, seat)
        out[offset + 13] = min(1.0, total / SHOPS_SCALE)
        out[offset + 14] = min(1.0, most / SHOPS_SCALE)
    for kind in range(STONE_TYPES):
        out[offset + _VISIBLE + kind] = s.visible[seat, kind] * _SHARE[kind]
        out[offset + _BUILT + kind] = s.built[seat, kind] * _SHARE[kind]
    _write_places(out, offset + _BOROUGHS, int(s.owned[seat]))


@jit
def shops_money(s, seat):
    """R7.10: the money on all Shops of a seat, and the most on one of them."""
    total, most = 0, 0
    stack = int(s.first_stack[seat])
    while stack != EMPTY:
        total += int(s.pounds[stack])
        most = max(most, int(s.pounds[stack]))
        stack = int(s.next_stack[stack])
    return total, most


# --- determinize ------------------------------------------------------------------------------------------------

REDEAL: Final = 4  # kind of chance
_ATTEMPTS: Final = 100
# what can be chosen there does not depend on the hand
_PUBLIC_NODES: Final = (
    int(Phase.DRAW),
    int(Phase.ACTION),
    int(Phase.TARGET),
    int(Phase.COFFEE_PICK),
    int(Phase.UNDERGROUND),
    int(Phase.OPPONENT),
    int(Phase.FLIP),
    int(Phase.EXCHANGE_TAKE),
    int(Phase.END_TURN),
)
_FINE: Final = 2**31  # steps in which a share of all deals is drawn


def _binomials(size: int) -> np.ndarray:
    table = np.array([[float(comb(n, k)) for k in range(size)] for n in range(size)])
    table.flags.writeable = False
    return table


_BINOMIAL: Final[Any] = _binomials(int(LETTER_SIZES.max()) + 1)


@jit
def determinize(s, seat, salt):
    """Deal anew the deck and the others' hands, as far as the seat cannot know them.

    Every deal of the cards that fits decks A, B and C (R2.2) is as likely as the shuffles make it. That another seat
    is asked proves that it has something to choose (R14.2): a deal in which it has not is dealt again, and should none
    of many fit, that seat keeps its cards.
    """
    rekey(s, salt)
    asked = int(s.seat)
    proof = asked != NOBODY and asked != seat
    hands, deck, seen = s.hands.copy(), s.deck.copy(), s.seen.copy()
    for attempt in range(_ATTEMPTS + 1):
        kept = NOBODY
        if attempt == _ATTEMPTS:
            kept = asked
            overwrite(s.deck, deck)
            for other in range(SEATS):
                overwrite(s.hands[other], hands[other])
                overwrite(s.seen[other], seen[other])
        _deal(s, seat, kept)
        if not proof or _has_choice(s):
            return


@jit
def _has_choice(s):
    # R14.2: a seat is asked only where it has at least two options, or one with `auto_forced` off
    phase, seat = int(s.phase), int(s.seat)
    if phase == Phase.REORDER:
        return order_matters(s)
    if phase in _PUBLIC_NODES:
        return True
    low, high = choosable(s, seat, phase)
    cards = count_bits(low) + count_bits(high)
    started = s.plays if phase == Phase.PLAY_NEXT else s.activations if phase == Phase.ACTIVATE else s.expended
    others = 0
    if started > 0:
        others = 1 + int(phase != Phase.EXPEND and exchange_available(s, seat))
    return cards + others > s.auto_forced and (cards > 0 or phase != Phase.EXPEND)


@jit
def _deal(s, seat, kept):
    """All cards that the seat does not know into the deck and the hands of the seats but `kept`."""
    pool = np.zeros(TYPES, dtype=np.int64)
    missing = np.zeros(SEATS, dtype=np.int64)
    for other in range(int(s.num_players)):
        if other != seat and other != kept:
            for kind in range(TYPES):
                hidden = int(s.hands[other, kind]) - _openly_held(s, other, kind)
                pool[kind] += hidden
                missing[other] += hidden
                s.hands[other, kind] -= hidden
    for place in range(in_place(s)):
        pool[s.deck[place]] += 1
    unknown = in_place(s)
    if s.reader != NOBODY and s.reader != seat and s.reader != kept:
        unknown = int(s.deck_size)
        for place in range(int(s.num_seen)):
            pool[s.seen[s.reader, place]] += 1
    _deal_deck(s, pool, unknown)
    for other in range(int(s.num_players)):
        for _ in range(missing[other]):
            s.hands[other, draw(s, REDEAL, pool)] += 1
        _keep_tables(s, other)


@jit
def _openly_held(s, seat, kind):
    # what all know to be in the hand: cards openly taken, and the card in progress while it is paid for or given
    known = int(s.known[seat, kind])
    in_hand = s.phase == Phase.PAY_CARD or s.phase == Phase.EXCHANGE_TAKE
    if in_hand and seat == s.turn and kind == s.card:
        known = max(known, 1)
    return known


@jit
def _keep_tables(s, seat):
    s.hand_set[seat, 0] = 0
    s.hand_set[seat, 1] = 0
    s.hand_colours[seat, :] = 0
    for kind in range(TYPES):
        if s.hands[seat, kind] > 0:
            s.hand_set[seat, 0] |= TYPE_BIT[kind, 0]
            s.hand_set[seat, 1] |= TYPE_BIT[kind, 1]
            s.hand_colours[seat, COLOUR[kind]] += s.hands[seat, kind]


@jit
def _deal_deck(s, pool, unknown):
    """R2.2: from the bottom up the places of C, of B and of A, from cards of the pool with that letter."""
    items = np.zeros(CARDS_IN_ALL, dtype=np.int64)
    chosen = np.zeros(TYPES, dtype=np.int64)
    first = 0
    for letter in range(len(LETTERS) - 1, -1, -1):
        size = min(int(LETTER_SIZES[letter]), unknown - first)
        if size <= 0:
            return
        chosen[:] = 0
        if size == LETTER_SIZES[letter]:
            for kind in range(TYPES):
                chosen[kind] = min(pool[kind], int(LETTER_COPIES[letter, kind]))
        else:
            _choose(s, pool, letter, size, chosen)
        number = 0
        for kind in range(TYPES):
            pool[kind] -= chosen[kind]
            for _ in range(chosen[kind]):
                items[number] = kind
                number += 1
        shuffle(s, REDEAL, items, number)
        # a seen card that was put back out of the order of the decks leaves a place to a card of another one
        while number < size:
            items[number] = draw(s, REDEAL, pool)
            number += 1
        for place in range(size):
            _put(s, first + place, items[place])
        first += size


@jit
def _put(s, place, kind):
    # a place of the deck, counted from the bottom; the seen cards lie on top
    if place < in_place(s):
        s.deck[place] = kind
    else:
        s.seen[s.reader, int(s.deck_size) - 1 - place] = kind


@jit
def _choose(s, pool, letter, size, chosen):
    """Which cards of the pool are still in a deck that is partly drawn.

    The letter of a type with copies in several decks (Hospital, Shops, Paupers) is not known. How many of each lie in
    this deck is drawn by the number of shuffles behind it; all else is as likely as its copies.
    """
    mixed = np.full(len(LETTERS), -1, dtype=np.int64)
    own = np.zeros(TYPES, dtype=np.int64)
    number, single = 0, 0
    for kind in range(TYPES):
        if LETTER_COPIES[letter, kind] == COPIES[kind]:
            own[kind] = pool[kind]
            single += pool[kind]
        elif LETTER_COPIES[letter, kind] > 0 and pool[kind] > 0:
            mixed[number] = kind
            number += 1
    share, total = -1.0, 0.0
    for _ in range(2):
        total = _weigh(pool, letter, size, single, mixed, share, chosen)
        share = total * below(s, REDEAL, _FINE) / _FINE
    rest = size
    for kind in range(TYPES):
        rest -= chosen[kind]
    for _ in range(min(rest, single)):
        chosen[draw(s, REDEAL, own)] += 1


@jit
def _weigh(pool, letter, size, single, mixed, share, chosen):
    """The weight of all ways to choose mixed types; with a share of it the way that lies there, into `chosen`."""
    total = 0.0
    for a in range(_most(pool, letter, mixed[0]) + 1):
        for b in range(_most(pool, letter, mixed[1]) + 1):
            for c in range(_most(pool, letter, mixed[2]) + 1):
                rest = size - a - b - c
                if 0 <= rest <= single:
                    weight = _ways(pool, letter, mixed[0], a) * _ways(pool, letter, mixed[1], b)
                    total += weight * _ways(pool, letter, mixed[2], c) * _BINOMIAL[single, rest]
                    if 0.0 <= share < total:
                        for kind, cards in ((mixed[0], a), (mixed[1], b), (mixed[2], c)):
                            if kind >= 0:
                                chosen[kind] = cards
                        return total
    return total


@jit
def _most(pool, letter, kind):
    return min(pool[kind], int(LETTER_COPIES[letter, kind])) if kind >= 0 else 0


@jit
def _ways(pool, letter, kind, cards):
    """How many shuffles have so many cards of the type in this deck, and the rest of the pool's among those drawn."""
    if kind < 0:
        return 1.0
    copies = 0  # in this deck and in those above it
    for above in range(letter + 1):
        copies += int(LETTER_COPIES[above, kind])
    if pool[kind] > copies:
        return 0.0
    return _BINOMIAL[int(LETTER_COPIES[letter, kind]), cards] * _BINOMIAL[copies - cards, pool[kind] - cards]
