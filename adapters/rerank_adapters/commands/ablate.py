"""`rerank ablate`: what each family of features contributes, as tables, records and plots."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from rerank_adapters.analysis.ablation import (
    PARTS,
    Ablation,
    Correlations,
    Part,
    Trial,
    ablate,
    families_of_features,
    trials_needed,
)
from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.formats.pairing import Unpaired, warn
from rerank_adapters.formats.references import ReferenceForm
from rerank_adapters.report import numbers
from rerank_adapters.report.plots import new_figure, save_figure
from rerank_adapters.report.tables import Table
from rerank_adapters.runtime.progress import CountingBar, StatusLine, counted
from rerank_plugins import ConfigError
from rerank_plugins.core.errors import suggestion

STRONGEST = 10  # pairs of features in the table of correlations
LONGEST = 40  # weights in the table of weights
SAMPLES = 100  # resampled tuning sets for the intervals of weights


def ablation_tables(result: Ablation, metric: str) -> list[Table]:
    """A table for each part that was measured; that of the selection comes last, where it stays visible."""
    tables = []
    if result.families is not None:
        tables.append(_matrix(result.families))
    if result.features is not None and len(result.features.names) > 1:
        tables.append(_strongest(result.features))
    if result.weights:
        tables.append(_weight_table(result))
    if result.left_out:
        tables.append(_left_out_table(result, metric))
    if result.added:
        tables.append(_added_table(result, metric))
    if result.selection:
        tables.append(_selection_table(result, metric))
    return tables


def _left_out_table(result: Ablation, metric: str) -> Table:
    rows = tuple(_cells(trial) for trial in sorted(result.left_out, key=lambda trial: -trial.gain.value))
    notes = (
        f"With all families the held-out {metric} is {numbers.score(result.whole)}. The loss is by how much choices "
        "are worse without the family.",
        *_explanation(result),
    )
    return Table(f"Each family left out: {metric}", _header("without", "loss", result), rows, notes)


def _added_table(result: Ablation, metric: str) -> Table:
    rows = tuple(_cells(trial) for trial in sorted(result.added, key=lambda trial: -trial.gain.value))
    notes = (f"{_base(result, metric)} The gain is by how much choices are better with the family.",)
    return Table(
        f"Each family added to {_base_name(result)}: {metric}",
        _header("with it", "gain", result),
        rows,
        (*notes, *(() if result.left_out else _explanation(result))),
    )


def _selection_table(result: Ablation, metric: str) -> Table:
    rows: list[tuple[str, ...]] = [(_base_name(result), "", numbers.score(result.base), "", "")]
    best = max(range(len(result.selection)), key=lambda i: sum(t.gain.value for t in result.selection[: i + 1]))
    for number, trial in enumerate(result.selection):
        mark = " *" if number == best else ""
        rows.append((f"+ {trial.family}{mark}", *_cells(trial)[1:5]))
    notes = (
        "From top to bottom: the family that improves the held-out score most is added to those above it. * marks the "
        "best score. Each step takes the best of several noisy scores, so that the scores are optimistic.",
    )
    header = ("families", "features", metric, "gain", "95 % interval")
    return Table(f"Forward selection: {metric}", header, tuple(rows), notes)


def _cells(trial: Trial) -> tuple[str, ...]:
    """Family, number of features, score, gain and its interval, and the p-values where there are some."""
    bounds = trial.gain.interval
    interval = "" if bounds is None else f"[{bounds.low:+.2f}, {bounds.high:+.2f}]"
    tested = [] if trial.holm is None or trial.gain.p is None else [trial.gain.p, trial.holm]
    cells = (trial.family, str(trial.features), numbers.score(trial.score), f"{trial.gain.value:+.2f}", interval)
    return (*cells, *map(numbers.p_value, tested))


def _header(score: str, gain: str, result: Ablation) -> tuple[str, ...]:
    tested = ("p", "Holm") if result.settings.randomisation else ()
    return ("family", "features", score, gain, "95 % interval", *tested)


def _base_name(result: Ablation) -> str:
    return " + ".join(result.base_families) or "the 1-best"


def _base(result: Ablation, metric: str) -> str:
    alone = f"With {_base_name(result)} alone" if result.base_families else "For the decoder's 1-best"
    return f"{alone} the held-out {metric} is {numbers.score(result.base)}."


def _explanation(result: Ablation) -> tuple[str, ...]:
    times = f", {result.seeds} times" if result.seeds > 1 else ""
    sentences = [f"Held-out choices of {result.folds} folds{times}, each with weights tuned on the other folds."]
    if result.settings.bootstrap:
        sentences.append(f"Intervals: paired bootstrap of the choices ({result.settings.bootstrap} resamples).")
    if result.settings.randomisation:
        trials = f"p: approximate randomisation ({result.settings.randomisation} trials)"
        sentences.append(f"{trials}; Holm: p corrected for the number of families.")
    return (" ".join(sentences),)


def _matrix(correlations: Correlations) -> Table:
    """The whole matrix; its columns are named by the numbers of the rows."""
    numbered = range(len(correlations.names))
    rows = tuple(
        (f"{i + 1} {name}", *("" if i == j else _r(correlations.r[i, j]) for j in numbered))
        for i, name in enumerate(correlations.names)
    )
    note = "Pearson's r, within lists, of what the families add to the scores by weights tuned on all lists."
    return Table("Correlations of families", ("family", *(str(j + 1) for j in numbered)), rows, (note,))


def _strongest(correlations: Correlations) -> Table:
    pairs = correlations.pairs()[:STRONGEST]
    rows = tuple((first, second, _r(r)) for first, second, r in pairs)
    note = "Pearson's r of values within lists; `--as tsv` and `--as json` hold all pairs."
    return Table("Most correlated features", ("feature", "feature", "r"), rows, (note,))


def _r(value: float) -> str:
    return "" if np.isnan(value) else f"{value:+.2f}"


def _weight_table(result: Ablation) -> Table:
    rows = []
    for row in result.weights[:LONGEST]:
        interval = "" if row.interval is None else f"[{row.interval.low:+.3f}, {row.interval.high:+.3f}]"
        same = "" if row.same_sign is None else f"{100 * row.same_sign:.0f} %"
        rows.append((row.feature, f"{row.weight:+.4f}", f"{row.part:+.3f}", interval, same))
    notes = [
        "Weight × spread is the weight times the deviation of the feature within lists, as a part of the deviation "
        "of the whole score."
    ]
    if result.samples:
        notes.append(
            f"Intervals (95 %) and the proportion of weights of the same sign are of {result.samples} tuning sets "
            "drawn from the segments with replacement."
        )
    if len(result.weights) > LONGEST:
        notes.append(f"{len(result.weights) - LONGEST} smaller ones are in `--as tsv` and `--as json`.")
    header = ("feature", "weight", "weight × spread", "95 % interval", "same sign")
    return Table("Weights tuned on all lists", header, tuple(rows), tuple(notes))


def ablation_records(result: Ablation, metric: str) -> Iterator[dict[str, Any]]:
    """A record for each row of each part, which `part` names; correlations are those of all pairs."""
    yield {"part": "whole", "metric": metric, "score": result.whole}
    yield {"part": "base", "family": " ".join(result.base_families), "metric": metric, "score": result.base}
    for part, trials in (("left-out", result.left_out), ("added", result.added), ("selection", result.selection)):
        for trial in trials:
            yield {
                "part": part,
                "family": trial.family,
                "features": trial.features,
                "metric": metric,
                "score": trial.score,
                "gain": trial.gain.value,
                **_bounds(trial.gain.interval),
                "p": trial.gain.p,
                "holm": trial.holm,
            }
    for row in result.weights:
        record = {"part": "weight", "feature": row.feature, "weight": row.weight, "share": row.part}
        yield {**record, **_bounds(row.interval), "same_sign": row.same_sign}
    for part, correlations in (("families", result.families), ("features", result.features)):
        for first, second, r in correlations.pairs() if correlations is not None else ():
            yield {"part": f"correlation of {part}", "feature": first, "other": second, "r": r}


def _bounds(interval: Sequence[float] | None) -> dict[str, float | None]:
    low, high = (None, None) if interval is None else interval
    return {"low": low, "high": high}


def plot_ablation(result: Ablation, metric: str, folder: Path) -> list[Path]:
    """Plot what was measured, into the folder: the selection, correlations, weights. Return the files."""
    files = []
    folder.mkdir(parents=True, exist_ok=True)
    if result.selection:
        files.append(folder / "selection.png")
        _plot_selection(result, metric, files[-1])
    if result.features is not None and len(result.features.names) > 1:
        files.append(folder / "correlations.png")
        _plot_correlations(result.features, files[-1])
    if result.weights:
        files.append(folder / "weights.png")
        _plot_weights(result, files[-1])
    return files


def _plot_selection(result: Ablation, metric: str, path: Path) -> None:
    figure, axes = new_figure()
    names = [_base_name(result), *(f"+ {trial.family}" for trial in result.selection)]
    axes.plot(range(len(names)), [result.base, *(trial.score for trial in result.selection)], marker="o")
    axes.axhline(result.whole, color="grey", linewidth=0.8)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes.set_ylabel(f"held-out {metric}")
    save_figure(figure, path)


def _plot_correlations(correlations: Correlations, path: Path) -> None:
    figure, axes = new_figure()
    count = len(correlations.names)
    figure.set_size_inches(2.5 + 0.28 * count, 2.0 + 0.28 * count)
    drawn = axes.imshow(correlations.r, cmap="RdBu_r", vmin=-1, vmax=1)
    axes.set_xticks(range(count), correlations.names, rotation=90)
    axes.set_yticks(range(count), correlations.names)
    figure.colorbar(drawn, label="r within lists", shrink=0.6)
    save_figure(figure, path)


def _plot_weights(result: Ablation, path: Path) -> None:
    figure, axes = new_figure()
    rows = result.weights[:LONGEST][::-1]
    figure.set_figheight(1.2 + 0.22 * len(rows))
    axes.plot([row.part for row in rows], range(len(rows)), "o", color="C0")
    for place, row in enumerate(rows):
        if row.interval is not None:
            axes.plot(row.interval, (place, place), color="C0")
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.set_yticks(range(len(rows)), [row.feature for row in rows])
    axes.set_xlabel("weight × spread")
    save_figure(figure, path)


@click.command("ablate")
@click.argument("nbest", nargs=-1, required=True, type=click.Path(), metavar="CONFIG|NBEST...")
@click.option("-r", "--reference", "references", multiple=True, type=options.FILE, metavar="FILE",
              help="A file of references of the lists. Repeatable.")  # fmt: skip
@options.pairing_options
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
@click.option("--plots", type=options.FILE, metavar="FOLDER",
              help="Plot selection, correlations and weights into this folder; needs the extra `plot`.")  # fmt: skip
@options.style_option
@options.source_option
@options.job_flags("tuner", "metrics", "features", "jobs", "seed", "trust_pairs")
def command(
    flags: options.JobFlags, nbest: tuple[str, ...], references: tuple[Path, ...], reference_form: ReferenceForm,
    unpaired: Unpaired, table: Path | None, parts: tuple[Part, ...], base: tuple[str, ...], by: str, folds: int,
    seeds: int, plots: Path | None, style: str, source: Path | None,
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
    from rerank_adapters.chain.lists import content_check, features_of, files_of, for_lists, read_tuning_set, with_table
    from rerank_adapters.chain.tune import families, start_weights, tuning_data
    from rerank_adapters.chain.tuning.selection import FamilyTrials
    from rerank_adapters.data.dataset import Dataset
    from rerank_adapters.features.tables import check_same_lists, records_extraction
    from rerank_adapters.report.output import write_records

    summary_line = SummaryLine()
    whole_config = len(nbest) == 1 and nbest[0].endswith(".toml")
    if whole_config:
        if references or source:
            raise ConfigError(f"{nbest[0]} names lists, references and source: give no -r or --source beside it")
        flags = replace(flags, config=Path(nbest[0]))
    elif not references:
        raise ConfigError("the lists need references: give -r, or name a CONFIG instead of lists")
    job, values = with_table(flags.job, table)
    _ = job.tuner, job.measures  # wrong options are errors before any work
    if whole_config:
        if job.config.tune is None:
            raise ConfigError(f"{nbest[0]}: there is no [tune] table, which names the lists that weights are tuned on")
        data = Dataset.read("tune", files_of(job, job.config.tune), job.format, "tuning", content_check(job))
        warn([*data.findings, *data.doubts])
        job = for_lists(job, data.lists, ranks=values is None or not records_extraction(values))
    else:
        job, data = read_tuning_set(job, nbest, references, reference_form, source, values, unpaired)
    _bases(base, ["decoder", *(job.labels if by == "family" else base)])  # wrong names before an extraction
    values = features_of(job, data, values, table)
    check_same_lists(data.lists, values)
    by_family = families(job, values)
    if by == "feature":
        by_family = dict(families_of_features(values.names, values.sparse.names))
    bases = _bases(base or [name for name in by_family if by == "family" and name not in job.labels], by_family)
    if len(by_family) < 2:
        raise ConfigError(f"there is nothing to compare: {counted(len(by_family), 'family', 'families')} of features")

    with StatusLine(f"counting the statistics of {job.measures[0].name}"):
        problem = tuning_data(job, data, values)
    wanted = parts or PARTS
    trials_count = trials_needed(len(by_family), len(bases), wanted)
    tunings = trials_count * folds * seeds + 1 + ("weights" in wanted) * SAMPLES
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
            samples=SAMPLES,
            seed=job.config.seed,
            groups=data.groups if settings.resample_groups else None,
            progress=bar.add,
        )
    metric = job.measures[0].name
    write_records(list(ablation_records(result, metric)), ablation_tables(result, metric), style)
    if plots is not None:
        for file in plot_ablation(result, metric, plots):
            summary_line.wrote("a plot", file)
    summary_line.report(
        f"compared {counted(len(by_family), 'family', 'families')} of features on {counted(trials.folds, 'fold')}"
    )


def _bases(named: Collection[str], families: Collection[str]) -> list[str]:
    """The families that `--base` names. Raises ConfigError for one that is not there."""
    for name in named:
        if name not in ("none", *families):
            raise ConfigError(f"--base: no family named {name!r}{suggestion(name, families)}")
    return [name for name in named if name != "none"]
