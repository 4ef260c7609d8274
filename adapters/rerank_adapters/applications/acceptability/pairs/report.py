"""What comes of minimal pairs: accuracy of each system, over all pairs and by what they are examples of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rerank_adapters.applications.acceptability.pairs.preferences import Preferences
from rerank_adapters.formats.minimal_pairs import Pair
from rerank_adapters.report.tables import Table

HEADER = ("system", "accuracy", "95 % interval", "preferred", "ties", "difference", "better", "worse", "p")


def pair_records(
    pairs: Sequence[Pair], systems: Sequence[Preferences], baseline: Preferences, by: Sequence[str]
) -> list[dict[str, Any]]:
    """A record for each system and group: `by` "" (all pairs), then each name of `by` with its values in file order."""
    records = []
    for key, value, among in _groups(pairs, by):
        other = baseline.among(among)
        for system in systems:
            part = system.among(among)
            record: dict[str, Any] = {"system": system.system, "by": key, "group": value, "pairs": len(part.credit)}
            low, high = part.interval
            record |= {"accuracy": part.accuracy, "low": low, "high": high, "ties": part.ties}
            if system is not baseline:
                test = part.against(other)
                record |= {"difference": part.accuracy - other.accuracy}
                record |= {"better": test.first_only, "worse": test.second_only, "p": test.p_value}
            records.append(record)
    return records


def pair_tables(records: Sequence[dict[str, Any]], baseline: str) -> list[Table]:
    """A table of groups for each way to group (a row a group, a column a system), and the overall one, last."""
    tables = []
    for key in dict.fromkeys(record["by"] for record in records if record["by"]):
        tables.append(_group_table(key, [record for record in records if record["by"] == key]))
    return [*tables, _overall_table([record for record in records if not record["by"]], baseline)]


def _overall_table(records: Sequence[dict[str, Any]], baseline: str) -> Table:
    rows = []
    for record in records:
        cells = [_percent(record["accuracy"]), f"{100 * record['low']:.1f} to {100 * record['high']:.1f}"]
        cells += [f"{record['accuracy'] * record['pairs']:g} of {record['pairs']}", str(record["ties"])]
        if "p" in record:
            cells += [f"{100 * record['difference']:+.1f}", str(record["better"]), str(record["worse"])]
            cells.append(f"{record['p']:.3g}")
        rows.append((record["system"], *cells, *[""] * (len(HEADER) - 1 - len(cells))))
    notes = ["ties count half; intervals: Wilson"]
    width = len(HEADER) if len(records) > 1 else 5
    if len(records) > 1:
        notes.append(
            f"difference to {baseline} in points; pairs on which the system does better or worse; p: McNemar, exact"
        )
    return Table("Minimal pairs", HEADER[:width], tuple(row[:width] for row in rows), tuple(notes))


def _group_table(key: str, records: Sequence[dict[str, Any]]) -> Table:
    systems = list(dict.fromkeys(record["system"] for record in records))
    found = {(record["group"], record["system"]): record for record in records}
    groups = list(dict.fromkeys(record["group"] for record in records))
    rows = [
        (group, str(found[group, systems[0]]["pairs"]), *(_percent(found[group, s]["accuracy"]) for s in systems))
        for group in groups
    ]
    means = [np.mean([found[group, system]["accuracy"] for group in groups]) for system in systems]
    rows.append((f"mean of {len(groups)}", "", *map(_percent, means)))
    return Table(f"By {key}", (key, "pairs", *systems), tuple(rows))


def _groups(pairs: Sequence[Pair], by: Sequence[str]) -> list[tuple[str, str, Any]]:
    groups = [("", "", np.ones(len(pairs), np.bool_))]
    for key in by:
        values = [pair.groups.get(key, "") for pair in pairs]
        named = np.array(values, dtype=object)
        groups += [(key, value or "(none)", named == value) for value in dict.fromkeys(values)]
    return groups


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
