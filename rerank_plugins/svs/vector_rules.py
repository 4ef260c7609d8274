"""The rules of a model in the order in which the kernels of charts and forests read them.

Rules are grouped by their pair of children, because all rules over a pair (α, β) share the elementwise product
(L e_α) · (L e_β). The vector of a rule is its product with P_M, and the criterion of eq. 8, aᵀe, is its dot product
with P_M times the prior. A symbol with unary rules is never a unary child, so a cell is filled in one pass: first the
symbols without unary rules, then those with unary rules.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import BoolArray, FloatArray, IntArray
from rerank_plugins.kit.charts.weighted_rules import ROOT
from rerank_plugins.svs.model import SvsModel


class VectorRules(NamedTuple):
    """S symbols, K concepts, P pairs of children, B binary rules sorted by pair.

    Pairs are sorted by left symbol, then by the plain category of the right symbol, then by right symbol.
    """

    group: IntArray  # (S) the number of each symbol's plain category (parsing.py)
    members: IntArray  # (S) the symbols by category: those of g are member_starts[g] to member_starts[g + 1]
    member_starts: IntArray
    place: IntArray  # (S) the number of each symbol in its category
    # (S, G) the block of pairs with this left symbol and right symbols of this category, -1 for none; block b has the
    # pairs block_pairs[b] to block_pairs[b + 1]
    blocks: IntArray
    block_pairs: IntArray
    # (G, G) the couple of categories of children, -1 if they have no rule; `couple_parents` has the categories of the
    # parents of couple c from couple_starts[c] to couple_starts[c + 1]
    couples: IntArray
    couple_starts: IntArray
    couple_parents: IntArray
    pair_right: IntArray  # (P)
    rule_starts: IntArray  # (P + 1) rules of a pair
    # parent, left, right: (B); `p` (B, K) P_M; `weight` (B, K) P_M times the prior of the parent
    parent: IntArray
    left: IntArray
    right: IntArray
    p: FloatArray
    weight: FloatArray
    most: NDArray[np.float32]  # (B) the greatest number of each row of `weight`, rounded up
    chained: BoolArray  # (S) whether a symbol has unary rules
    # above, below: (U) parents and children of the unary rules; `chain_p`, `chain_weight` (U, K)
    above: IntArray
    below: IntArray
    # (S + 1) unary rules over the child b: chain_starts[b] to chain_starts[b + 1] of `chains` (U)
    chain_starts: IntArray
    chains: IntArray
    chain_p: FloatArray
    chain_weight: FloatArray
    relation: IntArray  # (S), `transfer` (R + 1, K, K) P_L; ROOT's is the last, with rows a_T: its L e is p(words)
    transfer: FloatArray
    prior: FloatArray  # (S, K) π; that of ROOT is a_T
    words: IntArray  # (W + 1) emissions of a word: `word_symbol` (E), `word_p` (E, K)
    word_symbol: IntArray
    word_p: FloatArray


def compile_rules(model: SvsModel, group: IntArray) -> VectorRules:
    """The rules of a model, sorted for the kernels; `group` (S) has the plain categories of its symbols."""
    size = len(model.symbols)
    prior, relation = model.prior.copy(), model.relation.copy()
    prior[ROOT], relation[ROOT] = model.root, len(model.relations)
    top = np.tile(model.root, (1, model.concepts, 1))
    parent, left, right = model.binary.T.astype(np.int64)
    order = np.lexsort((parent, right, group[right], left))
    parent, left, right = parent[order], left[order], right[order]
    rule_starts = np.flatnonzero(np.diff(left * size + right, prepend=-1))
    pair_left, pair_right = left[rule_starts], right[rule_starts]
    block_pairs = np.flatnonzero(np.diff(pair_left * size + group[pair_right], prepend=-1))
    groups = int(group.max()) + 1
    blocks, couples = np.full((size, groups), -1, np.int32), np.full((groups, groups), -1, np.int32)
    blocks[pair_left[block_pairs], group[pair_right[block_pairs]]] = np.arange(len(block_pairs))
    triples = np.unique(np.stack((group[left], group[right], group[parent]), axis=1).astype(np.int64), axis=0)
    pairs_of = np.unique(triples[:, 0] * groups + triples[:, 1])
    couples.ravel()[pairs_of] = np.arange(len(pairs_of))
    chained = np.zeros(size, np.bool_)
    chained[model.unary[:, 0]] = True
    above, below = model.unary.T
    chains = np.argsort(below, kind="stable")
    weight = model.binary_p[order] * prior[parent]
    members = np.argsort(group, kind="stable").astype(np.int32)
    member_starts = np.searchsorted(group[members], np.arange(groups + 1)).astype(np.int32)
    place = np.empty(size, np.int32)
    place[members] = np.arange(size) - np.repeat(member_starts[:-1], np.diff(member_starts))
    return VectorRules(
        group,
        members,
        member_starts,
        place,
        blocks,
        np.append(block_pairs, len(rule_starts)).astype(np.int32),
        couples,
        np.searchsorted(triples[:, 0] * groups + triples[:, 1], np.append(pairs_of, groups * groups)).astype(np.int32),
        np.ascontiguousarray(triples[:, 2], np.int32),
        pair_right.astype(np.int32),
        np.append(rule_starts, len(order)).astype(np.int32),
        parent.astype(np.int32),
        left.astype(np.int32),
        right.astype(np.int32),
        np.ascontiguousarray(model.binary_p[order]),
        weight,
        np.nextafter(weight.max(axis=1, initial=0.0).astype(np.float32), np.float32(np.inf)),
        chained,
        np.ascontiguousarray(above),
        np.ascontiguousarray(below),
        np.searchsorted(below[chains], np.arange(size + 1)).astype(np.int32),
        chains.astype(np.int32),
        model.unary_p,
        model.unary_p * prior[above],
        relation,
        np.concatenate((model.transfer, top)),
        prior,
        model.lexicon.starts,
        model.lexicon.symbols,
        np.ascontiguousarray(model.lexicon.p),
    )
