"""Exported policies: the compiled network is torch's, plays without torch, and a damaged file is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

import torch

from tabletop_envs import registry
from tabletop_envs.agents import make_agent, ppo
from tabletop_envs.agents.base import View, ask
from tabletop_envs.agents.ppo import SUFFIX, CompiledPolicy, load
from tabletop_envs.arena.replay import sample
from tabletop_envs.arena.table import Table
from tabletop_envs.core.forward import Network
from tabletop_envs.core.game import Game
from tabletop_envs.core.position import Position
from tabletop_envs.envs.sb3 import SelfPlayVecEnv
from tabletop_envs.envs.solo import TabletopSolo
from tabletop_envs.errors import CorruptDataError, OptionError, UnknownAgentError
from tabletop_envs.testing.subject import RANDOM, walk
from tabletop_envs.training.evaluation import evaluate
from tabletop_envs.training.export import export
from tabletop_envs.training.network import LayoutPolicy, NetworkShape
from tabletop_envs.training.run import RunConfig, TrainingRun
from tabletop_envs.watch import film_of_agents

OURS = list(registry.games())
BOARD = "umbra_via"  # planes in, planes out; links and entities
TOLERANCE = 1e-4
POSITIONS = 24
LARGEST = 2_500_000  # bytes of a shipped policy


def network_for(game: Game, players: int, append_mask: bool, depth: int, seed: int) -> LayoutPolicy:
    """A network with weights as a file holds them, and no bias 0."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    settings = game.settings(players)
    shape = NetworkShape.of(game.observations, game.actions, settings.values, append_mask)
    size = game.observation_size(settings) + append_mask * game.num_actions(settings)
    space = gymnasium.spaces.Box(0.0, 1.0, (size,), np.float32)
    kwargs = {"shape": shape, "channels": 5, "depth": depth, "width": 12}
    network = LayoutPolicy(space, game.actions.space(settings.values), lambda _: 1e-3, features_extractor_kwargs=kwargs)
    with torch.no_grad():
        for weights in network.parameters():
            weights.copy_((weights + 0.1 * torch.randn_like(weights)).half().float())
    rng = np.random.default_rng(seed)
    network.features_extractor.set_scale(rng.random((2, size)) * rng.choice([0.1, 1.0], size))
    return network


def written(
    game: Game, path: Path, players: int = 2, append_mask: bool = True, depth: int = 2, seed: int = 0
) -> LayoutPolicy:
    """Export such a network as if a run had trained it."""
    network = network_for(game, players, append_mask, depth, seed)
    run: Any = SimpleNamespace(
        game=game,
        settings=game.settings(players),
        folder=path.parent,
        config=RunConfig(game.spec.id, players, append_mask=append_mask, depth=depth),
        state={"steps": 10, "seconds": 1.5},
        policy=lambda: SimpleNamespace(policy=network),
    )
    export(run, path)
    return network


def asked(game: Game, players: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of positions of a random game."""
    met = [p.clone() for p in walk(game, game.settings(players), 5, RANDOM) if not p.over]
    met = [met[number * len(met) // POSITIONS] for number in range(POSITIONS)]
    return np.stack([p.observe(p.seat or 0) for p in met]), np.stack([p.action_mask() for p in met])


@pytest.mark.parametrize(("append_mask", "depth"), [(True, 2), (False, 0)])
@pytest.mark.parametrize("name", ["toy", *OURS])
def test_it_is_the_network_that_was_trained(
    toy: Game, tmp_path: Path, name: str, append_mask: bool, depth: int
) -> None:
    game = registry.load(name)
    path = tmp_path / f"it{SUFFIX}"
    network = written(game, path, append_mask=append_mask, depth=depth)
    policy = CompiledPolicy(game, path, "it")
    observations, masks = asked(game)
    inputs = np.concatenate([observations, masks], axis=1, dtype=np.float32) if append_mask else observations
    with torch.no_grad():
        told = network.action_net(network.extract_features(torch.as_tensor(inputs))).numpy()
    found = policy.logits(observations, masks)
    assert abs(told).max() > 0.1
    assert abs(told - found).max() < TOLERANCE
    # the same bits alone and in any batch
    alone = np.concatenate([policy.logits(observations[i : i + 1], masks[i : i + 1]) for i in range(POSITIONS)])
    assert alone.tobytes() == found.tobytes()
    assert policy.logits(observations[::-1], masks[::-1])[::-1].tobytes() == found.tobytes()
    actions = policy.act(observations, masks)
    assert actions.tolist() == np.where(masks, found, -np.inf).argmax(axis=1).tolist()


def test_it_plays_whole_games(toy: Game, tmp_path: Path) -> None:
    path = tmp_path / f"it{SUFFIX}"
    written(toy, path, players=3)
    agent = make_agent(f"ppo:{path}", toy, seed=3)
    for players in (2, 3):
        position = Position.new(toy, players, seed=1)
        while not position.over:
            position.apply(ask(agent, position))
    with pytest.raises(OptionError, match="play with the options of its training"):
        agent.choose(View(Position.new(toy, 3, memory=True)))


def test_a_trained_run_is_exported(toy: Game, tmp_path: Path) -> None:
    config = RunConfig("toy", 2, minutes=0.002, num_envs=8, rollout=8, batch_size=32, epochs=1, channels=2, width=8)
    run = TrainingRun(tmp_path / "run", config)
    assert run.train()
    path = tmp_path / "deep" / f"toy{SUFFIX}"
    export(run, path)
    about, network = load(path)
    assert about == {
        "format": ppo.FORMAT,
        "game": "tabletop/toy-v0",
        "layouts": ppo.layouts(toy),
        "num_players": 2,
        "options": {},
        "append_mask": True,
        "steps": run.state["steps"],
        "seconds": run.state["seconds"],
        "seed": 0,
    }
    assert len(network.flat_bias) == 8


def test_it_needs_no_torch(toy: Game, tmp_path: Path, python: Callable[..., Any]) -> None:
    game, path = registry.load(BOARD), tmp_path / f"it{SUFFIX}"
    written(game, path)
    code = f"""
import sys
sys.modules["torch"] = None
from tabletop_envs import make_agent
from tabletop_envs.agents.base import ask
from tabletop_envs.core.position import Position
position = Position.new({BOARD!r}, seed=1)
print(position.action_text(ask(make_agent({f"ppo:{path}"!r}, {BOARD!r}), position)))
"""
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


# --- shipped policies -------------------------------------------------------------------------------------------


def test_shipped_policies_are_chosen_by_the_number_of_players(
    toy: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ppo, "_FOLDER", tmp_path)
    with pytest.raises(UnknownAgentError, match="no PPO policy is shipped for toy"):
        make_agent("ppo", toy)
    networks = {}
    for players in (2, 4):
        networks[players] = written(toy, tmp_path / f"toy_v0-{players}p{SUFFIX}", players, seed=players)
    agent = make_agent("ppo", toy)
    assert agent.name == "ppo"
    for players in (2, 4):
        position = Position.new(toy, players, seed=2)
        inputs = np.concatenate([position.observe(position.seat or 0), position.action_mask()]).astype(np.float32)
        network = networks[players]
        with torch.no_grad():
            told = network.action_net(network.extract_features(torch.as_tensor(inputs[None])))[0].numpy()
        assert agent.choose(View(position)) == np.where(position.action_mask(), told, -np.inf).argmax()
    words = "play with 2 or 4 players, not 3: choose such a number, or train one"
    with pytest.raises(OptionError, match=words):
        agent.choose(View(Position.new(toy, 3)))
    for seated in TABLES:
        with pytest.raises(OptionError, match=words):
            seated(toy, "ppo", 3)
        seated(toy, "ppo", 4)


TABLES: list[Callable[..., Any]] = [
    lambda game, name, players, **options: Table(Position.new(game, players, **options), [name] * players),
    lambda game, name, players, **options: sample(game, game.settings(players, **options), [name] * players, 1),
    lambda game, name, players, **options: film_of_agents(game, game.settings(players, **options), [name] * players),
    lambda game, name, players, **options: TabletopSolo(game, players, opponents=name, **options),
    lambda game, name, players, **options: SelfPlayVecEnv(game, 2, players, opponents=name, **options),
]
"""Wherever agents of a name are seated: each refuses at once an agent that does not play such a game."""


def test_options_of_another_size_are_refused_before_the_game(toy: Game, tmp_path: Path) -> None:
    path = tmp_path / f"it{SUFFIX}"
    written(toy, path)
    for seated in TABLES:
        with pytest.raises(OptionError, match="play with the options of its training"):
            seated(toy, f"ppo:{path}", 2, memory=True)
        seated(toy, f"ppo:{path}", 3)


@pytest.mark.parametrize("name", OURS)
def test_a_policy_is_shipped_for_every_game(name: str) -> None:
    """Small, for the layouts as they are, and better than chance."""
    game = registry.load(name)
    files = ppo.shipped(game)
    assert game.spec.min_players in files
    for players, path in files.items():
        assert path.stat().st_size <= LARGEST
        policy = CompiledPolicy(game, path, "ppo")
        assert policy.num_players == players
        assert evaluate(game, game.settings(players), policy, "random", 60 * players, seed=1).low > 1 / players


# --- what is no policy ------------------------------------------------------------------------------------------


def test_another_games_policy_is_refused(toy: Game, two_moves: Game, tmp_path: Path) -> None:
    path = tmp_path / f"it{SUFFIX}"
    written(toy, path)
    with pytest.raises(OptionError, match="is a policy for tabletop/toy-v0"):
        make_agent(f"ppo:{path}", two_moves)
    with pytest.raises(UnknownAgentError, match="there is no exported policy"):
        make_agent(f"ppo:{tmp_path / 'nothing'}", toy)


def changed(path: Path, **arrays: Any) -> Path:
    """The file with other arrays; None leaves one out."""
    with np.load(path) as archive:
        parts = {**{name: archive[name] for name in archive.files}, **arrays}
    np.savez(path, **{name: array for name, array in parts.items() if array is not None})
    return path


@pytest.mark.parametrize("part", [*Network._fields, "about"])
def test_a_file_without_a_part_is_refused(toy: Game, tmp_path: Path, part: str) -> None:
    path = tmp_path / f"it{SUFFIX}"
    written(toy, path)
    with pytest.raises(CorruptDataError, match="is no exported policy"):
        load(changed(path, **{part: None}))


@pytest.mark.parametrize("part", Network._fields)
def test_a_part_of_another_shape_is_refused(tmp_path: Path, part: str) -> None:
    game, path = registry.load(BOARD), tmp_path / f"it{SUFFIX}"
    written(game, path)
    array = getattr(load(path)[1], part)
    longer = np.concatenate([array, np.zeros((1, *array.shape[1:]), dtype=array.dtype)])
    with pytest.raises(CorruptDataError, match="is no exported policy"):
        load(changed(path, **{part: longer}))


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ("no json", "JSONDecodeError"),
        (json.dumps({"format": ppo.FORMAT}), "game"),
        (json.dumps({"format": 1, "game": "", "layouts": "", "num_players": 2, "append_mask": True}), "format is 1"),
        (
            json.dumps({"format": ppo.FORMAT, "game": "", "layouts": "", "num_players": "2", "append_mask": True}),
            "num_players",
        ),
    ],
)
def test_a_file_that_does_not_tell_what_it_is(toy: Game, tmp_path: Path, about: str, words: str) -> None:
    path = tmp_path / f"it{SUFFIX}"
    written(toy, path)
    with pytest.raises(CorruptDataError, match=words):
        load(changed(path, about=np.array(about)))


def test_wrong_numbers_are_refused(tmp_path: Path) -> None:
    game, path = registry.load(BOARD), tmp_path / f"it{SUFFIX}"
    written(game, path)
    network = load(path)[1]
    outputs, inputs, weights = network.outputs.copy(), network.inputs.copy(), network.mix_weight.copy()
    outputs[0] = outputs[1]
    inputs[0] = (0, 10**6)
    weights[0, 0] = np.nan
    for arrays in ({"outputs": outputs}, {"inputs": inputs}, {"mix_weight": weights}):
        fresh = tmp_path / f"other{SUFFIX}"
        fresh.write_bytes(path.read_bytes())
        with pytest.raises(CorruptDataError):
            load(changed(fresh, **arrays))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(CorruptDataError, match="export it anew"):
        load(path)
