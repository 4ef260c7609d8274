"""Adds words of tagged text to the lexicon, so that a grammar knows more words than its treebank contains.

A word that a text has n times with tag t adds n to the count of (word, t). If t has several states, n is divided among
them as in the treebank: by the word's own counts with t, or else by those of its most specific signature that has t, or
else by those of the tag. Words that occur once in the treebank, and were replaced by signatures, are added as tagged
words too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray
from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.trees.treebank_cleaning import category
from rerank_plugins.kit.vocabulary.signatures import backed_off, signature

Tagged = Mapping[tuple[str, str], float]  # (word, tag) -> count


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
            known = (
                own[form, tag] for form in (name, *backed_off(signature(name, False, False))) if (form, tag) in own
            )
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
