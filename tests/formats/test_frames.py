"""Lists from data frames and records, and in memory: the same lists, and one clear line for what is wrong."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters import Pipeline, read_nbest
from rerank_adapters.formats.frames import lists_of_records
from rerank_plugins import ConfigError, FormatError, Hypothesis, NBestList

RECORDS = [
    {"seg": 10, "hyp": "so it is", "lm": -3, "total": -1.5, "tm": 0.5, "de": "so ist es", "by": "moses", "good": True},
    {"seg": 2, "hyp": "yes", "lm": -1, "total": -0.5, "tm": 0.25, "de": "ja", "by": "moses", "good": False},
    {"seg": 10, "hyp": "so is it", "lm": -4, "total": -2.5, "tm": 0.75, "de": "so ist es", "by": "moses", "good": True},
]
NAMES = {"id": "seg", "text": "hyp", "score": "total", "source": "de"}
LISTS = [
    NBestList(
        "10", (Hypothesis("so it is", (-3.0, 0.5), -1.5), Hypothesis("so is it", (-4.0, 0.75), -2.5)), ("lm", "tm"),
        "so ist es",
    ),
    NBestList("2", (Hypothesis("yes", (-1.0, 0.25), -0.5),), ("lm", "tm"), "ja"),
]  # fmt: skip


def naive_lists(records):
    """Row by row, as a reader of the definition would do it by hand."""
    lists = {}
    for row in records:
        lists.setdefault(str(row["id"]), []).append(row)
    return [
        (id_, [r["text"] for r in rows], [(float(r["a"]), float(r["b"])) for r in rows], [r["score"] for r in rows])
        for id_, rows in lists.items()
    ]


def test_records_are_lists():
    assert read_nbest(RECORDS, **NAMES) == LISTS
    assert [nbest.rows for nbest in read_nbest(RECORDS, **NAMES)] == [(0, 2), (1,)]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_are_lists(library):
    module = pytest.importorskip(library)
    frame = module.Table.from_pylist(RECORDS) if library == "pyarrow" else module.DataFrame(RECORDS)
    assert read_nbest(frame, **NAMES) == LISTS


def test_usual_names_and_gaps_in_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"segment_id": [1.0, 1.0], "text": ["a", "b"], "score": [None, None], "note": ["", None]})
    assert read_nbest(frame) == [NBestList("1", (Hypothesis("a"), Hypothesis("b")))]
    frame = pandas.DataFrame({"id": ["x"], "text": ["a"], "lm": pandas.array([3], dtype="Int64")})
    assert read_nbest(frame) == [NBestList("x", (Hypothesis("a", (3.0,)),), ("lm",))]


def test_one_hypothesis_may_stand_alone_and_texts_are_enough():
    assert read_nbest([{"id": "a", "text": ""}]) == [NBestList("a", (Hypothesis(""),))]


@given(st.lists(st.tuples(st.integers(0, 3), st.text(max_size=3), st.floats(-9, 9), st.floats(-9, 9)), min_size=1))
def test_rows_in_any_order_equal_the_naive_reading(rows):
    records = [{"id": i, "text": t, "a": a, "b": b, "score": a + b} for i, t, a, b in rows]
    found = [
        (n.segment_id, n.texts, [tuple(v) for v in n.values.tolist()], n.totals.tolist())
        for n in lists_of_records(records)
    ]
    assert found == naive_lists(records)


@pytest.mark.parametrize(
    ("rows", "options", "error", "message"),
    [
        ([{"id": 1, "txt": "a"}], {}, ConfigError, "no column 'text' for the text of each hypothesis; did you mean 'txt'"),
        ([{"text": "a"}], {}, ConfigError, "no column 'id' for the id of each hypothesis"),
        ([{"id": 1, "text": "a"}], {"score": "total"}, ConfigError, "no column 'total' for the score"),
        ([{"id": 1, "text": 3}], {}, FormatError, "row 0: text is 3, wanted a text"),
        ([{"id": None, "text": "a"}], {}, FormatError, "row 0: no id of a segment"),
        ([{"id": 1, "text": "a", "x": 1}, {"id": 1, "text": "b"}], {}, FormatError, "row 1: feature 'x' is None, expected a number"),
        ([{"id": 1, "text": "a", "x": np.inf}], {}, FormatError, "row 0: feature 'x' is inf, expected a finite number"),
        ([{"id": 1, "text": "a", "score": 1}, {"id": 1, "text": "b"}], {}, FormatError, "row 1: no score, which other"),
        ([{"id": 1, "text": "a", "score": "x"}], {}, FormatError, "row 0: the total score is 'x', expected a number"),
        (
            [{"id": 1, "text": "a", "source": "x"}, {"id": 1, "text": "a", "source": "y"}],
            {},
            FormatError,
            "row 1: another source than that of segment 1",
        ),
        ([{"id": 1, "text": "a", 3: 2}], {}, ConfigError, "column 2 is called 3, wanted a text as its name"),
        ({"id": [1], "text": ["a"], 3: [2]}, {}, ConfigError, "column 2 is called 3, wanted a text as its name"),
        ([{"id": 1, "text": "a", "pred": "b"}], {}, ConfigError, "'text' and 'pred' may both be the hypotheses"),
        ([{"id": 1, "text": "a"}, 7], {}, TypeError, "row 1: wanted a mapping of columns, found 7"),
        ([7], {}, TypeError, "wanted files, a data frame or records, found 7 among them"),
        ([], {}, TypeError, r"wanted files, a data frame or records, found \[\]"),
        (7, {}, TypeError, "wanted files, a data frame or records, found 7"),
        ("lists", {"text": "hyp", "format": "moses"}, TypeError, "text= names a column of a table, and the format is 'moses'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(rows, options, error, message):
    with pytest.raises(error, match=message) as raised:
        read_nbest(rows, **options)
    assert "\n" not in str(raised.value)


def test_names_of_columns_of_a_frame_are_texts_and_differ():
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"id": [1], "text": ["a"], "lm": [0.5]})
    for wrong in (
        pandas.concat([frame, frame[["lm"]]], axis=1),
        pyarrow.table([[1], ["a"], [0.5], [0.5]], names=[*frame, "lm"]),
    ):
        with pytest.raises(ConfigError, match="two columns are called 'lm'"):
            read_nbest(wrong)
    with pytest.raises(ConfigError, match="column 3 is called 0, wanted a text as its name"):
        read_nbest(pandas.concat([frame, pandas.DataFrame([[0.5]])], axis=1))
    with pytest.raises(ConfigError, match=r"column 0 is called \('a', 'id'\), wanted a text as its name"):
        read_nbest(pandas.concat({"a": frame}, axis=1))


def test_a_column_is_named_where_two_may_have_the_hypotheses():
    rows = [{"id": 1, "text": "a", "pred": "b", "mt": 0.5}]
    assert read_nbest(rows, text="pred")[0].texts == ["b"]
    assert read_nbest(rows, text="text")[0].texts == ["a"]
    (nbest,) = read_nbest([{"id": 1, "text": "a", "mt": 0.5}])  # numbers are no hypotheses
    assert (nbest.texts, nbest.feature_names) == (["a"], ("mt",))


def test_a_frame_in_the_place_of_lists_says_what_reads_it():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match=r"found a data frame: read_nbest\(frame\) makes lists of it"):
        Pipeline("length").transform(pandas.DataFrame(RECORDS))


def test_without_narwhals_a_frame_is_one_clear_line(monkeypatch):
    pandas = pytest.importorskip("pandas")
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(ConfigError, match=r"need narwhals: pip install 'rerank-plugins\[frames\]'"):
        read_nbest(pandas.DataFrame(RECORDS), **NAMES)
    assert read_nbest(RECORDS, **NAMES) == LISTS


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((["a"], [1.0, 2.0]), FormatError, "scores: 2 values for 1 hypotheses"),
        ((["a", "b"], [1.0, np.nan]), FormatError, r"scores\[1\]: nan, wanted a finite number"),
        ((["a"], None, None, None, {"lm": [-np.inf]}), FormatError, r"lm\[0\]: -inf, wanted a finite number"),
        ((["a"], ["x"]), TypeError, "scores: wanted a number for each hypothesis"),
        (("a",), TypeError, "found a single text: 'a'"),
        (([None],), TypeError, "texts: wanted texts, found None"),
        ((["a"], None, 3), TypeError, "source: wanted a text or None, found 3"),
        ((["a"], None, None, 3.0), TypeError, "segment_id: wanted a text, found 3.0"),
        ((["a"], None, None, True), TypeError, "segment_id: wanted a text, found True"),
        ((["a"], None, None, None, {"lm": [1, 2]}), FormatError, "lm: 2 values for 1 hypotheses"),
        ((["a"], None, None, None, [1]), TypeError, "features: wanted a value for each text by the feature's name"),
    ],
)
def test_lists_from_wrong_texts(arguments, error, message):
    with pytest.raises(error, match=message):
        NBestList.from_texts(*arguments)


@pytest.mark.parametrize("number", [7, np.int64(7)])
def test_a_segment_may_have_a_number(number):
    assert NBestList.from_texts(["a"], segment_id=number) == NBestList.from_texts(["a"], segment_id="7")


@pytest.mark.parametrize(
    ("hypothesis", "message"),
    [
        (Hypothesis("b", (np.nan,), 1.0), "segment 0, hypothesis 1: lm is nan, wanted a finite number"),
        (Hypothesis("b", (1.0,), -np.inf), "segment 0, hypothesis 1: the score is -inf, wanted a finite number"),
    ],
)
def test_numbers_of_lists_in_memory_are_finite_as_those_of_files(hypothesis, message):
    nbest = NBestList("", (Hypothesis("a", (1.0,), 1.0), hypothesis), ("lm",))
    with pytest.raises(FormatError, match=message):
        Pipeline("length", cache=False).transform([nbest])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, ()), "segment_id: wanted a text, found 1"),
        (("1", "a b"), "hypotheses: wanted a sequence of hypotheses, found 'a b'"),
        (("1", None), "hypotheses: wanted a sequence of hypotheses, found None"),
        (("1", ["a"]), "wanted objects of Hypothesis, found 'a': NBestList.from_texts takes texts"),
        (("1", (Hypothesis("a"), 7)), "wanted objects of Hypothesis, found 7"),
        (("1", (), "lm"), "feature_names: wanted a tuple of names, found the text 'lm'"),
        (("1", (), (), 7), "source: wanted a text or None, found 7"),
    ],
)
def test_a_list_of_other_types_fails_at_once(arguments, message):
    with pytest.raises(TypeError, match=message):
        NBestList(*arguments)


def test_a_list_shows_itself_as_a_short_table():
    nbest = NBestList.from_texts(
        ["so it is"] * 7, [-1.5] * 7, source="so ist es", segment_id="3", features={"lm": [0] * 7}
    )
    lines = repr(nbest).splitlines()
    assert lines[:3] == [
        "NBestList '3': 7 hypotheses, features lm",
        "  source: 'so ist es'",
        "   0      -1.5  so it is",
    ]
    assert lines[-1] == "   …"
    assert len(lines) == 8
