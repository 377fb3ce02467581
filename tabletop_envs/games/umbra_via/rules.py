"""The rules of Umbra Via in the order of RULES.md: setup, round, bids, resolution, paths, summoning, end."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.bits import count_bits, lowest_bit
from tabletop_envs.core.header import NOBODY, OVER_CAP, OVER_RULES, report
from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import below, draw, shuffle
from tabletop_envs.games.umbra_via import GAME
from tabletop_envs.games.umbra_via.actions import BID, CELL, DECLINE, NUM_ACTIONS
from tabletop_envs.games.umbra_via.state import (
    DEAL,
    DISCARDED,
    EARNED,
    GOAL,
    LAST_ROUND,
    NONE,
    PATH_BIAS,
    STALEMATE,
    SUMMONED,
    TIED,
    WON,
    Phase,
    altar_energy,
    beside,
    biddable,
    energy_on,
    flowers_on,
    kind_in_use,
    open_ends,
    path_of,
)
from tabletop_envs.games.umbra_via.tables import (
    ALL_CELLS,
    BID_VALUE,
    CELLS,
    CENTRE,
    ENERGY,
    ENERGY_IN_BAG,
    FLOWERS,
    FOUR_POINT,
    FOUR_POINT_TILE,
    HAND,
    KIND_OF,
    KINDS,
    NEIGHBOUR,
    NO_TILE,
    SIDES,
    SLOTS,
    SOUL,
    SOULS_IN_BAG,
    SOULS_ON_TILE,
    TURNED,
    VOID_TILE,
)

# kinds of chance (R12.1); each seat draws flowers from a stream of its own
TRACK: Final = 0
TILE: Final = 1
QUARTER: Final = 2
DRAWN: Final = 3  # + seat

# the option `summon_ties` (R8.5)
_TIES: Final = next(option for option in GAME.options if option.name == "summon_ties")
TRACK_MOVE: Final = _TIES.encode("track_move")
FRIENDLY: Final = _TIES.encode("friendly")


# --- setup (R2) --------------------------------------------------------------------------------------------------


@jit
def setup(s):
    """R2: empty board and altar, full bags, markers in random order, all tiles in the stack."""
    for kind in range(KINDS):
        # R2.2: which tile lies where in the stack is settled when it is drawn (R12.2)
        s.stack[kind] = kind_in_use(s, kind)
    for seat in range(int(s.num_players)):
        s.pool[seat, SOUL] = SOULS_IN_BAG
        s.pool[seat, ENERGY] = ENERGY_IN_BAG
        s.track[seat] = seat
    shuffle(s, TRACK, s.track, int(s.num_players))
    s.resolving = NONE
    s.placed = NONE
    s.winner = NONE
    s.phase = Phase.ROUND
    s.seat = NOBODY


# --- masks -------------------------------------------------------------------------------------------------------


@jit
def free_cells(s):
    """R6.2, R6.3: the set of the cells on which a tile may be placed."""
    occupied = int(s.occupied)
    return CENTRE if occupied == 0 else beside(occupied) & ~occupied


@jit
def targets(s):
    """The set of the cells that the seat may choose in this phase: D3, D4, D5."""
    if s.phase == Phase.PLACE:
        return free_cells(s)
    if s.phase == Phase.VOID_TARGET:
        # R10.3: any empty cell
        return ALL_CELLS & ~int(s.occupied)
    # R10.2: a tile that shares an edge with the one just placed
    return beside(1 << int(s.placed)) & int(s.occupied)


@jit
def legal(s, mask):
    """The legal actions of the seat to act, and their number."""
    mask[:] = 0
    count = 0
    if s.phase == Phase.BID1 or s.phase == Phase.BID2:
        # R4.4
        for slot in range(SLOTS):
            if biddable(s, slot):
                mask[BID + slot] = 1
                count += 1
        return count
    cells = targets(s)
    for cell in range(CELLS):
        mask[CELL + cell] = cells >> cell & 1
    if s.phase == Phase.FOUR_POINT_TARGET:
        mask[DECLINE] = 1
        count = 1
    return count + count_bits(cells)


# --- decisions ---------------------------------------------------------------------------------------------------


@jit
def apply(s, action):
    """Execute one decision of the seat to act."""
    assert 0 <= action < NUM_ACTIONS, "the action is outside the space"
    assert s.seat != NOBODY, "nobody is asked"
    if s.phase == Phase.BID1 or s.phase == Phase.BID2:
        _bid(s, action)
        return
    if action == DECLINE:
        assert s.phase == Phase.FOUR_POINT_TARGET, "there are no flowers to leave where they are (R10.2)"
        _finish_tile(s)
        return
    assert action >= CELL, "a cell is asked (D3, D4, D5)"
    cell = action - CELL
    assert targets(s) >> cell & 1 == 1, "the cell is not among those that may be chosen (R6.2, R6.3, R10.2, R10.3)"
    if s.phase == Phase.PLACE:
        _place(s, cell)
    elif s.phase == Phase.VOID_TARGET:
        # R10.3: the flowers wait on the cell, the tile is discarded
        _move_from_altar(s, int(s.resolving), cell)
        _discard_slot(s, int(s.resolving))
        s.resolving = NONE
        s.phase = Phase.RESOLVE
        s.seat = NOBODY
    else:
        # R10.2: all energy, of all seats
        home = int(s.placed)
        for seat in range(int(s.num_players)):
            s.energy[seat, cell] += s.energy[seat, home]
            s.energy[seat, home] = 0
        _finish_tile(s)


@jit
def _bid(s, action):
    # R4.3, R4.4, D2: the asked flower, a soul while there is one in hand, on a biddable tile
    assert action < BID + SLOTS, "a slot is asked (D2)"
    slot = action - BID
    assert biddable(s, slot), "no tile lies there that can be bid on (R4.4, R10.4)"
    seat = int(s.seat)
    flower = SOUL if s.hand[seat, SOUL] > 0 else ENERGY
    s.hand[seat, flower] -= 1
    s.pending[seat, slot, flower] += 1
    s.to_bid[seat] -= 1
    if s.to_bid[seat] == 0:
        s.turn += 1
        s.seat = NOBODY


@jit
def _place(s, cell):
    # R6.1: the tile with all energy on it; flowers that wait on the cell join it (R10.3)
    slot = int(s.resolving)
    tile = int(s.altar[slot])
    s.board[cell] = tile
    s.occupied |= 1 << cell
    if tile != FOUR_POINT_TILE:
        for side in range(SIDES):
            s.openings[side] |= (tile >> side & 1) << cell
    _move_from_altar(s, slot, cell)
    s.altar[slot] = NO_TILE
    s.order[slot] = 0
    s.resolving = NONE
    s.placed = cell
    if tile == FOUR_POINT_TILE and energy_on(s, 1 << cell) > 0 and beside(1 << cell) & int(s.occupied) != 0:
        # R10.2: the flowers may move before paths are looked at
        s.phase = Phase.FOUR_POINT_TARGET
    else:
        _finish_tile(s)


@jit
def _move_from_altar(s, slot, cell):
    for seat in range(int(s.num_players)):
        s.energy[seat, cell] += s.bid_energy[seat, slot]
        s.bid_energy[seat, slot] = 0


@jit
def _discard_slot(s, slot):
    s.discard[KIND_OF[s.altar[slot]]] += 1
    s.altar[slot] = NO_TILE
    s.order[slot] = 0
    report(s, DISCARDED, NOBODY, slot)


@jit
def _finish_tile(s):
    # R6.6: paths are resolved before the next tile's winner is determined; R9.3: the goal ends the game at once
    summon(s, int(s.placed))
    s.placed = NONE
    s.seat = NOBODY
    if s.winner == NONE:
        s.phase = Phase.RESOLVE
    else:
        s.phase = Phase.OVER
        s.over = OVER_RULES


# --- automatic steps ---------------------------------------------------------------------------------------------


@jit
def advance(s):
    """A round begins or the game ends, flowers are drawn, a seat is asked, bids are revealed, a tile is won."""
    if s.phase == Phase.ROUND:
        _begin_round(s)
    elif s.phase == Phase.RESOLVE:
        _resolve_next(s)
    elif s.turn == DEAL:
        draw_hands(s)
    else:
        # R4.6: who has drawn nothing is not asked
        while s.turn < s.num_players and s.to_bid[s.turn] == 0:
            s.turn += 1
        if s.turn < s.num_players:
            s.seat = s.turn
        else:
            reveal_bids(s)


@jit
def _begin_round(s):
    # R9.5: the ends, the stalemate first
    flowers = 0
    for seat in range(int(s.num_players)):
        flowers += int(s.pool[seat, SOUL]) + int(s.pool[seat, ENERGY])
    if flowers == 0:
        _end_in_stalemate(s)
        return
    if s.rounds >= s.max_rounds:
        report(s, LAST_ROUND, NOBODY, int(s.rounds))
        s.phase = Phase.OVER
        s.over = OVER_CAP
        return
    s.rounds += 1
    reveal_tiles(s)
    on_offer = False
    for slot in range(SLOTS):
        on_offer = on_offer or biddable(s, slot)
    if not on_offer:
        _end_in_stalemate(s)
        return
    s.phase = Phase.BID1
    s.turn = DEAL


@jit
def _end_in_stalemate(s):
    report(s, STALEMATE, NOBODY, int(s.rounds))
    s.phase = Phase.OVER
    s.over = OVER_RULES


@jit
def reveal_tiles(s):
    """R3: four tiles from the stack face up on the slots, as they turn up; the discard pile makes a new stack."""
    for slot in range(SLOTS):
        kind = draw(s, TILE, s.stack)
        if kind < 0:
            # R3.2
            for other in range(KINDS):
                s.stack[other] = s.discard[other]
                s.discard[other] = 0
            kind = draw(s, TILE, s.stack)
        if kind < 0:
            return
        # R3.3: special tiles have no orientation
        quarter = below(s, QUARTER, SIDES) if kind < FOUR_POINT else 0
        s.altar[slot] = TURNED[kind, quarter]


@jit
def draw_hands(s):
    """R4.2: everybody draws three flowers from the own bag, or all that there are."""
    for seat in range(int(s.num_players)):
        souls, energy = int(s.pool[seat, SOUL]), int(s.pool[seat, ENERGY])
        size = min(HAND, souls + energy)
        for _ in range(size):
            if below(s, DRAWN + seat, souls + energy) < souls:
                souls -= 1
            else:
                energy -= 1
        s.hand[seat, SOUL] = s.pool[seat, SOUL] - souls
        s.hand[seat, ENERGY] = s.pool[seat, ENERGY] - energy
        s.drawn[seat] = size
        s.to_bid[seat] = size
    s.turn = 0


@jit
def reveal_bids(s):
    """R4.5: all bids at once on the altar; after the second the tiles are put in order."""
    for seat in range(int(s.num_players)):
        for slot in range(SLOTS):
            s.bid_souls[seat, slot] += s.pending[seat, slot, SOUL]
            s.bid_energy[seat, slot] += s.pending[seat, slot, ENERGY]
            for flower in range(FLOWERS):
                s.pool[seat, flower] -= s.pending[seat, slot, flower]
                s.pending[seat, slot, flower] = 0
        s.drawn[seat] = 0
    if s.phase == Phase.BID1:
        s.phase = Phase.BID2
        s.turn = DEAL
    else:
        put_in_order(s)


@jit
def put_in_order(s):
    """R5.1, R5.2: unbid tiles are discarded, the others get counters, fewest flowers and lowest slot first."""
    for slot in range(SLOTS):
        if s.altar[slot] == NO_TILE:
            continue
        flowers = flowers_on(s, slot)
        if flowers == 0:
            _discard_slot(s, slot)
            continue
        counter = 1
        for other in range(SLOTS):
            there = flowers_on(s, other)
            if there > 0 and (there < flowers or (there == flowers and other < slot)):
                counter += 1
        s.order[slot] = counter
    s.phase = Phase.RESOLVE
    s.turn = 0


@jit
def _resolve_next(s):
    # R5.5: the next tile in order; R9.4: behind the last one a new round
    s.turn += 1
    slot = _slot_in_turn(s)
    if slot == NONE:
        s.turn = 0
        s.phase = Phase.ROUND
        return
    winner = win_tile(s, slot)
    if s.altar[slot] == VOID_TILE and altar_energy(s, slot) == 0:
        # R10.3: nothing to lay anywhere
        _discard_slot(s, slot)
        return
    s.resolving = slot
    s.seat = winner
    s.phase = Phase.VOID_TARGET if s.altar[slot] == VOID_TILE else Phase.PLACE


@jit
def _slot_in_turn(s):
    for slot in range(SLOTS):
        if s.order[slot] == s.turn:
            return slot
    return NONE


@jit
def win_tile(s, slot):
    """R5.3 to R5.6: the seat with the highest bid on the slot, by the track among equals; souls leave the game."""
    best, winner, tied = -1, NOBODY, 0
    for seat in range(int(s.num_players)):
        bid = int(s.bid_souls[seat, slot]) * int(BID_VALUE[SOUL]) + int(s.bid_energy[seat, slot]) * int(
            BID_VALUE[ENERGY]
        )
        if bid > best:
            best, winner, tied = bid, seat, 1
        elif bid == best:
            tied += 1
            if s.track[seat] < s.track[winner]:
                winner = seat
    report(s, WON, winner, slot + (TIED if tied > 1 else 0))
    if tied > 1:
        drop_marker(s, winner)
    for seat in range(int(s.num_players)):
        s.removed[seat] += s.bid_souls[seat, slot]
        s.bid_souls[seat, slot] = 0
    return winner


@jit
def drop_marker(s, seat):
    """R5.4, R8.5: the marker goes to the bottom of the track, those below it move up."""
    place = int(s.track[seat])
    for other in range(int(s.num_players)):
        if s.track[other] > place:
            s.track[other] -= 1
    s.track[seat] = int(s.num_players) - 1


# --- summoning (R7, R8) ------------------------------------------------------------------------------------------


@jit
def summon(s, cell):
    """R7.4, R8.7: score the complete paths of the cell and of its neighbours, then take them off together."""
    complete = _pay_complete(s, cell)
    if complete != 0:
        _take_off(s, complete)


@jit
def _pay_complete(s, cell):
    # the set of the cells of all complete paths, each scored
    ends = open_ends(s)
    seen, complete = 0, 0
    for side in range(-1, SIDES):
        # R8.7: the placed tile, then north, east, south, west of it
        there = cell if side < 0 else int(NEIGHBOUR[cell, side])
        if there < 0 or s.board[there] == NO_TILE or s.board[there] == FOUR_POINT_TILE or seen >> there & 1 == 1:
            continue
        path = path_of(s, there)
        seen |= path
        if path & ends == 0:
            report(s, SUMMONED, NOBODY, path - PATH_BIAS)
            pay_path(s, path)
            complete |= path
    return complete


@jit
def _sums_on(s, path):
    """R8.1: the energy of the seats on the path, eight bits a seat."""
    sums = 0
    for seat in range(int(s.num_players)):
        total, cells = 0, path
        while cells != 0:
            total += int(s.energy[seat, lowest_bit(cells)])
            cells &= cells - 1
        sums |= total << (8 * seat)
    return sums


@jit
def _seats_with(s, sums, seats, total):
    """The set of those of the seats whose sum is the total."""
    found = 0
    for seat in range(int(s.num_players)):
        if seats >> seat & 1 == 1 and sums >> (8 * seat) & 255 == total:
            found |= 1 << seat
    return found


@jit
def pay_path(s, path):
    """R8.1 to R8.5: rank the seats by their energy on the path and pay them, half of the rank above each."""
    sums = _sums_on(s, path)
    everybody = (1 << int(s.num_players)) - 1
    unranked = everybody & ~_seats_with(s, sums, everybody, 0)  # R8.4: no rank without energy
    award = count_bits(path)
    while award >= 1 and unranked != 0:
        first = _first_ranked(s, sums, unranked)
        tied = _seats_with(s, sums, unranked, sums >> (8 * first) & 255)
        drops = s.summon_ties == TRACK_MOVE and tied != 1 << first
        if s.summon_ties == FRIENDLY:
            # OPT-3: all of them earn the award, in the order of the track
            unranked &= ~tied
            while tied != 0:
                first = _first_ranked(s, sums, tied)
                tied &= ~(1 << first)
                _pay(s, first, award, drops)
        else:
            unranked &= ~(1 << first)
            _pay(s, first, award, drops)
            if drops:
                drop_marker(s, first)
        award //= 2


@jit
def _first_ranked(s, sums, seats):
    # R8.1, R8.5: the highest sum among the seats of the set, of equal ones the highest marker
    first, most = NOBODY, 0
    for seat in range(int(s.num_players)):
        total = sums >> (8 * seat) & 255
        if seats >> seat & 1 == 1 and (total > most or (total == most and s.track[seat] < s.track[first])):
            first, most = seat, total
    return first


@jit
def _pay(s, seat, award, drops):
    # R9.1: souls from the soul tile into the bag, as far as they go; the counter grows by all of the award
    left = max(0, SOULS_ON_TILE - int(s.claims[seat]))
    s.pool[seat, SOUL] += min(award, left)
    s.claims[seat] += award
    report(s, EARNED, seat, award + (TIED if drops else 0))
    # R9.3: the first to arrive wins
    if s.winner == NONE and s.claims[seat] >= s.victory_target:
        s.winner = seat
        report(s, GOAL, seat, int(s.claims[seat]))


@jit
def _take_off(s, cells):
    # R8.6: energy back into the bags, tiles to the discard pile
    s.occupied &= ~cells
    for side in range(SIDES):
        s.openings[side] &= ~cells
    while cells != 0:
        cell = lowest_bit(cells)
        cells &= cells - 1
        s.discard[KIND_OF[s.board[cell]]] += 1
        s.board[cell] = NO_TILE
        for seat in range(int(s.num_players)):
            s.pool[seat, ENERGY] += s.energy[seat, cell]
            s.energy[seat, cell] = 0


# --- standing (R9) -----------------------------------------------------------------------------------------------


@jit
def score(s, points, places):
    """R9.6: points are claims up to the goal; the winner first, then by claims, equal ones by the track."""
    for seat in range(int(s.num_players)):
        points[seat] = min(int(s.claims[seat]), int(s.victory_target))
        places[seat] = 1
        if seat == s.winner:
            continue
        for other in range(int(s.num_players)):
            lead = int(s.claims[other]) - int(s.claims[seat])
            if other == s.winner or lead > 0 or (lead == 0 and s.track[other] < s.track[seat]):
                places[seat] += 1
