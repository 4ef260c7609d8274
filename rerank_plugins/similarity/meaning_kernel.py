"""The kernel that aligns the words of pairs of sentences by the meaning that they share (meaning.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerank_plugins import FloatArray, IntArray
from rerank_plugins.kit.kernels import filling_kernel, part

if TYPE_CHECKING:
    from rerank_plugins.similarity.meaning import Packed, Parts


@part
def _lexical(
    word: int, other: int, stem: int, other_stem: int, shared: float, information: float, b: float, c: float
) -> float:
    """lex(u, v); `shared` is what their concepts share, `information` the sum of their information."""
    if word == other:
        return 1.0
    value = b if stem == other_stem else 0.0
    if shared > 0.0 and information > 0.0:
        value = max(value, min(1.0, c * shared / (0.5 * information)))
    return value


@filling_kernel
def align(
    left: Packed, right: Packed, shared: FloatArray, begin: int, parts: Parts, pairs: IntArray, lexical: FloatArray,
    best2: FloatArray, values: FloatArray,
) -> None:  # fmt: skip
    """The meaning of each pair (P, 2) of a sentence of `left` and one of `right`, in `values` (P).

    `shared` has the rows of the nodes of the first sentences from `begin`, and the columns of all nodes of the second
    ones. `lexical` and `best2` are room for the longest sentences.
    """
    word, stem, role, above = left.word, left.stem, left.role, left.above
    word2, stem2, role2, above2 = right.word, right.stem, right.role, right.above
    information, weight, node = left.information, left.weight, left.node
    information2, weight2, node2 = right.information, right.weight, right.node
    b, c, d = parts.stem, parts.concepts, parts.role
    for pair in range(len(pairs)):
        x, y = left.starts[pairs[pair, 0]], right.starts[pairs[pair, 1]]
        n, m = left.starts[pairs[pair, 0] + 1] - x, right.starts[pairs[pair, 1] + 1] - y
        for i in range(n):
            for j in range(m):
                u, v = x + i, y + j
                known = 0.0
                if node[u] >= 0 and node2[v] >= 0:
                    known = shared[node[u] - begin, node2[v]]
                both = information[u] + information2[v]
                lexical[i, j] = _lexical(word[u], word2[v], stem[u], stem2[v], known, both, b, c)
        one, total, two, total2 = 0.0, 0.0, 0.0, 0.0
        for j in range(m):
            best2[j] = 0.0
        for i in range(n):
            u = x + i
            best = 0.0
            for j in range(m):
                v = y + j
                if lexical[i, j] == 0.0 or (weight[u] == 0.0 and weight2[v] == 0.0):
                    continue
                value = lexical[i, j]
                if role[u] >= 0 and role2[v] >= 0 and role[u] != role2[v] and above[u] >= 0 and above2[v] >= 0:
                    value *= 1.0 - d * lexical[above[u], above2[v]]
                best = max(best, value)
                best2[j] = max(best2[j], value)
            one += weight[u] * best
            total += weight[u]
        for j in range(m):
            two += weight2[y + j] * best2[j]
            total2 += weight2[y + j]
        if one > 0.0 and two > 0.0:
            one, two = one / total, two / total2
            values[pair] = 2.0 * one * two / (one + two)
