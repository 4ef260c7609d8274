"""A group of subcommands, each the `command` of a module that is imported only when the subcommand is asked for.

Plugins may add subcommands of their own: `cli.subgroup("train").add_command(command)` in `register_commands`.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from rerank_plugins import PluginError
from rerank_plugins.plugins import Registry


class GroupOfPlugins(click.Group):
    """A group that plugins add commands to: no name is taken twice, an unknown one may be that of a failed plugin."""

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command. Raises PluginError for a name that is taken."""
        known = name or cmd.name or ""
        if known in self.list_names():
            raise PluginError(f"the command {known!r} is there already")
        super().add_command(cmd, name)

    def list_names(self) -> list[str]:
        """Names of the commands that are there."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named. Raises PluginError for an unknown one where plugins could not be loaded."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if isinstance(ctx.obj, Registry) and ctx.obj.failures:
                said = error.format_message()
                raise PluginError(f"{said[:1].lower()}{said[1:].rstrip('.')}{ctx.obj.left_out()}") from None
            raise


class LazyGroup(GroupOfPlugins):
    """`@click.group("train", cls=LazyGroup, modules={"ngram": "package.ngram_command"})`.

    `modules` maps the names of subcommands to the modules that define them, each by its `command`. Help lists the
    subcommands in this order, then those of plugins.
    """

    def __init__(self, name: str, *, modules: Mapping[str, str], **settings: Any) -> None:
        super().__init__(name, **settings)
        self.modules = modules

    def without_guests(self) -> LazyGroup:
        """A copy without the subcommands of plugins."""
        fresh = copy.copy(self)
        fresh.commands = {}
        return fresh

    def list_names(self) -> list[str]:
        """Our names, then those of plugins."""
        return [*self.modules, *self.commands]

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The same."""
        return self.list_names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand of that name."""
        if cmd_name not in self.modules:
            return super().get_command(ctx, cmd_name)
        command: click.Command = import_module(self.modules[cmd_name]).command
        return command
