"""The words of tokenised sentences: their spelling in a model, and those frequent enough to be known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rerank_plugins.core.brackets_and_quotes import normal_text


def split_words(text: str, lowercase: bool) -> list[str]:
    """The words of a tokenised text, with brackets in normal form, and in lower case if `lowercase`."""
    text = normal_text(text)
    return text.lower().split() if lowercase else text.split()


def frequent_words(sentences: Iterable[Iterable[str]], least: int) -> tuple[str, ...]:
    """The words that occur at least `least` times, the most frequent first, those of equal frequency in order.

    Where the sentences are sets, occurrences are numbers of sentences.
    """
    counts = Counter(word for words in sentences for word in words)
    return tuple(sorted((word for word, n in counts.items() if n >= least), key=lambda word: (-counts[word], word)))
