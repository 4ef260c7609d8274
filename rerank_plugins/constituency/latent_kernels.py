"""Inside and outside probabilities of latent states on fixed trees, their expected counts, and the losses of merging.

Only the state of each node of a training tree is hidden, so both passes are linear in the number of nodes (Petrov et
al. 2006, §2.1). An inside vector is scaled to a maximum of 1, an outside vector so that outside · inside is the weight
of the node; the logs of the divisors of inside vectors add up to ln p(tree). A run of nodes with the same rule
(expected_counts.py) is processed LANES nodes side by side, and only probabilities above zero are visited. The entries
of rule r are first[r] to first[r + 1], sorted by parent, left and right state: `parent`, `left`, `right` are the
states' numbers within their labels, `value` is p. The vector of a node begins at its `at`.

This is a recursion of its own, beside those over spans (kit/charts): as the tree is given, there is nothing to choose
at a split point, nodes with the same rule are processed together wherever they are, and each pass visits every node
once instead of all spans of a sentence. The trees of concepts (svs/tree_posteriors.py) have no rules with states of
children: P_L gives those apart for each child, in K² steps instead of the K³ entries that a rule would have here.
"""

from __future__ import annotations

import numpy as np

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.kit.kernels import kernel, part

Trees = tuple[IntArray, IntArray, IntArray]  # the rule of each node, its first child and its second child
Entries = tuple[LongArray, IntArray, IntArray, IntArray, FloatArray]  # first, parent, left, right, value
LANES = 32  # nodes that are processed at once; the vectors of 16 states then fit in the L1 cache


@part
def gathered(
    nodes: IntArray, begin: int, size: int, k: int, at: LongArray, vectors: FloatArray, lanes: FloatArray
) -> None:  # fmt: skip
    """Set lanes[a, i] to entry a of the vector of the i-th of `size` nodes; the other lanes are zero."""
    for a in range(k):
        lanes[a, :] = 0.0
    for i in range(size):
        here = at[nodes[begin + i]]
        for a in range(k):
            lanes[a, i] = vectors[here + a]


@part
def lane_sum(lanes: FloatArray) -> float:
    """The sum of 32 numbers, which are overwritten: halves are added to each other, in one order on all processors."""
    for i in range(16):
        lanes[i] += lanes[i + 16]
    for i in range(8):
        lanes[i] += lanes[i + 8]
    for i in range(4):
        lanes[i] += lanes[i + 4]
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])  # type: ignore[no-any-return]


@kernel
def fill_inside(
    runs: LongArray, trees: Trees, widths: LongArray, at: LongArray, entries: Entries, inside: FloatArray,
    scale: FloatArray,
) -> None:  # fmt: skip
    """Fill `inside` and `scale` (nodes), children before parents; the scale of a node with p = 0 is 0.

    I(a) = Σ_{b, c} p(a → b c) I(b) I(c) / scale, or p(a → word) / scale, with the largest value as scale.
    """
    rule, below, beside = trees
    first, parent, left, right, value = entries
    most = widths.max()
    acc, ones, twos = np.empty((most, LANES)), np.empty((most, LANES)), np.ones((most, LANES))
    row = np.empty(LANES)
    for run in range(len(runs) - 1):
        here, r = runs[run], rule[runs[run]]
        ka, kb, kc = widths[r]
        binary = beside[here] >= 0
        if not binary:
            twos[0, :] = 1.0
        for begin in range(here, runs[run + 1], LANES):
            size = min(LANES, runs[run + 1] - begin)
            for a in range(ka):
                acc[a, :] = 0.0
            # A preterminal: p(a → word).
            if below[here] < 0:
                for e in range(first[r], first[r + 1]):
                    acc[parent[e], :] = value[e]
            else:
                gathered(below, begin, size, kb, at, inside, ones)
                if binary:
                    gathered(beside, begin, size, kc, at, inside, twos)
                # A phrase: for each pair (a, b), Σ_c p I(c), times I(b).
                e = first[r]
                while e < first[r + 1]:
                    a, b = parent[e], left[e]
                    row[:] = 0.0
                    while e < first[r + 1] and parent[e] == a and left[e] == b:
                        p, c = value[e], right[e]
                        for i in range(LANES):
                            row[i] += p * twos[c, i]
                        e += 1
                    for i in range(LANES):
                        acc[a, i] += row[i] * ones[b, i]
            # Scale the vectors to a maximum of 1.
            for i in range(size):
                top, place = 0.0, at[begin + i]
                for a in range(ka):
                    top = max(top, acc[a, i])
                scale[begin + i] = top
                per = 1.0 / top if top > 0.0 else 0.0
                for a in range(ka):
                    inside[place + a] = acc[a, i] * per


@kernel
def fill_outside(
    runs: LongArray, trees: Trees, widths: LongArray, at: LongArray, entries: Entries, inside: FloatArray,
    scale: FloatArray, outside: FloatArray, counts: FloatArray,
) -> None:  # fmt: skip
    """Add to `outside`, parents before children, and add expected counts divided by p to `counts` (entries).

    O(b) = Σ_{a, c} O(a) p(a → b c) I(c) / scale of the parent, and O(c) likewise; the count of an entry divided by p is
    Σ over nodes O(a) I(b) I(c) / scale. On entry, `outside` has the weights of the roots, else zeros. Nodes with p = 0
    are skipped. It is longer than others because both children and the counts share one walk through the entries.
    """
    rule, below, beside = trees
    first, parent, left, right, value = entries
    most = widths.max()
    above, ones, twos = np.empty((most, LANES)), np.empty((most, LANES)), np.ones((most, LANES))
    down, across = np.empty((most, LANES)), np.empty((most, LANES))
    row, both, terms = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    for run in range(len(runs) - 2, -1, -1):
        here, r = runs[run], rule[runs[run]]
        ka, kb, kc = widths[r]
        binary = beside[here] >= 0
        if not binary:
            twos[0, :] = 1.0
        for begin in range(here, runs[run + 1], LANES):
            size = min(LANES, runs[run + 1] - begin)
            for a in range(ka):
                above[a, :] = 0.0
            for i in range(size):
                per = 1.0 / scale[begin + i] if scale[begin + i] > 0.0 else 0.0
                for a in range(ka):
                    above[a, i] = outside[at[begin + i] + a] * per
            if below[here] < 0:
                for e in range(first[r], first[r + 1]):
                    for i in range(LANES):
                        terms[i] = above[parent[e], i]
                    counts[e] += lane_sum(terms)
                continue
            gathered(below, begin, size, kb, at, inside, ones)
            if binary:
                gathered(beside, begin, size, kc, at, inside, twos)
            for b in range(kb):
                down[b, :] = 0.0
            for c in range(kc):
                across[c, :] = 0.0
            e = first[r]
            while e < first[r + 1]:
                a, b = parent[e], left[e]
                for i in range(LANES):
                    row[i] = 0.0
                    both[i] = above[a, i] * ones[b, i]
                while e < first[r + 1] and parent[e] == a and left[e] == b:
                    p, c = value[e], right[e]
                    for i in range(LANES):
                        row[i] += p * twos[c, i]
                        across[c, i] += p * both[i]
                        terms[i] = both[i] * twos[c, i]
                    counts[e] += lane_sum(terms)
                    e += 1
                for i in range(LANES):
                    down[b, i] += row[i] * above[a, i]
            for i in range(size):
                place = at[below[begin + i]]
                for b in range(kb):
                    outside[place + b] += down[b, i]
                if binary:
                    place = at[beside[begin + i]]
                    for c in range(kc):
                        outside[place + c] += across[c, i]


@kernel
def merge_losses(
    label: IntArray, states: IntArray, weights: FloatArray, at: LongArray, inside: FloatArray, outside: FloatArray,
    firsts: LongArray, proportions: FloatArray, losses: FloatArray,
) -> None:  # fmt: skip
    """Add to `losses` (by even state number) the decrease of Σ weight · ln p(tree) if a state is merged with the next.

    `proportions` (states of all labels) are those of each state in the expected count of its pair; `firsts` says where
    the states of a label begin. A merge is judged at one node at a time, all others staying split (Petrov et al.
    2006, §2.2): with O divided by the weight of the node, p(tree) changes from Σ_a O(a) I(a) = 1 by (O_i + O_j)(s_i I_i
    + s_j I_j) - O_i I_i - O_j I_j.
    """
    for node in range(len(label)):
        if weights[node] == 0.0:
            continue
        base, here = firsts[label[node]], at[node]
        for a in range(0, states[label[node]] - 1, 2):
            i, j = inside[here + a], inside[here + a + 1]
            o, u = outside[here + a], outside[here + a + 1]
            mixed = proportions[base + a] * i + proportions[base + a + 1] * j
            change = ((o + u) * mixed - o * i - u * j) / weights[node]
            losses[base + a] -= weights[node] * np.log1p(max(change, -0.999999))


@kernel
def add_rows(
    values: FloatArray, places: LongArray, rows: LongArray, columns: LongArray, begins: LongArray, totals: FloatArray
) -> None:  # fmt: skip
    """Add the sum of row a of each rule's matrix to totals[begins[rule] + a]."""
    for rule in range(len(places)):
        for a in range(rows[rule]):
            row = values[places[rule] + a * columns[rule] : places[rule] + (a + 1) * columns[rule]]
            totals[begins[rule] + a] += row.sum()


@kernel
def divide_rows(
    values: FloatArray, places: LongArray, rows: LongArray, columns: LongArray, begins: LongArray, totals: FloatArray
) -> None:  # fmt: skip
    """Divide row a of each rule's matrix by totals[begins[rule] + a]; a row whose total is 0 is set to 1."""
    for rule in range(len(places)):
        for a in range(rows[rule]):
            row = values[places[rule] + a * columns[rule] : places[rule] + (a + 1) * columns[rule]]
            total = totals[begins[rule] + a]
            if total > 0.0:
                row /= total
            else:
                row[:] = 1.0


@kernel
def drop_negligible(
    values: FloatArray, places: LongArray, rows: LongArray, columns: LongArray, begins: LongArray, totals: FloatArray,
    least: float,
) -> None:  # fmt: skip
    """Set to zero those values of each row that are below `least` when multiplied by the row's total."""
    for rule in range(len(places)):
        for a in range(rows[rule]):
            total = totals[begins[rule] + a]
            for at in range(places[rule] + a * columns[rule], places[rule] + (a + 1) * columns[rule]):
                if values[at] * total < least:
                    values[at] = 0.0


@kernel
def draw_together(
    p: FloatArray, places: LongArray, rows: LongArray, columns: LongArray, weights: FloatArray
) -> None:  # fmt: skip
    """Smooth in place: p(a) = (1 - w) p(a) + w · mean over the parent's states (Petrov et al. 2006, §2.3)."""
    for rule in range(len(places)):
        k, width, at = rows[rule], columns[rule], places[rule]
        for c in range(width):
            mean = 0.0
            for a in range(k):
                mean += p[at + a * width + c]
            mean *= weights[rule] / k
            for a in range(k):
                p[at + a * width + c] = (1.0 - weights[rule]) * p[at + a * width + c] + mean


@kernel
def heights(left: IntArray, right: IntArray, height: IntArray) -> None:
    """Fill in the height of each node over its words; children come before their parents."""
    for node in range(len(left)):
        if left[node] >= 0:
            height[node] = height[left[node]] + 1
        if right[node] >= 0:
            height[node] = max(height[node], height[right[node]] + 1)
