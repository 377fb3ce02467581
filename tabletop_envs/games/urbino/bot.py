"""Urbino's greedy baseline: the build that changes the districts most, and the relocation that allows it.

Nothing is hidden in Urbino (R13), so the whole record may be read; its key is not. Worths are in `POINT`ths of a
point. What a building is worth does not depend on the architects, so each cell is valued once, and a relocation is
judged by the best cell that it makes a lot, less half of the best that the opponent may find in sight of either
architect.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tabletop_envs.core.bits import count_bits
from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import weigh
from tabletop_envs.games.urbino.actions import ARCHITECT, BUILD, FIRST, NUM_ACTIONS, STAY
from tabletop_envs.games.urbino.rules import first_cell, sight, wanted, without_first
from tabletop_envs.games.urbino.state import Phase, block_value
from tabletop_envs.games.urbino.tables import (
    BIT,
    CELLS,
    KINDS,
    LINES,
    LINES_THROUGH,
    MONUMENTS,
    NEIGHBOUR_CELLS,
    NOWHERE,
    PALACE,
    TOWER,
    VALUE,
)

# The figures below were found by playing: thousands of games between versions that differ in a few of them.
POINT: Final = 16
# [lead] -> chances in POINT that a district with that lead changes hands; the last entry stands for larger leads
RISK: Final = np.array([7, 5, 3, 1, 1, 0])
# [value] -> worth of a district of one's own colour alone; the last entry stands for larger values. A house or a
# palace alone invites the opponent to score beside it; no single building outscores a tower
ALONE: Final = np.array([0, -12, -6, 8, 12])
# [kind] -> worth of keeping one in supply
COST: Final = np.array([0, 2, 12])
# share of the opponent's best reply that counts against a relocation, in POINTths
REPLY: Final = 8


# --- what a building is worth -----------------------------------------------------------------------------------


@jit
def _worth(own, other, edge):
    # of a district in which the colours hold these values (R9.3); edge > 0: the own colour wins if they are equal
    if other == 0:
        return int(ALONE[min(own, len(ALONE) - 1)])
    if own == 0 or (own == other and edge == 0):
        return 0
    risk = int(RISK[min(abs(own - other), len(RISK) - 1)])
    total = max(own, other)
    # overturned, it is lost and scores a little more for the other colour
    worth = POINT * total - risk * (2 * total + 1)
    return worth if own > other or (own == other and edge > 0) else -worth


@jit
def _edge(ranks, towers, palaces):
    # the sign of the first lead that is not 0: monuments' ranks (R11.4), towers, palaces (R9.4)
    return (ranks * 64 + towers) * 64 + palaces


@jit
def _bonus(rank):
    return int(MONUMENTS[rank - 1, 3]) if rank > 0 else 0


@jit
def _new_rank(s, colour, kind, cell):
    """The rank of the best monument that the building would complete (R11.2)."""
    best = 0
    for k in range(LINES_THROUGH.shape[1]):
        line = int(LINES_THROUGH[cell, k])
        if line < 0:
            break
        for rank in range(len(MONUMENTS), best, -1):
            matches = True
            for place in range(LINES.shape[1]):
                other = int(LINES[line, place])
                piece = 1 + kind + KINDS * colour if other == cell else int(s.board[other])
                matches = matches and piece == 1 + int(MONUMENTS[rank - 1, place]) + KINDS * colour
            if matches:
                best = rank
                break
    return best


@jit
def best_building(s, colour, cell):
    """The worth of the best building of the colour that the cell would take, and its kind; kind -1 for none.

    The districts beside the cell become one (R6.4): its worth, less theirs, less what the building costs.
    """
    rival = 1 - colour
    before, own, other = 0, 0, 0
    towers, palaces, own_rank, rival_rank = 0, 0, 0, 0
    first, second, third = -1, -1, -1  # labels already counted
    for side in range(4):
        beside = int(NEIGHBOUR_CELLS[cell, side])
        label = int(s.district[beside]) if beside >= 0 else -1
        if label < 0 or label in (first, second, third):
            continue
        first, second, third = label, first, second
        ranks = int(s.monument[label, colour]), int(s.monument[label, rival])
        tower_lead = int(s.tally[label, colour, TOWER]) - int(s.tally[label, rival, TOWER])
        palace_lead = int(s.tally[label, colour, PALACE]) - int(s.tally[label, rival, PALACE])
        values = block_value(s, label, colour), block_value(s, label, rival)
        before += _worth(values[0], values[1], _edge(ranks[0] - ranks[1], tower_lead, palace_lead))
        own += values[0] - _bonus(ranks[0])
        other += values[1] - _bonus(ranks[1])
        towers += tower_lead
        palaces += palace_lead
        own_rank = max(own_rank, ranks[0])
        rival_rank = max(rival_rank, ranks[1])
    other += _bonus(rival_rank)
    best, choice = 0, -1
    for kind in range(KINDS):
        if (s.allowed[colour, kind, 0] & BIT[cell, 0]) | (s.allowed[colour, kind, 1] & BIT[cell, 1]) == 0:
            continue
        rank = max(own_rank, _new_rank(s, colour, kind, cell)) if s.monuments > 0 else 0
        edge = _edge(rank - rival_rank, towers + (kind == TOWER), palaces + (kind == PALACE))
        worth = _worth(own + int(VALUE[kind]) + _bonus(rank), other, edge) - before - int(COST[kind])
        if choice < 0 or worth > best:
            best, choice = worth, kind
    return best, choice


# --- worths of all cells ----------------------------------------------------------------------------------------


@jit
def _cell_worths(s, colour, low, high):
    """[cell] -> the worth of its best building, for the cells of the set."""
    worths = np.empty(CELLS, dtype=np.int64)
    while low | high != 0:
        cell = first_cell(low, high)
        low, high = without_first(low, high)
        worths[cell] = best_building(s, colour, cell)[0]
    return worths


@jit
def _best_cell(worths, low, high, left_out):
    """The cell of the set that is worth most, but for `left_out`; NOWHERE if there is none."""
    best = NOWHERE
    while low | high != 0:
        cell = first_cell(low, high)
        low, high = without_first(low, high)
        if cell != left_out and (best == NOWHERE or worths[cell] > worths[best]):
            best = cell
    return best


# --- the choice -------------------------------------------------------------------------------------------------


@jit
def _choose_architects(s, mask, salt):
    """The relocation, or "stay", with the best build after it, less a share of the opponent's best reply."""
    colour = int(s.seat)
    own_low, own_high = wanted(s, colour)
    rival_low, rival_high = wanted(s, 1 - colour)
    own_worths = _cell_worths(s, colour, own_low, own_high)
    rival_worths = _cell_worths(s, 1 - colour, rival_low, rival_high)
    best, choice, ties = 0, -1, 0
    for action in range(ARCHITECT, STAY + 1):
        if mask[action] == 0:
            continue
        first, second = int(s.architects[0]), int(s.architects[1])
        if action < ARCHITECT + CELLS:
            first = action - ARCHITECT
        elif action != STAY:
            second = action - ARCHITECT - CELLS
        low = s.built[0] | BIT[first, 0] | BIT[second, 0]
        high = s.built[1] | BIT[first, 1] | BIT[second, 1]
        first_low, first_high = sight(first, low, high)
        second_low, second_high = sight(second, low, high)
        cell = _best_cell(own_worths, first_low & second_low & own_low, first_high & second_high & own_high, NOWHERE)
        worth = POINT * own_worths[cell]
        # the opponent may move either architect: what one of them sees now can become a lot
        open_low, open_high = (first_low | second_low) & rival_low, (first_high | second_high) & rival_high
        reply = _best_cell(rival_worths, open_low, open_high, cell)
        if reply != NOWHERE:
            worth -= REPLY * rival_worths[reply]
        best, choice, ties = weigh(s, salt, (best, choice, ties), worth, action, NUM_ACTIONS)
    return choice


@jit
def _choose_build(s, mask, salt):
    """The build that is worth most."""
    best, choice, ties = 0, -1, 0
    for cell in range(CELLS):
        # a lot takes all kinds of building that its cell allows (R8.2)
        if mask[BUILD + cell] | mask[BUILD + CELLS + cell] | mask[BUILD + 2 * CELLS + cell] == 0:
            continue
        worth, kind = best_building(s, int(s.seat), cell)
        action = BUILD + CELLS * kind + cell
        best, choice, ties = weigh(s, salt, (best, choice, ties), worth, action, NUM_ACTIONS)
    return choice


@jit
def _choose_placement(s, mask, salt):
    """The cell from which an architect sees most."""
    best, choice, ties = 0, -1, 0
    start = ARCHITECT + CELLS * int(s.seat)
    for cell in range(CELLS):
        if mask[start + cell] == 0:
            continue
        other = int(s.architects[0])
        low, high = sight(cell, BIT[other, 0], BIT[other, 1])
        seen = count_bits(low) + count_bits(high)
        best, choice, ties = weigh(s, salt, (best, choice, ties), seen, start + cell, NUM_ACTIONS)
    return choice


@jit
def greedy(s, mask, salt):
    """The baseline's choice among the actions of the mask; the salt breaks ties."""
    if s.phase == Phase.RELOCATE:
        return _choose_architects(s, mask, salt)
    if s.phase == Phase.BUILD:
        return _choose_build(s, mask, salt)
    if s.phase == Phase.PLACE_ARCHITECT:
        return _choose_placement(s, mask, salt)
    return FIRST + int(s.seat)  # the first builder wins more often than not
