"""The policy network of `training/network.py` as compiled code without torch: observations to logits, row by row.

Each row is summed in one fixed order, inputs that are zero left out, so that a position gives the same bits alone and
in any batch; a matrix library, which blocks its sums by the size of the batch, does not promise that. Weights are laid
out so that the innermost loop runs over outputs, each of which is a sum of its own.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from tabletop_envs.core.arrays import overwrite
from tabletop_envs.core.jit import jit, jit_nogil
from tabletop_envs.core.layout import SIDES

FLAT: Final = -1  # in the place of a plane
_SIDE: Final = 3  # of a convolution
TAPS: Final = _SIDE * _SIDE
NO_ENTITY: Final = -1  # in the place of one
OUTSIDE: Final = -1  # in the place of a cell


class Network(NamedTuple):
    """Weights in float32, and where inputs and outputs belong.

    n inputs, m actions, c channels, w width, e features of the entities, t = w + e, d convolutions behind the first,
    k output planes, f flat outputs; a board of height * width cells, and planes over it; a game without boards has no
    cells, and 0 in their places. l is c where cells are linked, else 0.
    """

    board: np.ndarray  # (2,): height, width
    inputs: np.ndarray  # (n, 2): plane and cell, or FLAT and the number among the flat inputs
    entities: np.ndarray  # (n, 2): entity and number among its inputs, or NO_ENTITY and 0
    outputs: np.ndarray  # (m,): produced output -> action; planes first, cell by cell, then the flat ones
    flat_weight: np.ndarray  # (flat inputs, w)
    flat_bias: np.ndarray  # (w,)
    entity_weight: np.ndarray  # (inputs of an entity, e)
    entity_bias: np.ndarray  # (e,)
    first_weight: np.ndarray  # (input planes, TAPS, c)
    first_bias: np.ndarray  # (c,)
    spread_weight: np.ndarray  # (t, c)
    spread_bias: np.ndarray  # (c,)
    links: np.ndarray  # (sides, input planes): whether the plane opens a cell to that side; (0, input planes) if none
    gate_weight: np.ndarray  # (t, l * sides)
    gate_bias: np.ndarray  # (l * sides,)
    join_weight: np.ndarray  # (l * sides, l)
    join_spread_weight: np.ndarray  # (t, l)
    join_spread_bias: np.ndarray  # (l,)
    blend_weight: np.ndarray  # (l, l)
    blend_bias: np.ndarray  # (l,)
    later_weight: np.ndarray  # (d, TAPS, c, c): from, to
    later_bias: np.ndarray  # (d, c)
    mix_weight: np.ndarray  # (t + 2 c, w)
    mix_bias: np.ndarray  # (w,)
    last_weight: np.ndarray  # (w, w) of a game without boards, else (0, w)
    last_bias: np.ndarray  # (w,)
    plane_weight: np.ndarray  # (c, k)
    plane_bias: np.ndarray  # (k,)
    plane_spread_weight: np.ndarray  # (w, k)
    plane_spread_bias: np.ndarray  # (k,)
    out_weight: np.ndarray  # (w, f)
    out_bias: np.ndarray  # (f,)


class Scratch(NamedTuple):
    """Room for the pass of one row."""

    cells: np.ndarray  # (cells, c)
    before: np.ndarray  # (cells, c)
    sums: np.ndarray  # (cells + 1, c), of groups; the last one stays 0
    whole: np.ndarray  # (t,)
    things: np.ndarray  # (entities, e)
    spread: np.ndarray  # (c,)
    gate: np.ndarray  # (l * sides,)
    around: np.ndarray  # (l * sides,)
    pooled: np.ndarray  # (t + 2 c,)
    mixed: np.ndarray  # (w,)
    last: np.ndarray  # (w,)
    open_to: np.ndarray  # (cells, sides)
    labels: np.ndarray  # (cells,)
    met: np.ndarray  # (sides, cells)
    found: np.ndarray  # (cells,)
    plane_spread: np.ndarray  # (k,)
    plane: np.ndarray  # (k,)
    flat: np.ndarray  # (f,)


@jit
def _scratch(n: Any) -> Scratch:
    count, channels, told = int(n.board[0]) * int(n.board[1]), len(n.first_bias), n.spread_weight.shape[0]
    things = 0
    for i in range(len(n.entities)):
        things = max(things, int(n.entities[i, 0]) + 1)
    return Scratch(
        cells=np.empty((count, channels), dtype=np.float32),
        before=np.empty((count, channels), dtype=np.float32),
        sums=np.empty((count + 1, channels), dtype=np.float32),
        whole=np.empty(told, dtype=np.float32),
        things=np.empty((things, len(n.entity_bias)), dtype=np.float32),
        spread=np.empty(channels, dtype=np.float32),
        gate=np.empty(len(n.gate_bias), dtype=np.float32),
        around=np.empty(len(n.gate_bias), dtype=np.float32),
        pooled=np.empty(n.mix_weight.shape[0], dtype=np.float32),
        mixed=np.empty(len(n.mix_bias), dtype=np.float32),
        last=np.empty(len(n.mix_bias), dtype=np.float32),
        open_to=np.empty((count, SIDES), dtype=np.bool_),
        labels=np.empty(count, dtype=np.int64),
        met=np.empty((SIDES, count), dtype=np.int64),
        found=np.empty(count, dtype=np.int64),
        plane_spread=np.empty(len(n.plane_bias), dtype=np.float32),
        plane=np.empty(len(n.plane_bias), dtype=np.float32),
        flat=np.empty(len(n.out_bias), dtype=np.float32),
    )


@jit
def _linear(x: Any, weight: Any, bias: Any, out: Any) -> None:
    """out = bias + x @ weight."""
    out[:] = bias
    for i in range(len(x)):
        value = x[i]
        if value != 0:
            for o in range(len(out)):
                out[o] += value * weight[i, o]


@jit
def _relu(x: Any) -> None:
    for i in range(len(x)):
        if x[i] < 0:
            x[i] = 0


@jit
def _first(n: Any, row: Any, cells: Any, whole: Any, things: Any) -> None:
    """The first layer: what is not zero gives to the cells around its own, or to the whole, and to its entity."""
    height, width, channels = int(n.board[0]), int(n.board[1]), len(n.first_bias)
    overwrite(whole, n.flat_bias)
    for thing in range(len(things)):
        overwrite(things[thing], n.entity_bias)
    for cell in range(len(cells)):
        overwrite(cells[cell], n.first_bias)
    for i in range(len(row)):
        value = row[i]
        if value == 0:
            continue
        thing, feature = int(n.entities[i, 0]), int(n.entities[i, 1])
        if thing != NO_ENTITY:
            for o in range(things.shape[1]):
                things[thing, o] += value * n.entity_weight[feature, o]
        plane, place = int(n.inputs[i, 0]), int(n.inputs[i, 1])
        if plane == FLAT:
            for o in range(len(whole)):
                whole[o] += value * n.flat_weight[place, o]
            continue
        y, x = place // width, place % width
        for tap in range(TAPS):
            to_y, to_x = y + 1 - tap // _SIDE, x + 1 - tap % _SIDE
            if 0 <= to_y < height and 0 <= to_x < width:
                cell = to_y * width + to_x
                for c in range(channels):
                    cells[cell, c] += value * n.first_weight[plane, tap, c]


@jit
def _beside(board: Any, cell: int, side: int) -> int:
    """The neighbour of a cell to the north, east, south or west; OUTSIDE where the board ends."""
    height, width = int(board[0]), int(board[1])
    y, x = cell // width + (side == 2) - (side == 0), cell % width + (side == 1) - (side == 3)
    return y * width + x if 0 <= y < height and 0 <= x < width else OUTSIDE


@jit
def _label(board: Any, open_to: Any, labels: Any, found: Any) -> None:
    """labels[cell] = the lowest cell of its group, or the number of cells where it is open to no side.

    open_to[cell, side]: to the north, east, south, west; neighbours that are open to each other are of one group;
    found: scratch for as many cells.
    """
    none = len(labels)
    for cell in range(len(labels)):
        labels[cell] = none
    for first in range(len(labels)):
        if labels[first] != none or not (
            open_to[first, 0] or open_to[first, 1] or open_to[first, 2] or open_to[first, 3]
        ):
            continue
        labels[first] = found[0] = first
        count = 1
        while count > 0:
            count -= 1
            cell = int(found[count])
            for side in range(SIDES):
                other = _beside(board, cell, side) if open_to[cell, side] else OUTSIDE
                if other != OUTSIDE and labels[other] == none and open_to[other, (side + 2) % SIDES]:
                    labels[other] = first
                    found[count] = other
                    count += 1


@jit
def _meet(board: Any, open_to: Any, labels: Any, met: Any) -> None:
    """met[side, cell] = the label of the neighbour there, the number of cells if it is not open to the cell."""
    for side in range(SIDES):
        for cell in range(len(labels)):
            other = _beside(board, cell, side)
            opens = other != OUTSIDE and open_to[other, (side + 2) % SIDES]
            met[side, cell] = labels[other] if opens else len(labels)


@jit_nogil
def label_groups(board: np.ndarray, open_to: np.ndarray, labels: np.ndarray, met: np.ndarray) -> None:
    """labels[i, cell] and met[i, side, cell] of each board i, see `_label` and `_meet`; open_to: (n, cells, sides)."""
    found = np.empty(labels.shape[1], dtype=np.int64)
    for i in range(len(labels)):
        _label(board, open_to[i], labels[i], found)
        _meet(board, open_to[i], labels[i], met[i])


@jit
def _add_up(n: Any, row: Any, r: Scratch) -> None:
    """sums[label] = the features of all cells of this group, and what each cell meets."""
    r.open_to[:] = False
    r.sums[:] = 0
    for i in range(len(row)):
        if row[i] != 0 and n.inputs[i, 0] != FLAT:
            for side in range(SIDES):
                if n.links[side, n.inputs[i, 0]] != 0:
                    r.open_to[n.inputs[i, 1], side] = True
    _label(n.board, r.open_to, r.labels, r.found)
    _meet(n.board, r.open_to, r.labels, r.met)
    for cell in range(len(r.cells)):
        if r.labels[cell] < len(r.cells):
            for c in range(r.cells.shape[1]):
                r.sums[r.labels[cell], c] += r.cells[cell, c]


@jit
def _join(n: Any, row: Any, r: Scratch) -> None:
    """Each cell takes in the groups that it meets at its sides, as far as the whole lets them in."""
    channels = r.cells.shape[1]
    _add_up(n, row, r)
    _linear(r.whole, n.gate_weight, n.gate_bias, r.gate)
    for i in range(len(r.gate)):
        r.gate[i] = min(np.float32(1), max(np.float32(0), np.float32(0.5) + np.float32(0.25) * r.gate[i]))
    _linear(r.whole, n.join_spread_weight, n.join_spread_bias, r.spread)
    for cell in range(len(r.cells)):
        for side in range(SIDES):
            label = r.met[side, cell]
            for c in range(channels):
                at = c * SIDES + side
                r.around[at] = r.sums[label, c] * r.gate[at]
        _linear(r.around, n.join_weight, r.spread, r.before[cell])
        for c in range(channels):
            r.before[cell, c] = max(np.float32(0), r.cells[cell, c] + r.before[cell, c])
        _linear(r.before[cell], n.blend_weight, n.blend_bias, r.cells[cell])
        for c in range(channels):
            r.cells[cell, c] = max(np.float32(0), r.before[cell, c] + r.cells[cell, c])


@jit
def _convolve(n: Any, weight: Any, bias: Any, before: Any, cells: Any) -> None:
    """cells = rectified(before + convolution(before)); weight: (TAPS, from, to)."""
    height, width, channels = int(n.board[0]), int(n.board[1]), before.shape[1]
    for cell in range(len(cells)):
        y, x = cell // width, cell % width
        for c in range(channels):
            cells[cell, c] = before[cell, c] + bias[c]
        for tap in range(TAPS):
            from_y, from_x = y - 1 + tap // _SIDE, x - 1 + tap % _SIDE
            if 0 <= from_y < height and 0 <= from_x < width:
                other = from_y * width + from_x
                for i in range(channels):
                    value = before[other, i]
                    if value != 0:
                        for c in range(channels):
                            cells[cell, c] += value * weight[tap, i, c]
        for c in range(channels):
            cells[cell, c] = max(np.float32(0), cells[cell, c])


@jit
def _trunk(n: Any, row: Any, r: Scratch) -> None:
    """Features of each cell into `cells`, of the whole into `mixed`."""
    channels, width, told = len(n.first_bias), len(n.flat_bias), len(r.whole)
    _first(n, row, r.cells, r.whole[:width], r.things)
    r.whole[width:] = 0
    for thing in range(len(r.things)):
        for o in range(r.things.shape[1]):
            r.whole[width + o] += max(np.float32(0), r.things[thing, o])
    _relu(r.whole)
    if len(r.cells) == 0:
        _linear(r.whole, n.mix_weight, n.mix_bias, r.last)
        _relu(r.last)
        _linear(r.last, n.last_weight, n.last_bias, r.mixed)
        _relu(r.mixed)
        return
    _linear(r.whole, n.spread_weight, n.spread_bias, r.spread)
    for cell in range(len(r.cells)):
        for c in range(channels):
            r.cells[cell, c] = max(np.float32(0), r.cells[cell, c] + r.spread[c])
    if len(n.links) > 0:
        _join(n, row, r)
    for layer in range(len(n.later_bias)):
        for cell in range(len(r.cells)):
            overwrite(r.before[cell], r.cells[cell])
        _convolve(n, n.later_weight[layer], n.later_bias[layer], r.before, r.cells)
    # the mean and the greatest of each channel; none is below 0
    overwrite(r.pooled, r.whole)
    r.pooled[told:] = 0
    for cell in range(len(r.cells)):
        for c in range(channels):
            r.pooled[told + c] += r.cells[cell, c]
            r.pooled[told + channels + c] = max(r.pooled[told + channels + c], r.cells[cell, c])
    for c in range(channels):
        r.pooled[told + c] /= np.float32(len(r.cells))
    _linear(r.pooled, n.mix_weight, n.mix_bias, r.mixed)
    _relu(r.mixed)


@jit
def _heads(n: Any, r: Scratch, out: Any) -> None:
    """Logits in the order of the action space."""
    planes, count = len(n.plane_bias), len(r.cells)
    if planes > 0:
        _linear(r.mixed, n.plane_spread_weight, n.plane_spread_bias, r.plane_spread)
    for cell in range(count):
        _linear(r.cells[cell], n.plane_weight, n.plane_bias, r.plane)
        for plane in range(planes):
            out[n.outputs[plane * count + cell]] = r.plane[plane] + r.plane_spread[plane]
    _linear(r.mixed, n.out_weight, n.out_bias, r.flat)
    for number in range(len(r.flat)):
        out[n.outputs[planes * count + number]] = r.flat[number]


@jit_nogil
def logits(network: Network, rows: np.ndarray, outs: np.ndarray) -> None:
    """outs[i] = the logits of rows[i], float32 both."""
    room = _scratch(network)
    for i in range(len(rows)):
        _trunk(network, rows[i], room)
        _heads(network, room, outs[i])


@jit_nogil
def best(outs: np.ndarray, masks: np.ndarray, actions: np.ndarray) -> None:
    """actions[i] = the legal action with the highest logit, the lowest of equal ones."""
    for i in range(len(outs)):
        chosen = -1
        for action in range(outs.shape[1]):
            if masks[i, action] != 0 and (chosen < 0 or outs[i, action] > outs[i, chosen]):
                chosen = action
        actions[i] = chosen
