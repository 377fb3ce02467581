"""Random numbers: known answers, independence of kinds, clones, uniformity. Also in plain Python (`nojit`)."""

from __future__ import annotations

import numpy as np
import pytest
from two_moves.state import DTYPE

from tabletop_envs.core import jit
from tabletop_envs.core.header import DRAW_KINDS, KEY_LIMIT
from tabletop_envs.core.random import below, derive_key, draw, rekey, shuffle, threefry, weigh, word

pytestmark = pytest.mark.nojit

ONES = 0xFFFFFFFF
# (key low, key high, counter low, counter high), rounds -> words: the known answers of the Random123 library
KNOWN = [
    ((0, 0, 0, 0), 20, (0x6B200159, 0x99BA4EFE)),
    ((ONES, ONES, ONES, ONES), 20, (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344, 0x243F6A88, 0x85A308D3), 20, (0xC4923A9C, 0x483DF7A0)),
    ((0, 0, 0, 0), 13, (0x9D1C5EC6, 0x8BD50731)),
    ((ONES, ONES, ONES, ONES), 13, (0xFD36D048, 0x2D17272C)),
    ((0x13198A2E, 0x03707344, 0x243F6A88, 0x85A308D3), 13, (0xBA3E4725, 0xF27D669E)),
]
DRAWS = 20_000 if jit.COMPILED else 4_000
# chi-square beyond which a fair draw falls once in a million, by degrees of freedom
LIMITS = {5: 35.9, 6: 38.3, 23: 72.7}


def records(key: int = 1) -> np.ndarray:
    """A record of some game; its header alone matters."""
    states = np.zeros(1, dtype=DTYPE)
    states["key"] = key
    return states


def chi_square(counts: np.ndarray) -> float:
    expected = counts.sum() / len(counts)
    return float(((counts - expected) ** 2 / expected).sum())


@pytest.mark.parametrize(("arguments", "rounds", "words"), KNOWN)
def test_threefry_gives_the_known_answers(
    arguments: tuple[int, int, int, int], rounds: int, words: tuple[int, int]
) -> None:
    assert tuple(map(int, threefry(*arguments, rounds))) == words


def test_words_use_every_bit_of_key_and_counter() -> None:
    assert int(word(0, 0, 0)) == KNOWN[3][2][0]
    near = [word(2**52, 0, 0), word(0, 1, 0), word(0, 0, 1), word(1, 0, 0), word(2**32, 0, 0)]
    assert len({int(word(0, 0, 0)), *map(int, near)}) == 6


def test_derived_keys_are_different_and_exact_in_json() -> None:
    keys = [int(derive_key(KEY_LIMIT - 1, 1, count)) for count in range(2000)]
    assert len(set(keys)) == len(keys)
    assert min(keys) >= 0
    assert max(keys) < KEY_LIMIT
    assert max(keys) > KEY_LIMIT * 0.99
    assert KEY_LIMIT == 2**53


def test_kinds_of_chance_do_not_shift_each_other() -> None:
    alone, mixed = records()[0], records()[0]
    wanted = [int(below(alone, 3, 1000)) for _ in range(20)]
    found = []
    for number in range(20):
        for _ in range(number % 4):
            below(mixed, 2, 10)
        found.append(int(below(mixed, 3, 1000)))
    assert found == wanted
    assert mixed.draws.tolist() == [0, 0, 30, 20, *[0] * (DRAW_KINDS - 4)]
    other = records()[0]
    assert [int(below(other, 2, 1000)) for _ in range(20)] != wanted


def test_clones_draw_the_same() -> None:
    states = records(key=77)
    below(states[0], 0, 6)
    copy = states.copy()
    first = [int(below(states[0], 0, 1 << 31)) for _ in range(10)]
    assert [int(below(copy[0], 0, 1 << 31)) for _ in range(10)] == first


def test_rekeying_changes_the_future_by_the_salt() -> None:
    futures = set()
    for salt in range(50):
        s = records(key=5)[0]
        rekey(s, salt)
        futures.add(tuple(int(below(s, 0, 1000)) for _ in range(5)))
    assert len(futures) == 50


@pytest.mark.parametrize("limit", [6, 7, 24])
def test_below_is_uniform(limit: int) -> None:
    s = records(key=limit)[0]
    counts = np.bincount([int(below(s, 1, limit)) for _ in range(DRAWS)], minlength=limit)
    assert len(counts) == limit
    assert chi_square(counts) < LIMITS[limit - 1]
    assert s.draws[1] == DRAWS


def test_below_reaches_the_ends_of_its_range() -> None:
    s = records()[0]
    assert {int(below(s, 0, 1)) for _ in range(20)} == {0}
    assert {int(below(s, 0, 2)) for _ in range(60)} == {0, 1}
    assert 0 <= int(below(s, 0, 2**31)) < 2**31


def test_shuffle_is_uniform_over_orders() -> None:
    s = records(key=9)[0]
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(DRAWS // 4):
        items = np.arange(4, dtype=np.int8)
        shuffle(s, 0, items, 4)
        counts[tuple(items.tolist())] = counts.get(tuple(items.tolist()), 0) + 1
    assert len(counts) == 24
    assert chi_square(np.array(list(counts.values()))) < LIMITS[23]


def test_shuffle_leaves_what_is_behind_its_size() -> None:
    s = records()[0]
    items = np.arange(10, dtype=np.int16)
    shuffle(s, 0, items, 5)
    assert sorted(items[:5].tolist()) == [0, 1, 2, 3, 4]
    assert items[5:].tolist() == [5, 6, 7, 8, 9]


def test_draw_takes_items_by_their_number() -> None:
    s = records(key=3)[0]
    kinds = np.array([3, 0, 1, 2], dtype=np.int8)
    first = np.zeros(4, dtype=np.int64)
    for _ in range(DRAWS // 4):
        counts = kinds.copy()
        item = int(draw(s, 0, counts))
        first[item] += 1
        assert counts.tolist() == [kinds[k] - (k == item) for k in range(4)]
    assert first[1] == 0
    assert chi_square(np.repeat(first[[0, 2, 3]] / [3, 1, 2], [3, 1, 2])) < LIMITS[5]


def test_draw_empties_a_multiset_and_then_gives_nothing() -> None:
    s = records()[0]
    counts = np.array([2, 0, 3], dtype=np.int8)
    assert sorted(int(draw(s, 0, counts)) for _ in range(5)) == [0, 0, 2, 2, 2]
    drawn = int(s.draws[0])
    assert int(draw(s, 0, counts)) == -1
    assert counts.tolist() == [0, 0, 0]
    assert int(s.draws[0]) == drawn


def test_of_equal_worths_each_is_as_likely() -> None:
    s = np.zeros(1, dtype=DTYPE)[0]
    salts, worths = range(3000), (2, 7, 7, 3, 7, -1, 7)
    chosen = []
    for salt in salts:
        leader = (0, -1, 0)
        for action, worth in enumerate(worths):
            leader = weigh(s, salt, leader, worth, action, len(worths))
        assert leader[0] == 7
        assert leader[2] == 4
        chosen.append(leader[1])
    counts = {action: chosen.count(action) for action in set(chosen)}
    assert set(counts) == {1, 2, 4, 6}
    assert all(abs(count - 750) < 120 for count in counts.values())  # five standard deviations
