"""What a seat may know of Toy: its own cards, the public counts; the observation and `determinize`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tabletop_envs.core.jit import jit
from tabletop_envs.core.layout import Block, ObservationLayout
from tabletop_envs.core.random import below, draw, rekey
from toy_game.state import MAX_VALUE
from toy_game.tables import KINDS, MAX_CARDS, MAX_HEAP, SEATS

OBSERVATIONS: Final = ObservationLayout(
    Block("hand", (KINDS,), "own ones, twos, threes, fours, /4, at most 1", "R1.3"),
    Block("chosen", (KINDS,), "one-hot: own card face down", "R2.1"),
    Block("sizes", (SEATS,), "cards held by self, then in seat order, /4, at most 1", "R1.3"),
    Block("committed", (SEATS,), "1 for a seat that has played or passed, self first", "R2.1"),
    Block("taken", (SEATS,), "stones taken, self first, /30, at most 1", "R2.3"),
    Block("stones", (), "stones in the heap, /30, at most 1", "R1.1"),
    Block("deck", (), "cards in the deck, /41", "R1.2"),
    Block("limit", (), "value of the card that won, /4", "R2.3"),
    Block("starter", (SEATS,), "one-hot: who started the round, self first", "R1.4"),
    Block("to_act", (SEATS,), "one-hot: who is to act, self first; all 0 when over"),
    Block("players", (SEATS,), "one-hot: how many seats there are"),
    Block("discard", (KINDS,), "ones, twos, threes, fours shown so far, /41", "R4.2", option="memory"),
)
HAND_SCALE: Final = 4
REDEAL: Final = 2  # kind of chance

_START: Final = OBSERVATIONS.start
_HAND, _CHOSEN, _SIZES, _COMMITTED = _START("hand"), _START("chosen"), _START("sizes"), _START("committed")
_TAKEN, _STONES, _DECK, _LIMIT = _START("taken"), _START("stones"), _START("deck"), _START("limit")
_STARTER, _TO_ACT, _PLAYERS, _DISCARD = _START("starter"), _START("to_act"), _START("players"), _START("discard")


@jit
def observe(s, seat, out):
    """The table from the observer's side."""
    out[:] = 0.0
    players = int(s.num_players)
    for kind in range(KINDS):
        out[_HAND + kind] = min(1.0, s.hands[seat, kind] / HAND_SCALE)
    if s.chosen[seat] >= 0:
        out[_CHOSEN + int(s.chosen[seat])] = 1.0
    for relative in range(players):
        other = (seat + relative) % players
        out[_SIZES + relative] = min(1.0, s.sizes[other] / HAND_SCALE)
        out[_COMMITTED + relative] = s.committed[other]
        out[_TAKEN + relative] = min(1.0, s.taken[other] / MAX_HEAP)
        out[_STARTER + relative] = s.starter == other
        out[_TO_ACT + relative] = s.seat == other
    out[_STONES] = min(1.0, s.stones / MAX_HEAP)
    out[_DECK] = s.deck_size / MAX_CARDS
    out[_LIMIT] = s.limit / MAX_VALUE
    out[_PLAYERS + players - 1] = 1.0
    if s.memory > 0:
        for kind in range(KINDS):
            out[_DISCARD + kind] = s.discard[kind] / MAX_CARDS


@jit
def determinize(s, seat, salt):
    """Deal the deck and the others' cards anew; who has played may have played any card or passed."""
    rekey(s, salt)
    pool = np.zeros(KINDS, dtype=np.int64)
    for kind in range(KINDS):
        pool[kind] = s.deck[kind]
        for other in range(int(s.num_players)):
            if other != seat:
                pool[kind] += int(s.hands[other, kind]) + int(s.chosen[other] == kind)
                s.hands[other, kind] = 0
    for other in range(int(s.num_players)):
        if other == seat:
            continue
        for _ in range(int(s.sizes[other])):
            s.hands[other, draw(s, REDEAL, pool)] += 1
        s.chosen[other] = -1
        if s.committed[other] > 0 and below(s, REDEAL, 2) == 0:
            s.chosen[other] = draw(s, REDEAL, s.hands[other])
    for kind in range(KINDS):
        s.deck[kind] = pool[kind]
