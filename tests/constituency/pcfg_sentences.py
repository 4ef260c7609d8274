"""Exact inference over whole sentences, as tests and experiments ask for it."""

from collections.abc import Sequence

import numpy as np

from rerank_plugins.constituency.compiled_rules import compile_rules
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.inside import Chart, sharing_order
from rerank_plugins.constituency.prefix import PrefixChart
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import Sentence


def inside_all(grammar: Grammar, sentences: Sequence[Sentence]) -> FloatArray:
    """Return (n) ln p of each sentence; sentences share the cells over words that they have in the same places."""
    chart, totals = Chart(compile_rules(grammar)), np.empty(len(sentences))
    for place in sharing_order(sentences):
        chart.fill(grammar.lexicon.ids(sentences[place]))
        totals[place] = chart.log_probability()
    return totals


def prefix_probabilities(grammar: Grammar, sentence: Sentence) -> FloatArray:
    """Return (n + 1) ln P(w_1 … w_j …) for j = 0 … n: the sentence begins with these words, and any others may follow."""
    return PrefixChart(grammar).log_probabilities(grammar.lexicon.ids(sentence))[:-1]
