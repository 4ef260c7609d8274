"""The parser's charts, criteria and k-best lists against every tree of small grammars."""

import itertools
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.parsing import ChartParser, Decoding, project
from rerank_plugins.kit.charts.blocks import compile_blocks
from rerank_plugins.kit.charts.inside import Chart
from rerank_plugins.kit.charts.items import items_of
from rerank_plugins.kit.charts.outside import expected_nodes, outside_buffers, outside_pass
from rerank_plugins.kit.charts.pruned_chart import PrunedChart
from rerank_plugins.kit.charts.rules import compile_rules
from rerank_plugins.kit.charts.spans import cell_number
from tests.constituency import naive_pcfg
from tests.constituency.naive_pcfg import (
    WORDS,
    as_brackets,
    derivations,
    lexicon_from,
    random_grammar,
    relabelled,
    rules_of,
)
from tests.constituency.pcfg_sentences import inside, spans

SEEDS = st.integers(0, 10**6)
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(tuple)
STATES = st.integers(1, 2)


def pruned(grammar, sentence, threshold=0.0):
    coarse = project(grammar)
    chart = Chart(compile_rules(coarse.rules))
    words = grammar.lexicon.ids(sentence)
    chart.fill(words)
    counts = expected_nodes(chart)
    blocks = compile_blocks(grammar.rules)
    return PrunedChart(blocks, items_of(counts, threshold, blocks), words, chart.scales[1 : len(words) + 1])


@pytest.mark.slow
@settings(max_examples=25)
@given(SEEDS, SENTENCES, st.booleans())
def test_expected_nodes_are_those_of_all_trees(seed, sentence, emitting):
    check_expected_nodes(seed, sentence, emitting)


@pytest.mark.parametrize("seed", [2, 26])
@pytest.mark.parametrize("emitting", [False, True])
def test_expected_nodes_of_an_example(seed, emitting):
    check_expected_nodes(seed, ("a", "b", "c", "a"), emitting)


def check_expected_nodes(seed, sentence, emitting):
    grammar = random_grammar(seed, symbols=4, emitting=emitting)
    trees = derivations(grammar, sentence)
    total = sum(p for p, _ in trees)
    wanted = np.zeros((len(sentence) * (len(sentence) + 1) // 2, grammar.size))
    for p, tree in trees:
        for label, _, begin, _, end in rules_of(tree)[0]:
            wanted[cell_number(begin, end, len(sentence)), label] += p / total
    chart = Chart(compile_rules(grammar.rules))
    chart.fill(grammar.lexicon.ids(sentence))
    np.testing.assert_allclose(expected_nodes(chart), wanted, 1e-9, 1e-12)
    passed_over = expected_nodes(chart, 0.01)
    assert (passed_over <= wanted + 1e-9).all()
    assert (wanted - passed_over).max() <= 0.01 * len(trees)


def test_outside_pass_keeps_to_its_room_where_numbers_underflow():
    """Five parents of the same two children, each so improbable that p times the outside probability is zero: a pair of
    children is noted once, or the notes outgrow their array. In Python an index out of range is an error.
    """
    parents, t, u = range(1, 6), 6, 7
    rare = -744.4  # the smallest number above zero
    binary = np.array([(a, x, x) for a in parents for x in (t, u)], np.int32)
    names = ("ROOT", *(f"A{a}" for a in parents), "T", "U")
    grammar = Grammar(
        names, names, np.arange(8, dtype=np.int32), binary, np.array([rare, 0.0] * 5),
        np.array([(0, a) for a in parents], np.int32), np.log(np.full(5, 0.2)),
        lexicon_from({("a", t): 1.0, ("a", u): 1.0}),
    )  # fmt: skip
    chart = Chart(compile_rules(grammar.rules))
    chart.fill(grammar.lexicon.ids(("a", "a")))
    assert chart.rules.parent_p.min() > 0 == chart.rules.parent_p.min() * 0.2
    assert len(chart.rules.pair_left) == 2
    counts = np.zeros((3, grammar.size))
    outside_pass.py_func(chart.rules, 2, chart.values, 0.0, counts, outside_buffers(chart.rules, 2))
    wanted = [[0, 0, 0, 0, 0, 0, 0, 1]] * 2 + [[1, 0.2, 0.2, 0.2, 0.2, 0.2, 0, 0]]
    np.testing.assert_allclose(counts, wanted, atol=1e-12)
    np.testing.assert_array_equal(expected_nodes(chart), counts)


def test_cells_are_numbered_by_width():
    for n in (1, 2, 5):
        assert [cell_number(i, j, n) for i, j in spans(n)] == list(range(n * (n + 1) // 2))


@settings(max_examples=25)
@given(SEEDS, SENTENCES, STATES, st.booleans())
def test_nothing_pruned_is_exact(seed, sentence, states, cyclic):
    """At threshold 0 the pruned chart of a split grammar has the inside probability of the whole grammar."""
    grammar = random_grammar(seed, symbols=4, states=states, cyclic=cyclic)
    chart = pruned(grammar, sentence)
    found = math.log(chart.total) - np.log(chart.scales).sum() if chart.total > 0 else -math.inf
    assert found == pytest.approx(inside(grammar, sentence), rel=1e-10)


@settings(max_examples=25)
@given(SEEDS, SENTENCES, STATES, st.booleans())
def test_expected_symbols_of_the_pruned_chart(seed, sentence, states, emitting):
    grammar = random_grammar(seed, symbols=3, states=states, emitting=emitting)
    trees = derivations(grammar, sentence)
    chart = pruned(grammar, sentence)
    if not trees:
        assert chart.total == 0
        return
    chart.posteriors()
    wanted = Counter()
    for p, tree in trees:
        for label, _, begin, _, end in rules_of(tree)[0]:
            wanted[cell_number(begin, end, len(sentence)), label] += p
    total = sum(p for p, _ in trees)
    expected = chart.inner * chart.upper / chart.total
    found = {}
    for item, (cell, base) in enumerate(zip(chart.items.cell, chart.items.base, strict=True)):
        for symbol in np.flatnonzero(grammar.base == base):
            found[cell, symbol] = expected[chart.items.offsets[item] + chart.blocks.local[symbol]]
    for key, p in wanted.items():
        assert found[key] == pytest.approx(p / total, rel=1e-9)
    assert sum(found.values()) == pytest.approx(sum(wanted.values()) / total, rel=1e-9)


def test_the_projection_of_a_split_grammar():
    """It sums to one, expects each base as often as the split grammar does, and is the grammar itself if none is split."""
    from rerank_plugins.constituency.grammar import expected_counts

    for seed in range(10):
        grammar = random_grammar(seed, symbols=4, states=2, finite=True)
        coarse = project(grammar)
        np.testing.assert_allclose(coarse.totals(), 1, atol=1e-9)
        wanted = np.bincount(grammar.base, expected_counts(grammar))
        np.testing.assert_allclose(expected_counts(coarse), wanted, rtol=1e-9)
        same = random_grammar(seed, symbols=4)
        np.testing.assert_allclose(project(same).binary_logp, same.binary_logp)


def all_trees(grammar, sentence, chain=4):
    """Counter brackets -> p(tree, words), over the bases."""
    names = [grammar.bases[base] for base in grammar.base]
    found = Counter()
    for p, tree in derivations(grammar, sentence, chain):
        found[as_brackets(relabelled(tree, names))] += p
    return found


@settings(max_examples=30)
@given(SEEDS, SENTENCES, st.booleans())
def test_k_best_of_an_unsplit_grammar_is_the_sorted_list(seed, sentence, emitting):
    grammar = random_grammar(seed, symbols=4, emitting=emitting)
    wanted = sorted(all_trees(grammar, sentence).values(), reverse=True)
    parser = ChartParser(grammar)
    for k in (1, 3, 10_000):
        found = parser.parse(sentence, Decoding("viterbi", k, 0.0))
        np.testing.assert_allclose([math.exp(logp) for _, logp in found], wanted[:k], 1e-9)
        assert len({str(tree) for tree, _ in found}) == len(found)


@settings(max_examples=25)
@given(SEEDS, SENTENCES.filter(lambda sentence: len(sentence) < 4), st.sampled_from(["mbr", "viterbi"]))
def test_trees_of_a_split_grammar_have_their_summed_probability(seed, sentence, criterion):
    grammar = random_grammar(seed, symbols=3, states=2)
    wanted = all_trees(grammar, sentence)
    found = ChartParser(grammar).parse(sentence, Decoding(criterion, 5000, 0.0))
    assert {str(tree) for tree, _ in found} <= wanted.keys()
    for tree, logp in found:
        assert math.exp(logp) == pytest.approx(wanted[str(tree)], rel=1e-9)
    if criterion == "mbr":  # each tree is one derivation: all are found, and sum to inside
        assert len(found) == len(wanted)
        if found:
            whole = np.logaddexp.reduce([logp for _, logp in found])
            assert whole == pytest.approx(inside(grammar, sentence), rel=1e-9)


@pytest.mark.slow
@settings(max_examples=25)
@given(SEEDS, SENTENCES, STATES)
def test_max_rule_product(seed, sentence, states):
    check_max_rule_product(seed, sentence, states)


@pytest.mark.parametrize("seed", [6, 8])
@pytest.mark.parametrize("states", [1, 2])
def test_max_rule_product_of_an_example(seed, states):
    check_max_rule_product(seed, ("a", "b", "c"), states)


def check_max_rule_product(seed, sentence, states):
    """The order of trees by the product of the expected numbers of their rules, from all trees."""
    grammar = random_grammar(seed, symbols=3, states=states)
    names = list(grammar.base)
    trees = [(p, relabelled(tree, names)) for p, tree in derivations(grammar, sentence)]
    total = sum(p for p, _ in trees)
    expected = Counter()
    for p, tree in trees:
        for rule in rules_of(tree)[0]:
            expected[rule] += p / total
    scores = {as_brackets(tree): math.prod(min(expected[rule], 1.0) for rule in rules_of(tree)[0]) for _, tree in trees}
    found = ChartParser(grammar).parse(sentence, Decoding("mbr", 20, 0.0))
    labels = list(grammar.bases)
    named = {as_brackets(relabelled(tree, labels)): scores[as_brackets(tree)] for _, tree in trees}
    wanted = sorted(scores.values(), reverse=True)[: len(found)]
    np.testing.assert_allclose([named[str(tree)] for tree, _ in found], wanted, 1e-6)
    assert len(found) == min(20, len(scores))


@settings(max_examples=20)
@given(SEEDS, SENTENCES.filter(lambda sentence: len(sentence) < 3))
def test_k_best_goes_around_cycles_of_unary_rules(seed, sentence):
    """There are infinitely many trees: the best are those that long enough chains have, in order, none twice."""
    grammar = random_grammar(seed, symbols=3, cyclic=True)
    found = ChartParser(grammar).parse(sentence, Decoding("viterbi", 6, 0.0))
    wanted = sorted(all_trees(grammar, sentence, chain=7).values(), reverse=True)[:6]
    if wanted:
        np.testing.assert_allclose([math.exp(logp) for _, logp in found[: len(wanted)]], wanted, 1e-9)
    assert len({str(tree) for tree, _ in found}) == len(found)


@settings(max_examples=20)
@given(SEEDS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(tuple))
def test_annotated_symbols_are_projected_too(seed, sentence):
    """Symbols that are bases of their own, X^0 and X^1, have one coarse symbol; trees lose the marks and are summed."""
    split = random_grammar(seed, symbols=3, states=2)
    own = np.arange(split.size, dtype=np.int32)
    annotated = replace(split, bases=split.symbols, base=own)
    parser = ChartParser(annotated)
    assert parser.coarse.bases == split.bases
    names = {str(tree): p for tree, p in parser.parse(sentence, Decoding("mbr", 400, 0.0))}
    wanted = all_trees(split, sentence)
    if len(sentence) < 3:
        assert names.keys() == wanted.keys()
        for tree, logp in names.items():
            assert math.exp(logp) == pytest.approx(wanted[tree], rel=1e-9)
    assert names.keys() <= wanted.keys()


def test_more_of_the_best_change_nothing_above_them():
    grammar = random_grammar(7, symbols=4, states=2)
    parser = ChartParser(grammar)
    sentence = ("a", "b", "a", "c", "b", "a", "a")
    for criterion in ("mbr", "viterbi"):
        many = parser.parse(sentence, Decoding(criterion, 500, 0.0))
        assert len(many) == 500
        for k in (1, 2, 50):
            assert parser.parse(sentence, Decoding(criterion, k, 0.0)) == many[:k]


def test_pruning_falls_back_and_agrees_where_it_matters():
    """A threshold that leaves nothing of a sentence is lowered; a small one gives the best tree of no pruning."""
    sentences = [sentence for n in (3, 6) for sentence in itertools.islice(itertools.product(WORDS, repeat=n), 10, 20)]
    same = 0
    for seed in range(5):
        parser = ChartParser(random_grammar(seed, symbols=4, states=2))
        for sentence in sentences:
            exact = parser.parse(sentence, Decoding("mbr", 1, 0.0))
            assert bool(parser.parse(sentence, Decoding("mbr", 1, 0.9))) == bool(exact)
            same += parser.parse(sentence, Decoding("mbr", 1, 1e-6)) == exact
    assert same >= 98


def test_the_order_of_sentences_does_not_matter():
    parser = ChartParser(random_grammar(3, states=2))
    sentences = [sentence for n in (1, 2, 3) for sentence in itertools.product(WORDS, repeat=n)]
    alone = [parser.parse(sentence) for sentence in sentences]
    assert parser.parse_all(sentences[::-1])[::-1] == alone
    assert parser.parse(()) == []
    assert naive_pcfg.spans(("X", ("T", "a"), ("T", "b")))[0] == [("X", 0, 2), ("T", 0, 1), ("T", 1, 2)]
