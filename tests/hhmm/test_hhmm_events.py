"""The empirical HHMM: events of right-corner trees as counted by hand, smoothed mixtures that sum to one, a slow twin."""

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rerank_plugins import ConfigError, FormatError
from rerank_plugins.constituency.grammar import ROOT
from rerank_plugins.constituency.split_merge import Schedule
from rerank_plugins.constituency.training import GrammarSettings
from rerank_plugins.constituency.treebank_grammar import encode_trees, treebank_grammar
from rerank_plugins.core.constituency_tree import Tree, read_trees
from rerank_plugins.hhmm.derivation import best_tree
from rerank_plugins.hhmm.event_counts import (
    CROSS,
    END,
    HERE,
    WITHIN,
    count_events,
    counting_settings,
    joined,
    train_empirical,
)
from rerank_plugins.hhmm.interpolation import row_of
from rerank_plugins.hhmm.model import EXCESS, HhmmModel
from rerank_plugins.kit.language_models import UNFINISHED
from rerank_plugins.kit.vocabulary.signatures import UnknownWords
from rerank_plugins.testing import check_incremental_lm
from tests.hhmm.hhmm_stores import store_sequence
from tests.hhmm.naive_hhmm import random_grammar
from tests.hhmm.naive_hhmm_events import EventTrellis, counted
from tests.hhmm.test_hhmm import EXACT, merged, read, stores_of, sums

SEEDS = st.integers(0, 10_000)
STRENGTHS = st.sampled_from([0.0, 0.5, 1.0, 4.0])
SENTENCES = st.lists(st.sampled_from(["w0", "w1", "w2"]), min_size=1, max_size=4)
FIGURE = (
    "(ROOT (S (NP (DT the) (NN president)) (VP (VP (VB meets) (NP (DT the) (NN board))) (PP (IN on) (NP Friday)))))"
)


class Drawing:
    """Trees drawn from a grammar without unary rules."""

    def __init__(self, grammar, rng):
        self.grammar, self.rng, self.choices = grammar, rng, {}
        lexicon = grammar.lexicon
        for rule, logp in zip(grammar.binary.tolist(), grammar.binary_logp, strict=True):
            self.choices.setdefault(rule[0], []).append((tuple(rule[1:]), math.exp(logp)))
        for word, symbol, logp in zip(lexicon.word_of, lexicon.symbols.tolist(), lexicon.logp, strict=True):
            self.choices.setdefault(symbol, []).append((lexicon.words[word], math.exp(logp)))

    def tree(self, symbol=ROOT):
        outcomes, p = zip(*self.choices[symbol], strict=True)
        chosen = outcomes[self.rng.choice(len(p), p=np.array(p) / sum(p))]
        label = self.grammar.symbols[symbol]
        if isinstance(chosen, str):
            return Tree(label, (chosen,))
        return Tree(label, tuple(self.tree(child) for child in chosen))


def empirical(trees, depth, strength, **options):
    """The model of binary trees as they are, every word known."""
    forest = encode_trees(trees, UnknownWords(first=0, rate=0.0))
    return HhmmModel(treebank_grammar(forest), depth, events=count_events(forest, depth, strength), **options)


def drawn(seed, number, depth, strength):
    grammar = random_grammar(seed, unary=False)
    drawing = Drawing(grammar, np.random.default_rng(seed))
    trees = [drawing.tree() for _ in range(number)]
    numbers = {name: i for i, name in enumerate(grammar.symbols)}
    assume(any(counted(tree, numbers, depth) for tree in trees))
    return trees, empirical(trees, depth, strength, **EXACT)


def named_events(tree, depth=3):
    """Events of one tree, with names."""
    forest = encode_trees([joined(tree)])
    events = count_events(forest, depth)
    names = forest.labels
    rules = treebank_grammar(forest).binary
    reductions, expansions = Counter(), Counter()
    for (d, a, b, q, kind, rule), count in zip(events.reductions.tolist(), events.reduced, strict=True):
        element = f"{names[a]}/{names[b]}"
        if rule == END:
            outcome = "end"
        else:
            outcome = f"{names[a] if kind == CROSS else names[rules[rule, 0]]}/{names[rules[rule, 2]]}"
        reductions[d, element, names[q], "CLR" if kind == CROSS else "ILR", outcome] += count
    for (d, a, b, x), count in zip(events.expansions.tolist(), events.expanded, strict=True):
        expansions[d, f"{names[a]}/{names[b]}", names[x] if x != HERE else "-"] += count
    return reductions, expansions


def test_the_events_of_figure_5_of_schwartz_et_al():
    """One reduction before each word but the first and after the last, one expansion or none before each word."""
    reductions, expansions = named_events(*read_trees([FIGURE]))
    assert dict(reductions) == {
        (0, "ROOT/ROOT", "DT", "ILR", "NP/NN"): 1,
        (0, "ROOT/ROOT", "NP", "ILR", "S/VP"): 1,
        (1, "S/VP", "VB", "ILR", "VP/NP"): 1,
        (2, "VP/NP", "DT", "CLR", "VP/NN"): 1,
        (1, "S/VP", "VP", "CLR", "S/PP"): 1,
        (1, "S/PP", "IN", "CLR", "S/NP"): 1,
        (0, "ROOT/ROOT", "S", "CLR", "end"): 1,
    }
    assert dict(expansions) == {
        (0, "ROOT/ROOT", "DT"): 1,
        (1, "NP/NN", "-"): 1,
        (1, "S/VP", "VB"): 1,
        (2, "VP/NP", "DT"): 1,
        (2, "VP/NN", "-"): 1,
        (1, "S/PP", "IN"): 1,
        (1, "S/NP", "-"): 1,
    }


def test_the_figure_goes_through_its_stores():
    model = empirical([joined(*read_trees([FIGURE]))] * 3, 3, 1.0, derivations=True, **EXACT)
    sentence = ["the", "president", "meets", "the", "board", "on", "Friday"]
    assert store_sequence(model, sentence) == [
        ("DT",), ("NP/NN",), ("S/VP", "VB"), ("S/VP", "VP/NP", "DT"), ("S/VP", "VP/NN"), ("S/PP", "IN"), ("S/NP",)
    ]  # fmt: skip
    assert str(best_tree(model, sentence).scored.tree) == FIGURE


@given(SEEDS, st.integers(2, 4))
@settings(max_examples=20)
def test_counts_are_those_of_a_walk_over_the_trees(seed, depth):
    trees, model = drawn(seed, 12, depth, 1.0)
    grammar, events = model.grammar, model.events
    numbers = {name: i for i, name in enumerate(grammar.symbols)}
    reductions, expansions = Counter(), Counter()
    for found in filter(None, (counted(tree, numbers, depth) for tree in trees)):
        reductions.update(found[0])
        expansions.update(found[1])
    here = {
        ((d, a, b), b if x == HERE else x): count
        for (d, a, b, x), count in zip(events.expansions.tolist(), events.expanded, strict=True)
    }
    assert here == expansions
    outcomes = {}
    for (*context, kind, rule), count in zip(events.reductions.tolist(), events.reduced, strict=True):
        _, _, right = grammar.binary[rule].tolist()
        outcome = "end" if rule == END else right if kind == CROSS else (int(grammar.binary[rule, 0]), right)
        outcomes[tuple(context), ("cross", "within")[kind], outcome] = count
    assert outcomes == reductions


TWO = [
    "(ROOT (S (NP (D the) (N dog)) (V barks)))",
    "(ROOT (S (NP (NP (D the) (N dog)) (PP (P in) (N town))) (V barks)))",
]


def test_relative_frequencies_by_hand():
    """Two trees: NP is complete three times at depth 0, and begins an S twice, another NP once."""
    model = empirical(list(read_trees(TWO)), 3, 0.0, **EXACT)
    names = {name: i for i, name in enumerate(model.grammar.symbols)}
    moves = reductions_of(model.tables, 0, ROOT, ROOT, names["NP"])
    assert moves == pytest.approx({(WITHIN, names["S"], names["V"]): 2 / 3, (WITHIN, names["NP"], names["PP"]): 1 / 3})
    assert reductions_of(model.tables, 0, ROOT, ROOT, names["S"]) == pytest.approx({(CROSS, END, END): 1.0})
    assert reductions_of(model.tables, 1, names["NP"], names["PP"], names["P"]) == pytest.approx(
        {(CROSS, names["NP"], names["N"]): 1.0}
    )
    assert expansions_of(model.tables, 1, names["NP"], names["PP"]) == pytest.approx({names["P"]: 1.0})
    tagged = {tag: dict(zip(*emitted(model.grammar, names[tag]), strict=True)) for tag in "DNVP"}
    once = tagged["D"]["the"] * tagged["N"]["dog"] * tagged["V"]["barks"]
    assert total(model, ["the", "dog", "barks"]) == pytest.approx(math.log(once * 2 / 3))
    again = once * tagged["P"]["in"] * tagged["N"]["town"]
    longer = ["the", "dog", "in", "town", "barks"]
    assert total(model, longer) == pytest.approx(math.log(again * 1 / 3 * 2 / 3))


def emitted(grammar, symbol):
    lexicon = grammar.lexicon
    entries = lexicon.symbols == symbol
    return [lexicon.words[word] for word in lexicon.word_of[entries]], np.exp(lexicon.logp[entries])


def total(model, sentence):
    scores, beams = read(model, sentence)
    return sum(scores) + model.finish(beams[-1])


def reductions_of(tables, d, a, b, q):
    """{(kind, active, awaited): P} of what may follow, as the search weighs it."""
    rules, counted = tables.rules, tables.rules.counted
    row = row_of(counted.contexts, tables.grammar.size, d, a, b, q)
    edge = rules.expected[d, b]
    share = counted.backoff[row] if row >= 0 else np.ones(2)
    fits = tables.fitting
    found = defaultdict(float)
    size = tables.grammar.size
    for r in range(rules.starts[q * size], rules.starts[(q + 1) * size]):
        parent, right = int(rules.parent[r]), int(rules.right[r])
        found[WITHIN, parent, right] += share[WITHIN] * rules.p[r] * edge[parent] / edge[q] * fits[d + 1, right]
        if d and parent == b:
            found[CROSS, a, right] += share[CROSS] * rules.p[r] / edge[q] * fits[d, right]
    for kind in (CROSS, WITHIN) if row >= 0 else ():
        for e in range(counted.starts[2 * row + kind], counted.starts[2 * row + kind + 1]):
            r = counted.rule[e]
            right = int(rules.right[r])
            active = a if kind == CROSS else int(rules.parent[r])
            found[kind, active, right] += counted.extra[e] * fits[d + kind, right]
    if d == 0:
        found[CROSS, END, END] = tables.ending[q]
    return {move: p for move, p in found.items() if p > 0}


def expansions_of(tables, d, a, b):
    """{preterminal: P} of what an awaited phrase may begin with."""
    counted = tables.rules.counted
    tags = np.flatnonzero(tables.grammar.preterminals)
    row = row_of(counted.edges, tables.grammar.size, d, a, b, 0)
    weights = tables.rules.expected[d, b, tags] if row < 0 else counted.openings[row, tags]
    return {int(tag): p for tag, p in zip(tags, weights / tables.fitting[d, b], strict=True) if p > 0}


@given(SEEDS, st.integers(2, 4), STRENGTHS)
@settings(max_examples=20)
def test_every_distribution_sums_to_one(seed, depth, strength):
    """Reductions and expansions in every context that was seen, in those with another active symbol, and in others."""
    _, model = drawn(seed, 12, depth, strength)
    tables, size = model.tables, model.grammar.size
    phrases = np.unique(model.grammar.binary[:, 0])
    seen = 0
    for d in range(depth):
        for b in range(size) if d else (ROOT,):
            for a in range(1, size) if d else (ROOT,):
                for q in np.flatnonzero(tables.rules.expected[d, b] > 0):
                    assert sum(reductions_of(tables, d, a, b, q).values()) == pytest.approx(1.0, abs=1e-9)
                    seen += row_of(tables.rules.counted.contexts, size, d, a, b, q) >= 0
                if b in phrases and tables.fitting[d, b] > 0:
                    assert sum(expansions_of(tables, d, a, b).values()) == pytest.approx(1.0, abs=1e-9)
    assert seen
    state = model.start()
    for word in ("w0", "w1", "w1"):
        if state.unparsed:
            break
        following = [model._step(state, other, state.length)[0] for other in model.grammar.lexicon.words]
        ends = model.finish(state)
        p = sum(map(math.exp, following)) + (0.0 if ends <= UNFINISHED else math.exp(ends))
        assert p == pytest.approx(1.0, abs=1e-9)
        state = model.advance(state, word)[1]


@given(SEEDS, st.integers(2, 4), STRENGTHS)
@settings(max_examples=8)
def test_sentences_and_longer_prefixes_sum_to_one(seed, depth, strength):
    """By the public steps, as for a grammar."""
    _, model = drawn(seed, 12, depth, strength)
    derived, everything, above = sums(model, 3, model.grammar.lexicon.words)
    assert derived == pytest.approx(1.0, abs=1e-9)
    assert everything == pytest.approx(1.0 + above, abs=1e-9)
    assert everything <= EXCESS**3


@pytest.mark.parametrize("strength", [0.0, 1.0])
def test_a_symbol_that_is_a_phrase_and_a_tag(strength):
    """NP reads "Friday" itself, or goes on: after every word, what may follow sums to one."""
    other = FIGURE.replace("(NP Friday)", "(NP (DT the) (NN board))").replace(
        "(NP (DT the) (NN president))", "(NP she)"
    )
    model = empirical([joined(tree) for tree in read_trees([FIGURE, other])], 3, strength, **EXACT)
    state = model.start()
    for word in ("she", "meets", "Friday", "on", "the", "board"):
        assert not state.unparsed
        ends = model.finish(state)
        following = [model._step(state, other, state.length)[0] for other in model.grammar.lexicon.words]
        p = sum(map(math.exp, following)) + (0.0 if ends <= UNFINISHED else math.exp(ends))
        assert p == pytest.approx(1.0, abs=1e-9)
        state = model.advance(state, word)[1]
    assert model.finish(state) > UNFINISHED


@given(SEEDS, SENTENCES, st.integers(2, 4), STRENGTHS)
@settings(max_examples=25)
def test_prefixes_and_sentences_have_the_probabilities_of_all_their_stores(seed, sentence, depth, strength):
    """Against the twin that follows every sequence of stores by equations 9-14."""
    trees, model = drawn(seed, 12, depth, strength)
    twin = EventTrellis(model.grammar, trees, depth, strength)
    history, ended = twin.read(sentence)
    scores, beams = read(model, sentence)
    for ln_p, beam, stores in zip(np.cumsum(scores), beams, history, strict=True):
        if beam.unparsed:
            assert not stores
            return
        assert math.exp(ln_p) == pytest.approx(sum(stores.values()), rel=1e-9)
        wanted, found = merged(stores), stores_of(beam, ln_p)
        np.testing.assert_allclose([found.get(store, 0.0) for store in wanted], list(wanted.values()), 1e-9, 1e-300)
    if ended > 0:
        assert math.exp(sum(scores) + model.finish(beams[-1])) == pytest.approx(ended, rel=1e-9)
    measured = HhmmModel(model.grammar, depth, entropies=True, events=model.events, **EXACT)
    p = np.array(twin.derivations(sentence))
    p = p[p > 0] / p.sum()
    assert read(measured, sentence)[1][-1].derivation_entropy == pytest.approx(-(p * np.log(p)).sum(), abs=1e-9)


@pytest.mark.slow
def test_with_ever_more_trees_the_events_approach_the_grammar():
    """Drawn from a grammar: the mean difference in ln p of a sentence falls as one over the root of the trees."""
    grammar = random_grammar(3, unary=False)
    limit = HhmmModel(grammar, 3, **EXACT)
    drawing = Drawing(grammar, np.random.default_rng(1))
    sentences = [words for words in (drawing.tree().words() for _ in range(150)) if 2 <= len(words) <= 8]
    wanted = np.array([total(limit, words) for words in sentences])
    fits = wanted > 2 * UNFINISHED
    trees = [drawing.tree() for _ in range(25_600)]
    errors = []
    for number in (400, 25_600):
        model = empirical(trees[:number], 3, 1.0, **EXACT)
        found = np.array([total(model, words) for words in sentences])
        errors.append(np.abs(found - wanted)[fits].mean())
    assert errors[1] < 0.05
    assert errors[1] < errors[0] / 3  # 1/8, but for chance


def test_unary_chains_are_one_symbol_and_come_back():
    trees = [*read_trees(["(ROOT (S (NP (NN Dogs)) (VP (VB bark))))", "(ROOT (S (VP (VB Go))))"])]
    assert [str(joined(tree)) for tree in trees] == ["(ROOT (S (NP+NN Dogs) (VP+VB bark)))", "(ROOT (S+VP+VB Go))"]
    plain = GrammarSettings("en", "left", schedule=Schedule(rounds=0), unknown=UnknownWords(first=0, rate=0.0))
    made = train_empirical([trees], [1.0], plain)
    model = HhmmModel(made.grammar, events=made.events, derivations=True, **EXACT)
    for tree in trees:
        assert best_tree(model, tree.words()).scored.tree == tree


def test_tagged_words_go_to_all_chains_of_their_tag():
    """`cats` is a noun of a text alone: it may be NNS, and NP+NNS; of the treebank's noun once there, the same."""
    trees = list(
        read_trees(["(ROOT (S (NP (DT the) (NNS dogs)) (VP (VB bark))))", "(ROOT (S (NP (NNS dogs)) (VP (VB go))))"])
    )
    grammar = train_empirical([trees], [1.0], counting_settings("en"), tagged={("cats", "NNS"): 3.0}).grammar
    symbols, _ = grammar.lexicon.emissions("cats", 1)
    assert {"NNS", "NP+NNS"} <= {grammar.symbols[symbol] for symbol in symbols}
    assert "bark" in grammar.lexicon
    np.testing.assert_allclose(grammar.totals(), 1.0)


def test_what_cannot_be_counted_is_refused():
    settings = GrammarSettings("en", "left", schedule=Schedule(rounds=1))
    trees = list(read_trees([FIGURE]))
    with pytest.raises(ConfigError, match="latent splits"):
        train_empirical([trees], [1.0], settings)
    plain = GrammarSettings("en", "left", schedule=Schedule(rounds=0))
    with pytest.raises(FormatError, match="no tree fits in a store of 1"):
        train_empirical([trees], [1.0], plain, depth=1)
    with pytest.raises(FormatError, match=r"'A\+B' has \+ in it"):
        train_empirical([list(read_trees(["(ROOT (A+B (C d)))"]))], [1.0], plain)
    with pytest.raises(FormatError, match="has one child"):
        count_events(encode_trees(list(read_trees(["(ROOT (S (VP (VB Go))))"]))), 4)
    model = empirical(list(read_trees(TWO)), 3, 1.0)
    for options in ({"depth": 2}, {"depth": 3, "bounded": False}):
        with pytest.raises(ConfigError, match="counted for 3 elements"):
            HhmmModel(model.grammar, events=model.events, **options)


def test_states_are_values():
    model = empirical(list(read_trees([*TWO, FIGURE])), 3, 1.0, beam=20)
    check_incremental_lm(model, [["the", "dog", "in", "town", "barks"], ["the", "the", "board"]])
