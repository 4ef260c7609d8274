"""How many steps the sharing of prefixes saves."""

from collections.abc import Sequence
from itertools import pairwise

from rerank_plugins.core.interfaces import Sentence


def prefixes(sentences: Sequence[Sentence]) -> tuple[int, int]:
    """Return the number of words, and of distinct prefixes: the numbers of steps without and with sharing."""
    ordered = sorted(map(tuple, sentences))
    shared = 0
    for before, after in pairwise(ordered):
        shared += next(
            (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
        )
    words = sum(map(len, ordered))
    return words, words - shared
