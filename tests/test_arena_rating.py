"""Ratings: the likelihood against slow formulas and closed forms, recovery, intervals, ranks, what must not matter."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tabletop_envs.arena.plackett_luce import Likelihood, dense_ranks
from tabletop_envs.arena.rating import SCALE, Rating, estimate, rate
from tabletop_envs.arena.results import results
from tabletop_envs.errors import OptionError


def _loaded() -> ModuleType:
    path = Path(__file__).parents[1] / "benchmarks" / "rating_coverage.py"
    spec = importlib.util.spec_from_file_location("rating_coverage", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


coverage = _loaded()
NAMES = ("random", "a", "b", "c", "d")


def games(players: int, deals: int = 12, world: int = 0, seed: int = 0) -> Any:
    """A simulated league of five agents: seats, places, deals."""
    return coverage.play(coverage.WORLDS[world], players, deals, np.random.default_rng(seed))


def fitted(seats: Any, places: Any, agents: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log strengths over that of agent 0, seat effects and weights of ties of the best fit, without pseudo-games to
    speak of."""
    likelihood = Likelihood(np.array(seats), np.array(places), np.arange(len(seats)), agents)
    found = likelihood.fit(np.ones((1, len(seats))), np.full((1, len(likelihood.pseudo_games), 2), 1e-7))
    strengths = likelihood.strengths(found)[0]
    return strengths - strengths[0], likelihood.seat_effects(found)[0], likelihood.tie_weights(found)[0]


def rated(seats: Any, places: Any, tables: Any = None, names: Any = NAMES[:2], **settings: Any) -> Rating:
    """The rating of games; each is a table of its own unless told otherwise."""
    seats, places = np.array(seats), np.array(places)
    tables = np.arange(len(seats)) if tables is None else np.array(tables)
    return rate(seats, places, tables, names, "random", **{"resamples": 100, **settings})


def duel(wins: int, losses: int, ties: int = 0) -> tuple[list[list[int]], list[list[int]]]:
    """Games of agent 1 with agent 0, of each kind so many in each of both seats."""
    kinds = [([1, 0], [1, 2], wins), ([1, 0], [2, 1], losses), ([1, 0], [1, 1], ties)]
    rows = [(seats, places) for seats, places, number in kinds for _ in range(number)]
    rows += [(seats[::-1], places[::-1]) for seats, places in rows]
    return [seats for seats, _ in rows], [places for _, places in rows]


# --- the likelihood ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_likelihood_is_that_of_a_slow_formula(players: int) -> None:
    league = games(players)
    likelihood = Likelihood(league.seats, league.places, league.deals, 5)
    assert likelihood.largest_tie == players
    random = np.random.default_rng(1)
    parameters = random.normal(size=(1, likelihood.parameters))
    parameters[:, 3 + players :] = np.log(coverage.TIES[: players - 1])
    weights = random.random((1, likelihood.tables))
    effects = likelihood.seat_effects(parameters)[0]
    assert effects.sum() == pytest.approx(0)
    assert likelihood.tie_weights(parameters)[0] == pytest.approx(coverage.TIES[: players - 1])
    orders = coverage.weak_orders(players)
    assert len(orders) == {2: 3, 3: 13, 4: 75}[players]
    strengths = likelihood.strengths(parameters)[0]
    assert strengths.sum() == pytest.approx(0)
    likely = coverage.chances(strengths[league.seats] + effects, orders)
    assert likely.sum(axis=1) == pytest.approx(1)
    came = (dense_ranks(league.places)[:, None, :] == orders[None]).all(axis=2)
    slow = (weights[0, league.deals] * np.log(likely[came])).sum()
    nothing = np.zeros((1, len(likelihood.pseudo_games), 2))
    value, _ = likelihood.value_and_gradient(parameters, *likelihood.statistics(weights, nothing))
    assert value[0] == pytest.approx(slow)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_gradient_and_curvature_are_those_of_finite_differences(players: int) -> None:
    league = games(players)
    likelihood = Likelihood(league.seats, league.places, league.deals, 5)
    random = np.random.default_rng(2)
    parameters = random.normal(size=(2, likelihood.parameters))
    pseudo = random.random((2, len(likelihood.pseudo_games), 2))
    known = likelihood.statistics(random.random((2, likelihood.tables)), pseudo)
    _, gradient = likelihood.value_and_gradient(parameters, *known)
    curvature = likelihood.curvature(parameters, known[0])
    step = 1e-5
    for number in range(likelihood.parameters):
        move = step * np.eye(likelihood.parameters)[number]
        (up, steep), (down, flat) = (
            likelihood.value_and_gradient(parameters + sign * move, *known) for sign in (1, -1)
        )
        assert gradient[:, number] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-5)
        assert curvature[:, number] == pytest.approx(-(steep - flat) / (2 * step), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("players", [2, 4])
def test_a_fit_is_the_maximum_from_wherever_it_begins(players: int) -> None:
    league = games(players, world=3)
    likelihood = Likelihood(league.seats, league.places, league.deals, 5)
    random = np.random.default_rng(3)
    weights, pseudo = random.random((3, likelihood.tables)), random.random((3, len(likelihood.pseudo_games), 2))
    found = likelihood.fit(weights, pseudo)
    known = likelihood.statistics(weights, pseudo)
    value, gradient = likelihood.value_and_gradient(found, *known)
    assert np.abs(gradient).max() < 1e-6
    for _ in range(20):
        beside = found + 0.1 * random.normal(size=found.shape)
        assert (likelihood.value_and_gradient(beside, *known)[0] < value).all()
    far = 8 * random.normal(size=likelihood.parameters)
    assert likelihood.fit(weights, pseudo, far) == pytest.approx(found, abs=1e-4)


def test_two_players_are_bradley_and_terrys() -> None:
    strengths, effects, ties = fitted(*duel(30, 10), 2)
    assert strengths[1] == pytest.approx(np.log(3), abs=1e-5)
    assert effects == pytest.approx([0, 0], abs=1e-5)
    assert not len(ties)
    assert SCALE * np.log(10) == pytest.approx(400)


def test_a_seat_is_worth_what_it_is_worth() -> None:
    # agent 1 wins three of four in seat 0 and half of its games in seat 1
    seats = [[1, 0]] * 40 + [[0, 1]] * 40
    places = [[1, 2]] * 30 + [[2, 1]] * 10 + [[1, 2]] * 20 + [[2, 1]] * 20
    strengths, effects, _ = fitted(seats, places, 2)
    assert strengths[1] == pytest.approx(np.log(3) / 2, abs=1e-5)
    assert effects == pytest.approx([np.log(3) / 4, -np.log(3) / 4], abs=1e-5)


def test_ties_of_two_are_davidsons() -> None:
    strengths, _, ties = fitted(*duel(27, 12, 18), 2)
    assert strengths[1] == pytest.approx(np.log(27 / 12), abs=1e-5)
    assert ties == pytest.approx([18 / np.sqrt(27 * 12)], abs=1e-5)


def test_orders_of_three_as_often_as_strengths_of_one_two_and_three_say() -> None:
    # first with 1/6, 2/6 and 3/6, second in proportion to those left: 60 games with every seating
    often = {(0, 1, 2): 4, (0, 2, 1): 6, (1, 0, 2): 5, (1, 2, 0): 15, (2, 0, 1): 10, (2, 1, 0): 20}
    seatings = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    rows = [(seating, order) for seating in seatings for order, number in often.items() for _ in range(number)]
    places = [[1 + order.index(agent) for agent in seating] for seating, order in rows]
    strengths, effects, _ = fitted([seating for seating, _ in rows], places, 3)
    assert np.exp(strengths) == pytest.approx([1, 2, 3], rel=1e-5)
    assert effects == pytest.approx([0, 0, 0], abs=1e-5)


def test_dense_ranks_close_the_gaps_behind_ties() -> None:
    places = np.array([[1, 1, 3, 4], [4, 2, 2, 1], [1, 1, 1, 1], [7, 3, 9, 3]])
    assert dense_ranks(places).tolist() == [[0, 0, 1, 2], [2, 1, 1, 0], [0, 0, 0, 0], [1, 0, 2, 0]]


# --- ratings ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
def test_planted_strengths_and_seats_are_found(players: int) -> None:
    league = games(players, 200, seed=players)
    rating = rated(*league, NAMES)
    strengths = SCALE * np.array(coverage.WORLDS[0].strengths)
    for agent in range(1, 5):
        value, low, high = rating.difference(agent, 0)
        assert low < value < high < low + 100
        assert abs(value - strengths[agent]) < 0.8 * (high - low)
    effects = SCALE * (np.array(coverage.SEAT_EFFECTS[:players]) - np.mean(coverage.SEAT_EFFECTS[:players]))
    for seat in range(players):
        value, low, high = rating.seat(seat)
        assert abs(value - effects[seat]) < 0.8 * (high - low)
    assert rating.seats.sum() == pytest.approx(0, abs=1e-6)
    assert rating.ties == pytest.approx(coverage.TIES[: players - 1], rel=0.5)


def test_copies_of_an_agent_in_a_game() -> None:
    """One agent against three copies of another one, and the other way round: places among copies tell of seats."""
    league = games(4, 300)
    copies = np.array([len(set(row)) == 2 for row in league.seats])
    few, all_games = (
        rated(*(part[rows] for part in league), NAMES, resamples=1)
        for rows in (copies, np.ones(len(copies), dtype=bool))
    )
    assert few.points == pytest.approx(all_games.points, abs=15)
    assert few.seats == pytest.approx(all_games.seats, abs=10)


def test_an_interval_is_close_to_that_of_a_share_of_wins() -> None:
    """With independent games of two agents: Jeffreys' interval, for balanced and for one-sided results."""
    random = np.random.default_rng(6)
    for wins, losses in ((30, 10), (19, 1), (40, 0)):
        seats, places = duel(wins, losses)
        value, low, high = rated(seats, places, resamples=4000).difference(1, 0)
        shares = random.beta(2 * wins + 0.5, 2 * losses + 0.5, 200_000)
        wanted = 400 * np.log10(np.quantile(shares / (1 - shares), (0.025, 0.5, 0.975)))
        width = wanted[2] - wanted[0]
        assert low == pytest.approx(wanted[0], abs=0.08 * width)
        if losses:
            assert high == pytest.approx(wanted[2], abs=0.2 * width)  # seats might matter
        else:  # nothing speaks against far more, and an interval says so
            assert wanted[2] - 0.1 * width < high < wanted[2] + width
        assert low < value < high


def test_who_wins_all_games_has_a_finite_rating() -> None:
    league = games(3, 20)
    seats = np.concatenate((league.seats, [[5, 1, 2], [3, 5, 4], [0, 4, 5]] * 30))
    places = np.concatenate((league.places, [[1, 2, 3], [2, 1, 3], [3, 2, 1]] * 30))
    deals = np.concatenate((league.deals, np.arange(100, 190)))
    rating = rated(seats, places, deals, (*NAMES, "ace"))
    value, low, high = rating.difference(5, 4)
    assert 100 < low < value < high < 6000
    assert rating.dominance(5, 4) > 0.99
    standing = rating.ranking(range(6))[0]
    assert (standing.agent, standing.rank, standing.rank_low, standing.rank_high) == (5, 1, 1, 1)
    more = rated(*duel(400, 0)).points[1]
    assert rated(*duel(40, 0)).points[1] < more < 3000


def test_games_that_are_all_ties() -> None:
    rating = rated(*duel(0, 0, 50))
    assert rating.points == pytest.approx([0, 0], abs=1e-3)
    assert 10 < rating.ties[0] < 1000
    assert rated(*duel(5, 5)).ties.tolist() == [0]
    three = rated([[0, 1, 1]] * 5 + [[1, 0, 1]] * 5, [[1, 2, 2]] * 5 + [[1, 1, 3]] * 5)
    assert three.ties[0] > 0 == three.ties[1]


def test_a_single_game() -> None:
    value, low, high = rated([[0, 1]], [[2, 1]]).difference(1, 0)
    assert low < 0 < value < high < 5000


def test_a_single_agent() -> None:
    rating = rated([[0, 0]] * 40, [[1, 2]] * 30 + [[2, 1]] * 10, names=["random"])
    assert rating.points.tolist() == [0]
    assert not rating.draws.any()
    assert rating.seats == pytest.approx([200 * np.log10(32 / 12), -200 * np.log10(32 / 12)])  # pseudo-games
    assert rating.ranking([0])[0][1:] == (1, 1, 1, 1.0)


# --- what must not matter ---------------------------------------------------------------------------------------


def test_the_order_of_games_and_the_names_of_tables_do_not_matter() -> None:
    league = games(3, world=3)
    one = rated(*league, NAMES)
    order = np.random.default_rng(0).permutation(len(league.deals))
    other = rated(league.seats[order], league.places[order], 1000 * league.deals[order] - 7, NAMES)
    assert other.points == pytest.approx(one.points, abs=1e-3)
    assert other.draws == pytest.approx(one.draws, abs=1e-2)
    again = rated(*league, NAMES)
    assert np.array_equal(again.draws, one.draws)
    assert not np.array_equal(rated(*league, NAMES, seed=1).draws, one.draws)


def test_the_numbers_of_agents_do_not_matter() -> None:
    league = games(3, world=3)
    one = rated(*league, NAMES)
    numbers = np.array([3, 0, 4, 1, 2])
    names = [NAMES[list(numbers).index(agent)] for agent in range(5)]
    other = rated(numbers[league.seats], league.places, league.deals, names)
    assert other.points[numbers] == pytest.approx(one.points, abs=1e-3)


def test_the_numbers_of_seats_do_not_matter() -> None:
    league = games(3, world=3)
    one = rated(*league, NAMES)
    turned = [2, 0, 1]
    other = rated(league.seats[:, turned], league.places[:, turned], league.deals, NAMES)
    assert other.points == pytest.approx(one.points, abs=1e-3)
    assert other.seats == pytest.approx(one.seats[turned], abs=1e-3)


def test_how_places_are_counted_does_not_matter() -> None:
    league = games(4, world=1)
    one = rated(*league, NAMES, resamples=20)
    other = rated(league.seats, 10 * dense_ranks(league.places), league.deals, NAMES, resamples=20)
    assert np.array_equal(other.draws, one.draws)


def test_another_reference_moves_all_ratings_alike() -> None:
    league = games(2)
    one, other = (rate(*league, NAMES, name, resamples=50) for name in ("random", "c"))
    assert other.points == pytest.approx(one.points - one.points[3])
    assert other.draws == pytest.approx(one.draws - one.draws[:, [3]])


# --- standings --------------------------------------------------------------------------------------------------


def by_hand(points: list[float], draws: list[list[float]]) -> Rating:
    """A rating of which the resamples are given."""
    return Rating(np.array(points), np.array(draws), np.zeros(2), np.zeros((len(draws), 2)), np.zeros(1))


def test_standings_by_hand() -> None:
    draws = [[0.0, 50, 40, 10]] * 60 + [[0.0, 40, 50, 10]] * 38 + [[0.0, 40, 50, -10]] * 2
    rating = by_hand([0, 50, 45, 10], draws)
    found = {standing.agent: standing for standing in rating.ranking(range(4))}
    assert list(found) == [1, 2, 3, 0]
    assert [found[agent].rank for agent in (1, 2, 3, 0)] == [1, 1, 3, 4]
    assert (found[1].rank_low, found[1].rank_high, found[1].first) == (1, 2, 0.6)
    assert (found[2].rank_low, found[2].rank_high, found[2].first) == (1, 2, 0.4)
    assert (found[3].rank_low, found[3].rank_high, found[3].first) == (3, 3, 0.0)
    assert rating.dominance(1, 2) == pytest.approx(0.6)
    assert rating.dominance(2, 1) == pytest.approx(0.4)
    assert rating.dominance(3, 0) == pytest.approx(0.98)
    assert [standing[:2] for standing in rating.ranking([3, 2])] == [(2, 1), (3, 2)]
    assert rating.ranking([]) == []


def test_equal_ratings_share_a_rank() -> None:
    rating = by_hand([0, 0], [[0.0, 0.0]] * 10)
    assert rating.dominance(0, 1) == 0.5
    assert [standing[:2] for standing in rating.ranking([0, 1])] == [(0, 1), (1, 1)]


def test_an_interval_holds_its_value() -> None:
    assert estimate(5.0, np.arange(4.0)) == (5.0, pytest.approx(0.075), 5.0)
    assert estimate(-1.0, np.arange(4.0))[:2] == (-1.0, -1.0)


# --- bad input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seats": [[0.0, 1.0]]}, "seats are of float64: give whole numbers"),
        ({"places": [[1.0, 2.0]]}, "places are of float64"),
        ({"tables": [0.5]}, "tables are of float64"),
        ({"seats": [0, 1]}, r"seats are of shape (2,): give (games, players)"),
        ({"seats": [[0]], "places": [[1]]}, "at least one game of two players"),
        (
            {"seats": np.zeros((0, 2), dtype=int), "places": np.zeros((0, 2), dtype=int), "tables": []},
            "at least one game",
        ),
        ({"places": [[1, 2, 3]]}, r"places (1, 3) and tables (1,) do not fit seats (1, 2)"),
        ({"tables": [0, 1]}, r"tables (2,) do not fit"),
        ({"seats": [[0, 2]]}, "seats hold agents 0 to 2: give numbers from 0 to 1"),
        ({"seats": [[-1, 0]]}, "seats hold agents -1 to 0"),
        ({"reference": "nobody"}, "the reference 'nobody' is not among the agents"),
        ({"resamples": 0}, "resamples=0 is not possible: give a whole number, at least 1"),
        ({"resamples": 1.5}, "resamples=1.5 is not possible"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, Any], message: str) -> None:
    given = {"seats": [[0, 1]], "places": [[1, 2]], "tables": [0], "reference": "random", "resamples": 10, **change}
    arrays = (
        np.array(given[name], dtype=int if len(given[name]) == 0 else None) for name in ("seats", "places", "tables")
    )
    with pytest.raises(OptionError, match=re.escape(message)):
        rate(*arrays, NAMES[:2], given["reference"], resamples=given["resamples"])


def test_agents_that_have_not_met_cannot_be_compared() -> None:
    seats, places = [[0, 1], [2, 3], [3, 2]], [[1, 2]] * 3
    message = "b, c, d and random have met neither each other nor a common opponent: let them play"
    with pytest.raises(OptionError, match=message):
        rated(seats, places, names=NAMES)
    rating = rated([*seats, [2, 1], [4, 3]], [*places, [1, 2], [1, 2]], names=NAMES)
    assert np.isfinite(rating.draws).all()


# --- results without a model ------------------------------------------------------------------------------------


def test_results_by_hand() -> None:
    seats = np.array([[0, 1, 1], [1, 0, 1], [2, 0, 1]])
    places = np.array([[1, 1, 3], [1, 3, 2], [2, 2, 1]])
    points = np.array([[10, 10, 4], [9, 0, 6], [3, 3, 6]])
    found = results(seats, places, points, np.array([5, 5, 9]), 3)
    zero, one, two = found.agents
    assert zero.win_share.value == pytest.approx(1 / 6)
    assert one.win_share.value == pytest.approx((1 / 2 + 0 + 1 + 0 + 1) / 5)
    assert (zero.mean_place, one.mean_place, two.mean_place) == (2.0, 1.6, 2.0)
    assert zero.mean_margin == pytest.approx((3 - 7.5 - 1.5) / 3)
    assert (zero.games, zero.tables, one.games, two.games, two.tables) == (3, 2, 3, 1, 1)
    # against both copies: half and one, none and none; then none
    assert found.pairs[0, 1].share.value == pytest.approx(1.5 / 5)
    assert found.pairs[1, 0].share.value == pytest.approx(3.5 / 5)
    assert (found.pairs[0, 1].games, found.pairs[0, 1].tables) == (3, 2)
    assert found.pairs[0, 2].share.value == 0.5
    assert (0, 0) not in found.pairs
    assert set(found.pairs) == {(a, b) for a in range(3) for b in range(3) if a != b}


def test_pairs_that_never_met_are_left_out() -> None:
    found = results(*(np.array(part) for part in ([[0, 1], [1, 2]], [[1, 2]] * 2, [[1, 0]] * 2, [0, 1])), 3)
    assert set(found.pairs) == {(0, 1), (1, 0), (1, 2), (2, 1)}


# --- coverage ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("world", coverage.WORLDS, ids=lambda world: world.name)
def test_intervals_cover(world: Any) -> None:
    """A short form of benchmarks/rating_coverage.py, which holds the intervals to 92 to 98 %."""
    share, truth, _ = coverage.coverage(world, 2, 24, 60, 200)
    for kind, held in share.items():
        assert held > 0.85, kind
    planted = SCALE * world.strengths[-1]
    if world.seat_luck == world.agent_luck == 0:
        assert truth.points == pytest.approx(SCALE * np.array(world.strengths), abs=0.2)
    else:  # luck makes strengths look closer together
        assert truth.points[-1] < 0.95 * planted


def test_games_of_a_deal_are_not_taken_for_independent() -> None:
    """How far leagues scatter, next to what one of them says of itself."""
    random = np.random.default_rng(9)
    leagues = [coverage.play(coverage.WORLDS[2], 3, 40, random) for _ in range(24)]
    scatter = np.std([rated(*league, NAMES, resamples=1).points[1:] for league in leagues], axis=0).mean()
    by_deal = rated(*leagues[0], NAMES)
    by_game = rated(*leagues[0][:2], names=NAMES)
    wide, narrow = (rating.draws[:, 1:].std(axis=0).mean() for rating in (by_deal, by_game))
    assert 0.75 * scatter < wide < 1.35 * scatter
    assert narrow < 0.6 * scatter
