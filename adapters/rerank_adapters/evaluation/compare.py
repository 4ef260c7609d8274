"""Compares systems on the same segments: scores, intervals, differences, p-values, oracles, length buckets.

Each metric sees texts after its own text steps, which all texts go through once for the metrics that share them.
Statistics are counted once per segment for the distinct outputs of all systems, and resamples are drawn once for all
systems and metrics (comparisons.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rerank_adapters.evaluation.baselines import usual_baseline
from rerank_adapters.evaluation.comparisons import Resampling, Samples, resample
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
from rerank_adapters.metrics.alignment import Aligning
from rerank_adapters.metrics.sacrebleu_conventions import full_signature
from rerank_adapters.text import TextPipeline
from rerank_adapters.texts.transcript import first_alternative
from rerank_plugins import ConfigError, FloatArray, Metric, NBestList, RerankError, __version__
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.contracts import checked_statistics
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.words import split_words


@dataclass(frozen=True)
class SegmentFacts:
    """The facts of the segments, one value for each; None where they are not known.

    `ids`      by default, numbers from 0
    `sources`  the source sentences
    `groups`   the group of each segment, such as its speaker: scores are given by group too
    `nbests`   the hypotheses of each segment, for the oracle and the anti-oracle; `NBestList`s tell the baseline too
    """

    ids: Sequence[str] | None = None
    sources: Sequence[str | None] | None = None
    groups: Sequence[str] | None = None
    nbests: Sequence[NBestList] | Sequence[Sequence[str]] | None = None


@dataclass(frozen=True)
class Texts:
    """The texts that a metric sees: of each system one for each segment, of each segment references and hypotheses."""

    systems: Sequence[Sequence[str]]
    references: Sequence[Sequence[str]]
    nbests: Sequence[Sequence[str]] | None

    def through(self, text: TextPipeline) -> Texts:
        """The texts after a text pipeline. Raises ConfigError as `measure.through` does."""
        nbests = None if self.nbests is None else through(text, self.nbests)
        return Texts(through(text, self.systems), through(text, self.references), nbests)

    def statistics(self, metric: Metric) -> FloatArray:
        """(systems, segments, S): a metric's statistics of the outputs; one of several systems is counted once."""
        distinct = [list(dict.fromkeys(outputs)) for outputs in zip(*self.systems, strict=True)]
        counted = checked_statistics(metric, distinct, self.references)
        first = np.cumsum([0, *(len(own) for own in distinct)])[:-1].tolist()
        place = [{one: start + i for i, one in enumerate(own)} for start, own in zip(first, distinct, strict=True)]
        rows = [[where[one] for where, one in zip(place, outputs, strict=True)] for outputs in self.systems]
        return counted[np.array(rows, np.int64)]

    def oracles(self, metric: Metric) -> OracleScores | None:
        """The best and the worst score by a metric that hypotheses reach; None without hypotheses."""
        if self.nbests is None:
            return None
        counted = checked_statistics(metric, self.nbests, self.references)
        offsets = np.cumsum([0, *map(len, self.nbests)], dtype=np.int64)
        highest, lowest = (oracle(counted, offsets, metric, best=best) for best in (True, False))
        return OracleScores(highest.score, lowest.score, highest.kind)


def evaluate(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    metrics: Mapping[str, Metric] | Sequence[Measure],
    resampling: Resampling = Resampling(),
    facts: SegmentFacts = SegmentFacts(),
    *,
    baseline: str | None = None,
    pairs: Sequence[tuple[str, str]] = (),
) -> Evaluation:
    """Compare systems by metrics. The texts of the result are those that the first metric saw.

    `systems`     name -> one output per segment
    `references`  one or more per segment
    `metrics`     by name, or with the text steps that texts go through before each
    `resampling`  the settings of the two tests
    `facts`       the facts of the segments
    `baseline`    the name of the system that others are compared with; by default the first, or of two baselines of the
                  lists the stronger one (`usual_baseline`)
    `pairs`       systems to compare besides those with the baseline: a system, and the one that it is compared with

    Raises ConfigError for an unknown baseline or system of a pair, for resampled groups without groups, and for texts
    that a metric or its steps cannot read; RerankError where numbers of segments differ or there are no segments.
    """
    measures = list(metrics) if isinstance(metrics, Sequence) else [Measure(*named) for named in metrics.items()]
    _check(systems, references, facts)
    names, sources = tuple(systems), facts.sources if facts.sources is not None else [None] * len(references)
    for measure in measures:
        measure.check([*systems.values(), *references])
    lists = [nbest for nbest in facts.nbests or () if isinstance(nbest, NBestList)]
    if baseline is None:
        baseline = usual_baseline(systems, lists, measures[0], references, sources) if lists else names[0]
    for compared in (baseline, *(name for pair in pairs for name in pair)):
        if compared not in systems:
            raise ConfigError(f"no system named {compared!r} to compare with{suggestion(compared, systems)}")
    nbests = [nbest.texts if isinstance(nbest, NBestList) else nbest for nbest in facts.nbests or ()]
    texts = Texts(list(systems.values()), references, nbests or None)
    by_steps: dict[str, Texts] = {}
    for measure in measures:
        if measure.steps not in by_steps:
            by_steps[measure.steps] = texts.through(measure.text)
    seen = [by_steps[measure.steps] for measure in measures]
    firsts = through(measures[0].text, [list(map(first_alternative, several)) for several in references])
    buckets, groups = length_buckets(reference_lengths(firsts)), by_name(facts.groups or ())
    scored = [measure.metric.with_sources(sources) for measure in measures]
    statistics = [own.statistics(metric) for own, metric in zip(seen, scored, strict=True)]
    first, others = names.index(baseline), [(names.index(system), names.index(other)) for system, other in pairs]
    against = [(system, first) for system in range(len(names)) if system != first]
    samples = resample(statistics, scored, dict.fromkeys([*against, *others]), resampling, facts.groups)
    results = tuple(
        MetricResult(
            measure.name,
            _signature(own.metric, references, resampling, measure.steps),
            own.metric.higher_is_better,
            _system_scores(own, names, first, buckets, groups),
            texts.oracles(own.metric),
            count_errors(own.metric, texts.systems, texts.references, first)
            if isinstance(own.metric, Aligning)
            else (),
            tuple(PairedComparison(names[i], names[j], own.comparison(i, j)) for i, j in others),
        )
        for measure, texts, own in zip(measures, seen, samples, strict=True)
    )
    ids = facts.ids if facts.ids is not None else list(map(str, range(len(references))))
    segments = tuple(
        Segment(id_, source, tuple(map(str, several)), tuple(map(str, outputs)))
        for id_, source, several, *outputs in zip(ids, sources, seen[0].references, *seen[0].systems, strict=True)
    )
    words = sum(len(split_words(several[0])) for several in firsts)
    return Evaluation(
        version=__version__,
        seed=resampling.seed,
        bootstrap=resampling.bootstrap,
        randomisation=resampling.randomisation,
        text=measures[0].steps,
        baseline=baseline,
        systems=names,
        length_ratios=tuple(sum(len(split_words(one)) for one in own) / max(words, 1) for own in seen[0].systems),
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
        if not len(nbest):
            raise RerankError(f"the n-best list of segment {segment} (counted from 0) is empty")


def reference_lengths(references: Sequence[Sequence[str]]) -> LongArray:
    """(segments) the mean number of words of the references of each segment, rounded."""
    return np.array([round(np.mean([len(split_words(r)) for r in refs])) for refs in references], np.int64)


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
