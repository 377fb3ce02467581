"""The PettingZoo environment of every registered game and of the toy game (more seats, chance, hidden cards): the
interface, the ends of a game, illegal actions, order of calls, seeds, copies, rendering, the parallel view.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test, state_test
from pettingzoo.utils import wrappers
from toy_game import GAME as TOY

import tabletop_envs
from tabletop_envs import registry
from tabletop_envs.core import jit
from tabletop_envs.core.game import PUBLIC
from tabletop_envs.core.position import Position
from tabletop_envs.envs.aec import TabletopAEC, env, module_level
from tabletop_envs.envs.parallel import TurnBasedParallel, turn_based_parallel
from tabletop_envs.envs.rewards import REWARDS, Reward
from tabletop_envs.errors import (
    CorruptDataError,
    GameOverError,
    IllegalActionError,
    OptionError,
    OrderError,
    UnknownAgentError,
    UnknownGameError,
)
from tabletop_envs.render.ansi import ansi

pytestmark = pytest.mark.usefixtures("toy")  # makes it known to the registry

SPECS = [*registry.games().values(), TOY]
GAMES = [spec.id for spec in SPECS]
SIZES = [(spec.id, players) for spec in SPECS for players in sorted({spec.min_players, spec.max_players})]
MASK_PLACES = ["observation", "info"]
CAP = 7

# api_test excuses only PettingZoo's own games, by name, for observing a dict.
DICT_WARNINGS = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
)

# no states of a generator's stream
NO_STREAMS = (5, "PCG64", {}, {"bit_generator": "MT19937"}, {"bit_generator": "PCG64", "state": {"state": -1}})

sizes = pytest.mark.parametrize(("game", "players"), SIZES)
PLAIN_DECISIONS = 40  # of a game in plain Python
games = pytest.mark.parametrize("game", GAMES)
mask_places = pytest.mark.parametrize("mask_in", MASK_PLACES)


@contextmanager
def strict() -> Iterator[None]:
    """Every warning but the two of the dict observation is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for message in DICT_WARNINGS:
            warnings.filterwarnings("ignore", message=message)
        yield


def mask_of(observation: Any, info: dict[str, Any]) -> np.ndarray:
    return observation["action_mask"] if isinstance(observation, dict) else info["action_mask"]


def vector_of(observation: Any) -> np.ndarray:
    return observation["observation"] if isinstance(observation, dict) else observation


def pick(table: TabletopAEC, rng: np.random.Generator) -> int | None:
    """A random legal action of the agent to act; None when its game is over."""
    observation, _, terminated, truncated, info = table.last()
    if terminated or truncated:
        return None
    return int(rng.choice(np.flatnonzero(mask_of(observation, info))))


def play(table: TabletopAEC, decisions: int, seed: int = 0) -> TabletopAEC:
    """Make up to so many random decisions, stopping at the end of the game."""
    rng = np.random.default_rng(seed)
    for _ in range(decisions):
        action = pick(table, rng)
        if action is None:
            break
        table.step(action)
    return table


def play_to_end(table: TabletopAEC, seed: int = 0) -> TabletopAEC:
    return play(table, 10**6, seed)


def fresh(game: str, players: int | None = None, seed: int = 0, **arguments: Any) -> TabletopAEC:
    table = TabletopAEC(game, players, **arguments)
    table.reset(seed=seed)
    return table


def trace(table: TabletopAEC, seed: int = 0) -> list[Any]:
    """Everything that last() says from here to the end of the next game, as plain values."""
    rng = np.random.default_rng(seed)
    said: list[Any] = []
    for number in range(2):
        if number:
            table.reset()
            said.append(table.position.seed)
        for agent in table.agent_iter():
            observation, reward, terminated, truncated, info = table.last()
            told = {name: value for name, value in info.items() if name != "action_mask"}
            mask = mask_of(observation, info)
            seen = vector_of(observation).tolist(), mask.tolist()
            said.append((agent, seen, reward, terminated, truncated, told))
            table.step(None if terminated or truncated else int(rng.choice(np.flatnonzero(mask))))
    return said


def illegal_action(table: TabletopAEC) -> int:
    observation, *_, info = table.last()
    return int(np.flatnonzero(mask_of(observation, info) == 0)[0])


# --- the ready-made tests ---------------------------------------------------------------------------------------


@sizes
@mask_places
def test_pettingzoo_api(game: str, players: int, mask_in: str) -> None:
    with strict():
        api_test(TabletopAEC(game, players, mask_in=mask_in), num_cycles=300)


@sizes
@mask_places
def test_pettingzoo_seed(game: str, players: int, mask_in: str) -> None:
    with strict():
        seed_test(lambda: TabletopAEC(game, players, mask_in=mask_in), num_cycles=100)


@sizes
@mask_places
def test_pettingzoo_state(game: str, players: int, mask_in: str) -> None:
    with strict():
        state_test(TabletopAEC(game, players, mask_in=mask_in), turn_based_parallel(game, players, mask_in=mask_in))


@sizes
@mask_places
def test_pettingzoo_parallel_api(game: str, players: int, mask_in: str) -> None:
    with strict():
        parallel_api_test(turn_based_parallel(game, players, mask_in=mask_in), num_cycles=300)


@games
@mask_places
def test_inside_pettingzoos_wrappers(game: str, mask_in: str) -> None:
    def wrapped() -> Any:
        inner = wrappers.TerminateIllegalWrapper(TabletopAEC(game, mask_in=mask_in), illegal_reward=-1)
        return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(inner))

    with strict():
        api_test(wrapped(), num_cycles=100)
        seed_test(wrapped, num_cycles=100)


@games
def test_pettingzoo_render(game: str) -> None:
    with strict():
        svg = {"svg": lambda result: result.startswith("<svg ")}
        render_test(lambda render_mode: TabletopAEC(game, render_mode=render_mode), custom_tests=svg)


# --- the interface ----------------------------------------------------------------------------------------------


@sizes
@mask_places
def test_what_stands_before_and_after_reset(game: str, players: int, mask_in: str) -> None:
    table = TabletopAEC(game, players, mask_in=mask_in)
    spec = registry.spec(game)
    assert str(table) == table.metadata["name"] == f"{spec.id}_v{spec.version}"
    assert table.metadata["is_parallelizable"] is False
    assert table.possible_agents == [f"player_{seat}" for seat in range(players)]
    assert table.max_num_agents == players
    assert table.unwrapped is table
    table.reset()
    assert table.agents == table.possible_agents
    assert table.agents is not table.possible_agents
    for values in (table.rewards, table.terminations, table.truncations, table.infos):
        assert list(values) == table.agents
    assert all(value is False for value in [*table.terminations.values(), *table.truncations.values()])


@sizes
def test_spaces(game: str, players: int) -> None:
    in_dict, in_info = TabletopAEC(game, players), TabletopAEC(game, players, mask_in="info")
    size = in_dict.observation_layout.size(in_dict.settings.values)
    vector = gymnasium.spaces.Box(0.0, 1.0, (size,), np.float32)
    mask = gymnasium.spaces.Box(0, 1, (in_dict.action_layout.size(in_dict.settings.values),), np.int8)
    both = gymnasium.spaces.Dict({"observation": vector, "action_mask": mask})
    for agent in in_dict.possible_agents:
        assert in_dict.observation_space(agent) == both
        assert in_info.observation_space(agent) == vector
        assert in_dict.action_space(agent) == gymnasium.spaces.Discrete(
            in_dict.action_layout.size(in_dict.settings.values)
        )
        assert in_dict.observation_space(agent) is in_dict.observation_space(agent)
        assert in_dict.action_space(agent) is in_dict.action_spaces[agent]
        assert in_dict.observation_space(agent) is in_dict.observation_spaces[agent]
    assert len({id(space) for space in in_dict.action_spaces.values()}) == players
    assert len({id(space) for space in in_dict.observation_spaces.values()}) == players
    assert in_dict.state_space == gymnasium.spaces.Box(0.0, 1.0, (players * size,), np.float32)
    assert in_dict.state_space is in_dict.state_space
    for ask in (in_dict.observation_space, in_dict.action_space):
        with pytest.raises(UnknownAgentError, match="there are player_0"):
            ask("player_99")


@pytest.mark.nojit
@sizes
@mask_places
def test_a_game_is_that_of_the_core(game: str, players: int, mask_in: str) -> None:
    """Step by step what `Position` says, for every agent, to the end and through the dead steps."""
    cap = registry.spec(game).max_decisions[players]
    if not jit.COMPILED:
        cap = min(cap, PLAIN_DECISIONS)
    table = TabletopAEC(game, players, mask_in=mask_in, reward={"win": 0.5, "score": 0.5}, max_decisions=cap)
    rng = np.random.default_rng(5)
    for key in range(3 if jit.COMPILED else 1):
        table.reset(options={"key": key})
        twin = Position.new(game, players, seed=key, max_decisions=cap)
        for agent in table.agent_iter():
            assert table.position == twin
            for seat, other in enumerate(table.possible_agents):
                seen = table.observe(other)
                assert vector_of(seen).dtype == np.float32
                assert np.array_equal(vector_of(seen), twin.observe(seat))
                if mask_in == "observation" or other in table.infos:
                    mask = mask_of(seen, table.infos.get(other, {}))
                    assert mask.dtype == np.int8
                    acts = not twin.over and other == agent
                    assert np.array_equal(mask, twin.action_mask() if acts else np.zeros_like(mask))
            expected_state = np.concatenate([twin.observe(seat) for seat in range(players)])
            assert np.array_equal(table.state(), expected_state)
            assert table.state_space.contains(table.state())

            observation, reward, terminated, truncated, info = table.last()
            seat = table.possible_agents.index(agent)
            assert np.array_equal(vector_of(observation), twin.observe(seat))
            assert info.get("events", []) == twin.events()
            assert ("events" in info) == bool(twin.events())
            if twin.over:
                assert terminated is True
                assert truncated is twin.capped
                assert reward == table.returns()[seat]
                assert (info["points"], info["places"]) == (twin.points(), twin.places())
                assert info["end"] == ("cap" if twin.capped else "rules")
                table.step(None)
                continue
            assert agent == table.possible_agents[twin.seat]
            assert (reward, terminated, truncated) == (0.0, False, False)
            assert not {"points", "places", "end"} & set(info)
            action = int(rng.choice(np.flatnonzero(mask_of(observation, info))))
            table.step(action)
            twin.apply(action)
        assert twin.over
        paid = Reward({"win": 0.5, "score": 0.5}, registry.spec(game))
        assert table.returns() == paid(np.array(twin.points()), np.array(twin.places())).tolist()


def test_events_do_occur() -> None:
    seen = []
    for game in GAMES:
        table = play_to_end(fresh(game))
        seen += table.last()[4].get("events", [])
    assert all(isinstance(text, str) and text for text in seen)
    assert seen


@games
def test_infos_are_told_to_all(game: str) -> None:
    table = play_to_end(fresh(game))
    told = list(table.infos.values())
    assert len(told) == table.num_players
    assert all(info == told[0] for info in told)
    assert len({id(info["points"]) for info in told}) == table.num_players


@sizes
def test_every_agent_collects_its_last_reward(game: str, players: int) -> None:
    table = play_to_end(fresh(game, players, reward="rank"))
    assert table.rewards == dict(zip(table.possible_agents, table.returns(), strict=True))
    collected = {}
    for agent in table.agent_iter():
        _, reward, terminated, _, _ = table.last()
        assert terminated is True
        collected[agent] = reward
        table.step(None)
        assert agent not in table.agents
        assert set(table.infos) == set(table.rewards) == set(table.terminations) == set(table.agents)
        assert not any(table.rewards.values())
    assert list(collected.values()) == table.returns()
    assert sum(collected.values()) == pytest.approx(0.0)


@sizes
def test_returns_are_zero_while_the_game_runs(game: str, players: int) -> None:
    table = play(fresh(game, players), 3)
    assert table.returns() == [0.0] * players


@pytest.mark.nojit
@sizes
@pytest.mark.parametrize("reward", REWARDS)
def test_the_cap_terminates_truncates_and_pays(game: str, players: int, reward: str) -> None:
    table = play_to_end(fresh(game, players, max_decisions=CAP, reward=reward))
    position = table.position
    assert position.decisions == CAP
    assert position.capped
    expected = Reward(reward, registry.spec(game))(np.array(position.points()), np.array(position.places()))
    for agent, amount in zip(table.possible_agents, expected.tolist(), strict=True):
        assert table.agent_selection == agent
        _, paid, terminated, truncated, info = table.last()
        assert (paid, terminated, truncated, info["end"]) == (amount, True, True, "cap")
        table.step(None)


@games
@pytest.mark.parametrize("kind", [int, np.int8, np.int32, np.int64, np.uint16, np.array])
def test_whole_numbers_of_any_type_are_actions(game: str, kind: Callable[[int], Any]) -> None:
    for policy in ("lose", "raise"):
        table, twin = fresh(game, illegal=policy), fresh(game, illegal=policy)
        action = int(np.flatnonzero(table.last()[0]["action_mask"])[0])
        if action > np.iinfo(np.int8).max and kind is np.int8:
            pytest.skip("the action does not fit")
        table.step(kind(action))
        twin.step(action)
        assert table.position == twin.position
        assert not any(table.terminations.values())


# --- nothing that is handed out is used again -------------------------------------------------------------------


def arrays_in(value: Any) -> list[np.ndarray]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [part for item in value for part in arrays_in(item)] if isinstance(value, (list, tuple)) else []


@games
@mask_places
def test_no_two_calls_share_memory(game: str, mask_in: str) -> None:
    table = fresh(game, mask_in=mask_in)
    rng = np.random.default_rng(0)
    handed: list[np.ndarray] = []
    for _ in range(4):
        for call in (table.last, table.last, table.state, table.state):
            handed += arrays_in(call())
        for agent in table.possible_agents:
            handed += arrays_in(table.observe(agent)) + arrays_in(table.observe(agent))
        action = pick(table, rng)
        table.step(action)
    for number, one in enumerate(handed):
        for other in handed[number + 1 :]:
            assert not np.shares_memory(one, other)


@games
@mask_places
def test_what_is_handed_out_may_be_spoilt(game: str, mask_in: str) -> None:
    table, twin = fresh(game, mask_in=mask_in), fresh(game, mask_in=mask_in)
    rng = np.random.default_rng(0)
    while True:
        action = pick(twin, rng)
        for array in arrays_in(table.last()) + arrays_in(table.state()) + arrays_in(table.observe("player_1")):
            array[...] = 1
        table.last()[4]["spoilt"] = True
        for held in table.infos.values():
            held["spoilt"] = True
            if mask_in == "info":
                held["action_mask"][:] = 1
        if action is None:
            break
        table.position.apply(action)
        table.step(action)
        twin.step(action)
        assert all("spoilt" not in info for info in table.infos.values())
        assert table.position == twin.position
    assert table.returns() == twin.returns()
    table.returns()[0] = 99.0
    table.last()[4]["points"].append(99)
    assert table.returns() == twin.returns()
    assert table.last()[4]["points"] == twin.last()[4]["points"]

    spoilt = fresh(game, mask_in=mask_in)
    wrong = illegal_action(spoilt)
    for array in arrays_in(spoilt.last()) + arrays_in(spoilt.infos):
        array[...] = 1
    spoilt.step(wrong)
    assert spoilt.infos["player_0"]["end"] == "illegal"


# --- illegal actions --------------------------------------------------------------------------------------------

NO_ACTIONS = [-1, -(2**40), 2**70, 1.0, np.float64(0), "0", [0], np.array([0]), np.array([0, 1]), True, False]


def impossible(table: TabletopAEC) -> list[Any]:
    return [illegal_action(table), np.int32(illegal_action(table)), table.action_layout.size, *NO_ACTIONS]


@sizes
@mask_places
def test_an_illegal_action_loses(game: str, players: int, mask_in: str) -> None:
    start = play(fresh(game, players, mask_in=mask_in), 4)
    for action in impossible(start):
        table = start.clone()
        before, offender = table.position, table.agent_selection
        table.step(action)
        assert table.position == before
        assert all(value is True for value in table.terminations.values())
        assert not any(table.truncations.values())
        expected = [-1.0 if agent == offender else 0.0 for agent in table.possible_agents]
        assert table.returns() == list(table.rewards.values()) == expected
        collected = []
        for agent in table.agent_iter():
            observation, reward, terminated, truncated, info = table.last()
            collected.append(reward)
            assert (terminated, truncated) == (True, False)
            assert (info["end"], info["offender"], info["points"]) == ("illegal", offender, before.points())
            assert info["places"] == [players if other == offender else 1 for other in table.possible_agents]
            assert not mask_of(observation, info).any()
            seat = table.possible_agents.index(agent)
            assert np.array_equal(vector_of(observation), before.observe(seat))
            table.step(None)
        assert collected == expected
        with pytest.raises(GameOverError, match="call reset"):
            table.step(None)
        table.reset()
        assert play_to_end(table).infos["player_0"]["end"] in ("rules", "cap")


@sizes
def test_an_illegal_action_raises(game: str, players: int) -> None:
    table = play(fresh(game, players, illegal="raise"), 4)
    twin = table.clone()
    for action in impossible(table):
        whole = isinstance(action, (int, np.integer)) and not isinstance(action, bool)
        wrong = "is not" if whole else "is not a whole number from 0 to"
        with pytest.raises(IllegalActionError, match=wrong):
            table.step(action)
        assert table.get_state() == twin.get_state()
    for kind in (int, np.int16, np.array):
        with pytest.raises(IllegalActionError, match=f"is not legal for {table.agent_selection} in phase"):
            table.step(kind(illegal_action(table)))
    assert trace(table) == trace(twin)


@games
@pytest.mark.parametrize("illegal", ["lose", "raise"])
def test_none_is_no_action_in_play(game: str, illegal: str) -> None:
    table = fresh(game, illegal=illegal)
    before = table.get_state()
    with pytest.raises(IllegalActionError, match=f"{table.agent_selection} has to choose"):
        table.step(None)
    assert table.get_state() == before


# --- order of calls ---------------------------------------------------------------------------------------------


@games
def test_reset_comes_first(game: str) -> None:
    table = TabletopAEC(game, render_mode="ansi")
    calls: dict[str, Callable[[], Any]] = {
        "step": lambda: table.step(0),
        "observe": lambda: table.observe("player_0"),
        "state": table.state,
        "agent_iter": table.agent_iter,
        "render": table.render,
        "returns": table.returns,
        "get_state": table.get_state,
        "position": lambda: table.position,
    }
    for name, call in calls.items():
        with pytest.raises(OrderError, match=rf"reset\(\) needs to be called before {name}"):
            call()
        with pytest.raises(AssertionError):  # as PettingZoo's wrapper does
            call()
    for name in ("agents", "agent_selection", "num_agents", "rewards", "terminations", "truncations", "infos"):
        with pytest.raises(AttributeError, match="cannot be accessed before reset"):
            getattr(table, name)
        assert not hasattr(table, name)
    with pytest.raises(AttributeError, match="cannot be accessed before reset"):
        table.last()
    with pytest.raises(AttributeError, match="has no attribute 'agentz'"):
        _ = table.agentz
    table.close()
    table.close()


@games
def test_the_end_comes_last(game: str) -> None:
    table = play_to_end(fresh(game))
    with pytest.raises(ValueError, match="the only valid action is None"):
        table.step(0)
    while table.agents:
        table.step(None)
    for action in (None, 0):
        with pytest.raises(GameOverError, match=r"call reset\(\) first"):
            table.step(action)
    for observe in (True, False):
        with pytest.raises(GameOverError, match=r"last\(\) called after all agents .* call reset\(\) first"):
            table.last(observe)
    assert list(table.agent_iter()) == []
    assert np.array_equal(vector_of(table.observe("player_0")), table.position.observe(0))
    assert table.state_space.contains(table.state())
    table.close()
    table.reset()
    assert table.agents == table.possible_agents


@games
def test_agent_iter(game: str) -> None:
    table = fresh(game)
    asked = []
    for agent in table.agent_iter(5):
        assert agent == table.agent_selection
        asked.append(agent)
        table.step(pick(table, np.random.default_rng(0)))
    assert len(asked) == 5
    with pytest.raises(OrderError, match=r"need to call step\(\) or reset\(\) in a loop"):
        for _ in table.agent_iter(3):
            pass
    table.reset()
    for _ in range(2):  # another loop may begin where one was left
        assert next(iter(table.agent_iter())) == table.agent_selection
    for _ in table.agent_iter():
        twin, said = table.clone(), trace(table.clone())
        assert trace(twin) == said  # which loops over the agents of a copy made amid a loop
        break


@games
def test_last_without_observation(game: str) -> None:
    table = fresh(game)
    assert table.last(observe=False) == (None, 0.0, False, False, table.infos[table.agent_selection])


@games
def test_unknown_agents(game: str) -> None:
    table = fresh(game)
    for name in ("player_99", None, 0, ["player_0"]):
        with pytest.raises(UnknownAgentError, match="there are player_0, player_1"):
            table.observe(name)  # type: ignore[arg-type]


# --- seeds ------------------------------------------------------------------------------------------------------


@games
def test_seeds(game: str) -> None:
    table, twin = TabletopAEC(game), TabletopAEC(game)

    def key(table: TabletopAEC, **arguments: Any) -> int:
        table.reset(**arguments)
        return table.position.seed

    stream = [key(table, seed=3), *(key(table) for _ in range(3))]
    assert [key(twin, seed=3), *(key(twin) for _ in range(3))] == stream
    assert len(set(stream)) == len(stream)
    assert all(0 <= drawn < 2**53 for drawn in stream)
    assert key(table, seed=3) == stream[0]
    assert key(table, seed=np.int64(3)) == stream[0]
    assert key(table, seed=4) != stream[0]
    # an exact game is dealt without a draw
    assert key(table, seed=3, options={"key": 77}) == 77
    assert key(table, options={"key": np.int64(2**53 - 1)}) == 2**53 - 1
    assert [key(table) for _ in range(4)] == stream
    assert key(table, seed=3, options={"unknown": 1, "key": None}) == stream[0]
    # without any seed chance is fresh
    assert key(TabletopAEC(game)) != key(TabletopAEC(game))


@games
def test_options_are_fixed_when_the_environment_is_made(game: str) -> None:
    table = play(fresh(game), 3)
    before = table.get_state()
    for name in (*table.settings.values, "num_players"):
        for make in (table, turn_based_parallel(game)):
            with pytest.raises(OptionError, match=f"cannot change {name}: .* make another one"):
                make.reset(seed=1, options={"key": 7, name: True})
    assert table.get_state() == before
    table.reset(options={"key": 7, "unknown": 1})
    assert table.position.seed == 7


@games
@pytest.mark.parametrize("seed", [-1, 1.5, "3", True])
def test_impossible_seeds(game: str, seed: Any) -> None:
    table = fresh(game)
    before = table.get_state()
    with pytest.raises(OptionError, match="give a whole number from 0 on"):
        table.reset(seed=seed)
    with pytest.raises(OptionError, match=f"give a whole number from 0 to {2**53 - 1}"):
        table.reset(seed=1, options={"key": seed})
    with pytest.raises(OptionError, match=f"key={2**53} is not possible"):
        table.reset(seed=1, options={"key": 2**53})
    assert table.get_state() == before


# --- copies -----------------------------------------------------------------------------------------------------

COPIES: dict[str, Callable[[TabletopAEC], TabletopAEC]] = {
    "clone": TabletopAEC.clone,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda table: pickle.loads(pickle.dumps(table)),
}

copies = pytest.mark.parametrize("method", COPIES)


@sizes
@mask_places
@copies
def test_copies_continue_identically(game: str, players: int, mask_in: str, method: str) -> None:
    table = play(fresh(game, players, mask_in=mask_in, reward="rank"), 9)
    table.action_space("player_0").seed(1)
    table.action_space("player_0").sample()
    twin = COPIES[method](table)
    assert twin.get_state() == table.get_state() if mask_in == "observation" else twin.position == table.position
    before = twin.position
    samples = [[one.action_space("player_0").sample() for _ in range(5)] for one in (table, twin)]
    assert samples[0] == samples[1]
    said = trace(table)
    assert twin.position == before
    assert trace(twin) == said


@games
@copies
def test_copies_at_the_end_and_before_the_start(game: str, method: str) -> None:
    table = play_to_end(fresh(game))
    table.step(None)
    twin = COPIES[method](table)
    assert twin.agents == table.agents
    assert twin.returns() == table.returns()
    assert twin.last()[1:] == table.last()[1:]
    while twin.agents:
        twin.step(None)
    assert table.agents
    twin.reset()
    table.reset()
    assert twin.position == table.position

    unborn = COPIES[method](TabletopAEC(game))
    with pytest.raises(OrderError):
        unborn.step(0)
    unborn.reset(seed=1)
    assert unborn.position == fresh(game, seed=1).position


@games
@copies
def test_copies_share_nothing_that_changes(game: str, method: str) -> None:
    table = play(fresh(game), 3)
    twin = COPIES[method](table)
    wrong = illegal_action(twin)
    twin.step(wrong)
    assert not any(table.terminations.values())
    assert table.agents == table.possible_agents
    assert table.observation_space("player_0") is not twin.observation_space("player_0")
    assert table.np_random is not twin.np_random
    assert table.last()[0]["action_mask"].any()


@sizes
@mask_places
def test_states_are_set_and_got(game: str, players: int, mask_in: str) -> None:
    table = play(fresh(game, players, mask_in=mask_in), 6)
    kept = pickle.loads(pickle.dumps(table.get_state()))
    said = trace(table)
    for other in (table, TabletopAEC(game, players, mask_in=mask_in), fresh(game, players, 9, mask_in=mask_in)):
        for _ in range(2):  # a state serves more than once
            other.set_state(kept)
            assert trace(other) == said
    over = play_to_end(fresh(game, players, mask_in=mask_in))
    table.set_state(over.get_state())
    assert table.last()[2] is True
    assert table.returns() == over.returns()


@games
def test_states_of_others_are_refused(game: str) -> None:
    table = fresh(game)
    before = table.get_state()
    capped = fresh(game, max_decisions=CAP).get_state()
    for state in (capped, fresh(game, mask_in="info").get_state()):
        with pytest.raises(CorruptDataError, match="belongs to"):
            table.set_state(state)
    for broken in ({}, {**before, "record": b"abc"}, {**before, "settings": None}, None):
        with pytest.raises(CorruptDataError):
            table.set_state(broken)  # type: ignore[arg-type]
    assert table.get_state() == before


def untouched(table: TabletopAEC, state: Any, words: str | None = None) -> None:
    """set_state() refuses the state and leaves everything as it was."""
    kept, moves, names = table.get_state(), table._moves, set(table.__dict__)
    mask, seen = table._mask.copy(), table._observation.copy()
    with pytest.raises(CorruptDataError, match=words):
        table.set_state(state)
    assert table.get_state() == kept
    assert table._moves == moves
    assert set(table.__dict__) == names
    assert np.array_equal(table._mask, mask)
    assert np.array_equal(table._observation, seen)


@games
def test_records_of_garbage_are_refused(game: str) -> None:
    table = play(fresh(game), 5)
    state, rng = table.get_state(), np.random.default_rng(0)
    size = len(state["record"])
    for data in (bytes(size), b"\xff" * size, *(rng.bytes(size) for _ in range(20))):
        untouched(table, {**state, "record": data}, "no position of")
    for name, value in (
        ("seat", 1 - table.position.states["seat"][0]),
        ("seat", table.num_players),
        ("over", 1),
        ("phase", 99),
        ("key", -1),
        ("draws", -1),
        ("decisions", 10**6),
        ("max_decisions", 10**6),
        ("num_players", table.num_players + 1),
        ("auto_forced", 9),
        ("num_events", -1),
        ("header_pad", 1),
    ):
        states = table.position.states
        states[name] = value
        untouched(table, {**state, "record": states.tobytes()})


@games
def test_a_record_with_one_other_byte_is_refused_or_playable(game: str) -> None:
    table = play(fresh(game), 5)
    state, rng = table.get_state(), np.random.default_rng(0)
    refused = 0
    for place in range(len(state["record"])):
        data = bytearray(state["record"])
        data[place] ^= 1 << int(rng.integers(8))
        try:
            table.set_state({**state, "record": bytes(data)})
        except CorruptDataError:
            refused += 1
        else:
            play_to_end(table)
    assert refused > len(state["record"]) / 2


@games
def test_episodes_that_are_none_are_refused(game: str) -> None:
    table = play(fresh(game), 5)
    state = table.get_state()
    episode = state["episode"]
    over = play_to_end(fresh(game)).get_state()
    other = next(agent for agent in table.possible_agents if agent != table.agent_selection)
    for wrong in (
        {"foo": 1},
        {**episode, "foo": 1},
        {**episode, "_states": None},
        {},
        5,
        None,
        "agents",
        {name: episode[name] for name in episode if name != "_live"},
        {**episode, "agents": episode["agents"][::-1]},
        {**episode, "agents": ["player_0", "player_99"]},
        {**episode, "agents": 3},
        {**episode, "agent_selection": "player_99"},
        {**episode, "agent_selection": ["player_0"]},
        {**episode, "agent_selection": other},
        {**episode, "rewards": {}},
        {**episode, "rewards": dict.fromkeys(table.agents, "much")},
        {**episode, "_cumulative_rewards": [0.0, 0.0]},
        {**episode, "terminations": dict.fromkeys(table.agents, True)},
        {**episode, "truncations": dict.fromkeys(table.agents, 0)},
        {**episode, "_infos": {"player_0": {}}},
        {**episode, "_infos": dict.fromkeys(table.agents, 1)},
        {**episode, "_returns": [0.0]},
        {**episode, "_returns": None},
        {**episode, "_skip_agent_selection": "nobody"},
        {**episode, "_live": 1},
        {**episode, "_live": False},
    ):
        untouched(table, {**state, "episode": wrong})
    untouched(table, {**over, "episode": episode})
    while over["episode"]["agents"]:  # what is refused when damaged is taken at every stage of the end
        table.set_state(over)
        table.step(None)
        over = table.get_state()
    table.set_state(over)
    assert table.agents == []
    table.set_state(state)
    assert table.get_state() == state


@games
def test_streams_that_are_none_are_refused(game: str) -> None:
    table = play(fresh(game), 5)
    ahead = play(fresh(game), 8).get_state()
    for wrong in NO_STREAMS:
        untouched(table, {**ahead, "np_random": wrong}, "np_random")
    for wrong in ({**ahead, "record": 5}, {**ahead, "record": "x" * len(ahead["record"])}, [ahead], ahead["record"]):
        untouched(table, wrong)
    table.set_state(ahead)
    assert table.get_state() == ahead


# --- rendering --------------------------------------------------------------------------------------------------


@games
def test_ansi(game: str) -> None:
    table = fresh(game, render_mode="ansi")
    text = table.render()
    assert text is not None
    first = f"{registry.spec(game).title}, decision 0: {table.agent_selection} to act ({table.position.phase})"
    assert text.partition("\n")[0] == first  # how many actions are legal would tell of hidden cards
    assert ansi(table.position.scene(PUBLIC), False).partition("\n")[2] in text
    text = play_to_end(table).render()
    assert text is not None
    assert ": over; points " in text
    assert all(event in text for event in table.position.events())


@games
def test_human_mode_prints_each_position(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = fresh(game, render_mode="human")
    assert "decision 0" in capsys.readouterr().out
    play(table, 1)
    assert "decision 1" in capsys.readouterr().out
    table.step(illegal_action(table))
    assert ": over; points " in capsys.readouterr().out
    assert table.render() is None


@games
def test_no_mode_renders_nothing(game: str) -> None:
    with pytest.warns(UserWarning, match="without a render mode"):
        assert fresh(game).render() is None


# --- making -----------------------------------------------------------------------------------------------------


@games
def test_ids(game: str) -> None:
    spec = registry.spec(game)
    made = [
        tabletop_envs.make(game),
        tabletop_envs.make(spec.env_id),
        tabletop_envs.make(spec.name, spec.max_players),
        env(game=game),
        TabletopAEC(registry.load(game)),
        *(maker() for maker in module_level(game)[:2]),
    ]
    assert all(type(table) is TabletopAEC and table.metadata["name"] == spec.name for table in made)
    raw_env = module_level(game)[1]
    assert raw_env(num_players=spec.max_players, illegal="raise").num_players == spec.max_players
    assert module_level(game)[0] is raw_env or module_level(game)[0]().__class__ is raw_env().__class__
    views = [tabletop_envs.make_parallel(spec.env_id, spec.max_players), module_level(game)[2](spec.max_players)]
    for view in views:
        assert type(view) is TurnBasedParallel
        assert str(view) == spec.name
        assert len(view.reset(seed=0)[0]) == spec.max_players


@games
def test_pettingzoos_registry(game: str) -> None:
    if not hasattr(pettingzoo, "make"):
        pytest.skip("this PettingZoo has no registry")
    spec = registry.spec(game)
    table = pettingzoo.make("aec", spec.env_id, num_players=spec.max_players, reward="score")
    assert type(table) is TabletopAEC
    assert table.num_players == spec.max_players
    assert table.reward.weights == {"score": 1.0}
    assert type(pettingzoo.make("aec", f"tabletop/{spec.id}_v{spec.version}")) is TabletopAEC
    view = pettingzoo.make("parallel", spec.env_id, num_players=spec.max_players, illegal="raise")
    assert type(view) is TurnBasedParallel
    assert view.aec_env.num_players == spec.max_players
    assert view.aec_env.illegal == "raise"
    kinds = ("aec", "parallel")
    registered = [pettingzoo.spec(kind, spec.env_id) for kind in kinds]
    with strict():
        registry.fill_pettingzoo()  # a second time
    assert all(pettingzoo.spec(kind, spec.env_id) is known for kind, known in zip(kinds, registered, strict=True))


def test_pettingzoo_without_a_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pettingzoo, "register", raising=False)
    monkeypatch.delattr(pettingzoo, "aec_registry", raising=False)
    registry.fill_pettingzoo()


@pytest.mark.parametrize("game", [spec.id for spec in SPECS if spec.package.startswith("tabletop_envs.")])
def test_our_games_have_a_module(game: str) -> None:
    spec = registry.spec(game)
    module = import_module(f"tabletop_envs.{spec.name}")
    assert str(module.env()) == str(module.raw_env()) == str(module.parallel_env()) == spec.name
    assert type(module.parallel_env()) is TurnBasedParallel


@games
def test_impossible_arguments(game: str) -> None:
    for arguments, message in (
        ({"illegal": "loose"}, "did you mean 'lose'"),
        ({"illegal": None}, "give one of 'lose', 'raise'"),
        ({"mask_in": "infos"}, "did you mean 'info'"),
        ({"render_mode": "ansy"}, "did you mean 'ansi'"),
        ({"reward": "wine"}, "did you mean 'win'"),
        ({"num_players": 99}, "set num_players="),
        ({"max_cycles": 100}, "has no option 'max_cycles'"),
        ({"max_decisions": 0}, "max_decisions=0 is not possible"),
    ):
        with pytest.raises(OptionError, match=message):
            TabletopAEC(game, **arguments)  # type: ignore[arg-type]
    with pytest.raises(UnknownGameError):
        TabletopAEC(game + "x")


# --- the turn-based parallel view -------------------------------------------------------------------------------


@sizes
@mask_places
def test_parallel_is_the_same_game(game: str, players: int, mask_in: str) -> None:
    view = turn_based_parallel(game, players, mask_in=mask_in)
    twin = TabletopAEC(game, players, mask_in=mask_in)
    assert str(view) == str(twin)
    assert view.agents == []
    observations, infos = view.reset(seed=2)
    twin.reset(seed=2)
    rng = np.random.default_rng(1)
    while view.agents:
        active = twin.agent_selection
        assert {info["active_agent"] for info in infos.values()} == {active}
        for agent in view.agents:
            assert np.array_equal(vector_of(observations[agent]), vector_of(twin.observe(agent)))
            assert mask_of(observations[agent], infos[agent]).any() == (agent == active)
        action = int(rng.choice(np.flatnonzero(mask_of(observations[active], infos[active]))))
        # what the others say does not matter
        actions = dict.fromkeys(view.agents, -1)
        observations, rewards, terminations, truncations, infos = view.step({**actions, active: action})
        twin.step(action)
        assert rewards == twin.rewards
        assert terminations == twin.terminations
        assert truncations == twin.truncations
    assert all(terminations.values())
    assert list(rewards.values()) == twin.returns()
    assert list(observations) == list(infos) == twin.possible_agents
    assert all("active_agent" not in info and info["points"] == twin.position.points() for info in infos.values())


@games
def test_parallel_hands_out_infos_of_the_callers_own(game: str) -> None:
    view = turn_based_parallel(game)
    _, infos = view.reset(seed=0)
    first = infos["player_0"]["active_agent"]
    action = int(view.aec_env.position.legal_actions()[0])
    infos["player_0"]["mine"] = 1
    kept = dict(infos["player_0"])
    *_, later = view.step({first: action})
    assert infos["player_0"] == kept
    assert "mine" not in later["player_0"]
    assert "active_agent" not in view.aec_env.infos["player_0"]
    view.agents.clear()
    assert view.aec_env.agents == view.possible_agents


@games
def test_parallel_errors(game: str) -> None:
    view = turn_based_parallel(game)
    with pytest.raises(OrderError, match=r"reset\(\) needs to be called before step"):
        view.step({})
    _, infos = view.reset(seed=0)
    asked = infos["player_0"]["active_agent"]
    other = next(agent for agent in view.agents if agent != asked)
    with pytest.raises(IllegalActionError, match=f"no action for {asked}"):
        view.step({other: 0})
    _, rewards, terminations, _, infos = view.step({asked: -1})
    assert rewards[asked] == -1.0
    assert all(terminations.values())
    assert infos[other]["end"] == "illegal"
    with pytest.raises(GameOverError, match=r"call reset\(\) first"):
        view.step({asked: 0})
    view.reset()
    assert view.agents == view.possible_agents
