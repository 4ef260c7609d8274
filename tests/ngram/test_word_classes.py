"""Words replaced by classes: from tagged treebanks, in files, as a text step."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FormatError
from rerank_plugins.ngram.word_classes import WordClasses, most_frequent, read_classes
from tests.command_line import done, one_line, rerank, says_what_it_wrote

CONLLU = """\
# text = The cat was running
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tcat\tcat\tNOUN\tNN\t_\t4\tnsubj\t_\t_
3\twas\tbe\tAUX\tVBD\t_\t4\taux\t_\t_
3.1\tgone\tgo\tVERB\tVBN\t_\t_\t_\t_\t_
4\trunning\trun\tVERB\tVBG\t_\t0\troot\t_\t_

"""
BRACKETS = "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD was) (VP (VBG running)))))\n"


@pytest.fixture
def classes():
    sentences = [[("The", "DT"), ("dogs", "NNS"), ("bark", "VBP")], [("the", "DT"), ("dogs", "NNS")], [("Bark", "NN")]]
    sentences += [
        [("bark", "NN"), ("Paris", "NNP"), ("is", "VBZ"), ("once", "RB")],
        [("Paris", "NNP"), ("the", "DT"), ("bark", "NN")],
    ]
    return WordClasses.of_treebank(sentences, ["Dogs"])


def test_classes_of_a_treebank(classes):
    words = {word: classes.of(word) for word in ("The", "THE", "bark", "Paris", "paris", "dogs", "is", "ever")}
    assert words == {
        "The": "the", "THE": "the", "bark": "NN", "Paris": "NNP", "paris": "NNP", "dogs": "dogs", "is": "is",
        "ever": "ever",
    }  # fmt: skip
    assert classes.of("once") == "UNK-LC", "seen once only"
    assert classes.of("meowing") == "UNK-LC-ing"
    assert most_frequent({"VB": 2, "NN": 2, "FW": 1}) == "NN"


def test_classes_are_read_as_they_were_written(classes):
    assert read_classes(classes.lines(), "x").classes == classes.classes
    assert read_classes(["a  N\n", "\n", "b N"], "x").classes == {"a": "N", "b": "N"}


@given(st.lists(st.sampled_from(["The", "bark", "Zs", "42", "is"]), max_size=6))
def test_a_text_has_as_many_classes_as_words(words):
    classes = WordClasses({"the": "the", "bark": "NN"})
    text = classes.apply("  ".join(words))
    assert text.split() == [classes.of(word) for word in words]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a N\nb\n", "x:2: 1 fields"),
        ("a N\na V\n", "x:2: 'a' has another class already: N"),
        ("\n", "x: there are no classes"),
    ],
)
def test_files_of_another_form(text, message):
    with pytest.raises(FormatError) as caught:
        read_classes(text.splitlines(), "x")
    assert message in str(caught.value)


@pytest.mark.parametrize(("name", "tree"), [("a.conllu", CONLLU), ("a.ptb", BRACKETS)])
def test_training_and_the_text_step(tmp_path, name, tree):
    treebank, text, out = tmp_path / name, tmp_path / "text.txt", tmp_path / "classes.tsv"
    treebank.write_text(tree * 2)
    text.write_text("dog dog , Running")
    ran = done("train", "word-classes", treebank, "-o", out)
    assert says_what_it_wrote(ran, "the classes", out)
    step = f"classes:{out}"
    assert TextPipeline((step,)).apply(["The cat was Running away"]) == ["the NN was VBG UNK-LC"]
    assert TextPipeline((step,)).describe().startswith("classes:sha256-")
    done("train", "word-classes", treebank, "--text", text, "--max-words", "1", "-o", out)
    assert done("tools", "text", step, stdin="dog cat\n").lines == ["dog NN"]


def test_what_cannot_be_read(tmp_path):
    treebank = tmp_path / "a.conllu"
    treebank.write_text("1\tThe\tthe\n")
    assert "a.conllu:1: 3 columns" in one_line(rerank("train", "word-classes", treebank), 2)
    with pytest.raises(ConfigError, match=r"text step 'classes': .*cannot be read"):
        TextPipeline((f"classes:{tmp_path / 'none.tsv'}",)).apply(["a"])
