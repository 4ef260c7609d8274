"""A model of missing words in one file, whose arrays are mapped into memory; see MissingWordsModel."""

from __future__ import annotations

from rerank_plugins.kit.files.declared import ModelFile
from rerank_plugins.missing_words.gap_words import COMPONENTS
from rerank_plugins.missing_words.model import MissingWordsModel

FILE = ModelFile(
    MissingWordsModel,
    "missing-words",
    "model of missing words",
    check=lambda model: len(model.mixture) == len(COMPONENTS),
)
read_model, write_model = FILE.read, FILE.write
