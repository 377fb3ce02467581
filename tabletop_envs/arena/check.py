"""Checking what stands on a board, as a pull request has to be checked: schedule, agents, every game, every claim.

Nothing is believed that can be derived: seeds, who sits where, openings, legality and outcome of each game are
computed anew, and the agents are asked again (`arena/reask.py`). What does not hold becomes a `Finding` with the file
and the line. What the files are: `benchmarks/leaderboard/RULES.md`.

Knows games through the contract alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from tabletop_envs import __version__
from tabletop_envs.arena import reask, submission
from tabletop_envs.arena.asking import PATIENCE
from tabletop_envs.arena.replay import Replay, forfeiting_seat, scan, verify
from tabletop_envs.arena.roster import AGENTS, LLM, MANIFEST
from tabletop_envs.arena.schedule import ANCHORS, FILE, SEASONS, Fixture, Schedule
from tabletop_envs.arena.submission import Finding, Submission
from tabletop_envs.core.game import Game
from tabletop_envs.core.spec import Settings
from tabletop_envs.envs.vector import Batch, draw_opening
from tabletop_envs.errors import OptionError, TabletopError

ASKED: Final = 200
"""Decisions of every agent of a file that it is asked again."""
MAX_GAMES: Final = 20_000_000
"""Bytes of a file of games."""

_GAMES: Final = re.compile(r"games-([a-z0-9][a-z0-9-]*)\.jsonl(\.gz)?")
_VERSION: Final = re.compile(r"\d+(\.\d+)*")
_FACTS: Final = ("package", "numpy", "numba", "python", "machine", "date", "agents")
_NOTES: Final = {"season": str, "lineup": str, "table": int, "rotation": int}
_MORE_NOTES: Final = {"seconds", "voids"}  # which `info` may hold beside; nothing follows from them

Place = tuple[str, int, int]  # line-up, table, rotation
Progress = Callable[[str, int, int], None]
"""What is being done, how much of it is done, of how much."""


@dataclass
class Row:
    """What was checked of one file of games.

    asked: agent -> how many of its decisions it was asked again; None for one that cannot be.
    """

    path: Path
    games: int = 0
    decisions: int = 0
    forfeits: int = 0
    asked: dict[str, int | None] = field(default_factory=dict)


@dataclass
class Report:
    """What does not hold, what was checked, and what a maintainer should know besides."""

    findings: list[Finding] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class How:
    """How agents are asked.

    asked: decisions of each agent in a file; salt: what the drawing of them depends on besides the games, so that
    nobody can choose games by it; inside, patience: see `asking.Watched`.
    """

    asked: int = ASKED
    salt: str = ""
    inside: str = ""
    patience: float = PATIENCE


def check(folder: Path, base: Path | None = None, how: How | None = None, progress: Progress | None = None) -> Report:
    """Check the folder of an agent with all its games, of a season, or of a whole board.

    base: a board that is trusted, to which schedules and all other agents belong; by default the same board.

    Raises OptionError for a folder that is none of these.
    """
    folder = folder.resolve()
    report = Report()
    if (folder / MANIFEST).exists() or folder.parent.name == AGENTS:
        home, agents = folder.parent.parent, [folder]
        files = sorted(path for path in _files(home) if _whose(path) == folder.name)
        if not files:
            report.findings.append(Finding(folder, None, "has no games in any season: play them first, `arena play`"))
    elif (folder / FILE).exists() or SEASONS in (parent.name for parent in folder.parents):
        home, agents = _home(folder), []
        files = sorted(path for path in _files(home) if path.parent == folder)
    elif (folder / SEASONS).is_dir():
        home, agents = folder, sorted(path for path in (folder / AGENTS).iterdir() if path.is_dir())
        files = sorted(_files(home))
    else:
        raise OptionError(f"{folder} is no agent, season or board: name a folder with agent.json, {FILE} or seasons")
    board = _Board(home, (base or home).resolve(), report)
    for path in agents:
        board.agent(path.name, own=True)
    for path in files:
        _File(board, path, how or How(), progress or (lambda what, done, of: None)).check()
    report.findings.sort(key=lambda finding: (str(finding.path), finding.line or 0))
    return report


def _home(folder: Path) -> Path:
    return next(parent.parent for parent in folder.parents if parent.name == SEASONS)


def _files(home: Path) -> Iterator[Path]:
    return (path for path in home.glob(f"{SEASONS}/*/*/*/*") if _GAMES.fullmatch(path.name))


def _whose(path: Path) -> str:
    found = _GAMES.fullmatch(path.name)
    assert found is not None, "a file of games"
    return found[1]


# --- schedules and agents ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Season:
    schedule: Schedule
    game: Game
    settings: Settings


class _Board:
    """A board that is checked, beside one that is trusted; each schedule and agent is looked at once."""

    def __init__(self, home: Path, base: Path, report: Report) -> None:
        self.home = home
        self.base = base
        self.report = report
        self._agents: dict[Path, Submission | None] = {}
        self._seasons: dict[Path, _Season | None] = {}

    def agent(self, name: str, own: bool) -> Submission | None:
        """The agent, where its folder is sound.

        own: whether it is the one that is checked; all others are those of the trusted board.
        """
        folder = (self.home if own else self.base) / AGENTS / name
        if folder not in self._agents:
            self._agents[folder] = self._looked_at(folder)
        return self._agents[folder]

    def _looked_at(self, folder: Path) -> Submission | None:
        if not folder.is_dir():
            self.report.findings.append(Finding(folder, None, "is missing: every agent that plays has a folder"))
            return None
        agent, findings = submission.check(folder)
        self.report.findings += findings
        return None if findings else agent

    def season(self, folder: Path) -> _Season | None:
        """The schedule that the games of a folder have to follow, where it is sound."""
        if folder not in self._seasons:
            self._seasons[folder] = self._scheduled(folder)
        return self._seasons[folder]

    def _scheduled(self, folder: Path) -> _Season | None:
        inside = folder.relative_to(self.home)
        path, here = self.base / inside / FILE, folder / FILE
        findings = self.report.findings
        if not path.is_file():
            findings.append(Finding(path, None, "is missing: there is no such season"))
            return None
        text = path.read_bytes()
        if here != path and here.exists() and here.read_bytes() != text:
            line = _first_difference(here.read_bytes(), text)
            findings.append(Finding(here, line, f"is not the schedule of the season, {path}: restore it"))
        try:
            schedule = Schedule.read(path)
        except TabletopError as error:
            findings.append(Finding.of(path, error))
            return None
        written = schedule.text().encode()
        if text != written:
            line = _first_difference(text, written)
            findings.append(Finding(path, line, "is not written as a schedule is: make it anew, `arena schedule`"))
        try:
            game, settings = schedule.load_game()
        except TabletopError as error:
            findings.append(Finding.of(path, error))
            return None
        names = [game.spec.name, f"{schedule.num_players}p", schedule.season]
        if list(inside.parts[-3:]) != names:
            findings.append(Finding(path, None, f"is the schedule of {'/'.join(names)}, and does not belong here"))
        return _Season(schedule, game, settings)


def _first_difference(text: bytes, other: bytes) -> int:
    """The first line, from 1, in which two texts differ."""
    lines, others = text.splitlines(), other.splitlines()
    pairs = zip(lines, others, strict=False)
    return next((n for n, pair in enumerate(pairs, 1) if pair[0] != pair[1]), min(len(lines), len(others)) + 1)


# --- games ------------------------------------------------------------------------------------------------------


class _File:
    """One file of games: its header, that every game of the schedule is there once and in order, and each game."""

    def __init__(self, board: _Board, path: Path, how: How, progress: Progress) -> None:
        self.board = board
        self.path = path
        self.how = how
        self.progress = progress
        self.row = Row(path)
        self.owner = None if _whose(path) == ANCHORS else _whose(path)

    def _wrong(self, line: int | None, text: str) -> None:
        self.board.report.findings.append(Finding(self.path, line, text))

    def check(self) -> None:
        """Everything; what does not hold joins the report."""
        self.board.report.rows.append(self.row)
        season = self.board.season(self.path.parent)
        if season is None:
            return
        part = season.schedule.part(self.owner)
        fixtures = {each.place: each for each in part.fixtures()}
        names = sorted(part.agents())
        if not fixtures:
            self._wrong(None, "has no part in the season, whose schedule has no such line-ups")
        if self.owner in {name for lineup in season.schedule.lineups for name in lineup.agents}:
            self._wrong(None, f"{self.owner!r} has its part among the anchors: choose another name")
        agents = {name: agent for name in names if (agent := self.board.agent(name, name == self.owner))}
        self._check_games_of_owner(season, agents)
        played = self._read(agents, names)
        self._check_order(fixtures, played)
        sound = self._check_each(season, agents, fixtures, played)
        self.row.games = len(played)
        self.row.decisions = sum(len(game.actions) - game.opening for _, game in played)
        self.row.forfeits = sum(game.forfeit is not None for _, game in played)
        self._ask(season, agents, sound)

    def _check_games_of_owner(self, season: _Season, agents: Mapping[str, Submission]) -> None:
        played = season.schedule.game, season.schedule.num_players
        for agent in agents.values():
            if played not in agent.entrant.games:
                text = agent.path.read_text(encoding="utf-8")
                wrong = f"games: lacks {played[0]} with {played[1]} players, which {self.path.name} holds"
                self.board.report.findings.append(Finding(agent.path, submission.line_of(text, ["games"]), wrong))

    def _read(self, agents: Mapping[str, Submission], names: Sequence[str]) -> list[tuple[int, Replay]]:
        """The games that can be read, with their lines."""
        size = self.path.stat().st_size
        if size > MAX_GAMES:
            self._wrong(None, f"has {size:,} bytes, more than {MAX_GAMES:,}")
        played = []
        headers = 0
        for line in scan(self.path):
            number = int(line.place.rpartition(":")[2])
            if line.header is not None:
                headers += 1
                self._check_header(number, line.header, agents, names)
            elif line.replay is not None:
                played.append((number, line.replay))
            elif line.error is not None:
                self.board.report.findings.append(Finding.of(self.path, line.error))
        if not headers:
            self._wrong(1, "is no header: the first line says by what the games were played")
        return played

    def _check_header(
        self, line: int, header: Mapping[str, Any], agents: Mapping[str, Submission], names: Sequence[str]
    ) -> None:
        for name in _FACTS:
            if name not in header:
                self._wrong(line, f"the header has no {name!r}")
        for name in ("package", "numpy", "numba", "python"):
            if name in header and not (isinstance(header[name], str) and _VERSION.match(header[name])):
                self._wrong(line, f"{name} {header[name]!r} is no version")
        package = header.get("package")
        if isinstance(package, str) and _VERSION.match(package) and _numbers(package) != _numbers(__version__):
            if _numbers(package) > _numbers(__version__):
                self._wrong(line, f"package {package!r} is newer than the {__version__} that is here: install it")
            else:
                self._note(line, f"was played by tabletop-envs {package}, here is {__version__}")
        said = header.get("agents")
        said = said if isinstance(said, dict) else {}
        for name in sorted({*said, *names}):
            if name not in said:
                self._wrong(line, f"the header does not tell which {name!r} played")
            elif name not in names:
                self._wrong(line, f"{name!r} is in the header, but in none of the line-ups")
            elif name in agents:
                self._check_identity(line, name, said[name], agents[name])
        owner = agents.get(self.owner or "")
        for name, version in (owner.content["packages"] if owner else {}).items():
            known = "package" if name == "tabletop-envs" else name
            if known in header and header[known] != version:
                self._wrong(line, f"{known} {header[known]!r} played, but {owner.path} says {version!r}")  # type: ignore[union-attr]

    def _check_identity(self, line: int, name: str, said: Any, agent: Submission) -> None:
        said = said if isinstance(said, dict) else {}
        for fact, value in agent.identity.items():
            if said.get(fact) != value:
                found = f"{fact} of {name!r} is {said.get(fact)!r}"
                self._wrong(line, f"{found}, but {value!r} in {agent.path}: play the games anew")

    def _note(self, line: int | None, text: str) -> None:
        self.board.report.notes.append(Finding(self.path, line, text))

    def _check_order(self, fixtures: Mapping[Place, Fixture], played: Sequence[tuple[int, Replay]]) -> None:
        """Every game of the schedule once, in its order."""
        order = {place: number for number, place in enumerate(fixtures)}
        seen: dict[Place, int] = {}
        last = -1
        for line, game in played:
            place = _place(game)
            if place is None or place not in order:
                continue  # which `_check_each` tells
            if place in seen:
                self._wrong(line, f"{_named(place)} stands on line {seen[place]} already: remove one of them")
                continue
            seen[place] = line
            if order[place] < last:
                self._wrong(line, f"{_named(place)} is out of order: it belongs before what stands above")
            last = max(last, order[place])
        missing = [place for place in order if place not in seen]
        if missing:
            before = [seen[place] for place in order if place in seen and order[place] < order[missing[0]]]
            more = f" (and {len(missing) - 1:,} more games)" if len(missing) > 1 else ""
            self._wrong(max(before, default=1), f"{_named(missing[0])} is missing behind this line{more}: play it")

    def _check_each(
        self,
        season: _Season,
        agents: Mapping[str, Submission],
        fixtures: Mapping[Place, Fixture],
        played: Sequence[tuple[int, Replay]],
    ) -> list[tuple[int, Replay]]:
        """What each game says; returns those of which all holds."""
        openings = _openings(season, list(fixtures.values()))
        sound = []
        for number, (line, game) in enumerate(played):
            self.progress(f"playing {self.path.name} again", number, len(played))
            differences = list(self._differences(season, agents, fixtures, openings, game))
            for text in differences:
                self._wrong(line, text)
            if not differences:
                sound.append((line, game))
        return sound

    def _differences(
        self,
        season: _Season,
        agents: Mapping[str, Submission],
        fixtures: Mapping[Place, Fixture],
        openings: Mapping[int, tuple[int, ...]],
        game: Replay,
    ) -> Iterator[str]:
        schedule, info = season.schedule, game.info
        for name in (*_NOTES, *info):
            if name in _NOTES and type(info.get(name)) is not _NOTES[name]:
                yield f"info.{name} is {info.get(name)!r}: it tells the game's place in the schedule"
            elif name not in _NOTES and name not in _MORE_NOTES:
                yield f"info.{name} is nothing that a game of a season has"
        for end in _listed(info.get("voids", [])):
            seat = forfeiting_seat(end) if isinstance(end, str) else None
            agent = agents.get(game.agents[seat]) if seat is not None and seat < game.num_players else None
            if agent is None or agent.entrant.kind != LLM:
                yield f"info.voids has {end!r}: games are void by a language model's crash or timeout alone"
        place = _place(game)
        fixture = fixtures.get(place) if place is not None else None
        if place is not None and fixture is None:
            yield f"{_named(place)} is not in the schedule"
        wanted: list[tuple[str, Any, Any]] = [
            ("info.season", info.get("season"), schedule.season),
            ("game", game.game, season.game.spec.env_id),
            ("num_players", game.num_players, schedule.num_players),
            ("options", game.options, json.loads(json.dumps(season.settings.changed()))),
        ]
        if fixture is not None:
            opening = openings[fixture.seed]
            wanted += [
                ("seed", game.seed, fixture.seed),
                ("agents", list(game.agents), list(fixture.agents)),
                ("opening", game.opening, len(opening)),
                ("opening actions", list(game.actions[: len(opening)]), list(opening)),
            ]
        another_game = False
        for name, found, says in wanted:
            if found != says:
                another_game |= name in ("game", "num_players", "options")
                yield f"{name} {found!r} is recorded, but the schedule says {says!r}"
        if not another_game:
            yield from verify(game, season.game)

    def _ask(self, season: _Season, agents: Mapping[str, Submission], played: Sequence[tuple[int, Replay]]) -> None:
        """Ask the agents again; only in games that can have been played so, else the position is a wrong one."""
        for name, agent in agents.items():
            if not agent.answers_again:
                self.row.asked[name] = None
                self._note(None, f"{name!r} is not re-askable: that its games are legal is all that is known")
        asked = reask.ask_all(
            season.game,
            season.settings,
            [(line, game) for line, game in played],
            {name: agent for name, agent in agents.items() if agent.answers_again},
            owner=self.owner,
            how=self.how,
            wrong=self._wrong,
            progress=lambda name, done, of: self.progress(f"asking {name} again", done, of),
        )
        self.row.asked.update(asked)


def _numbers(version: str) -> tuple[int, ...]:
    found = _VERSION.match(version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _place(game: Replay) -> Place | None:
    info = game.info
    if any(type(info.get(name)) is not kind for name, kind in _NOTES.items()):
        return None
    return info["lineup"], info["table"], info["rotation"]


def _named(place: Place) -> str:
    lineup, table, rotation = place
    return f"rotation {rotation} of table {table} of {lineup!r}"


def _openings(season: _Season, fixtures: Sequence[Fixture]) -> dict[int, tuple[int, ...]]:
    """Seed -> the actions that are drawn from it."""
    seeds = sorted({fixture.seed for fixture in fixtures})
    if not seeds:
        return {}
    batch = Batch(season.game, len(seeds), season.settings.num_players, **season.settings.values)
    keys = np.array(seeds, dtype=np.int64)
    batch.deal(batch.rows, keys)
    drawn = draw_opening(batch, keys).tolist()
    return {seed: tuple(action for action in row if action >= 0) for seed, row in zip(seeds, drawn, strict=True)}
