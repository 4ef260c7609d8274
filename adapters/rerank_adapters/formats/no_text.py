"""Refuses files of other programs whose lines would be read as text: JSON, and files that begin with a header."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rerank_plugins import FormatError
from rerank_plugins.core.json_and_toml import read_json

BRACKETS = re.compile(r"[\[{\s]+")  # the first line of a JSON document that spans lines


def check_text(lines: Iterable[str], path: str) -> None:
    """Raise FormatError where the first line is JSON, or a header such as `#!NAME!#`."""
    first = next((line.strip() for line in lines if line.strip()), "")
    if begins_json(first):
        by_place = "the form json,id_key=none matches its records by their places"
        raise FormatError(f"the lines are JSON, not text; {by_place}", path=path)
    if first.startswith("#!"):
        raise FormatError(f"the first line, {first[:60]!r}, is a header of another program, not text", path=path)


def begins_json(line: str) -> bool:
    """Whether a line is a JSON object, or an array of anything but numbers, or begins one that spans lines."""
    if line.lstrip()[:1] not in ("{", "["):
        return False
    if BRACKETS.fullmatch(line):
        return True
    try:
        value = read_json(line)
    except ValueError:
        return False
    return isinstance(value, dict) or any(isinstance(item, str | list | dict) for item in value)
