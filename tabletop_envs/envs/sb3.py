"""The batch as a Stable-Baselines3 VecEnv in which one seat of each game learns; works with MaskablePPO.

What a step of the learner is and who is paid when: see `envs.selfplay`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from tabletop_envs.agents.base import RANDOM
from tabletop_envs.core.game import Game
from tabletop_envs.core.layout import ObservationLayout
from tabletop_envs.core.position import check_key
from tabletop_envs.envs.rewards import DEFAULT_REWARD
from tabletop_envs.envs.selfplay import LEARNER, ROTATE, Endings, OpponentPool, Opponents, SelfPlay, check_learner
from tabletop_envs.errors import MissingExtraError, OrderError

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:  # pragma: no cover - depends on the installation
    raise MissingExtraError("stable-baselines3 is not installed: pip install 'tabletop-envs[train]'") from error

__all__ = ["LEARNER", "ROTATE", "OpponentPool", "SelfPlayVecEnv"]


class SelfPlayVecEnv(VecEnv):
    """N games, one learning seat each, as a VecEnv with `action_masks()`.

    game: id or Game; num_envs: N; opponents: an OpponentPool or what makes one; learner: the learning seat, a
    number or `rotate` (each new game of a row takes the next seat); reward: see `envs.rewards`; as_earned: pay the
    `score` and `margin` parts of the reward as the running points change instead of at the end (the sum over a
    game is the same); append_mask: append the action mask to the observation; seed: 0 to 2^53 - 1; options: of the
    game.

    Infos at the end of an episode: `terminal_observation`, `episode` (return, length, time), `points`, `places`,
    `seat`, `opponents` (names by seat), `capped`. `TimeLimit.truncated` is always False: a game at its cap has
    been scored and paid, and nothing may be bootstrapped past it.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int,
        num_players: int | None = None,
        *,
        opponents: Opponents = RANDOM,
        learner: int | str = ROTATE,
        reward: str | Mapping[str, float] = DEFAULT_REWARD,
        as_earned: bool = False,
        append_mask: bool = False,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        self.play = SelfPlay(
            game,
            num_envs,
            num_players,
            opponents=opponents,
            learner=learner,
            reward=reward,
            as_earned=as_earned,
            append_mask=append_mask,
            **options,
        )
        self.batch, self.seating = self.play.batch, self.play.seating
        self.game, self.num_players = self.play.game, self.play.num_players
        self.append_mask = append_mask
        self.render_mode = None
        actions = self.game.actions.space(self.batch.settings.values)
        super().__init__(self.batch.num_envs, self.play.observation_space, actions)
        self._actions: np.ndarray | None = None
        self._started = time.time()
        self.play.rng = np.random.default_rng(None if seed is None else check_key(seed))

    @property
    def observation_layout(self) -> ObservationLayout:
        """The named blocks of the observation (an appended mask stands behind them)."""
        return self.game.observations

    @property
    def learner(self) -> int | str:
        """The learning seat, or `rotate`; a new one counts from the next game of each row."""
        return self.play.learner

    @learner.setter
    def learner(self, learner: int | str) -> None:
        self.play.learner = check_learner(learner, self.num_players)

    @property
    def pool(self) -> OpponentPool:
        """Whom the learner meets; a new one counts from the next game of each row."""
        return self.play.pool

    @pool.setter
    def pool(self, pool: OpponentPool) -> None:
        self.play.pool = pool

    # --- stepping

    def reset(self) -> np.ndarray:
        """Deal every game and play it to the learner's first decision; observations (N, size)."""
        if self._seeds[0] is not None:
            self.play.rng = np.random.default_rng(check_key(self._seeds[0]))
        self._reset_seeds()
        self._reset_options()
        self._actions = None
        self.play.reset()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return self.play.observations(self.batch.rows)

    def step_async(self, actions: np.ndarray) -> None:
        """Note the learner's actions, (N,) whole numbers. Raises IllegalActionError; then no game has changed."""
        self._actions = None
        self._actions = self.batch.check(self.batch.rows, actions)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play on to the learner's next decision in every game: observations, rewards, dones, infos."""
        if self._actions is None:
            raise OrderError("step_async() needs to be called before step_wait")
        actions, self._actions = self._actions, None
        rewards, endings = self.play.step(actions)
        dones = np.zeros(self.num_envs, dtype=bool)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if endings is not None:
            dones[endings.rows] = True
            self._tell(endings, infos)
        return self.play.observations(self.batch.rows), rewards.astype(np.float32), dones, infos

    def _tell(self, endings: Endings, infos: list[dict[str, Any]]) -> None:
        elapsed = round(time.time() - self._started, 6)
        for number, row in enumerate(endings.rows.tolist()):
            paid, length = float(endings.returns[number]), int(endings.lengths[number])
            infos[row] = {
                "terminal_observation": endings.observations[number],
                "TimeLimit.truncated": False,
                "episode": {"r": paid, "l": length, "t": elapsed},
                "points": endings.points[number].tolist(),
                "places": endings.places[number].tolist(),
                "seat": int(endings.seats[number]),
                "opponents": endings.names[number],
                "capped": bool(endings.capped[number]),
            }

    def action_masks(self) -> np.ndarray:
        """The masks of the learner in every game, (N, actions) bool."""
        return self.play.action_masks()

    def greedy_actions(self) -> np.ndarray:
        """What the greedy baseline would do in the place of the learner in every game, (N,) int64."""
        return self.play.greedy_actions()

    # --- the rest of the VecEnv interface

    def close(self) -> None:
        """Nothing is held open."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute of the whole environment, once for each game asked for."""
        value = getattr(self, attr_name)
        return [value] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the whole environment (the games have none of their own)."""
        if not hasattr(self, attr_name):
            raise AttributeError(f"{type(self).__name__} has no attribute {attr_name!r}")
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """`action_masks` and `position` per game; other methods do not exist per game."""
        chosen = list(self._get_indices(indices))
        if method_name == "action_masks":
            masks = self.action_masks()
            return [masks[row] for row in chosen]
        if method_name == "position":
            return [self.batch.position(row) for row in chosen]
        raise AttributeError(f"games of a batch have no method {method_name!r}: there are action_masks and position")

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: Any = None
    ) -> list[bool]:
        """No game is wrapped."""
        return [False] * len(list(self._get_indices(indices)))
