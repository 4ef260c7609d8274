"""The meaning that two sentences share: words aligned by identity, by the concepts they have in context, and by role.

A word of one sentence is as similar to a word of the other as

    lex(u, v) = 1                                                         for equal words
                b                                                         for words with the same first five letters
                c · max(0, ln Σ_i p_u[i] p_v[i] / P(i)) / mean(I_u, I_v)  for others, and at most 1
    s(u, v)   = lex(u, v) · (1 - d · [role_u ≠ role_v] · lex(above u, above v))

p_u is the posterior of the concepts of a word in its sentence (svs/tree_posteriors.py) and P(i) the mean over a corpus:
ln Σ p_u p_v / P is what the concept of one word tells about that of the other, and I is the information -ln P(word), so
that lex is the proportion of the words' information that they share (Lin 1998). Of one stem are also `men` and `man`,
`seen` and `saw`. Roles are those of arguments: subject, object and recipient of the word above, in a passive those of
the active (svs/head_arcs.py). A word that is no argument has the role of any other.

    meaning = harmonic mean of both directions of Σ_u w_u max_v s(u, v) / Σ_u w_u

It is symmetric, and 1 for equal sentences, which no others exceed. The weight w of a word is its information times its
rarity, which is its information again, or its idf among compared sentences. Tokens without a letter or digit weigh 0,
and so do auxiliaries and the prepositions over nouns, which roles stand for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from rerank_plugins import BoolArray, FloatArray, IntArray, LongArray, Tree
from rerank_plugins.kit.vocabulary.irregular_forms import base_form
from rerank_plugins.similarity.measures.tfidf import STEM
from rerank_plugins.svs.head_arcs import HeadArcs, head_arcs

STEMMED = 4  # letters of the shortest word that has a stem
STEP = 50  # pairs of sentences that are compared at a time
SHARED = 4_000_000  # pairs of words whose concepts are compared at a time
TINY = 1e-300


class Parts(NamedTuple):
    """What the parts of a meaning count: b, c and d."""

    stem: float
    concepts: float
    role: float


# On the training sets of STS 2012 (`python -m docs.results.scripts.meaning_weights`), the stem has its best value; c is
# 1, the proportion as it is defined, and d what tells a swap from a passive (role_triples), which take 0.004 from the
# best mean of r.
FITTED = Parts(0.8, 1.0, 0.5)
ARGUMENTS = {"subject": 0, "object": 1, "to": 2, "MOD:nsubj": 0, "MOD:obj": 1, "MOD:iobj": 2}  # the numbers of roles


class Concepts(Protocol):
    """Concepts of words in trees: a model of concepts, or a model of vectors on given trees."""

    @property
    def mean(self) -> FloatArray:
        """(K) P(i), the mean posterior in a corpus."""
        ...

    def information(self, words: Sequence[str]) -> FloatArray:
        """(n) -ln P(word)."""
        ...

    def __contains__(self, word: object) -> bool:
        """Whether the model knows the word."""
        ...

    def of_trees(self, trees: Sequence[Tree], arcs: Sequence[HeadArcs]) -> tuple[FloatArray, IntArray]:
        """(m, K) the posteriors of words that have concepts, and (m) their places among the words of all trees."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class Meaning:
    """The n words of a sentence: forms, stems, roles (-1: no argument), places of the words above (-1: none).

    `information` (n) is -ln P of each word, and `counts` (n) says which words have a weight. `places` (m) are the words
    that have concepts, with their posteriors divided by P(i) and posteriors, (m, K) each.
    """

    words: tuple[str, ...]
    stems: tuple[str, ...]
    roles: tuple[int, ...]
    above: tuple[int, ...]
    information: FloatArray
    counts: BoolArray
    places: IntArray
    ratios: FloatArray
    posteriors: FloatArray


EMPTY = Meaning(
    (), (), (), (), np.zeros(0), np.zeros(0, np.bool_), np.zeros(0, np.int32), np.zeros((0, 0)), np.zeros((0, 0))
)


def meanings(concepts: Concepts, trees: Sequence[Tree | None]) -> list[Meaning]:
    """The meaning of each tree; that of no tree is empty."""
    known = [tree for tree in trees if tree is not None]
    arcs = [head_arcs(tree) for tree in known]
    posteriors, places = concepts.of_trees(known, arcs)
    ratios = posteriors / concepts.mean
    found = iter(_meanings(concepts, arcs, places, ratios, posteriors))
    return [EMPTY if tree is None else next(found) for tree in trees]


def _meanings(
    concepts: Concepts, arcs: Sequence[HeadArcs], places: IntArray, ratios: FloatArray, posteriors: FloatArray
) -> Iterator[Meaning]:
    ends = np.cumsum([0, *(len(arc.words) for arc in arcs)])
    order = np.argsort(places, kind="stable")
    bounds = np.searchsorted(places[order], ends)
    for number, arc in enumerate(arcs):
        rows = order[bounds[number] : bounds[number + 1]]
        words = tuple(map(str.lower, arc.words))
        bases = map(base_form, words, arc.tags)
        yield Meaning(
            words, tuple(base[:STEM] if len(base) >= STEMMED else base for base in bases),
            tuple(ARGUMENTS.get(role, -1) for role in arc.roles), arc.above, concepts.information(arc.words),
            np.array([has_part(word) and not inner for word, inner in zip(words, arc.inner, strict=True)], np.bool_),
            (places[rows] - ends[number]).astype(np.int32), ratios[rows], posteriors[rows],
        )  # fmt: skip


def has_part(word: str) -> bool:
    """Whether a token has a letter or a digit."""
    return any(map(str.isalnum, word))


class Packed(NamedTuple):
    """n sentences of W words as arrays; equal words and stems have equal numbers."""

    starts: LongArray  # (n + 1) sentence s has the words starts[s] to starts[s + 1]
    word: IntArray  # (W), and `stem`, `role`
    stem: IntArray
    role: IntArray
    above: IntArray  # (W) the place of the word above in its sentence, -1 for none
    information: FloatArray  # (W), and `weight`
    weight: FloatArray
    node: IntArray  # (W) the row of the word's posterior, -1 for a word without concepts


def pack(sentences: Sequence[Meaning], numbers: dict[str, int], rarity: Mapping[str, float] | None) -> Packed:
    """The sentences as arrays; `numbers` is filled with the numbers of texts. `rarity` of words; None: information."""
    words = [word for sentence in sentences for word in sentence.words]
    stems = [stem for sentence in sentences for stem in sentence.stems]
    starts = np.cumsum([0, *(len(sentence.words) for sentence in sentences)]).astype(np.int64)
    information = np.concatenate([np.zeros(0), *(sentence.information for sentence in sentences)])
    counts = np.concatenate([np.zeros(0, np.bool_), *(sentence.counts for sentence in sentences)])
    rare = information if rarity is None else np.array([rarity.get(word, 0.0) for word in words])
    node = np.full(len(words), -1, np.int32)
    places = [sentence.places + start for sentence, start in zip(sentences, starts[:-1].tolist(), strict=True)]
    node[np.concatenate([np.zeros(0, np.int64), *places])] = np.arange(sum(map(len, places)))

    def numbered(texts: Sequence[str]) -> IntArray:
        return np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int32)

    roles = np.array([role for sentence in sentences for role in sentence.roles], np.int32)
    above = np.array([place for sentence in sentences for place in sentence.above], np.int32)
    weight = np.where(counts, information * np.maximum(rare, 0.0), 0.0)
    return Packed(starts, numbered(words), numbered(stems), roles, above, information, weight, node)


def between(
    a: Sequence[Meaning], b: Sequence[Meaning], parts: Parts = FITTED, rarity: Mapping[str, float] | None = None
) -> FloatArray:
    """(n, m) the shared meaning of n sentences with m others; 0 if one has no words."""
    same = a is b
    values = np.zeros((len(a), len(b)))

    def pairs(first: int, last: int) -> IntArray:
        rows = np.arange(first, last)
        grid = np.stack(np.meshgrid(rows, np.arange(len(b)), indexing="ij"), axis=-1).reshape(-1, 2)
        return np.asarray(grid[grid[:, 1] >= grid[:, 0]] if same else grid, np.int32)

    for chosen, found in _aligned(a, b, pairs, parts, rarity):
        values[chosen[:, 0], chosen[:, 1]] = found
        if same:
            values[chosen[:, 1], chosen[:, 0]] = found
    return values


def pair_by_pair(
    a: Sequence[Meaning], b: Sequence[Meaning], parts: Parts = FITTED, rarity: Mapping[str, float] | None = None
) -> FloatArray:
    """(n) the shared meaning of sentence i of `a` with sentence i of `b`; 0 if one has no words."""
    values = np.zeros(len(a))

    def pairs(first: int, last: int) -> IntArray:
        return np.stack([np.arange(first, last, dtype=np.int32)] * 2, axis=1)

    for first in range(0, len(a), STEP):
        some, others = a[first : first + STEP], b[first : first + STEP]
        for chosen, found in _aligned(some, others, pairs, parts, rarity):
            values[first + chosen[:, 0]] = found
    return values


def _aligned(
    a: Sequence[Meaning], b: Sequence[Meaning], pairs: Callable[[int, int], IntArray], parts: Parts,
    rarity: Mapping[str, float] | None,
) -> Iterator[tuple[IntArray, FloatArray]]:  # fmt: skip
    """Pairs of sentences and their values; `pairs` gives those of the sentences of `a` from one to another."""
    from rerank_plugins.similarity.meaning_kernel import align

    numbers: dict[str, int] = {}
    left, right = pack(a, numbers, rarity), pack(b, numbers, rarity)
    width = max((each.ratios.shape[1] for each in (*a, *b)), default=0) or 1
    columns = np.concatenate([np.zeros((0, width)), *(each.posteriors.reshape(-1, width) for each in b)]).T
    longest = [int(np.diff(packed.starts).max(initial=0)) for packed in (left, right)]
    work = np.zeros((longest[0], longest[1])), np.zeros(longest[1])
    first = 0
    while first < len(a):
        last, rows = first, 0
        while last < len(a) and (last == first or (rows + len(a[last].places)) * columns.shape[1] <= SHARED):
            rows += len(a[last].places)
            last += 1
        ratios = np.concatenate([np.zeros((0, width)), *(each.ratios.reshape(-1, width) for each in a[first:last])])
        shared = np.log(np.maximum(ratios @ columns, TINY))
        chosen = np.ascontiguousarray(pairs(first, last), np.int32)
        values = np.zeros(len(chosen))
        begin = sum(len(each.places) for each in a[:first])
        align(left, right, shared, begin, parts, chosen, *work, values)
        yield chosen, values
        first = last
