"""Writes an ESA model to one file (rerank_plugins/kit/files/model_file.py), and maps it into memory."""

from __future__ import annotations

from pathlib import Path

from rerank_plugins import __version__
from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.kit.files import model_file
from rerank_plugins.similarity.esa.model import EsaModel

KIND = "esa"
ARRAYS = ("idf", "starts", "documents", "weights")


def write_model(model: EsaModel, path: Path) -> int:
    """Write the model atomically and return the size of the file in bytes. Raises OSError."""
    settings = {"settings": dict(model.settings), "provenance": {**model.provenance, "version": __version__}}
    arrays: model_file.Arrays = {name: getattr(model, name) for name in ARRAYS}
    for name, texts in (("words", model.words), ("titles", model.titles)):
        arrays[name] = model_file.word_array(texts)
    return model_file.write_model(path, KIND, settings, arrays)


def read_model(path: Path) -> EsaModel:
    """Read a model.

    Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind.
    """
    settings, arrays = model_file.read_model(path, KIND)
    try:
        words, titles = (model_file.words_from(arrays[name]) for name in ("words", "titles"))
        model = EsaModel(
            words, arrays["idf"], titles, arrays["starts"], arrays["documents"], arrays["weights"],
            settings["settings"], settings["provenance"],
        )  # fmt: skip
        model.form("")
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged ESA model ({type(error).__name__}: {error})") from None
    entries = {int(model.starts[-1]), len(model.documents), len(model.weights)}
    if {len(model.idf), len(model.starts) - 1} != {len(words)} or len(entries) != 1:
        raise ModelError(f"{path}: damaged ESA model: the lengths of its arrays do not match")
    return model
