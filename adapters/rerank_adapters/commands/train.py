"""`rerank train`: models from data; each subcommand is the `command` of a file `train_NAME.py` beside this one."""

from __future__ import annotations

from importlib import import_module

import click

MODELS = (
    "ngram",
    "word-classes",
    "dependency-lm",
    "treelet-lm",
    "dependency-parser",
    "grammar",
    "hhmm",
    "random-indexing",
)


class TrainGroup(click.Group):
    """A group that imports a subcommand when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The kinds of models."""
        return list(MODELS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The subcommand of that name."""
        if cmd_name not in MODELS:
            return None
        command: click.Command = import_module(f"{__package__}.train_{cmd_name.replace('-', '_')}").command
        return command


@click.group("train", cls=TrainGroup)
def command() -> None:
    """Train a model from text or treebanks.

    \b
    rerank train ngram news.en.gz novels.en -o lm.ngram --held-out dev.en
    """  # noqa: D301
