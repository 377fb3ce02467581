"""The record of Umbra Via, one field per line, and `check`, its invariants. Knows the board, not the course of a turn.

Flowers that nobody has seen yet are counted in the pool: bag, drawn hand and pending bids together (R11.1). How the
others' pools are split is theirs to know; the bag follows as pool - hand - pending.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np

from tabletop_envs.core.bits import lowest_bit
from tabletop_envs.core.header import NOBODY, OVER_CAP, OVER_RULES
from tabletop_envs.core.jit import jit
from tabletop_envs.core.record import OWNER, Field, record_dtype
from tabletop_envs.games.umbra_via import GAME
from tabletop_envs.games.umbra_via.tables import (
    ALL_CELLS,
    BLOCK_TILE,
    CELLS,
    EAST_COLUMN,
    ENERGY,
    ENERGY_IN_BAG,
    FLOWERS,
    FOUR_POINT,
    FOUR_POINT_TILE,
    HAND,
    KIND_OF,
    KINDS,
    MAX_ROUNDS,
    MAX_TILES,
    NO_TILE,
    REGULAR_KINDS,
    SEATS,
    SIDES,
    SLOTS,
    SOUL,
    SOULS_IN_ALL,
    SOULS_ON_TILE,
    TILE_CODES,
    VOID_TILE,
    WEST_COLUMN,
)


class Phase(IntEnum):
    """What is asked (D1); ROUND and RESOLVE are automatic."""

    ROUND = 0
    BID1 = 1
    BID2 = 2
    RESOLVE = 3
    PLACE = 4
    FOUR_POINT_TARGET = 5
    VOID_TARGET = 6
    OVER = 7


# events: (kind, seat, value)
DISCARDED: Final = 1  # R5.1, R10.3, value = the slot
WON: Final = 2  # R5.3, value = the slot, and TIED more if the marker decided and drops (R5.4)
SUMMONED: Final = 3  # R8, value = the path's cells, PATH_BIAS less
EARNED: Final = 4  # R8.2, value = claims, and TIED more if the marker decided and drops (R8.5)
GOAL: Final = 5  # R9.3, value = claims
STALEMATE: Final = 6  # R9.5
LAST_ROUND: Final = 7  # R9.5, value = rounds

TIED: Final = 32  # more than any slot or award

PATH_BIAS: Final = 1 << (CELLS - 1)  # a set of 16 cells, less this, fits an event

DEAL: Final = -1  # `turn` while the flowers of a bid are yet to be drawn
NONE: Final = -1  # no slot, no cell, no seat

MAX_CLAIMS: Final = MAX_ROUNDS * SLOTS * CELLS  # no placement completes more tiles than there are

FIELDS: Final = (
    Field("board", np.int8, (CELLS,), "cell -> tile face up (`tables`), 0 none", (0, FOUR_POINT_TILE)),
    Field("energy", np.int8, (SEATS, CELLS), "seat, cell -> energy on its tile, or waiting there", (0, ENERGY_IN_BAG)),
    Field("altar", np.int8, (SLOTS,), "slot -> tile face up, 0 none", (0, TILE_CODES - 1)),
    Field("bid_souls", np.int8, (SEATS, SLOTS), "seat, slot -> souls on the altar (R4.5)", (0, 2 * HAND)),
    Field("bid_energy", np.int8, (SEATS, SLOTS), "seat, slot -> energy on the altar (R4.5)", (0, 2 * HAND)),
    Field("order", np.int8, (SLOTS,), "slot -> its order counter, 0 none (R5.2)", (0, SLOTS)),
    Field("resolving", np.int8, (), "slot whose winner decides, NONE", (NONE, SLOTS - 1)),
    Field("placed", np.int8, (), "cell of the four-point tile whose flowers may move, NONE", (NONE, CELLS - 1)),
    Field("turn", np.int8, (), "bids: the seat that comes next, or DEAL; later: counters resolved", (DEAL, SLOTS)),
    Field("pool", np.int8, (SEATS, FLOWERS), "seat, flower -> bag, hand and pending bids (R11.1)", (0, ENERGY_IN_BAG)),
    Field("drawn", np.int8, (SEATS,), "seat -> flowers drawn for the running bid (R4.2)", (0, HAND)),
    Field("to_bid", np.int8, (SEATS,), "seat -> flowers of them still to be bid", (0, HAND)),
    Field("hand", np.int8, (SEATS, FLOWERS), "seat, flower -> drawn and still to be bid (R11.2)", (0, HAND), OWNER),
    Field("pending", np.int8, (SEATS, SLOTS, FLOWERS), "seat, slot, flower -> bid face down", (0, HAND), OWNER),
    Field("removed", np.int8, (SEATS,), "seat -> souls that left the game (R5.6)", (0, SOULS_IN_ALL)),
    Field("claims", np.int16, (SEATS,), "seat -> claims (R9.1)", (0, MAX_CLAIMS)),
    Field("track", np.int8, (SEATS,), "seat -> place of its marker, 0 the highest (R2.4)", (0, SEATS - 1)),
    Field("stack", np.int8, (KINDS,), "kind -> tiles in the stack", (0, MAX_TILES)),
    Field("discard", np.int8, (KINDS,), "kind -> tiles on the discard pile", (0, MAX_TILES)),
    Field("rounds", np.int16, (), "rounds begun", (0, MAX_ROUNDS)),
    Field("winner", np.int8, (), "seat that reached the goal first, NONE (R9.3)", (NONE, SEATS - 1)),
    # --- kept for speed
    Field("occupied", np.int32, (), "set of the cells with a tile", (0, ALL_CELLS)),
    Field("openings", np.int32, (SIDES,), "side -> set of the cells whose tile is open there", (0, ALL_CELLS)),
)

DTYPE: Final = record_dtype(GAME, FIELDS)

INVARIANTS: Final = {
    1: "phase, seat, turn and over agree (D1)",
    2: "no energy is lost (R2.3)",
    3: "no soul is lost (R2.3, R2.5, R5.6, R9.1)",
    4: "no tile is lost (R2.2)",
    5: "hands and pending bids are the flowers drawn, from the pool, on biddable tiles, souls first (R4)",
    6: "the track is an order of the seats (R2.4)",
    7: "kept sets: occupied, openings",
    8: "no complete path is left on the board (R7, R8.6)",
    9: "order counters follow from the flowers (R5.1, R5.2), and a slot or cell in work exists",
    10: "the goal ends the game (R9.3)",
    11: "flowers lie on tiles that may hold them (R4.4, R5.6, R10)",
}


# --- paths (R7) --------------------------------------------------------------------------------------------------


@jit
def kind_in_use(s, kind):
    """How many tiles of the kind the game has (R1.3, R10.1)."""
    if kind < REGULAR_KINDS:
        return int(s.tile_mix[kind])
    return (int(s.special_tiles) >> (kind - FOUR_POINT)) & 1


@jit
def beside(cells):
    """The set of cells that share an edge with one of the set."""
    sideways = ((cells & ~EAST_COLUMN) << 1) | ((cells & ~WEST_COLUMN) >> 1)
    return ((cells << 4) | (cells >> 4) | sideways) & ALL_CELLS


@jit
def open_ends(s):
    """R7.1: the set of cells with an opening that faces an empty cell of the board."""
    free = ALL_CELLS & ~int(s.occupied)
    north, east, south, west = int(s.openings[0]), int(s.openings[1]), int(s.openings[2]), int(s.openings[3])
    upright = (north & (free << 4)) | (south & (free >> 4))
    return upright | (east & ~EAST_COLUMN & (free >> 1)) | (west & ~WEST_COLUMN & (free << 1))


@jit
def path_of(s, cell):
    """R7.1: the set of cells connected with the tile on the cell, which has openings."""
    down = int(s.openings[0]) & (int(s.openings[2]) << 4)  # cells connected to the north
    right = int(s.openings[3]) & ~WEST_COLUMN & (int(s.openings[1]) << 1)  # cells connected to the west
    path, before = 1 << int(cell), 0
    while path != before:
        before = path
        path |= ((path << 4) & down) | ((path & down) >> 4)
        path |= ((path << 1) & right) | ((path & right) >> 1)
    return path


@jit
def energy_on(s, cells):
    """The energy of all seats on the set of cells."""
    total = 0
    while cells != 0:
        cell = lowest_bit(cells)
        cells &= cells - 1
        for seat in range(SEATS):
            total += int(s.energy[seat, cell])
    return total


@jit
def altar_energy(s, slot):
    """The energy of all seats on the slot."""
    total = 0
    for seat in range(SEATS):
        total += int(s.bid_energy[seat, slot])
    return total


@jit
def flowers_on(s, slot):
    """R5.2: the flowers of all seats on the slot, energy and souls each counting 1."""
    total = altar_energy(s, slot)
    for seat in range(SEATS):
        total += int(s.bid_souls[seat, slot])
    return total


@jit
def biddable(s, slot):
    """R4.4, R10.4: whether the slot holds a tile other than the block tile."""
    return s.altar[slot] != NO_TILE and s.altar[slot] != BLOCK_TILE


# --- invariants --------------------------------------------------------------------------------------------------


@jit
def check(s):
    """0, or the code of the broken invariant (`INVARIANTS`)."""
    if not _phase_agrees(s):
        return 1
    for seat in range(SEATS):
        if not _energy_kept(s, seat):
            return 2
        if not _souls_kept(s, seat):
            return 3
        if not _bids_agree(s, seat):
            return 5
    for kind in range(KINDS):
        tiles = int(s.stack[kind]) + int(s.discard[kind])
        for cell in range(CELLS):
            tiles += s.board[cell] != NO_TILE and KIND_OF[s.board[cell]] == kind
        for slot in range(SLOTS):
            tiles += s.altar[slot] != NO_TILE and KIND_OF[s.altar[slot]] == kind
        if tiles != kind_in_use(s, kind):
            return 4
    places = 0
    for seat in range(int(s.num_players)):
        places |= 1 << int(s.track[seat])
    if places != (1 << int(s.num_players)) - 1:
        return 6
    if not _sets_kept(s):
        return 7
    if s.phase != Phase.FOUR_POINT_TARGET and _has_complete_path(s):
        return 8
    if not _order_agrees(s):
        return 9
    if not _goal_agrees(s):
        return 10
    return 0 if _flowers_lie_well(s) else 11


@jit
def _phase_agrees(s):
    if s.over == OVER_RULES:
        return s.phase == Phase.OVER and s.seat == NOBODY
    if s.over == OVER_CAP:
        return s.seat == NOBODY
    turn, seat = int(s.turn), int(s.seat)
    if s.phase == Phase.ROUND:
        return seat == NOBODY and turn == 0 and s.resolving == NONE
    if s.phase == Phase.BID1 or s.phase == Phase.BID2:
        if s.rounds == 0 or turn > s.num_players or s.resolving != NONE:
            return False
        return seat == NOBODY or (seat == turn and s.to_bid[seat] > 0)
    if s.rounds == 0 or turn == DEAL:
        return False
    if s.phase == Phase.RESOLVE:
        return seat == NOBODY and s.resolving == NONE
    return s.phase != Phase.OVER and seat != NOBODY and turn > 0


@jit
def _energy_kept(s, seat):
    # R2.3: bag, hand and pending, altar, board and waiting
    total = int(s.pool[seat, ENERGY])
    for slot in range(SLOTS):
        total += int(s.bid_energy[seat, slot])
    for cell in range(CELLS):
        total += int(s.energy[seat, cell])
    return total == (ENERGY_IN_BAG if seat < s.num_players else 0)


@jit
def _souls_kept(s, seat):
    # R2.3, R2.5: bag, hand and pending, altar, soul tile, out of the game
    if seat >= s.num_players:
        return s.pool[seat, SOUL] == 0 and s.removed[seat] == 0 and s.claims[seat] == 0
    total = int(s.pool[seat, SOUL]) + int(s.removed[seat]) + max(0, SOULS_ON_TILE - int(s.claims[seat]))
    for slot in range(SLOTS):
        total += int(s.bid_souls[seat, slot])
    return total == SOULS_IN_ALL


@jit
def _bids_agree(s, seat):
    souls, energy, on_altar = int(s.hand[seat, SOUL]), int(s.hand[seat, ENERGY]), 0
    if souls + energy != s.to_bid[seat]:
        return False
    for slot in range(SLOTS):
        bid = int(s.pending[seat, slot, SOUL]) + int(s.pending[seat, slot, ENERGY])
        if bid > 0 and not biddable(s, slot):
            return False
        # R4.3, D2: energy is bid when no soul is left in hand
        if s.pending[seat, slot, ENERGY] > 0 and s.hand[seat, SOUL] > 0:
            return False
        souls += int(s.pending[seat, slot, SOUL])
        energy += int(s.pending[seat, slot, ENERGY])
        on_altar += bid
    if souls + energy != s.drawn[seat] or souls > s.pool[seat, SOUL] or energy > s.pool[seat, ENERGY]:
        return False
    if s.drawn[seat] == 0:
        return True
    # R4.2: three, or all that there are; seats before the one in turn have bid all, those behind it none
    in_all = int(s.pool[seat, SOUL]) + int(s.pool[seat, ENERGY])
    if (s.phase != Phase.BID1 and s.phase != Phase.BID2) or s.turn == DEAL or s.drawn[seat] != min(HAND, in_all):
        return False
    return (seat >= s.turn or s.to_bid[seat] == 0) and (seat <= s.turn or on_altar == 0)


@jit
def _sets_kept(s):
    occupied, north, east, south, west = 0, 0, 0, 0, 0
    for cell in range(CELLS):
        tile = int(s.board[cell])
        if tile == NO_TILE:
            continue
        if KIND_OF[tile] < 0:
            return False
        occupied |= 1 << cell
        if tile != FOUR_POINT_TILE:
            north |= (tile & 1) << cell
            east |= (tile >> 1 & 1) << cell
            south |= (tile >> 2 & 1) << cell
            west |= (tile >> 3 & 1) << cell
    upright = north == s.openings[0] and south == s.openings[2]
    return occupied == s.occupied and upright and east == s.openings[1] and west == s.openings[3]


@jit
def _has_complete_path(s):
    ends = open_ends(s)
    for cell in range(CELLS):
        on_path = s.board[cell] != NO_TILE and s.board[cell] != FOUR_POINT_TILE
        if on_path and path_of(s, cell) & ends == 0:
            return True
    return False


@jit
def _order_agrees(s):
    last = 0
    for slot in range(SLOTS):
        last = max(last, int(s.order[slot]))
    resolved = s.phase == Phase.RESOLVE or s.phase == Phase.PLACE or s.phase == Phase.VOID_TARGET
    resolved = resolved or s.phase == Phase.FOUR_POINT_TARGET
    if last > 0 and not resolved and s.phase != Phase.OVER:
        return False
    for slot in range(SLOTS):
        counter, flowers = int(s.order[slot]), flowers_on(s, slot)
        # R5.1: while tiles are resolved, just those with a counter are left
        if resolved and (counter > 0) != (s.altar[slot] != NO_TILE):
            return False
        if counter == 0:
            continue
        if slot == s.resolving:
            if counter != s.turn:
                return False
            continue
        if flowers == 0 or counter <= s.turn:
            return False
        for other in range(SLOTS):
            # R5.2: fewer flowers first, then the lower slot
            if s.order[other] > counter and other != s.resolving:
                more = flowers_on(s, other) - flowers
                if more < 0 or (more == 0 and other < slot):
                    return False
            if other != slot and s.order[other] == counter:
                return False
    if (s.phase == Phase.PLACE or s.phase == Phase.VOID_TARGET) != (s.resolving != NONE):
        return False
    if (s.phase == Phase.FOUR_POINT_TARGET) != (s.placed != NONE):
        return False
    return s.placed == NONE or s.board[s.placed] == FOUR_POINT_TILE


@jit
def _goal_agrees(s):
    winner = int(s.winner)
    if winner != NONE:
        return winner < s.num_players and s.claims[winner] >= s.victory_target and s.over == OVER_RULES
    most = 0
    for seat in range(SEATS):
        most = max(most, int(s.claims[seat]))
    return most < s.victory_target


@jit
def _flowers_lie_well(s):
    in_bids = s.phase == Phase.BID1 or s.phase == Phase.BID2
    for slot in range(SLOTS):
        tile = int(s.altar[slot])
        if tile != NO_TILE and KIND_OF[tile] < 0:
            return False
        # R4.4, R10.4: no flowers without a tile, none on the block tile
        if flowers_on(s, slot) > 0 and not biddable(s, slot):
            return False
        for seat in range(SEATS):
            # R4.5: one bid of three lies there during the second; R5.6: souls are off when the winner decides
            if in_bids and int(s.bid_souls[seat, slot]) + int(s.bid_energy[seat, slot]) > HAND:
                return False
            if slot == s.resolving and s.bid_souls[seat, slot] > 0:
                return False
    # R10.3: the void tile is asked for with energy on it; no other tile is
    if s.resolving != NONE:
        void = s.altar[s.resolving] == VOID_TILE
        if void != (s.phase == Phase.VOID_TARGET) or (void and altar_energy(s, int(s.resolving)) == 0):
            return False
    # R10.2: the four-point tile is asked for with energy on it and a tile beside it
    if s.placed != NONE:
        home = 1 << int(s.placed)
        return energy_on(s, home) > 0 and beside(home) & int(s.occupied) != 0
    return True
