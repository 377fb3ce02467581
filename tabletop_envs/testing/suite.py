"""The suite: every check by name, and how they are run and reported."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tabletop_envs import registry
from tabletop_envs.core.game import Game
from tabletop_envs.core.spec import GameSpec
from tabletop_envs.errors import OptionError
from tabletop_envs.testing import (
    copies,
    decisions,
    environments,
    form,
    golden,
    knowledge,
    pictures,
    play,
    processes,
    replays,
    rules,
    shells,
    speed,
    texts,
)
from tabletop_envs.testing.subject import Subject

# A check raises AssertionError with place and reason, or returns a note. The order is that of a game's growth.
CHECKS: Final[Mapping[str, Callable[[Subject], str]]] = {
    "declaration": form.declaration,
    "import": processes.light_import,
    "layouts": form.layouts,
    "record": form.record_form,
    "steps": rules.steps,
    "masks": rules.masks_are_rules,
    "refusals": rules.refusals,
    "caps": rules.caps,
    "chance": rules.chance,
    "scores": rules.scores,
    "reachable actions": rules.reachable_actions,
    "observations": knowledge.observations,
    "determinize": knowledge.determinize,
    "secrets": knowledge.secrets,
    "open decisions": decisions.open_decisions,
    "greedy": knowledge.greedy,
    "copies": copies.copies,
    "history": copies.history,
    "replays": copies.replays,
    "batches": copies.batches,
    "recorded games": replays.recorded_games,
    "action texts": texts.action_texts,
    "position texts": texts.position_texts,
    "refused texts": texts.refused_texts,
    "aec": environments.aec_agrees,
    "vector": environments.vector_agrees,
    "pictures": pictures.pictures,
    "pettingzoo": environments.pettingzoo_tests,
    "views": shells.views,
    "human": shells.human,
    "typed games": play.typed_games,
    "solo": shells.solo_agrees,
    "gym vector": shells.gym_vector_agrees,
    "gymnasium": shells.gymnasium_tests,
    "jit modes": processes.modes_agree,
    "speed": speed.speed,
    "documentation": form.documentation,
    "golden files": golden.golden_files,
}


@dataclass(frozen=True)
class Report:
    """What came of a check: whether it passed, and in words what was found, or what is wrong and where."""

    name: str
    ok: bool
    detail: str
    seconds: float

    def __str__(self) -> str:
        return f"{'pass' if self.ok else 'FAIL'}  {self.name:<18} {self.seconds:6.1f} s  {self.detail}".rstrip()


def conformance(
    game: Game | GameSpec | str,
    progress: Callable[[Report], None] | None = None,
    *,
    quick: bool = False,
    games: int | None = None,
    only: Collection[str] | None = None,
    golden: Path | str | None = None,
) -> list[Report]:
    """Run every check on a game, also behind one that fails.

    game: id, declaration or Game (one that is not registered is made known to this process); progress: called with
    each report as it comes; quick: options and numbers of players take turns instead of meeting each other;
    games: how many games a check plays with each settings; only: the names of the checks to run, of `CHECKS`;
    golden: the folder of `golden.json` and `playthroughs/`.

    Raises UnknownGameError, and OptionError for a check that there is not.
    """
    subject = subject_of(game, quick=quick, games=games, golden=golden)
    unknown = set(only or ()) - set(CHECKS)
    if unknown:
        raise OptionError(f"no check {', '.join(map(repr, sorted(unknown)))}: there are {', '.join(CHECKS)}")
    reports = []
    for name in CHECKS:
        if only is None or name in only:
            reports.append(run_check(name, subject))
            if progress is not None:
                progress(reports[-1])
    return reports


def subject_of(
    game: Game | GameSpec | str, *, quick: bool = False, games: int | None = None, golden: Path | str | None = None
) -> Subject:
    """What `conformance` runs its checks on; the arguments are the same."""
    if isinstance(game, str):
        game = registry.load(game)
    elif isinstance(game, GameSpec):
        game = Game(game)
    registry.add(game.spec)  # stored positions name their game by id
    return Subject(game, quick, games, None if golden is None else Path(golden))


def run_check(name: str, subject: Subject) -> Report:
    """One check; whatever it raises becomes its report."""
    start = time.perf_counter()
    try:
        ok, detail = True, CHECKS[name](subject)
    except AssertionError as error:
        ok, detail = False, str(error) or "an assertion without words"
    except Exception as error:
        ok, detail = False, f"breaks off with {type(error).__name__}: {error}"
    return Report(name, ok, detail, time.perf_counter() - start)
