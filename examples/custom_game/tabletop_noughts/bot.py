"""The greedy baseline: completes a line, else stops one, else takes any cell. It may use only what its seat knows."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import POLICY, word
from tabletop_noughts.rules import line_maker
from tabletop_noughts.tables import CELLS

OWN: Final = 2  # worth of a line of one's own
STOP: Final = 1  # worth of a line that the other seat can no longer make


@jit
def greedy(s, mask, salt):
    """The legal action that is worth most; among equal ones the salt chooses. Leaves the record as it was."""
    sign = -1 if s.misere > 0 else 1
    best, choice, equal = 0, -1, 0
    for cell in range(CELLS):
        if mask[cell] == 0:
            continue
        worth = sign * (OWN * _makes_line(s, cell, int(s.seat)) + STOP * _makes_line(s, cell, 1 - int(s.seat)))
        if choice < 0 or worth > best:
            best, choice, equal = worth, cell, 1
        elif worth == best:
            equal += 1
            if word(salt, POLICY, cell) % equal == 0:
                choice = cell
    return choice


@jit
def _makes_line(s, cell, seat):
    s.board[cell] = 1 + seat
    made = line_maker(s) == seat
    s.board[cell] = 0
    return made
