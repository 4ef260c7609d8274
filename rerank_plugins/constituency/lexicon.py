"""The emissions of a grammar, ln p(word | preterminal), over a closed vocabulary of words and signatures.

Smoothing decides which tags a rare word may have beside those it was seen with. Counts of (word, tag) are interpolated
along a chain: the word, its signature, the signature without its last feature, …, `UNK`. With next x the link after x,

    p(t | x) = (c(t, x) + κ p(t | next x)) / (c(x) + κ)         c'(t, x) = c(x) p(t | x)         p(x | t) ∝ c'(t, x)

as Klein & Manning (2003) and the Berkeley parser smooth p(tag | word), in a generative form. A word that tagged text
has n times with tag t adds n to the count of (word, t), divided among the states of t as in the treebank: by the
word's own counts with t, or those of its most specific signature that has t, or those of the tag. Words that occur
once in the treebank, and were replaced by signatures, are added likewise.

A signature has the probability of all words that it stands for. Language models divide it among so many types
(kit/vocabulary/unknown_types.py), which the lexicon records; the ln p of a parser's trees are those of signatures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from rerank_plugins import FloatArray, IntArray, Tree, known_spelling, normal_form
from rerank_plugins.kit.remembered import MEGABYTE, Remembered
from rerank_plugins.kit.trees.treebank_cleaning import category
from rerank_plugins.kit.vocabulary.signatures import UNKNOWN_SIGNATURE, backed_off, is_signature, known_form, signatures
from rerank_plugins.kit.vocabulary.unknown_types import ln_types

REMEMBERED = 16 * MEGABYTE  # of words and their numbers
Entries = tuple[IntArray, IntArray, FloatArray]
Tagged = Mapping[tuple[str, str], float]  # (word, tag) -> count


@dataclass(frozen=True, eq=False)
class EmittedWords:
    """A closed vocabulary, with the numbers of its words, and the symbols that emit each of them."""

    words: tuple[str, ...]  # (W) sorted, including signatures of unknown words and `UNK`
    starts: IntArray  # (W + 1) int32: the emissions of word w are entries starts[w] to starts[w + 1]
    symbols: IntArray  # (E) int32 symbol numbers of the grammar, ascending within a word
    # how many types each signature stands for; one that is not named is one type
    unknown_types: Mapping[str, int] = field(default_factory=dict, kw_only=True)

    @cached_property
    def ln_types(self) -> FloatArray:
        """(W) ln of the number of types that a signature stands for; 0 for words."""
        return ln_types(self.words, self.unknown_types)

    def ln_types_stated(self, types: int | None) -> FloatArray:
        """(W) the same if every signature stands for so many types; None for the numbers of the lexicon."""
        return self.ln_types if types is None else ln_types(self.words, types)

    @cached_property
    def _numbers(self) -> Remembered[tuple[str, bool], int]:
        """The numbers of words that were looked up, as first words of sentences or as others."""
        return Remembered(REMEMBERED)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and known_spelling(word, self.index) is not None

    def number(self, word: str, position: int) -> int:
        """Return the number of a word, or of its most specific known signature; `position` counts from 0."""
        key = word, position == 0
        number = self._numbers.get(key)
        if number is None:
            self._numbers.make_room()
            number = self._numbers.keep(key, self.index[known_form(word, position, self.index)])
        return number

    def ids(self, sentence: Sequence[str]) -> IntArray:
        """Return (n) int32 numbers of the words; an unknown word has that of its most specific known signature."""
        return np.array([self.number(word, i) for i, word in enumerate(sentence)], np.int32)

    def entries(self, word: str, position: int) -> slice:
        """Return the entries of a word; `position` 0 is the first of its sentence."""
        entry = self.number(word, position)
        return slice(self.starts[entry], self.starts[entry + 1])

    @cached_property
    def word_of(self) -> IntArray:
        """(E) the number of each entry's word."""
        return np.repeat(np.arange(len(self.words), dtype=np.int32), np.diff(self.starts))


@dataclass(frozen=True, eq=False)
class Lexicon(EmittedWords):
    """The emissions of a grammar."""

    logp: FloatArray  # (E) ln p(word | symbol); over the words of a symbol that is only a preterminal, p sums to 1

    def emissions(self, word: str, position: int) -> tuple[IntArray, FloatArray]:
        """Return the symbols that emit the word, and ln p(word | symbol); `position` 0 is the first of its sentence."""
        entries = self.entries(word, position)
        return self.symbols[entries], self.logp[entries]


def lexicon_of(
    words: tuple[str, ...],
    word: IntArray,
    symbol: IntArray,
    logp: FloatArray,
    unknown_types: Mapping[str, int] = MappingProxyType({}),
) -> Lexicon:
    """Build the lexicon of entries in any order: numbers of word and symbol, ln p(word | symbol)."""
    order = np.lexsort((symbol, word))
    starts = np.concatenate(([0], np.cumsum(np.bincount(word, minlength=len(words))))).astype(np.int32)
    return Lexicon(words, starts, symbol[order].astype(np.int32), logp[order], unknown_types=dict(unknown_types))


@dataclass(frozen=True)
class Smoothing:
    """Parameters of the smoothing."""

    strength: float = 3.0  # κ
    common: int = 100  # words seen at least so often are not smoothed
    least: float = 0.01  # a tag that was not seen with x is dropped if p(t | x) is below this


def smoothed(
    words: tuple[str, ...], word: IntArray, symbol: IntArray, count: FloatArray, settings: Smoothing
) -> Entries:
    """Return entries (word, symbol, count) with smoothed counts; the pairs of the arguments are distinct.

    `UNK` gets a count of one, divided among tags like all signatures (or all words, if there are no signatures).
    """
    size = int(symbol.max(initial=0)) + 1
    order = np.argsort(word, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(word, minlength=len(words)))))
    rows = [order[starts[i] : starts[i + 1]] for i in range(len(words))]
    index = {name: i for i, name in enumerate(words)}
    above = _next_in_chain(words, index)
    blended: dict[int, tuple[IntArray, FloatArray]] = {}  # tags and p(t | x) of each signature
    unseen = _tags_of_unknown_words(words, word, symbol, count, size)
    last = index[UNKNOWN_SIGNATURE]
    entries: list[Entries] = []
    # Signatures in alphabetical order, so that each comes after those it backs off to, `UNK` first; then words.
    for x in sorted(range(len(words)), key=lambda x: (not is_signature(words[x]), words[x])):
        seen = np.zeros(size)
        seen[symbol[rows[x]]] = count[rows[x]]
        total, mass = float(seen.sum()), seen.copy()
        if x == last:
            total, mass = total + 1, mass + unseen
        elif total < settings.common:
            others, p = blended[above[x]]
            mass[others] += settings.strength * p
        mass[(mass < settings.least * mass.sum()) & (seen == 0)] = 0
        kept = np.flatnonzero(mass).astype(np.int32)
        p = mass[kept] / mass[kept].sum()
        if is_signature(words[x]):
            blended[x] = kept, p
        entries.append((np.full(len(kept), x, np.int32), kept, total * p))
    return tuple(np.concatenate(column) for column in zip(*entries, strict=True))  # type: ignore[return-value]


def _next_in_chain(words: tuple[str, ...], index: dict[str, int]) -> list[int]:
    """Return, for each word, the next link of its chain that is in the vocabulary, by number; -1 if there is none."""
    following = []
    for word in words:
        chain = list(backed_off(word))[1:] if is_signature(word) else [*signatures(word, False, False)]
        following.append(next((index[link] for link in chain if link in index), -1))
    return following


def _tags_of_unknown_words(
    words: tuple[str, ...], word: IntArray, symbol: IntArray, count: FloatArray, size: int
) -> FloatArray:
    """Return (size) the distribution of tags over all signatures, or over all words if there are no signatures."""
    chosen = np.array([is_signature(name) for name in words])[word]
    if not count[chosen].sum() > 0:
        chosen[:] = True
    tags = np.bincount(symbol[chosen], count[chosen], size)
    return np.asarray(tags / tags.sum(), np.float64)


def tagged_words(trees: Iterable[Tree], weight: float = 1.0) -> Counter[tuple[str, str]]:
    """Count the words and tags of trees, each with `weight`; tags are stripped of function tags and marks."""
    return weighed(Counter(pair for tree in trees for pair in zip(tree.words(), tree.tags(), strict=True)), weight)


def weighed(counts: Mapping[tuple[str, str], float], weight: float) -> Counter[tuple[str, str]]:
    """Multiply the counts of words and tags by a weight, with words in normal form and tags without marks."""
    result: Counter[tuple[str, str]] = Counter()
    for (word, tag), count in counts.items():
        result[normal_form(word), category(tag)] += weight * count  # type: ignore[assignment]
    return result


def with_unknown(tagged: Tagged, own: Iterable[Tagged], known: Iterable[str]) -> Tagged:
    """Return the tagged words together with those of treebanks' `own` tagged words that are not known."""
    vocabulary = set(known)
    result: Counter[tuple[str, str]] = Counter()
    for counts in own:
        result.update({pair: count for pair, count in counts.items() if pair[0] not in vocabulary})
    return result + Counter(tagged)


def with_tagged_words(
    words: tuple[str, ...], word: IntArray, symbol: IntArray, count: FloatArray, tags: Sequence[str], tagged: Tagged
) -> tuple[tuple[str, ...], IntArray, IntArray, FloatArray]:
    """Return the words and entries (word, symbol, count) of a lexicon with the tagged words added.

    `tags` (S) is the tag of each symbol. Tagged words whose tag no emitting symbol has are ignored.
    """
    names = np.array(tags)
    states = {tag: np.flatnonzero(names == tag) for tag in {tags[s] for s in np.unique(symbol)}}
    total = np.bincount(symbol, count, len(tags))
    own: dict[tuple[str, str], FloatArray] = {}  # the treebank's counts of each word with each state of a tag
    for number, state, n in zip(word.tolist(), symbol.tolist(), count.tolist(), strict=True):
        row = own.setdefault((words[number], tags[state]), np.zeros(len(states[tags[state]])))
        row[np.searchsorted(states[tags[state]], state)] += n
    counts = dict(own)
    for (name, tag), n in tagged.items():
        if tag in states:
            known = (own[form, tag] for form in (name, *signatures(name, False, False)) if (form, tag) in own)
            shares = next(known, total[states[tag]])
            counts[name, tag] = counts.get((name, tag), 0) + n * shares / shares.sum()
    all_words = tuple(sorted({name for name, _ in counts} | set(words)))
    index = {name: i for i, name in enumerate(all_words)}
    rows = [(index[name], states[tag], values) for (name, tag), values in counts.items()]
    sizes = [len(values) for _, _, values in rows]
    columns = (
        np.repeat(np.array([i for i, _, _ in rows], np.int32), sizes),
        np.concatenate([symbols for _, symbols, _ in rows]).astype(np.int32),
        np.concatenate([values for _, _, values in rows]),
    )
    kept = columns[2] > 1e-6  # counts that are practically zero are dropped
    return all_words, columns[0][kept], columns[1][kept], columns[2][kept]
