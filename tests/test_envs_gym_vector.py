"""The Gymnasium vector environment: who is paid when, what an end leaves behind, and Gymnasium's own tools on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import tabletop_envs
from tabletop_envs import registry
from tabletop_envs.agents.base import View
from tabletop_envs.core.game import Game
from tabletop_envs.envs.gym_vector import TabletopGymVector
from tabletop_envs.envs.solo import TabletopSolo
from tabletop_envs.envs.vector import TabletopVector
from tabletop_envs.errors import IllegalActionError, OptionError, OrderError, UnknownAgentError
from tabletop_envs.testing.suite import run_check, subject_of

MIX = {"win": 0.5, "score": 0.5}


class Namer:
    """An agent of the two-move game: always names one seat."""

    name = "namer"

    def __init__(self, seat: int) -> None:
        self.named = seat

    def choose(self, view: View) -> int:
        return self.named


def lowest(env: TabletopGymVector) -> np.ndarray:
    """The learner's lowest legal action in each game."""
    return env.action_masks().argmax(axis=1)


def plain(value: Any) -> Any:
    """Infos as something that can be compared."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, (np.ndarray, list)) else value


def trace(env: TabletopGymVector, steps: int = 30) -> list[Any]:
    """Everything that play by lowest actions gives from here."""
    return [[plain(part) for part in env.step(lowest(env))] for _ in range(steps)]


@pytest.mark.parametrize("learner", [0, 1])
@pytest.mark.parametrize("winner", [0, 1])
def test_the_loser_is_paid_whoever_moved_last(two_moves: Game, learner: int, winner: int) -> None:
    env = TabletopGymVector(two_moves, 3, opponents=Namer(winner), learner=learner)
    observations, infos = env.reset(seed=0)
    assert (observations[:, 0] == learner).all()
    assert infos["seat"].tolist() == [learner] * 3
    for _ in range(3):
        observations, rewards, terminations, truncations, infos = env.step(np.full(3, winner))
        assert rewards.tolist() == [1.0 if winner == learner else -1.0] * 3
        assert terminations.tolist() == [True] * 3
        assert truncations.tolist() == [False] * 3
        assert (observations[:, 0] == learner).all()
        assert (
            observations[:, 1].tolist() == [learner == 0] * 3
        )  # dealt anew: only where seat 0 learns, nobody has named
        assert [final.tolist() for final in infos["final_obs"]] == [[learner, 0, winner == 0, winner == 1]] * 3
        final = infos["final_info"]
        assert final["points"].tolist() == [[winner == 0, winner == 1]] * 3
        assert final["places"].tolist() == [[1 + (winner != 0), 1 + (winner != 1)]] * 3
        assert final["seat"].tolist() == [learner] * 3
        assert final["end"].tolist() == ["rules"] * 3
        assert final["episode"]["r"].tolist() == rewards.tolist()
        assert final["episode"]["l"].tolist() == [1] * 3
        assert set(final["opponents"][0]) == {"learner", "namer"}


def test_only_games_that_ended_have_an_end(toy: Game) -> None:
    env = TabletopGymVector(toy, 6, 3, max_decisions=20)
    env.reset(seed=2)
    partly = 0
    for _ in range(40):
        _, rewards, terminations, truncations, infos = env.step(lowest(env))
        assert not (truncations & ~terminations).any()
        assert not rewards[~terminations].any()
        assert ("final_obs" in infos) == terminations.any()
        if not terminations.any():
            continue
        partly += not terminations.all()
        assert infos["_final_obs"].tolist() == infos["_final_info"].tolist() == terminations.tolist()
        for row, ended in enumerate(terminations):
            assert (infos["final_obs"][row] is None) == (not ended)
            assert infos["final_info"]["end"][row] == ("cap" if truncations[row] else "rules" if ended else None)
    assert partly


def test_spaces_and_what_is_in_them(toy: Game) -> None:
    for append_mask in (False, True):
        env = TabletopGymVector(toy, 4, 3, append_mask=append_mask, memory=True)
        size = 39 + append_mask * toy.num_actions(toy.settings())
        assert env.single_observation_space.shape == (size,)
        assert env.observation_space.shape == (4, size)
        assert env.single_action_space == toy.actions.space(env.batch.settings.values)
        assert env.action_space.shape == (4,)
        observations, infos = env.reset(seed=0)
        for _ in range(20):
            assert env.observation_space.contains(observations)
            assert infos["action_mask"].dtype == np.int8
            assert np.array_equal(infos["action_mask"], env.action_masks())
            if append_mask:
                assert np.array_equal(observations[:, -toy.num_actions(toy.settings()) :], infos["action_mask"])
            actions = env.action_space.sample(mask=tuple(infos["action_mask"]))
            observations, rewards, terminations, truncations, infos = env.step(actions)
            assert (rewards.dtype, rewards.shape) == (np.float64, (4,))
            assert terminations.dtype == truncations.dtype == bool


def test_seeds(toy: Game) -> None:
    envs = [TabletopGymVector(toy, 4, 2, opponents={"random": 1, "greedy": 1}) for _ in range(2)]
    traces = []
    for env in (*envs, envs[0]):
        env.reset(seed=5)
        traces.append(trace(env))
    assert traces[0] == traces[1] == traces[2]
    envs[0].reset()
    assert trace(envs[0]) != traces[0]  # chance goes on
    envs[0].reset(seed=6)
    assert trace(envs[0]) != traces[0]


def test_the_games_are_those_of_the_other_vector_environment(toy: Game) -> None:
    pytest.importorskip("stable_baselines3")
    shared: dict[str, Any] = {"opponents": {"random": 1, "greedy": 2}, "reward": MIX, "as_earned": True}
    ours = tabletop_envs.make_vec(toy, 5, 3, kind="gym", **shared)
    theirs = tabletop_envs.make_vec(toy, 5, 3, kind="sb3", seed=4, **shared)
    observations, _ = ours.reset(seed=4)
    assert observations.tobytes() == np.asarray(theirs.reset()).tobytes()
    paid = 0
    for _ in range(50):
        actions = lowest(ours)
        observations, rewards, terminations, _, infos = ours.step(actions)
        other, other_rewards, dones, other_infos = theirs.step(actions)
        assert observations.tobytes() == np.asarray(other).tobytes()
        assert rewards.astype(np.float32).tolist() == other_rewards.tolist()
        assert terminations.tolist() == dones.tolist()
        for row in np.flatnonzero(terminations):
            assert infos["final_obs"][row].tobytes() == other_infos[row]["terminal_observation"].tobytes()
            assert infos["final_info"]["episode"]["r"][row] == other_infos[row]["episode"]["r"]
        paid += (rewards[~terminations] != 0).sum()
    assert paid  # as earned


def test_infos_have_the_form_of_gymnasiums_own_vector(toy: Game) -> None:
    ours = TabletopGymVector(toy, 3, 2)
    own = SyncVectorEnv([lambda: TabletopSolo(toy, 2)] * 3, autoreset_mode=AutoresetMode.SAME_STEP)
    assert own.single_observation_space == ours.single_observation_space
    assert own.observation_space == ours.observation_space
    assert own.action_space == ours.action_space
    found = []
    for env in (ours, own):
        _, infos = env.reset(seed=1)
        first = form(infos)
        while "final_info" not in infos:
            *_, infos = env.step(infos["action_mask"].argmax(axis=1))
        found.append((first, form({name: part for name, part in infos.items() if not name.endswith("final_info")})))
        # a batch has more to tell of an end, and points and places as one array
        assert {"points", "places", "seat", "end"} <= set(infos["final_info"])
    assert found[0] == found[1]


def form(infos: dict[str, Any]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Names, types and shapes of infos."""
    return {name: (str(part.dtype), part.shape) for name, part in infos.items()}


def test_some_games_can_be_dealt_anew(toy: Game) -> None:
    env = TabletopGymVector(toy, 4, 2, learner=0)
    env.reset(seed=1)
    env.step(lowest(env))
    before = [env.position(row) for row in range(4)]
    chosen = np.array([False, True, False, True])
    observations, infos = env.reset(options={"reset_mask": chosen})
    after = [env.position(row) for row in range(4)]
    assert [one == other for one, other in zip(before, after, strict=True)] == (~chosen).tolist()
    assert [position.decisions for position in after] == [before[0].decisions, 0, before[2].decisions, 0]
    assert observations[1].tobytes() == after[1].observe(0).tobytes()
    assert np.array_equal(infos["action_mask"], env.action_masks())
    for wrong in (chosen[:2], [True] * 4, chosen.astype(int)):
        with pytest.raises(OptionError, match="give 4 bools"):
            env.reset(options={"reset_mask": wrong})
    with pytest.raises(OptionError, match="without a seed"):
        env.reset(seed=1, options={"reset_mask": chosen})
    with pytest.raises(OptionError, match="after a reset of all games"):
        TabletopGymVector(toy, 4).reset(options={"reset_mask": chosen})


def test_what_is_handed_out_is_the_callers_own(toy: Game) -> None:
    env = TabletopGymVector(toy, 3, 2)
    observations, infos = env.reset(seed=0)
    kept = [observations, infos["action_mask"], infos["seat"], infos["_seat"]]
    copies = [part.copy() for part in kept]
    results = [env.step(lowest(env)) for _ in range(12)]
    assert all(np.array_equal(one, other) for one, other in zip(kept, copies, strict=True))
    arrays = [part for *parts, infos in results for part in (*parts, infos["action_mask"], infos["seat"])]
    assert not any(np.shares_memory(one, other) for i, one in enumerate(arrays) for other in arrays[:i])
    state = env.batch.states.tobytes()
    for array in arrays:
        array.fill(0)
    assert env.batch.states.tobytes() == state
    assert env.action_masks().any(axis=1).all()


def test_impossible_calls(toy: Game) -> None:
    env = TabletopGymVector(toy, 3, 2)
    with pytest.raises(OrderError, match="before step"):
        env.step(np.zeros(3, dtype=int))
    env.reset(seed=0)
    states = env.batch.states.tobytes()
    for actions in (np.full(3, 8), np.zeros(2, dtype=int), np.zeros(3), None):
        with pytest.raises(IllegalActionError):
            env.step(actions)
    assert env.batch.states.tobytes() == states
    with pytest.raises(OptionError, match="num_envs"):
        TabletopGymVector(toy, 0)
    with pytest.raises(OptionError, match="learner"):
        TabletopGymVector(toy, 2, learner=2)
    with pytest.raises(UnknownAgentError):
        TabletopGymVector(toy, 2, opponents="grady")
    env.close()
    env.close()


def unpaid(result: list[Any]) -> None:
    result[1][:] = 0


def unfinished(result: list[Any]) -> None:
    result[2][:] = False


def first_observation(result: list[Any]) -> None:
    for row in np.flatnonzero(result[2]):
        result[4]["final_obs"][row] = result[0][row]


def full_masks(result: list[Any]) -> None:
    result[4]["action_mask"][:] = 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (unpaid, "says (reward, terminated, truncated) = (0.0, True, False)"),
        (unfinished, "says (reward, terminated, truncated)"),
        (first_observation, "gives another last observation"),
        (full_masks, "gives another mask"),
    ],
)
def test_the_suite_finds_faults(
    toy: Game, monkeypatch: pytest.MonkeyPatch, change: Callable[[list[Any]], None], words: str
) -> None:
    step = TabletopGymVector.step

    def changed(env: TabletopGymVector, actions: Any) -> Any:
        result = list(step(env, actions))
        change(result)
        return tuple(result)

    monkeypatch.setattr(TabletopGymVector, "step", changed)
    assert words in run_check("gym vector", subject_of(toy, quick=True)).detail


# --- Gymnasium's own tools, and the front door ------------------------------------------------------------------


def test_make_vec_makes_every_game(toy: Game, recwarn: pytest.WarningsRecorder) -> None:
    for spec in registry.games().values():
        env = gymnasium.make_vec(registry.gymnasium_id(spec), num_envs=2)
        assert isinstance(env.unwrapped, TabletopGymVector)
        assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
        assert env.unwrapped.game.spec == spec
    env = gymnasium.make_vec("tabletop/Toy-v0", num_envs=3, num_players=4, opponents="greedy", memory=True)
    observations, _ = env.reset(seed=0)
    assert observations.shape == (3, 39)
    assert "tabletop/Toy-v0" in repr(env)
    one_by_one = gymnasium.make_vec("tabletop/Toy-v0", num_envs=2, vectorization_mode="sync")
    assert isinstance(one_by_one, SyncVectorEnv)
    assert one_by_one.reset(seed=0)[0].shape == (2, 35)
    assert [str(warning.message) for warning in recwarn] == []


def test_gymnasiums_episode_statistics(toy: Game) -> None:
    inner = TabletopGymVector(toy, 4, 2, reward=MIX, as_earned=True)
    env = RecordEpisodeStatistics(inner)
    env.reset(seed=0)
    ended = 0
    for _ in range(30):
        *_, terminations, _, infos = env.step(lowest(inner))
        for row in np.flatnonzero(terminations):
            mine = infos["final_info"]["episode"]
            assert infos["episode"]["l"][row] == mine["l"][row]
            assert infos["episode"]["r"][row] == pytest.approx(mine["r"][row])
            ended += 1
    assert ended > 4


def test_the_front_door(toy: Game) -> None:
    assert isinstance(tabletop_envs.make_vec("toy", 2, 3, kind="gym"), TabletopGymVector)
    raw = tabletop_envs.make_vec(toy, 2, kind="raw", memory=True)
    assert isinstance(raw, TabletopVector)
    assert raw.num_players == 2
    solo = tabletop_envs.make_solo("toy", 3, opponents="greedy")
    assert isinstance(solo, TabletopSolo)
    assert solo.num_players == 3
    with pytest.raises(OptionError, match="kind='torch' is not possible: give one of 'sb3', 'gym', 'raw'"):
        tabletop_envs.make_vec("toy", 2, kind="torch")  # type: ignore[call-overload]
