"""`rerank train hhmm`: the model of the incremental syntactic language model, of a grammar or of counted events."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

import click
from click.core import ParameterSource

from rerank_adapters.applications.training.grammar_options import GrammarFlags, grammar_options, say
from rerank_plugins import ConfigError

if TYPE_CHECKING:
    from rerank_plugins.models.pcfg.grammar import Grammar


@click.command("hhmm")
@grammar_options
@click.option(
    "--estimation",
    type=click.Choice(["grammar", "events"]),
    default="grammar",
    show_default=True,
    help="From a grammar by expectations, or counted in right-corner trees.",
)
@click.option("--depth", type=click.IntRange(1, 15), default=4, show_default=True, help="Elements of the store.")
@click.option(
    "--smoothing",
    type=click.FloatRange(0),
    default=1.0,
    show_default=True,
    help="events: weight of less context; 0: relative frequencies.",
)
@click.option("--held-out", metavar="TEXT", help="Print the perplexity of a text (a sentence per line, tokenised).")
def command(
    flags: GrammarFlags, estimation: Literal["grammar", "events"], depth: int, smoothing: float, held_out: str | None
) -> None:
    """Train a model of incremental parsing on FILEs of Penn-style brackets (compressed or not).

    By default it is the grammar of `rerank train grammar --binarise left`: branching to the left needs fewer store
    elements, and puts off what the next words decide. The HHMM's probabilities are computed from the grammar when it is
    read (Schwartz et al. 2011, equations 16-24), so that any grammar file will do as a model of `hhmm`. Printed is the
    probability that a tree of the grammar fits in a store of 1, 2, … elements.

    With --estimation events reductions and expansions are counted in right-corner trees (Wu et al. 2010, equations
    11-14), for a store of --depth elements, and smoothed with the grammar of the same trees. Latent splits cannot be
    counted: the grammar that they give is the better model.

    \b
    rerank train hhmm train.ptb --language en -o english.pcfg --held-out dev.txt
    rerank train hhmm train.ptb --estimation events --language en -o english.hhmm
    rerank score dev.txt --lm hhmm,model=english.pcfg
    """  # noqa: D301
    from rerank_adapters.formats.compressed import open_text
    from rerank_adapters.pipeline.scoring import perplexity
    from rerank_plugins.language_models.hhmm import HhmmLanguageModel
    from rerank_plugins.models.hhmm.left_progeny import fitting_mass
    from rerank_plugins.models.pcfg.training import GrammarSettings

    if estimation == "events":
        if click.get_current_context().get_parameter_source("splits") == ParameterSource.COMMANDLINE and flags.splits:
            raise ConfigError(f"--splits {flags.splits}: latent splits cannot be counted, with --estimation events 0")
        grammar = _events(flags, depth, smoothing)
    else:
        grammar = flags.train(GrammarSettings(flags.language, "left", schedule=flags.schedule))
    shares = ", ".join(f"{d}: {100 * fitting_mass(grammar, d):.1f} %" for d in range(1, depth + 1))
    say(f"trees that fit in a store, by its elements: {shares}")
    if held_out:
        with open_text(held_out) as lines:
            say(f"{held_out}: {perplexity(HhmmLanguageModel(flags.output, depth=depth), lines).summary()}")


def _events(flags: GrammarFlags, depth: int, smoothing: float) -> Grammar:
    """Count, and write the model; the grammar that smooths it."""
    from rerank_adapters.applications.training.treebanks import read_treebanks
    from rerank_plugins.models.hhmm.model_file import write_empirical
    from rerank_plugins.models.hhmm.training import counting_settings, train_empirical

    started = time.process_time()
    weights, known = flags.counts()
    treebanks = read_treebanks(weights, say)
    model = train_empirical(
        treebanks, list(weights.values()), counting_settings(flags.language), depth, smoothing, known
    )
    flags.describe(model.grammar, write_empirical(model, flags.output, compact=flags.compact), started)
    events = model.events
    say(
        f"{events.reduced.sum():,.0f} reductions, {len(events.reduced):,} of them distinct; "
        f"{events.expanded.sum():,.0f} expansions, {len(events.expanded):,} distinct"
    )
    return model.grammar
