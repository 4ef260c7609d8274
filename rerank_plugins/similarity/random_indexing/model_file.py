"""A random-indexing model in one file: words, counts, and the vectors of each space; see RandomIndexModel.

Vectors have unit length and half precision, which changes a cosine of sentences by less than 0.001. They are mapped
into memory: pages are read on first access and shared between processes.
"""

from __future__ import annotations

from rerank_plugins.kit.files.declared import ModelFile
from rerank_plugins.similarity.random_indexing.model import RandomIndexModel

FILE = ModelFile(RandomIndexModel, "random-indexing", "random-indexing model", check=lambda model: model.form(""))
read_model, write_model = FILE.read, FILE.write
