"""Urbino as a picture: the city, what its districts score, both supplies. Decides nothing of the rules.

Nothing is hidden (R13): all viewers see the same. The unit is a sixtieth of a cell.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tabletop_envs.core.header import MAX_EVENTS, NOBODY, OVER_CAP, RUNNING
from tabletop_envs.games.urbino.notation import (
    COLOURS,
    KIND_NAMES,
    board_rows,
    cell_text,
    districts,
    event_text,
    lot_cells,
)
from tabletop_envs.games.urbino.rules import score
from tabletop_envs.games.urbino.state import Phase
from tabletop_envs.games.urbino.tables import BROWN, COLS, KINDS, NOWHERE, PIECE_LETTERS, PLAYERS, ROWS, WHITE
from tabletop_envs.render.scene import Cell, Circle, Group, Line, Polygon, Rect, Scene, Shape, Text

# --- Sizes and colours ------------------------------------------------------------------------------------------

_CELL: Final = 60.0
_LEFT: Final = 34.0  # of the board, beside its row numbers
_TOP: Final = 34.0
_BOARD: Final = _CELL * COLS
_HEIGHT: Final = 600.0
_PANEL: Final = 606.0  # where the side panel begins
_PANEL_WIDTH: Final = 268.0
_WIDTH: Final = _PANEL + _PANEL_WIDTH + 26.0
_CARDS: Final = (118.0, 274.0)  # upper edges of the players' cards, by colour
_CARD_HEIGHT: Final = 142.0
_NEWS: Final = 442.0  # where the panel tells what happened
_LEGEND: Final = 508.0
_ROW: Final = 22.0  # of the panel
_ICONS: Final = (9.0, 97.0, 175.0)  # [kind] -> where its icon begins on a card
_BESIDE: Final = (49.0, 54.0, 45.0)  # [kind] -> from there to its number

_BACKGROUND: Final = "#efe7d8"
_PLAZA: Final = "#e3d8c1"
_GRID: Final = "#cbbd9f"
_FRAME: Final = "#8f7f62"
_INK: Final = "#3b3226"
_FAINT: Final = "#7b6e5a"
_CARD: Final = "#f8f3e8"
_ACTIVE: Final = "#c2612c"
_LOT: Final = "#3f7d5c"
_BORDER: Final = "#6f6149"  # around districts
_ARCHITECTS: Final = ("#1f6f78", "#8a3b6b")  # [architect]; neither player's
_ARCHITECT_EDGE: Final = "#2a2230"
_PAPER: Final = "#fffdf7"

# [colour] -> walls, roof, openings, edge
_HOUSES: Final = (("#a06f45", "#7a4b2b", "#3c2416", "#37210f"), ("#fffdf6", "#d9cdb6", "#8b7d66", "#5a503f"))
# what a district gives, by the colour that scores it, and for nobody
_GROUNDS: Final = ("#d2ab7f", "#f7f2e4", "#cfc9bd")
_NOBODY_SCORES: Final = PLAYERS

_NAMES: Final = tuple(name.capitalize() for name in COLOURS)
_PIECES: Final = tuple(f"{name} {kind}" for name in _NAMES for kind in KIND_NAMES)  # [piece on the board - 1]
_PROMPTS: Final = {
    Phase.CHOOSE_FIRST: "says who builds first",
    Phase.RELOCATE: "relocates or stays",
    Phase.BUILD: "builds",
}
_LOT_LETTER: Final = "+"
_KEYS: Final = (
    f"h p t: houses, palaces, towers of Brown; H P T: those of White; 0 1: the architects; "
    f"{_LOT_LETTER}: a lot, where both architects look"
)

# --- Figures, in a cell from (0, 0) to (60, 60) -----------------------------------------------------------------


def _house(walls: str, roof: str, opening: str, edge: str) -> tuple[Shape, ...]:
    return (
        Rect(17, 32, 26, 19, fill=walls, stroke=edge, width=2),
        Polygon(((12, 33), (30, 16), (48, 33)), fill=roof, stroke=edge, width=2),
        Rect(26.5, 40, 7, 11, fill=opening),
    )


def _palace(walls: str, roof: str, opening: str, edge: str) -> tuple[Shape, ...]:
    arches = tuple(Rect(x, 33, 6.5, 13, 3, fill=opening) for x in (14.5, 26.75, 39))
    return (
        Rect(10, 28, 40, 18, fill=walls, stroke=edge, width=2),
        *arches,
        Rect(6.5, 45.5, 47, 5.5, fill=roof, stroke=edge, width=2),
        Polygon(((6, 28), (30, 12), (54, 28)), fill=roof, stroke=edge, width=2),
        Circle(30, 22, 3, fill=walls),
    )


_MERLONS: Final = ((18.0, 23.0), (27.5, 32.5), (37.0, 42.0))  # left and right edges
_CROWN: Final = (
    (18.0, 20.0),
    *((x, y) for left, right in _MERLONS for x, y in ((left, 12.0), (left, 7.0), (right, 7.0), (right, 12.0))),
    (42.0, 20.0),
)


def _tower(walls: str, roof: str, opening: str, edge: str) -> tuple[Shape, ...]:
    return (
        Rect(21, 20, 18, 31, fill=walls, stroke=edge, width=2),
        Polygon(_CROWN, fill=roof, stroke=edge, width=2),
        Rect(28, 25, 4, 8, 2, fill=opening),
        Rect(26.5, 41, 7, 10, fill=opening),
    )


# [piece on the board - 1]
_BUILDINGS: Final = tuple(draw(*paint) for paint in _HOUSES for draw in (_house, _palace, _tower))


def _architect(number: int) -> tuple[Shape, ...]:
    coat, edge = _ARCHITECTS[number], _ARCHITECT_EDGE
    return (
        Polygon(((24, 25), (36, 25), (42, 47), (18, 47)), fill=coat, stroke=edge, width=2),
        Rect(13, 46, 34, 6, 3, fill=coat, stroke=edge, width=2),
        Circle(30, 17, 8.5, fill=coat, stroke=edge, width=2),
        Text(30, 37, str(number), 16, "middle", True, fill=_PAPER),
    )


_FIGURES: Final = tuple(_architect(number) for number in range(len(_ARCHITECTS)))


# --- The board --------------------------------------------------------------------------------------------------


def _corner(cell: int) -> tuple[float, float]:
    return _LEFT + _CELL * (cell % COLS), _TOP + _CELL * (cell // COLS)


def _plan() -> tuple[Shape, ...]:
    """The empty board with its coordinates."""
    right, bottom = _LEFT + _BOARD, _TOP + _BOARD
    shapes: list[Shape] = [Rect(_LEFT, _TOP, _BOARD, _BOARD, fill=_PLAZA)]
    for number in range(1, ROWS):
        y = _TOP + _CELL * number
        shapes.append(Line(((_LEFT, y), (right, y)), stroke=_GRID, width=1.2))
    for number in range(1, COLS):
        x = _LEFT + _CELL * number
        shapes.append(Line(((x, _TOP), (x, bottom)), stroke=_GRID, width=1.2))
    for row in range(ROWS):
        name = cell_text(row * COLS)[1:]
        shapes.append(Text(_LEFT / 2, _TOP + _CELL * (row + 0.5), name, 17, "middle", fill=_FAINT))
    for col in range(COLS):
        name = cell_text(col)[0]
        shapes.append(Text(_LEFT + _CELL * (col + 0.5), _TOP / 2 + 1, name, 17, "middle", fill=_FAINT))
    return tuple(shapes)


_PLAN: Final = _plan()
_EDGE: Final = Rect(_LEFT, _TOP, _BOARD, _BOARD, 3, stroke=_FRAME, width=3)


def _scored_by(facts: dict[str, Any]) -> int:
    return _NOBODY_SCORES if facts["scored_by"] is None else COLOURS.index(facts["scored_by"])


def _ground(label: list[int], facts: dict[str, Any]) -> Group:
    """The cells of a district, tinted by the colour that scores it, with a border around them."""
    shapes: list[Shape] = []
    border: list[Shape] = []
    tint = _GROUNDS[_scored_by(facts)]
    for cell in facts["cells"]:
        x, y = _corner(cell)
        shapes.append(Rect(x, y, _CELL, _CELL, fill=tint))
        row, col = divmod(cell, COLS)
        sides = (
            (row > 0, cell - COLS, (0, 0, 1, 0)),
            (row < ROWS - 1, cell + COLS, (0, 1, 1, 1)),
            (col > 0, cell - 1, (0, 0, 0, 1)),
            (col < COLS - 1, cell + 1, (1, 0, 1, 1)),
        )
        for inside, beside, (x0, y0, x1, y1) in sides:
            start, end = (x + _CELL * x0, y + _CELL * y0), (x + _CELL * x1, y + _CELL * y1)
            if inside and label[beside] == label[cell]:
                border.insert(0, Line((start, end), stroke=_GRID, width=1.2))
            else:
                border.append(Line((start, end), stroke=_BORDER, width=2.4))
    return Group((*shapes, *border), title=_district_text(facts))


def _badge(board: list[int], facts: dict[str, Any]) -> tuple[Shape, ...]:
    """What a district scores, in the corner of the winner's first building."""
    winner = _scored_by(facts)
    if winner == _NOBODY_SCORES:
        return ()
    home = next(cell for cell in facts["cells"] if (board[cell] - 1) // KINDS == winner)
    x, y = _corner(home)
    walls, _, _, edge = _HOUSES[winner]
    ink = _PAPER if winner == BROWN else _INK
    text = str(facts["value"][winner])
    width = 10.0 + 7.0 * len(text)
    return (
        Rect(x - 5, y - 6, width, 17, 8, fill=walls, stroke=edge, width=1.6),
        Text(x - 5 + width / 2, y + 2.6, text, 13, "middle", True, fill=ink),
    )


def _district_text(facts: dict[str, Any]) -> str:
    value, where = facts["value"], cell_text(facts["cells"][0])
    if min(value) == 0:
        return f"District {where}: {max(value)} of {_NAMES[int(value[WHITE] > 0)]} alone, scores nothing"
    winner = _scored_by(facts)
    ends = "nobody scores" if winner == _NOBODY_SCORES else f"{_NAMES[winner]} scores {value[winner]}"
    parts = []
    for colour, name in enumerate(_NAMES):
        monument = facts["monument"][colour]
        extra = "" if monument == "none" else f" with a {monument.replace('_', ' ')}"
        parts.append(f"{name} {value[colour]}{extra}")
    return f"District {where}: {', '.join(parts)}, {ends}"


def _board(s: Any, board: list[int], found: list[dict[str, Any]], lots: list[int]) -> list[Shape | Group]:
    shapes: list[Shape | Group] = [*_PLAN]
    label = s.district.tolist()
    shapes += [_ground(label, facts) for facts in found]
    shapes.append(_EDGE)
    for cell in lots:
        x, y = _corner(cell)
        mark = Circle(_CELL / 2, _CELL / 2, 6.5, fill=_PAPER, stroke=_LOT, width=3)
        shapes.append(Group((mark,), x, y, title=f"lot {cell_text(cell)}"))
    for cell, piece in enumerate(board):
        if piece:
            title = f"{_PIECES[piece - 1]} {cell_text(cell)}"
            shapes.append(Group(_BUILDINGS[piece - 1], *_corner(cell), title=title))
    for number, cell in enumerate(s.architects.tolist()):
        if cell != NOWHERE:
            title = f"architect {number} {cell_text(cell)}"
            shapes.append(Group(_FIGURES[number], *_corner(cell), title=title))
    for facts in found:
        shapes += _badge(board, facts)
    return shapes


# --- The panel --------------------------------------------------------------------------------------------------


def _card(s: Any, colour: int) -> list[Shape | Group]:
    """A player's points and supply; the one who is asked has a coloured edge."""
    active = int(s.seat) == colour
    top = _CARDS[colour]
    edge, width = (_ACTIVE, 3.5) if active else (_GRID, 1.5)
    right = _PANEL + _PANEL_WIDTH
    shapes: list[Shape | Group] = [
        Rect(_PANEL, top, _PANEL_WIDTH, _CARD_HEIGHT, 10, fill=_CARD, stroke=edge, width=width),
        Circle(_PANEL + 26, top + 32, 10, fill=_HOUSES[colour][0], stroke=_HOUSES[colour][3], width=2),
        Text(_PANEL + 46, top + 32, _NAMES[colour], 22, bold=True, fill=_INK),
        Text(right - 18, top + 31, str(int(s.points[colour])), 36, "end", True, fill=_INK),
        Line(((_PANEL + 16, top + 60), (right - 16, top + 60)), stroke=_GRID, width=1.2),
    ]
    if active:
        shapes.append(Text(_PANEL + 134, top + 33, "to act", 15, fill=_ACTIVE))
    for kind, name in enumerate(KIND_NAMES):
        left = int(s.supply[colour, kind])
        x = _PANEL + _ICONS[kind]
        icon = _BUILDINGS[colour * KINDS + kind]
        shapes.append(Group(icon, x, top + 73, 0.9, f"{_NAMES[colour]} has {_count(left, name)} left"))
        shapes.append(Text(x + _BESIDE[kind], top + 106, str(left), 20, fill=_INK if left else _GRID))
    return shapes


def _result(s: Any) -> str:
    points, places = np.zeros((2, PLAYERS), dtype=np.int32)
    score(s, points, places)
    if places[BROWN] == places[WHITE]:
        return f"drawn at {points[BROWN]} points"
    winner = int(places[WHITE] == 1)
    return f"{_NAMES[winner]} wins {points[winner]} to {points[1 - winner]}"


def _prompt(s: Any) -> str:
    """What the game waits for, or how it ended."""
    if s.over != RUNNING:
        return _result(s)
    if s.seat == NOBODY:
        return "nobody is asked"
    phase = Phase(int(s.phase))
    task = f"places architect {int(s.turn)}" if phase == Phase.PLACE_ARCHITECT else _PROMPTS[phase]
    return f"{_NAMES[int(s.seat)]} {task}"


def _news(s: Any) -> list[str]:
    """What happened by itself since the last decision, and what of the past still counts."""
    kept = min(int(s.num_events), MAX_EVENTS)
    news = list(dict.fromkeys(event_text(*row) for row in s.events[:kept].tolist()))
    if s.over == OVER_CAP:
        news.append(f"stopped at the cap of {int(s.max_decisions)} decisions")
    if s.skips > 0 and not news:
        news.append(f"skips since the last build: {int(s.skips)}")
    return news


def _panel(s: Any, news: list[str]) -> list[Shape | Group]:
    right = _PANEL + _PANEL_WIDTH
    made = f"decision {int(s.decisions)}" + (", monuments" if s.monuments > 0 else "")
    shapes: list[Shape | Group] = [
        Text(_PANEL, 46, "Urbino", 30, bold=True, fill=_INK),
        Text(right, 48, made, 14, "end", fill=_FAINT),
        Text(_PANEL, 88, _prompt(s), 16, fill=_INK if s.over == RUNNING else _ACTIVE, bold=s.over != RUNNING),
    ]
    for colour in range(PLAYERS):
        shapes += _card(s, colour)
    for number, line in enumerate(news):
        shapes.append(Text(_PANEL, _NEWS + _ROW * number, line[:1].upper() + line[1:], 14, fill=_INK))
    return shapes


def _legend() -> tuple[Shape, ...]:
    words = ("Brown scores the district", "White scores it", "nobody scores it")
    shapes: list[Shape] = []
    for number, (tint, text) in enumerate(zip(_GROUNDS, words, strict=True)):
        y = _LEGEND + _ROW * number
        shapes.append(Rect(_PANEL, y - 7, 20, 14, 2, fill=tint, stroke=_BORDER, width=1.6))
        shapes.append(Text(_PANEL + 30, y, text, 13, fill=_FAINT))
    y = _LEGEND + _ROW * len(words)
    shapes.append(Circle(_PANEL + 10, y, 6, fill=_PAPER, stroke=_LOT, width=2.6))
    shapes.append(Text(_PANEL + 30, y, "a lot: both architects see it", 13, fill=_FAINT))
    return tuple(shapes)


_LEGENDS: Final = _legend()


# --- The terminal -----------------------------------------------------------------------------------------------


# the colours of letters that stand out
_LETTERS: Final = {
    **dict.fromkeys(PIECE_LETTERS[BROWN], "#6a3510"),
    **dict.fromkeys(PIECE_LETTERS[WHITE], "#716750"),
    "0": _ARCHITECTS[0],
    "1": _ARCHITECTS[1],
    _LOT_LETTER: _LOT,
}
_EMPTY: Final = "#ab9c80"


def _grid(s: Any, found: list[dict[str, Any]], lots: list[int]) -> tuple[tuple[Cell, ...], ...]:
    """The board in letters, on grounds that tell who scores them."""
    grounds = {cell: _GROUNDS[_scored_by(facts)] for facts in found for cell in facts["cells"]}
    letters = list("".join(board_rows(s)))
    for cell in lots:
        letters[cell] = _LOT_LETTER
    rows: list[tuple[Cell, ...]] = [(Cell("   " + "".join(f" {cell_text(col)[0]} " for col in range(COLS)), _FAINT),)]
    for row in range(ROWS):
        cells = [Cell(f" {cell_text(row * COLS)[1:]} ", _FAINT)]
        for cell in range(row * COLS, row * COLS + COLS):
            ink = _LETTERS.get(letters[cell], _EMPTY)
            cells.append(Cell(f" {letters[cell]} ", ink, grounds.get(cell, _PLAZA), ink != _EMPTY))
        rows.append(tuple(cells))
    return tuple(rows)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _caption(s: Any, found: list[dict[str, Any]], news: list[str]) -> tuple[str, ...]:
    facts = []
    for colour, name in enumerate(_NAMES):
        left = ", ".join(_count(int(number), kind) for number, kind in zip(s.supply[colour], KIND_NAMES, strict=True))
        facts.append(f"{name}: {_count(int(s.points[colour]), 'point')}, {left} left")
    facts += [_district_text(district) for district in found if min(district["value"]) > 0]
    return (*facts, *news, _KEYS)


def scene(s: Any, viewer: int) -> Scene:
    """The position, the same for every viewer (R13)."""
    board, found, lots, news = s.board.tolist(), districts(s), lot_cells(s) if s.over == RUNNING else [], _news(s)
    title = f"Urbino, decision {int(s.decisions)}: {_prompt(s)}"
    if s.monuments > 0:
        title += " (with monuments)"
    shapes = (*_board(s, board, found, lots), *_panel(s, news), *_LEGENDS)
    grid, caption = _grid(s, found, lots), _caption(s, found, news)
    return Scene(_WIDTH, _HEIGHT, _BACKGROUND, shapes, title, grid, caption)
