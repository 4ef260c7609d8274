"""A binarised probabilistic context-free grammar in arrays.

A split grammar (parent annotation, latent states) has the same form with more symbols: each symbol belongs to a base,
the unsplit label that it has in the binarised trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rerank_plugins.constituency.lexicon import Lexicon
from rerank_plugins.core.arrays import BoolArray, FloatArray, IntArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.vocabulary.signatures import UNKNOWN

ROOT = 0  # the number of the root symbol


@dataclass(frozen=True, eq=False)
class Grammar:
    """Symbols, rules and emissions; for each symbol, p of its binary and unary rules and its emissions sum to one.

    `symbols`       (S) names; symbol 0 is ROOT. A split symbol is named after its base ("NP^3", "VP^S")
    `bases`         (C) names in the binarised trees; those that binarisation added begin with "@"
    `base`          (S) int32 number of each symbol's base
    `binary`        (B, 3) int32 parent, left child, right child, sorted
    `binary_logp`   (B) ln p(left right | parent)
    `unary`         (U, 2) int32 parent, child, both non-terminals (ROOT → X among them), sorted
    `unary_logp`    (U) ln p(child | parent)
    `lexicon`       ln p(word | preterminal)
    `settings`      how the grammar was trained, from which its trees are restored to the treebank's form
    """

    symbols: tuple[str, ...]
    bases: tuple[str, ...]
    base: IntArray
    binary: IntArray
    binary_logp: FloatArray
    unary: IntArray
    unary_logp: FloatArray
    lexicon: Lexicon
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        size = len(self.symbols)
        shapes = self.base.shape == (size,) and self.binary.shape == (len(self.binary_logp), 3)
        shapes = shapes and self.unary.shape == (len(self.unary_logp), 2)
        lexicon = self.lexicon
        shapes = shapes and len(lexicon.words) + 1 == len(lexicon.starts) and UNKNOWN in lexicon.index
        shapes = shapes and len(lexicon.symbols) == len(lexicon.logp) == lexicon.starts[-1]
        numbers = [self.binary, self.unary, lexicon.symbols]
        if not shapes or any(len(column) and not 0 <= column.min() <= column.max() < size for column in numbers):
            raise ModelError("damaged grammar: its arrays do not fit together")

    @property
    def size(self) -> int:
        """S, the number of symbols."""
        return len(self.symbols)

    @cached_property
    def preterminals(self) -> BoolArray:
        """(S) whether each symbol emits words."""
        mask = np.zeros(self.size, np.bool_)
        mask[self.lexicon.symbols] = True
        return mask

    def totals(self) -> FloatArray:
        """Return (S) Σ p over all rewritings of each symbol: ones in a proper grammar."""
        totals = np.zeros(self.size)
        np.add.at(totals, self.binary[:, 0], np.exp(self.binary_logp))
        np.add.at(totals, self.unary[:, 0], np.exp(self.unary_logp))
        np.add.at(totals, self.lexicon.symbols, np.exp(self.lexicon.logp))
        return totals
