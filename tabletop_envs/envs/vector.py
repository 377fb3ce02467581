"""N games in one array, stepped in one compiled call. The base of the batched environments; knows no learner.

`Batch` holds the records and does the work on any subset of rows; `Seating` lets policies act; `TabletopVector` is
the raw batched environment: who is to act in each game, and the rewards of all seats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from tabletop_envs import registry
from tabletop_envs.agents.base import BUILT_IN, GREEDY, Agent, BatchPolicy, Opponent, View, policy_name
from tabletop_envs.core import loops, record
from tabletop_envs.core.checks import is_whole
from tabletop_envs.core.game import Game
from tabletop_envs.core.header import KEY_LIMIT, OVER_CAP, RUNNING
from tabletop_envs.core.position import Position, check_key
from tabletop_envs.core.random import OPPONENTS, derive_key
from tabletop_envs.envs.rewards import Reward
from tabletop_envs.errors import IllegalActionError, OptionError, OrderError, UnknownAgentError

MAX_DEALS: Final = 1000
"""How often a game that ends before anybody is asked is dealt again, until that counts as an error."""


class Batch:
    """N records of one game with their action masks.

    states: (N,) records; masks: (N, actions) int8, of the seat to act; episodes: (N,) how often each game was
    dealt.
    """

    def __init__(self, game: Game | str, num_envs: int, num_players: int | None = None, **options: Any) -> None:
        if not is_whole(num_envs, 1):
            raise OptionError(f"num_envs={num_envs!r} is not possible: give a positive whole number")
        self.game = registry.load(game) if isinstance(game, str) else game
        self.settings = self.game.settings(num_players, **options)
        self.num_envs = int(num_envs)
        self.num_players = self.settings.num_players
        self.template = self.game.template(self.settings)
        self.states: np.ndarray = np.repeat(self.template, self.num_envs)
        self.masks = np.zeros((self.num_envs, self.game.num_actions(self.settings)), dtype=np.int8)
        self.rows = np.arange(self.num_envs)
        self.episodes = np.zeros(self.num_envs, dtype=np.int64)
        self.observation_size = self.game.observation_size(self.settings)
        self.key = 0

    def deal(self, rows: np.ndarray, keys: np.ndarray | None = None) -> None:
        """Begin the games of the rows anew; without keys each gets that of its number and episode."""
        if keys is None:
            keys = np.empty(len(rows), dtype=np.int64)
            loops.episode_keys(self.key, rows, self.episodes, keys)
        loops.deal_batch(self.game.calls, self.template, self.states, rows, keys, self.masks)
        self.episodes[rows] += 1

    def check(self, rows: np.ndarray, actions: Any) -> np.ndarray:
        """The actions as int64, one a row, all legal; raises IllegalActionError before any is applied."""
        if not self.episodes.any():
            raise OrderError("reset() needs to be called before step")
        try:
            numbers = np.asarray(actions)
        except ValueError:  # rows of unequal length
            numbers = np.empty(0, dtype=object)
        if numbers.shape != rows.shape or numbers.dtype.kind not in "iu":
            raise IllegalActionError(
                f"give {len(rows)} whole numbers, one a game, not {numbers.dtype} of shape {numbers.shape}"
            )
        numbers = numbers.astype(np.int64, copy=False)
        wrong = loops.first_illegal(self.masks, rows, numbers)
        if wrong >= 0:
            row, action = int(rows[wrong]), int(np.asarray(actions)[wrong])
            if self.states["over"][row] != RUNNING:
                raise IllegalActionError(f"game {row} is over: reset it before action {action}")
            raise IllegalActionError(
                f"action {action} is not legal in game {row}: choose one where action_masks[{row}] is 1; "
                "none of these actions was made"
            )
        return numbers

    def step(self, rows: np.ndarray, actions: np.ndarray) -> None:
        """One decision in each of the rows; the actions come from `check`."""
        loops.step_batch(self.game.calls, self.states, rows, actions, self.masks)

    def observe(self, rows: np.ndarray, seats: np.ndarray, outs: np.ndarray | None = None) -> np.ndarray:
        """The observations of one seat in each row, (rows, size) float32; a new array unless one is given."""
        if outs is None:
            outs = np.empty((len(rows), self.observation_size), dtype=np.float32)
        loops.observe_batch(self.game.calls, self.states, rows, seats, outs)
        return outs

    def score(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points and places, (rows, players) int32 each."""
        points = np.zeros((len(rows), self.num_players), dtype=np.int32)
        places = np.zeros((len(rows), self.num_players), dtype=np.int32)
        loops.score_batch(self.game.calls, self.states, rows, points, places)
        return points, places

    def finished(self, rows: np.ndarray) -> np.ndarray:
        """Those of the rows in which the game is over."""
        return np.asarray(rows[self.states["over"][rows] != RUNNING])

    def position(self, row: int) -> Position:
        """A copy of one game as a Position."""
        return Position(self.game, self.settings, record.clone(self.states[row : row + 1]))


def random_actions(masks: np.ndarray, random: Callable[[int], np.ndarray]) -> np.ndarray:
    """One of the legal actions of each row, (N,) int64; random: N numbers in [0, 1)."""
    masks = masks.view(np.bool_)
    legal = np.flatnonzero(masks)
    counts = np.count_nonzero(masks, axis=1)
    chosen = legal[np.cumsum(counts) - counts + (random(len(masks)) * counts).astype(np.int64)]
    return np.asarray(chosen % masks.shape[1])


def draw_opening(batch: Batch, keys: np.ndarray) -> np.ndarray:
    """Begin games that were just dealt with the random decisions that a game without chance declares.

    keys: (N,) of which each stands for an opening. Returns the actions, (N, opening_decisions) int64, -1 behind the
    end of a game; the batch has made them.
    """
    opening = np.full((batch.num_envs, batch.game.spec.opening_decisions), -1, dtype=np.int64)
    for number in range(opening.shape[1]):
        rows = batch.rows[batch.states["over"] == RUNNING]
        legal = [np.flatnonzero(batch.masks[row]) for row in rows]
        opening[rows, number] = [
            options[key % len(options)] for options, key in zip(legal, keys[rows] >> 8, strict=True)
        ]
        batch.step(rows, batch.check(rows, opening[rows, number]))
        keys = np.array([derive_key(int(key), OPPONENTS, 1) for key in keys])
    return opening


class Seating:
    """Who plays which seat of each game of a batch; lets them act, those of one policy in one call.

    A seat is played by a built-in policy, a BatchPolicy or an Agent; `learners` names the seat of each game that
    somebody else plays (-1: nobody does).
    """

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.learners = np.full(batch.num_envs, -1, dtype=np.int64)
        self.salts = np.zeros(batch.num_envs, dtype=np.int64)
        self._codes = np.zeros((batch.num_envs, batch.num_players), dtype=np.int64)  # built-in, or -1 - index
        self._policies: list[BatchPolicy | Agent] = []
        self._greedy_call: Any = 0  # the baseline is compiled when it first takes a seat

    def __getstate__(self) -> dict[str, Any]:
        # an address belongs to one process
        return {**self.__dict__, "_greedy_call": 0}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        if (self._codes == BUILT_IN[GREEDY]).any():
            self._greedy_call = self.batch.game.greedy_call

    def assign(self, row: int, seat: int, policy: Opponent) -> None:
        """Put a policy on a seat. Raises UnknownAgentError for a name that is no built-in policy."""
        if isinstance(policy, str):
            if policy not in BUILT_IN:
                raise UnknownAgentError(f"no built-in policy {policy!r}: give one of {', '.join(BUILT_IN)} or a policy")
            self._codes[row, seat] = BUILT_IN[policy]
            if policy == GREEDY:
                self._greedy_call = self.batch.game.greedy_call
            return
        index = next((number for number, known in enumerate(self._policies) if known is policy), -1)
        if index < 0:
            index = self._free_index()
            self._policies[index:] = [policy, *self._policies[index + 1 :]]
        self._codes[row, seat] = -1 - index

    def _free_index(self) -> int:
        # a policy that sits nowhere any more gives up its number
        used = set(self._codes.ravel().tolist())
        free = (index for index in range(len(self._policies)) if -1 - index not in used)
        return next(free, len(self._policies))

    def answer(self, rows: np.ndarray) -> None:
        """Play the rows until each game's learner is asked or the game is over.

        Raises IllegalActionError when a policy gives an action that is not legal; the games are then to be dealt
        anew.
        """
        batch = self.batch
        while len(rows):
            loops.answer_batch(
                batch.game.calls,
                self._greedy_call,
                batch.states,
                rows,
                self.learners,
                self._codes,
                self.salts,
                batch.masks,
            )
            seats = batch.states["seat"][rows].astype(np.int64)
            waiting = (seats >= 0) & (seats != self.learners[rows])
            rows, seats = rows[waiting], seats[waiting]
            codes = self._codes[rows, seats]
            for code in np.unique(codes):
                mine = codes == code
                asked = rows[mine]
                policy = self._policies[-1 - code]
                actions = self._actions(policy, asked, seats[mine])
                try:
                    numbers = batch.check(asked, actions)
                except IllegalActionError as error:
                    raise IllegalActionError(
                        f"the policy {policy_name(policy)!r} has to be mended, then reset the games: {error}"
                    ) from error
                batch.step(asked, numbers)

    def _actions(self, policy: BatchPolicy | Agent, rows: np.ndarray, seats: np.ndarray) -> Any:
        act = getattr(policy, "act", None)
        if act is not None:
            return act(self.batch.observe(rows, seats), self.batch.masks[rows])
        agent: Any = policy
        return np.array([agent.choose(View(self.batch.position(row))) for row in rows.tolist()])


class BatchStep(NamedTuple):
    """What one step of `TabletopVector` gives; N games, P players. All arrays are the caller's own.

    observations: (N, size) float32, of the seat to act now; action_masks: (N, actions) int8; seats: (N,) the seat
    to act; rewards: (N, P) paid by this step; terminations: (N,) the game ended by this step (and was dealt anew);
    truncations: (N,) it ended at a cap, scored and paid: never bootstrap past it; final: points and places (games,
    P), rows (games,) and final_states (games,) of the games that ended.
    """

    observations: np.ndarray
    action_masks: np.ndarray
    seats: np.ndarray
    rewards: np.ndarray
    terminations: np.ndarray
    truncations: np.ndarray
    final: Mapping[str, np.ndarray]


class TabletopVector:
    """N games at once, every seat played by the caller. Finished games are dealt anew in the same step.

    game: id or Game; num_envs: N; reward: see `envs.rewards`; options: of the game.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int,
        num_players: int | None = None,
        *,
        reward: str | Mapping[str, float] = "win",
        **options: Any,
    ) -> None:
        self.batch = Batch(game, num_envs, num_players, **options)
        self.num_envs = self.batch.num_envs
        self.num_players = self.batch.num_players
        self.game = self.batch.game
        self.reward = Reward(reward, self.game.spec)
        self.observation_space = self.game.observations.space(self.batch.settings.values)
        self.action_space = self.game.actions.space(self.batch.settings.values)
        self.observation_layout = self.game.observations
        self.action_layout = self.game.actions
        self.rng = np.random.default_rng()

    def reset(self, seed: int | None = None) -> BatchStep:
        """Deal all games.

        seed: 0 to 2^53 - 1, begins the stream of keys anew; without one it goes on.
        """
        if seed is not None:
            self.rng = np.random.default_rng(check_key(seed))
        self.batch.key = int(self.rng.integers(KEY_LIMIT))
        self.batch.episodes[:] = 0
        self._deal(self.batch.rows)
        none = np.zeros(self.num_envs, dtype=bool)
        return self._result(np.zeros((self.num_envs, self.num_players)), none, none.copy(), {})

    def step(self, actions: Any) -> BatchStep:
        """One decision in every game, (N,) whole numbers. Raises IllegalActionError; then no game has changed."""
        batch = self.batch
        batch.step(batch.rows, batch.check(batch.rows, actions))
        rewards = np.zeros((self.num_envs, self.num_players))
        over = batch.states["over"]
        terminations, truncations = over != RUNNING, over == OVER_CAP
        final: dict[str, np.ndarray] = {}
        rows = np.flatnonzero(terminations)
        if len(rows):
            points, places = batch.score(rows)
            rewards[rows] = self.reward(points, places)
            final = {"rows": rows, "points": points, "places": places, "final_states": batch.states[rows]}
            self._deal(rows)
        return self._result(rewards, terminations, truncations, final)

    def action_masks(self) -> np.ndarray:
        """The masks of the seats to act, (N, actions) bool."""
        return self.batch.masks.astype(bool)

    def position(self, row: int) -> Position:
        """A copy of one game as a Position."""
        return self.batch.position(row)

    def _deal(self, rows: np.ndarray) -> None:
        # a game that ends before anybody is asked is no episode: it is dealt again
        for _ in range(MAX_DEALS):
            self.batch.deal(rows)
            rows = self.batch.finished(rows)
            if not len(rows):
                return
        raise OptionError(f"in {MAX_DEALS} deals game {rows[0]} ended before anybody was asked: change the options")

    def _result(
        self,
        rewards: np.ndarray,
        terminations: np.ndarray,
        truncations: np.ndarray,
        final: Mapping[str, np.ndarray],
    ) -> BatchStep:
        seats = self.batch.states["seat"].astype(np.int64)
        observations = self.batch.observe(self.batch.rows, seats)
        return BatchStep(observations, self.batch.masks.copy(), seats, rewards, terminations, truncations, final)
