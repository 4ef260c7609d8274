"""Features of English trees: marks on trees made by hand, the lines of a table, and grammars of marked trees."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from rerank_plugins import ConfigError, FormatError, Tree
from rerank_plugins.constituency.language_model import PcfgLanguageModel
from rerank_plugins.constituency.model_file import write_grammar
from rerank_plugins.constituency.split_merge import Schedule
from rerank_plugins.constituency.training import GrammarSettings, encode_treebanks, train_grammar
from rerank_plugins.constituency.treebank_grammar import productions
from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.hhmm.language_model import HhmmLanguageModel
from rerank_plugins.kit.trees.feature_table import read_table
from rerank_plugins.kit.trees.features import FeatureRules, english_features
from rerank_plugins.kit.trees.marked_labels import finish, unmarked
from rerank_plugins.kit.trees.treebank_cleaning import category, relabel

ALL = tuple(feature.name for feature in english_features().features)
MARKED = [
    # Number goes from nouns and determiners to noun phrases, and from verbs to verb phrases.
    (
        "(S (NP (DT These) (NNS dogs)) (VP (VBP bark)))",
        "(S=pl (NP-pl (DT-pl These) (NNS dogs)) (VP-pl (VBP-pl bark)))",
    ),
    ("(S (NP (DT The) (NN dog)) (VP (MD can) (VP (VB bark))))", "(S (NP-sg (DT The) (NN dog)) (VP (MD can) (VP-base (VB bark))))"),
    # Two joined noun phrases are plural.
    (
        "(S (NP (NP (NNP Ann)) (CC and) (NP (NNP Bo))) (VP (VBP sing)))",
        "(S=pl (NP-pl (NP-sg (NNP Ann)) (CC and) (NP-sg (NNP Bo))) (VP-pl (VBP-pl sing)))",
    ),
    # Joined verb phrases have the number of the first.
    (
        "(S (NP (PRP He)) (VP (VP (VBZ sings)) (CC and) (VP (VBZ laughs))))",
        "(S=sg (NP-sg (PRP He)) (VP-sg (VP-sg (VBZ sings)) (CC and) (VP-sg (VBZ laughs))))",
    ),
    # A clause without a subject hands its number up to the relative clause, which stands beside its noun.
    (
        "(NP (NP (NNS cats)) (SBAR (WHNP (WDT that)) (S (VP (VBP purr)))))",
        "(NP-pl (NP-pl (NNS cats)) (SBAR-pl (WHNP (WDT that)) (S-pl (VP-pl (VBP-pl purr)))))",
    ),
    # A relative clause with a subject has a gap. Its number is a matter of its own.
    (
        "(NP (NP (NNS cats)) (SBAR (WHNP (WDT that)) (S (NP (DT the) (NN boy)) (VP (VBZ likes)))))",
        "(NP-pl (NP-pl (NNS cats)) (SBAR (WHNP (WDT that)) (S-gap=sg (NP-sg (DT the) (NN boy)) (VP-sg-gap (VBZ-obj likes)))))",
    ),
    # A reflexive gives the verb phrase its number.
    (
        "(S (NP (DT The) (NN girl)) (VP (VBD hurt) (NP (PRP herself))))",
        "(S=sg (NP-sg (DT The) (NN girl)) (VP-sg (VBD-obj hurt) (NP-self.sg-sg (PRP-self.sg herself))))",
    ),
    # A polarity item waits for what licenses it: a negative before it in one of the phrases above.
    (
        "(S (NP (PRP I)) (VP (VBD saw) (NP (DT any) (NN dog))))",
        "(S-any (NP-1 (PRP I)) (VP-any (VBD-obj saw) (NP-sg-any (DT-any any) (NN dog))))",
    ),
    (
        "(S (NP (DT No) (NN dog)) (VP (MD will) (ADVP (RB ever)) (VP (VB bark))))",
        "(S (NP-sg-neg (DT-neg No) (NN dog)) (VP-ever (MD will) (ADVP-ever (RB-ever ever)) (VP-base (VB bark))))",
    ),
    # A question ends the waiting.
    (
        "(SQ (VBZ Does) (NP (NNP Bo)) (ADVP (RB ever)) (VP (VB sing)))",
        "(SQ=sg (VBZ Does) (NP-sg (NNP Bo)) (ADVP-ever (RB-ever ever)) (VP-base (VB sing)))",
    ),
    # A bare verb, and verbs with an object or a clause beside them; a gap is an object.
    (
        "(S (NP (PRP We)) (VP (VBP say) (SBAR (S (NP (PRP he)) (VP (MD can) (VP (VB read) (NP (NNS books))))))))",
        "(S=pl (NP-pl (PRP We)) (VP-pl (VBP-pl-clause say) (SBAR (S (NP-sg (PRP he)) (VP (MD can) (VP-base (VB-obj read) (NP-pl (NNS books))))))))",
    ),
    # A stranded preposition has the gap.
    (
        "(SBAR (NP (WP what)) (S (NP (PRP we)) (VP (VBP look) (PP (IN at)))))",
        "(SBAR (NP-wh (WP what)) (S-gap=pl (NP-pl (PRP we)) (VP-pl-gap (VBP-pl look) (PP-gap (IN at)))))",
    ),
    # So has one at the end of the object.
    (
        "(SBAR (NP (WP what)) (S (NP (PRP we)) (VP (VBP see) (NP (NP (NNS pictures)) (PP (IN of))))))",
        "(SBAR (NP-wh (WP what)) (S-gap=pl (NP-pl (PRP we)) (VP-pl-gap (VBP-pl-obj see) (NP-pl-gap (NP-pl (NNS pictures)) (PP-gap (IN of))))))",
    ),
]  # fmt: skip


def tree_of(text: str) -> Tree:
    """The tree of a text in brackets."""
    (tree,) = read_trees([text])
    return tree


@pytest.mark.parametrize(("text", "marked"), MARKED)
def test_marks_of_trees_made_by_hand(text: str, marked: str) -> None:
    rules = english_features()
    assert str(rules.mark(tree_of(text))) == marked
    assert str(relabel(tree_of(marked), category)) == text


def test_chosen_features_come_with_those_that_they_read() -> None:
    rules = english_features()
    assert [feature.name for feature in rules.chosen(["number"]).features] == ["reflexive", "number"]
    assert [feature.name for feature in rules.chosen(["gap"]).features] == ["gap"]
    with pytest.raises(ConfigError, match=r"unknown feature 'tense'.*number"):
        rules.chosen(["tense"])


@pytest.mark.parametrize(
    "line", ["number is sg", "number form head : NP", "number from : NP", "number", "number ends before wh : S"]
)
def test_a_malformed_line_is_named(line: str) -> None:
    with pytest.raises(FormatError, match=r"table:2.*expected a line such as"):
        read_table(["# a table", line], "table")


TABLE = """
a is x : NNS
a from head : NP
a from NP unless PP : VP
a shown : VP
b is y : NNS
b from head : NP
b from NP : VP
b inside beside NP unless PP : VP
b shown : VP
c is z in VP beside VB : VB
"""


@pytest.mark.parametrize(
    "marked",
    [
        "(VP-x=y (VB see) (NP (NNS dogs)))",
        "(VP-y (VB see) (NP (NNS dogs)) (PP (IN by)))",  # one child of `unless` is enough
        "(VP (VB-z go) (VB see))",  # no verb stands before itself
    ],
)
def test_a_line_is_about_the_children_that_it_names(marked: str) -> None:
    rules = FeatureRules(read_table(TABLE.splitlines(), "table"))
    assert str(rules.mark(relabel(tree_of(marked), category))) == marked


def test_the_symbols_within_a_phrase_hand_on_what_the_rule_must_check() -> None:
    settings = GrammarSettings("en", features=ALL)
    (tree,) = settings.prepared([tree_of("(ROOT (S (NP (PRP They)) (ADVP (RB often)) (VP (VBP bark))))")])
    assert str(tree) == "(ROOT (S (NP-pl (PRP They)) (@S=pl (ADVP (RB often)) (VP-pl (VBP-pl bark)))))"
    assert str(finish(tree)) == str(tree)


NOUNS = [("dog", "dogs"), ("boy", "boys"), ("girl", "girls"), ("cat", "cats"), ("king", "kings")]
VERBS = [("barks", "bark"), ("sings", "sing"), ("laughs", "laugh"), ("sleeps", "sleep"), ("runs", "run")]


def sentences(count: int, seed: int) -> list[Tree]:
    """Trees in which subjects agree with their verbs, also across a prepositional phrase."""
    draws = random.Random(seed)
    trees = []
    for _ in range(count):
        plural, other = draws.random() < 0.5, draws.random() < 0.5
        tag, verb_tag = ("NNS", "VBP") if plural else ("NN", "VBZ")
        noun, verb = draws.choice(NOUNS)[plural], draws.choice(VERBS)[plural]
        subject = f"(NP (DT the) ({tag} {noun}))"
        if draws.random() < 0.5:
            distractor = f"(NP (DT the) ({'NNS' if other else 'NN'} {draws.choice(NOUNS)[other]}))"
            subject = f"(NP {subject} (PP (IN near) {distractor}))"
        trees.append(tree_of(f"(ROOT (S {subject} (VP ({verb_tag} {verb})) (. .)))"))
    return trees


def trained(trees: Sequence[Tree], direction: str, rounds: int, features: tuple[str, ...] = ALL):  # type: ignore[no-untyped-def]
    """A grammar of trees with the marks of features."""
    settings = GrammarSettings("en", direction, features=features, schedule=Schedule(rounds=rounds))  # type: ignore[arg-type]
    return train_grammar([trees], [1.0], settings)


@pytest.mark.parametrize("direction", ["left", "right"])
@pytest.mark.parametrize("rounds", [0, 1])
def test_probabilities_sum_to_one_for_every_marked_symbol(direction: str, rounds: int) -> None:
    grammar = trained(sentences(100, 1), direction, rounds)
    assert any("-pl" in name for name in grammar.symbols)
    assert grammar.totals() == pytest.approx(1.0)


def test_without_its_marks_the_grammar_is_that_of_the_plain_trees() -> None:
    trees, settings = sentences(100, 1), GrammarSettings("en", "left")
    plain = encode_treebanks([trees], [1.0], settings).forest
    marked = encode_treebanks([trees], [1.0], replace(settings, features=ALL)).forest
    assert len(marked.labels) > len(plain.labels)
    summed = marked.renamed([unmarked(label) for label in marked.labels])
    assert summed.labels == plain.labels
    for kind in ("binary", "binary_count", "unary", "unary_count", "emission", "emission_count"):
        assert np.array_equal(getattr(productions(summed), kind), getattr(productions(plain), kind))


def test_trees_in_which_nothing_bears_a_mark_give_the_grammar_of_plain_trees() -> None:
    trees = [tree_of(f"(ROOT (X (Y {a}) (Z {b})))") for a in "abc" for b in "de"]
    with_table, plain = trained(trees, "right", 2), trained(trees, "right", 2, ())
    assert with_table.symbols == plain.symbols
    assert np.array_equal(with_table.binary_logp, plain.binary_logp)


@pytest.mark.parametrize(("model", "direction"), [(HhmmLanguageModel, "left"), (PcfgLanguageModel, "right")])
def test_subjects_agree_with_their_verbs(model, direction: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "agreement.pcfg"
    write_grammar(trained(sentences(100, 1), direction, 1), path)
    pairs = [
        (("the", *subject, verb[plural], "."), ("the", *subject, verb[not plural], "."))
        for plural in (False, True)
        for noun in NOUNS
        for verb in VERBS[:2]
        for subject in ((noun[plural],), (noun[plural], "near", "the", noun[not plural]))
    ]
    good, bad = (model(model=path).totals([pair[side] for pair in pairs]) for side in (0, 1))
    assert (good > bad).all()
