"""What all tests share. The modes in which the suite runs (`TABLETOP_ENVS_JIT`, see `core/jit.py`):

* `pytest`: compiled; the first run after a change compiles;
* `TABLETOP_ENVS_JIT=checked pytest`: all tests with bounds checks and Python's division;
* `TABLETOP_ENVS_JIT=off pytest -m nojit`: the tests marked `nojit`, in plain Python, where an overflow of an int8
  field is a RuntimeWarning, and so an error. The others would pass too, but take long.

The games `toy` and `two_moves` live beside the tests. The fixtures of these names make them known to the registry
for one test.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import pettingzoo
import pytest

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))

from tabletop_envs import registry  # noqa: E402
from tabletop_envs.core import jit  # noqa: E402
from tabletop_envs.core.game import Game  # noqa: E402

TIMEOUT = 300  # seconds for another Python process


def pytest_report_header() -> str:
    """Which mode this run is in."""
    return f"TABLETOP_ENVS_JIT={jit.MODE}, compiled code in {jit.cache_root()}"


@pytest.fixture(scope="session")
def _toy() -> Game:
    from toy_game import GAME

    return Game(GAME)


@pytest.fixture(scope="session")
def _two_moves() -> Game:
    from two_moves import GAME

    return Game(GAME)


def _known(game: Game) -> Iterator[None]:
    name = game.spec.id
    registry.add(game.spec)
    registry._loaded[name] = game  # not one that a test before this loaded with parts exchanged
    yield
    registry.games().pop(name)
    registry._loaded.pop(name, None)
    for ids in (
        getattr(pettingzoo, "aec_registry", {}),
        getattr(pettingzoo, "parallel_registry", {}),
        gymnasium.registry,
    ):
        # those of other versions too, which a test may have declared
        for env_id in [env_id for env_id, entry in ids.items() if (entry.kwargs or {}).get("game") == name]:
            del ids[env_id]


@pytest.fixture
def toy(_toy: Game) -> Iterator[Game]:
    """A game for 2 to 4 seats with hidden cards, chance, skips, forced decisions and options of every kind."""
    for _ in _known(_toy):
        yield _toy


@pytest.fixture
def two_moves(_two_moves: Game) -> Iterator[Game]:
    """A game of two decisions, of which the second settles who wins."""
    for _ in _known(_two_moves):
        yield _two_moves


@pytest.fixture(scope="session")
def python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """`python(code, **environment)` runs code in a fresh process; `path` names a folder to import from first."""

    def run(code: str, *, path: Path | str = "", **environment: Any) -> subprocess.CompletedProcess[str]:
        places = [str(path), *(part for part in sys.path if part)] if path else [part for part in sys.path if part]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(places), **{k: str(v) for k, v in environment.items()}}
        command = [sys.executable, "-c", code]
        return subprocess.run(command, capture_output=True, text=True, env=env, timeout=TIMEOUT, check=False)

    return run


@pytest.fixture
def fill_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Called with a folder: from then on no file can be put in place there."""
    replace = os.replace

    def fill(folder: Path) -> None:
        def refuse(source: Path, target: Path) -> None:
            if Path(target).absolute().parent == folder:
                raise OSError(28, "no room", str(source))
            replace(source, target)

        monkeypatch.setattr(os, "replace", refuse)

    return fill
