"""Reads and writes a HEADLEX model: the tables of each kind of factor, words, labels, settings."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from rerank_plugins import __version__
from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.kit.backoff import table_arrays
from rerank_plugins.kit.files import model_file
from rerank_plugins.treelet.closed_vocabulary import ClosedVocabulary
from rerank_plugins.treelet.headlex_events import KINDS, sizes
from rerank_plugins.treelet.headlex_model import HeadlexModel, Settings
from rerank_plugins.treelet.tree_arrays import Symbols

KIND = "headlex"


def write_model(model: HeadlexModel, path: Path, trained_on: TrainedOn | None = None) -> int:
    """Write the model atomically; return the size of the file in bytes. Raises OSError."""
    described = {
        "settings": asdict(model.settings),
        "phrases": list(model.symbols.phrases),
        "tags": list(model.symbols.tags),
        "provenance": {**model.provenance, "version": __version__},
    }
    arrays: model_file.Arrays = {
        "vocabulary": model_file.word_array(model.vocabulary.words),
        "counts": model.vocabulary.counts,
    }
    for kind in KINDS:
        arrays |= table_arrays.table_arrays(model.tables[kind], f"{kind}.")
    return model_file.write_model(path, KIND, described, arrays, trained_on)


def read_model(path: Path) -> HeadlexModel:
    """Read a model.

    Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind.
    """
    described, arrays = model_file.read_model(path, KIND)
    tables = {kind: table_arrays.tables_from(arrays, 0.0, str(path), f"{kind}.") for kind in KINDS}
    try:
        symbols = Symbols(tuple(described["phrases"]), tuple(described["tags"]))
        words = model_file.words_from(arrays["vocabulary"])
        vocabulary = ClosedVocabulary(words, arrays["counts"])
        settings = Settings(**described["settings"])
        provenance = described["provenance"]
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged head-lexicalised model ({type(error).__name__}: {error})") from None
    wanted = sizes(len(symbols), len(words))
    fits = all((t.order, t.sizes[0]) == (len(wanted[kind]), wanted[kind][0]) for kind, t in tables.items())
    if not fits or len(vocabulary.counts) != len(words):
        raise ModelError(f"{path}: damaged head-lexicalised model: its tables do not fit its settings")
    return HeadlexModel(settings, symbols, vocabulary, tables, provenance)
