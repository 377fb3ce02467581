"""Checks of what a learner or an agent meets: the environments with one learning seat, and the View of a position."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tabletop_envs.agents.base import Agent, View
from tabletop_envs.agents.greedy import GreedyAgent
from tabletop_envs.agents.human import HumanAgent
from tabletop_envs.agents.random import RandomAgent
from tabletop_envs.core import jit
from tabletop_envs.core.position import Position
from tabletop_envs.core.random import OPPONENTS, derive_key
from tabletop_envs.core.spec import Settings
from tabletop_envs.envs.gym_vector import TabletopGymVector
from tabletop_envs.envs.rewards import DEFAULT_REWARD, Reward
from tabletop_envs.envs.solo import TabletopSolo
from tabletop_envs.errors import OptionError
from tabletop_envs.testing.environments import strict
from tabletop_envs.testing.subject import RANDOM, Subject, fail, label, pick

_VECTOR: Final = 4  # games of a vector environment
_SALTS: Final = (1, 2)

_BUILT_IN: Final[dict[str, Callable[[int], Agent]]] = {"random": RandomAgent, "greedy": GreedyAgent}


def _answered(position: Position, seat: int, agents: dict[int, Agent]) -> Position:
    """The position when the seat is asked next, or the game is over."""
    while position.seat is not None and position.seat != seat:
        position.apply(agents[position.seat].choose(View(position)))
    return position


def _paid(position: Position) -> list[float]:
    points, places = np.array(position.points()), np.array(position.places())
    paid: list[float] = Reward(DEFAULT_REWARD, position.game.spec)(points, places).tolist()
    return paid


# --- one game ---------------------------------------------------------------------------------------------------


def solo_agrees(subject: Subject) -> str:
    """The solo environment asks for every decision of its seat and no other, shows what `Position` shows, and pays
    at the end what points and places ask; built-in opponents and agents of the same name choose the same."""
    played = 0
    for number, settings in enumerate(subject.grid):
        for seed in range(max(subject.games, settings.num_players)):
            seat = (number + seed) % settings.num_players
            name = ("random", "greedy")[seed % 2]
            played += _solo_game(subject, settings, seed, seat, name, compiled=True)
            if seed < settings.num_players:
                played += _solo_game(subject, settings, seed, seat, name, compiled=False)
    return f"{played} games"


def _solo_game(subject: Subject, settings: Settings, key: int, seat: int, name: str, *, compiled: bool) -> int:
    players, salt = settings.num_players, int(derive_key(key, OPPONENTS, 0))
    seeds = {other: salt if compiled else int(derive_key(salt, OPPONENTS, other)) for other in range(players)}
    agents = {other: _BUILT_IN[name](seed) for other, seed in seeds.items() if other != seat}
    others = [_BUILT_IN[name](0) for _ in range(players - 1)]
    opponents: Any = name if compiled else others
    env = TabletopSolo(subject.game, players, opponents=opponents, learner=seat, **settings.values)
    position = _answered(Position.new(subject.game, players, seed=key, **settings.values), seat, agents)
    try:
        observation, info = env.reset(options={"key": key})
    except OptionError:
        if not position.over:
            fail(position, f"the solo environment says that seat {seat} is never asked")
        return 0
    reward, terminated, truncated = 0.0, False, False
    while True:
        if env.position != position:
            fail(position, f"the solo environment of seat {seat} against {name} is at {env.position!r}")
        if not np.array_equal(observation, position.observe(seat)):
            fail(position, f"the solo environment gives another observation of seat {seat}")
        masks = (position.action_mask(), info["action_mask"], env.action_masks().astype(np.int8))
        if not np.array_equal(masks[0], masks[1]) or not np.array_equal(masks[0], masks[2]):
            fail(position, "the solo environment gives another mask")
        due = _paid(position)[seat] if position.over else 0.0
        if (reward, terminated, truncated) != (due, position.over, position.capped):
            fail(
                position, f"the solo environment says (reward, terminated, truncated) = {reward, terminated, truncated}"
            )
        if position.over:
            if (info["points"], info["places"], info["seat"]) != (position.points(), position.places(), seat):
                fail(position, f"at the end the solo environment tells {info}")
            return 1
        action = pick(position, key)
        position.apply(action)
        _answered(position, seat, agents)
        observation, reward, terminated, truncated, info = env.step(action)


def gymnasium_tests(subject: Subject) -> str:
    """Gymnasium's and Stable-Baselines3's `check_env`, every warning an error, for every seat as the learner's."""
    from gymnasium.utils.env_checker import check_env

    checks: dict[str, Callable[[TabletopSolo], None]] = {
        "Gymnasium": lambda env: check_env(env, skip_render_check=True)
    }
    try:
        from stable_baselines3.common.env_checker import check_env as sb3_check_env
    except ImportError:
        pass
    else:
        checks["Stable-Baselines3"] = sb3_check_env
    for number, settings in enumerate(subject.grid):
        learner = ("rotate", *range(settings.num_players))[number % (1 + settings.num_players)]
        append_mask = number % 2 == 1
        env = TabletopSolo(
            subject.game, settings.num_players, learner=learner, append_mask=append_mask, **settings.values
        )
        for library, check in checks.items():
            try:
                with strict():
                    check(env)
            except (AssertionError, Warning) as error:
                fail(settings, f"{type(error).__name__} from the check_env of {library}: {error}")
    return f"{len(subject.grid)} environments, {' and '.join(checks)}"


# --- a batch ----------------------------------------------------------------------------------------------------


def gym_vector_agrees(subject: Subject) -> str:
    """The vector environment does to N games with a learner what `Position` does to each, and pays each end once."""
    for settings in subject.grid:
        _vector_agrees(subject, settings)
    return f"{_VECTOR} games at a time"


def _vector_agrees(subject: Subject, settings: Settings) -> None:
    players = settings.num_players
    agents: dict[int, Agent] = dict.fromkeys(range(players), RandomAgent(1))
    env = TabletopGymVector(subject.game, _VECTOR, players, opponents=RandomAgent(1), **settings.values)
    observations, infos = env.reset(seed=1)
    left = np.full(_VECTOR, subject.games if jit.COMPILED else 1)

    def fresh(row: int) -> Position:
        key = env.position(row).seed
        dealt = Position.new(subject.game, players, seed=key, **settings.values)
        return _answered(dealt, int(infos["seat"][row]), agents)

    positions = [fresh(row) for row in range(_VECTOR)]
    while left.any():
        for row, position in enumerate(positions):
            seat = int(infos["seat"][row])
            if position.seat != seat or env.position(row) != position:
                fail(position, f"game {row} of the Gymnasium vector is at {env.position(row)!r}, its learner is {seat}")
            if not np.array_equal(observations[row], position.observe(seat)):
                fail(position, f"the Gymnasium vector gives another observation in game {row}")
            if not np.array_equal(infos["action_mask"][row], position.action_mask()):
                fail(position, f"the Gymnasium vector gives another mask in game {row}")
        seats = infos["seat"]
        actions = np.array([pick(position, row, RANDOM) for row, position in enumerate(positions)])
        observations, rewards, terminations, truncations, infos = env.step(actions)
        for row, position in enumerate(positions):
            seat = int(seats[row])
            position.apply(int(actions[row]))
            _answered(position, seat, agents)
            due = _paid(position)[seat] if position.over else 0.0
            told = (float(rewards[row]), bool(terminations[row]), bool(truncations[row]))
            if told != (due, position.over, position.capped):
                fail(position, f"the Gymnasium vector says (reward, terminated, truncated) = {told} in game {row}")
            if position.over:
                _final_agrees(position, seat, infos, row)
                left[row] = max(0, left[row] - 1)
                positions[row] = fresh(row)
            elif "final_obs" in infos and infos["_final_obs"][row]:
                fail(position, f"the Gymnasium vector gives a last observation in game {row}, which goes on")


def _final_agrees(position: Position, seat: int, infos: dict[str, Any], row: int) -> None:
    final = infos["final_info"]
    if not infos["_final_obs"][row] or not np.array_equal(infos["final_obs"][row], position.observe(seat)):
        fail(position, f"the Gymnasium vector gives another last observation of game {row}")
    told = (final["points"][row].tolist(), final["places"][row].tolist(), int(final["seat"][row]))
    if not infos["_final_info"][row] or told != (position.points(), position.places(), seat):
        fail(position, f"at its end the Gymnasium vector tells (points, places, seat) = {told} of game {row}")


# --- what an agent is handed ------------------------------------------------------------------------------------


def views(subject: Subject) -> str:
    """A View shows the same of every position that its seat cannot tell apart, and gives nothing of the position
    itself away; what it hands out is the agent's own."""
    seen = 0
    for position in subject.some_positions():
        if position.seat is None:
            continue
        before, view = position.to_bytes(), View(position)
        shown = _shown(position, view)
        for salt in _SALTS:
            other = _shown(position, View(position.determinize(position.seat, salt)))
            different = [name for name in shown if not _same(shown[name], other[name])]
            if different:
                fail(position, f"the View of seat {position.seat} tells by {', '.join(different)} what it may not know")
            copy = view.determinized(salt)
            if copy.seed == position.seed or not np.array_equal(copy.observe(position.seat), view.observation):
                fail(position, f"the View's determinized({salt}) keeps the key, or not what the seat observes")
            copy.apply(int(copy.legal_actions()[0]))
        for value in shown.values():
            if isinstance(value, np.ndarray):
                value.fill(0)
        if position.to_bytes() != before or not np.array_equal(position.action_mask(), view.action_mask):
            fail(position, "an agent changes the position through what its View hands out")
        seen += 1
    return f"{seen} views of {', '.join(sorted(shown))}"


def _shown(position: Position, view: View) -> dict[str, Any]:
    """All that the public attributes of a View tell without an argument."""
    shown = {}
    for name in dir(view):
        if name.startswith("_"):
            continue
        value = getattr(view, name)
        if not callable(value):
            shown[name] = value
        elif not inspect.signature(value).parameters:
            shown[name] = value()
    texts = [view.action_text(int(action)) for action in view.legal_actions()]
    shown["action_text"], shown["parse_action"] = texts, [view.parse_action(text) for text in texts]
    for name, value in shown.items():
        records = isinstance(value, (np.ndarray, np.void)) and value.dtype == position.states.dtype
        if records or isinstance(value, Position):
            fail(position, f"the View hands out the position itself as {name!r}")
        if isinstance(value, dict) and {"seed", "draws", "key"} & set(value):
            fail(position, f"the View hands out the key of all chance in {name!r}")
    return shown


def _same(one: Any, other: Any) -> bool:
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else bool(one == other)


def human(subject: Subject) -> str:
    """A person at the terminal gets every legal action by its number and by its words."""
    asked = 0
    for position in subject.some_positions():
        if position.seat is None:
            continue
        view = View(position)
        legal = view.legal_actions()
        place = position.decisions % len(legal)
        action = int(legal[place])
        for typed in (str(place + 1), view.action_text(action)):
            sink = io.StringIO()
            chosen = HumanAgent(source=io.StringIO(f"?\nlist\n{typed}\n"), sink=sink).choose(view)
            if chosen != action:
                fail(position, f"{typed!r} at the terminal chooses {chosen}, not {action}")
            if view.action_text(action) not in sink.getvalue():
                fail(position, f"the terminal does not list {view.action_text(action)!r}")
        asked += 1
    return f"{asked} positions, settings such as {label(subject.grid[-1])}"
