"""Trains the models of registered trainers: `rerank train NAME` is made of the trainer NAME."""

from __future__ import annotations

import click

from rerank_adapters.applications.training.trainer_command import trainer_command
from rerank_adapters.commands.lazy_group import LazyGroup
from rerank_plugins.core.registry import Registry


class TrainGroup(LazyGroup):
    """The commands of trainers, in the order in which they are registered, and those that plugins add."""

    def list_names(self) -> list[str]:
        """Names of the commands."""
        return self.list_commands(click.get_current_context(silent=True))

    def list_commands(self, ctx: click.Context | None) -> list[str]:
        """Names of the trainers that are loaded, and of the commands that were added."""
        registry = ctx.find_object(Registry) if ctx else None
        return [*(registry.entries["trainer"] if registry else ()), *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        registry = ctx.find_object(Registry)
        if registry is None or cmd_name not in registry.entries["trainer"]:
            return super().get_command(ctx, cmd_name)
        return trainer_command(registry.get("trainer", cmd_name))


@click.group("train", cls=TrainGroup)
def command() -> None:
    """Train a model from text or treebanks.

    \b
    rerank train ngram news.en.gz novels.en -o lm.ngram --held-out dev.en
    """  # noqa: D301
