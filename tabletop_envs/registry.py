"""Finds games: the folders of `tabletop_envs.games`, and outside packages by entry point; fills other registries.

An outside package names its declaration in its own metadata:

    [project.entry-points."tabletop_envs.games"]
    noughts = "my_package.noughts:GAME"
"""

from __future__ import annotations

import difflib
import pkgutil
import re
import warnings
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Final

from tabletop_envs.core.spec import GameSpec
from tabletop_envs.errors import GameDefinitionError, UnknownGameError

if TYPE_CHECKING:
    from tabletop_envs.core.game import Game

ENTRY_POINTS: Final = "tabletop_envs.games"
_ID: Final = re.compile(r"(?:tabletop/)?([a-z][a-z0-9_]*?)(?:[-_]v(\d+))?")


@cache
def games() -> dict[str, GameSpec]:
    """Every game by id (without version), ours first; a broken outside game is left out with a warning."""
    folder = import_module("tabletop_envs.games")
    found: dict[str, GameSpec] = {}
    for module in pkgutil.iter_modules(folder.__path__):
        spec = import_module(f"{folder.__name__}.{module.name}").GAME
        found[spec.id] = spec
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            spec = entry.load()
        except Exception as error:
            warnings.warn(f"the game {entry.name!r} ({entry.value}) cannot be imported: {error!r}", stacklevel=2)
            continue
        if not isinstance(spec, GameSpec) or spec.id in found:
            reason = f"id {spec.id!r} is taken" if isinstance(spec, GameSpec) else "it is no GameSpec"
            warnings.warn(f"the game {entry.name!r} ({entry.value}) is left out: {reason}", stacklevel=2)
            continue
        found[spec.id] = spec
    return found


def add(spec: GameSpec) -> None:
    """Make a game known to this process alone: for notebooks, and to test a game before its package is installed.

    Raises GameDefinitionError when another game has the id.
    """
    if games().setdefault(spec.id, spec) != spec:
        raise GameDefinitionError(f"the id {spec.id!r} is taken by {games()[spec.id].package}: choose another one")
    fill_pettingzoo()
    fill_gymnasium()


def spec(game_id: str) -> GameSpec:
    """The declaration behind `urbino`, `urbino-v0`, `urbino_v0` or `tabletop/urbino-v0`.

    Raises UnknownGameError with the nearest id.
    """
    known = games()
    match = _ID.fullmatch(game_id) if isinstance(game_id, str) else None
    if match and match[1] in known:
        found = known[match[1]]
        if match[2] is None or int(match[2]) == found.version:
            return found
        raise UnknownGameError(f"{match[1]} has version {found.version}, not {match[2]}: use {found.env_id!r}")
    near = difflib.get_close_matches(match[1] if match else str(game_id), known, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UnknownGameError(f"no game {game_id!r}: there are {', '.join(known)}{hint}")


_loaded: dict[str, Game] = {}


def load(game_id: str) -> Game:
    """The game, compiled and bound once per process. Raises UnknownGameError."""
    from tabletop_envs.core.game import Game

    wanted = spec(game_id)
    game = _loaded.get(wanted.id)
    if game is None or game.spec != wanted:  # another game may have been added under an id that was given up
        game = _loaded[wanted.id] = Game(wanted)
    return game


def fill_pettingzoo() -> None:
    """Register every game as `tabletop/<game>-vN`, as AEC environment and as turn-based parallel view, where PettingZoo
    has a registry (1.27 and later)."""
    import pettingzoo

    if not hasattr(pettingzoo, "register"):
        return
    kinds = (
        ("aec", pettingzoo.aec_registry, "tabletop_envs.envs.aec:env"),
        ("parallel", pettingzoo.parallel_registry, "tabletop_envs.envs.parallel:turn_based_parallel"),
    )
    for known in games().values():
        for kind, registered, entry_point in kinds:
            if known.env_id not in registered:
                pettingzoo.register(kind, known.env_id, entry_point=entry_point, kwargs={"game": known.id})


def gymnasium_id(spec: GameSpec) -> str:
    """The id of a game in Gymnasium's registry: its title in one word, `tabletop/TwoMoves-v0`."""
    title = "".join(word[:1].upper() + word[1:] for word in re.findall(r"\w+", spec.title))
    return f"tabletop/{title}-v{spec.version}"


def fill_gymnasium() -> None:
    """Register every game as `tabletop/<Title>-vN`, one learning seat, for `gymnasium.make` and `make_vec`."""
    import gymnasium

    for known in games().values():
        name = gymnasium_id(known)
        taken = gymnasium.registry.get(name)
        if taken is not None and taken.kwargs.get("game") != known.id:
            warnings.warn(f"Gymnasium's id {name!r} is taken: {known.id!r} needs another title", stacklevel=2)
        if taken is None:
            gymnasium.register(
                name,
                entry_point="tabletop_envs.envs.solo:TabletopSolo",
                vector_entry_point="tabletop_envs.envs.gym_vector:TabletopGymVector",
                kwargs={"game": known.id},
            )
