"""The 408 actions of Urbino (R10.2) as named blocks, and the offsets that the compiled rules use."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.layout import ActionLayout, Block
from tabletop_envs.games.urbino.tables import COLS, KINDS, PLAYERS, ROWS

_BOARD: Final = (ROWS, COLS)

ACTIONS: Final = ActionLayout(
    Block("architect", (2, *_BOARD), "architect to cell: placement in the setup, later relocation", "R4.3", _BOARD),
    Block("stay", (), "leave both architects where they are", "R4.1"),
    Block("build", (KINDS, *_BOARD), "house, palace or tower at cell", "R8.1", _BOARD),
    Block("first", (PLAYERS,), "Brown or White builds first", "R3.3"),
)

ARCHITECT: Final = ACTIONS.start("architect")  # + 81 * architect + cell
STAY: Final = ACTIONS.start("stay")
BUILD: Final = ACTIONS.start("build")  # + 81 * kind + cell
FIRST: Final = ACTIONS.start("first")  # + colour
NUM_ACTIONS: Final = ACTIONS.full_size
