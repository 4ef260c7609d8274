"""The options that the commands of similarity share: the scorer, and the data of measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from rerank_adapters.applications.similarity.scorers import PairScorer, SimilaritySystem, measure_of
from rerank_adapters.cli import options
from rerank_plugins import ConfigError, Metric
from rerank_plugins.core.plugins import Registry

Command = Callable[..., Any]


def data_options(command: Command) -> Command:
    """Options for the data of measures, by the names that `measures_of` has for them."""
    for option in (
        click.option("--wordnet", type=options.FILE, metavar="FOLDER", help="Database files of WordNet: wordnet.*",
                     show_default="$WNSEARCHDIR or $WNHOME/dict"),
        click.option("--svs", type=options.FILE, metavar="MODEL",
                     help="From `rerank train svs` or `svs-concepts`, or en (embedded): svs.*"),
        click.option("--esa", type=options.FILE, metavar="MODEL", help="From `rerank train esa`: esa.*"),
        click.option("--vectors", type=options.FILE, metavar="MODEL",
                     help="From `rerank train random-indexing`: vectors.*"),
    ):  # fmt: skip
        command = option(command)
    return command


def scorer_options(command: Command) -> Command:
    """Options for the scorer, a trained model or one measure, and for the data of measures."""
    for option in (
        options.text_option,
        data_options,
        click.option("--measure", metavar="NAME",
                     help="Use this one measure instead of a model, such as tfidf.stems, or a metric, such as chrf."),
        click.option("-M", "--model", type=options.FILE, help="Model of `rerank similarity train`."),
    ):  # fmt: skip
        command = option(command)
    return command


def scorer_of(
    registry: Registry, model: Path | None, measure: str | None, data: Mapping[str, Path | None], steps: tuple[str, ...]
) -> Metric | PairScorer:
    """The scorer of pairs that the options describe.

    Raises ConfigError unless they name a model or a measure, and for data or text steps where the scorer has its own.
    """
    from rerank_adapters.job.specs import Names, Spec

    if model is not None and measure is None:
        if data["vectors"] or steps:
            raise ConfigError("--vectors and --text are for a measure: the model has its own")
        return SimilaritySystem(model=model, **data)
    if measure is None or model is not None:
        raise ConfigError("give a model (-M MODEL), or a measure (--measure NAME)")
    if registry.find("metric", measure.partition(",")[0]) is not None:
        metric: Metric = Spec.read("metric", measure, Names(registry), "--measure").make()
        return metric
    return measure_of(measure, {**data, "text": options.text_steps(steps)})
