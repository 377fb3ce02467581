"""The batch as a Stable-Baselines3 VecEnv in which one seat of each game learns; works with MaskablePPO.

A step of the learner lasts from one decision of its seat to the next decision of its seat. Whatever the others do
in between belongs to that step, and so do all rewards that the seat receives meanwhile; the episode ends when the
game ends, whoever moved last. So the loser gets its -1, and no seat bootstraps from another seat's value.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import gymnasium
import numpy as np

from tabletop_envs.agents.base import BUILT_IN, RANDOM, Opponent, policy_name
from tabletop_envs.core.game import Game
from tabletop_envs.core.header import KEY_LIMIT, OVER_CAP
from tabletop_envs.core.layout import ObservationLayout
from tabletop_envs.core.position import check_key
from tabletop_envs.core.random import EPISODE, OPPONENTS, derive_key
from tabletop_envs.envs.rewards import REWARDS, Reward
from tabletop_envs.envs.vector import MAX_DEALS, Batch, Seating
from tabletop_envs.errors import MissingExtraError, OptionError, OrderError, UnknownAgentError

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:  # pragma: no cover - depends on the installation
    raise MissingExtraError("stable-baselines3 is not installed: pip install 'tabletop-envs[train]'") from error

ROTATE: Final = "rotate"
LEARNER: Final = "learner"


class OpponentPool:
    """Whom the learner meets: members with weights; each seat of each new game draws one.

    Members are names of built-in policies (`random`, `greedy`) or batch policies. Members may be added, removed
    and weighed anew between steps; games in progress keep the opponents that they began with.
    """

    def __init__(self, members: Opponent | Mapping[str, float] | Sequence[tuple[Opponent, float]] = RANDOM) -> None:
        self.members: list[tuple[Opponent, float]] = []
        if isinstance(members, Mapping):
            self.replace(list(members.items()))
        elif isinstance(members, Sequence) and not isinstance(members, str):
            self.replace(members)
        else:
            self.replace([(members, 1.0)])

    def replace(self, members: Sequence[tuple[Opponent, float]]) -> None:
        """Set all members at once. Raises UnknownAgentError for a name and OptionError for impossible weights."""
        for pair in members:
            if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
                raise OptionError(f"{pair!r} is no opponent with a weight: give pairs, as ('random', 1.0)")
            member, weight = pair
            if isinstance(member, str) and member not in BUILT_IN:
                raise UnknownAgentError(f"no built-in policy {member!r}: give one of {', '.join(BUILT_IN)} or a policy")
            number = isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool)
            if not number or not 0 <= weight < math.inf:
                raise OptionError(f"the weight {weight!r} of an opponent is not possible: give a number, 0 or more")
        if not sum(weight for _, weight in members) > 0:
            raise OptionError("the opponents have no weight: give at least one a positive weight")
        self.members = [(member, float(weight)) for member, weight in members if weight > 0]


class SelfPlayVecEnv(VecEnv):
    """N games, one learning seat each, as a VecEnv with `action_masks()`.

    game: id or Game; num_envs: N; opponents: an OpponentPool or what makes one; learner: the learning seat, a
    number or `rotate` (each new game of a row takes the next seat); reward: see `envs.rewards`; as_earned: pay the
    `score` part of the reward as the running points change instead of at the end (the sum over a game is the
    same); append_mask: append the action mask to the observation; seed: 0 to 2^53 - 1; options: of the game.

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
        opponents: OpponentPool | Opponent | Mapping[str, float] | Sequence[tuple[Opponent, float]] = RANDOM,
        learner: int | str = ROTATE,
        reward: str | Mapping[str, float] = "win",
        as_earned: bool = False,
        append_mask: bool = False,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        self.batch = Batch(game, num_envs, num_players, **options)
        self.game = self.batch.game
        self.num_players = self.batch.num_players
        seat = isinstance(learner, (int, np.integer)) and not isinstance(learner, bool)
        if learner != ROTATE and not (seat and 0 <= learner < self.num_players):  # type: ignore[operator]
            raise OptionError(f"learner={learner!r}: give a seat from 0 to {self.num_players - 1} or 'rotate'")
        self.learner = learner
        self.pool = opponents if isinstance(opponents, OpponentPool) else OpponentPool(opponents)
        self.reward = Reward(reward, self.game.spec)
        self.score_weight = self.reward.weights.get("score", 0.0) if as_earned else 0.0
        self.append_mask = append_mask
        self.render_mode = None
        space = self.game.observations.space(self.batch.settings.values)
        if append_mask:
            space = gymnasium.spaces.Box(0.0, 1.0, (space.shape[0] + self.game.num_actions,), np.float32)
        super().__init__(self.batch.num_envs, space, self.game.actions.space())

        count, players = self.num_envs, self.num_players
        self.seating = Seating(self.batch)
        self._names: list[list[str]] = [[""] * players for _ in range(count)]
        self._lengths = np.zeros(count, dtype=np.int64)
        self._paid = np.zeros(count)
        self._actions: np.ndarray | None = None
        self._started = time.time()
        self._rng = np.random.default_rng(None if seed is None else check_key(seed))

    @property
    def observation_layout(self) -> ObservationLayout:
        """The named blocks of the observation (an appended mask stands behind them)."""
        return self.game.observations

    # --- stepping

    def reset(self) -> np.ndarray:
        """Deal every game and play it to the learner's first decision; observations (N, size)."""
        if self._seeds[0] is not None:
            self._rng = np.random.default_rng(check_key(self._seeds[0]))
        self._reset_seeds()
        self._reset_options()
        self.batch.key = int(self._rng.integers(KEY_LIMIT))
        self.batch.episodes[:] = 0
        self._actions = None
        self._deal(self.batch.rows)
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return self._observations(self.batch.rows)

    def step_async(self, actions: np.ndarray) -> None:
        """Note the learner's actions, (N,) whole numbers. Raises IllegalActionError; then no game has changed."""
        self._actions = None
        self._actions = self.batch.check(self.batch.rows, actions)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play on to the learner's next decision in every game: observations, rewards, dones, infos."""
        if self._actions is None:
            raise OrderError("step_async() needs to be called before step_wait")
        batch = self.batch
        batch.step(batch.rows, self._actions)
        self._actions = None
        self._lengths += 1
        self.seating.answer(batch.rows)
        due = self._earned()
        dones = np.zeros(self.num_envs, dtype=bool)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = batch.finished(batch.rows)
        if len(ended):
            self._end(ended, due, infos)
            dones[ended] = True
        rewards = (due - self._paid).astype(np.float32)
        self._paid = due
        if len(ended):
            self._deal(ended)
        return self._observations(batch.rows), rewards, dones, infos

    def _earned(self) -> np.ndarray:
        """What each learner's running points are worth so far; nothing where all is paid at the end."""
        if not self.score_weight:
            return np.zeros(self.num_envs)
        points, places = self.batch.score(self.batch.rows)
        scores = REWARDS["score"](points, places, self.reward.score_scale)
        return np.asarray(self.score_weight * scores[self.batch.rows, self.seating.learners])

    def _end(self, ended: np.ndarray, due: np.ndarray, infos: list[dict[str, Any]]) -> None:
        points, places = self.batch.score(ended)
        final = self.reward(points, places)
        last = self._observations(ended)
        capped = self.batch.states["over"][ended] == OVER_CAP
        elapsed = round(time.time() - self._started, 6)
        for number, row in enumerate(ended.tolist()):
            seat = int(self.seating.learners[row])
            due[row] = final[number, seat]
            infos[row] = {
                "terminal_observation": last[number],
                "TimeLimit.truncated": False,
                "episode": {"r": float(due[row]), "l": int(self._lengths[row]), "t": elapsed},
                "points": points[number].tolist(),
                "places": places[number].tolist(),
                "seat": seat,
                "opponents": list(self._names[row]),
                "capped": bool(capped[number]),
            }

    def _deal(self, rows: np.ndarray) -> None:
        # A game that ends before its learner is asked at all is no episode: it is dealt again.
        for _ in range(MAX_DEALS):
            for row in rows.tolist():
                self._seat_players(row, int(self.batch.episodes[row]))
            self.batch.deal(rows)
            self._lengths[rows] = 0
            self._paid[rows] = 0.0
            self.seating.answer(rows)
            rows = self.batch.finished(rows)
            if not len(rows):
                return
        seat = int(self.seating.learners[rows[0]])
        raise OptionError(
            f"in {MAX_DEALS} deals game {rows[0]} ended before its learner, now seat {seat}, was asked: "
            "change learner or the options"
        )

    def _seat_players(self, row: int, episode: int) -> None:
        self.seating.learners[row] = (row + episode) % self.num_players if self.learner == ROTATE else self.learner
        key = derive_key(self.batch.key, EPISODE, row)
        self.seating.salts[row] = derive_key(key, OPPONENTS, episode)
        weights = np.array([weight for _, weight in self.pool.members])
        drawn = self._rng.choice(len(weights), size=self.num_players, p=weights / weights.sum())
        for seat in range(self.num_players):
            mine = seat == self.seating.learners[row]
            member = RANDOM if mine else self.pool.members[drawn[seat]][0]
            self.seating.assign(row, seat, member)
            self._names[row][seat] = LEARNER if mine else policy_name(member)

    def _observations(self, rows: np.ndarray) -> np.ndarray:
        return self._with_mask(self.batch.observe(rows, self.seating.learners[rows]), self.batch.masks[rows])

    def _with_mask(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return np.concatenate([observations, masks], axis=1, dtype=np.float32) if self.append_mask else observations

    def action_masks(self) -> np.ndarray:
        """The masks of the learner in every game, (N, actions) bool."""
        return self.batch.masks.astype(bool)

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
