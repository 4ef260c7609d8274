"""A dependency language model in one file: tables, words, labels, settings and provenance; see DependencyModel.

The tables are mapped into memory, so opening a file takes only the reading of the words: some milliseconds.
"""

from __future__ import annotations

from rerank_plugins.dependency.model import DependencyModel
from rerank_plugins.kit.files.declared import ModelFile

FILE = ModelFile(
    DependencyModel,
    "dependency",
    "dependency language model",
    check=lambda model: model.tables.order == model.settings.order,
)
read_model, write_model = FILE.read, FILE.write
