"""The check of an option that chooses which values a feature has."""

from __future__ import annotations

from collections.abc import Sequence

from rerank_plugins.errors import ConfigError


def check_chosen(values: Sequence[str], possible: Sequence[str]) -> None:
    """Raise ConfigError where no value is chosen, or one twice; `possible` are named in the message."""
    if not values or len(set(values)) < len(values):
        raise ConfigError(f"values = {list(values)}: wanted one or more of {', '.join(possible)}, each once")
