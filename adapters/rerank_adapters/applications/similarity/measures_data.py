"""Loads the data that families of similarity measures need from the files named on the command line."""

from __future__ import annotations

from pathlib import Path

from rerank_adapters.config import plugin_table
from rerank_plugins import ConfigError
from rerank_plugins.similarity.measures.data_measures import THRESHOLD
from rerank_plugins.similarity.measures.sentence_parts import Lexicon
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
    from rerank_plugins.similarity.random_indexing.model import read_model as read_vectors
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
    from rerank_plugins.svs.model import EMBEDDED, read_model

    return SvsParser(read_model(EMBEDDED if str(model) == "en" else model), THRESHOLD)


def recogniser_of(text: str) -> Recogniser | None:
    """None for `capitals`; Stanza's for `stanza` or `stanza,option=value,…`. Raises ConfigError for anything else."""
    from rerank_plugins.dependency.stanza_entities import StanzaEntities

    table = plugin_table(text)
    kind = table.pop("use")
    if kind == "capitals" and not table:
        return None
    if kind != "stanza":
        raise ConfigError(f"--entities is {text!r}; wanted capitals, or stanza[,folder=DIR][,model=FILE]…")
    return StanzaEntities.of(table)
