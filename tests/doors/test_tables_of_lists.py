"""Tables of hypotheses as other programs write them: index columns, capitals, sentinels, and columns that may be others."""

import json
import shutil
from pathlib import Path

import pytest

from rerank_adapters import read_nbest
from rerank_plugins import FormatError
from tests.command_line import done

GOLDEN = Path(__file__).parents[1] / "golden" / "formats"
ROWS = [("0", "hallo welt", -1.0), ("0", "hallo", -2.0), ("1", "guten abend", -0.5), ("1", "guten tag", -1.5)]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(name, **options):
    lists = read_nbest(name, **options)
    return [(n.segment_id, n.texts, n.feature_names, [(h.features, h.score) for h in n]) for n in lists]


def table(header, rows=ROWS):
    Path("t.csv").write_text(f"{header}\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows))


PLAIN = [
    ("0", ["hallo welt", "hallo"], ("score",), [((-1.0,), -1.0), ((-2.0,), -2.0)]),
    ("1", ["guten abend", "guten tag"], ("score",), [((-0.5,), -0.5), ((-1.5,), -1.5)]),
]


@pytest.mark.parametrize("name", ["", '""', "Unnamed: 0", "__index_level_0__"])
@pytest.mark.parametrize("first", [0, 1, 100])
def test_the_index_of_a_data_frame_is_no_feature(name, first):
    table(f"{name},id,text,score", [(n, *row) for n, row in enumerate(ROWS, first)])
    assert read("t.csv") == PLAIN


@pytest.mark.parametrize("name", ["index", "row", "level_0"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_column_that_counts_the_rows_is_an_error_that_names_it(name, first):
    table(f"{name},id,text,score", [(n, *row) for n, row in enumerate(ROWS, first)])
    with pytest.raises(FormatError, match=f"t.csv: {name!r} counts the rows, so it is no feature: name the features"):
        read("t.csv")
    table("rank,id,text,score", [(n % 2 + 1, *row) for n, row in enumerate(ROWS)])
    assert read("t.csv")[0][2] == ("rank",)


def test_the_index_of_frames_and_of_their_files_is_no_feature(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([{"id": id_, "text": text, "score": score} for id_, text, score in ROWS])
    frame.to_csv("t.csv")
    assert read("t.csv") == PLAIN
    assert read(pandas.read_csv("t.csv", dtype={"id": str})) == PLAIN
    pytest.importorskip("pyarrow")
    frame[frame["score"] < 0].set_index(frame.index * 2).to_parquet("t.parquet")
    assert read("t.parquet") == PLAIN


def test_capitals_and_nameless_columns():
    table("ID,Text,Score,,", [(*row, "", "") for row in ROWS])
    assert read("t.csv", format="rows") == PLAIN


@pytest.mark.parametrize("missing", ["NA", "N/A", "#N/A", "NULL", "None", "<NA>", ""])
def test_sentinels_are_no_numbers(missing):
    table("id,text,score,lm", [(*row, missing) for row in ROWS])
    assert read("t.csv") == PLAIN
    table("id,text,score,lm", [(*row, -1 if n else missing) for n, row in enumerate(ROWS)])
    with pytest.raises(FormatError, match=r"t\.csv:3: lm is '-1', but the first row has no number there"):
        read("t.csv")
    table("id,text,score,lm", [(*row, missing if n else -1) for n, row in enumerate(ROWS)])
    with pytest.raises(FormatError, match=r"t\.csv:3: feature 'lm' is .*, expected a number"):
        read("t.csv")


@pytest.mark.parametrize("other", ["pred_text", "Hypothesis", "pred_text_stt_en_conformer_ctc_large", "whisper_small"])
def test_two_columns_that_may_be_the_hypotheses(other):
    rows = [("a", "so it is", "sow it is"), ("a", "so is it", "so is it"), ("b", "we went home", "we went home")]
    table(f"id,text,{other}", rows)
    with pytest.raises(FormatError, match=f"'text' and '{other}' .*both be the hypotheses: name the column by `text=`"):
        read("t.csv")
    assert read_nbest("t.csv", text=other)[0].texts == ["sow it is", "so is it"]
    assert read_nbest("t.csv", text="text")[0].texts == ["so it is", "so is it"]
    records = [dict(zip(("id", "text", other), row, strict=True)) for row in rows]
    Path("t.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    with pytest.raises(FormatError, match="both be the hypotheses"):
        read("t.jsonl")


def test_other_columns_of_texts_are_left_alone():
    table("id,text,source,reference,note", [("a", "so it is", "so it is", "so it is", "so it was said"),
                                            ("a", "so is it", "so it is", "so it is", "by ear"),
                                            ("b", "no", "no", "no", "x")])  # fmt: skip
    assert [n.texts for n in read_nbest("t.csv")] == [["so it is", "so is it"], ["no"]]


@pytest.mark.parametrize("name", ["espnet", "julius.out", "whisper.jsonl", "moses.nbest", "alternatives.jsonl"])
@pytest.mark.parametrize("out", ["out.jsonl", "out.parquet"])
def test_lists_of_every_program_become_a_table_and_are_read_back(name, out):
    if out.endswith("parquet"):
        pytest.importorskip("pyarrow")
    source = GOLDEN / name
    (shutil.copytree if source.is_dir() else shutil.copy)(source, name)
    done("lists", "merge", name, "-o", out, "--as", "rows")
    made, again = ({n.segment_id: n for n in read_nbest(path)} for path in (name, out))
    for id_, nbest in made.items():
        assert again[id_].texts == nbest.texts
        assert again[id_].totals.tolist() == nbest.totals.tolist()
        columns = dict(zip(nbest.feature_names, nbest.values.T.tolist(), strict=True))
        columns_again = dict(zip(again[id_].feature_names, again[id_].values.T.tolist(), strict=True))
        assert {name: columns_again[name] for name in columns} == columns
