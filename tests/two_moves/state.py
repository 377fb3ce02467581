"""The record of Two moves and its invariants."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np

from tabletop_envs.core.header import NOBODY, RUNNING
from tabletop_envs.core.jit import jit
from tabletop_envs.core.record import Field, record_dtype
from two_moves import GAME
from two_moves.tables import SEATS


class Phase(IntEnum):
    """What is asked."""

    NAME = 0
    OVER = 1


FIELDS: Final = (Field("named", np.int8, (SEATS,), "seat -> the seat that it named, -1 none yet", (-1, SEATS - 1)),)
DTYPE: Final = record_dtype(GAME, FIELDS)
INVARIANTS: Final = {1: "the seats name in their order"}


@jit
def check(s):
    """0, or the code of the broken invariant."""
    if s.over != RUNNING:
        return 0 if s.seat == NOBODY else 1
    expected = 0 if s.named[0] < 0 else 1
    return 0 if s.seat == expected and s.named[1] < 0 else 1
