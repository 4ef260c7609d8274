"""A group of subcommands, each the `command` of a file GROUP_NAME.py beside this one, imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """`@click.group("train", cls=LazyGroup, names=("ngram", "dependency-lm"))`: train_ngram.py, train_dependency_lm.py.

    Help lists the subcommands in the order of `names`; hyphens are underscores in the names of files.
    """

    def __init__(self, name: str, *, names: tuple[str, ...], **settings: Any) -> None:
        super().__init__(name, **settings)
        self.names = names

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names."""
        return list(self.names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The subcommand of that name."""
        if cmd_name not in self.names:
            return None
        file = f"{self.name}_{cmd_name}".replace("-", "_")
        command: click.Command = import_module(f"{__package__}.{file}").command
        return command
