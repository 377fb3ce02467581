"""The environment's share of training: `tabletop_envs.training` as it is, with a clock around its environment.

Then the same training on an environment that costs nothing, to show what the learner alone does. Importing this
file needs torch and stable-baselines3.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import torch

from tabletop_envs.bench import DECISIONS, Figure, Stopwatch
from tabletop_envs.core.game import Game
from tabletop_envs.core.spec import Settings
from tabletop_envs.envs.sb3 import SelfPlayVecEnv
from tabletop_envs.training.run import Progress, RunConfig, TrainingRun

SECONDS = 20.0  # of CPU time at least, for each of the two trainings
LIMIT = 60.0  # minutes that a training may take; never reached
CALLED = ("reset", "step_async", "step_wait", "env_method")
"""What Stable-Baselines3 calls; none of them calls another one."""

Method = Callable[..., Any]


class Moment(NamedTuple):
    """Where a training stands: CPU seconds, the learner's decisions, CPU seconds inside the environment."""

    seconds: float
    steps: int
    inside: float


def timed(watch: Stopwatch, method: Method) -> Method:
    """The method, on the clock."""

    def call(*arguments: Any, **keywords: Any) -> Any:
        with watch:
            return method(*arguments, **keywords)

    return call


def kept(method: Method) -> Method:
    """What the method returned the first time, for nothing."""
    results: list[Any] = []

    def call(*arguments: Any, **keywords: Any) -> Any:
        if not results:
            results.append(method(*arguments, **keywords))
        return results[0]

    return call


class Enough(Exception):
    """Ends a training that has been measured long enough."""


def train(config: RunConfig, wrapped: dict[str, Any], watch: Stopwatch) -> Moment:
    """Train with methods of the environment replaced; tells what went by from the first rollout to the last."""
    moments: list[Moment] = []

    def note(progress: Progress) -> None:
        moments.append(Moment(time.process_time(), progress.steps, watch.seconds))
        if moments[-1].seconds - moments[0].seconds > SECONDS:
            raise Enough

    with (
        suppress(Enough),
        tempfile.TemporaryDirectory(prefix="tabletop_envs_ppo_") as folder,
        mock.patch.multiple(SelfPlayVecEnv, **wrapped),
    ):
        TrainingRun(Path(folder) / "run", config).train(note)
    first, last = moments[0], moments[-1]
    return Moment(last.seconds - first.seconds, last.steps - first.steps, last.inside - first.inside)


def train_figures(game: Game, settings: Settings, seconds: float) -> list[Figure]:
    """PPO by the defaults of `tabletop-envs train`, without imitation before it, on one thread; all opponents are
    compiled random ones."""
    torch.set_num_threads(1)
    game_facts = (game.spec.env_id, settings.num_players, settings.changed())
    config = RunConfig(*game_facts, minutes=LIMIT, pool={"random": 1.0}, imitation=0.0)
    methods: dict[str, Method] = {name: getattr(SelfPlayVecEnv, name) for name in CALLED}
    watch = Stopwatch()
    real = train(config, {name: timed(watch, method) for name, method in methods.items()}, watch)
    free = train(config, {name: kept(method) for name, method in methods.items()}, Stopwatch())
    how = f"{config.num_envs} games, rollouts of {config.rollout}, random opponents, whole rollouts and updates"
    inside = "step_async, step_wait, action masks"
    return [
        Figure("PPO training, learner's", real.steps / real.seconds, DECISIONS, note=how),
        Figure(
            "PPO training on a free environment, learner's",
            free.steps / free.seconds,
            DECISIONS,
            note="the same sizes and settings; every call returns what it returned first",
        ),
        Figure("environment's share of PPO training", 100 * real.inside / real.seconds, "%", note=inside),
        Figure("environment in PPO training, learner's", 1e6 * real.inside / real.steps, "µs/decision", note=inside),
    ]
