"""Reads and writes a random-indexing model: words, counts, and the vectors of each space.

Vectors have unit length and half precision, which changes a cosine of sentences by less than 0.001. They are mapped
into memory: pages are read on first access and shared between processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rerank_plugins import __version__
from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.kit.files import model_file
from rerank_plugins.similarity.random_indexing.model import RandomIndexModel

KIND = "random-indexing"


def write_model(model: RandomIndexModel, path: Path) -> int:
    """Write the model atomically and return the size of the file in bytes. Raises OSError."""
    return model_file.write_model(path, KIND, described(model), model_arrays(model))


def read_model(path: Path) -> RandomIndexModel:
    """Read a model.

    Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind.
    """
    settings, arrays = model_file.read_model(path, KIND)
    return model_from(settings, arrays, str(path))


def described(model: RandomIndexModel) -> dict[str, Any]:
    """The JSON-serialisable parts of the model: all but its arrays."""
    return {
        "settings": dict(model.settings),
        "documents": model.total_documents,
        "spaces": list(model.spaces),
        "provenance": {**model.provenance, "version": __version__},
    }


def model_arrays(model: RandomIndexModel, prefix: str = "") -> model_file.Arrays:
    """The arrays of the model by name; a `prefix` of the names serves files that contain other arrays too."""
    arrays: model_file.Arrays = {
        "words": model_file.word_array(model.words),
        "counts": model.counts,
        "documents": model.documents,
        **{f"space.{name}": vectors for name, vectors in model.spaces.items()},
    }
    return {prefix + name: array for name, array in arrays.items()}


def model_from(
    settings: Mapping[str, Any], arrays: model_file.Arrays, where: str, prefix: str = ""
) -> RandomIndexModel:
    """Rebuild a model from `described` and `model_arrays`. Raises ModelError if parts are missing or inconsistent."""
    try:
        words = model_file.words_from(arrays[f"{prefix}words"])
        spaces = {name: arrays[f"{prefix}space.{name}"] for name in settings["spaces"]}
        counts, documents = arrays[f"{prefix}counts"], arrays[f"{prefix}documents"]
        model = RandomIndexModel(
            words, counts, documents, settings["documents"], spaces, settings["settings"], settings["provenance"]
        )
        model.form("")
    except DAMAGE as error:
        raise ModelError(f"{where}: damaged random-indexing model ({type(error).__name__}: {error})") from None
    rows = {len(counts), len(documents), *(len(vectors) for vectors in spaces.values())}
    if rows != {len(words)}:
        sizes = f"{len(words)} words, but tables of {sorted(rows)} rows"
        raise ModelError(f"{where}: damaged random-indexing model: {sizes}")
    return model
