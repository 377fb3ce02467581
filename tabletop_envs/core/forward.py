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

FLAT: Final = -1  # in the place of a plane
_SIDE: Final = 3  # of a convolution
TAPS: Final = _SIDE * _SIDE


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
def _convolve(n: Any, layer: int, before: Any, cells: Any) -> None:
    """cells = rectified(before + convolution(before))."""
    height, width, channels = int(n.board[0]), int(n.board[1]), before.shape[1]
    for cell in range(len(cells)):
        y, x = cell // width, cell % width
        for c in range(channels):
            cells[cell, c] = before[cell, c] + n.later_bias[layer, c]
        for tap in range(TAPS):
            from_y, from_x = y - 1 + tap // _SIDE, x - 1 + tap % _SIDE
            if 0 <= from_y < height and 0 <= from_x < width:
                other = from_y * width + from_x
                for i in range(channels):
                    value = before[other, i]
                    if value != 0:
                        for c in range(channels):
                            cells[cell, c] += value * n.later_weight[layer, tap, i, c]
        for c in range(channels):
            cells[cell, c] = max(np.float32(0), cells[cell, c])


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
    for layer in range(len(n.later_bias)):
        for cell in range(len(cells)):
            overwrite(before[cell], cells[cell])
        _convolve(n, layer, before, cells)
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
