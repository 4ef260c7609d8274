"""A random-indexing model in one file (backoff/model_file.py): words, counts, and the vectors of each space.

Vectors are of unit length in half precision (a cosine of sentences differs by less than 0.001), mapped into memory:
pages are read when they are touched, and shared between processes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rerank_plugins import __version__
from rerank_plugins.errors import ModelError
from rerank_plugins.models.backoff import model_file
from rerank_plugins.models.random_indexing.model import RandomIndexModel

KIND = "random-indexing"


def write_model(model: RandomIndexModel, path: Path) -> int:
    """Write the model, whole or not at all; how many bytes the file has. Raises OSError."""
    described = {
        "settings": dict(model.settings),
        "documents": model.total_documents,
        "spaces": list(model.spaces),
        "provenance": {**model.provenance, "version": __version__},
    }
    arrays: model_file.Arrays = {
        "words": np.frombuffer("\n".join(model.words).encode(), np.uint8),
        "counts": model.counts,
        "documents": model.documents,
    }
    arrays |= {f"space.{name}": vectors for name, vectors in model.spaces.items()}
    return model_file.write_model(path, KIND, described, arrays)


def read_model(path: Path) -> RandomIndexModel:
    """Read a model.

    Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind.
    """
    described, arrays = model_file.read_model(path, KIND)
    try:
        words = tuple(bytes(arrays["words"]).decode().split("\n"))
        spaces = {name: arrays[f"space.{name}"] for name in described["spaces"]}
        model = RandomIndexModel(
            words, arrays["counts"], arrays["documents"], described["documents"],
            spaces, described["settings"], described["provenance"],
        )  # fmt: skip
        model.form("")
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{path}: damaged random-indexing model ({type(error).__name__}: {error})") from None
    rows = {len(model.counts), len(model.documents), *(len(vectors) for vectors in spaces.values())}
    if rows != {len(words)}:
        raise ModelError(
            f"{path}: damaged random-indexing model: {len(words)} words, but tables of {sorted(rows)} rows"
        )
    return model
