"""Umbra Via as a picture: the board of paths, the altar with its bids and the track, and what each seat holds.

Drawn from the facts of `notation.describe`, so no viewer is shown what it may not know. Decides nothing of the rules.
"""

from __future__ import annotations

from functools import cache
from math import cos, pi, sin
from typing import Any, Final

import numpy as np

from tabletop_envs.core.game import ALL
from tabletop_envs.core.header import MAX_EVENTS, OVER_CAP, RUNNING
from tabletop_envs.games.umbra_via.notation import CELL_NAMES, describe, event_text
from tabletop_envs.games.umbra_via.rules import score, targets
from tabletop_envs.games.umbra_via.state import Phase
from tabletop_envs.games.umbra_via.tables import (
    CELLS,
    CENTRE,
    COLS,
    KIND_NAMES,
    ROWS,
    SLOT_NAMES,
    SLOTS,
    SOUL_TILE_WORTH,
    SOULS_ON_TILE,
)
from tabletop_envs.render.scene import Cell, Circle, Group, Line, Polygon, Rect, Scene, Shape, Text

# --- sizes and colours -------------------------------------------------------------------------------------------

_WIDTH: Final = 1080.0
_HEIGHT: Final = 760.0
_LEFT: Final = 44.0  # of the board, beside its row numbers
_TOP: Final = 46.0
_CELL: Final = 126.0
_INSET: Final = 4.0  # of a tile in its cell
_TILE: Final = _CELL - 2 * _INSET
_PILES: Final = _TOP + ROWS * _CELL + 26  # stack and discard pile
_NEWS: Final = _PILES + 56
_NEWS_STEP: Final = 20.0
_NEWS_LINES: Final = 5
_PANEL: Final = 580.0
_RIGHT: Final = _WIDTH - 16
_ALTAR: Final = 100.0
_SLOT: Final = 106.0
_SLOT_STEP: Final = 112.0
_SMALL: Final = 82.0  # a tile on the altar
_BIDS: Final = _ALTAR + 22 + _SMALL + 16
_BID_ROW: Final = 21.0
_TRACK: Final = _RIGHT - 20
_CARDS: Final = 318.0
_CARD: Final = 100.0
_CARD_STEP: Final = 107.0

_BACKGROUND: Final = "#262a3f"
_SHADE: Final = "#1b1e2e"
_EMPTY: Final = "#363c5a"
_MIDDLE: Final = "#434a6e"
_PANEL_FILL: Final = "#30354f"
_STONE: Final = "#ddd3bd"
_STONE_EDGE: Final = "#8d8268"
_SPECIAL: Final = "#b9c0cf"
_PATH: Final = "#5b5470"
_LIGHT: Final = "#efe3a8"
_TEXT: Final = "#f0ebdf"
_FAINT: Final = "#aaa9bd"
_INK: Final = "#191b28"
_MARK: Final = "#f2c14e"
_SOUL: Final = "#fbf8ef"
_SOUL_HEART: Final = "#d8a13a"
_SEATS: Final = ("#e8963a", "#35b0a5", "#ab83e6", "#e2668d")

# [seat] -> the corner of a tile in which its energy lies
_CORNERS: Final = ((0.2, 0.2), (0.8, 0.2), (0.2, 0.8), (0.8, 0.8))
_TURNS: Final = tuple(2 * pi * number / 40 for number in range(40))
# the outline of five petals: reach, x and y of points around the middle
_PETALS: Final = tuple((0.66 + 0.34 * abs(cos(2.5 * turn)) ** 0.6, sin(turn), -cos(turn)) for turn in _TURNS)
_GLYPHS: Final = {
    "NS": "│",
    "EW": "─",
    "NE": "└",
    "ES": "┌",
    "SW": "┐",
    "NW": "┘",
    "NES": "├",
    "ESW": "┬",
    "NSW": "┤",
    "NEW": "┴",
    "four_point": "◇",
    "void": "○",
    "block": "■",
}
_ASKED: Final = {
    Phase.BID1: "bids, first bid",
    Phase.BID2: "bids, second bid",
    Phase.PLACE: "places the tile on",
    Phase.FOUR_POINT_TARGET: "may move the flowers of",
    Phase.VOID_TARGET: "lays out the flowers of",
}
_KEYS: Final = (
    "a tile is the sides where its path goes on; the numbers on it are the energy of the seats in their order, in "
    "brackets where flowers wait for a tile"
)


# --- figures -----------------------------------------------------------------------------------------------------


@cache
def _flower(radius: float, petals: str, heart: str, ring: str = "") -> tuple[Shape, ...]:
    """Five petals around a heart, the middle at (0, 0); a soul wears its seat's colour as a ring."""
    points = tuple((radius * reach * x, radius * reach * y) for reach, x, y in _PETALS)
    shapes = (Polygon(points, fill=petals), Circle(0, 0, 0.42 * radius, fill=heart))
    return (Circle(0, 0, 1.1 * radius, stroke=ring, width=2.4), *shapes) if ring else shapes


@cache
def _energy(seat: int, count: int) -> Group:
    """The energy of a seat on a cell as one large flower with its number, in the seat's corner."""
    text = Text(0, 0.5, str(count), 20, "middle", True, fill=_INK)
    shapes = (*_flower(20, _SEATS[seat], _SEATS[seat]), text)
    x, y = _CORNERS[seat]
    return Group(shapes, _CELL * x, _CELL * y, title=f"energy of seat {seat}: {count}")


@cache
def _paths(openings: str, size: float) -> tuple[Shape, ...]:
    """A broad band with a light line from the middle to each opening."""
    shapes: list[Shape] = []
    for colour, width in ((_PATH, 0.26 * size), (_LIGHT, 0.05 * size)):
        start, half = (size - width) / 2, size / 2
        arms = {
            "N": (start, 0.0, width, half),
            "E": (half, start, half, width),
            "S": (start, half, width, half),
            "W": (0.0, start, half, width),
        }
        shapes += [Rect(*arms[side], fill=colour) for side in openings]
        if "NS" not in openings.replace("E", "") and "EW" not in openings.replace("S", ""):
            shapes.append(Circle(half, half, width / 2, fill=colour))  # the outer edge of a bend
    return tuple(shapes)


@cache
def _tile(name: str, size: float) -> tuple[Shape, ...]:
    """A tile in the square from (0, 0) to (size, size)."""
    fill = _STONE if name.isupper() else _SPECIAL
    shapes: list[Shape] = [Rect(0, 0, size, size, 0.08 * size, fill=fill)]
    middle = 0.5 * size
    if name == "four_point":
        arms = ((0.5, 0.16), (0.62, 0.38), (0.84, 0.5), (0.62, 0.62), (0.5, 0.84), (0.38, 0.62), (0.16, 0.5))
        points = tuple((x * size, y * size) for x, y in (*arms, (0.38, 0.38)))
        shapes += [Polygon(points, fill=_PATH), Circle(middle, middle, 0.1 * size, fill=_LIGHT)]
    elif name == "void":
        shapes += [Circle(middle, middle, 0.3 * size, fill=_SHADE, stroke=_PATH, width=0.06 * size)]
    elif name == "block":
        shapes.append(Rect(0.2 * size, 0.2 * size, 0.6 * size, 0.6 * size, 0.06 * size, fill=_PATH))
        for start, end in (((0.34, 0.34), (0.66, 0.66)), ((0.66, 0.34), (0.34, 0.66))):
            ends = tuple((x * size, y * size) for x, y in (start, end))
            shapes.append(Line(ends, stroke=_SPECIAL, width=0.07 * size))
    else:
        shapes += _paths(name, size)
    return (*shapes, Rect(0, 0, size, size, 0.08 * size, stroke=_STONE_EDGE, width=0.02 * size))


# --- the board ---------------------------------------------------------------------------------------------------


def _corner(cell: int) -> tuple[float, float]:
    return _LEFT + _CELL * (cell % COLS), _TOP + _CELL * (cell // COLS)


def _plan() -> tuple[Shape, ...]:
    """The empty board with its coordinates."""
    shapes: list[Shape] = [Rect(_LEFT - 6, _TOP - 6, COLS * _CELL + 12, ROWS * _CELL + 12, 10, fill=_SHADE)]
    for cell in range(CELLS):
        x, y = _corner(cell)
        fill = _MIDDLE if CENTRE >> cell & 1 else _EMPTY
        shapes.append(Rect(x + 2, y + 2, _CELL - 4, _CELL - 4, 8, fill=fill))
    for row in range(ROWS):
        name = CELL_NAMES[row * COLS][1]
        shapes.append(Text(_LEFT / 2 - 2, _TOP + _CELL * (row + 0.5), name, 18, "middle", fill=_FAINT))
    for col in range(COLS):
        shapes.append(Text(_LEFT + _CELL * (col + 0.5), _TOP / 2 - 2, CELL_NAMES[col][0], 18, "middle", fill=_FAINT))
    return tuple(shapes)


_PLAN: Final = _plan()


def _board(s: Any, facts: dict[str, Any]) -> list[Shape | Group]:
    shapes: list[Shape | Group] = [*_PLAN]
    asked = targets(s) if s.over == RUNNING and s.phase in _ASKED and s.phase >= Phase.PLACE else 0
    for cell, name in enumerate(CELL_NAMES):
        x, y = _corner(cell)
        tile = facts["tiles"].get(name)
        if tile:
            shapes.append(Group(_tile(tile, _TILE), x + _INSET, y + _INSET, title=f"{tile} on {name}"))
        pile = facts["energy"].get(name) or facts["waiting"].get(name, [])
        flowers = [_energy(seat, count) for seat, count in enumerate(pile) if count]
        if flowers:
            shapes.append(Group(tuple(flowers), x, y, title="" if tile else f"flowers wait on {name}"))
        if asked >> cell & 1:
            inner = _CELL - 10
            shapes.append(Rect(x + 5, y + 5, inner, inner, 8, stroke=_MARK, width=3, title=f"{name} may be chosen"))
    return shapes


def _census(facts: dict[str, Any]) -> list[Shape | Group]:
    """Stack and discard pile, kind by kind."""
    names = ("NS", "NE", "ESW", *KIND_NAMES[3:])
    kinds = [
        number for number, kind in enumerate(KIND_NAMES) if number < 3 or facts["stack"][kind] + _seen(facts, kind)
    ]
    shapes: list[Shape | Group] = []
    for row, pile in enumerate(("stack", "discard")):
        y = _PILES + 26 * row
        total = sum(facts[pile].values())
        shapes.append(Text(_LEFT - 6, y, f"{pile} {total}", 15, fill=_TEXT))
        for place, number in enumerate(kinds):
            x, count = _LEFT + 112 + 68 * place, facts[pile][KIND_NAMES[number]]
            title = f"{pile}: {count} {KIND_NAMES[number]}"
            shapes.append(Group(_tile(names[number], 22), x, y - 11, title=title))
            shapes.append(Text(x + 29, y, str(count), 15, fill=_TEXT if count else _FAINT))
    return shapes


def _seen(facts: dict[str, Any], kind: str) -> int:
    lying = [*facts["tiles"].values(), *(slot["tile"] for slot in facts["altar"] if slot)]
    return int(facts["discard"][kind]) + lying.count(kind)


# --- altar and track ---------------------------------------------------------------------------------------------


def _altar(facts: dict[str, Any]) -> list[Shape | Group]:
    shapes: list[Shape | Group] = []
    for slot, name in enumerate(SLOT_NAMES):
        x, lying = _PANEL + _SLOT_STEP * slot, facts["altar"][slot]
        decided = facts["resolving"] == name
        height = _BIDS + 4 * _BID_ROW - _ALTAR - 4
        edge = _MARK if decided else None
        shapes.append(Rect(x, _ALTAR, _SLOT, height, 8, fill=_PANEL_FILL, stroke=edge, width=3))
        shapes.append(Text(x + 10, _ALTAR + 12, name, 15, bold=True, fill=_TEXT if lying else _FAINT))
        if not lying:
            continue
        title = f"{lying['tile']} on {name}"
        shapes.append(Group(_tile(lying["tile"], _SMALL), x + 12, _ALTAR + 22, title=title))
        if lying["order"]:
            where = x + _SLOT - 16, _ALTAR + 13
            shapes.append(Circle(*where, 11, fill=_LIGHT, title=f"order counter of {name}: {lying['order']}"))
            shapes.append(Text(*where, str(lying["order"]), 15, "middle", True, fill=_INK))
        for seat in range(len(lying["energy"])):
            shapes += _bid_row(facts, slot, seat, x, _BIDS + _BID_ROW * seat)
    return shapes


def _face_down(facts: dict[str, Any], slot: int, seat: int) -> tuple[int, int]:
    """Energy and souls bid face down, as far as the viewer may know."""
    bids = (facts["pending"][seat] or {}).get(SLOT_NAMES[slot], {})
    return bids.get("energy", 0), bids.get("souls", 0)


def _bid_row(facts: dict[str, Any], slot: int, seat: int, x: float, y: float) -> list[Shape | Group]:
    """Energy and souls of a seat on a slot; `+` before what lies face down."""
    lying = facts["altar"][slot]
    shapes: list[Shape | Group] = []
    revealed = lying["energy"][seat], lying["souls"][seat]
    for number, (count, hidden) in enumerate(zip(revealed, _face_down(facts, slot, seat), strict=True)):
        if not count and not hidden:
            continue
        left = x + 12 + 47 * number
        figure = _soul(9, seat) if number else _flower(9.5, _SEATS[seat], _SEATS[seat])
        text = (str(count) if count else "") + (f"+{hidden}" if hidden else "")
        kind = "souls" if number else "energy"
        title = f"seat {seat} on {SLOT_NAMES[slot]}: {kind} {count}" + (f", {hidden} face down" if hidden else "")
        shapes.append(Group((*figure, Text(12, 0, text, 14, bold=True, fill=_TEXT)), left + 4, y, title=title))
    return shapes


def _track(facts: dict[str, Any]) -> list[Shape | Group]:
    """The markers from the top down."""
    players = len(facts["track"])
    shapes: list[Shape | Group] = [
        Rect(_TRACK - 17, _ALTAR, 34, 30 + 32 * players, 8, fill=_PANEL_FILL),
        Text(_TRACK, _ALTAR + 12, "tie", 14, "middle", fill=_FAINT),
    ]
    for place, seat in enumerate(facts["track"]):
        y = _ALTAR + 40 + 32 * place
        text = Text(0, 0.5, str(seat), 13, "middle", True, fill=_INK)
        figure = (*_flower(14, _SEATS[seat], _SEATS[seat]), text)
        shapes.append(Group(figure, _TRACK, y, title=f"track place {place + 1}: seat {seat}"))
    return shapes


# --- the seats ---------------------------------------------------------------------------------------------------


@cache
def _soul(radius: float, seat: int) -> tuple[Shape, ...]:
    return _flower(radius, _SOUL, _SOUL_HEART, _SEATS[seat])


@cache
def _soul_tile(left: int, taken: bool) -> Group:
    """The flowers that lie on a soul tile still, then the tile itself, which counts twice."""
    shapes: list[Shape | Group] = []
    for number in range(SOULS_ON_TILE):
        petals, heart = (_SOUL, _SOUL_HEART) if number < left else (_EMPTY, _EMPTY)
        shapes.append(Group(_flower(9, petals, heart), 24 + 21 * number, 53))
    x = 39 + 21 * SOULS_ON_TILE
    shapes.append(Rect(x - 15, 44, 30, 18, 4, fill=_EMPTY if taken else _SOUL))
    shapes.append(Text(x, 53.5, f"x{SOUL_TILE_WORTH}", 13, "middle", True, fill=_FAINT if taken else _INK))
    return Group(tuple(shapes), title=f"{left} flowers on the soul tile")


def _card(s: Any, facts: dict[str, Any], seat: int) -> Group:
    active, width = int(s.seat) == seat, _RIGHT - _PANEL
    claims = facts["claims"][seat]
    bag = f"unseen: {facts['pool']['energy'][seat]} energy, {_count(facts['pool']['souls'][seat], 'soul')}"
    shapes: list[Shape | Group] = [
        Rect(0, 0, width, _CARD, 10, fill=_PANEL_FILL, stroke=_MARK if active else None, width=3),
        Group(_flower(17, _SEATS[seat], _SOUL), 26, 25),
        Text(50, 25, f"seat {seat}", 18, bold=True, fill=_TEXT),
        Text(width - 14, 25, f"{claims} of {int(s.victory_target)} claims", 18, "end", True, fill=_TEXT),
        _soul_tile(facts["soul_tile"][seat], claims > SOULS_ON_TILE),
        Text(width - 14, 53, f"{_count(facts['removed'][seat], 'soul')} gone", 14, "end", fill=_FAINT),
        Text(16, 80, bag, 14, fill=_TEXT),
        *_drawn(facts, seat, width - 14),
    ]
    if active:
        shapes.append(Text(122, 26, "to act", 14, fill=_MARK))
    return Group(tuple(shapes), _PANEL, _CARDS + _CARD_STEP * seat, title=_seat_text(s, facts, seat))


def _drawn(facts: dict[str, Any], seat: int, right: float) -> list[Shape | Group]:
    """The flowers drawn that are still to be bid: in the open for who may see them, else as closed buds."""
    hand, count = facts["hands"][seat], facts["to_bid"][seat]
    shapes: list[Shape | Group] = []
    souls = hand["souls"] if hand else 0
    for number in range(count):
        x = right - 12 - 26 * (count - 1 - number)
        if hand is None:
            shapes.append(Circle(x, 80, 9, fill=_EMPTY, stroke=_SEATS[seat], width=2))
        else:
            figure = _soul(10, seat) if number < souls else _flower(11, _SEATS[seat], _SEATS[seat])
            shapes.append(Group(figure, x, 80))
    if count:
        shapes.append(Text(right - 26 * count - 4, 80, "to bid", 14, "end", fill=_FAINT))
    return [Group(tuple(shapes), title=_hand_text(facts, seat))] if count else []


# --- words -------------------------------------------------------------------------------------------------------


def _hand_text(facts: dict[str, Any], seat: int) -> str:
    count, hand = facts["to_bid"][seat], facts["hands"][seat]
    if hand is None:
        return f"{count} drawn flowers still to bid"
    return f"still to bid: {_count(hand['souls'], 'soul')}, {hand['energy']} energy"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _seat_text(s: Any, facts: dict[str, Any], seat: int) -> str:
    parts = [
        f"seat {seat}: {facts['claims'][seat]} of {int(s.victory_target)} claims",
        f"{facts['soul_tile'][seat]} on the soul tile",
        f"unseen {facts['pool']['energy'][seat]} energy, {_count(facts['pool']['souls'][seat], 'soul')}",
        f"{_count(facts['removed'][seat], 'soul')} gone",
    ]
    if facts["to_bid"][seat]:
        parts.append(_hand_text(facts, seat))
    bids = facts["pending"][seat]
    if bids:
        lying = [f"{_count(n['souls'], 'soul')} and {n['energy']} energy on {name}" for name, n in bids.items()]
        parts.append("face down: " + ", ".join(lying))
    return "; ".join(parts)


def _slot_text(facts: dict[str, Any], slot: int) -> str:
    lying, name = facts["altar"][slot], SLOT_NAMES[slot]
    if not lying:
        return f"altar {name}: empty"
    text = f"altar {name}: {lying['tile']}, energy {_row(lying['energy'])}, souls {_row(lying['souls'])}"
    if lying["order"]:
        text += f", order counter {lying['order']}"
    return text + (", being resolved" if facts["resolving"] == name else "")


def _row(counts: list[int]) -> str:
    return " ".join(map(str, counts))


def _prompt(s: Any, facts: dict[str, Any], viewer: int) -> str:
    seat = int(s.seat)
    if s.over != RUNNING:
        points, places = np.zeros((2, int(s.num_players)), dtype=np.int32)
        score(s, points, places)
        winner = places.tolist().index(1)
        return f"seat {winner} wins with {facts['claims'][winner]} claims"
    phase = Phase(int(s.phase))
    if seat < 0 or phase not in _ASKED:
        return "nobody is asked"
    where = {Phase.FOUR_POINT_TARGET: facts["placed"]}.get(phase, facts["resolving"])
    if phase in (Phase.BID1, Phase.BID2):
        flower = f", a{' soul' if facts['hands'][seat]['souls'] else 'n energy'}" if viewer in (ALL, seat) else ""
        return f"seat {seat} {_ASKED[phase]}{flower}"
    return f"seat {seat} {_ASKED[phase]} {where}"


def _news(s: Any) -> list[str]:
    """What happened by itself since the last decision."""
    news = [event_text(*event) for event in s.events[: min(int(s.num_events), MAX_EVENTS)].tolist()]
    if s.over == OVER_CAP and s.phase != Phase.OVER:
        news.append(f"stopped at the cap of {int(s.max_decisions)} decisions")
    return news


# --- the terminal ------------------------------------------------------------------------------------------------

_COLUMN: Final = 15  # letters of a cell


def _grid(facts: dict[str, Any]) -> tuple[tuple[Cell, ...], ...]:
    """The board, two lines a row: the tile, then the energy on it."""
    head = "".join(CELL_NAMES[col][0].center(_COLUMN + 1) for col in range(COLS))
    rows: list[tuple[Cell, ...]] = [(Cell("   " + head, "#8a8aa0"),)]
    for row in range(ROWS):
        tiles, piles = [Cell(f" {row + 1} ", "#8a8aa0")], [Cell("   ")]
        for cell in range(row * COLS, row * COLS + COLS):
            name = CELL_NAMES[cell]
            tile, pile = facts["tiles"].get(name), facts["energy"].get(name)
            waiting = facts["waiting"].get(name)
            text = f"{_GLYPHS[tile]} {tile}" if tile else "."
            below = _row(pile) if pile else f"({_row(waiting)})" if waiting else ""
            ground = _STONE if tile else _SPECIAL
            tiles += [Cell(text.center(_COLUMN), _INK, ground, bool(tile)), Cell(" ")]
            piles += [Cell(below.center(_COLUMN), _INK, ground), Cell(" ")]
        rows += [tuple(tiles), tuple(piles)]
    return tuple(rows)


def _caption(s: Any, facts: dict[str, Any], news: list[str]) -> tuple[str, ...]:
    piles = [
        f"{name}: "
        + ", ".join(f"{count} {kind}" for kind, count in facts[name].items() if count or kind in KIND_NAMES[:3])
        for name in ("stack", "discard")
    ]
    return (
        *(_slot_text(facts, slot) for slot in range(SLOTS)),
        "tie-break track from the top: " + ", ".join(f"seat {seat}" for seat in facts["track"]),
        *(_seat_text(s, facts, seat) for seat in range(int(s.num_players))),
        *piles,
        *news,
        _KEYS,
    )


def scene(s: Any, viewer: int) -> Scene:
    """The table for a viewer; hands and pending bids of the others stay closed (R11)."""
    facts, news = describe(s, viewer), _news(s)
    prompt = _prompt(s, facts, viewer)
    head: list[Shape | Group] = [
        Text(_PANEL, 28, "Umbra Via", 28, bold=True, fill=_TEXT),
        Text(_RIGHT, 30, f"round {facts['round']}, decision {int(s.decisions)}", 15, "end", fill=_FAINT),
        Text(_PANEL, 70, prompt[:1].upper() + prompt[1:], 18, bold=s.over != RUNNING, fill=_MARK),
    ]
    lines = news if len(news) <= _NEWS_LINES else [*news[: _NEWS_LINES - 1], f"and {len(news) - _NEWS_LINES + 1} more"]
    for number, line in enumerate(lines):
        text = line[:1].upper() + line[1:]
        head.append(Text(_LEFT - 6, _NEWS + _NEWS_STEP * number, text, 15, fill=_TEXT))
    cards = [_card(s, facts, seat) for seat in range(int(s.num_players))]
    shapes = (*_board(s, facts), *_census(facts), *_altar(facts), *_track(facts), *head, *cards)
    title = f"Umbra Via, round {facts['round']}: {prompt}"
    return Scene(_WIDTH, _HEIGHT, _BACKGROUND, shapes, title, _grid(facts), _caption(s, facts, news))
