"""`SentenceClassifier`: what is fitted in Python, and what the command saves and applies, are the same classifier."""

from dataclasses import dataclass

import numpy as np
import pytest

from rerank_adapters import SentenceClassifier, load
from rerank_plugins import ConfigError, FeatureExtractor, FormatError, PluginError
from tests.command_line import done

TEXTS = [f"{'long ' * 3 * (i % 2)}word{' more' * (i % 3)}" for i in range(20)]
LABELS = [i % 2 for i in range(20)]
NEW = ["one two three four five", "one"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classifier")
    judged = "".join(f"{label}\t{text}\n" for text, label in zip(TEXTS, LABELS, strict=True))
    for name in ("dev.tsv", "test.tsv"):
        (folder / name).write_text(judged)
    return folder


@pytest.mark.parametrize("criterion", ["accuracy", "mcc"])
@pytest.mark.parametrize("kind", ["threshold", "logistic"])
def test_it_is_what_the_command_learns_and_applies(folder, tmp_path, kind, criterion):
    if kind == "logistic":
        pytest.importorskip("sklearn")
    saved, own = tmp_path / "command.toml", tmp_path / "python" / "own.toml"
    own.parent.mkdir()
    logistic = ("--logistic", "--choose", "all, logistic") if kind == "logistic" else ()
    done("acceptability", "sentences", folder / "dev.tsv", folder / "test.tsv", "-f", "length", "-f", "unigram",
         "--criterion", criterion, "--save", saved, *logistic)  # fmt: skip
    fitted = load(kind, features=["length", "unigram"], criterion=criterion).fit(TEXTS, LABELS)
    fitted.save(own)
    rows = fitted.predict(NEW)
    for classifier in (load(saved), load(str(own)), load(own, "classifier"), SentenceClassifier.load(saved)):
        assert (classifier.weights_, classifier.threshold_) == (fitted.weights_, fitted.threshold_)
        assert classifier.predict(NEW) == rows
    assert rows.columns == ("text", "acceptable", "score")
    for file in (saved, own):
        judged = done("acceptability", "classify", "--classifier", file, stdin="".join(f"{text}\n" for text in NEW))
        assert judged.lines == [f"{int(row['acceptable'])}\t{row['score']:.6g}\t{row['text']}" for row in rows]
    again = tmp_path / "again.toml"
    load(saved).save(again)
    assert load(again).predict(NEW) == rows


def test_texts_words_and_frames():
    pandas = pytest.importorskip("pandas")
    classifier = SentenceClassifier({"words": "length"}, text="penn-tokenize")
    classifier.fit(pandas.Series(["It rains.", "It rains"]), np.array([True, False]))
    assert classifier.weights_ == {"words": 1.0}
    rows = classifier.predict(["Dogs bark.", ["Dogs", "bark"], ["a", "b", "c", "d"]])
    assert rows.to_pandas()["acceptable"].tolist() == [True, False, True]
    assert rows["text"] == ["Dogs bark.", "Dogs bark", "a b c d"]
    assert classifier.predict([]).columns == rows.columns


@dataclass
class Commas(FeatureExtractor):
    """Minus the number of commas."""

    def extract(self, nbest):
        return np.array([[-float(text.count(","))] for text in nbest.texts])


def test_a_feature_of_a_class_of_ones_own(tmp_path):
    classifier = SentenceClassifier(Commas()).fit(["a , b", "a b", ", ,"], [0, 1, 0])
    assert classifier.predict(["x", "x , y"])["acceptable"] == [True, False]
    with pytest.raises(ConfigError, match="the feature 'Commas' has no name that a file could hold"):
        classifier.save(tmp_path / "c.toml")


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (lambda: load("threshold", features="lenght"), PluginError, "did you mean 'length'"),
        (lambda: load("threshold", feature="length"), ConfigError, "no option 'feature'; did you mean 'features'"),
        (lambda: load("threshold,criterion=f1"), ConfigError, r"criterion is 'f1' \(known: accuracy, mcc\)"),
        (lambda: load("treshold", "classifier"), ConfigError, "no such file, and no classifier of that name; did you"),
        (lambda: load("length", "classifier"), ConfigError, "no such file, and no classifier of that name"),
        (lambda: SentenceClassifier("length", "svm"), ConfigError, "kind is 'svm'"),
        (lambda: load("threshold", features="length").predict(["a"]), ConfigError, "is not fitted: call fit"),
        (lambda: load("threshold", features="length").fit("ab", [0, 1]), TypeError, "wanted a sequence of texts"),
        (lambda: load("threshold", features="length").fit(["a", "b"], [1]), ConfigError, "found 1 for 2 texts"),
        (lambda: load("threshold", features="length").fit(["a", "b"], [1, 2]), ConfigError, r"labels\[1\]: wanted 1"),
        (lambda: load("threshold", features="length").fit(["a", "b"], [1, "0"]), ConfigError, r"labels\[1\]: wanted"),
        (lambda: load("threshold", features="length").fit(["a", "b"], [1, 1]), ConfigError, "found 2 of one kind"),
        (lambda: load("threshold", features="length").fit(["a", "b"], [1, 0]), ConfigError, "no feature gives any two"),
        (lambda: load("threshold").fit(["a", "b"], [1, 0]), ConfigError, "nothing to judge with"),
        (lambda: load(7, "classifier"), TypeError, "wanted a classifier, found 7"),
    ],
)
def test_errors_are_one_line(action, error, message):
    with pytest.raises(error, match=message) as raised:
        action()
    assert "\n" not in str(raised.value)


def test_damaged_files(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text("kind = 'threshold'\nthreshold = 1\n")
    with pytest.raises(FormatError, match="no weights"):
        load(path)
    path.write_text("kind = \n")
    with pytest.raises(FormatError, match="not valid TOML"):
        load(path, "classifier")
    with pytest.raises(ConfigError, match=r"Pipeline\.load reads weights"):
        load(path)


def test_score_is_the_proportion_of_right_labels():
    classifier = SentenceClassifier("length").fit(TEXTS, LABELS)
    wrong = [1 - label for label in LABELS[:5]] + LABELS[5:]
    assert classifier.score(TEXTS, LABELS) == np.mean([a == bool(b) for a, b in zip(
        classifier.predict(TEXTS)["acceptable"], LABELS, strict=True)])  # fmt: skip
    assert classifier.score(TEXTS, LABELS) == 1.0
    assert classifier.score(TEXTS, wrong) == 0.75
    assert classifier.score(TEXTS[1::2], np.ones(10, bool)) == 1.0  # labels of one kind can be scored
    with pytest.raises(ConfigError, match="labels: found 3 for 20 texts"):
        classifier.score(TEXTS, [1, 0, 1])
    with pytest.raises(ConfigError, match="not fitted"):
        SentenceClassifier("length").score(TEXTS, LABELS)
