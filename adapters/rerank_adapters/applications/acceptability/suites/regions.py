"""Judges test suites by language models: the surprisals of regions, and the predictions that they meet.

The surprisal of a word is -log2 p(word | the words before it). The surprisal of a region is computed from those of its
words by the suite's metric (usually their sum). The text steps are applied to each region by itself, so that no token
lies in two regions: a region "." or "n't" is a token of its own, and a comma at the end of a region becomes a separate
token within it. `</s>` belongs to no region. Each distinct sentence is scored once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rerank_adapters.applications.acceptability.suites.formulas import Region
from rerank_adapters.applications.acceptability.suites.suite_file import METRICS, Item, Suite
from rerank_adapters.text import TextPipeline
from rerank_plugins import FloatArray, LanguageModel
from rerank_plugins.core.arrays import BoolArray, LongArray

LN2 = float(np.log(2))
Regions = tuple[tuple[str, ...], ...]  # the tokens of each region


@dataclass(frozen=True)
class Surprisal:
    """The surprisal of a region, in bits, by the suite's metric; `unknown` counts its out-of-vocabulary tokens."""

    suite: str
    item: str
    condition: str
    region: int
    tokens: tuple[str, ...]
    bits: float
    unknown: int


@dataclass(frozen=True, eq=False)
class SuiteResult:
    """A system's result on a suite: which predictions it meets, `met` (items, predictions), and all surprisals."""

    system: str
    suite: Suite
    met: BoolArray
    surprisals: tuple[Surprisal, ...]

    @property
    def share(self) -> float:
        """The proportion of predictions met, over all items."""
        return float(self.met.mean())

    @property
    def counts(self) -> LongArray:
        """(predictions) the number of items that meet each prediction."""
        counts: LongArray = self.met.sum(axis=0, dtype=np.int64)
        return counts


def judge_suites(models: Mapping[str, LanguageModel], suites: Sequence[Suite], text: TextPipeline) -> list[SuiteResult]:
    """The results of all models on all suites, grouped by suite."""
    regions = {id(item): _tokens(item, text) for suite in suites for item in suite.items}
    sentences = list(
        dict.fromkeys(_sentence(parts) for conditions in regions.values() for parts in conditions.values())
    )
    results: dict[tuple[str, int], SuiteResult] = {}
    for system, model in models.items():
        log_probabilities = dict(zip(sentences, model.score(sentences), strict=True))
        known = {word: word in model for word in {word for sentence in sentences for word in sentence}}
        for index, suite in enumerate(suites):
            results[system, index] = _judged(system, suite, regions, log_probabilities, known)
    return [results[system, index] for index in range(len(suites)) for system in models]


def _judged(
    system: str,
    suite: Suite,
    regions: Mapping[int, Mapping[str, Regions]],
    log_probabilities: Mapping[tuple[str, ...], FloatArray],
    known: Mapping[str, bool],
) -> SuiteResult:
    metric = METRICS[suite.metric]
    met = np.zeros((len(suite.items), len(suite.predictions)), np.bool_)
    rows: list[Surprisal] = []
    for i, item in enumerate(suite.items):
        values: dict[Region, float] = {}
        for condition, parts in regions[id(item)].items():
            bits = -log_probabilities[_sentence(parts)] / LN2
            start = 0
            for number, tokens in zip(item.conditions[condition], parts, strict=True):
                stop = start + len(tokens)
                value = metric(bits[start:stop])
                values[number, condition], start = value, stop
                unknown = sum(not known[token] for token in tokens)
                rows.append(Surprisal(suite.name, item.number, condition, number, tokens, value, unknown))
            values[None, condition] = sum(values[number, condition] for number in item.conditions[condition])
        met[i] = [prediction(values) for prediction in suite.predictions]
    return SuiteResult(system, suite, met, tuple(rows))


def _tokens(item: Item, text: TextPipeline) -> dict[str, Regions]:
    return {
        condition: tuple(tuple(part.split()) for part in text.apply([content.strip() for content in parts.values()]))
        for condition, parts in item.conditions.items()
    }


def _sentence(regions: Regions) -> tuple[str, ...]:
    return tuple(token for region in regions for token in region)
