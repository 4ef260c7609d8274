"""The incremental syntactic language model's score of a hypothesis (Schwartz et al. 2011).

total = ln p(e_1 … e_n </s>) by the HHMM; per_word = total / (n + 1); lost = -(number of unparsed words, which
no store of the beam could read) / n. An empty hypothesis has the floor of an unfinished sentence, and lost = 0. The
cost is one step for each distinct prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import LanguageModel, Parser, Sentence, option
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.core.sentence_feature import SentenceFeature
from rerank_plugins.hhmm.language_model import HhmmLanguageModel


@dataclass(frozen=True)
class HhmmFeature(SentenceFeature, PickledFields):
    """Sentence ln p by incremental parsing: total, per word, and minus the proportion of unparsed words."""

    model: Path | None = option(
        None, doc="model from `rerank train hhmm`, or a grammar; default: the embedded English one"
    )
    beam: int = option(200, doc="stores kept in the beam after each word; 0: all")
    depth: int = option(4, doc="elements of a store, 1 to 63: the depth of centre embedding")
    threshold: float = option(1e-5, doc="stores below this fraction of the best one's probability are pruned")

    def __post_init__(self) -> None:
        # Raises ValueError for an option out of range.
        HhmmLanguageModel(self.model, self.beam, self.depth, self.threshold)

    @property
    def components(self) -> tuple[str, ...]:
        """`total`, `per_word`, `lost`."""
        return ("total", "per_word", "lost")

    @cached_property
    def _lm(self) -> HhmmLanguageModel:
        return HhmmLanguageModel(self.model, self.beam, self.depth, self.threshold)

    @property
    def vocabulary(self) -> LanguageModel:
        """The words that the grammar knows."""
        return self._lm

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """The parsers of the language model."""
        return self._lm.parsers

    def word_values(self, sentences: Sequence[Sentence]) -> list[FloatArray] | None:
        """The word scores of the language model."""
        return self._lm.word_scores(sentences)

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 3) natural logs, natural logs per word, minus the proportion of unparsed words."""
        scores, unparsed = self._lm.score_and_lost(sentences)
        values = np.empty((len(sentences), 3))
        for row, (sentence, ln_p) in enumerate(zip(sentences, scores, strict=True)):
            total = float(ln_p.sum())
            values[row] = total, total / len(ln_p), 0.0 - unparsed[row] / max(len(sentence), 1)
        return values
