"""Inside, outside and prefix probabilities against every tree and every string of small grammars."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins import ModelError
from rerank_plugins.constituency.grammar import Grammar, expected_counts, finite_mass
from rerank_plugins.constituency.prefix import PrefixChart
from rerank_plugins.kit.charts import inside as inside_chart
from rerank_plugins.kit.charts.closure import closed
from rerank_plugins.kit.charts.inside import Chart
from rerank_plugins.kit.charts.rules import compile_rules
from tests.constituency.naive_pcfg import WORDS, derivations, language, lexicon_from, random_grammar
from tests.constituency.pcfg_sentences import inside, inside_all, prefix_probabilities

SEEDS = st.integers(0, 10**6)
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(tuple)


def log(p):
    return math.log(p) if p > 0 else -math.inf


@settings(max_examples=30)
@given(SEEDS, SENTENCES, st.integers(1, 2), st.booleans())
def test_inside_is_the_sum_over_all_trees(seed, sentence, states, emitting):
    grammar = random_grammar(seed, symbols=4, states=states, emitting=emitting)
    wanted = log(sum(p for p, _ in derivations(grammar, sentence)))
    assert inside(grammar, sentence) == pytest.approx(wanted, rel=1e-10)


@settings(max_examples=20)
@given(SEEDS, SENTENCES.filter(lambda sentence: len(sentence) < 4))
def test_unary_cycles_are_summed_to_infinity(seed, sentence):
    """With longer and longer chains the sum over trees rises to the inside probability, and no further."""
    grammar = random_grammar(seed, symbols=3, cyclic=True)
    sums = [sum(p for p, _ in derivations(grammar, sentence, chain)) for chain in (1, 2, 4)]
    whole = math.exp(inside(grammar, sentence))
    assert sums[0] <= sums[1] * (1 + 1e-12) <= sums[2] * (1 + 1e-12)
    assert sums[2] <= whole * (1 + 1e-9)
    if sums[1] > sums[0] > 0:
        assert whole - sums[2] <= whole - sums[1]


def test_a_cycle_by_hand():
    """a → b 1/2, b → a 1/2: from a to a in 0, 2, 4 … steps: 1 + 1/4 + 1/16 … = 4/3."""
    pairs = np.array([[0, 1], [1, 0]], np.int32)
    np.testing.assert_allclose(closed(pairs, np.array([0.5, 0.5]), 3)[:2, :2], [[4 / 3, 2 / 3], [2 / 3, 4 / 3]])
    with pytest.raises(ModelError, match="cycle of probability one"):
        closed(pairs, np.array([1.0, 1.0]), 2)


@settings(max_examples=25)
@given(SEEDS, st.integers(1, 2))
def test_a_finite_language_sums_to_one_and_prefixes_are_its_strings(seed, states):
    grammar = random_grammar(seed, symbols=3, finite=True, states=states)
    strings = language(grammar)
    assert sum(strings.values()) == pytest.approx(1, abs=1e-9)
    for sentence, p in sorted(strings.items())[:20]:
        assert inside(grammar, sentence) == pytest.approx(math.log(p), rel=1e-9)
        prefixes = prefix_probabilities(grammar, sentence)
        for length, found in enumerate(prefixes):
            wanted = sum(q for string, q in strings.items() if string[:length] == sentence[:length])
            assert math.exp(found) == pytest.approx(wanted, rel=1e-9)


@settings(max_examples=25)
@given(SEEDS, SENTENCES, st.booleans(), st.booleans())
def test_a_prefix_goes_on_with_a_word_or_ends(seed, sentence, cyclic, emitting):
    """P(w_1 … w_j …) = p(w_1 … w_j) + Σ_v P(w_1 … w_j v …), in grammars with infinitely many strings, consistent or not."""
    grammar = random_grammar(seed, symbols=4, cyclic=cyclic, emitting=emitting)
    here = math.exp(prefix_probabilities(grammar, sentence)[-1])
    longer = sum(math.exp(prefix_probabilities(grammar, (*sentence, word))[-1]) for word in grammar.lexicon.words)
    assert math.exp(inside(grammar, sentence)) + longer == pytest.approx(here, rel=1e-8, abs=1e-300)
    start = math.exp(prefix_probabilities(grammar, ())[0])
    first = sum(math.exp(prefix_probabilities(grammar, (word,))[-1]) for word in grammar.lexicon.words)
    assert start == pytest.approx(first, rel=1e-8)


def explosive(p):
    """S → S S with probability p, S → T with 1 - p, T → a."""
    names = ("ROOT", "S", "T")
    binary, unary = np.array([[1, 1, 1]], np.int32), np.array([[0, 1], [1, 2]], np.int32)
    lexicon = lexicon_from({("a", 2): 1.0})
    base = np.arange(3, dtype=np.int32)
    return Grammar(names, names, base, binary, np.log([p]), unary, np.log([1.0, 1 - p]), lexicon)


def test_mass_of_finite_trees():
    """S → S S with p > 1/2 gives finite trees with probability (1 - p) / p (Booth & Thompson 1973)."""
    np.testing.assert_allclose(finite_mass(explosive(0.75)), [1 / 3, 1 / 3, 1], rtol=1e-9)
    np.testing.assert_allclose(finite_mass(explosive(0.4)), [1, 1, 1], rtol=1e-9)
    np.testing.assert_allclose(expected_counts(explosive(0.25)), [1, 2, 1.5], rtol=1e-9)


def test_a_symbol_that_always_contains_itself_is_an_error():
    """S → S T with probability one: Newton's method has no next step once T has its mass."""
    grammar = replace(explosive(0.5), binary=np.array([[1, 1, 2]], np.int32), binary_logp=np.zeros(1))
    grammar = replace(grammar, unary_logp=np.array([0.0, -np.inf]))
    with pytest.raises(ModelError, match="never derive a finite string"):
        finite_mass(grammar)


def test_catalan_numbers():
    """S → S S | a: a^n has C(n-1) trees, each of p^(n-1) (1-p)^n; also where n is large enough for scaling to matter."""
    grammar, p = explosive(0.3), 0.3
    for n in (1, 2, 5, 150):
        trees = math.comb(2 * n - 2, n - 1) // n
        wanted = math.log(trees) + (n - 1) * math.log(p) + n * math.log(1 - p)
        assert inside(grammar, ["a"] * n) == pytest.approx(wanted, rel=1e-9)


def test_scaling_reaches_what_no_float_does():
    """A rule of probability 1e-30 per word: 200 words are 1e-6000."""
    grammar = explosive(0.3)
    rare = replace(grammar, binary_logp=np.log([1e-30]), unary_logp=np.log([1.0, 1 - 1e-30]))
    wanted = math.log(math.comb(398, 199) // 200) + 199 * math.log(1e-30) + 200 * math.log(1 - 1e-30)
    assert inside(rare, ["a"] * 200) == pytest.approx(wanted, rel=1e-9)
    two = replace(rare, lexicon=lexicon_from({("a", 2): 0.9, ("b", 2): 0.1}))
    sentences = [["a"] * 60 + [word] + ["a"] * 60 for word in "aba"]
    np.testing.assert_allclose(inside_all(two, sentences), [inside(two, sentence) for sentence in sentences], 1e-12)
    # S → S T and S → T S, over words of which few spans are alike: the values of tags are scaled anew, too.
    words = np.random.default_rng(1).choice(["a", "b"], 100).tolist()
    wanted = 99 * math.log(1e-30) + sum(math.log(0.9 if word == "a" else 0.1) for word in words)
    for children in ([1, 2], [2, 1]):
        linear = replace(two, binary=np.array([[1, *children]], np.int32))
        assert inside(linear, words) == pytest.approx(wanted, rel=1e-9)


@settings(max_examples=30)
@given(SEEDS, st.lists(SENTENCES, min_size=1, max_size=6))
def test_shared_cells_change_nothing(seed, sentences):
    grammar = random_grammar(seed)
    alone = [inside(grammar, sentence) for sentence in sentences]
    np.testing.assert_array_equal(inside_all(grammar, sentences), alone)
    chart, prefixes = Chart(compile_rules(grammar.rules)), PrefixChart(grammar)
    for sentence, wanted in zip(sentences, alone, strict=True):
        ids = grammar.lexicon.ids(sentence)
        chart.fill(ids)
        assert chart.log_probability() == wanted
        np.testing.assert_array_equal(prefixes.log_probabilities(ids)[:-1], prefix_probabilities(grammar, sentence))


def test_how_many_cells_are_shared():
    grammar = random_grammar(1)
    chart = Chart(compile_rules(grammar.rules))
    for sentence in sorted(itertools.product("ab", repeat=4)):
        chart.fill(grammar.lexicon.ids(sentence))
    assert chart.cells == 16 * 10
    # a cell is filled once for each sequence of words, wherever it stands
    assert chart.cells - chart.shared == 2 + 4 + 8 + 16


@pytest.mark.parametrize("most", [4, 64])
def test_a_full_memory_of_cells_changes_nothing(most, monkeypatch):
    """It is emptied in the middle of the sentences, and some cells of a sentence find no room in it."""
    monkeypatch.setattr(inside_chart, "MIN_CELLS", most)
    monkeypatch.setattr(inside_chart, "MAX_BYTES", 0)
    two = replace(explosive(0.3), lexicon=lexicon_from({("a", 2): 0.9, ("b", 2): 0.1}))
    rare = replace(two, binary_logp=np.log([1e-30]), unary_logp=np.log([1.0, 1 - 1e-30]))
    sentences = [["a"] * i + ["b"] + ["a"] * (30 - i) for i in (0, 29, 15, 3, 15, 0, 7)]
    for grammar in (two, rare):  # the second one needs other scales in each column
        chart = Chart(compile_rules(grammar.rules))
        for sentence in sentences:
            chart.fill(grammar.lexicon.ids(sentence))
            assert chart.log_probability() == pytest.approx(inside(grammar, sentence), rel=1e-14)
        assert chart.shared > 0


def test_an_empty_sentence_has_no_tree():
    grammar = random_grammar(1)
    assert inside(grammar, ()) == -math.inf
    np.testing.assert_array_equal(prefix_probabilities(grammar, ()), [0.0])
