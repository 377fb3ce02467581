"""The record: everything that a position is, and what always holds of it. Knows no rules.

The machinery's own fields (seat to act, phase, over, key, …) and one for each option come by themselves
(`tabletop_envs.core.header`); `FIELDS` declares the game's own, with the range that the conformance suite watches over.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np

from tabletop_envs.core.header import NOBODY
from tabletop_envs.core.jit import jit
from tabletop_envs.core.record import Field, record_dtype
from tabletop_noughts import GAME
from tabletop_noughts.tables import CELLS, SEATS


class Phase(IntEnum):
    """What is asked. Most games have several."""

    MARK = 0


FIELDS: Final = (Field("board", np.int8, (CELLS,), "cell -> 0 free, 1 + seat whose mark stands there", (0, SEATS)),)
DTYPE: Final = record_dtype(GAME, FIELDS)

INVARIANTS: Final = {
    1: "crosses have as many marks as noughts, or one more (R2)",
    2: "the seat to act is the one with fewer marks, or crosses (R2)",
}


@jit
def check(s):
    """0, or the code of the broken invariant. Called after every step by the tests, never in play."""
    lead = 0  # of crosses
    for cell in range(CELLS):
        if s.board[cell] > 0:
            lead += 1 if s.board[cell] == 1 else -1
    if not 0 <= lead <= 1:
        return 1
    if s.seat != NOBODY and s.seat != lead:
        return 2
    return 0
