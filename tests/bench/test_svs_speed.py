"""Parsing with vectors against the same without them, and hypotheses together against each alone."""

import numpy as np
import pytest

from rerank_plugins.kit.charts.inside import Chart
from rerank_plugins.similarity.structured_vectors import parsed_vectors
from rerank_plugins.svs.model import EMBEDDED, read_model
from rerank_plugins.svs.parsing import SvsParser
from tests.bench.svs_scalar import scalar_log_probability
from tests.bench.timing import in_turn, seconds
from tests.svs.naive_svs_parsing import WORDS, random_model


@pytest.fixture(scope="module")
def parser():
    return SvsParser(random_model(1, concepts=10, phrases=20, tags=5, rules=100), threshold=0.0)


@pytest.fixture(scope="module")
def sentences():
    rng = np.random.default_rng(1)
    return [tuple(rng.choice(WORDS, 12).tolist()) for _ in range(10)]


@pytest.mark.slow
@pytest.mark.parametrize(("expand", "faster"), [(True, 15), (False, 2.5)], ids=["expanded", "sums"])
def test_vectors_against_concepts_one_by_one(benchmark, parser, sentences, expand, faster):
    """A rule costs K steps instead of K³, or K²; the trees are the same."""

    def vectors():
        parser.chart.forget()
        return [parser.parse(words) for words in sentences]

    def scalars():
        return [scalar_log_probability(parser.rules, parser.model.lexicon.ids(words), expand)[0] for words in sentences]

    found = [-np.inf if tree is None else tree.log_probability for tree in vectors()]
    np.testing.assert_allclose(scalars(), found, rtol=1e-9)
    assert np.isfinite(found).sum() > 5
    benchmark(vectors)
    ratio = seconds(scalars) / seconds(vectors)
    benchmark.extra_info["times faster"] = ratio
    assert ratio > faster


@pytest.mark.slow
def test_a_pruned_list_against_single_sentences(benchmark):
    """Hypotheses share the coarse chart's cells over the same words."""
    parser = SvsParser(read_model(EMBEDDED), 1e-3)
    words = ["the", "old", "man", "went", "down", "to", "the", "river", "and", "said", "that", "it", "was", "good", "."]
    texts = [(*words[:place], other, *words[place + 1 :]) for place in range(14) for other in ("a", "dog")]

    def together():
        parser.coarse_chart = Chart(parser.coarse_chart.rules)
        return parsed_vectors(parser, texts)

    def alone():
        vectors = []
        for text in texts:
            parser.coarse_chart = Chart(parser.coarse_chart.rules)
            vectors.append(parsed_vectors(parser, [text]))
        return np.concatenate(vectors)

    np.testing.assert_array_equal(alone(), together())
    benchmark(together)
    apart, shared = in_turn(alone, together, times=6)
    ratio = apart / shared
    benchmark.extra_info["times faster"] = ratio
    assert ratio > 1


def test_a_list_against_single_sentences(benchmark, parser, sentences):
    """Hypotheses that differ in a word share the cells of all spans without it."""
    first = sentences[0]
    others = [(*first[:place], word, *first[place + 1 :]) for place in range(12) for word in WORDS]

    def together():
        parser.chart.forget()
        return parser.parse_all(others)

    def alone():
        for words in others:
            parser.chart.forget()
            parser.parse(words)

    together()
    alone()
    benchmark(together)
    ratio = seconds(alone) / seconds(together)
    benchmark.extra_info["times faster"] = ratio
    assert ratio > 1.3
