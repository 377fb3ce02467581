"""The 2 actions of Two moves."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.layout import ActionLayout, Block
from two_moves.tables import SEATS

ACTIONS: Final = ActionLayout(Block("name", (SEATS,), "name seat 0, seat 1", "R1, R2"))
