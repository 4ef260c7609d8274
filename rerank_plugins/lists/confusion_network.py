"""The confusion network of weighted hypotheses (Mangu, Brill & Stolcke 2000, section 4).

The hypothesis of the greatest weight is the pivot: its words are the first slots. Each other hypothesis, by descending
weight, is aligned with the slots so far, at the least cost, with P(w | s) the part of word w in the mass of slot s, and
ε the empty word.

    w in slot s          costs 1 - P(w | s)
    no word in slot s    costs 1 - P(ε | s)
    w in a new slot      costs 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rerank_plugins import FloatArray, IntArray
from rerank_plugins.kit.kernels import kernel

MATCH, SKIP, INSERT = 0, 1, 2  # a word in a slot; a slot without a word; a word that needs a new slot


@kernel
def cheapest_path(costs: FloatArray, skips: FloatArray) -> IntArray:
    """The operations, from left to right, of the cheapest alignment of m words with n slots.

    `costs` (m, n) is the cost of each word in each slot, `skips` (n) that of leaving a slot empty; a new slot costs 1.
    Among equal costs, seen from the end, a match is taken before a skip, and a skip before a new slot. O(m · n).
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
            if skipped < best - 1e-12:
                best, operation = skipped, SKIP
            if inserted < best - 1e-12:
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
        numbers = {word: i for i, word in enumerate(dict.fromkeys(word for words in hypotheses for word in words))}
        coded = [np.array([numbers[word] for word in words], np.int32) for words in hypotheses]
        growing = _GrowingNetwork(len(numbers), len(hypotheses))
        for hypothesis in np.argsort(-weights, kind="stable").tolist():
            growing.add(hypothesis, coded[hypothesis], float(weights[hypothesis]))
        mass = growing.mass[growing.order]
        choices = growing.choices[:, growing.order]
        return cls(tuple(numbers), mass / weights.sum(), choices)

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

    def __init__(self, words: int, hypotheses: int) -> None:
        self.empty = words
        self.mass = np.zeros((0, words + 1))
        self.choices = np.full((hypotheses, 0), words, np.int32)
        self.order: list[int] = []
        self.total = 0.0

    def add(self, hypothesis: int, words: IntArray, weight: float) -> None:
        """Align a hypothesis with the slots, and add its weight to them."""
        path = cheapest_path(*self._costs(words))
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
        proportions = self.mass[self.order] / (self.total or 1.0)
        return np.ascontiguousarray(1.0 - proportions[:, words].T), 1.0 - proportions[:, self.empty]
