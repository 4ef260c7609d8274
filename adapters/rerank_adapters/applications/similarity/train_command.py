"""`rerank similarity train`: learns from scored pairs how to combine measures of similarity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rerank_adapters.applications.similarity.options import data_options
from rerank_adapters.commands.options import model_output, output_file, text_option, text_steps


@click.command("train")
@click.argument("files", nargs=-1, required=True, metavar="[SOURCE=]FILE...")
@model_output()
@data_options
@click.option("--mode", type=click.Choice(["one", "mixed", "best"]), default="one", show_default=True,
              help="one: a single regression for all sources. mixed, best: a regression for each source; a random "
                   "forest weighs them or chooses one.")  # fmt: skip
@click.option("--learner", type=click.Choice(["shrunk", "selected", "paper"]), default="shrunk", show_default=True,
              help="shrunk: all measures, each shrunk the more, the less it correlates with the scores by itself; for "
                   "new sources. selected: a few, by forward selection. paper: as Wu et al. (2013).")  # fmt: skip
@click.option("--without", multiple=True, metavar="FAMILY",
              help="Leave out this family (overlap, ngrams, strings, entities, shape, tfidf …) or set of the paper "
                   "(dkpro, takelab, mayo). Repeatable.")  # fmt: skip
@click.option("--penalty", type=click.FloatRange(0, min_open=True), default=100.0, show_default=True,
              help="Penalty of ridge regression (not with --learner paper).")  # fmt: skip
@click.option("--most", type=click.IntRange(1), default=30, show_default=True,
              help="Maximum number of selection rounds (--learner selected).")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the folds and the forest.")
@click.option("--plot", type=output_file, metavar="FILE",
              help="Plot the curve of the selection to FILE (--learner selected, paper; extra `plot`).")  # fmt: skip
@text_option
@click.pass_context
def command(
    context: click.Context, files: tuple[str, ...], output: Path, data: dict[str, Any], mode: str, learner: str,
    without: tuple[str, ...], penalty: float, most: int, seed: int, plot: Path | None, steps: tuple[str, ...],
) -> None:  # fmt: skip
    """Learn from FILEs of scored pairs; those of one SOURCE (default: the name up to its first dot) belong together.

    If there are several sources, each is left out in turn, to estimate the quality on pairs of a new source.
    --learner paper is the system of Wu et al. (2013): linear regression on the pairs of all sources alike, with
    those of the paper's measures that forward selection by ten-fold cross-validation keeps. --learner selected is
    similar: forward selection from all measures, and ridge regression within sources.

    \b
    rerank similarity train onwn=OnWN.tsv news=SMTnews.tsv --vectors news.ri -o model.sim
    """  # noqa: D301
    from rerank_adapters.applications.similarity.measures_data import measures_of
    from rerank_adapters.applications.similarity.report import plot_curve, training_lines
    from rerank_adapters.applications.similarity.system import write_similarity
    from rerank_adapters.applications.similarity.training import SimilaritySettings, by_source, train_similarity
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins import ConfigError

    if plot is not None and learner == "shrunk":
        raise ConfigError("--plot draws the curve of a selection: it needs --learner selected or paper")
    if learner == "paper":
        for option in ("penalty", "most"):
            if context.get_parameter_source(option) is click.core.ParameterSource.COMMANDLINE:
                why = "linear regression has no penalty, and the selection goes through all rounds"
                raise ConfigError(f"--{option} is not for --learner paper: {why}")
    settings = SimilaritySettings(mode, learner, without, penalty, most, seed, text_steps(steps))  # type: ignore[arg-type]
    with StatusLine() as stages:
        model = train_similarity(by_source(files), measures_of(**data), settings, stages)
        size = write_similarity(model, output)
    for line in training_lines(model):
        click.echo(line, err=True)
    click.echo(f"{output}: {size / 1e6:.2f} MB", err=True)
    if plot is not None:
        plot_curve(model, plot)
        click.echo(f"{plot}: the curve of the selection", err=True)
