"""Batches: the same games as one by one, nothing half done, arrays of the caller's own; who answers for whom."""

from __future__ import annotations

import gc
import pickle
import subprocess
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabletop_envs import make_vec
from tabletop_envs.core import jit
from tabletop_envs.core.game import Game
from tabletop_envs.core.header import OVER_CAP, OVER_RULES, RUNNING
from tabletop_envs.core.position import Position
from tabletop_envs.core.random import POLICY, derive_key
from tabletop_envs.envs.rewards import Reward
from tabletop_envs.envs.vector import Batch, BatchStep, Seating, TabletopVector
from tabletop_envs.errors import (
    IllegalActionError,
    OptionError,
    OrderError,
    UnknownAgentError,
    UnknownGameError,
)

pytestmark = pytest.mark.nojit

GAMES = 5
STEPS = 60

# players, options of the toy game
TABLES: list[tuple[int, dict[str, Any]]] = [
    (2, {}),
    (3, {"memory": True, "tie": "first"}),
    (4, {"extras": ("joker", "refill"), "heap": 20}),
    (2, {"auto_forced": False, "cards": {"one": 4, "two": 4, "three": 4}}),
    (3, {"max_decisions": 5}),
]
tables = pytest.mark.parametrize(("players", "options"), TABLES)


def drawn(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One random legal action a row."""
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


def frozen(result: BatchStep) -> tuple[Any, ...]:
    """All that a step gave, as bytes."""
    final = {name: value.tobytes() for name, value in result.final.items()}
    return (*(part.tobytes() for part in result[:-1]), final)


def trace(vector: TabletopVector, seed: int | None, steps: int = STEPS) -> list[tuple[Any, ...]]:
    """Everything that random play of one fixed choice gives."""
    rng = np.random.default_rng(0)
    result = vector.reset(seed)
    said = [frozen(result)]
    for _ in range(steps):
        result = vector.step(drawn(result.action_masks, rng))
        said.append(frozen(result))
    return said


def everything(batch: Batch) -> tuple[bytes, ...]:
    """All that a batch remembers, as bytes."""
    return batch.states.tobytes(), batch.masks.tobytes(), batch.episodes.tobytes()


def agrees(result: BatchStep, row: int, position: Position) -> None:
    """What a step says of one game is what a Position says."""
    seat = position.seat
    assert seat is not None
    assert result.seats[row] == seat
    assert result.action_masks[row].tobytes() == position.action_mask().tobytes()
    assert result.observations[row].tobytes() == position.observe(seat).tobytes()


# --- the same games ---------------------------------------------------------------------------------------------


@tables
def test_the_games_are_those_of_positions(toy: Game, players: int, options: dict[str, Any]) -> None:
    mix = {"win": 0.25, "rank": 0.25, "score": 0.5}
    vector = TabletopVector(toy, GAMES, players, reward=mix, **options)
    rng = np.random.default_rng(1)
    result = vector.reset(seed=3)
    keys = set(vector.batch.states["key"].tolist())
    assert len(keys) == GAMES
    positions = [
        Position.new(toy, players, seed=int(vector.batch.states["key"][row]), **options) for row in range(GAMES)
    ]
    games = 0
    for _ in range(STEPS):
        assert result.observations.shape == (GAMES, *vector.observation_space.shape)
        assert result.observations.dtype == vector.observation_space.dtype == np.float32
        assert result.action_masks.dtype == np.int8
        for row, position in enumerate(positions):
            agrees(result, row, position)
            assert vector.batch.states[row : row + 1].tobytes() == position.to_bytes()
        actions = drawn(result.action_masks, rng)
        result = vector.step(actions)
        for row, position in enumerate(positions):
            position.apply(int(actions[row]))
        over = [row for row, position in enumerate(positions) if position.over]
        assert np.flatnonzero(result.terminations).tolist() == over
        assert result.truncations.tolist() == [position.capped for position in positions]
        assert result.rewards.shape == (GAMES, players)
        assert not result.rewards[~result.terminations].any()
        assert bool(result.final) == bool(over)
        for number, row in enumerate(over):
            points, places = positions[row].points(), positions[row].places()
            assert result.final["rows"][number] == row
            assert result.final["points"][number].tolist() == points
            assert result.final["places"][number].tolist() == places
            assert result.final["final_states"][number : number + 1].tobytes() == positions[row].to_bytes()
            paid = Reward(mix, toy.spec)(np.array(points), np.array(places))
            assert result.rewards[row].tolist() == paid.tolist()
            key = int(vector.batch.states["key"][row])
            assert key not in keys  # a new game, not the old one again
            keys.add(key)
            positions[row] = Position.new(toy, players, seed=key, **options)
            games += 1
        for name, value in result.final.items():
            assert len(value) == len(over), name
    assert games > GAMES
    assert vector.batch.episodes.sum() == games + GAMES


def test_a_game_by_its_id(two_moves: Game) -> None:
    vector = TabletopVector("two_moves-v0", 2)
    result = vector.reset(seed=0)
    assert vector.batch.game.spec == two_moves.spec
    assert result.seats.tolist() == [0, 0]
    assert result.final == {}
    assert not result.rewards.any()
    assert not result.terminations.any()
    assert not result.truncations.any()
    result = vector.step([0, 1])
    assert result.seats.tolist() == [1, 1]
    assert not result.terminations.any()
    result = vector.step([0, 1])
    assert result.rewards.tolist() == [[1.0, -1.0], [-1.0, 1.0]]
    assert result.terminations.tolist() == [True, True]
    assert result.truncations.tolist() == [False, False]
    assert result.final["points"].tolist() == [[1, 0], [0, 1]]
    assert result.final["places"].tolist() == [[1, 2], [2, 1]]
    assert result.final["final_states"]["named"].tolist() == [[0, 0], [1, 1]]
    assert result.final["final_states"]["over"].tolist() == [OVER_RULES, OVER_RULES]
    assert result.seats.tolist() == [0, 0]


def test_a_cap_ends_and_pays(toy: Game) -> None:
    vector = TabletopVector(toy, 8, 4, max_decisions=6, heap=30, cards={"one": 0, "two": 0, "three": 40})
    rng = np.random.default_rng(0)
    result = vector.reset(seed=1)
    paid = 0.0
    for number in range(1, 13):
        result = vector.step(drawn(result.action_masks, rng))
        assert result.terminations.tolist() == result.truncations.tolist() == [number % 6 == 0] * 8
        if result.final:
            assert (result.final["final_states"]["over"] == OVER_CAP).all()
            assert (result.final["final_states"]["decisions"] == 6).all()
            expected = Reward("win", toy.spec)(result.final["points"], result.final["places"])
            assert result.rewards.tolist() == expected.tolist()
            paid += np.abs(result.rewards).sum()
    assert paid > 0
    assert (vector.batch.states["over"] == RUNNING).all()


# --- nothing half done ------------------------------------------------------------------------------------------


@pytest.fixture
def played(toy: Game) -> TabletopVector:
    """Three games of three seats, some decisions in."""
    vector = TabletopVector(toy, 3, 3)
    result = vector.reset(seed=5)
    rng = np.random.default_rng(2)
    for _ in range(4):
        result = vector.step(drawn(result.action_masks, rng))
    return vector


@pytest.mark.parametrize("row", range(3))
@pytest.mark.parametrize("kind", ["illegal", "negative", "far below", "behind the space", "far beyond"])
def test_an_illegal_action_changes_nothing(played: TabletopVector, row: int, kind: str) -> None:
    batch = played.batch
    actions = batch.masks.argmax(axis=1)
    illegal = int(np.flatnonzero(batch.masks[row] == 0)[0])
    size = batch.masks.shape[1]
    wrong = {
        "illegal": illegal,
        "negative": -1,
        "far below": -(2**62),
        "behind the space": size,
        "far beyond": 2**40,
    }
    actions[row] = wrong[kind]
    before = everything(batch)
    with pytest.raises(
        IllegalActionError, match=rf"action {wrong[kind]} is not legal in game {row}: choose one"
    ) as told:
        played.step(actions)
    assert f"action_masks[{row}] is 1" in str(told.value)
    assert everything(batch) == before
    played.step(batch.masks.argmax(axis=1))
    assert everything(batch) != before


def test_the_first_of_two_illegal_actions_is_named(played: TabletopVector) -> None:
    actions = played.batch.masks.argmax(axis=1)
    actions[1:] = -7
    with pytest.raises(IllegalActionError, match="action -7 is not legal in game 1"):
        played.step(actions)
    with pytest.raises(IllegalActionError, match=f"action {2**64 - 1} is not legal in game 0"):
        played.step(np.full(3, 2**64 - 1, dtype=np.uint64))


@pytest.mark.parametrize(
    "actions",
    [
        [0, 0],
        [0, 0, 0, 0],
        [[0, 0, 0]],
        [[0], [0], [0]],
        [[0], [0, 0], [0]],
        0,
        None,
        [],
        "000",
        ["0", "0", "0"],
        [0.0, 0.0, 0.0],
        [True, True, True],
        [None, None, None],
        [0, 0, 2**70],
        {0: 0, 1: 0, 2: 0},
    ],
    ids=str,
)
def test_actions_of_another_kind_change_nothing(played: TabletopVector, actions: Any) -> None:
    before = everything(played.batch)
    with pytest.raises(IllegalActionError, match="give 3 whole numbers, one a game, not"):
        played.step(actions)
    assert everything(played.batch) == before


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, np.int64, list, "every second"])
def test_whole_numbers_of_every_kind_are_actions(played: TabletopVector, dtype: Any) -> None:
    numbers = played.batch.masks.argmax(axis=1)
    twin = Position(played.batch.game, played.batch.settings, played.batch.states[:1].copy())
    twin.apply(int(numbers[0]))
    if dtype is list:
        actions: Any = numbers.tolist()
    elif dtype == "every second":
        actions = np.repeat(numbers, 2)[::2]
    else:
        actions = numbers.astype(dtype)
    played.step(actions)
    assert played.batch.states[:1].tobytes() == twin.to_bytes()


def test_a_step_comes_after_a_reset(toy: Game) -> None:
    vector = TabletopVector(toy, 2)
    with pytest.raises(OrderError, match=r"reset\(\) needs to be called before step"):
        vector.step([0, 0])
    vector.step(vector.reset(seed=0).action_masks.argmax(axis=1))


def test_a_finished_game_of_a_batch_takes_no_action(two_moves: Game) -> None:
    batch = Batch(two_moves, 2)
    batch.deal(batch.rows)
    for _ in range(2):
        batch.step(batch.rows[:1], batch.check(batch.rows[:1], [1]))
    assert batch.finished(batch.rows).tolist() == [0]
    before = everything(batch)
    with pytest.raises(IllegalActionError, match="game 0 is over: reset it before action 1"):
        batch.check(batch.rows, [1, 1])
    assert everything(batch) == before
    assert batch.check(batch.rows[1:], [1]).tolist() == [1]


@pytest.mark.parametrize("number", [0, -1, 2.0, "2", None, True])
def test_impossible_numbers_of_games(toy: Game, number: Any) -> None:
    with pytest.raises(OptionError, match=r"num_envs=.* is not possible: give a positive whole number"):
        TabletopVector(toy, number)


def test_impossible_arguments(toy: Game) -> None:
    for players in (1, 5, 2.0, True, "2"):
        with pytest.raises(OptionError, match="set num_players=2 to 4"):
            TabletopVector(toy, 2, players)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"has no option 'memmory'.*did you mean 'memory'"):
        TabletopVector(toy, 2, memmory=True)
    with pytest.raises(OptionError, match="heap=99 is not possible"):
        TabletopVector(toy, 2, heap=99)
    with pytest.raises(OptionError, match="did you mean 'win'"):
        TabletopVector(toy, 2, reward="wim")
    with pytest.raises(UnknownGameError, match="did you mean 'toy'"):
        TabletopVector("toyy", 2)
    vector = TabletopVector(toy, np.int64(2))
    vector.reset(seed=1)
    before = everything(vector.batch)
    for seed in (-1, 2**53, 0.5, "1", True):
        with pytest.raises(OptionError, match="give a whole number from 0 to 2"):
            vector.reset(seed)  # type: ignore[arg-type]
        assert everything(vector.batch) == before


# --- seeds ------------------------------------------------------------------------------------------------------


def test_seeds_reproduce(toy: Game) -> None:
    vector = TabletopVector(toy, GAMES, 3)
    first = trace(vector, 11)
    assert trace(TabletopVector(toy, GAMES, 3), 11) == first
    assert trace(vector, 11) == first  # a reset forgets what was before
    assert trace(vector, 12) != first
    assert trace(vector, 2**53 - 1)[0] != trace(vector, 0)[0]
    assert trace(vector, None, 0) != trace(vector, None, 0)


def test_a_row_does_not_depend_on_the_others(toy: Game) -> None:
    few, many = TabletopVector(toy, 2, 3), TabletopVector(toy, 6, 3)
    small, large = few.reset(seed=4), many.reset(seed=4)
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(STEPS):
        assert small.observations.tobytes() == large.observations[:2].tobytes()
        assert few.batch.states.tobytes() == many.batch.states[:2].tobytes()
        actions = drawn(large.action_masks, rng)
        small, large = few.step(actions[:2]), many.step(actions)
        ended += int(small.terminations.sum())
    assert ended > 2


def test_games_differ_within_a_batch_and_from_deal_to_deal(toy: Game) -> None:
    batch = Batch(toy, 50, 4)
    keys = []
    for key in (0, 1, 2**53 - 1):
        batch.key = key
        batch.episodes[:] = 0
        for _ in range(10):
            batch.deal(batch.rows)
            keys += batch.states["key"].tolist()
    assert len(set(keys)) == len(keys) == 1500
    assert min(keys) >= 0
    assert max(keys) < 2**53


# --- arrays of the caller's own ---------------------------------------------------------------------------------


def scribble(result: BatchStep) -> None:
    for part in result[:-1]:
        part[...] = 1
    for value in result.final.values():
        value.view(np.int8)[...] = 77


def test_what_is_done_to_results_changes_nothing(toy: Game) -> None:
    clean, spoilt = TabletopVector(toy, GAMES, 3), TabletopVector(toy, GAMES, 3)
    result, other = clean.reset(seed=9), spoilt.reset(seed=9)
    rng = np.random.default_rng(3)
    ended = 0
    for _ in range(STEPS):
        assert frozen(other) == frozen(result)
        assert clean.batch.states.tobytes() == spoilt.batch.states.tobytes()
        ended += len(result.final.get("rows", ()))
        actions = drawn(result.action_masks, rng)
        handed = actions.copy()
        scribble(other)
        result, other = clean.step(actions), spoilt.step(handed)
        assert handed.tolist() == actions.tolist()
        handed[...] = -1
    assert ended > GAMES


def test_kept_results_do_not_change(toy: Game) -> None:
    vector = TabletopVector(toy, GAMES, 3)
    rng = np.random.default_rng(3)
    kept = [vector.reset(seed=9)]
    said = [frozen(kept[0])]
    for _ in range(STEPS):
        kept.append(vector.step(drawn(kept[-1].action_masks, rng)))
        said.append(frozen(kept[-1]))
    vector.reset(seed=10)
    assert [frozen(result) for result in kept] == said
    for name in ("rows", "points", "places", "final_states"):
        assert any(name in result.final for result in kept)


def test_a_position_of_a_batch_is_a_copy(toy: Game) -> None:
    batch = Batch(toy, 2)
    batch.deal(batch.rows)
    before = everything(batch)
    position = batch.position(1)
    assert position.to_bytes() == batch.states[1:].tobytes()
    position.apply(int(position.legal_actions()[0]))
    assert everything(batch) == before
    assert position.to_bytes() != batch.states[1:].tobytes()


def test_observations_into_an_array_of_the_caller(toy: Game) -> None:
    batch = Batch(toy, 3, 3)
    batch.deal(batch.rows)
    rows, seats = np.array([2, 0]), np.array([1, 2])
    outs = np.full((2, batch.observation_size), np.nan, dtype=np.float32)
    assert batch.observe(rows, seats, outs) is outs
    assert outs.tobytes() == batch.observe(rows, seats).tobytes()
    assert outs[0].tobytes() == batch.position(2).observe(1).tobytes()
    assert outs[1].tobytes() == batch.position(0).observe(2).tobytes()


# --- games that end before anybody is asked ---------------------------------------------------------------------


@jit.jit
def _over_for_odd_keys(s):  # type: ignore[no-untyped-def]
    for seat in range(2):
        s.named[seat] = -1
    s.seat = 0
    if s.key % 2 == 1:
        s.seat = -1
        s.over = 1


@jit.jit
def _over_at_once(s):  # type: ignore[no-untyped-def]
    s.seat = -1
    s.over = 1


def test_a_game_that_ends_at_once_is_dealt_again(two_moves: Game) -> None:
    vector = TabletopVector(two_moves.with_functions(setup=_over_for_odd_keys), 20)
    result = vector.reset(seed=0)
    assert vector.batch.episodes.max() > 1
    for _ in range(4):
        assert (vector.batch.states["key"] % 2 == 0).all()
        assert result.action_masks.all()
        assert (result.seats >= 0).all()
        result = vector.step(np.zeros(20, dtype=int))


def test_a_game_that_always_ends_at_once_is_an_error(two_moves: Game) -> None:
    vector = TabletopVector(two_moves.with_functions(setup=_over_at_once), 2)
    with pytest.raises(OptionError, match="game 0 ended before anybody was asked: change the options"):
        vector.reset(seed=0)


# --- who answers for whom ---------------------------------------------------------------------------------------


class Lowest:
    """The lowest legal action; remembers what it was asked, and spoils it."""

    def __init__(self, name: str = "lowest") -> None:
        self.name = name
        self.asked: list[bytes] = []

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        assert observations.dtype == np.float32
        assert action_masks.dtype == np.int8
        assert len(observations) == len(action_masks) > 0
        self.asked += [observation.tobytes() for observation in observations]
        actions = action_masks.argmax(axis=1)
        observations[...] = np.nan
        action_masks[...] = 1
        return actions


class Highest(Lowest):
    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        size = action_masks.shape[1]
        actions = size - 1 - action_masks[:, ::-1].argmax(axis=1)
        super().act(observations, action_masks)
        return actions


class Stubborn:
    """Gives what it was told to."""

    name = "stubborn [old]"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> Any:
        return self.answer(action_masks)


def choice(position: Position, name: str, salt: int) -> int:
    """The choice of a built-in policy, worked out once more."""
    legal = position.legal_actions()
    salt = derive_key(salt, POLICY, position.decisions)
    if name == "greedy":
        return position.greedy_action(salt)
    return int(legal[((salt & 0xFFFFFFFF) * len(legal)) >> 32])


def answered(
    position: Position, learner: int, players: Mapping[int, Any], salt: int, asked: dict[str, list[bytes]]
) -> None:
    """Play one game by hand until the learner is asked or it is over."""
    while not position.over and position.seat != learner:
        seat = position.seat
        assert seat is not None
        player = players[seat]
        legal = position.legal_actions()
        if isinstance(player, str):
            action = choice(position, player, salt)
        else:
            asked[player.name].append(position.observe(seat).tobytes())
            action = int(legal[-1] if isinstance(player, Highest) else legal[0])
        position.apply(action)


def test_every_seat_is_played_by_its_own(toy: Game) -> None:
    count, players = 12, 4
    batch = Batch(toy, count, players, extras=("joker",), heap=20)
    batch.key = 8
    seating = Seating(batch)
    low, high = Lowest(), Highest("highest")
    kinds: list[Any] = ["random", "greedy", low, high]
    table = {row: {seat: kinds[(row + seat * (1 + row // 4)) % 4] for seat in range(players)} for row in range(count)}
    for row, seats in table.items():
        seating.learners[row] = row % 5 - 1  # nobody learns in some games
        seating.salts[row] = 1000 + row
        for seat, player in seats.items():
            seating.assign(row, seat, player)
    batch.deal(batch.rows)
    positions = [batch.position(row) for row in range(count)]
    asked: dict[str, list[bytes]] = {low.name: [], high.name: []}
    for _ in range(6):
        seating.answer(batch.rows)
        for row, position in enumerate(positions):
            answered(position, int(seating.learners[row]), table[row], int(seating.salts[row]), asked)
            assert batch.states[row : row + 1].tobytes() == position.to_bytes()
            assert batch.masks[row].tobytes() == position.action_mask().tobytes()
            assert position.over or position.seat == seating.learners[row]
        waiting = batch.rows[batch.states["over"] == RUNNING]
        actions = batch.masks[waiting].argmax(axis=1)
        batch.step(waiting, batch.check(waiting, actions))
        for row, action in zip(waiting.tolist(), actions.tolist(), strict=True):
            positions[row].apply(action)
    assert sorted(low.asked) == sorted(asked[low.name])
    assert sorted(high.asked) == sorted(asked[high.name])
    assert min(len(low.asked), len(high.asked)) > 20
    assert sum(position.over for position in positions) > count // 4


def test_some_rows_are_answered_alone(two_moves: Game) -> None:
    batch = Batch(two_moves, 4)
    batch.deal(batch.rows)
    seating = Seating(batch)
    low = Lowest()
    for row in range(4):
        for seat in range(2):
            seating.assign(row, seat, low)
    seating.answer(np.array([3, 1]))
    assert batch.states["over"].tolist() == [RUNNING, OVER_RULES, RUNNING, OVER_RULES]
    assert len(low.asked) == 4
    seating.answer(np.array([], dtype=np.int64))
    assert len(low.asked) == 4


def test_all_built_in_play_to_the_end(toy: Game) -> None:
    batch = Batch(toy, 6, 3)
    batch.deal(batch.rows)
    Seating(batch).answer(batch.rows)  # who is not named is random
    assert (batch.states["over"] != RUNNING).all()
    assert len(set(batch.states["decisions"].tolist())) > 1
    points, places = batch.score(batch.rows)
    assert points.shape == places.shape == (6, 3)
    assert [batch.position(row).points() for row in range(6)] == points.tolist()


def test_policies_come_and_go(two_moves: Game) -> None:
    batch = Batch(two_moves, 3)
    seating = Seating(batch)
    stays = Highest("stays")
    ghosts: list[weakref.ref[Lowest]] = []
    for number in range(400):
        newcomer = (Lowest, Highest)[number % 2](f"snapshot {number}")
        ghosts.append(weakref.ref(newcomer))
        seating.assign(0, 0, stays)
        seating.assign(0, 1, newcomer)
        seating.assign(1, 0, newcomer)
        seating.assign(1, 1, "greedy")
        seating.assign(2, 0, "random")
        seating.assign(2, 1, stays if number % 3 else newcomer)
        batch.deal(batch.rows)
        seating.answer(batch.rows)
        named = batch.states["named"]
        assert named[0].tolist() == [1, number % 2]
        assert named[1].tolist() == [number % 2, 1]
        assert named[2, 1] == (1 if number % 3 else number % 2)
        assert len(newcomer.asked) == 2 + (number % 3 == 0)
    assert len(stays.asked) == 400 + 266
    del newcomer
    gc.collect()
    assert sum(ghost() is not None for ghost in ghosts) <= 4  # those that left are let go


def test_a_policy_comes_back(two_moves: Game) -> None:
    batch = Batch(two_moves, 1)
    seating = Seating(batch)
    low, high, third = Lowest(), Highest(), Highest()
    for policy in (low, high, low, third, "random", high, low, low):
        seating.assign(0, 0, policy)
        seating.assign(0, 1, policy)
        before = 0 if isinstance(policy, str) else len(policy.asked)
        batch.deal(batch.rows)
        seating.answer(batch.rows)
        assert isinstance(policy, str) or len(policy.asked) == before + 2


def equal_policies() -> Iterator[Any]:
    class Same(Highest):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    yield Same("one")
    yield Same("two")


def test_policies_are_told_apart_by_identity(two_moves: Game) -> None:
    one, two = equal_policies()
    batch = Batch(two_moves, 1)
    seating = Seating(batch)
    seating.assign(0, 0, one)
    seating.assign(0, 1, two)
    batch.deal(batch.rows)
    seating.answer(batch.rows)
    assert len(one.asked) == len(two.asked) == 1


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda masks: np.full(len(masks), 9), "action 9 is not legal in game 1"),
        (lambda masks: np.full(len(masks), -1), "action -1 is not legal in game 1"),
        (lambda masks: np.zeros(len(masks)), "give 2 whole numbers, one a game, not float64"),
        (lambda masks: np.zeros(len(masks) + 1, dtype=int), "give 2 whole numbers.*shape"),
        (lambda masks: np.zeros((len(masks), 1), dtype=int), "give 2 whole numbers.*shape"),
        (lambda masks: None, "give 2 whole numbers"),
    ],
)
def test_a_policy_that_errs_is_named(two_moves: Game, answer: Any, told: str) -> None:
    batch = Batch(two_moves, 3)
    batch.deal(batch.rows)
    seating = Seating(batch)
    for row in (1, 2):
        seating.assign(row, 0, Stubborn(answer))
    seating.learners[:] = 1
    policy = Stubborn(answer)
    seating.assign(1, 0, policy)
    seating.assign(2, 0, policy)
    with pytest.raises(IllegalActionError, match=rf"policy 'stubborn \[old\]' has to be mended.*{told}"):
        seating.answer(batch.rows)


@pytest.mark.parametrize("name", ["gredy", "", "Random"])
def test_unknown_policies(two_moves: Game, name: str) -> None:
    seating = Seating(Batch(two_moves, 1))
    with pytest.raises(UnknownAgentError, match=f"no built-in policy '{name}': give one of random, greedy"):
        seating.assign(0, 0, name)


def test_the_raw_stream_of_keys_goes_on() -> None:
    vectors = [TabletopVector("urbino", 3) for _ in range(2)]
    dealt = []
    for vector in vectors:
        vector.reset(seed=5)
        first = vector.batch.states["key"].copy()
        vector.reset()
        dealt.append((first, vector.batch.states["key"].copy()))
    assert np.array_equal(dealt[0], dealt[1])
    assert not np.array_equal(dealt[0][0], dealt[0][1])


@pytest.mark.parametrize("kind", ["sb3", "gym"])
def test_pickled_environments_work_in_another_process(
    kind: str, tmp_path: Path, python: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """Addresses of compiled code do not travel: the baseline is bound anew where the environment wakes up."""
    if kind == "sb3":
        pytest.importorskip("stable_baselines3")
    env = make_vec("urbino", 3, kind=kind, opponents="greedy")
    env.reset()
    stored = tmp_path / "env.pkl"
    stored.write_bytes(pickle.dumps(env))
    code = f"""
import pickle
from pathlib import Path
env = pickle.loads(Path({str(stored)!r}).read_bytes())
for _ in range(5):
    masks = env.action_masks() if hasattr(env, "action_masks") else env.env_method("action_masks")
    env.step(masks.argmax(axis=1))
print("played")
"""
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "played\n"
