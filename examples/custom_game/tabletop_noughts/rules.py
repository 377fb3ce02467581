"""The rules in the order of RULES.md. Functions with @jit are compiled: plain loops over numbers and arrays.

`s` is the record. Chance, where a game has some, comes from `tabletop_envs.core.random` alone.
"""

from __future__ import annotations

from tabletop_envs.core.header import NOBODY, OVER_RULES, report
from tabletop_envs.core.jit import jit
from tabletop_noughts.tables import CELLS, LINES, SEATS

LINE_MADE = 0  # a kind of event, for `notation.event_text`


@jit
def setup(s):
    """R1. The record is zeroed, its options and number of players are filled in: the board is empty already."""
    s.seat = 0


@jit
def legal(s, mask):
    """R2: any free cell. Writes every entry of the mask and returns how many are 1."""
    count = 0
    for cell in range(CELLS):
        mask[cell] = 1 if s.board[cell] == 0 else 0
        count += int(mask[cell])
    return count


@jit
def apply(s, action):
    """R2. Accepts what `legal` allows and nothing else, without asking it: the tests compare the two."""
    assert s.seat != NOBODY, "nobody is asked"
    assert 0 <= action < CELLS, "the action is outside the space"
    assert s.board[action] == 0, "the cell is not free (R2)"
    s.board[action] = 1 + s.seat
    s.seat = NOBODY  # something automatic comes next: `advance`


@jit
def advance(s):
    """One automatic step while nobody is asked: the end (R3), or the other seat's turn (R2)."""
    maker = line_maker(s)
    marks = 0
    for cell in range(CELLS):
        marks += s.board[cell] > 0
    if maker != NOBODY:
        report(s, LINE_MADE, maker, 0)
    if maker != NOBODY or marks == CELLS:
        s.over = OVER_RULES
    else:
        s.seat = marks % SEATS


@jit
def line_maker(s):
    """R3: the seat with three marks in line, or NOBODY."""
    for line in range(LINES.shape[0]):
        mark = s.board[LINES[line, 0]]
        if mark > 0 and s.board[LINES[line, 1]] == mark and s.board[LINES[line, 2]] == mark:
            return int(mark) - 1
    return NOBODY


@jit
def score(s, points, places):
    """R4. Called at the end, and at any time for the score as it stands."""
    winner = line_maker(s)
    if winner != NOBODY and s.misere > 0:
        winner = 1 - winner
    for seat in range(SEATS):
        points[seat] = 1 if seat == winner else 0
        places[seat] = 1 if winner in (seat, NOBODY) else 2
