"""`rerank train`: trains models; each subcommand is the `command` of the module beside this one of its name."""

from __future__ import annotations

import click

from rerank_adapters.commands.lazy_group import LazyGroup

MODELS = (
    *("ngram", "word-classes", "dependency-lm", "treelet-lm", "dependency-parser"),
    *("grammar", "hhmm", "svs", "random-indexing", "esa", "missing-words"),
    *("word-alignment", "word-lexicon", "joint-lm", "translation-memory"),
)
MODULES = {name: f"{__package__}.{name.replace('-', '_')}" for name in MODELS}


@click.group("train", cls=LazyGroup, modules=MODULES)
def command() -> None:
    """Train a model from text or treebanks.

    \b
    rerank train ngram news.en.gz novels.en -o lm.ngram --held-out dev.en
    """  # noqa: D301
