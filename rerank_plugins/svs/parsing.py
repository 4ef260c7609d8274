"""Parsing with vectors: pruning by a coarse grammar, a chart of vectors, and the best tree with all its vectors.

1. Inside and outside by the model projected onto plain categories: the mean probability of its rules, symbols and
   concepts weighted by π(lci), eq. 13. A symbol is kept over a span if its category's expected count exceeds
   `threshold`, which is ten times as high in sentences of more than LONG words; if no tree is left, it is lowered.
2. The best vectors of the symbols that fit (best_vectors.py); for the other decoder, first the expected counts of rules
   in all trees that are left (item_forest.py, max_rule.py).

With a threshold of 0 nothing is pruned, as in the paper, and best vectors fill a chart (chart.py) in which sentences
share cells over the same words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

import numpy as np

from rerank_plugins import BoolArray, IntArray, Sentence
from rerank_plugins.constituency.grammar import Grammar, numbered
from rerank_plugins.constituency.parsing import EXACT, LOWER, LOWEST, PRUNED_EARLY, coarse_name, projected
from rerank_plugins.kit.charts.inside import Chart, sharing_order
from rerank_plugins.kit.charts.outside import expected_nodes
from rerank_plugins.kit.charts.rules import compile_rules as compile_coarse
from rerank_plugins.kit.trees.binarisation import INTERMEDIATE, LINK
from rerank_plugins.kit.trees.treebank_cleaning import category
from rerank_plugins.svs.best_vectors import NO_ROOM, candidates, fill_kept
from rerank_plugins.svs.chart import VectorChart, compose_items
from rerank_plugins.svs.fitting_symbols import kept_categories, symbol_sets
from rerank_plugins.svs.item_forest import FULL, build, make_forest
from rerank_plugins.svs.max_rule import Expected, PlainRules, best_categories, expect_rules, plain_rules, sum_vectors
from rerank_plugins.svs.model import SvsModel
from rerank_plugins.svs.vector_cells import make_heap
from rerank_plugins.svs.vector_rules import VectorRules, compile_rules
from rerank_plugins.svs.vector_tree import ChartNode, Tables, VectorTree

ITEMS, PAIRS, COUNTS = 1 << 13, 1 << 16, 1 << 15  # room at first
LEAST = 1e-300  # weight of symbols and concepts that never occur in the treebank
THRESHOLD = 1e-4
LONG = 60  # words
LONG_FACTOR, HIGHEST = 10, 0.1  # factor of the threshold in longer sentences; it is not raised above HIGHEST
LONG_LOWER = 0.3  # factor by which it is lowered in longer sentences if no tree is left
Decoder = Literal["vector", "mbr"]
T = TypeVar("T")


class PrunedChart:
    """The best vectors of one sentence after another, or its forest.

    `top` is the item of ROOT over all words, -1 if there is none. The cells of `heap` are those of the sentence, in the
    order of `cell_number`.
    """

    def __init__(self, rules: VectorRules) -> None:
        self.rules, self.concepts = rules, rules.transfer.shape[1]
        self._sets = symbol_sets(rules)
        self.words = np.zeros(0, np.int32)
        self.top = -1
        self.forest = make_forest(0, ITEMS, PAIRS)
        self._make_room(0, ITEMS)
        self.rule, self.count = np.empty(COUNTS, np.int32), np.empty(COUNTS)

    def build(self, words: IntArray, kept: BoolArray) -> bool:
        """Fill the forest from the categories that are `kept` (cells, G); return whether there is a tree."""
        self.words, self.top = words, -1
        items, pairs = len(self.forest.symbol), len(self.forest.pair)
        while True:
            if len(self.forest.starts) != len(kept) + 1 or items > len(self.forest.symbol):
                self.forest = make_forest(len(words), items, pairs)
            top = build(self.rules, words, kept, self.forest)
            if top != FULL:
                break
            items, pairs = 2 * items, 2 * pairs
        self.top = top if top < self.forest.starts[-1] else -1
        return self.top >= 0

    def expected(self, plain: PlainRules) -> Expected | None:
        """The expected counts of plain rules in the forest; None if it has no tree with a probability above 0."""
        n, (cells, items) = len(self.words), (len(self.forest.starts) - 1, int(self.forest.starts[-1]))
        power, cell_of, vector = np.empty(cells, np.int32), np.empty(items, np.int32), np.zeros((items, self.concepts))
        if self.top < 0:
            return None
        sum_vectors(self.rules, self.words, self.forest, power, cell_of, vector)
        if vector[self.top, 0] == 0.0:
            return None
        tags, chains, binary = (np.empty((rows, 2), np.int64) for rows in (cells, cells, n * (n * n - 1) // 6))
        while True:
            expected = Expected(tags, chains, binary, self.rule, self.count)
            parts = (self.words, self.forest, self.top, power, cell_of, vector)
            if expect_rules(self.rules, plain, *parts, expected) != FULL:
                return expected
            self.rule, self.count = np.empty(2 * len(self.rule), np.int32), np.empty(2 * len(self.rule))

    def fill(self, words: IntArray, kept: BoolArray) -> bool:
        """Fill the best vectors; return whether there is a tree."""
        self.words, self.top = words, -1
        categories = kept_categories(self.rules, self._sets, len(words), kept) if len(words) else None
        if categories is None:
            return False
        if len(self.heap.begin) < len(kept):
            self._make_room(2 * len(kept), len(self.heap.symbol))
        while True:
            top = fill_kept(self.rules, self._sets, words, *categories, self.heap, self._candidates)
            if top != NO_ROOM:
                break
            self._make_room(len(kept), 2 * len(self.heap.symbol))
        self.top = int(top)
        return self.top >= 0

    def _make_room(self, cells: int, items: int) -> None:
        self.heap = make_heap(cells, items, self.concepts)
        self._candidates = candidates(items, len(self.rules.relation), self.concepts)


def coarse_grammar(model: SvsModel) -> tuple[Grammar, IntArray]:
    """The grammar over plain categories, and (S) the number of each symbol's category in it."""
    names, group = numbered([coarse_name(model.categories[category]) for category in model.category])
    prior = np.maximum(model.prior, LEAST)
    weight = prior / np.bincount(group, prior.sum(axis=1))[group, None]
    lexicon = model.lexicon
    rules = (model.binary, model.binary_p), (model.unary, model.unary_p)
    emissions = lexicon.word_of, lexicon.symbols, lexicon.p
    return projected(names, group, weight, *rules, lexicon.words, emissions), group


class SvsParser:
    """A parser with a model of structured vectorial semantics.

    `threshold` prunes categories with a lower expected count in the coarse grammar. With 0 the search is exact, except
    in sentences of more than 40 words, where the threshold is then 1e-9; in those of more than 60 words it is ten times
    as high as given. `decoder` "vector" chooses trees by eq. 8; "mbr" chooses them by max_rule.py, and their
    annotations by eq. 8. `coarse` is the grammar over plain categories.
    """

    def __init__(self, model: SvsModel, threshold: float = THRESHOLD, decoder: Decoder = "vector") -> None:
        self.model, self.threshold, self.decoder = model, threshold, decoder
        self.coarse, self.group = coarse_grammar(model)
        self.rules = compile_rules(model, self.group)
        self.coarse_chart = Chart(compile_coarse(self.coarse.rules))
        self.chart = VectorChart(self.rules, summed=False)
        self.pruned = PrunedChart(self.rules)
        self.sums = VectorChart(self.rules, summed=True)
        names = [model.categories[number] for number in model.category]
        phrases = [() if name.startswith(INTERMEDIATE) else (category(name),) for name in names]
        between = [tuple(map(category, chain.split(LINK))) if chain else () for chain in model.between]
        self.tables = Tables(self.rules, phrases, between)
        self._plain = plain_rules(self.rules, self.group, between)

    def parse(self, sentence: Sentence) -> VectorTree | None:
        """The best tree; None if the model has none, and for an empty sentence."""
        return self.parse_all([sentence])[0]

    def parse_all(self, sentences: Sequence[Sentence]) -> list[VectorTree | None]:
        """The best tree of each sentence."""
        return self.read_all(sentences, self.vector_tree)

    def read_all(self, sentences: Sequence[Sentence], read: Callable[[Sentence, ChartNode], T]) -> list[T | None]:
        """What `read` returns for each sentence and the root of its best tree, or None if it has no tree.

        Equal sentences are parsed once. The order is free, as all values of a sentence depend on its words alone.
        """
        results: dict[tuple[str, ...], T | None] = dict.fromkeys(map(tuple, sentences))
        distinct = [sentence for sentence in results if sentence]
        for place in sharing_order(distinct):
            words = self.model.lexicon.ids(distinct[place])
            chart = self._chart(words)
            if chart.top >= 0:
                root = ChartNode(self.tables, chart.heap, words, chart.top, 0)
                results[distinct[place]] = read(distinct[place], root)
        return [results[tuple(sentence)] for sentence in sentences]

    def _chart(self, words: IntArray) -> PrunedChart | VectorChart:
        """The filled chart of a sentence; the threshold is lowered until there is a tree."""
        lowest = LOWEST if len(words) > EXACT else 0.0
        threshold, lower = max(self.threshold, lowest), LOWER
        if len(words) > LONG:
            threshold, lower = max(threshold, min(LONG_FACTOR * threshold, HIGHEST)), LONG_LOWER
        if threshold:
            self.coarse_chart.fill(words)
        while True:
            kept = expected_nodes(self.coarse_chart, PRUNED_EARLY * threshold) > threshold if threshold else None
            chart = self._filled(words, kept)
            if chart.top >= 0 or threshold == lowest:
                return chart
            threshold = threshold * lower if threshold * lower > LOWEST else lowest

    def log_probability(self, sentence: Sentence) -> float:
        """Ln p(words), summed over all trees and concepts without pruning; -inf if there is no tree."""
        self.sums.fill(self.model.lexicon.ids(sentence))
        return self.sums.log_probability()

    def _filled(self, words: IntArray, kept: BoolArray | None) -> PrunedChart | VectorChart:
        """The chart over the kept categories, filled as the decoder requires; its `top` is -1 if there is no tree."""
        if self.decoder == "mbr":
            if kept is None:
                kept = np.ones((len(words) * (len(words) + 1) // 2, len(self.coarse.symbols)), np.bool_)
            chosen = self._most_expected(words, kept)
            if chosen is None or self.pruned.fill(words, chosen):
                return self.pruned
        if kept is None:
            self.chart.fill(words)
            return self.chart
        self.pruned.fill(words, kept)
        return self.pruned

    def _most_expected(self, words: IntArray, kept: BoolArray) -> BoolArray | None:
        """(cells, G) the kept categories that are in the max-rule tree; None if there is no tree."""
        expected = self.pruned.expected(self._plain) if self.pruned.build(words, kept) else None
        if expected is None:
            self.pruned.top = -1
            return None
        return best_categories(self._plain, expected, len(words), len(self.coarse.symbols))

    def vector_tree(self, sentence: Sentence, root: ChartNode) -> VectorTree:
        """The tree below the root that `read_all` has found. There is no recursion, because trees are deep."""
        heap = root.heap
        items, begins = [root.item], [0]
        # The items of the tree, parents before their children; `children` has the positions of each item's children.
        children: list[range] = []
        for item, begin in zip(items, begins, strict=False):  # both lists grow in the loop
            below = [int(child) for child in (heap.left[item], heap.right[item]) if child >= 0]
            children.append(range(len(items), len(items) + len(below)))
            items += below
            begins += [begin, begin + int(heap.width[heap.cell[below[0]]])][: len(below)] if below else []
        # Their vectors e (eq. 4), recomputed from rules and children, and scaled to sums of one.
        chosen = np.array(items, np.int32)
        e = np.empty((len(items), self.model.concepts))
        compose_items(self.rules, heap, chosen, root.words[begins], e)
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
                (*self.tables.phrases[symbol], *(self.tables.between[-2 - rule] if rule <= -2 else ())),
                (begin, begin + widths[place]),
                nodes_below,
                "" if nodes_below else sentence[begin],
                vectors[place],
                log_totals[place],
                log_probabilities[place],
            )
        return nodes[0]
