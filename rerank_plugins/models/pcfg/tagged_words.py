"""Words of tagged text in the lexicon: a grammar knows more words than its treebank has.

A word that a text has n times with tag t adds n to the count of (word, t); which states of t, where it has several, is
as the treebank has it for the word, or else for the most specific signature of it that has the tag, or else for the
tag. Words that the treebank has once, and that became signatures, are taken as tagged words too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from rerank_plugins.arrays import FloatArray, IntArray
from rerank_plugins.models.vocabulary.signatures import backed_off, signature
from rerank_plugins.trees.cleaning import category
from rerank_plugins.trees.constituency import Tree
from rerank_plugins.trees.penn import normal_form

Tagged = Mapping[tuple[str, str], float]  # (word, tag) -> count


def tagged_words(trees: Iterable[Tree], weight: float = 1.0) -> Counter[tuple[str, str]]:
    """The words and tags of trees, each counted `weight` times; tags without function tags and marks."""
    counts = Counter(
        (normal_form(word), category(tag))
        for tree in trees
        for word, tag in zip(tree.words(), tree.tags(), strict=True)
    )
    return Counter({pair: weight * count for pair, count in counts.items()})


def with_own_words(
    tagged: Tagged, treebanks: Iterable[Iterable[Tree]], weights: Iterable[float], known: Iterable[str]
) -> Tagged:
    """Tagged words, and the words of the treebanks that are not among those known: they became signatures."""
    vocabulary = set(known)
    own: Counter[tuple[str, str]] = Counter()
    for treebank, weight in zip(treebanks, weights, strict=True):
        own += tagged_words(treebank, weight)
    return Counter({pair: count for pair, count in own.items() if pair[0] not in vocabulary}) + Counter(tagged)


def with_tagged_words(
    words: tuple[str, ...], word: IntArray, symbol: IntArray, count: FloatArray, tags: Sequence[str], tagged: Tagged
) -> tuple[tuple[str, ...], IntArray, IntArray, FloatArray]:
    """Words and entries (word, symbol, count) of a lexicon with the tagged words in it.

    `tags` (S) is the tag of each symbol. Tags that no symbol with words has are passed over.
    """
    names = np.array(tags)
    states = {tag: np.flatnonzero(names == tag) for tag in {tags[s] for s in np.unique(symbol)}}
    total = np.bincount(symbol, count, len(tags))
    own: dict[tuple[str, str], FloatArray] = {}  # count of each word with each state of a tag
    for each, state, n in zip(word.tolist(), symbol.tolist(), count.tolist(), strict=True):
        row = own.setdefault((words[each], tags[state]), np.zeros(len(states[tags[state]])))
        row[np.searchsorted(states[tags[state]], state)] += n
    found = dict(own)
    for (name, tag), n in tagged.items():
        if tag in states:
            known = (
                own[each, tag] for each in (name, *backed_off(signature(name, False, False))) if (each, tag) in own
            )
            shares = next(known, total[states[tag]])
            found[name, tag] = found.get((name, tag), 0) + n * shares / shares.sum()
    all_words = tuple(sorted({name for name, _ in found} | set(words)))
    index = {name: i for i, name in enumerate(all_words)}
    rows = [(index[name], states[tag], values) for (name, tag), values in found.items()]
    sizes = [len(values) for _, _, values in rows]
    columns = (
        np.repeat(np.array([i for i, _, _ in rows], np.int32), sizes),
        np.concatenate([symbols for _, symbols, _ in rows]).astype(np.int32),
        np.concatenate([values for _, _, values in rows]),
    )
    kept = columns[2] > 1e-6  # of a count
    return all_words, columns[0][kept], columns[1][kept], columns[2][kept]
