"""Wilson's interval and McNemar's test by their definitions, and gains with intervals and p-values by loops."""

import math
from fractions import Fraction

import numpy as np
import pytest

from rerank_adapters.evaluation.comparisons import Resampling, paired_gains
from rerank_adapters.evaluation.proportions import binomial_p_value, mcnemar, wilson_interval
from rerank_adapters.evaluation.significance import Interval, percentile_interval
from tests.evaluation import naive_evaluation as naive

Z = 1.959963984540054
LISTS_OF_COUNTS = [(0, 1), (1, 1), (0, 40), (40, 40), (1, 3), (5, 10), (7, 200), (37.5, 50)]


@pytest.mark.parametrize(("successes", "trials"), LISTS_OF_COUNTS)
def test_the_ends_of_wilson_s_interval_are_just_not_rejected(successes, trials):
    """Each end is a proportion whose distance from the one observed is 1.96 of its own standard errors."""
    interval = wilson_interval(successes, trials)
    observed = successes / trials
    for end, extreme in zip(interval, (0.0, 1.0), strict=True):
        if observed == extreme:
            assert end == extreme
        else:
            assert abs(observed - end) == pytest.approx(Z * math.sqrt(end * (1 - end) / trials))
    assert interval.low <= observed <= interval.high


def test_no_trials_exclude_no_proportion():
    assert wilson_interval(0, 0) == Interval(0.0, 1.0)


@pytest.mark.parametrize(("heads", "tails"), [(0, 0), (1, 0), (2, 2), (3, 2), (5, 1), (0, 9), (12, 30), (600, 700)])
def test_throws_of_a_coin_are_counted(heads, tails):
    throws = heads + tails
    uneven = [k for k in range(throws + 1) if abs(2 * k - throws) >= abs(heads - tails)]
    wanted = Fraction(sum(math.comb(throws, k) for k in uneven), 2**throws)
    assert binomial_p_value(heads, tails) == pytest.approx(float(wanted))


def test_only_questions_that_one_system_answers_count():
    first = np.array([True, True, True, True, False, False, True])
    second = np.array([True, False, False, False, True, False, True])
    assert mcnemar(first, second) == (3, 1, pytest.approx(2 * (1 + 4) / 16))


@pytest.mark.parametrize("metric", [naive.WordErrors(), naive.WordF()], ids=["errors", "f"])
def test_gains_are_above_zero_for_the_better_and_have_the_values_of_loops(metric):
    rng = np.random.default_rng(3)
    references = [[" ".join(rng.choice(list("abcdef"), 6))] for _ in range(30)]
    texts = [
        [[" ".join(w if rng.random() > rate else "x" for w in reference.split())] for (reference,) in references]
        for rate in (0.1, 0.4, 0.35)
    ]
    choices = [metric.statistics(system, references) for system in texts]
    pairs = [(0, 1), (1, 0), (1, 2)]
    sign = 1 if metric.higher_is_better else -1
    gains = paired_gains(choices, pairs, metric, Resampling(80, 99, 5))
    assert gains[0].value > 0 > gains[1].value
    resampled = [naive.bootstrap_scores(choice, 80, metric, np.random.default_rng(5)) for choice in choices]
    for (i, j), gain in zip(pairs, gains, strict=True):
        observed = sign * float(metric.score(choices[i].sum(0)) - metric.score(choices[j].sum(0)))
        assert gain.value == pytest.approx(observed)
        wanted = percentile_interval(sign * (resampled[i] - resampled[j]))
        assert gain.interval == pytest.approx(wanted)
        swapped = naive.randomised_differences(choices[j], choices[i], 99, metric, np.random.default_rng(5))
        assert gain.p == pytest.approx((1 + sum(abs(swapped) >= abs(observed) - 1e-9)) / 100)
    assert paired_gains(choices, [], metric) == []
