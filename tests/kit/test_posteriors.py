"""The posteriors of a list are the softmax of scores, of scores over their deviation, of ranks, or equal."""

import math
import statistics

import pytest

from rerank_plugins import Hypothesis, NBestList
from rerank_plugins.kit.nbest_lists import posteriors

SCORES = [-1.5, 0.25, 3.0, 0.25, -2.0]


def nbest_of(scores):
    return NBestList("0", tuple(Hypothesis(f"text {place}", score=score) for place, score in enumerate(scores)))


def softmax(values):
    powers = [math.exp(value) for value in values]
    return [power / sum(powers) for power in powers]


@pytest.mark.parametrize("scale", [0.0, 0.5, 2.0])
def test_posteriors_by_definition(scale):
    nbest, n = nbest_of(SCORES), len(SCORES)
    deviation = statistics.pstdev(SCORES)
    assert posteriors(nbest, "score", scale) == pytest.approx(softmax([scale * score for score in SCORES]))
    assert posteriors(nbest, "spread", scale) == pytest.approx(softmax([scale * score / deviation for score in SCORES]))
    powers = [rank**-scale for rank in range(1, n + 1)]
    assert posteriors(nbest, "rank", scale) == pytest.approx([power / sum(powers) for power in powers])
    assert posteriors(nbest, "uniform", scale) == pytest.approx([1 / n] * n)


def test_a_list_without_scores_is_weighted_by_rank_and_equal_scores_are_equally_probable():
    assert posteriors(nbest_of([1.0, None, 2.0]), "score", 1.0) == pytest.approx([6 / 11, 3 / 11, 2 / 11])
    assert posteriors(nbest_of([1.0, None, 2.0]), "spread", 1.0) == pytest.approx([6 / 11, 3 / 11, 2 / 11])
    assert posteriors(nbest_of([2.0, 2.0]), "spread", 3.0) == pytest.approx([0.5, 0.5])
    assert posteriors(nbest_of([4.0]), "spread", 3.0) == pytest.approx([1.0])
    assert posteriors(nbest_of([]), "score", 1.0).tolist() == []


def test_large_scores_are_no_trouble():
    assert posteriors(nbest_of([1000.0, 1001.0]), "score", 1.0) == pytest.approx(softmax([0.0, 1.0]))
    assert posteriors(nbest_of([-1e6, -1e6 - 1]), "score", 1.0) == pytest.approx(softmax([0.0, -1.0]))
    assert posteriors(nbest_of([0.0, -1000.0]), "score", 1.0).tolist() == [1.0, 0.0]
