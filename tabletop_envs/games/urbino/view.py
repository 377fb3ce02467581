"""What a seat may know of Urbino, which is everything (R13): the observation (R12), and `determinize`."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.bits import lowest_bit
from tabletop_envs.core.header import RUNNING
from tabletop_envs.core.jit import jit
from tabletop_envs.core.layout import SIDES, Block, ObservationLayout
from tabletop_envs.core.random import rekey
from tabletop_envs.games.urbino.rules import lots
from tabletop_envs.games.urbino.tables import (
    BROWN,
    CELLS,
    COLS,
    KINDS,
    LOW_CELLS,
    NOWHERE,
    PLAYERS,
    ROWS,
    SUPPLY,
    TOTAL_VALUE,
    WORDS,
)

_BOARD: Final = (ROWS, COLS)

OBSERVATIONS: Final = ObservationLayout(
    Block(
        "buildings",
        (PLAYERS, KINDS, *_BOARD),
        "own, then opponent's houses, palaces, towers: 0/1",
        "R12.1",
        _BOARD,
        links=(tuple(range(PLAYERS * KINDS)),) * SIDES,  # R2.3
    ),
    Block("architects", (2, *_BOARD), "architect 0, architect 1: 0/1", "R12.1", _BOARD),
    Block("supply", (PLAYERS, KINDS), "own, then opponent's unbuilt houses/18, palaces/6, towers/3", "R12.1"),
    Block("phase", (4,), "one-hot: place architect, choose first, relocate, build; all 0 when over", "R12.1"),
    Block("brown", (), "1 if the observer is Brown", "R12.1"),
    Block("points", (PLAYERS,), "own, then opponent's score if the game ended now, /39, at most 1", "R12.1"),
    Block("lots", _BOARD, "cells that both architects see: 0/1", "R12.3", _BOARD, "build_planes"),
    Block(
        "allowed",
        (PLAYERS, KINDS, *_BOARD),
        "where own, then opponent's houses, palaces, towers could stand on a lot: 0/1",
        "R12.3",
        _BOARD,
        "build_planes",
    ),
)

BUILDINGS: Final = OBSERVATIONS.start("buildings")
ARCHITECTS: Final = OBSERVATIONS.start("architects")
SUPPLIES: Final = OBSERVATIONS.start("supply")
PHASE: Final = OBSERVATIONS.start("phase")
IS_BROWN: Final = OBSERVATIONS.start("brown")
POINTS: Final = OBSERVATIONS.start("points")
LOTS: Final = OBSERVATIONS.start("lots")
ALLOWED: Final = OBSERVATIONS.start("allowed")


@jit
def _write_planes(s, seat, out):
    own_first = KINDS * seat  # White's pieces are 4, 5, 6: shifted by 3 they come first for White
    for word in range(WORDS):
        rest = s.built[word]
        while rest != 0:
            cell = LOW_CELLS * word + lowest_bit(rest)
            rest &= rest - 1
            plane = (int(s.board[cell]) - 1 + own_first) % (PLAYERS * KINDS)
            out[BUILDINGS + CELLS * plane + cell] = 1.0
    for architect in range(2):
        cell = int(s.architects[architect])
        if cell != NOWHERE:
            out[ARCHITECTS + CELLS * architect + cell] = 1.0


@jit
def _write_set(out, offset, low, high):
    for cell in range(LOW_CELLS):
        out[offset + cell] = (low >> cell) & 1
    for cell in range(CELLS - LOW_CELLS):
        out[offset + LOW_CELLS + cell] = (high >> cell) & 1


@jit
def observe(s, seat, out):
    """R12.1, R12.3: the board from the observer's side."""
    out[:] = 0.0
    _write_planes(s, seat, out)
    for relative in range(PLAYERS):
        colour = (seat + relative) % PLAYERS
        for kind in range(KINDS):
            out[SUPPLIES + KINDS * relative + kind] = s.supply[colour, kind] / SUPPLY[kind]
        out[POINTS + relative] = min(1.0, s.points[colour] / TOTAL_VALUE)
    if s.over == RUNNING:
        out[PHASE + int(s.phase)] = 1.0
    if seat == BROWN:
        out[IS_BROWN] = 1.0
    if s.build_planes > 0:
        low, high = lots(s)
        _write_set(out, LOTS, low, high)
        for relative in range(PLAYERS):
            colour = (seat + relative) % PLAYERS
            for kind in range(KINDS):
                offset = ALLOWED + CELLS * (KINDS * relative + kind)
                _write_set(out, offset, s.allowed[colour, kind, 0], s.allowed[colour, kind, 1])


@jit
def determinize(s, seat, salt):
    """R13: nothing is hidden and nothing is drawn; only the key changes."""
    rekey(s, salt)
