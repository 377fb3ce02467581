"""Umbra Via's board, tiles and flowers as printed, and what follows from them; all arrays are read-only.

Knows geometry and numbers only: no state, no actions, no rules.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

Table = TypeVar("Table", bound=NDArray[Any])


def _read_only(table: Table) -> Table:
    table.flags.writeable = False
    return table


# --- Printed: board, altar, flowers ------------------------------------------------------------------------------

SEATS: Final = 4  # at most

# R1.1: a cell is COLS * row + col, row 0 at the north, col 0 at the west. A set of cells is an int, bit = cell.
ROWS: Final = 4
COLS: Final = 4
CELLS: Final = ROWS * COLS
ALL_CELLS: Final = (1 << CELLS) - 1
CENTRE: Final = 0x0660  # the four central cells
EAST_COLUMN: Final = 0x8888
WEST_COLUMN: Final = 0x1111

SLOTS: Final = 4  # R1.1: spaces of the altar, from left to right
SLOT_NAMES: Final = ("I", "II", "III", "IV")

# R1.4: the four sides of a tile; a set of openings has bit 1 << side.
NORTH: Final = 0
EAST: Final = 1
SOUTH: Final = 2
WEST: Final = 3
SIDES: Final = 4
SIDE_LETTERS: Final = "NESW"

# Flowers: columns of every table of flowers.
SOUL: Final = 0
ENERGY: Final = 1
FLOWERS: Final = 2
# [flower] -> what it counts in a bid (R5.3).
BID_VALUE: Final[NDArray[np.int64]] = _read_only(np.array([2, 1], np.int64))

ENERGY_IN_ALL: Final = 33  # R1.2, of a player
TIE_MARKERS: Final = 1  # R2.3: one energy flower of each player
ENERGY_IN_BAG: Final = ENERGY_IN_ALL - TIE_MARKERS
SOULS_IN_ALL: Final = 17
SOULS_ON_TILE: Final = 11  # R2.5
SOULS_IN_BAG: Final = SOULS_IN_ALL - SOULS_ON_TILE  # R2.3
HAND: Final = 3  # R4.2: flowers drawn for a bid
BIDS: Final = 2  # R4.1
SOUL_TILE_WORTH: Final = 2  # R9.2: the claims that the soul tile counts for
TARGET: Final = SOULS_ON_TILE + SOUL_TILE_WORTH  # R9.2: claims that win
MAX_ROUNDS: Final = 150  # R9.5

# --- Printed: tiles (R1.3) ---------------------------------------------------------------------------------------

STRAIGHT: Final = 0
BEND: Final = 1
TEE: Final = 2
FOUR_POINT: Final = 3
VOID: Final = 4
BLOCK: Final = 5
KINDS: Final = 6
KIND_NAMES: Final = ("straight", "bend", "tee", "four_point", "void", "block")
REGULAR_KINDS: Final = 3
REGULAR_TILES: Final = (6, 6, 5)  # R1.3, of the regular kinds
SPECIAL_KINDS: Final = KINDS - REGULAR_KINDS
MAX_REGULAR: Final = 60  # the most regular tiles that a mix may have
MAX_TILES: Final = MAX_REGULAR + SPECIAL_KINDS

# A tile that lies face up is a number: 0 none, 1 to 15 the openings of a regular tile, above them the special tiles.
NO_TILE: Final = 0
FOUR_POINT_TILE: Final = 16
VOID_TILE: Final = 17
BLOCK_TILE: Final = 18
TILE_CODES: Final = 19

# [regular kind] -> its openings before it is turned.
_BASE: Final = ((NORTH, SOUTH), (NORTH, EAST), (EAST, SOUTH, WEST))


def _turned() -> NDArray[np.int8]:
    table = np.empty((KINDS, SIDES), np.int8)
    for kind, sides in enumerate(_BASE):
        for quarter in range(SIDES):
            table[kind, quarter] = sum(1 << (side + quarter) % SIDES for side in sides)
    for kind in range(REGULAR_KINDS, KINDS):
        table[kind] = FOUR_POINT_TILE + kind - FOUR_POINT
    return table


# int8[6, 4], [kind, clockwise quarter turns] -> the tile face up (R1.4, R3.3).
TURNED: Final[NDArray[np.int8]] = _read_only(_turned())


def _kind_of() -> NDArray[np.int8]:
    table = np.full(TILE_CODES, -1, np.int8)
    for kind in range(KINDS):
        table[TURNED[kind]] = kind
    return table


# int8[19], [tile face up] -> its kind; -1 for numbers that are no tile.
KIND_OF: Final[NDArray[np.int8]] = _read_only(_kind_of())


# --- Derived -----------------------------------------------------------------------------------------------------


def _neighbours() -> NDArray[np.int8]:
    table = np.full((CELLS, SIDES), -1, np.int8)
    for cell in range(CELLS):
        row, col = divmod(cell, COLS)
        for side, (row_step, col_step) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
            if 0 <= row + row_step < ROWS and 0 <= col + col_step < COLS:
                table[cell, side] = cell + row_step * COLS + col_step
    return table


# int8[16, 4], [cell, side] -> the cell that shares this edge, -1 beyond the edge of the board.
NEIGHBOUR: Final[NDArray[np.int8]] = _read_only(_neighbours())
