"""A step of training: the gradient of a batch by sampled outputs, and the moves of the weights against it.

The sum over all output words is estimated from a part C of them: the predicted words of the batch and some drawn from
the distribution q. Output e is in C with the probability pi_e = 1 - (1 - q_e)^draws (1 - p_e)^batch, p the distribution
of predicted words, so that the sum of exp(s_e) / pi_e over C, in which the right word itself counts once, has no bias
(importance sampling; Bengio and Senécal 2003). The embedding and the output weights of a word have a rate of their own,
which falls with the squares of the row's gradients (Adagrad: Duchi et al. 2011); the hidden layer has the steps of Adam
(Kingma and Ba 2015).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.kit.elementary_functions import expm1, log, log1p
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.kit.matrix_products import product
from rerank_plugins.translation.joint_model.model import JointModel, Weights

FIRST = 1e-6  # the sum of squares of a row before its first gradient
MEANS, SQUARES, LEAST = 0.9, 0.999, 1e-8  # Adam's beta 1, beta 2 and epsilon


@dataclass(frozen=True, eq=False)
class Sampling:
    """The distributions q (outputs), from which outputs are drawn, and p (outputs) of predicted words."""

    drawn: FloatArray
    predicted: FloatArray
    draws: int

    @cached_property
    def _cumulative(self) -> FloatArray:
        return np.cumsum(self.drawn)

    def draw(self, outputs: IntArray, generator: Generator) -> tuple[LongArray, Weights]:
        """The outputs C of a batch, ascending, and their (C) ln pi."""
        noise = np.searchsorted(self._cumulative, generator.random(self.draws)).clip(0, len(self.drawn) - 1)
        chosen = np.unique(np.concatenate([outputs, noise]))
        absent = self.draws * log1p(-self.drawn[chosen]) + len(outputs) * log1p(-self.predicted[chosen])
        return chosen, log(-expm1(absent)).astype(np.float32)


class Gradient(NamedTuple):
    """The estimated loss -ln p of a batch, in nats, and its gradients.

    `inputs` is (batch, K, D), `output` (C, H) and `output_bias` (C) are those of the outputs C.
    """

    loss: float
    inputs: Weights
    hidden: Weights
    hidden_bias: Weights
    output: Weights
    output_bias: Weights


def gradient(
    model: JointModel, symbols: IntArray, outputs: IntArray, chosen: LongArray, ln_pi: Weights, kept: Weights
) -> Gradient:
    """The gradient of the batch of contexts `symbols` (batch, K) and predicted words `outputs` (batch).

    `chosen` are the outputs C with their `ln_pi`. `kept` (batch, H) multiplies the hidden layer: 0 for units that are
    dropped out, and 1 / (1 - their proportion) for the others.
    """
    inputs, hidden = model.activations(symbols)
    hidden *= kept
    rows, right = np.arange(len(symbols)), np.searchsorted(chosen, outputs)
    weights = model.output[chosen]
    scores = product(hidden, weights.T)
    scores += model.output_bias[chosen]
    scores -= ln_pi
    scores[rows, right] += ln_pi[right]
    scores -= scores.max(axis=1, keepdims=True)
    p = np.exp(scores, out=scores)
    p /= p.sum(axis=1, keepdims=True)
    loss = -float(np.log(np.maximum(p[rows, right], 1e-30)).sum(dtype=np.float64))
    p[rows, right] -= 1
    of_hidden = product(p, weights) * kept
    of_hidden *= hidden > 0
    of_inputs = product(of_hidden, model.hidden.T).reshape(*symbols.shape, -1)
    of_weights = product(inputs.T, of_hidden), of_hidden.sum(axis=0), product(p.T, hidden), p.sum(axis=0)
    return Gradient(loss, of_inputs, *of_weights)


@filling_kernel
def move_rows(symbols: Any, slopes: Any, step: Any, squares: Any, rows: Any) -> None:
    """Move `rows` (words, D) against `slopes` (batch, K, D) of `symbols` (batch, K), with one rate for each row.

    `squares` (words) are the sums of the mean squares of each row's gradients so far; the rate is step / sqrt(square).
    """
    batch, places, size = slopes.shape
    for b in range(batch):
        for k in range(places):
            row = symbols[b, k]
            square = np.float32(0)
            for d in range(size):
                square += slopes[b, k, d] * slopes[b, k, d]
            squares[row] += square / np.float32(size)
            rate = step / np.sqrt(squares[row])
            for d in range(size):
                rows[row, d] -= rate * slopes[b, k, d]


@dataclass
class Optimiser:
    """Moves a model against gradients.

    `squares` has the sums of the mean squared gradients of embeddings and of outputs, `moments` the means and mean
    squares of the gradients of the hidden layer.
    """

    model: JointModel
    squares: tuple[Weights, Weights] = field(init=False)
    moments: dict[str, tuple[Weights, Weights]] = field(init=False)
    batches: int = 0

    def __post_init__(self) -> None:
        size = len(self.model.embeddings), len(self.model.output)
        self.squares = np.full(size[0], FIRST, np.float32), np.full(size[1], FIRST, np.float32)
        self.moments = {
            name: (np.zeros_like(weights), np.zeros_like(weights))
            for name, weights in (("hidden", self.model.hidden), ("hidden_bias", self.model.hidden_bias))
        }

    def move(self, symbols: IntArray, chosen: LongArray, change: Gradient, word_step: float, step: float) -> None:
        """A step against the gradient of a batch (batch, K) of `symbols`, with the sampled outputs `chosen` (C)."""
        model, (inputs, outputs) = self.model, self.squares
        move_rows(symbols, change.inputs, np.float32(word_step), inputs, model.embeddings)
        rows = change.output.shape[1] + 1
        outputs[chosen] += ((change.output**2).sum(axis=1) + change.output_bias**2) / rows
        rate = word_step / np.sqrt(outputs[chosen])
        model.output[chosen] -= rate[:, None] * change.output
        model.output_bias[chosen] -= rate * change.output_bias
        self.batches += 1
        scale = step * np.sqrt(1 - SQUARES**self.batches) / (1 - MEANS**self.batches)
        for name, (mean, square) in self.moments.items():
            slope = getattr(change, name)
            mean += np.float32(1 - MEANS) * (slope - mean)
            square += np.float32(1 - SQUARES) * (slope**2 - square)
            weights = getattr(model, name)
            weights -= np.float32(scale) * mean / (np.sqrt(square) + np.float32(LEAST))
