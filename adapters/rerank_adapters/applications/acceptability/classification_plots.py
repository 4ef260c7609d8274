"""Plots of classifiers: ROC curves, and the reliability of the probabilities of a logistic regression."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rerank_adapters.applications.acceptability.classifier import ALL, Classifier
from rerank_adapters.applications.acceptability.judged_sets import JudgedSet
from rerank_adapters.applications.acceptability.measures import reliability, roc_area, roc_curve
from rerank_adapters.report.plots import new_figure, save_figure


def plot_classification(systems: Mapping[str, Classifier], test: JudgedSet, folder: Path) -> list[Path]:
    """Plot ROC curves (roc.png) and, with a logistic regression, its reliability (reliability.png) in a folder.

    The result is the files that were written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plots = [folder / "roc.png"]
    figure, axes = new_figure()
    for name, classifier in systems.items():
        margins = classifier.margins(test.table)
        area = roc_area(margins, test.acceptable)
        axes.plot(*roc_curve(margins, test.acceptable), label=f"{name} ({area:.3f})")
    axes.plot((0, 1), (0, 1), color="grey", linewidth=0.8)
    axes.set_xlabel("unacceptable sentences accepted")
    axes.set_ylabel("acceptable sentences accepted")
    axes.legend(fontsize="small")
    save_figure(figure, plots[0])
    if ALL in systems:
        bins = reliability(systems[ALL].scores(systems[ALL].margins(test.table)), test.acceptable)
        figure, axes = new_figure()
        axes.plot((0, 1), (0, 1), color="grey", linewidth=0.8)
        axes.plot(bins.predicted, bins.observed, marker="o", label=ALL)
        for x, y, count in zip(*bins, strict=True):
            axes.annotate(f"{count}", (x, y), textcoords="offset points", xytext=(4, -10), fontsize="small")
        axes.set_xlabel("predicted probability that a sentence is acceptable")
        axes.set_ylabel("proportion of acceptable sentences")
        axes.legend()
        plots.append(folder / "reliability.png")
        save_figure(figure, plots[-1])
    return plots
