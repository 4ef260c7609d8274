"""Check of the option `values`, by which users choose the components of a feature."""

from __future__ import annotations

from collections.abc import Sequence

from rerank_plugins.core.errors import ConfigError


def check_chosen(values: Sequence[str], possible: Sequence[str]) -> None:
    """Raise ConfigError, which names the `possible` values, if none is chosen or one is chosen twice."""
    if not values or len(set(values)) < len(values):
        raise ConfigError(f"values = {list(values)}: wanted one or more of {', '.join(possible)}, each once")
