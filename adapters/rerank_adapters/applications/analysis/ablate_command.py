"""`rerank ablate`: measures what each family of features contributes, by cross-validation on the tuning set."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import (
    TABLE_HELP,
    JobFlags,
    job_flags,
    output_option,
    reference_form_option,
    source_option,
    style_option,
)
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry, suggestion

if TYPE_CHECKING:
    from rerank_adapters.formats.references import ReferenceForm

PARTS = ("left-out", "added", "selection", "correlations", "weights")


@click.command("ablate")
@click.argument("nbest", nargs=-1, required=True, metavar="CONFIG|NBEST...")
@click.option("-r", "--reference", "references", multiple=True, type=Path, metavar="FILE",
              help="A file of references of the lists. Repeatable.")  # fmt: skip
@reference_form_option
@click.option("--table", type=Path, metavar="TABLE", help=TABLE_HELP)
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS),
              help="Measure this part alone. Repeatable. Default: all.")  # fmt: skip
@click.option("--base", multiple=True, metavar="FAMILY",
              help="Add families to this one. Repeatable; `none` is the decoder's 1-best. Default: decoder, if the "
              "lists have features of it.")  # fmt: skip
@click.option("--by", type=click.Choice(["family", "feature"]), default="family", show_default=True,
              help="Take each entry of the config as a family, or each single feature.")  # fmt: skip
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True,
              help="Divide the tuning set into this many folds.")  # fmt: skip
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True,
              help="Repeat with this many seeds, each with folds of its own.")  # fmt: skip
@click.option("--samples", type=click.IntRange(0), default=100, show_default=True,
              help="Tune on this many resampled tuning sets for the intervals of weights.")  # fmt: skip
@click.option("--plots", type=Path, metavar="FOLDER",
              help="Plot selection, correlations and weights into this folder; needs the extra `plot`.")  # fmt: skip
@output_option("Write the report to this file.")
@style_option
@source_option
@job_flags("tuner", "metrics", "features", "config", "format_", "jobs", "seed")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, nbest: tuple[str, ...], references: tuple[Path, ...],
    reference_form: ReferenceForm, table: Path | None, parts: tuple[str, ...], base: tuple[str, ...], by: str,
    folds: int, seeds: int, samples: int, plots: Path | None, output: Path, style: str, source: Path | None,
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
    from rerank_adapters.applications.analysis.ablation import Part, ablate, families_of_features, trials_needed
    from rerank_adapters.applications.analysis.ablation_report import ablation_records, ablation_tables, plot_ablation
    from rerank_adapters.chain.extract import records_extraction
    from rerank_adapters.chain.job import Job
    from rerank_adapters.chain.lists import features_of, for_lists, read_tuning_set
    from rerank_adapters.chain.provenance import check_same_lists, job_of_table
    from rerank_adapters.chain.tune import families, start_weights, tuning_data
    from rerank_adapters.chain.tuning.selection import FamilyTrials
    from rerank_adapters.report.output import write_records
    from rerank_adapters.runtime.progress import CountingBar, StatusLine
    from rerank_plugins import FeatureTable

    closing = Closing()
    assert set(PARTS) == set(get_args(Part))  # written out above, so that `--help` imports nothing
    whole_config = len(nbest) == 1 and nbest[0].endswith(".toml")
    if whole_config:
        if flags.config or references or source:
            raise ConfigError(f"{nbest[0]} names lists, references and source: give no -c, -r or --source beside it")
        flags = JobFlags(**{**vars(flags), "config": Path(nbest[0])})
    elif not references:
        raise ConfigError("the lists need references: give -r, or name a CONFIG instead of lists")
    job = Job.create(flags.settings, registry)
    values = FeatureTable.load(table) if table else None
    if table and values:
        job = job_of_table(job, values, table)
    job.tuner, job.measures  # noqa: B018  errors in their options come before any work
    if whole_config:
        if job.config.tune is None:
            raise ConfigError(f"{nbest[0]}: there is no [tune] table, which names the lists that weights are tuned on")
        with StatusLine("reading the lists"):
            data = job.read(job.config.tune)
        job = for_lists(job, data.nbests, ranks=values is None or not records_extraction(values))
    else:
        job, data = read_tuning_set(job, nbest, references, reference_form, source, values)
    _bases(base, ["decoder", *(job.labels if by == "family" else base)])  # wrong names before an extraction
    values = features_of(job, data, values, table)
    check_same_lists(data.nbests, values)
    by_family = families(job, values)
    if by == "feature":
        by_family = dict(families_of_features(values.names, values.sparse.names))
    bases = _bases(base or [name for name in by_family if by == "family" and name not in job.labels], by_family)
    if len(by_family) < 2:
        raise ConfigError(f"there is nothing to compare: {counted(len(by_family), 'family', 'families')} of features")

    with StatusLine(f"counting the statistics of {job.measures[0].name}"):
        problem = tuning_data(job, data, values)
    wanted: list[Part] = [part for part in get_args(Part) if not parts or part in parts]
    trials_count = trials_needed(len(by_family), len(bases), wanted)
    tunings = trials_count * folds * seeds + 1 + ("weights" in wanted) * samples
    with CountingBar("tunings", tunings) as bar:
        trials = FamilyTrials(
            problem,
            by_family,
            job.tuner,
            start_weights(job, data, values),
            min(folds, values.segments),
            range(job.config.seed, job.config.seed + seeds),
            job.config.jobs,
            bar.add,
        )
        settings = job.config.evaluation
        result = ablate(
            trials,
            bases,
            wanted,
            settings,
            samples=samples,
            seed=job.config.seed,
            groups=data.groups if settings.resample_groups else None,
            progress=bar.add,
        )
    metric = job.measures[0].name
    write_records(list(ablation_records(result, metric)), ablation_tables(result, metric), style, output)
    if plots is not None:
        for file in plot_ablation(result, metric, plots):
            closing.wrote("a plot", file)
    closing.say(
        f"compared {counted(len(by_family), 'family', 'families')} of features on {counted(trials.folds, 'fold')}"
    )


def _bases(named: Collection[str], families: Collection[str]) -> list[str]:
    """The families that `--base` names. Raises ConfigError for one that is not there."""
    for name in named:
        if name not in ("none", *families):
            raise ConfigError(f"--base: no family named {name!r}{suggestion(name, families)}")
    return [name for name in named if name != "none"]
