"""`rerank acceptability sentences`: is this sentence acceptable? Learnt on one set, measured on another."""

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
from rerank_plugins.plugins import Registry, suggestion


@click.command("sentences")
@click.argument("dev", type=Path)
@click.argument("test", type=Path)
@models_option
@columns_option
@click.option("--criterion", type=click.Choice(["accuracy", "mcc"]), default="accuracy", show_default=True,
              help="What thresholds are tuned for.")  # fmt: skip
@click.option("--logistic", is_flag=True, help="Also all columns together, by logistic regression (extra `ml`).")
@strength_option
@click.option("--save", type=output_file, metavar="FILE", help="Write a classifier (TOML) for `classify`.")
@click.option("--choose", metavar="NAME", help="The system to save. Default: the one that is best on DEV.")
@click.option("--plots", type=Path, metavar="FOLDER", help="ROC curves and reliability as PNG (extra `plot`).")
@text_option
@style_option
@output_option("Where to write the result.")
@job_flags("features", "config", "jobs")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, dev: Path, test: Path, models: tuple[str, ...], columns: tuple[str, ...],
    criterion: str, logistic: bool, strength: float, save: Path | None, choose: str | None, plots: Path | None,
    steps: tuple[str, ...], style: str, output: Path,
) -> None:  # fmt: skip
    """Learn on DEV to accept or refuse sentences, and measure it on TEST.

    Files are CoLA's, or label<TAB>sentence (1: acceptable, 0: not), or pairs, whose sentences are judged one by one.
    Each column is a system: a sentence is accepted where its value is above a threshold, tuned on DEV.

    \b
    rerank acceptability sentences dev.tsv test.tsv -f ngram-lm,model=lm.arpa -f unigram --logistic
    rerank acceptability sentences dev.tsv test.tsv -f dependency-lm --criterion mcc --save classifier.toml
    """  # noqa: D301
    from rerank_adapters.applications.acceptability.sentence_features import with_models
    from rerank_adapters.applications.acceptability.sentences.classification import judge_all, remembered
    from rerank_adapters.applications.acceptability.sentences.classifier import write_classifier
    from rerank_adapters.applications.acceptability.sentences.judgements_file import read_judgements
    from rerank_adapters.applications.acceptability.sentences.report import judging_records, judging_table, plot_judging
    from rerank_adapters.pipeline.job import Job
    from rerank_adapters.report.records import write_records
    from rerank_adapters.text import TextPipeline

    job = with_models(Job.create(flags.settings, registry), models)
    job.check_options()
    text = TextPipeline(text_steps(steps))
    systems = judge_all(
        job, read_judgements(dev), read_judgements(test), text,
        columns=columns, criterion=criterion, strength=strength, logistic=logistic,  # type: ignore[arg-type]
    )  # fmt: skip
    records = judging_records(systems)
    named = {system.system: system for system in systems}
    best = max(records, key=lambda record: float(record[f"dev_{criterion}"]))["system"]
    if choose is not None and choose not in named:
        raise ConfigError(f"no system named {choose!r}{suggestion(choose, named)}")
    write_records(records, [judging_table(records, systems, criterion)], style, output)
    if plots is not None:
        plot_judging(systems, plots)
    if save is not None:
        chosen = named[choose or best]
        (record,) = (record for record in records if record["system"] == chosen.system)
        figures = {key: value for key, value in record.items() if isinstance(value, float) and value == value}
        write_classifier(
            remembered(job, chosen.classifier, text, save.parent, criterion=criterion, measured=figures), save
        )
