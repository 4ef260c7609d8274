"""CoNLL-U in and out, the treebank parser over it, and what a wrong tree says."""

import pytest

from rerank_plugins import FormatError, Parse
from rerank_plugins.parsers.treebank import TreebankParser
from rerank_plugins.testing import check_parser
from rerank_plugins.trees.dependency import DependencyTree, read_conllu, write_conllu

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
        ("\t0\troot", "\t1\troot", "one root"),
        ("\t4\taux", "\t0\taux", "found 2"),
        ("\t4\taux", "\t9\taux", "head 9 of word 2 is outside"),
        ("\t4\taux", "\tx\taux", "head 'x' is not a number"),
        ("1\tdogs\tdog\tNOUN\tNNS\t_\t4", "1\tdogs\tdog\tNOUN\tNNS\t_\t1", "word 1 is in a cycle"),
        ("\tNOUN\tNNS\t_\t4\tnsubj\t_\t_", "", "found 3"),
    ],
)
def test_wrong_trees_name_file_and_line(old, new, message):
    with pytest.raises(FormatError, match=message) as caught:
        list(read_conllu(BLOCK.replace(old, new, 1).splitlines(), "bad.conllu"))
    assert str(caught.value).startswith("bad.conllu:2: ")


def test_treebank_parser_finds_sentences_by_their_tokens(tmp_path):
    path = tmp_path / "trees.conllu"
    path.write_text(BLOCK)
    parser = TreebankParser(path)
    assert parser.parse([["bark"], list(TREE.words)]) == [Parse(), Parse(TREE)]
    check_parser(parser, [["bark"], list(TREE.words)])
