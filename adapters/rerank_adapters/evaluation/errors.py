"""Counts errors by kind: correct, substituted, deleted and inserted words, and utterances with any error.

Two systems are compared by the matched-pairs test of word errors on sentence segments (MAPSSWE; Gillick & Cox 1989), as
in NIST's sc_stats, on stretches of speech between words that both recognise: a stretch ends where both have
`MIN_CORRECT_WORDS` words in a row right. Errors in different stretches are taken to be independent. With d the
difference between the systems' errors in a stretch, the statistic Z = mean(d) / (sd(d) / √n) is about normal where n is
large. Where all differences are equal, and not 0, their spread is no measure of chance, and there is no p-value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np

from rerank_adapters.metrics.alignment import CORRECT, DELETION, INSERTION, SUBSTITUTION, Aligning, Alignment
from rerank_adapters.texts.transcript import Transcript

MIN_STRETCHES = 30  # with errors; of fewer, the distribution of Z is far from normal
MIN_CORRECT_WORDS = 2  # of both systems between two stretches (min_num_good of sc_stats)


@dataclass(frozen=True)
class MatchedPairs:
    """The number of stretches with errors, the mean difference of errors (first less second), Z and its two-sided p.

    Z and p are None where the differences have no spread, as a single one has none.
    """

    segments: int
    mean: float
    z: float | None
    p: float | None


def matched_pairs(pairs: Iterable[tuple[Alignment, Alignment]]) -> MatchedPairs:
    """Compare two systems by their alignments with the same references. Z is 0 and p is 1 where no stretch differs."""
    differences = [a - b for first, second in pairs for a, b in _stretches(first, second)]
    n = len(differences)
    if not any(differences):
        return MatchedPairs(n, 0.0, 0.0, 1.0)
    values = np.array(differences, np.float64)
    mean, deviation = float(values.mean()), float(values.std(ddof=1)) if n > 1 else 0.0
    if deviation == 0:
        return MatchedPairs(n, mean, None, None)
    z = mean / (deviation / sqrt(n))
    return MatchedPairs(n, mean, z, erfc(abs(z) / sqrt(2)))


def _stretches(first: Alignment, second: Alignment) -> list[tuple[int, int]]:
    """The errors of both systems in each stretch of an utterance that has any."""
    stretches: list[tuple[int, int]] = []
    run, errors = MIN_CORRECT_WORDS, (0, 0)
    words = zip(_errors_by_word(first), _errors_by_word(second), strict=True)
    for (inserted, wrong), (other_inserted, other_wrong) in words:
        if not (inserted or wrong or other_inserted or other_wrong):
            run += 1
            continue
        if run >= MIN_CORRECT_WORDS and any(errors):  # both systems have these words right since the last error
            stretches.append(errors)
            errors = (0, 0)
        errors = errors[0] + inserted + wrong, errors[1] + other_inserted + other_wrong
        run = 0 if wrong or other_wrong else 1  # after insertions alone the word itself is right
    return [*stretches, errors] if any(errors) else stretches


def _errors_by_word(alignment: Alignment) -> list[tuple[int, int]]:
    """For each word of the reference, the insertions before it, and 1 if it is wrong; for the end, its insertions."""
    words, inserted = [], 0
    for operation in alignment.operations:
        if operation == INSERTION:
            inserted += 1
        else:
            words.append((inserted, int(operation != CORRECT)))
            inserted = 0
    return [*words, (inserted, 0)]


@dataclass(frozen=True)
class ErrorCounts:
    """The words of a system's outputs by kind, with the closest reference of each segment.

    `wrong_segments` is the number of segments with an error, `matched_pairs` the comparison of the system with the
    baseline by the matched-pairs test (None for the baseline, and where segments have several references or
    alternatives, whose alignments cannot be matched).
    """

    correct: int
    substitutions: int
    deletions: int
    insertions: int
    wrong_segments: int
    matched_pairs: MatchedPairs | None = None

    @property
    def reference_units(self) -> int:
        """The number of units of the references."""
        return self.correct + self.substitutions + self.deletions

    @property
    def errors(self) -> int:
        """The number of all errors."""
        return self.substitutions + self.deletions + self.insertions


def alignments_of(metric: Aligning, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> list[Alignment]:
    """The alignment of each output with the closest reference of its segment."""
    return [metric.align(output, refs) for output, refs in zip(outputs, references, strict=True)]


def count_errors(
    metric: Aligning, systems: Sequence[Sequence[str]], references: Sequence[Sequence[str]], baseline: int
) -> tuple[ErrorCounts, ...]:
    """The errors of each system, compared with that at the position `baseline`."""
    aligned = [alignments_of(metric, outputs, references) for outputs in systems]
    single = all(len(refs) == 1 and not isinstance(refs[0], Transcript) for refs in references)
    counts = []
    for system, alignments in enumerate(aligned):
        correct, substituted, deleted, inserted = (
            sum(alignment.count(kind) for alignment in alignments)
            for kind in (CORRECT, SUBSTITUTION, DELETION, INSERTION)
        )
        wrong = sum(alignment.errors > 0 for alignment in alignments)
        compared = single and system != baseline
        pairs = matched_pairs(zip(alignments, aligned[baseline], strict=True)) if compared else None
        counts.append(ErrorCounts(correct, substituted, deleted, inserted, wrong, pairs))
    return tuple(counts)
