"""`rerank acceptability`: grammaticality; each subcommand is the `command` of a module below this package."""

from __future__ import annotations

import click

from rerank_adapters.commands.lazy_group import LazyGroup

MODULES = {
    "pairs": f"{__package__}.pairs.command",
    "suites": f"{__package__}.suites.command",
    "sentences": f"{__package__}.sentences.command",
    "classify": f"{__package__}.sentences.classify_command",
    "fit": f"{__package__}.pairs.fit_command",
}


@click.group("acceptability", cls=LazyGroup, modules=MODULES)
def command() -> None:
    """Tell acceptable sentences from unacceptable ones.

    Language models and features judge.

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
