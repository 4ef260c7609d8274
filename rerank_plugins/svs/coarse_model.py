"""A model projected onto its plain categories: the coarse grammar that prunes the chart of vectors.

The coarse rule A → B C has the mean probability of the model's rules over A, B and C: the symbols and concepts lci of A
are weighted by their priors π(lci), their relative frequencies (eq. 13).
"""

from __future__ import annotations

import numpy as np

from rerank_plugins.constituency.coarse_grammar import coarse_name, summed
from rerank_plugins.constituency.grammar import ROOT, Grammar
from rerank_plugins.constituency.lexicon import lexicon_of
from rerank_plugins.core.arrays import FloatArray, IntArray
from rerank_plugins.svs.model import SvsModel

LEAST = 1e-300  # weight of symbols and concepts that never occur in the treebank


def coarse_grammar(model: SvsModel) -> tuple[Grammar, IntArray]:
    """The grammar over plain categories, and (S) the number of each symbol's category in it."""
    names = [coarse_name(model.categories[category]) for category in model.category]
    numbers = {name: number for number, name in enumerate(dict.fromkeys([names[ROOT], *names]))}
    group = np.array([numbers[name] for name in names], np.int32)
    prior = np.maximum(model.prior, LEAST)
    weight = prior / np.bincount(group, prior.sum(axis=1))[group, None]
    lexicon = model.lexicon
    word = np.repeat(np.arange(len(lexicon.words), dtype=np.int32), np.diff(lexicon.starts))

    def rules(rows: IntArray, parents: IntArray, p: FloatArray, size: int) -> tuple[IntArray, FloatArray]:
        table, values = summed(rows, (weight[parents] * p).sum(axis=1), size)
        return table[values > 0], np.log(values[values > 0])

    size, base = len(numbers), np.arange(len(numbers), dtype=np.int32)
    binary, binary_logp = rules(group[model.binary], model.binary[:, 0], model.binary_p, size)
    unary, unary_logp = rules(group[model.unary], model.unary[:, 0], model.unary_p, size)
    entries = np.stack([word, group[lexicon.symbols]], axis=1)
    entries, logp = rules(entries, lexicon.symbols, lexicon.p, max(size, len(lexicon.words)))
    emissions = lexicon_of(lexicon.words, entries[:, 0], entries[:, 1], logp)
    symbols = tuple(numbers)
    return Grammar(symbols, symbols, base, binary, binary_logp, unary, unary_logp, emissions), group
