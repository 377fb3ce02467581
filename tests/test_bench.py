"""The measuring itself: what is counted and what is chosen. No test looks at a speed."""

from __future__ import annotations

import math

import numpy as np

from tabletop_envs.bench import BATCHES, PARTS, Figure, Rate, Stopwatch, aec_rate, measure, rate
from tabletop_envs.core.game import Game
from tabletop_envs.envs.aec import TabletopAEC
from tabletop_envs.envs.vector import random_actions


def test_rate_counts_the_units_of_the_work_by_the_given_clock() -> None:
    now = 0.0

    def work() -> int:
        nonlocal now
        now += 0.5
        return 3

    assert rate(work, seconds=4.0, repeats=2, clock=lambda: now) == (6.0, 6.0, 6.0)


def test_figures_of_a_rate_as_frequency_and_as_time() -> None:
    found = Rate(4.0, 2.0, 8.0)
    assert found.figure("a", "games/s", 2.0) == Figure("a", 2.0, "games/s", 1.0, 4.0)
    assert found.time("a", "ms", 1e3) == Figure("a", 250.0, "ms", 125.0, 500.0)


def test_stopwatch_runs_only_inside_its_block() -> None:
    watch = Stopwatch()
    with watch:
        sum(range(200_000))
    stopped = watch()
    sum(range(200_000))
    assert watch() == stopped > 0


def test_random_actions_are_legal_and_reach_every_legal_one() -> None:
    masks = np.array([[0, 1, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]], dtype=np.int8)
    random = np.random.default_rng(1).random
    drawn = np.array([random_actions(masks, random) for _ in range(200)])
    for row, mask in enumerate(masks):
        assert set(drawn[:, row]) == set(np.flatnonzero(mask))


def test_aec_rate_counts_the_decisions_of_the_game(two_moves: Game) -> None:
    env = TabletopAEC(two_moves)
    made = 0
    step = env.step

    def counted(action: int | None) -> None:
        nonlocal made
        made += action is not None
        step(action)

    env.step = counted  # type: ignore[method-assign]
    found = aec_rate(env, seconds=0.001)
    assert found.low > 0
    assert made > 0
    assert made % 2 == 0


def test_every_part_gives_figures_of_a_small_game(toy: Game) -> None:
    for name, part in PARTS.items():
        figures = part(toy, toy.settings(3), 0.005)
        assert figures, name
        for figure in figures:
            assert math.isfinite(figure.value), figure
            assert figure.value > 0, figure
            assert figure.low is None or figure.low <= figure.value <= figure.high, figure


def test_measure_names_every_figure_apart(toy: Game) -> None:
    figures = measure(toy, toy.settings(), 0.005)
    assert sum("rules + mask, batch" in name and "decisions/s" in name for name in figures) == len(BATCHES)
    assert figures["record (bytes)"] == toy.dtype.itemsize
