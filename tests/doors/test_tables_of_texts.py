"""Tables with named columns (CSV, TSV) hold sources, references and outputs, matched by their ids."""

import json

import pytest

from rerank_adapters.formats.record_texts import one_sided
from rerank_adapters.formats.references import read_references
from rerank_adapters.formats.sources import Sources
from rerank_adapters.formats.systems import read_outputs
from rerank_plugins import FormatError
from tests.command_line import done, refused

BLEU = ("-m", "bleu", "--as", "json", "--bootstrap", "0", "--randomisation", "0")
ROWS = {
    "7": ("so ist es", "so it is, now", "so is it"),
    "3": ("oh nein", 'the "no"', "oh no"),
    "9": ("ja", "yes", "yes"),
}
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


def texts_of(file):
    return [text for (text,) in file.for_segments(["3", "7", "9"])]


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_a_table_is_read_as_what_it_is_given_as(tmp_path, separator):
    (tmp_path / "table").write_text(table(separator), encoding="utf-8")
    sources, references, outputs = zip(*(ROWS[id_] for id_ in ("3", "7", "9")), strict=True)
    assert tuple(texts_of(read_references(["table"]))) == references
    assert tuple(texts_of(read_outputs("table"))) == outputs
    assert tuple(map(Sources.read("table").of, ("3", "7", "9"))) == sources


def test_json_with_a_source_and_a_reference_is_a_source_by_its_source(tmp_path):
    (tmp_path / "both.jsonl").write_text('{"id": "u", "ref": "so it is", "src": "so ist es"}\n', encoding="utf-8")
    assert Sources.read("both.jsonl").of("u") == "so ist es"
    assert read_references(["both.jsonl"]).for_segments(["u"]) == [("so it is",)]


@pytest.mark.parametrize(
    ("role", "option"),
    [("source", "--reference-form"), ("reference", "--reference-form"), ("output", "--system-form")],
)
def test_the_option_that_is_advised_is_that_of_the_role(role, option):
    assert f"{option} json,id_key=none" in one_sided(["0", "1"], ["a", "b"], role)


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
    assert read_references(["table"]).for_segments(["0", "2"]) == [("so it is, now",), ("yes",)]


def test_columns_can_be_named(tmp_path):
    (tmp_path / "table").write_text("n,english\n5,so it is\n6,oh no\n", encoding="utf-8")
    read = read_references(["table"], "json,key=english,id_key=n")
    assert read.for_segments(["6", "5"]) == [("oh no",), ("so it is",)]


def test_a_table_of_lists_has_no_references(tmp_path):
    (tmp_path / "lists").write_text("id,text,score\n1,so it is,-1\n1,so is it,-2\n", encoding="utf-8")
    (tmp_path / "out").write_text("so it is\n", encoding="utf-8")
    assert "reads as the rows of a table, which has hypotheses" in refused("evaluate", *BLEU, "-r", "lists", "s=out")


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        ("id,reference\n1,so it is\n2,oh,no\n", 3, "found 3 columns, expected 2"),
        ('id,reference\n1,"so\nit is"\n2,oh,no\n', 4, "found 3 columns, expected 2"),
        ("id,text,note\n1,a,c\n1,a,c\n", None, "which has hypotheses but no references"),
    ],
)
def test_wrong_rows(tmp_path, content, line, says):
    (tmp_path / "table").write_text(content, encoding="utf-8")
    with pytest.raises(FormatError, match=says) as error:
        read_references(["table"])
    assert error.value.line == line


@pytest.mark.parametrize("content", ["text, with a comma\nand more, of it\n", "reference\nso it is\n"])
def test_text_is_no_table(tmp_path, content):
    (tmp_path / "text").write_text(content, encoding="utf-8")
    assert len(read_references(["text"])) == 2


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
    assert read_references(["lists"]).for_segments(["3", "7"]) == [("oh no",), ("so it is",)]
    scored = done("evaluate", "-r", "lists", "lists", "-m", "wer", *BLEU[2:])
    assert round(json.loads(scored.out)["metrics"][0]["systems"][0]["score"], 2) == 60
    done("tune", "lists", "-r", "lists", "-m", "wer", "-f", "reciprocal-rank", "-t", "mira,passes=2", "-o", "w.toml")
    (tmp_path / "lists").write_text("".join(f"{line}\n" for line in lines).replace("owe no", "oh nay", 1).replace(
        "oh no", "oh yes", 1))  # fmt: skip
    with pytest.raises(FormatError, match=r"lists:[45]: the id '3' occurs twice, with another reference"):
        read_references(["lists"])


def test_outputs_are_not_repeated(tmp_path):
    (tmp_path / "lists").write_text('{"id": 1, "hyp": "a"}\n{"id": 1, "hyp": "a"}\n')
    with pytest.raises(FormatError, match=r"lists:2: the id '1' occurs twice$"):
        read_outputs("lists")
