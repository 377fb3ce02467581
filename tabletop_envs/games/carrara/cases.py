"""Worked cases for `tabletop_envs.casebook`: set-up -> record, entry -> action, expectation -> differences.

The format is told at the head of `tests/games/carrara/cases.json`. Cases run without the skipping of forced decisions
(R17.10); an entry that ends in `!` must be one. Refill draws that a case prescribes are had by a key under which the
bag gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from tabletop_envs.casebook import unequal
from tabletop_envs.core.game import ALL
from tabletop_envs.core.jit import jit
from tabletop_envs.core.position import Position
from tabletop_envs.core.random import word
from tabletop_envs.errors import NotationError
from tabletop_envs.games.carrara.actions import NUM_ACTIONS
from tabletop_envs.games.carrara.notation import (
    action_text,
    counts_of,
    describe,
    number_of,
    parse_action,
    set_of,
    write_cards,
    write_city_scored,
    write_number,
    write_pile,
    write_seat,
    write_wheel,
)
from tabletop_envs.games.carrara.rules import BAG, clear_choice, final_parts, legal
from tabletop_envs.games.carrara.state import NONE, Phase, refresh_kept
from tabletop_envs.games.carrara.tables import (
    BRICKS,
    CARDS,
    CITY_NAMES,
    COLOUR_NAMES,
    COLOURS,
    DECK_START,
    DECKS,
    DISPLAY,
    IMPROVEMENTS,
    LEVELS,
    MONUMENT_LEVEL,
    OBJECT_NAMES,
    OBJECTS,
    PILE,
    START_COINS,
    TILE_NAMES,
)

_SETUP_KEYS: Final = {
    *("players", "options", "current", "round", "end_triggered", "announcer", "seats", "city_scored", "wheel", "bag"),
    *("display", "pile", "object_display", "object_supply", "improvement_stock", "cards", "draws"),
}
_SEAT_KEYS: Final = {
    *("coins", "vp", "bricks", "objects", "buildings", "types_scored", "groups_scored", "improvements"),
}
_PARTS: Final = ("track", "objects", "leftover_objects", "buildings", "bonus", "coins")  # of `final_parts`
_MONUMENTS: Final = TILE_NAMES[MONUMENT_LEVEL::LEVELS]
_PLAIN: Final = tuple(name for name in TILE_NAMES if name not in _MONUMENTS)


# --- set-up -----------------------------------------------------------------------------------------------------


def is_manual(case: Mapping[str, Any]) -> bool:
    """Whether the case tells a table or a deal in words."""
    return bool(case["type"] == "manual")


def settings(case: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """Number of players and options; no decision is skipped."""
    return case["setup"]["players"], {**case["setup"]["options"], "auto_forced": False}


def arrange(case: Mapping[str, Any], s: np.record) -> None:
    """Write the set-up into a record with header and options filled; raises NotationError for one that is none."""
    given = case["setup"]
    strange = set(given) - _SETUP_KEYS
    if strange:
        raise NotationError(f"set-up keys {', '.join(sorted(strange))} are not understood")
    players = int(s["num_players"])
    seats = [_seat_facts(part, players) for part in given.get("seats", [{}] * players)]
    if len(seats) != players:
        raise NotationError(f"{len(seats)} seats are given for {players} players")
    for seat, facts in enumerate(seats):
        write_seat(s, seat, facts)
    write_city_scored(s, given.get("city_scored", {}))
    _arrange_bricks(given, s)
    _arrange_tiles(given, s, [tile for facts in seats for tiles in facts["buildings"].values() for tile in tiles])
    _arrange_objects(given, s)
    taken = [sum(int(bits) >> city & 1 for bits in s["improved"]) for city in range(len(CITY_NAMES))]
    stock = IMPROVEMENTS[int(s["improvement_supply"])] * int(s["monuments"]) - taken
    if "improvement_stock" in given:
        stock = counts_of(given["improvement_stock"], CITY_NAMES, int(IMPROVEMENTS.max()), "improvement_stock")
    s["improvements"][:] = np.maximum(stock, 0)
    write_cards(s, given.get("cards", [CARDS[first].id for first in DECK_START[:DECKS]]))
    write_number(s, "rounds", given.get("round", 0))
    s["triggered"] = bool(given.get("end_triggered", False))
    announcer = given.get("announcer")
    write_number(s, "announcer", NONE if announcer is None else announcer)
    write_number(s, "turn", number_of(given.get("current", 0), 0, players - 1, "current"))
    clear_choice(s)
    refresh_kept(s)
    s["phase"], s["seat"] = Phase.MAIN, s["turn"]


def _seat_facts(given: Mapping[str, Any], players: int) -> dict[str, Any]:
    """A seat of a case as `notation.write_seat` takes it."""
    strange = set(given) - _SEAT_KEYS
    if strange:
        raise NotationError(f"seat keys {', '.join(sorted(strange))} are not understood")
    buildings: dict[str, list[str]] = {}
    for building in given.get("buildings", ()):
        tile, _, city = building.partition("@")
        buildings.setdefault(city, []).append(tile)
    return {
        "coins": given.get("coins", int(START_COINS[players - 2])),
        "vp": given.get("vp", 0),
        "bricks": given.get("bricks", {}),
        "objects": _plain(given.get("objects", {})),
        "types_scored": given.get("types_scored", []),
        "groups_scored": given.get("groups_scored", []),
        "improvements": given.get("improvements", []),
        "buildings": buildings,
    }


def _plain(named: Any) -> Any:
    """Names of objects without underscores."""
    if isinstance(named, Mapping):
        return {name.replace("_", " "): number for name, number in named.items()}
    return [name.replace("_", " ") for name in named]


def _arrange_bricks(given: Mapping[str, Any], s: np.record) -> None:
    write_wheel(s, given.get("wheel", {}))
    elsewhere = s["wheel"].sum(axis=0) + s["bricks"].sum(axis=0)
    bag = counts_of(given["bag"], COLOUR_NAMES, BRICKS, "bag") if "bag" in given else BRICKS - elsewhere
    s["bag"][:] = np.maximum(bag, 0)
    if "draws" in given:
        wanted = [COLOUR_NAMES.index(colour) for colour in given["draws"]]
        s["key"] = _key_that_draws(s["bag"].astype(np.int64), np.array(wanted, dtype=np.int64))


@jit
def _key_that_draws(bag, wanted):
    """The first key under which `random.draw` takes the wanted colours out of the bag, one after the other."""
    key = 0
    while True:
        left = bag.copy()
        number = 0
        while number < len(wanted):
            rest = (word(key, BAG, number) * int(left.sum())) >> 32
            colour = 0
            while colour < COLOURS and rest >= left[colour]:
                rest -= int(left[colour])
                colour += 1
            if colour != wanted[number]:
                break
            left[colour] -= 1
            number += 1
        if number == len(wanted):
            return key
        key += 1


def _arrange_tiles(given: Mapping[str, Any], s: np.record, built: Sequence[str]) -> None:
    """The display and the pile by default: the tiles that stand nowhere, in order, as far as there is room."""
    free = [tile for tile in _PLAIN if tile not in built]
    display = given.get("display", free[:DISPLAY])
    pile = given.get("pile", [tile for tile in free if tile not in display][:PILE])
    monuments = [tile for tile in _MONUMENTS if tile not in built] if s["monuments"] else []
    s["offer"] = set_of([*display, *monuments], TILE_NAMES, "display")
    write_pile(s, pile)


def _arrange_objects(given: Mapping[str, Any], s: np.record) -> None:
    s["for_sale"] = set_of(_plain(given.get("object_display", OBJECT_NAMES)), OBJECT_NAMES, "object_display")
    supply = np.maximum(OBJECTS - 1 - s["objects"].sum(axis=0), 0)
    if "object_supply" in given:
        supply = counts_of(_plain(given["object_supply"]), OBJECT_NAMES, OBJECTS - 1, "object_supply")
    s["supply"][:] = supply


def entry_action(entry: Any, s: np.record) -> int | dict[str, Any]:
    """The action of an entry (`TILE palazzo3`, with `!` when it is forced); {"check": {...}}: expectations there."""
    if isinstance(entry, dict) and set(entry) == {"check"}:
        return dict(entry["check"])
    if entry.endswith("!") and legal(s, np.zeros(NUM_ACTIONS, dtype=np.int8)) != 1:
        raise NotationError(f"{entry!r} is not forced: leave out the '!'")
    return _action(entry)


def _action(entry: str) -> int:
    return parse_action(entry.rstrip("!").replace("_", " "))


# --- expectations -----------------------------------------------------------------------------------------------


def differences(expected: Mapping[str, Any], position: Position) -> list[str]:
    """What of the expectations does not hold in the position, a line each; a key that is not known is one."""
    lines = []
    facts = describe(position.states[0], ALL)
    for key, value in expected.items():
        if key in _FACTS:
            lines += _unequal(key, value, _FACTS[key](position, facts))
        elif key in _CHECKS:
            lines += _CHECKS[key](value, position, facts)
        else:
            lines.append(f"{key}: not understood")
    return lines


def _unequal(what: str, expected: Any, found: Any) -> list[str]:
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        # numbers of 0 and empty segments may be left out
        expected, found = ({_key(k): v for k, v in part.items() if v not in (0, {})} for part in (expected, found))
    elif isinstance(expected, list) and what not in _ORDERED:
        expected, found = sorted(map(_key, expected)), sorted(map(_key, found))
    return unequal(what, expected, found)


def _key(name: Any) -> Any:
    return name.replace("_", " ") if isinstance(name, str) else name


_ORDERED: Final = {"final", "winners", "objectives"}

# what is expected -> what is found in a position, or in its facts
_FACTS: Final[dict[str, Callable[[Position, Mapping[str, Any]], Any]]] = {
    "phase": lambda position, facts: facts["phase"].upper(),
    "current": lambda position, facts: position.seat,
    "game_over": lambda position, facts: position.over,
    "wheel": lambda position, facts: facts["wheel"],
    "wheel_total": lambda position, facts: int(position.states[0].wheel.sum()),
    "bag": lambda position, facts: facts["bag"],
    "bag_total": lambda position, facts: sum(facts["bag"].values()),
    "display": lambda position, facts: facts["display"],
    "pile_size": lambda position, facts: len(facts["pile"]),
    "object_display": lambda position, facts: facts["for_sale"],
    "object_supply": lambda position, facts: facts["supply"],
    "end_triggered": lambda position, facts: facts["end_triggered"],
    "announcer": lambda position, facts: facts["announcer"],
    "final": lambda position, facts: position.points(),
    "winners": lambda position, facts: [seat for seat, place in enumerate(position.places()) if place == 1],
}


def _seats(expected: Mapping[str, Mapping[str, Any]], _: Position, facts: Mapping[str, Any]) -> list[str]:
    lines = []
    for seat, parts in expected.items():
        found = dict(facts["seats"][int(seat)])
        found["buildings"] = [f"{tile}@{city}" for city, tiles in found["buildings"].items() for tile in tiles]
        for key, value in parts.items():
            lines += _unequal(f"seats[{seat}].{key}", value, found[key]) if key in found else [f"{key}: not understood"]
    return lines


def _city_scored(expected: Mapping[str, int], _: Position, facts: Mapping[str, Any]) -> list[str]:
    found = facts["city_scored"]
    return [] if dict(expected) == found else [f"city_scored: expected {dict(expected)!r}, found {found!r}"]


def _objectives(expected: Mapping[str, list[bool]], _: Position, facts: Mapping[str, Any]) -> list[str]:
    found = {seat: facts["seats"][int(seat)]["objectives"] for seat in expected}
    return [] if dict(expected) == found else [f"objectives: expected {dict(expected)!r}, found {found!r}"]


def _final_parts(expected: Mapping[str, Mapping[str, int]], position: Position, _: Mapping[str, Any]) -> list[str]:
    lines = []
    for seat, parts in expected.items():
        values = final_parts(position.states[0], int(seat))
        found = {**dict(zip(_PARTS, values, strict=True)), "total": sum(values)}
        for key, value in parts.items():
            if found.get(key) != value:
                lines.append(f"final_parts[{seat}].{key}: expected {value!r}, found {found.get(key)!r}")
    return lines


def _legal(position: Position) -> set[int]:
    return {int(action) for action in position.legal_actions()}


def _texts(actions: set[int]) -> list[str]:
    return [action_text(action) for action in sorted(actions)]


def _legal_is(expected: Sequence[str], position: Position, _: Mapping[str, Any]) -> list[str]:
    wanted, found = {_action(entry) for entry in expected}, _legal(position)
    return [] if wanted == found else [f"legal: expected {_texts(wanted)}, found {_texts(found)}"]


def _legal_includes(expected: Sequence[str], position: Position, _: Mapping[str, Any]) -> list[str]:
    missing = {_action(entry) for entry in expected} - _legal(position)
    return [f"legal_includes: {_texts(missing)} are not legal"] if missing else []


def _legal_excludes(expected: Sequence[str], position: Position, _: Mapping[str, Any]) -> list[str]:
    wrong = {_action(entry) for entry in expected} & _legal(position)
    return [f"legal_excludes: {_texts(wrong)} are legal"] if wrong else []


_CHECKS: Final[dict[str, Callable[[Any, Position, Mapping[str, Any]], list[str]]]] = {
    "seats": _seats,
    "city_scored": _city_scored,
    "objectives": _objectives,
    "final_parts": _final_parts,
    "legal": _legal_is,
    "legal_includes": _legal_includes,
    "legal_excludes": _legal_excludes,
}
