"""Umbra Via's greedy baseline: where a tile is worth most, and so which tile is worth winning.

It knows what its seat knows: the table, and its own pending bids and hand. A path is worth what it would pay now, own
claims against those of the others, times the chance that it will be completed. A placement is worth what it changes.
A flower goes to the tile where it raises the chance to win most, weighed by what is at stake there.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tabletop_envs.core.bits import count_bits, lowest_bit
from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import weigh
from tabletop_envs.games.umbra_via.actions import BID, CELL, DECLINE, NUM_ACTIONS
from tabletop_envs.games.umbra_via.rules import free_cells
from tabletop_envs.games.umbra_via.state import Phase, biddable
from tabletop_envs.games.umbra_via.tables import (
    ALL_CELLS,
    BID_VALUE,
    CELLS,
    EAST_COLUMN,
    ENERGY,
    FOUR_POINT_TILE,
    NEIGHBOUR,
    NO_TILE,
    SIDES,
    SLOTS,
    SOUL,
    VOID_TILE,
    WEST_COLUMN,
)

# The figures below were found by playing: thousands of games between versions that differ in a few of them.
CERTAIN: Final = 64
# [empty cells that the path opens into] -> chance in CERTAIN that it is completed as it stands
CHANCE: Final = np.array([64, 34, 20, 12, 8, 6], dtype=np.int64)
# claims that reaching the goal counts for
GOAL_BONUS: Final = 20
# [lead in value on a tile, LEAST and below to -LEAST and above] -> chance in CERTAIN to win it, in the first and
# the second bid
LEAST: Final = -6
WINS: Final = np.array(
    [
        [3, 5, 8, 12, 17, 23, 30, 37, 43, 48, 53, 57, 60],
        [1, 2, 3, 6, 11, 18, 28, 39, 48, 55, 59, 61, 62],
    ],
    dtype=np.int64,
)
# what there is at stake on a tile beside its effect on paths, and on a void tile, in CERTAINths of a claim
TILE_WORTH: Final = 24
VOID_WORTH: Final = 24
# share of a path's change that counts for a cell where flowers wait, in CERTAINths
WAITING: Final = 32

LANE: Final = 8  # bits: the energy of the seats on a pile is one number, a lane each


# --- paths -------------------------------------------------------------------------------------------------------


@jit
def _table(s):
    """The sets of cells: tiles, and those open to the north, east, south, west."""
    sides = s.openings
    return int(s.occupied), int(sides[0]), int(sides[1]), int(sides[2]), int(sides[3])


@jit
def _with_tile(table, cell, tile):
    occupied, north, east, south, west = table
    if tile < FOUR_POINT_TILE:
        north |= (tile & 1) << cell
        east |= (tile >> 1 & 1) << cell
        south |= (tile >> 2 & 1) << cell
        west |= (tile >> 3 & 1) << cell
    return occupied | 1 << cell, north, east, south, west


@jit
def _flood(table, cell):
    """The cells of the path through the cell, and the empty cells that it opens into (R7.1)."""
    occupied, north, east, south, west = table
    down, right = north & (south << 4), west & ~WEST_COLUMN & (east << 1)
    path, before = 1 << cell, 0
    while path != before:
        before = path
        path |= ((path << 4) & down) | ((path & down) >> 4)
        path |= ((path << 1) & right) | ((path & right) >> 1)
    gaps = ((path & north) >> 4) | ((path & south) << 4)
    gaps |= ((path & east & ~EAST_COLUMN) << 1) | ((path & west & ~WEST_COLUMN) >> 1)
    return path, gaps & ALL_CELLS & ~occupied


@jit
def _margin(s, seat, sums, length):
    """R8.1 to R8.3: own claims from a path of this length, times the number of the others, less theirs."""
    players = int(s.num_players)
    own, others, award = 0, 0, length
    while award >= 1 and sums != 0:
        first, most = 0, 0
        for other in range(players):
            total = sums >> (LANE * other) & 255
            if total > most or (total == most and total > 0 and s.track[other] < s.track[first]):
                first, most = other, total
        sums &= ~(255 << (LANE * first))
        paid = award
        if s.claims[first] + award >= s.victory_target:
            paid += GOAL_BONUS
        if first == seat:
            own = paid
        else:
            others += paid
        award //= 2
    return own * (players - 1) - others


@jit
def _path_worth(s, seat, piles, path, gaps):
    """The margin of a path with its gaps filled, times the chance of that."""
    sums, cells = 0, path
    while cells != 0:
        sums += piles[lowest_bit(cells)]
        cells &= cells - 1
    open_to = count_bits(gaps)
    chance = int(CHANCE[min(open_to, len(CHANCE) - 1)])
    return chance * _margin(s, seat, sums, count_bits(path) + open_to // 2)


@jit
def _lanes_on_cell(s, cell):
    pile = 0
    for seat in range(int(s.num_players)):
        pile |= int(s.energy[seat, cell]) << (LANE * seat)
    return pile


@jit
def _lanes_on_slot(s, slot, bidder):
    """The revealed energy on a slot, with the bidder's own pending energy."""
    pile = int(s.pending[bidder, slot, ENERGY]) << (LANE * bidder)
    for seat in range(int(s.num_players)):
        pile += int(s.bid_energy[seat, slot]) << (LANE * seat)
    return pile


@jit
def _piles(s):
    """[cell] -> energy on it, in lanes."""
    piles = np.empty(CELLS, dtype=np.int64)
    for cell in range(CELLS):
        piles[cell] = _lanes_on_cell(s, cell)
    return piles


@jit
def _standing(s, seat, piles, table):
    """[cell] -> set of its path, and worth of that path; 0 where there is none."""
    paths = np.zeros((CELLS, 2), dtype=np.int64)
    for cell in range(CELLS):
        if s.board[cell] == NO_TILE or s.board[cell] == FOUR_POINT_TILE or paths[cell, 0] != 0:
            continue
        path, gaps = _flood(table, cell)
        worth = _path_worth(s, seat, piles, path, gaps)
        rest = path
        while rest != 0:
            paths[lowest_bit(rest), 0] = path
            paths[lowest_bit(rest), 1] = worth
            rest &= rest - 1
    return paths


@jit
def _placement_worth(s, seat, piles, table, paths, cell, tile, pile):
    """What the worth of all paths changes by when the tile with its energy comes to the cell."""
    after = _with_tile(table, cell, tile)
    kept = piles[cell]
    piles[cell] = kept + pile
    worth, seen, left = 0, 0, 0
    for side in range(-1, SIDES):
        there = cell if side < 0 else int(NEIGHBOUR[cell, side])
        if there < 0:
            continue
        if side >= 0:
            if paths[there, 0] == 0:
                continue
            if paths[there, 0] & left == 0:
                left |= paths[there, 0]
                worth -= paths[there, 1]
        elif tile >= FOUR_POINT_TILE:
            continue
        if seen >> there & 1 == 0:
            path, gaps = _flood(after, there)
            seen |= path
            worth += _path_worth(s, seat, piles, path, gaps)
    piles[cell] = kept
    return worth


# --- decisions ---------------------------------------------------------------------------------------------------


@jit
def _stake(s, seat, piles, table, paths, slot):
    """What winning the tile of a slot is worth against leaving it to the others."""
    tile = int(s.altar[slot])
    if tile == VOID_TILE:
        return VOID_WORTH
    pile = _lanes_on_slot(s, slot, seat)
    best, worst, first = 0, 0, True
    cells = free_cells(s)
    while cells != 0:
        cell = lowest_bit(cells)
        cells &= cells - 1
        worth = _placement_worth(s, seat, piles, table, paths, cell, tile, pile)
        if first or worth > best:
            best = worth
        if first or worth < worst:
            worst = worth
        first = False
    # a single rival lays it where it hurts most; several of them have their own ends in view
    loss = worst if s.num_players == 2 else 0
    return (best - loss + TILE_WORTH) * (int(s.num_players) - 1)


@jit
def _chance_to_win(s, seat, slot, more):
    """In CERTAINths, with `more` value from the seat on the slot."""
    own = int(s.bid_souls[seat, slot]) + int(s.pending[seat, slot, SOUL])
    lead = more + own * int(BID_VALUE[SOUL]) + int(s.bid_energy[seat, slot]) + int(s.pending[seat, slot, ENERGY])
    rival = 0
    for other in range(int(s.num_players)):
        if other != seat:
            bid = int(s.bid_souls[other, slot]) * int(BID_VALUE[SOUL]) + int(s.bid_energy[other, slot])
            rival = max(rival, bid)
    step = min(max(lead - rival - LEAST, 0), WINS.shape[1] - 1)
    return int(WINS[int(s.phase) - Phase.BID1, step])


@jit
def _choose_bid(s, mask, salt):
    """The slot where the asked flower adds most to what may be won."""
    seat = int(s.seat)
    value = int(BID_VALUE[SOUL]) if s.hand[seat, SOUL] > 0 else int(BID_VALUE[ENERGY])
    piles, table = _piles(s), _table(s)
    paths = _standing(s, seat, piles, table)
    best, choice, ties = 0, -1, 0
    for slot in range(SLOTS):
        if mask[BID + slot] > 0 and biddable(s, slot):
            gain = _chance_to_win(s, seat, slot, value) - _chance_to_win(s, seat, slot, 0)
            worth = gain * _stake(s, seat, piles, table, paths, slot)
            best, choice, ties = weigh(s, salt, (best, choice, ties), worth, BID + slot, NUM_ACTIONS)
    return choice


@jit
def _choose_place(s, mask, salt):
    """The cell where the tile changes most."""
    seat, slot = int(s.seat), int(s.resolving)
    piles, table = _piles(s), _table(s)
    paths = _standing(s, seat, piles, table)
    pile = _lanes_on_slot(s, slot, seat)
    best, choice, ties = 0, -1, 0
    for cell in range(CELLS):
        if mask[CELL + cell] > 0:
            worth = _placement_worth(s, seat, piles, table, paths, cell, int(s.altar[slot]), pile)
            best, choice, ties = weigh(s, salt, (best, choice, ties), worth, CELL + cell, NUM_ACTIONS)
    return choice


@jit
def _worth_with(s, seat, piles, table, paths, there, pile):
    """What the worth of a path changes by with a pile more on one of its cells."""
    if paths[there, 0] == 0:
        return 0
    path, gaps = _flood(table, there)
    kept = piles[there]
    piles[there] = kept + pile
    worth = _path_worth(s, seat, piles, path, gaps) - paths[there, 1]
    piles[there] = kept
    return worth


@jit
def _choose_target(s, mask, salt):
    """R10.2: the tile that gains most by the flowers, or none."""
    seat, home = int(s.seat), int(s.placed)
    piles, table = _piles(s), _table(s)
    paths = _standing(s, seat, piles, table)
    best, choice, ties = weigh(s, salt, (0, -1, 0), 0, DECLINE, NUM_ACTIONS)
    for cell in range(CELLS):
        if mask[CELL + cell] > 0:
            worth = _worth_with(s, seat, piles, table, paths, cell, piles[home])
            best, choice, ties = weigh(s, salt, (best, choice, ties), worth, CELL + cell, NUM_ACTIONS)
    return choice


@jit
def _choose_void(s, mask, salt):
    """R10.3: the cell where the flowers may join the paths that gain most by them."""
    seat = int(s.seat)
    piles, table = _piles(s), _table(s)
    paths = _standing(s, seat, piles, table)
    pile = _lanes_on_slot(s, int(s.resolving), seat)
    best, choice, ties = 0, -1, 0
    for cell in range(CELLS):
        if mask[CELL + cell] == 0:
            continue
        worth, seen = 0, 0
        for side in range(SIDES):
            there = int(NEIGHBOUR[cell, side])
            if there < 0 or paths[there, 0] == 0 or paths[there, 0] & seen != 0:
                continue
            seen |= paths[there, 0]
            _, gaps = _flood(table, there)
            if gaps >> cell & 1 == 1:
                worth += _worth_with(s, seat, piles, table, paths, there, pile + piles[cell])
        best, choice, ties = weigh(s, salt, (best, choice, ties), worth, CELL + cell, NUM_ACTIONS)
    return choice


@jit
def greedy(s, mask, salt):
    """The baseline's choice among the actions of the mask; the salt breaks ties."""
    if s.phase == Phase.BID1 or s.phase == Phase.BID2:
        return _choose_bid(s, mask, salt)
    if s.phase == Phase.PLACE:
        return _choose_place(s, mask, salt)
    if s.phase == Phase.FOUR_POINT_TARGET:
        return _choose_target(s, mask, salt)
    return _choose_void(s, mask, salt)
