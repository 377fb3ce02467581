"""Arrays in compiled code, where numpy's own way takes long to compile."""

from __future__ import annotations

import numpy as np

from tabletop_envs.core.jit import jit


@jit
def overwrite(target: np.ndarray, source: np.ndarray) -> None:
    """Copy a vector into another, or into the beginning of a longer one.

    `target[:] = source` compiles also how shapes are stretched and the texts of all that can fail there: seconds.
    """
    for index in range(len(source)):
        target[index] = source[index]
