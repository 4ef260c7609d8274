"""Selects the words of a training corpus that are frequent enough to be known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def frequent_words(sentences: Iterable[Iterable[str]], least: int) -> tuple[str, ...]:
    """The words that occur at least `least` times, the most frequent first, those of equal frequency in order.

    Where the sentences are sets, occurrences are numbers of sentences.
    """
    counts = Counter(word for words in sentences for word in words)
    return tuple(sorted((word for word, n in counts.items() if n >= least), key=lambda word: (-counts[word], word)))
