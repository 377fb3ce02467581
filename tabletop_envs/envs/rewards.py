"""What the seats are paid when a game ends, from its points and places. Knows no environment and no single game.

| reward | pays a seat |
| --- | --- |
| `win` | (n w - 1) / (n - 1), with w = 1/k for each of the k seats that share the first place, else 0 |
| `rank` | 1 for the first place down to -1 for the last, linear; tied seats take the mean of those they span |
| `score` | own points minus the mean of the others', divided by the game's `score_scale`, clipped to -1..1 |
| `margin` | m / (1 + abs(m)), m being the same before it is clipped: however far behind, less is worth something |

n is the number of seats. A mapping mixes them: `{"win": 0.5, "score": 0.5}`. `win` and `rank` sum to zero over the
seats; `score` and `margin` do so with two seats, `score` else where nothing is clipped. All lie in -1..1, and so do
their mixes.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from tabletop_envs.core.spec import GameSpec
from tabletop_envs.errors import OptionError

DEFAULT_REWARD: Final = "win"
_TOLERANCE: Final = 1e-9  # how far the weights of a mix may be from 1, for sums of decimal fractions


def win_reward(points: np.ndarray, places: np.ndarray, score_scale: int) -> np.ndarray:
    """`win` of the table above."""
    first = places == 1
    share = first / first.sum(axis=-1, keepdims=True)
    seats = places.shape[-1]
    return np.asarray((seats * share - 1.0) / (seats - 1))


def rank_reward(points: np.ndarray, places: np.ndarray, score_scale: int) -> np.ndarray:
    """`rank` of the table above."""
    one, other = places[..., :, None], places[..., None, :]
    # seats ahead minus seats behind is twice the distance of the mean place from the middle one
    ahead = (other < one).sum(axis=-1)
    behind = (other > one).sum(axis=-1)
    return np.asarray((behind - ahead) / (places.shape[-1] - 1))


def score_reward(points: np.ndarray, places: np.ndarray, score_scale: int) -> np.ndarray:
    """`score` of the table above."""
    return np.asarray(np.clip(_margins(points, score_scale), -1.0, 1.0))


def margin_reward(points: np.ndarray, places: np.ndarray, score_scale: int) -> np.ndarray:
    """`margin` of the table above."""
    margins = _margins(points, score_scale)
    return np.asarray(margins / (1.0 + np.abs(margins)))


def _margins(points: np.ndarray, score_scale: int) -> np.ndarray:
    own = points.astype(np.float64)
    others = (own.sum(axis=-1, keepdims=True) - own) / (own.shape[-1] - 1)
    return np.asarray((own - others) / score_scale)


REWARDS: Final[Mapping[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]]] = {
    "win": win_reward,
    "rank": rank_reward,
    "score": score_reward,
    "margin": margin_reward,
}
EARNED: Final = ("score", "margin")
"""Rewards that depend on points alone, so that they can be paid as the points come."""


class Reward:
    """A user's choice of reward for one game.

    reward: a name, or a mapping of names to positive weights that sum to 1. Raises OptionError for anything else.
    """

    def __init__(self, reward: str | Mapping[str, float], spec: GameSpec) -> None:
        if isinstance(reward, str):
            reward = {reward: 1.0}
        if not isinstance(reward, Mapping) or not reward:
            raise OptionError(
                f"reward={reward!r} is not possible: give one of {_names()}, or a mapping of them to weights"
            )
        for name, weight in reward.items():
            _check_name(name)
            _check_weight(name, weight)
        total = math.fsum(reward.values())
        if abs(total - 1.0) > _TOLERANCE:
            scaled = {name: round(weight / total, 4) for name, weight in reward.items()}
            raise OptionError(f"the weights of reward={dict(reward)!r} sum to {total:g}, not 1: try {scaled!r}")
        self.weights: dict[str, float] = {name: float(weight) for name, weight in reward.items()}
        self.score_scale = spec.score_scale

    def __call__(self, points: np.ndarray, places: np.ndarray) -> np.ndarray:
        """The rewards of every seat, float64, of one game (n,) or of many (..., n).

        points, places: integers of that shape, a column a seat, as `Game.functions["score"]` writes them.
        """
        paid = [weight * REWARDS[name](points, places, self.score_scale) for name, weight in self.weights.items()]
        return paid[0] if len(paid) == 1 else np.asarray(sum(paid))

    def __repr__(self) -> str:
        return f"<Reward {self.weights}>"


def _names() -> str:
    return ", ".join(map(repr, REWARDS))


def _check_name(name: Any) -> None:
    if name not in REWARDS:
        near = difflib.get_close_matches(name, REWARDS, 1) if isinstance(name, str) else []
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise OptionError(f"there is no reward {name!r}: there are {_names()}{hint}")


def _check_weight(name: str, weight: Any) -> None:
    number = isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool)
    if not number or not math.isfinite(weight) or weight <= 0:
        raise OptionError(f"the weight {weight!r} of reward {name!r} is not possible: give a positive number")
