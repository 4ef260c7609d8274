"""The parser of the trees that a model reads, where no parser is named: by the header of the model's file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rerank_plugins.kit.files.cached_parser import recorded_parser
from rerank_plugins.kit.files.languages import ENGLISH, models_of
from rerank_plugins.kit.files.model_file import model_kind, read_trained_on


def parser_of(model: Path, language: str) -> dict[str, Any]:
    """The table of the parser of a model of trees where none is named; empty without one.

    It is the parser that the model file records, or else that of the language, but not of English: trees that were made
    from dependencies are those of `biaffine`, others those of `pcfg`.
    """
    if recorded := recorded_parser(model):
        return recorded
    if language in ("", ENGLISH):
        return {}
    of_words = model_kind(model) == "dependency"
    use = "biaffine" if of_words or read_trained_on(model).labels else "pcfg"
    if use not in models_of(language):
        return {}
    return {"use": use} if of_words or use == "pcfg" else {"use": use, "constituents": True}
