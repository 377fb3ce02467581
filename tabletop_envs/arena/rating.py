"""Ratings: one fit over all games at once, with intervals over deals. Knows arrays of results, no games and no files.

Strengths are those of `plackett_luce`, with seat effects as nuisance terms, on the scale of chess ratings: 400 points
are odds of ten to one to be placed first of two. A reference agent is 0. Nothing depends on the order of the games.

Intervals are Bayesian bootstraps (Rubin, 1981) over tables: every resample gives each table a random weight of mean 1,
and each pseudo-game too, and fits anew. For two agents whose games are independent that comes to Jeffreys' interval of
the share of wins. The plain bootstrap, which draws tables with replacement, fails where results are one-sided: who won
all games wins them in every resample, and the interval has no width. Weights of n tables have the variance 1 + 3.4 / n:
without the excess, which is that of Student's distribution over the normal one, intervals of few tables are too narrow.

What an interval is of: the strength to which the fit tends as tables go on without end. Luck that a whole table
shares is no part of the model and makes strengths look closer together than without it, as any luck does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from tabletop_envs.arena.plackett_luce import Likelihood
from tabletop_envs.core.checks import is_whole
from tabletop_envs.errors import OptionError

SCALE: Final = 400 / np.log(10)  # points to a unit of log strength
RESAMPLES: Final = 1000
DOMINANCE: Final = 0.95  # below, neighbours share a rank

_TAILS: Final = (0.025, 0.975)
_SMALL_SAMPLE: Final = 3.4  # 1 for the mean that is estimated, (1.96 ** 2 + 1) / 2 for Student's distribution


class Estimate(NamedTuple):
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


class Standing(NamedTuple):
    """Where an agent stands among others.

    rank: 1 is the best, shared with the neighbour above who is not rated above it in 95 % of the resamples;
    rank_low, rank_high: the 95 % interval of the place by rating; first: share of resamples in which it is the best.
    """

    agent: int
    rank: int
    rank_low: int
    rank_high: int
    first: float


@dataclass(frozen=True)
class Rating:
    """Ratings in points, of the games as they are and of every resample.

    points: (agents,), 0 for the reference; draws: (resamples, agents), of the reference 0; seats: (players,), of
    sum 0, and seat_draws; ties: weights of ties of 2, 3, … seats (players - 1,), 0 for what was never seen.
    """

    points: np.ndarray
    draws: np.ndarray
    seats: np.ndarray
    seat_draws: np.ndarray
    ties: np.ndarray

    def difference(self, agent: int, other: int) -> Estimate:
        """By how many points an agent is rated above another one."""
        return estimate(self.points[agent] - self.points[other], self.draws[:, agent] - self.draws[:, other])

    def seat(self, seat: int) -> Estimate:
        """The effect of a seat, in points."""
        return estimate(self.seats[seat], self.seat_draws[:, seat])

    def dominance(self, agent: int, other: int) -> float:
        """The share of resamples in which an agent is rated above another one; equal ratings count half."""
        ahead = self.draws[:, agent] - self.draws[:, other]
        return float((ahead > 0).mean() + (ahead == 0).mean() / 2)

    def ranking(self, among: Sequence[int]) -> list[Standing]:
        """The standings of some agents among themselves, best rating first, equal ones by number."""
        order = sorted(among, key=lambda agent: (-self.points[agent], agent))
        draws = self.draws[:, order]
        places = 1 + (draws[:, None, :] > draws[:, :, None]).sum(axis=2)
        standings: list[Standing] = []
        for number, agent in enumerate(order):
            shared = number > 0 and self.dominance(order[number - 1], agent) < DOMINANCE
            rank = standings[-1].rank if shared else number + 1
            low, high = np.quantile(places[:, number], _TAILS, method="inverted_cdf")
            standings.append(Standing(agent, rank, int(low), int(high), float((places[:, number] == 1).mean())))
        return standings


def estimate(value: float, draws: np.ndarray) -> Estimate:
    """A number with the interval that holds the middle 95 % of its resamples, and itself."""
    low, high = np.quantile(draws, _TAILS)
    return Estimate(float(value), min(float(low), float(value)), max(float(high), float(value)))


def rate(
    seats: np.ndarray,
    places: np.ndarray,
    tables: np.ndarray,
    names: Sequence[str],
    reference: str,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Rating:
    """Rate agents by their games.

    seats: who sat where, (games, players), numbers of `names`; an agent may have several seats of a game; places:
    (games, players), 1 is the best, ties share a place; tables: (games,) whole numbers, equal for games that share
    their luck; names: of all agents; reference: the one whose rating is 0; seed: of the resamples.

    Raises OptionError for arrays that do not fit, and for agents who never met the reference, not even over others:
    nothing tells how far apart they are.
    """
    seats, places, tables = np.asarray(seats), np.asarray(places), np.asarray(tables)
    _check(seats, places, tables, len(names))
    if reference not in names:
        raise OptionError(f"the reference {reference!r} is not among the agents: rate games in which it plays")
    if not is_whole(resamples, 1):
        raise OptionError(f"resamples={resamples!r} is not possible: give a whole number, at least 1")
    zero = list(names).index(reference)
    apart = _unlinked(seats, len(names), zero)
    if apart:
        listed = ", ".join(names[agent] for agent in apart)
        raise OptionError(f"{listed} and {reference} have met neither each other nor a common opponent: let them play")
    _, clusters = np.unique(tables, return_inverse=True)
    likelihood = Likelihood(seats, places, clusters.reshape(-1), len(names))
    often = np.repeat(likelihood.pseudo_games[:, None], 2, axis=1)
    best = likelihood.fit(np.ones((1, likelihood.tables)), often[None])
    random = np.random.default_rng(seed)
    shape = 1 / (1 + _SMALL_SAMPLE / likelihood.tables)
    weights = random.standard_gamma(shape, (resamples, likelihood.tables)) / shape
    pseudo = random.standard_gamma(often, (resamples, *often.shape))
    fits = likelihood.fit(weights, pseudo, best[0])
    strengths = (likelihood.strengths(part) for part in (best, fits))
    points, draws = (SCALE * (part - part[:, [zero]]) for part in strengths)
    ties = np.zeros(likelihood.players - 1)
    ties[: likelihood.largest_tie - 1] = likelihood.tie_weights(best)[0]
    effects, effect_draws = (SCALE * likelihood.seat_effects(part) for part in (best, fits))
    return Rating(points[0], draws, effects[0], effect_draws, ties)


def _check(seats: np.ndarray, places: np.ndarray, tables: np.ndarray, agents: int) -> None:
    for name, array in (("seats", seats), ("places", places), ("tables", tables)):
        if not np.issubdtype(array.dtype, np.integer):
            raise OptionError(f"{name} are of {array.dtype}: give whole numbers")
    if seats.ndim != 2 or seats.shape[1] < 2 or not len(seats):
        raise OptionError(f"seats are of shape {seats.shape}: give (games, players), at least one game of two players")
    if places.shape != seats.shape or tables.shape != seats.shape[:1]:
        raise OptionError(
            f"places {places.shape} and tables {tables.shape} do not fit seats {seats.shape}: give (games, players), "
            "(games,) and (games, players)"
        )
    if seats.min() < 0 or seats.max() >= agents:
        raise OptionError(f"seats hold agents {seats.min()} to {seats.max()}: give numbers from 0 to {agents - 1}")


def _unlinked(seats: np.ndarray, agents: int, start: int) -> list[int]:
    """The agents that are not linked to one by games."""
    met = np.eye(agents, dtype=bool)
    for column in range(seats.shape[1]):
        met[seats[:, 0], seats[:, column]] = met[seats[:, column], seats[:, 0]] = True
    linked = met[start]
    while (wider := met[linked].any(axis=0)).sum() > linked.sum():
        linked = wider
    return [int(agent) for agent in np.flatnonzero(~linked)]
