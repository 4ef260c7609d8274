"""Ids in JSON: lists and references are matched by them in every format, and by their places only where they have none."""

import json
import re
from pathlib import Path

import pytest

from rerank_adapters import read_nbest
from rerank_adapters.formats.records import FILE_KEYS, ID_KEYS, Ids
from rerank_plugins import ConfigError, FormatError
from tests.command_line import done, refused
from tests.texts_of_files import references

ONE = {  # a list with two hypotheses in each format, without an id
    "hyporadise": lambda a, b: {"hyps": [a, b]},
    "ctranslate2": lambda a, b: {"hypotheses": [a.split(), b.split()], "scores": [-1, -2]},
    "completions": lambda a, b: {"choices": [{"message": {"content": a}}, {"message": {"content": b}}]},
    "sockeye": lambda a, b: {"sentence_id": 1, "translation": a, "translations": [a, b], "scores": [[1], [2]]},
    "transformers": lambda a, b: {"sequences": [a, b], "sequences_scores": [-1, -2]},
    "whisper": lambda a, b: {"hypotheses": [{"text": a, "avg_logprob": -1}, {"text": b, "avg_logprob": -2}]},
    "alternatives": lambda a, b: {"alternatives": [{"transcript": a}, {"transcript": b}]},
}
WER = ("-m", "wer", "--as", "json", "--bootstrap", "0", "--randomisation", "0")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, records):
    Path(name).write_text("".join(json.dumps(record) + "\n" for record in records))


def rate(*arguments):
    (system, *_) = json.loads(done("evaluate", *arguments, *WER).out)["metrics"][0]["systems"]
    return round(system["score"], 2)


@pytest.mark.parametrize("format", ONE)
@pytest.mark.parametrize("key", ["id", "utt_id", "utterance_id", "audio_filepath", "custom_id", "path"])
def test_shuffled_lists_beside_references(format, key):
    ids = ["u-3", "u-1", "u-2"]
    spelt = [f"wav/{id_}.flac" if key in FILE_KEYS else id_ for id_ in ids]
    write("lists", [{key: id_, **ONE[format](f"word {n}", "x")} for n, id_ in enumerate(spelt)])
    write("refs", [{"id": id_, "ref": f"word {ids.index(id_)}"} for id_ in sorted(ids)])
    Path("text").write_text("".join(f"{id_} word {ids.index(id_)}\n" for id_ in sorted(ids)))
    assert [nbest.segment_id for nbest in read_nbest("lists")] == ids
    assert rate("-r", "refs", "--nbest", "lists") == rate("-r", "text", "--nbest", "lists") == 0


@pytest.mark.parametrize("format", ONE)
def test_ids_that_are_numbers_are_numbers_of_lines(format):
    write("lists", [{"id": n, **ONE[format](f"word {n}", "x")} for n in (2, 0, 1)])
    Path("ref").write_text("word 0\nword 1\nword 2\n")
    write("refs", [{"id": n, "text": f"word {n}"} for n in (1, 2, 0)])
    assert rate("-r", "ref", "--nbest", "lists") == rate("-r", "refs", "--nbest", "lists") == 0


@pytest.mark.parametrize("key", [*ID_KEYS, *FILE_KEYS])
def test_each_usual_key(key):
    assert Ids().known({"x": 1, key: "a/b.wav" if key in FILE_KEYS else "b"}) == "b"


def test_what_is_no_id():
    for record in (
        {"id": None},
        {"id": ""},
        {"id": {"a": 1}},
        {"id": True},
        {"segment": {"start": 1}},
        {"sentence_id": 1},
        [],
    ):
        assert Ids().known(record) == ""
    assert Ids().known({"audio": {"path": "wav/u.flac", "array": []}}) == "u"
    assert Ids().known({"segment": {"start": 1}, "id": 7, "path": "a.wav"}) == "7"
    assert Ids().known({"segment": 3, "id": 7.0}) == "7"
    assert Ids().known({"id": 7.5, "audio": "UklGRg/" * 1000}) == ""


@pytest.mark.parametrize("format", ONE)
def test_the_option_names_a_key_or_numbers_the_lists(format):
    write("lists", [{"id": "a", "uid": f"v{n}", **ONE[format]("x", "y")} for n in (1, 0)])
    ids = {key: [n.segment_id for n in read_nbest("lists", format=f"{format},id_key={key}")] for key in ("uid", "none")}
    assert ids == {"uid": ["v1", "v0"], "none": ["0", "1"]}
    with pytest.raises(FormatError, match=r"lists:1: no id under 'key', which id_key names \(keys found: id, uid"):
        read_nbest("lists", format=f"{format},id_key=key")


@pytest.mark.parametrize("format", ONE)
def test_an_id_that_comes_twice(format):
    write("lists", [{"id": "a", **ONE[format]("x", "y")}, {"id": "b", **ONE[format]("x", "y")}] * 2)
    with pytest.raises(FormatError, match=r"lists:3: the id 'a' occurs twice, first on line 1; .* id_key=none"):
        read_nbest("lists")
    write("refs", [{"id": "a", "ref": "x"}, {"id": "a", "ref": "y"}])
    with pytest.raises(FormatError, match=r"refs:2: the id 'a' occurs twice"):
        references(["refs"], ["a"])


def test_a_surplus_reference_shifts_nothing():
    write("lists", [{"id": id_, "hyps": [f"word {id_}", "x"]} for id_ in "cab"])
    write("refs", [{"id": "z", "ref": "surplus"}, *({"id": id_, "ref": f"word {id_}"} for id_ in "abc")])
    assert rate("-r", "refs", "--nbest", "lists", "--unpaired", "leave-out") == 0
    assert rate("-r", "refs", "--nbest", "lists") == round(100 / 7, 2)  # the surplus word is lost


def test_ids_on_one_side_only_are_an_error_that_names_the_option():
    write("named", [{"id": id_, "hyps": [f"word {id_}", "x"]} for id_ in ("u-b", "u-a")])
    write("numbered", [{"hyps": [f"word {id_}", "x"]} for id_ in ("u-b", "u-a")])
    write("refs", [{"id": id_, "ref": f"word {id_}"} for id_ in ("u-b", "u-a")])
    write("texts", [{"ref": f"word {id_}"} for id_ in ("u-b", "u-a")])
    Path("lines").write_text("word u-b\nword u-a\n")
    for of_lists, given, said in (
        ("named", "lines", "lists in JSON are numbered from 0 by the option id_key=none of their format"),
        (
            "named",
            "texts",
            "the segments have ids, such as 'u-b', and the file has none; .* by the option id_key=none of their format",
        ),
        (
            "numbered",
            "refs",
            "the file has ids, such as 'u-b', .* --reference-form json,id_key=none matches them by position",
        ),
    ):
        assert re.search(said, refused("evaluate", "--nbest", of_lists, "-r", given, *WER))
        assert re.search(said, refused("tune", of_lists, "-r", given, "-f", "reciprocal-rank", "-o", "w.toml"))
    numbers = ("--format", "hyporadise,id_key=none")
    assert rate("-r", "lines", "--nbest", "named", *numbers) == rate("-r", "texts", "--nbest", "named", *numbers) == 0
    assert rate("-r", "refs", "--nbest", "numbered", "--reference-form", "json,id_key=none") == 0


def test_the_keys_of_references_can_be_named():
    write("refs", [{"uid": "b", "id": 1, "spoken": "so it is", "text": "So it is."}])
    assert references(["refs"], ["b"], "json,key=spoken,id_key=uid") == [("so it is",)]
    with pytest.raises(
        FormatError, match=r"refs:1: no text under 'other', which key names \(keys found: uid, id, spoken"
    ):
        references(["refs"], ["1"], "json,key=other")
    for wrong in ("jsn", "json,other=x", "lines,key=ref", "json,key="):
        with pytest.raises(ConfigError, match="wanted"):
            references(["refs"], ["1"], wrong)


def test_references_that_are_an_array():
    records = [{"input": ["a", "b"], "output": "so it is"}, {"input": ["c"], "output": "oh no"}]
    for text in (json.dumps(records), json.dumps(records, indent=1), "\n" + json.dumps(records)):
        Path("refs").write_text(text)
        assert references(["refs"], ["1", "0"]) == [("oh no",), ("so it is",)]


def test_parts_of_a_record():
    write("batch", [{"id": "u", "sequences": ["a", "b", "c", "d"]}])
    assert [n.segment_id for n in read_nbest("batch", format="transformers,n=2")] == ["u-1", "u-2"]
    write("results", [[{"id": "v", "hypotheses": ["a"]}, {"hypotheses": ["b"]}]])
    assert [n.segment_id for n in read_nbest("results", format="ctranslate2")] == ["v", "1"]


def test_init_names_the_option_where_texts_have_no_ids():
    write("tune.jsonl", [{"id": f"u-{n}", "hyps": [f"word {n}", "x"]} for n in range(3)])
    Path("tune.ref").write_text("word 0\nword 1\nword 2\n")
    said = refused("init", "tune.jsonl", "tune.ref")
    assert "a segment with an id, such as u-0, needs a line with it, unless --format NAME,id_key=none numbers" in said


def test_sources_without_ids_beside_lists_with_ids():
    write("lists", [{"id": f"u-{n}", **ONE["sockeye"](f"word {n}", "x")} for n in range(3)])
    Path("source").write_text("wort 0\nwort 1\nwort 2\n")
    extract = ("extract", "lists", "--source", "source", "-f", "length", "-o", "t.npz")
    assert "id_key=none" in refused(*extract)
    done(*extract, "--format", "sockeye,id_key=none")
