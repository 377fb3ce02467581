"""The 21 actions of Umbra Via as named blocks, and the offsets that the compiled rules use."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.layout import ActionLayout, Block
from tabletop_envs.games.umbra_via.tables import COLS, ROWS, SLOTS

_BOARD: Final = (ROWS, COLS)

ACTIONS: Final = ActionLayout(
    Block("bid", (SLOTS,), "bid the asked flower on slot I, II, III, IV", "R4.4", secret=True, entities=True),
    Block("cell", _BOARD, "where the tile, the flowers of the void tile or of the four-point tile go", "R6.1", _BOARD),
    Block("decline", (), "leave the flowers on the four-point tile", "R10.2"),
)

BID: Final = ACTIONS.start("bid")  # + slot
CELL: Final = ACTIONS.start("cell")  # + cell
DECLINE: Final = ACTIONS.start("decline")
NUM_ACTIONS: Final = ACTIONS.full_size
