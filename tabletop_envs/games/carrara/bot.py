"""The greedy baseline."""

from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import POLICY, word


@jit
def greedy(s, mask, salt):
    """stub"""
    n = 0
    choice = -1
    for a in range(len(mask)):
        if mask[a]:
            n += 1
            if word(salt, POLICY, n) % n == 0:
                choice = a
    return choice
