"""Phrase structure from dependencies: the heads come back, arcs are lifted as in the naive twin, errors are one line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_plugins import ConfigError, DependencyTree, FormatError, Tree
from rerank_plugins.core.dependency_tree import tree_fault, write_conllu
from rerank_plugins.kit.files.treebanks import of_dependencies
from rerank_plugins.kit.trees.binarisation import Binarisation
from rerank_plugins.kit.trees.dependency_constituents import (
    Conversion,
    as_label,
    kind_of_labels,
    lift,
    to_constituents,
    to_dependencies,
)
from rerank_plugins.kit.trees.head_rules import PARTS_OF_SPEECH, english_heads
from rerank_plugins.kit.trees.treebank_cleaning import clean
from tests.kit.naive_projectivity import is_projective, lifted

UPOS = sorted(PARTS_OF_SPEECH)
RELATIONS = ["nsubj", "obj", "det", "case", "punct", "conj"]


@st.composite
def projective_heads(draw: st.DrawFn, first: int = 0, longest: int = 9) -> list[int]:
    """The heads of a random projective tree: a root, and trees to its left and right, spans split at random."""
    heads = [-1] * draw(st.integers(1, longest))
    todo = [(first, len(heads), -1)]
    while todo:
        start, end, head = todo.pop()
        if start < end:
            cut = draw(st.integers(start + 1, end))  # words of the first dependent's span
            root = draw(st.integers(start, cut - 1)) if head >= 0 else draw(st.integers(start, end - 1))
            cut = cut if head >= 0 else end
            heads[root] = head
            todo += [(start, root, root), (root + 1, cut, root), (cut, end, head)]
    return heads


def any_heads(order: list[int], choices: list[int]) -> list[int]:
    """The heads of a tree: each word of `order` depends on an earlier one of the order, the first on the root."""
    heads = [-1] * len(order)
    for place in range(1, len(order)):
        heads[order[place]] = order[choices[place] % place]
    return heads


@st.composite
def trees_of(draw: st.DrawFn, heads: st.SearchStrategy[list[int]]) -> DependencyTree:
    chosen = draw(heads)
    tags = tuple(draw(st.sampled_from(UPOS)) for _ in chosen)
    relations = tuple("root" if head < 0 else draw(st.sampled_from(RELATIONS)) for head in chosen)
    return DependencyTree(tuple(f"w{i}" for i in range(len(chosen))), tuple(chosen), relations, tags)


free_heads = st.integers(1, 9).flatmap(
    lambda size: st.builds(
        any_heads, st.permutations(range(size)), st.lists(st.integers(0, 50), min_size=9, max_size=9)
    )
)


@given(trees_of(projective_heads()))
def test_a_projective_tree_comes_back(tree):
    assert tree_fault(tree.heads) is None
    assert is_projective(tree.heads)
    converted = to_constituents(tree)
    assert lift(tree.heads) == tree.heads
    assert to_dependencies(converted) == tree
    assert clean(converted) == converted


@given(trees_of(projective_heads()), st.sampled_from(["right", "left", "head"]), st.integers(0, 2))
def test_heads_survive_binarisation_and_tags_of_the_treebank(tree, direction, horizontal):
    tags = [as_label(f"{tag[0]}-$({i}.x") for i, tag in enumerate(tree.tags)]
    binarised = Binarisation(direction, horizontal).apply(to_constituents(tree, tags))
    assert to_dependencies(Binarisation(direction, horizontal).undo(binarised)) == tree


@given(free_heads)
def test_lifting_is_that_of_the_naive_twin(heads):
    projective = lift(heads)
    assert projective == lifted(heads)
    assert is_projective(projective)
    assert tree_fault(projective) is None
    assert (projective == tuple(heads)) is is_projective(heads)


@given(trees_of(projective_heads()))
def test_every_phrase_has_one_tag_which_is_its_head(tree):
    for node in to_constituents(tree).subtrees[0].nodes():
        if not node.is_preterminal:
            (head,) = [i for i, child in enumerate(node.subtrees) if child.is_preterminal]
            assert english_heads().head_child(node) == head


def test_a_phrase_of_a_parser_without_its_tag_has_a_head_all_the_same():
    tree = Tree(
        "ROOT", (Tree("VERB.root", (Tree("NOUN.obj", (Tree("NOUN", ("a",)),)), Tree("X.dep", (Tree("X", ("b",)),)))),)
    )
    assert to_dependencies(tree).heads == (-1, 0)


def test_relations_lose_their_subtypes():
    tree = DependencyTree(("was", "seen"), (1, -1), ("aux:pass", "root"), ("AUX", "VERB"))
    assert str(to_constituents(tree)) == "(ROOT (VERB.root (AUX.aux (AUX was)) (VERB seen)))"


SENTENCE = """1-2\tim\t_\t_\t_\t_\t_\t_\t_\t_
1\tin\tin\tADP\tAPPR\t_\t3\tcase\t_\t_
2\tdem\tder\tDET\tART\t_\t3\tdet\t_\t_
2.1\tleer\t_\t_\t_\t_\t_\t_\t_\t_
3\tHaus\tHaus\tNOUN\tNN\t_\t0\troot\t_\t_
4\t(\t(\tPUNCT\t$(\t_\t3\tpunct\t_\t_

"""


def test_reading_skips_multiword_tokens_and_empty_nodes():
    conversion = Conversion()
    assert [str(tree) for tree in conversion.read(SENTENCE.splitlines(keepends=True))] == [
        "(ROOT (NOUN.root (ADP.case (ADP in)) (DET.det (DET dem)) (NOUN Haus) (PUNCT.punct (PUNCT -LRB-))))"
    ]
    (tree,) = Conversion("xpos").read(SENTENCE.splitlines(keepends=True))
    assert tree.tags() == ("APPR", "ART", "NN", "$_")
    assert tree.words()[-1] == "("
    assert str(conversion) == "0 of 4 arcs lifted to make 0 trees projective"


def test_lifted_arcs_are_counted():
    crossed = DependencyTree(("a", "b", "c", "d"), (2, 3, -1, 2), ("det", "det", "root", "obj"), ("DET",) * 4)
    crossed = replace(crossed, heads=(2, 3, -1, 2))
    conversion = Conversion()
    (tree,) = conversion.read(write_conllu(crossed).splitlines())
    assert to_dependencies(tree).heads == (2, 2, -1, 2)
    assert str(conversion) == "1 of 4 arcs lifted to make 1 tree projective"


@pytest.mark.parametrize(
    ("tags", "old", "new", "line", "message"),
    [
        ("upos", "NOUN", "_", 5, "expected a universal part of speech (column 4), such as NOUN, found '_'"),
        ("upos", "NOUN", "NN", 5, "found 'NN'"),
        ("xpos", "ART", "_", 3, "expected a tag of the treebank (XPOS, column 5), found none"),
    ],
)
def test_a_missing_tag_is_an_error_with_its_line(tags, old, new, line, message):
    lines = SENTENCE.replace(f"\t{old}\t", f"\t{new}\t").splitlines(keepends=True)
    with pytest.raises(FormatError) as error:
        list(Conversion(tags).read(lines, "x.conllu"))
    assert error.value.line == line
    assert message in str(error.value)


def test_kinds_of_files_and_labels():
    assert of_dependencies([Path("a.conllu"), Path("b.conllu.xz")])
    assert not of_dependencies([Path("a.ptb")])
    with pytest.raises(ConfigError, match=r"^b.conllu has dependencies, a.ptb trees in brackets: a model cannot mix"):
        of_dependencies([Path("a.ptb"), Path("b.conllu")])
    assert kind_of_labels(["ROOT", "@NOUN.obj", "NOUN.obj-U", "ADP-of", "NOUN.obj+NOUN"]) == "upos"
    assert kind_of_labels(["ROOT", "NP", "DT", ".", "X"]) == "" == kind_of_labels([])
    assert kind_of_labels(["NOUN.obj", "NN"]) == "xpos"
