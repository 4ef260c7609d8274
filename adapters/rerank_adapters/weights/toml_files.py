"""Reads TOML files, with the lines of their keys for error messages, and writes them completely or not at all."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.json_and_toml import read_toml_table
from rerank_plugins.kit.files.text import display_name, open_atomic, open_text


@dataclass(frozen=True)
class TomlFile:
    """The name of a TOML file, as error messages show it, its text and its content."""

    name: str
    text: str
    document: Mapping[str, Any]

    def error(self, message: str, key: str | None = None) -> FormatError:
        """The error to raise, with the line of the key, which tomllib does not give."""
        line = None
        if key is not None:
            pattern = re.compile(rf"""\s*\[?\s*["']?{re.escape(key)}["']?\s*[\]=.]""")
            line = next((i for i, line in enumerate(self.text.split("\n"), 1) if pattern.match(line)), None)
        return FormatError(message, path=self.name, line=line)


def read_toml(path: str | Path) -> TomlFile:
    """Read a file, compressed or not; `-` is stdin. Raises FormatError, with the line, where it is not valid TOML."""
    name = display_name(path)
    with open_text(path) as lines:
        text = "".join(lines)
    try:
        return TomlFile(name, text, read_toml_table(text))
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        raise FormatError(f"not valid TOML: {error}", path=name, line=int(at[1]) if at else None) from None


def write_toml(document: Mapping[str, Any], path: str | Path) -> None:
    """Write a document to a file; `-` is stdout."""
    with open_atomic(path) as stream:
        stream.write(tomli_w.dumps(document))


def plain_values(value: Any) -> Any:
    """The value in TOML's types: without None, with sequences as arrays, numpy values as Python's and paths as text."""
    if isinstance(value, Mapping):
        return {str(key): plain_values(item) for key, item in value.items() if item is not None}
    if isinstance(value, str | bool | int | float):
        return value
    if hasattr(value, "tolist"):
        return plain_values(value.tolist())
    if isinstance(value, Sequence):
        return [plain_values(item) for item in value if item is not None]
    return str(value)
