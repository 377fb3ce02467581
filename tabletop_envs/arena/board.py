"""The leaderboard's derived figures: the ratings of every season, which anybody can make anew from its games.

`ratings.json` lies beside the games of a season and holds

| field | legend |
| --- | --- |
| `schema` | the version of this table: 1 |
| `game`, `num_players`, `season`, `options`, `rules` | as in `schedule.json` |
| `games`, `tables`, `deals` | how many were played; games of one deal share its luck, whatever the line-up |
| `caps` | how many games ended at the cap of decisions |
| `reference`, `resamples` | whose rating is 0; on how many resamples of the deals intervals rest |
| `agents` | best rating first, see below |
| `divisions` | name -> `name`, `rank`, `rank_low`, `rank_high`, `first` of its agents among themselves |
| `pairs` | by `agent` and `opponent`, both ways, see below |
| `seats` | by `seat`: `effect` in rating points, of sum 0, with `low` and `high` |
| `ties` | number of seats -> weight of a tie of so many (see `plackett_luce.py`) |
| `skill_room` | up the ladder from the reference over the searches: by how many `points` `agent` is `over` the last |

An agent has `name`; `rating` with `low` and `high`; `rank`, `rank_low`, `rank_high` and `first` (see
`rating.Standing`); `win_share`; `mean_place`; `mean_margin` (points minus the mean of the others'); `score`, its rating
by that of `mcts-1000`, null where there is no such scale; `games`, `deals`; `failures` by kind; `voids`, how many of
its failures made a game void, which was then played again. Of an agent with too many voids, rank and first are null.

A pair has `share`: of all comparisons of a seat of the agent with a seat of the opponent in a game, those in which it
was placed better, ties half (with two players, the win share), with `low` and `high`, null where they never met;
`games`, `deals`; and `dominance`, the share of resamples in which the agent is rated above the opponent.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from tabletop_envs.arena.journal import VOIDS
from tabletop_envs.arena.rating import RESAMPLES, Estimate, Rating, Standing, estimate, rate
from tabletop_envs.arena.replay import FAILURES, Replay, forfeiting_seat, scan
from tabletop_envs.arena.results import Results, results
from tabletop_envs.arena.roster import AGENTS, MANIFEST, read_object, short
from tabletop_envs.arena.roster import read as read_agent
from tabletop_envs.arena.schedule import FILE as SCHEDULE
from tabletop_envs.arena.schedule import SEASONS, Schedule, board_of
from tabletop_envs.core.checks import is_whole
from tabletop_envs.core.position import END_CAP
from tabletop_envs.errors import CorruptDataError, OptionError
from tabletop_envs.files import write_whole

SCHEMA: Final = 1
RATINGS: Final = "ratings.json"
REFERENCE: Final = "random"
UNIT: Final = "mcts-1000"
"""Rated 1 where games are compared, as the reference is rated 0."""
OPEN: Final = "open"
VOIDS_LIMIT: Final = 0.05  # of an agent's games; above, it has no rank

_LADDER: Final = re.compile(r"mcts-(\d+)")


@dataclass(frozen=True)
class Budget:
    """What an agent may use: simulations a decision (0: it does not search), decisions of training."""

    simulations: int
    training: int


DIVISIONS: Final[Mapping[str, Callable[[Budget], bool]]] = {
    "instant": lambda budget: budget.simulations == 0,
    "search-100": lambda budget: budget.simulations <= 100,
    "search-1000": lambda budget: budget.simulations <= 1000,
    "trained-1e7": lambda budget: budget.training <= 10**7,
    "trained-1e8": lambda budget: budget.training <= 10**8,
}
"""Who belongs to a division. To `open` everybody does; an agent whose `agent.json` is not there, to no other."""


# --- the games of a season --------------------------------------------------------------------------------------


@dataclass
class _Games:
    """All games of a season, as arrays (games, players) and (games,)."""

    names: list[str]
    seats: np.ndarray
    places: np.ndarray
    points: np.ndarray
    deals: np.ndarray
    tables: int
    caps: int
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    voids: Counter[str] = field(default_factory=Counter)


def games_files(folder: Path) -> list[Path]:
    """The files of games of a season, by name."""
    return sorted(folder.glob("games-*.jsonl.gz"))


def _read_games(folder: Path, schedule: Schedule) -> _Games:
    replays: list[Replay] = []
    tables = set()
    for path in games_files(folder):
        for line in scan(path):
            if line.error is not None:
                raise line.error
            if line.replay is not None:
                _check(line.replay, schedule, line.place)
                replays.append(line.replay)
                tables.add((path, line.replay.info.get("lineup"), line.replay.info.get("table")))
    if not replays:
        raise OptionError(f"{folder} has no games: play them with `arena play {folder}`")
    names = sorted({name for replay in replays for name in replay.agents})
    numbers = {name: number for number, name in enumerate(names)}
    games = _Games(
        names,
        np.array([[numbers[name] for name in replay.agents] for replay in replays]),
        np.array([replay.places for replay in replays]),
        np.array([replay.points for replay in replays]),
        np.array([replay.seed for replay in replays]),
        len(tables),
        sum(replay.end == END_CAP for replay in replays),
    )
    for replay in replays:
        if replay.forfeit is not None:
            kind, _, seat = replay.forfeit.partition(":")
            games.failures[replay.agents[int(seat)], kind] += 1
        for end in replay.info.get(VOIDS, ()):
            games.voids[replay.agents[int(end.partition(":")[2])]] += 1
    return games


def _check(replay: Replay, schedule: Schedule, place: str) -> None:
    for name, found, wanted in (
        ("game", short(replay.game), schedule.game),
        ("num_players", replay.num_players, schedule.num_players),
        ("options", replay.options, schedule.options),
        ("rules", replay.rules, schedule.rules),
        ("season", replay.info.get("season"), schedule.season),
    ):
        if found != wanted:
            raise CorruptDataError(
                f"{place}: {name} is {found!r}, but the season's is {wanted!r}: remove the game, or play it anew"
            )
    lineup, table, voids = (replay.info.get(name) for name in ("lineup", "table", VOIDS))
    if not isinstance(lineup, str) or not is_whole(table) or not (voids is None or _are_forfeits(voids, replay)):
        raise CorruptDataError(f"{place}: info does not tell line-up, table and void games: play the game anew")


def _are_forfeits(ends: Any, replay: Replay) -> bool:
    seats = (
        [forfeiting_seat(end) if isinstance(end, str) else None for end in ends] if isinstance(ends, list) else [None]
    )
    return all(seat is not None and seat < replay.num_players for seat in seats)


def _budget(folder: Path, name: str) -> Budget | None:
    """What the agent of a board declares; None where its `agent.json` is not there."""
    home = board_of(folder) / AGENTS / name
    if not (home / MANIFEST).is_file():
        return None
    training = read_object(home / MANIFEST).get("training")
    decisions: Any = 0
    if training is not None:
        decisions = training.get("decisions") if isinstance(training, dict) else None
    if not is_whole(decisions, 0):
        raise CorruptDataError(f"{home / MANIFEST}: training is {training!r}, not null or with decisions: mend it")
    return Budget(read_agent(home).simulations or 0, decisions)


# --- ratings.json -----------------------------------------------------------------------------------------------


def season_ratings(folder: Path, resamples: int = RESAMPLES) -> dict[str, Any]:
    """The content of `ratings.json` of a season's folder, from its schedule and games: see the table of this module.

    Raises CorruptDataError for a line that is no game of the season, OptionError where there are no games and where
    agents have not met, and OSError.
    """
    schedule = Schedule.read(folder / SCHEDULE)
    games = _read_games(folder, schedule)
    names = games.names
    try:
        rating = rate(games.seats, games.places, games.deals, names, REFERENCE, resamples=resamples)
    except OptionError as error:
        raise OptionError(f"{folder}: {error}") from error
    outcome = results(games.seats, games.places, games.points, games.deals, len(names))
    rated = [
        number
        for number, agent in enumerate(outcome.agents)
        if games.voids[names[number]] <= VOIDS_LIMIT * (agent.games + games.voids[names[number]])
    ]
    budgets = {number: _budget(folder, names[number]) for number in rated}
    divisions = {OPEN: rated}
    for division, holds in DIVISIONS.items():
        divisions[division] = [number for number, budget in budgets.items() if budget is not None and holds(budget)]
    standings = {division: rating.ranking(members) for division, members in divisions.items()}
    by_agent = {standing.agent: standing for standing in standings[OPEN]}
    order = sorted(range(len(names)), key=lambda number: (-rating.points[number], number))
    unit = names.index(UNIT) if UNIT in names else None
    return {
        "schema": SCHEMA,
        **{name: getattr(schedule, name) for name in ("game", "num_players", "season", "options", "rules")},
        "games": len(games.seats),
        "tables": games.tables,
        "deals": len(np.unique(games.deals)),
        "caps": games.caps,
        "reference": REFERENCE,
        "resamples": resamples,
        "agents": [
            {
                "name": names[number],
                **_points("rating", rating.difference(number, names.index(REFERENCE))),
                **_standing(by_agent.get(number)),
                **_result(outcome, number),
                "score": _score(rating, number, unit),
                "failures": {kind: games.failures[names[number], kind] for kind in FAILURES},
                "voids": games.voids[names[number]],
            }
            for number in order
        ],
        "divisions": {
            division: [{"name": names[standing.agent], **_standing(standing)} for standing in members]
            for division, members in standings.items()
        },
        "pairs": [
            {"agent": names[one], "opponent": names[other], **_pair(rating, outcome, one, other)}
            for one in order
            for other in order
            if one != other
        ],
        "seats": [{"seat": seat, **_points("effect", rating.seat(seat))} for seat in range(schedule.num_players)],
        "ties": {str(size): round(float(weight), 4) for size, weight in enumerate(rating.ties, 2)},
        "skill_room": _skill_room(rating, names),
    }


def _points(name: str, found: Estimate) -> dict[str, float]:
    # adding nought makes -0.0 nought
    return {key: round(number, 1) + 0.0 for key, number in zip((name, "low", "high"), found, strict=True)}


def _shares(found: Estimate) -> dict[str, float]:
    return {key: round(number, 4) + 0.0 for key, number in found._asdict().items()}


def _standing(standing: Standing | None) -> dict[str, Any]:
    if standing is None:
        return dict.fromkeys(("rank", "rank_low", "rank_high", "first"))
    content = standing._asdict()
    del content["agent"]
    return content


def _result(outcome: Results, number: int) -> dict[str, Any]:
    agent = outcome.agents[number]
    return {
        "win_share": _shares(agent.win_share),
        "mean_place": round(agent.mean_place, 4),
        "mean_margin": round(agent.mean_margin, 3),
        "games": agent.games,
        "deals": agent.tables,
    }


def _score(rating: Rating, number: int, unit: int | None) -> dict[str, float] | None:
    if unit is None or rating.points[unit] <= 0 or (rating.draws[:, unit] <= 0).any():
        return None
    return _shares(
        estimate(rating.points[number] / rating.points[unit], rating.draws[:, number] / rating.draws[:, unit])
    )


def _pair(rating: Rating, outcome: Results, one: int, other: int) -> dict[str, Any]:
    dominance = round(rating.dominance(one, other), 4)
    met = outcome.pairs.get((one, other))
    if met is None:
        return {"share": None, "low": None, "high": None, "games": 0, "deals": 0, "dominance": dominance}
    share = _shares(met.share)
    share["share"] = share.pop("value")
    return {**share, "games": met.games, "deals": met.tables, "dominance": dominance}


def _skill_room(rating: Rating, names: Sequence[str]) -> list[dict[str, Any]]:
    matches = ((_LADDER.fullmatch(name), number) for number, name in enumerate(names))
    ladder = sorted((int(match[1]), number) for match, number in matches if match)
    steps = [names.index(REFERENCE), *(number for _, number in ladder)]
    return [
        {"agent": names[upper], "over": names[lower], **_points("points", rating.difference(upper, lower))}
        for lower, upper in pairwise(steps)
    ]


def write_ratings(folder: Path, resamples: int = RESAMPLES) -> Path:
    """Write `ratings.json` of a season's folder; returns where. Raises what `season_ratings` raises."""
    path = folder / RATINGS
    write_whole(path, json.dumps(season_ratings(folder, resamples), sort_keys=True, indent=1) + "\n")
    return path


def read_ratings(folder: Path) -> dict[str, Any]:
    """The content of `ratings.json` of a season's folder.

    Raises CorruptDataError where it is not what `write_ratings` writes, and OSError.
    """
    path = folder / RATINGS
    content = read_object(path)
    missing = [name for name in _FIELDS if name not in content]
    if content.get("schema") != SCHEMA or missing:
        wrong = f"has no {missing[0]!r}" if missing else f"is of schema {content['schema']!r}, not {SCHEMA}"
        raise CorruptDataError(f"{path} {wrong}: make it anew with `arena rate {folder}`")
    return content


_FIELDS: Final = (
    *("schema", "game", "num_players", "season", "options", "rules", "games", "tables", "deals", "caps", "reference"),
    *("resamples", "agents", "divisions", "pairs", "seats", "ties", "skill_room"),
)


# --- a board ----------------------------------------------------------------------------------------------------


def season_folders(board: Path) -> list[Path]:
    """The folders of all seasons of a board that have a schedule: by game, number of players, and season."""
    return sorted(
        (path.parent for path in (board / SEASONS).glob(f"*/*p/*/{SCHEDULE}")),
        key=lambda folder: [_natural(part) for part in folder.parts[-3:]],
    )


def _natural(name: str) -> list[tuple[int, str]]:
    """A key by which 2026-10 comes behind 2026-9."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def latest(ratings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of several seasons of a game with the same number of players, the last one by name."""
    last: dict[tuple[str, int], dict[str, Any]] = {}
    for season in ratings:
        key = season["game"], season["num_players"]
        if key not in last or _natural(last[key]["season"]) < _natural(season["season"]):
            last[key] = season
    return [last[key] for key in sorted(last)]


@dataclass(frozen=True)
class Overall:
    """An agent's score over all games, with the 95 % interval, and those of each game and number of players."""

    agent: str
    score: float
    low: float
    high: float
    scores: Mapping[tuple[str, int], float]


def across_games(ratings: Iterable[dict[str, Any]]) -> list[Overall]:
    """The agents that play all games of a board, best score first.

    A score of 0 is as strong as the reference, 1 as strong as `mcts-1000`. Games have equal weights, and so have the
    numbers of players of a game; nobody is listed who leaves one of them out. Where a season gives no scale, or has
    only one agent, it does not count. Seasons share no deals, so that their errors are independent.
    """
    columns: dict[tuple[str, int], dict[str, dict[str, float]]] = {}
    for season in latest(ratings):
        found = {agent["name"]: agent["score"] for agent in season["agents"] if agent["score"] is not None}
        if found:
            columns[season["game"], season["num_players"]] = found
    counts = Counter(game for game, _ in columns)
    weights = {key: 1 / (len(counts) * counts[key[0]]) for key in columns}
    complete = set.intersection(*(set(found) for found in columns.values())) if columns else set()
    overall = []
    for name in complete:
        value, low, high = (
            np.array([columns[key][name][bound] for key in columns]) for bound in ("value", "low", "high")
        )
        weight = np.array(list(weights.values()))
        score = float(weight @ value)
        down, up = (float(np.sqrt((weight**2) @ (bound - value) ** 2)) for bound in (low, high))
        scores = {key: columns[key][name]["value"] for key in columns}
        overall.append(Overall(name, score, score - down, score + up, scores))
    return sorted(overall, key=lambda row: (-row.score, row.agent))
