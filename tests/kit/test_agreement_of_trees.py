"""Subjects that disagree with their verbs, in trees made by hand, and the trees that are left out of training data."""

from __future__ import annotations

import pytest

from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.kit.trees.agreement import disagreements
from rerank_plugins.resources.en.agreeing_trees import is_plausible

AGREE = [
    "(S (NP (DT The) (NNS dogs)) (VP (VBP bark)))",
    "(S (NP (DT The) (NN dog)) (VP (VBD barked)))",
    "(S (NP (DT The) (NN dog)) (VP (MD can) (VP (VB bark))))",
    "(S (NP (PRP I)) (VP (VBD was) (ADJP (JJ glad))))",
    "(S (NP (PRP I)) (VP (VBP laugh)))",
    "(S (VP (VB Let) (S (NP (DT the) (NN dog)) (VP (VB bark)))))",
    "(SBAR (IN if) (S (NP (PRP it)) (VP (VBD were) (ADJP (JJ true)))))",
    "(S (NP (NP (NNP Ann)) (CC and) (NP (NNP Bo))) (VP (VBP sing)))",
    "(S (NP (NP (DT the) (NN key)) (PP (TO to) (NP (DT the) (NNS cabinets)))) (VP (VBZ is) (ADJP (JJ old))))",
]
DISAGREE = [
    ("(S (NP (DT The) (NNS dogs)) (VP (VBZ barks)))", "The dogs | barks"),
    ("(S (NP (DT The) (NN dog)) (VP (VBP bark)))", "The dog | bark"),
    ("(S (NP (DT The) (NN dog)) (VP (VB bark)))", "The dog | bark"),
    ("(S (NP (PRP I)) (VP (VBZ laughs)))", "I | laughs"),
    ("(S (NP (PRP we)) (VP (VBD was) (ADJP (JJ glad))))", "we | was glad"),
    (
        "(S (NP (NP (DT the) (NN key)) (PP (TO to) (NP (DT the) (NNS cabinets)))) (VP (VBP are) (ADJP (JJ old))))",
        "the key to the cabinets | are old",
    ),
    (
        "(S (NP (NP (NNS cats)) (SBAR (WHNP (WDT that)) (S (NP (DT the) (NN boy)) (VP (VBP like))))) (VP (VBP purr)))",
        "the boy | like",
    ),
]


@pytest.mark.parametrize("text", AGREE)
def test_trees_whose_subjects_agree(text: str) -> None:
    (tree,) = read_trees([f"(ROOT {text})"])
    assert not list(disagreements(tree))
    assert is_plausible(tree)


@pytest.mark.parametrize(("text", "words"), DISAGREE)
def test_trees_whose_subjects_disagree(text: str, words: str) -> None:
    (tree,) = read_trees([f"(ROOT {text})"])
    assert [" | ".join(map(" ".join, each)) for each in disagreements(tree)] == [words]
    assert not is_plausible(tree)


def test_that_is_no_preposition() -> None:
    (tree,) = read_trees(["(ROOT (NP (NP (NNS cats)) (PP (IN that) (NP (DT the) (NN boy)))))"])
    assert not is_plausible(tree)
