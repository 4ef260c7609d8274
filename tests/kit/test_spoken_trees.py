"""Trees without case and punctuation: attachments as by a search for ancestors, and models that are trained on them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins.constituency.model_file import read_grammar
from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.core.dependency_tree import DependencyTree, tree_fault
from rerank_plugins.dependency.model import read_model
from rerank_plugins.kit.trees.treebank_cleaning import spoken_dependencies, spoken_tree, spoken_word
from rerank_plugins.treelet.language_model import TreeletLanguageModel
from tests.command_line import done

CONLLU = """1\tMr.\t_\tPROPN\t_\t_\t2\tcompound\t_\t_
2\tHill\t_\tPROPN\t_\t_\t4\tnsubj\t_\t_
3\t,\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_
4\tdid\t_\tVERB\t_\t_\t0\troot\t_\t_
5\tn't\t_\tPART\t_\t_\t4\tadvmod\t_\t_
6\t!\t_\tPUNCT\t_\t_\t4\tpunct\t_\t_

"""
TREE = "(ROOT (S (NP-SBJ (NNP Mr.) (NNP Hill)) (VP (VBD did) (RB n't)) (NP (-NONE- *T*-1)) (PRN (: --)) (. !)))"


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["a", "B.", ",", "--", "it"]), min_size=1, max_size=7), st.data())
def test_words_depend_on_their_closest_ancestor_that_stays(words, data):
    order = data.draw(st.permutations(range(len(words))))
    heads = [-1] * len(words)
    for place, word in enumerate(order[1:], 1):
        heads[word] = data.draw(st.sampled_from(order[:place]))
    tree = spoken_dependencies(DependencyTree(tuple(words), tuple(heads), ("dep",) * len(words)))
    kept = [i for i, word in enumerate(words) if any(map(str.isalnum, word))]
    if not kept:
        assert tree is None
        return
    assert tree.words == tuple(words[i].lower().strip(".") for i in kept)
    assert tree_fault(tree.heads) is None
    root = kept[tree.heads.index(-1)]
    for word, head in zip(kept, tree.heads, strict=True):
        ancestor = heads[word]
        while ancestor >= 0 and ancestor not in kept:
            ancestor = heads[ancestor]
        assert (kept[head] if head >= 0 else -1) == (root if ancestor < 0 and word != root else ancestor)


@pytest.mark.parametrize(
    ("word", "spoken"),
    [("U.S.", "u.s"), ("'s", "'s"), ("``", ""), ("-lrb-", ""), ("$", ""), ("3rd,", "3rd"), ("'", "")],
)
def test_words(word, spoken):
    assert spoken_word(word) == spoken


@pytest.mark.slow
def test_commands_train_on_spoken_trees(tmp_path):
    (tmp_path / "a.conllu").write_text(CONLLU * 6)
    (tmp_path / "a.ptb").write_text(f"{TREE}\n" * 6)
    done("train", "dependency-lm", tmp_path / "a.conllu", "--spoken", "-o", tmp_path / "a.deplm")
    known = read_model(tmp_path / "a.deplm").vocabulary
    assert [word in known for word in ("hill", "mr", "Hill", "!", ",")] == [True, True, False, False, False]
    done("train", "treelet-lm", tmp_path / "a.ptb", "--spoken", "-o", tmp_path / "a.treelet")
    known = TreeletLanguageModel(model=tmp_path / "a.treelet")
    assert "hill" in known
    assert "Hill" not in known
    for name in ("grammar", "hhmm"):
        model = tmp_path / f"{name}.pcfg"
        done("train", name, tmp_path / "a.ptb", "--spoken", "--language", "en", "--splits", "0", "-o", model)
        assert sorted(word for word in read_grammar(model).lexicon.words if word.isalpha()) == [
            "UNK",
            "did",
            "hill",
            "mr",
        ]
    assert spoken_tree(*read_trees(["(ROOT (. !))"])) is None
