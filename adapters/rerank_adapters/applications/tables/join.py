"""`rerank table join` and `drop`: feature tables of the same lists in one, and a table without some of its features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click
import numpy as np

from rerank_adapters.applications.tables.show import label_of, load, with_columns
from rerank_adapters.chain.extract import DESCRIPTIONS, recorded_columns
from rerank_adapters.commands.options import table_output
from rerank_adapters.commands.summary_line import SummaryLine
from rerank_adapters.runtime.progress import counted
from rerank_plugins import ConfigError, FeatureTable, FloatArray, FormatError, SparseBlock
from rerank_plugins.core.registry import Registry, suggestion

PREFIX = "."  # between a prefix and the name of a column
ARRAYS = ("indptr", "indices", "data")  # of a sparse block


def prefixed(table: FeatureTable, prefix: str, first: FeatureTable) -> FeatureTable:
    """The table with its columns named `prefix.name`, but for those of the decoder that `first` has with equal values.

    Labels of extracted features are changed in the same way, so that the columns can still be extracted anew.
    """
    extracted = {name for names in recorded_columns(table).values() for name in names}
    known = dict(zip(first.names, first.values.T, strict=True))
    shared = {
        name
        for name, values in zip(table.names, table.values.T, strict=True)
        if name not in extracted and name in known and np.array_equal(known[name], values)
    }
    names = {name: name if name in shared else f"{prefix}{PREFIX}{name}" for name in table.names}
    return with_columns(table, names, {label: f"{prefix}{PREFIX}{label}" for label in recorded_columns(table)})


def join(tables: Mapping[str, FeatureTable]) -> FeatureTable:
    """One table with the columns of all, whose keys name them in messages; those of the first table come first.

    Segments are matched by their ids, in the order of the first table. A column that several tables have with the same
    values, as those of the decoder, is taken once. What the tables record of the extraction of their features is joined
    too. Raises FormatError, with the name of a table, where the tables are not of the same lists or have different
    values under one name, and ConfigError where they record different text pipelines, parsers or language models under
    one name.
    """
    (first_name, first), *others = tables.items()
    ordered = {name: _in_order(first_name, first, name, table) for name, table in others}
    tables = {first_name: first, **ordered}
    origins: dict[str, str] = {}
    columns: dict[str, FloatArray] = {}
    for name, table in tables.items():
        for column, values in zip(table.names, table.values.T, strict=True):
            if column not in columns:
                origins[column], columns[column] = name, values
            elif not np.array_equal(columns[column], values):
                clash = f"the feature {column!r} has other values than in {origins[column]}"
                raise FormatError(f"{clash}: write PREFIX={name} for names of its own, or drop it", path=name)
    sparse = _joined_sparse(tables)
    if both := columns.keys() & set(sparse.names):
        raise FormatError(f"the feature {min(both)!r} is sparse in another table", path=origins[min(both)])
    values = np.column_stack(list(columns.values())) if columns else first.values
    provenance = _joined_records([table.provenance for table in tables.values()])
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
    prints = {table.provenance.get("lists"), first.provenance.get("lists")} - {None}
    if reorders and len(prints) > 1 and not set(first.names) & set(table.names):
        unknown = "its segments are in another order, and no common feature shows that the hypotheses are the same"
        wanted = f"extract it again from the lists of {first_name}"
        raise FormatError(f"{unknown} as in {first_name}: {wanted}", path=name)
    if len(prints) > 1 and not reorders:
        raise FormatError(f"it is of other lists than {first_name}: texts, features or totals differ", path=name)
    kept = {key: value for key, value in table.provenance.items() if key != "lists" or not reorders}
    return replace(table, provenance=kept)


def _joined_sparse(tables: Mapping[str, FeatureTable]) -> SparseBlock:
    """The sparse features of the tables that have any, which must be the same."""
    blocks = {name: table.sparse for name, table in tables.items() if table.sparse.names}
    if not blocks:
        return next(iter(tables.values())).sparse
    (first_name, first), *others = blocks.items()
    for name, block in others:
        equal = all(np.array_equal(getattr(first, array), getattr(block, array)) for array in ARRAYS)
        if first.names != block.names or not equal:
            raise FormatError(f"its sparse features differ from those of {first_name}", path=name)
    return first


def _joined_records(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The provenance of the joined table; of two values under one key, the first counts."""
    from rerank_adapters.chain.provenance import RECORDED

    joined: dict[str, Any] = {}
    for record in records:
        for key, value in record.items():
            known = joined.get(key)
            if key == DESCRIPTIONS:
                joined[key] = {**value, **(known or {})}
            elif key == RECORDED:
                joined[key] = _joined_jobs(known or {}, value)
            else:
                joined.setdefault(key, value)
    return joined


def _joined_jobs(job: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    joined = dict(job)
    for key, value in other.items():
        known = joined.get(key)
        if key == "feature":
            labels = {label_of(entry) for entry in known or ()}
            joined[key] = [*(known or ()), *(entry for entry in value if label_of(entry) not in labels)]
        elif isinstance(value, list):
            joined[key] = list(dict.fromkeys([*(known or ()), *value]))
        elif isinstance(value, Mapping) and key != "nbest":
            for name, named in value.items():
                if known and known.get(name, named) != named:
                    raise ConfigError(
                        f"two tables record different settings as [{key}] {name}: extract one of them anew"
                    )
            joined[key] = {**value, **(known or {})}
        else:
            joined.setdefault(key, value)
    return joined


@click.command("join")
@click.argument("tables", nargs=-1, required=True, metavar="[PREFIX=]TABLE...")
@table_output
@click.pass_obj
def command(registry: Registry, tables: tuple[str, ...], output: Path) -> None:
    """Join feature tables of the same lists.

    The joined table has the features of all tables. What several tables have with the same values, as the decoder's
    own features, is taken once. Different values under one name are an error: with PREFIX=TABLE, the features of
    a table are called PREFIX.name.

    \b
    rerank table join tune.npz comet.npz -o all.npz
    rerank table join tune.npz big=nmt1.npz small=nmt2.npz -o all.npz
    """  # noqa: D301
    from rerank_adapters.chain.data import lists_size

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


def drop(table: FeatureTable, features: Sequence[str], name: str) -> tuple[FeatureTable, list[str]]:
    """The table without columns that `features` name, and the labels of which only some columns are left.

    A feature is a label, the name of a column or a pattern of names, dense or sparse. The record of a label goes where
    any of its columns goes: the columns that are left then count as made elsewhere. Raises ConfigError, with the `name`
    of the table, for a feature that it does not have.
    """
    by_label = recorded_columns(table)
    dropped: set[str] = set()
    for feature in features:
        columns = set(by_label.get(feature, ()))
        columns |= {column for column in table.all_names if fnmatchcase(column, feature)}
        if not columns:
            known = [*by_label, *table.all_names]
            raise ConfigError(f"{name}: there is no feature {feature!r}{suggestion(feature, known)}")
        dropped |= columns
    names = {column: column for column in table.names if column not in dropped}
    labels = {label: label for label, columns in by_label.items() if not dropped.intersection(columns)}
    halved = [label for label, columns in by_label.items() if label not in labels and names.keys() & set(columns)]
    kept = with_columns(table, names, labels)
    if dropped.intersection(table.sparse.names):
        sparse = table.sparse.renamed([column for column in table.sparse.names if column not in dropped])
        kept = replace(kept, sparse=sparse)
    return kept, halved


@click.command("drop")
@click.argument("table", type=Path)
@click.argument("features", nargs=-1, required=True, metavar="FEATURE...")
@table_output
@click.pass_obj
def drop_features(registry: Registry, table: Path, features: tuple[str, ...], output: Path) -> None:
    """Drop features from a TABLE.

    The command reads a table of `rerank extract` and writes to -o the same table without the named columns. A FEATURE
    is a label, which stands for all its columns, the name of a column, or a pattern of names in quotes. Sparse features
    may be named too. `rerank table show` lists the columns of a table.

    \b
    rerank table drop all.npz consensus lm.oovs 'nmt.*' -o fewer.npz
    """  # noqa: D301
    summary_line = SummaryLine()
    whole = load(table, registry, output.parent)
    kept, halved = drop(whole, features, str(table))
    for label in halved:
        click.echo(
            f"rerank: only some features of {label!r} are left: `apply` takes them from a table, and extracts none",
            err=True,
        )
    kept.save(output)
    dropped = len(whole.all_names) - len(kept.all_names)
    summary_line.wrote(f"{counted(len(kept.all_names), 'feature')} ({dropped} dropped)", output)
