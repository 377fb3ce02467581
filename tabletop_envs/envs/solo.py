"""The Gymnasium environment of any game: one seat learns, the others are played by opponents.

A step lasts from one decision of the learner to its next. Whatever the others do in between belongs to that step, and
so does what the learner is paid meanwhile; the episode ends when the game ends, whoever moved last.

The table itself, with its rewards, its policy on illegal actions, its pictures and stored states, is that of
`envs.aec`; seats of built-in policies are answered in compiled code.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, Final, TypeAlias

import gymnasium
import numpy as np

from tabletop_envs.agents import make_agent
from tabletop_envs.agents.base import (
    BUILT_IN,
    GREEDY,
    RANDOM,
    Agent,
    Opponent,
    PolicyAgent,
    ask,
    begin,
    check_table,
    finish,
)
from tabletop_envs.core import loops
from tabletop_envs.core.game import Game
from tabletop_envs.core.header import KEY_LIMIT, NOBODY
from tabletop_envs.core.layout import ActionLayout, ObservationLayout
from tabletop_envs.core.position import Position
from tabletop_envs.core.random import OPPONENTS, derive_key
from tabletop_envs.envs.aec import NO_STATE, TabletopAEC, check_reset_options, restored_stream
from tabletop_envs.envs.rewards import DEFAULT_REWARD
from tabletop_envs.envs.selfplay import ROTATE, check_learner, learner_space
from tabletop_envs.envs.vector import MAX_DEALS
from tabletop_envs.errors import CorruptDataError, GameOverError, OptionError, OrderError, UnknownAgentError
from tabletop_envs.render.modes import EVERYONE, RENDER_MODES

OUTSIDE: Final = -1  # the code of a seat that no built-in policy plays

_ROW: Final = np.zeros(1, dtype=np.int64)  # the table is a batch of one

Step: TypeAlias = tuple[np.ndarray, float, bool, bool, dict[str, Any]]


class _Table(TabletopAEC):
    """The AEC environment, which also answers for the seats of built-in policies.

    codes: the built-in policy of each seat, or `OUTSIDE`; salt: of built-in policies in this game.
    """

    greedy = False  # whether the baseline has a seat; else it need not be compiled
    codes: list[int]
    salt: int

    def _bind(self) -> None:
        super()._bind()
        self._greedy_call = self.game.greedy_call if self.greedy else 0

    def seat_opponents(self, codes: list[int], salt: int) -> None:
        """Who plays from now on."""
        self.codes, self.salt = codes, salt
        # the table is a batch of one, without a learner: whoever is no built-in policy is left alone by its code
        batch = (np.array([part], dtype=np.int64) for part in (codes, salt, NOBODY))
        self._policies, self._salts, self._learners = batch
        if not self.greedy and BUILT_IN[GREEDY] in codes:
            self.greedy = True
            self._bind()

    @property
    def live(self) -> bool:
        """Whether somebody is to decide."""
        return self._live

    def decide(self, number: int) -> None:
        """A legal decision of the seat to act, and those of built-in policies behind it."""
        loops.step(self._calls, self._states, 0, number, self._mask)
        self.answer()

    def answer(self) -> None:
        """The decisions of built-in policies, until another seat is asked or the game is over."""
        seat = int(self._states["seat"][0])
        if seat >= 0 and self.codes[seat] >= 0:
            loops.answer_batch(
                self._calls,
                self._greedy_call,
                self._states,
                _ROW,
                self._learners,
                self._policies,
                self._salts,
                self._mask[None],
            )
            seat = int(self._states["seat"][0])
        loops.observe(self._calls, self._states, 0, max(seat, 0), self._observation)
        self._moves += 1
        if seat < 0 or self._laden:
            self._arrive(seat, eventful=False)
        else:
            self.agent_selection = self.possible_agents[seat]
            self._infos = None

    def is_legal(self, action: Any) -> bool:
        """Whether the seat to act may choose this; also for what is no action at all."""
        try:
            number = index(action)
        except TypeError:
            return False
        return 0 <= number < self._num_actions and bool(self._legal[number]) and not isinstance(action, bool)

    def seen(self, agent: str) -> tuple[np.ndarray, np.ndarray]:
        """Observation and mask of an agent; the caller's own."""
        if self._live and agent == self.agent_selection:
            return self._observation.copy(), self._mask.copy()
        observed = self.observe(agent)
        return observed["observation"], observed["action_mask"]


class TabletopSolo(gymnasium.Env[np.ndarray, np.int64]):
    """A game as a Gymnasium environment in which one seat learns.

    game: id or Game; num_players: seats (default: the least that the game takes); options: of the game.

    * opponents: who plays the other seats: one opponent for all of them, or a sequence, the first for the seat
      behind the learner and so on. An opponent is a name for `make_agent`, an agent or a batch policy; `random` and
      `greedy` run compiled;
    * learner: the learning seat, a number or `rotate` (each new game takes the next seat);
    * reward: see `envs.rewards`; paid when the game ends;
    * illegal: what an illegal action of the learner does: `lose` ends the game, -1 for the learner; `raise` raises
      IllegalActionError and changes nothing;
    * append_mask: append the action mask to the observation;
    * render_mode, render_viewer: as in `TabletopAEC`; `human` prints the position before each decision of the learner
      and of agents, and at the end.

    The observation is float32 in [0, 1] of shape (size,), from the learner's seat. Infos: `action_mask` (int8, all
    zero when the game is over) and `seat`, the learner's; at the end also `points` and `places` of all seats, and
    `end`: `rules`, `cap` (truncated as well as terminated, but scored and paid: never bootstrap past it) or
    `illegal`. Every array is the caller's own.

    Seed and actions give the same game again, as far as the opponents keep to the seeds that they are given.

    Raises UnknownGameError, OptionError and UnknownAgentError.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES)}  # noqa: RUF012 - Gymnasium's own declaration
    observation_space: gymnasium.spaces.Box
    action_space: gymnasium.spaces.Discrete

    def __init__(
        self,
        game: Game | str,
        num_players: int | None = None,
        *,
        opponents: Opponent | Sequence[Opponent] = RANDOM,
        learner: int | str = ROTATE,
        reward: str | Mapping[str, float] = DEFAULT_REWARD,
        illegal: str = "lose",
        append_mask: bool = False,
        render_mode: str | None = None,
        render_viewer: str | int = EVERYONE,
        **options: Any,
    ) -> None:
        if "mask_in" in options:
            raise OptionError("mask_in is not possible here: the mask stands in every info; give append_mask for more")
        self._table = _Table(
            game,
            num_players,
            render_mode=render_mode,
            render_viewer=render_viewer,
            illegal=illegal,
            reward=reward,
            **options,
        )
        self.metadata = self._table.metadata
        self.render_mode = render_mode
        self.learner = check_learner(learner, self.num_players)
        self.append_mask = append_mask
        self.observation_space = learner_space(self.game, self._table.settings, append_mask)
        self.action_space = self.game.actions.space(self._table.settings.values)
        self.opponents = _seated(opponents, self.game, self.num_players - 1)
        for opponent in self.opponents:
            check_table(opponent, self._table.settings)
        self._games = 0
        self._seat = 0
        self._name = self._table.possible_agents[0]
        self._agents: dict[str, Agent] = {}  # who is asked, by the table's names of seats
        self._closed = False

    @property
    def game(self) -> Game:
        """The game."""
        return self._table.game

    @property
    def num_players(self) -> int:
        """Seats in play."""
        return self._table.num_players

    @property
    def seat(self) -> int:
        """The learner's seat in this game."""
        return self._seat

    @property
    def observation_layout(self) -> ObservationLayout:
        """The named blocks of the observation (an appended mask stands behind them)."""
        return self._table.observation_layout

    @property
    def action_layout(self) -> ActionLayout:
        """The named blocks of the action space."""
        return self._table.action_layout

    # --- the life of a game

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal a new game and play it to the learner's first decision.

        seed: begins the stream of keys and the rotation of seats anew; without one they go on. options: `key` (0 to
        2^53 - 1) deals exactly the game of this key; other entries are ignored. Raises OptionError, also for an option
        of the game (they are fixed when the environment is made) and where the learner is never asked.
        """
        check_reset_options(self._table.settings, options)
        super().reset(seed=seed)
        if seed is not None:
            self._games = 0
        given = options.get("key") if options else None
        # a game that ends before the learner is asked at all is no episode: another one is dealt
        deals = MAX_DEALS if given is None else 1
        for _ in range(deals):
            self._deal(int(self.np_random.integers(KEY_LIMIT)) if given is None else given)
            if self._table.live:
                return self._seen()
        raise OptionError(
            f"in {deals} deals the game ended before the learner, now seat {self._seat}, was asked: "
            "change learner, options or key"
        )

    def _deal(self, key: int) -> None:
        table, players = self._table, self.num_players
        table.reset(options={"key": key})
        seat = self._games % players if isinstance(self.learner, str) else self.learner
        self._games += 1
        self._take_seats(seat, int(derive_key(key, OPPONENTS, 0)))
        for name, agent in self._agents.items():
            other = table.possible_agents.index(name)
            begin(agent, other, int(derive_key(table.salt, OPPONENTS, other)))
        table.answer()
        self._ask_agents()

    def _take_seats(self, seat: int, salt: int) -> None:
        table, players = self._table, self.num_players
        codes = [OUTSIDE] * players
        self._seat, self._name, self._agents = seat, table.possible_agents[seat], {}
        for number, opponent in enumerate(self.opponents):
            other = (seat + 1 + number) % players
            if isinstance(opponent, str):
                codes[other] = BUILT_IN[opponent]
            else:
                self._agents[table.possible_agents[other]] = opponent
        table.seat_opponents(codes, salt)

    def _ask_agents(self) -> None:
        table = self._table
        while table.live and table.agent_selection != self._name:
            table.decide(ask(self._agents[table.agent_selection], table.position))

    def step(self, action: Any) -> Step:
        """Make the learner's decision and play on to its next: observation, reward, terminated, truncated, info.

        Raises OrderError before reset(), GameOverError when the game is over, and IllegalActionError as `illegal`
        says, for None, and for an opponent that chooses what is not legal.
        """
        table = self._table
        if not table.live:
            if not self._games:
                raise OrderError("reset() needs to be called before step")
            raise GameOverError("the game is over: call reset() first")
        if table.agent_selection != self._name:
            raise OrderError(f"an opponent, {table.agent_selection}, broke off the game: call reset() first")
        if table.is_legal(action):
            table.decide(index(action))
            if self._agents:
                self._ask_agents()
        else:
            table.step(action)  # is refused there
        observation, info = self._seen()
        if table.live:
            return observation, 0.0, False, False, info
        name = self._name
        told = {fact: value for fact, value in table.infos[name].items() if fact != "events"}
        return observation, table.rewards[name], True, table.truncations[name], {**info, **copy.deepcopy(told)}

    def _seen(self) -> tuple[np.ndarray, dict[str, Any]]:
        observation, mask = self._table.seen(self._name)
        if self.append_mask:
            observation = np.concatenate([observation, mask], dtype=np.float32)
        return observation, {"action_mask": mask, "seat": self._seat}

    def action_masks(self) -> np.ndarray:
        """The learner's mask, (actions,) bool; what MaskablePPO asks for."""
        return self._table.seen(self._name)[1].astype(bool)

    # --- to look at, to store

    @property
    def position(self) -> Position:
        """A copy of the position, to look at and to search from."""
        return self._table.position

    def render(self) -> Any:
        """The position as the render mode says, see `TabletopAEC.render`."""
        return self._table.render()

    def close(self) -> None:
        """Close the opponents; may be called again."""
        if not self._closed:
            self._closed = True
            for opponent in self.opponents:
                if not isinstance(opponent, str):
                    finish(opponent)

    def get_state(self) -> dict[str, Any]:
        """All that set_state() needs to continue from here, in this or another environment of the same arguments;
        only what opponents of one's own remember is not part of it."""
        return {
            "table": self._table.get_state(),
            "seat": self._seat,
            "salt": self._table.salt,
            "games": self._games,
            "np_random": copy.deepcopy(self.np_random.bit_generator.state),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go back (or on) to what get_state() returned; raises CorruptDataError for anything else, and then changes
        nothing."""
        try:
            table, stream = state["table"], state["np_random"]
            seat, salt, games = index(state["seat"]), index(state["salt"]), index(state["games"])
        except NO_STATE as error:
            raise CorruptDataError(f"this is no state: {error!r}; give what get_state() returned") from error
        if not 0 <= seat < self.num_players or not 0 <= salt < KEY_LIMIT or games < 1:
            raise CorruptDataError(
                f"the state has its learner on seat {seat}, salt {salt} and {games} games: "
                "give what get_state() returned"
            )
        generator = restored_stream(self.np_random, stream)
        self._table.set_state(table)
        self._games = games
        self._take_seats(seat, salt)
        self.np_random.bit_generator.state = generator.bit_generator.state

    def __str__(self) -> str:
        return f"<TabletopSolo {self.game.spec.env_id}, {self.num_players} players>"


def _seated(opponents: Any, game: Game, seats: int) -> list[str | Agent]:
    """One opponent a seat: the name of a built-in policy, or an agent."""
    if isinstance(opponents, Sequence) and not isinstance(opponents, str):
        given = list(opponents)
        if len(given) != seats:
            raise OptionError(f"there are {len(given)} opponents for {seats} seats: give one for all, or one a seat")
    else:
        given = [opponents] * seats
    return [_opponent(one, game) for one in given]


def _opponent(opponent: Any, game: Game) -> str | Agent:
    if isinstance(opponent, str):
        return opponent if opponent in BUILT_IN else make_agent(opponent, game)
    if callable(getattr(opponent, "choose", None)):
        agent: Agent = opponent
        return agent
    if callable(getattr(opponent, "act", None)):
        return PolicyAgent(opponent)
    raise UnknownAgentError(f"{opponent!r} is no opponent: give a name, an agent or a batch policy")
