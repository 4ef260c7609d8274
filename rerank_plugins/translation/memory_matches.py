"""Matches of hypotheses with retrieved sentences: clipped n-grams, edit distances, and longest runs of common words.

The event (g, k) is the k-th occurrence of n-gram g in a sentence. Its value is the sum of the weights w_j of the
sentences T_j that contain g at least k times, or the highest of them; in the first case, the sum over the events of a
hypothesis e is sum_j w_j sum_g min(#_g(e), #_g(T_j)), the weighted mean of BLEU's clipped matches. N-grams are nodes of
a trie, whose keys (node, token) are exact; the child of a node by REPEATED is the event of its next occurrence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel, part

if TYPE_CHECKING:
    from rerank_plugins.translation.words import Sentences

EMPTY = -1
REPEATED = (1 << 31) - 1  # no word has this number
MULTIPLIER = 0x1E3779B97F4A7C15  # odd, so that consecutive keys differ in the high bits of the product


def compare(
    tokens: IntArray, offsets: LongArray, sentences: Sentences, chosen: LongArray
) -> tuple[LongArray, LongArray]:
    """(n, chosen) edit distances between n sentences and those chosen, and (n, chosen) lengths of their longest runs.

    Edits are insertions, deletions and substitutions of words. A run is a contiguous sequence of words of both.
    """
    shape = len(offsets) - 1, len(chosen)
    distances, runs = np.empty(shape, np.int64), np.empty(shape, np.int64)
    longest = int(sentences.lengths[chosen].max(initial=0))
    rows = np.empty((2, longest + 1), np.int64)
    _compare(tokens, offsets, sentences.tokens, sentences.offsets, chosen, rows, distances, runs)
    return distances, runs


@filling_kernel
def _compare(
    tokens: IntArray, offsets: LongArray, others: IntArray, other_offsets: LongArray, chosen: LongArray,
    rows: LongArray, distances: LongArray, runs: LongArray,
) -> None:  # fmt: skip
    """Fill `distances` and `runs`. `rows` (2, longest other + 1) holds a row of each table of dynamic programming."""
    cost, run = rows[0], rows[1]
    for a in range(len(offsets) - 1):
        for b in range(len(chosen)):
            first = other_offsets[chosen[b]]
            size = other_offsets[chosen[b] + 1] - first
            for j in range(size + 1):
                cost[j], run[j] = j, 0
            longest = 0
            for i in range(offsets[a], offsets[a + 1]):
                # `diagonal` and `previous_run` are the values at j - 1 of the row above.
                diagonal, previous_run = cost[0], 0
                cost[0] += 1
                for j in range(1, size + 1):
                    above, run_above = cost[j], run[j]
                    same = tokens[i] == others[first + j - 1]
                    cost[j] = min(diagonal + (not same), min(above, cost[j - 1]) + 1)
                    run[j] = previous_run + 1 if same else 0
                    longest = max(longest, run[j])
                    diagonal, previous_run = above, run_above
            distances[a, b], runs[a, b] = cost[size], longest


@part
def slot_of(keys: LongArray, key: int, mask: int) -> int:
    """Return the slot of a key, or the empty slot where it would be inserted (linear probing)."""
    slot = ((key * MULTIPLIER) >> 32) & mask
    while keys[slot] != key and keys[slot] != EMPTY:
        slot = (slot + 1) & mask
    return slot


@part
def count_again(node: int, sentence: int, last: Any, times: Any) -> int:
    """Count an occurrence of a node's n-gram in a sentence, and return how many there are so far."""
    times[node] = times[node] + 1 if last[node] == sentence else 1
    last[node] = sentence
    return int(times[node])


def matched(
    hypotheses: tuple[IntArray, LongArray],
    sentences: tuple[IntArray, LongArray],
    weights: FloatArray,
    orders: int,
    *,
    highest: bool,
) -> FloatArray:
    """The (hypotheses + 1, orders) sums of the values of the n-grams of each hypothesis; the last row is of all events.

    Texts are (tokens) words by number, negative for words that no sentence has, and (texts + 1) offsets into them. The
    `weights` of the sentences are positive; with `highest` the value of an event is the highest weight, else the sum.
    """
    sums = np.zeros((len(hypotheses[1]), orders))
    nodes = orders * len(sentences[0]) + 1  # an occurrence adds a node for its n-gram, or for the repetition, or none
    slots = 16
    while slots < 2 * nodes:
        slots *= 2
    tables = np.full(slots, EMPTY, np.int64), np.empty(slots, np.int64)
    counts = np.full(nodes, -1, np.int64), np.zeros(nodes, np.int64)
    _match(*hypotheses, *sentences, weights, highest, *tables, np.zeros(nodes), *counts, sums)
    return sums


@filling_kernel
def _match(
    tokens: IntArray, rows: LongArray, sentences: IntArray, sentence_rows: LongArray, weights: FloatArray,
    highest: bool, keys: LongArray, child: LongArray, value: FloatArray, last: LongArray, times: LongArray,
    sums: FloatArray,
) -> None:  # fmt: skip
    """Build the trie of the weighted sentences, and add to `sums` (hypotheses + 1, orders), which must hold zeros.

    `keys` is an empty table whose size is a power of two; `child` has the nodes of its slots. By node: the `value`, the
    `last` sentence or hypothesis that has the n-gram, and how many `times` it has it so far.

    It has many arguments because it creates no arrays: the trie is its columns.
    """
    mask, orders = len(keys) - 1, sums.shape[1]
    known = 1  # nodes so far, the root among them
    for j in range(len(weights)):
        for i in range(sentence_rows[j], sentence_rows[j + 1]):
            node = 0
            for n in range(min(orders, sentence_rows[j + 1] - i)):
                token = sentences[i + n]
                event, repeats = node, 1
                # First the node of the n-gram, then one for each repetition.
                step = 0
                while step < repeats:
                    key: Any = (np.int64(event) << 32) | (np.int64(token) if step == 0 else np.int64(REPEATED))
                    slot = slot_of(keys, key, mask)
                    if keys[slot] == EMPTY:
                        keys[slot], child[slot] = key, known
                        known += 1
                    event = child[slot]
                    if step == 0:
                        node = event
                        repeats = count_again(node, j, last, times)
                    step += 1
                after = max(value[event], weights[j]) if highest else value[event] + weights[j]
                sums[len(rows) - 1, n] += after - value[event]
                value[event] = after
    for h in range(len(rows) - 1):
        for i in range(rows[h], rows[h + 1]):
            node = 0
            for n in range(min(orders, rows[h + 1] - i)):
                if tokens[i + n] < 0:
                    break
                key = (np.int64(node) << 32) | np.int64(tokens[i + n])
                slot = slot_of(keys, key, mask)
                if keys[slot] == EMPTY:
                    break
                node = child[slot]
                event = node
                for _ in range(count_again(node, len(weights) + h, last, times) - 1):
                    key = (np.int64(event) << 32) | np.int64(REPEATED)
                    slot = slot_of(keys, key, mask)
                    if keys[slot] == EMPTY:
                        event = -1
                        break
                    event = child[slot]
                if event >= 0:
                    sums[h, n] += value[event]
