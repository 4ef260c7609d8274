"""`rerank train grammar`: trains a probabilistic context-free grammar on bracketed trees."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from rerank_adapters.applications.training.grammar_options import HELD_OUT, GrammarFlags, grammar_options
from rerank_adapters.applications.training.reports import echo_parseval, say
from rerank_adapters.commands.closing import Closing, size_text


@click.command("grammar")
@grammar_options
@click.option("--binarise", type=click.Choice(["right", "left", "head"]), default="right", show_default=True,
              help="Direction in which rules of more than two children are binarised.")  # fmt: skip
@click.option("--horizontal", type=click.IntRange(0), default=0, show_default=True,
              help="Number of siblings in the names of intermediate symbols.")  # fmt: skip
@click.option("--vertical", type=click.IntRange(1), default=1, show_default=True,
              help="Vertical Markov order: with 2, phrases are annotated with their parent.")  # fmt: skip
@click.option("--annotations", default="", metavar="NAMES",
              help="State splits: tag-pa,base-np,…, or klein-manning for all of them.")  # fmt: skip
@HELD_OUT
def command(
    flags: GrammarFlags,
    binarise: Literal["right", "left", "head"],
    horizontal: int,
    vertical: int,
    annotations: str,
    held_out: tuple[Path, ...],
) -> None:
    """Train a grammar on FILEs of Penn-style brackets (compressed or not).

    Function tags and traces are removed. Latent splits (Petrov et al. 2006) make the best parser; `--splits 0` gives
    the treebank grammar of the binarised trees. Tagged words (`--tagged`) reduce the number of unknown words. Commands
    that take a parser or a language model use the grammar as `pcfg,model=MODEL`.

    \b
    rerank train grammar train.ptb --language en -o english.pcfg
    rerank train grammar train.ptb --tagged web.conllu --weight web.conllu=0.5 \\
        --language en -o english.pcfg
    rerank train grammar news.ptb papers.ptb.xz --weight papers.ptb.xz=0.3 \\
        --splits 5 --language en -o mixed.pcfg
    rerank train grammar train.ptb --splits 0 --binarise head --horizontal 1 \\
        --annotations klein-manning --language en -o km.pcfg
    """  # noqa: D301
    from rerank_adapters.applications.training import treebanks
    from rerank_plugins.constituency.annotation import named
    from rerank_plugins.constituency.training import GrammarSettings

    closing = Closing()
    names = tuple(name.strip() for name in annotations.split(",") if name.strip())
    named(names)
    settings = GrammarSettings(flags.language, binarise, horizontal, vertical, names, flags.schedule)
    grammar, size = treebanks.train_and_write(flags, settings, say)
    say(treebanks.grammar_summary(grammar))
    for path in held_out:
        echo_parseval(path, treebanks.parse_held_out(flags.output, path))
    closing.wrote(f"the grammar ({size_text(size)})", flags.output)
