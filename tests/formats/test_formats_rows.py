"""Lists as the rows of a table: CSV, TSV and JSON lines with named columns."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

import numpy as np
import pytest

from rerank_adapters import read_nbest
from rerank_adapters.formats.tables import Tables
from rerank_plugins import ConfigError, FormatError, NBestList, Rescored
from tests.formats.naive_formats import naive_rows

GOLDEN = Path(__file__).parents[1] / "golden" / "formats"


def plain(nbests):
    return [(n.segment_id, n.texts, n.feature_names, [(h.features, h.score) for h in n]) for n in nbests]


def lists(table, /, **options):
    return list(Tables(**options).read(io.StringIO(table, newline=""), "table"))


def test_columns_have_roles_and_other_numbers_are_features():
    first, second = read_nbest(GOLDEN / "rows.csv")
    assert (first.segment_id, first.source, first.feature_names) == ("utt-07", "so ist es", ("lm",))
    assert first.texts == ["so it is", 'so, it "is"']
    assert [h.score for h in first] == [-1.5, -2.25]
    assert [h.features for h in first] == [(-3.5,), (-4.0,)]
    assert (second.texts, second.line) == (["yes it is"], 5)
    tabs = read_nbest(GOLDEN / "rows.tsv")
    assert [nbest.texts for nbest in tabs] == [["so it is", "so is it"], [""]]
    assert all(hypothesis.score is None for nbest in tabs for hypothesis in nbest)


def test_json_lines_are_rows_too():
    first, second = read_nbest(GOLDEN / "rows.jsonl")
    assert (first.segment_id, first.texts, first.feature_names) == ("7", ["so it is", "so is it"], ("lm",))
    assert (second[0].score, second[0].features) == (-0.5, (-1.0,))


def test_options_name_columns():
    text = "sid;hyp;total;de;rank;lm\n1;so it is;-1;so;1;-2\n1;so is it;-2;so;2;-3\n"
    (nbest,) = lists(text, id="sid", text="hyp", score="total", source="de", features=("lm",))
    assert (nbest.segment_id, nbest.source, nbest.feature_names) == ("1", "so", ("lm",))
    assert [h.score for h in nbest] == [-1.0, -2.0]
    (nbest,) = lists(text, id="sid", text="hyp")
    assert nbest.feature_names == ("total", "rank", "lm")
    assert nbest.source is None


def test_columns_of_files_can_be_named_in_python(tmp_path):
    (tmp_path / "t.csv").write_text("sid,hyp,total\n1,so it is,-1\n1,so is it,-2\n")
    (nbest,) = read_nbest(tmp_path / "t.csv", id="sid", text="hyp", score="total")
    assert [(h.text, h.score) for h in nbest] == [("so it is", -1.0), ("so is it", -2.0)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,texts\n1,a\n", "table:2: no column 'text' for the text of each hypothesis; did you mean 'texts'"),
        ("id,text,lm\n1,a,-1\n1,b,x\n", "table:3: feature 'lm' is 'x', expected a number"),
        ("id,text,lm\n1,a,-1\n1,b,nan\n", "table:3: feature 'lm' is 'nan', expected a finite number"),
        ("id,text\n1,a,b\n", "table:2: found 3 columns, expected 2"),
        ("id,text,text\n1,a,b\n", "table:1: two columns are called 'text'"),
        ("id,text\n,a\n", "table:2: the id is missing"),
        ("id,text,source\n1,a,x\n1,b,y\n", "table:3: another source than in the first row of segment 1: 'y'"),
        ('{"id": 1, "text": "a"}\n[1]\n', "table:2: found '1', expected an object"),
        ('{"id": 1, "text": "a"}\n{"id": 1, "text": 1.5}\n', "table:2: text is 1.5, wanted a text"),
        (
            '{"id": 1, "text": "a", "lm": -1}\n{"id": 1, "text": "b"}\n',
            "table:2: feature 'lm' is None, expected a number",
        ),
        ('{"id": 1, "text": "a"}\n{"id": 1\n', "table:2: not JSON"),
        (
            "id,text,lm\n1,a,\n1,b,-1\n",
            "table:3: lm is '-1', but the first row has no number there; wanted one in each",
        ),
        ("id,text,lm\n1,a,NA\n1,b,NA\n1,c,-1\n", "table:4: lm is '-1', but the first row has no number there"),
        ('{"id": 1, "text": "a", "lm": null}\n{"id": 1, "text": "b", "lm": -1}\n', "table:2: lm is -1, but the first"),
        ('{"id": 1, "text": "a"}\n{"id": 1, "text": "b", "lm": -1}\n', "table:2: lm is -1, but the first row has no"),
        ("id,text,score\n1,a,\n1,b,-1\n", "table:3: score is '-1', but the first row has no number there"),
        (
            '{"id": 1, "text": "a"}\n{"id": 1, "text": "b", "score": -1}\n',
            "table:2: score is -1, but the first row has",
        ),
        ("id,text,score\n1,a,-1\n1,b,\n", "table:3: the total score is '', expected a number"),
        ("id,text,hyp\n1,a,b\n1,a,c\n", "table:2: 'text' and 'hyp' may both be the hypotheses: name the column by `t"),
    ],
)
def test_rows_that_are_wrong_are_one_line(text, said):
    with pytest.raises(FormatError) as error:
        lists(text)
    assert str(error.value).startswith(said), str(error.value)


def test_columns_that_are_no_features_may_be_empty():
    (nbest,) = lists("id,text,lm,note,age\n1,a,-1,,\n1,b,-2,x,7\n", features=("lm",))
    assert nbest.feature_names == ("lm",)
    (nbest,) = lists("id,text,lm,note\n1,a,-1,\n1,b,-2,x\n")
    assert nbest.feature_names == ("lm",)
    (nbest,) = lists("id,text,mt\n1,a,0.5\n")  # numbers are no hypotheses
    assert (nbest.texts, nbest.feature_names) == (["a"], ("mt",))
    (nbest,) = lists("id,text,hyp\n1,a,b\n1,a,c\n", text="hyp")
    assert nbest.texts == ["b", "c"]


@pytest.mark.parametrize("options", [{}, {"features": ("lm",)}])
def test_a_table_without_scores_may_have_their_column(options):
    (nbest,) = lists("id,text,lm,score\n1,a,-1,\n1,b,-2,\n", **options)
    assert ([h.score for h in nbest], nbest.feature_names) == ([None, None], ("lm",))
    with pytest.raises(FormatError, match="table:3: score is '5', but the first row has no number there"):
        lists("id,text,lm,score\n1,a,-1,\n1,b,-2,5\n", **options)
    with pytest.raises(FormatError, match="table:2: the total score is '', expected a number"):
        lists("id,text,lm,score\n1,a,-1,\n", score="score", **options)


def test_rescored_rows_are_json_with_their_other_keys():
    format = Tables()
    (nbest,) = lists('{"id": 7, "text": "a", "lm": -1, "note": "x"}\n{"id": 7, "text": "b", "lm": -2, "note": "y"}\n')
    rescored = Rescored(("new",), np.array([[0.5], [1.5]]), np.array([1.0, 2.0]), [1, 0])
    rows = [json.loads(line) for line in format.write(nbest, rescored)]
    assert rows == [
        {"id": "7", "text": "b", "lm": -2.0, "note": "y", "score": 2.0, "new": 1.5},
        {"id": "7", "text": "a", "lm": -1.0, "note": "x", "score": 1.0, "new": 0.5},
    ]


def test_a_feature_cannot_have_the_name_of_another_column():
    nbest = NBestList.from_texts(["a"], [-1.0], segment_id="0", features={"score": [2.0]})
    (row,) = Tables().write(nbest)
    assert json.loads(row) == {"id": "0", "text": "a", "total": -1.0, "score": 2.0}
    assert plain(Tables().read([row], "x")) == plain([nbest])
    alone = NBestList.from_texts(["a"], [-1.0], segment_id="0", features={"score": [-1.0]})
    (row,) = Tables().write(alone)
    assert json.loads(row) == {"id": "0", "text": "a", "score": -1.0}
    assert plain(Tables().read([row], "x")) == plain([alone])
    nbest = NBestList.from_texts(["a"], [-1.0], segment_id="0", features={"text": [2.0]})
    with pytest.raises(ConfigError, match="a feature is called 'text': name another column for the text"):
        list(Tables().write(nbest))


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_random_tables_are_read_as_the_obvious_reader_does(separator):
    rng = random.Random(3)
    for _ in range(30):
        out = io.StringIO(newline="")
        writer = csv.writer(out, delimiter=separator, lineterminator=rng.choice(["\n", "\r\n"]))
        writer.writerow(["id", "text", "score", "lm", "note"])
        for segment in range(rng.randint(1, 4)):
            for _ in range(rng.randint(1, 3)):
                text = "".join(rng.choice('ab ",;\t|\u00e9') for _ in range(rng.randint(0, 8)))
                writer.writerow([f"s{segment}", text, rng.random(), -rng.random(), "note"])
        table = out.getvalue()
        read = lists(table)
        assert [(n.segment_id, n.texts, [h.score for h in n], [h.features for h in n]) for n in read] == naive_rows(
            table, separator
        )
        format = Tables()
        assert "".join(line for nbest in read for line in format.write(nbest)) == table
