"""Worked cases for `tabletop_envs.casebook`: set-up -> record, entry -> action, expectation -> differences.

The format is told at the head of `tests/games/urbino/cases.json`. Expectations are compared with what the record
keeps (districts, points) and with what a position answers (mask, events); a key that is not known is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from tabletop_envs.casebook import unequal
from tabletop_envs.core.header import NOBODY, OVER_RULES
from tabletop_envs.core.position import Position
from tabletop_envs.errors import NotationError
from tabletop_envs.games.urbino.actions import ARCHITECT, FIRST, STAY
from tabletop_envs.games.urbino.notation import (
    COLOURS,
    board_rows,
    districts,
    lot_cells,
    read_board,
    read_phase,
    rebuild,
)
from tabletop_envs.games.urbino.state import Phase, colour_of, flood
from tabletop_envs.games.urbino.tables import BROWN, CELLS, HOUSE, KINDS, PLAYERS, WHITE

_SETUP_KEYS: Final = {"board", "supply", "to_move", "phase", "first_turn", "options"}
_PLACES: Final = 6  # digits to which the cases round observations

# (what is expected of the key, position, all that is expected) -> what differs
Check = Callable[[Any, Position, Mapping[str, Any]], list[str]]


# --- set-up and actions -----------------------------------------------------------------------------------------


def is_manual(case: Mapping[str, Any]) -> bool:
    """Whether only a reader can judge the case: none of Urbino's is."""
    return False


def settings(case: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """Number of players and options."""
    return PLAYERS, dict(case["setup"]["options"])


def arrange(case: Mapping[str, Any], s: np.record) -> None:
    """Write the set-up into a record with header and options filled; raises NotationError for one that is none.

    Supplies are taken as given, also where they do not match the board.
    """
    given = case["setup"]
    if set(given) != _SETUP_KEYS:
        odd = ", ".join(sorted(set(given) ^ _SETUP_KEYS))
        raise NotationError(f"set-up keys {odd} are missing or not understood: give {', '.join(sorted(_SETUP_KEYS))}")
    pieces, architects = read_board(given["board"])
    if given["first_turn"] and any(pieces):
        raise NotationError("first_turn is true with buildings on the board: set it to false")
    phase = read_phase(given["phase"])
    turn = COLOURS.index(given["to_move"])
    over = phase == Phase.OVER
    supply = [given["supply"][colour] for colour in COLOURS]
    skips = PLAYERS if over else 0
    rebuild(s, pieces, architects, supply=supply, turn=turn, phase=phase, skips=skips)
    s.seat = NOBODY if over else turn
    s.over = OVER_RULES if over else s.over


def entry_action(entry: Any, s: np.record) -> int | dict[str, Any]:
    """The action of an entry, which is its index; {"check": {...}} stands for expectations to be met there."""
    if isinstance(entry, dict) and set(entry) == {"check"}:
        return dict(entry["check"])
    if not isinstance(entry, int):
        raise NotationError(f"{entry!r} is no entry: give an action index, or {{'check': expectations}}")
    return entry


# --- expectations -----------------------------------------------------------------------------------------------


def differences(expected: Mapping[str, Any], position: Position) -> list[str]:
    """What of the expectations does not hold in the position, a line each."""
    lines = []
    for key, value in expected.items():
        if key in _FACTS:
            lines += unequal(key, value, _FACTS[key](position))
        elif key in _CHECKS:
            lines += _CHECKS[key](value, position, expected)
        else:
            lines.append(f"{key}: not understood")
    return lines


def _legal(position: Position) -> list[int]:
    return [int(action) for action in position.legal_actions()]


def _player(position: Position) -> str | None:
    return None if position.seat is None else COLOURS[position.seat]


def _skipped(position: Position) -> list[str]:
    s = position.states[0]
    return [COLOURS[int(seat)] for _, seat, _ in s.events[: int(s.num_events)]]


def _winner(position: Position) -> str:
    places = position.places()
    return "draw" if places[0] == places[1] else COLOURS[places.index(1)]


def _after(position: Position, action: int) -> Position:
    copy = position.clone()
    copy.apply(action)
    return copy


def _joint_count(position: Position) -> int:
    """Legal (relocation, kind, cell) triples of a turn: builds summed over the relocations."""
    if position.phase == Phase.BUILD.name.lower():
        return len(_legal(position))
    return sum(len(_legal(_after(position, action))) for action in _legal(position))


_FACTS: Final[dict[str, Callable[[Position], Any]]] = {
    "player": _player,
    "phase": lambda position: position.phase,
    "legal": _legal,
    "legal_count": lambda position: len(_legal(position)),
    "joint_count": _joint_count,
    "lots": lambda position: lot_cells(position.states[0]),
    "skipped": _skipped,
    "board": lambda position: board_rows(position.states[0]),
    "score": Position.points,
    "winner": _winner,
}


def _must_be_legal(actions: Sequence[int], position: Position, _: Mapping[str, Any]) -> list[str]:
    missing = sorted(set(actions) - set(_legal(position)))
    return [f"must_be_legal: {missing} are not"] if missing else []


def _must_be_illegal(actions: Sequence[int], position: Position, _: Mapping[str, Any]) -> list[str]:
    wrong = sorted(set(actions) & set(_legal(position)))
    return [f"must_be_illegal: {wrong} are legal"] if wrong else []


def _districts(expected: Sequence[Mapping[str, Any]], position: Position, _: Mapping[str, Any]) -> list[str]:
    found = sorted(districts(position.states[0]), key=lambda facts: facts["cells"])
    if not position.settings.values["monuments"]:
        for facts in found:
            del facts["monument"]
    lines = unequal("districts", len(expected), len(found))
    for here, there in zip(expected, found, strict=False):
        lines += unequal(f"district of cell {there['cells'][0]}", dict(here), there)
    return lines


def _blocks_after(colour: int) -> Check:
    def check(expected: Mapping[str, int], position: Position, _: Mapping[str, Any]) -> list[str]:
        lines = []
        for cell, blocks in expected.items():
            board = position.states[0].board.copy()
            board[int(cell)] = 1 + HOUSE + KINDS * colour
            lines += unequal(f"blocks after {COLOURS[colour]} builds on {cell}", blocks, _blocks(board, int(cell)))
        return lines

    return check


def _blocks(board: np.ndarray, cell: int) -> int:
    """Blocks in the district of a cell, legal or not (R2.4)."""
    district = np.zeros(CELLS, dtype=np.bool_)
    flood(board, cell, -1, district)
    seen = np.zeros(CELLS, dtype=np.bool_)
    blocks = 0
    for other in np.flatnonzero(district):
        if not seen[other]:
            flood(board, int(other), int(colour_of(int(board[other]))), seen)
            blocks += 1
    return blocks


def _observation(nonzero: Sequence[Sequence[float]], position: Position, expected: Mapping[str, Any]) -> list[str]:
    vector = position.observe(COLOURS.index(expected["observation_of"]))
    found = {int(index): round(float(vector[index]), _PLACES) for index in np.flatnonzero(vector)}
    wanted = {int(index): round(float(value), _PLACES) for index, value in nonzero}
    lines = []
    for index in sorted(set(found) | set(wanted)):
        lines += unequal(f"observation[{index}]", wanted.get(index, 0), found.get(index, 0))
    return lines


def _observation_of(_: str, position: Position, expected: Mapping[str, Any]) -> list[str]:
    return [] if "observation_nonzero" in expected else ["observation_of: nothing is expected of it"]


def _table(rows: Sequence[Mapping[str, Any]], position: Position, _: Mapping[str, Any]) -> list[str]:
    """Each row tells of a game of its own: two architects on the empty board, or a list of actions."""
    lines = []
    for number, row in enumerate(rows):
        if "actions" in row:
            keys, facts = {"actions"}, _second_turn(_fresh(position, row["actions"]))
        else:
            keys, facts = (
                {"architect0", "architect1"},
                _first_build(position, row["architect0"], row["architect1"]),
            )
        lines += unequal(f"table[{number}]", {key: row[key] for key in row if key not in keys}, facts)
    return lines


def _fresh(position: Position, actions: Sequence[int]) -> Position:
    new = Position.new(position.game, position.num_players, **position.settings.values)
    for action in actions:
        new.apply(action)
    return new


def _first_build(position: Position, first: int, second: int) -> dict[str, Any]:
    placed = _fresh(position, [ARCHITECT + first, ARCHITECT + CELLS + second, FIRST + BROWN])
    return {"lots": lot_cells(placed.states[0]), "first_build_actions": len(_legal(placed))}


def _second_turn(position: Position) -> dict[str, Any]:
    return {
        "relocate_options": len(_legal(position)),
        "relocation_plus_build_options": _joint_count(position),
        "stay_build_options": len(_legal(_after(position, STAY))),
    }


def _all_ordered_pairs(expected: Mapping[str, Any], position: Position, _: Mapping[str, Any]) -> list[str]:
    lots_to_pairs: Counter[int] = Counter()
    builds = 0
    for first in range(CELLS):
        for second in range(CELLS):
            if first != second:
                facts = _first_build(position, first, second)
                lots_to_pairs[len(facts["lots"])] += 1
                builds += facts["first_build_actions"]
    found = {
        "pairs": lots_to_pairs.total(),
        "total_lots": sum(lots * pairs for lots, pairs in lots_to_pairs.items()),
        "total_first_builds": builds,
        "histogram_lots_to_pairs": {str(lots): lots_to_pairs[lots] for lots in sorted(lots_to_pairs)},
    }
    return unequal("all_ordered_pairs", dict(expected), found)


_CHECKS: Final[dict[str, Check]] = {
    "must_be_legal": _must_be_legal,
    "must_be_illegal": _must_be_illegal,
    "districts": _districts,
    "observation_of": _observation_of,
    "observation_nonzero": _observation,
    "table": _table,
    "all_ordered_pairs": _all_ordered_pairs,
    "blocks_in_district_after_brown_build": _blocks_after(BROWN),
    "blocks_in_district_after_white_build": _blocks_after(WHITE),
}
