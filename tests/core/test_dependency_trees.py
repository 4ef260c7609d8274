"""CoNLL-U in and out, the treebank parser over it, and what a wrong tree says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_plugins import FormatError, Parse
from rerank_plugins.core.dependency_tree import DependencyTree, read_conllu, tree_fault, write_conllu
from rerank_plugins.dependency.parsers import TreebankParser
from rerank_plugins.kit.trees.parseval import Attachment
from rerank_plugins.testing import check_parser
from tests.dependency.naive_parsing import is_tree

BLOCK = """# text = dogs don't bark
1\tdogs\tdog\tNOUN\tNNS\t_\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
3.1\tever\t_\t_\t_\t_\t_\t_\t_\t_
4\tbark\tbark\tVERB\tVB\t_\t0\troot\t_\t_

"""
TREE = DependencyTree(
    ("dogs", "do", "n't", "bark"), (3, 3, 3, -1), ("nsubj", "aux", "advmod", "root"), ("NOUN", "AUX", "PART", "VERB")
)


def test_reading_skips_multiword_tokens_and_empty_nodes():
    assert list(read_conllu(BLOCK.splitlines(keepends=True))) == [TREE]


def test_writing_then_reading_is_the_identity():
    assert list(read_conllu((write_conllu(TREE) * 2).splitlines())) == [TREE, TREE]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\t0\troot", "\t1\troot", r":2: a sentence has one root \(head 0\); found 0"),
        ("\t4\taux", "\t0\taux", r":7: a sentence has one root \(head 0\); found 2"),
        ("\t4\taux", "\t9\taux", ":4: head 9 of word 2 is outside the sentence"),
        ("\t4\taux", "\tx\taux", r":4: head 'x' of word 2 is not a number \(column 7\)"),
        ("\t4\taux", "\t_\taux", ":4: head '_' of word 2 is not a number"),
        ("\t4\taux", "\t-1\taux", ":4: head '-1' of word 2 is not a number"),
        ("\t4\taux", "\t3.1\taux", ":4: head '3.1' of word 2 is not a number"),
        ("\t4\tnsubj", "\t1\tnsubj", ":2: word 1 is in a cycle of heads"),
        ("\t4\tnsubj", "\t2\tnsubj", None),
        ("2\tdo\t", "7\tdo\t", r":4: expected word number 2 \(column 1\), found '7'"),
        ("2\tdo\t", "x\tdo\t", r":4: expected word number 2 \(column 1\), found 'x'"),
        ("\tNOUN\tNNS\t_\t4\tnsubj\t_\t_", "", ":2: expected 10 tab-separated CoNLL-U columns .*, found 3"),
    ],
)
def test_wrong_trees_name_file_line_and_fault(old, new, message):
    lines = BLOCK.replace(old, new, 1).splitlines()
    if message is None:
        assert len(list(read_conllu(lines))) == 1
        return
    with pytest.raises(FormatError, match=message) as caught:
        list(read_conllu(lines, "bad.conllu"))
    assert str(caught.value).startswith("bad.conllu:")
    assert "\n" not in str(caught.value)


def test_a_cycle_of_several_words_is_found():
    rows = [f"{i}\tw\t_\tX\t_\t_\t{h}\tdep" for i, h in enumerate((3, 1, 2, 0), 1)]
    with pytest.raises(FormatError, match=r":1: word 1 is in a cycle of heads"):
        list(read_conllu(rows, "bad.conllu"))


def test_streaming_stops_at_the_wrong_tree():
    trees = read_conllu((BLOCK + BLOCK.replace("\t0\troot", "\t1\troot")).splitlines(), "bad.conllu")
    assert next(trees) == TREE
    with pytest.raises(FormatError, match=r"^bad\.conllu:10: "):
        next(trees)


@given(st.lists(st.integers(-1, 6), min_size=1, max_size=6))
def test_tree_fault_knows_trees(heads):
    assert (tree_fault(heads) is None) == (max(heads) < len(heads) and is_tree([head + 1 for head in heads]))


def test_attachment_scores_are_counted_by_hand():
    scores = Attachment()
    scores.add(TREE, TREE)
    scores.add(
        TREE, DependencyTree(TREE.words, (1, 3, 3, -1), ("nsubj", "cop", "advmod", "root"), ("X", *TREE.tags[1:]))
    )
    scores.add(TREE, None)
    assert scores.words == 12
    assert scores.percent() == pytest.approx({"UPOS": 700 / 12, "UAS": 700 / 12, "LAS": 600 / 12})


def test_comments_are_written_before_the_words():
    text = write_conllu(TREE, {"sent_id": "7", "text": "dogs do n't bark"})
    assert text.startswith("# sent_id = 7\n# text = dogs do n't bark\n1\tdogs")
    assert list(read_conllu(text.splitlines())) == [TREE]


def test_treebank_parser_finds_sentences_by_their_tokens(tmp_path):
    path = tmp_path / "trees.conllu"
    path.write_text(BLOCK)
    parser = TreebankParser(path)
    assert parser.parse([["bark"], list(TREE.words)]) == [Parse(), Parse(TREE)]
    check_parser(parser, [["bark"], list(TREE.words)])
