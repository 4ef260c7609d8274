"""Compares the outputs of systems that are paired with their references: the same for files and for texts in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rerank_adapters.data.content import warnings_of
from rerank_adapters.evaluation import Evaluation, SegmentFacts, evaluate
from rerank_adapters.evaluation.baselines import with_highest_total
from rerank_adapters.job.job import Job
from rerank_adapters.runtime.progress import StatusLine, warn
from rerank_adapters.texts.pairing import Paired


def compare_systems(
    job: Job,
    paired: Paired,
    *,
    files: Sequence[str | Path] = (),
    sources: Sequence[str | None] | None = None,
    groups: Sequence[str] | None = None,
    baseline: str | None = None,
) -> Evaluation:
    """Compare systems by the metrics of a job; the highest total of lists is one if it is another than the 1-best.

    `files` hold the references, if they are in files. `sources` are by default those of the lists. What is unpaired or
    doubtful is logged. Raises ConfigError where outputs and references do not belong together.
    """
    ids, lists, references = paired.ids, paired.lists, paired.references
    outputs = paired.outputs if lists is None else with_highest_total(paired.outputs, lists)
    named = {f"outputs of {name!r}": texts for name, texts in outputs.items()}
    doubts = job.content_check().doubts(named, references, files=files, sources=sources, ids=ids)
    warn([*paired.findings, *warnings_of(doubts)])
    of_lists = None if lists is None else [nbest.source for nbest in lists]
    facts = SegmentFacts(ids, of_lists if sources is None else sources, groups, lists)
    with StatusLine("evaluating"):
        resampling = job.config.evaluation.resampling(job.config.seed)
        return evaluate(outputs, references, job.measures, resampling, facts, baseline=baseline)
