"""Weights by which no changed copy of a sentence is more like it than the sentence itself.

Measures of similarity go together, so that a regression gives many of them negative weights. Nothing then keeps a
shuffled sentence from a higher score than an unchanged one: it loses in n-grams, and n-grams may have negative weights.
`differences_of` measures changed copies of some sentences, and `constrained` finds weights under which none of these
copies gains. Non-negative weights would be enough, but cost much of the correlation (docs/results/similarity.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerank_plugins.core.arrays import BoolArray, FloatArray

if TYPE_CHECKING:
    from rerank_plugins.similarity.measures.table import Measures, Tokens

SAMPLE_SENTENCES = 100  # whose copies are measured
COPIES = 2  # of each: shuffled, and with two neighbouring words exchanged
MIN_DISTINCT_WORDS = 4  # distinct words of such a sentence


def differences_of(sentences: Iterable[Sequence[str]], measures: Measures, rng: np.random.Generator) -> FloatArray:
    """(changed copies, names) the values of a sentence beside itself, minus those of the sentence beside a copy.

    A copy has its words shuffled, or two neighbouring words exchanged. The sentences are drawn at random from those of
    MIN_DISTINCT_WORDS distinct words or more.
    """
    suitable = [tokens for tokens in dict.fromkeys(map(tuple, sentences)) if len(set(tokens)) >= MIN_DISTINCT_WORDS]
    drawn = rng.permutation(len(suitable))[:SAMPLE_SENTENCES].tolist()
    pairs: list[tuple[Tokens, Tokens]] = []
    for tokens in (suitable[i] for i in drawn):
        pairs += [(tokens, tokens), *((tokens, copy) for copy in _changed(tokens, rng))]
    values = measures.columns(pairs).reshape(len(drawn), 1 + COPIES, len(measures.names))
    differences: FloatArray = values[:, :1] - values[:, 1:]
    return differences.reshape(-1, len(measures.names))


def _changed(tokens: Sequence[str], rng: np.random.Generator) -> list[tuple[str, ...]]:
    shuffled = tuple(tokens)
    while shuffled == tuple(tokens):
        shuffled = tuple(tokens[i] for i in rng.permutation(len(tokens)))
    place = int(rng.choice([i for i in range(len(tokens) - 1) if tokens[i] != tokens[i + 1]]))
    return [shuffled, (*tokens[:place], tokens[place + 1], tokens[place], *tokens[place + 2 :])]


def constrained(square: FloatArray, right: FloatArray, differences: FloatArray) -> FloatArray:
    """The w that minimises ½ w'Sw - r'w under Dw ≥ 0, for a positive definite S.

    With S = LL' its dual is to minimise |L⁻¹D'm + L⁻¹r|² over m ≥ 0; then w = S⁻¹(r + D'm) (Lawson and Hanson 1974,
    chapter 23).
    """
    lower = np.linalg.cholesky(square)
    sizes = np.linalg.norm(differences, axis=1)
    rows = differences[sizes > 0] / sizes[sizes > 0, None]
    towards, target = np.linalg.solve(lower, rows.T), np.linalg.solve(lower, right)
    multipliers = non_negative_least_squares(towards, -target)
    return np.asarray(np.linalg.solve(lower.T, target + towards @ multipliers), np.float64)


def non_negative_least_squares(matrix: FloatArray, target: FloatArray) -> FloatArray:
    """The x ≥ 0 that minimises |matrix · x - target|, by the active sets of Lawson and Hanson (1974, chapter 23)."""
    x = np.zeros(matrix.shape[1])
    free: BoolArray = np.zeros(len(x), np.bool_)
    tolerance = 1e-10 * max(1.0, float(np.abs(matrix.T @ target).max(initial=0.0)))
    for _ in range(10 * len(x)):
        gradient = matrix.T @ (target - matrix @ x)
        gradient[free] = -np.inf
        if gradient.max(initial=-np.inf) <= tolerance:
            break
        free[int(gradient.argmax())] = True
        while free.any():
            solution = np.zeros(len(x))
            solution[free] = np.linalg.lstsq(matrix[:, free], target, rcond=None)[0]
            if (solution[free] > 0).all():
                x = solution
                break
            falling = free & (solution <= 0)
            step = float((x[falling] / np.maximum(x[falling] - solution[falling], 1e-300)).min())
            x += step * (solution - x)
            free &= x > 1e-15
            x[~free] = 0.0
    return x
