"""Schedules and rosters: seeds, rotations, line-ups, the canonical file, and what is wrong with one."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from arena_board import Board
from click.testing import CliRunner, Result

from tabletop_envs import cli
from tabletop_envs.arena import roster
from tabletop_envs.arena import schedule as schedules
from tabletop_envs.arena.replay import rules_digest
from tabletop_envs.arena.schedule import Lineup, Schedule, lineup, season_lineups, table_seed
from tabletop_envs.core.game import Game
from tabletop_envs.errors import CorruptDataError, OptionError, UnknownAgentError, UnknownGameError

ANCHORS = ["random", "greedy", "mcts-100", "mcts-1000"]


@pytest.fixture
def board(toy: Game, tmp_path: Path) -> Board:
    made = Board(tmp_path / "board", toy)
    for name in ("random", "greedy", "mcts-20"):
        made.add(name)
    anchors = {"schema": 1, "anchors": ["random", "greedy", "mcts-20", "ppo"]}
    (made.root / "anchors.json").write_text(json.dumps(anchors), encoding="utf-8")
    return made


# --- seeds, tables, line-ups ------------------------------------------------------------------------------------


def test_seeds_come_from_names_alone() -> None:
    number = int(hashlib.sha256(b"2026-1/urbino-v0/2/7").hexdigest()[:16], 16)
    assert table_seed("2026-1", "urbino-v0", 2, 7) == number // 2**11
    known = {table_seed(*name, table) for name in (("a", "x-v0", 2), ("b", "x-v0", 2), ("a", "x-v0", 3)) for table in range(500)}  # fmt: skip  # noqa: E501
    assert len(known) == 1500
    assert max(known) < 2**53
    assert max(known) > 2**53 * 0.99
    assert min(known) < 2**53 * 0.01


def test_each_agent_of_a_table_takes_each_seat_of_one_deal(board: Board) -> None:
    schedule = board.schedule(["random", "greedy", "mcts-20"], ["greedy", "random", "random"], tables=4, players=3)
    fixtures = list(schedule.fixtures())
    assert len(fixtures) == 2 * 4 * 3
    order = [(fixture.lineup, fixture.table, fixture.rotation) for fixture in fixtures]
    names = ["random+greedy+mcts-20", "greedy+2*random"]
    assert order == [(name, table, rotation) for name in names for table in range(4) for rotation in range(3)]
    for first in range(0, len(fixtures), 3):
        table = fixtures[first : first + 3]
        assert len({fixture.seed for fixture in table}) == 1
        for seat in range(3):
            assert Counter(fixture.agents[seat] for fixture in table) == Counter(table[0].agents)
    for fixture in fixtures:
        agents = next(entry.agents for entry in schedule.lineups if entry.name == fixture.lineup)
        assert fixture.agents == tuple(agents[(seat + fixture.rotation) % 3] for seat in range(3))
        assert fixture.seed == schedule.seeds[fixture.table]  # the same for all line-ups


def test_two_players_meet_each_other_once() -> None:
    lineups = season_lineups(ANCHORS, 2, 100, {"mcts-1000": 20})
    played = {entry.name: entry.tables for entry in lineups}
    assert list(played) == [
        "greedy+random",
        "mcts-100+random",
        "mcts-100+greedy",
        "mcts-1000+random",
        "mcts-1000+greedy",
        "mcts-1000+mcts-100",
        *(f"candidate+{name}" for name in ANCHORS),
    ]
    assert {tables for name, tables in played.items() if "1000" in name} == {20}
    assert {tables for name, tables in played.items() if "1000" not in name} == {100}


def test_more_players_meet_copies_of_each_other_and_a_mixed_table() -> None:
    lineups = season_lineups(ANCHORS, 4, 10)
    own = [entry.agents for entry in lineups if "candidate" not in entry.agents]
    pairs = {(one, other, other, other) for one in ANCHORS for other in ANCHORS if one != other}
    assert set(own) == {*pairs, tuple(ANCHORS)}
    assert len(own) == len(pairs) + 1
    others = [entry.agents for entry in lineups if "candidate" in entry.agents]
    assert others == [*(("candidate", name, name, name) for name in ANCHORS), ("candidate", *ANCHORS[1:])]
    assert len({entry.name for entry in lineups}) == len(lineups)
    assert lineups[0].name == "random+3*greedy"
    # where there are fewer anchors than seats, the strongest come again
    assert season_lineups(ANCHORS[:3], 5, 1)[-1].agents == ("candidate", "random", "greedy", "mcts-100", "mcts-100")
    assert season_lineups(["random"], 4, 1) == [lineup(["candidate", "random", "random", "random"], 1)]


def test_parts_of_a_schedule(board: Board) -> None:
    schedule = board.schedule(["greedy", "random"], ["candidate", "random"], ["candidate", "greedy"], tables=5)
    assert [entry.name for entry in schedule.part().lineups] == ["greedy+random"]
    gauntlet = schedule.part("me-2", 2)
    assert [(entry.name, entry.agents, entry.tables) for entry in gauntlet.lineups] == [
        ("candidate+random", ("me-2", "random"), 2),
        ("candidate+greedy", ("me-2", "greedy"), 2),
    ]
    assert gauntlet.seeds == schedule.seeds[:2]
    assert gauntlet.agents() == ["me-2", "random", "greedy"]
    whole = list(schedule.part("me-2").fixtures())
    assert [fixture for fixture in whole if fixture.table < 2] == list(gauntlet.fixtures())


def test_schedules_are_extended_and_keep_what_they_hold(board: Board, toy: Game) -> None:
    settings = toy.settings(2)
    old = schedules.new(toy, settings, "s", ["random", "greedy"], 3)
    new = schedules.new(toy, settings, "s", ["random", "greedy", "ppo"], 5, {"ppo": 2})
    both = old.extended_by(new)
    names = [entry.name for entry in both.lineups]
    assert names[: len(old.lineups)] == [entry.name for entry in old.lineups]
    assert set(names) == {entry.name for entry in new.lineups}
    assert {entry.name: entry.tables for entry in both.lineups} == {entry.name: entry.tables for entry in new.lineups}
    assert both.seeds[:3] == old.seeds
    assert set(old.fixtures()) <= set(both.fixtures())
    assert both.extended_by(old) == both
    for other in (
        schedules.new(toy, settings, "t", ["random"], 3),
        schedules.new(toy, toy.settings(3), "s", ["random"], 3),
        schedules.new(toy, toy.settings(2, heap=9), "s", ["random"], 3),
    ):
        with pytest.raises(OptionError, match=r"is not extended by one with .*: begin another season"):
            old.extended_by(other)


# --- the file ---------------------------------------------------------------------------------------------------


def test_the_file_is_canonical(board: Board, toy: Game, tmp_path: Path) -> None:
    schedule = board.schedule(["greedy", "random"], tables=2, heap=9)
    path = tmp_path / "schedule.json"
    path.write_text(schedule.text(), encoding="utf-8")
    assert Schedule.read(path) == schedule
    assert Schedule.read(path).text() == schedule.text()
    seeds = [table_seed("2026-1", "toy-v0", 2, table) for table in range(2)]
    content = {
        "game": "toy-v0",
        "lineups": [{"agents": ["greedy", "random"], "name": "greedy+random", "tables": 2}],
        "num_players": 2,
        "options": {"heap": 9},
        "rules": rules_digest(toy),
        "schema": 1,
        "season": "2026-1",
        "seeds": seeds,
    }
    assert schedule.text() == json.dumps(content, indent=1) + "\n"
    assert schedule.load_game() == (toy, toy.settings(2, heap=9))


MISSING: Any = object()


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("schema", 2, "is of schema 2, not 1: install the tabletop_envs"),
        ("schema", True, "is of schema True"),
        ("seeds", MISSING, "has no 'seeds'"),
        ("seed", 1, "a field is 'seed', not one that a schedule has"),
        ("season", "2026/1", "season is '2026/1', not a name like"),
        ("game", 7, "game is 7, not the id of a game"),
        ("num_players", "2", "num_players is '2', not a number of players"),
        ("options", [], "options is [], not an object"),
        ("rules", "xyz", "rules is 'xyz', not 16 hex digits"),
        ("lineups", [], "lineups is [], not a list of line-ups"),
        ("lineups", {}, "lineups is {}"),
        ("lineups.0", 7, "lineups[0] is 7, not name, agents and tables"),
        ("lineups.1.name", "greedy+random", "lineups[1].name is 'greedy+random', not a name of its own"),
        ("lineups.1.agents", ["greedy"], "lineups[1].agents is ['greedy'], not a list of 2 agents"),
        ("lineups.1.agents.1", "../x", "lineups[1].agents[1] is '../x', not the name of an agent"),
        ("lineups.1.agents.1", "anchors", "lineups[1].agents[1] is 'anchors', not the name"),
        ("lineups.1.agents", ["candidate", "candidate"], "not one with a single 'candidate'"),
        ("lineups.1.tables", 0, "lineups[1].tables is 0, not a number of tables"),
        ("lineups.1.tables", 4, "seeds are 3, not 4, one a table"),
        ("seeds", 7, "seeds is 7, not a list"),
        ("seeds.2", 7, "seeds[2] is 7, but season, game and players give "),
        ("season", "2026-2", "seeds[0] is "),
    ],
)
def test_schedules_that_are_wrong(board: Board, tmp_path: Path, field: str, value: Any, words: str) -> None:
    content = json.loads(board.schedule(["greedy", "random"], ["candidate", "random"]).text())
    *way, last = [int(part) if part.isdecimal() else part for part in field.split(".")]
    at = content
    for part in way:
        at = at[part]
    if value is MISSING:
        del at[last]
    else:
        at[last] = value
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(CorruptDataError) as caught:
        Schedule.read(path)
    assert str(caught.value).startswith(f"{path}")
    assert words in str(caught.value)


def test_broken_json_is_named_by_its_line(board: Board, tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    path.write_text(board.schedule(["greedy", "random"]).text().replace(' "num_players": 2,', ' "num_players" 2,'))
    number = path.read_text().splitlines().index(' "num_players" 2,') + 1
    with pytest.raises(CorruptDataError, match=rf"schedule\.json:{number} cannot be read as JSON"):
        Schedule.read(path)
    for content in (b"[]", b"\xff", b"", b"[" * 100_000):
        path.write_bytes(content)
        with pytest.raises(CorruptDataError, match=r"schedule\.json"):
            Schedule.read(path)
    with pytest.raises(FileNotFoundError):
        Schedule.read(tmp_path / "nowhere.json")


def test_schedules_for_other_rules_or_games_are_refused(board: Board, toy: Game) -> None:
    schedule = board.schedule(["greedy", "random"])
    other = Schedule(schedule.season, "toy-v0", 2, {}, "0" * 16, schedule.lineups)
    with pytest.raises(OptionError, match=f"with rules {'0' * 16}, but the installed game has {rules_digest(toy)}"):
        other.load_game()
    with pytest.raises(UnknownGameError, match="has version 0, not 1"):
        Schedule(schedule.season, "toy-v1", 2, {}, schedule.rules, schedule.lineups).load_game()
    with pytest.raises(OptionError, match="did you mean 'heap'"):
        Schedule(schedule.season, "toy-v0", 2, {"haep": 9}, schedule.rules, schedule.lineups).load_game()


@pytest.mark.parametrize(
    ("season", "anchors", "tables", "words"),
    [
        ("2026 1", ["random"], 1, "'2026 1' is no name of a season"),
        ("s", [], 1, "anchors none do not fit"),
        ("s", ["random", "random"], 1, "each once"),
        ("s", ["Random"], 1, "'Random' is no name of an agent"),
        ("s", ["candidate"], 1, "'candidate' is no name of an agent"),
        ("s", ["random"], 0, "tables=0 is not possible"),
    ],
)
def test_schedules_that_cannot_be_made(toy: Game, season: str, anchors: list[str], tables: int, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        schedules.new(toy, toy.settings(2), season, anchors, tables)


# --- rosters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "you"}, "name is 'you', not 'me', as its folder"),
        ({"version": 1}, "version is 1, not a text"),
        ({"kind": None}, "kind is None, not a text"),
        ({"stateless": 1}, "stateless is 1, not true or false"),
        ({"entry": None}, "entry is None, not "),
        ({"entry": {"builtin": 7}}, "entry is {'builtin': 7}"),
        ({"entry": {"file": "agent.py"}}, "entry is {'file': 'agent.py'}"),
        ({"entry": {"builtin": "random", "file": "a", "make": "b"}}, "entry is"),
        ({"budget": {"kind": "search"}}, "budget is {'kind': 'search'}, not"),
        ({"budget": {"kind": "seconds"}}, "budget is"),
        ({"games": {"toy-v0": 2}}, "games is {'toy-v0': 2}, not numbers of players by game"),
        ({"weights": "w.npz"}, "weights is 'w.npz', not an object or null"),
    ],
)
def test_agents_that_cannot_be_read(board: Board, changes: dict[str, Any], words: str) -> None:
    board.add("me", "last", **changes)
    with pytest.raises(CorruptDataError) as caught:
        roster.read(board.root / "agents" / "me")
    assert str(caught.value).startswith(f"{board.root / 'agents' / 'me' / 'agent.json'}: {words}")


def test_agents_that_are_not_there(board: Board) -> None:
    with pytest.raises(UnknownAgentError, match=r"there is no agent 'nobody': .*agent\.json is missing"):
        roster.read(board.root / "agents" / "nobody")
    for name in ("candidate", "anchors", "Big"):
        board.add(name, "last")
        with pytest.raises(CorruptDataError, match="small letters, digits and hyphens"):
            roster.read(board.root / "agents" / name)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"entry": {"builtin": "gredy"}}, "no agent 'gredy'"),
        ({"entry": {"builtin": "human"}}, "is a person: the arena seats none"),
        ({"entry": {"builtin": "ppo:{weights}"}}, "names no file of weights"),
        (
            {"entry": {"builtin": "ppo:{weights}"}, "weights": {"file": "w.npz"}},
            "there is no exported policy .*me/w.npz",
        ),
        ({"entry": {"builtin": "greedy", "arguments": {"depth": 2}}}, "does not take these arguments"),
        ({"entry": {"file": "other.py", "make": "make"}}, "has no file .*other.py"),
        ({"entry": {"file": "agent.py", "make": "mk"}}, "agent.py has no function 'mk'"),
        ({"entry": {"file": "agent.py", "make": "nothing"}}, "what 'me' makes is no agent"),
        ({"entry": {"file": "agent.py", "make": "unmade"}}, r"the agent 'me' cannot be made: KeyError\('weights'\)"),
        ({"entry": {"file": "broken.py", "make": "make"}}, "the agent 'me' cannot be made: SyntaxError"),
        ({"entry": {"file": "leaving.py", "make": "make"}}, r"the agent 'me' cannot be made: SystemExit\(2\)"),
    ],
)
def test_agents_that_cannot_be_made(board: Board, toy: Game, changes: dict[str, Any], words: str) -> None:
    board.add("me", "last", **changes)
    folder = board.root / "agents" / "me"
    (folder / "broken.py").write_text("def make(:")
    (folder / "leaving.py").write_text("raise SystemExit(2)")
    with pytest.raises((UnknownAgentError, OptionError), match=words):
        roster.make(roster.read(folder), toy, 0)


def test_what_is_made_of_an_agent(board: Board, toy: Game) -> None:
    def made(name: str, **changes: Any) -> Any:
        make = changes.pop("make", None)
        board.add(name, make, **changes)
        return roster.make(roster.read(board.root / "agents" / name), toy, 5)

    assert made("greedy") == "greedy"
    assert made("mcts-20").simulations == 20
    assert hasattr(made("batch", make="batch"), "act")
    # what remembers is never shared
    assert hasattr(made("batch", make="batch", stateless=False), "choose")
    assert made("moody", make="moody", stateless=False).seed == 5


def test_digests_are_of_the_files(board: Board) -> None:
    board.add("me", "last", weights={"file": "w.bin", "sha256": "declared", "bytes": 3})
    folder = board.root / "agents" / "me"
    (folder / "w.bin").write_bytes(b"abc")
    code = hashlib.sha256((folder / "agent.py").read_bytes()).hexdigest()
    weights = hashlib.sha256(b"abc").hexdigest()
    assert roster.read(folder).facts() == {"version": "1", "code_sha256": code, "weights_sha256": weights}
    board.add("far", "last", weights={"address": "https://example.org/w", "sha256": "f" * 64, "bytes": 3})
    assert roster.read(board.root / "agents" / "far").facts()["weights_sha256"] == "f" * 64


# --- the command ------------------------------------------------------------------------------------------------


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli.main, ["arena", *[str(argument) for argument in arguments]])


def test_the_command_writes_a_schedule_into_its_place(board: Board) -> None:
    arguments = ("schedule", "toy", "-p", 3, "-o", "heap=9", "--season", "2026-1", "--board", board.root)
    result = call(*arguments, "--tables", 4, "--fewer", "mcts-20=2")
    assert result.exit_code == 0, result.output
    path = board.root / "seasons" / "toy_v0" / "3p" / "2026-1" / "schedule.json"
    schedule = Schedule.read(path)
    assert schedule.text() == path.read_text(encoding="utf-8")
    # ppo has no folder yet
    lineups = season_lineups(["random", "greedy", "mcts-20"], 3, 4, {"mcts-20": 2})
    assert schedule.lineups == tuple(lineups)
    assert (schedule.num_players, schedule.options, schedule.season) == (3, {"heap": 9}, "2026-1")
    own = 3 * sum(entry.tables for entry in lineups if "candidate" not in entry.agents)
    assert f"{own} of the anchors and " in result.output
    again = call(*arguments)
    assert again.exit_code == 1
    assert "is there already: give --extend to add to it" in again.output
    board.add("ppo", "last")
    assert call(*arguments, "--extend", "--tables", 4, "--fewer", "mcts-20=2").exit_code == 0
    extended = Schedule.read(path)
    assert extended.lineups[: len(lineups)] == tuple(lineups)
    assert Lineup("ppo+2*greedy", ("ppo", "greedy", "greedy"), 4) in extended.lineups
    assert "greedy+mcts-20+ppo" in [entry.name for entry in extended.lineups]


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["toy"], 2, "--season"),
        (["tyo", "--season", "s"], 1, "did you mean 'toy'?"),
        (["toy", "-p", 5, "--season", "s"], 1, "takes 2 to 4 players"),
        (["toy", "--season", "S"], 1, "'S' is no name of a season"),
        (["toy", "--season", "s", "--tables", 0], 2, "--tables"),
        (["toy", "--season", "s", "--fewer", "random=x"], 1, "--fewer random=x is not possible"),
        (["toy", "--season", "s", "--fewer", "random"], 1, "write NAME=VALUE"),
        (["toy", "--season", "s", "--anchor", "A"], 1, "'A' is no name of an agent"),
    ],
)
def test_mistakes(board: Board, arguments: list[Any], status: int, words: str) -> None:
    result = call("schedule", *arguments, "--board", board.root)
    assert result.exit_code == status, result.output
    assert words in result.output
    assert "Traceback" not in result.output
    assert not (board.root / "seasons").exists()


def test_a_board_without_anchors(board: Board) -> None:
    path = board.root / "anchors.json"
    for content, words in (('{"schema": 1}', "does not hold"), ("{", "anchors.json:1 cannot be read as JSON")):
        path.write_text(content)
        result = call("schedule", "toy", "--season", "s", "--board", board.root)
        assert result.exit_code == 1
        assert words in result.output
    path.unlink()
    assert "anchors.json: No such file" in call("schedule", "toy", "--season", "s", "--board", board.root).output
