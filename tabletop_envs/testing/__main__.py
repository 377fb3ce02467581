"""`python -m tabletop_envs.testing write-golden FOLDER [GAME …]` renews golden files (of every registered game).

`python -m tabletop_envs.testing digest PACKAGE` prints what the check of JIT modes compares.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from tabletop_envs import registry
from tabletop_envs.core.game import Game
from tabletop_envs.testing import golden, processes


def main(arguments: list[str]) -> int:
    """Run a command; returns the exit status."""
    if len(arguments) == 2 and arguments[0] == "digest":
        spec = import_module(arguments[1]).GAME
        registry.add(spec)
        print("\n".join(processes.mode_digests(Game(spec))))
        return 0
    if len(arguments) >= 2 and arguments[0] == "write-golden":
        for name in arguments[2:] or registry.games():
            for path in golden.write(registry.load(name), Path(arguments[1])):
                print(path)
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
