"""`complete`: the values and answers of the command's systems."""

from pathlib import Path

import pytest

from rerank_adapters import complete
from rerank_plugins import ConfigError
from rerank_plugins.ngram.language_model import NgramLanguageModel
from tests.command_line import done
from tests.test_contracts import ARPA

TEXTS = ["The _____ barks.", "It was (very) ____, he said."]
OPTIONS = [["dog", "zygote"], ["small", "of"]]


def test_it_is_what_the_command_answers(tmp_path):
    rows = [f"{i}\t{text}\t{a}\t{b}\n" for i, (text, (a, b)) in enumerate(zip(TEXTS, OPTIONS, strict=True), 1)]
    (tmp_path / "questions.tsv").write_text("id\tquestion\ta)\tb)\n" + "".join(rows))
    for model, options in (("unigram", ("-f", "unigram")), (ARPA, ("-f", f"ngram-lm,model={ARPA}"))):
        done(
            "words",
            "complete",
            tmp_path / "questions.tsv",
            *options,
            "-o",
            tmp_path / "answers.tsv",
            "--lists",
            tmp_path / "l",
        )
        letters = [line.split("\t")[1] for line in (tmp_path / "answers.tsv").read_text().splitlines()[1:]]
        completed = complete(TEXTS, OPTIONS, {"m": model}, columns="*.oovs" if model == ARPA else None)
        # the command's answers are those of its last column
        assert completed.answers.columns[0] == "text"
        chosen = completed.answers[completed.answers.columns[-1]]
        if model == "unigram":
            completed = complete(TEXTS, OPTIONS, {"m": model}, columns="m.per_word")
            chosen = completed.answers["m.per_word"]
        assert chosen == [words["ab".index(letter)] for words, letter in zip(OPTIONS, letters, strict=True)]


def test_values_are_ln_p():
    model = NgramLanguageModel(Path(ARPA))
    rows = complete(TEXTS, OPTIONS, {"m": model})
    assert rows.columns == ("text", "option", "m", "m.best")
    assert rows["text"] == [1, 1, 2, 2]
    assert rows["option"] == [word for words in OPTIONS for word in words]
    words = ["The", "dog", "barks", "."]
    assert rows[0]["m"] == pytest.approx(model.totals([words])[0])
    assert complete([["The", "____", "barks", "."]], ["dog", "zygote"], {"m": ARPA})["m"] == rows["m"][:2]
    assert rows["m.best"] == [x for a, b in (rows["m"][:2], rows["m"][2:]) for x in (a >= b, b > a)]
    assert rows.answers["text"] == [1, 2]


def test_equal_options_and_many_models():
    rows = complete(["a ___ c", "___ c"], [["b", "b", "x"], ["b", "c"]], ["unigram", "length"])
    assert rows["unigram.best"][:2] == [True, False]
    assert rows.answers["unigram"][0] == "b"
    assert len(rows) == 5
    assert len(complete([], ["a"], "unigram")) == 0


def test_what_it_refuses():
    with pytest.raises(TypeError, match="texts: wanted a sequence of texts, found the text 'a ____'"):
        complete("a ____", ["b"], "unigram")
    with pytest.raises(TypeError, match="options: wanted a sequence of words, found 'b'"):
        complete(["a ____"], "b", "unigram")
    with pytest.raises(TypeError, match=r"options\[1\]: wanted a sequence of words, found 'b'"):
        complete(["a ____", "b"], [["a"], "b"], "unigram")
    with pytest.raises(ConfigError, match="options: found those of 1 texts, wanted those of 2"):
        complete(["a ____", "____"], [["b"]], "unigram")
    with pytest.raises(ConfigError, match=r"texts\[1\]: found 2 blanks, wanted one \(____\)"):
        complete(["a ____", "____ ____"], ["b"], "unigram")
    with pytest.raises(ConfigError, match=r"texts\[0\]: found 0 blanks"):
        complete([["a"]], ["b"], "unigram")
    with pytest.raises(ConfigError, match=r"options\[0\]: wanted one word or more, found none"):
        complete(["a ____"], [], "unigram")
