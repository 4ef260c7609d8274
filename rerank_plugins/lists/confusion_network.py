"""The confusion network of weighted hypotheses (Mangu, Brill & Stolcke 2000, section 4), and ROVER (Fiscus 1997).

The hypothesis of the greatest weight is the pivot: its words are the first slots. Each other hypothesis, by descending
weight, is aligned with the slots so far, at the least cost, with P(w | s) the part of word w in the mass of slot s, and
ε the empty word. ROVER aligns recognisers in their order at fixed costs: those of NIST's sclite, and lower ones where a
slot already has an empty arc, which agree with the program `rover` of SCTK 2.4 (tests/lists/test_rover.py).

    w in slot s          costs 1 - P(w | s)      ROVER: 0 if s has w, else 1 if s has ε, else 4
    no word in slot s    costs 1 - P(ε | s)      ROVER: 0.1 if s has ε, else 3
    w in a new slot      costs 1                 ROVER: 3
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rerank_plugins import BoolArray, FloatArray, IntArray, LongArray
from rerank_plugins.kit.kernels import kernel

MATCH, SKIP, INSERT = 0, 1, 2  # a word in a slot; a slot without a word; a word that needs a new slot
SUBSTITUTION, INSERTION, DELETION = 4.0, 3.0, 3.0  # costs of NIST's alignments
SUBSTITUTED_EMPTY, SKIPPED_EMPTY = 1.0, 0.1  # where a slot has an empty arc
ConfidenceKind = Literal["avg", "max"]
CONFIDENCES: tuple[ConfidenceKind, ...] = ("avg", "max")
EQUAL = 1e-9  # scores that differ by less are equal


@kernel
def cheapest_path(costs: FloatArray, skips: FloatArray, insert_first: bool) -> IntArray:
    """The operations, from left to right, of the cheapest alignment of m words with n slots.

    `costs` (m, n) is the cost of each word in each slot, `skips` (n) that of leaving a slot empty; a new slot costs 1.
    Among equal costs, seen from the end, a match is taken before a skip, and a skip before a new slot, or
    (`insert_first`) a new slot before a skip. O(m · n).
    """
    words, slots = costs.shape
    total = np.empty((words + 1, slots + 1))
    back = np.empty((words + 1, slots + 1), np.int8)
    total[0, 0], back[0, 0] = 0.0, SKIP
    for i in range(1, words + 1):
        total[i, 0], back[i, 0] = float(i), INSERT
    for j in range(1, slots + 1):
        total[0, j], back[0, j] = total[0, j - 1] + skips[j - 1], SKIP
    for i in range(1, words + 1):
        for j in range(1, slots + 1):
            best, operation = total[i - 1, j - 1] + costs[i - 1, j - 1], MATCH
            skipped, inserted = total[i, j - 1] + skips[j - 1], total[i - 1, j] + 1.0
            if insert_first and inserted < best - 1e-12:
                best, operation = inserted, INSERT
            if skipped < best - 1e-12:
                best, operation = skipped, SKIP
            if not insert_first and inserted < best - 1e-12:
                best, operation = inserted, INSERT
            total[i, j] = best
            back[i, j] = operation
    path = np.empty(words + slots, np.int32)
    i, j, length = words, slots, 0
    while i > 0 or j > 0:
        operation = int(back[i, j])
        path[length] = operation
        length += 1
        if operation != SKIP:
            i -= 1
        if operation != INSERT:
            j -= 1
    return path[:length][::-1].copy()


@dataclass(frozen=True, eq=False)
class ConfusionNetwork:
    """A network and the alignments of its hypotheses.

    `words`       the distinct words; number `len(words)` is ε, the empty word
    `posteriors`  (slots, len(words) + 1): P(w | s); each row sums to 1
    `choices`     (hypotheses, slots): the number of the word of each hypothesis in each slot
    """

    words: tuple[str, ...]
    posteriors: FloatArray
    choices: IntArray

    @classmethod
    def build(cls, hypotheses: Sequence[Sequence[str]], weights: FloatArray) -> ConfusionNetwork:
        """The network of hypotheses with these weights (n), which are not negative and have a positive sum.

        Equal weights are taken in the order of the hypotheses. Time is O(n · words · slots).
        """
        return cls._of(hypotheses, weights, np.argsort(-weights, kind="stable"), fixed=False)

    @classmethod
    def combine(cls, outputs: Sequence[Sequence[str]], weights: FloatArray) -> ConfusionNetwork:
        """The word transition network of ROVER: outputs of systems (n) with these weights, which are above 0.

        The outputs are aligned in their order; weights count as votes only. Time is O(n · words · slots).
        """
        return cls._of(outputs, weights, np.arange(len(outputs)), fixed=True)

    @classmethod
    def _of(
        cls, texts: Sequence[Sequence[str]], weights: FloatArray, order: LongArray, *, fixed: bool
    ) -> ConfusionNetwork:
        """The network of texts that are aligned in this order, with posteriors (false) or fixed costs (true)."""
        numbers = {word: i for i, word in enumerate(dict.fromkeys(word for words in texts for word in words))}
        coded = [np.array([numbers[word] for word in words], np.int32) for words in texts]
        growing = _GrowingNetwork(len(numbers), len(texts), fixed)
        for text in order.tolist():
            growing.add(text, coded[text], float(weights[text]))
        mass = growing.mass[growing.order]
        choices = growing.choices[:, growing.order]
        return cls(tuple(numbers), mass / weights.sum(), choices)

    def best(self) -> list[str]:
        """The words of highest posterior in their slots; of equally probable ones the first, a word before ε."""
        return self.best_with_posteriors()[0]

    def best_with_posteriors(self) -> tuple[list[str], FloatArray]:
        """The words of `best`, and their posteriors (words)."""
        chosen = self.posteriors.argmax(axis=1)
        kept = np.flatnonzero(chosen < len(self.words))
        return [self.words[number] for number in chosen[kept].tolist()], self.posteriors[kept, chosen[kept]]

    def of_choices(self) -> FloatArray:
        """(hypotheses, slots): the posterior of what each hypothesis has in each slot."""
        posteriors: FloatArray = self.posteriors[np.arange(self.choices.shape[1]), self.choices]
        return posteriors

    def expected_errors(self) -> FloatArray:
        """(hypotheses): the expected number of word errors of each hypothesis, Σ_s (1 - P(its word | s))."""
        errors: FloatArray = (1.0 - self.of_choices()).sum(axis=1)
        return np.maximum(errors, 0.0)


class _GrowingNetwork:
    """A network that grows: slots are stored as they are made, and `order` has them from left to right."""

    def __init__(self, words: int, hypotheses: int, fixed: bool) -> None:
        self.empty, self.fixed = words, fixed
        self.mass = np.zeros((0, words + 1))
        self.choices = np.full((hypotheses, 0), words, np.int32)
        self.order: list[int] = []
        self.total = 0.0

    def add(self, hypothesis: int, words: IntArray, weight: float) -> None:
        """Align a hypothesis with the slots, and add its weight to them."""
        path = cheapest_path(*self._costs(words), self.fixed)
        order: list[int] = []
        old, remaining = iter(self.order), iter(words.tolist())
        added: list[int] = []
        for operation in path.tolist():
            if operation == INSERT:
                slot = len(self.mass) + len(added)
                added.append(next(remaining))
            else:
                slot = next(old)
                word = next(remaining) if operation == MATCH else self.empty
                self.mass[slot, word] += weight
                self.choices[hypothesis, slot] = word
            order.append(slot)
        if added:
            new = np.zeros((len(added), self.empty + 1))
            new[:, self.empty] = self.total  # hypotheses before this one have no word here
            new[np.arange(len(added)), added] += weight
            self.mass = np.concatenate([self.mass, new])
            columns = np.full((len(self.choices), len(added)), self.empty, np.int32)
            columns[hypothesis] = added
            self.choices = np.concatenate([self.choices, columns], axis=1)
        self.order = order
        self.total += weight

    def _costs(self, words: IntArray) -> tuple[FloatArray, FloatArray]:
        """(words, slots) the costs of words in slots and (slots) of empty slots; a new slot costs 1."""
        mass = self.mass[self.order]
        if not self.fixed:
            proportions = mass / (self.total or 1.0)
            return np.ascontiguousarray(1.0 - proportions[:, words].T), 1.0 - proportions[:, self.empty]
        has_empty = mass[:, self.empty] > 0
        others = np.where(has_empty, SUBSTITUTED_EMPTY, SUBSTITUTION) / INSERTION
        skips: FloatArray = np.where(has_empty, SKIPPED_EMPTY, DELETION) / INSERTION
        return np.where(mass[:, words].T > 0, 0.0, others), skips


@dataclass(frozen=True, eq=False)
class Voting:
    """The votes for what each system has in each slot; all arrays are (systems, slots).

    `empty`        whether a system has ε in a slot
    `proportions`       N(w, i) / Ns of the system's w
    `confidences`  C(w, i) by its kind, without that of ε; no kinds where words have no confidences
    """

    empty: BoolArray
    proportions: FloatArray
    confidences: dict[ConfidenceKind, FloatArray]

    @classmethod
    def count(
        cls, network: ConfusionNetwork, weights: FloatArray, confidences: Sequence[FloatArray] | None = None
    ) -> Voting:
        """The votes of systems with these weights (systems); `confidences` has an array (words) for each system."""
        empty = network.choices == len(network.words)
        same = network.choices[:, None, :] == network.choices[None, :, :]  # of a system, with the w of another one
        votes = np.einsum("stk,t->sk", same, weights)
        proportions = votes / weights.sum()
        if confidences is None:
            return cls(empty, proportions, {})
        own = np.zeros(empty.shape)
        for row, without, values in zip(own, empty, confidences, strict=True):
            row[~without] = values
        average = np.einsum("stk,t,tk->sk", same, weights, own) / votes
        highest = np.where(same, own[None, :, :], 0.0).max(axis=1)
        return cls(empty, proportions, {"avg": average, "max": highest})

    def winners(self, alpha: FloatArray, null: FloatArray, kind: ConfidenceKind = "avg") -> LongArray:
        """(points, slots): the first system with what wins, for each pair of α and a null confidence (points).

        With α = 1, words need no confidences. Raises KeyError where α is lower and there are none.
        """
        alpha, null = alpha[:, None, None], null[:, None, None]
        scores = alpha * self.proportions
        if self.confidences or (alpha < 1).any():
            scores = scores + (1 - alpha) * np.where(self.empty, null, self.confidences[kind])
        best = scores >= scores.max(axis=1, keepdims=True) - EQUAL
        words = best & ~self.empty
        first: LongArray = np.where(words.any(axis=1), words.argmax(axis=1), best.argmax(axis=1))
        return first
