"""Features by models of sentence pairs: a translation memory and a word lexicon.

`translation-memory`: the target sides T_j of the training pairs whose source is nearest, with fuzzy-match scores s_j,
are compared with hypothesis e. An event is the k-th occurrence of an n-gram in a sentence; its value is the sum of s_j
/ sum s over the T_j that have it (`combine = "mean"`) or the highest s_j of these ("best").

    precision_n = sum of the values of the n-grams of e / number of n-grams of e
    recall_n    = the same sum / sum of the values of all n-grams of the T_j
    similarity  = max_j s_j (1 - edit distance(e, T_j) / max(|e|, |T_j|))
    longest     = max_j of the number of words of the longest n-gram that e and T_j share

`word-lexicon`, with z_e the log odds of word e, given the source: sums over the distinct words e that it knows,

    log_odds = sum z_e        unlikely = sum min(z_e, 0)        gain = sum ln p(e) - ln p(e without source)
    ln_p     = sum ln p(e),   p = 1 / (1 + exp(-z))             per_word = ln_p / number of these words
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from rerank_plugins import FeatureExtractor, FloatArray, NBestList, PickledFields, option
from rerank_plugins.kit.nbest_lists import source_of

if TYPE_CHECKING:
    from rerank_plugins.translation.translation_memory import Matches, TranslationMemory
    from rerank_plugins.translation.word_lexicon import WordLexicon


@dataclass(frozen=True)
class WordLexiconFeature(FeatureExtractor, PickledFields):
    """Discriminative word lexicon: which words a translation has, given all words of the source.

    Raises ModelError for a file that is missing, damaged, or of another kind.
    """

    file_kind: ClassVar[str] = "word-lexicon"
    model: Path = option(doc="model from `rerank train word-lexicon`")

    components = ("log_odds", "ln_p", "gain", "per_word", "unlikely")

    @cached_property
    def _lexicon(self) -> WordLexicon:
        from rerank_plugins.translation.word_lexicon import read_model

        return read_model(self.model)

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 5) natural logs. Raises ConfigError for a list without a source."""
        from rerank_plugins.translation.word_lexicon import ln_probability

        if not len(nbest):
            return np.zeros((0, len(self.components)))
        odds = self._lexicon.log_odds(source_of(nbest, "word-lexicon"))
        rows, words = self._lexicon.words_of(nbest.texts)
        z = odds[words]
        ln_p = ln_probability(z)
        gain = ln_p - ln_probability(self._lexicon.bias[words].astype(np.float64))
        sums = [np.bincount(rows, values, len(nbest)) for values in (z, ln_p, gain, np.minimum(z, 0.0))]
        known = np.maximum(np.bincount(rows, minlength=len(nbest)), 1)
        return np.column_stack([*sums[:3], sums[1] / known, sums[3]])


@dataclass(frozen=True)
class TranslationMemoryFeature(FeatureExtractor, PickledFields):
    """N-gram matches with the translations of the training sentences that are nearest to the source.

    Raises ValueError for numbers below 1, ModelError for a file that is missing, damaged, or of another kind.
    """

    file_kind: ClassVar[str] = "translation-memory"
    model: Path = option(doc="model from `rerank train translation-memory`")
    nearest: int = option(10, doc="the number of training pairs k that a hypothesis is compared with")
    candidates: int = option(50, doc="pairs of the highest BM25 score that the nearest are chosen from")
    combine: Literal["best", "mean"] = option("mean", doc="value of an n-gram: its best pair, or the mean over pairs")
    max_order: int = option(4, doc="length of the longest n-grams of precision and recall")
    copies: bool = option(True, doc="use pairs whose source is the segment's own; false for lists of training text")

    def __post_init__(self) -> None:
        for name in ("nearest", "candidates", "max_order"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; wanted 1 or more")

    @property
    def components(self) -> tuple[str, ...]:
        """`precision1`, `recall1` and so on for each order, then `similarity` and `longest`."""
        orders = range(1, self.max_order + 1)
        return (*(f"{name}{n}" for n in orders for name in ("precision", "recall")), "similarity", "longest")

    @cached_property
    def _memory(self) -> TranslationMemory:
        from rerank_plugins.translation.translation_memory import read_model

        return read_model(self.model)

    def matches(self, source: str) -> Matches:
        """The training pairs that are nearest to a source sentence."""
        most = max(self.candidates, self.nearest)
        return self._memory.nearest(source, self.nearest, candidates=most, copies=self.copies)

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, components) values, none negative. Raises ConfigError for a list without a source."""
        if not len(nbest):
            return np.zeros((0, len(self.components)))
        return self._values(self.matches(source_of(nbest, "translation-memory")), nbest.texts)

    def _values(self, matches: Matches, texts: Sequence[str]) -> FloatArray:
        from rerank_plugins.translation.memory_matches import compare, matched

        values = np.zeros((len(texts), len(self.components)))
        if not len(matches):
            return values
        target, scores = self._memory.target, matches.similarities
        tokens, rows = target.encoded(texts, lowercase=self._memory.lowercase)
        sizes = target.lengths[matches.pairs]
        sentences = np.concatenate([target.of(pair) for pair in matches.pairs])
        weights = scores if self.combine == "best" or not scores.any() else scores / scores.sum()
        ends = np.concatenate([[0], np.cumsum(sizes)])
        best = self.combine == "best"
        sums = matched((tokens, rows), (sentences, ends), weights, self.max_order, highest=best)
        lengths = np.diff(rows)
        ngrams = np.maximum(lengths[:, None] - np.arange(self.max_order), 1)
        values[:, 0:-2:2] = sums[:-1] / ngrams
        values[:, 1:-2:2] = sums[:-1] / np.where(sums[-1] > 0, sums[-1], 1.0)
        distances, runs = compare(tokens, rows, target, matches.pairs)
        agreement = 1.0 - distances / np.maximum(lengths[:, None], sizes)
        values[:, -2] = (scores * agreement).max(axis=1)
        values[:, -1] = runs.max(axis=1)
        return values
