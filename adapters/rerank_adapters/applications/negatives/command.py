"""`rerank negatives`: bad sentences from good ones; each subcommand is the `command` of a module beside this one."""

from __future__ import annotations

import click

from rerank_adapters.commands.lazy_group import LazyGroup

MODULES = {kind: f"{__package__}.{kind}_command" for kind in ("errors", "samples", "nbest")}


@click.group("negatives", cls=LazyGroup, modules=MODULES)
def command() -> None:
    """Make unacceptable sentences from good text.

    They are pseudo-negative examples, for tests and training of models of grammaticality.

    \b
    errors     one error in each sentence: a word missing, extra, misspelt, in a wrong form …
    samples    sentences of an n-gram model, as long as those of the text
    nbest      a decoder's 1-bests beside references

    All write pairs, good<TAB>bad and what was done, that `rerank acceptability` reads.

    \b
    rerank negatives errors novel.txt --seed 7 > made.tsv
    rerank acceptability pairs made.tsv --lm lm.arpa --by kind
    """  # noqa: D301
