"""Curly apostrophes and quotation marks are those of a keyboard to models and tokenisers, whichever a model has read."""

import pytest

from rerank_adapters.applications.language_models.word_measures import surprisal
from rerank_adapters.text import TextPipeline
from rerank_plugins import FeatureTable
from rerank_plugins.core.brackets_and_quotes import known_spelling
from rerank_plugins.core.words import model_words
from tests.command_line import done

TEXT = "it 's late and I do n't know o'clock\nwe do n't know what it 's for\nten o'clock\n"
STRAIGHT = "I don't know what it's for at ten o'clock."
CURLY = STRAIGHT.replace("'", "’")


@pytest.fixture(scope="module", params=["'", "’", "ʼ"], ids=["straight", "curly", "letter"])
def model(request, tmp_path_factory):
    """A model of text with one kind of apostrophe."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "text").write_text(TEXT.replace("'", request.param))
    done("train", "ngram", folder / "text", "--order", 2, "--arpa", folder / "lm.arpa", "-o", folder / "lm.ngram")
    return folder


@pytest.mark.parametrize("file", ["lm.ngram", "lm.arpa"])
@pytest.mark.parametrize("apostrophe", ["'", "’", "ʼ"])
def test_words_with_any_apostrophe_are_known(file, apostrophe, model, tmp_path):
    (tmp_path / "straight").write_text(f"{STRAIGHT}\n")
    (tmp_path / "other").write_text(STRAIGHT.replace("'", apostrophe) + "\n")
    rows = done("lm", "surprisal", tmp_path / "other", "-M", model / file).out
    assert rows == done("lm", "surprisal", tmp_path / "straight", "-M", model / file).out
    known = {row.split("\t")[2]: row.split("\t")[-1] for row in rows.splitlines()[1:]}
    assert [known[word] for word in ("n't", "'s", "o'clock")] == ["1", "1", "1"]


def test_features_and_functions_see_the_same_words(model, tmp_path):
    (tmp_path / "lists").write_text(f"0 ||| {CURLY} |||\n0 ||| {STRAIGHT} |||\n")
    feature = f"ngram-lm,model={model / 'lm.ngram'},text=penn-tokenize"
    done("extract", tmp_path / "lists", "-f", feature, "-o", tmp_path / "table.npz")
    curly, straight = FeatureTable.load(tmp_path / "table.npz").values.tolist()
    assert curly[1:] == straight[1:]  # the first column is the rank
    one, other = (list(surprisal([text], str(model / "lm.ngram"))) for text in (CURLY, STRAIGHT))
    assert one == other


def test_words_that_are_given_as_words_are_found_in_any_spelling():
    vocabulary = {"it’s", "o'clock", "``"}
    assert [known_spelling(word, vocabulary) for word in ("it's", "itʼs", "o’clock", "“", "let's")] == [
        "it’s", "it’s", "o'clock", "``", None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("step", "text", "wanted"),
    [
        ("penn-tokenize", "“I don’t,” he said…", "`` I do n't , '' he said ..."),
        ("tokenize:en", "I don’t know", "I don 't know"),
        ("tokenize:fr", "l’eau", "l' eau"),
        ("restore-sentence", "isn’t it so", "Isn't it so?"),
        ("no-punctuation", "“it’s”", "it's"),
        ("expand-contractions", "it’s", "it is"),
    ],
)
def test_tokenisers_and_steps(step, text, wanted):
    assert TextPipeline(step).apply([text]) == [wanted]


def test_text_with_straight_marks_and_text_of_other_scripts_stay():
    for text in ("don't", "“so”", "日本", "«l'eau»", ""):
        assert " ".join(model_words(text)) == text
