"""CoNLL-U over surface tokens: contractions become one word, and the result is always a tree."""

import random

import pytest

from rerank_adapters.applications.parsing.surface_trees import depths_of, surface_sentences
from rerank_plugins.core.dependency_tree import read_conllu
from rerank_plugins.core.errors import FormatError
from tests.command_line import done, refused

GERMAN = """# text = Sie geht zum Arzt
1\tSie\tsie\tPRON\tPPER\tCase=Nom\t2\tnsubj\t_\t_
2\tgeht\tgehen\tVERB\tVVFIN\t_\t0\troot\t_\t_
3-4\tzum\t_\t_\t_\t_\t_\t_\t_\t_
3\tzu\tzu\tADP\tAPPR\t_\t5\tcase\t5:case\t_
4\tdem\tder\tDET\tART\tCase=Dat\t5\tdet\t_\t_
5\tArzt\tArzt\tNOUN\tNN\tCase=Dat\t2\tobl\t_\t_
5.1\tleer\t_\t_\t_\t_\t_\t_\t_\t_
"""


def test_a_contraction_is_one_word():
    (sentence,) = surface_sentences(GERMAN.splitlines(), "de")
    assert sentence == [
        "# text = Sie geht zum Arzt",
        "1\tSie\tsie\tPRON\tPPER\tCase=Nom\t2\tnsubj\t_\t_",
        "2\tgeht\tgehen\tVERB\tVVFIN\t_\t0\troot\t_\t_",
        "3\tzum\tzu\tADP\tAPPR\t_\t4\tcase\t_\t_",
        "4\tArzt\tArzt\tNOUN\tNN\tCase=Dat\t2\tobl\t_\t_",
    ]


def naive_heads(heads: list[int], groups: list[range]) -> list[int]:
    """The heads of the groups: of the word with the fewest ancestors, each looked up by walking to the root."""

    def ancestors(word: int) -> list[int]:
        return [] if word < 0 else [word, *ancestors(heads[word])]

    group_of = {word: number for number, group in enumerate(groups) for word in group}
    tops = [sorted(group, key=lambda word: (len(ancestors(word)), word))[0] for group in groups]
    return [group_of.get(heads[top], -1) for top in tops]


@pytest.mark.parametrize("seed", range(60))
def test_any_tokens_of_any_tree_give_a_tree(seed):
    rng = random.Random(seed)
    count = rng.randint(1, 9)
    order = rng.sample(range(count), count)  # each word depends on one before it in this order
    heads = [0] * count
    for place, word in enumerate(order):
        heads[word] = rng.choice(order[:place]) if place else -1
    groups, start = [], 0
    while start < count:
        groups.append(range(start, min(count, start + rng.choice((1, 1, 2, 3)))))
        start = groups[-1].stop
    lines = []
    for group in groups:
        if len(group) > 1:
            lines.append(f"{group.start + 1}-{group.stop}\tt{group.start}" + "\t_" * 8)
        lines += [f"{i + 1}\tw{i}\t_\tX\t_\t_\t{heads[i] + 1}\tdep\t_\t_" for i in group]
    (sentence,) = surface_sentences(lines, "made")
    (tree,) = read_conllu(sentence)
    assert tree.words == tuple(f"{'t' if len(group) > 1 else 'w'}{group.start}" for group in groups)
    assert list(tree.heads) == naive_heads(heads, groups)
    assert depths_of(heads) == [1 + len(list(_above(heads, word))) for word in range(count)]


def _above(heads, word):
    while (word := heads[word]) >= 0:
        yield word


def test_faults_name_the_line():
    with pytest.raises(FormatError, match=r"^de:10: head 'x' of word 1 is not a number"):
        list(surface_sentences([*GERMAN.splitlines(), "", "1\ta\t_\tX\t_\t_\tx\troot\t_\t_"], "de"))


def test_the_command_writes_the_trees_of_all_files(tmp_path):
    (tmp_path / "a.conllu").write_text(GERMAN + "\n" + GERMAN, encoding="utf-8")
    (tmp_path / "b.conllu").write_text(GERMAN, encoding="utf-8")
    result = done("trees", "surface", tmp_path / "a.conllu", tmp_path / "b.conllu", "-o", tmp_path / "all.conllu")
    assert "wrote 3 trees to" in result.err
    trees = list(read_conllu((tmp_path / "all.conllu").read_text(encoding="utf-8").splitlines()))
    assert [tree.words for tree in trees] == [("Sie", "geht", "zum", "Arzt")] * 3


def test_every_nth_tree_is_held_out(tmp_path):
    blocks = [GERMAN.replace("Sie\tsie", f"Sie{n}\tsie") for n in range(7)]
    (tmp_path / "a.conllu").write_text("\n".join(blocks), encoding="utf-8")

    def first_words(*options):
        done("trees", "surface", tmp_path / "a.conllu", *options, "-o", tmp_path / "out.conllu")
        lines = (tmp_path / "out.conllu").read_text(encoding="utf-8").splitlines()
        return "".join(tree.words[0].removeprefix("Sie") for tree in read_conllu(lines))

    assert first_words("--every", 3) == "25"
    assert first_words("--except-every", 3) == "01346"
    assert "not both" in refused("trees", "surface", tmp_path / "a.conllu", "--every", 3, "--except-every", 3)
