"""The two smoothing methods, which turn counts into probabilities or scores.

Interpolated modified Kneser–Ney (Chen and Goodman 1998): with Y = n_1 / (n_1 + 2 n_2), of the counts of counts n_1 …
n_4 of an order, D_j = j - (j + 1) Y n_{j+1} / n_j, j = 1, 2, 3. Orders below the highest have continuation counts.
Data that is too small (an n_j of 0, or D_j outside [0, j]) gets the discounts 0.5, 1, 1.5 of lmplz's
`--discount_fallback`.

Stupid backoff (Brants et al. 2007): S(x | h) = C(h x) / Σ_x C(h x) where C(h x) > 0, else 0.4 S(x | h').
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.errors import ConfigError

FALLBACK = (0.5, 1.0, 1.5)


@dataclass(frozen=True)
class KneserNey:
    """Interpolated modified Kneser–Ney smoothing."""

    continuation: ClassVar[bool] = True
    backoff: ClassVar[float] = -1.0  # negative: the weights are estimated

    def discounts_of(self, counts_of_counts: LongArray) -> tuple[FloatArray, bool]:
        """(3) D_1, D_2, D_3+ from (5) n_0 … n_4, and whether the data was large enough for the formula."""
        n = counts_of_counts.astype(np.float64)
        if (n[1:4] == 0).any():
            return np.array(FALLBACK), False
        y = n[1] / (n[1] + 2 * n[2])
        j = np.arange(1.0, 4.0)
        discounts = j - (j + 1) * y * n[2:5] / n[1:4]
        if (discounts < 0).any() or (discounts > j).any():
            return np.array(FALLBACK), False
        return discounts, True


@dataclass(frozen=True)
class StupidBackoff:
    """Stupid backoff, with a constant weight for each symbol by which the context is shortened."""

    continuation: ClassVar[bool] = False
    backoff: ClassVar[float] = 0.4

    def discounts_of(self, counts_of_counts: LongArray) -> tuple[FloatArray, bool]:  # noqa: ARG002
        """(3) zeros: seen events are not discounted."""
        return np.zeros(3), True


Smoothing = KneserNey | StupidBackoff


def parse_prune(text: str) -> tuple[int, ...]:
    """Parse cut-offs in the form `0,0,1` or `0 0 1`. Raises ConfigError.

    >>> parse_prune("0 0 1")
    (0, 0, 1)
    """
    parts: Sequence[str] = text.replace(",", " ").split()
    if not all(part.isdigit() for part in parts):
        raise ConfigError(f"cut-offs {text!r}: wanted whole numbers, one for each order, as in 0,0,1")
    return tuple(map(int, parts))
