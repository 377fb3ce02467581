"""The rules of Two moves."""

from __future__ import annotations

from tabletop_envs.core.header import NOBODY, OVER_RULES
from tabletop_envs.core.jit import jit
from two_moves.state import Phase
from two_moves.tables import SEATS


@jit
def setup(s):
    """Seat 0 is to name."""
    for seat in range(SEATS):
        s.named[seat] = -1
    s.seat = 0


@jit
def legal(s, mask):
    """R1, R2: either seat may be named."""
    mask[:] = 1
    return SEATS


@jit
def apply(s, action):
    """R1, R2."""
    assert s.seat != NOBODY, "nobody is asked"
    assert 0 <= action < SEATS, "the action is outside the space"
    s.named[s.seat] = action
    if s.seat == 0:
        s.seat = 1
    else:
        s.seat = NOBODY
        s.phase = Phase.OVER
        s.over = OVER_RULES


@jit
def advance(s):
    """Nothing happens by itself."""
    raise AssertionError("nothing happens by itself")


@jit
def score(s, points, places):
    """R2."""
    for seat in range(SEATS):
        points[seat] = 1 if s.named[1] == seat else 0
        places[seat] = 2 if s.named[1] == 1 - seat else 1
