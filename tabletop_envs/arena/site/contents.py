"""What the pages are made from: the files of a board folder, read and put in order. Knows nothing of HTML."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from tabletop_envs import registry
from tabletop_envs.arena import replay
from tabletop_envs.arena.replay import Replay
from tabletop_envs.arena.roster import MANIFEST, read_object
from tabletop_envs.arena.schedule import AGENTS, SEASONS, games_file
from tabletop_envs.core.spec import GameSpec

_PREFIX: Final = "games-"


@dataclass(frozen=True)
class Recorded:
    """A recorded game and where it stands: the `number`-th game, from 1, of the file games-<file>.jsonl.gz."""

    file: str
    number: int
    replay: Replay

    @property
    def name(self) -> str:
        """File and number in one word."""
        return f"{self.file}-{self.number}"

    @property
    def lineup(self) -> str:
        """The name of the line-up that played."""
        return str(self.replay.info.get("lineup", ""))

    @property
    def place(self) -> str:
        """Table and rotation, counted from 0 as in the file."""
        info = self.replay.info
        return f"{info.get('table', self.number - 1)}.{info.get('rotation', 0)}"


@dataclass(frozen=True)
class Season:
    """The games and ratings of one game with one number of players; `ratings` is the content of ratings.json."""

    folder: Path
    ratings: Mapping[str, Any]

    @property
    def spec(self) -> GameSpec:
        """The declaration of the game; raises UnknownGameError."""
        return registry.spec(self.ratings["game"])

    @property
    def num_players(self) -> int:
        """Seats in play."""
        return int(self.ratings["num_players"])

    @property
    def name(self) -> str:
        """The season's own name."""
        return str(self.ratings["season"])

    @property
    def title(self) -> str:
        """Game and number of players in words."""
        return f"{self.spec.title}, {self.num_players} players"

    @property
    def path(self) -> str:
        """The season's folder, seen from the board: the same in the site."""
        return "/".join((SEASONS, *self.folder.parts[-3:]))

    @cached_property
    def games(self) -> list[Recorded]:
        """The recorded games: those among anchors first, then a file an agent.

        Raises CorruptDataError at a line that is no replay.
        """
        found, anchors = [], games_file(self.folder)
        for path in sorted(self.folder.glob(games_file(Path(), "*").name), key=lambda path: (path != anchors, path)):
            name, number = path.name.removeprefix(_PREFIX).partition(".")[0], 0
            for line in replay.scan(path):
                if line.error is not None:
                    raise line.error
                if line.replay is not None:
                    number += 1
                    found.append(Recorded(name, number, line.replay))
        return found

    def sample(self, number: int) -> list[Recorded]:
        """Up to so many games of each line-up, spread over its tables and rotations."""
        lineups: dict[tuple[str, str], list[Recorded]] = defaultdict(list)
        for game in self.games:
            lineups[game.file, game.lineup].append(game)
        chosen = []
        for games in lineups.values():
            count = min(number, len(games))
            # one more than whole tables apart, so that rotations take turns
            step = len(games) // count if count else 1
            chosen += [games[min(index * step + index % self.num_players, len(games) - 1)] for index in range(count)]
        return chosen


@dataclass(frozen=True)
class Entry:
    """An agent of the board: facts is the content of its agent.json, empty where it has no folder; card is Markdown."""

    name: str
    facts: Mapping[str, Any]
    card: str


class Board:
    """A board folder as it stands: seasons, newest first within a game and number of players, and agents by name.

    Raises CorruptDataError for files that cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seasons = sorted(
            (Season(path, read_ratings(path)) for path in season_folders(folder)),
            key=lambda season: (season.spec.title, season.num_players, [-part for part in _ordered(season.name)]),
        )
        rated = {agent["name"] for season in self.seasons for agent in season.ratings["agents"]}
        self.agents = {name: _entry(folder / AGENTS / name) for name in sorted(rated | _named(folder))}

    def newest(self) -> list[Season]:
        """The newest season of each game and number of players."""
        found: dict[tuple[str, int], Season] = {}
        for season in self.seasons:
            found.setdefault((season.spec.id, season.num_players), season)
        return list(found.values())

    def rules(self) -> str:
        """RULES.md, empty where there is none."""
        return _text(self.folder / "RULES.md")


def season_folders(board: Path) -> list[Path]:
    """The season folders that have been rated."""
    return sorted(path.parent for path in board.glob(f"{SEASONS}/*/*/*/ratings.json"))


def read_ratings(folder: Path) -> dict[str, Any]:
    """The content of a season folder's ratings.json."""
    return read_object(folder / "ratings.json")


def across_games(seasons: Iterable[Season]) -> list[tuple[str, float, dict[str, float]]]:
    """(agent, score, score of each game by its id), best first, of the agents that play every game of the board.

    In each season the reference agent has 0 and the strongest search 1. A game weighs one, however many numbers of
    players it is played with.
    """
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    games = set()
    for season in seasons:
        games.add(season.spec.id)
        for agent in season.ratings["agents"]:
            if agent["score"] is not None:
                scores[agent["name"]][season.spec.id].append(agent["score"]["value"])
    found = []
    for name, by_game in scores.items():
        if set(by_game) == games:
            means = {game: _mean(values) for game, values in sorted(by_game.items())}
            found.append((name, _mean(list(means.values())), means))
    return sorted(found, key=lambda row: (-row[1], row[0]))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _ordered(name: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", name)]


def _named(board: Path) -> set[str]:
    return {path.parent.name for path in board.glob(f"{AGENTS}/*/{MANIFEST}")}


def _entry(folder: Path) -> Entry:
    path = folder / MANIFEST
    return Entry(folder.name, read_object(path) if path.exists() else {}, _text(folder / "card.md"))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
