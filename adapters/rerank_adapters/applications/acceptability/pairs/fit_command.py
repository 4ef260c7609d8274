"""`rerank acceptability fit`: weights for several features together."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import (
    JobFlags,
    columns_option,
    job_flags,
    models_option,
    output_file,
    strength_option,
    text_option,
    text_steps,
)
from rerank_plugins.plugins import Registry


@click.command("fit")
@click.argument("pairs", type=Path)
@click.option("-o", "--output", type=output_file, required=True, metavar="FILE", help="Weights to write (.toml).")
@models_option
@columns_option
@strength_option
@click.option("--folds", type=click.IntRange(2), default=10, show_default=True, help="Parts, to say how good they are.")
@text_option
@job_flags("features", "config", "jobs", "seed")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, pairs: Path, output: Path, models: tuple[str, ...], columns: tuple[str, ...],
    strength: float, folds: int, steps: tuple[str, ...],
) -> None:  # fmt: skip
    """Fit weights to PAIRS, for `rerank acceptability pairs -w` (extra `ml`).

    A logistic regression on the differences between good and bad sentences. Fit to pseudo-negatives
    (`rerank negatives`), and judge other pairs: weights fitted to the very pairs that they judge say little.

    \b
    rerank negatives errors novel.txt > made.tsv
    rerank acceptability fit made.tsv --lm lm.arpa -f dependency-lm -o weights.toml
    rerank acceptability pairs blimp.jsonl --lm lm.arpa -f dependency-lm -w weights.toml
    """  # noqa: D301
    from rerank_adapters.applications.acceptability.pairs.fitting import (
        fit_weights,
        held_out_preferences,
        recorded_weights,
    )
    from rerank_adapters.applications.acceptability.pairs.scoring import pair_table, single_preferences
    from rerank_adapters.applications.acceptability.sentence_features import with_models
    from rerank_adapters.formats.minimal_pairs import read_pairs
    from rerank_adapters.pipeline.job import Job
    from rerank_adapters.text import TextPipeline
    from rerank_adapters.weights import write_weights

    job = with_models(Job.create(flags.settings, registry), models)
    job.check_options()
    text = TextPipeline(text_steps(steps))
    table = pair_table(job, read_pairs(pairs), text, columns)
    alone = single_preferences(table)
    together = held_out_preferences(table, folds, strength, job.config.seed)
    weights = fit_weights(table, strength)
    write_weights(recorded_weights(job, table, weights, text, output.parent), output)
    best = max(alone, key=lambda system: system.accuracy)
    figures = [f"{system.system} {100 * system.accuracy:.1f} %" for system in (together, best)]
    click.echo(
        f"{output}: {len(weights)} weights, {len(together.credit)} pairs: {figures[0]}; best alone: {figures[1]}",
        err=True,
    )
