"""Groups of commands whose modules are imported only when a command is used, and to which plugins add commands.

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
from rerank_plugins.core.guests.names import is_ours
from rerank_plugins.core.registry import Registry, suggestion
from rerank_plugins.kit.files.standard_streams import stdout_to_stderr


class LazyGroup(click.Group):
    """A group to which plugins add commands: no name is taken twice, and an unknown one may be a failed plugin's.

    `modules` maps the names of lazy commands to the modules that define them, by `command` or what follows a colon:
    `@click.group("similarity", cls=LazyGroup, modules={"train": "package.train"})`. Help lists these first, and
    imports none of the modules whose `summaries` are given.
    """

    def __init__(
        self, name: str | None = None, *, modules: Mapping[str, str] | None = None,
        summaries: Mapping[str, str] | None = None, **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__(name, **settings)
        self.modules, self.summaries = dict(modules or {}), dict(summaries or {})

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command. Raises PluginError for a name that is taken."""
        command_name = name or cmd.name or ""
        if command_name in self.list_names():
            raise PluginError(f"the command {command_name!r} is there already")
        super().add_command(cmd, name)

    def list_names(self) -> list[str]:
        """Names of the commands: those of `modules`, then those that were added."""
        return [*self.modules, *self.commands]

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names of the commands, in the order in which the help lists them."""
        return self.list_names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported if it is a lazy one."""
        if cmd_name not in self.modules:
            return super().get_command(ctx, cmd_name)
        module, _, name = self.modules[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name or "command")
        return command

    def copy_without_plugins(self) -> LazyGroup:
        """A copy for one run: the subcommands that plugins add to it are not in this group."""
        fresh = copy.copy(self)
        fresh.commands = dict(self.commands)
        return fresh

    def sections(self) -> dict[str, list[str]]:
        """Names of the commands by heading of the help."""
        return {"Commands": self.list_names()}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the name and the whole summary of each command, in columns that are the same under all headings."""
        width = max(map(len, self.list_commands(ctx)), default=0)
        for heading, names in self.sections().items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), self.summary(ctx, name)) for name in names])

    def summary(self, ctx: click.Context, name: str) -> str:
        """The first sentence of a command's help; a lazy command whose summary is given is not imported for it."""
        if name in self.summaries:
            return self.summaries[name]
        command = self.commands.get(name) or self.get_command(ctx, name)
        assert command is not None  # it is one of ours
        return _first_sentence(command)

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


class GroupWithHeadings(LazyGroup):
    """A group whose help lists its built-in commands under headings, and those of plugins under one of their own."""

    OF_PLUGINS = "Commands of plugins"
    has_guests = True  # whether plugins may add commands

    def __init__(self, name: str | None = None, *, headings: tuple[str, ...] = (), **settings: Any) -> None:
        super().__init__(name, **settings)
        self.headings = headings
        self._heading_of: dict[str, str] = {}

    def forget_commands(self) -> None:
        """Remove all commands, built-in or not."""
        for names in (self.commands, self.modules, self.summaries, self._heading_of):
            names.clear()

    def add_lazy_command(self, heading: str, name: str, module: str, summary: str) -> None:
        """Add the `command` of a module, to be imported when it is first used."""
        self.modules[name], self.summaries[name], self._heading_of[name] = module, summary, heading

    def add_group(self, heading: str, group: LazyGroup) -> None:
        """Add a group as a copy, to which plugins may add subcommands for this run alone."""
        self.add_command(group.copy_without_plugins())
        self._heading_of[group.name or ""] = heading

    def subgroup(self, name: str) -> click.Group:
        """The group of that name (`train`, `similarity`, …), for plugins to add commands to. Raises PluginError."""
        group = self.commands.get(name)
        if not isinstance(group, click.Group):
            group_names = [name for name, command in self.commands.items() if isinstance(command, click.Group)]
            raise PluginError(f"no group of commands named {name!r}{suggestion(name, group_names)}")
        return group

    def list_names(self) -> list[str]:
        """Names of the commands in the order of their headings, those of plugins last."""
        return [name for names in self.sections().values() for name in names]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, and then the few options in running text, so that the help fits on a screen."""
        self.format_commands(ctx, formatter)
        records = [record for parameter in self.get_params(ctx) if (record := parameter.get_help_record(ctx))]
        with formatter.section("Options"):
            formatter.write_text(" ".join(f"{names}: {told}" for names, told in records))

    def sections(self) -> dict[str, list[str]]:
        """Names of the commands by heading; headings without commands are left out."""
        by_heading: dict[str, list[str]] = {heading: [] for heading in (*self.headings, self.OF_PLUGINS)}
        for name, heading in self._heading_of.items():
            by_heading[heading].append(name)
        by_heading[self.OF_PLUGINS] += [name for name in self.commands if name not in self._heading_of]
        return {heading: names for heading, names in by_heading.items() if names}


def printing_on_stderr(command: click.Command) -> click.Command:
    """A copy of a command of ours that sends to stderr whatever is printed while it runs; the command of a plugin."""
    callback = command.callback
    if isinstance(command, click.Group) or callback is None or not is_ours(callback):
        return command
    command = copy.copy(command)
    command.callback = stdout_to_stderr()(callback)
    return command


def _first_sentence(command: click.Command) -> str:
    """The first sentence of a command's help; one in which `et al.` stands goes on until a capital letter follows."""
    paragraph = (command.short_help or command.help or "").partition("\n\n")[0]
    return re.split(r"(?<=\.) (?=[A-Z])", " ".join(paragraph.split()))[0]
