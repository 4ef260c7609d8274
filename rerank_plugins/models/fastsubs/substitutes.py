"""The most probable substitutes of a word in its context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rerank_plugins.arrays import FloatArray, IntArray
from rerank_plugins.models.backoff.scoring import LN10
from rerank_plugins.models.backoff.vocabulary import BOS, EOS, UNK
from rerank_plugins.models.fastsubs.scoring import contexts_before, score_every_word
from rerank_plugins.models.ngram.model import NgramModel


@dataclass(frozen=True, eq=False)
class FastSubs:
    """The exact K most probable substitutes in any position of a sentence, under an n-gram model.

    Every word of the model may be a substitute but `<s>`, `</s>` and, unless `unknown` is set, `<unk>`.
    """

    ngrams: NgramModel
    unknown: bool = False

    def top(self, words: Sequence[str], position: int, k: int) -> tuple[IntArray, FloatArray]:
        """The `k` best substitutes for `words[position]`, best first; those of equal score by ascending number.

        Returns their numbers in the vocabulary (`ngrams.vocabulary.words` has the words) and ln p summed over the
        n-gram windows that hold the position, whatever word stands there. There are fewer than `k` if the vocabulary is
        smaller. Raises ValueError for a position that the sentence does not have, and for `k` below 1.
        """
        if not 0 <= position < len(words):
            raise ValueError(f"position {position}: the sentence has {len(words)} words, counted from 0")
        if k < 1:
            raise ValueError(f"k = {k}: wanted at least 1")
        tables = self.ngrams.tables
        tokens = np.concatenate([[BOS], self.ngrams.vocabulary.encode([words])]).astype(np.int32)
        place = position + 1
        before = contexts_before(tables.contexts, tables.events, tokens[: place + 1])
        scores = np.empty(tables.sizes[0])
        right = tokens[place + 1 : place + tables.order]
        score_every_word(
            tables.contexts, tables.events, tables.context_levels, tables.unseen, before[place], place, right, scores
        )
        scores[[BOS, EOS] if self.unknown else [UNK, BOS, EOS]] = -np.inf
        best = np.argsort(-scores, kind="stable")[: min(k, len(scores) - (2 if self.unknown else 3))]
        return best.astype(np.int32), scores[best] * LN10
