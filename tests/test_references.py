"""References: any number of files, one line per segment."""

import pytest

from rerank_adapters.formats.references import read_references
from rerank_plugins.errors import FormatError


def test_references(tmp_path):
    (tmp_path / "a").write_text("null\neins\u2028\r\n\ndrei", newline="")
    (tmp_path / "b").write_text("zero\none\ntwo\nthree\n")
    references = read_references([tmp_path / "a", tmp_path / "b"])
    assert len(references) == 4
    assert references.for_segments(["3", "0", "1", "2", "3"]) == [
        ("drei", "three"),
        ("null", "zero"),
        ("eins\u2028", "one"),
        ("", "two"),
        ("drei", "three"),
    ]
    assert read_references([tmp_path / "b"]).for_segments(["2"]) == [("two",)]


@pytest.mark.parametrize(
    ("id_", "said"),
    [
        ("2", "a: no line for segment id 2: the file has 2 lines, for the ids 0 to 1"),
        ("x7", "a: segment id 'x7' is not a number, .* no line has it as its id: wanted `x7 word word"),
        ("-1", "a: segment id '-1' is not a number"),
    ],
)
def test_an_id_without_reference(tmp_path, id_, said):
    (tmp_path / "a").write_text("x\ny\n")
    with pytest.raises(FormatError, match=said):
        read_references([tmp_path / "a"]).for_segments(["0", id_])


def test_files_of_different_length(tmp_path):
    (tmp_path / "a").write_text("x\ny\n")
    (tmp_path / "b").write_text("x\ny\nz\n")
    with pytest.raises(FormatError, match=r"b: 3 lines, but .*a has 2: expected as many"):
        read_references([tmp_path / "a", tmp_path / "b"])


def test_no_reference(tmp_path):
    (tmp_path / "a").touch()
    with pytest.raises(FormatError, match="a: the file is empty"):
        read_references([tmp_path / "a"])
    with pytest.raises(FormatError, match="no reference file was named"):
        read_references([])


KALDI = "utt_b so it is\nutt_a\tthe cat  sat\nutt_c\n"
TRN = "so it is (utt_b)\nthe cat sat (utt_a)\n\n(utt_c)\n"
TEXTS = {"utt_a": "the cat sat", "utt_b": "so it is", "utt_c": ""}


@pytest.mark.parametrize("form", ["auto", "given"])
@pytest.mark.parametrize(("name", "text"), [("kaldi", KALDI.replace("  ", " ")), ("trn", TRN)])
def test_references_with_ids_are_matched_by_id(tmp_path, name, text, form):
    (tmp_path / "a").write_text(text)
    references = read_references([tmp_path / "a", tmp_path / "a"], name if form == "given" else "auto")
    for ids in (["utt_a", "utt_b", "utt_c"], ["utt_c", "utt_a"]):
        assert references.for_segments(ids) == [(TEXTS[id_], TEXTS[id_]) for id_ in ids]
    if form == "given":
        assert sorted(references.ids) == list(TEXTS)


def test_ids_that_are_numbers_are_lines_unless_told_otherwise(tmp_path):
    (tmp_path / "a").write_text("1 one\n0 null\n")
    assert read_references([tmp_path / "a"]).for_segments(["0", "1"]) == [("1 one",), ("0 null",)]
    assert read_references([tmp_path / "a"], "kaldi").for_segments(["0", "1"]) == [("null",), ("one",)]


@pytest.mark.parametrize(
    ("text", "form", "said"),
    [
        (KALDI, "auto", r"a: no reference for segment id 'utt_d' among the 3 ids \(utt_b, utt_a, …\)"),
        (TRN, "auto", r"a: no reference for segment id 'utt_d' among the 3 ids"),
        (KALDI, "trn", r"a:1: no id at the end of the line"),
        (KALDI + "utt_a again\n", "kaldi", "a:4: the id 'utt_a' occurs twice"),
        (KALDI + "utt_a again\n", "auto", "a:4: the id 'utt_a' occurs twice"),
        ("utt_a x (utt_d)\nutt_d x (utt_a)\n", "auto", "start and at the end"),
        ("x\ny\n", "auto", "a: segment id 'utt_a' is not a number"),
        (KALDI, "lines", "a: segment id 'utt_a' is not a number: it names no line"),
    ],
)
def test_ids_and_references_that_do_not_meet(tmp_path, text, form, said):
    (tmp_path / "a").write_text(text)
    with pytest.raises(FormatError, match=said):
        read_references([tmp_path / "a"], form).for_segments(["utt_a", "utt_d"])
