"""Lists of different decoders are one list with the features of all, against a twin that looks everything up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.combination import combine
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.metrics.chrf import ChrF
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.nbest import Hypothesis, NBestList
from tests.command_line import done, refused
from tests.formats import naive_formats

values = st.floats(-9, 9)


def decoders(width):
    rows = st.lists(st.tuples(st.sampled_from("abcd"), st.tuples(*[values] * width)), min_size=1, max_size=5)
    return st.dictionaries(st.integers(0, 4).map(str), rows, min_size=1).map(
        lambda lists: {id_: lists[id_] for id_ in sorted(lists, key=int)}
    )


def as_lists(lists, names):
    """The last value of each row is the total."""
    for id_, rows in lists.items():
        yield NBestList(id_, tuple(Hypothesis(text, v[:-1], v[-1]) for text, v in rows), names)


@given(decoders(3), decoders(2), st.sampled_from(["", "utterance"]))
def test_all_hypotheses_have_all_features(phrases, neural, prefix):
    """Ids that are numbers are combined one segment at a time, others in memory."""
    phrases, neural = ({prefix + id_: rows for id_, rows in lists.items()} for lists in (phrases, neural))
    both = {"phrases": as_lists(phrases, ("LM", "TM")), "neural": as_lists(neural, ("LM",))}
    found = list(combine(both))
    assert {nbest.segment_id for nbest in found} == {*phrases, *neural}
    for nbest in found:
        assert nbest.feature_names == (
            *("phrases-LM", "TM", "phrases-score", "phrases-rank", "phrases-listed"),
            *("neural-LM", "neural-score", "neural-rank", "neural-listed"),
        )
        wanted = naive_formats.combined({"phrases": phrases, "neural": neural}, nbest.segment_id)
        assert [(h.text, list(h.features)) for h in nbest] == wanted
        assert {h.score for h in nbest} == {None}


def test_lists_without_totals_have_no_score():
    lists = [[NBestList("0", (Hypothesis(text, (1.0,)),), ("LM",))] for text in "ab"]
    (both,) = combine({"one": lists[0], "two": lists[1]})
    assert both.feature_names == ("one-LM", "one-rank", "one-listed", "two-LM", "two-rank", "two-listed")
    assert [h.features for h in both] == [(1, 1, 1, 1, 0, 0), (1, 0, 0, 1, 1, 1)]


def test_a_name_that_would_be_there_twice():
    lists = [[NBestList("0", (Hypothesis("a", (1.0,)),), (name,))] for name in ("two-rank", "LM")]
    with pytest.raises(FormatError, match="would be called 'two-rank'"):
        list(combine({"one": lists[0], "two": lists[1]}))


def test_totals_of_some_hypotheses_only():
    hypotheses = (Hypothesis("a", (1.0,), 1.0), Hypothesis("b", (1.0,)))
    lists = [NBestList("0", hypotheses[:1], ("LM",)), NBestList("1", hypotheses, ("LM",), line=2)]
    with pytest.raises(FormatError, match="one:2: a hypothesis has no total"):
        list(combine({"one": lists, "two": lists[:1]}))


def test_the_command_combines_files_of_different_formats(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moses").write_text("0 ||| the cat ||| LM= -1 ||| -1\n0 ||| a cat ||| LM= -2 ||| -3\n")
    (tmp_path / "more").write_text("1 ||| b ||| LM= -5 ||| -5\n")
    (tmp_path / "fairseq").write_text(
        "S-0\tdie Katze\nH-0\t-0.5\ta cat\nD-0\t-0.5\ta cat\nH-0\t-0.7\tcats\nD-0\t-0.7\tcats\n"
    )
    ran = done("lists", "merge", "phrases=moses", "phrases=more", "neural=fairseq", "-o", "both")
    assert "2 segments, 4 hypotheses" in ran.err
    first, second = read_nbest([tmp_path / "both"], FORMATS["moses"]())
    rows = [(h.text, dict(zip(first.feature_names, h.features, strict=True))) for h in first]
    assert [text for text, _ in rows] == ["the cat", "a cat", "cats"]
    assert [row["neural-score"] for _, row in rows] == [-0.7, -0.5, -0.7]
    assert [row["neural-rank"] for _, row in rows] == [0, 1, 0.5]
    assert [row["LM"] for _, row in rows] == [-1, -2, -2]
    assert dict(zip(second.feature_names, second[0].features, strict=True))["neural-score"] == 0


def test_files_that_cannot_be_combined(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_text("0 ||| x ||| LM= -1 ||| -1\n")
    (tmp_path / "b").write_text("0 ||| y ||| NMT= -1 ||| -1\n")
    assert "b: has no decoder's name" in refused("lists", "merge", "phrases=a", "b")
    assert "all files are of the decoder 'phrases'" in refused("lists", "merge", "phrases=a", "phrases=b")
    said = refused("lists", "merge", "a", "b")
    assert said.startswith("b:1: ")
    assert "lists of different decoders are combined by `rerank lists merge NAME=FILE" in said


def test_agreement_is_the_score_with_each_decoders_first_hypothesis(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "A").write_text("0 ||| the cat sat there ||| LM= -1 ||| -1\n0 ||| a cat ||| LM= -2 ||| -3\n")
    (tmp_path / "B").write_text("0 ||| the cat sits there ||| LM= -5 ||| -5\n1 ||| no ||| LM= 1 ||| 2\n")
    done("lists", "merge", "A=A", "B=B", "--agreement", "chrf", "--agreement", "bleu,label=words", "-o", "both")
    first, second = read_nbest([tmp_path / "both"], FORMATS["moses"]())
    for hypothesis in first:
        row = dict(zip(first.feature_names, hypothesis.features, strict=True))
        for decoder, reference in (("A", "the cat sat there"), ("B", "the cat sits there")):
            for name, metric in (("chrf", ChrF()), ("words", Bleu())):
                wanted = metric.sentence_scores(metric.statistics([[hypothesis.text]], [[reference]]))[0]
                assert row[f"{decoder}-{name}"] == pytest.approx(wanted)
    row = dict(zip(second.feature_names, second[0].features, strict=True))
    assert (row["A-chrf"], row["B-chrf"]) == (0, 100)
    assert refused("lists", "merge", "A", "B", "--agreement", "chrf").startswith("--agreement compares")
    twice = ("--agreement", "bleu", "--agreement", "bleu,tokenize=none")
    assert "would be called 'A-bleu'" in refused("lists", "merge", "A=A", "B=B", *twice)


def test_outputs_of_decoders_are_lists_of_one(tmp_path, monkeypatch):
    """A file that shows no format of lists has the output of a decoder, also where lines are empty."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.en").write_text("The cat.\n\nYes.\n")
    (tmp_path / "b.en").write_text("A cat.\nNo.\nYes.\n")
    (tmp_path / "short.en").write_text("A cat.\n")
    done("lists", "merge", "A=a.en", "B=b.en", "-o", "both")
    lists = read_nbest([tmp_path / "both"], FORMATS["moses"]())
    assert [nbest.texts for nbest in lists] == [["The cat.", "A cat."], ["", "No."], ["Yes."]]
    assert [h.features for h in lists[2]] == [(1, 1, 1, 1)]
    said = refused("lists", "merge", "A=a.en", "B=b.en", "C=short.en")
    assert said == "short.en has 1 lines, a.en has 3; wanted as many lines in each output, one for each segment"
