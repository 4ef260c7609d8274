"""`rerank table join`: feature tables of the same lists in one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from rerank_adapters.cli.options import SummaryLine, table_output
from rerank_adapters.features.tables import DESCRIPTIONS, RECORDED, recorded_columns
from rerank_adapters.job.job import Job
from rerank_adapters.runtime.progress import counted
from rerank_plugins import ConfigError, FeatureTable, FloatArray, FormatError, SparseBlock
from rerank_plugins.core.plugins import Registry


def load(path: Path, registry: Registry, folder: Path) -> FeatureTable:
    """The table at `path`, whose record names its files relative to `folder`. Raises FormatError, ConfigError."""
    table = FeatureTable.load(path)
    if RECORDED not in table.provenance:
        return table
    record = Job.of_record(table.provenance, path, registry).record(folder, "feature")
    return replace(table, provenance={**table.provenance, RECORDED: record})


def prefixed(table: FeatureTable, prefix: str, first: FeatureTable) -> FeatureTable:
    """The table with its columns named `prefix.name`, but for those of the decoder that `first` has with equal values.

    Labels of extracted features are changed in the same way, so that the columns can still be extracted anew.
    """
    known = dict(zip(first.names, first.values.T, strict=True))
    extracted = {name for names in recorded_columns(table).values() for name in names}
    names = [
        name if name not in extracted and name in known and np.array_equal(known[name], values) else f"{prefix}.{name}"
        for name, values in zip(table.names, table.values.T, strict=True)
    ]
    provenance = dict(table.provenance)
    if DESCRIPTIONS in provenance:
        provenance[DESCRIPTIONS] = {f"{prefix}.{label}": how for label, how in provenance[DESCRIPTIONS].items()}
    if "feature" in provenance.get(RECORDED, {}):
        features = [{**entry, "label": f"{prefix}.{_label(entry)}"} for entry in provenance[RECORDED]["feature"]]
        provenance[RECORDED] = {**provenance[RECORDED], "feature": features}
    return replace(table, names=tuple(names), provenance=provenance)


def join(tables: Mapping[str, FeatureTable]) -> FeatureTable:
    """One table with the columns of all, whose keys name them in messages; those of the first table come first.

    Segments are matched by their ids, in the order of the first table. A column that several tables have with the same
    values, such as those of the decoder, is taken once. The records of the extraction of their features are joined
    too. Raises FormatError, with the name of a table, where the tables are not of the same lists or have different
    values under one name.
    """
    first_name, first = next(iter(tables.items()))
    origins: dict[str, str] = {}
    columns: dict[str, FloatArray] = {}
    sparse, origin_of_sparse = first.sparse, first_name
    provenance = dict(first.provenance)
    for name, table in tables.items():
        if table is not first:
            table = _in_order(first_name, first, name, table)
            provenance = _joined_records(provenance, table.provenance)
        for column, values in zip(table.names, table.values.T, strict=True):
            if not np.array_equal(columns.setdefault(column, values), values):
                clash = f"the feature {column!r} has other values than in {origins[column]}"
                raise FormatError(f"{clash}: write PREFIX={name} for names of its own", path=name)
            origins.setdefault(column, name)
        if not sparse.names:
            sparse, origin_of_sparse = table.sparse, name
        elif table.sparse.names and not _same_sparse(table, sparse):
            raise FormatError(f"its sparse features differ from those of {origin_of_sparse}", path=name)
    if both := columns.keys() & set(sparse.names):
        raise FormatError(f"the feature {min(both)!r} is sparse in another table", path=origins[min(both)])
    values = np.column_stack(list(columns.values())) if columns else first.values
    return replace(first, names=tuple(columns), values=values, sparse=sparse, provenance=provenance)


def _in_order(first_name: str, first: FeatureTable, name: str, table: FeatureTable) -> FeatureTable:
    """The table with its segments in the order of the first one.

    Raises FormatError where the tables are of other lists. In another order, what both record of their lists cannot be
    compared. Then a column that both have must show that the lists are the same.
    """
    rows = {id_: row for row, id_ in enumerate(table.segment_ids)}
    reorders = first.segment_ids != table.segment_ids and rows.keys() == set(first.segment_ids)
    if reorders:
        table, _ = table.take_segments([rows[id_] for id_ in first.segment_ids])
    if first.segment_ids != table.segment_ids or not np.array_equal(first.offsets, table.offsets):
        sizes = f"{table.segments} segments and {len(table.values)} hypotheses"
        wanted = f"those of {first_name}, {first.segments} segments and {len(first.values)} hypotheses"
        raise FormatError(f"it is of other lists: found {sizes}, wanted {wanted}", path=name)
    if len({table.provenance.get("lists"), first.provenance.get("lists")} - {None}) > 1:
        if not reorders:
            raise FormatError(f"it is of other lists than {first_name}: texts, features or totals differ", path=name)
        if not set(first.names) & set(table.names):
            unknown = "its segments are in another order, and no common feature shows that the hypotheses are the same"
            wanted = f"extract it again from the lists of {first_name}"
            raise FormatError(f"{unknown} as in {first_name}: {wanted}", path=name)
    kept = {key: value for key, value in table.provenance.items() if key != "lists" or not reorders}
    return replace(table, provenance=kept)


def _same_sparse(table: FeatureTable, sparse: SparseBlock) -> bool:
    """Whether the sparse features of the table are these."""
    own = table.sparse
    arrays = ((own.indptr, sparse.indptr), (own.indices, sparse.indices), (own.data, sparse.data))
    return own.names == sparse.names and all(np.array_equal(one, other) for one, other in arrays)


def _joined_records(record: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """The records of both extractions; of two values under one key, the first counts."""
    joined = {**other, **record}
    if DESCRIPTIONS in other:
        joined[DESCRIPTIONS] = {**other[DESCRIPTIONS], **record.get(DESCRIPTIONS, {})}
    if RECORDED in other:
        joined[RECORDED] = _joined_jobs(record.get(RECORDED, {}), other[RECORDED])
    return joined


def _joined_jobs(job: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of both jobs: the features, plugin files and distributions of both, the rest of the first."""
    joined = {**other, **job}
    for key in job.keys() & other.keys():
        mine, theirs = job[key], other[key]
        if key == "feature":
            labels = {_label(entry) for entry in mine}
            joined[key] = [*mine, *(entry for entry in theirs if _label(entry) not in labels)]
        elif isinstance(theirs, list):
            joined[key] = [*mine, *(item for item in theirs if item not in mine)]
    return joined


def _label(entry: Mapping[str, Any]) -> str:
    """The label of a recorded `[[feature]]` table."""
    return str(entry.get("label", entry.get("use", "")))


@click.command("join")
@click.argument("tables", nargs=-1, required=True, type=click.Path(), metavar="[PREFIX=]TABLE...")
@table_output
@click.pass_obj
def command(registry: Registry, tables: tuple[str, ...], output: Path) -> None:
    """Join feature tables of the same lists.

    The joined table has the features of all tables. A feature of several tables with the same values, such as one of
    the decoder, is taken once. Different values under one name are an error: with PREFIX=TABLE, the features of a table
    are called PREFIX.name.

    \b
    rerank table join tune.npz comet.npz -o all.npz
    rerank table join tune.npz big=nmt1.npz small=nmt2.npz -o all.npz
    """  # noqa: D301
    from rerank_adapters.data.dataset import lists_size

    summary_line = SummaryLine()
    loaded: dict[str, FeatureTable] = {}
    for argument in tables:
        prefix, _, name = argument.rpartition("=") if not Path(argument).exists() else ("", "", argument)
        if argument in loaded:
            raise ConfigError(f"{name}: the table is named twice")
        table = load(Path(name), registry, output.parent)
        if prefix:
            table = prefixed(table, prefix, next(iter(loaded.values()), table))
        loaded[argument if name in loaded else name] = table
    joined = join(loaded)
    joined.save(output)
    size = lists_size(joined.segments, len(joined.values))
    summary_line.wrote(f"{counted(len(joined.all_names), 'feature')} of {size}", output)
