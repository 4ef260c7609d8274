"""Judges acceptability by language models and features: minimal pairs, single sentences, test suites."""

from __future__ import annotations

import click

from rerank_adapters.commands.lazy_group import LazyGroup

MODULES = {
    "pairs": f"{__package__}.pairs",
    "suites": f"{__package__}.suites",
    "sentences": f"{__package__}.sentences",
    "classify": f"{__package__}.classify",
}


@click.group("acceptability", cls=LazyGroup, modules=MODULES)
def command() -> None:
    """Judge whether sentences are acceptable.

    Language models and features judge them.

    \b
    pairs      prefer one of two sentences (BLiMP, or good<TAB>bad)
    suites     test predictions about surprisal (SyntaxGym)
    sentences  train and test a classifier (CoLA, or label<TAB>sentence)
    classify   judge new sentences with a trained classifier

    `rerank negatives` derives unacceptable sentences from acceptable text, for training and tests.

    \b
    rerank acceptability pairs blimp.jsonl -M news.arpa -f unigram --by phenomenon
    """  # noqa: D301
