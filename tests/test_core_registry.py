"""The registry: ids in all their spellings, outside games, and what importing the package costs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import Any

import pettingzoo
import pytest
from two_moves import GAME

import tabletop_envs
from tabletop_envs import registry
from tabletop_envs.core.game import Game
from tabletop_envs.core.spec import GameSpec
from tabletop_envs.errors import GameDefinitionError, UnknownGameError

OURS = next(iter(registry.games().values()))


@pytest.fixture
def entry_points(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[list[Any]], None]]:
    """Installs entry points of outside packages."""

    def install(entries: list[Any]) -> None:
        monkeypatch.setattr(registry, "entry_points", lambda group: entries if group == registry.ENTRY_POINTS else [])
        registry.games.cache_clear()

    yield install
    monkeypatch.undo()
    registry.games.cache_clear()


def entry(name: str, found: Any) -> SimpleNamespace:
    """An entry point that loads to `found`, or raises it."""

    def load() -> Any:
        if isinstance(found, Exception):
            raise found
        return found

    return SimpleNamespace(name=name, value=f"outside.{name}:GAME", load=load)


def test_every_spelling_of_an_id() -> None:
    for written in (OURS.id, f"{OURS.id}-v{OURS.version}", OURS.name, OURS.env_id, f"tabletop/{OURS.id}"):
        assert registry.spec(written) is OURS


@pytest.mark.parametrize("written", ["", "Ur bino", 7, None, "tabletop/", "v0", "urbino-v"])
def test_no_id(written: Any) -> None:
    with pytest.raises(UnknownGameError, match="there are"):
        registry.spec(written)


def test_unknown_ids_get_a_hint() -> None:
    for mangled in (OURS.id[:-1], OURS.id + "x", f"{OURS.id[1:]}-v0"):
        with pytest.raises(UnknownGameError, match=f"did you mean '{OURS.id}'"):
            registry.spec(mangled)
    with pytest.raises(UnknownGameError) as caught:
        registry.spec("qqqqqqq")
    assert "did you mean" not in str(caught.value)


def test_other_versions() -> None:
    with pytest.raises(UnknownGameError, match=f"has version {OURS.version}, not 99: use '{OURS.env_id}'"):
        registry.spec(f"{OURS.id}-v99")


def test_games_are_loaded_once() -> None:
    assert registry.load(OURS.id) is registry.load(OURS.env_id)


def test_list_games() -> None:
    assert tabletop_envs.list_games() == list(registry.games())
    assert all(isinstance(spec, GameSpec) and name == spec.id for name, spec in registry.games().items())


def test_outside_games_are_found(entry_points: Callable[[list[Any]], None]) -> None:
    entry_points([entry("two_moves", GAME)])
    assert list(registry.games())[-1] == "two_moves"
    assert registry.spec("two_moves-v0") is GAME


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (ImportError("no such module"), "cannot be imported: ImportError"),
        (ValueError("a fault inside"), "cannot be imported: ValueError"),
        ("a text", "it is no GameSpec"),
        (dataclasses.replace(GAME, id=OURS.id), "is taken"),
    ],
    ids=["missing", "faulty", "no-spec", "taken"],
)
def test_a_broken_outside_game_is_left_out(entry_points: Callable[[list[Any]], None], found: Any, words: str) -> None:
    entry_points([entry("broken", found), entry("two_moves", GAME)])
    with pytest.warns(UserWarning, match=words):
        games = registry.games()
    assert games[OURS.id] is OURS
    assert games["two_moves"] is GAME
    assert "broken" not in games


def test_games_can_be_added_to_one_process(two_moves: Game) -> None:
    registry.add(two_moves.spec)  # again: nothing happens
    assert registry.load("two_moves").spec == two_moves.spec
    with pytest.raises(GameDefinitionError, match="'two_moves' is taken"):
        registry.add(dataclasses.replace(two_moves.spec, version=5))
    assert registry.spec("two_moves").version == 0


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo has a registry from 1.27 on")
def test_pettingzoo_knows_every_game(two_moves: Game) -> None:
    for spec in registry.games().values():
        for kind in ("aec", "parallel"):
            env = pettingzoo.make(kind, spec.env_id)
            assert str(env.unwrapped) == spec.name


def test_the_import_loads_no_compiled_code_and_no_learner(python: Callable[..., CompletedProcess[str]]) -> None:
    code = (
        "import sys, tabletop_envs; tabletop_envs.list_games()\n"
        "heavy = 'numba', 'llvmlite', 'torch', 'stable_baselines3', 'matplotlib', 'rich', 'tensorboard'\n"
        "print([module for module in heavy if module in sys.modules])"
    )
    run = python(code)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]"


def test_an_id_given_up_and_taken_again_names_the_new_game(toy: Game) -> None:
    first = registry.load("toy")
    assert registry.load("toy") is first
    registry.games()["toy"] = dataclasses.replace(toy.spec, score_scale=toy.spec.score_scale + 1)
    assert registry.load("toy") is not first
    assert registry.load("toy").spec == registry.games()["toy"]
