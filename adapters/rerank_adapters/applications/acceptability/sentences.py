"""`rerank acceptability sentences`: trains classifiers of sentences on one set, and measures them on another."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from rerank_adapters.applications.acceptability.classifiers import (
    TrainedClassifier,
    accuracy,
    matthews,
    recorded_classifier,
    reliability,
    roc_area,
    roc_curve,
    train_classifiers,
    write_classifier,
)
from rerank_adapters.applications.acceptability.features import with_models
from rerank_adapters.applications.acceptability.judgements import read_judgements
from rerank_adapters.chain.overlap import overlap
from rerank_adapters.commands import options
from rerank_adapters.commands.summary_line import SummaryLine
from rerank_adapters.evaluation.significance import wilson_interval
from rerank_adapters.report.plots import new_figure, save_figure
from rerank_adapters.report.tables import Table
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import suggestion

if TYPE_CHECKING:
    from rerank_adapters.chain.job import Job

logger = logging.getLogger(__name__)

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
    of_dev = f"{_percent(dev.mean())} of them are acceptable. Thresholds are tuned for {criterion}."
    of_test = (
        f"{_percent(test.mean())} of them are acceptable. The intervals are Wilson's.",
        "MCC is Matthews' correlation.",
    )
    return [
        Table(f"Trained on {len(dev)} sentences (DEV)", DEV_HEADER, tuple(dev_rows), (of_dev,)),
        Table(f"Tested on {len(test)} sentences (TEST)", TEST_HEADER, tuple(test_rows), of_test),
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


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.1f} %"


@click.command("sentences")
@click.argument("dev", type=Path)
@click.argument("test", type=Path)
@options.language_model_option(multiple=True)
@options.columns_option
@click.option("--criterion", type=click.Choice(["accuracy", "mcc"]), default="accuracy", show_default=True,
              help="Tune thresholds for accuracy, or for Matthews' correlation (mcc).")  # fmt: skip
@click.option("--logistic", is_flag=True,
              help="Also combine all columns by logistic regression (extra `ml`).")  # fmt: skip
@click.option("--save", type=options.output_file, metavar="FILE",
              help="Save one classifier (TOML) for `rerank acceptability classify`.")  # fmt: skip
@click.option("--choose", metavar="NAME", help="Save this system.", show_default="the one that is best on DEV")
@click.option("--plots", type=Path, metavar="FOLDER",
              help="Plot ROC curves and reliability as PNG files in this folder (extra `plot`).")  # fmt: skip
@options.text_option
@options.style_option
@options.job_options("features", "config", "jobs")
def command(
    job: Job, dev: Path, test: Path, models: tuple[str | Path, ...], columns: tuple[str, ...], criterion: str,
    logistic: bool, save: Path | None, choose: str | None, plots: Path | None, steps: tuple[str, ...], style: str,
) -> None:  # fmt: skip
    """Train classifiers of sentences on DEV and measure them on TEST.

    Both files are in the form of CoLA, or have lines label<TAB>sentence (1: acceptable, 0: not), or are pairs, whose
    sentences are then judged one by one. Each column of each feature is a classifier: it accepts a sentence whose
    value is above a threshold, which is tuned on DEV. So is the threshold of the system of all columns (--logistic).

    \b
    rerank acceptability sentences dev.tsv test.tsv -f ngram-lm -f unigram \\
        --logistic
    rerank acceptability sentences dev.tsv test.tsv -f slr \\
        --criterion mcc --save classifier.toml
    """  # noqa: D301
    from rerank_adapters.report.output import write_records

    summary_line = SummaryLine()
    job = with_models(job, models)
    job.build()
    text = TextPipeline(options.text_steps(steps))
    learnt, tested = read_judgements(dev), read_judgements(test)
    texts, test_texts = ([judgement.text for judgement in judgements] for judgements in (learnt, tested))
    if warning := overlap(texts, test_texts, (str(dev), str(test)), "sentence"):
        logger.warning("%s", warning)
    systems = train_classifiers(
        job, learnt, tested, text,
        columns=columns, criterion=criterion, logistic=logistic,  # type: ignore[arg-type]
    )  # fmt: skip
    records = classification_records(systems)
    by_name = {system.system: system for system in systems}
    best = max(records, key=lambda record: float(record[f"dev_{criterion}"]))["system"]
    if choose is not None and choose not in by_name:
        raise ConfigError(f"no system named {choose!r}{suggestion(choose, by_name)}")
    write_records(records, classification_tables(records, systems, criterion), style)
    if plots is not None:
        for path in plot_classification(systems, plots):
            summary_line.wrote("a plot", path)
    if save is not None:
        chosen = by_name[choose or best]
        (record,) = (record for record in records if record["system"] == chosen.system)
        measures = {key: value for key, value in record.items() if isinstance(value, float) and value == value}
        classifier = recorded_classifier(
            job, chosen.classifier, text, save.parent, criterion=criterion, measured=measures
        )
        write_classifier(classifier, save)
        summary_line.wrote(f"the classifier {chosen.system!r}", save)
