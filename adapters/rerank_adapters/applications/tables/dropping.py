"""Drops features from a feature table and from its record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from rerank_adapters.applications.tables.families import families, with_columns
from rerank_plugins import ConfigError, FeatureTable
from rerank_plugins.core.registry import suggestion


def drop(table: FeatureTable, features: Sequence[str], name: str) -> tuple[FeatureTable, list[str]]:
    """The table without columns that `features` name, and the labels of which only some columns are left.

    A feature is a label, the name of a column or a pattern of names, dense or sparse. The record of a label goes where
    any of its columns goes: the columns that are left then count as made elsewhere. Raises ConfigError, with the `name`
    of the table, for a feature that it does not have.
    """
    by_label = families(table)
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
