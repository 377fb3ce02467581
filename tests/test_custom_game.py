"""The example of a game outside the package, installed for real into an environment of its own."""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

from tabletop_envs import registry
from tabletop_envs.core.game import FILES
from tabletop_envs.testing import CHECKS

EXAMPLE = Path(__file__).parents[1] / "examples" / "custom_game"
TIMEOUT = 240  # seconds for another process


class Environment:
    """A fresh virtual environment that sees what is installed in this one."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder / "venv", with_pip=False)
        self.folder = folder
        self.python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        place = Path(self.run("-c", "import site; print(site.getsitepackages()[-1])").strip())
        # `addsitedir` and not the folder alone: so that editable installations are seen too
        lines = [f"import site; site.addsitedir({parent!r})" for parent in site.getsitepackages()]
        (place / "this_environment.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def run(self, *arguments: str | Path) -> str:
        """What Python prints in the environment; the test fails with its errors."""
        command = [str(self.python), *[str(argument) for argument in arguments]]
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            command, cwd=self.folder, env=variables, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def install(self, source: Path) -> None:
        """Install a package by pip; what it is built with comes from the index where it is not here."""
        here = ["--no-build-isolation"] if find_spec("setuptools") else []
        options = ["--quiet", "--no-deps", "--disable-pip-version-check", *here]
        self.run("-m", "pip", "install", *options, source)


@pytest.mark.skipif(find_spec("pip") is None, reason="installs a package with pip")
def test_a_game_of_ones_own(tmp_path: Path) -> None:
    source = tmp_path / "custom_game"
    shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    environment = Environment(tmp_path)
    environment.install(source)
    shutil.move(source / "cases.json", tmp_path / "cases.json")
    shutil.rmtree(source)  # from here on there is only what was installed
    code = re.search(r"```python\n(.*?)```", (EXAMPLE / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None

    assert "noughts" not in registry.games()
    listed = environment.run("-c", "import tabletop_envs; print(*tabletop_envs.list_games())").split()
    assert listed == [*registry.games(), "noughts"]
    assert re.fullmatch(r"\[[01], [01]\] \[[12], [12]\]\n", environment.run("-c", code[1]))
    command = ("-m", "tabletop_envs")
    assert "3 pass, 0 fail" in environment.run(*command, "cases", "noughts", "cases.json")
    sampled = ("--agents", "greedy,random", "--games", "50", "--output", "games.jsonl")
    environment.run(*command, "replay", "record", "noughts", *sampled)
    assert environment.run(*command, "replay", "verify", "games.jsonl").startswith("50 games, ")
    told = environment.run(*command, "conform", "noughts", "--quick")
    assert f"{len(CHECKS)} checks passed, 0 failed" in told


def test_the_example_has_every_file_of_the_contract_and_is_short() -> None:
    files = {path.stem: path.read_text(encoding="utf-8") for path in (EXAMPLE / "tabletop_noughts").glob("*.py")}
    assert set(files) == {"__init__", *FILES}
    assert all(text.startswith('"""') for text in files.values())
    assert sum(len(text.splitlines()) for text in files.values()) < 500
    guide = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}.py`" in guide for name in ("__init__", *FILES))


def test_the_example_is_built_with_what_the_guide_says() -> None:
    text = (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
    assert f'[project.entry-points."{registry.ENTRY_POINTS}"]\nnoughts = "tabletop_noughts:GAME"' in text
