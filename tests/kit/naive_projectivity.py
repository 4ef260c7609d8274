"""Projectivity and lifting by their definitions: the words below each word as sets."""

from __future__ import annotations

from collections.abc import Sequence


def below(heads: Sequence[int], word: int) -> set[int]:
    """The word, and all that depend on it, directly or not."""
    return {word}.union(*(below(heads, other) for other, head in enumerate(heads) if head == word))


def is_projective(heads: Sequence[int]) -> bool:
    """Whether the words below every word are contiguous."""
    return all(
        max(words) - min(words) + 1 == len(words) for words in (below(heads, word) for word in range(len(heads)))
    )


def crossing(heads: Sequence[int]) -> list[int]:
    """The words whose arc covers a word that is not below its head, those of the shortest and leftmost arcs first."""
    arcs = [(head, word) for word, head in enumerate(heads) if head >= 0]
    crossed = [arc for arc in arcs if not set(range(min(arc), max(arc))) <= below(heads, arc[0]) | {min(arc)}]
    return [word for _, word in sorted(crossed, key=lambda arc: (abs(arc[0] - arc[1]), min(arc), arc[1]))]


def lifted(heads: Sequence[int]) -> tuple[int, ...]:
    """The heads, after arcs were lifted one by one until none covers a word of another head's."""
    while words := crossing(heads):
        heads = [heads[head] if word == words[0] else head for word, head in enumerate(heads)]
    return tuple(heads)
