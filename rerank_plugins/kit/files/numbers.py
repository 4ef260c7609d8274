"""Reads and writes numbers in text files: they are finite, and read back as the same float64."""

from __future__ import annotations

from math import isfinite


def finite(text: str) -> float:
    """Parse a finite number. Raises ValueError with the text found and what was expected.

    This is stricter than float(): nan and inf are errors, and so are `1_000` and non-ASCII digits.
    """
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"is {text.strip()!r}, expected a number") from None
    if "_" in text or not text.isascii():
        raise ValueError(f"is {text.strip()!r}, expected a number")
    if not isfinite(value):
        raise ValueError(f"is {text.strip()!r}, expected a finite number")
    return value


def shortest(value: float) -> str:
    """The shortest text that reads back as exactly `value`: `-7` and `0.1`, never `-7.0`."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text
