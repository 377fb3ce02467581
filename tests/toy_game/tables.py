"""Toy's cards and sizes as printed; arrays are read-only."""

from __future__ import annotations

from typing import Final

import numpy as np

SEATS: Final = 4
CARD_NAMES: Final = ("one", "two", "three", "four")
KINDS: Final = len(CARD_NAMES)
JOKER: Final = KINDS - 1
HAND: Final = 2  # R1.3
MAX_CARDS: Final = 41  # R1.2: the most that the option allows, and the joker
MAX_HEAP: Final = 30  # R1.1
MAX_GROWN: Final = 60  # R2.4
GROWTH_SIDES: Final = 3  # R2.4: a die, of which one side lets the heap grow

# the bits of the option `extras`
WITH_JOKER: Final = 1
WITH_REFILL: Final = 2
TIE_FIRST: Final = 1  # the option `tie`

# [kind] -> stones that the card may take (R1.2)
VALUE: Final = np.array([1, 2, 3, 4], dtype=np.int64)
VALUE.flags.writeable = False
