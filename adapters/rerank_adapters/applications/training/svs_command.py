"""`rerank train svs`: structured vectorial semantics from bracketed trees."""

from __future__ import annotations

import time
from pathlib import Path

import click

from rerank_adapters.applications.training.grammar_options import (
    INPUTS,
    LANGUAGE,
    TAGGED,
    WEIGHTS,
    counts_of,
    say,
    say_scores,
)
from rerank_adapters.commands.options import model_output

COUNT = click.IntRange(1)
PRIOR = click.FloatRange(0)


@click.command("svs")
@INPUTS
@model_output()
@LANGUAGE
@click.option("--concepts", type=COUNT, default=10, show_default=True, help="Clusters of headwords.")
@click.option("--headwords", type=COUNT, default=1000, show_default=True, help="How many are kept; others are unk.")
@click.option("--lexicalised", is_flag=True, help="No clusters: the headwords themselves are the concepts.")
@click.option("--iterations", type=click.IntRange(0), default=20, show_default=True, help="Of EM.")
@click.option("--restarts", type=COUNT, default=10, show_default=True, help="Random beginnings; the best is kept.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the beginnings.")
@click.option(
    "--rule-prior",
    type=PRIOR,
    default=50.0,
    show_default=True,
    help="Pseudo-counts that draw P_M to the treebank grammar's; 0: none.",
)
@click.option("--head-prior", type=PRIOR, default=0.0, show_default=True, help="The same for P_H.")
@click.option(
    "--annotations",
    default="klein-manning",
    show_default=True,
    metavar="NAMES",
    help="State splits: klein-manning, or some of them; transitive, frame: verbs by their arguments.",
)
@click.option(
    "--rare",
    type=COUNT,
    default=20,
    show_default=True,
    help="Categories and relations counted less often give way to less annotated ones.",
)
@TAGGED
@WEIGHTS
@click.option("--held-out", multiple=True, type=Path, metavar="FILE", help="Say how well it parses these trees.")
@click.option("--compact", is_flag=True, help="Half the size; probabilities are rounded by up to 1 %.")
def command(
    inputs: tuple[Path, ...], output: Path, language: str, concepts: int, headwords: int, lexicalised: bool,
    iterations: int, restarts: int, seed: int, rule_prior: float, head_prior: float, annotations: str, rare: int,
    tagged: tuple[Path, ...], weights: tuple[str, ...], held_out: tuple[Path, ...], compact: bool,
) -> None:  # fmt: skip
    """Train structured vectorial semantics (Wu & Schuler 2011) on FILEs of Penn-style brackets.

    Headwords are clustered by EM over the trees as they are: which rules a concept uses, which concepts modify which.
    `rerank svs clusters MODEL` shows what they are about; `svs,model=MODEL` is a parser.

    \b
    rerank train svs train.ptb --language en -o english.svs --held-out dev.ptb
    rerank train svs train.ptb --concepts 20 --restarts 5 --seed 7 --language en -o english.svs
    rerank train svs train.ptb --lexicalised --headwords 50 --language en -o lexicalised.svs
    """  # noqa: D301
    from rerank_adapters.applications.training import svs as svs_training
    from rerank_plugins.models.svs.annotation import named
    from rerank_plugins.models.svs.clustering import Clustering
    from rerank_plugins.models.svs.model_file import read_model, write_model
    from rerank_plugins.models.svs.training import SvsSettings

    names = tuple(name.strip() for name in annotations.split(",") if name.strip())
    named(names)
    clustering = Clustering(concepts, iterations, restarts, seed, rule_prior=rule_prior, head_prior=head_prior)
    settings = SvsSettings(language, names, rare, headwords, lexicalised, clustering)
    started = time.process_time()
    counts, known = counts_of(inputs, tagged, weights)
    model = svs_training.train(counts, settings, say, known)
    size = write_model(model, output, compact=compact)
    say(
        f"{output}: {model.concepts} concepts, {len(model.symbols):,} symbols ({len(model.categories):,} categories, "
        f"{len(model.relations)} relations), {len(model.binary):,} binary and {len(model.unary):,} unary rules, "
        f"{len(model.lexicon.words):,} words; {size / 1e6:.2f} MB, {time.process_time() - started:.1f} s of CPU"
    )
    for path in held_out:
        say_scores(path, svs_training.held_out(read_model(output), path))
