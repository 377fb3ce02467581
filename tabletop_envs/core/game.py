"""The contract of a game, and `Game`: a declaration bound to its compiled functions.

A game is a folder. Its `__init__.py` declares `GAME`; the other files hold, under fixed names, what follows. `s` is a
record (`state.DTYPE`: header, options, fields); `mask`, `out`, `points` and `places` belong to the caller.

| function | file | does |
| --- | --- | --- |
| `setup(s)` | rules | deals: from a zeroed record with header and options filled to the first step of the game |
| `legal(s, mask)` | rules | writes 0/1 (int8) for the seat to act, every entry; returns how many are legal |
| `apply(s, action)` | rules | asserts its preconditions (never by calling `legal`) and executes one decision |
| `advance(s)` | rules | one automatic step (chance, skip, round, end), while `seat` is NOBODY |
| `score(s, points, places)` | rules | final or running points and places of each seat (1 = first, ties share), int32 |
| `observe(s, seat, out)` | view | the float32 observation in [0, 1] of any seat at any time, every entry |
| `determinize(s, seat, salt)` | view | keeps the seat's observation and mask, re-deals the rest, re-keys chance |
| `check(s)` | state | 0, or a positive code of the broken invariant |
| `greedy(s, mask, salt)` | bot | the baseline's choice among the mask's actions; knows only what the seat may know |

`legal` finds at least one action unless the game is over. A game ends by setting `over` and `seat = NOBODY`. A phase
of several small decisions is several calls of `apply`; a seat may act several times in a row, or in another's turn.
`apply` leaves `seat = NOBODY` when something automatic comes next, so that tests can stop between the steps. Events
(`header.report`) are told to every viewer: never report what some seat may not know.

Besides: `state.FIELDS` (the record's fields), `state.Phase` (an IntEnum), `state.INVARIANTS` (code -> words),
`actions.ACTIONS` and `view.OBSERVATIONS` (layouts; a block of actions that the other seats do not learn of when one
is made says `secret=True`), and in plain Python:

* scene: `scene(s, viewer)`, the position for a viewer as a `render.scene.Scene`: a picture, and the same facts as rows
  of characters and as sentences for a terminal, the texts of all events among the sentences. It shows no viewer what
  that one may not know, changes nothing, and can draw any position, also between automatic steps and at the cap;
* notation: `action_text(action)`, `parse_action(text)`, `event_text(kind, seat, value)`, `describe(s, viewer)` (JSON
  facts for a viewer: a seat, PUBLIC or ALL), `restore(facts, s)` (a record from the facts for ALL, written into s),
  `position_text(s, viewer)`, `parse_position(text, s)`;
* cases, for `tabletop_envs.casebook`: `is_manual(case)` (only a reader can judge it), `settings(case)` (number of
  players, options), `arrange(case, s)` (the set-up into a record with header and options filled),
  `entry_action(entry, s)` (an entry's action, a list of actions to be made one after another, or a dict of
  expectations that must hold at that point of the case), `differences(expected, position)` (what of the expectations
  does not hold in a `Position`, a line each; a key that is not known is a difference); where needed
  `expectation(case)` (else `case["expect"]`) and `stop_after(case)` (true: the automatic steps behind the last entry
  are left out).

The machinery's step is: `apply`, then `advance` while nobody is asked, then `legal`, and again while exactly one
action is legal and `auto_forced` is on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any, Final

import numpy as np

from tabletop_envs.core import jit, record
from tabletop_envs.core.layout import ActionLayout, ObservationLayout
from tabletop_envs.core.spec import GameSpec, Settings
from tabletop_envs.errors import GameDefinitionError

# name -> (file, returns, arguments behind the record); the order is that of `Game.calls`, which ends before
# those in LATE: play does without them, so they are compiled when first asked for.
CONTRACT: Final[dict[str, tuple[str, str, tuple[str, ...]]]] = {
    "setup": ("rules", "none", ()),
    "legal": ("rules", "int", ("mask",)),
    "apply": ("rules", "none", ("int",)),
    "advance": ("rules", "none", ()),
    "score": ("rules", "none", ("ints", "ints")),
    "observe": ("view", "none", ("int", "floats")),
    "determinize": ("view", "none", ("int", "int")),
    "greedy": ("bot", "int", ("mask", "int")),
    "check": ("state", "int", ()),
}
LATE: Final = ("greedy", "check")
FILES: Final = ("tables", "state", "actions", "rules", "view", "notation", "scene", "cases", "bot")

PUBLIC: Final = -1
ALL: Final = -2


class Game:
    """A game ready to run. Machinery knows games through this class alone.

    spec: the declaration; dtype: of the records; actions, observations: the layouts; functions: those of the
    contract, by name.

    Raises GameDefinitionError for a folder that does not keep the contract.
    """

    def __init__(self, spec: GameSpec) -> None:
        self.spec = spec
        self.exchanged: tuple[str, ...] = ()
        self.modules: dict[str, ModuleType] = {}
        for name in FILES:
            try:
                self.modules[name] = import_module(f"{spec.package}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{spec.package}.{name}":
                    raise
                raise GameDefinitionError(f"{spec.id}: the folder {spec.package} has no file {name}.py") from None
        self.dtype: np.dtype = self._part("state", "DTYPE")
        self.actions: ActionLayout = self._part("actions", "ACTIONS")
        self.observations: ObservationLayout = self._part("view", "OBSERVATIONS")
        self.functions: dict[str, Callable[..., Any]] = {
            name: self._part(file, name) for name, (file, _, _) in CONTRACT.items()
        }

    def _bind(self, name: str) -> Any:
        _, returns, arguments = CONTRACT[name]
        return jit.bind(self.functions[name], returns, (jit.record_type(self.dtype), *arguments))

    @cached_property
    def calls(self) -> Any:
        """What the loops take: addresses, or the functions themselves with the JIT off."""
        bound = [self._bind(name) for name in CONTRACT if name not in LATE]
        return np.array(bound, dtype=np.int64) if jit.COMPILED else tuple(bound)

    @cached_property
    def check_call(self) -> Any:
        """What `loops.check` takes; compiled when first asked for."""
        return self._bind("check")

    @cached_property
    def greedy_call(self) -> Any:
        """What `loops.greedy`, `loops.play_out` and `loops.answer_batch` take; compiled when first asked for."""
        return self._bind("greedy")

    def _part(self, file: str, name: str) -> Any:
        try:
            return getattr(self.modules[file], name)
        except AttributeError:
            raise GameDefinitionError(f"{self.spec.id}: {file}.py does not define {name}") from None

    def num_actions(self, settings: Settings) -> int:
        """The size of the action space, the same for every number of players."""
        return self.actions.size(settings.values)

    def settings(self, num_players: int | None = None, **options: Any) -> Settings:
        """See `GameSpec.settings`."""
        return self.spec.settings(num_players, **options)

    def observation_size(self, settings: Settings) -> int:
        """The length of the observation vector."""
        return self.observations.size(settings.values)

    def template(self, settings: Settings) -> np.ndarray:
        """One zeroed record, shape (1,), ready for a key and `setup`."""
        return record.template(self.dtype, settings)

    def with_functions(self, **functions: Callable[..., Any]) -> Game:
        """The same game with some functions of the contract exchanged, to try out a rule or a baseline.

        It is known to this process alone and cannot be pickled, nor can positions and environments of it.
        """
        twin = object.__new__(Game)
        bound = ("calls", "greedy_call", "check_call")
        twin.__dict__.update({name: value for name, value in self.__dict__.items() if name not in bound})
        twin.functions = {**self.functions, **functions}
        twin.exchanged = tuple(functions)
        return twin

    def __repr__(self) -> str:
        return f"<Game {self.spec.env_id}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.exchanged:
            raise TypeError(
                f"{self.spec.id} with other functions ({', '.join(self.exchanged)}) cannot be pickled: it would come "
                "back with its own; register a game folder instead"
            )
        # addresses belong to one process: another one binds the game anew
        from tabletop_envs import registry

        return registry.load, (self.spec.env_id,)
