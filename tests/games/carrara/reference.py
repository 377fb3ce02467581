"""The Palaces of Carrara a second time: the clauses of RULES.md in plain Python, the witness of the compiled core.

It shares no line and no table with the game: everything goes by the printed names of data.json (a brick is "red", a
tile "palazzo3", a city "lucca"), holdings are counters and sets, and an action is written as in the case file: "TILE
palazzo3", "COLOUR red", "DONE". It is slow, takes no decision for a player (R17.10 is left to whoever drives it), and
knows no chance of its own: a `Chance` says what is drawn (R16), so that it can follow a game that is played elsewhere.

    table = Reference(2, chance, monuments=True)
    while not table.over:
        table.apply(min(table.legal()))
    print(table.points())
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

DATA: dict[str, Any] = json.loads(Path(__file__).with_name("data.json").read_text(encoding="utf-8"))

COLOURS: list[str] = DATA["colours"]
SEGMENTS: list[str] = DATA["wheel"]["segments"]
PRICES: dict[str, dict[str, int]] = DATA["wheel"]["prices"]
CITIES: dict[str, dict[str, Any]] = {city["name"]: city for city in DATA["cities"]}
TYPES: dict[str, dict[str, Any]] = {kind["name"]: kind for kind in DATA["building_types"]}
GROUPS = ["city", "country"]
OBJECTS: list[str] = DATA["objects"]["kinds"]
DISPLAYED: dict[str, dict[str, Any]] = {tile["id"]: tile for tile in DATA["buildings"]}
MONUMENTS: dict[str, dict[str, Any]] = {tile["id"]: tile for tile in DATA["monuments"]}
TILES = DISPLAYED | MONUMENTS
CARDS: dict[str, dict[str, Any]] = {card["id"]: card for card in DATA["cards"]}
DECKS: list[str] = list(DATA["card_decks"])
PRINTED_CARDS: list[str] = [DATA["end"]["base_card_ids"][deck] for deck in DECKS]

MARKERS: int = DATA["setup"]["scoring_markers_to_place"]
OBJECT_PRICE: int = DATA["objects"]["price"]
RELIEF: int = DATA["relief_coins"]

DEFAULTS: dict[str, Any] = {name: entry["default"] for name, entry in DATA["options"].items() if name != "n_players"}


class Chance(Protocol):
    """What is not decided by a player (R16). Each answer is one of what is offered; the table then takes it away."""

    def brick(self, bag: Counter[str]) -> str:
        """The colour of the next brick from the bag (R16.3, R16.4)."""

    def tile(self, pile: set[str]) -> str:
        """The next tile of the shuffled tiles (R16.2); their order matters only as they turn up."""

    def card(self, deck: list[str]) -> str:
        """The card drawn from a deck (R16.5)."""


@dataclass
class Seat:
    """What a player owns; buildings are tile -> city."""

    coins: int = 0
    vp: int = 0
    bricks: Counter[str] = field(default_factory=Counter)
    objects: Counter[str] = field(default_factory=Counter)
    buildings: dict[str, str] = field(default_factory=dict)
    types_scored: set[str] = field(default_factory=set)
    groups_scored: set[str] = field(default_factory=set)
    improvements: set[str] = field(default_factory=set)

    def accepted(self, city: str) -> int:
        """R5.4: how many of the bricks held the city accepts."""
        return sum(self.bricks[colour] for colour in CITIES[city]["accepts"])

    def costs(self, buildings: Iterable[str] | None = None) -> int:
        """The sum of the costs of some own buildings, or of all."""
        return sum(TILES[tile]["cost"] for tile in (self.buildings if buildings is None else buildings))

    def of_group(self, group: str) -> list[str]:
        """The own buildings of a group (R1.5)."""
        return [tile for tile in self.buildings if TILES[tile]["group"] == group]

    def of_type(self, kind: str) -> list[str]:
        """The own buildings of a type."""
        return [tile for tile in self.buildings if TILES[tile]["type"] == kind]

    def in_city(self, *cities: str) -> list[str]:
        """The own buildings in some cities."""
        return [tile for tile, city in self.buildings.items() if city in cities]


class Reference:
    """A table of Carrara. `legal` and `apply` play; `points`, `parts`, `places` and `objectives` count."""

    def __init__(self, players: int, chance: Chance, **options: Any) -> None:
        """R2: the set-up; options as in R0."""
        assert options.keys() <= DEFAULTS.keys(), "an option is not known (R0)"
        self.options = DEFAULTS | options
        self.chance = chance

        # R2.4
        coins = DATA["setup"]["coins_by_player_count"][str(players)]
        bricks = DATA["setup"]["starting_brick_by_turn_order"]
        self.seats = [Seat(coins=coins, bricks=Counter([bricks[number]])) for number in range(players)]

        # R2.2
        self.pile = set(DISPLAYED)
        self.display: set[str] = set()
        while len(self.display) < DATA["display_size"]:
            self.display.add(self._turn_up())

        # R2.3
        self.object_display = set(OBJECTS)
        self.object_supply = Counter(dict.fromkeys(OBJECTS, DATA["objects"]["in_supply_per_kind"]))

        # R2.5
        self.bag = Counter(dict.fromkeys(COLOURS, DATA["bricks"]["per_colour"]))
        for seat in self.seats:
            self.bag -= seat.bricks
        self.wheel: list[Counter[str]] = [Counter() for _ in SEGMENTS]
        if self.options["wheel_setup"] == "random_six":
            for _ in range(6):
                self._draw()
        else:
            self.wheel[0] += Counter(COLOURS)
            self.bag -= Counter(COLOURS)

        # R2.6, R12.2
        self.cards = list(PRINTED_CARDS)
        if self.options["cards"]:
            self.cards = [chance.card([id for id, card in CARDS.items() if card["deck"] == deck]) for deck in DECKS]

        # R13.1, R13.6
        with_monuments = self.options["monuments"]
        supply = "supply_eight" if self.options["improvement_supply"] == "eight" else "supply_default"
        self.monuments = set(MONUMENTS) if with_monuments else set()
        self.improvement_stock = Counter(DATA["improvements"][supply] if with_monuments else {})

        # R6.3: city -> seat; R8
        self.city_scored: dict[str, int] = {}
        self.round = 0
        self.end_triggered = False
        self.announcer: int | None = None
        self.over = False
        self.capped = False

        # R3.1
        self.current = 0
        self.phase = "MAIN"
        self._begin_turn()

    def _begin_turn(self) -> None:
        self.phase = "MAIN"
        self.segment: int | None = None
        self.tile: str | None = None
        self.replaced: str | None = None
        self.site: str | None = None
        self.to_pay = 0
        self.bricks_taken = 0
        self.last_colour: str | None = None

    # --- chance

    def _draw(self) -> None:
        """R4.3: one brick from the bag to segment I."""
        colour = self.chance.brick(self.bag)
        assert self.bag[colour] > 0, "the bag holds no such brick"
        self.bag[colour] -= 1
        self.wheel[0][colour] += 1

    def _turn_up(self) -> str:
        """The top tile of the pile."""
        tile = self.chance.tile(self.pile)
        self.pile.remove(tile)
        return tile

    # --- what may be done

    @property
    def seat(self) -> Seat:
        """The holdings of the seat in turn."""
        return self.seats[self.current]

    def legal(self) -> set[str]:
        """The actions of the seat in turn (R17.3 to R17.9); none when the game is over."""
        if self.over:
            return set()
        return set(getattr(self, f"_{self.phase.lower()}_actions")())

    def _main_actions(self) -> list[str]:
        """R17.3."""
        found = [*self._purchases(), *self._buildings(), *self._scorings()]
        # R3.4, R10.1
        return found or ["RELIEF"]

    def _purchases(self) -> Iterator[str]:
        # R4.1
        if self.bricks_on_wheel() > 0 or self.bag.total() > 0:
            yield "BUY_TURN"
        # R11.1, R11.3
        if self.options["no_turn"] and self._payable_segments():
            yield "BUY_STAY"

    def bricks_on_wheel(self) -> int:
        """All bricks on the six segments."""
        return sum(segment.total() for segment in self.wheel)

    def _payable(self, segment: int) -> list[str]:
        """R4.5, R4.6: the colours of a segment of which the seat can pay a brick."""
        prices = PRICES[SEGMENTS[segment]]
        return [colour for colour in COLOURS if self.wheel[segment][colour] and prices[colour] <= self.seat.coins]

    def _payable_segments(self) -> list[int]:
        return [segment for segment in range(len(SEGMENTS)) if self._payable(segment)]

    def _buildings(self) -> Iterator[str]:
        for tile in self.display | self.monuments:
            if self._sites(tile):
                yield f"TILE {tile}"

    def _sites(self, tile: str) -> list[str]:
        """R5.1, R5.2, R13.3: cities where the tile can be paid in full; R13.4: own buildings that it can replace."""
        cost = TILES[tile]["cost"]
        found = [f"CITY {city}" for city in CITIES if self.seat.accepted(city) >= cost]
        if tile in MONUMENTS:
            for other, city in self.seat.buildings.items():
                # R13.5: a monument cannot be replaced
                if other not in MONUMENTS and self.seat.accepted(city) >= cost - TILES[other]["cost"]:
                    found.append(f"TILE {other}")
        return found

    def _scorings(self) -> Iterator[str]:
        seat = self.seat
        # R6.1
        if self.markers(self.current) == 0:
            return
        # R6.3
        for city, facts in CITIES.items():
            needed = facts["buildings_needed_for_city_scoring"]
            if city not in self.city_scored and len(seat.in_city(city)) >= needed:
                yield f"SCORE_CITY {city}"
        # R6.2
        for kind in TYPES:
            if kind not in seat.types_scored and seat.of_type(kind):
                yield f"SCORE_TYPE {kind}"
        # R14.1
        for group in GROUPS:
            if self.options["colour_scoring"] and group not in seat.groups_scored and seat.of_group(group):
                yield f"SCORE_GROUP {group}"

    def markers(self, number: int) -> int:
        """R6.1: the scoring markers that a seat has left."""
        seat = self.seats[number]
        placed = len(seat.types_scored) + len(seat.groups_scored)
        return MARKERS - placed - list(self.city_scored.values()).count(number)

    def _segment_actions(self) -> list[str]:
        """R4.4, R4.5."""
        return [f"SEGMENT {SEGMENTS[segment]}" for segment in self._payable_segments()]

    def _take_actions(self) -> list[str]:
        """R17.4: white to black; at least one brick (R4.5)."""
        assert self.segment is not None
        first = 0 if self.last_colour is None else COLOURS.index(self.last_colour)
        found = [f"COLOUR {colour}" for colour in self._payable(self.segment) if COLOURS.index(colour) >= first]
        return found + ["DONE"] * (self.bricks_taken > 0)

    def _site_actions(self) -> list[str]:
        """R17.5."""
        assert self.tile is not None
        return self._sites(self.tile)

    def _pay_actions(self) -> list[str]:
        """R17.6: black to white, and so that the rest can still be paid."""
        return [f"COLOUR {colour}" for colour in self._payments()]

    def _payments(self) -> list[str]:
        assert self.site is not None
        found, left = [], 0
        for colour in CITIES[self.site]["accepts"]:
            left += self.seat.bricks[colour]
            in_order = self.last_colour is None or COLOURS.index(colour) <= COLOURS.index(self.last_colour)
            if in_order and self.seat.bricks[colour] and left >= self.to_pay:
                found.append(colour)
        return found

    def _improve_actions(self) -> list[str]:
        """R13.7."""
        barred = {self.site, *self.seat.improvements}
        return [f"IMPROVE {city}" for city in CITIES if self.improvement_stock[city] and city not in barred]

    def _object_actions(self) -> list[str]:
        """R7.1, R7.2."""
        return [f"OBJECT {kind}" for kind in self.object_display] + ["DONE"]

    def _announce_actions(self) -> list[str]:
        """R8.3."""
        return ["ANNOUNCE", "DONE"]

    # --- doing it

    def apply(self, action: str) -> None:
        """Execute an action of the seat in turn, and what follows from it by itself."""
        assert action in self.legal(), f"{action} is not legal in {self.phase}"
        word, _, what = action.partition(" ")
        getattr(self, f"_{self.phase.lower()}")(word, what)

    def _main(self, word: str, what: str) -> None:
        if word == "BUY_TURN":
            self._turn_wheel()
            if self._payable_segments():
                self.phase = "SEGMENT"
            else:
                # R4.7, R10.2
                self.seat.coins += RELIEF
                self._enter_announce()
        elif word == "BUY_STAY":
            # R11.2
            self.phase = "SEGMENT"
        elif word == "TILE":
            self.tile = what
            self.phase = "SITE"
        else:
            if word == "RELIEF":
                # R10.1
                self.seat.coins += RELIEF
            else:
                self._score(word, what)
            self._enter_object()

    def _turn_wheel(self) -> None:
        # R4.2
        self.wheel = [self.wheel[-1], *self.wheel[:-1]]
        # R4.3
        while self.bricks_on_wheel() < DATA["wheel"]["refill_total"] and self.bag.total() > 0:
            self._draw()

    def _score(self, word: str, what: str) -> None:
        """R6, R14."""
        seat = self.seat
        if word == "SCORE_CITY":
            self.city_scored[what] = self.current
            scored = seat.in_city(what)
        elif word == "SCORE_TYPE":
            seat.types_scored.add(what)
            scored = seat.of_type(what)
        else:
            # R14.2, R14.3
            seat.groups_scored.add(what)
            self._pay_out("coins" if what == "city" else "vp", seat.costs(seat.of_group(what)))
            return
        for tile in scored:
            # R6.4, R13.8
            city = seat.buildings[tile]
            multiplier = CITIES[city]["multiplier"] + (city in seat.improvements)
            self._pay_out(CITIES[city]["reward"], TILES[tile]["cost"] * multiplier)
            # R6.5, R6.6
            kind = TILES[tile]["object"]
            if self.object_supply[kind] > 0:
                self.object_supply[kind] -= 1
                seat.objects[kind] += 1

    def _pay_out(self, reward: str, amount: int) -> None:
        if reward == "coins":
            self.seat.coins += amount
        else:
            self.seat.vp += amount

    def _segment(self, word: str, what: str) -> None:
        self.segment = SEGMENTS.index(what)
        self.phase = "TAKE"

    def _take(self, word: str, what: str) -> None:
        if word == "DONE":
            self._enter_object()
            return
        # R4.6
        assert self.segment is not None
        self.seat.coins -= PRICES[SEGMENTS[self.segment]][what]
        self.wheel[self.segment][what] -= 1
        self.seat.bricks[what] += 1
        self.bricks_taken += 1
        self.last_colour = what

    def _site(self, word: str, what: str) -> None:
        assert self.tile is not None
        self.to_pay = TILES[self.tile]["cost"]
        if word == "TILE":
            # R13.4
            self.replaced = what
            self.site = self.seat.buildings[what]
            self.to_pay -= TILES[what]["cost"]
        else:
            self.site = what
        self.phase = "PAY"
        if self.options["payment"] == "auto":
            # R5.3, R17.6: always the poorest
            while self.phase == "PAY":
                self._pay("COLOUR", self._payments()[-1])

    def _pay(self, word: str, what: str) -> None:
        # R5.5
        self.seat.bricks[what] -= 1
        self.bag[what] += 1
        self.to_pay -= 1
        self.last_colour = what
        if self.to_pay == 0:
            self._build()

    def _build(self) -> None:
        assert self.tile is not None
        assert self.site is not None
        # R13.5
        if self.replaced is not None:
            del self.seat.buildings[self.replaced]
        # R5.6
        self.seat.buildings[self.tile] = self.site
        if self.tile in MONUMENTS:
            # R13.2
            self.monuments.remove(self.tile)
            self._enter_improve()
            return
        # R5.7
        self.display.remove(self.tile)
        if self.pile:
            self.display.add(self._turn_up())
        # R8.2
        elif self.options["exhaustion"] == "no_refill" or not self.display:
            self.end_triggered = True
        self._enter_object()

    def _enter_improve(self) -> None:
        """R13.7: mandatory where there is one, else passed over."""
        self.phase = "IMPROVE"
        if not self._improve_actions():
            self._enter_object()

    def _improve(self, word: str, what: str) -> None:
        self.improvement_stock[what] -= 1
        self.seat.improvements.add(what)
        self._enter_object()

    def _enter_object(self) -> None:
        """R17.8."""
        self.phase = "OBJECT"
        if self.seat.coins < OBJECT_PRICE or not self.object_display:
            self._enter_announce()

    def _object(self, word: str, what: str) -> None:
        if word == "OBJECT":
            # R7.2 to R7.4
            self.seat.coins -= OBJECT_PRICE
            self.object_display.remove(what)
            self.seat.objects[what] += 1
        self._enter_announce()

    def _enter_announce(self) -> None:
        """R17.9, R8.7."""
        self.phase = "ANNOUNCE"
        if self.end_triggered or not all(self.objectives(self.current)):
            self._end_turn()

    def _announce(self, word: str, what: str) -> None:
        if word == "ANNOUNCE":
            # R8.5
            self.end_triggered = True
            self.announcer = self.current
            self.seat.vp += DATA["end"]["announce_bonus_vp"]
        self._end_turn()

    def _end_turn(self) -> None:
        if self.current == len(self.seats) - 1:
            self.round += 1
            # R8.6, R8.8
            self.capped = not self.end_triggered and self.round >= self.options["max_rounds"]
            self.over = self.end_triggered or self.capped
        if not self.over:
            self.current = (self.current + 1) % len(self.seats)
            self._begin_turn()

    # --- counting

    def objectives(self, number: int) -> list[bool]:
        """R8.4, R12.3: whether a seat meets the conditions of the top, object and building card."""
        metrics, column = self.metrics(number), len(self.seats) - 2
        return [
            all(metrics[entry["metric"]] >= entry["min"][column] for entry in CARDS[card]["condition"])
            for card in self.cards[:3]
        ]

    def metrics(self, number: int) -> dict[str, int]:
        """All that cards count of a seat (data.json -> metrics)."""
        seat = self.seats[number]
        costs = [TILES[tile]["cost"] for tile in seat.buildings]
        here = Counter(seat.buildings.values())
        kinds = [seat.objects[kind] for kind in OBJECTS]
        country = sum(seat.objects[kind["object"]] for kind in TYPES.values() if kind["group"] == "country")
        city_scorings = list(self.city_scored.values()).count(number)
        own_scorings = len(seat.types_scored) + len(seat.groups_scored)

        def sets(size: int) -> int:
            """R12.5."""
            found = 0
            while sum(min(count, found + 1) for count in kinds) >= size * (found + 1):
                found += 1
            return found

        return {
            "none": 0,
            "scorings": city_scorings + own_scorings,
            "city_scorings": city_scorings,
            "own_scorings": own_scorings,
            "coins": seat.coins,
            "bricks": seat.bricks.total(),
            "brick_pairs": seat.bricks.total() // 2,
            "vp": seat.vp,
            "buildings": len(costs),
            "building_cost": sum(costs),
            "buildings_cost_4_up": sum(cost >= 4 for cost in costs),
            "buildings_cost_5_up": sum(cost >= 5 for cost in costs),
            "cities_built": len(here),
            "types_built": len({TILES[tile]["type"] for tile in seat.buildings}),
            "country_buildings": len(seat.of_group("country")),
            "city_buildings": len(seat.of_group("city")),
            "cost_in_best_three_cities": seat.costs(seat.in_city("livorno", "pisa", "lucca")),
            "buildings_in_lerici": here["lerici"],
            "cities_with_three_buildings": sum(count >= 3 for count in here.values()),
            "unused_markers": self.markers(number),
            "objects": sum(kinds),
            "object_pairs": sum(count // 2 for count in kinds),
            "object_triples": sum(count // 3 for count in kinds),
            "object_sets_3": sets(3),
            "object_sets_4": sets(4),
            "object_sets_5": sets(5),
            "country_objects": country,
            "city_objects": sum(kinds) - country,
        }

    def parts(self, number: int) -> dict[str, int]:
        """R9.1, R12.4: the addends of a seat's total as if the game ended now."""
        metrics = self.metrics(number)
        top, objects, building, bonus = (CARDS[card] for card in self.cards)
        units = {card["deck"]: metrics[card["vp"]["metric"]] for card in (objects, building, bonus)}
        used = units["object"] * DATA["metric_objects_used"][objects["vp"]["metric"]]
        return {
            "track": self.seats[number].vp,
            "objects": objects["vp"]["per"] * units["object"],
            "leftover_objects": metrics["objects"] - used,
            "buildings": building["vp"]["per"] * units["building"],
            "bonus": bonus["vp"]["per"] * units["bonus"],
            "coins": self.seats[number].coins // top.get("coin_rate", DATA["final"]["coins_per_vp"]),
        }

    def points(self) -> list[int]:
        """The total of each seat."""
        return [sum(self.parts(number).values()) for number in range(len(self.seats))]

    def places(self, points: list[int]) -> list[int]:
        """R9.2, R9.3: the places of seats with these totals; bricks break ties, equal ones share a place."""
        worth = [(total, seat.bricks.total()) for total, seat in zip(points, self.seats, strict=True)]
        return [1 + sum(other > own for other in worth) for own in worth]

    # --- what a seat sees

    def observation(self, observer: int) -> list[float]:
        """R18: the features of a seat, those of the other seats in turn order behind its own."""
        count = len(self.seats)
        around = [(observer + step) % count for step in range(count)]
        hands = [self._hand_features(number) for number in around]
        if not self.options["open_holdings"]:
            hands[1:] = []
        flags = [self.options[name] for name in ("no_turn", "cards", "monuments", "colour_scoring")]
        announcer = None if self.announcer is None else around.index(self.announcer)
        features = [
            *_one_hot(count, [2, 3, 4]),
            *flags,
            self.options["exhaustion"] == "all_built",
            *self._choice_features(),
            *(segment[colour] / 7 for segment in self.wheel for colour in COLOURS),
            self.bricks_on_wheel() / 11,
            self.bag.total() == 0,
            *self._tile_features(around),
            len(self.pile) / 21,
            *(kind in self.object_display for kind in OBJECTS),
            *(self.object_supply[kind] / 5 for kind in OBJECTS),
        ]
        for city in CITIES:
            scorer = self.city_scored.get(city)
            features += _one_hot(None if scorer is None else around.index(scorer), [None, 0, 1, 2, 3])
        features += _padded([self._seat_features(number) for number in around], 4, 18)
        features += [*hands[0], *_padded(hands[1:], 3, 13)]
        features += [self.improvement_stock[city] / 2 for city in CITIES]
        features += [card in self.cards for card in CARDS]
        features += self.objectives(observer)
        features += [self.end_triggered, *_one_hot(announcer, [None, 0, 1, 2, 3])]
        features += [self.round / self.options["max_rounds"]]
        return [min(1.0, float(feature)) for feature in features]

    def _choice_features(self) -> list[float]:
        phase = "OVER" if self.over else self.phase
        building, buying = phase in ("SITE", "PAY"), phase == "TAKE"
        chosen = {self.tile, self.replaced} if building else set()
        return [
            *_one_hot(phase, DATA["actions"]["phases"]),
            *(tile in chosen for tile in BY_TYPE_AND_COST),
            *_one_hot(self.site if phase in ("PAY", "IMPROVE") else None, list(CITIES)),
            self.to_pay / 8 if phase == "PAY" else 0,
            *_one_hot(self.segment if buying else None, list(range(6))),
            *_one_hot(self.last_colour if buying or phase == "PAY" else None, COLOURS),
            self.bricks_taken / 11 if buying else 0,
        ]

    def _tile_features(self, around: list[int]) -> Iterator[float]:
        for tile in BY_TYPE_AND_COST:
            owner = next((number for number in around if tile in self.seats[number].buildings), None)
            city = None if owner is None else self.seats[owner].buildings[tile]
            yield tile in self.display or tile in self.monuments
            yield tile in self.pile
            yield from _one_hot(None if owner is None else around.index(owner), [0, 1, 2, 3])
            yield from _one_hot(city, list(CITIES))

    def _seat_features(self, number: int) -> list[float]:
        seat = self.seats[number]
        return [
            seat.vp / 100,
            self.markers(number) / 6,
            *(kind in seat.types_scored for kind in TYPES),
            *(group in seat.groups_scored for group in GROUPS),
            *(city in seat.improvements for city in CITIES),
            number == 0,
            True,
        ]

    def _hand_features(self, number: int) -> list[float]:
        seat = self.seats[number]
        bricks, objects = (seat.bricks[colour] / 7 for colour in COLOURS), (seat.objects[kind] / 6 for kind in OBJECTS)
        return [seat.coins / 50, *bricks, *objects]


BY_TYPE_AND_COST = [f"{kind}{cost}" for kind in TYPES for cost in (1, 2, 3, 4, 5, 8)]


def _one_hot(value: Any, values: list[Any]) -> list[bool]:
    return [value == other for other in values]


def _padded(rows: list[list[float]], count: int, width: int) -> list[float]:
    """The rows in one, filled up with rows of zeros."""
    return [feature for row in [*rows, *[[0.0] * width] * (count - len(rows))] for feature in row]
