"""Agreement with the rest of the list: n-gram posteriors, as in minimum-Bayes-risk decoding, and posteriors of words.

With the posteriors P(e) = softmax(scale * score), an n-gram w has p(w) = sum of P(e') over the hypotheses e' that
contain it (Zens & Ney 2006), and the feature of order n is h_n(e) = sum over the n-grams w of e of p(w). A weighted sum
of h_1..h_4 and the length is the expected linear corpus BLEU of Tromble et al. (2008). `counts = "clipped"` computes
BLEU's expected clipped matches, sum_w sum_{k=1}^{#_w(e)} P(#_w >= k); `value = "log"` sums ln p(w) (p(w) at least
1e-300); "mean" divides by the number of n-grams. `length` is ln P(|e|), at least -700. Each copy of a repeated
hypothesis adds its own mass, since it stands for another derivation. The cost is O(orders * tokens).

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
from rerank_plugins.kit.elementary_functions import log
from rerank_plugins.kit.nbest_lists import OF_TOTALS, Posterior, posteriors

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

        sentences = [text.split() for text in nbest.texts]
        if not sentences:
            return np.zeros((0, 3))
        network = ConfusionNetwork.build(sentences, posteriors(nbest, self.posterior, self.scale))
        values = network.of_choices()
        is_word = network.choices < len(network.words)
        totals = np.where(is_word, log(np.maximum(values, LEAST_POSTERIOR)), 0.0).sum(axis=1)
        means = np.where(is_word, values, 0.0).sum(axis=1) / np.maximum(is_word.sum(axis=1), 1)
        return np.column_stack([-network.expected_errors(), totals, means])


@dataclass(frozen=True)
class ConsensusFeature(FeatureExtractor):
    """Posterior-weighted n-gram agreement with the list, orders 1 to 4, and the posterior of the length."""

    scope: ClassVar[Literal["text", "list"]] = "list"

    max_order: int = option(4, doc="length of the longest n-grams")
    posterior: Posterior = option(
        "score", doc="softmax of scale * total (score), total / its deviation (spread) or -ln rank (rank); or uniform"
    )
    scale: float = option(0.5, doc="flat (towards 0) or peaked (above 1) posterior")
    counts: Literal["presence", "clipped"] = option("clipped", doc="repeated n-grams: one event, or one per occurrence")
    value: Literal["sum", "mean", "log"] = option("sum", doc="posteriors summed, averaged, or their logs summed")
    length: bool = option(True, doc="add the component `length`")

    def __post_init__(self) -> None:
        if self.max_order < 1:
            raise ValueError(f"max_order is {self.max_order}; wanted 1 or more")

    @property
    def components(self) -> tuple[str, ...]:
        """One component for each order, from `1` up, and then `length`."""
        orders = tuple(str(n + 1) for n in range(self.max_order))
        return (*orders, "length") if self.length else orders

    @property
    def reads_totals(self) -> bool:
        """Whether the posteriors are those of total scores."""
        return self.posterior in OF_TOTALS

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, components) agreement of each hypothesis; a list without total scores is weighted by rank."""
        return self.extract_all([nbest])[0]

    def extract_all(self, nbests: Sequence[NBestList]) -> list[FloatArray]:
        """One (n, components) array for each list, all computed in one pass."""
        from rerank_plugins.lists.consensus_kernels import consensus

        if not nbests:
            return []
        words, rows = token_ids([text for nbest in nbests for text in nbest.texts])
        lists = np.cumsum([0, *map(len, nbests)])
        posterior = np.concatenate([self.posteriors(nbest) for nbest in nbests])
        lengths = np.diff(rows)
        values = consensus(words, rows, lists, posterior, self.max_order, self.counts == "clipped", self.value == "log")
        if self.value == "mean":
            values /= np.maximum(lengths[:, None] - np.arange(self.max_order), 1)
        if self.length:
            values = np.column_stack([values, length_posteriors(lengths, lists, posterior)])
        return np.split(values, lists[1:-1])

    def posteriors(self, nbest: NBestList) -> FloatArray:
        """(n) posteriors P(e), which sum to 1."""
        return posteriors(nbest, self.posterior, self.scale)


def token_ids(texts: Sequence[str]) -> tuple[LongArray, LongArray]:
    """The words of all texts as ids from 0 (tokens), and the offset of each text among them (texts + 1)."""
    sentences = [text.split() for text in texts]
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
    logs: FloatArray = log(np.maximum(mass, math.exp(FLOOR)))
    return logs
