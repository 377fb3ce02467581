"""Worked cases (`../cases.json`): the set-up and the end are positions as text, entries are action texts."""

from __future__ import annotations

from typing import Any

from tabletop_envs.core.game import ALL
from tabletop_envs.core.position import Position
from tabletop_noughts.notation import parse_action, parse_position
from tabletop_noughts.tables import SEATS


def is_manual(case: dict[str, Any]) -> bool:
    """Whether only a reader can judge the case."""
    return bool(case.get("manual"))


def settings(case: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Number of players and options."""
    return SEATS, case.get("options", {})


def arrange(case: dict[str, Any], s: Any) -> None:
    """Write the set-up into a record with header and options filled."""
    parse_position(case["setup"], s)


def entry_action(entry: str, s: Any) -> int:
    """The action of an entry."""
    return parse_action(entry)


def differences(expected: dict[str, Any], position: Position) -> list[str]:
    """What of the expectations does not hold, a line each; a key that is not known is a difference."""
    found = {
        "board": position.text(ALL).split(),
        "over": position.over,
        "points": position.points(),
        "places": position.places(),
    }
    wrong = {key: value for key, value in expected.items() if found.get(key) != value}
    return [f"{key}: expected {value!r}, found {found.get(key)!r}" for key, value in wrong.items()]
