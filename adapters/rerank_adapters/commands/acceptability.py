"""`rerank acceptability`: grammaticality; each subcommand is the `command` of a file `acceptability_NAME.py` here."""

from __future__ import annotations

from importlib import import_module

import click

TASKS = ("pairs", "suites", "sentences", "classify", "fit")


class TaskGroup(click.Group):
    """A group that imports a subcommand when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The tasks."""
        return list(TASKS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The subcommand of that name."""
        if cmd_name not in TASKS:
            return None
        command: click.Command = import_module(f"{__package__}.acceptability_{cmd_name}").command
        return command


@click.group("acceptability", cls=TaskGroup)
def command() -> None:
    """Tell acceptable sentences from others, by language models and features.

    \b
    pairs      which of two sentences is better?              BLiMP, or good<TAB>bad[<TAB>phenomenon]
    suites     is a region as surprising as predicted?        SyntaxGym
    sentences  is this sentence acceptable? learn and test    CoLA, or label<TAB>sentence
    classify   judge new sentences, as learnt
    fit        weights for several features together, from pairs

    `rerank negatives` makes bad sentences, for training and tests, from text that is good.

    \b
    rerank acceptability pairs blimp.jsonl --lm news.arpa -f unigram --by phenomenon
    """  # noqa: D301
