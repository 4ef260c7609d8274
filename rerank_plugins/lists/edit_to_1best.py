"""The number of word edits that turn the decoder's 1-best b, the first hypothesis of a list, into hypothesis e.

distance = -d(e, b) / max(|e|, |b|), where d is the Levenshtein distance (1966) over words: 0 for the 1-best itself, -1
for a hypothesis that shares no word with it. insertions, deletions and substitutions are minus the numbers of edits of
each kind in a shortest alignment; of several, in one with the fewest substitutions, which has the most words in common.

A tuner that finds the 1-best to be reliable weighs the distance positively. Shifts of phrases, as in TER, are not
implemented. The cost is O(|e| |b|) per hypothesis, by rapidfuzz.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.interfaces import FeatureExtractor, option
from rerank_plugins.core.nbest import NBestList

EDIT = (
    1 << 20
)  # the cost of an edit; a substitution costs 1 more, which breaks ties, as sentences are shorter than this


@dataclass(frozen=True)
class EditToFirstFeature(FeatureExtractor):
    """Word edits between a hypothesis and the list's first one: normalised distance, and edits of each kind."""

    scope: ClassVar[Literal["text", "list"]] = "list"

    ignore_case: bool = option(False, doc="compare words in lower case")

    @property
    def components(self) -> tuple[str, ...]:
        """`distance`, `insertions`, `deletions`, `substitutions`."""
        return ("distance", "insertions", "deletions", "substitutions")

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 4) values up to 0; all are 0 for the first hypothesis and its copies."""
        values = np.zeros((len(nbest), 4))
        if not len(nbest):
            return values
        texts = [text.lower() if self.ignore_case else text for text in nbest.texts]
        sentences = [text.split() for text in texts]
        edits = edits_from(sentences[0], sentences)
        lengths = np.array([len(words) for words in sentences])
        values[:, 0] = -edits.sum(axis=1) / np.maximum(np.maximum(lengths, lengths[0]), 1)
        values[:, 1:] = -edits
        return values + 0.0  # no negative zeros


def edits_from(first: Sequence[str], sentences: Sequence[Sequence[str]]) -> LongArray:
    """(n, 3) the insertions, deletions and substitutions that turn `first` into each sentence, as few as possible.

    Of several shortest alignments, one with the fewest substitutions is counted.
    """
    from rapidfuzz.distance import Levenshtein

    costs = (EDIT, EDIT, EDIT + 1)
    total = np.array([Levenshtein.distance(first, words, weights=costs) for words in sentences], np.int64)
    distance, substitutions = np.divmod(total, EDIT)
    # insertions + deletions = distance - substitutions, and insertions - deletions = |e| - |b|.
    longer = np.array([len(words) for words in sentences]) - len(first)
    insertions = (distance - substitutions + longer) // 2
    return np.stack([insertions, insertions - longer, substitutions], axis=1)
