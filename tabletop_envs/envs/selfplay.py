"""N games in which one seat learns and a pool of opponents plays the others: what all learner environments share.

A step of the learner lasts from one decision of its seat to the next decision of its seat. Whatever the others do
in between belongs to that step, and so do all rewards that the seat receives meanwhile; the episode ends when the
game ends, whoever moved last. So the loser gets its -1, and no seat bootstraps from another seat's value.

`SelfPlay` knows no learner's library: `envs.sb3` and `envs.gym_vector` dress it in their interfaces.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import gymnasium
import numpy as np

from tabletop_envs.agents import make_agent
from tabletop_envs.agents.base import BUILT_IN, RANDOM, Opponent, PolicyAgent, check_table, policy_name
from tabletop_envs.core import loops
from tabletop_envs.core.checks import is_whole
from tabletop_envs.core.game import Game
from tabletop_envs.core.header import KEY_LIMIT, OVER_CAP
from tabletop_envs.core.random import EPISODE, OPPONENTS, derive_key
from tabletop_envs.core.spec import Settings
from tabletop_envs.envs.rewards import DEFAULT_REWARD, EARNED, REWARDS, Reward
from tabletop_envs.envs.vector import MAX_DEALS, Batch, Seating
from tabletop_envs.errors import OptionError, UnknownAgentError

ROTATE: Final = "rotate"
LEARNER: Final = "learner"


class OpponentPool:
    """Whom the learner meets: members with weights; each seat of each new game draws one.

    Members are names of built-in policies (`random`, `greedy`), batch policies or agents. Members may be added,
    removed and weighed anew between steps; games in progress keep the opponents that they began with.
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


Opponents: TypeAlias = OpponentPool | Opponent | Mapping[str, float] | Sequence[Opponent | tuple[Opponent, float]]
"""An OpponentPool or what makes one: an opponent, several, or several with weights; each seat of each game draws one.
Names are those of `make_agent`."""


def _resolved(opponents: Any, game: Game) -> Any:
    """What makes a pool, with agents in the place of names that `make_agent` knows; a bare list weighs all alike."""
    if isinstance(opponents, Mapping):
        opponents = list(opponents.items())
    if isinstance(opponents, str) or not isinstance(opponents, Sequence):
        return _seatable(opponents, game)
    pairs = [one if isinstance(one, Sequence) and not isinstance(one, str) else (one, 1.0) for one in opponents]
    return [(_seatable(pair[0], game), *pair[1:]) if pair else pair for pair in pairs]


def _seatable(opponent: Any, game: Game) -> Any:
    if not isinstance(opponent, str) or opponent in BUILT_IN:
        return opponent
    agent = make_agent(opponent, game)
    return agent.policy if isinstance(agent, PolicyAgent) else agent


def check_learner(learner: Any, num_players: int) -> int | str:
    """The learning seat, a number or `rotate`; raises OptionError for anything else."""
    if not (isinstance(learner, str) and learner == ROTATE) and not is_whole(learner, 0, num_players - 1):
        raise OptionError(f"learner={learner!r}: give a seat from 0 to {num_players - 1} or 'rotate'")
    return learner if isinstance(learner, str) else int(learner)


def learner_space(game: Game, settings: Settings, append_mask: bool) -> gymnasium.spaces.Box:
    """The space of the learner's observations, with room for the mask where it is appended."""
    space = game.observations.space(settings.values)
    if append_mask:
        space = gymnasium.spaces.Box(0.0, 1.0, (space.shape[0] + game.num_actions(settings),), np.float32)
    return space


@dataclass(frozen=True)
class Endings:
    """The games that ended in a step, one entry a game; P players. All arrays are the caller's own.

    rows: their numbers; observations: the learner's last; points, places: (games, P) int32; seats: the learner's;
    capped: whether stopped at a cap, scored and paid; returns: all that the learner was paid in the game; lengths:
    its decisions; names: who played, by seat.
    """

    rows: np.ndarray
    observations: np.ndarray
    points: np.ndarray
    places: np.ndarray
    seats: np.ndarray
    capped: np.ndarray
    returns: np.ndarray
    lengths: np.ndarray
    names: list[list[str]]


class SelfPlay:
    """N games, one learning seat each; the other seats are answered, in batches, by opponents from a pool.

    game: id or Game; num_envs: N; opponents: an OpponentPool or what makes one; learner: the learning seat, a
    number or `rotate` (each new game of a row takes the next seat); reward: see `envs.rewards`; as_earned: pay the
    `score` and `margin` parts of the reward as the running points change instead of at the end (the sum over a
    game is the same); append_mask: append the action mask to the observation; options: of the game.
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
        **options: Any,
    ) -> None:
        self.batch = Batch(game, num_envs, num_players, **options)
        self.game = self.batch.game
        self.num_players = self.batch.num_players
        self.learner = check_learner(learner, self.num_players)
        self.pool = opponents if isinstance(opponents, OpponentPool) else OpponentPool(_resolved(opponents, self.game))
        for member, _ in self.pool.members:
            check_table(member, self.batch.settings)
        self.reward = Reward(reward, self.game.spec)
        self.earned = {name: self.reward.weights[name] for name in EARNED if as_earned and name in self.reward.weights}
        self.append_mask = append_mask
        self.observation_space = learner_space(self.game, self.batch.settings, append_mask)
        self.seating = Seating(self.batch)
        self.rng = np.random.default_rng()
        count = self.batch.num_envs
        self._names: list[list[str]] = [[""] * self.num_players for _ in range(count)]
        self._lengths = np.zeros(count, dtype=np.int64)
        self._paid = np.zeros(count)

    def reset(self) -> None:
        """Deal every game, by keys out of `rng`, and play it to the learner's first decision."""
        self.batch.key = int(self.rng.integers(KEY_LIMIT))
        self.batch.episodes[:] = 0
        self.deal(self.batch.rows)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, Endings | None]:
        """Play on to the learner's next decision in every game; finished games are dealt anew.

        actions: (N,) from `batch.check`. Returns the rewards, (N,) float64, and the games that ended, if any.
        """
        batch = self.batch
        batch.step(batch.rows, actions)
        self._lengths += 1
        self.seating.answer(batch.rows)
        due = self._earned()
        endings = None
        ended = batch.finished(batch.rows)
        if len(ended):
            endings = self._endings(ended, due)
        rewards = due - self._paid
        self._paid = due
        if endings is not None:
            self.deal(endings.rows)
        return rewards, endings

    def _earned(self) -> np.ndarray:
        """What each learner's running points are worth so far; nothing where all is paid at the end."""
        if not self.earned:
            return np.zeros(self.batch.num_envs)
        points, places = self.batch.score(self.batch.rows)
        paid = np.zeros(points.shape)
        for name, weight in self.earned.items():
            paid += weight * REWARDS[name](points, places, self.reward.score_scale)
        return np.asarray(paid[self.batch.rows, self.seating.learners])

    def _endings(self, ended: np.ndarray, due: np.ndarray) -> Endings:
        points, places = self.batch.score(ended)
        seats = self.seating.learners[ended]
        due[ended] = self.reward(points, places)[np.arange(len(ended)), seats]
        return Endings(
            rows=ended,
            observations=self.observations(ended),
            points=points,
            places=places,
            seats=seats,
            capped=self.batch.states["over"][ended] == OVER_CAP,
            returns=due[ended],
            lengths=self._lengths[ended],
            names=[list(self._names[row]) for row in ended.tolist()],
        )

    def deal(self, rows: np.ndarray) -> None:
        """Begin the games of the rows anew, each by the key of its number and episode."""
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
        rotating = (row + episode) % self.num_players
        self.seating.learners[row] = rotating if isinstance(self.learner, str) else self.learner
        key = derive_key(self.batch.key, EPISODE, row)
        self.seating.salts[row] = derive_key(key, OPPONENTS, episode)
        weights = np.array([weight for _, weight in self.pool.members])
        drawn = self.rng.choice(len(weights), size=self.num_players, p=weights / weights.sum())
        for seat in range(self.num_players):
            mine = seat == self.seating.learners[row]
            member = RANDOM if mine else self.pool.members[drawn[seat]][0]
            self.seating.assign(row, seat, member)
            self._names[row][seat] = LEARNER if mine else policy_name(member)

    def observations(self, rows: np.ndarray) -> np.ndarray:
        """What the learners of the rows observe, (rows, size) float32."""
        seen = self.batch.observe(rows, self.seating.learners[rows])
        return np.concatenate([seen, self.batch.masks[rows]], axis=1, dtype=np.float32) if self.append_mask else seen

    def action_masks(self) -> np.ndarray:
        """The masks of the learner in every game, (N, actions) bool."""
        return self.batch.masks.astype(bool)

    def greedy_actions(self) -> np.ndarray:
        """What the greedy baseline would do in the place of the learner of every game, (N,) int64."""
        batch = self.batch
        actions = np.empty(batch.num_envs, dtype=np.int64)
        loops.greedy_batch(batch.game.greedy_call, batch.states, batch.rows, self.seating.salts, batch.masks, actions)
        return actions
