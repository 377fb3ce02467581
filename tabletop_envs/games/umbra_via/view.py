"""What a seat may know of Umbra Via: all that lies open, and its own hand and pending bids (R11).

The observation (O1), and `determinize`, which deals anew what the others have drawn and bid face down.
"""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.header import RUNNING
from tabletop_envs.core.jit import jit
from tabletop_envs.core.layout import Block, ObservationLayout
from tabletop_envs.core.random import below, rekey
from tabletop_envs.games.umbra_via.state import Phase, biddable
from tabletop_envs.games.umbra_via.tables import (
    BIDS,
    BLOCK_TILE,
    CELLS,
    COLS,
    ENERGY,
    ENERGY_IN_BAG,
    FLOWERS,
    FOUR_POINT_TILE,
    HAND,
    KINDS,
    NO_TILE,
    REGULAR_TILES,
    ROWS,
    SEATS,
    SIDES,
    SLOTS,
    SOUL,
    SOULS_IN_ALL,
    SOULS_ON_TILE,
    SPECIAL_KINDS,
    VOID_TILE,
)

_BOARD: Final = (ROWS, COLS)
_TILE: Final = 1 + SIDES + 1  # present, open N, E, S, W, is four-point
_SLOT: Final = _TILE + 2 + 2 * SEATS + SLOTS + 1
_SEAT: Final = 6 + SEATS

OBSERVATIONS: Final = ObservationLayout(
    Block(
        "board",
        (_TILE + SEATS, *_BOARD),
        "planes: tile present, open N, E, S, W, is four-point; energy of self, then in seat order, /12, at most 1",
        "O1",
        _BOARD,
        links=tuple((1 + side,) for side in range(SIDES)),  # R7.1
    ),
    Block(
        "altar",
        (SLOTS, _SLOT),
        "a slot: tile present, open N, E, S, W, is four-point, is void, is block; revealed energy, then souls, of "
        "self, then in seat order, /6; its order counter one-hot; 1 while its winner decides",
        "O1",
        entities=True,
    ),
    Block("own_pending", (SLOTS, FLOWERS), "a slot: own souls, energy bid there face down, /3", "O1", entities=True),
    Block("own_hand", (FLOWERS,), "own souls, energy still to be bid, /3", "O1"),
    Block(
        "players",
        (SEATS, _SEAT),
        "self, then in seat order: in play; claims /28, at most 1; flowers left on the soul tile /11; energy /32, "
        "souls /17 in the pool; souls removed /17; place on the track one-hot",
        "O1",
    ),
    Block("phase", (5,), "one-hot: bid1, bid2, place, four-point target, void target; all 0 when over", "O1"),
    Block(
        "tile_census",
        (2, KINDS),
        "straight, bend, tee, four-point, void, block in the stack, then on the discard pile, /20, at most 1",
        "O1",
    ),
    Block(
        "globals",
        (8,),
        "round / max_rounds; one-hot: 2, 3, 4 players; victory target /28, at most 1; four-point, void, block in use",
        "O1",
    ),
)

PILE_SCALE: Final = 12  # energy of a seat on a cell
CLAIMS_SCALE: Final = 28  # O4: 12, and the 16 of the longest path
TILES_SCALE: Final = sum(REGULAR_TILES) + SPECIAL_KINDS
REDEAL: Final = 7  # kind of chance

BOARD: Final = OBSERVATIONS.start("board")
ALTAR: Final = OBSERVATIONS.start("altar")
OWN_PENDING: Final = OBSERVATIONS.start("own_pending")
OWN_HAND: Final = OBSERVATIONS.start("own_hand")
PLAYERS: Final = OBSERVATIONS.start("players")
PHASE: Final = OBSERVATIONS.start("phase")
TILE_CENSUS: Final = OBSERVATIONS.start("tile_census")
GLOBALS: Final = OBSERVATIONS.start("globals")

# from there on in a slot, in a seat, in the globals
_COUNTER: Final = _TILE + 2 + 2 * SEATS
_PLACE: Final = _SEAT - SEATS
_TARGET: Final = 4
_SPECIALS: Final = 5


@jit
def observe(s, seat, out):
    """O1: the table from the observer's side; of the others only what lies open (O2, O3)."""
    out[:] = 0.0
    _write_board(s, seat, out)
    for slot in range(SLOTS):
        if s.altar[slot] != NO_TILE:
            _write_slot(s, seat, slot, out)
        for flower in range(FLOWERS):
            out[OWN_PENDING + FLOWERS * slot + flower] = s.pending[seat, slot, flower] / HAND
    for flower in range(FLOWERS):
        out[OWN_HAND + flower] = s.hand[seat, flower] / HAND
    _write_seats(s, seat, out)
    if s.over == RUNNING:
        if s.phase == Phase.BID1 or s.phase == Phase.BID2:
            out[PHASE + int(s.phase) - Phase.BID1] = 1.0
        elif s.phase >= Phase.PLACE:
            out[PHASE + BIDS + int(s.phase) - Phase.PLACE] = 1.0
    for kind in range(KINDS):
        out[TILE_CENSUS + kind] = min(1.0, s.stack[kind] / TILES_SCALE)
        out[TILE_CENSUS + KINDS + kind] = min(1.0, s.discard[kind] / TILES_SCALE)
    out[GLOBALS] = s.rounds / s.max_rounds
    out[GLOBALS + int(s.num_players) - 1] = 1.0
    out[GLOBALS + _TARGET] = min(1.0, s.victory_target / CLAIMS_SCALE)
    for special in range(SPECIAL_KINDS):
        out[GLOBALS + _SPECIALS + special] = int(s.special_tiles) >> special & 1


@jit
def _write_board(s, seat, out):
    occupied = int(s.occupied)
    for cell in range(CELLS):
        out[BOARD + cell] = occupied >> cell & 1
    for side in range(SIDES):
        openings = int(s.openings[side])
        for cell in range(CELLS):
            out[BOARD + CELLS * (1 + side) + cell] = openings >> cell & 1
    for cell in range(CELLS):
        out[BOARD + CELLS * (1 + SIDES) + cell] = s.board[cell] == FOUR_POINT_TILE
    for relative in range(int(s.num_players)):
        other = (seat + relative) % int(s.num_players)
        for cell in range(CELLS):
            out[BOARD + CELLS * (_TILE + relative) + cell] = min(1.0, s.energy[other, cell] / PILE_SCALE)


@jit
def _write_slot(s, seat, slot, out):
    first = ALTAR + _SLOT * slot
    tile = int(s.altar[slot])
    out[first] = 1.0
    if tile < FOUR_POINT_TILE:
        for side in range(SIDES):
            out[first + 1 + side] = tile >> side & 1
    else:
        out[first + 1 + SIDES] = tile == FOUR_POINT_TILE
        out[first + 2 + SIDES] = tile == VOID_TILE
        out[first + 3 + SIDES] = tile == BLOCK_TILE
    for relative in range(int(s.num_players)):
        other = (seat + relative) % int(s.num_players)
        out[first + _TILE + 2 + relative] = s.bid_energy[other, slot] / (BIDS * HAND)
        out[first + _TILE + 2 + SEATS + relative] = s.bid_souls[other, slot] / (BIDS * HAND)
    if s.order[slot] > 0:
        out[first + _COUNTER + int(s.order[slot]) - 1] = 1.0
    out[first + _SLOT - 1] = s.resolving == slot


@jit
def _write_seats(s, seat, out):
    for relative in range(int(s.num_players)):
        other = (seat + relative) % int(s.num_players)
        first = PLAYERS + _SEAT * relative
        out[first] = 1.0
        out[first + 1] = min(1.0, s.claims[other] / CLAIMS_SCALE)
        out[first + 2] = max(0, SOULS_ON_TILE - int(s.claims[other])) / SOULS_ON_TILE
        out[first + 3] = s.pool[other, ENERGY] / ENERGY_IN_BAG
        out[first + 4] = s.pool[other, SOUL] / SOULS_IN_ALL
        out[first + 5] = s.removed[other] / SOULS_IN_ALL
        out[first + _PLACE + int(s.track[other])] = 1.0


# --- what the seat cannot know (R11.2, R11.3) --------------------------------------------------------------------


@jit
def determinize(s, seat, salt):
    """Others' hands and pending bids anew, from their pools; the stack's order and all chance to come by a new key."""
    rekey(s, salt)
    for other in range(int(s.num_players)):
        if other != seat and s.drawn[other] > 0:
            _redeal(s, other)


@jit
def _redeal(s, seat):
    """R4.2, R4.4: as many flowers from the pool as were drawn; as many as were bid on any slots, souls first."""
    for slot in range(SLOTS):
        for flower in range(FLOWERS):
            s.pending[seat, slot, flower] = 0
    souls, energy = int(s.pool[seat, SOUL]), int(s.pool[seat, ENERGY])
    for _ in range(int(s.drawn[seat])):
        if below(s, REDEAL, souls + energy) < souls:
            souls -= 1
        else:
            energy -= 1
    s.hand[seat, SOUL] = s.pool[seat, SOUL] - souls
    s.hand[seat, ENERGY] = s.pool[seat, ENERGY] - energy
    for _ in range(int(s.drawn[seat]) - int(s.to_bid[seat])):
        flower = SOUL if s.hand[seat, SOUL] > 0 else ENERGY
        s.hand[seat, flower] -= 1
        s.pending[seat, _any_slot(s), flower] += 1


@jit
def _any_slot(s):
    """One of the slots that can be bid on, each as likely."""
    choices = 0
    for slot in range(SLOTS):
        choices += biddable(s, slot)
    number = below(s, REDEAL, choices)
    for slot in range(SLOTS):
        if biddable(s, slot):
            if number == 0:
                return slot
            number -= 1
    return SLOTS - 1
