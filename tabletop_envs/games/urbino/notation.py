"""Urbino in words: actions, events and positions as text and as JSON facts. Decides nothing of the rules.

A cell is written as a column letter and a row digit, with row 1 on top: `a1` is cell 0, `i1` cell 8, `e5` the
middle and `i9` cell 80. A board row is a string of nine characters: `.` empty, `0` and `1` the architects, `h p t`
houses, palaces and towers of Brown, `H P T` those of White. Nothing is hidden (R13): all viewers read the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from tabletop_envs.core.header import NOBODY, OVER_CAP, OVER_RULES, RUNNING
from tabletop_envs.core.words import ActionReader
from tabletop_envs.errors import NotationError
from tabletop_envs.games.urbino.actions import ACTIONS, NUM_ACTIONS
from tabletop_envs.games.urbino.rules import lots, put_building, refresh_allowed, setup
from tabletop_envs.games.urbino.state import FIELDS, SKIPPED, Phase, district_table
from tabletop_envs.games.urbino.tables import (
    BIT,
    CELLS,
    COLS,
    KINDS,
    MONUMENT_NAMES,
    NOWHERE,
    PIECE_LETTERS,
    PLAYERS,
    ROWS,
    SUPPLY,
)

COLOURS: Final = ("brown", "white")
_SCORERS: Final = (*COLOURS, None)  # index -1: nobody
KIND_NAMES: Final = ("house", "palace", "tower")
# the counted monument of a block by its rank in the record, 0 for none
MONUMENTS_BY_RANK: Final = ("none", *(name.replace(" ", "_") for name in MONUMENT_NAMES))

_COLUMNS: Final = "abcdefghi"
_EMPTY: Final = "."
_LETTERS: Final = _EMPTY + "".join(PIECE_LETTERS)  # index = piece on the board
_UNPLACED: Final = "-"
_TEXT_FIELDS: Final = ("board", "architects", "supply", "turn", "phase", "skips", "decisions")


# --- cells and actions ------------------------------------------------------------------------------------------


def cell_text(cell: int) -> str:
    """The name of a cell, `a1` to `i9`."""
    return f"{_COLUMNS[cell % COLS]}{cell // COLS + 1}"


_NAMES: Final = tuple(cell_text(cell) for cell in range(CELLS))
_CELLS: Final = {name: cell for cell, name in enumerate(_NAMES)}
_BITS: Final = BIT[:CELLS].tolist()


def parse_cell(text: str) -> int:
    """The cell of a name; raises NotationError."""
    try:
        return _CELLS[text.strip().lower()]
    except (KeyError, AttributeError):
        raise NotationError(f"{text!r} is no cell: write a letter a to i and a digit 1 to 9, like 'e5'") from None


def action_text(action: int) -> str:
    """An action in words: `architect 0 e5`, `stay`, `house e5`, `brown first`."""
    block, index = ACTIONS.decode(action)
    if block == "stay":
        return "stay"
    if block == "first":
        return f"{COLOURS[index[0]]} first"
    cell = cell_text(index[1] * COLS + index[2])
    return f"architect {index[0]} {cell}" if block == "architect" else f"{KIND_NAMES[index[0]]} {cell}"


parse_action: Final = ActionReader(
    "Urbino",
    action_text,
    NUM_ACTIONS,
    "'architect 0 e5', 'stay', 'house e5', 'palace e5', 'tower e5', 'brown first' or 'white first'",
)


def event_text(kind: int, seat: int, value: int) -> str:
    """What happened by itself, in words; Urbino knows the skip alone (R8.3)."""
    if kind != SKIPPED:
        raise NotationError(f"event {kind} is none of Urbino: the only one is {SKIPPED}, a skip")
    return f"{COLOURS[seat].capitalize()} cannot build and is skipped"


# --- facts ------------------------------------------------------------------------------------------------------


def board_rows(s: np.record) -> list[str]:
    """The board as nine strings of nine characters, architects included."""
    letters = [_LETTERS[piece] for piece in s["board"].tolist()]
    for architect, cell in enumerate(s["architects"].tolist()):
        if cell != NOWHERE:
            letters[cell] = str(architect)
    return ["".join(letters[row * COLS : row * COLS + COLS]) for row in range(ROWS)]


def lot_cells(s: np.record) -> list[int]:
    """The lots, ascending (R5.4)."""
    low, high = lots(s)
    return [cell for cell, (in_low, in_high) in enumerate(_BITS) if in_low & low or in_high & high]


def districts(s: np.record) -> list[dict[str, Any]]:
    """The districts in the order of the record.

    Each has its cells (ascending), [houses, palaces, towers] of `brown` and `white`, and by colour its `value`
    (R9.3) and counted `monument` (R11.3); `scored_by` is a colour or None (R9.4).
    """
    rows = zip(_district_cells(s), district_table(s).tolist(), s.tally.tolist(), s.monument.tolist(), strict=False)
    return [
        {
            "cells": cells,
            **dict(zip(COLOURS, tally, strict=True)),
            "value": values,
            "monument": [MONUMENTS_BY_RANK[rank] for rank in ranks],
            "scored_by": _SCORERS[winner],
        }
        for cells, (*values, winner), tally, ranks in rows
    ]


def _district_cells(s: np.record) -> list[list[int]]:
    cells: list[list[int]] = [[] for _ in range(int(s["num_districts"]))]
    for cell, label in enumerate(s["district"].tolist()):
        if label >= 0:
            cells[label].append(cell)
    return cells


def describe(s: np.record, viewer: int) -> dict[str, Any]:
    """The position as facts fit for JSON, the same for every viewer (R13).

    `lots`, `districts` and `points` follow from the rest. The order of the districts is that of the record.
    """
    # files of thousands of games are checked by these facts: each field is taken once, as a list, and by item, which
    # takes numpy a quarter of the time
    brown, white = COLOURS
    return {
        "board": board_rows(s),
        "architects": [None if cell == NOWHERE else _NAMES[cell] for cell in s["architects"].tolist()],
        "supply": {
            name: {f"{kind}s": count for kind, count in zip(KIND_NAMES, counts, strict=True)}
            for name, counts in zip(COLOURS, s["supply"].tolist(), strict=True)
        },
        "turn": COLOURS[int(s["turn"])],
        "phase": Phase(int(s["phase"])).name.lower(),
        "skips": int(s["skips"]),
        "lots": [_NAMES[cell] for cell in lot_cells(s)],
        "districts": [
            {
                "cells": [_NAMES[cell] for cell in cells],
                "value": {brown: values[0], white: values[1]},
                "scored_by": _SCORERS[values[2]],
            }
            for cells, values in zip(_district_cells(s), district_table(s).tolist(), strict=True)
        ],
        "points": dict(zip(COLOURS, s["points"].tolist(), strict=True)),
    }


def restore(facts: Mapping[str, Any], s: np.record) -> None:
    """Write the position of `describe` into a record with header and options filled.

    Lots, values and points are found anew. `districts` may be missing; it gives the order in which they are kept.
    Raises NotationError, KeyError or TypeError for facts that are no position.
    """
    pieces, drawn = read_board(facts["board"])
    architects = [NOWHERE if name is None else parse_cell(name) for name in facts["architects"]]
    if architects != drawn:
        raise NotationError(f"architects {facts['architects']!r} do not stand where the board shows 0 and 1")
    rebuild(
        s,
        pieces,
        architects,
        supply=[[facts["supply"][name][f"{kind}s"] for kind in KIND_NAMES] for name in COLOURS],
        turn=_index("turn", COLOURS, facts["turn"]),
        phase=read_phase(facts["phase"]),
        skips=facts["skips"],
        order=[parse_cell(cell) for district in facts.get("districts", ()) for cell in district["cells"]],
    )


def read_board(rows: Sequence[str]) -> tuple[list[int], list[int]]:
    """The pieces by cell and the cells of the architects out of `board_rows`; raises NotationError."""
    letters = "".join(rows)
    if len(rows) != ROWS or any(len(row) != COLS for row in rows):
        raise NotationError(f"{rows!r} is no board: give {ROWS} strings of {COLS} characters")
    strange = set(letters) - set(_LETTERS + "01")
    if strange or letters.count("0") > 1 or letters.count("1") > 1:
        raise NotationError(f"{rows!r} is no board: use {_LETTERS!r} freely, 0 and 1 (the architects) at most once")
    pieces = [max(_LETTERS.find(letter), 0) for letter in letters]
    return pieces, [letters.index(architect) if architect in letters else NOWHERE for architect in "01"]


def read_phase(name: str) -> Phase:
    """The phase of a name in small letters; raises NotationError."""
    return Phase(_index("phase", [phase.name.lower() for phase in Phase], name))


def rebuild(
    s: np.record,
    pieces: Sequence[int],
    architects: Sequence[int],
    *,
    supply: Sequence[Sequence[int]],
    turn: int,
    phase: Phase,
    skips: int,
    order: Sequence[int] = (),
) -> None:
    """Write a position into a record with header and options filled; the caller sets seat, decisions and end.

    Buildings are put up cell by cell, those of `order` first, then by rising cell: so districts are kept in the
    order of their first mention. Supplies need not match the board, but must be possible ones.
    """
    standing = np.bincount(np.asarray(pieces, dtype=np.int64), minlength=1 + PLAYERS * KINDS)[1:]
    if not _possible_supply(supply):
        limits = ", ".join(map(str, SUPPLY))
        raise NotationError(f"supply {supply!r}: give two colours with up to {limits} houses, palaces, towers")
    if not isinstance(skips, int) or not 0 <= skips <= PLAYERS:
        raise NotationError(f"skips {skips!r}: give 0, 1 or 2")
    for field in FIELDS:
        s[field.name] = 0
    seat = int(s.seat)
    setup(s)
    s.seat = seat
    s.supply[:] = np.array(supply) + standing.reshape(PLAYERS, KINDS)
    for cell in dict.fromkeys([*order, *range(CELLS)]):
        if pieces[cell]:
            colour, kind = divmod(pieces[cell] - 1, KINDS)
            put_building(s, colour, kind, cell)
    refresh_allowed(s)
    s.architects[:] = architects
    s.turn, s.phase, s.skips = turn, phase, skips


def _possible_supply(supply: Sequence[Sequence[Any]]) -> bool:
    return len(supply) == PLAYERS and all(
        len(counts) == KINDS
        and all(type(count) is int and 0 <= count <= most for count, most in zip(counts, SUPPLY, strict=True))
        for counts in supply
    )


def _index(what: str, names: Sequence[str], name: Any) -> int:
    if name not in names:
        raise NotationError(f"{what} {name!r}: give one of {', '.join(names)}")
    return names.index(name)


# --- one line ---------------------------------------------------------------------------------------------------


def position_text(s: np.record, viewer: int) -> str:
    """A position in one line of seven fields, the same for every viewer (R13).

    Board (rows from the top, a number for a run of empty cells), cells of the architects (`-` before placement),
    supplies of Brown and White, turn, phase, skips in a row, decisions made:

        9/9/2h6/2T6/9/9/9/9/9 a1,e5 17,6,3/18,6,2 brown relocate 0 7

    It says all of a position that waits for a decision or is over, but for the events that led to it.
    """
    rows = [_shorten("".join(_LETTERS[int(piece)] for piece in row)) for row in s.board.reshape(ROWS, COLS)]
    architects = [_UNPLACED if cell == NOWHERE else cell_text(int(cell)) for cell in s.architects]
    supplies = [",".join(str(int(count)) for count in counts) for counts in s.supply]
    phase = Phase(int(s.phase)).name.lower()
    fields = ("/".join(rows), ",".join(architects), "/".join(supplies), COLOURS[int(s.turn)], phase)
    return " ".join(fields) + f" {int(s.skips)} {int(s.decisions)}"


def parse_position(text: str, s: np.record) -> None:
    """Write the position of `position_text` into a record with header and options filled; raises NotationError.

    Districts are kept in the order of their lowest cells. Whether the cap ends the game follows from the record.
    """
    parts = text.split()
    if len(parts) != len(_TEXT_FIELDS):
        raise NotationError(f"{text!r} has {len(parts)} fields: give {len(_TEXT_FIELDS)}, {', '.join(_TEXT_FIELDS)}")
    board, architects, supply, turn, phase, skips, decisions = parts
    cells = [NOWHERE if name == _UNPLACED else parse_cell(name) for name in architects.split(",")]
    if len(cells) != PLAYERS:
        raise NotationError(
            f"architects {architects!r}: give two cells, like 'a1,e5', or {_UNPLACED} for one not placed"
        )
    rebuild(
        s,
        read_board([_lengthen(row) for row in board.split("/")])[0],
        cells,
        supply=[[_number("supply", count) for count in counts.split(",")] for counts in supply.split("/")],
        turn=_index("turn", COLOURS, turn.lower()),
        phase=read_phase(phase.lower()),
        skips=_number("skips", skips),
    )
    s.decisions = _number("decisions", decisions)
    s.over = OVER_RULES if s.phase == Phase.OVER else OVER_CAP if s.decisions >= s.max_decisions else RUNNING
    s.seat = s.turn if s.over == RUNNING else NOBODY


def _shorten(row: str) -> str:
    for run in range(COLS, 0, -1):
        row = row.replace(_EMPTY * run, str(run))
    return row


def _lengthen(row: str) -> str:
    return "".join(_EMPTY * int(letter) if letter in "123456789" else letter for letter in row)


def _number(what: str, text: str) -> int:
    if not text.isdecimal():
        raise NotationError(f"{what} {text!r}: give a whole number")
    return int(text)
