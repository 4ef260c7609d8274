"""N-grams of words and characters (Bär et al. 2012): containment |A ∩ B| / |A|, Jaccard |A ∩ B| / |A ∪ B|, cosines.

The `characters` measures are cosines of the counts of character n-grams, including spaces. The `content` measures leave
function words out. A measure is 0 if a sentence has no such n-gram.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set as AbstractSet
from math import sqrt

from rerank_plugins.similarity.measures.overlap import grams
from rerank_plugins.similarity.measures.sentence_parts import Lexicon, Text

NAMES = (
    "containment_1_content", "containment_2_content", "containment_1",
    "jaccard_1", "jaccard_2", "jaccard_3", "jaccard_4", "jaccard_2_content", "jaccard_4_content",
    "characters_2", "characters_3", "characters_4", "characters_5",
)  # fmt: skip


def measure(a: Text, b: Text, lexicon: Lexicon) -> tuple[float, ...]:  # noqa: ARG001
    """Compute the measures of NAMES, each from 0 to 1."""
    return (
        *(containment(grams(a.content, n), grams(b.content, n)) for n in (1, 2)),
        containment(grams(a.words, 1), grams(b.words, 1)),
        *(jaccard(grams(a.words, n), grams(b.words, n)) for n in (1, 2, 3, 4)),
        *(jaccard(grams(a.content, n), grams(b.content, n)) for n in (2, 4)),
        *(character_cosine(a.characters, b.characters, n) for n in (2, 3, 4, 5)),
    )


def containment(a: AbstractSet[object], b: AbstractSet[object]) -> float:
    """The proportion of the first set that the second contains, |A ∩ B| / |A|."""
    return len(a & b) / len(a) if a else 0.0


def jaccard(a: AbstractSet[object], b: AbstractSet[object]) -> float:
    """The Jaccard coefficient |A ∩ B| / |A ∪ B|."""
    return len(a & b) / len(a | b) if a or b else 0.0


def character_cosine(a: str, b: str, n: int) -> float:
    """The cosine of the vectors of character n-gram counts."""
    left, right = (Counter(text[i : i + n] for i in range(len(text) - n + 1)) for text in (a, b))
    both = sum(count * right[gram] for gram, count in left.items() if gram in right)
    return both / sqrt(sum(c * c for c in left.values()) * sum(c * c for c in right.values())) if both else 0.0
