"""Rules whose labels bear marks: what combinations lack, as by definition, and the prior that it is added to."""

from __future__ import annotations

import random

import numpy as np
import pytest

from rerank_plugins import Tree
from rerank_plugins.constituency.expected_counts import Trees
from rerank_plugins.constituency.latent_grammar import unsplit
from rerank_plugins.constituency.marked_states import with_marks
from rerank_plugins.constituency.split_merge import Schedule
from rerank_plugins.constituency.training import GrammarSettings, train_grammar
from rerank_plugins.constituency.treebank_grammar import EncodedTrees, encode_trees, productions
from rerank_plugins.core.constituency_tree import read_trees
from tests.constituency.naive_marked_states import lacking

SETTINGS = GrammarSettings("en", features=("number", "gap", "polarity"))
MARKS = SETTINGS.marks()


def trees(count: int, seed: int) -> list[Tree]:
    """Binary trees whose labels have marks of number, gaps and polarity at random."""
    draws = random.Random(seed)

    def label(name: str) -> str:
        number, gap, polarity = (draws.choice(("", mark)) for mark in ("-pl", "-gap", "-any"))
        return name + number + gap + polarity

    texts = [
        f"(ROOT ({label('S')} ({label('NP')} ({label('NN')} it)) ({label('VP')} ({label('VB')} runs) (RB so))))"
        for _ in range(count)
    ]
    return list(read_trees(texts))


def forests(count: int) -> tuple[EncodedTrees, EncodedTrees]:
    """The forest of such trees, without and with marks."""
    marked = encode_trees(trees(count, 1))
    return marked.renamed([MARKS.plain(label) for label in marked.labels]), marked


def test_projections_keep_the_marks_of_head_or_foot_features() -> None:
    assert MARKS.head("@VP-pl-gap-any") == "@VP-pl"
    assert MARKS.foot("@VP-pl-gap-any") == "@VP-gap-any"
    assert MARKS.foot("S-gap=sg") == "S-gap"
    assert MARKS.plain("@VP-pl-gap-any") == "@VP"


@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
def test_what_combinations_lack_is_that_of_the_definition(part: float) -> None:
    plain, marked = forests(80)
    grammar = unsplit(plain)
    counts = Trees(plain, grammar.productions).expected(grammar)[1]
    start, prior = with_marks(grammar, counts, plain, marked, MARKS, 20.0, part)
    rules = start.productions
    seen = productions(marked)
    names = np.array(marked.labels)
    for kind in ("binary", "unary"):
        before = {
            tuple(names[rule]): count
            for rule, count in zip(getattr(seen, kind), getattr(seen, f"{kind}_count"), strict=True)
        }
        expected = {rule: part * value for rule, value in lacking(before, marked.labels, MARKS).items()}
        table = getattr(rules, kind)
        begin = 0 if kind == "binary" else len(rules.binary)
        added = np.add.reduceat(prior.added, start.places[:-1])[begin : begin + len(table)]
        found = {tuple(names[rule]): value for rule, value in zip(table, added, strict=True)}
        assert found.keys() >= before.keys()
        assert found == pytest.approx({rule: expected.get(rule, 0.0) for rule in found})
        if part:
            assert found.keys() == before.keys() | expected.keys()
            assert len(found) > len(before)
    totals = start.totals(start.p)
    assert totals[totals > 0] == pytest.approx(1.0)
    assert prior.mean.totals(prior.mean.p)[totals > 0] == pytest.approx(1.0)


def test_every_node_has_its_rule_among_the_combinations() -> None:
    plain, marked = forests(80)
    grammar = unsplit(plain)
    counts = Trees(plain, grammar.productions).expected(grammar)[1]
    rules = with_marks(grammar, counts, plain, marked, MARKS, 20.0, 0.5)[0].productions
    seen = productions(marked)
    for kind, nodes in (("binary", marked.right >= 0), ("unary", (marked.right < 0) & (marked.word < 0))):
        assert np.array_equal(getattr(rules, kind)[rules.rule[nodes]], getattr(seen, kind)[seen.rule[nodes]])
        assert getattr(rules, f"{kind}_count").sum() == pytest.approx(getattr(seen, f"{kind}_count").sum())


def test_a_combination_that_no_tree_has_gets_a_probability() -> None:
    shapes = [("-pl", ""), ("", "-any")] * 30 + [("", "")] * 30 + [("-pl", "-any")]
    texts = [f"(ROOT (S (NP{number}{foot} (NN it)) (VP{number}{foot} (VB runs))))" for number, foot in shapes[:-1]]
    texts.append("(ROOT (X (NP-pl-any (NN it)) (VP-pl-any (VB runs))))")
    forest = encode_trees(read_trees(texts))
    plain = forest.renamed([MARKS.plain(label) for label in forest.labels])
    grammar = unsplit(plain)
    counts = Trees(plain, grammar.productions).expected(grammar)[1]
    start = with_marks(grammar, counts, plain, forest, MARKS, 20.0, 0.5)[0]
    names = [tuple(forest.labels[label] for label in rule) for rule in start.productions.binary.tolist()]
    rule = names.index(("S", "NP-pl-any", "VP-pl-any"))
    none_with_none = 60 * 60 / 90 - 30  # what the rule without marks lacks
    assert start.p[start.places[rule]] == pytest.approx(
        0.5 * 30 * 30 / 90 / (90 + 0.5 * (30 * 30 / 90 + none_with_none))
    )


def test_latent_grammars_with_combinations_sum_to_one() -> None:
    settings = GrammarSettings("en", "left", features=SETTINGS.features, schedule=Schedule(rounds=1, rare=2.0))
    texts = [
        "(ROOT (S (NP (NNS dogs)) (VP (VBP see) (NP (DT any) (NN cat)))))",
        "(ROOT (S (NP (NN dog)) (VP (VBZ sees) (NP (DT the) (NN cat)))))",
        "(ROOT (S (NP (NP (NN dog)) (SBAR (WHNP (WDT that)) (S (NP (NNS cats)) (VP (VBP see))))) (VP (VBZ sees))))",
    ]
    totals = train_grammar([list(read_trees(texts * 20))], [1.0], settings).totals()
    assert totals[totals > 0] == pytest.approx(1.0)  # a state that EM has left without a count has no rules


def test_a_word_has_its_tag_with_all_marks_of_siblings() -> None:
    settings = GrammarSettings("en", features=("complement",))
    texts = ["(ROOT (VP (VB see) (NP (NN it))))"] * 6 + ["(ROOT (VP (VB run) (RB so)))"] * 2
    forest = encode_trees(settings.rules().mark(tree) for tree in read_trees(texts))
    marks = settings.marks()
    plain = forest.renamed([marks.plain(label) for label in forest.labels])
    grammar = unsplit(plain)
    counts = Trees(plain, grammar.productions).expected(grammar)[1]
    start, prior = with_marks(grammar, counts, plain, forest, marks, 20.0, 1.0)
    emissions = len(start.productions.binary) + len(start.productions.unary)
    added = {
        (forest.labels[label], forest.words[word]): prior.added[start.places[emissions + i]]
        for i, (label, word) in enumerate(start.productions.emission.tolist())
        if forest.labels[label].startswith("VB")
    }
    assert added == pytest.approx(
        {("VB-obj", "see"): 0.75, ("VB", "see"): 0.25, ("VB-obj", "run"): 0.75, ("VB", "run"): 0.25}
    )
