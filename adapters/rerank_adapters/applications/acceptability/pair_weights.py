"""`rerank acceptability fit`: fits weights to minimal pairs by logistic regression.

The regression is on the differences between the features of the two sentences, P(good is better) =
σ(w · (x_good - x_bad)). It has no constant, so that exchanging the sentences exchanges the decision. Weights are meant
to be fitted to pairs whose bad sentences were generated (`rerank negatives`), never to the pairs that they will judge.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from rerank_adapters.applications.acceptability.compare import Preferences
from rerank_adapters.applications.acceptability.features import fit_logistic, with_models
from rerank_adapters.applications.acceptability.pairs import pair_table, single_preferences
from rerank_adapters.chain.overlap import LEARNT, contents
from rerank_adapters.chain.provenance import made_at
from rerank_adapters.commands import options
from rerank_adapters.commands.summary_line import SummaryLine
from rerank_adapters.formats.pairs import read_pairs
from rerank_adapters.runtime.progress import StatusLine, counted
from rerank_adapters.text import TextPipeline
from rerank_adapters.weights import Weights, write_weights
from rerank_plugins import ConfigError, FeatureTable, FloatArray, __version__

if TYPE_CHECKING:
    from rerank_adapters.chain.job import Job

FOLDS = 10  # of the cross-validation that estimates the accuracy of the weights


def fit_weights(table: FeatureTable, strength: float = 1.0) -> FloatArray:
    """(columns) weights fitted to a table of pairs (see `pair_table`). Raises ConfigError as `fit_logistic` does."""
    differences = table.values[::2] - table.values[1::2]
    both = np.concatenate([differences, -differences])
    return fit_logistic(both, np.arange(len(both)) < len(differences), strength, constant=False).weights


def held_out_preferences(table: FeatureTable, folds: int, strength: float, seed: int) -> Preferences:
    """Judge each pair by weights fitted to the other folds, which estimates how well they do on pairs of this kind.

    Raises ConfigError where there are fewer pairs than folds.
    """
    pairs = len(table.values) // 2
    if pairs < folds:
        raise ConfigError(f"{pairs} pairs cannot be split into {folds} folds")
    fold = np.random.default_rng(seed).permutation(pairs) % folds
    scores = np.empty(len(table.values))
    for k in range(folds):
        held_out = np.repeat(fold == k, 2)
        rest = replace(table, values=table.values[~held_out])
        scores[held_out] = table.values[held_out] @ fit_weights(rest, strength)
    return Preferences.of_scores(f"weighted, {folds}-fold", scores[::2], scores[1::2])


def recorded_weights(
    job: Job, table: FeatureTable, weights: FloatArray, text: TextPipeline, folder: Path, pairs: Path
) -> Weights:
    """The weights with all that is needed to extract their features again, and the content of the file of pairs.

    File names are recorded relative to `folder`, where the weights will be saved.
    """
    from rerank_adapters.chain.provenance import EXTRACTING, RECORDED, recorded_tables

    provenance = {
        "version": __version__,
        "made": made_at(),
        "method": "logistic regression on pairs",
        "pairs": len(table.values) // 2,
        "text": text.describe(),
        LEARNT: contents([pairs]),
        RECORDED: recorded_tables(job, folder, *EXTRACTING),
    }
    return Weights(dict(zip(table.names, weights.tolist(), strict=True)), provenance=provenance)


@click.command("fit")
@click.argument("pairs", type=Path)
@click.option("-o", "--output", type=options.output_file, required=True, metavar="FILE",
              help="Write the weights to this file (.toml).")  # fmt: skip
@options.language_model_option(multiple=True)
@options.columns_option
@options.text_option
@options.job_options("features", "config", "jobs", "seed")
def command(
    job: Job, pairs: Path, output: Path, models: tuple[str | Path, ...], columns: tuple[str, ...],
    steps: tuple[str, ...],
) -> None:  # fmt: skip
    """Fit weights to PAIRS, for `rerank acceptability pairs -w` (extra `ml`).

    The weights come from a logistic regression on the differences between good and bad sentences. Fit them to
    pseudo-negative examples (`rerank negatives`) and judge other pairs with them: the accuracy on the pairs to which
    weights were fitted is too good.

    \b
    rerank negatives errors novel.txt -o errors.tsv
    rerank acceptability fit errors.tsv -f dependency-lm -f pcfg -o weights.toml
    rerank acceptability pairs blimp.jsonl -f dependency-lm -f pcfg \\
        -w weights.toml
    """  # noqa: D301
    summary_line = SummaryLine()
    job = with_models(job, models)
    job.build()
    text = TextPipeline(options.text_steps(steps))
    table = pair_table(job, read_pairs(pairs), text, columns)
    alone = single_preferences(table)
    with StatusLine() as stages:
        stages(f"cross-validation, {FOLDS} folds")
        held_out = held_out_preferences(table, FOLDS, 1.0, job.config.seed)
        stages("fitting weights to all pairs")
        weights = fit_weights(table)
    write_weights(recorded_weights(job, table, weights, text, output.parent, pairs), output)
    best = max(alone, key=lambda system: system.accuracy)
    accuracies = [f"{system.system} {100 * system.accuracy:.1f} %" for system in (held_out, best)]
    fitted = f"{counted(len(weights), 'weight')} fitted to {counted(len(held_out.credit), 'pair')}"
    click.echo(f"{fitted}: {accuracies[0]}; the best feature alone: {accuracies[1]}", err=True)
    summary_line.wrote("the weights", output)
