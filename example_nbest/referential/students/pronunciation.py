"""Pronunciations: those of words.txt, and of names put together from a stem and an ending (name_parts.txt)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
Phones = tuple[str, ...]


def _lines(name: str) -> list[list[str]]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]


@cache
def pronunciations() -> dict[str, Phones]:
    """The phones of every word of the domain."""
    return {word: tuple(phones) for word, *phones in [*_lines("words.txt"), *made_names()]}


@cache
def made_names() -> tuple[tuple[str, ...], ...]:
    """Every combination of a stem and an ending, and its phones; two equal phones in a row are one."""
    parts = _lines("name_parts.txt")
    stems = [(spelling, phones) for kind, spelling, *phones in parts if kind == "stem"]
    endings = [(spelling, phones) for kind, spelling, *phones in parts if kind == "ending"]
    names = []
    for stem, first in stems:
        for ending, second in endings:
            phones = [*first, *(second[1:] if second[0] == first[-1] else second)]
            names.append((stem + ending, *phones))
    return tuple(names)


@cache
def students() -> tuple[str, ...]:
    """The names of the students of the small world, in the order of words.txt."""
    lines = (HERE / "words.txt").read_text(encoding="utf-8").partition("# Students")[2].splitlines()
    return tuple(line.split()[0] for line in lines[1:])
