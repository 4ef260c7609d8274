"""`rerank train grammar`: a probabilistic context-free grammar from bracketed trees."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal

import click

from rerank_adapters.commands.options import output_file
from rerank_plugins import ConfigError


@click.command("grammar")
@click.argument("inputs", nargs=-1, required=True, type=Path, metavar="FILE...")
@click.option("-o", "--output", type=output_file, required=True, metavar="MODEL", help="Grammar file to write.")
@click.option("--language", required=True, metavar="CODE", help="Code of the language, as en.")
@click.option("--binarise", type=click.Choice(["right", "left", "head"]), default="right", show_default=True)
@click.option("--horizontal", type=click.IntRange(0), default=0, show_default=True, help="Siblings in new symbols.")
@click.option("--vertical", type=click.IntRange(1), default=1, show_default=True, help="2: phrases know their parent.")
@click.option(
    "--annotations", default="", metavar="NAMES", help="State splits: tag-pa,base-np,…; klein-manning for all of them."
)
@click.option("--splits", type=click.IntRange(0, 8), default=4, show_default=True, help="Rounds of latent splitting.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the latent splits.")
@click.option(
    "--tagged", multiple=True, type=Path, metavar="FILE", help="Tagged words for the lexicon: CoNLL-U (XPOS) or trees."
)
@click.option(
    "--weight", "weights", multiple=True, metavar="FILE=NUMBER", help="How much a file's trees or words count."
)
@click.option("--held-out", multiple=True, type=Path, metavar="FILE", help="Say how well it parses these trees.")
@click.option("--compact", is_flag=True, help="Half the size; probabilities are rounded by up to 0.8 %.")
def command(
    inputs: tuple[Path, ...],
    output: Path,
    language: str,
    binarise: Literal["right", "left", "head"],
    horizontal: int,
    vertical: int,
    annotations: str,
    splits: int,
    seed: int,
    tagged: tuple[Path, ...],
    weights: tuple[str, ...],
    held_out: tuple[Path, ...],
    compact: bool,
) -> None:
    """Train a grammar on FILEs of Penn-style brackets (compressed or not), one tree or more on a line.

    Function tags and traces are taken out. Latent splits (Petrov et al. 2006) make the best parser; --splits 0 is the
    treebank grammar of the binarised trees. Words of tagged text (--tagged) make fewer words unknown. For the grammar, name `pcfg,model=MODEL` where a parser or a language
    model is wanted.

    \b
    rerank train grammar train.ptb --language en -o english.pcfg
    rerank train grammar train.ptb --tagged web.conllu --weight web.conllu=0.5 --language en -o english.pcfg
    rerank train grammar news.ptb papers.ptb.xz --weight papers.ptb.xz=0.3 --splits 5 --language en -o mixed.pcfg
    rerank train grammar train.ptb --splits 0 --binarise head --horizontal 1 --annotations klein-manning --language en -o km.pcfg
    """  # noqa: D301, E501
    from rerank_adapters.tasks import grammar_training as training
    from rerank_plugins.models.pcfg.annotation import named
    from rerank_plugins.models.pcfg.model_file import write_grammar
    from rerank_plugins.models.pcfg.split_merge import Schedule
    from rerank_plugins.models.pcfg.training import GrammarSettings

    if str(output) == "-":
        raise ConfigError("a model goes to a file, not to stdout: give -o MODEL")
    names = tuple(name.strip() for name in annotations.split(",") if name.strip())
    named(names)
    settings = GrammarSettings(
        language,
        binarise,
        horizontal,
        vertical,
        names,
        Schedule(rounds=splits, seed=seed),
    )
    started = time.process_time()
    counts = training.parse_weights(weights, [*inputs, *tagged])

    def say(line: str) -> None:
        click.echo(line, err=True)

    known = training.read_tagged({path: counts[path] for path in tagged}, say)
    grammar = training.train({path: counts[path] for path in inputs}, settings, say, known)
    size = write_grammar(grammar, output, compact=compact)
    click.echo(
        f"{output}: {grammar.size:,} symbols of {len(grammar.bases)} bases, {len(grammar.binary):,} binary and "
        f"{len(grammar.unary):,} unary rules, {len(grammar.lexicon.words):,} words; {size / 1e6:.2f} MB, "
        f"{time.process_time() - started:.1f} s of CPU",
        err=True,
    )
    for path in held_out:
        found = training.held_out(output, path)
        values = found.percent()
        click.echo(
            f"{path}: {found.sentences:,} sentences, F1 {values['F1']:.1f} (precision {values['LP']:.1f}, recall "
            f"{values['LR']:.1f}), {values['exact']:.1f} % exact, {values['tags']:.1f} % of the tags right",
            err=True,
        )
