"""Converts the derivations of a pruned chart to trees, and computes ln p of those trees.

ln p(tree, words) is summed over the symbols that the grammar may have at the nodes of the tree: it is the inside
probability of the tree with its bases fixed. Parts that several derivations share are built, and summed, once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rerank_plugins import BoolArray, FloatArray, IntArray, Sentence, SharedTrees
from rerank_plugins.core.arrays import PlaceArray
from rerank_plugins.kit.charts.blocks import Blocks
from rerank_plugins.kit.charts.hypergraph import Edges, Hypergraph
from rerank_plugins.kit.charts.items import Items
from rerank_plugins.kit.charts.k_best import Derivations
from rerank_plugins.kit.kernels import filling_kernel


@filling_kernel
def tree_probabilities(
    blocks: Blocks, items: Items, words: IntArray, scales: FloatArray, edges: Edges, vertices: IntArray, last: IntArray,
    lefts: IntArray, rights: IntArray, offsets: PlaceArray, values: FloatArray,
) -> None:  # fmt: skip
    """Set values[offsets[d] + a] to p(words under derivation d | symbol a of its base), times the words' scales.

    Derivation d is of vertices[d], by the edge last[d], over the derivations lefts[d] and rights[d]. The values are 0
    at first.

    Its arguments are the columns of derivations, grammar and sentence, which belong to no tuple together.
    """
    bases, tail_left, tail_right, unary = items.base, edges.left, edges.right, blocks.unary
    for d in range(len(offsets)):
        item, edge, here = vertices[d] >> 1, last[d], offsets[d]
        base, one, two = bases[item], tail_left[edge], tail_right[edge]
        # An emission: p(word | a) · scale.
        if one < 0:
            position = items.cell[item]
            for e in range(blocks.words[words[position]], blocks.words[words[position] + 1]):
                symbol = blocks.word_symbol[e]
                if blocks.base[symbol] == base:
                    values[here + blocks.local[symbol]] = blocks.word_p[e] * scales[position]
            continue
        left_base, left = bases[one >> 1], offsets[lefts[d]]
        # A binary rule: Σ_{b, c} p(a → b c) value(b) value(c), in the block of the three bases.
        if two >= 0:
            right, pair = offsets[rights[d]], blocks.pair[left_base, bases[two >> 1]]
            block = blocks.starts[pair]
            while blocks.parent[block] != base:
                block += 1
            for e in range(blocks.entries[block], blocks.entries[block + 1]):
                g = blocks.groups[pair] + blocks.group[e]
                values[here + blocks.a[e]] += blocks.p[e] * values[left + blocks.b[g]] * values[right + blocks.c[g]]
        # The empty chain of unary rules.
        elif one & 1 == 0:
            for a in range(blocks.states[base]):
                values[here + a] = values[left + a]
        # A unary rule: Σ_b p(a → b) value(b).
        else:
            block = unary.starts[left_base]
            while unary.parent[block] != base:
                block += 1
            for e in range(unary.entries[block], unary.entries[block + 1]):
                values[here + unary.a[e]] += unary.p[e] * values[left + unary.b[e]]


def log_probabilities(
    blocks: Blocks, items: Items, graph: Hypergraph, derivations: Derivations, words: IntArray, scales: FloatArray
) -> FloatArray:
    """Return (k) ln p(tree, words) of the best derivations' trees; `items` and split `blocks` have the same bases."""
    states = blocks.states[items.base[derivations.vertex >> 1]]
    ends = np.cumsum(states)
    offsets, values = (ends - states).astype(np.uint32), np.zeros(ends[-1] if len(ends) else 0)
    tree_probabilities(blocks, items, words, scales, graph.edges, *derivations[:4], offsets, values)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values[offsets[derivations.best]]) - np.log(scales).sum())


@filling_kernel
def share(
    items: Items, intermediate: BoolArray, edges: Edges, vertices: IntArray, last: IntArray, lefts: IntArray,
    rights: IntArray, span: IntArray, label: IntArray, bounds: IntArray, pool: IntArray, slots: IntArray,
) -> tuple[int, int]:  # fmt: skip
    """Fill in label, bounds and children (`pool`) of `SharedTrees`; return the numbers of subtrees and children.

    The nodes that a derivation has in a tree are pool[span[d, 0] : span[d, 1]]: one, or below an intermediate base its
    children. Subtree x has the base label[x] and the children pool[bounds[x, 0] : bounds[x, 1]], or -1 - w for word w.
    `slots` is a hash table of subtrees, whose size is a power of two; all are -1 at first.

    It has many arguments because derivations and `SharedTrees` come as columns, and the kernel creates no arrays.
    """
    mask, nodes, end = len(slots) - 1, 0, 0
    for d in range(len(span)):
        item, edge, below = vertices[d] >> 1, last[d], lefts[d]
        left, right, base = edges.left[edge], edges.right[edge], items.base[item]
        if left >= 0 and right < 0 and left & 1 == 0:  # the empty chain of unary rules
            span[d, 0], span[d, 1] = span[below, 0], span[below, 1]
            continue
        begin = end
        if left < 0:
            pool[end] = -1 - items.cell[item]
            end += 1
        while below >= 0:
            for place in range(span[below, 0], span[below, 1]):
                pool[end] = pool[place]
                end += 1
            below, right = rights[d] if right >= 0 else -1, -1
        if left >= 0 and intermediate[base]:
            span[d, 0], span[d, 1] = begin, end
            continue
        # The subtree of this base and these children, which is known or new.
        code = np.uint64(base)
        for place in range(begin, end):
            code = (code ^ np.uint64(pool[place] + 1000000)) * np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64(code >> np.uint64(40)) & mask
        while slots[slot] >= 0:
            node = slots[slot]
            same = label[node] == base and bounds[node, 1] - bounds[node, 0] == end - begin
            for place in range(end - begin):
                same = same and pool[bounds[node, 0] + place] == pool[begin + place]
            if same:
                break
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = nodes
            label[nodes], bounds[nodes, 0], bounds[nodes, 1] = base, begin, end
            nodes += 1
        pool[end] = slots[slot]
        span[d, 0], span[d, 1] = end, end + 1
        end += 1
    return nodes, end


def trees(
    items: Items, labels: tuple[str, ...], intermediate: BoolArray, graph: Hypergraph, derivations: Derivations,
    sentence: Sentence,
) -> SharedTrees:  # fmt: skip
    """Return the trees of the best derivations, in which intermediate (@) nodes are replaced by their children.

    `labels` are those of the items' bases; `intermediate` says which of them begin with @. Equal trees have one root.
    """
    size = len(derivations.vertex)
    span, bounds = np.empty((2, size, 2), np.int32)
    label, pool = np.empty(size, np.int32), np.empty(size * (len(sentence) + 1), np.int32)
    slots = np.full(1 << (2 * size).bit_length(), -1, np.int32)
    nodes, end = share(items, intermediate, graph.edges, *derivations[:4], span, label, bounds, pool, slots)
    roots = pool[span[derivations.best, 0]]
    return SharedTrees(labels, tuple(sentence), label[:nodes], bounds[:nodes], pool[:end], roots)


def shapes(items: Items, graph: Hypergraph, derivations: Derivations) -> list[int]:
    """Return (k) a number for each best derivation, equal for those with the same bases over the same spans."""
    numbers: dict[tuple[int, ...], int] = {}
    shape_of: dict[int, int] = {}
    bases, cells = items.base.tolist(), items.cell.tolist()
    for d, item, left, right, first, second in _steps(graph, derivations):
        base = bases[item]
        if left < 0:
            key: tuple[int, ...] = (base, cells[item])
        elif right >= 0:
            key = (base, -1, shape_of[first], shape_of[second])
        elif left % 2 == 0:
            shape_of[d] = shape_of[first]
            continue
        else:
            key = (base, -1, shape_of[first])
        shape_of[d] = numbers.setdefault(key, len(numbers))
    return [shape_of[d] for d in derivations.best.tolist()]


def _steps(graph: Hypergraph, derivations: Derivations) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Yield the derivations, parts first: number, item, tails of the edge, derivations of the tails."""
    edge = derivations.edge
    tails = graph.edges.left[edge], graph.edges.right[edge]
    columns = (derivations.vertex // 2, *tails, derivations.left, derivations.right)
    return zip(range(len(edge)), *(column.tolist() for column in columns), strict=True)
