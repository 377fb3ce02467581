"""How likely the results of games are: the Plackett-Luce model with ties, and the strengths that fit best.

A result is a sequence of choices: who is first, who of the others is next, and so on. Seat `i` of a game has the
strength `exp(agent + seat)`, and of the seats that are left, the group `S` comes next with a chance in proportion to

    tie[|S|] * (product of the strengths in S) ** (1 / |S|),    tie[1] = 1

(Turner, van Etten, Firth and Kosmidis, "Modelling rankings in R: the PlackettLuce package", 2020). For two seats this
is Davidson's model of ties, and without ties Bradley and Terry's. The logarithm of the likelihood is linear in the
parameters but for one term for every set of seats that was ever left to choose from, so that a fit does not depend on
how many games there are, and is concave: Newton's method finds its one maximum.

Pseudo-games keep everything finite, also for who won all games: each agent wins half a game and loses half a game
against the others together (for two agents that is Jeffreys' prior), each seat two, and each size of tie happens half a
time and fails to half a time.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

_AGENT_GAMES: Final = 0.5  # wins, and losses, of an agent in pseudo-games
_SEAT_GAMES: Final = 2.0  # of a seat: effects are small, and where results are one-sided nothing else tells of them
_TIE_GAMES: Final = 0.5  # ties of a size, and others
_TOLERANCE: Final = 1e-7  # of the slope, in games
_ROUNDS: Final = 200
_STEP_LIMIT: Final = 4.0  # by which a parameter moves at once: far from the maximum Newton's steps are too long
_RIDGE: Final = 1e-9  # keeps steps finite where the likelihood is flat; no bias, since it changes the path alone
_NUMBERS_AT_ONCE: Final = 300_000  # what a processor's cache holds


class _Group(NamedTuple):
    """All sets of seats to choose from that offer the same number of choices.

    sets: their numbers, (sets,); rows: what each choice counts in the parameters, (choices, sets, parameters);
    squares: products of these, (choices, sets, parameters ** 2).
    """

    sets: np.ndarray
    rows: np.ndarray
    squares: np.ndarray


class Likelihood:
    """The likelihood of given games as a function of the parameters, with any weights of the tables.

    seats: agents by game and seat, (games, players), from 0; places: (games, players), the least is the best, equal
    ones are ties; tables: to which table a game belongs, (games,), from 0; agents: how many there are.

    Parameters stand in one vector: `agents - 1` contrasts of agents and `players - 1` of seats, which `strengths` and
    `seat_effects` turn into numbers of sum zero, and the log weights of ties of 2, 3, … seats, up to the largest seen.
    """

    def __init__(self, seats: np.ndarray, places: np.ndarray, tables: np.ndarray, agents: int) -> None:
        games, self.players = seats.shape
        self.agents = agents
        ranks = dense_ranks(places)
        sizes = (ranks[:, :, None] == ranks[:, None, :]).sum(axis=2)  # of the group with which a seat is tied
        self.largest_tie = int(sizes.max(initial=1))
        self.parameters = agents - 1 + self.players - 1 + self.largest_tie - 1
        # what an agent, a seat, a tie of so many seats (from 0) count in the parameters
        unit = np.eye(self.parameters)
        self._of_agent = _contrasts(agents) @ unit[: agents - 1]
        self._of_seat = _contrasts(self.players) @ unit[agents - 1 : agents + self.players - 2]
        self._of_tie = np.concatenate((np.zeros((2, self.parameters)), unit[agents + self.players - 2 :]))

        offered, owners, totals = [], [], np.zeros((games, self.parameters))
        for stage in range(self.players):
            left = ranks >= stage
            rows = np.flatnonzero(left.sum(axis=1) > 1)
            offered.append(np.where(left[rows], seats[rows], -1))
            owners.append(rows)
            for seat in range(self.players):
                # each seat of a tie brings its part of the one tie
                taken = rows[ranks[rows, seat] == stage]
                size = sizes[taken, seat]
                chosen = self._of_agent[seats[taken, seat]] + self._of_seat[seat] + self._of_tie[size]
                totals[taken] += chosen / size[:, None]
        sets, numbers = np.unique(np.concatenate(offered), axis=0, return_inverse=True)
        number_of_tables = int(tables.max(initial=-1)) + 1
        self._counts = np.zeros((number_of_tables, len(sets)))
        np.add.at(self._counts, (tables[np.concatenate(owners)], numbers.reshape(-1)), 1.0)
        self._totals = np.zeros((number_of_tables, self.parameters))
        np.add.at(self._totals, tables, totals)
        self._pseudo, self.pseudo_games = self._pseudo_games()
        self._groups = self._grouped(sets)

    @property
    def tables(self) -> int:
        """How many tables there are."""
        return len(self._counts)

    def fit(self, weights: np.ndarray, pseudo: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """The parameters that make the games likeliest, (fits, parameters), one row for each row of weights.

        weights: of the tables, (fits, tables); pseudo: how often each pseudo-game goes one way and the other, (fits,
        len(pseudo_games), 2), on average `pseudo_games` each; start: where the search begins, (parameters,).
        """
        found = np.zeros((len(weights), self.parameters))
        if start is not None:
            found += start
        at_once = max(1, _NUMBERS_AT_ONCE // max(group.rows.shape[0] * group.rows.shape[1] for group in self._groups))
        for first in range(0, len(weights), at_once):
            part = slice(first, first + at_once)
            found[part] = self._climb(found[part], *self.statistics(weights[part], pseudo[part]))
        return found

    def statistics(self, weights: np.ndarray, pseudo: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How often each set was offered, and the sums of what was chosen: what a fit knows of the games."""
        counts = np.concatenate((weights @ self._counts, pseudo.sum(axis=2)), axis=1)
        chosen = pseudo[:, :, 0] @ self._pseudo[0] + pseudo[:, :, 1] @ self._pseudo[1]
        return counts, weights @ self._totals + chosen

    def value_and_gradient(
        self, parameters: np.ndarray, counts: np.ndarray, totals: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The log likelihood (fits,) and its gradient (fits, parameters)."""
        value = (totals * parameters).sum(axis=1)
        gradient = totals.copy()
        for group in self._groups:
            chances, logarithms = _chances(group, parameters)
            offered = counts[:, group.sets]
            value -= (offered * logarithms).sum(axis=1)
            for chance, rows in zip(chances, group.rows, strict=True):
                gradient -= (chance * offered) @ rows
        return value, gradient

    def curvature(self, parameters: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """The negated second derivatives of the log likelihood, (fits, parameters, parameters)."""
        fits, size = parameters.shape
        found = np.zeros((fits, size * size))
        for group in self._groups:
            chances, _ = _chances(group, parameters)
            offered = counts[:, group.sets]
            for chance, squares in zip(chances, group.squares, strict=True):
                found += (chance * offered) @ squares
            means = chances.transpose(2, 1, 0) @ group.rows.transpose(1, 0, 2)  # (sets, fits, parameters)
            means *= np.sqrt(offered.T)[:, :, None]
            means = means.transpose(1, 2, 0)
            found -= (means @ means.transpose(0, 2, 1)).reshape(fits, -1)
        return np.asarray(found.reshape(fits, size, size))

    def strengths(self, parameters: np.ndarray) -> np.ndarray:
        """The log strength of each agent, (fits, agents), of sum zero."""
        return np.asarray(parameters @ self._of_agent.T)

    def seat_effects(self, parameters: np.ndarray) -> np.ndarray:
        """The effect of each seat on the log strength, (fits, players), of sum zero."""
        return np.asarray(parameters @ self._of_seat.T)

    def tie_weights(self, parameters: np.ndarray) -> np.ndarray:
        """The weights of ties of 2, 3, … seats, (fits, largest_tie - 1)."""
        return np.asarray(np.exp(parameters @ self._of_tie[2:].T))

    def _climb(self, parameters: np.ndarray, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        found: np.ndarray = parameters.copy()
        value, gradient = self.value_and_gradient(found, counts, totals)
        for _ in range(_ROUNDS):
            busy = np.flatnonzero(np.abs(gradient).max(axis=1) > _TOLERANCE)
            if not len(busy):
                return found
            curvature = self.curvature(found[busy], counts[busy]) + _RIDGE * np.eye(self.parameters)
            step = np.linalg.solve(curvature, gradient[busy][:, :, None])[:, :, 0]
            step *= np.minimum(1.0, _STEP_LIMIT / np.abs(step).max(axis=1))[:, None]
            while len(busy):
                trial = found[busy] + step
                moved = self.value_and_gradient(trial, counts[busy], totals[busy])
                # at the maximum the value holds still but for rounding
                uphill = moved[0] >= value[busy] - 1e-9 * (1 + np.abs(value[busy]))
                done = busy[uphill]
                found[done] = trial[uphill]
                value[done], gradient[done] = (part[uphill] for part in moved)
                busy, step = busy[~uphill], step[~uphill] / 2
        raise RuntimeError(f"the fit has not converged after {_ROUNDS} rounds: please report the games")

    def _pseudo_games(self) -> tuple[np.ndarray, np.ndarray]:
        """What the two outcomes of each pseudo-game count in the parameters, (2, pseudo-games, parameters), and how
        often each of them happens, (pseudo-games,)."""
        pairs, often = [], []
        for rows, each in ((self._of_agent, _AGENT_GAMES), (self._of_seat, _SEAT_GAMES)):
            found = list(combinations(rows, 2))
            pairs += found
            often += [each / (len(rows) - 1) for _ in found]
        pairs += [(row, np.zeros_like(row)) for row in self._of_tie[2:]]
        often += [_TIE_GAMES] * (self.largest_tie - 1)
        return np.array(pairs).transpose(1, 0, 2), np.array(often)

    def _grouped(self, sets: np.ndarray) -> list[_Group]:
        """Sets in groups of equally many choices; behind them the pseudo-games, which offer two."""
        groups = []
        present = (sets >= 0).sum(axis=1)
        for number in np.unique(present):
            numbers = np.flatnonzero(present == number)
            seats = np.nonzero(sets[numbers] >= 0)[1].reshape(len(numbers), number)
            agents = sets[numbers[:, None], seats]
            rows = [
                self._choice_rows(agents[:, list(chosen)], seats[:, list(chosen)])
                for size in range(1, min(int(number), self.largest_tie) + 1)
                for chosen in combinations(range(int(number)), size)
            ]
            groups.append(_group(numbers, np.array(rows)))
        groups.append(_group(np.arange(len(sets), len(sets) + len(self.pseudo_games)), self._pseudo))
        return groups

    def _choice_rows(self, agents: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """What groups of seats, (sets, size), count in the parameters when they are chosen, (sets, parameters)."""
        rows = (self._of_agent[agents] + self._of_seat[seats]).mean(axis=1)
        return np.asarray(rows + self._of_tie[agents.shape[1]])


def _group(sets: np.ndarray, rows: np.ndarray) -> _Group:
    return _Group(sets, rows, (rows[:, :, :, None] * rows[:, :, None, :]).reshape(*rows.shape[:2], -1))


def _chances(group: _Group, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How likely each choice is, (choices, fits, sets), and the logarithms of the sums, (fits, sets)."""
    chances = parameters @ group.rows.transpose(0, 2, 1)
    peak = chances.max(axis=0)
    np.exp(chances - peak, out=chances)
    total = chances.sum(axis=0)
    chances /= total
    return chances, peak + np.log(total)


def dense_ranks(places: np.ndarray) -> np.ndarray:
    """Places by game as 0, 1, 2, … without gaps behind ties."""
    ordered = np.sort(places, axis=1)
    fresh = np.ones(places.shape, dtype=bool)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return np.asarray((fresh[:, None, :] & (ordered[:, None, :] < places[:, :, None])).sum(axis=2))


def _contrasts(players: int) -> np.ndarray:
    """(players, players - 1): orthonormal columns of sum zero (Helmert's)."""
    columns = np.zeros((players, players - 1))
    for number in range(1, players):
        columns[:number, number - 1] = 1.0
        columns[number, number - 1] = -number
    return np.asarray(columns / np.sqrt((columns**2).sum(axis=0)))
