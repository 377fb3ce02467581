"""What a game declares about itself: id, version, players, options, caps. Loads no compiled code.

An option has a name, a default and the clause of RULES.md that it switches. Its value stands in the record under its
name, so that the compiled rules read `s.<name>`.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tabletop_envs.core.checks import is_whole
from tabletop_envs.errors import OptionError

UNLIMITED: Final = 2**31 - 1  # the upper end of a whole number without one


@dataclass(frozen=True)
class Option:
    """The base of all kinds of option.

    name: the keyword and the record field; clause: of RULES.md; summary: one line for tables and help texts; players:
    the numbers of players with which alone it may be changed (none named: with all).
    """

    name: str
    clause: str
    summary: str
    players: tuple[int, ...] = field(default=(), kw_only=True)

    dtype: Any = field(default=np.int8, init=False, repr=False)
    shape: tuple[int, ...] = field(default=(), init=False, repr=False)

    @property
    def default(self) -> Any:
        """The value that stands when nothing is said."""
        raise NotImplementedError

    @property
    def values(self) -> str:
        """The legal values in words."""
        raise NotImplementedError

    def encode(self, value: Any) -> Any:
        """The number (or vector) in the record for a value; raises OptionError for a value that is none."""
        raise NotImplementedError

    def decode(self, stored: Any) -> Any:
        """The value of a record's number (or vector): plain Python, fit for JSON."""
        raise NotImplementedError

    def fits(self, num_players: int) -> bool:
        """Whether it may be changed with so many players."""
        return not self.players or num_players in self.players

    def _refuse(self, value: Any) -> OptionError:
        return OptionError(f"option {self.name}={value!r} is not possible: give {self.values} ({self.clause})")


@dataclass(frozen=True)
class Flag(Option):
    """On or off."""

    initial: bool = False

    @property
    def default(self) -> bool:
        return self.initial

    @property
    def values(self) -> str:
        return "True or False"

    def encode(self, value: Any) -> int:
        if not isinstance(value, (bool, np.bool_)) and not (isinstance(value, int) and value in (0, 1)):
            raise self._refuse(value)
        return int(value)

    def decode(self, stored: Any) -> bool:
        return bool(stored)


@dataclass(frozen=True)
class Integer(Option):
    """A whole number from `low` to `high`, by default to `UNLIMITED`, the largest that a record holds."""

    initial: int = 0
    low: int = 0
    high: int = UNLIMITED

    dtype: Any = field(default=np.int32, init=False, repr=False)

    @property
    def default(self) -> int:
        return self.initial

    @property
    def values(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def encode(self, value: Any) -> int:
        if not is_whole(value, self.low, self.high):
            raise self._refuse(value)
        return int(value)

    def decode(self, stored: Any) -> int:
        return int(stored)


@dataclass(frozen=True)
class Choice(Option):
    """One of several named values; the first is the default. Stored as the index of the name."""

    names: tuple[str, ...] = ()

    @property
    def default(self) -> str:
        return self.names[0]

    @property
    def values(self) -> str:
        return "one of " + ", ".join(map(repr, self.names))

    def encode(self, value: Any) -> int:
        if value not in self.names:
            raise self._refuse(value)
        return self.names.index(value)

    def decode(self, stored: Any) -> str:
        return self.names[int(stored)]


@dataclass(frozen=True)
class Subset(Option):
    """Any of several named things; none by default. Stored as bits in the order of the names."""

    names: tuple[str, ...] = ()

    dtype: Any = field(default=np.int32, init=False, repr=False)

    @property
    def default(self) -> tuple[str, ...]:
        return ()

    @property
    def values(self) -> str:
        return "a collection of " + ", ".join(map(repr, self.names))

    def encode(self, value: Any) -> int:
        members = [part for part in value.split(",") if part] if isinstance(value, str) else value
        try:
            chosen = set(members)
        except TypeError:
            raise self._refuse(value) from None
        if not chosen <= set(self.names):
            raise self._refuse(value)
        return sum(1 << index for index, name in enumerate(self.names) if name in chosen)

    def decode(self, stored: Any) -> tuple[str, ...]:
        return tuple(name for index, name in enumerate(self.names) if int(stored) >> index & 1)


@dataclass(frozen=True)
class Counts(Option):
    """How many there are of each of several named things, with a total from `low` to `high`. Stored as a vector."""

    names: tuple[str, ...] = ()
    initial: tuple[int, ...] = ()
    low: int = 0
    high: int = 2**15 - 1

    dtype: Any = field(default=np.int16, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", (len(self.names),))

    @property
    def default(self) -> dict[str, int]:
        return dict(zip(self.names, self.initial, strict=True))

    @property
    def values(self) -> str:
        names = ", ".join(self.names)
        return f"{len(self.names)} counts ({names}), whole numbers, in all {self.low} to {self.high}"

    def encode(self, value: Any) -> np.ndarray:
        if isinstance(value, Mapping):
            if not set(value) <= set(self.names):
                raise self._refuse(value)
            value = [value.get(name, 0) for name in self.names]
        if isinstance(value, (str, bytes, Set)):  # "12" is no pair of counts, and a set has no order
            raise self._refuse(value)
        try:
            parts = list(value)
        except TypeError:
            raise self._refuse(value) from None
        if not all(is_whole(part) for part in parts):
            raise self._refuse(value)
        counts = [int(part) for part in parts]
        if len(counts) != len(self.names) or min(counts) < 0 or not self.low <= sum(counts) <= self.high:
            raise self._refuse(value)
        return np.array(counts, dtype=np.int16)

    def decode(self, stored: Any) -> dict[str, int]:
        return {name: int(count) for name, count in zip(self.names, stored, strict=True)}


@dataclass(frozen=True)
class GameSpec:
    """The declaration of a game; `GAME` in the game folder's `__init__.py`.

    id: lower case with underscores; version: raised whenever trajectories, layouts or rewards change;
    max_decisions: the cap per number of players; score_scale: the margin of points that `reward="score"` counts as
    a full win; auto_forced: whether single-option decisions are made without asking, by default;
    opening_decisions: how many first decisions an arena draws at random in a game without chance (0: it has chance);
    playout: which built-in policy plays on behind a search's tree; playout_decisions: after how many decisions it is
    stopped and scored as it stands (-1: only at its end);
    package: the folder's module name.
    """

    id: str
    version: int
    title: str
    summary: str
    package: str
    min_players: int
    max_players: int
    max_decisions: Mapping[int, int]
    score_scale: int
    auto_forced: bool = True
    opening_decisions: int = 0
    playout: str = "random"
    playout_decisions: int = -1
    options: tuple[Option, ...] = ()

    @property
    def name(self) -> str:
        """Id with version, as PettingZoo's metadata has it: `urbino_v0`."""
        return f"{self.id}_v{self.version}"

    @property
    def env_id(self) -> str:
        """The id in the registries: `tabletop/urbino-v0`."""
        return f"tabletop/{self.id}-v{self.version}"

    def settings(self, num_players: int | None = None, **options: Any) -> Settings:
        """Check a number of players and options (the defaults filled in).

        Raises OptionError for a number of players or an option that the game does not have, or not together.
        """
        players = self.min_players if num_players is None else num_players
        if not is_whole(players, self.min_players, self.max_players):
            span = f"{self.min_players} to {self.max_players}"
            wanted = str(self.min_players) if self.min_players == self.max_players else span
            raise OptionError(f"{self.title} takes {wanted} players, not {num_players!r}: set num_players={wanted}")
        known = {option.name: option for option in self.all_options(int(players))}
        for name in options:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise OptionError(f"{self.title} has no option {name!r}: it has {', '.join(known)}{hint}")
        values = {
            name: option.decode(option.encode(options.get(name, option.default))) for name, option in known.items()
        }
        for name, option in known.items():
            if values[name] != option.default and not option.fits(int(players)):
                fitting = " or ".join(map(str, option.players))
                raise OptionError(
                    f"option {name}={values[name]!r} is for {fitting} players, not {players}: set "
                    f"num_players={option.players[0]}, or leave it at {option.default!r} ({option.clause})"
                )
        return Settings(self, int(players), values)

    def all_options(self, num_players: int) -> tuple[Option, ...]:
        """The game's own options and the two that every game has."""
        cap = self.max_decisions[num_players]
        return (
            *self.options,
            Flag("auto_forced", "machinery", "decisions with one legal option are made unasked", self.auto_forced),
            Integer("max_decisions", "machinery", "the game is scored as it stands at this cap", cap, 1, cap),
        )


@dataclass(frozen=True)
class Settings:
    """A checked choice of players and options. `values` maps every option's name to its value."""

    spec: GameSpec
    num_players: int
    values: Mapping[str, Any]

    def encoded(self) -> dict[str, Any]:
        """Record field -> stored number, the number of players included."""
        options = self.spec.all_options(self.num_players)
        stored = {option.name: option.encode(self.values[option.name]) for option in options}
        return {"num_players": self.num_players, **stored}

    def changed(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        options = self.spec.all_options(self.num_players)
        return {o.name: self.values[o.name] for o in options if self.values[o.name] != o.default}

    def __hash__(self) -> int:
        return hash((self.spec.id, self.spec.version, self.num_players, repr(self.values)))
