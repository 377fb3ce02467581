"""London as a picture: the map, the Card Display, every Building Display, the hands that the viewer may know.

Decides nothing of the rules. The unit is a pixel of a picture that is 1,000 pixels high.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np

from tabletop_envs.core.header import MAX_EVENTS, NOBODY, OVER_CAP, RUNNING
from tabletop_envs.games.london.notation import BOROUGH_NAMES, CARD_NAMES, describe, event_text
from tabletop_envs.games.london.rules import score
from tabletop_envs.games.london.state import Phase
from tabletop_envs.games.london.tables import (
    BORDERS,
    BOROUGHS,
    BRIDGES,
    CARDS,
    COLOUR,
    STONE_TYPES,
    THAMES,
    UNDERGROUNDS,
)
from tabletop_envs.render.scene import Cell, Circle, Group, Line, Point, Rect, Scene, Shape, Text

# --- sizes and colours ------------------------------------------------------------------------------------------

_WIDTH: Final = 1400.0
_HEIGHT: Final = 1000.0
_EDGE: Final = 20.0
_MAP: Final = (_EDGE, 62.0, 780.0, 474.0)  # left, top, width, height
_DISPLAY: Final = 572.0  # upper edge of the Card Display
_CARD: Final = (122.0, 62.0)  # width and height of a card
_GAP: Final = 6.0
_HAND: Final = 728.0  # upper edge of the hand
_PANEL: Final = 820.0  # left edge of the players
_PANEL_WIDTH: Final = _WIDTH - _PANEL - _EDGE
_PANELS_TOP: Final = 62.0
_PANELS_HEIGHT: Final = _HEIGHT - _PANELS_TOP - _EDGE
_NOTES: Final = 916.0  # upper edge of what is said below the hand
_HEAD: Final = 46.0  # of a player's panel
_FOOT: Final = 40.0
_BOROUGH: Final = 19.0  # radius

_BACKGROUND: Final = "#ece4d4"
_PAPER: Final = "#faf6ec"
_LAND: Final = "#dfe3c6"
_WATER: Final = "#8fb4c9"
_BRIDGE: Final = "#7a5b3c"
_ROAD: Final = "#c3c8a4"
_INK: Final = "#2f2a22"
_FAINT: Final = "#7d7362"
_LINE: Final = "#cbbfa8"
_ACTIVE: Final = "#b4472b"
_PLACED_MARK: Final = "#2f7d4f"
_DOWN: Final = "#6f675b"
_TUBE: Final = "#c8322d"
_TUBE_BAR: Final = "#23408e"
_RED_RING: Final = "#b4472b"
# [colour of a card] -> ground, edge
_GROUNDS: Final = (("#d9b98c", "#8a6434"), ("#a9c3de", "#486d94"), ("#e2b3bd", "#97586a"), ("#c9c7c1", "#75736d"))
_SEAT_COLOURS: Final = ("#a8382c", "#2f5d8c", "#3f7f4f", "#b98a1d")

_PROMPTS: Final = {
    Phase.DRAW: "takes a card",
    Phase.REORDER: "puts seen cards back on the deck",
    Phase.ACTION: "chooses an action",
    Phase.PLAY_NEXT: "plays on or stops",
    Phase.PAY_CARD: "chooses the payment card",
    Phase.TARGET: "chooses where to place",
    Phase.ACTIVATE: "activates a card",
    Phase.ACT_PAY: "chooses the card that activating costs",
    Phase.EXPEND: "spends cards",
    Phase.COFFEE_PICK: "takes a card from the display",
    Phase.UNDERGROUND: "places an Underground counter",
    Phase.OPPONENT: "chooses an opponent",
    Phase.WHITEHALL_TARGET: "chooses the card to repeat",
    Phase.FLIP: "flips the card or a Hospital",
    Phase.EXCHANGE_GIVE: "gives a card to the display",
    Phase.EXCHANGE_TAKE: "takes a card in exchange",
    Phase.END_TURN: "may use the Stock Exchange",
    Phase.DISCARD: "puts a card over the limit on the display",
}

# where the name of a borough stands, if not below: its anchor and its distance
_LABELS: Final = {
    "Paddington": ("end", -24.0, -3.0),
    "Kensington": ("start", 23.0, 6.0),
    "St. Marylebone": ("end", -24.0, -10.0),
    "Fulham & Chelsea": ("end", -23.0, -4.0),
    "City": ("start", 24.0, 0.0),
    "Westminster": ("middle", 8.0, -29.0),
    "Southwark & Bermondsey": ("start", 23.0, 8.0),
    "Deptford": ("middle", 0.0, -28.0),
    "Greenwich": ("middle", -10.0, 29.0),
    "Battersea": ("start", 23.0, 8.0),
}
_NUMBER: Final = {name: number for number, name in enumerate(CARD_NAMES)}
_SHORT: Final = {name: name.split(",")[0].split(" & Ber")[0].split(" & Sto")[0] for name in BOROUGH_NAMES}


def _lines(name: str, letters: int) -> list[str]:
    """A name in one line, or in two if it is longer than so many letters."""
    words = name.split(" ")
    if len(name) <= letters or len(words) == 1:
        return [name]
    cut = min(range(1, len(words)), key=lambda n: max(len(" ".join(words[:n])), len(" ".join(words[n:]))))
    return [" ".join(words[:cut]), " ".join(words[cut:])]


def _counted(names: Iterable[str]) -> str:
    """Names with their numbers: `Paupers x 2, Wren`."""
    counts = Counter(names)
    return ", ".join(name if count == 1 else f"{name} x {count}" for name, count in counts.items())


def _some(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


# --- cards ------------------------------------------------------------------------------------------------------


def _icons(name: str) -> str:
    """What activating the card gives, in few letters."""
    card = CARDS[_NUMBER[name]]
    parts = []
    if card.payment:
        parts.append(f"pay {card.payment}:")
    if card.money:
        parts.append(f"+{card.money}")
    if card.counters:
        parts.append(f"{card.counters} VP")
    if card.poverty:
        parts.append(f"{card.poverty:+d} poor")
    if card.run or card.standing:
        parts.append("rule")
    return " ".join(parts)


@lru_cache(maxsize=4096)
def _card(name: str, *, face_up: bool = True, below: int = 0, money: int = 0, mark: str = "") -> tuple[Shape, ...]:
    """A card from (0, 0) to the size of a card: name, cost, VP, what activating gives; `below` cards it covers."""
    card, (width, height) = CARDS[_NUMBER[name]], _CARD
    ground, edge = _GROUNDS[int(COLOUR[_NUMBER[name]])]
    ink = _INK if face_up else _PAPER
    shapes: list[Shape] = [
        Rect(4.0 * step, 3.0 * step, width - 8, height - 8, 5, fill=_PAPER, stroke=edge, width=1)
        for step in range(min(below, 2), 0, -1)
    ]
    edge_width = 3.0 if mark else 1.4
    stroke = mark or edge
    ground = ground if face_up else _DOWN
    shapes.append(Rect(0, 0, width - 8, height - 8, 5, fill=ground, stroke=stroke, width=edge_width))
    title = name.split(" (")[0]
    lines = _lines(title, 15)
    for number, line in enumerate(lines):
        shapes.append(Text((width - 8) / 2, 11 + 12 * number, line, 11.5, "middle", True, fill=ink))
    if face_up and _NUMBER[name] < STONE_TYPES:
        shapes.append(Text((width - 8) / 2, 35.5, _icons(name), 9, "middle", fill=ink))
        shapes.append(Text(5, height - 15, f"cost {card.cost}", 9, fill=ink))
    elif not face_up:
        shapes.append(Text(5, height - 15, "down", 9, fill=ink))
    if _NUMBER[name] < STONE_TYPES:
        shapes.append(Text(width - 13, height - 15, f"{card.points} VP", 9, "end", True, fill=ink))
    if below:
        shapes.append(Text((width - 8) / 2, height - 15, f"on {below}", 9, "middle", fill=ink))
    if money:
        shapes.append(Circle(width - 14, 6, 9, fill="#e8c547", stroke=_INK, width=1))
        shapes.append(Text(width - 14, 6, str(money), 10, "middle", True, fill=_INK))
    return tuple(shapes)


def _spread(cards: Sequence[Group], left: float, top: float, width: float, height: float) -> Group:
    """Cards row by row in a box, as large as it allows, at most in their own size."""
    step, row = _CARD[0], _CARD[1] - 2
    columns = max(1, int(width // step))
    while -(-len(cards) // columns) * row * min(1.0, width / (columns * step)) > height and columns < len(cards):
        columns += 1
    rows = max(1, -(-len(cards) // columns))
    scale = min(1.0, width / (columns * step), height / (rows * row))
    placed = [
        Group(card.shapes, step * (n % columns), row * (n // columns), title=card.title) for n, card in enumerate(cards)
    ]
    return Group(tuple(placed), left, top, scale)


# --- the map ----------------------------------------------------------------------------------------------------


def _at(x: float, y: float) -> Point:
    left, top, width, height = _MAP
    return left + width * x, top + height * y


def _plan() -> tuple[Shape, ...]:
    """The land, the river and its bridges."""
    left, top, width, height = _MAP
    centres = [_at(borough.x, borough.y) for borough in BOROUGHS]
    shapes: list[Shape] = [
        Rect(left, top, width, height, 10, fill=_LAND, stroke=_LINE, width=2),
        Line(tuple(_at(min(max(x, 0.012), 0.988), y) for x, y in THAMES), stroke=_WATER, width=17),
    ]
    shapes += [Line((centres[one], centres[other]), stroke=_BRIDGE, width=6) for one, other in BRIDGES]
    return tuple(shapes)


def _roads() -> tuple[Shape, ...]:
    centres = [_at(borough.x, borough.y) for borough in BOROUGHS]
    return tuple(Line((centres[one], centres[other]), stroke=_ROAD, width=2.5) for one, other in BORDERS)


_GROUND: Final = (*_plan()[:1], *_roads(), *_plan()[1:])


@cache
def _borough(place: int, owner: int | None, tube: bool) -> Group:
    """A borough with price, cards and VP; in its owner's colour; with its Underground counter."""
    borough = BOROUGHS[place]
    x, y = _at(borough.x, borough.y)
    fill = _PAPER if owner is None else _SEAT_COLOURS[owner]
    ink = _INK if owner is None else "#ffffff"
    ring = _RED_RING if borough.red else _FAINT
    shapes: list[Shape] = [
        Circle(0, 0, _BOROUGH, fill=fill, stroke=ring, width=3 if borough.red else 1.6),
        Text(0, -7, str(borough.price), 13, "middle", True, fill=ink),
        Text(0, 7, f"{borough.cards}c {borough.points}v", 9.5, "middle", fill=ink),
    ]
    if tube:
        shapes.append(Circle(15, -15, 7.5, fill=_PAPER, stroke=_TUBE, width=4))
        shapes.append(Rect(5, -17, 20, 4.4, fill=_TUBE_BAR))
    anchor, dx, dy = _LABELS.get(borough.name, ("middle", 0.0, 29.0))
    shapes.append(Text(dx, dy, _SHORT[borough.name], 11, anchor, fill=_INK))
    held = "nobody's" if owner is None else f"of seat {owner}"
    return Group(tuple(shapes), x, y, title=f"{borough.name}, {held}{', Underground' if tube else ''}")


def _owners(facts: dict[str, Any]) -> dict[str, int]:
    return {name: seat for seat, told in enumerate(facts["seats"]) for name in told["boroughs"]}


def _map(facts: dict[str, Any]) -> list[Shape | Group]:
    owners = _owners(facts)
    shapes: list[Shape | Group] = [*_GROUND]
    for place, name in enumerate(BOROUGH_NAMES):
        shapes.append(_borough(place, owners.get(name), name in facts["underground"]))
    left, top, _, height = _MAP
    free = UNDERGROUNDS - len(facts["underground"])
    words = f"in a borough: price, cards drawn (c), VP (v); Underground counters left: {free}"
    shapes.append(Text(left + 12, top + height - 12, words, 11, fill=_FAINT))
    return shapes


# --- Card Display and hand --------------------------------------------------------------------------------------


def _display(facts: dict[str, Any]) -> list[Shape | Group]:
    shapes: list[Shape | Group] = [Text(_EDGE, _DISPLAY - 16, "Card Display", 15, bold=True, fill=_INK)]
    for row, names in enumerate(facts["display"]):
        for column, name in enumerate(names):
            x, y = _EDGE + _CARD[0] * column, _DISPLAY + (_CARD[1] + 2) * row
            if name is None:
                empty = Rect(0, 0, _CARD[0] - 8, _CARD[1] - 8, 5, stroke=_LINE, width=1.4)
                shapes.append(Group((empty,), x, y, title=f"space {row + 1},{column + 1}, empty"))
            else:
                shapes.append(Group(_card(name), x, y, title=f"space {row + 1},{column + 1}: {name}"))
    x = _EDGE + _CARD[0] * 5 + 8
    out = sum(Counter(facts["discard"]).values())
    shapes += [
        Rect(x, _DISPLAY, 150, 56, 5, fill=_DOWN, stroke=_INK, width=1.4),
        Text(x + 75, _DISPLAY + 20, f"deck {facts['deck_size']}", 16, "middle", True, fill=_PAPER),
        Text(x + 75, _DISPLAY + 40, _letters(facts["deck_size"]), 11, "middle", fill=_PAPER),
        Text(x, _DISPLAY + 78, f"out of the game: {_some(out, 'card')}", 12, fill=_INK),
    ]
    if facts["num_seen"]:
        who = f"seat {facts['reader']} knows the top {_some(facts['num_seen'], 'card')}"
        shapes.append(Text(x, _DISPLAY + 98, who, 11, fill=_INK))
        for number, name in enumerate(facts["seen"] or []):
            shapes.append(Text(x, _DISPLAY + 113 + 13 * number, f"{number + 1}: {name}", 11, fill=_INK))
    return shapes


def _letters(cards: int) -> str:
    return f"A {max(0, cards - 85)}, B {min(50, max(0, cards - 35))}, C {min(35, cards)}"


def _hand(facts: dict[str, Any], viewer: int) -> list[Shape | Group]:
    """The hand of the viewing seat; for all viewers that of the seat in turn, as far as it may be known."""
    seat = viewer if viewer >= 0 else facts["turn"]
    told = facts["seats"][seat]
    names = told["hand"]
    title = f"hand of seat {seat}: {_some(told['hand_size'], 'card')}"
    if names is None:
        known = _counted(told["openly_taken"])
        title += f", openly taken: {known}" if known else ""
        backs = Rect(0, 0, _CARD[0] - 8, _CARD[1] - 8, 5, fill=_DOWN, stroke=_INK, width=1.4)
        cards = [Group((backs,), title="a card in hand")] * told["hand_size"]
    else:
        cards = [Group(_card(name), title=f"in hand: {name}") for name in names]
    text = title if len(title) < 110 else f"{title[:107]}..."
    return [
        Text(_EDGE, _HAND - 14, text, 14, bold=True, fill=_INK),
        _spread(cards, _EDGE, _HAND + 2, _MAP[2], _NOTES - _HAND - 12),
    ]


def _wrapped(text: str, letters: int, lines: int) -> list[str]:
    """A text in at most so many lines; what is more is left out."""
    parts = [""]
    for word in text.split(" "):
        if len(parts[-1]) + len(word) > letters:
            parts.append("")
        parts[-1] += f"{word} "
    parts = [part.rstrip() for part in parts]
    return parts if len(parts) <= lines else [*parts[: lines - 1], f"{parts[lines - 1]} ..."]


def _notes(facts: dict[str, Any], news: list[str]) -> list[Shape | Group]:
    """What is out of the game, what happened by itself and in this turn, and what the marks mean."""
    news = [*news, f"in this turn: {_turn_text(facts)}"] if _turn_text(facts) else news
    lines = _wrapped("out of the game: " + (_counted(facts["discard"]) or "nothing"), 128, 3)
    if news:
        lines += _wrapped("; ".join(news), 128, 2)
    shapes: list[Shape | Group] = [
        Text(_EDGE, _NOTES + 14 * number, line, 10.5, fill=_FAINT) for number, line in enumerate(lines)
    ]
    y = _HEIGHT - 12
    for x, mark, words in ((_EDGE, _PLACED_MARK, "placed in this turn"), (190.0, _ACTIVE, "activated in this run")):
        shapes.append(Rect(x, y - 6, 18, 11, 3, fill=_PAPER, stroke=mark, width=2.6))
        shapes.append(Text(x + 26, y, words, 10.5, fill=_FAINT))
    on_card = "on a card: cost, what activating gives (rule: its own, R9), VP, cards it covers"
    shapes.append(Text(370, y, on_card, 10.5, fill=_FAINT))
    return shapes


# --- players ----------------------------------------------------------------------------------------------------


def _stack(told: dict[str, Any]) -> Group:
    name, below = told["cards"][-1], len(told["cards"]) - 1
    mark = _ACTIVE if told["activated_this_run"] else _PLACED_MARK if told["placed_this_turn"] else ""
    words = [name, "face up" if told["face_up"] else "face down"]
    if below:
        words.append("on " + ", ".join(reversed(told["cards"][:-1])))
    if told["money"]:
        words.append(f"{_some(told['money'], 'pound')} on it")
    card = _card(name, face_up=told["face_up"], below=below, money=told["money"], mark=mark)
    return Group(card, title=", ".join(words))


def _panel(facts: dict[str, Any], s: Any, seat: int, points: int, top: float, height: float) -> list[Shape | Group]:
    told = facts["seats"][seat]
    active = facts["turn"] == seat and s["over"] == RUNNING
    edge, width = (_ACTIVE, 3.5) if active else (_LINE, 1.5)
    x = _PANEL + 14
    figures = (
        ("pounds", told["money"]),
        ("loans", told["loans"]),
        ("poverty", told["poverty"]),
        ("VP counters", told["vp_counters"]),
        ("boroughs", len(told["boroughs"])),
        ("hand", told["hand_size"]),
    )
    shapes: list[Shape | Group] = [
        Rect(_PANEL, top, _PANEL_WIDTH, height, 8, fill=_PAPER, stroke=edge, width=width),
        Circle(x + 8, top + 22, 9, fill=_SEAT_COLOURS[seat], stroke=_INK, width=1.4),
        Text(x + 24, top + 22, f"seat {seat}", 16, bold=True, fill=_INK),
        Text(_PANEL + _PANEL_WIDTH - 12, top + 22, f"{points} VP", 18, "end", True, fill=_INK),
    ]
    place = x + 92
    for word, number in figures:
        shapes.append(Text(place, top + 15, str(number), 15, bold=True, fill=_INK))
        shapes.append(Text(place, top + 31, word, 10.5, fill=_FAINT))
        place += 60 if len(word) < 9 else 74
    stacks = [_stack(stack) for stack in facts["stacks"] if stack["seat"] == seat]
    shapes.append(_spread(stacks, x, top + _HEAD, _PANEL_WIDTH - 26, height - _HEAD - _FOOT))
    for number, line in enumerate(_wrapped(_hand_text(told), 100, 2)):
        shapes.append(Text(x, top + height - _FOOT + 12 + 14 * number, line, 10.5, fill=_INK))
    return shapes


def _hand_text(told: dict[str, Any]) -> str:
    """The hand in words, as far as it is told."""
    if told["hand"] is not None:
        text = "hand: " + (_counted(told["hand"]) or "empty")
    else:
        text = f"hand: {_some(told['hand_size'], 'card')}"
        if told["openly_taken"]:
            text += f", openly taken: {_counted(told['openly_taken'])}"
    return text + ("; has activated Public Houses" if told["pub_activated"] else "")


# --- words ------------------------------------------------------------------------------------------------------


def _standing(s: Any) -> tuple[list[int], list[int]]:
    points, places = np.zeros((2, int(s["num_players"])), dtype=np.int32)
    score(s, points, places)
    return points.tolist(), places.tolist()


def _prompt(facts: dict[str, Any], s: Any) -> str:
    """What the game waits for, or how it ended."""
    if s["over"] != RUNNING:
        points, places = _standing(s)
        first = [f"seat {seat}" for seat, place in enumerate(places) if place == 1]
        cut = " (stopped at a cap)" if s["over"] == OVER_CAP else ""
        return f"{' and '.join(first)} first with {max(points)} VP{cut}"
    if s["seat"] == NOBODY:
        return f"turn of seat {facts['turn']}, nobody is asked"
    card = f", {facts['card']} in progress" if facts["card"] else ""
    due = f" ({facts['due']} due)" if facts["phase"] == "draw" else ""
    return f"seat {int(s['seat'])} {_PROMPTS[Phase(int(s['phase']))]}{due}{card}"


def _head(facts: dict[str, Any], s: Any) -> list[Shape | Group]:
    ink = _INK if s["over"] == RUNNING else _ACTIVE
    turn = f"turn {facts['turns'] + 1}" if s["over"] == RUNNING else f"{facts['turns']} turns"
    left = f"{turn}, decision {int(s['decisions'])}"
    left += f", {_some(facts['turns_left'], 'turn')} left" if facts["turns_left"] else ""
    return [
        Text(_EDGE, 30, "London", 30, bold=True, fill=_INK),
        Text(140, 32, _prompt(facts, s), 18, fill=ink, bold=True),
        Text(_WIDTH - _EDGE, 32, left, 15, "end", fill=_FAINT),
    ]


def _cell(text: str, width: int, **colours: Any) -> Cell:
    return Cell(f"{text:<{width}.{width}}", **colours)


def _grid(facts: dict[str, Any]) -> tuple[tuple[Cell, ...], ...]:
    """The boroughs: name, price, cards, VP, owner, Underground; two columns."""
    owners = _owners(facts)
    half = len(BOROUGHS) // 2
    rows = [tuple(_cell(f"{'borough':<19} price c vp of", 39, colour=_FAINT) for _ in range(2))]
    for number in range(half):
        cells = []
        for place in (number, number + half):
            borough = BOROUGHS[place]
            owner = owners.get(borough.name)
            held = "-" if owner is None else f"seat {owner}"
            tube = " U" if borough.name in facts["underground"] else ""
            figures = f"{borough.price:>2} {borough.cards:>2} {borough.points:>2}"
            cells.append(_cell(f"{_SHORT[borough.name]:<20}{figures} ", 29, bold=borough.red))
            cells.append(_cell(f"{held}{tube}", 10, colour=None if owner is None else _SEAT_COLOURS[owner]))
        rows.append(tuple(cells))
    return tuple(rows)


def _caption(facts: dict[str, Any], s: Any, points: list[int]) -> list[str]:
    lines = [f"{_prompt(facts, s)}; {facts['turns']} turns completed; started by seat {facts['start']}"]
    if _turn_text(facts):
        lines.append(f"in this turn: {_turn_text(facts)}")
    for row, names in enumerate(facts["display"]):
        lines.append(f"display row {row + 1}: " + ", ".join(name or "-" for name in names))
    deck = f"deck {facts['deck_size']} ({_letters(facts['deck_size'])}), out of the game: "
    lines.append(deck + (_counted(facts["discard"]) or "nothing"))
    if facts["turns_left"]:
        lines.append(f"the last deck card is taken: {_some(facts['turns_left'], 'turn')} to play with this one")
    if facts["num_seen"]:
        top = f": {', '.join(facts['seen'])}" if facts["seen"] else ""
        lines.append(f"seat {facts['reader']} has seen the top {_some(facts['num_seen'], 'card')} of the deck{top}")
    for seat, told in enumerate(facts["seats"]):
        lines.append(
            f"seat {seat}: {_some(told['money'], 'pound')}, {_some(told['loans'], 'loan')}, {told['poverty']} poverty, "
            f"{_some(told['vp_counters'], 'VP counter')}, {_some(len(told['boroughs']), 'borough')}, "
            f"{points[seat]} VP if the game ended now"
        )
        lines.append(f"  {_hand_text(told)}")
        stacks = [_stack_text(stack) for stack in facts["stacks"] if stack["seat"] == seat]
        lines.append("  stacks: " + ("; ".join(stacks) or "none"))
    return lines


def _turn_text(facts: dict[str, Any]) -> str:
    """What else of the turn matters to what may still be done."""
    parts = []
    if facts["free_plays"]:
        parts.append(f"{_some(facts['free_plays'], 'free play')} by Wren")
    if facts["loans_taken"]:
        parts.append(f"{_some(facts['loans_taken'], 'voluntary loan')} taken")
    if facts["exchanged"]:
        parts.append("Stock Exchange used")
    if facts["pub_run"]:
        parts.append("Public Houses spare the hand in this run")
    if facts["tubes"]:
        parts.append(f"{_some(facts['tubes'], 'Underground counter')} to place")
    if facts["expended"]:
        parts.append(f"{_some(facts['expended'], 'card')} spent so far")
    return ", ".join(parts)


def _stack_text(told: dict[str, Any]) -> str:
    text = told["cards"][-1] if told["face_up"] else f"({told['cards'][-1]})"
    if len(told["cards"]) > 1:
        text += f" on {', '.join(reversed(told['cards'][:-1]))}"
    text += f" with {_some(told['money'], 'pound')}" if told["money"] else ""
    return text + ("*" if told["activated_this_run"] else "+" if told["placed_this_turn"] else "")


def scene(s: Any, viewer: int) -> Scene:
    """The whole table for a viewer; hands and seen cards only of whom the viewer may know them."""
    facts = describe(s, viewer)
    points, _ = _standing(s)
    players = int(s["num_players"])
    height = (_PANELS_HEIGHT - 8 * (players - 1)) / players
    news = [event_text(*row) for row in s["events"].tolist()[: min(int(s["num_events"]), MAX_EVENTS)]]
    shapes = [*_head(facts, s), *_map(facts), *_display(facts), *_hand(facts, viewer), *_notes(facts, news)]
    for seat in range(players):
        shapes += _panel(facts, s, seat, points[seat], _PANELS_TOP + (height + 8) * seat, height)
    caption = [*_caption(facts, s, points), *news]
    title = f"London: {Phase(int(s['phase'])).name.lower().replace('_', ' ')}"
    return Scene(_WIDTH, _HEIGHT, _BACKGROUND, tuple(shapes), title, _grid(facts), tuple(caption))
