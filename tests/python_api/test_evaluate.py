"""Evaluation from Python: references and outputs in memory give what files give, and results become frames and HTML."""

import numpy as np
import pytest

from rerank_adapters import Pipeline, evaluate, read_nbest
from rerank_adapters.metrics.bleu import Bleu
from rerank_plugins import ConfigError, FeatureTable, FormatError, Hypothesis, NBestList, PluginError

BLEU = "bleu,tokenize=none"


@pytest.fixture(scope="module")
def lists(small):
    return read_nbest(small / "tune.nbest")


@pytest.fixture(scope="module")
def references(small):
    return (small / "tune.en").read_text().splitlines()


def test_references_and_outputs_in_every_form(lists, references, small):
    first = [nbest[0].text for nbest in lists]
    last = [nbest[-1].text for nbest in lists]
    by_id = {nbest.segment_id: text for nbest, text in zip(lists, references, strict=True)}
    wanted = evaluate({"first": first, "last": last}, small / "tune.en", metrics=[BLEU, "ter"]).to_dict()
    outputs_by_id = {nbest.segment_id: nbest[-1].text for nbest in lists[::-1]}
    for systems in ({"first": first, "last": last}, {"first": iter(first), "last": outputs_by_id}):
        for given in (references, [[text] for text in references], by_id, {int(i): t for i, t in by_id.items()}):
            systems = {name: list(s) if not isinstance(s, dict) else s for name, s in systems.items()}
            found = evaluate(systems, given, metrics=[Bleu(tokenize="none"), "ter"]).to_dict()
            found["segments"] = wanted["segments"]  # ids are the same; sources are None in both
            assert found == wanted


def test_with_lists_there_are_oracles(lists, references):
    outputs = [nbest[0].text for nbest in lists]
    result = evaluate({"first": outputs}, references, metrics=BLEU, nbests=lists)
    assert result.metrics[0].oracle.best >= result.metrics[0].of("first").score
    by_id = {nbest.segment_id: text for nbest, text in zip(lists, references, strict=True)}
    again = evaluate({"first": outputs}, by_id, metrics=BLEU, nbests=lists)
    assert again.to_dict() == result.to_dict()
    lost = evaluate({"first": outputs[1:]}, by_id, metrics=BLEU, nbests=lists[1:])
    assert len(lost.segments) == len(lists)
    assert lost.segments[0].outputs == ("",)


TEXTS = {"a": "so it is", "b": "a cat", "c": "yes"}
LISTS = [NBestList(id_, [Hypothesis(text)]) for id_, text in TEXTS.items()]
ANSWERS = {"a": "so it is", "b": "a dog"}


def test_segments_that_one_side_lacks_are_left_out_or_refused():
    systems, options = {"first": TEXTS}, {"metrics": "wer", "trust_pairs": True}
    with pytest.raises(FormatError, match="system 'first': no reference for segment c"):
        evaluate(systems, ANSWERS, **options)
    with pytest.raises(FormatError, match="references: segment 'c' is not among them"):
        evaluate({"first": list(TEXTS.values())}, ANSWERS, nbests=LISTS, unpaired="error", **options)
    for lists in (None, LISTS):
        found = evaluate({**systems, "one": {"b": "a dog"}}, ANSWERS, nbests=lists, unpaired="leave-out", **options)
        assert [segment.segment_id for segment in found.segments] == ["b"]
        assert found.metrics[0].of("one").score == 0
    found = evaluate({"first": list(TEXTS.values())}, ANSWERS, nbests=LISTS, unpaired="leave-out", **options)
    assert [segment.outputs for segment in found.segments] == [("so it is",), ("a cat",)]
    with pytest.raises(FormatError, match="no segment has an output of every system"):
        evaluate({"x": {"a": "so"}, "y": {"b": "so"}}, ANSWERS, unpaired="leave-out", **options)


def test_a_missing_output_is_named_also_beside_lists(caplog):
    systems, options = {"first": {"a": "so it is"}}, {"metrics": "wer", "trust_pairs": True}
    for lists in (None, LISTS[:2]):
        caplog.clear()
        found = evaluate(systems, ANSWERS, nbests=lists, **options)
        assert found.segments[1].outputs == ("",)
        assert "system 'first': no output for 1 of 2 segments (b): counted as empty" in caplog.text
        with pytest.raises(FormatError, match=r"no output for 1 of 2 segments \(b\)$"):
            evaluate(systems, ANSWERS, nbests=lists, unpaired="error", **options)


def test_reranked_lists_are_outputs(lists, references):
    pipeline = Pipeline("length", metric=BLEU, tuner="mira,passes=1").fit(lists, references)
    reranked = pipeline.predict(lists)
    texts = [one.best for one in reranked]
    systems = {"texts": texts, "lists": reranked, "turned": reranked[::-1]}
    result = evaluate(systems, references, metrics=BLEU, nbests=lists)
    assert len({result.metrics[0].of(name).score for name in systems}) == 1


def test_groups(references):
    groups = ["a" if place % 2 else "b" for place in range(len(references))]
    result = evaluate({"x": references}, references, metrics=BLEU, groups=groups)
    assert [group.name for group in result.groups] == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (({"x": "a"}, ["a"]), {}, TypeError, "system 'x': wanted a list of outputs, one for each segment, found a text"),
        (({"x": 7}, ["a"]), {}, TypeError, "system 'x': wanted a list of outputs, one for each segment, found 7"),
        (({"x": [7]}, ["a"]), {}, TypeError, "system 'x': wanted texts, found 7"),
        (({"x": ["a", "b"]}, ["a"]), {}, FormatError, "system 'x': 2 outputs for 1 segment"),
        (({"x": {"1": "a"}}, ["a"]), {}, FormatError, "system 'x': no reference for segment 1"),
        (({"x": {}}, ["a"]), {}, FormatError, "system 'x': no output at all"),
        ((["a"], ["a"]), {}, TypeError, r"wanted the outputs of systems by name, found \['a'\]"),
        (({"x": ["a"]}, ["a"]), {"metrics": "blue"}, PluginError, "no metric named 'blue'; did you mean 'bleu'?"),
        (({"x": ["a"]}, ["a"]), {"metrics": []}, ConfigError, "wanted at least one metric, found none"),
        (({"x": ["a"]}, ["a"]), {"groups": ["a", "b"]}, FormatError, "2 groups for 1 segment"),
        (({"x": ["a"]}, 7), {}, TypeError, "references: wanted texts, files, or a mapping"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(arguments, options, error, message):
    with pytest.raises(error, match=message) as raised:
        evaluate(*arguments, **options)
    assert "\n" not in str(raised.value)


def test_results_are_frames_and_html(lists, references):
    first, last = [nbest[0].text for nbest in lists], [nbest[-1].text for nbest in lists]
    result = evaluate({"first": first, "<last>": last}, references, metrics=[BLEU, "ter"], nbests=lists)
    page = result._repr_html_()
    assert page.count("<tr>") == 1 + 2 + 2
    assert "&lt;last&gt;" in page
    assert f"{result.metrics[0].of('first').score:.2f}" in page
    pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert frame["system"].tolist() == ["first", "<last>"] * 2
    assert frame["score"].tolist() == [s.score for metric in result.metrics for s in metric.systems]
    assert frame["difference"].isna().tolist() == [True, False] * 2


def test_feature_tables_are_frames_and_arrays(lists):
    table = Pipeline("length").transform(lists)
    assert np.array_equal(np.asarray(table), table.values)
    assert np.asarray(table, np.float32).dtype == np.float32
    assert repr(table).startswith(f"FeatureTable of {len(lists)} segments, {len(table.values)} hypotheses: ")
    pandas = pytest.importorskip("pandas")
    frame = table.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == list(table.names)
    assert frame.loc[lists[1].segment_id].to_numpy().tolist() == table.values[len(lists[0]) :][: len(lists[1])].tolist()
    pytest.importorskip("pyarrow")
    arrow = table.to_arrow()
    assert arrow.column_names == ["segment", "hypothesis", *table.names]
    assert arrow["length"].to_pylist() == frame["length"].tolist()


def test_sparse_features_become_columns_if_they_are_asked_for():
    pytest.importorskip("pandas")
    nbest = NBestList.from_texts(["a", "b"], segment_id="1")
    hypotheses = [nbest[0]._replace(sparse={"wt_a": 1.0}), nbest[1]._replace(sparse={"wt_b": 2.0})]
    table = Pipeline("length").transform([NBestList("1", hypotheses)])
    assert isinstance(table, FeatureTable)
    assert list(table.to_pandas().columns) == ["length"]
    frame = table.to_pandas(sparse=True)
    assert frame[["wt_a", "wt_b"]].to_numpy().tolist() == [[1.0, 0.0], [0.0, 2.0]]
