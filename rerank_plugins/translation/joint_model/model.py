"""The network: ln p of target words, given their contexts (Devlin et al. 2014, section 2).

With x the concatenated embeddings of a context's symbols,

    ln p(e | x) = s_e - ln sum over e' of exp(s_e'),    s = O max(W x + b, 0) + c,

a feed-forward network with one hidden layer. The probabilities are normalised over all output words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, IntArray
from rerank_plugins.kit.elementary_functions import log
from rerank_plugins.kit.files.declared import Array, ModelFile, Part, Setting
from rerank_plugins.kit.matrix_products import product
from rerank_plugins.translation.joint_model.contexts import Contexts, Numbering

Weights = NDArray[np.float32]
BATCH = 1024  # contexts whose scores of all outputs are in memory at a time


@dataclass(frozen=True, eq=False)
class JointModel:
    """A network over the words of `numbering`.

    `embeddings` are (symbols, D), `hidden` W (K D, H) and `hidden_bias` b (H) for the K symbols of a context, `output`
    O (outputs, H) and `output_bias` c (outputs).
    """

    numbering: Annotated[Numbering, Part()]
    embeddings: Annotated[Weights, Array("S", "D")]
    hidden: Annotated[Weights, Array("KD", "H")]
    hidden_bias: Annotated[Weights, Array("H")]
    output: Annotated[Weights, Array("T+2", "H")]
    output_bias: Annotated[Weights, Array("T+2")]
    settings: Annotated[Mapping[str, Any], Setting("training", versioned=True)] = field(default_factory=dict)

    def activations(self, symbols: IntArray) -> tuple[Weights, Weights]:
        """The inputs x (n, K D) and the hidden layer (n, H) of (n, K) contexts."""
        inputs = self.embeddings[symbols].reshape(len(symbols), -1)
        return inputs, np.maximum(product(inputs, self.hidden) + self.hidden_bias, 0)

    def ln_p(self, contexts: Contexts) -> FloatArray:
        """(n) ln p of the predicted words; equal contexts are computed once."""
        rows = np.column_stack([contexts.symbols(), contexts.outputs])
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
        symbols, starts = distinct[:, :-1], np.arange(0, len(distinct), BATCH)
        parts = [self._ln_p(symbols[i : i + BATCH], distinct[i : i + BATCH, -1]) for i in starts]
        return np.concatenate([np.zeros(0), *parts])[inverse.ravel()]

    def _ln_p(self, symbols: IntArray, outputs: IntArray) -> FloatArray:
        scores = product(self.activations(symbols)[1], self.output.T)
        scores += self.output_bias
        right = scores[np.arange(len(scores)), outputs].astype(np.float64)
        highest = scores.max(axis=1)
        scores -= highest[:, None]
        total = np.exp(scores, out=scores).sum(axis=1, dtype=np.float64)
        return np.asarray(right - highest - log(total), np.float64)


def _fits(model: JointModel) -> bool:
    """Whether the embeddings fit the numbering and the hidden layer."""
    numbering, (symbols, embedding) = model.numbering, model.embeddings.shape
    inputs = (2 * numbering.window + 1 + numbering.history) * embedding
    return min(numbering.window, numbering.history) >= 0 and (symbols, inputs) == (numbering.symbols, len(model.hidden))


ARRAYS = ("embeddings", "hidden", "hidden_bias", "output", "output_bias")
FILE = ModelFile(JointModel, "joint-lm", "joint model", first=ARRAYS, check=_fits)
read_model, write_model = FILE.read, FILE.write
