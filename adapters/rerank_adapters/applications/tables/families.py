"""Finds the families of features in a table: the columns of each extracted feature, by its label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rerank_adapters.chain.extract import DESCRIPTIONS
from rerank_adapters.chain.provenance import RECORDED
from rerank_plugins import FeatureTable


def families(table: FeatureTable) -> dict[str, list[str]]:
    """By label, the columns of the table that were extracted for it; other columns belong to no family."""
    described: Mapping[str, Any] = table.provenance.get(DESCRIPTIONS, {})
    return {label: columns_of(label, described[label]["components"]) for label in described}


def columns_of(label: str, components: list[str]) -> list[str]:
    """The names of the columns of a label."""
    return [f"{label}.{component}" if component else label for component in components]


def label_of(entry: Mapping[str, Any]) -> str:
    """The label of a recorded `[[feature]]` table."""
    return str(entry.get("label", entry.get("use", "")))


def recorded_entries(table: FeatureTable) -> list[dict[str, Any]]:
    """The `[[feature]]` tables that the table records."""
    return list(table.provenance.get(RECORDED, {}).get("feature", []))


def with_columns(table: FeatureTable, names: Mapping[str, str], labels: Mapping[str, str]) -> FeatureTable:
    """The table with some of its dense columns and recorded labels, by their old names, under new names."""
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
