"""Unigram log-probability of the words: total = sum_i ln p(e_i), per word = total / |e|.

`</s>` is not counted, so the total falls with every word, and the per-word value separates common words from rare ones.
The empty hypothesis has total 0 and, per word, ln p(unknown word), the lowest value of all. The cost is linear in the
text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import Sentence, option
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.core.sentence_feature import SentenceFeature
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel


@dataclass(frozen=True)
class UnigramFeature(SentenceFeature, PickledFields):
    """Unigram ln p of the words: total and per word, from embedded English or the 1-grams of a model file."""

    model: Path | None = option(None, doc="ARPA file or KenLM binary; default: the embedded English word frequencies")
    case: Literal["exact", "fallback", "ignore"] = option(
        "fallback",
        doc="look up the exact form (exact), all casings together (ignore), or these for unknown forms only (fallback)",
    )

    @property
    def components(self) -> tuple[str, ...]:
        """`total` and `per_word`."""
        return ("total", "per_word")

    @cached_property
    def _unigrams(self) -> UnigramLanguageModel:
        return UnigramLanguageModel(self.model, self.case)

    @property
    def vocabulary(self) -> UnigramLanguageModel:
        """The words that have a frequency."""
        return self._unigrams

    def word_values(self, sentences: Sequence[Sentence]) -> list[FloatArray] | None:
        """Ln p of each word, without `</s>`."""
        return [np.array([self._unigrams.ln(word) for word in words], np.float64) for words in sentences]

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 2) natural logs, natural logs per word."""
        ln, floor = self._unigrams.ln, self._unigrams.ln("<unk>")
        values = np.empty((len(sentences), 2))
        for row, words in enumerate(sentences):
            total = sum(map(ln, words), 0.0)
            values[row] = total, total / len(words) if words else floor
        return values
