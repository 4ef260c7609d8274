"""Makes pseudo-negative examples: pairs of an acceptable sentence and an unacceptable one.

errors     one error inserted into each sentence (Foster et al. 2008)
treebank   agreement, case or word order of any language broken, as a treebank shows them
samples    sentences drawn from an n-gram model, as long as those of a text (Okanohara & Tsujii 2007)
nbest      1-bests of a decoder, paired with references (Och et al. 2004; Cherry & Quirk 2008)
"""

from __future__ import annotations

import click

from rerank_adapters.commands.lazy_group import LazyGroup

MODULES = {name: f"{__package__}.{name}" for name in ("errors", "treebank", "samples", "nbest")}


@click.group("negatives", cls=LazyGroup, modules=MODULES)
def command() -> None:
    """Make unacceptable sentences from good text.

    They are pseudo-negative examples, to train and test models of acceptability.

    \b
    errors     insert one error: a missing, extra, misspelt or wrong word …
    treebank   break a rule that a treebank of any language shows: case, order …
    samples    sentences of the same lengths, drawn from an n-gram model
    nbest      1-best translations of a decoder, paired with references

    All write pairs, good<TAB>bad and details of the change, in a format that `rerank acceptability` reads.

    \b
    rerank negatives errors novel.txt --seed 7 > made.tsv
    rerank acceptability pairs made.tsv -M lm.arpa --by kind
    """  # noqa: D301
