"""Test suites judged by language models: surprisals of regions, and how many predictions they meet.

Surprisal of a word is -log2 p(word | the words before it), of a region what the suite's metric makes of its words
(their sum, mostly). Each region goes through the text steps by itself, so that a token never lies in two regions: a
region "." or "n't" is a token of its own, and a comma at the end of a region splits off within it. `</s>` belongs to no
region. Each distinct sentence is scored once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rerank_adapters.applications.acceptability.suites.formulas import Region
from rerank_adapters.applications.acceptability.suites.suite_file import METRICS, Item, Suite
from rerank_adapters.text import TextPipeline
from rerank_plugins import FloatArray, LanguageModel
from rerank_plugins.arrays import BoolArray, LongArray

LN2 = float(np.log(2))
Regions = tuple[tuple[str, ...], ...]  # the tokens of each region


@dataclass(frozen=True)
class Surprisal:
    """Surprisal of a region: bits, by the suite's metric; `unknown` tokens of it are not in the vocabulary."""

    suite: str
    item: str
    condition: str
    region: int
    tokens: tuple[str, ...]
    bits: float
    unknown: int


@dataclass(frozen=True, eq=False)
class SuiteResult:
    """What a system makes of a suite: `met` (items, predictions), and every surprisal."""

    system: str
    suite: Suite
    met: BoolArray
    surprisals: tuple[Surprisal, ...]

    @property
    def share(self) -> float:
        """Share of predictions met, over all items."""
        return float(self.met.mean())

    @property
    def counts(self) -> LongArray:
        """(predictions) items that meet each."""
        counts: LongArray = self.met.sum(axis=0, dtype=np.int64)
        return counts


def judge_suites(models: Mapping[str, LanguageModel], suites: Sequence[Suite], text: TextPipeline) -> list[SuiteResult]:
    """Each suite by each model, suites first."""
    regions = {id(item): _tokens(item, text) for suite in suites for item in suite.items}
    sentences = list(
        dict.fromkeys(_sentence(parts) for conditions in regions.values() for parts in conditions.values())
    )
    results: dict[tuple[str, int], SuiteResult] = {}
    for system, model in models.items():
        scored = dict(zip(sentences, model.score(sentences), strict=True))
        known = {word: word in model for word in {word for sentence in sentences for word in sentence}}
        for place, suite in enumerate(suites):
            results[system, place] = _judged(system, suite, regions, scored, known)
    return [results[system, place] for place in range(len(suites)) for system in models]


def _judged(
    system: str,
    suite: Suite,
    regions: Mapping[int, Mapping[str, Regions]],
    scored: Mapping[tuple[str, ...], FloatArray],
    known: Mapping[str, bool],
) -> SuiteResult:
    metric = METRICS[suite.metric]
    met = np.zeros((len(suite.items), len(suite.predictions)), np.bool_)
    rows: list[Surprisal] = []
    for i, item in enumerate(suite.items):
        values: dict[Region, float] = {}
        for condition, parts in regions[id(item)].items():
            bits = -scored[_sentence(parts)] / LN2
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
