"""`rerank similarity apply` and `evaluate`: scores of sentence pairs, and their correlation with human scores.

The 95 % intervals of Pearson's r and Spearman's ρ use Fisher's transformation: tanh(atanh(r) ± z s), with s = 1 / √(n -
3) for r and s = √((1 + ρ²/2) / (n - 3)) for ρ (Bonett and Wright 2000). The correlation with constant values is
undefined: it is given as 0. The interval of three pairs or fewer is [-1, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atanh, sqrt, tanh
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from rerank_adapters.applications.similarity.measures import score_pairs, similarity_of, similarity_options
from rerank_adapters.applications.similarity.model import SimilarityModel
from rerank_adapters.applications.similarity.pairs_file import read_sentence_pairs
from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import output_option, style_option
from rerank_adapters.evaluation.significance import Interval, Z
from rerank_adapters.report.tables import Table
from rerank_adapters.runtime.progress import StatusLine
from rerank_plugins import FormatError
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.kit.files.text import open_atomic

if TYPE_CHECKING:
    from rerank_plugins.similarity.measures.table import Measures


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


@dataclass(frozen=True)
class FileCorrelation:
    """The correlation of the system's scores with the human scores of the pairs of one file."""

    name: str
    correlation: Correlation


def evaluate_similarity(model: SimilarityModel, paths: Sequence[Path], given: Measures) -> list[FileCorrelation]:
    """A result for each file. Raises FormatError for a file without scores."""
    results = []
    for path in paths:
        pairs = read_sentence_pairs(path)
        if pairs.scores is None:
            raise FormatError("the pairs have no scores to compare with", path=pairs.name)
        results.append(FileCorrelation(pairs.name, correlate(score_pairs(model, pairs, given), pairs.scores)))
    return results


def similarity_records(results: Sequence[FileCorrelation]) -> list[dict[str, Any]]:
    """A record for each file, and for several files also their mean, weighted by their numbers of pairs."""
    records: list[dict[str, Any]] = []
    for result in results:
        found = result.correlation
        low, high = found.pearson_interval
        record = {"pairs": found.pairs, "pearson": found.pearson, "pearson_low": low, "pearson_high": high}
        low, high = found.spearman_interval
        record |= {"spearman": found.spearman, "spearman_low": low, "spearman_high": high}
        records.append({"pairs_file": result.name, **record})
    if len(results) > 1:
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
@output_option("Write the scores to this file.")
def apply(
    pairs: Path, model: Path | None, measure: str | None, data: dict[str, Any], steps: tuple[str, ...],
    with_pairs: bool, output: Path,
) -> None:  # fmt: skip
    """Score the similarity of PAIRS of sentences, one pair per line.

    Words are weighted by their rarity among the pairs of the file, so score pairs of one kind together.
    """
    closing = Closing()
    sentences = read_sentence_pairs(pairs)
    system, measures = similarity_of(model, measure, data, steps)
    with StatusLine("scoring pairs of sentences"):
        scores = score_pairs(system, sentences, measures)
    with open_atomic(output) as out:
        for score, pair in zip(scores.tolist(), sentences.pairs, strict=True):
            out.write("\t".join([f"{score:.4f}", *(pair if with_pairs else ())]) + "\n")
    closing.wrote(f"scores of {counted(len(scores), 'pair')}", output)


@click.command("evaluate")
@click.argument("files", nargs=-1, required=True, type=Path, metavar="FILE...")
@similarity_options
@style_option
def evaluate(
    files: tuple[Path, ...], model: Path | None, measure: str | None, data: dict[str, Any], steps: tuple[str, ...],
    style: str,
) -> None:  # fmt: skip
    """Correlate scores with human scores (Pearson and Spearman), for each FILE of scored pairs and on average."""
    from rerank_adapters.report.output import write_records

    system, measures = similarity_of(model, measure, data, steps)
    with StatusLine("scoring pairs of sentences"):
        records = similarity_records(evaluate_similarity(system, files, measures))
    write_records(records, [similarity_table(records)], style)
