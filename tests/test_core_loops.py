"""The compiled loops over any game, seen through the toy game. Also in plain Python (`nojit`)."""

from __future__ import annotations

import numpy as np
import pytest

from tabletop_envs.core import jit, loops
from tabletop_envs.core.game import Game
from tabletop_envs.core.header import NOBODY, OVER_CAP, OVER_RULES, RUNNING
from tabletop_envs.core.position import Position
from tabletop_envs.core.random import EPISODE, derive_key
from tabletop_envs.testing import walk

pytestmark = pytest.mark.nojit

SEEDS = 40 if jit.COMPILED else 6


def begun(game: Game, players: int = 2, seed: int = 0, **options: object) -> tuple[np.ndarray, np.ndarray, int]:
    """A dealt game: records, mask, number of legal actions."""
    states = game.template(game.settings(players, **options))
    states["key"] = seed
    mask = np.full(game.num_actions(game.settings(players, **options)), 7, dtype=np.int8)
    return states, mask, int(loops.start(game.calls, states, 0, mask))


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 16, 31, 408])
def test_nth_legal_finds_every_set_entry(size: int) -> None:
    for share in (0.05, 0.5, 1.0):
        mask = (np.random.default_rng(size).random(size) < share).astype(np.int8)
        mask[-1] = 1
        legal = np.flatnonzero(mask).tolist()
        assert [int(loops.nth_legal(mask, number)) for number in range(len(legal))] == legal


def test_start_deals_and_asks_the_first_seat(toy: Game) -> None:
    states, mask, count = begun(toy, 3)
    assert count == mask.sum() > 1
    assert states["seat"][0] == 0
    assert states["over"][0] == RUNNING
    assert states["decisions"][0] == 0


def test_step_counts_decisions_and_clears_the_log(toy: Game) -> None:
    states, mask, _ = begun(toy, 2)
    assert loops.step(toy.calls, states, 0, 4, mask) == mask.sum()  # pass
    assert states["seat"][0] == 1
    assert states["decisions"][0] == 1
    loops.step(toy.calls, states, 0, 4, mask)
    assert states["num_events"][0] == 4  # two shown, two drawn
    assert states["events"][0][:4, 1].tolist() == [0, 1, 0, 1]
    loops.step(toy.calls, states, 0, 4, mask)
    assert states["num_events"][0] == 0
    assert not states["events"].any()


def test_auto_forced_makes_single_option_decisions(toy: Game) -> None:
    for seed in range(SEEDS):
        for position in walk(toy, toy.settings(2), seed, "random"):
            assert position.over or len(position.legal_actions()) > 1
    singles = [
        position.decisions
        for seed in range(SEEDS)
        for position in walk(toy, toy.settings(2, auto_forced=False), seed, "random")
        if len(position.legal_actions()) == 1
    ]
    assert singles


def test_a_forced_decision_does_not_count(toy: Game) -> None:
    # the one wins: one stone may be taken, so it is taken unasked
    for forced in (True, False):
        position = Position.new(toy, 2, auto_forced=forced)
        position.states["hands"][0] = [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
        position = Position(toy, position.settings, position.states)
        position.apply("play one")
        position.apply("pass")
        assert (position.phase, position.decisions) == (("play", 2) if forced else ("take", 2))
        assert position.points() == ([1, 0] if forced else [0, 0])


def test_the_cap_ends_a_game_and_scores_it(toy: Game) -> None:
    states, mask, count = begun(toy, 4, seed=3, max_decisions=5)
    made = 0
    while count:
        count = int(loops.step(toy.calls, states, 0, int(np.flatnonzero(mask)[0]), mask))
        made += 1
    assert made == states["decisions"][0] == 5
    assert states["over"][0] == OVER_CAP
    assert states["seat"][0] == NOBODY
    assert not mask.any()
    points, places = np.full((2, 4), -1, dtype=np.int32)
    loops.score(toy.calls, states, 0, points, places)
    assert points.min() >= 0
    assert places.min() == 1


def test_the_rules_may_end_a_game_at_its_cap(two_moves: Game) -> None:
    states, mask, _ = begun(two_moves)
    loops.step(two_moves.calls, states, 0, 0, mask)
    loops.step(two_moves.calls, states, 0, 1, mask)
    assert states["decisions"][0] == states["max_decisions"][0]
    assert states["over"][0] == OVER_RULES


def test_step_observed_packs_seat_and_events(toy: Game) -> None:
    states, mask, _ = begun(toy, 2)
    out = np.zeros(toy.observations.full_size, dtype=np.float32)[: toy.observation_size(toy.settings(2))]
    assert loops.step_observed(toy.calls, states, 0, 4, mask, out) == 2
    expected = np.zeros_like(out)
    loops.observe(toy.calls, states, 0, 1, expected)
    assert np.array_equal(out, expected)
    assert loops.step_observed(toy.calls, states, 0, 4, mask, out) == 256 + 2  # seat 1 starts the second round
    states["max_decisions"] = 3
    assert loops.step_observed(toy.calls, states, 0, 4, mask, out) == 0
    loops.observe(toy.calls, states, 0, 0, expected)
    assert np.array_equal(out, expected)


def test_legal_writes_nothing_when_nobody_is_asked(toy: Game) -> None:
    states, mask, _ = begun(toy)
    states["seat"] = NOBODY
    assert loops.legal(toy.calls, states, 0, mask) == 0
    assert not mask.any()


def test_refresh_settles_a_record_that_was_written(toy: Game) -> None:
    states, mask, _ = begun(toy)
    states["seat"], states["turn"] = NOBODY, 1
    assert loops.refresh(toy.calls, states, 0, mask) == mask.sum()
    assert states["seat"][0] == 1


def test_raw_steps_stop_between_automatic_ones(toy: Game) -> None:
    states, _, _ = begun(toy)
    loops.raw_apply(toy.calls, states, 0, 4)
    assert states["seat"][0] == NOBODY
    loops.raw_advance(toy.calls, states, 0)
    assert states["seat"][0] == 1


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 4])
def test_count_tree_agrees_with_a_recursion(toy: Game, two_moves: Game, depth: int) -> None:
    def count(position: Position, left: int) -> int:
        if left == 0:
            return 1
        total = 0
        for action in position.legal_actions():
            after = position.clone()
            after.apply(int(action))
            total += count(after, left - 1)
        return total

    for game in (toy, two_moves):
        for players in (game.spec.min_players, game.spec.max_players):
            states, _, _ = begun(game, players, seed=2)
            tree = np.repeat(states, depth + 1)
            masks = np.zeros((depth + 1, game.num_actions(game.settings(players))), dtype=np.int8)
            expected = count(Position.new(game, players, seed=2), depth)
            assert loops.count_tree(game.calls, tree, masks, depth) == expected
            assert tree[0].tobytes() == states[0].tobytes()


def test_count_tree_leaves_out_games_that_end_early(two_moves: Game) -> None:
    states, _, _ = begun(two_moves)
    masks = np.zeros((4, 2), dtype=np.int8)
    assert loops.count_tree(two_moves.calls, np.repeat(states, 4), masks, 3) == 0


def test_accepted_is_what_apply_accepts(toy: Game) -> None:
    states, mask, _ = begun(toy, 2, seed=5)
    scratch, accepted = loops.scratch(states, 1), np.zeros(toy.num_actions(toy.settings()), dtype=np.int8)
    before = states.tobytes()
    loops.accepted(toy.calls, states, 0, scratch, accepted)
    assert np.array_equal(accepted, mask)
    states["hands"][0, 0] = 0
    loops.accepted(toy.calls, states, 0, scratch, accepted)
    assert np.flatnonzero(accepted).tolist() == [4]  # a pass
    assert before != states.tobytes()


def test_exceptions_of_a_game_come_through(toy: Game) -> None:
    states, mask, _ = begun(toy)
    with pytest.raises(AssertionError, match=r"a card or a pass is asked \(R2.1\)"):
        loops.raw_apply(toy.calls, states, 0, 6)
    with pytest.raises(AssertionError, match="outside the space"):
        loops.step(toy.calls, states, 0, 900, mask)
    states["seat"] = NOBODY
    with pytest.raises(AssertionError, match="nobody is asked"):
        loops.step_batch(toy.calls, states, np.array([0]), np.array([4]), mask[None])


def test_first_illegal() -> None:
    masks = np.array([[0, 1], [1, 1], [1, 0]], dtype=np.int8)
    rows = np.arange(3)
    assert loops.first_illegal(masks, rows, np.array([1, 0, 0])) == -1
    assert loops.first_illegal(masks, rows, np.array([1, 0, 1])) == 2
    assert loops.first_illegal(masks, rows, np.array([0, 0, 1])) == 0
    assert loops.first_illegal(masks, rows, np.array([1, 2, 0])) == 1
    assert loops.first_illegal(masks, rows, np.array([1, -1, 0])) == 1
    assert loops.first_illegal(masks, np.array([2, 0]), np.array([0, 0])) == 1
    assert loops.first_illegal(masks, rows[:0], np.array([], dtype=np.int64)) == -1


def test_policies_play_out_legally_and_by_their_salt(toy: Game) -> None:
    ends = {}
    for policy in (loops.RANDOM_POLICY, loops.GREEDY_POLICY):
        for salt in range(5):
            for _ in range(2):
                states, mask, _ = begun(toy, 3, seed=1)
                made = int(loops.play_out(toy.calls, toy.greedy_call, states, 0, mask, policy, salt))
                assert made == states["decisions"][0] > 0
                assert states["over"][0] != RUNNING
                assert loops.check(toy.check_call, states, 0) == 0
                assert ends.setdefault((policy, salt), states.tobytes()) == states.tobytes()
    assert len(set(ends.values())) > 5


def test_random_policy_is_uniform(toy: Game) -> None:
    states, mask, count = begun(toy, 2, seed=5)
    chosen = np.bincount(
        [int(loops.choose(toy.greedy_call, loops.RANDOM_POLICY, states[0], mask, count, salt)) for salt in range(3000)],
        minlength=toy.num_actions(toy.settings()),
    )
    assert np.array_equal(chosen > 0, mask > 0)
    assert ((chosen[mask > 0] - 3000 / count) ** 2 / (3000 / count)).sum() < 36


def test_random_batch_deals_anew_and_stays_sound(toy: Game) -> None:
    size = 3
    states = np.repeat(toy.template(toy.settings(2)), size)
    masks = np.zeros((size, toy.num_actions(toy.settings())), dtype=np.int8)
    outs = np.zeros((size, toy.observation_size(toy.settings(2))), dtype=np.float32)
    rows = np.arange(size)
    loops.deal_batch(toy.calls, toy.template(toy.settings(2)), states, rows, rows, masks)
    steps = 200
    made, games = loops.random_batch(toy.calls, toy.template(toy.settings(2)), states, masks, outs, 1, steps)
    assert made == size * steps
    assert games > size
    for row in range(size):
        position = Position(toy, toy.settings(2), states[row : row + 1].copy())
        assert loops.check(toy.check_call, states, row) == 0
        assert not position.over
        assert np.array_equal(masks[row], position.action_mask())
        assert np.array_equal(outs[row], position.observe(position.seat or 0))


def test_keys_of_episodes() -> None:
    keys = np.zeros(4, dtype=np.int64)
    loops.episode_keys(9, np.array([0, 1, 0, 1]), np.array([0, 5]), keys)
    assert keys[0] == keys[2]
    assert keys[1] == keys[3] == derive_key(derive_key(9, EPISODE, 1), EPISODE, 5)
    assert keys[0] != keys[1]


def test_builtin_policies_answer_until_the_learner_is_asked(toy: Game) -> None:
    size = 6
    settings = toy.settings(3)
    states = np.repeat(toy.template(settings), size)
    masks = np.zeros((size, toy.num_actions(toy.settings())), dtype=np.int8)
    rows, learners = np.arange(size), np.array([0, 1, 2, -1, 1, -1])
    policies = np.tile([loops.RANDOM_POLICY, loops.GREEDY_POLICY, loops.RANDOM_POLICY], (size, 1))
    policies[5, 1] = -1  # somebody else plays it
    loops.deal_batch(toy.calls, toy.template(settings), states, rows, rows, masks)
    loops.answer_batch(toy.calls, toy.greedy_call, states, rows[:5], learners, policies, rows, masks)
    assert states["seat"][:3].tolist() == [0, 1, 2]
    assert states["over"][3] != RUNNING  # no learner: played to its end
    assert states["decisions"][5] == 0  # not among the rows
    loops.answer_batch(toy.calls, toy.greedy_call, states, rows, learners, policies, rows, masks)
    assert states["seat"][5] == 1
    for row in range(size):
        assert loops.check(toy.check_call, states, row) == 0
