"""Confusion networks: alignments of fewest expected errors, posteriors that sum to one, a worked example, the feature."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_plugins import Hypothesis, NBestList
from rerank_plugins.lists.confusion_network import INSERT, MATCH, SKIP, ConfusionNetwork, cheapest_path
from rerank_plugins.lists.consensus import WordPosteriorsFeature

SENTENCES = st.lists(st.lists(st.sampled_from("abcd"), max_size=6), min_size=1, max_size=6)


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 1000))
def test_the_path_is_the_cheapest(words, slots, seed):
    rng = np.random.default_rng(seed)
    costs, skips = rng.random((words, slots)), rng.random(slots)

    @cache
    def cheapest(i, j):
        options = [0.0] if i == words and j == slots else []
        if i < words and j < slots:
            options.append(costs[i, j] + cheapest(i + 1, j + 1))
        if j < slots:
            options.append(skips[j] + cheapest(i, j + 1))
        if i < words:
            options.append(1.0 + cheapest(i + 1, j))
        return min(options)

    price, i, j = 0.0, 0, 0
    for operation in cheapest_path(costs, skips):
        price += {MATCH: lambda: costs[i, j], SKIP: lambda: skips[j], INSERT: lambda: 1.0}[int(operation)]()  # noqa: B023
        i, j = i + (operation != SKIP), j + (operation != INSERT)
    assert (i, j) == (words, slots)
    assert price == pytest.approx(cheapest(0, 0))


@given(SENTENCES, st.integers(0, 1000))
def test_posteriors_sum_to_one_and_every_hypothesis_is_a_path(sentences, seed):
    weights = np.random.default_rng(seed).random(len(sentences)) + 0.01
    network = ConfusionNetwork.build(sentences, weights)
    np.testing.assert_allclose(network.posteriors.sum(axis=1), 1.0)
    empty = len(network.words)
    for words, choices in zip(sentences, network.choices, strict=True):
        assert [network.words[number] for number in choices if number != empty] == words
    shares = weights / weights.sum()
    for slot, row in enumerate(network.posteriors):
        for number, posterior in enumerate(row):
            assert posterior == pytest.approx(shares[network.choices[:, slot] == number].sum())


@given(st.lists(st.sampled_from("abcd"), max_size=6), st.integers(1, 4))
def test_equal_hypotheses_are_certain(words, copies):
    network = ConfusionNetwork.build([words] * copies, np.ones(copies))
    assert [network.words[number] for number in network.choices[0]] == words
    np.testing.assert_allclose(network.expected_errors(), 0.0, atol=1e-12)


def test_a_worked_example():
    """Three words of the pivot, a deletion of its first, an insertion at its end."""
    texts = ["the cat sat", "the cat sat down", "cat sat", "the hat sat"]
    network = ConfusionNetwork.build([text.split() for text in texts], np.array([0.4, 0.3, 0.2, 0.1]))
    rows = [
        {(*network.words, "")[number]: round(float(p), 6) for number, p in enumerate(row) if p > 0}
        for row in network.posteriors
    ]
    assert rows == [{"the": 0.8, "": 0.2}, {"cat": 0.9, "hat": 0.1}, {"sat": 1.0}, {"down": 0.3, "": 0.7}]
    np.testing.assert_allclose(network.expected_errors(), [0.6, 1.0, 1.2, 1.4])


def test_feature_components():
    nbest = NBestList("0", (Hypothesis("a b", score=-1.0), Hypothesis("a c", score=-2.0), Hypothesis("", score=-9.0)))
    values = WordPosteriorsFeature(scale=1.0).extract(nbest)
    p = np.exp([-1.0, -2.0, -9.0]) / np.exp([-1.0, -2.0, -9.0]).sum()
    both = p[0] + p[1]
    np.testing.assert_allclose(values[0], [-(1 - both) - (1 - p[0]), np.log(both) + np.log(p[0]), (both + p[0]) / 2])
    assert values[2].tolist() == pytest.approx([-2 * (1 - p[2]), 0.0, 0.0])


def test_a_list_without_hypotheses_has_no_rows():
    assert WordPosteriorsFeature().extract(NBestList("0", ())).shape == (0, 3)
