"""The compiled core against `reference.py`, the rulebook's clauses in plain Python.

The reference first shows by the worked cases that it can be trusted. Then both play the same games: the same actions,
and the reference is told the chance outcomes that the core's record shows. After every step the legal actions, all that
lies on the table, the points, the places and the end must agree. Positions that play reaches seldom or never are set up
by hand, in the notation of the cases.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from games.carrara.reference import (
    CARDS,
    CITIES,
    COLOURS,
    DATA,
    DISPLAYED,
    GROUPS,
    MONUMENTS,
    OBJECTS,
    SEGMENTS,
    TILES,
    TYPES,
    Reference,
    Seat,
)

from tabletop_envs import casebook, registry
from tabletop_envs.core import jit, loops
from tabletop_envs.core.game import Game
from tabletop_envs.core.header import NOBODY, OVER_CAP, OVER_RULES, RUNNING
from tabletop_envs.games.carrara import cases
from tabletop_envs.games.carrara.state import Phase

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = [case for case in casebook.load(HERE / "cases.json") if case["type"] == "trace"]

# R17.1: the words of the 85 actions
NAMES: list[str] = [
    "BUY_TURN",
    "BUY_STAY",
    *(f"TILE {kind}{cost}" for kind in TYPES for cost in (1, 2, 3, 4, 5, 8)),
    *(f"SCORE_CITY {city}" for city in CITIES),
    *(f"SCORE_TYPE {kind}" for kind in TYPES),
    "SCORE_GROUP city",
    "SCORE_GROUP country",
    "RELIEF",
    *(f"CITY {city}" for city in CITIES),
    *(f"SEGMENT {segment}" for segment in SEGMENTS),
    *(f"COLOUR {colour}" for colour in COLOURS),
    *(f"IMPROVE {city}" for city in CITIES),
    *(f"OBJECT {kind}" for kind in OBJECTS),
    "DONE",
    "ANNOUNCE",
]


class Told:
    """Chance that answers what it was told before, in this order."""

    def __init__(self, bricks: list[str], tiles: list[str], cards: list[str]) -> None:
        self.bricks, self.tiles, self.cards = bricks, tiles, cards

    def brick(self, bag: Counter[str]) -> str:
        return self.bricks.pop(0)

    def tile(self, pile: set[str]) -> str:
        return self.tiles.pop(0)

    def card(self, deck: list[str]) -> str:
        return self.cards.pop(0)


class First:
    """Chance that takes the first of what there is: where the outcome is overwritten anyway."""

    def brick(self, bag: Counter[str]) -> str:
        return next(iter(+bag))

    def tile(self, pile: set[str]) -> str:
        return min(pile)

    def card(self, deck: list[str]) -> str:
        return deck[0]


@pytest.fixture(scope="module")
def game() -> Game:
    return registry.load("carrara")


# --- the case notation ------------------------------------------------------------------------------------------


def arranged(setup: dict[str, Any]) -> Reference:
    """A table set up as a case says."""
    table = Reference(setup["players"], First(), **setup["options"])
    for number, seat in enumerate(table.seats):
        given = dict(setup["seats"][number]) if number < len(setup.get("seats", ())) else {}
        seat.coins, seat.vp = given.pop("coins", 20), given.pop("vp", 0)
        seat.bricks, seat.objects = Counter(given.pop("bricks", {})), Counter(given.pop("objects", {}))
        seat.buildings = dict(building.split("@") for building in given.pop("buildings", ()))
        for name in ("types_scored", "groups_scored", "improvements"):
            setattr(seat, name, set(given.pop(name, ())))
        assert not given
    _arrange_bricks(table, setup)
    _arrange_tiles(table, setup)
    _arrange_objects(table, setup)
    for name in ("city_scored", "cards", "current", "round", "end_triggered", "announcer"):
        if name in setup:
            setattr(table, name, setup[name])
    return table


def _arrange_bricks(table: Reference, setup: dict[str, Any]) -> None:
    table.wheel = [Counter(setup.get("wheel", {}).get(segment, {})) for segment in SEGMENTS]
    table.bag = Counter(dict.fromkeys(COLOURS, DATA["bricks"]["per_colour"]))
    for bricks in (*table.wheel, *(seat.bricks for seat in table.seats)):
        table.bag.subtract(bricks)
    if "bag" in setup:
        table.bag = Counter(setup["bag"])


def _arrange_tiles(table: Reference, setup: dict[str, Any]) -> None:
    standing = {tile for seat in table.seats for tile in seat.buildings}
    free = [tile for tile in DISPLAYED if tile not in standing]
    table.display = set(setup.get("display", free[: DATA["display_size"]]))
    pile = setup.get("pile", [tile for tile in free if tile not in table.display])
    table.pile = set(pile)
    table.chance = Told(list(setup.get("draws", table.bag.elements())), list(pile), [])
    if table.options["monuments"]:
        table.monuments = set(MONUMENTS) - standing
        for seat in table.seats:
            table.improvement_stock.subtract(seat.improvements)
        if "improvement_stock" in setup:
            table.improvement_stock = Counter(setup["improvement_stock"])


def _arrange_objects(table: Reference, setup: dict[str, Any]) -> None:
    table.object_display = set(setup.get("object_display", OBJECTS))
    held = sum((seat.objects for seat in table.seats), Counter())
    in_supply = DATA["objects"]["in_supply_per_kind"]
    table.object_supply = Counter({kind: max(0, in_supply - held[kind]) for kind in OBJECTS})
    if "object_supply" in setup:
        table.object_supply = Counter(setup["object_supply"])


def expected(table: Reference, key: str, value: Any) -> tuple[Any, Any]:
    """What stands and what a case expects under a key, in forms that can be compared."""
    plain = {"current", "phase", "end_triggered", "announcer"}
    if key in plain:
        return getattr(table, key), value
    if key in ("display", "object_display"):
        return getattr(table, key), set(value)
    if key in ("bag", "object_supply"):
        return getattr(table, key), Counter(value)
    legal, places = table.legal(), table.places(table.points())
    numbers = range(len(table.seats))
    return {
        "game_over": lambda: (table.over, value),
        "capped": lambda: (table.capped, value),
        "city_scored": lambda: (table.city_scored, value),
        "pile_size": lambda: (len(table.pile), value),
        "bag_total": lambda: (table.bag.total(), value),
        "wheel_total": lambda: (table.bricks_on_wheel(), value),
        "wheel": lambda: (table.wheel, [Counter(value.get(segment, {})) for segment in SEGMENTS]),
        "legal": lambda: (legal, set(value)),
        "legal_includes": lambda: (legal & set(value), set(value)),
        "legal_excludes": lambda: (legal & set(value), set()),
        "objectives": lambda: ({number: table.objectives(int(number)) for number in value}, value),
        "final": lambda: (table.points(), value),
        "final_parts": lambda: (
            {seat: {name: table.parts(int(seat))[name] for name in parts} for seat, parts in value.items()},
            value,
        ),
        "winners": lambda: ([number for number in numbers if places[number] == 1], value),
    }[key]()


def seat_expected(table: Reference, number: int, key: str, value: Any) -> tuple[Any, Any]:
    """The same for a value of a seat."""
    seat = table.seats[number]
    if key == "markers":
        return table.markers(number), value
    if key == "buildings":
        return {f"{tile}@{city}" for tile, city in seat.buildings.items()}, set(value)
    if key in ("bricks", "objects"):
        return getattr(seat, key), Counter(value)
    if key in ("coins", "vp"):
        return getattr(seat, key), value
    return getattr(seat, key), set(value)


@pytest.mark.nojit
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_reference_passes_the_worked_cases(case: dict[str, Any]) -> None:
    table = arranged(case["setup"])
    for entry in case["actions"]:
        action = entry.removesuffix("!")
        assert not entry.endswith("!") or table.legal() == {action}
        table.apply(action)
    compare_with(table, case["expect"])


def compare_with(table: Reference, expectations: dict[str, Any]) -> None:
    """A case's expectations hold at the table."""
    for key, value in expectations.items():
        if key == "seats":
            for seat, facts in value.items():
                for name, fact in facts.items():
                    stands, should = seat_expected(table, int(seat), name, fact)
                    assert stands == should, (seat, name)
        else:
            stands, should = expected(table, key, value)
            assert stands == should, key


# --- side by side -----------------------------------------------------------------------------------------------


def counted(numbers: list[int], names: list[str]) -> Counter[str]:
    """What there is of each name."""
    return Counter(dict(zip(names, numbers, strict=True)))


def members(bits: int, names: list[str]) -> set[str]:
    """The names of a record's set."""
    bits = int(bits)
    return {name for index, name in enumerate(names) if bits >> index & 1} if bits else set()


def named(index: int, names: list[str]) -> str | None:
    """The name of a record's number; NONE is none."""
    return None if index < 0 else names[index]


TILE_NAMES = [name.removeprefix("TILE ") for name in NAMES if name.startswith("TILE ")]
IN_PROGRESS = {
    "TAKE": {"segment", "bricks_taken", "last_colour"},
    "SITE": {"tile"},
    "PAY": {"tile", "replaced", "site", "to_pay", "last_colour"},
    "IMPROVE": {"site"},
}


def facts_of_record(s: Any) -> dict[str, Any]:
    """All that stands in a core's record, by names."""
    phase = Phase(int(s["phase"])).name
    offer = members(s["offer"], TILE_NAMES)
    chosen = {
        "segment": int(s["segment"]),
        "bricks_taken": int(s["taken"]),
        "last_colour": named(int(s["last_colour"]), COLOURS),
        "tile": named(int(s["tile"]), TILE_NAMES),
        "replaced": named(int(s["replaced"]), TILE_NAMES),
        "site": named(int(s["site"]), list(CITIES)),
        "to_pay": int(s["to_pay"]),
    }
    return {
        "over": int(s["over"]),
        "phase": phase,
        "current": None if s["over"] else int(s["turn"]),
        "round": int(s["rounds"]),
        "end_triggered": bool(s["triggered"]),
        "announcer": None if s["announcer"] < 0 else int(s["announcer"]),
        "wheel": [counted(segment, COLOURS) for segment in s["wheel"].tolist()],
        "bag": counted(s["bag"].tolist(), COLOURS),
        "display": offer & DISPLAYED.keys(),
        "pile": members(s["in_pile"], TILE_NAMES),
        "monuments": offer & MONUMENTS.keys(),
        "improvement_stock": counted(s["improvements"].tolist(), list(CITIES)),
        "object_display": members(s["for_sale"], OBJECTS),
        "object_supply": counted(s["supply"].tolist(), OBJECTS),
        "city_scored": {city: seat for city, seat in zip(CITIES, s["city_scored"].tolist(), strict=True) if seat >= 0},
        "cards": [list(CARDS)[card] for card in s["in_force"].tolist()],
        "seats": [_seat_of_record(s, number) for number in range(int(s["num_players"]))],
        **{name: value for name, value in chosen.items() if name in IN_PROGRESS.get(phase, ())},
    }


def _seat_of_record(s: Any, number: int) -> tuple[Seat, int]:
    standing = s["standing"][number].tolist()
    return Seat(
        coins=int(s["coins"][number]),
        vp=int(s["vp"][number]),
        bricks=counted(s["bricks"][number].tolist(), COLOURS),
        objects=counted(s["objects"][number].tolist(), OBJECTS),
        buildings={
            tile: city for city, bits in zip(CITIES, standing, strict=True) for tile in members(bits, TILE_NAMES)
        },
        types_scored=members(s["types_scored"][number], list(TYPES)),
        groups_scored=members(s["groups_scored"][number], GROUPS),
        improvements=members(s["improved"][number], list(CITIES)),
    ), int(s["markers"][number])


def facts_of_table(table: Reference) -> dict[str, Any]:
    """The same facts of a table."""
    plain = (
        *("end_triggered", "announcer", "wheel", "bag", "display", "pile", "monuments", "improvement_stock"),
        *("object_display", "object_supply", "city_scored", "cards", "round"),
    )
    phase = "OVER" if table.over else table.phase
    return {
        "over": (OVER_CAP if table.capped else OVER_RULES) if table.over else RUNNING,
        "phase": phase,
        "current": None if table.over else table.current,
        **{name: getattr(table, name) for name in (*plain, *IN_PROGRESS.get(phase, ()))},
        "seats": [(seat, table.markers(number)) for number, seat in enumerate(table.seats)],
    }


class SideBySide:
    """A core's record and a table that play the same game, compared after every step."""

    def __init__(self, game: Game, states: np.ndarray, table: Reference) -> None:
        self.game, self.states, self.table = game, states, table
        self.told = table.chance = Told([], [], [])
        self.mask = np.zeros(len(NAMES), dtype=np.int8)
        self.seen: set[str] = set()
        self.compare()

    @classmethod
    def dealt(cls, game: Game, seed: int, players: int, **options: Any) -> SideBySide:
        """A new game; the table is told the deal (R16)."""
        states = game.template(game.settings(players, auto_forced=False, **options))
        states["key"] = seed
        loops.start(game.calls, states, 0, np.zeros(len(NAMES), dtype=np.int8))
        facts = facts_of_record(states[0])
        deal = Told(list(facts["wheel"][0].elements()), sorted(facts["display"]), list(facts["cards"]))
        table = Reference(players, deal, **options)
        return cls(game, states, table)

    @classmethod
    def arranged(cls, game: Game, setup: dict[str, Any]) -> SideBySide:
        """A position in the notation of the cases."""
        players, options = cases.settings({"setup": setup})
        states = game.template(game.settings(players, **options | {"auto_forced": False}))
        cases.arrange({"setup": setup}, states[0])
        loops.refresh(game.calls, states, 0, np.zeros(len(NAMES), dtype=np.int8))
        return cls(game, states, arranged(setup))

    def compare(self) -> None:
        """Everything agrees: what stands, what is legal, points and places; and no invariant is broken."""
        assert loops.check(self.game.check_call, self.states, 0) == 0
        record, table = facts_of_record(self.states[0]), facts_of_table(self.table)
        wrong = {name: (record.get(name), table.get(name)) for name in record if record[name] != table.get(name)}
        assert not wrong
        loops.legal(self.game.calls, self.states, 0, self.mask)
        assert {NAMES[action] for action in np.flatnonzero(self.mask)} == self.table.legal()
        assert self.states[0]["seat"] == (NOBODY if self.table.over else self.table.current)
        count = len(self.table.seats)
        points, places = np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.int32)
        loops.score(self.game.calls, self.states, 0, points, places)
        assert points.tolist() == self.table.points()
        assert places.tolist() == self.table.places(points.tolist())

    def compare_observations(self) -> None:
        """R18: every seat is shown what the table shows it."""
        for seat in range(len(self.table.seats)):
            seen = np.zeros(self.game.observations.full_size, dtype=np.float32)
            loops.observe(self.game.calls, self.states, 0, seat, seen)
            assert np.allclose(seen, self.table.observation(seat), rtol=0, atol=1e-6)

    def step(self, action: int) -> None:
        """The same action on both sides; the core's automatic steps one by one, their chance told to the table."""
        calls, states = self.game.calls, self.states
        states["decisions"] += 1
        before = states.copy()
        loops.raw_apply(calls, states, 0, action)
        self._tell(before)
        while states["seat"][0] == NOBODY and states["over"][0] == RUNNING:
            before = states.copy()
            loops.raw_advance(calls, states, 0)
            self._tell(before)
        self._apply_to_table(NAMES[action])
        # R4.3, R5.7: neither more nor less was drawn than is due
        assert not self.told.bricks
        assert not self.told.tiles
        self.compare()

    def _tell(self, before: np.ndarray) -> None:
        """What has left bag and pile in a step."""
        bag = counted((before["bag"][0] - self.states["bag"][0]).tolist(), COLOURS)
        self.told.bricks += (+bag).elements()
        self.told.tiles += members(before["in_pile"][0] & ~self.states["in_pile"][0], TILE_NAMES)

    def _apply_to_table(self, action: str) -> None:
        """Note beside what happens, so that a test can show what it has reached."""
        table, seat, phase, tile = self.table, self.table.seat, self.table.phase, self.table.tile
        word, _, what = action.partition(" ")
        due = {"SCORE_CITY": seat.in_city(what), "SCORE_TYPE": seat.of_type(what)}.get(word, [])
        objects, to_pay, triggered = seat.objects.total(), table.to_pay, table.end_triggered
        may_announce = not triggered and all(table.objectives(table.current))
        table.apply(action)
        nothing_payable = word == "BUY_TURN" and table.phase != "SEGMENT"
        exhausted = table.end_triggered and not triggered and word != "ANNOUNCE"
        asked = "" if table.over else table.phase
        points = table.points()
        shared = len(set(table.places(points))) < len(points)
        self.seen |= {
            label
            for label, happened in {
                f"{word} in {phase}": True,
                f"{asked} after relief": word == "RELIEF",
                f"{asked} after nothing payable": nothing_payable,
                "empty bag": word == "BUY_TURN" and not table.bag.total(),
                "shortage of objects": seat.objects.total() < objects + len(due),
                "monument without improvement": tile in MONUMENTS and to_pay == 1 and asked != "IMPROVE",
                "exhausted": exhausted,
                "exhausted with the objectives met": exhausted and may_announce,
                "ended in the last round": table.end_triggered and table.round == table.options["max_rounds"],
                "capped": table.capped,
                "place by bricks": table.over and not shared and len(set(points)) < len(points),
                "shared place": table.over and shared,
            }.items()
            if happened
        }

    def try_all(self) -> None:
        """The core accepts what the table holds for legal, and nothing else."""
        accepted = np.zeros_like(self.mask)
        loops.accepted(self.game.calls, self.states, 0, self.states.copy(), accepted)
        assert {NAMES[action] for action in np.flatnonzero(accepted)} == self.table.legal()

    def play(self, generator: np.random.Generator, steps: int) -> None:
        """Random play; the player's tastes, one for each kind of action, are random too."""
        kinds = [name.partition(" ")[0] for name in NAMES]
        tastes = {kind: generator.choice([0.05, 0.5, 1, 3]) for kind in dict.fromkeys(kinds)}
        weights = np.array([tastes[kind] for kind in kinds])
        for number in range(steps):
            if self.table.over:
                return
            if number % 20 == 0:
                self.compare_observations()
            weighed = weights * self.mask
            self.step(int(generator.choice(len(NAMES), p=weighed / weighed.sum())))


def some_options(generator: np.random.Generator) -> dict[str, Any]:
    """Any set of options; flags are on in half of them."""
    options: dict[str, Any] = {
        name: generator.choice(entry["values"]).item()
        for name, entry in DATA["options"].items()
        if name not in ("n_players", "max_rounds")
    }
    if generator.random() < 0.2:
        options["max_rounds"] = int(generator.integers(1, 12))
    return options


# what the tests have to reach; more is reached, but hangs on the seeds
IN_GAMES = {
    *("BUY_TURN in MAIN", "BUY_STAY in MAIN", "SEGMENT in SEGMENT", "COLOUR in TAKE", "DONE in TAKE", "TILE in MAIN"),
    *("CITY in SITE", "TILE in SITE", "COLOUR in PAY", "IMPROVE in IMPROVE", "SCORE_CITY in MAIN"),
    *("SCORE_TYPE in MAIN", "SCORE_GROUP in MAIN", "OBJECT in OBJECT", "DONE in OBJECT", "ANNOUNCE in ANNOUNCE"),
    *("DONE in ANNOUNCE", "MAIN after nothing payable", "exhausted", "capped"),
}
IN_POSITIONS = IN_GAMES | {
    *("RELIEF in MAIN", "MAIN after relief", "OBJECT after relief", "empty bag", "shortage of objects"),
    *("ended in the last round", "place by bricks", "shared place"),
}

GAMES = 18 if jit.COMPILED else 1


@pytest.mark.nojit
@pytest.mark.parametrize("players", [2, 3, 4])
def test_games_are_those_of_the_reference(game: Game, players: int) -> None:
    """R2 to R9, R11 to R14, R17: the same deal, masks, position, points and places after every step of a game."""
    generator = np.random.default_rng(players)
    seen = set()
    for seed in range(GAMES):
        pair = SideBySide.dealt(game, seed, players, **some_options(generator))
        pair.play(generator, 16 * players * 200)
        assert pair.table.over
        seen |= pair.seen
    assert not jit.COMPILED or seen >= IN_GAMES


# --- positions that play seldom reaches -------------------------------------------------------------------------


def some_setup(generator: np.random.Generator) -> dict[str, Any]:
    """A position in the notation of the cases: everything somewhere, nothing lost, often something at its end."""
    players = int(generator.integers(2, 5))
    options = some_options(generator) | {"max_rounds": 200}
    seats: list[dict[str, Any]] = [
        {
            "coins": int(generator.choice([0, 1, 3, 9, 10, 20, 40])),
            "vp": int(generator.integers(0, 60)),
            "bricks": Counter(),
            "objects": Counter(),
            "buildings": [],
        }
        for _ in range(players)
    ]
    setup: dict[str, Any] = {
        "players": players,
        "options": options,
        "seats": seats,
        "current": int(generator.integers(players)),
        "round": int(generator.choice([5, 198, 199])),
    }
    _scatter_bricks(generator, setup)
    _scatter_tiles(generator, setup)
    _trigger(generator, setup)
    _scatter_objects(generator, setup)
    _scatter_markers(generator, setup)
    if options["cards"]:
        decks = [[id for id in CARDS if CARDS[id]["deck"] == deck] for deck in DATA["card_decks"]]
        setup["cards"] = [str(generator.choice(deck)) for deck in decks]
    return setup


def _scatter_bricks(generator: np.random.Generator, setup: dict[str, Any]) -> None:
    bag, seats = generator.choice([0, 0, 0.05, 0.5]), len(setup["seats"])
    shares = generator.dirichlet(np.full(seats, 0.2))
    setup["wheel"] = {segment: Counter() for segment in SEGMENTS}
    setup["bag"] = Counter()
    room = int(generator.choice([0, 0, 1, 4, 11]))
    for colour in generator.permutation([colour for colour in COLOURS for _ in range(DATA["bricks"]["per_colour"])]):
        if room > 0 and generator.random() < 0.5:
            setup["wheel"][generator.choice(SEGMENTS)][colour] += 1
            room -= 1
        elif generator.random() < bag:
            setup["bag"][colour] += 1
        else:
            setup["seats"][generator.choice(seats, p=shares)]["bricks"][colour] += 1


def _scatter_tiles(generator: np.random.Generator, setup: dict[str, Any]) -> None:
    standing = generator.choice([0.2, 0.6, 0.9])
    free = []
    for tile in generator.permutation(list(TILES)):
        if tile in MONUMENTS and not setup["options"]["monuments"]:
            continue
        if generator.random() < standing:
            city = generator.choice(list(CITIES)[generator.integers(6) :])
            setup["seats"][generator.integers(setup["players"])]["buildings"].append(f"{tile}@{city}")
        elif tile in DISPLAYED:
            free.append(str(tile))
    setup["display"], setup["pile"] = free[: DATA["display_size"]], free[DATA["display_size"] :]
    if setup["options"]["monuments"]:
        eight = setup["options"]["improvement_supply"] == "eight"
        stock = Counter(DATA["improvements"]["supply_eight" if eight else "supply_default"])
        for seat in setup["seats"]:
            # R13.7: one for each monument at most
            most = sum(building.partition("@")[0] in MONUMENTS for building in seat["buildings"])
            wanted = generator.permutation([city for city in CITIES if stock[city]]).tolist()
            seat["improvements"] = wanted[:most]
            stock.subtract(seat["improvements"])
        setup["improvement_stock"] = stock


def _trigger(generator: np.random.Generator, setup: dict[str, Any]) -> None:
    """R8.1: the end that the display demands, and sometimes an announced one."""
    least = 1 if setup["options"]["exhaustion"] == "all_built" else DATA["display_size"]
    setup["end_triggered"] = len(setup["display"]) < least
    if generator.random() < 0.2:
        setup["end_triggered"], setup["announcer"] = True, int(generator.integers(setup["players"]))


def _scatter_objects(generator: np.random.Generator, setup: dict[str, Any]) -> None:
    held, for_sale = generator.choice([0.2, 0.6, 1.0]), generator.choice([0.0, 0.5])
    setup["object_display"] = [kind for kind in OBJECTS if generator.random() < for_sale]
    setup["object_supply"] = Counter()
    for kind in OBJECTS:
        for _ in range(DATA["objects"]["per_kind"] - (kind in setup["object_display"])):
            if setup["object_supply"][kind] == DATA["objects"]["in_supply_per_kind"] or generator.random() < held:
                setup["seats"][generator.integers(setup["players"])]["objects"][kind] += 1
            else:
                setup["object_supply"][kind] += 1


def _scatter_markers(generator: np.random.Generator, setup: dict[str, Any]) -> None:
    to_place = [int(generator.choice([0, 2, 4, 6])) for _ in setup["seats"]]
    setup["city_scored"] = {}
    for city in CITIES:
        number = int(generator.integers(setup["players"]))
        if to_place[number] and generator.random() < 0.5:
            setup["city_scored"][city] = number
            to_place[number] -= 1
    for number, seat in enumerate(setup["seats"]):
        places = [("types_scored", kind) for kind in TYPES]
        places += [("groups_scored", group) for group in GROUPS if setup["options"]["colour_scoring"]]
        for index in generator.permutation(len(places))[: to_place[number]]:
            name, what = places[index]
            seat.setdefault(name, []).append(what)


READY: dict[str, Any] = {  # for the announcement of the end with four players, without a marker left
    "coins": 0,
    "buildings": ["porta5@massa", "porta4@massa", "porta3@massa", "palazzo5@lerici", "villa3@lerici"],
    "types_scored": ["porta", "palazzo", "villa", "castello", "biblioteca"],
    "objects": {"gate": 3, "crown": 2, "coat_of_arms": 1},
}
ALL_BRICKS = dict.fromkeys(COLOURS, DATA["bricks"]["per_colour"])
FULL_DISPLAY = ["villa1", "villa2", "villa4", "villa5", "castello1", "castello2", "castello4", "castello5", "porta1"]
# what then stands in Lerici, and what of it is not that of the ready seat
BUILT = [f"{tile}@lerici" for tile in DISPLAYED if tile not in FULL_DISPLAY]
BUILT_BY_OTHERS = [tile for tile in BUILT if tile.partition("@")[0] not in str(READY["buildings"])]
RARE: dict[str, dict[str, Any]] = {
    "relief, object and announcement in one turn (R10.1, R3.5, R8.3)": {
        "setup": {
            **{"players": 4, "options": {}, "city_scored": {"massa": 0}, "wheel": {}, "bag": {}},
            "seats": [READY | {"coins": 8}, {"bricks": ALL_BRICKS}, {}, {}],
        },
        "actions": ["RELIEF!", "OBJECT gate", "ANNOUNCE"],
        "expect": {"seats": {"0": {"coins": 0, "vp": 5}}, "announcer": 0, "current": 1},
    },
    "nothing payable, and yet the end is announced (R4.7, R10.2)": {
        "setup": {
            **{"players": 4, "options": {}, "city_scored": {"massa": 0}, "wheel": {"I": {"white": 1}}, "bag": {}},
            "seats": [READY, {"bricks": ALL_BRICKS | {"white": 6}}, {}, {}],
        },
        "actions": ["BUY_TURN!", "ANNOUNCE"],
        "expect": {"seats": {"0": {"coins": 2, "vp": 5}}, "wheel": {"II": {"white": 1}}, "announcer": 0},
    },
    "the build that exhausts the tiles bars its own announcement (R8.7)": {
        "setup": {
            **{"players": 4, "options": {}, "city_scored": {"massa": 0}, "display": FULL_DISPLAY, "pile": []},
            "seats": [READY | {"bricks": {"black": 1}}, {"buildings": BUILT_BY_OTHERS}, {}, {}],
        },
        "actions": ["TILE villa1", "CITY lerici!", "COLOUR black!"],
        "expect": {"current": 1, "phase": "MAIN", "end_triggered": True, "announcer": None},
    },
    "monuments that are left do not keep the tiles from being used up (R8.2, R13.2)": {
        "setup": {
            **{"players": 2, "options": {"exhaustion": "all_built", "monuments": True}},
            **{"display": ["villa1"], "pile": []},
            "seats": [
                {"coins": 0, "bricks": {"black": 1}},
                {"buildings": [f"{tile}@lerici" for tile in DISPLAYED if tile != "villa1"]},
            ],
        },
        "actions": ["TILE villa1", "CITY lerici!", "COLOUR black!"],
        "expect": {"end_triggered": True, "game_over": False, "display": [], "current": 1},
    },
    "a game that ends by itself in the last round is not cut off (R8.6, R8.8)": {
        "setup": {
            **{"players": 2, "options": {"max_rounds": 3}, "round": 2, "current": 1, "pile": []},
            "seats": [{"buildings": BUILT}, {"coins": 0, "bricks": {"black": 1}}],
            "display": FULL_DISPLAY,
        },
        "actions": ["TILE villa1", "CITY lerici!", "COLOUR black!"],
        "expect": {"game_over": True, "capped": False, "end_triggered": True},
    },
    "the last round without a trigger is the cap (R8.8)": {
        "setup": {
            **{"players": 2, "options": {"max_rounds": 3}, "round": 2, "current": 1},
            "seats": [{}, {"coins": 0, "bricks": {"black": 1}}],
        },
        "actions": ["TILE porta1", "CITY lerici!", "COLOUR black!"],
        "expect": {"game_over": True, "capped": True, "end_triggered": False},
    },
    "sites of a monument: fresh, or for the difference where the bricks are accepted (R13.3 to R13.5)": {
        "setup": {
            **{"players": 2, "options": {"monuments": True}},
            "seats": [
                {
                    "bricks": {"white": 3, "green": 5},
                    "buildings": [
                        *("porta5@livorno", "porta4@livorno", "porta3@pisa", "villa5@lucca", "villa1@viareggio"),
                        *("palazzo8@lerici", "castello2@lerici"),
                    ],
                },
                {"buildings": ["palazzo5@livorno"]},
            ],
        },
        "actions": ["TILE villa8"],
        "expect": {
            "legal": [
                *("CITY viareggio", "CITY massa", "CITY lerici"),
                *("TILE porta5", "TILE villa5", "TILE villa1", "TILE castello2"),
            ]
        },
    },
    "of two improvements of a city a player takes one (R13.6, R13.7)": {
        "setup": {
            **{"players": 2, "options": {"monuments": True, "improvement_supply": "eight", "payment": "auto"}},
            "seats": [
                {
                    "coins": 0,
                    "bricks": {"white": 7},
                    "buildings": ["villa8@pisa", "porta8@pisa", "porta1@livorno", "palazzo8@livorno"],
                    "improvements": ["massa", "livorno"],
                },
                {"buildings": ["castello8@massa"], "improvements": ["pisa"]},
            ],
        },
        "actions": ["TILE biblioteca8", "TILE porta1!"],
        "expect": {"phase": "IMPROVE", "legal": ["IMPROVE lucca", "IMPROVE viareggio", "IMPROVE lerici"]},
    },
    "a purchase of all eleven bricks of a segment (R4.5, R17.11)": {
        "setup": {
            **{"players": 2, "options": {"no_turn": True}},
            "seats": [{"coins": 9}, {}],
            "wheel": {"VI": {"black": 6, "blue": 3, "white": 2}},
        },
        "actions": [
            *("BUY_STAY", "SEGMENT VI!", "COLOUR white", "COLOUR white", *["COLOUR blue"] * 3),
            *(*["COLOUR black"] * 6, "DONE!"),
        ],
        "expect": {"wheel_total": 0, "seats": {"0": {"coins": 7, "bricks": {"black": 6, "blue": 3, "white": 2}}}},
    },
}


@pytest.mark.nojit
@pytest.mark.parametrize("name", RARE)
def test_rare_positions(game: Game, name: str) -> None:
    """Both agree in what play reaches seldom or never, and with what the clause says."""
    case = RARE[name]
    pair = SideBySide.arranged(game, case["setup"])
    for entry in case["actions"]:
        action = entry.removesuffix("!")
        assert not entry.endswith("!") or pair.table.legal() == {action}
        pair.try_all()
        pair.step(NAMES.index(action))
    pair.compare_observations()
    compare_with(pair.table, case["expect"])


SETUPS = 240 if jit.COMPILED else 6


@pytest.mark.nojit
def test_arranged_positions_are_played_on_as_by_the_reference(game: Game) -> None:
    """Short bags, empty displays and supplies, rich and poor seats, few markers, the last rounds."""
    generator = np.random.default_rng(0)
    seen = set()
    for _ in range(SETUPS):
        pair = SideBySide.arranged(game, some_setup(generator))
        for _ in range(8):
            if not pair.table.over:
                pair.try_all()
                pair.compare_observations()
                pair.play(generator, 6)
        pair.compare_observations()
        seen |= pair.seen
    assert not jit.COMPILED or seen >= IN_POSITIONS
