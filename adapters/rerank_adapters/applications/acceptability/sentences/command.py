"""`rerank acceptability sentences`: train classifiers of sentences on one set and measure them on another."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import (
    JobFlags,
    columns_option,
    job_flags,
    models_option,
    output_file,
    output_option,
    strength_option,
    style_option,
    text_option,
    text_steps,
)
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry, suggestion


@click.command("sentences")
@click.argument("dev", type=Path)
@click.argument("test", type=Path)
@models_option
@columns_option
@click.option("--criterion", type=click.Choice(["accuracy", "mcc"]), default="accuracy", show_default=True,
              help="Tune thresholds for accuracy, or for Matthews' correlation (mcc).")  # fmt: skip
@click.option("--logistic", is_flag=True,
              help="Also combine all columns by logistic regression (extra `ml`).")  # fmt: skip
@strength_option
@click.option("--save", type=output_file, metavar="FILE",
              help="Save one classifier (TOML) for `rerank acceptability classify`.")  # fmt: skip
@click.option("--choose", metavar="NAME", help="Save this system. Default: the one that is best on DEV.")
@click.option("--plots", type=Path, metavar="FOLDER",
              help="Plot ROC curves and reliability as PNG files in this folder (extra `plot`).")  # fmt: skip
@text_option
@style_option
@output_option("Write the result to this file.")
@job_flags("features", "config", "jobs")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, dev: Path, test: Path, models: tuple[str, ...], columns: tuple[str, ...],
    criterion: str, logistic: bool, strength: float, save: Path | None, choose: str | None, plots: Path | None,
    steps: tuple[str, ...], style: str, output: Path,
) -> None:  # fmt: skip
    """Train classifiers of sentences on DEV and measure them on TEST.

    Both files are in the form of CoLA, or have lines label<TAB>sentence (1: acceptable, 0: not), or are pairs, whose
    sentences are then judged one by one. Each column of each feature is a classifier: it accepts a sentence whose
    value is above a threshold, which is tuned on DEV.

    \b
    rerank acceptability sentences dev.tsv test.tsv -f ngram-lm,model=lm.arpa -f unigram --logistic
    rerank acceptability sentences dev.tsv test.tsv -f slr --criterion mcc --save classifier.toml
    """  # noqa: D301
    from rerank_adapters.applications.acceptability.sentence_features import with_models
    from rerank_adapters.applications.acceptability.sentences.classification import (
        recorded_classifier,
        train_classifiers,
    )
    from rerank_adapters.applications.acceptability.sentences.classifier import write_classifier
    from rerank_adapters.applications.acceptability.sentences.judgements_file import read_judgements
    from rerank_adapters.applications.acceptability.sentences.report import (
        classification_records,
        classification_tables,
        plot_classification,
    )
    from rerank_adapters.chain.job import Job
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_adapters.report.output import write_records
    from rerank_adapters.text import TextPipeline

    closing = Closing()
    job = with_models(Job.create(flags.settings, registry), models)
    job.check_options()
    text = TextPipeline(text_steps(steps))
    systems = train_classifiers(
        job, read_judgements(dev), read_judgements(test), text,
        columns=columns, criterion=criterion, strength=strength, logistic=logistic,  # type: ignore[arg-type]
    )  # fmt: skip
    records = classification_records(systems)
    by_name = {system.system: system for system in systems}
    best = max(records, key=lambda record: float(record[f"dev_{criterion}"]))["system"]
    if choose is not None and choose not in by_name:
        raise ConfigError(f"no system named {choose!r}{suggestion(choose, by_name)}")
    write_records(records, classification_tables(records, systems, criterion), style, output)
    if str(output) != "-":
        closing.wrote(counted(len(systems), "classifier"), output)
    if plots is not None:
        for path in plot_classification(systems, plots):
            closing.wrote("a plot", path)
    if save is not None:
        chosen = by_name[choose or best]
        (record,) = (record for record in records if record["system"] == chosen.system)
        measures = {key: value for key, value in record.items() if isinstance(value, float) and value == value}
        classifier = recorded_classifier(
            job, chosen.classifier, text, save.parent, criterion=criterion, measured=measures
        )
        write_classifier(classifier, save)
        closing.wrote(f"the classifier {chosen.system!r}", save)
