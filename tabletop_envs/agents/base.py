"""Who can sit at a table of a batched game: the built-in policies, and anything that answers a batch."""

from __future__ import annotations

from typing import Final, Protocol, TypeAlias

import numpy as np

from tabletop_envs.core.loops import GREEDY_POLICY, RANDOM_POLICY

RANDOM: Final = "random"
GREEDY: Final = "greedy"
BUILT_IN: Final = {RANDOM: RANDOM_POLICY, GREEDY: GREEDY_POLICY}
"""Policies that run compiled, by name: uniform over the legal actions, and the game's one-step baseline."""


class BatchPolicy(Protocol):
    """A policy that answers many positions in one call."""

    name: str

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        """Legal actions, (n,) int64, for n observations (n, size) float32 with masks (n, actions) int8.

        Each observation is from the side of the seat that acts.
        """
        ...


Opponent: TypeAlias = str | BatchPolicy
"""A built-in policy's name, or a batch policy."""


def policy_name(policy: Opponent) -> str:
    """How a policy is called in infos, tables and progress lines."""
    return policy if isinstance(policy, str) else policy.name
