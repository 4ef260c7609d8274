"""`rerank table show`: the features of a table by family (the columns of an extracted feature), or a segment's rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click
import numpy as np

from rerank_adapters.chain.extract import DESCRIPTIONS, recorded_columns
from rerank_adapters.commands.options import columns_option, style_option
from rerank_adapters.report.tables import Table
from rerank_plugins import ConfigError, FeatureTable, FloatArray
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.registry import Registry, suggestion

OTHER = "lists"  # the family of features that were not extracted: the decoder's own, and scores made elsewhere


def load(path: Path, registry: Registry, folder: Path) -> FeatureTable:
    """The table at `path`, whose record names its files relative to `folder`. Raises FormatError, ConfigError."""
    from rerank_adapters.chain.provenance import EXTRACTING, RECORDED, recorded_job, recorded_tables

    table = FeatureTable.load(path)
    if RECORDED not in table.provenance:
        return table
    record = recorded_tables(recorded_job(table.provenance, path, registry), folder, *EXTRACTING)
    return replace(table, provenance={**table.provenance, RECORDED: record})


def label_of(entry: Mapping[str, Any]) -> str:
    """The label of a recorded `[[feature]]` table."""
    return str(entry.get("label", entry.get("use", "")))


def recorded_entries(table: FeatureTable) -> list[dict[str, Any]]:
    """The `[[feature]]` tables that the table records."""
    from rerank_adapters.chain.provenance import RECORDED

    return list(table.provenance.get(RECORDED, {}).get("feature", []))


def with_columns(table: FeatureTable, names: Mapping[str, str], labels: Mapping[str, str]) -> FeatureTable:
    """The table with some of its dense columns and recorded labels, by their old names, under new names."""
    from rerank_adapters.chain.provenance import RECORDED

    described = table.provenance.get(DESCRIPTIONS, {})
    provenance = dict(table.provenance)
    if DESCRIPTIONS in provenance:
        provenance[DESCRIPTIONS] = {labels[label]: how for label, how in described.items() if label in labels}
    if RECORDED in provenance:
        entries = [
            {**entry, "label": labels[label_of(entry)]} if labels[label_of(entry)] != label_of(entry) else entry
            for entry in recorded_entries(table)
            if label_of(entry) in labels
        ]
        job = {key: value for key, value in provenance[RECORDED].items() if key != "feature"}
        provenance[RECORDED] = {**job, "feature": entries} if entries else job
    kept = [column for column, name in enumerate(table.names) if name in names]
    values = np.ascontiguousarray(table.values[:, kept])
    return replace(table, names=tuple(names[table.names[i]] for i in kept), values=values, provenance=provenance)


def _chosen(names: Sequence[str], patterns: Sequence[str]) -> list[int]:
    return [i for i, name in enumerate(names) if not patterns or any(fnmatchcase(name, p) for p in patterns)]


def feature_records(table: FeatureTable, patterns: Sequence[str] = ()) -> list[dict[str, Any]]:
    """A record for each dense feature that matches a pattern (all without patterns), with its range and spread.

    Sparse features have the number of hypotheses with a value and its range.
    """
    family_of = {name: label for label, names in recorded_columns(table).items() for name in names}
    records = []
    for column in _chosen(table.names, patterns):
        name, values = table.names[column], table.values[:, column]
        records.append(
            {"feature": name, "family": family_of.get(name, OTHER), "rows": len(values), **_ranges(values)}
            | {"spread": spread(values, table.offsets)}
        )
    in_columns = table.sparse.data[np.argsort(table.sparse.indices, kind="stable")]
    starts = np.cumsum(np.bincount(table.sparse.indices, minlength=len(table.sparse.names)))
    of_column = np.split(in_columns, starts[:-1])
    for column in _chosen(table.sparse.names, patterns):
        present = of_column[column]
        name = table.sparse.names[column]
        records.append({"feature": name, "family": "sparse", "rows": len(present), **_ranges(present), "spread": None})
    return records


def _ranges(values: FloatArray) -> dict[str, float | None]:
    if not len(values):
        return {"lowest": None, "mean": None, "highest": None}
    return {"lowest": float(values.min()), "mean": float(values.mean()), "highest": float(values.max())}


def spread(values: FloatArray, offsets: LongArray) -> float:
    """The mean over lists of the standard deviation within the list; 0 for a table without lists."""
    sizes = np.diff(offsets)
    filled = sizes > 0
    if not filled.any():
        return 0.0
    starts, sizes = offsets[:-1][filled], sizes[filled]
    centred = values - np.repeat(np.add.reduceat(values, starts) / sizes, sizes)
    return float(np.sqrt(np.add.reduceat(centred**2, starts) / sizes).mean())


def segment_records(table: FeatureTable, segment: int, patterns: Sequence[str] = ()) -> list[dict[str, Any]]:
    """A record for each hypothesis of a segment: its number in the list, from 1, and its features.

    Of the sparse features only those that a hypothesis of the segment has are there. Without a feature that matches a
    pattern there are no records.
    """
    part, _ = table.take_segments([segment])
    present = set(part.sparse.indices.tolist())
    dense = _chosen(part.names, patterns)
    sparse = [column for column in _chosen(part.sparse.names, patterns) if column in present]
    if patterns and not dense and not _chosen(part.sparse.names, patterns):
        return []
    records: list[dict[str, Any]] = []
    for row in range(len(part.values)):
        here = slice(part.sparse.indptr[row], part.sparse.indptr[row + 1])
        own = dict(zip(part.sparse.indices[here].tolist(), part.sparse.data[here].tolist(), strict=True))
        values = {part.names[column]: float(part.values[row, column]) for column in dense}
        values |= {part.sparse.names[column]: own.get(column, 0.0) for column in sparse}
        records.append({"hypothesis": row + 1, **values})
    return records


def overview(table: FeatureTable, records: Sequence[dict[str, Any]], name: str) -> Table:
    """The records of features as a table for people."""
    from rerank_adapters.chain.data import lists_size

    rows = tuple(
        (record["feature"], record["family"], *(number(record[key]) for key in ("lowest", "mean", "highest", "spread")))
        for record in records
    )
    notes = [
        f"{lists_size(table.segments, len(table.values))}; {len(table.names)} dense and {len(table.sparse.names)} "
        "sparse features.",
        "The spread is the mean over lists of the standard deviation within a list.",
    ]
    if any(record["family"] == OTHER for record in records):
        notes.append(f"The family {OTHER!r} came with the lists or was made elsewhere; the others were extracted.")
    return Table(name, ("feature", "family", "lowest", "mean", "highest", "spread"), rows, tuple(notes))


def segment_rows(records: Sequence[dict[str, Any]], title: str) -> Table:
    """The records of a segment as a table for people."""
    header = tuple(records[0]) if records else ("hypothesis",)
    rows = tuple((str(record["hypothesis"]), *(number(record[key]) for key in header[1:])) for record in records)
    return Table(title, header, rows)


def number(value: float | None) -> str:
    """Four significant digits.

    >>> number(-12.34567), number(None)
    ('-12.35', '')
    """
    return "" if value is None else f"{value:.4g}"


@click.command("show")
@click.argument("table", type=Path)
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
    else:
        if segment not in whole.segment_ids:
            raise ConfigError(
                f"{table}: there is no segment {segment!r}{suggestion(segment, whole.segment_ids[:1000])}"
            )
        records = segment_records(whole, whole.segment_ids.index(segment), columns)
        report = segment_rows(records, f"{table.name}: segment {segment}")
    if columns and not records:
        raise ConfigError(f"{table}: no feature matches {', '.join(columns)}{suggestion(columns[0], whole.all_names)}")
    write_records(records, [report], style)
