"""The commands of the chain, one a file, registered through the same hook as those of a plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerank_plugins.hookspecs import hookimpl

if TYPE_CHECKING:
    import click

ORDER = (
    *("run", "check", "extract", "tune", "cross_validate", "apply", "evaluate"),
    *("merge", "weights", "text", "plugins", "cache"),
)


@hookimpl
def register_commands(cli: click.Group) -> None:
    """Register the commands of the chain."""
    from importlib import import_module

    for name in ORDER:
        cli.add_command(import_module(f"{__name__}.{name}").command)
