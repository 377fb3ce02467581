"""Urbino's board and pieces as printed, and what follows from them; all arrays are read-only.

Knows geometry and numbers only: no state, no actions, no rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

Table = TypeVar("Table", bound=NDArray[np.generic])


def _read_only(table: Table) -> Table:
    table.flags.writeable = False
    return table


# --- Printed: board, players, pieces ------------------------------------------------------------------------

# R1.1: a cell is row * COLS + col, row 0 on top, col 0 on the left.
ROWS: Final = 9
COLS: Final = 9
CELLS: Final = ROWS * COLS
NOWHERE: Final = CELLS  # "no cell": the empty last row of BIT, NEIGHBOURS and RAYS

# R1.2: the seats.
PLAYERS: Final = 2
BROWN: Final = 0
WHITE: Final = 1

# R1.3: the kinds of building.
HOUSE: Final = 0
PALACE: Final = 1
TOWER: Final = 2
KINDS: Final = 3

# [kind] -> points of one building (R1.3).
VALUE: Final[NDArray[np.int64]] = _read_only(np.array([1, 2, 3], np.int64))
# [kind] -> buildings of each player at the start (R1.3).
SUPPLY: Final[NDArray[np.int64]] = _read_only(np.array([18, 6, 3], np.int64))
# Value of all buildings of a player (R1.3), the scale of scores in the observation (R12.1).
TOTAL_VALUE: Final = int((VALUE * SUPPLY).sum())

# [colour][kind] -> the letter in board pictures. For notation only.
PIECE_LETTERS: Final[tuple[str, ...]] = ("hpt", "HPT")

# R11.2: monuments by rising rank; [monument] -> kinds of its three buildings in line.
MONUMENT_NAMES: Final[tuple[str, ...]] = ("town wall", "ducal palace", "cathedral")
_MONUMENT_KINDS = np.array([[HOUSE, HOUSE, HOUSE], [PALACE, HOUSE, PALACE], [TOWER, PALACE, TOWER]], np.int64)

# (row step, column step): the four directions in which the cell index grows (E, SW, S, SE), then their
# opposites (W, NE, N, NW), so that the opposite of d is (d + GROWING) % 8. The nearest piece on a ray is the
# lowest bit in a growing direction and the highest bit in a falling one.
GROWING: Final = 4
_GROWING_STEPS = ((0, 1), (1, -1), (1, 0), (1, 1))
DIRECTIONS: Final[tuple[tuple[int, int], ...]] = (
    *_GROWING_STEPS,
    *((-row_step, -col_step) for row_step, col_step in _GROWING_STEPS),
)

# A set of cells is two int64 words, each short of the sign bit: word 0 holds the cells below LOW_CELLS (rows
# 0 to 4), word 1 the others (rows 5 to 8) as bit cell - LOW_CELLS.
WORDS: Final = 2
LOW_CELLS: Final = 5 * COLS


# --- Derived ------------------------------------------------------------------------------------------------


def _walk(cell: int, step: tuple[int, int]) -> Iterator[int]:
    """The cells met from `cell` to the edge of the board, nearest first, without `cell`."""
    row, col = cell // COLS + step[0], cell % COLS + step[1]
    while 0 <= row < ROWS and 0 <= col < COLS:
        yield row * COLS + col
        row, col = row + step[0], col + step[1]


def _bit_set(cells: Iterable[int]) -> NDArray[np.int64]:
    words: NDArray[np.int64] = np.bitwise_or.reduce(BIT[[NOWHERE, *cells]], axis=0)
    return words


def _bits() -> NDArray[np.int64]:
    table = np.zeros((CELLS + 1, WORDS), np.int64)
    for cell in range(CELLS):
        table[cell, cell // LOW_CELLS] = 1 << cell % LOW_CELLS
    return table


def _neighbour_cells() -> NDArray[np.int8]:
    table = np.full((CELLS, 4), -1, np.int8)
    for cell in range(CELLS):
        for side, step in enumerate(((-1, 0), (0, -1), (0, 1), (1, 0))):
            table[cell, side] = next(_walk(cell, step), -1)
    return table


def _neighbours() -> NDArray[np.int64]:
    table = np.zeros((CELLS + 1, WORDS), np.int64)
    for cell in range(CELLS):
        table[cell] = _bit_set(int(near) for near in NEIGHBOUR_CELLS[cell] if near >= 0)
    return table


def _rays() -> NDArray[np.int64]:
    table = np.zeros((len(DIRECTIONS), CELLS + 1, WORDS), np.int64)
    for direction, step in enumerate(DIRECTIONS):
        for cell in range(CELLS):
            table[direction, cell] = _bit_set(_walk(cell, step))
    return table


def _entered() -> NDArray[np.int64]:
    table = np.zeros((len(DIRECTIONS), WORDS), np.int64)
    for direction, (row_step, col_step) in enumerate(DIRECTIONS):
        back = (-row_step, -col_step)
        table[direction] = _bit_set(cell for cell in range(CELLS) if next(_walk(cell, back), -1) >= 0)
    return table


def _lines() -> NDArray[np.int8]:
    length = _MONUMENT_KINDS.shape[1]
    grid = np.arange(CELLS, dtype=np.int8).reshape(ROWS, COLS)
    horizontal = [grid[row, col : col + length] for row in range(ROWS) for col in range(COLS - length + 1)]
    vertical = [grid[row : row + length, col] for row in range(ROWS - length + 1) for col in range(COLS)]
    return np.array(horizontal + vertical)


# int64[3, 4], [monument] -> first, middle and last kind of the line, bonus: a monument counts double, so the
# bonus is the plain value of the line (R11.2).
MONUMENTS: Final[NDArray[np.int64]] = _read_only(np.column_stack([_MONUMENT_KINDS, VALUE[_MONUMENT_KINDS].sum(axis=1)]))

# int64[82, 2], [cell] -> the set of this cell alone; empty for NOWHERE.
BIT: Final[NDArray[np.int64]] = _read_only(_bits())

# int8[81, 4], [cell] -> the adjacent cells N, W, E, S (R2.2), -1 beyond the edge.
NEIGHBOUR_CELLS: Final[NDArray[np.int8]] = _read_only(_neighbour_cells())

# int64[82, 2], [cell] -> the set of its adjacent cells (R2.2); empty for NOWHERE.
NEIGHBOURS: Final[NDArray[np.int64]] = _read_only(_neighbours())

# int64[8, 82, 2], [direction, cell] -> the set of cells from it to the edge, itself excluded (R5.1); empty
# for NOWHERE.
RAYS: Final[NDArray[np.int64]] = _read_only(_rays())

# int64[8], [direction] -> how far the cell index moves in a step, as a positive number.
STRIDE: Final[NDArray[np.int64]] = _read_only(np.array([abs(row * COLS + col) for row, col in DIRECTIONS], np.int64))

# int64[8, 2], [direction] -> the set of cells that a step in the direction can end on: those of the opposite edge
# cannot, and an index that runs over the end of a row would come out there.
ENTERED: Final[NDArray[np.int64]] = _read_only(_entered())

# int8[126, 3], [line] -> three consecutive cells, first those of the rows, then those of the columns (R11.2).
LINES: Final[NDArray[np.int8]] = _read_only(_lines())


def _lines_through() -> NDArray[np.int16]:
    table = np.full((CELLS, 6), -1, np.int16)
    for cell in range(CELLS):
        lines = np.flatnonzero(np.isin(LINES, cell).any(axis=1))
        table[cell, : len(lines)] = lines
    return table


# int16[81, 6], [cell] -> the lines that hold it, -1 behind the last.
LINES_THROUGH: Final[NDArray[np.int16]] = _read_only(_lines_through())
