"""The README of a leaderboard, made from the ratings of its seasons; nobody edits it by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from tabletop_envs import registry
from tabletop_envs.arena.board import DIVISIONS, OPEN, RATINGS, across_games, latest, read_ratings, season_folders
from tabletop_envs.arena.replay import FAILURES
from tabletop_envs.arena.roster import AGENTS, LLM, MANIFEST, read_object
from tabletop_envs.errors import UnknownGameError
from tabletop_envs.files import write_whole

README: Final = "README.md"
TITLES: Final = {
    "instant": "Instant: no search",
    "search-100": "At most 100 simulations a decision",
    "search-1000": "At most 1,000 simulations a decision",
    "trained-1e7": "Trained on at most 10^7 decisions",
    "trained-1e8": "Trained on at most 10^8 decisions",
}
assert list(TITLES) == list(DIVISIONS)

_HEAD: Final = """\
# Leaderboard

Made by `tabletop-envs arena rate` from the games under `seasons/`; do not edit. How games are played and checked, and
how to submit an agent: [RULES.md](RULES.md).

Ratings are Plackett-Luce strengths with ties and seat effects, 400 points for odds of ten to one; `random` is 0.
Brackets are 95 % intervals over deals. Neighbours share a rank where less than 95 % of the resamples tell them apart.
*First* is the share of resamples in which an agent is rated best; *margin* is points minus the mean of the others'.
Of agents marked *not asked again*, a check replays the games, but cannot ask for the decisions anew.
"""
_ALL_GAMES: Final = """\
Ratings with `random` as 0 and `mcts-1000` as 1, averaged over games with equal weight, of agents that play all of them.
"""


def readme(board: Path) -> str:
    """The text for a board whose seasons are rated. Raises what `read_ratings` raises."""
    seasons = [read_ratings(folder) for folder in season_folders(board) if (folder / RATINGS).is_file()]
    parts = [_HEAD]
    if not seasons:
        parts.append("No season has been rated yet.\n")
    overall = across_games(seasons)
    if overall:
        columns = list(overall[0].scores)
        heads = [f"{_title(game)}, {players}p" for game, players in columns]
        rows = [
            [
                _agent(board, row.agent),
                f"{row.score:.2f} [{row.low:.2f}, {row.high:.2f}]",
                *(f"{row.scores[column]:.2f}" for column in columns),
            ]
            for row in overall
        ]
        told = (
            "Ratings with `random` as 0 and `mcts-1000` as 1, averaged with equal weight for every game: agents that "
        )
        parts += ["## All games\n", f"{told}play all of them.\n", _table(["agent", "score", *heads], rows)]
    for season in latest(seasons):
        parts += _season(board, season)
    return "\n".join(parts)


def write_readme(board: Path) -> Path:
    """Write the README of a board; returns where. Raises what `readme` raises."""
    path = board / README
    write_whole(path, readme(board))
    return path


def _season(board: Path, season: dict[str, Any]) -> list[str]:
    players = season["num_players"]
    options = "".join(f", {name}={value}" for name, value in season["options"].items())
    caps = f", {season['caps']:,} of them scored at the cap" if season["caps"] else ""
    parts = [
        f"## {_title(season['game'])}, {players} players\n",
        f"`{season['game']}`{options}, season {season['season']}, rules {season['rules']}: {season['games']:,} games"
        f"{caps}, on {season['deals']:,} deals.\n",
        _ranking(board, season),
    ]
    agents = {agent["name"]: agent for agent in season["agents"]}
    everybody = [row["name"] for row in season["divisions"][OPEN]]
    for division, title in TITLES.items():
        members = season["divisions"][division]
        if not members:
            continue
        if [row["name"] for row in members] == everybody:
            parts.append(f"**{title}**: all of them.\n")
            continue
        rows = [
            [str(row["rank"]), row["name"], _rating(agents[row["name"]]), _ranks(row), f"{row['first']:.0%}"]
            for row in members
        ]
        parts += [f"**{title}**\n", _table(["rank", "agent", "rating", "ranks", "first"], rows)]
    parts += ["**Who beats whom**: the row's share of places better than the column's, ties half\n", _matrix(season)]
    effects = (f"seat {row['seat']} {_span(row, 'effect')}" for row in season["seats"])
    parts.append(f"**Seats**, in points: {'; '.join(effects)}.\n")
    if season["skill_room"]:
        steps = (f"{row['agent']} over {row['over']} {_span(row, 'points')}" for row in season["skill_room"])
        parts.append(f"**Skill room**, in points: {'; '.join(steps)}.\n")
    return parts


def _ranking(board: Path, season: dict[str, Any]) -> str:
    heads = ["rank", "agent", "rating", "ranks", "first", "win share", "place", "margin", "games", "failures"]
    rows = []
    for agent in season["agents"]:
        share = agent["win_share"]
        failures = [f"{agent['failures'][kind]} {kind}" for kind in FAILURES if agent["failures"][kind]]
        failures += [f"{agent['voids']} void"] if agent["voids"] else []
        rows.append(
            [
                "-" if agent["rank"] is None else str(agent["rank"]),
                _agent(board, agent["name"]),
                _rating(agent),
                _ranks(agent),
                "-" if agent["first"] is None else f"{agent['first']:.0%}",
                f"{share['value']:.1%} [{share['low']:.1%}, {share['high']:.1%}]",
                f"{agent['mean_place']:.2f}",
                f"{agent['mean_margin']:+.1f}",
                f"{agent['games']:,}",
                ", ".join(failures) or "-",
            ]
        )
    return _table(heads, rows)


def _matrix(season: dict[str, Any]) -> str:
    names = [agent["name"] for agent in season["agents"]]
    shares = {(pair["agent"], pair["opponent"]): pair["share"] for pair in season["pairs"]}

    def cell(agent: str, opponent: str) -> str:
        share = shares.get((agent, opponent))
        return "" if share is None else f"{share:.1%}"

    return _table(["", *names], [[name, *(cell(name, other) for other in names)] for name in names])


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _title(game: str) -> str:
    try:
        return registry.spec(game).title
    except UnknownGameError:  # of an outside package, or long gone
        return game


def _agent(board: Path, name: str) -> str:
    path = board / AGENTS / name / MANIFEST
    if not path.is_file():
        return name
    content = read_object(path)
    again = content.get("kind") != LLM and content.get("deterministic") is True
    return f"[{name}]({AGENTS}/{name})" + ("" if again else " (not asked again)")


def _rating(agent: dict[str, Any]) -> str:
    return f"{agent['rating']:.0f} [{agent['low']:.0f}, {agent['high']:.0f}]"


def _ranks(row: dict[str, Any]) -> str:
    low, high = row["rank_low"], row["rank_high"]
    if low is None:
        return "-"
    return str(low) if low == high else f"{low}-{high}"


def _span(row: dict[str, Any], name: str) -> str:
    return f"{row[name]:+.0f} [{row['low']:+.0f}, {row['high']:+.0f}]"
