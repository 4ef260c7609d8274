"""Computes the states of the two LSTM layers for parsing, without what the gradients of training need.

Each distinct word of a batch is multiplied by the input weights once. Where the sentences are much alike, as the
hypotheses of an n-best list are, the lower layer reads each distinct beginning and each distinct end once. As
σ(x) = (1 + tanh(x / 2)) / 2, the weights of the gates i, f and o are halved beforehand, which is exact in binary, and

    c_t = ((1 + f') c_{t-1} + (1 + i') g) / 2      h_t = (1 + o') tanh(c_t) / 2      i', f', o' = tanh(W x / 2 + …)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rerank_plugins.dependency.biaffine.lstm import DIRECTIONS, Float32, Int64, Packing, Params
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.kit.matrix_products import add_product, product

LAYERS = ("lstm1", "lstm2")
LOOKED_AT, ALIKE = 3, 0.7  # where less than this share of the first so many words is distinct, sentences are alike


class Direction(NamedTuple):
    """The weights w (D, 4H), u (H, 4H) and b (4H) of one direction of a layer, those of i, f and o halved."""

    w: Float32
    u: Float32
    b: Float32
    reverse: bool


def halved(params: Params) -> tuple[tuple[Direction, ...], ...]:
    """Return the weights of both directions of each layer."""
    layers = []
    for layer in LAYERS:
        size = len(params[f"{layer}.forward.u"])
        factor = np.repeat(np.array([0.5, 0.5, 0.5, 1.0], np.float32), size)
        directions = []
        for direction, reverse in DIRECTIONS:
            w, u, b = (params[f"{layer}.{direction}.{part}"] * factor for part in "wub")
            directions.append(Direction(w, u, b, reverse))
        layers.append(tuple(directions))
    return tuple(layers)


def lower_states(inputs: Float32, ids: Int64, layer: tuple[Direction, ...], packing: Packing) -> Float32:
    """Return the states (n, 2H) of the lower layer over words whose inputs are the rows `ids` of `inputs`.

    They depend on the words so far alone, those to the left in one direction and those to the right in the other, so
    where many sentences begin or end alike, each distinct beginning or end is computed once.
    """
    size = len(layer[0].u)
    states = np.empty((len(ids), 2 * size), np.float32)
    for number, direction in enumerate(layer):
        z = product(inputs, direction.w)
        z += direction.b
        half = states[:, number * size : (number + 1) * size]
        if _alike(ids, packing, direction.reverse):
            _recur_over_distinct(z, ids, direction, packing, half)
        else:
            _recur(z[ids], direction, packing, half)
    return states


def upper_states(inputs: Float32, layer: tuple[Direction, ...], packing: Packing) -> Float32:
    """Return the states (n, 2H) of the upper layer over the states of the lower one, which are those of sentences."""
    size = len(layer[0].u)
    states = np.empty((len(inputs), 2 * size), np.float32)
    for number, direction in enumerate(layer):
        z = product(inputs, direction.w)
        z += direction.b
        _recur(z, direction, packing, states[:, number * size : (number + 1) * size])
    return states


def _alike(ids: Int64, packing: Packing, reverse: bool) -> bool:
    """Whether many sentences share their first words (in reverse, their last ones)."""
    if len(packing.sizes) < LOOKED_AT:
        return True
    sentences = np.arange(packing.sizes[LOOKED_AT - 1])
    first = packing.lengths[sentences] - 1 if reverse else np.zeros(len(sentences), np.int64)
    key, kinds = np.zeros(len(sentences), np.int64), int(ids.max()) + 1
    for step in range(LOOKED_AT):
        key = key * kinds + ids[packing.starts[first - step if reverse else first + step] + sentences]
    return len(np.unique(key)) < ALIKE * len(sentences)


def _recur(z: Float32, direction: Direction, packing: Packing, states: Float32) -> None:
    """Write the states (n, H) of a direction; `z` (n, 4H), which holds W x + b, is overwritten."""
    u, size = direction.u, len(direction.u)
    h, c = np.zeros((2, len(packing.lengths), size), np.float32)
    for start, n in _steps(packing, direction.reverse):
        gates = z[start : start + n]
        add_product(h[:n], u, gates)
        _read(gates, c[:n], h[:n])
        states[start : start + n] = h[:n]


def _recur_over_distinct(z: Float32, ids: Int64, direction: Direction, packing: Packing, states: Float32) -> None:
    """Write the same states, where the rows `ids` of `z` hold W x + b; each distinct beginning is computed once."""
    u, size, kinds = direction.u, len(direction.u), len(z)
    node = np.zeros(len(packing.lengths), np.int64)  # the row of `h` of what each sentence has read so far
    h = c = np.zeros((1, size), np.float32)  # the first row: nothing
    for start, n in _steps(packing, direction.reverse):
        rows = slice(start, start + n)
        distinct, place = np.unique(node[:n] * kinds + ids[rows], return_inverse=True)
        before, word = np.divmod(distinct, kinds)
        state, cell = np.zeros((2, 1 + len(distinct), size), np.float32)
        cell[1:] = c[before]
        _read(z[word] + product(h[before], u), cell[1:], state[1:])
        h, c = state, cell
        node[:n] = place + 1
        states[rows] = h[node[:n]]


def _steps(packing: Packing, reverse: bool) -> list[tuple[int, int]]:
    """Return the first row and the number of rows of each time step."""
    steps = list(zip(packing.starts.tolist(), packing.sizes.tolist(), strict=False))
    return steps[::-1] if reverse else steps


def _read(gates: Float32, cell: Float32, state: Float32) -> None:
    """Update the cells (n, H), and write the states (n, H); `gates` (n, 4H) are overwritten."""
    size = cell.shape[1]
    np.tanh(gates, out=gates)
    update_cells(gates, cell)
    np.tanh(cell, out=state)
    output = gates[:, 2 * size : 3 * size]
    output += 1
    state *= output
    state *= 0.5


@filling_kernel
def update_cells(gates: Any, cell: Any) -> None:
    """Update the cells (n, H) by the gates i', f', o' and g (n, 4H), all in single precision."""
    size = cell.shape[1]
    one, half = np.float32(1), np.float32(0.5)
    for row in range(len(cell)):
        for k in range(size):
            kept = (gates[row, size + k] + one) * cell[row, k]
            cell[row, k] = (kept + (gates[row, k] + one) * gates[row, 3 * size + k]) * half
