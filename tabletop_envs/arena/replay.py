"""Replays: one JSON line a game, from which the whole game can be played again and checked.

Key, options and actions are the game; everything else in a line is what came of them, for readers and for
`verify`. A line holds

| field | legend |
| --- | --- |
| `schema` | the version of this table: 1 |
| `game` | the env id, with version |
| `num_players` | seats in play |
| `options` | the options that differ from their defaults |
| `seed` | the key of all chance in the game, 0 to 2^53 - 1 |
| `agents` | who played, by seat |
| `opening` | how many of the first actions an arena drew at random instead of asking the agents |
| `actions` | the decisions in their order, as numbers of the action space |
| `points`, `places` | the outcome, by seat; ties share a place |
| `end` | `rules`; `cap` for a game that was scored as it stood at `max_decisions`; or a forfeit, see below |
| `rules` | the rules digest: 16 hex digits over the layouts and over golden games |
| `final` | 16 hex digits over the final position's JSON for all eyes, points and places |
| `info` | left out where empty: whatever else a tournament wants to note; not checked |

A seat whose agent fails when it is asked forfeits the game, which then stands still: `end` is `illegal:k` (seat k gave
an action that is not legal), `crash:k` (an error), `timeout:k` (no answer) or `budget:k` (more simulations than it
declares). Points are those that the game would end with now; seat k is last alone, and the others keep their order.

A file holds a game a line; before them it may have a header, a line of facts about how they were played:
`{"header": 1, ...}`. Files whose names end in `.gz` are compressed.

Knows games through `Game` and `Position` alone, and agents by the names that `make_agent` takes.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import re
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from tabletop_envs import registry
from tabletop_envs.agents import make_agent
from tabletop_envs.agents.base import BUILT_IN, GREEDY, RANDOM, Agent, ask, begin, check_table, finish
from tabletop_envs.core import loops, record
from tabletop_envs.core.checks import is_whole
from tabletop_envs.core.game import ALL, Game
from tabletop_envs.core.header import KEY_LIMIT
from tabletop_envs.core.position import END_CAP, END_RULES, Position, check_key
from tabletop_envs.core.random import EPISODE, OPPONENTS, derive_key
from tabletop_envs.core.spec import Settings
from tabletop_envs.errors import (
    CorruptDataError,
    IllegalActionError,
    OptionError,
    OrderError,
    UnknownGameError,
)

SCHEMA: Final = 1
HEADER: Final = 1
"""The version of the header lines that are read."""
COMPRESSED: Final = ".gz"
ILLEGAL: Final = "illegal"
CRASH: Final = "crash"
TIMEOUT: Final = "timeout"
BUDGET: Final = "budget"
FAILURES: Final = (ILLEGAL, CRASH, TIMEOUT, BUDGET)
"""How a seat can forfeit a game: the words before the colon of `end`."""

_ACTION_LIMIT: Final = 2**31
_DIGEST_GAMES: Final = 20  # random games with each settings that a rules digest is over
_TAIL_BLOCK: Final = 2**16  # bytes that are read at once on the way back to where a file's last line begins
_DIGEST: Final = re.compile(r"[0-9a-f]{16}")
_FORFEIT: Final = re.compile(rf"({'|'.join(FAILURES)}):(0|[1-9]\d{{0,2}})")
_REMEDY: Final = "remove the line, or record the game anew"


class TruncatedFileWarning(UserWarning):
    """The last line of a file breaks off in the middle of a game; the lines before it are used."""


# --- one game ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Replay:
    """One recorded game; the fields are those of a line (see the table of this file)."""

    game: str
    num_players: int
    options: Mapping[str, Any]
    seed: int
    agents: tuple[str, ...]
    opening: int
    actions: tuple[int, ...]
    points: tuple[int, ...]
    places: tuple[int, ...]
    end: str
    rules: str
    final: str
    info: Mapping[str, Any] = field(default_factory=dict)

    def to_line(self) -> str:
        """The replay as one line of JSON, without the line's end."""
        content = {"schema": SCHEMA, **vars(self)}
        if not self.info:
            del content["info"]
        return json.dumps(content, separators=(",", ":"))

    @classmethod
    def from_line(cls, line: str | bytes, place: str = "this line") -> Replay:
        """The replay of `to_line`; whether the game went so is left to `verify`.

        place: where the line stands, for messages. Raises CorruptDataError for what is no replay.
        """
        return cls._from_content(_parsed(line, place), place)

    @classmethod
    def _from_content(cls, content: Any, place: str) -> Replay:
        if not isinstance(content, dict):
            raise CorruptDataError(f"{place} holds no JSON object: {_REMEDY}")
        schema = content.pop("schema", None)
        if type(schema) is not int or schema != SCHEMA:
            raise CorruptDataError(
                f"{place} is of schema {schema!r}, not {SCHEMA}: install the tabletop_envs that wrote it"
            )
        content.setdefault("info", {})
        for name, (holds, wanted) in _FORM.items():
            if name not in content:
                raise CorruptDataError(f"{place} has no {name!r}: {_REMEDY}")
            if not holds(content[name]):
                raise CorruptDataError(f"{place}: {name!r} is not {wanted}: {_REMEDY}")
        if len(content) > len(_FORM):
            unknown = ", ".join(repr(name) for name in content if name not in _FORM)
            raise CorruptDataError(f"{place} has {unknown}, which no replay has: put notes of your own into 'info'")
        parts: dict[str, Any] = {k: tuple(value) if type(value) is list else value for k, value in content.items()}
        replay = cls(**parts)
        for name in ("agents", "points", "places"):
            number = len(content[name])
            if number != replay.num_players:
                raise CorruptDataError(f"{place}: {number} {name} for {replay.num_players} players: {_REMEDY}")
        if replay.opening > len(replay.actions):
            raise CorruptDataError(
                f"{place}: {replay.opening} opening actions of {len(replay.actions)} in all: {_REMEDY}"
            )
        if (forfeiting_seat(replay.end) or 0) >= replay.num_players:
            raise CorruptDataError(f"{place}: 'end' is {replay.end!r} with {replay.num_players} players: {_REMEDY}")
        return replay

    @property
    def forfeit(self) -> str | None:
        """The end, where it is a forfeit; None for a game that was played to its end."""
        return None if forfeiting_seat(self.end) is None else self.end

    def start(self) -> Position:
        """The position before the first action. Raises UnknownGameError and OptionError."""
        return Position.new(self.game, self.num_players, seed=self.seed, **self.options)

    def positions(self) -> Iterator[Position]:
        """Every position before each action and behind the last: one object that moves on.

        Raises UnknownGameError and OptionError, IllegalActionError and GameOverError where the game did not go so.
        """
        position = self.start()
        yield position
        for action in self.actions:
            position.apply(action)
            yield position


def _parsed(line: str | bytes, place: str) -> Any:
    try:
        return json.loads(line.decode("utf-8") if isinstance(line, bytes) else line)
    except (ValueError, RecursionError) as error:
        raise CorruptDataError(f"{place} cannot be read as JSON ({error}): {_REMEDY}") from error


def _is_whole(low: int, limit: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and low <= value < limit


def _are_whole(low: int, limit: int) -> Callable[[Any], bool]:
    def holds(value: Any) -> bool:
        # by types and ends: lines hold hundreds of actions
        return type(value) is list and (
            not value or (set(map(type, value)) == {int} and low <= min(value) and max(value) < limit)
        )

    return holds


def _is_object(value: Any) -> bool:
    return type(value) is dict


def _is_digest(value: Any) -> bool:
    return type(value) is str and _DIGEST.fullmatch(value) is not None


def _is_end(value: Any) -> bool:
    return type(value) is str and (value in (END_RULES, END_CAP) or _FORFEIT.fullmatch(value) is not None)


def forfeiting_seat(end: str) -> int | None:
    """The seat of an `end` that is a forfeit; None for another."""
    found = _FORFEIT.fullmatch(end)
    return int(found[2]) if found else None


# field -> (what must hold, the same in words); `type(…) is`, since True is an int
_FORM: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "game": (lambda value: type(value) is str, "the id of a game"),
    "num_players": (_is_whole(1, _ACTION_LIMIT), "a number of players"),
    "options": (_is_object, "an object of options"),
    "seed": (_is_whole(0, KEY_LIMIT), "a whole number from 0 to 2**53 - 1"),
    "agents": (lambda value: type(value) is list and {type(name) for name in value} == {str}, "a list of names"),
    "opening": (_is_whole(0, _ACTION_LIMIT), "a number of actions"),
    "actions": (_are_whole(0, _ACTION_LIMIT), "a list of whole numbers, at least 0"),
    "points": (_are_whole(-_ACTION_LIMIT, _ACTION_LIMIT), "a list of whole numbers"),
    "places": (_are_whole(1, _ACTION_LIMIT), "a list of whole numbers, at least 1"),
    "end": (
        _is_end,
        f"{END_RULES!r}, {END_CAP!r} or a forfeit of a seat ({', '.join(f'{word}:0' for word in FAILURES)})",
    ),
    "rules": (_is_digest, "16 hex digits"),
    "final": (_is_digest, "16 hex digits"),
    "info": (_is_object, "an object"),
}
assert list(_FORM) == [part.name for part in fields(Replay)]


# --- digests ----------------------------------------------------------------------------------------------------


@cache
def rules_digest(game: Game) -> str:
    """16 hex digits over the layouts, over what agents meet in golden games, and over more random games.

    The golden games are those of the conformance suite, with every option and number of players. The digest holds
    still when code is written otherwise, and changes with every rule, table or layout that such a game meets. A
    replay, and a rating, belong to it.
    """
    from tabletop_envs.testing.golden import digests
    from tabletop_envs.testing.subject import quick_grid

    lines = [game.spec.env_id, game.actions.digest(), game.observations.digest()]
    lines += [f"{name}: {digest}" for name, digest in digests(game).items()]
    for settings in quick_grid(game.spec):
        for position, actions in _played(game, settings, (RANDOM,) * settings.num_players, _DIGEST_GAMES, 0):
            lines.append(f"{actions} {position.capped} {position.points()} {position.places()}")
    return _hash("\n".join(lines))


def final_digest(position: Position) -> str:
    """16 hex digits over the position's JSON for all eyes, points and places."""
    return _final_digest(position, position.points(), position.places())


def _final_digest(position: Position, points: list[int], places: list[int]) -> str:
    return _hash(f"{position.json_text(ALL)}\n{points}\n{places}")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# --- outcomes ---------------------------------------------------------------------------------------------------


def outcome(position: Position, forfeit: str | None = None) -> tuple[list[int], list[int], str]:
    """Points, places and end of a position that is over, or in which the seat to act forfeits.

    forfeit: the `end`, as `crash:1`.
    """
    points, places = position.points(), position.places()
    if forfeit is None:
        return points, places, END_CAP if position.capped else END_RULES
    loser = forfeiting_seat(forfeit)
    others = [place for seat, place in enumerate(places) if seat != loser]
    places = [1 + sum(other < place for other in others) for place in places]
    places[loser] = len(places)  # type: ignore[index]
    return points, places, forfeit


def why_unfinished(position: Position, forfeit: str | None) -> str:
    """Why a game cannot have stopped in this position; nothing when it can.

    forfeit: the `end` that was recorded, where it is one.
    """
    made = position.decisions
    if forfeit is None:
        where = f"seat {position.seat} is to act in phase {position.phase}"
        return "" if position.over else f"the game is not over after its {made} actions: {where}"
    if position.over:
        return f"the game is over after its {made} actions: it cannot end with {forfeit!r}"
    loser = forfeiting_seat(forfeit)
    return "" if position.seat == loser else f"end {forfeit!r} is recorded, but seat {position.seat} is to act"


# --- recording --------------------------------------------------------------------------------------------------


class Recorder:
    """Keeps the actions of one game while it is played.

        recorder = Recorder(Position.new("urbino", seed=7), ["greedy", "me"])
        while not recorder.position.over:
            recorder.apply(agents[recorder.position.seat].choose(View(recorder.position)))
        append("games.jsonl", [recorder.replay()])

    position: fresh from `Position.new`; from then on `apply` of the recorder stands for that of the position;
    agents: names by seat; opening: how many of the first actions nobody was asked for; info: notes for the line,
    which are kept as JSON has them.

    Raises OrderError for a position that is not fresh, OptionError when the names are not one a seat and for an
    opening or notes that no line can hold.
    """

    def __init__(
        self, position: Position, agents: Sequence[str], *, opening: int = 0, info: Mapping[str, Any] | None = None
    ) -> None:
        dealt = Position.new(position.game, position.num_players, seed=position.seed, **position.settings.values)
        if dealt != position:
            raise OrderError("a replay begins with the deal: give the recorder a position fresh from Position.new")
        self.position = position
        self.agents = _names(agents, position.num_players)
        self.actions: list[int] = []
        self._opening = _opening(opening)
        self._info = _notes(info)

    def apply(self, action: int | str) -> None:
        """Make a decision in the position, given by number or by text, and keep it; raises what the position does."""
        number = self.position.parse_action(action) if isinstance(action, str) else action
        self.position.apply(number)
        self.actions.append(int(number))

    def replay(self) -> Replay:
        """The finished game; raises OrderError while it goes on."""
        if not self.position.over:
            raise OrderError("the game is not over: play it to its end, then ask for the replay")
        return replay_of(self.position, self.agents, self.actions, self._opening, self._info)


def _names(agents: Any, num_players: int) -> tuple[str, ...]:
    # a single text would pass for a sequence of letters
    listed = list(agents) if isinstance(agents, Iterable) and not isinstance(agents, str) else []
    if len(listed) != num_players or not all(isinstance(name, str) for name in listed):
        raise OptionError(f"agents={agents!r} do not fit: give {num_players} names, one a seat")
    return tuple(str(name) for name in listed)


def _opening(opening: Any) -> int:
    if not is_whole(opening, 0, _ACTION_LIMIT - 1):
        raise OptionError(f"opening={opening!r} is not possible: give a number of actions, a whole number from 0")
    return int(opening)


def _notes(info: Any) -> dict[str, Any]:
    if info is None:
        return {}
    if not isinstance(info, Mapping):
        raise OptionError(f"info={info!r} is not possible: give a dict of notes by name")
    try:
        notes: dict[str, Any] = json.loads(json.dumps(dict(info), default=_plain, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise OptionError(
            f"info cannot be kept as JSON ({error}): give texts, finite numbers, True, False, None, lists and dicts"
        ) from error
    return notes


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is nothing that JSON knows")


def from_actions(
    game: Game | str,
    actions: Iterable[int],
    agents: Sequence[str],
    *,
    seed: int,
    num_players: int | None = None,
    opening: int = 0,
    info: Mapping[str, Any] | None = None,
    **options: Any,
) -> Replay:
    """The replay of a whole game of which seed and actions were kept, for loops over an environment.

    Raises what `Position.new`, `Position.apply` and `Recorder` raise.
    """
    recorder = Recorder(Position.new(game, num_players, seed=seed, **options), agents, opening=opening, info=info)
    for action in actions:
        recorder.apply(action)
    return recorder.replay()


def replay_of(
    position: Position,
    agents: Sequence[str],
    actions: Sequence[int],
    opening: int = 0,
    info: Mapping[str, Any] | None = None,
    *,
    forfeit: str | None = None,
    rules: str | None = None,
) -> Replay:
    """The replay of a game that the actions led to this position, which is over, or given up as `forfeit` says.

    Nothing is checked (a `Recorder` does). rules: the rules digest, where it is known already.
    """
    points, places, end = outcome(position, forfeit)
    return Replay(
        game=position.game.spec.env_id,
        num_players=position.num_players,
        options=json.loads(json.dumps(position.settings.changed())),
        seed=position.seed,
        agents=tuple(agents),
        opening=min(opening, len(actions)),
        actions=tuple(actions),
        points=tuple(points),
        places=tuple(places),
        end=end,
        rules=rules or rules_digest(position.game),
        final=_final_digest(position, points, places),
        info=info or {},
    )


def sample(game: Game, settings: Settings, agents: Sequence[str], games: int, seed: int = 0) -> Iterator[Replay]:
    """Games between agents, as they come; built-in agents among themselves play compiled.

    agents: by seat, as `make_agent` takes them; seed: from which the keys of the games are derived, and those of the
    agents. A game without chance begins with as many random actions as it declares `opening_decisions`.

    Raises OptionError when the names are not one a seat and for an agent that does not play such a game, and what
    `make_agent` raises; while games are played, what the agents raise.
    """
    if len(agents) != settings.num_players:
        raise OptionError(f"{len(agents)} agents do not fill {settings.num_players} seats: name one a seat")
    seed = check_key(seed)
    if all(name in BUILT_IN for name in agents):
        return _sampled(game, settings, tuple(agents), games, seed)
    made: list[Agent] = []
    try:
        for name in agents:
            made.append(make_agent(name, game))
            check_table(made[-1], settings)
    except BaseException:
        _finish_all(made)
        raise
    return _asked(game, settings, tuple(agents), made, games, seed)


def _finish_all(agents: Sequence[Agent]) -> None:
    for agent in agents:
        finish(agent)


def _asked(
    game: Game, settings: Settings, names: tuple[str, ...], agents: Sequence[Agent], games: int, seed: int
) -> Iterator[Replay]:
    opening = game.spec.opening_decisions
    try:
        for number in range(games):
            key = derive_key(seed, EPISODE, number)
            salt = derive_key(key, OPPONENTS, number)
            position = Position.new(game, settings.num_players, seed=key, **settings.values)
            recorder = Recorder(position, names, opening=opening)
            # the opening is that of the compiled games
            drawing = make_agent(RANDOM, game, seed=salt)
            for seat, agent in enumerate(agents):
                begin(agent, seat, derive_key(salt, OPPONENTS, seat))
            while position.seat is not None:
                asked = drawing if len(recorder.actions) < opening else agents[position.seat]
                recorder.apply(ask(asked, position))
            yield recorder.replay()
    finally:
        _finish_all(agents)


def _sampled(game: Game, settings: Settings, agents: tuple[str, ...], games: int, seed: int) -> Iterator[Replay]:
    for position, actions in _played(game, settings, agents, games, seed):
        yield replay_of(position, agents, actions, game.spec.opening_decisions)


def _played(
    game: Game, settings: Settings, agents: tuple[str, ...], games: int, seed: int
) -> Iterator[tuple[Position, list[int]]]:
    """The ends of games between built-in agents, and their actions."""
    policies = np.array([BUILT_IN[name] for name in agents], dtype=np.int64)
    greedy_call = game.greedy_call if GREEDY in agents else 0  # the baseline is compiled when it first plays
    opening, template = game.spec.opening_decisions, game.template(settings)
    mask = np.zeros(game.num_actions(settings), dtype=np.int8)
    actions = np.zeros(settings.values["max_decisions"], dtype=np.int64)
    for number in range(games):
        key, states = derive_key(seed, EPISODE, number), record.clone(template)
        loops.deal(game.calls, template, states, 0, key, mask)
        salt = derive_key(key, OPPONENTS, number)
        made = loops.play_recorded(game.calls, greedy_call, states, 0, mask, policies, opening, salt, actions)
        yield Position(game, settings, states), actions[:made].tolist()


# --- checking ---------------------------------------------------------------------------------------------------


def verify(replay: Replay, game: Game | None = None) -> list[str]:
    """Play the game again; returns what does not hold, the first difference first, nothing for a true replay.

    game: which the replay must be of; by default the registered one of its id.
    """
    try:
        game = game or registry.load(replay.game)
        if replay.game != game.spec.env_id:
            return [f"it is a game of {replay.game!r}, not of {game.spec.env_id!r}"]
        settings, template = _setting(game, replay.num_players, json.dumps(replay.options))
    except (UnknownGameError, OptionError) as error:
        return [str(error)]
    except (TypeError, OverflowError) as error:  # options that only a damaged line can hold
        return [f"options {replay.options!r} are not possible: {error}"]
    differences = []
    if replay.rules != rules_digest(game):
        differences.append(
            f"rules digest {replay.rules} is not {rules_digest(game)}: the game was played by other rules, tables or "
            f"layouts than {replay.game} has here"
        )
    states, mask = record.clone(template), np.zeros(game.num_actions(settings), dtype=np.int8)
    loops.deal(game.calls, template, states, 0, replay.seed, mask)
    made = int(loops.replay(game.calls, states, 0, np.array(replay.actions, dtype=np.int64), mask))
    position = Position(game, settings, states)
    if made < 0:
        return [*differences, _refused(position, replay.actions, -1 - made)]
    if made < len(replay.actions):
        left = len(replay.actions) - made
        return [*differences, f"the game is over after {made} actions, but {left} more follow"]
    forfeit = replay.forfeit
    unfinished = why_unfinished(position, forfeit)
    if unfinished:
        return [*differences, unfinished]
    points, places, end = outcome(position, forfeit)
    differences += _compared("points", list(replay.points), points)
    differences += _compared("places", list(replay.places), places)
    differences += _compared("end", replay.end, end)
    return differences + _compared("final digest", replay.final, _final_digest(position, points, places))


@lru_cache(maxsize=256)
def _setting(game: Game, num_players: int, options: str) -> tuple[Settings, np.ndarray]:
    settings = game.settings(num_players, **json.loads(options))
    return settings, game.template(settings)


def _compared(name: str, recorded: Any, found: Any) -> list[str]:
    return [] if recorded == found else [f"{name} {recorded!r} is recorded, but it is {found!r}"]


def _refused(position: Position, actions: Sequence[int], number: int) -> str:
    action = actions[number]
    try:
        text = position.action_text(action)
    except IllegalActionError as error:
        return f"actions[{number}]: {error}"
    return f"actions[{number}]: {text!r} ({action}) is not legal for seat {position.seat} in phase {position.phase}"


# --- files ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """A line of a file: its place (`file:number`), and the replay, the header, or why there is neither.

    truncated: whether it is a last line that breaks off in the middle of a game.
    """

    place: str
    replay: Replay | None
    error: CorruptDataError | None = None
    truncated: bool = False
    header: Mapping[str, Any] | None = None


def scan(path: str | Path) -> Iterator[Line]:
    """Every line of a file that is not blank, sound or not, one at a time; the first may be a header."""
    number = 0
    with _opened(path) as file:
        try:
            for number, data in enumerate(file, 1):
                if data.strip():
                    yield _line(data, f"{path}:{number}", may_be_header=number == 1)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            lost = CorruptDataError(f"{path}:{number + 1} cannot be unpacked ({error}): restore the file from a copy")
            yield Line(f"{path}:{number + 1}", None, lost)


def _opened(path: str | Path) -> BinaryIO | gzip.GzipFile:
    return gzip.open(path, "rb") if str(path).endswith(COMPRESSED) else open(path, "rb")


def header(path: str | Path) -> Mapping[str, Any] | None:
    """The header of a file, None where it has none; raises CorruptDataError for one that cannot be read."""
    first = next(scan(path), None)
    if first is not None and first.replay is None and first.error is not None:
        raise first.error
    return first.header if first is not None else None


def _line(data: bytes, place: str, *, may_be_header: bool) -> Line:
    try:
        content = _parsed(data, place)
    except CorruptDataError as error:
        if data.endswith(b"\n"):
            return Line(place, None, error)
        lost = CorruptDataError(f"{place} breaks off in the middle of a game: remove the line; those before are sound")
        return Line(place, None, lost, truncated=True)
    try:
        if may_be_header and isinstance(content, dict) and "header" in content:
            return Line(place, None, header=_header(content, place))
        return Line(place, Replay._from_content(content, place))
    except CorruptDataError as error:
        return Line(place, None, error)


def _header(content: dict[str, Any], place: str) -> dict[str, Any]:
    version = content["header"]
    if type(version) is not int or version != HEADER:
        raise CorruptDataError(
            f"{place} is a header of version {version!r}, not {HEADER}: install the tabletop_envs that wrote it"
        )
    return content


def read(path: str | Path) -> Iterator[Replay]:
    """The replays of a file, one at a time; a header is passed over.

    Warns with TruncatedFileWarning of a last line that breaks off, which is what remains of a writer that was
    stopped; raises CorruptDataError at any other line that is no replay.
    """
    for line in scan(path):
        if line.replay is not None:
            yield line.replay
        elif line.truncated:
            warnings.warn(str(line.error), TruncatedFileWarning, stacklevel=2)
        elif line.error is not None:
            raise line.error


def append(path: str | Path, replays: Iterable[Replay]) -> int:
    """Write replays behind those of a file, or into a new one; returns how many.

    Each is written in one piece as it comes, so that whatever stops the writer, only the last line can break off.
    Where the first cannot be made, no new file is left behind. A last line that lacks nothing but its end is given it.
    Raises CorruptDataError for a file whose last line breaks off, or is no replay and has no end, and OptionError for a
    compressed one.
    """
    if str(path).endswith(COMPRESSED):
        raise OptionError(
            f"{path} is compressed and takes no more games: name a file that does not end in {COMPRESSED}"
        )
    replays, written = iter(replays), 0
    begun = list(islice(replays, 1))
    with open(path, "a+b") as file:
        missing = _missing_end(file, f"the last line of {path}")
    with open(path, "ab", buffering=0) as raw:
        for replay in chain(begun, replays):
            data = missing + replay.to_line().encode() + b"\n"
            if raw.write(data) != len(data):
                raise OSError(errno.ENOSPC, "the disk is full", str(path))
            missing = b""
            written += 1
    return written


def _missing_end(file: BinaryIO, place: str) -> bytes:
    """What is to be written before the next line: nothing, or the end of a sound last line."""
    tail = _last_line(file)
    if not tail.strip():
        return b"\n" if tail else b""
    line = _line(tail, place, may_be_header=len(tail) == file.seek(0, os.SEEK_END))
    if line.truncated:
        raise CorruptDataError(f"{place} breaks off: remove it, then add more")
    if line.error is not None:
        raise line.error
    return b"\n"


def _last_line(file: BinaryIO) -> bytes:
    """What stands behind the last line end of a file."""
    tail, start = b"", file.seek(0, os.SEEK_END)
    while start > 0 and b"\n" not in tail:
        size = min(_TAIL_BLOCK, start)
        start = file.seek(start - size)
        tail = file.read(size) + tail
    return tail.rpartition(b"\n")[2]
