"""What comes of judging single sentences: a row a system, tuned on one set and measured on another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rerank_adapters.applications.acceptability.sentences.classification import Judged
from rerank_adapters.applications.acceptability.sentences.measures import (
    accuracy,
    matthews,
    reliability,
    roc_area,
    roc_curve,
)
from rerank_adapters.evaluation.proportions import wilson_interval
from rerank_adapters.report.plots import new_figure, save_figure
from rerank_adapters.report.tables import Table

HEADER = ("system", "accuracy", "95 % interval", "MCC", "ROC area", "threshold", "dev accuracy", "dev MCC")


def judging_records(systems: Sequence[Judged]) -> list[dict[str, Any]]:
    """A record a system."""
    records = []
    for system in systems:
        dev, test = system.dev > 0, system.test > 0
        low, high = wilson_interval(int(np.sum(test == system.test_good)), len(test))
        records.append(
            {
                "system": system.system,
                "sentences": len(test),
                "accuracy": accuracy(test, system.test_good),
                "low": low,
                "high": high,
                "mcc": matthews(test, system.test_good),
                "roc_area": roc_area(system.test, system.test_good),
                "threshold": system.classifier.threshold,
                "dev_accuracy": accuracy(dev, system.dev_good),
                "dev_mcc": matthews(dev, system.dev_good),
            }
        )
    return records


def judging_table(records: Sequence[dict[str, Any]], systems: Sequence[Judged], criterion: str) -> Table:
    """The same for people."""
    rows = [
        (
            record["system"],
            f"{100 * record['accuracy']:.1f} %",
            f"{100 * record['low']:.1f} to {100 * record['high']:.1f}",
            f"{record['mcc']:.3f}",
            f"{record['roc_area']:.3f}",
            f"{record['threshold']:.4g}",
            f"{100 * record['dev_accuracy']:.1f} %",
            f"{record['dev_mcc']:.3f}",
        )
        for record in records
    ]
    dev, test = systems[0].dev_good, systems[0].test_good
    notes = (
        f"tested on {len(test)} sentences, {100 * test.mean():.1f} % acceptable; intervals: Wilson; MCC: Matthews",
        f"thresholds tuned on {len(dev)} sentences by {criterion}, {100 * dev.mean():.1f} % acceptable",
    )
    return Table("Single sentences", HEADER, tuple(rows), notes)


def plot_judging(systems: Sequence[Judged], folder: Path) -> None:
    """ROC curves of all systems (roc.png), and the reliability of the probabilities (reliability.png)."""
    folder.mkdir(parents=True, exist_ok=True)
    figure, axes = new_figure()
    for system in systems:
        x, y = roc_curve(system.test, system.test_good)
        area = roc_area(system.test, system.test_good)
        axes.plot(x, y, label=f"{system.system} ({area:.3f})")
    axes.plot((0, 1), (0, 1), color="grey", linewidth=0.8)
    axes.set_xlabel("unacceptable sentences accepted")
    axes.set_ylabel("acceptable sentences accepted")
    axes.legend(fontsize="small")
    save_figure(figure, folder / "roc.png")
    for system in systems:
        if system.classifier.kind == "logistic":
            found = reliability(system.classifier.probabilities(system.test), system.test_good)
            figure, axes = new_figure()
            axes.plot((0, 1), (0, 1), color="grey", linewidth=0.8)
            axes.plot(found.predicted, found.observed, marker="o", label=system.system)
            for x, y, count in zip(*found, strict=True):
                axes.annotate(f"{count}", (x, y), textcoords="offset points", xytext=(4, -10), fontsize="small")
            axes.set_xlabel("predicted probability that a sentence is acceptable")
            axes.set_ylabel("share that is")
            axes.legend()
            save_figure(figure, folder / "reliability.png")
