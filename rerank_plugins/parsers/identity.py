"""What a parser's trees depend on, in one text: its class, its options, the content of its model files, versions.

Two parsers with the same identity give the same trees, so that one may use what the other has parsed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rerank_plugins import __version__
from rerank_plugins.interfaces import Parser
from rerank_plugins.paths import content_hash


def identity(parser: Parser) -> str | None:
    """JSON; None for a parser that is no dataclass, whose options nobody can know.

    `engines`, where the class has it, names the distributions that do the work, and `resources` files that it reads.
    Raises ModelError where the parser's own methods do.
    """
    if not dataclasses.is_dataclass(parser):
        return None
    kind = type(parser)
    described = {
        "class": f"{kind.__module__}.{kind.__qualname__}",
        "code": _code(kind),
        "version": __version__ if kind.__module__.startswith("rerank_plugins.") else None,
        "engines": {name: _version(name) for name in getattr(parser, "engines", ())},
        "resources": [_described(path) for path in getattr(parser, "resources", ())],
        "options": {
            field.name: _described(getattr(parser, field.name))
            for field in dataclasses.fields(parser)
            if not field.name.startswith("_")
        },
    }
    return json.dumps(described, ensure_ascii=False, sort_keys=True)


def _described(value: Any) -> Any:
    """Plain values; a file as its content's hash, a folder as those of its files."""
    if isinstance(value, Path):
        if value.is_dir():
            return {
                str(file.relative_to(value)): _described(file) for file in sorted(value.rglob("*")) if file.is_file()
            }
        try:
            return f"sha256:{content_hash(value)}"
        except OSError:
            return f"no file {value}"
    if isinstance(value, (list, tuple)):
        return [_described(item) for item in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


def _code(kind: type) -> str:
    """Hash of the class's source: a plugin that somebody is still writing is not the same parser after a change."""
    try:
        return hashlib.sha256(inspect.getsource(kind).encode()).hexdigest()[:16]
    except (OSError, TypeError):  # made interactively, or compiled
        return ""


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
