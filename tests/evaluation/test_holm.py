"""Holm's correction against the closed test of all intersections by Bonferroni, which it is a short cut of."""

from itertools import combinations

import numpy as np
import pytest

from rerank_adapters.evaluation.significance import holm


def closed_test(p_values):
    """The largest Bonferroni p-value of the sets of hypotheses that contain each hypothesis (Marcus et al. 1976)."""
    numbers = range(len(p_values))
    sets = [chosen for size in numbers for chosen in combinations(numbers, size + 1)]
    return [max(min(1.0, len(s) * min(p_values[i] for i in s)) for s in sets if number in s) for number in numbers]


@pytest.mark.parametrize("size", [1, 2, 5, 6])
def test_is_the_closed_test(size):
    rng = np.random.default_rng(size)
    for p_values in (rng.random(size) ** 3, rng.random(size), np.full(size, 0.2), np.round(rng.random(size), 1)):
        assert holm(p_values) == pytest.approx(closed_test(p_values))


def test_edges():
    assert holm([]).shape == (0,)
    assert holm([0.0, 1.0]).tolist() == [0.0, 1.0]
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="wanted 0 to 1"):
            holm([0.5, wrong])
