"""Judging pairs, suites and single sentences: figures against slow twins, learning, the commands."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.applications.acceptability.classifier import Classifier, fit_logistic
from rerank_adapters.applications.acceptability.classifier_file import read_classifier, write_classifier
from rerank_adapters.applications.acceptability.compare import Preferences
from rerank_adapters.applications.acceptability.judged_suites import judge_suites
from rerank_adapters.applications.acceptability.measures import (
    accuracy,
    best_threshold,
    matthews,
    reliability,
    roc_area,
    roc_curve,
)
from rerank_adapters.applications.acceptability.suite_file import Item, Suite, parse_formula
from rerank_adapters.applications.acceptability.text_features import matching_columns
from rerank_adapters.data.minimal_pairs import read_pairs
from rerank_adapters.report.text import records_tsv
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FeatureTable, FormatError, LanguageModel
from tests.applications import naive_acceptability as naive
from tests.command_line import done, one_line, refused, rerank
from tests.conftest import ROOT

EXAMPLE = ROOT / "example_nbest" / "acceptability"
ARPA = ROOT / "example_nbest" / "mt" / "lm.arpa"

scored = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=12).filter(
    lambda rows: len({good for _, good in rows}) == 2
)


def arrays(rows):
    return np.array([score for score, _ in rows], np.float64), np.array([good for _, good in rows])


@given(scored)
def test_figures_of_a_classifier(rows):
    scores, good = arrays(rows)
    accepted = scores > 0.5
    assert matthews(accepted, good) == pytest.approx(naive.matthews(accepted, good))
    assert accuracy(accepted, good) == pytest.approx(naive.value_at(0.5, scores, good, "accuracy"))
    assert roc_area(scores, good) == pytest.approx(naive.roc_area(scores, good))
    curve = roc_curve(scores, good)
    assert np.diff(curve.false_positive).min() >= 0
    assert np.diff(curve.true_positive).min() >= 0
    ends = [(curve.false_positive[i], curve.true_positive[i]) for i in (0, -1)]
    assert ends == [(0, 0), (1, 1)]


@given(scored, st.sampled_from(["accuracy", "mcc"]))
def test_no_threshold_is_better(rows, criterion):
    scores, good = arrays(rows)
    cut = best_threshold(scores, good, criterion)
    assert cut not in scores, "a threshold lies between scores"
    best = naive.best_value(scores.tolist(), good.tolist(), criterion)
    assert naive.value_at(cut, scores, good, criterion) == pytest.approx(best)


def test_of_equal_thresholds_the_middle_one():
    assert best_threshold(np.array([1.0, 2.0, 5.0, 6.0]), np.array([False, False, True, True])) == 3.5
    assert best_threshold(np.array([1.0, 2.0]), np.array([True, True])) == 0.0


def test_scikit_learn_agrees():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(3)
    good = rng.random(300) < 0.6
    scores = np.round(rng.normal(size=300) + good, 1)
    assert roc_area(scores, good) == pytest.approx(metrics.roc_auc_score(good, scores))
    assert matthews(scores > 0.3, good) == pytest.approx(metrics.matthews_corrcoef(good, scores > 0.3))


def test_areas_of_one_class_are_no_number():
    assert math.isnan(roc_area(np.arange(3.0), np.ones(3, bool)))


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1))
def test_reliability_loses_no_sentence(rows):
    p, good = arrays(rows)
    found = reliability(p, good)
    assert found.counts.sum() == len(p)
    assert found.counts @ found.predicted == pytest.approx(p.sum())
    assert found.counts @ found.observed == pytest.approx(good.sum())


def test_ties_count_half_and_rounding_is_a_tie():
    system = Preferences.of_scores("x", np.array([0.1 + 0.2, -5.0, 1.0, 2.0]), np.array([0.3, -6.0, 2.0, 1.0]))
    assert system.credit.tolist() == [0.5, 1, 0, 1]
    assert (system.accuracy, system.ties) == (0.625, 1)
    test = system.against(Preferences("y", np.array([1.0, 1, 0, 0]), np.zeros(4)))
    assert (test.first_only, test.second_only, test.p_value) == (1, 1, 1.0)


def table(values, names=("a", "b", "c")):
    values = np.asarray(values, np.float64)
    return FeatureTable.dense(names[: values.shape[1]], values, np.arange(0, len(values) + 1, 2))


def test_logistic_regression_is_at_the_top_of_its_penalised_likelihood():
    """The gradient of ln p - ½ |w|² is zero, w being the weights of standardised columns; the constant is free."""
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(2)
    values = np.column_stack([rng.normal(size=(500, 2)) * [1, 50] + [3, -100], np.full(500, 7.0)])
    good = rng.random(500) < 1 / (1 + np.exp(-(values[:, 0] - 3)))
    model = fit_logistic(("a", "b", "c"), values, good, "accuracy")
    weights = np.array(list(model.weights.values()))
    p = 1 / (1 + np.exp(-(values @ weights + model.constant)))
    assert p.sum() == pytest.approx(good.sum(), rel=1e-4)
    spread = values[:, :2].std(axis=0)
    scaled = (values[:, :2] - values[:, :2].mean(axis=0)) / spread
    assert scaled.T @ (good - p) == pytest.approx(weights[:2] * spread, abs=0.02)
    assert weights[2] == 0.0, "a column that never varies"
    accepted = values @ weights > model.threshold
    assert accuracy(accepted, good) == naive.best_value((values @ weights).tolist(), good.tolist(), "accuracy")


def test_columns_are_chosen_by_patterns():
    all_three = table(np.zeros((2, 3)), ("lm.total", "lm.oovs", "slr"))
    assert matching_columns(all_three, ()).names == ("lm.total", "lm.oovs", "slr")
    assert matching_columns(all_three, ["slr", "*.total"]).names == ("lm.total", "slr")
    with pytest.raises(ConfigError, match=r"no column 'lm\.totl'; did you mean 'lm\.total'\?"):
        matching_columns(all_three, ["lm.totl"])


class Counted(LanguageModel):
    """ln p of a word is minus its number of letters, of `</s>` -100; counts the sentences."""

    def __init__(self):
        self.sentences = []

    def score(self, sentences):
        self.sentences += sentences
        return [-np.array([*map(len, sentence), 100.0]) * math.log(2) for sentence in sentences]

    def __contains__(self, word):
        return word != "sat"


def suite(metric="sum"):
    conditions = {"a": {1: "The cat", 2: " sat.", 3: ""}, "b": {1: "The cat", 2: "slept.", 3: ""}}
    formulas = ("(2;%a%) < (2;%b%)", "(*;%a%) = 10", "(2;%a%) = 4", "(3;%a%) = 0")
    return Suite("tiny", metric, tuple(map(parse_formula, formulas)), (Item("1", conditions), Item("2", conditions)))


def test_regions_have_the_surprisal_of_their_own_tokens():
    model = Counted()
    (result,) = judge_suites({"lm": model}, [suite()], TextPipeline(("penn-tokenize",)))
    assert result.met.tolist() == [[True, True, True, True]] * 2
    assert (result.fraction, result.counts.tolist()) == (1.0, [2, 2, 2, 2])
    first, second, third = result.surprisals[:3]
    assert (first.tokens, first.bits, first.unknown) == (("The", "cat"), 6.0, 0)
    assert (second.tokens, second.bits, second.unknown) == (("sat", "."), 4.0, 1)
    assert (third.tokens, third.bits) == ((), 0.0)
    assert model.sentences == [("The", "cat", "sat", "."), ("The", "cat", "slept", ".")], "each sentence once"
    (mean,) = judge_suites({"lm": model}, [suite("mean")], TextPipeline(("penn-tokenize",)))
    assert mean.surprisals[1].bits == 2.0


def test_classifiers_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "c.toml"
    made = Classifier({"lm.total": 0.1, "x": -1 / 3}, 2.5, provenance={"steps": ["lowercase"]})
    write_classifier(made, path)
    read = read_classifier(path)
    assert (read.kind, read.weights, read.threshold) == ("threshold", made.weights, made.threshold)
    assert read.provenance == {"steps": ["lowercase"], "file": str(path)}
    margins = read.margins(table([[3.0, 10.0], [0.0, 40.0]], ("x", "lm.total")))
    assert margins == pytest.approx([-2.5, 1.5])
    assert read.scores(margins) == pytest.approx([-2.5, 1.5])
    with pytest.raises(ConfigError, match="features that were not extracted: x"):
        read.margins(table([[1.0]], ("lm.total",)))
    write_classifier(replace(made, constant=0.5), path)
    assert read_classifier(path).kind == "logistic"
    assert read_classifier(path).scores(margins) == pytest.approx([1 / (1 + math.exp(-x)) for x in (0.5, 4.5)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind = 'svm'\n", "kind is 'svm', wanted one of: threshold, logistic"),
        ("kind = 'threshold'\n", "no weights"),
        ("kind = 'threshold'\n[weights]\na = 1.0\n", "'threshold' is None, wanted a finite number"),
        ("kind = 'threshold'\nthreshold = 1\n[weights]\na = nan\n", "'a' is nan"),
        ("kind = 'threshold'\ntreshold = 1\n", "unknown key 'treshold'; did you mean 'threshold'?"),
        ("kind = 'threshold'\nthreshold = 1\nconstant = 2\n[weights]\na = 1.0\n", "kind 'threshold' has no constant"),
        ("kind = 'logistic'\nthreshold = 1\nconstant = 'b'\n[weights]\na = 1.0\n", "'constant' is 'b'"),
        ("kind = 'logistic'\nthreshold = 1\n[weights]\na = 1.0\n", "'constant' is None, wanted a finite number"),
        ("kind = \n", "c.toml:1: not valid TOML"),
    ],
)
def test_classifiers_of_another_form(tmp_path, text, message):
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        read_classifier(path)
    assert message in str(caught.value)


def test_records_have_the_columns_of_all():
    assert records_tsv([{"a": 1 / 3, "b": "x\ty"}, {"c": None, "a": 2}]) == "a\tb\tc\n0.333333333\tx y\t\n2\t\t\n"


@pytest.fixture
def written(tmp_path):
    def write(text, name="pairs.tsv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def rows(out: str) -> dict[str, list[str]]:
    lines = [line for line in out.splitlines() if line.startswith("│")]
    return {cells[0]: cells[1:] for cells in ([c.strip() for c in line.strip("│").split("│")] for line in lines)}


def test_pairs_by_phenomenon(written):
    """Length in characters prefers the longer one: right in 3 pairs of 4, and equal in one more."""
    pairs = written("longer\tshort\tx\nlonger\tshort\tx\nlonger\tshort\ty\nshort\tlonger\ty\nab\tba\tz\n")
    ran = done("acceptability", "pairs", pairs, "-f", "character-length", "-M", ARPA)
    found = rows(ran.out)
    assert found["x"][:2] == ["2", "100.0"]
    assert found["y"][:2] == ["2", "50.0"]
    assert found["z"][:2] == ["1", "50.0"]
    assert found["mean of 3"][1] == "66.7"
    assert found["character-length"][:4] == ["70.0 %", "29.9 to 92.7", "3.5 of 5", "1"]
    assert set(found) >= {"lm.total", "lm.per_word"}
    table_ = done("acceptability", "pairs", pairs, "-f", "character-length", "--by", "none", "--as", "tsv").lines
    assert table_[0].split("\t")[:5] == ["system", "by", "group", "pairs", "accuracy"]
    assert table_[1].split("\t")[:5] == ["character-length", "", "", "5", "0.7"]
    as_json = done("acceptability", "pairs", pairs, "-f", "character-length", "-M", ARPA, "--column", "*total",
                   "--column", "char*", "--as", "json")  # fmt: skip
    records = json.loads(as_json.out)
    assert {record["system"] for record in records} == {"character-length", "lm.total"}
    assert {record["group"] for record in records} == {"", "x", "y", "z"}


def test_pairs_that_are_not_preferred_are_listed(written, tmp_path):
    pairs = written("longer\tshort\tx\nshort\tlonger\ty\n\nab\tba\tz\n")
    ran = done("acceptability", "pairs", pairs, "-f", "character-length", "--failures", tmp_path / "failures.tsv")
    assert "wrote 2 failures to" in ran.err
    assert (tmp_path / "failures.tsv").read_text().splitlines() == [
        "system\tphenomenon\tline\tmargin\tgood\tbad",
        "character-length\ty\t2\t-1\tshort\tlonger",
        "character-length\tz\t4\t0\tab\tba",
    ]


def test_columns_of_many_systems_are_headed_by_name(written):
    pairs = written("a b\ta\tgroup-of-a-very-long-name\nb\ta b\tanother\n")
    features = [f for number in range(6) for f in ("-f", f"length,label=a-system-of-number-{number}")]
    by_name = done("acceptability", "pairs", pairs, *features).out.partition("Compared with")[0]
    assert "Accuracy (%) by phenomenon (continued)" in by_name
    assert by_name.count("system-") == 6
    assert max(map(len, by_name.splitlines())) <= 80


def test_sentences_are_judged_as_learnt(written, tmp_path):
    dev = written("".join(f"{i % 2}\t{'long ' * 3 * (i % 2)}word\n" for i in range(20)), "dev.tsv")
    test = written("1\tlong long word\n0\tword\n0\tlong long long word\n", "test.tsv")
    saved, plots = tmp_path / "c.toml", tmp_path / "plots"
    ran = done("acceptability", "sentences", dev, test, "-f", "length", "-f", "unigram", "--save", saved,
               "--text", "none", "--choose", "length", "--as", "json")  # fmt: skip
    length, *_ = json.loads(ran.out)
    assert (length["system"], length["threshold"], length["dev_accuracy"]) == ("length", 2.5, 1.0)
    assert length["accuracy"] == pytest.approx(2 / 3)
    assert length["mcc"] == pytest.approx(0.5)
    assert length["roc_area"] == pytest.approx(0.5)
    judged = done("acceptability", "classify", "--classifier", saved, stdin="one two three\none\n")
    assert judged.lines == ["1\t0.5\tone two three", "0\t-1.5\tone"]
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    ran = done("acceptability", "sentences", dev, test, "-f", "length", "--logistic", "--save", saved,
               "--plots", plots, "--choose", "all, logistic")  # fmt: skip
    trained, _, tested = ran.out.partition("Tested on 3 sentences")
    assert rows(trained)["all, logistic"][1] == "100.0 %"
    assert rows(tested)["all, logistic"][0] == "66.7 %"
    assert sorted(path.name for path in plots.iterdir()) == ["reliability.png", "roc.png"]
    judged = done("acceptability", "classify", "--classifier", saved, stdin="one two three\none\n")
    (first, p, _), (second, q, _) = (line.split("\t") for line in judged.lines)
    assert (first, second) == ("1", "0")
    assert 0 < float(q) < 0.5 < float(p) < 1


def test_a_tab_in_a_sentence_makes_no_column(written, tmp_path):
    judged, saved = written("1\ta b c\n0\ta\n", "judged.tsv"), tmp_path / "c.toml"
    done("acceptability", "sentences", judged, judged, "-f", "length", "--text", "none", "--save", saved)
    ran = done("acceptability", "classify", "--classifier", saved, stdin="a\tb\t c\n{ a\n")
    assert ran.lines == ["1\t1\ta b  c", "0\t0\t{ a"]


def test_sentences_with_braces_are_judged(written):
    pairs = written("{ a a\t{ a\n")
    ran = done("acceptability", "pairs", pairs, "-f", "length", "--text", "none", "--as", "json")
    assert json.loads(ran.out)[0]["accuracy"] == 1.0


def test_the_regression_of_all_columns_is_cut_where_the_criterion_is_best(written, tmp_path):
    pytest.importorskip("sklearn")
    # Of short sentences 60 % are acceptable, and of long ones 90 %: every probability is above 1/2.
    short = [f"{int(i % 10 < 6)}\tword\n" for i in range(100)]
    long = [f"{int(i % 10 < 9)}\tword word word\n" for i in range(100)]
    dev, test = written("".join([*short, *long]), "dev.tsv"), written("".join([*short[:50], *long[:20]]), "test.tsv")
    saved = tmp_path / "c.toml"
    arguments = (
        "acceptability",
        "sentences",
        dev,
        test,
        "-f",
        "length",
        "--text",
        "none",
        "--logistic",
        "--as",
        "json",
    )
    _, by_mcc = json.loads(done(*arguments, "--criterion", "mcc", "--save", saved, "--choose", "all, logistic").out)
    _, by_accuracy = json.loads(done(*arguments).out)
    assert by_accuracy["dev_mcc"] == 0.0
    assert by_mcc["dev_mcc"] > 0.2
    classifier = read_classifier(saved)
    assert classifier.threshold == by_mcc["threshold"] != -classifier.constant
    judged = done("acceptability", "classify", "--classifier", saved, stdin="word\nword word word\n")
    (label, p, _), (other, q, _) = (line.split("\t") for line in judged.lines)
    assert (label, other) == ("0", "1")
    assert 0.5 < float(p) < float(q), "the scores are probabilities, and the labels are cut by the threshold"


def test_suites_on_the_command_line(written, tmp_path):
    conditions = [
        {"condition_name": name, "regions": [{"region_number": 1, "content": "we"}, {"region_number": 2, "content": x}]}
        for name, x in (("good", "took a taxi"), ("bad", "taxi took a"))
    ]
    document = {
        "meta": {"name": "order", "metric": "sum"},
        "predictions": [{"type": "formula", "formula": f"(2;%good%) {by} (2;%bad%)"} for by in "<>"],
        "items": [{"item_number": 1, "conditions": conditions}],
    }
    path, bits = written(json.dumps(document), "order.json"), tmp_path / "bits.tsv"
    ran = done("acceptability", "suites", path, "-M", ARPA, "-M", "unigram", "--surprisals", bits)
    assert rows(ran.out)["order"] == ["1", "2", "50.0 %", "0.0 %"], "the unigram model does not mind the order"
    assert rows(ran.out)["mean of 1"][2:] == ["50.0 %", "0.0 %"]
    header, *lines = bits.read_text().splitlines()
    assert header.split("\t") == ["system", "suite", "item", "condition", "region", "tokens", "bits", "unknown"]
    assert len(lines) == 8
    scored = done("lm", "score", "-M", ARPA, "--as", "tsv", "--detail", "2", stdin="we took a taxi\n").lines[2:5]
    wanted = -sum(float(line.split("\t")[2]) for line in scored) / math.log(2)
    (found,) = (line.split("\t") for line in lines if line.startswith("lm\torder\t1\tgood\t2"))
    assert float(found[6]) == pytest.approx(wanted, rel=1e-5)


def test_what_acceptability_refuses(written):
    pairs = written("a b\ta c\tx\n")
    assert "nothing to judge with" in one_line(rerank("acceptability", "pairs", pairs), 2)
    assert "--by phenomena: " in refused("acceptability", "pairs", pairs, "-f", "length", "--by", "phenomena")
    late = one_line(rerank("acceptability", "pairs", pairs, "-f", "length"), 2, after=True)
    assert "no feature gives the sentences of any pair different values" in late
    assert "give a language model with -M" in refused("acceptability", "suites", pairs)
    assert "no such command" in refused("acceptability", "pears").lower()
    assert "unigam" in refused("acceptability", "pairs", pairs, "-M", "unigam")


def test_the_example_is_in_order():
    pairs = read_pairs(EXAMPLE / "pairs.tsv")
    assert len(pairs) >= 60
    assert len({pair.groups["phenomenon"] for pair in pairs}) >= 12
    assert len({pair.good for pair in pairs}) == len(pairs)
    assert all(pair.good != pair.bad for pair in pairs)
    ran = done("acceptability", "sentences", EXAMPLE / "dev.tsv", EXAMPLE / "test.tsv", "-f", "unigram")
    assert "unigram.per_word" in ran.out
    assert Path(EXAMPLE / "README.md").is_file()


def test_a_model_without_probabilities_of_words_has_no_surprisals(written):
    regions = [{"region_number": 1, "content": "we"}]
    document = {
        "predictions": [{"type": "formula", "formula": "(1;%a%) > 0"}],
        "items": [{"item_number": 1, "conditions": [{"condition_name": "a", "regions": regions}]}],
        "meta": {},
    }
    path = written(json.dumps(document), "s.json")
    assert "no probabilities of single words" in refused("acceptability", "suites", path, "-M", "treelet-lm")
    assert "two language models" in refused("acceptability", "suites", path, "-M", ARPA, "-M", ARPA)
    assert rows(done("acceptability", "suites", path, "-M", ARPA).out)["s"][2] == "100.0 %"


def test_a_model_that_is_a_feature_of_the_config_too(tmp_path):
    (tmp_path / "pairs.tsv").write_text("the cat sat\tcat the sat\n")
    named = f"[language_model.small]\nuse = 'ngram-lm'\nmodel = {str(ARPA)!r}\n"
    for feature in ("use = 'small'", f"use = 'ngram-lm'\nmodel = {str(ARPA)!r}\nlabel = 'small'"):
        (tmp_path / "job.toml").write_text(f"{named}[[feature]]\n{feature}\n")
        alone = done("acceptability", "pairs", tmp_path / "pairs.tsv", "-c", tmp_path / "job.toml")
        both = done("acceptability", "pairs", tmp_path / "pairs.tsv", "-c", tmp_path / "job.toml", "-M", "small")
        assert both.out == alone.out
    (tmp_path / "job.toml").write_text(f"{named}[[feature]]\nuse = 'unigram'\nmodel = {str(ARPA)!r}\nlabel = 'small'\n")
    said = refused("acceptability", "pairs", tmp_path / "pairs.tsv", "-c", tmp_path / "job.toml", "-M", "small")
    assert "another feature has the label 'small'" in said
