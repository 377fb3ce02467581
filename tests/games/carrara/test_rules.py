"""The Palaces of Carrara against its rulebook: worked cases, arranged positions, options together, what is hidden.

`test_reference.py` plays whole games beside a second reading of the rules. Tests cite the clauses that they witness;
one test lists those that no case and no test cites.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabletop_envs
from tabletop_envs import casebook, registry
from tabletop_envs.core import jit, loops, record
from tabletop_envs.core.game import ALL, PUBLIC, Game
from tabletop_envs.core.header import OVER_CAP, OVER_RULES
from tabletop_envs.core.position import Position
from tabletop_envs.errors import CorruptDataError, IllegalActionError, NotationError
from tabletop_envs.games.carrara import cases, notation, state
from tabletop_envs.games.carrara.tables import COLOUR_NAMES, TILE_NAMES

HERE = Path(__file__).parent
RULES = Path(registry.load("carrara").modules["rules"].__file__ or "").with_name("RULES.md").read_text(encoding="utf-8")
CASES: list[dict[str, Any]] = casebook.load(HERE / "cases.json")
TRACES = [case for case in CASES if case["type"] == "trace"]
MANUAL = {case["id"]: case["expect"] for case in CASES if case["type"] == "manual"}
MODULES = ("no_turn", "cards", "monuments", "colour_scoring")
FULL = dict.fromkeys(MODULES, True)
SCREENED = ("coins", "bricks", "objects")


@pytest.fixture(scope="module")
def game() -> Game:
    return registry.load("carrara")


def random_game(seed: int, num_players: int = 2, **options: Any) -> Iterator[Position]:
    """The positions of a game of uniformly random play, the finished one last. One object, changed in place."""
    position = Position.new("carrara", num_players, seed=seed, **options)
    generator = np.random.default_rng(seed)
    yield position
    while not position.over:
        position.apply(int(generator.choice(position.legal_actions())))
        yield position


def arranged(game: Game, actions: tuple[str, ...] = (), **setup: Any) -> Position:
    """A position set up as a case is, and some actions made in it; forced ones are not skipped."""
    case = {"setup": {"players": 2, "options": {}, **setup}}
    num_players, options = cases.settings(case)
    settings = game.settings(num_players, **options)
    states = game.template(settings)
    cases.arrange(case, states[0])
    position = Position(game, settings, states)
    for action in actions:
        position.apply(action.lower())
    return position


def legal(position: Position) -> set[str]:
    return {position.action_text(int(action)) for action in position.legal_actions()}


# --- worked cases -----------------------------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize("case", TRACES, ids=[f"{case['id']}-{'+'.join(case['clauses'])}" for case in TRACES])
def test_case(game: Game, case: dict[str, Any]) -> None:
    result = casebook.run(game, case)
    assert result.status == casebook.PASS, "\n".join(result.differences)


def test_manual_cases_are_not_counted_as_passed(game: Game) -> None:
    results = [casebook.run(game, case) for case in CASES]
    assert sorted(result.id for result in results if result.status == casebook.MANUAL) == sorted(MANUAL)
    assert sorted(MANUAL) == ["CA-01", "CA-02", "CA-03"]


@pytest.mark.nojit
def test_setup_for_two() -> None:
    """Case CA-01: R2.1 to R2.7, R16.1 to R16.3."""
    expected = MANUAL["CA-01"]["setup_counts"]
    deals = set()
    for seed in range(20):
        position = Position.new("carrara", seed=seed, auto_forced=False)
        facts = position.to_json()["position"]
        seats = facts["seats"]
        assert [seat["coins"] for seat in seats] == expected["coins"]
        assert [seat["bricks"] for seat in seats] == expected["bricks"]
        assert [seat["vp"] for seat in seats] == expected["vp"]
        assert [seat["markers"] for seat in seats] == expected["markers"]
        assert sum(facts["wheel"]["I"].values()) == expected["wheel_segment_I_total"]
        assert sum(sum(facts["wheel"][name].values()) for name in ("II", "III", "IV", "V", "VI")) == 0
        assert sum(facts["bag"].values()) == expected["bag_total"]
        assert len(facts["display"]) == expected["display"]
        assert len(facts["pile"]) == expected["pile"]
        assert sorted({*facts["display"], *facts["pile"]}) == sorted(t for t in TILE_NAMES if not t.endswith("8"))
        assert facts["for_sale"] == [name.replace("_", " ") for name in expected["object_display"]]
        assert set(facts["supply"].values()) == {expected["object_supply_each"]}
        assert (facts["phase"].upper(), position.seat) == (expected["phase"], expected["current"])
        assert facts["cards"] == ["T1", "O1", "B1", "X1"]
        assert facts["monuments"] == []
        assert facts["improvement_stock"] == {}
        deals.add((json.dumps(facts["wheel"]), tuple(facts["pile"])))
    assert len(deals) == 20


@pytest.mark.nojit
def test_setup_for_four() -> None:
    """Case CA-02: R2.4, R2.5, R12.2, R13.1, R13.6, R16.5."""
    expected = MANUAL["CA-02"]["setup_counts"]
    position = Position.new(
        "carrara", 4, wheel_setup="one_of_each", **FULL, improvement_supply="eight", auto_forced=False
    )
    facts = position.to_json()["position"]
    assert [seat["bricks"] for seat in facts["seats"]] == expected["bricks"]
    assert facts["wheel"]["I"] == expected["wheel"]["I"]
    assert facts["bag"] == expected["bag"]
    assert sum(facts["bag"].values()) == expected["bag_total"]
    assert facts["monuments"] == [tile for tile in TILE_NAMES if tile.endswith("8")]
    assert facts["improvement_stock"] == dict(livorno=1, pisa=1, lucca=1, viareggio=1, massa=2, lerici=2)
    drawn = {tuple(Position.new("carrara", seed=seed, cards=True).to_json()["position"]["cards"]) for seed in range(40)}
    for deck, size in enumerate((8, 8, 8, 7)):
        assert len({cards[deck] for cards in drawn}) >= size - 2


def test_prices(game: Game) -> None:
    """Case CA-03: R1.3, R4.6."""
    for number, (name, prices) in enumerate(MANUAL["CA-03"]["prices"].items()):
        for colour, price in zip(COLOUR_NAMES, prices, strict=True):
            before = ("I", "II", "III", "IV", "V", "VI")[number - 1]  # the turn brings it to its place
            position = arranged(game, wheel={before: {colour: 1}}, bag={}, seats=[{"coins": 6}, {}])
            for action in ("buy turn", f"segment {name}", f"colour {colour}", "done"):
                position.apply(action)
            assert position.to_json()["position"]["seats"][0]["coins"] == 6 - price


def _spoil(value: Any) -> Any:
    """Something else of the same form."""
    if isinstance(value, dict):
        last = list(value)[-1] if value else "white"
        return {**value, last: _spoil(value.get(last, 0))}
    if isinstance(value, list):
        return [_spoil(value[0]), *value[1:]] if value else ["porta5"]
    if isinstance(value, str):
        return {"MAIN": "PAY", "BUY_TURN": "BUY_STAY", "TILE porta1": "DONE"}.get(value, "DONE")
    return 3 if value is None else not value if isinstance(value, bool) else value + 1


EXPECTED_KEYS = sorted({key for case in TRACES for key in case["expect"]} - {"legal_excludes"})


@pytest.mark.parametrize("key", EXPECTED_KEYS)
def test_every_expectation_is_compared(game: Game, key: str) -> None:
    """A case with one wrong expectation fails, and says of which."""
    case = next(case for case in TRACES if key in case["expect"])
    wrong = _spoil(case["expect"][key])
    result = casebook.run(game, {**case, "expect": {**case["expect"], key: wrong}})
    assert result.status == casebook.FAIL
    assert len(result.differences) == 1
    assert key in result.differences[0]


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ({"legal_excludes": ["BUY_TURN"]}, "['buy turn'] are legal"),
        ({"legal": ["BUY_TURN", "DONE"]}, "expected ['buy turn', 'done']"),
        ({"mood": "good"}, "mood: not understood"),
        ({"seats": {"0": {"mood": 1}}}, "mood: not understood"),
        ({"final_parts": {"0": {"mood": 1}}}, "expected 1, found None"),
        ({"phase": "main"}, "expected 'main', found 'MAIN'"),
    ],
)
def test_false_expectations_are_told(game: Game, expected: dict[str, Any], words: str) -> None:
    result = casebook.run(game, {**TRACES[0], "actions": [], "expect": expected})
    assert result.status == casebook.FAIL
    assert words in result.differences[0]


def test_entries_of_cases(game: Game) -> None:
    """R17.10: a `!` says that nothing else is legal; expectations may stand between the entries."""
    case = next(case for case in TRACES if case["id"] == "CA-06")
    good = ["BUY_TURN!", {"check": {"phase": "SEGMENT"}}, "SEGMENT I!"]
    assert casebook.run(game, {**case, "actions": good}).status == casebook.PASS
    bad = ["BUY_TURN!", {"check": {"phase": "TAKE"}}, "SEGMENT I", "COLOUR white!"]
    result = casebook.run(game, {**case, "actions": bad})
    assert "expected 'TAKE', found 'SEGMENT'" in result.differences[0]
    assert "is not forced" in result.differences[1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weather": "fine"}, "weather"),
        ({"seats": [{"mood": 1}, {}]}, "mood"),
        ({"seats": [{}]}, "1 seats are given for 2 players"),
        ({"seats": [{"bricks": {"pink": 1}}, {}]}, "pink"),
        ({"seats": [{"buildings": ["porta9@pisa"]}, {}]}, "porta9"),
        ({"seats": [{"buildings": ["porta1@rome"]}, {}]}, "rome"),
        ({"city_scored": {"pisa": 2}}, "city_scored"),
        ({"display": ["porta1", "porta1"]}, "name each one once"),
        ({"pile": list(TILE_NAMES[:22])}, "at most 21"),
        ({"cards": ["T1"]}, "one of each deck"),
        ({"current": 2}, "current"),
    ],
)
def test_impossible_set_ups_are_refused(game: Game, change: dict[str, Any], words: str) -> None:
    setup = {**TRACES[0]["setup"], **change}
    result = casebook.run(game, {**TRACES[0], "setup": setup})
    assert result.status == casebook.FAIL
    assert "NotationError" in result.differences[0]
    assert words in result.differences[0]


def test_every_clause_is_witnessed() -> None:
    """By a case, or by a test that cites it."""
    known = set(re.findall(r"^- (R\d+\.\d+)", RULES, re.MULTILINE))
    assert len(known) == 105
    cited = {clause for case in CASES for clause in case["clauses"]}
    for path in HERE.glob("*.py"):
        for first, last in re.findall(r"(R\d+(?:\.\d+)?)(?: to (R\d+\.\d+))?", path.read_text(encoding="utf-8")):
            cited.add(first)
            if last and "." in first:
                chapter, start = first.split(".")
                cited |= {f"{chapter}.{number}" for number in range(int(start), int(last.split(".")[1]) + 1)}
    assert sorted(known - cited) == []
    assert sorted(clause for case in CASES for clause in case["clauses"] if f"{clause} " not in RULES) == []


# --- all options together ---------------------------------------------------------------------------------------

SETTINGS = [
    (2 + number % 3, dict(zip(MODULES, on, strict=True)) | extra)
    for number, (on, extra) in enumerate(
        (on, extra)
        for on in product((False, True), repeat=4)
        for extra in (
            {},
            {"wheel_setup": "one_of_each", "exhaustion": "all_built", "improvement_supply": "eight", "payment": "auto"},
        )
    )
]


@pytest.mark.parametrize(("num_players", "options"), SETTINGS, ids=str)
def test_masks_by_brute_force(game: Game, num_players: int, options: dict[str, Any]) -> None:
    """R0.1 to R0.3, R17.1 to R17.11: every action in every module set; check() after every decision."""
    scratch, accepted = np.empty(1, dtype=game.dtype), np.zeros(game.actions.full_size, dtype=np.int8)
    phases = Counter[str]()
    for seed in range(3):
        for position in random_game(seed, num_players, **options, auto_forced=seed == 0):
            assert loops.check(game.check_call, position.states, 0) == 0
            assert record.out_of_range(position.states, state.FIELDS) == []
            if not position.over:
                loops.accepted(game.calls, position.states, 0, scratch, accepted)
                assert np.array_equal(accepted, position.action_mask()), position.text()
                phases[position.phase] += 1
        assert position.states["over"][0] == OVER_RULES
        assert int(position.states["turn"][0]) == 0  # R8.6: the turn would come to seat 0
    assert {"main", "segment", "take", "site", "object"} <= set(phases)
    assert ("pay" in phases) == (options.get("payment") != "auto")


def test_the_modules_show(game: Game) -> None:
    """R11.1, R13.2, R14.1: what a module adds is met in play with it, and never without."""
    met = {False: Counter[str](), True: Counter[str]()}
    for on in (False, True):
        for seed in range(4):
            for position in random_game(seed, 2 + seed % 3, **dict.fromkeys(MODULES, on)):
                met[on].update({game.actions.decode(int(action))[0] for action in position.legal_actions()})
                met[on].update(
                    {"monument" for action in position.legal_actions() if 2 <= action < 38 and action % 6 == 1}
                )
    assert set(met[True]) - set(met[False]) >= {"buy_stay", "score_group", "improve", "monument"}
    assert not {"buy_stay", "score_group", "improve", "monument"} & set(met[False])


# --- one sequence for each purchase and payment -----------------------------------------------------------------


def _ends(position: Position, phase: str) -> Counter[str]:
    """How many sequences of actions lead out of a phase, by what the seat then holds."""
    if position.phase != phase:
        return Counter([json.dumps(position.to_json()["position"]["seats"][0]["bricks"], sort_keys=True)])
    ends: Counter[str] = Counter()
    for action in position.legal_actions():
        copy = position.clone()
        copy.apply(int(action))
        ends += _ends(copy, phase)
    return ends


def test_each_purchase_has_one_sequence(game: Game) -> None:
    """R4.5, R4.8, R4.9, R17.4: all non-empty parts of 2 white, 1 red, 3 black; with few coins the payable ones."""
    setup = {"wheel": {"II": {"white": 2, "red": 1, "black": 3}}, "bag": {}}
    rich = arranged(game, ("buy turn", "segment III"), **setup, seats=[{"coins": 20}, {}])
    ends = _ends(rich, "take")
    assert set(ends.values()) == {1}
    assert len(ends) == 3 * 2 * 4 - 1
    poor = arranged(game, ("buy turn", "segment III"), **setup, seats=[{"coins": 5}, {}])
    parts = [(w, r, b) for w, r, b in product(range(3), range(2), range(4)) if w + r + b and 4 * w + 2 * r <= 5]
    ends = _ends(poor, "take")
    assert set(ends.values()) == {1}
    assert len(ends) == len(parts)


@pytest.mark.parametrize(("city", "colours"), [("lerici", 6), ("massa", 5), ("lucca", 3), ("livorno", 1)])
def test_each_payment_has_one_sequence(game: Game, city: str, colours: int) -> None:
    """R5.3, R5.4, R17.6: with enough of each colour, all mixes of 4 of the accepted ones."""
    bricks = dict.fromkeys(COLOUR_NAMES, 4)
    position = arranged(
        game, ("tile porta4", f"city {city}"), seats=[{"bricks": bricks}, {}], display=["porta4"], pile=["villa1"]
    )
    ends = _ends(position, "pay")
    assert set(ends.values()) == {1}
    assert len(ends) == comb(colours + 3, 4)


def test_automatic_payment_is_the_poorest(game: Game) -> None:
    """R5.3, R5.5, R17.6."""
    bricks = {"white": 2, "red": 1, "green": 2, "black": 3}
    options = {"payment": "auto"}
    position = arranged(
        game,
        ("tile porta4", "city viareggio"),
        options=options,
        seats=[{"bricks": bricks}, {}],
        display=["porta4"],
        pile=["villa1"],
    )
    facts = position.to_json()["position"]
    assert facts["paid"] == {"white": 1, "red": 1, "green": 2}
    assert facts["seats"][0]["bricks"] == {"white": 1, "black": 3}
    assert facts["bag"] == {"white": 6, "yellow": 7, "red": 7, "green": 7, "blue": 7, "black": 4}


# --- single clauses ---------------------------------------------------------------------------------------------


def test_a_wheel_of_eleven_is_not_refilled(game: Game) -> None:
    """R4.3."""
    wheel = {"I": {"white": 6}, "IV": {"black": 5}}
    position = arranged(game, ("buy turn",), wheel=wheel)
    assert position.to_json()["position"]["wheel"]["I"] == {}
    assert not position.states["draws"].any()
    position = arranged(game, ("buy turn",), wheel={"IV": {"black": 5}})
    assert sum(position.to_json()["position"]["wheel"]["I"].values()) == 6


def test_draws_are_uniform(game: Game) -> None:
    """R16.4: each brick in the bag is equally likely."""
    drawn = Counter[str]()
    for key in range(400):
        position = arranged(game, wheel={"I": {"black": 1}, "II": {"black": 6}})
        position.states["key"] = key
        position.apply("buy turn")
        drawn.update(position.to_json()["position"]["wheel"]["I"])
    assert sum(drawn.values()) == 1600
    assert all(240 < number < 400 for colour, number in drawn.items() if colour != "black")
    assert drawn["black"] == 0


def test_relief_leads_on_to_the_object(game: Game) -> None:
    """R10.1, R7.1."""
    everything = dict.fromkeys(COLOUR_NAMES, 7)
    position = arranged(game, bag={}, seats=[{"coins": 9}, {"bricks": everything}])
    assert legal(position) == {"relief"}
    position.apply("relief")
    assert position.events() == ["seat 0 can do nothing else and receives 2 coins"]
    assert position.phase == "object"
    position.apply("object crown")
    assert position.to_json()["position"]["seats"][0]["coins"] == 1
    assert position.seat == 1


def test_no_refuge_in_passing(game: Game) -> None:
    """R3.2 to R3.4: who can do something must, and each turn has one main action."""
    position = arranged(game, bag={}, seats=[{"bricks": {"black": 1}}, {}], display=["porta1"], pile=["villa1"])
    assert legal(position) == {"tile porta1"}
    with pytest.raises(IllegalActionError):
        position.apply("relief")
    for action in ("tile porta1", "city lerici", "colour black"):
        position.apply(action)
    assert (position.phase, position.seat) == ("object", 0)


def test_markers_do_not_come_back(game: Game) -> None:
    """R6.1, R8.4: the unplaced markers are six less the scorings, in whatever game."""
    for position in random_game(5, 3, **FULL):
        for seat, facts in enumerate(position.to_json()["position"]["seats"]):
            cities = list(position.to_json()["position"]["city_scored"].values()).count(seat)
            assert facts["markers"] == 6 - len(facts["types_scored"]) - len(facts["groups_scored"]) - cities


def test_exhaustion_is_told_and_ends_the_round(game: Game) -> None:
    """R8.1, R8.2, R8.6."""
    seats = [{"coins": 0, "bricks": {"black": 1}}, {"coins": 0}, {"coins": 0}]
    position = arranged(game, players=3, seats=seats, display=["porta1"], pile=[], wheel={"VI": {"black": 3}})
    for action in ("tile porta1", "city lerici", "colour black"):
        position.apply(action)
    assert position.events() == ["the tiles are used up: the end is triggered"]
    for seat in (1, 2):
        assert position.seat == seat
        while position.seat == seat:
            position.apply(int(position.legal_actions()[0]))
    assert position.over
    assert not position.capped


def test_the_cap_on_rounds() -> None:
    """R8.8: scored as it stands, and flagged as cut off."""
    for num_players, rounds in product((2, 4), (1, 3)):
        *_, end = random_game(1, num_players, max_rounds=rounds)
        assert end.states["over"][0] == OVER_CAP
        assert (end.phase, int(end.states["rounds"][0])) == ("over", rounds)
        assert len(end.points()) == num_players
    env = tabletop_envs.make("carrara", max_rounds=1)
    env.reset(seed=1)
    while env.agents:
        observation, _, terminated, truncated, info = env.last()
        over = terminated or truncated
        if over:
            assert terminated
            assert truncated
            assert info["end"] == "cap"
        env.step(None if over else int(np.flatnonzero(observation["action_mask"])[0]))


def test_places_of_three(game: Game) -> None:
    """R9.1 to R9.3: totals first, then bricks; equal pairs share a place."""
    seats = [
        {"vp": 20, "coins": 9, "bricks": {"white": 1}},
        {"vp": 18, "coins": 4, "objects": {"gate": 1}, "bricks": {"black": 3}},
        {"vp": 21, "coins": 0, "bricks": {"red": 2, "blue": 1}},
    ]
    position = arranged(game, players=3, seats=seats)
    assert position.points() == [21, 21, 21]
    assert position.places() == [3, 1, 1]


def test_a_replaced_building_is_gone(game: Game) -> None:
    """R13.5, R13.9: it counts for nothing, and the monument counts with cost 8."""
    setup = next(case["setup"] for case in TRACES if case["id"] == "CA-38")
    actions = ("tile palazzo8", "tile porta3", *["colour red"] * 3, "colour yellow", "colour white", "improve livorno")
    position = arranged(game, actions, **{**setup, "options": {**setup["options"], "colour_scoring": True}})
    facts = position.to_json()["position"]
    assert facts["replaced_tiles"] == ["porta3"]
    assert "porta3" not in facts["display"] + facts["pile"] + facts["pile_tiles"]
    assert int(state.metric(position.states[0], 0, state.Metric.BUILDING_COST)) == 8
    assert position.seat == 1
    position.states["seat"] = position.states["turn"] = 0
    again = Position(game, position.settings, position.states)
    assert {"score type palazzo", "score group city"} <= legal(again)
    assert "score type porta" not in legal(again)
    again.apply("score group city")
    assert again.to_json()["position"]["seats"][0]["coins"] == 8


def test_improvements_raise_the_owners_yield_alone(game: Game) -> None:
    """R13.8, R13.6: in all six cities, by one, in the city's own kind."""
    names = ("livorno", "pisa", "lucca", "viareggio", "massa", "lerici")
    for city, name in enumerate(names):
        gains = []
        for improvements in ([], [name]):
            seats = [{"coins": 0, "buildings": [f"porta2@{name}"], "improvements": improvements}, {}]
            position = arranged(game, options={"monuments": True}, seats=seats)
            position.apply("score type porta")
            facts = position.to_json()["position"]["seats"][0]
            gains.append(facts["coins"] if city % 2 else facts["vp"])
        assert gains[1] - gains[0] == 2


# --- what is hidden ---------------------------------------------------------------------------------------------


def sampled(seeds: range, num_players: int = 3, **options: Any) -> Iterator[Position]:
    for seed in seeds:
        for number, position in enumerate(random_game(seed, num_players, **options)):
            if number % 11 == seed % 11 and not position.over:
                yield position.clone()


def disturbed(position: Position, seat: int, salt: int) -> Position:
    """A copy in which the holdings of the other seats and the bag are others."""
    copy, generator = position.clone(), np.random.default_rng(salt)
    s = copy.states[0]
    for other in range(position.num_players):
        if other != seat:
            s.coins[other] = generator.integers(0, 40)
            s.bricks[other] = generator.integers(0, 8, 6)
            s.objects[other] = generator.integers(0, 7, 6)
    s.bag[:] = generator.integers(0, 8, 6)
    return copy


def test_screens_hide_from_everybody_else(game: Game) -> None:
    """R15.1 to R15.4, R17.9: what others hold moves no observation, mask, text, picture or choice of the baseline."""
    for number, position in enumerate(sampled(range(4), **FULL)):
        seat = position.seat or 0
        copy = disturbed(position, seat, number)
        assert np.array_equal(position.observe(seat), copy.observe(seat))
        mask = np.zeros(game.actions.full_size, dtype=np.int8)
        loops.legal(game.calls, copy.states, 0, mask)
        assert np.array_equal(mask, position.action_mask())
        assert copy.greedy_action(number) == position.greedy_action(number)
        for viewer in (seat, PUBLIC):
            assert position.scene(viewer) == disturbed(position, seat if viewer == seat else -1, number).scene(viewer)
            assert position.text(viewer) == disturbed(position, seat if viewer == seat else -1, number).text(viewer)
        assert position.text(ALL) != copy.text(ALL)


def test_open_holdings_show(game: Game) -> None:
    """R15.3: with the option the observation shows what the other seats hold, and texts and pictures do too."""
    for position in sampled(range(2), open_holdings=True):
        facts = position.to_json()["position"]["seats"]
        for seat in range(3):
            parts = game.observations.decode(position.observe(seat), position.settings.values)
            for relative, other in enumerate(((seat + 1) % 3, (seat + 2) % 3)):
                row = parts["others"][relative]
                assert row[0] == pytest.approx(min(1, facts[other]["coins"] / 50))
                assert (row[1:7] * 7).round().tolist() == [facts[other]["bricks"].get(name, 0) for name in COLOUR_NAMES]
            assert not parts["others"][2].any()
        told = position.to_json(PUBLIC)["position"]
        assert [seat["coins"] for seat in told["seats"]] == [seat["coins"] for seat in facts]
        assert told["bag"] is None


def test_screens_are_lifted_at_the_end() -> None:
    """R9.1: the final scoring shows what everybody holds."""
    *_, end = random_game(2)
    assert end.over
    told = end.to_json(PUBLIC)["position"]
    assert all(seat["coins"] is not None and seat["objects"] is not None for seat in told["seats"])
    assert "behind the screen" not in str(end.scene(PUBLIC).shapes)


def test_determinize_keeps_holdings_and_shuffles_the_pile() -> None:
    """R15.3, R16.2, R16.4."""
    *_, position = (p.clone() for p, _ in zip(random_game(3, 4, **FULL), range(40), strict=False))
    tops, drawn = Counter[int](), set()
    for salt in range(600):
        copy = position.determinize(1, salt)
        for name in (*SCREENED, "bag", "wheel", "offer", "in_pile", "in_force"):
            assert np.array_equal(copy.states[name], position.states[name])
        s = copy.states[0]
        tops[int(s.pile[int(s.pile_size) - 1])] += 1
        drawn.add(copy.seed)
    size = int(position.states["pile_size"][0])
    assert len(tops) == size
    assert max(tops.values()) < 3 * 600 / size
    assert len(drawn) == 600


# --- notation and invariants ------------------------------------------------------------------------------------


def test_words() -> None:
    texts = {
        "buy turn": 0, "BUY  STAY": 1, "tile porta1": 2, "tile villa8": 37, "score city lucca": 40, "relief": 52,
        "score type villa": 49, "score group country": 51, "city lerici": 58, "segment iv": 62, "colour red": 67,
        "improve pisa": 72, "object coat of arms": 82, "done": 83, "announce": 84,
    }  # fmt: skip
    assert {text: notation.parse_action(text) for text in texts} == texts
    with pytest.raises(NotationError, match="did you mean 'tile palazzo3'"):
        notation.parse_action("tile palazo3")
    with pytest.raises(NotationError, match="event 9"):
        notation.event_text(9, 0, 0)
    assert notation.event_text(state.NOT_PAYABLE, 1, 2) == "seat 1 can pay no brick and receives 2 coins"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"phase": "lunch"}, "phase 'lunch'"),
        ({"turn": 7}, "turn 7"),
        ({"pile": ["porta1", "porta1"]}, "name each one once"),
        ({"bag": {"pink": 1}}, "pink"),
        ({"bag": {"red": 9}}, "from 0 to 7"),
        ({"seats": []}, "0 seats are given"),
        ({"cards": ["T1", "O1", "B1", "X9"]}, "X9"),
        ({"city_scored": {"pisa": 5}}, "city_scored"),
    ],
)
def test_impossible_facts_are_refused(change: dict[str, Any], words: str) -> None:
    facts = Position.new("carrara").to_json()
    with pytest.raises(CorruptDataError, match=re.escape(words)):
        Position.from_json({**facts, "position": {**facts["position"], **change}})


def _broken() -> dict[int, list[Any]]:
    """Invariant -> changes of a fresh record (as text, done by `exec`) that break it and none before."""
    return {
        1: ["s.turn = 1", "s.turn = 3", "s.rounds = 200", "s.phase = 8", "s.seat = -1; s.phase = 2"],
        2: ["s.offer = 0", "s.standing[0, 0] = s.in_pile", "s.gone = 1"],
        3: ["s.pile[0] = s.pile[1]", "s.pile_size = 20", "s.pile[20] = -1"],
        4: ["s.bag[0] += 1", "s.bricks[1, 2] = 7", "s.wheel[3, 3] = 7"],
        5: ["s.wheel_total = 7", "s.bag_empty = 1", "s.markers[0] = 5", "s.colours_on[4] = 1"],
        6: ["s.supply[0] = 4", "s.for_sale = 0", "s.objects[1, 3] = 2"],
        7: ["s.improvements[0] = 1", "s.improved[1] = 4"],
        8: ["s.in_force[0] = 2", "s.in_force[1] = 3", "s.in_force[3] = 24 - 8"],
        9: ["s.tile = 3", "s.segment = 1", "s.site = 2", "s.to_pay = 1", "s.taken = 1", "s.last_colour = 1"],
        10: ["s.phase = 7", "s.phase = 6; s.coins[0] = 9", "s.phase = 1; s.coins[0] = 0"],
        11: ["s.triggered = 1", "s.announcer = 0"],
        12: ["s.types_scored[3] = 1", "s.coins[3] = 1", "s.vp[2] = 3"],
    }


def test_check_finds_what_is_broken(game: Game) -> None:
    """Every invariant, each broken in several ways."""
    assert sorted(_broken()) == sorted(state.INVARIANTS)
    for code, changes in _broken().items():
        for change in changes:
            position = Position.new(game, seed=4)
            exec(change, {"s": position.states[0]})
            assert loops.check(game.check_call, position.states, 0) == code, change


# --- the baseline -----------------------------------------------------------------------------------------------


@pytest.mark.skipif(not jit.COMPILED, reason="hundreds of games")
@pytest.mark.parametrize(("num_players", "options"), [(2, {}), (2, FULL), (4, {})], ids=str)
def test_greedy_beats_random(game: Game, num_players: int, options: dict[str, Any]) -> None:
    settings = game.settings(num_players, **options)
    mask, actions = np.zeros(game.actions.full_size, dtype=np.int8), np.zeros(13_000, dtype=np.int64)
    points, places = np.zeros((2, num_players), dtype=np.int32)
    wins = 0
    for number in range(100):
        states, policies = game.template(settings), np.zeros(num_players, dtype=np.int64)
        states["key"] = number
        policies[number % num_players] = loops.GREEDY_POLICY
        loops.start(game.calls, states, 0, mask)
        loops.play_recorded(game.calls, game.greedy_call, states, 0, mask, policies, 0, number, actions)
        loops.score(game.calls, states, 0, points, places)
        wins += places[number % num_players] == 1
    assert wins >= 95
