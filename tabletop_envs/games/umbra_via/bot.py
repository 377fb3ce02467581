"""stub"""
from tabletop_envs.core.jit import jit


@jit
def greedy(s, mask, salt):
    for action in range(len(mask)):
        if mask[action] > 0:
            return action
    return 0
