"""Options that the subcommands of `rerank similarity` share, and the objects that they specify."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rerank_adapters.commands.options import text_option, text_steps
from rerank_plugins import ConfigError

if TYPE_CHECKING:
    from rerank_adapters.applications.similarity.system import SimilarityModel
    from rerank_plugins.similarity.measures.table import Measures

DATA = ("vectors", "esa", "svs", "wordnet", "entities")


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for the data of measures; the command gets them as one argument, `data`, to pass to `measures_of`."""
    options = (
        click.option("--vectors", type=Path, metavar="MODEL", help="From `rerank train random-indexing`: vectors.*"),
        click.option("--esa", type=Path, metavar="MODEL", help="From `rerank train esa`: esa.*"),
        click.option("--svs", type=Path, metavar="MODEL", help="From `rerank train svs`, or en (embedded): svs.*"),
        click.option("--wordnet", type=Path, metavar="FOLDER",
                     help="Database files of WordNet: wordnet.*  Default: $WNSEARCHDIR or $WNHOME/dict."),
        click.option("--entities", default="capitals", show_default=True, metavar="NAME",
                     help="Recogniser of names: capitals, or stanza[,folder=DIR][,package=NAME][,model=FILE]."),
    )  # fmt: skip

    @wraps(command)
    def with_data(*args: Any, **values: Any) -> Any:
        return command(*args, data={name: values.pop(name) for name in DATA}, **values)

    for option in reversed(options):
        with_data = option(with_data)
    return with_data


def similarity_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for what computes the scores, a trained model or one measure, and for the data of measures."""
    for option in (
        text_option,
        data_options,
        click.option("--measure", metavar="NAME", help="Use this one measure instead of a model, such as tfidf.stems."),
        click.option("-m", "--model", type=Path, help="Model of `rerank similarity train`."),
    ):
        command = option(command)
    return command


def similarity_of(
    model: Path | None, measure: str | None, data: Mapping[str, Any], steps: tuple[str, ...]
) -> tuple[SimilarityModel, Measures]:
    """The system and the measures that the options name. Raises ConfigError unless they name a model or a measure."""
    from rerank_adapters.applications.similarity.measures_data import measures_of
    from rerank_adapters.applications.similarity.scoring import one_measure
    from rerank_adapters.applications.similarity.system import read_similarity

    if (model is None) == (measure is None):
        raise ConfigError("give a model (-m MODEL), or a measure (--measure NAME)")
    if measure is not None:
        measures = measures_of(**data)
        return one_measure(measure, measures, text_steps(steps)), measures
    if data["vectors"] or steps:
        raise ConfigError("--vectors and --text are for a measure: the model has its own")
    assert model is not None
    return read_similarity(model), measures_of(**data)
