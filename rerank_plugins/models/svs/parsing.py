"""Parsing with vectors: pruning by a coarse grammar, a chart of vectors, and the best tree with all its vectors.

1. Inside and outside probabilities by the coarse grammar over plain categories (projection.py). A symbol is kept over a
   span if the expected count of its category there exceeds `threshold`; if no tree is left, the threshold is lowered.
2. The chart of vectors (chart.py) over the symbols that were kept; the tree is read from the top.

With a threshold of 0 nothing is pruned, as in the paper, and there is no coarse chart; sentences with the same words in
a row then share cells.

The work grows faster than the square of the length of a sentence. Therefore the threshold is ten times as high in
sentences of more than LONG words, and is lowered there in smaller steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from rerank_plugins.arrays import IntArray
from rerank_plugins.interfaces import Sentence
from rerank_plugins.models.pcfg.inside import Chart, sharing_order
from rerank_plugins.models.pcfg.outside import expected_nodes
from rerank_plugins.models.pcfg.parsing import EXACT, LOWER, LOWEST, PRUNED_EARLY
from rerank_plugins.models.pcfg.rules import compile_rules as compile_coarse
from rerank_plugins.models.svs.chart import compose_items, fill_best
from rerank_plugins.models.svs.inside import fill_sums
from rerank_plugins.models.svs.max_rule import best_categories, plain_rules
from rerank_plugins.models.svs.model import SvsModel
from rerank_plugins.models.svs.outside import fill_outside
from rerank_plugins.models.svs.projection import coarse_grammar
from rerank_plugins.models.svs.rules import compile_rules
from rerank_plugins.models.svs.vector_chart import Kept, VectorChart
from rerank_plugins.models.svs.vector_tree import VectorTree
from rerank_plugins.trees.binarisation import INTERMEDIATE
from rerank_plugins.trees.cleaning import category
from rerank_plugins.trees.unaries import LINK

THRESHOLD = 1e-4
LONG = 60  # words
LONG_FACTOR, HIGHEST = 10, 0.1  # factor of the threshold in longer sentences; it is not raised above HIGHEST
LONG_LOWER = 0.3  # factor by which it is lowered in longer sentences if no tree is left

Decoder = Literal["vector", "mbr"]


class SvsParser:
    """A parser with a model of structured vectorial semantics.

    `threshold` prunes categories with a lower expected count in the coarse grammar. With 0 the search is exact, except
    in sentences of more than 40 words, where the threshold is then 1e-9; in those of more than 60 words it is ten times
    as high as given. `decoder` "vector" chooses trees by eq. 8; "mbr" chooses them by max_rule.py, and their
    annotations by eq. 8. `coarse` is the grammar over plain categories.
    """

    def __init__(self, model: SvsModel, threshold: float = THRESHOLD, decoder: Decoder = "vector") -> None:
        self.model, self.threshold, self.decoder = model, threshold, decoder
        self.rules = compile_rules(model)
        self.coarse, self.group = coarse_grammar(model)
        self.coarse_chart = Chart(compile_coarse(self.coarse))
        self.chart = VectorChart(self.rules, fill_best)
        self.sums = VectorChart(self.rules, fill_sums)
        names = [model.categories[number] for number in model.category]
        self._phrases = [() if name.startswith(INTERMEDIATE) else (category(name),) for name in names]
        self._between = [tuple(map(category, chain.split(LINK))) if chain else () for chain in model.between]
        self._plain = plain_rules(self.rules, self.group, self._between)

    def parse(self, sentence: Sentence) -> VectorTree | None:
        """The best tree; None if the model has none, and for an empty sentence."""
        if not sentence:
            return None
        words = self.numbers(sentence)
        lowest = LOWEST if len(words) > EXACT else 0.0
        threshold, lower = max(self.threshold, lowest), LOWER
        if len(words) > LONG:
            threshold, lower = max(threshold, min(LONG_FACTOR * threshold, HIGHEST)), LONG_LOWER
        if threshold:
            self.coarse_chart.fill(words)
        while True:
            kept = self._kept(threshold) if threshold else None
            if self._fill(words, kept) or threshold == lowest:
                return self._tree(sentence) if self.chart.top >= 0 else None
            threshold = threshold * lower if threshold * lower > LOWEST else lowest

    def parse_all(self, sentences: Sequence[Sentence]) -> list[VectorTree | None]:
        """The best tree of each sentence; equal sentences are parsed once, and others share cells where they can."""
        trees: dict[tuple[str, ...], VectorTree | None] = {}
        for place in sharing_order(sentences):
            words = tuple(sentences[place])
            if words not in trees:
                trees[words] = self.parse(words)
        return [trees[tuple(sentence)] for sentence in sentences]

    def log_probability(self, sentence: Sentence) -> float:
        """Ln p(words), summed over all trees and concepts without pruning; -inf if there is no tree."""
        self.sums.fill(self.numbers(sentence))
        return self.sums.log_probability()

    def numbers(self, sentence: Sentence) -> IntArray:
        """(n) int32 numbers of the words in the lexicon; an unknown word has the number of its signature."""
        numbers = [self.model.lexicon.number(word, position) for position, word in enumerate(sentence)]
        return np.array(numbers, np.int32)

    def _kept(self, threshold: float) -> Kept:
        expected = expected_nodes(self.coarse_chart, PRUNED_EARLY * threshold) > threshold
        return np.ascontiguousarray(expected[:, self.group])

    def _fill(self, words: IntArray, kept: Kept | None) -> bool:
        """Fill the chart over the kept symbols, as the decoder requires; return whether there is a tree."""
        if self.decoder == "mbr":
            chosen = self._most_expected(words, kept)
            if chosen is None:
                self.chart.fill(words[:0])
                return False
            self.chart.fill(words, chosen)
            if self.chart.top >= 0:
                return True
        self.chart.fill(words, kept)
        return self.chart.top >= 0

    def _most_expected(self, words: IntArray, kept: Kept | None) -> Kept | None:
        """The kept symbols whose plain categories are in the max-rule tree; None if there is no tree."""
        if kept is None:
            kept = np.ones((len(words) * (len(words) + 1) // 2, len(self.group)), np.bool_)
        chart = self.sums
        chart.fill(words, kept)
        if chart.top < 0:
            return None
        outer = np.zeros((chart.size, chart.concepts))
        fill_outside(self.rules, chart.cells, len(words), chart.heap, chart.top, outer)
        groups = len(self.coarse.symbols)
        best = best_categories(self.rules, self._plain, words, chart.cells, chart.heap, outer, groups)
        return np.asarray(kept & best[:, self.group])

    def _tree(self, sentence: Sentence) -> VectorTree:
        """The tree below the best ROOT. There is no recursion, because trees are deep."""
        heap = self.chart.heap
        items, begins = [self.chart.top], [0]
        # The items of the tree, parents before their children; `children` has the places of each item's children.
        children: list[range] = []
        for item, begin in zip(items, begins, strict=False):  # both lists grow in the loop
            below = [int(child) for child in (heap.left[item], heap.right[item]) if child >= 0]
            children.append(range(len(items), len(items) + len(below)))
            items += below
            begins += [begin, begin + int(heap.width[heap.cell[below[0]]])][: len(below)] if below else []
        # Their vectors e (eq. 4), recomputed from rules and children, and scaled to sums of one.
        chosen = np.array(items, np.int32)
        e = np.empty((len(items), self.chart.concepts))
        compose_items(self.rules, heap, chosen, self.chart.words[begins], e)
        symbols, rules, widths = (
            array.tolist() for array in (heap.symbol[chosen], heap.rule[chosen], heap.width[heap.cell[chosen]])
        )
        scales = heap.power[heap.cell[chosen]] * math.log(2)
        totals = e.sum(axis=1)
        vectors, log_totals = e / totals[:, None], (np.log(totals) - scales).tolist()
        with np.errstate(divide="ignore"):  # all concepts of a word may have prior 0 with its tag
            log_probabilities = (np.log((e * self.rules.prior[symbols]).sum(axis=1)) - scales).tolist()
        # The constituents, children before their parents.
        nodes: list[VectorTree] = [None] * len(items)  # type: ignore[list-item]
        for place in range(len(items) - 1, -1, -1):
            symbol, rule, begin = symbols[place], rules[place], begins[place]
            nodes_below = tuple(nodes[child] for child in children[place])
            nodes[place] = VectorTree(
                self.model.symbols[symbol],
                self._phrases[symbol] + (self._between[-2 - rule] if rule <= -2 else ()),
                (begin, begin + widths[place]),
                nodes_below,
                "" if nodes_below else sentence[begin],
                vectors[place],
                log_totals[place],
                log_probabilities[place],
            )
        return nodes[0]
