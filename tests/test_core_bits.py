"""Bit sets against Python's own numbers. Also in plain Python (`nojit`)."""

from __future__ import annotations

import pytest
from compiled.bit_sets import count, highest, lowest

pytestmark = pytest.mark.nojit

WORDS = [0, 1, 2, 3, 6, 40, 2**31, 2**32 + 2**7, 2**45 - 1, 2**61, 2**62 - 1, 0b101101 << 20]


@pytest.mark.parametrize("word", WORDS)
def test_bits(word: int) -> None:
    held = [bit for bit in range(63) if word >> bit & 1]
    assert int(count(word)) == len(held)
    assert int(lowest(word)) == (held[0] if held else 64)
    assert int(highest(word)) == (held[-1] if held else -1)
