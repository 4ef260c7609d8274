"""The parser of a model of trees: that which made its trees, and at least one of the same language.

A model file records its parser as the table by which a config names it, `{"use": "biaffine", "model": …}`. A file among
the options is recorded by its path, relative to the folder of the model file, and by the hash of its content.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.core.identity import path_hash
from rerank_plugins.core.interfaces import Parser
from rerank_plugins.core.trained_on import UNDETERMINED, TrainedOn
from rerank_plugins.kit.files.cached_parser import CachedParser
from rerank_plugins.kit.files.model_file import read_trained_on

ADVICE = "name the parser of the hypotheses with the option 'parser'"


def record_parser(use: str, parser: Parser, folder: Path) -> dict[str, Any]:
    """The table of a parser registered as `use`, for a model file in `folder`; options at their defaults are left out.

    It is empty for a parser that has trees for some sentences alone, and for one that is no dataclass.
    """
    if not parser.general or not is_dataclass(parser):
        return {}
    options = {f.name: (getattr(parser, f.name), f.default) for f in fields(parser) if f.init}
    chosen = {name: value for name, (value, default) in options.items() if value != default}
    return {"use": use} | {
        name: {"path": os.path.relpath(value, folder), "hash": path_hash(value)} if isinstance(value, Path) else value
        for name, value in chosen.items()
    }


def recorded_parser(model: Path) -> dict[str, Any]:
    """The table of the parser of a model file's trees, with its files where they are now; empty if none is recorded.

    A file is looked for where it was, seen from the model file, and beside the model file. Raises ModelError if it is
    in neither place, or has another content there.
    """
    recorded = read_trained_on(model).parser
    try:
        return {
            name: str(_find(model, value, recorded["use"])) if isinstance(value, Mapping) else value
            for name, value in recorded.items()
        }
    except DAMAGE as error:
        raise ModelError(f"{model}: damaged record of its parser ({type(error).__name__}: {error})") from None


def _find(model: Path, file: Mapping[str, Any], use: str) -> Path:
    paths = file["path"], Path(file["path"]).name
    places = [Path(os.path.normpath(model.parent / path)) for path in dict.fromkeys(paths)]
    present = [place for place in places if place.exists()]
    for place in present:
        if path_hash(place) == file["hash"]:
            return place
    problem = f"{present[0]} is another file now" if present else f"there is no {' and no '.join(map(str, places))}"
    raise ModelError(f"{model}: its trees were parsed by {use!r} with a file of its own, but {problem}: {ADVICE}")


def parser_of_model(model: Path | None, parser: Parser | None, default: Parser) -> Parser:
    """The parser for a model file, or for an embedded English model if that is None; `default` if `parser` is None.

    Raises ModelError for a parser of another language than the model's, also if it is the default.
    """
    trained_on = read_trained_on(model) if model else TrainedOn("en")
    chosen, whose = (parser, "the parser") if parser else (CachedParser(default), "the default parser")
    if parser is None and trained_on.language == UNDETERMINED:
        raise ModelError(f"{model}: trained on text of no known language: {ADVICE}, or train it with --language")
    if trained_on.differs(chosen.trained_on):
        languages = f"{trained_on.language!r}, and {whose} reads {chosen.trained_on.language!r}"
        raise ModelError(f"{model or 'the embedded model'}: trained on {languages}: {ADVICE}")
    return chosen
