"""The gain of reranking on held-out tuning lists, or that none is shown: as lines, as a table and as a record."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from math import isinf
from typing import Any

from rerank_adapters.evaluation.significance import Interval
from rerank_adapters.report import numbers
from rerank_adapters.report.facts import HeldOut
from rerank_adapters.report.tables import Table

HELD_OUT = "held_out"  # the key of a provenance


def held_out_lines(held: HeldOut, metric: str) -> tuple[str, ...]:
    """A line with the gain, and one more with advice where none is shown."""
    line = (
        f"held out on {held.folds} folds of the tuning lists: {metric} {numbers.score(held.score)}, "
        f"1-best {numbers.score(held.first)}, {gain_text(held)}; {changed_text(held)}"
    )
    return (line,) if held.certain else (line, f"{no_gain(held)}. {advice(held)}.")


def gain_text(held: HeldOut) -> str:
    """As `a gain of +0.84 [-1.20, +2.91]`; above 0 is better, for error rates too."""
    return f"a gain of {held.gain:+.2f} [{held.interval.low:+.2f}, {held.interval.high:+.2f}]"


def changed_text(held: HeldOut) -> str:
    """As `31 % of the 1-bests changed`, with the margin and the score without it where there is one."""
    changed = f"{held.changed:.0%} of the 1-bests changed".replace("%", " %")
    if held.without_margin is None:
        return changed
    margin = "margins of the folds" if isinf(held.margin) else f"a margin of {held.margin:.2f}"
    return f"{changed} with {margin}; without a margin {numbers.score(held.without_margin)}"


def no_gain(held: HeldOut) -> str:
    """A sentence, without its full stop, on a gain that is not shown."""
    if isinf(held.margin):
        return "No gain is shown, so the margin is infinite and keeps every 1-best"
    if not held.changed:
        return "No gain is shown: no 1-best was replaced on the held-out lists"
    if held.interval.high < 0:
        return "No gain is shown: on held-out lists the new 1-bests are worse than the decoder's"
    return "No gain is shown: the interval of the held-out gain includes zero"


def advice(held: HeldOut) -> str:
    """Advice for the case that no gain is shown."""
    if isinf(held.margin):
        return "Tune on more lists or with other features"
    if held.without_margin is not None:
        return "Keep the decoder's 1-bests, or tune on more lists or with other features"
    return (
        "Keep the decoder's 1-bests, tune on more lists or with other features, or let a margin keep the 1-bests that "
        'others hardly lead (`margin = "tuned"` in [tuner]; -t NAME,margin=tuned)'
    )


def held_out_table(systems: Mapping[str, HeldOut], metric: str) -> Table:
    """A row per system: the 1-bests' score, the held-out score, the gain with its interval, the 1-bests changed."""
    rows = []
    for name, held in systems.items():
        interval = f"[{held.interval.low:+.2f}, {held.interval.high:+.2f}]"
        left = f"{held.changed:.0%}".replace("%", " %")
        rows.append((name, numbers.score(held.first), numbers.score(held.score), f"{held.gain:+.2f} {interval}", left))
    first = next(iter(systems.values()))
    notes = [
        f"Held out: choices on {first.folds} folds of the {first.segments} tuning lists, each with weights tuned on "
        "the others. A gain above 0 is better, with its 95 % interval from the paired bootstrap.",
        *(f"{name}: {no_gain(held)}." for name, held in systems.items() if not held.certain),
    ]
    header = ("system", "1-best", "held out", "gain over the 1-best", "1-bests changed")
    return Table(f"Held out on the tuning lists: {metric}", header, tuple(rows), tuple(notes))


def as_record(held: HeldOut, metric: str) -> dict[str, Any]:
    """The values by name, as a provenance holds them, with the name of the metric."""
    return {"metric": metric, **asdict(held), "interval": list(held.interval)}


def from_record(record: Mapping[str, Any]) -> tuple[HeldOut, str] | None:
    """The gain that `as_record` wrote into a provenance, and the name of the metric; None for another record."""
    with suppress(LookupError, TypeError, ValueError):
        values = {key: value for key, value in record[HELD_OUT].items() if key in {f.name for f in fields(HeldOut)}}
        return HeldOut(**{**values, "interval": Interval(*map(float, values["interval"]))}), str(
            record[HELD_OUT]["metric"]
        )
    return None
