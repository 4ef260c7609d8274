"""Estimates the costs of a run: measures each feature on a sample of the lists, and scales the costs to all of them.

The sample of a feature is lists of evenly spaced costs (by the lengths of their texts), until `BUDGET` seconds are
used. Before them the feature extracts one short list, which loads its models. The time of a list during which kernels
are compiled does not count: they are compiled once, and kept. Of a long list, features of scope "text" are measured on
the first `LONGEST` hypotheses.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rerank_adapters.chain.job import Job
from rerank_adapters.features.extract import extracted
from rerank_adapters.features.feature import Feature
from rerank_adapters.runtime.kernel_cache import compiled
from rerank_plugins import NBestList
from rerank_plugins.core.files import cache_folder, without_cache
from rerank_plugins.core.threads import cores

BUDGET = 0.3  # CPU seconds after which no further list of the sample is extracted
LISTS = 5  # lists of a sample
LONGEST = 100  # hypotheses of a list that are measured
STATISTICS = 16  # numbers for each hypothesis beside its features, with BLEU's ten statistics
VALUE, KEY = 8, 16  # bytes of a value, and of a key in the cache of values


@dataclass(frozen=True)
class FeatureCost:
    """What a feature costs: CPU seconds for each distinct hypothesis, and for its models and kernels at the start.

    `kernels` are the names of those that were compiled for the measurement, and `measured` is the size of the sample.
    """

    label: str
    seconds: float
    loading: float
    kernels: tuple[str, ...]
    measured: int


@dataclass(frozen=True)
class Estimate:
    """What the extraction of all features of a job costs.

    `hypotheses`  the number of distinct texts, list by list, which are extracted once each
    `processes`   those that can work at the same time
    `memory`      bytes: the peak so far, models and lists included, and the larger one of what extraction adds (the
                  table of the largest set, and what the workers may need) and of what tuning adds (`tuning_memory`)
    `tables`      bytes of the feature tables in the work folder
    `kept`        bytes of the values in the cache of values; 0 where there is no cache
    """

    costs: tuple[FeatureCost, ...]
    hypotheses: int
    processes: int
    memory: int
    tables: int
    kept: int

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of all processes together, for values of which none is in the cache."""
        return sum(cost.loading + cost.seconds * self.hypotheses for cost in self.costs)

    @property
    def seconds(self) -> float:
        """Wall seconds, if each process has a core to itself; models are loaded once."""
        extraction = sum(cost.seconds for cost in self.costs) * self.hypotheses / self.processes
        return sum(cost.loading for cost in self.costs) + extraction


def feature_costs(features: Sequence[Feature], nbests: Sequence[NBestList]) -> list[FeatureCost]:
    """The cost of each feature. Raises what extractors raise."""
    with without_cache():
        return [_cost(feature, nbests) for feature in features]


def estimate(job: Job, costs: Sequence[FeatureCost], sets: Sequence[Sequence[NBestList]], grown: int) -> Estimate:
    """The estimate of a job on its sets of lists; `grown` is by how many bytes the measurement raised the peak."""
    widths = [len(feature.names) for feature in job.features]
    tables = [
        VALUE * sum(map(len, lists)) * (len(lists[0].feature_names) + sum(widths))
        + (VALUE + 4) * sum(len(hypothesis.sparse) for nbest in lists for hypothesis in nbest)
        for lists in sets
    ]
    hypotheses = sum(len(set(nbest.texts)) for lists in sets for nbest in lists)
    processes = min(job.config.jobs, cores())
    kept = hypotheses * sum(KEY + VALUE * width for width in widths) if cache_folder() is not None else 0
    workers = grown * job.config.jobs if job.config.jobs > 1 else 0
    added = max(max(tables, default=0) + workers, tuning_memory(sets[0], sum(widths)) if job.config.tune else 0)
    return Estimate(tuple(costs), hypotheses, processes, peak() + added, sum(tables), kept)


def tuning_memory(nbests: Sequence[NBestList], extracted: int) -> int:
    """Bytes that tuning takes beside the lists: their table twice, since tuners standardise it, statistics and scores.

    `extracted` is the number of columns that extraction adds.
    """
    rows, columns = sum(map(len, nbests)), len(nbests[0].feature_names) + extracted
    return VALUE * rows * (2 * columns + STATISTICS)


def peak() -> int:
    """The most memory, in bytes, that this process has had so far; 0 where the system does not report it."""
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _cost(feature: Feature, nbests: Sequence[NBestList]) -> FeatureCost:
    earlier = compiled()
    loading = seconds = 0.0
    measured = 0
    shortest = min(nbests, key=_length)
    loading += _seconds(feature, shortest.select(range(min(2, len(shortest)))))
    for nbest in _sample(nbests, whole=feature.extractor.scope == "list"):
        kernels = len(compiled())
        spent = _seconds(feature, nbest)
        if len(compiled()) > kernels:  # do it again without the compiler
            again = _seconds(feature, nbest)
            loading, spent = loading + spent - again, again
        seconds += spent
        measured += len(set(nbest.texts))
        if seconds > BUDGET:
            break
    names = tuple((Counter(compiled()) - Counter(earlier)).keys())
    return FeatureCost(feature.label, seconds / max(1, measured), max(0.0, loading), names, measured)


def _sample(nbests: Sequence[NBestList], *, whole: bool) -> list[NBestList]:
    """Lists at evenly spaced places in the order of their lengths: that in the middle first, then those around it."""
    ordered = sorted((nbest for nbest in nbests if len(nbest)), key=_length)
    places = dict.fromkeys(len(ordered) * (2 * number + 1) // (2 * LISTS) for number in range(LISTS))
    chosen = [ordered[place] for place in sorted(places, key=lambda place: abs(2 * place - len(ordered)))]
    return chosen if whole else [nbest.select(range(min(LONGEST, len(nbest)))) for nbest in chosen]


def _length(nbest: NBestList) -> float:
    return sum(map(len, nbest.texts)) / max(1, len(nbest))


def _seconds(feature: Feature, nbest: NBestList) -> float:
    begin = time.process_time()
    extracted(feature, [nbest])
    return time.process_time() - begin
