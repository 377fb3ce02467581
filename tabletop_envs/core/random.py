"""Random numbers that live inside the record: counter-based, so a record is its own complete future.

A draw is Threefry-2x32 (Salmon et al., 2011; 13 rounds) of the key and the pair (kind of event, running count of
that kind). Nothing is global: clones draw the same numbers, and events of one kind never shift those of another.
Words are 32 bits held in int64, so that the JIT and plain Python agree to the bit.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tabletop_envs.core.jit import jit

_WORD: Final = 0xFFFFFFFF
_PARITY: Final = 0x1BD11BDA
ROUNDS: Final = 13
_ROTATIONS: Final = np.array([13, 15, 26, 6, 17, 29, 16, 24], dtype=np.int64)
_ROTATIONS.flags.writeable = False

# Kinds at and above the range of a record's own counters: streams of the machinery and of agents.
REKEY: Final = 1000
POLICY: Final = 1001
EPISODE: Final = 1002
OPPONENTS: Final = 1003
SEARCH: Final = 1004
TIES: Final = 1100

SALT_LIMIT: Final = 2**31  # salts of `determinize` are below


@jit
def threefry(key_low: int, key_high: int, counter_low: int, counter_high: int, rounds: int) -> tuple[int, int]:
    """Threefry-2x32: two 32-bit words from a 64-bit key and a 64-bit counter."""
    keys = (key_low, key_high, _PARITY ^ key_low ^ key_high)
    x = (counter_low + key_low) & _WORD
    y = (counter_high + key_high) & _WORD
    for number in range(rounds):
        turn = int(_ROTATIONS[number & 7])
        x = (x + y) & _WORD
        y = ((y << turn) & _WORD) | (y >> (32 - turn))
        y ^= x
        if number & 3 == 3:
            group = (number >> 2) + 1
            x = (x + keys[group % 3]) & _WORD
            y = (y + keys[(group + 1) % 3] + group) & _WORD
    return x, y


@jit
def word(key: int, kind: int, count: int) -> int:
    """A 32-bit word, uniform over keys, kinds and counts (all non-negative)."""
    low, _ = threefry(key & _WORD, key >> 32, count & _WORD, kind, ROUNDS)
    return low


@jit
def derive_key(key: int, kind: int, count: int) -> int:
    """A new key below 2^53 out of a key."""
    low, high = threefry(key & _WORD, key >> 32, count & _WORD, kind, ROUNDS)
    return ((high & 0x1FFFFF) << 32) | low  # 21 + 32 bits: KEY_LIMIT is 2^53


@jit
def below(s: Any, kind: int, limit: int) -> int:
    """A number from 0 to limit - 1 (limit up to 2^31): the next draw of `kind`.

    By multiplication; the bias is below limit / 2^32.
    """
    count = int(s.draws[kind])
    s.draws[kind] = count + 1
    return (word(int(s.key), kind, count) * limit) >> 32


@jit
def shuffle(s: Any, kind: int, items: np.ndarray, size: int) -> None:
    """Shuffle the first `size` items of a vector in place (Fisher and Yates)."""
    for last in range(size - 1, 0, -1):
        other = below(s, kind, last + 1)
        kept = items[last]
        items[last] = items[other]
        items[other] = kept


@jit
def draw(s: Any, kind: int, counts: np.ndarray) -> int:
    """Draw one item from a multiset given as counts per kind of item, without replacement; -1 from an empty one."""
    total = 0
    for item in range(len(counts)):
        total += int(counts[item])
    if total == 0:
        return -1
    rest = below(s, kind, total)
    for item in range(len(counts)):
        rest -= int(counts[item])
        if rest < 0:
            counts[item] -= 1
            return item
    return -1


@jit
def rekey(s: Any, salt: int) -> None:
    """Give the record a future of its own: a new key out of the old one and the salt."""
    s.key = derive_key(int(s.key), REKEY, salt)


@jit
def weigh(
    s: Any, salt: int, leader: tuple[int, int, int], worth: int, action: int, num_actions: int, kind: int = TIES
) -> tuple[int, int, int]:
    """The leader (worth, action or -1, how many are equal) with one action more to choose from, for baselines.

    Of equal ones each is as likely. num_actions: above every action; kind: the stream of words that breaks ties.
    """
    best, choice, ties = leader
    if choice < 0 or worth > best:
        return worth, action, 1
    if worth == best:
        # the last of so many equals is taken with a chance of 1 in so many
        ties += 1
        if (word(salt, kind, int(s.decisions) * num_actions + action) * ties) >> 32 == 0:
            choice = action
    return best, choice, ties
