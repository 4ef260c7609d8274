"""Scores sentences by an incremental language model over the trie of their prefixes.

Hypotheses of an n-best list share prefixes. In sorted order, a sentence shares its longest common prefix with the
sentence just before it, so that a stack of states represents the whole trie: each distinct prefix is advanced once, and
memory is that of one sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from rerank_plugins.core.interfaces import IncrementalLM, Sentence


class Walked(NamedTuple):
    """A sentence of the walk: its number, ln p of each word, and the states, `start` first.

    The walk changes both lists in place when it goes on to the next sentence.
    """

    number: int
    ln_p: list[float]
    states: list[Any]


def walk(model: IncrementalLM[Any], sentences: Sequence[Sentence]) -> Iterator[Walked]:
    """Yield every sentence in sorted order; each distinct prefix is advanced once.

    >>> class Length:
    ...     def start(self): return 0
    ...     def advance(self, state, word): print(word); return -1.0, state + 1
    ...     def finish(self, state): return 0.0
    >>> for number, ln_p, states in walk(Length(), [["b", "c"], ["a"], ["b"]]):
    ...     print(number, ln_p, states)
    a
    1 [-1.0] [0, 1]
    b
    2 [-1.0] [0, 1]
    c
    0 [-1.0, -1.0] [0, 1, 2]
    """
    words: list[str] = []
    ln_p: list[float] = []
    states = [model.start()]
    for number in sorted(range(len(sentences)), key=lambda i: tuple(sentences[i])):
        sentence = sentences[number]
        shared = 0
        while shared < min(len(words), len(sentence)) and words[shared] == sentence[shared]:
            shared += 1
        del words[shared:], ln_p[shared:], states[shared + 1 :]
        for word in sentence[shared:]:
            value, state = model.advance(states[-1], word)
            words.append(word)
            ln_p.append(value)
            states.append(state)
        yield Walked(number, ln_p, states)


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
