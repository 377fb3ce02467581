"""Worker processes that play games, and a watchdog over them: whoever hangs or takes its process down is found.

Each worker has a piece of shared memory in which its referee notes who is asked and how the game went so far. The
parent looks at it: where one answer takes longer than the limit, or the process ends, the worker is replaced and the
game played again, alone; where the same seat fails in it once more, it is the agent's doing. Wall time is used for
nothing else.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Final

import numpy as np

from tabletop_envs import registry
from tabletop_envs.arena.referee import NOBODY, Failure, Played, Referee
from tabletop_envs.arena.replay import CRASH, TIMEOUT
from tabletop_envs.arena.roster import Entrant
from tabletop_envs.arena.schedule import Fixture, Schedule
from tabletop_envs.core.spec import GameSpec
from tabletop_envs.errors import IllegalActionError, ProcessError, TabletopError, UnknownAgentError

_POLL: Final = 0.1  # seconds between two looks at the workers
_STRIKES: Final = 2  # failures of a seat in one game that count
_MOST_ENDED: Final = 3  # processes that may end on their own before any has done something
_GRACE: Final = 2.0  # seconds that a process may take to end
_THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

# the shared memory: how often somebody was asked and has answered, who it is, the seat, the number of actions, actions
_CLOCK, _AGENT, _SEAT, _MADE, _ACTIONS = range(5)


@dataclass(frozen=True)
class Job:
    """What a worker is to play: all of it can be sent to another process."""

    spec: GameSpec
    schedule: Schedule
    entrants: Mapping[str, Entrant]
    timed: bool = False

    def referee(self, watch: _SharedWatch | None = None) -> Referee:
        """A referee in this process. Raises what `Schedule.load_game` raises."""
        registry.add(self.spec)
        game = registry.load(self.spec.env_id)
        settings = game.settings(self.schedule.num_players, **self.schedule.options)
        return Referee(self.schedule, self.entrants, game, settings, timed=self.timed, watch=watch)


@dataclass(frozen=True)
class Unit:
    """Games that a worker plays side by side; attempt: how often they were void before."""

    fixtures: tuple[Fixture, ...]
    attempt: int = 0


# --- in the worker ----------------------------------------------------------------------------------------------


class _SharedWatch:
    """Notes in shared memory who is asked; the clock is odd as long as an answer is awaited."""

    def __init__(self, memory: np.ndarray, names: list[str]) -> None:
        self.memory, self.numbers = memory, {name: number for number, name in enumerate(names)}

    def begin(self, agent: str, seat: int, actions: np.ndarray) -> None:
        memory = self.memory
        memory[_AGENT], memory[_SEAT], memory[_MADE] = self.numbers[agent], seat, len(actions)
        memory[_ACTIONS : _ACTIONS + len(actions)] = actions
        memory[_CLOCK] += 1

    def end(self) -> None:
        self.memory[_CLOCK] += 1


def _end_with_parent() -> None:
    # a parent that was killed closes nothing, and an agent may hang
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _work(job: Job, connection: Connection, memory: Any) -> None:
    """A worker: plays units until the connection is closed."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        watch = _SharedWatch(np.frombuffer(memory, dtype=np.int64), sorted(job.entrants))
        referee = job.referee(watch)
        while True:
            unit = connection.recv()
            connection.send(referee.play(unit.fixtures))
    except (EOFError, ConnectionError):
        pass  # the parent has ended
    except TabletopError as error:
        connection.send(error)


# --- in the parent ----------------------------------------------------------------------------------------------


class _Worker:
    """A process with its connection, its shared memory, and what it is at."""

    def __init__(self, job: Job, room: int) -> None:
        context = multiprocessing.get_context("spawn")
        shared = context.RawArray("q", _ACTIONS + room)
        self.memory = np.frombuffer(shared, dtype=np.int64)
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_work, args=(job, other, shared), daemon=True)
        with _starting():
            self.process.start()
        other.close()
        self.unit: Unit | None = None
        self._seen, self._since = 0, time.monotonic()

    def waits(self, limit: float) -> bool:
        """Whether it has waited longer than the limit for one answer."""
        clock, now = int(self.memory[_CLOCK]), time.monotonic()
        if clock != self._seen:
            self._seen, self._since = clock, now
        return clock % 2 == 1 and now - self._since > limit

    def kill(self) -> None:
        self.process.kill()
        self.process.join(_GRACE)
        self.connection.close()


@contextmanager
def _starting() -> Iterator[None]:
    """A process that is started within it computes with one thread, and does not hear of Ctrl-C."""
    added = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    masks = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else set()
    try:
        yield
    finally:
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for name in added:
            del os.environ[name]


class Pool:
    """Worker processes, and the units that they are to play.

    limit: seconds that one answer may take. Use it in a `with`: it ends the processes.
    """

    def __init__(self, job: Job, units: Iterable[Unit], processes: int, limit: float) -> None:
        self.job, self.limit = job, limit
        self.queue = deque(units)
        self.referee = job.referee()
        self._names = sorted(job.entrants)
        self._room = max(self.referee.settings.values["max_decisions"], self.referee.game.spec.opening_decisions)
        self._strikes: Counter[tuple[tuple[str, int, int], int]] = Counter()
        self._ended = 0
        self._workers: list[_Worker] = []
        try:
            for _ in range(min(processes, len(self.queue))):
                self._workers.append(_Worker(job, self._room))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes, whatever they are at."""
        for worker in self._workers:
            worker.kill()
        self._workers.clear()

    def results(self) -> Iterator[tuple[Unit, list[Played]]]:
        """The units as they are done; more may be put into the queue meanwhile.

        Raises UnknownAgentError for an agent that cannot be made, and ProcessError where no worker comes to work.
        """
        while True:
            for number in range(len(self._workers)):
                self._hand_out(number)
            busy = [number for number, worker in enumerate(self._workers) if worker.unit is not None]
            if not busy:
                return
            ready = wait([self._workers[number].connection for number in busy], _POLL)
            for number in busy:
                worker = self._workers[number]
                if worker.connection in ready:
                    try:
                        answer = worker.connection.recv()
                    except (EOFError, OSError):
                        yield from self._outside(number, CRASH, "its process ended")
                        continue
                    if isinstance(answer, TabletopError):
                        raise answer
                    assert worker.unit is not None
                    unit, worker.unit, self._ended = worker.unit, None, 0
                    yield unit, answer
                elif worker.waits(self.limit):
                    yield from self._outside(number, TIMEOUT, f"no answer within {self.limit:g} seconds")

    def _hand_out(self, number: int) -> None:
        while self.queue and self._workers[number].unit is None:
            unit = self.queue.popleft()
            try:
                self._workers[number].connection.send(unit)
            except OSError:
                self.queue.appendleft(unit)
                self._replace(number)
                self._count_ended()
            else:
                self._workers[number].unit = unit

    def _replace(self, number: int) -> None:
        self._workers[number].kill()
        self._workers[number] = _Worker(self.job, self._room)

    def _count_ended(self) -> None:
        self._ended += 1
        if self._ended > _MOST_ENDED:
            raise ProcessError(
                f"{self._ended} worker processes ended before they had played a game: see whether memory is short; a "
                "script that plays needs `if __name__ == '__main__':`"
            )

    def _outside(self, number: int, kind: str, words: str) -> Iterator[tuple[Unit, list[Played]]]:
        """A failure that only shows from outside: a ruling where it is the second, else the games come again."""
        worker = self._workers[number]
        unit = worker.unit
        assert unit is not None
        worker.process.kill()
        worker.process.join(_GRACE)
        asked, memory = int(worker.memory[_CLOCK]) % 2 == 1, worker.memory.tolist()
        self._replace(number)
        if not asked:
            self.queue.appendleft(unit)
            self._count_ended()
            return
        name, seat = self._names[memory[_AGENT]], memory[_SEAT]
        if len(unit.fixtures) > 1:
            # whose game it is shows when they are played one by one
            self.queue.extendleft(Unit((fixture,), unit.attempt) for fixture in reversed(unit.fixtures))
            return
        if seat == NOBODY:
            raise UnknownAgentError(f"the agent {name!r} cannot be made, or not be closed: {words}; mend it")
        fixture = unit.fixtures[0]
        self._strikes[fixture.place, seat] += 1
        if self._strikes[fixture.place, seat] < _STRIKES:
            self.queue.appendleft(unit)
            return
        actions = memory[_ACTIONS : _ACTIONS + memory[_MADE]]
        try:
            ruling = self.referee.failed(fixture, actions, seat, Failure(kind, words))
        except IllegalActionError as error:  # what ended the process has written into its memory
            raise UnknownAgentError(f"the agent {name!r} damages the process that it plays in: mend it") from error
        yield unit, [ruling]
