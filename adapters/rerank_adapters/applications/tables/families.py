"""The families of features in a table (the columns of each extracted feature, by its label), and tables as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from rerank_adapters.commands.options import output_file
from rerank_plugins import ConfigError, FeatureTable
from rerank_plugins.core.registry import Registry


def _table_file(value: str) -> Path:
    if value == "-":
        raise ConfigError("a feature table is written to a file, not to stdout: wanted -o TABLE.npz")
    return output_file(value)


def table_output(command: Callable[..., Any]) -> Callable[..., Any]:
    """`-o`: the feature table to write."""
    return click.option(
        "-o", "--output", type=_table_file, required=True, metavar="TABLE",
        help="Write the feature table to this file (.npz).",
    )(command)  # fmt: skip


def load(path: Path, registry: Registry, folder: Path) -> FeatureTable:
    """The table at `path`, whose record names its files relative to `folder`. Raises FormatError, ConfigError."""
    from rerank_adapters.chain.provenance import EXTRACTING, RECORDED, recorded_job, recorded_tables

    table = FeatureTable.load(path)
    if RECORDED not in table.provenance:
        return table
    record = recorded_tables(recorded_job(table.provenance, path, registry), folder, *EXTRACTING)
    return replace(table, provenance={**table.provenance, RECORDED: record})


def families(table: FeatureTable) -> dict[str, list[str]]:
    """By label, the columns of the table that were extracted for it; other columns belong to no family."""
    from rerank_adapters.chain.extraction.value_cache import FEATURES

    described: Mapping[str, Any] = table.provenance.get(FEATURES, {})
    return {label: columns_of(label, described[label]["components"]) for label in described}


def columns_of(label: str, components: list[str]) -> list[str]:
    """The names of the columns of a label."""
    return [f"{label}.{component}" if component else label for component in components]


def label_of(entry: Mapping[str, Any]) -> str:
    """The label of a recorded `[[feature]]` table."""
    return str(entry.get("label", entry.get("use", "")))


def recorded_entries(table: FeatureTable) -> list[dict[str, Any]]:
    """The `[[feature]]` tables that the table records."""
    from rerank_adapters.chain.provenance import RECORDED

    return list(table.provenance.get(RECORDED, {}).get("feature", []))


def with_columns(table: FeatureTable, names: Mapping[str, str], labels: Mapping[str, str]) -> FeatureTable:
    """The table with some of its dense columns and recorded labels, by their old names, under new names."""
    from rerank_adapters.chain.extraction.value_cache import FEATURES
    from rerank_adapters.chain.provenance import RECORDED

    described = table.provenance.get(FEATURES, {})
    provenance = dict(table.provenance)
    if FEATURES in provenance:
        provenance[FEATURES] = {labels[label]: how for label, how in described.items() if label in labels}
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
