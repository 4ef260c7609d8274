"""Similarity of sentences by their structured vectors (Wu et al. 2013, section 2.3).

    sim_top = cos(e_0(S1), e_0(S2))                                                                                (6)
    sim_phr = max(avgsim(e_1, e_1; e_2, e_2), avgsim(e_1, e_2; e_2, e_1)),  avgsim = harmonic mean of two cosines   (7)

e_0 is the vector of the topmost constituent below ROOT; e_1 and e_2 are those of its two largest children in the
treebank's form of the tree (such as a subject and its predicate), in the order of the sentence. Where a constituent has
one child, the children of that child count instead, and so on down; a single word stands for both. Without a tree, all
vectors are 0, and so are the similarities.

All vectors are normalised to length 1, so that the cosines of all pairs of two sets of sentences are a matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerank_plugins import FloatArray, Sentence
from rerank_plugins.similarity.measures.word_alignment import harmonic_mean

if TYPE_CHECKING:
    from rerank_plugins.svs.parsing import SvsParser
    from rerank_plugins.svs.vector_tree import ChartNode, VectorTree

    Node = ChartNode | VectorTree

PARTS = 3  # vectors of a sentence: top, left, right
TINY = float(np.finfo(np.float64).tiny)
Product = Callable[[FloatArray, FloatArray], FloatArray]


def parsed_vectors(parser: SvsParser, sentences: Sequence[Sentence]) -> FloatArray:
    """(n, 3, K) the vectors e_0, e_1 and e_2 of the best trees of sentences."""
    return unit_vectors(parser.read_all(sentences, lambda _, root: three_vectors(root)), parser.model.concepts)


def three_vectors(root: Node) -> list[FloatArray]:
    """The vectors e_0, e_1 and e_2 of a tree, not normalised."""
    top = root.children[0] if len(root.children) == 1 else root
    return [constituent.vector for constituent in (top, *largest_children(top))]


def unit_vectors(rows: Sequence[list[FloatArray] | None], concepts: int) -> FloatArray:
    """(n, 3, K) the vectors of sentences divided by their lengths; 0 for None."""
    vectors = np.array([[np.zeros(concepts)] * PARTS if row is None else row for row in rows])
    vectors = vectors.reshape(-1, PARTS, concepts)
    vectors /= np.maximum(vectors.max(axis=2, keepdims=True), TINY)  # so that squares do not underflow
    lengths = np.sqrt(np.einsum("nik,nik->ni", vectors, vectors))
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0)[:, :, None], np.float64)


def largest_children(top: Node) -> tuple[Node, Node]:
    """The two children with most words in the treebank's form of the tree, in order; of equal ones the earlier."""
    while len(top.children) == 1:
        (top,) = top.children
    if not top.children:
        return top, top
    children = _children(top)
    order = sorted(range(len(children)), key=lambda i: (children[i].span[0] - children[i].span[1], i))
    first, second = sorted(order[:2])
    return children[first], children[second]


def _children(top: Node) -> list[Node]:
    """The two or more children in the treebank's form: intermediate nodes are replaced by their own children."""
    children: list[Node] = []
    waiting: list[Node] = []
    waiting += reversed(top.children)
    while waiting:
        child = waiting.pop()
        if child.phrases or not child.children:
            children.append(child)
        else:
            waiting += reversed(child.children)
    return children


def between(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n, m) sim_top and sim_phr of n sentences with m others, by their (n, 3, K) and (m, 3, K) vectors."""
    return _similarities(a, b, lambda x, y: x @ y.T)


def pair_by_pair(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n) sim_top and sim_phr of sentence i of `a` with sentence i of `b`."""
    return _similarities(a, b, lambda x, y: np.einsum("nk,nk->n", x, y))


def _similarities(a: FloatArray, b: FloatArray, product: Product) -> tuple[FloatArray, FloatArray]:
    top, left, right = range(PARTS)
    straight = harmonic_mean(product(a[:, left], b[:, left]), product(a[:, right], b[:, right]))
    crossed = harmonic_mean(product(a[:, left], b[:, right]), product(a[:, right], b[:, left]))
    return product(a[:, top], b[:, top]), np.maximum(straight, crossed)
