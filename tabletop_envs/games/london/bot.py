"""London's greedy baseline."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import word

TIES: Final = 1


@jit
def greedy(s, mask, salt):
    best = -1
    for a in range(len(mask)):
        if mask[a] > 0 and (best < 0 or word(salt, TIES, a) & 1 > 0):
            best = a
    return best
