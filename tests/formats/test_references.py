"""References: any number of files, one line per segment."""

import re
from pathlib import Path

import pytest

from rerank_adapters.cli.evaluate import command as evaluate
from rerank_adapters.job.config import DataSet
from rerank_adapters.texts import FORMS
from rerank_adapters.texts.line_ids import settled
from rerank_adapters.texts.one_bests import output_lines, read_segments
from rerank_adapters.texts.reading import named_form, read_texts
from rerank_plugins.core.errors import ConfigError, FormatError
from tests.texts_of_files import ids_of, outputs, references


def test_references(tmp_path):
    (tmp_path / "a").write_text("null\neins\u2028\r\n\ndrei", newline="")
    (tmp_path / "b").write_text("zero\none\ntwo\nthree\n")
    assert ids_of(tmp_path / "a") == ["0", "1", "2", "3"]
    assert references([tmp_path / "a", tmp_path / "b"], ["3", "0", "1", "2", "3"]) == [
        ("drei", "three"),
        ("null", "zero"),
        ("eins\u2028", "one"),
        ("", "two"),
        ("drei", "three"),
    ]
    assert references([tmp_path / "b"], ["2"]) == [("two",)]


@pytest.mark.parametrize(
    ("id_", "said"),
    [
        ("2", "a: segment 2 is not in the file, which has 2 lines, for the segments 0 to 1"),
        ("x7", "a: the segments have ids, such as 'x7', and the file has none; wanted `x7 word word"),
        ("-1", "a: the segments have ids, such as '-1', and the file has none"),
    ],
)
def test_an_id_without_reference(tmp_path, id_, said):
    (tmp_path / "a").write_text("x\ny\n")
    with pytest.raises(FormatError, match=said):
        references([tmp_path / "a"], ["0", id_])


def test_files_of_different_length(tmp_path):
    (tmp_path / "a").write_text("x\ny\n")
    (tmp_path / "b").write_text("x\ny\nz\n")
    with pytest.raises(FormatError, match=r"b: has 3 lines but .*a has 2; they must match"):
        references([tmp_path / "a", tmp_path / "b"], ["0"])


def test_no_reference(tmp_path):
    (tmp_path / "a").touch()
    with pytest.raises(FormatError, match="a: the file is empty"):
        ids_of(tmp_path / "a")
    with pytest.raises(FormatError, match="no reference file was named"):
        references([], ["0"])


KALDI = "utt_b so it is\nutt_a\tthe cat  sat\nutt_c\n"
TRN = "so it is (utt_b)\nthe cat sat (utt_a)\n\n(utt_c)\n"
TEXTS = {"utt_a": "the cat sat", "utt_b": "so it is", "utt_c": ""}


@pytest.mark.parametrize("form", ["auto", "given"])
@pytest.mark.parametrize(("name", "text"), [("kaldi", KALDI.replace("  ", " ")), ("trn", TRN)])
def test_references_with_ids_are_matched_by_id(tmp_path, name, text, form):
    (tmp_path / "a").write_text(text)
    said = name if form == "given" else "auto"
    for ids in (["utt_a", "utt_b", "utt_c"], ["utt_c", "utt_a"]):
        assert references([tmp_path / "a", tmp_path / "a"], ids, said) == [(TEXTS[id_], TEXTS[id_]) for id_ in ids]
    if form == "given":
        assert sorted(ids_of(tmp_path / "a", said)) == list(TEXTS)


def test_first_words_that_are_the_numbers_of_the_segments_are_ids_or_words_as_is_said(tmp_path):
    (tmp_path / "a").write_text("1 one\n0 null\n")
    with pytest.raises(FormatError, match=r"a: each line begins with what may be an id, as 1: name the form"):
        references([tmp_path / "a"], ["0", "1"])
    assert references([tmp_path / "a"], ["0", "1"], "lines") == [("1 one",), ("0 null",)]
    assert references([tmp_path / "a"], ["0", "1"], "kaldi") == [("null",), ("one",)]


MANY = [f"{word} y\n" for word in "bacdefghijklmnopqrst"]
ASCENDING = [f"{word} y\n" for word in "abcdef"]


@pytest.mark.parametrize(
    ("one", "other", "form"),
    [
        ("u1 a\n", "u1 b\n", "lines"),  # of one line nothing can be told
        ("The cat\nA dog\nSo\n", "The dog\nA cat\nSo so\n", "lines"),  # few words, which are no ids
        ("in 1990\nin 1990\n", "in 1990\nin 1990\n", "lines"),
        ("u1\nu2\n", "u1\nu2\n", "lines"),  # words without text
        ("".join(MANY[:19]), "".join(MANY[:19]), "lines"),
        ("".join(MANY), "".join(MANY), None),
        ("".join(ASCENDING), "".join(ASCENDING), None),  # as Kaldi sorts its files
        ("".join(ASCENDING[:5]), "".join(ASCENDING[:5]), "lines"),
        (*["".join(f"{chr(0x4E00 + n)}{n}\n" for n in range(30)) + "中 国\n"] * 2, "lines"),  # text without spaces
        ("".join(MANY), "".join(["z" + MANY[0], *MANY[1:]]), "lines"),
        ("The cat\nA dog\n", "A dog\nThe cat\n", None),  # the same words in another order
        ("1. a\n2. b\n", "1. a\n2. c\n", "lines"),
        ("1 a\n2 b\n", "1 a\n2 c\n", None),
        ("Q1 a\nQ2 b\n", "Q1 a\nQ2 c\n", None),
        ("a (1)\nb (2)\n", "a\nb\n", None),
        *(("".join(f"u{n} x\n" for n in range(lines)),) * 2 + (form,) for lines, form in ((9, None), (10, "kaldi"))),
        ("".join(f"x (u{n})\n" for n in range(10)), "".join(f"u{n} x\n" for n in range(10)), "trn"),
    ],
)
def test_whether_first_words_are_ids(tmp_path, one, other, form):
    for name, text in (("a", one), ("b", other)):
        (tmp_path / name).write_text(text)
    texts = [read_texts(tmp_path / name, role) for name, role in (("a", "reference"), ("b", "output"))]
    if form is not None:
        assert settled(texts)[0].form == form
    else:
        with pytest.raises(FormatError, match=r"a: each line (begins|ends) with what may be an id"):
            settled(texts)


@pytest.mark.parametrize(
    ("text", "form", "said"),
    [
        (KALDI, "auto", r"a: segment 'utt_d' is not in the file \(3 segments: utt_b, utt_a, …\)"),
        (TRN, "auto", r"a: segment 'utt_d' is not in the file"),
        (KALDI, "trn", r"a:1: found .*, expected the id at the end of the line"),
        (KALDI + "utt_a again\n", "kaldi", "a:4: the id 'utt_a' occurs twice"),
        (KALDI + "utt_a again\n", "auto", "a:4: the id 'utt_a' occurs twice"),
        ("utt_a x (utt_d)\nutt_d x (utt_a)\n", "auto", "start and at the end"),
        ("x\ny\n", "auto", "a: the segments have ids, such as 'utt_a', and the file has none"),
        (KALDI, "lines", "a: the segments have ids, such as 'utt_a', and the file has none"),
    ],
)
def test_ids_and_references_that_do_not_meet(tmp_path, text, form, said):
    (tmp_path / "a").write_text(text)
    with pytest.raises(FormatError, match=said):
        references([tmp_path / "a"], ["utt_a", "utt_d"], form)


def test_the_transcripts_of_hyporadise_are_references_by_id_and_without_ids_by_number(tmp_path):
    lines = '{"id": "u-b", "input": ["x"], "output": "so it is"}\n{"id": "u-a", "input": [], "output": "oh  no"}\n'
    (tmp_path / "a").write_text(lines)
    assert references([tmp_path / "a"], ["u-a", "u-b"]) == [("oh no",), ("so it is",)]
    assert ids_of(tmp_path / "a") == ["u-b", "u-a"]
    with pytest.raises(FormatError, match=r"a: segment 'u-c' is not in the file \(2 segments: u-b, u-a\)"):
        references([tmp_path / "a"], ["u-a", "u-c"])
    (tmp_path / "b").write_text(re.sub(r'"id": "u-.", ', "", lines))
    assert references([tmp_path / "b"], ["1", "0"]) == [("oh no",), ("so it is",)]
    assert ids_of(tmp_path / "b") == ["0", "1"]
    (tmp_path / "c").write_text(lines.replace("id", "no"))
    said = r"c: no record has an id .*, but 'no' has .*: id_key=no reads them, id_key=none"
    with pytest.raises(FormatError, match=said):
        ids_of(tmp_path / "c")
    assert ids_of(tmp_path / "c", "json,id_key=none") == ["0", "1"]
    (tmp_path / "nemo").write_text('{"audio_filepath": "wav/u-a.wav", "text": "oh no"}\n')
    assert references([tmp_path / "nemo"], ["u-a"]) == [("oh no",)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": "a", "ref": "x"}\n{"id": "a", "ref": "y"}\n', r"a:2: the id 'a' occurs twice"),
        (
            '{"id": "a", "ref": "x"}\n{"id": "b"}\n',
            r"a:2: no reference: wanted a text under 'ref', .* \(keys found: id\)",
        ),
        ('{"id": "a"}\n', r"a:1: no reference: expected one of ref, .* \(keys found: id\)"),
        ('{"ref": "x"}\n', r"a: the segments have ids, such as 'a', and the file has none"),
        ('{"id": "a", "ref": "x"}\n["b"]\n', r"a:2: expected an object with a text and an id"),
        (
            '{"id": "a", "text": "x", "transcript": "y"}\n',
            r"a:1: 'text' and 'transcript' hold different texts; name the",
        ),
    ],
)
def test_json_transcripts_that_are_wrong(tmp_path, text, said):
    (tmp_path / "a").write_text(text)
    with pytest.raises(FormatError, match=said):
        references([tmp_path / "a"], ["a"])


STM = """\
;; comment
call-1 1 spk 2.5 4.0 <o,f0> { oh / owe } no { @ / uh }
call-1 1 spk 0.0 2.5 so it is
call-2 1 spk 0.0 9.0 ignore_time_segment_in_scoring
call-3 1 spk 0.0 1.0 oh
"""


def test_outputs_have_the_form_in_which_they_have_all_ids(tmp_path):
    (tmp_path / "trn").write_text(TRN)
    (tmp_path / "kaldi").write_text(KALDI)
    for name in ("trn", "kaldi"):
        for form in ("trn", "kaldi"):
            assert outputs(tmp_path / name, ["utt_c", "utt_b"]) == ["", "so it is"], (name, form)


def test_stm(tmp_path):
    (tmp_path / "a.stm").write_text(STM)
    stm = [tmp_path / "a.stm"]
    ((oh,), (joined,)) = references(stm, ["call-3", "call-1"])
    assert (oh, str(joined)) == ("oh", "so it is { oh / owe } no { @ / uh }")
    assert ids_of(*stm) == ["spk-000", "spk-001", "spk-002"]
    assert references(stm, ["spk-000"]) == [("so it is",)]
    with pytest.raises(FormatError, match="call-2-1 has times that do not count: expected ids of segments"):
        references(stm, ["call-2"])
    (tmp_path / "c").write_text("call-1 1 x\n")
    with pytest.raises(FormatError, match=r"c:1: found 3 columns, expected file, channel, speaker, start, end and the"):
        ids_of(tmp_path / "c", "stm")


def test_the_references_of_icefall(tmp_path):
    path = Path(__file__).parents[1] / "golden" / "formats" / "icefall.txt"
    assert references([path], ["utt-12", "utt-07"]) == [("oh no",), ("so it is",)]
    (tmp_path / "a").write_text("u:\tref=['a']\nu:\tref=['b']\n")
    with pytest.raises(FormatError, match=r"a:2: the id 'u' occurs twice"):
        ids_of(tmp_path / "a")


def test_output_forms(tmp_path):
    (tmp_path / "segments").write_text("u-1 call-1 2.0 3.0\nu-2 call-1 3.0 3.5\n")
    spans = read_segments(tmp_path / "segments")
    assert list(output_lines("lines", "u-1", "so it")) == ["so it\n"]
    assert list(output_lines("kaldi", "u-1", "so it")) == ["u-1 so it\n"]
    assert list(output_lines("kaldi", "u-1", "")) == ["u-1\n"]
    assert list(output_lines("trn", "u-1", "so it")) == ["so it (u-1)\n"]
    assert list(output_lines("trn", "u-1", "")) == ["(u-1)\n"]
    assert list(output_lines("ctm", "u-1", "so it", spans)) == ["call-1 1 2.00 0.50 so\n", "call-1 1 2.50 0.50 it\n"]
    assert list(output_lines("ctm", "u-2", "", spans)) == []
    with pytest.raises(ConfigError, match=r"a CTM needs the times of utterance 'u-3', but it has no segment"):
        list(output_lines("ctm", "u-3", "so", spans))
    with pytest.raises(ConfigError, match=r"name one with --segments"):
        list(output_lines("ctm", "u-3", "so"))
    for text, said in (
        ("u-1 c 1\n", "found 3 columns"),
        ("u c 2 1\n", "the end 1 precedes the start 2"),
        ("u c 0 1\nu c 1 2\n", "twice"),
    ):
        (tmp_path / "bad").write_text(text)
        with pytest.raises(FormatError, match=said):
            read_segments(tmp_path / "bad")


def test_commands_and_configs_know_every_form():
    option = next(option for option in evaluate.params if option.name == "reference_form")
    for form in (*FORMS, "json,key=ref", "json,key=ref,id_key=uid"):
        assert option.type.convert(form, None, None) == form
        assert DataSet(nbest=["lists"], reference_form=form).reference_form == form
        assert named_form(form)[0] == form.partition(",")[0]
