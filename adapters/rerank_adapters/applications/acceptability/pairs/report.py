"""Reports on minimal pairs: the accuracy of each system, over all pairs and by their properties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rerank_adapters.applications.acceptability.pairs.preferences import Preferences
from rerank_adapters.formats.pairs import Pair
from rerank_adapters.report.tables import Table
from rerank_plugins.core.arrays import BoolArray

HEADER = ("system", "accuracy", "95 % interval", "preferred", "ties")
COMPARISON = ("system", "difference", "better", "worse", "p")


def pair_records(
    pairs: Sequence[Pair], systems: Sequence[Preferences], baseline: Preferences, by: Sequence[str]
) -> list[dict[str, Any]]:
    """A record for each system and group of pairs.

    The key `by` is "" in the records over all pairs, which come first; then it is each name of `by` in turn, whose
    groups keep the order of the file.
    """
    records = []
    for key, group, members in _groups(pairs, by):
        baseline_part = baseline.among(members)
        for system in systems:
            part = system.among(members)
            record: dict[str, Any] = {"system": system.system, "by": key, "group": group, "pairs": len(part.credit)}
            low, high = part.interval
            record |= {"accuracy": part.accuracy, "low": low, "high": high, "ties": part.ties}
            if system is not baseline:
                test = part.against(baseline_part)
                record |= {"difference": part.accuracy - baseline_part.accuracy}
                record |= {"better": test.first_only, "worse": test.second_only, "p": test.p_value}
            records.append(record)
    return records


def failure_records(pairs: Sequence[Pair], systems: Sequence[Preferences]) -> list[dict[str, Any]]:
    """A record for each system and pair whose good sentence it does not prefer, in the order of the file."""
    records = []
    for system in systems:
        for place in np.flatnonzero(system.credit < 1).tolist():
            pair = pairs[place]
            record = {"line": pair.line, "margin": float(system.margin[place]), "good": pair.good, "bad": pair.bad}
            records.append({"system": system.system, **pair.groups, **record})
    return records


def pair_tables(records: Sequence[dict[str, Any]], baseline: str) -> list[Table]:
    """The tables of the records.

    First come the accuracies by group (a row for each group, a column for each system), then the comparison with the
    baseline, and last, where a terminal shows it, the accuracy over all pairs.
    """
    tables = []
    for key in dict.fromkeys(record["by"] for record in records if record["by"]):
        tables.append(_group_table(key, [record for record in records if record["by"] == key]))
    overall = [record for record in records if not record["by"]]
    if len(overall) > 1:
        tables.append(_comparison_table(overall, baseline))
    return [*tables, _overall_table(overall)]


def _overall_table(records: Sequence[dict[str, Any]]) -> Table:
    rows = [
        (
            record["system"],
            _percent(record["accuracy"]),
            f"{100 * record['low']:.1f} to {100 * record['high']:.1f}",
            f"{record['accuracy'] * record['pairs']:g} of {record['pairs']}",
            str(record["ties"]),
        )
        for record in records
    ]
    return Table("Minimal pairs", HEADER, tuple(rows), ("Ties count half. The intervals are Wilson's.",))


def _comparison_table(records: Sequence[dict[str, Any]], baseline: str) -> Table:
    rows = [
        (
            record["system"],
            f"{100 * record['difference']:+.1f}",
            str(record["better"]),
            str(record["worse"]),
            f"{record['p']:.3g}",
        )
        for record in records
        if "p" in record
    ]
    notes = (
        "The difference of accuracies is in percentage points. Better and worse count",
        "the pairs that one of the two systems judges better. p: McNemar's exact test.",
    )
    return Table(f"Compared with {baseline}", COMPARISON, tuple(rows), notes)


def _group_table(key: str, records: Sequence[dict[str, Any]]) -> Table:
    systems = list(dict.fromkeys(record["system"] for record in records))
    by_cell = {(record["group"], record["system"]): record for record in records}
    groups = list(dict.fromkeys(record["group"] for record in records))
    rows = [
        (group, str(by_cell[group, systems[0]]["pairs"]), *(_points(by_cell[group, s]["accuracy"]) for s in systems))
        for group in groups
    ]
    means = [np.mean([by_cell[group, system]["accuracy"] for group in groups]) for system in systems]
    rows.append((f"mean of {len(groups)}", "", *map(_points, means)))
    return Table(f"Accuracy (%) by {key}", (key, "pairs", *systems), tuple(rows))


def _groups(pairs: Sequence[Pair], by: Sequence[str]) -> list[tuple[str, str, BoolArray]]:
    """(key, group, members) for all pairs, then for each value of each key; `members` (pairs) is a mask."""
    groups = [("", "", np.ones(len(pairs), np.bool_))]
    for key in by:
        values = [pair.groups.get(key, "") for pair in pairs]
        of_pair = np.array(values, dtype=object)
        groups += [(key, value or "(none)", of_pair == value) for value in dict.fromkeys(values)]
    return groups


def _points(share: float) -> str:
    return f"{100 * share:.1f}"


def _percent(share: float) -> str:
    return f"{_points(share)} %"
