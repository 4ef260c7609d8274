"""A word alignment model in one file, whose arrays are mapped into memory; see WordAlignmentModel.

A file has both directions, and its settings name their model.
"""

from __future__ import annotations

from rerank_plugins.kit.files.declared import ModelFile
from rerank_plugins.translation.alignment.model import WordAlignmentModel

FILE = ModelFile(
    WordAlignmentModel, "word-alignment", "word alignment model", first=("source_words", "source_sentences")
)
read_model, write_model = FILE.read, FILE.write
