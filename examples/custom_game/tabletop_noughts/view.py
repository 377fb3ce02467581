"""What a seat may know: its observation, and copies in which all that it cannot know is dealt anew."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.jit import jit
from tabletop_envs.core.layout import Block, ObservationLayout
from tabletop_envs.core.random import rekey
from tabletop_noughts.tables import CELLS, SEATS, SIDE

_BOARD: Final = (SIDE, SIDE)

OBSERVATIONS: Final = ObservationLayout(
    Block("marks", (SEATS, *_BOARD), "own, then other marks: 0/1", "R2", _BOARD),
    Block("to_act", (), "1 if the observer is to act", "R2"),
)
MARKS: Final = OBSERVATIONS.start("marks")
TO_ACT: Final = OBSERVATIONS.start("to_act")


@jit
def observe(s, seat, out):
    """Every seat sees the board from its own side: itself first. All values lie in 0..1."""
    out[:] = 0.0
    for cell in range(CELLS):
        if s.board[cell] > 0:
            owner = int(s.board[cell]) - 1
            out[MARKS + CELLS * ((owner - seat) % SEATS) + cell] = 1.0
    out[TO_ACT] = 1.0 if s.seat == seat else 0.0


@jit
def determinize(s, seat, salt):
    """Nothing is hidden, so nothing is dealt anew. All future chance is, even where there is none."""
    rekey(s, salt)
