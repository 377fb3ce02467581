"""The Palaces of Carrara as a picture: the wheel, what is on offer, cities and cards, a board for each seat.

Decides nothing of the rules. Holdings behind a closed screen (R15.1) are left out. The unit is a thousandth of the
picture's width.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from tabletop_envs.core.game import ALL
from tabletop_envs.core.header import MAX_EVENTS, NOBODY, OVER_CAP, RUNNING
from tabletop_envs.games.carrara.notation import (
    CARD_IDS,
    amounts,
    card_text,
    counted,
    event_text,
    members,
    shows_holdings,
)
from tabletop_envs.games.carrara.rules import score
from tabletop_envs.games.carrara.state import NONE, Phase, objective_met
from tabletop_envs.games.carrara.tables import (
    CITIES,
    CITY_NAMES,
    CITY_TYPES,
    COLOUR_NAMES,
    COLOURS,
    COST,
    DECK_NAMES,
    DECKS,
    GROUP_NAMES,
    LEVELS,
    MARKERS,
    MONUMENT_LEVEL,
    MULTIPLIER,
    NEEDED,
    OBJECT_NAMES,
    PAYS_COINS,
    PRICE,
    SEGMENT_NAMES,
    SEGMENTS,
    TILE_NAMES,
    TILES,
    TYPE_NAMES,
    TYPES,
)
from tabletop_envs.render.scene import Cell, Circle, Group, Line, Polygon, Rect, Scene, Shape, Text

# --- Sizes and colours ------------------------------------------------------------------------------------------

_WIDTH: Final = 1000.0
_MARGIN: Final = 12.0
_TABLE: Final = 62.0  # where the market begins, below the heading
_WHEEL: Final = (172.0, 240.0, 160.0)  # centre and radius
_DISPLAY: Final = 350.0  # where the tiles on offer begin
_SIDE: Final = 606.0  # where cities, objects and cards begin
_BOARDS: Final = 436.0  # where the boards of the seats begin
_BOARD: Final = (482.0, 212.0)  # size of a seat's board
_GAP: Final = 12.0
_NEWS: Final = 54.0  # the room for what happened, at the bottom
_NEWS_LETTERS: Final = 150  # in a line of it
_NEWS_LINES: Final = 3

_BACKGROUND: Final = "#e9e1d0"
_PAPER: Final = "#fbf7ec"
_STONE: Final = "#d9cfba"
_EDGE: Final = "#a4957a"
_INK: Final = "#33291f"
_FAINT: Final = "#7d6f5b"
_ACTIVE: Final = "#c8551b"
_COIN: Final = "#d9a520"

# [colour] -> brick, its edge, the ink on it
_BRICKS: Final = (
    ("#fdfcf6", "#8d8573", "#33291f"),
    ("#efc548", "#9a7716", "#33291f"),
    ("#bf4632", "#7c2415", "#ffffff"),
    ("#5f9350", "#34592a", "#ffffff"),
    ("#4a7fb8", "#28507c", "#ffffff"),
    ("#3b3a40", "#111114", "#ffffff"),
)
_GROUPS: Final = ("#e08e45", "#7fa65a")  # R1.5: orange and green
_SEATS: Final = ("#7a3e96", "#0f7f86", "#ab1f4e", "#44566c")
_TITLES: Final = tuple(name.capitalize() for name in CITY_NAMES)


def _pale(colour: str, share: float = 0.35) -> str:
    """A share of a colour on paper."""
    mixed = (round(share * int(colour[i : i + 2], 16) + (1 - share) * int(_PAPER[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in mixed)


_PALE_BRICKS: Final = tuple((_pale(fill), _pale(edge)) for fill, edge, _ in _BRICKS)
_PALE_GROUPS: Final = tuple(_pale(ground, 0.55) for ground in _GROUPS)

# Most of a picture is what it was a decision ago: what is drawn of few facts is kept.
_remembered: Final = lru_cache(maxsize=4096)


# --- Figures, in a square from (0, 0) to (24, 24) ---------------------------------------------------------------


def _porta(ink: str, hole: str) -> tuple[Shape, ...]:
    merlons = tuple(Rect(x, 4, 4, 5, fill=ink) for x in (3, 10, 17))
    return (*merlons, Rect(3, 8, 18, 13, fill=ink), Rect(8.5, 12, 7, 9, 3, fill=hole), Rect(8.5, 16, 7, 5, fill=hole))


def _biblioteca(ink: str, hole: str) -> tuple[Shape, ...]:
    columns = tuple(Rect(x, 11, 3, 7, fill=ink) for x in (4.5, 10.5, 16.5))
    return (Polygon(((2, 10), (12, 3), (22, 10)), fill=ink), *columns, Rect(2.5, 18.5, 19, 3, fill=ink))


def _cattedrale(ink: str, hole: str) -> tuple[Shape, ...]:
    return (
        Line(((12, 1), (12, 7)), stroke=ink, width=1.6),
        Line(((9.5, 3.2), (14.5, 3.2)), stroke=ink, width=1.6),
        Polygon(((4, 13), (12, 6), (20, 13), (20, 21), (4, 21)), fill=ink),
        Circle(12, 12.5, 2.2, fill=hole),
        Rect(10.2, 16.5, 3.6, 4.5, fill=hole),
    )


def _palazzo(ink: str, hole: str) -> tuple[Shape, ...]:
    windows = tuple(Rect(x, y, 3, 4, 1.2, fill=hole) for x in (5, 10.5, 16) for y in (8.5, 15))
    return (Rect(3, 6, 18, 15, fill=ink), Rect(1.5, 3.5, 21, 3, fill=ink), *windows)


def _castello(ink: str, hole: str) -> tuple[Shape, ...]:
    merlons = tuple(Rect(x, 3, 2, 4, fill=ink) for x in (2, 5, 17, 20))
    towers = (Rect(2, 6, 5, 15, fill=ink), Rect(17, 6, 5, 15, fill=ink))
    return (*merlons, *towers, Rect(6, 11, 12, 10, fill=ink), Rect(10, 15, 4, 6, 2, fill=hole))


def _villa(ink: str, hole: str) -> tuple[Shape, ...]:
    return (
        Rect(19.2, 13, 1.6, 8, fill=ink),
        Circle(20, 11, 3.2, fill=ink),
        Polygon(((1, 12), (9, 4.5), (17, 12)), fill=ink),
        Rect(3, 12, 12, 9, fill=ink),
        Rect(7.5, 15, 3.4, 6, fill=hole),
    )


def _gate(ink: str, hole: str) -> tuple[Shape, ...]:
    bars = tuple(Line(((x, 6), (x, 20)), stroke=ink, width=1.8) for x in (5, 9.7, 14.3, 19))
    return (*bars, *(Line(((4, y), (20, y)), stroke=ink, width=1.8) for y in (9, 17)))


def _book(ink: str, hole: str) -> tuple[Shape, ...]:
    left, right = ((11.4, 7), (4, 5), (4, 17), (11.4, 19.5)), ((12.6, 7), (20, 5), (20, 17), (12.6, 19.5))
    return (Polygon(left, fill=ink), Polygon(right, fill=ink))


def _cup(ink: str, hole: str) -> tuple[Shape, ...]:
    bowl = ((6, 5), (18, 5), (16.5, 11), (12, 13.5), (7.5, 11))
    return (Polygon(bowl, fill=ink), Rect(11, 13, 2, 5, fill=ink), Rect(8, 17.5, 8, 2.2, fill=ink))


def _crown(ink: str, hole: str) -> tuple[Shape, ...]:
    return (
        Polygon(((4, 18), (3, 7), (8, 12), (12, 5), (16, 12), (21, 7), (20, 18)), fill=ink),
        Line(((5.5, 16), (18.5, 16)), stroke=hole, width=1.2),
    )


def _flag(ink: str, hole: str) -> tuple[Shape, ...]:
    return (
        Line(((6, 4), (6, 20.5)), stroke=ink, width=2),
        Polygon(((7, 5), (20, 7), (15.5, 10), (20, 13), (7, 14)), fill=ink),
    )


def _coat_of_arms(ink: str, hole: str) -> tuple[Shape, ...]:
    return (
        Polygon(((5, 4), (19, 4), (19, 12), (12, 21), (5, 12)), fill=ink),
        Polygon(((12.6, 6), (17, 6), (17, 11.3), (12.6, 17.2)), fill=hole),
    )


_Figure = Callable[[str, str], tuple[Shape, ...]]
_BUILDINGS: Final[tuple[_Figure, ...]] = (_porta, _biblioteca, _cattedrale, _palazzo, _castello, _villa)
_OBJECTS: Final[tuple[_Figure, ...]] = (_gate, _book, _cup, _crown, _flag, _coat_of_arms)


def _group_of(kind: int) -> int:
    return int(kind >= CITY_TYPES)


@_remembered
def _tile(tile: int, x: float, y: float, size: float, marked: bool = False) -> Group:
    """A building tile: its type's figure on the ground of its group, and its cost."""
    kind = tile // LEVELS
    edge, width = (_ACTIVE, 3.0) if marked else ("#5d4a33", 1.2)
    cost = str(int(COST[tile]))
    ground = _GROUPS[_group_of(kind)]
    return Group(
        (
            Rect(1, 1, 38, 38, 4, fill=ground, stroke=edge, width=width),
            Group(_BUILDINGS[kind](_INK, ground), 2, 11, 1.05),
            Circle(29.5, 11, 8.5, fill=_PAPER, stroke="#5d4a33", width=1),
            Text(29.5, 11.2, cost, 13, "middle", True, fill=_INK),
        ),
        x,
        y,
        size / 40,
        TILE_NAMES[tile],
    )


@_remembered
def _brick(colour: int, x: float, y: float, text: str, size: float = 1.0) -> Group:
    """A brick with a word on it."""
    fill, edge, ink = _BRICKS[colour]
    return Group(
        (
            Rect(0, 0, 26, 17, 2.5, fill=fill, stroke=edge, width=1.2),
            Text(13, 8.8, text, 13, "middle", True, fill=ink),
        ),
        x,
        y,
        size,
        f"{text} {COLOUR_NAMES[colour]}",
    )


@_remembered
def _token(kind: int, x: float, y: float, size: float, faint: bool = False) -> Group:
    """An object."""
    ink, ground = (_STONE, _PAPER) if faint else (_INK, "#f4e3b2")
    return Group(
        (
            Circle(12, 12, 11.4, fill=ground, stroke=_STONE if faint else _EDGE, width=1),
            Group(_OBJECTS[kind](ink, ground), 3.4, 3.2, 0.72),
        ),
        x,
        y,
        size / 24,
        OBJECT_NAMES[kind],
    )


@_remembered
def _marker(seat: int, x: float, y: float, radius: float = 8.0) -> tuple[Shape, ...]:
    return (
        Circle(x, y, radius, fill=_SEATS[seat], stroke=_PAPER, width=1.2),
        Text(x, y + 0.3, str(seat), radius * 1.4, "middle", True, fill="#ffffff"),
    )


@_remembered
def _coins(x: float, y: float, text: str) -> tuple[Shape, ...]:
    return (
        Circle(x, y, 7.5, fill=_COIN, stroke="#8a6512", width=1.2),
        Text(x + 12, y, text, 14, bold=True, fill=_INK),
    )


# --- The wheel --------------------------------------------------------------------------------------------------


def _on_circle(degrees: float, radius: float) -> tuple[float, float]:
    x, y, _ = _WHEEL
    turn = math.radians(degrees)
    return x + radius * math.sin(turn), y - radius * math.cos(turn)


@_remembered
def _sector(segment: int, marked: bool) -> Polygon:
    x, y, radius = _WHEEL
    start = 60 * segment - 30
    rim = tuple(_on_circle(start + 3 * step, radius) for step in range(21))
    edge, width = (_ACTIVE, 4.0) if marked else (_EDGE, 1.6)
    return Polygon(((x, y), *rim), fill=_PAPER if segment % 2 else "#f1e9d6", stroke=edge, width=width)


@_remembered
def _slot(segment: int, colour: int, number: int) -> tuple[Shape | Group, ...]:
    """The bricks of a colour on a segment, and their price."""
    x, y = _on_circle(60.0 * segment, 101)
    left, top = x - 46 + 32 * (colour % 3), y - 33 + 34 * (colour // 3)
    cost = str(int(PRICE[segment, colour])) if PRICE[segment, colour] else "free"
    fill, edge = _PALE_BRICKS[colour]
    brick: Shape | Group = Rect(left + 8, top + 4, 11, 8, 1.5, fill=fill, stroke=edge)
    if number:
        brick = _brick(colour, left, top, str(number))
    ink = _INK if number else _EDGE
    return brick, Text(left + 13.5, top + 24, cost, 10, "middle", bool(number), fill=ink)


def _wheel(s: Any) -> list[Shape | Group]:
    """The six segments at their price positions; a brick shows how many there are, the number below its price."""
    chosen = s.segment
    shapes: list[Shape | Group] = [Circle(*_WHEEL[:2], _WHEEL[2] + 7, fill=_STONE, stroke=_EDGE, width=1.5)]
    order = [segment for segment in range(SEGMENTS) if segment != chosen]
    for segment in [*order, *([chosen] if chosen != NONE else [])]:
        shapes.append(_sector(segment, segment == chosen))
    for segment in range(SEGMENTS):
        for colour in range(COLOURS):
            shapes += _slot(segment, colour, s.wheel[segment][colour])
    x, y, _ = _WHEEL
    shapes.append(Circle(x, y, 37, fill=_STONE, stroke=_EDGE, width=1.5))
    for segment, name in enumerate(SEGMENT_NAMES):
        left, top = _on_circle(60 * segment, 26.5)
        shapes.append(Text(left, top, name, 12, "middle", True, fill=_INK))
    shapes.append(Text(x, y, str(s.wheel_total), 13, "middle", fill=_FAINT))
    bag = "the bag is empty" if s.bag_empty else "bricks in the bag"
    shapes.append(Text(_MARGIN, 420, bag, 13, fill=_FAINT))
    shapes.append(Text(_WHEEL[0] * 2 - _MARGIN, 420, f"{s.wheel_total} on the wheel", 13, "end", fill=_FAINT))
    return shapes


# --- On offer ---------------------------------------------------------------------------------------------------


def _tiles_of(bits: int) -> list[int]:
    return [tile for tile in range(TILES) if bits >> tile & 1]


def _offer(s: Any) -> list[Shape | Group]:
    """Display, pile and monuments."""
    tiles = _tiles_of(s.offer)
    display = [tile for tile in tiles if tile % LEVELS != MONUMENT_LEVEL]
    monuments = [tile for tile in tiles if tile % LEVELS == MONUMENT_LEVEL]
    shapes: list[Shape | Group] = [Text(_DISPLAY, 72, "Tiles", 14, bold=True, fill=_INK)]
    shapes.append(Text(_SIDE - 18, 72, f"{s.pile_size} in the pile", 13, "end", fill=_FAINT))
    for place in range(9):
        x, y = _DISPLAY + 81 * (place % 3), 84 + 81 * (place // 3)
        if place < len(display):
            shapes.append(_tile(display[place], x, y, 76, display[place] == s.tile))
        else:
            shapes.append(Rect(x + 2, y + 2, 72, 72, 6, stroke=_STONE, width=2))
    if s.monuments:
        shapes.append(Text(_DISPLAY, 341, "Monuments", 14, bold=True, fill=_INK))
        for place, tile in enumerate(monuments):
            shapes.append(_tile(tile, _DISPLAY + 40 * place, 352, 38, tile == s.tile))
        stock = amounts(s.improvements, CITY_NAMES)
        shapes.append(Text(_SIDE - 18, 341, f"{sum(stock.values())} improvements", 13, "end", fill=_FAINT))
    return shapes


def _reward(city: int, improved: bool) -> str:
    factor = int(MULTIPLIER[city]) + improved
    return counted(factor, "coin") if PAYS_COINS[city] else f"{factor} VP"


@_remembered
def _city_row(city: int, scorer: int, improvements: int) -> tuple[Shape, ...]:
    right, y = _WIDTH - _MARGIN, _TABLE + 4 + 25 * city
    fill, edge, ink = _BRICKS[city]
    words = f"{_reward(city, False)} a cost point, needs {int(NEEDED[city])}"
    shapes: list[Shape] = [
        Rect(_SIDE, y, right - _SIDE, 22, 3, fill=_PAPER, stroke=_STONE, width=1),
        Rect(_SIDE, y, 84, 22, 3, fill=fill, stroke=edge, width=1.2),
        Text(_SIDE + 42, y + 11.3, _TITLES[city], 13, "middle", True, fill=ink),
        Text(_SIDE + 94, y + 11.3, words, 12.5, fill=_INK),
    ]
    if improvements != NONE:
        shapes.append(Text(right - 40, y + 11.3, f"+1: {improvements}", 12.5, "end", fill=_FAINT))
    if scorer == NONE:
        return (*shapes, Circle(right - 18, y + 11, 7.5, stroke=_EDGE, width=1.2))
    return (*shapes, *_marker(scorer, right - 18, y + 11))


def _cities(s: Any) -> list[Shape]:
    """The game board's cities: what they pay, how many buildings a scoring needs, who scored them."""
    shapes: list[Shape] = []
    for city in range(CITIES):
        shapes += _city_row(city, s.city_scored[city], s.improvements[city] if s.monuments else NONE)
    return shapes


def _objects(s: Any) -> list[Shape | Group]:
    """The object display and the supply."""
    top = 226.0
    shapes: list[Shape | Group] = [Text(_SIDE, top, "Objects for 10 coins; in the supply", 13, bold=True, fill=_INK)]
    for kind in range(TYPES):
        x = _SIDE + 64 * kind
        for_sale = bool(s.for_sale >> kind & 1)
        shapes.append(_token(kind, x, top + 12, 34, not for_sale))
        shapes.append(Text(x + 38, top + 30, f"x{s.supply[kind]}", 13, fill=_INK if s.supply[kind] else _EDGE))
    return shapes


@_remembered
def _card(card: int, y: float, num_players: int) -> tuple[Shape, ...]:
    return (
        Rect(_SIDE, y, _WIDTH - _MARGIN - _SIDE, 27, 4, fill=_PAPER, stroke=_EDGE, width=1),
        Text(_SIDE + 8, y + 13.8, CARD_IDS[card], 13, bold=True, fill=_ACTIVE),
        Text(_SIDE + 36, y + 13.8, card_text(card, num_players), 12, fill=_INK),
    )


def _cards(s: Any) -> list[Shape | Group]:
    """The cards in force; a dot in a seat's colour for each seat that is seen to meet an objective."""
    top = 296.0
    shapes: list[Shape | Group] = []
    for deck in range(DECKS):
        y = top + 31 * deck
        shapes += _card(s.in_force[deck], y, s.num_players)
        for place, seat in enumerate(seat for seat, met in enumerate(s.met) if deck in met):
            shapes += _marker(seat, _WIDTH - _MARGIN - 12 - 15 * place, y + 13.5, 6.5)
    return shapes


# --- The boards of the seats ------------------------------------------------------------------------------------


def _seat_board(s: Any, seat: int, result: str) -> Group:
    width, height = _BOARD
    active = s.seat == seat
    edge, line = (_ACTIVE, 3.5) if active else (_EDGE, 1.5)
    shapes: list[Shape | Group] = [
        Rect(2, 2, width - 4, height - 4, 9, fill=_PAPER, stroke=edge, width=line),
        *_marker(seat, 22, 20, 11),
        Text(40, 20, f"seat {seat}" + (" (start)" if seat == 0 else ""), 16, bold=True, fill=_INK),
        Text(width - 14, 21, f"{s.vp[seat]} VP", 20, "end", True, fill=_INK),
    ]
    if active or result:
        shapes.append(Text(140, 20.5, result or "to act", 14, bold=True, fill=_ACTIVE))
    left = s.markers[seat]
    for number in range(MARKERS):
        fill = _SEATS[seat] if number < left else None
        shapes.append(Circle(width - 176 + 14 * number, 20, 5.5, fill=fill, stroke=_SEATS[seat], width=1.2))
    shapes += _holdings(s, seat) if s.shown[seat] else _screen(width)
    shapes += _places(seat, s.types_scored[seat], s.groups_scored[seat] if s.colour_scoring else NONE)
    for city in range(CITIES):
        improved = bool(s.improved[seat] >> city & 1)
        chosen = s.turn == seat and s.site == city
        shapes += _city_column(city, s.standing[seat][city], improved, chosen, s.replaced if chosen else NONE)
    return Group(tuple(shapes), title=f"board of seat {seat}")


def _holdings(s: Any, seat: int) -> list[Shape | Group]:
    """Coins, bricks and objects."""
    shapes: list[Shape | Group] = [*_coins(20, 51, str(s.coins[seat]))]
    for colour in range(COLOURS):
        number = s.bricks[seat][colour]
        x = 66 + 32 * colour
        if number:
            shapes.append(_brick(colour, x, 42.5, str(number)))
        else:
            shapes.append(Rect(x + 7, 47, 12, 8, 1.5, fill=_PALE_BRICKS[colour][0], stroke=_STONE))
    for kind in range(TYPES):
        number = s.objects[seat][kind]
        x = 268 + 35 * kind
        shapes.append(_token(kind, x, 40.5, 21, number == 0))
        if number:
            shapes.append(Text(x + 22, 51, str(number), 13, bold=True, fill=_INK))
    return shapes


def _screen(width: float) -> list[Shape | Group]:
    """A closed screen."""
    panels: list[Shape | Group] = [Rect(10, 38, width - 20, 26, 4, fill=_STONE, stroke=_EDGE, width=1)]
    panels += [Line(((x, 40), (x, 62)), stroke=_EDGE, width=1) for x in (width * 0.34, width * 0.66)]
    panels.append(Text(width / 2, 51.3, "behind the screen", 13, "middle", fill=_FAINT))
    return panels


@_remembered
def _places(seat: int, types: int, groups: int) -> tuple[Shape | Group, ...]:
    """The scoring places of the own board: types, and groups with the module (else NONE)."""
    shapes: list[Shape | Group] = []
    for kind in range(TYPES):
        x = 10 + 46 * kind
        scored = bool(types >> kind & 1)
        ground = (_GROUPS if scored else _PALE_GROUPS)[_group_of(kind)]
        shapes.append(Rect(x, 72, 42, 25, 4, fill=ground, stroke=_EDGE, width=1))
        shapes.append(Group(_BUILDINGS[kind](_INK, ground), x + 1, 73.5, 0.92, f"type {TYPE_NAMES[kind]}"))
        if scored:
            shapes += _marker(seat, x + 32, 84.5, 7)
        else:
            shapes.append(Circle(x + 32, 84.5, 6.5, fill=_PAPER, stroke=_EDGE, width=1))
    if groups != NONE:
        for group, name in enumerate(GROUP_NAMES):
            x = 296 + 90 * group
            shapes.append(Rect(x, 72, 84, 25, 4, fill=_GROUPS[group], stroke=_EDGE, width=1))
            shapes.append(Text(x + 8, 85, name, 12.5, bold=True, fill=_INK))
            if groups >> group & 1:
                shapes += _marker(seat, x + 72, 84.5, 7)
            else:
                shapes.append(Circle(x + 72, 84.5, 6.5, fill=_PAPER, stroke=_EDGE, width=1))
    return tuple(shapes)


@_remembered
def _city_column(city: int, built: int, improved: bool, chosen: bool, replaced: int) -> tuple[Shape | Group, ...]:
    """A city of a seat's board: what it pays there, and the buildings."""
    fill, edge, ink = _BRICKS[city]
    border, line = (_ACTIVE, 2.5) if chosen else (edge, 1.2)
    x, y = 8.0 + 78 * city, 105.0
    reward = _reward(city, improved) + (" *" if improved else "")
    tiles = _tiles_of(built)
    across = 2 if len(tiles) <= 4 else 3 if len(tiles) <= 9 else 4 if len(tiles) <= 16 else 6
    size = 74 / across
    return (
        Rect(x, y, 75, 99, 4, fill="#f3ecdb", stroke=_STONE, width=1),
        Rect(x, y, 75, 17, 4, fill=fill, stroke=border, width=line),
        Text(x + 37.5, y + 8.8, reward, 12, "middle", True, fill=ink),
        *(
            _tile(tile, x + 0.5 + size * (n % across), y + 20 + size * (n // across), size - 0.5, tile == replaced)
            for n, tile in enumerate(tiles)
        ),
    )


# --- Words ------------------------------------------------------------------------------------------------------


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items()) or "none"


def _names(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _prompt(s: Any) -> str:
    """What the game waits for, or how it ended."""
    if s.over != RUNNING:
        return _result(s)
    if s.seat == NOBODY:
        return f"seat {s.turn}'s turn goes on"
    tile = TILE_NAMES[s.tile] if s.tile != NONE else ""
    city = _TITLES[s.site] if s.site != NONE else ""
    tasks = {
        Phase.MAIN: "buys, builds or scores",
        Phase.SEGMENT: "chooses a segment to buy from",
        Phase.TAKE: f"takes bricks from {SEGMENT_NAMES[s.segment]}, {counted(s.taken, 'brick')} so far",
        Phase.SITE: f"chooses where to build {tile}",
        Phase.PAY: f"pays for {tile} in {city}, {counted(s.to_pay, 'brick')} to go",
        Phase.IMPROVE: "takes an improvement",
        Phase.OBJECT: "may buy an object",
        Phase.ANNOUNCE: "may announce the end",
    }
    return f"seat {s.seat} {tasks[Phase(s.phase)]}"


def _result(s: Any) -> str:
    winners = [seat for seat, place in enumerate(s.places) if place == 1]
    if len(winners) > 1:
        return f"seats {' and '.join(map(str, winners))} share the win with {max(s.points)} points"
    return f"seat {winners[0]} wins with {max(s.points)} points"


def _end(s: Any) -> list[str]:
    """Whether and why the end is near."""
    lines = []
    if s.over == OVER_CAP:
        after = counted(s.rounds, "round") if s.phase == Phase.OVER else counted(s.decisions, "decision")
        lines.append(f"stopped at the cap after {after}")
    if s.announcer != NONE:
        lines.append(f"seat {s.announcer} has announced the end")
    elif s.triggered:
        lines.append("the tiles are used up" if s.over else "the tiles are used up: the round is played to its end")
    return lines


def _news(s: Any) -> list[str]:
    """What was paid last, how the end has come near, and what happened by itself since the last decision."""
    paid = [f"last paid: {_listed(amounts(s.paid, COLOUR_NAMES))}"] if any(s.paid) else []
    return paid + _end(s) + [event_text(*row) for row in s.events[: min(s.num_events, MAX_EVENTS)]]


def _modules(s: Any) -> str:
    on = [name for name in ("no_turn", "cards", "monuments", "colour_scoring") if getattr(s, name)]
    return f" ({', '.join(name.replace('_', ' ') for name in on)})" if on else ""


def _seat_words(s: Any, seat: int) -> list[str]:
    head = f"seat {seat}: {s.vp[seat]} VP, {counted(s.markers[seat], 'marker')} left"
    scored = members(s.types_scored[seat], TYPE_NAMES) + members(s.groups_scored[seat], GROUP_NAMES)
    lines = [f"{head}, scored: {_names(scored)}"]
    if s.shown[seat]:
        bricks = _listed(amounts(s.bricks[seat], COLOUR_NAMES))
        objects = _listed(amounts(s.objects[seat], OBJECT_NAMES))
        lines.append(f"seat {seat} holds {counted(s.coins[seat], 'coin')}; bricks: {bricks}; objects: {objects}")
        met = [DECK_NAMES[deck] for deck in s.met[seat]]
        lines.append(f"seat {seat} meets the objectives: {_names(met)}")
    if s.improved[seat]:
        lines.append(f"seat {seat} has improved {_names(members(s.improved[seat], _TITLES))}")
    standing = zip(_TITLES, s.standing[seat], strict=True)
    built = "; ".join(f"{city}: {_names(members(tiles, TILE_NAMES))}" for city, tiles in standing if tiles)
    lines.append(f"seat {seat} has built {built or 'nothing'}")
    return lines


def _caption(s: Any, viewer: int) -> tuple[str, ...]:
    offer = members(s.offer, TILE_NAMES)
    monuments = [name for name in offer if name.endswith("8")]
    lines = [
        f"on the wheel {counted(s.wheel_total, 'brick')}; the bag is {'' if s.bag_empty else 'not '}empty",
        f"display: {_names(name for name in offer if name not in monuments)}",
        f"pile: {counted(s.pile_size, 'tile')}: {_names(members(s.in_pile, TILE_NAMES))}",
        f"objects for sale: {_names(members(s.for_sale, OBJECT_NAMES))}",
        f"object supply: {_listed(amounts(s.supply, OBJECT_NAMES))}",
    ]
    if viewer == ALL:
        order = [TILE_NAMES[tile] for tile in reversed(s.pile[: s.pile_size])]
        lines += [f"in the bag: {_listed(amounts(s.bag, COLOUR_NAMES))}", f"from the top: {_names(order)}"]
    if s.monuments:
        lines.append(f"monuments: {_names(monuments)}")
        lines.append(f"improvements: {_listed(amounts(s.improvements, _TITLES))}")
    scored = [f"{city} by seat {seat}" for city, seat in zip(_TITLES, s.city_scored, strict=True) if seat >= 0]
    lines.append(f"cities scored: {_names(scored)}")
    for deck in range(DECKS):
        card = s.in_force[deck]
        lines.append(f"{DECK_NAMES[deck]} card {CARD_IDS[card]}: {card_text(card, s.num_players)}")
    for seat in range(s.num_players):
        lines += _seat_words(s, seat)
    return (*lines, *_news(s))


def _grid(s: Any) -> tuple[tuple[Cell, ...], ...]:
    """The wheel: bricks at their price, a dot for none."""
    rows = [(Cell("segment ", _FAINT), *(Cell(f"{name:>9}", _FAINT) for name in COLOUR_NAMES))]
    for segment, name in enumerate(SEGMENT_NAMES):
        chosen = segment == s.segment
        cells = [Cell(f"{name + (' <' if chosen else ''):<8}", _ACTIVE if chosen else _INK, bold=chosen)]
        for colour in range(COLOURS):
            number, price = s.wheel[segment][colour], int(PRICE[segment, colour])
            text = f"{number} at {price}" if price else f"{number} free"
            cells.append(Cell(f"{text if number else '.':>9}", None if number else _EDGE, bold=number > 0))
        rows.append(tuple(cells))
    return tuple(rows)


# --- All of it --------------------------------------------------------------------------------------------------


def _wrapped(parts: Sequence[str], letters: int, most: int) -> list[str]:
    """Parts in lines of so many letters; what does not fit into the lines is left out."""
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + len(part) + 3 > letters:
            if len(lines) == most:
                lines[-1] += " ..."
                break
            lines.append("")
        lines[-1] += (" · " if lines[-1] else "") + part
    return lines


def _table(record: np.record, viewer: int) -> Any:
    """The record's fields as plain numbers and lists, which are read many times as fast; and what follows from them.

    shown: whether the viewer sees a seat's holdings; met: the objectives that it sees a seat meet; points, places.
    """
    seats = range(int(record["num_players"]))
    shown = [shows_holdings(record, viewer, seat) for seat in seats]
    met = [[deck for deck in range(DECKS - 1) if shown[seat] and objective_met(record, seat, deck)] for seat in seats]
    points, places = np.zeros((2, len(seats)), dtype=np.int32)
    if record["over"] != RUNNING:
        score(record, points, places)
    fields = {name: record[name].tolist() for name in record.dtype.names or ()}
    return SimpleNamespace(**fields, shown=shown, met=met, points=points.tolist(), places=places.tolist())


def scene(s: np.record, viewer: int) -> Scene:
    """The table for a viewer, to whom closed screens hide what is behind them."""
    return _scene(_table(s, viewer), viewer)


def _scene(s: Any, viewer: int) -> Scene:
    players = s.num_players
    rows = (players + 1) // 2
    bottom = _BOARDS + rows * (_BOARD[1] + _GAP)
    prompt, over = _prompt(s), s.over != RUNNING
    title = f"The Palaces of Carrara{_modules(s)}, round {s.rounds + (not over)}: {prompt}"
    shapes: list[Shape | Group] = [
        Text(_MARGIN, 28, "The Palaces of Carrara", 24, bold=True, fill=_INK),
        Text(_DISPLAY, 29, prompt[:1].upper() + prompt[1:], 17, bold=over, fill=_ACTIVE if over else _INK),
        Text(_WIDTH - _MARGIN, 29, f"round {s.rounds + (not over)}", 15, "end", fill=_FAINT),
        Line(((_MARGIN, 50), (_WIDTH - _MARGIN, 50)), stroke=_EDGE, width=1.2),
        *_wheel(s),
        *_offer(s),
        *_cities(s),
        *_objects(s),
        *_cards(s),
    ]
    for seat in range(players):
        result = f"{s.points[seat]} points, place {s.places[seat]}" if over else ""
        board = _seat_board(s, seat, result)
        x, y = _MARGIN + (seat % 2) * (_BOARD[0] + _GAP), _BOARDS + (seat // 2) * (_BOARD[1] + _GAP)
        shapes.append(Group((board,), x, y))
    for number, line in enumerate(_wrapped(_news(s), _NEWS_LETTERS, _NEWS_LINES)):
        shapes.append(Text(_MARGIN, bottom + 8 + 17 * number, line, 12, fill=_FAINT))
    height = bottom + _NEWS
    return Scene(_WIDTH, height, _BACKGROUND, tuple(shapes), title, _grid(s), _caption(s, viewer))
