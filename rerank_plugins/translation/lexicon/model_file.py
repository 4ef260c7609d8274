"""Reads and writes a word lexicon in one file, whose arrays are mapped into memory."""

from __future__ import annotations

from pathlib import Path

from rerank_plugins import __version__
from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.kit.files import model_file
from rerank_plugins.translation.lexicon.model import WordLexicon

KIND = "word-lexicon"
ARRAYS = ("bias", "starts", "targets", "weights")


def write_model(lexicon: WordLexicon, path: Path) -> int:
    """Write the lexicon atomically and return the size of the file in bytes. Raises OSError."""
    arrays: model_file.Arrays = {name: getattr(lexicon, name) for name in ARRAYS}
    arrays["source.words"] = model_file.word_array(lexicon.source_words)
    arrays["target.words"] = model_file.word_array(lexicon.target_words)
    return model_file.write_model(path, KIND, {"training": {**lexicon.settings, "version": __version__}}, arrays)


def read_model(path: Path) -> WordLexicon:
    """Map a lexicon into memory.

    Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind.
    """
    settings, arrays = model_file.read_model(path, KIND)
    try:
        sources, targets = (model_file.words_from(arrays[f"{side}.words"]) for side in ("source", "target"))
        bias, starts, numbers, weights = (arrays[name] for name in ARRAYS)
        lexicon = WordLexicon(sources, targets, bias, starts, numbers, weights, settings["training"])
        sizes = (len(lexicon.starts) - 1, len(lexicon.bias), int(lexicon.starts[-1]), len(lexicon.weights))
        whole = sizes == (len(sources), len(targets), len(lexicon.targets), len(lexicon.targets))
        whole &= isinstance(lexicon.settings["lowercase"], bool)
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged word lexicon ({type(error).__name__}: {error})") from None
    if not whole:
        raise ModelError(f"{path}: damaged word lexicon: the lengths of its arrays do not match")
    return lexicon
