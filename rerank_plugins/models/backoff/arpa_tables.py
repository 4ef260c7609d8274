"""Tables from the n-grams of an ARPA file.

Contexts are the n-grams with a back-off weight or a longer n-gram, and all that those shorten to; they are numbered
length by length in suffix order, as those of an estimated model. A model may lack the n-gram that another shortens to
(pruned models do); it may not lack the one that another lengthens, since its back-off weight would be lost.
"""

from __future__ import annotations

import numpy as np

from rerank_plugins.arrays import IntArray, LongArray
from rerank_plugins.errors import ModelError
from rerank_plugins.models.backoff.arpa_reading import ArpaOrder
from rerank_plugins.models.backoff.tables import CONTEXT, EVENT, BackoffTables
from rerank_plugins.models.backoff.vocabulary import Vocabulary

Keys = LongArray


def arpa_tables(vocabulary: Vocabulary, orders: list[ArpaOrder], path: str) -> BackoffTables:
    """The model of these n-grams, exactly. Raises ModelError for n-grams that repeat, or lack what they lengthen."""
    highest = len(orders)
    wanted = [order.words[:, -2::-1] for order in orders[1:]]  # contexts of the n-grams, nearest word first
    weighted = [order.words[order.backoff != 0][:, ::-1] for order in orders[:-1]]
    keys, owners = _number([*wanted, *weighted])
    levels = np.cumsum([0, 1, *map(len, keys)])
    contexts = np.zeros(int(levels[-1]) + 1, CONTEXT)
    for length, level in enumerate(keys, 1):
        here = contexts[levels[length] : levels[length + 1]]
        here["parent"], here["symbol"] = (level >> 32) + levels[length - 1], level & 0xFFFFFFFF
    shorter = np.zeros(0, np.int64)  # sorted keys of the n-grams before: context and word
    events, event_levels = [], np.cumsum([0, *(len(order.words) for order in orders)])
    for k, order in enumerate(orders, 1):
        longest, lengths = _walk(order.words[:, ::-1][:, : highest - 1], keys, levels)
        own = lengths == k
        contexts["backoff"][longest[own]] = order.backoff[own]
        context = owners[k - 2] + levels[k - 1] if k > 1 else np.zeros(len(order.words), np.int64)
        made = np.empty(len(order.words), EVENT)
        made["symbol"], made["log10"], made["next"] = order.words[:, -1], order.log10, longest
        key = (context << 32) | made["symbol"]
        by_context = np.argsort(key)
        made, context, key = made[by_context], context[by_context], key[by_context]
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
        start, end = levels[k - 1 : k + 1]
        contexts["events"][start:end] = event_levels[k - 1] + np.searchsorted(context, np.arange(start, end))
        events.append(made)
    contexts[-1] = (0.0, 0, event_levels[-1], 0)
    return BackoffTables(contexts, np.concatenate(events), levels, event_levels)


def _number(rows: list[IntArray]) -> tuple[list[Keys], list[LongArray]]:
    """Contexts of each length, from rows of words, nearest first, with all that they shorten to.

    A context's key is (number of the context it shortens to, farthest word), by which each length is sorted.
    Gives the keys by length, and for each array of rows the numbers of its contexts within their length.
    """
    keys: list[Keys] = []
    numbers: list[LongArray] = [np.zeros(len(r), np.int64) for r in rows]
    for length in range(1, max((r.shape[1] for r in rows), default=0) + 1):
        going = [i for i, r in enumerate(rows) if r.shape[1] >= length]
        joined = np.concatenate([(numbers[i] << 32) | rows[i][:, length - 1] for i in going])
        level, found = np.unique(joined, return_inverse=True)
        keys.append(level)
        for i, part in zip(going, np.split(found, np.cumsum([len(rows[i]) for i in going])[:-1]), strict=True):
            numbers[i] = part
    return keys, numbers


def _walk(rows: IntArray, keys: list[Keys], levels: Keys) -> tuple[LongArray, LongArray]:
    """For rows of words, nearest first: the longest context that they begin with, and its length."""
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
    """Those of the n-grams (words in text order) that are not among the keys `present`."""
    context, lengths = _walk(ngrams[:, -2::-1], keys, levels)
    wanted = (context << 32) | ngrams[:, -1]
    place = np.minimum(np.searchsorted(present, wanted), max(len(present) - 1, 0))
    there = (present[place] == wanted) if len(present) else np.zeros(len(wanted), bool)
    absent: IntArray = ngrams[~(there & (lengths == ngrams.shape[1] - 1))]
    return absent


def _shown(row: IntArray, vocabulary: Vocabulary) -> str:
    return repr(" ".join(vocabulary.words[number] for number in row))
