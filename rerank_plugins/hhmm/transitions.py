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
b_d⟩, q and ⟨a, c⟩ respectively: P(event) = backoff · P0(event) + extra, with P0 the probability by the formulas above.

Equal stores are recombined (recombination.py). Every step may prune: stores below `threshold` times the best one, and
in steps 2 and 3 all but the `width` best ones. The value of a store is relative to the probability of the words so far.
Cost per word: O(width · rules per left child), whatever the length of the sentence. With the embedded grammar and 50
stores, a word has 120 promoted stores, each of which may continue by some 210 rules; 5,000 pairs of a store and a rule
are looked at and 1,000 contributions added up. What does not depend on the store is not computed again: which rules are
looked at, and in which order, is remembered (successors.py). With 200 stores it is three times the work and not four,
since the further stores are so improbable that more of their rules are below the bound.

Beside the sum over its derivations, each store keeps the Viterbi probability (`viterbi`), its back-pointer
(`back`), and, on request, the entropy of its derivations: H = Σ_i c_i (H_i - ln c_i) / c + ln c for a store whose
probability c is the sum of the contributions c_i.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rerank_plugins import FloatArray, IntArray
from rerank_plugins.constituency.grammar import ROOT
from rerank_plugins.hhmm.event_counts import CROSS, WITHIN
from rerank_plugins.hhmm.interpolation import row_of
from rerank_plugins.hhmm.recombination import best_rows, entropy_of, find, merge
from rerank_plugins.hhmm.search_tables import EMPTY, Emission, Search
from rerank_plugins.hhmm.successors import fillers, openers
from rerank_plugins.kit.kernels import filling_kernel, part

LOW = 0xFFFF
ELEMENT = 0xFFFFFFFF
FAR = 0.1  # contributions below this fraction of the `width`-th best store are pruned before the table is complete
FULL = -1  # a table lacks room


@part
def promote(
    search: Search,
    stores: IntArray,
    values: FloatArray,
    viterbi: FloatArray,
    entropy: FloatArray,
    threshold: float,
    entropies: bool,
) -> tuple[int, int]:
    """Step 1: stores whose last symbol is a left child that waits for its right sister.

    Fills `search.stacks` and `search.promoted`, where a key is stack << 16 | symbol; returns the numbers of both. A
    back-pointer is (row of the store before, -, -).
    """
    rules, parts, base = search.rules, search.parts, search.clock[0]
    stack_slots, stack_keys, depths = search.stacks.slots, search.stacks.keys, search.stacks.rows
    promotions, places, reach = rules.promotions, rules.places, rules.reaching
    expected = rules.expected
    size, count, best = 1, 0, 0.0
    last, width = len(expected) - 1, stores.shape[1] - 1
    for i in range(len(stores)):
        if size + width > len(stack_keys):
            return FULL, FULL
        stack, d, b = 0, 0, ROOT
        while d < width and stores[i, d] >= 0:
            element: Any = np.int64(stores[i, d])
            d, b = d + 1, element & LOW
            stack = find(stack_slots, stack_keys, base, size, stack << 32 | element)
            if stack == size:
                depths[size] = d
                size += 1
        q = stores[i, width]
        # The value of the store contains E*_d[b_d, q]; v is the probability without this factor.
        level = d if d < last else last
        v, v_viterbi = values[i] / expected[level, b, q], viterbi[i] / expected[level, b, q]
        # Every left child p that q can become by unary rules, with probability U*[p, q].
        m = 0
        for k in range(promotions[q], promotions[q + 1]):
            p, reaching = places[k], reach[k]
            bound = v * reaching * expected[level, b, p]  # an upper bound after step 2, whatever the word is
            if bound > threshold * best:
                best = bound if bound > best else best
                part = parts[m]
                part.key = stack << 16 | p
                part.value, part.viterbi, part.entropy = v * reaching, v_viterbi * reaching, entropy[i]
                m += 1
        count = merge(search.promoted, base, count, parts, m, i, entropies)
        if count < 0:
            return FULL, FULL
    return size, count


@part
def transit(
    search: Search, word: Emission, n: int, depth: int, width: int, threshold: float, entropies: bool
) -> tuple[float, int]:
    """Step 2: stores that await a symbol which begins with the word, from the `n` promoted ones.

    Fills `search.awaiting`, where a key is the stack below the top element << 32 | the top element, and writes the rows
    of the `width` best stores to `search.order`; returns P(word | beam), which is the sum of the values of all stores
    by the lookahead and negative if the tables lack room, and the number of the best stores. A back-pointer is (row of
    the promoted store, rule, kind of reduction).

    It is long because both kinds of reduction add to one table, within one bound that rises as they do.
    """
    rules, counted, base = search.rules, search.rules.counted, search.clock[0]
    stack_keys, depths, parts = search.stacks.keys, search.stacks.rows, search.parts
    promoted, promoted_keys, stores = search.promoted.rows, search.promoted.keys, search.awaiting.rows
    order, last_use, entries = search.order, search.last_use, search.memory.entries
    parents, rights, chances = rules.parent, rules.right, rules.p
    expected, ahead, opened = rules.expected, word.ahead, word.opened
    edges, has_counts, events = counted.edges, len(counted.contexts) > 0, counted.starts
    count, bound, full = 0, 0.0, 4 * width
    last, size = len(expected) - 1, expected.shape[1]
    use = 2 * base  # the store and the kind of reduction in which each rule was last counted
    # The most probable stores come first, so that the bound rises early.
    for i in range(best_rows(promoted, n, 0, order, True)):
        j = order[i]
        use += 2
        before, key = promoted[j], promoted_keys[j]
        stack, p = key >> 16, key & LOW
        d, below, top = 0, 0, ROOT << 16 | ROOT
        if stack:
            d, below, top = depths[stack], stack_keys[stack] >> 32, stack_keys[stack] & ELEMENT
        a, b = top >> 16, top & LOW
        v, ratio = before.total, before.viterbi / before.total
        inner = entropy_of(before) if entropies else 0.0
        # Beam: when the table has grown enough, raise the bound towards its `width`-th best value.
        if 0 < full <= count:
            best_rows(stores, count, width, search.spare, False)
            far = FAR * stores[search.spare[0]].total
            bound = far if far > bound else bound
            full = 2 * count
        level = d if d < last else last
        edge = expected[level, b]
        # P(event) = backoff P0(event) + extra: P0 is multiplied by v times the weight of its kind, the counted extra by
        # v E*_d[b_d, p]. Contexts without counts have the weight 1 and no extra.
        row = row_of(counted.contexts, size, d, a, b, p) if has_counts else -1
        seen, m = v * edge[p], 0
        # In-element reduction (24) and active transition (22): a new element q'/c, if the store has room for it. Then
        # cross-element reduction (23) and awaited transition (21): b_d becomes c in the same element.
        for kind in range(WITHIN, CROSS - 1, -1):
            inside, deeper = kind == WITHIN, d + kind  # the element that awaits c
            if deeper == 0 or deeper > depth:
                continue
            mass, rest = v, stack << 32 if inside else below << 32 | a << 16  # `rest` of the key
            # Rules that were counted in this context: grammar and counts together.
            if row >= 0:
                mass = v * counted.backoff[row, kind]
                for e in range(events[2 * row + kind], events[2 * row + kind + 1]):
                    r = counted.rule[e]
                    last_use[r] = use + kind
                    c: Any = np.int64(rights[r])
                    k = counted.opens[deeper, r] if inside else row_of(edges, size, d, a, c, 0)
                    value = mass * chances[r]
                    if inside:
                        value *= edge[parents[r]]
                    value = (value + seen * counted.extra[e]) * (ahead[deeper, c] if k < 0 else opened[k])
                    if value > bound:
                        bound = threshold * value if threshold * value > bound else bound
                        part = parts[m]
                        part.key = rest | (parents[r] << 16 | c if inside else c)
                        part.value = value
                        part.event, part.kind = r, kind
                        m += 1
            # All other rules, by the grammar alone.
            if inside:
                # `limit` bounds the values of the rules that follow: their weight is below twice the present one, their
                # E* below the largest of the row.
                limit = 2.0 * mass * rules.most[level, b]
                first, after = openers(search.memory, rules, word, deeper, p)
                for e in range(first, after):
                    entry = entries[e]
                    if limit * entry["weight"] <= bound:
                        break
                    value = mass * entry["weight"] * edge[entry["element"] >> 16]
                    if value > bound and (row < 0 or last_use[entry["rule"]] != use + WITHIN):
                        bound = threshold * value if threshold * value > bound else bound
                        part = parts[m]
                        part.key = rest | entry["element"]
                        part.value = value
                        part.event, part.kind = entry["rule"], WITHIN
                        m += 1
                continue
            # The rules q' -> p c of each node q' that b_d can become by unary rules, with U*[b_d, q'].
            first, after = fillers(search.memory, rules, b, p)
            for e in range(first, after):
                entry = entries[e]
                c = entry["element"] & LOW
                k = row_of(edges, size, d, a, c, 0) if has_counts else -1
                value = mass * entry["weight"] * (ahead[d, c] if k < 0 else opened[k])
                if value > bound and (row < 0 or last_use[entry["rule"]] != use + CROSS):
                    bound = threshold * value if threshold * value > bound else bound
                    part = parts[m]
                    part.key = rest | c
                    part.value = value
                    part.event, part.kind = entry["rule"], CROSS
                    m += 1
        for e in range(m):
            part = parts[e]
            part.viterbi, part.entropy = part.value * ratio, inner
        count = merge(search.awaiting, base, count, parts, m, j, entropies)
        if count < 0:
            return -1.0, FULL
    total = 0.0
    for row in range(count):
        total += stores[row].total
    return total, best_rows(stores, count, width, order, True)


@part
def emit(
    search: Search, word: Emission, kept: int, size: int, depth: int, width: int, threshold: float, entropies: bool
) -> int:
    """Step 3: the stores after the word, from the first `kept` rows of `search.awaiting` in `search.order`.

    Fills `search.emitted`, where a key is stack << 16 | symbol, and adds to the `size` stacks those of the rows; writes
    the rows of the `width` best stores to `search.order`, and returns their number, or FULL. A back-pointer is (row of
    the awaiting store, preterminal, kind of expansion).

    It is long because the two ways to read the word add to one table, within one bound.
    """
    order, parts, base = search.order, search.parts, search.clock[0]
    stack_slots, stack_keys, depths = search.stacks.slots, search.stacks.keys, search.stacks.rows
    awaiting, awaiting_keys = search.awaiting.rows, search.awaiting.keys
    expected, edges, openings = search.rules.expected, search.rules.counted.edges, search.rules.counted.openings
    tags, p_tag = word.tags, word.p
    count, best = 0, 0.0
    last, symbols = len(expected) - 1, expected.shape[1]
    for i in range(kept):
        j = order[i]
        before, key = awaiting[j], awaiting_keys[j]
        below, stack, d = 0, 0, 0  # the first word: the empty store awaits ROOT
        a, c = ROOT, ROOT
        if key >= 0:
            if size == len(stack_keys):
                return FULL
            below, a, c = key >> 32, (key & ELEMENT) >> 16, key & LOW
            d = depths[below] + 1
            stack = find(stack_slots, stack_keys, base, size, key)
            if stack == size:
                depths[size] = d
                size += 1
        # Step 2 multiplied by the probability of the word, w_d(c) or its counted counterpart; v is without it.
        row = row_of(edges, symbols, d, a, c, 0) if len(edges) else -1
        v = before.total / (word.ahead[d, c] if row < 0 else word.opened[row])
        own = 1.0 if row < 0 else openings[row, symbols]
        ratio = before.viterbi / before.total
        inner = entropy_of(before) if entropies else 0.0
        m = 0
        # The awaited symbol c itself reads the word, by unary rules and a preterminal: the node a_d is complete.
        if d > 0:
            value = v * own * word.here[c]
            if value > threshold * best:
                best = value if value > best else best
                part = parts[0]
                part.key = below << 16 | a
                part.value, part.viterbi = value, v * own * word.best_p[c] * ratio
                part.entropy = inner + word.mixed[c]
                part.event, part.kind = word.best[c], CROSS
                m = 1
        # Expansion (20): a preterminal x down the left edge of c reads the word.
        if d < depth:
            level = d if d < last else last
            for k in range(len(tags)):
                x = np.int64(tags[k])
                value = v * (expected[level, c, x] if row < 0 else openings[row, x]) * p_tag[k]
                if value > threshold * best:
                    best = value if value > best else best
                    part = parts[m]
                    part.key = stack << 16 | x
                    part.value, part.viterbi, part.entropy = value, value * ratio, inner
                    part.event, part.kind = x, WITHIN
                    m += 1
        count = merge(search.emitted, base, count, parts, m, j, entropies)
        if count < 0:
            return FULL
    return best_rows(search.emitted.rows, count, width, order, True)


@part
def write_beam(search: Search, size: int, entropies: bool) -> float:
    """Write the beam after a word, whose stores (`size` ≥ 1) are in `search.order`; returns the scale of `viterbi`.

    The stores come in order of falling probability. `values` sum to one; `viterbi` has a maximum of one, and its scale
    is the ln of the divisor; `back` (n, 5) holds the row of the store before, rule, kind of reduction, preterminal and
    kind of expansion.
    """
    stack_keys, depths, order = search.stacks.keys, search.stacks.rows, search.order
    promoted, awaiting, after = search.promoted.rows, search.awaiting.rows, search.after
    stores, values, viterbi = after.stores, after.values, after.viterbi
    depth = stores.shape[1] - 1
    total, highest = 0.0, 0.0
    for i in range(size):
        store, key = search.emitted.rows[order[i]], search.emitted.keys[order[i]]
        values[i], viterbi[i] = store.total, store.viterbi
        total, highest = total + store.total, store.viterbi if store.viterbi > highest else highest
        after.entropy[i] = entropy_of(store) if entropies else 0.0
        # The elements of the store, from the top one down, and the symbol completed above them.
        for d in range(depth):
            stores[i, d] = EMPTY
        stores[i, depth] = key & LOW
        stack = key >> 16
        while stack:
            stores[i, depths[stack] - 1] = stack_keys[stack] & ELEMENT
            stack = stack_keys[stack] >> 32
        # Join the back-pointers of the three steps.
        state = awaiting[store.before]
        after.back[i, 0] = promoted[state.before].before if state.before >= 0 else EMPTY
        after.back[i, 1], after.back[i, 2] = state.event, state.kind
        after.back[i, 3], after.back[i, 4] = store.event, store.kind
    # Normalise: values are conditioned on the words, Viterbi probabilities on the best store.
    for i in range(size):
        values[i] /= total
        viterbi[i] /= highest
    return math.log(highest)


@filling_kernel
def read_word(
    search: Search, word: Emission, stores: IntArray, values: FloatArray, viterbi: FloatArray, entropy: FloatArray,
    beginning: float, width: int, threshold: float, entropies: bool,
) -> tuple[float, int, float]:  # fmt: skip
    """Take the three steps for a word after a beam, and write the new beam to `search.after`.

    `stores`, `values`, `viterbi` and `entropy` are those of the beam (`Beam`, model.py). If it is empty, the first row
    of `search.awaiting` is the store that awaits ROOT, and `beginning` is P(word). Returns P(word | beam), the number
    of stores after the word, which is FULL if the tables lack room, and the scale of `viterbi`.

    The steps are one kernel, and the fields of the beam are arguments, because it takes Python 14 µs to hand over the
    sixty arrays of the search: a tenth of the time that a word takes with 50 stores.
    """
    depth = len(word.ahead) - 1
    size, kept, p = 1, 1, beginning
    if len(stores):
        size, n = promote(search, stores, values, viterbi, entropy, threshold, entropies)
        if n < 0:
            return 0.0, FULL, 0.0
        p, kept = transit(search, word, n, depth, width, threshold, entropies)
        if p < 0.0:
            return 0.0, FULL, 0.0
    if p <= 0.0:
        return 0.0, 0, 0.0
    count = emit(search, word, kept, size, depth, width, threshold, entropies)
    if count <= 0:
        return p, count, 0.0
    return p, count, write_beam(search, count, entropies)
