"""A word lexicon in one file, whose arrays are mapped into memory; see WordLexicon."""

from __future__ import annotations

from rerank_plugins.kit.files.declared import ModelFile
from rerank_plugins.translation.lexicon.model import WordLexicon

FILE = ModelFile(
    WordLexicon,
    "word-lexicon",
    "word lexicon",
    first=("bias", "starts", "targets", "weights"),
    check=lambda lexicon: isinstance(lexicon.settings["lowercase"], bool),
)
read_model, write_model = FILE.read, FILE.write
