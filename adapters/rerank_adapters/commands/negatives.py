"""`rerank negatives`: bad sentences from good ones; each subcommand is the `command` of a file `negatives_KIND.py`."""

from __future__ import annotations

from importlib import import_module

import click

KINDS = ("errors", "samples", "nbest")


class KindGroup(click.Group):
    """A group that imports a subcommand when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The kinds of pseudo-negative examples."""
        return list(KINDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The subcommand of that name."""
        if cmd_name not in KINDS:
            return None
        command: click.Command = import_module(f"{__package__}.negatives_{cmd_name}").command
        return command


@click.group("negatives", cls=KindGroup)
def command() -> None:
    """Make bad sentences from good text: pseudo-negative examples, for tests and training of grammaticality.

    \b
    errors     one error in each sentence: a word missing, extra, misspelt, in a wrong form …
    samples    sentences of an n-gram model, as long as those of the text
    nbest      a decoder's 1-bests beside references

    All write pairs, good<TAB>bad and what was done, that `rerank acceptability` reads.

    \b
    rerank negatives errors novel.txt --seed 7 > made.tsv
    rerank acceptability pairs made.tsv --lm lm.arpa --by kind
    """  # noqa: D301
