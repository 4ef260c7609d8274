"""Collects the trees of a training corpus as arrays of numbers, with the labels and words of these numbers.

Labels are numbered by falling frequency, ties in alphabetical order, so that a model does not depend on the order of
the trees (except where words become signatures at random). A node takes 12 bytes and a word another 4.

The vocabulary is closed here too: rare words become signatures, and all are numbered. The result is that of replacing
words in sentences (`UnknownWords.replaced`, kit/vocabulary/signatures.py) and counting what is left, without a Python
object for any token: only distinct words are strings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from rerank_plugins import BoolArray, IntArray, LongArray, SharedTrees, Tree, normal_form
from rerank_plugins.kit.vocabulary.signatures import UNKNOWN_SIGNATURE, UnknownWords, signature, with_shared_endings
from rerank_plugins.kit.vocabulary.unknown_types import types_of_signatures
from rerank_plugins.kit.vocabulary.word_ids import Numbering
from rerank_plugins.treelet.closed_vocabulary import SENTENCE_START, ClosedVocabulary
from rerank_plugins.treelet.form_numbers import FormNumbers
from rerank_plugins.treelet.transformations import ArrayTransformations
from rerank_plugins.treelet.tree_arrays import SPECIAL, Symbols, TreeArrays, lay_out


def close_numbered(
    words: Numbering, tokens: IntArray, starts: LongArray, unknown: UnknownWords, min_count: int = 1
) -> ClosedVocabulary:
    """The vocabulary of a corpus; `tokens` (n), numbered in the order of their first occurrence, get its numbers.

    `starts` are the positions of the first words of the sentences; brackets must be in their normal form. First
    `unknown` replaces occurrences by signatures; then all words that are left fewer than `min_count` times are replaced
    as well. `words` gets the names of the signatures.
    """
    sources = list(words)
    first = np.zeros(len(tokens), bool)
    first[starts] = True
    placed = _counts_by_place(tokens, first, len(words))
    # Occurrences become signatures; a word is known if any of its occurrences is left.
    marked = unknown_positions(tokens, starts, unknown, len(words))
    original = tokens[marked]
    left = _counts(tokens, len(words)) - np.bincount(original, minlength=len(words))
    known = {word for word, count in zip(sources, left.tolist(), strict=True) if count}
    tokens[marked] = _signatures(words, sources, original, first[marked], known, unknown)
    # Words that are left too rarely become signatures, too, also those that are signatures already.
    counts = _counts(tokens, len(words))
    rare = (counts > 0) & (counts < min_count)
    if rare.any():
        names = list(words)
        known = {names[number] for number in np.flatnonzero(counts >= min_count)}
        places = np.flatnonzero(rare[tokens])
        before, at = tokens[places], np.searchsorted(marked, places)
        again = at < np.searchsorted(marked, places, side="right")
        before[again] = original[at[again]]
        tokens[places] = _signatures(words, sources, before, first[places], known, unknown)
        counts = _counts(tokens, len(words))
    # Number the words by falling frequency; a word `<s>` of the text is an unknown word.
    total = dict(zip(words, counts.tolist(), strict=True))
    kept = {word for word, count in total.items() if count} | {UNKNOWN_SIGNATURE}
    final = (SENTENCE_START, *sorted(kept - {SENTENCE_START}, key=lambda word: (-total.get(word, 0), word)))
    number = {word: i for i, word in enumerate(final)}
    number[SENTENCE_START] = number[UNKNOWN_SIGNATURE]
    renumbered = np.array([number.get(word, 0) for word in words], np.int32)
    tokens[:] = renumbered[tokens]
    totals = _counts(tokens, len(final))
    totals[0] = len(starts)
    occurrences = {(sources[kind >> 1], bool(kind & 1)): int(placed[kind]) for kind in np.flatnonzero(placed).tolist()}
    return ClosedVocabulary(final, totals, types_of_signatures(occurrences, kept))


def unknown_positions(tokens: IntArray, starts: LongArray, unknown: UnknownWords, size: int) -> LongArray:
    """The positions of the tokens that `unknown` makes signatures, in order; `size` is the number of words."""
    if len(starts) < 2 * unknown.first:
        once = _counts(tokens, size) == 1
        return np.flatnonzero(once[tokens])
    # Words are numbered as they come: a number greater than all before is that of a new word.
    rng = np.random.default_rng(unknown.seed)
    begin = int(starts[unknown.first]) if unknown.first < len(starts) else len(tokens)
    seen = int(tokens[:begin].max(initial=-1))
    new = begin + np.flatnonzero(np.diff(np.maximum.accumulate(np.append(seen, tokens[begin:]))))
    return new[rng.random(len(new)) < unknown.rate]


def _signatures(
    words: Numbering, sources: list[str], ids: IntArray, first: BoolArray, known: set[str], unknown: UnknownWords
) -> IntArray:
    """The numbers of the signatures of words, each as the first word of its sentence or not; new ones are added."""
    kinds, inverse, counts = np.unique(2 * ids.astype(np.int64) + first, return_inverse=True, return_counts=True)
    names = [
        signature(sources[kind >> 1], bool(kind & 1), sources[kind >> 1].lower() in known, english=unknown.english)
        for kind in kinds.tolist()
    ]
    totals = Counter[str]()
    for name, count in zip(names, counts.tolist(), strict=True):
        totals[name] += count
    shared = with_shared_endings(totals)
    return words.numbers_of((shared[name] for name in names), len(kinds))[inverse]


def _counts_by_place(tokens: IntArray, first: BoolArray, size: int) -> LongArray:
    """(2 · size) how often each word occurs, as another word of a sentence and as the first one."""
    return np.bincount(2 * tokens.astype(np.int64) + first, minlength=2 * size)


def _counts(tokens: IntArray, size: int) -> LongArray:
    return np.bincount(tokens, minlength=size)


TREES_A_BLOCK = 4096  # trees that are numbered at a time
PHRASE, TAG = 0, 1


@dataclass(frozen=True, eq=False)
class Corpus:
    """Symbols and vocabulary, and the trees as arrays of numbers.

    `nodes` (N, 3) are the label of each node as the collector numbered it, the distance to its parent (0 for none), and
    PHRASE or TAG; `new_labels` are the symbols of phrases and of tags with these numbers. `tokens` are the numbers of
    the words, `lengths` the nodes of each tree.
    """

    symbols: Symbols
    vocabulary: ClosedVocabulary
    nodes: IntArray
    new_labels: tuple[IntArray, IntArray]
    tokens: IntArray
    lengths: IntArray

    def blocks(self) -> Iterator[TreeArrays]:
        """The trees in blocks, so that memory never holds all of them twice."""
        node = token = 0
        for first in range(0, len(self.lengths), TREES_A_BLOCK):
            offsets = np.cumsum([0, *self.lengths[first : first + TREES_A_BLOCK].tolist()], dtype=np.int64)
            size = int(offsets[-1])
            label, distance, kind = self.nodes[node : node + size].T
            symbol, word = np.empty(size, np.int32), np.full(size, -1, np.int32)
            for which, new in enumerate(self.new_labels):
                symbol[kind == which] = new[label[kind == which]]
            parent = np.where(distance == 0, -1, np.arange(size, dtype=np.int32) - distance)
            tags = np.flatnonzero(kind == TAG)
            word[tags] = self.tokens[token : token + len(tags)]
            yield TreeArrays(symbol, parent.astype(np.int32), word, offsets)
            node, token = node + size, token + len(tags)


class TreeletCollector:
    """Collects trees in the form that the model uses; `finish` determines the symbols and the vocabulary."""

    def __init__(self) -> None:
        self._labels = Numbering(), Numbering()  # of phrases and of tags
        self._words = Numbering()
        self._normal: dict[str, int] = {}  # the number of each spelling of a word
        self._nodes: list[IntArray] = []
        self._tokens: list[IntArray] = []
        self._lengths: list[IntArray] = []
        self._sizes: list[IntArray] = []

    def add(self, trees: Iterable[Tree]) -> None:
        """Add trees to the corpus."""
        trees = iter(trees)
        while block := list(islice(trees, TREES_A_BLOCK)):
            label, parent, words, offsets = self._lay_out(block)
            is_tag = np.array([word is not None for word in words])
            here = np.arange(len(label), dtype=np.int32)
            distance = np.where(parent < 0, 0, here - parent)
            self._nodes.append(np.stack([label, distance, is_tag], axis=1).astype(np.int32, copy=False))
            self._lengths.append(np.diff(offsets).astype(np.int32))
            self._tokens.append(np.array([self._number(word) for word in words if word is not None], np.int32))
            self._sizes.append(np.add.reduceat(is_tag, offsets[:-1], dtype=np.int32))

    def _lay_out(self, trees: list[Tree]) -> tuple[IntArray, IntArray, list[str | None], LongArray]:
        """The trees as arrays, with the collector's numbers of their labels."""
        phrases, tags = self._labels
        return lay_out(trees, phrases.number_of, tags.number_of)

    def _number(self, word: str) -> int:
        number = self._normal.get(word)
        if number is None:
            number = self._normal[word] = self._words.number_of(normal_form(word))
        return number

    @property
    def trees(self) -> int:
        """The number of trees so far."""
        return sum(map(len, self._lengths))

    def finish(self, unknown: UnknownWords, min_count: int) -> Corpus:
        """The corpus, with signatures in place of some words. The collector is emptied."""
        nodes = np.concatenate([np.zeros((0, 3), np.int32), *self._nodes])
        tokens, lengths, sizes = (
            np.concatenate([np.zeros(0, np.int32), *blocks]) for blocks in (self._tokens, self._lengths, self._sizes)
        )
        self._nodes, self._tokens, self._lengths, self._sizes = [], [], [], []
        starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)[:-1]])
        vocabulary = close_numbered(self._words, tokens, starts, unknown, min_count)
        phrases, new_phrases = _settled(self._labels[PHRASE], nodes, PHRASE, len(SPECIAL))
        tags, new_tags = _settled(self._labels[TAG], nodes, TAG, len(SPECIAL) + len(phrases))
        return Corpus(Symbols(phrases, tags), vocabulary, nodes, (new_phrases, new_tags), tokens, lengths)


class TransformedCollector(TreeletCollector):
    """Collects transformed trees (transformations.py) as arrays, without building them as objects."""

    def __init__(self, numbers: FormNumbers | None = None) -> None:
        super().__init__()
        phrases, tags = self._labels
        self._transformations = ArrayTransformations(phrases.number_of, tags.number_of, numbers)

    def _lay_out(self, trees: list[Tree]) -> tuple[IntArray, IntArray, list[str | None], LongArray]:
        arrays = self._transformations([SharedTrees.of(trees)])
        names = [*arrays.words, None]  # -1, the number at phrases, is the last
        return arrays.symbol, arrays.parent, [names[word] for word in arrays.word.tolist()], arrays.offsets


def _settled(names: Numbering, nodes: IntArray, kind: int, first: int) -> tuple[tuple[str, ...], IntArray]:
    """The labels of a kind by falling frequency, and the new number of each old one, from `first` on."""
    counts = np.bincount(nodes[nodes[:, 2] == kind, 0], minlength=len(names))
    old = names.as_dict()
    order = sorted(names, key=lambda name: (-counts[old[name]], name))
    new = np.zeros(len(names), np.int32)
    new[[old[name] for name in order]] = np.arange(first, first + len(order))
    return tuple(order), new
