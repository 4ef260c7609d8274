"""Reads and writes a word alignment model in one file, whose arrays are mapped into memory.

A file has both directions, and its settings name their model.
"""

from __future__ import annotations

from pathlib import Path

from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.kit.files import model_file
from rerank_plugins.translation.alignment.model import DirectionModel, Lexicon, WordAlignmentModel

KIND = "word-alignment"


def write_model(model: WordAlignmentModel, path: Path) -> int:
    """Write the model atomically and return the size of the file in bytes. Raises OSError."""
    directions = {"forward": model.forward, "backward": model.backward}
    settings = {
        "training": dict(model.settings),
        "tension": {name: direction.tension for name, direction in directions.items()},
    }
    arrays: model_file.Arrays = {
        "source.words": model_file.word_array(model.source_words),
        "source.sentences": model.source_sentences,
        "target.words": model_file.word_array(model.target_words),
        "target.sentences": model.target_sentences,
        "starts": model.lexicon.starts,
        "targets": model.lexicon.targets,
        "forward.t": model.lexicon.forward,
        "backward.t": model.lexicon.backward,
    }
    for name, direction in directions.items():
        arrays |= {f"{name}.null": direction.null, f"{name}.jumps": direction.jumps}
    return model_file.write_model(path, KIND, settings, arrays)


def read_model(path: Path) -> WordAlignmentModel:
    """Map a model into memory.

    Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind.
    """
    settings, arrays = model_file.read_model(path, KIND)
    try:
        forward, backward = (
            DirectionModel(arrays[f"{name}.null"], float(settings["tension"][name]), arrays[f"{name}.jumps"])
            for name in ("forward", "backward")
        )
        model = WordAlignmentModel(
            model_file.words_from(arrays["source.words"]),
            model_file.words_from(arrays["target.words"]),
            arrays["source.sentences"],
            arrays["target.sentences"],
            Lexicon(arrays["starts"], arrays["targets"], arrays["forward.t"], arrays["backward.t"]),
            forward,
            backward,
            settings["training"],
        )
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged word alignment model ({type(error).__name__}: {error})") from None
    sources, targets, lexicon = len(model.source_words), len(model.target_words), model.lexicon
    sizes = {len(lexicon.targets), len(lexicon.forward), len(lexicon.backward), int(lexicon.starts[-1])}
    fits = len(sizes) == 1 and len(lexicon.starts) == sources + 1 and len(model.forward.null) == targets
    if not fits or len(model.backward.null) != sources or len(model.source_sentences) != sources:
        raise ModelError(f"{path}: damaged word alignment model: its arrays do not fit together")
    return model
