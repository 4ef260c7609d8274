"""What parsers of other people return is checked where it comes in."""

import pytest

from rerank_plugins import DependencyTree, Parse, Parser, PluginError, ScoredTree, Tree
from rerank_plugins.core.contracts import checked_parses

WORDS = ("the", "cat", "sat")


def tree(words=WORDS, heads=(1, 2, -1), relations=("det", "nsubj", "root"), tags=()):
    return [Parse(DependencyTree(words, heads, relations, tags))]


def bracketed(*trees, ln_p=-1.0):
    return [Parse(None, [ScoredTree(found, ln_p) for found in trees])]


def flat(*words):
    return Tree("S", tuple(Tree("X", (word,)) for word in words))


class Given(Parser):
    """Returns what it is given."""

    def __init__(self, parses):
        self.parses = parses

    def parse(self, sentences):
        return self.parses


GOOD = flat(*WORDS)
WRONG = {
    "none": (None, "parse: found None, wanted a list of 1 parses"),
    "few": ([], "parse: found a list of 0, wanted a list of 1 parses"),
    "no-parse": ([GOOD], "sentence 'the cat sat': found the Tree .*, wanted a Parse"),
    "other-words": (tree(("a", "cat", "sat")), "found a tree over 'a cat sat', wanted a tree over the words"),
    "cycle": (tree(heads=(1, 0, -1)), "found heads '1 0 -1', wanted a tree: word 1 is in a cycle"),
    "outside": (tree(heads=(1, 7, -1)), "head 8 of word 2 is outside the sentence"),
    "two-roots": (tree(heads=(-1, 2, -1)), r"a sentence has one root \(head 0\); found 2"),
    "few-heads": (tree(heads=(1, -1)), "found heads that are a tuple of 2, wanted a tuple of 3"),
    "few-relations": (tree(relations=("det",)), "found relations that are a tuple of 1"),
    "few-tags": (tree(tags=("DET",)), "found tags that are a tuple of 1, wanted a tuple of 0 or 3"),
    "float-head": (tree(heads=(1.0, 2, -1)), "found the float 1.0 as the head of word 0"),
    "brackets": (bracketed(flat("the", "cat")), "tree 1 of 1: found a tree over 'the cat'"),
    "order": (bracketed(flat("cat", "the", "sat")), "tree 1 of 1: found a tree over 'cat the sat'"),
    "one-more": (
        bracketed(Tree("S", (GOOD, GOOD))),
        "tree 1 of 1: found a tree over more words, wanted .* the 3 of the",
    ),
    "text": (bracketed("(S (X the))"), "found the str"),
    "no-children": (bracketed(Tree("S", ())), "S without children"),
    "word-and-more": (bracketed(Tree("S", ("the", GOOD))), "S over a word and more"),
    "not-a-tree": (bracketed(Tree("S", (GOOD, 3))), "found the int 3, wanted a Tree with a label, or a word"),
    "ln-p": (bracketed(GOOD, ln_p=float("nan")), "tree 1 of 1: found ln p = nan, wanted a finite number"),
    "bare-trees": ([Parse(None, [GOOD])], "found the Tree .*, wanted a ScoredTree"),
    "dependencies": ([Parse(GOOD)], "found the Tree .*, wanted a DependencyTree or None"),
}


@pytest.mark.parametrize(("parses", "message"), WRONG.values(), ids=WRONG)
def test_wrong_values(parses, message):
    with pytest.raises(PluginError, match=message) as caught:
        checked_parses(Given(parses), [WORDS])
    assert str(caught.value).startswith("plugin tests.core.contracts.test_parsers.Given: parse")


def test_right_values_pass():
    for parses in ([Parse()], tree(), tree(tags=("DET", "NOUN", "VERB")), bracketed(GOOD, GOOD, Tree("ROOT", (GOOD,)))):
        assert checked_parses(Given(tuple(parses)), [WORDS]) == parses
    assert checked_parses(Given([Parse(DependencyTree((), (), ()))]), [()])[0].dependencies is not None


def test_a_deep_tree_is_no_fault_of_the_program():
    deep = GOOD
    for _ in range(5000):
        deep = Tree("S", (deep,))
    assert len(checked_parses(Given(bracketed(deep)), [WORDS])) == 1
