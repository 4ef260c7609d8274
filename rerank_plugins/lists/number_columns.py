"""Reads files of scores computed elsewhere: one number, or several between white space, on each line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.errors import FormatError
from rerank_plugins.kit.files.text import display_name, finite, open_text


def read_columns(path: str | Path, width: int | None = None) -> FloatArray:
    """(lines, width) the numbers of a file, compressed or not; `-` is stdin.

    Without `width` the first line says how many numbers a line has. Raises FormatError, with the line, for another
    number of them and for what is no finite number, and for an empty file.
    """
    name = display_name(path)
    numbers: list[str] = []
    with open_text(path) as lines:
        for at, line in enumerate(lines, 1):
            fields = line.split()
            width = len(fields) if width is None else width
            if len(fields) != width or not width:
                shown = line.strip()[:40]
                wanted = "1 number" if width == 1 else f"{width or 'one or more'} numbers between white space"
                raise FormatError(f"found {shown!r}, wanted {wanted}", path=name, line=at)
            numbers += fields
    if not width or not numbers:
        raise FormatError("the file is empty, wanted a line of numbers for each hypothesis", path=name)
    return _converted(numbers, width, name)


def _converted(numbers: list[str], width: int, name: str) -> FloatArray:
    """The numbers as an array; the slow, strict conversion is made only where the fast one cannot be trusted."""
    try:
        values = np.array([float(number) for number in numbers])
        strict = not np.isfinite(values).all() or any("_" in number or not number.isascii() for number in numbers)
    except ValueError:
        strict = True
    if strict:
        for position, number in enumerate(numbers):
            try:
                finite(number)
            except ValueError as error:
                column = f"number {position % width + 1} " if width > 1 else "the line "
                raise FormatError(f"{column}{error}", path=name, line=position // width + 1) from None
    return values.reshape(-1, width)
