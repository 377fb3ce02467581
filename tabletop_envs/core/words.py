"""Actions read from words, the same way in every game."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Final

from tabletop_envs.errors import NotationError


class ActionReader:
    """What a game's notation needs to be its `parse_action`: called with a text, it returns the action.

    title: of the game; action_text: the words of an action; num_actions: with every option; examples: a few texts,
    for who has written none.
    """

    def __init__(self, title: str, action_text: Callable[[int], str], num_actions: int, examples: str) -> None:
        self._complaint: Final = f"is no action of {title}: write {examples}"
        self._actions: Final = {action_text(action).lower(): action for action in range(num_actions)}

    def __call__(self, text: str) -> int:
        """The action that a text names, whatever its case and blanks; raises NotationError with the nearest guess."""
        words = " ".join(text.lower().split())
        if words in self._actions:
            return self._actions[words]
        near = difflib.get_close_matches(words, self._actions, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise NotationError(f"{text!r} {self._complaint}{hint}")
