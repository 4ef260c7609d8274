"""Compares systems on the same segments: scores, intervals, differences, p-values, oracles, length buckets.

Statistics are counted once per segment for the distinct outputs of all systems, and resamples are drawn once for all
systems and metrics (significance.py). The caller processes the texts beforehand (detokenisation, case) and names the
pipeline in `text`, which the signatures record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from rerank_adapters.evaluation.errors import ErrorCounts, count_errors
from rerank_adapters.evaluation.oracle import oracle
from rerank_adapters.evaluation.result import (
    Bucket,
    Comparison,
    Evaluation,
    Group,
    MetricResult,
    OracleScores,
    PairedComparison,
    Segment,
    SystemScore,
    by_name,
    length_buckets,
)
from rerank_adapters.evaluation.settings import Resampling, SegmentFacts
from rerank_adapters.evaluation.significance import (
    Interval,
    bootstrap_p_value,
    bootstrap_totals,
    percentile_interval,
    randomisation_p_value,
    swapped_totals,
)
from rerank_adapters.formats.nist.markup import first_alternative, shown
from rerank_adapters.metrics.alignment import Aligning
from rerank_adapters.metrics.sacrebleu_conventions import full_signature
from rerank_plugins import ConfigError, FloatArray, Metric, RerankError, __version__
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.registry import suggestion

EQUAL = 1e-9  # sentence scores that differ by less are a tie


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
    `facts`       what is known of the segments
    `pairs`       systems to compare besides those with the baseline: a system, and the one that it is compared with
    `text`        name of the text pipeline that made the texts, for the signatures

    Raises ConfigError for an unknown baseline or system of a pair and for resampled groups without groups, RerankError
    where numbers of segments differ or there are no segments.
    """
    segments = len(references)
    _check(systems, references, facts)
    baseline = baseline if baseline is not None else next(iter(systems))
    for compared in (baseline, *(name for pair in pairs for name in pair)):
        if compared not in systems:
            raise ConfigError(f"no system named {compared!r} to compare with{suggestion(compared, systems)}")
    names = tuple(systems)
    sources = facts.sources if facts.sources is not None else [None] * segments
    metrics = {name: metric.with_sources(sources) for name, metric in metrics.items()}
    statistics = {name: system_statistics(list(systems.values()), references, m) for name, m in metrics.items()}
    columns = np.cumsum([0] + [array.shape[2] for array in statistics.values()]).tolist()
    stacked = np.concatenate(list(statistics.values()), axis=2)  # (systems, segments, statistics of all metrics)
    named_groups = by_name(facts.groups or ())
    if resampling.groups and not named_groups:
        raise ConfigError("whole groups are to be resampled, but the segments have no groups")
    units = stacked
    if resampling.groups:
        units = np.stack([stacked[:, list(group.segments)].sum(axis=1) for group in named_groups], axis=1)
    others = [names.index(name) for name in dict.fromkeys((baseline, *(other for _, other in pairs)))]
    resampled, swapped = _resample(units, others, resampling)
    named_pairs = [(names.index(system), names.index(other)) for system, other in pairs]
    buckets = length_buckets(reference_lengths(references) if facts.lengths is None else facts.lengths)
    offsets = np.cumsum([0, *(len(nbest) for nbest in facts.nbests or ())], dtype=np.int64)
    results = []
    for (name, metric), (start, end) in zip(metrics.items(), pairwise(columns), strict=True):
        samples = _Samples(
            metric,
            statistics[name],
            resampled[:, :, start:end],
            {other: moved[:, :, start:end] for other, moved in swapped.items()},
        )
        scores = _system_scores(samples, names, names.index(baseline), buckets, named_groups)
        paired = tuple(
            PairedComparison(names[system], names[other], samples.comparison(system, other))
            for system, other in named_pairs
        )
        best_and_worst = None
        if facts.nbests is not None:
            counted = metric.statistics(facts.nbests, references)
            highest, lowest = (oracle(counted, offsets, metric, best=best) for best in (True, False))
            best_and_worst = OracleScores(highest.score, lowest.score, highest.kind)
        signature = _signature(metric, references, resampling, text)
        errors: tuple[ErrorCounts, ...] = ()
        if isinstance(metric, Aligning):
            errors = count_errors(metric, list(systems.values()), references, names.index(baseline))
        results.append(MetricResult(name, signature, metric.higher_is_better, scores, best_and_worst, errors, paired))
    words = sum(len(first_alternative(refs[0]).split()) for refs in references)
    ratios = tuple(sum(len(t.split()) for t in texts) / max(words, 1) for texts in systems.values())
    rows = tuple(
        Segment(
            facts.ids[s] if facts.ids is not None else str(s),
            facts.sources[s] if facts.sources is not None else None,
            tuple(map(shown, references[s])),
            tuple(shown(texts[s]) for texts in systems.values()),
        )
        for s in range(segments)
    )
    return Evaluation(
        __version__,
        resampling.seed,
        resampling.bootstrap,
        resampling.randomisation,
        text,
        baseline,
        names,
        ratios,
        tuple(results),
        buckets,
        rows,
        named_groups,
        "groups" if resampling.groups else "segments",
    )


def reference_lengths(references: Sequence[Sequence[str]]) -> LongArray:
    """(segments) the mean number of words of the references of each segment, rounded."""
    return np.array([round(np.mean([len(r.split()) for r in refs])) for refs in references], np.int64)


def system_statistics(
    systems: Sequence[Sequence[str]], references: Sequence[Sequence[str]], metric: Metric
) -> FloatArray:
    """(systems, segments, S): the metric's statistics of each output; an output of several systems is counted once."""
    distinct = [list(dict.fromkeys(outputs)) for outputs in zip(*systems, strict=True)]
    counted = metric.statistics(distinct, references)
    first = np.cumsum([0, *(len(texts) for texts in distinct)])[:-1].tolist()
    place = [{text: start + i for i, text in enumerate(texts)} for start, texts in zip(first, distinct, strict=True)]
    rows = [[where[text] for where, text in zip(place, outputs, strict=True)] for outputs in systems]
    return counted[np.array(rows, np.int64)]


def _resample(
    stacked: FloatArray, others: Sequence[int], resampling: Resampling
) -> tuple[FloatArray, dict[int, FloatArray]]:
    """Totals of each bootstrap resample (systems, resamples, K), and for each of the systems `others` what each trial
    swaps between it and any system (systems, trials, K).
    """
    systems, segments, width = stacked.shape
    flat = stacked.transpose(1, 0, 2).reshape(segments, systems * width)
    resampled = bootstrap_totals(flat, resampling.bootstrap, np.random.default_rng(resampling.seed))
    swapped = {}
    for other in others:
        gaps = (stacked - stacked[other]).transpose(1, 0, 2).reshape(segments, systems * width)
        moved = swapped_totals(gaps, resampling.randomisation, np.random.default_rng(resampling.seed))
        swapped[other] = moved.reshape(resampling.randomisation, systems, width).transpose(1, 0, 2)
    return resampled.reshape(resampling.bootstrap, systems, width).transpose(1, 0, 2), swapped


class _Samples:
    """The statistics of all systems by one metric (systems, segments, S), and their resamples and swaps."""

    def __init__(
        self, metric: Metric, statistics: FloatArray, resampled: FloatArray, swapped: Mapping[int, FloatArray]
    ) -> None:
        self.metric, self.statistics, self.resampled, self.swapped = metric, statistics, resampled, swapped
        self.totals = statistics.sum(1)
        self.scores = metric.score(self.totals)
        self.resampled_scores = metric.score(resampled)
        self.sentences = [metric.sentence_scores(array) for array in statistics]

    def of_segments(self, segments: Sequence[int]) -> FloatArray:
        """(systems): the corpus scores on some of the segments."""
        return self.metric.score(self.statistics[:, list(segments)].sum(1))

    def interval(self, system: int) -> Interval | None:
        """The interval of a system's score; None without a bootstrap."""
        return percentile_interval(self.resampled_scores[system]) if self.resampled.shape[1] else None

    def comparison(self, system: int, other: int) -> Comparison:
        """A system compared with another."""
        sign = 1.0 if self.metric.higher_is_better else -1.0
        observed = float(self.scores[system] - self.scores[other])
        differences = self.resampled_scores[system] - self.resampled_scores[other]
        gains = sign * (self.sentences[system] - self.sentences[other])
        wins, losses = int((gains > EQUAL).sum()), int((gains < -EQUAL).sum())
        swapped = self.swapped[other][system]
        return Comparison(
            observed,
            percentile_interval(differences) if len(differences) else None,
            bootstrap_p_value(differences, observed) if len(differences) else None,
            _randomisation_p(self.metric, self.totals[other], self.totals[system], swapped, observed),
            float(np.mean(sign * differences > 0)) if len(differences) else None,
            wins,
            losses,
            len(gains) - wins - losses,
        )


def _system_scores(
    samples: _Samples, names: Sequence[str], baseline: int, buckets: Sequence[Bucket], groups: Sequence[Group]
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


def _randomisation_p(
    metric: Metric, baseline: FloatArray, system: FloatArray, swapped: FloatArray, observed: float
) -> float | None:
    if not len(swapped):
        return None
    differences = metric.score(baseline + swapped) - metric.score(system - swapped)
    return randomisation_p_value(differences, observed)


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


def _check(systems: Mapping[str, Sequence[str]], references: Sequence[Sequence[str]], facts: SegmentFacts) -> None:
    if not systems:
        raise RerankError("no system to evaluate")
    if not references:
        raise RerankError("no segments to evaluate: the references are empty")
    for segment, refs in enumerate(references):
        if not refs:
            raise RerankError(f"segment {segment} (counted from 0) has no reference")
    of_systems = {f"system {name!r}": texts for name, texts in systems.items()}
    for what, part in {**of_systems, **facts.parts()}.items():
        if part is not None and len(part) != len(references):
            raise RerankError(f"{what} has {len(part)} segments, the references have {len(references)}")
    for segment, nbest in enumerate(facts.nbests or ()):
        if not nbest:
            raise RerankError(f"the n-best list of segment {segment} (counted from 0) is empty")
