"""The compiled core against `reference.py`, the rulebook's clauses in plain Python.

First the reference shows by the worked cases and the stored game that it can be trusted. Then both play the same games:
dealt ones, for which the reference is told the order of the decks and the start player that the core drew, and arranged
ones, which begin with all cards spread over hands, displays and stacks, so that play comes to what it seldom reaches.
Every node is asked, also with one option. At each the legal actions, all that lies on the table or in hands, what the
turn remembers, the points and the places must agree, and the core's invariants hold behind each automatic step.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from games.london import reference
from games.london.reference import (
    BOROUGH_NUMBERS,
    BOROUGHS,
    CARD_NUMBERS,
    CARDS,
    DECK,
    DONE,
    RUN_CITY,
    SETUP,
    SLOT,
    TAKE_THREE,
    Table,
    choice_action,
)

from tabletop_envs import casebook, registry
from tabletop_envs.core import jit, loops, record
from tabletop_envs.core.game import Game
from tabletop_envs.core.header import NOBODY, RUNNING
from tabletop_envs.games.london import cases, state

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = [case for case in casebook.load(HERE / "cases.json") if "setup" in case]


def settle(table: Table) -> None:
    """Answer what has one answer (R14.2)."""
    while len(table.legal()) == 1:
        table.apply(next(iter(table.legal())))


# --- the reference by itself ------------------------------------------------------------------------------------


def names(cards: Any) -> list[str]:
    return [CARDS[card].name for card in cards]


def facts(table: Table) -> dict[str, Any]:
    """The position in the notation of the cases' expectations."""
    results = table.final()
    return {
        "node": table.node,
        "current": table.current,
        "display": [[None if card is None else CARDS[card].name for card in row] for row in table.display],
        "discard": sorted(names(table.discard.elements())),
        "deck": names(table.deck),
        "deck_size": len(table.deck),
        "underground": sorted(BOROUGHS[borough].name for borough in table.underground),
        "final_turns_left": table.turns_left,
        "final": {
            "vp": [result.vp for result in results],
            "poverty": [result.poverty for result in results],
            "ranks": [result.rank for result in results],
        },
    }


def differs(table: Table, expected: dict[str, Any]) -> list[str]:
    """What a case expects and the reference does not show."""
    found = facts(table)
    wrong = []
    for key, value in expected.items():
        name = key.removeprefix("expect_")
        if name == "legal":
            bounds = {bound: {choice_action(text) for text in texts} for bound, texts in value.items()}
            legal = table.legal()
            fits = legal == bounds.get("exactly", legal) and legal >= bounds.get("includes", set())
            if not fits or legal & bounds.get("excludes", set()):
                wrong.append(f"legal: {sorted(legal)} for {value}")
        elif name == "seats":
            wrong += [line for seat, wanted in value.items() for line in seat_differs(table.players[int(seat)], wanted)]
        elif found[name] != (sorted(value) if name in ("discard", "underground") else value):
            wrong.append(f"{name}: {found[name]} for {value}")
    return wrong


def seat_differs(player: reference.Player, expected: dict[str, Any]) -> list[str]:
    wrong = []
    for name, value in expected.items():
        if name == "hand":
            same = player.hand.total() == len(value) and player.hand == Counter(CARD_NUMBERS[card] for card in value)
        elif name == "boroughs":
            same = player.boroughs == {BOROUGH_NUMBERS[borough] for borough in value}
        elif name == "stacks":
            same = len(player.stacks) == len(value) and all(
                names(stack.cards) == wanted["cards"]
                and stack.face_up == wanted.get("face_up", stack.face_up)
                and stack.money == wanted.get("money", stack.money)
                for stack, wanted in zip(player.stacks, value, strict=True)
            )
        else:
            same = getattr(player, name) == value
        if not same:
            wrong.append(f"{name} of {player} for {value}")
    return wrong


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_reference_passes_the_cases(case: dict[str, Any]) -> None:
    table = Table.arranged(case["setup"])
    settle(table)
    for entry in case["actions"]:
        if isinstance(entry, dict):
            assert not differs(table, entry)
        else:
            table.apply(choice_action(entry))
            settle(table)
    assert not differs(table, case["expect"])


def test_the_reference_knows_the_poverty_table() -> None:
    (case,) = (case for case in casebook.load(HERE / "cases.json") if "table" in case)
    assert [[points, reference.poverty_penalty(points)] for points, _ in case["table"]] == case["table"]


def test_the_reference_replays_the_stored_game() -> None:
    trace = json.loads((HERE / "trace_2p.json").read_text(encoding="utf-8"))
    table = Table(2)
    table.deck = [CARD_NUMBERS[name] for name in trace["deck"]]
    for player, hand in zip(table.players, trace["hands"], strict=True):
        player.hand = Counter(CARD_NUMBERS[name] for name in hand)
    table.current = trace["start_player"]
    table.begin()
    settle(table)
    checkpoints = {checkpoint[0]: checkpoint[1:] for checkpoint in trace["checkpoints"]}
    for number, (*asked, choice, options) in enumerate(trace["steps"], 1):
        assert [table.current, table.node, len(table.legal())] == [*asked, options]
        table.apply(choice_action(choice))
        settle(table)
        if number in checkpoints:
            columns = [[getattr(p, name) for p in table.players] for name in ("money", "loans", "poverty", "vp")]
            sizes = [[p.hand.total() for p in table.players], [len(p.stacks) for p in table.players]]
            assert [table.turns, *columns, *sizes, len(table.deck)] == checkpoints[number]
    assert table.over == reference.ENDED
    assert table.turns == trace["final"]["turns"]
    assert table.points() == trace["final"]["vp"]
    assert table.places() == trace["final"]["ranks"]


# --- the core and the reference side by side --------------------------------------------------------------------

OPTION_SETS: list[dict[str, Any]] = [
    {},
    {"public_houses": "official", "count_scope": "all"},
    {"public_houses": "end_only", "school_pays_activation": True},
    {"max_voluntary_loans_per_turn": 0, "max_turns": 40},
    {
        "public_houses": "official",
        "max_turns": 150,
        "max_voluntary_loans_per_turn": 5,
        "school_pays_activation": True,
        "count_scope": "all",
    },
]
# what `check` proves to follow from the other fields
KEPT = {"hand_set", "hand_colours", "shown", "occupied", "top", "next_stack", "built", "visible", "visible_set", "lit"}
OBSERVED = 11  # every so manieth step observations are compared, and the mask with what `apply` accepts
REASONS = ("start", "borough", "take three", "refugees")
NODES = {phase.value: "END" if phase.name == "OVER" else phase.name for phase in state.Phase}


@pytest.fixture(scope="module")
def game() -> Game:
    return registry.load("london")


class Told:
    """Chance as the core drew it: hands and deck right after dealing, read from its record."""

    def __init__(self, s: Any) -> None:
        players = int(s["num_players"])
        hands = [[kind for kind, count in enumerate(hand) for _ in range(count)] for hand in s["hands"].tolist()]
        deck = deck_of(s)
        self.order = [card for hand in hands[:players] for card in hand] + deck
        self.start = int(s["start"])

    def start_player(self, num_players: int) -> int:
        return self.start

    def shuffled(self, letter: str, cards: list[int]) -> list[int]:
        order, self.order = self.order[: len(cards)], self.order[len(cards) :]
        assert sorted(order) == sorted(cards), f"the cards of deck {letter} do not lie in their place (R2.2)"
        return order


def deck_of(s: Any) -> list[int]:
    """The deck, top first: the seen cards lie on the others, which are stored from the bottom."""
    seen = s["seen"][s["reader"]].tolist()[: s["num_seen"]] if s["num_seen"] else []
    return seen + [card for card in reversed(s["deck"].tolist()) if card != state.EMPTY]


def nonzero(counts: list[int]) -> Iterator[tuple[int, int]]:
    return ((kind, count) for kind, count in enumerate(counts) if count)


def bits(number: int) -> set[int]:
    return {place for place in range(len(BOROUGHS)) if number >> place & 1}


class Core:
    """A record, stepped by hand, so that forced decisions are asked and automatic steps can be looked at."""

    def __init__(self, game: Game, states: np.ndarray) -> None:
        self.game, self.states = game, states
        self.s: Any = states.view(np.dtype((np.void, states.dtype)))[0]  # read many times as fast as a numpy.record
        self.mask = np.zeros(game.actions.full_size, dtype=np.int8)
        self.checks = 0
        self.known = self.s["known"].tolist()  # cards openly taken and still in hand, counted here once more
        self.proceed()

    @classmethod
    def dealt(cls, game: Game, seed: int, num_players: int, **options: Any) -> Core:
        states = game.template(game.settings(num_players, auto_forced=False, **options))
        states["key"] = seed
        loops.start(game.calls, states, 0, np.zeros(game.actions.full_size, dtype=np.int8))
        return cls(game, states)

    @classmethod
    def arranged(cls, game: Game, setup: dict[str, Any]) -> Core:
        num_players, options = cases.settings({"setup": setup})
        states = game.template(game.settings(num_players, auto_forced=False, **options))
        cases.arrange({"setup": setup}, states[0])
        return cls(game, states)

    def proceed(self) -> None:
        """The automatic steps, one by one, and the mask of the node that is then asked."""
        self.check()
        while self.s["seat"] == NOBODY and self.s["over"] == RUNNING:
            loops.raw_advance(self.game.calls, self.states, 0)
            self.check()
        loops.legal(self.game.calls, self.states, 0, self.mask)

    def check(self) -> None:
        self.checks += 1
        if jit.COMPILED or self.checks % 25 == 0:  # in plain Python it takes long
            assert loops.check(self.game.check_call, self.states, 0) == 0

    def legal(self) -> set[int]:
        return set(np.flatnonzero(self.mask).tolist())

    def apply(self, action: int) -> None:
        s, seat = self.s, int(self.s["turn"])
        node, given, before = NODES[int(s["phase"])], int(s["card"]), s["hands"][seat].tolist()
        slot = int(s["display"][action - SLOT]) if SLOT <= action < DECK else None
        loops.raw_apply(self.game.calls, self.states, 0, action)
        known = self.known[seat]
        if node == "EXCHANGE_TAKE":
            known[given] = max(0, known[given] - 1)
        for kind, (old, new) in enumerate(zip(before, s["hands"][seat].tolist(), strict=True)):
            if new < old and node != "EXCHANGE_TAKE":
                known[kind] = max(0, known[kind] - (old - new))
        if node in ("DRAW", "EXCHANGE_TAKE") and slot is not None:
            known[slot] += 1
        self.proceed()

    def accepted(self) -> set[int]:
        """The actions that `apply` does not refuse."""
        if self.s["over"] != RUNNING:
            return set()
        out = np.zeros(self.game.actions.full_size, dtype=np.int8)
        loops.accepted(self.game.calls, self.states, 0, record.clone(self.states), out)
        return set(np.flatnonzero(out).tolist())

    def score(self) -> tuple[list[int], list[int]]:
        points, places = (np.zeros(int(self.s["num_players"]), dtype=np.int32) for _ in range(2))
        loops.score(self.game.calls, self.states, 0, points, places)
        return points.tolist(), places.tolist()

    def observe(self, seat: int) -> np.ndarray:
        out = np.zeros(self.game.observations.full_size, dtype=np.float32)
        loops.observe(self.game.calls, self.states, 0, seat, out)
        return out

    def facts(self) -> dict[str, Any]:
        """What `table_facts` tells of the reference."""
        s = self.s
        plain = {name: s[name].tolist() for name in FIELDS}
        node, players, width = NODES[plain["phase"]], plain["num_players"], plain["num_players"] + 1
        display = [None if card == state.EMPTY else card for card in plain["display"]]
        stacks: list[list[Any]] = [[] for _ in range(players)]
        piles: list[list[int]] = [[] for _ in range(plain["num_stacks"])]
        for card, on in zip(plain["laid"][: plain["num_laid"]], plain["laid_on"], strict=False):
            piles[on].append(card)
        for pile, owner, marks, pounds in zip(piles, plain["owner"], plain["state"], plain["pounds"], strict=False):
            stacks[owner].append((pile, pounds, *(marks & mark > 0 for mark in MARKS)))
        assert plain["known"] == self.known
        assert plain["seat"] == (NOBODY if node == "END" else plain["turn"])
        turn = {name: plain[name] for name in ("exchanged", "loans_taken", "card", "expended", "tubes")}
        turn["whitehall"] = plain["whitehall"] != state.EMPTY
        drawing = (REASONS[plain["reason"]], plain["due"], plain["optional"]) if node == "DRAW" else None
        return {
            "node": node,
            "legal": self.legal(),
            "players": [
                [plain[name][seat] for name in ("money", "loans", "poverty", "counters", "pub_activated", "hand_size")]
                for seat in range(players)
            ],
            "hands": [dict(nonzero(hand)) for hand in plain["hands"][:players]],
            "boroughs": [bits(plain["owned"][seat]) for seat in range(players)],
            "open": bits(plain["open"]),
            "stacks": stacks,
            "deck": deck_of(s),
            "display": [display[:width], display[5 : 5 + width]],
            "discard": dict(nonzero(plain["discard"])),
            "underground": bits(plain["underground"]),
            "turns": (plain["start"], plain["turn"], plain["turns"], plain["ending"], plain["over"]),
            "turn": turn if node != "END" else None,
            "action": [plain[name] for name in ("free", "plays", "activations", "pub_run")],
            "drawing": drawing,
            "score": self.score(),
        }


FIELDS = [field.name for field in state.FIELDS if field.name not in KEPT] + ["num_players", "phase", "seat", "over"]
MARKS = (state.FACE_UP, state.PLACED, state.ACTIVATED)


def table_facts(table: Table) -> dict[str, Any]:
    """What `Core.facts` tells of the core."""
    players, turn, node, results = table.players, table.turn, table.node, table.final()
    return {
        "node": node,
        "legal": table.legal(),
        "players": [[p.money, p.loans, p.poverty, p.vp, p.pub_activated, p.hand.total()] for p in players],
        "hands": [dict(+p.hand) for p in players],
        "boroughs": [p.boroughs for p in players],
        "open": table.open_boroughs(),
        "stacks": [[(x.cards, x.money, x.face_up, x.placed, x.activated) for x in p.stacks] for p in players],
        "deck": table.deck,
        "display": table.display,
        "discard": dict(+table.discard),
        "underground": table.underground,
        "turns": (table.start_player, table.current, table.turns, table.turns_left or 0, table.over),
        "turn": None
        if node == "END"
        else {
            "exchanged": turn.exchanged and not node.startswith("EXCHANGE"),
            "loans_taken": turn.loans,
            "card": state.EMPTY if turn.card is None else turn.card,
            "expended": turn.expended,
            "tubes": turn.counters,
            "whitehall": turn.repeating,
        },
        "action": [turn.free, turn.plays, turn.activations, turn.pub],
        "drawing": (turn.reason, turn.due, turn.optional) if node == "DRAW" else None,
        "score": ([result.vp for result in results], [result.rank for result in results]),
    }


def observation(table: Table, seat: int) -> np.ndarray:
    """What a seat sees, by the section Observation of RULES.md, with the scales of the doc page."""
    turn, node, options = table.turn, table.node, table.options
    player, number = table.players[table.current], len(table.players)
    asked = table.over == reference.RUNNING
    drawing = node == "DRAW"
    allowed = options.max_voluntary_loans_per_turn
    seen = table.deck[turn.put_back : turn.seen] if seat == table.current and turn.seen else []
    exchange = not turn.exchanged or node.startswith("EXCHANGE")
    tops = [stack for stack in player.stacks if stack.placed or stack.activated]
    left = len(table.deck)
    letters = [max(0, min(size, left - below)) for size, below in ((25, 85), (50, 35), (35, 0))]
    parts: list[Sequence[float]] = [
        one_hot(3, number - 2),
        one_hot(18, list(NODES.values()).index(node) if asked else None),
        one_hot(4, REASONS.index(turn.reason) if drawing else None),
        [turn.due / 5, turn.optional, turn.free / 2, turn.plays / 10, turn.activations / 10, turn.expended / 10],
        [turn.counters / 2, exchange and player.shows("STOCK_EXCHANGE")],
        [(allowed - turn.loans) / max(1, allowed), turn.pub, turn.repeating],
        one_hot(72, turn.card),
        shares(72, table.players[seat].hand),
        *(one_hot(72, seen[k] if k < len(seen) else None) for k in range(3)),
        *(one_hot(72, row[k] if k < len(row) else None) for row in table.display for k in range(5)),
        shares(72, table.discard),
        shares(68, Counter(stack.cards[-1] for stack in tops if stack.placed)),
        shares(68, Counter(stack.cards[-1] for stack in tops if stack.activated)),
        [borough in table.open_boroughs() for borough in range(20)],
        [borough in table.underground for borough in range(20)],
        [*(size / full for size, full in zip(letters, (25, 50, 35), strict=True)), left / 110],
        [table.turns_left is not None, (table.turns_left or 0) / 4, table.turns / options.max_turns],
    ]
    for k in range(4):
        parts.append(player_observation(table, (seat + k) % number) if k < number else [0.0] * 171)
    return np.minimum(1.0, np.concatenate([np.array(part, dtype=np.float64) for part in parts]))


def same_observations(core: Core, table: Table) -> None:
    for seat in range(len(table.players)):
        wrong = np.flatnonzero(np.abs(core.observe(seat) - observation(table, seat)) > 1e-6)
        assert wrong.tolist() == []


def player_observation(table: Table, seat: int) -> list[float]:
    player = table.players[seat]
    cards, visible = player.built(), [stack.top.index for stack in player.visible()]
    shops = [stack.money for stack in player.stacks] or [0]
    points = [card.vp for card in cards] or [0]
    return [
        *(player.money / 60, player.loans / 10, player.poverty / 40, player.vp / 60, player.hand.total() / 16),
        *(len(player.stacks) / 20, (len(player.stacks) - len(visible)) / 20, len(player.boroughs) / 11),
        *(sum(points) / 60, max(points) / 7, player.pub_activated),
        *(seat == table.current and not table.over, seat == table.start_player, sum(shops) / 10, max(shops) / 10),
        *shares(68, Counter(visible)),
        *shares(68, Counter(card.index for card in cards)),
        *(borough in player.boroughs for borough in range(20)),
    ]


def one_hot(size: int, place: int | None) -> list[float]:
    return [float(k == place) for k in range(size)]


def shares(size: int, counts: Counter[int]) -> list[float]:
    return [counts[card] / CARDS[card].copies for card in range(size)]


def side_by_side(core: Core, table: Table, seed: int) -> Iterator[tuple[str, int]]:
    """Play one game with both and compare; yields (node, action) before each step."""
    chance = random.Random(seed)
    step = 0
    while True:
        assert core.facts() == table_facts(table)
        if step % OBSERVED == 0 or table.over:
            same_observations(core, table)
            assert core.accepted() == set(table.legal())
        step += 1
        if table.over:
            return
        action = choose(chance, sorted(table.legal()))
        yield table.node, action
        core.apply(action)
        table.apply(action)


def choose(chance: random.Random, legal: Sequence[int]) -> int:
    """Any action; running the city often, what cuts an action or the variety of play short seldom."""
    weights = [{RUN_CITY: 4.0, DONE: 0.2, TAKE_THREE: 0.2}.get(action, 1.0) for action in legal]
    return chance.choices(legal, weights)[0]


def dealt(game: Game, seed: int, num_players: int, **options: Any) -> tuple[Core, Table]:
    core = Core.dealt(game, seed, num_players, **options)
    table = Table(num_players, **options)
    table.deal(Told(core.s))
    table.begin()
    return core, table


@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize("number", range(len(OPTION_SETS)))
def test_dealt_games_agree(game: Game, num_players: int, number: int) -> None:
    for seed in (number, 100 + number):
        for _ in side_by_side(*dealt(game, seed, num_players, **OPTION_SETS[number]), seed):
            pass


# --- arranged positions -----------------------------------------------------------------------------------------


def spread(chance: random.Random, num_players: int, favour: float, **options: Any) -> dict[str, Any]:
    """A set-up in the notation of the cases: all cards but a part of the deck lie about, and the map is half built.

    favour: the share of the cards with a text that goes to the seat that begins.
    """
    order: list[int] = []
    for letter in SETUP.deck_order_top_to_bottom:
        cards = [card.index for card in CARDS for _ in range(card.copies_by_deck[letter])]
        order += chance.sample(cards, len(cards))
    drawn = order[: -chance.choice((1, 3, 12, 30, 50))]
    current = chance.randrange(num_players)
    seats = [spread_seat(chance) for _ in range(num_players)]
    spaces: list[str | None] = [None] * (SETUP.display_rows * SETUP.display_columns[str(num_players)])
    discard = []
    for card in chance.sample(drawn, len(drawn)):
        seat, name = chance.choice(seats), CARDS[card].name
        if CARDS[card].stone_base and chance.random() < 0.7:
            text = CARDS[card].static_effect or CARDS[card].activation_effect
            lay(chance, seats[current]["stacks"] if text and chance.random() < favour else seat["stacks"], name)
        elif len(seat["hand"]) < SETUP.hand_limit and chance.random() < 0.6:
            seat["hand"].append(name)
        elif None in spaces and chance.random() < 0.8:
            spaces[spaces.index(None)] = name
        else:
            discard.append(name)
    for stack in (stack for seat in seats for stack in seat["stacks"]):
        card = CARDS[CARD_NUMBERS[stack["cards"][-1]]]
        stack["face_up"] = not card.flips or chance.random() < 0.7
        stack["money"] = chance.randrange(4) if card.static_effect == "SHOPS_INCOME" and stack["face_up"] else 0
    chance.shuffle(spaces)
    half = len(spaces) // 2
    return {
        "players": num_players,
        "options": options,
        "current": current,
        "node": chance.choice(("START", "ACTION")),
        "deck": [CARDS[card].name for card in order[len(drawn) :]],
        "display": [spaces[:half], spaces[half:]],
        "discard": discard,
        "underground": build(chance, seats),
        "seats": seats,
    }


def spread_seat(chance: random.Random) -> dict[str, Any]:
    money, loans, poverty, vp = (chance.randrange(limit) for limit in (25, 4, 7, 20))
    return {"money": money, "loans": loans, "poverty": poverty, "vp": vp, "hand": [], "stacks": [], "boroughs": []}


def lay(chance: random.Random, stacks: list[dict[str, Any]], name: str) -> None:
    if stacks and chance.random() < 0.3:
        chance.choice(stacks)["cards"].append(name)
    else:
        stacks.append({"cards": [name]})


def build(chance: random.Random, seats: list[dict[str, Any]]) -> list[str]:
    """Boroughs for the seats as R10.2 lets them grow; returns those with Underground counters, as R9.14 does."""
    table = Table(len(seats))
    for _ in range(chance.choice((0, 3, 8, 14, 20))):
        able = [player for player in table.players if len(player.boroughs) < SETUP.building_counters_per_player]
        player = chance.choices(able, [1 + len(player.boroughs) for player in able])[0]
        player.boroughs.add(chance.choice(sorted(table.open_boroughs())))
    for _ in range(chance.choice((0, 2, 5, 9))):
        places = sorted(table.underground_places())
        if places:
            table.underground.add(chance.choice(places))
    for seat, player in zip(seats, table.players, strict=True):
        seat["boroughs"] = [BOROUGHS[borough].name for borough in sorted(player.boroughs)]
    return [BOROUGHS[borough].name for borough in sorted(table.underground)]


def arranged(game: Game, seed: int) -> tuple[Core, Table]:
    chance = random.Random(seed)
    setup = spread(chance, chance.randint(2, 4), seed % 3 / 2, **OPTION_SETS[seed % len(OPTION_SETS)])
    return Core.arranged(game, setup), Table.arranged(setup)


def test_arranged_games_agree(game: Game) -> None:
    """They reach every node and run every card that can be run."""
    reached: dict[str, set[int]] = {}
    for seed in range(60):
        for node, action in side_by_side(*arranged(game, seed), seed):
            reached.setdefault(node, set()).add(action)
    assert set(reached) == set(NODES.values()) - {"END"}
    assert reached["ACTIVATE"] >= {card.index for card in CARDS if card.has_printed_activation}


@pytest.mark.nojit
@pytest.mark.parametrize("seed", [4, 9])
def test_the_core_in_plain_python_agrees(game: Game, seed: int) -> None:
    for _ in zip(range(120), side_by_side(*arranged(game, seed), seed), strict=False):
        pass


# --- what a seat cannot know ------------------------------------------------------------------------------------


class Place(NamedTuple):
    """Where a printed card lies: the type, and the one that the observer knows to lie there; the letter of its deck."""

    card: int
    known: int | None = None
    letter: str | None = None


def places_of(core: Core, table: Table, observer: int) -> list[Place]:
    """The places of all cards, those of the deck first."""
    left = len(table.deck)
    letters = "A" * (left - 85) + "B" * min(50, left - 35) + "C" * min(35, left)
    places = [Place(card, letter=letter) for card, letter in zip(table.deck, letters, strict=True)]
    seen = list(table.discard.elements()) + [card for row in table.display for card in row if card is not None]
    for seat, player in enumerate(table.players):
        seen += [card for stack in player.stacks for card in stack.cards]
        openly = player.hand if seat == observer else Counter(dict(nonzero(core.known[seat])))
        seen += list(openly.elements())
        places += [Place(card) for card in (player.hand - openly).elements()]
    return places + [Place(card, known=card) for card in seen]


def shuffles(places: list[Place], chance: random.Random, left: int) -> list[float]:
    """How many cards of each type lie in the deck, in the mean over all shuffles that fit what is known.

    A walk over these shuffles: two printed cards change places if both fit there. Cards of which the letter is not
    known are tried more often, else their letters would change too slowly.
    """
    spare = {(card.index, letter): card.copies_by_deck[letter] for card in CARDS for letter in "ABC"}
    printed = []
    for place in places:
        letter = next(letter for letter in place.letter or "ABC" if spare[place.card, letter])
        spare[place.card, letter] -= 1
        printed.append((place.card, letter))

    def fits(number: int, place: int) -> bool:
        card, letter = printed[number]
        return places[place].known in (None, card) and places[place].letter in (None, letter)

    at = list(range(len(printed)))  # printed card -> place
    mixed = [n for n, (card, _) in enumerate(printed) if sum(k > 0 for k in CARDS[card].copies_by_deck.values()) > 1]
    totals, samples = np.zeros(len(CARDS)), 0
    for step in range(WALK):
        pool = mixed if step % 2 else range(len(printed))
        one, other = chance.choice(pool), chance.choice(pool)
        if fits(one, at[other]) and fits(other, at[one]):
            at[one], at[other] = at[other], at[one]
        if step % 100 == 0 and step > WALK // 10:
            samples += 1
            for number, place in enumerate(at):
                totals[printed[number][0]] += place < left
    means: list[float] = (totals / samples).tolist()
    return means


WALK = 200_000
DEALS = 1000


@pytest.mark.parametrize(("seed", "left"), [(1, 75), (2, 60), (4, 25)])
def test_unknown_cards_are_dealt_as_the_shuffles_would(game: Game, seed: int, left: int) -> None:
    """R2.2: decks A, B and C, of which the letter is not known for Hospital, Shops and Paupers (R17.4)."""
    core, table = dealt(game, seed, 3)
    next(node for node, _ in side_by_side(core, table, seed) if node == "ACTION" and len(table.deck) <= left)
    places = places_of(core, table, 0)
    expected = shuffles(places, random.Random(seed), len(table.deck))
    totals = np.zeros(len(CARDS))
    for salt in range(DEALS):
        states = record.clone(core.states)
        loops.determinize(game.calls, states, 0, 0, salt)
        for card in deck_of(states[0]):
            totals[card] += 1
    assert np.abs(totals / DEALS - expected).max() < 0.2
