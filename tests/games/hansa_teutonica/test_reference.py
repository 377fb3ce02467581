"""The compiled rules beside their second witness, `reference.py`: the same decisions and chance, compared after each.

Games are whole ones, or begin from positions scattered at random: crowded boards, open tracks, markers in hand, the
end near. Who plays has a temper, since uniform play reaches few of the rules; what was reached is counted, and each
test says what it must have seen.
"""

from __future__ import annotations

from collections import Counter
from copy import copy, deepcopy
from itertools import count, islice, product
from random import Random
from typing import Any

import numpy as np
import pytest
from games.hansa_teutonica.reference import (
    ABILITY,
    BOOK,
    COELLEN,
    DATA,
    DONE,
    EXTRA_OFFICE,
    INCOME,
    MARKERS,
    MAX_DECISIONS,
    MERCHANT,
    NONE,
    NUM_ROUTES,
    NUM_SPACES,
    PAWN,
    PAY,
    PHASES,
    PLACE,
    REMOVE3,
    ROUTE,
    SPACE,
    SWAP,
    TRACKS,
    TRADER,
    Piece,
    Reference,
)

from tabletop_envs import registry
from tabletop_envs.core import jit, loops
from tabletop_envs.core.game import Game
from tabletop_envs.core.header import NOBODY, OVER_CAP, OVER_RULES, RUNNING
from tabletop_envs.games.hansa_teutonica import state
from tabletop_envs.games.hansa_teutonica.state import End, Phase

GAMES, POSITIONS = 5, 160
MAX_PLAYERS = 5

USES = {block["offset"]: block["name"] for block in DATA["action_space"]["blocks"] if block["name"].startswith("USE")}

# How often a kind of decision is made, against the other kinds that are legal; None: uniform among all decisions.
TEMPERS: dict[str, dict[str, float] | None] = {
    "uniform": None,
    "trader": {"establish": 60, "place": 10, "move": 1, "displace": 1, "income": 2, "marker": 3, "end": 0.1},
    "bully": {"establish": 20, "place": 6, "move": 1, "displace": 12, "income": 4, "marker": 3, "end": 0.1},
    "crowd": {"establish": 0.01, "place": 12, "move": 0.3, "displace": 4, "income": 12, "marker": 1, "end": 0.1},
    "wanderer": {"establish": 6, "place": 3, "move": 12, "displace": 3, "income": 2, "marker": 6, "end": 0.3},
}


@pytest.fixture(scope="module")
def game() -> Game:
    return registry.load("hansa_teutonica")


# --- the record as the reference knows it -----------------------------------------------------------------------


class Dealt:
    """Chance as a record has dealt it: the start markers on the taverns, the pile in the order of drawing."""

    def __init__(self, start: list[int], pile: list[int]) -> None:
        self.start, self.pile = start, pile

    @classmethod
    def of(cls, states: np.ndarray) -> Dealt:
        s = states[0]
        down = s["pile"][: s["pile_size"]].tolist()
        return cls([marker - 1 for marker in s["route_marker"].tolist() if marker], [m - 1 for m in reversed(down)])

    def start_markers(self) -> list[int]:
        return self.start

    def draw(self) -> int:
        return self.pile.pop(0)


def padded(rows: list[Any], size: int, filling: Any = 0) -> list[Any]:
    return rows + [filling] * (size - len(rows))


def code(piece: Piece | None) -> int:
    return 0 if piece is None else 1 + 2 * piece.owner + piece.kind


def fields(model: Reference) -> dict[str, Any]:
    """The fields of the record that holds the reference's position; those kept for speed left out."""
    dealt = model.chance
    assert isinstance(dealt, Dealt)
    cities = sorted(model.board.cities)
    plates = [player.plate[: player.face_up] for player in model.players]
    drawn = [marker for player in model.players for marker in player.plate[player.face_up :]]
    down = [1 + marker for marker in [*reversed(dealt.pile), *reversed(drawn)]]
    ranks = [1 + model.east_west.index(p) if p in model.east_west[:3] else 0 for p in range(model.num_players)]
    players = [
        {
            "stock": player.stock,
            "supply": player.supply,
            "levels": player.levels,
            "markers": [player.markers[kind] for kind in range(len(MARKERS))],
            "used": [player.used[kind] for kind in range(len(MARKERS))],
            "plate": padded([1 + marker for marker in plates[seat]], 3),
            "prestige": player.prestige,
            "east_west_rank": ranks[seat],
        }
        for seat, player in enumerate(model.players)
    ]
    nobody = {name: [0] * len(value) if isinstance(value, list) else 0 for name, value in players[0].items()}
    return {
        "spaces": [code(model.spaces.get(space)) for space in range(NUM_SPACES)],
        "offices": [padded([code(piece) for piece in model.offices[city]], 4) for city in cities],
        "extras": [padded([code(piece) for piece in model.extras[city]], 5) for city in cities],
        "circles": [0 if owner is None else 1 + owner for owner in model.circles],
        "route_marker": [1 + model.route_markers.get(route, -1) for route in range(NUM_ROUTES)],
        **{name: [player[name] for player in padded(players, MAX_PLAYERS, nobody)] for name in nobody},
        "completed": model.completed,
        "pile": padded(down, 13),
        "pile_size": len(dealt.pile),
        "drawn": len(drawn),
        "unseen": [down.count(1 + kind) for kind in range(len(MARKERS))],
        "turn": model.turn_player,
        "turns": model.turns,
        "actions_left": model.actions_left,
        "optionless": int(model.optionless),
        "stall": model.stall,
        "route": -1 if model.route is None else model.route,
        "space": -1 if model.space is None else model.space,
        "held": code(model.held),
        "extras_left": model.extras_left,
        "moves_left": model.moves_left,
        "removals_left": model.removals_left,
        "taken": 0 if model.taken is None else 1 + model.taken,
        "draw_failed": int(model.draw_failed),
        "pawn": -1 if model.pawn is None else model.pawn,
        "pawn_moved": int(model.pawn_moved),
    }


def write(model: Reference, states: np.ndarray) -> None:
    """A position in which a turn begins into a record with header and options filled."""
    s = states[0]
    for name, value in fields(model).items():
        s[name] = value
    s["phase"], s["seat"], s["actions_left"], s["optionless"] = Phase.TURN_START, NOBODY, 0, 0
    s["decisions"] = model.decisions
    state.recount(s)


# --- both at the same game --------------------------------------------------------------------------------------


class Duel:
    """A game in both: every decision is made in the record and in the reference, and all that stands is compared."""

    def __init__(self, game: Game, num_players: int, seed: int, model: Reference | None = None, **options: Any) -> None:
        """Deal, or begin from the reference's position."""
        settings = game.settings(num_players, **options)
        self.game = game
        self.states = game.template(settings)
        self.states["key"] = seed
        self.mask = np.zeros(game.num_actions(settings), dtype=np.int8)
        self.observed = np.zeros(game.observation_size(settings), dtype=np.float32)
        if model is None:
            loops.start(game.calls, self.states, 0, self.mask)
            model = Reference(num_players, Dealt.of(self.states), **options)
        else:
            write(model, self.states)
            loops.refresh(game.calls, self.states, 0, self.mask)
            model.begin_turn()
        self.model = model
        self.model.settle()
        self.compare()

    def branch(self) -> Duel:
        """The same position again, to go on with by itself."""
        twin = copy(self)
        twin.states, twin.mask, twin.model = self.states.copy(), self.mask.copy(), deepcopy(self.model)
        return twin

    def step(self, action: int) -> None:
        loops.step(self.game.calls, self.states, 0, action, self.mask)
        self.model.play(action)
        self.compare()

    def compare(self) -> None:
        """The mask, every field that is not kept for speed, who decides and why it ended, and the invariants."""
        s, model = self.states[0], self.model
        where = f"{model.num_players} players, {model.options}, turn {model.turns}, {model.phase}"
        self.legal = model.legal()
        assert np.flatnonzero(self.mask).tolist() == self.legal, where
        stands = fields(model)
        assert {name: s[name].tolist() for name in stands} == stands, where
        assert s["decisions"] - s["forced"] == model.decisions, where
        assert s["seat"] == (NOBODY if model.seat is None else model.seat), where
        assert Phase(s["phase"]).name == ("OVER" if model.over else model.phase), where
        assert End(s["end_reason"]).name.lower() == (model.end_reason or "none"), where
        assert s["over"] == (OVER_CAP if model.end_reason == "cap" else OVER_RULES if model.over else RUNNING), where
        assert loops.check(self.game.check_call, self.states, 0) == 0, where

    def compare_points(self) -> None:
        points, places = np.zeros((2, self.model.num_players), dtype=np.int32)
        loops.score(self.game.calls, self.states, 0, points, places)
        assert points.tolist() == self.model.points()
        assert places.tolist() == self.model.places()

    def compare_observation(self, seat: int) -> None:
        loops.observe(self.game.calls, self.states, 0, seat, self.observed)
        np.testing.assert_allclose(self.observed, self.model.observation(seat), atol=1e-6)


# --- who plays --------------------------------------------------------------------------------------------------


def kind_of(model: Reference, action: int) -> str:
    """The kind of a decision, for the tempers."""
    if action in (DONE, NONE):
        return "end"
    if model.phase == "REWARD":
        return "establish"
    if model.phase != "MAIN" or action < ROUTE:
        return "place"
    if action < SPACE:
        return "establish"
    if action < INCOME:
        piece = model.spaces[action - SPACE]
        return "move" if piece is not None and piece.owner == model.turn_player else "displace"
    return "income" if action < PAY else "marker" if action < PAWN else "move"


def liking(model: Reference, action: int) -> int:
    """Routes are liked that are nearly one's own, more so those with a marker; and rewards that are seldom offered."""
    if action >= SPACE:
        return 4 if ABILITY <= action < COELLEN + len(model.circles) else 1
    route = action % NUM_ROUTES
    pieces = model.on(route)
    if any(piece.owner != model.seat for piece in pieces):
        return 1
    return 1 + 12 * len(pieces) + 6 * (route in model.route_markers)


def choose(model: Reference, legal: list[int], temper: str, rng: Random) -> int:
    weights = TEMPERS[temper]
    if weights is None:
        return rng.choice(legal)
    kinds: dict[str, list[int]] = {}
    for action in legal:
        kinds.setdefault(kind_of(model, action), []).append(action)
    names = sorted(kinds)
    among = kinds[rng.choices(names, [weights[name] for name in names])[0]]
    return rng.choices(among, [liking(model, action) for action in among])[0]


def watch(model: Reference, action: int, seen: Counter[str]) -> None:
    """Count what a decision is about to reach."""
    seen[model.phase] += 1
    if model.phase == "MAIN":
        seen["full board"] += not model.open_routes()
        seen["marker kept on a plate"] += any(player.face_up for player in model.players)
        if PAY < action < DONE:
            seen[f"use {USES[max(use for use in USES if use <= action)]}"] += 1
    elif model.phase == "DISP_PLACE":
        assert model.route is not None
        seen["outer ring"] += not model.nearest_ring(model.route) & model.board.neighbours([model.route])
    elif model.phase == "DISP_EXTRA" and action != DONE:
        assert model.victim is not None
        owner = model.players[model.victim]
        seen["extra from " + ("stock" if sum(owner.stock) else "supply" if sum(owner.supply) else "board")] += 1
    elif model.phase == "MOVE_DEST" and action >= SPACE:
        seen["exchange"] += 1
        seen["exchange on a full board"] += not model.open_routes()
    elif model.phase == "REWARD":
        seen[f"reward {DATA['action_space']['reward'][action - NONE]}"] += 1
        seen["no marker to draw"] += model.draw_failed


def play(duel: Duel, temper: str, rng: Random, seen: Counter[str], decisions: int | None = None) -> None:
    """Play to the end, or so many decisions; points and one seat's observation are compared now and then."""
    model = duel.model
    for number in islice(count(), decisions):
        if number % 4 == 0:
            duel.compare_observation(rng.randrange(model.num_players))
        if number % 8 == 0 or model.phase == "REWARD":
            duel.compare_points()
        if model.over:
            break
        action = choose(model, duel.legal, temper, rng)
        watch(model, action, seen)
        networks = len(model.east_west)
        duel.step(action)
        if len(model.east_west) > networks:
            seen[f"east-west {networks + 1}"] += 1
    for seat in range(model.num_players):
        duel.compare_observation(seat)
    duel.compare_points()
    seen[f"end by {model.end_reason}"] += 1


def some_options(num_players: int, rng: Random) -> dict[str, Any]:
    """Each option either way, the defaults in every third game."""
    if rng.random() < 1 / 3:
        return {}
    return {
        "edition": rng.choice(("original", "bigbox")),
        "merchant_in_square": rng.random() < 0.5,
        "east_west": rng.choice(("end", "immediate")),
        "swap_requires_own": rng.random() < 0.5,
        "allow_early_end": rng.random() < 0.5,
        "two_player_pawn": num_players == 2 and rng.random() < 0.5,
        "max_rounds": rng.choice((10, 40, 100)),
        "auto_forced": rng.random() < 0.5,
    }


# --- scattered positions ----------------------------------------------------------------------------------------


def scattered(num_players: int, rng: Random, options: dict[str, Any]) -> Reference:
    """A position at the beginning of a turn that play could hardly reach, all pieces and markers accounted for."""
    model = Reference(num_players, Dealt(rng.sample([0, 1, 5], 3), []), **options)
    model.turn_player = rng.randrange(num_players)
    model.turns = rng.randrange(9) * num_players + model.turn_player
    model.stall = rng.choice((0, num_players - 1))
    model.east_west = rng.sample(range(num_players), rng.randrange(min(num_players, 3) + 1))
    if model.options.two_player_pawn:
        model.pawn = rng.randrange(len(DATA["two_player_pawn"]["provinces"]))
    model.decisions = rng.choice((0, 0, 0, 0, MAX_DECISIONS - 9))
    style = rng.choice(("mixed", "crowded", "idle", "linked", "linked"))
    for seat, player in enumerate(model.players):
        player.levels = [rng.choice((0, rng.randrange(len(track)), len(track) - 1)) for track in TRACKS]
        if style == "crowded":
            player.levels = [len(track) - 1 for track in TRACKS]
        elif style == "linked" and seat == model.turn_player:
            player.levels = [3] * len(TRACKS)
        elif style == "idle" and seat == model.turn_player:
            player.levels = [0] * len(TRACKS)
        closed = [len(track) - 1 - level for track, level in zip(TRACKS, player.levels, strict=True)]
        player.stock = [26 - sum(closed) + closed[BOOK], 4 - closed[BOOK]]
        player.supply = [0, 0]
        player.prestige = rng.choice((0, rng.randrange(20), 19))
    if style == "linked":
        almost_link(model, rng)
    scatter_offices(model, rng, 0.1 if style == "crowded" else rng.choice((0.1, 0.4, 0.7)), style == "idle")
    scatter_on_routes(model, rng, rng.choice((0.97, 0.99, 1) if style == "crowded" else (0.2, 0.6, 0.9)))
    for player in model.players:
        for kind in (TRADER, MERCHANT):
            moved = rng.choice((0, rng.randrange(player.stock[kind] + 1), player.stock[kind]))
            player.stock[kind] -= moved
            player.supply[kind] += moved
    scatter_markers(model, rng)
    if style == "idle":
        model.me.used += model.me.markers
        model.me.markers.clear()
    return model


def some_piece(model: Reference, rng: Random, owners: list[int] | None = None) -> Piece | None:
    """A resource out of the stock of one of these players, while one has any."""
    seats = range(model.num_players) if owners is None else owners
    left = [Piece(s, kind) for s in seats for kind in (TRADER, MERCHANT) if model.players[s].stock[kind]]
    if not left:
        return None
    piece = rng.choice(left)
    model.players[piece.owner].stock[piece.kind] -= 1
    return piece


def almost_link(model: Reference, rng: Random) -> None:
    """The player whose turn it is lacks one city between west and east, and has all of a route to it.

    The others are not in the way of the last rank but one; the route of Coellen is the player's too.
    """
    seat, routes = model.turn_player, model.board.routes
    others = [other for other in range(model.num_players) if other != seat]
    model.east_west = rng.sample(others, rng.randrange(min(len(others), 3) + 1))
    west, east = sorted(model.board.east_west)
    ways = {west: [west]}
    while east not in ways:
        ends = rng.choice(sorted(routes.values())).ends
        for here, there in (ends, ends[::-1]):
            if here in ways and there not in ways:
                ways[there] = [*ways[here], there]
    gap = rng.choice(ways[east])
    for city in ways[east]:
        if city != gap:
            model.offices[city][0] = some_piece(model, rng, [seat])
            model.completed += model.full_city(city)
    for number in (rng.choice([number for number, route in routes.items() if gap in route.ends]), model.board.coellen):
        for space in routes[number].spaces:
            if model.spaces[space] is None:
                model.spaces[space] = some_piece(model, rng, [seat])


def scatter_offices(model: Reference, rng: Random, density: float, idle: bool) -> None:
    """Offices from the left, some extra ones, some circles; at most nine cities are completed.

    idle: the player whose turn it is has all resources there.
    """

    def open_office(city: int, owners: list[int] | None = None) -> None:
        piece = some_piece(model, rng, owners)
        if piece is not None and model.completed < 9 and not model.full_city(city):
            model.offices[city][model.offices[city].index(None)] = piece
            model.completed += model.full_city(city)
        elif piece is not None:
            model.players[piece.owner].stock[piece.kind] += 1

    while idle and sum(model.me.stock):
        open_office(rng.choice(sorted(model.offices)), [model.turn_player])
    for city, offices in model.offices.items():
        for _ in offices:
            if rng.random() < density:
                open_office(city)
    for city in rng.sample(sorted(model.extras), 4):
        piece = some_piece(model, rng) if any(model.offices[city]) else None
        if piece is not None:
            model.extras[city].append(piece)
            model.players[piece.owner].used[EXTRA_OFFICE] += 1
    for circle in range(len(model.circles)):
        owner = rng.randrange(model.num_players)
        if rng.random() < density / 2 and model.players[owner].stock[MERCHANT]:
            model.players[owner].stock[MERCHANT] -= 1
            model.circles[circle] = owner


def scatter_on_routes(model: Reference, rng: Random, filled: float) -> None:
    """Resources on this part of the spaces; many routes are one player's alone."""
    for route in model.board.routes.values():
        owners = [rng.randrange(model.num_players)] if rng.random() < 0.4 else None
        for space in route.spaces:
            if model.spaces[space] is None and rng.random() < filled:
                model.spaces[space] = some_piece(model, rng, owners) or some_piece(model, rng)


def scatter_markers(model: Reference, rng: Random) -> None:
    """Three on routes and plates, some in hand, some used, the others in the pile."""
    counts = Counter({kind: model.edition["counts"][key] for kind, key in enumerate(MARKERS)})
    for player in model.players:
        counts -= player.used
    markers = rng.sample(sorted(counts.elements()), counts.total())
    on_plates = rng.choice((0, 0, 1, 3))
    model.route_markers = {route: markers.pop() for route in rng.sample(sorted(model.board.routes), 3 - on_plates)}
    for _ in range(on_plates):
        player = rng.choice(model.players)
        player.plate.append(markers.pop())
        player.face_up += 1
    for _ in range(rng.choice((0, len(markers) // 2, len(markers) - 1, len(markers)))):
        player = rng.choice((model.me, *model.players))
        rng.choice((player.markers, player.used))[markers.pop()] += 1
    model.pile = Counter(markers)
    model.chance = Dealt([], markers)


def hand_over(model: Reference, number: int) -> bool:
    """Give a route to the player whose turn it is, if possible with a merchant on it and one of the markers beside it.

    The player gets an extra office marker out of the pile as well. False if there are too few resources.
    """
    spaces, supply = model.board.routes[number].spaces, model.me.supply
    for space, piece in model.spaces.items():
        if piece is not None and (space in spaces or piece.owner == model.turn_player):
            model.players[piece.owner].supply[piece.kind] += 1
            model.spaces[space] = None
    for kind in (TRADER, MERCHANT):
        supply[kind] += model.me.stock[kind]
        model.me.stock[kind] = 0
    if sum(supply) < len(spaces):
        return False
    for place, space in enumerate(spaces):
        kind = MERCHANT if supply[MERCHANT] and (place == 0 or not supply[TRADER]) else TRADER
        supply[kind] -= 1
        model.spaces[space] = Piece(model.turn_player, kind)
    if model.route_markers and number not in model.route_markers:
        model.route_markers[number] = model.route_markers.popitem()[1]
    assert isinstance(model.chance, Dealt)
    if model.pile[EXTRA_OFFICE]:
        model.pile[EXTRA_OFFICE] -= 1
        model.chance.pile.remove(EXTRA_OFFICE)
        model.me.markers[EXTRA_OFFICE] += 1
    return True


# --- tests ------------------------------------------------------------------------------------------------------

COMMON = {*PHASES[:9], "MARKER_PLACE", "extra from stock", "extra from supply", "extra from board", "exchange"}
COMMON |= {"reward NONE", "reward OFFICE_A_TRADER", "reward OFFICE_B_TRADER"}

RARE = {"outer ring", "full board", "exchange on a full board", "marker kept on a plate", "no marker to draw"}
RARE |= {*PHASES[:12], *(f"use {name}" for name in USES.values())}
RARE |= {f"end by {reason}" for reason in ("markers", "prestige", "cities", "stall", "cap")}
RARE |= {f"east-west {rank}" for rank in (1, 2, 3, 4)}


# What seat 0 observes when its trader on Stade-Hamburg has been displaced; all other numbers are 0.
DISPLACED = """61: 1, 558: 1, 563: 1, 696: 1, 715: 1, 803: 1, 1676: 0.230769, 1678: 0.153846, 1699: 0.230769,
1701: 0.153846, 1702: 0.25, 1720: 1, 1722: 0.153846, 1724: 0.269231, 1725: 0.25, 1745: 0.115385, 1747: 0.307692,
1748: 0.25, 1791: 1, 1792: 0.8, 1793: 0.5, 1794: 1, 1795: 1, 1796: 1, 1797: 0.5, 1802: 1, 1804: 1, 1807: 1,
1817: 0.052632, 1820: 0.5, 1822: 1, 1826: 1, 1857: 1"""


@pytest.mark.nojit
def test_an_observation_in_numbers(game: Game) -> None:
    """R2.5, R5.2, R6.3: written down by hand, with the start markers extra office, swap offices, remove three."""
    deals = (Duel(game, 4, seed, auto_forced=False) for seed in count())
    duel = next(deal for deal in deals if list(deal.model.route_markers.values()) == [EXTRA_OFFICE, SWAP, REMOVE3])
    for action in (PLACE[TRADER] + 3, PLACE[MERCHANT] + 30, DONE, SPACE + 10, PAY):
        duel.step(action)
    assert (duel.model.seat, duel.model.phase) == (0, "DISP_PLACE")
    duel.compare_observation(0)
    expected = {int(place): float(number) for place, number in (e.split(": ") for e in DISPLACED.split(","))}
    found = {place: round(float(duel.observed[place]), 6) for place in np.flatnonzero(duel.observed).tolist()}
    assert found == expected


@pytest.mark.nojit
@pytest.mark.parametrize("num_players", range(2, 6))
def test_whole_games(game: Game, num_players: int) -> None:
    """R3.1 and all other rules in games from the deal to the end, on the side of the number of players."""
    seen: Counter[str] = Counter()
    for seed in range(GAMES if jit.COMPILED else 1):
        rng = Random(100 * num_players + seed)
        options = some_options(num_players, rng) if jit.COMPILED else {"max_rounds": 10}
        play(Duel(game, num_players, seed, **options), list(TEMPERS)[seed % len(TEMPERS)], rng, seen)
    assert not jit.COMPILED or set(+seen) >= COMMON


@pytest.mark.nojit
def test_games_from_scattered_positions(game: Game) -> None:
    """All rules where play from the deal hardly comes: full boards, empty supplies, open tracks, the end near."""
    seen: Counter[str] = Counter()
    for seed in range(POSITIONS if jit.COMPILED else 12):
        rng = Random(seed)
        num_players = 2 + seed % 4
        options = some_options(num_players, rng)
        model = scattered(num_players, rng, options)
        temper = rng.choice(("trader", *TEMPERS))
        play(Duel(game, num_players, seed, model, **options), temper, rng, seen, 40)
    assert not jit.COMPILED or set(+seen) >= RARE


def test_the_pawn(game: Game) -> None:
    """R16.6.1 to R16.6.4 in all moments of the pawn."""
    seen: Counter[str] = Counter()
    for seed, temper in enumerate(TEMPERS):
        play(Duel(game, 2, seed, two_player_pawn=True, max_rounds=20), temper, Random(seed), seen)
    assert set(PHASES[12:]) <= set(+seen)


def test_every_reward_of_every_route(game: Game) -> None:
    """R8.4 to R8.10, R10.3, R10.8.1 to R10.8.4: whatever may be chosen on establishing, then the end of the turn."""
    seen: Counter[str] = Counter()
    for seed, (num_players, number) in enumerate(product(range(2, 6), range(NUM_ROUTES))):
        rng = Random(seed)
        options = {**some_options(num_players, rng), "two_player_pawn": False, "auto_forced": False}
        model = scattered(num_players, rng, options)
        if number in model.board.routes and hand_over(model, number):
            duel = Duel(game, num_players, seed, model, **options)
            duel.step(ROUTE + number)
            for action in duel.legal:
                branch = duel.branch()
                watch(branch.model, action, seen)
                branch.step(action)
                branch.compare_points()
                branch.compare_observation(rng.randrange(num_players))
                if DONE in branch.legal:
                    branch.step(DONE)
                    seen[f"{len(branch.model.me.plate)} on the plate"] += branch.model.phase == "MARKER_PLACE"
    assert set(+seen) >= {f"reward {name}" for name in DATA["action_space"]["reward"]}
    assert set(+seen) >= {"1 on the plate", "2 on the plate"}
