"""Groups the n-grams of one order by context, estimates them, and links each event to the context of the next one.

Sorting by the context of the shorter n-gram and the own farthest symbol brings the events of a context together, and
numbers the contexts in suffix order. In a context h, with counts a and discounts D (D_1, D_2, D_3 for counts of 1, 2,
and 3 or more), as in Chen and Goodman (1998), eq. 4.15,

    p(x | h) = (a(h x) - D) / Σ_x a(h x) + γ(h) p(x | h')        γ(h) = Σ_x D / Σ_x a(h x)

A pruned n-gram gives its whole count to γ (as in KenLM's lmplz). Stupid backoff leaves out the second term; its γ is a
constant. In a text, the context after x in h is the longest known suffix of h x; in models of tuples, contexts are
looked up from the empty one on, by where their extensions start.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.core.threads import in_threads
from rerank_plugins.kit.backoff.events import bucket_runs, dealt, sort_buckets
from rerank_plugins.kit.backoff.scoring import find_context, find_symbol
from rerank_plugins.kit.backoff.suffix_trie import PARTS, TrieLevel
from rerank_plugins.kit.backoff.tables import LOG_ZERO, RecordArray
from rerank_plugins.kit.kernels import filling_kernel, kernel, part

BINS = 16  # leading bits of its context that determine the bucket of an n-gram


def first_children(contexts: RecordArray) -> IntArray:
    """(C + 1) the first extension of each context by a symbol; the extensions end where those of the next begin."""
    count = len(contexts) - 1
    lengthened = np.bincount(contexts["parent"][1:count], minlength=count + 1)
    return (1 + np.cumsum(lengthened) - lengthened).astype(np.int32)


@filling_kernel
def link_events(contexts: NDArray[Any], children: IntArray, events: NDArray[Any], levels: LongArray) -> None:
    """Fill in `next` of all events of a finished model, shorter n-grams first.

    The symbols after h x are those after h' x, where h' is h without its farthest symbol, or the context that is longer
    than that by this symbol, if there is one.
    """
    for level in range(len(levels) - 1):
        for context in range(levels[level], levels[level + 1]):
            parent, farthest = contexts[context]["parent"], contexts[context]["symbol"]
            for event in range(contexts[context]["events"], contexts[context + 1]["events"]):
                symbol = events[event]["symbol"]
                shorter = symbol
                if level > 1:
                    shorter = find_symbol(events, contexts[parent]["events"], contexts[parent + 1]["events"], symbol)
                if level == 0:
                    following = max(find_context(contexts, children, 0, symbol), 0)
                elif shorter >= 0:
                    following = events[shorter]["next"]
                else:
                    following = longest_after(contexts, children, parent, level - 1, symbol)
                if following >= levels[level] and level > 0:
                    following = max(following, find_context(contexts, children, following, farthest))
                events[event]["next"] = following


@part
def longest_after(contexts: NDArray[Any], children: IntArray, context: int, length: int, symbol: int) -> int:
    """The longest known context after a symbol in a context of this length, symbol by symbol."""
    longer = find_context(contexts, children, 0, symbol)
    following = 0
    while longer >= 0:
        following = longer
        if length == 0:
            break
        # The nearest of the `length` symbols that are left.
        length -= 1
        nearest = context
        for _ in range(length):
            nearest = contexts[nearest]["parent"]
        longer = find_context(contexts, children, following, contexts[nearest]["symbol"])
    return following


def group_by_context(
    level: TrieLevel, shorter: IntArray, size: int, symbols: int, cutoff: int, jobs: int
) -> tuple[list[LongArray], int, LongArray, LongArray]:
    """The n-grams of `level` sorted by context: parts, each of rows of (context and symbol, n-gram and count).

    `shorter` has the context of each parent (-1: it was pruned altogether), `size` is the number of these contexts, and
    `symbols` the number of symbols in the farthest place. Returned are also the bits of a symbol, and (parts + 1) how
    many contexts and (parts + 1) how many events precede each part, pruned ones not counted.
    """
    # A key is the context of the parent and, in its last `bits` bits, the farthest symbol; a bin is its leading bits.
    bits = symbols.bit_length()
    shift = max(0, (max(size, 1) << bits).bit_length() - BINS)
    bins = (((max(size, 1) << bits) - 1) >> shift) + 1
    raw = level.count if level.raw is None else level.raw
    common = level.symbol, level.parent, shorter, bits, shift
    rows, starts = dealt(
        len(level), bins, 2, jobs,
        lambda a, b: count_bins(*common, a, b, bins),
        lambda a, b, *to: partition_ngrams(*common, level.count, raw, cutoff, a, b, *to),
    )  # fmt: skip
    # Sort the buckets, and count what each part will have to write, so that all parts can write at the same time.
    runs = bucket_runs(starts, PARTS * jobs)
    parts = [rows[starts[first] : starts[end]] for first, end in runs]

    def sort_and_count(first: int, end: int, part: LongArray) -> tuple[int, int]:
        sort_buckets(rows, starts, first, end, 1)
        kept: tuple[int, int] = count_kept(part)
        return kept

    tasks = [(*run, part) for run, part in zip(runs, parts, strict=True)]
    contexts, events = np.cumsum([(0, 0), *in_threads(sort_and_count, tasks, jobs)], axis=0).T
    return parts, bits, contexts, events


@kernel
def count_bins(
    symbol: IntArray, parent: IntArray, shorter: IntArray, bits: int, shift: int, start: int, end: int, bins: int
) -> Any:
    """(bins) how many n-grams have a key in each bin."""
    counts = np.zeros(bins, np.int64)
    for i in range(start, end):
        context = np.int64(shorter[parent[i]])
        if context >= 0:
            counts[((context << bits) | symbol[i]) >> shift] += 1
    return counts


@filling_kernel
def partition_ngrams(
    symbol: IntArray, parent: IntArray, shorter: IntArray, bits: int, shift: int, count: IntArray, raw: IntArray,
    cutoff: int, start: int, end: int, bucket: IntArray, cursor: LongArray, rows: LongArray,
) -> None:  # fmt: skip
    """Put each n-gram into its bucket: its key; and its number, its count and whether it is pruned in one integer.

    Its arguments are columns of n-grams in files, one array each, which no tuple holds together.
    """
    for i in range(start, end):
        context = np.int64(shorter[parent[i]])
        if context >= 0:
            key = (context << bits) | symbol[i]
            b = bucket[key >> shift]
            row = cursor[b]
            cursor[b] = row + 1
            rows[row, 0] = key
            rows[row, 1] = (np.int64(i) << 32) | (np.int64(count[i]) << 1) | (1 if raw[i] <= cutoff else 0)


@filling_kernel
def count_kept(rows: LongArray) -> Any:
    """How many contexts have an event that is not pruned, and how many such events there are."""
    contexts = 0
    events = 0
    last = np.int64(-1)
    for i in range(len(rows)):
        if rows[i, 1] & 1 == 0:
            events += 1
            if rows[i, 0] != last:
                last = rows[i, 0]
                contexts += 1
    return contexts, events


@filling_kernel
def estimate_contexts(
    rows: LongArray, bits: int, base: int, first: int, discounts: FloatArray, backoff: float, predicted: IntArray,
    parent: IntArray, lower: FloatArray, contexts: NDArray[Any], events: NDArray[Any], context: int,
    probability: FloatArray, context_of: IntArray,
) -> None:  # fmt: skip
    """Estimate the sorted `rows`, and fill the records of events, and those of contexts from `context` on.

    `discounts` are D_1 … D_3; `backoff` is a constant γ, or negative to interpolate; `predicted` is the x of each
    parent, which is also that of its n-grams, and `lower` its p. In the whole model, parents start at `base` and events
    at `first`. `probability` and `context_of` receive p and the context of each n-gram, unless they are empty (at the
    highest order).

    Its arguments are columns of one order of the model, which are allocated and released one by one.
    """
    event = 0
    i = 0
    while i < len(rows):
        # The n-grams of one context h: Σ_x a(h x), and the count `left` that discounts and pruned n-grams give to γ.
        key = rows[i, 0]
        end = i
        total = 0.0
        left = 0.0
        kept = False
        while end < len(rows) and rows[end, 0] == key:
            count = (rows[end, 1] >> 1) & 0x7FFFFFFF
            total += count
            if rows[end, 1] & 1:
                left += count
            else:
                left += discounts[min(count, 3) - 1]
                kept = True
            end += 1
        # The record of the context: γ(h), unless all its n-grams were pruned.
        gamma = left / total if backoff < 0 else backoff
        if kept:
            record = contexts[context]
            record["backoff"] = np.log10(gamma) if gamma > 0 else LOG_ZERO
            record["parent"] = base + (key >> bits)
            record["symbol"] = key & ((1 << bits) - 1)
            record["events"] = first + event
        # The events of the context: p(x | h) = (a(h x) - D) / Σ_x a(h x) + γ(h) p(x | h').
        for j in range(i, end):
            ngram = rows[j, 1] >> 32
            if len(context_of) > 0:
                context_of[ngram] = context if kept else -1
            if rows[j, 1] & 1 == 0:
                count = (rows[j, 1] >> 1) & 0x7FFFFFFF
                p = (count - discounts[min(count, 3) - 1]) / total
                if backoff < 0:
                    p += gamma * lower[parent[ngram]]
                if len(probability) > 0:
                    probability[ngram] = p
                new = events[event]
                new["symbol"] = predicted[parent[ngram]]
                new["log10"] = np.log10(p) if p > 0 else LOG_ZERO
                event += 1
        if kept:
            context += 1
        i = end
