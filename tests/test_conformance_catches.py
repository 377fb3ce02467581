"""The conformance suite finds faults: toy games with one fault each, and the check that is to tell of it."""

from __future__ import annotations

import copy
import dataclasses
import re
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from toy_game import broken

from tabletop_envs import registry
from tabletop_envs.core import jit
from tabletop_envs.core.game import Game
from tabletop_envs.core.layout import ActionLayout, Block
from tabletop_envs.core.position import Position
from tabletop_envs.core.record import PUBLIC
from tabletop_envs.core.spec import Flag, Integer
from tabletop_envs.envs.aec import TabletopAEC
from tabletop_envs.envs.vector import BatchStep, TabletopVector
from tabletop_envs.errors import IllegalActionError
from tabletop_envs.testing import copies, environments, golden, pictures, rules
from tabletop_envs.testing.subject import Subject, other_values
from tabletop_envs.testing.suite import Report, run_check, subject_of

TESTS = Path(__file__).parent


def variant(game: Game, **functions: Any) -> Game:
    """The game with other compiled functions."""
    twin = game.with_functions(**functions)
    twin.modules = dict(game.modules)
    return twin


def with_module(game: Game, name: str, **parts: Any) -> Game:
    """The game with other parts in one of its files."""
    twin = variant(game)
    module = ModuleType(name)
    module.__dict__.update({**game.modules[name].__dict__, **parts})
    twin.modules[name] = module
    return twin


def with_spec(game: Game, **facts: Any) -> Game:
    """The game with another declaration."""
    twin = variant(game)
    twin.spec = dataclasses.replace(game.spec, **facts)
    return twin


def report_of(check: str, game: Game, **arguments: Any) -> Report:
    """What the check says."""
    if game.spec != registry.games().get(game.spec.id, game.spec):
        registry.games()[game.spec.id] = game.spec  # a faulty declaration under the same id; the fixture cleans up
    return run_check(check, subject_of(game, quick=True, **arguments))


FUNCTIONS = [
    ("setup_lifts_cap", "caps", "max_decisions"),
    ("setup_lifts_cap", "steps", "its own options"),
    ("setup_without_chance", "chance", "one and the same deal"),
    ("legal_forgets_pass", "masks", "not legal, but apply accepts it"),
    ("legal_miscounts", "masks", "legal returns"),
    ("legal_writes_part", "masks", "unwritten"),
    ("apply_loses_card", "steps", "invariant 2 is broken: no card is lost"),
    ("apply_overtakes", "steps", "turn: "),
    ("advance_never_ends", "steps", "automatic steps"),
    ("advance_by_global_chance", "steps", "do not agree"),
    ("advance_by_global_chance", "replays", "differs"),
    ("advance_by_global_chance", "batches", "another record"),
    ("score_wrong_places", "scores", "no better place"),
    ("score_writes_part", "scores", "unwritten"),
    ("observe_peeks", "secrets", "changes with hands["),
    ("observe_peeks", "determinize", "itself observes"),
    ("observe_writes_part", "observations", "(hand[3]) is not written"),
    ("observe_too_high", "observations", "outside 0 to 1"),
    ("determinize_keeps_all", "determinize", "never changes hands, chosen, deck"),
    ("determinize_keeps_key", "determinize", "does not re-key"),
    ("determinize_loses_card", "determinize", "invariant 2 is broken"),
    ("determinize_changes_own", "determinize", "itself"),
    ("greedy_peeks", "greedy", "cannot know"),
    ("greedy_cheats", "greedy", "not legal"),
    ("check_complains", "steps", "invariant 2"),
]


@pytest.mark.parametrize(("fault", "check", "words"), FUNCTIONS, ids=[f"{f[0]}-{f[1]}" for f in FUNCTIONS])
def test_fault_of_a_function(toy: Game, fault: str, check: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "_ENDLESS", 1000)
    report = report_of(check, variant(toy, **{fault.partition("_")[0]: getattr(broken, fault)}))
    assert not report.ok
    assert words in report.detail
    assert "toy" in report.detail


def with_secrets(game: Game, **facts: Any) -> Game:
    """The game with other facts about its secret fields."""
    fields = game.modules["state"].FIELDS
    changed = tuple(field if field.sees == PUBLIC else dataclasses.replace(field, **facts) for field in fields)
    return with_module(game, "state", FIELDS=changed)


def test_screened_fields_need_not_vary_but_are_secrets(toy: Game) -> None:
    twin = with_secrets(toy, screened=True)
    assert report_of("determinize", variant(twin, determinize=broken.determinize_keeps_all)).ok
    assert "changes with hands[" in report_of("secrets", variant(twin, observe=broken.observe_peeks)).detail


def test_open_decisions_may_tell_what_lies_behind_screens(toy: Game) -> None:
    openly = ActionLayout(*(dataclasses.replace(block, secret=False) for block in toy.actions.blocks))
    twin, screened = variant(toy), with_secrets(toy, screened=True)
    twin.actions = screened.actions = openly
    assert "cannot tell" in report_of("open decisions", twin).detail
    assert report_of("open decisions", screened).ok


def test_when_secrets_are_kept(toy: Game) -> None:
    def kept(position: Position, **facts: Any) -> set[str]:
        return {field.name for field in subject_of(with_secrets(toy, **facts)).secrets_in(position)}

    everything = {"hands", "chosen", "deck"}
    position, remembered = Position.new(toy), Position.new(toy, memory=True)
    assert kept(position, screened=True) == kept(position, opened_by="memory") == everything
    assert kept(remembered, opened_by="memory") == set()
    while not position.over:
        position.apply(int(position.legal_actions()[0]))
    assert kept(position) == everything
    assert kept(position, screened=True) == set()


@pytest.mark.skipif(not jit.COMPILED, reason="speed is measured of compiled code")
def test_slow_game(toy: Game) -> None:
    report = report_of("speed", variant(toy, observe=broken.observe_slowly))
    assert not report.ok
    assert "less than 1/200" in report.detail


def test_unreached_actions_are_told_without_failure(toy: Game) -> None:
    report = report_of(
        "reachable actions", variant(toy, legal=broken.legal_never_all, apply=broken.apply_never_all), games=1
    )
    assert report.ok
    assert report.detail.startswith("1 of 10 never legal")
    assert report.detail.endswith("take 4")


@pytest.mark.parametrize(
    ("facts", "check", "words"),
    [
        ({"min_players": 1}, "declaration", "1 to 4 players"),
        ({"max_decisions": {2: 40, 3: 60}}, "declaration", "not a cap for each"),
        ({"score_scale": 0}, "declaration", "score_scale"),
        ({"options": (Flag("reward", "R1", "clashes"),)}, "declaration", "called like arguments"),
        ({"options": (Flag("memory", "R9.9", "no such clause"),)}, "declaration", "R9.9"),
        ({"opening_decisions": 3}, "chance", "opening_decisions is 0"),
    ],
    ids=["players", "caps", "scale", "clash", "clause", "openings"],
)
def test_fault_of_a_declaration(toy: Game, facts: dict[str, Any], check: str, words: str) -> None:
    report = report_of(check, with_spec(toy, **facts))
    assert not report.ok
    assert words in report.detail


def test_positions_are_spread_over_games_however_far_the_cap(toy: Game) -> None:
    subject = Subject(with_spec(toy, max_decisions={2: 4000, 3: 6000, 4: 8000}), quick=True)
    games, seen = len(subject.grid) * subject.games, sum(1 for _ in subject.some_positions())
    assert seen >= games * min(subject.positions, 5)


def test_games_without_chance_need_opening_decisions(two_moves: Game) -> None:
    assert "nothing is ever drawn" in report_of("chance", with_spec(two_moves, opening_decisions=0)).detail


def test_faults_of_layout_and_record(toy: Game) -> None:
    twin = variant(toy)
    twin.actions = ActionLayout(*toy.actions.blocks, Block("more", (2,), "of an option", option="much"))
    assert "belongs to 'much', which is no option" in report_of("layouts", twin).detail
    assert "lacks the action table" in report_of("documentation", twin).detail
    twin = variant(toy)
    holed = np.dtype({name: part for name, part in toy.dtype.fields.items() if name != "header_pad"})
    twin.dtype = np.dtype((np.record, holed))
    assert "there is a hole of 1 bytes" in report_of("record", twin).detail


@pytest.mark.parametrize(
    ("parts", "check", "words"),
    [
        ({"describe": None}, "declaration", "notation.py does not define describe"),
        ({"action_text": lambda action: "pass"}, "action texts", "have the same text"),
        ({"parse_action": lambda text: 0}, "action texts", "but is read as 0"),
        ({"describe": lambda s, viewer: {"hands": s.hands.tolist()}}, "secrets", "describe tells"),
        ({"describe": lambda s, viewer: {"hands": s.hands.tolist()}}, "determinize", "describe tells"),
        ({"position_text": lambda s, viewer: str(s.deck.tolist())}, "secrets", "position_text tells"),
        ({"restore": lambda facts, s: None}, "position texts", "its own facts"),
        ({"parse_position": lambda text, s: None}, "position texts", "read"),
        ({"parse_position": lambda text, s: None}, "refused texts", "instead of raising NotationError"),
        ({"event_text": lambda kind, seat, value: ""}, "position texts", "the events have the texts"),
    ],
    ids=[
        "missing", "same-texts", "misread", "leaking-facts", "leaking-again", "leaking-text", "forgetful", "blind",
        "credulous", "mute",
    ],
)  # fmt: skip
def test_fault_of_notation(
    toy: Game, parts: dict[str, Any], check: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = with_module(toy, "notation", **parts)
    monkeypatch.setattr(registry, "load", lambda game_id: twin)
    report = report_of(check, twin)
    assert not report.ok
    assert words in report.detail


# --- faults of the machinery ------------------------------------------------------------------------------------


def test_fault_of_a_copy(toy: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(copies._COPIES, "clone", lambda position: position)
    assert "clone shares memory" in report_of("copies", toy).detail


def test_fault_of_history(toy: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Position, "clone", lambda position: position)
    assert "has changed by the end" in report_of("history", toy).detail


def test_fault_of_refusal(toy: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    apply = Position.apply

    def lenient(position: Position, action: int) -> None:
        try:
            apply(position, action)
        except IllegalActionError:
            return

    monkeypatch.setattr(Position, "apply", lenient)
    assert "is not legal, but is taken" in report_of("refusals", toy).detail


class ForgetfulAEC(TabletopAEC):
    """Observes nothing, and warns."""

    def observe(self, agent: str) -> Any:
        seen = super().observe(agent)
        warnings.warn("something is odd", stacklevel=2)
        return {**seen, "observation": np.zeros_like(seen["observation"])} if isinstance(seen, dict) else seen


class MeanVector(TabletopVector):
    """Pays the opposite."""

    def step(self, actions: Any) -> BatchStep:
        answer = super().step(actions)
        return answer._replace(rewards=-answer.rewards)


class TalkativeAEC(TabletopAEC):
    """Prints how many actions the seat to act has, whoever looks on."""

    def _heading(self) -> str:
        return f"{super()._heading()}, {self._mask.sum()} legal actions"


def test_fault_of_what_an_environment_prints(toy: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "TabletopAEC", TalkativeAEC)
    assert "changes what an environment prints for viewer" in report_of("pictures", toy).detail


@pytest.fixture
def faulty_environments(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(environments, "TabletopAEC", ForgetfulAEC)
    monkeypatch.setattr(environments, "TabletopVector", MeanVector)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.usefixtures("faulty_environments")
@pytest.mark.parametrize(
    ("check", "words"),
    [
        ("aec", "gives another observation"),
        ("vector", "the vector environment pays"),
        ("pettingzoo", "something is odd"),
    ],
)
def test_fault_of_an_environment(two_moves: Game, check: str, words: str) -> None:
    assert words in report_of(check, two_moves).detail


# --- golden files, modes, imports -------------------------------------------------------------------------------


def test_golden_files_hold_still(toy: Game, tmp_path: Path) -> None:
    assert "no digests are stored" in report_of("golden files", toy, golden=tmp_path).detail
    (tmp_path / golden.DIGESTS).write_text('{"toy": {"perft": [1]}, "other": {"trajectories": 2}}')
    paths = golden.write(toy, tmp_path)
    kept = golden._read(tmp_path / golden.DIGESTS)
    assert kept["toy"]["perft"] == [1]
    assert kept["other"] == {"trajectories": 2}
    assert report_of("golden files", toy, golden=tmp_path).ok

    first = paths[0]
    text = first.read_text(encoding="utf-8")
    first.write_text(text.replace("play two", "play 2", 1), encoding="utf-8")
    assert f"{first.name} differs in line" in report_of("golden files", toy, golden=tmp_path).detail
    first.unlink()
    assert "is missing" in report_of("golden files", toy, golden=tmp_path).detail

    golden.write(toy, tmp_path)
    changed = report_of("golden files", variant(toy, observe=broken.observe_peeks), golden=tmp_path)
    assert "no longer what they were: raise GAME.version" in changed.detail
    newer = with_spec(toy, version=1)
    assert "no digests are stored for version 1" in report_of("golden files", newer, golden=tmp_path).detail


def test_transcripts_of_an_old_version_go(two_moves: Game, tmp_path: Path) -> None:
    (tmp_path / golden.TRANSCRIPTS).mkdir()
    old = tmp_path / golden.TRANSCRIPTS / "tabletop-two_moves-v00-9p.txt"
    old.touch()
    other = tmp_path / golden.TRANSCRIPTS / "tabletop-other-v0-2p.txt"
    other.touch()
    golden.write(two_moves, tmp_path)
    assert not old.exists()
    assert other.exists()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the smallest game as a package of its own."""
    folder = tmp_path / "three_moves"
    shutil.copytree(TESTS / "two_moves", folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in folder.glob("*.py"):
        path.write_text(path.read_text(encoding="utf-8").replace("two_moves", "three_moves"), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_fault_of_a_mode_and_of_an_import(package: Path, two_moves: Game) -> None:
    view = package / "view.py"
    source = view.read_text(encoding="utf-8")
    assert "out[LAST] = seat\n" in source
    source = source.replace("out[LAST] = seat\n", "out[LAST] = seat if COMPILED else 1 - seat\n")
    view.write_text(source.replace("core.jit import jit", "core.jit import COMPILED, jit"), encoding="utf-8")
    heavy = package / "__init__.py"
    heavy.write_text(heavy.read_text(encoding="utf-8").replace("from tab", "import numba  # noqa\n\nfrom tab", 1))
    twin = copy.copy(two_moves.spec)
    twin = dataclasses.replace(twin, id="three_moves", package="three_moves")
    game = variant(two_moves)
    game.spec = twin
    try:
        assert "loads ['numba'" in report_of("import", game).detail
        report = report_of("jit modes", game)
        assert re.search(r"TABLETOP_ENVS_JIT=\w+ plays .*, but \w+ plays", report.detail)
    finally:
        registry.games().pop("three_moves", None)


def test_whole_numbers_are_tried_at_their_ends() -> None:
    """Without an upper end, games of a sensible length are asked for."""
    assert other_values(Integer("n", "R1", "s", 13, 1, 20)) == [1, 20]
    assert other_values(Integer("n", "R1", "s", 20, 1, 20)) == [1]
    assert other_values(Integer("n", "R1", "s", 13, 1)) == [1, 26]
    assert other_values(Integer("n", "R1", "s")) == [2]
