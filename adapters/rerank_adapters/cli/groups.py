"""Groups of commands that are imported when they are used, and to which plugins add commands.

A plugin adds a subcommand by `cli.subgroup("train").add_command(command)` in its `register_commands`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from rerank_adapters.builtin import BUILTIN
from rerank_plugins import PluginError
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.loader import installed_plugins, load_plugins
from rerank_plugins.core.owners import is_ours
from rerank_plugins.core.plugins import Registry
from rerank_plugins.kit.files.standard_streams import stdout_to_stderr

PACKAGE = Path(__file__).parents[1]


def defined_at(place: str) -> Any:
    """What is defined at a place of this package, `module:name`; without a name it is the `command` of the module."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"{PACKAGE.name}.{module}"), name or "command")


def summary_at(place: str) -> str:
    """The first line of the docstring at a place, read from the source, so that a list of commands imports none."""
    module, _, name = place.partition(":")
    path = PACKAGE.joinpath(*module.split("."))
    source = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")
    function = source[source.index(f"\ndef {name or 'command'}(") :]
    return function.split('"""')[1].partition("\n")[0]


class LazyGroup(click.Group):
    """A group of commands that are imported when they are used, and of those that plugins add.

    `lazy` has the place of each command, by its name.
    """

    def __init__(self, name: str | None = None, *, lazy: Mapping[str, str] = {}, **settings: Any) -> None:
        super().__init__(name, **settings)
        self.lazy = dict(lazy)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names of the commands: the lazy ones, then those that were added."""
        return [*self.lazy, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported if it is a lazy one."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        command: click.Command = defined_at(self.lazy[cmd_name])
        return command

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
        except click.UsageError as error:
            if isinstance(ctx.obj, Registry) and ctx.obj.failures:
                message = error.format_message()
                raise PluginError(f"{message[:1].lower()}{message[1:].rstrip('.')}{ctx.obj.left_out()}") from None
            raise
        callback = None if command is None or isinstance(command, click.Group) else command.callback
        if command is not None and callback is not None and is_ours(callback):
            command = copy.copy(command)
            command.callback = stdout_to_stderr()(callback)
        return name, command, rest

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
            return summary_at(self.lazy[name])
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
        trainer_command = defined_at("applications.training.commands:trainer_command")
        command: click.Command = trainer_command(registry.get("trainer", cmd_name))
        return command


class Program(LazyGroup):
    """`rerank`: the commands of the chain, groups, and what plugins add, each under a heading of its own.

    Commands find the registry of all plugins in their context. A group of a plugin counts as one of its commands.
    """

    def __init__(self, name: str | None = None, *, groups: Mapping[str, LazyGroup] = {}, **settings: Any) -> None:
        super().__init__(name, **settings)
        self.commands.update(groups)
        self._groups = list(groups)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands; plugins are loaded for it only where some are not built in."""
        if ctx.params.get("plugin") or installed_plugins():
            self._load(ctx)
        return super().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, which may be a plugin's."""
        self._load(ctx)
        return super().get_command(ctx, cmd_name)

    def _load(self, ctx: click.Context) -> None:
        if ctx.obj is None:
            with stdout_to_stderr():
                ctx.obj = load_plugins(BUILTIN, [Path(file) for file in ctx.params.get("plugin", ())])
                ctx.obj.add_commands(self)
            for failure in ctx.obj.failures:
                click.echo(f"rerank: warning: {failure}", err=True)

    def subgroup(self, name: str) -> click.Group:
        """The group of that name (`train`, `similarity`, …), for plugins to add commands to. Raises PluginError."""
        groups = {name: command for name, command in self.commands.items() if isinstance(command, click.Group)}
        if name not in groups:
            raise PluginError(f"no group of commands named {name!r}{suggestion(name, groups)}")
        return groups[name]

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
