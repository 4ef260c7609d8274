"""Makes back-off tables of the n-grams of an ARPA file.

Contexts are the n-grams with a back-off weight, the n-grams that longer ones begin with, and all suffixes of these;
they are numbered length by length in suffix order, like those of an estimated model. A file may lack the suffix
w_2 … w_n of an n-gram (pruned models do); it may not lack its beginning w_1 … w_{n-1}, whose back-off weight would be
unknown.
"""

from __future__ import annotations

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.backoff.tables import CONTEXT, EVENT, BackoffTables
from rerank_plugins.kit.vocabulary.word_numbers import Vocabulary
from rerank_plugins.ngram.arpa_reader import ArpaOrder

Keys = LongArray


def arpa_tables(vocabulary: Vocabulary, orders: list[ArpaOrder], path: str) -> BackoffTables:
    """The exact model of these n-grams. Raises ModelError for an n-gram that is there twice or lacks its beginning."""
    # Number the contexts: the beginnings of n-grams, and the n-grams with a back-off weight.
    highest = len(orders)
    wanted = [order.words[:, -2::-1] for order in orders[1:]]  # contexts of the n-grams, nearest word first
    weighted = [order.words[order.backoff != 0][:, ::-1] for order in orders[:-1]]
    keys, owners = _number([*wanted, *weighted])
    levels = np.cumsum([0, 1, *map(len, keys)])
    contexts = np.zeros(int(levels[-1]) + 1, CONTEXT)
    for length, level in enumerate(keys, 1):
        here = contexts[levels[length] : levels[length + 1]]
        here["parent"], here["symbol"] = (level >> 32) + levels[length - 1], level & 0xFFFFFFFF
    shorter = np.zeros(0, np.int64)  # sorted keys (context and word) of the n-grams of the order before
    events, event_levels = [], np.cumsum([0, *(len(order.words) for order in orders)])
    for k, order in enumerate(orders, 1):
        # The longest context that ends each n-gram, to which its event points; the n-gram's own, if it has one, gets
        # the back-off weight.
        longest, lengths = _walk(order.words[:, ::-1][:, : highest - 1], keys, levels)
        own = lengths == k
        contexts["backoff"][longest[own]] = order.backoff[own]
        # The events, sorted by context and word.
        context = owners[k - 2] + levels[k - 1] if k > 1 else np.zeros(len(order.words), np.int64)
        level_events = np.empty(len(order.words), EVENT)
        level_events["symbol"], level_events["log10"], level_events["next"] = order.words[:, -1], order.log10, longest
        key = (context << 32) | level_events["symbol"]
        by_context = np.argsort(key)
        level_events, context, key = level_events[by_context], context[by_context], key[by_context]
        # No n-gram may be there twice, and none without its beginning.
        again = np.flatnonzero(key[1:] == key[:-1])
        if len(again):
            raise ModelError(f"{path}: has the n-gram {_shown(order.words[by_context[again[0]]], vocabulary)} twice")
        if k > 2:
            first = by_context[np.flatnonzero(np.diff(context, prepend=-1))]
            lacking = _absent(order.words[first, :-1], shorter, keys, levels)
            if len(lacking):
                shown = _shown(lacking[0], vocabulary)
                raise ModelError(f"{path}: has n-grams that begin with {shown}, but not that n-gram")
        shorter = key
        # Where the events of each context start.
        start, end = levels[k - 1 : k + 1]
        contexts["events"][start:end] = event_levels[k - 1] + np.searchsorted(context, np.arange(start, end))
        events.append(level_events)
    contexts[-1] = (0.0, 0, event_levels[-1], 0)
    return BackoffTables(contexts, np.concatenate(events), levels, event_levels)


def _number(rows: list[IntArray]) -> tuple[list[Keys], list[LongArray]]:
    """Number the contexts of each length: rows of words, nearest word first, and all beginnings of these rows.

    The key of a context is (number of the context without its farthest word, farthest word); each length is sorted by
    it. Returns the keys by length, and for each array of rows the numbers of its contexts within their length.
    """
    keys: list[Keys] = []
    numbers: list[LongArray] = [np.zeros(len(r), np.int64) for r in rows]
    for length in range(1, max((r.shape[1] for r in rows), default=0) + 1):
        going = [i for i, r in enumerate(rows) if r.shape[1] >= length]
        joined = np.concatenate([(numbers[i] << 32) | rows[i][:, length - 1] for i in going])
        level, number = np.unique(joined, return_inverse=True)
        keys.append(level)
        for i, part in zip(going, np.split(number, np.cumsum([len(rows[i]) for i in going])[:-1]), strict=True):
            numbers[i] = part
    return keys, numbers


def _walk(rows: IntArray, keys: list[Keys], levels: Keys) -> tuple[LongArray, LongArray]:
    """For rows of words, nearest word first: the longest context that each begins with, and its length."""
    longest, lengths = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    alive, number = np.arange(len(rows)), np.zeros(len(rows), np.int64)
    for length in range(1, rows.shape[1] + 1):
        level = keys[length - 1]
        wanted = (number << 32) | rows[alive, length - 1]
        place = np.minimum(np.searchsorted(level, wanted), max(len(level) - 1, 0))
        there = level[place] == wanted if len(level) else np.zeros(len(wanted), bool)
        alive, number = alive[there], place[there]
        longest[alive], lengths[alive] = levels[length] + number, length
    return longest, lengths


def _absent(ngrams: IntArray, present: Keys, keys: list[Keys], levels: LongArray) -> IntArray:
    """The n-grams (words in text order) that are not among the keys `present`."""
    context, lengths = _walk(ngrams[:, -2::-1], keys, levels)
    wanted = (context << 32) | ngrams[:, -1]
    place = np.minimum(np.searchsorted(present, wanted), max(len(present) - 1, 0))
    there = (present[place] == wanted) if len(present) else np.zeros(len(wanted), bool)
    absent: IntArray = ngrams[~(there & (lengths == ngrams.shape[1] - 1))]
    return absent


def _shown(row: IntArray, vocabulary: Vocabulary) -> str:
    return repr(" ".join(vocabulary.words[number] for number in row))
