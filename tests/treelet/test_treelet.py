"""The treelet language model: against the slow twin, sums to one, sampling, files."""

import itertools
import math
import pickle
from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins import ConfigError, ModelError
from rerank_plugins.core.constituency_tree import Tree, read_trees
from rerank_plugins.kit.backoff.scoring import matched_lengths, score_events
from rerank_plugins.kit.vocabulary import signatures
from rerank_plugins.kit.vocabulary.signatures import UnknownWords
from rerank_plugins.kit.vocabulary.word_ids import Numbering
from rerank_plugins.treelet.closed_vocabulary import ClosedVocabulary
from rerank_plugins.treelet.corpus import close_numbered
from rerank_plugins.treelet.events import rule_events, word_events
from rerank_plugins.treelet.model import ORDERS, Settings, read_model, write_model
from rerank_plugins.treelet.rule_numbers import rules_of
from rerank_plugins.treelet.sampling import TreeletSampler
from rerank_plugins.treelet.training import collect, train
from rerank_plugins.treelet.tree_arrays import EDGE, UNKNOWN_TAG
from tests.model_files import check_damage_is_seen, content_of, write_content
from tests.random_trees import english_trees
from tests.treelet import naive_treelet
from tests.treelet.naive_transforms import transformed
from tests.treelet.naive_treelet import NaiveTreelet

BANK = """
(ROOT (S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat)))))
(ROOT (S (NP (DT the) (NN cat)) (VP (VBD ran))))
(ROOT (S (NP (PRP it)) (VP (VBD saw) (NP (DT the) (JJ old) (NN dog)) (PP (IN with) (NP (DT a) (NN man))))))
(ROOT (S (NP (DT a) (JJ old) (NN man)) (VP (MD will) (VP (VB see) (NP (PRP it))))))
(ROOT (NP (NP (DT the) (NN man)) (PP (IN with) (NP (DT the) (NN dog)))))
(ROOT (S (NP (PRP it)) (VP (VBD ran))))
(ROOT (UH oh))
(ROOT (S (NP (DT the) (NN man)) (VP (VBD said) (SBAR (IN that) (S (NP (PRP it)) (VP (VBD ran)))))))
(ROOT (S (NP (NNP Zoe)) (VP (VBD saw) (NP (CD 1984)) (NP (NNP Monday)))))
"""
TREES = list(read_trees(BANK.splitlines()))
NEW = list(
    read_trees(
        [
            "(ROOT (S (NP (DT the) (JJ old) (NN cat)) (VP (VBD saw) (NP (DT the) (NN zebra)))))",
            "(ROOT (SQ (MD will) (NP (PRP it)) (VP (VB see)) (. ?)))",
            "(ROOT (NP (NP (DT the) (JJ old) (NN man)) (PP (IN with) (NP (PRP it))) (PP (IN with) (NP (NN cat)))))",
            "(ROOT (NN dog))",
        ]
    )
)


def trained(trees=TREES, **given_settings):
    chosen = Settings(**given_settings)
    return train(collect(trees, chosen), chosen, jobs=1)


@st.composite
def random_trees(draw, words="abcde", phrases="XYZ", tags="TUV", depth=4):
    def node(level):
        if level == 0 or draw(st.booleans()):
            return Tree(draw(st.sampled_from(tags)), (draw(st.sampled_from(words)),))
        children = [node(level - 1) for _ in range(draw(st.integers(1, 3)))]
        return Tree(draw(st.sampled_from(phrases)), tuple(children))

    return Tree("ROOT", (node(depth),))


@pytest.mark.parametrize("variant", ORDERS)
def test_probabilities_agree_with_the_twin(variant):
    model = trained(variant=variant)
    seen = as_seen(variant)
    naive = NaiveTreelet(list(map(seen, TREES)), ORDERS[variant])
    for tree in [*TREES, *NEW]:
        assert model.score_trees([tree])[0] == pytest.approx(naive.ln_p(seen(tree)), abs=1e-4)


def as_seen(variant):
    """What makes of a tree the one that a variant models, by the twin of the transformations."""
    return (lambda tree: tree) if variant == "pcfg" else transformed


@pytest.mark.slow
@pytest.mark.parametrize("variant", ORDERS)
@settings(max_examples=25)
@given(st.lists(random_trees(), min_size=1, max_size=10), random_trees("abcdef", "XYZW", "TUVS"))
def test_random_treebanks_agree_with_the_twin(variant, trees, asked):
    """Trees of the treebank, whose contexts are all known, and a new one, whose contexts must be backed off from."""
    seen = as_seen(variant)
    naive = NaiveTreelet(list(map(seen, trees)), ORDERS[variant])
    model = trained(trees, variant=variant)
    known = {node.label for tree in trees for node in seen(tree).nodes()}
    for tree in [*trees[:3], asked]:
        if {node.label for node in seen(tree).nodes()} <= known:
            assert model.score_trees([tree])[0] == pytest.approx(naive.ln_p(seen(tree)), abs=1e-4)
        assert np.isfinite(model.score_trees([tree])).all()


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(english_trees(4), min_size=2, max_size=8), english_trees(4))
def test_random_english_treebanks_agree_with_the_twin(trees, asked):
    """The whole model over labels that the transformations change, each tree twice so that words have numbers."""
    naive = NaiveTreelet([transformed(tree) for tree in [*trees, *trees]], ORDERS["treelet"])
    model = trained([*trees, *trees])
    known = {node.label for tree in trees for node in transformed(tree).nodes()}
    for tree in [*trees, asked]:
        if {node.label for node in transformed(tree).nodes()} <= known:
            assert model.score_trees([tree])[0] == pytest.approx(naive.ln_p(transformed(tree)), abs=1e-4)


def test_the_trees_of_a_treebank_reach_full_contexts():
    """What the tests above rest on: events of words of order 6 and of rules of order 4 are found as such."""
    model = trained([*TREES, *TREES])
    rules, words = contexts(model, TREES)
    for tables, events, order in ((model.rule_tables, rules, 4), (model.word_tables, words, 6)):
        found = score_events(tables, events)[1]
        assert (matched_lengths(tables, found) == order).sum() > 10


def contexts(model, trees):
    """The events of rules and words of the trees."""
    forest = model.forest(trees)
    phrases, starts, symbols = rules_of(forest)
    rules = model.rules.find(starts, symbols)
    rule_order, word_order = model.settings.orders
    words = word_events(forest, phrases, rules)[1]
    return rule_events(forest, phrases, rules)[:, -rule_order:], words[:, -word_order:]


@pytest.mark.parametrize("variant", ORDERS)
@pytest.mark.parametrize("limits", [{}, {"min_rule_count": 2, "min_count": 2, "prune_words": (0, 0, 1)[:2]}])
def test_words_and_rules_sum_to_one(variant, limits):
    """In contexts of training and of new trees, with unknown labels, words and rules."""
    model = trained(variant=variant, **limits)
    rules, words = contexts(model, [*TREES, *NEW])
    for row in words:
        every = np.repeat(row[None], len(model.vocabulary), 0)
        every[:, -1] = np.arange(len(model.vocabulary))
        assert np.exp(score_events(model.word_tables, every)[0]).sum() == pytest.approx(1, abs=1e-5)
    parents = np.arange(len(model.rules))
    parents[model.rules.unknown :] = model.rules.symbols[model.rules.starts[model.rules.unknown : -1]]
    for row in rules:
        own = np.flatnonzero(parents == row[-2])  # its known rules, and all the others together
        every = np.repeat(row[None], len(own), 0)
        every[:, -1] = own
        assert np.exp(score_events(model.rule_tables, every)[0]).sum() == pytest.approx(1, abs=1e-5)


def yields_up_to(model, longest):
    """All sequences of up to so many symbols, as numbers; EDGE is none."""
    symbols = range(1, len(model.symbols))
    return [each for n in range(longest + 1) for each in itertools.product(symbols, repeat=n)]


def yield_scores(model, parent, yields):
    """(n) ln b(yield | parent) by the lowest order."""
    starts = np.cumsum([0, *(len(each) + 1 for each in yields)])
    return model.yields.score(starts, np.array([symbol for each in yields for symbol in (parent, *each)], np.int32))


def longer_mass(model, parent, longest):
    """What the lowest order has for yields of more than `longest` symbols: P(no STOP so far), 0.9 of it given P."""

    def longer(tables, row):
        order = tables.order
        begun = np.array(list(itertools.product(range(1, len(model.symbols)), repeat=longest + 1)))
        padded = np.full((len(begun), longest + 5), -1)
        padded[:, 3], padded[:, 4:] = EDGE, begun
        ln_p = np.zeros(len(begun))
        for i in range(longest + 1):
            events = np.column_stack([padded[:, i + 1 : i + 4], *row(len(begun)), padded[:, i + 4]])
            ln_p += score_events(tables, events[:, -order:])[0]
        return np.exp(ln_p).sum()

    given_parent = longer(model.yields.given_parent, lambda n: [np.full(n, parent)])
    return 0.9 * given_parent + 0.1 * longer(model.yields.alone, lambda n: [])


def test_the_lowest_order_sums_to_one_over_yields_of_all_lengths():
    """All yields of up to 3 of 12 symbols, and what is left for longer ones."""
    model = trained(TREES[:2], variant="pcfg")
    assert len(model.symbols) < 13
    parent = model.symbols.numbers()[0]["NP"]
    total = np.exp(yield_scores(model, parent, yields_up_to(model, 3))).sum()
    assert total + longer_mass(model, parent, 3) == pytest.approx(1, abs=1e-5)


SMALL = """
(ROOT (NP (DT the) (NN dog)))
(ROOT (NP (DT the) (NN dog)))
(ROOT (NP (DT the) (DT the) (NN dog)))
(ROOT (NP (NN dog) (NP (NN dog))))
"""


@pytest.mark.parametrize("variant", ["pcfg", "treelet-rule"])
@pytest.mark.parametrize("above", ["(ROOT (NP", "(ROOT (NP (NN dog) (NP"])
def test_unknown_rules_share_what_their_phrase_leaves(variant, above, monkeypatch):
    """With rare rules unnumbered, yields known and unknown of one phrase and context still sum to one.

    All yields of up to 4 of 6 symbols are scored in trees; what is left for longer ones, all of them unknown, is their
    part of the lowest order times the ratio of p to that order which the unknown yields have in common.
    """
    monkeypatch.setattr(Settings, "transformed", property(lambda self: False))  # yields as they stand
    model = trained(list(read_trees(SMALL.splitlines())), variant=variant, min_rule_count=2)
    context = next(read_trees([f"{above} (DT the) {')' * above.count('(')}"]))
    yields = yields_up_to(model, 4)

    def child(symbol):
        is_tag = symbol >= model.symbols.first_tag or symbol == UNKNOWN_TAG
        return Tree(model.symbols.label(symbol), ("dog",) if is_tag else ())  # no yields of phrases below are asked for

    forest = model.forest([with_children(context, tuple(map(child, each))) for each in yields])
    node = forest.offsets[:-1] + (1 if above.count("NP") == 1 else 3)  # where the phrase stands in each tree
    p = np.exp(model.score_nodes(forest)[node])
    parent = model.symbols.numbers()[0]["NP"]
    b = np.exp(yield_scores(model, parent, yields))
    phrases, starts, symbols = rules_of(forest)
    numbers = model.rules.find(starts, symbols)[np.searchsorted(phrases, node)]
    unknown = numbers < model.rules.unknown
    ratio = p[unknown] / b[unknown]
    assert 0 < unknown.sum() < len(yields)
    np.testing.assert_allclose(ratio, ratio[0], 1e-5)
    assert p.sum() + ratio[0] * longer_mass(model, parent, 4) == pytest.approx(1, abs=1e-5)


def with_children(tree, children):
    """The tree whose lowest last phrase has these children instead."""
    if all(child.is_preterminal for child in tree.subtrees):
        return Tree(tree.label, children)
    return Tree(tree.label, (*tree.subtrees[:-1], with_children(tree.subtrees[-1], children)))


def test_each_context_is_that_of_figure_1():
    """Words know their right sibling and the rule above; rules the rule above; each loses the farthest first."""
    model = trained(TREES[:1])
    forest = model.forest(TREES[:1])
    phrases, starts, symbols = rules_of(forest)
    rules = model.rules.find(starts, symbols)
    name = model.symbols.label
    words = word_events(forest, phrases, rules)[1]
    by_rule = {int(r): " ".join(map(name, symbols[starts[i] : starts[i + 1]].tolist())) for i, r in enumerate(rules)}
    w = model.vocabulary.words
    saw = words[2]
    assert [w[saw[0]], w[saw[1]]] == ["UNK-LC", "UNK-LC"]  # seen once in so small a corpus
    assert by_rule[int(saw[2])].startswith("VP-VBD^S VBD NP-NN")
    assert [name(saw[3]), name(saw[4])] == ["NP-NN", "VBD"]
    assert words[0].tolist()[:2] == [-1, 0]
    assert words[1].tolist()[0] == 0
    assert words[-1][3] == EDGE
    top, *_ = rule_events(forest, phrases, rules).tolist()
    assert top[:2] == [-1, -1]
    vp = next(row for row in rule_events(forest, phrases, rules).tolist() if name(row[2]) == "VP-VBD^S")
    assert by_rule[vp[0]] == "S-VBD^ROOT NP-NN VP-VBD^S"
    assert name(vp[1]) == "S-VBD^ROOT"


@given(st.permutations(range(len(TREES))))
@settings(max_examples=5)
def test_the_order_of_trees_does_not_matter(order):
    first, second = trained(), trained([TREES[i] for i in order])
    assert first.symbols == second.symbols
    assert first.vocabulary.words == second.vocabulary.words
    np.testing.assert_array_equal(first.score_trees(TREES), second.score_trees(TREES))
    np.testing.assert_allclose(first.score_trees(TREES), [first.score_trees([t])[0] for t in TREES], rtol=1e-12)


def test_floor_and_empty_sentences_are_finite():
    model = trained()
    floor = model.floor([("the", "dog"), (), ("zebra",) * 200])
    assert np.isfinite(floor).all()
    assert floor[0] < model.score_trees([Tree("ROOT", (Tree("NP", (Tree("DT", ("the",)), Tree("NN", ("dog",)))),))])[0]
    assert model.score_trees([]).shape == (0,)


@pytest.mark.parametrize("variant", ["pcfg", "treelet"])
def test_words_of_a_tree_sum_to_it(variant):
    """A rule belongs to the first word below it; the flat tree of a sentence without a parse has its floor."""
    model = trained(variant=variant)
    sentences = [tree.words() for tree in NEW]
    words = model.score_words(NEW, sentences)
    assert [len(values) for values in words] == [len(sentence) for sentence in sentences]
    np.testing.assert_allclose([values.sum() for values in words], model.score_trees(NEW), rtol=1e-9)
    (floor,) = model.score_words([None], sentences[:1])
    assert floor.sum() == pytest.approx(model.floor(sentences[:1])[0])
    (alone,) = model.score_words([NEW[-1]], sentences[-1:])
    assert alone == pytest.approx(model.score_trees(NEW[-1:]))


def test_unigrams_of_the_same_vocabulary():
    model = trained()
    types = np.exp(model.vocabulary.ln_types)
    assert np.exp(model.vocabulary.ln_unigram) @ types == pytest.approx(1)
    assert types.max() > 1
    counts = model.vocabulary.counts
    it = model.vocabulary.number["it"]
    wanted = math.log(counts[it] / np.maximum(counts, 1).sum()) + model.vocabulary.ln_unigram[0]
    assert sum(model.vocabulary.unigram_scores([("it",)])[0]) == pytest.approx(wanted)


def test_drawn_yields_and_words_have_the_models_frequencies():
    """In one context each: 4 standard deviations of a binomial for each outcome."""
    model = trained(variant="treelet")
    sampler = TreeletSampler(model, unknown=True)
    rng = np.random.default_rng(5)
    forest = model.forest(TREES)
    phrases, starts, symbols = rules_of(forest)
    rules = model.rules.find(starts, symbols)
    rows = rule_events(forest, phrases, rules)
    row = next(r for r in rows.tolist() if model.symbols.label(r[2]).startswith("NP") and r[0] >= 0)
    number = 3000
    drawn = Counter(sampler._yield(row[2], row[1], row[0], rng)[0] for _ in range(number))
    context = model.rule_tables.contexts["backoff"]
    assert len(context) > 10
    own = np.unique(rules[[model.symbols.label(s).startswith("NP") for s in forest.symbol[phrases]]])
    own = [r for r in own.tolist() if model.rules.symbols[model.rules.starts[r]] == row[2]]
    for rule in own:
        p = math.exp(score_events(model.rule_tables, np.array([[*row[:3], rule]]))[0][0])
        assert drawn[rule] / number == pytest.approx(p, abs=4 * math.sqrt(p / number))
    word_row = word_events(forest, phrases, rules)[1][1]
    tags = [(int(word_row[4]), int(word_row[3]), int(word_row[2]))]
    words = Counter(sampler._words(tags, rng)[0] for _ in range(number))
    first = [-1, 0, *word_row[2:5].tolist()]  # the tag's context as first word of a sentence
    for word in range(1, len(model.vocabulary)):
        p = math.exp(score_events(model.word_tables, np.array([[*first, word]]))[0][0])
        assert words[word] / number == pytest.approx(p, abs=4 * math.sqrt(p / number) + 1e-3)


@pytest.mark.slow
def test_samples_are_seeded_and_keep_lengths():
    model = trained()
    sampler = TreeletSampler(model, 3, 6)
    trees = sampler.sample_trees(40, np.random.default_rng(1))
    assert trees == sampler.sample_trees(40, np.random.default_rng(1))
    assert {len(tree.words()) for tree in trees} <= {3, 4, 5, 6}
    assert not any(word.startswith("UNK") for tree in trees for word in tree.words())
    assert all(tree.label == "ROOT" for tree in trees)
    assert sampler.sample(2, np.random.default_rng(1)) == [tree.words() for tree in trees[:2]]
    with pytest.raises(ValueError, match="1 <= shortest"):
        TreeletSampler(model, 0, 6)
    with pytest.raises(ModelError, match="none of them has 900 to 900 words"):
        TreeletSampler(trained(TREES[5:7], variant="pcfg"), 900, 900).sample(1, np.random.default_rng(1))


def test_settings_and_empty_treebanks():
    with pytest.raises(ModelError, match="no trees"):
        trained([])
    with pytest.raises(ConfigError, match="wanted one of: pcfg, treelet-trans, treelet-rule, treelet"):
        Settings(variant="lfg")
    with pytest.raises(ConfigError, match="must be 1 or more"):
        Settings(min_count=0)
    with pytest.raises(ConfigError, match="wanted 0 to 1"):
        Settings(signature_rate=2)


@pytest.mark.parametrize("variant", ORDERS)
def test_save_and_load_are_identities(tmp_path, variant):
    model = trained(variant=variant)
    first, second = tmp_path / "a.treelet", tmp_path / "b.treelet"
    assert write_model(model, first) == first.stat().st_size
    found = read_model(first)
    assert (found.settings, found.symbols) == (model.settings, model.symbols)
    np.testing.assert_array_equal(found.score_trees([*TREES, *NEW]), model.score_trees([*TREES, *NEW]))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).score_trees(NEW), model.score_trees(NEW))
    write_model(found, second)
    assert first.read_bytes() == second.read_bytes()


def test_files_that_are_no_model_are_one_clear_line(tmp_path):
    good, bad = tmp_path / "good.bin", tmp_path / "bad.bin"
    write_model(trained(), good)
    check_damage_is_seen(good, read_model, ModelError)
    whole = content_of(good)
    with pytest.raises(ModelError, match=r"absent\.bin: cannot be read"):
        read_model(tmp_path / "absent.bin")
    cases = {
        b"": "not a model file",
        whole[: len(whole) // 2]: "cut short",
        whole.replace(b'"kind": "treelet"', b'"kind": "triplet"', 1): "holds a triplet model, wanted a treelet model",
        whole.replace(
            b'"variant": "treelet"', b'"variant": "pcfg"   ', 1
        ): "rules has 4 columns and predicts 48 symbols, wanted 2 and 48",
        whole.replace(b'"min_count"', b'"max_count"', 1): "damaged treelet language model",
    }
    for content, message in cases.items():
        write_content(bad, content)
        with pytest.raises(ModelError, match=message) as caught:
            read_model(bad)
        assert "\n" not in str(caught.value)


def test_a_vocabulary_without_unknown_words_is_refused():
    with pytest.raises(ValueError, match="lacks UNK"):
        ClosedVocabulary(("<s>", "cat"), np.array([1, 1]))


def test_a_corpus_in_blocks_gives_the_same_model(tmp_path, monkeypatch):
    given_settings = {"signatures_after": 2, "signature_rate": 0.5, "min_rule_count": 2}
    write_model(trained(**given_settings), tmp_path / "whole")
    monkeypatch.setattr("rerank_plugins.treelet.corpus.TREES_A_BLOCK", 2)
    write_model(trained(**given_settings), tmp_path / "blocks")
    assert (tmp_path / "blocks").read_bytes() == (tmp_path / "whole").read_bytes()


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.sampled_from(["a", "A", "b", "1", "UNK", "UNK-LC", "<s>", "walking", "King"]), min_size=1)),
    st.integers(0, 5),
    st.integers(1, 4),
    st.booleans(),
)
def test_vocabularies_agree_with_the_twin(sentences, first, min_count, english):
    unknown = UnknownWords(first, rate=0.5, seed=3, english=english)
    words = Numbering()
    tokens = words.numbers_of(word for sentence in sentences for word in sentence)
    starts = np.cumsum([0, *map(len, sentences)], dtype=np.int64)[:-1]
    with mock.patch.object(signatures, "MIN_SHARED_WORDS", 3):
        vocabulary = close_numbered(words, tokens, starts, unknown, min_count)
        naive = naive_treelet.close_vocabulary(sentences, unknown, min_count)
    assert (vocabulary.words, vocabulary.counts.tolist(), tokens.tolist()) == naive
