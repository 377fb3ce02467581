"""Toy as a picture: the heap, and each seat's stones and cards, face up for a viewer who may see them."""

from __future__ import annotations

from typing import Any, Final

from tabletop_envs.core.game import ALL
from tabletop_envs.core.header import MAX_EVENTS
from tabletop_envs.render.scene import Cell, Circle, Group, Rect, Scene, Shape, Text
from toy_game.notation import event_text
from toy_game.state import Phase
from toy_game.tables import CARD_NAMES, VALUE

WIDTH: Final = 480.0
ROW: Final = 80.0
CARD: Final = 40.0  # the room of a card
ROOM: Final = 6  # cards of a seat that fit into its row; more lie over each other
PAPER: Final = "#e9efe4"
CARD_FACE: Final = "#fffdf5"
CARD_BACK: Final = "#7c8f72"
INK: Final = "#24301f"
MARK: Final = "#b5652b"


def _cards(s: Any, seat: int, viewer: int) -> list[str]:
    """The seat's cards, `?` for each that the viewer may not see."""
    if viewer not in (ALL, seat):
        return ["?"] * int(s.sizes[seat])
    hand = [kind for kind, count in enumerate(s.hands[seat].tolist()) for _ in range(count)]
    if s.chosen[seat] >= 0:
        hand.append(int(s.chosen[seat]))
    return [str(int(VALUE[kind])) for kind in hand]


def _seat(s: Any, seat: int, cards: list[str]) -> Group:
    edge = MARK if s.seat == seat else CARD_BACK
    step = CARD * min(1.0, ROOM / max(len(cards), 1))
    shapes: list[Shape] = [
        Rect(4, 4, WIDTH - 8, ROW - 8, 8, stroke=edge, width=3 if s.seat == seat else 1),
        Text(16, ROW / 2, f"seat {seat}", 20, bold=True, fill=INK),
        Text(WIDTH - 20, ROW / 2, f"{int(s.taken[seat])} stones", 18, "end", fill=INK),
    ]
    for number, card in enumerate(cards):
        face = CARD_BACK if card == "?" else CARD_FACE
        shapes.append(Rect(110 + step * number, 16, CARD - 8, ROW - 32, 4, fill=face, stroke=INK))
        shapes.append(Text(126 + step * number, ROW / 2, card, 20, "middle", fill=INK))
    return Group(tuple(shapes), 0, ROW * (seat + 1), title=f"seat {seat}")


def scene(s: Any, viewer: int) -> Scene:
    """Cards that the viewer may not see lie face down; that a seat has played is public, what is not."""
    players = int(s.num_players)
    deck = f", in the deck {s.deck.tolist()}" if viewer == ALL else ""
    played = [f"seat {seat} has played" for seat in range(players) if s.committed[seat] > 0]
    shown = ", ".join(f"{count} x {name}" for name, count in zip(CARD_NAMES, s.discard.tolist(), strict=True))
    caption = [
        f"heap {int(s.stones)}, deck {int(s.deck_size)}{deck}, started by seat {int(s.starter)}",
        f"shown so far: {shown}",
        *played,
        *(event_text(*event) for event in s.events[: min(int(s.num_events), MAX_EVENTS)].tolist()),
    ]
    shapes: list[Shape | Group] = [
        Circle(40, ROW / 2, 24, fill=INK, title="heap"),
        Text(40, ROW / 2, str(int(s.stones)), 22, "middle", True, fill=CARD_FACE),
        Text(WIDTH - 20, ROW / 2, f"deck {int(s.deck_size)}", 18, "end", fill=INK),
    ]
    rows = []
    for seat in range(players):
        cards = _cards(s, seat, viewer)
        shapes.append(_seat(s, seat, cards))
        head = Cell(f"seat {seat} ", MARK if s.seat == seat else None, bold=bool(s.seat == seat))
        rows.append((head, Cell("".join(cards), INK, CARD_FACE), Cell(f"  {int(s.taken[seat])} stones")))
    title = f"Toy: {Phase(int(s.phase)).name.lower()}"
    return Scene(WIDTH, ROW * (players + 1), PAPER, tuple(shapes), title, tuple(rows), tuple(caption))
