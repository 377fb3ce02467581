"""Evaluate a trained run in mirrored games: win share, 95 % interval, mean place, mean margin.

python examples/evaluate.py runs/urbino-2p
python examples/evaluate.py runs/urbino-2p --against runs/another --games 1000
"""

import argparse
from pathlib import Path

from tabletop_envs.agents.base import BUILT_IN
from tabletop_envs.training.evaluation import evaluate
from tabletop_envs.training.run import TrainingRun, load_policy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--against", nargs="*", default=list(BUILT_IN), help="random, greedy or run folders")
    parser.add_argument("--games", type=int, default=400)
    arguments = parser.parse_args()

    run = TrainingRun(arguments.folder)
    agent = run.policy()
    for name in arguments.against:
        opponent = name if name in BUILT_IN else load_policy(Path(name))
        result = evaluate(run.game, run.settings, agent, opponent, arguments.games)
        print(
            f"{result.policy} against {result.opponent}: {result.win_share:.1%} of {result.games} games "
            f"({result.low:.1%} to {result.high:.1%}), place {result.mean_place:.2f}, margin {result.mean_margin:+.1f}"
        )


if __name__ == "__main__":
    main()
