"""One word of the hierarchic hidden Markov model over a beam of stores: reduction, transition, expansion.

A beam holds stores as they are just after a word: elements a_1/b_1 ... a_d/b_d, and the node q that has just been
completed below b_d. With E*_d and R_d of left_progeny.py, the probability of the words so far and such a store is

    v · Π_{i=1..d} E*_{i-1}[b_{i-1}, a_i] · E*_d[b_d, q]        b_0 = ROOT, v the probability of what has been built

so the factors of Schwartz et al. (2011), equations 20-24, telescope into three steps. For the next word w:

1. Promotion: q becomes the left child p of some rule, by unary rules.              v · U*[p, q] / E*_d[b_d, q]
2. A rule q' -> p c makes c the next awaited symbol; w_d(c), from Emission.ahead, is the probability that c begins with
   w and fits in the store:
   - in-element reduction (24) and active transition (22): a new element q'/c.    P(q' -> p c) E*_d[b_d, q'] w_{d+1}(c)
   - cross-element reduction (23), awaited transition (21): b_d becomes c.        P(q' -> p c) U*[b_d, q'] w_d(c)
   This lookahead at the word leaves little to search; the sum of all these values is P(words, w).
3. The word w is read: by the awaited symbol itself, which completes the node a_d, or, after an expansion (20), by a
   preterminal down its left edge.                         U*[c, x] P(w | x) / w_d(c), or E*_d[c, x] P(w | x) / w_d(c)

If events were counted in trees (interpolation.py), steps 2 and 3 interpolate with these counts, in the context ⟨a_d,
b_d⟩, q and ⟨a, c⟩ respectively: P(event) = share · P0(event) + extra, with P0 the probability by the formulas above.

Equal stores are recombined (recombination.py). Every step may prune: stores below `threshold` times the best one, and
in steps 2 and 3 all but the `width` best ones. The value of a store is relative to the probability of the words so far.
Cost per word: O(width · rules per left child), whatever the length of the sentence. With the embedded grammar and 50
stores, a word has 120 promoted stores, each of which may continue by some 210 rules; 5,000 pairs of a store and a rule
are looked at and 1,000 contributions added up. What does not depend on the store is not computed again: which rules are
looked at, and in which order, is remembered (successors.py). With 200 stores it is three times the work and not four,
since the further stores are so improbable that more of their rules are below the bound.

Beside the sum over its derivations, each store keeps the Viterbi probability (`likely`), its back-pointer
(`back`), and, on request, the entropy of its derivations: H = Σ_i c_i (H_i - ln c_i) / c + ln c for a store whose
probability c is the sum of the contributions c_i.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rerank_plugins.hhmm.event_counts import CROSS, WITHIN
from rerank_plugins.hhmm.interpolation import context_of, opening_of
from rerank_plugins.hhmm.recombination import Workspace, find, lookup, merge, nth_total, sort_rows
from rerank_plugins.hhmm.successors import BASE, Remembered, write_fillers, write_openers
from rerank_plugins.kit.kernels import part

EMPTY = -1  # no element, no completed symbol
LOW = 0xFFFF
ELEMENT = 0xFFFFFFFF
FAR = 0.1  # contributions below this fraction of the `width`-th best store are pruned before the table is complete
FULL = -1  # a table lacks room


@part
def entropy_of(store: Any) -> Any:
    """Return the entropy in nats of the derivations of a store."""
    return max(0.0, store.spread / store.total + math.log(store.total))


@part
def promote(
    rules: Any, stores: Any, values: Any, likely: Any, entropy: Any, root: int, threshold: float, entropies: bool,
    work: Workspace, base: int,
) -> tuple[int, int]:  # fmt: skip
    """Step 1: stores whose last symbol is a left child that waits for its right sister.

    Fills `work.stacks` and `work.promoted`, where a key is stack << 16 | symbol; returns the numbers of both. A
    back-pointer is (row of the store before, -, -).
    """
    stacks, stack_slots, table, slots, parts = (
        work.stacks.rows, work.stacks.slots, work.promoted.rows, work.promoted.slots, work.parts
    )  # fmt: skip
    promotions, places, reach, expected = rules.promotions, rules.places, rules.reaching, rules.expected
    size, count, best = 1, 0, 0.0
    last, width = len(expected) - 1, stores.shape[1] - 1
    for i in range(len(stores)):
        if size + width > len(stacks):
            return FULL, FULL
        stack, d, b = 0, 0, root
        while d < width and stores[i, d] >= 0:
            element: Any = np.int64(stores[i, d])
            d, b = d + 1, element & LOW
            stack = find(stack_slots, stacks, base, size, stack << 32 | element)
            if stack == size:
                stacks[size].depth = d
                size += 1
        q = stores[i, width]
        # The value of the store contains E*_d[b_d, q]; v is the probability without this factor.
        level = min(d, last)
        v, v_likely = values[i] / expected[level, b, q], likely[i] / expected[level, b, q]
        # Every left child p that q can become by unary rules, with probability U*[p, q].
        m = 0
        for k in range(promotions[q], promotions[q + 1]):
            p, reaching = places[k], reach[k]
            bound = v * reaching * expected[level, b, p]  # an upper bound after step 2, whatever the word is
            if bound > threshold * best:
                best = max(best, bound)
                part = parts[m]
                part.key = stack << 16 | p
                part.value, part.likely, part.entropy = v * reaching, v_likely * reaching, entropy[i]
                m += 1
        count = merge(slots, table, base, count, parts, m, i, entropies)
        if count < 0:
            return FULL, FULL
    return size, count


@part
def transit(
    rules: Any, memory: Remembered, word: Any, n: int, depth: int, root: int, width: int, threshold: float,
    entropies: bool, work: Workspace, base: int,
) -> int:  # fmt: skip
    """Step 2: stores that await a symbol which begins with the word, from the `n` promoted ones.

    Fills `work.awaiting`, where a key is the stack below the top element << 32 | the top element; returns the number of
    stores. A back-pointer is (row of the promoted store, rule, kind of reduction).
    """
    # Whatever the loops read is a local variable: each access to an array of a tuple counts a reference.
    stacks, promoted, table, slots, parts = (
        work.stacks.rows, work.promoted.rows, work.awaiting.rows, work.awaiting.slots, work.parts
    )  # fmt: skip
    memory_slots, lists, entries, state = memory.slots, memory.lists, memory.entries, memory.state
    expected, most, parents, rights, chances = rules.expected, rules.most, rules.parent, rules.right, rules.p
    counted, ahead, opened, words = rules.counted, word.ahead, word.opened, word.number * len(word.ahead)
    contexts, shares, starts = counted.contexts, counted.share, counted.starts
    events, extras, edges, opens = counted.rule, counted.extra, counted.edges, counted.opens
    count, bound, full = 0, 0.0, 4 * width
    last, size = len(expected) - 1, len(rules.starts) - 1
    has_counts = len(contexts) > 0
    # The store and the kind of reduction in which each rule was last counted.
    last_use, use = work.last_use, 2 * base
    # The most probable stores come first, so that the bound rises early.
    order, values = work.order, work.values
    for j in range(n):
        order[j] = j
    sort_rows(promoted, order, n, work.spare)
    for i in range(n):
        j = order[i]
        use += 2
        before = promoted[j]
        stack, p = before.key >> 16, before.key & LOW
        d, below, top = 0, 0, root << 16 | root
        if stack:
            d, below, top = stacks[stack].depth, stacks[stack].key >> 32, stacks[stack].key & ELEMENT
        a, b = top >> 16, top & LOW
        v, ratio = before.total, before.likely / before.total
        inner = entropy_of(before) if entropies else 0.0
        # Beam: when the table has grown enough, raise the bound towards its `width`-th best value.
        if 0 < full <= count:
            bound = max(bound, FAR * nth_total(table, count, width, values))
            full = 2 * count
        level = min(d, last)
        # P(event) = share P0(event) + extra: P0 is multiplied by v times the weight of its kind, the counted extra by
        # v E*_d[b_d, p]. Contexts without counts have the weight 1 and no extra.
        row, within, cross, seen = -1, v, v, 0.0
        if has_counts:
            row = context_of(contexts, size, d, a, b, p)
        if row >= 0:
            within, cross, seen = v * shares[row, WITHIN], v * shares[row, CROSS], v * expected[level, b, p]
        m = 0
        # In-element reduction (24) and active transition (22): a new element q'/c, if the store has room for it.
        if d < depth:
            # Rules that were counted in this context: grammar and counts together.
            if row >= 0:
                for e in range(starts[2 * row + WITHIN], starts[2 * row + WITHIN + 1]):
                    r = events[e]
                    last_use[r] = use + WITHIN
                    value = within * chances[r] * expected[level, b, parents[r]] + seen * extras[e]
                    k = opens[d + 1, r]
                    value *= ahead[d + 1, rights[r]] if k < 0 else opened[k]
                    if value > bound:
                        bound = max(bound, threshold * value)
                        part = parts[m]
                        part.key = stack << 32 | parents[r] << 16 | rights[r]
                        part.value, part.event, part.kind = value, r, WITHIN
                        m += 1
            # All other rules, by the grammar alone. `limit` bounds the values of the rules that follow: their weight is
            # below twice the present one, their E* below the largest of the row.
            limit = 2.0 * within * most[level, b]
            key = (size + words + d + 1) * size + p
            number = lookup(memory_slots, lists, state[BASE], key)
            if number < 0:
                number = write_openers(memory, rules, word, key, d + 1, p)
            for e in range(lists[number].start, lists[number].end):
                entry = entries[e]
                if limit * entry.weight <= bound:
                    break
                value = within * entry.weight * expected[level, b, entry.element >> 16]
                if value > bound and (row < 0 or last_use[entry.rule] != use + WITHIN):
                    bound = max(bound, threshold * value)
                    part = parts[m]
                    part.key = stack << 32 | entry.element
                    part.value, part.event, part.kind = value, entry.rule, WITHIN
                    m += 1
        # Cross-element reduction (23) and awaited transition (21): b_d becomes c in the same element.
        if d > 0:
            # Rules that were counted in this context.
            if row >= 0:
                for e in range(starts[2 * row + CROSS], starts[2 * row + CROSS + 1]):
                    r = events[e]
                    last_use[r] = use + CROSS
                    c = rights[r]
                    k = opening_of(edges, size, d, a, c)
                    value = (cross * chances[r] + seen * extras[e]) * (ahead[d, c] if k < 0 else opened[k])
                    if value > bound:
                        bound = max(bound, threshold * value)
                        part = parts[m]
                        part.key = below << 32 | a << 16 | c
                        part.value, part.event, part.kind = value, r, CROSS
                        m += 1
            # All other rules q' -> p c, for each node q' that b_d can become by unary rules, with U*[b_d, q'].
            key = b * size + p
            number = lookup(memory_slots, lists, state[BASE], key)
            if number < 0:
                number = write_fillers(memory, rules, key, b, p)
            for e in range(lists[number].start, lists[number].end):
                entry = entries[e]
                c = entry.element & LOW
                k = opening_of(edges, size, d, a, c) if has_counts else -1
                value = cross * entry.weight * (ahead[d, c] if k < 0 else opened[k])
                if value > bound and (row < 0 or last_use[entry.rule] != use + CROSS):
                    bound = max(bound, threshold * value)
                    part = parts[m]
                    part.key = below << 32 | a << 16 | c
                    part.value, part.event, part.kind = value, entry.rule, CROSS
                    m += 1
        for e in range(m):
            part = parts[e]
            part.likely, part.entropy = part.value * ratio, inner
        count = merge(slots, table, base, count, parts, m, j, entropies)
        if count < 0:
            return FULL
    return count


@part
def emit(
    rules: Any, word: Any, kept: int, size: int, depth: int, root: int, threshold: float, entropies: bool,
    work: Workspace, base: int,
) -> int:  # fmt: skip
    """Step 3: the stores after the word, from the first `kept` rows of `work.awaiting` in `work.order`.

    Fills `work.emitted`, where a key is stack << 16 | symbol, and adds to the `size` stacks those of the rows; returns
    the number of stores. A back-pointer is (row of the awaiting store, preterminal, kind of expansion).
    """
    stacks, stack_slots, awaiting, table, slots, parts = (
        work.stacks.rows, work.stacks.slots, work.awaiting.rows, work.emitted.rows, work.emitted.slots, work.parts
    )  # fmt: skip
    expected, edges, openings = rules.expected, rules.counted.edges, rules.counted.openings
    tags, p_tag, ahead, opened = word.tags, word.p, word.ahead, word.opened
    here, share, mixed, likeliest = word.here, word.share, word.mixed, word.best
    count, best = 0, 0.0
    last, symbols = len(expected) - 1, len(rules.starts) - 1
    order = work.order
    for i in range(kept):
        j = order[i]
        before = awaiting[j]
        below, stack, d, a, c = 0, 0, 0, root, root  # the first word: the empty store awaits ROOT
        if before.key >= 0:
            if size == len(stacks):
                return FULL
            below, a, c = before.key >> 32, (before.key & ELEMENT) >> 16, before.key & LOW
            d = stacks[below].depth + 1
            stack = find(stack_slots, stacks, base, size, before.key)
            if stack == size:
                stacks[size].depth = d
                size += 1
        # Step 2 multiplied by the probability of the word, w_d(c) or its counted counterpart; v is without it.
        row = opening_of(edges, symbols, d, a, c) if len(edges) else -1
        v = before.total / (ahead[d, c] if row < 0 else opened[row])
        own = 1.0 if row < 0 else openings[row, symbols]
        ratio = before.likely / before.total
        inner = entropy_of(before) if entropies else 0.0
        m = 0
        # The awaited symbol c itself reads the word, by unary rules and a preterminal: the node a_d is complete.
        if d > 0:
            value = v * own * here[c]
            if value > threshold * best:
                best = max(best, value)
                part = parts[0]
                part.key = below << 16 | a
                part.value, part.likely, part.entropy = value, v * own * share[c] * ratio, inner + mixed[c]
                part.event, part.kind = likeliest[c], CROSS
                m = 1
        # Expansion (20): a preterminal x down the left edge of c reads the word.
        if d < depth:
            level = min(d, last)
            for k in range(len(tags)):
                x = np.int64(tags[k])
                value = v * (expected[level, c, x] if row < 0 else openings[row, x]) * p_tag[k]
                if value > threshold * best:
                    best = max(best, value)
                    part = parts[m]
                    part.key = stack << 16 | x
                    part.value, part.likely, part.entropy = value, value * ratio, inner
                    part.event, part.kind = x, WITHIN
                    m += 1
        count = merge(slots, table, base, count, parts, m, j, entropies)
        if count < 0:
            return FULL
    return count


@part
def start(rules: Any, word: Any, root: int, mass: float, awaiting: Any) -> int:
    """Write the result of step 2 for the first word, the empty store, which awaits ROOT; return 0 if none begins so."""
    row = opening_of(rules.counted.edges, len(rules.starts) - 1, 0, root, root)
    p = (word.ahead[0, root] if row < 0 else word.opened[row]) / mass
    store = awaiting[0]
    store.key = EMPTY
    store.total = store.likely = p
    store.spread = -p * math.log(p) if p > 0 else 0.0
    store.before = store.event = store.kind = EMPTY
    return 1 if p > 0 else 0
