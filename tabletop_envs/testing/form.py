"""Checks of what a game declares: id, players, options, layouts, the form of the record, the doc page."""

from __future__ import annotations

import inspect
import re
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from tabletop_envs.core.game import Game
from tabletop_envs.core.header import HEADER
from tabletop_envs.core.record import OWNER, Field
from tabletop_envs.core.spec import GameSpec, Option
from tabletop_envs.envs.aec import TabletopAEC
from tabletop_envs.testing.subject import Subject, fail

# what the contract asks of a folder in plain Python; `Game` itself refuses one without the compiled functions
_PLAIN: Final = {
    "notation": (
        "action_text",
        "parse_action",
        "event_text",
        "describe",
        "restore",
        "position_text",
        "parse_position",
    ),
    "cases": ("is_manual", "settings", "arrange", "entry_action", "differences"),
}
_CLAUSE: Final = re.compile(r"R\d+(?:\.\d+)*")


def declaration(subject: Subject) -> str:
    """GAME is well formed; every cited clause stands in RULES.md."""
    game, spec = subject.game, subject.game.spec
    if not re.fullmatch(r"[a-z][a-z0-9_]*", spec.id):
        fail(spec.id, "an id is lower case with underscores")
    if spec.version < 0 or not spec.title or not spec.summary or spec.score_scale <= 0 or spec.opening_decisions < 0:
        fail(spec.id, "version, title, summary, score_scale or opening_decisions is missing or negative")
    if not 2 <= spec.min_players <= spec.max_players:
        fail(spec.id, f"{spec.min_players} to {spec.max_players} players are not possible")
    counts = range(spec.min_players, spec.max_players + 1)
    if sorted(spec.max_decisions) != list(counts) or min(spec.max_decisions.values()) < 1:
        fail(spec.id, f"max_decisions is {dict(spec.max_decisions)}, not a cap for each of {list(counts)} players")
    _options(spec)
    _contract(subject)
    _clauses(game)
    players = f"{spec.min_players} to {spec.max_players} players"
    return f"{players}, {len(spec.options)} options, {len(subject.fields)} fields"


def _options(spec: GameSpec) -> None:
    names = [option.name for option in spec.all_options(spec.min_players)]
    taken = set(names) & set(inspect.signature(TabletopAEC.__init__).parameters)
    if taken:
        fail(spec.id, f"options {sorted(taken)} are called like arguments of the environments: rename them")
    if len(set(names)) < len(names) or not all(name.isidentifier() for name in names):
        fail(spec.id, f"option names {names} are not different identifiers")
    for option in spec.options:
        if not all(spec.min_players <= players <= spec.max_players for players in option.players):
            fail(spec.id, f"option {option.name} is for {option.players} players, which the game does not take")


def _contract(subject: Subject) -> None:
    game, spec = subject.game, subject.game.spec
    phases, invariants = game.modules["state"].Phase, game.modules["state"].INVARIANTS
    if not issubclass(phases, IntEnum) or not all(0 <= phase <= np.iinfo(np.int8).max for phase in phases):
        fail(spec.id, "state.Phase is not an IntEnum of small numbers")
    if not invariants or any(code < 1 or not words for code, words in invariants.items()):
        fail(spec.id, "state.INVARIANTS does not give words to positive codes")
    for field in subject.fields:
        if field.sees == OWNER and field.shape[:1] != (spec.max_players,):
            fail(spec.id, f"field {field.name!r} is its owner's, so its first axis must be the seat")
    for file, names in _PLAIN.items():
        missing = [name for name in names if not callable(getattr(game.modules[file], name, None))]
        if missing:
            fail(spec.id, f"{file}.py does not define {', '.join(missing)}")


def _clauses(game: Game) -> None:
    path = Path(str(game.modules["rules"].__file__)).with_name("RULES.md")
    if not path.is_file():
        fail(game.spec.id, "the game's folder has no RULES.md")
    known = set(_CLAUSE.findall(path.read_text(encoding="utf-8")))
    cited = {f"option {option.name}": option.clause for option in game.spec.options}
    cited |= {f"block {block.name}": block.clause for block in (*game.actions.blocks, *game.observations.blocks)}
    for what, clause in cited.items():
        missing = set(_CLAUSE.findall(clause)) - known
        if missing:
            fail(game.spec.id, f"{what} cites {', '.join(sorted(missing))}, which RULES.md does not have")


def layouts(subject: Subject) -> str:
    """Spaces, sizes and offsets follow from the layouts; every action has one place in them."""
    game = subject.game
    offset = 0
    for block in game.actions.blocks:
        if game.actions.start(block.name) != offset:
            fail(
                game.spec.id,
                f"action block {block.name!r} starts at {game.actions.start(block.name)}, not {offset}",
            )
        offset += block.size
    for action in range(game.actions.full_size):
        name, index = game.actions.decode(action)
        if game.actions.encode(name, *index) != action:
            fail(game.spec.id, f"action {action} is decoded to {name}{index}, but {name}{index} is another action")
    for block in (*game.actions.blocks, *game.observations.blocks):
        if block.option is not None and block.option not in {option.name for option in game.spec.options}:
            fail(game.spec.id, f"block {block.name!r} belongs to {block.option!r}, which is no option")
    for settings in subject.grid:
        size = game.observation_size(settings)
        space = game.observations.space(settings.values)
        parts = game.observations.decode(np.arange(size, dtype=np.float32), settings.values)
        if space.shape != (size,) or space.dtype != np.float32 or sum(part.size for part in parts.values()) != size:
            fail(settings, f"space {space} and blocks do not agree on {size} numbers")
        actions = sum(block.size for block in game.actions.present(settings.values))
        if not game.num_actions(settings) == actions == game.actions.space(settings.values).n:
            fail(settings, f"{actions} actions in the blocks, {game.num_actions(settings)} in the space")
    return f"{game.actions.full_size} actions, {game.observations.full_size} numbers with every option"


def record_form(subject: Subject) -> str:
    """The record has no holes, begins with the header, and holds every option and field as declared."""
    game, dtype = subject.game, subject.game.dtype
    if dtype.type is not np.record:
        fail(game.spec.id, "the record's element type is not numpy.record: build it with record_dtype")
    fields: Any = dtype.fields
    offset = 0
    for name in dtype.names or ():
        part, start = fields[name][:2]
        if start != offset:
            fail(game.spec.id, f"there is a hole of {start - offset} bytes before field {name!r}")
        offset += part.itemsize
    if offset != dtype.itemsize:
        fail(game.spec.id, f"there is a hole of {dtype.itemsize - offset} bytes at the end of the record")
    header: Any = HEADER.fields
    for name in header:
        if fields.get(name, ())[:2] != header[name][:2]:
            fail(game.spec.id, f"header field {name!r} is not where the machinery looks for it")
    declarations: list[Option | Field] = [*game.spec.options, *subject.fields]
    for declared in declarations:
        column = dtype[declared.name]
        if column.base != np.dtype(declared.dtype) or column.shape != tuple(declared.shape):
            fail(game.spec.id, f"{declared.name!r} is {column} in the record, not as declared")
    for settings in subject.grid:
        states = game.template(settings)
        for name, value in settings.encoded().items():
            if not np.array_equal(states[name][0], value):
                fail(settings, f"the record says {name}={states[name][0]}")
    return f"{dtype.itemsize} bytes"


def documentation(subject: Subject) -> str:
    """The doc page, which is the docstring of the game's package, holds the tables that the layouts give."""
    page = inspect.getdoc(import_module(subject.game.spec.package)) or ""
    for name, layout in (("action", subject.game.actions), ("observation", subject.game.observations)):
        if layout.markdown() not in page:
            fail(
                subject.game.spec.id,
                f"its docstring lacks the {name} table, or has an old one: paste\n{layout.markdown()}",
            )
    return ""
