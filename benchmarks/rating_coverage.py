"""Do the intervals of ratings and win shares hold what they promise? Leagues of known truth, rated as on the board.

    python benchmarks/rating_coverage.py                  # 200 leagues for 2, 3 and 4 players each: minutes
    python benchmarks/rating_coverage.py --leagues 20 --players 2

A league is a season: five agents, `tables` deals, every deal played by every line-up (each pair, from three players on
one agent against copies of another, and mixed line-ups) in all rotations. Results are drawn from the model with ties
that `arena/plackett_luce.py` fits, by other code, with planted strengths and seat effects. Worlds differ in what the
model does not know: luck of a seat and luck of an agent, drawn once a deal and shared by all its games.

The truth that an interval should hold is what the same fit says of all possible results, each as often as it comes on
average. Without luck that is what was planted. With luck the fit of any number of tables tends to smaller strengths
than those planted, as it should: against the luck of the deal, an agent of that strength wins so many games.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from itertools import combinations, permutations
from typing import NamedTuple

if __name__ == "__main__":  # before numpy is loaded: the products are small, and threads would only wait for each other
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import click
import numpy as np

from tabletop_envs.arena.plackett_luce import Likelihood, dense_ranks
from tabletop_envs.arena.rating import SCALE, Rating, rate
from tabletop_envs.arena.results import Results, results

AGENTS = ("random", "a", "b", "c", "d")
KINDS = ("rating difference", "seat effect", "win share", "share of a pair")
LEAST, MOST = 0.92, 0.98
TRUTH_DRAWS = 40  # of 100 deals each
MANY = 10_000.0  # games of each seating, next to which pseudo-games are nothing
SEAT_EFFECTS = (0.3, 0.0, -0.1, -0.2)
TIES = (0.25, 0.1, 0.1)  # weights of ties of 2, 3 and 4 seats


class World(NamedTuple):
    """What leagues are drawn from: log strengths, and the spread of the luck of a deal."""

    name: str
    strengths: tuple[float, ...]
    seat_luck: float
    agent_luck: float


WORLDS = (
    World("no luck", (0.0, 0.6, 1.2, 1.3, 2.4), 0.0, 0.0),
    World("lucky seats", (0.0, 0.6, 1.2, 1.3, 2.4), 1.0, 0.0),
    World("lucky agents", (0.0, 0.6, 1.2, 1.3, 2.4), 0.0, 0.6),
    World("both, wide apart", (0.0, 2.0, 3.5, 4.0, 6.0), 0.7, 0.4),
)


class League(NamedTuple):
    """A season's games: agents and places by seat, and the deal of each game."""

    seats: np.ndarray
    places: np.ndarray
    deals: np.ndarray


def line_ups(players: int) -> list[tuple[int, ...]]:
    """Who meets whom."""
    agents = range(len(AGENTS))
    if players == 2:
        return list(combinations(agents, 2))
    return [(a, *[b] * (players - 1)) for a, b in permutations(agents, 2)] + list(combinations(agents, players))


def weak_orders(players: int) -> np.ndarray:
    """Every possible result, as dense ranks by seat: (results, players)."""
    every = np.stack(np.meshgrid(*[np.arange(players)] * players, indexing="ij"), axis=-1).reshape(-1, players)
    return np.unique(dense_ranks(every), axis=0)


def chances(strengths: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """How likely each result is in each game: (games, results), from log strengths by seat (games, players)."""
    games, players = strengths.shape
    masks = 1 << np.arange(players)
    weight = np.zeros((games, 1 << players))
    for group in range(1, 1 << players):
        members = np.flatnonzero(masks & group)
        tie = (1.0, *TIES)[len(members) - 1]
        weight[:, group] = tie * np.exp(strengths[:, members].mean(axis=1))
    among = np.zeros_like(weight)
    for left in range(1, 1 << players):
        among[:, left] = sum(weight[:, group] for group in range(1, left + 1) if group & left == group)
    found = np.ones((games, len(orders)))
    for number, order in enumerate(orders):
        for rank in range(order.max() + 1):
            left = int(masks[order >= rank].sum())
            found[:, number] *= weight[:, int(masks[order == rank].sum())] / among[:, left]
    return found


def seatings(players: int) -> np.ndarray:
    """Who sits where in the games of a deal: every line-up in every rotation, (games, players)."""
    return np.array([np.roll(line_up, turn) for line_up in line_ups(players) for turn in range(players)])


def effects(players: int) -> np.ndarray:
    """The planted seat effects, of sum zero."""
    return np.array(SEAT_EFFECTS[:players]) - np.mean(SEAT_EFFECTS[:players])


def strengths(world: World, players: int, luck: np.ndarray) -> np.ndarray:
    """Log strengths by deal, game and seat; luck: (deals, players + agents), standard normal."""
    seat_luck, agent_luck = world.seat_luck * luck[:, :players], world.agent_luck * luck[:, players:]
    return (np.array(world.strengths) + agent_luck)[:, seatings(players)] + effects(players) + seat_luck[:, None, :]


def play(world: World, players: int, deals: int, random: np.random.Generator) -> League:
    """A league of so many deals."""
    orders = weak_orders(players)
    luck = random.standard_normal((deals, players + len(AGENTS)))
    likely = chances(strengths(world, players, luck).reshape(-1, players), orders).cumsum(axis=1)
    drawn = (random.random((len(likely), 1)) * likely[:, -1:] > likely).sum(axis=1)
    seats = seatings(players)
    return League(np.tile(seats, (deals, 1)), places_of(orders[drawn]), np.repeat(np.arange(deals), len(seats)))


def places_of(ranks: np.ndarray) -> np.ndarray:
    """Dense ranks as places: behind k who are better comes place k + 1."""
    return 1 + (ranks[:, :, None] > ranks[:, None, :]).sum(axis=2)


class Truth(NamedTuple):
    """What leagues tend to: points by agent and by seat, win shares, and shares of (agent, opponent)."""

    points: np.ndarray
    seats: np.ndarray
    win_shares: np.ndarray
    pairs: np.ndarray


def truth_of(world: World, players: int, random: np.random.Generator) -> Truth:
    """What a fit of endless leagues says: of every possible result, as often as it comes on average over the luck.

    Luck is drawn with its opposite, so that what it does to one side it does to the other.
    """
    orders, rows = weak_orders(players), seatings(players)
    often = np.zeros((len(rows), len(orders)))
    for _ in range(TRUTH_DRAWS):
        half = random.standard_normal((50, players + len(AGENTS)))
        for luck in (half, -half):
            likely = chances(strengths(world, players, luck).reshape(-1, players), orders)
            often += likely.reshape(len(luck), *often.shape).mean(axis=0) / (2 * TRUTH_DRAWS)
    weights = often.reshape(-1)
    seats = np.repeat(rows, len(orders), axis=0)
    places = places_of(np.tile(orders, (len(rows), 1)))
    likelihood = Likelihood(seats, places, np.arange(len(seats)), len(AGENTS))
    found = likelihood.fit(MANY * weights[None], np.ones((1, len(likelihood.pseudo_games), 2)))
    points = SCALE * likelihood.strengths(found)[0]
    wins = (places == 1) / (places == 1).sum(axis=1, keepdims=True)
    better = (places[:, :, None] < places[:, None, :]) + (places[:, :, None] == places[:, None, :]) / 2
    agents = range(len(AGENTS))
    win_shares = [np.average(wins, weights=weights[:, None] * (seats == agent)) for agent in agents]
    pairs = np.zeros((len(AGENTS), len(AGENTS)))
    for one, other in permutations(agents, 2):
        met = (seats == one)[:, :, None] & (seats == other)[:, None, :]
        pairs[one, other] = np.average(better, weights=weights[:, None, None] * met)
    return Truth(points - points[0], SCALE * likelihood.seat_effects(found)[0], np.array(win_shares), pairs)


def judge(league: League, resamples: int, seed: int, by_game: bool = False) -> tuple[Rating, Results]:
    """Rate a league; by_game: as if all games were independent."""
    tables = np.arange(len(league.deals)) if by_game else league.deals
    rating = rate(league.seats, league.places, tables, AGENTS, "random", resamples=resamples, seed=seed)
    return rating, results(league.seats, league.places, league.places, tables, len(AGENTS))


def hits(truth: Truth, rating: Rating, outcome: Results) -> Iterator[tuple[str, bool]]:
    """Which intervals hold the truth, by kind."""
    for one, other in combinations(range(len(AGENTS)), 2):
        _, low, high = rating.difference(one, other)
        yield "rating difference", low <= truth.points[one] - truth.points[other] <= high
        _, low, high = outcome.pairs[one, other].share
        yield "share of a pair", low <= truth.pairs[one, other] <= high
    for seat, effect in enumerate(truth.seats):
        _, low, high = rating.seat(seat)
        yield "seat effect", low <= effect <= high
    for agent, share in zip(outcome.agents, truth.win_shares, strict=True):
        yield "win share", agent.win_share.low <= share <= agent.win_share.high


def coverage(
    world: World, players: int, leagues: int, tables: int, resamples: int, by_game: bool = False
) -> tuple[dict[str, float], Truth, float]:
    """The share of intervals that hold the truth, by kind; the truth; half the width of a rating's interval."""
    random = np.random.default_rng([WORLDS.index(world), players, tables])
    truth = truth_of(world, players, random)
    found: dict[str, list[bool]] = {}
    widths = []
    for number in range(leagues):
        rating, outcome = judge(play(world, players, tables, random), resamples, number, by_game)
        widths += [
            rating.difference(agent, 0).high - rating.difference(agent, 0).low for agent in range(1, len(AGENTS))
        ]
        for kind, hit in hits(truth, rating, outcome):
            found.setdefault(kind, []).append(hit)
    return {kind: float(np.mean(held)) for kind, held in found.items()}, truth, float(np.mean(widths)) / 2


@click.command()
@click.option("--leagues", type=click.IntRange(min=len(WORLDS)), default=200, show_default=True, help="A player count.")
@click.option("--players", type=click.IntRange(2, 4), multiple=True, default=(2, 3, 4), show_default=True)
@click.option("--tables", type=click.IntRange(min=2), default=100, show_default=True, help="Of each line-up.")
@click.option("--resamples", type=click.IntRange(min=2), default=1000, show_default=True)
@click.option("--by-game", is_flag=True, help="Resample games, which are not independent, instead of deals.")
def main(leagues: int, players: tuple[int, ...], tables: int, resamples: int, by_game: bool) -> None:
    """Print the coverage of the 95 % intervals, row by row; exit status 1 where it is not 92 to 98 % in all."""
    heads = ["players", "world", "leagues", "games each", *KINDS, "± points", "best: planted, truth", "seconds"]
    print_row(*heads)
    print_row(*["---"] * len(heads))
    sound = True
    for count in players:
        each = leagues // len(WORLDS)
        shares = []
        for world in WORLDS:
            begun = time.perf_counter()
            share, truth, width = coverage(world, count, each, tables, resamples, by_game)
            shares.append([share[kind] for kind in KINDS])
            strengths = f"{SCALE * world.strengths[-1]:.0f}, {truth.points[-1]:.0f}"
            percents = [f"{held:.1%}" for held in shares[-1]]
            games = tables * count * len(line_ups(count))
            seconds = f"{time.perf_counter() - begun:.0f}"
            print_row(count, world.name, each, games, *percents, f"{width:.0f}", strengths, seconds)
        means = np.mean(shares, axis=0)
        print_row(count, "all", each * len(WORLDS), "", *(f"{held:.1%}" for held in means), "", "", "")
        sound &= bool(((means >= LEAST) & (means <= MOST)).all())
    sys.exit(0 if sound else 1)


def print_row(*cells: object) -> None:
    """A row of a table in Markdown."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
