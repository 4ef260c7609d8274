"""Vectors of headwords by their contexts: the first guess of their concepts.

Contexts are the words within a few places in a text, or else the headwords above and below with their relations. Counts
of headwords h with contexts x become positive pointwise mutual information, max(0, ln P(h, x) / (P(h) P_α(x))) with
P_α(x) ∝ count^0.75 (Levy, Goldberg and Dagan 2015), whose singular vectors U √Σ are found by random projection (Halko,
Martinsson and Tropp 2011). Spherical k-means divides the headwords into clusters.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, IntArray, LongArray, normal_form
from rerank_plugins.core.words import model_words
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.svs.concept_model import form

WINDOW = 4  # words to the left and to the right that are contexts
SMOOTHING = 0.75  # exponent of the counts of contexts
LEAST_COUNT = 3.0  # contexts of relations that occur less often are left out
POWER_ITERATIONS = 3  # of the random projection
MORE = 10  # dimensions that the projection has beyond those wanted
ROUNDS = 30  # of k-means
OTHER, END = -1, -2  # in texts by number: a word that is no headword, and the end of a line
WORDS_IN_MEMORY = 4_000_000  # words of a text that are in memory at a time


class SparseRows(NamedTuple):
    """A (rows, width) matrix: row r has `values[starts[r] : starts[r + 1]]` in the `columns` of these places."""

    starts: LongArray
    columns: IntArray
    values: FloatArray
    width: int


def relation_contexts(
    head: IntArray, above: IntArray, relation: IntArray, weights: FloatArray, size: int
) -> SparseRows:
    """The information of `size` headwords with the headwords above and below them.

    (arcs) the `head` of each arc, the headword `above` it, their `relation`, and the arc's weight.
    """
    relations = int(relation.max(initial=0)) + 1
    rows = np.concatenate([head, above]).astype(np.int64)
    below = relation.astype(np.int64) * size
    used, context = np.unique(np.concatenate([below + above, relations * size + below + head]), return_inverse=True)
    both = np.concatenate([weights, weights])
    frequent = np.bincount(context, both, len(used)) >= LEAST_COUNT
    kept, number = frequent[context], np.cumsum(frequent) - 1
    width = int(frequent.sum())
    pairs, which = np.unique(rows[kept] * width + number[context[kept]], return_inverse=True)
    counts = np.bincount(which, both[kept], len(pairs)).astype(np.float64)
    row, column = np.divmod(pairs, max(width, 1))
    return positive_information(row, column, counts, (size, width))


def window_contexts(lines: Iterable[str], number: Mapping[str, int]) -> SparseRows:
    """The information of forms with the forms around them in lines of text; `number` has those that count.

    Takes four bytes for each pair of forms.
    """
    size = len(number)
    counts = np.zeros((size, size), np.float32)
    waiting = array("i")
    for line in lines:
        waiting.extend([number.get(form(normal_form(word)), OTHER) for word in model_words(line)])
        waiting.append(END)
        if len(waiting) > WORDS_IN_MEMORY:
            count_neighbours(np.array(waiting, np.int32), WINDOW, counts)
            waiting = array("i")
    count_neighbours(np.array(waiting, np.int32), WINDOW, counts)
    row, column = np.nonzero(counts)
    return positive_information(row, column, counts[row, column].astype(np.float64), counts.shape)


def positive_information(row: Any, column: Any, counts: FloatArray, shape: tuple[int, ...]) -> SparseRows:
    """The positive information of (pairs) rows with columns, sorted by row, that occur together so often."""
    of_row = np.bincount(row, counts, shape[0])
    smoothed = np.bincount(column, counts, shape[1]) ** SMOOTHING
    information = np.log(counts * smoothed.sum() / (of_row[row] * smoothed[column]))
    positive = information > 0
    starts = np.searchsorted(row[positive], np.arange(shape[0] + 1)).astype(np.int64)
    return SparseRows(starts, column[positive].astype(np.int32), information[positive], shape[1])


def singular_vectors(matrix: SparseRows, dimensions: int, rng: np.random.Generator) -> FloatArray:
    """(rows, dimensions) U √Σ of the truncated singular value decomposition; fewer where the matrix is smaller."""
    rows = len(matrix.starts) - 1
    width = min(dimensions + MORE, rows, matrix.width)
    across, down = rng.standard_normal((matrix.width, width)), np.zeros((rows, width))
    for iteration in range(POWER_ITERATIONS + 1):
        down[:] = 0
        multiply(*matrix[:3], across, down)
        down = np.linalg.qr(down)[0]
        across[:] = 0
        multiply_transposed(*matrix[:3], down, across)
        if iteration < POWER_ITERATIONS:
            across = np.linalg.qr(across)[0]
    # A ≈ Q (Qᵀ A), and `across` is (Qᵀ A)ᵀ, whose singular values are the roots of these eigenvalues.
    values, vectors = np.linalg.eigh(across.T @ across)
    order = np.argsort(-values)[:dimensions]
    return np.asarray(down @ vectors[:, order] * np.maximum(values[order], 0.0) ** 0.25, np.float64)


@filling_kernel
def count_neighbours(text: Any, radius: int, counts: NDArray[np.float32]) -> None:
    """Add one to `counts` (V, V) for each two words within `radius` places of a line."""
    for place in range(len(text)):
        word = text[place]
        if word < 0:
            continue
        for other in range(place + 1, min(place + radius + 1, len(text))):
            if text[other] == END:
                break
            if text[other] >= 0:
                counts[word, text[other]] += 1
                counts[text[other], word] += 1


@filling_kernel
def multiply(starts: LongArray, columns: IntArray, values: FloatArray, dense: FloatArray, product: FloatArray) -> None:
    """Add the matrix times `dense` (width, d) to `product` (rows, d)."""
    for row in range(len(starts) - 1):
        sums = product[row]
        for place in range(starts[row], starts[row + 1]):
            value, other = values[place], dense[columns[place]]
            for d in range(len(sums)):
                sums[d] += value * other[d]


@filling_kernel
def multiply_transposed(
    starts: LongArray, columns: IntArray, values: FloatArray, dense: FloatArray, product: FloatArray,
) -> None:  # fmt: skip
    """Add the transposed matrix times `dense` (rows, d) to `product` (width, d)."""
    for row in range(len(starts) - 1):
        other = dense[row]
        for place in range(starts[row], starts[row + 1]):
            value, sums = values[place], product[columns[place]]
            for d in range(len(sums)):
                sums[d] += value * other[d]


def unit_rows(vectors: FloatArray) -> FloatArray:
    """The rows divided by their lengths; rows of zeros stay zero."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0)[:, None], np.float64)


def cluster_centres(vectors: FloatArray, weights: FloatArray, clusters: int, rng: np.random.Generator) -> FloatArray:
    """(clusters, d) unit centres of (n, d) unit vectors by spherical k-means; `weights` (n) count in the means.

    The first centres are vectors drawn one after the other, each by its weight and its distance from those before it
    (Arthur and Vassilvitskii 2007).
    """
    centres = np.zeros((clusters, vectors.shape[1]))
    nearest = np.full(len(vectors), -1.0)
    for cluster in range(clusters):
        chances = weights * np.maximum(1.0 - nearest, 1e-12)
        centres[cluster] = vectors[rng.choice(len(vectors), p=chances / chances.sum())]
        nearest = np.maximum(nearest, vectors @ centres[cluster])
    for _ in range(ROUNDS):
        own = (vectors @ centres.T).argmax(axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, own, vectors * weights[:, None])
        centres = np.where(np.any(sums != 0, axis=1, keepdims=True), unit_rows(sums), centres)
    return centres
