"""Numbers of things in messages: `1 list`, `1,200 lists`."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, singular or plural (the noun with an s unless `plural` is given).

    >>> counted(1, "seed"), counted(1200, "tree"), counted(2, "hypothesis", "hypotheses")
    ('1 seed', '1,200 trees', '2 hypotheses')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
