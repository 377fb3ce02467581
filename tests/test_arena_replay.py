"""Replays: lines, digests, recording, verification of every kind of tampering, files, and the commands."""

from __future__ import annotations

import gzip
import itertools
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from toy_game import broken

from tabletop_envs import cli, registry, watch
from tabletop_envs.agents import make_agent as make
from tabletop_envs.agents.base import BUILT_IN, View
from tabletop_envs.arena import replay as replays
from tabletop_envs.arena.replay import Recorder, Replay, TruncatedFileWarning, rules_digest, sample, verify
from tabletop_envs.core import jit, loops
from tabletop_envs.core.game import ALL, PUBLIC, Game
from tabletop_envs.core.position import Position
from tabletop_envs.errors import (
    CorruptDataError,
    GameOverError,
    IllegalActionError,
    NotationError,
    OptionError,
    OrderError,
    UnknownAgentError,
    UnknownGameError,
)
from tabletop_envs.testing import golden, walk
from tabletop_envs.testing import replays as suite_replays
from tabletop_envs.testing.subject import full_grid, pick
from tabletop_envs.testing.suite import run_check, subject_of

TESTS = Path(__file__).parent
OPTIONS: dict[str, Any] = {"memory": True, "tie": "first", "extras": ("joker", "refill"), "cards": [9, 5, 3]}


def played(game: Game, players: int = 3, seed: int = 5, **options: Any) -> Replay:
    """A game that walks play."""
    position = Position.new(game, players, seed=seed, **options)
    recorder = Recorder(position, [f"walker {seat}" for seat in range(players)])
    while not position.over:
        recorder.apply(pick(position, seed))
    return recorder.replay()


@pytest.fixture
def kept(toy: Game) -> Replay:
    """A game with options of every kind."""
    return played(toy, **OPTIONS)


# --- loops and texts --------------------------------------------------------------------------------------------


@pytest.mark.nojit
def test_the_loop_stops_where_the_actions_do_not_fit(toy: Game, kept: Replay) -> None:
    def replayed(*actions: int) -> tuple[int, Position]:
        position = kept.start()
        mask = position.action_mask()
        made = loops.replay(toy.calls, position.states, 0, np.array(actions, dtype=np.int64), mask)
        again = Position(toy, position.settings, position.states)
        assert np.array_equal(mask, again.action_mask())
        return int(made), again

    *_, end = kept.positions()
    number = len(kept.actions)
    assert replayed(*kept.actions) == (number, end)
    assert replayed(*kept.actions, 0, -1, 99) == (number, end)
    assert replayed() == (0, kept.start())
    for action in (-1, 9, 2**40, -(2**40)):
        made, position = replayed(*kept.actions[:3], action)
        assert made == -1 - 3
        assert position.decisions == 3


@pytest.mark.nojit
def test_the_loop_writes_what_it_plays(toy: Game) -> None:
    for seed in range(5):
        position, again = Position.new(toy, 3, seed=seed), Position.new(toy, 3, seed=seed)
        mask, actions = position.action_mask(), np.full(60, -1, dtype=np.int64)
        policies = np.array([BUILT_IN["random"], BUILT_IN["greedy"], BUILT_IN["random"]])
        greedy = toy.greedy_call
        made = loops.play_recorded(toy.calls, greedy, position.states, 0, mask, policies, 2, seed, actions)
        for number, action in enumerate(actions[:made].tolist()):
            policy = BUILT_IN["random"] if number < 2 else int(policies[again.seat])
            legal = len(again.legal_actions())
            assert action == loops.choose(greedy, policy, again.states[0], again.action_mask(), legal, seed)
            again.apply(action)
        assert again.over
        assert again.to_bytes() == position.to_bytes()
        assert (actions[made:] == -1).all()


@pytest.mark.nojit
def test_the_loop_writes_what_it_answers(toy: Game) -> None:
    """Each seat by its own salt; a row stops where somebody else is asked."""
    settings, games, cap = toy.settings(3), 4, 60
    template, rows = toy.template(settings), np.arange(4)
    masks = np.zeros((games, toy.num_actions(settings)), dtype=np.int8)
    states, keys = np.repeat(template, games), np.arange(games) + 5
    loops.deal_batch(toy.calls, template, states, rows, keys, masks)
    policies = np.array([[0, 1, -1], [1, 0, 0], [-1, -1, -1], [0, 0, 1]], dtype=np.int64)
    salts = np.arange(12, dtype=np.int64).reshape(4, 3) + 100
    actions, made = np.full((games, cap), -1, dtype=np.int64), np.zeros(games, dtype=np.int64)
    loops.answer_recorded(toy.calls, toy.greedy_call, states, rows[:3], policies, salts, masks, actions, made)
    for row in rows.tolist():
        position = Position.new(toy, 3, seed=int(keys[row]))
        for action in actions[row, : made[row]].tolist():
            assert position.seat is not None
            legal = len(position.legal_actions())
            policy, salt = int(policies[row, position.seat]), int(salts[row, position.seat])
            mask = position.action_mask()
            assert action == loops.choose(toy.greedy_call, policy, position.states[0], mask, legal, salt)
            position.apply(action)
        assert position.to_bytes() == states[row : row + 1].tobytes()
        assert (actions[row, made[row] :] == -1).all()
        assert made[row] == 0 if row in (2, 3) else position.over or position.seat == 2
    assert Position(toy, settings, states[1:2]).over


def test_equal_facts_give_equal_texts(toy: Game) -> None:
    position = Position.new(toy, 3, seed=5, **OPTIONS)
    for viewer in (0, 1, PUBLIC, ALL):
        text = position.json_text(viewer)
        assert json.loads(text) == position.to_json(viewer)
        assert text == json.dumps(position.to_json(viewer), sort_keys=True, separators=(",", ":"))


# --- lines ------------------------------------------------------------------------------------------------------


@pytest.mark.nojit
def test_a_line_holds_the_game(toy: Game, kept: Replay) -> None:
    line = kept.to_line()
    assert "\n" not in line
    content = json.loads(line)
    assert list(content) == [
        "schema", "game", "num_players", "options", "seed", "agents", "opening", "actions", "points", "places", "end",
        "rules", "final",
    ]  # fmt: skip
    assert content["game"] == toy.spec.env_id
    assert content["options"] == {
        "memory": True,
        "tie": "first",
        "extras": ["joker", "refill"],
        "cards": {"one": 9, "two": 5, "three": 3},
    }
    assert content["agents"] == ["walker 0", "walker 1", "walker 2"]
    assert Replay.from_line(line) == kept
    assert Replay.from_line(line.encode() + b"\r\n") == kept
    assert verify(kept) == []


def test_notes_are_kept_and_not_checked(kept: Replay) -> None:
    noted = replace(kept, info={"season": "first", "table": 4})
    again = Replay.from_line(noted.to_line())
    assert again.info == {"season": "first", "table": 4}
    assert verify(again) == []


@pytest.mark.nojit
def test_every_setting_is_recorded_and_verified(toy: Game) -> None:
    for settings in full_grid(toy.spec):
        replay = played(toy, settings.num_players, **settings.changed())
        assert verify(Replay.from_line(replay.to_line())) == []
        assert toy.settings(replay.num_players, **replay.options) == settings


def test_the_positions_of_a_replay(toy: Game, kept: Replay) -> None:
    assert kept.start() == Position.new(toy, 3, seed=5, **OPTIONS)
    expected = walk(toy, toy.settings(3, **OPTIONS), 5)
    for position, other in zip(kept.positions(), expected, strict=True):
        assert position == other
    illegal = replace(kept, actions=(99, *kept.actions))
    with pytest.raises(IllegalActionError):
        list(illegal.positions())
    with pytest.raises(GameOverError):
        list(replace(kept, actions=(*kept.actions, 0)).positions())
    with pytest.raises(UnknownGameError):
        replace(kept, game="tabletop/tyo-v0").start()


def test_a_capped_game_says_so(toy: Game) -> None:
    replay = played(toy, max_decisions=4)
    assert (replay.end, len(replay.actions)) == ("cap", 4)
    assert replay.options == {"max_decisions": 4}
    assert verify(replay) == []


MISSING: Any = object()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("schema", 2, "of schema 2, not 1: install the tabletop_envs that wrote it"),
        ("schema", "1", "of schema '1'"),
        ("schema", True, "of schema True"),
        ("schema", MISSING, "of schema None"),
        *[(name, MISSING, f"has no '{name}'") for name in replays._FORM if name != "info"],
        ("game", 7, "'game' is not the id of a game"),
        ("num_players", 2.0, "'num_players' is not a number of players"),
        ("num_players", 0, "'num_players' is not"),
        ("num_players", 4, "3 agents for 4 players"),
        ("options", [], "'options' is not an object"),
        ("seed", -1, "'seed' is not a whole number from 0"),
        ("seed", 2**53, "'seed' is not"),
        ("seed", True, "'seed' is not"),
        ("seed", "5", "'seed' is not"),
        ("agents", "abc", "'agents' is not a list of names"),
        ("agents", [], "'agents' is not"),
        ("agents", ["a", "b", None], "'agents' is not"),
        ("agents", ["a", "b"], "2 agents for 3 players"),
        ("opening", -1, "'opening' is not a number of actions"),
        ("opening", 10_000, "10000 opening actions of"),
        ("actions", "4,4", "'actions' is not a list of whole numbers"),
        ("actions", {"0": 4}, "'actions' is not"),
        ("actions", [4, 4.0], "'actions' is not"),
        ("actions", [4, "4"], "'actions' is not"),
        ("actions", [4, True], "'actions' is not"),
        ("actions", [4, [4]], "'actions' is not"),
        ("actions", [4, -1], "'actions' is not"),
        ("actions", [4, 2**31], "'actions' is not"),
        ("actions", [4, 10**30], "'actions' is not"),
        ("points", [1, 2], "2 points for 3 players"),
        ("points", [1, 2, 2**31], "'points' is not"),
        ("places", [1, 2, 0], "'places' is not a list of whole numbers, at least 1"),
        ("places", None, "'places' is not"),
        (
            "end",
            "crash",
            "'end' is not 'rules', 'cap' or a forfeit of a seat (illegal:0, crash:0, timeout:0, budget:0)",
        ),
        ("end", ["rules"], "'end' is not"),
        ("rules", "12", "'rules' is not 16 hex digits"),
        ("final", "F" * 16, "'final' is not 16 hex digits"),
        ("final", None, "'final' is not"),
        ("info", "a note", "'info' is not an object"),
        ("winner", 1, "has 'winner', which no replay has"),
    ],
)
def test_lines_of_a_wrong_form(kept: Replay, name: str, value: Any, words: str) -> None:
    content = json.loads(kept.to_line())
    if value is MISSING:
        del content[name]
    else:
        content[name] = value
    with pytest.raises(CorruptDataError) as caught:
        Replay.from_line(json.dumps(content), "games.jsonl:7")
    assert str(caught.value).startswith("games.jsonl:7")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "line", ["", "{", "nonsense", "[1, 2]", "7", "null", '"text"', "{}", "[" * 100_000, b"\xff\xfe{}", b"\x00" * 9]
)
def test_lines_that_are_no_replays(line: str | bytes) -> None:
    with pytest.raises(CorruptDataError, match=r"^games\.jsonl:7 .*: (remove the line|install)"):
        Replay.from_line(line, "games.jsonl:7")


# --- what verification finds ------------------------------------------------------------------------------------


def finds(replay: Replay, *words: str) -> None:
    """The first difference, also behind a round through a line."""
    differences = verify(replay)
    assert differences
    for word in words:
        assert word in differences[0]
    assert verify(Replay.from_line(replay.to_line())) == differences


def test_every_changed_action_is_found(toy: Game, kept: Replay) -> None:
    for number, action in enumerate(kept.actions):
        for other in range(toy.num_actions(toy.settings()) + 1):
            if other != action:
                actions = (*kept.actions[:number], other, *kept.actions[number + 1 :])
                assert verify(replace(kept, actions=actions)), (number, other)


def test_an_illegal_action_is_named_with_its_text(toy: Game, kept: Replay) -> None:
    position = Position.new(toy, 3, seed=5, **OPTIONS)
    for action in kept.actions[:4]:
        position.apply(action)
    illegal = int(position.action_mask().argmin())
    actions = (*kept.actions[:4], illegal, *kept.actions[5:])
    text, where = position.action_text(illegal), f"seat {position.seat} in phase {position.phase}"
    finds(replace(kept, actions=actions), f"actions[4]: {text!r} ({illegal}) is not legal for {where}")
    finds(replace(kept, actions=(10, *kept.actions)), "actions[0]: action 10 is not a whole number from 0 to 9")
    assert "actions[0]: action -1 is not" in verify(replace(kept, actions=(-1, *kept.actions)))[0]


def test_missing_and_additional_actions_are_found(kept: Replay) -> None:
    number = len(kept.actions)
    finds(replace(kept, actions=kept.actions[:-1]), f"not over after its {number - 1} actions: seat ")
    finds(replace(kept, actions=()), "not over after its 0 actions")
    finds(replace(kept, actions=(*kept.actions, 0, 99)), f"over after {number} actions, but 2 more follow")


def test_another_seed_or_option_is_found(kept: Replay) -> None:
    # the same actions may be legal in another deal, but its end is another one
    for seed in range(20):
        assert bool(verify(replace(kept, seed=seed))) == (seed != kept.seed)
    for options in (
        {},
        {**kept.options, "memory": False},
        {**kept.options, "tie": "nobody"},
        {**kept.options, "extras": ["joker"]},
        {**kept.options, "cards": {"one": 9, "two": 5, "three": 4}},
        {**kept.options, "max_decisions": 10},
        {**kept.options, "heap": 13},
    ):
        assert verify(replace(kept, options=options)), options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"memry": True}, "did you mean 'memory'?"),
        ({"memory": "yes"}, "option memory='yes' is not possible"),
        ({"heap": 3}, "option heap=3 is not possible"),
        ({"heap": None}, "option heap=None is not possible"),
        ({"tie": []}, "option tie=[] is not possible"),
        ({"extras": [[]]}, "option extras=[[]] is not possible"),
        ({"cards": {"one": None}}, "is not possible"),
        ({"cards": [float("inf"), 1, 1]}, "not possible"),
        ({"num_players": 2}, "not possible"),
        ({"self": 2}, "not possible"),
    ],
)
def test_impossible_options_are_found(kept: Replay, options: dict[str, Any], words: str) -> None:
    finds(replace(kept, options=options), words)


def test_another_outcome_is_found(kept: Replay) -> None:
    points = (kept.points[0] + 1, *kept.points[1:])
    finds(replace(kept, points=points), f"points {list(points)} is recorded, but it is {list(kept.points)}")
    finds(replace(kept, places=kept.places[::-1]), f"places {list(kept.places[::-1])} is recorded")
    finds(replace(kept, end="cap"), "end 'cap' is recorded, but it is 'rules'")
    finds(replace(kept, final="0" * 16), f"final digest '{'0' * 16}' is recorded, but it is '{kept.final}'")
    everything = replace(kept, points=points, places=kept.places[::-1], end="cap", final="0" * 16, rules="0" * 16)
    assert [line.split(" ")[0] for line in verify(everything)] == ["rules", "points", "places", "end", "final"]


def test_another_game_or_version_is_found(kept: Replay, two_moves: Game) -> None:
    finds(replace(kept, game="tabletop/tyo-v0"), "no game 'tabletop/tyo-v0'", "did you mean 'toy'?")
    finds(replace(kept, game="tabletop/toy-v1"), "toy has version 0, not 1")
    finds(replace(kept, game="toy"), "it is a game of 'toy', not of 'tabletop/toy-v0'")
    finds(replace(kept, game="tabletop/two_moves-v0"), "takes 2 players, not 3")
    assert verify(kept, two_moves) == ["it is a game of 'tabletop/toy-v0', not of 'tabletop/two_moves-v0'"]


def test_other_rules_are_found_and_the_rest_is_checked(toy: Game, kept: Replay) -> None:
    finds(replace(kept, rules="0" * 16), f"rules digest {'0' * 16} is not {rules_digest(toy)}")
    both = verify(replace(kept, rules="0" * 16, end="cap"))
    assert len(both) == 2
    twin = toy.with_functions(score=broken.score_wrong_places)
    differences = verify(kept, twin)
    assert differences[0].startswith("rules digest")
    assert differences[1].startswith(f"places {list(kept.places)} is recorded, but it is [1, 1, 1]")


def test_damaged_bytes_are_refused_or_found(kept: Replay) -> None:
    """Whatever becomes of a byte, nothing but CorruptDataError is raised, and no other game is verified."""
    rng, line = np.random.default_rng(1), kept.to_line().encode()
    refused = found = 0
    for _ in range(3000):
        damaged = bytearray(line)
        for place in rng.integers(0, len(line), rng.integers(1, 4)):
            damaged[place] = rng.choice(np.frombuffer(b'0123456789,[]{}":-. eEtn\xff', dtype=np.uint8))
        try:
            replay = Replay.from_line(bytes(damaged))
        except CorruptDataError:
            refused += 1
            continue
        if verify(replay):
            found += 1
        else:
            assert replace(replay, agents=kept.agents, opening=kept.opening) == kept
    assert min(refused, found) > 100


# --- the rules digest -------------------------------------------------------------------------------------------


CHANGES = {
    "legal": {"legal": broken.legal_forgets_pass},
    "both": {"legal": broken.legal_never_all, "apply": broken.apply_never_all},
    "setup": {"setup": broken.setup_without_chance},
    "score": {"score": broken.score_wrong_places},
    "observe": {"observe": broken.observe_peeks},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_rule_changes_the_digest(toy: Game, change: str) -> None:
    assert rules_digest(toy.with_functions(**CHANGES[change])) != rules_digest(toy)


def test_the_baseline_is_no_rule(toy: Game) -> None:
    assert rules_digest(toy.with_functions(greedy=broken.greedy_peeks)) == rules_digest(toy)


EDITS = {
    "nothing": ("", "", True),
    "comment": ("# R2.3: from one stone", "# R2.3 says: from one stone", True),
    "wording": (
        "    count = 0\n    if s.phase == Phase.PLAY:",
        "    count = 1 - 1\n    if s.phase == Phase.PLAY:",
        True,
    ),
    "rule": ("int(s.limit), int(s.stones)) + 1", "int(s.limit), int(s.stones), 2) + 1", False),
    "order": ("below(s, GROWTH, GROWTH_SIDES) == 0", "below(s, GROWTH, GROWTH_SIDES) == 1", False),
}


# the digest of a game in plain Python, over fewer games
DIGEST = """
from toy_game import GAME
from tabletop_envs.arena import replay
from tabletop_envs.core.game import Game
from tabletop_envs.testing import golden
golden._GAMES, replay._DIGEST_GAMES = 1, 2
print(replay.rules_digest(Game(GAME)))
"""


def test_edits_of_a_game(
    toy: Game, tmp_path: Path, python: Callable[..., CompletedProcess[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(golden, "_GAMES", 1)
    monkeypatch.setattr(replays, "_DIGEST_GAMES", 2)
    here = rules_digest(Game(toy.spec))
    for name, (old, new, same) in EDITS.items():
        shutil.copytree(TESTS / "toy_game", tmp_path / name / "toy_game")
        rules = tmp_path / name / "toy_game" / "rules.py"
        text = rules.read_text(encoding="utf-8")
        assert old in text
        rules.write_text(text.replace(old, new, 1), encoding="utf-8")
        run = python(DIGEST, path=tmp_path / name, TABLETOP_ENVS_JIT="off")
        assert run.returncode == 0, run.stderr
        assert (run.stdout.strip() == here) == same, name


# --- recording --------------------------------------------------------------------------------------------------


def test_recorders_want_a_fresh_position_and_a_finished_game(toy: Game) -> None:
    position = Position.new(toy, 2, seed=1)
    recorder = Recorder(position, ["a", "b"])
    with pytest.raises(OrderError, match="not over: play it to its end"):
        recorder.replay()
    recorder.apply("pass")
    assert recorder.actions == [4]
    with pytest.raises(OrderError, match="begins with the deal"):
        Recorder(position, ["a", "b"])
    with pytest.raises(OrderError, match="begins with the deal"):
        Recorder(Position.new(toy, 2).determinize(0, 1), ["a", "b"])
    wrong: list[Any] = [[], ["a"], ["a", "b", "c"], ["a", 7], "ab", None, 2]
    for names in wrong:
        with pytest.raises(OptionError, match="give 2 names, one a seat"):
            Recorder(Position.new(toy, 2), names)


@pytest.mark.parametrize("opening", [-1, 1.5, 2.0, True, False, np.bool_(True), "1", None, 2**31, np.int64(-1)])
def test_recorders_refuse_an_opening_that_no_line_holds(toy: Game, opening: Any) -> None:
    with pytest.raises(OptionError, match=r"opening=.* is not possible: give a number of actions"):
        Recorder(Position.new(toy, 2), ["a", "b"], opening=opening)


NESTED: dict[str, Any] = {}
NESTED["self"] = NESTED
DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "info",
    [
        [1],
        "a note",
        7,
        {"x": {1, 2}},
        {"x": b"bytes"},
        {"x": object()},
        {"x": [{"y": 1j}]},
        {"x": np.zeros(2)},
        {"x": np.datetime64("2020-01-01")},
        {"x": float("nan")},
        {"x": np.float32("inf")},
        {(1, 2): 3},
        NESTED,
        {"x": DEEP},
    ],
    ids=lambda value: type(value).__name__,
)
def test_recorders_refuse_notes_that_no_line_holds(toy: Game, info: Any) -> None:
    with pytest.raises(OptionError, match=r"info.*: give "):
        Recorder(Position.new(toy, 2), ["a", "b"], info=info)


def test_recorders_keep_what_numpy_counts(two_moves: Game) -> None:
    notes = {"x": np.int64(1), "y": [np.int8(2), (np.float32(0.5), np.bool_(True))], "z": None, "w": {"v": np.uint8(3)}}
    recorder = Recorder(Position.new(two_moves), [np.str_("a"), "b"], opening=np.int64(1), info=notes)
    recorder.apply(np.int64(1))
    recorder.apply(0)
    replay = recorder.replay()
    assert (type(replay.opening), replay.opening) == (int, 1)
    assert replay.info == {"x": 1, "y": [2, [0.5, True]], "z": None, "w": {"v": 3}}
    assert Replay.from_line(replay.to_line()) == replay


def test_refused_actions_are_not_recorded(toy: Game) -> None:
    recorder = Recorder(Position.new(toy, 2, seed=1), ["a", "b"])
    for action, error in (("jump", NotationError), (8, IllegalActionError), (-1, IllegalActionError)):
        with pytest.raises(error):
            recorder.apply(action)
    assert recorder.actions == []


def test_the_opening_is_marked(two_moves: Game) -> None:
    for opening, marked in ((0, 0), (1, 1), (2, 2), (7, 2)):
        recorder = Recorder(Position.new(two_moves), ["a", "b"], opening=opening, info={"table": opening})
        recorder.apply("name 1")
        recorder.apply(0)
        replay = recorder.replay()
        assert (replay.opening, replay.actions, replay.info) == (marked, (1, 0), {"table": opening})
        assert (replay.points, replay.places) == ((1, 0), (1, 2))
        assert verify(replay) == []


def test_actions_of_a_loop_over_an_environment(toy: Game, kept: Replay) -> None:
    again = replays.from_actions("toy", kept.actions, kept.agents, seed=5, num_players=3, **OPTIONS)
    assert again == kept
    with pytest.raises(OrderError):
        replays.from_actions(toy, kept.actions[:-1], kept.agents, seed=5, num_players=3, **OPTIONS)
    with pytest.raises(GameOverError):
        replays.from_actions(toy, (*kept.actions, 4), kept.agents, seed=5, num_players=3, **OPTIONS)


@pytest.mark.nojit
def test_built_in_agents_play_samples(toy: Game, two_moves: Game) -> None:
    for players in (2, 3, 4):
        agents = ["greedy", "random", "random", "greedy"][:players]
        games = list(sample(toy, toy.settings(players, heap=20), agents, 5, seed=3))
        assert [replay.agents for replay in games] == [tuple(agents)] * 5
        assert len({replay.seed for replay in games}) == 5
        assert all(replay.opening == 0 and verify(replay) == [] for replay in games)
        assert games == list(sample(toy, toy.settings(players, heap=20), agents, 5, seed=3))
        assert games != list(sample(toy, toy.settings(players, heap=20), agents, 5, seed=4))
    # one decision is drawn as opening; then greedy names itself
    games = list(sample(two_moves, two_moves.settings(), ["greedy", "greedy"], 40))
    assert {replay.actions for replay in games} == {(0, 1), (1, 1)}
    assert {replay.opening for replay in games} == {1}


class First:
    """Takes the first legal action, and knows the games that it was told of."""

    name = "first"

    def __init__(self) -> None:
        self.games: list[tuple[int, int]] = []
        self.closed = 0

    def reset(self, seat: int, seed: int) -> None:
        self.games.append((seat, seed))

    def choose(self, view: View) -> int:
        return int(view.legal_actions()[0])

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def firsts(monkeypatch: pytest.MonkeyPatch) -> list[First]:
    """Makes `first` an agent's name; those that were made."""
    made: list[First] = []

    def make_agent(name: str, game: Game, **arguments: Any) -> Any:
        if name != "first":
            return make(name, game, **arguments)
        made.append(First())
        return made[-1]

    monkeypatch.setattr(replays, "make_agent", make_agent)
    return made


@pytest.mark.nojit
def test_other_agents_are_recorded_as_they_play(toy: Game, two_moves: Game, firsts: list[First]) -> None:
    settings = toy.settings(3, heap=20)
    compiled = list(sample(toy, settings, ["greedy"] * 3, 4, seed=3))
    games = list(sample(toy, settings, ["first", "greedy", "first"], 4, seed=3))
    assert [replay.seed for replay in games] == [replay.seed for replay in compiled]
    assert [first.closed for first in firsts] == [1, 1]
    assert [[seat for seat, _ in first.games] for first in firsts] == [[0] * 4, [2] * 4]
    assert len({seed for first in firsts for _, seed in first.games}) == 8
    for replay in games:
        assert verify(replay) == []
        assert replay.agents == ("first", "greedy", "first")
        *before, _ = [position.clone() for position in replay.positions()]
        for position, action in zip(before, replay.actions, strict=True):
            if position.seat != 1:
                assert action == position.legal_actions()[0]
    assert games == list(sample(toy, settings, ["first", "greedy", "first"], 4, seed=3))
    # the opening is drawn, and as for compiled games
    for seed in range(3):
        openings = [
            [replay.actions[0] for replay in sample(two_moves, two_moves.settings(), agents, 20, seed=seed)]
            for agents in (["first", "first"], ["random", "greedy"])
        ]
        assert openings[0] == openings[1]
        assert set(openings[0]) == {0, 1}


def test_agents_are_closed_whatever_happens(toy: Game, firsts: list[First]) -> None:
    with pytest.raises(UnknownAgentError):
        sample(toy, toy.settings(2), ["first", "frist"], 1)
    games = sample(toy, toy.settings(2), ["first", "random"], 3)
    next(games)
    assert [first.closed for first in firsts] == [1, 0]
    games.close()  # type: ignore[attr-defined]
    assert [first.closed for first in firsts] == [1, 1]


def test_greedy_plays_its_own_seat(toy: Game) -> None:
    settings = toy.settings(2)
    shares = []
    for agents in (["greedy", "random"], ["random", "greedy"]):
        places = [replay.places for replay in sample(toy, settings, agents, 200 if jit.COMPILED else 20)]
        shares.append(sum(place[agents.index("greedy")] == 1 for place in places) / len(places))
    assert min(shares) > 0.5


def test_samples_refuse_what_they_cannot_seat(toy: Game) -> None:
    with pytest.raises(UnknownAgentError, match="no agent 'gredy': there are random, greedy"):
        sample(toy, toy.settings(2), ["gredy", "random"], 1)
    with pytest.raises(OptionError, match="1 agents do not fill 2 seats"):
        sample(toy, toy.settings(2), ["random"], 1)
    with pytest.raises(OptionError, match="seed -1"):
        sample(toy, toy.settings(2), ["random", "random"], 1, seed=-1)


# --- files ------------------------------------------------------------------------------------------------------


@pytest.fixture
def file(toy: Game, tmp_path: Path) -> Path:
    """A file of six games."""
    path = tmp_path / "games.jsonl"
    assert replays.append(path, sample(toy, toy.settings(3), ["random"] * 3, 6)) == 6
    return path


def test_files_are_read_and_added_to(toy: Game, file: Path, kept: Replay) -> None:
    assert list(replays.read(file)) == list(sample(toy, toy.settings(3), ["random"] * 3, 6))
    assert replays.append(file, [kept]) == 1
    assert list(replays.read(file))[6:] == [kept]
    assert replays.append(file, []) == 0
    assert file.read_text(encoding="utf-8").count("\n") == 7


def test_thousands_of_games_stream(toy: Game, tmp_path: Path) -> None:
    path, games = tmp_path / "many.jsonl", 3000
    assert replays.append(path, sample(toy, toy.settings(2), ["random", "random"], games)) == games
    stream = replays.read(path)
    first = next(stream)  # without reading the rest
    assert verify(first) == []
    assert sum(verify(replay) == [] for replay in stream) == games - 1


def test_writing_is_a_line_at_a_time(toy: Game, tmp_path: Path) -> None:
    """What is written before the source breaks off is there."""

    def breaking() -> Any:
        yield from sample(toy, toy.settings(2), ["random", "random"], 3)
        raise KeyboardInterrupt

    path = tmp_path / "games.jsonl"
    with pytest.raises(KeyboardInterrupt):
        replays.append(path, breaking())
    assert len(list(replays.read(path))) == 3


def test_every_truncation_of_the_last_line(file: Path) -> None:
    whole = file.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    sound = list(replays.read(file))
    for length in (start + 1, start + 20, len(whole) - 60, len(whole) - 2):
        file.write_bytes(whole[:length])
        with pytest.warns(TruncatedFileWarning, match=r"games\.jsonl:6 breaks off in the middle of a game: remove"):
            assert list(replays.read(file)) == sound[:5]
        *_, last = replays.scan(file)
        assert (last.truncated, last.replay, last.place) == (True, None, f"{file}:6")
        with pytest.raises(CorruptDataError, match=r"last line of .*games\.jsonl breaks off: remove it"):
            replays.append(file, sound)
        assert len(file.read_bytes()) == length
    for end in (b"", b"  ", b"\r"):  # the game is whole, only the line's end is missing
        file.write_bytes(whole[:-1] + end)
        assert list(replays.read(file)) == sound
        assert replays.append(file, []) == 0
        assert replays.append(file, sound[:2]) == 2
        assert list(replays.read(file)) == [*sound, *sound[:2]]
        assert file.read_bytes().startswith(whole[:-1] + end + b"\n")
    file.write_bytes(whole[:start])
    assert list(replays.read(file)) == sound[:5]


@pytest.mark.parametrize("tail", ["7", "{}", "[1]"])
def test_a_last_line_that_is_no_replay_and_has_no_end(file: Path, tail: str) -> None:
    sound = list(replays.read(file))
    file.write_bytes(file.read_bytes() + tail.encode())
    with pytest.raises(CorruptDataError, match=r"the last line of .*games\.jsonl (holds no|is of schema)"):
        replays.append(file, sound)
    file.write_bytes(file.read_bytes()[: -len(tail)] + b" ")
    assert replays.append(file, sound) == 6
    assert list(replays.read(file)) == [*sound, *sound]


def test_the_last_line_is_found_over_blocks(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sound, whole = list(replays.read(file)), file.read_bytes()
    for block in (1, 7, len(whole) - 1, len(whole)):
        monkeypatch.setattr(replays, "_TAIL_BLOCK", block)
        file.write_bytes(whole[:-1])
        assert replays.append(file, sound[:1]) == 1
        assert list(replays.read(file)) == [*sound, sound[0]]
        file.write_bytes(whole.splitlines()[0])  # the only line
        assert replays.append(file, sound[1:]) == 5
        assert list(replays.read(file)) == sound


def test_no_file_is_left_where_the_first_game_fails(tmp_path: Path) -> None:
    def failing() -> Any:
        raise OptionError("no game")
        yield

    with pytest.raises(OptionError):
        replays.append(tmp_path / "games.jsonl", failing())
    assert list(tmp_path.iterdir()) == []


def test_blank_lines_and_empty_files(file: Path, tmp_path: Path) -> None:
    sound = list(replays.read(file))
    file.write_bytes(b"\n  \n" + file.read_bytes().replace(b"\n", b"\r\n\r\n"))
    assert list(replays.read(file)) == sound
    (tmp_path / "empty.jsonl").touch()
    assert list(replays.read(tmp_path / "empty.jsonl")) == []
    with pytest.raises(FileNotFoundError):
        list(replays.read(tmp_path / "nowhere.jsonl"))


def test_a_junk_line_stops_readers_and_not_scanners(file: Path) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:2], b"\xff junk\n", lines[2][:80] + b"\n", *lines[2:]]))
    stream = replays.read(file)
    assert len([next(stream), next(stream)]) == 2
    with pytest.raises(CorruptDataError, match=r"games\.jsonl:3 cannot be read as JSON"):
        next(stream)
    found = list(replays.scan(file))
    assert [line.replay is None for line in found] == [False, False, True, True, False, False, False, False]
    assert not any(line.truncated for line in found)
    assert str(found[3].error).startswith(f"{file}:4 cannot be read as JSON")


# --- the check of the conformance suite -------------------------------------------------------------------------


def test_the_suite_finds_what_does_not_come_again(toy: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not run_check("recorded games", subject_of(toy.with_functions(advance=broken.advance_by_global_chance))).ok
    notation = toy.modules["notation"]
    count, describe = itertools.count(), notation.describe
    monkeypatch.setattr(notation, "describe", lambda s, viewer: {**describe(s, viewer), "told": next(count)})
    report = run_check("recorded games", subject_of(toy))
    assert not report.ok
    assert "its own replay is not verified: final digest" in report.detail


@pytest.mark.parametrize("blind", ["points", "final digest", "rules digest", "follow", "not over", "not legal"])
def test_the_suite_finds_a_blind_verifier(toy: Game, monkeypatch: pytest.MonkeyPatch, blind: str) -> None:
    def verified(replay: Replay, game: Game) -> list[str]:
        return [line for line in verify(replay, game) if blind not in line]

    monkeypatch.setattr(suite_replays, "verify", verified)
    report = run_check("recorded games", subject_of(toy, quick=True, games=1))
    assert not report.ok
    assert "a changed replay is verified as" in report.detail


# --- commands ---------------------------------------------------------------------------------------------------


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli.main, ["replay", *[str(argument) for argument in arguments]])


def test_the_commands_are_listed() -> None:
    assert "\n  replay " in CliRunner().invoke(cli.main, ["--help"]).output
    assert {"\n  record ", "\n  verify "} <= {f"\n  {line.split()[0]} " for line in call("-h").output.splitlines()[-2:]}


def test_record_and_verify(toy: Game, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    command = ("record", "toy", "--agents", "random, greedy,random", "--games", 12, "--seed", 7, "-o", "heap=20")
    result = call(*command, "--output", path)
    assert (result.exit_code, result.output) == (0, f"12 games in {path}\n")
    recorded = list(replays.read(path))
    assert recorded == list(sample(toy, toy.settings(3, heap=20), ["random", "greedy", "random"], 12, seed=7))
    assert call("record", "toy", "--players", 4, "--games", 3, "--output", path).exit_code == 0
    assert [replay.num_players for replay in replays.read(path)] == [3] * 12 + [4] * 3
    result = call("verify", path, path)
    assert result.exit_code == 0
    decisions = 2 * sum(len(replay.actions) for replay in replays.read(path))
    assert result.output.startswith(f"30 games, {decisions:,} decisions in ")
    assert result.output.endswith("; 0 bad lines\n")


def test_verify_names_the_first_difference_of_each_bad_line(toy: Game, file: Path) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()
    games = [Replay.from_line(line) for line in lines]
    lines[1] = replace(games[1], actions=(8, *games[1].actions[1:]), rules="0" * 16).to_line()
    lines[2] = replace(games[2], end="cap").to_line()
    lines[3] = "junk"
    file.write_text("\n".join(lines)[:-30], encoding="utf-8")
    result = call("verify", file)
    assert result.exit_code == 1
    told = result.output.splitlines()
    assert told[0].startswith(f"{file}:2: rules digest 0000000000000000 is not {rules_digest(toy)}")
    assert told[0].endswith("(and 1 more)")
    assert told[1] == f"{file}:3: end 'cap' is recorded, but it is 'rules'"
    assert told[2].startswith(f"{file}:4 cannot be read as JSON")
    assert told[3].startswith(f"{file}:6 breaks off in the middle of a game")
    assert told[4].startswith("4 games, ")
    assert told[4].endswith("; 4 bad lines")
    assert len(told) == 5


def test_verify_tells_so_many_lines(file: Path) -> None:
    file.write_text("junk\n" * 50)
    told = call("verify", file).output.splitlines()
    assert len(told) == cli._SHOWN_LINES + 2
    assert told[-2] == f"{file}: {50 - cli._SHOWN_LINES} more bad lines"


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["verify"], 2, "Missing argument"),
        (["verify", "nowhere.jsonl"], 2, "does not exist"),
        (["record", "toy"], 2, "--output"),
        (["record", "tyo", "--output", "out.jsonl"], 1, "did you mean 'toy'?"),
        (["record", "toy", "--games", 0, "--output", "out.jsonl"], 2, "--games"),
        (["record", "toy", "--agents", "gredy", "--output", "out.jsonl"], 1, "no agent 'gredy': there are"),
        (["record", "toy", "--agents", "random,greedy", "-p", 3, "--output", "out.jsonl"], 1, "do not fill 3 seats"),
        (["record", "toy", "--agents", ",".join(["random"] * 5), "--output", "out.jsonl"], 1, "takes 2 to 4 players"),
        (["record", "toy", "-o", "heap=3", "--output", "out.jsonl"], 1, "option heap=3 is not possible"),
        (["record", "toy", "--seed", -1, "--output", "out.jsonl"], 1, "seed -1 is not possible"),
        (["record", "toy", "--output", "no/such/folder/out.jsonl"], 1, "No such file or directory"),
    ],
)
def test_mistakes(
    toy: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[Any], status: int, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = call(*arguments)
    assert result.exit_code == status, result.output
    assert words in result.output
    assert "Traceback" not in result.output
    assert not (tmp_path / "out.jsonl").exists()


def test_recording_into_a_file_that_breaks_off(toy: Game, file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-9])
    result = call("record", "toy", "--output", file)
    assert result.exit_code == 1
    assert "breaks off: remove it, then add more" in result.output


@pytest.mark.parametrize("name", list(registry.games()))
def test_registered_games(name: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    assert call("record", name, "--games", 4, "--output", path).exit_code == 0
    assert call("verify", path).exit_code == 0
    opening = registry.spec(name).opening_decisions
    assert {replay.opening for replay in replays.read(path)} == {opening}


# --- forfeits ---------------------------------------------------------------------------------------------------


@pytest.fixture
def stopped(toy: Game, kept: Replay) -> tuple[Replay, int]:
    """The game of `kept` after six decisions, and the seat to act."""
    position = kept.start()
    for action in kept.actions[:6]:
        position.apply(action)
    assert position.seat is not None
    end = f"crash:{position.seat}"
    return replays.replay_of(position, kept.agents, kept.actions[:6], forfeit=end), position.seat


@pytest.mark.parametrize("kind", replays.FAILURES)
def test_who_forfeits_is_last_alone(toy: Game, kind: str) -> None:
    places = set()
    for seed in range(30):
        position = Position.new(toy, 4, seed=seed)
        actions = []
        while position.seat is not None:
            end = f"{kind}:{position.seat}"
            replay = replays.replay_of(position, ["a"] * 4, actions, forfeit=end)
            assert verify(Replay.from_line(replay.to_line())) == []
            assert (replay.end, replay.forfeit) == (end, end)
            loser, running = position.seat, position.places()
            assert list(replay.points) == position.points()
            assert replay.places[loser] == 4
            assert replay.places.count(4) == 1
            for one, other in itertools.permutations(set(range(4)) - {loser}, 2):
                assert (replay.places[one] < replay.places[other]) == (running[one] < running[other])
            assert 1 in replay.places
            places.add(replay.places)
            actions.append(pick(position, seed))
            position.apply(actions[-1])
    assert len(places) > 20


def test_what_of_a_forfeit_is_found(kept: Replay, stopped: tuple[Replay, int]) -> None:
    replay, seat = stopped
    assert verify(replay) == []
    other = (seat + 1) % 3
    finds(replace(replay, end=f"crash:{other}"), f"end 'crash:{other}' is recorded, but seat {seat} is to act")
    finds(replace(replay, end="rules"), f"not over after its 6 actions: seat {seat} is to act")
    finds(replace(replay, places=(1, 1, 1)), "places [1, 1, 1] is recorded")
    finds(replace(replay, points=(9, 9, 9)), "points [9, 9, 9] is recorded")
    finds(replace(replay, final="0" * 16), "final digest")
    finds(replace(kept, end="crash:0"), "is over after its", "it cannot end with 'crash:0'")
    # another word for it is another file, not another game
    assert verify(replace(replay, end=f"illegal:{seat}")) == []


@pytest.mark.parametrize("end", ["crash", "crash:", "crash:-1", "crash:01", "crash:3", "crash:1 ", "panic:1", "cap:1"])
def test_ends_that_no_game_has(stopped: tuple[Replay, int], end: str) -> None:
    with pytest.raises(CorruptDataError, match="'end' is"):
        Replay.from_line(replace(stopped[0], end=end).to_line())


# --- headers and compressed files -------------------------------------------------------------------------------


def test_headers_and_compressed_files(toy: Game, file: Path, tmp_path: Path) -> None:
    sound, lines = list(replays.read(file)), file.read_bytes()
    assert replays.header(file) is None
    head = b'{"header":1,"python":"3.12"}\n'
    plain, packed = tmp_path / "headed.jsonl", tmp_path / "headed.jsonl.gz"
    plain.write_bytes(head + lines)
    packed.write_bytes(gzip.compress(head + lines, mtime=0))
    for path in (plain, packed):
        assert replays.header(path) == {"header": 1, "python": "3.12"}
        assert list(replays.read(path)) == sound
        places = [line.place for line in replays.scan(path)]
        assert places == [f"{path}:{number}" for number in range(1, 8)]
        assert watch.load(path, 1) == sound[0]
        assert watch.load(path, 6) == sound[5]
        result = call("verify", path)
        assert result.exit_code == 0, result.output
        assert result.output.startswith("6 games, ")
    assert replays.append(plain, sound[:1]) == 1
    plain.write_bytes(head[:-1])
    assert replays.append(plain, sound[:1]) == 1
    assert list(replays.read(plain)) == sound[:1]
    with pytest.raises(OptionError, match="is compressed and takes no more games"):
        replays.append(packed, sound)
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert replays.header(empty) is None


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ('{"header":2}', "headed.jsonl:1 is a header of version 2, not 1: install"),
        ('{"header":true}', "is a header of version True"),
        ('{"header":1', "headed.jsonl:1 cannot be read as JSON"),
    ],
)
def test_headers_that_cannot_be_read(file: Path, tmp_path: Path, head: str, words: str) -> None:
    path = tmp_path / "headed.jsonl"
    path.write_bytes(head.encode() + b"\n" + file.read_bytes())
    for refusing in (replays.header, lambda path: list(replays.read(path))):
        with pytest.raises(CorruptDataError, match=re.escape(words)):
            refusing(path)


def test_a_header_stands_first_alone(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b'{"header":1}\n')
    *_, last = replays.scan(file)
    assert str(last.error).startswith(f"{file}:7 is of schema None")


@pytest.mark.parametrize("damage", ["cut", "flip", "plain"])
def test_damaged_compressed_files(file: Path, tmp_path: Path, damage: str) -> None:
    path, packed = tmp_path / "games.jsonl.gz", bytearray(gzip.compress(file.read_bytes()))
    if damage == "flip":
        packed[len(packed) // 2] ^= 0xFF
    path.write_bytes({"cut": bytes(packed[:-20]), "flip": bytes(packed), "plain": file.read_bytes()}[damage])
    *_, last = replays.scan(path)
    assert last.error is not None
    assert re.search(r"games\.jsonl\.gz:\d+ (cannot be unpacked \(|cannot be read as JSON)", str(last.error))
    assert call("verify", path).exit_code == 1
