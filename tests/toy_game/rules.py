"""The rules of Toy in the order of RULES.md."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.header import NOBODY, OVER_RULES, report
from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import below, draw
from toy_game.actions import LEAVE, PASS, PLAY, TAKE
from toy_game.state import DREW, GROWN, SHOWN, SKIPPED, Phase, composition
from toy_game.tables import GROWTH_SIDES, HAND, KINDS, MAX_GROWN, SEATS, TIE_FIRST, VALUE, WITH_REFILL

# kinds of chance
CARD: Final = 0
GROWTH: Final = 1


@jit
def setup(s):
    """R1: heap, deck, two cards each."""
    s.stones = s.heap
    for kind in range(KINDS):
        s.deck[kind] = composition(s, kind)
        s.deck_size += s.deck[kind]
    for seat in range(SEATS):
        s.chosen[seat] = -1
    for seat in range(int(s.num_players)):
        for _ in range(HAND):
            draw_card(s, seat)
    s.phase = Phase.PLAY
    s.seat = NOBODY


@jit
def draw_card(s, seat):
    """A card from the deck into the seat's hand."""
    kind = draw(s, CARD, s.deck)
    s.hands[seat, kind] += 1
    s.sizes[seat] += 1
    s.deck_size -= 1


@jit
def legal(s, mask):
    """The legal actions of the seat to act, and their number."""
    mask[:] = 0
    count = 0
    if s.phase == Phase.PLAY:
        # R2.1: any card in hand, or none
        for kind in range(KINDS):
            if s.hands[s.seat, kind] > 0:
                mask[PLAY + kind] = 1
                count += 1
        mask[PASS] = 1
        return count + 1
    # R2.3: from one stone up to the card's value, at most the heap
    for stones in range(1, min(int(s.limit), int(s.stones)) + 1):
        mask[TAKE + stones - 1] = 1
        count += 1
    # R4.3
    if s.leave > 0:
        mask[LEAVE] = 1
        count += 1
    return count


@jit
def apply(s, action):
    """Execute one decision of the seat to act."""
    assert s.seat != NOBODY, "nobody is asked"
    assert 0 <= action <= LEAVE, "the action is outside the space"
    seat = int(s.seat)
    if s.phase == Phase.PLAY:
        # R2.1
        assert action <= PASS, "a card or a pass is asked (R2.1)"
        if action != PASS:
            kind = action - PLAY
            assert s.hands[seat, kind] > 0, "the seat has no such card (R2.1)"
            s.hands[seat, kind] -= 1
            s.chosen[seat] = kind
        s.committed[seat] = 1
        s.turn += 1
    else:
        # R2.3
        assert action >= TAKE, "a number of stones is asked (R2.3)"
        assert action != LEAVE or s.leave > 0, "stones may not be left (R4.3)"
        stones = action - TAKE + 1 if action != LEAVE else 0
        assert stones <= min(s.limit, s.stones), "so many may not be taken (R2.3)"
        s.stones -= stones
        s.taken[seat] += stones
        s.limit = 0
        s.phase = Phase.DRAW
    s.seat = NOBODY


@jit
def advance(s):
    """A seat is asked or skipped, the cards are shown, a card is drawn, or the round ends."""
    players = int(s.num_players)
    seat = (int(s.starter) + int(s.turn)) % players
    if s.phase == Phase.PLAY:
        if s.turn == players:
            _show(s)
        elif s.sizes[seat] > 0:
            s.seat = seat
        else:
            # R2.1: without cards it is skipped
            report(s, SKIPPED, seat, 0)
            s.turn += 1
    elif s.turn < players:
        # R2.4, R2.5
        grows = s.turn == 0 and s.extras & WITH_REFILL > 0 and s.grown < MAX_GROWN
        if grows and below(s, GROWTH, GROWTH_SIDES) == 0:
            s.stones += 1
            s.grown += 1
            report(s, GROWN, NOBODY, 1)
        if s.deck_size > 0:
            draw_card(s, seat)
            report(s, DREW, seat, 0)
        s.turn += 1
    else:
        _end_round(s)


@jit
def _show(s):
    # R2.2: the highest card wins; equal ones win nothing, or for the first of them
    winner = NOBODY
    best = 0
    for turn in range(int(s.num_players)):
        seat = (int(s.starter) + turn) % int(s.num_players)
        if s.committed[seat] == 0:
            continue
        kind = int(s.chosen[seat])
        value = int(VALUE[kind]) if kind >= 0 else 0
        report(s, SHOWN, seat, value)
        if value > best:
            best = value
            winner = seat
        elif value == best and s.tie != TIE_FIRST:
            winner = NOBODY
        if kind >= 0:
            s.discard[kind] += 1
            s.sizes[seat] -= 1
            s.chosen[seat] = -1
        s.committed[seat] = 0
    s.turn = 0
    s.phase = Phase.DRAW
    if winner != NOBODY and best > 0:
        s.limit = best
        s.phase = Phase.TAKE
        s.seat = winner


@jit
def _end_round(s):
    # R3.1
    cards = 0
    for seat in range(int(s.num_players)):
        cards += int(s.sizes[seat])
    if s.stones == 0 or cards == 0:
        s.phase = Phase.OVER
        s.over = OVER_RULES
        return
    # R1.4
    s.starter = (int(s.starter) + 1) % int(s.num_players)
    s.turn = 0
    s.phase = Phase.PLAY


@jit
def score(s, points, places):
    """R3.2: stones, then cards in hand."""
    for seat in range(int(s.num_players)):
        points[seat] = s.taken[seat]
        places[seat] = 1
        for other in range(int(s.num_players)):
            ahead = int(s.taken[other]) - int(s.taken[seat])
            if ahead > 0 or (ahead == 0 and s.sizes[other] > s.sizes[seat]):
                places[seat] += 1
