"""The measures with the data that they need, which files hold; a measure is called `family.name`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rerank_adapters.applications.similarity.model import SimilarityModel
from rerank_plugins import ConfigError
from rerank_plugins.core.errors import suggestion
from rerank_plugins.similarity.measures.sentence_parts import Lexicon
from rerank_plugins.similarity.random_indexing import read_model as read_vectors
from rerank_plugins.svs.model import EMBEDDED, read_model

if TYPE_CHECKING:
    from rerank_plugins.similarity.measures.table import Measures

OF_DATA = ("vectors", "wordnet", "esa", "svs")  # families of measures that exist only if the user names their data
FAMILIES = frozenset(("overlap", "ngrams", "strings", "entities", "shape", "tfidf", *OF_DATA))


def measures_of(
    vectors: Path | None = None, wordnet: Path | None = None, esa: Path | None = None, svs: Path | None = None
) -> Measures:
    """The measures with these data. WordNet's folder may also be named by WNSEARCHDIR or WNHOME.

    The value `en` of `svs` stands for the embedded English models. A model of concepts has `svs.meaning` alone.

    Raises ModelError and FormatError for files that cannot be read.
    """
    from rerank_plugins.kit.files.model_file import model_kind
    from rerank_plugins.similarity.esa_model import read_model as read_esa
    from rerank_plugins.similarity.measures.data_measures import THRESHOLD
    from rerank_plugins.similarity.measures.table import Measures
    from rerank_plugins.similarity.sentence_meanings import SentenceMeanings, read_concepts
    from rerank_plugins.similarity.wordnet import WordNet, wordnet_folder
    from rerank_plugins.svs.concept_model import FILE as CONCEPTS
    from rerank_plugins.svs.parser import parser_of_concepts
    from rerank_plugins.svs.parsing import SvsParser

    lexicon, folder = Lexicon(), wordnet_folder(wordnet)
    path = EMBEDDED if str(svs) == "en" else svs
    concepts = None if path == EMBEDDED else path
    concepts_alone = path is not None and path.is_file() and model_kind(path) == CONCEPTS.kind
    return Measures(
        read_vectors(vectors) if vectors else None,
        lexicon,
        WordNet(folder, lexicon.unigrams.frequencies()) if folder else None,
        read_esa(esa) if esa else None,
        SvsParser(read_model(path), THRESHOLD) if path and not concepts_alone else None,
        SentenceMeanings(parser_of_concepts(concepts), read_concepts(concepts)) if path else None,
    )


def family_of(name: str) -> str:
    """The family of a measure: `tfidf` for `tfidf.words`."""
    return name.partition(".")[0]


def check_measure(name: str, measures: Measures) -> None:
    """Raise ConfigError for an unknown measure, and for one whose data are not given."""
    if name not in measures.names:
        if (family := family_of(name)) in OF_DATA and family not in measures.families:
            raise ConfigError(f"the measure {name!r} needs data: give them by --{family}, or by {family}=… in Python")
        raise ConfigError(f"no measure is named {name!r}{suggestion(name, measures.names)}")


def check_data(model: SimilarityModel, measures: Measures) -> None:
    """Raise ConfigError if data that the model was trained with are missing or differ."""
    for family, trained in model.data.items():
        data = measures.data.get(family)
        if data != trained:
            wanted = f"the system was trained with {trained} (measures of {family})"
            raise ConfigError(f"{wanted}: give it by --{family}" if data is None else f"{wanted}, not with {data}")
