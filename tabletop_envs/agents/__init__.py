"""Who plays: agents by name, one protocol for all, policies answered in batches.

`make_agent("greedy", "urbino")` makes an agent. An outside package adds its own by naming a factory in its metadata:

    [project.entry-points."tabletop_envs.agents"]
    deep = "my_package.players:make"

`make(game, **arguments)` returns an `agents.base.Agent` or `BatchPolicy`; what stands behind a colon in the name
(`deep:weights.pt`) comes as the argument `argument`, a seed that was given as `seed`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tabletop_envs import registry
from tabletop_envs.errors import OptionError, UnknownAgentError

if TYPE_CHECKING:
    from tabletop_envs.agents.base import Agent
    from tabletop_envs.core.game import Game

ENTRY_POINTS: Final = "tabletop_envs.agents"


def _random(game: Game, **arguments: Any) -> Agent:
    from tabletop_envs.agents.random import RandomAgent

    return RandomAgent(**arguments)


def _greedy(game: Game, **arguments: Any) -> Agent:
    from tabletop_envs.agents.greedy import GreedyAgent

    return GreedyAgent(**arguments)


def _human(game: Game, seed: int = 0, **arguments: Any) -> Agent:
    from tabletop_envs.agents.human import HumanAgent

    return HumanAgent(**arguments)


def _mcts(game: Game, argument: str | None = None, **arguments: Any) -> Agent:
    from tabletop_envs.agents.mcts import MctsAgent

    if argument is not None:
        if not argument.isdecimal():
            raise UnknownAgentError(f"'mcts:{argument}' is no search: write mcts:1000 for 1000 simulations a decision")
        arguments["simulations"] = int(argument)
    return MctsAgent(game, **arguments)


def _ppo(game: Game, **arguments: Any) -> Agent:
    from tabletop_envs.agents.ppo import PpoAgent

    return PpoAgent(game, **arguments)


def _sb3(game: Game, **arguments: Any) -> Agent:
    from tabletop_envs.agents.sb3 import load_agent

    return load_agent(game, **arguments)


# name -> factory; those of the second table may have an argument behind a colon, those of the third need one
_PLAIN: Final[dict[str, Callable[..., Any]]] = {"random": _random, "greedy": _greedy, "human": _human}
_MAY_HAVE_ARGUMENT: Final[dict[str, Callable[..., Any]]] = {"mcts": _mcts, "ppo": _ppo}
_WITH_ARGUMENT: Final[dict[str, Callable[..., Any]]] = {"sb3": _sb3}
_ARGUMENTS: Final = {"mcts": "SIMULATIONS", "ppo": "FILE", "sb3": "PATH"}


def _outside() -> dict[str, EntryPoint]:
    ours = {*_PLAIN, *_MAY_HAVE_ARGUMENT, *_WITH_ARGUMENT}
    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS) if entry.name not in ours}


def list_agents() -> list[str]:
    """The names that `make_agent` takes, outside packages included."""
    return [
        *_PLAIN,
        *(f"{name}[:{_ARGUMENTS[name]}]" for name in _MAY_HAVE_ARGUMENT),
        *(f"{name}:{_ARGUMENTS[name]}" for name in _WITH_ARGUMENT),
        *_outside(),
    ]


def make_agent(name: str, /, game: Game | str, *, seed: int | None = None, **arguments: Any) -> Agent:
    """An agent for a game.

    name: `random`, `greedy`, `human`, `mcts:SIMULATIONS` (a decision; 1000 if left out), `ppo` (the shipped policy) or
    `ppo:FILE` (one that `tabletop-envs export` wrote), `sb3:PATH` (a run folder of `tabletop-envs train`, or a
    MaskablePPO checkpoint), an existing run folder alone, or an outside agent's name; game: id or Game; seed: of the
    agent's own chance until a game begins (`agents.base.begin`) with another; arguments: those of the agent.

    Raises UnknownAgentError, UnknownGameError, and OptionError for arguments that the agent does not take.
    """
    loaded = registry.load(game) if isinstance(game, str) else game
    factory, argument = _factory(name)
    if argument is not None:
        arguments["argument"] = argument
    if seed is not None:
        arguments["seed"] = seed
    try:
        made = factory(loaded, **arguments)
    except TypeError as error:
        raise OptionError(f"the agent {name!r} does not take these arguments: {error}") from error
    if callable(getattr(made, "act", None)) and not hasattr(made, "choose"):
        from tabletop_envs.agents.base import PolicyAgent

        made = PolicyAgent(made)
    if not callable(getattr(made, "choose", None)) or not isinstance(getattr(made, "name", None), str):
        raise UnknownAgentError(f"what {name!r} makes is no agent: give it a name and choose(view), not {made!r}")
    agent: Agent = made
    return agent


def _factory(name: Any) -> tuple[Callable[..., Any], str | None]:
    outside = _outside()
    if isinstance(name, str):
        first, colon, rest = name.partition(":")
        if name in _PLAIN:
            return _PLAIN[name], None
        if first in _WITH_ARGUMENT:
            if not rest:
                raise UnknownAgentError(f"{name!r} needs a path: write {first}:{_ARGUMENTS[first]}")
            return _WITH_ARGUMENT[first], rest
        if first in _MAY_HAVE_ARGUMENT:
            return _MAY_HAVE_ARGUMENT[first], rest if colon else None
        if first in outside:
            return _load(outside[first]), rest if colon else None
        if Path(name).is_dir():
            return _sb3, name
    known = [*_PLAIN, *_MAY_HAVE_ARGUMENT, *_WITH_ARGUMENT, *outside]
    near = difflib.get_close_matches(str(name).partition(":")[0], known, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UnknownAgentError(f"no agent {name!r}: there are {', '.join(list_agents())}{hint}")


def _load(entry: EntryPoint) -> Callable[..., Any]:
    try:
        found = entry.load()
    except Exception as error:
        raise UnknownAgentError(
            f"the agent {entry.name!r} ({entry.value}) cannot be imported: {error!r}; mend or remove its package"
        ) from error
    if not callable(found):
        raise UnknownAgentError(f"the agent {entry.name!r} ({entry.value}) is no function that makes an agent")
    factory: Callable[..., Any] = found
    return factory
