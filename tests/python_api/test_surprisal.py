"""`surprisal`: what the command prints, of many models at once, and of the words of a caller."""

import math
from pathlib import Path

import numpy as np
import pytest

from rerank_adapters import surprisal
from rerank_adapters.applications.language_models.token_spans import spans_of
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, LanguageModel
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel
from tests.command_line import done
from tests.test_contracts import ARPA

TEXTS = ["The dog barks.", "", 'He said (loudly): "don\'t go…"', "cat the on the mat"]


class Lengths(LanguageModel):
    """The surprisal of a word is its number of characters, of the end 1 bit; it knows short words."""

    def score(self, sentences):
        return [-math.log(2) * np.array([*map(float, map(len, words)), 1.0]) for words in sentences]

    def __contains__(self, word):
        return len(word) < 5


def test_it_is_what_the_command_prints(tmp_path):
    (tmp_path / "text").write_text("".join(f"{text}\n" for text in TEXTS))
    header, *printed = [line.split("\t") for line in done("lm", "surprisal", tmp_path / "text", "-M", ARPA).lines]
    rows = surprisal(TEXTS, ARPA)
    assert rows.columns[:3] == ("text", "position", "word")
    assert rows.columns[-1] == "known"
    (column,) = rows.columns[3:-1]
    ours = [[str(row["text"]), str(row["position"]), row["word"], f"{row[column]:.6g}"] for row in rows]
    assert ours == [row[:4] for row in printed]
    assert [str(int(known)) for known in rows["known"]] == [row[-1] for row in printed]
    assert header[:4] == ["sentence", "position", "word", "surprisal"]


def test_all_measures_of_the_command(tmp_path):
    names = ["surprisal", "entropy", "entropy_reduction", "depth", "depth_difference", "lost"]
    printed = done("lm", "surprisal", "-", "-M", "hhmm-lm,beam=20", stdin=TEXTS[0]).lines
    rows = surprisal(TEXTS[:1], {"h": "hhmm-lm,beam=20"}, measures=names)
    assert rows.columns[3:-1] == tuple(f"h.{name}" for name in names)
    for row, line in zip(rows, printed[1:], strict=True):
        values = ["" if math.isnan(row[f"h.{name}"]) else f"{row[f'h.{name}']:.6g}" for name in names]
        assert values == line.split("\t")[3:-1]


def test_names_files_objects_and_words():
    words = [TextPipeline("penn-tokenize").apply([text])[0].split() for text in TEXTS]
    by_name = surprisal(TEXTS, "unigram")
    assert surprisal(words, UnigramLanguageModel())["word"] == by_name["word"]
    assert surprisal(iter(words), {"unigram": UnigramLanguageModel()}) == by_name
    both = surprisal([TEXTS[0], words[1]], {"a": "unigram", "b": NgramLanguageModel(Path(ARPA)), "c": ARPA})
    assert both["b"] == both["c"] != both["a"]
    assert both["a"] == by_name["unigram"][: len(both)]
    assert both.columns[-3:] == ("a.known", "b.known", "c.known")
    for name, model in (("a", UnigramLanguageModel()), ("b", NgramLanguageModel(Path(ARPA)))):
        assert both[f"{name}.known"] == [*(word in model for word in words[0]), True, True]


def test_the_model_that_does_not_know_the_words_is_named(caplog):
    long = ["elephants gather underneath enormous umbrellas whenever thunder frightens younger giraffes"]
    rows = surprisal(long, {"lengths": Lengths(), "words": "unigram"})
    (warning,) = caplog.messages
    assert warning.startswith("100.0% of the words are unknown to the language model 'lengths'")
    assert rows["lengths.known"] == [False] * 10 + [True]
    assert sum(rows["words.known"]) > 5


def test_text_steps():
    assert surprisal(["He don't"], Lengths(), text="none")["word"] == ["He", "don't", "</s>"]
    assert surprisal(["He don't"], Lengths(), text="lowercase+penn-tokenize")["word"] == ["he", "do", "n't", "</s>"]


def test_words_of_the_caller_have_the_sum_of_their_tokens():
    text = 'He said (loudly): "don\'t go…" Mr. Smith left.'
    tokens = surprisal([text], "unigram")
    rows = surprisal([text], "unigram", words=[text.split()])
    assert rows["word"] == text.split()
    assert sum(rows["unigram"]) == pytest.approx(sum(tokens["unigram"][:-1]))
    assert rows[0]["unigram"] == tokens[0]["unigram"]
    lengths = surprisal(["I can't stop."], Lengths(), words=[["I", "can't", "stop."]])
    assert lengths["Lengths"] == pytest.approx([1, 5, 5])
    assert lengths["known"] == [True] * 3


def test_states_are_those_after_the_last_token():
    (first, *tokens) = surprisal(["Dogs don't."], "hhmm-lm,beam=20", measures=["depth", "depth_difference"])
    (own, joined) = surprisal(
        ["Dogs don't."], "hhmm-lm,beam=20", measures=["depth", "depth_difference"], words=[["Dogs", "don't."]]
    )
    depth, difference = own.keys() - {"text", "position", "word", "known"}
    assert {own[depth], own[difference]} == {first[depth], first[difference]}
    name = next(key for key in own if key.endswith(".depth"))
    assert joined[name] == tokens[2][name]
    change = next(key for key in own if key.endswith(".depth_difference"))
    assert joined[change] == pytest.approx(sum(token[change] for token in tokens[:3]))


@pytest.mark.parametrize(
    ("tokens", "words", "message"),
    [
        (["do", "n't"], ["do", "not"], "the token \"n't\" is not in the word 'not'"),
        (["don't"], ["do", "n't"], "the token \"don't\" is not in the word 'do'"),
        (["go", "."], ["go"], "the token '.' of the text is in none of the words"),
        (["go"], ["go", "."], "no tokens of the word '.'"),
        (["go"], ["gone"], "no tokens of the word 'gone'"),
        (["go"], ["", "go"], "no tokens of the word ''"),
    ],
)
def test_words_of_another_text(tokens, words, message):
    with pytest.raises(ConfigError) as error:
        spans_of(tokens, words, "words[3]")
    assert str(error.value).startswith("words[3]: ")
    assert message in str(error.value)


def test_what_it_refuses():
    with pytest.raises(TypeError, match=r"texts: wanted a sequence of texts, found the text 'It rains'; give one text"):
        surprisal("It rains", "unigram")
    with pytest.raises(TypeError, match=r"texts\[1\]: wanted a text or its words, found 3"):
        surprisal(["It rains", 3], "unigram")
    with pytest.raises(TypeError, match=r"texts\[9\]: wanted words without white space, found 'a b'"):
        surprisal([*["It rains"] * 9, ["a b"]], "unigram")
    with pytest.raises(TypeError, match="wanted a sequence of texts, found 3"):
        surprisal(3, "unigram")
    with pytest.raises(ConfigError, match="gives no probabilities of single words"):
        surprisal(["It rains"], "treelet-lm")
    with pytest.raises(ConfigError, match="no measure is named 'entrpy'; did you mean 'entropy'"):
        surprisal(["It rains"], "unigram", measures="entrpy")
    with pytest.raises(ConfigError, match="measures: wanted one or more of: surprisal, "):
        surprisal(["It rains"], "unigram", measures=[])
    with pytest.raises(ConfigError, match="words: found those of 1 texts"):
        surprisal(["It rains", "a"], "unigram", words=[["It", "rains"]])
    with pytest.raises(ConfigError, match="words: found those of more than 1 texts"):
        surprisal(["a"], "unigram", words=[["a"], ["b"]])
    with pytest.raises(TypeError, match=r"words\[0\]: wanted a sequence of words, found the text 'a'"):
        surprisal(["a"], "unigram", words=["a"])
    with pytest.raises(ConfigError, match="unknown text step 'tokenise'"):
        surprisal(["a"], "unigram", text="tokenise")
