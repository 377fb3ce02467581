"""What the checks of the suite run on: a game, a grid of settings, and reproducible games through them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import numpy as np

from tabletop_envs.core import jit
from tabletop_envs.core.game import Game
from tabletop_envs.core.position import Position
from tabletop_envs.core.random import POLICY, word
from tabletop_envs.core.record import HIDDEN, OWNER, Field
from tabletop_envs.core.spec import UNLIMITED, Choice, Counts, Flag, GameSpec, Integer, Option, Settings, Subset

RANDOM: Final = "random"
GREEDY: Final = "greedy"
MIXED: Final = "mixed"

_GAMES_QUICK: Final = 2
_GAMES_FULL: Final = 6
# about how many positions the dear checks look at: of a game, and in all
_POSITIONS_QUICK: Final = (20, 320)
_POSITIONS_FULL: Final = (60, 3000)
_POSITIONS_OFF: Final = (6, 24)
_POSITIONS_LEAST: Final = 4  # of a game, in whatever number of games
LONG: Final = 1000  # decisions after which most walks of a long game are stopped
Effort = TypeVar("Effort", int, tuple[int, int])
_GUARD: Final = 16  # entries around a buffer that a game is to leave alone


@dataclass(frozen=True)
class Subject:
    """A game under test.

    quick: options and numbers of players take turns instead of meeting each other; games_asked: how many games a
    check plays with each settings (None: as many as `quick` and the mode of the JIT suggest); golden: the folder
    with `golden.json` and `playthroughs`, or None.
    """

    game: Game
    quick: bool = False
    games_asked: int | None = None
    golden: Path | None = None

    @cached_property
    def grid(self) -> tuple[Settings, ...]:
        """The settings to run with; few with the JIT off, as plain Python is hundreds of times slower.

        All but the first are stopped after `LONG` decisions: a game that can last for thousands would be walked for
        hours, and its later decisions are like those before.
        """
        first, *others = self.whole_grid
        return first, *(shortened(settings, LONG) for settings in others)

    @cached_property
    def whole_grid(self) -> tuple[Settings, ...]:
        """The settings of `grid`, none of them stopped."""
        if not jit.COMPILED:
            return small_grid(self.game.spec)
        return quick_grid(self.game.spec) if self.quick else full_grid(self.game.spec)

    @property
    def games(self) -> int:
        """How many games a check plays with each settings."""
        return self.games_asked or _by_effort(self.quick, _GAMES_QUICK, _GAMES_FULL, 1)

    @property
    def positions(self) -> int:
        """About how many positions of a game the dear checks look at."""
        most, total = _by_effort(self.quick, _POSITIONS_QUICK, _POSITIONS_FULL, _POSITIONS_OFF)
        return max(_POSITIONS_LEAST, min(most, total // (len(self.grid) * self.games)))

    @cached_property
    def _lengths(self) -> list[int]:
        """How many positions each of the games has; a cap may lie far above it."""
        return [_length(game) for game in self.walks()]

    def walks(self, whole: bool = False) -> Iterator[Iterator[Position]]:
        """Every game of every settings, or of those that stop none."""
        for settings in self.whole_grid if whole else self.grid:
            for seed in range(self.games):
                yield walk(self.game, settings, seed)

    def some_positions(self) -> Iterator[Position]:
        """About `positions` of each game, another choice in each, the ends included.

        They move on with the game: clone what is to stay.
        """
        for number, game in enumerate(self.walks()):
            stride = max(1, -(-self._lengths[number] // self.positions))
            for position in game:
                if position.over or position.decisions % stride == number % stride:
                    yield position

    @property
    def fields(self) -> tuple[Field, ...]:
        """The record's fields."""
        return tuple(self.game.modules["state"].FIELDS)

    @property
    def secrets(self) -> tuple[Field, ...]:
        """The fields that not every seat may know."""
        return tuple(field for field in self.fields if field.sees in (HIDDEN, OWNER))

    def secrets_in(self, position: Position) -> tuple[Field, ...]:
        """The secrets that are kept in a position: not what its options open, nor behind screens when it is over."""
        options = position.settings.values
        closed = [field for field in self.secrets if field.opened_by is None or not options[field.opened_by]]
        return tuple(field for field in closed if not (field.screened and position.over))


def _length(game: Iterator[Position]) -> int:
    length = 0
    try:
        for _ in game:
            length += 1
    except Exception:
        pass  # whoever looks at the positions will meet the fault, and tell where
    return length


def _by_effort(is_quick: bool, quick: Effort, full: Effort, off: Effort) -> Effort:
    if not jit.COMPILED:
        return off
    return quick if is_quick else full


# --- settings ---------------------------------------------------------------------------------------------------


def other_values(option: Option) -> list[Any]:
    """Values of an option that differ from its default: its names; its ends, for an open end twice the default."""
    if isinstance(option, Flag):
        return [not option.default]
    if isinstance(option, Integer):
        # where there is no limit, the largest number would make games of no sensible length
        values: list[Any] = [option.low, option.high if option.high < UNLIMITED else 2 * max(option.default, 1)]
    elif isinstance(option, Choice):
        values = list(option.names)
    elif isinstance(option, Subset):
        values = [(name,) for name in option.names] + [option.names]
    elif isinstance(option, Counts):
        names = option.names
        evenly = [option.low // len(names) + (number < option.low % len(names)) for number in range(len(names))]
        at_once = [0] * (len(names) - 1) + [option.high]
        values = [dict(zip(names, counts, strict=True)) for counts in (evenly, at_once)]
    else:
        raise TypeError(f"{type(option).__name__} is no kind of option")
    return [value for number, value in enumerate(values) if value != option.default and value not in values[:number]]


def _changes(spec: GameSpec) -> list[tuple[Option, Any]]:
    # the cap is left to the check of caps
    options = [option for option in spec.all_options(spec.min_players) if option.name != "max_decisions"]
    return [(option, value) for option in options for value in other_values(option)]


def _variations(spec: GameSpec, num_players: int) -> list[dict[str, Any]]:
    return [{option.name: value} for option, value in _changes(spec) if option.fits(num_players)]


def _everything(spec: GameSpec, num_players: int) -> Settings:
    changed: dict[str, Any] = {}
    for variation in _variations(spec, num_players):
        changed |= variation
    return spec.settings(num_players, **changed)


def full_grid(spec: GameSpec) -> tuple[Settings, ...]:
    """For every number of players: the defaults, every other value of one option alone, everything changed."""
    grid = []
    for players in range(spec.min_players, spec.max_players + 1):
        grid.append(spec.settings(players))
        grid += [spec.settings(players, **variation) for variation in _variations(spec, players)]
        grid.append(_everything(spec, players))
    return tuple(grid)


def quick_grid(spec: GameSpec) -> tuple[Settings, ...]:
    """The defaults for every number of players, every other value once with one of them, everything changed."""
    counts = range(spec.min_players, spec.max_players + 1)
    grid = [spec.settings(players) for players in counts]
    for number, (option, value) in enumerate(_changes(spec)):
        fitting = [players for players in counts if option.fits(players)]
        grid.append(spec.settings(fitting[number % len(fitting)], **{option.name: value}))
    return (*grid, _everything(spec, spec.max_players))


def small_grid(spec: GameSpec) -> tuple[Settings, ...]:
    """The defaults for the least players, everything changed for the most."""
    return spec.settings(spec.min_players), _everything(spec, spec.max_players)


def shortened(settings: Settings, decisions: int) -> Settings:
    """The settings with a cap of so many decisions, unless theirs is lower."""
    if settings.values["max_decisions"] <= decisions:
        return settings
    return settings.spec.settings(settings.num_players, **{**settings.values, "max_decisions": decisions})


def label(settings: Settings) -> str:
    """Settings in words: `2 players, monuments=True`."""
    changed = [f"{name}={value!r}" for name, value in settings.changed().items()]
    return ", ".join([f"{settings.num_players} players", *changed])


# --- games ------------------------------------------------------------------------------------------------------


def walk(game: Game, settings: Settings, seed: int, style: str | None = None) -> Iterator[Position]:
    """Every position of a game before each decision and at its end: one object that moves on.

    style: `RANDOM`, `GREEDY` or `MIXED`; by default even seeds play at random, odd ones mixed.
    """
    position = Position.new(game, settings.num_players, seed=seed, **settings.values)
    while True:
        yield position
        if position.over:
            return
        position.apply(pick(position, seed, style))


def pick(position: Position, salt: int, style: str | None = None) -> int:
    """The action that a walk with this seed takes; it follows from position, salt and style alone."""
    style = style or (MIXED if salt % 2 else RANDOM)
    drawn = int(word(salt, POLICY, position.decisions))
    legal = position.legal_actions()
    if style == GREEDY or (style == MIXED and drawn & 1):
        action = position.greedy_action(drawn)
        if position.action_mask()[action]:  # what the baseline must do is a check of its own
            return action
    return int(legal[(drawn * len(legal)) >> 32])


def reach(game: Game, settings: Settings, seed: int, decisions: int) -> Position:
    """The position of a walk at this number of decisions: what the failure of a check tells of."""
    return next(position for position in walk(game, settings, seed) if position.decisions == decisions or position.over)


def where(position: Position) -> str:
    """Which position of which walk this is, in words."""
    step = "the end" if position.over else f"seat {position.seat}, {position.phase}"
    name = position.game.spec.id
    return f"{name}, {label(position.settings)}, seed {position.seed}, decision {position.decisions} ({step})"


def fail(place: Position | Settings | str, what: str) -> NoReturn:
    """Raise AssertionError with place and reason."""
    if isinstance(place, Position):
        place = where(place)
    elif isinstance(place, Settings):
        place = f"{place.spec.id}, {label(place)}"
    raise AssertionError(f"{place}: {what}")


def guarded(size: int, dtype: Any, poison: float) -> tuple[np.ndarray, np.ndarray]:
    """A buffer filled with poison, and a larger one around it, in which a write beyond the ends would show."""
    around = np.full(size + 2 * _GUARD, poison, dtype=dtype)
    return around[_GUARD : _GUARD + size], around


def guard_kept(around: np.ndarray, poison: float) -> bool:
    """Whether nothing was written beyond the ends of a guarded buffer."""
    edges = np.concatenate([around[:_GUARD], around[-_GUARD:]])
    return bool(np.array_equal(edges, np.full_like(edges, poison), equal_nan=edges.dtype.kind == "f"))
