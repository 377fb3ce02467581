"""Worked cases: a set-up, a list of decisions, and what must then hold. Runs the cases of any game, knows none.

A case file is a JSON object whose `cases` are objects with an `id` and the `clauses` of RULES.md that they
witness; all else in a case is read by the game's own `cases.py` (see the contract in `core/game.py`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

from tabletop_envs.core import loops
from tabletop_envs.core.game import Game
from tabletop_envs.core.position import Position
from tabletop_envs.core.spec import Settings
from tabletop_envs.errors import CorruptDataError

PASS: Final = "pass"
FAIL: Final = "fail"
MANUAL: Final = "manual"

_SHOWN: Final = 12  # legal actions that a difference lists


@dataclass(frozen=True)
class Result:
    """What came of a case: its id, `PASS`, `FAIL` or `MANUAL` (to be read by people only), and what differed."""

    id: str
    status: str
    differences: tuple[str, ...] = ()


def load(path: str | Path) -> list[dict[str, Any]]:
    """The cases of a file in their order.

    Raises CorruptDataError for a file that is no JSON, and for a case without id or clauses or with an id given
    before.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorruptDataError(f"{path} cannot be read as JSON ({error}): mend the file or name another one") from error
    cases = content.get("cases") if isinstance(content, dict) else None
    if not isinstance(cases, list):
        raise CorruptDataError(f"{path} holds no cases: give a JSON object with a list under 'cases'")
    seen = set()
    for number, case in enumerate(cases):
        for name in ("id", "clauses"):
            if not isinstance(case, dict) or not case.get(name):
                raise CorruptDataError(f"{path}: case number {number} has no {name!r}: add it")
        if not isinstance(case["id"], str):
            raise CorruptDataError(f"{path}: the id {case['id']!r} of case number {number} is no text: make it one")
        if case["id"] in seen:
            raise CorruptDataError(f"{path}: two cases have the id {case['id']!r}: rename one")
        seen.add(case["id"])
    return cases


def run_file(game: Game, path: str | Path) -> list[Result]:
    """The results of all cases of a file; raises CorruptDataError as `load` does."""
    return [run(game, case) for case in load(path)]


def run(game: Game, case: Mapping[str, Any]) -> Result:
    """Arrange a case, make its decisions and compare. Whatever goes wrong is a difference of this case alone."""
    module = game.modules["cases"]
    differences: list[str] = []
    try:
        if module.is_manual(case):
            return Result(case["id"], MANUAL)
        _play(game, module, case, differences)
    except Exception as error:
        differences.append(f"broke off by {type(error).__name__}: {error}")
    return Result(case["id"], FAIL if differences else PASS, tuple(differences))


def _play(game: Game, module: ModuleType, case: Mapping[str, Any], differences: list[str]) -> None:
    num_players, options = module.settings(case)
    settings = game.settings(num_players, **options)
    states = game.template(settings)
    module.arrange(case, states[0])
    entries = case.get("actions", ())
    stops = hasattr(module, "stop_after") and module.stop_after(case)
    mask = np.zeros(game.num_actions(settings), dtype=np.int8)
    if entries or not stops:
        loops.refresh(game.calls, states, 0, mask)
    for number, entry in enumerate(entries, 1):
        where = f"entry {number} ({json.dumps(entry)})"
        try:
            choice = module.entry_action(entry, states[0])
        except Exception as error:
            raise CorruptDataError(f"{where} cannot be read: {type(error).__name__}: {error}") from error
        if isinstance(choice, dict):
            found = module.differences(choice, Position(game, settings, states))
            differences += [f"at {where}: {line}" for line in found]
            continue
        actions = choice if isinstance(choice, list) else [choice]
        for made, action in enumerate(actions, 1):
            complaint = _refusal(game, settings, states, mask, action)
            if complaint:
                differences.append(f"{where}: {complaint}")
                return
            states["events"], states["num_events"] = 0, 0
            states["decisions"] += 1
            loops.raw_apply(game.calls, states, 0, action)
            if not stops or (number, made) < (len(entries), len(actions)):
                loops.refresh(game.calls, states, 0, mask)
    expected = module.expectation(case) if hasattr(module, "expectation") else case["expect"]
    differences += module.differences(expected, Position(game, settings, states))


def unequal(what: str, expected: Any, found: Any) -> list[str]:
    """The line that tells of a difference, for a game's `differences`; none where there is no difference."""
    return [] if expected == found else [f"{what}: expected {expected!r}, found {found!r}"]


def _refusal(game: Game, settings: Settings, states: np.ndarray, mask: np.ndarray, action: int) -> str | None:
    """Why the mask does not allow the action; None when it does."""
    if mask[game.actions.check(action, len(mask))]:
        return None
    position = Position(game, settings, states)
    text = position.action_text(action)
    if position.over:
        return f"{text!r} ({action}) comes after the end of the game"
    legal = [position.action_text(int(other)) for other in position.legal_actions()]
    shown = ", ".join(legal[:_SHOWN]) + (f" and {len(legal) - _SHOWN} more" if len(legal) > _SHOWN else "")
    return f"{text!r} ({action}) is not legal for seat {position.seat} in phase {position.phase}; legal: {shown}"
