"""Word alignment: IBM model 1, then the HMM model (Brown et al. 1993; Vogel, Ney & Tillmann 1996).

p(f | e) = sum over alignments of prod_j p(a_j | a_{j-1}) t(f_j | e_{a_j}), where p(i | i') depends on the jump i - i'
alone, the first from a start before e. The empty word has the constant probability P_NULL and leaves the position
where it was (Och & Ney 2003, section 2.1). Left out: fertility. An iteration costs O(J I^2) per sentence pair. Sums are
taken in a fixed order, without BLAS, so that every machine finds the same alignments.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray

Sentence = Sequence[str]
P_NULL = 0.2
AT_ONCE = 2000  # sentence pairs of the same lengths


def align(bitext: Sequence[tuple[Sentence, Sentence]], iterations: int = 4) -> list[list[int]]:
    """For each pair (e, f), the position in e of each word of f, or -1 for none: the most probable one each.

    Model 1 and then the HMM are trained for that many iterations of EM on the pairs themselves.
    """
    shapes, given = _pair_ids(bitext)
    t = _model_1([ids for _, ids in shapes], given, iterations)
    jumps = np.ones(2 * max(len(e) for e, _ in bitext) + 1)
    for _ in range(iterations):
        counts, jump_counts = np.zeros(len(given)), np.zeros(len(jumps))
        for _, ids in shapes:
            posterior, pairs = _forward_backward(t[ids], _transitions(jumps, ids.shape[2] - 1))
            np.add.at(counts, ids.ravel(), posterior.ravel())
            _count_jumps(jump_counts, pairs)
        t, jumps = _normalise(counts, given), jump_counts + 1e-3
    result: list[list[int]] = [[] for _ in bitext]
    for places, ids in shapes:
        posterior, _ = _forward_backward(t[ids], _transitions(jumps, ids.shape[2] - 1))
        # Equal up to rounding noise counts as equal: the first wins, on every machine.
        for place, positions in zip(places, (np.round(posterior, 9).argmax(axis=2) - 1).tolist(), strict=True):
            result[place] = positions
    return result


def _pair_ids(bitext: Sequence[tuple[Sentence, Sentence]]) -> tuple[list[tuple[list[int], IntArray]], IntArray]:
    """Sentence pairs of equal lengths together; and the number of e of each word pair.

    Of each group: the places of its pairs in the bitext, and (N, J, I + 1) numbers of the word pairs (f_j, e_i), e_0
    empty.
    """
    numbers: dict[str, int] = {"": 0}
    full: Counter[tuple[int, int]] = Counter()
    groups: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for place, (e, f) in enumerate(bitext):
        for word in (*e, *f):
            numbers.setdefault(word, len(numbers))
        shape = len(e), len(f)
        groups[*shape, full[shape] // AT_ONCE].append(place)
        full[shape] += 1
    keys = []
    for places in groups.values():
        e_ids, f_ids = (
            np.array([[numbers[word] for word in bitext[place][side]] for place in places]) for side in (0, 1)
        )
        e_ids = np.insert(e_ids, 0, 0, axis=1)
        keys.append(f_ids[:, :, None] * len(numbers) + e_ids[:, None, :])
    distinct, ids = np.unique(np.concatenate([key.ravel() for key in keys]), return_inverse=True)
    parts = np.split(ids, np.cumsum([key.size for key in keys])[:-1])
    tables = [part.reshape(key.shape) for part, key in zip(parts, keys, strict=True)]
    return list(zip(groups.values(), tables, strict=True)), distinct % len(numbers)


def _model_1(ids: Sequence[IntArray], given: IntArray, iterations: int) -> FloatArray:
    """t(f | e) of each word pair by EM from a uniform start: the whole corpus as one flat array."""
    flat = np.concatenate([table.ravel() for table in ids])
    widths = np.concatenate([np.full(table.shape[0] * table.shape[1], table.shape[2]) for table in ids])
    row = np.repeat(np.arange(len(widths)), widths)  # which f_j, over the corpus
    t = np.ones(len(given))
    for _ in range(iterations):
        share = t[flat] / np.bincount(row, t[flat])[row]
        t = _normalise(np.bincount(flat, share, minlength=len(given)).astype(np.float64), given)
    return t


def _normalise(counts: FloatArray, given: IntArray) -> FloatArray:
    totals = np.maximum(np.bincount(given, counts), 1e-12)
    shares: FloatArray = counts / totals[given]
    return shares


def _transitions(jumps: FloatArray, length: int) -> FloatArray:
    """(I + 1, I + 1) p(i | i') from the weights of jumps i - i', rows i'; 0 is the start, which is never entered."""
    position = np.arange(length + 1)
    weights = jumps[position[None, :] - position[:, None] + len(jumps) // 2]
    weights[:, 0] = 0
    p: FloatArray = (1 - P_NULL) * weights / weights.sum(axis=1, keepdims=True)
    return p


def _forward_backward(emission: FloatArray, transition: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(N, J, I + 1) posteriors of a_j, the empty word first, and (I + 1, I + 1) expected transitions of all N pairs.

    `emission` (N, J, I + 1) is t(f_j | e_i). A state is a position of e (0: the start), entered by emitting from it
    (real) or kept by emitting from the empty word (null). Each step is scaled to sum to one.
    """
    real, null = np.zeros_like(emission), np.zeros_like(emission)
    pairs, length, _ = emission.shape
    scales = np.zeros((length, pairs, 1))
    start = np.zeros((pairs, len(transition)))
    start[:, 0] = 1
    reached = start
    for j in range(length):
        t = emission[:, j]
        real[:, j] = np.einsum("ni,ik->nk", reached, transition) * t
        null[:, j] = reached * P_NULL * t[:, :1]
        scales[j] = (real[:, j] + null[:, j]).sum(axis=1, keepdims=True)
        real[:, j], null[:, j] = real[:, j] / scales[j], null[:, j] / scales[j]
        reached = real[:, j] + null[:, j]
    posterior, expected = np.zeros_like(emission), np.zeros_like(transition)
    behind = np.ones_like(start)  # scaled probability of what follows j, from each position
    for j in range(length - 1, -1, -1):
        posterior[:, j] = real[:, j] * behind
        posterior[:, j, 0] = (null[:, j] * behind).sum(axis=1)
        entered = emission[:, j] * behind / scales[j]
        expected += transition * np.einsum("ni,nk->ik", real[:, j - 1] + null[:, j - 1] if j else start, entered)
        behind = np.einsum("ik,nk->ni", transition, entered) + P_NULL * emission[:, j, :1] * behind / scales[j]
    return posterior, expected


def _count_jumps(counts: FloatArray, expected: FloatArray) -> None:
    """Add the expected transitions to the counts of their jumps."""
    length, middle = len(expected), len(counts) // 2
    for jump in range(1 - length, length):
        counts[middle + jump] += np.trace(expected, jump)
