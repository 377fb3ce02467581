"""Layouts: offsets, encoding and decoding, doc tables, option blocks, errors."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from tabletop_envs.core.layout import ActionLayout, Block, Layout, ObservationLayout
from tabletop_envs.errors import GameDefinitionError, IllegalActionError

ACTIONS = ActionLayout(
    Block("move", (2, 3, 4), "piece to row, column", "R1.2", (3, 4)),
    Block("pass", (), "do nothing"),
    Block("buy", (5,), "thing", "R3"),
    Block("sell", (3,), "thing", "R9", option="tiles"),
)
SEEN = ObservationLayout(
    Block("board", (2, 2, 3), "own, other", "R1", (2, 3)),
    Block("money", (), "coins"),
    Block("extra", (4,), "tiles", "R9", option="tiles"),
    Block("more", (), "weather", option="weather"),
)


def test_blocks_stand_one_after_another() -> None:
    assert [ACTIONS.start(name) for name in ("move", "pass", "buy", "sell")] == [0, 24, 25, 30]
    assert ACTIONS.full_size == 33
    assert ACTIONS.sizes() == {30, 33}
    for tiles, size in ((False, 30), (True, 33)):
        assert ACTIONS.size({"tiles": tiles}) == size
        assert ACTIONS.space({"tiles": tiles}) == gymnasium.spaces.Discrete(size)
    assert ACTIONS.space({"tiles": True}) is not ACTIONS.space({"tiles": True})
    assert ACTIONS.block("buy").shape == (5,)
    assert ACTIONS.block("move").planes == 2
    assert ACTIONS.block("buy").planes == 0


def test_actions_are_decoded_and_encoded() -> None:
    assert ACTIONS.decode(0) == ("move", (0, 0, 0))
    assert ACTIONS.decode(23) == ("move", (1, 2, 3))
    assert ACTIONS.decode(24) == ("pass", ())
    assert ACTIONS.decode(29) == ("buy", (4,))
    assert ACTIONS.decode(32) == ("sell", (2,))
    for action in range(ACTIONS.full_size):
        name, index = ACTIONS.decode(action)
        assert ACTIONS.encode(name, *index) == action


@pytest.mark.parametrize("action", [-1, 33, 1.0, "1", None, True, np.int64(33), np.bool_(True)])
def test_no_action(action: object) -> None:
    with pytest.raises(IllegalActionError, match="from 0 to 32"):
        ACTIONS.check(action)
    with pytest.raises(IllegalActionError):
        ACTIONS.decode(action)  # type: ignore[arg-type]


def test_numpy_integers_are_actions() -> None:
    assert ACTIONS.check(np.int8(29)) == 29
    assert ACTIONS.check(29, 30) == 29
    with pytest.raises(IllegalActionError, match="action 30 is not a whole number from 0 to 29"):
        ACTIONS.check(30, 30)
    assert type(ACTIONS.check(np.uint8(3))) is int


def test_index_outside_a_block() -> None:
    with pytest.raises(ValueError, match="invalid entry"):
        ACTIONS.encode("buy", 5)


def test_options_append_blocks() -> None:
    for tiles, weather, size in ((False, False, 13), (True, False, 17), (False, True, 14), (True, True, 18)):
        options = {"tiles": tiles, "weather": weather}
        assert SEEN.size(options) == size
        assert SEEN.space(options) == gymnasium.spaces.Box(0.0, 1.0, (size,), np.float32)
    assert [block.name for block in SEEN.present({"tiles": False, "weather": True})] == ["board", "money", "more"]
    assert SEEN.full_size == 18


def test_observations_are_decoded_to_views() -> None:
    vector = np.arange(14, dtype=np.float32)
    parts = SEEN.decode(vector, {"tiles": False, "weather": True})
    assert list(parts) == ["board", "money", "more"]
    assert parts["board"].shape == (2, 2, 3)
    assert parts["board"][1, 1, 2] == 11
    assert parts["money"].shape == ()
    assert parts["more"] == 13
    assert np.shares_memory(parts["board"], vector)


def test_tables() -> None:
    assert ACTIONS.rows()[0] == ("0..23", 24, "move", "piece to row, column (R1.2)")
    assert ACTIONS.markdown().splitlines() == [
        "| indices | size | block | meaning |",
        "| --- | --- | --- | --- |",
        "| 0..23 | 24 | `move` | piece to row, column (R1.2) |",
        "| 24 | 1 | `pass` | do nothing |",
        "| 25..29 | 5 | `buy` | thing (R3) |",
        "| at the end | 3 | `sell` | thing (R9); only with option `tiles` |",
    ]
    assert SEEN.markdown().splitlines()[-2] == "| at the end | 4 | `extra` | tiles (R9); only with option `tiles` |"


def test_digests_tell_of_meanings_alone() -> None:
    same = Layout(Block("a", (2,), "one thing"), Block("b", (), "x"))
    assert same.digest() == Layout(Block("a", (2,), "told otherwise", "R5"), Block("b", (), "x")).digest()
    others = [
        Layout(Block("b", (), "x"), Block("a", (2,), "one thing")),
        Layout(Block("a", (3,), "one thing"), Block("b", (), "x")),
        Layout(Block("a", (2,), "one thing"), Block("c", (), "x")),
        Layout(Block("a", (2,), "one thing"), Block("b", (), "x", option="o")),
    ]
    assert len({layout.digest() for layout in (same, *others)}) == 5
    assert len(same.digest()) == 16


def test_faulty_layouts() -> None:
    with pytest.raises(GameDefinitionError, match="two blocks are called 'a'"):
        Layout(Block("a", (), ""), Block("a", (2,), ""))
    with pytest.raises(GameDefinitionError, match="no stack of boards"):
        Layout(Block("a", (5,), "", board=(2, 2)))
    north, east, south, west = (0,), (1,), (), (1, 0)
    Layout(Block("a", (2, 2, 2), "", board=(2, 2), links=(north, east, south, west)))
    for links in ((north, east, south), (north, east, south, (2,)), (north, east, south, (-1,))):
        with pytest.raises(GameDefinitionError, match="the links of block 'a' are not some of its planes"):
            Layout(Block("a", (2, 2, 2), "", board=(2, 2), links=links))
    with pytest.raises(GameDefinitionError, match="the links of block 'a'"):
        Layout(Block("a", (2, 2, 2), "", links=(north, east, south, west)))
    Layout(Block("a", (3, 2), "", entities=True), Block("b", (2,), ""), Block("c", (3,), "", entities=True))
    for other in (Block("b", (2,), "", entities=True), Block("b", (), "", entities=True)):
        with pytest.raises(GameDefinitionError, match="the entities of 'a' and 'b' are not"):
            Layout(Block("a", (3, 2), "", entities=True), other)
    with pytest.raises(GameDefinitionError, match="the entities of 'a' are not"):
        Layout(Block("a", (2, 2, 2), "", board=(2, 2), entities=True))
    with pytest.raises(GameDefinitionError, match="stand last"):
        Layout(Block("a", (), "", option="o"), Block("b", (), ""))
