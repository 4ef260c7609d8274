"""The grammar of a treebank by relative frequencies (Charniak 1996): p(rule | parent) = c(rule) / c(parent).

Binarised trees as flat arrays, the data on which grammars are counted and trained.

Reads the trees of several treebanks one by one, and keeps their numbers and weights but not the trees.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import BoolArray, FloatArray, FormatError, IntArray, LongArray, Tree, normal_form
from rerank_plugins.constituency.grammar import Grammar, numbered
from rerank_plugins.constituency.lexicon import Smoothing, Tagged, lexicon_of, smoothed, weighed, with_tagged_words
from rerank_plugins.kit.trees.binarisation import JOINED, LINK
from rerank_plugins.kit.trees.treebank_cleaning import category
from rerank_plugins.kit.vocabulary.signatures import UNKNOWN_SIGNATURE, UnknownWords
from rerank_plugins.kit.vocabulary.unknown_types import types_of_signatures

ROOT_LABEL = "ROOT"


class CountedTrees:
    """The trees of treebanks in order, each treebank with a weight.

    When all are read, `sizes` has the number of trees of each treebank and, with `tags`, `tagged` its tagged words
    times its weight.
    """

    def __init__(self, treebanks: Sequence[Iterable[Tree]], weights: Sequence[float], *, tags: bool) -> None:
        self.sizes: list[int] = []
        self.tagged: list[Counter[tuple[str, str]]] = []
        self._treebanks, self._weights, self._tags = treebanks, weights, tags

    def __iter__(self) -> Iterator[Tree]:
        """Yield the trees. Raises FormatError if there are none."""
        for treebank, weight in zip(self._treebanks, self._weights, strict=True):
            size, counts = 0, Counter[tuple[str, str]]()
            for tree in treebank:
                size += 1
                if self._tags:
                    counts.update(zip(tree.words(), tree.tags(), strict=True))
                yield tree
            self.sizes.append(size)
            self.tagged.append(weighed(counts, weight))
        if not sum(self.sizes):
            raise FormatError("no trees to learn from")

    def tree_weights(self) -> FloatArray:
        """Return the weight of each tree that was read."""
        return np.repeat(np.asarray(self._weights, np.float64), self.sizes)


@dataclass(frozen=True, eq=False)
class EncodedTrees:
    """N nodes of T binarised trees, tree after tree, each in post-order: children before parents, the root last."""

    labels: tuple[str, ...]  # names; ROOT first, then in alphabetical order
    words: tuple[str, ...]  # the closed vocabulary, sorted: words, signatures, `UNK`
    label: IntArray  # (N) int32 index into labels
    left: IntArray  # (N) int32 the first child's node, -1 in a preterminal
    right: IntArray  # (N) int32 the second child's node, -1 in a preterminal and where there is one child
    word: IntArray  # (N) int32 index into words in a preterminal, else -1
    offsets: LongArray  # (T + 1) int64: tree t has nodes offsets[t] to offsets[t + 1]
    weights: FloatArray  # (T) the count of each tree
    # how often each word occurs in the trees, as the first of its sentence or not, before rare ones become signatures
    occurrences: Mapping[tuple[str, bool], int] = field(default_factory=dict)

    @property
    def node_weights(self) -> FloatArray:
        """(N) the weight of each node's tree."""
        return np.repeat(self.weights, np.diff(self.offsets))

    def chosen(self, trees: BoolArray) -> EncodedTrees:
        """Return the forest of those trees that the mask has, with the same labels and words."""
        sizes = np.diff(self.offsets)
        nodes = np.repeat(trees, sizes)
        offsets = np.concatenate(([0], np.cumsum(sizes[trees])))
        moved = np.repeat(self.offsets[:-1][trees] - offsets[:-1], sizes[trees])
        left, right = (
            np.where(child[nodes] >= 0, child[nodes] - moved, -1).astype(np.int32) for child in (self.left, self.right)
        )
        return replace(
            self, label=self.label[nodes], left=left, right=right, word=self.word[nodes], offsets=offsets,
            weights=self.weights[trees],
        )  # fmt: skip

    def renamed(self, names: Sequence[str]) -> EncodedTrees:
        """Return the forest with another name for each of its labels, in their order; labels may get the same name."""
        labels, number = numbered(names, (ROOT_LABEL, *sorted(set(names) - {ROOT_LABEL})))
        return replace(self, labels=labels, label=number[self.label])


def encode_trees(
    trees: Iterable[Tree], unknown: UnknownWords | None = None, weights: Iterable[float] | None = None
) -> EncodedTrees:
    """Lay out binarised trees, with brackets in normal form and rare words replaced by signatures as `unknown` says.

    `weights` (one per tree, default 1) are the counts of the trees. The root of every tree must be ROOT; a node has one
    or two children, a preterminal one word. The trees are read one by one, and none is kept.
    """
    numbers: dict[str, int] = {}  # of the labels, in the order in which they come
    columns = array("i"), array("i"), array("i")
    offsets, sentences = [0], []
    for tree in trees:
        sentences.append(tuple(map(normal_form, _add(tree, numbers, *columns))))
        offsets.append(len(columns[0]))
    replaced = (unknown or UnknownWords()).replaced(sentences)
    occurrences = Counter((word, place == 0) for sentence in sentences for place, word in enumerate(sentence))
    words = tuple(sorted({word for sentence in replaced for word in sentence} | {UNKNOWN_SIGNATURE}))
    number = {word: i for i, word in enumerate(words)}
    label, left, right = (np.array(column, np.int32) for column in columns)
    word = np.full(len(label), -1, np.int32)
    word[left < 0] = np.fromiter((number[form] for sentence in replaced for form in sentence), np.int32)
    counts = np.ones(len(sentences)) if weights is None else np.fromiter(weights, np.float64)
    starts = np.array(offsets, np.int64)
    forest = EncodedTrees(tuple(numbers), words, label, left, right, word, starts, counts, occurrences)
    return forest.renamed(forest.labels)


def _add(tree: Tree, numbers: dict[str, int], label: array[int], left: array[int], right: array[int]) -> list[str]:
    """Append the nodes of a tree in post-order, without recursion, and return its words."""
    words: list[str] = []
    finished: list[int] = []
    waiting: list[tuple[Tree, bool]] = [(tree, False)]
    while waiting:
        node, expanded = waiting.pop()
        children = node.children
        first = second = -1
        if isinstance(children[0], str):
            words.append(children[0])
        elif not expanded:
            waiting.append((node, True))
            waiting += [(child, False) for child in reversed(children) if isinstance(child, Tree)]
            continue
        else:
            if len(children) > 1:
                second = finished.pop()
            first = finished.pop()
        finished.append(len(label))
        label.append(numbers.setdefault(node.label, len(numbers)))
        left.append(first)
        right.append(second)
    return words


class Productions(NamedTuple):
    """The distinct rewritings of a forest, sorted, with their weighted counts, and the one that each node uses."""

    binary: IntArray  # (B, 3) and `unary` (U, 2) labels of parent and children; `emission` (E, 2) label and word
    binary_count: FloatArray
    unary: IntArray
    unary_count: FloatArray
    emission: IntArray
    emission_count: FloatArray
    rule: IntArray  # (N) the rewriting of each node, as index into the table of its kind

    @property
    def counts(self) -> FloatArray:
        """(R) the counts of all rewritings: binary, unary, emissions."""
        return np.concatenate([self.binary_count, self.unary_count, self.emission_count])


def productions(forest: EncodedTrees) -> Productions:
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


def rule_numbers(known: Productions, rules: Productions) -> LongArray:
    """Return (R) the number among the `known` rewritings of each of `rules`: binary, then unary, then emissions."""
    begin, numbers = 0, []
    for kind in ("binary", "unary", "emission"):
        tables = [getattr(productions, kind).astype(np.int64) for productions in (known, rules)]
        base = 1 + max(int(table.max(initial=0)) for table in tables)
        keys = [np.zeros(len(table), np.int64) for table in tables]
        for key, table in zip(keys, tables, strict=True):
            for column in table.T:
                key *= base
                key += column
        numbers.append(begin + np.searchsorted(keys[0], keys[1]))
        begin += len(tables[0])
    return np.concatenate(numbers)


def treebank_grammar(
    forest: EncodedTrees,
    smoothing: Smoothing | None = None,
    settings: Mapping[str, Any] | None = None,
    tagged: Tagged | None = None,
) -> Grammar:
    """Estimate the grammar of a forest, whose labels are the symbols. `tagged` words are added to the lexicon."""
    counts = productions(forest)
    symbols = np.arange(len(forest.labels), dtype=np.int32)
    return grammar_of_counts(
        forest.labels, forest.labels, symbols, forest, counts, smoothing or Smoothing(), settings or {}, tagged
    )


def grammar_of_counts(
    symbols: tuple[str, ...], bases: tuple[str, ...], base: IntArray, forest: EncodedTrees, counts: Productions,
    smoothing: Smoothing, settings: Mapping[str, Any], tagged: Tagged | None = None,
) -> Grammar:  # fmt: skip
    """Normalise counts for each symbol, after smoothing the emissions; rewritings without a count are left out.

    The words are those of the forest, and the tagged ones; its occurrences of words say how many types signatures have.
    """
    words = forest.words
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
        log_total = np.log(total)
    rules, chains = counts.binary[binary], counts.unary[unary]
    types = types_of_signatures(forest.occurrences, frozenset(words))
    return Grammar(
        symbols, bases, base, *_sorted(rules, np.log(counts.binary_count[binary]) - log_total[rules[:, 0]]),
        *_sorted(chains, np.log(counts.unary_count[unary]) - log_total[chains[:, 0]]),
        lexicon_of(words, word, symbol, np.log(emission) - log_total[symbol], types), settings,
    )  # fmt: skip


def _sorted(rules: IntArray, logp: FloatArray) -> tuple[IntArray, FloatArray]:
    """Sort rules by parent, then by children."""
    order = np.lexsort(rules.T[::-1])
    return np.ascontiguousarray(rules[order]), logp[order]
