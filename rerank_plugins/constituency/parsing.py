"""Parses sentences: coarse chart, pruning, fine chart, decoding.

1. Inside and outside by the coarse grammar, the projection onto plain categories (annotations and latent states are
   splits of these): A → B C has the probability with which a tree of the fine grammar rewrites an A so (Petrov & Klein
   2007, §3). A category is kept over a span if its expected number exceeds `threshold`; with 0, everything is.
2. If labels bear marks of features (kit/trees/features.py), likewise for the projection onto labels with marks, over
   these categories: the words of a span say nearly always which number it has.
3. Inside and outside of the split grammar over what is left. If no parse survives, the threshold is lowered.
4. The k best trees: by "mbr" the max-rule-product trees, by "viterbi" those of the best derivations of symbols.

With known tags, every word has the symbols of its tag only. A word that the grammar does not know with this tag emits
like the most specific of its signatures that has it, else each symbol of the tag emits it with a probability of 1e-6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from rerank_plugins.constituency.derivation_trees import log_probabilities, shapes, trees
from rerank_plugins.constituency.grammar import Grammar, expected_counts, numbered
from rerank_plugins.constituency.lexicon import lexicon_of
from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.core.errors import ModelError, naming
from rerank_plugins.core.interfaces import Sentence
from rerank_plugins.core.scored_trees import KBestTrees, ScoredTree, SharedTrees
from rerank_plugins.kit.charts.blocks import Blocks, compile_blocks
from rerank_plugins.kit.charts.hypergraph import Hypergraph, joined
from rerank_plugins.kit.charts.inside import Chart, sharing_order
from rerank_plugins.kit.charts.items import Items, items_at, items_of
from rerank_plugins.kit.charts.k_best import Derivations, KBest
from rerank_plugins.kit.charts.outside import expected_nodes
from rerank_plugins.kit.charts.pruned_chart import ALMOST_ONE, PrunedChart
from rerank_plugins.kit.charts.rules import Rules, compile_rules
from rerank_plugins.kit.trees.binarisation import INTERMEDIATE
from rerank_plugins.kit.trees.treebank_cleaning import category
from rerank_plugins.kit.vocabulary.signatures import signatures

NEVER = 1e-6
PRUNED_EARLY = 0.1  # fraction of the threshold below which the coarse outside pass prunes
OF_LABELS = 0.1  # fraction of the threshold below which labels with marks are pruned
LOWER = 1e-3  # factor by which the threshold falls for a sentence whose parses are all pruned
LOWEST = 1e-9  # the least positive threshold; longer sentences are never parsed exactly, as memory grows with n^3
EXACT = 40  # words of the longest sentence that is parsed with a threshold of 0
MORE = 8  # at most so many times k derivations are generated, if some are the same tree or impossible

_compiled: WeakKeyDictionary[Grammar, Compiled] = WeakKeyDictionary()


def coarse_name(base: str) -> str:
    """Return the plain category of a base, without annotations and the siblings that binarisation has added."""
    if not base.startswith(INTERMEDIATE):
        return category(base)
    return INTERMEDIATE + category(base[1:].split("|")[0].split(":")[0])


def plain_bases(grammar: Grammar) -> Grammar:
    """Return the same grammar with the plain categories of its bases as bases."""
    names, plain = numbered([coarse_name(name) for name in grammar.bases])
    return replace(grammar, bases=names, base=plain[grammar.base])


def project(grammar: Grammar, expected: FloatArray | None = None) -> Grammar:
    """Return the coarse grammar, whose symbols are the bases. Base 0 must be that of ROOT alone.

    `expected` (S) are the expected counts of the symbols, if they have been computed.
    """
    counts = np.maximum(expected_counts(grammar) if expected is None else expected, 1e-300)
    lexicon = grammar.lexicon
    weight = counts / np.bincount(grammar.base, counts, len(grammar.bases))[grammar.base]
    rules = ((grammar.binary, grammar.binary_logp), (grammar.unary, grammar.unary_logp))
    binary, unary = ((table, np.exp(logp)[:, None]) for table, logp in rules)
    emissions = lexicon.word_of, lexicon.symbols, np.exp(lexicon.logp)[:, None]
    return projected(grammar.bases, grammar.base, weight[:, None], binary, unary, lexicon.words, emissions)


def projected(
    names: tuple[str, ...], base: IntArray, weight: FloatArray, binary: tuple[IntArray, FloatArray],
    unary: tuple[IntArray, FloatArray], words: tuple[str, ...], emissions: tuple[IntArray, IntArray, FloatArray],
) -> Grammar:  # fmt: skip
    """Return the grammar over the bases `names`: `base` (S) is that of each symbol, `weight` (S, K) its share in it.

    `binary` and `unary` are rules with their p (rules, K); `emissions` are words, symbols and p (E, K).
    """

    def rules(rows: IntArray, parents: IntArray, p: FloatArray, size: int) -> tuple[IntArray, FloatArray]:
        table, values = summed(rows, (weight[parents] * p).sum(axis=1), size)
        return table[values > 0], np.log(values[values > 0])

    size, (word_of, symbols, emitted) = len(names), emissions
    entries, logp = rules(np.stack([word_of, base[symbols]], axis=1), symbols, emitted, max(size, len(words)))
    return Grammar(
        names, names, np.arange(size, dtype=np.int32),
        *rules(base[binary[0]], binary[0][:, 0], binary[1], size),
        *rules(base[unary[0]], unary[0][:, 0], unary[1], size),
        lexicon_of(words, np.ascontiguousarray(entries[:, 0]), np.ascontiguousarray(entries[:, 1]), logp),
    )  # fmt: skip


def summed(rows: IntArray, p: FloatArray, size: int) -> tuple[IntArray, FloatArray]:
    """Return the distinct rows of numbers below `size`, sorted, and the sum of p over each."""
    keys: LongArray = np.zeros(len(rows), np.int64)
    for column in rows.T:
        keys = keys * size + column
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    sums: FloatArray = np.bincount(inverse, p, len(first)).astype(np.float64)
    return np.ascontiguousarray(rows[first], np.int32), sums


class Emissions(NamedTuple):
    """The emissions of a sentence: those of word i are starts[i] to starts[i + 1] of `symbol` and `p`."""

    starts: IntArray
    symbol: IntArray
    p: FloatArray


def tag_symbols(grammar: Grammar) -> dict[str, IntArray]:
    """Return the symbols of each tag: the preterminals whose base is the tag once marks are removed."""
    by_tag: dict[str, list[int]] = {}
    for symbol in np.flatnonzero(grammar.preterminals).tolist():
        by_tag.setdefault(category(grammar.bases[grammar.base[symbol]]), []).append(symbol)
    return {tag: np.array(symbols, np.int32) for tag, symbols in by_tag.items()}


def tagged_emissions(grammar: Grammar, sentence: Sentence, tags: Sequence[str]) -> Emissions:
    """Return the emissions of a sentence with one tag per word. Raises ModelError for a tag that the grammar lacks."""
    known = tag_symbols(grammar)
    symbols: list[IntArray] = []
    ps: list[FloatArray] = []
    for position, (word, tag) in enumerate(zip(sentence, tags, strict=True)):
        if tag not in known:
            some = ", ".join(sorted(known)[:60])
            raise ModelError(f"tag {tag!r} (of {word!r}) is not in the grammar's tag set: {some}")
        emitting, p = _emitted(grammar, word, position, known[tag])
        symbols.append(emitting)
        ps.append(p)
    starts = np.cumsum([0, *map(len, symbols)]).astype(np.int32)
    return Emissions(starts, np.concatenate(symbols), np.concatenate(ps))


def _emitted(grammar: Grammar, word: str, position: int, wanted: IntArray) -> tuple[IntArray, FloatArray]:
    """Return those of the wanted symbols that emit the word, or else a signature of it, and p."""
    lexicon, word = grammar.lexicon, normal_form(word)
    for form in (word, *signatures(word, position == 0, word.lower() in lexicon)):
        if form in lexicon:
            symbols, logp = lexicon.emissions(form, position)
            fits = np.isin(symbols, wanted)
            if fits.any():
                return symbols[fits], np.exp(logp[fits])
    return wanted, np.full(len(wanted), NEVER)


@dataclass(frozen=True)
class Decoding:
    """How trees are chosen: the criterion, the number of trees `k`, and the pruning `threshold`.

    A base is pruned if its expected number over a span is below the threshold. A threshold of 0 prunes nothing in
    sentences of up to 40 words; in longer ones it is replaced by 1e-9.
    """

    criterion: Literal["mbr", "viterbi"] = "mbr"
    k: int = 1
    threshold: float = 1e-3


class Labels(NamedTuple):
    """What a grammar needs whose labels bear marks: its projection onto its L labels, and the rules of both."""

    grammar: Grammar  # the symbols are the labels, the bases plain categories
    between: Blocks  # its rules, by plain category
    blocks: Blocks  # the rules of the whole grammar, by label
    base: IntArray  # (L) the plain category of each label


class Compiled(NamedTuple):
    """A grammar with plain bases, its coarse grammar, and the rules of each, arranged."""

    grammar: Grammar
    blocks: Blocks
    coarse: Grammar
    coarse_rules: Rules
    labels: Labels | None  # None if no label bears a mark


def compiled(grammar: Grammar) -> Compiled:
    """What parsers of the grammar need; the same for all of them."""
    if grammar not in _compiled:
        plain, expected = plain_bases(grammar), expected_counts(grammar)
        coarse = project(plain, expected)
        labels = None
        if len(plain.bases) < len(grammar.bases):
            by_label = project(grammar, expected)
            number = np.zeros(len(grammar.bases), np.int32)
            number[grammar.base] = plain.base
            between = replace(by_label, bases=plain.bases, base=number)
            labels = Labels(between, compile_blocks(between.rules), compile_blocks(grammar.rules), number)
        blocks, rules = compile_blocks(plain.rules), compile_rules(coarse.rules)
        _compiled[grammar] = Compiled(plain, blocks, coarse, rules, labels)
    return _compiled[grammar]


class ChartParser:
    """A parser for a grammar.

    The bases of `grammar` are plain categories; `coarse` is its projection onto them, and `chart` the coarse chart,
    whose counters say how many cells were shared. `blocks` are the grammar's rules by base; `symbol_blocks`, computed
    on first use, are the same rules with every symbol as a base of its own.
    """

    def __init__(self, grammar: Grammar) -> None:
        with naming(grammar.path):
            self.grammar, self.blocks, self.coarse, coarse_rules, self.labels = compiled(grammar)
        self.chart, self._k_best = Chart(coarse_rules), KBest()
        self._intermediate = np.array([base.startswith(INTERMEDIATE) for base in self.grammar.bases])
        self.symbol_blocks: Callable[[], Blocks] = cache(lambda: compile_blocks(self.grammar.rules, split=False))

    def parse(self, sentence: Sentence, decoding: Decoding = Decoding()) -> list[ScoredTree]:
        """Return `k_best` as a list of trees."""
        return list(self.k_best(sentence, decoding))

    def k_best(self, sentence: Sentence, decoding: Decoding = Decoding()) -> Sequence[ScoredTree]:
        """Return the k best trees with ln p(tree, words), best first; none if the grammar cannot derive the sentence.

        The ln p of a tree is summed over the symbols of its nodes, whichever criterion orders the trees. Derivations
        that differ only in what binarisation has added (such as heads) are one tree, whose ln p is their sum.
        """
        return self._decode(sentence, self.grammar.lexicon.ids(sentence), decoding)

    def parse_tagged(
        self, sentence: Sentence, tags: Sequence[str], decoding: Decoding = Decoding()
    ) -> Sequence[ScoredTree]:
        """Parse a sentence whose tags are known. Raises ModelError for a tag that the grammar lacks."""
        if not sentence:
            return []
        fine, coarse = (tagged_emissions(grammar, sentence, tags) for grammar in (self.grammar, self.coarse))
        parser = copy(self)
        parser.blocks = with_emissions(self.blocks, fine)
        parser.symbol_blocks = lambda: with_emissions(self.symbol_blocks(), fine)
        if self.labels is not None:
            between = tagged_emissions(self.labels.grammar, sentence, tags)
            parser.labels = self.labels._replace(
                between=with_emissions(self.labels.between, between), blocks=with_emissions(self.labels.blocks, fine)
            )
        rules = self.chart.rules._replace(word_starts=coarse.starts, word_symbol=coarse.symbol, word_p=coarse.p)
        parser.chart = Chart(rules)
        return parser._decode(sentence, np.arange(len(sentence), dtype=np.int32), decoding)

    def _decode(self, sentence: Sentence, words: IntArray, decoding: Decoding) -> Sequence[ScoredTree]:
        """Parse with a falling threshold until there is a tree, or the lowest threshold has been tried."""
        self.chart.fill(words)
        lowest = LOWEST if len(words) > EXACT else 0.0
        threshold = max(decoding.threshold, lowest)
        while len(words):
            parses = self._parse(sentence, words, decoding, threshold)
            if parses or threshold == lowest:
                return parses
            threshold = threshold * LOWER if threshold * LOWER > LOWEST else lowest
        return []

    def parse_all(self, sentences: Sequence[Sentence], decoding: Decoding = Decoding()) -> list[list[ScoredTree]]:
        """Parse several sentences; they share cells of the coarse chart."""
        parses: list[list[ScoredTree]] = [[] for _ in sentences]
        for place in sharing_order(sentences):
            parses[place] = self.parse(sentences[place], decoding)
        return parses

    def _parse(self, sentence: Sentence, words: IntArray, decoding: Decoding, threshold: float) -> Sequence[ScoredTree]:
        """Parse with one threshold; the coarse chart has been filled."""
        scales = self.chart.scales[1 : len(words) + 1].copy()
        counts = expected_nodes(self.chart, PRUNED_EARLY * threshold)
        labels = self.labels if threshold > 0 else None
        chart = self._pruned_chart(counts, words, scales, threshold, labels)
        if not 0 < chart.total < np.inf:
            return []
        if decoding.criterion == "mbr" or threshold > 0:
            graph = chart.posteriors()
        if decoding.criterion == "mbr":
            items, over_bases = (chart.items, graph) if labels is None else self._joined(chart, graph, labels.base)
            parses = self._trees(sentence, chart, items, over_bases, decoding.k)
            if parses:
                return parses
        # Viterbi: a chart over single symbols. Also if no max-rule-product tree is possible as a whole.
        blocks = self.symbol_blocks()
        cell, symbol = likely(chart, threshold)
        symbols = PrunedChart(blocks, items_at(cell, symbol, len(counts), blocks), words, scales)
        items = symbols.items._replace(base=self.grammar.base[symbol])
        return self._trees(sentence, symbols, items, symbols.probabilities(), decoding.k)

    def _pruned_chart(
        self, counts: FloatArray, words: IntArray, scales: FloatArray, threshold: float, labels: Labels | None
    ) -> PrunedChart:
        """The chart over the bases that the coarse `counts` leave, or over the labels that these leave in turn."""
        if labels is None:
            return PrunedChart(self.blocks, items_of(counts, threshold, self.blocks), words, scales)
        chart = PrunedChart(labels.between, items_of(counts, threshold, labels.between), words, scales)
        if not 0 < chart.total < np.inf:
            return chart
        chart.posteriors()
        cell, label = likely(chart, OF_LABELS * threshold)
        return PrunedChart(labels.blocks, items_at(cell, label, len(counts), labels.blocks), words, scales)

    def _joined(self, chart: PrunedChart, graph: Hypergraph, base: IntArray) -> tuple[Items, Hypergraph]:
        """The items and the hypergraph over bases of a chart over labels, whose bases are `base`."""
        size = len(self.grammar.bases)
        key, number = np.unique(chart.items.cell * size + base[chart.items.base], return_inverse=True)
        items = items_at(key // size, key % size, len(chart.items.starts) - 1, self.blocks)
        return items, joined(graph, number, items.starts, ALMOST_ONE)

    def _trees(
        self, sentence: Sentence, chart: PrunedChart, items: Items, graph: Hypergraph, k: int
    ) -> KBestTrees:  # fmt: skip
        """Return the k best trees of a hypergraph over items, which are the bases of symbols, or bases themselves.

        There may be fewer: derivations that differ only in symbols, or in what binarisation added, are one tree.
        """
        wanted = k
        while True:
            chosen, logp = self._possible(chart, items, graph, wanted)
            candidates = trees(items, self.grammar.bases, self._intermediate, graph, chosen, sentence)
            roots = candidates.roots.tolist()
            if len(set(roots)) >= k or len(roots) < wanted or wanted >= MORE * k:
                break
            wanted *= 2
        # No two derivations over bases have the same shape.
        shape = (
            shapes(items, graph, chosen) if len(chart.blocks.states) == len(chart.blocks.base) else range(len(roots))
        )
        return _distinct(candidates, list(shape), logp.tolist())[:k]

    def _possible(self, chart: PrunedChart, items: Items, graph: Hypergraph, k: int) -> tuple[Derivations, FloatArray]:
        """Return the k best possible derivations, and ln p of their trees; there may be fewer.

        A derivation over bases is impossible if each of its rules has symbols, but no choice of symbols fits them all.
        """
        requested = k
        while True:
            derivations = self._k_best(graph, requested)
            logp = log_probabilities(self.blocks, items, graph, derivations, chart.words, chart.scales)
            possible = np.flatnonzero(logp > -np.inf)[:k]
            if len(possible) == k or len(derivations.best) < requested or requested >= MORE * k:
                return derivations._replace(best=derivations.best[possible]), logp[possible]
            requested *= 2


def likely(chart: PrunedChart, threshold: float) -> tuple[IntArray, IntArray]:
    """Return cells and symbols whose expected number exceeds the threshold, sorted by cell and symbol."""
    expected = chart.inner * chart.upper if threshold > 0 else chart.upper
    items, blocks, place = chart.items, chart.blocks, np.flatnonzero(expected > threshold * chart.total)
    item = np.searchsorted(items.offsets, place, "right") - 1
    symbol = blocks.symbol[blocks.first[items.base[item]] + place - items.offsets[item]]
    order = np.lexsort((symbol, items.cell[item]))
    return items.cell[item][order], symbol[order]


def with_emissions(blocks: Blocks, emissions: Emissions) -> Blocks:
    """Return the blocks with other emissions, in which word number i is word i of the sentence."""
    return blocks._replace(words=emissions.starts, word_symbol=emissions.symbol, word_p=emissions.p)


def _distinct(candidates: SharedTrees, shapes: list[int], logp: list[float]) -> KBestTrees:
    """Return each tree once, in the order of first occurrence, with ln of the sum over its derivations' shapes."""
    by_shape: dict[int, dict[int, float]] = {}
    for root, shape, value in zip(candidates.roots.tolist(), shapes, logp, strict=True):
        by_shape.setdefault(root, {})[shape] = value
    distinct = replace(candidates, roots=np.array(list(by_shape), np.int32))
    return KBestTrees(distinct, tuple(_log_sum(list(values.values())) for values in by_shape.values()))


def _log_sum(values: list[float]) -> float:
    return values[0] if len(values) == 1 else float(np.logaddexp.reduce(values))
