"""A game in progress at which people and agents sit: decisions, taking back, what a seat was told; saved and resumed.

A saved game is a file that holds one JSON object. Key, options and actions are the game; the rest says who plays and
lets a reader see that the game still comes out as it did:

| field | legend |
| --- | --- |
| `schema` | the version of this table: 1 |
| `game` | the env id, with version |
| `num_players` | seats in play |
| `options` | the options that differ from their defaults |
| `seed` | the key of all chance in the game, 0 to 2^53 - 1 |
| `agents` | by seat: the name that `make_agent` takes, `human` for a person |
| `agent_seeds` | by seat: the seed of the agent's own chance |
| `people` | the seats of persons, ascending |
| `actions` | the decisions so far in their order, as numbers of the action space |
| `position` | 16 hex digits over the position that they lead to (`arena.replay.final_digest`) |

Knows games through `Position` alone, and nothing of terminals.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from tabletop_envs import registry
from tabletop_envs.agents import make_agent
from tabletop_envs.agents.base import Agent, ask, begin, check_table, finish, seat_seed
from tabletop_envs.arena import replay
from tabletop_envs.core.position import Position
from tabletop_envs.core.record import PUBLIC as SEEN
from tabletop_envs.errors import (
    CorruptDataError,
    GameOverError,
    IllegalActionError,
    OptionError,
    TabletopError,
    UnknownGameError,
)
from tabletop_envs.files import write_whole
from tabletop_envs.watch import decision_text

HUMAN: Final = "human"
SCHEMA: Final = 1

_REMEDY: Final = "give a file that `save` wrote"


# --- the table --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """A decision: the seat that made it, the action, and the position that it led to."""

    seat: int
    action: int
    after: Position


def seat_names(num_players: int, people: Sequence[int], against: Sequence[str]) -> tuple[str, ...]:
    """Who sits where: people on their seats, agents on the others, in order; a single name fills them all.

    Raises OptionError for a seat that is not at the table and for a number of agents that does not fit.
    """
    for seat in people:
        if not 0 <= seat < num_players:
            seats = f"0 to {num_players - 1}"
            raise OptionError(f"seat {seat} is not at the table: with {num_players} players, give {seats}")
    others = [seat for seat in range(num_players) if seat not in people]
    named = list(against) * len(others) if len(against) == 1 and others else list(against)
    if len(named) != len(others):
        raise OptionError(f"{len(named)} agents do not fill {len(others)} other seats: name one a seat, or one for all")
    by_seat = dict(zip(others, named, strict=True))
    return tuple(by_seat.get(seat, HUMAN) for seat in range(num_players))


class Table:
    """One game at which people and agents sit.

    start: fresh from `Position.new`; names: by seat, as `make_agent` takes them, `human` for a person; agent_seeds:
    by seat, of the agents' own chance (None: derived from the game's seed).

    The agents are told that the game begins, and are asked from then on. Raises what `make_agent` raises, and
    OptionError for an agent that does not play such a game.
    """

    def __init__(self, start: Position, names: Sequence[str], agent_seeds: Sequence[int] | None = None) -> None:
        if len(names) != start.num_players:
            raise OptionError(f"{len(names)} names do not fit: give {start.num_players}, one a seat")
        derived = [seat_seed(start.seed, seat) for seat in range(start.num_players)]
        self.start = start
        self.names = tuple(names)
        self.agent_seeds = tuple(derived if agent_seeds is None else agent_seeds)
        self.people = tuple(seat for seat, name in enumerate(names) if name == HUMAN)
        self.steps: list[Step] = []
        self._replies: dict[str, int] = {}
        self._agents: dict[int, Agent] = {}
        try:
            for seat, name in enumerate(names):
                if name != HUMAN:
                    self._agents[seat] = make_agent(name, start.game)
                    check_table(self._agents[seat], start.settings)
                    begin(self._agents[seat], seat, self.agent_seeds[seat])
        except TabletopError:
            self.close()
            raise

    @property
    def position(self) -> Position:
        """The position as it stands; not to be changed."""
        return self.steps[-1].after if self.steps else self.start

    @property
    def actions(self) -> list[int]:
        """The decisions so far."""
        return [step.action for step in self.steps]

    def decide(self, action: int) -> None:
        """Make a decision for the seat to act; raises IllegalActionError and GameOverError."""
        before = self.position
        after = before.clone()
        after.apply(action)
        seat = before.seat
        assert seat is not None, "a decision was applied"
        # in one piece: a signal may come at any time
        self.steps.append(Step(seat, int(action), after))

    def ask_agents(self) -> None:
        """Let the agents decide until a person is to act or the game is over.

        What was taken back and comes again is answered as before, whatever an agent remembers.
        """
        while not self.position.over and self.position.seat not in self.people:
            position = self.position
            digest = position.digest()
            if digest not in self._replies:
                assert position.seat is not None, "the game is not over"
                self._replies[digest] = ask(self._agents[position.seat], position)
            self.decide(self._replies[digest])

    def undo(self) -> bool:
        """Back to where a person last decided, all decisions since then undone; False where there is none."""
        for number in reversed(range(len(self.steps))):
            if self.steps[number].seat in self.people:
                del self.steps[number:]
                return True
        return False

    def news(self, viewer: int) -> list[str]:
        """What the others did, as far as the seat learns of it, and what happened by itself since the seat last
        decided, in words."""
        last = max((number for number, step in enumerate(self.steps) if step.seat == viewer), default=-1)
        lines = (self.steps[last].after if last >= 0 else self.start).events()
        for number in range(last + 1, len(self.steps)):
            step, before = self.steps[number], self.steps[number - 1].after if number else self.start
            lines += [f"{self.who(step.seat)}: {decision_text(before, step.action, viewer)}", *step.after.events()]
        return lines

    def who(self, seat: int) -> str:
        """A seat in words."""
        return f"seat {seat} ({self.names[seat]})"

    def replay(self) -> replay.Replay:
        """The finished game; raises OrderError while it goes on."""
        options, seed = self.start.settings.changed(), self.start.seed
        players = self.start.num_players
        return replay.from_actions(self.start.game, self.actions, self.names, seed=seed, num_players=players, **options)

    def has_secrets(self) -> bool:
        """Whether the game hides anything from a seat."""
        return any(field.sees != SEEN for field in self.start.game.modules["state"].FIELDS)

    def close(self) -> None:
        """Close the agents."""
        for agent in self._agents.values():
            finish(agent)


# --- saved games ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SavedGame:
    """A game that is not over; the fields are those of a file (see the table of this module)."""

    game: str
    num_players: int
    options: Mapping[str, Any]
    seed: int
    agents: tuple[str, ...]
    agent_seeds: tuple[int, ...]
    people: tuple[int, ...]
    actions: tuple[int, ...]
    position: str

    @classmethod
    def of(cls, table: Table) -> SavedGame:
        """The game of a table as it stands."""
        start = table.start
        steps = tuple(table.steps)
        return cls(
            game=start.game.spec.env_id,
            num_players=start.num_players,
            options=json.loads(json.dumps(start.settings.changed())),
            seed=start.seed,
            agents=table.names,
            agent_seeds=table.agent_seeds,
            people=table.people,
            actions=tuple(step.action for step in steps),
            position=replay.final_digest(steps[-1].after if steps else start),
        )

    def write(self, path: Path) -> None:
        """Write the file whole or not at all; raises OptionError and OSError where it cannot be written."""
        write_whole(path, json.dumps({"schema": SCHEMA, **asdict(self)}) + "\n")

    @classmethod
    def read(cls, path: Path) -> SavedGame:
        """The saved game of a file; whether it is possible is left to `table`.

        Raises CorruptDataError for what is no saved game, and OSError.
        """
        try:
            content = json.loads(path.read_bytes().decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise CorruptDataError(f"{path} cannot be read as JSON ({error}): {_REMEDY}") from error
        if not isinstance(content, dict):
            raise CorruptDataError(f"{path} holds no JSON object: {_REMEDY}")
        if "final" in content:
            raise CorruptDataError(f"{path} is the replay of a game that is over: {_REMEDY}, or begin a new game")
        schema = content.pop("schema", None)
        names = [part.name for part in fields(cls)]
        missing = [name for name in names if name not in content]
        if missing:
            raise CorruptDataError(f"{path} is no saved game, it has no {missing[0]!r}: {_REMEDY}")
        if type(schema) is not int or schema != SCHEMA:
            raise CorruptDataError(
                f"{path} is of schema {schema!r}, not {SCHEMA}: install the tabletop_envs that wrote it"
            )
        for name, kind in _LISTS.items():
            value = content[name]
            if type(value) is not list or not all(type(entry) is kind for entry in value):
                raise CorruptDataError(f"{path}: {name!r} is not a list of {kind.__name__}: {_REMEDY}")
            content[name] = tuple(value)
        if type(content["options"]) is not dict:
            raise CorruptDataError(f"{path}: 'options' is not an object of options: {_REMEDY}")
        return cls(**{name: content[name] for name in names})

    def table(self, place: str = "the saved game") -> Table:
        """The table at which the game goes on.

        place: for messages. Raises UnknownGameError for a game and UnknownAgentError for an agent that is not at
        hand, and CorruptDataError where the game cannot have gone so.
        """
        start = self._start(place)
        people = tuple(seat for seat, name in enumerate(self.agents) if name == HUMAN)
        players = start.num_players
        if len(self.agents) != players or len(self.agent_seeds) != players or people != self.people or not people:
            raise CorruptDataError(f"{place}: agents, agent_seeds and people do not fit {players} seats: {_REMEDY}")
        try:
            table = Table(start, self.agents, self.agent_seeds)
        except TabletopError as error:
            raise type(error)(f"{place}: {error}") from error
        for number, action in enumerate(self.actions):
            try:
                table.decide(action)
            except (IllegalActionError, GameOverError) as error:
                raise CorruptDataError(f"{place}: actions[{number}]: {error}: {_REMEDY}") from error
        if replay.final_digest(table.position) != self.position:
            raise CorruptDataError(
                f"{place}: its actions lead to another position now: the file was changed, or {self.game} has other "
                "rules than when it was saved; play it with the tabletop_envs that wrote it"
            )
        return table

    def _start(self, place: str) -> Position:
        try:
            game = registry.load(self.game)
        except UnknownGameError as error:
            raise UnknownGameError(f"{place}: {error}: install the package of the game") from error
        if self.game != game.spec.env_id:
            raise CorruptDataError(f"{place} is of {self.game!r}, not of {game.spec.env_id!r}: {_REMEDY}")
        try:
            return Position.new(game, self.num_players, seed=self.seed, **self.options)
        except (OptionError, TypeError, OverflowError) as error:
            raise CorruptDataError(f"{place}: {error}: {_REMEDY}") from error


_LISTS: Final[Mapping[str, type]] = {"agents": str, "agent_seeds": int, "people": int, "actions": int}
