"""Umbra Via against its rulebook: worked cases, those told in words, options, ends, secrets, invariants.

`test_reference.py` beside this file plays the rules once more in plain Python. Tests cite the clauses that they
witness; one test lists those that no case and no test cites.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabletop_envs
from tabletop_envs import casebook, registry
from tabletop_envs.core import jit, loops, record
from tabletop_envs.core.game import ALL, PUBLIC, Game
from tabletop_envs.core.header import NOBODY, OVER_CAP, OVER_RULES, RUNNING
from tabletop_envs.core.position import Position
from tabletop_envs.core.random import POLICY, word
from tabletop_envs.errors import CorruptDataError, NotationError, OptionError
from tabletop_envs.games.umbra_via import cases, notation, rules, state, tables, view
from tabletop_envs.games.umbra_via.state import DEAL, NONE, Phase

HERE = Path(__file__).parent
RULES = (
    Path(registry.load("umbra_via").modules["rules"].__file__ or "").with_name("RULES.md").read_text(encoding="utf-8")
)
CASES: list[dict[str, Any]] = casebook.load(HERE / "cases.json")
BY_ID = {case["id"]: case for case in CASES}
SPECIAL = ("four_point", "void", "block")
SUBSETS = [subset for size in range(4) for subset in combinations(SPECIAL, size)]
OPTION_SETS: list[dict[str, Any]] = [
    *({"special_tiles": subset} for subset in SUBSETS),
    *({"summon_ties": ties, "special_tiles": SPECIAL} for ties in ("track_static", "friendly")),
    {"victory_target": 1},
    {"victory_target": 99},
    {"tile_mix": (0, 1, 0), "special_tiles": ("block",)},
    {"tile_mix": (1, 1, 1), "special_tiles": SPECIAL, "auto_forced": False},
    {"tile_mix": (0, 0, 60), "max_rounds": 3},
    {
        "special_tiles": SPECIAL,
        "victory_target": 20,
        "summon_ties": "friendly",
        "tile_mix": {"straight": 2, "bend": 3, "tee": 9},
        "max_rounds": 9,
        "auto_forced": False,
    },
]
SOME = 3 if jit.COMPILED else 1


@pytest.fixture(scope="module")
def game() -> Game:
    return registry.load("umbra_via")


def fresh(game: Game, players: int = 2, key: int = 0, **options: Any) -> np.ndarray:
    """A record just behind the setup."""
    states = game.template(game.settings(players, **options))
    states["key"] = key
    game.functions["setup"](states[0])
    return states


def position_of(game: Game, states: np.ndarray, players: int, **options: Any) -> Position:
    return Position(game, game.settings(players, **options), states)


def settle(game: Game, states: np.ndarray) -> np.ndarray:
    """Automatic steps until a seat is asked; the mask."""
    mask = np.zeros(game.actions.full_size, dtype=np.int8)
    loops.refresh(game.calls, states, 0, mask)
    return mask


def offer(s: Any, *tiles: int) -> None:
    """Lay tiles from the stack on the altar, with the first bid to be drawn."""
    s.altar[:] = tiles
    for tile in tiles:
        s.stack[tables.KIND_OF[tile]] -= 1
    s.rounds, s.phase, s.turn = 1, Phase.BID1, DEAL


def random_game(game: Game, players: int, seed: int, **options: Any) -> Iterator[Position]:
    """The positions of a game of uniformly random play, the finished one last. One object, changed in place."""
    position = Position.new(game, players, seed=seed, **options)
    yield position
    while not position.over:
        legal = position.legal_actions()
        position.apply(int(legal[(int(word(seed, POLICY, position.decisions)) * len(legal)) >> 32]))
        yield position


def legal(position: Position) -> list[int]:
    return [int(action) for action in position.legal_actions()]


# --- worked cases ------------------------------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(game: Game, case: dict[str, Any]) -> None:
    result = casebook.run(game, case)
    assert result.status == (casebook.MANUAL if case["type"] == "manual" else casebook.PASS), result.differences


def test_wrong_expectations_are_noticed(game: Game) -> None:
    """Each fact of each case is compared: another value, and the case fails by that fact."""
    seen = Counter()
    for case in CASES:
        if case["type"] == "manual":
            continue
        for key, value in case["expect"].items():
            if key == "note":
                continue
            seen[key] += 1
            result_of: dict[type, Any] = {bool: lambda v: not v, int: lambda v: v + 1, list: lambda v: [*v, 7]}
            result_of[dict] = lambda v: {place: [] for place in v}
            wrong = result_of[type(value)](value)
            result = casebook.run(game, {**case, "expect": {**case["expect"], key: wrong}})
            assert any(line.startswith(f"{key}: ") for line in result.differences), (case["id"], key)
    assert len(seen) >= 20
    result = casebook.run(game, {**BY_ID["UV-P02"], "expect": {"no such fact": 1}})
    assert result.differences == ("no such fact: not understood",)


def test_entries_that_do_not_fit_are_refused(game: Game) -> None:
    case = BY_ID["UV-P37"]
    (entry,) = case["actions"]
    for wrong in ({"player": 0}, {"slot": 1}, {"action": 11}, {"target_action": 20}):
        result = casebook.run(game, {**case, "actions": [{**entry, **wrong}]})
        assert "cannot be read" in result.differences[0]
    result = casebook.run(game, {**case, "setup": {**case["setup"], "weather": "fine"}})
    assert "'weather'" in result.differences[0]


def test_every_clause_is_witnessed() -> None:
    """Clauses that neither a case nor a test beside this one cites are those that state no rule of play."""
    written = set(re.findall(r"^- ((?:R\d+\.\d+)|(?:[DLO]\d+)|(?:OPT-\d))", RULES, re.M))
    cited = {clause for case in CASES for clause in case["clauses"]}
    for path in HERE.glob("test_*.py"):
        cited |= set(re.findall(r"\b(?:R\d+\.\d+|[DLO]\d+|OPT-\d)", path.read_text(encoding="utf-8")))
    assert len(written) > 70
    assert written - cited == set()


# --- setup and reveal (R2, R3) -----------------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize("players", [2, 3, 4])
def test_setup(game: Game, players: int) -> None:
    """UV-P01, R1.1 to R1.3, R2.1 to R2.6, for every player count alike."""
    expected = BY_ID[f"UV-P01-{players}p"]["expect"]
    for options in ({}, {"special_tiles": SPECIAL}):
        s = fresh(game, players, 5, **options)[0]
        assert s.pool[:players, tables.ENERGY].tolist() == expected["bag_energy"]
        assert s.pool[:players, tables.SOUL].tolist() == expected["bag_soul"]
        assert s.claims[:players].tolist() == expected["claimed"]
        assert s.removed[:players].tolist() == expected["removed_souls"]
        size = expected["stack_size_with_special_tiles_all" if options else "stack_size"]
        assert s.stack.sum() == size
        assert s.discard.sum() == expected["discard_size"]
        assert not s.board.any()
        assert not s.altar.any()
        assert int(s.rounds) == expected["round"]
        assert sorted(s.track[:players].tolist()) == list(range(players))
        facts = position_of(game, s.reshape(1).copy(), players, **options).to_json()["position"]
        assert facts["soul_tile"] == expected["soul_tile_flowers"]


def test_every_order_of_the_track_is_as_likely(game: Game) -> None:
    """R2.4."""
    for players in (2, 3, 4):
        orders = list(permutations(range(players)))
        games = 200 * len(orders)
        seen = Counter(tuple(fresh(game, players, key)[0].track[:players].tolist()) for key in range(games))
        assert set(seen) == set(orders)
        assert all(120 < count < 280 for count in seen.values())


def test_orientations(game: Game) -> None:
    """UV-P42, R3.3, R12.1, R12.2: each kind turns up in its orientations with the printed frequencies."""
    seen: Counter[int] = Counter()
    for key in range(3000):
        states = fresh(game, 2, key)
        rules.reveal_tiles(states[0])
        seen.update(states[0].altar.tolist())
        assert int(states["draws"][0][rules.TILE]) == int(states["draws"][0][rules.QUARTER]) == 4
    for kind, expected in BY_ID["UV-P42"]["expect"].items():
        number = tables.KIND_NAMES.index(kind)
        total = sum(count for tile, count in seen.items() if tables.KIND_OF[tile] == number)
        assert abs(total / 12000 - tables.REGULAR_TILES[number] / 17) < 0.03
        assert len(expected) == len(set(tables.TURNED[number].tolist()))
        for openings, share in expected.items():
            top, bottom = share.split("/")
            assert abs(seen[notation.TILE_NAMES.index(openings)] / total - int(top) / int(bottom)) < 0.03


@pytest.mark.nojit
def test_the_discard_pile_becomes_the_stack(game: Game) -> None:
    """UV-P30, R3.1, R3.2."""
    behind: Counter[tuple[int, ...]] = Counter()
    for key in range(600 if jit.COMPILED else 60):
        states = fresh(game, 2, key)
        s = states[0]
        s.stack[:], s.discard[:] = (1, 0, 0, 0, 0, 0), (1, 1, 1, 0, 0, 0)
        rules.reveal_tiles(s)
        kinds = [int(tables.KIND_OF[tile]) for tile in s.altar]
        assert kinds[0] == tables.STRAIGHT
        behind[tuple(kinds[1:])] += 1
        assert not s.stack.any()
        assert not s.discard.any()
    assert set(behind) == set(permutations(range(3)))
    if jit.COMPILED:
        assert all(60 < count < 140 for count in behind.values())


def test_slots_stay_empty_when_both_piles_are(game: Game) -> None:
    """R3.2, OPT-4: with two tiles in the game two slots are filled."""
    position = Position.new(game, 2, tile_mix=(1, 1, 0))
    assert [lying is None for lying in position.to_json()["position"]["altar"]] == [False, False, True, True]
    assert legal(position) == [0, 1]


# --- bids (R4) ---------------------------------------------------------------------------------------------------


def bidding(game: Game, hands: list[tuple[int, int]], *tiles: int, **options: Any) -> Position:
    """Two seats in the first bid with these hands (souls, energy)."""
    states = fresh(game, len(hands), **options)
    s = states[0]
    offer(s, *tiles)
    s.hand[: len(hands)] = hands
    s.drawn[: len(hands)] = s.to_bid[: len(hands)] = [sum(hand) for hand in hands]
    s.turn = 0
    settle(game, states)
    return position_of(game, states, len(hands), **options)


FOUR = (5, 3, 14, 10)


@pytest.mark.nojit
def test_a_hand_is_bid_souls_first(game: Game) -> None:
    """UV-P03, R4.1, R4.3, R4.4, D2."""
    expected = BY_ID["UV-P03"]["expect"]
    position = bidding(game, [(1, 2), (0, 3)], *FOUR)
    for number, asked in enumerate(expected["decisions"]):
        s = position.states[0]
        assert position.seat == asked["player"]
        assert ("soul" if s.hand[position.seat, tables.SOUL] else "energy") == asked["flower"]
        assert legal(position) == asked["legal_actions"]
        if number < 3:
            position.apply(2)
    pending = position.states[0].pending[0]
    assert pending[:, tables.SOUL].tolist() == expected["pending_of_player_0"]["soul"]
    assert pending[:, tables.ENERGY].tolist() == expected["pending_of_player_0"]["energy"]
    assert not position.states[0].bid_energy.any()
    assert position.seat == expected["next_actor"]
    for _ in range(3):
        position.apply(0)
    # R4.5: all are revealed together
    facts = position.to_json()["position"]
    assert facts["phase"] == "bid2"
    assert facts["altar"][2]["souls"] == [1, 0]
    assert [lying["energy"] for lying in facts["altar"]] == [[0, 3], [0, 0], [2, 0], [0, 0]]


@pytest.mark.nojit
def test_short_and_empty_bags(game: Game) -> None:
    """UV-P31, R4.2, R4.6."""
    states = fresh(game)
    s = states[0]
    offer(s, *FOUR)
    s.pool[:2] = [(0, 2), (2, 10)]
    settle(game, states)
    position = position_of(game, states, 2)
    assert position.states[0].hand[0].tolist() == [0, 2]
    asked = []
    while position.phase in ("bid1", "bid2"):
        asked.append((position.phase, position.seat))
        position.apply(len(asked) % 4)
    expected = BY_ID["UV-P31"]["expect"]
    counts = Counter(asked)
    for bid in ("bid1", "bid2"):
        for seat in (0, 1):
            assert counts[bid, seat] == expected[bid][f"player_{seat}_decisions"]
    assert len(asked) == expected["total_bid_decisions"]


def test_a_second_bid_without_flowers_is_skipped(game: Game) -> None:
    """R4.6."""
    states = fresh(game)
    offer(states[0], *FOUR)
    states[0].pool[:2] = [(0, 1), (0, 3)]
    settle(game, states)
    position = position_of(game, states, 2)
    for _ in range(4):
        assert position.phase == "bid1"
        position.apply(1)
    assert position.phase == "place"
    assert position.seat == 1


def test_draws_are_hypergeometric(game: Game) -> None:
    """R4.2, R12.1: three out of 6 souls and 32 energy."""
    seen: Counter[int] = Counter()
    for key in range(4000):
        states = fresh(game, 2, key)
        offer(states[0], *FOUR)
        rules.draw_hands(states[0])
        seen.update(states[0].hand[:2, tables.SOUL].tolist())
    total = 38 * 37 * 36
    shares = [32 * 31 * 30 / total, 3 * 6 * 32 * 31 / total, 3 * 6 * 5 * 32 / total, 6 * 5 * 4 / total]
    for souls, share in enumerate(shares):
        assert abs(seen[souls] / 8000 - share) < 0.02


def test_the_block_tile_takes_no_bids(game: Game) -> None:
    """UV-P33, R10.1, R10.4, R5.1."""
    block = tables.BLOCK_TILE
    position = bidding(game, [(0, 3), (0, 3)], 5, block, 3, 14, special_tiles=("block",))
    assert legal(position) == BY_ID["UV-P33"]["expect"]["legal_actions"]
    while position.phase != "place":
        position.apply(0)
    assert position.states[0].discard[tables.BLOCK] == 1
    assert position.states[0].altar[1] == tables.NO_TILE


@pytest.mark.parametrize("forced", [True, False])
def test_one_slot_is_a_forced_bid(game: Game, forced: bool) -> None:
    """D3, D7, OPT-6: with one tile that can be bid on and one cell, nothing is asked; placing on the centre is."""
    position = Position.new(game, 2, tile_mix=(1, 0, 0), special_tiles=("block",), auto_forced=forced)
    assert position.phase == ("place" if forced else "bid1")
    assert position.decisions == 0
    while position.phase != "place":
        assert len(legal(position)) == 1
        position.apply(legal(position)[0])
    assert position.decisions == (0 if forced else 12)
    assert legal(position) == [9, 10, 13, 14]


@pytest.mark.nojit
def test_decisions_of_a_full_round(game: Game) -> None:
    """UV-P41, D1, L3."""
    expected = BY_ID["UV-P41"]["expect"]
    position = Position.new(game, 4, seed=3)
    counts: Counter[str] = Counter()
    while position.states["rounds"][0] == 1:
        counts[position.phase] += 1
        position.apply(position.decisions % 4 if position.phase.startswith("bid") else legal(position)[0])
    assert counts["bid1"] + counts["bid2"] == expected["bid_decisions"]
    assert counts["place"] == expected["placement_decisions"]
    assert counts.total() == expected["total"]


# --- special tiles and options (R10, OPT) ------------------------------------------------------------------------


@pytest.mark.nojit
def test_targets_of_the_four_point_tile(game: Game) -> None:
    """UV-P39, R10.2, D5: neighbouring tiles, or none."""
    states = fresh(game, special_tiles=("four_point",))
    s = states[0]
    s.board[[1, 4, 5]] = 5, 10, tables.FOUR_POINT_TILE
    s.energy[0, [4, 5]], s.energy[1, 5] = 1, 3
    notation.keep_sets(s)
    s.rounds, s.turn, s.phase, s.seat, s.placed = 1, 1, Phase.FOUR_POINT_TARGET, 1, 5
    position = position_of(game, states, 2, special_tiles=("four_point",))
    assert legal(position) == BY_ID["UV-P39"]["expect"]["legal_actions"]
    moved, kept = position.clone(), position.clone()
    moved.apply(5)
    # both neighbours are closed by the edge and the four-point tile: the one at b1 is now led by seat 1
    assert moved.to_json()["position"]["claims"] == [1, 1]
    assert moved.states[0].energy[:2, 5].tolist() == [0, 0]
    kept.apply(20)
    assert kept.to_json()["position"]["claims"] == [1, 0]
    assert kept.states[0].energy[:2, 5].tolist() == [1, 3]


def place_case(**setup: Any) -> dict[str, Any]:
    return {
        "id": "T",
        "clauses": ["R1"],
        "type": "place",
        "setup": {"players": 2, **setup},
        "actions": [],
        "expect": {},
    }


def arranged(game: Game, case: dict[str, Any]) -> Position:
    """The set-up of a case, settled."""
    players, options = cases.settings(case)
    states = game.template(game.settings(players, **options))
    cases.arrange(case, states[0])
    settle(game, states)
    return position_of(game, states, players, **options)


def test_waiting_flowers_join_before_a_four_point_move(game: Game) -> None:
    """R10.2, R10.3, D5: they count as energy on it; without energy or without neighbours nothing is asked."""
    four = {"slot": 0, "kind": "four_point", "open": "", "energy": [0, 0], "soul": [1, 0]}
    beside = {"cell": [1, 1], "kind": "straight", "open": "NS", "energy": [0, 0]}
    special = {"special_tiles": ["four_point", "void"]}
    waiting = [{"cell": [1, 2], "energy": [0, 2]}]
    position = arranged(game, place_case(options=special, altar=[four], board=[beside], waiting=waiting))
    position.apply(10)
    assert (position.phase, position.seat, legal(position)) == ("four_point_target", 0, [9, 20])
    for setup in ({"board": [beside]}, {"waiting": waiting}):
        position = arranged(game, place_case(options=special, altar=[four], **setup))
        position.apply(10)
        assert position.phase == "bid1"


def test_void_flowers_add_up(game: Game) -> None:
    """R10.3."""
    void = {"slot": 0, "kind": "void", "open": "", "energy": [2, 1], "soul": [0, 0]}
    waiting = [{"cell": [3, 3], "energy": [1, 1]}]
    position = arranged(game, place_case(options={"special_tiles": ["void"]}, altar=[void], waiting=waiting))
    assert legal(position) == list(range(4, 20))
    position.apply(19)
    assert position.states[0].energy[:2, 15].tolist() == [3, 2]
    assert position.to_json()["position"]["waiting"] == {"d4": [3, 2]}


def test_a_friendly_tie(game: Game) -> None:
    """OPT-3: all with the highest sum earn the same, the next rank half of it; no marker moves."""
    bend = {"slot": 0, "kind": "bend", "open": "NE", "energy": [1, 2, 0], "soul": [0, 0, 0]}
    board = [
        {"cell": [0, col], "kind": "straight", "open": "EW", "energy": energy}
        for col, energy in ((1, [1, 0, 2]), (2, [0, 0, 0]))
    ]
    board += [{"cell": [0, 0], "kind": "bend", "open": "ES", "energy": [0, 0, 1]}]
    board += [{"cell": [1, 0], "kind": "bend", "open": "NW", "energy": [0, 0, 0]}]
    board += [{"cell": [0, 3], "kind": "bend", "open": "SW", "energy": [0, 0, 0]}]
    # sums at the end: seats 0 and 1 have 2, seat 2 has 3
    for ties, track, claims, after in (
        ("friendly", [1, 0, 2], [3, 3, 6], [1, 0, 2]),
        ("track_move", [1, 0, 2], [1, 3, 6], [0, 2, 1]),
        ("track_static", [1, 0, 2], [1, 3, 6], [1, 0, 2]),
    ):
        case = place_case(players=3, options={"summon_ties": ties}, board=board, altar=[bend], tie_track=track)
        position = arranged(game, case)
        states = position.states.copy()
        loops.raw_apply(game.calls, states, 0, 4 + 7)
        found = position_of(game, states, 3, summon_ties=ties, auto_forced=False).to_json()["position"]
        assert (found["claims"], found["track"]) == (claims, after)


@pytest.mark.parametrize("target", [1, 2, 11, 12, 13, 99])
def test_the_victory_target(game: Game, target: int) -> None:
    """OPT-2, R9.2, R9.3: who first has so many claims wins, and the game is over."""
    for seed in range(12):
        *_, end = random_game(game, 2 + seed % 3, seed, victory_target=target, max_rounds=40)
        claims, winner = end.to_json()["position"]["claims"], end.states[0].winner
        assert (winner == NONE) == (max(claims) < target)
        if winner != NONE:
            assert claims[winner] >= target
            assert end.places()[winner] == 1
            assert end.states["over"][0] == OVER_RULES
            assert f"seat {winner} reaches the goal with" in " ".join(end.events())
        assert end.points() == [min(count, target) for count in claims]


def test_the_winner_stands_first_and_the_rest_of_the_awards_is_paid(game: Game) -> None:
    """R9.3, R9.6: another player may have more claims than the winner, never a better place or more points."""
    states = fresh(game, 4)
    s = states[0]
    s.claims[:], s.winner, s.track[:] = (13, 15, 14, 14), 0, (3, 0, 2, 1)
    points, places = np.zeros(4, np.int32), np.zeros(4, np.int32)
    loops.score(game.calls, states, 0, points, places)
    assert places.tolist() == [1, 2, 4, 3]
    assert points.tolist() == [13] * 4
    s.winner, s.claims[:] = NONE, (5, 7, 5, 0)
    loops.score(game.calls, states, 0, points, places)
    assert places.tolist() == [3, 1, 2, 4]


# --- ends (R9.5) -------------------------------------------------------------------------------------------------


@pytest.mark.nojit
def test_stalemate(game: Game) -> None:
    """UV-P32, R9.4, R9.5, R9.6: all bags are empty at the start of a round."""
    expected = BY_ID["UV-P32"]["expect"]
    variants = ((([4, 6], [0, 1]), expected["winner"]),)
    variants += (((expected["variant"]["claimed"], expected["variant"]["tie_track"]), expected["variant"]["winner"]),)
    for (claims, track), winner in variants:
        states = fresh(game, max_rounds=1)
        s = states[0]
        s.rounds = 1  # the stalemate is looked at before the cap
        s.claims[:2], s.pool[:] = claims, 0
        s.track[track] = range(2)
        settle(game, states)
        position = position_of(game, states, 2, max_rounds=1)
        assert position.over == expected["game_over"]
        assert not position.capped
        assert position.places()[winner] == 1
        assert position.events() == ["nothing can be bid any more: the game ends"]


def test_play_that_completes_nothing_ends_in_stalemate(game: Game) -> None:
    """R9.5, L4: all bid on one tile, and lay it where it completes no path."""
    position = Position.new(game, 2, seed=1)
    while not position.over:
        choices = legal(position)
        if position.phase == "place":
            claims = position.to_json()["position"]["claims"]
            choices = [a for a in choices if _after(position, a).to_json()["position"]["claims"] == claims] or choices
        position.apply(choices[0])
    assert position.events()[-1] == "nothing can be bid any more: the game ends"
    assert 5 <= position.states["rounds"][0] <= 12


def _after(position: Position, action: int) -> Position:
    copy = position.clone()
    copy.apply(action)
    return copy


def test_nothing_biddable_is_a_stalemate(game: Game) -> None:
    """R9.5, OPT-4: found behind the reveal, before any draw."""
    states = fresh(game, tile_mix=(1, 0, 0), special_tiles=("block",))
    s = states[0]
    s.stack[tables.STRAIGHT], s.board[5] = 0, 5
    notation.keep_sets(s)
    settle(game, states)
    assert s.over == OVER_RULES
    assert s.winner == NONE
    assert sorted(s.altar.tolist()) == [0, 0, 0, tables.BLOCK_TILE]
    assert not s.draws[rules.DRAWN : rules.DRAWN + 4].any()
    assert loops.check(game.check_call, states, 0) == 0


def test_the_last_round(game: Game) -> None:
    """R9.5, OPT-5: the game is scored as it stands, and counts as cut."""
    for limit in (1, 2, 4):
        *_, end = random_game(game, 3, 7, max_rounds=limit)
        assert end.capped
        assert end.states["rounds"][0] == limit
        assert f"{limit} {'rounds' if limit > 1 else 'round'} over: the game ends".replace("1 round", "1 rounds") in [
            event.replace(" are", "") for event in end.events()
        ]
        claims = end.to_json()["position"]["claims"]
        assert claims[end.places().index(1)] == max(claims)
    env = tabletop_envs.make("umbra_via", max_rounds=1)
    env.reset(seed=0)
    while not any(env.terminations.values()):
        env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
    assert all(env.truncations.values())


def test_options_that_are_none_are_refused() -> None:
    """OPT-1 to OPT-5, L2."""
    for wrong in (
        {"special_tiles": ("bridge",)},
        {"victory_target": 0},
        {"summon_ties": "dice"},
        {"tile_mix": (0, 0, 0)},
        {"tile_mix": (20, 20, 21)},
        {"max_rounds": 151},
        {"max_rounds": 0},
    ):
        with pytest.raises(OptionError):
            registry.spec("umbra_via").settings(2, **wrong)


# --- whole games -------------------------------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize("number", range(len(OPTION_SETS)))
@pytest.mark.parametrize("players", [2, 3, 4])
def test_whole_games(game: Game, players: int, number: int) -> None:
    """For every option set: invariants and ranges, and the mask is what `apply` accepts, tried for all actions.

    R6.5, R6.6, R7.5: a tile always finds a cell, and no complete path is left behind (invariant 8).
    """
    if not jit.COMPILED and number % 3 != players % 3:
        pytest.skip("plain Python takes every third")
    scratch, accepted = np.empty(1, dtype=game.dtype), np.zeros(game.actions.full_size, dtype=np.int8)
    for seed in range(SOME):
        for position in random_game(game, players, seed, **OPTION_SETS[number]):
            assert loops.check(game.check_call, position.states, 0) == 0
            assert record.out_of_range(position.states, state.FIELDS) == []
            if not position.over:
                loops.accepted(game.calls, position.states, 0, scratch, accepted)
                assert np.array_equal(accepted, position.action_mask())
                assert position.phase in ("place", "void_target", "four_point_target", "bid1", "bid2")
            # L1: at most 15 tiles lie there, and R7.1 was resolved
            assert int(position.states["occupied"][0]).bit_count() <= 15


def test_lengths(game: Game) -> None:
    """L1, L3, L4, D1: games are as long as RULES.md says, and within the bounds without special tiles."""
    mask = np.zeros(game.actions.full_size, dtype=np.int8)
    for players, (mean, rounds) in {2: (112, 7.1), 3: (178, 8.2), 4: (259, 9.3)}.items():
        decisions, begun = [], []
        for key in range(1500):
            states = game.template(game.settings(players))
            loops.deal(game.calls, game.template(game.settings(players)), states, 0, key, mask)
            decisions.append(loops.play_out(game.calls, game.greedy_call, states, 0, mask, loops.RANDOM_POLICY, key))
            begun.append(int(states["rounds"][0]))
        assert abs(np.mean(decisions) - mean) < 0.03 * mean
        assert abs(np.mean(begun) - rounds) < 0.03 * rounds
        assert max(decisions) < (6 * players + 1) * (29 * players + 16)
        assert max(begun) <= 29 * players + 16


def test_greedy_beats_random(game: Game) -> None:
    mask, actions = np.zeros(game.actions.full_size, dtype=np.int8), np.zeros(5000, dtype=np.int64)
    for players, share in ((2, 0.88), (3, 0.72), (4, 0.74)):
        wins, games = 0, 400
        for number in range(games):
            states = game.template(game.settings(players))
            loops.deal(game.calls, states.copy(), states, 0, number, mask)
            policies = np.full(players, loops.RANDOM_POLICY, dtype=np.int64)
            policies[number % players] = loops.GREEDY_POLICY
            loops.play_recorded(game.calls, game.greedy_call, states, 0, mask, policies, 0, number, actions)
            points, places = np.zeros(players, np.int32), np.zeros(players, np.int32)
            loops.score(game.calls, states, 0, points, places)
            wins += places[number % players] == 1
        assert wins / games > share


# --- who knows what (R11, D6, O2, O3) ----------------------------------------------------------------------------


def shown(position: Position, seat: int) -> tuple[Any, ...]:
    """All that a seat is shown."""
    scene = position.scene(seat)
    told = position.text(seat), position.json_text(seat), scene, position.events()
    return (position.observe(seat).tobytes(), *told)


@pytest.mark.nojit
def test_bids_stay_hidden_until_the_last_seat_has_bid(game: Game) -> None:
    """UV-P40, R4.5, R11.1, R11.2, D6, O2, O3: whatever seat 0 holds and bids, seats 1 and the public see the same."""
    seen = set()
    for hand, bids in (((1, 2), (0, 0, 0)), ((1, 2), (3, 2, 1)), ((0, 3), (0, 0, 0)), ((3, 0), (1, 1, 2))):
        position = bidding(game, [hand, (0, 3)], *FOUR)
        along = []
        for slot in bids:
            along.append((shown(position, 1), position.text(PUBLIC), position.scene(PUBLIC)))
            position.apply(slot)
        assert position.seat == 1
        along.append((shown(position, 1), position.text(PUBLIC), position.scene(PUBLIC)))
        seen.add(repr((along, legal(position))))
    assert len(seen) == 1


def test_environments_keep_the_bids_secret(game: Game) -> None:
    """D6: observation, mask, info and pictures of an AEC environment, for every agent but the one that bids."""
    seen: dict[int, set[str]] = {1: set(), 2: set()}
    for bids in ((0, 0, 0), (3, 2, 1), (1, 1, 2)):
        env = tabletop_envs.make("umbra_via", num_players=3, render_mode="ansi", render_viewer=2)
        env.reset(options={"key": 11})
        for slot in bids:
            env.step(slot)
        for seat in (1, 2):
            agent = env.possible_agents[seat]
            observation = env.observe(agent)
            told = [observation["observation"].tobytes(), observation["action_mask"].tobytes(), env.infos[agent]]
            seen[seat].add(repr((told, env.render(), env.agent_selection)))
    assert [len(found) for found in seen.values()] == [1, 1]


def test_pools_are_counted_from_what_lies_open(game: Game) -> None:
    """R11.1: the pool is what a player has but for what everybody saw leave it, whatever is hidden."""
    for position in random_game(game, 3, 4, special_tiles=SPECIAL):
        facts = position.to_json(PUBLIC)["position"]
        assert facts["hands"] == facts["pending"] == [None] * 3
        for seat in range(3):
            piles = [*facts["energy"].values(), *facts["waiting"].values()]
            altar = [lying for lying in facts["altar"] if lying]
            lying = sum(pile[seat] for pile in piles) + sum(slot["energy"][seat] for slot in altar)
            assert facts["pool"]["energy"][seat] == 32 - lying
            souls = facts["soul_tile"][seat] + facts["removed"][seat] + sum(slot["souls"][seat] for slot in altar)
            assert facts["pool"]["souls"][seat] == 17 - souls


def test_determinize_deals_from_the_pools(game: Game) -> None:
    """R4.2, R4.4, R11.2: hands are hypergeometric, pending flowers lie uniformly on what can be bid on."""
    block = tables.BLOCK_TILE
    position = bidding(game, [(1, 2), (0, 3)], 5, block, 3, 14, special_tiles=("block",))
    position.apply(0)
    position.apply(0)
    souls: Counter[int] = Counter()
    slots: Counter[int] = Counter()
    for salt in range(4000):
        copy = position.determinize(1, salt)
        s = copy.states[0]
        assert loops.check(game.check_call, copy.states, 0) == 0
        souls[int(s.hand[0, 0]) + int(s.pending[0, :, 0].sum())] += 1
        slots.update({slot: int(s.pending[0, slot].sum()) for slot in range(4)})
        assert s.to_bid[0] == 1
    total = 38 * 37 * 36
    assert abs(souls[0] / 4000 - 32 * 31 * 30 / total) < 0.03
    assert abs(souls[1] / 4000 - 3 * 6 * 32 * 31 / total) < 0.03
    assert slots[1] == 0
    assert all(abs(slots[slot] / 8000 - 1 / 3) < 0.03 for slot in (0, 2, 3))
    own = position.determinize(0, 5).states[0]
    assert np.array_equal(own.pending[0], position.states[0].pending[0])


def test_a_new_key_deals_another_stack(game: Game) -> None:
    """R11.3: the order of the stack is not known to a copy."""
    position = Position.new(game, 2, seed=8)
    futures = set()
    for salt in range(20):
        copy = position.determinize(0, salt)
        while copy.states["rounds"][0] == 1:
            copy.apply(legal(copy)[0])
        futures.add(tuple(copy.states["altar"][0].tolist()))
    assert len(futures) > 10


def test_observation(game: Game) -> None:
    """O1, O4: every number from the facts of a viewer, computed anew, for every seat."""
    for players, seed in ((2, 1), (3, 2), (4, 3)):
        for position in random_game(game, players, seed, special_tiles=SPECIAL, summon_ties="friendly"):
            if position.decisions % 5 == 0 or position.over:
                for seat in range(players):
                    expected = _observed(position.to_json(seat)["position"], position, seat)
                    assert np.allclose(position.observe(seat), expected, atol=1e-6)


def _observed(facts: dict[str, Any], position: Position, seat: int) -> list[float]:
    players = position.num_players
    order = [(seat + number) % players for number in range(players)]
    off = [0.0] * (4 - players)
    out: list[float] = []

    def tile(name: str | None, *specials: str) -> list[float]:
        return [float(bool(name)), *(float(bool(name) and name.isupper() and side in name) for side in "NESW")] + [
            float(name == special) for special in specials
        ]

    cells = [tile(facts["tiles"].get(name), "four_point") for name in notation.CELL_NAMES]
    for plane in range(6):
        out += [cell[plane] for cell in cells]
    piles = {**facts["energy"], **facts["waiting"]}
    for other in order:
        out += [min(1, piles.get(name, [0] * players)[other] / 12) for name in notation.CELL_NAMES]
    out += [0.0] * 16 * (4 - players)
    for name, lying in zip(tables.SLOT_NAMES, facts["altar"], strict=True):
        if not lying:
            out += [0.0] * 21
            continue
        out += tile(lying["tile"], *SPECIAL)
        for kind in ("energy", "souls"):
            out += [lying[kind][other] / 6 for other in order] + off
        out += [float(lying["order"] == counter) for counter in (1, 2, 3, 4)] + [float(facts["resolving"] == name)]
    own = facts["pending"][seat]
    for name in tables.SLOT_NAMES:
        out += [own.get(name, {}).get(kind, 0) / 3 for kind in ("souls", "energy")]
    out += [facts["hands"][seat][kind] / 3 for kind in ("souls", "energy")]
    for other in order:
        claims = facts["claims"][other]
        out += [1.0, min(1, claims / 28), max(0, 11 - claims) / 11, facts["pool"]["energy"][other] / 32]
        out += [facts["pool"]["souls"][other] / 17, facts["removed"][other] / 17]
        out += [float(facts["track"].index(other) == place) for place in range(4)]
    out += [0.0] * 10 * (4 - players)
    phases = ("bid1", "bid2", "place", "four_point_target", "void_target")
    out += [float(not position.over and facts["phase"] == phase) for phase in phases]
    for pile in ("stack", "discard"):
        out += [min(1, count / 20) for count in facts[pile].values()]
    values = position.settings.values
    out += [facts["round"] / values["max_rounds"], *(float(players == number) for number in (2, 3, 4))]
    return [*out, min(1, values["victory_target"] / 28), *(float(name in values["special_tiles"]) for name in SPECIAL)]


def test_scales_are_clipped(game: Game) -> None:
    """O4."""
    states = fresh(game, victory_target=99, tile_mix=(0, 0, 60))
    states["claims"][0, 0], states["energy"][0, 0, 3] = 40, 20
    out = np.zeros(view.OBSERVATIONS.full_size, dtype=np.float32)
    loops.observe(game.calls, states, 0, 0, out)
    parts = view.OBSERVATIONS.decode(out, {})
    assert parts["players"][0, 1] == parts["board"][6, 0, 3] == parts["globals"][4] == 1.0
    assert parts["tile_census"][0].tolist() == [0, 0, 1, 0, 0, 0]


# --- invariants --------------------------------------------------------------------------------------------------


def _a_place(game: Game) -> Position:
    walk = random_game(game, 3, 5, special_tiles=SPECIAL)
    return next(
        p
        for p in walk
        if p.phase == "place" and p.states["rounds"][0] > 3 and p.states[0].bid_energy.any(axis=0).sum() > 2
    )


def _a_bid(game: Game) -> Position:
    walk = random_game(game, 3, 5, special_tiles=("block",))
    return next(p for p in walk if p.phase == "bid2" and p.seat == 1 and tables.BLOCK_TILE in p.states[0].altar)


def _four(game: Game) -> Position:
    games = (random_game(game, 3, seed, special_tiles=SPECIAL) for seed in range(50))
    return next(p for walk in games for p in walk if p.phase == "four_point_target")


def _void(game: Game) -> Position:
    games = (random_game(game, 3, seed, special_tiles=SPECIAL) for seed in range(50))
    return next(p for walk in games for p in walk if p.phase == "void_target")


def _end(game: Game) -> Position:
    *_, end = random_game(game, 3, 5)
    return end


def _set(**values: Any) -> Callable[[Any], None]:
    def change(s: Any) -> None:
        for name, value in values.items():
            s[name] = value

    return change


def _add(name: str, index: Any, by: int) -> Callable[[Any], None]:
    def change(s: Any) -> None:
        s[name][index] += by

    return change


def _free_seat_energy(s: Any) -> None:
    s.energy[3, 0] = 1


def _swap_orders(s: Any) -> None:
    waiting = [slot for slot in range(4) if s.order[slot] > s.turn]
    s.order[waiting] = s.order[waiting][::-1].copy()


def _double_order(s: Any) -> None:
    waiting = [slot for slot in range(4) if s.order[slot] > s.turn]
    s.order[waiting] = s.order[waiting[0]]


def _bid_on_block(s: Any) -> None:
    block = s.altar.tolist().index(tables.BLOCK_TILE)
    slot = next(slot for slot in range(4) if s.pending[0, slot].any())
    s.pending[0, [slot, block]] = s.pending[0, [block, slot]]


def _revealed_on_block(s: Any) -> None:
    block = s.altar.tolist().index(tables.BLOCK_TILE)
    slot = next(slot for slot in range(4) if s.bid_energy[0, slot])
    s.bid_energy[0, slot] -= 1
    s.bid_energy[0, block] += 1


def _energy_before_souls(s: Any) -> None:
    s.hand[1], s.drawn[1], s.to_bid[1] = (1, 1), 3, 2
    s.pending[1] = 0
    s.pending[1, next(slot for slot in range(4) if 0 < s.altar[slot] < 16), tables.ENERGY] = 1


def _close_a_corner(s: Any) -> None:
    """A bend from a pile in the corner a1, open to the edge on both sides, in place of what lies there."""
    if s.board[0]:
        s.discard[tables.KIND_OF[s.board[0]]] += 1
    pile = s.stack if s.stack[tables.BEND] else s.discard
    pile[tables.BEND] -= 1
    s.board[0] = 9
    notation.keep_sets(s)


def _soul_on_resolved(s: Any) -> None:
    s.bid_souls[0, s.resolving] += 1
    s.pool[0, tables.SOUL] -= 1


def _empty_void(s: Any) -> None:
    for seat in range(3):
        s.pool[seat, tables.ENERGY] += s.bid_energy[seat, s.resolving]
        s.bid_energy[seat, s.resolving] = 0


def _empty_four(s: Any) -> None:
    for seat in range(3):
        s.pool[seat, tables.ENERGY] += s.energy[seat, s.placed]
        s.energy[seat, s.placed] = 0


BROKEN: list[tuple[int, Callable[[Game], Position], Callable[[Any], None]]] = [
    (1, _a_place, _set(seat=NOBODY)),
    (1, _a_place, _set(phase=Phase.OVER)),
    (1, _a_place, _set(phase=Phase.RESOLVE)),
    (1, _a_place, _set(phase=Phase.ROUND)),
    (1, _a_place, _set(turn=0)),
    (1, _a_place, _set(rounds=0)),
    (1, _a_place, _set(over=OVER_CAP)),
    (1, _a_bid, _set(rounds=0)),
    (1, _a_bid, _set(turn=2)),
    (1, _end, _set(phase=Phase.PLACE)),
    (2, _a_place, _add("pool", (1, tables.ENERGY), 1)),
    (2, _a_place, _free_seat_energy),
    (3, _a_place, _add("removed", 2, 1)),
    (3, _a_place, _add("claims", 3, 1)),
    (4, _a_place, _add("stack", 0, 1)),
    (4, _a_place, _add("discard", 5, 1)),
    (5, _a_bid, _add("hand", (1, tables.SOUL), 1)),
    (5, _a_bid, _add("drawn", 1, -1)),
    (5, _a_bid, _bid_on_block),
    (5, _a_bid, _energy_before_souls),
    (5, _a_bid, _add("pending", (2, 0, tables.ENERGY), 1)),
    (5, _a_place, _add("drawn", 1, 1)),
    (6, _a_place, _set(track=(0, 0, 1, 0))),
    (7, _a_place, _add("openings", 2, 1)),
    (7, _a_place, _set(occupied=0)),
    (8, _a_place, _close_a_corner),
    (9, _a_place, _swap_orders),
    (9, _a_place, _double_order),
    (9, _a_place, _set(placed=3)),
    (9, _a_place, _set(resolving=NONE)),
    (9, _four, _set(placed=NONE)),
    (10, _a_place, _set(winner=0)),
    (10, _end, _set(winner=NONE)),
    (11, _a_bid, _revealed_on_block),
    (11, _a_place, _soul_on_resolved),
    (11, _void, _empty_void),
    (11, _void, _set(phase=Phase.PLACE)),
    (11, _four, _empty_four),
]


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_broken_invariants_are_named(game: Game, number: int) -> None:
    code, find, change = BROKEN[number]
    position = find(game).clone()
    assert loops.check(game.check_call, position.states, 0) == 0
    change(position.states[0])
    assert loops.check(game.check_call, position.states, 0) == code
    assert {broken for broken, _, _ in BROKEN} == set(state.INVARIANTS)


# --- texts -------------------------------------------------------------------------------------------------------


def test_actions_in_words(game: Game) -> None:
    """R1.1, D2 to D5: slots are I to IV, cells a1 to d4, and what is no action gets the nearest guess."""
    texts = [notation.action_text(action) for action in range(21)]
    assert texts[:5] == ["bid on I", "bid on II", "bid on III", "bid on IV", "to a1"]
    assert texts[-2:] == ["to d4", "decline"]
    assert notation.parse_action("  Bid ON  iii") == 2
    with pytest.raises(NotationError, match="did you mean 'to c3'"):
        notation.parse_action("to c33")
    with pytest.raises(NotationError, match="slot 4"):
        notation.event_text(state.WON, 0, 4)
    with pytest.raises(NotationError, match="none of Umbra Via"):
        notation.event_text(99, 0, 0)


def test_positions_that_are_none_are_refused(game: Game) -> None:
    position = next(p for p in random_game(game, 2, 3) if p.phase == "place")
    facts = position.to_json(ALL)
    for name, value in (
        ("phase", "tea"),
        ("tiles", {"e9": "NS"}),
        ("tiles", {"a1": "NESW"}),
        ("claims", [1, 2, 3]),
        ("pool", {"souls": [6, 6], "energy": [32, 99]}),
        ("resolving", "V"),
    ):
        with pytest.raises(CorruptDataError):
            Position.from_json({**facts, "position": {**facts["position"], name: value}})
    states = game.template(game.settings(2))
    for text in ("round=1", position.text().replace('"place"', '"tea"'), position.text().replace("seat=", "seat=1")):
        with pytest.raises(NotationError):
            notation.parse_position(text, states[0])
    assert position.states["over"][0] == RUNNING
