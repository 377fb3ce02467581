"""Toy's greedy baseline: the card that could take most, then as many stones as allowed."""

from __future__ import annotations


from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import POLICY, word
from toy_game.actions import PASS, TAKE
from toy_game.tables import VALUE



@jit
def greedy(s, mask, salt):
    """The legal action that takes, or could take, most stones; among equal ones the salt chooses."""
    best, choice, equal = -1, -1, 0
    for action in range(len(mask)):
        if mask[action] == 0:
            continue
        gain = 0
        if action < PASS:
            gain = min(int(VALUE[action]), int(s.stones))
        elif action > PASS:
            gain = action - TAKE + 1
        if gain > best:
            best, choice, equal = gain, action, 1
        elif gain == best:
            equal += 1
            if word(salt, POLICY, equal) % equal == 0:
                choice = action
    return choice
