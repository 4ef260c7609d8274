"""Columns of NumPy, pandas, polars and Arrow where texts, references, outputs, labels and positions are wanted."""

import numpy as np
import pytest

from rerank_adapters import (
    NBestList,
    Pipeline,
    SentenceClassifier,
    compare,
    complete,
    evaluate,
    load,
    mbr,
    parse,
    read_nbest,
    similarity,
    substitutes,
    surprisal,
)
from rerank_plugins import FormatError
from rerank_plugins.substitutes.fastsubs import FastSubs
from tests.conftest import ROOT

TEXTS = ["It rains.", "The dog barks.", "日本 ü"]


def column(kind, values):
    if kind == "numpy":
        return np.array(values)
    if kind == "iterator":
        return iter(values)
    module = pytest.importorskip(kind)
    return module.array(values) if kind == "pyarrow" else module.Series(values)


KINDS = ["numpy", "pandas", "polars", "pyarrow", "iterator"]


@pytest.mark.parametrize("kind", KINDS)
def test_texts(kind):
    model, parser = load("unigram"), load("biaffine")
    assert model.totals(column(kind, TEXTS)).tolist() == model.totals(TEXTS).tolist()
    assert [str(tree) for tree in parser.parse(column(kind, TEXTS))] == [str(tree) for tree in parser.parse(TEXTS)]
    assert surprisal(column(kind, TEXTS), model) == surprisal(TEXTS, model)
    assert str(parse(column(kind, TEXTS), parser)) == str(parse(TEXTS, parser))
    blank, options = ["the ____ barks"], ["dog", "zygote"]
    assert complete(column(kind, blank), column(kind, options), model) == complete(blank, options, model)
    nbest = NBestList.from_texts(TEXTS, [-1.0, -2.0, -3.0], features={"lm": [1.0, 2.0, 3.0]})
    numbers = column(kind, [-1.0, -2.0, -3.0])
    assert NBestList.from_texts(column(kind, TEXTS), numbers, features={"lm": column(kind, [1.0, 2.0, 3.0])}) == nbest


def test_words_stay_words():
    model = load("unigram")
    words = [["It", "rains"], ("the", "dog")]
    assert model.totals(iter(words)).tolist() == model.totals(words).tolist()
    assert model.totals(np.array([["It", "rains"], ["the", "dog"]])).tolist() == model.totals(words).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_references_outputs_and_groups(kind):
    outputs, references = ["so it is", "a dog", "x y z"], ["so it is", "the dog", "x z"]
    wanted = evaluate({"a": outputs}, references, metrics="chrf", groups=["x", "y", "x"]).records()
    found = evaluate(
        {"a": column(kind, outputs)}, column(kind, references), metrics="chrf",
        groups=column(kind if kind != "iterator" else "numpy", ["x", "y", "x"]),
    )  # fmt: skip
    assert found.records() == wanted
    lists = [NBestList.from_texts([text, "a b c"]) for text in outputs]
    pipeline = Pipeline("length", jobs=1, cache=False)
    weights = pipeline.fit(lists, references).weights_.dense
    assert pipeline.fit(lists, column(kind, references)).weights_.dense == weights


def test_arrays_of_two_dimensions_and_of_unequal_lengths():
    pandas = pytest.importorskip("pandas")
    outputs, several = ["so it is", "a dog"], [["so it is", "it is so"], ["the dog", "a dog"]]
    wanted = evaluate({"a": outputs}, several, metrics="bleu").records()
    assert evaluate({"a": outputs}, np.array(several), metrics="bleu").records() == wanted
    assert evaluate({"a": outputs}, pandas.Series(several), metrics="bleu").records() == wanted
    assert mbr(np.array(several))["choice"] == mbr(several)["choice"]
    assert compare(np.array(several), "unigram") == compare(several, "unigram")
    assert similarity(np.array(several), "strings.edits") == similarity(several, "strings.edits")


@pytest.mark.parametrize("kind", KINDS[:4])
def test_labels_and_positions(kind):
    texts, labels = ["a b", "a", "c d", "c"], [1, 0, 1, 0]
    fitted = SentenceClassifier("length", jobs=1).fit(column(kind, texts), column(kind, labels))
    assert fitted.threshold_ == SentenceClassifier("length", jobs=1).fit(texts, labels).threshold_
    text, model = ["the dog barks"], FastSubs.load(ROOT / "example_nbest" / "mt" / "lm.arpa")
    wanted = substitutes(text, 2, model, top=2)
    assert substitutes(text, column(kind, [2]), model, top=2) == wanted
    assert substitutes(text, np.int64(2), model, top=2) == wanted


def test_columns_by_name_are_lists():
    columns = {"id": ["1", "1"], "text": np.array(["a", "b"]), "lm": np.array([1.0, 2.0])}
    [nbest] = read_nbest(columns)
    assert (nbest.texts, nbest.values.tolist()) == (["a", "b"], [[1.0], [2.0]])


def test_frames_and_mappings_are_no_texts():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": TEXTS, "other": TEXTS})
    lists = [NBestList.from_texts(["a", "b"])]
    fitted = Pipeline("length", jobs=1, cache=False).fit(lists, ["a"])
    classifier = SentenceClassifier("length", jobs=1)
    for action, message in [
        (
            lambda: load("unigram").totals(frame),
            r"wanted a list of sentences.* a data frame: give a column, as frame\[",
        ),
        (lambda: load("unigram").totals({"a": "b"}), "wanted a list of sentences.* found a mapping"),
        (lambda: load("unigram").totals(3), "wanted a list of sentences, each a sequence of words, found 3"),
        (lambda: load("unigram").totals(["a", None]), "sentence 1: wanted a text or its words, found None"),
        (lambda: load("unigram").totals([b"a"]), "sentence 0: wanted a text or its words, found b'a'"),
        (lambda: surprisal(frame, "unigram"), "texts: wanted a sequence of texts, found a data frame: give a column"),
        (lambda: parse({"a": "b"}, "biaffine"), "texts: wanted a sequence of texts, found a mapping"),
        (lambda: classifier.fit(["a", "b c"], None), r"labels: wanted 1 \(acceptable\) or 0 for each text, found None"),
        (lambda: fitted.transform(None), "wanted a sequence of n-best lists, found None"),
        (
            lambda: fitted.transform("x.nbest"),
            "wanted a sequence of n-best lists, found 'x.nbest': read_nbest reads files",
        ),
        (lambda: fitted.explain(lists[0]), "wanted one list of those that predict returns, found NBestList"),
        (lambda: fitted.fit(lists, frame), "references: wanted texts, found a data frame: give a column"),
        (lambda: evaluate({"a": frame}, ["b"], metrics="bleu"), "system 'a': wanted a list of outputs.* a data frame"),
        (lambda: mbr(frame), "samples: wanted texts of each segment, found a data frame: read_nbest"),
        (lambda: mbr(lists[0]), "samples: wanted a sequence of texts for each segment, found NBestList"),
        (lambda: compare(frame, "unigram"), "pairs: wanted pairs of texts, found a data frame"),
        (lambda: substitutes(["a"], 2.0), "positions: wanted 'words', 'blanks' or whole numbers, found 2.0"),
        (lambda: read_nbest({"id": 1, "text": "a"}), "found one mapping: give records as a list of them"),
        (lambda: read_nbest(lists), "wanted files, a data frame or records, found NBestList.* among them"),
    ]:
        with pytest.raises(TypeError, match=message) as raised:
            action()
        assert "\n" not in str(raised.value)
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="found LazyFrame: collect"):
        read_nbest(polars.LazyFrame({"id": ["a"], "text": ["b"]}))
    assert repr(Pipeline(np.array(["length"]))) == "Pipeline(array(['length'], dtype='<U6'))"
    with pytest.raises(FormatError, match="1 reference for 2 lists"):
        fitted.fit([NBestList.from_texts(["a"]), NBestList.from_texts(["b"])], np.array(["a"]))


PAIR = [("a b", "b a"), ("c", "d")]
UNORDERED = {
    "outputs": lambda: evaluate({"a": {"a b", "c"}}, ["a b", "c"], metrics=["wer"]),
    "references": lambda: evaluate({"a": ["a b", "c"]}, {"a b", "c"}, metrics=["wer"]),
    "references of a pipeline": lambda: Pipeline("length").fit(
        [NBestList.from_texts(["a", "b"])] * 2, frozenset(["a", "b"])
    ),
    "hypotheses": lambda: NBestList.from_texts({"a", "b"}),
    "texts": lambda: surprisal({"a b", "c"}, "unigram"),
    "sentences": lambda: load("unigram").totals({"a b", "c"}),
    "words": lambda: surprisal([{"a", "b"}], "unigram"),
    "pairs": lambda: compare(set(PAIR), "unigram"),
    "pairs of similarity": lambda: similarity(set(PAIR), "chrf"),
    "options": lambda: complete(["the ____ barks"], {"dog", "zygote"}, "unigram"),
    "samples": lambda: mbr([{"a b", "c"}], "chrf"),
    "trees": lambda: parse({"a b"}, "english"),
    "substitutes": lambda: substitutes({"the old house"}, positions=1),
    "examples": lambda: SentenceClassifier("unigram").fit({"a b", "c"}, [1, 0]),
}


@pytest.mark.parametrize("call", UNORDERED.values(), ids=UNORDERED)
def test_a_set_has_no_order_in_which_its_values_belong_to_others(call):
    with pytest.raises(TypeError, match="wanted values in their order, found a set, which has none: "):
        call()


def test_the_index_of_a_series_may_not_contradict_the_ids():
    pandas = pytest.importorskip("pandas")
    lists = [
        NBestList.from_texts([text, "oh"], [-1.0, -2.0], segment_id=id_) for id_, text in (("a", "so"), ("b", "no"))
    ]
    right, other = pandas.Series(["so", "no"], ["a", "b"]), pandas.Series(["no", "so"], ["b", "a"])
    outputs = {"1-best": [nbest[0].text for nbest in lists]}
    contradicts = r"the index of the series has 'b' in the place of segment 'a'; to_dict\(\) matches .* tolist\(\) by"
    for given in (right, other.to_dict(), right.reset_index(drop=True), pandas.Series(["so", "no"], ["x", "y"])):
        assert "1-best wer 0.00" in " ".join(str(evaluate(outputs, given, metrics="wer", nbests=lists)).split())
    with pytest.raises(FormatError, match=f"references: {contradicts}"):
        evaluate(outputs, other, metrics="wer", nbests=lists)
    with pytest.raises(FormatError, match=f"references: {contradicts}"):
        Pipeline("length").fit(lists, other)
    with pytest.raises(FormatError, match=f"system 'mine': {contradicts}"):
        evaluate({"mine": other}, right, metrics="wer")
    with pytest.raises(FormatError, match=f"system 'mine': {contradicts}"):
        evaluate({"mine": other}, {"a": "so", "b": "no"}, metrics="wer")
    with pytest.raises(FormatError, match=f"groups: {contradicts}"):
        evaluate(outputs, right, metrics="wer", groups=pandas.Series(["x", "y"], ["b", "a"]))
