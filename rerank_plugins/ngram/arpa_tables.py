"""Makes back-off tables of the n-grams of an ARPA file.

Contexts are the n-grams with a back-off weight, the n-grams that longer ones begin with, and all suffixes of these;
they are numbered length by length in suffix order, like those of an estimated model. A file may lack the suffix
w_2 … w_n of an n-gram (pruned models do).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import BoolArray, IntArray, LongArray, ModelError
from rerank_plugins.kit.backoff.scoring import look_up
from rerank_plugins.kit.backoff.tables import CONTEXT, EVENT, BackoffTables
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.kit.vocabulary.word_ids import Vocabulary
from rerank_plugins.ngram.arpa_reader import ArpaOrder


def arpa_tables(vocabulary: Vocabulary, size: int, orders: Iterable[ArpaOrder], path: str) -> BackoffTables:
    """The exact model of `size` n-grams. Raises ModelError for an n-gram that is there twice."""
    made = _Tables(size)
    for order in orders:
        if (twice := made.add(order)) is not None:
            raise ModelError(f"{path}: has the n-gram {_shown(made.words_of(twice), vocabulary)} twice")
    return made.finish()


class _Tables:
    """The tables of the orders so far.

    Of the events of the last order: `_owner`, their contexts; `_suffix`, the longest contexts that end them and are
    shorter than they are; `_backoff`, their weights as contexts; `_place`, where those of the file's rows are.
    """

    def __init__(self, size: int) -> None:
        self._contexts, self._events = np.zeros(1, CONTEXT), np.empty(size, EVENT)
        self._context_levels, self._event_levels = [0, 1], [0]

    def add(self, order: ArpaOrder) -> int | None:
        """Add the n-grams of the next order. Returns an event that is there twice, if there is one."""
        begin, size = self._event_levels[-1], len(order.last)
        self._owner = self._add_contexts(order.beginning) if begin else np.zeros(size, np.int32)
        # The events, sorted by context and word; many files have them in this order.
        key = (self._owner.astype(np.int64) << 32) | order.last
        symbol, log10, self._backoff, self._place = order.last, order.log10, order.backoff, None
        if not (key[1:] > key[:-1]).all():
            places = np.argsort(key)
            key, log10 = key[places], log10[places]
            self._owner, symbol = (key >> 32).astype(np.int32), (key & 0xFFFFFFFF).astype(np.int32)
            if begin + size < len(self._events):
                self._backoff, self._place = order.backoff[places], np.empty(size, np.int32)
                self._place[places] = np.arange(size, dtype=np.int32)
        again = np.flatnonzero(key[1:] == key[:-1])
        del key
        events = self._events[begin : begin + size]
        events["symbol"], events["log10"], events["next"] = symbol, log10, 0
        self._event_levels.append(begin + size)
        # Where the events of each context start.
        first, end = self._context_levels[-2:]
        counts = np.bincount(self._owner - first, minlength=end - first)
        self._contexts["events"][first:end] = begin + np.cumsum(counts) - counts
        self._suffix = np.zeros(size, np.int32)
        if begin and not len(again):
            fill_suffixes(self._contexts, self._events, self._owner, begin, self._suffix)
        return begin + int(again[0]) if len(again) else None

    def _add_contexts(self, beginning: IntArray) -> IntArray:
        """Number the contexts among the n-grams of the last order; the contexts of the next one, row by row."""
        place = slice(None) if self._place is None else self._place
        is_beginning = np.zeros(len(self._owner), bool)
        is_beginning[beginning] = True
        is_context = self._backoff != 0
        is_context[place] |= is_beginning
        if len(self._context_levels) > 2:
            self._complete(np.flatnonzero(is_context))
        first = self._context_levels[-2]
        numbers = np.zeros(len(self._contexts) - first, np.int32)
        level = np.zeros(np.count_nonzero(is_context), CONTEXT)
        events = self._events[slice(*self._event_levels[-2:])]
        number_contexts(
            self._contexts, self._owner, self._suffix, self._backoff, is_context, first, numbers, level, events
        )
        self._contexts = np.concatenate([self._contexts, level])
        self._context_levels.append(len(self._contexts))
        following: IntArray = events["next"][place][beginning]
        return following

    def _complete(self, here: LongArray) -> None:
        """Add the contexts w_2 … w_k that are lacking to contexts w_1 … w_k, which are at these places of the order."""
        levels = self._context_levels
        lacking = here[self._suffix[here] < levels[-2]]
        if not len(lacking):
            return
        # Their words, nearest first.
        length = len(levels) - 2
        words = np.empty((len(lacking), length), np.int32)
        words[:, 0] = self._events["symbol"][self._event_levels[-2] + lacking]
        context = self._contexts["parent"][self._owner[lacking]]
        for column in range(length - 1, 0, -1):
            words[:, column] = self._contexts["symbol"][context]
            context = self._contexts["parent"][context]
        # Look them up word by word, and add what is missing.
        number = np.zeros(len(lacking), np.int64)
        for column in range(length):
            first, end = levels[column + 1 : column + 3]
            known = (self._contexts["parent"][first:end].astype(np.int64) << 32) | self._contexts["symbol"][first:end]
            wanted = (number << 32) | words[:, column]
            if len(new := np.setdiff1d(wanted, known)):
                at = np.searchsorted(known, new)
                self._insert(first + at, new, column + 1)
                known = np.insert(known, at, new)
            number = first + np.searchsorted(known, wanted)
        self._suffix[lacking] = number

    def _insert(self, at: LongArray, keys: LongArray, length: int) -> None:
        """Insert contexts of this length without events, given by parent and symbol, before those at these places."""
        records = np.zeros(len(keys), CONTEXT)
        records["parent"], records["symbol"] = keys >> 32, keys & 0xFFFFFFFF
        starts = np.append(self._contexts["events"], self._event_levels[-1])
        records["events"] = starts[at]
        self._contexts = np.insert(self._contexts, at, records)
        for numbers in (
            self._events["next"][: self._event_levels[-1]],
            self._contexts["parent"],
            self._owner,
            self._suffix,
        ):
            numbers += np.searchsorted(at, numbers, side="right").astype(np.int32)
        for level in range(length + 1, len(self._context_levels)):
            self._context_levels[level] += len(keys)

    def words_of(self, event: int) -> list[int]:
        """The words of an n-gram."""
        context = int(np.searchsorted(self._contexts["events"], event, side="right")) - 1
        words = []
        while context:
            words.append(int(self._contexts["symbol"][context]))
            context = int(self._contexts["parent"][context])
        return [*words, int(self._events["symbol"][event])]

    def finish(self) -> BackoffTables:
        """The tables of all orders."""
        self._events["next"][self._event_levels[-2] :] = self._suffix
        end = np.zeros(1, CONTEXT)
        end["events"] = len(self._events)
        levels = np.array(self._context_levels, np.int64), np.array(self._event_levels, np.int64)
        return BackoffTables(np.concatenate([self._contexts, end]), self._events, *levels)


@filling_kernel
def number_contexts(
    contexts: NDArray[Any], owner: IntArray, suffix: IntArray, backoff: NDArray[np.float32], is_context: BoolArray,
    first: int, numbers: IntArray, level: NDArray[Any], events: NDArray[Any],
) -> None:  # fmt: skip
    """Fill in the contexts among the events in suffix order, and the context that follows each event.

    `suffix` are contexts from `first` on where `is_context`; `numbers` is zero for each of these contexts.
    """
    # A counting sort by suffix; events with the same suffix are in the order of their farthest words.
    for i in range(len(events)):
        if is_context[i]:
            numbers[suffix[i] - first] += 1
    end = 0
    for i in range(len(numbers)):
        count = numbers[i]
        numbers[i] = end
        end += count
    for i in range(len(events)):
        events[i]["next"] = suffix[i]
        if is_context[i]:
            place = numbers[suffix[i] - first]
            numbers[suffix[i] - first] += 1
            level[place]["backoff"] = backoff[i]
            level[place]["parent"] = suffix[i]
            level[place]["symbol"] = contexts[owner[i]]["symbol"] if owner[i] > 0 else events[i]["symbol"]
            events[i]["next"] = len(contexts) + place


@filling_kernel
def fill_suffixes(contexts: NDArray[Any], events: NDArray[Any], owner: IntArray, first: int, suffix: IntArray) -> None:
    """Fill in the longest context that ends each event from `first` on and is shorter than the event."""
    for i in range(len(owner)):
        _, event = look_up(contexts, events, contexts[owner[i]]["parent"], events[first + i]["symbol"])
        suffix[i] = events[event]["next"]


def _shown(numbers: list[int], vocabulary: Vocabulary) -> str:
    return repr(" ".join(vocabulary.words[number] for number in numbers))
