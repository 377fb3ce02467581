"""The rules of Urbino in the order of RULES.md: setup, sight, relocation, build, skip, end, score.

Sets of cells are pairs of words (low, high), see `tables.BIT`. Which buildings a cell would take does not depend on
the architects (R8.2), so `allowed` changes with a build alone, and every mask is an intersection with it.
"""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.bits import count_bits, highest_bit, lowest_bit
from tabletop_envs.core.header import NOBODY, OVER_RULES, report
from tabletop_envs.core.jit import jit
from tabletop_envs.games.urbino.actions import ARCHITECT, BUILD, FIRST, NUM_ACTIONS, STAY
from tabletop_envs.games.urbino.state import (
    SKIPPED,
    Phase,
    block_value,
    district_winner,
    line_monument,
)
from tabletop_envs.games.urbino.tables import (
    BIT,
    BROWN,
    CELLS,
    ENTERED,
    GROWING,
    HOUSE,
    KINDS,
    LINES_THROUGH,
    LOW_CELLS,
    MONUMENTS,
    NEIGHBOUR_CELLS,
    NEIGHBOURS,
    NOWHERE,
    PLAYERS,
    RAYS,
    STRIDE,
    SUPPLY,
    WHITE,
)

ALL_LOW: Final = (1 << LOW_CELLS) - 1
ALL_HIGH: Final = (1 << (CELLS - LOW_CELLS)) - 1


@jit
def setup(s):
    """An empty board; Brown is to place architect 0 (R3.1)."""
    for cell in range(CELLS):
        s.district[cell] = -1
    for colour in range(PLAYERS):
        for kind in range(KINDS):
            s.supply[colour, kind] = SUPPLY[kind]
            s.allowed[colour, kind, 0] = ALL_LOW
            s.allowed[colour, kind, 1] = ALL_HIGH
    s.architects[0] = NOWHERE
    s.architects[1] = NOWHERE
    s.phase = Phase.PLACE_ARCHITECT
    s.turn = BROWN
    s.seat = BROWN


# --- sets of cells -----------------------------------------------------------------------------------------------


@jit
def first_cell(low, high):
    """The lowest cell of a set that is not empty."""
    return lowest_bit(low) if low != 0 else LOW_CELLS + lowest_bit(high)


@jit
def without_first(low, high):
    """The set without its lowest cell."""
    return (low & (low - 1), high) if low != 0 else (low, high & (high - 1))


# --- sight and lots (R5) ----------------------------------------------------------------------------------------


@jit
def sight(cell, low, high):
    """R5.1, R5.2: the cells seen from `cell` along 8 lines, each up to the first occupied one (low, high)."""
    seen_low = 0
    seen_high = 0
    for direction in range(8):
        ray_low = RAYS[direction, cell, 0]
        ray_high = RAYS[direction, cell, 1]
        stop_low = ray_low & low
        stop_high = ray_high & high
        blocker = NOWHERE
        if direction < GROWING:
            if stop_low != 0:
                blocker = lowest_bit(stop_low)
            elif stop_high != 0:
                blocker = LOW_CELLS + lowest_bit(stop_high)
        else:
            if stop_high != 0:
                blocker = LOW_CELLS + highest_bit(stop_high)
            elif stop_low != 0:
                blocker = highest_bit(stop_low)
        seen_low |= ray_low & ~RAYS[direction, blocker, 0]
        seen_high |= ray_high & ~RAYS[direction, blocker, 1]
    return seen_low & ~low, seen_high & ~high


@jit
def lots(s):
    """R5.4: the unoccupied cells that both architects see; none before both stand (R2.5)."""
    first = int(s.architects[0])
    second = int(s.architects[1])
    if first == NOWHERE or second == NOWHERE:
        return 0, 0
    low = s.built[0] | BIT[first, 0] | BIT[second, 0]
    high = s.built[1] | BIT[first, 1] | BIT[second, 1]
    a_low, a_high = sight(first, low, high)
    b_low, b_high = sight(second, low, high)
    return a_low & b_low, a_high & b_high


# --- relocation (R4) --------------------------------------------------------------------------------------------


@jit
def wanted(s, colour):
    """The cells where the colour could build something if they were lots (R8.2)."""
    low = s.allowed[colour, 0, 0] | s.allowed[colour, 1, 0] | s.allowed[colour, 2, 0]
    high = s.allowed[colour, 0, 1] | s.allowed[colour, 1, 1] | s.allowed[colour, 2, 1]
    return low, high


@jit
def can_stay(s, colour):
    """R4.4 for "stay": a legal build exists with the architects as they stand."""
    low, high = lots(s)
    wanted_low, wanted_high = wanted(s, colour)
    return (low & wanted_low) | (high & wanted_high) != 0


@jit
def _slide(low, high, stride, growing):
    """The set moved by so many cells; what runs over the end of the board is gone."""
    if growing:
        return (low << stride) & ALL_LOW, ((high << stride) | (low >> (LOW_CELLS - stride))) & ALL_HIGH
    return (low >> stride) | ((high << (LOW_CELLS - stride)) & ALL_LOW), high >> stride


@jit
def _seen_towards(direction, low, high, empty_low, empty_high):
    """R5.2 for a whole set: the empty cells that some cell of the set sees in one direction.

    The set grows through empty cells by 1, 2 and 4 cells, then takes one step more: 8 in all.
    """
    stride = STRIDE[direction]
    growing = direction < GROWING
    open_low = empty_low & ENTERED[direction, 0]
    open_high = empty_high & ENTERED[direction, 1]
    way_low, way_high = open_low, open_high
    for doubling in range(3):
        moved_low, moved_high = _slide(low, high, stride << doubling, growing)
        low |= way_low & moved_low
        high |= way_high & moved_high
        moved_low, moved_high = _slide(way_low, way_high, stride << doubling, growing)
        way_low &= moved_low
        way_high &= moved_high
    moved_low, moved_high = _slide(low, high, stride, growing)
    return moved_low & open_low, moved_high & open_high


@jit
def relocations(s, colour, architect):
    """R4.3, R4.4: the cells to which the architect may be moved so that the colour has a legal build.

    Told from the lots: a cell that the standing architect sees and that takes a building becomes a lot when the
    other one is put where it sees that cell, but not on the line between it and the standing one (R5.5). The moved
    architect is lifted first: its old cell neither blocks nor is a target (R5.6).
    """
    standing = int(s.architects[1 - architect])
    home = int(s.architects[architect])
    seen_low, seen_high = sight(standing, s.built[0], s.built[1])
    wanted_low, wanted_high = wanted(s, colour)
    lots_low, lots_high = seen_low & wanted_low, seen_high & wanted_high
    empty_low = ALL_LOW & ~(s.built[0] | BIT[standing, 0])
    empty_high = ALL_HIGH & ~(s.built[1] | BIT[standing, 1])
    reach_low = 0
    reach_high = 0
    for direction in range(8):
        # the lots on the standing architect's ray look back along it, over the cells between (R5.5)
        back = (direction + GROWING) % 8
        low, high = lots_low & ~RAYS[back, standing, 0], lots_high & ~RAYS[back, standing, 1]
        low, high = _seen_towards(direction, low, high, empty_low, empty_high)
        reach_low |= low
        reach_high |= high
    return reach_low & ~BIT[home, 0], reach_high & ~BIT[home, 1]


@jit
def has_turn(s, colour):
    """R8.3: whether the colour has any legal relocation option, "stay" included."""
    if can_stay(s, colour):
        return True
    for architect in range(2):
        low, high = relocations(s, colour, architect)
        if low | high != 0:
            return True
    return False


# --- masks (R10.3) ----------------------------------------------------------------------------------------------


@jit
def _write_cells(mask, offset, low, high):
    for cell in range(LOW_CELLS):
        mask[offset + cell] = (low >> cell) & 1
    for cell in range(CELLS - LOW_CELLS):
        mask[offset + LOW_CELLS + cell] = (high >> cell) & 1
    return count_bits(low) + count_bits(high)


@jit
def _mark_cells(mask, offset, low, high):
    # like _write_cells, for few cells in a mask that is zero
    count = 0
    while low | high != 0:
        mask[offset + first_cell(low, high)] = 1
        low, high = without_first(low, high)
        count += 1
    return count


@jit
def legal(s, mask):
    """The legal actions of the seat to act, and their number."""
    mask[:] = 0
    colour = int(s.seat)
    if s.phase == Phase.RELOCATE:
        count = 0
        for architect in range(2):
            low, high = relocations(s, colour, architect)
            count += _write_cells(mask, ARCHITECT + CELLS * architect, low, high)
        if can_stay(s, colour):
            mask[STAY] = 1
            count += 1
        return count
    if s.phase == Phase.BUILD:
        # R8.2: a lot that takes the building
        lots_low, lots_high = lots(s)
        count = 0
        for kind in range(KINDS):
            low, high = lots_low & s.allowed[colour, kind, 0], lots_high & s.allowed[colour, kind, 1]
            count += _mark_cells(mask, BUILD + CELLS * kind, low, high)
        return count
    if s.phase == Phase.PLACE_ARCHITECT:
        # R3.1, R3.2: any cell but the other architect's
        for cell in range(CELLS):
            mask[ARCHITECT + CELLS * colour + cell] = cell != s.architects[BROWN]
        return CELLS if colour == BROWN else CELLS - 1
    mask[FIRST + BROWN] = 1
    mask[FIRST + WHITE] = 1
    return PLAYERS


# --- decisions --------------------------------------------------------------------------------------------------


@jit
def apply(s, action):
    """Execute one decision of the seat to act."""
    assert 0 <= action < NUM_ACTIONS, "the action is outside the space (R10.2)"
    assert s.seat != NOBODY, "nobody is asked"
    if s.phase == Phase.RELOCATE:
        _relocate(s, action)
    elif s.phase == Phase.BUILD:
        _build(s, action)
    elif s.phase == Phase.PLACE_ARCHITECT:
        _place_architect(s, action)
    else:
        # R3.3, R3.4: Brown names the first builder, whose first turn is a build only (R4.2)
        assert action == FIRST + BROWN or action == FIRST + WHITE, "who builds first is asked (R3.3)"
        s.phase = Phase.BUILD
        s.turn = action - FIRST
        s.seat = action - FIRST


@jit
def _place_architect(s, action):
    # R3.1, R3.2: Brown places architect 0, White architect 1, on different cells
    colour = int(s.seat)
    cell = action - ARCHITECT - CELLS * colour
    assert 0 <= cell < CELLS, "the colour's own architect is asked (R3.1, R3.2)"
    assert cell != s.architects[BROWN], "the other architect stands there (R3.2)"
    s.architects[colour] = cell
    s.turn = 1 - colour
    s.seat = 1 - colour
    if colour == WHITE:
        s.phase = Phase.CHOOSE_FIRST


@jit
def _relocate(s, action):
    # R4.3: one architect to another unoccupied cell, or stay
    assert action <= STAY, "a relocation is asked (R4.1)"
    if action < STAY:
        architect = (action - ARCHITECT) // CELLS
        cell = (action - ARCHITECT) % CELLS
        assert s.board[cell] == 0, "a building stands there (R4.3)"
        assert cell != s.architects[0] and cell != s.architects[1], "an architect stands there (R4.3)"
        home = int(s.architects[architect])
        s.architects[architect] = cell
        if not can_stay(s, int(s.seat)):
            s.architects[architect] = home
            raise AssertionError("no legal build would exist (R4.4)")
    else:
        assert can_stay(s, int(s.seat)), "no legal build exists (R4.4)"
    s.phase = Phase.BUILD


@jit
def _build(s, action):
    # R8.1, R8.2: one building from the own supply on a lot that takes it
    assert BUILD <= action < FIRST, "a build is asked (R4.1)"
    colour = int(s.seat)
    kind = (action - BUILD) // CELLS
    cell = (action - BUILD) % CELLS
    low, high = lots(s)
    assert (low & BIT[cell, 0]) | (high & BIT[cell, 1]) != 0, "the cell is no lot (R5.4)"
    takes = (s.allowed[colour, kind, 0] & BIT[cell, 0]) | (s.allowed[colour, kind, 1] & BIT[cell, 1])
    assert takes != 0, "supply, district or neighbour forbids it (R8.1, R6.2, R7)"
    put_building(s, colour, kind, cell)
    # R8.6: a build resets the count of skips; whose turn is next is seen in `advance`
    s.skips = 0
    s.phase = Phase.RELOCATE
    s.turn = 1 - colour
    s.seat = NOBODY


@jit
def put_building(s, colour, kind, cell):
    """Put a building on the board and mend all that is kept: districts, points, allowed cells."""
    s.board[cell] = 1 + kind + KINDS * colour
    s.supply[colour, kind] -= 1
    district = _join_districts(s, cell)
    s.tally[district, colour, kind] += 1
    for word in range(2):
        s.built[word] |= BIT[cell, word]
        s.near[kind, word] |= NEIGHBOURS[cell, word]
        s.touch[district, colour, word] |= NEIGHBOURS[cell, word]
    if s.monuments > 0:
        for k in range(LINES_THROUGH.shape[1]):
            line = int(LINES_THROUGH[cell, k])
            if line >= 0:
                rank = line_monument(s.board, line)
                if rank > s.monument[district, colour]:
                    s.monument[district, colour] = rank
    _count_points(s, district, 1)
    refresh_allowed(s)


@jit
def _count_points(s, district, sign):
    # R9.3: the winner of a district scores his own total there
    winner = district_winner(s, district)
    if winner >= 0:
        s.points[winner] += sign * block_value(s, district, winner)


@jit
def _join_districts(s, cell):
    # R6.4: a building joins up to four districts into one; returns it, with its old points taken off
    joined = -1
    for k in range(4):
        beside = int(NEIGHBOUR_CELLS[cell, k])
        label = int(s.district[beside]) if beside >= 0 else -1
        if label < 0 or label == joined:
            continue
        _count_points(s, label, -1)
        joined = label if joined < 0 else _merge(s, joined, label)
    if joined < 0:
        joined = int(s.num_districts)
        s.num_districts = joined + 1
    s.district[cell] = joined
    return joined


@jit
def _merge(s, one, other):
    # moves `other` into `one`, then the last district into the gap; returns where `one` is now
    _move_district(s, other, one)
    last = int(s.num_districts) - 1
    s.num_districts = last
    if other == last:
        return one
    _move_district(s, last, other)
    return other if one == last else one


@jit
def _move_district(s, source, target):
    for cell in range(CELLS):
        if s.district[cell] == source:
            s.district[cell] = target
    for colour in range(PLAYERS):
        for word in range(2):
            s.touch[target, colour, word] |= s.touch[source, colour, word]
            s.touch[source, colour, word] = 0
        for kind in range(KINDS):
            s.tally[target, colour, kind] += s.tally[source, colour, kind]
            s.tally[source, colour, kind] = 0
        s.monument[target, colour] = max(s.monument[target, colour], s.monument[source, colour])
        s.monument[source, colour] = 0


@jit
def refresh_allowed(s):
    """R6.5, R7, R8.1 for all cells at once, both colours: where each kind could stand if it were a lot.

    With D the districts beside a cell x: (a) in each of D with a block of the colour, x is beside that block;
    (b) at most one of D has a block of the opponent.
    """
    for word in range(2):
        astray_brown, astray_white = 0, 0  # (a) beside the other's block of a district only
        once_brown, once_white = 0, 0  # beside a district with a brown, a white block
        twice_brown, twice_white = 0, 0  # beside two such districts
        for district in range(int(s.num_districts)):
            brown = s.touch[district, BROWN, word]
            white = s.touch[district, WHITE, word]
            beside = brown | white
            if s.touch[district, BROWN, 0] | s.touch[district, BROWN, 1] != 0:
                astray_brown |= white & ~brown
                twice_brown |= once_brown & beside
                once_brown |= beside
            if s.touch[district, WHITE, 0] | s.touch[district, WHITE, 1] != 0:
                astray_white |= brown & ~white
                twice_white |= once_white & beside
                once_white |= beside
        free = (ALL_LOW if word == 0 else ALL_HIGH) & ~s.built[word]
        for kind in range(KINDS):
            # R7.2: houses may stand beside houses
            apart = free if kind == HOUSE else free & ~s.near[kind, word]
            brown_cells = apart & ~astray_brown & ~twice_white
            white_cells = apart & ~astray_white & ~twice_brown
            s.allowed[BROWN, kind, word] = brown_cells if s.supply[BROWN, kind] > 0 else 0
            s.allowed[WHITE, kind, word] = white_cells if s.supply[WHITE, kind] > 0 else 0


# --- skip and end (R8, R9) --------------------------------------------------------------------------------------


@jit
def advance(s):
    """The colour in turn gets its decision, is skipped (R8.3, R8.4), or ends the game by a second skip (R9.1)."""
    if has_turn(s, int(s.turn)):
        s.seat = s.turn
        return
    report(s, SKIPPED, int(s.turn), 0)
    s.skips += 1
    if s.skips == PLAYERS:
        s.phase = Phase.OVER
        s.over = OVER_RULES
    else:
        s.turn = 1 - int(s.turn)


@jit
def score(s, points, places):
    """R9.5 to R9.7, R11.5: points, and places with ties broken over the buildings that scored."""
    difference = int(s.points[BROWN]) - int(s.points[WHITE])
    # R11.5: cathedrals, ducal palaces, town walls; then R9.6: towers, palaces, houses
    for rank in range(len(MONUMENTS), 0, -1):
        if difference == 0:
            for district in range(int(s.num_districts)):
                winner = district_winner(s, district)
                if winner >= 0 and s.monument[district, winner] == rank:
                    difference += 1 - 2 * winner
    for kind in range(KINDS - 1, -1, -1):
        if difference == 0:
            for district in range(int(s.num_districts)):
                winner = district_winner(s, district)
                if winner >= 0:
                    difference += int(s.tally[district, winner, kind]) * (1 - 2 * winner)
    for colour in range(PLAYERS):
        points[colour] = s.points[colour]
    places[BROWN] = 1 if difference >= 0 else 2
    places[WHITE] = 1 if difference <= 0 else 2
