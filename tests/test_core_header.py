"""The header that every record begins with, and the log of events."""

from __future__ import annotations

import numpy as np
import pytest
from two_moves.state import DTYPE

from tabletop_envs.core.header import HEADER, MAX_EVENTS, report

pytestmark = pytest.mark.nojit


def test_the_header_has_no_holes() -> None:
    assert sum(HEADER[name].itemsize for name in HEADER.names or ()) == HEADER.itemsize


def test_events_are_logged_in_order() -> None:
    s = np.zeros(1, dtype=DTYPE)[0]
    report(s, 3, 1, -20)
    report(s, 4, -1, 300)
    assert s.num_events == 2
    assert s.events[:3].tolist() == [[3, 1, -20], [4, -1, 300], [0, 0, 0]]


def test_events_beyond_the_log_are_counted_but_not_kept() -> None:
    states = np.zeros(2, dtype=DTYPE)
    for number in range(MAX_EVENTS + 5):
        report(states[0], 1, 0, number)
    s = states[0]
    assert s.num_events == MAX_EVENTS + 5
    assert s.events[:, 2].tolist() == list(range(MAX_EVENTS))
    assert not states[1].tobytes().strip(b"\0")  # the neighbour is untouched
