"""The speed floor: decisions a second against a loop that does nothing but fill the same buffers."""

from __future__ import annotations

import time
from typing import Any, Final

import numpy as np

from tabletop_envs.core import jit, loops
from tabletop_envs.core.jit import jit_nogil
from tabletop_envs.core.random import POLICY, word
from tabletop_envs.testing.subject import Subject, fail

_GAMES: Final = 32
_SECONDS: Final = 0.05  # each measurement lasts at least so long
_SLOWEST: Final = 200  # times slower than the reference that a game may be


@jit_nogil
def reference(masks: Any, outs: Any, seed: int, steps: int) -> int:
    """Fill a mask and an observation a decision, choose by a hash; returns the sum of the choices."""
    total = 0
    for number in range(steps):
        for i in range(len(masks)):
            choice = (word(seed + i, POLICY, number) * masks.shape[1]) >> 32
            masks[i, :] = 0
            masks[i, choice] = 1
            outs[i, :] = 0.0
            outs[i, choice % outs.shape[1]] = 1.0
            for a in range(masks.shape[1]):
                total += a * masks[i, a]
    return total


def _rate(run: Any) -> float:
    """Decisions a second of `run(steps)`, the best of three."""
    run(1)
    steps, best = 1, 0.0
    for _ in range(3):
        while True:
            start = time.perf_counter()
            run(steps)
            spent = time.perf_counter() - start
            if spent >= _SECONDS:
                break
            steps *= 2
        best = max(best, steps * _GAMES / spent)
    return best


def speed(subject: Subject) -> str:
    """Random play with masks and observations is not grossly slow for what it writes."""
    if not jit.COMPILED:
        return "not measured with the JIT off"
    game, settings = subject.game, subject.grid[0]
    states = np.repeat(game.template(settings), _GAMES)
    masks = np.zeros((_GAMES, game.num_actions(settings)), dtype=np.int8)
    outs = np.zeros((_GAMES, game.observation_size(settings)), dtype=np.float32)
    template, rows = game.template(settings), np.arange(_GAMES)
    loops.deal_batch(game.calls, template, states, rows, rows, masks)
    played = _rate(lambda steps: loops.random_batch(game.calls, template, states, masks, outs, 1, steps))
    filled = _rate(lambda steps: reference(masks, outs, 1, steps))
    told = f"{played:,.0f} decisions a second, 1/{filled / played:.0f} of the reference"
    if played * _SLOWEST < filled:
        fail(settings, f"{told}, less than 1/{_SLOWEST}")
    return told
