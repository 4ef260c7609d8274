"""chrF (Popović 2015) and chrF++ (Popović 2017), equal to sacrebleu's (Post 2018).

The statistics, in sacrebleu's order, are for each order of character n-grams, then of word n-grams: the number of
n-grams of the hypothesis (0 where the reference has none of that order), that of the reference, and the clipped
matches; S = 3 (char_order + word_order). Of several references the one with the best sentence F-score counts; of
equally good ones the first, as in sacrebleu, so that their order can matter.

Time is O(order × characters of hypotheses and references).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rerank_adapters.metrics.encoded_texts import (
    Sequences,
    encode_characters,
    encode_words,
    lay_out,
    ngram_matches,
    ngram_overlap,
    ngram_totals,
    split_words,
)
from rerank_adapters.metrics.sacrebleu_conventions import join_signature, sacrebleu_version
from rerank_plugins import FloatArray, Metric, option
from rerank_plugins.core.arrays import LongArray

EPSILON = 1e-16
PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
PAIRS_AT_ONCE = 1 << 16  # pairs scored at a time in `pairwise`, which bounds the memory


@dataclass
class ChrF(Metric):
    """chrF: the F-score over character n-grams and, optionally, word n-grams (Popović 2015)."""

    higher_is_better: ClassVar[bool] = True
    decomposes: ClassVar[bool] = False  # an F-score of averaged ratios of sums

    char_order: int = option(6, doc="highest order of character n-grams")
    word_order: int = option(0, doc="highest order of word n-grams; 2 is chrF++")
    beta: int = option(2, doc="weight of recall relative to precision")
    lowercase: bool = option(False, doc="compare lower-cased texts")
    whitespace: bool = option(False, doc="count white space in character n-grams")
    eps_smoothing: bool = option(False, doc="smooth by epsilon as chrF++.py does, not by effective order")

    def __post_init__(self) -> None:
        if self.char_order < 1 or self.word_order < 0 or self.beta <= 0:
            options = f"char_order {self.char_order}, word_order {self.word_order}, beta {self.beta}"
            raise ValueError(f"{options}; wanted at least 1, 0 and 1")

    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, 3 orders): for each order, the n-grams of the hypothesis and of the best reference, and the matches.

        Raises FormatError for a segment without a reference.
        """
        layout = lay_out(hypotheses, references)
        encoded = self._encode(layout.texts)
        best = np.zeros((layout.distinct, 3 * (self.char_order + self.word_order)))
        best_score = np.full(layout.distinct, -1.0)
        for k in range(layout.most_references):
            jobs = layout.jobs(k)
            rows, reference = _rows_of_jobs(jobs)
            blocks = [
                _counts(matches[rows], sequences.lengths[rows], sequences.lengths[reference])
                for sequences, order in encoded
                for matches in [ngram_matches(sequences, jobs, order, layout.distinct)]
            ]
            statistics = np.concatenate(blocks, axis=1)
            score = self.score(statistics)
            better = score > best_score[rows]
            best[rows[better]] = statistics[better]
            best_score[rows[better]] = score[better]
        return best[layout.rows]

    def score(self, totals: FloatArray) -> FloatArray:
        """The score between 0 and 100: (…, S) -> (…)."""
        totals = np.asarray(totals, np.float64)
        factor = self.beta**2
        orders = totals.shape[-1] // 3
        precision_sum, recall_sum, f_sum, effective = (np.zeros(totals.shape[:-1]) for _ in range(4))
        with np.errstate(divide="ignore", invalid="ignore"):
            for i in range(orders):  # one by one, to add up in sacrebleu's order
                own, reference, matches = (totals[..., 3 * i + k] for k in range(3))
                precision = np.where(own > 0, matches / own, EPSILON)
                recall = np.where(reference > 0, matches / reference, EPSILON)
                if self.eps_smoothing:
                    denominator = factor * precision + recall
                    f_sum += np.where(denominator > 0, (1 + factor) * precision * recall / denominator, EPSILON)
                    continue
                both = (own > 0) & (reference > 0)
                precision_sum += np.where(both, precision, 0)
                recall_sum += np.where(both, recall, 0)
                effective += both
            if self.eps_smoothing:
                return np.asarray(100 * f_sum / orders)
            precision, recall = precision_sum / effective, recall_sum / effective
            score = 100 * ((1 + factor) * precision * recall / (factor * precision + recall))
        return np.where(precision_sum + recall_sum > 0, score, 0.0)

    def sentence_scores(self, statistics: FloatArray) -> FloatArray:
        """The scores of single hypotheses by the same formula, which needs no further smoothing."""
        return self.score(statistics)

    def pairwise(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n): the chrF of hypothesis i with hypothesis j as its reference."""
        encoded = [
            (sequences.lengths, ngram_overlap(sequences, order)) for sequences, order in self._encode(hypotheses)
        ]
        scores = np.empty((len(hypotheses), len(hypotheses)))
        step = max(1, PAIRS_AT_ONCE // max(1, len(hypotheses)))
        for i in range(0, len(hypotheses), step):
            rows = slice(i, i + step)
            blocks = [_counts(matches[rows], lengths[rows, None], lengths) for lengths, matches in encoded]
            scores[rows] = self.sentence_scores(np.concatenate(blocks, axis=-1))
        return scores

    def signature(self) -> str:
        """The signature in sacrebleu's form, without the number of references; a beta other than 2 is added to it."""
        return join_signature(
            sacrebleu_version(),
            case="lc" if self.lowercase else "mixed",
            eff=not self.eps_smoothing,
            nc=self.char_order,
            nw=self.word_order,
            space=self.whitespace,
            **({} if self.beta == 2 else {"beta": self.beta}),
        )

    def _encode(self, texts: Sequence[str]) -> list[tuple[Sequences, int]]:
        """The characters and, where word n-grams count, the words, each with the highest order of its n-grams."""
        if self.lowercase:
            texts = [text.lower() for text in texts]
        characters = encode_characters(texts if self.whitespace else ["".join(text.split()) for text in texts])
        if not self.word_order:
            return [(characters, self.char_order)]
        sequences, words = encode_words(texts)
        return [
            (characters, self.char_order),
            (split_words(sequences, [_without_punctuation(word) for word in words]), self.word_order),
        ]


@dataclass
class ChrFPlusPlus(ChrF):
    """chrF++: chrF with word 1- and 2-grams (Popović 2017)."""

    word_order: int = option(2, doc="highest order of word n-grams; 0 is chrF")


def _without_punctuation(word: str) -> list[str]:
    """Split one punctuation mark off the end of a word, or else off its start, as chrF++ does."""
    if len(word) == 1:
        return [word]
    if word[-1] in PUNCTUATION:
        return [word[:-1], word[-1]]
    return [word[0], word[1:]] if word[0] in PUNCTUATION else [word]


def _rows_of_jobs(jobs: LongArray) -> tuple[LongArray, LongArray]:
    """The hypotheses of all jobs, and for each of them the only reference of its job."""
    counts = jobs[:, 1] - jobs[:, 0]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(jobs[:, 0], counts) + within, np.repeat(jobs[:, 2], counts)


def _counts(matches: NDArray[np.integer], own: LongArray, reference: LongArray) -> FloatArray:
    """The (…, 3 order) statistics from the (…, order) matches and the (…) lengths of the two texts."""
    order = matches.shape[-1]
    statistics = np.empty((*matches.shape[:-1], 3 * order))
    of_reference = ngram_totals(reference, order)
    statistics[..., 0::3] = np.where(of_reference > 0, ngram_totals(own, order), 0)
    statistics[..., 1::3] = of_reference
    statistics[..., 2::3] = matches
    return statistics
