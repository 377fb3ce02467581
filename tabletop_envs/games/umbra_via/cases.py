"""Worked cases for `tabletop_envs.casebook`: set-up -> record, entry -> actions, expectation -> differences.

The notation is that of RULES.md, section "Notation of the worked cases". States are compared directly behind the last
action, before the next round begins, so the automatic steps behind it are left out (`stop_after`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from tabletop_envs.casebook import unequal
from tabletop_envs.core import loops
from tabletop_envs.core.position import Position
from tabletop_envs.errors import NotationError
from tabletop_envs.games.umbra_via.actions import CELL, DECLINE
from tabletop_envs.games.umbra_via.notation import TILE_NAMES, keep_sets, path_cells
from tabletop_envs.games.umbra_via.rules import free_cells, put_in_order, setup, targets, win_tile
from tabletop_envs.games.umbra_via.state import (
    DISCARDED,
    EARNED,
    SUMMONED,
    TIED,
    Phase,
    kind_in_use,
    open_ends,
    path_of,
)
from tabletop_envs.games.umbra_via.tables import (
    CELLS,
    COLS,
    ENERGY,
    ENERGY_IN_BAG,
    FOUR_POINT_TILE,
    KIND_NAMES,
    KIND_OF,
    NO_TILE,
    SLOTS,
    SOUL,
    SOULS_IN_ALL,
    SOULS_ON_TILE,
    VOID_TILE,
)

_SETUP_KEYS: Final = frozenset(
    ("players", "options", "phase", "board", "altar", "waiting", "tie_track", "claimed", "removed_souls", "discard")
)
_TILES: Final = {name: tile for tile, name in enumerate(TILE_NAMES) if name}
_ANY_TILE: Final = _TILES["NS"]

# what is compared with the beginning of the case, or along its actions
_ALONG: Final = ("summons", "discard_added", "bag_soul_gain", "tile_winners")

Case = Mapping[str, Any]


# --- set-up and actions ------------------------------------------------------------------------------------------


def is_manual(case: Case) -> bool:
    """Whether the case is told in words of its own: those are ordinary tests."""
    return bool(case["type"] == "manual")


def settings(case: Case) -> tuple[int, dict[str, Any]]:
    """Number of players and options. Forced decisions stand among the actions, so none is made unasked (OPT-6)."""
    return case["setup"]["players"], {"auto_forced": False, **case["setup"].get("options", {})}


def stop_after(case: Case) -> bool:
    """States are compared before the next automatic step."""
    return True


def arrange(case: Case, s: np.record) -> None:
    """Write the set-up into a record with header and options filled; bags are filled by conservation."""
    given = case["setup"]
    if set(given) - _SETUP_KEYS:
        raise NotationError(f"set-up keys {sorted(set(given) - _SETUP_KEYS)} are not understood")
    players = int(s.num_players)
    setup(s)
    s.rounds = 1
    s.track[list(given.get("tie_track", range(players)))] = range(players)
    s.claims[:players] = given.get("claimed", [0] * players)
    s.removed[:players] = given.get("removed_souls", [0] * players)
    for tile in given.get("board", ()):
        cell = _cell(tile["cell"])
        s.board[cell] = _tile(tile)
        s.energy[:players, cell] = tile["energy"]
    for pile in given.get("waiting", ()):
        s.energy[:players, _cell(pile["cell"])] = pile["energy"]
    for tile in given.get("altar", ()):
        s.altar[tile["slot"]] = _tile(tile)
        s.bid_energy[:players, tile["slot"]] = tile["energy"]
        s.bid_souls[:players, tile["slot"]] = tile["soul"]
    keep_sets(s)
    for kind in given.get("discard", ()):
        s.discard[KIND_NAMES.index(kind)] += 1
    if case["type"] in ("legal", "void_legal"):
        _ask_for_cell(s, VOID_TILE if case["type"] == "void_legal" else _ANY_TILE)
    else:
        put_in_order(s)
    _conserve(s)


def _cell(place: Sequence[int]) -> int:
    return place[0] * COLS + place[1]


def _tile(facts: Case) -> int:
    return _TILES[facts["open"] or facts["kind"]]


def _ask_for_cell(s: np.record, tile: int) -> None:
    """Seat 0 has won a tile with one energy on it."""
    s.altar[0] = tile
    s.bid_energy[0, 0] = 1
    s.order[0], s.turn, s.resolving, s.seat = 1, 1, 0, 0
    s.phase = Phase.VOID_TARGET if tile == VOID_TILE else Phase.PLACE


def _conserve(s: np.record) -> None:
    """Fill bags and stack with what lies nowhere else."""
    for seat in range(int(s.num_players)):
        s.pool[seat, ENERGY] = ENERGY_IN_BAG - s.energy[seat].sum() - s.bid_energy[seat].sum()
        left = max(0, SOULS_ON_TILE - int(s.claims[seat]))
        s.pool[seat, SOUL] = SOULS_IN_ALL - left - s.removed[seat] - s.bid_souls[seat].sum()
    lying = [int(KIND_OF[tile]) for tile in (*s.board.tolist(), *s.altar.tolist()) if tile != NO_TILE]
    for kind in range(len(KIND_NAMES)):
        s.stack[kind] = max(0, kind_in_use(s, kind) - lying.count(kind) - int(s.discard[kind]))


def entry_action(entry: Case, s: np.record) -> list[int]:
    """The actions of an entry, which resolves one tile: none, a cell, or a cell and a target of the flowers."""
    if "action" not in entry:
        return []
    if (int(s.resolving), int(s.seat)) != (entry["slot"], entry["player"]):
        raise NotationError(f"seat {s.seat} decides for slot {s.resolving}")
    place = entry.get("cell", entry.get("void_cell"))
    if entry["action"] != CELL + _cell(place):
        raise NotationError(f"action {entry['action']} is not cell {place}")
    if "target_action" not in entry:
        return [entry["action"]]
    target = DECLINE if entry["target"] is None else CELL + _cell(entry["target"])
    if entry["target_action"] != target:
        raise NotationError(f"action {entry['target_action']} is not the target {entry['target']}")
    return [entry["action"], target]


def expectation(case: Case) -> dict[str, Any]:
    """What is expected; with what is told of the whole way goes the case itself."""
    return {key: (case, value) if key in _ALONG else value for key, value in case["expect"].items() if key != "note"}


# --- expectations ------------------------------------------------------------------------------------------------


def differences(expected: Mapping[str, Any], position: Position) -> list[str]:
    """What of the expectations does not hold in the position, a line each."""
    lines = []
    for key, value in expected.items():
        if key in _ALONG:
            case, value = value
            found = _along(key, case, position)
        elif key == "tie_track" and "tile_winners" in expected:
            found = _winners(position)[1]  # after all tiles are won
        elif key in ("energy_at", "complete", "path"):
            found = {place: _AT[key](position.states[0], _cell_at(place)) for place in value}
        elif key in _FACTS:
            found = _FACTS[key](position)
        else:
            lines.append(f"{key}: not understood")
            continue
        lines += unequal(key, value, found)
    return lines


def _along(key: str, case: Case, position: Position) -> Any:
    if key == "tile_winners":
        return _winners(position)[0]
    start = _fresh(case, position)[0]
    now = position.states[0]
    if key == "bag_soul_gain":
        return [_bag(now, seat, SOUL) - _bag(start, seat, SOUL) for seat in range(position.num_players)]
    if key == "discard_added":
        added = (now.discard - start.discard).tolist()
        return [name for name, count in zip(KIND_NAMES, added, strict=True) for _ in range(count)]
    return _summons(case, position)


def _fresh(case: Case, position: Position) -> np.ndarray:
    states = position.game.template(position.settings)
    arrange(case, states[0])
    return states


def _summons(case: Case, position: Position) -> list[list[dict[str, Any]]]:
    """The paths and awards of each action, read from the events when the case is played once more."""
    states, calls = _fresh(case, position), position.game.calls
    mask = np.zeros(position.game.actions.full_size, dtype=np.int8)
    found = []
    for entry in case["actions"]:
        loops.refresh(calls, states, 0, mask)
        states["events"], states["num_events"] = 0, 0
        for action in entry_action(entry, states[0]):
            loops.raw_apply(calls, states, 0, action)
        summons: list[dict[str, Any]] = []
        for kind, seat, value in states["events"][0][: int(states["num_events"][0])].tolist():
            if kind == SUMMONED:
                summons.append({"path": [list(divmod(cell, COLS)) for cell in path_cells(value)], "awards": []})
            elif kind == EARNED:
                summons[-1]["awards"].append([seat, value % TIED])
        found.append(summons)
    return found


def _in_order(s: np.record) -> list[int]:
    order = s.order.tolist()
    return sorted((slot for slot in range(SLOTS) if order[slot]), key=order.__getitem__)


def _winners(position: Position) -> tuple[list[int], list[int]]:
    """The winners of the tiles in their order, and the track after the last."""
    s = position.clone().states[0]
    return [int(win_tile(s, slot)) for slot in _in_order(s)], _track(s)


def _track(s: np.record) -> list[int]:
    return sorted(range(int(s.num_players)), key=s.track.tolist().__getitem__)


def _bag(s: np.record, seat: int, flower: int) -> int:
    return int(s.pool[seat, flower] - s.hand[seat, flower] - s.pending[seat, :, flower].sum())


def _cells(s: np.record, cells: int) -> list[list[int]]:
    return [list(divmod(cell, COLS)) for cell in range(CELLS) if cells >> cell & 1]


def _cell_at(text: str) -> int:
    row, col = text.split(",")
    return _cell((int(row), int(col)))


def _complete(s: np.record, cell: int) -> bool | None:
    if s.board[cell] == FOUR_POINT_TILE:
        return None
    return bool(path_of(s, cell) & open_ends(s) == 0)


def _waiting(s: np.record) -> list[dict[str, Any]]:
    players = int(s.num_players)
    piles = [(cell, s.energy[:players, cell].tolist()) for cell in range(CELLS) if s.board[cell] == NO_TILE]
    return [{"cell": list(divmod(cell, COLS)), "energy": pile} for cell, pile in piles if any(pile)]


def _discarded(s: np.record) -> list[int]:
    events = s.events[: int(s.num_events)].tolist()
    return [slot for kind, _, slot in events if kind == DISCARDED]


def _by_seat(field: str) -> Callable[[Position], list[int]]:
    return lambda position: position.states[0][field][: position.num_players].tolist()


def _bags(flower: int) -> Callable[[Position], list[int]]:
    return lambda position: [_bag(position.states[0], seat, flower) for seat in range(position.num_players)]


_AT: Final[dict[str, Callable[[np.record, int], Any]]] = {
    "energy_at": lambda s, cell: s.energy[: int(s.num_players), cell].tolist(),
    "complete": _complete,
    "path": lambda s, cell: _cells(s, path_of(s, cell)),
}

_FACTS: Final[dict[str, Callable[[Position], Any]]] = {
    "claimed": _by_seat("claims"),
    "removed_souls": _by_seat("removed"),
    "soul_tile_flowers": lambda position: [
        max(0, SOULS_ON_TILE - int(claims)) for claims in position.states[0].claims[: position.num_players]
    ],
    "bag_soul": _bags(SOUL),
    "bag_energy": _bags(ENERGY),
    "tie_track": lambda position: _track(position.states[0]),
    "board_cells": lambda position: _cells(position.states[0], int(position.states[0].occupied)),
    "waiting": lambda position: _waiting(position.states[0]),
    "next_legal_cells": lambda position: _cells(position.states[0], free_cells(position.states[0])),
    "legal_cells": lambda position: _cells(position.states[0], targets(position.states[0])),
    "legal_actions": lambda position: position.legal_actions().tolist(),
    "order": lambda position: _in_order(position.states[0]),
    "discarded_slots": lambda position: _discarded(position.states[0]),
    "game_over": lambda position: position.over,
    "winner": lambda position: position.places().index(1) if position.over else None,
}
