"""The PettingZoo AEC environment of any game. Knows a game through `core.game.Game` and no learner.

Order, bounds and legality of calls are checked in the class itself, so no wrapper is needed: `env` and `raw_env`
of the `<game>_vN` modules both hand out `TabletopAEC`. One decision costs one compiled call.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterator, Mapping
from numbers import Real
from operator import index
from typing import TYPE_CHECKING, Any, Final, Protocol

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from pettingzoo.utils.env import AECEnv

from tabletop_envs import registry
from tabletop_envs.core import loops, record
from tabletop_envs.core.checks import is_whole
from tabletop_envs.core.game import Game
from tabletop_envs.core.header import KEY_LIMIT, OVER_CAP, RUNNING
from tabletop_envs.core.layout import ActionLayout, ObservationLayout
from tabletop_envs.core.position import END_CAP, END_RULES, Position, check_record, event_texts
from tabletop_envs.core.spec import Settings
from tabletop_envs.envs.rewards import DEFAULT_REWARD, Reward
from tabletop_envs.errors import (
    CorruptDataError,
    GameOverError,
    IllegalActionError,
    OptionError,
    OrderError,
    UnknownAgentError,
)
from tabletop_envs.render.modes import EVERYONE, FRAMES_PER_SECOND, RENDER_MODES, check_viewer, render

if TYPE_CHECKING:
    from tabletop_envs.envs.parallel import TurnBasedParallel

ILLEGAL: Final = ("lose", "raise")
MASK_IN: Final = ("observation", "info")
END_ILLEGAL: Final = "illegal"

ILLEGAL_REWARD: Final = -1.0  # to the offender; the others get 0

_FOREVER: Final = 2**63
# how `loops.step_observed` packs its answer
_SEAT_BITS: Final = 255
_EVENTS_LOGGED: Final = 256

# What PettingZoo has nobody read before reset().
_AFTER_RESET: Final = frozenset(
    {"agents", "agent_selection", "num_agents", "rewards", "terminations", "truncations", "infos"}
)
# What changes in the course of a game, besides the record and what follows from it.
_EPISODE: Final = (
    "agents",
    "agent_selection",
    "rewards",
    "_cumulative_rewards",
    "terminations",
    "truncations",
    "_infos",
    "_skip_agent_selection",
    "_returns",
    "_live",
)
# What another process makes anew.
_BOUND: Final = frozenset({"_calls", "_template", "_legal"})
# What handling data that are no state raises, before it becomes a CorruptDataError.
NO_STATE: Final = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


class Maker(Protocol):
    """`env` and `raw_env` of a `<game>_vN` module."""

    def __call__(self, num_players: int | None = None, **arguments: Any) -> TabletopAEC: ...


class ParallelMaker(Protocol):
    """`parallel_env` of a `<game>_vN` module."""

    def __call__(self, num_players: int | None = None, **arguments: Any) -> TurnBasedParallel: ...


class TabletopAEC(AECEnv[str, Any, Any]):  # type: ignore[misc]  # PettingZoo ships no types
    """A game as a PettingZoo AEC environment; agents are `player_0`, `player_1`, … in seat order.

    game: id or Game; num_players: seats (default: the least that the game takes); options: those of the game, and
    `max_decisions` and `auto_forced`.

    * render_mode: None, or what render() returns: `ansi` text for a terminal, `rgb_array` a picture as uint8 of shape
      (height, width, 3), `svg` a picture as text; with `human` every position is printed;
    * render_viewer: for whom: `public` (who knows no secret, the default), `all` (who knows them all) or a seat;
    * illegal: what an illegal action does (also one out of range or no whole number): `lose` ends the game, -1 for
      the offender and 0 for the others; `raise` raises IllegalActionError and changes nothing;
    * reward: `win`, `rank`, `score`, `margin` or a mix, see `envs.rewards`; paid to all seats when the game ends;
    * mask_in: `observation` (a dict of `observation` and `action_mask`) or `info` (the observation is the plain
      vector, the mask stands in the agent's info).

    `observation` is float32 in [0, 1] of shape (size,), from the agent's own seat, `action_mask` int8 of shape
    (actions,), all zero for every agent but the one to act. Every array that is handed out is the caller's own.

    Infos: `events`, a list of what happened by itself in the last step, in words, whenever something did; and when
    the game is over `points` and `places` of all seats and `end`: `rules`, `cap` (truncated as well as terminated,
    but scored and paid) or `illegal` (with `offender`, whose place is last; the others share the first).

    Raises UnknownGameError and OptionError.
    """

    metadata: dict[str, Any]
    possible_agents: list[str]

    def __init__(
        self,
        game: Game | str,
        num_players: int | None = None,
        *,
        render_mode: str | None = None,
        render_viewer: str | int = EVERYONE,
        illegal: str = "lose",
        reward: str | Mapping[str, float] = DEFAULT_REWARD,
        mask_in: str = "observation",
        **options: Any,
    ) -> None:
        super().__init__()
        self.game = registry.load(game) if isinstance(game, str) else game
        self.settings: Settings = self.game.settings(num_players, **options)
        if render_mode is not None:
            _check_choice("render_mode", render_mode, RENDER_MODES)
        self.render_mode = render_mode
        self.render_viewer = check_viewer(render_viewer, self.settings.num_players)
        self.illegal = _check_choice("illegal", illegal, ILLEGAL)
        self.mask_in = _check_choice("mask_in", mask_in, MASK_IN)
        self.reward = Reward(reward, self.game.spec)
        self.metadata = {
            "name": self.game.spec.name,
            "render_modes": list(RENDER_MODES),
            "render_fps": FRAMES_PER_SECOND,
            "is_parallelizable": False,
        }
        self.num_players = self.settings.num_players
        self.possible_agents = [f"player_{seat}" for seat in range(self.num_players)]
        self.observation_layout: ObservationLayout = self.game.observations
        self.action_layout: ActionLayout = self.game.actions
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._observation_size = self.game.observation_size(self.settings)
        self._num_actions = self.game.num_actions(self.settings)
        self._observation_spaces: dict[str, gymnasium.Space[Any]] = {}
        self._action_spaces: dict[str, gymnasium.spaces.Discrete] = {}
        self._state_space: gymnasium.spaces.Box | None = None
        self._in_info = mask_in == "info"
        # steps that do more than go on to the next agent
        self._laden = self._in_info or render_mode == "human"
        self._np_random: np.random.Generator | None = None
        self._live = False
        self._moves = 0  # calls of reset() and step(): none yet
        self._skip_agent_selection: str | None = None
        self._infos: dict[str, dict[str, Any]] | None = None
        self._mask: np.ndarray = np.zeros(self._num_actions, dtype=np.int8)
        self._observation = np.zeros(self._observation_size, dtype=np.float32)
        self._bind()
        self._states = self._template.copy()

    def _bind(self) -> None:
        self._calls = self.game.calls
        self._template = self.game.template(self.settings)
        self._legal = self._mask.data  # a memoryview gives plain ints, faster than the array does

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in _AFTER_RESET:
                raise AttributeError(f"{name} cannot be accessed before reset")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # --- spaces

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        """The observation space of an agent, the same object each time."""
        space = self._observation_spaces.get(agent)
        if space is None:
            self._seat(agent)
            space = self.game.observations.space(self.settings.values)
            if not self._in_info:
                mask = gymnasium.spaces.Box(0, 1, (self._num_actions,), np.int8)
                space = gymnasium.spaces.Dict({"observation": space, "action_mask": mask})
            self._observation_spaces[agent] = space
        return space

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete:
        """The action space of an agent, the same object each time."""
        space = self._action_spaces.get(agent)
        if space is None:
            self._seat(agent)
            space = self._action_spaces[agent] = self.game.actions.space(self.settings.values)
        return space

    @property
    def observation_spaces(self) -> dict[str, gymnasium.Space[Any]]:
        """The observation space of every agent."""
        return {agent: self.observation_space(agent) for agent in self.possible_agents}

    @property
    def action_spaces(self) -> dict[str, gymnasium.spaces.Discrete]:
        """The action space of every agent."""
        return {agent: self.action_space(agent) for agent in self.possible_agents}

    @property
    def state_space(self) -> gymnasium.spaces.Box:
        """The space of state()."""
        if self._state_space is None:
            shape = (self.num_players * self._observation_size,)
            self._state_space = gymnasium.spaces.Box(0.0, 1.0, shape, np.float32)
        return self._state_space

    def _seat(self, agent: str) -> int:
        try:
            return self._seats[agent]
        except (KeyError, TypeError):
            raise UnknownAgentError(f"no agent {agent!r}: there are {', '.join(self.possible_agents)}") from None

    # --- the life of a game

    @property
    def np_random(self) -> np.random.Generator:
        """The stream from which reset() draws the keys of games."""
        if self._np_random is None:
            self._np_random = seeding.np_random()[0]
        return self._np_random

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal a new game.

        seed: begins the stream of keys anew; without one it goes on. options: `key` (0 to 2^53 - 1) deals exactly
        the game of this key and draws none; other entries are ignored. Raises OptionError, also for an option of the
        game: options are fixed when the environment is made.
        """
        check_reset_options(self.settings, options)
        if seed is not None:
            seed = _check_whole("seed", seed, None)
        key = options.get("key") if options else None
        if key is not None:
            key = _check_whole("key", key, KEY_LIMIT)
        if seed is not None:
            self._np_random = seeding.np_random(seed)[0]
        if key is None:
            key = int(self.np_random.integers(KEY_LIMIT))

        agents = self.possible_agents[:]
        self.agents = agents
        self.agent_selection = agents[0]
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self._returns = [0.0] * self.num_players
        self._skip_agent_selection = None
        self._live = True
        self._moves += 1

        loops.deal(self._calls, self._template, self._states, 0, key, self._mask)
        seat = int(self._states["seat"][0])
        loops.observe(self._calls, self._states, 0, max(seat, 0), self._observation)
        self._arrive(seat, bool(self._states["num_events"][0]))

    def step(self, action: Any) -> None:
        """Make the decision of `agent_selection`; an agent whose game is over takes None.

        Raises OrderError before reset(), GameOverError when no agent is left, IllegalActionError as `illegal` says
        and for None in play, ValueError for an action of a dead agent.
        """
        if not self._live:
            self._step_dead(action)
            return
        try:
            number = index(action)
        except TypeError:
            self._refuse(action)
            return
        if number < 0 or number >= self._num_actions or not self._legal[number] or action is True or action is False:
            self._refuse(action)
            return
        # during the game nobody is paid: all rewards stand at 0 already
        packed = loops.step_observed(self._calls, self._states, 0, number, self._mask, self._observation)
        self._moves += 1
        if 0 < packed < _EVENTS_LOGGED and not self._laden:
            self.agent_selection = self.possible_agents[packed - 1]
            self._infos = None
        else:
            self._arrive((packed & _SEAT_BITS) - 1, packed >= _EVENTS_LOGGED)

    def _arrive(self, seat: int, eventful: bool) -> None:
        """Go on to the seat to act, or to the end."""
        events = event_texts(self.game, self._states) if eventful else []
        if seat < 0:
            points, places = self._score()
            end = END_CAP if self._states["over"][0] == OVER_CAP else END_RULES
            self._end(end, self.reward(points, places).tolist(), points.tolist(), places.tolist(), events)
        else:
            self.agent_selection = self.possible_agents[seat]
            told = self._in_info or events
            self._infos = {agent: self._info(agent, events) for agent in self.agents} if told else None
        if self.render_mode == "human":
            self.render()

    def _info(self, agent: str, events: list[str]) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self._action_mask(agent)} if self._in_info else {}
        if events:
            info["events"] = events[:]
        return info

    def _score(self) -> tuple[np.ndarray, np.ndarray]:
        points = np.zeros(self.num_players, dtype=np.int32)
        places = np.zeros(self.num_players, dtype=np.int32)
        loops.score(self._calls, self._states, 0, points, places)
        return points, places

    def _end(
        self, end: str, rewards: list[float], points: list[int], places: list[int], events: list[str], **facts: Any
    ) -> None:
        self._live = False
        agents = self.agents
        self._returns = rewards
        self.rewards = dict(zip(agents, rewards, strict=True))
        self._cumulative_rewards = self.rewards.copy()
        self.terminations = dict.fromkeys(agents, True)
        self.truncations = dict.fromkeys(agents, end == END_CAP)
        self._infos = {
            agent: {**self._info(agent, events), "points": points[:], "places": places[:], "end": end, **facts}
            for agent in agents
        }
        self._deads_step_first()

    def _refuse(self, action: Any) -> None:
        """An illegal action, as `illegal` says."""
        offender = self.agent_selection
        if action is None:
            raise IllegalActionError(f"step(None) is for agents whose game is over: {offender} has to choose")
        if self.illegal == "raise":
            number = self.game.actions.check(
                action[()] if isinstance(action, np.ndarray) else action, self._num_actions
            )
            text = self.game.modules["notation"].action_text(number)
            raise IllegalActionError(
                f"action {number} ({text}) is not legal for {offender} in phase {self.position.phase}: "
                "choose one where its action mask is 1"
            )
        points, _ = self._score()
        rewards = [ILLEGAL_REWARD if agent == offender else 0.0 for agent in self.agents]
        places = [self.num_players if agent == offender else 1 for agent in self.agents]
        self._moves += 1
        self._end(END_ILLEGAL, rewards, points.tolist(), places, [], offender=offender)
        if self.render_mode == "human":
            self.render()

    def _step_dead(self, action: Any) -> None:
        self._demand_reset("step")
        if not self.agents:
            raise GameOverError("step() called after all agents are terminated or truncated: call reset() first")
        self._moves += 1
        self._was_dead_step(action)

    def _demand_reset(self, method: str) -> None:
        if self._moves == 0:
            raise OrderError(f"reset() needs to be called before {method}.")

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Observation, cumulative reward, terminated, truncated and info of `agent_selection`.

        Raises GameOverError when no agent is left.
        """
        agent = self.agent_selection
        if not self._live and not self.agents:
            raise GameOverError("last() called after all agents are terminated or truncated: call reset() first")
        observation: Any = None
        if observe:
            if not self._live:
                observation = self.observe(agent)
            elif self._in_info:
                observation = self._observation.copy()
            else:
                observation = {"observation": self._observation.copy(), "action_mask": self._mask.copy()}
        infos = self._infos
        return (
            observation,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            {} if infos is None else self._told(agent, infos[agent]),
        )

    def _told(self, agent: str, info: dict[str, Any]) -> dict[str, Any]:
        if self._in_info:
            # api_test wants the very array that stands in infos: each call puts a new one there
            info["action_mask"] = self._action_mask(agent)
        return {name: value.copy() if isinstance(value, list) else value for name, value in info.items()}

    def agent_iter(self, max_iter: int = _FOREVER) -> Iterator[str]:
        """The agents as they are to act, until all are done; step() or reset() must come between two of them."""
        self._demand_reset("agent_iter()")
        return self._iterate(max_iter)

    def _iterate(self, left: int) -> Iterator[str]:
        seen = 0
        while self.agents and left > 0:
            if self._moves == seen:
                raise OrderError("need to call step() or reset() in a loop over `agent_iter`")
            seen = self._moves
            left -= 1
            yield self.agent_selection

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """The info of every agent that is left; mostly empty, so it is made when somebody asks."""
        if self._infos is None:  # raises AttributeError before reset(), for want of agents
            self._infos = {agent: {} for agent in self.agents}
        return self._infos

    @infos.setter
    def infos(self, infos: dict[str, dict[str, Any]]) -> None:
        self._infos = infos

    # --- what agents and critics see

    def observe(self, agent: str) -> Any:
        """What an agent observes now, whoever is to act and also when the game is over."""
        self._demand_reset("observe")
        seat = self._seat(agent)
        if self._live and agent == self.agent_selection:
            vector: np.ndarray = self._observation.copy()
        else:
            vector = np.empty(self._observation_size, dtype=np.float32)
            loops.observe(self._calls, self._states, 0, seat, vector)
        return vector if self._in_info else {"observation": vector, "action_mask": self._action_mask(agent)}

    def _action_mask(self, agent: str) -> np.ndarray:
        if self._live and agent == self.agent_selection:
            mask: np.ndarray = self._mask.copy()
            return mask
        return np.zeros(self._num_actions, dtype=np.int8)

    def state(self) -> np.ndarray:
        """The observations of all seats, one after another: float32 in [0, 1] of shape (players * size,)."""
        self._demand_reset("state")
        rows = np.empty((self.num_players, self._observation_size), dtype=np.float32)
        for seat in range(self.num_players):
            loops.observe(self._calls, self._states, 0, seat, rows[seat])
        return np.asarray(rows.ravel())

    def returns(self) -> list[float]:
        """What each seat was paid when the game ended; zeros while it runs."""
        self._demand_reset("returns")
        return self._returns[:]

    @property
    def position(self) -> Position:
        """A copy of the position, to look at and to search from."""
        self._demand_reset("position")
        return Position(self.game, self.settings, self._copy_of_states())

    def _copy_of_states(self) -> np.ndarray:
        states = np.empty(1, dtype=self.game.dtype)
        states[0] = self._states[0]  # ten times as fast as a copy of the array, which goes field by field
        return states

    def render(self) -> Any:
        """The position in the render mode, for the render viewer; nothing without a render mode."""
        self._demand_reset("render")
        if self.render_mode is None:
            gymnasium.logger.warn("render() shows nothing without a render mode: make the environment with one")
            return None
        return render(self.position, self.render_mode, self.render_viewer, self._heading())

    def _heading(self) -> str:
        heading = f"{self.game.spec.title}, decision {int(self._states['decisions'][0])}"
        if self._live:
            # nothing of the mask, which may follow from what the viewer does not know
            return f"{heading}: {self.agent_selection} to act ({self.position.phase})"
        points = ", ".join(map(str, self._score()[0]))
        paid = ", ".join(f"{amount:g}" for amount in self._returns)
        return f"{heading}: over; points {points}; rewards {paid}"

    def close(self) -> None:
        """Nothing is held open; may be called at any time and again."""

    # --- copies

    def clone(self) -> TabletopAEC:
        """An independent copy that continues identically, its streams of random numbers included."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._states = self._copy_of_states()
        twin._observation = self._observation.copy()
        twin._mask = self._mask.copy()
        twin._legal = twin._mask.data
        twin.__dict__.update(self._episode())
        for name in ("_np_random", "_observation_spaces", "_action_spaces", "_state_space"):
            twin.__dict__[name] = copy.deepcopy(self.__dict__[name])
        return twin

    __copy__ = clone

    def __deepcopy__(self, memo: dict[int, Any]) -> TabletopAEC:
        return self.clone()

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name not in _BOUND}
        kept["_states"] = record.to_bytes(self._states)
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._states = record.from_bytes(self.game.dtype, kept["_states"])
        self._bind()

    def _episode(self) -> dict[str, Any]:
        episode: dict[str, Any] = {}
        for name in _EPISODE:
            if name in self.__dict__:
                value = self.__dict__[name]
                episode[name] = value.copy() if isinstance(value, (list, dict)) else value
        if self._infos is not None:
            episode["_infos"] = copy.deepcopy(self._infos)
        return episode

    def _identity(self) -> tuple[str, int, str, str]:
        options = repr(sorted(self.settings.changed().items()))
        return self.game.spec.env_id, self.num_players, options, self.mask_in

    def get_state(self) -> dict[str, Any]:
        """All that set_state() needs to continue from here, in this or another environment of the same game,
        number of players, options and `mask_in`."""
        self._demand_reset("get_state")
        stream = None if self._np_random is None else copy.deepcopy(self._np_random.bit_generator.state)
        return {
            "settings": self._identity(),
            "record": record.to_bytes(self._states),
            "episode": self._episode(),
            "np_random": stream,
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go back (or on) to what get_state() returned; raises CorruptDataError for anything else, and then changes
        nothing."""
        try:
            identity, stream = tuple(state["settings"]), state["np_random"]
            data, episode = state["record"], dict(state["episode"])
            known = bool(identity == self._identity())
            states = record.from_bytes(self.game.dtype, data)
        except CorruptDataError:
            raise
        except NO_STATE as error:
            raise CorruptDataError(f"this is no state: {error!r}; give what get_state() returned") from error
        if not known or len(states) != 1:
            raise CorruptDataError(f"the state belongs to {identity}, not to {self._identity()}")
        check_record(self.game, self.settings, states)
        self._check_episode(episode, states)
        generator = None if stream is None else restored_stream(seeding.np_random(0)[0], stream)
        self._states = states
        self._moves += 1
        self.__dict__.update(copy.deepcopy(episode))
        self._np_random = generator
        loops.legal(self._calls, states, 0, self._mask)
        loops.observe(self._calls, states, 0, max(int(states["seat"][0]), 0), self._observation)

    def _check_episode(self, episode: dict[str, Any], states: np.ndarray) -> None:
        """Raise CorruptDataError unless the entries are those of `_EPISODE` and fit each other and the record."""
        try:
            sound = episode.keys() == set(_EPISODE) and self._fits(episode, int(states["seat"][0]))
            sound = sound and not (episode["_live"] and states["over"][0] != RUNNING)
        except NO_STATE:
            sound = False
        if not sound:
            raise CorruptDataError("the episode of the state is none of this game: give what get_state() returned")

    def _fits(self, episode: dict[str, Any], seat: int) -> bool:
        agents, live, infos = episode["agents"], episode["_live"], episode["_infos"]
        paid, gained, ends = episode["_returns"], ("rewards", "_cumulative_rewards"), ("terminations", "truncations")
        return (
            isinstance(live, bool)
            and isinstance(agents, list)
            and agents == [agent for agent in self.possible_agents if agent in agents]
            and episode["agent_selection"] in self._seats
            and (not live or (agents == self.possible_agents and episode["agent_selection"] == agents[seat]))
            and (episode["_skip_agent_selection"] is None or episode["_skip_agent_selection"] in self._seats)
            and (live or not agents or episode["agent_selection"] in agents)
            and all(_one_each(episode[name], agents, Real) for name in gained)
            and all(_one_each(episode[name], agents, bool) for name in ends)
            and all(ended is not live for ended in episode["terminations"].values())
            and (infos is None or _one_each(infos, agents, dict))
            and isinstance(paid, list)
            and len(paid) == self.num_players
            and all(isinstance(amount, Real) for amount in paid)
        )


def _one_each(told: Any, agents: list[str], kind: type) -> bool:
    return (
        isinstance(told, dict)
        and told.keys() == set(agents)
        and all(isinstance(value, kind) for value in told.values())
    )


def restored_stream(generator: np.random.Generator, state: Any) -> np.random.Generator:
    """A copy of the generator in this state of its bit generator; raises CorruptDataError if it is none."""
    restored = copy.deepcopy(generator)
    try:
        restored.bit_generator.state = copy.deepcopy(state)
    except NO_STATE as error:
        raise CorruptDataError(f"np_random of the state: {error!r}; give what get_state() returned") from error
    return restored


def check_reset_options(settings: Settings, options: Mapping[str, Any] | None) -> None:
    """Raise OptionError for a reset() with what only a new environment can have."""
    fixed = sorted({"num_players", *settings.values} & set(options)) if options else []
    if fixed:
        raise OptionError(
            f"reset() cannot change {', '.join(fixed)}: options are fixed when the environment is made; "
            "make another one"
        )


def module_level(game_id: str) -> tuple[Maker, Maker, ParallelMaker]:
    """`env`, `raw_env` and `parallel_env` for a `<game>_vN` module; no wrapper is needed, so the first two are the
    same."""

    def env(num_players: int | None = None, **arguments: Any) -> TabletopAEC:
        """The game's AEC environment; arguments: those of `tabletop_envs.envs.aec.TabletopAEC`."""
        return TabletopAEC(game_id, num_players, **arguments)

    def parallel_env(num_players: int | None = None, **arguments: Any) -> TurnBasedParallel:
        """The turn-based parallel view of the game; arguments: those of `tabletop_envs.envs.aec.TabletopAEC`."""
        from tabletop_envs.envs.parallel import turn_based_parallel

        return turn_based_parallel(game_id, num_players, **arguments)

    return env, env, parallel_env


def env(game: Game | str, num_players: int | None = None, **arguments: Any) -> TabletopAEC:
    """What PettingZoo's registry calls; arguments: those of `TabletopAEC`."""
    return TabletopAEC(game, num_players, **arguments)


def _check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        near = difflib.get_close_matches(value, allowed, 1) if isinstance(value, str) else []
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise OptionError(f"{name}={value!r} is not possible: give one of {', '.join(map(repr, allowed))}{hint}")
    return str(value)


def _check_whole(name: str, value: Any, limit: int | None) -> int:
    if not is_whole(value, 0, None if limit is None else limit - 1):
        span = "a whole number from 0 on" if limit is None else f"a whole number from 0 to {limit - 1}"
        raise OptionError(f"{name}={value!r} is not possible: give {span}")
    return int(value)
