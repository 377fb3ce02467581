"""The Gymnasium environment of one learner: who is paid when, whom it meets, and what Gymnasium and SB3 make of it."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections import Counter
from collections.abc import Callable
from subprocess import CompletedProcess
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env

import tabletop_envs
from tabletop_envs import registry
from tabletop_envs.agents.base import BUILT_IN, View
from tabletop_envs.core.game import Game
from tabletop_envs.core.header import KEY_LIMIT
from tabletop_envs.core.loops import GREEDY_POLICY
from tabletop_envs.core.position import Position
from tabletop_envs.envs.aec import TabletopAEC
from tabletop_envs.envs.solo import TabletopSolo
from tabletop_envs.errors import (
    CorruptDataError,
    GameOverError,
    IllegalActionError,
    OptionError,
    OrderError,
    UnknownAgentError,
)
from tabletop_envs.testing.suite import run_check, subject_of

OURS = next(iter(registry.games().values()))


class Namer:
    """An agent of the two-move game: always names one seat. Remembers what it was told."""

    def __init__(self, seat: int) -> None:
        self.named = seat
        self.name = "namer"
        self.told: list[tuple[int, int]] = []
        self.closed = 0

    def choose(self, view: View) -> int:
        return self.named

    def reset(self, seat: int, seed: int) -> None:
        self.told.append((seat, seed))

    def close(self) -> None:
        self.closed += 1


class Watcher:
    """Plays the lowest legal action, and keeps the seats and texts of its views."""

    name = "watcher"

    def __init__(self) -> None:
        self.seen: list[tuple[int, str]] = []

    def choose(self, view: View) -> int:
        self.seen.append((view.seat, view.text()))
        return int(view.legal_actions()[0])


class LowestPolicy:
    """The lowest legal action, as a batch policy."""

    name = "lowest"

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        return action_masks.argmax(axis=1)


def lowest(env: TabletopSolo) -> int:
    """The learner's lowest legal action."""
    return int(env.action_masks().argmax())


def finish(env: TabletopSolo) -> tuple[float, bool, bool, dict[str, Any]]:
    """Play on by lowest actions; what the last step says."""
    while True:
        _, reward, terminated, truncated, info = env.step(lowest(env))
        if terminated:
            return reward, terminated, truncated, info
        assert (reward, truncated) == (0.0, False)


def trace(env: TabletopSolo, steps: int = 40) -> list[Any]:
    """Everything that play by lowest actions gives from here."""
    said: list[Any] = []
    for _ in range(steps):
        observation, *rest, info = env.step(lowest(env))
        said.append((observation.tobytes(), rest, {**info, "action_mask": info["action_mask"].tobytes()}))
        if rest[1]:
            observation, info = env.reset()
            said.append((observation.tobytes(), info["seat"]))
    return said


# --- who is paid, and when --------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [0, 1])
@pytest.mark.parametrize("winner", [0, 1])
def test_the_loser_is_paid_whoever_moved_last(two_moves: Game, learner: int, winner: int) -> None:
    env = TabletopSolo(two_moves, opponents=Namer(winner), learner=learner)
    observation, info = env.reset(seed=0)
    assert observation.tolist() == ([0, 1, 0, 0] if learner == 0 else [1, 0, winner == 0, winner == 1])
    assert info["seat"] == learner
    observation, reward, terminated, truncated, info = env.step(winner)
    assert reward == (1.0 if winner == learner else -1.0)
    assert (terminated, truncated) == (True, False)
    assert observation.tolist() == [learner, 0, winner == 0, winner == 1]
    assert info["points"] == [int(winner == 0), int(winner == 1)]
    assert info["places"] == [1 + (winner != 0), 1 + (winner != 1)]
    assert (info["end"], info["seat"]) == ("rules", learner)
    assert not info["action_mask"].any()
    assert not env.action_masks().any()


def test_a_cap_is_paid_and_both_terminated_and_truncated(toy: Game) -> None:
    env = TabletopSolo(toy, 3, learner=1, max_decisions=7, reward="rank")
    env.reset(seed=3)
    reward, terminated, truncated, info = finish(env)
    assert (terminated, truncated, info["end"]) == (True, True, "cap")
    position = env.position
    assert position.capped
    assert info["points"] == position.points()
    assert reward == {1: 1.0, 1.5: 0.5, 2: 0.0, 2.5: -0.5, 3: -1.0}[mean_place(position.places(), 1)]


def mean_place(places: list[int], seat: int) -> float:
    """The mean of the places that a seat and those tied with it span."""
    return places[seat] + (places.count(places[seat]) - 1) / 2


def test_the_learners_seat_rotates(toy: Game) -> None:
    env = TabletopSolo(toy, 3)
    seats = [env.reset(seed=1)[1]["seat"]] + [env.reset()[1]["seat"] for _ in range(5)]
    assert seats == [0, 1, 2, 0, 1, 2]
    assert env.seat == 2
    assert env.reset(seed=1)[1]["seat"] == 0  # a seed begins anew
    fixed = TabletopSolo(toy, 3, learner=2)
    assert [fixed.reset()[1]["seat"] for _ in range(3)] == [2, 2, 2]


def test_a_game_that_ends_before_the_learner_is_asked_is_dealt_again(toy: Game) -> None:
    # Seat 0 starts, so that the cap of three decisions comes before the fourth seat is ever asked.
    env = TabletopSolo(toy, 4, opponents=LowestPolicy(), max_decisions=3)
    seats = Counter(env.reset(seed=0 if number == 0 else None)[1]["seat"] for number in range(9))
    assert seats == {0: 3, 1: 3, 2: 3}
    never = TabletopSolo(toy, 4, learner=3, max_decisions=2)
    with pytest.raises(OptionError, match="now seat 3, was asked: change learner"):
        never.reset()
    with pytest.raises(OptionError, match="in 1 deals the game ended"):
        never.reset(options={"key": 4})


# --- chance -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opponents", ["random", "greedy"])
def test_seed_and_actions_give_the_same_games(toy: Game, opponents: str) -> None:
    envs = [TabletopSolo(toy, 3, opponents=opponents) for _ in range(2)]
    traces = []
    for env in (*envs, envs[0]):
        first = env.reset(seed=11)
        traces.append([first[0].tobytes(), *trace(env)])
    assert traces[0] == traces[1] == traces[2]
    envs[1].reset(seed=12)
    assert trace(envs[1]) != traces[0][1:]


def test_a_seed_deals_the_games_of_the_other_environment(toy: Game) -> None:
    solo, aec = TabletopSolo(toy, 2, learner=0), TabletopAEC(toy, 2)
    for seed in (5, None, None, 9):
        solo.reset(seed=seed)
        aec.reset(seed=seed)
        assert solo.position == aec.position  # seat 0 is asked first


def test_a_key_deals_one_game_whatever_came_before(toy: Game) -> None:
    env = TabletopSolo(toy, 2, learner=1, opponents="random")
    env.reset(options={"key": 77})
    first = trace(env, 4)
    env.reset(seed=3)
    env.reset(options={"key": 77})
    assert trace(env, 4) == first
    assert env.position.seed == 77
    for key in (-1, KEY_LIMIT, 1.5, True):
        with pytest.raises(OptionError, match="key="):
            env.reset(options={"key": key})


# --- illegal actions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", [8, -1, 9, 1.5, "pass", True, np.array([1, 2])])
def test_an_illegal_action_loses(toy: Game, action: Any) -> None:
    env = TabletopSolo(toy, 3, learner=1)
    before, _ = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert (info["end"], info["places"], info["offender"]) == ("illegal", [1, 3, 1], "player_1")
    assert observation.tobytes() == before.tobytes()
    assert not info["action_mask"].any()
    assert not env.action_masks().any()
    with pytest.raises(GameOverError, match=r"call reset\(\) first"):
        env.step(4)
    env.reset()
    env.step(lowest(env))


@pytest.mark.parametrize("action", [8, 9, "pass", True])
def test_an_illegal_action_raises_and_changes_nothing(toy: Game, action: Any) -> None:
    env = TabletopSolo(toy, 3, illegal="raise")
    env.reset(seed=0)
    before = env.position
    with pytest.raises(IllegalActionError):
        env.step(action)
    assert env.position == before
    assert finish(env)[1]


def test_none_is_no_action(toy: Game) -> None:
    env = TabletopSolo(toy)
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match="has to choose"):
        env.step(None)
    assert finish(env)[1]


def test_order_is_checked(toy: Game) -> None:
    env = TabletopSolo(toy)
    with pytest.raises(OrderError, match="before step"):
        env.step(0)
    with pytest.raises(OrderError):
        env.render()
    with pytest.raises(OrderError):
        env.action_masks()


# --- opponents --------------------------------------------------------------------------------------------------


def test_agents_are_asked_for_their_own_seats_in_order(toy: Game) -> None:
    watchers = [Watcher() for _ in range(3)]
    env = TabletopSolo(toy, 4, opponents=watchers, learner=2)
    _, info = env.reset(options={"key": 1})
    position = Position.new(toy, 4, seed=1)
    while not position.over:
        seat = position.seat
        assert seat is not None
        if seat == 2:
            assert np.array_equal(info["action_mask"], position.action_mask())
            info = env.step(int(position.legal_actions()[0]))[-1]
        else:
            watcher = watchers[(seat - 3) % 4]  # the first sits behind the learner
            assert watcher.seen.pop(0) == (seat, position.text(seat))
        position.apply(int(position.legal_actions()[0]))
    assert info["points"] == position.points()
    assert not any(watcher.seen for watcher in watchers)


def test_agents_are_told_of_each_game_and_closed_once(two_moves: Game) -> None:
    namer = Namer(0)
    env = TabletopSolo(two_moves, opponents=namer, learner="rotate")
    for seed in (1, None, None, 1):
        env.reset(seed=seed)
    assert [seat for seat, _ in namer.told] == [1, 0, 1, 1]
    seeds = [seed for _, seed in namer.told]
    assert seeds[0] == seeds[3]
    assert len(set(seeds)) == 3
    env.close()
    env.close()
    assert namer.closed == 1


def test_opponents_may_differ_by_seat_and_be_of_every_kind(toy: Game) -> None:
    opponents: list[Any] = ["greedy", Watcher(), LowestPolicy()]
    env = TabletopSolo(toy, 4, opponents=opponents, learner=0)
    env.reset(seed=2)
    assert finish(env)[1]
    assert {seat for seat, _ in opponents[1].seen} == {2}


def test_a_name_that_is_not_compiled_is_made_an_agent(toy: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    env = TabletopSolo(toy, 3, opponents="human", learner=0, max_decisions=3)
    read = iter(["pass\n"] * 2)
    monkeypatch.setattr("sys.stdin", type("Typed", (), {"readline": lambda self: next(read)})())
    env.reset(seed=0)
    env.step(4)
    assert next(read, None) is None  # both of the others were asked


@pytest.mark.parametrize(
    ("opponents", "error", "words"),
    [
        ("grady", UnknownAgentError, "did you mean 'greedy'"),
        (["random"], OptionError, "1 opponents for 2 seats"),
        ([], OptionError, "0 opponents"),
        (7, UnknownAgentError, "7 is no opponent"),
        (["random", None], UnknownAgentError, "None is no opponent"),
    ],
)
def test_impossible_opponents(toy: Game, opponents: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        TabletopSolo(toy, 3, opponents=opponents)


def test_an_opponent_that_chooses_what_is_not_legal_is_named(two_moves: Game) -> None:
    env = TabletopSolo(two_moves, opponents=Namer(5), learner=0)
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match="the agent 'namer' has to be mended"):
        env.step(0)
    with pytest.raises(OrderError, match="an opponent, player_1, broke off the game"):
        env.step(0)  # would be the opponent's decision
    env.reset()
    assert env.action_masks().any()


@pytest.mark.parametrize(
    "arguments",
    [
        {"learner": 3},
        {"learner": "rotates"},
        {"learner": True},
        {"illegal": "win"},
        {"reward": "none"},
        {"render_mode": "film"},
        {"mask_in": "info"},
        {"no_such_option": 1},
    ],
)
def test_impossible_arguments(toy: Game, arguments: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        TabletopSolo(toy, 3, **arguments)


# --- what is handed out, stored and shown -----------------------------------------------------------------------


def test_the_mask_can_be_appended(toy: Game) -> None:
    plain, long = (TabletopSolo(toy, 3, append_mask=append, memory=True) for append in (False, True))
    seen, info = plain.reset(seed=4)
    longer, _ = long.reset(seed=4)
    while True:
        assert long.observation_space.contains(longer)
        assert longer.tolist() == [*seen.tolist(), *info["action_mask"].tolist()]
        if not info["action_mask"].any():
            break
        action = int(info["action_mask"].argmax())
        seen, *_, info = plain.step(action)
        longer, *_ = long.step(action)
    assert long.observation_layout is toy.observations
    assert long.action_layout is toy.actions


def test_what_is_handed_out_is_the_callers_own(toy: Game) -> None:
    env = TabletopSolo(toy, 2)
    observation, info = env.reset(seed=0)
    copies = observation.copy(), info["action_mask"].copy()
    later, *_, after = env.step(lowest(env))
    assert (observation.tobytes(), info["action_mask"].tobytes()) == tuple(part.tobytes() for part in copies)
    before = env.position
    later.fill(0)
    after["action_mask"].fill(0)
    assert env.position == before
    assert env.action_masks().any()


def test_states_are_stored_and_restored(toy: Game) -> None:
    env = TabletopSolo(toy, 3, opponents=["greedy", "random"])
    env.reset(seed=8)
    env.reset()
    env.step(lowest(env))
    state, ahead = env.get_state(), None
    for other in (env, env, TabletopSolo(toy, 3, opponents=["greedy", "random"])):
        other.set_state(state)
        assert other.seat == 1
        going = trace(other)
        assert ahead is None or going == ahead
        ahead = going
    for broken in ({}, {**state, "seat": 9}, {**state, "salt": None}, {**state, "table": {}}):
        with pytest.raises(CorruptDataError):
            env.set_state(broken)


@pytest.mark.parametrize(
    "wrong",
    [
        {"np_random": None},
        {"np_random": 5},
        {"np_random": {"bit_generator": "PCG64", "state": 3}},
        {"np_random": {}},
        {"seat": -1},
        {"seat": 1.5},
        {"salt": -1},
        {"salt": 2**70},
        {"games": 0},
        {"games": "many"},
        {"table": None},
        {"table": 5},
        {"table": ("record", b"")},
        {"table": ("record", "garbage")},
        {"table": ("episode", {"foo": 1})},
        {"table": ("np_random", 5)},
    ],
    ids=str,
)
def test_states_that_are_none_change_nothing(toy: Game, wrong: dict[str, Any]) -> None:
    env = TabletopSolo(toy, 3, opponents="greedy")
    env.reset(seed=8)
    before, twin = env.get_state(), TabletopSolo(toy, 3, opponents="greedy")
    twin.reset(seed=9)
    other = twin.get_state()
    if isinstance(wrong.get("table"), tuple):
        name, value = wrong["table"]
        value = b"\x07" * len(other["table"]["record"]) if value == "garbage" else value
        wrong = {"table": {**other["table"], name: value}}
    with pytest.raises(CorruptDataError):
        env.set_state({**other, **wrong})
    assert env.get_state() == before
    env.set_state(other)
    assert env.get_state() == other


def test_options_are_fixed_when_the_environment_is_made(toy: Game) -> None:
    env = TabletopSolo(toy, 2)
    env.reset(seed=3)
    before = env.get_state()
    for name in ("memory", "heap", "max_decisions", "auto_forced", "num_players"):
        with pytest.raises(OptionError, match=f"cannot change {name}: .* make another one"):
            env.reset(seed=1, options={name: 4})
    assert env.get_state() == before
    env.reset(options={"unknown": 1})


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_continue_identically(toy: Game, copied: Callable[[TabletopSolo], TabletopSolo]) -> None:
    env = TabletopSolo(toy, 3, opponents=["greedy", "random"])
    env.reset(seed=8)
    twin = copied(env)
    before = env.position
    expected = trace(twin)
    assert env.position == before
    assert trace(env) == expected


def test_rendering_is_that_of_the_other_environment(toy: Game, capsys: pytest.CaptureFixture[str]) -> None:
    aec = TabletopAEC(toy, 2, render_mode="ansi")
    aec.reset(seed=1)
    env = TabletopSolo(toy, 2, learner=0, render_mode="ansi", illegal="lose")
    assert env.metadata["render_modes"] == TabletopSolo.metadata["render_modes"] == aec.metadata["render_modes"]
    env.reset(seed=1)
    assert env.render() == aec.render()
    env.step(8)
    aec.step(8)
    assert env.render() == aec.render()
    shown = TabletopSolo(toy, 2, learner=0, render_mode="human")
    shown.reset(seed=1)
    assert "player_0 to act" in capsys.readouterr().out
    finish(shown)
    assert "over; points" in capsys.readouterr().out


# --- Gymnasium and Stable-Baselines3 ----------------------------------------------------------------------------


def test_gymnasium_makes_every_game(toy: Game) -> None:
    for spec in registry.games().values():
        env = gymnasium.make(registry.gymnasium_id(spec))
        assert isinstance(env.unwrapped, TabletopSolo)
        assert env.unwrapped.game.spec == spec
    assert registry.gymnasium_id(OURS) in gymnasium.registry
    made = gymnasium.make("tabletop/Toy-v0", num_players=4, opponents="greedy", memory=True, render_mode="ansi")
    assert made.get_wrapper_attr("num_players") == 4
    _, info = made.reset(seed=1)
    made.step(made.action_space.sample(info["action_mask"]))
    assert isinstance(made.render(), str)
    assert made.get_wrapper_attr("action_masks")().dtype == bool


def test_ids_in_gymnasiums_registry(toy: Game) -> None:
    def named(title: str) -> str:
        return registry.gymnasium_id(dataclasses.replace(toy.spec, title=title, version=2))

    assert named("Two moves") == "tabletop/TwoMoves-v2"
    assert named("Brass: Birmingham") == "tabletop/BrassBirmingham-v2"
    again = dataclasses.replace(toy.spec, id="toy_again")
    with pytest.warns(UserWarning, match="'tabletop/Toy-v0' is taken: 'toy_again' needs another title"):
        registry.add(again)
    registry.games().pop("toy_again")
    getattr(pettingzoo, "aec_registry", {}).pop(again.env_id, None)
    assert gymnasium.spec("tabletop/Toy-v0").kwargs["game"] == "toy"


@pytest.mark.parametrize("render_mode", [None, "ansi"])
def test_gymnasiums_check_with_rendering(toy: Game, render_mode: str | None, recwarn: pytest.WarningsRecorder) -> None:
    check_env(gymnasium.make("tabletop/Toy-v0", render_mode=render_mode, disable_env_checker=True).unwrapped)
    assert [str(warning.message) for warning in recwarn] == []


def test_gymnasium_imports_the_package_by_name(python: Callable[..., CompletedProcess[str]]) -> None:
    name = registry.gymnasium_id(OURS)
    code = (
        "import gymnasium, sys\n"
        f"env = gymnasium.make('tabletop_envs:{name}')\n"
        "observation, info = env.reset(seed=1)\n"
        "print(observation.shape, info['action_mask'].sum(), 'torch' in sys.modules)\n"
    )
    run = python(code)
    assert run.returncode == 0, run.stderr
    env = tabletop_envs.make_solo(OURS.id)
    observation, info = env.reset(seed=1)
    assert run.stdout.split("\n")[0] == f"{observation.shape} {info['action_mask'].sum()} False"


def test_maskable_ppo_learns_on_it(toy: Game) -> None:
    sb3_contrib = pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.maskable.utils import is_masking_supported

    env = gymnasium.make("tabletop/Toy-v0", opponents="greedy")
    assert is_masking_supported(env)
    unmasked = TabletopSolo(toy, illegal="raise")  # masks are kept to, or this raises
    model = sb3_contrib.MaskablePPO("MlpPolicy", unmasked, n_steps=64, batch_size=64, n_epochs=1, device="cpu")
    model.learn(64)
    assert model.num_timesteps == 64


# --- the suite's checks find faults -----------------------------------------------------------------------------


def solo_with(monkeypatch: pytest.MonkeyPatch, change: Callable[..., Any]) -> None:
    """Every result of step() goes through `change`."""
    step = TabletopSolo.step
    monkeypatch.setattr(TabletopSolo, "step", lambda self, action: change(self, *step(self, action)))


def wrong_reward(env: TabletopSolo, seen: Any, reward: float, over: bool, cut: bool, info: Any) -> Any:
    return seen, -reward, over, cut, info


def never_truncated(env: TabletopSolo, seen: Any, reward: float, over: bool, cut: bool, info: Any) -> Any:
    return seen, reward, over, False, info


def next_seats_view(env: TabletopSolo, seen: Any, reward: float, over: bool, cut: bool, info: Any) -> Any:
    return env.position.observe((env.seat + 1) % env.num_players), reward, over, cut, info


def full_mask(env: TabletopSolo, seen: Any, reward: float, over: bool, cut: bool, info: Any) -> Any:
    return seen, reward, over, cut, {**info, "action_mask": np.ones_like(info["action_mask"])}


def numpy_bool(env: TabletopSolo, seen: Any, reward: float, over: bool, cut: bool, info: Any) -> Any:
    return seen, reward, np.bool_(over), cut, info


def double_precision(env: TabletopSolo, seen: Any, reward: float, over: bool, cut: bool, info: Any) -> Any:
    return seen.astype(np.float64), reward, over, cut, info


@pytest.mark.parametrize(
    ("change", "check", "words"),
    [
        (wrong_reward, "solo", "says (reward, terminated, truncated)"),
        (next_seats_view, "solo", "gives another observation"),
        (full_mask, "solo", "gives another mask"),
        (numpy_bool, "gymnasium", "from the check_env of"),
        (double_precision, "gymnasium", "from the check_env of Gymnasium"),
    ],
)
def test_the_suite_finds_faults(
    toy: Game, monkeypatch: pytest.MonkeyPatch, change: Callable[..., Any], check: str, words: str
) -> None:
    solo_with(monkeypatch, change)
    report = run_check(check, subject_of(toy, quick=True))
    assert not report.ok
    assert words in report.detail


def test_the_suite_finds_a_cap_that_is_not_told(toy: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    solo_with(monkeypatch, never_truncated)
    subject = subject_of(toy, quick=True)
    subject.__dict__["grid"] = (toy.settings(3, max_decisions=7),)
    assert "True, False)" in run_check("solo", subject).detail


def test_the_suite_finds_opponents_of_another_kind(toy: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILT_IN, "random", GREEDY_POLICY)
    assert "against random is at" in run_check("solo", subject_of(toy, quick=True)).detail
