"""The states of the two LSTM layers while parsing: those of `encode` (network.py), without what gradients need.

Each distinct word of a batch is multiplied by the input weights once, and the lower layer reads each distinct beginning
and each distinct end of the sentences once. As σ(x) = (1 + tanh(x / 2)) / 2, the weights of the gates i, f and o are
halved beforehand, which is exact in binary, and

    c_t = ((1 + f') c_{t-1} + (1 + i') g) / 2      h_t = (1 + o') tanh(c_t) / 2      i', f', o' = tanh(W x / 2 + …)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rerank_plugins.parsers.biaffine.lstm import DIRECTIONS, Float32, Int64, Packing, Params

LAYERS = ("lstm1", "lstm2")


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
    each distinct beginning and each distinct end of the sentences is computed once.
    """
    size, kinds = len(layer[0].u), len(inputs)
    states = np.empty((len(ids), 2 * size), np.float32)
    for number, (w, u, b, reverse) in enumerate(layer):
        z = inputs @ w + b
        node = np.zeros(len(packing.lengths), np.int64)  # the row of `h` of what each sentence has read so far
        h = c = np.zeros((1, size), np.float32)  # the first row: nothing
        for start, n in _steps(packing, reverse):
            rows = slice(start, start + n)
            distinct, place = np.unique(node[:n] * kinds + ids[rows], return_inverse=True)
            before, word = np.divmod(distinct, kinds)
            state, cell = np.zeros((2, 1 + len(distinct), size), np.float32)
            cell[1:] = c[before]
            _read(z[word] + h[before] @ u, cell[1:], state[1:])
            h, c = state, cell
            node[:n] = place + 1
            states[rows, number * size : (number + 1) * size] = h[node[:n]]
    return states


def upper_states(inputs: Float32, layer: tuple[Direction, ...], packing: Packing) -> Float32:
    """Return the states (n, 2H) of the upper layer over the states of the lower one, which are those of sentences."""
    size = len(layer[0].u)
    states = np.empty((len(inputs), 2 * size), np.float32)
    for number, (w, u, b, reverse) in enumerate(layer):
        z = inputs @ w
        z += b
        h, c = np.zeros((2, len(packing.lengths), size), np.float32)
        product = np.empty((len(h), 4 * size), np.float32)
        for start, n in _steps(packing, reverse):
            gates = z[start : start + n]
            gates += np.matmul(h[:n], u, out=product[:n])
            _read(gates, c[:n], h[:n])
            states[start : start + n, number * size : (number + 1) * size] = h[:n]
    return states


def _steps(packing: Packing, reverse: bool) -> list[tuple[int, int]]:
    """Return the first row and the number of rows of each time step."""
    steps = list(zip(packing.starts.tolist(), packing.sizes.tolist(), strict=False))
    return steps[::-1] if reverse else steps


def _read(gates: Float32, cell: Float32, state: Float32) -> None:
    """Update the cells (n, H), and write the states (n, H); `gates` (n, 4H) are overwritten."""
    size = cell.shape[1]
    np.tanh(gates, out=gates)
    gates[:, : 3 * size] += 1
    i, f, o, g = (gates[:, k * size : (k + 1) * size] for k in range(4))
    cell *= f
    i *= g
    cell += i
    cell *= 0.5
    np.tanh(cell, out=state)
    state *= o
    state *= 0.5
