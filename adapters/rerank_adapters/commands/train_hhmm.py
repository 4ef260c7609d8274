"""`rerank train hhmm`: the grammar of the incremental HHMM syntactic language model."""

from __future__ import annotations

import click

from rerank_adapters.commands.grammar_options import GrammarFlags, grammar_options, say


@click.command("hhmm")
@grammar_options
@click.option("--depth", type=click.IntRange(1, 15), default=4, show_default=True, help="Elements of the store.")
@click.option("--held-out", metavar="TEXT", help="Print the perplexity of a text (a sentence per line, tokenised).")
def command(flags: GrammarFlags, depth: int, held_out: str | None) -> None:
    """Train a grammar for incremental parsing on FILEs of Penn-style brackets (compressed or not).

    It is that of `rerank train grammar --binarise left`: branching to the left needs fewer store elements, and puts off
    what the next words decide. Any grammar file will do as a model of `hhmm`, for the HHMM's probabilities are computed
    from the grammar when it is read (Schwartz et al. 2011, equations 16-24). Printed is the probability that a tree of
    the grammar fits in a store of 1, 2, … elements.

    \b
    rerank train hhmm train.ptb --language en -o english.pcfg --held-out dev.txt
    rerank score dev.txt --lm hhmm,model=english.pcfg
    """  # noqa: D301
    from rerank_adapters.formats.compressed import open_text
    from rerank_adapters.tasks.scoring import perplexity
    from rerank_plugins.models.hhmm.progeny import fitting_mass
    from rerank_plugins.models.hhmm_model import HhmmModel
    from rerank_plugins.models.pcfg.training import GrammarSettings

    grammar = flags.train(GrammarSettings(flags.language, "left", schedule=flags.schedule))
    shares = ", ".join(f"{d}: {100 * fitting_mass(grammar, d):.1f} %" for d in range(1, depth + 1))
    say(f"trees that fit in a store, by its elements: {shares}")
    if held_out:
        with open_text(held_out) as lines:
            say(f"{held_out}: {perplexity(HhmmModel(flags.output, depth=depth), lines).summary()}")
