"""Hansa Teutonica in words: actions, events and positions as text and as JSON facts. Decides nothing of the rules.

Cities and routes have the names of `tables` (`Hamburg`, `Hamburg-Lubeck`), markers and abilities too. A piece is the
number of its seat and its kind, `0T` a trader of seat 0, `1M` a merchant of seat 1, `-` an empty place. All viewers
read the same but for the order of the markers that lie face down, which is for ALL alone (R15).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from tabletop_envs.core.game import ALL
from tabletop_envs.core.header import NOBODY, OVER_CAP
from tabletop_envs.core.words import ActionReader
from tabletop_envs.errors import NotationError
from tabletop_envs.games.hansa_teutonica.actions import ACTIONS, MAX_ACTIONS, REWARD_NAMES
from tabletop_envs.games.hansa_teutonica.rules import score_parts
from tabletop_envs.games.hansa_teutonica.state import (
    COMPLETED,
    CONTROLLED,
    DREW,
    EAST_WEST,
    ENDED,
    FIELDS,
    KEPT,
    NO_MARKER,
    PASSED,
    REVEALED,
    TOOK,
    End,
    Phase,
    recount,
)
from tabletop_envs.games.hansa_teutonica.tables import (
    ABILITY_NAMES,
    CITY_KEYS,
    COELLEN_POINTS,
    COLOURS,
    EAST_WEST_POINTS,
    KIND_NAMES,
    KINDS,
    MARKER_NAMES,
    MARKERS,
    MAX_EXTRAS,
    MAX_PLATE,
    OFFICE_COUNT,
    PIECES,
    PROVINCE_NAMES,
    ROUTE_FIRST,
    ROUTE_KEYS,
    ROUTE_LENGTH,
    ROUTES,
    SIDE_ROUTES,
    SPACE_ROUTE,
    SWAP_PAIRS,
    members,
    side_of,
)

SCORE_PARTS: Final = ("track", "east_west", "abilities", "markers", "coellen", "cities", "network")  # R13
END_NAMES: Final = tuple(None if end == End.NONE else end.name.lower() for end in End)
_NOBODY: Final = "-"
_KIND_LETTERS: Final = "TM"
_PIECES: Final = (
    _NOBODY,
    *(f"{(piece - 1) // KINDS}{_KIND_LETTERS[(piece - 1) % KINDS]}" for piece in range(1, 1 + PIECES)),
)
_COUNTS: Final = ("turns", "actions_left", "completed", "pile_size", "drawn", "stall", "forced")
_UNDER_WAY: Final = ("extras_left", "moves_left", "removals_left")
_FLAGS: Final = ("optionless", "draw_failed", "pawn_moved")
_ORDINALS: Final = ("", "first", "second", "third")

# --- actions and events -----------------------------------------------------------------------------------------


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def space_text(space: int) -> str:
    """The name of a space: its route and its number there, from 1."""
    route = int(SPACE_ROUTE[space])
    return f"{ROUTE_KEYS[route]} {space - int(ROUTE_FIRST[route]) + 1}"


def _pair_text(pair: int) -> str:
    city, left = SWAP_PAIRS[pair].tolist()
    return f"{CITY_KEYS[city]} {left + 1} and {left + 2}"


def action_text(action: int) -> str:
    """An action in words: `trader Hamburg-Lubeck`, `route Hamburg-Lubeck`, `space Hamburg-Lubeck 1`, `done`."""
    block, index = ACTIONS.decode(action)
    if block.startswith("place_"):
        return f"{block.removeprefix('place_')} {ROUTE_KEYS[index[0]]}"
    if block == "pay":
        return f"put {KIND_NAMES[index[0]]}, pay with {_count(index[1], 'merchant')}"
    texts = {
        "route": lambda: f"route {ROUTE_KEYS[index[0]]}",
        "space": lambda: f"space {space_text(index[0])}",
        "income": lambda: f"income with {_count(index[0], 'merchant')}",
        "reward": lambda: f"reward {REWARD_NAMES[index[0]]}",
        "use_plus3": lambda: "use plus 3",
        "use_plus4": lambda: "use plus 4",
        "use_remove3": lambda: "use remove three",
        "use_upgrade": lambda: f"upgrade {ABILITY_NAMES[index[0]]}",
        "use_swap": lambda: f"swap {_pair_text(index[0])}",
        "done": lambda: "done",
        "pawn": lambda: f"pawn {PROVINCE_NAMES[index[0]]}",
    }
    return texts[block]()


parse_action: Final = ActionReader(
    "Hansa Teutonica",
    action_text,
    MAX_ACTIONS,
    "'trader Hamburg-Lubeck', 'route Hamburg-Lubeck', 'space Hamburg-Lubeck 1', 'income with 0 merchants', "
    "'reward office A trader', 'use plus 3' or 'done'",
)


def marker_text(marker: int) -> str:
    """The name of a marker in words."""
    return MARKER_NAMES[marker].replace("plus", "plus ").replace("remove3", "remove three").replace("_", " ")


def event_text(kind: int, seat: int, value: int) -> str:
    """What happened by itself, in words; raises NotationError for what never does."""
    who = COLOURS[seat].capitalize() if seat >= 0 else ""
    texts = {
        CONTROLLED: lambda: f"{who} controls {CITY_KEYS[value]}: 1 prestige",
        TOOK: lambda: f"{who} takes the marker {marker_text(value)}",
        DREW: lambda: f"{who} draws a marker face down",
        NO_MARKER: lambda: f"{who} finds no marker to draw",
        COMPLETED: lambda: f"{who} completes {CITY_KEYS[value]}",
        EAST_WEST: lambda: f"{who} is {_ORDINALS[value]} to link Arnheim and Stendal: {EAST_WEST_POINTS[value]} points",
        REVEALED: lambda: f"{who} turns up the marker {marker_text(value)}",
        KEPT: lambda: f"{who} keeps the marker {marker_text(value)}, which no route can take",
        PASSED: lambda: f"{who} can do nothing in this turn",
        ENDED: lambda: _END_TEXTS[value],
    }
    if kind not in texts:
        raise NotationError(f"event {kind} is none of Hansa Teutonica: they are 1 to {len(texts)}")
    return texts[kind]()


_END_TEXTS: Final[dict[int, str]] = {
    End.MARKERS: "the game ends: the pile of markers is empty",
    End.PRESTIGE: "the game ends: 20 prestige are reached",
    End.CITIES: "the game ends: ten cities are complete",
    End.STALL: "the game ends: nobody can do anything",
    End.CAP: "the game is stopped at the cap of rounds",
}

# --- facts ------------------------------------------------------------------------------------------------------


def piece_text(piece: int) -> str:
    """A piece as `0T`, `1M`, or `-`."""
    return _PIECES[piece]


def parse_piece(text: str) -> int:
    """The piece of a text; raises NotationError."""
    if text not in _PIECES:
        raise NotationError(f"{text!r} is no piece: write a seat and T or M, like '0T', or '-'")
    return _PIECES.index(text)


def route_spaces(route: int) -> range:
    """The spaces of a route."""
    first = int(ROUTE_FIRST[route])
    return range(first, first + int(ROUTE_LENGTH[route]))


def _named(names: Sequence[str], counts: Sequence[int]) -> dict[str, int]:
    return {name: count for name, count in zip(names, counts, strict=True) if count}


def _player(s: np.record, seat: int) -> dict[str, Any]:
    return {
        "stock": s["stock"][seat].tolist(),
        "supply": s["supply"][seat].tolist(),
        "levels": dict(zip(ABILITY_NAMES, s["levels"][seat].tolist(), strict=True)),
        "markers": _named(MARKER_NAMES, s["markers"][seat].tolist()),
        "used": _named(MARKER_NAMES, s["used"][seat].tolist()),
        "plate": [MARKER_NAMES[marker - 1] for marker in s["plate"][seat].tolist() if marker],
        "prestige": int(s["prestige"][seat]),
        "east_west": int(s["east_west_rank"][seat]),
    }


def end_reason(s: np.record) -> str | None:
    """Why the game ended: markers, prestige, cities, stall or cap (also one set lower by `max_decisions`); or None."""
    return END_NAMES[End.CAP] if s["over"] == OVER_CAP else END_NAMES[int(s["end_reason"])]


def score_of(s: np.record, seat: int) -> dict[str, int]:
    """The parts of a seat's score by R13, final or as things stand, and their total."""
    parts = dict(zip(SCORE_PARTS, map(int, score_parts(s, seat)), strict=True))
    return {**parts, "total": sum(parts.values())}


def _cities(s: np.record) -> dict[str, Any]:
    found: dict[str, Any] = {}
    offices, extras = s["offices"].tolist(), s["extras"].tolist()
    for city, key in enumerate(CITY_KEYS):
        if offices[city][0] or extras[city][0]:
            facts = {"offices": [_PIECES[piece] for piece in offices[city] if piece]}
            if extras[city][0]:
                facts["extras"] = [_PIECES[piece] for piece in extras[city] if piece]
            found[key] = facts
    return found


def describe(s: np.record, viewer: int) -> dict[str, Any]:
    """The position as facts fit for JSON; only ALL reads the order of the face-down markers, `pile` (R15.2).

    Routes, cities and markers that hold nothing are left out; of extra offices the latest is the last. `controllers`,
    `networks` and `scores` follow from the rest.
    """
    players = int(s["num_players"])
    spaces, space = s["spaces"].tolist(), int(s["space"])
    routes = {ROUTE_KEYS[route]: [spaces[place] for place in route_spaces(route)] for route in range(ROUTES)}
    facts = {
        "phase": Phase(int(s["phase"])).name.lower(),
        "turn": int(s["turn"]),
        **{name: int(s[name]) for name in _COUNTS},
        "routes": {key: [_PIECES[piece] for piece in pieces] for key, pieces in routes.items() if any(pieces)},
        "cities": _cities(s),
        "coellen": [owner - 1 if owner else None for owner in s["circles"].tolist()],
        "route_markers": {
            ROUTE_KEYS[route]: MARKER_NAMES[marker - 1]
            for route, marker in enumerate(s["route_marker"].tolist())
            if marker
        },
        "players": [_player(s, seat) for seat in range(players)],
        "unseen": _named(MARKER_NAMES, s["unseen"].tolist()),
        "under_way": {
            "route": None if s["route"] < 0 else ROUTE_KEYS[int(s["route"])],
            "space": None if space < 0 else space_text(space),
            "held": _PIECES[int(s["held"])],
            **{name: int(s[name]) for name in _UNDER_WAY},
            "taken": MARKER_NAMES[int(s["taken"]) - 1] if s["taken"] else None,
        },
        **{name: bool(s[name]) for name in _FLAGS},
        "pawn": None if s["pawn"] < 0 else PROVINCE_NAMES[int(s["pawn"])],
        "end_reason": end_reason(s),
        "controllers": {key: seat - 1 for key, seat in zip(CITY_KEYS, s["controller"].tolist(), strict=True) if seat},
        "networks": s["network"].tolist()[:players],
        "scores": [score_of(s, seat) for seat in range(players)],
    }
    if viewer == ALL:
        down = int(s["pile_size"]) + int(s["drawn"])
        facts["pile"] = [MARKER_NAMES[marker - 1] for marker in s["pile"].tolist()[:down]]
    return facts


_SPACE_NAMES: Final = {space_text(space): space for space in range(len(SPACE_ROUTE))}


def _index(what: str, names: Sequence[Any], name: Any) -> int:
    if name not in names:
        raise NotationError(f"{what} {name!r}: give one of {', '.join(map(str, names))}")
    return names.index(name)


def _number(what: str, value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise NotationError(f"{what} {value!r}: give a whole number")
    return int(value)


def restore(facts: Mapping[str, Any], s: np.record) -> None:
    """Write the position of `describe` for ALL into a record with header and options filled.

    `unseen`, `controllers`, `networks` and `scores` are found anew and may be missing. Raises NotationError, KeyError
    or TypeError for facts that are no position.
    """
    for field in FIELDS:
        s[field.name] = 0
    s["phase"] = _index("phase", [phase.name.lower() for phase in Phase], facts["phase"])
    s["turn"] = _number("turn", facts["turn"])
    for name in _COUNTS:
        s[name] = _number(name, facts[name])
    for name in _FLAGS:
        s[name] = int(bool(facts[name]))
    reason = _index("end_reason", END_NAMES, facts["end_reason"])
    s["end_reason"] = reason if s["phase"] == Phase.OVER else 0
    s["pawn"] = -1 if facts["pawn"] is None else _index("pawn", PROVINCE_NAMES, facts["pawn"])
    write_routes(s, facts["routes"])
    for key, marker in facts["route_markers"].items():
        s["route_marker"][read_route(s, key)] = 1 + read_marker(marker)
    write_cities(s, facts["cities"])
    if len(facts["coellen"]) != len(COELLEN_POINTS):
        raise NotationError(
            f"coellen {facts['coellen']!r}: give a seat or null for each of {len(COELLEN_POINTS)} circles"
        )
    s["circles"][:] = [0 if seat is None else 1 + _number("seat", seat) for seat in facts["coellen"]]
    if len(facts["players"]) != int(s["num_players"]):
        raise NotationError(f"there are facts of {len(facts['players'])} players: give {int(s['num_players'])}")
    for seat, player in enumerate(facts["players"]):
        write_player(s, seat, player)
    write_pile(s, facts["pile"])
    _write_under_way(s, facts["under_way"])
    recount(s)


def _write_under_way(s: np.record, facts: Mapping[str, Any]) -> None:
    s["route"] = -1 if facts["route"] is None else read_route(s, facts["route"])
    s["space"] = -1 if facts["space"] is None else _SPACE_NAMES[facts["space"]]
    s["held"] = parse_piece(facts["held"])
    for name in _UNDER_WAY:
        s[name] = _number(name, facts[name])
    s["taken"] = 0 if facts["taken"] is None else 1 + read_marker(facts["taken"])


def read_route(s: np.record, key: Any) -> int:
    """The route of a name on the side in use; raises NotationError."""
    present = members(int(SIDE_ROUTES[side_of(int(s["num_players"]))]))
    route = _index("route", ROUTE_KEYS, key)
    if route not in present:
        raise NotationError(f"route {key!r} is not on the side of the board for {int(s['num_players'])} players")
    return route


def read_marker(name: Any) -> int:
    """The marker of a name; raises NotationError."""
    return _index("marker", MARKER_NAMES, name)


def _read_owned(s: np.record, text: str) -> int:
    piece = parse_piece(text)
    if piece > KINDS * int(s["num_players"]):
        raise NotationError(f"piece {text!r} belongs to a seat that is not at the table")
    return piece


def write_routes(s: np.record, routes: Mapping[str, Sequence[str]]) -> None:
    """Write the pieces of routes, each in the order of its spaces; the caller recounts."""
    for key, pieces in routes.items():
        spaces = route_spaces(read_route(s, key))
        if len(pieces) != len(spaces):
            raise NotationError(f"route {key!r} has {len(spaces)} spaces, not {len(pieces)}")
        for space, text in zip(spaces, pieces, strict=True):
            s["spaces"][space] = _read_owned(s, text)


def write_cities(s: np.record, cities: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
    """Write the offices of cities from the left, and extra offices, the latest last; the caller recounts."""
    for key, facts in cities.items():
        city = _index("city", CITY_KEYS, key)
        offices, extras = facts.get("offices", ()), facts.get("extras", ())
        room = int(OFFICE_COUNT[side_of(int(s["num_players"])), city])
        if len(offices) > room or len(extras) > MAX_EXTRAS:
            raise NotationError(
                f"{key} has {room} offices and {MAX_EXTRAS} places for extra ones: {facts!r} are too many"
            )
        for office, text in enumerate(offices):
            s["offices"][city, office] = _read_owned(s, text)
        for extra, text in enumerate(extras):
            s["extras"][city, extra] = _read_owned(s, text)


def write_player(s: np.record, seat: int, facts: Mapping[str, Any]) -> None:
    """Write those facts of `describe` about a player that are given."""
    for name in ("stock", "supply"):
        if name in facts:
            traders, merchants = facts[name]
            s[name][seat] = (_number(name, traders), _number(name, merchants))
    for ability, level in facts.get("levels", {}).items():
        s["levels"][seat, _index("ability", ABILITY_NAMES, ability)] = _number("level", level)
    for name in ("markers", "used"):
        for marker, number in facts.get(name, {}).items():
            s[name][seat, read_marker(marker)] = _number(name, number)
    plate = [1 + read_marker(marker) for marker in facts.get("plate", ())]
    if len(plate) > MAX_PLATE:
        raise NotationError(f"{plate!r} are more than {MAX_PLATE} markers on a plate")
    s["plate"][seat, : len(plate)] = plate
    s["prestige"][seat] = _number("prestige", facts.get("prestige", 0))
    s["east_west_rank"][seat] = _number("east_west", facts.get("east_west", 0))


def write_pile(s: np.record, names: Sequence[str]) -> None:
    """Write the face-down markers in the order of the record, and count the unseen."""
    down = [read_marker(name) for name in names]
    if len(down) > len(s["pile"]):
        raise NotationError(f"{len(down)} face-down markers are more than {len(s['pile'])}")
    s["pile"][: len(down)] = [1 + marker for marker in down]
    s["unseen"][:] = np.bincount(np.array(down, dtype=np.int64), minlength=MARKERS)


# --- a text -----------------------------------------------------------------------------------------------------

_DERIVED: Final = ("unseen", "controllers", "networks", "scores")


def position_text(s: np.record, viewer: int) -> str:
    """A position as lines of a name and its facts in JSON; of players a line each. Read back for ALL.

    It says all of a position that waits for a decision or is over, but for the events that led to it.
    """
    facts = describe(s, viewer)
    players = facts.pop("players")
    head = {
        "seat": None if s["seat"] == NOBODY else int(s["seat"]),
        "over": int(s["over"]),
        "decisions": int(s["decisions"]),
    }
    head |= {name: facts.pop(name) for name in ("phase", "turn", *_COUNTS, *_FLAGS, "pawn", "end_reason")}
    lines = [("position", head)]
    lines += [(f"player{seat}", player) for seat, player in enumerate(players)]
    lines += [(name, value) for name, value in facts.items() if name not in _DERIVED or viewer != ALL]
    return "\n".join(f"{name} {json.dumps(value, separators=(',', ':'))}" for name, value in lines)


def parse_position(text: str, s: np.record) -> None:
    """Write the position of `position_text` for ALL into a record with header and options filled.

    Raises NotationError.
    """
    try:
        parts = [line.strip().partition(" ") for line in text.splitlines()]
        read = {name: json.loads(value) for name, _, value in parts}
        head = read.pop("position")
        players = [read.pop(f"player{seat}") for seat in range(int(s["num_players"]))]
        seat, over, decisions = head.pop("seat"), head.pop("over"), head.pop("decisions")
        restore({**head, **read, "players": players}, s)
        s["seat"] = NOBODY if seat is None else _number("seat", seat)
        s["over"], s["decisions"] = _number("over", over), _number("decisions", decisions)
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError, IndexError) as error:
        raise NotationError(f"{text!r} is no position: write what position_text gives for ALL ({error})") from error
