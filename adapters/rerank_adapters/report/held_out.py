"""What held-out lists tell of a tuning, in lines and tables: gains, a cross-validation, and families of features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isinf

from rerank_adapters.evaluation.baselines import FIRST
from rerank_adapters.report import numbers
from rerank_adapters.report.tables import Table
from rerank_adapters.tuning.cross_validation import CrossValidation
from rerank_adapters.tuning.families import Contributions, Trial
from rerank_adapters.tuning.held_out import HeldOutGain
from rerank_adapters.tuning.selection import Selection
from rerank_adapters.tuning.tune import Tuned


def tuning_lines(tuned: Tuned, metric: str, untuned: Mapping[str, float]) -> Iterator[str]:
    """Lines on a tuning; `untuned` are the scores on the tuning set of choices that need none, by name."""
    if tuned.selection is not None:
        kept, left = (", ".join(names) or "none" for names in (tuned.selection.families, tuned.selection.left_out))
        yield f"selected: {kept}; left out: {left}"
    yield from tuned.result.notes
    ends = tuned.result.restart_scores
    spread = f" ({len(ends)} restarts: {min(ends):.2f} to {max(ends):.2f})" if len(ends) > 1 else ""
    scores = ", ".join(f"{name} {score:.2f}" for name, score in untuned.items())
    yield f"{metric} on the tuning set: {scores}, tuned {tuned.result.score:.2f}{spread}"
    if tuned.held_out is not None:
        yield from gain_lines(tuned.held_out)


def gain_lines(held: HeldOutGain) -> Iterator[str]:
    """A line with the gain, and one more that says so where it is not certain."""
    changed = f"{100 * held.changed:.0f} % of the 1-bests changed"
    if held.without_margin is not None:
        which = "margins of the folds" if isinf(held.margin) else f"a margin of {held.margin:.2f}"
        changed += f" with {which}; without a margin {held.without_margin:.2f}"
    scores = {FIRST: held.first, **dict(sorted(held.baselines.items()))}
    baselines = ", ".join(f"{name} {score:.2f}" for name, score in scores.items())
    where = f"held out on {held.folds} folds of the tuning lists"
    yield f"{where}: {held.metric} {held.score:.2f}, {baselines}, {gain_text(held)}; {changed}"
    if not held.certain:
        yield f"{doubt(held)}. {_advice(held)}."


def gain_text(held: HeldOutGain) -> str:
    """As `a gain of +0.84 [-1.20, +2.91]`, over which of two baselines; above 0 is better, for error rates too."""
    over = f" over the {held.baseline}" if held.baselines else ""
    return f"a gain of {held.gain:+.2f} {held.interval.written}{over}"


def doubt(held: HeldOutGain) -> str:
    """A sentence, without its full stop, on a gain that is not certain."""
    if isinf(held.margin):
        return "No gain is shown, so the margin is infinite and keeps every 1-best"
    if not held.changed:
        return "No gain is shown: no choice differs from the decoder's on held-out lists"
    if held.interval.high < 0:
        than = "the decoder's" if held.baseline == FIRST else f"those of the {held.baseline}"
        return f"No gain is shown: on held-out lists the new 1-bests are worse than {than}"
    return "No gain is shown: the interval of the held-out gain includes zero"


def _advice(held: HeldOutGain) -> str:
    if isinf(held.margin):
        return "Tune on more lists or with other features"
    if held.baseline != FIRST:
        return f"Take the hypotheses of the {held.baseline}, or tune on more lists or with other features"
    if held.without_margin is not None:
        return "Keep the decoder's 1-bests, or tune on more lists or with other features"
    return (
        "Keep the decoder's 1-bests, tune on more lists or with other features, or let a margin keep the 1-bests "
        'that others hardly lead (`margin = "tuned"` in [tuner]; -t NAME,margin=tuned)'
    )


def held_out_table(systems: Mapping[str, HeldOutGain], metric: str) -> Table:
    """A row per system: the baselines' scores, the held-out score, the gain with its interval, the 1-bests changed."""
    first = next(iter(systems.values()))
    baselines = sorted(first.baselines) or [FIRST]
    rows = []
    for name, held in systems.items():
        scores = [held.baselines.get(baseline, held.first) for baseline in baselines]
        cells = (*map(numbers.score, (*scores, held.score)), f"{held.gain:+.2f} {held.interval.written}")
        rows.append((name, *cells, f"{100 * held.changed:.0f} %"))
    notes = [
        f"Held out: choices on {first.folds} folds of the {first.segments} tuning lists, each with weights tuned on "
        "the others. A gain above 0 is better, with its 95 % interval from the paired bootstrap.",
        *(f"{name}: {doubt(held)}." for name, held in systems.items() if not held.certain),
    ]
    header = ("system", *baselines, "held out", f"gain over the {first.baseline}", "1-bests changed")
    return Table(f"Held out on the tuning lists: {metric}", header, tuple(rows), tuple(notes))


def cross_validation_table(result: CrossValidation, metric: str) -> Table:
    """A row per tuner or baseline: held-out score with its spread over seeds, training score, lowest, highest fold."""
    keys = {"held_out": "held out", "spread": "± over seeds", "training": "training"}
    keys |= {"lowest_fold": "lowest fold", "highest_fold": "highest fold"}
    seeds = len(result.seeds)
    if seeds == 1:
        del keys["spread"]
    rows = []
    for row in result.table():
        mark = " *" if row["name"] == result.best.name else ""
        rows.append((f"{row['name']}{mark}", *(numbers.score(row[key]) for key in keys)))
    notes = (
        "* marks the best held-out score.",
        f"The held-out choices of the {result.folds} folds are pooled into one corpus score"
        + (f"; scores are means over {seeds} seeds." if seeds > 1 else "."),
    )
    better = "↑" if result.higher_is_better else "↓"
    return Table(f"Cross-validation: {metric} {better}", ("tuner", *keys.values()), tuple(rows), notes)


def selection_table(result: Selection, metric: str) -> Table:
    """A row per step of a selection of families: its family, the held-out score, and its distance from the best."""
    rows = []
    for number, step in enumerate(result.steps):
        added = f"+ {step.family}" if step.family else " ".join(result.always) or "the decoder's order"
        behind = "best" if step.behind == step.error == 0 else f"{step.behind:.2f} ± {step.error:.2f}"
        rows.append((added, numbers.score(step.held_out), behind, "kept" if number < result.kept else "left out"))
    notes = (
        f"Held out: {metric} of choices on {result.folds} folds of the tuning lists, each with weights tuned on the "
        f"others. The smallest set is kept that is at most {result.margin:g} standard errors behind the best.",
        *((f"Nothing was gained, so these were not added: {', '.join(result.untried)}.",) if result.untried else ()),
    )
    return Table(
        f"Selection of features: {metric}", ("features", "held out", "behind the best", ""), tuple(rows), notes
    )


def contribution_table(result: Contributions, metric: str) -> Table:
    """A row per family of features, and per families together: their spread, and the held-out score without them."""
    rows = []
    for row in by_gain(result.rows):
        spread, interval = ("" if row.spread is None else f"{row.spread:.2f}"), row.gain.interval
        loss = f"{row.gain.value:+.2f}" + ("" if interval is None else f" ±{interval.half_width:.2f}")
        rows.append((row.family, str(row.features), spread, numbers.score(row.score), loss))
    notes = (
        "Weight × spread is the standard deviation within lists of a family's weighted sum, as a part of the whole "
        "score's.",
        f"Held out: {metric} of choices on {result.folds} folds of the tuning lists, each with weights tuned on the "
        f"others without the family. With all families it is {numbers.score(result.held_out)}; the loss is the "
        "difference, with its 95 % interval.",
        noise(result),
    )
    header = ("family", "features", "weight × spread", "held out", "loss")
    return Table(f"Contribution of each family: {metric}", header, tuple(rows), notes)


def by_gain(trials: Sequence[Trial]) -> list[Trial]:
    """The largest gain first."""
    return sorted(trials, key=lambda trial: -trial.gain.value)


def is_certain(trial: Trial) -> bool:
    """Whether the interval of its gain excludes zero."""
    return trial.gain.interval is not None and trial.gain.interval.excludes_zero


def noise(result: Contributions) -> str:
    """A sentence about the losses that cannot be distinguished from noise."""
    unsure = sum(not is_certain(row) for row in result.rows)
    counts = f"With {result.segments} segments, {unsure} of {len(result.rows)} intervals include zero"
    return f"{counts}: such a loss, and its sign, may be noise."
