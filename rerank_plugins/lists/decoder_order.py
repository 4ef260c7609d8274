"""The decoder's own order of a list as features: its total score, the rank on several scales, edits to its 1-best.

With r = 1 … n the rank of a hypothesis, `rank` is log = -ln r; relative = -(r - 1) / (n - 1), 0 in a list of one; first
= 1 for the first hypothesis, else 0. `edit-to-1best` compares hypothesis e with the 1-best b: distance = -d(e, b) /
max(|e|, |b|), d the Levenshtein distance over words; insertions, deletions and substitutions are minus the numbers of
edits in a shortest alignment; of several, in one with the fewest substitutions. The cost is O(|e| |b|).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rerank_plugins import ConfigError, FeatureExtractor, FloatArray, LongArray, NBestList, option

EDIT = 1 << 20  # the cost of an edit; a substitution costs 1 more, which breaks ties: sentences are shorter than this


@dataclass(frozen=True)
class EditToFirstFeature(FeatureExtractor):
    """Word edits between a hypothesis and the list's first one: normalised distance, and edits of each kind."""

    scope: ClassVar[Literal["text", "list"]] = "list"

    ignore_case: bool = option(False, doc="compare words in lower case")

    components = ("distance", "insertions", "deletions", "substitutions")

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


@dataclass(frozen=True)
class DecoderScoreFeature(FeatureExtractor):
    """The decoder's total score, unchanged. Redundant next to all the decoder's features; useful without them."""

    scope: ClassVar[Literal["text", "list"]] = "list"

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 1) total scores. Raises ConfigError where a hypothesis has none."""
        scores = [hypothesis.score for hypothesis in nbest]
        if None in scores:
            raise ConfigError(
                f"decoder-score: hypothesis {scores.index(None) + 1} of segment {nbest.segment_id} has no total score"
                " (use reciprocal-rank for lists without totals)"
            )
        return np.array(scores, np.float64)[:, None]


@dataclass(frozen=True)
class ReciprocalRankFeature(FeatureExtractor):
    """1 / rank in the decoder's order: 1 for its 1-best, falling towards 0; for lists without scores."""

    scope: ClassVar[Literal["text", "list"]] = "list"

    power: float = option(1.0, doc="1 / rank ^ power: a high one sets the 1-best apart, a low one spaces ranks evenly")

    def __post_init__(self) -> None:
        if not self.power > 0:
            raise ValueError(f"power is {self.power}; wanted more than 0")

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 1) (1 + row) to the power of minus `power`."""
        return np.arange(1.0, len(nbest) + 1.0)[:, None] ** -self.power


@dataclass(frozen=True)
class RankFeature(FeatureExtractor):
    """Rank in the decoder's order: minus its logarithm, the rank relative to the list, and whether it is the first."""

    scope: ClassVar[Literal["text", "list"]] = "list"

    components = ("log", "relative", "first")

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 3) values that fall from the first hypothesis to the last one."""
        rows = np.arange(float(len(nbest)))
        return np.stack([-np.log(rows + 1.0), -rows / max(len(nbest) - 1, 1), rows == 0], axis=1) + 0.0
