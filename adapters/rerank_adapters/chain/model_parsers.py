"""Which parser a model of trees wants where none is named: that of its trees, or that of the config's language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rerank_plugins.kit.files.cached_parser import recorded_parser
from rerank_plugins.kit.files.languages import ENGLISH, models_of
from rerank_plugins.kit.files.model_file import model_kind, read_trained_on


def parser_table(model: Path, language: str) -> dict[str, Any]:
    """The table of the parser that a model file records, or else that of the language; empty without one."""
    return recorded_parser(model) or _of_language(model, language)


def _of_language(model: Path, language: str) -> dict[str, Any]:
    """The table of the parser of a language for a model of trees that records none; empty for English.

    Trees that were made from dependencies are those of `biaffine`, others those of `pcfg`.
    """
    if language in ("", ENGLISH):
        return {}
    of_words = model_kind(model) == "dependency"
    labels = read_trained_on(model).labels
    use = "biaffine" if of_words or labels else "pcfg"
    if use not in models_of(language):
        return {}
    return {"use": use} if of_words or use == "pcfg" else {"use": use, "constituents": True}
