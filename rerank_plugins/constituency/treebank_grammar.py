"""The grammar of a treebank by relative frequencies (Charniak 1996): p(rule | parent) = c(rule) / c(parent)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.constituency.binarised_trees import Forest
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.lexicon import lexicon_of
from rerank_plugins.constituency.lexicon_smoothing import Smoothing, smoothed
from rerank_plugins.constituency.tagged_words import Tagged, with_tagged_words
from rerank_plugins.core.arrays import BoolArray, FloatArray, IntArray
from rerank_plugins.kit.elementary_functions import log
from rerank_plugins.kit.trees.treebank_cleaning import category
from rerank_plugins.kit.trees.unaries import JOINED, LINK


class Productions(NamedTuple):
    """The distinct rewritings of a forest, sorted, with their weighted counts, and the one that each node uses.

    `binary`    (B, 3) and `unary` (U, 2) labels of parent and children; `emission` (E, 2) label and word
    `rule`      (N) the rewriting of each node, as index into the table of its kind
    """

    binary: IntArray
    binary_count: FloatArray
    unary: IntArray
    unary_count: FloatArray
    emission: IntArray
    emission_count: FloatArray
    rule: IntArray


def productions(forest: Forest) -> Productions:
    """Count the rewritings of a forest."""
    label, emits, joins = forest.label, forest.word >= 0, forest.right >= 0
    binary = np.stack([label, label[forest.left], label[forest.right]], axis=1)
    unary = np.stack([label, label[forest.left]], axis=1)
    emission = np.stack([label, forest.word], axis=1)
    rule, weights = np.zeros(len(label), np.int32), forest.node_weights
    return Productions(
        *_distinct(binary, joins, weights, rule),
        *_distinct(unary, ~emits & ~joins, weights, rule),
        *_distinct(emission, emits, weights, rule),
        rule,
    )


def _distinct(used: IntArray, mask: BoolArray, weights: FloatArray, rule: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the distinct rows of `used` under the mask, and their summed weights; write each row's index to `rule`."""
    table, inverse = np.unique(used[mask], axis=0, return_inverse=True)
    rule[mask] = inverse.ravel()
    return table, np.bincount(inverse.ravel(), weights[mask], len(table)).astype(np.float64)


def treebank_grammar(
    forest: Forest,
    smoothing: Smoothing | None = None,
    settings: Mapping[str, Any] | None = None,
    tagged: Tagged | None = None,
) -> Grammar:
    """Estimate the grammar of a forest, whose labels are the symbols. `tagged` words are added to the lexicon."""
    counts = productions(forest)
    symbols = np.arange(len(forest.labels), dtype=np.int32)
    return grammar_of_counts(
        forest.labels, forest.labels, symbols, forest.words, counts, smoothing or Smoothing(), settings or {}, tagged
    )


def grammar_of_counts(
    symbols: tuple[str, ...],
    bases: tuple[str, ...],
    base: IntArray,
    words: tuple[str, ...],
    counts: Productions,
    smoothing: Smoothing,
    settings: Mapping[str, Any],
    tagged: Tagged | None = None,
) -> Grammar:
    """Normalise counts for each symbol, after smoothing the emissions; rewritings without a count are left out."""
    binary, unary = counts.binary_count > 0, counts.unary_count > 0
    emitted = counts.emission_count > 0
    word, symbol, emission = counts.emission[emitted, 1], counts.emission[emitted, 0], counts.emission_count[emitted]
    if tagged:
        joined = settings.get("unaries") == JOINED
        names = [name.rpartition(LINK)[2] if joined else name for name in bases]
        tags = [category(names[number]) for number in base]
        words, word, symbol, emission = with_tagged_words(words, word, symbol, emission, tags, tagged)
    word, symbol, emission = smoothed(words, word, symbol, emission, smoothing)
    kept = emission > 0
    word, symbol, emission = word[kept], symbol[kept], emission[kept]
    parents: list[NDArray[Any]] = [counts.binary[:, 0], counts.unary[:, 0], symbol]
    values = [counts.binary_count, counts.unary_count, emission]
    total = np.bincount(np.concatenate(parents), np.concatenate(values), len(symbols))
    with np.errstate(divide="ignore"):
        log_total = log(total)
    rules, chains = counts.binary[binary], counts.unary[unary]
    return Grammar(
        symbols,
        bases,
        base,
        *_sorted(rules, log(counts.binary_count[binary]) - log_total[rules[:, 0]]),
        *_sorted(chains, log(counts.unary_count[unary]) - log_total[chains[:, 0]]),
        lexicon_of(words, word, symbol, log(emission) - log_total[symbol]),
        settings,
    )


def _sorted(rules: IntArray, logp: FloatArray) -> tuple[IntArray, FloatArray]:
    """Sort rules by parent, then by children."""
    order = np.lexsort(rules.T[::-1])
    return np.ascontiguousarray(rules[order]), logp[order]
