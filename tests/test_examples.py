"""The examples and the README's ten lines run as they stand, each in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def run(*command: str, folder: Path) -> str:
    """Standard output of a Python command run in a folder; the test fails with its errors."""
    done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_quickstart(tmp_path: Path) -> None:
    printed = run(str(EXAMPLES / "quickstart.py"), folder=tmp_path)
    assert re.search(r"points \[\d+, \d+\] places \[[12], [12]\]", printed)
    assert "over; points" in printed


def test_the_readme_starts_in_ten_lines(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert code is not None
    assert len(code[1].strip().splitlines()) <= 10
    assert re.fullmatch(r"\[\d+, \d+\] \[[12], [12]\]\n", run("-c", code[1], folder=tmp_path))


def test_train_ppo(tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib")
    printed = run(str(EXAMPLES / "train_ppo.py"), "urbino", "--minutes", "0.02", "--save", "agent.zip", folder=tmp_path)
    assert re.search(r"against random: \d+\.\d% \(95 % interval", printed)
    assert (tmp_path / "agent.zip").stat().st_size > 0


def test_evaluate(tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib")
    tiny = ["num_envs=8", "rollout=8", "batch_size=32", "channels=2", "width=8"]
    settings = [part for field in tiny for part in ("--set", field)]
    run("-m", "tabletop_envs", "train", "urbino", "--minutes", "0.01", "--games", "2", *settings, folder=tmp_path)
    printed = run(str(EXAMPLES / "evaluate.py"), "runs/urbino-2p", "--games", "4", folder=tmp_path)
    assert "against random:" in printed
    assert "against greedy:" in printed
