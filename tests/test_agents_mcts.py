"""The search agent: it finds what wins, knows only what its seat may know, and keeps to its budget and its memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from tabletop_envs import registry
from tabletop_envs.agents import make_agent
from tabletop_envs.agents import mcts as module
from tabletop_envs.agents.base import View, ask, begin
from tabletop_envs.agents.mcts import MctsAgent
from tabletop_envs.core import search
from tabletop_envs.core.game import Game
from tabletop_envs.core.jit import jit
from tabletop_envs.core.position import Position
from tabletop_envs.core.random import threefry
from tabletop_envs.errors import OptionError, UnknownAgentError
from tabletop_envs.training.evaluation import evaluate

SIMULATIONS = 60
OURS = next(iter(registry.games()))
ONE, TWO, THREE = range(3)  # kinds of card in the toy


def secret_card(game: Game, kind: int) -> Position:
    """Seat 1 holds a two and a three and is asked; seat 0 has a card of this kind face down, and one of the other."""
    position = Position.new(game, 2, seed=4, cards=(10, 10, 10))
    s = position.states[0]
    s.deck[:] += s.hands[:2].sum(axis=0).astype(np.int8)
    s.hands[:] = 0
    s.hands[1, TWO], s.hands[1, THREE] = 1, 1
    s.hands[0, ONE + THREE - kind] = 1
    s.chosen[0], s.committed[0], s.turn, s.seat = kind, 1, 1, 1
    for used in (TWO, THREE, ONE, THREE):
        s.deck[used] -= 1
    return Position.from_json(position.to_json())


@jit
def nothing_dealt_anew(s, seat, salt):  # type: ignore[no-untyped-def]
    """A `determinize` that gives everything away."""


def votes(game: Game, position: Position, seeds: Iterable[int]) -> np.ndarray:
    """[action] -> its share of the visits, over searches with these seeds."""
    total = np.zeros(game.num_actions(position.settings))
    for seed in seeds:
        actions, visits, _ = MctsAgent(game, SIMULATIONS, seed=seed).search(View(position))
        np.add.at(total, actions, visits)
    share: np.ndarray = total / total.sum()
    return share


# --- what it chooses --------------------------------------------------------------------------------------------


@pytest.mark.nojit
def test_it_finds_what_wins(two_moves: Game) -> None:
    # nothing but the search says so: the baseline's share is off, and the first seat cannot win at all
    agent = MctsAgent(two_moves, SIMULATIONS, greedy_share=0)
    position = Position.new(two_moves)
    _, _, means = agent.search(View(position))
    assert means.max() < 0.2
    position.apply(ask(agent, position))
    assert ask(agent, position) == 1
    _, _, means = agent.search(View(position))
    assert means[1] > 0.95
    assert means[0] < 0.05 or np.isnan(means[0])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_it_beats_the_baselines(toy: Game, players: int) -> None:
    agent = MctsAgent(toy, SIMULATIONS)
    fair = 1 / players
    result = evaluate(toy, toy.settings(players), agent, "random", games=24 * players, seed=1)
    assert result.low > fair
    result = evaluate(toy, toy.settings(players), agent, "greedy", games=24 * players, seed=1)
    assert result.win_share > fair


def test_it_plays_every_game_of_ours() -> None:
    for name in registry.games():
        game = registry.load(name)
        for players in {game.spec.min_players, game.spec.max_players}:
            position = Position.new(game, players, seed=2)
            agent = MctsAgent(game, 4, playout_decisions=20)
            for _ in range(12):
                if not position.over:
                    position.apply(ask(agent, position))


@pytest.mark.nojit
def test_the_same_seed_chooses_the_same(toy: Game) -> None:
    games = []
    for seed in (1, 2, 1):
        position, agent = Position.new(toy, 3, seed=9), make_agent(f"mcts:{SIMULATIONS}", toy)
        begin(agent, 0, seed)
        made = []
        while not position.over and len(made) < 3:
            made.append(MctsAgent(toy, SIMULATIONS, seed=seed).search(View(position))[1].tolist())
            position.apply(ask(agent, position))
        games.append((made, position.to_bytes()))
    assert games[0] == games[2]
    assert games[0] != games[1]


def test_a_decision_with_one_option_is_not_searched(toy: Game) -> None:
    position = Position.new(toy, 2, seed=4, auto_forced=False, cards=(11, 1, 1))
    agent = MctsAgent(toy, SIMULATIONS)
    while len(position.legal_actions()) > 1:  # until a card of one wins over a pass
        position.apply(int(position.legal_actions()[-1 if position.decisions % 2 else 0]))
    assert ask(agent, position) == position.legal_actions()[0]
    assert agent.decisions_made == 0


# --- what it may know -------------------------------------------------------------------------------------------


def test_it_does_not_see_a_hidden_card(toy: Game) -> None:
    against_one, against_three = secret_card(toy, ONE), secret_card(toy, THREE)
    assert against_one.observe(1).tobytes() == against_three.observe(1).tobytes()
    seeds = range(60)
    honest = abs(votes(toy, against_one, seeds) - votes(toy, against_three, seeds)).max()
    twin = toy.with_functions(determinize=nothing_dealt_anew)
    oracle = []
    for position in (against_one, against_three):
        oracle.append(votes(twin, Position(twin, position.settings, position.states.copy()), seeds))
    assert abs(oracle[0] - oracle[1]).max() > 0.15  # so there was something to see
    assert honest < 0.05


def test_a_seat_in_the_tree_does_not_see_the_searchers_cards(toy: Game) -> None:
    # one node holds all of a seat's situations that it cannot tell apart
    mine, other = secret_card(toy, ONE), secret_card(toy, THREE)
    for seat, situations in ((1, 1), (0, 2)):
        keys = {key_of(seat, position.observe(seat), position.action_mask()) for position in (mine, other)}
        assert len(keys) == situations


def key_of(seat: int, out: np.ndarray, mask: np.ndarray) -> int:
    m = search.memory(np.dtype(np.int8), 2, len(mask), len(out), 1, len(mask))
    m.out[:] = out
    m.mask[:] = mask
    return search.fingerprint(seat, m.bits, m.keys)


@pytest.mark.nojit
@pytest.mark.parametrize(("size", "actions"), [(30, 12), (31, 16), (1, 1)])
def test_fingerprints_tell_seats_observations_and_masks_apart(size: int, actions: int) -> None:
    rng = np.random.default_rng(7)
    keys, told = set(), set()
    for _ in range(100):
        out = (rng.integers(-1, 4, size) / 4).astype(np.float32)
        mask = rng.integers(0, 2, actions).astype(np.int8)
        changed, last, flipped = out.copy(), out.copy(), mask.copy()
        changed[0] += 0.125
        last[-1] -= 0.125
        flipped[-1] ^= 1
        for seat in range(4):
            for seen, allowed in ((out, mask), (changed, mask), (last, mask), (out[::-1], mask), (out, flipped)):
                told.add((seat, seen.tobytes(), allowed.tobytes()))
                keys.add(key_of(seat, seen, allowed))
    assert len(keys) == len(told)
    assert min(keys) >= 0
    assert max(keys) < 2**62


@pytest.mark.nojit
def test_the_fingerprint_is_the_hash_it_is_said_to_be() -> None:
    m = search.memory(np.dtype(np.int8), 2, 9, 5, 1, 9)
    m.out[:] = [-1.5, 0, 0.25, 1, 1e9]
    m.mask[:] = [1, 0, 1, 1, 0, 0, 0, 0, 1]
    half, most = len(m.bits) // 2, 2**32 - 1
    words = [[int(b) for b in part] for part in (m.bits[:half], m.bits[half:])]
    keys = [[int(k) for k in row] for row in m.keys]
    sums = []
    for shift in (0, 1):
        terms = zip(words[0], words[1], keys[0][shift:], keys[1][shift:], strict=False)
        sums.append(sum(((x + p) & most) * ((y + q) & most) for x, y, p, q in terms))
    low, high = sums[0] + 3, sums[1]
    x, y = threefry(low & most, low >> 32 & most, high & most, high >> 32 & most, 13)
    assert search.fingerprint(3, m.bits, m.keys) == (y % 2**30) * 2**32 + x


# --- budget and memory ------------------------------------------------------------------------------------------


def test_the_budget_is_kept(toy: Game) -> None:
    position = Position.new(toy, 3, seed=1)
    for simulations in (1, 7, 200):
        _, visits, _ = MctsAgent(toy, simulations).search(View(position))
        assert simulations <= visits.sum() <= 1.1 * simulations  # a simulation may meet the root's situation again


def test_the_tree_goes_on_within_a_turn_and_only_there(toy: Game) -> None:
    agent = MctsAgent(toy, SIMULATIONS)
    fresh = MctsAgent(toy, SIMULATIONS, reuse=False)
    longer = 0
    for seed in range(30):
        position = Position.new(toy, 2, seed=seed)
        last = None
        while not position.over:
            view = View(position)
            visits, alone = agent.search(view)[1], fresh.search(view)[1]
            if last == view.seat:
                longer += int(visits.sum() > 1.2 * SIMULATIONS)
            else:
                assert visits.tolist() == alone.tolist()
            last = view.seat
            position.apply(int(view.legal_actions()[visits.argmax()]))
        begin(agent, 0, 0)
    assert longer > 0


@pytest.mark.nojit
def test_a_full_tree_takes_no_more(toy: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_EDGES_A_NODE", 0)
    agent = MctsAgent(toy, SIMULATIONS)
    position = Position.new(toy, 3, seed=1)
    assert agent.search(View(position))[1].sum() >= SIMULATIONS
    assert agent._memory is not None
    assert 0 < agent._memory.used[1] <= len(agent._memory.edges) == toy.num_actions(toy.settings())
    assert ask(agent, position) in position.legal_actions()


def test_playouts_stop_where_told(toy: Game) -> None:
    position = Position.new(toy, 2, seed=1)
    made = []
    for limit in (0, 3, -1):
        agent = MctsAgent(toy, 1, playout_decisions=limit)
        agent.search(View(position))
        made.append(agent.decisions_made)
    assert made[:2] == [1, 4]  # one in the tree
    assert made[2] > 4


@pytest.mark.nojit
def test_what_a_position_pays(toy: Game) -> None:
    position = Position.new(toy, 3, seed=1, auto_forced=False)
    s = position.states[0]
    s.taken[:3] = 4, 1, 0
    values = appraised(toy, position)
    margin = 3 / toy.spec.score_scale
    part = 0.8 * margin + 0.2 * margin / (1 + margin)
    assert values[0] == pytest.approx(0.5 + 0.5 * part)
    assert values[1] == pytest.approx(0.5 - 0.5 * part)
    s.over = 1
    finished = appraised(toy, position)
    assert finished[0] == pytest.approx((1 + values[0]) / 2)
    assert finished[1] == pytest.approx(values[1] / 2)
    s.taken[1] = 4
    s.sizes[:3] = 1
    shared = appraised(toy, position)
    assert shared[0] == shared[1] == pytest.approx((0.5 + 0.5) / 2)
    most = 0.0
    for taken in (5, 10, 60):  # a greater margin is always worth more
        s.taken[0] = taken
        assert most < appraised(toy, position)[0] < 1.0
        most = appraised(toy, position)[0]


def appraised(game: Game, position: Position) -> np.ndarray:
    """What a playout that ends here pays each seat."""
    agent = MctsAgent(game)
    memory = agent._memory_for(position)
    search.appraise(game.calls, position.states, 0, memory, agent._parameters)
    return memory.values


# --- arguments --------------------------------------------------------------------------------------------------


def test_names() -> None:
    assert make_agent("mcts", OURS).name == "mcts-1000"
    assert make_agent("mcts:50", OURS).name == "mcts-50"
    with pytest.raises(UnknownAgentError, match="write mcts:1000"):
        make_agent("mcts:many", OURS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"simulations": 0}, "simulations=0"),
        ({"simulations": 1.5}, "simulations=1.5"),
        ({"playout": "ppo"}, "give 'random' or 'greedy'"),
        ({"playout_decisions": -2}, "playout_decisions=-2"),
        ({"exploration": float("nan")}, "exploration=nan"),
        ({"greedy_share": 2}, "greedy_share=2"),
        ({"seed": -1}, "seed -1"),
    ],
)
def test_impossible_arguments(toy: Game, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        make_agent("mcts", toy, **arguments)
