"""Urbino by a linear value of positions: of what can be done, that which leads where the own side looks best.

The value is a sum of whole numbers, so it is the same on every machine. What computes in floating point has to see to
that itself: see "Choices that can be repeated" in the README beside.
"""

import numpy as np

SCALE = 100  # an observation, in [0, 1], is taken in hundredths


class Linear:
    """An agent: `choose(view)` is all that it needs."""

    name = "linear"

    def __init__(self, weights):
        self.weights = weights.astype(np.int64)  # one for each number of the observation

    def choose(self, view):
        """A legal action of the seat to act."""
        copy = view.determinized(0)  # what the seat cannot know is dealt anew: nothing, in this game
        best, choice = None, None
        for action in view.legal_actions().tolist():
            after = copy.clone()
            after.apply(action)
            seen = np.rint(after.observe(view.seat) * SCALE).astype(np.int64)
            value = int(seen @ self.weights)
            if best is None or value > best:
                best, choice = value, action
        return choice


def make(game, folder, seed):
    """The agent for a game: the arena calls this, and then `choose` alone."""
    return Linear(np.load(folder / "weights.npy", allow_pickle=False))
