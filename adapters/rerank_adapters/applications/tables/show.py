"""`rerank table show`: the features of a table by family (the columns of an extracted feature), or a segment's rows."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click
import numpy as np

from rerank_adapters.cli.options import FILE, columns_option, style_option
from rerank_adapters.features.tables import recorded_columns
from rerank_adapters.report.tables import Table
from rerank_plugins import ConfigError, FeatureTable, FloatArray
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.errors import suggestion

OTHER = "lists"  # the family of features that were not extracted: the decoder's own, and scores made elsewhere
RANGES = ("lowest", "mean", "highest", "spread")


def matching(names: Sequence[str], patterns: Sequence[str]) -> list[int]:
    """The positions of the names that match a pattern; all without patterns."""
    return [i for i, name in enumerate(names) if not patterns or any(fnmatchcase(name, p) for p in patterns)]


def feature_records(table: FeatureTable, patterns: Sequence[str] = ()) -> list[dict[str, Any]]:
    """A record for each dense feature that matches a pattern, with its range and spread, then for each sparse one.

    The rows of a sparse feature are the hypotheses that have it, of which its range is.
    """
    family_of = {name: label for label, names in recorded_columns(table).items() for name in names}
    records = []
    for column in matching(table.names, patterns):
        name, values = table.names[column], table.values[:, column]
        family = family_of.get(name, OTHER)
        records.append(_record(name, family, values) | {"spread": spread(values, table.offsets)})
    in_columns = table.sparse.data[np.argsort(table.sparse.indices, kind="stable")]
    ends = np.cumsum(np.bincount(table.sparse.indices, minlength=len(table.sparse.names)))
    of_columns = np.split(in_columns, ends[:-1])
    for column in matching(table.sparse.names, patterns):
        records.append(_record(table.sparse.names[column], "sparse", of_columns[column]) | {"spread": None})
    return records


def _record(name: str, family: str, values: FloatArray) -> dict[str, Any]:
    ranges = (float(values.min()), float(values.mean()), float(values.max())) if len(values) else (None,) * 3
    return {"feature": name, "family": family, "rows": len(values), **dict(zip(RANGES, ranges, strict=False))}


def spread(values: FloatArray, offsets: LongArray) -> float:
    """The mean over lists of the standard deviation within the list; 0 for a table without lists."""
    sizes = np.diff(offsets)
    starts, sizes = offsets[:-1][sizes > 0], sizes[sizes > 0]
    centred = values - np.repeat(np.add.reduceat(values, starts) / sizes, sizes)
    deviations = np.sqrt(np.add.reduceat(centred**2, starts) / sizes)
    return float(deviations.mean()) if len(deviations) else 0.0


def segment_records(table: FeatureTable, segment: int, patterns: Sequence[str] = ()) -> list[dict[str, Any]]:
    """A record for each hypothesis of a segment: its number in the list, from 1, and its features.

    Of the sparse features only those that a hypothesis of the segment has are there. Without a feature that matches a
    pattern there are no records.
    """
    part, _ = table.take_segments([segment])
    if patterns and not matching(part.all_names, patterns):
        return []
    size, sparse = len(part.values), part.sparse
    columns: dict[str, FloatArray] = {
        part.names[column]: part.values[:, column] for column in matching(part.names, patterns)
    }
    rows = np.repeat(np.arange(size), np.diff(sparse.indptr))
    for column in matching(sparse.names, patterns):
        if (here := sparse.indices == column).any():
            columns[sparse.names[column]] = np.bincount(rows[here], sparse.data[here], size).astype(np.float64)
    return [{"hypothesis": i + 1, **{name: float(values[i]) for name, values in columns.items()}} for i in range(size)]


def overview(table: FeatureTable, records: Sequence[dict[str, Any]], name: str) -> Table:
    """The records of features as a table for people."""
    from rerank_adapters.data.dataset import lists_size

    rows = tuple((record["feature"], record["family"], *(number(record[key]) for key in RANGES)) for record in records)
    size = lists_size(table.segments, len(table.values))
    notes = [
        f"{size}; {len(table.names)} dense and {len(table.sparse.names)} sparse features.",
        "The spread is the mean over lists of the standard deviation within a list.",
    ]
    if any(record["family"] == OTHER for record in records):
        notes.append(f"The family {OTHER!r} came with the lists or was made elsewhere; the others were extracted.")
    return Table(name, ("feature", "family", *RANGES), rows, tuple(notes))


def segment_table(records: Sequence[dict[str, Any]], title: str) -> Table:
    """The records of a segment as a table for people."""
    rows = [(str(record["hypothesis"]), *map(number, list(record.values())[1:])) for record in records]
    return Table(title, tuple(records[0]) if records else ("hypothesis",), tuple(rows))


def number(value: float | None) -> str:
    """Four significant digits.

    >>> number(-12.34567), number(None)
    ('-12.35', '')
    """
    return "" if value is None else f"{value:.4g}"


@click.command("show")
@click.argument("table", type=FILE)
@click.option("--segment", metavar="ID", help="Show the rows of this segment.")
@columns_option
@style_option
def command(table: Path, segment: str | None, columns: tuple[str, ...], style: str) -> None:
    """Show the features of a TABLE, or the rows of a segment.

    Of each feature: the family that it belongs to, its range and mean, and its spread, the mean over the lists of the
    standard deviation within a list. A feature whose spread is 0 cannot change any choice.

    \b
    rerank table show tune.npz
    rerank table show tune.npz --segment 17 --column 'lm.*'
    """  # noqa: D301
    from rerank_adapters.report.output import write_records

    whole = FeatureTable.load(table)
    if segment is None:
        records = feature_records(whole, columns)
        report = overview(whole, records, table.name)
    elif segment in whole.segment_ids:
        records = segment_records(whole, whole.segment_ids.index(segment), columns)
        report = segment_table(records, f"{table.name}: segment {segment}")
    else:
        raise ConfigError(f"{table}: there is no segment {segment!r}{suggestion(segment, whole.segment_ids[:1000])}")
    if columns and not records:
        raise ConfigError(f"{table}: no feature matches {', '.join(columns)}{suggestion(columns[0], whole.all_names)}")
    write_records(records, [report], style)
