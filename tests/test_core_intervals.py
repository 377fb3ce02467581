"""Intervals of shares: sane, by hand, and holding the truth whatever games of a table have in common."""

from __future__ import annotations

import numpy as np
import pytest

from tabletop_envs.core.intervals import interval, pooled_interval


@pytest.mark.parametrize("size", [(1, 2), (2, 2), (5, 4), (200, 2), (1000, 3)])
def test_intervals_are_sane(size: tuple[int, int]) -> None:
    rng = np.random.default_rng(size[0])
    for shares in (np.ones(size), np.zeros(size), rng.random(size).round(), rng.random(size), np.full(size, 0.5)):
        low, high = interval(shares)
        mean = shares.mean()
        assert 0 <= low <= mean <= high <= 1
        assert low < high
        if mean == 1:
            assert high == 1 > low > 0
        elif mean == 0:
            assert low == 0 < high < 1
        else:
            assert 0 < low < mean < high < 1
        flipped = interval(1 - shares)
        assert (1 - flipped[1], 1 - flipped[0]) == pytest.approx((low, high))


def test_wilson_by_hand() -> None:
    low, high = interval(np.array([[1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0]]))
    assert (low, high) == pytest.approx((0.722467, 1.0), abs=1e-5)


@pytest.mark.parametrize("tables", [50, 200])
@pytest.mark.parametrize("kind", ["alone", "together", "against each other"])
def test_intervals_cover(kind: str, tables: int) -> None:
    """Tables whose games are independent, alike or opposed: about 95 % of the intervals hold the truth."""
    rng = np.random.default_rng(5)
    truth, hits, naive, trials = 0.6, 0, 0, 2000
    for _ in range(trials):
        if kind == "alone":
            shares = rng.random((tables, 3)) < truth
        else:
            luck = rng.random((tables, 1))
            spread = np.array([0.0, 0.05, 0.1]) if kind == "together" else np.array([0.0, 1 / 3, 2 / 3])
            shares = (luck + spread) % 1.0 < truth
        low, high = interval(shares.astype(float))
        hits += low <= truth <= high
        half = 1.96 * (truth * (1 - truth) / shares.size) ** 0.5
        naive += abs(shares.mean() - truth) <= half
    assert 0.925 < hits / trials < 0.975
    if kind == "together":
        assert naive / trials < 0.85  # what an interval would miss that takes the games for independent


def test_a_pooled_interval_of_equal_tables_is_that_of_their_games() -> None:
    shares = np.random.default_rng(7).random((30, 4)).round(1)
    assert pooled_interval(shares.sum(axis=1), np.full(30, 4)) == interval(shares)


def test_pooled_intervals_cover() -> None:
    """Tables of different sizes, each with luck of its own."""
    random = np.random.default_rng(8)
    sizes = np.array([2] * 60 + [12] * 30)
    hits, naive, trials, truth = 0, 0, 1000, 0.6
    for _ in range(trials):
        sums = random.binomial(sizes, random.beta(3, 2, len(sizes)))
        low, high = pooled_interval(sums.astype(float), sizes)
        hits += low <= truth <= high
        share = sums.sum() / sizes.sum()
        naive += abs(share - truth) <= 1.96 * np.sqrt(truth * (1 - truth) / sizes.sum())
    assert 0.92 < hits / trials < 0.98
    assert naive / trials < 0.85
