"""What a seat may know of The Palaces of Carrara: the observation (R18), and `determinize`.

Behind the screens are coins, bricks and objects (R15.1), but they change in the open only (R15.3): the observation
does not show those of the others, unless the option `open_holdings` is on, and `determinize` keeps them. What even
perfect memory cannot know is the order of the pile and what will be drawn from the bag.
"""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.bits import lowest_bit
from tabletop_envs.core.header import RUNNING
from tabletop_envs.core.jit import jit
from tabletop_envs.core.layout import Block, ObservationLayout
from tabletop_envs.core.random import rekey, shuffle
from tabletop_envs.games.carrara.state import MAX_IMPROVEMENTS, NONE, Phase, objective_met
from tabletop_envs.games.carrara.tables import (
    BRICKS,
    CITIES,
    COLOURS,
    DECKS,
    GROUPS,
    LEVELS,
    MARKERS,
    MONUMENT_COST,
    NUM_CARDS,
    OBJECTS,
    PILE,
    REFILL,
    SEATS,
    SEGMENTS,
    TYPES,
)

PHASES: Final = int(Phase.OVER)
VP_SCALE: Final = 100
COINS_SCALE: Final = 50
_TILE_FEATURES: Final = 2 + SEATS + CITIES
_SEAT_FEATURES: Final = 2 + TYPES + GROUPS + CITIES + 2
_HAND_FEATURES: Final = 1 + COLOURS + TYPES

OBSERVATIONS: Final = ObservationLayout(
    Block("players", (SEATS - 1,), "one-hot: 2, 3, 4 players", "R0"),
    Block("modules", (5,), "no_turn, cards, monuments, colour_scoring, exhaustion = all_built: 0/1", "R0"),
    Block("phase", (PHASES,), "one-hot: main to announce; all 0 when over", "R17.2"),
    Block("tile", (TYPES, LEVELS), "the tile being built and the own building to be replaced: 0/1", "R17.5"),
    Block("site", (CITIES,), "one-hot: the city being built in or just built in", "R17.6, R17.7"),
    Block("to_pay", (), "bricks still to pay, /8", "R17.6"),
    Block("segment", (SEGMENTS,), "one-hot: the segment being bought from", "R17.4"),
    Block("last_colour", (COLOURS,), "one-hot: the colour last taken or paid", "R17.4, R17.6"),
    Block("taken", (), "bricks taken in this purchase, /11", "R17.4"),
    Block("wheel", (SEGMENTS, COLOURS), "bricks by segment and colour, /7", "R1.3"),
    Block("wheel_total", (), "bricks on the wheel, /11", "R4.3"),
    Block("bag_empty", (), "1 when the bag is empty", "R15.1"),
    Block(
        "tiles",
        (TYPES, LEVELS, _TILE_FEATURES),
        "for each tile: on offer, in the pile, owner (self first), city: 0/1",
        "R15.2",
    ),
    Block("pile", (), "tiles in the pile, /21", "R2.2"),
    Block("for_sale", (TYPES,), "object display: 0/1", "R2.3"),
    Block("supply", (TYPES,), "object supply, /5", "R2.3"),
    Block("cities", (CITIES, 1 + SEATS), "one-hot for each city: unscored, or who scored it (self first)", "R6.3"),
    Block(
        "seats",
        (SEATS, _SEAT_FEATURES),
        "self first: points /100, markers /6, types scored, groups scored, improvements, start player, exists",
        "R15.2",
    ),
    Block("hand", (_HAND_FEATURES,), "own coins /50, bricks /7, objects /6", "R15.1"),
    Block("others", (SEATS - 1, _HAND_FEATURES), "the same of the next seats; 0 unless open_holdings", "R15.3"),
    Block("improvements", (CITIES,), "improvements in stock, /2", "R13.6"),
    Block("cards", (NUM_CARDS,), "the cards in force: 0/1", "R12.2"),
    Block("objectives", (DECKS - 1,), "own objectives met: 0/1", "R8.4"),
    Block("triggered", (), "1 when the end is triggered", "R8.1"),
    Block("announcer", (1 + SEATS,), "one-hot: nobody, or who announced the end (self first)", "R8.3"),
    Block("rounds", (), "rounds completed, as a share of max_rounds", "R8.8"),
)
REDEAL: Final = 4  # kind of chance

_START: Final = OBSERVATIONS.start
_PLAYERS: Final = _START("players")
_MODULES: Final = _START("modules")
_PHASE: Final = _START("phase")
_TILE: Final = _START("tile")
_SITE: Final = _START("site")
_TO_PAY: Final = _START("to_pay")
_SEGMENT: Final = _START("segment")
_LAST_COLOUR: Final = _START("last_colour")
_TAKEN: Final = _START("taken")
_WHEEL: Final = _START("wheel")
_WHEEL_TOTAL: Final = _START("wheel_total")
_BAG_EMPTY: Final = _START("bag_empty")
_TILES: Final = _START("tiles")
_PILE: Final = _START("pile")
_FOR_SALE: Final = _START("for_sale")
_SUPPLY: Final = _START("supply")
_CITIES: Final = _START("cities")
_SEATS: Final = _START("seats")
_HAND: Final = _START("hand")
_OTHERS: Final = _START("others")
_IMPROVEMENTS: Final = _START("improvements")
_CARDS: Final = _START("cards")
_OBJECTIVES: Final = _START("objectives")
_TRIGGERED: Final = _START("triggered")
_ANNOUNCER: Final = _START("announcer")
_ROUNDS: Final = _START("rounds")


@jit
def observe(s, seat, out):
    """R18: the table from the observer's side, others' holdings left out unless they are open."""
    out[:] = 0.0
    players = int(s.num_players)
    out[_PLAYERS + players - 2] = 1.0
    _write_modules(s, out)
    _write_choice(s, out)
    _write_market(s, out)
    _write_tiles(s, seat, out)
    _write_common(s, seat, out)
    for relative in range(players):
        other = (seat + relative) % players
        _write_seat(s, other, out, _SEATS + _SEAT_FEATURES * relative)
        if relative == 0:
            _write_hand(s, other, out, _HAND)
        elif s.open_holdings > 0:
            _write_hand(s, other, out, _OTHERS + _HAND_FEATURES * (relative - 1))
    for deck in range(DECKS):
        out[_CARDS + int(s.in_force[deck])] = 1.0
    for deck in range(DECKS - 1):
        out[_OBJECTIVES + deck] = objective_met(s, seat, deck)


@jit
def _write_modules(s, out):
    out[_MODULES] = s.no_turn
    out[_MODULES + 1] = s.cards
    out[_MODULES + 2] = s.monuments
    out[_MODULES + 3] = s.colour_scoring
    out[_MODULES + 4] = s.exhaustion


@jit
def _write_choice(s, out):
    if s.over == RUNNING:
        out[_PHASE + int(s.phase)] = 1.0
    if s.tile != NONE:
        out[_TILE + int(s.tile)] = 1.0
    if s.replaced != NONE:
        out[_TILE + int(s.replaced)] = 1.0
    if s.site != NONE:
        out[_SITE + int(s.site)] = 1.0
    if s.segment != NONE:
        out[_SEGMENT + int(s.segment)] = 1.0
    if s.last_colour != NONE:
        out[_LAST_COLOUR + int(s.last_colour)] = 1.0
    out[_TO_PAY] = s.to_pay / MONUMENT_COST
    out[_TAKEN] = s.taken / REFILL


@jit
def _write_market(s, out):
    for segment in range(SEGMENTS):
        for colour in range(COLOURS):
            out[_WHEEL + COLOURS * segment + colour] = s.wheel[segment, colour] / BRICKS
    out[_WHEEL_TOTAL] = s.wheel_total / REFILL
    out[_BAG_EMPTY] = s.bag_empty


@jit
def _mark(tiles, out, offset):
    # 1 at the offset of each tile of a set
    while tiles != 0:
        out[offset + _TILE_FEATURES * lowest_bit(tiles)] = 1.0
        tiles &= tiles - 1


@jit
def _write_tiles(s, seat, out):
    players = int(s.num_players)
    _mark(int(s.offer), out, _TILES)
    _mark(int(s.in_pile), out, _TILES + 1)
    for relative in range(players):
        other = (seat + relative) % players
        for city in range(CITIES):
            tiles = int(s.standing[other, city])
            if tiles != 0:
                _mark(tiles, out, _TILES + 2 + relative)
                _mark(tiles, out, _TILES + 2 + SEATS + city)
    out[_PILE] = s.pile_size / PILE


@jit
def _write_common(s, seat, out):
    players = int(s.num_players)
    for kind in range(TYPES):
        out[_FOR_SALE + kind] = (int(s.for_sale) >> kind) & 1
        out[_SUPPLY + kind] = s.supply[kind] / (OBJECTS - 1)
    for city in range(CITIES):
        place = 0 if s.city_scored[city] == NONE else 1 + (int(s.city_scored[city]) - seat) % players
        out[_CITIES + (1 + SEATS) * city + place] = 1.0
        out[_IMPROVEMENTS + city] = s.improvements[city] / MAX_IMPROVEMENTS
    out[_TRIGGERED] = s.triggered
    place = 0 if s.announcer == NONE else 1 + (int(s.announcer) - seat) % players
    out[_ANNOUNCER + place] = 1.0
    out[_ROUNDS] = s.rounds / s.max_rounds


@jit
def _write_seat(s, seat, out, offset):
    out[offset] = min(1.0, s.vp[seat] / VP_SCALE)
    out[offset + 1] = s.markers[seat] / MARKERS
    offset += 2
    for kind in range(TYPES):
        out[offset + kind] = (int(s.types_scored[seat]) >> kind) & 1
    offset += TYPES
    for group in range(GROUPS):
        out[offset + group] = (int(s.groups_scored[seat]) >> group) & 1
    offset += GROUPS
    for city in range(CITIES):
        out[offset + city] = (int(s.improved[seat]) >> city) & 1
    offset += CITIES
    out[offset] = seat == 0
    out[offset + 1] = 1.0


@jit
def _write_hand(s, seat, out, offset):
    out[offset] = min(1.0, s.coins[seat] / COINS_SCALE)
    for colour in range(COLOURS):
        out[offset + 1 + colour] = s.bricks[seat, colour] / BRICKS
    for kind in range(TYPES):
        out[offset + 1 + COLOURS + kind] = s.objects[seat, kind] / OBJECTS


@jit
def determinize(s, seat, salt):
    """R15: shuffles the pile, and gives the draws to come a key of their own; the holdings follow from open events."""
    rekey(s, salt)
    shuffle(s, REDEAL, s.pile, int(s.pile_size))
