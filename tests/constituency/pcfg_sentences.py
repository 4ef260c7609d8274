"""Exact inference over whole sentences, as tests and experiments ask for it."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.prefix import PrefixChart
from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.interfaces import Sentence
from rerank_plugins.kit.charts.inside import Chart, sharing_order
from rerank_plugins.kit.charts.rules import compile_rules


def inside_all(grammar: Grammar, sentences: Sequence[Sentence]) -> FloatArray:
    """Return (n) ln p of each sentence; sentences share the cells over words that they have in the same places."""
    chart, totals = Chart(compile_rules(grammar.rules)), np.empty(len(sentences))
    for place in sharing_order(sentences):
        chart.fill(grammar.lexicon.ids(sentences[place]))
        totals[place] = chart.log_probability()
    return totals


@lru_cache(maxsize=4)
def prefixes_of(grammar: Grammar) -> PrefixChart:
    """The chart of a grammar, whose left edges take longer than a sentence."""
    return PrefixChart(grammar)


def prefix_probabilities(grammar: Grammar, sentence: Sentence) -> FloatArray:
    """Return (n + 1) ln P(w_1 … w_j …) for j = 0 … n: the sentence begins with these words, and any others may follow."""
    return prefixes_of(grammar).log_probabilities(grammar.lexicon.ids(sentence))[:-1]


def inside(grammar: Grammar, sentence: Sentence) -> float:
    """Return ln p(sentence), summed over all its trees; -inf if there is none."""
    chart = Chart(compile_rules(grammar.rules))
    chart.fill(grammar.lexicon.ids(sentence))
    return chart.log_probability()


def spans(n: int) -> LongArray:
    """Return (n (n + 1) / 2, 2) the first word of each cell and the one after its last, ordered by `cell_number`."""
    return np.array([(i, i + width) for width in range(1, n + 1) for i in range(n - width + 1)], np.int64).reshape(
        -1, 2
    )
