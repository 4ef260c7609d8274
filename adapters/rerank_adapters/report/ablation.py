"""The tables and the records of an ablation: what each family of features contributes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rerank_adapters.report import numbers
from rerank_adapters.report.held_out import by_gain
from rerank_adapters.report.tables import Table
from rerank_adapters.tuning.ablation import Ablation, Correlations
from rerank_adapters.tuning.families import Trial
from rerank_adapters.tuning.weight_intervals import WeightIntervals

STRONGEST_PAIRS = 10  # of features in the table of correlations
LARGEST_WEIGHTS = 40  # in the table of weights


def ablation_tables(result: Ablation, metric: str) -> list[Table]:
    """A table for each part that was measured; that of the selection comes last, where it stays visible."""
    tables = []
    if "families" in result.correlations:
        tables.append(_matrix(result.correlations["families"]))
    if "features" in result.correlations and len(result.correlations["features"].names) > 1:
        tables.append(_strongest(result.correlations["features"]))
    if result.weights.rows:
        tables.append(_weight_table(result.weights))
    if left_out := result.trials.get("left-out"):
        tables.append(_left_out_table(result, left_out, metric))
    if added := result.trials.get("added"):
        tables.append(_added_table(result, added, metric))
    if selection := result.trials.get("selection"):
        tables.append(_selection_table(result, selection, metric))
    return tables


def _left_out_table(result: Ablation, trials: Sequence[Trial], metric: str) -> Table:
    rows = tuple(_cells(trial) for trial in by_gain(trials))
    notes = (
        f"With all families the held-out {metric} is {numbers.score(result.whole)}. The loss is by how much choices "
        "are worse without the family.",
        *_explanation(result),
    )
    return Table(f"Each family left out: {metric}", _header("without", "loss", result), rows, notes)


def _added_table(result: Ablation, trials: Sequence[Trial], metric: str) -> Table:
    rows = tuple(_cells(trial) for trial in by_gain(trials))
    notes = (f"{_base(result, metric)} The gain is by how much choices are better with the family.",)
    return Table(
        f"Each family added to {_base_name(result)}: {metric}",
        _header("with it", "gain", result),
        rows,
        (*notes, *(() if result.trials.get("left-out") else _explanation(result))),
    )


def _selection_table(result: Ablation, trials: Sequence[Trial], metric: str) -> Table:
    rows: list[tuple[str, ...]] = [(_base_name(result), "", numbers.score(result.base), "", "")]
    best = max(range(len(trials)), key=lambda i: sum(t.gain.value for t in trials[: i + 1]))
    for number, trial in enumerate(trials):
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
    interval = "" if trial.gain.interval is None else trial.gain.interval.written
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
    note = "Pearson's r, within lists, of the parts of the scores that the families add, by weights tuned on all lists."
    return Table("Correlations of families", ("family", *(str(j + 1) for j in numbered)), rows, (note,))


def _strongest(correlations: Correlations) -> Table:
    rows = tuple((first, second, _r(r)) for first, second, r in _pairs(correlations)[:STRONGEST_PAIRS])
    note = "Pearson's r of values within lists; `--as tsv` and `--as json` hold all pairs."
    return Table("Most correlated features", ("feature", "feature", "r"), rows, (note,))


def _pairs(correlations: Correlations) -> list[tuple[str, str, float]]:
    """Each pair that has an r, the strongest first."""
    names, (rows, columns) = correlations.names, np.triu_indices(len(correlations.names), 1)
    values = correlations.r[rows, columns]
    order = np.argsort(-np.abs(np.nan_to_num(values)), kind="stable")
    return [(names[rows[i]], names[columns[i]], float(values[i])) for i in order if not np.isnan(values[i])]


def _r(value: float) -> str:
    return "" if np.isnan(value) else f"{value:+.2f}"


def _weight_table(result: WeightIntervals) -> Table:
    rows = []
    for row in result.rows[:LARGEST_WEIGHTS]:
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
    if len(result.rows) > LARGEST_WEIGHTS:
        notes.append(f"{len(result.rows) - LARGEST_WEIGHTS} smaller ones are in `--as tsv` and `--as json`.")
    header = ("feature", "weight", "weight × spread", "95 % interval", "same sign")
    return Table("Weights tuned on all lists", header, tuple(rows), tuple(notes))


def ablation_records(result: Ablation, metric: str) -> Iterator[dict[str, Any]]:
    """A record for each row of each part, which `part` names; correlations are those of all pairs."""
    yield {"part": "whole", "metric": metric, "score": result.whole}
    yield {"part": "base", "family": " ".join(result.base_families), "metric": metric, "score": result.base}
    for part, trials in result.trials.items():
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
    for row in result.weights.rows:
        record = {"part": "weight", "feature": row.feature, "weight": row.weight, "share": row.part}
        yield {**record, **_bounds(row.interval), "same_sign": row.same_sign}
    for what, correlations in result.correlations.items():
        for first, second, r in _pairs(correlations):
            yield {"part": f"correlation of {what}", "feature": first, "other": second, "r": r}


def _bounds(interval: Sequence[float] | None) -> dict[str, float | None]:
    low, high = (None, None) if interval is None else interval
    return {"low": low, "high": high}
