"""Writes alignments of the outputs of systems with their references, in the layout of sclite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rerank_adapters.chain.job import Job, through
from rerank_adapters.evaluation.errors import alignments_of
from rerank_adapters.metrics.wer import LevenshteinRate
from rerank_adapters.report.errors import alignment_report
from rerank_plugins.kit.files.text import open_atomic


def write_alignments(
    job: Job,
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    ids: Sequence[str],
    path: Path,
) -> None:
    """Write the alignments of all systems, one after another, by the first metric of the job that aligns texts."""
    measure = next(measure for measure in job.measures if isinstance(measure.metric, LevenshteinRate))
    targets = through(measure.text, references)
    with open_atomic(path) as lines:
        for name, outputs in systems.items():
            assert isinstance(measure.metric, LevenshteinRate)
            aligned = alignments_of(measure.metric, measure.text.apply(outputs), targets)
            lines.writelines(alignment_report(name, ids, aligned))
