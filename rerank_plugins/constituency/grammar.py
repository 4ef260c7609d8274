"""A binarised probabilistic context-free grammar in arrays, and expectations over the trees that it generates.

A split grammar (parent annotation, latent states) has the same form with more symbols: each belongs to a base, the
unsplit label that it has in the binarised trees. The unigram distribution of the words of the generated sentences is

    p(w) = Σ_t E[t] p(w | t) / (1 + Σ_t E[t] Σ_w p(w | t))          p(</s>) = 1 / (1 + Σ_t E[t] Σ_w p(w | t))

with E[t] the expected number of the preterminal t in a tree: by relative frequencies or EM, the relative frequencies
of the words in the treebank (Chi 1999). The bounds of an incremental parser's store are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rerank_plugins import BoolArray, FloatArray, IntArray, ModelError, Sentence
from rerank_plugins.constituency.lexicon import Lexicon
from rerank_plugins.kit.charts.weighted_rules import ROOT as ROOT
from rerank_plugins.kit.charts.weighted_rules import WeightedRules
from rerank_plugins.kit.vocabulary.signatures import UNKNOWN_SIGNATURE

TIGHT = 1e-12
NEVER = -30.0  # the least ln p, for a word that no symbol emits


@dataclass(frozen=True, eq=False)
class Grammar:
    """Symbols, rules and emissions; for each symbol, p of its binary and unary rules and its emissions sum to one."""

    symbols: tuple[str, ...]  # (S) names; symbol 0 is ROOT. A split symbol is named after its base ("NP^3", "VP^S")
    bases: tuple[str, ...]  # (C) names in the binarised trees; those that binarisation added begin with "@"
    base: IntArray  # (S) int32 number of each symbol's base
    binary: IntArray  # (B, 3) int32 parent, left child, right child, sorted
    binary_logp: FloatArray  # (B) ln p(left right | parent)
    unary: IntArray  # (U, 2) int32 parent, child, both non-terminals (ROOT → X among them), sorted
    unary_logp: FloatArray  # (U) ln p(child | parent)
    lexicon: Lexicon  # ln p(word | preterminal)
    # how the grammar was trained, from which its trees are restored to the treebank's form
    settings: Mapping[str, Any] = field(default_factory=dict)
    path: str = ""  # the file that it was read from, which messages about it name

    def __post_init__(self) -> None:
        if UNKNOWN_SIGNATURE not in self.lexicon.index:
            raise ModelError(f"damaged grammar: words lacks {UNKNOWN_SIGNATURE!r}")

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

    @property
    def rules(self) -> WeightedRules:
        """The grammar as arrays of probabilities, which charts compile."""
        p, q, emitted = np.exp(self.binary_logp), np.exp(self.unary_logp), np.exp(self.lexicon.logp)
        words = self.lexicon.starts, self.lexicon.symbols, emitted
        return WeightedRules(self.base, self.binary, p, self.unary, q, *words)

    def totals(self) -> FloatArray:
        """Return (S) Σ p over all rewritings of each symbol: ones in a proper grammar."""
        totals = np.zeros(self.size)
        np.add.at(totals, self.binary[:, 0], np.exp(self.binary_logp))
        np.add.at(totals, self.unary[:, 0], np.exp(self.unary_logp))
        np.add.at(totals, self.lexicon.symbols, np.exp(self.lexicon.logp))
        return totals


def numbered(names: Sequence[str], first: Iterable[str] = ()) -> tuple[tuple[str, ...], IntArray]:
    """Return the distinct names in order of occurrence, after those of `first`, and (n) the number of each."""
    number = {name: i for i, name in enumerate(dict.fromkeys([*first, *names]))}
    return tuple(number), np.array([number[name] for name in names], np.int32)


def finite_mass(grammar: Grammar) -> FloatArray:
    """Return (S) the probability that a symbol derives a finite string: ones in a consistent grammar.

    In general it is the least solution of z = e + U z + B(z, z), with the emissions e. Newton's method from zero
    converges to it from below (Etessami & Yannakakis 2009). Raises ModelError where it has no next step.
    """
    size, binary, unary = grammar.size, grammar.binary, grammar.unary
    p, q = np.exp(grammar.binary_logp), np.exp(grammar.unary_logp)
    emitted = np.bincount(grammar.lexicon.symbols, np.exp(grammar.lexicon.logp), size)
    if np.abs(grammar.totals() - 1).max() < 1e-9 and _growth(grammar) < 1:
        return np.ones(size)
    mass = np.zeros(size)
    for _ in range(200):
        both = mass[binary[:, 1]] * mass[binary[:, 2]]
        value = (
            emitted + np.bincount(unary[:, 0], q * mass[unary[:, 1]], size) + np.bincount(binary[:, 0], p * both, size)
        )
        slope = np.zeros((size, size))
        np.add.at(slope, (unary[:, 0], unary[:, 1]), q)
        np.add.at(slope, (binary[:, 0], binary[:, 1]), p * mass[binary[:, 2]])
        np.add.at(slope, (binary[:, 0], binary[:, 2]), p * mass[binary[:, 1]])
        try:
            step = np.linalg.solve(np.eye(size) - slope, value - mass)
        except np.linalg.LinAlgError:
            raise ModelError("damaged grammar: symbols that never derive a finite string have a cycle") from None
        mass = mass + np.maximum(step, 0)
        if step.max(initial=0) <= TIGHT:
            break
    return np.minimum(mass, 1.0)


def _growth(grammar: Grammar) -> float:
    """Bound the spectral radius of the matrix of expected children from above by power iteration.

    Trees may be infinite only if the radius is 1 or more.
    """
    vector = np.ones(grammar.size)
    for _ in range(300):
        above = expected_children(grammar, vector)
        growth = float(above.max())
        if growth < 1 or not growth:
            return growth
        vector = above / growth + 1e-12
    return growth


def expected_children(grammar: Grammar, vector: FloatArray) -> FloatArray:
    """Return (S) Σ over the rules of a symbol of p times the sum of `vector` over the rule's children."""
    p, q = np.exp(grammar.binary_logp), np.exp(grammar.unary_logp)
    children = vector[grammar.binary[:, 1]] + vector[grammar.binary[:, 2]]
    above: FloatArray = np.bincount(grammar.binary[:, 0], p * children, grammar.size).astype(np.float64)
    above += np.bincount(grammar.unary[:, 0], q * vector[grammar.unary[:, 1]], grammar.size)
    return above


def expected_counts(grammar: Grammar) -> FloatArray:
    """Return (S) the expected number of each symbol in a tree; if trees may be infinite, in their first levels."""
    p, q = np.exp(grammar.binary_logp), np.exp(grammar.unary_logp)
    level = np.zeros(grammar.size)
    level[ROOT] = 1.0
    counts = level.copy()
    for _ in range(1000):
        below: FloatArray = np.zeros(grammar.size)
        below += np.bincount(grammar.unary[:, 1], q * level[grammar.unary[:, 0]], grammar.size)
        for child in (1, 2):
            below += np.bincount(grammar.binary[:, child], p * level[grammar.binary[:, 0]], grammar.size)
        level = below
        counts += level
        if level.sum() <= TIGHT * counts.sum() or counts.sum() > 1e6:
            break
    return counts


def ln_unigrams(grammar: Grammar) -> FloatArray:
    """Return (W + 1) ln p of each word of the lexicon, including signatures, and of the end of a sentence."""
    lexicon = grammar.lexicon
    expected = expected_counts(grammar)[lexicon.symbols] * np.exp(lexicon.logp)
    counts = np.append(np.bincount(lexicon.word_of, expected, len(lexicon.words)), 1.0)
    with np.errstate(divide="ignore"):
        ln_p = np.log(counts / counts.sum())
    return np.asarray(np.maximum(ln_p, NEVER), np.float64)


def unigram_scores(
    grammar: Grammar, ln_p: FloatArray, sentences: Sequence[Sentence], longest: int | None = None
) -> list[FloatArray]:
    """Return ln p of each word by `ln_unigrams`, with the end of the sentence last; unknown words are signatures.

    A sentence is cut into pieces of `longest` words, if there is such a bound; each piece begins like a sentence.
    """
    scores = []
    for sentence in sentences:
        step = longest or max(1, len(sentence))
        pieces = [grammar.lexicon.ids(sentence[start : start + step]) for start in range(0, len(sentence), step)]
        scores.append(ln_p[np.concatenate([*pieces, [-1]]).astype(np.int64)])
    return scores
