"""Intervals of shares of the win, for games that come in tables: a table, not a game, is what varies by itself."""

from __future__ import annotations

from typing import Final

import numpy as np

_Z95: Final = 1.959964


def interval(shares: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of the mean of (tables, games per table) shares in [0, 1]."""
    tables, games = shares.shape
    return pooled_interval(shares.sum(axis=1), np.full(tables, games))


def pooled_interval(sums: np.ndarray, games: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of the mean share in [0, 1] over all games, for tables that need not be of one size.

    sums, games: by table, the sum of the shares and the number of games, at least 1.

    Wilson's interval with the number of games that, if independent, would vary as much as the tables do.
    """
    tables, total = len(sums), int(games.sum())
    mean = float(sums.sum()) / total
    residuals = sums - mean * games
    spread = float((residuals**2).sum()) / total**2 * tables / (tables - 1) if tables > 1 else 0.0
    # what rounding leaves of tables that are all alike is no spread
    known = spread > 1e-20 and 0 < mean < 1
    size = mean * (1 - mean) / spread if known else float(total)
    square = _Z95**2
    centre = (mean + square / (2 * size)) / (1 + square / size)
    half = _Z95 / (1 + square / size) * np.sqrt(mean * (1 - mean) / size + square / (4 * size**2))
    # the mean lies within, whatever the last digit says
    return max(0.0, min(mean, float(centre - half))), min(1.0, max(mean, float(centre + half)))
