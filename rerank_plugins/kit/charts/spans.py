"""The cells of a chart: the spans of a sentence, in numbers."""

from __future__ import annotations

from rerank_plugins.kit.kernels import part


@part
def cell_number(i: int, j: int, n: int) -> int:
    """Number the cells by width, then from left to right: those of width d begin after Σ_{e<d} (n - e + 1) others."""
    d = j - i - 1
    return d * n - d * (d - 1) // 2 + i
