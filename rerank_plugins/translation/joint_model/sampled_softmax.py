"""The gradient of a batch, with the sum over all output words estimated from a part of them.

The outputs C of a batch are its own predicted words and some that are drawn from the distribution q. Output e is in C
with the probability

    pi_e = 1 - (1 - q_e)^draws (1 - p_e)^batch,    p the distribution of predicted words,

so that the sum of exp(s_e) / pi_e over C, in which the right word itself counts once, is an estimate of the sum over
all outputs without bias (importance sampling; Bengio and Senécal 2003). All words of the batch share C, and scores and
gradients are products of dense matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.kit.elementary_functions import expm1, log, log1p
from rerank_plugins.kit.matrix_products import product
from rerank_plugins.translation.joint_model.model import JointModel, Weights


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
