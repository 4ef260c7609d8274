"""Parsing with vectors against every tree of small models, the paper's equations span by span, and the plain PCFG."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rerank_plugins.constituency.parsing import ChartParser, Decoding
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.charts.spans import cell_number
from rerank_plugins.svs import vector_chart
from rerank_plugins.svs.parsing import SvsParser, coarse_grammar
from rerank_plugins.svs.symbol_filter import kept_categories
from rerank_plugins.svs.vector_tree import VectorTree
from tests.constituency.naive_pcfg import derivations
from tests.constituency.pcfg_sentences import inside, spans
from tests.svs.naive_svs_parsing import (
    WORDS,
    all_trees,
    best_by_prior,
    expanded,
    language,
    log,
    max_rule,
    random_model,
    unexpanded,
)
from tests.svs.svs_restoring import treebank_tree

SEEDS = st.integers(0, 10**6)
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(tuple)
CONCEPTS = st.integers(1, 3)


def as_tuple(tree, model):
    """A VectorTree as the twins write trees."""
    symbol = model.symbols.index(tree.label)
    return (symbol, *(as_tuple(child, model) for child in tree.children)) if tree.children else (symbol, tree.word)


@settings(max_examples=30)
@given(SEEDS, SENTENCES, CONCEPTS)
def test_the_probability_of_a_sentence_is_the_sum_over_all_trees(seed, sentence, concepts):
    model = random_model(seed, concepts)
    np.testing.assert_allclose(model.totals()[[0, 1]], 1)
    wanted = log(sum(float(model.root @ e) for e, _ in all_trees(model, sentence)))
    found = SvsParser(model).log_probability(sentence)
    assert found == pytest.approx(wanted, rel=1e-10)
    assert inside(expanded(model), sentence) == pytest.approx(found, rel=1e-10)


@settings(max_examples=40)
@given(SEEDS, SENTENCES, CONCEPTS)
def test_the_tree_is_that_of_equation_8(seed, sentence, concepts):
    model = random_model(seed, concepts)
    wanted = best_by_prior(model, sentence)
    found = SvsParser(model, threshold=0.0).parse(sentence)
    assert (found is None) == (wanted is None)
    if found is None or wanted is None:
        return
    worth, e, tree = wanted
    assert sorted(str(as_tuple(found, model))) == sorted(str(tree))  # several may be equally good, in another order
    assert found.log_probability == pytest.approx(math.log(worth), rel=1e-10)
    np.testing.assert_allclose(found.vector * math.exp(found.log_scale), e, rtol=1e-10)


@settings(max_examples=25)
@given(SEEDS, SENTENCES, CONCEPTS)
def test_every_node_has_the_vector_of_its_children(seed, sentence, concepts):
    """Eq. 4 from the node's children, whose spans are those of its words."""
    model = random_model(seed, concepts)
    tree = SvsParser(model, threshold=0.0).parse(sentence)
    rows = {tuple(rule): p for table in ((model.binary, model.binary_p), (model.unary, model.unary_p))
            for rule, p in zip(table[0].tolist(), table[1], strict=True)}  # fmt: skip
    for node in tree.nodes() if tree else ():
        symbol = model.symbols.index(node.label)
        assert node.vector.sum() == pytest.approx(1)
        begin, end = node.span
        if not node.children:
            assert (node.word, end) == (sentence[begin], begin + 1)
            continue
        assert [child.span[0] for child in node.children] + [end] == [begin] + [
            child.span[1] for child in node.children
        ]
        below = [model.symbols.index(child.label) for child in node.children]
        e = rows[symbol, *below].copy()
        for child, number in zip(node.children, below, strict=True):
            e *= model.transfer[model.relation[number]] @ (child.vector * math.exp(child.log_scale))
        np.testing.assert_allclose(node.vector * math.exp(node.log_scale), e, rtol=1e-10)


@settings(max_examples=30)
@given(SEEDS, CONCEPTS)
def test_a_finite_language_sums_to_one(seed, concepts):
    model = random_model(seed, concepts, phrases=1, tags=3, finite=True)
    strings = language(model)
    assert sum(strings.values()) == pytest.approx(1)
    parser = SvsParser(model)
    found = [math.exp(parser.log_probability(string)) for string in strings]
    np.testing.assert_allclose(found, list(strings.values()), rtol=1e-9)


@settings(max_examples=30)
@given(SEEDS, SENTENCES)
def test_one_concept_is_the_plain_grammar(seed, sentence):
    """Viterbi tree and inside probability are those of the PCFG with the same rules."""
    model = random_model(seed, concepts=1)
    grammar = unexpanded(model)
    parser = SvsParser(model, threshold=0.0)
    assert parser.log_probability(sentence) == pytest.approx(inside(grammar, sentence), rel=1e-13)
    found, wanted = parser.parse(sentence), ChartParser(grammar).parse(sentence, Decoding("viterbi", 1, 0.0))
    assert bool(found) == bool(wanted)
    if found:
        assert found.log_probability == pytest.approx(wanted[0].log_probability, rel=1e-13)
        trees = {tree: p for p, tree in derivations(grammar, sentence)}
        assert trees[as_tuple(found, model)] == pytest.approx(max(trees.values()), rel=1e-12)


@settings(max_examples=30)
@given(SEEDS, SENTENCES, CONCEPTS)
def test_the_coarse_grammar_expects_what_the_model_does(seed, sentence, concepts):
    """It is proper, and with a category for each symbol and one concept it is the model itself."""
    model = random_model(seed, concepts)
    coarse, group = coarse_grammar(model)
    assert coarse.symbols[0] == "ROOT"
    assert [coarse.symbols[each] for each in group[1:4]] == ["X1", "X2", "@X3"]
    np.testing.assert_allclose(coarse.totals(), 1)
    if concepts == 1:
        assert inside(coarse, sentence) == pytest.approx(SvsParser(model).log_probability(sentence), rel=1e-12)


@settings(max_examples=30)
@given(SEEDS, SENTENCES, CONCEPTS)
@example(66, ["a", "a", "b", "a"], 1)  # a tag has probability 0, and so have all symbols over the first two words
def test_max_rule_trees(seed, sentence, concepts):
    """The categories over spans are those of the tree with the greatest product of expected rules, from all trees."""
    model = random_model(seed, concepts, split=True)
    parser = SvsParser(model, threshold=0.0, decoder="mbr")
    group = parser.group
    assert group[1] == group[2] != group[3]
    products = max_rule(model, sentence, group)
    found = parser.parse(sentence)
    assert bool(products) == (found is not None)
    if found is None:
        return
    words = parser.model.lexicon.ids(sentence)
    kept = parser._most_expected(words, np.ones((len(spans(len(words))), len(parser.coarse.symbols)), np.bool_))
    categories = {(int(category), *map(int, spans(len(sentence))[cell])) for cell, category in np.argwhere(kept)}
    assert categories in [tree for product, tree in products if product > products[0][0] * (1 - 1e-9)]
    if parser._pruned(words, kept):  # otherwise no tree of the model has all these rules together
        assert {(int(group[model.symbols.index(node.label)]), *node.span) for node in found.nodes()} <= categories


def shape(tree):
    return tree and [(node.label, node.span) for node in tree.nodes()]


def test_pruning_falls_back_and_agrees_where_it_matters():
    """A threshold that leaves nothing of a sentence is lowered; a small one gives the tree of no pruning."""
    sentences = [sentence for n in (3, 6) for sentence in itertools.islice(itertools.product(WORDS, repeat=n), 10, 20)]
    same = 0
    for seed in range(5):
        model = random_model(seed)
        exact, small, large = (SvsParser(model, threshold) for threshold in (0.0, 1e-7, 0.9))
        for sentence in sentences:
            wanted, found = exact.parse(sentence), small.parse(sentence)
            same += shape(wanted) == shape(found)
            assert (large.parse(sentence) is None) == (wanted is None)
    assert same >= 98


@settings(max_examples=30)
@given(SEEDS, SENTENCES, CONCEPTS)
def test_a_pruned_chart_of_all_categories_has_the_vectors_of_the_exact_chart(seed, sentence, concepts):
    """Over the symbols that can be in a tree, among them all that are in one, against all symbols, in both semirings."""
    model = random_model(seed, concepts, split=True)
    exact, pruned = SvsParser(model, threshold=0.0), SvsParser(model, threshold=0.0)
    words = model.lexicon.ids(sentence)
    kept = np.ones((len(spans(len(words))), len(exact.coarse.symbols)), np.bool_)
    categories = kept_categories(pruned.rules, pruned._sets, len(words), kept)
    for whole, part in ((exact.chart, pruned.chart), (exact.sums, pruned.sums)):
        whole.fill(words)
        part.fill(words, categories)
        assert (part.top >= 0) == (whole.top >= 0)
        if part.top < 0:
            continue
        vectors = [
            {
                (int(chart.heap.symbol[item]), cell): chart.heap.vector[item] * 2.0 ** -int(chart.heap.power[number])
                for cell, numbers in enumerate(zip(part.cells.tolist(), whole.cells.tolist(), strict=True))
                for number in numbers[place : place + 1]
                for item in range(chart.heap.begin[number], chart.heap.end[number])
            }
            for place, chart in enumerate((part, whole))
        ]
        for key, vector in vectors[0].items():
            np.testing.assert_allclose(vector, vectors[1][key], rtol=1e-10)
        in_trees = {
            (label, cell_number(*span, len(words)))
            for _, tree in all_trees(model, sentence)
            for label, span in labelled_spans(tree)
        }
        assert in_trees <= vectors[0].keys()


def labelled_spans(tree, begin=0):
    """(symbol, (begin, end)) of the nodes of a tree as the twins write it."""
    if isinstance(tree[1], str):
        return [(tree[0], (begin, begin + 1))]
    nodes, end = [], begin
    for child in tree[1:]:
        nodes += labelled_spans(child, end)
        end = nodes[-1][1][1]
    return [*nodes, (tree[0], (begin, end))]


def test_sentences_share_cells_over_the_same_words():
    model = random_model(5, concepts=3)
    sentences = [("a", "b", "c", "a"), ("b", "c", "a", "a", "b"), ("a", "b", "c", "a"), (), ("a", "b", "c", "a", "b")]
    parser = SvsParser(model, threshold=0.0)
    together = parser.parse_all(sentences)
    spans = {sentence[i:j] for sentence in sentences for j in range(len(sentence) + 1) for i in range(j)}
    assert parser.chart.requested - parser.chart.shared == len(spans)
    assert together[3] is None
    assert together[0] is together[2]
    for sentence, tree in zip(sentences, together, strict=True):
        alone = SvsParser(model, threshold=0.0).parse(sentence)
        assert (alone is None) == (tree is None)
        if alone and tree:
            assert alone.log_probability == pytest.approx(tree.log_probability, rel=1e-12)
            assert shape(alone) == shape(tree)


def test_a_heap_that_is_full_starts_anew(monkeypatch):
    model = random_model(5)
    parser = SvsParser(model, threshold=0.0)
    first = parser.log_probability(("a", "b", "c"))
    monkeypatch.setattr(vector_chart, "MEMORY", 0)
    assert parser.log_probability(("a", "b", "c")) == first
    assert parser.sums.shared == 0


def counting(concepts):
    """X → X X | T T with p and 1 - p, T → a: a^2n has C(n-1) trees of equal probability, concept by concept."""
    model = random_model(0, concepts, phrases=1, tags=1)
    p = np.linspace(0.2, 0.4, concepts)
    return replace(
        model,
        binary=np.array([[1, 1, 1], [1, 2, 2]], np.int32),
        binary_p=np.stack([p, 1 - p]),
        unary=np.array([[0, 1]], np.int32),
        unary_p=np.ones((1, concepts)),
        between=("",),
        transfer=np.tile(np.eye(concepts), (4, 1, 1)),
    )


def test_long_sentences_do_not_underflow():
    """1e-30 for each word: 200 words are 1e-6000. Where L is the identity each concept is a grammar of its own."""
    model = counting(3)
    lexicon = replace(model.lexicon, p=model.lexicon.p * 0 + 1e-30)
    words = ("a",) * 200
    parser = SvsParser(replace(model, lexicon=lexicon))
    by_concept = [99 * math.log(p) + 100 * math.log(1 - p) + 200 * math.log(1e-30) for p in model.binary_p[0]]
    one = np.logaddexp.reduce(np.log(model.root) + by_concept)
    trees = math.comb(198, 99) // 100
    assert parser.log_probability(words) == pytest.approx(one + math.log(trees), rel=1e-12)
    tree = parser.parse(words)
    assert tree is not None
    assert tree.log_probability == pytest.approx(one, rel=1e-12)
    assert len(list(tree.nodes())) == 1 + 199 + 200
    assert len(tree.tree().words()) == 200


def test_unknown_words_are_read_as_signatures():
    model = random_model(2)
    parser = SvsParser(model, threshold=0.0)
    assert "zzz" not in model.lexicon
    assert parser.log_probability(("zzz", "a")) == parser.log_probability(("UNK", "a"))
    found, known = parser.parse(("zzz", "a")), parser.parse(("UNK", "a"))
    assert found is not None
    assert known is not None
    assert found.tree().words() == ("zzz", "a")
    assert found.log_probability == known.log_probability


def test_a_word_whose_concepts_its_tag_never_has():
    """Its worth in context is 0 at the preterminal, where there is nothing to choose; the tree is as good as others."""
    model = counting(2)
    prior = model.prior.copy()
    prior[2] = [0.0, 0.5]
    p = np.where(np.arange(2) == 0, model.lexicon.p, 0.0)
    tree = SvsParser(replace(model, prior=prior, lexicon=replace(model.lexicon, p=p)), 0.0).parse(("a", "a"))
    assert tree is not None
    assert [node.log_probability for node in tree.nodes() if node.word] == [-math.inf] * 2
    assert math.isfinite(tree.log_probability)


def test_sentences_without_words_or_without_a_tree():
    model = counting(2)
    parser = SvsParser(replace(model, binary=np.zeros((0, 3), np.int32), binary_p=np.zeros((0, 2))))
    assert parser.parse(()) is None
    assert parser.log_probability(()) == -math.inf
    assert parser.parse(("a", "a")) is None
    assert parser.log_probability(("a", "a")) == -math.inf
    assert SvsParser(model).parse(("a", "a")) is not None


def leaf(phrases, word, children=()):
    return VectorTree("", phrases, (0, 1), tuple(children), word, np.ones(1), 0.0, 0.0)


def test_the_tree_in_the_treebanks_form():
    """Intermediate nodes give their children to the phrase above, a node of a chain is all its phrases."""
    inner = leaf((), "", [leaf(("JJ",), "old"), leaf(("NN",), "dog")])
    phrase = leaf(("NP",), "", [leaf(("DT",), "the"), inner])
    whole = leaf(("ROOT", "S", "FRAG"), "", [phrase])
    assert str(whole.tree()) == "(ROOT (S (FRAG (NP (DT the) (JJ old) (NN dog)))))"
    assert str(inner.tree()) == "(X (JJ old) (NN dog))"


@settings(max_examples=25)
@given(SEEDS, SENTENCES)
def test_the_same_tree_is_restored_as_from_symbols(seed, sentence):
    model = random_model(seed)
    found = SvsParser(model, threshold=0.0).parse(sentence)
    if found is None:
        return
    symbols = [
        Tree(node.label, (node.word,)) if not node.children else (node.label, len(node.children))
        for node in reversed(list(found.nodes()))
    ]
    made: list[Tree] = []
    for each in symbols:
        if isinstance(each, Tree):
            made.append(each)
        else:
            label, number = each
            made.append(Tree(label, tuple(made.pop() for _ in range(number))))
    assert treebank_tree(made[0], model) == found.tree()
