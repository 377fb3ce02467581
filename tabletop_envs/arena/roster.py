"""Who plays in the arena: the folder of an agent, read as far as play needs it, and what it seats.

An agent's folder holds `agent.json` and what that names. `entry` there is one of

    {"builtin": "mcts:100", "arguments": {"reuse": false}}    a name that `make_agent` takes, with arguments
    {"file": "agent.py", "make": "make"}                      make(game, folder, seed) -> Agent or BatchPolicy

In a name, `{weights}` stands for the path of the folder's weights: `ppo:{weights}`. An agent that says `stateless`
chooses by the view and the seed of `reset` alone; so one of it can sit at many tables, and a batch policy is then
answered in batches. Of any other, each seat of each game gets one of its own.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tabletop_envs.agents import make_agent
from tabletop_envs.agents.base import BUILT_IN, Agent, Opponent, PolicyAgent, begin
from tabletop_envs.core.checks import is_whole
from tabletop_envs.core.game import Game
from tabletop_envs.errors import CorruptDataError, OptionError, TabletopError, UnknownAgentError

AGENTS: Final = "agents"
"""The folder of a board in which those of the agents lie."""
MANIFEST: Final = "agent.json"
LLM: Final = "llm"
NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]*")
RESERVED: Final = ("anchors", "candidate")
"""Names that no agent may have: files and line-ups use them."""

_WEIGHTS: Final = "{weights}"


@dataclass(frozen=True)
class Entrant:
    """An agent of the arena, as its `agent.json` describes it.

    kind: policy, search, llm or rules; games: (game, number of players) that it plays, games as `urbino-v0`; stateless:
    see this file; simulations: at most so many a decision, None for an agent that does not search; weights: what is
    said of them (`file` or `address`, `sha256`), empty where there are none.
    """

    name: str
    version: str
    kind: str
    entry: Mapping[str, Any]
    games: frozenset[tuple[str, int]]
    stateless: bool
    simulations: int | None
    weights: Mapping[str, Any]
    folder: Path

    @property
    def built_in(self) -> str | None:
        """The name of the compiled policy that this agent is; None for any other."""
        name = self.entry.get("builtin")
        return name if name in BUILT_IN and not self.entry.get("arguments") else None

    @property
    def quick(self) -> bool:
        """Whether many games of it can be played at once: it keeps nothing in mind, and does not search."""
        return self.stateless and self.simulations is None and self.kind != LLM

    def facts(self) -> dict[str, Any]:
        """What the header of a file of games says of it: the digests are of the files as they lie there."""
        weights = self.weights.get("sha256")
        if "file" in self.weights:
            weights = _sha256(self.folder / self.weights["file"])
        code = _sha256(self.folder / self.entry["file"]) if "file" in self.entry else None
        return {"version": self.version, "code_sha256": code, "weights_sha256": weights}


# --- reading ----------------------------------------------------------------------------------------------------


def read(folder: Path) -> Entrant:
    """The agent of a folder; whether all of `agent.json` is as it should be is left to `arena check`.

    Raises UnknownAgentError where there is none, and CorruptDataError for an `agent.json` that cannot be played by.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise UnknownAgentError(f"there is no agent {folder.name!r}: {path} is missing")
    content = read_object(path)
    entry, budget, weights = content.get("entry"), content.get("budget"), content.get("weights")
    _demand(path, "name", content.get("name"), content.get("name") == folder.name, f"{folder.name!r}, as its folder")
    named = NAME.fullmatch(folder.name) is not None and folder.name not in RESERVED
    _demand(path, "name", folder.name, named, f"small letters, digits and hyphens, and none of {', '.join(RESERVED)}")
    for name in ("version", "kind"):
        _demand(path, name, content.get(name), isinstance(content.get(name), str), "a text")
    _demand(path, "stateless", content.get("stateless"), isinstance(content.get("stateless"), bool), "true or false")
    _demand(path, "entry", entry, _is_entry(entry), '{"builtin": NAME} or {"file": FILE, "make": FUNCTION}')
    _demand(path, "budget", budget, _is_budget(budget), '{"kind": "instant"} or {"kind": "search", "simulations": N}')
    _demand(path, "weights", weights, weights is None or isinstance(weights, dict), "an object or null")
    _demand(path, "games", content.get("games"), _are_games(content.get("games")), "numbers of players by game")
    assert isinstance(entry, dict)
    assert isinstance(budget, dict)
    return Entrant(
        name=folder.name,
        version=content["version"],
        kind=content["kind"],
        entry=entry,
        games=frozenset((short(game), count) for game, counts in content["games"].items() for count in counts),
        stateless=content["stateless"],
        simulations=budget.get("simulations"),
        weights=weights or {},
        folder=folder,
    )


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object of a file; raises CorruptDataError with file and line, and OSError."""
    try:
        content = json.loads(path.read_bytes().decode("utf-8"))
    except json.JSONDecodeError as error:
        raise CorruptDataError(f"{path}:{error.lineno} cannot be read as JSON ({error}): mend it") from error
    except (ValueError, RecursionError) as error:
        raise CorruptDataError(f"{path} cannot be read as JSON ({error}): mend it") from error
    if not isinstance(content, dict):
        raise CorruptDataError(f"{path} holds no JSON object: mend it")
    return content


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def short(env_id: str) -> str:
    """The id of a game as files of the arena have it: `urbino-v0`."""
    return env_id.removeprefix("tabletop/")


def _demand(path: Path, name: str, value: Any, fits: bool, wanted: str) -> None:
    if not fits:
        raise CorruptDataError(f"{path}: {name} is {value!r}, not {wanted}: mend it")


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return False
    if set(entry) <= {"builtin", "arguments"}:
        return isinstance(entry.get("builtin"), str) and isinstance(entry.get("arguments", {}), dict)
    return set(entry) == {"file", "make"} and all(isinstance(value, str) for value in entry.values())


def _is_budget(budget: Any) -> bool:
    if not isinstance(budget, dict):
        return False
    if budget.get("kind") == "instant":
        return set(budget) == {"kind"}
    return budget.get("kind") == "search" and is_whole(budget.get("simulations"), 1)


def _are_games(games: Any) -> bool:
    return isinstance(games, dict) and all(
        isinstance(counts, list) and all(is_whole(count, 1) for count in counts) for counts in games.values()
    )


# --- making -----------------------------------------------------------------------------------------------------


def make(entrant: Entrant, game: Game, seed: int) -> Opponent:
    """What sits down: a compiled policy's name, a batch policy, where the agent is stateless, or an agent.

    seed: of its own chance, for `make` of a file; an agent's `reset` gives it another. Raises UnknownAgentError for
    what cannot be made.
    """
    if entrant.built_in is not None:
        return entrant.built_in
    try:
        return _made(entrant, game, seed)
    except TabletopError:
        raise
    except (Exception, SystemExit) as error:
        raise UnknownAgentError(f"the agent {entrant.name!r} cannot be made: {error!r}; mend it") from error


def _made(entrant: Entrant, game: Game, seed: int) -> Opponent:
    made = _built_in(entrant, game, seed) if "builtin" in entrant.entry else _of_file(entrant, game, seed)
    if isinstance(made, PolicyAgent) and entrant.stateless:
        return made.policy
    if callable(getattr(made, "choose", None)):
        agent: Agent = made
        return agent
    if callable(getattr(made, "act", None)):
        return made if entrant.stateless else PolicyAgent(made)
    raise UnknownAgentError(f"what {entrant.name!r} makes is no agent: give it choose(view) or act, not {made!r}")


def seated(entrant: Entrant, game: Game, seat: int, seed: int) -> Agent:
    """The agent for one game, made, told that the game begins, and asked by `choose(view)`, whatever it is.

    seed: that of the seat, see `agents.base.seat_seed`. Raises what `make` raises, and what the agent raises.
    """
    made = make(entrant, game, seed)
    agent = make_agent(made, game) if isinstance(made, str) else made
    player: Any = agent if hasattr(agent, "choose") else PolicyAgent(agent)
    begin(player, seat, seed)
    sat: Agent = player
    return sat


def _built_in(entrant: Entrant, game: Game, seed: int) -> Any:
    name, arguments = entrant.entry["builtin"], entrant.entry.get("arguments", {})
    if _WEIGHTS in name:
        if "file" not in entrant.weights:
            raise OptionError(f"the agent {entrant.name!r} names no file of weights: give one in {MANIFEST}")
        name = name.replace(_WEIGHTS, str(entrant.folder / entrant.weights["file"]))
    if name.partition(":")[0] == "human":
        raise OptionError(f"the agent {entrant.name!r} is a person: the arena seats none")
    return make_agent(name, game, seed=seed, **arguments)


def _of_file(entrant: Entrant, game: Game, seed: int) -> Any:
    path = entrant.folder / entrant.entry["file"]
    module_name = f"tabletop_envs_agent_{entrant.name.replace('-', '_')}"
    module = sys.modules.get(module_name)
    if module is None or module.__file__ != str(path):
        if not path.is_file():
            raise UnknownAgentError(f"the agent {entrant.name!r} has no file {path}: mend its {MANIFEST}")
        described = importlib.util.spec_from_file_location(module_name, path)
        if described is None or described.loader is None:
            raise UnknownAgentError(f"the agent {entrant.name!r} cannot be imported: {path} is no Python file")
        module = importlib.util.module_from_spec(described)
        sys.modules[module_name] = module
        try:
            described.loader.exec_module(module)
        except BaseException:
            del sys.modules[module_name]
            raise
    factory = getattr(module, entrant.entry["make"], None)
    if not callable(factory):
        raise UnknownAgentError(f"{path} has no function {entrant.entry['make']!r}: define it, or name another")
    return factory(game, entrant.folder, seed)
