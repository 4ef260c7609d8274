"""`rerank similarity`: how alike are two sentences? Each subcommand is the `command` of a file `similarity_NAME.py`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rerank_adapters.commands.lazy_group import LazyGroup
from rerank_adapters.commands.options import text_option, text_steps
from rerank_plugins import ConfigError

if TYPE_CHECKING:
    from rerank_adapters.weights.similarity_model import SimilarityModel

TASKS = ("train", "apply", "evaluate")


def similarity_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What gives the scores: a trained model, or one measure."""
    for option in (
        text_option,
        click.option("--vectors", type=Path, metavar="MODEL", help="For a measure of the family vectors."),
        click.option("--measure", metavar="NAME", help="One measure instead, as tfidf.stems: nothing is learnt."),
        click.option("-m", "--model", type=Path, help="Model of `rerank similarity train`."),
    ):
        command = option(command)
    return command


def similarity_of(
    model: Path | None, measure: str | None, vectors: Path | None, steps: tuple[str, ...]
) -> SimilarityModel:
    """The system that the options name. Raises ConfigError where they name none, or two."""
    from rerank_adapters.tasks.similarity import one_measure
    from rerank_adapters.weights.similarity_model import read_similarity
    from rerank_plugins.models.random_indexing.model_file import read_model

    if (model is None) == (measure is None):
        raise ConfigError("give a model (-m MODEL), or a measure (--measure NAME)")
    if measure is not None:
        return one_measure(measure, read_model(vectors) if vectors else None, text_steps(steps))
    if vectors or steps:
        raise ConfigError("--vectors and --text are for a measure: the model has its own")
    assert model is not None
    return read_similarity(model)


@click.group("similarity", cls=LazyGroup, names=TASKS)
def command() -> None:
    """Score how alike in meaning two sentences are, as people would (0 to 5 in the STS tasks).

    \b
    train     learn from scored pairs which measures tell it
    apply     score pairs
    evaluate  correlation of the scores with people's

    Files of pairs: score<TAB>sentence<TAB>sentence, sentence<TAB>sentence[<TAB>score], or CSV as the STS benchmark has.

    \b
    rerank similarity train onwn=OnWN.tsv news=SMTnews.tsv --vectors news.ri -o model.sim
    rerank similarity apply pairs.tsv -m model.sim
    rerank similarity evaluate headlines.tsv --measure tfidf.stems
    """  # noqa: D301
