"""London in words: actions, events and positions as text and as JSON facts. Decides nothing of the rules.

Cards and boroughs are called by their names in `tables.py`. A space of the Card Display is written `row,column`, both
from 1; an empty one is None. Hands, the order of the deck and the seen University cards are told to those alone who
may know them: other viewers read None.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from tabletop_envs.core.game import ALL
from tabletop_envs.core.header import NOBODY, OVER_CAP, OVER_RULES, RUNNING
from tabletop_envs.core.words import ActionReader
from tabletop_envs.errors import NotationError
from tabletop_envs.games.london.actions import ACTIONS, NUM_ACTIONS
from tabletop_envs.games.london.rules import (
    add_to_hand,
    begin_stack,
    clear,
    lay,
    settle_in,
    turn_down,
)
from tabletop_envs.games.london.state import (
    ACTIVATED,
    EMPTY,
    FACE_UP,
    LAST_CARD,
    LOANS,
    NO_DRAW,
    OVERFLOW,
    PLACED,
    POOR,
    TURN,
    Phase,
    Reason,
    columns,
)
from tabletop_envs.games.london.tables import (
    BOROUGHS,
    CARDS,
    CARDS_IN_ALL,
    COLUMNS,
    ROWS,
    STONE_CARDS,
    STONE_TYPES,
)

CARD_NAMES: Final = tuple(card.name for card in CARDS)
BOROUGH_NAMES: Final = tuple(borough.name for borough in BOROUGHS)
PHASE_NAMES: Final = tuple(phase.name.lower() for phase in Phase)
REASON_NAMES: Final = tuple(reason.name.lower() for reason in Reason)
_CARD_NUMBERS: Final = {name: number for number, name in enumerate(CARD_NAMES)}
_BOROUGH_NUMBERS: Final = {name: number for number, name in enumerate(BOROUGH_NAMES)}

# facts of the turn that are plain numbers in the record
_NUMBERS: Final = (
    ("turns", "turns"),
    ("turns_left", "ending"),
    ("due", "due"),
    ("optional", "optional"),
    ("peeking", "peeking"),
    ("put_back", "put_back"),
    ("free_plays", "free"),
    ("plays", "plays"),
    ("activations", "activations"),
    ("expended", "expended"),
    ("tubes", "tubes"),
    ("exchanged", "exchanged"),
    ("loans_taken", "loans_taken"),
    ("pub_run", "pub_run"),
    ("stack", "stack"),
    ("whitehall", "whitehall"),
)
_OF_SEAT: Final = (
    ("money", "money"),
    ("loans", "loans"),
    ("poverty", "poverty"),
    ("vp_counters", "counters"),
    ("hand_size", "hand_size"),
)


# --- actions and events -----------------------------------------------------------------------------------------

_SINGLE: Final = {
    "deck": "deck",
    "new_stack": "new stack",
    "face_down_stack": "face-down stack",
    "run_city": "run city",
    "take_three": "take three",
    "done": "done",
    "exchange": "exchange",
    "loan": "loan",
    "flip_self": "flip card",
    "flip_hospital": "flip hospital",
}


def action_text(action: int) -> str:
    """An action in words: `card grocers`, `slot 1,2`, `peek 3`, `borough city`, `opponent 1`, `run city`, `done`."""
    block, index = ACTIONS.decode(action)
    if block in _SINGLE:
        return _SINGLE[block]
    if block == "card":
        return f"card {CARD_NAMES[index[0]].lower()}"
    if block == "borough":
        return f"borough {BOROUGH_NAMES[index[0]].lower()}"
    if block == "slot":
        return f"slot {index[0] + 1},{index[1] + 1}"
    return f"{block} {index[0] + 1}"


parse_action: Final = ActionReader(
    "London",
    action_text,
    NUM_ACTIONS,
    f"'card grocers', 'slot 1,2', 'deck', 'peek 1', 'borough city', 'opponent 1', "
    f"{', '.join(map(repr, _SINGLE.values()))}",
)


def _some(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def event_text(kind: int, seat: int, value: int) -> str:
    """What happened by itself, in words."""
    if kind == TURN:
        return f"turn {value + 1}: seat {seat}"
    if kind == LOANS:
        return f"seat {seat} takes {_some(value, 'loan')} to pay"
    if kind == POOR and value >= 0:
        return f"seat {seat} takes {_some(value, 'poverty point')} after the run"
    if kind == POOR:
        return f"seat {seat} gives back {_some(-value, 'poverty point')} after the run"
    if kind == NO_DRAW:
        return f"seat {seat} finds no card to take"
    if kind == OVERFLOW:
        return f"the display overflows: {_some(value, 'card')} leave the game"
    if kind == LAST_CARD:
        return f"seat {seat} takes the last card of the deck"
    raise NotationError(f"event {kind} is none of London: they are {TURN} to {LAST_CARD}")


# --- names ------------------------------------------------------------------------------------------------------


def card_number(name: Any) -> int:
    """The type of a card's name; raises NotationError."""
    return _number_of("card", _CARD_NUMBERS, name)


def borough_number(name: Any) -> int:
    """The borough of a name; raises NotationError."""
    return _number_of("borough", _BOROUGH_NUMBERS, name)


def phase_number(name: Any) -> int:
    """The phase of a name in small letters; raises NotationError."""
    return _number_of("phase", {name: number for number, name in enumerate(PHASE_NAMES)}, name)


def _number_of(what: str, names: Mapping[str, int], name: Any) -> int:
    if not isinstance(name, str) or name not in names:
        near = difflib.get_close_matches(str(name), names, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise NotationError(f"{name!r} is no {what} of London{hint}")
    return names[name]


def _card(kind: int) -> str | None:
    return None if kind == EMPTY else CARD_NAMES[kind]


def _kind(name: str | None) -> int:
    return EMPTY if name is None else card_number(name)


def _cards(counts: Iterable[int]) -> list[str]:
    return [CARD_NAMES[kind] for kind, count in enumerate(counts) for _ in range(count)]


def _boroughs(places: int) -> list[str]:
    return [name for place, name in enumerate(BOROUGH_NAMES) if places >> place & 1]


def display_rows(s: np.record) -> list[list[str | None]]:
    """The Card Display, row 1 first, as many columns as are in use (R2.4)."""
    cells, width = s["display"].tolist(), columns(s)
    return [[_card(kind) for kind in cells[row * COLUMNS : row * COLUMNS + width]] for row in range(ROWS)]


def stack_facts(s: np.record) -> list[dict[str, Any]]:
    """All stacks in the order in which they were begun, cards from bottom to top."""
    cards: list[list[str]] = [[] for _ in range(int(s["num_stacks"]))]
    made = int(s["num_laid"])
    for kind, stack in zip(s["laid"].tolist()[:made], s["laid_on"].tolist()[:made], strict=True):
        cards[stack].append(CARD_NAMES[kind])
    rows = zip(s["owner"].tolist(), cards, s["state"].tolist(), s["pounds"].tolist(), strict=False)
    return [
        {
            "seat": seat,
            "cards": pile,
            "face_up": bool(state & FACE_UP),
            "money": money,
            "placed_this_turn": bool(state & PLACED),
            "activated_this_run": bool(state & ACTIVATED),
        }
        for seat, pile, state, money in rows
    ]


# --- facts ------------------------------------------------------------------------------------------------------


def describe(s: np.record, viewer: int) -> dict[str, Any]:
    """The position as facts fit for JSON, as far as the viewer may know it.

    Hands are None for others; `deck` (top card first, seen cards included) is told to ALL alone, `seen` also to the
    seat that looked. `openly_taken` of a seat are the cards that all saw it take and that must still be in its hand.
    `laid` has the stack of every placed card, in the order of placing.
    """
    players, reader = int(s["num_players"]), int(s["reader"])
    hands, known = s["hands"].tolist(), s["known"].tolist()
    columns_of_seats = {fact: s[field].tolist() for fact, field in _OF_SEAT}
    owned, pubs = s["owned"].tolist(), s["pub_activated"].tolist()
    seen = None
    if viewer == ALL or (viewer == reader and reader != NOBODY):
        seen = [CARD_NAMES[kind] for kind in s["seen"].tolist()[reader][: int(s["num_seen"])]] if reader >= 0 else []
    facts: dict[str, Any] = {
        "phase": PHASE_NAMES[int(s["phase"])],
        "turn": int(s["turn"]),
        "start": int(s["start"]),
        **{fact: int(s[field]) for fact, field in _NUMBERS},
        "reason": REASON_NAMES[int(s["reason"])],
        "card": _card(int(s["card"])),
        "back": PHASE_NAMES[int(s["back"])] if s["back"] else None,
        "deck_size": int(s["deck_size"]),
        "seen": seen,
        "num_seen": int(s["num_seen"]),
        "reader": None if reader == NOBODY else reader,
        "display": display_rows(s),
        "discard": _cards(s["discard"].tolist()),
        "underground": _boroughs(int(s["underground"])),
        "seats": [
            {
                **{fact: values[seat] for fact, values in columns_of_seats.items()},
                "boroughs": _boroughs(owned[seat]),
                "pub_activated": bool(pubs[seat]),
                "hand": _cards(hands[seat]) if viewer in (ALL, seat) else None,
                "openly_taken": _cards(known[seat]),
            }
            for seat in range(players)
        ],
        "stacks": stack_facts(s),
        "laid": s["laid_on"].tolist()[: int(s["num_laid"])],
    }
    if viewer == ALL:
        below = s["deck"].tolist()[: facts["deck_size"] - facts["num_seen"]]
        facts["deck"] = [*seen, *(CARD_NAMES[kind] for kind in reversed(below))]  # type: ignore[misc]
    return facts


def restore(facts: Mapping[str, Any], s: np.record) -> None:
    """Write the position of `describe` for ALL into a record with header and options filled.

    Raises NotationError, KeyError, TypeError, ValueError or OverflowError for facts that are no position.
    """
    clear(s)
    s["phase"] = phase_number(facts["phase"])
    s["turn"], s["start"] = _within("turn", facts["turn"], s), _within("start", facts["start"], s)
    for fact, field in _NUMBERS:
        s[field] = facts[fact]
    s["reason"] = _number_of("reason", {name: number for number, name in enumerate(REASON_NAMES)}, facts["reason"])
    s["card"] = _kind(facts["card"])
    s["back"] = 0 if facts["back"] is None else phase_number(facts["back"])
    _restore_deck(facts, s)
    set_display(facts["display"], s)
    for name in facts["discard"]:
        s["discard"][card_number(name)] += 1
    seats = facts["seats"]
    if len(seats) != s["num_players"]:
        raise NotationError(f"{len(seats)} seats are told, not {s['num_players']}")
    for seat, told in enumerate(seats):
        for fact, field in _OF_SEAT[:-1]:
            s[field][seat] = told[fact]
        s["pub_activated"][seat] = bool(told["pub_activated"])
        for name in told["hand"]:
            add_to_hand(s, seat, card_number(name))
        for name in told["openly_taken"]:
            s["known"][seat, card_number(name)] += 1
        for name in told["boroughs"]:
            settle_in(s, seat, borough_number(name))
    s["underground"] = sum({1 << borough_number(name) for name in facts["underground"]})
    set_stacks(facts["stacks"], facts["laid"], s)


def _within(what: str, seat: Any, s: np.record) -> int:
    if not isinstance(seat, int) or not 0 <= seat < s["num_players"]:
        raise NotationError(f"{what} {seat!r}: give a seat from 0 to {int(s['num_players']) - 1}")
    return seat


def _restore_deck(facts: Mapping[str, Any], s: np.record) -> None:
    reader = NOBODY if facts["reader"] is None else _within("reader", facts["reader"], s)
    number = len(facts["seen"])
    if (number > 0) != (reader != NOBODY) or facts["seen"] != facts["deck"][:number]:
        raise NotationError(f"seen {facts['seen']!r} are not the top cards of the deck that seat {reader} has seen")
    set_deck(facts["deck"], s, number, reader)


def set_deck(names: list[str], s: np.record, seen: int = 0, reader: int = NOBODY) -> None:
    """The deck, top card first, of which a seat has seen some."""
    if len(names) > CARDS_IN_ALL:
        raise NotationError(f"{len(names)} cards are more than London has")
    kinds = [card_number(name) for name in names]
    s["deck_size"], s["num_seen"], s["reader"] = len(kinds), seen, reader
    if seen:
        s["seen"][reader, :seen] = kinds[:seen]
    s["deck"][: len(kinds) - seen] = kinds[seen:][::-1]


def set_display(rows: list[list[str | None]], s: np.record) -> None:
    """The Card Display; raises NotationError unless it has the columns of the number of players."""
    width = columns(s)
    if len(rows) != ROWS or any(len(row) != width for row in rows):
        raise NotationError(f"{rows!r} is no Card Display: give {ROWS} rows of {width} spaces")
    for row, names in enumerate(rows):
        for column, name in enumerate(names):
            s["display"][row * COLUMNS + column] = _kind(name)
            s["shown"] += name is not None


def set_stacks(stacks: Sequence[Mapping[str, Any]], laid: Sequence[int], s: np.record) -> None:
    """Build all stacks anew by laying their cards in the order told; then turn tops down and mark them."""
    rest = [list(told["cards"]) for told in stacks]
    if sorted(laid) != sorted(number for number, pile in enumerate(rest) for _ in pile) or len(laid) > STONE_CARDS:
        raise NotationError(f"laid {laid!r} does not name the stack of every placed card")
    for number in laid:
        seat = _within("the seat of a stack", stacks[number]["seat"], s)
        kind = card_number(rest[number].pop(0))
        if kind >= STONE_TYPES:
            raise NotationError(f"{CARD_NAMES[kind]} has no stone base and is placed by nobody")
        if number == s["num_stacks"]:
            begin_stack(s, seat)
        if number >= s["num_stacks"]:
            raise NotationError(f"stack {number} is begun before stack {int(s['num_stacks'])}")
        lay(s, number, kind)
    s["placed"][:] = 0
    for number, told in enumerate(stacks):
        s["state"][number] = FACE_UP
        if not told["face_up"]:
            turn_down(s, number)
        top, state = int(s["top"][number]), int(s["state"][number])
        s["pounds"][number] = told["money"]
        if told["placed_this_turn"]:
            state |= PLACED
            s["placed"][top] += 1
        if told["activated_this_run"]:
            state |= ACTIVATED
            s["activated"][top] += 1
            s["lit"][top] += state & FACE_UP
        s["state"][number] = state


# --- texts ------------------------------------------------------------------------------------------------------


def position_text(s: np.record, viewer: int) -> str:
    """The facts that a viewer may know, one a line, each as JSON; for ALL it can be read back."""
    facts = {"seat": int(s["seat"]), "over": int(s["over"]), "decisions": int(s["decisions"]), **describe(s, viewer)}
    seats, stacks = facts.pop("seats"), facts.pop("stacks")
    lists = ("display", "discard", "underground", "laid", "deck")
    numbers = {fact: value for fact, value in facts.items() if fact not in lists}
    lines = ["turn: " + _json(numbers)]
    lines += [f"{fact}: {_json(facts[fact])}" for fact in lists if fact in facts]
    lines += [f"seat: {_json(told)}" for told in seats]
    lines += [f"stack: {_json(told)}" for told in stacks]
    return "\n".join(lines)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def parse_position(text: str, s: np.record) -> None:
    """Write the position of `position_text` for ALL into a record with header and options filled.

    Raises NotationError.
    """
    facts: dict[str, Any] = {"seats": [], "stacks": []}
    try:
        for line in text.splitlines():
            name, _, value = line.strip().partition(": ")
            told = json.loads(value)
            if name == "turn":
                facts |= told
            elif name in ("seat", "stack"):
                facts[f"{name}s"].append(told)
            else:
                facts[name] = told
        s["seat"], s["over"], s["decisions"] = facts.pop("seat"), facts.pop("over"), facts.pop("decisions")
        if s["over"] not in (RUNNING, OVER_RULES, OVER_CAP):
            raise NotationError(f"over is {s['over']}: give {RUNNING}, {OVER_RULES} or {OVER_CAP}")
        restore(facts, s)
    except (KeyError, ValueError, TypeError, OverflowError, IndexError, AttributeError) as error:
        raise NotationError(f"{text!r} is no position: write what position_text gives for ALL ({error!r})") from error
