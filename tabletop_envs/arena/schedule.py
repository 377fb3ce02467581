"""Schedules: which games a season consists of, fixed before any of them is played.

A table is one deal played once in each seating of a line-up: of n agents, seat i of rotation r is taken by agent
(i + r) mod n, so that neither deal nor seat favours anybody. `schedule.json` holds

| field | legend |
| --- | --- |
| `schema` | the version of this table: 1 |
| `season` | its name, from which all seeds follow |
| `game` | the id of the game, with version: `urbino-v0` |
| `num_players` | seats in play |
| `options` | the options that differ from their defaults |
| `rules` | the rules digest of the game (`arena.replay.rules_digest`) |
| `lineups` | in their order: `name`, `agents` (one a seat; `candidate` for who is to be rated), `tables` (how many) |
| `seeds` | by table, the same for all line-ups: see `table_seed` |

as one canonical text: keys sorted, indented by 1. Line-ups without `candidate` are played among the anchors.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from tabletop_envs import registry
from tabletop_envs.arena.replay import rules_digest
from tabletop_envs.arena.roster import AGENTS, NAME, read, read_object, short
from tabletop_envs.core.checks import is_whole
from tabletop_envs.core.game import Game
from tabletop_envs.core.spec import Settings
from tabletop_envs.errors import CorruptDataError, OptionError

SCHEMA: Final = 1
CANDIDATE: Final = "candidate"
ANCHORS: Final = "anchors"
FILE: Final = "schedule.json"
SEASONS: Final = "seasons"

_SEASON: Final = re.compile(r"[a-z0-9][a-z0-9.-]*")
_DIGEST: Final = re.compile(r"[0-9a-f]{16}")
_SEED_SHIFT: Final = 11  # of 64 bits, 53 are left
_LARGEST: Final = 2**31


# --- games of a schedule ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lineup:
    """Who sits at a table: agents by seat of rotation 0, and how many tables they play."""

    name: str
    agents: tuple[str, ...]
    tables: int


@dataclass(frozen=True)
class Fixture:
    """One game of a schedule; agents by seat."""

    lineup: str
    table: int
    rotation: int
    seed: int
    agents: tuple[str, ...]

    @property
    def place(self) -> tuple[str, int, int]:
        """What tells it from the other games: line-up, table, rotation."""
        return self.lineup, self.table, self.rotation


def table_seed(season: str, game: str, num_players: int, table: int) -> int:
    """The seed of a table, 0 to 2^53 - 1: the first 53 bits of the SHA-256 of `season/game/players/table`."""
    digest = hashlib.sha256(f"{season}/{game}/{num_players}/{table}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> _SEED_SHIFT


@dataclass(frozen=True)
class Schedule:
    """The games of a season, or a part of them; the fields are those of the file (see the table of this module)."""

    season: str
    game: str
    num_players: int
    options: Mapping[str, Any]
    rules: str
    lineups: tuple[Lineup, ...]
    seeds: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        tables = max((lineup.tables for lineup in self.lineups), default=0)
        seeds = tuple(table_seed(self.season, self.game, self.num_players, table) for table in range(tables))
        object.__setattr__(self, "seeds", seeds)

    def part(self, candidate: str | None = None, tables: int | None = None) -> Schedule:
        """The line-ups of the anchors among themselves, or those of a candidate, with its name put in.

        tables: at most so many of each line-up, the first ones.
        """
        chosen = [lineup for lineup in self.lineups if (CANDIDATE in lineup.agents) == (candidate is not None)]
        most = _LARGEST if tables is None else tables
        return replace(
            self,
            lineups=tuple(
                Lineup(
                    lineup.name,
                    tuple(str(candidate) if name == CANDIDATE else name for name in lineup.agents),
                    min(lineup.tables, most),
                )
                for lineup in chosen
            ),
        )

    def fixtures(self) -> Iterator[Fixture]:
        """Every game, in the order of a file of games: by line-up, table and rotation."""
        for lineup in self.lineups:
            for table in range(lineup.tables):
                for rotation in range(self.num_players):
                    agents = (*lineup.agents[rotation:], *lineup.agents[:rotation])
                    yield Fixture(lineup.name, table, rotation, self.seeds[table], agents)

    def agents(self) -> list[str]:
        """Everybody who plays, once each, in order of appearance."""
        return list(dict.fromkeys(name for lineup in self.lineups for name in lineup.agents))

    def info(self, fixture: Fixture) -> dict[str, Any]:
        """The notes with which a game of this schedule is recorded."""
        place = {"lineup": fixture.lineup, "table": fixture.table, "rotation": fixture.rotation}
        return {"season": self.season, **place}

    def extended_by(self, other: Schedule) -> Schedule:
        """The schedule with the line-ups of the other that it lacks behind its own, and with more tables where the
        other has more; what it holds already stays as it is.

        Raises OptionError for a schedule of another season, game or rules.
        """
        for name in ("season", "game", "num_players", "options", "rules"):
            if getattr(self, name) != getattr(other, name):
                raise OptionError(
                    f"a schedule with {name} {getattr(self, name)!r} is not extended by one with "
                    f"{getattr(other, name)!r}: begin another season"
                )
        more = {lineup.name: lineup.tables for lineup in other.lineups}
        known = [replace(own, tables=max(own.tables, more.get(own.name, 0))) for own in self.lineups]
        names = {own.name for own in known}
        return replace(self, lineups=(*known, *(added for added in other.lineups if added.name not in names)))

    def parts(self) -> Iterator[tuple[str, Schedule]]:
        """What is played by itself, by name: the games of the anchors, and those of a candidate."""
        yield f"the {ANCHORS}", self.part()
        yield f"a {CANDIDATE}", self.part(CANDIDATE)

    # --- the file

    def text(self) -> str:
        """The file's content."""
        content = {**vars(self), "schema": SCHEMA, "lineups": [vars(lineup) for lineup in self.lineups]}
        return json.dumps(content, sort_keys=True, indent=1) + "\n"

    @classmethod
    def read(cls, path: Path) -> Schedule:
        """The schedule of a file; raises CorruptDataError with the line or field that is wrong, and OSError."""
        content = read_object(path)
        _check(path, content)
        seeds = content.pop("seeds")
        del content["schema"]
        rows = content.pop("lineups")
        lineups = tuple(Lineup(row["name"], tuple(row["agents"]), row["tables"]) for row in rows)
        schedule = cls(**content, lineups=lineups)
        if len(seeds) != len(schedule.seeds):
            raise CorruptDataError(f"{path}: seeds are {len(seeds)}, not {len(schedule.seeds)}, one a table: {_REMEDY}")
        for table, (seed, derived) in enumerate(zip(seeds, schedule.seeds, strict=True)):
            if seed != derived:
                raise CorruptDataError(
                    f"{path}: seeds[{table}] is {seed!r}, but season, game and players give {derived}: {_REMEDY}"
                )
        return schedule

    def load_game(self) -> tuple[Game, Settings]:
        """The game, and the settings that are played.

        Raises UnknownGameError, and OptionError for options that it has not, and where the installed game has other
        rules than the schedule was made for.
        """
        game = registry.load(self.game)
        settings = game.settings(self.num_players, **self.options)
        if rules_digest(game) != self.rules:
            raise OptionError(
                f"the schedule is for {self.game} with rules {self.rules}, but the installed game has "
                f"{rules_digest(game)}: install the tabletop_envs that the season is played with, or begin a new season"
            )
        return game, settings


_REMEDY: Final = "take the file from the season as it was published, or make it anew with `arena schedule`"


def _check(path: Path, content: dict[str, Any]) -> None:
    def demand(fits: bool, name: str, value: Any, wanted: str) -> None:
        if not fits:
            raise CorruptDataError(f"{path}: {name} is {value!r}, not {wanted}: {_REMEDY}")

    schema = content.get("schema")
    if type(schema) is not int or schema != SCHEMA:
        raise CorruptDataError(f"{path} is of schema {schema!r}, not {SCHEMA}: install the tabletop_envs that wrote it")
    names = ["schema", "season", "game", "num_players", "options", "rules", "lineups", "seeds"]
    for name in names:
        if name not in content:
            raise CorruptDataError(f"{path} has no {name!r}: {_REMEDY}")
    for name in content:
        demand(name in names, "a field", name, "one that a schedule has")
    season, game, players, rules = (content[name] for name in ("season", "game", "num_players", "rules"))
    demand(isinstance(season, str) and bool(_SEASON.fullmatch(season)), "season", season, "a name like '2026-1'")
    demand(isinstance(game, str), "game", game, "the id of a game")
    demand(is_whole(players, 1, _LARGEST), "num_players", players, "a number of players")
    demand(isinstance(content["options"], dict), "options", content["options"], "an object of options")
    demand(isinstance(rules, str) and bool(_DIGEST.fullmatch(rules)), "rules", rules, "16 hex digits")
    demand(isinstance(content["seeds"], list), "seeds", content["seeds"], "a list")
    lineups = content["lineups"]
    demand(isinstance(lineups, list) and len(lineups) > 0, "lineups", lineups, "a list of line-ups")
    seen: set[str] = set()
    for number, row in enumerate(lineups):
        at = f"lineups[{number}]"
        demand(isinstance(row, dict) and set(row) == {"name", "agents", "tables"}, at, row, "name, agents and tables")
        name, agents, tables = row["name"], row["agents"], row["tables"]
        demand(isinstance(name, str) and name not in seen, f"{at}.name", name, "a name of its own")
        seen.add(name)
        fits = isinstance(agents, list) and len(agents) == players
        demand(fits, f"{at}.agents", agents, f"a list of {players} agents, one a seat")
        for seat, agent in enumerate(agents):
            named = isinstance(agent, str) and bool(NAME.fullmatch(agent)) and agent != ANCHORS
            demand(named, f"{at}.agents[{seat}]", agent, "the name of an agent")
        demand(agents.count(CANDIDATE) < 2, f"{at}.agents", agents, f"one with a single {CANDIDATE!r}")
        demand(is_whole(tables, 1, _LARGEST), f"{at}.tables", tables, "a number of tables")


# --- making schedules -------------------------------------------------------------------------------------------


def lineup(agents: Sequence[str], tables: int) -> Lineup:
    """A line-up with the name that its agents give: `greedy+random`, `greedy+3*random`."""
    parts = [(name, len(list(same))) for name, same in groupby(agents)]
    return Lineup("+".join(name if count == 1 else f"{count}*{name}" for name, count in parts), tuple(agents), tables)


def season_lineups(
    anchors: Sequence[str], num_players: int, tables: int, fewer: Mapping[str, int] | None = None
) -> list[Lineup]:
    """The line-ups of a season: the round robin of the anchors, and the gauntlet of a candidate.

    For two players everybody meets everybody; for more, one agent meets a table of another, and a mixed line-up
    seats the last of the anchors, which are listed from weak to strong. fewer: agent -> at most so many tables.
    """
    others = num_players - 1
    chosen: list[Sequence[str]] = []
    for number, one in enumerate(anchors):
        chosen += [(one, *[other] * others) for other in anchors[:number]]
        if num_players > 2:
            chosen += [(one, *[other] * others) for other in anchors[number + 1 :]]
    if num_players > 2 and len(anchors) > 2:
        chosen.append(_last(anchors, num_players))
    chosen += [(CANDIDATE, *[anchor] * others) for anchor in anchors]
    if num_players > 2 and len(anchors) > 1:
        chosen.append((CANDIDATE, *_last(anchors, others)))
    limits = fewer or {}
    return [lineup(agents, min(limits.get(name, tables) for name in {*agents, CANDIDATE})) for agents in chosen]


def _last(anchors: Sequence[str], number: int) -> tuple[str, ...]:
    """So many of the last anchors; where there are fewer, the strongest come again."""
    picked = [anchors[-1 - count % len(anchors)] for count in range(number)]
    return tuple(sorted(picked, key=list(anchors).index))


def new(
    game: Game,
    settings: Settings,
    season: str,
    anchors: Sequence[str],
    tables: int,
    fewer: Mapping[str, int] | None = None,
) -> Schedule:
    """The schedule of a season; see `season_lineups`. Raises OptionError for what no schedule can hold."""
    if not _SEASON.fullmatch(season):
        raise OptionError(f"{season!r} is no name of a season: give one like 2026-1")
    if not is_whole(tables, 1, _LARGEST):
        raise OptionError(f"tables={tables!r} is not possible: give a whole number, at least 1")
    for name in [*anchors, *(fewer or {})]:
        if not NAME.fullmatch(name) or (name in (CANDIDATE, ANCHORS) and name in anchors):
            raise OptionError(f"{name!r} is no name of an agent: use small letters, digits and hyphens")
    if len(anchors) < 1 or len(set(anchors)) != len(anchors):
        raise OptionError(f"anchors {', '.join(anchors) or 'none'} do not fit: name at least one, each once")
    return Schedule(
        season=season,
        game=short(game.spec.env_id),
        num_players=settings.num_players,
        options=json.loads(json.dumps(settings.changed())),
        rules=rules_digest(game),
        lineups=tuple(season_lineups(anchors, settings.num_players, tables, fewer)),
    )


# --- where things lie -------------------------------------------------------------------------------------------


def season_folder(board: Path, schedule: Schedule) -> Path:
    """`seasons/<game>_v<version>/<players>p/<season>` of a board. Raises UnknownGameError."""
    return board / SEASONS / registry.spec(schedule.game).name / f"{schedule.num_players}p" / schedule.season


def board_of(season: Path) -> Path:
    """The board that a season's folder belongs to."""
    return season.absolute().parents[3]


def games_file(season: Path, candidate: str | None = None) -> Path:
    """The file of the games of a candidate, or of those among the anchors."""
    return season / f"games-{candidate or ANCHORS}.jsonl.gz"


def anchors_for(board: Path, game: Game, num_players: int) -> list[str]:
    """The anchors of a board that are there and play a game. Raises what `read_anchors` and `roster.read` raise."""
    folders = [board / AGENTS / name for name in read_anchors(board)]
    entrants = [read(folder) for folder in folders if folder.is_dir()]
    return [entrant.name for entrant in entrants if (short(game.spec.env_id), num_players) in entrant.games]


def read_anchors(board: Path) -> list[str]:
    """The names in `anchors.json` of a board, from weak to strong; raises CorruptDataError and OSError."""
    path = board / "anchors.json"
    content = read_object(path)
    names = content.get("anchors")
    fits = isinstance(names, list) and all(isinstance(name, str) and NAME.fullmatch(name) for name in names)
    if content.get("schema") != SCHEMA or not fits or len(set(names)) != len(names):  # type: ignore[arg-type]
        raise CorruptDataError(f'{path} does not hold {{"schema": {SCHEMA}, "anchors": [names]}}: mend it')
    assert isinstance(names, list)
    return names
