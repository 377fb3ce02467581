"""Toy's texts: actions ("play two", "pass", "take 3"), events, and positions as JSON facts or one line of them."""

from __future__ import annotations

import json
from typing import Any

from tabletop_envs.core.game import ALL
from tabletop_envs.errors import NotationError
from toy_game.actions import ACTIONS
from toy_game.state import DREW, GROWN, SHOWN, Phase
from toy_game.tables import CARD_NAMES

_COUNTS = ("stones", "deck_size", "grown", "starter", "turn", "limit")
_LISTS = ("sizes", "committed", "taken", "discard")
_OWNED = ("hands", "chosen")


def action_text(action: int) -> str:
    """An action in words."""
    block, index = ACTIONS.decode(action)
    if block == "play":
        return f"play {CARD_NAMES[index[0]]}"
    return f"take {index[0] + 1}" if block == "take" else block


def parse_action(text: str) -> int:
    """The action of `action_text`; raises NotationError."""
    for action in range(ACTIONS.full_size):
        if action_text(action) == " ".join(text.split()).lower():
            return action
    raise NotationError(f"{text!r} names no action: write 'play two', 'pass' or 'take 3'")


def event_text(kind: int, seat: int, value: int) -> str:
    """An event in words."""
    if kind == SHOWN:
        return f"seat {seat} shows {CARD_NAMES[value - 1]}" if value else f"seat {seat} shows nothing"
    if kind == GROWN:
        return "a stone joins the heap"
    return f"seat {seat} draws a card" if kind == DREW else f"seat {seat} is skipped"


def describe(s: Any, viewer: int) -> dict[str, Any]:
    """The facts that a viewer may know; `deck` for ALL alone."""
    facts: dict[str, Any] = {"phase": Phase(int(s.phase)).name.lower()}
    facts |= {name: int(s[name]) for name in _COUNTS} | {name: s[name].tolist() for name in _LISTS}
    for name in _OWNED:
        rows = s[name].tolist()
        facts[name] = [row if viewer in (ALL, seat) else None for seat, row in enumerate(rows)]
    if viewer == ALL:
        facts["deck"] = s.deck.tolist()
    return facts


def restore(facts: dict[str, Any], s: Any) -> None:
    """The record of the facts for ALL, written into s."""
    s.phase = Phase[facts["phase"].upper()]
    for name in _COUNTS:
        s[name] = facts[name]
    for name in (*_LISTS, *_OWNED, "deck"):
        s[name][:] = facts[name]


def position_text(s: Any, viewer: int) -> str:
    """The facts in one line."""
    facts = {"seat": int(s.seat), "over": int(s.over), **describe(s, viewer)}
    return " ".join(f"{name}={json.dumps(value, separators=(',', ':'))}" for name, value in facts.items())


def parse_position(text: str, s: Any) -> None:
    """The record of `position_text` for ALL, written into s; raises NotationError."""
    try:
        facts = {name: json.loads(value) for name, _, value in (part.partition("=") for part in text.split())}
        s.seat, s.over = facts.pop("seat"), facts.pop("over")
        restore(facts, s)
    except (KeyError, ValueError, TypeError) as error:
        raise NotationError(f"{text!r} is no position: write what position_text gives for ALL") from error
