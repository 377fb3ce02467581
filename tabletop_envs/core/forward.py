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
NO_GROUP: Final = -1  # in the place of a cell


class Network(NamedTuple):
    """Weights in float32, and where inputs and outputs belong.

    n inputs, m actions, c channels, w width, d convolutions behind the first, k output planes, f flat outputs; a board
    of height * width cells, and planes over it; a game without boards has no cells, and 0 in their places.
    """

    board: np.ndarray  # (2,): height, width
    inputs: np.ndarray  # (n, 2): plane and cell, or FLAT and the number among the flat inputs
    outputs: np.ndarray  # (m,): produced output -> action; planes first, cell by cell, then the flat ones
    flat_weight: np.ndarray  # (flat inputs, w)
    flat_bias: np.ndarray  # (w,)
    first_weight: np.ndarray  # (input planes, TAPS, c)
    first_bias: np.ndarray  # (c,)
    spread_weight: np.ndarray  # (w, c)
    spread_bias: np.ndarray  # (c,)
    links: np.ndarray  # (sides, input planes): whether the plane opens a cell to that side; (0, input planes) if none
    group_weight: np.ndarray  # (1, TAPS, c, c): from, to, of the groups' sums; 0 in the place of 1 if there are none
    group_bias: np.ndarray  # (1, c)
    later_weight: np.ndarray  # (d, TAPS, c, c): from, to
    later_bias: np.ndarray  # (d, c)
    mix_weight: np.ndarray  # (w + 2 c or w, w)
    mix_bias: np.ndarray  # (w,)
    last_weight: np.ndarray  # (w, w) of a game without boards, else (0, w)
    last_bias: np.ndarray  # (w,)
    plane_weight: np.ndarray  # (c, k)
    plane_bias: np.ndarray  # (k,)
    plane_spread_weight: np.ndarray  # (w, k)
    plane_spread_bias: np.ndarray  # (k,)
    out_weight: np.ndarray  # (w, f)
    out_bias: np.ndarray  # (f,)


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
def _first(n: Any, row: Any, cells: Any, whole: Any) -> None:
    """The first layer: every input that is not zero gives to the cells around its own, or to the whole."""
    height, width, channels = int(n.board[0]), int(n.board[1]), len(n.first_bias)
    overwrite(whole, n.flat_bias)
    for cell in range(len(cells)):
        overwrite(cells[cell], n.first_bias)
    for i in range(len(row)):
        value = row[i]
        if value == 0:
            continue
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
def _label(board: Any, open_to: Any, labels: Any, found: Any) -> None:
    """labels[cell] = the lowest cell of its group, or NO_GROUP where it is open to no side.

    open_to[cell, side]: to the north, east, south, west; neighbours that are open to each other are of one group;
    found: scratch for as many cells.
    """
    height, width = int(board[0]), int(board[1])
    for cell in range(len(labels)):
        labels[cell] = NO_GROUP
    for first in range(len(labels)):
        if labels[first] != NO_GROUP or not (
            open_to[first, 0] or open_to[first, 1] or open_to[first, 2] or open_to[first, 3]
        ):
            continue
        labels[first] = found[0] = first
        count = 1
        while count > 0:
            count -= 1
            cell = int(found[count])
            y, x = cell // width, cell % width
            for side in range(SIDES):
                to_y, to_x = y + (side == 2) - (side == 0), x + (side == 1) - (side == 3)
                if open_to[cell, side] and 0 <= to_y < height and 0 <= to_x < width:
                    other = to_y * width + to_x
                    if labels[other] == NO_GROUP and open_to[other, (side + 2) % SIDES]:
                        labels[other] = first
                        found[count] = other
                        count += 1


@jit_nogil
def label_groups(board: np.ndarray, open_to: np.ndarray, labels: np.ndarray) -> None:
    """labels[i, cell] of each board i, see `_label`; open_to: (n, cells, sides)."""
    found = np.empty(labels.shape[1], dtype=np.int64)
    for i in range(len(labels)):
        _label(board, open_to[i], labels[i], found)


@jit
def _add_up(n: Any, row: Any, cells: Any, sums: Any) -> None:
    """sums[cell] = the features of all cells of its group, 0 where it has none."""
    count = len(cells)
    open_to = np.zeros((count, SIDES), dtype=np.bool_)
    for i in range(len(row)):
        if row[i] != 0 and n.inputs[i, 0] != FLAT:
            for side in range(SIDES):
                if n.links[side, n.inputs[i, 0]] != 0:
                    open_to[n.inputs[i, 1], side] = True
    labels = np.empty(count, dtype=np.int64)
    _label(n.board, open_to, labels, np.empty(count, dtype=np.int64))
    for cell in range(count):
        sums[cell] = 0
    for cell in range(count):
        if labels[cell] != NO_GROUP:
            for c in range(cells.shape[1]):
                sums[labels[cell], c] += cells[cell, c]
    for cell in range(count):
        if labels[cell] != NO_GROUP:
            overwrite(sums[cell], sums[labels[cell]])


@jit
def _convolve(n: Any, weight: Any, bias: Any, source: Any, before: Any, cells: Any) -> None:
    """cells = rectified(before + convolution(source)); weight: (TAPS, from, to)."""
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
                    value = source[other, i]
                    if value != 0:
                        for c in range(channels):
                            cells[cell, c] += value * weight[tap, i, c]
        for c in range(channels):
            cells[cell, c] = max(np.float32(0), cells[cell, c])


@jit
def _keep(cells: Any, before: Any) -> None:
    for cell in range(len(cells)):
        overwrite(before[cell], cells[cell])


@jit
def _trunk(n: Any, row: Any, cells: Any, before: Any, whole: Any, pooled: Any) -> None:
    """Features of each cell into `cells`, of the whole into `whole`; the other arrays are scratch."""
    channels, size = len(n.first_bias), len(whole)
    _first(n, row, cells, whole)
    _relu(whole)
    if len(cells) == 0:
        _linear(whole, n.mix_weight, n.mix_bias, pooled)
        _relu(pooled)
        _linear(pooled, n.last_weight, n.last_bias, whole)
        _relu(whole)
        return
    spread = np.empty(channels, dtype=np.float32)
    _linear(whole, n.spread_weight, n.spread_bias, spread)
    for cell in range(len(cells)):
        for c in range(channels):
            cells[cell, c] = max(np.float32(0), cells[cell, c] + spread[c])
    for layer in range(len(n.group_bias)):
        sums = np.empty_like(cells)
        _keep(cells, before)
        _add_up(n, row, before, sums)
        _convolve(n, n.group_weight[layer], n.group_bias[layer], sums, before, cells)
    for layer in range(len(n.later_bias)):
        _keep(cells, before)
        _convolve(n, n.later_weight[layer], n.later_bias[layer], before, before, cells)
    # the mean and the greatest of each channel; none is below 0
    overwrite(pooled, whole)
    pooled[size:] = 0
    for cell in range(len(cells)):
        for c in range(channels):
            pooled[size + c] += cells[cell, c]
            pooled[size + channels + c] = max(pooled[size + channels + c], cells[cell, c])
    for c in range(channels):
        pooled[size + c] /= np.float32(len(cells))
    _linear(pooled, n.mix_weight, n.mix_bias, whole)
    _relu(whole)


@jit
def _heads(n: Any, cells: Any, whole: Any, out: Any) -> None:
    """Logits in the order of the action space."""
    planes = len(n.plane_bias)
    spread = np.empty(planes, dtype=np.float32)
    values = np.empty(planes, dtype=np.float32)
    if planes > 0:
        _linear(whole, n.plane_spread_weight, n.plane_spread_bias, spread)
    for cell in range(len(cells)):
        _linear(cells[cell], n.plane_weight, n.plane_bias, values)
        for plane in range(planes):
            out[n.outputs[plane * len(cells) + cell]] = values[plane] + spread[plane]
    flat = np.empty(len(n.out_bias), dtype=np.float32)
    _linear(whole, n.out_weight, n.out_bias, flat)
    for number in range(len(flat)):
        out[n.outputs[planes * len(cells) + number]] = flat[number]


@jit_nogil
def logits(network: Network, rows: np.ndarray, outs: np.ndarray) -> None:
    """outs[i] = the logits of rows[i], float32 both."""
    n = network
    count = int(n.board[0]) * int(n.board[1])
    cells = np.empty((count, len(n.first_bias)), dtype=np.float32)
    before = np.empty_like(cells)
    whole = np.empty(len(n.flat_bias), dtype=np.float32)
    pooled = np.empty(n.mix_weight.shape[0], dtype=np.float32)
    for i in range(len(rows)):
        _trunk(n, rows[i], cells, before, whole, pooled)
        _heads(n, cells, whole, outs[i])


@jit_nogil
def best(outs: np.ndarray, masks: np.ndarray, actions: np.ndarray) -> None:
    """actions[i] = the legal action with the highest logit, the lowest of equal ones."""
    for i in range(len(outs)):
        chosen = -1
        for action in range(outs.shape[1]):
            if masks[i, action] != 0 and (chosen < 0 or outs[i, action] > outs[i, chosen]):
                chosen = action
        actions[i] = chosen
