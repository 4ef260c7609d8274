"""BLEU (Papineni et al. 2002), equal to sacrebleu's (Post 2018), and BLEU+1 of single sentences.

The statistics of a hypothesis, in sacrebleu's order, are its length, the closest reference length (the shorter of two
equally close ones), the clipped matches of 1- to 4-grams and the numbers of its 1- to 4-grams: S = 10.

The corpus score has sacrebleu's default smoothing, `exp`; its other smoothing methods, its `effective_order` and orders
other than 4 are not supported. Time is O(words of hypotheses and references).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rerank_adapters.metrics.encoded_texts import (
    Layout,
    Sequences,
    encode_words,
    lay_out,
    ngram_matches,
    ngram_overlap,
    ngram_totals,
    split_words,
)
from rerank_adapters.metrics.sacrebleu_conventions import (
    WORD_BY_WORD,
    bleu_tokenizer,
    join_signature,
    sacrebleu_version,
    tokenizer_signature,
)
from rerank_plugins import FloatArray, Metric, option
from rerank_plugins.core.arrays import LongArray

ORDER = 4
LOG_ZERO = -9999999999.0  # the value that sacrebleu uses for ln 0
HALVES = 0.5 ** np.arange(ORDER + 1)
PAIRS_AT_ONCE = 1 << 16  # pairs scored at a time in `pairwise`, which bounds the memory


@dataclass
class Bleu(Metric):
    """BLEU over clipped 1- to 4-grams with any sacrebleu tokenizer (Papineni et al. 2002)."""

    higher_is_better: ClassVar[bool] = True
    decomposes: ClassVar[bool] = False  # a geometric mean of ratios of sums

    tokenize: str = option("13a", doc="sacrebleu's tokenizer: none, 13a, intl, char, zh, ja-mecab, …")
    lowercase: bool = option(False, doc="compare lower-cased texts")
    sentence: Literal["bleu+1", "bleu+1-length", "sacrebleu"] = option(
        "bleu+1",
        doc="sentence scores: BLEU+1 (Lin & Och 2004), with a smoothed length too (Nakov et al. 2012), or sacrebleu's",
    )

    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, 10): the length, the closest reference length, the matches by order, the n-grams by order.

        Raises FormatError for a segment without a reference, ConfigError for a tokenizer that is not available.
        """
        layout = lay_out(hypotheses, references)
        sequences = self._encode(layout.texts)
        lengths = sequences.lengths
        own = lengths[: layout.distinct]
        matches = ngram_matches(sequences, layout.merged_jobs(), ORDER, layout.distinct)
        distinct = np.column_stack([own, _closest_lengths(lengths, layout), matches, ngram_totals(own, ORDER)])
        return distinct[layout.rows].astype(np.float64)

    def score(self, totals: FloatArray) -> FloatArray:
        """BLEU between 0 and 100: (…, 10) -> (…). The k-th order without a match counts as 1 / 2^k of a match."""
        return self._halving(totals, effective_order=False)

    def _halving(self, totals: FloatArray, *, effective_order: bool) -> FloatArray:
        """The mean is that of all orders or, with `effective_order`, of those that a text is long enough to have."""
        by_statistic = np.moveaxis(np.asarray(totals, np.float64), -1, 0)
        matches, ngrams = by_statistic[2 : 2 + ORDER], by_statistic[2 + ORDER :]
        hit = matches > 0
        has_ngrams = np.logical_and.accumulate(ngrams > 0)
        misses = np.add.accumulate(has_ngrams > hit)  # orders without a match, up to each order
        with np.errstate(divide="ignore", invalid="ignore"):
            precision = 100 * np.where(hit, matches, HALVES[misses]) / ngrams
            logs = np.where(has_ngrams, np.log(precision), 0.0 if effective_order else LOG_ZERO).sum(axis=0)
        orders = np.maximum((ngrams > 0).sum(axis=0), 1) if effective_order else ORDER
        score = _brevity_penalty(by_statistic[0], by_statistic[1]) * np.exp(logs / orders)
        return np.where(hit.any(axis=0), score, 0.0)

    def sentence_scores(self, statistics: FloatArray) -> FloatArray:
        """BLEU+1 between 0 and 100: one is added to the matches and the numbers of 2- to 4-grams (Lin & Och 2004).

        This mostly raises the precisions of short hypotheses; "bleu+1-length" compensates for it by adding one to the
        reference length too (Nakov et al. 2012, smoothed brevity penalty), so that the reference itself is below 100.
        "sacrebleu" smooths as `score` does, over the orders that the hypothesis has.
        """
        if self.sentence == "sacrebleu":
            return self._halving(statistics, effective_order=True)
        statistics = np.asarray(statistics, np.float64)
        length, reference_length = statistics[..., 0], statistics[..., 1]
        matches, ngrams = statistics[..., 2 : 2 + ORDER], statistics[..., 2 + ORDER :]
        added = np.array([0, 1, 1, 1])
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log((matches + added) / (ngrams + added)).sum(axis=-1)
        smoothed = reference_length + (1 if self.sentence == "bleu+1-length" else 0)
        score = 100 * _brevity_penalty(length, smoothed) * np.exp(logs / ORDER)
        return np.where(matches[..., 0] > 0, score, 0.0)

    def pairwise(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n): the sentence score of hypothesis i with hypothesis j as its reference."""
        sequences = self._encode(hypotheses)
        lengths = sequences.lengths
        totals = ngram_totals(lengths, ORDER)
        matches = ngram_overlap(sequences, ORDER)
        scores = np.empty((len(hypotheses), len(hypotheses)))
        step = max(1, PAIRS_AT_ONCE // max(1, len(hypotheses)))
        for i in range(0, len(hypotheses), step):
            rows = slice(i, i + step)
            statistics = np.empty((*matches[rows].shape[:2], 2 + 2 * ORDER))
            statistics[..., 0] = lengths[rows, None]
            statistics[..., 1] = lengths
            statistics[..., 2 : 2 + ORDER] = matches[rows]
            statistics[..., 2 + ORDER :] = totals[rows, None]
            scores[rows] = self.sentence_scores(statistics)
        return scores

    def signature(self) -> str:
        """The signature in sacrebleu's form, without the number of references."""
        case = "lc" if self.lowercase else "mixed"
        tok = tokenizer_signature(self.tokenize)
        return join_signature(sacrebleu_version(), case=case, eff="no", tok=tok, smooth="exp")

    def _encode(self, texts: Sequence[str]) -> Sequences:
        if self.lowercase:
            texts = [text.lower() for text in texts]
        tokenizer = bleu_tokenizer(self.tokenize)
        if self.tokenize in WORD_BY_WORD and not any("\n" in text for text in texts):
            sequences, words = encode_words(texts)
            return (
                sequences if self.tokenize == "none" else split_words(sequences, [tokenizer(w).split() for w in words])
            )
        return encode_words([tokenizer(text.rstrip()) for text in texts])[0]


def _brevity_penalty(length: FloatArray, reference_length: FloatArray) -> FloatArray:
    """1 for a text at least as long as the reference, 0 for an empty one, else exp(1 - r / c)."""
    penalty = np.exp(1 - np.maximum(reference_length, length) / np.where(length > 0, length, 1.0))
    return np.where(length > 0, penalty, np.where(reference_length > 0, 0.0, 1.0))


def _closest_lengths(lengths: LongArray, layout: Layout) -> LongArray:
    """(distinct hypotheses): the length of the reference whose length is closest to that of the hypothesis."""
    own = lengths[: layout.distinct]
    segment = np.repeat(np.arange(len(layout.hypotheses) - 1), np.diff(layout.hypotheses))
    first, end = layout.references[:-1][segment], layout.references[1:][segment]
    closest = lengths[first]
    for k in range(1, layout.most_references):
        other = lengths[np.minimum(first + k, end - 1)]
        nearer = np.abs(other - own) < np.abs(closest - own)
        shorter = (np.abs(other - own) == np.abs(closest - own)) & (other < closest)
        closest = np.where(nearer | shorter, other, closest)
    return closest
