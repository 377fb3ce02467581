"""Finds the weights of the linear value: by least squares, the margin with which games ended from where they stood.

    python train.py

The games are those of the greedy baseline, which makes some random moves, from few to all, so that bad positions come
up too. Takes a minute; writes `linear/weights.npy`, and digests and sizes into `linear/agent.json`.
"""

import argparse
import hashlib
import json
import time
from pathlib import Path

import numpy as np

from tabletop_envs.core.position import Position

GAME = "urbino"
RANDOM_SHARES = (0.1, 0.3, 0.6, 1.0)
LARGEST = 10_000  # of a weight; it has to fit an int16
RIDGE = 10.0


def played(games: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Observations of both sides after every decision, the margins to which they led, and the number of decisions."""
    rng = np.random.default_rng(0)
    observations, margins, decisions = [], [], 0
    for seed in range(games):
        position = Position.new(GAME, 2, seed=seed)
        opening = position.game.spec.opening_decisions
        seen = []
        while position.seat is not None:
            drawn = position.decisions < opening or rng.random() < RANDOM_SHARES[seed % len(RANDOM_SHARES)]
            position.apply(int(rng.choice(position.legal_actions())) if drawn else position.greedy_action(seed))
            seen += [position.observe(0), position.observe(1)]
        own, other = position.points()
        observations += seen
        margins += [own - other, other - own] * (len(seen) // 2)
        decisions += position.decisions
    return np.array(observations), np.array(margins, dtype=float), decisions


def fit(observations: np.ndarray, margins: np.ndarray) -> np.ndarray:
    """Whole weights, one for each number of an observation."""
    inputs = np.concatenate([np.ones((len(observations), 1)), observations], axis=1)
    weights = np.linalg.solve(inputs.T @ inputs + RIDGE * np.eye(inputs.shape[1]), inputs.T @ margins)[1:]
    return np.rint(weights * LARGEST / np.abs(weights).max()).astype(np.int16)


def digest(path: Path) -> str:
    """What `sha256sum` prints."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=600)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "linear")
    arguments = parser.parse_args()

    start = time.perf_counter()
    observations, margins, decisions = played(arguments.games)
    weights = arguments.folder / "weights.npy"
    np.save(weights, fit(observations, margins))

    path = arguments.folder / "agent.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["code_sha256"] = digest(arguments.folder / manifest["entry"]["file"])
    manifest["weights"] = {"file": weights.name, "sha256": digest(weights), "bytes": weights.stat().st_size}
    manifest["training"]["decisions"] = decisions
    manifest["training"]["hours"] = round((time.perf_counter() - start) / 3600, 3)
    path.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    print(f"{decisions:,} decisions of {arguments.games:,} games; {weights}: {weights.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
