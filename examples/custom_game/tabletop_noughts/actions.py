"""The 9 actions as named blocks: sizes, offsets, spaces and doc tables follow from this."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.layout import ActionLayout, Block
from tabletop_noughts.tables import SIDE

_BOARD: Final = (SIDE, SIDE)

# the last argument says that these indices are cells of a board, for networks that look at boards as images
ACTIONS: Final = ActionLayout(Block("mark", _BOARD, "mark a cell", "R2", _BOARD))
