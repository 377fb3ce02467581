"""The record of Hansa Teutonica, one field per line, what is kept up to date with it, and `check`, its invariants.

Knows the board, not the rules of a turn. A piece is 1 + 2 * owner + kind, 0 an empty place; sets of routes and cities
are words, sets of spaces two words (see `tables`). What stands below the line "kept for speed" follows from the fields
above it: `recount_route`, `recount_city` and `recount_network` keep it, `check` proves it.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np

from tabletop_envs.core.bits import lowest_bit
from tabletop_envs.core.header import NOBODY, OVER_CAP, OVER_RULES, RUNNING
from tabletop_envs.core.jit import jit
from tabletop_envs.core.record import HIDDEN, Field, record_dtype
from tabletop_envs.games.hansa_teutonica import GAME
from tabletop_envs.games.hansa_teutonica.tables import (
    ABILITIES,
    ABILITY_KIND,
    BIT,
    CIRCLES,
    CITIES,
    END_CITIES,
    KINDS,
    LAST_LEVEL,
    LINKS,
    LOW_SPACES,
    MARKER_COUNT,
    MARKERS,
    MAX_EXTRAS,
    MAX_LEVELS,
    MAX_MARKER_COUNT,
    MAX_OFFICES,
    MAX_PILE,
    MAX_PLATE,
    MERCHANT,
    OFFICE_COUNT,
    PIECES,
    PILE_SIZE,
    PROVINCES,
    REMOVALS,
    ROUTE_FIRST,
    ROUTE_LENGTH,
    ROUTE_SPACES,
    ROUTES,
    SEATS,
    SIDE_ROUTES,
    SPACE_BIT,
    SPACE_ROUTE,
    SPACE_WORD,
    SPACES,
    TOTAL,
    WORDS,
)


class Phase(IntEnum):
    """What is asked; the first twelve in the order of the observation. TURN_END and TURN_START are automatic."""

    MAIN = 0
    PAY = 1
    DISP_PLACE = 2
    DISP_EXTRA = 3
    DISP_BOARD = 4
    MOVE_DEST = 5
    MOVE_NEXT = 6
    REWARD = 7
    REMOVE3 = 8
    MOVE3_PICK = 9
    MOVE3_DEST = 10
    MARKER_PLACE = 11
    PAWN_START = 12
    PAWN_BEFORE = 13
    PAWN_AFTER = 14
    TURN_END = 15
    TURN_START = 16
    OVER = 17


class End(IntEnum):
    """Why the game ended (R12.1, R17); of several reasons the one of the lower number is named."""

    NONE = 0
    MARKERS = 1
    PRESTIGE = 2
    CITIES = 3
    STALL = 4
    CAP = 5


# events: (kind, seat, value)
CONTROLLED: Final = 1  # R8.2, value = city
TOOK: Final = 2  # R8.3, value = marker
DREW: Final = 3  # R8.3, the marker stays face down
NO_MARKER: Final = 4  # R12.1 b
COMPLETED: Final = 5  # R8.10, value = city
EAST_WEST: Final = 6  # R11.2, value = rank
REVEALED: Final = 7  # R10.8, value = marker
KEPT: Final = 8  # R10.8.4, value = marker
PASSED: Final = 9  # R3.7: the turn began without an option
ENDED: Final = 10  # value = the reason

MAX_ACTIONS_LEFT: Final = 19
MAX_MOVES: Final = 5
MAX_EXTRA_PIECES: Final = 2  # R6.4
MAX_PRESTIGE: Final = 29  # below 20, then two control points, a coin and an east-west network in one action
_ALL_SPACES: Final = 2**54 - 1

FIELDS: Final = (
    Field("spaces", np.int8, (SPACES,), "space -> piece", (0, PIECES)),
    Field("offices", np.int8, (CITIES, MAX_OFFICES), "city, printed office from the left -> piece", (0, PIECES)),
    Field("extras", np.int8, (CITIES, MAX_EXTRAS), "city, extra office, the latest last -> piece (R10.3)", (0, PIECES)),
    Field("circles", np.int8, (CIRCLES,), "circle of Coellen -> 0 empty, else 1 + seat (R8.7)", (0, SEATS)),
    Field("route_marker", np.int8, (ROUTES,), "route -> 0 none, else 1 + marker", (0, MARKERS)),
    Field("stock", np.int8, (SEATS, KINDS), "seat, kind -> resources in stock", (0, int(TOTAL.max()))),
    Field("supply", np.int8, (SEATS, KINDS), "seat, kind -> resources in supply", (0, int(TOTAL.max()))),
    Field("levels", np.int8, (SEATS, ABILITIES), "seat, ability -> level on its track (R1.3)", (0, MAX_LEVELS - 1)),
    Field("markers", np.int8, (SEATS, MARKERS), "seat, marker -> held unused", (0, MAX_MARKER_COUNT)),
    Field("used", np.int8, (SEATS, MARKERS), "seat, marker -> used", (0, MAX_MARKER_COUNT)),
    Field("plate", np.int8, (SEATS, MAX_PLATE), "seat, place -> 0 none, else 1 + marker, face up", (0, MARKERS)),
    Field("prestige", np.int8, (SEATS,), "seat -> points on the track", (0, MAX_PRESTIGE)),
    Field("east_west_rank", np.int8, (SEATS,), "seat -> 0 without the network, else 1 to 3 (R11.2)", (0, 3)),
    Field("completed", np.int8, (), "completed cities (R8.10)", (0, END_CITIES + 1)),
    Field(
        "pile",
        np.int8,
        (MAX_PILE,),
        "place -> 1 + marker: first those in the pile, the next to be drawn last, then those face down on the plate of "
        "the turn's player, the latest first; 0 behind them",
        (0, MARKERS),
        HIDDEN,
    ),
    Field("pile_size", np.int8, (), "markers in the pile", (0, MAX_PILE)),
    Field("drawn", np.int8, (), "markers face down on the plate of the turn's player", (0, MAX_PLATE)),
    Field("unseen", np.int8, (MARKERS,), "marker -> how many are face down (R15.2)", (0, MAX_MARKER_COUNT)),
    Field("turn", np.int8, (), "seat whose turn it is; in PAWN_START seat 1", (0, SEATS - 1)),
    Field("turns", np.int32, (), "finished turns", (0, 2**31 - 1)),
    Field("actions_left", np.int8, (), "actions left in the turn (R3.2)", (0, MAX_ACTIONS_LEFT)),
    Field("optionless", np.int8, (), "1 if only the end of the turn was legal at its start (R17.1)", (0, 1)),
    Field("stall", np.int8, (), "such turns in a row, finished (R17.1)", (0, SEATS)),
    Field("forced", np.int32, (), "decisions asked that had one option; 0 with auto_forced on (R17.3)", (0, 2**31 - 1)),
    Field("end_reason", np.int8, (), "why the game ended: End", (0, len(End) - 1)),
    Field("route", np.int8, (), "route of the displacement or establishment under way, -1 none", (-1, ROUTES - 1)),
    Field("space", np.int8, (), "space of the piece chosen to go elsewhere, -1 none", (-1, SPACES - 1)),
    Field("held", np.int8, (), "piece displaced, moved or lifted at present, 0 none", (0, PIECES)),
    Field("extras_left", np.int8, (), "extras that the displaced owner may still add (R6.4)", (0, MAX_EXTRA_PIECES)),
    Field("moves_left", np.int8, (), "moves left in the action (R7.1)", (0, MAX_MOVES)),
    Field("removals_left", np.int8, (), "resources that remove three may still take (R10.7)", (0, REMOVALS)),
    Field("taken", np.int8, (), "marker taken in step B, 0 none, else 1 + marker (R8.3)", (0, MARKERS)),
    Field("draw_failed", np.int8, (), "1 if the pile was empty in step B (R12.1)", (0, 1)),
    Field("pawn", np.int8, (), "province of the pawn, -1 without one (R16.6)", (-1, PROVINCES - 1)),
    Field("pawn_moved", np.int8, (), "1 if the pawn was moved before the actions of the turn", (0, 1)),
    # --- kept for speed
    Field("free", np.int64, (), "set of the routes with a free space", (0, 2**ROUTES - 1)),
    Field("full", np.int64, (SEATS,), "seat -> set of the routes full of its resources", (0, 2**ROUTES - 1)),
    Field(
        "lead", np.int64, (1 + PIECES, WORDS), "piece -> set of the spaces that hold the first such one of a route",
        (0, _ALL_SPACES),
    ),
    Field("filled", np.int8, (CITIES,), "city -> printed offices filled", (0, MAX_OFFICES)),
    Field("num_extras", np.int8, (CITIES,), "city -> extra offices", (0, MAX_EXTRAS)),
    Field("tally", np.int8, (SEATS, CITIES), "seat, city -> its offices there, extra ones too", (0, 9)),
    Field("presence", np.int64, (SEATS,), "seat -> set of the cities with such an office", (0, 2**CITIES - 1)),
    Field("controller", np.int8, (CITIES,), "city -> 0 nobody, else 1 + seat (R9)", (0, SEATS)),
    Field("network", np.int8, (SEATS,), "seat -> offices of its largest network (R13.7)", (0, int(TOTAL.sum()))),
)  # fmt: skip

DTYPE: Final = record_dtype(GAME, FIELDS)

INVARIANTS: Final = {
    1: "phase, seat, turn and over agree",
    2: "what is under way fits the phase",
    3: "no resource is lost (R1.2)",
    4: "no marker is lost (R1.7)",
    5: "offices are filled from the left, extra offices beside a filled one (R8.5, R10.3)",
    6: "nothing stands or lies on what the side lacks (R1.1)",
    7: "absent seats have nothing",
    8: "kept sets of routes and spaces: free, full, lead",
    9: "kept tables of cities: filled, num_extras, tally, presence, controller",
    10: "kept networks (R13.7)",
    11: "levels stay on their tracks (R1.3)",
    12: "east-west ranks are different and without a gap (R11.2)",
}


@jit
def owner_of(piece):
    """The owner of a piece."""
    return (piece - 1) // KINDS


@jit
def kind_of(piece):
    """The kind of a piece."""
    return (piece - 1) % KINDS


@jit
def piece_of(seat, kind):
    """The piece of an owner and a kind."""
    return 1 + KINDS * seat + kind


@jit
def side(s):
    """R2.1: the side of the board in use."""
    return 1 if s.num_players > 3 else 0


# --- what is kept -----------------------------------------------------------------------------------------------


@jit
def recount_route(s, route):
    """Keep `free`, `full` and `lead` after a change of the route's spaces."""
    first = int(ROUTE_FIRST[route])
    word = int(SPACE_WORD[first])
    here = ROUTE_SPACES[route]
    bit = BIT[route]
    for piece in range(1, 1 + PIECES):
        s.lead[piece, word] &= ~here
    s.free &= ~bit
    owner = owner_of(int(s.spaces[first]))
    for space in range(first, first + int(ROUTE_LENGTH[route])):
        piece = int(s.spaces[space])
        if piece == 0:
            s.free |= bit
            owner = -1
            continue
        if s.lead[piece, word] & here == 0:
            s.lead[piece, word] |= SPACE_BIT[space]
        if owner_of(piece) != owner:
            owner = -1
    for seat in range(SEATS):
        s.full[seat] &= ~bit
    if owner >= 0:
        s.full[owner] |= bit


@jit
def controller_of(s, city):
    """R9: 1 + the seat with most offices, of equals that whose rightmost office stands further right; 0 nobody."""
    most = 0
    for seat in range(SEATS):
        most = max(most, int(s.tally[seat, city]))
    for office in range(int(s.filled[city]) - 1, -1, -1):
        owner = owner_of(int(s.offices[city, office]))
        if s.tally[owner, city] == most:
            return 1 + owner
    for extra in range(int(s.num_extras[city])):
        owner = owner_of(int(s.extras[city, extra]))
        if s.tally[owner, city] == most:
            return 1 + owner
    return 0


@jit
def recount_city(s, city):
    """Keep `filled`, `num_extras`, `tally`, `presence` and `controller` after a change of the city's offices."""
    for seat in range(SEATS):
        s.tally[seat, city] = 0
        s.presence[seat] &= ~BIT[city]
    filled, extras = 0, 0
    for office in range(MAX_OFFICES):
        piece = int(s.offices[city, office])
        if piece > 0:
            filled += 1
            s.tally[owner_of(piece), city] += 1
            s.presence[owner_of(piece)] |= BIT[city]
    for extra in range(MAX_EXTRAS):
        piece = int(s.extras[city, extra])
        if piece > 0:
            extras += 1
            s.tally[owner_of(piece), city] += 1
            s.presence[owner_of(piece)] |= BIT[city]
    s.filled[city] = filled
    s.num_extras[city] = extras
    s.controller[city] = controller_of(s, city)


@jit
def group_of(s, seat, city):
    """R11.1, R13.7: the set of the seat's cities that hang together with one of them."""
    links = LINKS[side(s)]
    group = BIT[city]
    edge = group
    while edge != 0:
        here = lowest_bit(edge)
        edge &= edge - 1
        new = links[here] & s.presence[seat] & ~group
        group |= new
        edge |= new
    return group


@jit
def largest_network(s, seat):
    """R13.7: the offices of the seat's largest network."""
    rest = s.presence[seat]
    best = 0
    while rest != 0:
        group = group_of(s, seat, lowest_bit(rest))
        rest &= ~group
        offices = 0
        while group != 0:
            offices += int(s.tally[seat, lowest_bit(group)])
            group &= group - 1
        best = max(best, offices)
    return best


@jit
def recount_network(s, seat):
    """Keep `network` after a new office of the seat."""
    s.network[seat] = largest_network(s, seat)


@jit
def recount(s):
    """Keep everything, from the bare fields: for a record that was written or restored."""
    s.free = 0
    s.lead[:] = 0
    s.full[:] = 0
    for route in range(ROUTES):
        if SIDE_ROUTES[side(s)] & BIT[route] != 0:
            recount_route(s, route)
    for city in range(CITIES):
        recount_city(s, city)
    for seat in range(SEATS):
        recount_network(s, seat)


# --- invariants -------------------------------------------------------------------------------------------------


@jit
def check(s):
    """0, or the code of the broken invariant (`INVARIANTS`)."""
    if not _phase_agrees(s):
        return 1
    if s.over == RUNNING and not _context_agrees(s):
        return 2
    if s.over == OVER_RULES and not _context_empty(s):
        return 2
    for seat in range(SEATS):
        if seat < s.num_players:
            for kind in range(KINDS):
                if _resources(s, seat, kind) != TOTAL[kind]:
                    return 3
            for ability in range(ABILITIES):
                if s.levels[seat, ability] > LAST_LEVEL[ability]:
                    return 11
        elif not _absent(s, seat):
            return 7
    if not _markers_agree(s):
        return 4
    code = _check_places(s)
    if code > 0:
        return code
    if not _routes_kept(s):
        return 8
    if not _cities_kept(s):
        return 9
    for seat in range(SEATS):
        if s.network[seat] != largest_network(s, seat):
            return 10
    return 0 if _ranks_agree(s) else 12


@jit
def _phase_agrees(s):
    players = int(s.num_players)
    if s.turn >= players or s.stall > players or s.decisions < s.forced:
        return False
    if (s.over == OVER_RULES) != (s.phase == Phase.OVER and s.end_reason != End.CAP):
        return False
    if (s.end_reason != End.NONE) != (s.phase == Phase.OVER):
        return False
    if s.end_reason == End.CAP and s.over != OVER_CAP:
        return False
    pawn = s.two_player_pawn > 0
    if not pawn and (s.pawn >= 0 or s.pawn_moved > 0):
        return False
    if pawn and (s.pawn >= 0) == (s.phase == Phase.PAWN_START):
        return False
    if (s.phase >= Phase.PAWN_START and s.phase <= Phase.PAWN_AFTER) and not pawn:
        return False
    if s.over != RUNNING:
        return s.seat == NOBODY
    if s.seat == NOBODY:
        return s.phase == Phase.TURN_END or s.phase == Phase.TURN_START
    if s.phase >= Phase.TURN_END:
        return False
    if s.phase == Phase.PAWN_START:
        return s.seat == 1 and s.turn == 1 and s.turns == 0
    if s.phase >= Phase.DISP_PLACE and s.phase <= Phase.DISP_BOARD:
        return s.seat != s.turn and s.seat < players
    return s.seat == s.turn


@jit
def _context_empty(s):
    idle = s.extras_left == 0 and s.moves_left == 0 and s.removals_left == 0 and s.taken == 0 and s.draw_failed == 0
    return idle and s.route < 0 and s.space < 0 and s.held == 0


@jit
def _context_agrees(s):
    phase = int(s.phase)
    displacing = Phase.PAY <= phase <= Phase.DISP_BOARD
    moving = phase == Phase.MOVE_DEST or phase == Phase.MOVE_NEXT
    removing = Phase.REMOVE3 <= phase <= Phase.MOVE3_DEST
    if (s.extras_left > 0) != displacing or (s.moves_left > 0) != moving or (s.removals_left > 0) != removing:
        return False
    if (s.route >= 0) != (displacing or phase == Phase.REWARD):
        return False
    if phase != Phase.REWARD and (s.taken > 0 or s.draw_failed > 0):
        return False
    on_board = phase in (Phase.PAY, Phase.DISP_BOARD, Phase.MOVE_DEST, Phase.MOVE3_DEST)
    if (s.space >= 0) != on_board or (s.held > 0) != (on_board or phase == Phase.DISP_PLACE):
        return False
    if on_board and s.spaces[s.space] != s.held:
        return False
    if phase == Phase.PAY and (SPACE_ROUTE[s.space] != s.route or s.extras_left != 1 + kind_of(int(s.held))):
        return False
    if s.held > 0:
        mine = owner_of(int(s.held)) == int(s.turn)
        if mine != (phase == Phase.MOVE_DEST):
            return False
        if (phase == Phase.DISP_PLACE or phase == Phase.DISP_BOARD) and owner_of(int(s.held)) != int(s.seat):
            return False
    if phase == Phase.REWARD and s.full[s.turn] & BIT[s.route] == 0:
        return False
    late = phase in (Phase.MARKER_PLACE, Phase.TURN_END, Phase.TURN_START, Phase.PAWN_START, Phase.PAWN_AFTER)
    if late and s.actions_left > 0:
        return False
    if phase in (Phase.MARKER_PLACE, Phase.TURN_START) and s.drawn > 0:
        return False
    return phase != Phase.MARKER_PLACE or s.plate[s.turn, 0] > 0


@jit
def _resources(s, seat, kind):
    piece = piece_of(seat, kind)
    number = int(s.stock[seat, kind]) + int(s.supply[seat, kind])
    for ability in range(ABILITIES):
        if ABILITY_KIND[ability] == kind:
            number += int(LAST_LEVEL[ability]) - int(s.levels[seat, ability])
    for space in range(SPACES):
        number += int(s.spaces[space]) == piece
    for city in range(CITIES):
        for office in range(MAX_OFFICES):
            number += int(s.offices[city, office]) == piece
        for extra in range(MAX_EXTRAS):
            number += int(s.extras[city, extra]) == piece
    if kind == MERCHANT:
        for circle in range(CIRCLES):
            number += int(s.circles[circle]) == 1 + seat
    # a displaced resource is on no space until it is put down
    if s.over != OVER_RULES and s.phase == Phase.DISP_PLACE:
        number += int(s.held) == piece
    return number


@jit
def _absent(s, seat):
    number = int(s.prestige[seat]) + int(s.east_west_rank[seat])
    for kind in range(KINDS):
        number += int(s.stock[seat, kind]) + int(s.supply[seat, kind]) + int(s.lead[piece_of(seat, kind)].any())
    for ability in range(ABILITIES):
        number += int(s.levels[seat, ability])
    for marker in range(MARKERS):
        number += int(s.markers[seat, marker]) + int(s.used[seat, marker])
    for place in range(MAX_PLATE):
        number += int(s.plate[seat, place])
    for circle in range(CIRCLES):
        number += int(s.circles[circle]) == 1 + seat
    return number == 0 and s.presence[seat] == 0 and s.full[seat] == 0


@jit
def _markers_agree(s):
    edition = int(s.edition)
    if s.pile_size + s.drawn > PILE_SIZE[edition]:
        return False
    down = int(s.pile_size) + int(s.drawn)
    for place in range(MAX_PILE):
        if (s.pile[place] > 0) != (place < down):
            return False
    for seat in range(SEATS):
        for place in range(1, MAX_PLATE):
            if s.plate[seat, place] > 0 and s.plate[seat, place - 1] == 0:
                return False
    for marker in range(MARKERS):
        hidden = 0
        for place in range(down):
            hidden += int(s.pile[place]) == 1 + marker
        if hidden != s.unseen[marker]:
            return False
        number = hidden + int(s.taken == 1 + marker)
        for route in range(ROUTES):
            number += int(s.route_marker[route]) == 1 + marker
        for seat in range(SEATS):
            number += int(s.markers[seat, marker]) + int(s.used[seat, marker])
            for place in range(MAX_PLATE):
                number += int(s.plate[seat, place]) == 1 + marker
        if number != MARKER_COUNT[edition, marker]:
            return False
    return True


@jit
def _check_places(s):
    which = side(s)
    complete = 0
    for city in range(CITIES):
        offices = int(OFFICE_COUNT[which, city])
        for office in range(MAX_OFFICES):
            piece = int(s.offices[city, office])
            if piece > 0 and office >= offices:
                return 6
            if piece > 0 and office > 0 and s.offices[city, office - 1] == 0:
                return 5
        for extra in range(MAX_EXTRAS):
            if s.extras[city, extra] > 0 and (
                s.offices[city, 0] == 0 or (extra > 0 and s.extras[city, extra - 1] == 0)
            ):
                return 5
        complete += int(s.offices[city, offices - 1] > 0)
    if complete != s.completed:
        return 5
    for route in range(ROUTES):
        if SIDE_ROUTES[which] & BIT[route] == 0:
            if s.route_marker[route] > 0:
                return 6
            for number in range(int(ROUTE_LENGTH[route])):
                if s.spaces[int(ROUTE_FIRST[route]) + number] > 0:
                    return 6
    return 0


@jit
def _routes_kept(s):
    present = SIDE_ROUTES[side(s)]
    free = 0
    full = np.zeros(SEATS, dtype=np.int64)
    lead = np.zeros((1 + PIECES, WORDS), dtype=np.int64)
    for route in range(ROUTES):
        if present & BIT[route] == 0:
            continue
        own = np.zeros(SEATS, dtype=np.int64)
        length = int(ROUTE_LENGTH[route])
        for number in range(length):
            space = int(ROUTE_FIRST[route]) + number
            piece = int(s.spaces[space])
            if piece == 0:
                free |= BIT[route]
                continue
            own[owner_of(piece)] += 1
            earlier = False
            for other in range(int(ROUTE_FIRST[route]), space):
                earlier = earlier or int(s.spaces[other]) == piece
            if not earlier:
                lead[piece, SPACE_WORD[space]] |= 1 << (space - LOW_SPACES * int(SPACE_WORD[space]))
        for seat in range(SEATS):
            if own[seat] == length:
                full[seat] |= BIT[route]
    return s.free == free and np.all(s.full == full) and np.all(s.lead == lead)


@jit
def _cities_kept(s):
    for city in range(CITIES):
        tally = np.zeros(SEATS, dtype=np.int64)
        filled, extras, best, leader = 0, 0, 0, 0
        # R9's equivalent rule: from left to right, whoever reaches the best count so far becomes the controller
        for extra in range(MAX_EXTRAS - 1, -1, -1):
            piece = int(s.extras[city, extra])
            if piece > 0:
                extras += 1
                tally[owner_of(piece)] += 1
                if tally[owner_of(piece)] >= best:
                    best, leader = tally[owner_of(piece)], 1 + owner_of(piece)
        for office in range(MAX_OFFICES):
            piece = int(s.offices[city, office])
            if piece > 0:
                filled += 1
                tally[owner_of(piece)] += 1
                if tally[owner_of(piece)] >= best:
                    best, leader = tally[owner_of(piece)], 1 + owner_of(piece)
        if s.filled[city] != filled or s.num_extras[city] != extras or s.controller[city] != leader:
            return False
        for seat in range(SEATS):
            present = s.presence[seat] & BIT[city] != 0
            if s.tally[seat, city] != tally[seat] or present != (tally[seat] > 0):
                return False
    return True


@jit
def _ranks_agree(s):
    ranks = 0
    for seat in range(SEATS):
        if s.east_west_rank[seat] > 0:
            if (ranks >> int(s.east_west_rank[seat])) & 1 == 1:
                return False
            ranks |= 1 << int(s.east_west_rank[seat])
    return ranks in (0, 2, 6, 14)
