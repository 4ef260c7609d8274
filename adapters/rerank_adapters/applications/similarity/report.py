"""Reports the correlations of a similarity system, a row for each file, and the curve of its feature selection."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from rerank_adapters.applications.similarity.evaluation import FileCorrelation
from rerank_adapters.applications.similarity.system import SimilarityModel
from rerank_adapters.report.plots import new_figure, save_figure
from rerank_adapters.report.tables import Table

SHOWN = 10  # measures of a regression that has them all


def similarity_records(results: Sequence[FileCorrelation]) -> list[dict[str, Any]]:
    """A record for each file, and for several files also their mean, weighted by their numbers of pairs."""
    records: list[dict[str, Any]] = [
        {
            "pairs_file": result.name,
            "pairs": result.correlation.pairs,
            "pearson": result.correlation.pearson,
            "pearson_low": result.correlation.pearson_interval.low,
            "pearson_high": result.correlation.pearson_interval.high,
            "spearman": result.correlation.spearman,
            "spearman_low": result.correlation.spearman_interval.low,
            "spearman_high": result.correlation.spearman_interval.high,
        }
        for result in results
    ]
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


def training_lines(model: SimilarityModel) -> list[str]:
    """What each regression is made of, and the correlations in cross-validation and for sources left out."""
    lines = []
    for source, regression in model.regressions.items():
        size = len(regression.columns)
        lines.append(f"{source}: {size} measures, r {regression.correlation:.3f} in ten-fold cross-validation")
        shown = zip(regression.columns, regression.weights, strict=True)
        if regression.curve:
            for (column, weight), (_, value) in zip(shown, regression.curve, strict=False):
                lines.append(f"  {column:<32} r {value:.3f}  weight {weight:+.3f}")
            continue
        lines += [f"  {column:<32} weight {weight:+.3f}" for column, weight in islice(shown, SHOWN)]
        lines += [f"  and {size - SHOWN} more"] if size > SHOWN else []
    if absent := model.provenance.get("absent"):
        lines.append(f"measures of the paper whose data are not given: {', '.join(absent)}")
    left_out = ", ".join(f"{source} r {value:.3f}" for source, value in model.provenance.get("left_out", {}).items())
    return [*lines, f"for a source left out: {left_out}"] if left_out else lines


def plot_curve(model: SimilarityModel, path: Path) -> None:
    """The correlation in cross-validation after each round of selection, a line a source (Wu et al. 2013, Figure 1)."""
    figure, axes = new_figure()
    for source, regression in model.regressions.items():
        values = [value for _, value in regression.curve]
        axes.plot(range(1, len(values) + 1), values, label=source)
        axes.plot(len(regression.columns), values[len(regression.columns) - 1], "o", color=axes.lines[-1].get_color())
    axes.set_xlabel("measures selected")
    axes.set_ylabel("Pearson's r in cross-validation")
    axes.legend()
    save_figure(figure, path)
