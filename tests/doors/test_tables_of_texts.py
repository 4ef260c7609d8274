"""Tables with named columns (CSV, TSV) hold sources, references and outputs, matched by their ids."""

import json

import pytest

from rerank_adapters.texts.pairing import pair
from rerank_adapters.texts.reading import read_texts
from rerank_adapters.texts.sources import Sources
from rerank_plugins import FormatError
from tests.command_line import done, refused
from tests.texts_of_files import outputs, references

BLEU = ("-m", "bleu", "--as", "json", "--bootstrap", "0", "--randomisation", "0")
ROWS = {
    "7": ("so ist es", "so it is, now", "so is it"),
    "3": ("oh nein", 'the "no"', "oh no"),
    "9": ("ja", "yes", "yes"),
}
IDS = ["3", "7", "9"]
COLUMNS = ("id", "source", "reference", "translation")


def table(separator, columns=COLUMNS):
    def quoted(cell):
        return '"' + cell.replace('"', '""') + '"' if separator in cell or '"' in cell else cell

    rows = [dict(zip(COLUMNS, (id_, *texts), strict=True)) for id_, texts in ROWS.items()]
    lines = [separator.join(columns), *(separator.join(quoted(row[name]) for name in columns) for row in rows)]
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_a_table_is_read_as_what_it_is_given_as(tmp_path, separator):
    (tmp_path / "table").write_text(table(separator), encoding="utf-8")
    sources, right, made = map(list, zip(*(ROWS[id_] for id_ in IDS), strict=True))
    assert [text for (text,) in references(["table"], IDS)] == right
    assert outputs("table", IDS) == made
    assert [*map(Sources("table").of, IDS)] == sources


def test_json_with_a_source_and_a_reference_is_a_source_by_its_source(tmp_path):
    (tmp_path / "both.jsonl").write_text('{"id": "u", "ref": "so it is", "src": "so ist es"}\n', encoding="utf-8")
    assert Sources("both.jsonl").of("u") == "so ist es"
    assert references(["both.jsonl"], ["u"]) == [("so it is",)]


def test_the_option_that_is_advised_is_that_of_the_role(tmp_path):
    (tmp_path / "named").write_text('{"id": "a", "text": "x"}\n{"id": "b", "text": "y"}\n')
    (tmp_path / "lines").write_text("x\ny\n")
    with pytest.raises(FormatError, match="--reference-form json,id_key=none"):
        references(["named"], ["0", "1"])
    with pytest.raises(FormatError, match="--system-form json,id_key=none"):
        pair([read_texts("lines", "reference")], {"s": read_texts("named", "output")})


def test_scores_are_those_of_json(tmp_path):
    (tmp_path / "table.csv").write_text(table(","), encoding="utf-8")
    records = (dict(zip(COLUMNS, (id_, *texts), strict=True)) for id_, texts in reversed(ROWS.items()))
    (tmp_path / "records").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    scores = [
        json.loads(done("evaluate", *BLEU, "-r", refs, f"s={outputs}").out)["metrics"][0]["systems"][0]["score"]
        for refs in ("table.csv", "records")
        for outputs in ("table.csv", "records")
    ]
    assert len(set(scores)) == 1
    assert scores[0] < 100


def test_rows_without_ids_have_the_numbers_of_lines(tmp_path):
    (tmp_path / "table").write_text(table("\t", ("source", "reference")), encoding="utf-8")
    assert references(["table"], ["0", "2"]) == [("so it is, now",), ("yes",)]


def test_columns_can_be_named(tmp_path):
    (tmp_path / "table").write_text("n,english\n5,so it is\n6,oh no\n", encoding="utf-8")
    assert references(["table"], ["6", "5"], "json,key=english,id_key=n") == [("oh no",), ("so it is",)]


def test_a_table_of_lists_has_no_references(tmp_path):
    (tmp_path / "lists").write_text("id,text,score\n1,so it is,-1\n1,so is it,-2\n", encoding="utf-8")
    (tmp_path / "out").write_text("so it is\n", encoding="utf-8")
    assert "reads as lists in the format rows, which have hypotheses" in refused(
        "evaluate", *BLEU, "-r", "lists", "s=out"
    )


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        ("id,reference\n1,so it is\n2,oh,no\n", 3, "found 3 columns, expected 2"),
        ('id,reference\n1,"so\nit is"\n2,oh,no\n', 4, "found 3 columns, expected 2"),
        ("id,text,note\n1,a,c\n1,a,c\n", None, "which have hypotheses but no references"),
    ],
)
def test_wrong_rows(tmp_path, content, line, says):
    (tmp_path / "table").write_text(content, encoding="utf-8")
    with pytest.raises(FormatError, match=says) as error:
        read_texts("table", "reference")
    assert error.value.line == line


@pytest.mark.parametrize("content", ["text, with a comma\nand more, of it\n", "reference\nso it is\n"])
def test_text_is_no_table(tmp_path, content):
    (tmp_path / "text").write_text(content, encoding="utf-8")
    assert read_texts("text", "reference").by_id.keys() == {"0", "1"}


def test_init_takes_a_table_beside_lists_for_references(tmp_path):
    (tmp_path / "refs.csv").write_text("id,text\n1,so it is\n2,oh no\n3,yes\n", encoding="utf-8")
    lists = {"1": ("so is it", "so it is"), "2": ("oh no", "no oh"), "3": ("yes", "yet")}
    rows = (json.dumps({"id": id_, "hyps": texts}) + "\n" for id_, texts in lists.items())
    (tmp_path / "tune.jsonl").write_text("".join(rows), encoding="utf-8")
    done("init", "tune.jsonl", "refs.csv")
    assert 'references = ["refs.csv"]' in (tmp_path / "rerank.toml").read_text(encoding="utf-8")


LISTS = [
    ("7", "so is it", "so it is"),
    ("7", "so it is", "so it is"),
    ("3", "owe no", "oh no"),
    ("3", "oh no", "oh no"),
]


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_a_column_of_references_beside_hypotheses(tmp_path, form):
    if form == "jsonl":
        lines = [json.dumps(dict(zip(("id", "text", "ref"), row, strict=True))) for row in LISTS]
    else:
        lines = [{"csv": ",", "tsv": "\t"}[form].join(row) for row in (("id", "text", "ref"), *LISTS)]
    (tmp_path / "lists").write_text("".join(f"{line}\n" for line in lines))
    assert references(["lists"], ["3", "7"]) == [("oh no",), ("so it is",)]
    scored = done("evaluate", "-r", "lists", "lists", "-m", "wer", *BLEU[2:])
    assert round(json.loads(scored.out)["metrics"][0]["systems"][0]["score"], 2) == 60
    done("tune", "lists", "-r", "lists", "-m", "wer", "-f", "reciprocal-rank", "-t", "mira,passes=2", "-o", "w.toml")
    (tmp_path / "lists").write_text("".join(f"{line}\n" for line in lines).replace("owe no", "oh nay", 1).replace(
        "oh no", "oh yes", 1))  # fmt: skip
    with pytest.raises(FormatError, match=r"lists:[45]: the id '3' occurs twice, with another reference"):
        read_texts("lists", "reference")


def test_outputs_are_not_repeated(tmp_path):
    (tmp_path / "lists").write_text('{"id": 1, "hyp": "a"}\n{"id": 1, "hyp": "a"}\n')
    with pytest.raises(FormatError, match=r"lists:2: the id '1' occurs twice$"):
        read_texts("lists", "output")
