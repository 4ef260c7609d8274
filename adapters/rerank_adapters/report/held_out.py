"""Tables of measurements on held-out lists: gains, a cross-validation, and a selection of features."""

from __future__ import annotations

from collections.abc import Mapping

from rerank_adapters.evaluation.baselines import FIRST
from rerank_adapters.report import numbers
from rerank_adapters.report.tables import Table
from rerank_adapters.tuning.cross_validation import CrossValidation
from rerank_adapters.tuning.gain import HeldOutGain
from rerank_adapters.tuning.selection import Selection


def held_out_table(systems: Mapping[str, HeldOutGain], metric: str) -> Table:
    """A row per system: the baselines' scores, the held-out score, the gain with its interval, the 1-bests changed."""
    first = next(iter(systems.values()))
    baselines = sorted(first.baselines) or [FIRST]
    rows = []
    for name, held in systems.items():
        interval = f"[{held.interval.low:+.2f}, {held.interval.high:+.2f}]"
        scores = [held.baselines.get(baseline, held.first) for baseline in baselines]
        cells = (*map(numbers.score, (*scores, held.score)), f"{held.gain:+.2f} {interval}")
        rows.append((name, *cells, f"{100 * held.changed:.0f} %"))
    notes = [
        f"Held out: choices on {first.folds} folds of the {first.segments} tuning lists, each with weights tuned on "
        "the others. A gain above 0 is better, with its 95 % interval from the paired bootstrap.",
        *(f"{name}: {held.doubt}." for name, held in systems.items() if not held.certain),
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
