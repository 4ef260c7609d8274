"""The sorted queues of a model: for each context of a substitute, the words seen there by falling bound.

The score of a substitute w between x and c_1 c_2 … (scoring.py) telescopes over the contexts that hold w. With

    gain(h, y) = log p(y | h) - β(h) - log p(y | h'), which is 0 unless the model has the n-gram h y,

h' being h without its farthest word, and x_k the k words nearest to the substitute,

    S(w) = constant + log p(w) + Σ_{k≥1} gain(x_k, w) + Σ_{j≥1} Σ_{k≥0} [β(x_k w c_1 … c_{j-1}) + gain(x_k w c_1 … c_{j-1}, c_j)].

All but the constant belongs to n-grams that hold w. They are of three families:

- left (x_k w): S has log p(w | x_k) + Σ_i β(x_i w), a sum over all i;
- right (w c_1 … c_j): S has Σ_{i≤j} [gain(w c_1 … c_{i-1}, c_i) + β(w c_1 … c_i)];
- middle (… x_1 w c_1 …): words seen *between* their neighbours, few enough to be scored one by one.

A word in no middle queue is bounded by the sum of its left and its right part. The base that every word has,
g(w) = log p(w) + β(w), goes half to the left part and half to the right one: with all of it on one side, the other
side would begin with rare words of large gain, whose sum with the first side's best is far above any score. Yuret's
queues order a back-off weight's words by 0; here the back-off weights are part of the keys.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rerank_plugins.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.models.backoff.linking import first_children
from rerank_plugins.models.backoff.scoring import find_event, look_up
from rerank_plugins.models.backoff.tables import BackoffTables
from rerank_plugins.models.backoff.vocabulary import EOS

Keys = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Queues:
    """The queues of a model of C contexts and V words; keys are log10, rounded up, and fall within each queue.

    `base_words`, `base_keys` (V): all words by g(w) / 2.
    `left_words`, `left_keys` (n-grams of order 2 and more): the words seen after each context, where the context's
    events are in the tables, less V.
    `right_rows` (C + 1), `right_symbols` (queues), `right_starts` (queues + 1), `right_words`, `right_keys`: the queue
    of (w c_1 … c_j) is in the row of the context c_1 … c_{j-1}, and c_j is its symbol.
    `middle_rows` (V + 1), `middle_symbols`, `middle_starts`, `middle_words`: the words seen between x_1, the row, and
    c_1, the symbol.
    `children` (C + 1): the first extension of each context by a symbol.
    """

    base_words: IntArray
    base_keys: Keys
    left_words: IntArray
    left_keys: Keys
    right_rows: LongArray
    right_symbols: IntArray
    right_starts: LongArray
    right_words: IntArray
    right_keys: Keys
    middle_rows: LongArray
    middle_symbols: IntArray
    middle_starts: LongArray
    middle_words: IntArray
    children: IntArray

    @classmethod
    def build(cls, tables: BackoffTables) -> Queues:
        """Sort the queues of a model of text; takes about 0.5 µs an n-gram."""
        contexts, events = tables.contexts, tables.events
        count, words = len(contexts) - 1, tables.sizes[0]
        chains, base = back_off_chains(contexts, events, words, tables.unseen)
        owner = np.repeat(np.arange(count, dtype=np.int32), np.diff(contexts["events"]))[words:]
        seen = events[words:]
        # The left family: rows are contexts, and there is one queue in each.
        keys = seen["log10"].astype(np.float64) + chains[seen["next"]] - base[seen["symbol"]] / 2
        *_, left_words, left_keys = sorted_queues(owner, np.zeros(len(seen), np.int32), seen["symbol"], _up(keys), count)
        # The right family: the substitute is the farthest word of the context of an n-gram.
        sums = right_sums(contexts, events, tables.context_levels, tables.event_levels, owner, tables.unseen)
        farthest = contexts["symbol"][owner]
        keys = sums[words:] + base[farthest] / 2
        right = sorted_queues(contexts["parent"][owner], seen["symbol"], farthest, _up(keys), count)
        # The middle family: 3-grams, and the last three words of longer n-grams whose own 3-gram was pruned.
        rows, symbols, between = middle_ngrams(tables, owner)
        middle = sorted_queues(rows, symbols, between, np.zeros(len(rows), np.float32), words)
        by_base = np.argsort(-base, kind="stable")
        return cls(
            by_base.astype(np.int32), _up(base[by_base] / 2), left_words, left_keys, *right, *middle[:4],
            first_children(contexts),
        )  # fmt: skip

    @classmethod
    def names(cls) -> list[str]:
        """The names of the arrays."""
        return [field.name for field in fields(cls)]


def _up(keys: FloatArray) -> Keys:
    """The keys in 32 bits, none of them smaller than it was."""
    return np.nextafter(keys.astype(np.float32), np.float32(np.inf))


def back_off_chains(contexts: Any, events: Any, words: int, unseen: float) -> tuple[FloatArray, FloatArray]:
    """(C) Σ β over a context and all its suffixes, less `unseen` for each; (V) g(w) = log p(w) + β(w)."""
    chains = np.zeros(len(contexts) - 1)
    add_chains(contexts, unseen, chains)
    following = events["next"][:words]
    base = events["log10"][:words].astype(np.float64) + chains[following]
    return chains, base


@njit(cache=True, nogil=True)
def add_chains(contexts: Any, unseen: float, chains: Any) -> None:
    """Fill in the sums from the empty context on; a context comes after its suffixes."""
    for context in range(1, len(chains)):
        chains[context] = chains[contexts[context]["parent"]] + contexts[context]["backoff"] - unseen


def right_sums(
    contexts: Any, events: Any, context_levels: LongArray, event_levels: LongArray, owner: IntArray, unseen: float
) -> FloatArray:
    """(E) Σ_{i≤j} [gain(w c_1 … c_{i-1}, c_i) + β(w c_1 … c_i)] of each n-gram w c_1 … c_j, 0 for 1-grams."""
    sums = np.zeros(len(events))
    add_right_sums(contexts, events, context_levels, event_levels, owner, unseen, sums)
    return sums


@njit(cache=True, nogil=True)
def add_right_sums(
    contexts: Any, events: Any, context_levels: Any, event_levels: Any, owner: Any, unseen: float, sums: Any
) -> None:
    """Fill in the sums, order by order: that of a beginning is passed on to the context that it is."""
    words = event_levels[1]
    passed = np.zeros(len(contexts) - 1)
    for order in range(2, len(event_levels)):
        for event in range(event_levels[order - 1], event_levels[order]):
            context = owner[event - words]
            symbol = events[event]["symbol"]
            lower, _ = look_up(contexts, events, contexts[context]["parent"], symbol)
            total = passed[context] + events[event]["log10"] - contexts[context]["backoff"] - lower
            following = events[event]["next"]
            if symbol != EOS and following >= context_levels[order]:  # nothing follows `</s>`
                total += contexts[following]["backoff"] - unseen
                passed[following] = total
            sums[event] = total


def middle_ngrams(tables: BackoffTables, owner: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """The x_1, c_1 and w of all windows x_1 w c_1 inside n-grams, each at least once."""
    contexts, events, words = tables.contexts, tables.events, tables.sizes[0]
    if tables.order < 3:
        return (np.zeros(0, np.int32),) * 3
    start, end = tables.event_levels[2], tables.event_levels[3]
    context = owner[start - words : end - words]
    rows, between = contexts["symbol"][context], contexts["parent"][context]
    symbols = events["symbol"][start:end]
    longer = int(tables.event_levels[3])
    if longer == len(events):
        return rows, symbols, contexts["symbol"][between]
    lost = shortened(contexts, events, longer, words, owner, int(tables.context_levels[3]))
    windows = np.stack([rows, symbols, contexts["symbol"][between]])
    extra = np.unique(lost, axis=0).T
    joined = np.concatenate([windows, extra], axis=1).astype(np.int32)
    return joined[0], joined[1], joined[2]


@njit(cache=True, nogil=True)
def shortened(contexts: Any, events: Any, first: int, words: int, owner: Any, longer: int) -> Any:
    """(n, 3) the last three words x_1, c_1, w of the events from `first` on whose own 3-gram is missing."""
    count = 0
    rows = np.zeros((0, 3), np.int32)
    for fill in range(2):
        count = 0
        for event in range(first, len(events)):
            context = owner[event - words]
            while context >= longer:
                context = contexts[context]["parent"]
            symbol = events[event]["symbol"]
            if find_event(events, contexts[context]["events"], contexts[context + 1]["events"], symbol) < 0:
                if fill == 1:
                    rows[count, 0] = contexts[context]["symbol"]
                    rows[count, 1] = symbol
                    rows[count, 2] = contexts[contexts[context]["parent"]]["symbol"]
                count += 1
        if fill == 0:
            rows = np.zeros((count, 3), np.int32)
    return rows


def sorted_queues(
    rows: IntArray, symbols: IntArray, words: IntArray, keys: Keys, count: int
) -> tuple[LongArray, IntArray, LongArray, IntArray, Keys]:
    """Sort entries by row, then by symbol, then by falling key, and find the queues: the runs of one row and symbol.

    Returns (count + 1) the first queue of each row, (queues) their symbols, (queues + 1) where they start, and the
    words and keys in this order.
    """
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))])
    # A float32 as an integer that rises as the float falls.
    bits = keys.view(np.int32)
    falling = np.where(bits < 0, bits.astype(np.int64) & 0xFFFFFFFF, 0x7FFFFFFF - bits.astype(np.int64))
    composite = (symbols.astype(np.int64) << 32) | falling
    order = np.empty(len(rows), np.int64)
    sort_rows(rows, starts, composite, order)
    row, symbol = rows[order], symbols[order]
    new = np.flatnonzero(np.concatenate([[True], (row[1:] != row[:-1]) | (symbol[1:] != symbol[:-1])])[: len(row)])
    queues = np.searchsorted(row[new], np.arange(count + 1))
    ends = np.append(new, len(row)).astype(np.int64)
    return queues.astype(np.int64), symbol[new], ends, words[order].astype(np.int32), keys[order]


@njit(cache=True, nogil=True)
def sort_rows(rows: Any, starts: Any, composite: Any, order: Any) -> None:
    """Fill in the order of the entries: a counting sort by row, then a sort of each row by `composite`."""
    cursor = starts[:-1].copy()
    for i in range(len(rows)):
        order[cursor[rows[i]]] = i
        cursor[rows[i]] += 1
    for row in range(len(starts) - 1):
        low, high = starts[row], starts[row + 1]
        if high - low > 1:
            part = order[low:high].copy()
            order[low:high] = part[np.argsort(composite[part])]
