"""Options and settings: every kind encodes, decodes and refuses; errors say what to give instead."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from toy_game import GAME

from tabletop_envs.core.spec import Choice, Counts, Flag, GameSpec, Integer, Option, Subset
from tabletop_envs.errors import OptionError
from tabletop_envs.testing.subject import full_grid, quick_grid

FLAG = Flag("on", "R1", "a switch")
NUMBER = Integer("number", "R2", "how many", 5, 2, 9)
CHOICE = Choice("colour", "R3", "which", ("red", "green", "blue"))
SUBSET = Subset("parts", "R4", "what is in", ("a", "b", "c"))
COUNTS = Counts("cards", "R5", "how many of each", ("x", "y"), (2, 3), 4, 8)

# option, value, what the record holds, value as read back
GOOD: list[tuple[Option, Any, Any, Any]] = [
    (FLAG, True, 1, True),
    (FLAG, 0, 0, False),
    (FLAG, np.bool_(True), 1, True),
    (NUMBER, 2, 2, 2),
    (NUMBER, np.int64(9), 9, 9),
    (CHOICE, "red", 0, "red"),
    (CHOICE, "blue", 2, "blue"),
    (SUBSET, (), 0, ()),
    (SUBSET, ("c", "a"), 5, ("a", "c")),
    (SUBSET, {"b"}, 2, ("b",)),
    (SUBSET, "a,b", 3, ("a", "b")),
    (SUBSET, "", 0, ()),
    (COUNTS, {"x": 4}, [4, 0], {"x": 4, "y": 0}),
    (COUNTS, [1, 7], [1, 7], {"x": 1, "y": 7}),
    (COUNTS, (np.int64(1), np.int8(7)), [1, 7], {"x": 1, "y": 7}),
    (COUNTS, np.array([1, 7]), [1, 7], {"x": 1, "y": 7}),
    (COUNTS, {"x": np.int64(4)}, [4, 0], {"x": 4, "y": 0}),
]
BAD: list[tuple[Option, Any]] = [
    (FLAG, 2),
    (FLAG, "yes"),
    (FLAG, None),
    (NUMBER, 1),
    (NUMBER, 10),
    (NUMBER, 5.0),
    (NUMBER, True),
    (NUMBER, "5"),
    (CHOICE, "pink"),
    (CHOICE, 0),
    (SUBSET, ("d",)),
    (SUBSET, "a,d"),
    (SUBSET, 3),
    (SUBSET, [["a"]]),
    (COUNTS, {"z": 4}),
    (COUNTS, [1, 2]),
    (COUNTS, [5, 4]),
    (COUNTS, [9, -1]),
    (COUNTS, [5]),
    (COUNTS, 5),
    (COUNTS, ["many", 1]),
    (COUNTS, [2.0, 3.0]),
    (COUNTS, [2.9, 3.2]),
    (COUNTS, np.array([2.0, 3.0])),
    (COUNTS, [float("inf"), 1]),
    (COUNTS, [float("nan"), 4]),
    (COUNTS, {"x": 4.5}),
    (COUNTS, {"x": True, "y": 3}),
    (COUNTS, [True, 3]),
    (COUNTS, ["2", "3"]),
    (COUNTS, "23"),
    (COUNTS, "2,3"),
    (COUNTS, b"\x02\x03"),
    (COUNTS, {2, 3}),
    (COUNTS, [[2, 3]]),
    (COUNTS, np.array([[2], [3]])),
    (COUNTS, None),
]


@pytest.mark.parametrize(("option", "value", "stored", "back"), GOOD)
def test_values(option: Option, value: Any, stored: Any, back: Any) -> None:
    encoded = option.encode(value)
    assert np.array_equal(encoded, stored)
    column = np.zeros(1, dtype=[("value", option.dtype, option.shape)])
    column["value"][0] = encoded
    decoded = option.decode(column["value"][0])
    assert decoded == back
    assert np.array_equal(option.encode(decoded), stored)


@pytest.mark.parametrize(("option", "value"), BAD)
def test_refused_values(option: Option, value: Any) -> None:
    with pytest.raises(OptionError) as caught:
        option.encode(value)
    assert option.name in str(caught.value)
    assert option.values in str(caught.value)
    assert option.clause in str(caught.value)


@pytest.mark.parametrize("option", [FLAG, NUMBER, CHOICE, SUBSET, COUNTS])
def test_defaults_are_values(option: Option) -> None:
    assert option.decode(option.encode(option.default)) == option.default


def test_settings_fill_in_defaults() -> None:
    settings = GAME.settings()
    assert settings.num_players == 2
    assert settings.values == {
        "memory": False,
        "leave": False,
        "heap": 12,
        "tie": "nobody",
        "extras": (),
        "cards": {"one": 5, "two": 4, "three": 3},
        "auto_forced": True,
        "max_decisions": 40,
    }
    assert settings.changed() == {}
    assert GAME.settings(4).values["max_decisions"] == 80


def test_settings_in_the_record() -> None:
    settings = GAME.settings(3, memory=True, tie="first", extras=["refill"], auto_forced=False, heap=7)
    encoded = settings.encoded()
    assert encoded.pop("cards").tolist() == [5, 4, 3]
    assert encoded == {
        "num_players": 3, "memory": 1, "leave": 0, "heap": 7, "tie": 1, "extras": 2,
        "auto_forced": 0, "max_decisions": 60,
    }  # fmt: skip
    changed = {"memory": True, "tie": "first", "extras": ("refill",), "auto_forced": False, "heap": 7}
    assert settings.changed() == changed


def test_equal_settings() -> None:
    one, other = GAME.settings(2, extras=("refill", "joker")), GAME.settings(2, extras="joker,refill")
    assert one == other
    assert hash(one) == hash(other)
    assert len({one, other, GAME.settings(3), GAME.settings(2, heap=9)}) == 3


@pytest.mark.parametrize("players", [1, 5, 0, -2, 2.0, "2", True])
def test_wrong_number_of_players(players: Any) -> None:
    with pytest.raises(OptionError, match=r"takes 2 to 4 players, not .*: set num_players=2 to 4"):
        GAME.settings(players)


def test_numpy_number_of_players() -> None:
    assert GAME.settings(np.int64(3)).num_players == 3


def test_unknown_option() -> None:
    with pytest.raises(OptionError, match=r"no option 'memori': it has .*; did you mean 'memory'"):
        GAME.settings(memori=True)
    with pytest.raises(OptionError) as caught:
        GAME.settings(qqq=1)
    assert "did you mean" not in str(caught.value)


def test_an_option_for_some_numbers_of_players() -> None:
    spec = replace(GAME, options=(FLAG, Flag("duel", "R6", "for two", players=(2,))))
    assert spec.settings(2, duel=True).values["duel"] is True
    assert spec.settings(3, duel=False) == spec.settings(3)
    with pytest.raises(OptionError, match=r"option duel=True is for 2 players, not 3: set num_players=2.*\(R6\)"):
        spec.settings(3, duel=True)
    for grid in (full_grid(spec), quick_grid(spec)):
        duels = [settings.num_players for settings in grid if settings.values["duel"]]
        assert set(duels) == {2}
        assert {settings.num_players for settings in grid if settings.values["on"]} >= {4}


def test_the_cap_is_an_option_up_to_its_declared_value() -> None:
    assert GAME.settings(2, max_decisions=1).values["max_decisions"] == 1
    with pytest.raises(OptionError, match="from 1 to 40"):
        GAME.settings(2, max_decisions=41)


def test_names() -> None:
    spec = GameSpec("two_words", 3, "T", "s", "p", 2, 2, {2: 5}, 1)
    assert spec.name == "two_words_v3"
    assert spec.env_id == "tabletop/two_words-v3"
    with pytest.raises(OptionError, match="takes 2 players, not 3: set num_players=2"):
        spec.settings(3)
