"""The five probability models of structured vectorial semantics in arrays (Wu & Schuler 2011, eq. 5).

A symbol is a syntactic state `lc`: the category c of a constituent together with its relation l to the constituent
above it, which is ID for a head and MOD with its context for a modifier. A constituent's vector has a number for each
of K concepts, e_γ[i] = P(yield | lc, i), and is composed from those of its children by eq. 4 (see `compose`):

    e_γ = P_M(lci_γ → lc_α lc_β) · (P_L(· | i_γ, l_α) e_α) · (P_L(· | i_γ, l_β) e_β)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import BoolArray, FloatArray, IntArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.vocabulary.signatures import UNKNOWN
from rerank_plugins.svs.concept_lexicon import HeadTable, VectorLexicon


@dataclass(frozen=True, eq=False)
class SvsModel:
    """S symbols lc, K concepts i, R relations l. All probabilities are plain, not logarithms.

    For each symbol and concept, P_M of its binary and unary rules and its emissions sum to one. A preterminal has no
    rules. The child of a unary rule is its head; a symbol with unary rules is never the child of one, so there is at
    most one unary rule over a span. It may stand for a chain of the treebank, whose inner phrases are `between`.

    `symbols`     (S) names; symbol 0 is ROOT, whose relation is meaningless
    `categories`  (C) labels in the binarised trees, annotated; those added by binarisation begin with "@"
    `category`    (S) int32 index into categories
    `relations`   (R) names: "ID", "MOD:…", and "MOD" for rare ones
    `relation`    (S) int32 index into relations
    `binary`      (B, 3) int32 parent, left, right, sorted
    `binary_p`    (B, K) P_M(left right | parent, concept of the parent)
    `unary`       (U, 2) int32 parent, child, sorted
    `unary_p`     (U, K) P_M(child | parent, concept of the parent)
    `between`     (U) labels of the treebank that a unary rule passes over, topmost first, joined by "+"; "" for none
    `transfer`    (R, K, K) P_L(concept of the child | concept of the parent, relation of the child); rows sum to one
    `prior`       (S, K) π(lci), eq. 13: sums to one over all symbols and concepts
    `root`        (K) a_T, eq. 12: P(concept of the root), sums to one
    `lexicon`     P(word | lci) of preterminals
    `heads`       P_H(headword | lci)
    `settings`    of training, and of restoring trees to the treebank's form
    """

    symbols: tuple[str, ...]
    categories: tuple[str, ...]
    category: IntArray
    relations: tuple[str, ...]
    relation: IntArray
    binary: IntArray
    binary_p: FloatArray
    unary: IntArray
    unary_p: FloatArray
    between: tuple[str, ...]
    transfer: FloatArray
    prior: FloatArray
    root: FloatArray
    lexicon: VectorLexicon
    heads: HeadTable
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        s, k, r = len(self.symbols), len(self.root), len(self.relations)
        lexicon, heads = self.lexicon, self.heads
        shapes: list[tuple[NDArray[Any], tuple[int, ...]]] = [
            (self.category, (s,)),
            (self.relation, (s,)),
            (self.binary_p, (len(self.binary), k)),
            (self.binary, (len(self.binary), 3)),
            (self.unary_p, (len(self.unary), k)),
            (self.unary, (len(self.unary), 2)),
            (self.transfer, (r, k, k)),
            (self.prior, (s, k)),
            (lexicon.starts, (len(lexicon.words) + 1,)),
            (lexicon.symbols, (int(lexicon.starts[-1]),)),
            (lexicon.p, (len(lexicon.symbols), k)),
            (heads.starts, (s + 1,)),
            (heads.heads, (int(heads.starts[-1]),)),
            (heads.p, (len(heads.heads), k)),
        ]
        numbers: list[tuple[NDArray[Any], int]] = [
            (self.category, len(self.categories)),
            (self.relation, r),
            (self.binary, s),
            (self.unary, s),
            (lexicon.symbols, s),
            (heads.heads, len(heads.headwords)),
        ]
        fits = all(array.shape == shape for array, shape in shapes) and UNKNOWN in lexicon
        fits = fits and len(self.between) == len(self.unary)
        if not fits or any(len(array) and not 0 <= array.min() <= array.max() < size for array, size in numbers):
            raise ModelError("damaged vectorial-semantics model: its arrays do not fit together")
        if np.isin(self.unary[:, 1], self.unary[:, 0]).any():
            raise ModelError("damaged vectorial-semantics model: a unary rule's child has unary rules of its own")

    @property
    def concepts(self) -> int:
        """K, the number of concepts."""
        return len(self.root)

    @cached_property
    def preterminals(self) -> BoolArray:
        """(S) whether each symbol emits words."""
        mask = np.zeros(len(self.symbols), np.bool_)
        mask[self.lexicon.symbols] = True
        return mask

    def totals(self) -> FloatArray:
        """(S, K) Σ P over all rewritings of each symbol with each concept, which is 1 in a normalised model."""
        totals = np.zeros((len(self.symbols), self.concepts))
        np.add.at(totals, self.binary[:, 0], self.binary_p)
        np.add.at(totals, self.unary[:, 0], self.unary_p)
        np.add.at(totals, self.lexicon.symbols, self.lexicon.p)
        return totals


def compose(
    rule: FloatArray, left_transfer: FloatArray, left: FloatArray, right_transfer: FloatArray, right: FloatArray
) -> FloatArray:
    """(K) The vector of a constituent from those of its children, eq. 4; `rule` (K) is the diagonal of M.

    A unary rule has the same form without the right child.
    """
    return np.asarray(rule * (left_transfer @ left) * (right_transfer @ right), np.float64)
