"""Constituency parsing against obvious ways to do the same: nothing pruned, every hypothesis alone, every tree."""

import numpy as np
import pytest

from docs.results.scripts.constituency_speed import nbest_lists, of_length, running_text
from rerank_plugins.constituency.model_file import EMBEDDED, read_grammar
from rerank_plugins.constituency.parsing import ChartParser, Decoding
from rerank_plugins.kit.charts.inside import Chart, sharing_order
from rerank_plugins.kit.charts.rules import compile_rules
from tests.bench.timing import seconds
from tests.constituency.naive_pcfg import derivations, random_grammar
from tests.constituency.pcfg_sentences import inside

pytestmark = pytest.mark.skipif(not EMBEDDED.is_file(), reason="no embedded grammar")


@pytest.fixture(scope="module")
def parser():
    return ChartParser(read_grammar(EMBEDDED))


def test_pruned_against_exact_parsing(benchmark, parser):
    sentences = of_length(running_text(None), 15)[:20]
    exact = Decoding("mbr", 1, 0.0)
    parser.parse_all(sentences[:1])
    benchmark(parser.parse_all, sentences)
    pace = seconds(lambda: parser.parse_all(sentences)) / len(sentences)
    ratio = seconds(lambda: parser.parse_all(sentences[:5], exact)) / 5 / pace
    benchmark.extra_info["sentences a second"] = 1 / pace
    benchmark.extra_info["times faster"] = ratio
    assert ratio > 3


@pytest.mark.slow
def test_a_list_against_single_sentences(benchmark, parser):
    """Hypotheses of real lists, in the coarse chart: time goes down with the share of cells that need no filling."""
    lists = nbest_lists(300)
    rules = compile_rules(parser.coarse.rules)
    ids = [[parser.grammar.lexicon.ids(words) for words in texts] for texts in lists]
    orders = [sharing_order(texts) for texts in lists]

    def together():
        chart = Chart(rules)
        for numbers, order in zip(ids, orders, strict=True):
            for place in order:
                chart.fill(numbers[place])
        return chart

    def alone():
        for numbers in ids:
            for words in numbers:
                Chart(rules).fill(words)

    chart = together()
    benchmark(together)
    ratio = seconds(alone) / seconds(together)
    benchmark.extra_info["cells shared"] = chart.shared / chart.cells
    benchmark.extra_info["times faster"] = ratio
    assert chart.shared / chart.cells > 0.3
    assert ratio > 1.1


def test_inside_against_all_trees(benchmark):
    grammar = random_grammar(3, symbols=4)
    sentence = ("a", "b", "c", "a", "b", "a", "a")
    inside(grammar, sentence)
    benchmark(inside, grammar, sentence)
    every = seconds(lambda: derivations(grammar, sentence))
    ratio = every / (seconds(lambda: [inside(grammar, sentence) for _ in range(10)]) / 10)
    benchmark.extra_info["times faster"] = ratio
    assert np.isclose(np.log(sum(p for p, _ in derivations(grammar, sentence))), inside(grammar, sentence))
    assert ratio > 5
