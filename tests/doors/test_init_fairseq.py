"""The output of fairseq as its own references: the T- lines, by id, whatever the order of the log."""

import random
import tomllib

import pytest

from rerank_plugins import FormatError
from tests.command_line import done, refused
from tests.doors.speech_files import hypotheses, transcripts, write
from tests.texts_of_files import ids_of, outputs, references


def log(number, seed, targets=True):
    """A log in the order of fairseq-generate, by length, after some lines of its own."""
    lines = ["2024-01-01 10:00:00 | INFO | fairseq_cli.generate | {...}"] * 25
    order = list(range(number))
    random.Random(seed).shuffle(order)
    refs = transcripts(number, seed)
    for i in order:
        lines += [f"S-{i}\t{refs[i].upper()}", *([f"T-{i}\t{refs[i]}"] if targets else [])]
        for rank, text in enumerate(hypotheses(refs[i], 3)):
            lines += [f"H-{i}\t-{rank}.25\t{text}", f"D-{i}\t-{rank}.25\t{text}", f"P-{i}\t-0.5 -0.{rank}5"]
    return lines


def test_a_log_holds_its_references(tmp_path):
    write(tmp_path / "dev.log", log(14, 1))
    write(tmp_path / "test.log", log(11, 2))
    done("init", tmp_path, "--language", "fi", "-o", tmp_path / "job.toml")
    config = tomllib.loads((tmp_path / "job.toml").read_text())
    assert config["nbest"] == {"use": "fairseq"}
    assert config["tune"]["nbest"] == config["tune"]["references"] == ["dev.log"]
    assert config["test"][0]["references"] == ["test.log"]
    assert "found 0 errors" in done("check", tmp_path / "job.toml", "--no-estimate").err


def test_as_a_reference_and_as_a_system(tmp_path):
    path = write(tmp_path / "gen.log", log(14, 1))
    ids = [str(i) for i in range(14)]
    refs = transcripts(14, 1)
    assert [text for (text,) in references([path], ids)] == refs
    assert ids_of(path, "fairseq") != ids
    firsts = [hypotheses(reference, 3)[0] for reference in refs]
    for form in ("auto", "fairseq"):
        assert outputs(path, ids, form) == firsts
    later = write(tmp_path / "later.log", [*["a line of the log"] * 60, *log(14, 1)])  # too late to be recognised
    assert outputs(later, ids, "fairseq") == firsts
    plain = write(tmp_path / "ref", refs)
    assert "lines" in refused("evaluate", "-r", plain, "-m", "wer", later)
    by_log = done("evaluate", "-r", path, "-m", "wer", path, "--as", "tsv").lines[1].split("\t")[2]
    by_text = done("evaluate", "-r", plain, "-m", "wer", path, "--as", "tsv").lines[1].split("\t")[2]
    assert by_log == by_text != "0"


def test_a_log_without_targets(tmp_path):
    path = write(tmp_path / "dev.log", log(12, 1, targets=False))
    with pytest.raises(FormatError, match="the file has no references: expected T-id"):
        ids_of(path)
    assert "weights need a reference" in refused("init", path)
