"""Compiled loops over any game, which they know only through its bound functions.

`calls`, `greedy_call` and `check_call` are the properties of `Game` of these names; a loop takes those that it needs.
`states` is a structured array, `i` an index into it, `mask` an int8 vector of the number of actions, `masks` one row
a state, `out`/`outs` float32 observations likewise. Actions must be legal: whoever calls has looked at the mask.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tabletop_envs.core.header import NOBODY, OVER_CAP, RUNNING
from tabletop_envs.core.jit import jit, jit_nogil, pointer_call
from tabletop_envs.core.random import EPISODE, POLICY, derive_key, word

SETUP: Final = 0
LEGAL: Final = 1
APPLY: Final = 2
ADVANCE: Final = 3
SCORE: Final = 4
OBSERVE: Final = 5
DETERMINIZE: Final = 6

RANDOM_POLICY: Final = 0
GREEDY_POLICY: Final = 1

call_setup: Any = pointer_call(1, "none")
call_legal: Any = pointer_call(2, "int")
call_apply: Any = pointer_call(2, "none")
call_advance: Any = pointer_call(1, "none")
call_score: Any = pointer_call(3, "none")
call_observe: Any = pointer_call(3, "none")
call_determinize: Any = pointer_call(3, "none")
call_check: Any = pointer_call(1, "int")
call_greedy: Any = pointer_call(3, "int")


# --- one record -------------------------------------------------------------------------------------------------


@jit
def nth_legal(mask: np.ndarray, number: int) -> int:
    """The action of the mask's set entry of this number, counted from 0."""
    action = 0
    while True:  # eight entries at a time: masks are long and mostly empty
        if action + 8 > len(mask):
            break
        count = 0
        for k in range(8):
            count += int(mask[action + k])
        if number < count:
            break
        number -= count
        action += 8
    while True:
        number -= int(mask[action])
        if number < 0:
            return action
        action += 1


@jit
def count_legal(mask: np.ndarray) -> int:
    """The number of the mask's set entries."""
    count = 0
    for action in range(len(mask)):
        count += int(mask[action])
    return count


@jit
def settle(calls: Any, s: Any, mask: np.ndarray) -> int:
    """Take every automatic step until a seat is asked or the game is over; write the mask, return its number."""
    while True:
        while s.seat == NOBODY and s.over == RUNNING:
            call_advance(calls[ADVANCE], s)
        if s.over == RUNNING and s.decisions >= s.max_decisions:
            s.over = OVER_CAP
            s.seat = NOBODY
        if s.over != RUNNING:
            mask[:] = 0
            return 0
        count = call_legal(calls[LEGAL], s, mask)
        if count > 1 or s.auto_forced == 0:
            return count
        call_apply(calls[APPLY], s, nth_legal(mask, 0))


@jit
def begin(calls: Any, s: Any, mask: np.ndarray) -> int:
    """Deal a prepared record and settle."""
    call_setup(calls[SETUP], s)
    return settle(calls, s, mask)


@jit
def take(calls: Any, s: Any, action: int, mask: np.ndarray) -> int:
    """Execute one decision and settle."""
    if s.num_events > 0:
        s.events[:] = 0  # rows of old events would make equal states differ in bytes
        s.num_events = 0
    s.decisions += 1
    call_apply(calls[APPLY], s, action)
    return settle(calls, s, mask)


@jit
def choose(greedy_call: Any, policy: int, s: Any, mask: np.ndarray, count: int, salt: int) -> int:
    """The choice of a built-in policy: uniform among the legal actions, or the game's greedy baseline.

    One salt serves a whole game: it is mixed with the number of the decision.
    """
    salt = derive_key(salt, POLICY, int(s.decisions))
    if policy == GREEDY_POLICY:
        return call_greedy(greedy_call, s, mask, salt)
    return nth_legal(mask, ((salt & 0xFFFFFFFF) * count) >> 32)


# --- called from Python -----------------------------------------------------------------------------------------


@jit
def start(calls: Any, states: np.ndarray, i: int, mask: np.ndarray) -> int:
    """Deal state i; returns the number of legal actions."""
    return begin(calls, states[i], mask)


@jit
def step(calls: Any, states: np.ndarray, i: int, action: int, mask: np.ndarray) -> int:
    """One decision in state i; returns the number of legal actions, 0 when the game is over."""
    return take(calls, states[i], action, mask)


@jit
def step_observed(calls: Any, states: np.ndarray, i: int, action: int, mask: np.ndarray, out: np.ndarray) -> int:
    """One decision in state i, mask and observation of the next seat to act (of seat 0 when over).

    Returns seat + 1 (0 when over), plus 256 when events were logged.
    """
    s = states[i]
    take(calls, s, action, mask)
    seat = int(s.seat)
    call_observe(calls[OBSERVE], s, max(seat, 0), out)
    return seat + 1 + (256 if s.num_events > 0 else 0)


@jit
def raw_apply(calls: Any, states: np.ndarray, i: int, action: int) -> None:
    """Nothing but the game's `apply`."""
    call_apply(calls[APPLY], states[i], action)


@jit
def raw_advance(calls: Any, states: np.ndarray, i: int) -> None:
    """Nothing but one automatic step."""
    call_advance(calls[ADVANCE], states[i])


@jit
def refresh(calls: Any, states: np.ndarray, i: int, mask: np.ndarray) -> int:
    """Settle a record that was written or restored."""
    return settle(calls, states[i], mask)


@jit
def legal(calls: Any, states: np.ndarray, i: int, mask: np.ndarray) -> int:
    """The mask of the seat to act, without any step; all zero when nobody is asked."""
    s = states[i]
    if s.seat == NOBODY or s.over != RUNNING:
        mask[:] = 0
        return 0
    return call_legal(calls[LEGAL], s, mask)


@jit
def observe(calls: Any, states: np.ndarray, i: int, seat: int, out: np.ndarray) -> None:
    """The observation of a seat."""
    call_observe(calls[OBSERVE], states[i], seat, out)


@jit
def score(calls: Any, states: np.ndarray, i: int, points: np.ndarray, places: np.ndarray) -> None:
    """Points and places of every seat."""
    call_score(calls[SCORE], states[i], points, places)


@jit
def determinize(calls: Any, states: np.ndarray, i: int, seat: int, salt: int) -> None:
    """Re-deal what the seat cannot know."""
    call_determinize(calls[DETERMINIZE], states[i], seat, salt)


@jit
def check(check_call: Any, states: np.ndarray, i: int) -> int:
    """The code of the broken invariant, or 0. Takes `Game.check_call`."""
    return call_check(check_call, states[i])


@jit
def greedy(greedy_call: Any, states: np.ndarray, i: int, mask: np.ndarray, salt: int) -> int:
    """The greedy baseline's choice. Takes `Game.greedy_call`."""
    return call_greedy(greedy_call, states[i], mask, salt)


@jit
def play_out(calls: Any, greedy_call: Any, states: np.ndarray, i: int, mask: np.ndarray, policy: int, salt: int) -> int:
    """Play state i to its end with a built-in policy for every seat; returns the decisions made."""
    s = states[i]
    made = 0
    count = settle(calls, s, mask)
    while count > 0:
        count = take(calls, s, choose(greedy_call, policy, s, mask, count, salt), mask)
        made += 1
    return made


@jit
def play_recorded(
    calls: Any,
    greedy_call: Any,
    states: np.ndarray,
    i: int,
    mask: np.ndarray,
    policies: np.ndarray,
    opening: int,
    salt: int,
    actions: np.ndarray,
) -> int:
    """Play state i to its end with policies[seat], after `opening` random decisions; writes the actions.

    actions has room for as many as the game may last. Returns the decisions made.
    """
    s = states[i]
    made = 0
    count = settle(calls, s, mask)
    while count > 0:
        policy = policies[int(s.seat)] if made >= opening else RANDOM_POLICY
        actions[made] = choose(greedy_call, policy, s, mask, count, salt)
        count = take(calls, s, actions[made], mask)
        made += 1
    return made


@jit
def replay(calls: Any, states: np.ndarray, i: int, actions: np.ndarray, mask: np.ndarray) -> int:
    """Make recorded decisions in state i, whose mask is given; they need not be legal.

    Returns how many were made: fewer than there are when the game is over before, -1 - n when number n is not legal.
    """
    s = states[i]
    for number in range(len(actions)):
        if s.over != RUNNING:
            return number
        action = actions[number]
        if action < 0 or action >= len(mask) or mask[action] == 0:
            return -1 - number
        take(calls, s, action, mask)
    return len(actions)


@jit
def accepted(calls: Any, states: np.ndarray, i: int, scratch: np.ndarray, out: np.ndarray) -> None:
    """Try every action on a copy: out[a] = 1 where `apply` does not refuse. The brute-force witness of masks."""
    for action in range(len(out)):
        scratch[0] = states[i]
        out[action] = 1
        try:
            call_apply(calls[APPLY], scratch[0], action)
        except Exception:
            out[action] = 0


@jit
def count_tree(calls: Any, states: np.ndarray, masks: np.ndarray, depth: int) -> int:
    """The number of action sequences of length `depth` from states[0] (perft); games that end early count not.

    states and masks have depth + 1 rows; the rows behind the first are scratch.
    """
    if depth == 0:
        return 1
    total = 0
    level = 0
    settle(calls, states[0], masks[0])
    while level >= 0:
        action = 0
        while action < masks.shape[1] and masks[level, action] == 0:
            action += 1
        if action == masks.shape[1]:
            level -= 1
            continue
        masks[level, action] = 0
        if level == depth - 1:
            total += 1
            continue
        states[level + 1] = states[level]
        take(calls, states[level + 1], action, masks[level + 1])
        level += 1
    return total


# --- batches ----------------------------------------------------------------------------------------------------


@jit_nogil
def first_illegal(masks: np.ndarray, rows: np.ndarray, actions: np.ndarray) -> int:
    """The first number whose action is outside the space or not legal in its row; -1 when all are legal."""
    for number in range(len(rows)):
        action = actions[number]
        if action < 0 or action >= masks.shape[1] or masks[rows[number], action] == 0:
            return number
    return -1


@jit
def deal(calls: Any, template: np.ndarray, states: np.ndarray, i: int, key: int, mask: np.ndarray) -> int:
    """Begin game i anew from the template with a key."""
    states[i] = template[0]
    states[i].key = key
    return begin(calls, states[i], mask)


@jit_nogil
def deal_batch(
    calls: Any, template: np.ndarray, states: np.ndarray, rows: np.ndarray, keys: np.ndarray, masks: np.ndarray
) -> None:
    """Begin the games of the rows anew; keys[number] belongs to rows[number]."""
    for number in range(len(rows)):
        deal(calls, template, states, rows[number], keys[number], masks[rows[number]])


@jit_nogil
def episode_keys(key: int, rows: np.ndarray, episodes: np.ndarray, keys: np.ndarray) -> None:
    """keys[number] = the key of a row's episode, derived from the batch's key."""
    for number in range(len(rows)):
        keys[number] = derive_key(derive_key(key, EPISODE, rows[number]), EPISODE, episodes[rows[number]])


@jit_nogil
def step_batch(calls: Any, states: np.ndarray, rows: np.ndarray, actions: np.ndarray, masks: np.ndarray) -> None:
    """One decision in each of the rows; actions[number] belongs to rows[number]."""
    for number in range(len(rows)):
        i = rows[number]
        take(calls, states[i], actions[number], masks[i])


@jit_nogil
def observe_batch(calls: Any, states: np.ndarray, rows: np.ndarray, seats: np.ndarray, outs: np.ndarray) -> None:
    """outs[number] = the observation of seats[number] in the state of rows[number]."""
    for number in range(len(rows)):
        call_observe(calls[OBSERVE], states[rows[number]], seats[number], outs[number])


@jit_nogil
def random_batch(
    calls: Any, template: np.ndarray, states: np.ndarray, masks: np.ndarray, outs: np.ndarray, seed: int, steps: int
) -> tuple[int, int]:
    """Random play in every state, `steps` rounds, finished games dealt anew; the loop that benchmarks time.

    outs: observations to write (of the seat to act), or zero rows to write none. Returns decisions and games ended.
    """
    games = 0
    for number in range(steps):
        for i in range(len(states)):
            s = states[i]
            count = count_legal(masks[i])
            action = nth_legal(masks[i], (word(seed + i, POLICY, number) * count) >> 32)
            if take(calls, s, action, masks[i]) == 0:
                games += 1
                deal(calls, template, states, i, derive_key(seed + i, EPISODE, number), masks[i])
            if len(outs) > 0:
                call_observe(calls[OBSERVE], s, int(s.seat), outs[i])
    return steps * len(states), games


@jit_nogil
def score_batch(calls: Any, states: np.ndarray, rows: np.ndarray, points: np.ndarray, places: np.ndarray) -> None:
    """Points and places of every seat, one row a game."""
    for number in range(len(rows)):
        call_score(calls[SCORE], states[rows[number]], points[number], places[number])


@jit_nogil
def answer_batch(
    calls: Any,
    greedy_call: Any,
    states: np.ndarray,
    rows: np.ndarray,
    learners: np.ndarray,
    policies: np.ndarray,
    salts: np.ndarray,
    masks: np.ndarray,
) -> None:
    """Let built-in policies act in the rows until the learner of each is asked or its game is over.

    learners[i]: the seat that is not answered for; policies[i, seat]: the built-in policy of a seat, negative where
    another one plays it (the row is then left there); salts[i]: one salt a game.
    """
    for number in range(len(rows)):
        i = rows[number]
        s = states[i]
        while s.over == RUNNING and s.seat != learners[i] and policies[i, int(s.seat)] >= 0:
            count = count_legal(masks[i])
            take(calls, s, choose(greedy_call, policies[i, int(s.seat)], s, masks[i], count, salts[i]), masks[i])


@jit_nogil
def greedy_batch(
    greedy_call: Any, states: np.ndarray, rows: np.ndarray, salts: np.ndarray, masks: np.ndarray, actions: np.ndarray
) -> None:
    """actions[number] = the greedy baseline's choice in the state of rows[number]; salts[i]: one salt a game."""
    for number in range(len(rows)):
        i = rows[number]
        actions[number] = choose(greedy_call, GREEDY_POLICY, states[i], masks[i], 0, salts[i])


@jit_nogil
def answer_recorded(
    calls: Any,
    greedy_call: Any,
    states: np.ndarray,
    rows: np.ndarray,
    policies: np.ndarray,
    salts: np.ndarray,
    masks: np.ndarray,
    actions: np.ndarray,
    made: np.ndarray,
) -> None:
    """Let built-in policies act in the rows until another one is asked or the game is over; writes what they do.

    policies[i, seat]: the built-in policy of a seat, negative where another one plays it; salts[i, seat]: the seat's
    salt in the game; actions[i, made[i]]: where the next action of game i is written.
    """
    for number in range(len(rows)):
        i = rows[number]
        s = states[i]
        while s.over == RUNNING and policies[i, int(s.seat)] >= 0:
            seat = int(s.seat)
            count = count_legal(masks[i])
            action = choose(greedy_call, policies[i, seat], s, masks[i], count, salts[i, seat])
            actions[i, made[i]] = action
            made[i] += 1
            take(calls, s, action, masks[i])


def scratch(states: np.ndarray, number: int) -> np.ndarray:
    """Uninitialised records of the same dtype."""
    return np.empty(number, dtype=states.dtype)
