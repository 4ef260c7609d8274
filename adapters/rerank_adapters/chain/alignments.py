"""Writes alignments of the outputs of systems with their references, in the layout of sclite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rerank_adapters.chain.job import Job, through
from rerank_adapters.evaluation.errors import alignments_of
from rerank_adapters.metrics.alignment import Aligning
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
    metric, text = next((m.metric, m.text) for m in job.measures if isinstance(m.metric, Aligning))
    targets = through(text, references)
    with open_atomic(path) as lines:
        for name, outputs in systems.items():
            aligned = alignments_of(metric, text.apply(outputs), targets)
            lines.writelines(alignment_report(name, ids, aligned))
