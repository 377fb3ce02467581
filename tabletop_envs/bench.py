"""How fast a game is on this machine: decisions per second under random legal play, medians over repeats."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tabletop_envs.core import loops
from tabletop_envs.core.game import Game
from tabletop_envs.core.random import derive_key
from tabletop_envs.core.spec import Settings

BATCHES: Final = (1, 64, 1024)
REPEATS: Final = 5


def rate(work: Callable[[], int], seconds: float, repeats: int = REPEATS) -> float:
    """The median over `repeats` of units per second; `work` does some units and returns their number."""
    work()
    rates = []
    for _ in range(repeats):
        done, started = 0, time.perf_counter()
        while (spent := time.perf_counter() - started) < seconds / repeats:
            done += work()
        rates.append(done / spent)
    return statistics.median(rates)


def batch_rate(game: Game, settings: Settings, size: int, observed: bool, seconds: float) -> tuple[float, float]:
    """Decisions per second, and decisions per game, of a batch of `size` games on one core."""
    template = game.template(settings)
    states = np.repeat(template, size)
    masks = np.zeros((size, game.num_actions), dtype=np.int8)
    outs = np.zeros((size if observed else 0, game.observation_size(settings)), dtype=np.float32)
    keys = np.array([derive_key(size, loops.EPISODE, row) for row in range(size)])
    loops.deal_batch(game.calls, template, states, np.arange(size), keys, masks)
    steps = max(1, 20_000 // size)
    total = [0, 0]

    def work() -> int:
        decisions, games = loops.random_batch(game.calls, template, states, masks, outs, total[0], steps)
        total[0] += decisions
        total[1] += games
        return int(decisions)

    return rate(work, seconds), total[0] / max(1, total[1])


def single_rate(game: Game, settings: Settings, seconds: float) -> float:
    """Decisions per second of one game stepped from Python through `loops.step`, sampling included."""
    template = game.template(settings)
    states = template.copy()
    mask = np.zeros(game.num_actions, dtype=np.int8)
    rng = np.random.default_rng(0)
    calls, step, flatnonzero, random = game.calls, loops.step, np.flatnonzero, rng.random

    def work() -> int:
        states[0] = template[0]
        states["key"][0] = int(random() * 2**53)
        count, made = loops.start(calls, states, 0, mask), 0
        while count:
            count = step(calls, states, 0, flatnonzero(mask)[int(random() * count)], mask)
            made += 1
        return made

    return rate(work, seconds)


def aec_rate(env: Any, seconds: float) -> float:
    """Decisions per second of a PettingZoo environment as handed out, sampling from the mask included."""
    rng = np.random.default_rng(0)
    flatnonzero, random = np.flatnonzero, rng.random

    def work() -> int:
        env.reset(seed=int(random() * 2**31))
        made = 0
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = flatnonzero(observation["action_mask"])
            env.step(int(legal[int(random() * len(legal))]))
            made += 1
        return made

    return rate(work, seconds)


def measure(game: Game, settings: Settings, seconds: float = 1.0) -> dict[str, float]:
    """Figures by name; the batch, single and AEC rates on one core, and sizes in bytes and numbers."""
    from tabletop_envs.envs.aec import TabletopAEC

    figures: dict[str, float] = {}
    for observed in (False, True):
        for size in BATCHES:
            found, length = batch_rate(game, settings, size, observed, seconds)
            what = "rules + mask + observation" if observed else "rules + mask"
            figures[f"{what}, batch {size}: decisions/s"] = found
            if not observed and size == BATCHES[-1]:
                figures["ns per decision"] = 1e9 / found
                figures["whole games/s"] = found / length
                figures["decisions per game"] = length
    figures["one game through loops from Python: decisions/s"] = single_rate(game, settings, seconds)
    env = TabletopAEC(game, settings.num_players, **settings.values)
    figures["AEC as handed out: decisions/s"] = aec_rate(env, seconds)
    figures["record bytes"] = game.dtype.itemsize
    figures["actions"] = game.num_actions
    figures["observation size"] = game.observation_size(settings)
    return figures
