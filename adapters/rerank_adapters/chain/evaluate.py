"""Evaluates systems by all metrics of a config, each on text that has gone through its own pipeline.

Beside the scores: alignments in the layout of sclite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rerank_adapters.chain.job import Job
from rerank_adapters.evaluation import Evaluation, Resampling, SegmentFacts, evaluate, reference_lengths
from rerank_adapters.evaluation.errors import alignments_of
from rerank_adapters.evaluation.measure import Measure, through
from rerank_adapters.formats.nist.markup import first_alternative
from rerank_adapters.metrics.alignment import Aligning
from rerank_adapters.report.tables import alignment_report
from rerank_adapters.text import TextPipeline
from rerank_plugins import NBestList, open_atomic


def compare(
    job: Job,
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    facts: SegmentFacts = SegmentFacts(),
    *,
    nbests: Sequence[NBestList] | None = None,
    baseline: str | None = None,
    pairs: Sequence[tuple[str, str]] = (),
) -> Evaluation:
    """Compare systems (name -> one output for each segment) by the job's metrics, the tuned one first.

    `pairs` are compared besides each system with the baseline. With `nbests`, the result has the oracle and the
    anti-oracle of these lists too. The texts of its segments are those that the first metric saw.
    """
    settings = job.config.evaluation
    resampling = Resampling(settings.bootstrap, settings.randomisation, job.config.seed, settings.resample_groups)
    parts = []
    for measure in job.measures:
        measure.check([*systems.values(), *references])
    firsts = [list(map(first_alternative, several)) for several in references]
    lengths = reference_lengths(through(job.measures[0].text, firsts))  # one set of buckets for all metrics
    for text, measures in _by_pipeline(job.measures):
        lists = through(text, [nbest.texts for nbest in nbests]) if nbests is not None else None
        parts.append(
            evaluate(
                dict(zip(systems, through(text, list(systems.values())), strict=True)),
                through(text, references),
                {measure.name: measure.metric for measure in measures},
                resampling,
                replace(facts, nbests=lists, lengths=lengths),
                baseline=baseline,
                pairs=pairs,
                text=text.describe() if text.steps else "",
            )
        )
    results = {result.name: result for part in parts for result in part.metrics}
    return replace(parts[0], metrics=tuple(results[measure.name] for measure in job.measures))


def with_first_best(systems: Mapping[str, Sequence[str]], first: Sequence[str]) -> dict[str, Sequence[str]]:
    """The systems with the decoder's 1-bests before them, unless one of them is these very outputs."""
    if any(list(outputs) == list(first) for outputs in systems.values()):
        return dict(systems)
    name = "decoder's 1-best" if "1-best" in systems else "1-best"
    return {name: first, **systems}


def _by_pipeline(measures: Sequence[Measure]) -> list[tuple[TextPipeline, list[Measure]]]:
    """The metrics in groups that share a text pipeline."""
    groups: dict[str, tuple[TextPipeline, list[Measure]]] = {}
    for measure in measures:
        groups.setdefault(measure.text.describe(), (measure.text, []))[1].append(measure)
    return list(groups.values())


def write_alignments(
    job: Job, systems: Mapping[str, Sequence[str]], references: Sequence[Sequence[str]], ids: Sequence[str], path: Path
) -> None:
    """Write the alignments of all systems, one after another, by the first metric of the job that aligns texts."""
    metric, text = next((m.metric, m.text) for m in job.measures if isinstance(m.metric, Aligning))
    targets = through(text, references)
    with open_atomic(path) as lines:
        for name, outputs in systems.items():
            aligned = alignments_of(metric, through(text, [outputs])[0], targets)
            lines.writelines(alignment_report(name, ids, aligned))
