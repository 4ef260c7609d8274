"""A translation memory in one file, mapped into memory and shared between processes; see TranslationMemory."""

from __future__ import annotations

from rerank_plugins.kit.files.declared import ModelFile
from rerank_plugins.translation.memory.stored_pairs import TranslationMemory

FILE = ModelFile(
    TranslationMemory,
    "translation-memory",
    "translation memory",
    first=("postings",),
    check=lambda memory: isinstance(memory.settings["lowercase"], bool),
)
read_model, write_model = FILE.read, FILE.write
