"""The projection of a split grammar onto its unsplit symbols: the coarse grammar by which the fine chart is pruned.

The unsplit symbols are plain categories (`plain_bases`), so both annotations and latent states count as splits.

The coarse rule A → B C has the probability with which a tree of the fine grammar rewrites an A as B C: that of the
symbols a of A, weighted by their expected numbers (Petrov & Klein 2007, section 3). Both grammars then generate the
same expected number of every coarse rule.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rerank_plugins.constituency.expectations import expected_counts
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.lexicon import lexicon_of
from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.kit.trees.binarisation import INTERMEDIATE
from rerank_plugins.kit.trees.treebank_cleaning import category


def coarse_name(base: str) -> str:
    """Return the plain category of a base, without annotations and the siblings that binarisation has added."""
    if not base.startswith(INTERMEDIATE):
        return category(base)
    return INTERMEDIATE + category(base[1:].split("|")[0].split(":")[0])


def plain_bases(grammar: Grammar) -> Grammar:
    """Return the same grammar with the plain categories of its bases as bases."""
    names = [coarse_name(name) for name in grammar.bases]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    plain = np.array([numbers[name] for name in names], np.int32)
    return replace(grammar, bases=tuple(numbers), base=plain[grammar.base])


def project(grammar: Grammar) -> Grammar:
    """Return the coarse grammar, whose symbols are the bases. Base 0 must be that of ROOT alone."""
    base, names = grammar.base, grammar.bases
    counts = np.maximum(expected_counts(grammar), 1e-300)
    size = len(names)
    weight = counts / np.bincount(base, counts, size)[base]
    binary, binary_p = summed(base[grammar.binary], weight[grammar.binary[:, 0]] * np.exp(grammar.binary_logp), size)
    unary, unary_p = summed(base[grammar.unary], weight[grammar.unary[:, 0]] * np.exp(grammar.unary_logp), size)
    lexicon = grammar.lexicon
    entries = np.stack([lexicon.word_of, base[lexicon.symbols]], axis=1)
    emission, emission_p = summed(
        entries, weight[lexicon.symbols] * np.exp(lexicon.logp), max(size, len(lexicon.words))
    )
    word, symbol = (np.ascontiguousarray(emission[:, column]) for column in (0, 1))
    return Grammar(
        names,
        names,
        np.arange(size, dtype=np.int32),
        binary,
        np.log(binary_p),
        unary,
        np.log(unary_p),
        lexicon_of(lexicon.words, word, symbol, np.log(emission_p)),
        grammar.settings,
    )


def summed(rows: IntArray, p: FloatArray, size: int) -> tuple[IntArray, FloatArray]:
    """Return the distinct rows of numbers below `size`, sorted, and the sum of p over each."""
    keys: LongArray = np.zeros(len(rows), np.int64)
    for column in rows.T:
        keys = keys * size + column
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    sums: FloatArray = np.bincount(inverse, p, len(first)).astype(np.float64)
    return np.ascontiguousarray(rows[first], np.int32), sums
