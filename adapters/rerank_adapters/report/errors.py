"""Reports errors of words: a table of their kinds, and alignments in the layout of sclite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rerank_adapters.evaluation.matched_pairs import FEW
from rerank_adapters.evaluation.result import Evaluation, MetricResult
from rerank_adapters.metrics.alignment import CORRECT, DELETION, INSERTION, SUBSTITUTION, Alignment
from rerank_adapters.report import numbers
from rerank_adapters.report.tables import Table
from rerank_adapters.runtime.progress import counted


def error_table(evaluation: Evaluation, metric: MetricResult) -> Table:
    """A row per system: its correct, substituted, deleted and inserted units, all errors, and wrong segments."""
    rows = []
    for system, counts in zip(evaluation.systems, metric.errors, strict=True):
        kinds = (counts.correct, counts.substitutions, counts.deletions, counts.insertions, counts.errors)
        shares = (f"{100 * kind / max(1, counts.reference_units):.2f}" for kind in kinds)
        wrong = f"{100 * counts.wrong_segments / len(evaluation.segments):.2f}"
        pairs = counts.matched_pairs
        p = "" if pairs is None else "none" if pairs.p is None else numbers.p_value(pairs.p)
        rows.append((system, *shares, wrong, p))
    header = ("system", "correct", "sub", "del", "ins", "errors", "segments", "MAPSSWE p")
    units = metric.errors[0].reference_units
    notes = [f"Percent of {units:,} units of the references; of the segments, those with an error."]
    compared = [pairs for counts in metric.errors if (pairs := counts.matched_pairs) is not None]
    if compared:
        notes.append(f"MAPSSWE is the matched-pairs test of NIST, two-sided, against {evaluation.baseline}.")
    if any(pairs.p is None for pairs in compared):
        notes.append("It has no p where all stretches with errors have the same difference.")
    if compared and (fewest := min(pairs.segments for pairs in compared)) < FEW:
        few = counted(fewest, "stretch", "stretches")
        notes.append(f"Warning: it takes Z to be normal, which {few} with errors are too few for; see the other tests.")
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
