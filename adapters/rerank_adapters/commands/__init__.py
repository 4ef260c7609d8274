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
    """Register the built-in commands; groups as copies, to which plugins may add subcommands for this run alone."""
    from importlib import import_module

    from rerank_adapters.commands.lazy_group import LazyGroup

    for name in ORDER:
        command = import_module(f"rerank_adapters.commands.{name}").command
        cli.add_command(command.without_guests() if isinstance(command, LazyGroup) else command)
