"""The coarse charts of many sentences at once against the grammar parser's chart of one sentence after another."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins.constituency.compiled_rules import compile_rules
from rerank_plugins.constituency.inside import Chart
from rerank_plugins.constituency.outside import expected_nodes
from rerank_plugins.svs import coarse_chart
from rerank_plugins.svs.coarse_chart import CoarseCharts, batches
from rerank_plugins.svs.parsing import coarse_grammar
from tests.svs.naive_svs_parsing import WORDS, random_model

SENTENCES = st.integers(1, 9).flatmap(
    lambda n: st.lists(st.lists(st.sampled_from(WORDS), min_size=n, max_size=n), min_size=1, max_size=5)
)


@settings(max_examples=60)
@given(st.integers(0, 10**6), SENTENCES, st.sampled_from([1e-3, 0.02, 0.3]))
def test_kept_categories_are_those_of_each_sentence_alone(seed, sentences, threshold):
    coarse, _ = coarse_grammar(random_model(seed, split=True))
    rules, words = compile_rules(coarse), np.stack([coarse.lexicon.ids(sentence) for sentence in sentences])
    charts, chart = CoarseCharts(rules), Chart(rules)
    charts.fill(words)
    kept = charts.kept(threshold, 0.1 * threshold)
    for place, numbers in enumerate(words):
        chart.fill(numbers)
        counts = expected_nodes(chart, 0.1 * threshold)
        differ = (counts > threshold) != kept[place]
        np.testing.assert_allclose(counts[differ], threshold, rtol=1e-9)
        charts.fill(numbers[None])
        np.testing.assert_array_equal(charts.kept(threshold, 0.1 * threshold)[0], kept[place])


def test_long_sentences_are_scaled():
    """Without scales per word a span of 300 words would be far below the least float64."""
    coarse, _ = coarse_grammar(random_model(4))
    rules, numbers = compile_rules(coarse), coarse.lexicon.ids(np.resize(WORDS, 300))
    charts, chart = CoarseCharts(rules), Chart(rules)
    charts.fill(np.stack([numbers, numbers[::-1]]))
    chart.fill(numbers)
    kept = charts.kept(1e-3, 1e-4)[0]
    np.testing.assert_array_equal(kept, expected_nodes(chart, 1e-4) > 1e-3)
    assert kept.any(axis=1).sum() >= 2 * 300 - 1
    assert charts.scaled


def test_batches_have_sentences_of_one_length(monkeypatch):
    monkeypatch.setattr(coarse_chart, "LANES", 5)
    sentences = [("b",), ("a", "b"), ("a",), ("c", "c"), ("b", "a"), tuple("abcabc")]
    assert list(batches(sentences)) == [
        [("a",), ("b",)],
        [("a", "b"), ("b", "a")],
        [("c", "c")],
        [tuple("abcabc")],
    ]
