"""Reads and writes a translation memory in one file, mapped into memory and used by all processes."""

from __future__ import annotations

from pathlib import Path

from rerank_plugins import __version__
from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.kit.files import model_file
from rerank_plugins.translation.memory.stored_pairs import Postings, Sentences, TranslationMemory

KIND = "translation-memory"
SIDES = ("source", "target")
POSTINGS = ("starts", "documents", "impacts", "highest")


def write_model(memory: TranslationMemory, path: Path) -> int:
    """Write the memory atomically and return the size of the file in bytes. Raises OSError."""
    settings = {"settings": dict(memory.settings), "provenance": {**memory.provenance, "version": __version__}}
    arrays: model_file.Arrays = {name: getattr(memory.postings, name) for name in POSTINGS}
    for name, side in zip(SIDES, (memory.source, memory.target), strict=True):
        arrays[f"{name}.words"] = model_file.word_array(side.words)
        arrays[f"{name}.tokens"], arrays[f"{name}.offsets"] = side.tokens, side.offsets
    return model_file.write_model(path, KIND, settings, arrays)


def read_model(path: Path) -> TranslationMemory:
    """Read a memory.

    Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind.
    """
    settings, arrays = model_file.read_model(path, KIND)
    try:
        source, target = (
            Sentences(
                model_file.words_from(arrays[f"{name}.words"]), arrays[f"{name}.tokens"], arrays[f"{name}.offsets"]
            )
            for name in SIDES
        )
        postings = Postings(*(arrays[name] for name in POSTINGS))
        memory = TranslationMemory(source, target, postings, settings["settings"], settings["provenance"])
        whole = _fits(memory) and isinstance(memory.lowercase, bool)
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged translation memory ({type(error).__name__}: {error})") from None
    if not whole:
        raise ModelError(f"{path}: damaged translation memory: the lengths of its arrays do not match")
    return memory


def _fits(memory: TranslationMemory) -> bool:
    """Whether the arrays have the lengths that they must have to each other."""
    postings, sides = memory.postings, (memory.source, memory.target)
    entries = {int(postings.starts[-1]), len(postings.documents), len(postings.impacts)}
    words = {len(postings.starts) - 1, len(postings.highest), len(memory.source.words)}
    ends = all(int(side.offsets[-1]) == len(side.tokens) for side in sides)
    return len(entries) == 1 and len(words) == 1 and ends and len({len(side) for side in sides}) == 1
