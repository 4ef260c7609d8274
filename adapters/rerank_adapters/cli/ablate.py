"""`rerank ablate`: what each family of features contributes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_adapters.tuning.ablation import PARTS, Part, ablate, trials_needed
from rerank_plugins import ConfigError
from rerank_plugins.core.errors import suggestion

if TYPE_CHECKING:
    from rerank_adapters.data.dataset import Files
    from rerank_adapters.job.job import Job

SAMPLES = 100  # resampled tuning sets for the intervals of weights


def config_among(arguments: Mapping[str, Any]) -> Path | None:
    """The config that is named in the place of lists, if one is."""
    nbest = arguments["nbest"]
    return Path(nbest[0]) if len(nbest) == 1 and nbest[0].endswith(".toml") else None


@click.command("ablate")
@click.argument("nbest", nargs=-1, required=True, type=click.Path(), metavar="CONFIG|NBEST...")
@options.table_option
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS),
              help="Measure only this part. Repeatable.",
              show_default="all")  # fmt: skip
@click.option("--base", multiple=True, metavar="FAMILY",
              help="Add families to this one. Repeatable; `none` is the decoder's 1-best.",
              show_default="decoder, if the lists have features of it")  # fmt: skip
@click.option("--by", type=click.Choice(["family", "feature"]), default="family", show_default=True,
              help="Take each entry of the config as a family, or each single feature.")  # fmt: skip
@options.folds_option
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True,
              help="Repeat with this many seeds, each with its own folds.")  # fmt: skip
@options.style_option
@options.job_options("tuner", "metrics", "features", "jobs", "seed", "trust_pairs", config=config_among)
@options.files_options(required=False)
def command(
    job: Job, files: Files, table: Path | None, parts: tuple[Part, ...], base: tuple[str, ...], by: str, folds: int,
    seeds: int, style: str,
) -> None:  # fmt: skip
    """Measure what each family of features contributes.

    Each [[feature]] of a CONFIG is a family, the decoder's features are one more. By cross-validation on the [tune]
    lists of the CONFIG, or on NBEST lists with references, the report shows

    \b
      left-out      what choices lose without each family
      added         what each family adds to the base
      selection     families added one by one, the best first
      correlations  which features and families agree
      weights       how much the weights depend on the segments

    No test set is needed or read. Losses and gains have intervals and p-values; as many families are tried, trust the
    p-values corrected by Holm's method. For F families a tuner runs about F² / 2 times on each fold, so use a fast one
    (mira, the default), or leave the selection out (--part).

    \b
    rerank ablate configs/mt.toml
    rerank ablate tune.nbest.gz -r tune.en --table tune.npz -m chrf
    rerank ablate configs/mt.toml --part weights --by feature --as tsv
    """  # noqa: D301
    from rerank_adapters.features.processes import Processes
    from rerank_adapters.report.ablation import ablation_records, ablation_tables
    from rerank_adapters.report.output import write_records
    from rerank_adapters.run.learn import features_of, read_tuning_set, tuning_problem
    from rerank_adapters.tuning.families import Trials, families_of, single_features

    summary_line = SummaryLine()
    job, data, values = read_tuning_set(job, _tuning_files(job, files), table)
    _bases(base, ["decoder", *(job.labels if by == "family" else base)])  # wrong names before an extraction
    values = features_of(job, data, values, table)
    families = single_features(values) if by == "feature" else families_of(values, job.features())
    bases = _bases(base or [name for name in families if by == "family" and name not in job.labels], families)
    if len(families) < 2:
        raise ConfigError(f"there is nothing to compare: {counted(len(families), 'family', 'families')} of features")
    measure, seed = job.measures[0], job.config.seed
    (problem, start), folds = tuning_problem(job, data, values), min(folds, values.segments)
    every_seed, wanted, settings = range(seed, seed + seeds), parts or PARTS, job.config.evaluation
    tunings = trials_needed(len(families), len(bases), wanted) * folds * seeds + 1 + ("weights" in wanted) * SAMPLES
    with CountingBar("tunings", tunings) as bar:
        processes = Processes(job.config.jobs)
        trials = Trials(problem, families, job.tuner, start, folds, every_seed, processes, bar.add)
        groups = data.groups if settings.resample_groups else None
        result = ablate(trials, bases, wanted, settings, samples=SAMPLES, seed=seed, groups=groups)
    write_records(list(ablation_records(result, measure.name)), ablation_tables(result, measure.name), style)
    summary_line.report(
        f"compared {counted(len(families), 'family', 'families')} of features on {counted(folds, 'fold')}"
    )


def _tuning_files(job: Job, named: Files) -> Files:
    """The files of the tuning set: those of the config that is named in the place of lists, or else those named.

    Raises ConfigError for a config without a tuning set, for one with references or a source beside it, and for lists
    without references.
    """
    config = config_among({"nbest": named.lists})
    if config is None:
        if not named.references:
            raise ConfigError("the lists need references: give -r, or name a CONFIG instead of lists")
        return named
    if named.references or named.source:
        raise ConfigError(f"{config} names lists, references and source: give no -r or --source beside it")
    if job.config.tune is None:
        raise ConfigError(f"{config}: there is no [tune] table, which names the lists that weights are tuned on")
    return job.files(job.config.tune)


def _bases(named: Collection[str], families: Collection[str]) -> list[str]:
    """The families that `--base` names. Raises ConfigError for one that is not there."""
    for name in named:
        if name not in ("none", *families):
            raise ConfigError(f"--base: no family named {name!r}{suggestion(name, families)}")
    return [name for name in named if name != "none"]
