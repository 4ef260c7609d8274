"""Converts the derivations of a pruned chart to trees, and computes ln p of those trees.

ln p(tree, words) is summed over the symbols that the grammar may have at the nodes of the tree: it is the inside
probability of the tree with its bases fixed. Parts that several derivations share are built, and summed, once.
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
    """Set values[offsets[d] + a] = p(words under derivation d | symbol a of its base), times the words' scales."""
    vertices, edges, lefts, rights = derivations
    for d in range(len(vertices)):
        if not needed[d]:
            continue
        item, edge, here = vertices[d] // 2, edges[d], offsets[d]
        base = bases[item]
        # An emission: p(word | a) · scale.
        if tails[0][edge] < 0:
            position = cells[item]
            for e in range(blocks.words[words[position]], blocks.words[words[position] + 1]):
                symbol = blocks.word_symbol[e]
                if blocks.base[symbol] == base:
                    values[here + blocks.local[symbol]] = blocks.word_p[e] * scales[position]
            continue
        left_base, left = bases[tails[0][edge] // 2], offsets[lefts[d]]
        # A binary rule: Σ_{b, c} p(a → b c) value(b) value(c), in the block of the three bases.
        if tails[1][edge] >= 0:
            right_base, right = bases[tails[1][edge] // 2], offsets[rights[d]]
            pair = blocks.pair[left_base, right_base]
            block = blocks.starts[pair]
            while blocks.parent[block] != base:
                block += 1
            for e in range(blocks.entries[block], blocks.entries[block + 1]):
                g = blocks.groups[pair] + blocks.group[e]
                values[here + blocks.a[e]] += blocks.p[e] * values[left + blocks.b[g]] * values[right + blocks.c[g]]
        # The empty chain of unary rules.
        elif tails[0][edge] % 2 == 0:
            for a in range(blocks.states[base]):
                values[here + a] = values[left + a]
        # A unary rule: Σ_b p(a → b) value(b).
        else:
            unary = blocks.unary
            block = unary.starts[left_base]
            while unary.parent[block] != base:
                block += 1
            for e in range(unary.entries[block], unary.entries[block + 1]):
                values[here + unary.a[e]] += unary.p[e] * values[left + unary.b[e]]


def log_probabilities(
    blocks: Blocks, items: Items, graph: Hypergraph, derivations: Derivations, words: IntArray, scales: FloatArray
) -> FloatArray:
    """Return (k) ln p(tree, words) of the best derivations' trees; `items` and split `blocks` have the same bases."""
    bases = items.base
    needed = parts(derivations)
    widths = np.where(needed, blocks.states[bases[derivations.vertex // 2]], 0)
    offsets = np.concatenate(([0], np.cumsum(widths)))
    values = np.zeros(int(offsets[-1]))
    tails = graph.left, graph.right
    columns = derivations.vertex, derivations.edge, derivations.left, derivations.right
    fill_values(blocks, bases, items.cell, words, scales, tails, columns, needed, offsets, values)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values[offsets[derivations.best]]) - np.log(scales).sum())


def parts(derivations: Derivations) -> BoolArray:
    """Return (D) whether each derivation is part of one of the best."""
    needed = np.zeros(len(derivations.edge), np.bool_)
    needed[derivations.best] = True
    _mark(derivations.left, derivations.right, needed)
    return needed


@njit(cache=True, nogil=True)
def _mark(lefts: Any, rights: Any, needed: Any) -> None:
    """Mark the parts of all marked derivations; parts come before wholes."""
    for d in range(len(needed) - 1, -1, -1):
        if needed[d]:
            if lefts[d] >= 0:
                needed[lefts[d]] = True
            if rights[d] >= 0:
                needed[rights[d]] = True


def trees(
    items: Items, labels: Sequence[str], graph: Hypergraph, derivations: Derivations, sentence: Sentence
) -> list[Tree]:
    """Return the trees of the best derivations, in which intermediate (@) nodes are replaced by their children.

    `labels` are those of the items' bases; intermediate ones begin with @. Equal trees are one object.
    """
    known: dict[tuple[object, ...], Tree] = {}
    subtrees: dict[int, tuple[Tree, ...]] = {}
    inner = [label.startswith(INTERMEDIATE) for label in labels]
    bases, cells = items.base.tolist(), items.cell.tolist()
    for d, item, left, right, first, second in _steps(graph, derivations):
        base = bases[item]
        if left < 0:
            children: tuple[Tree | str, ...] = (sentence[cells[item]],)
            key: tuple[object, ...] = (labels[base], cells[item])
        elif right < 0 and left % 2 == 0:
            subtrees[d] = subtrees[first]
            continue
        else:
            below = subtrees[first] + subtrees[second] if right >= 0 else subtrees[first]
            if inner[base]:
                subtrees[d] = below
                continue
            children = below
            key = (labels[base], None, *map(id, below))
        tree = known.get(key)
        if tree is None:
            tree = known[key] = Tree(labels[base], children)
        subtrees[d] = (tree,)
    return [subtrees[d][0] for d in derivations.best.tolist()]


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
    """Yield the derivations that are needed, parts first: number, item, tails of the edge, derivations of the tails."""
    chosen = np.flatnonzero(parts(derivations))
    edges = derivations.edge[chosen]
    columns = (chosen, derivations.vertex[chosen] // 2, derivations.left[chosen], derivations.right[chosen])
    number, item, first, second = (column.tolist() for column in columns)
    return zip(number, item, graph.left[edges].tolist(), graph.right[edges].tolist(), first, second, strict=True)
