"""The sample submission: the commands of its README from copy to rank, its training, and what maintainers run on it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tabletop_envs import registry
from tabletop_envs.arena import schedule, submission

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "submit_agent"
BOARD = Path("benchmarks/leaderboard")
SEASON = BOARD / "seasons" / "urbino_v0" / "2p" / "2026-1"
CHECK = ROOT / "benchmarks" / "leaderboard" / "ci" / "check.sh"

pytestmark = pytest.mark.skipif(shutil.which("prlimit") is None, reason="the commands of the README are for Linux")


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder where `tabletop-envs` and `python` are those that run the tests."""
    shims = folder.parent / "bin"
    if not shims.exists():
        shims.mkdir()
        for name, arguments in (("python", ""), ("tabletop-envs", "-m tabletop_envs")):
            (shims / name).write_text(f'#!/bin/sh\nexec {sys.executable} {arguments} "$@"\n')
            (shims / name).chmod(0o755)
    env = {
        **os.environ,
        "PATH": f"{shims}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(part for part in sys.path if part),
    }
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)


def commands() -> str:
    text = (EXAMPLE / "README.md").read_text()
    found = re.search(r"<!-- commands -->\n```bash\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a small board: one table against two anchors."""
    root = tmp_path_factory.mktemp("submit") / "base"
    shutil.copytree(EXAMPLE, root / "examples" / "submit_agent", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("random", "greedy"):
        folder = root / BOARD / "agents" / name
        folder.mkdir(parents=True)
        content = json.loads((EXAMPLE / "linear" / "agent.json").read_text())
        content |= {"name": name, "entry": {"builtin": name}, "weights": None, "code_sha256": None, "training": None}
        (folder / "agent.json").write_text(json.dumps(content))
    (root / BOARD / "anchors.json").write_text(json.dumps({"schema": 1, "anchors": ["random", "greedy"]}))
    game = registry.load("urbino")
    season = schedule.new(game, game.settings(2), "2026-1", ["random", "greedy"], 1)
    (root / SEASON).mkdir(parents=True)
    (root / SEASON / "schedule.json").write_text(season.text())
    return root


@pytest.fixture(scope="module")
def submitted(base: Path) -> Path:
    """The same after all commands of the README."""
    root = base.with_name("submitted")
    shutil.copytree(base, root)
    done = run(["bash", "-euxo", "pipefail", "-c", commands()], root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all of it holds" in done.stdout
    assert "linear" in done.stdout.splitlines()[-1]
    (root / SEASON / "ratings.json").unlink()
    (root / BOARD / "README.md").unlink()
    return root


def test_the_sample_is_sound() -> None:
    agent, findings = submission.check(EXAMPLE / "linear")
    assert agent is not None
    assert findings == []


def test_maintainers_check_it(base: Path, submitted: Path) -> None:
    done = run(["bash", str(CHECK), str(base), str(submitted)], base)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("a submission of the agent linear; salt ")
    assert "all of it holds" in done.stdout
    assert re.search(r"^\+.*linear", done.stdout, re.MULTILINE)
    assert not (submitted / SEASON / "ratings.json").exists()


def _refused(base: Path, root: Path) -> str:
    done = run(["bash", str(CHECK), str(base), str(root)], base)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr + done.stdout


def test_maintainers_refuse_what_touches_more(base: Path, submitted: Path, tmp_path: Path) -> None:
    assert _refused(base, base) == "the submission changes nothing\n"
    root = tmp_path / "root"

    def changed(*parts: str, text: str = "x") -> str:
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(submitted, root)
        root.joinpath(*parts).write_text(text)
        return _refused(base, root)

    for path in ("examples/submit_agent/train.py", str(SEASON / "schedule.json"), str(BOARD / "README.md"), "new file"):
        assert changed(path) == f"a submission changes its own agent and its games, not {path}\n"
    assert "a submission is of one agent, not of" in changed(str(BOARD), "agents", "greedy", "agent.json")
    (root / BOARD / "agents" / "linear" / "card.md").unlink()
    (root / BOARD / "agents" / "linear" / "card.md").symlink_to("/etc/passwd")
    assert "holds no links, but this one: ./benchmarks/leaderboard/agents/linear/card.md" in _refused(base, root)


def test_its_weights_can_be_learnt_anew(base: Path, tmp_path: Path) -> None:
    folder = tmp_path / "linear"
    shutil.copytree(EXAMPLE / "linear", folder)
    done = run([sys.executable, str(EXAMPLE / "train.py"), "--games", "4", "--folder", str(folder)], base)
    assert done.returncode == 0, done.stderr
    agent, findings = submission.check(folder)
    assert agent is not None
    assert findings == []
    weights = np.load(folder / "weights.npy")
    assert weights.shape == np.load(EXAMPLE / "linear" / "weights.npy").shape
    assert np.abs(weights).max() == 10_000
