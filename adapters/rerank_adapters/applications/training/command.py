"""`rerank train`: trains models; each subcommand is made of a registered trainer."""

from __future__ import annotations

import click

from rerank_adapters.applications.training.trainer_command import trainer_command
from rerank_adapters.commands.lazy_group import LazyGroup
from rerank_plugins.core.registry import Registry

MODELS = ("dependency-lm", "treelet-lm", "dependency-parser", "grammar", "hhmm", "svs")
MODULES = {name: f"{__package__}.{name.replace('-', '_')}" for name in MODELS}


class TrainGroup(LazyGroup):
    """The commands of trainers, in the order in which they are registered, and those that plugins add."""

    def list_names(self) -> list[str]:
        """Names of the commands."""
        return [*dict.fromkeys([*super().list_names(), *_trainers()])]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        registry = ctx.find_object(Registry)
        if registry is None or cmd_name not in registry.entries["trainer"]:
            return super().get_command(ctx, cmd_name)
        return trainer_command(registry.get("trainer", cmd_name))


def _trainers() -> list[str]:
    """Names of the registered trainers; none before plugins are loaded."""
    context = click.get_current_context(silent=True)
    registry = context.find_object(Registry) if context else None
    return list(registry.entries["trainer"]) if registry else []


@click.group("train", cls=TrainGroup, modules=MODULES)
def command() -> None:
    """Train a model from text or treebanks.

    \b
    rerank train ngram news.en.gz novels.en -o lm.ngram --held-out dev.en
    """  # noqa: D301
