"""The command line: what it prints, how it ends, and that whatever goes wrong is one line that says what to do."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from rich.console import Console

import tabletop_envs
from tabletop_envs import agents, cli, testing
from tabletop_envs.agents.base import View
from tabletop_envs.arena import replay as replays
from tabletop_envs.core.game import ALL, Game
from tabletop_envs.core.position import Position
from tabletop_envs.core.spec import GameSpec
from tabletop_envs.testing import Report

with contextlib.suppress(ImportError):
    import torch

    torch.set_num_threads(1)

TINY = (
    "num_envs=8", "rollout=8", "batch_size=32", "epochs=1", "channels=2", "depth=1", "width=8",
    "snapshot_minutes=0.003",
)  # fmt: skip
FIELDS = [part for field in TINY for part in ("--set", field)]
SHORT = ["--minutes", "0.005", "--games", "4"]

Command = Callable[..., Result]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """Runs a command in an empty folder; the terminal is wide."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli, "console", Console(width=250))

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(cli.main, [str(argument) for argument in arguments])

    return run


def succeeds(result: Result) -> str:
    assert result.exit_code == 0, result.output
    assert result.exception is None
    return result.output


def fails(result: Result, *messages: str) -> None:
    """One line on the error stream, exit status 1, no traceback."""
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("Error: ")
    for message in messages:
        assert message in lines[0]


def refuses(result: Result, message: str) -> None:
    """A mistake in the words of the command itself: the usage, and exit status 2."""
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert "Traceback" not in result.output


# --- help and list ----------------------------------------------------------------------------------------------


def test_help_and_version(call: Command) -> None:
    for flag in ("--help", "-h"):
        text = succeeds(call(flag))
        names = (
            "list",
            "train",
            "evaluate",
            "watch",
            "play",
            "replay",
            "arena",
            "bench",
            "warmup",
            "conform",
            "cases",
            "export",
        )
        assert set(names) == set(cli.main.commands)
        for name in names:
            assert f"\n  {name} " in text
            assert "Usage" in succeeds(call(name, flag))
    assert tabletop_envs.__version__ in succeeds(call("--version"))
    refuses(call("trian"), "No such command 'trian'")


def test_the_readme_tells_of_every_command() -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    table = text.split("\n## Command line\n")[1].split("\n## ")[0]
    told = {name.strip() for name in re.findall(r"^\| `tabletop-envs ([a-z ]+)", table, re.MULTILINE)}
    groups = {name: command for name, command in cli.main.commands.items() if isinstance(command, click.Group)}
    inner = {f"{name} {part}": command for name, group in groups.items() for part, command in group.commands.items()}
    assert told == {*(set(cli.main.commands) - set(groups)), *inner}
    options = {
        option
        for command in (*cli.main.commands.values(), *inner.values())
        for parameter in command.params
        for option in parameter.opts
    }
    assert set(re.findall(r"--[a-z0-9][a-z0-9-]*", table)) <= options


def test_list(toy: Game, two_moves: Game, call: Command) -> None:
    text = succeeds(call("list"))
    for game in tabletop_envs.list_games():
        assert f"-v{tabletop_envs.registry.spec(game).version}" in text
    for spec, span in ((toy.spec, "2-4"), (two_moves.spec, "2")):
        row = next(line for line in text.splitlines() if spec.env_id in line)
        assert spec.title in row
        assert f" {span} " in row
    for option in toy.spec.all_options(2):
        assert f"{option.name} ({option.default}): {option.summary}" in text


# --- train and evaluate -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli") / "kept"


@pytest.fixture
def trained(toy: Game, call: Command, tmp_path: Path, kept: Path) -> Path:
    """The folder of a short run, where the command puts it when it is not told otherwise."""
    pytest.importorskip("sb3_contrib")
    folder = tmp_path / "runs" / "toy-2p"
    if not kept.exists():
        succeeds(call("train", "toy", *FIELDS, *SHORT))
        shutil.copytree(folder, kept)
    else:
        shutil.copytree(kept, folder)
    return folder


def test_train_evaluate_and_train_on(trained: Path, call: Command) -> None:
    assert (trained / "checkpoint.zip").exists()
    results = json.loads((trained / "evaluation.json").read_text())["results"]
    assert [result["opponent"] for result in results] == ["random", "greedy"]
    before = json.loads((trained / "state.json").read_text())

    text = succeeds(call("evaluate", trained, "--games", 6))
    assert [line.split("│")[1:4] for line in text.splitlines() if "toy-2p" in line] == [
        [" toy-2p ", " random  ", " 6     "],
        [" toy-2p ", " greedy  ", " 6     "],
    ]
    assert "%" in text
    text = succeeds(
        call("evaluate", "runs/toy-2p", "--against", trained, "--against", "greedy", "--games", 5, "--sample")
    )
    assert text.count("│ 6 ") == 2  # whole tables
    assert succeeds(call("evaluate", trained, "--games", 40, "--sample", "--seed", 5)) == succeeds(
        call("evaluate", trained, "--games", 40, "--sample", "--seed", 5)
    )

    # the same command has nothing to do but to evaluate
    text = succeeds(call("train", "toy", *FIELDS, *SHORT))
    assert "resuming runs/toy-2p at " in text
    assert json.loads((trained / "state.json").read_text()) == before
    # with more time, it goes on
    more = before["seconds"] / 60 + 0.005
    text = succeeds(call("train", "tabletop/toy-v0", "--folder", trained, "--minutes", more, "--games", 4))
    assert f"resuming {trained} at {before['steps']:,} decisions" in text
    assert json.loads((trained / "state.json").read_text())["steps"] > before["steps"]
    assert json.loads((trained / "config.json").read_text())["minutes"] == more
    # and when no time is named, that of the folder stands
    succeeds(call("train", "toy", "--games", 4))
    assert json.loads((trained / "config.json").read_text())["minutes"] == more


def outside_agents(monkeypatch: pytest.MonkeyPatch, **factories: Callable[..., Any]) -> None:
    """Installs entry points of an outside package."""
    entries = [
        SimpleNamespace(name=name, value=f"outside:{name}", load=lambda factory=factory: factory)
        for name, factory in factories.items()
    ]
    monkeypatch.setattr(agents, "entry_points", lambda group: entries if group == agents.ENTRY_POINTS else [])


class Mine:
    """An agent of an outside package: the first legal action, or one that is not."""

    name = "first [legal]"

    def __init__(self, argument: str = "") -> None:
        self.wrong, self.closed, self.begun = argument == "wrong", False, 0

    def reset(self, seat: int, seed: int) -> None:
        self.begun += 1

    def choose(self, view: View) -> int:
        return int(view.legal_actions()[0]) if not self.wrong else int(view.action_mask.argmin())

    def close(self) -> None:
        self.closed = True


def test_evaluate_against_every_kind_of_agent(
    trained: Path, call: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[Mine] = []

    def mine(game: Game, **arguments: Any) -> Mine:
        made.append(Mine(**arguments))
        return made[-1]

    outside_agents(monkeypatch, mine=mine)
    shutil.copy(trained / "checkpoint.zip", tmp_path / "other.zip")
    given = ["greedy", trained, f"sb3:{trained}", "sb3:other.zip", "mine"]
    text = succeeds(call("evaluate", trained, *[part for name in given for part in ("--against", name)], "--games", 4))
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.splitlines() if "│ 4 " in line]
    assert [row[1] for row in rows] == ["greedy", "toy-2p", "toy-2p", "other", "first [legal]"]
    assert rows[1][2:] == rows[2][2:] == rows[3][2:]  # the same network in three ways
    assert [agent.closed for agent in made] == [True]
    fails(call("evaluate", trained, "--against", "mine:wrong"), "'first [legal]' has to be mended")
    assert made[-1].closed


def test_record_every_kind_of_agent(
    trained: Path, call: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[Mine] = []

    def mine(game: Game, **arguments: Any) -> Mine:
        made.append(Mine(**arguments))
        return made[-1]

    outside_agents(monkeypatch, mine=mine)
    path = tmp_path / "games.jsonl"
    for agents_by_seat in (f"sb3:{trained},mine", f"{trained},greedy", "mine"):
        for _ in range(2):
            succeeds(call("replay", "record", "toy", "--agents", agents_by_seat, "--games", 3, "--output", path))
    recorded = list(replays.read(path))
    names = [[f"sb3:{trained}", "mine"], [str(trained), "greedy"], ["mine", "mine"]]
    assert [list(replay.agents) for replay in recorded] == [name for name in names for _ in range(6)]
    assert all(replays.verify(replay) == [] for replay in recorded)
    assert recorded[0:3] == recorded[3:6]
    assert [agent.begun for agent in made] == [3] * 6
    assert all(agent.closed for agent in made)

    def refused(names: str, *messages: str, options: tuple[str, ...] = ()) -> None:
        out = tmp_path / "none.jsonl"
        fails(call("replay", "record", "toy", *options, "--agents", names, "--output", out), *messages)
        assert not out.exists()

    refused("mine:wrong,mine", "'first [legal]' has to be mended")
    assert all(agent.closed for agent in made)
    refused(f"mine,sb3:{tmp_path}", "holds no run: give that of a run")
    assert all(agent.closed for agent in made)
    refused("human,mine", "name agents, or use the `play` command")
    refused("sb3:nowhere", "no run folder or checkpoint nowhere")
    refused(f"{trained}", "'toy-2p' was trained on observations of shape", options=("-o", "memory=true"))


def test_a_trained_policy_is_exported_and_plays(trained: Path, call: Command) -> None:
    text = succeeds(call("export", trained, "small.npz"))
    assert "name it as ppo:small.npz" in text
    assert "ppo" in succeeds(call("evaluate", trained, "--against", "ppo:small.npz", "--games", 4))
    fails(call("evaluate", trained, "--against", "ppo:none.npz"), "there is no exported policy none.npz")


def test_train_with_options(toy: Game, call: Command, tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib")
    options = ["-o", "memory=true", "-o", "extras=joker,refill", "-o", "heap=9", "--option", 'cards={"one": 9}']
    fields = [*FIELDS, "--set", "reward=win", "--set", 'pool={"greedy": 1}', "--set", "as_earned=False"]
    text = succeeds(call("train", "toy", "-p", 3, *options, *fields, *SHORT, "--seed", 7, "--folder", "a [b] c"))
    assert "checkpoint, curve and tables: a [b] c" in text
    config = json.loads((tmp_path / "a [b] c" / "config.json").read_text())
    assert config["num_players"] == 3
    assert config["options"] == {
        "memory": True, "extras": ["joker", "refill"], "heap": 9, "cards": {"one": 9, "two": 0, "three": 0}
    }  # fmt: skip
    assert (config["seed"], config["reward"], config["pool"]) == (7, "win", {"greedy": 1})
    assert config["as_earned"] is False
    assert "a [b] c" in succeeds(call("evaluate", "a [b] c", "--games", 3))
    # the same command resumes; another is told apart
    succeeds(call("train", "toy", "-p", 3, *options, *fields, *SHORT, "--seed", 7, "--folder", "a [b] c"))
    fails(
        call("train", "toy", "-p", 3, *options[2:], *fields, *SHORT, "--folder", "a [b] c"),
        "is a run with options=",
        "name another folder",
    )


def test_a_run_is_not_resumed_as_another(trained: Path, two_moves: Game, call: Command) -> None:
    files = {path: path.read_bytes() for path in trained.rglob("*") if path.is_file()}
    for arguments, message in (
        (["toy", "--players", "3"], "is a run with num_players=2, not 3: name another folder"),
        (["two_moves"], "is a run with game='toy', not 'two_moves'"),
        (["toy", "-o", "memory=true"], "is a run with options={}, not {'memory': True}"),
        (["toy", "--set", "epochs=9"], "is a run with epochs=1, not 9"),
        (["toy", "--seed", "9"], "is a run with seed=0, not 9"),
        (["toy", "--minutes", "-3"], "minutes=-3.0 is not possible: give a positive number"),
        (["toy", "--minutes", "0"], "minutes=0.0 is not possible: give a positive number"),
    ):
        fails(call("train", *arguments, "--folder", trained), message)
    assert {path: path.read_bytes() for path in trained.rglob("*") if path.is_file()} == files


def test_evaluate_against_what_there_is_not(trained: Path, two_moves: Game, call: Command, tmp_path: Path) -> None:
    fails(call("evaluate", trained, "--against", "gredy"), "no agent 'gredy': there are", "did you mean 'greedy'?")
    fails(call("evaluate", trained, "--against", "human"), "name agents, or use the `play` command")
    fails(call("evaluate", trained, "--against", "sb3:"), "'sb3:' needs a path")
    fails(call("evaluate", trained, "--against", "sb3:nowhere.zip"), "no run folder or checkpoint nowhere.zip")
    fails(call("evaluate", trained, "--against", tmp_path), "holds no run: give that of a run")
    fails(call("evaluate", trained, "--seed", -1), "give a whole number from 0 to")
    fails(call("evaluate", tmp_path), "holds no run: start one by naming a game")
    refuses(call("evaluate", "nowhere"), "does not exist")
    refuses(call("evaluate", trained, "--games", 0), "--games")
    succeeds(call("train", "two_moves", *FIELDS, *SHORT, "--folder", "other game"))
    fails(call("evaluate", trained, "--against", "other game"), "is a run of two_moves, not of toy: give another one")
    succeeds(call("train", "toy", "-o", "memory=true", *FIELDS, *SHORT, "--folder", "longer"))
    for name in ("longer", "sb3:longer"):
        fails(call("evaluate", trained, "--against", name), "'longer' was trained on observations of shape", "give the")
    succeeds(call("train", "toy", "-p", 4, *FIELDS, *SHORT, "--folder", "four"))
    assert "four" in succeeds(call("evaluate", trained, "--against", "four", "--games", 2))
    (trained / "checkpoint.zip").write_bytes(b"")
    fails(call("evaluate", trained), "checkpoint.zip cannot be read", "restore it from a copy")
    (trained / "config.json").write_text("{")
    fails(call("evaluate", trained), "config.json cannot be read", "restore it from a copy")
    fails(call("train", "toy", "--folder", trained), "config.json cannot be read", "restore it from a copy")


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        (["urbno"], ["no game 'urbno'", "did you mean 'urbino'?"]),
        (["toy-v9"], ["toy has version 0, not 9: use 'tabletop/toy-v0'"]),
        (["toy", "-p", "5"], ["Toy takes 2 to 4 players, not 5: set num_players="]),
        (["toy", "-p", "-1"], ["2 to 4 players"]),
        (["toy", "-o", "memmory=true"], ["Toy has no option 'memmory'", "did you mean 'memory'?"]),
        (["toy", "-o", "memory=perhaps"], ["option memory='perhaps' is not possible: give True or False"]),
        (["toy", "-o", "heap=3"], ["option heap=3 is not possible: give a whole number from 4 to 30"]),
        (["toy", "-o", "heap=8.5"], ["option heap=8.5 is not possible"]),
        (["toy", "-o", "heap"], ["'heap' is no option: write NAME=VALUE"]),
        (["toy", "-o", "tie=last"], ["option tie='last' is not possible: give one of 'nobody', 'first'"]),
        (["toy", "-o", "extras=jocker"], ["option extras='jocker' is not possible"]),
        (
            ["toy", "--set", "epoch=3"],
            ["RunConfig has no field 'epoch': it has num_envs,", "did you mean 'epochs'?"],
        ),
        (["toy", "--set", "epochs"], ["'epochs' is no option: write NAME=VALUE"]),
        (["toy", "--set", "epochs=many"], ["epochs='many' is not possible: give a whole number from 1"]),
        (["toy", "--set", "epochs=-1"], ["epochs=-1 is not possible: give a whole number from 1"]),
        (["toy", "--set", "epochs=1.5"], ["epochs=1.5 is not possible"]),
        (["toy", "--set", "learning_rate=NaN"], ["learning_rate=nan is not possible: give a positive number"]),
        (["toy", "--set", "learning_rate=-1"], ["learning_rate=-1 is not possible: give a positive number"]),
        (
            ["toy", "--set", 'pool={"nobody": 1}'],
            ["no opponent 'nobody': there are latest, snapshot, random, greedy"],
        ),
        (["toy", "--set", "pool=[1]"], ["pool=[1] is not possible"]),
        (["toy", "--set", "append_mask=2"], ["append_mask=2 is not possible: give true or false"]),
        (["toy", "--set", "reward=wim"], ["there is no reward 'wim'", "did you mean 'win'?"]),
        (["toy", "--set", "minutes=3"], ["--set takes no 'minutes': give --minutes"]),
        (["toy", "--set", "seed=3"], ["--set takes no 'seed': give --seed"]),
        (["toy", "--set", "game=urbino"], ["--set takes no 'game': name it as the argument"]),
        (["toy", "--set", "num_players=3"], ["--set takes no 'num_players': give --players"]),
        (["toy", "--set", "options={}"], ["--set takes no 'options': give --option"]),
        (["toy", "--minutes", "0"], ["minutes=0.0 is not possible: give a positive number"]),
        (["toy", "--minutes", "-1"], ["minutes=-1.0 is not possible"]),
        (["toy", "--minutes", "inf"], ["minutes=inf is not possible"]),
        (["toy", "--seed", "-1"], ["seed=-1 is not possible: give a whole number from 0 to"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_mistakes_in_train(toy: Game, call: Command, tmp_path: Path, arguments: list[str], messages: list[str]) -> None:
    pytest.importorskip("sb3_contrib")
    fails(call("train", *arguments, "--folder", "run"), *messages)
    assert list(tmp_path.iterdir()) == []  # nothing is left that would stand in the way of the right command


def test_mistakes_that_click_knows(toy: Game, call: Command) -> None:
    pytest.importorskip("sb3_contrib")
    refuses(call("train"), "Missing argument 'GAME'")
    refuses(call("train", "toy", "--minutes", "long"), "'long' is not a valid float")
    refuses(call("train", "toy", "--games", "0"), "--games")
    refuses(call("train", "toy", "-p", "two"), "'two' is not a valid integer")
    refuses(call("train", "toy", "--folders", "x"), "No such option")


def test_places_that_cannot_be_written(toy: Game, call: Command, tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib")
    (tmp_path / "file").write_text("dear")
    fails(call("train", "toy", *FIELDS, *SHORT, "--folder", "file/run"), "file", "name another place")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.tex").write_text("dear")
    fails(call("train", "toy", *FIELDS, *SHORT, "--folder", "folder"), "holds no run: choose another folder")
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["thesis.tex"]


def test_without_the_extra(python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    for name in ("torch", "matplotlib"):
        code = (
            f"import sys\nsys.modules[{name!r}] = None\nsys.argv[1:] = ['train', 'urbino']\n"
            "from tabletop_envs.cli import main\nmain()\n"
        )
        result = python(code)
        assert result.returncode == 1
        assert result.stderr.strip() == f"Error: training needs {name}: pip install 'tabletop-envs[train]'"


# --- bench and warmup -------------------------------------------------------------------------------------------


def test_bench(two_moves: Game, call: Command) -> None:
    text = succeeds(call("bench", "two_moves", "--seconds", 0.05))
    assert "tabletop/two_moves-v0" in text
    figures = json.loads(succeeds(call("bench", "two_moves-v0", "--seconds", 0.02, "--json")))
    assert len(figures) > 4
    assert all(isinstance(value, (int, float)) and value > 0 for value in figures.values())
    for name in figures:
        assert name in text
    assert any("decisions" in name for name in figures)


def test_mistakes_in_bench(toy: Game, call: Command) -> None:
    for seconds in (0, -1, 1e-6, "long"):
        refuses(call("bench", "toy", "--seconds", seconds), "--seconds")
    fails(call("bench", "toys"), "did you mean 'toy'?")
    fails(call("bench", "toy", "-p", 1), "2 to 4 players")
    fails(call("bench", "toy", "-o", "heap=0"), "option heap=0 is not possible")


def test_warmup(toy: Game, two_moves: Game, call: Command) -> None:
    text = succeeds(call("warmup", "two_moves", "toy-v0"))
    assert "compiling toy" in text
    fails(call("warmup", "two_moves", "tow_moves"), "did you mean 'two_moves'?")


# --- conform ----------------------------------------------------------------------------------------------------


def test_conform(two_moves: Game, call: Command) -> None:
    text = succeeds(call("conform", "two_moves", "--quick"))
    for name in testing.CHECKS:
        assert f"pass {name} (" in text
    assert text.endswith(f"{len(testing.CHECKS)} checks passed, 0 failed\n")
    fails(call("conform", "two_move"), "did you mean 'two_moves'?")


def test_conform_tells_failures(two_moves: Game, call: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = [Report("first [bold]", True, "", 0.1), Report("second", False, "in game [3]: 1 != 2", 2.0)]

    def suite(game: Game, progress: Callable[[Report], None], **arguments: Any) -> list[Report]:
        assert game.spec == two_moves.spec
        asked.append(arguments)
        for report in reports:
            progress(report)
        return reports

    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(testing, "conformance", suite)
    result = call("conform", "two_moves")
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert result.output.splitlines() == [
        "pass first [bold] (0.1 s)",
        "FAIL second (2.0 s)",
        "     in game [3]: 1 != 2",
        "1 checks passed, 1 failed",
    ]
    reports.pop()
    text = succeeds(call("conform", "two_moves", "--quick", "--golden", "folder"))
    assert text == "pass first [bold] (0.1 s)\n1 checks passed, 0 failed\n"
    assert asked == [{"quick": False, "golden": None}, {"quick": True, "golden": Path("folder")}]


# --- cases ------------------------------------------------------------------------------------------------------


def case_of(game: Game, name: str, actions: list[str], **expect: Any) -> dict[str, Any]:
    """A case of the toy game from its first position."""
    position = Position.new(game, 2, seed=1)
    facts = position.to_json(ALL)["position"]
    return {
        "id": name, "clauses": ["R2.1"], "players": 2, "setup": facts, "seat": 0, "actions": actions,
        "expect": expect,
    }  # fmt: skip


@pytest.fixture
def cases(toy: Game, tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of cases."""

    def write(*cases: Any) -> Path:
        path = tmp_path / "cases.json"
        path.write_text(json.dumps({"cases": cases}), encoding="utf-8")
        return path

    return write


def test_cases(toy: Game, call: Command, cases: Callable[..., Path]) -> None:
    good = case_of(toy, "TOY-1 [pass]", ["pass"], committed=[1, 0, 0, 0], phase="play")
    manual = {"id": "TOY-2", "clauses": ["R4"], "manual": True}
    assert succeeds(call("cases", "toy", cases(good, manual))) == (
        "pass   TOY-1 [pass]\nmanual TOY-2\n1 pass, 0 fail, 1 manual\n"
    )
    wrong = case_of(toy, "TOY-3", ["pass"], stones=7)
    illegal = case_of(toy, "TOY-4", ["take 2"], stones=12)
    odd = case_of(toy, "TOY-5 [/]", ["jump [high]"])
    incomplete = {"id": "TOY-6", "clauses": ["R1"]}
    result = call("cases", "toy", cases(good, wrong, illegal, odd, incomplete, manual))
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    lines = result.output.splitlines()
    assert lines[:4] == [
        "pass   TOY-1 [pass]",
        "fail   TOY-3",
        "         stones: expected 7, found 12",
        "fail   TOY-4",
    ]
    assert "'take 2' (6) is not legal for seat 0 in phase play; legal: " in lines[4]
    assert "pass" in lines[4]
    assert lines[5] == "fail   TOY-5 [/]"
    assert "entry 1" in lines[6]
    assert "'jump [high]' names no action" in lines[6]
    assert lines[7] == "fail   TOY-6"
    assert "broke off by KeyError: 'players'" in lines[8]
    assert lines[9:] == ["manual TOY-2", "1 pass, 4 fail, 1 manual"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read as JSON"),
        ("", "cannot be read as JSON"),
        ("[]", "holds no cases: give a JSON object with a list under 'cases'"),
        ('{"cases": {}}', "holds no cases: give a JSON object"),
        ('{"cases": ["a"]}', "case number 0 has no 'id': add it"),
        ('{"cases": [{"clauses": ["R1"]}]}', "case number 0 has no 'id': add it"),
        ('{"cases": [{"id": "a"}]}', "case number 0 has no 'clauses': add it"),
        ('{"cases": [{"id": ["a"], "clauses": ["R1"]}]}', "of case number 0 is no text"),
        ('{"cases": [{"id": "a", "clauses": ["R1"]}, {"id": "a", "clauses": ["R1"]}]}', "rename one"),
    ],
)
def test_broken_case_files(toy: Game, call: Command, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "cases.json").write_text(text)
    fails(call("cases", "toy", "cases.json"), "cases.json", message)


def test_mistakes_in_cases(toy: Game, call: Command, tmp_path: Path) -> None:
    refuses(call("cases", "toy", "nowhere.json"), "does not exist")
    refuses(call("cases", "toy", tmp_path), "is a directory")
    (tmp_path / "cases.json").write_bytes(b"\xff\xfe{}")
    fails(call("cases", "toy", "cases.json"), "cannot be read as JSON", "mend the file or name another one")
    fails(call("cases", "tyo", "cases.json"), "did you mean 'toy'?")


# --- options as words -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1), ("1.5", 1.5), ("true", True), ("False", False), ("TRUE", True), ("null", None), ("a", "a"),
        ("", ""), ("a,b", "a,b"), ('"a"', "a"), ("[1, 2]", [1, 2]), ('{"a": 1}', {"a": 1}), ("a=b", "a=b"),
        ("01", "01"),
    ],
)  # fmt: skip
def test_values_of_options(text: str, value: Any) -> None:
    read = cli.parse_options((f"name={text}",))
    assert read == {"name": value}
    assert type(read["name"]) is type(value)


# --- as a program -----------------------------------------------------------------------------------------------


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tabletop_envs", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_the_program() -> None:
    listed = program("list")
    assert listed.returncode == 0, listed.stderr
    for game in tabletop_envs.list_games():
        assert f"tabletop/{game}-v" in listed.stdout
    unknown = program("bench", "no-such-game")
    assert unknown.returncode == 1
    assert unknown.stderr.startswith("Error: no game 'no-such-game'")
    assert unknown.stderr.count("\n") == 1
    assert unknown.stdout == ""
    assert program("bench").returncode == 2


def test_help_is_light(python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    code = (
        "import sys\n"
        "from tabletop_envs.cli import main\n"
        "main(['list'], standalone_mode=False)\n"
        "heavy = {'numba', 'torch', 'stable_baselines3', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    result = python(code)
    assert result.returncode == 0, result.stderr


def test_a_game_of_this_process_is_a_game(toy: Game, call: Command) -> None:
    assert isinstance(toy.spec, GameSpec)
    assert toy.spec.env_id in succeeds(call("list"))
