"""The learner's environment: who is paid when, what Stable-Baselines3 makes of it, and whom the learner meets."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import check_for_correct_spaces
from stable_baselines3.common.vec_env import VecCheckNan, VecEnv, VecMonitor, VecNormalize

from tabletop_envs import registry
from tabletop_envs.agents.base import policy_name
from tabletop_envs.core.game import Game
from tabletop_envs.core.header import OVER_CAP
from tabletop_envs.core.position import Position
from tabletop_envs.envs.rewards import EARNED, REWARDS, Reward
from tabletop_envs.envs.sb3 import ROTATE, OpponentPool, SelfPlayVecEnv
from tabletop_envs.errors import IllegalActionError, OptionError, OrderError, UnknownAgentError, UnknownGameError

torch.set_num_threads(1)

CONSTANT = 10.0  # a value that no return of these games can be taken for
STEPS = 40


class Namer:
    """A policy of the two-move game: always names one seat. Counts how often it was asked."""

    def __init__(self, seat: int, name: str = "namer") -> None:
        self.seat = seat
        self.name = name
        self.asked = 0

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        self.asked += len(observations)
        return np.full(len(observations), self.seat)


class Lowest:
    """The lowest legal action."""

    name = "lowest"

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        return action_masks.argmax(axis=1)


class Random:
    """A random legal action, in its own order of draws."""

    def __init__(self, seed: int = 0) -> None:
        self.name = f"random {seed}"
        self.rng = np.random.default_rng(seed)

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        return np.array([self.rng.choice(np.flatnonzero(mask)) for mask in action_masks])


def drawn(env: VecEnv, rng: np.random.Generator) -> np.ndarray:
    """A random legal action of the learner in each game."""
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in get_action_masks(env)])


def told(infos: list[dict[str, Any]]) -> list[Any]:
    """The infos without the time that passed."""
    plain = []
    for info in infos:
        kept = {key: value for key, value in info.items() if key not in ("episode", "terminal_observation")}
        if info:
            kept["last"] = info["terminal_observation"].tobytes()
            kept["episode"] = (info["episode"]["r"], info["episode"]["l"])
        plain.append(kept)
    return plain


def trace(env: SelfPlayVecEnv, steps: int = 25) -> list[Any]:
    """Everything that random play of one fixed choice gives."""
    rng = np.random.default_rng(0)
    said: list[Any] = [env.reset().tobytes()]
    for _ in range(steps):
        observations, rewards, dones, infos = env.step(drawn(env, rng))
        said.append(
            (observations.tobytes(), rewards.tolist(), dones.tolist(), told(infos), env.action_masks().tobytes())
        )
    return said


def everything(env: SelfPlayVecEnv) -> tuple[bytes, ...]:
    """All that the games remember, as bytes."""
    batch = env.batch
    return batch.states.tobytes(), batch.masks.tobytes(), batch.episodes.tobytes()


# --- who is paid, and when --------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [0, 1])
@pytest.mark.parametrize("winner", [0, 1])
def test_the_loser_is_paid_whoever_moved_last(two_moves: Game, learner: int, winner: int) -> None:
    # The last mover decides: the opponent where seat 0 learns, the learner itself where seat 1 does.
    opponent = Namer(winner)
    env = SelfPlayVecEnv(two_moves, 3, opponents=opponent, learner=learner, seed=0)
    observations = env.reset()
    assert observations.shape == (3, 4)
    assert (observations[:, 0] == learner).all()  # the observer is the learner
    for number in range(4):
        action = winner if learner == 1 else number % 2
        observations, rewards, dones, infos = env.step(np.full(3, action))
        assert dones.tolist() == [True] * 3
        assert rewards.dtype == np.float32
        assert rewards.tolist() == [1.0 if winner == learner else -1.0] * 3
        assert (observations[:, 0] == learner).all()
        for info in infos:
            first = number % 2 if learner == 0 else winner  # what seat 0 named
            assert info["terminal_observation"].tolist() == [learner, 0, first == 0, first == 1]
            assert info["TimeLimit.truncated"] is False
            assert info["capped"] is False
            assert info["episode"]["r"] == rewards[0]
            assert info["episode"]["l"] == 1
            assert info["points"] == [int(winner == 0), int(winner == 1)]
            assert info["places"] == [1 + (winner != 0), 1 + (winner != 1)]
            assert info["seat"] == learner
            assert info["opponents"][learner] == "learner"
            assert info["opponents"][1 - learner] == "namer"
    assert opponent.asked == 3 * (4 if learner == 0 else 5)  # seat 0 of the fifth games has moved already


MIX = {"win": 0.5, "score": 0.25, "margin": 0.25}


@pytest.mark.parametrize("as_earned", [False, True])
@pytest.mark.parametrize("append_mask", [False, True])
@pytest.mark.parametrize(
    ("players", "learner", "options"),
    [
        (2, 1, {}),
        (3, ROTATE, {"memory": True}),
        (4, 2, {"extras": ("joker", "refill"), "max_decisions": 15}),
        (4, ROTATE, {"auto_forced": False}),
    ],
)
def test_the_games_are_those_of_positions(
    toy: Game, players: int, learner: int | str, options: dict[str, Any], append_mask: bool, as_earned: bool
) -> None:
    count = 6
    env = SelfPlayVecEnv(
        toy, count, players, opponents=Lowest(), learner=learner, reward=MIX, as_earned=as_earned,
        append_mask=append_mask, seed=1, **options,
    )  # fmt: skip
    reward = Reward(MIX, toy.spec)
    rng = np.random.default_rng(0)

    def answered(position: Position, seat: int) -> Position:
        while not position.over and position.seat != seat:
            position.apply(int(position.legal_actions()[0]))
        return position

    def fresh(row: int) -> Position:
        key = int(env.batch.states["key"][row])
        seat = int(env.seating.learners[row])
        if learner != ROTATE:
            assert seat == learner
        return answered(Position.new(toy, players, seed=key, **options), seat)

    def seen(position: Position, seat: int) -> np.ndarray:
        parts = [position.observe(seat)] + ([position.action_mask()] if append_mask else [])
        return np.concatenate(parts).astype(np.float32)

    observations = env.reset()
    seats = env.seating.learners.copy()
    positions = [fresh(row) for row in range(count)]
    paid, lengths, ended = np.zeros(count), np.zeros(count, dtype=int), Counter[int]()
    between = 0
    for _ in range(60):
        masks = env.action_masks()
        assert masks.dtype == bool
        assert env.observation_space.shape == observations.shape[1:]
        for row, position in enumerate(positions):
            assert position.seat == seats[row]
            assert observations[row].tobytes() == seen(position, seats[row]).tobytes()
            assert masks[row].tolist() == position.action_mask().astype(bool).tolist()
            if append_mask:
                assert observations[row, -toy.num_actions(toy.settings()) :].tolist() == masks[row].tolist()
        actions = drawn(env, rng)
        observations, rewards, dones, infos = env.step(actions)
        for row, position in enumerate(positions):
            position.apply(int(actions[row]))
            answered(position, int(seats[row]))
            lengths[row] += 1
            points, places = np.array(position.points()), np.array(position.places())
            worth = 0.0
            if position.over:
                worth = reward(points, places)[seats[row]]
            elif as_earned:
                parts = [MIX[name] * REWARDS[name](points, places, toy.spec.score_scale) for name in EARNED]
                worth = sum(parts)[seats[row]]
            assert rewards[row] == pytest.approx(worth - paid[row], abs=1e-6)
            between += not position.over and rewards[row] != 0
            paid[row] = worth
            assert dones[row] == position.over
            if not position.over:
                assert infos[row] == {}
                continue
            info = infos[row]
            assert info["terminal_observation"].tobytes() == seen(position, seats[row]).tobytes()
            if append_mask:
                assert not info["terminal_observation"][-toy.num_actions(toy.settings()) :].any()
            assert info["points"] == position.points()
            assert info["places"] == position.places()
            assert info["seat"] == seats[row]
            assert info["capped"] == position.capped
            assert info["TimeLimit.truncated"] is False
            assert info["episode"]["r"] == pytest.approx(worth)
            assert info["episode"]["l"] == lengths[row]
            assert info["episode"]["t"] >= 0
            assert info["opponents"] == ["learner" if seat == seats[row] else "lowest" for seat in range(players)]
            seats[row] = env.seating.learners[row]
            positions[row] = fresh(row)
            paid[row] = lengths[row] = 0
            ended[info["seat"]] += 1
    assert sum(ended.values()) > 2 * count
    assert set(ended) == (set(range(players)) if learner == ROTATE else {learner})
    assert (between > 0) == as_earned


def test_without_points_nothing_is_earned_on_the_way(toy: Game) -> None:
    late = SelfPlayVecEnv(toy, 4, 3, reward={"win": 0.5, "rank": 0.5}, seed=2)
    early = SelfPlayVecEnv(toy, 4, 3, reward={"win": 0.5, "rank": 0.5}, as_earned=True, seed=2)
    assert trace(late) == trace(early)


def test_the_learners_seat_rotates(two_moves: Game) -> None:
    env = SelfPlayVecEnv(two_moves, 4, opponents="random", learner=ROTATE, seed=0)
    env.reset()
    seats = [env.seating.learners.tolist()]
    for _ in range(5):
        _, _, dones, infos = env.step(drawn(env, np.random.default_rng(0)))
        assert dones.all()
        assert [info["seat"] for info in infos] == seats[-1]
        seats.append(env.seating.learners.tolist())
    assert seats == [[0, 1, 0, 1], [1, 0, 1, 0]] * 3


def test_a_game_that_ends_before_the_learner_is_asked_is_dealt_again(toy: Game) -> None:
    # Seat 0 starts, so that the cap of three decisions comes before the fourth seat is ever asked.
    env = SelfPlayVecEnv(toy, 8, 4, opponents=Lowest(), learner=ROTATE, max_decisions=3, seed=0)
    env.reset()
    seats = Counter(env.seating.learners.tolist())
    for _ in range(12):
        observations, _, dones, infos = env.step(drawn(env, np.random.default_rng(0)))
        assert dones.all()  # nobody is asked twice
        assert all(info["capped"] and info["episode"]["l"] == 1 for info in infos)
        assert env.observation_space.contains(observations[0])
        assert env.action_masks().any(axis=1).all()
        seats.update(info["seat"] for info in infos)
    assert set(seats) == {0, 1, 2}


def test_a_learner_that_is_never_asked_is_an_error(toy: Game, two_moves: Game) -> None:
    env = SelfPlayVecEnv(two_moves, 2, learner=1, max_decisions=1, seed=0)
    with pytest.raises(OptionError, match="game 0 ended before its learner, now seat 1, was asked: change learner"):
        env.reset()
    with pytest.raises(OptionError, match="now seat 3, was asked"):
        SelfPlayVecEnv(toy, 2, 4, learner=3, max_decisions=2, seed=0).reset()


# --- what Stable-Baselines3 makes of it -------------------------------------------------------------------------


class Recorder(BaseCallback):
    """Keeps the rollout as it was collected, and what the environment said of it."""

    def __init__(self) -> None:
        super().__init__()
        self.dones: list[np.ndarray] = []
        self.infos: list[list[dict[str, Any]]] = []
        self.rewards: list[np.ndarray] = []
        self.kept: dict[str, np.ndarray] = {}

    def _on_step(self) -> bool:
        self.dones.append(self.locals["dones"].copy())
        self.infos.append(self.locals["infos"])
        self.rewards.append(self.locals["rewards"].copy())
        return True

    def _on_rollout_end(self) -> None:
        buffer = self.model.rollout_buffer  # type: ignore[attr-defined]
        for name in ("observations", "actions", "rewards", "returns", "values", "advantages", "action_masks"):
            self.kept[name] = getattr(buffer, name).copy()


def collect(env: VecEnv, steps: int, weight: float = 0.0, bias: float = CONSTANT) -> Recorder:
    """One rollout, gamma and lambda 1; the value net is `bias`, and `weight` on the observation's first number."""
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=steps, batch_size=steps * env.num_envs, n_epochs=1, gamma=1.0, gae_lambda=1.0,
        policy_kwargs={"net_arch": []}, seed=0, device="cpu",
    )  # fmt: skip
    with torch.no_grad():
        model.policy.value_net.weight.zero_()
        model.policy.value_net.weight[0, 0] = weight
        model.policy.value_net.bias.fill_(bias)
    recorder = Recorder()
    model.learn(steps * env.num_envs, callback=recorder)
    return recorder


def returns_to_go(rewards: np.ndarray, dones: np.ndarray, bootstrap: np.ndarray | float) -> np.ndarray:
    """What is paid from each step to the end of its game; behind the rollout's last step, the bootstrap."""
    expected = np.zeros(rewards.shape)
    ahead = np.broadcast_to(np.asarray(bootstrap, dtype=float), rewards.shape[1:])
    for step in reversed(range(len(rewards))):
        ahead = rewards[step] + np.where(dones[step], 0.0, ahead)
        expected[step] = ahead
    return expected


@pytest.mark.parametrize("learner", [0, 1])
@pytest.mark.parametrize("winner", [0, 1])
def test_returns_of_the_two_move_game(two_moves: Game, learner: int, winner: int) -> None:
    env = SelfPlayVecEnv(two_moves, 3, opponents=Namer(winner), learner=learner, seed=0)
    recorder = collect(env, 5)
    if learner == 0:
        paid = np.full((5, 3), 1.0 if winner == 0 else -1.0)
    else:
        paid = np.where(recorder.kept["actions"][..., 0] == 1, 1.0, -1.0)
        assert len(set(paid.ravel().tolist())) == 2
    assert recorder.kept["rewards"].tolist() == paid.tolist()
    assert recorder.kept["returns"].tolist() == paid.tolist()
    assert recorder.kept["advantages"].tolist() == (paid - CONSTANT).tolist()


@pytest.mark.parametrize("learner", [0, 1])
def test_no_seat_sees_the_value_of_another(two_moves: Game, learner: int) -> None:
    # The first number of the observation is the observer's seat, and so is the value of what the observer sees.
    env = SelfPlayVecEnv(two_moves, 3, opponents="random", learner=learner, seed=0)
    recorder = collect(env, 4, weight=CONSTANT, bias=0.0)
    assert (recorder.kept["observations"][..., 0] == learner).all()
    assert (recorder.kept["values"] == CONSTANT * learner).all()
    assert recorder.kept["returns"].tolist() == recorder.kept["rewards"].tolist()


@pytest.mark.parametrize("as_earned", [False, True])
@pytest.mark.parametrize("cap", [None, 9])
def test_returns_are_what_is_paid(toy: Game, as_earned: bool, cap: int | None) -> None:
    options = {} if cap is None else {"max_decisions": cap}
    env = SelfPlayVecEnv(
        toy, 4, 3, opponents="random", reward=MIX, as_earned=as_earned, append_mask=True, seed=3, **options
    )
    recorder = collect(env, STEPS)
    kept, dones, rewards = recorder.kept, np.array(recorder.dones), np.array(recorder.rewards)
    assert kept["rewards"].tolist() == rewards.tolist()  # a bootstrap at a cap would stand in them
    assert (kept["values"] == CONSTANT).all()
    expected = returns_to_go(rewards, dones, CONSTANT)
    np.testing.assert_allclose(kept["returns"], expected, atol=1e-5)
    np.testing.assert_allclose(kept["advantages"], expected - CONSTANT, atol=1e-5)
    ends = [info for infos in recorder.infos for info in infos if info]
    assert len(ends) == dones.sum() > 8
    assert any(info["capped"] for info in ends) == (cap is not None)
    # of a game that began and ended within the rollout, the first return is its whole reward
    for row in range(4):
        steps = np.flatnonzero(dones[:, row])
        for before, last in pairwise(steps):
            info = recorder.infos[last][row]
            assert info["episode"]["l"] == last - before
            whole = Reward(MIX, toy.spec)(np.array(info["points"]), np.array(info["places"]))[info["seat"]]
            assert kept["returns"][before + 1, row] == pytest.approx(whole, abs=1e-5)
            assert info["episode"]["r"] == pytest.approx(whole)
    # what was seen, what was legal and what was done belong together
    masks = kept["action_masks"].reshape(STEPS, 4, -1)
    assert (kept["observations"][..., -toy.num_actions(toy.settings()) :] == masks).all()
    assert np.take_along_axis(masks, kept["actions"].astype(int), axis=2).all()
    assert (masks.sum(axis=2) > 1).any()


def test_terminal_observations_at_a_cap_are_the_learners(toy: Game) -> None:
    env = SelfPlayVecEnv(toy, 3, 2, opponents="random", learner=1, max_decisions=4, seed=0)
    env.reset()
    capped = 0
    for _ in range(10):
        before = env.env_method("position")
        _, rewards, dones, infos = env.step(drawn(env, np.random.default_rng(1)))
        for row, info in enumerate(infos):
            assert dones[row] == bool(info)
            if info and info["capped"]:
                capped += 1
                assert before[row].decisions < 4
                points, places = np.array(info["points"]), np.array(info["places"])
                assert rewards[row] == Reward("win", toy.spec)(points, places)[1]
    assert capped > 5
    assert OVER_CAP not in env.batch.states["over"]


# --- the interface ----------------------------------------------------------------------------------------------


def test_it_is_a_vecenv(toy: Game) -> None:
    env = SelfPlayVecEnv(toy, 3, 2, append_mask=True, seed=0)
    assert isinstance(env, VecEnv)
    assert env.num_envs == 3
    assert env.unwrapped is env
    assert env.render_mode is None
    assert env.get_attr("render_mode") == [None] * 3
    assert env.get_attr("num_players", [0, 2]) == [2, 2]
    assert env.get_attr("num_players", 1) == [2]
    assert env.has_attr("action_masks")
    assert not env.has_attr("no_such_thing")
    with pytest.raises(AttributeError):
        env.get_attr("no_such_thing")
    env.set_attr("learner", 1)
    assert env.get_attr("learner") == [1] * 3
    with pytest.raises(AttributeError, match="has no attribute 'learnr'"):
        env.set_attr("learnr", 1)
    env.set_attr("learner", ROTATE)
    assert env.env_is_wrapped(gymnasium.Wrapper) == [False] * 3
    assert env.env_is_wrapped(gymnasium.Wrapper, [1]) == [False]
    assert is_masking_supported(env)
    env.reset()
    assert env.reset_infos == [{}, {}, {}]
    masks = get_action_masks(env)
    assert masks.dtype == bool
    assert masks.tolist() == env.action_masks().tolist() == env.batch.masks.astype(bool).tolist()
    assert np.array(env.env_method("action_masks", indices=[2, 0])).tolist() == masks[[2, 0]].tolist()
    (position,) = env.env_method("position", indices=1)
    assert position.to_bytes() == env.batch.states[1:2].tobytes()
    with pytest.raises(AttributeError, match="have no method 'fly': there are action_masks and position"):
        env.env_method("fly")
    assert env.observation_layout is toy.observations
    with pytest.warns(UserWarning, match="render"):
        env.render()
    env.close()


@pytest.mark.parametrize("append_mask", [False, True])
@pytest.mark.parametrize("players", [2, 4])
def test_spaces(toy: Game, players: int, append_mask: bool) -> None:
    env = SelfPlayVecEnv(toy, 3, players, append_mask=append_mask, memory=True, seed=0)
    space, actions = env.observation_space, env.action_space
    assert isinstance(actions, gymnasium.spaces.Discrete)
    assert actions.n == toy.num_actions(toy.settings())
    assert space.shape == (toy.observations.size({"memory": True}) + append_mask * toy.num_actions(toy.settings()),)
    check_for_correct_spaces(SelfPlayVecEnv(toy, 1, players, append_mask=append_mask, memory=True), space, actions)
    observations = env.reset()
    rng = np.random.default_rng(0)
    for _ in range(15):
        assert observations.dtype == space.dtype == np.float32
        assert all(space.contains(observation) for observation in observations)
        observations, _, dones, infos = env.step(drawn(env, rng))
        assert dones.dtype == bool
        assert all(space.contains(info["terminal_observation"]) for info in infos if info)


@pytest.mark.parametrize("name", [name for name in registry.games() if registry.spec(name).package.count(".") == 2])
@pytest.mark.parametrize("players", ["least", "most"])
def test_our_games(name: str, players: str) -> None:
    spec = registry.spec(name)
    number = spec.min_players if players == "least" else spec.max_players
    env = SelfPlayVecEnv(name, 4, number, append_mask=True, max_decisions=12, seed=0)
    observations = env.reset()
    ended = 0
    for _ in range(12):
        assert observations[:, -env.action_space.n :].tolist() == env.action_masks().tolist()
        assert all(env.observation_space.contains(observation) for observation in observations)
        observations, _, dones, infos = env.step(drawn(env, np.random.default_rng(0)))
        ended += dones.sum()
        for info in infos:
            assert not info or not info["terminal_observation"][-env.action_space.n :].any()
    assert ended > 0


def test_wrappers(toy: Game) -> None:
    env: VecEnv = SelfPlayVecEnv(toy, 3, 2, append_mask=True, seed=0)
    env = VecCheckNan(VecNormalize(VecMonitor(env), gamma=1.0), raise_exception=True)
    assert is_masking_supported(env)
    assert env.get_attr("num_players") == [2] * 3
    env.reset()
    returns = []
    rng = np.random.default_rng(0)
    for _ in range(STEPS):
        _, _, _, infos = env.step(drawn(env, rng))
        returns += [info["episode"]["r"] for info in infos if info]
    assert len(returns) > 3
    assert set(returns) <= {-1.0, 0.0, 1.0}
    model = MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=12, n_epochs=1, seed=0, device="cpu")
    model.learn(24)
    assert model.num_timesteps == 24


def test_observations_are_copies(toy: Game) -> None:
    clean = SelfPlayVecEnv(toy, 5, 3, opponents=Lowest(), append_mask=True, seed=4)
    spoilt = SelfPlayVecEnv(toy, 5, 3, opponents=Lowest(), append_mask=True, seed=4)
    observations, other = clean.reset(), spoilt.reset()
    rng = np.random.default_rng(0)
    kept, said = [observations], [observations.tobytes()]
    for _ in range(25):
        assert other.tobytes() == observations.tobytes()
        actions = drawn(clean, rng)
        other[...] = np.nan
        spoilt.action_masks()[...] = True
        spoilt.env_method("action_masks")[0][...] = True
        assert spoilt.action_masks().tolist() == clean.action_masks().tolist()
        spoilt.step_async(actions)
        observations, rewards, dones, infos = clean.step(actions)
        other, other_rewards, other_dones, other_infos = spoilt.step_wait()
        assert rewards.tolist() == other_rewards.tolist()
        assert dones.tolist() == other_dones.tolist()
        assert told(infos) == told(other_infos)
        for info in other_infos:
            if info:
                info["terminal_observation"][...] = np.nan
                info["opponents"].clear()
        other_rewards[...] = 9
        other_dones[...] = True
        kept.append(observations)
        said.append(observations.tobytes())
    assert [observation.tobytes() for observation in kept] == said


# --- errors -----------------------------------------------------------------------------------------------------


def test_an_illegal_action_changes_nothing(toy: Game) -> None:
    env = SelfPlayVecEnv(toy, 3, 3, seed=0)
    env.reset()
    rng = np.random.default_rng(0)
    for _ in range(3):
        env.step(drawn(env, rng))
    before = everything(env)
    legal = env.action_masks().argmax(axis=1)
    wrong = legal.copy()
    wrong[2] = int(np.flatnonzero(~env.action_masks()[2])[0])
    for actions, message in (
        (wrong, f"action {wrong[2]} is not legal in game 2"),
        ([0, -1, 0], "action .* is not legal in game"),
        (legal[:2], "give 3 whole numbers"),
        (legal.astype(np.float32), "give 3 whole numbers"),
    ):
        with pytest.raises(IllegalActionError, match=message):
            env.step_async(actions)  # type: ignore[arg-type]
        assert everything(env) == before
        with pytest.raises(OrderError, match=r"step_async\(\) needs to be called before"):
            env.step_wait()  # nothing is left over from the attempt
        assert everything(env) == before
    env.step(legal)
    assert everything(env) != before


def test_steps_come_in_their_order(two_moves: Game) -> None:
    env = SelfPlayVecEnv(two_moves, 2, learner=0, seed=0)
    with pytest.raises(OrderError, match=r"reset\(\) needs to be called before step"):
        env.step(np.array([0, 0]))
    env.reset()
    env.step(np.array([0, 1]))
    before = everything(env)
    with pytest.raises(OrderError):
        env.step_wait()
    env.step_async(np.array([0, 0]))
    env.reset()  # cancels the step
    with pytest.raises(OrderError):
        env.step_wait()
    assert everything(env) != before


def test_a_policy_that_errs_is_named(two_moves: Game) -> None:
    env = SelfPlayVecEnv(two_moves, 2, opponents=Namer(2, "old"), learner=0, seed=0)
    env.reset()
    with pytest.raises(IllegalActionError, match="the policy 'old' has to be mended"):
        env.step(np.array([0, 0]))
    assert env.reset().shape == (2, 4)


@pytest.mark.parametrize("learner", [-1, 2, 0.5, "0", "rotating", None, True])
def test_impossible_learners(two_moves: Game, learner: Any) -> None:
    with pytest.raises(OptionError, match="give a seat from 0 to 1 or 'rotate'"):
        SelfPlayVecEnv(two_moves, 2, learner=learner)


@pytest.mark.parametrize("seed", [-1, 2**53, 0.5, "1", True])
def test_impossible_seeds(two_moves: Game, seed: Any) -> None:
    with pytest.raises(OptionError, match="give a whole number from 0 to 2"):
        SelfPlayVecEnv(two_moves, 2, seed=seed)


def test_impossible_arguments(toy: Game) -> None:
    with pytest.raises(OptionError, match="num_envs"):
        SelfPlayVecEnv(toy, 0)
    with pytest.raises(OptionError, match="num_players=2 to 4"):
        SelfPlayVecEnv(toy, 2, 5)
    with pytest.raises(OptionError, match="did you mean 'score'"):
        SelfPlayVecEnv(toy, 2, reward="scores")
    with pytest.raises(OptionError, match="has no option"):
        SelfPlayVecEnv(toy, 2, opponent="random")
    with pytest.raises(UnknownGameError):
        SelfPlayVecEnv("toyy", 2)
    with pytest.raises(UnknownAgentError, match="no agent 'gredy'"):
        SelfPlayVecEnv(toy, 2, opponents="gredy")


# --- whom the learner meets -------------------------------------------------------------------------------------


def met(env: SelfPlayVecEnv, steps: int) -> Counter[str]:
    """How often each opponent sat at a table whose game ended."""
    env.reset()
    names: Counter[str] = Counter()
    rng = np.random.default_rng(0)
    for _ in range(steps):
        _, _, _, infos = env.step(drawn(env, rng))
        for info in infos:
            names.update(info.get("opponents", ()))
    games = names.pop("learner")
    assert sum(names.values()) == games * (env.num_players - 1)
    return names


def test_weights_of_the_pool(two_moves: Game) -> None:
    namers = [Namer(0, "zero"), Namer(1, "one"), Namer(1, "never")]
    pool = OpponentPool([("random", 5), (namers[0], 3.0), (namers[1], np.float32(2)), (namers[2], 0)])
    names = met(SelfPlayVecEnv(two_moves, 100, opponents=pool, seed=1), 40)
    total = sum(names.values())
    assert total == 4000
    assert set(names) == {"random", "zero", "one"}
    for name, share in (("random", 0.5), ("zero", 0.3), ("one", 0.2)):
        deviation = (share * (1 - share) / total) ** 0.5
        assert abs(names[name] / total - share) < 4 * deviation


def test_every_seat_draws_its_own_opponent(toy: Game) -> None:
    env = SelfPlayVecEnv(toy, 50, 3, opponents={"random": 0.5, "greedy": 0.5}, learner=0, seed=0)
    env.reset()
    tables: Counter[tuple[str, ...]] = Counter()
    rng = np.random.default_rng(0)
    while sum(tables.values()) < 400:
        _, _, _, infos = env.step(drawn(env, rng))
        tables.update(tuple(info["opponents"][1:]) for info in infos if info)
    assert len(tables) == 4
    assert min(tables.values()) > 60


@pytest.mark.parametrize(
    ("opponents", "names"),
    [
        ("greedy", {"greedy"}),
        ({"greedy": 1.0, "random": 0.0}, {"greedy"}),
        ([("greedy", 1.0), ("random", 2.0)], {"greedy", "random"}),
        (Namer(0), {"namer"}),
        (OpponentPool(), {"random"}),
        (OpponentPool({Namer(1, "a"): 1, Namer(1, "b"): 1}), {"a", "b"}),  # type: ignore[dict-item]
    ],
)
def test_ways_to_name_opponents(two_moves: Game, opponents: Any, names: set[str]) -> None:
    assert set(met(SelfPlayVecEnv(two_moves, 20, opponents=opponents, seed=1), 3)) == names


@pytest.mark.parametrize(
    ("members", "error", "message"),
    [
        (
            [("gredy", 1.0)],
            UnknownAgentError,
            "no built-in policy 'gredy': give one of random, greedy or a policy",
        ),
        ([("random", -1.0)], OptionError, "give a number, 0 or more"),
        ([("random", float("nan"))], OptionError, "give a number, 0 or more"),
        ([("random", float("inf"))], OptionError, "give a number, 0 or more"),
        ([("random", "much")], OptionError, "give a number, 0 or more"),
        ([("random", True)], OptionError, "give a number, 0 or more"),
        ([("random", 0.0)], OptionError, "give at least one a positive weight"),
        ([], OptionError, "give at least one a positive weight"),
        (["random", "greedy"], OptionError, "'random' is no opponent with a weight: give pairs"),
        ([("random", 1.0, 2.0)], OptionError, "give pairs"),
        ([("random",)], OptionError, "give pairs"),
    ],
)
def test_impossible_pools(members: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        OpponentPool(members)
    pool = OpponentPool("greedy")
    with pytest.raises(error, match=message):
        pool.replace(members)
    assert pool.members == [("greedy", 1.0)]


def test_a_replaced_pool_acts_from_the_next_game_on(two_moves: Game) -> None:
    old, new = Namer(0, "old"), Namer(1, "new")
    pool = OpponentPool(old)
    env = SelfPlayVecEnv(two_moves, 3, opponents=pool, learner=0, seed=0)
    env.reset()
    pool.replace([(new, 1.0)])
    _, rewards, _, infos = env.step(np.zeros(3, dtype=int))
    assert rewards.tolist() == [1.0] * 3  # the old one names seat 0
    assert infos[0]["opponents"] == ["learner", "old"]
    assert new.asked == 0
    _, rewards, _, infos = env.step(np.zeros(3, dtype=int))
    assert rewards.tolist() == [-1.0] * 3
    assert infos[0]["opponents"] == ["learner", "new"]
    assert (old.asked, new.asked) == (3, 3)


def test_longer_games_keep_their_opponents(toy: Game) -> None:
    # Random policies with draws of their own: were a game to change its opponent, another would have been asked.
    first, second = Lowest(), Random(1)
    pool = OpponentPool(first)
    env = SelfPlayVecEnv(toy, 6, 2, opponents=pool, learner=0, seed=0)
    twin = SelfPlayVecEnv(toy, 6, 2, opponents=first, learner=0, seed=0)
    env.reset()
    twin.reset()
    pool.replace([(second, 1.0)])
    running = np.ones(6, dtype=bool)
    rng = np.random.default_rng(0)
    while running.any():
        actions = drawn(env, rng)
        expected = actions.copy()
        expected[~running] = twin.action_masks()[~running].argmax(axis=1)
        _, rewards, dones, infos = env.step(actions)
        _, twin_rewards, twin_dones, _ = twin.step(expected)
        for row in np.flatnonzero(running):
            assert rewards[row] == twin_rewards[row]
            assert dones[row] == twin_dones[row]
            if dones[row]:
                assert infos[row]["opponents"][1] == "lowest"
        for row in np.flatnonzero(~running & dones):
            assert infos[row]["opponents"][1] == "random 1"
        running &= ~dones


def test_hundreds_of_opponents(two_moves: Game) -> None:
    pool = OpponentPool("random")
    env = SelfPlayVecEnv(two_moves, 8, opponents=pool, learner=0, seed=0)
    env.reset()
    before: list[Any] = []
    for number in range(150):
        new = [Namer(number % 2, f"{number} a"), Namer(number % 2, f"{number} b")]
        pool.replace([(policy, 1.0) for policy in new])
        _, rewards, _, infos = env.step(np.zeros(8, dtype=int))
        if before:
            seats = {policy.name: policy.seat for policy in before}
            for row, info in enumerate(infos):
                assert rewards[row] == (1.0 if seats[info["opponents"][1]] == 0 else -1.0)
        before = new


# --- seeds ------------------------------------------------------------------------------------------------------


def mixed() -> OpponentPool:
    return OpponentPool([("random", 1.0), ("greedy", 1.0), (Lowest(), 1.0)])


def test_seeds_reproduce(toy: Game) -> None:
    def make(seed: int | None) -> SelfPlayVecEnv:
        return SelfPlayVecEnv(toy, 5, 3, opponents=mixed(), reward=MIX, append_mask=True, seed=seed)

    first = trace(make(7))
    assert trace(make(7)) == first
    assert trace(make(8)) != first
    assert trace(make(None), 0) != trace(make(None), 0)
    env = make(8)
    env.seed(7)
    assert trace(env) == first
    assert trace(env) != first  # the next reset deals other games
    env.seed(7)
    assert trace(env) == first
    env.seed()
    assert trace(env) != first


def test_built_in_opponents_do_not_repeat_themselves(two_moves: Game) -> None:
    env = SelfPlayVecEnv(two_moves, 64, opponents="random", learner=0, seed=0)
    env.reset()
    rewards = np.array([env.step(np.zeros(64, dtype=int))[1] for _ in range(40)])
    wins = (rewards > 0).mean()
    assert abs(wins - 0.5) < 4 * (0.25 / rewards.size) ** 0.5
    assert (rewards > 0).mean(axis=0).min() > 0.2  # in every row
    assert (rewards > 0).mean(axis=1).min() > 0.2  # in every deal


def test_opponents_by_every_kind_of_name() -> None:
    """A bare list weighs all alike, and names are those of `make_agent`."""
    env = SelfPlayVecEnv("urbino", 8, opponents=["random", "greedy"], seed=3)
    assert [(policy_name(member), weight) for member, weight in env.play.pool.members] == [("random", 1), ("greedy", 1)]
    with pytest.raises(UnknownAgentError, match="did you mean 'greedy'"):
        SelfPlayVecEnv("urbino", 2, opponents="gready")
    with pytest.raises(UnknownAgentError, match="no run folder or checkpoint"):
        SelfPlayVecEnv("urbino", 2, opponents={"sb3:nowhere": 1.0})
