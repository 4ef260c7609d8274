"""`rerank train hhmm`: the grammar of the incremental HHMM syntactic language model."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import output_file
from rerank_plugins import ConfigError


@click.command("hhmm")
@click.argument("inputs", nargs=-1, required=True, type=Path, metavar="FILE...")
@click.option("-o", "--output", type=output_file, required=True, metavar="MODEL", help="Grammar file to write.")
@click.option("--language", required=True, metavar="CODE", help="Code of the language, as en.")
@click.option("--splits", type=click.IntRange(0, 8), default=4, show_default=True, help="Rounds of latent splitting.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the latent splits.")
@click.option(
    "--tagged", multiple=True, type=Path, metavar="FILE", help="Tagged words for the lexicon: CoNLL-U (XPOS) or trees."
)
@click.option(
    "--weight", "weights", multiple=True, metavar="FILE=NUMBER", help="How much a file's trees or words count."
)
@click.option("--depth", type=click.IntRange(1, 15), default=4, show_default=True, help="Elements of the store.")
@click.option("--held-out", metavar="TEXT", help="Print the perplexity of a text (a sentence per line, tokenised).")
@click.option("--compact", is_flag=True, help="Half the size; probabilities are rounded by up to 0.8 %.")
def command(
    inputs: tuple[Path, ...], output: Path, language: str, splits: int, seed: int,
    tagged: tuple[Path, ...], weights: tuple[str, ...],
    depth: int, held_out: str | None, compact: bool,
) -> None:  # fmt: skip
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
    from rerank_adapters.tasks import grammar_training as training
    from rerank_adapters.tasks.scoring import perplexity
    from rerank_plugins.models.hhmm.progeny import fitting_mass
    from rerank_plugins.models.hhmm_model import HhmmModel
    from rerank_plugins.models.pcfg.model_file import write_grammar
    from rerank_plugins.models.pcfg.split_merge import Schedule
    from rerank_plugins.models.pcfg.training import GrammarSettings

    def say(line: str) -> None:
        click.echo(line, err=True)

    if str(output) == "-":
        raise ConfigError("a model goes to a file, not to stdout: give -o MODEL")
    settings = GrammarSettings(language, "left", schedule=Schedule(rounds=splits, seed=seed))
    counts = training.parse_weights(weights, [*inputs, *tagged])
    known = training.read_tagged({path: counts[path] for path in tagged}, say)
    grammar = training.train({path: counts[path] for path in inputs}, settings, say, known)
    size = write_grammar(grammar, output, compact=compact)
    say(
        f"{output}: {grammar.size:,} symbols, {len(grammar.binary):,} binary and {len(grammar.unary):,} unary rules, "
        f"{len(grammar.lexicon.words):,} words; {size / 1e6:.2f} MB"
    )
    shares = ", ".join(f"{d}: {100 * fitting_mass(grammar, d):.1f} %" for d in range(1, depth + 1))
    say(f"trees that fit in a store, by its elements: {shares}")
    if held_out:
        with open_text(held_out) as lines:
            say(f"{held_out}: {perplexity(HhmmModel(output, depth=depth), lines).summary()}")
