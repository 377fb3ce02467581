"""What a seat may know of Hansa Teutonica, the order of the face-down markers excepted everything (R15)."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.header import RUNNING
from tabletop_envs.core.jit import jit
from tabletop_envs.core.layout import Block, ObservationLayout
from tabletop_envs.core.random import rekey, shuffle
from tabletop_envs.games.hansa_teutonica.state import (
    MAX_ACTIONS_LEFT,
    MAX_EXTRA_PIECES,
    MAX_MOVES,
    Phase,
    kind_of,
    owner_of,
)
from tabletop_envs.games.hansa_teutonica.tables import (
    ABILITIES,
    ALL_MARKERS,
    CIRCLES,
    CITIES,
    END_CITIES,
    END_PRESTIGE,
    KINDS,
    LAST_LEVEL,
    MARKER_COUNT,
    MARKERS,
    MAX_EXTRAS,
    MAX_OFFICES,
    MAX_PLATE,
    PILE_SIZE,
    PROVINCES,
    REMOVALS,
    ROUTES,
    SEATS,
    SPACE_ROUTE,
    SPACES,
    TOTAL,
)

_SPACE: Final = SEATS + 1
_OFFICES: Final = MAX_OFFICES * SEATS
_CITY: Final = _OFFICES + 2 * SEATS
_PLAYER: Final = 2 * KINDS + ABILITIES + MARKERS + 8
_PHASES: Final = int(Phase.PAWN_START)  # in the one-hot; those of the pawn have their own
NETWORK_SCALE: Final = 30
REDEAL: Final = 2  # kind of chance

OBSERVATIONS: Final = ObservationLayout(
    Block("spaces", (SPACES, _SPACE), "space: owner one-hot, self first; 1 for a merchant", "R1.5"),
    Block("route_markers", (ROUTES, MARKERS), "route: marker one-hot", "R10.1"),
    Block(
        "cities",
        (CITIES, _CITY),
        "city: owner one-hot of its 4 offices from the left, extra offices by owner/5, controller one-hot; self first",
        "R8.5, R10.3, R9",
    ),
    Block("coellen", (CIRCLES, SEATS), "circle 7, 8, 9, 11: owner one-hot, self first", "R8.7"),
    Block(
        "players",
        (SEATS, _PLAYER),
        "player, self first: stock traders/26, merchants/4; supply the same; levels of the 5 abilities/highest; unused "
        "markers by kind/number of the kind; used markers/16; prestige/20; plate/3; east-west one-hot first, second, "
        "third; 1 on turn; largest network/30",
        "R2, R1.3, R10, R11, R13.7",
    ),
    Block("pile", (), "markers in the pile/number at the start", "R2.6"),
    Block("unseen", (MARKERS,), "marker: face down/number of the kind", "R15.2"),
    Block("completed", (), "completed cities/10", "R8.10"),
    Block("round", (), "finished turns div players/`max_rounds`", "R17.2"),
    Block("num_players", (SEATS - 1,), "one-hot: 2, 3, 4, 5 players", "R2.1"),
    Block("side", (), "1 on the 4-5 side of the board", "R2.1"),
    Block(
        "phase",
        (_PHASES,),
        "one-hot: main, pay, displaced: place, extra, board; move: to, next; reward; remove three; move three: pick, "
        "to; marker; all 0 when over, as all that follows",
    ),
    Block("actions_left", (), "actions left/19", "R3.2"),
    Block("moves_left", (), "moves left in a Move/5", "R7.1"),
    Block("removals_left", (), "resources that remove three may still take/3", "R10.7"),
    Block("extras_left", (), "extras not yet placed/2", "R6.4"),
    Block(
        "held", (2,), "the resource under way: 1 for a merchant, 1 if there is one; (0, 1): no marker to draw", "R6.3"
    ),
    Block("context_route", (ROUTES,), "one-hot: route displaced on, moved or lifted from, established"),
    Block("displaced_owner", (SEATS,), "one-hot: owner of the resource displaced or moved by another, self first"),
    Block("marker", (MARKERS,), "one-hot: marker to place, or just taken", "R8.3, R10.8"),
    Block("fee", (), "fee to pay/2", "R6.1"),
    Block("pawn", (PROVINCES,), "one-hot: province of the pawn", "R16.6", option="two_player_pawn"),
    Block("pawn_phase", (3,), "one-hot: pawn at the start, before, after", "R16.6", option="two_player_pawn"),
    Block("pawn_moved", (), "1 if the pawn was moved before this turn's actions", "R16.6", option="two_player_pawn"),
)

_START: Final = OBSERVATIONS.start
_SPACES, _ROUTE_MARKERS, _CITIES, _COELLEN = (
    _START("spaces"),
    _START("route_markers"),
    _START("cities"),
    _START("coellen"),
)
_PLAYERS, _PILE, _UNSEEN, _COMPLETED = _START("players"), _START("pile"), _START("unseen"), _START("completed")
_ROUND, _NUM_PLAYERS, _SIDE, _PHASE = _START("round"), _START("num_players"), _START("side"), _START("phase")
_ACTIONS_LEFT, _MOVES_LEFT, _REMOVALS_LEFT = _START("actions_left"), _START("moves_left"), _START("removals_left")
_EXTRAS_LEFT, _HELD, _CONTEXT_ROUTE = _START("extras_left"), _START("held"), _START("context_route")
_DISPLACED_OWNER, _MARKER, _FEE = _START("displaced_owner"), _START("marker"), _START("fee")
_PAWN, _PAWN_PHASE, _PAWN_MOVED = _START("pawn"), _START("pawn_phase"), _START("pawn_moved")


@jit
def _relative(s, seat, owner):
    # the owner's place in the observer's order, self first
    return owner - seat if owner >= seat else owner - seat + int(s.num_players)


@jit
def _write_board(s, seat, out):
    for space in range(SPACES):
        piece = int(s.spaces[space])
        if piece > 0:
            out[_SPACES + _SPACE * space + _relative(s, seat, owner_of(piece))] = 1.0
            out[_SPACES + _SPACE * space + SEATS] = kind_of(piece)
    for route in range(ROUTES):
        if s.route_marker[route] > 0:
            out[_ROUTE_MARKERS + MARKERS * route + int(s.route_marker[route]) - 1] = 1.0
    for city in range(CITIES):
        offset = _CITIES + _CITY * city
        for office in range(int(s.filled[city])):
            owner = owner_of(int(s.offices[city, office]))
            out[offset + SEATS * office + _relative(s, seat, owner)] = 1.0
        for extra in range(int(s.num_extras[city])):
            owner = owner_of(int(s.extras[city, extra]))
            out[offset + _OFFICES + _relative(s, seat, owner)] += 1.0 / MAX_EXTRAS
        if s.controller[city] > 0:
            out[offset + _OFFICES + SEATS + _relative(s, seat, int(s.controller[city]) - 1)] = 1.0
    for circle in range(CIRCLES):
        if s.circles[circle] > 0:
            out[_COELLEN + SEATS * circle + _relative(s, seat, int(s.circles[circle]) - 1)] = 1.0


@jit
def _write_player(s, player, out, offset):
    for kind in range(KINDS):
        out[offset + kind] = s.stock[player, kind] / TOTAL[kind]
        out[offset + KINDS + kind] = s.supply[player, kind] / TOTAL[kind]
    offset += 2 * KINDS
    for ability in range(ABILITIES):
        out[offset + ability] = s.levels[player, ability] / LAST_LEVEL[ability]
    offset += ABILITIES
    used = 0
    for marker in range(MARKERS):
        out[offset + marker] = min(1.0, s.markers[player, marker] / MARKER_COUNT[s.edition, marker])
        used += int(s.used[player, marker])
    offset += MARKERS
    plate = int(s.drawn) if player == s.turn else 0
    for place in range(MAX_PLATE):
        plate += int(s.plate[player, place] > 0)
    out[offset] = min(1.0, used / ALL_MARKERS)
    out[offset + 1] = min(1.0, s.prestige[player] / END_PRESTIGE)
    out[offset + 2] = min(1.0, plate / MAX_PLATE)
    if s.east_west_rank[player] > 0:
        out[offset + 2 + int(s.east_west_rank[player])] = 1.0
    out[offset + 6] = player == s.turn
    out[offset + 7] = min(1.0, s.network[player] / NETWORK_SCALE)


@jit
def _write_context(s, seat, out):
    phase = int(s.phase)
    if phase < _PHASES:
        out[_PHASE + phase] = 1.0
    out[_ACTIONS_LEFT] = min(1.0, s.actions_left / MAX_ACTIONS_LEFT)
    out[_MOVES_LEFT] = s.moves_left / MAX_MOVES
    out[_REMOVALS_LEFT] = s.removals_left / REMOVALS
    out[_EXTRAS_LEFT] = s.extras_left / MAX_EXTRA_PIECES
    if s.held > 0:
        out[_HELD] = kind_of(int(s.held))
        out[_HELD + 1] = 1.0
    elif s.draw_failed > 0:
        out[_HELD + 1] = 1.0
    route = int(SPACE_ROUTE[s.space]) if s.space >= 0 else int(s.route)
    if route >= 0:
        out[_CONTEXT_ROUTE + route] = 1.0
    owner = -1
    if phase == Phase.PAY or phase == Phase.DISP_PLACE or phase == Phase.MOVE3_DEST:
        owner = owner_of(int(s.held))
    elif phase == Phase.DISP_EXTRA or phase == Phase.DISP_BOARD:
        owner = int(s.seat)
    if owner >= 0:
        out[_DISPLACED_OWNER + _relative(s, seat, owner)] = 1.0
    marker = int(s.plate[s.turn, 0]) if phase == Phase.MARKER_PLACE else int(s.taken)
    if marker > 0:
        out[_MARKER + marker - 1] = 1.0
    if phase == Phase.PAY:
        out[_FEE] = s.extras_left / MAX_EXTRA_PIECES
    if Phase.PAWN_START <= phase <= Phase.PAWN_AFTER:
        out[_PAWN_PHASE + phase - _PHASES] = 1.0


@jit
def observe(s, seat, out):
    """The table as the seat sees it, itself first; nothing of the faces of markers that lie face down."""
    out[:] = 0.0
    players = int(s.num_players)
    _write_board(s, seat, out)
    for relative in range(players):
        _write_player(s, (seat + relative) % players, out, _PLAYERS + _PLAYER * relative)
    out[_PILE] = s.pile_size / PILE_SIZE[s.edition]
    for marker in range(MARKERS):
        out[_UNSEEN + marker] = min(1.0, s.unseen[marker] / MARKER_COUNT[s.edition, marker])
    out[_COMPLETED] = min(1.0, s.completed / END_CITIES)
    out[_ROUND] = min(1.0, (int(s.turns) // players) / s.max_rounds)
    out[_NUM_PLAYERS + players - 2] = 1.0
    out[_SIDE] = players > 3
    if s.two_player_pawn > 0:
        if s.pawn >= 0:
            out[_PAWN + int(s.pawn)] = 1.0
        out[_PAWN_MOVED] = s.pawn_moved
    if s.over == RUNNING:
        _write_context(s, seat, out)


@jit
def determinize(s, seat, salt):
    """R15.2: the face-down markers, in the pile and on the plate, are dealt anew; every seat knows the same."""
    rekey(s, salt)
    shuffle(s, REDEAL, s.pile, int(s.pile_size) + int(s.drawn))
