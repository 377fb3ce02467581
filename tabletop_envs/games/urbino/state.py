"""The record of Urbino, one field per line, and `check`, its invariants. Knows the board, not the rules of a turn.

A set of cells is two words, see `tables.BIT`. Everything below the line "kept for speed" follows from the fields
above it; `check` proves that it does.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np

from tabletop_envs.core.header import NOBODY, OVER_RULES, RUNNING
from tabletop_envs.core.jit import jit
from tabletop_envs.core.record import Field, record_dtype
from tabletop_envs.games.urbino import GAME
from tabletop_envs.games.urbino.tables import (
    BIT,
    BROWN,
    CELLS,
    HOUSE,
    KINDS,
    LINES,
    MONUMENTS,
    NEIGHBOUR_CELLS,
    NEIGHBOURS,
    NOWHERE,
    PALACE,
    PLAYERS,
    SUPPLY,
    TOTAL_VALUE,
    TOWER,
    VALUE,
    WHITE,
)


class Phase(IntEnum):
    """What is asked (R10.1)."""

    PLACE_ARCHITECT = 0
    CHOOSE_FIRST = 1
    RELOCATE = 2
    BUILD = 3
    OVER = 4


SKIPPED: Final = 1  # event: the seat was skipped (R8.3)

# Districts are never adjacent to each other, so one cell of each makes an independent set of the 9 x 9 grid.
MAX_DISTRICTS: Final = (CELLS + 1) // 2
MAX_POINTS: Final = 2 * TOTAL_VALUE  # with monuments (R11) some values count twice

FIELDS: Final = (
    Field("board", np.int8, (CELLS,), "cell -> 0 empty, else 1 + kind + 3 * colour", (0, PLAYERS * KINDS)),
    Field("architects", np.int8, (2,), "architect -> its cell, NOWHERE before it is placed (R1.4)", (0, NOWHERE)),
    Field("supply", np.int8, (PLAYERS, KINDS), "colour, kind -> buildings not yet built (R1.5)", (0, 18)),
    Field("turn", np.int8, (), "colour whose turn it is, also while nobody is asked", (0, 1)),
    Field("skips", np.int8, (), "turns skipped since the last build (R8.6)", (0, 2)),
    # --- kept for speed
    Field("built", np.int64, (2,), "set of the cells with a building", (0, 2**45 - 1)),
    Field("near", np.int64, (KINDS, 2), "kind -> set of the cells beside such a building", (0, 2**45 - 1)),
    Field("num_districts", np.int8, (), "districts on the board (R2.3)", (0, MAX_DISTRICTS)),
    Field("district", np.int8, (CELLS,), "cell -> its district, -1 without a building", (-1, MAX_DISTRICTS - 1)),
    Field(
        "touch",
        np.int64,
        (MAX_DISTRICTS, PLAYERS, 2),
        "district, colour -> set of the cells beside its block of that colour; empty without one",
        (0, 2**45 - 1),
    ),
    Field("tally", np.int8, (MAX_DISTRICTS, PLAYERS, KINDS), "district, colour, kind -> buildings", (0, 18)),
    Field("monument", np.int8, (MAX_DISTRICTS, PLAYERS), "district, colour -> counted monument's rank (R11.3)", (0, 3)),
    Field("allowed", np.int64, (PLAYERS, KINDS, 2), "colour, kind -> cells that would take it (R8.2)", (0, 2**45 - 1)),
    Field("points", np.int16, (PLAYERS,), "colour -> score if the game ended now (R9.5)", (0, MAX_POINTS)),
)

DTYPE: Final = record_dtype(GAME, FIELDS)

INVARIANTS: Final = {
    1: "phase, seat and over agree (R10.1)",
    2: "board and supply hold all buildings of each colour (R1.3)",
    3: "architects stand on different cells without a building (R2.1)",
    4: "districts are the connected groups of buildings (R2.3)",
    5: "at most one block per colour in a district (R6.2)",
    6: "no two towers, no two palaces side by side (R7)",
    7: "kept sets: built, near, touch",
    8: "kept tallies, monuments and points (R9, R11)",
    9: "kept table of allowed cells (R8.2)",
}


@jit
def colour_of(piece):
    """The colour of a piece on the board."""
    return (piece - 1) // KINDS


@jit
def kind_of(piece):
    """The kind of a piece on the board."""
    return (piece - 1) % KINDS


@jit
def flood(board, start, colour, seen):
    """Mark the group of buildings connected with `start` (of one colour, or of any for -1); returns its size."""
    stack = np.empty(CELLS, dtype=np.int64)
    stack[0] = start
    seen[start] = True
    depth, size = 1, 0
    while depth > 0:
        depth -= 1
        cell = stack[depth]
        size += 1
        for k in range(4):
            beside = int(NEIGHBOUR_CELLS[cell, k])
            if beside < 0 or seen[beside] or board[beside] == 0:
                continue
            if colour < 0 or colour_of(int(board[beside])) == colour:
                seen[beside] = True
                stack[depth] = beside
                depth += 1
    return size


@jit
def one_block_each(board, cell):
    """Whether the district of `cell` holds at most one block per colour (R6.2), counted from the bare board."""
    district = np.zeros(CELLS, dtype=np.bool_)
    flood(board, cell, -1, district)
    for colour in range(PLAYERS):
        seen = np.zeros(CELLS, dtype=np.bool_)
        blocks = 0
        for other in range(CELLS):
            if district[other] and not seen[other] and colour_of(int(board[other])) == colour:
                flood(board, other, colour, seen)
                blocks += 1
        if blocks > 1:
            return False
    return True


@jit
def same_kind_beside(board, cell, kind):
    """Whether a building of the kind stands beside the cell, of either colour."""
    for k in range(4):
        beside = int(NEIGHBOUR_CELLS[cell, k])
        if beside >= 0 and board[beside] > 0 and kind_of(int(board[beside])) == kind:
            return True
    return False


@jit
def line_monument(board, line):
    """The rank of the monument that stands on a line of three cells, 0 for none (R11.2)."""
    first = int(board[LINES[line, 0]])
    if first == 0:
        return 0
    for rank in range(len(MONUMENTS), 0, -1):
        matches = True
        for k in range(3):
            piece = int(board[LINES[line, k]])
            same = piece > 0 and colour_of(piece) == colour_of(first)
            matches = matches and same and kind_of(piece) == int(MONUMENTS[rank - 1, k])
        if matches:
            return rank
    return 0


@jit
def block_value(s, district, colour):
    """The total value of a colour in a district, its monument's bonus included (R9.3, R11.3)."""
    value = 0
    for kind in range(KINDS):
        value += int(s.tally[district, colour, kind]) * int(VALUE[kind])
    rank = int(s.monument[district, colour])
    return value + (int(MONUMENTS[rank - 1, 3]) if rank > 0 else 0)


@jit
def district_winner(s, district):
    """The colour that scores the district, -1 for nobody (R9.2 to R9.4, R11.4)."""
    values = (block_value(s, district, BROWN), block_value(s, district, WHITE))
    if values[0] == 0 or values[1] == 0:
        return -1
    if values[0] != values[1]:
        return BROWN if values[0] > values[1] else WHITE
    difference = int(s.monument[district, BROWN]) - int(s.monument[district, WHITE])
    for kind in range(KINDS - 1, -1, -1):
        if difference == 0:
            difference = int(s.tally[district, BROWN, kind]) - int(s.tally[district, WHITE, kind])
    if difference == 0:
        return -1
    return BROWN if difference > 0 else WHITE


@jit
def district_table(s):
    """[district] -> value of Brown, value of White, who scores it: all at once, for texts and pictures."""
    table = np.empty((int(s.num_districts), PLAYERS + 1), dtype=np.int64)
    for district in range(len(table)):
        for colour in range(PLAYERS):
            table[district, colour] = block_value(s, district, colour)
        table[district, PLAYERS] = district_winner(s, district)
    return table


# --- invariants -------------------------------------------------------------------------------------------------


@jit
def check(s):
    """0, or the code of the broken invariant (`INVARIANTS`)."""
    if not _phase_agrees(s):
        return 1
    for colour in range(PLAYERS):
        for kind in range(KINDS):
            standing = 0
            for cell in range(CELLS):
                standing += int(s.board[cell]) == 1 + kind + KINDS * colour
            if standing + int(s.supply[colour, kind]) != int(SUPPLY[kind]):
                return 2
    for architect in range(2):
        cell = int(s.architects[architect])
        if cell != NOWHERE and (s.board[cell] > 0 or cell == int(s.architects[1 - architect])):
            return 3
    code = _check_districts(s)
    if code > 0:
        return code
    if not _sets_kept(s):
        return 7
    if not _points_kept(s):
        return 8
    return 0 if _allowed_kept(s) else 9


@jit
def _phase_agrees(s):
    over = int(s.phase) == Phase.OVER
    if s.over == RUNNING:
        # R8.6: two skips in a row would have ended it
        if over or s.skips >= PLAYERS or (s.seat != NOBODY and s.seat != s.turn):
            return False
    elif s.seat != NOBODY or (s.over == OVER_RULES) != over:
        # a cap may stop the game in any phase
        return False
    if over and s.skips != PLAYERS:
        return False
    # R3.1 to R3.4: the architects are placed in turn, and the city begins with a build alone
    placed = int(s.architects[0] != NOWHERE), int(s.architects[1] != NOWHERE)
    empty = s.num_districts == 0
    if s.phase == Phase.PLACE_ARCHITECT:
        return empty and placed[1] == 0 and placed[0] == s.turn
    if placed[0] + placed[1] < 2:
        return False
    if s.phase == Phase.CHOOSE_FIRST:
        return empty and s.turn == BROWN
    return s.phase == Phase.BUILD or not empty


@jit
def _check_districts(s):
    used = np.zeros(MAX_DISTRICTS, dtype=np.bool_)
    for cell in range(CELLS):
        label = int(s.district[cell])
        if (label >= 0) != (s.board[cell] > 0) or label >= s.num_districts:
            return 4
        if label < 0:
            continue
        used[label] = True
        seen = np.zeros(CELLS, dtype=np.bool_)
        flood(s.board, cell, -1, seen)
        for other in range(CELLS):
            if seen[other] != (int(s.district[other]) == label):
                return 4
        if not one_block_each(s.board, cell):
            return 5
        kind = kind_of(int(s.board[cell]))
        if kind in (TOWER, PALACE) and same_kind_beside(s.board, cell, kind):
            return 6
    for label in range(MAX_DISTRICTS):
        if used[label] != (label < s.num_districts):
            return 4
    return 0


@jit
def _sets_kept(s):
    for word in range(2):
        built = 0
        for cell in range(CELLS):
            if s.board[cell] > 0:
                built |= int(BIT[cell, word])
        if built != s.built[word]:
            return False
        for kind in range(KINDS):
            near = 0
            for cell in range(CELLS):
                if s.board[cell] > 0 and kind_of(int(s.board[cell])) == kind:
                    near |= int(NEIGHBOURS[cell, word])
            if near != s.near[kind, word]:
                return False
        for district in range(MAX_DISTRICTS):
            for colour in range(PLAYERS):
                touch = 0
                for cell in range(CELLS):
                    if int(s.district[cell]) == district and colour_of(int(s.board[cell])) == colour:
                        touch |= int(NEIGHBOURS[cell, word])
                if touch != s.touch[district, colour, word]:
                    return False
    return True


@jit
def _points_kept(s):
    points = np.zeros(PLAYERS, dtype=np.int64)
    for district in range(MAX_DISTRICTS):
        for colour in range(PLAYERS):
            for kind in range(KINDS):
                standing = 0
                for cell in range(CELLS):
                    here = int(s.district[cell]) == district
                    standing += here and int(s.board[cell]) == 1 + kind + KINDS * colour
                if standing != s.tally[district, colour, kind]:
                    return False
            rank = 0
            for line in range(len(LINES)):
                first = int(LINES[line, 0])
                if int(s.district[first]) == district and colour_of(int(s.board[first])) == colour:
                    rank = max(rank, line_monument(s.board, line))
            if s.monument[district, colour] != (rank if s.monuments > 0 else 0):
                return False
        winner = district_winner(s, district)
        if winner >= 0:
            points[winner] += block_value(s, district, winner)
    return points[BROWN] == s.points[BROWN] and points[WHITE] == s.points[WHITE]


@jit
def _allowed_kept(s):
    board = s.board.copy()
    for colour in range(PLAYERS):
        expected = np.zeros((KINDS, 2), dtype=np.int64)
        for cell in range(CELLS):
            if s.board[cell] > 0:
                continue
            board[cell] = 1 + KINDS * colour
            if one_block_each(board, cell):
                for kind in range(KINDS):
                    fits = kind == HOUSE or not same_kind_beside(s.board, cell, kind)
                    if fits and s.supply[colour, kind] > 0:
                        expected[kind, 0] |= BIT[cell, 0]
                        expected[kind, 1] |= BIT[cell, 1]
            board[cell] = 0
        for kind in range(KINDS):
            for word in range(2):
                if expected[kind, word] != s.allowed[colour, kind, word]:
                    return False
    return True
