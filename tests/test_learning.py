"""A little training by the shared defaults makes an agent stronger, in every game."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

import torch

from tabletop_envs import registry
from tabletop_envs.agents.base import BUILT_IN, GREEDY, RANDOM, Opponent
from tabletop_envs.training import run as training
from tabletop_envs.training.evaluation import Evaluation, evaluate
from tabletop_envs.training.run import Progress, RunConfig, TrainingRun

OURS = [name for name, spec in registry.games().items() if spec.package.startswith("tabletop_envs.")]
GAMES = 400
RATE = {"umbra_via": 5000, "urbino": 4000}  # decisions a second of the clock; about what one core does
USUAL_RATE = 2000
MORE = {"random": 0.1, "greedy": 0.03}  # win share; in Umbra Via a minute shows against greedy, who is met most
LESS_BEHIND = 0.3  # of the game's score scale, in the margin against greedy


class Clock:
    """Time that goes on with the learner's decisions, so that a busy machine gets no less training done."""

    def __init__(self, rate: int) -> None:
        self.rate, self.steps = rate, 0

    def monotonic(self) -> float:
        """Seconds."""
        return self.steps / self.rate

    def go_on(self, progress: Progress) -> None:
        """Called after each rollout."""
        self.steps = progress.steps


def results(run: TrainingRun, policy: Opponent) -> dict[str, Evaluation]:
    """Against the baselines."""
    return {opponent: evaluate(run.game, run.settings, policy, opponent, GAMES) for opponent in BUILT_IN}


@pytest.mark.parametrize("name", OURS)
def test_a_minute_of_training_makes_stronger(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Than random play: it wins more, and it loses to greedy by less."""
    torch.set_num_threads(1)
    clock = Clock(RATE.get(name, USUAL_RATE))
    monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=clock.monotonic))
    run = TrainingRun(tmp_path / "run", RunConfig(name, registry.spec(name).min_players, minutes=1.0))
    assert run.train(clock.go_on)
    before, after = results(run, RANDOM), results(run, run.policy())
    assert any(after[who].win_share > before[who].win_share + more for who, more in MORE.items()), (before, after)
    gained = after[GREEDY].mean_margin - before[GREEDY].mean_margin
    assert gained > LESS_BEHIND * run.game.spec.score_scale
