"""The position as a picture, and in rows and words for a terminal: shapes with places, whatever draws them."""

from __future__ import annotations

from typing import Any, Final

from tabletop_envs.core.header import NOBODY, RUNNING
from tabletop_envs.render.scene import Cell, Circle, Line, Scene, Shape, Text
from tabletop_noughts.notation import event_text
from tabletop_noughts.tables import CELL_NAMES, MARKS, SIDE

EDGE: Final = 40.0  # room for the names of rows and columns
FIELD: Final = 100.0  # the side of a cell
REACH: Final = 28.0  # of a mark, from the middle of its cell
STROKE: Final = 10.0
PAPER: Final = "#f7f4ec"
GRID: Final = "#8a8577"
COLOURS: Final = ("#b5462b", "#2f6690")  # crosses, noughts
NAMES: Final = ("crosses", "noughts")


def _mark(cell: int, seat: int) -> list[Shape]:
    x, y = EDGE + FIELD * (cell % SIDE + 0.5), EDGE + FIELD * (cell // SIDE + 0.5)
    title, colour = f"{NAMES[seat]} {CELL_NAMES[cell]}", COLOURS[seat]
    if seat == 1:
        return [Circle(x, y, REACH, stroke=colour, width=STROKE, title=title)]
    strokes = (((x - REACH, y - REACH), (x + REACH, y + REACH)), ((x - REACH, y + REACH), (x + REACH, y - REACH)))
    return [Line(ends, stroke=colour, width=STROKE, title=title) for ends in strokes]


def scene(s: Any, viewer: int) -> Scene:
    """Marks in their cells; nothing is hidden from anybody."""
    board, size = s.board.tolist(), EDGE + FIELD * SIDE
    shapes: list[Shape] = []
    for number in range(SIDE):
        middle = EDGE + FIELD * (number + 0.5)
        shapes.append(Text(middle, EDGE / 2, "abc"[number], EDGE / 2, "middle", fill=GRID))
        shapes.append(Text(EDGE / 2, middle, str(1 + number), EDGE / 2, "middle", fill=GRID))
        if number > 0:
            line = EDGE + FIELD * number
            shapes.append(Line(((line, EDGE), (line, size)), stroke=GRID, width=3))
            shapes.append(Line(((EDGE, line), (size, line)), stroke=GRID, width=3))
    for cell, owner in enumerate(board):
        if owner > 0:
            shapes += _mark(cell, owner - 1)
    cells = [Cell(f"{MARKS[owner]} ", COLOURS[owner - 1] if owner else None) for owner in board]
    rows = [(Cell("  a b c", GRID),)]
    for row in range(SIDE):
        rows.append((Cell(f"{1 + row} ", GRID), *cells[SIDE * row : SIDE * (row + 1)]))
    if s.over != RUNNING:
        title = "Noughts and crosses, over"
    else:
        title = "Noughts and crosses" if s.seat == NOBODY else f"Noughts and crosses: {NAMES[s.seat]} to mark a cell"
    told = tuple(event_text(*event) for event in s.events[: int(s.num_events)].tolist())
    return Scene(size + EDGE, size + EDGE, PAPER, tuple(shapes), title, tuple(rows), told)
