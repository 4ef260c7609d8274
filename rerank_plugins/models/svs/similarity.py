"""Similarity of sentences by their structured vectors (Wu et al. 2013, section 2.3).

    sim_top = cos(e_0(S1), e_0(S2))                                                                                (6)
    sim_phr = max(avgsim(e_1, e_1; e_2, e_2), avgsim(e_1, e_2; e_2, e_1)),  avgsim = harmonic mean of two cosines   (7)

e_0 is the vector of the topmost constituent below ROOT, e_1 and e_2 those of its two largest children in the treebank's
tree (a subject and its predicate, say), in the order of the sentence. Of a constituent with one child the child's
count, and so on down; a word alone stands for both. Without a tree all are 0, and so are the similarities.

Cosines are of vectors divided by their lengths: of all pairs of two sets of sentences they are one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.models.svs.vector_tree import VectorTree

PARTS = 3  # vectors of a sentence: top, left, right
Product = Callable[[FloatArray, FloatArray], FloatArray]


def sentence_vectors(trees: Sequence[VectorTree | None], concepts: int) -> FloatArray:
    """(n, 3, K) of each tree the vectors e_0, e_1 and e_2, of length 1; 0 where there is no tree."""
    found = np.zeros((len(trees), PARTS, concepts))
    for row, tree in enumerate(trees):
        if tree is not None:
            top = tree.children[0] if len(tree.children) == 1 else tree
            found[row] = [each.vector for each in (top, *largest_children(top))]
    lengths = np.sqrt(np.einsum("nik,nik->ni", found, found))
    return np.asarray(found / np.where(lengths > 0, lengths, 1.0)[:, :, None], np.float64)


def largest_children(top: VectorTree) -> tuple[VectorTree, VectorTree]:
    """The two children, in the treebank's tree, that have most words (of equal ones the earlier), in their order."""
    while len(top.children) == 1:
        (top,) = top.children
    if not top.children:
        return top, top
    children = _children(top)
    order = sorted(range(len(children)), key=lambda i: (children[i].span[0] - children[i].span[1], i))
    first, second = sorted(order[:2])
    return children[first], children[second]


def _children(top: VectorTree) -> list[VectorTree]:
    """The children less what binarisation added: what is below intermediate constituents, two or more."""
    found, waiting = list[VectorTree](), list(reversed(top.children))
    while waiting:
        child = waiting.pop()
        if child.phrases or not child.children:
            found.append(child)
        else:
            waiting += reversed(child.children)
    return found


def between(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n, m) sim_top and sim_phr of n sentences with m others, by their (n, 3, K) and (m, 3, K) vectors."""
    return _similarities(a, b, lambda x, y: x @ y.T)


def pair_by_pair(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n) sim_top and sim_phr of n sentences, each with the one of its number."""
    return _similarities(a, b, lambda x, y: np.einsum("nk,nk->n", x, y))


def _similarities(a: FloatArray, b: FloatArray, product: Product) -> tuple[FloatArray, FloatArray]:
    top, left, right = range(PARTS)
    straight = harmonic(product(a[:, left], b[:, left]), product(a[:, right], b[:, right]))
    crossed = harmonic(product(a[:, left], b[:, right]), product(a[:, right], b[:, left]))
    return product(a[:, top], b[:, top]), np.maximum(straight, crossed)


def harmonic(a: FloatArray, b: FloatArray) -> FloatArray:
    """Harmonic means of numbers of 0 or more; 0 where one is."""
    total = a + b
    return np.asarray(2 * a * b / np.where(total > 0, total, 1.0), np.float64)
