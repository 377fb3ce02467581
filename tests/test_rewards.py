"""What seats are paid: the arithmetic of `envs.rewards`, by hand and by its definition seat by seat."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from tabletop_envs import registry
from tabletop_envs.core.spec import GameSpec
from tabletop_envs.envs.rewards import EARNED, REWARDS, Reward
from tabletop_envs.errors import OptionError

SCALE = 10


@pytest.fixture
def spec() -> GameSpec:
    return dataclasses.replace(next(iter(registry.games().values())), score_scale=SCALE)


def pay(spec: GameSpec, reward: object, points: list[int], places: list[int]) -> list[float]:
    paid = Reward(reward, spec)(np.array(points, dtype=np.int32), np.array(places, dtype=np.int32))  # type: ignore[arg-type]
    assert paid.dtype == np.float64
    assert paid.shape == (len(points),)
    return [float(amount) for amount in paid]


def standard_places(points: tuple[int, ...]) -> list[int]:
    return [1 + sum(other > own for other in points) for own in points]


@pytest.mark.parametrize(
    ("reward", "points", "places", "paid"),
    [
        ("win", [3, 8], [2, 1], [-1, 1]),
        ("win", [8, 8], [1, 1], [0, 0]),
        ("win", [8, 8], [1, 2], [1, -1]),  # a tie-break decides, not the points
        ("win", [1, 9, 4], [3, 1, 2], [-0.5, 1, -0.5]),
        ("win", [9, 9, 4], [1, 1, 3], [0.25, 0.25, -0.5]),
        ("win", [9, 9, 4, 4, 4], [1, 1, 3, 3, 3], [0.375, 0.375, -0.25, -0.25, -0.25]),
        ("win", [5, 5, 5, 5], [1, 1, 1, 1], [0, 0, 0, 0]),
        ("rank", [3, 8], [2, 1], [-1, 1]),
        ("rank", [8, 8], [1, 1], [0, 0]),
        ("rank", [1, 9, 4], [3, 1, 2], [-1, 1, 0]),
        ("rank", [9, 9, 4], [1, 1, 3], [0.5, 0.5, -1]),
        ("rank", [9, 4, 4], [1, 2, 2], [1, -0.5, -0.5]),
        ("rank", [9, 7, 7, 2], [1, 2, 2, 4], [1, 0, 0, -1]),
        ("score", [3, 8], [2, 1], [-0.5, 0.5]),
        ("score", [0, 30], [2, 1], [-1, 1]),
        ("score", [6, 3, 3], [1, 2, 2], [0.3, -0.15, -0.15]),
        ("score", [-4, 0], [2, 1], [-0.4, 0.4]),
        ({"win": 0.5, "score": 0.5}, [3, 8], [2, 1], [-0.75, 0.75]),
        ({"win": 0.25, "rank": 0.75}, [9, 9, 4], [1, 1, 3], [0.4375, 0.4375, -0.875]),
        ({"win": 0.1, "rank": 0.2, "score": 0.7}, [3, 8], [2, 1], [-0.65, 0.65]),
    ],
)
def test_worked_rewards(
    spec: GameSpec, reward: object, points: list[int], places: list[int], paid: list[float]
) -> None:
    assert pay(spec, reward, points, places) == pytest.approx(paid)


def test_rank_is_the_mean_of_the_places_spanned(spec: GameSpec) -> None:
    for points in itertools.product(range(3), repeat=4):
        ranked = sorted(points, reverse=True)
        expected = []
        for own in points:
            spanned = [place for place, other in enumerate(ranked, start=1) if other == own]
            mean = sum(spanned) / len(spanned)
            expected.append(1 - 2 * (mean - 1) / (len(points) - 1))
        assert pay(spec, "rank", list(points), standard_places(points)) == pytest.approx(expected)


def test_rank_takes_dense_places_too(spec: GameSpec) -> None:
    assert pay(spec, "rank", [9, 9, 4], [1, 1, 2]) == pay(spec, "rank", [9, 9, 4], [1, 1, 3])


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_sums_and_range(spec: GameSpec, players: int) -> None:
    for points in itertools.product((0, 2, 50), repeat=players):
        places = standard_places(points)
        for name in REWARDS:
            paid = pay(spec, name, list(points), places)
            assert max(map(abs, paid)) <= 1.0
            if name not in EARNED or players == 2:
                assert sum(paid) == pytest.approx(0.0)
            # a better place is never paid less
            assert all(paid[a] >= paid[b] for a in range(players) for b in range(players) if places[a] < places[b])


def test_margin_by_hand(spec: GameSpec) -> None:
    scale = spec.score_scale
    assert pay(spec, "margin", [scale, 0], [1, 2]) == pytest.approx([0.5, -0.5])
    assert pay(spec, "margin", [3 * scale, 0], [1, 2]) == pytest.approx([0.75, -0.75])
    assert pay(spec, "margin", [2 * scale, 0, 0], [1, 2, 2]) == pytest.approx([2 / 3, -0.5, -0.5])
    # where `score` has come to its end, `margin` still tells more from less
    assert pay(spec, "score", [0, 2 * scale], [2, 1]) == pay(spec, "score", [0, 9 * scale], [2, 1])
    assert pay(spec, "margin", [0, 2 * scale], [2, 1])[0] > pay(spec, "margin", [0, 9 * scale], [2, 1])[0]


@pytest.mark.parametrize("reward", [*REWARDS, {"win": 0.5, "score": 0.5}, {"win": 0.2, "rank": 0.3, "score": 0.5}])
def test_many_games_at_once(spec: GameSpec, reward: object) -> None:
    many = list(itertools.product(range(4), repeat=3))
    points = np.array(many, dtype=np.int32)
    places = np.array([standard_places(row) for row in many], dtype=np.int32)
    paid = Reward(reward, spec)(points, places)  # type: ignore[arg-type]
    assert paid.shape == points.shape
    assert paid.dtype == np.float64
    for row, amounts in enumerate(paid):
        assert amounts.tolist() == pay(spec, reward, points[row].tolist(), places[row].tolist())
    assert Reward(reward, spec)(points[:0], places[:0]).shape == (0, 3)  # type: ignore[arg-type]


def test_arguments_are_not_changed_nor_handed_out(spec: GameSpec) -> None:
    points, places = np.array([4, 4], dtype=np.int32), np.array([1, 1], dtype=np.int32)
    for name in REWARDS:
        paid = Reward(name, spec)(points, places)
        paid += 1
        assert points.tolist() == [4, 4]
        assert places.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        ("winn", "did you mean 'win'"),
        ("scores", "did you mean 'score'"),
        ("delta", "there are 'win', 'rank', 'score', 'margin'"),
        ({"win": 0.5, "rnak": 0.5}, "did you mean 'rank'"),
        ({}, "give one of"),
        (None, "give one of"),
        (1.0, "give one of"),
        (["win"], "give one of"),
        ({"win": 0.5, "score": 0.4}, r"sum to 0\.9, not 1: try \{'win': 0\.5556, 'score': 0\.4444\}"),
        ({"win": 2}, r"try \{'win': 1\.0\}"),
        ({"win": 1.5, "score": -0.5}, "give a positive number"),
        ({"win": 1.0, "score": 0.0}, "give a positive number"),
        ({"win": float("nan")}, "give a positive number"),
        ({"win": float("inf")}, "give a positive number"),
        ({"win": "1"}, "give a positive number"),
        ({"win": True}, "give a positive number"),
        ({3: 1.0}, "there is no reward 3"),
    ],
)
def test_impossible_rewards(spec: GameSpec, reward: object, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Reward(reward, spec)  # type: ignore[arg-type]


def test_weights_with_rounding_are_accepted(spec: GameSpec) -> None:
    third = 1 / 3
    assert pay(spec, {"win": third, "rank": third, "score": third}, [9, 1], [1, 2]) == pytest.approx(
        [(1 + 1 + 0.8) / 3, -(1 + 1 + 0.8) / 3]
    )
