"""Estimates what an extraction costs: each feature goes through some lists, and its seconds are scaled to all of them.

The lists of the sample stand at even distances in the order of the lengths of their texts. Before them the feature
extracts two hypotheses, which loads its models and compiles its kernels. Of a long list, features of scope "text" are
measured on the first hypotheses.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rerank_adapters.features.extract import extracted
from rerank_adapters.features.feature import Feature
from rerank_adapters.runtime.progress import counted, duration
from rerank_plugins import NBestList
from rerank_plugins.core.files import without_cache
from rerank_plugins.core.threads import cores

MAX_LISTS = 5  # lists of a sample
MAX_HYPOTHESES = 100  # hypotheses of a list that are measured
MAX_SECONDS = 0.3  # CPU seconds after which no further list is extracted


@dataclass(frozen=True)
class Cost:
    """CPU seconds that a feature takes for each distinct text, and at the start, measured on so many texts."""

    label: str
    seconds: float
    loading: float
    texts: int


@dataclass(frozen=True)
class Costs:
    """The costs of all features for lists with so many distinct texts, if none of their values is in the cache.

    `processes` work at the same time, each on a core of its own; models are loaded once.
    """

    costs: tuple[Cost, ...]
    texts: int
    processes: int

    @classmethod
    def of(cls, features: Sequence[Feature], sets: Sequence[Sequence[NBestList]], jobs: int) -> Costs:
        """The costs of features for sets of lists, measured on the first one. Raises what extractors raise."""
        with without_cache():
            costs = tuple(_cost(feature, sets[0]) for feature in features)
        texts = sum(len(set(nbest.texts)) for lists in sets for nbest in lists)
        return cls(costs, texts, min(jobs, cores()))

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of all processes together."""
        return sum(cost.loading + cost.seconds * self.texts for cost in self.costs)

    @property
    def seconds(self) -> float:
        """Wall seconds."""
        extraction = sum(cost.seconds for cost in self.costs) * self.texts / self.processes
        return sum(cost.loading for cost in self.costs) + extraction

    def lines(self) -> Iterator[str]:
        """What a user is told of them."""
        yield (
            f"about {duration(self.seconds)} to extract all features on {counted(self.processes, 'core')} "
            f"({duration(self.cpu_seconds)} of CPU) if no value of the {counted(self.texts, 'distinct text')} is in "
            "the cache; tuning and evaluation come on top"
        )
        by_cost = sorted(self.costs, key=lambda cost: -cost.seconds)
        per_text = ", ".join(f"{cost.label} {1000 * cost.seconds:.2g}" for cost in by_cost)
        fewest, most = min(cost.texts for cost in by_cost), max(cost.texts for cost in by_cost)
        sample = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        yield f"CPU milliseconds a text: {per_text} (measured on {sample} texts)"


def _cost(feature: Feature, lists: Sequence[NBestList]) -> Cost:
    """The cost of a feature, measured on lists."""
    ordered = sorted((nbest for nbest in lists if len(nbest)), key=_length)
    places = {len(ordered) * (2 * number + 1) // (2 * MAX_LISTS) for number in range(MAX_LISTS)}
    loading = _seconds(feature, ordered[0].select(range(min(2, len(ordered[0])))))
    seconds, texts = 0.0, 0
    for place in sorted(places, key=lambda place: abs(2 * place - len(ordered))):  # that in the middle first
        nbest = ordered[place]
        if feature.extractor.scope == "text":
            nbest = nbest.select(range(min(MAX_HYPOTHESES, len(nbest))))
        seconds += _seconds(feature, nbest)
        texts += len(set(nbest.texts))
        if seconds > MAX_SECONDS:
            break
    return Cost(feature.label, seconds / texts, loading, texts)


def _length(nbest: NBestList) -> float:
    """The mean number of characters of a list's texts."""
    return sum(map(len, nbest.texts)) / len(nbest)


def _seconds(feature: Feature, nbest: NBestList) -> float:
    begin = time.process_time()
    extracted(feature, [nbest])
    return time.process_time() - begin
