"""`parse`: the trees that the command writes, as objects."""

import pytest

from rerank_adapters.applications.parsing.trees import Trees, parse
from rerank_plugins import ConfigError, Parse, Parser, PluginError, ScoredTree, Tree
from rerank_plugins.core.dependency_tree import DependencyTree, read_conllu
from tests.command_line import done

TEXTS = ["She can't sing.", "", "The zorbles (really) bark."]


class Chain(Parser):
    """Each word depends on the next one; sentences of more than three words have no parse."""

    def parse(self, sentences):
        return [
            Parse()
            if len(words) > 3
            else Parse(DependencyTree(tuple(words), (*range(1, len(words)), -1), ("dep",) * len(words)))
            for words in sentences
        ]


class Flat(Parser):
    """One constituent, whose words are tagged X."""

    def parse(self, sentences):
        trees = [Tree("ROOT", tuple(Tree("X", (word,)) for word in words)) for words in sentences]
        return [Parse(constituents=(ScoredTree(tree, -1.5),)) for tree in trees]


def test_it_is_the_file_that_the_command_writes(tmp_path):
    (tmp_path / "text").write_text("".join(f"{text}\n" for text in TEXTS))
    trees = parse(TEXTS)
    assert trees.to_conllu() == done("trees", "parse", tmp_path / "text").out
    assert parse(tmp_path / "text").to_conllu() == trees.to_conllu()
    assert "# unknown_words = zorbles" in trees.to_conllu()
    assert trees[2].unknown == ("zorbles",)
    assert repr(trees[2]) == str(trees[2])
    assert repr(trees).split("\n\n")[2] == str(trees[2])
    brackets = parse(TEXTS, "pcfg")
    assert brackets.to_brackets() == done("trees", "parse", tmp_path / "text", "-p", "pcfg").out
    scored = done("trees", "parse", tmp_path / "text", "-p", "pcfg,k=3", "--k-best").out
    best = parse(TEXTS, "pcfg,k=3", k_best=True)
    assert best.to_brackets() == scored
    assert str(best[0]) == "".join(line for line in scored.splitlines(True) if line.startswith("1 |||")).rstrip("\n")
    assert best[0].tree.words() == brackets[0].tree.words()
    assert len(best[0].k_best) == 3
    assert best.rows == brackets.rows


def test_trees_print_themselves():
    trees = parse([["a", "b"], "a b c d", "c"], Chain(), text="none")
    assert str(trees[0]) == trees[0].to_conllu().rstrip("\n")
    assert [tree.heads for tree in read_conllu(str(trees[0]).splitlines())] == [(1, -1)]
    assert str(trees[1]) == "(no parse of: a b c d)"
    assert trees[1].to_conllu() == ""
    assert trees[1].to_brackets() == "\n"
    assert str(trees).split("\n\n") == [str(tree) for tree in trees]
    assert [tree.name for tree in trees] == ["1", "2", "3"]
    (flat,) = parse([["a", "b"]], Flat())
    assert str(flat) == "(ROOT (X a) (X b))"
    (scored,) = parse([["a", "b"]], Flat(), k_best=True)
    assert scored.to_brackets() == "1 ||| (ROOT (X a) (X b)) ||| -1.5\n"
    with pytest.raises(ConfigError, match="the parser produces no constituents"):
        parse([["a", "b"]], Chain(), k_best=True)
    assert flat.tree.words() == flat.words == ("a", "b")


def test_rows_of_words(tmp_path):
    trees = parse([["a", "b"], "a b c d"], Chain(), text="none")
    assert trees.rows["head"] == [2, 0, None, None, None, None]
    assert trees.rows["relation"][:2] == ["dep", "dep"]
    assert trees.rows["tag"] == [None] * 6
    assert trees.rows["text"] == [1, 1, 2, 2, 2, 2]
    assert trees.rows["position"] == [1, 2, 1, 2, 3, 4]
    assert parse([["a", "b"]], Flat()).rows["tag"] == ["X", "X"]
    trees.to_csv(tmp_path / "words.csv")
    assert (tmp_path / "words.csv").read_text().splitlines()[1] == "1,1,a,,2,dep"
    assert isinstance(trees[1:], Trees)
    assert len(trees[1:]) == 1


def test_what_it_refuses():
    with pytest.raises(TypeError, match="texts: wanted a sequence of texts, found the text 'a b'"):
        parse("a b")
    with pytest.raises(ConfigError, match="the parser produces no constituents"):
        parse([["a"]], Chain()).to_brackets()
    with pytest.raises(ConfigError, match="the parser produces no dependencies"):
        parse([["a"]], Flat()).to_conllu()
    with pytest.raises(PluginError, match="no parser named 'englsh'; did you mean 'english'"):
        parse(["a"], "englsh")
    assert parse([]).to_conllu() == ""
