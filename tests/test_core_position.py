"""Position: one game in hand. Copies, decisions, errors, texts, storage."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest
from toy_game.broken import legal_finds_nothing

from tabletop_envs.core.game import ALL, PUBLIC, Game
from tabletop_envs.core.header import KEY_LIMIT, MAX_EVENTS
from tabletop_envs.core.position import Position, check_key, check_record
from tabletop_envs.errors import (
    CorruptDataError,
    GameOverError,
    IllegalActionError,
    NotationError,
    OptionError,
    UnknownGameError,
)
from tabletop_envs.testing import reach, walk


@pytest.fixture
def position(toy: Game) -> Position:
    """Three players, some decisions into the game."""
    return reach(toy, toy.settings(3, memory=True), 4, 5)


@pytest.fixture
def ended(toy: Game) -> Position:
    """A game at its end."""
    *_, last = walk(toy, toy.settings(3), 1)
    return last


def test_a_new_game(toy: Game) -> None:
    position = Position.new(toy, 4, seed=11, heap=20)
    assert (position.num_players, position.seat, position.decisions, position.seed) == (4, 0, 0, 11)
    assert not position.over
    assert not position.capped
    assert position.phase == "play"
    assert position.points() == [0, 0, 0, 0]
    assert position.places() == [1, 1, 1, 1]
    assert position.events() == []
    assert position.settings.values["heap"] == 20
    assert repr(position) == "<Position tabletop/toy-v0, 4 players, decision 0, seat 0 to act, play>"


def test_a_new_game_by_id(toy: Game) -> None:
    assert Position.new("toy", seed=3) == Position.new(toy, seed=3)
    assert Position.new("tabletop/toy-v0", seed=3) == Position.new(toy, seed=3)
    with pytest.raises(UnknownGameError):
        Position.new("tooy")


def test_seeds_deal_different_games(toy: Game) -> None:
    deals = {Position.new(toy, seed=seed).states["hands"].tobytes() for seed in range(30)}
    assert len(deals) > 5


@pytest.mark.parametrize("seed", [-1, 2**53, 1.0, "1", None, True])
def test_seeds_that_are_none(seed: object) -> None:
    with pytest.raises(OptionError, match=r"whole number from 0 to 2\*\*53 - 1"):
        check_key(seed)


def test_seeds_at_the_ends(toy: Game) -> None:
    assert Position.new(toy, seed=0).seed == 0
    assert Position.new(toy, seed=np.int64(2**53 - 1)).seed == 2**53 - 1


def test_legal_actions_and_mask_agree(position: Position) -> None:
    mask = position.action_mask()
    assert np.array_equal(np.flatnonzero(mask), position.legal_actions())
    mask[:] = 0
    assert position.action_mask().any()  # the caller's own


def test_actions_by_text(position: Position) -> None:
    other = position.clone()
    action = int(position.legal_actions()[0])
    position.apply(action)
    other.apply(f" {position.action_text(action).upper()} ")
    assert position == other


def test_refused_actions_leave_the_position_unharmed(position: Position) -> None:
    before = position.to_bytes()
    illegal = int(np.flatnonzero(position.action_mask() == 0)[0])
    with pytest.raises(IllegalActionError, match=rf"{position.action_text(illegal)!r} \({illegal}\) is not legal for"):
        position.apply(illegal)
    for action in (-1, 9, 2.0, None):
        with pytest.raises(IllegalActionError, match="whole number from 0 to 8"):
            position.apply(action)  # type: ignore[arg-type]
    with pytest.raises(NotationError, match="write"):
        position.apply("play seven")
    with pytest.raises(IllegalActionError):
        position.apply(position.action_text(illegal))
    assert position.to_bytes() == before


def test_the_end(ended: Position) -> None:
    assert ended.over
    assert ended.seat is None
    assert not ended.legal_actions().size
    assert not ended.action_mask().any()
    assert min(ended.places()) == 1
    assert "over" in repr(ended)
    with pytest.raises(GameOverError, match=r"Position\.new"):
        ended.apply(0)
    with pytest.raises(GameOverError):
        ended.greedy_action()


def test_the_cap(toy: Game) -> None:
    *_, last = walk(toy, toy.settings(2, max_decisions=3), 0)
    assert last.capped
    assert last.over
    assert last.decisions == 3


def test_observations_are_the_callers_own(position: Position) -> None:
    first = position.observe(1)
    assert first.dtype == np.float32
    assert first.shape == (position.game.observation_size(position.settings),)
    second = position.observe(1)
    first[:] = 9
    assert not np.array_equal(first, second)
    assert np.array_equal(second, position.observe(1))


@pytest.mark.parametrize("seat", [-1, 3, 7])
def test_seats_that_are_not_at_the_table(position: Position, seat: int) -> None:
    for ask in (position.observe, lambda seat: position.determinize(seat, 1)):
        with pytest.raises(OptionError, match="seats are 0 to 2"):
            ask(seat)


# --- copies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [Position.clone, copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies_are_equal_and_independent(position: Position, make) -> None:  # type: ignore[no-untyped-def]
    other = make(position)
    assert other == position
    assert other.settings == position.settings
    before = position.to_bytes()
    other.apply(int(other.legal_actions()[-1]))
    assert other != position
    assert position.to_bytes() == before
    position.apply(int(position.legal_actions()[-1]))
    assert other == position


def test_copies_inside_containers(position: Position) -> None:
    twice = copy.deepcopy([position, {"again": position}])
    assert twice[0] == position
    assert twice[0] is not position


def test_equality(toy: Game, two_moves: Game) -> None:
    assert Position.new(toy, seed=1) == Position.new(toy, seed=1)
    assert Position.new(toy, seed=1) != Position.new(toy, seed=2)
    assert Position.new(toy, seed=1) != Position.new(toy, 3, seed=1)
    assert Position.new(toy) != Position.new(two_moves)
    assert Position.new(toy) != "toy"
    with pytest.raises(TypeError, match="unhashable"):
        hash(Position.new(toy))


def test_equal_states_by_different_ways_are_equal(two_moves: Game, toy: Game) -> None:
    # events of earlier steps leave no trace in a record
    position = Position.new(toy, 2, seed=1)
    while position.states["num_events"][0] or not position.decisions:
        position.apply("pass")
    for _ in range(4):
        position.apply("pass")
        kept = position.states["events"][0][: min(int(position.states["num_events"][0]), MAX_EVENTS)]
        assert not position.states["events"][0][len(kept) :].any()


def test_bytes_and_digest(position: Position) -> None:
    assert position.digest() == position.clone().digest()
    assert len(position.to_bytes()) == position.game.dtype.itemsize


# --- what a seat knows ------------------------------------------------------------------------------------------


def test_determinize_deals_the_unknown_anew(position: Position) -> None:
    seat = position.seat
    assert seat is not None
    deals = [position.determinize(seat, salt) for salt in range(30)]
    assert {deal.states["hands"][0][seat].tobytes() for deal in deals} == {position.states["hands"][0][seat].tobytes()}
    assert len({deal.states["hands"].tobytes() for deal in deals}) > 3
    assert len({deal.seed for deal in deals}) == 30
    assert position.determinize(seat, 7) == deals[7]


def test_determinize_for_a_seat_that_is_not_asked_gives_a_mask_that_fits(toy: Game) -> None:
    differing = 0
    for seed in range(10):
        for position in walk(toy, toy.settings(2), seed):
            if position.seat is None:
                continue
            copy = position.determinize(1 - position.seat, seed)
            again = Position(toy, copy.settings, copy.states.copy())
            assert np.array_equal(copy.action_mask(), again.action_mask())
            differing += not np.array_equal(copy.action_mask(), position.action_mask())
    assert differing


def test_viewers_are_told_what_they_may_know(position: Position) -> None:
    public, own, everything = (position.to_json(viewer) for viewer in (PUBLIC, 1, ALL))
    assert (
        public["position"]["hands"] == [None, None, None, [0, 0, 0, 0]] or public["position"]["hands"][:3] == [None] * 3
    )
    assert own["position"]["hands"][1] == position.states["hands"][0][1].tolist()
    assert own["position"]["hands"][0] is None
    assert everything["position"]["deck"] == position.states["deck"][0].tolist()
    assert everything["seed"] == position.seed
    assert "seed" not in public
    assert "draws" not in own
    assert position.text() != position.text(PUBLIC) != position.text(1)


# --- JSON -------------------------------------------------------------------------------------------------------


def test_json_comes_back_to_the_byte(toy: Game) -> None:
    for settings in (toy.settings(2), toy.settings(4, extras="joker,refill", cards=[3, 3, 4], tie="first")):
        for position in walk(toy, settings, 8):
            assert Position.from_json(json.loads(json.dumps(position.to_json()))) == position


def test_json_names_settings(position: Position) -> None:
    facts = position.to_json()
    assert facts["game"] == "tabletop/toy-v0"
    assert facts["options"] == {"memory": True}
    assert facts["num_players"] == 3


@pytest.mark.parametrize(
    "change",
    [
        {"game": "tabletop/toy-v7"},
        {"num_players": 9},
        {"options": {"nothing": 1}},
        {"seed": -1},
        {"draws": [1]},
        {"decisions": "many"},
        {"decisions": 2**40},
        {"decisions": 61},
        {"draws": [-1] * 8},
        {"events": [[2, 0, 99]], "num_events": 1},
        {"seat": 3},
        {"seat": None},
        {"over": 1},
        {"over": 9, "seat": None},
        {"num_events": 4},
        {"events": [[1, 2]], "num_events": 1},
        {"position": {}},
        {"position": None},
        {"position": "text"},
    ],
    ids=str,
)
def test_json_that_is_no_position(position: Position, change: dict[str, object]) -> None:
    with pytest.raises((CorruptDataError, UnknownGameError)) as caught:
        Position.from_json({**position.to_json(), **change})
    assert str(caught.value)


def test_json_of_an_impossible_position(position: Position) -> None:
    facts = position.to_json()
    facts["position"]["deck"][0] += 1
    with pytest.raises(CorruptDataError, match="breaks invariant 2 of toy: no card is lost"):
        Position.from_json(facts)
    facts["position"]["deck"][0] -= 1
    facts["position"]["turn"] = 99
    with pytest.raises(CorruptDataError, match=r"turn: 99\.\.99 outside 0\.\.4"):
        Position.from_json(facts)
    facts["position"]["phase"] = 3
    with pytest.raises(CorruptDataError):
        Position.from_json(facts)
    with pytest.raises(CorruptDataError):
        Position.from_json({})


@pytest.mark.parametrize("viewer", [2, -3, "public", "all", 0.5, True, None])
def test_a_viewer_is_a_seat_or_one_of_two_constants(viewer: Any) -> None:
    position = Position.new("urbino", seed=1)
    for shown in (position.text, position.scene, position.svg, position.to_json):
        with pytest.raises(OptionError, match="is no viewer: give PUBLIC, ALL or a seat"):
            shown(viewer)
    with pytest.raises(OptionError, match="not at the table"):
        position.observe(viewer)


@pytest.mark.parametrize("salt", [-1, 2**31, 2**70, 0.5, "1"])
def test_a_salt_is_a_whole_number_below_its_limit(salt: Any) -> None:
    with pytest.raises(OptionError, match=r"salt .* is not possible"):
        Position.new("urbino", seed=1).determinize(0, salt)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("num_players", 2, "num_players is 2, not 3 as set"),
        ("heap", 13, "heap is 13, not 12 as set"),
        ("memory", 0, "memory is 0, not 1 as set"),
        ("max_decisions", 10**6, "max_decisions is 1000000, not 60 as set"),
        ("auto_forced", 0, "auto_forced is 0, not 1 as set"),
        ("phase", 9, "there is no phase 9"),
        ("seat", -1, "do not fit together"),
        ("seat", 3, "do not fit together"),
        ("key", -5, "count no chance"),
        ("key", KEY_LIMIT, "count no chance"),
        ("num_events", -1, "-1 events are not"),
        ("header_pad", 1, "between the fields"),
        ("turn", 99, "turn: 99"),
        ("stones", 9, "breaks invariant 4"),
    ],
)
def test_records_that_are_no_position(position: Position, field: str, value: int, words: str) -> None:
    states = position.clone().states
    check_record(position.game, position.settings, states)
    states[field] = value
    with pytest.raises(CorruptDataError, match=words):
        check_record(position.game, position.settings, states)


def test_a_record_in_which_a_seat_has_no_choice_is_no_position(toy: Game) -> None:
    stuck = toy.with_functions(legal=legal_finds_nothing)
    position = Position.new(toy, 3)
    with pytest.raises(CorruptDataError, match="seat 0 is asked in phase 0, but no action is legal"):
        check_record(stuck, position.settings, position.states)


def test_every_position_of_a_game_has_a_sound_record(toy: Game) -> None:
    for settings in (toy.settings(2), toy.settings(4, extras="joker,refill", cards=[3, 3, 4], tie="first")):
        for position in walk(toy, settings, 4):
            check_record(toy, settings, position.states)
            check_record(toy, settings, position.determinize(0, 5).states)
