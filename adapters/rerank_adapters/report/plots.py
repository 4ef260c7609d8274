"""Draws plots by matplotlib (the extra `plot`), in any format that it can write: .png, .pdf, .svg."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rerank_adapters.evaluation.result import Evaluation, MetricResult
from rerank_plugins import ConfigError


def plot_lengths(evaluation: Evaluation, metric: MetricResult, path: Path) -> None:
    """Plot corpus scores by the length of the reference, with a line for each system."""
    figure, axes = new_figure()
    labels = [f"{bucket.label}\n({len(bucket.segments)})" for bucket in evaluation.buckets]
    for scores in metric.systems:
        axes.plot(range(len(labels)), scores.bucket_scores, marker="o", label=scores.system)
    axes.set_xticks(range(len(labels)), labels)
    axes.set_xlabel("words of the reference (segments)")
    axes.set_ylabel(metric.name)
    axes.legend()
    save_figure(figure, path)


def plot_differences(evaluation: Evaluation, path: Path) -> None:
    """Plot differences to the baseline with their intervals, in a panel for each metric."""
    compared = [system for system in evaluation.systems if system != evaluation.baseline]
    figure, panels = new_figure(len(evaluation.metrics))
    for axes, metric in zip(panels, evaluation.metrics, strict=True):
        for place, system in enumerate(compared):
            comparison = metric.of(system).comparison
            assert comparison is not None  # only the baseline has none
            axes.plot(comparison.difference, place, "o", color="C0")
            if comparison.interval is not None:
                axes.plot(comparison.interval, (place, place), color="C0")
        axes.axvline(0, color="grey", linewidth=0.8)
        axes.set_yticks(range(len(compared)), compared)
        axes.set_xlabel(f"{metric.name} minus {evaluation.baseline}'s")
    save_figure(figure, path)


def new_figure(panels: int = 0) -> tuple[Any, Any]:
    """A new figure without global state (no pyplot), and its axes: one, or a list of `panels`.

    Raises ConfigError where matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError("plots need matplotlib: pip install 'rerank-plugins[plot]'") from None
    figure = Figure(figsize=(6.4, 4.0 if not panels else 1.2 + 1.4 * panels), layout="constrained")
    return figure, [figure.add_subplot(panels, 1, i + 1) for i in range(panels)] if panels else figure.add_subplot()


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure, whole or not at all. Raises ConfigError for an extension that matplotlib does not know."""
    temporary = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        figure.savefig(temporary)
        temporary.replace(path)
    except ValueError as error:  # matplotlib cannot write this format
        raise ConfigError(f"{path}: {str(error).splitlines()[0]}") from None
    finally:
        temporary.unlink(missing_ok=True)
