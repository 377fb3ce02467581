"""What the pages are made from: the files of a board folder, read and put in order. Knows nothing of HTML."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from tabletop_envs import registry
from tabletop_envs.arena import submission
from tabletop_envs.arena.board import RATINGS, Overall, across_games, games_files, read_ratings, season_folders
from tabletop_envs.arena.replay import Replay, scan
from tabletop_envs.arena.roster import AGENTS, MANIFEST, NAME
from tabletop_envs.arena.schedule import SEASONS, games_file
from tabletop_envs.core.spec import GameSpec
from tabletop_envs.errors import CorruptDataError, UnknownGameError

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

    @cached_property
    def spec(self) -> GameSpec | None:
        """The declaration of the game; None for one that is not installed, or not in this version."""
        try:
            return registry.spec(self.ratings["game"])
        except UnknownGameError:
            return None

    @property
    def game_title(self) -> str:
        """The game in words."""
        return self.spec.title if self.spec else str(self.ratings["game"])

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
        return f"{self.game_title}, {self.num_players} players"

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
        for path in sorted(games_files(self.folder), key=lambda path: path != anchors):
            name, number = path.name.removeprefix(_PREFIX).partition(".")[0], 0
            for line in scan(path):
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
            step = len(games) // max(1, count)
            # not always the first of its stretch, so that rotations take turns
            chosen += [games[index * step + index % min(step, self.num_players)] for index in range(count)]
        return chosen


@dataclass(frozen=True)
class Entry:
    """An agent of the board: facts is the content of its agent.json, empty where it has no folder; card is Markdown."""

    name: str
    facts: Mapping[str, Any]
    card: str
    answers_again: bool = True  # as far as it says itself


class Board:
    """A board folder as it stands: rated seasons, newest first within a game and number of players; agents by name.

    Raises CorruptDataError for files that cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rated = [path for path in season_folders(folder) if (path / RATINGS).is_file()]
        newest_first = [Season(path, read_ratings(path)) for path in reversed(rated)]
        self.seasons = sorted(newest_first, key=lambda season: (season.game_title, season.num_players))
        names = {agent["name"] for season in self.seasons for agent in season.ratings["agents"]}
        names |= {path.parent.name for path in folder.glob(f"{AGENTS}/*/{MANIFEST}")}
        for name in names:
            if not NAME.fullmatch(name):  # it becomes the name of a file
                raise CorruptDataError(f"{folder}: {name!r} is no name of an agent: check its games and ratings")
        self.agents = {name: _entry(folder / AGENTS / name) for name in sorted(names)}
        self.rules = _text(folder / "RULES.md")

    def newest(self) -> list[Season]:
        """The newest season of each game and number of players."""
        found: dict[tuple[str, int], Season] = {}
        for season in self.seasons:
            found.setdefault((season.ratings["game"], season.num_players), season)
        return list(found.values())

    def across_games(self) -> list[Overall]:
        """The agents that play all games, best first."""
        return across_games([dict(season.ratings) for season in self.seasons])


def _entry(folder: Path) -> Entry:
    facts: Mapping[str, Any] = {}
    answers_again = True
    if (folder / MANIFEST).exists():
        found, findings = submission.check(folder)
        if found is None:
            raise CorruptDataError(str(findings[0]))
        facts, answers_again = found.content, found.answers_again
    return Entry(folder.name, facts, _text(folder / submission.CARD), answers_again)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
