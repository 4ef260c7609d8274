"""`rerank acceptability fit`: fit weights for several features to minimal pairs."""

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
from rerank_plugins.core.registry import Registry


@click.command("fit")
@click.argument("pairs", type=Path)
@click.option("-o", "--output", type=output_file, required=True, metavar="FILE",
              help="Write the weights to this file (.toml).")  # fmt: skip
@models_option
@columns_option
@strength_option
@click.option("--folds", type=click.IntRange(2), default=10, show_default=True,
              help="Estimate the accuracy of the weights by cross-validation with this many folds.")  # fmt: skip
@text_option
@job_flags("features", "config", "jobs", "seed")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, pairs: Path, output: Path, models: tuple[str, ...], columns: tuple[str, ...],
    strength: float, folds: int, steps: tuple[str, ...],
) -> None:  # fmt: skip
    """Fit weights to PAIRS, for `rerank acceptability pairs -w` (extra `ml`).

    The weights come from a logistic regression on the differences between good and bad sentences. Fit them to
    pseudo-negative examples (`rerank negatives`) and judge other pairs with them: the accuracy on the pairs to which
    weights were fitted is too good.

    \b
    rerank negatives errors novel.txt -o errors.tsv
    rerank acceptability fit errors.tsv --lm lm.arpa -f dependency-lm -o weights.toml
    rerank acceptability pairs blimp.jsonl --lm lm.arpa -f dependency-lm -w weights.toml
    """  # noqa: D301
    from rerank_adapters.applications.acceptability.pairs.fitting import (
        fit_weights,
        held_out_preferences,
        recorded_weights,
    )
    from rerank_adapters.applications.acceptability.pairs.scoring import pair_table, single_preferences
    from rerank_adapters.applications.acceptability.sentence_features import with_models
    from rerank_adapters.chain.job import Job
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_adapters.formats.pairs import read_minimal_pairs
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_adapters.text import TextPipeline
    from rerank_adapters.weights import write_weights

    closing = Closing()
    job = with_models(Job.create(flags.settings, registry), models)
    job.check_options()
    text = TextPipeline(text_steps(steps))
    table = pair_table(job, read_minimal_pairs(pairs), text, columns)
    alone = single_preferences(table)
    with StatusLine() as stages:
        stages(f"cross-validation, {folds} folds")
        held_out = held_out_preferences(table, folds, strength, job.config.seed)
        stages("fitting weights to all pairs")
        weights = fit_weights(table, strength)
    write_weights(recorded_weights(job, table, weights, text, output.parent), output)
    best = max(alone, key=lambda system: system.accuracy)
    accuracies = [f"{system.system} {100 * system.accuracy:.1f} %" for system in (held_out, best)]
    fitted = f"{counted(len(weights), 'weight')} fitted to {counted(len(held_out.credit), 'pair')}"
    click.echo(f"{fitted}: {accuracies[0]}; the best feature alone: {accuracies[1]}", err=True)
    closing.wrote("the weights", output)
