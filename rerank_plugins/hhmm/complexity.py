"""Measures how hard a word is to process by an incremental language model (Wu et al. 2010; Hale 2001, 2006).

    surprisal(t)  = log2 Pre(o_1 … o_{t-1}) - log2 Pre(o_1 … o_t) = -log2 p(o_t | o_1 … o_{t-1})        (3)
    ER(t)         = max(0, H_{t-1} - H_t), H_t the entropy of the model's analyses after o_t             (4), (5)
    EmbDiff(t)    = μ_EMB(t) - μ_EMB(t-1), μ_EMB the expected depth of the store                         (15), (16)

Surprisal and entropy are in bits, depth is in elements of the store. The paper prints (4) as Σ P log2 P over the joint
probabilities of derivations and words, without the minus sign and not normalised. Here H is the entropy of the
derivations given the words, or that of the stores. An n-gram model defines surprisal alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import LanguageModel, Sentence

LN2 = math.log(2.0)
EntropyKind = Literal["derivations", "stores"]


@dataclass(frozen=True, eq=False)
class Complexity:
    """Complexity measures of a sentence of n words; NaN where the model does not define them.

    `surprisal` (n + 1) bits, of each word and of `</s>` last
    `entropy`   (n + 1) bits, before the first word and after each
    `depth`     (n + 1) expected number of elements of the store, before the first word and after each
    `lost`      (n) 1 for each unparsed word, which the model could not read, else 0
    """

    surprisal: FloatArray
    entropy: FloatArray
    depth: FloatArray
    lost: FloatArray

    @property
    def reduction(self) -> FloatArray:
        """(n) entropy reduction of each word, in bits (5)."""
        return np.asarray(np.maximum(0.0, -np.diff(self.entropy)), np.float64)

    @property
    def difference(self) -> FloatArray:
        """(n) embedding difference of each word, in elements of the store (16)."""
        return np.asarray(np.diff(self.depth), np.float64)


@runtime_checkable
class Measured(Protocol):
    """A language model that defines measures of complexity beyond the probability of a word."""

    def complexity(self, sentences: Sequence[Sentence], entropy: EntropyKind) -> list[Complexity]:
        """Complexity measures of each sentence."""
        ...


def complexity(
    model: LanguageModel, sentences: Sequence[Sentence], entropy: EntropyKind = "derivations"
) -> list[Complexity]:
    """Complexity measures of each sentence, as far as the model defines them; NaN for the others."""
    if isinstance(model, Measured):
        return model.complexity(sentences, entropy)
    measures = []
    for ln_p in model.score(sentences):
        undefined = np.full(len(ln_p), np.nan)
        measures.append(Complexity(0.0 - ln_p / LN2, undefined, undefined, undefined[1:]))
    return measures
