"""The check of what decisions give away: whoever watches a game is told the decisions that are not secret."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.game import PUBLIC
from tabletop_envs.core.position import Position
from tabletop_envs.testing.subject import Subject, fail

_TRIED: Final = 8  # actions of a position


def open_decisions(subject: Subject) -> str:
    """What a decision hides from the other seats, its block of the action layout declares by `secret`.

    Two open decisions that leave the public with the same facts have to lead to the same position: else the words of
    the decision would tell what nobody else may know. What lies behind screens changes in the open, by these words.
    """
    layout = subject.game.actions
    secret = [block.name for block in layout.blocks if block.secret]
    if not subject.secrets:
        if secret:
            fail(subject.game.spec.id, f"the actions {secret} are secret, but no field of the record is")
        return "nothing is secret"
    tried = 0
    for position in subject.some_positions():
        legal = [int(action) for action in position.legal_actions() if not layout.is_secret(int(action))]
        seen: dict[str, tuple[int, bytes]] = {}
        for action in legal[:: -(-len(legal) // _TRIED) or 1]:
            public, everything = _facts(subject, position, action)
            other, before = seen.setdefault(public, (action, everything))
            if before != everything:
                texts = f"{position.action_text(other)!r} and {position.action_text(action)!r}"
                fail(position, f"the public cannot tell {texts} apart: declare their blocks with secret=True")
            tried += 1
    return f"{tried} open decisions; secret: {', '.join(secret) or 'none'}"


def _facts(subject: Subject, position: Position, action: int) -> tuple[str, bytes]:
    """What the public is told behind an action, and the whole position but for what lies behind screens."""
    after = position.clone()
    after.apply(action)
    told = after.json_text(PUBLIC)
    for field in subject.secrets:
        if field.screened:
            after.states[field.name] = 0
    return told, after.to_bytes()
