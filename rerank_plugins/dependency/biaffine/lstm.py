"""A bidirectional LSTM layer over packed sentences, and its gradient (Hochreiter & Schmidhuber 1997; forget gates).

The equations of a direction, where σ is the logistic function, · is elementwise, and each gate has its own W, U and b:

    i, f, o = σ(W x_t + U h_{t-1} + b)      g = tanh(W x_t + U h_{t-1} + b)
    c_t = f · c_{t-1} + i · g               h_t = o · tanh(c_t)

Packed means: the sentences of a batch go from long to short, and the rows of time step t (one for each sentence that
is long enough) follow those of t-1. So nothing is padded, and each step is one matrix product over the sentences that
have not ended. The cost is 8 H (D + H) multiplications a word for input width D and H units a direction.

Parsing needs no gradients: each distinct word of a batch is multiplied by the input weights once. Where the sentences
are much alike, as the hypotheses of an n-best list are, the lower layer reads each distinct beginning and each distinct
end once. As σ(x) = (1 + tanh(x / 2)) / 2, the weights of the gates i, f and o are halved beforehand, which is exact in
binary, and

    c_t = ((1 + f') c_{t-1} + (1 + i') g) / 2      h_t = (1 + o') tanh(c_t) / 2      i', f', o' = tanh(W x / 2 + …)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import LongArray
from rerank_plugins.kit.kernels import filling_kernel

Float32 = NDArray[np.float32]
Int64 = LongArray
Params = dict[str, Float32]
DIRECTIONS = (("forward", False), ("backward", True))


class Packing(NamedTuple):
    """The rows of a batch: word t of sentence s is row `starts[t] + s`; `sizes[t]` sentences have a word t."""

    lengths: Int64
    sizes: Int64
    starts: Int64

    @classmethod
    def of(cls, lengths: Sequence[int]) -> Packing:
        """The packing of sentences of these lengths, longest first."""
        array = np.asarray(lengths, np.int64)
        assert (np.diff(array) <= 0).all(), "longest sentences first"
        sizes = (array > np.arange(array.max(initial=0))[:, None]).sum(axis=1)
        return cls(array, sizes, np.concatenate([[0], np.cumsum(sizes)]))

    def grid(self) -> Int64:
        """(sentences, longest) the row of each word; past the end of a sentence, the number of rows."""
        inside = np.arange(len(self.sizes)) < self.lengths[:, None]
        rows = self.starts[:-1] + np.arange(len(self.lengths))[:, None]
        return np.where(inside, rows, self.starts[-1])


class Memory(NamedTuple):
    """What the gradient of a direction needs: gates i, f, o, g (rows, 4H); tanh(c_t), h_{t-1}, c_{t-1} (rows, H)."""

    gates: Float32
    squashed: Float32
    states_before: Float32
    cells_before: Float32


def bilstm(x: Float32, params: Params, layer: str, packing: Packing) -> tuple[Float32, list[Memory]]:
    """The states (rows, 2H) of inputs (rows, D), by the weights w (D, 4H), u (H, 4H), b (4H) of each direction."""
    states, memories = [], []
    for direction, reverse in DIRECTIONS:
        w, u, b = (params[f"{layer}.{direction}.{part}"] for part in "wub")
        state, memory = recur(x @ w + b, u, packing, reverse=reverse)
        states.append(state)
        memories.append(memory)
    return np.hstack(states), memories


def bilstm_gradient(
    dstates: Float32, x: Float32, params: Params, layer: str, packing: Packing, memories: list[Memory], grads: Params
) -> Float32:
    """The gradient at the inputs (rows, D), given that at the states (rows, 2H); `grads` gets that at the weights."""
    dx = np.zeros_like(x)
    halves = np.split(dstates, 2, axis=1)
    for (direction, reverse), memory, half in zip(DIRECTIONS, memories, halves, strict=True):
        name = f"{layer}.{direction}"
        dz = recur_gradient(half, memory, params[f"{name}.u"], packing, reverse=reverse)
        grads[f"{name}.w"], grads[f"{name}.u"] = x.T @ dz, memory.states_before.T @ dz
        grads[f"{name}.b"] = dz.sum(axis=0)
        dx += dz @ params[f"{name}.w"].T
    return dx


def recur(z: Float32, u: Float32, packing: Packing, *, reverse: bool) -> tuple[Float32, Memory]:
    """The states (rows, H) of one direction; `z` (rows, 4H) holds W x + b, and is overwritten by the gates."""
    size, starts, sizes = len(u), packing.starts, packing.sizes
    squashed, states, states_before, cells_before = (np.empty((len(z), size), np.float32) for _ in range(4))
    h = np.zeros((len(packing.lengths), size), np.float32)
    c = np.zeros_like(h)
    for t in _order(len(sizes), reverse):
        here, n = slice(starts[t], starts[t + 1]), sizes[t]
        states_before[here], cells_before[here] = h[:n], c[:n]
        # The gates, by tanh alone: σ(x) = (1 + tanh(x / 2)) / 2.
        gates = z[here]
        gates += h[:n] @ u
        gates[:, : 3 * size] *= 0.5
        np.tanh(gates, out=gates)
        # The cells and states of this step.
        finish_gates(gates, c[:n])
        np.tanh(c[:n], out=squashed[here])
        np.multiply(gates[:, 2 * size : 3 * size], squashed[here], out=h[:n])
        states[here] = h[:n]
    return states, Memory(z, squashed, states_before, cells_before)


def recur_gradient(dstates: Float32, memory: Memory, u: Float32, packing: Packing, *, reverse: bool) -> Float32:
    """The gradient at W x + U h + b (rows, 4H), given that at the states (rows, H)."""
    starts, sizes = packing.starts, packing.sizes
    dz = np.empty_like(memory.gates)
    dh, dc = np.zeros((2, len(packing.lengths), len(u)), np.float32)
    for t in reversed(_order(len(sizes), reverse)):
        here, n = slice(starts[t], starts[t + 1]), sizes[t]
        gates, squashed, cells_before = memory.gates[here], memory.squashed[here], memory.cells_before[here]
        back_through_step(gates, squashed, cells_before, dstates[here], dh, dc, dz[here])
        dh[:n] = dz[here] @ u.T
    return dz


@filling_kernel
def finish_gates(gates: Float32, cells: Float32) -> None:
    """Make the gates i, f and o (n, 4H) of tanh(x / 2), and update the cells (n, H)."""
    size = cells.shape[1]
    one, half = np.float32(1), np.float32(0.5)
    for row in range(len(cells)):
        for k in range(3 * size):
            gates[row, k] = (gates[row, k] + one) * half
        for k in range(size):
            kept = gates[row, size + k] * cells[row, k]
            cells[row, k] = kept + gates[row, k] * gates[row, 3 * size + k]


@filling_kernel
def back_through_step(
    gates: Float32, squashed: Float32, cells_before: Float32, dstates: Float32, dh: Float32, dc: Float32, dz: Float32
) -> None:
    """Write the gradient at W x + U h + b (n, 4H) of a step, and update that at the cells, `dc` (n or more, H).

    The state acts on the layer above (`dstates`) and, by the gates, on the next step (`dh`); the cell acts on the state
    and on the next cell. σ' = σ (1 - σ) and tanh' = 1 - tanh².
    """
    size = squashed.shape[1]
    one = np.float32(1)
    for row in range(len(dz)):
        for k in range(size):
            i, f = gates[row, k], gates[row, size + k]
            o, g = gates[row, 2 * size + k], gates[row, 3 * size + k]
            tanh = squashed[row, k]
            dstate = dstates[row, k] + dh[row, k]
            dcell = dc[row, k] + dstate * o * (one - tanh * tanh)
            dz[row, k] = dcell * g * i * (one - i)
            dz[row, size + k] = dcell * cells_before[row, k] * f * (one - f)
            dz[row, 2 * size + k] = dstate * tanh * o * (one - o)
            dz[row, 3 * size + k] = dcell * i * (one - g * g)
            dc[row, k] = dcell * f


def _order(length: int, reverse: bool) -> Sequence[int]:
    return range(length - 1, -1, -1) if reverse else range(length)


LAYERS = ("lstm1", "lstm2")
LOOKED_AT, ALIKE = 3, 0.7  # where less than this proportion of the first so many words is distinct, sentences are alike


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
        z = inputs @ direction.w + direction.b
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
        z = inputs @ direction.w + direction.b
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
        gates += h[:n] @ u
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
        _read(z[word] + h[before] @ u, cell[1:], state[1:])
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
def update_cells(gates: Float32, cell: Float32) -> None:
    """Update the cells (n, H) by the gates i', f', o' and g (n, 4H), all in single precision."""
    size = cell.shape[1]
    one, half = np.float32(1), np.float32(0.5)
    for row in range(len(cell)):
        for k in range(size):
            kept = (gates[row, size + k] + one) * cell[row, k]
            cell[row, k] = (kept + (gates[row, k] + one) * gates[row, 3 * size + k]) * half
