"""`rerank negatives`: unacceptable sentences; each subcommand is the `command` of a module of this package."""

from __future__ import annotations

import click

from rerank_adapters.commands.lazy_group import LazyGroup

MODULES = {kind: f"{__package__}.{kind}_command" for kind in ("errors", "phenomena", "samples", "nbest")}


@click.group("negatives", cls=LazyGroup, modules=MODULES)
def command() -> None:
    """Make unacceptable sentences from good text.

    They are pseudo-negative examples, to train and test models of grammaticality.

    \b
    errors     one error in each sentence: a word is missing, extra, misspelt, in a wrong form …
    phenomena  a rule of grammar is broken: agreement, binding, islands, polarity items …
    samples    sentences drawn from an n-gram model, as long as those of the text
    nbest      1-best translations of a decoder, paired with references

    All write pairs, good<TAB>bad and details of the change, in a format that `rerank acceptability` reads.

    \b
    rerank negatives errors novel.txt --seed 7 > made.tsv
    rerank acceptability pairs made.tsv --lm lm.arpa --by kind
    """  # noqa: D301
