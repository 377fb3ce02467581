"""Checks of the environments over a game: they agree with `Position`, and pass PettingZoo's own tests."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from tabletop_envs.core import jit, record
from tabletop_envs.core.position import Position
from tabletop_envs.core.spec import Settings
from tabletop_envs.envs.aec import TabletopAEC
from tabletop_envs.envs.parallel import turn_based_parallel
from tabletop_envs.envs.rewards import DEFAULT_REWARD, Reward
from tabletop_envs.envs.vector import TabletopVector
from tabletop_envs.testing.subject import RANDOM, Subject, fail, pick, walk

_VECTOR: Final = 5  # games of a vector environment
_CYCLES: Final = 60  # rounds of PettingZoo's tests, per agent

# PettingZoo has a list of its own environments for which these two are left out: those with a dict observation.
_DICT_WARNINGS: Final = (
    "Observation is not a NumPy array$",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete$",
)


def aec_agrees(subject: Subject) -> str:
    """The AEC environment hands out what `Position` says, step by step, and pays what points and places ask."""
    for settings in subject.grid:
        env = TabletopAEC(subject.game, settings.num_players, **settings.values)
        for seed in range(subject.games):
            env.reset(options={"key": seed})
            for position in walk(subject.game, settings, seed):
                difference = record.differences(position.states, env.position.states)
                if difference:
                    fail(position, f"the AEC environment holds another record: {'; '.join(difference[:3])}")
                if position.over:
                    _aec_end_agrees(position, env)
                    break
                _aec_turn_agrees(position, env)
                env.step(pick(position, seed))
    return ""


def _aec_turn_agrees(position: Position, env: TabletopAEC) -> None:
    if env.agent_selection != f"player_{position.seat}":
        fail(position, f"the AEC environment asks {env.agent_selection}")
    seen, reward, terminated, truncated, _ = env.last()
    if position.seat is None or not np.array_equal(seen["observation"], position.observe(position.seat)):
        fail(position, "last() gives another observation")
    if not np.array_equal(seen["action_mask"], position.action_mask()):
        fail(position, "last() gives another mask")
    if reward or terminated or truncated:
        fail(position, f"last() says reward {reward}, terminated {terminated}, truncated {truncated} in play")
    for seat, agent in enumerate(env.possible_agents):
        if not np.array_equal(env.observe(agent)["observation"], position.observe(seat)):
            fail(position, f"observe({agent!r}) gives another observation")
        if seat != position.seat and env.observe(agent)["action_mask"].any():
            fail(position, f"the mask of {agent} is not zero, although it is not asked")


def _aec_end_agrees(position: Position, env: TabletopAEC) -> None:
    points, places = np.array(position.points()), np.array(position.places())
    expected = Reward(DEFAULT_REWARD, position.game.spec)(points, places)
    met = []
    for agent in env.agent_iter():
        seat = env.possible_agents.index(agent)
        seen, reward, terminated, truncated, info = env.last()
        facts = (reward, terminated, truncated, info["points"], info["places"])
        if facts != (expected[seat], True, position.capped, points.tolist(), places.tolist()):
            fail(position, f"at the end {agent} is told (reward, terminated, truncated, points, places) = {facts}")
        if not np.array_equal(seen["observation"], position.observe(seat)) or seen["action_mask"].any():
            fail(position, f"at the end {agent} gets another observation, or a mask that is not zero")
        met.append(agent)
        env.step(None)
    if sorted(met) != sorted(env.possible_agents):
        fail(position, f"at the end the agents {met} are asked to step, not each once")


def vector_agrees(subject: Subject) -> str:
    """The vector environment does to N games what `Position` does to each, and pays each end once."""
    for settings in subject.grid:
        _vector_agrees(subject, settings)
    return f"{_VECTOR} games at a time"


def _vector_agrees(subject: Subject, settings: Settings) -> None:
    game = subject.game
    vector = TabletopVector(game, _VECTOR, settings.num_players, **settings.values)
    step, left = vector.reset(seed=1), np.full(_VECTOR, subject.games)
    positions = [_dealt(subject, settings, vector, row) for row in range(_VECTOR)]
    while left.any():
        for row, position in enumerate(positions):
            if position.seat is None or int(step.seats[row]) != position.seat:
                fail(position, f"the vector environment asks seat {step.seats[row]} in game {row}")
            if not np.array_equal(step.observations[row], position.observe(position.seat)):
                fail(position, f"the vector environment gives another observation in game {row}")
            if not np.array_equal(step.action_masks[row], position.action_mask()):
                fail(position, f"the vector environment gives another mask in game {row}")
        actions = [pick(position, row, RANDOM) for row, position in enumerate(positions)]
        step = vector.step(np.array(actions))
        for row, (position, action) in enumerate(zip(positions, actions, strict=True)):
            position.apply(action)
            if bool(step.terminations[row]) != position.over or bool(step.truncations[row]) != position.capped:
                fail(position, f"the vector environment says terminated {step.terminations[row]} in game {row}")
            paid = step.rewards[row]
            if not position.over:
                if paid.any():
                    fail(position, f"the vector environment pays {paid.tolist()} in play")
                continue
            expected = Reward(DEFAULT_REWARD, game.spec)(np.array(position.points()), np.array(position.places()))
            number = int(np.flatnonzero(step.final["rows"] == row)[0])
            if not np.array_equal(paid, expected) or step.final["points"][number].tolist() != position.points():
                fail(position, f"the vector environment pays {paid.tolist()}, not {expected.tolist()}")
            if record.to_bytes(step.final["final_states"][number : number + 1]) != position.to_bytes():
                fail(position, "the vector environment's final state is another record")
            left[row] = max(0, left[row] - 1)
            positions[row] = _dealt(subject, settings, vector, row)


def _dealt(subject: Subject, settings: Settings, vector: TabletopVector, row: int) -> Position:
    dealt = vector.batch.position(row)
    again = Position.new(subject.game, settings.num_players, seed=dealt.seed, **settings.values)
    difference = record.differences(again.states, dealt.states)
    if difference:
        fail(again, f"the vector environment deals another game for this key: {'; '.join(difference[:3])}")
    return again


# --- PettingZoo's own tests -------------------------------------------------------------------------------------


@contextlib.contextmanager
def strict(*ignored: str) -> Iterator[None]:
    """Nothing printed, every warning but the ignored ones an error."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("error")
        for message in ignored:
            warnings.filterwarnings("ignore", message=message)
        yield


def pettingzoo_tests(subject: Subject) -> str:
    """`api_test`, `seed_test`, `state_test` and `parallel_api_test`, every warning but two of them an error."""
    from pettingzoo.test import api_test, parallel_api_test, seed_test, state_test

    game, cycles = subject.game, _CYCLES if jit.COMPILED else 2
    for settings in subject.grid:
        players, options = settings.num_players, settings.values

        def env(players: int = players, options: Mapping[str, Any] = options) -> TabletopAEC:
            return TabletopAEC(game, players, **options)

        try:
            with strict(*_DICT_WARNINGS):
                api_test(env(), num_cycles=cycles)
            with strict():
                api_test(TabletopAEC(game, players, mask_in="info", **options), num_cycles=cycles)
                seed_test(env, num_cycles=cycles)
                state_test(env(), turn_based_parallel(game, players, **options))
                parallel_api_test(turn_based_parallel(game, players, **options), num_cycles=cycles)
        except (AssertionError, Warning) as error:
            fail(settings, f"{type(error).__name__} from PettingZoo's tests: {error}")
    return f"{len(subject.grid)} environments, masks in observations and in infos"
