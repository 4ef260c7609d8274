"""Makes fixed word vectors from plain text: positive pointwise mutual information with neighbours, reduced by SVD.

Rows are the frequent words, columns the (offset, frequent neighbour) pairs of a window of two words on each side. The
offsets are kept apart, so that words of similar syntax get similar vectors. Context probabilities are raised to the
power of 0.75 (Levy, Goldberg & Dagan 2015), and the SVD is the randomised one of Halko et al. (2011).
The cost is one sort of 4 pairs a token, then products with a dense (words, 4 neighbours) matrix of float32.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rerank_plugins.dependency.biaffine.lstm import Float32
from rerank_plugins.dependency.biaffine.pieces import text_form

OFFSETS = (-2, -1, 1, 2)


def word_vectors(
    sentences: Iterable[Sequence[str]],
    width: int,
    rng: np.random.Generator,
    words: int = 20_000,
    neighbours: int = 1_000,
) -> dict[str, Float32]:
    """Unit vectors of the most frequent words (with three occurrences at least), by falling frequency."""
    # Number the words of the corpus; two boundaries (-1) keep the windows of sentences apart.
    forms: dict[str, str] = {}
    ids: dict[str, int] = {}
    corpus: list[int] = []
    for sentence in sentences:
        for word in sentence:
            form = forms.get(word)
            if form is None:
                form = forms[word] = text_form(word)
            corpus.append(ids.setdefault(form, len(ids)))
        corpus += (-1, -1)
    tokens = np.array(corpus, np.int64)
    # Number them anew by falling frequency; rare words and boundaries share the last number.
    counts = np.bincount(tokens[tokens >= 0], minlength=len(ids))
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] >= 3][:words]
    rank = np.full(len(ids) + 1, len(order), np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = len(order)  # the boundary: index -1
    return dict(
        zip(
            np.array(list(ids))[order].tolist(),
            _reduce(_ppmi(rank[tokens], len(order), neighbours), width, rng),
            strict=True,
        )
    )


def _ppmi(ranks: np.ndarray, words: int, neighbours: int) -> Float32:
    """(words, 4 neighbours) max(0, ln(p(w, c) / (p(w) p'(c)))) of each word and context, p'(c) ∝ count(c)^0.75."""
    # Count the pairs at each offset.
    neighbours = min(neighbours, words)
    matrix = np.zeros((words, len(OFFSETS) * neighbours), np.float32)
    for block, offset in enumerate(OFFSETS):
        here, there = (ranks[:-offset], ranks[offset:]) if offset > 0 else (ranks[-offset:], ranks[:offset])
        used = (here < words) & (there < neighbours)
        pairs, counts = np.unique(here[used] * neighbours + there[used], return_counts=True)
        matrix[pairs // neighbours, block * neighbours + pairs % neighbours] = counts
    # ln count(w, c) - ln p(w) - ln(N p'(c)), where N is the number of pairs.
    total = matrix.sum(dtype=np.float64)
    row = np.maximum(matrix.sum(axis=1, dtype=np.float64), 1)
    column = matrix.sum(axis=0, dtype=np.float64) ** 0.75
    column *= total / max(column.sum(), 1)
    with np.errstate(divide="ignore"):
        np.log(matrix, out=matrix)
    matrix -= np.log(row / total).astype(np.float32)[:, None]
    matrix -= np.log(np.maximum(column, 1e-9)).astype(np.float32)
    return np.maximum(matrix, 0, out=matrix)


def _reduce(matrix: Float32, width: int, rng: np.random.Generator, extra: int = 16, rounds: int = 4) -> Float32:
    """(words, width) rows U sqrt(S) of the randomised SVD, scaled to unit length; with fewer words, zeros follow."""
    # The range of the matrix, by `rounds` of power iteration from a random start.
    start = rng.normal(size=(matrix.shape[1], width + extra)).astype(np.float32)
    basis = np.linalg.qr(matrix @ start)[0]
    for _ in range(rounds):
        basis = np.linalg.qr(matrix @ (matrix.T @ basis))[0]
    # The exact SVD within that range.
    rotation, values, _ = np.linalg.svd(basis.T @ matrix, full_matrices=False)
    vectors = np.zeros((len(matrix), width), np.float32)
    kept = min(width, len(values))
    vectors[:, :kept] = basis @ rotation[:, :kept] * np.sqrt(values[:kept])
    lengths = np.maximum(np.sqrt((vectors * vectors).sum(axis=1, keepdims=True)), 1e-9)
    return np.asarray(vectors / lengths, np.float32)
