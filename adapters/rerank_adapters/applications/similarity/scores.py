"""`rerank similarity apply` and `evaluate`: the measures with their data, scores of sentence pairs, and correlations.

The 95 % intervals of Pearson's r and Spearman's ρ use Fisher's transformation: tanh(atanh(r) ± z s), with s = 1 / √(n -
3) for r and s = √((1 + ρ²/2) / (n - 3)) for ρ (Bonett and Wright 2000). The correlation with constant values is
undefined: it is given as 0. The interval of three pairs or fewer is [-1, 1].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from math import atanh, sqrt, tanh
from pathlib import Path
from typing import Any

import click
import numpy as np

from rerank_adapters.applications.similarity.measure import score_pairs
from rerank_adapters.applications.similarity.measure_data import measures_of
from rerank_adapters.applications.similarity.model import read_similarity
from rerank_adapters.applications.similarity.named import measure_of
from rerank_adapters.applications.similarity.pair_scores import metric_scores, similarity
from rerank_adapters.applications.similarity.pairs_file import read_sentence_pairs
from rerank_adapters.chain.overlap import LEARNT, warn_of_learnt
from rerank_adapters.commands import options
from rerank_adapters.commands.summary_line import SummaryLine
from rerank_adapters.evaluation.significance import Interval, Z
from rerank_adapters.given_texts import Text
from rerank_adapters.report.tables import Table
from rerank_adapters.runtime.progress import StatusLine, counted
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FormatError, Metric
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.registry import Registry
from rerank_plugins.kit.files.text import open_atomic

Scorer = Callable[[Sequence[tuple[Text, Text]]], FloatArray]  # from the sentences of pairs to (pairs) scores
DATA = ("vectors", "esa", "svs", "wordnet", "entities")


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for the data of measures; the command gets them as one argument, `data`, to pass to `measures_of`."""
    options = (
        click.option("--vectors", type=Path, metavar="MODEL", help="From `rerank train random-indexing`: vectors.*"),
        click.option("--esa", type=Path, metavar="MODEL", help="From `rerank train esa`: esa.*"),
        click.option("--svs", type=Path, metavar="MODEL",
                     help="From `rerank train svs` or `svs-concepts`, or en (embedded): svs.*"),
        click.option("--wordnet", type=Path, metavar="FOLDER",
                     help="Database files of WordNet: wordnet.*",
                     show_default="$WNSEARCHDIR or $WNHOME/dict"),
        click.option("--entities", default="capitals", show_default=True, metavar="NAME",
                     help="Recogniser of names: capitals, or stanza[,folder=DIR][,package=NAME][,model=FILE]."),
    )  # fmt: skip

    @wraps(command)
    def with_data(*args: Any, **values: Any) -> Any:
        return command(*args, data={name: values.pop(name) for name in DATA}, **values)

    for option in reversed(options):
        with_data = option(with_data)
    return with_data


def similarity_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for what computes the scores, a trained model or one measure, and for the data of measures."""
    for option in (
        options.text_option,
        data_options,
        click.option(
            "--measure",
            metavar="NAME",
            help="Use this one measure instead of a model, such as tfidf.stems, or a metric, such as chrf.",
        ),
        click.option("-M", "--model", type=Path, help="Model of `rerank similarity train`."),
    ):
        command = option(command)
    return command


def similarity_of(
    registry: Registry, model: Path | None, measure: str | None, data: Mapping[str, Any], steps: tuple[str, ...]
) -> tuple[Scorer, Mapping[str, Any]]:
    """What scores pairs as the options say, and the provenance of the model that they name; empty for a measure.

    Raises ConfigError unless they name a model or a measure.
    """
    check_choice(model, measure, data, steps)
    if model is not None:
        system = read_similarity(model)
        return partial(score_pairs, system, measures=measures_of(**data)), system.provenance
    text = options.text_steps(steps)
    scorer = measure_of(named_measure(registry, str(measure)), {**data, "text": text})
    return partial(metric_scores, scorer, text=TextPipeline(text)) if isinstance(scorer, Metric) else scorer.scores, {}


def named_measure(registry: Registry, measure: str) -> Metric | str:
    """The metric of that name, with its options; the name itself where no metric has it."""
    from rerank_adapters.chain.builder import Builder
    from rerank_adapters.config import plugin_table

    if registry.find("metric", measure.partition(",")[0]) is None:
        return measure
    metric: Metric = Builder(registry).build("metric", plugin_table(measure), "--measure")
    return metric


def check_choice(model: Path | None, measure: str | None, data: Mapping[str, Any], steps: tuple[str, ...]) -> None:
    """Raise ConfigError unless the options name a model or a measure, and no data for what has its own."""
    if (model is None) == (measure is None):
        raise ConfigError("give a model (-M MODEL), or a measure (--measure NAME)")
    if model is not None and (data["vectors"] or steps):
        raise ConfigError("--vectors and --text are for a measure: the model has its own")


@dataclass(frozen=True)
class Correlation:
    """The correlations of `pairs` pairs of numbers, with their 95 % confidence intervals."""

    pearson: float
    pearson_interval: Interval
    spearman: float
    spearman_interval: Interval
    pairs: int


def correlate(a: FloatArray, b: FloatArray) -> Correlation:
    """The correlations of (n) numbers with (n) others."""
    r, rho = pearson(a, b), pearson(ranks(a), ranks(b))
    return Correlation(r, _interval(r, len(a), 1.0), rho, _interval(rho, len(a), 1 + rho * rho / 2), len(a))


def pearson(a: FloatArray, b: FloatArray) -> float:
    """Pearson's r; 0 if either side is constant, up to rounding."""
    if len(a) < 2:
        return 0.0
    x, y = a - a.mean(), b - b.mean()
    norm = float(sqrt(float(x @ x) * float(y @ y)))
    tiny = 1e-12 * len(a) * (1 + float(np.abs(a).max())) * (1 + float(np.abs(b).max()))
    return max(-1.0, min(1.0, float(x @ y) / norm)) if norm > tiny else 0.0


def ranks(values: FloatArray) -> FloatArray:
    """Ranks from 0; equal values have the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts + 1) / 2)[inverse], np.float64)


def _interval(r: float, pairs: int, variance: float) -> Interval:
    if pairs <= 3:
        return Interval(-1.0, 1.0)
    if abs(r) == 1:
        return Interval(r, r)
    half = Z * sqrt(variance / (pairs - 3))
    return Interval(tanh(atanh(r) - half), tanh(atanh(r) + half))


def similarity_records(score: Scorer, paths: Sequence[Path]) -> list[dict[str, Any]]:
    """A record for each file of scored pairs: the correlations of the scores with the human ones.

    For several files, their mean follows, weighted by their numbers of pairs. Raises FormatError for a file without
    scores.
    """
    records: list[dict[str, Any]] = []
    for path in paths:
        pairs = read_sentence_pairs(path)
        if pairs.scores is None:
            raise FormatError("the pairs have no scores to compare with", path=pairs.name)
        result = correlate(score(pairs.pairs), pairs.scores)
        record: dict[str, Any] = {"pairs_file": pairs.name, "pairs": result.pairs}
        for kind, value, (low, high) in (
            ("pearson", result.pearson, result.pearson_interval),
            ("spearman", result.spearman, result.spearman_interval),
        ):
            record |= {kind: value, f"{kind}_low": low, f"{kind}_high": high}
        records.append(record)
    if len(records) > 1:
        weights = [record["pairs"] for record in records]
        mean = {key: float(np.average([r[key] for r in records], weights=weights)) for key in ("pearson", "spearman")}
        records.append({"pairs_file": "weighted mean", "pairs": sum(weights), **mean})
    return records


def similarity_table(records: Sequence[dict[str, Any]]) -> Table:
    """The records as a table."""
    rows = []
    for record in records:
        cells = [Path(record["pairs_file"]).name, f"{record['pairs']:,}"]
        for kind in ("pearson", "spearman"):
            low, high = record.get(f"{kind}_low"), record.get(f"{kind}_high")
            cells.append(f"{record[kind]:.3f}" + ("" if low is None else f" [{low:.3f}, {high:.3f}]"))
        rows.append(tuple(cells))
    header = ("file", "pairs", "Pearson r [95 %]", "Spearman ρ [95 %]")
    return Table("Correlation with human scores", header, tuple(rows), ("The intervals are Fisher's.",))


@click.command("apply")
@click.argument("pairs", type=Path)
@similarity_options
@click.option("--with-pairs", is_flag=True, help="Also write the two sentences after each score.")
@options.output_option("Write the scores to this file.")
@click.pass_obj
def apply(
    registry: Registry, pairs: Path, model: Path | None, measure: str | None, data: dict[str, Any],
    steps: tuple[str, ...], with_pairs: bool, output: Path,
) -> None:  # fmt: skip
    """Score the similarity of PAIRS of sentences, one pair per line.

    PAIRS is a file of sentence<TAB>sentence, or one that has scores as well, which are left out. The command writes a
    score for each pair, in their order: that of a model of `rerank similarity train` (-M), or of a single --measure. A
    metric scores the first sentence with the second as its reference. Words are weighted by their rarity among the
    pairs of the file, so score pairs of one kind together.

    \b
    rerank similarity apply pairs.tsv -M model.sim > scores.txt
    rerank similarity apply pairs.tsv --measure tfidf.stems --with-pairs
    """  # noqa: D301
    summary_line = SummaryLine()
    sentences = read_sentence_pairs(pairs)
    check_choice(model, measure, data, steps)
    with StatusLine("scoring pairs of sentences"):
        spec = model or named_measure(registry, str(measure))
        rows = similarity(sentences.pairs, {"score": spec}, **data, text=options.text_steps(steps))
    with open_atomic(output) as out:
        for row in rows:
            out.write("\t".join([f"{row['score']:.4f}", *((row["first"], row["second"]) if with_pairs else ())]) + "\n")
    summary_line.wrote(f"scores of {counted(len(rows), 'pair')}", output)


@click.command("evaluate")
@click.argument("files", nargs=-1, required=True, type=Path, metavar="FILE...")
@similarity_options
@options.style_option
@click.pass_obj
def evaluate(
    registry: Registry, files: tuple[Path, ...], model: Path | None, measure: str | None, data: dict[str, Any],
    steps: tuple[str, ...], style: str,
) -> None:  # fmt: skip
    """Correlate scores with human scores (Pearson and Spearman), for each FILE of scored pairs and on average.

    Each FILE has lines of score<TAB>sentence<TAB>sentence, or is CSV as the STS benchmark has it. The pairs are scored
    by a model of `rerank similarity train` (-M), or by a single --measure, and the correlations are printed.

    \b
    rerank similarity evaluate headlines.tsv images.tsv -M model.sim
    rerank similarity evaluate headlines.tsv --measure tfidf.stems --as json
    """  # noqa: D301
    from rerank_adapters.report.output import write_records

    score, provenance = similarity_of(registry, model, measure, data, steps)
    warn_of_learnt(provenance.get(LEARNT), f"the system {model} was", files)
    with StatusLine("scoring pairs of sentences"):
        records = similarity_records(score, files)
    write_records(records, [similarity_table(records)], style)
