"""Makes back-off tables of the n-grams of an ARPA file.

Contexts are the n-grams with a back-off weight, the n-grams that longer ones begin with, and all suffixes of these:
the nodes of a suffix trie (kit/backoff/suffix_trie.py), in which they have the order of those of an estimated model. A
file may lack the suffix w_2 … w_n of an n-gram (pruned models do).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from rerank_plugins import LongArray, ModelError
from rerank_plugins.kit.backoff.events import EventLayout, deal_rows
from rerank_plugins.kit.backoff.order_estimation import first_children, link_events
from rerank_plugins.kit.backoff.scoring import find_context
from rerank_plugins.kit.backoff.suffix_trie import TrieLevel, build_trie
from rerank_plugins.kit.backoff.tables import CONTEXT, EVENT, BackoffTables, RecordArray
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.kit.vocabulary.word_numbers import Vocabulary
from rerank_plugins.kit.workspace import Workspace
from rerank_plugins.ngram.arpa_reader import ArpaOrder


def arpa_tables(vocabulary: Vocabulary, orders: list[ArpaOrder], path: str) -> BackoffTables:
    """The exact model; the list of orders is empty afterwards.

    Raises ModelError for an n-gram that is there twice, or without the one that it begins with.
    """
    contexts, levels = known_contexts(orders, len(vocabulary))
    children = first_children(contexts)
    event_levels = np.cumsum([0, *(len(order.words) for order in orders)])
    events, backoff = np.empty(int(event_levels[-1]), EVENT), np.empty(int(event_levels[-1]), np.float32)
    for n, (begin, end) in enumerate(pairwise(event_levels.tolist()), 1):
        order = orders.pop(0)
        owner = np.zeros(end - begin, np.int32)
        find_contexts(contexts, children, order.words, owner)
        # The events, sorted by context and word; many files have them in this order.
        key = (owner.astype(np.int64) << 32) | order.words[:, -1]
        places = slice(None) if (key[1:] > key[:-1]).all() else np.argsort(key)
        key = key[places]
        if len(again := np.flatnonzero(key[1:] == key[:-1])):
            twice = _shown(order.words[places][again[0]], vocabulary)
            raise ModelError(f"{path}: has the n-gram {twice} twice")
        new = events[begin:end]
        new["symbol"], new["log10"], backoff[begin:end] = key & 0xFFFFFFFF, order.log10[places], order.backoff[places]
        # Where the events of each context start.
        those = slice(*levels[n - 1 : n + 1])
        counts = np.bincount(owner - levels[n - 1], minlength=those.stop - those.start)
        contexts["events"][those] = begin + np.cumsum(counts) - counts
    contexts["events"][-1] = len(events)
    link_events(contexts, children, events, levels)
    # An n-gram that is a context itself is followed by that context, which gets its weight.
    is_ngram = np.zeros(len(contexts), np.bool_)
    for longer, (begin, end) in zip(levels[1:], pairwise(event_levels), strict=True):
        following = events["next"][begin:end]
        itself = following >= longer
        contexts["backoff"][following[itself]] = backoff[begin:end][itself]
        is_ngram[following[itself]] = True
    lacking = np.flatnonzero((np.diff(contexts["events"]) > 0) & ~is_ngram[:-1])[1:]  # not the empty context
    if len(lacking):
        context, words = int(lacking[0]), []
        while context:
            words.append(contexts["symbol"][context])
            context = contexts["parent"][context]
        lacked = _shown(words, vocabulary)
        raise ModelError(f"{path}: has n-grams that begin with {lacked}, but not that n-gram")
    return BackoffTables(contexts, events, levels, event_levels)


def known_contexts(orders: list[ArpaOrder], words: int) -> tuple[RecordArray, LongArray]:
    """The contexts of the tables, without weights and events, and where those of each length start."""
    workspace, longest = Workspace(sys.maxsize), len(orders) - 1
    levels = list[TrieLevel]()
    if longest:
        layout = EventLayout((words,) * longest)
        rows = np.empty((2 * sum(len(order.words) for order in orders), layout.words), np.int64)
        end = 0
        for n, order in enumerate(orders, 1):
            weighted = order.words[order.backoff != 0] if n <= longest else order.words[:0]
            for length, ngrams in ((n - 1, order.words), (n, weighted)):
                end += pack_contexts(ngrams, length, layout.places, rows[end:])
        rows, starts = deal_rows(rows[:end], layout, workspace, 1)
        levels = build_trie(rows, starts, layout.places, workspace, continuation=False, raw=False, jobs=1)
        del rows
    first = np.cumsum([0, 1, *map(len, levels)])
    contexts = np.zeros(int(first[-1]) + 1, CONTEXT)
    for level, base, start, end in zip(levels, first, first[1:], first[2:], strict=False):
        contexts["parent"][start:end] = base + level.parent
        contexts["symbol"][start:end] = level.symbol
    return contexts, first


@filling_kernel
def find_contexts(contexts: Any, children: Any, words: Any, owner: Any) -> None:
    """Fill in the context of each n-gram, the words before its last one."""
    length = words.shape[1] - 1
    for i in range(len(words)):
        for column in range(length - 1, -1, -1):
            owner[i] = find_context(contexts, children, owner[i], words[i, column])


@filling_kernel
def pack_contexts(words: Any, length: int, places: Any, rows: Any) -> int:
    """Pack the first `length` words of each n-gram (kit/backoff/events.py), repeated ones once; how many there are."""
    end = 0
    for i in range(len(words)):
        same = 0
        while i > 0 and same < length and words[i, same] == words[i - 1, same]:
            same += 1
        if same == length:
            continue
        for word in range(rows.shape[1]):
            rows[end, word] = 0
        for column in range(length):
            symbol = np.int64(words[i, length - 1 - column]) + (1 if column > 0 else 0)
            rows[end, places[column, 0]] |= symbol << places[column, 1]
        end += 1
    return end


def _shown(numbers: Iterable[int], vocabulary: Vocabulary) -> str:
    return repr(" ".join(vocabulary.words[number] for number in numbers))
