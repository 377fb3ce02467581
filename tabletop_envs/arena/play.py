"""Playing a season: the games of a schedule by several processes, kept as they end, so that any stop can be resumed.

The file that comes of it is the same for any number of processes, and however often the run was stopped; the header's
versions, machine and date apart. What agents of the kind `llm` say cannot be had twice.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tabletop_envs.agents.base import View, finish
from tabletop_envs.arena import roster, schedule
from tabletop_envs.arena.journal import Journal, beside
from tabletop_envs.arena.referee import Played
from tabletop_envs.arena.replay import FAILURES
from tabletop_envs.arena.roster import AGENTS, LLM, Entrant
from tabletop_envs.arena.schedule import Fixture, Schedule
from tabletop_envs.arena.workers import Job, Pool, Unit
from tabletop_envs.core.checks import is_whole
from tabletop_envs.core.position import Position
from tabletop_envs.core.warmup import warm_up
from tabletop_envs.errors import OptionError, TabletopError, UnknownAgentError
from tabletop_envs.files import claimed

LIMIT: Final = 600.0
"""Seconds that one answer may take, by default."""
TOGETHER: Final = 64
"""Games that a worker plays side by side, where nobody in them searches or keeps anything in mind."""
MOST_VOIDS: Final = 5
"""How often a table may be void in a run until it stops."""


@dataclass(frozen=True)
class Progress:
    """Where a run stands: games done of all, how many were played by it, failures by kind, and what just happened
    (empty where nothing did that somebody should know of)."""

    done: int
    games: int
    played: int
    failures: Mapping[str, int]
    news: str = ""


@dataclass(frozen=True)
class Result:
    """What a run has come to: the file of the games, Progress at its end, and whether all games are there."""

    path: Path
    progress: Progress
    finished: bool


def play(
    season: Path,
    candidate: str | None = None,
    *,
    agents: Path | None = None,
    processes: int | None = None,
    limit: float = LIMIT,
    tables: int | None = None,
    together: int = TOGETHER,
    timed: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Play what is left of a season's games among the anchors, or of those of a candidate.

    season: folder with `schedule.json`, in its place on a board; agents: folder of the agents' folders (None: the
    board's); processes: how many play (None: one a core); limit: seconds that one answer may take; tables: at most so
    many of each line-up, the first ones; together: games that a process plays side by side; timed: note the seconds
    that each seat took (the file is then another each time).

    KeyboardInterrupt ends it in good order: the result says that it is not finished, the same call goes on. Raises
    CorruptDataError for files that cannot be used, OptionError for a schedule of other rules and while another process
    plays the same games, UnknownAgentError for agents that are not there or cannot be made; what was played is kept.
    """
    if not is_whole(processes, 1) and processes is not None:
        raise OptionError(f"processes={processes!r} is not possible: give a whole number, at least 1")
    if not is_whole(together, 1) or not limit > 0 or (tables is not None and not is_whole(tables, 1)):
        raise OptionError("limit, tables and together have to be more than 0")
    whole = Schedule.read(season / schedule.FILE).part(candidate)
    if not whole.lineups:
        who = "the anchors" if candidate is None else f"a {schedule.CANDIDATE}"
        raise OptionError(f"{season / schedule.FILE} has no line-up of {who}: make one with `arena schedule`")
    board = schedule.board_of(season)
    place = schedule.season_folder(board, whole)
    if place != season.absolute():
        raise OptionError(f"{season} is not the place of this season: move it to {place}")
    game, _ = whole.load_game()
    entrants = _entrants(whole, agents or board / AGENTS)
    path = schedule.games_file(season, candidate)
    busy = f"{path} is being played by another process: stop it, or let it end"
    with claimed(beside(path, ".lock"), busy):
        journal = Journal(path, whole, entrants)
        wanted = list(whole.part(tables=tables).fixtures())
        left = [fixture for fixture in wanted if fixture not in journal]
        run = _Run(journal, wanted, on_progress)
        try:
            if left:
                _warm_up(whole, entrants)
                job, units = Job(game.spec, whole, entrants, timed), _units(left, journal, entrants, together)
                with Pool(job, units, processes or os.cpu_count() or 1, limit) as pool:
                    run.collect(pool)
        except KeyboardInterrupt:
            return Result(path, run.progress(), finished=False)
        journal.finish()
    return Result(path, run.progress(), finished=True)


def _entrants(chosen: Schedule, folder: Path) -> dict[str, Entrant]:
    entrants = {name: roster.read(folder / name) for name in chosen.agents()}
    for name, entrant in entrants.items():
        if (chosen.game, chosen.num_players) not in entrant.games:
            raise OptionError(
                f"the agent {name!r} does not play {chosen.game} with {chosen.num_players} players, as its "
                f"{roster.MANIFEST} says: name the game there, or leave it out"
            )
    return entrants


def _units(
    fixtures: Sequence[Fixture], journal: Journal, entrants: Mapping[str, Entrant], together: int
) -> Iterator[Unit]:
    """What is played side by side: quick games together, the others one by one."""
    waiting: list[Fixture] = []
    for fixture in fixtures:
        if not all(entrants[name].quick for name in fixture.agents):
            yield Unit((fixture,), journal.voids(fixture))
            continue
        waiting.append(fixture)
        if len(waiting) == together:
            yield Unit(tuple(waiting))
            waiting = []
    if waiting:
        yield Unit(tuple(waiting))


def _warm_up(chosen: Schedule, entrants: Mapping[str, Entrant]) -> None:
    """Compile what play needs before the workers start, so that each of them finds it in the cache.

    Raises what an agent without a file of its own says of a game that it cannot play.
    """
    game, settings = chosen.load_game()
    warm_up(game)
    for entrant in entrants.values():
        # files of agents are run by workers alone, where they can be stopped
        if "builtin" in entrant.entry and entrant.kind != LLM:
            agent = roster.seated(entrant, game, 0, 0)
            try:
                agent.choose(View(Position.new(game, settings.num_players, **settings.values)))
            except TabletopError:
                raise
            except Exception:  # a worker's referee says whose it is
                continue
            finally:
                finish(agent)


class _Run:
    """Takes what comes from the workers into the journal."""

    def __init__(self, journal: Journal, wanted: Sequence[Fixture], on_progress: Callable[[Progress], None] | None):
        self.journal, self.games, self.on_progress = journal, len(wanted), on_progress
        self.others = len(journal) - sum(fixture in journal for fixture in wanted)
        self.played = 0
        self.voids: Counter[tuple[str, int]] = Counter()
        self.failures = self._failures()

    def collect(self, pool: Pool) -> None:
        """Keep all results; the tables of games that were void go back into the queue."""
        self._show("")
        for unit, results in pool.results():
            for result in results:
                if unit.attempt != self.journal.voids(result.fixture):
                    continue  # its table has become void meanwhile
                self._take(result, pool)
                self._show(result.words)

    def _take(self, result: Played, pool: Pool) -> None:
        fixture = result.fixture
        self.played += 1
        if result.replay is not None:
            self.journal.add(result.replay, fixture)
        else:
            assert result.end is not None, "a void game failed"
            self.journal.add_void(fixture, result.end)
            self._again(fixture, pool, result.words)
        if result.end is not None:
            self.failures = self._failures()

    def _again(self, fixture: Fixture, pool: Pool, words: str) -> None:
        at, attempt = fixture.place[:2], self.journal.voids(fixture)
        self.voids[at] += 1
        if self.voids[at] > MOST_VOIDS:
            raise UnknownAgentError(f"a table was void {self.voids[at]} times: {words}; see to the agent, then go on")
        for unit in [unit for unit in pool.queue if unit.fixtures[0].place[:2] == at]:
            pool.queue.remove(unit)
        pool.queue.extend(Unit((other,), attempt) for other in self.journal.table(fixture))

    def _failures(self) -> dict[str, int]:
        kinds = Counter(end.partition(":")[0] for end in self.journal.ends())
        return {kind: kinds[kind] for kind in FAILURES if kinds[kind]}

    def progress(self, news: str = "") -> Progress:
        """Where the run stands."""
        return Progress(len(self.journal) - self.others, self.games, self.played, self.failures, news)

    def _show(self, news: str) -> None:
        if self.on_progress is not None:
            self.on_progress(self.progress(news))
