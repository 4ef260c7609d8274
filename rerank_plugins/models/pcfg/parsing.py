"""Sentences to trees: coarse chart, pruning, fine chart, decoding.

1. Inside and outside by the coarse grammar (projection.py), whose symbols are the plain categories. A category is kept
   over a span where it is expected more often than `threshold` (0: everything possible is kept, and all that follows is
   exact over the whole grammar).
2. Inside and outside of the split grammar over what was kept. Its bases are the plain categories too: annotations and
   latent states alike split them. Where nothing is left of a sentence, the threshold falls.
3. The k best trees: by "mbr" the max-rule-product trees, or by "viterbi" those of the best derivations of symbols.

Hypotheses of an n-best list share cells of the coarse chart (inside.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from rerank_plugins.arrays import FloatArray, IntArray
from rerank_plugins.interfaces import ScoredTree, Sentence
from rerank_plugins.models.pcfg.blocks import Blocks, compile_blocks
from rerank_plugins.models.pcfg.derivation_trees import log_probabilities, shapes, trees
from rerank_plugins.models.pcfg.grammar import Grammar
from rerank_plugins.models.pcfg.hypergraph import Hypergraph, rule_posteriors, rule_probabilities
from rerank_plugins.models.pcfg.inside import Chart, sharing_order
from rerank_plugins.models.pcfg.k_best import Derivations, k_best
from rerank_plugins.models.pcfg.outside import expected_nodes
from rerank_plugins.models.pcfg.projection import plain_bases, project
from rerank_plugins.models.pcfg.pruned_chart import Items, PrunedChart, items_at, items_of
from rerank_plugins.models.pcfg.rules import compile_rules
from rerank_plugins.models.pcfg.tagged import Emissions, tagged_emissions
from rerank_plugins.trees.constituency import Tree

PASSED_OVER = 0.1  # share of the threshold below which the coarse outside pass does not look
LOWER = 1e-3  # by which the threshold falls for a sentence of which it leaves nothing
LOWEST = 1e-9  # below it nothing is pruned, but in sentences of more than EXACT words: memory grows with n^3
EXACT = 40
MORE = 8  # times as many derivations are asked for at most, where some are the same tree, or impossible


@dataclass(frozen=True)
class Decoding:
    """How trees are chosen. `k`: how many; `threshold`: expected number below which a base is not kept.

    A threshold of 0 prunes nothing in sentences of up to 40 words; in longer ones it is 1e-9.
    """

    criterion: Literal["mbr", "viterbi"] = "mbr"
    k: int = 1
    threshold: float = 1e-3


class ChartParser:
    """A grammar made ready for parsing.

    `grammar` has plain categories for bases; `coarse` is its projection onto them, and `chart` the coarse chart, whose
    counters say how many cells were shared. `blocks` are the grammar's rules, in `symbol_blocks`, which are made when
    they are first needed, every symbol is its own base.
    """

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = plain_bases(grammar)
        self.blocks = compile_blocks(self.grammar)
        self.coarse = project(self.grammar)
        self.chart = Chart(compile_rules(self.coarse))
        self.symbol_blocks: Callable[[], Blocks] = cache(lambda: compile_blocks(self.grammar, split=False))

    def parse(self, sentence: Sentence, decoding: Decoding = Decoding()) -> list[ScoredTree]:
        """The k best trees with ln p(tree, words), best first; none where the grammar cannot derive the sentence.

        A tree's ln p sums over the symbols of its nodes, whatever the criterion of the order. Where several of the best
        differ in what binarisation has added (heads, outwards from which it went), they are one tree, with their sum.
        """
        return self._decode(sentence, self.grammar.lexicon.ids(sentence), decoding)

    def parse_tagged(
        self, sentence: Sentence, tags: Sequence[str], decoding: Decoding = Decoding()
    ) -> list[ScoredTree]:
        """`parse` with the tag of each word given (tagged.py). Raises ModelError for a tag that the grammar lacks."""
        if not sentence:
            return []
        fine, coarse = (tagged_emissions(grammar, sentence, tags) for grammar in (self.grammar, self.coarse))
        parser = copy(self)
        parser.blocks = with_emissions(self.blocks, fine)
        parser.symbol_blocks = lambda: with_emissions(self.symbol_blocks(), fine)
        rules = self.chart.rules._replace(word_starts=coarse.starts, word_symbol=coarse.symbol, word_p=coarse.p)
        parser.chart = Chart(rules)
        return parser._decode(sentence, np.arange(len(sentence), dtype=np.int32), decoding)

    def _decode(self, sentence: Sentence, words: IntArray, decoding: Decoding) -> list[ScoredTree]:
        self.chart.fill(words)
        lowest = LOWEST if len(words) > EXACT else 0.0
        threshold = max(decoding.threshold, lowest)
        while len(words):
            found = self._parse(sentence, words, decoding, threshold)
            if found or threshold == lowest:
                return found
            threshold = threshold * LOWER if threshold * LOWER > LOWEST else lowest
        return []

    def parse_all(self, sentences: Sequence[Sentence], decoding: Decoding = Decoding()) -> list[list[ScoredTree]]:
        """`parse` of each sentence, sharing cells of the coarse chart."""
        found: list[list[ScoredTree]] = [[] for _ in sentences]
        for place in sharing_order(sentences):
            found[place] = self.parse(sentences[place], decoding)
        return found

    def _parse(self, sentence: Sentence, words: IntArray, decoding: Decoding, threshold: float) -> list[ScoredTree]:
        scales = self.chart.scales[1 : len(words) + 1].copy()
        kept = expected_nodes(self.chart, PASSED_OVER * threshold) > threshold
        chart = PrunedChart(self.blocks, items_of(kept, self.blocks), words, scales)
        if not 0 < chart.total < np.inf:
            return []
        if decoding.criterion == "mbr" or threshold > 0:
            chart.fill_outside()
        if decoding.criterion == "mbr":
            found = self._trees(sentence, chart, rule_posteriors(chart), chart.items.base, decoding.k)
            if found:
                return found
        blocks = self.symbol_blocks()
        cell, symbol = self._likely(chart, threshold)
        symbols = PrunedChart(blocks, items_at(cell, symbol, len(kept), blocks), words, scales)
        return self._trees(sentence, symbols, rule_probabilities(symbols), self.grammar.base[symbol], decoding.k)

    def _likely(self, chart: PrunedChart, threshold: float) -> tuple[IntArray, IntArray]:
        """Cells and symbols of a chart that are expected more often than the threshold, sorted by cell and symbol."""
        expected = chart.inner * chart.upper if threshold > 0 else chart.upper
        items, place = chart.items, np.flatnonzero(expected > threshold * chart.total)
        item = np.searchsorted(items.offsets, place, "right") - 1
        symbol = self.blocks.symbol[self.blocks.first[items.base[item]] + place - items.offsets[item]]
        order = np.lexsort((symbol, items.cell[item]))
        return items.cell[item][order], symbol[order]

    def _trees(
        self, sentence: Sentence, chart: PrunedChart, graph: Hypergraph, bases: IntArray, k: int
    ) -> list[ScoredTree]:
        """The k best trees of a hypergraph over the items of a chart, `bases` those of the items.

        There may be fewer: derivations that differ in symbols, or in what binarisation added, are one tree.
        """
        items = chart.items._replace(base=bases)
        wanted = k
        while True:
            chosen, logp = self._possible(chart, items, graph, wanted)
            made = trees(items, self.grammar.bases, graph, chosen, sentence)
            if len(set(map(id, made))) >= k or len(made) < wanted or wanted >= MORE * k:
                break
            wanted *= 2
        each = chart.blocks is self.blocks  # derivations over bases: no two have the same shape
        shape = list(range(len(made))) if each else shapes(items, graph, chosen)
        return _distinct(made, shape, logp)[:k]

    def _possible(self, chart: PrunedChart, items: Items, graph: Hypergraph, k: int) -> tuple[Derivations, FloatArray]:
        """The k best derivations, and ln p of their trees. Those are passed over whose rules are possible one by one,
        but not together with any choice of symbols; there may be fewer for it.
        """
        asked = k
        while True:
            found = k_best(graph, asked)
            logp = log_probabilities(self.blocks, items, graph, found, chart.words, chart.scales)
            possible = np.flatnonzero(logp > -np.inf)[:k]
            if len(possible) == k or len(found.best) < asked or asked >= MORE * k:
                return found._replace(best=found.best[possible]), logp[possible]
            asked *= 2


def with_emissions(blocks: Blocks, emissions: Emissions) -> Blocks:
    """The blocks with other emissions: word number i is the sentence's word i."""
    return blocks._replace(words=emissions.starts, word_symbol=emissions.symbol, word_p=emissions.p)


def _distinct(made: list[Tree], shapes: list[int], logp: FloatArray) -> list[ScoredTree]:
    """Each tree once, in the order of the first: the sum over its derivations of different shape."""
    found: dict[int, dict[int, float]] = {}
    first: dict[int, Tree] = {}
    for tree, shape, value in zip(made, shapes, logp.tolist(), strict=True):
        first.setdefault(id(tree), tree)
        found.setdefault(id(tree), {})[shape] = value
    return [ScoredTree(tree, _log_sum(list(found[key].values()))) for key, tree in first.items()]


def _log_sum(values: list[float]) -> float:
    return values[0] if len(values) == 1 else float(np.logaddexp.reduce(values))
