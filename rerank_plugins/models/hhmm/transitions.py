"""One word of the hierarchic hidden Markov model over a beam of stores: reduction, transition, expansion.

A beam holds stores as they are just after a word: elements a_1/b_1 ... a_d/b_d, and the node q that has just been
completed below b_d. With E*_d and R_d of left_progeny.py, the probability of the words so far and such a store is

    v · Π_{i=1..d} E*_{i-1}[b_{i-1}, a_i] · E*_d[b_d, q]        b_0 = ROOT, v the probability of what has been built

so the factors of Schwartz et al. (2011), equations 20-24, telescope into three steps. For the next word w:

1. Promotion: q becomes the left child p that some rule asks for, by unary rules.   v · U*[p, q] / E*_d[b_d, q]
2. A rule q' -> p c makes c the next awaited symbol; w_d(c), from Emission.ahead, is the probability that c begins with
   w and fits in the store:
   - in-element reduction (24) and active transition (22): a new element q'/c.    P(q' -> p c) E*_d[b_d, q'] w_{d+1}(c)
   - cross-element reduction (23), awaited transition (21): b_d becomes c.        P(q' -> p c) U*[b_d, q'] w_d(c)
   This lookahead at the word leaves little to search; the sum of all these values is P(words, w).
3. The word w is read: by the awaited symbol itself, which completes the node a_d, or, after an expansion (20), by a
   preterminal down its left edge.                         U*[c, x] P(w | x) / w_d(c), or E*_d[c, x] P(w | x) / w_d(c)

If events were counted in trees (counted.py), steps 2 and 3 interpolate with these counts, in the context ⟨a_d, b_d⟩, q
and ⟨a, c⟩ respectively: P(event) = share · P0(event) + extra, with P0 the probability by the formulas above.

Equal stores are recombined (recombination.py). Every step may prune: stores below `threshold` times the best one, and
in steps 2 and 3 all but the `width` best ones. The value of a store is relative to the probability of the words so far.
Cost per word: O(width · rules per left child), whatever the length of the sentence.

Beside the sum over its derivations, each store keeps the probability of the best one (`likely`), its back-pointer
(`back`), and, on request, the entropy of its derivations: H = Σ_i c_i (H_i - ln c_i) / c + ln c for a store whose
probability c is the sum of the contributions c_i.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.models.hhmm.counted import context_of, opening_of
from rerank_plugins.models.hhmm.counting import CROSS, WITHIN
from rerank_plugins.models.hhmm.recombination import add, best_rows, descending, new_table, nth_highest, with_room

EMPTY = -1  # no element, no completed symbol
LOW = 0xFFFF
FIRST = 1 << 11  # the initial number of rows of a table
EXPONENTS, HIGHEST = 128, 4  # buckets of binary exponents that rules are sorted into; the exponent of the first bucket
FAR = 0.1  # contributions below this share of the `width`-th best store are pruned before the table is complete


@njit(cache=True, nogil=True, inline="always")
def _depth(store: Any) -> int:
    """Return the number of elements of a store."""
    d = 0
    while d < len(store) - 1 and store[d] >= 0:
        d += 1
    return d


@njit(cache=True, nogil=True)
def sorted_rules(
    first: int, after: int, p: Any, right: Any, ahead: Any, opens: Any, opened: Any, order: Any, worth: Any
) -> None:
    """Sort the rules `first` to `after` of a left child into their places in `order` and `worth`, highest worth first.

    The worth of a rule q -> p c is its probability times the probability that c, awaited in a new element q/c, fits in
    the store and begins with the word. Rules are sorted by binary exponent (a counting sort), so a rule's worth is less
    than twice that of any rule before it.
    """
    counts = np.zeros(EXPONENTS + 1, np.int32)
    exponents, values = np.empty(after - first, np.int32), np.empty(after - first)
    # Worth and bucket of each rule; the last bucket holds the rules that are worth nothing.
    for r in range(first, after):
        value = p[r] * (ahead[right[r]] if opens[r] < 0 else opened[opens[r]])
        values[r - first] = value
        exponent = EXPONENTS - 1
        if value > 0.0:
            exponent = min(EXPONENTS - 2, max(0, HIGHEST - math.frexp(value)[1]))
        exponents[r - first] = exponent
        counts[exponent + 1] += 1
    # Counting sort: the bucket's next free place is the rule's place.
    counts = np.cumsum(counts)
    for r in range(first, after):
        place = first + counts[exponents[r - first]]
        counts[exponents[r - first]] += 1
        order[place] = r
        worth[place] = values[r - first]


@njit(cache=True, nogil=True, inline="always")
def rules_of(rules: Any, q: int, p: int) -> tuple[int, int]:
    """Return the range of rules q -> p c: the first one, and the one after the last."""
    low, high = rules.starts[p], rules.starts[p + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if rules.parent[middle] < q:
            low = middle + 1
        else:
            high = middle
    high = low
    while high < end and rules.parent[high] == q:
        high += 1
    return low, high


@njit(cache=True, nogil=True)
def promote(
    rules: Any, stores: Any, values: Any, likely: Any, entropy: Any, root: int, threshold: float, entropies: bool
) -> Any:
    """Step 1: stores whose last symbol is a left child that waits for its right sister.

    Returns the table and its number of stores; a back-pointer is (row of the store before, -, -).
    """
    table, count, best = new_table(FIRST, stores.shape[1]), 0, 0.0
    last = len(rules.expected) - 1
    for i in range(len(stores)):
        d = _depth(stores[i])
        b = stores[i, d - 1] & LOW if d else root
        q = stores[i, -1]
        # The value of the store contains E*_d[b_d, q]; v is the probability without this factor.
        edge = rules.expected[min(d, last), b]
        v = values[i] / edge[q]
        key = stores[i].copy()
        table = with_room(table, count, rules.promotions[q + 1] - rules.promotions[q])
        # Every left child p that q can become by unary rules, with probability U*[p, q].
        for k in range(rules.promotions[q], rules.promotions[q + 1]):
            p, reaching = rules.places[k], rules.reaching[k]
            bound = v * reaching * edge[p]  # an upper bound of the value after step 2, whatever the word is
            if bound <= threshold * best:
                continue
            best = max(best, bound)
            key[-1] = p
            inner = entropy[i] if entropies else -1.0
            count = add(table, count, key, v * reaching, likely[i] / edge[q] * reaching, inner, i, 0, 0)
    return table, count


@njit(cache=True, nogil=True)
def transit(
    rules: Any, word: Any, before: Any, n: int, depth: int, root: int, width: int, threshold: float, entropies: bool
) -> Any:
    """Step 2: stores that await a symbol which begins with the word.

    Returns the table and its number of stores; a back-pointer is (row of the promoted store, rule, kind of reduction).
    """
    table, count, bound, full = new_table(FIRST, depth + 1), 0, 0.0, 4 * width
    last = len(rules.expected) - 1
    size = len(rules.starts) - 1
    ready = np.zeros((depth + 1, size), np.bool_)
    order = np.empty((depth + 1, len(rules.p)), np.int32)
    worth = np.empty((depth + 1, len(rules.p)))
    counted, ahead, opened = rules.counted, word.ahead, word.opened
    contexts, edges, opens = counted.contexts, counted.edges, counted.opens
    has_counts = len(contexts) > 0
    # The store and the kind of reduction in which each rule was last counted.
    last_use = np.full(len(rules.p) if has_counts else 0, -1, np.int64)
    # The most probable stores come first, so that the bound rises early.
    for j in descending(before.sums, np.arange(n)):
        store = before.stores[j]
        d = _depth(store)
        top = store[d - 1] if d else root << 16 | root
        a, b, p = top >> 16, top & LOW, store[-1]
        table = with_room(table, count, 2 * (rules.starts[p + 1] - rules.starts[p]))
        v, ratio = before.sums[j], before.likely[j] / before.sums[j]
        inner = -1.0
        if entropies:
            inner = max(0.0, before.spread[j] / v + math.log(v))
        # Beam: when the table has grown enough, raise the bound towards its `width`-th best value.
        if 0 < full <= count:
            bound = max(bound, FAR * nth_highest(table.sums, count, width))
            full = 2 * count
        edge, most = rules.expected[min(d, last), b], rules.most[min(d, last), b]
        # P(event) = share P0(event) + extra: P0 is multiplied by v times the share of its kind, the counted extra by
        # v E*_d[b_d, p]. Contexts without counts have the share 1 and no extra.
        row, within, cross, seen = context_of(contexts, size, d, a, b, p) if has_counts else -1, v, v, 0.0
        if row >= 0:
            within, cross, seen = v * counted.share[row, WITHIN], v * counted.share[row, CROSS], v * edge[p]
        key = store.copy()
        key[-1] = EMPTY
        # In-element reduction (24) and active transition (22): a new element q'/c, if the store has room for it.
        if d < depth:
            # The rules of p by falling P(q' -> p c) w_{d+1}(c): sorted once for each p and depth.
            if not ready[d + 1, p]:
                ready[d + 1, p] = True
                sorted_rules(
                    rules.starts[p], rules.starts[p + 1], rules.p, rules.right, ahead[d + 1], opens[d + 1], opened,
                    order[d + 1], worth[d + 1],
                )  # fmt: skip
            # Rules that were counted in this context: grammar and counts together.
            if row >= 0:
                for e in range(counted.starts[2 * row + WITHIN], counted.starts[2 * row + WITHIN + 1]):
                    r = counted.rule[e]
                    last_use[r] = 2 * j + WITHIN
                    value = within * rules.p[r] * edge[rules.parent[r]] + seen * counted.extra[e]
                    k = opens[d + 1, r]
                    value *= ahead[d + 1, rules.right[r]] if k < 0 else opened[k]
                    if value > bound:
                        bound = max(bound, threshold * value)
                        key[d] = rules.parent[r] << 16 | rules.right[r]
                        count = add(table, count, key, value, value * ratio, inner, j, r, WITHIN)
            # All other rules, by the grammar alone. `limit` bounds the values of the rules that follow: their worth is
            # below twice the present one, their E* below the largest of the row.
            limit = 2.0 * within * most
            for i in range(rules.starts[p], rules.starts[p + 1]):
                if limit * worth[d + 1, i] <= bound:
                    break
                r = order[d + 1, i]
                if row < 0 or last_use[r] != 2 * j + WITHIN:
                    value = within * worth[d + 1, i] * edge[rules.parent[r]]
                    if value > bound:
                        bound = max(bound, threshold * value)
                        key[d] = rules.parent[r] << 16 | rules.right[r]
                        count = add(table, count, key, value, value * ratio, inner, j, r, WITHIN)
            key[d] = EMPTY
        # Cross-element reduction (23) and awaited transition (21): b_d becomes c in the same element.
        if d > 0:
            # Rules that were counted in this context.
            if row >= 0:
                for e in range(counted.starts[2 * row + CROSS], counted.starts[2 * row + CROSS + 1]):
                    r = counted.rule[e]
                    last_use[r] = 2 * j + CROSS
                    c = rules.right[r]
                    k = opening_of(edges, size, d, a, c)
                    value = (cross * rules.p[r] + seen * counted.extra[e]) * (ahead[d, c] if k < 0 else opened[k])
                    if value > bound:
                        bound = max(bound, threshold * value)
                        key[d - 1] = top & ~LOW | rules.right[r]
                        count = add(table, count, key, value, value * ratio, inner, j, r, CROSS)
            # All other rules q' -> p c, for each node q' that b_d can become by unary rules, with U*[b_d, q'].
            for i in range(rules.filled[b], rules.filled[b + 1]):
                share = cross * rules.filling[i]
                first, after = rules_of(rules, rules.nodes[i], p)
                for r in range(first, after):
                    if row < 0 or last_use[r] != 2 * j + CROSS:
                        c = rules.right[r]
                        k = opening_of(edges, size, d, a, c) if has_counts else -1
                        value = share * rules.p[r] * (ahead[d, c] if k < 0 else opened[k])
                        if value > bound:
                            bound = max(bound, threshold * value)
                            key[d - 1] = top & ~LOW | rules.right[r]
                            count = add(table, count, key, value, value * ratio, inner, j, r, CROSS)
    return table, count


@njit(cache=True, nogil=True)
def emit(
    rules: Any, word: Any, before: Any, rows: Any, depth: int, root: int, threshold: float, entropies: bool
) -> Any:
    """Step 3: the stores after the word, from those `rows` of the table `before` that step 2 has kept.

    Returns the table and its number of stores; a back-pointer is (row of the awaiting store, preterminal, kind of
    expansion).
    """
    table, count, best = new_table(FIRST, depth + 1), 0, 0.0
    last = len(rules.expected) - 1
    size, edges, openings = len(rules.starts) - 1, rules.counted.edges, rules.counted.openings
    tags, p_tag, has_counts = word.tags, word.p, len(edges) > 0
    for j in rows:
        store = before.stores[j]
        d = _depth(store)
        a, c = (store[d - 1] >> 16, store[d - 1] & LOW) if d else (root, root)
        # Step 2 multiplied by the probability of the word, w_d(c) or its counted counterpart; v is without it.
        row, own = opening_of(edges, size, d, a, c) if has_counts else -1, 1.0
        if row >= 0:
            own = openings[row, -1]
        table = with_room(table, count, len(tags) + 1)
        v = before.sums[j] / (word.ahead[d, c] if row < 0 else word.opened[row])
        ratio = before.likely[j] / before.sums[j]
        inner = -1.0
        if entropies:
            inner = max(0.0, before.spread[j] / before.sums[j] + math.log(before.sums[j]))
        key = store.copy()
        # The awaited symbol c itself reads the word, by unary rules and a preterminal: the node a_d is complete.
        if d > 0:
            value = v * own * word.here[c]
            if value > threshold * best:
                best = max(best, value)
                key[d - 1] = EMPTY
                key[-1] = a
                entropy = inner + word.mixed[c] if entropies else inner
                likely = v * own * word.share[c] * ratio
                count = add(table, count, key, value, likely, entropy, j, word.best[c], CROSS)
                key[d - 1] = store[d - 1]
        # Expansion (20): a preterminal x down the left edge of c reads the word.
        if d < depth:
            edge = rules.expected[min(d, last), c] if row < 0 else openings[row]
            for k in range(len(tags)):
                x = tags[k]
                value = v * edge[x] * p_tag[k]
                if value > threshold * best:
                    best = max(best, value)
                    key[-1] = x
                    count = add(table, count, key, value, value * ratio, inner, j, x, WITHIN)
    return table, count


@njit(cache=True, nogil=True)
def started(rules: Any, word: Any, depth: int, root: int, mass: float) -> Any:
    """Return the result of step 2 for the first word: the empty store, which awaits ROOT."""
    table = new_table(1, depth + 1)
    row = opening_of(rules.counted.edges, len(rules.starts) - 1, 0, root, root)
    table.stores[0, :] = EMPTY
    table.sums[0] = table.likely[0] = (word.ahead[0, root] if row < 0 else word.opened[row]) / mass
    table.spread[0] = -table.sums[0] * math.log(table.sums[0]) if table.sums[0] > 0 else 0.0
    table.back[0, :] = EMPTY
    return table, 1 if table.sums[0] > 0 else 0


@njit(cache=True, nogil=True)
def advanced(
    rules: Any, word: Any, stores: Any, values: Any, likely: Any, entropy: Any, depth: int, root: int, mass: float,
    width: int, threshold: float, entropies: bool,
) -> Any:  # fmt: skip
    """Return the beam after a word: (P(word | beam), stores, values, likely, its scale, entropy, back).

    The stores come in order of falling probability; there are none if no store can read the word. `values` sum to one;
    `likely` has a maximum of one, and its scale is the ln of the divisor; `back` (n, 5) holds the row of the store
    before, rule, kind of reduction, preterminal and kind of expansion.
    """
    # Steps 1 and 2: P(word | beam) is the sum of the values after step 2, by the lookahead.
    if len(stores):
        promoted, n = promote(rules, stores, values, likely, entropy, root, threshold, entropies)
        awaiting, m = transit(rules, word, promoted, n, depth, root, width, threshold, entropies)
    else:
        promoted, n = new_table(1, depth + 1), 0
        awaiting, m = started(rules, word, depth, root, mass)
    p = 0.0
    for j in range(m):
        p += awaiting.sums[j]
    # Step 3 for the best stores, and the best of the stores that it yields.
    rows = best_rows(awaiting.sums, m, width)
    table, count = emit(rules, word, awaiting, rows, depth, root, threshold, entropies)
    kept = best_rows(table.sums, count, width)
    size = len(kept)
    after = np.empty((size, depth + 1), np.int32)
    sums, best, inner = np.empty(size), np.empty(size), np.zeros(size)
    total, highest = 0.0, 0.0
    for i in range(size):
        row = kept[i]
        for element in range(depth + 1):
            after[i, element] = table.stores[row, element]
        sums[i], best[i] = table.sums[row], table.likely[row]
        total, highest = total + sums[i], max(highest, best[i])
        if entropies:
            inner[i] = max(0.0, table.spread[row] / sums[i] + math.log(sums[i]))
    # Normalise: values are conditioned on the words, likely values on the best one.
    for i in range(size):
        sums[i] /= total
        best[i] /= highest
    # Join the back-pointers of the three steps.
    back = np.empty((len(kept), 5), np.int32)
    for i in range(len(kept)):
        state = table.back[kept[i], 0]
        step = awaiting.back[state, 0]
        back[i, 0] = promoted.back[step, 0] if step >= 0 else EMPTY
        back[i, 1] = awaiting.back[state, 1]
        back[i, 2] = awaiting.back[state, 2]
        back[i, 3] = table.back[kept[i], 1]
        back[i, 4] = table.back[kept[i], 2]
    return p, after, sums, best, math.log(highest) if size else 0.0, inner, back
