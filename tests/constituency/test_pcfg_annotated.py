"""Annotated grammars in the parser: annotations are states of plain categories, and gone from the trees, exactly."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins.constituency.annotation import plain
from rerank_plugins.constituency.model_file import EMBEDDED, read_grammar
from rerank_plugins.constituency.parsing import ChartParser, Decoding, coarse_name, likely, plain_bases
from rerank_plugins.constituency.split_merge import Schedule
from rerank_plugins.constituency.training import GrammarSettings, train_grammar
from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.kit.charts.closure import closed, closure_of
from rerank_plugins.kit.charts.items import items_of
from rerank_plugins.kit.charts.pruned_chart import PrunedChart
from rerank_plugins.kit.charts.spans import cell_number
from tests.constituency.naive_pcfg import WORDS, as_brackets, derivations, random_grammar, relabelled, rules_of
from tests.constituency.pcfg_sentences import inside, spans

BANK = """
(ROOT (S (NP (DT the) (JJ old) (NN dog)) (VP (VBZ sees) (NP (DT the) (NN cat)) (PP (IN in) (NP (DT the) (NN park))))))
(ROOT (S (NP (NP (DT the) (NN dog)) (PP (IN in) (NP (DT the) (NN park)))) (VP (VBZ sees) (NP (DT the) (NN cat)))))
(ROOT (S (NP (PRP it)) (VP (VBZ sees) (NP (NP (DT the) (NN cat)) (PP (IN in) (NP (DT the) (NN park)))))))
(ROOT (S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT the) (JJ old) (NN park) (NN dog)))))
(ROOT (NP (NP (DT the) (NN dog)) (PP (IN in) (NP (DT the) (NN park) (NN cat)))))
(ROOT (S (NP (PRP it)) (VP (VBZ sees) (S (VP (VBZ sees))))))
(ROOT (FRAG (NP (PRP it)) (PP (IN in) (NP (NN dog)))))
""".strip().splitlines()
SENTENCES = [
    "it sees the cat in the park",
    "the old dog sees it in the park",
    "it sees the dog cat",
    "the cat in it sees",
]


def klein_manning(direction, vertical):
    annotated = GrammarSettings("en", direction, 1, vertical, ("klein-manning",), Schedule(rounds=0))
    return train_grammar([list(read_trees(BANK))], [1.0], annotated)


@pytest.mark.parametrize(
    ("base", "name"),
    [
        ("NP", "NP"),
        ("NP-B^S-V", "NP"),
        ("@NP", "@NP"),
        ("@NP^S:NN|JJ", "@NP"),
        ("@VP-VBF^S|NP_PP", "@VP"),
        ("@X::|:", "@X"),
        (":", ":"),
        ("-LRB-", "-LRB-"),
        ("PRP$-NP", "PRP$"),
        ("ROOT", "ROOT"),
    ],
)
def test_plain_categories(base, name):
    assert coarse_name(base) == name


@pytest.mark.parametrize("direction", ["right", "head"])
@pytest.mark.parametrize("vertical", [1, 2])
@pytest.mark.parametrize("text", SENTENCES)
def test_trees_of_an_annotated_grammar_against_all_derivations(direction, vertical, text):
    """Each tree once and without marks, ln p summed over its annotations and its ways of binarisation."""
    grammar, sentence = klein_manning(direction, vertical), tuple(text.split())
    assert len({coarse_name(name) for name in grammar.bases}) < len(grammar.bases) == grammar.size
    wanted = Counter()
    for p, derivation in derivations(grammar, sentence):
        tree = next(read_trees([as_brackets(relabelled(derivation, grammar.symbols))]))
        wanted[str(plain(tree))] += p
    assert len(wanted) > 1
    parser = ChartParser(grammar)
    assert len(parser.blocks.states) == len({coarse_name(name) for name in grammar.bases})
    for criterion in ("mbr", "viterbi"):
        found = parser.parse(sentence, Decoding(criterion, 2000, 0.0))
        assert Counter({str(tree): math.exp(logp) for tree, logp in found}) == pytest.approx(wanted, rel=1e-9)
        assert len(found) == len(wanted)
        assert [len(parser.parse(sentence, Decoding(criterion, k, 0.0))) for k in (1, 2)] == [1, 2]
    assert np.logaddexp.reduce([logp for _, logp in found]) == pytest.approx(inside(grammar, sentence), rel=1e-9)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(tuple))
def test_likely_symbols_are_those_of_all_trees(seed, sentence):
    grammar = random_grammar(seed, symbols=3, states=2)
    parser, words, threshold = ChartParser(grammar), grammar.lexicon.ids(sentence), 0.1
    trees = derivations(grammar, sentence)
    expected = Counter()
    for p, tree in trees:
        for label, _, begin, _, end in rules_of(tree)[0]:
            expected[cell_number(begin, end, len(sentence)), label] += p
    total = sum(p for p, _ in trees)
    parser.chart.fill(words)
    everything = np.ones((len(spans(len(words))), len(grammar.bases)))
    chart = PrunedChart(parser.blocks, items_of(everything, 0.0, parser.blocks), words, parser.chart.scales[1:])
    if not trees:
        assert chart.total == 0
        return
    chart.posteriors()
    for least in (threshold, 0.0):
        cells, symbols = likely(chart, least)
        found = list(zip(cells.tolist(), symbols.tolist(), strict=True))
        wanted = {key for key, p in expected.items() if p / total > least}
        assert found == sorted(found)
        assert set(found) == wanted if least else set(found) >= wanted


@pytest.mark.slow
@pytest.mark.skipif(not EMBEDDED.is_file(), reason="no embedded grammar")
def test_names_of_states_do_not_matter():
    """The embedded grammar with every state its own base, "NP^3": the same trees, by the same blocks."""
    latent = read_grammar(EMBEDDED)
    annotated = replace(latent, bases=latent.symbols, base=np.arange(latent.size, dtype=np.int32))
    assert plain_bases(annotated).bases == plain_bases(latent).bases
    tokens = "The/DT old/JJ man/NN saw/VBD the/DT dog/NN with/IN a/DT telescope/NN ,/, and/CC it/PRP barked/VBD ./."
    sentence, tags = zip(*(token.split("/") for token in tokens.split(" ")), strict=True)
    one, other = ChartParser(latent), ChartParser(annotated)
    one.labels = other.labels = None  # pruned by category alone, which states do not change
    for decoding in (Decoding(), Decoding("viterbi", 3), Decoding("mbr", 20)):
        assert one.parse(sentence, decoding) == other.parse(sentence, decoding)
        assert one.parse_tagged(sentence, tags, decoding) == other.parse_tagged(sentence, tags, decoding)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_a_closure_is_the_inverse_without_zeros(seed, size):
    """R = (I − U)^-1, symbols without unary rules among them."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, size, (rng.integers(0, 8), 2)).astype(np.int32)
    p = rng.random(len(pairs)) * 0.9 / np.maximum(np.bincount(pairs[:, 0], minlength=size)[pairs[:, 0]], 1)
    matrix = np.zeros((size, size))
    np.add.at(matrix, (pairs[:, 0], pairs[:, 1]), p)
    np.testing.assert_allclose(closed(pairs, p, size), np.linalg.inv(np.eye(size) - matrix), 1e-9, 1e-12)
    entries = closure_of(pairs, p, size)
    assert (entries.p > 0).all()
    assert len(set(zip(entries.above.tolist(), entries.below.tolist(), strict=True))) == len(entries.p)
