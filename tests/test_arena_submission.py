"""Submissions: the form of agent.json, and every kind of tampering, which has to be named with file and line."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tabletop_envs import __version__, cli, registry
from tabletop_envs.arena import asking, check, reask, roster, schedule, submission
from tabletop_envs.arena.reask import position_at, seat_of
from tabletop_envs.arena.referee import Referee
from tabletop_envs.arena.replay import FAILURES, Recorder, Replay, replay_of
from tabletop_envs.core.position import Position
from tabletop_envs.errors import OptionError

GAME = "umbra_via"
SEASON = "2026-1"
SEASON_FOLDER = f"seasons/umbra_via_v0/2p/{SEASON}"
TABLES = 2

# chooses the middle one of the legal actions; what it may do besides stands in its weights
CODE = """
import os, sys, time

class Middle:
    name = "middle"
    def __init__(self, text):
        self.text = text
    def choose(self, view):
        legal = view.legal_actions()
        exec(self.text)
        return int(legal[len(legal) // 2])

def make(game, folder, seed):
    return Middle((folder / "weights.txt").read_text())
"""
# the same, but it counts how often it was asked in a game, and chooses by that
COUNTING = """
class Counting:
    name = "counting"
    def reset(self, seat, seed):
        self.asked = 0
    def choose(self, view):
        legal = view.legal_actions()
        self.asked += 1
        return int(legal[self.asked % len(legal)])

def make(game, folder, seed):
    return Counting()
"""


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n")


def write_agent(board: Path, name: str, code: str | None = None, weights: str | None = None, **changed: Any) -> Path:
    """An agent's folder; without code it is the built-in agent of its name."""
    folder = board / "agents" / name
    folder.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = {
        "schema": 1,
        "name": name,
        "version": "1",
        "authors": ["somebody"],
        "kind": "rules",
        "entry": {"builtin": name.replace("-", ":")},
        "games": {"umbra_via-v0": [2, 3]},
        "weights": None,
        "code_sha256": None,
        "deterministic": True,
        "stateless": True,
        "budget": {"kind": "instant"},
        "training": None,
        "licence": "MIT",
        "packages": {"tabletop-envs": __version__},
    }
    if code is not None:
        (folder / "agent.py").write_text(code)
        content |= {"entry": {"file": "agent.py", "make": "make"}, "code_sha256": digest(folder / "agent.py")}
    if weights is not None:
        path = folder / "weights.txt"
        path.write_text(weights)
        content["weights"] = {"file": path.name, "sha256": digest(path), "bytes": path.stat().st_size}
    write_json(folder / "agent.json", content | changed)
    return folder


def write_games(season: Path, candidate: str | None) -> Path:
    """Play the games of a candidate, or of the anchors, and write their file."""
    board = schedule.board_of(season)
    part = schedule.Schedule.read(season / "schedule.json").part(candidate)
    game, settings = part.load_game()
    entrants = {name: roster.read(board / "agents" / name) for name in part.agents()}
    referee = Referee(part, entrants, game, settings)
    played = referee.play(list(part.fixtures()))
    referee.close()
    header = {
        "header": 1,
        "package": __version__,
        "numpy": "2.0.0",
        "numba": "0.61.0",
        "python": "3.11.0",
        "machine": "a machine",
        "date": "2026-01-01",
        "agents": {name: entrant.facts() for name, entrant in entrants.items()},
    }
    path = schedule.games_file(season, candidate)
    write_lines(path, [json.dumps(header), *(str(game.replay and game.replay.to_line()) for game in played)])
    return path


def write_lines(path: Path, lines: list[str]) -> None:
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))


def read_lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def new_board(board: Path, anchors: tuple[str, ...] = ("random", "greedy")) -> Path:
    game = registry.load(GAME)
    season = schedule.new(game, game.settings(2), SEASON, anchors, TABLES)
    folder = schedule.season_folder(board, season)
    folder.mkdir(parents=True)
    (folder / "schedule.json").write_text(season.text())
    for name in anchors:
        write_agent(board, name)
    return board


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board with a season, its anchors' games, and a submission."""
    board = new_board(tmp_path_factory.mktemp("sound"))
    write_agent(board, "middle", CODE, "pass")
    write_games(board / SEASON_FOLDER, None)
    write_games(board / SEASON_FOLDER, "middle")
    return board


class Case:
    """A copy of the sound board in which something is changed."""

    def __init__(self, board: Path, base: Path) -> None:
        self.board, self.base = board, base
        self.agent = board / "agents" / "middle"
        self.season = board / SEASON_FOLDER
        self.games = self.season / "games-middle.jsonl.gz"
        self.schedule = self.season / "schedule.json"
        self.manifest = self.agent / "agent.json"

    def check(self, **how: Any) -> list[str]:
        """The findings, with paths from the board on; nobody is asked again unless it is said."""
        report = check.check(self.agent, self.base, check.How(**{"asked": 0, **how}))
        return [
            str(finding).replace(f"{self.board}/", "").replace(f"{self.base}/", "base/") for finding in report.findings
        ]

    def edit(self, path: Path, **changed: Any) -> None:
        content = json.loads(path.read_text())
        write_json(path, content | changed)

    def header(self, change: Callable[[dict[str, Any]], Any]) -> None:
        self.line(1, change)

    def line(self, number: int, change: Callable[[dict[str, Any]], Any]) -> None:
        lines = read_lines(self.games)
        content = json.loads(lines[number - 1])
        change(content)
        lines[number - 1] = json.dumps(content, separators=(",", ":"))
        write_lines(self.games, lines)

    def lines(self, change: Callable[[list[str]], Any]) -> None:
        lines = read_lines(self.games)
        changed = change(lines)
        write_lines(self.games, changed if isinstance(changed, list) else lines)


@pytest.fixture
def case(sound: Path, tmp_path: Path) -> Case:
    shutil.copytree(sound, tmp_path / "board")
    return Case(tmp_path / "board", sound)


# --- a sound submission -----------------------------------------------------------------------------------------


def test_a_sound_submission_passes_whole(case: Case) -> None:
    report = check.check(case.agent, case.base)
    assert [str(finding) for finding in report.findings] == []
    (row,) = report.rows
    games = [Replay.from_line(line) for line in read_lines(case.games)[1:]]
    assert (row.games, row.forfeits) == (2 * TABLES * 2, 0)
    assert row.decisions == sum(len(game.actions) for game in games)
    assert row.asked["middle"] == 200
    assert set(row.asked) == {"middle", "random", "greedy"}
    assert all(row.asked.values())


def test_a_whole_board_and_a_season_can_be_checked(case: Case) -> None:
    for folder in (case.board, case.season):
        report = check.check(folder, None, check.How(asked=0))
        assert [str(finding) for finding in report.findings] == []
        assert [row.path.name for row in report.rows] == ["games-anchors.jsonl.gz", "games-middle.jsonl.gz"]
        assert [set(row.asked) for row in report.rows] == [{"random", "greedy"}, {"middle", "random", "greedy"}]
    with pytest.raises(OptionError, match="no agent, season or board"):
        check.check(case.board.parent)


# --- tampering --------------------------------------------------------------------------------------------------

LINE = 4  # of the game that is changed: the third of eight


def _replace(name: str, value: Any) -> Callable[[Case], None]:
    return lambda case: case.line(LINE, lambda game: game.update({name: value}))


def _note(name: str, value: Any) -> Callable[[Case], None]:
    return lambda case: case.line(LINE, lambda game: game["info"].update({name: value}))


def _action(number: int, value: int) -> Callable[[Case], None]:
    return lambda case: case.line(LINE, lambda game: game["actions"].__setitem__(number, value))


def _raise_points(case: Case) -> None:
    case.line(LINE, lambda game: game["points"].__setitem__(0, game["points"][0] + 1))


def _turn(name: str) -> Callable[[Case], None]:
    return lambda case: case.line(LINE, lambda game: game[name].reverse())


def _cut_actions(case: Case) -> None:
    case.line(LINE, lambda game: game.update(actions=game["actions"][:-3]))


def _add_action(case: Case) -> None:
    case.line(LINE, lambda game: game["actions"].append(0))


def _break_off(case: Case) -> None:
    case.games.write_bytes(case.games.read_bytes()[:-300])


def _flip(case: Case) -> None:
    data = bytearray(case.games.read_bytes())
    data[-4] ^= 1
    case.games.write_bytes(data)


def _text(old: str, new: str) -> Callable[[Case], None]:
    def change(lines: list[str]) -> None:
        assert old in lines[LINE - 1]
        lines[LINE - 1] = lines[LINE - 1].replace(old, new, 1)

    return lambda case: case.lines(change)


GAMES = "seasons/umbra_via_v0/2p/2026-1/games-middle.jsonl.gz"
AT = rf"{GAMES}:{LINE}: "
THIRD = r"rotation 0 of table 1 of 'candidate\+random'"
IN_GAMES: dict[str, tuple[Callable[[Case], Any], str]] = {
    "an action": (_action(5, 20), AT + r"actions\[5\]: .* is not legal"),
    "an action that is none": (_action(5, 99), AT + r"actions\[5\]: "),
    "actions that are missing": (_cut_actions, AT + "the game is not over after its"),
    "an action more": (_add_action, AT + "the game is over after .* 1 more follow"),
    "points": (_raise_points, AT + "points .* recorded, but it is"),
    "places": (_turn("places"), AT + "places .* recorded, but it is"),
    "the end": (_replace("end", "cap"), AT + "end 'cap' is recorded, but it is 'rules'"),
    "the final digest": (_replace("final", "0" * 16), AT + "final digest '0000000000000000' is recorded"),
    "the rules digest": (_replace("rules", "0" * 16), AT + "rules digest 0000000000000000 is not"),
    "the seed": (_replace("seed", 7), AT + r"seed 7 is recorded, but the schedule says \d+"),
    "who sat where": (_turn("agents"), AT + r"agents \['random', 'middle'\] is recorded, but the schedule says"),
    "an unknown agent": (_replace("agents", ["middle", "nobody"]), AT + "agents .*'nobody'.* the schedule says"),
    "the opening": (_replace("opening", 2), AT + "opening 2 is recorded, but the schedule says 0"),
    "options": (_replace("options", {"goal": 3}), AT + "options .*'goal': 3.* the schedule says {}"),
    "the game": (_replace("game", "tabletop/urbino-v0"), AT + "game 'tabletop/urbino-v0' is recorded"),
    "another number of players": (
        lambda case: case.line(
            LINE, lambda game: game.update(num_players=3, agents=["middle"] * 3, points=[1] * 3, places=[1] * 3)
        ),
        AT + "num_players 3 is recorded, but the schedule says 2",
    ),
    "the season": (_note("season", "2025-1"), AT + "info.season '2025-1' is recorded, but the schedule says '2026-1'"),
    "the line-up": (_note("lineup", "easy"), AT + "rotation 0 of table 1 of 'easy' is not in the schedule"),
    "the table": (_note("table", 2), AT + "rotation 0 of table 2 .* is not in the schedule"),
    "a table that is no number": (_note("table", "1"), AT + "info.table is '1': it tells the game's place"),
    "the rotation": (
        _note("rotation", 1),
        AT.replace(f":{LINE}:", f":{LINE + 1}:") + f".* stands on line {LINE} already",
    ),
    "a note": (_note("rank", 1), AT + "info.rank is nothing that a game of a season has"),
    "void games of who is no language model": (
        _note("voids", ["crash:1"]),
        AT + r"info.voids has 'crash:1': games are void by a language model's",
    ),
    "void games that are none": (_note("voids", 3), AT + "info.voids has 3: "),
    "no notes": (_replace("info", {}), AT + "info.season is None: it tells the game's place"),
    "a forfeit with another outcome": (_replace("end", "crash:1"), AT + "the game is over after .* with 'crash:1'"),
    "a seat that is not there": (_replace("end", "crash:2"), AT + "'end' is 'crash:2' with 2 players"),
    "the schema": (_replace("schema", 2), AT + "is of schema 2, not 1"),
    "a field": (_replace("rank", 1), AT + "has 'rank', which no replay has"),
    "broken JSON": (_text('"seed":', '"seed"'), AT + "cannot be read as JSON"),
    "a line of another kind": (_text("{", "[{"), AT + "cannot be read as JSON"),
    "a game dropped": (
        lambda case: case.lines(lambda lines: lines.pop(LINE - 1)),
        rf"{GAMES}:{LINE - 1}: {THIRD} is missing behind this line: play it",
    ),
    "games dropped": (
        lambda case: case.lines(lambda lines: lines[: LINE - 1]),
        rf"{GAMES}:{LINE - 1}: {THIRD} is missing behind this line \(and 5 more games\)",
    ),
    "a game doubled": (
        lambda case: case.lines(lambda lines: lines.insert(LINE, lines[LINE - 1])),
        rf"{GAMES}:{LINE + 1}: {THIRD} stands on line {LINE} already",
    ),
    "games in another order": (
        lambda case: case.lines(lambda lines: lines.insert(LINE, lines.pop(LINE - 1))),
        rf"{GAMES}:{LINE + 1}: {THIRD} is out of order",
    ),
    "a packed file that breaks off": (_break_off, rf"{GAMES}:\d+: cannot be unpacked"),
    "a packed file with another sum": (_flip, rf"{GAMES}:\d+: cannot be unpacked"),
    "a file that is not packed": (
        lambda case: case.games.write_text("\n".join(read_lines(case.games))),
        rf"{GAMES}:1: cannot be unpacked",
    ),
    "no header": (lambda case: case.lines(lambda lines: lines.pop(0)), rf"{GAMES}:1: is no header"),
    "a header of another version": (
        lambda case: case.header(lambda header: header.update(header=2)),
        rf"{GAMES}:1: is a header of version 2, not 1",
    ),
    "a header that lacks a fact": (
        lambda case: case.header(lambda header: header.pop("numba")),
        rf"{GAMES}:1: .*no 'numba'",
    ),
    "a version that is none": (
        lambda case: case.header(lambda header: header.update(numpy="new")),
        rf"{GAMES}:1: numpy 'new' is no version",
    ),
    "a package that is not out yet": (
        lambda case: case.header(lambda header: header.update(package="99.0")),
        rf"{GAMES}:1: package '99.0' is newer than the {re.escape(__version__)} that is here",
    ),
    "a package that agent.json does not name": (
        lambda case: case.header(lambda header: header.update(package="0.0.1")),
        rf"{GAMES}:1: package '0.0.1' played, but agents/middle/agent.json says '{re.escape(__version__)}'",
    ),
    "the header's version of an agent": (
        lambda case: case.header(lambda header: header["agents"]["middle"].update(version="2")),
        rf"{GAMES}:1: version of 'middle' is '2', but '1' in agents/middle/agent.json",
    ),
    "the header's version of an anchor": (
        lambda case: case.header(lambda header: header["agents"]["greedy"].update(version="2")),
        rf"{GAMES}:1: version of 'greedy' is '2', but '1' in base/agents/greedy/agent.json",
    ),
    "the header's code": (
        lambda case: case.header(lambda header: header["agents"]["middle"].update(code_sha256="0" * 64)),
        rf"{GAMES}:1: code_sha256 of 'middle' is '0+'",
    ),
    "an agent that the header lacks": (
        lambda case: case.header(lambda header: header["agents"].pop("greedy")),
        rf"{GAMES}:1: the header does not tell which 'greedy' played",
    ),
    "an agent that did not play": (
        lambda case: case.header(lambda header: header["agents"].update(ppo={})),
        rf"{GAMES}:1: 'ppo' is in the header, but in none of the line-ups",
    ),
    "no games": (lambda case: case.games.unlink(), "agents/middle: has no games in any season"),
}


@pytest.mark.parametrize("kind", IN_GAMES)
def test_what_was_changed_in_games_is_named(case: Case, kind: str) -> None:
    assert case.check() == []
    change, wanted = IN_GAMES[kind]
    change(case)
    found = case.check()
    assert any(re.match(wanted, text) for text in found), found
    assert all("\n" not in text for text in found)


SCHEDULE = "seasons/umbra_via_v0/2p/2026-1/schedule.json"


def _foreign(case: Case) -> None:
    case.schedule.write_text(schedule.Schedule.read(case.schedule).text().replace('"tables": 2', '"tables": 1', 1))


def _own(change: Callable[[Case], Any]) -> Callable[[Case], None]:
    def changed(case: Case) -> None:
        case.base = case.board
        change(case)

    return changed


def _among_anchors(case: Case) -> None:
    case.schedule.write_text(schedule.Schedule.read(case.schedule).part().text())


IN_SCHEDULE: dict[str, tuple[Callable[[Case], Any], str]] = {
    "fewer tables than the season has": (_foreign, rf"{SCHEDULE}:\d+: is not the schedule of the season"),
    "a season that there is not": (
        lambda case: case.season.rename(case.season.with_name("2026-2")),
        "base/seasons/umbra_via_v0/2p/2026-2/schedule.json: is missing: there is no such season",
    ),
    "seeds": (
        _own(lambda case: case.edit(case.schedule, seeds=[1, 2])),
        rf"{SCHEDULE}:\d+: seeds\[0\] is 1, but season, game and players give",
    ),
    "the season's name": (
        _own(lambda case: case.edit(case.schedule, season="2026-3")),
        rf"{SCHEDULE}:\d+: seeds\[0\] is ",
    ),
    "the rules digest": (
        _own(lambda case: case.edit(case.schedule, rules="0" * 16)),
        rf"{SCHEDULE}: the schedule is for umbra_via-v0 with rules 0+, but the installed game has",
    ),
    "the schema": (_own(lambda case: case.edit(case.schedule, schema=2)), rf"{SCHEDULE}: is of schema 2, not 1"),
    "a field": (_own(lambda case: case.edit(case.schedule, rank=1)), rf"{SCHEDULE}: a field is 'rank'"),
    "what is no text": (
        _own(lambda case: case.schedule.write_bytes(b"\xff\xfe{}")),
        rf"{SCHEDULE}: cannot be read as JSON",
    ),
    "broken JSON": (
        _own(lambda case: case.schedule.write_text(case.schedule.read_text().replace(":", "", 1))),
        rf"{SCHEDULE}:\d+: cannot be read as JSON",
    ),
    "another form of the same": (
        _own(lambda case: case.schedule.write_text(json.dumps(json.loads(case.schedule.read_text())))),
        rf"{SCHEDULE}:1: is not written as a schedule is",
    ),
    "no line-ups of a candidate": (
        _own(_among_anchors),
        "seasons/umbra_via_v0/2p/2026-1/games-middle.jsonl.gz: has no part in the season",
    ),
    "another folder": (
        _own(lambda case: case.season.parent.rename(case.season.parent.with_name("3p"))),
        "seasons/umbra_via_v0/3p/2026-1/schedule.json: is the schedule of umbra_via_v0/2p/2026-1",
    ),
    "a missing anchor": (
        _own(lambda case: shutil.rmtree(case.board / "agents" / "greedy")),
        "agents/greedy: is missing: every agent that plays has a folder",
    ),
}


def test_an_agent_with_the_name_of_an_anchor_is_named(case: Case) -> None:
    # neither its folder nor its games can stand in for the anchor's
    forged = case.board / "agents" / "greedy"
    case.edit(forged / "agent.json", entry={"builtin": "random"}, version="2")
    shutil.copy(case.games, case.season / "games-greedy.jsonl.gz")
    report = check.check(forged, case.base, check.How(asked=0))
    assert any("'greedy' has its part among the anchors: choose another name" in f.text for f in report.findings)
    assert case.check() == []


@pytest.mark.parametrize("kind", IN_SCHEDULE)
def test_what_was_changed_in_a_schedule_is_named(case: Case, kind: str) -> None:
    change, wanted = IN_SCHEDULE[kind]
    change(case)
    found = case.check()
    assert any(re.match(wanted, text) for text in found), found


def _line_of(path: Path, text: str) -> int:
    return next(number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line)


def _link(case: Case) -> None:
    (case.agent / "weights.txt").rename(case.agent.parent / "elsewhere.txt")
    (case.agent / "weights.txt").symlink_to(case.agent.parent / "elsewhere.txt")


def _link_manifest(case: Case) -> None:
    case.manifest.rename(case.agent.parent / "elsewhere.json")
    case.manifest.symlink_to(case.agent.parent / "elsewhere.json")


MANIFEST = "agents/middle/agent.json"
# the change, the field at whose line the finding stands (None: it has no line), and the finding
IN_AGENT: dict[str, tuple[Callable[[Case], Any], str | None, str]] = {
    "weights": (
        lambda case: (case.agent / "weights.txt").write_text("1234"),
        '"sha256"',
        r"weights.sha256: weights.txt has another, [0-9a-f]{64}",
    ),
    "the size of weights": (
        lambda case: case.edit(case.manifest, weights={**json.loads(case.manifest.read_text())["weights"], "bytes": 9}),
        '"bytes"',
        "weights.bytes: weights.txt has 4 bytes",
    ),
    "code": (
        lambda case: (case.agent / "agent.py").write_text(CODE + "\n"),
        '"code_sha256"',
        "code_sha256: agent.py has another, [0-9a-f]{64}",
    ),
    "no digest of code": (
        lambda case: case.edit(case.manifest, code_sha256=None),
        '"code_sha256"',
        "code_sha256: has to be that of agent.py",
    ),
    "another name": (lambda case: case.edit(case.manifest, name="first"), '"name"', "name: 'first' is not the name of"),
    "a reserved name": (lambda case: case.edit(case.manifest, name="anchors"), '"name"', "name: 'anchors'"),
    "a name with capitals": (lambda case: case.edit(case.manifest, name="Middle"), '"name"', "name: 'Middle' does not"),
    "the schema": (lambda case: case.edit(case.manifest, schema=2), '"schema"', "schema: 1 was expected"),
    "the kind": (lambda case: case.edit(case.manifest, kind="magic"), '"kind"', "kind: 'magic' is not one of"),
    "a field": (lambda case: case.edit(case.manifest, rank=1), "{", r"the whole: .*'rank' was unexpected"),
    "an entry of both sorts": (
        lambda case: case.edit(case.manifest, entry={"builtin": "random", "file": "agent.py"}),
        '"entry"',
        r"entry: .*'file' was unexpected",
    ),
    "an entry elsewhere": (
        lambda case: case.edit(case.manifest, entry={"file": "../greedy/agent.py", "make": "make"}),
        '"file"',
        "entry.file: '../greedy/agent.py' does not match",
    ),
    "a built-in agent of a path": (
        lambda case: case.edit(case.manifest, entry={"builtin": "sb3:/tmp/run"}),
        '"builtin"',
        "entry.builtin: 'sb3:/tmp/run' does not match",
    ),
    "a budget without simulations": (
        lambda case: case.edit(case.manifest, budget={"kind": "search"}),
        '"budget"',
        "budget: 'simulations' is a required property",
    ),
    "an instant search": (lambda case: case.edit(case.manifest, kind="search"), '"budget"', "budget: a search has"),
    "games": (
        lambda case: case.edit(case.manifest, games={"umbra_via-v0": [3], "urbino-v0": [2]}),
        '"games"',
        "games: lacks umbra_via-v0 with 2 players, which games-middle.jsonl.gz holds",
    ),
    "a number of players": (
        lambda case: case.edit(case.manifest, games={"umbra_via-v0": [2, "3"]}),
        '"3"',
        r"games.umbra_via-v0\[1\]: '3' is not of type 'integer'",
    ),
    "a number of players that is no whole number": (
        lambda case: case.edit(case.manifest, games={"umbra_via-v0": [2.0]}),
        '"games"',
        "games is {'umbra_via-v0': .2.0.}, not",
    ),
    "too large weights": (
        lambda case: case.edit(case.manifest, weights={"file": "weights.txt", "sha256": "0" * 64, "bytes": 20_000_001}),
        '"bytes"',
        "weights.bytes: 20000001 is greater than",
    ),
    "weights that are to be fetched": (
        lambda case: case.edit(
            case.manifest, weights={"address": "https://example.org/big.npz", "sha256": "0" * 64, "bytes": 1}
        ),
        '"address"',
        "weights.address: fetch them into agents/middle/big.npz, then check again",
    ),
    "the same field twice": (
        lambda case: case.manifest.write_text(case.manifest.read_text().replace("{", '{"name": "middle",', 1)),
        None,
        "cannot be read as JSON .'name' stands there twice",
    ),
    "broken JSON": (
        lambda case: case.manifest.write_text(case.manifest.read_text().replace('"version":', '"version"')),
        '"version"',
        "cannot be read as JSON",
    ),
    "no agent.json": (lambda case: case.manifest.unlink(), None, "is missing: every agent has one"),
}
FILES: dict[str, tuple[Callable[[Case], Any], str]] = {
    "missing weights": (lambda case: (case.agent / "weights.txt").unlink(), "agents/middle/weights.txt: is missing"),
    "missing code": (lambda case: (case.agent / "agent.py").unlink(), "agents/middle/agent.py: is missing"),
    "weights that are a link": (_link, "agents/middle/weights.txt: is missing"),
    "a link in place of agent.json": (_link_manifest, "agents/middle/agent.json: is a link"),
    "more code": (
        lambda case: (case.agent / "helpers.py").write_text("1"),
        "agents/middle/helpers.py: does not belong here",
    ),
    "long code": (
        lambda case: (case.agent / "agent.py").write_text("#" * 1_000_001),
        "agents/middle/agent.py: has 1,000,001 bytes, more than 1,000,000",
    ),
    "a long card": (
        lambda case: (case.agent / "card.md").write_text("#" * 1_000_001),
        "agents/middle/card.md: has 1,000,001 bytes",
    ),
}


@pytest.mark.parametrize("kind", IN_AGENT)
def test_what_is_wrong_with_an_agent_is_named(case: Case, kind: str) -> None:
    change, field, wanted = IN_AGENT[kind]
    change(case)
    line = "" if field is None else f":{_line_of(case.manifest, field)}"
    found = case.check()
    assert any(re.match(f"{MANIFEST}{line}: {wanted}", text) for text in found), found


@pytest.mark.parametrize("kind", FILES)
def test_what_is_wrong_with_its_files_is_named(case: Case, kind: str) -> None:
    change, wanted = FILES[kind]
    change(case)
    found = case.check()
    assert any(re.match(wanted, text) for text in found), found


def test_lines_of_fields_are_found() -> None:
    text = '{\n "a": [1,\n  {"b": "x{[,:",\n   "c": null}],\n "d": {}\n}\n'
    lines = {("a",): 2, ("a", 1): 3, ("a", 1, "c"): 4, ("d",): 5, ("d", "e"): 5, ("e",): 1, (): 1, ("a", 7): 2}
    assert {steps: submission.line_of(text, steps) for steps in lines} == lines


def test_an_opening_that_was_chosen_is_named(tmp_path: Path) -> None:
    game = registry.load("urbino")
    season = schedule.new(game, game.settings(2), SEASON, ["random"], 1)
    folder = schedule.season_folder(tmp_path, season)
    folder.mkdir(parents=True)
    (folder / "schedule.json").write_text(season.text())
    for name in ("random", "mine"):
        write_agent(tmp_path, name, games={"urbino-v0": [2]}, entry={"builtin": "random"})
    path = write_games(folder, "mine")
    how = check.How(asked=0)
    assert check.check(tmp_path / "agents" / "mine", how=how).findings == []
    lines = read_lines(path)
    content = json.loads(lines[1])
    first, second = content["actions"][:2]
    content["actions"][:2] = [next(int(a) for a in Position.new(game, 2, seed=0).legal_actions() if a != first), second]
    write_lines(path, [lines[0], json.dumps(content), *lines[2:]])
    (finding, *_) = check.check(tmp_path / "agents" / "mine", how=how).findings
    assert (finding.path, finding.line) == (path, 2)
    assert finding.text.startswith("opening actions [")


# --- asking again -----------------------------------------------------------------------------------------------


def games_of(path: Path) -> list[tuple[int, Replay]]:
    return [(number, Replay.from_line(line)) for number, line in enumerate(read_lines(path), 1) if number > 1]


def ask_again(folder: Path, played: list[tuple[int, Replay]], **how: Any) -> tuple[int, list[tuple[int, str]]]:
    """How many decisions the agent of a folder was asked, and what does not agree."""
    agent, findings = submission.check(folder)
    assert agent is not None
    assert findings == []
    game, found = registry.load(GAME), []
    owner = how.pop("owner", agent.name)
    asked = reask.ask_all(
        game,
        game.settings(2),
        played,
        {agent.name: agent},
        owner=owner,
        how=check.How(**how),
        wrong=lambda line, text: found.append((line, text)),
        progress=lambda name, done, of: None,
    )
    return asked[agent.name], found


# what the agent does beside choosing -> how often it is asked of 20 times, and what is said
BEHAVIOURS: dict[str, tuple[str, int, str]] = {
    "chooses otherwise": ("legal.fill(legal[0])", 20, r"actions\[\d+\]: 'middle' \(seat \d\) chooses .* \(\d+\), but "),
    "chooses no action": ("legal.fill(99)", 20, "chooses 99, which is no action, but "),
    "raises": ("raise ValueError('no\\nidea')", 20, r"raises: ValueError: no idea \(agent.py:10\), but "),
    "leaves": ("sys.exit(4)", 20, r"raises: SystemExit: 4 \(agent.py:10\), but "),
    "ends its process": ("os._exit(3)", 1, "ends its process, with status 3, but "),
    "hangs": ("time.sleep(1000)", 1, "gives no answer within 0.5 s, but "),
}


@pytest.mark.parametrize("kind", BEHAVIOURS)
def test_an_agent_that_does_otherwise_is_named(case: Case, kind: str) -> None:
    weights, times, wanted = BEHAVIOURS[kind]
    write_agent(case.board, "middle", CODE, weights)
    asked, found = ask_again(case.agent, games_of(case.games), asked=20, patience=0.5 if kind == "hangs" else 60)
    assert asked == times
    assert {bool(re.search(wanted, text)) for _, text in found} == {True}
    assert {line for line, _ in found} <= set(range(2, 10))
    assert all(text.endswith("is recorded") and "\n" not in text for _, text in found)


def test_games_that_are_too_large_are_named(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "MAX_GAMES", 100)
    assert re.fullmatch(rf"{GAMES}: has [\d,]+ bytes, more than 100", case.check()[0])


def test_answers_are_not_believed() -> None:
    for content in ({}, [], {"action": "1", "failure": "", "words": ""}, {"action": 1, "failure": "luck", "words": ""}):
        with pytest.raises((ValueError, KeyError, TypeError)):
            asking._read(content)
    words = asking._read({"action": None, "failure": "crash", "words": "two\nlines" * 1000}).words
    assert words.startswith("two lines")
    assert len(words) == 600


def test_what_an_agent_prints_is_no_answer(case: Case) -> None:
    loud = """print('{"action": 0, "failure": "", "words": ""}', flush=True); os.write(1, b'{}\\n'); sys.stdin.read()"""
    write_agent(case.board, "middle", CODE, loud)
    assert ask_again(case.agent, games_of(case.games), asked=20) == (20, [])


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("import nowhere_to_be_found\n", r"cannot begin: .*ModuleNotFoundError.*nowhere_to_be_found.*\(agent.py:1\)"),
        ("x = 1\n", "cannot begin: .*has no function 'make'"),
        ("def make(game, folder, seed):\n return 1\n", "cannot begin: .*is no agent"),
        ("def make(game, folder, seed):\n (folder / 'lost').read_text()\n", r"FileNotFoundError.*\(agent.py:2\)"),
    ],
)
def test_an_agent_that_cannot_be_made_is_named(case: Case, code: str, wanted: str) -> None:
    write_agent(case.board, "middle", code, "pass")
    _, found = ask_again(case.agent, games_of(case.games), asked=1)
    assert re.search(wanted, found[0][1]), found


def test_a_game_that_another_played_is_named(case: Case) -> None:
    played = games_of(case.games)
    line, game = played[3]
    *_, end = game.positions()
    other = Recorder(Position.new(GAME, 2, seed=game.seed), game.agents, info=game.info)
    while not other.position.over:
        other.apply(int(other.position.legal_actions()[0]))
    assert end != other.position
    case.lines(lambda lines: lines.__setitem__(line - 1, other.replay().to_line()))
    assert case.check() == []
    asked, found = ask_again(case.agent, games_of(case.games), asked=10_000)
    assert asked == sum(
        game.agents[seat_of(game, n)] == "middle" for _, game in games_of(case.games) for n in range(len(game.actions))
    )
    assert {number for number, _ in found} == {line}


def test_an_agent_with_a_memory_plays_its_games_again(case: Case) -> None:
    (case.agent / "weights.txt").unlink()
    write_agent(case.board, "middle", COUNTING, stateless=False)
    path = write_games(case.board / SEASON_FOLDER, "middle")
    played = games_of(path)
    asked, found = ask_again(case.agent, played, asked=5)
    assert asked > 5
    assert found == []
    write_agent(case.board, "middle", COUNTING, stateless=True)
    asked, found = ask_again(case.agent, played, asked=20)
    assert asked == 20
    assert found


def test_a_search_keeps_to_its_budget_and_is_asked_less(case: Case) -> None:
    search: dict[str, Any] = {"kind": "search", "stateless": False, "budget": {"kind": "search", "simulations": 5}}
    folder = write_agent(case.board, "mcts-5", **search)
    played = games_of(write_games(case.board / SEASON_FOLDER, "mcts-5"))
    assert ask_again(folder, played, asked=3)[1] == []
    write_agent(case.board, "mcts-5", **search | {"budget": {"kind": "search", "simulations": 4}})
    _, found = ask_again(folder, played, asked=3)
    assert found
    assert all("makes 5 simulations instead of 4" in text for _, text in found)

    agent, _ = submission.check(write_agent(case.board, "mcts-1000", budget={"kind": "search", "simulations": 1000}))
    assert agent is not None
    assert [reask.quota(agent, owner, 200) for owner in ("mcts-1000", None)] == [200, 20]


def forfeited(game: Replay, number: int, kind: str) -> Replay:
    """The game, given up before the action of a number by the seat that was to act."""
    end = f"{kind}:{seat_of(game, number)}"
    return replay_of(position_at(game, number), game.agents, game.actions[:number], info=game.info, forfeit=end)


@pytest.mark.parametrize("kind", FAILURES)
def test_a_forged_forfeit_is_named(case: Case, kind: str) -> None:
    line, game = games_of(case.games)[2]
    number = next(n for n in range(10, 99) if game.agents[seat_of(game, n)] == "random")
    forged = forfeited(game, number, kind)
    case.lines(lambda lines: lines.__setitem__(line - 1, forged.to_line()))
    assert case.check(asked=0) == [
        f"{GAMES}:{line}: end {forged.end!r} is recorded, but asked again 'random' chooses "
        f"{position_at(game, number).action_text(game.actions[number])!r} ({game.actions[number]})"
    ]


FAILING = {"crash": "raise ValueError", "illegal": "legal.fill(-1)", "timeout": "time.sleep(1000)"}


@pytest.mark.parametrize("kind", FAILING)
def test_a_true_forfeit_is_believed(case: Case, kind: str) -> None:
    played = [
        (line, forfeited(game, next(n for n in range(10, 99) if game.agents[seat_of(game, n)] == "middle"), kind))
        for line, game in games_of(case.games)[:2]
    ]
    write_agent(case.board, "middle", CODE, f"if view.decisions > 9: {FAILING[kind]}")
    assert ask_again(case.agent, played, asked=0, owner=None, patience=1) == (2, [])
    write_agent(case.board, "middle", CODE, "if view.decisions > 9: os._exit(0)")
    _, found = ask_again(case.agent, played, asked=0, owner=None)
    assert len(found) == (0 if kind == "crash" else 2)


def test_what_is_asked_follows_from_the_games_and_the_salt(sound: Path) -> None:
    played = games_of(sound / SEASON_FOLDER / "games-middle.jsonl.gz")
    drawn = reask.draw(played, {"middle": 30, "random": 5}, "")
    assert {name: len(entries) for name, entries in drawn.items()} == {"middle": 30, "random": 5}
    assert drawn == reask.draw(played, {"middle": 30, "random": 5}, "")
    for name, entries in drawn.items():
        assert len(set((line, number) for line, _, number in entries)) == len(entries)
        assert {game.agents[seat_of(game, number)] for _, game, number in entries} == {name}
        assert [(line, number) for line, _, number in entries] == sorted((line, number) for line, _, number in entries)
    assert drawn != reask.draw(played, {"middle": 30, "random": 5}, "secret")
    other = [(line, replace(game, seed=game.seed + 1)) for line, game in played]
    assert [entry[::2] for entry in drawn["middle"]] != [
        entry[::2] for entry in reask.draw(other, {"middle": 30}, "")["middle"]
    ]


def test_an_agent_that_never_begins_is_named(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    write_agent(case.board, "middle", "import time\ntime.sleep(1000)\n", "pass")
    watched = asking.Watched(roster.read(case.agent), "tabletop/umbra_via-v0")
    try:
        assert watched._start() == asking.Answer(None)
        monkeypatch.setattr(asking, "START", 0.5)
        answer = watched.ask(asking.Question(2, {}, 7, [], 0, 7, begins=True))
    finally:
        watched.close()
    assert answer == asking.Answer(None, "timeout", "gives no answer within 0.5 s", ended=True)


@pytest.mark.parametrize("changed", [{"deterministic": False}, {"kind": "llm"}])
def test_who_cannot_be_asked_again_is_marked(case: Case, changed: dict[str, Any]) -> None:
    case.edit(case.manifest, **changed)
    report = check.check(case.agent, case.base, check.How(asked=0))
    assert report.findings == []
    assert report.rows[0].asked == {"greedy": 0, "middle": None, "random": 0}
    assert "'middle' is not re-askable" in report.notes[0].text


def test_agents_run_inside_what_is_named(case: Case, tmp_path: Path) -> None:
    script = tmp_path / "inside.sh"
    script.write_text(f'echo "$@" >> {tmp_path}/log; shift; shift; exec {sys.executable} "$@"\n')
    assert ask_again(case.agent, games_of(case.games), asked=2, inside=f"sh {script} {{folder}}") == (2, [])
    assert (tmp_path / "log").read_text() == (
        f"{case.agent} python -m tabletop_envs.arena.asking {case.agent} tabletop/umbra_via-v0\n"
    )
    _, found = ask_again(case.agent, games_of(case.games), asked=2, inside="false")
    assert "ends its process, with status 1" in found[0][1]


# --- the command ------------------------------------------------------------------------------------------------


def test_the_command_tells_and_exits(case: Case) -> None:
    command = ["arena", "check", str(case.agent), "--base", str(case.base), "--asked", "0"]
    sound = CliRunner().invoke(cli.main, command)
    assert sound.exit_code == 0, sound.output
    assert "all of it holds" in sound.output
    case.lines(lambda lines: [lines[0]] + [line.replace('"seed":', '"seed":1') for line in lines[1:]] * 10)
    bad = CliRunner().invoke(cli.main, command)
    assert bad.exit_code == 1
    lines = bad.output.splitlines()
    assert all(line.startswith(f"{case.games}:") for line in lines[:20])
    assert re.fullmatch(rf"{case.games}: \d+ more", lines[20])
    assert re.fullmatch(r"\d+ findings", lines[21])
    other = CliRunner().invoke(cli.main, ["arena", "check", str(case.board.parent)])
    assert other.exit_code == 1
    assert "is no agent, season or board" in other.output
