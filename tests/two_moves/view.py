"""Two moves hides nothing."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.jit import jit
from tabletop_envs.core.layout import Block, ObservationLayout
from tabletop_envs.core.random import rekey
from two_moves.tables import SEATS

OBSERVATIONS: Final = ObservationLayout(
    Block("last", (), "1 for seat 1 as observer"),
    Block("named", (1 + SEATS,), "one-hot: seat 0 has named nobody, seat 0, seat 1", "R1"),
)
LAST: Final = OBSERVATIONS.start("last")
NAMED: Final = OBSERVATIONS.start("named")


@jit
def observe(s, seat, out):
    """Who observes, and what seat 0 named."""
    out[:] = 0.0
    out[LAST] = seat
    out[NAMED + 1 + int(s.named[0])] = 1.0


@jit
def determinize(s, seat, salt):
    """Nothing is hidden and nothing is drawn; only the key changes."""
    rekey(s, salt)
