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
        ("x7", "a: segment id 'x7' is no number"),
        ("-1", "a: segment id '-1' is no number"),
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
    with pytest.raises(FormatError, match="no reference file given"):
        read_references([])
