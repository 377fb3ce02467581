"""The game's core beside its second reading (`reference.py`): the same decisions and the same chance, step by step.

A `Table` holds a record and a `Model`. After every single step, automatic ones too, all that both know is compared:
board, altar, bids, bags, hands, track, claims, stack, discard pile, legal actions, points, places and the end. Chance
is read out of the record after the step that drew it, and handed to the model.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, permutations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from games.umbra_via.reference import (
    BASE,
    CELLS,
    DECLINE,
    DRAWN,
    ENERGY,
    FIRST_CELL,
    REGULAR_MIX,
    SLOTS,
    SOUL_TILE,
    SOULS,
    Cell,
    Dice,
    Model,
    Tile,
    turned,
)

from tabletop_envs import registry
from tabletop_envs.core import jit, loops
from tabletop_envs.core.game import Game
from tabletop_envs.core.header import MAX_EVENTS, NOBODY
from tabletop_envs.games.umbra_via import notation, state, tables
from tabletop_envs.games.umbra_via.state import Phase

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = json.loads((HERE / "cases.json").read_text(encoding="utf-8"))["cases"]
SPECIAL = ("four_point", "void", "block")
SUBSETS = [subset for size in range(4) for subset in combinations(SPECIAL, size)]
TIES = ("track_move", "track_static", "friendly")
BITS = {"N": 1, "E": 2, "S": 4, "W": 8}
CODES = {"four_point": tables.FOUR_POINT_TILE, "void": tables.VOID_TILE, "block": tables.BLOCK_TILE}
ASKED = {
    "bid1": Phase.BID1,
    "bid2": Phase.BID2,
    "place": Phase.PLACE,
    "four_point_target": Phase.FOUR_POINT_TARGET,
    "void_target": Phase.VOID_TARGET,
}


@pytest.fixture(scope="module")
def game() -> Game:
    return registry.load("umbra_via")


# --- what both know ---------------------------------------------------------------------------------------------


def tile_of(code: int) -> tuple[str, str]:
    """Kind and openings of a tile in a record."""
    for kind, special in CODES.items():
        if code == special:
            return kind, ""
    openings = "".join(side for side, bit in BITS.items() if code & bit)
    return next(kind for kind in BASE if openings in [turned(BASE[kind], number) for number in range(4)]), openings


def code_of(tile: Tile | None) -> int:
    """A tile as a record has it."""
    if tile is None:
        return 0
    return CODES.get(tile.kind) or sum(BITS[side] for side in tile.openings)


def facts_of_record(s: Any, legal: Sequence[int]) -> dict[str, Any]:
    """All that stands in a record, under the names of `facts_of_model`."""
    players = int(s["num_players"])
    asked = int(s["seat"]) != NOBODY
    winner, track = int(s["winner"]), s["track"][:players].tolist()
    pool, hand, pending = (s[name][:players].astype(int) for name in ("pool", "hand", "pending"))
    return {
        "seat": int(s["seat"]) if asked else None,
        "phase": int(s["phase"]) if asked else None,
        "over": int(s["over"]) != 0,
        "legal": list(legal),
        "board": s["board"].tolist(),
        "energy": s["energy"][:players].tolist(),
        "altar": s["altar"].tolist(),
        "altar_energy": s["bid_energy"][:players].tolist(),
        "altar_souls": s["bid_souls"][:players].tolist(),
        "order": s["order"].tolist(),
        "bags": (pool - hand - pending.sum(axis=1)).tolist(),
        "hands": hand.tolist(),
        "pending": pending.tolist(),
        "removed": s["removed"][:players].tolist(),
        "claims": s["claims"][:players].tolist(),
        "track": sorted(range(players), key=track.__getitem__),
        "stack": s["stack"].tolist(),
        "discard": s["discard"].tolist(),
        "round": int(s["rounds"]),
        "winner": None if winner < 0 else winner,
        "four_point": None if int(s["placed"]) < 0 else int(s["placed"]),
        "resolving": None if int(s["resolving"]) < 0 else int(s["resolving"]),
    }


def facts_of_model(model: Model) -> dict[str, Any]:
    """All that stands in the model, in the form of a record."""
    seats = range(model.players)
    energy = [[0] * len(CELLS) for _ in seats]
    for number, cell in enumerate(CELLS):
        lying = model.board[cell].energy if cell in model.board else model.waiting.get(cell, [0] * model.players)
        for seat in seats:
            energy[seat][number] = lying[seat]
    counters = {slot: number + 1 for number, slot in enumerate(model.order) if model.altar[slot] is not None}
    bidding = model.phase in ("place", "void_target")
    return {
        "seat": model.seat,
        "phase": None if model.seat is None else ASKED[str(model.phase)],
        "over": model.over,
        "legal": sorted(model.legal()),
        "board": [code_of(model.board.get(cell)) for cell in CELLS],
        "energy": energy,
        "altar": [code_of(tile) for tile in model.altar],
        "altar_energy": [[0 if tile is None else tile.energy[seat] for tile in model.altar] for seat in seats],
        "altar_souls": [[0 if tile is None else tile.souls[seat] for tile in model.altar] for seat in seats],
        "order": [counters.get(slot, 0) for slot in range(SLOTS)],
        "bags": [[model.bag_souls[seat], model.bag_energy[seat]] for seat in seats],
        "hands": [[model.hand_souls[seat], model.hand_energy[seat]] for seat in seats],
        "pending": model.pending,
        "removed": model.removed,
        "claims": model.claims,
        "track": model.track,
        "stack": [model.stack[kind] for kind in BASE],
        "discard": [model.discard[kind] for kind in BASE],
        "round": model.round,
        "winner": model.first_at_target,
        "four_point": None if model.placed is None else CELLS.index(model.placed),
        "resolving": model.order[model.turn] if model.seat is not None and bidding else None,
    }


def seen_by(model: Model, seat: int) -> dict[str, Any]:
    """O1: what a seat observes, block by block, in the scales of the blocks' legends."""
    seats = [(seat + step) % model.players for step in range(model.players)]
    absent = [0] * (4 - model.players)
    facts = facts_of_model(model)

    def face(code: int) -> list[bool]:
        return [code > 0, *(code < 16 and code & bit > 0 for bit in BITS.values()), code == CODES["four_point"]]

    cells = []
    for number, code in enumerate(facts["board"]):
        cells.append([*face(code), *(min(1, facts["energy"][other][number] / 12) for other in seats), *absent])
    slots = []
    for slot, code in enumerate(facts["altar"]):
        flowers = [[facts[name][other][slot] / 6 for other in seats] for name in ("altar_energy", "altar_souls")]
        counter = [facts["order"][slot] == number for number in (1, 2, 3, 4)]
        special = [code == CODES["void"], code == CODES["block"]]
        now = facts["resolving"] == slot
        slots.append([*face(code), *special, *flowers[0], *absent, *flowers[1], *absent, *counter, now])
    players = []
    for other in seats:
        souls = model.bag_souls[other] + model.hand_souls[other] + sum(bid[0] for bid in model.pending[other])
        energy = model.bag_energy[other] + model.hand_energy[other] + sum(bid[1] for bid in model.pending[other])
        place = [model.track.index(other) == number for number in range(4)]
        claims = [min(1, model.claims[other] / 28), model.soul_tile(other) / 11]
        players.append([1, *claims, energy / 32, souls / 17, model.removed[other] / 17, *place])
    shared = [model.round / model.max_rounds, *(model.players == number for number in (2, 3, 4))]
    return {
        "board": np.array(cells).T.reshape(-1, 4, 4),
        "altar": slots,
        "own_pending": np.array(model.pending[seat]) / 3,
        "own_hand": [model.hand_souls[seat] / 3, model.hand_energy[seat] / 3],
        "players": players + [[0] * 10 for _ in absent],
        "phase": [model.seat is not None and model.phase == phase for phase in ASKED],
        "tile_census": np.minimum(1, np.array([facts["stack"], facts["discard"]]) / 20),
        "globals": [*shared, min(1, model.victory_target / 28), *(kind in model.special_tiles for kind in CODES)],
    }


class Recorded:
    """Chance as the core drew it: the outcomes of one step of the record."""

    def __init__(self) -> None:
        self.markers: list[int] = []
        self.tiles: list[tuple[str, str]] = []
        self.hands: list[tuple[int, int]] = []

    def read_track(self, s: Any) -> None:
        places = s["track"][: int(s["num_players"])].tolist()
        self.markers = sorted(range(len(places)), key=places.__getitem__)

    def read_step(self, s: Any, phase: int, turn: int) -> None:
        """What a step drew that began in this phase and turn."""
        if phase == Phase.ROUND:
            self.tiles = [tile_of(code) for code in s["altar"].tolist() if code]
        elif phase in (Phase.BID1, Phase.BID2) and turn == state.DEAL:
            self.hands = [(int(souls), int(energy)) for souls, energy in s["hand"][: int(s["num_players"])]]

    def track(self, players: int) -> Sequence[int]:
        return self.markers

    def tile(self, stack: Mapping[str, int]) -> tuple[str, str]:
        return self.tiles.pop(0)

    def hand(self, seat: int, souls: int, energy: int) -> tuple[int, int]:
        return self.hands.pop(0)

    def used_up(self) -> bool:
        return not self.tiles and not self.hands


class Table:
    """A record and the model of the same game, in step."""

    def __init__(self, game: Game, players: int, seed: int, **options: Any) -> None:
        """R2: dealt, before the first round."""
        self.game = game
        self.calls = game.calls
        self.states = game.template(game.settings(players, auto_forced=False, **options))
        self.states["key"] = seed
        self.mask = np.zeros(game.actions.full_size, dtype=np.int8)
        self.vector = np.zeros(game.observations.full_size, dtype=np.float32)
        game.functions["setup"](self.states[0])
        self.chance = Recorded()
        self.chance.read_track(self.states[0])
        self.model = Model(players, self.chance, **options)
        self.seen: set[str] = set()

    def compare(self) -> None:
        """Whether the record and the model stand alike."""
        s, model = self.states[0], self.model
        loops.legal(self.calls, self.states, 0, self.mask)
        core, witness = facts_of_record(s, np.flatnonzero(self.mask).tolist()), facts_of_model(model)
        assert core == witness, {name: (core[name], witness[name]) for name in core if core[name] != witness[name]}
        points, places = np.zeros((2, model.players), dtype=np.int32)
        loops.score(self.calls, self.states, 0, points, places)
        assert points.tolist() == model.points()
        assert places.tolist() == model.places()

    def compare_observations(self, seat: int) -> None:
        """O1, O2: what a seat observes."""
        loops.observe(self.calls, self.states, 0, seat, self.vector)
        for name, block in seen_by(self.model, seat).items():
            core = self.game.observations.decode(self.vector, {})[name]
            assert np.array_equal(core, np.array(block, dtype=np.float32)), (seat, name)

    def compare_summons(self) -> None:
        """R8: the paths and awards that the core reports, in their order; of many events it keeps the first."""
        reported: list[Any] = []
        events = self.states["events"][0][: int(self.states["num_events"][0])].tolist()
        for kind, seat, value in events:
            if kind == state.SUMMONED:
                reported.append([CELLS[cell] for cell in notation.path_cells(value)])
            elif kind == state.EARNED:
                reported.append((seat, value % state.TIED))
        paid = [entry for path, awards in self.model.summons for entry in (path, *awards)]
        assert reported == (paid if len(events) < MAX_EVENTS else paid[: len(reported)])

    def settle(self) -> None:
        """Automatic steps up to the next decision or the end, each compared."""
        self.compare()
        while self.states["seat"][0] == NOBODY and self.states["over"][0] == 0:
            phase, turn = int(self.states["phase"][0]), int(self.states["turn"][0])
            loops.raw_advance(self.calls, self.states, 0)
            self.chance.read_step(self.states[0], phase, turn)
            self.model.advance()
            if self.model.todo == "number_tiles":  # the core does this together with the showing of the second bid
                self.model.advance()
            assert self.chance.used_up()
            self.compare()

    def apply(self, action: int) -> None:
        self.note(action)
        self.states["num_events"] = 0
        loops.raw_apply(self.calls, self.states, 0, action)
        self.model.apply(action)
        self.compare_summons()
        self.seen.add(f"{len(self.model.summons)} paths")
        self.settle()

    def note(self, action: int) -> None:
        """What a test wants to have seen."""
        model, phase = self.model, str(self.model.phase)
        self.seen.add(phase)
        if action == DECLINE:
            self.seen.add("declined")
        elif action >= FIRST_CELL and CELLS[action - FIRST_CELL] in model.waiting:
            self.seen.add(f"{phase}, on waiting flowers")

    def play(self, choose: Callable[[Model], int], decisions: int = 10_000) -> None:
        """Up to so many decisions; a broken invariant of the core is a difference too."""
        self.settle()
        for number in range(decisions):
            if number % 4 == 0 or self.model.over:
                self.compare_observations(number // 4 % self.model.players)
            assert loops.check(self.game.check_call, self.states, 0) == 0
            if self.model.over:
                self.seen.add(str(self.model.end_reason))
                return
            self.apply(choose(self.model))


# --- random games -----------------------------------------------------------------------------------------------


def uniform(generator: random.Random) -> Callable[[Model], int]:
    """Any legal action."""
    return lambda model: generator.choice(sorted(model.legal()))


def crowded(generator: random.Random) -> Callable[[Model], int]:
    """Bids mostly on the first tile, so that bids are equal, tiles get no flower and bags run low."""

    def choose(model: Model) -> int:
        legal = sorted(model.legal())
        return legal[0] if str(model.phase).startswith("bid") and generator.random() < 0.9 else generator.choice(legal)

    return choose


def some_options(generator: random.Random) -> dict[str, Any]:
    """Options of all kinds together."""
    mixes = [{"straight": 6, "bend": 6, "tee": 5}] * 3
    mixes += [{"straight": 1, "bend": 0, "tee": 1}, {"straight": 0, "bend": 12, "tee": 0}, {"straight": 9, "tee": 30}]
    return {
        "special_tiles": generator.choice(SUBSETS),
        "victory_target": generator.choice([13, 13, 12, 11, 1, 5, 99]),
        "summon_ties": generator.choice(TIES),
        "tile_mix": generator.choice(mixes),
        "max_rounds": generator.choice([150, 150, 150, 9, 1]),
    }


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.nojit), *range(1, 16)])
def test_random_games(game: Game, players: int, seed: int) -> None:
    """Uniform and crowded play, with the default rules and with any options."""
    generator = random.Random(10 * seed + players)
    for options in ({}, some_options(generator)):
        for policy in (uniform, crowded):
            Table(game, players, generator.getrandbits(50), **options).play(policy(generator))


# --- positions that random games seldom reach -------------------------------------------------------------------


SELDOM = {"four_point_target", "declined", "void_target", "place, on waiting flowers", "2 paths", "3 paths"}
SELDOM |= {"void_target, on waiting flowers", "stalemate", "cap", "target"}


def arrange_board(model: Model, generator: random.Random) -> None:
    """Some tiles of the stack on the board, wherever, and some on the discard pile; no complete path is left."""
    used, aside = generator.choice([0.4, 0.9]), generator.choice([0.05, 0.3])
    drawn = [kind for kind in model.stack.elements() if generator.random() < used]
    generator.shuffle(drawn)
    if generator.random() < 0.1:  # perhaps nothing but the four-point tile
        drawn = [kind for kind in drawn if kind == "four_point"]
    for kind in drawn:
        model.stack -= Counter([kind])
        free = model.empty_cells()
        if kind in ("void", "block") or len(free) == 1 or generator.random() < aside:
            model.discard[kind] += 1
        else:
            openings = turned(BASE[kind], generator.randrange(4))
            model.board[generator.choice(free)] = Tile(kind, openings, [0] * model.players, [0] * model.players)
    for cell in CELLS:
        path = model.path(cell) if cell in model.board else set()
        if path and model.complete(path):  # R7.5: no other path becomes complete by this
            for other in path:
                model.discard[model.board.pop(other).kind] += 1


def arrange_altar(model: Model, generator: random.Random) -> None:
    """Tiles on offer, before the first or the second bid of a round."""
    kinds = [kind for kind in model.stack.elements() if generator.random() < 0.9]
    generator.shuffle(kinds)
    for slot, kind in enumerate(kinds[:SLOTS]):
        model.stack -= Counter([kind])
        openings = turned(BASE[kind], generator.randrange(4))
        model.altar[slot] = Tile(kind, openings, [0] * model.players, [0] * model.players)
    if model.biddable():
        model.phase, model.todo = generator.choice(["bid1", "bid2"]), "draw"
    else:
        for slot, kind in enumerate(kinds[:SLOTS]):
            model.altar[slot] = None
            model.discard[kind] += 1


def arrange_flowers(model: Model, seat: int, generator: random.Random) -> None:
    """A player's flowers: claims, souls out of the game, a first bid on the altar, energy on the board, the rest."""
    model.claims[seat] = generator.choice([0, model.victory_target - 1, generator.randrange(model.victory_target)])
    model.bag_souls[seat] = 17 - model.soul_tile(seat)
    model.removed[seat] = generator.choice([0, model.bag_souls[seat], generator.randint(0, model.bag_souls[seat])])
    model.bag_souls[seat] -= model.removed[seat]
    if model.phase == "bid2":
        for slot in generator.choices(model.biddable(), k=generator.choice([3, 3, 2, 0])):
            tile = model.altar[slot]
            assert tile is not None
            if model.bag_souls[seat] > 0 and generator.random() < 0.4:
                model.bag_souls[seat] -= 1
                tile.souls[seat] += 1
            else:
                model.bag_energy[seat] -= 1
                tile.energy[seat] += 1
    cells = [cell for cell in CELLS if cell in model.board or cell in model.waiting]
    left = generator.choice([0, 1, 4, 32])  # in the bag
    while cells and model.bag_energy[seat] > left and generator.random() < 0.95:
        cell = generator.choice(cells)
        lying = model.board[cell].energy if cell in model.board else model.waiting[cell]
        lying[seat] += 1
        model.bag_energy[seat] -= 1


def arranged(game: Game, players: int, generator: random.Random) -> Table:
    """A position between two steps, arranged in the model and written into the record."""
    options = some_options(generator)
    table = Table(game, players, generator.getrandbits(50), **options)
    model = table.model
    model.round = generator.randint(0, model.max_rounds)
    arrange_board(model, generator)
    if model.round > 0 and generator.random() < 0.8:
        arrange_altar(model, generator)
    if "void" in options["special_tiles"]:
        model.waiting = {cell: [0] * players for cell in model.empty_cells() if generator.random() < 0.3}
    for seat in range(players):
        arrange_flowers(model, seat, generator)
    model.waiting = {cell: energy for cell, energy in model.waiting.items() if any(energy)}
    write(model, table.states[0])
    return table


def write(model: Model, s: Any) -> None:
    """The model's position into a fresh record, at the beginning of a round or of a bid."""
    facts = facts_of_model(model)
    for name in ("board", "altar", "stack", "discard"):
        s[name][:] = facts[name]
    for name, fact in (
        ("energy", "energy"),
        ("bid_energy", "altar_energy"),
        ("bid_souls", "altar_souls"),
        ("pool", "bags"),
        ("removed", "removed"),
        ("claims", "claims"),
    ):
        s[name][: model.players] = facts[fact]
    s["rounds"] = model.round
    s["occupied"] = sum(1 << number for number, cell in enumerate(CELLS) if cell in model.board)
    for number, side in enumerate(BITS):
        open_there = [cell in model.board and side in model.board[cell].openings for cell in CELLS]
        s["openings"][number] = sum(1 << cell for cell, is_open in enumerate(open_there) if is_open)
    if model.todo == "draw":
        s["phase"], s["turn"] = ASKED[str(model.phase)], state.DEAL


@pytest.mark.nojit
@pytest.mark.parametrize("players", [2, 3, 4])
def test_arranged_positions(game: Game, players: int) -> None:
    """From positions with few flowers, many tiles, high counters, late rounds: on for some decisions."""
    generator = random.Random(players)
    seen: set[str] = set()
    for _ in range(400 if jit.COMPILED else 12):
        table = arranged(game, players, generator)
        policy = generator.choice([uniform, crowded])
        table.play(policy(generator), decisions=generator.choice([20, 40]))
        seen |= table.seen
    if jit.COMPILED:
        assert not SELDOM - seen


@pytest.mark.nojit
@pytest.mark.parametrize("players", [2, 3, 4])
def test_forced_decisions(game: Game, players: int) -> None:
    """D7: with `auto_forced` the same game, in which nobody is asked where there is no choice."""
    generator = random.Random(players)
    forced = 0
    for number in range(12 if jit.COMPILED else 2):
        options = some_options(generator) | {"tile_mix": {"straight": 1, "bend": number % 2, "tee": 0}}
        table = Table(game, players, generator.getrandbits(50), **options)
        states = game.template(game.settings(players, **options))
        states["key"] = table.states["key"]
        mask = np.zeros(game.actions.full_size, dtype=np.int8)
        loops.start(game.calls, states, 0, mask)
        table.settle()
        while not table.model.over:
            legal = sorted(table.model.legal())
            action = generator.choice(legal)
            if len(legal) > 1:
                assert facts_of_record(states[0], np.flatnonzero(mask).tolist()) == facts_of_model(table.model)
                loops.step(game.calls, states, 0, action, mask)
            forced += len(legal) == 1
            table.apply(action)
        assert facts_of_record(states[0], []) == facts_of_model(table.model)
    assert forced > 0


def test_four_paths_at_once(game: Game) -> None:
    """R8.7: a four-point tile closes the paths on all four sides; all are paid before any is taken off."""
    around = {(0, 1): "NS", (1, 0): "EW", (1, 2): "EW", (1, 3): "EW", (2, 1): "NS", (3, 1): "NS"}
    for seed in range(24):
        generator = random.Random(seed)
        options = {"special_tiles": ("four_point",), "summon_ties": TIES[seed % 3], "victory_target": 2 + seed % 5}
        table = Table(game, 2 + seed % 3, seed, **options)
        model = table.model
        for cell, openings in around.items():
            energy = [generator.randrange(2) for _ in range(model.players)]
            model.board[cell] = Tile("straight", openings, energy, [0] * model.players)
        model.altar[2] = Tile(
            "four_point", "", [generator.randrange(2) for _ in range(model.players)], [0] * model.players
        )
        model.stack -= Counter(straight=len(around), four_point=1)
        for seat in range(model.players):
            model.bag_energy[seat] -= sum(tile.energy[seat] for tile in [*model.board.values(), model.altar[2]] if tile)
        model.round, model.phase, model.todo = 1, "bid2", "draw"
        write(model, table.states[0])
        table.play(lambda model: min(model.legal()), decisions=3 * model.players)
        assert model.phase == "place"
        table.apply(FIRST_CELL + CELLS.index((1, 1)))
        if model.phase == "four_point_target":
            table.apply(generator.choice(sorted(model.legal())))
        assert len(model.summons) == 4
        assert not model.board.keys() - {(1, 1)}


# --- chance, which the model takes from the core ----------------------------------------------------------------


def assert_fair(counts: Mapping[Any, int], expected: Mapping[Any, float]) -> None:
    """Chi-square: the outcomes are those expected, and as often as a fair draw would have it (1 in 10,000 misses)."""
    total = sum(counts.values())
    assert set(counts) <= set(expected), (counts, expected)
    parts = [(counts.get(outcome, 0) - total * share) ** 2 / (total * share) for outcome, share in expected.items()]
    freedom = len(expected) - 1
    limit = freedom * (1 - 2 / (9 * freedom) + 3.72 * (2 / (9 * freedom)) ** 0.5) ** 3  # Wilson and Hilferty
    assert sum(parts) < limit, (counts, expected)


def hands(souls: int, energy: int) -> dict[int, float]:
    """R4.2: how likely so many souls are among the flowers drawn."""
    size = min(DRAWN, souls + energy)
    ways = {number: comb(souls, number) * comb(energy, size - number) for number in range(size + 1)}
    return {number: count / comb(souls + energy, size) for number, count in ways.items() if count}


def test_chance(game: Game) -> None:
    """R12.1: track, stack, quarter turns and draws, over many keys."""
    tracks: Counter[Any] = Counter()
    kinds: Counter[Any] = Counter()
    pairs: Counter[Any] = Counter()
    faces: dict[str, Counter[Any]] = {kind: Counter() for kind in BASE}
    souls: Counter[Any] = Counter()
    for key in range(4000):
        table = Table(game, 3, key, special_tiles=SPECIAL)
        loops.raw_advance(table.calls, table.states, 0)
        loops.raw_advance(table.calls, table.states, 0)
        facts = facts_of_record(table.states[0], [])
        tiles = [tile_of(code) for code in facts["altar"]]
        tracks[tuple(facts["track"])] += 1
        kinds[tiles[3][0]] += 1
        pairs[tiles[0][0] == "tee", tiles[1][0] == "tee"] += 1
        faces[tiles[2][0]][tiles[2][1]] += 1
        souls[facts["hands"][key % 3][0]] += 1
    assert_fair(tracks, {order: 1 / 6 for order in permutations(range(3))})  # R2.4
    assert_fair(kinds, {kind: REGULAR_MIX.get(kind, 1) / 20 for kind in BASE})  # R2.2, R3.1
    first = {(True, True): 20, (True, False): 75, (False, True): 75, (False, False): 210}  # of 20 x 19, five are tees
    assert_fair(pairs, {pair: ways / 380 for pair, ways in first.items()})
    for kind in REGULAR_MIX:  # R3.3
        ways = Counter(turned(BASE[kind], number) for number in range(4))
        assert_fair(faces[kind], {openings: count / 4 for openings, count in ways.items()})
    assert_fair(souls, hands(SOULS, ENERGY))


def test_dealt_anew(game: Game) -> None:
    """R11.2: what a seat imagines of another's hand and bids is what the other may have drawn and done."""
    drawn: Counter[Any] = Counter()
    slots: Counter[Any] = Counter()
    pairs: Counter[Any] = Counter()
    later: Counter[Any] = Counter()
    for key in range(40):
        table = Table(game, 3, key)
        table.play(lambda model: 2, decisions=5)  # seat 0 has bid all, seat 1 two flowers
        for salt in range(100):
            copy = table.states.copy()
            loops.determinize(table.calls, copy, 0, 2, salt)
            facts = facts_of_record(copy[0], [])
            pending = facts["pending"][0]
            drawn[sum(souls for souls, _ in pending)] += 1
            slots[next(slot for slot in range(SLOTS) if sum(pending[slot]))] += 1
            pairs[max(sum(bid) for bid in pending)] += 1
            later[facts["hands"][1][0], sum(souls for souls, _ in facts["pending"][1])] += 1
    fair = hands(SOULS, ENERGY)
    assert_fair(drawn, fair)
    assert_fair(slots, {slot: ((4 - slot) ** 3 - (3 - slot) ** 3) / 64 for slot in range(SLOTS)})
    assert_fair(pairs, {3: 4 / 64, 2: 36 / 64, 1: 24 / 64})
    # souls go first: two of three flowers are bid, so a soul is left in hand only of three
    assert_fair(later, {(max(0, number - 2), min(2, number)): share for number, share in fair.items()})


# --- the worked cases, by the model -----------------------------------------------------------------------------


def cell_of(words: Any) -> Cell:
    """A cell out of a case: [row, col] or "row,col"."""
    row, col = words.split(",") if isinstance(words, str) else words
    return int(row), int(col)


def set_up(setup: Mapping[str, Any]) -> Model:
    """The set-up of a case, after both bids."""
    players = setup["players"]
    model = Model(players, Dice(random.Random(0)), **setup.get("options", {}))
    nothing = [0] * players
    for entry in setup.get("board", []):
        model.board[cell_of(entry["cell"])] = Tile(entry["kind"], entry["open"], [*entry["energy"]], [*nothing])
    for entry in setup.get("altar", []):
        model.altar[entry["slot"]] = Tile(entry["kind"], entry["open"], [*entry["energy"]], [*entry["soul"]])
    model.waiting = {cell_of(entry["cell"]): [*entry["energy"]] for entry in setup.get("waiting", [])}
    model.track = [*setup.get("tie_track", range(players))]
    model.claims = [*setup.get("claimed", nothing)]
    model.removed = [*setup.get("removed_souls", nothing)]
    tiles = [*model.board.values(), *(tile for tile in model.altar if tile is not None)]
    model.stack -= Counter(tile.kind for tile in tiles)
    for seat in range(players):
        waiting = sum(energy[seat] for energy in model.waiting.values())
        model.bag_energy[seat] = ENERGY - waiting - sum(tile.energy[seat] for tile in tiles)
        on_altar = sum(tile.souls[seat] for tile in tiles)
        model.bag_souls[seat] = SOULS + SOUL_TILE - model.soul_tile(seat) - model.removed[seat] - on_altar
    model.todo = "number_tiles"
    return model


def plain(value: Any) -> Any:
    """As JSON has it."""
    return json.loads(json.dumps(value))


def judged(model: Model, souls_before: Sequence[int]) -> dict[str, Any]:
    """The model's position under the names of the cases' expectations."""
    return {
        "claimed": model.claims,
        "soul_tile_flowers": [model.soul_tile(seat) for seat in range(model.players)],
        "bag_soul": model.bag_souls,
        "bag_energy": model.bag_energy,
        "bag_soul_gain": [now - before for now, before in zip(model.bag_souls, souls_before, strict=True)],
        "removed_souls": model.removed,
        "tie_track": model.track,
        "board_cells": sorted(model.board),
        "energy_at": {f"{row},{col}": tile.energy for (row, col), tile in model.board.items()},
        "waiting": [{"cell": cell, "energy": energy} for cell, energy in model.waiting.items()],
        "discard_added": sorted(model.discard.elements()),
        "next_legal_cells": model.open_cells(),
        "game_over": model.over,
        "winner": model.standing()[0],
    }


def play_case(case: Mapping[str, Any]) -> dict[str, Any]:
    """What the model makes of a case with bids on the altar: all that such cases expect."""
    model = set_up(case["setup"])
    souls, tiles = [*model.bag_souls], [slot for slot in range(SLOTS) if model.altar[slot] is not None]
    model.advance()
    found: dict[str, Any] = {"order": [*model.order], "discarded_slots": sorted({*tiles} - {*model.order})}
    found |= {"tile_winners": [], "summons": []}
    for entry in case["actions"]:
        assert model.order[model.turn] == entry["slot"]
        model.advance()
        for action in ("action", "target_action"):
            if action in entry:
                assert model.seat == entry["player"]
                model.apply(entry[action])
        found["summons"].append([{"path": path, "awards": awards} for path, awards in model.summons])
    if case["type"] == "winner":  # nobody decides: tile after tile is only won
        for turn in range(len(model.order)):
            model.turn, model.seat = turn, None
            model.advance()
            found["tile_winners"].append(model.seat)
    return plain(found | judged(model, souls))


@pytest.mark.parametrize("case", [case for case in CASES if case["type"] != "manual"], ids=lambda case: str(case["id"]))
def test_model_in_worked_cases(case: dict[str, Any]) -> None:
    """The model too does as the cases say."""
    expected = {key: value for key, value in case["expect"].items() if key != "note"}
    model = set_up(case["setup"])
    if case["type"] in ("place", "order", "winner"):
        found = play_case(case)
        energy = expected.pop("energy_at", {})
        assert energy == {cell: found["energy_at"][cell] for cell in energy}
    elif case["type"] == "complete":
        paths = {cell: model.path(cell_of(cell)) for cell in expected["complete"]}
        found = {"complete": {cell: model.complete(path) if path else None for cell, path in paths.items()}}
        found["path"] = {cell: plain(sorted(paths[cell])) for cell in expected.get("path", {})}
    else:
        cells = model.open_cells() if case["type"] == "legal" else model.empty_cells()
        found = {"legal_cells": plain(cells), "legal_actions": [FIRST_CELL + CELLS.index(cell) for cell in cells]}
    assert expected == {key: found[key] for key in expected}
