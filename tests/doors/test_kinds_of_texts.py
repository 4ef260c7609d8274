"""Texts are paired by what they are, kind by kind: never a file with itself, a place for a name, or a dump as lines."""

import json
from pathlib import Path

import pytest

from rerank_adapters.texts.pairing import pair
from rerank_adapters.texts.reading import read_texts
from rerank_plugins import FormatError
from tests.command_line import done, refused

WER = ("-m", "wer", "--as", "json", "--bootstrap", "0", "--randomisation", "0")
SAID = {"u1": ("he saw it", "he saw that"), "u2": ("yes", "yes"), "u3": ("go on then", "go then")}
RATE = round(100 * 2 / 7, 2)  # a substitution and a deletion in seven words


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def rate(*arguments):
    (system, *_) = json.loads(done("evaluate", *arguments, *WER).out)["metrics"][0]["systems"]
    return round(system["score"], 2)


def paired(references, system, form="auto"):
    """The references and the outputs of two files."""
    found = pair([read_texts(references, "reference")], {"s": read_texts(system, "output", form)})
    return found.references, found.outputs["s"]


def records(name, compose, ids=("u1", "u2", "u3")):
    Path(name).write_text("".join(json.dumps(compose(id_, *SAID[id_])) + "\n" for id_ in ids))


def table(name, header, *columns):
    Path(name).write_text("\n".join([header, *map(",".join, zip(*columns, strict=True))]) + "\n")


IDS, RIGHT, MADE = list(SAID), [right for right, _ in SAID.values()], [made for _, made in SAID.values()]


# --- a file is never scored against itself


@pytest.mark.parametrize("key", ["pred_text", "pred_text_conformer_large", "Pred_Text", "Hypothesis", "pred text"])
def test_an_output_by_the_name_of_a_model_or_in_capitals(key):
    records("file", lambda id_, right, made: {"audio_filepath": f"/d/{id_}.wav", "text": right, key: made})
    assert rate("-r", "file", "file") == RATE


@pytest.mark.parametrize(
    "header",
    [
        "ID,Reference,Hypothesis",
        "utt_id,ref_text,pred",
        "Id,Ground Truth,Hyp",
        "id, reference, hyp",
    ],
)
def test_names_of_columns_in_any_spelling(header):
    table("file.csv", header, IDS, RIGHT, MADE)
    assert rate("-r", "file.csv", "file.csv") == RATE


@pytest.mark.parametrize("first", [0, 1])
def test_a_column_without_a_name_that_counts_the_rows(first):
    table("file.csv", ",reference,hypothesis", [str(n + first) for n in range(3)], RIGHT, MADE)
    assert rate("-r", "file.csv", "file.csv") == RATE


def test_two_models_are_two_systems_of_which_one_is_named():
    records("file", lambda _, right, made: {"text": right, "pred_text": right, "pred_text_small": made})
    said = refused("evaluate", "-r", "file", *WER, "file")
    assert "'pred_text' and 'pred_text_small' hold different texts" in said
    assert rate("-r", "file", "--system-form", "json,key=pred_text_small", "file") == RATE


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_a_key_that_is_read_in_both_roles_is_an_error(ending):
    names = ("id", "text", "whisper_small")
    rows = [dict(zip(names, row, strict=True)) for row in zip(IDS, RIGHT, MADE, strict=True)]
    mark = {"csv": ",", "tsv": "\t"}.get(ending, "")
    lines = [mark.join(names), *(mark.join(row.values()) for row in rows)] if mark else map(json.dumps, rows)
    Path("file").write_text("\n".join(lines) + "\n")
    said = refused("evaluate", "-r", "file", *WER, "file")
    assert said.startswith("file: is read by 'text' both as references and as a system; --system-form json,key=KEY")
    assert rate("-r", "file", "--system-form", "json,key=whisper_small", "file") == RATE


@pytest.mark.parametrize(
    ("name", "text"), [("text", "so it is\n"), ("ref.trn", "so it is (u-1)\n"), ("ref.stm", "a 1 jane 0 1 so it is\n")]
)
def test_the_same_file_in_one_form_is_an_error_by_any_path(name, text):
    Path(name).write_text(text)
    Path("link" + Path(name).suffix).symlink_to(name)
    for system in (name, f"./{name}", Path(name).absolute(), "link" + Path(name).suffix):
        said = refused("evaluate", "-r", name, *WER, system)
        assert "is read in the same way both as references and as a system" in said
    Path("copy" + Path(name).suffix).write_text(text)
    assert rate("-r", name, "copy" + Path(name).suffix) == 0


def test_lists_that_are_their_own_references_are_an_error():
    table("file.csv", "id,text,score", IDS, MADE, ["1", "2", "3"])
    said = "file.csv: has the same texts as references and as lists; expected two files, or a key of references"
    assert refused("evaluate", "-r", "file.csv", *WER, "--nbest", "file.csv") == said
    assert refused("tune", "file.csv", "-r", "file.csv", "-m", "wer", "-f", "length", "-o", "w.toml") == said
    table("file.csv", "id,text,ref", IDS, RIGHT, RIGHT)
    assert rate("-r", "file.csv", "--nbest", "file.csv") == 0


# --- keys that are not unique


MEETING = "m 1 anna 0.0 2.5 good morning\nm 1 bert 0.0 {} hi there\nm 1 anna 3 5 shall we\n"


@pytest.mark.parametrize("end", ["1.2", "2.5"], ids=["other ends", "other speakers"])
def test_segments_that_start_together(end):
    Path("ref.stm").write_text(MEETING.format(end))
    lines = MEETING.format(end).splitlines(keepends=True)
    Path("hyp.stm").write_text("".join(reversed(lines)))
    assert paired("ref.stm", "hyp.stm")[1] == ["good morning", "hi there", "shall we"]


def test_segments_that_nothing_tells_apart():
    Path("ref.stm").write_text("m 1 anna 0 1 so it is\nm 1 anna 0 1 oh no\n")
    Path("hyp.stm").write_text("m 1 anna 0 1 so it is\n")
    with pytest.raises(FormatError, match=r"ref.stm:2: .* has the file, channel, speaker and times of line 1"):
        paired("ref.stm", "hyp.stm")


def test_a_segment_that_is_lost_is_counted_and_what_does_not_count_is_left_out():
    text = "m 1 anna 0 1 so\nm 1 anna 1 2 IGNORE_TIME_SEGMENT_IN_SCORING\nm 1 anna 2 3 oh no\n"
    Path("ref.stm").write_text(text)
    Path("hyp.stm").write_text("m 1 anna 1 2 what\nm 1 anna 2 3 oh no\n")
    assert paired("ref.stm", "hyp.stm")[1] == ["", "oh no"]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.trn", ";; x\nso (u1)\nno (u1)\n", 3),
        ("a.text", "u-1 so\n\nu-1 no\n", 3),
        ("a.csv", "id,reference\n7,so\n8,yes\n7,no\n", 4),
    ],
)
def test_an_id_that_comes_again(name, text, line):
    Path(name).write_text(text)
    with pytest.raises(FormatError, match="occurs twice") as error:
        read_texts(name, "reference", "kaldi" if name == "a.text" else "auto")
    assert error.value.line == line


# --- ordinary absence is no fault


@pytest.mark.parametrize("role", ["reference", "output"])
def test_comments_and_empty_lines_of_trn(role):
    Path("a.trn").write_text(";; made by hand\n\nso it is (u-1)\n  ;; more (u-9)\n(u-2)\n")
    assert read_texts("a.trn", role).by_id == {"u-1": ("so it is",), "u-2": ("",)}


def test_silence():
    Path("ref").write_text("u-1 so\nu-2\n")
    Path("sys").write_text('{"id": "u-1", "hyp": "so"}\n{"id": "u-2", "hyp": ""}\n')
    assert paired("ref", "sys") == ([("so",), ("",)], ["so", ""])


@pytest.mark.parametrize("given", [["a b", None], ["a b", ""], ["a b"]])
def test_a_second_reference_that_some_segments_lack(given):
    records("refs", lambda id_, right, made: {"id": id_, "ref": [right, made] if id_ == "u1" else ["a b"]})
    assert read_texts("refs", "reference").by_id["u1"] == SAID["u1"]
    Path("refs").write_text(json.dumps({"id": "u", "references": given}) + "\n")
    wanted = ("a b", "") if given == ["a b", ""] else ("a b",)
    assert read_texts("refs", "reference").by_id == {"u": wanted}


# --- shapes of other programs


@pytest.mark.parametrize("key", ["ref", "refs", "reference", "references", "targets"])
def test_several_references_in_a_record(key):
    records("refs", lambda id_, right, made: {"id": id_, key: [right, made]})
    records("sys", lambda id_, _, made: {"id": id_, "hyp": made})
    assert rate("-r", "refs", "sys") == 0


@pytest.mark.parametrize("header", ["id,ref,ref2", "id,ref1,ref2", "id,reference_0,reference_1"])
def test_a_column_for_each_reference(header):
    table("refs.csv", header, IDS, RIGHT, [*MADE[:2], ""])
    assert read_texts("refs.csv", "reference").by_id == {**SAID, "u2": ("yes", "yes"), "u3": ("go on then",)}


@pytest.mark.parametrize("key", ["segments", "transcription"])
@pytest.mark.parametrize("indent", [None, 1])
def test_the_parts_of_a_recording_are_one_text(key, indent):
    parts = [{"start": 0.1, "text": " so it"}, {"start": 2, "text": " is ."}]
    Path("sys.json").write_text(json.dumps({key: parts, "language": "en"}, indent=indent))
    assert read_texts("sys.json", "output").by_id == {"0": ("so it is .",)}


# --- what other programs write is not read as lines of text


DUMPS = {
    "subrip": "1\n00:00:00,000 --> 00:00:02,000\nso it is\n\n2\n00:00:02,000 --> 00:00:03,500\noh no\n",
    "webvtt": "WEBVTT\n\n00:00.000 --> 00:02.000\nso it is\n",
    "whisper on a terminal": "[00:00.000 --> 00:02.000]  so it is\n[00:02.000 --> 00:03.000]  oh no\n",
    "ctm": "call 1 0.00 0.40 so 0.9\ncall 1 0.40 0.20 it 0.8\n",
    "labels": "0.000\t1.500\tso it is\n1.500\t2.000\toh no\n",
    "praat": 'File type = "ooTextFile"\nObject class = "TextGrid"\n',
    "xml": '<?xml version="1.0"?>\n<tt xmlns="http://www.w3.org/ns/ttml">\n',
    "table": "utt,gold_std,sys_a\nu1,so it is,so\nu2,oh no,no\n",
    "table of tabs": "utt\tgold_std\tsys_a\nu1\tso it is\tso\nu2\toh no\tno\n",
    "json": '{"utt": "u1"}\n{"utt": "u2"}\n',
    "array": '["so it is", "oh no"]\n',
}


@pytest.mark.parametrize("role", ["reference", "output", "source"])
@pytest.mark.parametrize("name", DUMPS)
def test_dumps_are_refused(name, role):
    Path("file").write_text(DUMPS[name])
    with pytest.raises(
        FormatError, match=r"expected text but found|the file has no segments, expected|no (ref|out|sou)"
    ):
        read_texts("file", role)


@pytest.mark.parametrize(
    "text",
    [
        "Hello, you\nand you, too\n",
        "yes,no\n",
        "1 2 3\nso it is 4\n",
        "ein Wort;zwei\nSatz\n",
        "[laughter] so\n",
        "a\tb\n",
    ],
)
def test_text_is_text(text):
    Path("file").write_text(text)
    assert [one for (one,) in read_texts("file", "reference").by_id.values()] == text.splitlines()


def test_what_looks_like_a_table_is_text_if_the_user_says_so():
    Path("file").write_text("one,two\nthree,four\n")
    with pytest.raises(FormatError, match=r"found a table, with the columns one,two; .*--reference-form lines"):
        read_texts("file", "reference")
    assert read_texts("file", "reference", "lines").by_id == {"0": ("one,two",), "1": ("three,four",)}


def test_a_transcript_with_times_is_an_stm_by_its_lines():
    Path("ref").write_text("call 1 jane 0 2 so { it is / it's }\ncall 1 john 2 4 oh no\n")
    Path("sys").write_text("john-000 oh no\njane-000 so it's\n")
    assert rate("-r", "ref", "sys") == 0


# --- ids under keys that are not known


@pytest.mark.parametrize("key", ["idx", "index", "doc_id", "sentence_id", "name", "line", "segid", "number"])
def test_records_whose_key_may_be_an_id(key):
    records("refs", lambda id_, right, _: {key: 10 + IDS.index(id_), "ref": right})
    records("sys", lambda id_, right, _: {key: 10 + IDS.index(id_), "prediction": right}, reversed(IDS))
    said = refused("evaluate", "-r", "refs", *WER, "sys")
    assert f"{key!r} has another value in each record" in said
    assert f"id_key={key} reads them" in said
    named = ("--reference-form", f"json,id_key={key}", "--system-form", f"json,id_key={key}")
    assert rate("-r", "refs", "sys", *named) == 0


def test_a_line_that_is_lost_shifts_nothing():
    """Sockeye's sentences are counted from 1; without one of them they are not counted any more."""
    Path("refs").write_text("".join(f"{right}\n" for right in RIGHT))
    lines = [{"sentence_id": n, "translation": right} for n, right in enumerate(RIGHT, 1)]
    Path("sys").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert rate("-r", "refs", "sys") == 0
    Path("sys").write_text("".join(json.dumps(line) + "\n" for line in lines[1:]))
    assert "sentence_id" in refused("evaluate", "-r", "refs", *WER, "sys")


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_numbers_of_a_table_are_no_ids(form):
    rows = [
        {"reference": right, "length": str(n), "score": str(-n / 8)} for n, right in zip((3, 5, 4), RIGHT, strict=True)
    ]
    if form == "csv":
        table("refs", "reference,score", RIGHT, [row["score"] for row in rows])
    else:
        Path("refs").write_text(
            "".join(json.dumps({**row, "score": -1.5 * n, "length": 3}) + "\n" for n, row in enumerate(rows))
        )
    assert list(read_texts("refs", "reference").by_id) == ["0", "1", "2"]


def test_an_index_column_in_another_order_is_an_error():
    table("refs.csv", ",reference", ["12", "5", "7"], RIGHT)
    with pytest.raises(FormatError, match=r"'unnamed:_0' .*: id_key=unnamed:_0 reads them, id_key=none counts"):
        read_texts("refs.csv", "reference")
    read = read_texts("refs.csv", "reference", "json,key=reference,id_key=Unnamed: 0")
    assert list(read.by_id) == ["12", "5", "7"]


def test_records_of_which_one_has_no_id():
    Path("refs").write_text('{"id": "a", "ref": "x"}\n{"ref": "y"}\n')
    with pytest.raises(FormatError, match=r"refs:2: the record has no id, unlike those before it"):
        read_texts("refs", "reference")


# --- a place never stands for a name


def test_lines_stand_for_names_only_if_the_user_says_so():
    Path("ref.trn").write_text("".join(f"{right} ({id_})\n" for id_, right in zip(IDS, RIGHT, strict=True)))
    Path("sys").write_text("".join(f"{made}\n" for made in MADE))
    said = refused("evaluate", "-r", "ref.trn", *WER, "sys")
    assert said.startswith("sys: the segments have ids, such as 'u1', and the file has none; ")
    assert rate("-r", "ref.trn", "--system-form", "lines", "sys") == RATE
    Path("sys").write_text("".join(f"{made}\n" for made in MADE[:2]))
    said = refused("evaluate", "-r", "ref.trn", *WER, "--system-form", "lines", "sys")
    assert said == "sys: has 2 lines but ref.trn has 3; they must match"
