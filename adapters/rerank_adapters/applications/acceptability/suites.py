"""`rerank acceptability suites`: the surprisals of regions by language models, and the predictions that they meet.

The surprisal of a word is -log2 p(word | the words before it). The surprisal of a region is computed from those of its
words by the suite's metric (usually their sum). The text steps are applied to each region by itself, so that no token
lies in two regions: a region "." or "n't" is a token of its own, and a comma at the end of a region becomes a separate
token within it. `</s>` belongs to no region. Each distinct sentence is scored once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from rerank_adapters.applications.acceptability.features import named_model
from rerank_adapters.applications.acceptability.suite_file import METRICS, Item, Region, Suite, read_suite
from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.evaluation.significance import wilson_interval
from rerank_adapters.job.models import load_word_model
from rerank_adapters.report.tables import Table
from rerank_adapters.runtime.progress import StatusLine
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FloatArray, LanguageModel
from rerank_plugins.core.arrays import BoolArray, LongArray
from rerank_plugins.kit.files.text import open_atomic

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job

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


def suite_records(results: Sequence[SuiteResult]) -> list[dict[str, Any]]:
    """A record for each suite, system and prediction."""
    records = []
    for result in results:
        for number, (formula, met) in enumerate(zip(result.suite.predictions, result.counts.tolist(), strict=True), 1):
            items = len(result.suite.items)
            low, high = wilson_interval(met, items)
            record = {"suite": result.suite.name, "system": result.system, "prediction": number, "items": items}
            record |= {"met": met, "share": met / items, "low": low, "high": high, "formula": formula.text}
            records.append(record)
    return records


def suite_table(results: Sequence[SuiteResult]) -> Table:
    """A row for each suite, a column for each system; the last row is the mean over suites."""
    systems = list(dict.fromkeys(result.system for result in results))
    suites = {id(result.suite): result.suite for result in results}
    fractions = {(id(result.suite), result.system): result.fraction for result in results}
    rows = [
        (
            suite.name,
            str(len(suite.items)),
            str(len(suite.predictions)),
            *(f"{100 * fractions[key, s]:.1f} %" for s in systems),
        )
        for key, suite in suites.items()
    ]
    means = [np.mean([fractions[key, system] for key in suites]) for system in systems]
    rows.append((f"mean of {len(suites)}", "", "", *(f"{100 * mean:.1f} %" for mean in means)))
    header = ("suite", "items", "predictions", *systems)
    return Table(
        "Test suites", header, tuple(rows), ("The proportion of predictions that are met, over the items of a suite.",)
    )


def surprisal_records(results: Sequence[SuiteResult]) -> list[dict[str, Any]]:
    """A record for each region of each sentence, in bits."""
    return [
        {"system": result.system, **asdict(row), "tokens": " ".join(row.tokens)}
        for result in results
        for row in result.surprisals
    ]


@click.command("suites")
@click.argument("suites", nargs=-1, required=True, type=options.FILE, metavar="SUITE...")
@options.language_model_option(multiple=True)
@click.option("--surprisals", type=options.output_file, metavar="FILE",
              help="Also write the surprisal of each region to this file (TSV).")  # fmt: skip
@options.text_option
@options.style_option
@options.job_options("config")
def command(
    job: Job, suites: tuple[Path, ...], models: tuple[str | Path, ...], surprisals: Path | None, steps: tuple[str, ...],
    style: str,
) -> None:  # fmt: skip
    """Count the predictions of test suites that language models meet.

    A SUITE is a JSON file in the form of SyntaxGym: sentences in several conditions, divided into regions, and formulas
    that compare the surprisals (in bits) of these regions. The command prints, for each suite and each language model
    (-M), the proportion of the predictions that hold. The text steps are applied to each region on its own.

    \b
    rerank acceptability suites suites/*.json -M lm.ngram -M unigram \\
        --surprisals bits.tsv
    """  # noqa: D301
    from rerank_adapters.report.output import records_tsv, write_records

    summary_line = SummaryLine()
    if not models:
        raise ConfigError("nothing to judge with: give a language model with -M")
    tables = dict(named_model(job, spec) for spec in models)
    if len(tables) < len(models):
        raise ConfigError("-M: two language models have the same name; give them others in a config")
    job = job.changed(language_model={**job.config.language_model, **tables})
    named = {name: load_word_model(name, job.names) for name in tables}
    suite_list = [read_suite(path) for path in suites]
    with StatusLine("scoring the sentences of the suites"):
        results = judge_suites(named, suite_list, TextPipeline(options.text_steps(steps)))
    write_records(suite_records(results), [suite_table(results)], style)
    if surprisals is not None:
        with open_atomic(surprisals) as out:
            out.write(records_tsv(surprisal_records(results)))
        summary_line.wrote("the surprisals of all regions", surprisals)
