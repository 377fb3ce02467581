"""The random agent: uniform over the legal actions. The same as the built-in policy of this name, choice by choice."""

from __future__ import annotations

from typing import Final

from tabletop_envs.agents.base import RANDOM, View
from tabletop_envs.core.position import check_key
from tabletop_envs.core.random import POLICY, derive_key

_WORD_BITS: Final = 32


def salt_of(seed: int, view: View) -> int:
    """The salt of one decision; as in `loops.choose`, one seed serves a whole game."""
    return int(derive_key(seed, POLICY, view.decisions))


class RandomAgent:
    """Chooses among the legal actions with equal chances.

    seed: 0 to 2^53 - 1, until `reset` gives another.
    """

    name = RANDOM

    def __init__(self, seed: int = 0) -> None:
        self.seed = check_key(seed)

    def reset(self, seat: int, seed: int) -> None:
        """Begin a game with a seed of its own."""
        self.seed = check_key(seed)

    def choose(self, view: View) -> int:
        """A legal action."""
        legal = view.legal_actions()
        low = salt_of(self.seed, view) % 2**_WORD_BITS
        return int(legal[(low * len(legal)) >> _WORD_BITS])
