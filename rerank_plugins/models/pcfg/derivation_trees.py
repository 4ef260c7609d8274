"""Derivations of a pruned chart as trees, and ln p of those trees.

ln p(tree, words) is summed over the symbols that the grammar may have at the tree's nodes: the inside probability of
the tree with its bases fixed. Parts that derivations share are built, and summed, once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.arrays import BoolArray, FloatArray, IntArray
from rerank_plugins.interfaces import Sentence
from rerank_plugins.models.pcfg.blocks import Blocks
from rerank_plugins.models.pcfg.hypergraph import Hypergraph
from rerank_plugins.models.pcfg.k_best import Derivations
from rerank_plugins.models.pcfg.pruned_chart import Items
from rerank_plugins.trees.binarisation import INTERMEDIATE
from rerank_plugins.trees.constituency import Tree


@njit(cache=True, nogil=True)
def fill_values(
    blocks: Any, bases: Any, cells: Any, words: Any, scales: Any, tails: Any, derivations: Any, needed: Any,
    offsets: Any, values: Any,
) -> None:  # fmt: skip
    """values[offsets[d] + a] = p(the words under derivation d | symbol a of its base), times the words' scales."""
    vertices, edges, lefts, rights = derivations
    for d in range(len(vertices)):
        if not needed[d]:
            continue
        item, edge, here = vertices[d] // 2, edges[d], offsets[d]
        base = bases[item]
        if tails[0][edge] < 0:
            position = cells[item]
            for e in range(blocks.words[words[position]], blocks.words[words[position] + 1]):
                symbol = blocks.word_symbol[e]
                if blocks.base[symbol] == base:
                    values[here + blocks.local[symbol]] = blocks.word_p[e] * scales[position]
            continue
        left_base, left = bases[tails[0][edge] // 2], offsets[lefts[d]]
        if tails[1][edge] >= 0:
            right_base, right = bases[tails[1][edge] // 2], offsets[rights[d]]
            pair = blocks.pair[left_base, right_base]
            block = blocks.starts[pair]
            while blocks.parent[block] != base:
                block += 1
            for e in range(blocks.entries[block], blocks.entries[block + 1]):
                values[here + blocks.a[e]] += blocks.p[e] * values[left + blocks.b[e]] * values[right + blocks.c[e]]
        elif tails[0][edge] % 2 == 0:
            for a in range(blocks.states[base]):
                values[here + a] = values[left + a]
        else:
            unary = blocks.unary
            block = unary.starts[left_base]
            while unary.parent[block] != base:
                block += 1
            for e in range(unary.entries[block], unary.entries[block + 1]):
                values[here + unary.a[e]] += unary.p[e] * values[left + unary.b[e]]


def log_probabilities(
    blocks: Blocks, items: Items, graph: Hypergraph, found: Derivations, words: IntArray, scales: FloatArray
) -> FloatArray:
    """(k) ln p(tree, words) of the best derivations' trees; `items` have the bases that the split `blocks` have."""
    bases = items.base
    needed = parts(found)
    widths = np.where(needed, blocks.states[bases[found.vertex // 2]], 0)
    offsets = np.concatenate(([0], np.cumsum(widths)))
    values = np.zeros(int(offsets[-1]))
    tails, derivations = (graph.left, graph.right), (found.vertex, found.edge, found.left, found.right)
    fill_values(blocks, bases, items.cell, words, scales, tails, derivations, needed, offsets, values)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values[offsets[found.best]]) - np.log(scales).sum())


def parts(found: Derivations) -> BoolArray:
    """(D) which derivations are part of one of the best."""
    needed = np.zeros(len(found.edge), np.bool_)
    needed[found.best] = True
    _mark(found.left, found.right, needed)
    return needed


@njit(cache=True, nogil=True)
def _mark(lefts: Any, rights: Any, needed: Any) -> None:
    for d in range(len(needed) - 1, -1, -1):
        if needed[d]:
            if lefts[d] >= 0:
                needed[lefts[d]] = True
            if rights[d] >= 0:
                needed[rights[d]] = True


def trees(items: Items, labels: Sequence[str], graph: Hypergraph, found: Derivations, sentence: Sentence) -> list[Tree]:
    """The trees of the best derivations, the children of intermediate (@) nodes given to the phrase above.

    `labels` of the items' bases; intermediate ones begin with @. Equal trees are one object.
    """
    known: dict[tuple[object, ...], Tree] = {}
    made: dict[int, tuple[Tree, ...]] = {}
    inner = [label.startswith(INTERMEDIATE) for label in labels]
    bases, cells = items.base.tolist(), items.cell.tolist()
    for d, item, left, right, first, second in _steps(graph, found):
        base = bases[item]
        if left < 0:
            children: tuple[Tree | str, ...] = (sentence[cells[item]],)
            key: tuple[object, ...] = (labels[base], cells[item])
        elif right < 0 and left % 2 == 0:
            made[d] = made[first]
            continue
        else:
            below = made[first] + made[second] if right >= 0 else made[first]
            if inner[base]:
                made[d] = below
                continue
            children = below
            key = (labels[base], None, *map(id, below))
        tree = known.get(key)
        if tree is None:
            tree = known[key] = Tree(labels[base], children)
        made[d] = (tree,)
    return [made[d][0] for d in found.best.tolist()]


def shapes(items: Items, graph: Hypergraph, found: Derivations) -> list[int]:
    """(k) the same number for best derivations that have the same bases over the same spans."""
    numbers: dict[tuple[int, ...], int] = {}
    made: dict[int, int] = {}
    bases, cells = items.base.tolist(), items.cell.tolist()
    for d, item, left, right, first, second in _steps(graph, found):
        base = bases[item]
        if left < 0:
            key: tuple[int, ...] = (base, cells[item])
        elif right >= 0:
            key = (base, -1, made[first], made[second])
        elif left % 2 == 0:
            made[d] = made[first]
            continue
        else:
            key = (base, -1, made[first])
        made[d] = numbers.setdefault(key, len(numbers))
    return [made[d] for d in found.best.tolist()]


def _steps(graph: Hypergraph, found: Derivations) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Derivations that are needed, parts first: number, item, tails of its edge, derivations of the tails."""
    chosen = np.flatnonzero(parts(found))
    edges = found.edge[chosen]
    derivations = (chosen, found.vertex[chosen] // 2, found.left[chosen], found.right[chosen])
    number, item, first, second = (column.tolist() for column in derivations)
    return zip(number, item, graph.left[edges].tolist(), graph.right[edges].tolist(), first, second, strict=True)
