"""What counts as a whole number from outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabletop_envs.core.checks import is_whole


@pytest.mark.parametrize("value", [0, 7, -3, np.int8(5), np.uint64(9), 2**60])
def test_whole_numbers(value: Any) -> None:
    assert is_whole(value)
    assert is_whole(value, int(value), int(value))
    assert not is_whole(value, int(value) + 1)
    assert not is_whole(value, None, int(value) - 1)


@pytest.mark.parametrize("value", [True, np.bool_(False), 1.0, np.float32(2), "3", None, [4], float("nan")])
def test_what_is_none(value: Any) -> None:
    assert not is_whole(value)
    assert not is_whole(value, 0, 10)
