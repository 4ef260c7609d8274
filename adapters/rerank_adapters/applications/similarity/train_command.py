"""`rerank similarity train`: which measures tell how alike two sentences are, from scored pairs."""

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
              help="One regression for all sources; or one a source, mixed by a random forest or chosen.")  # fmt: skip
@click.option("--learner", type=click.Choice(["shrunk", "selected", "paper"]), default="shrunk", show_default=True,
              help="All measures, each held the nearer to 0 the less it goes along with the scores by itself: for "
                   "sources that nobody scored; the few of forward selection; or as Wu et al. (2013) do.")  # fmt: skip
@click.option("--without", multiple=True, metavar="FAMILY",
              help="Leave out a family: overlap, ngrams, strings, entities, shape, tfidf … or a set of the paper: "
                   "dkpro, takelab, mayo. Repeatable.")  # fmt: skip
@click.option("--penalty", type=click.FloatRange(0, min_open=True), default=100.0, show_default=True,
              help="Of ridge regression (not with --learner paper).")  # fmt: skip
@click.option("--most", type=click.IntRange(1), default=30, show_default=True,
              help="Rounds of selection (--learner selected).")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of folds and forest.")
@click.option("--plot", type=output_file, metavar="FILE",
              help="The curve of the selection (--learner selected, paper; extra `plot`).")  # fmt: skip
@text_option
@click.pass_context
def command(
    context: click.Context, files: tuple[str, ...], output: Path, data: dict[str, Any], mode: str, learner: str,
    without: tuple[str, ...], penalty: float, most: int, seed: int, plot: Path | None, steps: tuple[str, ...],
) -> None:  # fmt: skip
    """Learn from FILEs of scored pairs; those of one SOURCE (default: the name up to its first dot) belong together.

    Of several sources each is left out in turn, to tell what to expect of pairs of a source that nobody scored.
    --learner paper is the system of Wu et al. (2013): linear regression over the pairs of all sources alike, on those
    of the measures of the paper that forward selection by ten-fold cross-validation keeps. --learner selected is
    after it: ridge regression within sources, on any measure.

    \b
    rerank similarity train onwn=OnWN.tsv news=SMTnews.tsv --vectors news.ri -o model.sim
    """  # noqa: D301
    from rerank_adapters.applications.similarity.measures_data import measures_of
    from rerank_adapters.applications.similarity.report import plot_curve, training_lines
    from rerank_adapters.applications.similarity.system import write_similarity
    from rerank_adapters.applications.similarity.training import SimilaritySettings, by_source, train_similarity
    from rerank_adapters.progress import StatusLine
    from rerank_plugins import ConfigError

    if plot is not None and learner == "shrunk":
        raise ConfigError("--plot draws the curve of a selection: it needs --learner selected or paper")
    if learner == "paper":
        for option in ("penalty", "most"):
            if context.get_parameter_source(option) is click.core.ParameterSource.COMMANDLINE:
                why = "linear regression has no penalty, and all rounds of the selection are made"
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
