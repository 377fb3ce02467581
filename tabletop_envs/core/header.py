"""The fields with which every record begins. Machinery reads and writes these and no others.

| field | legend |
| --- | --- |
| `key` | the key of all chance in the game, 0 to 2^53 - 1 (exact in JSON); key + options + actions = the game |
| `decisions` | decisions that a seat was asked for and made (steps that the machinery took itself do not count) |
| `max_decisions` | the cap: at one decision more the game is over (`OVER_CAP`) and scored as it stands |
| `draws` | running count of chance draws, one count per kind of event |
| `events` | what happened by itself since the last decision, told to all: rows of (kind, seat or -1, value) |
| `num_events` | how many events happened; the first `MAX_EVENTS` are kept |
| `num_players` | seats in play |
| `seat` | the seat to act; `NOBODY` while nobody is asked |
| `phase` | the game's own enumeration |
| `over` | `RUNNING`, `OVER_RULES` (ended by the rules) or `OVER_CAP` (stopped at a cap; scored and paid) |
| `auto_forced` | 1: a decision with one legal option is made by the machinery without asking |
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tabletop_envs.core.jit import jit

NOBODY: Final = -1
RUNNING: Final = 0
OVER_RULES: Final = 1
OVER_CAP: Final = 2

DRAW_KINDS: Final = 8
MAX_EVENTS: Final = 24
KEY_LIMIT: Final = 2**53

HEADER: Final = np.dtype(
    [
        ("key", np.int64),
        ("decisions", np.int32),
        ("max_decisions", np.int32),
        ("draws", np.int32, (DRAW_KINDS,)),
        ("events", np.int16, (MAX_EVENTS, 3)),
        ("num_events", np.int16),
        ("num_players", np.int8),
        ("seat", np.int8),
        ("phase", np.int8),
        ("over", np.int8),
        ("auto_forced", np.int8),
        ("header_pad", np.int8),
    ],
    align=True,
)


@jit
def report(s: Any, kind: int, seat: int, value: int) -> None:
    """Append an event to the log of the step; beyond `MAX_EVENTS` events are counted but not kept."""
    number = int(s.num_events)
    if number < MAX_EVENTS:
        s.events[number, 0] = kind
        s.events[number, 1] = seat
        s.events[number, 2] = value
    s.num_events = number + 1
