"""Files as HyPoradise publishes them and as Vosk prints them, in commands and in `rerank init`."""

import json
import tomllib

import pytest

from rerank_adapters import read_nbest
from tests.command_line import done, refused
from tests.doors.speech_files import hypotheses, transcripts, write

SETS = (("dev", 12, 1), ("test", 11, 2))


def test_hyporadise_arrays_of_input_and_output(tmp_path):
    for name, number, seed in SETS:
        records = [{"input": hypotheses(ref, 5), "output": ref} for ref in transcripts(number, seed)]
        (tmp_path / f"{name}.json").write_text(json.dumps(records, indent=4))
    assert [len(nbest) for nbest in read_nbest(tmp_path / "dev.json")] == [5] * 12
    done("init", tmp_path, "--language", "fi", "-o", tmp_path / "job.toml")
    config = tomllib.loads((tmp_path / "job.toml").read_text())
    assert config["nbest"] == {"use": "hyporadise"}
    assert config["tune"]["nbest"] == config["tune"]["references"] == ["dev.json"]
    assert config["test"][0]["references"] == ["test.json"]
    best = done("apply", tmp_path / "dev.json", "-w", _weights(tmp_path)).lines
    assert len(best) == 12


def _weights(folder):
    done("tune", folder / "dev.json", "-r", folder / "dev.json", "-m", "wer", "-f", "length", "-t", "mira,passes=2",
         "-o", folder / "w.toml")  # fmt: skip
    return folder / "w.toml"


def results(number, seed):
    for reference in transcripts(number, seed):
        yield {
            "alternatives": [
                {"confidence": 230.5 - rank, "text": f" {text}", "result": [{"word": "x", "start": 0.1, "end": 0.2}]}
                for rank, text in enumerate(hypotheses(reference, 4))
            ]
        }


@pytest.mark.parametrize("indent", [None, 2])
def test_vosk(tmp_path, indent):
    """A result a line, or as `print(recognizer.Result())` leaves them: documents of several lines, one after another."""
    for name, number, seed in SETS:
        write(tmp_path / f"{name}.out", [json.dumps(record, indent=indent) for record in results(number, seed)])
        write(tmp_path / f"{name}.ref", transcripts(number, seed))
    nbests = read_nbest(tmp_path / "dev.out")
    assert [nbest.segment_id for nbest in nbests] == [str(place) for place in range(12)]
    assert nbests[0].texts == hypotheses(transcripts(12, 1)[0], 4)
    assert [h.score for h in nbests[0]] == [230.5, 229.5, 228.5, 227.5]
    assert nbests[0].feature_names == ("confidence",)
    done("init", tmp_path, "--language", "fi", "-o", tmp_path / "job.toml")
    config = tomllib.loads((tmp_path / "job.toml").read_text())
    assert config["nbest"] == {"use": "alternatives"}
    assert config["tune"]["references"] == ["dev.ref"]


def test_vosk_in_a_folder_with_a_file_for_each_utterance(tmp_path):
    for place, record in enumerate(results(12, 1)):
        write(tmp_path / "dev" / f"utt-{place}a.json", [json.dumps(record, indent=2)])
    nbests = read_nbest(tmp_path / "dev")
    assert [nbest.segment_id for nbest in nbests][:3] == ["utt-0a", "utt-10a", "utt-11a"]


def test_a_document_that_is_cut_short_is_an_error(tmp_path):
    text = "\n".join(json.dumps(record, indent=2) for record in results(3, 1))
    (tmp_path / "x").write_text(text[:-20])
    said = refused("lists", "merge", tmp_path / "x", "--format", "alternatives")
    assert "not JSON" in said
