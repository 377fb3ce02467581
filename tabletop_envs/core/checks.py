"""What a value from outside is, asked in one way everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_whole(value: Any, low: int | None = None, high: int | None = None) -> bool:
    """Whether the value is a whole number, Python's or numpy's but no bool, and not below `low` nor above `high`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and (low is None or value >= low) and (high is None or value <= high)
