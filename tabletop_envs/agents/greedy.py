"""The greedy agent: the game's one-step baseline. The same as the built-in policy of this name, choice by choice."""

from __future__ import annotations

from tabletop_envs.agents.base import GREEDY, View
from tabletop_envs.agents.random import salt_of
from tabletop_envs.core.position import check_key
from tabletop_envs.core.random import SALT_LIMIT


class GreedyAgent:
    """Chooses as the game's `greedy`; its seed breaks ties.

    It asks a determinized copy: a baseline knows only what its seat may know, and so chooses the same there.

    seed: 0 to 2^53 - 1, until `reset` gives another.
    """

    name = GREEDY

    def __init__(self, seed: int = 0) -> None:
        self.seed = check_key(seed)

    def reset(self, seat: int, seed: int) -> None:
        """Begin a game with a seed of its own."""
        self.seed = check_key(seed)

    def choose(self, view: View) -> int:
        """The baseline's action."""
        salt = salt_of(self.seed, view)
        return view.determinized(salt % SALT_LIMIT).greedy_action(salt)
