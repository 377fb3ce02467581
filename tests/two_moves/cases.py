"""Worked cases of Two moves: the set-up is the fresh game, entries are action texts, the winner is expected."""

from __future__ import annotations

from typing import Any

from tabletop_envs.core.position import Position
from two_moves.notation import parse_action
from two_moves.rules import setup
from two_moves.tables import SEATS


def is_manual(case: dict[str, Any]) -> bool:
    """No case is."""
    return False


def settings(case: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Number of players and options."""
    return SEATS, {}


def arrange(case: dict[str, Any], s: Any) -> None:
    """The fresh game."""
    setup(s)


def entry_action(entry: str, s: Any) -> int:
    """The action of an entry."""
    return parse_action(entry)


def differences(expected: dict[str, Any], position: Position) -> list[str]:
    """What does not hold, a line each."""
    winner = position.places().index(1)
    return [] if expected == {"winner": winner} else [f"expected {expected!r}, seat {winner} wins"]
