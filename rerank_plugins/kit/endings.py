"""The shape of a form with its endings, the least specific first, by which an unknown word shows its inflection."""

from __future__ import annotations

from collections.abc import Iterator

MAX_ENDING_LETTERS = 4  # letters of an ending


def endings(form: str) -> Iterator[str]:
    """The shape of a form with the endings of its lower-case form, the least specific first.

    >>> list(endings("Authors")), list(endings("2nd"))
    (['', 'A', 'As', 'Ars', 'Aors', 'Ahors'], ['', '0', '0d', '0nd'])
    """
    shape = "0" if any(map(str.isdigit, form)) else "A" if form[:1].isupper() else "a"
    yield ""
    lowered = form.lower()
    yield from (shape + lowered[len(lowered) - size :] for size in range(min(MAX_ENDING_LETTERS, len(lowered) - 1) + 1))
