"""Reads and writes a model of missing words in one file, whose arrays are mapped into memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.kit.files import model_file
from rerank_plugins.kit.vocabulary.word_numbers import Vocabulary
from rerank_plugins.missing_words.contexts import ContextTable
from rerank_plugins.missing_words.gap_words import COMPONENTS
from rerank_plugins.missing_words.model import METHODS, Location, MissingWordsModel
from rerank_plugins.missing_words.windows import CONTEXTS
from rerank_plugins.missing_words.word_pairs import PairTable

KIND = "missing-words"
TABLE = ("starts", "seconds", "rows", "totals", "words", "counts")


def write_model(model: MissingWordsModel, path: Path) -> int:
    """Write the model atomically and return the size of the file in bytes. Raises OSError."""
    locations = {
        method: {
            "function": location.function,
            "constant": location.constant,
            "edges": location.edges,
            "weights": location.weights.tolist(),
        }
        for method, location in model.locations.items()
    }
    settings = {"training": dict(model.settings), "locations": locations, "mixture": model.mixture.tolist()}
    arrays: model_file.Arrays = {
        "words": model_file.word_array(model.vocabulary.words),
        "hashes": model.vocabulary.table,
        "counts": model.counts,
        "pairs.starts": model.pairs.starts,
        "pairs.rights": model.pairs.rights,
        "pairs.counts": model.pairs.counts,
    }
    for context, table in model.tables.items():
        arrays |= {f"{context}.{name}": array for name, array in zip(TABLE, table.arrays, strict=True)}
    return model_file.write_model(path, KIND, settings, arrays)


def read_model(path: Path) -> MissingWordsModel:
    """Map a model into memory.

    Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind.
    """
    settings, arrays = model_file.read_model(path, KIND)
    try:
        model = _model_from(settings, arrays)
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged model of missing words ({type(error).__name__}: {error})") from None
    size, tables = len(model.vocabulary), model.tables.values()
    fits = len(model.counts) == size and len(model.pairs.starts) == size + 1 and len(model.mixture) == len(COMPONENTS)
    fits = fits and all(len(table.starts) == size + 1 and len(table.words) == table.rows[-1] for table in tables)
    if not fits or len(model.pairs.counts) != len(model.pairs.rights):
        raise ModelError(f"{path}: damaged model of missing words: its arrays do not fit together")
    return model


def _model_from(settings: dict[str, Any], arrays: model_file.Arrays) -> MissingWordsModel:
    locations = {method: settings["locations"][method] for method in METHODS}
    return MissingWordsModel(
        Vocabulary(model_file.words_from(arrays["words"]), arrays["hashes"]),
        arrays["counts"],
        PairTable(arrays["pairs.starts"], arrays["pairs.rights"], arrays["pairs.counts"]),
        {context: ContextTable(*(arrays[f"{context}.{name}"] for name in TABLE)) for context in CONTEXTS},
        {
            method: Location(**{**values, "weights": np.array(values["weights"])})
            for method, values in locations.items()
        },
        np.array(settings["mixture"], np.float64),
        settings["training"],
    )
