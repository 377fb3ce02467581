"""stub"""

from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import word


@jit
def greedy(s, mask, salt):
    n = 0
    for a in range(len(mask)):
        n += mask[a]
    k = (word(salt, 1200, int(s.decisions)) * n) >> 32
    for a in range(len(mask)):
        if mask[a] > 0:
            if k == 0:
                return a
            k -= 1
    return 0
