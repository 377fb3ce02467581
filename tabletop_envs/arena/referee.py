"""The referee: plays games of a schedule in this process, many at a time, and rules when an agent fails.

Compiled policies answer in one compiled call, batch policies in batches, agents one View at a time. What an agent
answers depends on its own game alone, so games come out the same whatever others are played beside them.

| failure | what happened when a seat was asked | the game |
| --- | --- | --- |
| `illegal` | it gave no legal action | is forfeited |
| `crash` | it raised an error, or its process ended | is forfeited; with an agent of kind `llm`, void |
| `timeout` | it gave no answer | as with a crash |
| `budget` | it made more simulations than it declares | is forfeited |

Knows nothing of files and processes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from tabletop_envs.agents.base import BUILT_IN, GREEDY, Agent, BatchPolicy, View, begin, finish, legal_choice, seat_seed
from tabletop_envs.arena import roster
from tabletop_envs.arena.replay import BUDGET, CRASH, ILLEGAL, TIMEOUT, Replay, replay_of
from tabletop_envs.arena.roster import LLM, Entrant
from tabletop_envs.arena.schedule import Fixture, Schedule
from tabletop_envs.core import loops
from tabletop_envs.core.game import Game
from tabletop_envs.core.position import Position
from tabletop_envs.core.spec import Settings
from tabletop_envs.envs.vector import Batch, draw_opening
from tabletop_envs.errors import IllegalActionError, UnknownAgentError

NOBODY: Final = -1
_OTHERS: Final = -1  # the code of a seat that no compiled policy plays
_NOT_THEIR_OWN: Final = (CRASH, TIMEOUT)  # failures that may be the provider's, with a language model
_NO_ACTIONS: Final = np.empty(0, dtype=np.int64)
_LONGEST: Final = 200  # letters of an error's text


class Watch(Protocol):
    """Is told when an agent is at work, so that it can be seen from outside who does not come back."""

    def begin(self, agent: str, seat: int, actions: np.ndarray) -> None:
        """An agent is asked; seat: NOBODY while it is made or closed, or asked for many games; actions: of the game so
        far."""
        ...

    def end(self) -> None:
        """The answer has come."""
        ...


@dataclass(frozen=True)
class Failure:
    """How an agent failed: the kind, and the error in words, for people."""

    kind: str
    words: str


@dataclass(frozen=True)
class Played:
    """What became of a game: its replay, or None where it is void.

    end: of a game that was not played to its end, as `crash:1`; words: what happened then, for people.
    """

    fixture: Fixture
    replay: Replay | None
    end: str | None = None
    words: str = ""


class Referee:
    """Plays games of a schedule.

    entrants: by name; timed: note the seconds that each seat took; watch: see `Watch`.
    """

    def __init__(
        self,
        schedule: Schedule,
        entrants: Mapping[str, Entrant],
        game: Game,
        settings: Settings,
        *,
        timed: bool = False,
        watch: Watch | None = None,
    ) -> None:
        self.schedule, self.entrants = schedule, entrants
        self.game, self.settings = game, settings
        self.timed, self.watch = timed, watch
        self._shared: dict[str, Any] = {}  # agents that keep nothing in mind
        self._last: dict[str, tuple[int, int]] = {}  # for whom such an agent last began a game

    def play(self, fixtures: Sequence[Fixture]) -> list[Played]:
        """Play games side by side; raises UnknownAgentError for an agent that cannot be made."""
        table = _Games(self, fixtures)
        try:
            table.play()
        finally:
            table.close()
        return [table.played(row) for row in range(len(fixtures))]

    def failed(self, fixture: Fixture, actions: Sequence[int], seat: int, failure: Failure) -> Played:
        """The ruling on a game in which a seat failed after these actions. Raises IllegalActionError for impossible
        ones."""
        position = Position.new(self.game, self.settings.num_players, seed=fixture.seed, **self.settings.values)
        for action in actions:
            position.apply(action)
        return self.ruling(fixture, position, actions, seat, failure)

    def ruling(
        self,
        fixture: Fixture,
        position: Position,
        actions: Sequence[int],
        seat: int,
        failure: Failure,
        notes: Mapping[str, Any] | None = None,
    ) -> Played:
        """The ruling on a game in which the seat to act failed."""
        name, end = fixture.agents[seat], f"{failure.kind}:{seat}"
        words = (
            f"{failure.kind} of {name} at seat {seat}, table {fixture.table} of {fixture.lineup}, rotation "
            f"{fixture.rotation}, decision {len(actions)}: {failure.words}"
        )
        if self.entrants[name].kind == LLM and failure.kind in _NOT_THEIR_OWN:
            return Played(fixture, None, end, words)
        return Played(fixture, self.replay(fixture, position, actions, end, notes), end, words)

    def replay(
        self,
        fixture: Fixture,
        position: Position,
        actions: Sequence[int],
        forfeit: str | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> Replay:
        """The record of a game."""
        opening = self.game.spec.opening_decisions
        info = {**self.schedule.info(fixture), **(notes or {})}
        rules = self.schedule.rules
        return replay_of(position, fixture.agents, actions, opening, info, forfeit=forfeit, rules=rules)

    def close(self) -> None:
        """Close the agents that sit at many tables."""
        for name, player in self._shared.items():
            self.finish(name, player)
        self._shared.clear()
        self._last.clear()

    def finish(self, name: str, player: Any) -> None:
        """Close an agent; what it says to that changes no game."""
        self.begin_watch(name, NOBODY, _NO_ACTIONS)
        with suppress(Exception):
            finish(player)
        self.end_watch()

    # --- who answers

    def make(self, name: str, seed: int) -> Any:
        """An agent or a batch policy; a shared one is made once."""
        entrant = self.entrants[name]
        if entrant.stateless and name in self._shared:
            return self._shared[name]
        self.begin_watch(name, NOBODY, _NO_ACTIONS)
        try:
            made = roster.make(entrant, self.game, seed)
        finally:
            self.end_watch()
        if entrant.simulations is not None and not hasattr(made, "simulations_made"):
            raise UnknownAgentError(
                f"the agent {name!r} declares a search of {entrant.simulations} simulations, but has no attribute "
                "simulations_made that counts them: add it"
            )
        if entrant.stateless:
            self._shared[name] = made
        return made

    def begin_shared(self, name: str, agent: Agent, seat: int, seed: int) -> None:
        """Tell a shared agent whose game comes now, where it is another than before."""
        if self._last.get(name) != (seat, seed):
            self._last.pop(name, None)
            begin(agent, seat, seed)
            self._last[name] = seat, seed

    def begin_watch(self, name: str, seat: int, actions: np.ndarray) -> None:
        """See `Watch.begin`."""
        if self.watch is not None:
            self.watch.begin(name, seat, actions)

    def end_watch(self) -> None:
        """See `Watch.end`."""
        if self.watch is not None:
            self.watch.end()


class _Games:
    """Games that are played side by side, a row each."""

    def __init__(self, referee: Referee, fixtures: Sequence[Fixture]) -> None:
        self.referee, self.fixtures = referee, fixtures
        game, settings = referee.game, referee.settings
        players = settings.num_players
        self.batch = batch = Batch(game, len(fixtures), players, **settings.values)
        keys = np.array([fixture.seed for fixture in fixtures], dtype=np.int64)
        batch.deal(batch.rows, keys)
        opening = draw_opening(batch, keys)
        self.made = (opening >= 0).sum(axis=1).astype(np.int64)
        room = max(settings.values["max_decisions"], opening.shape[1])
        self.actions = np.zeros((len(fixtures), room), dtype=np.int64)
        self.actions[:, : opening.shape[1]] = opening
        self.seeds = np.array([[seat_seed(f.seed, seat) for seat in range(players)] for f in fixtures], dtype=np.int64)
        compiled = {name: referee.entrants[name].built_in for fixture in fixtures for name in fixture.agents}
        codes = {name: _OTHERS if policy is None else BUILT_IN[policy] for name, policy in compiled.items()}
        self.codes = np.array([[codes[name] for name in fixture.agents] for fixture in fixtures], dtype=np.int64)
        self.greedy_call = game.greedy_call if GREEDY in compiled.values() else 0
        self.own: dict[tuple[int, int], Any] = {}  # agents of one seat of one game
        self.failures: dict[int, tuple[int, Failure]] = {}
        self.seconds = np.zeros((len(fixtures), players))

    def play(self) -> None:
        """Play every game to its end, or until an agent fails."""
        batch, rows = self.batch, self.batch.rows
        while len(rows):
            loops.answer_recorded(
                batch.game.calls,
                self.greedy_call,
                batch.states,
                rows,
                self.codes,
                self.seeds,
                batch.masks,
                self.actions,
                self.made,
            )
            seats = batch.states["seat"].astype(np.int64)
            rows = rows[seats[rows] >= 0]
            for name in dict.fromkeys(self.fixtures[row].agents[seats[row]] for row in rows.tolist()):
                mine = np.array([row for row in rows.tolist() if self.fixtures[row].agents[seats[row]] == name])
                self._ask(name, mine, seats[mine])
            rows = np.array([row for row in rows.tolist() if row not in self.failures], dtype=np.int64)

    def _ask(self, name: str, rows: np.ndarray, seats: np.ndarray) -> None:
        for row, seat, answer in self._answers(name, rows, seats):
            if isinstance(answer, Failure):
                self.failures[row] = seat, answer
                continue
            self.actions[row, self.made[row]] = answer
            self.made[row] += 1
            self.batch.step(np.array([row]), np.array([answer]))

    def _answers(self, name: str, rows: np.ndarray, seats: np.ndarray) -> Iterator[tuple[int, int, int | Failure]]:
        for row, seat in zip(rows.tolist(), seats.tolist(), strict=True):
            player = self.own.get((row, seat))
            if player is None:
                player = self.referee.make(name, int(self.seeds[row, seat]))
                if not hasattr(player, "choose"):
                    yield from self._of_policy(name, player, rows, seats)
                    return
            yield row, seat, self._of_agent(name, player, row, seat)

    # --- agents

    def _of_agent(self, name: str, agent: Any, row: int, seat: int) -> int | Failure:
        referee = self.referee
        entrant, position = referee.entrants[name], self.batch.position(row)
        view, seed = View(position), int(self.seeds[row, seat])
        referee.begin_watch(name, seat, self.actions[row, : self.made[row]])
        start = time.perf_counter()
        try:
            if entrant.stateless:
                referee.begin_shared(name, agent, seat, seed)
            elif (row, seat) not in self.own:
                self.own[row, seat] = agent
                begin(agent, seat, seed)
            before = getattr(agent, "simulations_made", 0)
            action = agent.choose(view)
            spent = getattr(agent, "simulations_made", 0) - before
        except (Exception, SystemExit) as error:
            return Failure(CRASH, _words(error))
        finally:
            self.seconds[row, seat] += time.perf_counter() - start
            referee.end_watch()
        allowed = entrant.simulations or 0
        if spent > allowed:
            return Failure(BUDGET, f"{spent} simulations instead of {allowed}")
        try:
            return legal_choice(name, position, action)
        except IllegalActionError as error:
            return Failure(ILLEGAL, _words(error))

    # --- batch policies

    def _of_policy(
        self, name: str, policy: BatchPolicy, rows: np.ndarray, seats: np.ndarray
    ) -> Iterator[tuple[int, int, int | Failure]]:
        row, seat = int(rows[0]), int(seats[0])
        so_far = self.actions[row, : self.made[row]]
        self.referee.begin_watch(name, seat if len(rows) == 1 else NOBODY, so_far)
        start = time.perf_counter()
        failure = None
        try:
            given = np.asarray(policy.act(self.batch.observe(rows, seats), self.batch.masks[rows]))
            if given.shape != rows.shape or given.dtype.kind not in "iu":
                failure = Failure(ILLEGAL, f"{given.dtype} of shape {given.shape} instead of a whole number a game")
        except (Exception, SystemExit) as error:
            failure = Failure(CRASH, _words(error))
        finally:
            self.seconds[rows, seats] += (time.perf_counter() - start) / len(rows)
            self.referee.end_watch()
        if failure is not None and len(rows) > 1:
            # whose game it fails in shows when they are asked one by one
            for number in range(len(rows)):
                yield from self._of_policy(name, policy, rows[number : number + 1], seats[number : number + 1])
        elif failure is not None:
            yield row, seat, failure
        else:
            for row, seat, action in zip(rows.tolist(), seats.tolist(), given.tolist(), strict=True):
                try:
                    yield row, seat, legal_choice(name, self.batch.position(row), action)
                except IllegalActionError as error:
                    yield row, seat, Failure(ILLEGAL, _words(error))

    # --- results

    def played(self, row: int) -> Played:
        """What became of a game."""
        fixture, position = self.fixtures[row], self.batch.position(row)
        actions = self.actions[row, : self.made[row]].tolist()
        notes = {"seconds": self.seconds[row].round(6).tolist()} if self.referee.timed else {}
        if row in self.failures:
            return self.referee.ruling(fixture, position, actions, *self.failures[row], notes)
        return Played(fixture, self.referee.replay(fixture, position, actions, None, notes))

    def close(self) -> None:
        """Close the agents of these games."""
        for (row, seat), agent in self.own.items():
            self.referee.finish(self.fixtures[row].agents[seat], agent)


def _words(error: BaseException) -> str:
    text = str(error) if isinstance(error, IllegalActionError) else repr(error)
    return " ".join(text.split())[:_LONGEST]
