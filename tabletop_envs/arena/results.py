"""What came of games, without any model: shares of the win, places, margins, and who was placed before whom.

Knows arrays of results, no games and no files. Intervals are clustered by table, see `core/intervals.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tabletop_envs.arena.rating import Estimate
from tabletop_envs.core.intervals import pooled_interval


@dataclass(frozen=True)
class AgentResult:
    """What an agent reached, over all its seats.

    win_share: 1 for a win, 1/k for each of k who share it; mean_place: 1 is the best; mean_margin: points minus the
    mean of the others'; games and tables: in which it played.
    """

    win_share: Estimate
    mean_place: float
    mean_margin: float
    games: int
    tables: int


@dataclass(frozen=True)
class PairResult:
    """What an agent reached against another one.

    share: of all comparisons of a seat of the one with a seat of the other in the same game, those in which it was
    placed better, ties half; with two players the share of wins. games and tables: in which both played.
    """

    share: Estimate
    games: int
    tables: int


@dataclass(frozen=True)
class Results:
    """By agent, and by (agent, opponent) for all that met."""

    agents: list[AgentResult]
    pairs: Mapping[tuple[int, int], PairResult]


def results(seats: np.ndarray, places: np.ndarray, points: np.ndarray, tables: np.ndarray, num_agents: int) -> Results:
    """What came of games.

    seats, places, points: (games, players), seats being agents from 0 to num_agents - 1, each of which has played;
    tables: (games,) whole numbers, equal for games that share their luck.
    """
    players = seats.shape[1]
    _, clusters = np.unique(tables, return_inverse=True)
    clusters = clusters.reshape(-1)
    winners = places == 1
    shares = winners / winners.sum(axis=1, keepdims=True)
    margins = points - (points.sum(axis=1, keepdims=True) - points) / (players - 1)
    agents = []
    for agent in range(num_agents):
        own = seats == agent
        game, _ = np.nonzero(own)
        agents.append(
            AgentResult(
                _share(shares[own], clusters[game]),
                float(places[own].mean()),
                float(margins[own].mean()),
                len(np.unique(game)),
                len(np.unique(clusters[game])),
            )
        )
    better = (places[:, :, None] < places[:, None, :]) + (places[:, :, None] == places[:, None, :]) / 2
    pairs = {}
    for agent in range(num_agents):
        for opponent in range(num_agents):
            met = (seats == agent)[:, :, None] & (seats == opponent)[:, None, :]
            game = np.nonzero(met)[0]
            if opponent != agent and len(game):
                share = _share(better[met], clusters[game])
                pairs[agent, opponent] = PairResult(share, len(np.unique(game)), len(np.unique(clusters[game])))
    return Results(agents, pairs)


def _share(shares: np.ndarray, clusters: np.ndarray) -> Estimate:
    games = np.bincount(clusters)
    sums = np.bincount(clusters, weights=shares)[games > 0]
    low, high = pooled_interval(sums, games[games > 0])
    return Estimate(float(shares.mean()), low, high)
