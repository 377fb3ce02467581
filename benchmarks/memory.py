"""The resident memory of this very process before and with many games, as JSON. `speed.py` runs it in a fresh one.

python benchmarks/memory.py GAME PLAYERS NUMBER_OF_GAMES
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import gymnasium  # noqa: F401  # the bare process has imported what the games will need
import numba  # noqa: F401
import numpy  # noqa: F401
import pettingzoo  # noqa: F401

from tabletop_envs.envs.vector import TabletopVector

_KIBIBYTE = 1024


def resident() -> int:
    """Bytes now; where the system tells only the peak, the peak."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) * _KIBIBYTE
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * _KIBIBYTE


def with_games(game: str, num_players: int, count: int) -> tuple[TabletopVector, int]:
    """A vector that has been dealt and stepped once (so that all its memory is in use), and the bytes then."""
    env = TabletopVector(game, count, num_players)
    env.step(env.reset(seed=0).action_masks.argmax(axis=1))
    return env, resident()


def main(game: str, num_players: int, count: int) -> dict[str, int]:
    """Bytes of the bare process, of one with one game, and of one with `count`."""
    bare = resident()
    _one, with_one = with_games(game, num_players, 1)
    _many, with_many = with_games(game, num_players, count)
    return {"bare": bare, "one": with_one, "many": with_many}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
