"""`rerank similarity train`: the command that trains a similarity system."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import click

from rerank_adapters.applications.similarity.learning import SimilaritySettings, train_similarity
from rerank_adapters.applications.similarity.measure_data import measures_of
from rerank_adapters.applications.similarity.model import Learner, Mode, SimilarityModel, write_similarity
from rerank_adapters.applications.similarity.options import data_options
from rerank_adapters.cli import options
from rerank_adapters.runtime.progress import StatusLine

MEASURES_SHOWN = 10  # of a regression that has them all


def by_source(arguments: Sequence[str]) -> dict[str, list[Path]]:
    """Files by source, from `SOURCE=FILE`, or from `FILE`: then the source is the file's name up to the first dot."""
    sources: dict[str, list[Path]] = {}
    for argument in arguments:
        source, sign, path = argument.partition("=")
        has_source = sign and "/" not in source
        name = source if has_source else Path(argument).name.partition(".")[0]
        sources.setdefault(name, []).append(Path(path if has_source else argument))
    return sources


def training_lines(model: SimilarityModel) -> list[str]:
    """The parts of each regression, and the correlations in cross-validation and for sources left out."""
    lines = []
    for source, regression in model.regressions.items():
        size = len(regression.columns)
        lines.append(f"{source}: {size} measures, r {regression.correlation:.3f} in ten-fold cross-validation")
        shown = zip(regression.columns, regression.weights, strict=True)
        if regression.curve:
            for (column, weight), (_, value) in zip(shown, regression.curve, strict=False):
                lines.append(f"  {column:<32} r {value:.3f}  weight {weight:+.3f}")
            continue
        lines += [f"  {column:<32} weight {weight:+.3f}" for column, weight in islice(shown, MEASURES_SHOWN)]
        lines += [f"  and {size - MEASURES_SHOWN} more"] if size > MEASURES_SHOWN else []
    if absent := model.provenance.get("absent"):
        lines.append(f"measures of the paper whose data are not given: {', '.join(absent)}")
    left_out = ", ".join(f"{source} r {value:.3f}" for source, value in model.provenance.get("left_out", {}).items())
    return [*lines, f"for a source left out: {left_out}"] if left_out else lines


@click.command("train")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="[SOURCE=]FILE...")
@options.model_output
@data_options
@click.option("--mode", type=click.Choice(["one", "mixed", "best"]), default="one", show_default=True,
              help="one: a single regression for all sources. mixed, best: a regression for each source; a random "
                   "forest weighs them or chooses one.")  # fmt: skip
@click.option("--learner", type=click.Choice(["shrunk", "paper"]), default="shrunk", show_default=True,
              help="shrunk: all measures, each shrunk the more, the less it correlates with the scores by itself; for "
                   "new sources. paper: as Wu et al. (2013).")  # fmt: skip
@click.option("--without", multiple=True, metavar="FAMILY",
              help="Leave out this family (overlap, ngrams, strings, entities, shape, tfidf …) or set of the paper "
                   "(dkpro, takelab, mayo). Repeatable.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the folds and the forest.")
@options.text_option
def command(
    files: tuple[str, ...], output: Path, mode: Mode, learner: Learner, without: tuple[str, ...], seed: int,
    steps: tuple[str, ...], **data: Path | None,
) -> None:  # fmt: skip
    """Learn from FILEs of scored pairs how to combine measures.

    Files of one SOURCE (default: the name up to its first dot) belong together. If there are several sources, each is
    left out in turn, to estimate the quality on pairs of a new source.

    --learner paper is the system of Wu et al. (2013): linear regression on the pairs of all sources alike, with
    those of the paper's measures that forward selection by ten-fold cross-validation keeps.

    \b
    rerank similarity train onwn=OnWN.tsv news=SMTnews.tsv \\
        --vectors news.ri -o model.sim
    """  # noqa: D301
    settings = SimilaritySettings(mode, learner, without, seed, options.text_steps(steps))
    with StatusLine() as stages:
        model = train_similarity(by_source(files), measures_of(**data), settings, stages)
        size = write_similarity(model, output)
    for line in training_lines(model):
        click.echo(line, err=True)
    click.echo(f"{output}: {size / 1e6:.2f} MB", err=True)
