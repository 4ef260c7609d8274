"""Lists as the rows of Parquet and Arrow files: as those of JSON lines are read, in bounded memory, and written."""

import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_adapters import read_nbest
from rerank_adapters.formats import columnar
from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.columnar import kind_of, open_lines
from rerank_adapters.formats.columnar_writing import open_rows
from rerank_adapters.formats.reading import stream_file
from rerank_adapters.formats.writing import open_lists
from rerank_plugins import ConfigError, FeatureTable, FormatError, Hypothesis, NBestList, open_text
from rerank_plugins.core.feature_table import SparseBlock
from rerank_plugins.core.json_and_toml import json_line, read_json
from tests.command_line import rerank

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS = [
    {"seg": "a-1", "hyp": "so it is", "total": -1.5, "lm": -3, "de": "so ist es", "by": "moses"},
    {"seg": "a-1", "hyp": "so is it", "total": -2.5, "lm": -4, "de": "so ist es", "by": None},
    {"seg": "b-2", "hyp": "yes, ja \u2028 „so“", "total": -0.5, "lm": -1, "de": "ja", "by": "moses"},
]
LISTS = [
    NBestList("a-1", (Hypothesis("so it is", (-3.0,), -1.5), Hypothesis("so is it", (-4.0,), -2.5)), ("lm",), "so ist es"),
    NBestList("b-2", (Hypothesis("yes, ja „so“", (-1.0,), -0.5),), ("lm",), "ja"),
]  # fmt: skip
COLUMNS = {"id": "seg", "text": "hyp", "score": "total", "source": "de"}
KINDS = ("x.parquet", "x.feather", "x.arrow")


def table_of(rows, schema=None):
    return arrow.Table.from_pylist(rows, schema)


def write(path, rows, stream=False):
    table = rows if isinstance(rows, arrow.Table) else table_of(rows)
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=2)
    else:
        with (arrow.ipc.new_stream if stream else arrow.ipc.new_file)(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    return path


def plain(lists):
    """The lists without the lines that they were read from."""
    return [(n.segment_id, n.texts, [(h.features, h.score) for h in n], n.feature_names, n.source) for n in lists]


@pytest.mark.parametrize("file", KINDS)
@pytest.mark.parametrize("stream", [False, True])
def test_rows_are_lists(tmp_path, file, stream):
    path = write(tmp_path / file, ROWS, stream and file != "x.parquet")
    assert plain(read_nbest(path, **COLUMNS)) == plain(LISTS)
    usual = [{"id": row["seg"], "text": row["hyp"], "score": row["total"], "lm": row["lm"]} for row in ROWS]
    [first, second] = read_nbest(write(tmp_path / file, usual, stream and file != "x.parquet"))  # the format is seen
    assert (first.texts, second.segment_id) == (LISTS[0].texts, "b-2")


def test_the_first_bytes_say_what_a_file_is(tmp_path):
    path = write(tmp_path / "x.parquet", ROWS)
    (tmp_path / "lists").write_bytes(path.read_bytes())
    assert kind_of(tmp_path / "lists") == "Parquet"
    assert plain(read_nbest(tmp_path / "lists", **COLUMNS)) == plain(LISTS)
    assert kind_of(write(tmp_path / "x.arrow", ROWS, stream=True)) == "Arrow stream"
    (tmp_path / "PAR1").write_text("PAR1 is a word\n")
    assert kind_of(tmp_path / "PAR1") is None
    assert kind_of("-") is None
    assert kind_of(tmp_path / "missing.parquet") is None


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.data())
def test_lines_are_those_of_the_rows_one_by_one(tmp_path_factory, numbers, data):
    kinds = [st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5), st.integers(-9, 9), st.booleans()]
    names = [f"column {i}" for i in range(len(kinds))]
    rows = [
        {name: data.draw(st.none() | kind) for name, kind in zip(names, kinds, strict=True)} | {"id": n}
        for n in numbers
    ]
    path = write(tmp_path_factory.mktemp("rows") / "x.parquet", rows)
    with open_lines(path) as lines:
        assert list(lines) == [json_line(row) + "\n" for row in rows]
    with open_rows(path) as out:
        out.writelines(json_line(row) + "\n" for row in rows)
    with open_lines(path) as lines:
        assert [read_json(line) for line in lines] == rows


def test_values_that_json_lacks(tmp_path):
    from datetime import date
    from decimal import Decimal

    table = arrow.table(
        {
            "id": arrow.array(["x"]).dictionary_encode(), "text": arrow.array([b"so it is"], arrow.binary()),
            "price": arrow.array([Decimal("1.25")]), "day": arrow.array([date(2026, 1, 2)]),
            "half": arrow.array([0.5], arrow.float32()), "tokens": [["so", "it"]],
        }
    )  # fmt: skip
    [nbest] = read_nbest(write(tmp_path / "x.parquet", table))
    assert (nbest.segment_id, nbest.texts, nbest.feature_names) == ("x", ["so it is"], ("price", "half"))
    assert nbest[0].features == (1.25, 0.5)
    assert read_json(nbest[0].raw)["day"] == "2026-01-02"


def test_formats_in_json_read_rows_and_others_refuse_them(tmp_path):
    path = write(tmp_path / "x.parquet", [{"id": "u", "hyps": ["so it is", "so is it"]}])
    assert [nbest.texts for nbest in read_nbest(path)] == [["so it is", "so is it"]]
    with pytest.raises(
        FormatError, match=r"x.parquet: is a file of Parquet, which this format does not read; the form"
    ):
        read_nbest(path, format="plain,n=1")


def test_a_folder_of_files_is_their_rows(tmp_path):
    write(tmp_path / "part-1.parquet", [{"id": "b", "text": "yes", "lm": 1.5}])
    write(tmp_path / "part-0.parquet", [{"id": "a", "text": "no", "lm": 0.5}])
    assert [nbest.segment_id for nbest in read_nbest(tmp_path)] == ["a", "b"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hyp": None}, ":2: hyp is None, wanted a text"),
        ({"total": None}, ":2: the hypothesis has no total score, but line 1 has one"),
        ({"lm": None}, ":2: feature 'lm' is None, expected a number"),
        ({"seg": ""}, ":2: the seg is missing"),
        ({"de": "ja"}, ":2: another de than in the first row of segment a-1: 'ja'"),
    ],
)
def test_errors_name_the_row(tmp_path, change, message):
    path = write(tmp_path / "x.parquet", [ROWS[0], ROWS[1] | change, ROWS[2]])
    with pytest.raises(FormatError) as error:
        read_nbest(path, **COLUMNS)
    assert str(error.value) == f"{path}{message}"


def test_damage_is_one_line(tmp_path):
    whole = write(tmp_path / "x.parquet", ROWS).read_bytes()
    for content in (b"", b"text\n", whole[:-8], whole[: len(whole) // 2]):
        (tmp_path / "bad.parquet").write_bytes(content)
        result = rerank("check", "--nbest", tmp_path / "bad.parquet")
        assert result.code == 2
        assert "bad.parquet: damaged Parquet file (" in result.out
    whole = write(tmp_path / "x.feather", ROWS).read_bytes()
    (tmp_path / "bad.feather").write_bytes(whole[:-30])
    with pytest.raises(FormatError, match=r"damaged Arrow file \("):
        read_nbest(tmp_path / "bad.feather", format="rows")
    twice = arrow.Table.from_arrays([arrow.array(["a"]), arrow.array(["b"])], names=["id", "id"])
    with pytest.raises(FormatError, match=r"x.parquet: two columns are called 'id'"):
        read_nbest(write(tmp_path / "x.parquet", twice), format="rows")


def test_readers_of_text_say_what_the_file_is(tmp_path):
    path = write(tmp_path / "x.parquet", ROWS)
    with pytest.raises(FormatError, match=r"x.parquet: is a file of Parquet, expected text"), open_text(path) as lines:
        list(lines)
    assert rerank("tools", "text", "lowercase", stdin=path.read_bytes()).err == (
        "rerank: <stdin>: is a file of Parquet, expected text\n"
    )


def test_without_the_library_a_line_names_the_extra(tmp_path, monkeypatch):
    path = write(tmp_path / "x.parquet", ROWS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ConfigError, match=r"x.parquet: a file of Parquet needs pyarrow: pip install 'rerank-plugins\[fr"
    ):
        read_nbest(path, **COLUMNS)
    with pytest.raises(ConfigError, match="needs pyarrow"), open_rows(tmp_path / "y.parquet"):
        pass


def test_references_are_a_column(tmp_path):
    lists = write(tmp_path / "x.parquet", [{"id": row["seg"], "text": row["hyp"], "lm": row["lm"]} for row in ROWS])
    texts = write(tmp_path / "refs.parquet", [{"uid": "b-2", "gold": "yes"}, {"uid": "a-1", "gold": "so it is"}])
    form = "json,key=gold,id_key=uid"
    result = rerank("evaluate", lists, "-r", texts, "--reference-form", form, "-m", "wer", "--as", "json")
    assert result.code == 0, result.err
    assert rerank("check", "--nbest", lists, "-r", texts, "--reference-form", form, "-m", "wer").code == 0


def test_memory_is_bounded_by_a_group_of_rows(tmp_path):
    path, rows = tmp_path / "x.parquet", 12_000
    ids = np.arange(rows) // 10
    parquet.write_table(
        arrow.table({"id": ids, "text": [f"{i} " + "so it is " * 20 for i in range(rows)], "lm": -1.0 * ids}), path,
        row_group_size=512,
    )  # fmt: skip
    tracemalloc.start()
    assert sum(len(nbest) for nbest in stream_file(path, FORMATS["rows"]())) == rows
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_600_000  # bytes; all texts have more than 2 MB, and their JSON twice that


@pytest.mark.parametrize("file", KINDS)
def test_lists_are_written_as_rows(tmp_path, file):
    read = read_nbest(write(tmp_path / "x.parquet", ROWS), **COLUMNS)
    path = tmp_path / f"out-{file}"
    with open_lists(path, FORMATS["rows"](**COLUMNS)) as out:
        for nbest in read:
            out.write(nbest)
    assert plain(read_nbest(path, **COLUMNS)) == plain(LISTS)
    with open_lines(path) as lines:
        assert [read_json(line)["by"] for line in lines] == ["moses", None, "moses"]  # other columns stay


def test_lists_of_other_formats_become_rows(tmp_path):
    moses = tmp_path / "x.nbest"
    moses.write_text("0 ||| so it is ||| lm= -3 ||| -1.5\n1 ||| yes ||| lm= -1.5 ||| -0.5\n")
    result = rerank("lists", "merge", moses, "-o", tmp_path / "x.parquet")
    assert result.code == 0, result.err
    assert plain(read_nbest(tmp_path / "x.parquet")) == plain(read_nbest(moses))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.nbest", "x.parquet"]  # no temporary files


def test_columns_with_two_types_are_one_line(tmp_path):
    two_types = r"x.parquet: a column of Parquet has values of one type, and here two: "
    with pytest.raises(ConfigError, match=two_types), open_rows(tmp_path / "x.parquet") as out:
        out.writelines(['{"a": 1.5}\n', '{"a": "b"}\n'])
    assert list(tmp_path.iterdir()) == []


def test_types_may_show_in_later_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("rerank_adapters.formats.columnar_writing.ROWS_AT_ONCE", 1)
    rows = [{"a": None, "b": 1}, {"a": "x", "b": 2.5}, {"a": None, "b": 3, "c": True}]
    with open_rows(tmp_path / "x.parquet") as out:
        out.writelines(json_line(row) + "\n" for row in rows)
    assert parquet.read_table(tmp_path / "x.parquet").to_pylist() == [
        {"a": None, "b": 1.0, "c": None}, {"a": "x", "b": 2.5, "c": None}, {"a": None, "b": 3.0, "c": True}
    ]  # fmt: skip


def test_feature_tables_are_written_for_other_programs(tmp_path):
    table = FeatureTable(
        ("lm", "tm"), np.array([[1.0, 2], [3, 4], [5, 6]]), np.array([0, 2, 3]), ("a", "b"), SparseBlock.empty(3)
    )
    table.to_parquet(tmp_path / "x.parquet")
    assert parquet.read_table(tmp_path / "x.parquet").to_pylist() == [
        {"segment": "a", "hypothesis": 0, "lm": 1.0, "tm": 2.0},
        {"segment": "a", "hypothesis": 1, "lm": 3.0, "tm": 4.0},
        {"segment": "b", "hypothesis": 0, "lm": 5.0, "tm": 6.0},
    ]
    result = rerank("extract", tmp_path / "x.parquet", "-f", "length", "-o", tmp_path / "y.parquet")
    assert result.code == 2
    assert "a feature table is an .npz file" in result.err


def test_large_batches_are_converted_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(columnar, "ROWS_AT_ONCE", 2)
    for file in KINDS:
        assert plain(read_nbest(write(tmp_path / file, ROWS), **COLUMNS)) == plain(LISTS)


def test_columns_of_files_are_named_in_python(tmp_path):
    path = write(tmp_path / "x.parquet", ROWS)
    (tmp_path / "sources").write_text("so\nja\n")
    [first, _] = read_nbest(path, id="seg", text="hyp", score="total", source="de")
    assert first.source == "so ist es"
    with pytest.raises(FormatError, match="no column 'nl' for the source of each hypothesis"):
        read_nbest(path, id="seg", text="hyp", source="nl")
