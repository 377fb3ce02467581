"""Information-set Monte Carlo tree search over any game, compiled.

A simulation deals anew what the searching seat cannot know (`determinize`), walks down the tree, adds one node, plays
on with a built-in policy and pays what comes of it to all edges on its way. A node stands for what one seat knows when
it is asked: its key is a fingerprint of that seat's number, observation and action mask. So no seat's choice, neither
the searcher's nor an opponent's, depends on what that seat cannot see, equal situations share a node on whatever way
they were reached, and a node's actions are exactly those that are available whenever it is visited.

Each seat maximises its own value. Among the edges of a node that is chosen for which

    mean value + exploration * prior * sqrt(visits of the node) / (1 + visits of the edge)

is highest; an edge without visits takes the node's mean less `UNVISITED`. The prior is uniform but for a share that
goes to the choice of the game's greedy baseline. Everything follows from the salt: no clock, no global generator.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, Final, NamedTuple

import numpy as np

from tabletop_envs.core.arrays import overwrite
from tabletop_envs.core.header import RUNNING
from tabletop_envs.core.jit import jit, jit_nogil
from tabletop_envs.core.loops import (
    DETERMINIZE,
    GREEDY_POLICY,
    LEGAL,
    OBSERVE,
    SCORE,
    call_determinize,
    call_legal,
    call_observe,
    call_score,
    choose,
    take,
)
from tabletop_envs.core.random import ROUNDS, SALT_LIMIT, SEARCH, derive_key, threefry, word

MAX_DEPTH: Final = 256  # decisions within the tree: equal situations may lead back to themselves
UNVISITED: Final = 0.1
BEYOND: Final = 0.2  # of the worth of a margin, the part that grows on beyond the scale

NONE: Final = -1
UNASKED: Final = -2
_WORD: Final = 0xFFFFFFFF
_KEY: Final = 0x3FFFFFFF  # keys stay below 2^62

# element type record: fields are attributes with the JIT off too
NODE: Final = np.dtype(
    (
        np.record,
        [
            ("key", np.int64),  # fingerprint
            ("value", np.float64),  # sum of the values of its seat
            ("visits", np.int64),
            ("first", np.int32),  # its edges are first .. first + count - 1
            ("count", np.int32),
            ("favourite", np.int32),  # the edge of the greedy choice; NONE without one, UNASKED before the second visit
            ("seat", np.int32),
        ],
    )
)
EDGE: Final = np.dtype((np.record, [("value", np.float64), ("visits", np.int32), ("action", np.int32)]))
PARAMETERS: Final = np.dtype(
    (
        np.record,
        [
            ("exploration", np.float64),
            ("greedy_share", np.float64),  # of the prior
            ("win_share", np.float64),  # of the value of a finished game; the rest is the margin of points
            ("score_scale", np.float64),
            ("playout", np.int64),  # built-in policy
            ("playout_decisions", np.int64),  # a playout is scored after so many; negative: only at the end
        ],
    )
)


class Memory(NamedTuple):
    """The tree, of fixed size, and the buffers of a search. A full tree takes no more nodes; simulations go on."""

    nodes: np.ndarray  # NODE
    edges: np.ndarray  # EDGE
    slots: np.ndarray  # a hash table of nodes, int32
    used: np.ndarray  # nodes, edges, int64
    root: np.ndarray  # the node from which the last search began, int64
    root_mask: np.ndarray  # int8
    path: np.ndarray  # node, edge of each decision of a simulation within the tree, int64
    work: np.ndarray  # one record
    mask: np.ndarray  # int8
    out: np.ndarray  # observation, float32
    bits: np.ndarray  # the memory of observation and mask, one behind the other, as int32
    keys: np.ndarray  # of fingerprints, words as int64: two rows of half as many as bits, and one
    points: np.ndarray  # of each seat, int32
    places: np.ndarray  # of each seat, int32
    values: np.ndarray  # of each seat, float64

    def clear(self) -> None:
        """Forget the tree."""
        self.used[:] = 0
        self.slots[:] = NONE


def memory(dtype: np.dtype, seats: int, num_actions: int, observation_size: int, nodes: int, edges: int) -> Memory:
    """An empty tree with room for so many nodes and edges, and buffers for a game of these sizes."""
    told = observation_size + observation_size % 2
    bits = np.zeros(told + 2 * -(-num_actions // 8), dtype=np.int32)
    words = [word(0, SEARCH, count) for count in range(len(bits) + 2)]
    return Memory(
        nodes=np.zeros(nodes, dtype=NODE),
        edges=np.zeros(edges, dtype=EDGE),
        slots=np.full(1 << (2 * nodes - 1).bit_length(), NONE, dtype=np.int32),
        used=np.zeros(2, dtype=np.int64),
        root=np.zeros(1, dtype=np.int64),
        root_mask=np.zeros(num_actions, dtype=np.int8),
        path=np.zeros((MAX_DEPTH, 2), dtype=np.int64),
        work=np.zeros(1, dtype=dtype),
        mask=bits[told:].view(np.int8)[:num_actions],
        out=bits[:observation_size].view(np.float32),
        bits=bits,
        keys=np.array(words, dtype=np.int64).reshape(2, -1),
        points=np.zeros(seats, dtype=np.int32),
        places=np.zeros(seats, dtype=np.int32),
        values=np.zeros(seats, dtype=np.float64),
    )


# --- nodes ------------------------------------------------------------------------------------------------------


@jit
def fingerprint(seat: int, bits: np.ndarray, keys: np.ndarray) -> int:
    """The key of a node, below 2^62, from what its seat is told and may do: `bits` and `keys` of a `Memory`.

    Two sums of products of keyed words, the hash NH of UMAC (Black et al., 1999) with the keys shifted by one place
    for the second: two inputs share both with a chance of 2^-64, and a loop without branches is done in vectors.
    """
    half = len(bits) // 2
    low, high = seat, 0
    for k in range(half):
        x, y = int(bits[k]), int(bits[half + k])
        low += ((x + int(keys[0, k])) & _WORD) * ((y + int(keys[1, k])) & _WORD)
        high += ((x + int(keys[0, k + 1])) & _WORD) * ((y + int(keys[1, k + 1])) & _WORD)
    x, y = threefry(low & _WORD, (low >> 32) & _WORD, high & _WORD, (high >> 32) & _WORD, ROUNDS)
    return ((y & _KEY) << 32) | x


@jit
def _locate(calls: Any, s: Any, m: Memory) -> tuple[int, int]:
    """The slot in which the node of the seat to act lies, or would lie, and its key. The mask is given."""
    seat = int(s.seat)
    call_observe(calls[OBSERVE], s, seat, m.out)
    key = fingerprint(seat, m.bits, m.keys)
    last = len(m.slots) - 1
    slot = key & last
    while m.slots[slot] != NONE and m.nodes[m.slots[slot]].key != key:
        slot = (slot + 1) & last
    return slot, key


@jit
def _add(m: Memory, slot: int, key: int, seat: int, count: int) -> int:
    """A new node with an edge for each action of the mask; NONE when the tree is full."""
    used = m.used
    if used[0] == len(m.nodes) or used[1] + count > len(m.edges):
        return NONE
    number = int(used[0])
    used[0] += 1
    m.slots[slot] = number
    node = m.nodes[number]
    node.key = key
    node.seat = seat
    node.value = 0.0
    node.visits = 0
    node.first = used[1]
    node.count = count
    node.favourite = UNASKED
    for action in range(len(m.mask)):
        if m.mask[action] != 0:
            edge = m.edges[used[1]]
            edge.value = 0.0
            edge.visits = 0
            edge.action = action
            used[1] += 1
    return number


@jit
def _ask_greedy(greedy_call: Any, s: Any, m: Memory, number: int, count: int, salt: int) -> None:
    """Find the edge of the greedy baseline's choice."""
    node = m.nodes[number]
    node.favourite = NONE
    action = choose(greedy_call, GREEDY_POLICY, s, m.mask, count, salt)
    for edge in range(int(node.first), int(node.first) + int(node.count)):
        if m.edges[edge].action == action:
            node.favourite = edge


@jit
def _select(m: Memory, number: int, parameters: Any, salt: int) -> int:
    """The edge to follow; the salt says at which edge the search for the best begins, so that it breaks ties."""
    node = m.nodes[number]
    first, count, visits = int(node.first), int(node.count), int(node.visits)
    mean = node.value / visits if visits > 0 else 0.5
    reach = parameters.exploration * sqrt(max(1.0, float(visits)))
    share = parameters.greedy_share if node.favourite >= 0 else 0.0
    prior = (1.0 - share) / count
    start = (salt * count) >> 32
    best, chosen = 0.0, NONE
    for k in range(count):
        candidate = first + (start + k if start + k < count else start + k - count)
        edge = m.edges[candidate]
        tried = int(edge.visits)
        worth = edge.value / tried if tried > 0 else mean - UNVISITED
        worth += reach * (prior + (share if candidate == node.favourite else 0.0)) / (1 + tried)
        if chosen == NONE or worth > best:
            best, chosen = worth, candidate
    return chosen


# --- simulations ------------------------------------------------------------------------------------------------


@jit
def _appraise(calls: Any, s: Any, m: Memory, parameters: Any) -> None:
    """values[seat] in [0, 1]: what the position pays each seat.

    A margin over the best other seat counts in full up to `score_scale` and a little beyond, so that who is far behind
    still has something to search for; a finished game counts by its winners too.
    """
    points, places, values = m.points, m.places, m.values
    call_score(calls[SCORE], s, points, places)
    seats = int(s.num_players)
    winners = 0
    for seat in range(seats):
        winners += int(places[seat] == 1)
    for seat in range(seats):
        rival = NONE
        for other in range(seats):
            if other != seat and (rival == NONE or points[other] > points[rival]):
                rival = other
        margin = (int(points[seat]) - int(points[rival])) / parameters.score_scale if rival != NONE else 0.0
        within, beyond = min(1.0, max(-1.0, margin)), margin / (1.0 + abs(margin))
        values[seat] = 0.5 + 0.5 * (within + BEYOND * (beyond - within))
        if s.over != RUNNING:
            won = 1.0 / winners if places[seat] == 1 else 0.0
            values[seat] += parameters.win_share * (won - values[seat])


@jit
def _descend(
    calls: Any, greedy_call: Any, s: Any, m: Memory, count: int, parameters: Any, salt: int
) -> tuple[int, int]:
    """Walk down the tree to a node that is new, or as far as it reaches: legal actions there, length of the path."""
    depth = 0
    number = int(m.root[0])
    while True:
        if m.nodes[number].favourite == UNASKED and parameters.greedy_share > 0:
            _ask_greedy(greedy_call, s, m, number, count, salt)
        chosen = _select(m, number, parameters, word(salt, SEARCH, depth))
        action = int(m.edges[chosen].action)
        if m.mask[action] == 0:
            break  # two situations with one fingerprint: as good as never
        m.path[depth, 0] = number
        m.path[depth, 1] = chosen
        depth += 1
        count = take(calls, s, action, m.mask)
        if count == 0 or depth == MAX_DEPTH:
            break
        slot, key = _locate(calls, s, m)
        number = int(m.slots[slot])
        if number == NONE:
            number = _add(m, slot, key, int(s.seat), count)
            if number != NONE:
                m.path[depth, 0] = number
                m.path[depth, 1] = NONE
                depth += 1
            break
    return count, depth


@jit
def _simulate(calls: Any, greedy_call: Any, s: Any, m: Memory, count: int, parameters: Any, salt: int) -> int:
    """One simulation from a re-dealt root with its mask; returns the decisions made."""
    before = int(s.decisions)
    count, depth = _descend(calls, greedy_call, s, m, count, parameters, salt)
    limit = int(parameters.playout_decisions)
    policy = int(parameters.playout)
    played = 0
    while count > 0 and (limit < 0 or played < limit):
        count = take(calls, s, choose(greedy_call, policy, s, m.mask, count, salt), m.mask)
        played += 1
    _appraise(calls, s, m, parameters)
    for step in range(depth):
        node = m.nodes[m.path[step, 0]]
        value = m.values[int(node.seat)]
        node.value += value
        node.visits += 1
        if m.path[step, 1] != NONE:
            edge = m.edges[m.path[step, 1]]
            edge.value += value
            edge.visits += 1
    return int(s.decisions) - before


# --- called from Python -----------------------------------------------------------------------------------------


@jit_nogil
def search(
    calls: Any, greedy_call: Any, root: np.ndarray, m: Memory, parameters: np.ndarray, simulations: int, salt: int
) -> int:
    """Let the tree grow by so many simulations from root[0], in which a seat is asked; returns the decisions made.

    root: one record, of which only what its seat knows is used; m: with room for the root; parameters: one element of
    PARAMETERS.
    """
    made = 0
    seat = int(root[0].seat)
    count = call_legal(calls[LEGAL], root[0], m.mask)
    slot, key = _locate(calls, root[0], m)
    if m.slots[slot] == NONE:
        _add(m, slot, key, seat, count)
    # the same for every deal: `determinize` keeps what the seat observes and may do
    m.root[0] = m.slots[slot]
    overwrite(m.root_mask, m.mask)
    for number in range(simulations):
        own = derive_key(salt, SEARCH, number)
        m.work[0] = root[0]
        call_determinize(calls[DETERMINIZE], m.work[0], seat, own % SALT_LIMIT)
        overwrite(m.mask, m.root_mask)
        made += _simulate(calls, greedy_call, m.work[0], m, count, parameters[0], own)
    return made


@jit
def appraise(calls: Any, states: np.ndarray, i: int, m: Memory, parameters: np.ndarray) -> None:
    """m.values[seat] = what a playout that ends in state i pays the seat."""
    _appraise(calls, states[i], m, parameters[0])
