"""Position: one game in hand. What agents, the arena, the command line and tests hold.

>>> position = Position.new("urbino", seed=7)
>>> position.apply(int(position.legal_actions()[0]))
>>> position.seat
1
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tabletop_envs.core import loops, record
from tabletop_envs.core.checks import is_whole
from tabletop_envs.core.game import ALL, PUBLIC, Game
from tabletop_envs.core.header import DRAW_KINDS, KEY_LIMIT, MAX_EVENTS, NOBODY, OVER_CAP, OVER_RULES, RUNNING
from tabletop_envs.core.random import SALT_LIMIT
from tabletop_envs.core.spec import Settings
from tabletop_envs.errors import CorruptDataError, GameOverError, IllegalActionError, NotationError, OptionError

if TYPE_CHECKING:
    from tabletop_envs.render.scene import Scene

_PADS: Final = ("header_pad", "record_pad")
_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"))

# How a game ended, in infos and replays.
END_RULES: Final = "rules"
END_CAP: Final = "cap"


def check_key(seed: Any) -> int:
    """The seed as a record key; raises OptionError unless it is a whole number from 0 to 2^53 - 1."""
    if not is_whole(seed, 0, KEY_LIMIT - 1):
        raise OptionError(f"seed {seed!r} is not possible: give a whole number from 0 to 2**53 - 1")
    return int(seed)


def event_texts(game: Game, states: np.ndarray) -> list[str]:
    """What happened by itself since the last decision in the first of the records, in words."""
    event_text = game.modules["notation"].event_text
    kept = min(int(states["num_events"][0]), MAX_EVENTS)
    return [str(event_text(*row)) for row in states["events"][0, :kept].tolist()]


class Position:
    """A position of one game; owns its record. Copies are independent, equal records compare equal.

    A viewer is a seat, `PUBLIC` or `ALL` (from `tabletop_envs.core.game`).
    """

    __slots__ = ("_mask", "game", "settings", "states")

    def __init__(self, game: Game, settings: Settings, states: np.ndarray) -> None:
        """Take over a one-element array of records (see `new` for a fresh game)."""
        self.game = game
        self.settings = settings
        self.states = states
        self._mask = np.zeros(game.num_actions(settings), dtype=np.int8)
        loops.legal(game.calls, states, 0, self._mask)

    @classmethod
    def new(cls, game: Game | str, num_players: int | None = None, *, seed: int = 0, **options: Any) -> Position:
        """A game dealt and ready for its first decision.

        seed: the key of all chance in the game, 0 to 2^53 - 1. Raises UnknownGameError and OptionError.
        """
        if isinstance(game, str):
            from tabletop_envs import registry

            game = registry.load(game)
        settings = game.settings(num_players, **options)
        states = game.template(settings)
        states["key"] = check_key(seed)
        loops.start(game.calls, states, 0, np.zeros(game.num_actions(settings), dtype=np.int8))
        return cls(game, settings, states)

    # --- what stands

    @property
    def num_players(self) -> int:
        """Seats in play."""
        return int(self.states["num_players"][0])

    @property
    def seat(self) -> int | None:
        """The seat to act; None when the game is over."""
        seat = int(self.states["seat"][0])
        return None if seat < 0 else seat

    @property
    def over(self) -> bool:
        """Whether the game has ended, by its rules or at the cap."""
        return bool(self.states["over"][0] != RUNNING)

    @property
    def capped(self) -> bool:
        """Whether the game was stopped at a cap and scored as it stood."""
        return bool(self.states["over"][0] == OVER_CAP)

    @property
    def phase(self) -> str:
        """The name of the phase in small letters."""
        phase = self.game.modules["state"].Phase(int(self.states["phase"][0]))
        return str(phase.name.lower())

    @property
    def decisions(self) -> int:
        """Decisions that seats were asked for and made."""
        return int(self.states["decisions"][0])

    @property
    def seed(self) -> int:
        """The key of all chance in the game."""
        return int(self.states["key"][0])

    def events(self) -> list[str]:
        """What happened by itself since the last decision, in words."""
        return event_texts(self.game, self.states)

    def points(self) -> list[int]:
        """Points of each seat: final, or if the game ended now."""
        return self._score()[0]

    def places(self) -> list[int]:
        """Places of each seat, 1 = first; ties share a place."""
        return self._score()[1]

    def _score(self) -> tuple[list[int], list[int]]:
        points = np.zeros(self.num_players, dtype=np.int32)
        places = np.zeros(self.num_players, dtype=np.int32)
        loops.score(self.game.calls, self.states, 0, points, places)
        return points.tolist(), places.tolist()

    # --- decisions

    def legal_actions(self) -> np.ndarray:
        """The legal actions of the seat to act, ascending (int64); empty when the game is over."""
        return np.flatnonzero(self._mask)

    def action_mask(self) -> np.ndarray:
        """The mask of the seat to act, int8 of the size of the action space; all zero when over. A copy."""
        mask: np.ndarray = self._mask.copy()
        return mask

    def apply(self, action: int | str) -> None:
        """Make a decision, given by number or by text.

        Raises NotationError for a text that names none, IllegalActionError and GameOverError; the position is then
        unchanged.
        """
        if isinstance(action, str):
            action = self.parse_action(action)
        number = self.game.actions.check(action, len(self._mask))
        if self.over:
            raise GameOverError("the game is over: start a new one with Position.new")
        if not self._mask[number]:
            raise IllegalActionError(
                f"{self.action_text(number)!r} ({number}) is not legal for seat {self.seat} in phase {self.phase}: "
                "choose one of legal_actions()"
            )
        loops.step(self.game.calls, self.states, 0, number, self._mask)

    def action_text(self, action: int) -> str:
        """An action in words."""
        return str(self.game.modules["notation"].action_text(self.game.actions.check(action)))

    def parse_action(self, text: str) -> int:
        """The action that a text names; raises NotationError."""
        return int(self.game.modules["notation"].parse_action(text))

    # --- what a seat knows

    def observe(self, seat: int) -> np.ndarray:
        """The observation of a seat, float32 in [0, 1]."""
        out = np.zeros(self.game.observation_size(self.settings), dtype=np.float32)
        loops.observe(self.game.calls, self.states, 0, self._seat(seat), out)
        return out

    def determinize(self, seat: int, salt: int) -> Position:
        """A copy in which all that the seat cannot know is dealt anew; the salt (0 to 2^31 - 1) chooses the deal."""
        if not isinstance(salt, (int, np.integer)) or not 0 <= salt < SALT_LIMIT:
            raise OptionError(f"salt {salt!r} is not possible: give a whole number from 0 to {SALT_LIMIT - 1}")
        copy = self.clone()
        loops.determinize(self.game.calls, copy.states, 0, self._seat(seat), salt)
        loops.legal(self.game.calls, copy.states, 0, copy._mask)  # another seat to act may now hold other options
        return copy

    def greedy_action(self, salt: int = 0) -> int:
        """The choice of the game's greedy baseline for the seat to act."""
        if self.over:
            raise GameOverError("the game is over: nobody is asked")
        return int(loops.greedy(self.game.greedy_call, self.states, 0, self._mask, salt))

    def _seat(self, seat: Any) -> int:
        if not is_whole(seat, 0, self.num_players - 1):
            raise OptionError(f"seat {seat!r} is not at the table: seats are 0 to {self.num_players - 1}")
        return int(seat)

    def _viewer(self, viewer: Any) -> int:
        if isinstance(viewer, (int, np.integer)) and viewer in (PUBLIC, ALL):
            return int(viewer)
        try:
            return self._seat(viewer)
        except OptionError as error:
            raise OptionError(f"{viewer!r} is no viewer: give PUBLIC, ALL or a seat; {error}") from None

    # --- copies and texts

    def clone(self) -> Position:
        """An independent copy."""
        copy = object.__new__(Position)
        copy.game, copy.settings = self.game, self.settings
        copy.states, copy._mask = record.clone(self.states), self._mask.copy()
        return copy

    __copy__ = clone

    def __deepcopy__(self, memo: dict[int, Any]) -> Position:
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.game, self.settings, self.to_bytes())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self.game.spec == other.game.spec and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def to_bytes(self) -> bytes:
        """The record's bytes."""
        return record.to_bytes(self.states)

    def digest(self) -> str:
        """16 hex digits over the record."""
        return record.digest(self.states)

    def text(self, viewer: int = ALL) -> str:
        """The position in one or several lines for a viewer; for ALL it can be read back by the game's notation."""
        return str(self.game.modules["notation"].position_text(self.states[0], self._viewer(viewer)))

    def scene(self, viewer: int = ALL) -> Scene:
        """The position as a viewer sees it, for `tabletop_envs.render` to draw; raises OptionError for no viewer."""
        drawn: Scene = self.game.modules["scene"].scene(self.states[0], self._viewer(viewer))
        return drawn

    def svg(self, viewer: int = ALL) -> str:
        """The position as a viewer sees it, as an SVG document."""
        from tabletop_envs.render.svg import svg

        return svg(self.scene(viewer))

    def _repr_svg_(self) -> str:
        return self.svg()

    def to_json(self, viewer: int = ALL) -> dict[str, Any]:
        """The facts that a viewer may know, fit for `json.dumps`; `from_json` reads those for ALL."""
        return json.loads(json.dumps(self._facts(viewer)))  # type: ignore[no-any-return]

    def json_text(self, viewer: int = ALL) -> str:
        """The facts of `to_json` in one canonical text: keys sorted, no blanks. Equal facts give equal texts."""
        return _CANONICAL.encode(self._facts(viewer))

    def _facts(self, viewer: int) -> dict[str, Any]:
        viewer = self._viewer(viewer)
        states, logged = self.states, int(self.states["num_events"][0])
        facts = {
            "game": self.game.spec.env_id,
            "num_players": self.num_players,
            "options": self.settings.changed(),
            "decisions": self.decisions,
            "seat": self.seat,
            "over": int(states["over"][0]),
            "events": states["events"][0, : min(logged, MAX_EVENTS)].tolist(),
            "num_events": logged,
            "position": self.game.modules["notation"].describe(states[0], viewer),
        }
        if viewer == ALL:
            facts["seed"], facts["draws"] = self.seed, states["draws"][0].tolist()
        return facts

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Position:
        """The position of `to_json(ALL)`; raises CorruptDataError when the facts are incomplete or impossible."""
        from tabletop_envs import registry

        try:
            game = registry.load(facts["game"])
            settings = game.settings(facts["num_players"], **facts["options"])
            states = game.template(settings)
            s = states[0]
            s.key, s.draws[:] = check_key(facts["seed"]), _of_length(facts["draws"], DRAW_KINDS)
            s.decisions, s.over = facts["decisions"], facts["over"]
            s.seat = NOBODY if facts["seat"] is None else facts["seat"]
            s.num_events = facts["num_events"]
            kept = _of_length(facts["events"], min(int(s.num_events), MAX_EVENTS))
            s.events[: len(kept)] = np.array(kept, dtype=np.int16).reshape(-1, 3)
            game.modules["notation"].restore(facts["position"], s)
        except (
            AttributeError,
            KeyError,
            TypeError,
            ValueError,
            OverflowError,
            IndexError,
            NotationError,
        ) as error:
            raise CorruptDataError(f"this is no position of a game: {error!r}; give what to_json() returned") from error
        check_record(game, settings, states)
        return cls(game, settings, states)

    def __repr__(self) -> str:
        end = "over" if self.over else f"seat {self.seat} to act, {self.phase}"
        return f"<Position {self.game.spec.env_id}, {self.num_players} players, decision {self.decisions}, {end}>"


def _of_length(values: list[Any], number: int) -> list[Any]:
    if len(values) != number:
        raise ValueError(f"{values!r} are not {number} entries")
    return values


def check_record(game: Game, settings: Settings, states: np.ndarray) -> None:
    """Raise CorruptDataError unless the first of the records is a position of a game with these settings.

    For records from outside, before compiled code, which trusts them, sees one.
    """
    s = states[0]
    wrong = [*_header_faults(game, s), *record.out_of_range(states, game.modules["state"].FIELDS)]
    wrong += [
        f"{name} is {s[name]}, not {value} as set"
        for name, value in settings.encoded().items()
        if not np.array_equal(s[name], value)
    ]
    if wrong:
        raise CorruptDataError(f"this is no position of {game.spec.id}: {'; '.join(wrong)}")
    try:
        event_texts(game, states)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise CorruptDataError(f"this is no position of {game.spec.id}: the events are {s.events.tolist()}") from error
    code = loops.check(game.check_call, states, 0)
    if code:
        meaning = game.modules["state"].INVARIANTS.get(code, "unknown")
        raise CorruptDataError(f"the position breaks invariant {code} of {game.spec.id}: {meaning}")
    mask = np.zeros(game.num_actions(settings), dtype=np.int8)
    if s.over == RUNNING and loops.legal(game.calls, states, 0, mask) == 0:
        raise CorruptDataError(f"seat {s.seat} is asked in phase {s.phase}, but no action is legal in {game.spec.id}")


def _header_faults(game: Game, s: Any) -> list[str]:
    wrong = []
    known = s.over in (RUNNING, OVER_RULES, OVER_CAP) and 0 <= s.decisions <= s.max_decisions
    if not known or not -1 <= s.seat < s.num_players or (s.seat == NOBODY) != (s.over != RUNNING):
        wrong.append(f"seat {s.seat}, over {s.over} and decision {s.decisions} do not fit together")
    if int(s.phase) not in set(game.modules["state"].Phase):
        wrong.append(f"there is no phase {s.phase}")
    if not 0 <= s.key < KEY_LIMIT or s.draws.min() < 0:
        wrong.append(f"key {s.key} and draws {s.draws.tolist()} count no chance")
    # compared by their bytes, equal positions must not differ where nothing is stored
    if s.num_events < 0 or s.events[max(int(s.num_events), 0) :].any():
        wrong.append(f"{s.num_events} events are not {s.events.tolist()}")
    if any(np.any(s[name]) for name in _PADS if name in s.dtype.names):
        wrong.append("there is something between the fields")
    return wrong


def _restore(game: Game, settings: Settings, data: bytes) -> Position:
    return Position(game, settings, record.from_bytes(game.dtype, data))
