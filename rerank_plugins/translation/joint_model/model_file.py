"""Reads and writes a joint model in one file, whose arrays are mapped into memory."""

from __future__ import annotations

from pathlib import Path

from rerank_plugins import __version__
from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.kit.files import model_file
from rerank_plugins.translation.joint_model.contexts import Numbering
from rerank_plugins.translation.joint_model.model import JointModel

KIND = "joint-lm"
ARRAYS = ("embeddings", "hidden", "hidden_bias", "output", "output_bias")


def write_model(model: JointModel, path: Path) -> int:
    """Write the model atomically and return the size of the file in bytes. Raises OSError."""
    arrays: model_file.Arrays = {name: getattr(model, name) for name in ARRAYS}
    arrays["source.words"] = model_file.word_array(model.numbering.source_words)
    arrays["target.words"] = model_file.word_array(model.numbering.target_words)
    return model_file.write_model(path, KIND, {"training": {**model.settings, "version": __version__}}, arrays)


def read_model(path: Path) -> JointModel:
    """Map a model into memory.

    Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind.
    """
    settings, arrays = model_file.read_model(path, KIND)
    try:
        training = settings["training"]
        sources, targets = (model_file.words_from(arrays[f"{side}.words"]) for side in ("source", "target"))
        numbering = Numbering(
            sources, targets, int(training["window"]), int(training["history"]), bool(training["lowercase"])
        )
        model = JointModel(numbering, settings=training, **{name: arrays[name] for name in ARRAYS})
        places, (inputs, hidden) = 2 * numbering.window + 1 + numbering.history, model.hidden.shape
        whole = inputs % places == 0 and min(numbering.window, numbering.history) >= 0
        whole &= model.embeddings.shape == (numbering.symbols, inputs // places)
        whole &= model.output.shape == (numbering.outputs, hidden)
        whole &= (len(model.hidden_bias), len(model.output_bias)) == (hidden, numbering.outputs)
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged joint model ({type(error).__name__}: {error})") from None
    if not whole:
        raise ModelError(f"{path}: damaged joint model: the shapes of its arrays do not match")
    return model
