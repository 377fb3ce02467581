"""Worked cases are run by machinery that knows no game: here those of the toy games. Also in plain Python (`nojit`)."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tabletop_envs import casebook
from tabletop_envs.core.game import Game
from tabletop_envs.errors import CorruptDataError

pytestmark = pytest.mark.nojit

TIED: dict[str, Any] = {
    "id": "T1",
    "clauses": ["R2.2", "R2.5"],
    "players": 2,
    "seat": 0,
    "setup": {
        "phase": "play", "stones": 12, "deck_size": 8, "grown": 0, "starter": 0, "turn": 0, "limit": 0,
        "sizes": [2, 2, 0, 0], "committed": [0, 0, 0, 0], "taken": [0, 0, 0, 0], "discard": [0, 0, 0, 0],
        "hands": [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        "chosen": [-1, -1, -1, -1], "deck": [4, 2, 2, 0],
    },
    "actions": ["play two", "play two"],
    "expect": {"phase": "play", "stones": 12, "discard": [0, 2, 0, 0], "sizes": [2, 2, 0, 0], "starter": 1},
}  # fmt: skip


def changed(**facts: Any) -> dict[str, Any]:
    """The case with other facts."""
    return {**copy.deepcopy(TIED), **facts}


def test_a_case_that_holds(toy: Game) -> None:
    assert casebook.run(toy, TIED) == casebook.Result("T1", casebook.PASS)


def test_a_case_with_options_and_events(toy: Game) -> None:
    won = changed(
        options={"tie": "first"},
        expect={"phase": "take", "limit": 2, "events": ["seat 0 shows two", "seat 1 shows two"], "places": [1, 1]},
    )
    assert casebook.run(toy, won).status == casebook.PASS
    won["actions"].append("take 2")
    won["expect"] = {"taken": [2, 0, 0, 0], "places": [1, 2]}
    assert casebook.run(toy, won).status == casebook.PASS


def test_differences_are_told(toy: Game) -> None:
    result = casebook.run(toy, changed(expect={"stones": 11, "weather": "fair", "phase": "play"}))
    assert result.status == casebook.FAIL
    assert result.differences == ("stones: expected 11, found 12", "weather: expected 'fair', found None")


def test_an_illegal_entry_is_told_with_what_is_legal(toy: Game) -> None:
    result = casebook.run(toy, changed(actions=["play two", "play one"]))
    assert result.status == casebook.FAIL
    assert "'play one' (0) is not legal for seat 1 in phase play; legal: play two, play three, pass" in str(result)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"actions": ["play seven"]}, "names no action"),
        ({"players": 9}, "takes 2 to 4 players"),
        ({"setup": {}}, "KeyError"),
        ({"options": {"tye": "first"}}, "did you mean 'tie'"),
    ],
    ids=["entry", "players", "setup", "option"],
)
def test_a_case_that_cannot_be_run_fails_alone(toy: Game, facts: dict[str, Any], words: str) -> None:
    result = casebook.run(toy, changed(**facts))
    assert result.status == casebook.FAIL
    assert words in str(result.differences)


def test_manual_cases_are_left_to_people(toy: Game) -> None:
    assert casebook.run(toy, changed(manual=True)) == casebook.Result("T1", casebook.MANUAL)


def test_a_file_of_cases(two_moves: Game, tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    cases = [
        {"id": f"W{winner}", "clauses": ["R2"], "actions": ["name 0", f"name {winner}"], "expect": {"winner": 1}}
        for winner in (0, 1)
    ]
    path.write_text(json.dumps({"cases": cases}))
    assert [result.status for result in casebook.run_file(two_moves, path)] == [casebook.FAIL, casebook.PASS]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("no json", "cannot be read"),
        ("[]", "holds no cases"),
        ('{"cases": [{"id": "a"}]}', "has no 'clauses'"),
        ('{"cases": [{"clauses": ["R1"]}]}', "has no 'id'"),
        ('{"cases": [{"id": 1, "clauses": ["R1"]}]}', "is no text"),
        ('{"cases": [{"id": "a", "clauses": ["R1"]}, {"id": "a", "clauses": ["R1"]}]}', "two cases"),
    ],
    ids=["text", "list", "clauses", "id", "number", "twice"],
)
def test_files_that_hold_no_cases(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "cases.json"
    path.write_text(content)
    with pytest.raises(CorruptDataError, match=words):
        casebook.load(path)
