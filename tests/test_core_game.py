"""Game: a folder bound to its compiled functions, and what is said of a folder that does not keep the contract."""

from __future__ import annotations

import dataclasses
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tabletop_envs import registry
from tabletop_envs.core import jit
from tabletop_envs.core.game import CONTRACT, FILES, LATE, Game
from tabletop_envs.core.position import Position
from tabletop_envs.errors import GameDefinitionError

TESTS = Path(__file__).parent


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """A copy of the smallest game under another name."""

    def make(name: str) -> Path:
        folder = tmp_path / name
        shutil.copytree(TESTS / "two_moves", folder, ignore=shutil.ignore_patterns("__pycache__"))
        for path in folder.glob("*.py"):
            path.write_text(path.read_text(encoding="utf-8").replace("two_moves", name), encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))
        return folder

    return make


def test_parts(toy: Game) -> None:
    assert set(toy.modules) == set(FILES)
    assert set(toy.functions) == set(CONTRACT)
    assert len(toy.calls) == len(CONTRACT) - len(LATE)
    assert toy.num_actions(toy.settings()) == 9
    assert toy.observation_size(toy.settings(4)) + 4 == toy.observation_size(toy.settings(2, memory=True))
    assert repr(toy) == "<Game tabletop/toy-v0>"
    if jit.COMPILED:
        assert (toy.calls > 0).all()
        assert len(set(toy.calls.tolist())) == len(toy.calls)


def test_a_pickled_game_is_bound_anew(toy: Game) -> None:
    again = pickle.loads(pickle.dumps(toy))
    assert again.spec == toy.spec
    assert again is registry.load("toy")


def test_a_missing_file(two_moves: Game, copied: Callable[[str], Path]) -> None:
    (copied("no_bot") / "bot.py").unlink()
    spec = dataclasses.replace(two_moves.spec, id="no_bot", package="no_bot")
    with pytest.raises(GameDefinitionError, match=r"no_bot: the folder no_bot has no file bot\.py"):
        Game(spec)


def test_a_missing_function(two_moves: Game, copied: Callable[[str], Path]) -> None:
    view = copied("no_view") / "view.py"
    view.write_text(view.read_text(encoding="utf-8").replace("def observe(", "def look("), encoding="utf-8")
    spec = dataclasses.replace(two_moves.spec, id="no_view", package="no_view")
    with pytest.raises(GameDefinitionError, match=r"no_view: view\.py does not define observe"):
        Game(spec)


def test_a_missing_dependency_is_not_taken_for_a_missing_file(two_moves: Game, copied: Callable[[str], Path]) -> None:
    tables = copied("no_module") / "tables.py"
    tables.write_text(tables.read_text(encoding="utf-8") + "\nimport nowhere_to_be_found\n", encoding="utf-8")
    spec = dataclasses.replace(two_moves.spec, id="no_module", package="no_module")
    with pytest.raises(ModuleNotFoundError, match="nowhere_to_be_found"):
        Game(spec)


def test_a_game_with_other_functions_is_not_pickled(toy: Game) -> None:
    """It would come back with its own functions, and so would positions of it."""
    twin = toy.with_functions(apply=toy.functions["apply"])
    for stored in (twin, Position.new(twin, seed=1)):
        with pytest.raises(TypeError, match="with other functions"):
            pickle.dumps(stored)
    assert pickle.loads(pickle.dumps(toy)) is not None
