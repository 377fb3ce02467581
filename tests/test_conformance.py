"""Every registered game, and those of the tests, pass the conformance suite. Nothing here names a game of ours."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tabletop_envs import registry
from tabletop_envs.core import jit
from tabletop_envs.core.game import Game
from tabletop_envs.core.spec import GameSpec
from tabletop_envs.testing import CHECKS, conformance, golden
from tabletop_envs.testing.golden import TRANSCRIPTS, playthroughs
from tabletop_envs.testing.subject import Subject
from tabletop_envs.testing.suite import run_check, subject_of

GOLDEN = Path(__file__).parent
GAMES = list(registry.games())
MAX_TRANSCRIPT = 60_000  # bytes
WITHOUT_GOLDEN = [check for check in CHECKS if check != "golden files"]


@cache
def _subject(name: str) -> Subject:
    return subject_of(name, quick=True, golden=GOLDEN)


def _passes(check: str, subject: Subject) -> None:
    report = run_check(check, subject)
    assert report.ok, report.detail


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", GAMES)
def test_game(name: str, check: str) -> None:
    _passes(check, _subject(name))


@pytest.mark.nojit
@pytest.mark.parametrize("check", WITHOUT_GOLDEN)
def test_toy(toy: Game, check: str) -> None:
    if check == "jit modes" and not jit.COMPILED:
        pytest.skip("compares with compiled processes, which compare with this mode themselves")
    _passes(check, subject_of(toy, quick=True))


@pytest.mark.parametrize("check", WITHOUT_GOLDEN)
def test_two_moves(two_moves: Game, check: str) -> None:
    _passes(check, subject_of(two_moves))


@pytest.mark.parametrize("name", GAMES)
def test_transcripts_are_kept(name: str) -> None:
    """A ratchet: each registered game has its transcripts, short enough to be read, and no others."""
    game = registry.load(name)
    expected = set(playthroughs(game))
    kept = {path.name: path.stat().st_size for path in (GOLDEN / TRANSCRIPTS).glob(f"tabletop-{name}-v*.txt")}
    assert set(kept) == expected
    assert max(kept.values()) < MAX_TRANSCRIPT


def test_transcripts_of_long_games_leave_out_the_middle(toy: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = golden.transcript(toy, toy.settings(4))
    monkeypatch.setattr(golden, "_BYTES", 600)
    short = golden.transcript(toy, toy.settings(4))
    assert "decisions are left out" in short
    assert len(short) < len(whole)
    lines = [[line for line in text.splitlines() if line.startswith("[")] for text in (whole, short)]
    assert [lines[0][0], lines[0][-1]] == [lines[1][0], lines[1][-1]]
    assert set(lines[1]) < set(lines[0])


def test_a_run_reports_every_check(two_moves: Game) -> None:
    told = []
    reports = conformance(two_moves.spec, told.append, quick=True, only=["declaration", "masks", "layouts"])
    assert told == reports
    assert [report.name for report in reports] == ["declaration", "layouts", "masks"]  # the suite's order
    assert all(report.ok and report.seconds >= 0 for report in reports)
    assert "pass" in str(reports[0])


def test_a_run_goes_on_behind_a_failure(two_moves: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(two_moves.modules["notation"], "action_text", lambda action: "always the same")
    reports = conformance(two_moves, quick=True, only=["action texts", "speed"])
    assert [report.ok for report in reports] == [False, True]
    assert "'always the same'" in reports[0].detail
    assert "FAIL" in str(reports[0])


def test_games_are_given_by_id_too() -> None:
    assert isinstance(registry.games()[GAMES[0]], GameSpec)
    assert conformance(GAMES[0], quick=True, only=["declaration"])[0].ok
