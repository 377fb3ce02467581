"""The journal of a season: which of its games are played, in a form that no stop can harm.

While games are played, each is added to `games-<name>.jsonl.part` as it ends: a header, then one line a game, in any
order, and a line for each game that was void, which takes the other games of its table with it. When all are there,
`games-<name>.jsonl.gz` is written whole, in the order of the schedule, and the part is removed.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import json
import platform
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

import numba
import numpy as np

from tabletop_envs import __version__, registry
from tabletop_envs.arena import replay as replays
from tabletop_envs.arena.replay import Replay
from tabletop_envs.arena.roster import Entrant
from tabletop_envs.arena.schedule import Fixture, Schedule
from tabletop_envs.errors import CorruptDataError, OptionError
from tabletop_envs.files import write_whole

VOIDS: Final = "voids"
_VOID: Final = "void"
_REMEDY: Final = "remove the file to play its games anew, or take it from a copy"


def header(entrants: Mapping[str, Entrant]) -> dict[str, Any]:
    """The facts for the first line of a file of games: versions, machine, date (UTC), and the agents."""
    return {
        "header": replays.HEADER,
        "package": __version__,
        "numpy": np.__version__,
        "numba": numba.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "date": datetime.now(timezone.utc).date().isoformat(),
        "agents": {name: entrant.facts() for name, entrant in sorted(entrants.items())},
    }


def beside(games: Path, ending: str) -> Path:
    """The file of this ending that goes with a file of games."""
    return games.with_name(games.name.removesuffix(replays.COMPRESSED) + ending)


class Journal:
    """The games of a part of a schedule that are played so far.

    path: of the file that holds them in the end. Raises CorruptDataError for a file that holds something else,
    OptionError where an agent has changed since, and OSError.
    """

    def __init__(self, path: Path, schedule: Schedule, entrants: Mapping[str, Entrant]) -> None:
        self.path, self.schedule = path, schedule
        self.part = beside(path, ".part")
        self.fixtures = {fixture.place: fixture for fixture in schedule.fixtures()}
        self.header = header(entrants)
        self._game = registry.spec(schedule.game).env_id
        self._lines: dict[tuple[str, int, int], bytes] = {}
        self._ends: dict[tuple[str, int, int], str] = {}
        self._voids: dict[tuple[str, int, int], list[str]] = {}
        if path.exists():
            self._read_whole()
        self._in_file = set(self._lines)
        if self.part.exists():
            self._read_part()

    def __contains__(self, fixture: Fixture) -> bool:
        return fixture.place in self._lines

    def __len__(self) -> int:
        return len(self._lines)

    def ends(self) -> Iterator[str]:
        """How each game ended, and each void one."""
        yield from self._ends.values()
        for ends in self._voids.values():
            yield from ends

    def voids(self, fixture: Fixture) -> int:
        """How often games of the fixture's table were void."""
        at = fixture.place[:2]
        return sum(len(ends) for place, ends in self._voids.items() if place[:2] == at)

    def table(self, fixture: Fixture) -> list[Fixture]:
        """The games of the fixture's table."""
        lineup, table, _ = fixture.place
        return [self.fixtures[lineup, table, rotation] for rotation in range(self.schedule.num_players)]

    # --- writing

    def add(self, replay: Replay, fixture: Fixture) -> None:
        """A game has ended."""
        line = replay.to_line().encode()
        self._write(line)
        self._keep(fixture.place, replay, line)

    def add_void(self, fixture: Fixture, end: str) -> None:
        """A game was void: its table is to be played again."""
        lineup, table, rotation = fixture.place
        about = {"lineup": lineup, "table": table, "rotation": rotation, "end": end}
        self._write(json.dumps({_VOID: about}, separators=(",", ":")).encode())
        self._drop(fixture.place, end)

    def finish(self) -> None:
        """Write all games in the order of the schedule, and remove the part."""
        if set(self._lines) != self._in_file:
            lines = [_line(self.header), *(self._final(place) for place in self.fixtures if place in self._lines)]
            content = b"".join(line + b"\n" for line in lines)
            packed = self.path.name.endswith(replays.COMPRESSED)
            write_whole(self.path, gzip.compress(content, mtime=0) if packed else content)
            self._in_file = set(self._lines)
        self.part.unlink(missing_ok=True)

    def _write(self, line: bytes) -> None:
        with open(self.part, "ab", buffering=0) as file:
            if file.tell() == 0:
                line = _line(self.header) + b"\n" + line
            line += b"\n"
            if file.write(line) != len(line):
                raise OSError(errno.ENOSPC, "the disk is full", str(self.part))

    def _keep(self, place: tuple[str, int, int], replay: Replay, line: bytes) -> None:
        self._lines[place], self._ends[place] = line, replay.end

    def _drop(self, place: tuple[str, int, int], end: str) -> None:
        self._voids.setdefault(place, []).append(end)
        for other in [other for other in self._lines if other[:2] == place[:2]]:
            del self._lines[other], self._ends[other]

    def _final(self, place: tuple[str, int, int]) -> bytes:
        line = self._lines[place]
        if place not in self._voids or place in self._in_file:
            return line
        replay = Replay.from_line(line)
        return replace(replay, info={**replay.info, VOIDS: self._voids[place]}).to_line().encode()

    # --- reading

    def _read_whole(self) -> None:
        for line in replays.scan(self.path):
            if line.error is not None:
                raise line.error
            if line.header is not None:
                self._compare(line.header, f"{self.path}:1")
            elif line.replay is not None:
                self._take(line.replay, line.replay.to_line().encode(), line.place)

    def _read_part(self) -> None:
        whole = self.part.read_bytes()
        sound = whole.rfind(b"\n") + 1
        if sound < len(whole):
            # what a stop left of the last line
            with open(self.part, "r+b") as file:
                file.truncate(sound)
        for number, line in enumerate(whole[:sound].splitlines(), 1):
            self._read_line(line, f"{self.part}:{number}", number == 1)

    def _read_line(self, line: bytes, place: str, first: bool) -> None:
        content: Any = None
        with contextlib.suppress(ValueError, RecursionError):
            content = json.loads(line)
        if not isinstance(content, dict):
            raise CorruptDataError(f"{place} is no game: {_REMEDY}")
        if first and content.get("header") == replays.HEADER:
            self._compare(content, place)
            # the games of a run belong together, however often it was stopped
            self.header["date"] = content.get("date", self.header["date"])
        elif _VOID in content:
            about = content[_VOID]
            at = tuple(about.get(name) for name in ("lineup", "table", "rotation")) if isinstance(about, dict) else ()
            if at not in self.fixtures or not isinstance(about.get("end"), str):
                raise CorruptDataError(f"{place} is no game of this schedule: {_REMEDY}")
            self._drop(self.fixtures[at].place, about["end"])
        else:
            self._take(Replay.from_line(line, place), line, place)

    def _take(self, replay: Replay, line: bytes, place: str) -> None:
        at = tuple(replay.info.get(name) for name in ("lineup", "table", "rotation"))
        fixture = self.fixtures.get(at) if all(isinstance(part, (str, int)) for part in at) else None  # type: ignore[arg-type]
        wanted = (self._game, self.schedule.rules, self.schedule.season)
        if fixture is None or (replay.game, replay.rules, replay.info.get("season")) != wanted:
            raise CorruptDataError(f"{place} is no game of this schedule: {_REMEDY}")
        if (replay.seed, replay.agents, replay.options) != (fixture.seed, fixture.agents, self.schedule.options):
            raise CorruptDataError(f"{place} has another seed, agents or options than its table: {_REMEDY}")
        self._keep(fixture.place, replay, line)

    def _compare(self, known: Mapping[str, Any], place: str) -> None:
        """Take over whom an earlier header names; those who play now must be the same."""
        agents = known.get("agents")
        if not isinstance(agents, dict):
            raise CorruptDataError(f"{place} names no agents: {_REMEDY}")
        for name, facts in agents.items():
            if self.header["agents"].setdefault(name, facts) != facts:
                raise OptionError(
                    f"{name!r} is another agent than that of {place}: {facts} is recorded, but it is "
                    f"{self.header['agents'][name]}; remove the file to play its games anew, or restore the agent"
                )


def _line(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()
