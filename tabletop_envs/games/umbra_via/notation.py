"""Umbra Via in words: actions, events and positions as text and as JSON facts. Decides nothing of the rules.

A cell is a column letter and a row digit, row 1 at the north: `a1` is cell 0, `d1` cell 3, `d4` cell 15. A tile is
the letters of its openings in the order N, E, S, W, or `four_point`, `void`, `block`. What a viewer may not know (the
hands and pending bids of others) is None in the facts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from tabletop_envs.core.game import ALL
from tabletop_envs.core.header import NOBODY
from tabletop_envs.core.words import ActionReader
from tabletop_envs.errors import NotationError
from tabletop_envs.games.umbra_via.actions import ACTIONS, NUM_ACTIONS
from tabletop_envs.games.umbra_via.state import (
    DISCARDED,
    EARNED,
    FIELDS,
    GOAL,
    LAST_ROUND,
    NONE,
    PATH_BIAS,
    STALEMATE,
    SUMMONED,
    TIED,
    WON,
    Phase,
)
from tabletop_envs.games.umbra_via.tables import (
    CELLS,
    COLS,
    FOUR_POINT,
    FOUR_POINT_TILE,
    KIND_NAMES,
    KIND_OF,
    NO_TILE,
    SIDE_LETTERS,
    SIDES,
    SLOT_NAMES,
    SLOTS,
    SOULS_ON_TILE,
    TILE_CODES,
)

_COLUMNS: Final = "abcd"
CELL_NAMES: Final = tuple(f"{_COLUMNS[cell % COLS]}{cell // COLS + 1}" for cell in range(CELLS))
_CELLS: Final = {name: cell for cell, name in enumerate(CELL_NAMES)}


def _tile_name(tile: int) -> str | None:
    if KIND_OF[tile] < 0:
        return None
    if tile >= FOUR_POINT_TILE:
        return KIND_NAMES[FOUR_POINT + tile - FOUR_POINT_TILE]
    return "".join(letter for side, letter in enumerate(SIDE_LETTERS) if tile >> side & 1)


# [tile face up] -> its name; None for numbers that are no tile
TILE_NAMES: Final = tuple(_tile_name(tile) for tile in range(TILE_CODES))
_TILES: Final = {name: tile for tile, name in enumerate(TILE_NAMES) if name}
_PHASES: Final = {phase.name.lower(): phase for phase in Phase}
_FLOWER_NAMES: Final = ("souls", "energy")


# --- actions and events ------------------------------------------------------------------------------------------


def action_text(action: int) -> str:
    """An action in words: `bid on II`, `to c3` (a tile, or flowers), `decline`."""
    block, index = ACTIONS.decode(action)
    if block == "bid":
        return f"bid on {SLOT_NAMES[index[0]]}"
    return f"to {CELL_NAMES[index[0] * COLS + index[1]]}" if block == "cell" else "decline"


parse_action: Final = ActionReader(
    "Umbra Via",
    action_text,
    NUM_ACTIONS,
    "'bid on II', 'to c3' or 'decline'",
)


@cache
def event_text(kind: int, seat: int, value: int) -> str:
    """What happened by itself, in words; raises NotationError for what cannot happen."""
    # environments ask for the same few texts again and again
    ending = ", the tie broken by its marker, which drops" if kind in (WON, EARNED) and value >= TIED else ""
    value -= TIED if ending else 0
    if kind in (DISCARDED, WON) and not 0 <= value < SLOTS:
        raise NotationError(f"event {kind} names slot {value}, which there is not")
    if kind == DISCARDED:
        return f"the tile on {SLOT_NAMES[value]} is discarded"
    if kind == WON:
        return f"seat {seat} wins the tile on {SLOT_NAMES[value]}{ending}"
    if kind == SUMMONED:
        return f"the path {'-'.join(CELL_NAMES[cell] for cell in path_cells(value))} is complete"
    if kind == EARNED:
        return f"seat {seat} earns {value} {'soul' if value == 1 else 'souls'}{ending}"
    if kind == GOAL:
        return f"seat {seat} reaches the goal with {value} claims"
    if kind == STALEMATE:
        return "nothing can be bid any more: the game ends"
    if kind == LAST_ROUND:
        return f"{value} rounds are over: the game ends"
    raise NotationError(f"event {kind} is none of Umbra Via")


def path_cells(value: int) -> list[int]:
    """The cells of a summoned path, ascending, from the value of its event."""
    cells = value + PATH_BIAS
    return [cell for cell in range(CELLS) if cells >> cell & 1]


# --- facts -------------------------------------------------------------------------------------------------------


def describe(s: np.record, viewer: int) -> dict[str, Any]:
    """The facts that a viewer may know, fit for JSON; rows of numbers are by seat.

    `energy` lies on tiles, `waiting` on empty cells (R10.3). `pool` is bag, hand and pending bids together (R11.1);
    `drawn` and `to_bid` count the flowers of the running bid. `hands` and `pending` are None for the seats whose
    bids the viewer may not see; so is the order of the stack for everybody.
    """
    players = int(s["num_players"])
    board, piles = s["board"].tolist(), s["energy"].T.tolist()
    lying = {cell: pile[:players] for cell, pile in enumerate(piles) if any(pile)}
    hands, pending = s["hand"].tolist(), s["pending"].tolist()
    pool, track = s["pool"].T.tolist(), s["track"].tolist()
    claims, winner = s["claims"].tolist()[:players], int(s["winner"])
    return {
        "round": int(s["rounds"]),
        "phase": Phase(int(s["phase"])).name.lower(),
        "turn": int(s["turn"]),
        "tiles": {CELL_NAMES[cell]: TILE_NAMES[tile] for cell, tile in enumerate(board) if tile},
        "energy": {CELL_NAMES[cell]: pile for cell, pile in lying.items() if board[cell]},
        "waiting": {CELL_NAMES[cell]: pile for cell, pile in lying.items() if not board[cell]},
        "altar": _altar(s, players),
        "resolving": _name(SLOT_NAMES, int(s["resolving"])),
        "placed": _name(CELL_NAMES, int(s["placed"])),
        "track": sorted(range(players), key=track.__getitem__),
        "claims": claims,
        "soul_tile": [max(0, SOULS_ON_TILE - count) for count in claims],
        "removed": s["removed"].tolist()[:players],
        "pool": {name: pool[flower][:players] for flower, name in enumerate(_FLOWER_NAMES)},
        "drawn": s["drawn"].tolist()[:players],
        "to_bid": s["to_bid"].tolist()[:players],
        "hands": [_flowers(hands[seat]) if viewer in (ALL, seat) else None for seat in range(players)],
        "pending": [_pending(pending[seat]) if viewer in (ALL, seat) else None for seat in range(players)],
        "stack": dict(zip(KIND_NAMES, s["stack"].tolist(), strict=True)),
        "discard": dict(zip(KIND_NAMES, s["discard"].tolist(), strict=True)),
        "winner": None if winner == NONE else winner,
    }


def _altar(s: np.record, players: int) -> list[dict[str, Any] | None]:
    tiles, order = s["altar"].tolist(), s["order"].tolist()
    energy, souls = s["bid_energy"].T.tolist(), s["bid_souls"].T.tolist()
    return [
        {
            "tile": TILE_NAMES[tile],
            "energy": energy[slot][:players],
            "souls": souls[slot][:players],
            "order": order[slot] or None,
        }
        if tile
        else None
        for slot, tile in enumerate(tiles)
    ]


def _name(names: Sequence[str], index: int) -> str | None:
    return None if index == NONE else names[index]


def _flowers(counts: Sequence[int]) -> dict[str, int]:
    return dict(zip(_FLOWER_NAMES, counts, strict=True))


def _pending(slots: Sequence[Sequence[int]]) -> dict[str, dict[str, int]]:
    return {SLOT_NAMES[slot]: _flowers(counts) for slot, counts in enumerate(slots) if any(counts)}


def restore(facts: Mapping[str, Any], s: np.record) -> None:
    """Write the position of `describe` for ALL into a record with header and options filled.

    Raises NotationError, KeyError, TypeError or ValueError for facts that are no position.
    """
    players = int(s["num_players"])
    for field in FIELDS:
        s[field.name] = 0
    s["rounds"], s["turn"] = facts["round"], facts["turn"]
    s["phase"] = _index("phase", _PHASES, facts["phase"])
    for name, tile in facts["tiles"].items():
        s["board"][_index("cell", _CELLS, name)] = _index("tile", _TILES, tile)
    for name, pile in (*facts["energy"].items(), *facts["waiting"].items()):
        s["energy"][:players, _index("cell", _CELLS, name)] = pile
    keep_sets(s)
    for slot, lying in enumerate(facts["altar"]):
        if lying is not None:
            s["altar"][slot] = _index("tile", _TILES, lying["tile"])
            s["bid_energy"][:players, slot], s["bid_souls"][:players, slot] = lying["energy"], lying["souls"]
            s["order"][slot] = lying["order"] or 0
    s["resolving"] = NONE if facts["resolving"] is None else SLOT_NAMES.index(facts["resolving"])
    s["placed"] = NONE if facts["placed"] is None else _index("cell", _CELLS, facts["placed"])
    s["track"][list(facts["track"])] = range(players)
    for name in ("claims", "removed", "drawn", "to_bid"):
        s[name][:players] = facts[name]
    for flower, name in enumerate(_FLOWER_NAMES):
        s["pool"][:players, flower] = facts["pool"][name]
    for seat in range(players):
        s["hand"][seat] = [facts["hands"][seat][name] for name in _FLOWER_NAMES]
        for name, counts in facts["pending"][seat].items():
            s["pending"][seat, SLOT_NAMES.index(name)] = [counts[flower] for flower in _FLOWER_NAMES]
    for name in ("stack", "discard"):
        s[name] = [facts[name][kind] for kind in KIND_NAMES]
    s["winner"] = NONE if facts["winner"] is None else facts["winner"]


def keep_sets(s: np.record) -> None:
    """Write the sets of cells that follow from the board."""
    board = s["board"].tolist()
    s["occupied"] = sum(1 << cell for cell, tile in enumerate(board) if tile != NO_TILE)
    for side in range(SIDES):
        regular = ((cell, tile) for cell, tile in enumerate(board) if tile < FOUR_POINT_TILE)
        s["openings"][side] = sum(1 << cell for cell, tile in regular if tile >> side & 1)


def _index(what: str, names: Mapping[str, int], name: Any) -> int:
    if name not in names:
        raise NotationError(f"{what} {name!r}: give one of {', '.join(names)}")
    return names[name]


# --- text --------------------------------------------------------------------------------------------------------

# what stands in a line of the text
_LINES: Final = (
    ("round", "phase", "turn", "seat", "over", "decisions"),
    ("tiles", "energy", "waiting", "placed"),
    ("altar", "resolving"),
    ("track", "claims", "soul_tile", "removed", "winner"),
    ("pool", "drawn", "to_bid"),
    ("hands", "pending"),
    ("stack", "discard"),
)


def position_text(s: np.record, viewer: int) -> str:
    """The facts for a viewer in a few lines of `name=value`, the values in JSON."""
    facts = {"seat": int(s["seat"]), "over": int(s["over"]), "decisions": int(s["decisions"]), **describe(s, viewer)}
    return "\n".join(
        " ".join(f"{name}={json.dumps(facts[name], separators=(',', ':'))}" for name in names) for names in _LINES
    )


def parse_position(text: str, s: np.record) -> None:
    """Write the position of `position_text` for ALL into a record with header and options filled.

    Raises NotationError.
    """
    try:
        facts = {name: json.loads(value) for name, _, value in (part.partition("=") for part in text.split())}
        restore(facts, s)
        s["seat"], s["over"], s["decisions"] = facts["seat"], facts["over"], facts["decisions"]
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise NotationError(
            f"{text!r} is no position ({type(error).__name__}: {error}): write what position_text gives for ALL"
        ) from error
    if not NOBODY <= int(s["seat"]) < int(s["num_players"]):
        raise NotationError(f"seat {int(s['seat'])} is not at the table")
