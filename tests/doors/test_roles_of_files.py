"""A file is read as what it is given as: a system by its outputs, references by their transcripts."""

import json
from pathlib import Path

import pytest

from rerank_adapters.texts.reading import read_texts
from rerank_plugins import FormatError
from tests.command_line import done, refused
from tests.texts_of_files import references

WER = ("-m", "wer", "--as", "json", "--bootstrap", "0", "--randomisation", "0")
SAID = {"u-1": ("so it is", "so is it"), "u-2": ("oh no", "oh no")}  # transcript and first hypothesis
RATE = 40.0  # two substitutions in five words


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def records(compose):
    return "".join(json.dumps(compose(id_, *SAID[id_])) + "\n" for id_ in reversed(SAID))


BOTH = {  # files that hold both, in the reverse order of their ids
    "icefall": "".join(f"{id_}:\tref={ref.split()}\n{id_}:\thyp={hyp.split()}\n" for id_, (ref, hyp) in SAID.items()),
    "nemo": records(lambda id_, ref, hyp: {"audio_filepath": f"wav/{id_}.wav", "text": ref, "pred_text": hyp}),
    "hyporadise": records(lambda id_, ref, hyp: {"id": id_, "hyps": [hyp, ref], "ref": ref}),
    "published": json.dumps([{"id": i, "input": [h, r], "output": r} for i, (r, h) in SAID.items()], indent=2),
    "ref and hyp": records(lambda id_, ref, hyp: {"utt_id": id_, "ref": ref, "hyp": hyp}),
    "ref and text": records(lambda id_, ref, hyp: {"key": id_, "ref": ref, "text": hyp}),
    "fairseq": "".join(f"S-{i}\tx\nT-{i}\t{r}\nH-{i}\t-0.5\t{h}\nH-{i}\t-0.7\t{r}\n" for i, (r, h) in SAID.items()),
    "target": records(lambda id_, ref, hyp: {"key": id_, "target": ref, "generated_text": hyp}),
}
OUTPUTS = {  # files with hypotheses alone
    "trn": "".join(f"{hyp} ({id_})\n" for id_, (_, hyp) in SAID.items()),
    "text": records(lambda id_, ref, hyp: {"id": id_, "text": hyp}),
    "instructions": records(lambda id_, ref, hyp: {"id": id_, "input": "Correct this.", "output": hyp}),
    "sockeye": records(lambda id_, ref, hyp: {"id": id_, "translation": hyp, "translations": [hyp, ref]}),
    "ctranslate2": records(lambda id_, ref, hyp: {"id": id_, "hypotheses": [hyp.split(), ref.split()]}),
    "completions": records(lambda id_, ref, hyp: {"custom_id": id_, "choices": [{"text": hyp}, {"text": ref}]}),
    "transformers": records(lambda id_, ref, hyp: {"id": id_, "sequences": [hyp, ref]}),
    "whisper": records(lambda id_, ref, hyp: {"id": id_, "text": f" {hyp}", "segments": [{"avg_logprob": -1}]}),
    "alternatives": records(lambda id_, ref, hyp: {"id": id_, "alternatives": [{"transcript": hyp}]}),
    "moses": "".join(f"{i} ||| {h} ||| LM= -1 ||| -1\n{i} ||| {r} ||| LM= -2 ||| -2\n" for i, (r, h) in SAID.items()),
    "wenet": "".join(f"wav {i}\ncandidate -1 {h}\ncandidate -2 {r}\n" for i, (r, h) in SAID.items()),
}  # fmt: skip


def rate(*arguments):
    (system, *_) = json.loads(done("evaluate", *arguments, *WER).out)["metrics"][0]["systems"]
    return round(system["score"], 2)


@pytest.mark.parametrize("name", [*BOTH, *OUTPUTS])
def test_a_system_is_read_by_its_outputs(name):
    Path("trn").write_text("".join(f"{ref} ({id_})\n" for id_, (ref, _) in SAID.items()))
    Path("file").write_text({**BOTH, **OUTPUTS}[name])
    assert rate("-r", "trn", "--reference-form", "trn", "sys=file") == RATE


@pytest.mark.parametrize("name", BOTH)
def test_a_file_with_both_is_scored_against_itself(name):
    Path("file").write_text(BOTH[name])
    assert rate("-r", "file", "sys=file") == RATE
    assert references(["file"], ["u-2", "u-1"]) == [("oh no",), ("so it is",)]


def test_a_system_on_stdin():
    Path("ref").write_text(BOTH["nemo"])
    ran = done("evaluate", "-r", "ref", *WER, "sys=-", stdin=BOTH["nemo"])
    assert round(json.loads(ran.out)["metrics"][0]["systems"][0]["score"], 2) == RATE


def test_systems_beside_lists():
    Path("lists").write_text(BOTH["hyporadise"])
    Path("sys").write_text(BOTH["nemo"])
    assert rate("-r", "lists", "--nbest", "lists", "sys=sys") == RATE


def test_outputs_without_ids_are_in_the_order_of_the_segments():
    Path("ref").write_text("so it is\noh no\n")
    Path("trn").write_text("so it is (u-1)\noh no (u-2)\n")
    Path("moses").write_text(OUTPUTS["moses"].replace("u-1", "0").replace("u-2", "1"))
    Path("json").write_text("".join(json.dumps({"hyp": hyp}) + "\n" for _, hyp in SAID.values()))
    Path("text").write_text("".join(f"{hyp}\n" for _, hyp in SAID.values()))
    by_trn = ("-r", "trn", "--reference-form", "trn")
    for name in ("moses", "json", "text"):
        assert rate("-r", "ref", f"sys={name}") == RATE
        said = refused("evaluate", *by_trn, *WER, f"sys={name}")
        assert said.startswith(f"{name}: the segments have ids, such as 'u-1', and the file has none; ")
    for name, form in (("json", "json,id_key=none"), ("text", "lines")):
        assert f"--system-form {form} matches them by position" in refused("evaluate", *by_trn, *WER, f"sys={name}")
        assert rate(*by_trn, f"sys={name}", "--system-form", form) == RATE


def test_outputs_with_ids_beside_references_without():
    Path("ref").write_text("oh no\nso it is\n")
    Path("sys").write_text(BOTH["nemo"])
    said = refused("evaluate", "-r", "ref", *WER, "sys")
    assert said.startswith("sys: the file has ids, such as 'u-2', and the segments have numbers; ")
    assert "--system-form json,id_key=none" in said
    assert rate("-r", "ref", "--system-form", "json,id_key=none", "sys") == RATE


def test_which_of_several_keys_is_asked_only_where_it_cannot_be_known():
    Path("sys").write_text(records(lambda id_, ref, hyp: {"id": id_, "text": ref, "transcript": hyp}))
    Path("ref").write_text(BOTH["nemo"])
    said = refused("evaluate", "-r", "ref", *WER, "sys")
    assert said == (
        "sys:2: 'text' and 'transcript' hold different texts; name the one that holds the output: "
        "--system-form json,key=text"
    )
    assert rate("-r", "ref", "--system-form", "json,key=transcript", "sys") == RATE
    assert rate("-r", "ref", "--system-form", "json,key=text", "sys") == 0
    Path("sys").write_text(records(lambda id_, ref, hyp: {"id": id_, "text": hyp, "transcript": hyp}))
    assert rate("-r", "ref", "sys") == RATE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": "u-1", "ref": "x"}\n', r"sys:1: no output: expected one of hyp, .* \(keys found: id, ref\)"),
        ("u-1:\tref=['x']\n", r"sys: the file has no outputs: expected utterance:<TAB>hyp="),
        ('{"id": "u-1", "hyps": ["x"]}\n{"id": "u-1", "hyps": ["y"]}\n', r"sys:2: the id 'u-1' occurs twice"),
        (
            "0 ||| a ||| F= 1\n1 ||| b ||| F= 1\n0 ||| c ||| F= 1\n",
            r"sys:3: segment 0 appears twice; merge the lists first",
        ),
    ],
)
def test_systems_without_outputs(text, said):
    Path("sys").write_text(text)
    with pytest.raises(FormatError, match=said):
        read_texts("sys", "output")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": "u-1", "hyps": ["x"]}\n', r"ref:1: no reference: expected one of ref, .* \(keys found: id, hyps\)"),
        ('{"id": "u-1", "pred_text": "x"}\n', r"ref:1: no reference: expected one of ref, "),
        ("u-1:\thyp=['x']\n", r"ref: the file has no references: expected utterance:<TAB>ref="),
        (OUTPUTS["moses"], r"ref: reads as lists in the format moses, which have hypotheses but no references"),
        (OUTPUTS["wenet"], r"ref: reads as lists in the format wenet, which have hypotheses but no references"),
        ("H-0\t-0.5\tso it is\nH-1\t-0.5\toh no\n", r"ref: the file has no references: expected T-id<TAB>text"),
        (
            "NBestList2.0\n(-1) so ( st: 0 et: 1 g: -1 a: -1 )\n",
            r"ref: reads as lists in the format srilm, which have hypotheses but",
        ),
        ('[["so", null, [], -1, -2]]\n', r"ref: expected text but found JSON"),
    ],
)
def test_hypotheses_are_no_references(text, said):
    Path("ref").write_text(text)
    with pytest.raises(FormatError, match=said):
        read_texts("ref", "reference")


def test_records_are_no_lines_of_text():
    Path("ref").write_text(BOTH["nemo"])
    with pytest.raises(FormatError, match=r"ref: expected text but found JSON; .* json,id_key=none matches"):
        read_texts("ref", "reference", "lines")


@pytest.mark.parametrize("lost", [{}, {"pred_text": None}])
def test_a_transcript_is_no_output_where_other_records_have_one(lost):
    Path("file").write_text("".join(json.dumps(record) + "\n" for record in [
        {"id": "u-1", "text": "so it is", "pred_text": "so is it"}, {"id": "u-2", "text": "oh no", **lost},
    ]))  # fmt: skip
    said = refused("evaluate", "-r", "file", *WER, "file")
    assert said.startswith("file:2: no output: wanted a text under 'pred_text', as other records have it (keys found: ")
    Path("table").write_text("id,text,pred_text\nu-1,so it is,so is it\nu-2,oh no,\n")
    assert rate("-r", "table", "table") == 80  # the empty cell is an empty output: two deletions


def test_an_output_is_no_transcript_where_other_records_have_one():
    lines = ['{"id": "u-1", "text": "so it is"}', '{"id": "u-2", "ref": null, "text": "oh no"}']
    Path("file").write_text("\n".join(lines) + "\n")
    Path("sys").write_text(BOTH["nemo"])
    said = refused("evaluate", "-r", "file", *WER, "sys")
    assert said.startswith("file:1: no reference: wanted a text under 'ref', as other records have it (keys found: ")
    assert rate("-r", "file", "--reference-form", "json,key=text", "sys") == RATE


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
def test_a_table_with_transcripts_and_outputs_is_read_by_its_outputs(separator):
    rows = [("id", "text", "pred_text"), *((id_, ref, hyp) for id_, (ref, hyp) in SAID.items())]
    Path("table").write_text("".join(separator.join(row) + "\n" for row in rows))
    assert rate("-r", "table", "table") == RATE


@pytest.mark.parametrize("name", ["moses", "wenet"])
def test_ids_of_lists_that_are_not_in_json_have_no_key(name):
    Path("ref").write_text("so it is\noh no\n")
    Path("sys").write_text(OUTPUTS[name])
    said = refused("evaluate", "-r", "ref", *WER, "sys")
    assert said == (
        f"sys: the file has ids, such as '{next(iter(SAID))}', and the segments have numbers; wanted segments with these "
        "ids, as in `u-1 word word …` (kaldi), or numbers as ids of the file"
    )
    said = refused("evaluate", "-r", "ref", *WER, "sys", "--system-form", "json,id_key=none")
    assert said == f"sys: reads as lists in the format {name}, and id_key is an option of records in JSON"
