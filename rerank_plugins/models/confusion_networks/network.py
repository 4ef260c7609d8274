"""The confusion network of weighted hypotheses (Mangu, Brill & Stolcke 2000, section 4 for n-best lists).

The hypothesis of the greatest weight is the pivot: its words are the first slots. Each other hypothesis, by descending
weight, is aligned with the slots so far. With P(w | s) the share of word w in the mass of slot s, and ε the empty word,

    w in slot s          costs 1 - P(w | s)
    no word in slot s    costs 1 - P(ε | s)
    w in a new slot      costs 1

so that the alignment has the fewest expected word errors against what the slots hold. The words of highest posterior
in each slot minimise the expected word error under the network. With one hypothesis for each recogniser and their
weights as votes, this is ROVER (Fiscus 1997): its word transition network and its voting by frequency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rerank_plugins.arrays import FloatArray, IntArray
from rerank_plugins.models.confusion_networks.alignment import INSERT, MATCH, cheapest_path


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
        building = _Building(len(numbers), len(hypotheses))
        for hypothesis in np.argsort(-weights, kind="stable").tolist():
            building.add(hypothesis, coded[hypothesis], float(weights[hypothesis]))
        mass = building.mass[building.order]
        choices = building.choices[:, building.order]
        return cls(tuple(numbers), mass / weights.sum(), choices)

    def best(self) -> list[str]:
        """The words of highest posterior in their slots; of equally probable ones the first, a word before ε."""
        chosen = self.posteriors.argmax(axis=1)
        return [self.words[number] for number in chosen.tolist() if number < len(self.words)]

    def of_choices(self) -> FloatArray:
        """(hypotheses, slots): the posterior of what each hypothesis has in each slot."""
        posteriors: FloatArray = self.posteriors[np.arange(self.choices.shape[1]), self.choices]
        return posteriors

    def expected_errors(self) -> FloatArray:
        """(hypotheses): the expected number of word errors of each hypothesis, Σ_s (1 - P(its word | s))."""
        errors: FloatArray = (1.0 - self.of_choices()).sum(axis=1)
        return np.maximum(errors, 0.0)


class _Building:
    """A network that grows: slots are stored as they are made, and `order` has them from left to right."""

    def __init__(self, words: int, hypotheses: int) -> None:
        self.empty = words
        self.mass = np.zeros((0, words + 1))
        self.choices = np.full((hypotheses, 0), words, np.int32)
        self.order: list[int] = []
        self.total = 0.0

    def add(self, hypothesis: int, words: IntArray, weight: float) -> None:
        """Align a hypothesis with the slots, and add its weight to them."""
        shares = self.mass[self.order] / (self.total or 1.0)
        costs = np.ascontiguousarray(1.0 - shares[:, words].T)
        path = cheapest_path(costs, 1.0 - shares[:, self.empty])
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
