"""Counts the contexts and word pairs of a text, by the sorting and counting of n-gram models (backoff/).

The time is that of one sort for each of the five contexts and one for all pairs; the memory that of the largest sort, 8
bytes for each event, beyond which the workspace sorts on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.kit.backoff.events import TupleEvents
from rerank_plugins.kit.backoff.suffix_trie import TrieLevel, build_trie
from rerank_plugins.kit.workspace import Workspace
from rerank_plugins.missing_words.contexts import ContextTable
from rerank_plugins.missing_words.windows import CONTEXTS, KEYS, context_events, pair_events, pieces
from rerank_plugins.missing_words.word_pairs import PairTable


def count_contexts(
    tokens: IntArray, words: int, workspace: Workspace, jobs: int, progress: Callable[[str], None]
) -> dict[str, ContextTable]:
    """The words of a text in each of the five contexts, with their counts."""
    tables = {}
    for context in CONTEXTS:
        progress(f"counting words by {len(KEYS[context])} neighbours ({context})")
        sizes = (words,) * (len(KEYS[context]) + 1)
        levels = _counted(sizes, (context_events(piece, context) for piece in pieces(tokens)), workspace, jobs)
        tables[context] = _context_table(levels, words)
    return tables


def count_pairs(
    tokens: IntArray, words: int, window: int, workspace: Workspace, jobs: int, progress: Callable[[str], None]
) -> PairTable:
    """The pairs of words of a text with fewer than `window` words between them, by the number of these words."""
    progress("counting pairs of words")
    events = (block for piece in pieces(tokens) for block in pair_events(piece, window))
    lefts, rights, numbers = _counted((words, words, window), events, workspace, jobs)
    counts = np.zeros((len(rights), window), np.int32)
    counts[numbers.parent, numbers.symbol] = numbers.count
    return PairTable(_starts(lefts.symbol[rights.parent], words), rights.symbol, counts)


def _counted(sizes: tuple[int, ...], blocks: Iterable[IntArray], workspace: Workspace, jobs: int) -> list[TrieLevel]:
    source = TupleEvents(sizes, workspace)
    for block in blocks:
        source.add(block)
    rows, starts = source.deal(workspace, jobs)
    places = source.layout.places
    return build_trie(rows, starts, places, workspace, continuation=False, raw=False, jobs=jobs)


def _context_table(levels: list[TrieLevel], words: int) -> ContextTable:
    first, last = levels[0], levels[-1]
    if len(levels) == 2:
        totals = np.zeros(words, np.int64)
        totals[first.symbol] = first.count
        none = np.zeros(0, np.int32)
        return ContextTable(
            np.arange(words + 1), none, _starts(first.symbol[last.parent], words), totals, last.symbol, last.count
        )
    second = levels[1]
    rows = _starts(last.parent, len(second))
    starts = _starts(first.symbol[second.parent], words)
    return ContextTable(starts, second.symbol, rows, second.count.astype(np.int64), last.symbol, last.count)


def _starts(sorted_keys: IntArray, size: int) -> LongArray:
    """(size + 1) where each of the keys 0 … size - 1 begins among the sorted ones."""
    return np.searchsorted(sorted_keys, np.arange(size + 1)).astype(np.int64)
