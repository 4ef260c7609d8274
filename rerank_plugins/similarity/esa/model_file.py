"""An ESA model in one file, whose arrays are mapped into memory; see EsaModel."""

from __future__ import annotations

from rerank_plugins.kit.files.declared import ModelFile
from rerank_plugins.similarity.esa.model import EsaModel

FILE = ModelFile(
    EsaModel, "esa", "ESA model", first=("idf", "starts", "documents", "weights"), check=lambda model: model.form("")
)
read_model, write_model = FILE.read, FILE.write
