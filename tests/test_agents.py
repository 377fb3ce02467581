"""Agents: what a View shows and hides, agents by name, the terminal, and how the three forms of players relate."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tabletop_envs
from tabletop_envs import agents
from tabletop_envs.agents import list_agents, make_agent
from tabletop_envs.agents.base import PolicyAgent, View, ask, begin, finish, policy_name
from tabletop_envs.agents.greedy import GreedyAgent
from tabletop_envs.agents.human import HumanAgent
from tabletop_envs.agents.random import RandomAgent
from tabletop_envs.core import loops
from tabletop_envs.core.game import ALL, Game
from tabletop_envs.core.header import KEY_LIMIT
from tabletop_envs.core.position import Position
from tabletop_envs.envs.selfplay import SelfPlay
from tabletop_envs.errors import (
    CorruptDataError,
    GameOverError,
    IllegalActionError,
    OptionError,
    PlayerQuitError,
    UnknownAgentError,
    UnknownGameError,
)
from tabletop_envs.testing.suite import run_check, subject_of
from tabletop_envs.training.evaluation import evaluate

SEED = 20
OURS = "urbino"  # long lists of actions, and no chance


def played(game: Game, decisions: int, players: int = 3, seed: int = SEED, **options: Any) -> Position:
    """A position after so many lowest legal actions."""
    position = Position.new(game, players, seed=seed, **options)
    for _ in range(decisions):
        position.apply(int(position.legal_actions()[0]))
    return position


class Lowest:
    """The lowest legal action, as an agent."""

    name = "lowest"

    def choose(self, view: View) -> int:
        return int(view.legal_actions()[0])


class LowestPolicy:
    """The same as a batch policy."""

    name = "lowest"

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        return action_masks.argmax(axis=1)


class Fixed:
    """Always the same answer."""

    name = "fixed"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def choose(self, view: View) -> Any:
        return self.answer


# --- the View ---------------------------------------------------------------------------------------------------


def test_a_view_shows_what_the_position_shows_its_seat(toy: Game) -> None:
    position = played(toy, 4, memory=True)
    view = View(position)
    seat = position.seat
    assert seat is not None
    assert (view.seat, view.num_players, view.phase, view.decisions) == (seat, 3, position.phase, 4)
    assert view.game is toy
    assert view.options["memory"] is True
    assert view.observation.tobytes() == position.observe(seat).tobytes()
    assert view.action_mask.tolist() == position.action_mask().tolist()
    assert view.legal_actions().tolist() == position.legal_actions().tolist()
    assert view.text() == position.text(seat)
    assert view.to_json() == position.to_json(seat)
    assert view.scene() == position.scene(seat)
    assert view.events() == position.events()
    assert view.action_text(0) == "play one"
    assert view.parse_action("take 3") == 7
    assert f"seat {seat}" in repr(view)


def test_a_view_hides_the_others_hands_and_the_deck(toy: Game) -> None:
    position = played(toy, 1)
    facts = View(position).to_json()
    assert position.seat == 1
    assert facts["position"]["hands"] == [None, position.to_json(ALL)["position"]["hands"][1], None, None]
    assert "deck" not in facts["position"]
    assert not {"seed", "draws"} & set(facts)


def test_a_view_is_equal_for_positions_that_its_seat_cannot_tell_apart(toy: Game) -> None:
    position = played(toy, 2)
    assert position.seat == 2
    views = [View(position), *(View(position.determinize(2, salt)) for salt in range(20))]
    assert len({view.text() for view in views}) == 1
    assert len({view.observation.tobytes() for view in views}) == 1
    assert all(view.to_json() == views[0].to_json() for view in views)
    hands = {str(position.determinize(2, salt).to_json(ALL)["position"]["hands"]) for salt in range(20)}
    assert len(hands) > 1  # so there was something to hide


def test_no_public_attribute_leads_to_the_position_or_its_key(toy: Game) -> None:
    position = played(toy, 3)
    view = View(position)
    held = [getattr(view, name) for name in dir(view) if not name.startswith("_")]
    held += [part() for part in held if callable(part) and part.__name__ in ("text", "to_json", "events")]
    assert not any(isinstance(part, (Position, np.record, np.void)) for part in held)
    assert not any(isinstance(part, np.ndarray) and part.dtype == position.states.dtype for part in held)
    assert not any(str(SEED) in str(part).split() for part in held)
    assert not hasattr(view, "__dict__")
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="a View is not stored"):
            attempt(view)


def test_search_copies_are_dealt_anew(toy: Game) -> None:
    position = played(toy, 3)
    view = View(position)
    copies = [view.determinized(salt) for salt in range(12)]
    assert copies[0] == view.determinized(0)
    assert len({other.seed for other in copies} | {position.seed}) == 13
    assert len({str(other.to_json(ALL)["position"]["deck"]) for other in copies}) > 1
    assert all(other.observe(view.seat).tobytes() == view.observation.tobytes() for other in copies)


def test_a_view_stays_as_it_was_and_cannot_be_used_to_change_the_game(toy: Game) -> None:
    position = played(toy, 3)
    view, before = View(position), position.to_bytes()
    text, seat = view.text(), view.seat
    for array in (view.observation, view.action_mask, view.legal_actions()):
        array.fill(1)
    view.options["heap"] = 99
    view.determinized(1).apply(int(view.legal_actions()[0]))
    assert position.to_bytes() == before
    assert view.options["heap"] != 99
    position.apply(int(position.legal_actions()[0]))
    assert (view.text(), view.seat) == (text, seat)


def test_where_nobody_is_asked_there_is_no_view(two_moves: Game) -> None:
    with pytest.raises(GameOverError, match="nobody is asked"):
        View(played(two_moves, 2, players=2))


@pytest.mark.parametrize(
    ("name", "leak", "words"),
    [
        ("whole", property(lambda view: view._View__position.clone()), "hands out the position itself as 'whole'"),
        ("facts", lambda view: view._View__position.to_json(), "hands out the key of all chance in 'facts'"),
        ("text", lambda view: view._View__position.text(ALL), "tells by text what it may not know"),
        ("deck", property(lambda view: view._View__position.states["deck"].tolist()), "tells by deck what"),
        ("action_mask", property(lambda view: view._View__position._mask), "changes the position through"),
        ("determinized", lambda view, salt: view._View__position.clone(), "keeps the key"),
    ],
)
def test_the_suite_finds_leaks(toy: Game, monkeypatch: pytest.MonkeyPatch, name: str, leak: Any, words: str) -> None:
    monkeypatch.setattr(View, name, leak, raising=False)
    assert words in run_check("views", subject_of(toy, quick=True)).detail


def test_the_suite_finds_words_that_choose_another_action(toy: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(View, "parse_action", lambda view, text: int(view.legal_actions()[0]))
    assert "at the terminal chooses" in run_check("human", subject_of(toy, quick=True)).detail


# --- agents by name ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_built_in_agents_choose_as_the_compiled_policies(toy: Game, name: str) -> None:
    policy = {"random": loops.RANDOM_POLICY, "greedy": loops.GREEDY_POLICY}[name]
    finals = set()
    for seed in (0, 1, KEY_LIMIT - 1):
        position = Position.new(toy, 3, seed=5)
        states, mask = position.states.copy(), position.action_mask()
        loops.play_out(toy.calls, toy.greedy_call, states, 0, mask, policy, seed)
        agent = make_agent(name, toy, seed=seed)
        assert agent.name == name
        while not position.over:
            position.apply(ask(agent, position))
        assert position.to_bytes() == states.tobytes()
        finals.add(position.to_bytes())
    assert len(finals) > 1


def test_a_game_begins_with_its_own_seed(toy: Game) -> None:
    position = played(toy, 0, extras=("joker",))
    choices = []
    for seed in (1, 2, 1):
        agent = make_agent("random", toy)
        begin(agent, 0, seed)
        choices.append([agent.choose(View(played(toy, number))) for number in range(9)])
    assert choices[0] == choices[2] != choices[1]
    begin(Lowest(), 0, 1)  # has no reset, and no close
    finish(Lowest())
    assert ask(Lowest(), position) == position.legal_actions()[0]


def test_agents_are_listed_and_found_by_name() -> None:
    assert list_agents()[:6] == ["random", "greedy", "human", "mcts[:SIMULATIONS]", "ppo[:FILE]", "sb3:PATH"]
    assert tabletop_envs.make_agent("greedy", OURS).name == "greedy"
    assert isinstance(make_agent("human", OURS, name="Ada"), HumanAgent)
    assert make_agent("human", OURS, name="Ada", seed=1).name == "Ada"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gredy", "there are random, greedy, human, mcts[:SIMULATIONS], ppo[:FILE], sb3:PATH; did you mean 'greedy'?"),
        ("sb4:model.zip", "did you mean 'sb3'"),
        ("qqqq", "no agent 'qqqq': there are"),
        (7, "no agent 7"),
        ("sb3", "write sb3:PATH"),
        ("sb3:", "write sb3:PATH"),
    ],
)
def test_unknown_agents(name: Any, words: str) -> None:
    with pytest.raises(UnknownAgentError) as caught:
        make_agent(name, OURS)
    assert words in str(caught.value)


def test_impossible_arguments(toy: Game) -> None:
    with pytest.raises(UnknownGameError):
        make_agent("random", "no_such_game")
    with pytest.raises(OptionError, match=r"does not take these arguments: .*depth"):
        make_agent("random", toy, depth=3)
    with pytest.raises(OptionError, match="seed -1"):
        make_agent("greedy", toy, seed=-1)


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Installs entry points of outside packages: name=what it loads, or raises."""

    def install(**found: Any) -> None:
        def entry(name: str, thing: Any) -> SimpleNamespace:
            def load() -> Any:
                if isinstance(thing, Exception):
                    raise thing
                return thing

            return SimpleNamespace(name=name, value=f"outside:{name}", load=load)

        entries = [entry(name, thing) for name, thing in found.items()]
        monkeypatch.setattr(agents, "entry_points", lambda group: entries if group == agents.ENTRY_POINTS else [])

    return install


def test_outside_agents_are_found_by_entry_point(toy: Game, outside: Callable[..., None]) -> None:
    given = []

    def make(game: Game, **arguments: Any) -> Lowest:
        given.append((game, arguments))
        return Lowest()

    outside(deep=make, policy=lambda game: LowestPolicy(), random=make)
    assert list_agents()[6:] == ["deep", "policy"]  # ours cannot be replaced
    assert isinstance(make_agent("random", toy), RandomAgent)
    assert make_agent("deep", toy).name == "lowest"
    make_agent("deep:weights.pt", toy, seed=3, depth=2)
    assert given == [(toy, {}), (toy, {"argument": "weights.pt", "seed": 3, "depth": 2})]
    wrapped = make_agent("policy", toy)
    assert isinstance(wrapped, PolicyAgent)
    position = played(toy, 3)
    assert wrapped.choose(View(position)) == position.legal_actions()[0]
    with pytest.raises(UnknownAgentError, match="did you mean 'deep'"):
        make_agent("dep", toy)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (ImportError("no torch"), "cannot be imported: ImportError"),
        ("a text", "no function that makes an agent"),
        (lambda game: 5, "is no agent: give it a name and choose"),
    ],
    ids=["missing", "no-factory", "no-agent"],
)
def test_broken_outside_agents(toy: Game, outside: Callable[..., None], found: Any, words: str) -> None:
    outside(broken=found)
    with pytest.raises(UnknownAgentError, match=words):
        make_agent("broken", toy)
    assert make_agent("greedy", toy).name == "greedy"


# --- how the forms relate ---------------------------------------------------------------------------------------


def test_an_agent_sits_in_a_batch_as_the_policy_would(toy: Game) -> None:
    traces = []
    for opponent in (Lowest(), LowestPolicy(), PolicyAgent(LowestPolicy())):
        play = SelfPlay(toy, 4, 3, opponents=opponent, learner=1, extras=("joker",))
        play.rng = np.random.default_rng(1)
        play.reset()
        trace = [play.batch.states.tobytes()]
        for _ in range(25):
            rewards, endings = play.step(play.batch.check(play.batch.rows, play.batch.masks.argmax(axis=1)))
            trace.append((play.batch.states.tobytes(), rewards.tolist(), endings and endings.names))
        traces.append(trace)
    assert traces[0] == traces[1] == traces[2]
    assert any(step[2] for step in traces[0][1:])


def test_agents_are_evaluated_as_policies_are(toy: Game) -> None:
    result = evaluate(toy, toy.settings(2), Lowest(), LowestPolicy(), games=4)
    assert (result.policy, result.opponent, result.games) == ("lowest", "lowest", 4)
    assert policy_name(Lowest()) == policy_name(LowestPolicy()) == policy_name("lowest") == "lowest"


def test_a_batch_names_an_agent_that_chooses_what_is_not_legal(toy: Game) -> None:
    play = SelfPlay(toy, 2, 2, opponents=Fixed(8), learner=1)
    with pytest.raises(IllegalActionError, match="the policy 'fixed' has to be mended"):
        play.reset()


@pytest.mark.parametrize(
    ("answer", "words"),
    [(8, "'take 4' (8) is not legal for seat 0 in phase play"), (99, "action 99"), (None, "None"), (0.0, "0.0")],
)
def test_asking_an_agent_checks_its_answer(toy: Game, answer: Any, words: str) -> None:
    with pytest.raises(IllegalActionError, match="the agent 'fixed' has to be mended") as caught:
        ask(Fixed(answer), played(toy, 0))
    assert words in str(caught.value)
    assert ask(Fixed(np.int64(4)), played(toy, 0)) == 4  # passing


# --- the terminal -----------------------------------------------------------------------------------------------


def typed(position: Position, *lines: str) -> tuple[int, str]:
    """What is chosen when these lines are typed, and what was printed."""
    sink = io.StringIO()
    agent = HumanAgent(source=io.StringIO("".join(f"{line}\n" for line in lines)), sink=sink)
    return agent.choose(View(position)), sink.getvalue()


def test_a_person_sees_the_position_and_the_legal_actions(toy: Game) -> None:
    position = played(toy, 1)
    _, printed = typed(position, "1")
    assert "you are seat 1 of 3 (play)" in printed
    for number, action in enumerate(position.legal_actions().tolist()):
        assert f"{number + 1}  {position.action_text(action)}" in printed
    assert "your action:" in printed


def test_actions_are_chosen_by_number_or_in_words(toy: Game) -> None:
    position = played(toy, 1)
    legal = position.legal_actions().tolist()
    for number, action in enumerate(legal):
        assert typed(position, str(number + 1))[0] == action
        assert typed(position, f"  {position.action_text(action).upper()} ")[0] == action
    assert typed(position, "pa")[0] == 4  # the beginning of `pass`


def test_what_cannot_be_chosen_is_said_and_asked_again(toy: Game) -> None:
    position = played(toy, 1)
    assert "there is no number 99: they go from 1 to" in typed(position, "99", "pass")[1]
    assert "there is no number 0" in typed(position, "0", "pass")[1]
    assert "'take 4' is not legal now" in typed(position, "take 4", "pass")[1]
    assert "names no action" in typed(position, "bananas", "pass")[1]
    assert typed(position, "", "  ", "pass")[0] == 4
    many = played(toy, 0, players=2, cards=(0, 20, 20), seed=1)
    assert [many.action_text(int(a)) for a in many.legal_actions()] == ["play two", "play three", "pass"]
    chosen, printed = typed(many, "play", "play th")
    assert many.action_text(chosen) == "play three"
    assert printed.count("1  play two") == 2  # listed at first, and for the words that fit two actions


def test_help_the_list_and_the_position_are_shown_on_demand(toy: Game) -> None:
    position = played(toy, 1)
    assert typed(position, "pass")[1].count("you are seat") == 1
    assert typed(position, "show", "pass")[1].count("you are seat") == 2
    assert "leave the game" in typed(position, "?", "pass")[1]
    once, twice = (typed(position, *lines)[1].count("pass") for lines in (("1",), ("list", "1")))
    assert twice == 2 * once


def test_long_lists_are_shown_on_demand() -> None:
    position = Position.new(OURS, seed=1)
    while len(position.legal_actions()) <= 40:
        position.apply(int(position.legal_actions()[0]))
    legal = position.legal_actions()
    text = position.action_text(int(legal[-1]))
    assert text not in typed(position, "1")[1]
    assert f"{len(legal)} legal actions: type `list`" in typed(position, "1")[1]
    assert f"{len(legal)}  {text}" in typed(position, "list", "1")[1]


def test_leaving_raises_a_named_error(toy: Game) -> None:
    with pytest.raises(PlayerQuitError, match="human left the game at decision 1"):
        typed(played(toy, 1), "?", "QUIT")
    with pytest.raises(PlayerQuitError, match="the input ended before human chose"):
        typed(played(toy, 1))


def test_the_terminal_is_looked_up_when_it_is_needed(toy: Game, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    agent = make_agent("human", toy)
    monkeypatch.setattr("sys.stdin", io.StringIO("pass\n"))
    assert agent.choose(View(played(toy, 1))) == 4
    assert "your action:" in capsys.readouterr().out


def test_the_greedy_agent_asks_a_copy(toy: Game) -> None:
    for number in range(6):
        position = played(toy, number)
        agent = GreedyAgent(seed=number)
        chosen = {agent.choose(View(position.determinize(position.seat or 0, salt))) for salt in range(5)}
        assert chosen == {agent.choose(View(position))}


# --- checkpoints ------------------------------------------------------------------------------------------------


def network(game: Game, append_mask: bool, **options: Any) -> Any:
    """A MaskablePPO model that was never trained."""
    sb3_contrib = pytest.importorskip("sb3_contrib")
    from tabletop_envs.envs.sb3 import SelfPlayVecEnv

    env = SelfPlayVecEnv(game, 2, 2, append_mask=append_mask, seed=0, **options)
    return sb3_contrib.MaskablePPO("MlpPolicy", env, policy_kwargs={"net_arch": [8]}, seed=1, device="cpu")


@pytest.mark.parametrize("append_mask", [False, True])
@pytest.mark.parametrize("memory", [False, True])
def test_a_checkpoint_plays(toy: Game, tmp_path: Path, append_mask: bool, memory: bool) -> None:
    model = network(toy, append_mask, memory=memory)
    model.save(tmp_path / "model.zip")
    agent = make_agent(f"sb3:{tmp_path / 'model.zip'}", toy)
    assert agent.name == "model"
    for number in range(8):
        position = played(toy, number, players=2, memory=memory)
        seen = [position.observe(position.seat or 0)] + ([position.action_mask()] if append_mask else [])
        expected, _ = model.predict(
            np.concatenate(seen).astype(np.float32), action_masks=position.action_mask(), deterministic=True
        )
        assert ask(agent, position) == expected


def test_a_checkpoint_may_draw_by_each_games_seed(toy: Game, tmp_path: Path) -> None:
    network(toy, False).save(tmp_path / "model.zip")
    agent = make_agent(f"sb3:{tmp_path / 'model.zip'}", toy, deterministic=False, seed=1)
    view = View(played(toy, 0, players=2))
    draws = []
    for seed in (4, 5, 4):
        begin(agent, 0, seed)
        draws.append([agent.choose(view) for _ in range(20)])
    assert draws[0] == draws[2] != draws[1]


def test_a_run_folder_plays(toy: Game, two_moves: Game, tmp_path: Path) -> None:
    model = network(toy, True)
    from tabletop_envs.training.run import RunConfig, TrainingRun

    folder = tmp_path / "my_run"
    TrainingRun(folder, RunConfig("toy", 2))
    model.save(folder / "checkpoint.zip")
    position = played(toy, 2, players=2)
    by_name, by_path = make_agent(f"sb3:{folder}", toy), make_agent(str(folder), toy)
    assert by_name.name == by_path.name == "my_run"
    assert ask(by_name, position) == ask(by_path, position)
    with pytest.raises(OptionError, match="is a run of toy, not of two_moves"):
        make_agent(str(folder), two_moves)


def test_paths_that_hold_no_agent(toy: Game, two_moves: Game, tmp_path: Path) -> None:
    network(toy, False).save(tmp_path / "model.zip")
    (tmp_path / "broken.zip").write_bytes(b"nothing")
    (tmp_path / "empty").mkdir()
    for name, error, words in (
        ("nowhere.zip", UnknownAgentError, "there is no run folder or checkpoint"),
        ("empty", UnknownAgentError, "holds no run"),
        ("broken.zip", CorruptDataError, "cannot be read"),
    ):
        with pytest.raises(error, match=words):
            make_agent(f"sb3:{tmp_path / name}", toy)
    with pytest.raises(OptionError, match="give a checkpoint of this game"):
        make_agent(f"sb3:{tmp_path / 'model.zip'}", two_moves)
    with pytest.raises(OptionError, match="append_mask"):
        ask(make_agent(f"sb3:{tmp_path / 'model.zip'}", toy, append_mask=True), played(toy, 0))


@pytest.mark.parametrize("options", [{}, {"build_planes": True}])
@pytest.mark.parametrize("append_mask", [False, True])
def test_a_checkpoint_tells_whether_its_observations_hold_the_mask(
    tmp_path: Path, options: dict[str, Any], append_mask: bool
) -> None:
    """Whatever the options: Urbino's observation with its mask is shorter than that with all blocks."""
    ppo = pytest.importorskip("sb3_contrib").MaskablePPO
    env = tabletop_envs.make_vec("urbino", 2, kind="sb3", append_mask=append_mask, **options)
    model = ppo("MlpPolicy", env, n_steps=4, batch_size=8, device="cpu", policy_kwargs={"net_arch": [4]})
    model.save(tmp_path / "agent.zip")
    agent = make_agent(f"sb3:{tmp_path / 'agent.zip'}", "urbino")
    position = Position.new("urbino", seed=1, **options)
    assert position.action_mask()[agent.choose(View(position))] == 1
