"""The treelet model's transformations, the right-corner transform and PARSEVAL: hand cases, twins, whole treebanks."""

from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_plugins.core.brackets_and_quotes import BRACKETS
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.trees.binarisation import Binarisation, join_unaries, split_unaries
from rerank_plugins.kit.trees.parseval import Parseval, brackets
from rerank_plugins.kit.trees.treebank_cleaning import clean
from rerank_plugins.treelet.label_marks import TEMPORAL, number_class
from tests.core import naive_trees
from tests.core.test_constituency import GUM, STEP, cleaned, one, treebank
from tests.hhmm.right_corner import right_corner, store_depth, stores, undo_right_corner
from tests.random_trees import binary_trees, english_trees, phrases, trees
from tests.treelet import naive_transforms
from tests.treelet.naive_tree_transformations import (
    annotate_heads,
    annotate_parents,
    delete_unaries,
    flatten_nps,
    flatten_sbars,
    flatten_vps,
    mark_gaps,
    mark_numbers,
    mark_temporal,
    nouns_of,
    remove_annotations,
    remove_heads,
    remove_parents,
    transform,
    unmark_gaps,
    unmark_numbers,
    unmark_temporal,
)

FIGURE = (
    "(ROOT (S (NP (DT The) (NN index)) (VP (VBD fell) (NP (CD 109.85)) (NP-TMP (NNP Monday)))))",
    "(ROOT (S-VBD^ROOT (NP-NN (DT-the The) (NN index)) (VP-VBD^S (VBD fell) (CD-DC 109.85) (NNTP Monday))))",
)


def test_the_papers_figure():
    """The tree that the contexts of Figure 1 (b) and (c) are of: P = VP-VBD^S under S-VBD^ROOT, CD-DC, NNTP."""
    before = clean(one(FIGURE[0]))
    after = transform(before)
    assert str(after) == FIGURE[1]
    assert str(remove_annotations(after)) == (
        "(ROOT (S (NP (DT The) (NN index)) (VP (VBD fell) (CD 109.85) (NNP Monday))))"
    )


@given(english_trees())
def test_the_transformations_agree_with_their_twin(tree):
    assert str(transform(tree)) == str(naive_transforms.transformed(tree))


def test_the_twin_has_the_papers_figure():
    assert str(naive_transforms.transformed(clean(one(FIGURE[0])))) == FIGURE[1]


def test_a_shared_subtree_is_folded_once():
    dog = one("(NP (DT the) (NN dog))")
    bark, again = (Tree(label, (dog, one("(VP (VBP bark))"))) for label in ("S", "X"))
    seen, known = [], {}

    def phrase(node, below):
        seen.append(node.label)
        return sum(below)

    for tree in (bark, again, bark):
        assert tree.fold(lambda tag: 1, phrase, known) == tree.fold(lambda tag: 1, lambda node, below: sum(below)) == 3
    assert sorted(seen) == ["NP", "S", "VP", "VP", "X"]


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        (mark_temporal, "(NP (JJ last) (NN week) (NNS Years) (VB time))", "(NP (JJ last) (NNT week) (NNTS Years) (VB time))"),
        (annotate_heads, "(VP (VBZ has) (VP (VBN sold) (NP (PRP it))))",
         "(VP-has (VBZ-has has) (VP-VBN (VBN sold) (NP-it (PRP-it it))))"),
        (annotate_heads, "(ROOT (NP (NNT today)))", "(ROOT (NP-NNT (NNT today)))"),
        (annotate_heads, "(PRN (-LRB- -LRB-) (NP (CD 5)) (-RRB- -RRB-))",
         "(PRN-CD (-LRB---LRB- -LRB-) (NP-CD (CD 5)) (-RRB---RRB- -RRB-))"),
        (flatten_nps, "(NP (NP (DT the) (NN man) (POS 's)) (NN hat))", "(NP (DT the) (NN man) (POS 's) (NN hat))"),
        (flatten_nps, "(NP (NP (NN a)) (CC or) (NP (NN b)))", None),
        (flatten_nps, "(NP (NP (NNP Bo)) (, ,) (NP (NN chief)) (, ,))", None),
        (flatten_nps, "(VP (NP (NN a)) (NP (NN b)))", None),
        (flatten_nps, "(NP (NP (NP (NN a)) (PP (IN b))) (SBAR (S c)))", "(NP (NN a) (PP (IN b)) (SBAR (S c)))"),
        (mark_numbers, "(QP (CD 1,000) (CD 1984) (CD 3.5) (CD 5th) (CD one-two))",
         "(QP (CD-NM 1,000) (CD-YR 1984) (CD-DC 3.5) (CD-MX 5th) (CD-AL one-two))"),
        (flatten_sbars, "(SBAR-that (IN-that that) (S-VBD (NP (NN a)) (VP (VBD b))))",
         "(SBAR-that (IN-that that) (NP (NN a)) (VP (VBD b)))"),
        (flatten_sbars, "(SBAR (IN if) (SINV (VBD b) (NP (NN a))))", None),
        (flatten_sbars, "(S (S (NP (NN a))) (, ,))", None),
        (flatten_vps, "(VP-had (VBD had) (RB not) (VP-been (VBN been) (VP-VBN (VBN sold)) (ADVP (RB yet))))",
         "(VP-VBN (VBD had) (RB not) (VBN been) (VBN sold) (ADVP (RB yet)))"),
        (flatten_vps, "(VP (VP (VB eat)) (CC and) (VP (VB drink)))", None),
        (flatten_vps, "(VP (MD can) (VP (VP (VB eat)) (CC and) (VP (VB drink))))",
         "(VP (MD can) (VP (VB eat)) (CC and) (VP (VB drink)))"),
        (mark_gaps, "(SBAR-that (WHNP-that (WDT-that that)) (VP (VBD b) (NP (NN a))))",
         "(SBAR-that-GAP (WHNP-that (WDT-that that)) (VP (VBD b) (NP (NN a))))"),
        (mark_gaps, "(S (NP (NN a)) (VP (VB b)))", None),
        (mark_gaps, "(S (PP (IN a)))", None),
        (annotate_parents, "(ROOT (SBARQ-do (WHNP (WP w)) (SQ-do (VP-VB (VP-VB (VB b))))) (.-. .))",
         "(ROOT (SBARQ-do^ROOT (WHNP (WP w)) (SQ-do (VP-VB^SQ (VP-VB^VP (VB b))))) (.-.^ROOT .))"),
        (delete_unaries, "(ROOT (FRAG (NP (NN a))))", "(ROOT (NN a))"),
        (delete_unaries, "(ROOT (S (VP (VB a) (NP (NN b)))))", "(ROOT (VP (VB a) (NN b)))"),
    ],
)  # fmt: skip
def test_each_transformation(change, before, after):
    assert str(change(one(before))) == (after or before)
    as_parsed = named(one(before))  # reading gives brackets as characters, and a parser the tokens of a text
    assert str(change(as_parsed)) == (after or before)
    assert change(as_parsed).words() == as_parsed.words()


def named(tree):
    """The tree with the Penn Treebank's names for the brackets among its words."""
    names = {character: name for name, character in BRACKETS.items()}
    return tree.fold(
        lambda tag: Tree(tag.label, (names.get(tag.word, tag.word),)),
        lambda node, children: Tree(node.label, tuple(children)),
    )


@pytest.mark.parametrize("tag", ["-LRB-", "-RRB-"])
def test_brackets_have_one_head_in_every_spelling(tag):
    for name, character in BRACKETS.items():
        heads = {annotate_heads(Tree(tag, (word,))).label for word in (character, name, name.lower())}
        assert heads == {f"{tag}-{name if character in '()' else character}"}


def test_number_classes_take_every_number():
    words = {
        "1990": "YR",
        "90": "NM",
        "2/3": "NM",
        "0.5": "DC",
        ".5": "DC",
        "90s": "MX",
        "ten": "AL",
        "twenty-one": "AL",
    }
    assert {word: number_class(word) for word in words} == words


def test_temporal_nouns_of_a_treebank(shared_data):
    found = nouns_of(treebank(shared_data, GUM[0], 3), minimum=2)
    assert {"today", "year", "days", "january"} <= found
    assert len(found - TEMPORAL) <= len(found) / 4


def test_a_temporal_phrase_has_one_temporal_noun():
    assert nouns_of([one("(S (NP-TMP (NP (DT this) (NN Term)) (PP (IN of))) (NP (NN day)))")]) == {"term"}


def check_inverses(tree):
    marked = mark_temporal(tree)
    assert unmark_temporal(marked) == tree
    headed = annotate_heads(marked)
    assert remove_heads(headed) == marked
    flat = flatten_nps(headed)
    numbered = mark_numbers(flat)
    assert unmark_numbers(numbered) == flat
    flat = flatten_vps(flatten_sbars(numbered))
    gapped = mark_gaps(flat)
    assert unmark_gaps(gapped) == flat
    with_parents = annotate_parents(gapped)
    assert remove_parents(with_parents) == gapped
    last = delete_unaries(with_parents)
    assert last == transform(tree)
    assert one(str(last)) == last
    assert last.words() == tree.words()
    assert remove_annotations(last).tags() == tree.tags()
    assert all(len(node.children) > 1 or node.is_preterminal or node.label == "ROOT" for node in last.nodes())


@given(trees)
def test_annotations_have_inverses(tree):
    check_inverses(tree)


def check_right_corner(tree, direction):
    way = Binarisation(direction)
    form = right_corner(join_unaries(way.apply(tree)))
    assert form.words() == tree.words()
    assert way.undo(split_unaries(undo_right_corner(form))) == tree


@given(binary_trees)
def test_right_corner_form(tree):
    form = right_corner(tree)
    assert undo_right_corner(form) == tree
    assert form.tags() == tree.tags()
    for node in form.nodes():  # only what begins an incomplete constituent is unary; right children end or go on
        if not node.is_preterminal:
            assert len(node.children) == 2 or "/" in node.label
            assert "/" not in node.subtrees[-1].label
    assert store_depth(tree) == naive_trees.depth(tree) == max(map(len, stores(tree)))
    assert len(stores(tree)) == len(tree.words())


def test_right_corner_by_hand():
    tree = one("(S (NP (DT the) (NN dog)) (VP (VBZ is) (VP (ADVP (RB now) (RB here)) (VBG eating))))")
    assert str(right_corner(tree)) == (
        "(S (S/VBG (S/VP (S/VP (NP (NP/NN (DT the)) (NN dog))) (VBZ is)) (ADVP (ADVP/RB (RB now)) (RB here)))"
        " (VBG eating))"
    )
    assert stores(tree) == [
        (("NP", "NN"),),
        (("S", "VP"),),
        (("S", "VP"),),
        (("S", "VP"), ("ADVP", "RB")),
        (("S", "VBG"),),
        (),
    ]
    assert right_corner(one("(X a)")) == one("(X a)")
    assert stores(one("(X a)")) == [()]
    with pytest.raises(ValueError, match="S has 3 children"):
        right_corner(one("(S (A a) (B b) (C c))"))
    with pytest.raises(ValueError, match="'A/B' has / in it"):
        right_corner(one("(S (A/B a) (B b))"))


def test_the_papers_sentence_goes_through_the_store():
    """Schwartz, Callison-Burch, Schuler & Wu (2011), Figures 2, 3 and 5: The president meets the board on Friday."""
    tree = one(
        "(S (NP (DT The) (NN president)) (VP (VP (VB meets) (NP (DT the) (NN board))) (PP (IN on) (NP Friday))))"
    )
    assert stores(tree) == [
        (("NP", "NN"),),
        (("S", "VP"),),
        (("S", "VP"), ("VP", "NP")),
        (("S", "VP"), ("VP", "NN")),
        (("S", "PP"),),
        (("S", "NP"),),
        (),
    ]


@pytest.mark.slow
def test_transforms_over_treebanks(shared_data):
    for tree in cleaned(shared_data, 40):
        check_inverses(tree)
        for direction in ("right", "left", "head"):
            check_right_corner(tree, direction)


@pytest.mark.slow
def test_transforms_over_whole_treebanks(shared_data):
    directions = cycle(("right", "left", "head"))
    count = 0
    for tree, direction in zip(cleaned(shared_data), directions, strict=False):
        if count % 3 == 0:
            check_inverses(tree)
        check_right_corner(tree, direction)
        count += 1
    assert 0 <= count * STEP - 33_938 < 4 * STEP  # the trees of GUM and CRAFT, train and dev: four files


def scored(gold, *found):
    scores = Parseval()
    for text in found:
        scores.add(one(gold), one(text) if text else None)
    return scores


def test_parseval_by_hand():
    gold = "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))"
    same = scored(gold, gold)
    assert same.percent() == dict.fromkeys(("LP", "LR", "F1", "exact", "tags", "coverage"), 100)
    assert (same.gold, same.words) == (5, 6)
    # NP 0-2 and S right; VP ends at 3, PP and NP hang elsewhere: PP 3-6 and NP 4-6 are still right
    other = "(ROOT (S (NP (DT The) (NN cat)) (S (VP (VBD sat)) (PP (IN on) (NP (DT the) (NNP mat)))) (. .)))"
    found = scored(gold, other)
    assert (found.matched, found.gold, found.found) == (4, 5, 6)
    assert found.percent()["LP"] == pytest.approx(400 / 6)
    assert found.percent()["LR"] == pytest.approx(80)
    assert found.percent()["F1"] == pytest.approx(800 / 11)
    assert found.percent()["tags"] == pytest.approx(500 / 6)
    assert found.exact == 0
    both = scored(gold, gold, None)
    assert both.percent() == {
        **same.percent(),
        "LR": 50,
        "F1": pytest.approx(200 / 3),
        "exact": 50,
        "tags": 50,
        "coverage": 50,
    }


def test_parseval_conventions():
    def f1(gold, found):
        return scored(gold, found).percent()["F1"]

    # punctuation may hang anywhere
    assert f1("(ROOT (S (NP (NN a)) (VP (VB b)) (. .)))", "(TOP (S (NP (NN a)) (VP (VB b) (. .))))") == 100
    assert (
        f1("(ROOT (S (`` ``) (NP (NN a)) (, ,) (VP (VB b))))", "(ROOT (S (NP (`` ``) (NN a) (, ,)) (VP (VB b))))")
        == 100
    )
    # but brackets and hyphens count as words
    assert (
        f1("(ROOT (S (NP (NN a) (-LRB- -LRB-)) (VP (VB b))))", "(ROOT (S (NP (NN a)) (-LRB- -LRB-) (VP (VB b))))") < 100
    )
    assert f1("(ROOT (VP (VB a) (PRT (RP up))))", "(ROOT (VP (VB a) (ADVP (RP up))))") == 100
    assert f1("(ROOT (S (NP-SBJ-1 (NN a)) (VP (VB b) (NP (-NONE- *)))))", "(ROOT (S (NP (NN a)) (VP=2 (VB b))))") == 100
    # equal brackets count as often as they are there
    twice = scored("(ROOT (NP (NP (NN a))))", "(ROOT (NP (NN a)))")
    assert (twice.matched, twice.gold, twice.found) == (1, 2, 1)
    assert f1("(ROOT (PRN (, ,) (: -)))", "(ROOT (X (, ,) (: -)))") == 0  # nothing to count
    assert scored("(ROOT (-NONE- *))", "(ROOT (X a))").percent()["F1"] == 0
    with pytest.raises(ValueError, match="words 'b' are not 'a'"):
        scored("(X (Y a))", "(X (Y b))")


@pytest.mark.slow
@given(trees, st.data())
def test_brackets_as_counted_naively(tree, data):
    punctuation = {",", ":", "``", "''", "."}
    found = brackets(tree, [tag not in punctuation for tag in tree.tags()])
    assert sorted(found.elements()) == naive_trees.brackets(tree)
    other = data.draw(phrases())
    if other.words() == tree.words():
        scores = Parseval()
        scores.add(tree, other)
        assert scores.matched <= min(scores.gold, scores.found)
