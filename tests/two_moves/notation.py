"""Texts of Two moves: "name 1"; a position is the list of what the seats named."""

from __future__ import annotations

import json
from typing import Any

from tabletop_envs.errors import NotationError
from two_moves.state import Phase
from two_moves.tables import SEATS


def action_text(action: int) -> str:
    """An action in words."""
    return f"name {action}"


def parse_action(text: str) -> int:
    """The action of `action_text`; raises NotationError."""
    for action in range(SEATS):
        if text.strip().lower() == action_text(action):
            return action
    raise NotationError(f"{text!r} names no action: write 'name 0' or 'name 1'")


def event_text(kind: int, seat: int, value: int) -> str:
    """There are no events."""
    raise NotationError("Two moves has no events")


def describe(s: Any, viewer: int) -> dict[str, Any]:
    """What the seats named."""
    return {"named": s.named.tolist()}


def restore(facts: dict[str, Any], s: Any) -> None:
    """The record of the facts, written into s."""
    s.named[:] = facts["named"]
    s.phase = Phase.NAME if s.named[1] < 0 and s.over == 0 else Phase.OVER


def position_text(s: Any, viewer: int) -> str:
    """What the seats named."""
    return json.dumps(s.named.tolist())


def parse_position(text: str, s: Any) -> None:
    """The record of `position_text`, written into s; raises NotationError."""
    try:
        s.named[:] = json.loads(text)
    except (ValueError, TypeError) as error:
        raise NotationError(f"{text!r} is no position: write two seats, as [0, -1]") from error
    s.over = s.named[1] >= 0
    s.seat = -1 if s.over else int(s.named[0] >= 0)
    s.phase = Phase(int(s.over))
