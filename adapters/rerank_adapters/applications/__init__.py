"""What the pipeline is put to: one room for each application, with its commands, tasks, file formats and reports.

Applications import the pipeline and what lies below it, never each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerank_plugins.hookspecs import hookimpl

if TYPE_CHECKING:
    import click

COMMANDS = (
    *("training.command", "language_models.score_command", "language_models.surprisal_command"),
    *("language_models.mix_command", "language_models.sample_command", "svs.command"),
    *("completion.command", "similarity.command", "acceptability.command", "negatives.command", "parsing.command"),
)


@hookimpl
def register_commands(cli: click.Group) -> None:
    """Register the commands of the applications.

    Groups are registered as copies, to which plugins may add subcommands for this run alone.
    """
    from importlib import import_module

    from rerank_adapters.commands.lazy_group import LazyGroup

    for name in COMMANDS:
        command = import_module(f"{__name__}.{name}").command
        cli.add_command(command.without_guests() if isinstance(command, LazyGroup) else command)
