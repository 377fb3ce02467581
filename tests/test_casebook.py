"""The casebook: what it reads and refuses, and that a case fails by itself; on a game beside the tests."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tabletop_envs import casebook
from tabletop_envs.core.game import ALL, Game
from tabletop_envs.core.position import Position
from tabletop_envs.errors import CorruptDataError


def write(folder: Path, content: Any) -> Path:
    path = folder / "cases.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def case_of(game: Game, **more: Any) -> dict[str, Any]:
    """A case that begins where a game of two does, and expects nothing."""
    position = Position.new(game, 2, seed=3)
    setup = position.to_json(ALL)["position"]
    return {
        "id": "T1",
        "clauses": ["R1.1"],
        "players": 2,
        "setup": setup,
        "seat": position.seat,
        "expect": {},
    } | more


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be read as JSON"),
        ([], "holds no cases"),
        ({"cases": {}}, "holds no cases"),
        ({"cases": [7]}, "case number 0 has no 'id'"),
        ({"cases": [{"id": "A", "clauses": ["R1"]}, {"clauses": ["R1"]}]}, "case number 1 has no 'id'"),
        ({"cases": [{"id": "A"}]}, "case number 0 has no 'clauses'"),
        ({"cases": [{"id": "A", "clauses": []}]}, "case number 0 has no 'clauses'"),
        ({"cases": [{"id": "A", "clauses": ["R1"]}] * 2}, "two cases have the id 'A'"),
    ],
)
def test_what_is_no_case_file_is_refused(tmp_path: Path, content: Any, words: str) -> None:
    with pytest.raises(CorruptDataError, match=words):
        casebook.load(write(tmp_path, content))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorruptDataError, match="name another one"):
        casebook.load(tmp_path / "nowhere.json")


@pytest.mark.nojit
def test_a_file_is_run_in_its_order(toy: Game, tmp_path: Path) -> None:
    entry = Position.new(toy, 2, seed=3)
    action = entry.action_text(int(entry.legal_actions()[0]))
    path = write(
        tmp_path,
        {
            "cases": [
                case_of(toy),
                case_of(toy, id="T2", manual=True, setup="not even a set-up"),
                case_of(toy, id="T3", expect={"no such fact": 1}),
                case_of(toy, id="T4", actions=[action]),
            ]
        },
    )
    results = casebook.run_file(toy, path)
    assert [result.id for result in results] == ["T1", "T2", "T3", "T4"]
    assert [result.status for result in results] == ["pass", "manual", "fail", "pass"]
    assert "no such fact" in results[2].differences[0]


@pytest.mark.nojit
def test_a_crash_fails_its_case_alone(toy: Game) -> None:
    broken = case_of(toy)
    del broken["setup"]
    for case, words in (
        (broken, "broke off by KeyError: 'setup'"),
        (case_of(toy, options={"no such option": 1}), "broke off by OptionError"),
        (case_of(toy, actions=["jump"]), 'entry 1 ("jump") cannot be read: NotationError'),
        (
            {key: value for key, value in case_of(toy).items() if key != "expect"},
            "broke off by KeyError: 'expect'",
        ),
    ):
        result = casebook.run(toy, case)
        assert result.status == casebook.FAIL
        assert words in result.differences[0]
    assert casebook.run(toy, case_of(toy)).status == casebook.PASS


@pytest.mark.nojit
def test_an_illegal_entry_ends_its_case(toy: Game) -> None:
    position = Position.new(toy, 2, seed=3)
    illegal = next(action for action, legal in enumerate(position.action_mask()) if not legal)
    text = position.action_text(illegal)
    result = casebook.run(toy, case_of(toy, actions=[text, text], expect={"no such fact": 1}))
    assert len(result.differences) == 1
    assert (
        f"'{text}' ({illegal}) is not legal for seat {position.seat} in phase {position.phase}" in result.differences[0]
    )
    assert position.action_text(int(position.legal_actions()[0])) in result.differences[0]


class Hooks(ModuleType):
    """Toy's cases with entries that are numbers or expectations, and with the optional hooks."""

    def __init__(self, inner: ModuleType, stops: bool) -> None:
        super().__init__("hooks")
        self.seen: list[tuple[Any, Position]] = []
        self.is_manual, self.settings, self.arrange = inner.is_manual, inner.settings, inner.arrange
        self.stop_after = lambda case: stops
        self.expectation = lambda case: {"at the end": True}

    def entry_action(self, entry: Any, s: Any) -> Any:
        return entry

    def differences(self, expected: dict[str, Any], position: Position) -> list[str]:
        self.seen.append((expected, position.clone()))
        return ["mood is bad"] if "mood" in expected else []


@pytest.mark.parametrize("stops", [False, True], ids=["settles", "stops"])
def test_optional_hooks(toy: Game, monkeypatch: pytest.MonkeyPatch, stops: bool) -> None:
    """An expectation among the entries, one of another place, and a comparison before the automatic steps."""
    hooks = Hooks(toy.modules["cases"], stops)
    monkeypatch.setitem(toy.modules, "cases", hooks)
    position = Position.new(toy, 2, seed=3)
    actions = []
    for _ in range(2):  # both seats play: the round is then settled by itself
        actions.append(int(position.legal_actions()[0]))
        position.apply(actions[-1])
    result = casebook.run(toy, case_of(toy, actions=[actions[0], {"mood": "good"}, actions[1]]))
    assert result.differences == ('at entry 2 ({"mood": "good"}): mood is bad',)
    (asked, between), (expected, end) = hooks.seen
    assert (asked, expected) == ({"mood": "good"}, {"at the end": True})
    assert between.decisions == 1
    assert end.decisions == 2
    assert (end.states["seat"][0] < 0) == stops  # nobody is asked while something automatic is due
    assert (len(end.legal_actions()) == 0) == stops


@pytest.mark.parametrize("stops", [False, True], ids=["settles", "stops"])
def test_an_entry_of_several_actions(toy: Game, monkeypatch: pytest.MonkeyPatch, stops: bool) -> None:
    """They are made one after another, like entries of their own; one that is not legal ends the case."""
    hooks = Hooks(toy.modules["cases"], stops)
    monkeypatch.setitem(toy.modules, "cases", hooks)
    position = Position.new(toy, 2, seed=3)
    actions = []
    for _ in range(2):
        actions.append(int(position.legal_actions()[0]))
        position.apply(actions[-1])
    for entries in (actions, [actions], [[], actions, []]):
        assert casebook.run(toy, case_of(toy, actions=entries)).status == casebook.PASS
    apart, together, among = (end for _, end in hooks.seen)
    assert apart == together
    assert among.decisions == apart.decisions == 2
    result = casebook.run(toy, case_of(toy, actions=[[actions[0], toy.num_actions(toy.settings()) - 1]]))
    assert "is not legal" in result.differences[0]
