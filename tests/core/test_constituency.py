"""Constituency trees: brackets read and written, cleaning, heads, dependencies, binarisation, against naive twins."""

import doctest
import importlib
import lzma
import os
import pkgutil
import re
import sys
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rerank_plugins
from rerank_plugins import FormatError
from rerank_plugins.core.constituency_tree import Tree, read_trees, write_tree
from rerank_plugins.core.dependency_tree import tree_fault
from rerank_plugins.kit.trees.binarisation import Binarisation, join_unaries, split_unaries
from rerank_plugins.kit.trees.head_rules import english_heads, read_head_rules
from rerank_plugins.kit.trees.k_best_file import is_bracketed, read_scored, write_scored
from rerank_plugins.kit.trees.treebank_cleaning import (
    CRAFT_LABELS,
    category,
    clean,
    collapse_repeats,
    remove_empty,
    rename,
    rooted,
    strip_functions,
)
from tests.core import naive_trees
from tests.core.dependency_conversion import to_dependencies
from tests.random_trees import trees
from tests.treelet.naive_tree_transformations import lexicalise

CRAFT = ("treebank_craft/craft-train.ptb.xz", "treebank_craft/craft-dev.ptb.xz")
GUM = ("treebank_gum/gum-train.ptb", "treebank_gum/gum-dev.ptb")
EVERY_WAY = [
    Binarisation(direction, horizontal, vertical)
    for direction in ("right", "left", "head")
    for horizontal, vertical in ((0, 1), (1, 2), (2, 3), (None, 1))
]


def one(text):
    (tree,) = read_trees([text])
    return tree


def treebank(shared_data, name, step=1):
    """Every step-th tree of a file, as it is there; the files have a tree on each line."""
    path = shared_data / name
    with (lzma.open if name.endswith("xz") else open)(path, "rt", encoding="utf-8") as lines:
        yield from read_trees(islice(lines, 0, None, step), str(path))


STEP = 1 if os.environ.get("RERANK_ALL_TREES") else 10  # all trees of the treebanks take a minute


def cleaned(shared_data, step=STEP):
    for name in (*GUM, *CRAFT):
        labels = CRAFT_LABELS if "craft" in name else None
        yield from (clean(tree, labels) for tree in treebank(shared_data, name, step))


@pytest.mark.parametrize(
    "module",
    [
        name
        for _, name, _ in pkgutil.walk_packages(rerank_plugins.__path__, "rerank_plugins.")
        if re.search(r"\.trees\.|_trees?$|_transformations", name)
    ],
)
def test_examples_in_docstrings(module):
    found = importlib.import_module(module)
    assert doctest.testmod(found, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


@given(trees)
def test_what_is_written_is_read(tree):
    text = write_tree(tree)
    assert "\n" not in text
    assert "  " not in text
    assert one(text) == tree
    assert naive_trees.parse(text)[0] == tree.label
    assert str(one(text.replace(" ", "\n "))) == text
    assert text.count("(") == sum(1 for _ in tree.nodes())
    assert len(tree.words()) == len(tree.tags()) == sum(node.is_preterminal for node in tree.nodes())


@given(trees)
def test_the_reader_agrees_with_a_naive_one(tree):
    text = write_tree(tree).replace("-LRB-", "x").replace("-RRB-", "y")
    assert naive_trees.nested(one(text)) == naive_trees.parse(text)


def test_forms_of_brackets():
    lines = ["( (S (NP (NN a))\n", "  (VP\n", "   (VB\n", "b)))) (X (Y z))\n", "\n", "((A (B c)))((FRAG(X a)(Y b)))\n"]
    assert [str(tree) for tree in read_trees(lines)] == [
        "(ROOT (S (NP (NN a)) (VP (VB b))))",
        "(X (Y z))",
        "(ROOT (A (B c)))",
        "(ROOT (FRAG (X a) (Y b)))",
    ]
    assert str(one("( (S (A a)) (. .) )")) == "(ROOT (S (A a)) (. .))"
    assert one(r"(X (-LRB- -LRB-) (CD 1\/2) (-RCB- -RCB-) (: :-RRB-))").words() == ("(", "1/2", "}", ":)")
    assert one("(X (NN New\u00a0York)   (NN Xpd  TTD ))").words() == ("New\u00a0York", "Xpd TTD")
    assert list(read_trees(["", " \n"])) == []


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("(A (B c))\n(S (NP (NN a)\n(S (B c))\n", 2, "2 opening brackets of the tree that begins here are not closed"),
        ("(S (NN a))\n(S (NN a)))\n", 2, "closing bracket without an opening one"),
        ("(S (NN a))\nand so on\n", 2, "expected a tree, found 'and'"),
        ("(S\n (NP )\n (NN a))", 2, "NP has no children"),
        ("()", 1, "a phrase has no children"),
        ("( ( (NN a)))", 1, "a phrase has no label"),
        ("(NP the (NN dog))", 1, "word 'the' under NP is not the only child of a tag"),
        ("(NP (NN dog) barks)", 1, "word 'barks' under NP is not the only child of a tag"),
    ],
)
def test_broken_brackets(text, line, message):
    with pytest.raises(FormatError) as caught:
        list(read_trees(text.splitlines(), "trees.ptb"))
    assert str(caught.value) == f"trees.ptb:{line}: {message}"


def test_deep_trees_need_no_deep_recursion():
    depth = 10 * sys.getrecursionlimit()
    text = "(X (A a) " * depth + "(B b)" + ")" * depth
    tree = one(text)
    assert len(tree.words()) == depth + 1
    assert Binarisation().undo(Binarisation().apply(tree)).tags() == tree.tags()
    assert write_tree(tree) == text


def test_k_best_lines():
    tree = one("(X (UH oh) (: |||))")
    lines = [write_scored("7.1", tree, -1.25), write_scored("7.1", tree, -2e-9)]
    assert list(read_scored(lines)) == [("7.1", tree, -1.25), ("7.1", tree, -2e-9)]
    assert list(read_scored(["\n", "(A (B c))(A (B d))\n"]))[1] == ("2", one("(A (B d))"), 0.0)
    for bad, message in (
        ("1 ||| (A (B c)) ||| x", "'x'"),
        ("1 ||| (A (B c) ||| 0", "not closed"),
        ("1 ||| ||| 0", "id"),
    ):
        with pytest.raises(FormatError, match=f"f:2: .*{message}"):
            list(read_scored(["1 ||| (A (B c)) ||| -1\n", bad], "f"))
    with pytest.raises(FormatError, match="f:3:"):
        list(read_scored(["\n", "(A (B c))\n", "(A\n"], "f"))
    assert [is_bracketed([text])[0] for text in ("(A (B c))", "1 ||| (A (B c)) ||| 0", "# a ||| b", "1\ta")] == [
        True, True, False, False,
    ]  # fmt: skip


def test_cleaning():
    raw = one(
        "( (S (NP-SBJ-1 (-NONE- *) ) (VP (VBZ is) (NP-TMP=2 (NP (PRP$ our) (NN day)) (SBAR (-NONE- 0)))"
        " (PRN (-LRB- -LRB-) (NP (CD 1)) (-RRB- -RRB-))) (. .)) )"
    )
    assert str(clean(raw)) == (
        "(ROOT (S (VP (VBZ is) (NP (PRP$ our) (NN day)) (PRN (-LRB- -LRB-) (NP (CD 1)) (-RRB- -RRB-))) (. .)))"
    )
    assert "(NP-TMP (NP (PRP$ our)" in str(clean(raw, keep={"TMP"}))
    assert clean(one("( (S (NP (-NONE- *T*))) )")) is None
    craft = one("( (CAPTION (NP (NML (NN a) (NN b)) (NN c))) )"), one("( (TITLE (NN a) (: -) (NP (NN b))) )")
    assert str(clean(craft[0], CRAFT_LABELS)) == "(ROOT (NP (NP (NN a) (NN b)) (NN c)))"
    assert str(clean(craft[1], CRAFT_LABELS)) == "(ROOT (FRAG (NN a) (: -) (NP (NN b))))"
    names = {"(TOP (X a))": "(ROOT (X a))", "(X (Y a))": "(ROOT (X (Y a)))", "(X a)": "(ROOT (X a))"}
    assert {text: str(rooted(one(text))) for text in names} == names


@given(trees)
def test_cleaning_keeps_words_and_is_done_once(tree):
    once = clean(tree)
    assert once.words() == tree.words()
    assert once.tags() == tree.tags()
    assert clean(once) == once
    assert strip_functions(tree) == tree
    assert remove_empty(tree) == tree


@given(trees, st.sampled_from(["ROOT", "TOP", "S", "NP-SBJ-1", "NP=2"]))
def test_trees_that_are_clean_are_told_from_others(tree, label):
    phrase = Tree(label, (tree,))
    for some in (tree, phrase, rooted(tree), rooted(phrase), Tree(label, (phrase,)), clean(phrase)):
        assert clean(some) == rooted(collapse_repeats(rename(strip_functions(remove_empty(some)), {})))


@pytest.mark.parametrize(
    ("label", "name"),
    [("NP-SBJ-1", "NP"), ("NP=2", "NP"), ("-LRB-", "-LRB-"), ("-LRB--(", "-LRB-"), ("PRP$", "PRP$"), (",-,", ","),
     ("--", "--"), ("-", "-"), (":---", ":"), ("^", "^"), ("=", "="), ("VP^S", "VP"), ("''", "''")],
)  # fmt: skip
def test_categories(label, name):
    assert category(label) == name


@pytest.mark.parametrize(
    ("phrase", "children", "head"),
    [
        ("S", "NP VP .", 1),
        ("S", "S CC S", 0),
        ("VP", "MD VP", 0),
        ("VP", "ADVP VBD NP PP", 1),
        ("VP", "VP CC VP", 0),
        ("NP", "DT JJ NN", 2),
        ("NP", "NP POS", 1),
        ("NP", "NP PP", 0),
        ("NP", "DT NN NN PP", 2),
        ("NP", "NN CC NN", 0),
        ("NP", "DT CD", 1),
        ("NP", "PRP", 0),
        ("PP", "IN NP", 0),
        ("PP", "RB IN NP", 1),
        ("SBAR", "IN S", 0),
        ("SBAR", "WHNP S", 0),
        ("SBARQ", "WHNP SQ .", 1),
        ("SQ", "VBZ NP VP", 0),
        ("WHNP", "WDT NN", 0),
        ("QP", "IN CD NNS", 0),
        ("FRAG", "NP : NP .", 2),
        ("PRN", ", S ,", 1),
        ("INTJ", ", .", 0),
        ("ROOT", "S", 0),
        ("NP-SBJ^S", "DT-the NN", 1),
        ("UNKNOWN", "A B", 1),
    ],
)
def test_heads_by_collins(phrase, children, head):
    assert english_heads().head(phrase, children.split()) == head


def test_the_head_of_a_phrase_made_from_dependencies_is_its_tag():
    rules = english_heads()
    assert rules.head("VERB.root", ["NOUN.nsubj", "ADV.advmod", "VERB", "PUNCT.punct"]) == 2
    assert rules.head("VERB.root", ["NOUN.nsubj", "PUNCT.punct"]) == 0  # a parser may have made one without a tag


def test_head_rules_of_ones_own():
    rules = read_head_rules(["# ours", "", "A right-any X Y", "A last Z", "* left"])
    assert [rules.head("A", list(text)) for text in ("XYB", "BYXB", "BBZ", "ZBB", "BBB")] == [1, 2, 2, 2, 2]
    assert rules.head("C", ["B", "X"]) == 0
    last_first = read_head_rules(["A last Z", "A left B", "* left"])
    assert [last_first.head("A", list(text)) for text in ("BCZ", "ZBC", "Z")] == [2, 1, 0]
    for lines, message in (
        (["* left", "A"], "h:2: expected a direction .* after 'A', found no direction"),
        (["A up B"], "h:1: expected a direction .* found direction 'up'"),
        (["A left-any"], "h:1: direction 'left-any' of 'A' needs candidates"),
        (["A left B"], r"h: the table has no line for \*"),
    ):
        with pytest.raises(FormatError, match=message):
            read_head_rules(lines, "h")


def test_lexicalised_trees_and_dependencies():
    tree = one("(ROOT (S (NP (NP (DT The) (NN price)) (PP (IN of) (NP (NN oil)))) (VP (MD may) (VP (VB fall))) (. .)))")
    nodes, todo = [], [lexicalise(tree)]
    while todo:
        node = todo.pop()
        nodes.append((node.label, node.head_word, node.head_tag))
        todo.extend(node.children)
    assert nodes[:2] == [("ROOT", "may", "MD"), ("S", "may", "MD")]
    assert ("NP", "price", "NN") in nodes
    assert ("PP", "of", "IN") in nodes
    found = to_dependencies(tree)
    assert found.words == tree.words()
    assert found.heads == (1, 4, 1, 2, -1, 4, 4)
    assert found.relations == (
        "DT|NP:left", "NP|S:left", "PP|NP:right", "NP|PP:right", "root", "VP|VP:right", ".|S:right",
    )  # fmt: skip
    assert found.tags == tree.tags()


@given(trees)
def test_dependencies_are_trees(tree):
    assert tree_fault(to_dependencies(tree).heads) is None


@pytest.mark.parametrize("way", EVERY_WAY, ids=str)
@given(tree=trees)
@settings(max_examples=25)  # of each way
def test_binarisation_has_an_inverse(way, tree):
    binary = way.apply(tree)
    assert all(len(node.children) <= 2 for node in binary.nodes())
    assert binary.words() == tree.words()
    assert way.undo(binary) == tree
    joined = join_unaries(binary)
    assert all(len(node.children) == 2 for node in joined.nodes() if not node.is_preterminal)
    assert split_unaries(joined) == binary


def test_binarised_trees():
    tree = one("(NP (A a) (B b) (C c) (NN d) (E e))")
    shown = {
        ("right", 1): "(NP (A a) (@NP|A (B b) (@NP|B (C c) (@NP|C (NN d) (E e)))))",
        ("right", 2): "(NP (A a) (@NP|A (B b) (@NP|A_B (C c) (@NP|B_C (NN d) (E e)))))",
        ("right", 0): "(NP (A a) (@NP (B b) (@NP (C c) (@NP (NN d) (E e)))))",
        ("left", 1): "(NP (@NP|E (@NP|NN (@NP|C (A a) (B b)) (C c)) (NN d)) (E e))",
        ("left", None): "(NP (@NP|E (@NP|E_NN (@NP|E_NN_C (A a) (B b)) (C c)) (NN d)) (E e))",
        ("head", 1): "(NP (A a) (@NP:NN|B (B b) (@NP:NN|C (C c) (@NP:NN|E (NN d) (E e)))))",
    }
    for (direction, horizontal), expected in shown.items():
        assert str(Binarisation(direction, horizontal).apply(tree)) == expected
    nested = one("(ROOT (S (NP (NN a)) (VP (VB b) (NP (NN c)))))")
    assert str(Binarisation(vertical=2).apply(nested)) == "(ROOT (S^ROOT (NP^S (NN a)) (VP^S (VB b) (NP^VP (NN c)))))"
    with pytest.raises(ValueError, match="binarised already"):
        Binarisation().apply(Binarisation().apply(tree))
    with pytest.raises(ValueError, match="annotated already"):
        Binarisation(vertical=2).apply(one("(S^X (A a))"))
    with pytest.raises(ValueError, match="one of right, left, head"):
        Binarisation("up")
    with pytest.raises(ValueError, match="horizontal"):
        Binarisation(horizontal=-1)
    with pytest.raises(ValueError, match=r"has \+ in it"):
        join_unaries(one("(A+B (C d))"))


@pytest.mark.slow
def test_treebanks_are_read_as_they_are(shared_data):
    for name in GUM:
        text = (shared_data / name).read_text(encoding="utf-8").splitlines()
        assert [write_tree(tree) for tree in treebank(shared_data, name)] == text
    for tree in treebank(shared_data, CRAFT[1], 7):
        assert one(write_tree(tree)) == tree


@pytest.mark.slow
def test_binarised_treebanks(shared_data):
    check_inverses(cleaned(shared_data, 40), 4)


@pytest.mark.slow
def test_binarised_treebanks_whole(shared_data):
    check_inverses(cleaned(shared_data), 12)


def check_inverses(found, share):
    """The inverse gives each tree back, in every share-th way to binarise; other trees take other ways."""
    count = 0
    for tree in found:
        count += 1
        for way in EVERY_WAY[count % share :: share]:
            assert way.undo(split_unaries(join_unaries(way.apply(tree)))) == tree
    assert count > 500


@given(st.text(alphabet="()AB \n", max_size=30))
def test_any_text_is_trees_or_an_error_with_its_line(text):
    try:
        found = list(read_trees(text.splitlines(keepends=True), "f"))
    except FormatError as error:
        number = error.line
    else:
        number = 1
        assert [one(write_tree(tree)) for tree in found] == found
    assert 1 <= number <= text.count("\n") + 1
