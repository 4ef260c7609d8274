"""The kernel of training: it moves the embeddings of a batch against their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from rerank_plugins.kit.kernels import filling_kernel


@filling_kernel
def move_rows(symbols: Any, slopes: Any, step: Any, squares: Any, rows: Any) -> None:
    """Move `rows` (words, D) against `slopes` (batch, K, D) of `symbols` (batch, K), with one rate for each row.

    `squares` (words) are the sums of the mean squares of each row's gradients so far; the rate is step / sqrt(square).
    """
    batch, places, size = slopes.shape
    for b in range(batch):
        for k in range(places):
            row = symbols[b, k]
            square = np.float32(0)
            for d in range(size):
                square += slopes[b, k, d] * slopes[b, k, d]
            squares[row] += square / np.float32(size)
            rate = step / np.sqrt(squares[row])
            for d in range(size):
                rows[row, d] -= rate * slopes[b, k, d]
