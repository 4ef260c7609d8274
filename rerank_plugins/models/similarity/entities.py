"""Similarity by named entities (Wu et al. 2013, section 2.1); without a recogniser, by their capital letters.

By capital letters, without a list of names, an entity is a longest run of tokens that begin with a capital letter; the
first word of a sentence alone is none. `of`, `the`, `and` and the like may stand inside a run (Bank of England).
Sentences in which all words have a capital, as in some headlines, or none has, have no entities.

    overlap   2 |NE1 ∩ NE2| / (|NE1| + |NE2|)                                                                      (1)
    aligned   Σ f(ne1, ne2) over pairs, best pair first, each entity once, / max(|NE1|, |NE2|)                     (2)

with f the longest common subsequence or greedy string tiling of their characters. 0 where a side has no entity; where
neither has, `none` is 1, and the others are 0 unless the sentences are the same (measures.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerank_plugins.models.similarity.alignment import greedy_pairs

if TYPE_CHECKING:
    from rerank_plugins.models.similarity.text import Lexicon, Text

NAMES = ("overlap", "aligned_subsequence", "aligned_tiling", "none")
OTHER = ("none",)  # what says no likeness
INSIDE = {"of", "the", "and", "de", "la", "von", "van", "for", "'s", "&"}


def measure(a: Text, b: Text, lexicon: Lexicon) -> tuple[float, ...]:  # noqa: ARG001
    """One value from 0 to 1 per name."""
    from rerank_plugins.models.similarity.strings import subsequence, tiling

    if not a.names or not b.names:
        return 0.0, 0.0, 0.0, float(not a.names and not b.names)
    left, right = set(a.names), set(b.names)
    same = 2 * len(left & right) / (len(left) + len(right))
    return same, aligned(a.names, b.names, subsequence), aligned(a.names, b.names, tiling), 0.0


def aligned(a: Sequence[str], b: Sequence[str], similarity: Callable[[str, str], float]) -> float:
    """Equation 2: pairs from the most similar down, each entity in one pair at most; the same for b and a."""
    a, b = sorted((tuple(a), tuple(b)))
    similar = np.array([[similarity(x, y) for y in b] for x in a], np.float64)
    return float(sum(similar[pair] for pair in greedy_pairs(similar)) / max(len(a), len(b)))


def named_entities(tokens: Sequence[str]) -> tuple[str, ...]:
    """The entities in lower case, in the order of the sentence, each once."""
    letters = [token for token in tokens if token[:1].isalpha()]
    capitals = sum(token[0].isupper() for token in letters)
    if not letters or capitals == 0 or (capitals == len(letters) and len(letters) > 3):
        return ()
    found: list[str] = []
    run: list[int] = []
    for i, token in enumerate([*tokens, ""]):
        if token[:1].isupper() or (run and token.lower() in INSIDE and i + 1 < len(tokens)):
            run.append(i)
            continue
        while run and not tokens[run[-1]][0].isupper():
            run.pop()
        if run and run != [0]:
            found.append(" ".join(tokens[j] for j in run).lower())
        run = []
    return tuple(dict.fromkeys(found))
