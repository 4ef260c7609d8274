"""The probabilities of the positions of links: the diagonal prior of model 2, and the transitions of the HMM.

Words are generated at the positions j = 1 … m from given words at i = 1 … l. Both functions are given that the word is
not aligned to NULL.

    diagonal (Dyer, Chahuneau and Smith 2013):      δ(i | j) = exp(-λ |i/l - j/m|) / Z(j);   λ = 0 is model 1
    transitions (Vogel, Ney and Tillmann 1996):     p(i | i') = c(i - i') / Σ_k c(k - i')

i' = 0 precedes the first word. Distances beyond ±W, for an array c of 2 W + 1 elements, have the c of ±W.
"""

from __future__ import annotations

from math import exp
from typing import Any

from rerank_plugins.kit.kernels import filling_kernel, part


@part
def fill_diagonal(tension: float, given: int, generated: int, shares: Any, start: int) -> None:
    """Fill in δ(i | j) for given words i within generated words j, from `shares[start]` on."""
    for j in range(1, generated + 1):
        total = 0.0
        for i in range(1, given + 1):
            share = exp(-tension * abs(i / given - j / generated))
            shares[start + i - 1] = share
            total += share
        for at in range(start, start + given):
            shares[at] /= total
        start += given


@part
def fill_transitions(jumps: Any, given: int, shares: Any, start: int) -> None:
    """Fill in p(i | i') for i = 1 … given within i' = 0 … given, from `shares[start]` on."""
    farthest = len(jumps) // 2
    for before in range(given + 1):
        total = 0.0
        for i in range(1, given + 1):
            share = jumps[farthest + max(-farthest, min(farthest, i - before))]
            shares[start + i - 1] = share
            total += share
        for at in range(start, start + given):
            shares[at] /= total
        start += given


@filling_kernel
def fill_diagonals(tension: float, given: Any, generated: Any, starts: Any, shares: Any) -> None:
    """Fill in δ for classes of sentence pairs, each from `starts[class]` on."""
    for number in range(len(given)):
        fill_diagonal(tension, given[number], generated[number], shares, starts[number])


@filling_kernel
def fill_all_transitions(jumps: Any, given: Any, starts: Any, shares: Any) -> None:
    """Fill in the transitions for several numbers of given words, each from `starts[number]` on."""
    for number in range(len(given)):
        fill_transitions(jumps, given[number], shares, starts[number])
