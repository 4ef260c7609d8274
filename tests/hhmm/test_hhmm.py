"""The incremental HHMM: exact on small grammars, the paper's worked example, what is promised of beams and values."""

import math
import pickle
from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rerank_plugins import ConfigError, ModelError
from rerank_plugins.hhmm.derivation import best_tree
from rerank_plugins.hhmm.left_progeny import fitting_mass, left_progeny_of
from rerank_plugins.hhmm.model import EXCESS, HhmmModel
from rerank_plugins.kit.language_models import UNFINISHED, UNPARSED
from rerank_plugins.testing import check_incremental_lm
from tests.hhmm.hhmm_stores import store_sequence
from tests.hhmm.naive_hhmm import Trellis, inside, make_grammar, prefixes, random_grammar, trees

SEEDS = st.integers(0, 10_000)
SENTENCES = st.lists(st.sampled_from(["w0", "w1", "w2"]), min_size=1, max_size=4)
EXACT = {"beam": 0, "threshold": 0.0}


def read(model, sentence):
    """ln p of each word, and the beam after each."""
    state, scores, beams = model.start(), [], []
    for word in sentence:
        ln_p, state = model.advance(state, word)
        scores.append(ln_p)
        beams.append(state)
    return scores, beams


def merged(stores):
    """P of the twin's stores, those that differ in an awaited preterminal just read being one."""
    found = defaultdict(float)
    for store, p in stores.items():
        found[*store[:-1], store[-1][0]] += p
    return found


def stores_of(beam, ln_p):
    """P(words, store) of a beam's stores, in the twin's form."""
    found = {}
    for row, value in zip(beam.stores.tolist(), beam.values, strict=True):
        elements = tuple((element >> 16, element & 0xFFFF) for element in row[:-1] if element >= 0)
        found[*elements, row[-1]] = value * math.exp(ln_p)
    return found


def total(model, sentence):
    scores, beams = read(model, sentence)
    return sum(scores) + model.finish(beams[-1])


@given(SEEDS, SENTENCES)
@settings(max_examples=15)
def test_without_limits_it_is_the_grammar(seed, sentence):
    """Sentence and prefix probabilities are the PCFG's inside and prefix probabilities, unary cycles among the rules."""
    grammar = random_grammar(seed)
    model = HhmmModel(grammar, depth=len(sentence) + 1, bounded=False, **EXACT)
    scores, beams = read(model, sentence)
    np.testing.assert_allclose(np.exp(np.cumsum(scores)), prefixes(grammar, sentence), 1e-9)
    end, wanted = model.finish(beams[-1]), inside(grammar, sentence)[0, len(sentence), 0]
    if wanted > 0:
        np.testing.assert_allclose(math.exp(sum(scores) + end), wanted, 1e-9)
    else:  # the words begin a sentence, but are none
        assert end == UNFINISHED


@given(SEEDS, SENTENCES, st.integers(1, 4))
@example(583, ("w0",) * 4, 1)  # a word that no store can read, after which the sentence ends well
@settings(max_examples=15)
def test_a_bounded_store_gives_the_trees_that_fit_in_it(seed, sentence, depth):
    """ln p is that of the trees within the store, given that a tree is within it."""
    grammar = random_grammar(seed, unary=False)
    wanted = sum(p for p, deepest in trees(grammar, sentence) if deepest <= depth) / Trellis(grammar, depth).mass
    found = total(HhmmModel(grammar, depth, **EXACT), sentence)
    if wanted == 0:
        assert found < max(UNFINISHED, UNPARSED) + 1e-9
    else:
        np.testing.assert_allclose(math.exp(found), wanted, 1e-9)


@given(SEEDS, SENTENCES, st.integers(1, 4))
@settings(max_examples=15)
def test_every_store_has_the_probability_that_the_equations_give_it(seed, sentence, depth):
    """Against (9) and (12)-(24) term by term; stores that differ in an awaited preterminal just read are one here."""
    grammar = random_grammar(seed, unary=False)
    model, trellis = HhmmModel(grammar, depth, **EXACT), Trellis(grammar, depth)
    history, ended = trellis.read(sentence)
    scores, beams = read(model, sentence)
    for ln_p, beam, stores in zip(np.cumsum(scores), beams, history, strict=True):
        if beam.unparsed:
            assert not stores
            return
        wanted, found = merged(stores), stores_of(beam, ln_p)
        assert found.keys() == wanted.keys()
        np.testing.assert_allclose([found[store] for store in wanted], list(wanted.values()), 1e-9)
        deep = sum(len(store) * p for store, p in stores.items()) / sum(stores.values())
        np.testing.assert_allclose(beam.mean_depth, deep, 1e-9)
    if ended > 0:
        np.testing.assert_allclose(math.exp(sum(scores) + model.finish(beams[-1])), ended, 1e-9)


@given(SEEDS, SENTENCES, st.integers(1, 3))
@settings(max_examples=15)
def test_probabilities_of_the_next_word_and_the_end_sum_to_one(seed, sentence, depth):
    grammar = random_grammar(seed)
    model = HhmmModel(grammar, depth, **EXACT)
    _, beams = read(model, sentence)
    for beam in [model.start(), *beams]:
        if beam.unparsed:
            break
        following = [model._step(beam, word, beam.length)[0] for word in ("w0", "w1", "w2", "UNK")]
        ends = model.finish(beam)
        p = sum(map(math.exp, following)) + (0.0 if ends <= UNFINISHED else math.exp(ends))
        assert p == pytest.approx(1.0, abs=1e-9)


def sums(model, longest, words=("w0", "w1", "w2", "never seen")):
    """By `start`, `advance` and `finish` alone, over all strings: Σ p of shorter sentences and of prefixes of that length.

    Two sums: of the strings with derivations, and of all; and what a sum over states says that the latter is above one.
    """
    derived = everything = above = 0.0
    todo = [((), model.start(), 0.0)]
    while todo:
        string, state, before = todo.pop()
        if len(string) == longest:
            everything += math.exp(before)
            derived += math.exp(before) * (state.unparsed == 0)
            continue
        end = model.finish(state)
        ended = end > UNFINISHED
        everything += math.exp(before + end)
        derived += math.exp(before + end) * (ended and state.unparsed == 0)
        above += math.exp(before + end) * (not ended)
        for word in words:
            ln_p, following = model.advance(state, word)
            above += math.exp(before + ln_p) * (following.unparsed > state.unparsed)
            todo.append(((*string, word), following, before + ln_p))
    return derived, everything, above


@given(SEEDS, st.integers(1, 3))
@settings(max_examples=8)
def test_sentences_and_longer_prefixes_sum_to_one(seed, depth):
    """With lost words and unfinished sentences slightly more, by what is documented."""
    model = HhmmModel(random_grammar(seed), depth, **EXACT)
    derived, everything, above = sums(model, 4)
    assert derived == pytest.approx(1.0, abs=1e-9)
    assert everything == pytest.approx(1.0 + above, abs=1e-9)
    assert 1 < everything <= EXCESS**4
    assert sums(HhmmModel(random_grammar(seed), depth, beam=2, threshold=0.0), 4)[1] <= EXCESS**4


def test_the_sums_are_of_probabilities_that_trees_have():
    """The same sentences, by all their trees that fit in the store."""
    grammar = random_grammar(7, unary=False)
    model, mass = HhmmModel(grammar, 2, **EXACT), Trellis(grammar, 2).mass
    assert fitting_mass(grammar, 2) == pytest.approx(mass)
    strings = [each for n in range(1, 4) for each in product(("w0", "w1", "w2"), repeat=n)]
    wanted = [sum(p for p, deepest in trees(grammar, string) if deepest <= 2) / mass for string in strings]
    found = [math.exp(total(model, string)) for string in strings]
    derivable = np.array(wanted) > 0
    np.testing.assert_allclose(np.array(found)[derivable], np.array(wanted)[derivable], 1e-9)
    assert 0 < sum(np.array(found)[~derivable]) < EXCESS**4 - 1


@given(SEEDS, SENTENCES)
@settings(max_examples=12)
def test_the_best_derivation_is_the_likeliest_tree(seed, sentence):
    grammar = random_grammar(seed, unary=False)
    model = HhmmModel(grammar, 3, derivations=True, **EXACT)
    wanted = max((p for p, deepest in trees(grammar, sentence) if deepest <= 3), default=0.0)
    if wanted == 0:
        return
    found = best_tree(model, sentence).scored
    assert found.log_probability == pytest.approx(math.log(wanted / model.tables.mass), abs=1e-9)
    assert found.tree.words() == tuple(sentence)
    assert tree_probability(grammar, found.tree) == pytest.approx(wanted, rel=1e-9)


def tree_probability(grammar, tree):
    numbers = {name: i for i, name in enumerate(grammar.symbols)}
    rules = dict(zip(map(tuple, grammar.binary.tolist()), np.exp(grammar.binary_logp), strict=True))

    def phrase(node, below):
        return below[0] * below[1] * rules[tuple(numbers[each.label] for each in (node, *node.subtrees))]

    def tag(node):
        symbols, logp = grammar.lexicon.emissions(node.word, 1)
        return math.exp(logp[symbols.tolist().index(numbers[node.label])])

    return tree.fold(tag, phrase)


@given(SEEDS, SENTENCES, st.integers(2, 4))
@settings(max_examples=12)
def test_entropy_of_derivations(seed, sentence, depth):
    grammar = random_grammar(seed, unary=False)
    paths = np.array(Trellis(grammar, depth).derivations(sentence))
    _, beams = read(HhmmModel(grammar, depth, entropies=True, **EXACT), sentence)
    if not beams[-1].unparsed:
        p = paths / paths.sum()
        assert beams[-1].derivation_entropy == pytest.approx(-(p * np.log(p)).sum(), abs=1e-9)
        assert beams[-1].store_entropy <= beams[-1].derivation_entropy + 1e-9


SENTENCE = ["the", "president", "meets", "the", "board", "on", "Friday"]
FIGURE_2 = ["ROOT", "S", "NP", "VP", "PP", "DT", "NN", "VB", "IN"]


@pytest.fixture(scope="module")
def figure():
    """A grammar with the tree of Schwartz et al. (2011), figure 2, and another attachment of its PP."""
    root, s, np_, vp, pp, dt, nn, vb, in_ = range(9)
    binary = {
        (s, np_, vp): 1.0, (np_, dt, nn): 0.7, (np_, np_, pp): 0.1, (vp, vb, np_): 0.6, (vp, vp, pp): 0.4,
        (pp, in_, np_): 1.0,
    }  # fmt: skip
    words = {
        ("the", dt): 1.0, ("president", nn): 0.5, ("board", nn): 0.5, ("meets", vb): 1.0, ("on", in_): 1.0,
        ("Friday", np_): 0.2,
    }  # fmt: skip
    return make_grammar(FIGURE_2, binary, {(root, s): 1.0}, words)


def test_figure_5_of_schwartz_et_al(figure):
    model = HhmmModel(figure, 3, derivations=True, **EXACT)
    assert store_sequence(model, SENTENCE) == [
        ("DT",),
        ("NP/NN",),
        ("S/VP", "VB"),
        ("S/VP", "VP/NP", "DT"),
        ("S/VP", "VP/NN"),
        ("S/PP", "IN"),
        ("S/NP",),
    ]
    assert str(best_tree(model, SENTENCE).scored.tree) == (
        "(ROOT (S (NP (DT the) (NN president)) (VP (VP (VB meets) (NP (DT the) (NN board))) (PP (IN on) (NP Friday)))))"
    )


def test_a_store_of_two_attaches_lower(figure):
    """With two elements the VP cannot wait for its PP: the one of the object NP is all that is left."""
    model = HhmmModel(figure, 2, derivations=True, **EXACT)
    assert store_sequence(model, SENTENCE) == [
        ("DT",), ("NP/NN",), ("S/VP", "VB"), ("S/NP", "DT"), ("S/NP", "NP/NN"), ("S/PP", "IN"), ("S/NP",)
    ]  # fmt: skip
    assert "(NP (NP (DT the) (NN board)) (PP (IN on) (NP Friday)))" in str(best_tree(model, SENTENCE).scored.tree)


@pytest.mark.parametrize("depth", [2, 3])
def test_lost_words_and_unfinished_sentences_add_no_more_than_is_documented(figure, depth):
    """Most strings of this grammar's words have no derivation."""
    model = HhmmModel(figure, depth, **EXACT)
    derived, everything, above = sums(model, 4, ("the", "president", "board", "meets", "on", "Friday"))
    assert derived == pytest.approx(1.0, abs=1e-9)
    assert everything == pytest.approx(1.0 + above, abs=1e-9)
    assert 1 + 1e-5 < everything <= EXCESS**4


def test_one_that_no_store_can_read_begins_anew_and_is_counted(figure):
    model = HhmmModel(figure, 3, derivations=True)
    scores, beams = read(model, ["the", "the", "president", "meets", "on"])
    assert [beam.unparsed for beam in beams] == [0, 1, 1, 1, 2]
    assert scores[1] == pytest.approx(UNPARSED + math.log(0.7 + 0.0) + math.log(1.0), abs=0.3)  # as the first word
    assert scores[4] < UNPARSED
    assert np.isfinite(scores).all()
    assert model.finish(beams[-1]) == UNFINISHED
    found = best_tree(model, ["the", "the", "president", "meets", "on"]).scored
    assert found.tree.words() == ("the", "the", "president", "meets", "on")
    assert found.tree.subtrees[0].label == "FRAG"
    assert np.isfinite(found.log_probability)


@pytest.mark.parametrize("sentence", ["w0 w1 w2 w0", "w1", "unseen w0 42 🙂 w1"])
def test_states_are_values(sentence):
    model = HhmmModel(random_grammar(5), 4, beam=20, threshold=1e-6)
    check_incremental_lm(model, [sentence.split()])
    states = [read(model, sentence.split())[1][-1] for _ in range(2)]
    assert states[0] == states[1]
    assert hash(states[0]) == hash(states[1])
    other = model.advance(states[0], "w0")[1]
    assert other != states[0]
    assert states[0] == pickle.loads(pickle.dumps(states[0]))
    assert read(pickle.loads(pickle.dumps(model)), sentence.split())[0] == read(model, sentence.split())[0]
    assert model.start() == model.start()


@given(SEEDS, SENTENCES)
@settings(max_examples=15)
def test_a_beam_loses_no_more_than_it_leaves_out(seed, sentence):
    """A narrow beam never gives the next words more than one in all; a wide one gives what no limit gives."""
    grammar = random_grammar(seed)
    narrow, wide, whole = (HhmmModel(grammar, 4, beam=beam, threshold=0.0) for beam in (3, 100_000, 0))
    assert read(wide, sentence)[0] == read(whole, sentence)[0]
    _, beams = read(narrow, sentence)
    for beam in beams:
        assert len(beam) <= 3
        assert (np.diff(beam.values) <= 0).all()
        assert beam.values.sum() == pytest.approx(1.0)
        following = [narrow._step(beam, word, beam.length)[0] for word in ("w0", "w1", "w2", "UNK")]
        assert sum(map(math.exp, following)) <= 1 + 1e-9


def test_memory_and_work_do_not_grow_with_the_sentence():
    model = HhmmModel(random_grammar(8), 4, beam=50)
    scores, beams = read(model, ["w0", "w1", "w2", "w1"] * 125)
    assert len(scores) == 500
    assert np.isfinite(scores).all()
    assert max(map(len, beams)) <= 50
    assert beams[-1].before is None


def test_no_words():
    model = HhmmModel(random_grammar(1), derivations=True)
    assert model.finish(model.start()) == UNFINISHED
    assert best_tree(model, []) is None
    assert model.start().mean_depth == model.start().derivation_entropy == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam": -1}, "a beam of -1 stores"),
        ({"threshold": 1.0}, "a threshold of 1"),
        ({"depth": 0}, "a store of 0 elements"),
        ({"depth": 64}, "a store of 64 elements"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        _ = HhmmModel(random_grammar(1), **options).tables


def test_grammars_that_never_end_are_refused():
    endless = make_grammar(["ROOT", "A", "T"], {(1, 1, 2): 1.0}, {(0, 1): 1.0}, {("a", 2): 1.0})
    with pytest.raises(ModelError, match=r"never yields a word|no sentence of this grammar fits"):
        left_progeny_of(endless, 3)
    assert fitting_mass(endless, 3) == 0.0
