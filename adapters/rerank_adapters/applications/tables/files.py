"""Loads feature tables that are to be written to another folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rerank_adapters.chain.provenance import EXTRACTING, RECORDED, recorded_job, recorded_tables
from rerank_plugins import FeatureTable
from rerank_plugins.core.registry import Registry


def load(path: Path, registry: Registry, folder: Path) -> FeatureTable:
    """The table at `path`, whose record names its files relative to `folder`. Raises FormatError, ConfigError."""
    table = FeatureTable.load(path)
    if RECORDED not in table.provenance:
        return table
    record = recorded_tables(recorded_job(table.provenance, path, registry), folder, *EXTRACTING)
    return replace(table, provenance={**table.provenance, RECORDED: record})
