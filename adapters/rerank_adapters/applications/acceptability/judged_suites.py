"""`suites`: the surprisals of the regions of test suites by language models, and the predictions that they meet.

The surprisal of a word is -log2 p(word | the words before it). The surprisal of a region is computed from those of its
words by the suite's metric (usually their sum). The text steps are applied to each region by itself, so that no token
lies in two regions: a region "." or "n't" is a token of its own, and a comma at the end of a region becomes a separate
token within it. `</s>` belongs to no region. Each distinct sentence is scored once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rerank_adapters.applications.acceptability.suite_file import METRICS, Item, Region, Suite, read_suite
from rerank_adapters.data.given_texts import pipeline_of
from rerank_adapters.evaluation.proportions import wilson_interval
from rerank_adapters.job.models import load_all
from rerank_adapters.rows import Rows
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FloatArray, LanguageModel
from rerank_plugins.core.arrays import BoolArray, LongArray
from rerank_plugins.core.contracts import checked_scores
from rerank_plugins.core.words import model_words
from rerank_plugins.kit.language_models import with_words

LN2 = float(np.log(2))
Regions = tuple[tuple[str, ...], ...]  # the tokens of each region


@dataclass(frozen=True)
class RegionSurprisal:
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
    surprisals: tuple[RegionSurprisal, ...]

    @property
    def fraction(self) -> float:
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
        log_probabilities = dict(zip(sentences, checked_scores(model, sentences), strict=True))
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
    rows: list[RegionSurprisal] = []
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
                rows.append(RegionSurprisal(suite.name, item.number, condition, number, tokens, value, unknown))
            values[None, condition] = sum(values[number, condition] for number in item.conditions[condition])
        met[i] = [prediction(values) for prediction in suite.predictions]
    return SuiteResult(system, suite, met, tuple(rows))


def _tokens(item: Item, text: TextPipeline) -> dict[str, Regions]:
    return {
        condition: tuple(
            tuple(model_words(part)) for part in text.apply([content.strip() for content in parts.values()])
        )
        for condition, parts in item.conditions.items()
    }


def _sentence(regions: Regions) -> tuple[str, ...]:
    return tuple(token for region in regions for token in region)


class JudgedSuites(Rows):
    """The rows of `suites`: one for each suite, system and prediction. `results` has them by suite and system."""

    def __init__(self, results: Sequence[SuiteResult]) -> None:
        columns = ("suite", "system", "prediction", "items", "met", "share", "low", "high", "formula")
        super().__init__(columns, (row for result in results for row in _predictions(result)))
        self.results = tuple(results)

    @property
    def means(self) -> Rows:
        """A row for each system: the mean over suites of the proportion of predictions that are met."""
        fractions: dict[str, list[float]] = {}
        for result in self.results:
            fractions.setdefault(result.system, []).append(result.fraction)
        rows = [(system, len(own), float(np.mean(own))) for system, own in fractions.items()]
        return Rows(["system", "suites", "mean"], rows)

    @property
    def surprisals(self) -> Rows:
        """A row for each region of each sentence, in bits; `unknown` counts its out-of-vocabulary tokens."""
        rows = (
            (result.system, s.suite, s.item, s.condition, s.region, " ".join(s.tokens), s.bits, s.unknown)
            for result in self.results
            for s in result.surprisals
        )
        return Rows(["system", "suite", "item", "condition", "region", "tokens", "bits", "unknown"], rows)


def _predictions(result: SuiteResult) -> Iterator[tuple[Any, ...]]:
    """The row of each prediction, with the share of items that meet it and its 95 % interval."""
    items = len(result.suite.items)
    for number, (formula, met) in enumerate(zip(result.suite.predictions, result.counts.tolist(), strict=True), 1):
        low, high = wilson_interval(met, items)
        yield result.suite.name, result.system, number, items, met, met / items, low, high, formula.text


def suites(
    files: str | Path | Sequence[str | Path], models: Any, *, text: str | Sequence[str] = "penn-tokenize"
) -> JudgedSuites:
    """How many items of test suites meet each prediction, by the surprisals of language models.

    The columns are `suite`, `system`, `prediction` (a number from 1), `items`, `met`, `share` with Wilson's 95 %
    interval (`low`, `high`), and `formula`. `.means` are the rows of the mean over suites, and `.surprisals` those of
    the surprisal of each region, in bits.

    `files`   suites in SyntaxGym's JSON, one or many
    `models`  language models of words, one or many: names, files, objects, or a dict of these by name
    `text`    the text steps that each region goes through

    Raises FormatError for a file of another form, and ConfigError for a model that gives no probabilities to words, and
    without any file.

    >>> import json, pathlib, tempfile
    >>> regions = {"good": "the house is big", "bad": "is house big the"}
    >>> suite = {
    ...     "meta": {"name": "order", "metric": "sum"},
    ...     "predictions": [{"type": "formula", "formula": "(1;%good%) < (1;%bad%)"}],
    ...     "items": [{"item_number": 1, "conditions": [
    ...         {"condition_name": name, "regions": [{"region_number": 1, "content": content}]}
    ...         for name, content in regions.items()
    ...     ]}],
    ... }
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "order.json"
    >>> _ = file.write_text(json.dumps(suite))
    >>> judged = suites(file, "ngram-lm")
    >>> judged["met"], judged.means
    ([1], system    suites  mean
    ngram-lm       1     1)
    """
    paths = [files] if isinstance(files, str | Path) else list(files)
    if not paths:
        raise ConfigError("there is no suite, expected one or more files in SyntaxGym's JSON")
    loaded = load_all(models, "language_model")
    of_name = {name: with_words(model, f"language model {name}") for name, model in loaded.items()}
    return JudgedSuites(judge_suites(of_name, [read_suite(path) for path in paths], pipeline_of(text)))
