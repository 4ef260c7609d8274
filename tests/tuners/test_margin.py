"""The margin by which the 1-best must be led, against its naive twin."""

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.metrics.edit_rate import WER
from rerank_adapters.tuners.margin import _standard_errors, best_margin, leads_of, with_margin
from rerank_adapters.tuners.within_lists import one_best
from tests.tuners import naive_margin

WORDS = ["the", "a", "cat", "dog", "saw", "heard", "big", "small"]


def random_lists(rng, metric, lists=30):
    """Statistics of 1-bests and of hypotheses that lead them, by the metric, with leads that sometimes tie."""

    def texts():
        return [[" ".join(rng.choice(WORDS, rng.integers(2, 8)))] for _ in range(lists)]

    references = texts()
    leads = np.where(rng.random(lists) < 0.2, 0.0, rng.integers(1, 12, lists) / 4)
    first, leading = metric.statistics(texts(), references), metric.statistics(texts(), references)
    return leads, first, np.where(leads[:, None] > 0, leading, first)


@pytest.mark.parametrize("margin", [0.0, 0.4, 1.0, math.inf])
def test_the_choice_is_that_of_the_rule(margin):
    rng = np.random.default_rng(3)
    offsets = np.cumsum([0, *rng.integers(1, 6, 40)])
    totals = rng.integers(0, 9, offsets[-1]) / 4
    chosen = one_best(with_margin(totals, offsets, margin), offsets) - offsets[:-1]
    naive = [naive_margin.choice(totals[i:j].tolist(), margin) for i, j in pairwise(offsets)]
    assert chosen.tolist() == naive


def test_a_1_best_that_is_kept_has_the_highest_total_and_no_other_total_changes():
    totals, offsets = np.array([1.0, 1.5, 0.0, 1.0, 3.0]), np.array([0, 3, 5])
    assert_array_equal(with_margin(totals, offsets, 0.75), [1.5, 1.5, 0.0, 1.75, 3.0])
    assert with_margin(totals, offsets, math.inf).tolist() == [1.5, 1.5, 0.0, 3.0, 3.0]
    assert with_margin(totals, offsets, 0.0) is totals


def test_leads_are_zero_where_the_1_best_has_the_highest_total():
    rows, leads = leads_of(np.array([1.0, 1.5, 0.0, 3.0, 3.0]), np.array([0, 3, 5]))
    assert (rows.tolist(), leads.tolist()) == ([1, 3], [0.5, 0.0])


@pytest.mark.parametrize("metric", [WER(), Bleu(tokenize="none")], ids=["wer", "bleu"])
def test_the_best_margin_is_found_exactly(metric):
    for seed in range(25):
        leads, first, leading = random_lists(np.random.default_rng(seed), metric)
        low, high = naive_margin.best_margin(leads, first, leading, metric, errors=0.0)
        assert low <= best_margin(leads, first, leading, metric, errors=0.0) <= high


def test_the_margin_is_the_largest_within_a_standard_error():
    # For WER with references of fixed length the score is linear, so that the delta method has the exact error.
    for seed in range(25):
        rng, metric = np.random.default_rng(seed), WER()
        references = [[" ".join(rng.choice(WORDS, 5))] for _ in range(30)]
        leads = np.where(rng.random(30) < 0.2, 0.0, rng.integers(1, 12, 30) / 4)
        first, leading = (
            metric.statistics([[" ".join(rng.choice(WORDS, 5))] for _ in range(30)], references) for _ in range(2)
        )
        leading = np.where(leads[:, None] > 0, leading, first)
        low, high = naive_margin.best_margin(leads, first, leading, metric, errors=1.0)
        assert low <= best_margin(leads, first, leading, metric) <= high


def test_the_standard_error_is_that_of_the_mean_over_lists():
    """Six lists, of which four change at three margins; the others gain 0."""
    gains, ends = np.array([1.0, -2.0, 3.0, 0.5]), np.array([0, 2, 3])
    for best, until in ((0, 0), (1, 1), (2, 3), (3, 4)):
        wanted = []
        for begin in (0, 1, 3, 4)[: best + 1]:
            changed = gains[begin:until]
            wanted.append(np.std([*changed, *np.zeros(6 - len(changed))], ddof=1) / math.sqrt(6))
        assert_allclose(_standard_errors(gains, ends, best, 6), wanted, atol=1e-12)
    assert_array_equal(_standard_errors(np.ones(1), np.zeros(1, int), 1, 1), [0.0, 0.0])


def test_extremes():
    metric, references = WER(), [["a b c"]] * 4
    bad, good = (metric.statistics([[text]] * 4, references) for text in ("a b x", "a b c"))
    leads = np.array([1.0, 2.0, 3.0, 4.0])
    assert best_margin(leads, good, bad, metric) == math.inf
    assert best_margin(leads, bad, good, metric, errors=0.0) == 0.0
    assert best_margin(np.zeros(4), good, good, metric) == math.inf
    mixed = np.vstack([good[:2], bad[:2]]), np.vstack([bad[:2], good[:2]])  # the two small leads are wrong
    assert_allclose(best_margin(leads, *mixed, metric, errors=0.0), 2.5)
