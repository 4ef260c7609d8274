"""`rerank train grammar`: a probabilistic context-free grammar from bracketed trees."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from rerank_adapters.applications.training.grammar_options import GrammarFlags, grammar_options, say_scores


@click.command("grammar")
@grammar_options
@click.option("--binarise", type=click.Choice(["right", "left", "head"]), default="right", show_default=True)
@click.option("--horizontal", type=click.IntRange(0), default=0, show_default=True, help="Siblings in new symbols.")
@click.option("--vertical", type=click.IntRange(1), default=1, show_default=True, help="2: phrases know their parent.")
@click.option(
    "--annotations", default="", metavar="NAMES", help="State splits: tag-pa,base-np,…; klein-manning for all of them."
)
@click.option("--held-out", multiple=True, type=Path, metavar="FILE", help="Say how well it parses these trees.")
def command(
    flags: GrammarFlags,
    binarise: Literal["right", "left", "head"],
    horizontal: int,
    vertical: int,
    annotations: str,
    held_out: tuple[Path, ...],
) -> None:
    """Train a grammar on FILEs of Penn-style brackets (compressed or not), one tree or more on a line.

    Function tags and traces are taken out. Latent splits (Petrov et al. 2006) make the best parser; --splits 0 is the
    treebank grammar of the binarised trees. Words of tagged text (--tagged) make fewer words unknown. For the grammar,
    name `pcfg,model=MODEL` where a parser or a language model is wanted.

    \b
    rerank train grammar train.ptb --language en -o english.pcfg
    rerank train grammar train.ptb --tagged web.conllu --weight web.conllu=0.5 --language en -o english.pcfg
    rerank train grammar news.ptb papers.ptb.xz --weight papers.ptb.xz=0.3 --splits 5 --language en -o mixed.pcfg
    rerank train grammar train.ptb --splits 0 --binarise head --horizontal 1 --annotations klein-manning --language en -o km.pcfg
    """  # noqa: D301, E501
    from rerank_adapters.applications.training.treebanks import held_out as parse_held_out
    from rerank_plugins.models.pcfg.annotation import named
    from rerank_plugins.models.pcfg.training import GrammarSettings

    names = tuple(name.strip() for name in annotations.split(",") if name.strip())
    named(names)
    flags.train(GrammarSettings(flags.language, binarise, horizontal, vertical, names, flags.schedule))
    for path in held_out:
        say_scores(path, parse_held_out(flags.output, path))
