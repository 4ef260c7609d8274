"""Scores how alike two sentences are, by systems trained on scored pairs (Wu et al. 2013)."""

from __future__ import annotations

import click

from rerank_adapters.commands.lazy_group import LazyGroup

MODULES = {
    "train": f"{__package__}.train",
    "apply": f"{__package__}.scores:apply",
    "evaluate": f"{__package__}.scores:evaluate",
}


@click.group("similarity", cls=LazyGroup, modules=MODULES)
def command() -> None:
    """Score how alike in meaning two sentences are.

    Scores are those that people would give (0 to 5 in the STS tasks).

    \b
    train     learn from scored pairs how to combine measures
    apply     score pairs
    evaluate  correlation of the scores with people's

    Files of pairs: score<TAB>sentence<TAB>sentence, sentence<TAB>sentence[<TAB>score], or CSV as the STS benchmark has.

    \b
    rerank similarity train onwn=OnWN.tsv news=SMTnews.tsv \\
        --vectors news.ri -o model.sim
    rerank similarity apply pairs.tsv -M model.sim
    rerank similarity evaluate headlines.tsv --measure tfidf.stems
    """  # noqa: D301
