"""Times the start of this very process by the wall clock, as JSON. `speed.py` runs it in fresh ones.

python benchmarks/startup.py                  importing tabletop_envs over numpy alone
python benchmarks/startup.py GAME PLAYERS     from importing tabletop_envs to the second last() of a game, over
                                              numpy, numba, gymnasium and pettingzoo
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np


def import_alone() -> dict[str, float]:
    """Seconds of the import."""
    started = time.perf_counter()
    import tabletop_envs  # noqa: F401

    return {"import": time.perf_counter() - started}


def first_step(game: str, num_players: int) -> dict[str, float]:
    """Seconds of the import, and of what follows up to the observation after the first step."""
    import gymnasium  # noqa: F401  # these are paid for before the clock starts
    import numba  # noqa: F401
    import pettingzoo  # noqa: F401

    started = time.perf_counter()
    import tabletop_envs

    imported = time.perf_counter()
    env = tabletop_envs.make(game, num_players)
    env.reset(seed=0)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    env.last()
    return {"import": imported - started, "game": time.perf_counter() - imported}


if __name__ == "__main__":
    print(json.dumps(first_step(sys.argv[1], int(sys.argv[2])) if sys.argv[1:] else import_alone()))
