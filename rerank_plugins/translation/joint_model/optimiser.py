"""The optimiser of the network: Adagrad for the rows that belong to words, Adam for the hidden layer.

A batch has few of all words. The embedding and the output weights of a word are a row each, with a rate of its own,
which falls with the squares of the row's gradients (Duchi et al. 2011, with one sum for a row): rare words move as far
as frequent ones do. The hidden layer, which every word moves, has the steps of Kingma and Ba (2015).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.translation.joint_model.model import JointModel, Weights
from rerank_plugins.translation.joint_model.sampled_softmax import Gradient

FIRST = 1e-6  # the sum of squares of a row before its first gradient
MEANS, SQUARES, LEAST = 0.9, 0.999, 1e-8  # Adam's beta 1, beta 2 and epsilon


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
        from rerank_plugins.translation.joint_model.embedding_steps import move_rows  # loads numba

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
