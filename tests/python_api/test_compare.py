"""`compare`: the preferences of the command, by names, files and objects, over pairs of any kind."""

import json

import numpy as np
import pytest

from rerank_adapters.applications.acceptability.compare import Compared, Preferences, compare
from rerank_plugins import ConfigError, FormatError, SentenceFeature, SentenceModel
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel
from tests.command_line import done
from tests.test_contracts import ARPA

PAIRS = [
    ("The dog barks.", "The dog bark."),
    ("a dog don't know", "don't know a dog"),
    ("(the) dog", "(the) zygote"),
    ("the cat", "the dog"),
]


class Letters(SentenceModel):
    """The total of a sentence is minus its number of characters."""

    def totals(self, sentences):
        return np.array([-1.0 * len("".join(words)) for words in sentences])

    def __contains__(self, word):
        return True


class Ends(SentenceFeature):
    """Two columns: the lengths of the first and of the last word."""

    @property
    def components(self):
        return ("first", "last")

    def values(self, sentences):
        return np.array([[len(words[0]), len(words[-1])] for words in sentences], np.float64)


def test_it_is_what_the_command_says(tmp_path):
    (tmp_path / "pairs.tsv").write_text("".join(f"{good}\t{bad}\n" for good, bad in PAIRS))
    printed = json.loads(
        done("acceptability", "pairs", tmp_path / "pairs.tsv", "-M", "unigram", "-f", "length", "--as", "json").out
    )
    rows = compare(PAIRS, ["unigram", "length"], columns=[])
    summary = {row["system"]: row for row in rows.accuracies}
    for record in printed:
        ours = summary[record["system"]]
        assert [ours[key] for key in ("accuracy", "low", "high", "pairs", "ties")] == [
            pytest.approx(record[key]) for key in ("accuracy", "low", "high", "pairs", "ties")
        ]
    done(
        *("acceptability", "pairs", tmp_path / "pairs.tsv", "-M", "unigram", "--column", "*.total"),
        *("--failures", tmp_path / "failed.tsv"),
    )
    failed = [line.split("\t") for line in (tmp_path / "failed.tsv").read_text().splitlines()[1:]]
    ours = [
        [f"{row['unigram']:.9g}", row["better"], row["worse"]]
        for row in compare(tmp_path / "pairs.tsv", "unigram")
        if row["unigram.preferred"] != "better"
    ]
    assert ours == [row[-3:] for row in failed]


def test_margins_and_preferences():
    rows = compare(PAIRS, {"letters": Letters()}, text="none")
    assert rows.columns == ("better", "worse", "letters", "letters.preferred")
    assert rows["letters"] == [-1, 0, 3, 0]
    assert rows["letters.preferred"] == ["worse", "tie", "better", "tie"]
    assert list(zip(rows["better"], rows["worse"], strict=True)) == PAIRS
    assert isinstance(rows, Compared)
    assert rows.accuracies[0]["accuracy"] == 0.5
    assert rows.systems[0].ties == 2


def test_names_files_and_objects():
    by_name = compare(PAIRS, ["unigram", ARPA])
    by_object = compare(PAIRS, {"u": UnigramLanguageModel(), "a": ARPA})
    assert [s.margin.tolist() for s in by_name.systems] == [s.margin.tolist() for s in by_object.systems]
    assert [s.system for s in by_object.systems] == ["u", "a"]
    words = [tuple(text.split() for text in pair) for pair in PAIRS]
    assert compare(words, Letters())[0]["better"] == PAIRS[0][0]
    assert compare(words, {"x": Letters()}) == compare(PAIRS, {"x": Letters()}, text="none")


def test_features_of_several_columns_judge_alone():
    rows = compare([("I see", "see I")], {"ends": Ends(), "letters": Letters()})
    assert [s.system for s in rows.systems] == ["ends.first", "ends.last", "letters"]
    assert [s.margin.tolist() for s in rows.systems] == [[-2], [2], [0]]
    per_word = compare([("I see", "see I now")], {"ends": Ends(), "letters": Letters()}, columns="*.per_word")
    assert [s.system for s in per_word.systems] == ["letters.per_word"]
    assert per_word["letters.per_word"] == pytest.approx([-4 / 3 + 7 / 4])


def test_what_it_refuses(tmp_path):
    with pytest.raises(TypeError, match="pairs: wanted a sequence of pairs of texts, found 'good'"):
        compare("good", "unigram")
    with pytest.raises(TypeError, match=r"pairs\[1\]: wanted a pair of texts, found 'good'"):
        compare([("good", "bad"), "good"], "unigram")
    with pytest.raises(TypeError, match=r"pairs\[0\]: wanted a pair of texts, found \('a', 'b', 'c'\)"):
        compare([("a", "b", "c")], "unigram")
    with pytest.raises(TypeError, match=r"pairs\[0\]\[1\]: wanted a text or its words, found 3"):
        compare([("a", 3)], "unigram")
    with pytest.raises(ConfigError, match=r"columns: no column 'unigram.totl'; did you mean 'unigram.total'"):
        compare(PAIRS, {"unigram": "unigram"}, columns="unigram.totl")
    (tmp_path / "pairs.tsv").write_text("a\n")
    with pytest.raises(FormatError, match=r"pairs.tsv, line 1|pairs.tsv:1"):
        compare(tmp_path / "pairs.tsv", "unigram")
    assert len(compare([], "unigram")) == 0
    assert Preferences.of_scores("x", np.array([1.0]), np.array([1.0 + 1e-12])).ties == 1
