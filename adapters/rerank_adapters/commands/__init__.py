"""The commands of `rerank`, one a file, registered through the same hook as a plugin's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerank_plugins.hookspecs import hookimpl

if TYPE_CHECKING:
    import click

ORDER = (
    *("run", "check", "extract", "tune", "cross_validate", "apply", "evaluate"),
    *("train", "score", "surprisal", "mix", "sample", "svs"),
    *("complete", "similarity", "acceptability", "negatives", "parse", "merge", "weights", "text", "plugins", "cache"),
)


@hookimpl
def register_commands(cli: click.Group) -> None:
    """Register the built-in commands."""
    from importlib import import_module

    for name in ORDER:
        cli.add_command(import_module(f"rerank_adapters.commands.{name}").command)
