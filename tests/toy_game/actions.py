"""The 9 actions of Toy."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.layout import ActionLayout, Block
from toy_game.tables import KINDS, VALUE

ACTIONS: Final = ActionLayout(
    Block("play", (KINDS,), "play a one, two, three, four face down", "R2.1", secret=True),
    Block("pass", (), "play no card", "R2.1", secret=True),
    Block("take", (int(VALUE.max()),), "take 1, 2, 3, 4 stones", "R2.3"),
    Block("leave", (), "take no stone", "R4.3", option="leave"),
)

PLAY: Final = ACTIONS.start("play")  # + kind
PASS: Final = ACTIONS.start("pass")
TAKE: Final = ACTIONS.start("take")  # + stones - 1
LEAVE: Final = ACTIONS.start("leave")
