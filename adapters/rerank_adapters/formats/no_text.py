"""Refuses what other programs write and no text is: JSON, subtitles, words with times, files with a header."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rerank_plugins import FormatError
from rerank_plugins.core.json_and_toml import read_json

BRACKETS = re.compile(r"[\[{\s]+")  # the first line of a JSON document that spans lines
CLOCK = r"(?:\d+:)?\d+:\d\d[.,]\d+"
SECONDS = r"\d+(?:\.\d*)?"
NO_TEXT = {  # what other programs write, by all of the first lines
    "words with times (CTM)": re.compile(rf"(?:\S+ +\S+ +{SECONDS} +{SECONDS} +\S+(?: +[\d.]+)? *\n)+"),
    "stretches with times": re.compile(r"(?:\d+\.\d+\t\d+\.\d+\t.*\n)+"),
    "subtitles": re.compile(rf"(?:WEBVTT|\[Script Info\]|(?:\d+\n)?\[?{CLOCK}(?:\]| --> ))[\s\S]*"),
    "the header of another program": re.compile(
        r"(?:#!|File type = \"oo|<\?xml|<!DOCTYPE|<tt\b)[\s\S]*", re.IGNORECASE
    ),
}


def check_no_dump(lines: Iterable[str], path: str, advice: str = "") -> None:
    """Raise FormatError, with advice about JSON, where the first lines are not text but what other programs write."""
    head = [line.rstrip("\r\n") for line in lines if line.strip()]
    if head and _begins_json(head[0].strip()):
        raise FormatError(f"expected text but found JSON{advice}", path=path)
    whole = "".join(f"{line}\n" for line in head)
    if what := next((what for what, sign in NO_TEXT.items() if sign.fullmatch(whole)), ""):
        raise FormatError(f"expected text but found {what}: {head[0].strip()[:60]!r}", path=path)


def _begins_json(line: str) -> bool:
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
