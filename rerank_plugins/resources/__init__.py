"""The files of embedded models."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def embedded(name: str, language: str = "en") -> Path:
    """The path of an embedded file, such as `grammar.pcfg`; `resources/LANGUAGE/README.md` says how it was made."""
    return Path(str(files(__name__) / language / name))
