"""A joint model in one file, whose arrays are mapped into memory; see JointModel."""

from __future__ import annotations

from rerank_plugins.kit.files.declared import ModelFile
from rerank_plugins.translation.joint_model.model import JointModel


def _fits(model: JointModel) -> bool:
    """Whether the embeddings fit the numbering and the hidden layer."""
    numbering, (symbols, embedding) = model.numbering, model.embeddings.shape
    inputs = (2 * numbering.window + 1 + numbering.history) * embedding
    return min(numbering.window, numbering.history) >= 0 and (symbols, inputs) == (numbering.symbols, len(model.hidden))


ARRAYS = ("embeddings", "hidden", "hidden_bias", "output", "output_bias")
FILE = ModelFile(JointModel, "joint-lm", "joint model", first=ARRAYS, check=_fits)
read_model, write_model = FILE.read, FILE.write
