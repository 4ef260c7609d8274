"""A bidirectional LSTM layer over packed sentences, and its gradient (Hochreiter & Schmidhuber 1997; forget gates).

The equations of a direction, where σ is the logistic function, · is elementwise, and each gate has its own W, U and b:

    i, f, o = σ(W x_t + U h_{t-1} + b)      g = tanh(W x_t + U h_{t-1} + b)
    c_t = f · c_{t-1} + i · g               h_t = o · tanh(c_t)

Packed means: the sentences of a batch go from long to short, and the rows of time step t (one for each sentence that
is long enough) follow those of t-1. So nothing is padded, and each step is one matrix product over the sentences that
have not ended. The cost is 8 H (D + H) multiplications a word for input width D and H units a direction, nearly all of
them in kit/matrix_products.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import LongArray
from rerank_plugins.kit.matrix_products import add_product, product

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
        state, memory = recur(product(x, w) + b, u, packing, reverse=reverse)
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
        grads[f"{name}.w"], grads[f"{name}.u"] = product(x.T, dz), product(memory.states_before.T, dz)
        grads[f"{name}.b"] = dz.sum(axis=0)
        dx += product(dz, params[f"{name}.w"].T)
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
        # The gates, by tanh alone.
        gates = z[here]
        add_product(h[:n], u, gates)
        gates[:, : 3 * size] *= 0.5  # sigmoid(x) = (1 + tanh(x / 2)) / 2
        np.tanh(gates, out=gates)
        gates[:, : 3 * size] += 1
        gates[:, : 3 * size] *= 0.5
        i, f, o, g = np.split(gates, 4, axis=1)
        # The cells and states of this step.
        c[:n] = f * c[:n] + i * g
        np.tanh(c[:n], out=squashed[here])
        np.multiply(o, squashed[here], out=h[:n])
        states[here] = h[:n]
    return states, Memory(z, squashed, states_before, cells_before)


def recur_gradient(dstates: Float32, memory: Memory, u: Float32, packing: Packing, *, reverse: bool) -> Float32:
    """The gradient at W x + U h + b (rows, 4H), given that at the states (rows, H)."""
    size, starts, sizes, transposed = len(u), packing.starts, packing.sizes, np.ascontiguousarray(u.T)
    dz = np.empty_like(memory.gates)
    dh = np.zeros((len(packing.lengths), size), np.float32)
    dc = np.zeros_like(dh)
    for t in reversed(_order(len(sizes), reverse)):
        here, n = slice(starts[t], starts[t + 1]), sizes[t]
        i, f, o, g = np.split(memory.gates[here], 4, axis=1)
        squashed, out = memory.squashed[here], dz[here]
        # h_t acts on the layer above and, by the gates, on the next step; c_t acts on h_t and on c_{t+1}.
        dstate = dstates[here] + dh[:n]
        dcell = dc[:n] + dstate * o * (1 - squashed * squashed)
        # Through σ' = σ (1 - σ) and tanh' = 1 - tanh².
        out[:, :size] = dcell * g * i * (1 - i)
        out[:, size : 2 * size] = dcell * memory.cells_before[here] * f * (1 - f)
        out[:, 2 * size : 3 * size] = dstate * squashed * o * (1 - o)
        out[:, 3 * size :] = dcell * i * (1 - g * g)
        # On to the step before.
        dc[:n] = dcell * f
        dh[:n] = product(out, transposed)
    return dz


def _order(length: int, reverse: bool) -> Sequence[int]:
    return range(length - 1, -1, -1) if reverse else range(length)
