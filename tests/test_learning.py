"""A minute of training by the shared defaults makes an agent stronger, in every game."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

import torch

from tabletop_envs import registry
from tabletop_envs.agents.base import BUILT_IN, RANDOM, Opponent
from tabletop_envs.training.evaluation import evaluate
from tabletop_envs.training.run import RunConfig, TrainingRun

OURS = [name for name, spec in registry.games().items() if spec.package.startswith("tabletop_envs.")]
GAMES = 400


def shares(run: TrainingRun, policy: Opponent) -> float:
    """Win shares against all baselines, summed."""
    return sum(evaluate(run.game, run.settings, policy, opponent, GAMES).win_share for opponent in BUILT_IN)


@pytest.mark.parametrize("name", OURS)
def test_a_minute_of_training_makes_stronger(name: str, tmp_path: Path) -> None:
    torch.set_num_threads(1)
    run = TrainingRun(tmp_path / "run", RunConfig(name, registry.spec(name).min_players, minutes=1.0))
    assert run.train()
    assert shares(run, run.policy()) > shares(run, RANDOM) + 0.15
