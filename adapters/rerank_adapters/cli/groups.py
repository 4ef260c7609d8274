"""Groups of commands that are imported when they are used, and to which plugins add commands.

A plugin adds a subcommand by `cli.subgroup("train").add_command(command)` in its `register_commands`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from rerank_plugins import PluginError
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.owners import is_ours
from rerank_plugins.core.plugins import Registry
from rerank_plugins.kit.files.standard_streams import stdout_to_stderr


def defined_at(place: str) -> Any:
    """What is defined at a place of this package, `module:name`; without a name it is the `command` of the module."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"rerank_adapters.{module}"), name or "command")


class LazyGroup(click.Group):
    """A group of commands that are imported when they are used, and of those that plugins add.

    `lazy` has the place and the summary of each command, by its name.
    """

    def __init__(
        self, name: str | None = None, *, lazy: Mapping[str, tuple[str, str]] | None = None, **settings: Any
    ) -> None:
        super().__init__(name, **settings)
        self.lazy = dict(lazy or {})

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names of the commands: the lazy ones, then those that were added."""
        return [*self.lazy, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported if it is a lazy one."""
        if cmd_name in self.lazy:
            command: click.Command = defined_at(self.lazy[cmd_name][0])
            return command
        return super().get_command(ctx, cmd_name)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command. Raises PluginError for a name that is taken."""
        command_name = name or cmd.name or ""
        if command_name in self.list_commands(click.get_current_context(silent=True) or click.Context(self)):
            raise PluginError(f"a command named {command_name!r} already exists")
        super().add_command(cmd, name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named, and its arguments. While one of ours runs, stdout has its data alone.

        Raises PluginError for an unknown command where plugins could not be loaded.
        """
        try:
            name, command, rest = super().resolve_command(ctx, args)
            return name, command and printing_on_stderr(command), rest
        except click.UsageError as error:
            if isinstance(ctx.obj, Registry) and ctx.obj.failures:
                message = error.format_message()
                raise PluginError(f"{message[:1].lower()}{message[1:].rstrip('.')}{ctx.obj.left_out()}") from None
            raise

    def headings(self, ctx: click.Context) -> dict[str, list[str]]:
        """Names of the commands by heading of the help."""
        return {"Commands": self.list_commands(ctx)}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the name and the whole summary of each command, in columns that are the same under all headings."""
        headings = self.headings(ctx)
        width = max((len(name) for names in headings.values() for name in names), default=0)
        for heading, names in headings.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), self._summary(ctx, name)) for name in names])

    def _summary(self, ctx: click.Context, name: str) -> str:
        """The first sentence of a command's help; one in which `et al.` stands goes on until a capital letter."""
        if name in self.lazy:
            return self.lazy[name][1]
        command = self.commands.get(name) or self.get_command(ctx, name)
        assert command is not None  # it is one of ours
        paragraph = (command.short_help or command.help or "").partition("\n\n")[0]
        return re.split(r"(?<=\.) (?=[A-Z])", " ".join(paragraph.split()))[0]


class TrainGroup(LazyGroup):
    """The commands of trainers, in the order in which they are registered, and those that plugins add."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the trainers that are loaded, and of the commands that were added."""
        registry = ctx.find_object(Registry)
        return [*(registry.entries["trainer"] if registry else ()), *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        registry = ctx.find_object(Registry)
        if registry is None or cmd_name not in registry.entries["trainer"]:
            return super().get_command(ctx, cmd_name)
        entry = registry.get("trainer", cmd_name)
        command: click.Command = defined_at("applications.training.commands:trainer_command")(entry)
        return command


class GroupWithHeadings(LazyGroup):
    """A group whose help lists lazy commands, groups, and what plugins add under headings of their own.

    A group that plugins add counts as one of their commands.
    """

    def __init__(
        self, name: str | None = None, *, groups: Mapping[str, LazyGroup] | None = None, **settings: Any
    ) -> None:
        super().__init__(name, **settings)
        self.commands.update(groups or {})
        self._groups = list(groups or {})

    def subgroup(self, name: str) -> click.Group:
        """The group of that name (`train`, `similarity`, …), for plugins to add commands to. Raises PluginError."""
        group = self.commands.get(name)
        if not isinstance(group, click.Group):
            group_names = [name for name, command in self.commands.items() if isinstance(command, click.Group)]
            raise PluginError(f"no group of commands named {name!r}{suggestion(name, group_names)}")
        return group

    def headings(self, ctx: click.Context) -> dict[str, list[str]]:
        """Names of the commands by heading; those of plugins come last, if there are any."""
        added = [name for name in self.list_commands(ctx) if name not in (*self.lazy, *self._groups)]
        headings = {"The chain": [*self.lazy], "Groups by task": self._groups, "Commands of plugins": added}
        return {heading: names for heading, names in headings.items() if names}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, and then the few options in running text, so that the help fits on a screen."""
        self.format_commands(ctx, formatter)
        records = [record for parameter in self.get_params(ctx) if (record := parameter.get_help_record(ctx))]
        with formatter.section("Options"):
            formatter.write_text(" ".join(f"{names}: {told}" for names, told in records))


def printing_on_stderr(command: click.Command) -> click.Command:
    """A copy of a command of ours that sends to stderr whatever is printed while it runs; the command of a plugin."""
    callback = command.callback
    if isinstance(command, click.Group) or callback is None or not is_ours(callback):
        return command
    command = copy.copy(command)
    command.callback = stdout_to_stderr()(callback)
    return command
