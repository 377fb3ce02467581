"""What is printed on the box: sizes, and the lines of the board. Knows nothing of a game in play."""

from __future__ import annotations

from typing import Final

import numpy as np

SEATS: Final = 2
SIDE: Final = 3
CELLS: Final = SIDE * SIDE  # cell = SIDE * row + column, from left to right and then from top to bottom
CELL_NAMES: Final = tuple(f"{'abc'[cell % SIDE]}{1 + cell // SIDE}" for cell in range(CELLS))
MARKS: Final = ".xo"  # nobody, seat 0, seat 1

_GRID: Final = np.arange(CELLS).reshape(SIDE, SIDE)
# [line] -> its three cells (R3): rows, columns, diagonals. Compiled code takes arrays as constants: keep them read-only
LINES: Final = np.array([*_GRID, *_GRID.T, _GRID.diagonal(), _GRID[:, ::-1].diagonal()])
LINES.flags.writeable = False
