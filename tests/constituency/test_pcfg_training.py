from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_plugins import ConfigError, FloatArray, FormatError, ModelError
from rerank_plugins.constituency import latent_kernels
from rerank_plugins.constituency.annotation import ANNOTATIONS, annotate, named, plain
from rerank_plugins.constituency.expected_counts import Trees, subtrees
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.latent_grammar import LatentGrammar, unsplit
from rerank_plugins.constituency.lexicon import Smoothing, smoothed, with_tagged_words
from rerank_plugins.constituency.model_file import read_grammar, write_grammar
from rerank_plugins.constituency.split_merge import EmStep, Schedule, finished, merge_back, split_merge, widened
from rerank_plugins.constituency.training import GrammarSettings, encode_treebanks, train_grammar
from rerank_plugins.constituency.treebank_grammar import EncodedTrees, encode_trees, productions, treebank_grammar
from rerank_plugins.core.constituency_tree import Tree, read_trees
from rerank_plugins.kit.trees.treebank_cleaning import clean
from rerank_plugins.kit.vocabulary.signatures import (
    UNKNOWN_SIGNATURE,
    UnknownWords,
    backed_off,
    closed,
    known_form,
    signature,
)
from tests.command_line import done, refused, says_what_it_wrote
from tests.constituency import naive_latent
from tests.model_files import check_damage_is_seen

BANK = """
(ROOT (S (NP (DT the) (NN dog)) (VP (VBZ barks))))
(ROOT (S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT the) (NN dog)))))
(ROOT (S (NP (PRP it)) (VP (VBZ sees) (NP (PRP it)))))
(ROOT (NP (NN dog)))
(ROOT (S (NP (DT the) (NN cat)) (VP (VBZ barks))))
""".strip().splitlines()


@pytest.fixture(scope="module")
def bank() -> list[Tree]:
    return list(read_trees(BANK))


@pytest.fixture(scope="module")
def forest(bank: list[Tree]) -> EncodedTrees:
    return encode_trees(bank, weights=[1, 2, 1, 0.5, 1])


def random_grammar(forest: EncodedTrees, seed: int, rounds: int = 1) -> LatentGrammar:
    """States all of different probabilities."""
    rng = np.random.default_rng(seed)
    grammar = unsplit(forest)
    for _ in range(rounds):
        grammar = grammar.split(rng)
    return grammar.normalised(rng.random(len(grammar.p)) + 0.1)


# Signatures


@pytest.mark.parametrize(
    ("word", "first", "lower_known", "expected"),
    [
        ("Running", True, True, "UNK-INITC-KNOWNLC-ing"),
        ("Baltimore", True, False, "UNK-INITC"),
        ("Baltimore", False, False, "UNK-CAPS"),
        ("IBM", True, False, "UNK-CAPS"),
        ("eBay", False, False, "UNK-LC"),
        ("walked", False, False, "UNK-LC-ed"),
        ("1990s", False, False, "UNK-LC-NUM-s"),
        ("4-door", False, False, "UNK-LC-NUM-DASH"),
        ("glass", False, False, "UNK-LC"),
        ("17", False, False, "UNK-NUM"),
        ("…", False, False, "UNK"),
    ],
)
def test_signatures(word: str, first: bool, lower_known: bool, expected: str) -> None:
    assert signature(word, first, lower_known) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Wandlung", "UNK-CAPS-~g-~ng-~ung"),
        ("geht", "UNK-LC-~t-~ht"),
        ("am", "UNK-LC"),
        ("walk3d", "UNK-LC-NUM-~d"),
        ("17", "UNK-NUM"),
    ],
)
def test_signatures_of_other_languages_have_last_letters(word: str, expected: str) -> None:
    assert signature(word, False, False, english=False) == expected
    known = {UNKNOWN_SIGNATURE, *backed_off(expected)}
    assert known_form(word, 1, known) == expected
    assert known_form(word, 1, {form for form in known if "ung" not in form}) == expected.removesuffix("-~ung")


def test_last_letters_are_those_that_unknown_words_share() -> None:
    words = [f"{start}{ending}" for ending in ("ung", "heit") for start in ("auf", "ab", "um", "ein", "aus")]
    more = [f"{start}lung" for start in ("ab", "um", "ein", "aus", "zu")]
    found = UnknownWords(english=False).replaced([("x", *words, *more), ("x",)])
    assert found[0] == ("x", *["UNK-LC-~g-~ng-~ung"] * 5, *["UNK-LC"] * 5, *["UNK-LC-~g-~ng-~ung"] * 5)


@given(st.text(max_size=12), st.integers(0, 2))
def test_every_word_has_a_known_form(word: str, position: int) -> None:
    known = {UNKNOWN_SIGNATURE, "UNK-LC", "the"}
    assert known_form(word, position, known) in known
    assert list(backed_off(signature(word, position == 0, False)))[-1] == UNKNOWN_SIGNATURE


def test_small_corpora_lose_words_seen_once() -> None:
    found = UnknownWords().replaced([("The", "dog", "barked"), ("The", "dog", "sleeps")])
    assert found == [("The", "dog", "UNK-LC-ed"), ("The", "dog", "UNK-LC-s")]


def test_large_corpora_lose_a_share_of_new_words() -> None:
    sentences = [(f"w{i}", "the") for i in range(4000)]
    rule = UnknownWords(first=1000, rate=0.1, seed=3)
    found = rule.replaced(sentences)
    assert found == rule.replaced(sentences)
    assert found[:1000] == sentences[:1000]
    replaced = sum(a != b for a, b in zip(found, sentences, strict=True))
    assert 220 < replaced < 380  # 3,000 draws at 0.1
    assert all(sentence[1] == "the" for sentence in found)


def test_closed_sentences_hold_known_words_only(forest: EncodedTrees) -> None:
    assert closed(("The", "dog", "quacked"), set(forest.words)) == ("UNK", "dog", "UNK")


# Forests and treebank grammars


def test_forest_is_the_trees(bank: list[Tree], forest: EncodedTrees) -> None:
    def tree(node: int) -> Tree:
        label = forest.labels[forest.label[node]]
        if forest.word[node] >= 0:
            return Tree(label, (forest.words[forest.word[node]],))
        below = [child for child in (forest.left[node], forest.right[node]) if child >= 0]
        return Tree(label, tuple(tree(child) for child in below))

    assert [tree(end - 1) for end in forest.offsets[1:]] == bank


def test_relative_frequencies(forest: EncodedTrees) -> None:
    grammar = treebank_grammar(forest, Smoothing(strength=0))
    assert np.allclose(grammar.totals(), 1)
    p = {
        tuple(grammar.symbols[x] for x in rule): value
        for rule, value in zip(grammar.binary, np.exp(grammar.binary_logp), strict=True)
    }
    assert p["NP", "DT", "NN"] == pytest.approx(6 / 8.5)
    assert p["VP", "VBZ", "NP"] == pytest.approx(3 / 5)
    unary = {
        tuple(grammar.symbols[x] for x in rule): np.exp(v)
        for rule, v in zip(grammar.unary, grammar.unary_logp, strict=True)
    }
    assert unary["ROOT", "NP"] == pytest.approx(0.5 / 5.5)
    symbols, logp = grammar.lexicon.emissions("dog", 1)
    assert [grammar.symbols[s] for s in symbols] == ["NN"]
    # 3.5 of the 6.5 nouns, and UNK has one count, shared among the tags of all 18 words as they are
    assert np.exp(logp) == pytest.approx([3.5 / (6.5 + 6.5 / 21)], rel=0.2)


@given(st.integers(0, 2**32 - 1))
def test_smoothed_counts_keep_the_count_of_each_word(seed: int) -> None:
    rng = np.random.default_rng(seed)
    words = ("UNK", "UNK-LC", "UNK-LC-ed", "a", "walked", "zoo")
    pairs = np.argwhere(rng.random((len(words), 4)) < 0.6).astype(np.int32)
    if not len(pairs):
        return
    count = rng.integers(1, 20, len(pairs)).astype(float)
    word, symbol, blended = smoothed(words, pairs[:, 0], pairs[:, 1], count, Smoothing(least=0))
    before = np.bincount(pairs[:, 0], count, len(words))
    after = np.bincount(word, blended, len(words))
    before[0] += 1
    seen = before > 0
    assert np.allclose(after[seen], before[seen])
    given_pairs = set(map(tuple, pairs.tolist()))
    assert given_pairs <= set(zip(word.tolist(), symbol.tolist(), strict=True))


def test_blended_share_by_hand() -> None:
    words = ("UNK", "UNK-LC-ed", "walked")
    word, symbol = np.array([1, 1, 2], np.int32), np.array([0, 1, 0], np.int32)
    found = {
        (words[w], s): c
        for w, s, c in zip(
            *smoothed(words, word, symbol, np.array([3.0, 1.0, 1.0]), Smoothing(strength=1, least=0)), strict=True
        )
    }
    # UNK: 0.75 and 0.25. UNK-LC-ed: (3 + 0.75) / 5 and (1 + 0.25) / 5, so again. walked: (1 + 0.75) / 2 and 0.25 / 2
    assert found["UNK", 0] == pytest.approx(0.75)
    assert found["UNK-LC-ed", 0] == pytest.approx(3.0)
    assert found["walked", 0] == pytest.approx(0.875)
    assert found["walked", 1] == pytest.approx(0.125)


# Latent states


@pytest.mark.parametrize("seed", range(3))
def test_expected_counts_are_those_of_all_assignments(forest: EncodedTrees, seed: int) -> None:
    grammar = random_grammar(forest, seed)
    found = Trees(forest, grammar.productions).expected(grammar)
    slow = naive_latent.expected(forest, grammar)
    assert found[0] == pytest.approx(slow[0], rel=1e-12)
    assert np.allclose(found[1], slow[1], rtol=1e-10, atol=1e-13)
    assert found[1].sum() == pytest.approx(forest.node_weights.sum())


def test_sums_of_expected_counts_have_one_order(bank: list[Tree], monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled for whatever processor, kernels give the numbers of the same lines in Python."""
    forest = encode_trees(bank * 9)
    grammar = random_grammar(forest, seed=1, rounds=3)
    counts = Trees(forest, grammar.productions).expected(grammar)[1]
    for name in ("fill_inside", "fill_outside"):
        monkeypatch.setattr(latent_kernels, name, getattr(latent_kernels, name).py_func)
    assert Trees(forest, grammar.productions).expected(grammar)[1].tobytes() == counts.tobytes()


def test_any_number_of_threads_finds_the_same(forest: EncodedTrees, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = random_grammar(forest, 7)
    whole = Trees(forest, grammar.productions).expected(grammar)
    monkeypatch.setattr("rerank_plugins.constituency.expected_counts.NODES_A_PART", 12)  # two trees are a part
    trees = Trees(forest, grammar.productions)
    found = []
    for cores in (1, 3):
        monkeypatch.setattr("rerank_plugins.constituency.expected_counts.cores", lambda cores=cores: cores)
        found.append(trees.expected(grammar))
    assert found[0][0] == found[1][0] == pytest.approx(whole[0], rel=1e-12)
    assert np.array_equal(found[0][1], found[1][1])
    assert np.allclose(found[0][1], whole[1], rtol=1e-12)


def test_merge_losses_are_those_of_all_assignments(forest: EncodedTrees) -> None:
    grammar = random_grammar(forest, 5)
    shares = np.random.default_rng(1).random(grammar.firsts[-1])
    shares[2::2] = 1 - shares[1:-1:2]  # ROOT has one state, so pairs begin at 1
    found = Trees(forest, grammar.productions).merge_losses(grammar, shares)
    assert np.allclose(found, naive_latent.merge_losses(forest, grammar, shares), rtol=1e-9, atol=1e-12)


def test_equal_subtrees_are_one_node(forest: EncodedTrees) -> None:
    rule = Trees(forest, productions(forest)).rule
    nodes, apart = (subtrees(forest, rule, 0, 5, shared=shared) for shared in (True, False))
    # the, dog, cat, barks, sees, it twice (NP and tag); the dog, the cat; four VPs and two more phrases, …
    assert len(apart.rule) == len(forest.label)
    assert len(nodes.rule) == len({str(tree) for tree in all_subtrees(forest)})
    assert nodes.weights.sum() == pytest.approx(forest.node_weights.sum())
    assert nodes.weights[nodes.left < 0].sum() == pytest.approx(forest.node_weights[forest.word >= 0].sum())
    for child in (nodes.left, nodes.right):
        assert np.all(child < np.arange(len(child)))


def all_subtrees(forest: EncodedTrees) -> list[Tree]:
    built: list[Tree] = []
    for label, left, right, word in zip(forest.label, forest.left, forest.right, forest.word, strict=True):
        children = tuple(built[child] for child in (left, right) if child >= 0)
        built.append(Tree(forest.labels[label], children or (forest.words[word],)))
    return built


def test_negligible_probabilities_cost_little(forest: EncodedTrees) -> None:
    grammar = random_grammar(forest, 2)
    trees = Trees(forest, grammar.productions)
    for _ in range(20):
        grammar = grammar.normalised(trees.expected(grammar)[1])
    log_p, counts = trees.expected(grammar)
    pruned = grammar.without_negligible(counts, 1e-4)
    assert np.count_nonzero(pruned.p) < np.count_nonzero(grammar.p > 1e-12)
    assert trees.expected(pruned)[0] == pytest.approx(log_p, abs=1e-3)
    assert grammar.without_negligible(counts, 0) is grammar


def test_chosen_trees_are_a_forest(bank: list[Tree], forest: EncodedTrees) -> None:
    part = forest.chosen(np.array([False, True, False, True, True]))
    assert part.labels == forest.labels
    assert part.weights.tolist() == [2, 0.5, 1]
    subtrees_of_part = all_subtrees(part)
    assert [subtrees_of_part[end - 1] for end in part.offsets[1:]] == [bank[1], bank[3], bank[4]]


def test_states_of_a_part_are_carried_over(forest: EncodedTrees) -> None:
    part = forest.chosen(np.array([True, True, False, False, True]))  # without PRP, and NP over a single child
    learnt = random_grammar(part, 3)
    trees = Trees(part, learnt.productions)
    log_p, counts = trees.expected(learnt)
    whole = widened(learnt, counts, forest)
    assert np.array_equal(whole.states, learnt.states)
    assert np.allclose(whole.totals(whole.p), 1)
    everywhere, some = Trees(forest, whole.productions), Trees(part, productions(part))
    assert np.isfinite(everywhere.expected(whole)[0])
    # The states are those that were learnt: on the part, only the share of what it lacks is lost.
    assert log_p - 20 < Trees(forest, whole.productions).expected(whole)[0] < log_p
    again = widened(learnt, counts, part)
    assert some.expected(again)[0] == pytest.approx(log_p, abs=0.5)


def test_carried_over_probabilities_by_definition(forest: EncodedTrees) -> None:
    """Relative frequency times the states' proportions of each child; known rewritings have a hundredth of that."""
    part = forest.chosen(np.array([True, True, False, False, True]))
    learnt = random_grammar(part, 3)
    counts = Trees(part, learnt.productions).expected(learnt)[1]
    totals, known = learnt.totals(counts), tensors_by_rule(learnt)
    proportions = [totals[first:end] for first, end in pairwise(learnt.firsts.tolist())]
    proportions = [each / each.sum() if each.any() else np.full(len(each), 1 / len(each)) for each in proportions]
    wanted, sums = {}, [np.zeros(k) for k in learnt.states]
    for rule, frequency in tensors_by_rule(unsplit(forest)).items():
        kind, parent, *children = rule
        states = [proportions[child] for child in children] if kind != "emission" else []
        left, right = [*states, np.ones(1), np.ones(1)][:2]
        value = np.ones((learnt.states[parent], 1, 1)) * frequency * left[:, None] * right
        wanted[rule] = 0.01 * value + 0.99 * known[rule] if rule in known else value
        sums[parent] += wanted[rule].sum(axis=(1, 2))
    found = tensors_by_rule(widened(learnt, counts, forest))
    assert found.keys() == wanted.keys() > known.keys()
    for rule, value in wanted.items():
        np.testing.assert_allclose(found[rule], value / sums[rule[1]][:, None, None], 1e-12)


def tensors_by_rule(grammar: LatentGrammar) -> dict[tuple[str | int, ...], FloatArray]:
    """The probabilities of each rule, which is its kind, its parent, and its children or word."""
    rules = grammar.productions
    kinds = ("binary", rules.binary), ("unary", rules.unary), ("emission", rules.emission)
    names: list[tuple[str | int, ...]] = [(kind, *row) for kind, rows in kinds for row in rows.tolist()]
    return dict(zip(names, grammar.tensors(), strict=True))


def test_splits_of_a_part_end_with_all_trees(forest: EncodedTrees) -> None:
    schedule = Schedule(rounds=2, after_split=2, after_merge=2, smoothing=2, whole=3, seed=7)
    steps: list[EmStep] = []
    latent, counts = split_merge(forest, schedule, steps.append, np.array([True, True, False, True, True]))
    assert [step.phase for step in steps[-5:]] == ["whole"] * 3 + ["smooth"] * 2
    values = [step.log_likelihood for step in steps if step.phase == "whole"]
    assert values == sorted(values)
    assert counts.sum() == pytest.approx(forest.node_weights.sum())
    assert np.allclose(finished(forest, latent, counts, 1e-5).totals(), 1)


def test_each_treebank_has_a_part(bank: list[Tree]) -> None:
    planted = encode_treebanks([bank, bank[:2]], [1.0, 2.0], GrammarSettings("en"))
    assert planted.chosen(5) is None
    chosen = planted.chosen(3)
    assert chosen is not None
    assert (chosen[:5].sum(), chosen[5:].sum()) == (3, 2)
    assert planted.forest.weights.tolist() == [1] * 5 + [2] * 2


def test_likelihood_never_falls(forest: EncodedTrees) -> None:
    grammar = random_grammar(forest, 2, rounds=2)
    trees, last = Trees(forest, grammar.productions), -np.inf
    for _ in range(30):
        log_p, counts = trees.expected(grammar)
        assert log_p >= last - 1e-9
        grammar, last = grammar.normalised(counts), log_p


def test_a_split_without_noise_changes_nothing(forest: EncodedTrees) -> None:
    grammar = unsplit(forest)
    trees = Trees(forest, grammar.productions)
    split = grammar.split(np.random.default_rng(1), noise=0).split(np.random.default_rng(1), noise=0)
    assert split.states[0] == 1
    assert set(split.states[1:]) == {4}
    assert trees.expected(split)[0] == pytest.approx(trees.expected(grammar)[0])


def test_merging_all_gives_the_treebank_grammar(forest: EncodedTrees) -> None:
    grammar = unsplit(forest)
    trees = Trees(forest, grammar.productions)
    split = random_grammar(forest, 4)
    split = split.normalised(trees.expected(split)[1])
    merged = merge_back(trees, split, 1.0)
    assert set(merged.states) == {1}
    assert trees.expected(merged.normalised(trees.expected(merged)[1]))[0] == pytest.approx(trees.expected(grammar)[0])


def test_merged_grammar_is_proper_and_loses_what_it_says(forest: EncodedTrees) -> None:
    grammar = random_grammar(forest, 9)
    trees = Trees(forest, grammar.productions)
    before, counts = trees.expected(grammar)
    total = grammar.totals(counts)
    label = forest.labels.index("DT")  # occurs once a sentence or less, save in one: the estimate is exact elsewhere
    first = grammar.firsts[label]
    shares = np.ones(len(total))
    shares[first : first + 2] = total[first : first + 2] / total[first : first + 2].sum()
    together = np.zeros(len(total), bool)
    together[first] = True
    merged = grammar.merged(together, shares)
    assert np.allclose(merged.totals(merged.p), 1)
    loss = before - trees.expected(merged)[0]
    assert loss == pytest.approx(trees.merge_losses(grammar, shares)[first], rel=0.2, abs=1e-3)


def test_smoothing_draws_states_together(forest: EncodedTrees) -> None:
    grammar = random_grammar(forest, 3)
    half = grammar.smoothed(0.5, 1.0)
    assert np.allclose(half.totals(half.p), 1)
    for rule, (before, after) in enumerate(zip(grammar.tensors(), half.tensors(), strict=True)):
        mean = before.mean(axis=0, keepdims=True)
        wanted = mean if grammar.children[rule, 0] < 0 else 0.5 * before + 0.5 * mean
        assert np.allclose(after, wanted)


def test_dead_states_stay_proper(forest: EncodedTrees) -> None:
    grammar = random_grammar(forest, 3)
    counts = np.where(grammar.owner == grammar.firsts[3], 0, grammar.p)
    again = grammar.normalised(counts)
    assert np.allclose(again.totals(again.p), 1)


def test_training_is_repeatable_and_reported(forest: EncodedTrees) -> None:
    schedule = Schedule(rounds=2, after_split=4, after_merge=3, smoothing=2, seed=7)
    steps: list[EmStep] = []
    latent, counts = split_merge(forest, schedule, steps.append)
    again, _ = split_merge(forest, schedule)
    assert np.array_equal(latent.p, again.p)
    assert [(step.round, step.phase) for step in steps[:9]] == [(1, "split")] * 4 + [(1, "merge")] * 3 + [
        (1, "smooth")
    ] * 2
    for phase in ("split", "merge"):
        values = [step.log_likelihood for step in steps if step.phase == phase and step.round == 2]
        assert all(b >= a - 1e-9 for a, b in pairwise(values))
    grammar = finished(forest, latent, counts, 1e-5)
    assert np.allclose(grammar.totals(), 1)
    assert {name.split("^")[0] for name in grammar.symbols} == set(grammar.bases)
    assert all(
        name.split("^")[0] == grammar.bases[base] for name, base in zip(grammar.symbols, grammar.base, strict=True)
    )


def test_finished_grammar_has_the_latent_probabilities(forest: EncodedTrees) -> None:
    grammar = random_grammar(forest, 8)
    counts = grammar.p * np.repeat(2.0, len(grammar.p))  # every state occurs twice
    found = finished(forest, grammar, counts, 0.0, Smoothing(strength=0))
    rules = {tuple(rule): np.exp(p) for rule, p in zip(found.binary.tolist(), found.binary_logp, strict=True)}
    for rule, tensor in enumerate(grammar.tensors()[: len(grammar.productions.binary)]):
        begins = [grammar.firsts[label] for label in (grammar.parent[rule], *grammar.children[rule])]
        for index, p in np.ndenumerate(tensor):
            assert rules[tuple(b + i for b, i in zip(begins, index, strict=True))] == pytest.approx(p)


def test_tagged_words_take_the_states_of_their_kin() -> None:
    words, tags = ("UNK", "UNK-LC-s", "dogs"), ("NN", "NN", "VB")
    word, symbol = np.array([0, 1, 1, 2, 2], np.int32), np.array([2, 0, 1, 0, 1], np.int32)
    count = np.array([1.0, 3.0, 1.0, 1.0, 1.0])
    given_words = {("dogs", "NN"): 2.0, ("cats", "NN"): 4.0, ("of", "NN"): 1.0, ("cats", "XX"): 5.0, ("go", "VB"): 0.5}
    found_words, *columns = with_tagged_words(words, word, symbol, count, tags, given_words)
    found = {(found_words[w], s): n for w, s, n in zip(*columns, strict=True)}
    assert found == pytest.approx(
        {
            ("UNK", 2): 1, ("UNK-LC-s", 0): 3, ("UNK-LC-s", 1): 1,
            ("dogs", 0): 2, ("dogs", 1): 2,  # as the word
            ("cats", 0): 3, ("cats", 1): 1,  # as UNK-LC-s
            ("of", 0): 4 / 6, ("of", 1): 2 / 6,  # as all NN
            ("go", 2): 0.5,
        }
    )  # fmt: skip


def test_tagged_words_and_words_seen_once_are_known(bank: list[Tree]) -> None:
    schedule = Schedule(rounds=1, after_split=2, after_merge=1, smoothing=1)
    settings = GrammarSettings("en", schedule=schedule)
    trees = [*bank, *read_trees(["(ROOT (NP (DT a) (NN tapir)))"])]
    without = train_grammar([trees], [1.0], settings)
    grammar = train_grammar([trees], [1.0], settings, tagged={("okapi", "NN"): 2})
    assert "tapir" not in without.lexicon
    assert {"tapir", "okapi", "UNK-LC"} <= set(grammar.lexicon.words)
    assert np.allclose(grammar.totals(), 1)
    assert np.allclose(np.exp(grammar.binary_logp), np.exp(without.binary_logp))


# Annotations


def marks(name: str, brackets: str) -> list[str]:
    (tree,) = read_trees([brackets])
    return [node.label for node in annotate(tree, named([name])).nodes()]


@pytest.mark.parametrize(
    ("name", "brackets", "expected"),
    [
        ("unary-internal", "(ROOT (S (VP (VB go))))", ["ROOT", "S-U", "VP-U", "VB"]),
        ("unary-external", "(ROOT (NP (NP (DT that)) (ADVP (RB up) (RB there))))", ["ROOT", "NP", "NP", "DT-U", "ADVP", "RB", "RB"]),
        ("tag-pa", "(ROOT (NP (DT a) (NN b)))", ["ROOT", "NP", "DT-NP", "NN-NP"]),
        ("split-in", "(ROOT (NP (NP (NN a)) (PP (IN of) (NP (NN b)))))", ["ROOT", "NP", "NP", "NN", "PP", "IN-N", "NP", "NN"]),
        ("split-in", "(ROOT (VP (VB go) (SBAR (IN if) (S (VP (VB can))))))", ["ROOT", "VP", "VB", "SBAR", "IN-C", "S", "VP", "VB"]),
        ("split-aux", "(ROOT (VP (VBZ Is) (VP (VBN had))))", ["ROOT", "VP", "VBZ-BE", "VP", "VBN-HAVE"]),
        ("split-cc", "(ROOT (NP (CC But) (CC &) (CC and)))", ["ROOT", "NP", "CC-BUT", "CC-AMP", "CC"]),
        ("split-percent", "(ROOT (NP (CD 3) (NN %)))", ["ROOT", "NP", "CD", "NN-PC"]),
        ("base-np", "(ROOT (NP (NP (NN a)) (CC b)))", ["ROOT", "NP", "NP-BASE", "NN", "CC"]),
        ("poss-np", "(ROOT (NP (NP (NN a) (POS 's)) (NN b)))", ["ROOT", "NP", "NP-P", "NN", "POS", "NN"]),
        ("right-rec-np", "(ROOT (NP (NP (NN a)) (PP (IN b) (NP (NN c)))))", ["ROOT", "NP-R", "NP", "NN", "PP", "IN", "NP", "NN"]),
        ("dominates-v", "(ROOT (NP (NP (NN a)) (VP (VBN b))))", ["ROOT", "NP-v", "NP", "NN", "VP-v", "VBN"]),
        ("gapped-s", "(ROOT (S (VP (VB a) (S (NP (NN b)) (VP (VB c))))))", ["ROOT", "S-G", "VP", "VB", "S", "NP", "NN", "VP", "VB"]),
        ("split-vp", "(ROOT (VP (VBD a) (VP (VBG b))))", ["ROOT", "VP-FIN", "VBD", "VP-VBG", "VBG"]),
        ("tmp-np", "(ROOT (NP-TMP (JJ last) (NN May)))", ["ROOT", "NP-TMP", "JJ", "NN-TMP"]),
    ],
)  # fmt: skip
def test_annotations(name: str, brackets: str, expected: list[str]) -> None:
    assert marks(name, brackets) == expected


def test_plain_takes_all_marks_away(bank: list[Tree]) -> None:
    settings = GrammarSettings("en", "head", 1, 2, tuple(ANNOTATIONS))
    for tree, prepared in zip(bank, settings.prepared(bank), strict=True):
        assert plain(prepared) == clean(tree)
        assert prepared.label == "ROOT"  # the start symbol, whatever it dominates


def test_unknown_annotation() -> None:
    with pytest.raises(ConfigError, match=r"unknown annotation 'tag-po'; there are .*tag-pa"):
        named(["tag-po"])


# Training and files


@pytest.fixture(scope="module")
def grammar(bank: list[Tree]) -> Grammar:
    schedule = Schedule(rounds=1, after_split=3, after_merge=2, smoothing=1)
    return train_grammar([bank, bank[:2]], [1.0, 0.5], GrammarSettings("en", schedule=schedule))


@pytest.mark.parametrize(("compact", "most"), [(False, 1e-5), (True, 0.02)])
def test_written_and_read(grammar: Grammar, tmp_path: Path, compact: bool, most: float) -> None:
    path = tmp_path / "small.pcfg"
    assert write_grammar(grammar, path, compact=compact) == path.stat().st_size
    read = read_grammar(path)
    assert np.allclose(read.totals(), 1, atol=1e-12)
    assert np.abs(read.binary_logp - grammar.binary_logp).max() < most
    assert np.abs(read.lexicon.logp - grammar.lexicon.logp).max() < most
    for name in ("symbols", "bases"):
        assert getattr(read, name) == getattr(grammar, name)
    for name in ("base", "binary", "unary"):
        assert np.array_equal(getattr(read, name), getattr(grammar, name))
    assert read.lexicon.words == grammar.lexicon.words
    assert read.settings["language"] == "en"
    assert read.settings["trees"] == [5, 2]


def test_damaged_files(grammar: Grammar, tmp_path: Path) -> None:
    path = tmp_path / "small.pcfg"
    write_grammar(grammar, path)
    check_damage_is_seen(path, read_grammar, ModelError)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with pytest.raises(ModelError, match="cut short"):
        read_grammar(path)
    path.write_bytes(b"something else")
    with pytest.raises(ModelError, match=r"small\.pcfg: not a model file"):
        read_grammar(path)
    with pytest.raises(ModelError, match="cannot be read"):
        read_grammar(tmp_path / "nothing")
    assert list(tmp_path.iterdir()) == [path]


def test_no_trees() -> None:
    with pytest.raises(FormatError, match="no trees to learn from"):
        train_grammar([[]], [1.0], GrammarSettings("en"))


def test_command(tmp_path: Path) -> None:
    bank, output = tmp_path / "bank.ptb", tmp_path / "bank.pcfg"
    bank.write_text("\n".join(BANK), encoding="utf-8")
    given = ("train", "grammar", bank, "--language", "en", "-o", output)
    ran = done(*given, "--splits", 1, "--max-split-trees", 4, "--held-out", bank)
    assert ran.out == ""
    assert "5 trees" in ran.err
    assert "round 1 of 1, smooth: ln p of the trees" in ran.err
    schedule = read_grammar(output).settings["schedule"]
    assert (schedule["rounds"], schedule["learn_on"]) == (1, 4)
    assert "5 sentences, F1 " in ran.err
    assert says_what_it_wrote(ran, r"the grammar \([\d.]+ MB\)", output)
    assert "--weight bank=2: expected one of the files and a positive number" in refused(*given, "--weight", "bank=2")
    text = tmp_path / "text.conllu"
    text.write_text("# x\n1\tokapi\t_\tNOUN\tNN\n1.1\tx\t_\tX\tX\n\n", encoding="utf-8")
    ran = done(*given, "--splits", 0, "--tagged", text, "--weight", f"{text}=3")
    assert "text.conllu: 1 distinct pairs of a word and a tag" in ran.err
    assert "okapi" in read_grammar(output).lexicon
    text.write_text("1 okapi NN\n", encoding="utf-8")
    assert "text.conllu:1: expected 10 tab-separated CoNLL-U columns" in refused(*given, "--tagged", text)
    assert "unknown annotation 'x'" in refused(*given, "--annotations", "x")
    bank.write_text("(ROOT (S", encoding="utf-8")
    assert "bank.ptb:1: 2 opening brackets" in refused(*given)


def test_rules_whose_symbols_never_yield_words_are_left_out() -> None:
    """Without X → A, which is rare, X would go on for ever."""
    texts = ["(ROOT (X (X (X (A a)) (A a)) (A a)))", "(ROOT (A a))"]
    forest = encode_trees(read_trees(texts))
    latent = unsplit(forest)
    counts = Trees(forest, latent.productions).expected(latent)[1]
    grammar = finished(forest, latent, counts, 0.0, fewest=1.5)
    assert [[grammar.symbols[symbol] for symbol in rule] for rule in grammar.unary.tolist()] == []
    assert not len(grammar.binary)
    whole = finished(forest, latent, counts, 0.0)
    assert len(whole.binary) == 1
    assert len(whole.unary) == 3
