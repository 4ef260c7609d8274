"""Counts errors by kind: correct, substituted, deleted and inserted words, and utterances with any error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rerank_adapters.evaluation.matched_pairs import MatchedPairs, matched_pairs
from rerank_adapters.metrics.alignment import CORRECT, DELETION, INSERTION, SUBSTITUTION, Aligning, Alignment


@dataclass(frozen=True)
class ErrorCounts:
    """The words of a system's outputs by kind, with the closest reference of each segment.

    `wrong_segments` is the number of segments with an error, `matched_pairs` the comparison of the system with the
    baseline by the matched-pairs test (None for the baseline, and where segments have several references, whose
    alignments cannot be matched).
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
    single = all(len(refs) == 1 for refs in references)
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
