"""Hansa Teutonica a second time: the clauses of RULES.md in plain Python, slow and simple.

The second witness of the rules. It shares nothing with the package: the printed data are read from `data.json` beside
this file, what the package keeps in bit sets and tables is looked for on the board each time. Cities, routes and
spaces are called by their numbers in the data, abilities and markers by theirs; a decision is an action number, as
the chapter "Decision points" gives them.

Chance comes from outside (`Chance`): which start marker lies on which tavern and which marker is drawn.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "data.json").read_text(encoding="utf-8"))

OFFSET: dict[str, int] = {block["name"]: block["offset"] for block in DATA["action_space"]["blocks"]}
PLACE = (OFFSET["PLACE_TRADER"], OFFSET["PLACE_MERCHANT"])
ROUTE, SPACE, INCOME, PAY, REWARD = (OFFSET[name] for name in ("ROUTE", "SPACE", "INCOME", "PAY", "REWARD"))
USE_PLUS = {2: OFFSET["USE_PLUS3"], 3: OFFSET["USE_PLUS4"]}
USE_REMOVE3, USE_UPGRADE, USE_SWAP = OFFSET["USE_REMOVE3"], OFFSET["USE_UPGRADE"], OFFSET["USE_SWAP"]
DONE = OFFSET["DONE"]
PAWN = DATA["action_space"]["pawn_extension"]["offset"]

TRADER, MERCHANT = 0, 1
KEYS, ACTIONS, PRIVILEGE, BOOK, MONEY = range(5)
EXTRA_OFFICE, SWAP, PLUS3, PLUS4, UPGRADE, REMOVE3 = range(6)
MARKERS = [marker["key"] for marker in DATA["markers"]["types"]]

# Choices of REWARD.
NONE, ABILITY = REWARD, REWARD + 5
OFFICE = {(end, kind): REWARD + 1 + 2 * end + kind for end in (0, 1) for kind in (0, 1)}
EXTRA = {(end, kind): REWARD + 6 + 2 * end + kind for end in (0, 1) for kind in (0, 1)}
COELLEN = REWARD + 10

# In the order of the observation; the last three with R16.6 only.
PHASES = ["MAIN", "PAY", "DISP_PLACE", "DISP_EXTRA", "DISP_BOARD", "MOVE_DEST", "MOVE_NEXT", "REWARD", "REMOVE3"]
PHASES += ["MOVE3_PICK", "MOVE3_DEST", "MARKER_PLACE", "PAWN_START", "PAWN_BEFORE", "PAWN_AFTER"]

TRACKS: list[list[Any]] = [ability["values"] for ability in DATA["abilities"]]
MAX_DECISIONS = 6000  # R17.3

NUM_ROUTES = OFFSET["SPACE"] - OFFSET["ROUTE"]
NUM_SPACES = OFFSET["INCOME"] - OFFSET["SPACE"]


class Piece(NamedTuple):
    """A resource on the board; kind is TRADER or MERCHANT."""

    owner: int
    kind: int


class Office(NamedTuple):
    """R1.6: a printed place of a city. Colours are numbered from white to black."""

    circle: bool
    colour: int
    coin: int


class City(NamedTuple):
    """A city: its printed offices from left to right and the ability that it develops."""

    name: str
    offices: tuple[Office, ...]
    ability: int | None


class Route(NamedTuple):
    """A route: the two cities at its ends and its spaces, the lowest number first."""

    ends: tuple[int, int]
    spaces: tuple[int, ...]
    tavern: bool


def one_hot(number: int | None, size: int) -> list[float]:
    """All zero for None and for a number outside."""
    return [float(number == place) for place in range(size)]


class Chance(Protocol):
    """R15.3: what the players do not decide."""

    def start_markers(self) -> list[int]:
        """R2.5: the kinds on the three tavern routes, in the order of the routes."""

    def draw(self) -> int:
        """R8.3: the kind of the marker drawn from the pile."""


@dataclass
class Options:
    """R16, with the defaults."""

    edition: str = "original"
    merchant_in_square: bool = True
    east_west: str = "end"
    swap_requires_own: bool = False
    allow_early_end: bool = True
    two_player_pawn: bool = False
    max_rounds: int = 100
    auto_forced: bool = True

    @property
    def bigbox(self) -> bool:
        return self.edition == "bigbox"


@dataclass
class Player:
    """A player's resources [traders, merchants], desk and markers."""

    stock: list[int]
    supply: list[int]
    levels: list[int] = field(default_factory=lambda: [0] * 5)
    markers: Counter[int] = field(default_factory=Counter)  # unused, R10.1
    used: Counter[int] = field(default_factory=Counter)
    plate: list[int] = field(default_factory=list)  # R8.3: in the order of drawing
    face_up: int = 0  # R10.8.4: so many of the plate, from the front
    prestige: int = 0

    def value(self, ability: int) -> Any:
        return TRACKS[ability][self.levels[ability]]

    def fully_open(self, ability: int) -> bool:
        return self.levels[ability] == len(TRACKS[ability]) - 1

    def collected(self) -> int:
        """R13.4: markers on the plate do not count."""
        return self.markers.total() + self.used.total()

    def take(self, kind: int) -> None:
        """Take a resource from the supply."""
        assert self.supply[kind] > 0
        self.supply[kind] -= 1


class Board:
    """R1.1: one side of the board."""

    def __init__(self, num_players: int) -> None:
        side = DATA["boards"][DATA["setup"]["board_by_players"][str(num_players)]]
        colours = DATA["privilege_order"]
        abilities = [ability["key"] for ability in DATA["abilities"]]
        self.cities = {}
        for city in side["cities"]:
            offices = [
                Office(o["shape"] == "circle", colours.index(o["privilege"]), o["coin"]) for o in city["offices"]
            ]
            ability = None if city["ability"] is None else abilities.index(city["ability"])
            self.cities[city["id"]] = City(city["key"], tuple(offices), ability)
        self.routes = {r["id"]: Route(tuple(r["cities"]), tuple(r["space_ids"]), r["tavern"]) for r in side["routes"]}
        self.route_of: dict[int, int] = {
            space: number for number, route in self.routes.items() for space in route.spaces
        }
        self.number = {city.name: number for number, city in self.cities.items()}
        self.east_west = {self.number[name] for name in DATA["east_west"]["cities"]}
        self.coellen = next(r["id"] for r in side["routes"] if r["key"] == DATA["coellen"]["route"])

    def neighbours(self, routes: Iterable[int]) -> set[int]:
        """The routes that share a city with one of these (R6.3), these among them."""
        cities = {city for route in routes for city in self.routes[route].ends}
        return {number for number, route in self.routes.items() if cities & set(route.ends)}

    def groups(self, cities: Iterable[int]) -> list[set[int]]:
        """The cities in groups that hang together by routes (R11.1, R13.7)."""
        rest, found = set(cities), []
        while rest:
            group = {rest.pop()}
            while True:
                near = {city for route in self.routes.values() if group & set(route.ends) for city in route.ends}
                if not near & rest:
                    break
                group |= near & rest
                rest -= near
            found.append(group)
        return found


class Reference:
    """A game. `legal` gives the decisions of `seat`, `apply` makes one and whatever follows without a decision."""

    def __init__(self, num_players: int, chance: Chance, **options: Any) -> None:
        """R2: the position before the first decision."""
        self.options = Options(**options)
        self.num_players = num_players
        self.chance = chance
        self.board = Board(num_players)
        self.edition = DATA["markers"]["editions"][self.options.edition]
        assert num_players == 2 or not self.options.two_player_pawn, "R16.6"

        setup = DATA["setup"]
        stocks, supplies = setup["stock_traders_by_seat"], setup["supply_traders_by_seat"]
        self.players = [
            Player([stocks[seat], setup["stock_merchants"]], [supplies[seat], setup["supply_merchants"]])
            for seat in range(num_players)
        ]
        self.spaces: dict[int, Piece | None] = dict.fromkeys(self.board.route_of)
        self.offices: dict[int, list[Piece | None]] = {c: [None] * len(v.offices) for c, v in self.board.cities.items()}
        self.extras: dict[int, list[Piece]] = {city: [] for city in self.board.cities}  # the first stands rightmost
        self.circles: list[int | None] = [None] * len(DATA["coellen"]["spots"])  # R8.7: seats
        self.east_west: list[int] = []  # R11.2: seats in the order of completion
        self.completed = 0

        taverns = [number for number, route in self.board.routes.items() if route.tavern]
        start = chance.start_markers()
        assert Counter(start) == Counter(MARKERS.index(key) for key in setup["start_markers"])
        self.route_markers: dict[int, int] = dict(zip(taverns, start, strict=True))
        self.pile = Counter({MARKERS.index(key): n for key, n in self.edition["pile_counts"].items()})

        self.turn_player = 0
        self.turns = 0  # finished
        self.optionless = False  # R17.1: the turn began without an option
        self.stall = 0  # so many of the last turns did
        self.decisions = 0  # R17.3: with at least two options
        self.end_reason: str | None = None
        self.phase = ""
        self.actions_left = 0
        self.pawn: int | None = None
        self.pawn_moved = False
        self._no_context()
        if self.options.two_player_pawn:
            self.turn_player = 1  # R16.6.1
            self.phase = "PAWN_START"
        else:
            self.begin_turn()

    def _no_context(self) -> None:
        """What belongs to one action or marker."""
        self.route: int | None = None  # of the displacement or of the establishing
        self.space: int | None = None  # where `held` lies until it is put down
        self.held: Piece | None = None  # the piece that is being displaced, lifted or moved
        self.victim: int | None = None  # R6.3: the owner of the displaced piece
        self.moves_left = self.removals_left = self.extras_left = 0
        self.ring: set[int] = set()  # R6.5: the ring before lifting
        self.taken: int | None = None  # R8.3: the marker that waits for the end of the action
        self.draw_failed = False  # R12.1 (b)

    # --- what stands

    @property
    def over(self) -> bool:
        return self.end_reason is not None

    @property
    def me(self) -> Player:
        """The player whose turn it is."""
        return self.players[self.turn_player]

    @property
    def seat(self) -> int | None:
        """Who decides (R3.8); None when the game is over."""
        if self.over:
            return None
        return self.victim if self.phase in ("DISP_PLACE", "DISP_EXTRA", "DISP_BOARD") else self.turn_player

    def on(self, route: int) -> list[Piece]:
        """The resources on a route."""
        return [piece for space in self.board.routes[route].spaces if (piece := self.spaces[space]) is not None]

    def open_routes(self) -> set[int]:
        """The routes with a free space."""
        return {self.board.route_of[space] for space, piece in self.spaces.items() if piece is None}

    def row(self, city: int) -> list[Piece]:
        """The resources of a city from left to right: extra offices, the latest first, then the printed ones (R9.2)."""
        return self.extras[city][::-1] + [piece for piece in self.offices[city] if piece is not None]

    def controller(self, city: int) -> int | None:
        """R9: the highest count; of equals the one whose rightmost resource stands further right."""
        owners = [piece.owner for piece in self.row(city)]
        last = {owner: place for place, owner in enumerate(owners)}
        return max(last, key=lambda owner: (owners.count(owner), last[owner]), default=None)

    def present(self, seat: int) -> set[int]:
        """The cities with an office of the seat."""
        return {city for city in self.board.cities if any(piece.owner == seat for piece in self.row(city))}

    def network(self, seat: int) -> int:
        """R13.7: the offices of the largest network."""
        groups = self.board.groups(self.present(seat))
        return max((sum(piece.owner == seat for c in group for piece in self.row(c)) for group in groups), default=0)

    def nearest_ring(self, route: int) -> set[int]:
        """R6.3: of the rings around the route the first with a free space, its routes with a free space."""
        free = self.open_routes() - {route}
        reached = {route}
        while True:
            further = self.board.neighbours(reached)
            if further & free or further == reached:
                return further & free
            reached = further

    def full_city(self, city: int) -> bool:
        return None not in self.offices[city]

    # --- scoring

    def score(self, seat: int) -> dict[str, int]:
        """R13: the parts as the position stands."""
        player = self.players[seat]
        rank = self.east_west.index(seat) if seat in self.east_west else None
        late = self.options.east_west == "end" and rank is not None and rank < len(DATA["east_west"]["points"])
        table = DATA["markers"]["score_table"]
        parts = {
            "track": player.prestige,
            "east_west": DATA["east_west"]["points"][rank] if late else 0,
            "abilities": sum(a["final_bonus"] for a in DATA["abilities"] if player.fully_open(a["id"])),
            "markers": table[min(player.collected(), len(table) - 1)],
            "coellen": sum(
                s["points"] for s, owner in zip(DATA["coellen"]["spots"], self.circles, strict=True) if owner == seat
            ),
            "cities": 2 * sum(self.controller(city) == seat for city in self.board.cities),
            "network": self.network(seat) * player.value(KEYS),
        }
        return {**parts, "total": sum(parts.values())}

    def points(self) -> list[int]:
        return [self.score(seat)["total"] for seat in range(self.num_players)]

    def places(self) -> list[int]:
        """R14."""
        points = self.points()
        return [1 + sum(other > own for other in points) for own in points]

    # --- decisions

    def legal(self) -> list[int]:
        """The legal decisions, ascending; none when the game is over."""
        if self.over:
            return []
        options: dict[str, Callable[[], list[int]]] = {
            "MAIN": self._main_options,
            "PAY": self._pay_options,
            "DISP_PLACE": lambda: self._puts(self.nearest_ring(self._action_route())),
            "DISP_EXTRA": lambda: [*self._extra_options(), DONE],
            "DISP_BOARD": lambda: self._puts(self.ring - {self._held_route()}),
            "MOVE_DEST": self._destination_options,
            "MOVE_NEXT": lambda: [*self._movable(), DONE],
            "REWARD": self._reward_options,
            "REMOVE3": lambda: self._removal_options(self._choices(lambda route, piece: True)),
            "MOVE3_PICK": lambda: self._removal_options(self._pushable()),
            "MOVE3_DEST": lambda: self._puts(self.open_routes() - {self._held_route()}),
            "MARKER_PLACE": lambda: self._puts(self._marker_routes()),
            "PAWN_START": lambda: [PAWN + province["id"] for province in DATA["two_player_pawn"]["provinces"]],
            "PAWN_BEFORE": lambda: [*self._pawn_options(2), DONE],
            "PAWN_AFTER": lambda: [*self._pawn_options(2), DONE],
        }
        return sorted(options[self.phase]())

    def apply(self, action: int) -> None:
        """Make one decision and go on to the next one."""
        legal = self.legal()
        assert action in legal, (self.phase, action)
        self.decisions += len(legal) > 1
        consequences: dict[str, Callable[[int], None]] = {
            "MAIN": self._main,
            "PAY": self._pay,
            "DISP_PLACE": self._displaced,
            "DISP_EXTRA": self._extra,
            "DISP_BOARD": self._lifted,
            "MOVE_DEST": self._moved,
            "MOVE_NEXT": self._move_next,
            "REWARD": self._reward,
            "REMOVE3": self._remove,
            "MOVE3_PICK": self._push,
            "MOVE3_DEST": self._pushed,
            "MARKER_PLACE": self._place_marker,
            "PAWN_START": self._pawn_start,
            "PAWN_BEFORE": self._pawn_before,
            "PAWN_AFTER": self._pawn_after,
        }
        consequences[self.phase](action)

    def play(self, action: int) -> None:
        """A decision and those behind it that are not asked."""
        self.apply(action)
        self.settle()

    def settle(self) -> None:
        """R16.8: make the decisions that leave no choice, if the option says so."""
        while self.options.auto_forced and len(legal := self.legal()) == 1:
            self.apply(legal[0])

    def _action_route(self) -> int:
        assert self.route is not None
        return self.route

    def _held_route(self) -> int:
        assert self.space is not None
        return self.board.route_of[self.space]

    @staticmethod
    def _puts(routes: Iterable[int]) -> list[int]:
        return [ROUTE + route for route in routes]

    def _choices(self, wanted: Callable[[int, Piece], bool]) -> list[int]:
        """SPACE of the resources that are wanted; of equal ones on one route the lowest-numbered stands for all."""
        found = []
        for number, route in self.board.routes.items():
            seen: set[Piece] = set()
            for space in route.spaces:
                piece = self.spaces[space]
                if piece is not None and piece not in seen and wanted(number, piece):
                    found.append(SPACE + space)
                    seen.add(piece)
        return found

    def _put(self, piece: Piece, route: int) -> None:
        """R5.2: on the lowest-numbered free space."""
        space = min(space for space in self.board.routes[route].spaces if self.spaces[space] is None)
        self.spaces[space] = piece

    def _pick(self, space: int) -> None:
        """Remember a piece that is going to leave its space."""
        self.space, self.held = space, self.spaces[space]

    def _set_down(self, route: int) -> None:
        """Put the piece in hand on another route."""
        assert self.space is not None
        assert self.held is not None
        self._put(self.held, route)
        self.spaces[self.space] = None
        self.space = self.held = None

    # --- R3: turns

    def begin_turn(self) -> None:
        """The turn of `turn_player` begins."""
        self.actions_left = self.me.value(ACTIONS)  # R3.2
        self.phase = "PAWN_BEFORE" if self.options.two_player_pawn else "MAIN"
        self.optionless = self.legal() == [DONE]  # R17.1

    def _back_to_main(self) -> None:
        self._no_context()
        self.phase = "MAIN"

    def _end_turn(self) -> None:
        """R3.6: the markers on the plate come up and are placed."""
        self.actions_left = 0
        self.me.face_up = len(self.me.plate)
        if self.me.plate and self._marker_routes():
            self.phase = "MARKER_PLACE"
        else:
            self._next_turn()

    def _next_turn(self) -> None:
        self.turns += 1
        self.stall = self.stall + 1 if self.optionless else 0
        self.optionless = self.pawn_moved = False
        if self.stall >= self.num_players:
            self.end_reason = "stall"  # R17.1
        elif self.turns >= self.options.max_rounds * self.num_players or self.decisions >= MAX_DECISIONS:
            self.end_reason = "cap"  # R17.2, R17.3
        else:
            self.turn_player = (self.turn_player + 1) % self.num_players
            self.begin_turn()

    def _main_options(self) -> list[int]:
        actions = self._action_options() if self.actions_left else []
        if self.options.allow_early_end or not actions:
            return [*actions, *self._marker_options(), DONE]  # R3.4, R16.5
        return [*actions, *self._marker_options()]

    def _action_options(self) -> list[int]:
        """R3.3: the actions that can be begun."""
        allowed = self._allowed_routes()
        places = [PLACE[k] + r for k in (TRADER, MERCHANT) if self.me.supply[k] for r in self.open_routes() & allowed]
        owned = [r for r in allowed - self.open_routes() if {piece.owner for piece in self.on(r)} == {self.turn_player}]
        moves = self._movable(self.me.value(BOOK))
        targets = self._choices(lambda route, piece: route in allowed and self._displaceable(route, piece))
        pawn = self._pawn_options(1) if self.options.two_player_pawn else []
        return [*places, *self._puts(owned), *moves, *targets, *self._income_options(), *pawn]

    def _allowed_routes(self) -> set[int]:
        """R16.6.4: Place, Displace and Establish on the routes at the pawn's province only."""
        if self.pawn is None:
            return set(self.board.routes)
        return set(DATA["two_player_pawn"]["provinces"][self.pawn]["routes"])

    def _own(self, route: int, kind: int) -> int:
        """How many resources of a kind the player has on a route."""
        return self.on(route).count(Piece(self.turn_player, kind))

    def _main(self, action: int) -> None:
        if action == DONE:
            if self.options.two_player_pawn and not self.pawn_moved:
                self.actions_left = 0
                self.phase = "PAWN_AFTER"  # R16.6.3
            else:
                self._end_turn()
        elif USE_PLUS[PLUS3] <= action < DONE:
            self._use_marker(action)
        else:
            self.actions_left -= 1
            if action < ROUTE:  # R5
                kind = int(action >= PLACE[MERCHANT])
                self.me.take(kind)
                self._put(Piece(self.turn_player, kind), action - PLACE[kind])
            elif action < SPACE:
                self._establish(action - ROUTE)
            elif action < INCOME:
                self._begin_with(action - SPACE)
            elif action < PAWN:
                self._income(action - INCOME)
            else:
                self.pawn = action - PAWN  # R16.6.4

    # --- R4: Income

    def _income_options(self) -> list[int]:
        """R4.2, R4.3: by the number of merchants."""
        traders, merchants = self.me.stock
        value = self.me.value(MONEY)
        if value == "all":
            return [INCOME + merchants] if traders + merchants else []
        return [INCOME + m for m in range(min(merchants, value) + 1) if m + min(traders, value - m) > 0]

    def _income(self, merchants: int) -> None:
        value = self.me.value(MONEY)
        traders = self.me.stock[TRADER]
        if value != "all":
            traders = min(traders, value - merchants)
        for kind, number in ((TRADER, traders), (MERCHANT, merchants)):
            self.me.stock[kind] -= number
            self.me.supply[kind] += number

    # --- R6: Displace

    def _displaceable(self, route: int, piece: Piece) -> bool:
        """R6.1: it is another's, and piece and fee are there; R6.7: it can go somewhere."""
        affordable = sum(self.me.supply) >= 2 + piece.kind
        return piece.owner != self.turn_player and affordable and bool(self.open_routes() - {route})

    def _begin_with(self, space: int) -> None:
        """A space chosen in MAIN: the first move of an own resource, or the displacement of another's."""
        self._pick(space)
        assert self.held is not None
        if self.held.owner == self.turn_player:
            self.moves_left = self.me.value(BOOK)
            self.phase = "MOVE_DEST"
        else:
            self.route = self._held_route()
            self.victim = self.held.owner
            self.extras_left = 1 + self.held.kind  # R6.4
            self.phase = "PAY"

    def _pay_options(self) -> list[int]:
        """R6.2: the kind of the piece placed and the merchants in the fee."""
        assert self.held is not None
        fee = 1 + self.held.kind
        traders, merchants = self.me.supply
        return [
            PAY + 3 * kind + paid
            for kind in (TRADER, MERCHANT)
            for paid in range(fee + 1)
            if traders >= (kind == TRADER) + fee - paid and merchants >= (kind == MERCHANT) + paid
        ]

    def _pay(self, action: int) -> None:
        """R6.2: the place is taken, the fee goes to the own stock."""
        assert self.held is not None
        assert self.space is not None
        kind, merchants = divmod(action - PAY, 3)
        self.me.take(kind)
        self.spaces[self.space] = Piece(self.turn_player, kind)
        for paid, number in ((TRADER, 1 + self.held.kind - merchants), (MERCHANT, merchants)):
            self.me.supply[paid] -= number
            self.me.stock[paid] += number
        self.space = None
        self.phase = "DISP_PLACE"

    def _displaced(self, action: int) -> None:
        """R6.3."""
        assert self.held is not None
        self._put(self.held, action - ROUTE)
        self.held = None
        self._offer_extra()

    def _offer_extra(self) -> None:
        """R6.4, R6.8: the owner is asked as long as something can be added."""
        if self.extras_left and self._extra_options():
            self.phase = "DISP_EXTRA"
        else:
            self._back_to_main()

    def _source(self) -> list[int] | None:
        """R6.5: where the next extra comes from; None: from the board."""
        assert self.victim is not None
        owner = self.players[self.victim]
        return next((source for source in (owner.stock, owner.supply) if sum(source)), None)

    def _extra_options(self) -> list[int]:
        """R6.5, without the refusal."""
        ring = self.nearest_ring(self._action_route())
        source = self._source()
        if source is not None:
            return [PLACE[kind] + route for kind in (TRADER, MERCHANT) if source[kind] for route in ring]
        return self._choices(lambda route, piece: piece.owner == self.victim and bool(ring - {route}))

    def _extra(self, action: int) -> None:
        assert self.victim is not None
        if action == DONE:  # R6.6
            self._back_to_main()
        elif action < ROUTE:
            kind = int(action >= PLACE[MERCHANT])
            source = self._source()
            assert source is not None
            source[kind] -= 1
            self._put(Piece(self.victim, kind), action - PLACE[kind])
            self.extras_left -= 1
            self._offer_extra()
        else:
            self.ring = self.nearest_ring(self._action_route())
            self._pick(action - SPACE)
            self.phase = "DISP_BOARD"

    def _lifted(self, action: int) -> None:
        self._set_down(action - ROUTE)
        self.extras_left -= 1
        self._offer_extra()

    # --- R7: Move

    def _movable(self, moves: int | None = None) -> list[int]:
        """Own resources with somewhere to go: a free space (R7.2), or an exchange while two moves are left (R7.3)."""
        left = self.moves_left if moves is None else moves
        free = self.open_routes()

        def movable(route: int, piece: Piece) -> bool:
            somewhere = free - {route} or (left >= 2 and self._partners(route, piece))
            return piece.owner == self.turn_player and bool(somewhere)

        return self._choices(movable)

    def _partners(self, route: int, piece: Piece) -> list[int]:
        """R7.3: own resources of the other kind on other routes."""
        return self._choices(lambda where, other: where != route and other == Piece(piece.owner, 1 - piece.kind))

    def _destination_options(self) -> list[int]:
        assert self.held is not None
        route = self._held_route()
        exchanges = self._partners(route, self.held) if self.moves_left >= 2 else []
        return [*self._puts(self.open_routes() - {route}), *exchanges]

    def _moved(self, action: int) -> None:
        if action < SPACE:
            self._set_down(action - ROUTE)
            self.moves_left -= 1
        else:
            assert self.space is not None
            other = action - SPACE
            self.spaces[self.space], self.spaces[other] = self.spaces[other], self.spaces[self.space]
            self.space = self.held = None
            self.moves_left -= 2
        if self.moves_left and self._movable():
            self.phase = "MOVE_NEXT"
        else:
            self._back_to_main()

    def _move_next(self, action: int) -> None:
        if action == DONE:
            self._back_to_main()
        else:
            self._pick(action - SPACE)
            self.phase = "MOVE_DEST"

    # --- R8: Establish a trade route

    def _establish(self, route: int) -> None:
        for city in self.board.routes[route].ends:  # R8.2, step A
            controller = self.controller(city)
            if controller is not None:
                self.players[controller].prestige += 1
        self.taken = self.route_markers.pop(route, None)  # R8.3, step B
        if self.taken is not None:
            if self.pile.total():
                drawn = self.chance.draw()
                assert self.pile[drawn] > 0
                self.pile[drawn] -= 1
                self.me.plate.append(drawn)
            else:
                self.draw_failed = True
        self.route = route
        self.phase = "REWARD"

    def _reward_options(self) -> list[int]:
        """R8.4, step C."""
        route = self._action_route()
        found = [NONE]  # R8.8
        for end, city in enumerate(self.board.routes[route].ends):
            for kind in (TRADER, MERCHANT):
                if self._own(route, kind) and self._fits(city, kind):
                    found.append(OFFICE[end, kind])
                if self._own(route, kind) and self.me.markers[EXTRA_OFFICE] and any(self.offices[city]):  # R10.3
                    found.append(EXTRA[end, kind])
            ability = self.board.cities[city].ability
            if ability is not None and not self.me.fully_open(ability):  # R8.6
                found.append(ABILITY)
        if route == self.board.coellen and self._own(route, MERCHANT):  # R8.7
            colours = [DATA["privilege_order"].index(spot["privilege"]) for spot in DATA["coellen"]["spots"]]
            free = [spot for spot, owner in enumerate(self.circles) if owner is None]
            found += [COELLEN + spot for spot in free if self.me.levels[PRIVILEGE] >= colours[spot]]
        return found

    def _fits(self, city: int, kind: int) -> bool:
        """R8.5: the leftmost free printed office takes the kind, and the privilege is enough."""
        if self.full_city(city):
            return False
        office = self.board.cities[city].offices[self.offices[city].index(None)]
        in_square = not office.circle and (kind == TRADER or self.options.merchant_in_square)  # R16.2
        in_circle = office.circle and kind == MERCHANT
        return (in_square or in_circle) and self.me.levels[PRIVILEGE] >= office.colour

    def _reward(self, action: int) -> None:
        """Step C, what is left of the route (R8.9), the taken marker (R10.2), the end (R12)."""
        route = self._action_route()
        rest = Counter(piece.kind for piece in self.on(route))
        for space in self.board.routes[route].spaces:
            self.spaces[space] = None
        for (end, kind), choice in OFFICE.items():
            if action == choice:
                self._open_office(self.board.routes[route].ends[end], kind)
                rest[kind] -= 1
        for (end, kind), choice in EXTRA.items():
            if action == choice:  # R10.3
                self.extras[self.board.routes[route].ends[end]].append(Piece(self.turn_player, kind))
                self._turn_over(EXTRA_OFFICE)
                rest[kind] -= 1
        if action >= COELLEN:
            self.circles[action - COELLEN] = self.turn_player
            rest[MERCHANT] -= 1
        for kind in (TRADER, MERCHANT):
            self.me.stock[kind] += rest[kind]
        if action == ABILITY:
            abilities = (self.board.cities[city].ability for city in self.board.routes[route].ends)
            self._develop(next(ability for ability in abilities if ability is not None))
        if action in OFFICE.values() or action in EXTRA.values():
            self._check_east_west()
        if self.taken is not None:
            self.me.markers[self.taken] += 1
        self._check_end()
        self._back_to_main()

    def _open_office(self, city: int, kind: int) -> None:
        place = self.offices[city].index(None)
        self.offices[city][place] = Piece(self.turn_player, kind)
        self.me.prestige += self.board.cities[city].offices[place].coin  # R8.5.4
        self.completed += self.full_city(city)  # R8.10

    def _develop(self, ability: int) -> None:
        """R8.6, R10.6: the leftmost closed resource to the supply; R3.2: more actions at once."""
        before = self.me.value(ACTIONS)
        self.me.levels[ability] += 1
        self.me.supply[MERCHANT if DATA["abilities"][ability]["piece"] == "merchant" else TRADER] += 1
        self.actions_left += self.me.value(ACTIONS) - before

    def _check_east_west(self) -> None:
        """R11."""
        seat = self.turn_player
        linked = any(self.board.east_west <= group for group in self.board.groups(self.present(seat)))
        if linked and seat not in self.east_west:
            points = DATA["east_west"]["points"]
            if self.options.east_west == "immediate" and len(self.east_west) < len(points):  # R16.3
                self.me.prestige += points[len(self.east_west)]
            self.east_west.append(seat)

    def _check_end(self) -> None:
        """R12.1."""
        triggers = DATA["end_triggers"]
        if self.draw_failed:
            self.end_reason = "markers"
        elif max(player.prestige for player in self.players) >= triggers["prestige_points"]:
            self.end_reason = "prestige"
        elif self.completed >= triggers["completed_cities"]:
            self.end_reason = "cities"

    # --- R10: markers

    def _marker_options(self) -> list[int]:
        """What of the own markers can be used between actions."""
        held = self.me.markers
        found = [action for kind, action in USE_PLUS.items() if held[kind]]
        if held[REMOVE3] and (self._pushable() if self.options.bigbox else any(self.spaces.values())):
            found.append(USE_REMOVE3)
        if held[UPGRADE]:
            found += [USE_UPGRADE + ability for ability in range(5) if not self.me.fully_open(ability)]
        if held[SWAP]:
            found += [USE_SWAP + pair["id"] for pair in DATA["swap_pairs"] if self._swappable(pair)]
        return found

    def _swappable(self, pair: dict[str, int]) -> bool:
        """R10.4, R16.4."""
        two = self.offices[pair["city"]][pair["left_office"] :][:2]
        owners = {piece.owner for piece in two if piece is not None}
        return len(owners) == 2 and (self.turn_player in owners or not self.options.swap_requires_own)

    def _turn_over(self, kind: int) -> None:
        """R10.2."""
        assert self.me.markers[kind] > 0
        self.me.markers[kind] -= 1
        self.me.used[kind] += 1

    def _use_marker(self, action: int) -> None:
        if action == USE_PLUS[PLUS3]:  # R10.5
            self._turn_over(PLUS3)
            self.actions_left += 3
        elif action == USE_PLUS[PLUS4]:
            self._turn_over(PLUS4)
            self.actions_left += 4
        elif action == USE_REMOVE3:  # R10.7, R16.1
            self._turn_over(REMOVE3)
            self.removals_left = 3
            self.phase = "MOVE3_PICK" if self.options.bigbox else "REMOVE3"
        elif action < USE_SWAP:  # R10.6
            self._turn_over(UPGRADE)
            self._develop(action - USE_UPGRADE)
        else:  # R10.4
            self._turn_over(SWAP)
            pair = DATA["swap_pairs"][action - USE_SWAP]
            row, left = self.offices[pair["city"]], pair["left_office"]
            row[left], row[left + 1] = row[left + 1], row[left]

    def _removal_options(self, spaces: list[int]) -> list[int]:
        """R10.7: at least one, up to three."""
        return spaces if self.removals_left == 3 else [*spaces, DONE]

    def _remove(self, action: int) -> None:
        """R10.7: back to the owner's supply."""
        if action != DONE:
            piece = self.spaces[action - SPACE]
            assert piece is not None
            self.players[piece.owner].supply[piece.kind] += 1
            self.spaces[action - SPACE] = None
            self.removals_left -= 1
        if action == DONE or not self.removals_left or not any(self.spaces.values()):
            self._back_to_main()

    def _pushable(self) -> list[int]:
        """R16.1: resources of opponents with a free space on another route."""
        free = self.open_routes()
        return self._choices(lambda route, piece: piece.owner != self.turn_player and bool(free - {route}))

    def _push(self, action: int) -> None:
        if action == DONE:
            self._back_to_main()
        else:
            self._pick(action - SPACE)
            self.phase = "MOVE3_DEST"

    def _pushed(self, action: int) -> None:
        self._set_down(action - ROUTE)
        self.removals_left -= 1
        if self.removals_left and self._pushable():
            self.phase = "MOVE3_PICK"
        else:
            self._back_to_main()

    def _marker_routes(self) -> set[int]:
        """R10.8.1 to R10.8.3."""
        return {
            number
            for number, route in self.board.routes.items()
            if number not in self.route_markers
            and not self.on(number)
            and not all(self.full_city(city) for city in route.ends)
        }

    def _place_marker(self, action: int) -> None:
        self.route_markers[action - ROUTE] = self.me.plate.pop(0)
        self._end_turn()

    # --- R16.6: the pawn

    def _pawn_options(self, borders: int) -> list[int]:
        """The other provinces within so many borders."""
        assert self.pawn is not None
        provinces = DATA["two_player_pawn"]["provinces"]
        reached = {self.pawn}
        for _ in range(borders):
            reached |= {other for province in reached for other in provinces[province]["adjacent"]}
        return [PAWN + province for province in reached - {self.pawn}]

    def _pawn_start(self, action: int) -> None:
        self.pawn = action - PAWN
        self.turn_player = 0
        self.begin_turn()

    def _pawn_before(self, action: int) -> None:
        """R16.6.2."""
        if action != DONE:
            self.pawn = action - PAWN
            self.pawn_moved = True
        self.phase = "MAIN"

    def _pawn_after(self, action: int) -> None:
        """R16.6.3."""
        if action != DONE:
            self.pawn = action - PAWN
        self._end_turn()

    # --- the observation

    def observation(self, viewer: int) -> list[float]:
        """The vector of the chapter "Observation" for a seat, each value clipped at 1."""
        numbers: list[float] = []
        for space in range(NUM_SPACES):
            piece = self.spaces.get(space)
            owner, kind = piece if piece is not None else (None, TRADER)
            numbers += [*self._owner(owner, viewer), kind]
        for route in range(NUM_ROUTES):
            numbers += one_hot(self.route_markers.get(route), len(MARKERS))
        for city in self.board.cities:
            for place in range(4):
                piece = dict(enumerate(self.offices[city])).get(place)
                numbers += self._owner(None if piece is None else piece.owner, viewer)
            owners = Counter((piece.owner - viewer) % self.num_players for piece in self.extras[city])
            numbers += [owners[relative] / 5 for relative in range(5)]
            numbers += self._owner(self.controller(city), viewer)
        for owner in self.circles:
            numbers += self._owner(owner, viewer)
        for relative in range(5):
            absent = relative >= self.num_players
            numbers += [0.0] * 23 if absent else self._player_numbers((viewer + relative) % self.num_players)
        numbers += self._global_numbers()
        numbers += [0.0] * 64 if self.over else self._context_numbers(viewer)
        if self.options.two_player_pawn:
            pawn_phase = None if self.over or not self.phase.startswith("PAWN") else PHASES.index(self.phase) - 12
            numbers += [*one_hot(self.pawn, 13), *one_hot(pawn_phase, 3), float(self.pawn_moved)]
        return [min(number, 1.0) for number in numbers]

    def _owner(self, seat: int | None, viewer: int) -> list[float]:
        return one_hot(None if seat is None else (seat - viewer) % self.num_players, 5)

    def _player_numbers(self, seat: int) -> list[float]:
        player = self.players[seat]
        counts = self.edition["counts"]
        rank = self.east_west.index(seat) if seat in self.east_west else None
        return [
            player.stock[TRADER] / 26,
            player.stock[MERCHANT] / 4,
            player.supply[TRADER] / 26,
            player.supply[MERCHANT] / 4,
            *(level / (len(TRACKS[ability]) - 1) for ability, level in enumerate(player.levels)),
            *(player.markers[kind] / counts[key] for kind, key in enumerate(MARKERS)),
            player.used.total() / 16,
            player.prestige / 20,
            len(player.plate) / 3,
            *one_hot(rank, 3),
            float(seat == self.turn_player),
            self.network(seat) / 30,
        ]

    def _global_numbers(self) -> list[float]:
        """R15: the markers that nobody has seen are those of the pile and the plates' faces that are still down."""
        unseen = self.pile + Counter(kind for player in self.players for kind in player.plate[player.face_up :])
        return [
            self.pile.total() / self.edition["pile_size"],
            *(unseen[kind] / self.edition["counts"][key] for kind, key in enumerate(MARKERS)),
            self.completed / 10,
            self.turns // self.num_players / self.options.max_rounds,
            *one_hot(self.num_players - 2, 4),
            float(self.num_players > 3),
        ]

    def _context_numbers(self, viewer: int) -> list[float]:
        held, marker = self.held, self.taken
        if self.phase == "MARKER_PLACE":
            marker = self.me.plate[0]
        owner = self.victim
        if self.phase == "MOVE3_DEST" and held is not None:
            owner = held.owner
        return [
            *one_hot(PHASES.index(self.phase), 12),
            self.actions_left / 19,
            self.moves_left / 5,
            self.removals_left / 3,
            self.extras_left / 2,
            float(held is not None and held.kind),
            float(held is not None or self.draw_failed),
            *one_hot(self.route if self.space is None else self._held_route(), NUM_ROUTES),
            *self._owner(owner, viewer),
            *one_hot(marker, len(MARKERS)),
            (1 + held.kind) / 2 if self.phase == "PAY" and held is not None else 0.0,
        ]
