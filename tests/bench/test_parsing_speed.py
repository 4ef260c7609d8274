"""Parsing against obvious ways to do it: word by word, unpruned, all trees, each hypothesis alone, without the cache."""

import numpy as np
import pytest

from docs.results.scripts.constituency_speed import nbest_lists, of_length, running_text
from rerank_plugins.constituency.model_file import EMBEDDED as GRAMMAR
from rerank_plugins.constituency.model_file import read_grammar
from rerank_plugins.constituency.parsing import ChartParser, Decoding
from rerank_plugins.dependency.biaffine.parser_file import read_model
from rerank_plugins.dependency.biaffine.parsing import parse_all
from rerank_plugins.dependency.biaffine.pieces import word_inputs
from rerank_plugins.dependency.parsers import EMBEDDED, EnglishParser
from rerank_plugins.kit.charts.inside import Chart, sharing_order
from rerank_plugins.kit.charts.rules import compile_rules
from rerank_plugins.kit.files.cached_parser import CachedParser
from rerank_plugins.similarity.structured_vectors import parsed_vectors
from rerank_plugins.svs.model import EMBEDDED as VECTOR_GRAMMAR
from rerank_plugins.svs.model import read_model as read_vector_grammar
from rerank_plugins.svs.parsing import SvsParser
from tests.bench.timing import in_turn, seconds
from tests.constituency.naive_pcfg import derivations, random_grammar
from tests.constituency.pcfg_sentences import inside
from tests.dependency import naive_parsing


@pytest.fixture(scope="module")
def sentences(root):
    lines = (root / "example_nbest" / "mt" / "tune.nbest").read_text(encoding="utf-8").splitlines()
    return list(dict.fromkeys(tuple(line.split(" ||| ")[1].split()) for line in lines[:2000]))[:1000]


@pytest.fixture(scope="module")
def grammar_parser():
    return ChartParser(read_grammar(GRAMMAR))


def test_batches_against_one_word_at_a_time(benchmark, sentences):
    model = read_model(EMBEDDED)
    few = sentences[:20]

    def naive():
        for words in few:
            _, arcs, _ = naive_parsing.scores(word_inputs(model, words).astype(np.float64), model.params)
            arcs.argmax(axis=1)

    parse_all(model, few)
    benchmark(parse_all, model, sentences)
    pace = seconds(lambda: parse_all(model, sentences)) / len(sentences)
    ratio = seconds(naive) / len(few) / pace
    benchmark.extra_info |= {"sentences a second": 1 / pace, "times faster": ratio}
    assert ratio > 3


def test_reading_the_cache_against_parsing(benchmark, sentences, tmp_path):
    english = EnglishParser()
    english.parse(sentences[:1])
    parsing = seconds(lambda: english.parse(sentences))
    CachedParser(english).parse(sentences)

    def again():
        return CachedParser(english).parse(sentences)

    benchmark(again)
    assert len(again()) == len(sentences)
    ratio = parsing / seconds(again)
    benchmark.extra_info["times faster"] = ratio
    assert ratio > 2


def test_pruned_against_exact_parsing(benchmark, grammar_parser):
    texts = of_length(running_text(None), 15)[:20]
    exact = Decoding("mbr", 1, 0.0)
    grammar_parser.parse_all(texts[:1])
    benchmark(grammar_parser.parse_all, texts)
    pace = seconds(lambda: grammar_parser.parse_all(texts)) / len(texts)
    ratio = seconds(lambda: grammar_parser.parse_all(texts[:5], exact)) / 5 / pace
    benchmark.extra_info |= {"sentences a second": 1 / pace, "times faster": ratio}
    assert ratio > 3


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


def in_coarse_charts(grammar_parser):
    """Fill the coarse chart for all texts of some lists, with a new chart for each of the groups that are given."""
    rules = compile_rules(grammar_parser.coarse.rules)

    def filled(groups):
        for texts in groups:
            chart = Chart(rules)
            ids = [grammar_parser.grammar.lexicon.ids(words) for words in texts]
            for place in sharing_order(ids):
                chart.fill(ids[place])

    return filled, nbest_lists(300), 1.1


def as_vectors(_):
    """The vectors of all texts, with a new coarse chart for each group."""
    parser = SvsParser(read_vector_grammar(VECTOR_GRAMMAR), 1e-3)
    words = ["the", "old", "man", "went", "down", "to", "the", "river", "and", "said", "that", "it", "was", "good", "."]

    def parsed(groups):
        for texts in groups:
            parser.coarse_chart = Chart(parser.coarse_chart.rules)
            parsed_vectors(parser, texts)

    return parsed, [[(*words[:i], other, *words[i + 1 :]) for i in range(14) for other in ("a", "dog")]], 1.0


@pytest.mark.parametrize("way", [in_coarse_charts, as_vectors])
def test_a_list_against_single_sentences(benchmark, grammar_parser, way):
    """Hypotheses share the cells of the coarse chart over the same words."""
    parse, lists, least = way(grammar_parser)
    single = [[words] for texts in lists for words in texts]
    benchmark(parse, lists)
    apart, together = in_turn(lambda: parse(single), lambda: parse(lists), times=6)
    benchmark.extra_info["times faster"] = apart / together
    assert apart > least * together
