"""The tables of an evaluation as rows of text, which each format writes in its own way.
Alignments have the layout of sclite.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rerank_adapters.evaluation.comparisons import Comparison
from rerank_adapters.evaluation.errors import MIN_STRETCHES
from rerank_adapters.evaluation.result import Evaluation, MetricResult
from rerank_adapters.metrics.alignment import CORRECT, DELETION, INSERTION, SUBSTITUTION, Alignment
from rerank_adapters.report import numbers
from rerank_adapters.runtime.progress import counted


@dataclass(frozen=True)
class Table:
    """A title, a header, rows of cells (a cell may have several lines), and notes below."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def groups_that_fit(widths: Sequence[int], room: int) -> Iterator[list[int]]:
    """The numbers of columns, in groups whose widths sum to at most `room`; a group has at least one.

    >>> list(groups_that_fit([3, 3, 9, 2], 6))
    [[0, 1], [2], [3]]
    """
    group: list[int] = []
    for column, width in enumerate(widths):
        if group and sum(widths[i] for i in group) + width > room:
            yield group
            group = []
        group.append(column)
    yield group


def score_table(evaluation: Evaluation) -> Table:
    """A row per system and a column per metric; a cell has the score, the difference to the baseline, the p-values."""
    rows = []
    for system in evaluation.systems:
        cells = [_score_cell(metric, system) for metric in evaluation.metrics]
        rows.append((system, *cells))
    if any(metric.oracle for metric in evaluation.metrics):
        rows.append(("oracle", *(numbers.oracle_bound(metric, "best") for metric in evaluation.metrics)))
        rows.append(("anti-oracle", *(numbers.oracle_bound(metric, "worst") for metric in evaluation.metrics)))
    header = ("system", *(f"{m.name} {'↑' if m.higher_is_better else '↓'}" for m in evaluation.metrics))
    return Table("Scores", header, tuple(rows), tuple(numbers.legend(evaluation)))


def segment_table(evaluation: Evaluation) -> Table:
    """Numbers of segments with better, worse and equal sentence scores, and the proportion of resamples won."""
    rows = []
    for metric in evaluation.metrics:
        for scores in metric.systems:
            c = scores.comparison
            if c is not None:
                won = "" if c.better is None else f"{100 * c.better:.1f} %"
                rows.append((scores.system, metric.name, str(c.wins), str(c.losses), str(c.ties), won))
    header = ("system", "metric", "wins", "losses", "ties", "resamples won")
    return Table(f"Segments against {evaluation.baseline}", header, tuple(rows))


def bucket_table(evaluation: Evaluation, metric: MetricResult) -> Table:
    """Corpus scores by the length of the reference: a row per bucket, a column per system."""
    rows = []
    for i, bucket in enumerate(evaluation.buckets):
        scores = (numbers.score(system.bucket_scores[i]) for system in metric.systems)
        rows.append((bucket.label, str(len(bucket.segments)), *scores))
    ratios = ", ".join(f"{s} {r:.3f}" for s, r in zip(evaluation.systems, evaluation.length_ratios, strict=True))
    header = ("reference words", "segments", *evaluation.systems)
    return Table(f"{metric.name} by length", header, tuple(rows), (f"Output words per reference word: {ratios}.",))


def gain_table(evaluation: Evaluation) -> Table:
    """The comparisons besides those with the baseline: a row for each pair of systems, a column per metric."""
    pairs = evaluation.metrics[0].pairs
    systems = list(dict.fromkeys(pair.system for pair in pairs))
    rows = []
    for number, pair in enumerate(pairs):
        comparisons = [metric.pairs[number].comparison for metric in evaluation.metrics]
        name = f"over {pair.over}" if len(systems) == 1 else f"{pair.system} over {pair.over}"
        rows.append((name, *map(_comparison_cell, comparisons)))
    header = ("gain", *(f"{metric.name} {'↑' if metric.higher_is_better else '↓'}" for metric in evaluation.metrics))
    return Table(f"Gains of {' and '.join(systems)}", header, tuple(rows))


def _score_cell(metric: MetricResult, system: str) -> str:
    scores = metric.of(system)
    lines = [numbers.score_with_interval(scores)]
    if scores.comparison is not None:
        lines.append(_comparison_cell(scores.comparison))
    return "\n".join(lines)


def _comparison_cell(comparison: Comparison) -> str:
    """The difference, its interval and its p-values, as far as they were computed, on lines of their own."""
    interval = comparison.interval.written if comparison.interval else ""
    lines = (numbers.difference(comparison), interval, numbers.p_values(comparison))
    return "\n".join(line for line in lines if line)


def error_table(evaluation: Evaluation, metric: MetricResult) -> Table:
    """A row per system: its correct, substituted, deleted and inserted units, all errors, and wrong segments."""
    rows = []
    for system, counts in zip(evaluation.systems, metric.errors, strict=True):
        kinds = (counts.correct, counts.substitutions, counts.deletions, counts.insertions, counts.errors)
        rates = (f"{100 * kind / max(1, counts.reference_units):.2f}" for kind in kinds)
        wrong = f"{100 * counts.wrong_segments / len(evaluation.segments):.2f}"
        pairs = counts.matched_pairs
        p = "" if pairs is None else "none" if pairs.p is None else numbers.p_value(pairs.p)
        rows.append((system, *rates, wrong, p))
    header = ("system", "correct", "sub", "del", "ins", "errors", "segments", "MAPSSWE p")
    units = metric.errors[0].reference_units
    notes = [f"Percent of {units:,} units of the references; of the segments, those with an error."]
    compared = [pairs for counts in metric.errors if (pairs := counts.matched_pairs) is not None]
    if compared:
        notes.append(f"MAPSSWE is the matched-pairs test of NIST, two-sided, against {evaluation.baseline}.")
    if any(pairs.p is None for pairs in compared):
        notes.append("It has no p where all stretches with errors have the same difference.")
    if compared and (fewest := min(pairs.segments for pairs in compared)) < MIN_STRETCHES:
        few = counted(fewest, "stretch", "stretches")
        notes.append(f"Warning: it takes Z to be normal; {few} with errors are too few for that. See the other tests.")
    return Table(f"{metric.name}: kinds of errors", header, tuple(rows), tuple(notes))


def group_table(evaluation: Evaluation, metric: MetricResult) -> Table:
    """Corpus scores by group: a row per group, a column per system."""
    rows = []
    for i, group in enumerate(evaluation.groups):
        scores = (numbers.score(system.group_scores[i]) for system in metric.systems)
        rows.append((group.name, str(len(group.segments)), *scores))
    return Table(f"{metric.name} by group", ("group", "segments", *evaluation.systems), tuple(rows))


def alignment_report(name: str, ids: Sequence[str], alignments: Sequence[Alignment]) -> Iterator[str]:
    """The lines of a file in the layout of sclite's `pralign`: for each segment its counts and two aligned lines."""
    yield f"\t\tDUMP OF SYSTEM ALIGNMENT STRUCTURE\n\nSystem name:   {name}\n\n"
    for segment_id, alignment in zip(ids, alignments, strict=True):
        counts = " ".join(str(alignment.count(kind)) for kind in (CORRECT, SUBSTITUTION, DELETION, INSERTION))
        yield f"id: ({segment_id})\nScores: (#C #S #D #I) {counts}\n"
        columns = zip(alignment.reference, alignment.hypothesis, alignment.operations, strict=True)
        cells = [_cell(*column) for column in columns]
        for row, label in enumerate(("REF: ", "HYP: ", "Eval:")):
            yield f"{label} {' '.join(cell[row] for cell in cells)}".rstrip() + "\n"
        yield "\n"


def _cell(reference: str | None, hypothesis: str | None, operation: str) -> tuple[str, str, str]:
    """Both words and the letter of the operation, equally wide; a missing word is shown as asterisks."""
    width = max(len(reference or ""), len(hypothesis or ""))
    above, below = (("*" * width if word is None else word).ljust(width) for word in (reference, hypothesis))
    return above, below, ("" if operation == CORRECT else operation).ljust(width)
