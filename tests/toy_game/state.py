"""The record of Toy and its invariants."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np

from tabletop_envs.core.header import NOBODY, RUNNING
from tabletop_envs.core.jit import jit
from tabletop_envs.core.record import HIDDEN, OWNER, Field, record_dtype
from toy_game import GAME
from toy_game.tables import JOKER, KINDS, MAX_CARDS, MAX_GROWN, MAX_HEAP, SEATS, VALUE, WITH_JOKER


class Phase(IntEnum):
    """What is asked; DRAW is automatic."""

    PLAY = 0
    TAKE = 1
    DRAW = 2
    OVER = 3


# events: (kind, seat, value)
SKIPPED: Final = 1  # R2.1
SHOWN: Final = 2  # R2.2, value = the card's, 0 for a pass
GROWN: Final = 3  # R2.4
DREW: Final = 4  # R2.5, the card stays secret

MAX_VALUE: Final = int(VALUE.max())
MAX_STONES: Final = MAX_HEAP + MAX_GROWN

FIELDS: Final = (
    Field("hands", np.int8, (SEATS, KINDS), "seat, kind -> cards in hand", (0, MAX_CARDS), OWNER),
    Field("chosen", np.int8, (SEATS,), "seat -> kind played face down, -1 none", (-1, KINDS - 1), OWNER),
    Field("deck", np.int8, (KINDS,), "kind -> cards in the deck", (0, MAX_CARDS), HIDDEN),
    Field("deck_size", np.int8, (), "cards in the deck", (0, MAX_CARDS)),
    Field("sizes", np.int8, (SEATS,), "seat -> cards in hand and face down", (0, MAX_CARDS)),
    Field("committed", np.int8, (SEATS,), "seat -> 1 when it has played or passed", (0, 1)),
    Field("discard", np.int8, (KINDS,), "kind -> cards shown so far", (0, MAX_CARDS)),
    Field("stones", np.int8, (), "stones in the heap", (0, MAX_STONES)),
    Field("taken", np.int8, (SEATS,), "seat -> stones taken", (0, MAX_STONES)),
    Field("grown", np.int8, (), "stones that joined the heap", (0, MAX_GROWN)),
    Field("starter", np.int8, (), "seat that starts the round", (0, SEATS - 1)),
    Field("turn", np.int8, (), "how many seats from the starter have had their turn in the phase", (0, SEATS)),
    Field("limit", np.int8, (), "value of the card that won, 0 when nobody is to take", (0, MAX_VALUE)),
)

DTYPE: Final = record_dtype(GAME, FIELDS)

INVARIANTS: Final = {
    1: "phase, seat and over agree",
    2: "no card is lost (R1.2)",
    3: "the public sizes are those of the hidden cards (R1.3)",
    4: "no stone is lost (R1.1, R2.4)",
    5: "only a committed seat has a card face down (R2.1)",
}


@jit
def composition(s, kind):
    """R1.2: how many cards of the kind are in the game."""
    if kind < JOKER:
        return int(s.cards[kind])
    return 1 if s.extras & WITH_JOKER > 0 else 0


@jit
def check(s):
    """0, or the code of the broken invariant."""
    if s.over != RUNNING:
        if s.seat != NOBODY:
            return 1
    elif s.phase == Phase.OVER or (s.phase == Phase.DRAW and s.seat != NOBODY):
        return 1
    if s.phase == Phase.PLAY and s.seat != NOBODY:
        asked = (int(s.starter) + int(s.turn)) % int(s.num_players)
        if s.seat != asked or s.turn >= s.num_players or s.sizes[asked] == 0 or s.committed[asked] > 0:
            return 1
    if s.phase == Phase.TAKE and (s.turn != 0 or s.limit == 0 or s.stones == 0):
        return 1
    for kind in range(KINDS):
        cards = int(s.deck[kind]) + int(s.discard[kind])
        for seat in range(SEATS):
            cards += int(s.hands[seat, kind]) + int(s.chosen[seat] == kind)
        if cards != composition(s, kind):
            return 2
    stones = int(s.stones)
    cards = 0
    for kind in range(KINDS):
        cards += int(s.deck[kind])
    if cards != s.deck_size:
        return 3
    for seat in range(SEATS):
        stones += int(s.taken[seat])
        cards = int(s.chosen[seat] >= 0)
        for kind in range(KINDS):
            cards += int(s.hands[seat, kind])
        if cards != s.sizes[seat]:
            return 3
        if s.chosen[seat] >= 0 and s.committed[seat] == 0:
            return 5
    return 0 if stones == int(s.heap) + int(s.grown) else 4
