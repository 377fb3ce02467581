"""Hansa Teutonica as a picture: the map of the side in use, and a card for each player's desk. Decides no rules.

Nothing that is drawn is hidden from anybody: the faces of markers that lie face down are never shown (R15.2), so all
viewers see the same. The unit is a thousandth of the picture's width.
"""

from __future__ import annotations

from functools import lru_cache
from math import hypot
from typing import Any, Final

from tabletop_envs.core.header import MAX_EVENTS, NOBODY, OVER_CAP, RUNNING
from tabletop_envs.games.hansa_teutonica.notation import (
    end_reason,
    event_text,
    marker_text,
    piece_text,
    route_spaces,
    score_of,
)
from tabletop_envs.games.hansa_teutonica.state import Phase
from tabletop_envs.games.hansa_teutonica.tables import (
    ABILITY_KIND,
    ABILITY_NAMES,
    BOARD_ASPECT,
    CITIES,
    CITY_ABILITY,
    CITY_KEYS,
    CITY_XY,
    COELLEN_POINTS,
    COELLEN_XY,
    COLOURS,
    EAST_WEST_POINTS,
    END_CITIES,
    EVERYTHING,
    KIND_NAMES,
    KINDS,
    LAST_LEVEL,
    MARKERS,
    MERCHANT,
    PRIVILEGE,
    PRIVILEGE_NAMES,
    PROVINCE_NAMES,
    PROVINCE_ROUTES,
    PROVINCES,
    ROUTE_CITIES,
    ROUTE_KEYS,
    SIDE_ROUTES,
    SPACE_ROUTE,
    SPACE_XY,
    TAVERNS,
    TRACK,
    TRADER,
    city_offices,
    members,
    side_of,
)
from tabletop_envs.render.scene import Cell, Circle, Group, Line, Point, Polygon, Rect, Scene, Shape, Text

# --- Sizes and colours ------------------------------------------------------------------------------------------

_WIDTH: Final = 1000.0
_TOP: Final = 62.0  # of the map, below the heading
_MAP_HEIGHT: Final = _WIDTH / BOARD_ASPECT
_CARDS: Final = _TOP + _MAP_HEIGHT + 8.0
_CARD_HEIGHT: Final = 226.0
_HEIGHT: Final = _CARDS + _CARD_HEIGHT + 8.0
_GAP: Final = 8.0
_KEPT: Final = 8192  # parts of pictures that are kept to be drawn again
_MAX_CARD: Final = 240.0
_SPACE: Final = 19.0  # side of a space
_OFFICE: Final = 21.0
_EXTRA: Final = 15.0

_BACKGROUND: Final = "#f3ead7"
_LAND: Final = "#e7d9b4"
_COAST: Final = "#b7a77c"
_SEA: Final = "#a9c6cf"
_RIVER: Final = "#c5d3c9"
_ROAD: Final = "#a98e5f"
_EMPTY: Final = "#f6efdc"
_EDGE: Final = "#6f5b3a"
_PLATE: Final = "#faf5e8"
_INK: Final = "#33291c"
_FAINT: Final = "#7a6a50"
_ACTIVE: Final = "#c2461f"
_CARD: Final = "#fbf7ec"
_GOLD: Final = "#e3b23c"
_PAPER: Final = "#fffdf7"
_NEUTRAL: Final = "#8f8574"

_SEATS: Final = ("#c0322b", "#2f64ad", "#2e8b4f", "#e0a81e", "#7d4a9e")
_PRIVILEGES: Final = ("#fffdf7", "#f2a65a", "#ee9fb6", "#4a4441")
_NAMES: Final = tuple(name.capitalize() for name in COLOURS)
_ABILITY_LABELS: Final = ("Keys", "Actions", "Privilege", "Book", "Money")
_MARKER_LABELS: Final = ("EX", "SW", "+3", "+4", "UP", "R3")
_MARKER_LETTERS: Final = "xs34ur"

_PROMPTS: Final = {
    Phase.MAIN: "acts",
    Phase.PAY: "pays for displacing",
    Phase.DISP_PLACE: "puts the displaced resource",
    Phase.DISP_EXTRA: "may add a resource",
    Phase.DISP_BOARD: "puts the lifted resource",
    Phase.MOVE_DEST: "moves a resource",
    Phase.MOVE_NEXT: "may move another resource",
    Phase.REWARD: "chooses a reward",
    Phase.REMOVE3: "removes a resource",
    Phase.MOVE3_PICK: "picks a resource to move away",
    Phase.MOVE3_DEST: "moves a resource away",
    Phase.MARKER_PLACE: "places a marker",
    Phase.PAWN_START: "places the pawn",
    Phase.PAWN_BEFORE: "may move the pawn first",
    Phase.PAWN_AFTER: "may move the pawn last",
}


def _at(xy: Point) -> Point:
    return _WIDTH * xy[0], _TOP + _MAP_HEIGHT * xy[1]


# --- Figures ----------------------------------------------------------------------------------------------------


def _resource(x: float, y: float, owner: int, kind: int, size: float, title: str = "") -> Shape:
    """A trader as a square, a merchant as a disc."""
    fill = _SEATS[owner]
    if kind == TRADER:
        return Rect(x - size / 2, y - size / 2, size, size, 2, fill=fill, stroke=_INK, width=1.4, title=title)
    return Circle(x, y, size / 2 + 1, fill=fill, stroke=_INK, width=1.4, title=title)


def _piece(x: float, y: float, piece: int, size: float, title: str = "") -> tuple[Shape, ...]:
    """A resource with the number of its seat, so that colours are not needed."""
    owner, kind = divmod(piece - 1, KINDS)
    return (
        _resource(x, y, owner, kind, size, title),
        Text(x, y + 0.5, str(owner), size * 0.72, "middle", True, fill=_PAPER),
    )


def _marker(x: float, y: float, marker: int, title: str = "") -> tuple[Shape, ...]:
    return (
        Rect(x - 13, y - 9, 26, 18, 8, fill=_GOLD, stroke=_EDGE, width=1.6, title=title or marker_text(marker)),
        Text(x, y + 0.5, _MARKER_LABELS[marker], 12, "middle", True, fill=_INK),
    )


def _place_of_office(x: float, y: float, office: str) -> list[Shape]:
    """An empty printed office: its shape, its colour, its coin."""
    fill = _PRIVILEGES["WOPB".index(office[1])]
    half = _OFFICE / 2
    shape: Shape = Rect(x - half, y - half, _OFFICE, _OFFICE, 2, fill=fill, stroke=_EDGE, width=1.4)
    if office[0] == "c":
        shape = Circle(x, y, half, fill=fill, stroke=_EDGE, width=1.4)
    coin = [Circle(x, y, 5.5, fill=_GOLD, stroke=_EDGE, width=1), Text(x, y + 0.5, "1", 8.5, "middle", True, fill=_INK)]
    return [shape, *(coin if office.endswith("+") else ())]


# --- The map ----------------------------------------------------------------------------------------------------

_COASTLINE: Final = (
    (0.0, 0.125), (0.04, 0.135), (0.1, 0.145), (0.15, 0.12), (0.23, 0.125), (0.27, 0.145), (0.33, 0.115), (0.41, 0.118),
    (0.45, 0.085), (0.5, 0.09), (0.52, 0.06), (0.57, 0.05), (0.63, 0.075), (0.66, 0.05), (0.72, 0.04), (0.78, 0.05),
    (0.83, 0.04), (0.88, 0.055), (0.94, 0.05), (1.0, 0.065),
)  # fmt: skip


_RIVERS: Final = (
    ((0.245, 0.13), (0.25, 0.2), (0.225, 0.3), (0.24, 0.4), (0.205, 0.5), (0.24, 0.65)),
    ((0.425, 0.115), (0.44, 0.24), (0.5, 0.34), (0.45, 0.45), (0.42, 0.56), (0.5, 0.68), (0.51, 0.82), (0.5, 0.995)),
    ((0.545, 0.055), (0.66, 0.11), (0.7, 0.15), (0.8, 0.24), (0.86, 0.31), (0.97, 0.36), (0.96, 0.52), (0.97, 0.68),
     (0.94, 0.8), (0.96, 0.995)),
    ((0.005, 0.5), (0.05, 0.58), (0.08, 0.65), (0.06, 0.76), (0.115, 0.84), (0.12, 0.9), (0.19, 0.995)),
)  # fmt: skip


def _ground() -> tuple[Shape, ...]:
    coast = tuple(map(_at, _COASTLINE))
    return (
        Rect(0, _TOP, _WIDTH, _MAP_HEIGHT, fill=_LAND),
        *(Line(tuple(map(_at, river)), stroke=_RIVER, width=5) for river in _RIVERS),
        Polygon((_at((0, 0)), *coast, _at((1, 0))), fill=_SEA),
        Line(coast, stroke=_COAST, width=3),
    )


_GROUND: Final = _ground()


def _middle(route: int) -> Point:
    """The middle of a route."""
    spaces = [_at(SPACE_XY[space]) for space in route_spaces(route)]
    a, b = spaces[(len(spaces) - 1) // 2], spaces[len(spaces) // 2]
    return (a[0] + b[0]) / 2, (a[1] + b[1]) / 2


# [route] -> on which side of the way from A to B its marker lies, where the map has room for it
_LEFT_OF_WAY: Final = frozenset((0, 1, 3, 5, 7, 9, 12, 15, 17, 19, 23, 24, 25, 27, 28, 31, 32))


def _beside(route: int, distance: float = 22) -> Point:
    """Where the marker of a route lies: beside its middle."""
    x, y = _middle(route)
    (ax, ay), (bx, by) = (_at(CITY_XY[city]) for city in ROUTE_CITIES[route].tolist())
    length = hypot(bx - ax, by - ay)
    side = 1.0 if route in _LEFT_OF_WAY else -1.0
    return x + side * distance * (by - ay) / length, y - side * distance * (bx - ax) / length


@lru_cache(_KEPT)
def _road(route: int, marked: bool) -> tuple[Shape, ...]:
    """The way of a route from city to city, broad and coloured where something is under way; its tavern."""
    a, b = (_at(CITY_XY[city]) for city in ROUTE_CITIES[route].tolist())
    way = (a, *(_at(SPACE_XY[space]) for space in route_spaces(route)), b)
    shapes: list[Shape] = [Line(way, stroke=_ACTIVE, width=11, opacity=0.55)] if marked else []
    shapes.append(Line(way, stroke=_ROAD, width=5))
    if route in TAVERNS.tolist():
        x, y = _beside(route)
        shapes.append(Circle(x, y, 9, fill=_LAND, stroke=_GOLD, width=2, title="tavern"))
    return tuple(shapes)


def _spaces(s: Any, route: int) -> tuple[Shape | Group, ...]:
    places = route_spaces(route)
    pieces = tuple(s["spaces"][places.start : places.stop].tolist())
    chosen = int(s["space"]) - places.start
    return _drawn_spaces(
        route, pieces, int(s["route_marker"][route]) - 1, chosen if chosen in range(len(places)) else -1
    )


@lru_cache(_KEPT)
def _drawn_spaces(route: int, pieces: tuple[int, ...], marker: int, chosen: int) -> tuple[Shape | Group, ...]:
    """The spaces of a route and its marker."""
    shapes: list[Shape | Group] = []
    for number, piece in enumerate(pieces):
        x, y = _at(SPACE_XY[route_spaces(route)[number]])
        half = _SPACE / 2
        ring, width = (_ACTIVE, 3.4) if number == chosen else (_EDGE, 1.4)
        place = Rect(x - half, y - half, _SPACE, _SPACE, 5, fill=_EMPTY, stroke=ring, width=width)
        title = f"{ROUTE_KEYS[route]} {number + 1}: {_resource_text(piece)}"
        shapes.append(Group((place, *(_piece(x, y, piece, 14.5) if piece else ())), title=title))
    if marker >= 0:
        shapes += _marker(*_beside(route), marker, f"{ROUTE_KEYS[route]}: marker {marker_text(marker)}")
    return tuple(shapes)


def _resource_text(piece: int) -> str:
    if piece == 0:
        return "free"
    owner, kind = divmod(piece - 1, KINDS)
    return f"{KIND_NAMES[kind]} of {_NAMES[owner]}"


def _city(s: Any, city: int) -> Group:
    offices, extras = (tuple(piece for piece in s[name][city].tolist() if piece) for name in ("offices", "extras"))
    return _drawn_city(side_of(int(s["num_players"])), city, offices, extras, int(s["controller"][city]) - 1)


@lru_cache(_KEPT)
def _drawn_city(side: int, city: int, pieces: tuple[int, ...], extras: tuple[int, ...], controller: int) -> Group:
    """A city's plate: extra offices to the left, printed offices, name and ability; edged by who controls it."""
    x, y = _at(CITY_XY[city])
    offices = city_offices(side, city)
    width = len(offices) * (_OFFICE + 2) + 6
    left, half = x - width / 2, _OFFICE / 2
    edge, thick = (_SEATS[controller], 3.2) if controller >= 0 else (_EDGE, 1.4)
    shapes: list[Shape | Group] = []
    if extras:
        room = len(extras) * (_EXTRA + 1) + 4
        shapes.append(Rect(left - room, y - 10, room + 4, 20, 4, fill=_PLATE, stroke=_EDGE, width=1.2))
    shapes.append(Rect(left, y - half - 4, width, _OFFICE + 8, 6, fill=_PLATE, stroke=edge, width=thick))
    for number, piece in enumerate(extras):
        shapes += _piece(left - 2 - (_EXTRA + 1) * number - _EXTRA / 2, y, piece, _EXTRA - 3)
    for number, office in enumerate(offices):
        place = left + 4 + (_OFFICE + 2) * number + half
        shapes += _place_of_office(place, y, office)
        if number < len(pieces):
            shapes += _piece(place, y, pieces[number], 14.5)
    shapes.append(Text(x, y + half + 12.5, CITY_KEYS[city], 12, "middle", True, fill=_INK))
    ability = int(CITY_ABILITY[city])
    if ability >= 0:
        shapes.append(Text(x, y - half - 12, ABILITY_NAMES[ability], 11.5, "middle", True, fill=_ACTIVE))
    held = [_resource_text(piece) for piece in pieces] + [f"extra {_resource_text(piece)}" for piece in extras]
    ruled = f", controlled by {_NAMES[controller]}" if controller >= 0 else ""
    return Group(tuple(shapes), title=f"{CITY_KEYS[city]}: {', '.join(held) or 'no office'}{ruled}")


def _tables(s: Any) -> list[Shape | Group]:
    """Coellen's circles, the east-west table, the track of completed cities, the pile."""
    shapes: list[Shape | Group] = []
    for circle, points in enumerate(COELLEN_POINTS.tolist()):
        x, y = _at(COELLEN_XY[circle])
        owner = int(s["circles"][circle]) - 1
        ink = _PAPER if circle == len(COELLEN_POINTS) - 1 else _INK
        shapes.append(Circle(x, y, 13, fill=_PRIVILEGES[circle], stroke=_EDGE, width=1.6))
        if owner >= 0:
            shapes += _piece(x, y, 1 + KINDS * owner + MERCHANT, 16, f"Coellen {points}: {_NAMES[owner]}")
        else:
            shapes.append(Text(x, y + 0.5, str(points), 13, "middle", True, fill=ink))
    left, top = _at((0.152, 0.458))
    ranks = s["east_west_rank"].tolist()
    shapes.append(Text(left, top, "East-West", 11, fill=_FAINT))
    for rank in range(1, len(EAST_WEST_POINTS)):
        x = left + 8 + 22 * (rank - 1)
        shapes.append(Rect(x - 9, top + 8, 18, 18, 3, fill=_PLATE, stroke=_EDGE, width=1.2))
        if rank in ranks:
            shapes += _piece(x, top + 17, 1 + KINDS * ranks.index(rank), 13)
        else:
            shapes.append(Text(x, top + 17.5, str(int(EAST_WEST_POINTS[rank])), 12, "middle", True, fill=_INK))
    return [*shapes, *_completed(s)]


def _completed(s: Any) -> list[Shape]:
    left, y = _at((0.03, 0.045))
    shapes: list[Shape] = [Text(left - 14, y - 20, "Completed cities", 11, fill=_INK)]
    for number in range(END_CITIES + 1):
        here = number == min(int(s["completed"]), END_CITIES)
        fill = _ACTIVE if here else _PLATE
        shapes.append(Circle(left + 22 * number, y, 9, fill=fill, stroke=_EDGE, width=1.2))
        ink = _PAPER if here else _FAINT
        shapes.append(Text(left + 22 * number, y + 0.5, str(number), 10, "middle", here, fill=ink))
    x, y = _at((0.345, 0.032))
    shapes.append(Rect(x, y - 12, 104, 24, 10, fill=_GOLD, stroke=_EDGE, width=1.6))
    shapes.append(
        Text(x + 52, y + 0.5, f"pile: {_count(int(s['pile_size']), 'marker')}", 11.5, "middle", True, fill=_INK)
    )
    return shapes


def _pawn(s: Any) -> list[Shape | Group]:
    """The pawn in its province (R16.6)."""
    if s["pawn"] < 0:
        return []
    x, y = _PROVINCE_XY[int(s["pawn"])]
    body = (
        Polygon(((-9, 16), (-4, -2), (4, -2), (9, 16)), fill=_NEUTRAL, stroke=_INK, width=1.6),
        Circle(0, -6, 7, fill=_NEUTRAL, stroke=_INK, width=1.6),
    )
    return [Group(body, x, y, title=f"pawn in {PROVINCE_NAMES[int(s['pawn'])]}")]


def _province(province: int) -> Point:
    middles = [_middle(route) for route in members(int(PROVINCE_ROUTES[province]))]
    return sum(x for x, _ in middles) / len(middles), sum(y for _, y in middles) / len(middles)


_PROVINCE_XY: Final = tuple(_province(province) for province in range(PROVINCES))


def _map(s: Any) -> list[Shape | Group]:
    shapes: list[Shape | Group] = [*_GROUND]
    present = members(int(SIDE_ROUTES[side_of(int(s["num_players"]))]))
    in_province = members(int(PROVINCE_ROUTES[int(s["pawn"])])) if s["pawn"] >= 0 else []
    for route in present:
        shapes += _road(route, bool(route == s["route"] or route in in_province))
    for route in present:
        shapes += _spaces(s, route)
    for city in range(CITIES):
        shapes.append(_city(s, city))
    shapes += _tables(s) + _pawn(s)
    if s["phase"] == Phase.DISP_PLACE:
        # the displaced resource lies on no space
        x, y = _beside(int(s["route"]), 34)
        shapes.append(Circle(x, y, 15, fill=_PAPER, stroke=_ACTIVE, width=3))
        shapes += _piece(x, y, int(s["held"]), 15, "the displaced resource")
    return [*shapes, Rect(0.9, _TOP, _WIDTH - 1.8, _MAP_HEIGHT, stroke=_EDGE, width=1.8)]


# --- The players ------------------------------------------------------------------------------------------------


def _level_text(ability: int, level: int) -> str:
    value = int(TRACK[ability, level])
    if ability == PRIVILEGE:
        return PRIVILEGE_NAMES[value][0].upper()
    return "C" if value == EVERYTHING else str(value)


@lru_cache(_KEPT)
def _tracks(seat: int, levels: tuple[int, ...], x: float, y: float) -> tuple[Shape, ...]:
    """The five tracks of a desk: open spaces show their value, closed ones the resource on them (R1.3)."""
    shapes: list[Shape] = []
    for ability, level in enumerate(levels):
        row = y + 19 * ability
        shapes.append(Text(x, row, _ABILITY_LABELS[ability], 11.5, fill=_INK))
        for space in range(int(LAST_LEVEL[ability]) + 1):
            here = x + 69 + 19 * space
            fill = _GOLD if space == level else _EMPTY
            shapes.append(Rect(here - 8, row - 8, 16, 16, 3, fill=fill, stroke=_EDGE, width=1))
            if space <= level:
                text = _level_text(ability, space)
                shapes.append(Text(here, row + 0.5, text, 11, "middle", space == level, fill=_INK))
            else:
                shapes.append(_resource(here, row, seat, int(ABILITY_KIND[ability]), 10))
    return tuple(shapes)


def _pool(s: Any, seat: int, name: str, x: float, y: float) -> list[Shape]:
    traders, merchants = s[name][seat].tolist()
    return [
        Text(x, y, name.capitalize(), 11.5, fill=_INK),
        _resource(x + 58, y, seat, TRADER, 11),
        Text(x + 68, y + 0.5, str(traders), 13, bold=True, fill=_INK),
        _resource(x + 99, y, seat, MERCHANT, 11),
        Text(x + 109, y + 0.5, str(merchants), 13, bold=True, fill=_INK),
    ]


def _held_markers(s: Any, seat: int, x: float, y: float, width: float) -> list[Shape]:
    """Unused markers one by one, how many are used, and the plate."""
    shapes: list[Shape] = []
    held = [marker for marker in range(MARKERS) for _ in range(int(s["markers"][seat, marker]))]
    used = int(s["used"][seat].sum())
    step = min(29.0, (width - 30) / max(1, len(held) - 1)) if held else 29.0
    for number, marker in enumerate(held):
        shapes += _marker(x + 13 + step * number, y, marker)
    if not held:
        shapes.append(Text(x, y, "no marker in hand", 11.5, fill=_FAINT))
    words = [f"used: {used}"]
    up = [_MARKER_LABELS[marker - 1] for marker in s["plate"][seat].tolist() if marker]
    down = int(s["drawn"]) if seat == s["turn"] else 0
    if up or down:
        words.append(
            "plate: " + ", ".join(up + (["face down"] if down == 1 else [f"{down} face down"] if down else []))
        )
    shapes.append(Text(x, y + 18, "   ".join(words), 11.5, fill=_INK))
    return shapes


def _card(s: Any, seat: int, x: float, width: float) -> list[Shape | Group]:
    """A player's desk and score; the one who is asked has a coloured edge."""
    active = int(s["seat"]) == seat
    edge, thick = (_ACTIVE, 4.0) if active else (_EDGE, 1.4)
    parts = score_of(s, seat)
    y = _CARDS
    shapes: list[Shape | Group] = [
        Rect(x, y, width, _CARD_HEIGHT, 8, fill=_CARD, stroke=edge, width=thick),
        Rect(x + 8, y + 9, 20, 20, 3, fill=_SEATS[seat], stroke=_INK, width=1.4),
        Text(x + 18, y + 19.5, str(seat), 14, "middle", True, fill=_PAPER),
        Text(x + 35, y + 19, _NAMES[seat], 16, bold=True, fill=_INK),
        Text(x + width - 10, y + 19, f"{parts['track']} / {parts['total']}", 16, "end", True, fill=_INK),
        Line(((x + 8, y + 35), (x + width - 8, y + 35)), stroke=_COAST, width=1.2),
    ]
    shapes.append(Text(x + width - 10, y + 45, "prestige / total", 10.5, "end", fill=_FAINT))
    if seat == s["turn"] and s["over"] == RUNNING:
        left = _count(int(s["actions_left"]), "action") + " left"
        shapes.append(Text(x + 10, y + 45, left, 11, bold=True, fill=_ACTIVE))
    shapes += _pool(s, seat, "supply", x + 10, y + 61)
    shapes += _pool(s, seat, "stock", x + 10, y + 79)
    shapes += _tracks(seat, tuple(s["levels"][seat].tolist()), x + 10, y + 100)
    return [*shapes, *_held_markers(s, seat, x + 10, y + 197, width - 20)]


def _cards(s: Any) -> list[Shape | Group]:
    players = int(s["num_players"])
    width = min(_MAX_CARD, (_WIDTH - _GAP * (players + 1)) / players)
    start = (_WIDTH - players * width - (players - 1) * _GAP) / 2
    return [shape for seat in range(players) for shape in _card(s, seat, start + (width + _GAP) * seat, width)]


# --- The heading ------------------------------------------------------------------------------------------------


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _under_way(s: Any) -> str:
    """What is under way, behind the prompt."""
    words = []
    if s["route"] >= 0:
        words.append(f"on {ROUTE_KEYS[int(s['route'])]}")
    if s["held"]:
        origin = f" from {ROUTE_KEYS[int(SPACE_ROUTE[int(s['space'])])]}" if s["space"] >= 0 else ""
        words.append(f"{_resource_text(int(s['held']))}{origin}")
    for name, thing in (("extras_left", "extra"), ("moves_left", "move"), ("removals_left", "removal")):
        if s[name]:
            words.append(f"{_count(int(s[name]), thing)} left")
    if s["taken"]:
        words.append(f"taken: {marker_text(int(s['taken']) - 1)}")
    if s["phase"] == Phase.MARKER_PLACE:
        words.append(marker_text(int(s["plate"][int(s["turn"]), 0]) - 1))
    return f" ({', '.join(words)})" if words else ""


def _prompt(s: Any) -> str:
    """What the game waits for, or how it ended."""
    if s["over"] != RUNNING:
        totals = [score_of(s, seat)["total"] for seat in range(int(s["num_players"]))]
        best = [seat for seat, total in enumerate(totals) if total == max(totals)]
        names = " and ".join(_NAMES[seat] for seat in best)
        return f"{names} {'wins' if len(best) == 1 else 'win'} with {_count(max(totals), 'point')} ({end_reason(s)})"
    if s["seat"] == NOBODY:
        return "nobody is asked"
    return f"{_NAMES[int(s['seat'])]} {_PROMPTS[Phase(int(s['phase']))]}{_under_way(s)}"


def _news(s: Any) -> list[str]:
    kept = min(int(s["num_events"]), MAX_EVENTS)
    news = list(dict.fromkeys(event_text(*row) for row in s["events"][:kept].tolist()))
    if s["over"] == OVER_CAP and s["phase"] != Phase.OVER:
        news.append(f"stopped at the cap of {int(s['max_decisions'])} decisions")
    return news


_LINE: Final = 150  # characters of news that the heading has room for


def _heading(s: Any, news: list[str]) -> list[Shape]:
    told = "; ".join(news)
    if len(told) > _LINE:
        told = told[: _LINE - 2].rsplit(" ", 1)[0] + " …"
    ink = _INK if s["over"] == RUNNING else _ACTIVE
    return [
        Text(14, 22, "Hansa Teutonica", 22, bold=True, fill=_INK),
        Text(212, 23, _prompt(s), 15, bold=True, fill=ink),
        Text(_WIDTH - 14, 23, _round(s), 13, "end", fill=_FAINT),
        Text(14, 47, told, 12.5, fill=_FAINT),
    ]


def _round(s: Any) -> str:
    number = int(s["turns"]) // int(s["num_players"]) + 1
    return f"round {min(number, int(s['max_rounds']))}, decision {int(s['decisions'])}"


# --- The terminal -----------------------------------------------------------------------------------------------

_COLUMN: Final = 40


def _letters(piece: int) -> Cell:
    if piece == 0:
        return Cell("--", _FAINT)
    return Cell(piece_text(piece), _SEATS[(piece - 1) // KINDS], bold=True)


def _padded(cells: list[Cell]) -> list[Cell]:
    return [*cells, Cell(" " * (_COLUMN - 1 - sum(len(cell.text) for cell in cells)))]


def _route_cells(s: Any, route: int) -> list[Cell]:
    cells = [Cell(f"{ROUTE_KEYS[route]:<21}", bold=route == s["route"])]
    for space in route_spaces(route):
        cells += [Cell(">" if space == s["space"] else " "), _letters(int(s["spaces"][space]))]
    if s["route_marker"][route]:
        cells.append(Cell(f" *{_MARKER_LETTERS[int(s['route_marker'][route]) - 1]}", _ACTIVE, bold=True))
    return _padded(cells)


def _city_cells(s: Any, city: int) -> list[Cell]:
    controller = int(s["controller"][city]) - 1
    mark = Cell(f"={controller}", _SEATS[controller], bold=True) if controller >= 0 else Cell("  ")
    cells = [Cell(f"{CITY_KEYS[city]:<11}"), mark]
    for piece in reversed(s["extras"][city].tolist()):
        if piece:
            cells += [Cell("+"), _letters(piece)]
    for number, office in enumerate(city_offices(side_of(int(s["num_players"])), city)):
        piece = int(s["offices"][city, number])
        cells += [Cell(" "), _letters(piece) if piece else Cell(office[:2], _FAINT)]
    return _padded(cells)


def _grid(s: Any) -> tuple[tuple[Cell, ...], ...]:
    """Routes, then cities, in two columns each."""
    present = members(int(SIDE_ROUTES[side_of(int(s["num_players"]))]))
    rows: list[tuple[Cell, ...]] = []
    for cells in ([_route_cells(s, route) for route in present], [_city_cells(s, city) for city in range(CITIES)]):
        half = (len(cells) + 1) // 2
        for number in range(half):
            right = cells[half + number] if half + number < len(cells) else []
            rows.append((*cells[number], Cell(" "), *right))
        rows.append((Cell(""),))
    return tuple(rows[:-1])


def _player_text(s: Any, seat: int) -> str:
    parts = score_of(s, seat)
    pools = (f"{name} {traders}T {merchants}M" for name, (traders, merchants) in _pools(s, seat))
    levels = (
        f"{name} {_level_text(number, int(s['levels'][seat, number]))}" for number, name in enumerate(ABILITY_NAMES)
    )
    held = [marker_text(marker) for marker in range(MARKERS) for _ in range(int(s["markers"][seat, marker]))]
    up = [marker_text(marker - 1) for marker in s["plate"][seat].tolist() if marker]
    down = int(s["drawn"]) if seat == s["turn"] else 0
    rank = int(s["east_west_rank"][seat])
    facts = [
        f"{_NAMES[seat]} ({seat}): {parts['track']} prestige, {parts['total']} points in all",
        ", ".join(pools),
        ", ".join(levels),
        f"network {int(s['network'][seat])}",
        f"markers: {', '.join(held) or 'none'}, {int(s['used'][seat].sum())} used",
    ]
    if up or down:
        facts.append(f"plate: {', '.join([*up, *(['face down'] * down)])}")
    if rank:
        facts.append(f"east-west link for {int(EAST_WEST_POINTS[rank])}")
    return "; ".join(facts)


def _pools(s: Any, seat: int) -> list[tuple[str, list[int]]]:
    return [(name, s[name][seat].tolist()) for name in ("supply", "stock")]


def _caption(s: Any, news: list[str]) -> tuple[str, ...]:
    turn = int(s["turn"])
    circles = [
        f"{points} {_NAMES[owner - 1] if owner else 'free'}"
        for points, owner in zip(COELLEN_POINTS.tolist(), s["circles"].tolist(), strict=True)
    ]
    facts = [_player_text(s, seat) for seat in range(int(s["num_players"]))]
    facts.append(f"{_NAMES[turn]}'s turn, {_count(int(s['actions_left']), 'action')} left; {_round(s)}")
    facts.append(
        f"Coellen: {', '.join(circles)}; completed cities: {int(s['completed'])}; "
        f"pile: {_count(int(s['pile_size']), 'marker')}"
    )
    if s["pawn"] >= 0:
        facts.append(f"Pawn in {PROVINCE_NAMES[int(s['pawn'])]}")
    keys = ", ".join(f"*{letter} {marker_text(marker)}" for marker, letter in enumerate(_MARKER_LETTERS))
    pieces = "0T, 1M: trader of 0, merchant of 1; sW, cO: free office, square white, circle orange"
    legend = f"{pieces}; =0: controlled; +0T: extra office, left of the others; {keys}"
    return (*facts, *news, legend)


def scene(s: Any, viewer: int) -> Scene:
    """The position, the same for every viewer: nothing hidden is drawn (R15)."""
    news = _news(s)
    shapes = (*_heading(s, news), *_map(s), *_cards(s))
    title = f"Hansa Teutonica, {_round(s)}: {_prompt(s)}"
    return Scene(_WIDTH, _HEIGHT, _BACKGROUND, shapes, title, _grid(s), _caption(s, news))
