"""The batch as a Gymnasium VectorEnv in which one seat of each game learns.

What a step of the learner is and who is paid when: see `envs.selfplay`. Finished games are dealt anew in the same
step (`AutoresetMode.SAME_STEP`); what they ended with stands in `final_obs` and `final_info`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from tabletop_envs.agents.base import RANDOM
from tabletop_envs.core.game import Game
from tabletop_envs.core.layout import ActionLayout, ObservationLayout
from tabletop_envs.core.position import END_CAP, END_RULES, Position
from tabletop_envs.envs.rewards import DEFAULT_REWARD
from tabletop_envs.envs.selfplay import ROTATE, Endings, Opponents, SelfPlay
from tabletop_envs.errors import OptionError

VectorStep: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]


class TabletopGymVector(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """N games, one learning seat each, as a Gymnasium VectorEnv with `action_masks()`.

    game: id or Game; num_envs: N; opponents: an OpponentPool or what makes one; learner: the learning seat, a
    number or `rotate` (each new game of a row takes the next seat); reward: see `envs.rewards`; as_earned: pay the
    `score` and `margin` parts of the reward as the running points change; append_mask: append the action mask to the
    observation; options: of the game.

    Infos, as Gymnasium batches them: `action_mask` (N, actions) int8 and `seat` (N,), the learner's, always; for the
    games that ended in this step `final_obs`, and `final_info` with `points`, `places`, `seat`, `opponents`, `end`
    (`rules` or `cap`) and `episode` (return `r`, length `l`). A game at its cap is terminated and truncated: it has
    been scored and paid, and nothing may be bootstrapped past it. All arrays are the caller's own.

    Raises UnknownGameError, OptionError and UnknownAgentError.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}  # noqa: RUF012
    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        num_players: int | None = None,
        *,
        opponents: Opponents = RANDOM,
        learner: int | str = ROTATE,
        reward: str | Mapping[str, float] = DEFAULT_REWARD,
        as_earned: bool = False,
        append_mask: bool = False,
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
        self.batch = self.play.batch
        self.game, self.num_players, self.num_envs = self.play.game, self.play.num_players, self.batch.num_envs
        self.single_observation_space = self.play.observation_space
        self.single_action_space = self.game.actions.space(self.batch.settings.values)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    @property
    def observation_layout(self) -> ObservationLayout:
        """The named blocks of an observation (an appended mask stands behind them)."""
        return self.game.observations

    @property
    def action_layout(self) -> ActionLayout:
        """The named blocks of the action space."""
        return self.game.actions

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal every game and play it to the learner's first decision: observations (N, size), infos.

        seed: begins chance anew; without one it goes on. options: `reset_mask`, (N,) bool, deals only these games
        anew, and not by a seed. Raises OptionError.
        """
        chosen = options.get("reset_mask") if options else None
        if chosen is None:
            super().reset(seed=seed)
            self.play.rng = self.np_random
            self.play.reset()
        else:
            self._deal_some(chosen, seed)
        return self.play.observations(self.batch.rows), self._infos()

    def _deal_some(self, chosen: Any, seed: int | None) -> None:
        fits = isinstance(chosen, np.ndarray) and chosen.shape == (self.num_envs,) and chosen.dtype == bool
        if not fits or seed is not None or not self.batch.episodes.any():
            raise OptionError(
                f"reset_mask={chosen!r} is not possible: give {self.num_envs} bools in an array, without a seed, "
                "after a reset of all games"
            )
        self.play.deal(np.flatnonzero(chosen))

    def step(self, actions: Any) -> VectorStep:
        """Play on to the learner's next decision in every game: observations, rewards (N,) float64, terminations,
        truncations, infos. Raises OrderError, and IllegalActionError; then no game has changed."""
        rewards, endings = self.play.step(self.batch.check(self.batch.rows, actions))
        terminations, truncations = np.zeros((2, self.num_envs), dtype=bool)
        infos = self._infos()
        if endings is not None:
            terminations[endings.rows] = True
            truncations[endings.rows] = endings.capped
            self._tell(endings, infos)
        return self.play.observations(self.batch.rows), rewards, terminations, truncations, infos

    def _infos(self) -> dict[str, Any]:
        present = np.ones(self.num_envs, dtype=bool)
        return {
            "action_mask": self.batch.masks.copy(),
            "_action_mask": present,
            "seat": self.play.seating.learners.copy(),
            "_seat": present.copy(),
        }

    def _tell(self, endings: Endings, infos: dict[str, Any]) -> None:
        for number, row in enumerate(endings.rows.tolist()):
            final = {
                "points": endings.points[number],
                "places": endings.places[number],
                "seat": int(endings.seats[number]),
                "opponents": endings.names[number],
                "end": END_CAP if endings.capped[number] else END_RULES,
                "episode": {"r": float(endings.returns[number]), "l": int(endings.lengths[number])},
            }
            self._add_info(infos, {"final_obs": endings.observations[number], "final_info": final}, row)

    def action_masks(self) -> np.ndarray:
        """The masks of the learner in every game, (N, actions) bool."""
        return self.play.action_masks()

    def position(self, row: int) -> Position:
        """A copy of one game as a Position."""
        return self.batch.position(row)
