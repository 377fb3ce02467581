"""The greedy baseline of Two moves: names itself."""

from __future__ import annotations

from tabletop_envs.core.jit import jit


@jit
def greedy(s, mask, salt):
    """The own seat."""
    return int(s.seat)
