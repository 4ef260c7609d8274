"""Options that the commands of `rerank table` share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from rerank_adapters.commands.options import output_file
from rerank_plugins import ConfigError


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
