"""Urbino's tables against data.json, a second witness, and against plain arithmetic on rows and columns."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabletop_envs.games.urbino import tables

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "data.json").read_text(encoding="utf-8"))

# In the order that the tables promise: growing cell indices first, then the opposites.
DIRECTION_NAMES = ("E", "SW", "S", "SE", "W", "NE", "N", "NW")
CELLS = range(DATA["board"]["cells"])
PUBLIC = {name: value for name, value in vars(tables).items() if not name.startswith("_")}
ARRAYS = sorted(name for name, value in PUBLIC.items() if isinstance(value, np.ndarray))


def members(words: np.ndarray) -> list[int]:
    """The cells of a bit set, ascending, by the stated encoding: word 0 is 0..44, word 1 is 45..80."""
    low, high = (int(word) for word in words)
    assert 0 <= low < 1 << 45
    assert 0 <= high < 1 << 36
    return [cell for cell in range(81) if (low >> cell if cell < 45 else high >> cell - 45) & 1]


def at(cell: int) -> tuple[int, int]:
    return divmod(cell, 9)


def seen(start: int, occupied: set[int]) -> set[int]:
    """R5.2 by coordinates alone: the unoccupied cells before the first occupied one, in the 8 directions."""
    found = set()
    for row_step, col_step in product((-1, 0, 1), repeat=2):
        row, col = at(start)
        while row_step or col_step:
            row, col = row + row_step, col + col_step
            if not (0 <= row <= 8 and 0 <= col <= 8) or row * 9 + col in occupied:
                break
            found.add(row * 9 + col)
    return found


def seen_by_rays(start: int, occupied: set[int]) -> set[int]:
    """R5.2 by the ray table, whose sets are in ascending order: nearest first in growing directions only."""
    found = set()
    for direction in range(8):
        for cell in members(tables.RAYS[direction, start])[:: 1 if direction < tables.GROWING else -1]:
            if cell in occupied:
                break
            found.add(cell)
    return found


# --- Board, players, pieces ---------------------------------------------------------------------------------


def test_board_and_players() -> None:
    board = DATA["board"]
    assert (board["rows"], board["cols"], board["cells"]) == (tables.ROWS, tables.COLS, tables.CELLS)
    assert tables.NOWHERE == tables.CELLS == tables.ROWS * tables.COLS
    assert tables.PLAYERS == DATA["players"]["count"] == len(DATA["players"]["seats"])
    seats = {seat["name"]: seat["index"] for seat in DATA["players"]["seats"]}
    assert seats == {"brown": tables.BROWN, "white": tables.WHITE}


def test_pieces() -> None:
    pieces = DATA["pieces"]
    kinds = {piece["name"]: piece["id"] for piece in pieces}
    assert kinds == {"house": tables.HOUSE, "palace": tables.PALACE, "tower": tables.TOWER}
    assert [piece["id"] for piece in pieces] == list(range(tables.KINDS))
    assert tables.VALUE.tolist() == [piece["value"] for piece in pieces]
    assert tables.SUPPLY.tolist() == [piece["per_player"] for piece in pieces]
    assert tables.SUPPLY.sum() == DATA["buildings_per_player"]
    assert DATA["total_value_per_player"] == tables.TOTAL_VALUE
    assert type(tables.TOTAL_VALUE) is int
    assert list(tables.PIECE_LETTERS[tables.BROWN]) == [piece["letter_brown"] for piece in pieces]
    assert list(tables.PIECE_LETTERS[tables.WHITE]) == [piece["letter_white"] for piece in pieces]


def test_scales_of_the_observation() -> None:
    blocks = {block["name"]: block for block in DATA["observation"]["layout"]}
    assert blocks["own supply"]["scale"] == blocks["opponent supply"]["scale"] == tables.SUPPLY.tolist()
    assert blocks["score if the game ended now, own then opponent"]["scale"] == tables.TOTAL_VALUE


def test_monuments() -> None:
    shapes = DATA["options"]["monuments"]["shapes"]
    kinds = {piece["name"]: piece["id"] for piece in DATA["pieces"]}
    assert tables.MONUMENTS.shape == (3, 4)
    assert tables.MONUMENTS.tolist() == [[*(kinds[kind] for kind in s["line"]), s["bonus"]] for s in shapes]
    assert list(tables.MONUMENT_NAMES) == [shape["name"].replace("_", " ") for shape in shapes]
    assert [shape["rank"] for shape in shapes] == [1, 2, 3]  # the row order is the rank (R11.4)
    for row, shape in zip(tables.MONUMENTS, shapes, strict=True):
        assert tables.VALUE[row[:3]].sum() + row[3] == shape["score"]
        assert row[0] == row[2]  # reads the same both ways (R11.2)


def test_lines() -> None:
    across = [[cell, cell + 1, cell + 2] for cell in CELLS if cell % 9 <= 6]
    down = [[cell, cell + 9, cell + 18] for cell in CELLS if cell // 9 <= 6]
    assert len(across) == len(down) == 63
    assert tables.LINES.dtype == np.int8
    assert tables.LINES.tolist() == across + down


def test_lines_through_a_cell() -> None:
    for cell, lines in enumerate(tables.LINES_THROUGH.tolist()):
        found = [line for line in lines if line >= 0]
        assert found == [line for line, three in enumerate(tables.LINES.tolist()) if cell in three]
        assert lines == found + [-1] * (6 - len(found))


# --- Bit sets, neighbours, rays -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_read_only(name: str) -> None:
    array = PUBLIC[name]
    assert not array.flags.writeable
    assert array.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        array[...] = 0


def test_arrays_are_all_there() -> None:
    shapes = {name: (PUBLIC[name].dtype.name, PUBLIC[name].shape) for name in ARRAYS}
    assert shapes == {
        "BIT": ("int64", (82, 2)),
        "ENTERED": ("int64", (8, 2)),
        "LINES": ("int8", (126, 3)),
        "LINES_THROUGH": ("int16", (81, 6)),
        "MONUMENTS": ("int64", (3, 4)),
        "NEIGHBOURS": ("int64", (82, 2)),
        "NEIGHBOUR_CELLS": ("int8", (81, 4)),
        "RAYS": ("int64", (8, 82, 2)),
        "STRIDE": ("int64", (8,)),
        "SUPPLY": ("int64", (3,)),
        "VALUE": ("int64", (3,)),
    }


def test_bit_sets_round_trip() -> None:
    assert tables.LOW_CELLS == 45
    for cell in CELLS:
        assert members(tables.BIT[cell]) == [cell]
    assert members(np.bitwise_or.reduce(tables.BIT)) == list(CELLS)
    some = [0, 8, 44, 45, 53, 80]
    assert members(np.bitwise_or.reduce(tables.BIT[some])) == some


def test_nowhere_is_empty() -> None:
    assert not tables.BIT[tables.NOWHERE].any()
    assert not tables.NEIGHBOURS[tables.NOWHERE].any()
    assert not tables.RAYS[:, tables.NOWHERE].any()


def test_neighbours() -> None:
    witness = DATA["board"]["orthogonal_neighbours"]
    assert len(witness) == len(CELLS)
    for cell in CELLS:
        assert members(tables.NEIGHBOURS[cell]) == witness[cell]
        assert [near for near in tables.NEIGHBOUR_CELLS[cell] if near >= 0] == witness[cell]
        for near in witness[cell]:
            assert cell in members(tables.NEIGHBOURS[near])
    assert sum(map(len, witness)) == 2 * (2 * 9 * 8)


def test_neighbour_cells_are_in_the_order_north_west_east_south() -> None:
    for cell in CELLS:
        row, col = at(cell)
        assert tables.NEIGHBOUR_CELLS[cell].tolist() == [
            cell - 9 if row > 0 else -1,
            cell - 1 if col > 0 else -1,
            cell + 1 if col < 8 else -1,
            cell + 9 if row < 8 else -1,
        ]


def test_directions() -> None:
    steps = DATA["board"]["sight_rays"]["directions"]
    assert [list(step) for step in tables.DIRECTIONS] == [steps[name] for name in DIRECTION_NAMES]
    growth = [row_step * 9 + col_step for row_step, col_step in tables.DIRECTIONS]
    assert all(change > 0 for change in growth[: tables.GROWING])
    assert [-change for change in growth[: tables.GROWING]] == growth[tables.GROWING :]


@pytest.mark.parametrize("direction", range(8), ids=DIRECTION_NAMES)
def test_rays(direction: int) -> None:
    opposite = (direction + tables.GROWING) % 8
    for cell, rays in enumerate(DATA["board"]["sight_rays"]["rays"]):
        nearest_first = rays[DIRECTION_NAMES[direction]]
        ascending = nearest_first[:: 1 if direction < tables.GROWING else -1]
        assert members(tables.RAYS[direction, cell]) == ascending == sorted(nearest_first)
        for other in ascending:
            assert cell in members(tables.RAYS[opposite, other])


def test_neighbours_are_the_nearest_cells_of_the_straight_rays() -> None:
    for cell in CELLS:
        rays = {name: members(tables.RAYS[d, cell]) for d, name in enumerate(DIRECTION_NAMES)}
        nearest = [rays["N"][-1:], rays["W"][-1:], rays["E"][:1], rays["S"][:1]]
        assert tables.NEIGHBOUR_CELLS[cell].tolist() == [ray[0] if ray else -1 for ray in nearest]


@pytest.mark.parametrize("direction", range(8))
def test_steps(direction: int) -> None:
    """A step moves the index by the stride, forwards or backwards, onto the cells that can be entered."""
    stride = int(tables.STRIDE[direction]) * (1 if direction < tables.GROWING else -1)
    rays = [members(tables.RAYS[direction, cell]) for cell in CELLS]
    nearest = {cell: (min if stride > 0 else max)(ray) for cell, ray in enumerate(rays) if ray}
    assert all(target == cell + stride for cell, target in nearest.items())
    assert members(tables.ENTERED[direction]) == sorted(nearest.values())


# --- Sight: the tables at work ------------------------------------------------------------------------------


@pytest.mark.parametrize("sight", [seen, seen_by_rays])
def test_lots_of_the_first_build(sight: Any) -> None:
    witness = DATA["first_build_lots"]
    lots = [[len(sight(a, {b}) & sight(b, {a})) if a != b else 0 for b in CELLS] for a in CELLS]
    assert lots == witness["table"]
    assert lots == [list(column) for column in zip(*lots, strict=True)]
    counts = [lots[a][b] for a, b in product(CELLS, repeat=2) if a != b]
    assert (sum(counts), min(counts), max(counts)) == (witness["sum"], witness["min"], witness["max"])
    assert max(counts) == DATA["bounds"]["lots_max"]
    assert max(counts) * tables.KINDS == DATA["bounds"]["build_options_max"]
