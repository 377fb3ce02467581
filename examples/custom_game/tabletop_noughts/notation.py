"""Words and JSON for people, files and the command line. Plain Python: nothing here is compiled."""

from __future__ import annotations

from typing import Any

from tabletop_envs.core.header import NOBODY, OVER_RULES, RUNNING
from tabletop_envs.errors import NotationError
from tabletop_noughts.rules import line_maker
from tabletop_noughts.tables import CELL_NAMES, CELLS, MARKS, SEATS, SIDE


def action_text(action: int) -> str:
    """An action in words: the name of its cell, a1 (top left) to c3."""
    return CELL_NAMES[action]


def parse_action(text: str) -> int:
    """The action of `action_text`; raises NotationError."""
    name = text.strip().lower()
    if name not in CELL_NAMES:
        raise NotationError(f"{text!r} names no cell: write one from {CELL_NAMES[0]} to {CELL_NAMES[-1]}")
    return CELL_NAMES.index(name)


def event_text(kind: int, seat: int, value: int) -> str:
    """What happened by itself, in words."""
    return f"seat {seat} has three in line"


def describe(s: Any, viewer: int) -> dict[str, Any]:
    """The facts that a viewer may know (here: everybody all), fit for JSON."""
    return {"board": s.board.tolist()}


def restore(facts: dict[str, Any], s: Any) -> None:
    """The record of the facts for ALL, written into s. The machinery restores what is its own."""
    s.board[:] = facts["board"]


def position_text(s: Any, viewer: int) -> str:
    """The board in three lines, as `x..`."""
    marks = "".join(MARKS[owner] for owner in s.board.tolist())
    return "\n".join(marks[start : start + SIDE] for start in range(0, CELLS, SIDE))


def parse_position(text: str, s: Any) -> None:
    """The record of `position_text`, written into s; raises NotationError."""
    marks = "".join(text.split()).lower()
    if len(marks) != CELLS or not set(marks) <= set(MARKS):
        raise NotationError(f"{text!r} is no position: write {CELLS} of the signs {MARKS!r}")
    s.board[:] = [MARKS.index(mark) for mark in marks]
    count = CELLS - marks.count(MARKS[0])
    s.over = OVER_RULES if count == CELLS or line_maker(s) != NOBODY else RUNNING
    s.seat = NOBODY if s.over else count % SEATS
