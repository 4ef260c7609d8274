"""Reports on classifiers of sentences, trained on one set and tested on another: records, tables and plots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rerank_adapters.applications.acceptability.sentences.classification import TrainedClassifier
from rerank_adapters.applications.acceptability.sentences.measures import (
    accuracy,
    matthews,
    reliability,
    roc_area,
    roc_curve,
)
from rerank_adapters.evaluation.significance import wilson_interval
from rerank_adapters.report.plots import new_figure, save_figure
from rerank_adapters.report.tables import Table

DEV_HEADER = ("system", "threshold", "accuracy", "MCC")
TEST_HEADER = ("system", "accuracy", "95 % interval", "MCC", "ROC area")


def classification_records(systems: Sequence[TrainedClassifier]) -> list[dict[str, Any]]:
    """A record for each classifier."""
    records = []
    for system in systems:
        dev, test = system.dev_margins > 0, system.test_margins > 0
        low, high = wilson_interval(int(np.sum(test == system.test_acceptable)), len(test))
        records.append(
            {
                "system": system.system,
                "sentences": len(test),
                "accuracy": accuracy(test, system.test_acceptable),
                "low": low,
                "high": high,
                "mcc": matthews(test, system.test_acceptable),
                "roc_area": roc_area(system.test_margins, system.test_acceptable),
                "threshold": system.classifier.threshold,
                "dev_accuracy": accuracy(dev, system.dev_acceptable),
                "dev_mcc": matthews(dev, system.dev_acceptable),
            }
        )
    return records


def classification_tables(
    records: Sequence[dict[str, Any]], systems: Sequence[TrainedClassifier], criterion: str
) -> list[Table]:
    """The records as two tables: the thresholds with the measures on DEV, then the measures on TEST."""
    dev_rows = [
        (r["system"], f"{r['threshold']:.4g}", _percent(r["dev_accuracy"]), f"{r['dev_mcc']:.3f}") for r in records
    ]
    test_rows = [
        (
            r["system"],
            _percent(r["accuracy"]),
            f"{100 * r['low']:.1f} to {100 * r['high']:.1f}",
            f"{r['mcc']:.3f}",
            f"{r['roc_area']:.3f}",
        )
        for r in records
    ]
    dev, test = systems[0].dev_acceptable, systems[0].test_acceptable
    return [
        Table(
            f"Trained on {len(dev)} sentences (DEV)",
            DEV_HEADER,
            tuple(dev_rows),
            (f"{_percent(dev.mean())} of them are acceptable. Thresholds are tuned for {criterion}.",),
        ),
        Table(
            f"Tested on {len(test)} sentences (TEST)",
            TEST_HEADER,
            tuple(test_rows),
            (
                f"{_percent(test.mean())} of them are acceptable. The intervals are Wilson's.",
                "MCC is Matthews' correlation.",
            ),
        ),
    ]


def plot_classification(systems: Sequence[TrainedClassifier], folder: Path) -> list[Path]:
    """Plot ROC curves (roc.png) and, with a logistic regression, its reliability (reliability.png) in a folder.

    The result is the files that were written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plots = [folder / "roc.png"]
    figure, axes = new_figure()
    for system in systems:
        x, y = roc_curve(system.test_margins, system.test_acceptable)
        area = roc_area(system.test_margins, system.test_acceptable)
        axes.plot(x, y, label=f"{system.system} ({area:.3f})")
    axes.plot((0, 1), (0, 1), color="grey", linewidth=0.8)
    axes.set_xlabel("unacceptable sentences accepted")
    axes.set_ylabel("acceptable sentences accepted")
    axes.legend(fontsize="small")
    save_figure(figure, plots[0])
    for system in systems:
        if system.classifier.kind == "logistic":
            probabilities = system.classifier.probabilities(system.test_margins)
            bins = reliability(probabilities, system.test_acceptable)
            figure, axes = new_figure()
            axes.plot((0, 1), (0, 1), color="grey", linewidth=0.8)
            axes.plot(bins.predicted, bins.observed, marker="o", label=system.system)
            for x, y, count in zip(*bins, strict=True):
                axes.annotate(f"{count}", (x, y), textcoords="offset points", xytext=(4, -10), fontsize="small")
            axes.set_xlabel("predicted probability that a sentence is acceptable")
            axes.set_ylabel("proportion of acceptable sentences")
            axes.legend()
            plots.append(folder / "reliability.png")
            save_figure(figure, plots[-1])
    return plots


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
