"""Reads the grammar of a plugin: the file that its options name, or the embedded English grammar."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rerank_plugins.kit.files.embedded import embedded, shared_if_embedded
from rerank_plugins.kit.files.model_file import read_trained_on

if TYPE_CHECKING:
    from rerank_plugins.constituency.grammar import Grammar

EMBEDDED = embedded("grammar.pcfg")


def read_or_embedded(model: Path | None, language: str = "") -> Grammar:
    """Read the grammar of a file or, if `model` is None, the embedded one, which is read once in a process.

    Raises ModelError for a file that is missing, truncated, or of another kind or version, and for a grammar that was
    trained for another language than `language`, unless that is empty.
    """
    from rerank_plugins.constituency.model_file import read_grammar

    path = model or EMBEDDED
    grammar = shared_if_embedded(path, read_grammar)
    read_trained_on(path).check_language(language, path)
    return grammar
