"""References, sources and outputs in NIST's SGML and in WMT's XML are read as those of plain lines."""

import json

import pytest

from rerank_adapters.texts.reading import read_texts
from rerank_adapters.texts.sources import Sources
from rerank_plugins import FormatError
from tests.command_line import done, refused
from tests.texts_of_files import ids_of, references

BLEU = ("-m", "bleu", "--as", "json", "--bootstrap", "0", "--randomisation", "0")
DOCUMENTS = {
    "a": [("so ist es", "so it is & was", "so is it"), ("aber nein", "but no", "oh no")],
    "b": [("es regnet heute", "it rains today", "it rains now")],
}
SOURCES, REFERENCES, OUTPUTS = (
    list(texts) for texts in zip(*(row for rows in DOCUMENTS.values() for row in rows), strict=True)
)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def segments(texts):
    escaped = (text.replace("&", "&amp;") for text in texts)
    return "".join(f'<seg id="{number}">{text}</seg>\n' for number, text in enumerate(escaped, 1))


def sgml(name, role, documents=DOCUMENTS, writer="x"):
    docs = (
        f'<DOC docid="{id_}" sysid="{writer}">\n<p>\n{segments(row[role] for row in rows)}</p>\n</DOC>\n'
        for id_, rows in documents.items()
    )
    return f'<{name} setid="t" srclang="de" trglang="en">\n{"".join(docs)}</{name}>\n'


def xml(systems=("X",), translators=("A",)):
    parts = ['<?xml version="1.0" encoding="UTF-8"?>\n<dataset id="t">\n']
    for id_, rows in DOCUMENTS.items():
        parts.append(
            f'<doc id="{id_}" origlang="de">\n<src lang="de">\n<p>\n{segments(row[0] for row in rows)}</p></src>\n'
        )
        for translator in translators:
            end = "" if translator == "A" else f" {translator}"
            parts.append(
                f'<ref lang="en" translator="{translator}"><p>{segments(row[1] + end for row in rows)}</p></ref>\n'
            )
        parts += [f'<hyp lang="en" system="{s}"><p>{segments(row[2] for row in rows)}</p></hyp>\n' for s in systems]
        parts.append("</doc>\n")
    return "".join(parts) + "</dataset>\n"


FILES = {
    "src.sgm": sgml("srcset", 0), "ref.sgm": sgml("refset", 1), "out.sgm": sgml("tstset", 2),
    "src.txt": "\n".join(SOURCES) + "\n", "ref.txt": "\n".join(REFERENCES) + "\n", "out.txt": "\n".join(OUTPUTS) + "\n",
    "all.xml": xml(),
}  # fmt: skip


@pytest.fixture
def files(_in_a_folder, tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")


def scores(*arguments):
    return json.loads(done("evaluate", *BLEU, *arguments).out)["metrics"][0]["systems"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("reference", ["ref.sgm", "all.xml", "ref.txt"])
@pytest.mark.parametrize("output", ["out.sgm", "all.xml", "out.txt"])
def test_scores_are_those_of_plain_lines(reference, output):
    assert scores("-r", reference, f"s={output}") == scores("-r", "ref.txt", "s=out.txt")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("source", ["src.sgm", "all.xml"])
@pytest.mark.parametrize("form", ["auto", "lines-from-1"])
def test_sources(source, form):
    first = int(form == "lines-from-1")
    assert [Sources(source, form).of(str(first + line)) for line in range(3)] == SOURCES


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("form", ["auto", "lines", "sgm"])
def test_segments_have_the_numbers_of_lines(form):
    assert ids_of("ref.sgm", form) == ["0", "1", "2"]
    assert references(["ref.sgm"], ["2", "0"], form) == [("it rains today",), ("so it is & was",)]


@pytest.mark.usefixtures("files")
def test_translators_are_several_references(tmp_path):
    (tmp_path / "two.xml").write_text(xml(translators="AB"), encoding="utf-8")
    assert references(["two.xml", "ref.txt"], ["1"]) == [("but no", "but no B", "but no")]
    (tmp_path / "two.sgm").write_text(
        FILES["ref.sgm"].replace("</refset>\n", "") + sgml("refset", 1, writer="y").split("\n", 1)[1], encoding="utf-8"
    )
    assert references(["two.sgm"], ["1"]) == [("but no", "but no")]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        (sgml("tstset", 1), None, "the file has outputs, expected references"),
        (FILES["ref.sgm"].replace("</seg>\n", "\n", 1), 4, "the segment is opened twice"),
        (FILES["ref.sgm"].replace("</seg>\n", "</seg></seg>\n", 1), 4, "the segment is not opened"),
        (FILES["ref.sgm"].replace(' id="1"', ""), 4, "the segment has no id"),
        (FILES["ref.sgm"].replace('id="2"', 'id="1"'), 5, "segment 1 of document 'a' occurs twice"),
        ('<doc docid="a"><seg id="1">so it is</seg></doc>', 1, "in no set of sources, references or outputs"),
        (xml(translators="AB").replace('<seg id="2">but no B</seg>\n', ""), None, "'B' has no text for segment 2 of"),
        ("<refset>\n<doc docid='a'>\n</doc></refset>", None, "the file has no segments, expected references"),
    ],
)
def test_what_is_no_set_of_references(tmp_path, content, line, says):
    (tmp_path / "wrong.sgm").write_text(content, encoding="utf-8")
    with pytest.raises(FormatError, match=says) as error:
        read_texts("wrong.sgm", "reference")
    assert error.value.line == line


@pytest.mark.usefixtures("files")
def test_segments_are_matched_by_their_documents(tmp_path):
    reversed_documents = sgml("tstset", 2, dict(reversed(DOCUMENTS.items())))
    (tmp_path / "other.sgm").write_text(reversed_documents, encoding="utf-8")
    assert scores("-r", "ref.sgm", "s=other.sgm") == scores("-r", "ref.sgm", "s=out.sgm")
    (tmp_path / "two.sgm").write_text(sgml("refset", 1, dict(reversed(DOCUMENTS.items()))), encoding="utf-8")
    assert scores("-r", "ref.sgm", "-r", "two.sgm", "s=out.sgm") == scores(
        "-r", "ref.sgm", "-r", "ref.sgm", "s=out.sgm"
    )


@pytest.mark.usefixtures("files")
def test_files_with_other_segments_are_refused(tmp_path):
    (tmp_path / "other.sgm").write_text(sgml("tstset", 2).replace('docid="b"', 'docid="c"'), encoding="utf-8")
    message = refused("evaluate", *BLEU, "-r", "ref.sgm", "s=other.sgm")
    assert message.startswith("other.sgm: no reference for segment 1 of document 'c'")
    (tmp_path / "short.sgm").write_text(sgml("refset", 1, {"a": DOCUMENTS["a"]}), encoding="utf-8")
    with pytest.raises(FormatError, match=r"short\.sgm: has 2 lines but ref.sgm has 3; they must match"):
        references(["ref.sgm", "short.sgm"], ["0"])


@pytest.mark.usefixtures("files")
def test_outputs_of_several_systems_are_not_those_of_one(tmp_path):
    (tmp_path / "two.xml").write_text(xml(systems="XY"), encoding="utf-8")
    with pytest.raises(FormatError, match=r"those of 2 systems \(X, Y\), expected one"):
        read_texts("two.xml", "output")


def test_text_with_angle_brackets_is_text(tmp_path):
    lines = ["<doc> is a tag", "5 < 6", "so it is"]
    (tmp_path / "text").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert [text for (text,) in references(["text"], ["0", "1", "2"])] == lines


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("reference", ["ref.sgm", "all.xml"])
def test_init_reads_them(tmp_path, reference):
    lists = (
        f"{n} ||| {text} ||| F= {rank} ||| -{rank}\n"
        for n, out in enumerate(OUTPUTS)
        for rank, text in ((1, out), (2, "x"))
    )
    (tmp_path / "tune.nbest").write_text("".join(lists), encoding="utf-8")
    done("init", "tune.nbest", reference, "src.sgm", "--language", "fi")  # of which no models are measured
    drafted = (tmp_path / "rerank.toml").read_text(encoding="utf-8")
    assert f'references = ["{reference}"]' in drafted
    assert 'source = "src.sgm"' in drafted
