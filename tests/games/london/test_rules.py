"""London against its rulebook: worked cases, a stored game, options, hidden cards, caps, the baseline.

`reference.py` and `test_reference.py` beside this file are the second reading of the rules. Here stand what no case
says, in small positions written like those of `cases.json`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabletop_envs import casebook, registry
from tabletop_envs.core import jit, loops
from tabletop_envs.core.game import ALL, PUBLIC, Game
from tabletop_envs.core.header import OVER_CAP, OVER_RULES
from tabletop_envs.core.position import Position
from tabletop_envs.errors import IllegalActionError, NotationError
from tabletop_envs.games.london import cases, notation, rules, state, tables, view
from tabletop_envs.games.london.actions import DECK, SLOT

HERE = Path(__file__).parent
FOLDER = Path(registry.load("london").modules["rules"].__file__ or "").parent
RULES = (FOLDER / "RULES.md").read_text(encoding="utf-8")
CASES: list[dict[str, Any]] = casebook.load(HERE / "cases.json")
TRACE: dict[str, Any] = json.loads((HERE / "trace_2p.json").read_text(encoding="utf-8"))
DECK_OF_PAUPERS = ["Paupers"] * 12
EVERYTHING = {
    "public_houses": "end_only",
    "max_turns": 300,
    "max_voluntary_loans_per_turn": 3,
    "school_pays_activation": True,
    "count_scope": "all",
}
OPTION_SETS: list[dict[str, Any]] = [
    {},
    {"public_houses": "official"},
    {"public_houses": "end_only"},
    {"max_voluntary_loans_per_turn": 0},
    {"school_pays_activation": True, "count_scope": "all"},
    EVERYTHING,
]


@pytest.fixture(scope="module")
def game() -> Game:
    return registry.load("london")


def arranged(game: Game, seats: list[dict[str, Any]], **setup: Any) -> Position:
    """A position written as the set-up of a case; a deck of Paupers and an empty display unless they are given."""
    given = {"players": len(seats), "deck": DECK_OF_PAUPERS, **setup, "seats": seats}
    case = {"id": "here", "clauses": ["R1.1"], "setup": given}
    players, options = cases.settings(case)
    settings = game.settings(players, **options)
    states = game.template(settings)
    cases.arrange(case, states[0])
    loops.refresh(game.calls, states, 0, np.zeros(game.actions.full_size, dtype=np.int8))
    return Position(game, settings, states)


def play(position: Position, *choices: str) -> Position:
    for choice in choices:
        position.apply(cases.choice_action(choice))
    return position


def legal(position: Position) -> set[str]:
    return {cases.choice_text(int(action)) for action in position.legal_actions()}


def facts(position: Position) -> dict[str, Any]:
    told: dict[str, Any] = position.to_json(ALL)["position"]
    return told


def seat_of(position: Position, seat: int = 0) -> dict[str, Any]:
    told: dict[str, Any] = facts(position)["seats"][seat]
    return told


def random_game(seed: int, players: int, **options: Any) -> Iterator[Position]:
    """The positions of a game of uniformly random play, the finished one last. One object, changed in place."""
    position = Position.new("london", players, seed=seed, **options)
    generator = np.random.default_rng(seed)
    yield position
    while not position.over:
        position.apply(int(generator.choice(position.legal_actions())))
        yield position


# --- worked cases and the stored game ---------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(game: Game, case: dict[str, Any]) -> None:
    result = casebook.run(game, case)
    assert result.status == casebook.PASS, result.differences


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ({"node": "DRAW"}, "node: expected 'DRAW', found 'ACTION'"),
        ({"current": 1}, "current"),
        ({"deck_size": 3}, "deck_size"),
        ({"underground": ["City"]}, "underground"),
        ({"display": []}, "display"),
        ({"legal": {"exactly": ["take3"]}}, "legal"),
        ({"legal": {"includes": ["run"]}}, "run is not legal"),
        ({"legal": {"excludes": ["take3"]}}, "take3 is legal"),
        ({"legal": {"all": []}}, "not understood"),
        ({"seats": {"0": {"money": 7}}}, "seat 0 money"),
        ({"seats": {"0": {"hand": ["Wren"]}}}, "seat 0 hand"),
        ({"seats": {"0": {"stacks": [{"cards": ["Wren"]}]}}}, "seat 0 stacks"),
        ({"seats": {"0": {"size": 1}}}, "nothing"),
        ({"final": {"vp": [0, 0]}}, "final.vp"),
        ({"weather": "rain"}, "weather: not understood"),
    ],
)
def test_false_expectations_are_told(game: Game, expected: dict[str, Any], words: str) -> None:
    position = arranged(game, [{"hand": ["Paupers"]}, {}])
    lines = cases.differences(expected, position)
    assert lines
    assert words in lines[0]


@pytest.mark.parametrize(
    ("setup", "words"),
    [
        ({"colour": "red"}, "colour"),
        ({"node": "SOON"}, "SOON"),
        ({"deck": ["Grocer"]}, "did you mean 'Grocers'"),
        ({"display": [[None]]}, "Card Display"),
        ({"seats": [{"stacks": ["Paupers"]}, {}]}, "no stone base"),
        ({"seats": [{"cards": []}, {}]}, "cards"),
        ({"seats": [{}]}, "seats"),
        ({"underground": ["Croydon"]}, "Croydon"),
    ],
)
def test_impossible_set_ups_are_refused(game: Game, setup: dict[str, Any], words: str) -> None:
    case = {"setup": {"players": 2, "seats": [{}, {}], **setup}}
    with pytest.raises(NotationError, match=words):
        cases.arrange(case, game.template(game.settings(2))[0])


@pytest.mark.nojit
def test_the_stored_game(game: Game) -> None:
    """A whole game of two players: every node, the number of options, and what stands behind each turn."""
    states = game.template(game.settings(2))
    s = states[0]
    rules.clear(s)
    for seat, names in enumerate(TRACE["hands"]):
        s["money"][seat], s["poverty"][seat] = tables.MONEY, tables.POVERTY
        for name in names:
            rules.add_to_hand(s, seat, notation.card_number(name))
    notation.set_deck(TRACE["deck"], s)
    s["turn"] = s["start"] = TRACE["start_player"]
    rules.start_turn(s)
    loops.refresh(game.calls, states, 0, np.zeros(game.actions.full_size, dtype=np.int8))
    position = Position(game, game.settings(2), states)
    fields = ("money", "loans", "poverty", "counters", "hand_size", "stacks")
    checkpoints = {row[0]: row[1:] for row in TRACE["checkpoints"]}
    for number, (seat, node, choice, options) in enumerate(TRACE["steps"], 1):
        assert (position.seat, position.phase) == (seat, node.lower())
        assert len(position.legal_actions()) == options
        play(position, choice)
        if number in checkpoints:
            s = position.states[0]
            found = [int(s["turns"]), *(s[field][:2].tolist() for field in fields), int(s["deck_size"])]
            assert found == checkpoints[number]
    final = TRACE["final"]
    assert position.over
    assert not position.capped
    assert (position.points(), position.places()) == (final["vp"], final["ranks"])
    assert [set(seat["boroughs"]) for seat in facts(position)["seats"]] == [set(own) for own in final["boroughs"]]
    assert set(facts(position)["underground"]) == set(final["underground"])
    lowest = int(rules.lowest_poverty(s))
    levelled = [int(rules.final_poverty(position.states[0], seat)) - lowest for seat in (0, 1)]
    assert levelled == final["poverty_after_levelling"]


def test_every_clause_is_cited() -> None:
    """A ratchet: every clause of the rules is named by the code, by a case or by a test."""
    clauses = set(re.findall(r"^- \*{0,2}(R\d+\.\d+)", RULES, re.M))
    cited = " ".join(path.read_text(encoding="utf-8") for folder in (FOLDER, HERE) for path in folder.glob("*.py"))
    cited += " " + " ".join(clause for case in CASES for clause in case["clauses"])
    named = set(re.findall(r"R\d+\.\d+", cited))
    for first, last in re.findall(r"(R\d+\.\d+) to (R\d+\.\d+)", cited):
        part, low = first.split(".")
        named |= {f"{part}.{number}" for number in range(int(low), int(last.split(".")[1]) + 1)}
    assert not clauses - named


# --- setup and end ----------------------------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize("players", [2, 3, 4])
def test_setup(players: int) -> None:
    """R2.1 to R2.6: hands, deck in its order, display; R3.1, R1.5."""
    position = Position.new("london", players, seed=11)
    told = facts(position)
    deck = told["deck"]
    assert {2: 98, 3: 92, 4: 86}[players] in (len(deck), len(deck) + 1)  # the first draw is forced: no display
    letters = [
        [tables.CARDS[notation.card_number(name)].copies for name in part] for part in (deck[-35:], deck[-85:-35])
    ]
    assert all(copies[2] for copies in letters[0])
    assert all(copies[1] for copies in letters[1])
    assert [len(row) for row in told["display"]] == [players + 1] * 2
    for seat, own in enumerate(told["seats"]):
        assert (own["money"], own["poverty"], own["loans"], own["vp_counters"]) == (5, 5, 0, 0)
        assert own["hand_size"] == 6 + (seat == told["turn"])
    held = Counter(deck) + sum((Counter(own["hand"]) for own in told["seats"]), Counter())
    assert held == Counter({card.name: sum(card.copies) for card in tables.CARDS})


def test_start_players_are_drawn_evenly() -> None:
    """R2.5."""
    starts = Counter(int(Position.new("london", 4, seed=seed).states["start"][0]) for seed in range(400))
    assert all(70 < starts[seat] < 130 for seat in range(4))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_everybody_else_has_one_more_turn(players: int) -> None:
    """R12.1 to R12.3, D32: whoever took the last card has no further turn."""
    for seed in range(4):
        took, seats = None, []
        for position in random_game(seed, players):
            for event in position.events():
                if "last card" in event:
                    took = int(event.split()[1])
                    seats = []
                if event.startswith("turn ") and took is not None:
                    seats.append(int(event.split()[-1]))
        assert position.states["over"][0] == OVER_RULES
        assert took is not None
        assert seats == [(took + on) % players for on in range(1, players)]


def test_the_cap_on_turns(game: Game) -> None:
    """R12.4, O2: scored as usual, and told as a cap."""
    *_, position = random_game(3, 3, max_turns=20)
    assert position.states["over"][0] == OVER_CAP
    assert position.states["turns"][0] == 20
    assert position.capped
    assert sorted(position.places())[0] == 1
    # the last turn of the end phase at the cap ends by the rules
    seats: list[dict[str, Any]] = [{"hand": ["Paupers"]}, {}]
    last = arranged(game, seats, deck=[], final_turns_left=1, current=1, options={"max_turns": 1})
    assert last.states["over"][0] == 0
    play(last, "take3")
    assert last.states["over"][0] == OVER_RULES


def test_nobody_can_exhaust_the_cap_on_decisions(game: Game) -> None:
    """R16.1, R16.2: players who only take from the display meet the cap on turns long before that on decisions."""
    position = Position.new("london", 2, seed=5)
    while not position.over:
        options = position.legal_actions()
        slots = options[(options >= SLOT) & (options < DECK)]
        wanted = [112] if 112 in options else slots.tolist() or options.tolist()
        position.apply(int(wanted[-1]))
    assert position.states["turns"][0] == 240
    assert position.capped
    assert position.decisions < 3000


# --- taking cards -----------------------------------------------------------------------------------------------


def test_parliament_and_university_together(game: Game) -> None:
    """R6.4 to R6.6: two of the seen cards, or one and one of the display, or none; the deck itself is closed."""
    seats: list[dict[str, Any]] = [{"hand": [], "stacks": ["Parliament", "University of London"]}, {}]
    deck = ["Grocers", "Salters", "Wren", "Mercers", *DECK_OF_PAUPERS]
    shown = [["Vintners", None, None], [None, None, None]]
    start = arranged(game, seats, node="START", deck=deck, display=shown)
    assert legal(start) == {"peek:1", "peek:2", "peek:3", "slot:1,1", "done"}
    two = play(start.clone(), "peek:2", "peek:2")
    assert seat_of(two)["hand"] == ["Salters", "Wren"]
    assert facts(two)["deck"][:2] == ["Grocers", "Mercers"]
    mixed = play(start.clone(), "slot:1,1", "peek:1")
    assert mixed.phase == "reorder"
    assert seat_of(mixed)["hand"] == ["Grocers", "Vintners"]
    assert legal(mixed) == {"peek:1", "peek:2"}
    none = play(start.clone(), "done")
    assert none.phase == "reorder"
    play(none, "peek:3", "peek:2")
    assert facts(none)["deck"][:3] == ["Wren", "Salters", "Grocers"]
    assert none.phase == "action"


def test_a_covered_university_does_not_look(game: Game) -> None:
    """R7.12, D22."""
    seats: list[dict[str, Any]] = [{"hand": [], "stacks": [{"cards": ["University of London", "Grocers"]}]}, {}]
    position = arranged(game, seats, node="START", display=[["Wren", None, None], [None] * 3])
    assert legal(position) == {"deck", "slot:1,1"}


def test_the_last_seen_card_ends_the_deck(game: Game) -> None:
    """R12.1: looking is not taking."""
    seats: list[dict[str, Any]] = [{"hand": ["Paupers"], "stacks": ["University of London"]}, {}]
    position = arranged(game, seats, node="START", deck=["Grocers", "Wren"])
    assert facts(position)["turns_left"] == 0
    play(position, "peek:2")
    assert facts(position)["turns_left"] == 0
    play(position, "take3")
    assert facts(position)["turns_left"] == 1  # of the other player
    assert facts(position)["turn"] == 1


@pytest.mark.parametrize("players", [2, 3, 4])
def test_rows_overflow(game: Game, players: int) -> None:
    """R5.3 to R5.6 with every number of columns."""
    width = players + 1
    rows = [["Grocers"] * width, ["Salters"] * width]
    seats: list[dict[str, Any]] = [{"hand": ["Haberdashers", "Mercers", "Paupers"]}, *[{}] * (players - 1)]
    position = arranged(game, seats, display=rows)
    play(position, "card:Haberdashers")
    told = facts(position)
    assert told["display"] == [["Salters"] * width, ["Mercers", *[None] * (width - 1)]]
    assert told["discard"] == ["Grocers"] * width
    assert "leave the game" in " ".join(position.events())


# --- plays ------------------------------------------------------------------------------------------------------


def test_wren_spares_two_stone_cards_and_no_coffee_house(game: Game) -> None:
    """R7.9, D11: a Coffee House uses none up; the rest is lost with the action; DONE only behind a placement."""
    hand = ["Wren", "Coffee House", "Grocers", "Kew Gardens", "Sewers"]
    position = play(arranged(game, [{"money": 50, "hand": hand}, {}]), "card:Wren")
    assert legal(position) == {"card:Coffee House", "card:Grocers", "card:Kew Gardens", "card:Sewers"}
    play(position, "card:Coffee House")
    assert facts(position)["free_plays"] == 2
    play(position, "card:Grocers", "card:Kew Gardens")
    assert facts(position)["turn"] == 1  # Sewers has no payment card: DONE was all that was left
    assert seat_of(position)["hand"] == ["Sewers"]


def test_refugees_need_a_card_to_take(game: Game) -> None:
    """R7.8, D12."""
    seats: list[dict[str, Any]] = [{"hand": ["Huguenots", "Jewish Refugees", "Paupers"]}, {}]
    assert "card:Huguenots" in legal(arranged(game, seats))
    assert not any(choice.startswith("card:") for choice in legal(arranged(game, seats, deck=[])))


def test_a_school_in_hand_or_covered_does_not_count(game: Game) -> None:
    """R4.5, R7.4, R7.12."""
    hand = ["Great Exhibition", "Paupers", "School (brown, A)"]
    for stacks, playable in (([], False), (["School (blue, A)"], True)):
        seats: list[dict[str, Any]] = [{"hand": hand, "stacks": stacks}, {}]
        assert ("card:Great Exhibition" in legal(arranged(game, seats))) == playable
    covered = [{"hand": hand, "stacks": [{"cards": ["School (blue, A)", "Grocers"]}]}, {}]
    assert "card:Great Exhibition" not in legal(arranged(game, covered))


def test_the_cheapest_copy_is_covered(game: Game) -> None:
    """R14.4: of two Shops the one with less money; of equal ones the first."""
    stacks = [{"cards": ["Shops"], "money": 3}, {"cards": ["Shops"], "money": 1}, {"cards": ["Shops"], "money": 1}]
    position = arranged(game, [{"hand": ["Grocers", "Salters"], "stacks": stacks}, {}])
    play(position, "card:Grocers", "card:Shops")
    own = facts(position)["stacks"]
    assert [stack["cards"][-1] for stack in own] == ["Shops", "Grocers", "Shops"]
    assert [stack["money"] for stack in own] == [4, 0, 2]  # R7.10


def test_the_exchange_behind_a_purchase(game: Game) -> None:
    """R7.11, D20: END_TURN is asked only if it is available, once; and it is not offered before a first activation."""
    shown = [["Wren", "Sewers", None], [None] * 3]
    seats: list[dict[str, Any]] = [{"money": 20, "hand": ["Paupers"], "stacks": ["Stock Exchange"]}, {}]
    position = play(arranged(game, seats, display=shown), "borough:Westminster", "deck", "deck")
    assert legal(position) == {"exchange", "done"}
    play(position, "exchange", "slot:1,2")  # Paupers are all there is to give
    told = facts(position)
    assert told["turn"] == 1
    assert told["display"][0] == ["Wren", "Paupers", None]
    assert seat_of(position)["openly_taken"] == ["Sewers"]
    two = [{"hand": ["Paupers"], "stacks": ["Stock Exchange", "Grand Hotel"]}, {}]
    running = play(arranged(game, two, display=shown), "run")
    assert legal(running) == {"card:Stock Exchange", "card:Grand Hotel"}
    play(running, "card:Stock Exchange")
    assert legal(running) == {"card:Grand Hotel", "exchange", "loan", "done"}


# --- runs -------------------------------------------------------------------------------------------------------


def test_hospital_saves_whitehall_and_what_it_repeats(game: Game) -> None:
    """R9.12, R9.13: the repeated card comes first, then Whitehall; each Hospital works once."""
    stacks = ["Hospital", "Hospital", "Furniture Makers", "Whitehall"]
    position = arranged(game, [{"money": 0, "poverty": 0, "stacks": stacks}, {}])
    play(position, "run", "flip_hospital", "card:Whitehall")
    assert position.phase == "flip"
    assert facts(position)["card"] == "Furniture Makers"
    play(position, "flip_self")
    assert facts(position)["card"] == "Whitehall"
    play(position, "flip_hospital")
    assert seat_of(position)["money"] == 12
    up = [stack["face_up"] for stack in facts(position)["stacks"]]
    assert up == [False, False, False, True]


def test_whitehall_repeats_town_houses_face_down(game: Game) -> None:
    """R9.13, R9.18: the card itself counts exactly once, also face down; nothing is due."""
    position = arranged(game, [{"poverty": 0, "stacks": ["Town Houses", "Whitehall", "St Paul's"]}, {}])
    play(position, "run", "card:Whitehall")
    assert seat_of(position)["vp_counters"] == 3 + 3


def test_whitehall_does_not_repeat_public_houses_or_what_does_nothing(game: Game) -> None:
    """R9.4, R9.13: Almshouses with no poverty left are no target."""
    stacks = ["Public Houses", "Almshouses", "Whitehall", "Grand Hotel"]
    position = arranged(game, [{"poverty": 2, "stacks": stacks}, {}])
    play(position, "run", "card:Public Houses", "card:Almshouses")
    assert "card:Whitehall" not in legal(position)
    play(position, "card:Grand Hotel", "card:Whitehall")  # the Grand Hotel is the only target
    assert seat_of(position)["money"] == 5 + 4 + 4


def test_a_coffee_house_on_a_coffee_house(game: Game) -> None:
    """R9.16, D19: the placed card may be activated in the same run, also another Coffee House."""
    shown = [["Coffee House", "Grand Hotel", None], [None] * 3]
    position = arranged(game, [{"money": 0, "poverty": 0, "stacks": ["Coffee House", "Omnibus"]}, {}], display=shown)
    play(position, "run", "slot:1,1", "card:Coffee House", "card:Grand Hotel")
    stack = facts(position)["stacks"][0]
    assert stack["cards"] == ["Coffee House", "Coffee House", "Grand Hotel"]
    assert facts(position)["turn"] == 1
    assert seat_of(position)["money"] == 4


def test_underground_counters_run_out(game: Game) -> None:
    """R9.14, D16: one of ten is left, so one is placed; the river is paid for only without a neighbour on land."""
    north = [borough.name for borough in tables.BOROUGHS if borough.bank == "north"]
    seats: list[dict[str, Any]] = [
        {"money": 9, "poverty": 0, "hand": ["Paupers"], "boroughs": north[:10], "stacks": ["Underground"]},
        {"boroughs": ["Southwark & Bermondsey", "Lambeth", *north[10:]]},
    ]
    position = arranged(game, seats, underground=north[:9])
    play(position, "run")
    assert {"borough:Southwark & Bermondsey", "borough:Lambeth"} < legal(position)
    play(position, "borough:Lambeth")
    assert len(facts(position)["underground"]) == 10
    assert seat_of(position)["money"] == 6


def test_eleven_boroughs_are_enough(game: Game) -> None:
    """R10.1, D29."""
    names = [borough.name for borough in tables.BOROUGHS]
    for number, offered in ((10, True), (11, False)):
        position = arranged(game, [{"hand": ["Paupers"], "boroughs": names[:number]}, {}])
        assert any(choice.startswith("borough:") for choice in legal(position)) == offered


def test_loans_between_plays(game: Game) -> None:
    """R11.5: not before the first play, and only while more can be played; R11.4: 12 pounds with the Bank."""
    hand = ["Grocers", "Salters", "Mercers", "Vintners"]
    position = arranged(game, [{"hand": hand, "stacks": ["Bank of England"]}, {}])
    play(position, "loan", "card:Grocers", "card:Salters", "new")
    assert "loan" in legal(position)
    play(position, "loan")
    assert "loan" not in legal(position)
    assert (seat_of(position)["money"], seat_of(position)["loans"]) == (5 + 24, 2)
    three = arranged(game, [{"hand": ["Wren", "Grocers", "Salters"]}, {}])
    play(three, "card:Wren")
    assert legal(three) == {"card:Grocers", "card:Salters"}


# --- options ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "run", "end"), [("both", 2, 0), ("official", 2, 4), ("end_only", 6, 0)])
def test_public_houses(game: Game, value: str, run: int, end: int) -> None:
    """R9.15, R13.3, O1, D2: in the run, at the end, or both; at the end visible and activated at some time."""
    seat = {"money": 0, "poverty": 0, "hand": ["Paupers"] * 4, "stacks": ["Public Houses", "Grand Hotel"]}
    options = {"public_houses": value}
    position = arranged(game, [seat, {}], options=options)
    play(position, "run", "card:Public Houses", "card:Grand Hotel")
    assert seat_of(position)["poverty"] == run
    for stacks, activated, spared in (
        (["Public Houses"], True, True),
        (["Public Houses"], False, False),
        ([{"cards": ["Public Houses", "Grocers"]}], True, False),
        ([{"cards": ["Public Houses"], "face_up": False}], True, False),
    ):
        told = {"poverty": 0, "hand": ["Paupers"] * 4, "stacks": stacks, "pub_activated": activated}
        final = arranged(game, [told, {"poverty": 0}], node="FINAL", deck=[], options=options)
        assert rules.final_poverty(final.states[0], 0) == (end if spared else 4)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("options", OPTION_SETS, ids=str)
def test_games_with_every_option_set(game: Game, players: int, options: dict[str, Any]) -> None:
    """R4.3, R14.1, R14.2: whole games; the mask is what `apply` accepts, invariants hold, one seat asked."""
    scratch, accepted = np.empty(1, dtype=game.dtype), np.zeros(game.actions.full_size, dtype=np.int8)
    for position in random_game(7, players, **options):
        code = loops.check(game.check_call, position.states, 0)
        assert code == 0, state.INVARIANTS[code]
        if position.over:
            break
        assert position.seat == position.states["turn"][0]
        assert len(position.legal_actions()) > 1
        if position.decisions % 5 == 0:
            loops.accepted(game.calls, position.states, 0, scratch, accepted)
            assert np.array_equal(accepted, position.action_mask())
        for seat in range(players):
            assert position.states["hand_size"][0, seat] <= 16  # R16.2, R4.4
        assert position.states["loans_taken"][0] <= options.get("max_voluntary_loans_per_turn", 2)


@pytest.mark.nojit
def test_a_turn_in_plain_python(game: Game) -> None:
    """The invariants behind each of some decisions, also with the JIT off."""
    for number, position in enumerate(random_game(2, 4, **EVERYTHING)):
        if number % 6 == 0:
            assert loops.check(game.check_call, position.states, 0) == 0
        if number == 90:
            break


def test_single_options_are_asked_if_wanted(game: Game) -> None:
    """R14.2 with `auto_forced` off: the same game, with more decisions."""
    position = Position.new("london", 2, seed=3, auto_forced=False)
    single = 0
    generator = np.random.default_rng(1)
    while not position.over:
        options = position.legal_actions()
        single += len(options) == 1
        position.apply(int(generator.choice(options)))
        assert loops.check(game.check_call, position.states, 0) == 0
    assert single > 50


@pytest.mark.parametrize("name", [field.name for field in state.FIELDS if field.name not in ("money", "loans")])
def test_check_notices_a_changed_field(game: Game, name: str) -> None:
    """Whatever the position depends on is held together by `check`, but for what may have any value."""
    free = {"poverty", "counters", "pub_activated", "start", "turns", "pub_run", "known", "free", "plays"}
    free |= {"activations", "expended", "exchanged", "loans_taken", "reason", "due", "optional", "whitehall"}
    free |= {"underground", "peeking"}
    if name in free:
        pytest.skip("may have any value of its range")
    *_, end = zip(range(300), random_game(5, 3), strict=False)
    position = end[1]
    low, high = next(field.span for field in state.FIELDS if field.name == name)
    values = position.states[name][0]
    flat = values.reshape(-1) if values.shape else position.states[name]
    met = 0
    for index in range(min(len(flat), 4)):
        kept = flat[index]
        flat[index] = low if kept != low else min(high, low + 1)
        met += loops.check(game.check_call, position.states, 0) != 0
        flat[index] = kept
    assert met > 0
    assert loops.check(game.check_call, position.states, 0) == 0


# --- what is hidden ---------------------------------------------------------------------------------------------


def test_openly_taken_cards_stay_in_hand() -> None:
    """R17.3: a card taken from the display is known until it leaves the hand; all else in other hands is dealt anew."""
    changed = 0
    for position in random_game(4, 3):
        if position.decisions % 40 or position.over:
            continue
        known = position.states["known"][0]
        for seat in range(3):
            copies = [position.determinize(seat, salt) for salt in range(4)]
            for copy in copies:
                hands = copy.states["hands"][0]
                assert (hands >= known).all()
                assert np.array_equal(hands[seat], position.states["hands"][0, seat])
                changed += not np.array_equal(hands, position.states["hands"][0])
    assert changed > 50


def test_seen_university_cards_stay_on_top() -> None:
    """R6.5, R17.3: for the seat that looked, until they are taken; for the others they are dealt anew."""
    met = Counter[bool]()
    for seed in range(8):
        for position in random_game(seed, 2):
            reader = int(position.states["reader"][0])
            if reader < 0 or position.decisions % 5:
                continue
            own = position.determinize(reader, 3).states["seen"][0]
            assert np.array_equal(own, position.states["seen"][0])
            others = position.determinize(1 - reader, 3).states["seen"][0]
            met[np.array_equal(others, own)] += 1
    assert met[False] > 10


def test_decks_keep_their_letters() -> None:
    """R2.2, R17.1, R17.4: every place of the deck gets a card that lies in that deck."""
    for position in random_game(9, 4):
        if position.over or position.decisions % 25:
            continue
        copy = position.determinize((int(position.seat or 0) + 1) % 4, 5)
        below = copy.states["deck"][0, : int(state.in_place(copy.states[0]))].tolist()
        for place, kind in enumerate(below):
            letter = 2 if place < 35 else 1 if place < 85 else 0
            assert tables.LETTER_COPIES[letter, kind] > 0
        for letter, part in ((2, below[:35]), (1, below[35:85])):
            for kind, number in Counter(part).items():
                assert number <= tables.LETTER_COPIES[letter, kind]


def test_a_seat_that_is_asked_has_a_choice_in_every_deal() -> None:
    """R14.2, R17.5: also where its options come from its hidden hand."""
    met = Counter[str]()
    for seed in range(3):
        for position in random_game(seed, 2):
            if position.over or position.seat is None or position.decisions % 3:
                continue
            for salt in range(3):
                copy = position.determinize(1 - position.seat, salt)
                assert len(copy.legal_actions()) > 1
            met[position.phase] += 1
    assert met["pay_card"] > 5
    assert met["discard"] > 5


def test_observation_of_counts(game: Game) -> None:
    """The observation's hand, display and tops of a small position, by name."""
    seats: list[dict[str, Any]] = [{"hand": ["Paupers", "Paupers", "Sewers"], "stacks": ["Hospital"]}, {"money": 30}]
    position = arranged(game, seats, display=[["Wren", None, None], [None, "Sewers", None]])
    parts = game.observations.decode(position.observe(0), position.settings.values)
    assert parts["hand"][notation.card_number("Paupers")] == pytest.approx(2 / 11)
    assert parts["hand"][notation.card_number("Sewers")] == pytest.approx(1 / 5)
    assert parts["display"][0, 0, notation.card_number("Wren")] == 1
    assert parts["display"][1, 1, notation.card_number("Sewers")] == 1
    assert parts["display"].sum() == 2
    assert parts["self_visible"][notation.card_number("Hospital")] == pytest.approx(1 / 3)
    assert parts["second_facts"][0] == pytest.approx(30 / view.MONEY_SCALE)
    assert parts["node"].argmax() == state.Phase.ACTION
    other = game.observations.decode(position.observe(1), position.settings.values)
    assert other["hand"].sum() == 0
    assert np.array_equal(other["second_visible"], parts["self_visible"])


# --- notation ---------------------------------------------------------------------------------------------------


@pytest.mark.nojit
def test_action_texts() -> None:
    texts = [notation.action_text(action) for action in range(118)]
    assert len(set(texts)) == 118
    assert texts[6] == "card grocers"
    assert texts[78] == "slot 2,2"
    assert texts[86] == "borough city"
    assert [notation.parse_action(text.upper()) for text in texts] == list(range(118))
    with pytest.raises(NotationError, match="did you mean 'card grocers'"):
        notation.parse_action("card grocer")


def test_event_texts() -> None:
    """R11.2, R9.9, R6.2, R5.4, R12.1 in words."""
    assert notation.event_text(state.TURN, 1, 4) == "turn 5: seat 1"
    assert notation.event_text(state.LOANS, 0, 1) == "seat 0 takes 1 loan to pay"
    assert notation.event_text(state.POOR, 2, 3) == "seat 2 takes 3 poverty points after the run"
    assert notation.event_text(state.POOR, 2, -1) == "seat 2 gives back 1 poverty point after the run"
    with pytest.raises(NotationError):
        notation.event_text(99, 0, 0)


@pytest.mark.parametrize(
    ("change", "to"),
    [
        ('"phase": "', '"phase": "x'),
        ('"turn": ', '"turn": 9'),
        ("display: [[", "display: [[null, "),
        ("seat: ", "sat: "),
    ],
)
def test_what_is_no_position_is_refused(game: Game, change: str, to: str) -> None:
    text = Position.new("london", 3, seed=2).text(ALL)
    with pytest.raises(NotationError):
        notation.parse_position(text.replace(change, to, 1), game.template(game.settings(3))[0])


def test_others_are_told_no_hand() -> None:
    """R17.2."""
    position = Position.new("london", 3, seed=2)
    for viewer in (PUBLIC, 0, 1, 2):
        told = position.to_json(viewer)["position"]
        assert "deck" not in told
        assert [seat["hand"] is not None for seat in told["seats"]] == [seat == viewer for seat in range(3)]


# --- play -------------------------------------------------------------------------------------------------------


def test_illegal_actions_are_refused(game: Game) -> None:
    position = Position.new("london", 2, seed=1)
    before = position.to_bytes()
    for action in np.flatnonzero(position.action_mask() == 0):
        with pytest.raises(IllegalActionError):
            position.apply(int(action))
    assert position.to_bytes() == before


def results(
    game: Game, players: int, games: int, greedy_seat: int | None
) -> tuple[list[float], list[list[int]], list[int]]:
    """Shares of first places of the greedy seat, points of all seats and lengths of games, random but for that seat."""
    mask = np.zeros(game.actions.full_size, dtype=np.int8)
    actions = np.zeros(game.spec.max_decisions[players], dtype=np.int64)
    shares, points, lengths = [], [], []
    for number in range(games):
        states = game.template(game.settings(players))
        states["key"] = number
        loops.start(game.calls, states, 0, mask)
        policies = np.zeros(players, dtype=np.int64)
        seat = number % players
        if greedy_seat is not None:
            policies[seat] = loops.GREEDY_POLICY
        made = loops.play_recorded(game.calls, game.greedy_call, states, 0, mask, policies, 0, number + 1, actions)
        position = Position(game, game.settings(players), states)
        places = position.places()
        shares.append(1 / places.count(1) if places[seat] == 1 else 0.0)
        points.append(position.points())
        lengths.append(made)
    return shares, points, lengths


@pytest.mark.skipif(not jit.COMPILED, reason="hundreds of games")
@pytest.mark.parametrize("players", [2, 3, 4])
def test_greedy_beats_random(game: Game, players: int) -> None:
    shares, _, _ = results(game, players, 60, 0)
    assert np.mean(shares) >= 0.95


@pytest.mark.skipif(not jit.COMPILED, reason="hundreds of games")
def test_statistics_of_random_play(game: Game) -> None:
    """R16.3."""
    for players in (2, 3, 4):
        _, points, lengths = results(game, players, 200, None)
        assert 560 < np.mean(lengths) < 640
        assert min(lengths) > 350
        assert max(lengths) < 1000
        assert -40 < np.mean(points) < -10
