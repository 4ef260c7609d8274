"""Compares systems on the same segments: scores, intervals, differences, p-values, oracles, length buckets.

Statistics are counted once per segment for the distinct outputs of all systems, and resamples are drawn once for all
systems and metrics (significance.py). `compare` lets the texts go through the steps of each metric; for `evaluate` the
caller has processed them (detokenisation, case), and names the pipeline in `text`, which the signatures record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rerank_adapters.evaluation.baselines import usual_baseline
from rerank_adapters.evaluation.errors import count_errors
from rerank_adapters.evaluation.groups import Bucket, Group, by_name, length_buckets
from rerank_adapters.evaluation.measure import Measure, through
from rerank_adapters.evaluation.oracle import oracle
from rerank_adapters.evaluation.result import (
    Evaluation,
    MetricResult,
    OracleScores,
    PairedComparison,
    Segment,
    SystemScore,
)
from rerank_adapters.evaluation.samples import Resampling, Samples, resample, system_statistics
from rerank_adapters.metrics.alignment import Aligning
from rerank_adapters.metrics.sacrebleu_conventions import full_signature
from rerank_adapters.texts.transcript import first_alternative
from rerank_plugins import ConfigError, Metric, NBestList, RerankError, __version__
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.contracts import checked_statistics
from rerank_plugins.core.errors import suggestion


@dataclass(frozen=True)
class SegmentFacts:
    """The facts of the segments, one value for each; None where they are not known.

    `ids`      by default, numbers from 0
    `sources`  the source sentences
    `groups`   the group of each segment, such as its speaker: scores are given by group too
    `lengths`  (segments) the lengths that buckets are made of; by default, numbers of words of the references
    `nbests`   the hypotheses of each segment, for the oracle and the anti-oracle
    """

    ids: Sequence[str] | None = None
    sources: Sequence[str | None] | None = None
    groups: Sequence[str] | None = None
    lengths: LongArray | None = None
    nbests: Sequence[Sequence[str]] | None = None


def compare(
    measures: Sequence[Measure],
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    resampling: Resampling = Resampling(),
    facts: SegmentFacts = SegmentFacts(),
    *,
    lists: Sequence[NBestList] | None = None,
    baseline: str | None = None,
    pairs: Sequence[tuple[str, str]] = (),
) -> Evaluation:
    """Compare systems (name -> one output for each segment) by metrics, each on text after its own steps.

    With `lists`, the result has the oracle and the anti-oracle of these lists too, and the baseline is by default the
    stronger one of the lists (`usual_baseline`). The texts of its segments are those that the first metric saw. Other
    parameters, and errors, are those of `evaluate`.
    """
    for measure in measures:
        measure.check([*systems.values(), *references])
    if baseline is None and lists is not None and systems:
        baseline = usual_baseline(systems, lists, measures[0], references, facts.sources)
    firsts = [list(map(first_alternative, several)) for several in references]
    lengths = reference_lengths(through(measures[0].text, firsts))  # one set of buckets for all metrics
    by_pipeline: dict[str, list[Measure]] = {}
    for measure in measures:
        by_pipeline.setdefault(measure.text.describe(), []).append(measure)
    parts = []
    for described, alike in by_pipeline.items():
        text = alike[0].text
        nbests = through(text, [nbest.texts for nbest in lists]) if lists is not None else None
        parts.append(
            evaluate(
                dict(zip(systems, through(text, list(systems.values())), strict=True)),
                through(text, references),
                {measure.name: measure.metric for measure in alike},
                resampling,
                replace(facts, nbests=nbests, lengths=lengths),
                baseline=baseline,
                pairs=pairs,
                text=described if text.steps else "",
            )
        )
    results = {result.name: result for part in parts for result in part.metrics}
    return replace(parts[0], metrics=tuple(results[measure.name] for measure in measures))


def evaluate(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    metrics: Mapping[str, Metric],
    resampling: Resampling = Resampling(),
    facts: SegmentFacts = SegmentFacts(),
    *,
    baseline: str | None = None,
    pairs: Sequence[tuple[str, str]] = (),
    text: str = "",
) -> Evaluation:
    """Compare systems by metrics.

    `systems`     name -> one output per segment; `baseline` names one of them (the first if None)
    `references`  one or more per segment
    `resampling`  the settings of the two tests
    `facts`       the facts of the segments
    `pairs`       systems to compare besides those with the baseline: a system, and the one that it is compared with
    `text`        name of the text pipeline that made the texts, for the signatures

    Raises ConfigError for an unknown baseline or system of a pair and for resampled groups without groups, RerankError
    where numbers of segments differ or there are no segments.
    """
    _check(systems, references, facts)
    names, outputs = tuple(systems), list(systems.values())
    baseline = baseline if baseline is not None else names[0]
    for compared in (baseline, *(name for pair in pairs for name in pair)):
        if compared not in systems:
            raise ConfigError(f"no system named {compared!r} to compare with{suggestion(compared, systems)}")
    sources = facts.sources if facts.sources is not None else [None] * len(references)
    ids = facts.ids if facts.ids is not None else list(map(str, range(len(references))))
    groups = by_name(facts.groups or ())
    buckets = length_buckets(reference_lengths(references) if facts.lengths is None else facts.lengths)
    metrics = {name: metric.with_sources(sources) for name, metric in metrics.items()}
    statistics = [system_statistics(outputs, references, metric) for metric in metrics.values()]
    numbered = [(names.index(system), names.index(other)) for system, other in pairs]
    first = names.index(baseline)
    samples = resample(statistics, list(metrics.values()), groups, {first, *(o for _, o in numbered)}, resampling)
    results = tuple(
        MetricResult(
            name,
            _signature(sample.metric, references, resampling, text),
            sample.metric.higher_is_better,
            _system_scores(sample, names, first, buckets, groups),
            _oracles(sample.metric, facts.nbests, references),
            count_errors(sample.metric, outputs, references, first) if isinstance(sample.metric, Aligning) else (),
            tuple(PairedComparison(names[i], names[j], sample.comparison(i, j)) for i, j in numbered),
        )
        for name, sample in zip(metrics, samples, strict=True)
    )
    segments = tuple(
        Segment(id_, source, tuple(map(str, several)), tuple(map(str, texts)))
        for id_, source, several, *texts in zip(ids, sources, references, *outputs, strict=True)
    )
    words = sum(len(first_alternative(several[0]).split()) for several in references)
    return Evaluation(
        version=__version__,
        seed=resampling.seed,
        bootstrap=resampling.bootstrap,
        randomisation=resampling.randomisation,
        text=text,
        baseline=baseline,
        systems=names,
        length_ratios=tuple(sum(len(one.split()) for one in texts) / max(words, 1) for texts in outputs),
        metrics=results,
        buckets=buckets,
        segments=segments,
        groups=groups,
        unit="groups" if resampling.groups else "segments",
    )


def _check(systems: Mapping[str, Sequence[str]], references: Sequence[Sequence[str]], facts: SegmentFacts) -> None:
    if not systems:
        raise RerankError("no system to evaluate")
    if not references:
        raise RerankError("no segments to evaluate: the references are empty")
    for segment, several in enumerate(references):
        if not several:
            raise RerankError(f"segment {segment} (counted from 0) has no reference")
    parts: dict[str, Sequence[object] | None] = {f"system {name!r}": texts for name, texts in systems.items()}
    parts |= {"the n-best lists": facts.nbests, "the source": facts.sources}
    parts |= {"the list of segment ids": facts.ids, "the list of groups": facts.groups}
    for name, part in parts.items():
        if part is not None and len(part) != len(references):
            raise RerankError(f"{name} has {len(part)} segments, the references have {len(references)}")
    for segment, nbest in enumerate(facts.nbests or ()):
        if not nbest:
            raise RerankError(f"the n-best list of segment {segment} (counted from 0) is empty")


def reference_lengths(references: Sequence[Sequence[str]]) -> LongArray:
    """(segments) the mean number of words of the references of each segment, rounded."""
    return np.array([round(np.mean([len(r.split()) for r in refs])) for refs in references], np.int64)


def _system_scores(
    samples: Samples, names: Sequence[str], baseline: int, buckets: Sequence[Bucket], groups: Sequence[Group]
) -> tuple[SystemScore, ...]:
    by_bucket = [samples.of_segments(bucket.segments) for bucket in buckets]
    by_group = [samples.of_segments(group.segments) for group in groups]
    return tuple(
        SystemScore(
            name,
            float(samples.scores[system]),
            samples.interval(system),
            samples.comparison(system, baseline) if system != baseline else None,
            tuple(samples.sentences[system].tolist()),
            tuple(float(scores[system]) for scores in by_bucket),
            tuple(float(scores[system]) for scores in by_group),
        )
        for system, name in enumerate(names)
    )


def _oracles(
    metric: Metric, nbests: Sequence[Sequence[str]] | None, references: Sequence[Sequence[str]]
) -> OracleScores | None:
    if nbests is None:
        return None
    counted = checked_statistics(metric, nbests, references)
    offsets = np.cumsum([0, *map(len, nbests)], dtype=np.int64)
    highest, lowest = (oracle(counted, offsets, metric, best=best) for best in (True, False))
    return OracleScores(highest.score, lowest.score, highest.kind)


def _signature(metric: Metric, references: Sequence[Sequence[str]], resampling: Resampling, text: str) -> str:
    """As sacrebleu's signature: `nrefs:1|bs:1000|ar:10000|seed:1|case:mixed|…|version:…`, then the text pipeline."""
    counts = {len(refs) for refs in references}
    number, _, settings = full_signature(metric, counts.pop() if len(counts) == 1 else None).partition("|")
    parts = [number]
    parts += [f"bs:{resampling.bootstrap}"] if resampling.bootstrap else []
    parts += [f"ar:{resampling.randomisation}"] if resampling.randomisation else []
    parts += [f"seed:{resampling.seed}"] if resampling.bootstrap or resampling.randomisation else []
    parts += [settings]
    parts += [f"text:{text}"] if text else []
    return "|".join(parts)
