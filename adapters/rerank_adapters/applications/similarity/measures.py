"""Loads the data that families of similarity measures need from the files named on the command line.

Options that the subcommands of `rerank similarity` share, and the objects that they specify.

Scores sentence pairs: computes the measures, and the score by a trained system or by a single measure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from rerank_adapters.applications.similarity.model import Regression, SimilarityModel, read_similarity
from rerank_adapters.applications.similarity.pairs_file import SentencePairs
from rerank_adapters.commands.options import text_option, text_steps
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.registry import suggestion
from rerank_plugins.dependency.stanza_parser import StanzaEntities
from rerank_plugins.similarity.measures.sentence_parts import Lexicon
from rerank_plugins.similarity.random_indexing.model import read_model as read_vectors
from rerank_plugins.svs.model import EMBEDDED, read_model

if TYPE_CHECKING:
    from rerank_adapters.applications.similarity.model import SimilarityModel
    from rerank_plugins.similarity.measures.table import Measures, Recogniser
    from rerank_plugins.svs.parsing import SvsParser


def measures_of(
    vectors: Path | None = None,
    wordnet: Path | None = None,
    esa: Path | None = None,
    svs: Path | None = None,
    entities: str = "capitals",
) -> Measures:
    """The measures with these data. WordNet's folder may also be named by WNSEARCHDIR or WNHOME.

    The value `en` of `svs` stands for the embedded English model.

    Raises ModelError and FormatError for files that cannot be read, ConfigError for an unknown recogniser.
    """
    from rerank_plugins.similarity.esa_model import read_model as read_esa
    from rerank_plugins.similarity.measures.table import Measures
    from rerank_plugins.similarity.wordnet import WordNet, wordnet_folder

    lexicon, folder = Lexicon(), wordnet_folder(wordnet)
    return Measures(
        read_vectors(vectors) if vectors else None,
        lexicon,
        recogniser_of(entities),
        WordNet(folder, lexicon.unigrams.frequencies()) if folder else None,
        read_esa(esa) if esa else None,
        _svs_parser(svs) if svs else None,
    )


def _svs_parser(model: Path) -> SvsParser:
    from rerank_plugins.similarity.measures.data_measures import THRESHOLD
    from rerank_plugins.svs.parsing import SvsParser

    return SvsParser(read_model(EMBEDDED if str(model) == "en" else model), THRESHOLD)


def recogniser_of(text: str) -> Recogniser | None:
    """None for `capitals`; Stanza's for `stanza` or `stanza,option=value,…`. Raises ConfigError for anything else."""
    from rerank_adapters.config import plugin_table

    table = plugin_table(text)
    kind = table.pop("use")
    if kind == "capitals" and not table:
        return None
    if kind != "stanza":
        raise ConfigError(f"--entities is {text!r}; wanted capitals, or stanza[,folder=DIR][,model=FILE]…")
    return StanzaEntities.of(table)


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
    if (model is None) == (measure is None):
        raise ConfigError("give a model (-m MODEL), or a measure (--measure NAME)")
    if measure is not None:
        measures = measures_of(**data)
        return one_measure(measure, measures, text_steps(steps)), measures
    if data["vectors"] or steps:
        raise ConfigError("--vectors and --text are for a measure: the model has its own")
    assert model is not None
    return read_similarity(model), measures_of(**data)


OF_DATA = ("vectors", "wordnet", "esa", "svs")  # families of measures that exist only if the user names their data


def measure(
    sentences: SentencePairs, measures: Measures, text: TextPipeline, only: Collection[str] | None = None
) -> FloatArray:
    """(pairs, measures) the values of all measures; the columns of families that are not in `only` are 0."""
    first, second = (text.apply([pair[side] for pair in sentences.pairs]) for side in (0, 1))
    return measures.columns([(a.split(), b.split()) for a, b in zip(first, second, strict=True)], only)


def family_of(name: str) -> str:
    """The family of a measure: `tfidf` for `tfidf.words`."""
    return name.partition(".")[0]


def one_measure(name: str, measures: Measures, text: tuple[str, ...]) -> SimilarityModel:
    """A system that returns the value of one measure, on its own scale. Raises ConfigError for an unknown measure."""
    if name not in measures.names:
        family = family_of(name)
        hint = f" (those of {family} need --{family})" if family in OF_DATA and family not in measures.families else ""
        raise ConfigError(f"no measure is named {name!r}{suggestion(name, measures.names)}{hint}")
    regression = Regression((name,), np.ones(1), 0.0)
    return SimilarityModel("one", (name,), {name: regression}, (-np.inf, np.inf), text, vectors=measures.vectors)


def score_pairs(model: SimilarityModel, sentences: SentencePairs, measures: Measures) -> FloatArray:
    """(pairs) scores on the scale of the training pairs; `measures` has the data that the model does not hold.

    Raises ConfigError if these data are missing or differ from those of training.
    """
    check_data(model, measures)
    measures = replace(measures, vectors=model.vectors)
    values = measure(sentences, measures, TextPipeline(model.text), model.families)
    columns = dict(zip(measures.names, values.T, strict=True))
    absent = np.zeros(len(values))  # for columns that no score depends on
    return model.scores(np.column_stack([columns.get(name, absent) for name in model.names]))


def check_data(model: SimilarityModel, measures: Measures) -> None:
    """Raise ConfigError if data that the model was trained with are missing or differ."""
    for family, trained in model.data.items():
        data = measures.data.get(family)
        if data != trained:
            wanted = f"the system was trained with {trained} (measures of {family})"
            raise ConfigError(f"{wanted}: give it by --{family}" if data is None else f"{wanted}, not with {data}")
