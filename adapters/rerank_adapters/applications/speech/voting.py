"""ROVER: combines the outputs of systems by voting, and tunes its settings on references."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from rerank_adapters.applications.speech.systems import System
from rerank_adapters.formats.reference_forms import TimedWord
from rerank_plugins import FloatArray, Metric
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.lists.confusion_network import ConfusionNetwork
from rerank_plugins.lists.rover import CONFIDENCES, ConfidenceKind, Voting

GRID = np.linspace(0.0, 1.0, 21)  # values of α and of the null confidence that are tried


@dataclass(frozen=True)
class VotingSettings:
    """The weight α of frequency in the score, the confidence of an empty slot, and the kind of confidence of a word."""

    alpha: float = 1.0
    null: float = 0.0
    confidence: ConfidenceKind = "avg"


@dataclass(frozen=True, eq=False)
class Combination:
    """The network of an utterance with the votes of the systems; settings decide what wins."""

    network: ConfusionNetwork
    voting: Voting
    times: Sequence[Sequence[TimedWord]]

    @classmethod
    def of(cls, utterance: str, systems: Sequence[System], weights: FloatArray, *, confident: bool) -> Combination:
        """The combination of what the systems recognised; `confident` if all of them have confidences."""
        outputs = [system.output(utterance) for system in systems]
        network = ConfusionNetwork.combine([output.words for output in outputs], weights)
        confidences = [output.confidences for output in outputs if output.confidences is not None and confident]
        voting = Voting.count(network, weights, confidences or None)
        return cls(network, voting, [output.times for output in outputs])

    def winners(self, points: Sequence[VotingSettings]) -> LongArray:
        """(points, slots): for each of the settings, the first system with what wins in each slot."""
        winners = np.zeros((len(points), self.network.choices.shape[1]), np.int64)
        for kind in {point.confidence for point in points}:
            rows = [row for row, point in enumerate(points) if point.confidence == kind]
            alpha = np.array([points[row].alpha for row in rows])
            winners[rows] = self.voting.winners(alpha, np.array([points[row].null for row in rows]), kind)
        return winners

    def text(self, winners: LongArray) -> str:
        """The words of the systems that win in the slots."""
        numbers = self.network.choices[winners, np.arange(len(winners))].tolist()
        words = self.network.words
        return " ".join(words[number] for number in numbers if number < len(words))

    def timed(self, settings: VotingSettings) -> Iterator[TimedWord]:
        """The words that win, with the times of the first system that has them and the confidences that count."""
        (winners,) = self.winners([settings])
        places = np.cumsum(~self.voting.empty, axis=1) - 1  # of the word of a system in its output
        values = self.voting.confidences.get(settings.confidence, self.voting.shares)
        for slot, system in enumerate(winners.tolist()):
            if not self.voting.empty[system, slot]:
                word = self.times[system][places[system, slot]]
                yield word._replace(confidence=float(values[system, slot]))


def tune(
    combinations: Sequence[Combination], references: Sequence[str], metric: Metric
) -> tuple[VotingSettings, float, float]:
    """The settings of a grid that score best, their score, and that of frequency alone; all words have confidences.

    Of equally good settings those of the largest α are taken, then of the lowest null confidence, then `avg`.
    """
    points = [VotingSettings()]
    points += [VotingSettings(*point) for point in product(GRID[-2::-1].tolist(), GRID.tolist(), CONFIDENCES)]
    texts: list[list[str]] = []
    rows: list[LongArray] = []  # for each utterance, the index of each point's text among its distinct texts
    for combination in combinations:
        distinct, inverse = np.unique(combination.winners(points), axis=0, return_inverse=True)
        texts.append([combination.text(winners) for winners in distinct])
        rows.append(inverse.ravel())
    statistics = metric.statistics(texts, [[reference] for reference in references])
    starts = np.concatenate([[0], np.cumsum([len(some) for some in texts])])
    totals = sum(statistics[start + row] for start, row in zip(starts[:-1].tolist(), rows, strict=True))
    scores = metric.score(np.asarray(totals))
    best = int(np.argmax(scores if metric.higher_is_better else -scores))
    return points[best], float(scores[best]), float(scores[0])
