"""Toy's greedy baseline: a card that could take two stones, then as many stones as allowed."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import POLICY, word
from toy_game.actions import LEAVE, PASS, TAKE
from toy_game.tables import VALUE

ENOUGH: Final = 2  # stones; better cards are as good


@jit
def greedy(s, mask, salt):
    """The legal action that takes, or could take, most stones (two at most); among equal ones the salt chooses."""
    best, choice, equal = -1, -1, 0
    for action in range(len(mask)):
        if mask[action] == 0:
            continue
        gain = 0
        if action < PASS:
            gain = min(int(VALUE[action]), int(s.stones), ENOUGH)
        elif PASS < action < LEAVE:
            gain = action - TAKE + 1
        if gain > best:
            best, choice, equal = gain, action, 1
        elif gain == best:
            equal += 1
            if word(salt, POLICY, equal) % equal == 0:
                choice = action
    return choice
