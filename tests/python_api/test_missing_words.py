"""`substitutes`, `locate` and `fill`: the rows of their commands."""

from pathlib import Path

import pytest

from rerank_adapters import fill, load, locate, substitutes
from rerank_plugins import ConfigError, FormatError
from rerank_plugins.missing_words.model import read_model
from rerank_plugins.substitutes.fastsubs import FastSubs
from tests.command_line import done

TEXTS = ["the cat sat on the mat .", "the dog ____ on the mat", "a cat ____ ."]
INCOMPLETE = ["the sat on the mat .", "the dog on the mat", "a sat on mat"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    lines = ["the cat sat on the mat .", "the dog sat on the mat .", "a dog saw the cat .", "the cat saw a dog ."]
    (folder / "text").write_text("".join(f"{line}\n" for line in lines * 30))
    done("train", "ngram", folder / "text", "-o", folder / "lm.ngram", "--order", 3)
    done("train", "missing-words", folder / "text", "-o", folder / "news.mw", "--held-out", folder / "text")
    (folder / "texts").write_text("".join(f"{text}\n" for text in TEXTS))
    (folder / "blanks").write_text("".join(f"{text}\n" for text in TEXTS[1:]))
    (folder / "incomplete").write_text("".join(f"{text}\n" for text in INCOMPLETE))
    return folder


def printed(rows, formats):
    return ["\t".join(format(row[name], how) for name, how in formats.items()) for row in rows]


SUBSTITUTES = {"text": "", "position": "", "word": "", "rank": "", "substitute": "", "ln_p": ".6f", "share": ".6g"}


@pytest.mark.parametrize(("at", "name"), [("words", "texts"), ("blanks", "blanks"), (2, "texts")])
def test_substitutes_are_those_of_the_command(folder, at, name):
    ran = done("words", "substitutes", folder / name, "-M", folder / "lm.ngram", "--top", 3, "--at", at)
    texts = (folder / name).read_text().splitlines()
    rows = substitutes(texts, at, folder / "lm.ngram", 3)
    assert printed(rows, SUBSTITUTES) == ran.lines[1:]
    assert substitutes(folder / name, at, str(folder / "lm.ngram"), 3) == rows
    assert substitutes([text.split() for text in texts], at, load(folder / "lm.ngram"), 3) == rows
    assert substitutes(iter(texts), at, FastSubs.load(folder / "lm.ngram"), 3) == rows


def test_positions_of_each_text(folder):
    model = FastSubs.load(folder / "lm.ngram")
    rows = substitutes(TEXTS, [2, [4, 1, 4], []], model, 1)
    assert list(zip(rows["text"], rows["position"], strict=True)) == [(1, 2), (2, 1), (2, 4)]
    assert rows[0]["substitute"] == substitutes(TEXTS[:1], 2, model, 1)[0]["substitute"]
    assert len(substitutes(TEXTS, "words", model, 5, least=0.5)) < len(substitutes(TEXTS, "words", model, 5))


def test_what_substitutes_refuses(folder):
    model = FastSubs.load(folder / "lm.ngram")
    with pytest.raises(TypeError, match="texts: wanted a sequence of texts"):
        substitutes("the cat", "words", model)
    with pytest.raises(ConfigError, match="positions: 0: wanted 'words', 'blanks', or a position from 1 on"):
        substitutes(TEXTS, 0, model)
    with pytest.raises(ConfigError, match="positions: -1: wanted"):
        substitutes(TEXTS, [[-1], [1], [1]], model)
    with pytest.raises(ConfigError, match="positions: found those of 1 texts"):
        substitutes(TEXTS, [1], model, 1)
    with pytest.raises(FormatError, match="texts:1: there is no position 9: the line has 7 words"):
        substitutes(TEXTS, 9, model, 1)
    with pytest.raises(FormatError, match="texts:1: the line has no blank"):
        substitutes(TEXTS, "blanks", model, 1)
    with pytest.raises(ConfigError, match="top is 0, wanted a number from 1 to"):
        substitutes(TEXTS, "words", model, 0)
    with pytest.raises(ConfigError, match="wanted an n-gram model, found 'unigram'"):
        substitutes(TEXTS, "words", "unigram")


@pytest.mark.parametrize("method", ["odds", "distance", "ngram"])
def test_locate_is_what_the_command_prints(folder, method):
    ran = done("words", "locate", folder / "incomplete", "-M", folder / "news.mw", "--top", 2, "--method", method)
    rows = locate(INCOMPLETE, folder / "news.mw", method=method, top=2)
    formats = {"rank": "", "position": "", "before": "", "after": "", "ln_p": ".6g"}
    assert printed(rows, formats) == [line.partition("\t")[2] for line in ran.lines[1:]]
    assert rows["text"] == [1, 1, 2, 2, 3, 3]
    assert locate(folder / "incomplete", str(folder / "news.mw"), method=method, top=2) == rows
    words = [text.split() for text in INCOMPLETE]
    assert locate(words, read_model(folder / "news.mw"), method=method, top=2) == rows


@pytest.mark.parametrize(("option", "name"), [("-M", "news.mw"), ("--ngram", "lm.ngram")])
def test_fill_is_what_the_command_prints(folder, option, name):
    ran = done("words", "fill", folder / "blanks", option, folder / name, "--top", 3)
    rows = fill(TEXTS[1:], folder / name, top=3)
    formats = {"rank": "", "position": "", "word": "", "ln_p": ".6g"}
    assert printed(rows, formats) == [line.partition("\t")[2] for line in ran.lines[1:]]
    read = read_model if option == "-M" else load
    assert fill([text.split() for text in TEXTS[1:]], read(folder / name), top=3) == rows
    assert fill(folder / "blanks", str(folder / name), top=3) == rows


def test_what_restoration_refuses(folder):
    with pytest.raises(TypeError, match="texts: wanted a sequence of texts"):
        locate("a b", folder / "news.mw")
    with pytest.raises(FormatError, match="texts:2: an empty line, wanted a sentence that lacks a word"):
        locate(["a b", ""], folder / "news.mw")
    with pytest.raises(ConfigError, match="no method is named 'odd'; did you mean 'odds'"):
        locate(["a b"], folder / "news.mw", method="odd")
    for other in (None, 3, {"use": "missing-words"}):
        with pytest.raises(TypeError, match="model: wanted the file of a model of missing words, or that model, found"):
            locate(["a b"], other)
    with pytest.raises(FormatError, match=r"texts:1: no blank in the sentence, wanted one \(____\)"):
        fill(["a b"], folder / "news.mw")
    with pytest.raises(ConfigError, match="candidates limits the words of a model of missing words"):
        fill(TEXTS[1:], folder / "lm.ngram", candidates=3)
    with pytest.raises(ConfigError, match="top is 10000, wanted a number from 1 to"):
        fill(TEXTS[1:], folder / "news.mw", top=10_000)
    with pytest.raises(ConfigError, match="wanted a model of missing words or an n-gram model, found 'unigram'"):
        fill(TEXTS[1:], "unigram")
    assert Path(folder / "news.mw").is_file()
