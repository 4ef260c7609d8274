"""Records of JSON that no program of the catalogue writes, ids under unknown keys, and layers in the texts of models."""

import json
import re
import tracemalloc
from pathlib import Path

import pytest

from rerank_adapters import read_nbest
from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.reading import stream_file
from rerank_plugins import FormatError
from tests.command_line import done, refused

WER = ("-m", "wer", "--as", "json", "--bootstrap", "0", "--randomisation", "0")
TEXTS = ("so it is", "we went home", "no rain")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, records, indent=None):
    whole = json.dumps(records, indent=indent) if indent is not None else "".join(f"{json.dumps(r)}\n" for r in records)
    Path(name).write_text(whole)


def rate(*arguments):
    (system, *_) = json.loads(done("evaluate", *arguments, *WER).out)["metrics"][0]["systems"]
    return round(system["score"], 2)


def read(name, format=None):
    lists = read_nbest(name, format=format) if format else read_nbest(name)
    return [(n.segment_id, n.texts, n.feature_names, [(h.features, h.score) for h in n]) for n in lists]


# --- anybody's records

LIST = [{"text": "so it is", "score": -1.5, "lm": -3}, {"text": "so is it", "score": -2, "lm": -4.5}]
READ = ("u-7", ["so it is", "so is it"], ("lm",), [((-3.0,), -1.5), ((-4.5,), -2.0)])


@pytest.mark.parametrize(
    "key", ["nbest", "hyps", "hypotheses", "samples", "preds", "candidates", "beams", "translations"]
)
def test_an_array_of_objects_under_a_usual_key_is_a_list(key):
    write("lists", [{"id": "u-7", key: LIST}])
    assert read("lists") == read("lists", "json") == [READ]
    Path("ref").write_text("u-7 so it is\n")
    assert rate("-r", "ref", "--reference-form", "kaldi", "--nbest", "lists") == 0


@pytest.mark.parametrize("key", ["samples", "preds", "tgt", "translation", "beams"])
def test_an_array_of_texts_or_of_pairs_is_a_list(key):
    write("texts", [{"id": "u-7", key: ["so it is", "so is it"]}])
    assert read("texts") == [("u-7", ["so it is", "so is it"], (), [((), None), ((), None)])]
    write("pairs", [{"id": "u-7", key: [["so it is", -3.5], ["so is it", -4.0]]}])
    assert read("pairs") == [("u-7", ["so it is", "so is it"], ("score",), [((-3.5,), -3.5), ((-4.0,), -4.0)])]


def test_tokens_are_a_text_and_numbers_in_an_object_are_features():
    write("tokens", [{"id": "a", "samples": [["7", "8", "9"], ["7", "9"]]}])
    assert read("tokens") == [("a", ["7 8 9", "7 9"], (), [((), None), ((), None)])]
    write("inner", [{"id": "a", "samples": [{"text": "x", "tm.0": 3, "scores": {"lm": -1, "am": -2, "by": "y"}}]}])
    assert read("inner") == [("a", ["x"], ("tm.0", "scores.lm", "scores.am"), [((3.0, -1.0, -2.0), None)])]


def test_options_name_the_paths():
    made = [
        {"seg": n, "out": {"drawn": [{"y": {"t": text}, "nll": 1.5, "am": {"s": -3}}]}} for n, text in enumerate(TEXTS)
    ]
    write("lists", made)
    options = "json,id_key=seg,hyps=out.drawn,text=y.t,total=-nll,features=[am=am.s]"
    assert read("lists", options) == [(str(n), [text], ("am",), [((-3.0,), -1.5)]) for n, text in enumerate(TEXTS)]
    write("beside", [{"id": "a", "beam": ["x", "y"], "lls": [-1, -2], "lm": [-3, -4]}])
    assert read("beside", "json,total=^lls,features=[lm=^lm]") == [
        ("a", ["x", "y"], ("lm",), [((-3.0,), -1.0), ((-4.0,), -2.0)])
    ]
    write(
        "document", {"results": [{"id": f"u{n}", "drawn": [{"said": text}]} for n, text in enumerate(TEXTS)]}, indent=1
    )
    found = read("document", "json,at=results.[],hyps=drawn,text=said")
    assert [(id_, texts) for id_, texts, *_ in found] == [(f"u{n}", [text]) for n, text in enumerate(TEXTS)]


@pytest.mark.parametrize(
    "record",
    [
        {"id": "u-7", "drawn": [{"said": "so it is", "x": 1}, {"said": "so is it", "x": 2}]},
        {"id": "u-7", "best": {"list": ["so it is", "so is it"]}},
        {"page": [{"id": "u-7", "drawn": [{"said": "so it is"}, {"said": "so is it"}]}]},
    ],
)
def test_an_unknown_shape_is_answered_with_the_option_that_reads_it(record):
    write("lists", [record])
    with pytest.raises(FormatError, match="lists:1: no hypotheses under a usual key") as error:
        read_nbest("lists", format="json")
    (option,) = re.findall(r"--format (\S+)$", str(error.value))
    with pytest.raises(
        FormatError, match=f"does not show the format of these lists: --format {re.escape(option)} reads"
    ):
        read_nbest("lists")
    ((id_, texts, *_),) = read("lists", option)
    assert (id_, texts) == ("u-7", ["so it is", "so is it"])


@pytest.mark.parametrize(
    ("record", "format", "said"),
    [
        (
            {"samples": ["a"], "preds": ["b"]},
            "json",
            "'samples' and 'preds' may both have the hypotheses: name one, as hyps",
        ),
        (
            {"nbest": LIST},
            "json,total=ppl",
            r"no number under 'ppl', which total names \(keys found: text, score, lm\)",
        ),
        ({"nbest": LIST}, "json,features=[tm]", "no number under 'tm', which features names"),
        (
            {"nbest": LIST},
            "json,hyps=beam",
            r"no hypotheses with a text under 'beam', which hyps names \(keys found: nbest\)",
        ),
        ({"nbest": [{"text": "a", "score": "1_000"}]}, "json", "the total score is '1_000', expected a number"),
        ({"nbest": [{"text": "a", "lm": 1e30}]}, "json", "feature 'lm' is 1e.30, expected a score of ordinary size"),
        ({"hyps": ["a"], "scores": ["1_000"]}, "hyporadise", "the total score is '1_000', expected a number"),
    ],
)
def test_what_is_wrong_is_one_line(record, format, said):
    write("lists", [record])
    with pytest.raises(FormatError, match=f"lists:1: {said}"):
        read_nbest("lists", format=format)


def test_a_rescored_record_keeps_its_shape():
    write("lists", [{"id": f"u{n}", "nbest": [{"text": f"no {text}", "score": -1, "k": 1}, {"text": text, "score": -2, "k": 2}], "by": "x"}
                    for n, text in enumerate(TEXTS)])  # fmt: skip
    write("refs", [{"id": f"u{n}", "ref": text} for n, text in enumerate(TEXTS)])
    done("tune", "lists", "-r", "refs", "-m", "wer", "-f", "length", "-o", "w.toml")
    done("apply", "lists", "-w", "w.toml", "-o", "best", "--nbest-out", "ranked")
    records = [json.loads(line) for line in Path("ranked").read_text().splitlines()]
    assert [[h["text"] for h in record["nbest"]] for record in records] == [[text, f"no {text}"] for text in TEXTS]
    assert {record["by"] for record in records} == {"x"}
    assert [n.texts for n in read_nbest("ranked")] == [[text, f"no {text}"] for text in TEXTS]


# --- ids


@pytest.mark.parametrize("key", ["idx", "index", "doc_id", "sentence_id", "name", "line", "segid", "number"])
def test_an_unknown_key_that_may_hold_ids_is_an_error_that_names_it(key):
    ids = [f"n{n}" for n in (2, 0, 1)] if key == "name" else [2, 0, 1]
    outputs = [{key: id_, "prediction": text} for id_, text in zip(ids, TEXTS, strict=True)]
    write("system", outputs)
    write("lists", [{key: id_, "nbest": [text, "x"]} for id_, text in zip(ids, TEXTS, strict=True)])
    write("refs", sorted(({key: o[key], "ref": o["prediction"]} for o in outputs), key=lambda record: str(record[key])))
    said = f"{key!r} has another value in each record, .*id_key={key} reads them, id_key=none counts the records"
    for arguments in (("-r", "refs", "system"), ("-r", "refs", "--nbest", "lists")):
        assert re.search(said, refused("evaluate", *arguments, *WER))
    form = f"json,id_key={key}"
    assert rate("-r", "refs", "system", "--reference-form", form, "--system-form", form) == 0
    assert rate("-r", "refs", "--reference-form", form, "--nbest", "lists", "--format", form) == 0


def test_keys_that_only_count_the_records_are_no_ids_but_a_lost_record_shows():
    made = [{"sentence_id": n, "translation": text, "score": n / 8, "translations": [text, "x"], "scores": [[1], [2]]}
            for n, text in enumerate(TEXTS, 1)]  # fmt: skip
    write("lists", made)
    Path("ref").write_text("".join(f"{text}\n" for text in TEXTS))
    assert rate("-r", "ref", "--nbest", "lists") == 0
    write("lists", [made[0], made[2]])
    said = refused("evaluate", "-r", "ref", "--nbest", "lists", *WER)
    assert "'sentence_id' has another value in each record" in said


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    ("format", "made"),
    [
        ("whisper", lambda text: {"text": text, "segments": [{"text": text, "avg_logprob": -1, "tokens": [1]}]}),
        ("transformers", lambda text: {"translation_text": text}),
        ("sockeye", lambda text: {"translation": text, "score": 1.0}),
    ],
)
def test_elements_with_ids_are_records_and_no_list(format, made, indent):
    write("document", [{"id": f"u{n}", **made(text)} for n, text in enumerate(TEXTS)], indent=indent or 0)
    assert [(id_, texts) for id_, texts, *_ in read("document", format)] == [
        (f"u{n}", [t]) for n, t in enumerate(TEXTS)
    ]
    write(
        "runs", [{"id": "u0", **made(text)} for text in TEXTS], indent=indent or 0
    )  # several results of one utterance
    assert [(id_, texts) for id_, texts, *_ in read("runs", format)] == [("u0", list(TEXTS))]


def test_an_array_of_records_inside_a_record_is_no_list():
    write("lists", [{"results": [{"id": f"u{n}", "text": text} for n, text in enumerate(TEXTS)]}])
    with pytest.raises(FormatError, match="have the ids 'u0' and 'u2', so they are records"):
        read_nbest("lists", format="json")


# --- silence, other transcribers


RESULT = {"text": " No.", "segments": [{"text": " No.", "tokens": [1, 2], "avg_logprob": -0.25, "no_speech_prob": 0.1,
          "temperature": 0.0, "compression_ratio": 1.5}]}  # fmt: skip
SILENT = {"text": "", "segments": [], "language": "en"}


def test_an_utterance_in_which_whisper_heard_nothing_is_an_empty_hypothesis():
    Path("d").mkdir()
    write("d/u1.json", RESULT, indent=1)
    write("d/u2.json", SILENT, indent=1)
    Path("ref").write_text("u1 No.\nu2\n")
    assert rate("-r", "ref", "--reference-form", "kaldi", "--nbest", "d") == 0
    Path("k").mkdir()
    write("k/u1.json", [RESULT, SILENT], indent=1)
    write("k/u2.json", [SILENT, RESULT], indent=1)
    assert [(n.segment_id, n.texts) for n in read_nbest("k")] == [("u1", ["No.", ""]), ("u2", ["", "No."])]
    assert read_nbest("k")[0].totals.tolist() == [-0.25, -1.0]  # Whisper's threshold, below what it has heard


def test_segments_of_whisperx_and_of_whisper_cpp_are_one_text():
    pieces = ["And so my fellow", "citizens ask not."]
    segments = [{"start": 0, "end": 1, "text": piece, "words": []} for piece in pieces]
    write("wx.json", [{"segments": segments, "word_segments": []}])
    parts = [
        {"offsets": {"from": 0, "to": 9}, "text": text} for text in (" And so my fel", "low", " citizens ask not.")
    ]
    write("wcpp.json", {"systeminfo": "x", "transcription": parts}, indent=1)
    for name in ("wx", "wcpp"):
        assert [(n.segment_id, n.texts) for n in read_nbest(f"{name}.json")] == [(name, [" ".join(pieces)])]


def test_beams_of_nemo_are_lists():
    write("beams", [{"audio_filepath": f"/d/u{n}.wav", "text": text, "pred_text": "x", "beams": [["x", -1.5], [text, -4.0]]}
                    for n, text in enumerate(TEXTS)])  # fmt: skip
    assert done("lists", "merge", "beams", "--as", "moses", "-o", "-").out.splitlines()[:2] == [
        "u0 ||| x ||| score= -1.5 ||| -1.5",
        "u0 ||| so it is ||| score= -4 ||| -4",
    ]


# --- layers


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<think>\nHello is Hallo.\n</think>\n\nHallo Welt", "Hallo Welt"),
        ("Hello is Hallo.</think>Hallo Welt", "Hallo Welt"),
        ("<think>Hello is", ""),
        ("<THINKING>a</THINKING> Hallo Welt", "Hallo Welt"),
        ("[THINK]a[/THINK]Hallo Welt", "Hallo Welt"),
        ("<seed:think>a</seed:think>Hallo Welt", "Hallo Welt"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>Hallo Welt", "Hallo Welt"),
        ("<|0.00|> Hallo<|0.40|><|0.40|> Welt<|1.20|>", "Hallo Welt"),
        ("[00:00:00.000 --> 00:00:01.200]  Hallo Welt", "Hallo Welt"),
        ("00:00:00,000 --> 00:00:01,200 Hallo Welt", "Hallo Welt"),
        ("Hallo <unk> Welt < 3", "Hallo <unk> Welt < 3"),
        ("I think so --> no", "I think so --> no"),
    ],
)
def test_layers_are_no_words(text, words):
    write("chat", [{"custom_id": "0", "object": "x", "choices": [{"message": {"content": text}}, {"text": "Hallo"}]}])
    write("hyps", [{"id": "0", "hyps": [text, "Hallo"]}])
    write("rows", [{"id": "0", "text": text, "lm": 1}, {"id": "0", "text": "Hallo", "lm": 2}])
    Path("moses").write_text(f"0 ||| {' '.join(text.split())} ||| lm= 1\n0 ||| Hallo ||| lm= 2\n")
    for name in ("chat", "hyps", "rows", "moses"):
        assert read_nbest(name)[0].texts == [words, "Hallo"], name
    if text != words:
        assert "left out of 1 hypothesis" in done("lists", "merge", "hyps", "--as", "moses", "-o", "out").err
    kept = done("lists", "merge", "hyps", "-o", "-").out
    assert json.loads(kept)["hyps"][0] == text  # records keep their texts


# --- memory


@pytest.mark.parametrize("indent", [None, 1])
def test_of_an_array_one_element_is_in_memory(indent):
    write(
        "document", [{"id": f"u{n}", "hyps": [f"{n} " + "so it is " * 40] * 20} for n in range(400)], indent=indent or 0
    )
    tracemalloc.start()
    assert sum(len(nbest) for nbest in stream_file("document", FORMATS["hyporadise"].made)) == 8000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000 < Path("document").stat().st_size
