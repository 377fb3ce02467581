"""The check of playing in a terminal: a game that is typed, left half-way and resumed is the one that was walked."""

from __future__ import annotations

import io
from pathlib import Path
from tempfile import TemporaryDirectory

from tabletop_envs.arena.table import HUMAN, SavedGame, Table
from tabletop_envs.core.position import Position
from tabletop_envs.core.spec import Settings
from tabletop_envs.play import Offer, Session
from tabletop_envs.testing.subject import Subject, fail, pick, shortened

_SEED = 0
_TYPED = 120  # decisions of a long game that are typed


def typed_games(subject: Subject) -> str:
    """People on all seats type a walk, by numbers and in words: half of it, and after saving and resuming the rest.

    On the way a decision is taken back. Both halves lead to the walk's positions.
    """
    decisions = 0
    with TemporaryDirectory() as folder:
        for number, settings in enumerate(subject.grid):
            decisions += _typed(subject, shortened(settings, _TYPED), Path(folder, f"{number}.json"))
    return f"{decisions} decisions in {len(subject.grid)} games"


def _typed(subject: Subject, settings: Settings, path: Path) -> int:
    position = Position.new(subject.game, settings.num_players, seed=_SEED, **settings.values)
    walked, lines = [position.clone()], []
    while not position.over:
        action = pick(position, _SEED)
        in_words = position.decisions % 2 == 0
        lines.append(position.action_text(action) if in_words else str(1 + Offer(position).actions.index(action)))
        position.apply(action)
        walked.append(position.clone())
    half = len(lines) // 2
    table = Table(walked[0], [HUMAN] * settings.num_players)
    _talk(table, [*lines[:half], "undo", *lines[half - 1 : half]] if half else [], path)
    _same(walked[half], table)
    resumed = SavedGame.read(path).table(str(path))
    _talk(resumed, lines[half:], path)
    _same(walked[-1], resumed)
    return len(lines)


def _talk(table: Table, lines: list[str], path: Path) -> None:
    # an empty line before each: it counts where people change places, and nowhere else
    source = io.StringIO("".join(f"\n{line}\n" for line in lines))
    Session(table, file=path, source=source, sink=io.StringIO(), size=lambda: None).run()


def _same(wanted: Position, table: Table) -> None:
    if table.position != wanted:
        fail(wanted, f"typed in a terminal, it is another position after {len(table.steps)} decisions")
