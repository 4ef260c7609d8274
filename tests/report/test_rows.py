"""Rows: what they hold, how they print, and what they become."""

import csv
import gzip

import pytest

from rerank_adapters.rows import SHOWN_ROWS, Rows
from rerank_plugins import ConfigError, RerankError

ROWS = Rows(["word", "hhmm-lm", "known"], [("a", 1.5, True), ('say "b", c', float("nan"), False)])


def test_a_row_is_a_dict_and_a_column_a_list():
    assert len(ROWS) == 2
    assert ROWS[0] == {"word": "a", "hhmm-lm": 1.5, "known": True}
    assert ROWS[-1]["word"] == 'say "b", c'
    assert [row["known"] for row in ROWS] == ROWS["known"] == [True, False]
    assert ROWS[:1] == Rows(ROWS.columns, [("a", 1.5, True)])
    assert ROWS[:1] != ROWS
    assert next(reversed(ROWS)) == ROWS[1]
    assert not Rows(["a"])


def test_what_they_refuse():
    with pytest.raises(ConfigError, match="no column is named 'wrod'; did you mean 'word'"):
        ROWS["wrod"]
    with pytest.raises(IndexError):
        ROWS[2]
    with pytest.raises(ValueError, match="row 1 has 1 values, wanted 2"):
        Rows(["a", "b"], [(1, 2), (1,)])


def test_files(tmp_path):
    ROWS.to_csv(tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == 'word,hhmm-lm,known\na,1.5,True\n"say ""b"", c",,False\n'
    ROWS.to_csv(tmp_path / "rows.tsv.gz")
    with gzip.open(tmp_path / "rows.tsv.gz", "rt") as lines:
        assert next(csv.reader(lines, "excel-tab")) == ["word", "hhmm-lm", "known"]
    with pytest.raises(RerankError, match="cannot be written"):
        ROWS.to_csv(tmp_path / "none" / "rows.csv")


def test_many_rows_are_printed_in_part():
    many = Rows(["number"], [(number,) for number in range(1, 5 * SHOWN_ROWS)])
    lines = repr(many).splitlines()
    assert lines[1].strip() == "1"
    assert lines[1 + SHOWN_ROWS // 2] == "…"
    assert lines[-2:] == [f"    {5 * SHOWN_ROWS - 1}", f"({5 * SHOWN_ROWS - 1} rows)"]
    assert len(lines) == SHOWN_ROWS + 3
    assert f"… {4 * SHOWN_ROWS - 1} more …" in many._repr_html_()
    assert repr(Rows(["a", "b"])) == "a  b"


def test_a_notebook_shows_text_as_it_is():
    assert "<td>&lt;unk&gt;</td>" in Rows(["word"], [("<unk>",)])._repr_html_()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames(library, monkeypatch):
    pytest.importorskip(library)
    frame = getattr(ROWS, f"to_{library}")()
    assert list(frame.columns) == ["word", "hhmm-lm", "known"]
    assert frame["word"].to_list() == ["a", 'say "b", c']
    assert getattr(Rows(["a"]), f"to_{library}")().shape == (0, 1)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_missing(library, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, library, None)
    with pytest.raises(ConfigError, match=f"pip install {library}"):
        getattr(ROWS, f"to_{library}")()
