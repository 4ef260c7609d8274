"""`rerank acceptability sentences`: trains classifiers of sentences on one set, and measures them on another."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rerank_adapters.applications.acceptability.classifier import ALL, Classifier, fit_logistic, fit_thresholds
from rerank_adapters.applications.acceptability.classifier_file import recorded_classifier, write_classifier
from rerank_adapters.applications.acceptability.features import with_models
from rerank_adapters.applications.acceptability.judged_sets import JudgedSet, judged_sets
from rerank_adapters.applications.acceptability.judgements import read_judgements
from rerank_adapters.applications.acceptability.measures import Criterion, accuracy, matthews, roc_area
from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.data.overlap import overlap
from rerank_adapters.evaluation.proportions import wilson_interval
from rerank_adapters.report.tables import Table
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError
from rerank_plugins.core.arrays import BoolArray
from rerank_plugins.core.errors import suggestion

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job

logger = logging.getLogger(__name__)

DEV_HEADER = ("system", "threshold", "accuracy", "MCC")
TEST_HEADER = ("system", "accuracy", "95 % interval", "MCC", "ROC area")


def classifiers_of(dev: JudgedSet, criterion: Criterion, logistic: bool) -> dict[str, Classifier]:
    """A threshold on each column that varies; with `logistic`, then one on the regression of all, fitted to `dev`.

    All thresholds are tuned on `dev` for the criterion. Raises ConfigError where no column varies.
    """
    fitted = (dev.table.names, dev.table.values, dev.acceptable, criterion)
    return fit_thresholds(*fitted) | ({ALL: fit_logistic(*fitted)} if logistic else {})


def classification_records(systems: Mapping[str, Classifier], dev: JudgedSet, test: JudgedSet) -> list[dict[str, Any]]:
    """A record for each classifier."""
    records = []
    for name, classifier in systems.items():
        margins, accepted = classifier.margins(test.table), classifier.margins(dev.table) > 0
        correct = (margins > 0) == test.acceptable
        low, high = wilson_interval(int(correct.sum()), len(correct))
        records.append(
            {
                "system": name,
                "sentences": len(correct),
                "accuracy": float(correct.mean()),
                "low": low,
                "high": high,
                "mcc": matthews(margins > 0, test.acceptable),
                "roc_area": roc_area(margins, test.acceptable),
                "threshold": classifier.threshold,
                "dev_accuracy": accuracy(accepted, dev.acceptable),
                "dev_mcc": matthews(accepted, dev.acceptable),
            }
        )
    return records


def classification_tables(
    records: Sequence[dict[str, Any]], dev: BoolArray, test: BoolArray, criterion: Criterion
) -> list[Table]:
    """The records as two tables: the thresholds with the measures on DEV, then the measures on TEST.

    `dev` and `test` say which of their sentences are acceptable.
    """
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
    of_dev = f"{_percent(dev.mean())} of them are acceptable. Thresholds are tuned for {criterion}."
    of_test = (
        f"{_percent(test.mean())} of them are acceptable. The intervals are Wilson's.",
        "MCC is Matthews' correlation.",
    )
    return [
        Table(f"Trained on {len(dev)} sentences (DEV)", DEV_HEADER, tuple(dev_rows), (of_dev,)),
        Table(f"Tested on {len(test)} sentences (TEST)", TEST_HEADER, tuple(test_rows), of_test),
    ]


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.1f} %"


@click.command("sentences")
@click.argument("dev", type=options.FILE)
@click.argument("test", type=options.FILE)
@options.language_model_option(multiple=True)
@options.columns_option
@click.option("--criterion", type=click.Choice(["accuracy", "mcc"]), default="accuracy", show_default=True,
              help="Tune thresholds for accuracy, or for Matthews' correlation (mcc).")  # fmt: skip
@click.option("--logistic", is_flag=True,
              help="Also combine all columns by logistic regression (extra `ml`).")  # fmt: skip
@click.option("--save", type=options.output_file, metavar="FILE",
              help="Save one classifier (TOML) for `rerank acceptability classify`.")  # fmt: skip
@click.option("--choose", metavar="NAME", help="Save this system.", show_default="the one that is best on DEV")
@click.option("--plots", type=options.FILE, metavar="FOLDER",
              help="Plot ROC curves and reliability as PNG files in this folder (extra `plot`).")  # fmt: skip
@options.text_option
@options.style_option
@options.job_options("features", "config", "jobs")
def command(
    job: Job, dev: Path, test: Path, models: tuple[str | Path, ...], columns: tuple[str, ...], criterion: Criterion,
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
    job = job.changed(feature=with_models(job.parts("feature"), models, job.names, job.config.base))
    job.check()
    text = TextPipeline(options.text_steps(steps))
    judged = [read_judgements(path) for path in (dev, test)]
    texts, test_texts = ([judgement.text for judgement in judgements] for judgements in judged)
    if warning := overlap(texts, test_texts, (str(dev), str(test)), "sentence"):
        logger.warning("%s", warning)
    learnt, tested = judged_sets(job.extraction(), judged, text, columns)
    systems = classifiers_of(learnt, criterion, logistic)
    records = classification_records(systems, learnt, tested)
    best = max(records, key=lambda record: float(record[f"dev_{criterion}"]))["system"]
    if choose is not None and choose not in systems:
        raise ConfigError(f"no system named {choose!r}{suggestion(choose, systems)}")
    tables = classification_tables(records, learnt.acceptable, tested.acceptable, criterion)
    write_records(records, tables, style)
    if plots is not None:
        from rerank_adapters.applications.acceptability.classification_plots import plot_classification

        for path in plot_classification(systems, tested, plots):
            summary_line.wrote("a plot", path)
    if save is not None:
        chosen = choose or best
        (record,) = (record for record in records if record["system"] == chosen)
        measures = {key: value for key, value in record.items() if isinstance(value, float) and value == value}
        features, about = job.record(save.parent, "feature"), {"criterion": criterion, "measured": measures}
        classifier = recorded_classifier(systems[chosen], text, save.parent, features, **about)
        write_classifier(classifier, save)
        summary_line.wrote(f"the classifier {chosen!r}", save)
