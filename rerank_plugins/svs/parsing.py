"""Parsing with vectors: pruning by a coarse grammar, a chart of vectors, and the best tree with all its vectors.

1. Inside and outside by the model projected onto plain categories: the mean probability of its rules, symbols and
   concepts weighted by π(lci), eq. 13. A symbol is kept over a span if its category's expected count exceeds
   `threshold`, which is ten times as high in sentences of more than LONG words; if no tree is left, it is lowered.
2. The best vectors of the symbols that fit (vector_chart.py); for the other decoder, first the expected counts of rules
   in all trees that are left (max_rule.py).

With a threshold of 0 nothing is pruned, as in the paper, and sentences share cells over the same words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

import numpy as np

from rerank_plugins import BoolArray, IntArray, Sentence
from rerank_plugins.constituency.grammar import Grammar, numbered
from rerank_plugins.constituency.parsing import EXACT, LOWER, LOWEST, PRUNED_EARLY, coarse_name, projected
from rerank_plugins.core.errors import naming
from rerank_plugins.kit.charts.inside import Chart, sharing_order
from rerank_plugins.kit.charts.outside import expected_nodes
from rerank_plugins.kit.charts.rules import compile_rules as compile_coarse
from rerank_plugins.kit.trees.binarisation import INTERMEDIATE, LINK
from rerank_plugins.kit.trees.treebank_cleaning import category
from rerank_plugins.svs.max_rule import max_rule_categories, plain_rules
from rerank_plugins.svs.model import SvsModel
from rerank_plugins.svs.symbol_filter import kept_categories, symbol_sets
from rerank_plugins.svs.vector_chart import VectorChart
from rerank_plugins.svs.vector_rules import compile_rules
from rerank_plugins.svs.vector_tree import ChartNode, Tables, VectorTree, vectors_of

LEAST_WEIGHT = 1e-300  # weight of symbols and concepts that never occur in the treebank
THRESHOLD = 1e-4
LONG = 60  # words
LONG_FACTOR, HIGHEST = 10, 0.1  # factor of the threshold in longer sentences; it is not raised above HIGHEST
LONG_LOWER = 0.3  # factor by which it is lowered in longer sentences if no tree is left
Decoder = Literal["vector", "mbr"]
T = TypeVar("T")


def coarse_grammar(model: SvsModel) -> tuple[Grammar, IntArray]:
    """The grammar over plain categories, and (S) the number of each symbol's category in it."""
    names, group = numbered([coarse_name(model.categories[category]) for category in model.category])
    prior = np.maximum(model.prior, LEAST_WEIGHT)
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
        with naming(model.path):
            self.coarse_chart = Chart(compile_coarse(self.coarse.rules))
        self._sets = symbol_sets(self.rules)
        self.chart = VectorChart(self.rules, self._sets)
        self.sums = VectorChart(self.rules, self._sets, summing=True)
        names = [model.categories[number] for number in model.category]
        phrases = [() if name.startswith(INTERMEDIATE) else (category(name),) for name in names]
        between = [tuple(map(category, chain.split(LINK))) if chain else () for chain in model.between]
        self.tables = Tables(self.rules, phrases, between)
        self._plain = plain_rules(self.rules, between)

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
            if self._fill(words):
                root = ChartNode(self.tables, self.chart.heap, self.chart.top, 0)
                results[distinct[place]] = read(distinct[place], root)
        return [results[tuple(sentence)] for sentence in sentences]

    def _fill(self, words: IntArray) -> bool:
        """Fill the chart of a sentence, with a threshold that is lowered until there is a tree; return whether."""
        lowest = LOWEST if len(words) > EXACT else 0.0
        threshold, lower = max(self.threshold, lowest), LOWER
        if len(words) > LONG:
            threshold, lower = max(threshold, min(LONG_FACTOR * threshold, HIGHEST)), LONG_LOWER
        if threshold:
            self.coarse_chart.fill(words)
        while True:
            kept = expected_nodes(self.coarse_chart, PRUNED_EARLY * threshold) > threshold if threshold else None
            if (has_tree := self._decoded(words, kept)) or threshold == lowest:
                return has_tree
            threshold = threshold * lower if threshold * lower > LOWEST else lowest

    def log_probability(self, sentence: Sentence) -> float:
        """Ln p(words), summed over all trees and concepts without pruning; -inf if there is no tree.

        An unknown word has one type's share of the probability of its signature (kit/vocabulary/unknown_types.py).
        """
        words = self.model.lexicon.ids(sentence)
        self.sums.fill(words)
        return self.sums.log_probability() - float(self.model.lexicon.ln_types[words].sum())

    def _decoded(self, words: IntArray, kept: BoolArray | None) -> bool:
        """Fill the chart with what the decoder chooses from the kept categories; return whether there is a tree."""
        if self.decoder == "mbr":
            if kept is None:
                kept = np.ones((len(words) * (len(words) + 1) // 2, len(self.coarse.symbols)), np.bool_)
            chosen = self._most_expected(words, kept)
            if chosen is None or self._pruned(words, chosen):
                return chosen is not None
        return self.chart.fill(words) if kept is None else self._pruned(words, kept)

    def _pruned(self, words: IntArray, kept: BoolArray) -> bool:
        categories = kept_categories(self.rules, self._sets, len(words), kept)
        return categories is not None and self.chart.fill(words, categories)

    def _most_expected(self, words: IntArray, kept: BoolArray) -> BoolArray | None:
        """(cells, G) the kept categories that are in the max-rule tree; None if there is no tree."""
        categories = kept_categories(self.rules, self._sets, len(words), kept)
        if categories is None or not self.sums.fill(words, categories):
            return None
        return max_rule_categories(self._plain, self.sums, categories)

    def vector_tree(self, sentence: Sentence, root: ChartNode) -> VectorTree:
        """The tree below the root that `read_all` has found. There is no recursion, because trees are deep."""
        descending, children = [root], list[range]()  # parents before their children, whose positions are in `children`
        for node in descending:  # it grows in the loop
            children.append(range(len(descending), len(descending) + len(node.children)))
            descending += node.children
        symbols = [node.symbol for node in descending]
        # Their vectors e (eq. 4), scaled to sums of one.
        e, powers = vectors_of(self.rules, root.heap, np.array([node.item for node in descending]))
        scales = powers * math.log(2)
        totals = e.sum(axis=1)
        vectors, log_totals = e / totals[:, None], (np.log(totals) - scales).tolist()
        with np.errstate(divide="ignore"):  # all concepts of a word may have prior 0 with its tag
            log_probabilities = (np.log((e * self.rules.prior[symbols]).sum(axis=1)) - scales).tolist()
        # The constituents, children before their parents.
        nodes: list[VectorTree] = [None] * len(descending)  # type: ignore[list-item]
        for place in range(len(descending) - 1, -1, -1):
            node, below = descending[place], tuple(nodes[child] for child in children[place])
            nodes[place] = VectorTree(
                self.model.symbols[node.symbol], node.phrases, node.span, below, "" if below else sentence[node.begin],
                vectors[place], log_totals[place], log_probabilities[place],
            )  # fmt: skip
        return nodes[0]
