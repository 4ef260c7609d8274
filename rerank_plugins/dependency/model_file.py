"""Reads and writes a dependency language model: tables, words, labels, settings and provenance.

The tables are mapped into memory, so opening a file takes only the reading of the words: some milliseconds.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from rerank_plugins import __version__
from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.dependency.model import DependencyModel, Settings
from rerank_plugins.kit.backoff import table_arrays
from rerank_plugins.kit.files import model_file
from rerank_plugins.kit.vocabulary.word_numbers import Vocabulary

KIND = "dependency"


def write_model(model: DependencyModel, path: Path, trained_on: TrainedOn | None = None) -> int:
    """Write the model atomically; return the size of the file in bytes. Raises OSError."""
    described = {
        "settings": asdict(model.settings),
        "labels": list(model.labels),
        "unknown_types": model.unknown_types,
        "unseen": model.tables.unseen,
        "provenance": {**model.provenance, "version": __version__},
    }
    arrays = {"words": model_file.word_array(model.vocabulary.words), **table_arrays.table_arrays(model.tables)}
    return model_file.write_model(path, KIND, described, arrays, trained_on)


def read_model(path: Path) -> DependencyModel:
    """Read a model.

    Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind.
    """
    described, arrays = model_file.read_model(path, KIND)
    try:
        settings = {**described["settings"], "prune": tuple(described["settings"]["prune"])}
        words = model_file.words_from(arrays["words"])
        tables = table_arrays.tables_from(arrays, float(described["unseen"]), str(path))
        labels = tuple(described["labels"])
        rest = int(described["unknown_types"]), described["provenance"]
        model = DependencyModel(Settings(**settings), Vocabulary(words), labels, tables, *rest)
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged dependency language model ({type(error).__name__}: {error})") from None
    if tables.order != model.settings.order or tables.sizes[0] != len(words):
        raise ModelError(f"{path}: damaged dependency language model: its tables do not fit its settings")
    return model
