"""Compilation: the cache notices edits, checked code stands apart, and nothing has to be stored."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

TESTS = Path(__file__).parent
Python = Callable[..., "CompletedProcess[str]"]

# which card the baseline of a toy game plays: it looks the values up in another file of its folder
CHOICE = """
import numpy as np
from toy_game.bot import greedy
from toy_game.state import DTYPE
states, mask = np.zeros(1, DTYPE), np.array([1, 1, 0, 0, 1, 0, 0, 0, 0], np.int8)
states["stones"] = 9
stats = greedy.stats
print(int(greedy(states[0], mask, 0)), sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
READS = """
import numpy as np
from tabletop_envs.core.jit import jit
import {module}
print({module}.entry(np.arange(3), {index}))
"""
READER = """
from tabletop_envs.core.jit import jit
@jit
def entry(items, index):
    return items[index]
@jit
def ratio(items, index):
    return items[0] // items[index]
"""
DAYS = 24 * 3600


def answer(run: CompletedProcess[str]) -> list[int]:
    assert run.returncode == 0, run.stderr
    return [int(part) for part in run.stdout.split()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place to import from, with a copy of the toy game."""
    shutil.copytree(TESTS / "toy_game", tmp_path / "toy_game", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_an_edit_in_another_file_of_the_game_is_noticed(folder: Path, python: Python) -> None:
    cache = folder / "cache"

    def choice() -> list[int]:
        return answer(python(CHOICE, path=folder, TABLETOP_ENVS_CACHE=cache, TABLETOP_ENVS_JIT="on"))

    assert choice() == [1, 0, 1]  # the two, compiled
    assert choice() == [1, 1, 0]  # from the cache
    folders = set(cache.iterdir())
    assert len(folders) == 2  # core/ and the game's

    tables = folder / "toy_game" / "tables.py"
    tables.write_text(tables.read_text(encoding="utf-8").replace("[1, 2, 3, 4]", "[2, 1, 3, 4]"), encoding="utf-8")
    assert choice() == [0, 0, 1]  # the one, which is worth more now
    assert len(set(cache.iterdir()) - folders) == 1  # the game alone is compiled anew

    (folder / "toy_game" / "README.md").write_text("no source")
    assert choice() == [0, 1, 0]


def test_nothing_is_written_beside_the_sources(folder: Path, python: Python) -> None:
    answer(python(CHOICE, path=folder, TABLETOP_ENVS_CACHE=folder / "cache", TABLETOP_ENVS_JIT="on"))
    left = {path.suffix for path in (folder / "toy_game").rglob("*") if path.is_file()}
    assert left <= {".py", ".md", ".pyc"}


def test_without_a_place_for_the_cache_code_is_compiled_in_memory(folder: Path, python: Python) -> None:
    occupied = folder / "file"
    occupied.write_text("here is no folder")
    places = [occupied / "below", occupied]
    if os.geteuid() != 0:  # to root everything is writable
        sealed = folder / "sealed"
        sealed.mkdir(mode=0o500)
        places.append(sealed)
    for place in places:
        run = python(CHOICE, path=folder, TABLETOP_ENVS_CACHE=place, TABLETOP_ENVS_JIT="on")
        assert answer(run)[0] == 1, place
    assert occupied.read_text() == "here is no folder"


def test_checked_code_stands_apart(tmp_path: Path, python: Python) -> None:
    (tmp_path / "reader.py").write_text(READER)
    cache = tmp_path / "cache"

    def read(index: int, mode: str) -> CompletedProcess[str]:
        code = READS.format(module="reader", index=index)
        return python(code, path=tmp_path, TABLETOP_ENVS_CACHE=cache, TABLETOP_ENVS_JIT=mode)

    assert answer(read(2, "on")) == [2]
    assert read(3, "on").returncode == 0  # whatever lies there
    run = read(3, "checked")
    assert run.returncode != 0
    assert "IndexError" in run.stderr
    assert answer(read(2, "checked")) == [2]
    assert read(3, "on").returncode == 0
    assert read(3, "off").returncode != 0
    names = sorted(path.name.rpartition("-")[2] for path in cache.iterdir())
    assert names == ["checked", "on"]


def test_checked_code_divides_as_python_does(tmp_path: Path, python: Python) -> None:
    (tmp_path / "reader.py").write_text(READER)
    code = "import numpy as np, reader; print(reader.ratio(np.zeros(1, np.int64), 0))"
    places = {"path": tmp_path, "TABLETOP_ENVS_CACHE": tmp_path / "cache"}
    assert python(code, **places, TABLETOP_ENVS_JIT="on").returncode == 0
    assert "ZeroDivisionError" in python(code, **places, TABLETOP_ENVS_JIT="checked").stderr


NUMBERS = """
import enum
import numpy as np
from tabletop_envs.core.jit import jit
class Kind(enum.IntEnum):
    ODD = 1
@jit
def lower(items, index, by):
    items[index] -= by
    return items[index] - by
@jit
def narrow(number, keep=True):
    number += 20
    return number if keep else 0
@jit
def factorial(number):
    return 1 if number < 2 else number * factorial(number - 1)
@jit
def entry(items, index, wide):
    total = lower(wide, items[0], 1) + lower(wide, wide[2], items[1]) + lower(wide, Kind.ODD, index)
    return total + narrow(items[2]) + narrow(True) + narrow(wide[0], keep=items[0] > 0) + factorial(items[1])
"""


def test_compiled_code_calls_one_form_for_all_kinds_of_whole_numbers(tmp_path: Path, python: Python) -> None:
    (tmp_path / "numbers_.py").write_text(NUMBERS)
    code = (
        "import numpy as np; from numbers_ import *\n"
        "print(entry(np.array([0, 3, 99], np.int8), np.int32(1), np.array([9, 8, 1])))\n"
        "print(lower(np.array([9, 8]), 0, 1))\n"
        "print(*(len(f.inner.signatures) for f in (lower, factorial)) if hasattr(lower, 'inner') else (1, 1))"
    )
    forms = {"on": "1 1", "on again": "0 0", "checked": "1 1", "off": "1 1"}  # again: the callers' code has it all
    for mode, compiled in forms.items():
        run = python(code, path=tmp_path, TABLETOP_ENVS_CACHE=tmp_path / "cache", TABLETOP_ENVS_JIT=mode.split()[0])
        assert run.stdout.split("\n")[:3] == ["158", "7", compiled], (mode, run.stderr)


def test_only_own_folders_are_removed_when_stale(tmp_path: Path, python: Python) -> None:
    (tmp_path / "reader.py").write_text(READER)
    cache = tmp_path / "cache"
    aged = {f"{0:016x}-on": 61, f"{1:016x}-checked": 400, f"{2:016x}-on": 59, "holiday pictures": 5000}
    for name, days in aged.items():
        (cache / name).mkdir(parents=True)
        (cache / name / "content").touch()
        os.utime(cache / name, (time.time() - days * DAYS,) * 2)
    code = READS.format(module="reader", index=1)
    answer(python(code, path=tmp_path, TABLETOP_ENVS_CACHE=cache, TABLETOP_ENVS_JIT="on"))
    assert {path.name for path in cache.iterdir()} & set(aged) == {f"{2:016x}-on", "holiday pictures"}


def test_unknown_mode(python: Python) -> None:
    run = python("import tabletop_envs.core.jit", TABLETOP_ENVS_JIT="fast")
    assert "TABLETOP_ENVS_JIT='fast' is not a mode: set it to one of on, checked, off" in run.stderr


def test_without_the_jit_numba_is_not_needed(tmp_path: Path, python: Python) -> None:
    (tmp_path / "numba.py").write_text("raise ImportError('not installed')")
    code = (
        "from tabletop_envs.core.game import Game; from tabletop_envs.core.position import Position\n"
        "from two_moves import GAME\n"
        "position = Position.new(Game(GAME)); position.apply(0); position.apply('name 0')\n"
        "print(*position.points())"
    )
    assert answer(python(code, path=tmp_path, TABLETOP_ENVS_JIT="off")) == [1, 0]
