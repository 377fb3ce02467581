"""Doors for Python to what compiled code alone can call."""

from __future__ import annotations

from tabletop_envs.core.bits import count_bits, highest_bit, lowest_bit
from tabletop_envs.core.jit import jit


@jit
def lowest(word):
    """`lowest_bit`."""
    return lowest_bit(word)


@jit
def highest(word):
    """`highest_bit`."""
    return highest_bit(word)


@jit
def count(word):
    """`count_bits`."""
    return count_bits(word)
