"""`rerank train hhmm`: trains the incremental syntactic language model, as a grammar or by counted events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click
from click.core import ParameterSource

from rerank_adapters.applications.training.grammar_options import GrammarFlags, grammar_options
from rerank_adapters.applications.training.reports import echo_perplexity, say
from rerank_adapters.commands.closing import Closing, size_text
from rerank_plugins import ConfigError

if TYPE_CHECKING:
    from rerank_plugins.constituency.grammar import Grammar


@click.command("hhmm")
@grammar_options
@click.option("--estimation", type=click.Choice(["grammar", "events"]), default="grammar", show_default=True,
              help="Compute the probabilities from a grammar, or count events in right-corner trees.")  # fmt: skip
@click.option("--depth", type=click.IntRange(1, 15), default=4, show_default=True,
              help="Number of elements of the store.")  # fmt: skip
@click.option("--smoothing", type=click.FloatRange(0), default=1.0, show_default=True,
              help="With `--estimation events`: weight of the estimates from less context; 0 gives relative "
                   "frequencies.")  # fmt: skip
@click.option("--held-out", metavar="TEXT",
              help="Report the perplexity of this text (tokenised, one sentence per line).")  # fmt: skip
def command(
    flags: GrammarFlags, estimation: Literal["grammar", "events"], depth: int, smoothing: float, held_out: str | None
) -> None:
    """Train a model of incremental parsing on FILEs of Penn-style brackets (compressed or not).

    By default, the model is the grammar of `rerank train grammar --binarise left`: left-branching rules need fewer
    elements of the store, and defer decisions that depend on the following words. The probabilities of the HHMM are
    computed from the grammar when it is read (Schwartz et al. 2011, equations 16-24), so any grammar file can be the
    model of `hhmm`. The command reports the probability that a tree of the grammar fits in a store of 1, 2, … elements.

    With `--estimation events`, reductions and expansions are counted in right-corner trees (Wu et al. 2010, equations
    11-14) for a store of `--depth` elements, and are smoothed with the grammar of the same trees. Latent splits cannot
    be counted; the grammar with latent splits is the better model.

    \b
    rerank train hhmm train.ptb --language en -o english.pcfg --held-out dev.txt
    rerank train hhmm train.ptb --estimation events --language en -o english.hhmm
    rerank score dev.txt --lm hhmm,model=english.pcfg
    """  # noqa: D301
    from rerank_adapters.applications.training import treebanks
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins.constituency.training import GrammarSettings
    from rerank_plugins.hhmm.language_model import HhmmLanguageModel
    from rerank_plugins.hhmm.left_progeny import fitting_mass

    closing = Closing()
    if estimation == "events":
        if click.get_current_context().get_parameter_source("splits") == ParameterSource.COMMANDLINE and flags.splits:
            raise ConfigError(f"--splits {flags.splits}: latent splits cannot be counted, with --estimation events 0")
        grammar, size = train_events(flags, depth, smoothing)
    else:
        settings = GrammarSettings(flags.language, "left", schedule=flags.schedule)
        grammar, size = treebanks.train_and_write(flags, settings, say)
        say(treebanks.grammar_summary(grammar))
    with StatusLine() as stages:
        shares = []
        for elements in range(1, depth + 1):
            stages(f"trees that fit in a store of {elements}")
            shares.append(f"{elements}: {100 * fitting_mass(grammar, elements):.1f} %")
    say(f"trees that fit in a store, by its number of elements: {', '.join(shares)}")
    if held_out:
        echo_perplexity(HhmmLanguageModel(flags.output, depth=depth), held_out)
    closing.wrote(f"the model ({size_text(size)})", flags.output)


def train_events(flags: GrammarFlags, depth: int, smoothing: float) -> tuple[Grammar, int]:
    """Count events and write the model; return the grammar that smooths it, and the size of the file in bytes.

    Raises ConfigError, FormatError, OSError.
    """
    from rerank_adapters.applications.training import treebanks
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins.hhmm.model_file import write_empirical
    from rerank_plugins.hhmm.training import counting_settings, train_empirical

    weights, tagged = treebanks.weigh_files(flags.inputs, flags.tagged, flags.weights, say, spoken=flags.spoken)
    trees = treebanks.read_treebanks(weights, say, spoken=flags.spoken)
    with StatusLine() as stages:
        stages("counting events")
        settings = counting_settings(flags.language)
        model = train_empirical(trees, list(weights.values()), settings, depth, smoothing, tagged)
    size = write_empirical(model, flags.output, compact=flags.compact)
    say(treebanks.grammar_summary(model.grammar))
    events = model.events
    say(
        f"{events.reduced.sum():,.0f} reductions, {len(events.reduced):,} of them distinct; "
        f"{events.expanded.sum():,.0f} expansions, {len(events.expanded):,} distinct"
    )
    return model.grammar, size
