"""Two moves as a picture: two seats, and whom they named."""

from __future__ import annotations

from typing import Any, Final

from tabletop_envs.render.scene import Cell, Circle, Scene, Shape, Text
from two_moves.tables import SEATS

SEAT: Final = 100.0  # the width of a seat
PAPER: Final = "#f4f1ea"
COLOURS: Final = ("#456990", "#b5652b")
INK: Final = "#26221c"


def scene(s: Any, viewer: int) -> Scene:
    """A disc for each seat, of the colour of the one that it named; all is public."""
    shapes: list[Shape] = []
    words = []
    for seat in range(SEATS):
        named = int(s.named[seat])
        fill = COLOURS[named] if named >= 0 else None
        words.append(f"seat {seat} named {'nobody' if named < 0 else f'seat {named}'}")
        shapes.append(Circle(SEAT * (seat + 0.5), 50, 30, fill=fill, stroke=COLOURS[seat], width=6, title=words[-1]))
        shapes.append(Text(SEAT * (seat + 0.5), 50, "-" if named < 0 else str(named), 30, "middle", fill=INK))
    row = tuple(Cell("-" if named < 0 else str(named), COLOURS[seat]) for seat, named in enumerate(s.named.tolist()))
    title = "Two moves, over" if s.over > 0 else f"Two moves: seat {int(s.seat)} is to name a seat"
    return Scene(SEAT * SEATS, 100, PAPER, tuple(shapes), title, (row,), tuple(words))
