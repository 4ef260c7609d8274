"""`rerank ablate`: what each family of features contributes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.formats.pairing import Unpaired, warn
from rerank_adapters.formats.references import ReferenceForm
from rerank_adapters.runtime.progress import CountingBar, StatusLine, counted
from rerank_adapters.tuning.ablation import PARTS, Part, ablate, single_features, trials_needed
from rerank_plugins import ConfigError
from rerank_plugins.core.errors import suggestion

if TYPE_CHECKING:
    from rerank_adapters.data.dataset import Dataset
    from rerank_adapters.job.job import Job

SAMPLES = 100  # resampled tuning sets for the intervals of weights


@click.command("ablate")
@click.argument("nbest", nargs=-1, required=True, type=click.Path(), metavar="CONFIG|NBEST...")
@options.references_option(required=False)
@options.table_option
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS),
              help="Measure only this part. Repeatable.",
              show_default="all")  # fmt: skip
@click.option("--base", multiple=True, metavar="FAMILY",
              help="Add families to this one. Repeatable; `none` is the decoder's 1-best.",
              show_default="decoder, if the lists have features of it")  # fmt: skip
@click.option("--by", type=click.Choice(["family", "feature"]), default="family", show_default=True,
              help="Take each entry of the config as a family, or each single feature.")  # fmt: skip
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True,
              help="Divide the tuning set into this many folds.")  # fmt: skip
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True,
              help="Repeat with this many seeds, each with its own folds.")  # fmt: skip
@options.style_option
@options.source_option
@options.job_flags("tuner", "metrics", "features", "jobs", "seed", "trust_pairs")
def command(
    flags: options.JobFlags, nbest: tuple[str, ...], references: tuple[Path, ...], reference_form: ReferenceForm,
    unpaired: Unpaired, table: Path | None, parts: tuple[Part, ...], base: tuple[str, ...], by: str, folds: int,
    seeds: int, style: str, source: Path | None,
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
    from rerank_adapters.features.tables import check_same_lists
    from rerank_adapters.report.ablation import ablation_records, ablation_tables
    from rerank_adapters.report.output import write_records
    from rerank_adapters.run.learn import features_of, method_of, read_tuning_set, with_table
    from rerank_adapters.tuning.families import FamilyTrials

    summary_line = SummaryLine()
    config = _named_config(nbest, references, source)
    job, values = with_table(replace(flags, config=config).job if config else flags.job, table)
    _ = job.tuner, job.measures  # wrong options are errors before any work
    if config:
        data = _tuning_set_of(job, config)
    else:
        data = read_tuning_set(job, nbest, references, reference_form, source, unpaired)
    _bases(base, ["decoder", *(job.labels if by == "family" else base)])  # wrong names before an extraction
    values = features_of(job, data, values, table)
    check_same_lists(data.lists, values)
    method = method_of(job)
    families = single_features(values) if by == "feature" else method.families(values)
    bases = _bases(base or [name for name in families if by == "family" and name not in job.labels], families)
    if len(families) < 2:
        raise ConfigError(f"there is nothing to compare: {counted(len(families), 'family', 'families')} of features")
    with StatusLine(f"counting the statistics of {method.measure.name}"):
        problem = method.problem(data.lists, data.references, values)
    start, folds = method.start(data.lists, values), min(folds, values.segments)
    every_seed, wanted, settings = range(method.seed, method.seed + seeds), parts or PARTS, job.config.evaluation
    tunings = trials_needed(len(families), len(bases), wanted) * folds * seeds + 1 + ("weights" in wanted) * SAMPLES
    with CountingBar("tunings", tunings) as bar:
        trials = FamilyTrials(problem, families, method.tuner, start, folds, every_seed, method.processes, bar.add)
        groups = data.groups if settings.resample_groups else None
        result = ablate(
            trials, bases, wanted, settings, samples=SAMPLES, seed=method.seed, groups=groups, progress=bar.add
        )
    metric = method.measure.name
    write_records(list(ablation_records(result, metric)), ablation_tables(result, metric), style)
    summary_line.report(
        f"compared {counted(len(families), 'family', 'families')} of features on {counted(folds, 'fold')}"
    )


def _named_config(nbest: Sequence[str], references: Sequence[Path], source: Path | None) -> Path | None:
    """The config that is named in the place of lists, if one is.

    Raises ConfigError for a config with references or a source beside it, and for lists without references.
    """
    if len(nbest) != 1 or not nbest[0].endswith(".toml"):
        if not references:
            raise ConfigError("the lists need references: give -r, or name a CONFIG instead of lists")
        return None
    if references or source:
        raise ConfigError(f"{nbest[0]} names lists, references and source: give no -r or --source beside it")
    return Path(nbest[0])


def _tuning_set_of(job: Job, config: Path) -> Dataset:
    """The tuning set of a config.

    Raises ConfigError for a config without one, and where lists and references do not belong together.
    """
    from rerank_adapters.data.dataset import Dataset
    from rerank_adapters.job.job import TUNE

    if job.config.tune is None:
        raise ConfigError(f"{config}: there is no [tune] table, which names the lists that weights are tuned on")
    data = Dataset.read(TUNE, job.files(job.config.tune), job.format, "tuning", job.content_check())
    warn([*data.findings, *data.doubts])
    return data


def _bases(named: Collection[str], families: Collection[str]) -> list[str]:
    """The families that `--base` names. Raises ConfigError for one that is not there."""
    for name in named:
        if name not in ("none", *families):
            raise ConfigError(f"--base: no family named {name!r}{suggestion(name, families)}")
    return [name for name in named if name != "none"]
