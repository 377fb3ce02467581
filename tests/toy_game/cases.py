"""Toy's worked cases: the set-up is `describe`'s facts for ALL, entries are texts, expectations are facts."""

from __future__ import annotations

from typing import Any

from tabletop_envs.core.game import ALL
from tabletop_envs.core.position import Position
from toy_game.notation import describe, parse_action, restore


def is_manual(case: dict[str, Any]) -> bool:
    """Whether only a reader can judge the case."""
    return bool(case.get("manual"))


def settings(case: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Number of players and options."""
    return case["players"], case.get("options", {})


def arrange(case: dict[str, Any], s: Any) -> None:
    """Write the set-up into a record with header and options filled."""
    restore(case["setup"], s)
    s.seat = case["seat"]


def entry_action(entry: str, s: Any) -> int:
    """The action of an entry."""
    return parse_action(entry)


def differences(expected: dict[str, Any], position: Position) -> list[str]:
    """What of the expected facts does not hold, a line each."""
    found = describe(position.states[0], ALL) | {"places": position.places(), "events": position.events()}
    wrong = {key: value for key, value in expected.items() if found.get(key) != value}
    return [f"{key}: expected {value!r}, found {found.get(key)!r}" for key, value in wrong.items()]
