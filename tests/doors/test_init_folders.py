"""`rerank init` on files and folders in the form of other programs: Kaldi's, Whisper's, SRILM's."""

import json
import tomllib

import pytest

from tests.command_line import done
from tests.doors.speech_files import hypotheses, transcripts, write

SETS = (("dev", 12, 1), ("test", 11, 2))


def drafted(folder, *arguments):
    """The config that `init` drafts without models, and what `check` says of it."""
    output = folder / "job.toml"
    done("init", *arguments, "--language", "fi", "--force", "-o", output)
    assert "found 0 errors" in done("check", output, "--no-estimate").err
    return tomllib.loads(output.read_text())


def utterances(name, number):
    return [f"{name}-{i % 3}-{i + 1}" for i in range(number)]  # ids that end in numbers, as Kaldi's keys of ranks do


def test_kaldi(tmp_path):
    """`text` has ids that look like keys of ranks, so that the user says which file is what."""
    for name, number, seed in SETS:
        ids, refs = utterances(name, number), transcripts(number, seed)
        lists = [hypotheses(reference, 4) for reference in refs]
        keys = [f"{id_}-{rank}" for id_ in ids for rank in range(1, 5)]
        texts = [text for nbest in lists for text in nbest]
        folder = tmp_path / name
        write(folder / "words_text", map(" ".join, zip(keys, texts, strict=True)))
        for cost in ("ac_cost", "lm_cost", "unknown_cost"):
            write(folder / cost, [f"{key} {place}.5" for place, key in enumerate(keys)])
        write(folder / "text", map(" ".join, zip(ids, refs, strict=True)))
    named = (("--tune", "dev/words_text"), ("--test", "test/words_text"), ("-r", "dev/text"), ("-r", "test/text"))
    config = drafted(tmp_path, *(argument for option, path in named for argument in (option, tmp_path / path)))
    assert config["nbest"] == {"use": "kaldi"}
    assert config["tune"]["nbest"] == ["dev/words_text"]
    assert config["tune"]["references"] == ["dev/text"]
    assert [(test["nbest"], test["references"]) for test in config["test"]] == [(["test/words_text"], ["test/text"])]
    assert config["metric"][0]["use"] == "wer"


@pytest.mark.parametrize("inside", [True, False])
def test_srilm(tmp_path, inside):
    """A folder with a file for each utterance; the references beside it, or in it, under another ending."""
    for name, number, seed in SETS:
        ids, refs = utterances(name, number), transcripts(number, seed)
        for id_, reference in zip(ids, refs, strict=True):
            rows = [f"-{100 + i}.5 -{20 + i}.25 {len(h.split())} <s> {h} -pau- </s>"
                    for i, h in enumerate(hypotheses(reference, 4))]  # fmt: skip
            write(tmp_path / name / f"{id_}.nbest", rows)
        where = tmp_path / name / "text" if inside else tmp_path / f"{name}.text"
        write(where, map(" ".join, zip(ids, refs, strict=True)))
    named = ("-r", tmp_path / "dev" / "text", "-r", tmp_path / "test" / "text") if inside else ()
    config = drafted(tmp_path, tmp_path, *named)
    assert config["nbest"] == {"use": "srilm"}
    references = ["dev/text" if inside else "dev.text"]
    assert (config["tune"]["nbest"], config["tune"]["references"]) == (["dev"], references)
    assert len(config["test"]) == 1
    extracted = done("extract", tmp_path / "dev", "-f", "length", "-o", tmp_path / "t.npz")  # without --format, too
    assert "12 segments, 48 hypotheses" in extracted.err


def result(text, i):
    segment = {"text": f" {text}", "avg_logprob": -0.1 * (i + 1) - len(text) / 500, "no_speech_prob": 0.01,
               "compression_ratio": 1.1, "temperature": 0.0, "tokens": [1, 2]}  # fmt: skip
    return {"text": f" {text}", "segments": [segment], "language": "fi"}


def test_whisper(tmp_path):
    """A .json for each audio file, among the .txt, .srt, .vtt and .tsv that Whisper writes beside it."""
    for name, number, seed in SETS:
        ids, refs = utterances(name, number), transcripts(number, seed)
        for id_, reference in zip(ids, refs, strict=True):
            results = [result(h, i) for i, h in enumerate(hypotheses(reference, 4))]
            write(tmp_path / name / f"{id_}.json", [json.dumps(results, indent=1)])
            for ending in ("txt", "srt", "vtt", "tsv"):
                write(tmp_path / name / f"{id_}.{ending}", [results[0]["text"]])
        write(tmp_path / f"{name}.text", map(" ".join, zip(ids, refs, strict=True)))
    config = drafted(tmp_path, tmp_path)
    assert config["nbest"] == {"use": "whisper"}
    assert (config["tune"]["nbest"], config["tune"]["references"]) == (["dev"], ["dev.text"])
    assert [(test["nbest"], test["references"]) for test in config["test"]] == [(["test"], ["test.text"])]


def test_a_folder_of_sets_is_not_a_folder_of_utterances(tmp_path):
    for name, number, seed in SETS:
        refs = transcripts(number, seed)
        records = [{"hypotheses": [result(h, i) for i, h in enumerate(hypotheses(reference, 3))]} for reference in refs]
        write(tmp_path / f"{name}.json", map(json.dumps, records))
        write(tmp_path / f"{name}.ref", refs)
    config = drafted(tmp_path, tmp_path)
    assert config["tune"]["nbest"] == ["dev.json"]
    assert config["test"][0]["nbest"] == ["test.json"]
