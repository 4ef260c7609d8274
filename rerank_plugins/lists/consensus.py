"""Agreement with the rest of the list: n-gram posteriors, as in minimum-Bayes-risk decoding, and posteriors of words.

With the posteriors P(e) = softmax(scale * score), the feature of order n = 1 … 4 is the expected number of BLEU's
clipped matches, h_n(e) = sum_w sum_{k=1}^{#_w(e)} P(#_w >= k), over the n-grams w of e (Zens & Ney 2006; a weighted sum
of unclipped ones and the length is the expected linear corpus BLEU of Tromble et al. 2008). `length` is ln P(|e|), at
least -700. Each copy of a repeated hypothesis adds its own mass, since it stands for another derivation. The cost is
O(orders * tokens).

`word-posteriors`, with P(w | s) the posterior of word w in slot s of the confusion network, and a(e, s) what hypothesis
e has there (a word or nothing): errors = -Σ_s (1 - P(a(e, s) | s)), minus the expected number of word errors (Mangu et
al. 2000); total = Σ ln P(w | s) and per_word = the mean of P(w | s) over the words of e, 0 for an empty hypothesis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rerank_plugins import FeatureExtractor, FloatArray, LongArray, NBestList, option
from rerank_plugins.kit.nbest_lists import OF_TOTALS, Posterior, posteriors

ORDERS = 4  # the length of the longest n-grams
LEAST_POSTERIOR = 1e-30  # the least posterior whose logarithm is taken: a weight of 0 has none
FLOOR = -700.0  # the least value of ln P(|e|); below it the posterior underflows


@dataclass(frozen=True)
class WordPosteriorsFeature(FeatureExtractor):
    """Posteriors of words in a confusion network (Mangu et al. 2000): minus expected errors, sum of logs, mean."""

    scope: ClassVar[Literal["text", "list"]] = "list"

    posterior: Posterior = option(
        "score", doc="softmax of scale * total (score), total / its deviation (spread) or -ln rank (rank); or uniform"
    )
    scale: float = option(0.5, doc="flat (towards 0) or peaked (above 1) posterior")

    components = ("errors", "total", "per_word")

    @property
    def reads_totals(self) -> bool:
        """Whether the posteriors are those of total scores."""
        return self.posterior in OF_TOTALS

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 3) values; a list without total scores is weighted by rank."""
        from rerank_plugins.lists.confusion_network import ConfusionNetwork  # loads numba, at the first list

        sentences = [hypothesis.words for hypothesis in nbest]
        if not sentences:
            return np.zeros((0, 3))
        network = ConfusionNetwork.build(sentences, posteriors(nbest, self.posterior, self.scale))
        values = network.of_choices()
        is_word = network.choices < len(network.words)
        totals = np.where(is_word, np.log(np.maximum(values, LEAST_POSTERIOR)), 0.0).sum(axis=1)
        means = np.where(is_word, values, 0.0).sum(axis=1) / np.maximum(is_word.sum(axis=1), 1)
        return np.column_stack([-network.expected_errors(), totals, means])


@dataclass(frozen=True)
class ConsensusFeature(FeatureExtractor):
    """Posterior-weighted n-gram agreement with the list, orders 1 to 4, and the posterior of the length."""

    scope: ClassVar[Literal["text", "list"]] = "list"

    posterior: Posterior = option(
        "score", doc="softmax of scale * total (score), total / its deviation (spread) or -ln rank (rank); or uniform"
    )
    scale: float = option(0.5, doc="flat (towards 0) or peaked (above 1) posterior")

    components = (*(str(order) for order in range(1, ORDERS + 1)), "length")

    @property
    def reads_totals(self) -> bool:
        """Whether the posteriors are those of total scores."""
        return self.posterior in OF_TOTALS

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 5) agreement of each hypothesis; a list without total scores is weighted by rank."""
        return self.extract_all([nbest])[0]

    def extract_all(self, nbests: Sequence[NBestList]) -> list[FloatArray]:
        """One (n, 5) array for each list, all computed in one pass."""
        from rerank_plugins.lists.consensus_kernels import consensus

        if not nbests:
            return []
        words, rows = token_ids([hypothesis.words for nbest in nbests for hypothesis in nbest])
        lists = np.cumsum([0, *map(len, nbests)])
        posterior = np.concatenate([self.posteriors(nbest) for nbest in nbests])
        matches = consensus(words, rows, lists, posterior, ORDERS)
        values = np.column_stack([matches, length_posteriors(np.diff(rows), lists, posterior)])
        return np.split(values, lists[1:-1])

    def posteriors(self, nbest: NBestList) -> FloatArray:
        """(n) posteriors P(e), which sum to 1."""
        return posteriors(nbest, self.posterior, self.scale)


def token_ids(sentences: Sequence[Sequence[str]]) -> tuple[LongArray, LongArray]:
    """The words of all sentences as ids from 0 (tokens), and the offset of each among them (sentences + 1)."""
    words = [word for sentence in sentences for word in sentence]
    ids = {word: number for number, word in enumerate(dict.fromkeys(words))}
    offsets = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
    return np.fromiter(map(ids.__getitem__, words), np.int64, len(words)), offsets


def length_posteriors(lengths: LongArray, lists: LongArray, posterior: FloatArray) -> FloatArray:
    """(n) ln of the posterior mass of the hypotheses of the same list that have the same length as this one."""
    segments = np.repeat(np.arange(len(lists) - 1), np.diff(lists))
    longest = lengths.max(initial=0) + 1
    _, groups = np.unique(segments * longest + lengths, return_inverse=True)
    mass = np.bincount(groups, posterior)[groups] if len(groups) else np.zeros(0)
    logs: FloatArray = np.log(np.maximum(mass, math.exp(FLOOR)))
    return logs
