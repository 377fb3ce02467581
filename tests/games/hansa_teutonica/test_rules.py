"""Hansa Teutonica against its rulebook: worked cases, clauses that they leave out, options, invariants, information.

`test_reference.py` beside this file plays whole games against a second reading of the rules. Tests cite the clauses
that they witness; one test lists those that no case and no test cites.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabletop_envs
from tabletop_envs import casebook, registry
from tabletop_envs.core import jit, loops, record
from tabletop_envs.core.game import ALL, PUBLIC, Game
from tabletop_envs.core.header import NOBODY, OVER_CAP, OVER_RULES
from tabletop_envs.core.position import Position
from tabletop_envs.errors import CorruptDataError, NotationError, OptionError
from tabletop_envs.games.hansa_teutonica import cases, notation, state, tables
from tabletop_envs.games.hansa_teutonica.actions import (
    DONE,
    EXTRA,
    INCOME,
    OFFICE,
    PAWN,
    PAY,
    PLACE,
    REWARD,
    ROUTE,
    SPACE,
    USE_PLUS3,
    USE_REMOVE3,
    USE_SWAP,
    USE_UPGRADE,
)
from tabletop_envs.games.hansa_teutonica.state import End, Phase

HERE = Path(__file__).parent
RULES = Path(registry.load("hansa_teutonica").modules["rules"].__file__ or "").with_name("RULES.md")
CASES: list[dict[str, Any]] = casebook.load(HERE / "cases.json")

# every option changed, where it fits
CHANGED: dict[str, Any] = {
    "edition": "bigbox",
    "merchant_in_square": False,
    "east_west": "immediate",
    "swap_requires_own": True,
    "allow_early_end": False,
}
OPTION_SETS: list[tuple[int, dict[str, Any]]] = [
    (2, {}),
    (3, {}),
    (4, {}),
    (5, {}),
    (2, {"two_player_pawn": True}),
    (4, CHANGED),
    (2, {**CHANGED, "two_player_pawn": True, "auto_forced": False}),
    (5, {"max_rounds": 3, "auto_forced": False}),
]


@pytest.fixture(scope="module")
def game() -> Game:
    return registry.load("hansa_teutonica")


def arranged(game: Game, setup: dict[str, Any], **options: Any) -> Position:
    """The position of a set-up as the worked cases have them; forced decisions are asked."""
    case = {"setup": {"num_players": 3, **setup}, "options": options}
    players, values = cases.settings(case)
    settings = game.settings(players, **values)
    states = game.template(settings)
    cases.arrange(case, states[0])
    return Position(game, settings, states)


def legal(position: Position) -> set[int]:
    return set(map(int, position.legal_actions()))


def route(key: str) -> int:
    return tables.ROUTE_KEYS.index(key)


def first_space(key: str) -> int:
    return int(tables.ROUTE_FIRST[route(key)])


def walked(players: int, seed: int, greedy: float = 0.5, **options: Any) -> Iterator[Position]:
    """The positions of a game in which decisions are greedy or uniform, the finished one last; one object."""
    position = Position.new("hansa_teutonica", players, seed=seed, **options)
    generator = np.random.default_rng(seed)
    yield position
    while not position.over:
        choice = (
            position.greedy_action(seed) if generator.random() < greedy else generator.choice(position.legal_actions())
        )
        position.apply(int(choice))
        yield position


# --- worked cases -----------------------------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(game: Game, case: dict[str, Any]) -> None:
    result = casebook.run(game, case)
    assert result.status == casebook.PASS, "\n".join(result.differences)


def _spoil(value: Any) -> Any:
    """Something else of the same form."""
    if isinstance(value, dict):
        last = list(value)[-1]
        return {**value, last: _spoil(value[last])}
    if isinstance(value, list):
        return [_spoil(value[0]), *value[1:]] if value else ["0T"]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return {"MAIN": "PAY", "-": "0T"}.get(value, "-")


COMPARED = sorted({key for case in CASES for key in case["expect"]} - {"legal", "illegal", "legal_exactly"})


@pytest.mark.parametrize("key", COMPARED)
def test_every_expectation_is_compared(game: Game, key: str) -> None:
    """A case with one wrong expectation fails, and says of which."""
    case = next(case for case in CASES if key in case["expect"] and case["expect"][key] != {})
    result = casebook.run(game, {**case, "expect": {**case["expect"], key: _spoil(case["expect"][key])}})
    assert result.status == casebook.FAIL
    assert all(line.startswith(key) for line in result.differences), result.differences


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ({"legal": [{"act": "INCOME", "merchants": 4}]}, "is not"),
        ({"illegal": [{"act": "END_TURN"}]}, "is legal"),
        ({"legal_exactly": [{"act": "INCOME", "merchants": 4}]}, "'income with 4 merchants' is missing"),
        ({"mood": "good"}, "mood: not understood"),
        ({"players": [{"hat": 1}]}, "players[0].hat: not understood"),
    ],
)
def test_false_expectations_are_told(game: Game, expected: dict[str, Any], words: str) -> None:
    result = casebook.run(game, {**CASES[0], "expect": expected})
    assert result.status == casebook.FAIL
    assert words in result.differences[0]


@pytest.mark.parametrize(
    ("setup", "words"),
    [
        ({"weather": "fine"}, "weather"),
        ({"players": [{"hat": 1}]}, "hat"),
        ({"routes": {"Emden-Stade": ["0T", "-", "-"]}}, "not on the side"),
        ({"routes": {"Hamburg-Lubeck": ["0T"]}}, "has 3 spaces"),
        ({"routes": {"Hamburg-Lubeck": ["4T", "-", "-"]}}, "not at the table"),
        ({"cities": {"Stade": {"offices": ["0M", "0M"]}}}, "too many"),
        ({"route_markers": {"Hamburg-Lubeck": "gold"}}, "marker 'gold'"),
    ],
)
def test_impossible_set_ups_are_refused(game: Game, setup: dict[str, Any], words: str) -> None:
    with pytest.raises(NotationError, match=re.escape(words)):
        arranged(game, setup)


def test_who_decides_is_compared(game: Game) -> None:
    case = next(case for case in CASES if case["id"] == "HT-05")
    entries = [{**entry, "by": 0} if entry.get("by") == 1 else entry for entry in case["actions"]]
    assert "seat 0 is to decide" in casebook.run(game, {**case, "actions": entries}).differences[0]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_setup(players: int) -> None:
    """R2.1 to R2.7, R1.8: what the notes of HT-01 and HT-02 ask for, and that chance alone moves the markers."""
    starts, piles = set(), set()
    for seed in range(40):
        facts = Position.new("hansa_teutonica", players, seed=seed).to_json(ALL)["position"]
        assert sorted(facts["route_markers"]) == ["Hildesheim-Goslar", "Luneburg-Perleberg", "Osnabruck-Bremen"]
        assert sorted(facts["route_markers"].values()) == ["extra_office", "remove3", "swap_offices"]
        pile = Counter(facts["pile"])
        assert [pile[name] for name in tables.MARKER_NAMES] == [4, 1, 2, 2, 3, 1]
        for seat, player in enumerate(facts["players"]):
            assert (player["supply"], player["stock"], player["prestige"]) == ([5 + seat, 1], [6 - seat, 0], 0)
        assert (facts["turn"], facts["actions_left"], facts["completed"]) == (0, 2, 0)
        starts.add(tuple(facts["route_markers"].values()))
        piles.add(tuple(facts["pile"]))
    assert len(starts) == 6
    assert len(piles) > 35


def test_every_clause_is_witnessed() -> None:
    """Each clause of RULES.md is cited by a case, or by itself or within a span by a test; cases may cite chapters."""
    text = RULES.read_text(encoding="utf-8")
    known = set(re.findall(r"^ *- (R\d+(?:\.\d+)+)", text, re.MULTILINE))
    assert len(known) == 101
    cited = {clause for case in CASES for clause in case["clauses"]}
    for path in HERE.glob("test_*.py"):
        for first, last in re.findall(r"(R\d+(?:\.\d+)*)(?: to (R\d+(?:\.\d+)+))?", path.read_text(encoding="utf-8")):
            cited.add(first)
            if last:
                stem, _, start = first.rpartition(".")
                cited |= {f"{stem}.{number}" for number in range(int(start), int(last.rpartition(".")[2]) + 1)}
    chapters = {clause for case in CASES for clause in case["clauses"] if "." not in clause}
    missing = {clause for clause in known - cited if clause.split(".")[0] not in chapters}
    assert sorted(missing) == []


# --- clauses that the cases leave out ---------------------------------------------------------------------------


@pytest.mark.nojit
def test_placing_goes_to_the_lowest_free_space(game: Game) -> None:
    """R5.1, R5.2, R1.5, R3.3."""
    position = arranged(game, {"players": [{"supply": [2, 1]}], "routes": {"Minden-Hannover": ["1T", "-", "1M"]}})
    position.apply(PLACE + tables.ROUTES + route("Minden-Hannover"))
    facts = position.to_json()["position"]
    assert facts["routes"]["Minden-Hannover"] == ["1T", "0M", "1M"]
    assert (facts["players"][0]["supply"], facts["actions_left"]) == ([2, 0], 1)
    assert PLACE + route("Minden-Hannover") not in legal(position)


@pytest.mark.nojit
def test_of_like_resources_the_first_is_chosen(game: Game) -> None:
    """R1.5, R7.1: and a move may take the same resource twice (R7.2)."""
    position = arranged(game, {"players": [{}], "routes": {"Goslar-Quedlinburg": ["1T", "0T", "0M", "0T"]}})
    first = SPACE + first_space("Goslar-Quedlinburg")
    assert [action - first for action in sorted(legal(position)) if first <= action < first + 4] == [0, 1, 2]
    position.apply(first + 1)
    position.apply(ROUTE + route("Hamburg-Lubeck"))
    position.apply(SPACE + first_space("Hamburg-Lubeck"))
    position.apply(ROUTE + route("Kampen-Osnabruck"))
    assert position.phase == "main"  # the book shows two moves
    assert position.to_json()["position"]["routes"]["Kampen-Osnabruck"] == ["0T", "-"]


@pytest.mark.nojit
def test_displacing_needs_a_way_out(game: Game) -> None:
    """R6.7, R7.2, D-11: on a full board but for one route, what lies there cannot go anywhere."""
    full = {"fill_all_routes_with": "1T", "players": [{"supply": [3, 1]}, {"stock": [1, 0]}]}
    position = arranged(
        game, {**full, "routes": {"Kampen-Osnabruck": ["1M", "-"], "Minden-Hannover": ["0T", "0M", "1T"]}}
    )
    options = legal(position)
    assert SPACE + first_space("Kampen-Osnabruck") not in options
    assert SPACE + first_space("Groningen-Emden") in options
    position.apply(SPACE + first_space("Quedlinburg-Halle"))
    position.apply(PAY)
    # R6.3: ring after ring, to the far end of the map
    assert legal(position) == {ROUTE + route("Kampen-Osnabruck")}
    position.apply(ROUTE + route("Kampen-Osnabruck"))
    assert position.phase == "main"  # R6.4: an extra has no free space any more
    # R7.3: without a free space anywhere trader and merchant can still change places, if on different routes
    assert not {action for action in legal(position) if first_space("Minden-Hannover") <= action - SPACE < 56}
    position = arranged(
        game, {**full, "routes": {"Kampen-Osnabruck": ["0M", "1T"], "Minden-Hannover": ["0T", "1T", "1T"]}}
    )
    position.apply(SPACE + first_space("Minden-Hannover"))
    assert legal(position) == {SPACE + first_space("Kampen-Osnabruck")}
    position.apply(SPACE + first_space("Kampen-Osnabruck"))
    assert position.phase == "main"
    facts = position.to_json()["position"]["routes"]
    assert (facts["Kampen-Osnabruck"], facts["Minden-Hannover"]) == (["0T", "1T"], ["0M", "1T", "1T"])


@pytest.mark.nojit
def test_extras_are_optional_and_out_of_turn(game: Game) -> None:
    """R3.8, R6.4, R6.6, R6.8: the displaced owner stops; the acting player's turn goes on."""
    setup = {
        "players": [{"supply": [2, 0]}, {"stock": [4, 1], "supply": [1, 0]}],
        "routes": {"Stade-Hamburg": ["1T", "-", "-"]},
    }
    position = arranged(game, setup)
    position.apply(SPACE + first_space("Stade-Hamburg"))
    position.apply(PAY)
    assert position.seat == 1
    assert DONE not in legal(position)  # the displaced resource itself must be placed
    position.apply(ROUTE + route("Hamburg-Lubeck"))
    assert PLACE + tables.ROUTES + route("Hamburg-Luneburg") in legal(position)
    position.apply(DONE)
    assert (position.seat, position.phase) == (0, "main")
    assert position.to_json()["position"]["players"][1]["stock"] == [4, 1]


@pytest.mark.nojit
def test_a_lifted_resource_goes_to_another_route(game: Game) -> None:
    """R6.5, D-10: even the one just relocated may be lifted; its own route is no destination."""
    setup = {
        "players": [{"supply": [2, 0]}, {"stock": [0, 0], "supply": [0, 0]}],
        "routes": {"Stade-Hamburg": ["1T", "-", "-"]},
    }
    position = arranged(game, setup)
    for action in (SPACE + first_space("Stade-Hamburg"), PAY, ROUTE + route("Hamburg-Lubeck")):
        position.apply(action)
    assert legal(position) == {SPACE + first_space("Hamburg-Lubeck"), DONE}
    position.apply(SPACE + first_space("Hamburg-Lubeck"))
    assert legal(position) == {ROUTE + route(key) for key in ("Hamburg-Bremen", "Hamburg-Luneburg")}


@pytest.mark.nojit
def test_extra_office_in_a_complete_city(game: Game) -> None:
    """R10.2, R10.3, R8.9, R8.10, R8.11: no coin, no completion, the marker is used up."""
    setup = {
        "players": [{"markers": {"extra_office": 1}, "stock": [0, 0]}, {}],
        "cities": {"Lubeck": {"offices": ["1T", "1T"]}},
        "routes": {"Hamburg-Lubeck": ["0T", "0T", "0M"]},
    }
    position = arranged(game, setup)
    position.apply(ROUTE + route("Hamburg-Lubeck"))
    assert REWARD + EXTRA not in legal(position)  # nothing is filled in Hamburg
    position.apply(REWARD + EXTRA + 2)
    facts = position.to_json()["position"]
    assert facts["cities"]["Lubeck"] == {"offices": ["1T", "1T"], "extras": ["0T"]}
    assert (facts["players"][0]["prestige"], facts["players"][1]["prestige"]) == (0, 1)
    assert (facts["completed"], facts["players"][0]["stock"], facts["players"][0]["used"]) == (
        1,
        [1, 1],
        {"extra_office": 1},
    )


@pytest.mark.nojit
def test_markers_can_be_used_before_and_after_the_actions(game: Game) -> None:
    """R3.5, R3.7, R10.2, R10.5: and an extra office marker keeps no turn open."""
    setup = {"actions_left": 0, "players": [{"markers": {"extra_office": 1, "plus4_actions": 1}, "supply": [0, 0]}]}
    position = arranged(game, setup)
    assert legal(position) == {USE_PLUS3 + 1, DONE}
    position.apply(USE_PLUS3 + 1)
    assert position.to_json()["position"]["actions_left"] == 4
    position = arranged(game, {**setup, "players": [{"markers": {"extra_office": 1}}]})
    assert legal(position) == {DONE}


@pytest.mark.nojit
def test_remove_three_ends_with_the_last_resource(game: Game) -> None:
    """R10.7: without a resource on any route it cannot be used; with one alone it is over after it."""
    position = arranged(game, {"players": [{"markers": {"remove3": 1}, "supply": [0, 0]}]})
    assert USE_REMOVE3 not in legal(position)
    position = arranged(
        game,
        {"players": [{"markers": {"remove3": 1}}, {"supply": [0, 0]}], "routes": {"Hamburg-Lubeck": ["1M", "-", "-"]}},
    )
    position.apply(USE_REMOVE3)
    position.apply(SPACE + first_space("Hamburg-Lubeck"))
    assert position.phase == "main"
    assert position.to_json()["position"]["players"][1]["supply"] == [0, 1]


@pytest.mark.nojit
def test_a_marker_that_no_route_takes_waits(game: Game) -> None:
    """R10.8.1 to R10.8.4, D-16: kept face up, told, and tried again at the end of the next own turn."""
    setup = {
        "num_players": 2,
        "actions_left": 0,
        "fill_all_routes_with": "1T",
        "players": [{"plate": ["plus3_actions", "remove3"]}, {"supply": [1, 0]}],
    }
    position = arranged(game, setup)
    assert position.to_json(PUBLIC)["position"]["players"][0]["plate"] == []
    position.apply(DONE)
    assert position.seat == 1
    assert position.to_json(PUBLIC)["position"]["players"][0]["plate"] == ["plus3_actions", "remove3"]
    assert "Red keeps the marker remove three, which no route can take" in position.events()
    s = position.states[0]
    s.spaces[list(notation.route_spaces(route("Goslar-Magdeburg")))] = 0
    state.recount(s)
    position.apply(DONE)
    position.apply(DONE)
    assert (position.seat, position.phase) == (0, "marker_place")
    assert legal(position) == {ROUTE + route("Goslar-Magdeburg")}
    position.apply(ROUTE + route("Goslar-Magdeburg"))
    facts = position.to_json()["position"]
    assert (facts["route_markers"], facts["players"][0]["plate"]) == (
        {"Goslar-Magdeburg": "plus3_actions"},
        ["remove3"],
    )


@pytest.mark.nojit
@pytest.mark.parametrize(("rank", "points"), [(0, 7), (1, 4), (2, 2), (3, 0)])
def test_east_west_ranks(game: Game, rank: int, points: int) -> None:
    """R11.1 to R11.3, R13.2: first, second, third, nothing."""
    cities = {"Arnheim": {"offices": ["0T"]}, "Munster": {"offices": ["0M"]}, "Brunswiek": {"offices": ["0T"]}}
    cities |= {"Stendal": {"offices": ["0T"]}}
    setup = {"num_players": 5, "players": [{}], "cities": cities, "routes": {"Munster-Minden": ["0T", "0T", "0T"]}}
    position = arranged(game, {**setup, "east_west": [1, 2, 3][:rank]})
    position.apply(ROUTE + route("Munster-Minden"))
    position.apply(REWARD + OFFICE + 2)
    facts = position.to_json()["position"]
    assert facts["players"][0]["east_west"] == (rank + 1 if points else 0)
    assert facts["scores"][0]["east_west"] == points
    assert facts["players"][0]["prestige"] == 0 + 2 * 0 + 1 - 0  # Munster is controlled by the player himself


@pytest.mark.nojit
def test_the_reason_told_is_the_first(game: Game) -> None:
    """R12.1, R12.2, D-19: the empty pile before 20 prestige; nobody is asked any more."""
    setup = {
        "players": [{"prestige": 19}],
        "pile": [],
        "cities": {"Hamburg": {"offices": ["0T"]}},
        "route_markers": {"Hamburg-Lubeck": "remove3"},
        "routes": {"Hamburg-Lubeck": ["0T", "0T", "0T"]},
    }
    position = arranged(game, setup)
    position.apply(ROUTE + route("Hamburg-Lubeck"))
    assert not position.over
    assert position.observe(0)[1822] == 1  # the draw has failed
    position.apply(REWARD)
    assert (position.over, position.capped, position.seat) == (True, False, None)
    assert position.to_json()["position"]["end_reason"] == "markers"
    assert position.points()[0] == 20 + 1 + 2 + 1  # prestige, marker, Hamburg, network


# --- options ----------------------------------------------------------------------------------------------------


@pytest.mark.nojit
def test_the_pawn_is_for_two() -> None:
    """R16.6."""
    for players in (3, 4, 5):
        with pytest.raises(OptionError, match="two_player_pawn=True is for 2 players"):
            Position.new("hansa_teutonica", players, two_player_pawn=True)


@pytest.mark.nojit
def test_the_pawn() -> None:
    """R16.6.1 to R16.6.5: start, before, as an action, after; and where routes may be used."""
    position = Position.new("hansa_teutonica", 2, two_player_pawn=True)
    assert (position.seat, position.phase) == (1, "pawn_start")
    assert legal(position) == set(range(PAWN, PAWN + 13))
    assert position.observe(1)[1882] == 1
    position.apply("pawn SouthEast")
    assert (position.seat, position.phase) == (0, "pawn_before")
    near = {4, 9, 11, 12}  # East and South are next, Harz and SouthWest two borders away
    assert legal(position) == {PAWN + province for province in near} | {DONE}
    position.apply(DONE)
    routes = {32, 33}
    own = {PLACE + tables.ROUTES * kind + number for kind in range(2) for number in routes}
    assert legal(position) == own | {INCOME, PAWN + 9, PAWN + 11, DONE}
    position.apply("pawn South")
    assert position.to_json()["position"]["actions_left"] == 1
    position.apply("trader Hildesheim-Goslar")
    assert (position.seat, position.phase) == (0, "pawn_after")  # the turn has ended by itself (R3.7)
    position.apply("pawn Ruhr")
    assert (position.seat, position.phase) == (1, "pawn_before")
    position.apply("pawn Harz")  # two borders from Ruhr is far, Harz is next to it
    assert position.observe(1)[1885] == 1
    assert SPACE + first_space("Hildesheim-Goslar") in legal(position)
    position.apply("trader Hildesheim-Goslar")
    position.apply("trader Hildesheim-Goslar")
    assert (position.seat, position.phase) == (0, "pawn_before")  # not both before and after
    assert position.observe(0)[1885] == 0


@pytest.mark.nojit
def test_the_pawn_leaves_moves_and_relocation_free() -> None:
    """R16.6, R16.6.4: only Place, Displace and Establish are bound to the province."""
    position = Position.new("hansa_teutonica", 2, two_player_pawn=True)
    for text in ("pawn West", "done", "trader Kampen-Osnabruck", "trader Kampen-Osnabruck", "done", "done"):
        position.apply(text)
    assert (position.seat, position.phase) == (1, "main")
    position.apply("space Kampen-Osnabruck 1")
    position.apply("put trader, pay with 0 merchants") if position.phase == "pay" else None
    assert (position.seat, position.phase) == (0, "disp_place")
    assert ROUTE + route("Osnabruck-Bremen") in legal(position)  # no route of the province
    position.apply("route Osnabruck-Bremen")
    position.apply("done")
    position.apply("pawn North")
    position.apply("done") if position.phase == "pawn_after" else None
    while position.seat != 0 or position.phase != "main":
        position.apply("done")
    assert SPACE + first_space("Kampen-Osnabruck") + 1 in legal(position)
    position.apply("space Kampen-Osnabruck 2")
    assert ROUTE + route("Quedlinburg-Halle") in legal(position)


@pytest.mark.nojit
def test_early_end_waits_for_what_is_possible(game: Game) -> None:
    """R16.5, R3.4: with nothing possible the turn can be ended with actions left."""
    position = arranged(game, {"players": [{"supply": [0, 0], "stock": [0, 0]}]}, allow_early_end=False)
    assert legal(position) == {DONE}
    position = arranged(game, {"players": [{"supply": [0, 0], "stock": [1, 0]}]}, allow_early_end=False)
    assert legal(position) == {INCOME}


@pytest.mark.nojit
def test_bigbox_markers(game: Game) -> None:
    """R16.1: 15 markers, 12 in the pile; what cannot be moved is not offered."""
    position = Position.new("hansa_teutonica", 3, edition="bigbox")
    assert position.to_json(ALL)["position"]["unseen"] == {
        "extra_office": 3, "swap_offices": 2, "plus3_actions": 2, "plus4_actions": 2, "upgrade_ability": 2, "remove3": 1
    }  # fmt: skip
    own = {"players": [{"markers": {"remove3": 1}}], "routes": {"Hamburg-Lubeck": ["0T", "-", "-"]}}
    assert USE_REMOVE3 not in legal(arranged(game, own, edition="bigbox"))
    assert USE_REMOVE3 in legal(arranged(game, own))


def test_stall_cap_and_fuse(game: Game) -> None:
    """R17.1 to R17.3, R16.7, R16.8, R16.9: how the safety rules end a game, and what they report."""
    stuck = {"num_players": 2, "players": [{"supply": [0, 0], "stock": [0, 0]}, {"supply": [0, 0], "stock": [0, 0]}]}
    position = arranged(game, stuck, max_rounds=1)
    position.apply(DONE)
    position.apply(DONE)
    assert (int(position.states["over"][0]), position.to_json()["position"]["end_reason"]) == (OVER_RULES, "stall")
    position = Position.new("hansa_teutonica", 3, max_rounds=2)
    while not position.over:
        position.apply(DONE if DONE in legal(position) else int(position.legal_actions()[0]))
    assert (position.capped, position.decisions) == (True, 6)
    assert position.to_json()["position"]["end_reason"] == "cap"
    for forced, over in ((0, OVER_CAP), (1, 0)):
        position = arranged(game, {"players": [{}]}, auto_forced=False)
        position.states["decisions"], position.states["forced"] = 5999, forced
        position.apply(DONE)
        assert int(position.states["over"][0]) == over
    position = arranged(game, {"players": [{"supply": [0, 0], "stock": [0, 0]}]}, auto_forced=False)
    position.apply(DONE)  # a forced decision does not count
    assert int(position.states["forced"][0]) == 1
    short = Position.new("hansa_teutonica", 4, max_decisions=5)
    for _ in range(5):
        short.apply(int(short.legal_actions()[0]))
    assert (short.capped, short.to_json()["position"]["end_reason"]) == (True, "cap")


def test_infos_tell_a_cap_as_truncation() -> None:
    """R17.2: paid, and reported as truncated and terminated."""
    env = tabletop_envs.make("hansa_teutonica", num_players=2, max_rounds=1)
    env.reset(seed=1)
    for _ in env.agent_iter():
        _, _, terminated, truncated, info = env.last()
        env.step(None if terminated or truncated else DONE)
    assert (terminated, truncated) == (True, True)
    assert info["points"] == [0, 0]


# --- whole games ------------------------------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize(("players", "options"), OPTION_SETS, ids=str)
def test_invariants_and_masks(game: Game, players: int, options: dict[str, Any]) -> None:
    """R1.2, R1.7, R8.11, R15.1: nothing is lost; `apply` takes what the mask allows and nothing else."""
    accepted = np.zeros(game.num_actions(game.settings(players, **options)), dtype=np.int8)
    scratch = np.empty(1, dtype=game.dtype)
    games, stride = (3, 5) if jit.COMPILED else (1, 30)
    phases: Counter[str] = Counter()
    for seed in range(games):
        for number, position in enumerate(walked(players, seed, 0.7, **options)):
            assert loops.check(game.check_call, position.states, 0) == 0, position.text()
            assert record.out_of_range(position.states, state.FIELDS) == []
            if position.over or number > (700 if jit.COMPILED else 60):
                break
            phases[position.phase] += 1
            if number % stride == 0:
                loops.accepted(game.calls, position.states, 0, scratch, accepted)
                assert np.array_equal(accepted, position.action_mask()), position.text()
    if jit.COMPILED and "max_rounds" not in options:
        assert {"main", "disp_place", "disp_extra", "move_dest", "move_next", "reward"} <= set(phases)


def middle_game() -> Position:
    """A game of four, half greedy, with offices, markers and pieces on routes."""
    return next(p.clone() for p in walked(4, 5, 0.8) if p.decisions > 250 and p.phase == "main")


_UNSEEN_CHANGES = {"turns", "forced", "decisions", "optionless", "actions_left", "stall", "prestige", "pile"}


@pytest.mark.parametrize("name", [f.name for f in state.FIELDS if f.name not in _UNSEEN_CHANGES])
def test_check_notices_a_changed_field(game: Game, name: str) -> None:
    """No field of pieces, markers, tracks, context or kept tables can change alone without being noticed."""
    states = middle_game().states
    assert loops.check(game.check_call, states, 0) == 0
    values = states[name].reshape(-1)
    for index in range(values.size):
        for change in (-1, 1):
            broken = states.copy()
            broken[name].reshape(-1)[index] += change
            if name == "east_west_rank" and broken[name].reshape(-1)[index] == 1:
                continue  # some seat may have the network first
            noticed = loops.check(game.check_call, broken, 0) or record.out_of_range(broken, state.FIELDS)
            assert noticed, (index, change)


def test_every_kind_of_end_and_event() -> None:
    """R12.1, R17.2: greedy games end by themselves; what happens by itself has words of its own."""
    ends: Counter[int] = Counter()
    words: set[str] = set()
    for players in (2, 3, 4, 5):
        for seed in range(6):
            for position in walked(players, seed, 1.0):
                words |= {re.sub(r"^\w+ |[A-Z]\w+|\d", "", event) for event in position.events()}
            ends[int(position.states["end_reason"][0])] += 1
            assert not position.capped
    assert ends[End.MARKERS] + ends[End.PRESTIGE] + ends[End.CITIES] == 24
    for begin in ("controls", "takes the marker", "draws a marker face down", "turns up the marker", "completes"):
        assert any(word.startswith(begin) for word in words), (begin, words)


def test_greedy_beats_random() -> None:
    """All of a dozen games of four, from each seat."""
    game = registry.load("hansa_teutonica")
    mask = np.zeros(game.num_actions(game.settings(4)), dtype=np.int8)
    for number in range(12):
        position = Position.new(game, 4, seed=number)
        policies = np.array([loops.RANDOM_POLICY] * 4)
        policies[number % 4] = loops.GREEDY_POLICY
        actions = np.zeros(7000, dtype=np.int64)
        loops.legal(game.calls, position.states, 0, mask)
        loops.play_recorded(game.calls, game.greedy_call, position.states, 0, mask, policies, 0, number, actions)
        assert position.places()[number % 4] == 1


# --- information (R15) ------------------------------------------------------------------------------------------


def test_the_worked_observation() -> None:
    """R15.1: the vector of the example in RULES.md, for four players after five decisions."""
    start = ["extra_office", "swap_offices", "remove3"]  # on the routes 9, 12, 26
    for seed in range(60):
        position = Position.new("hansa_teutonica", 4, seed=seed, auto_forced=False)
        if list(position.to_json()["position"]["route_markers"].values()) == start:
            break
    for action in (3, 64, DONE, 112, 214):
        position.apply(action)
    assert (position.seat, position.phase) == (0, "disp_place")
    expected = {
        61: 1, 558: 1, 563: 1, 696: 1, 715: 1, 803: 1, 1676: 0.230769, 1678: 0.153846, 1699: 0.230769, 1701: 0.153846,
        1702: 0.25, 1720: 1, 1722: 0.153846, 1724: 0.269231, 1725: 0.25, 1745: 0.115385, 1747: 0.307692, 1748: 0.25,
        1791: 1, 1792: 0.8, 1793: 0.5, 1794: 1, 1795: 1, 1796: 1, 1797: 0.5, 1802: 1, 1804: 1, 1807: 1, 1817: 0.052632,
        1820: 0.5, 1822: 1, 1826: 1, 1857: 1,
    }  # fmt: skip
    vector = position.observe(0)
    assert {int(index): round(float(vector[index]), 6) for index in np.flatnonzero(vector)} == expected


def test_face_down_markers_are_dealt_anew() -> None:
    """R15.2, R15.3: pile and plate together, each order equally likely, for every seat the same."""
    game = registry.load("hansa_teutonica")
    setup = {"num_players": 4, "players": [{"plate": ["remove3"]}], "pile": ["plus3_actions", "plus4_actions"]}
    position = arranged(game, setup)
    orders = Counter(
        tuple(position.determinize(seat, salt).states["pile"][0, :3].tolist())
        for seat in range(4)
        for salt in range(300)
    )
    assert len(orders) == 6
    assert min(orders.values()) > 150  # of 200 on average
    facts = position.to_json(0)["position"]
    assert "pile" not in facts
    assert facts["players"][0]["plate"] == []


def test_a_face_down_marker_stays_hidden_until_the_turn_ends(game: Game) -> None:
    """R8.3, R15.2, R10.8."""
    setup = {"pile": ["plus4_actions"], "route_markers": {"Duisburg-Dortmund": "remove3"}, "players": [{}]}
    position = arranged(game, {**setup, "routes": {"Duisburg-Dortmund": ["0T", "0T"]}})
    position.apply(ROUTE + route("Duisburg-Dortmund"))
    for viewer in (0, 1, PUBLIC):
        assert position.to_json(viewer)["position"]["players"][0]["plate"] == []
    position.apply(REWARD)
    assert "plate: +4" not in position.svg(0)
    position.apply(DONE)
    assert position.to_json(1)["position"]["players"][0]["plate"] == ["plus4_actions"]
    assert "Red turns up the marker plus 4 actions" in position.events()
    assert "plate: +4" in position.svg(1)


# --- texts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("trader Hamburg-Lubeck", PLACE + 4),
        ("merchant Groningen-Emden", PLACE + 34),
        ("route Quedlinburg-Halle", ROUTE + 33),
        ("space Hamburg-Lubeck 2", SPACE + 14),
        ("income with 1 merchant", INCOME + 1),
        ("put merchant, pay with 2 merchants", PAY + 5),
        ("reward coellen 11", REWARD + 13),
        ("upgrade money", USE_UPGRADE + 4),
        ("swap Halle 1 and 2", USE_SWAP + 34),
        ("done", DONE),
        ("pawn Heath", PAWN + 2),
    ],
)
def test_action_texts(text: str, action: int) -> None:
    assert notation.action_text(action) == text
    assert notation.parse_action(text.upper()) == action


def test_a_near_text_is_suggested() -> None:
    with pytest.raises(NotationError, match="did you mean 'route hamburg-lubeck'"):
        notation.parse_action("route hamburg lubek")


def test_facts_that_are_no_position(game: Game) -> None:
    facts = middle_game().to_json(ALL)
    good = facts["position"]
    bad: list[dict[str, Any]] = [
        {"phase": "lunch"},
        {"turn": 7},
        {"pile": ["gold"]},
        {"pile": good["pile"][:-1]},
        {"coellen": [None]},
        {"routes": {}},
        {"players": good["players"][:-1]},
        {"under_way": {**good["under_way"], "moves_left": 2}},
        {"pawn": "Heath"},
    ]
    for change in bad:
        with pytest.raises(CorruptDataError):
            Position.from_json({**facts, "position": {**good, **change}})
    assert Position.from_json(facts).to_json(ALL) == facts


def test_events_of_other_games_have_no_words() -> None:
    with pytest.raises(NotationError, match="event 99"):
        notation.event_text(99, 0, 0)


def test_automatic_steps_ask_nobody(game: Game) -> None:
    """R3.6: the end of a turn and the beginning of the next are steps of their own."""
    states = arranged(game, {"players": [{}]}).states
    loops.raw_apply(game.calls, states, 0, DONE)
    assert (int(states["seat"][0]), int(states["phase"][0])) == (NOBODY, Phase.TURN_END)
    loops.raw_advance(game.calls, states, 0)
    assert (int(states["phase"][0]), int(states["turn"][0])) == (Phase.TURN_START, 1)
    loops.raw_advance(game.calls, states, 0)
    assert (int(states["seat"][0]), int(states["phase"][0])) == (1, Phase.MAIN)
