"""Lists are written as Moses's and its dialects, as JSON lines or as a table; those of other formats become Moses's."""

import json
from pathlib import Path

import pytest

from rerank_adapters import read_nbest
from tests.command_line import done, refused

GOLDEN = Path(__file__).parents[1] / "golden" / "formats"
LISTS = "".join(f"u.{i} ||| {text} {i} ||| score= {j}.5 ||| {-j}\n" for i in range(3) for j, text in enumerate("ab"))
WRITTEN = (
    "rows, hyporadise, completions, alternatives, whisper, sockeye, transformers, ctranslate2, json, marian, travatar,"
    " joshua, cdec, moses"
)
READ = {  # golden files in formats that are read alone
    "fairseq": "fairseq.out",
    "julius": "julius.out",
    "wenet": "wenet.txt",
    "icefall": "icefall.txt",
    "kaldi": "kaldi.text",
    "srilm": "srilm1.nbest",
    "htk-slf": "htk.slf",
    "kaldi-lattice": "kaldi.lat",
    "espnet": "espnet.text",
    "nemo,beam=2": "nemo.tsv",
    "plain,n=2": "plain.txt",
}


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lists").write_text(LISTS)


@pytest.mark.parametrize("format", READ)
def test_what_is_read_alone_names_what_is_written(format):
    said = refused("lists", "merge", "lists", "--as", format, "-o", "out")
    assert said == f"--as {format}: lists in this format are read, not written; wanted one of {WRITTEN}"
    assert not Path("out").exists()


@pytest.mark.parametrize("format", READ)
def test_lists_that_are_read_alone_are_written_as_moses_s(format):
    ran = done("lists", "merge", GOLDEN / READ[format], "--format", format, "-o", "out")
    assert "rerank: out: in the format of Moses, since lists in their own are read alone" in ran.err
    before, after = read_nbest([GOLDEN / READ[format]], format=format), read_nbest(["out"], format="moses")
    assert [(n.segment_id, n.texts, n.feature_names) for n in after] == [
        (n.segment_id, n.texts, n.feature_names) for n in before
    ]
    assert [(h.features, h.score) for n in after for h in n] == [(h.features, h.score) for n in before for h in n]


def test_reranked_lists_that_are_read_alone():
    """`apply` and `run` write lists of WeNet, with totals and new features, as Moses's."""
    lists = GOLDEN / READ["wenet"]
    Path("refs").write_text("utt-07 so is it\nutt-12 oh no\n")
    done("tune", lists, "-r", "refs", "-m", "wer", "-f", "length", "-o", "w.toml")
    done("apply", lists, "-w", "w.toml", "--nbest-out", "ranked", "-o", "best")
    ranked = read_nbest(["ranked"], format="moses")
    assert [nbest.segment_id for nbest in ranked] == ["utt-07", "utt-12"]
    assert ranked[0].feature_names == ("score", "length")
    assert all(hypothesis.score is not None for nbest in ranked for hypothesis in nbest)
    data = f'nbest = ["{lists}"]\nreferences = ["refs"]\n'
    tests = '[[metric]]\nuse = "wer"\n[[feature]]\nuse = "length"\n[evaluation]\nbootstrap = 10\nrandomisation = 10\n'
    Path("job.toml").write_text(f"[tune]\n{data}[[test]]\n{data}{tests}")
    ran = done("run", "job.toml", "--work", "work")
    assert "in the format of Moses" in ran.err
    assert [n.segment_id for n in read_nbest(["work/test.nbest.gz"], format="moses")] == ["utt-07", "utt-12"]


def test_a_folder_is_no_file():
    Path("out").mkdir()
    assert "out: is a folder, expected a file to write" in refused("lists", "merge", "lists", "-o", "out")
    assert list(Path("out").iterdir()) == []


@pytest.mark.parametrize("role", ["reference", "system", "decoder"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#!LABELS!#\nso it is\n", "expected text but found the header of another program: '#!LABELS!#'"),
        (json.dumps([["so it is", None, [], -1, -2]]) + "\n" + json.dumps([["oh no", None, [], -1, -2]]) + "\n",
         "expected text but found JSON"),
        ("[\n  [\n", "expected text but found JSON"),
    ],
)  # fmt: skip
def test_what_is_no_longer_read_is_no_text(text, said, role):
    Path("file").write_text(text)
    Path("text").write_text("so it is\noh no\n")
    commands = {
        "reference": ("evaluate", "-r", "file", "-m", "wer", "text"),
        "system": ("evaluate", "-r", "text", "-m", "wer", "file"),
        "decoder": ("lists", "merge", "A=file", "B=text", "-o", "out"),
    }
    assert refused(*commands[role]).startswith(f"file: {said}")


@pytest.mark.parametrize("role", ["reference", "system"])
def test_a_ctm_is_no_text(role):
    Path("file.ctm").write_text("call 1 0.1 .2 so\ncall 1 0.5 .2 it\n")
    Path("text").write_text("so it is\noh no\n")
    files = ("file.ctm", "text") if role == "reference" else ("text", "file.ctm")
    said = refused("evaluate", "-r", files[0], "-m", "wer", files[1])
    assert said == (
        "file.ctm: is a CTM by its name, which is not a form of references or outputs: wanted an utterance a line (lines, "
        "kaldi, trn) or an STM"
    )


def test_brackets_in_a_text_are_no_json():
    Path("text").write_text("[laughter] so it is\n{ oh } no\n")
    Path("numbers").write_text("[1]\n[2]\n")
    for name in ("text", "numbers"):
        Path("same").write_text(Path(name).read_text())
        assert done("evaluate", "-r", name, "-m", "wer", "same", "--as", "tsv").lines[1].split("\t")[2] == "0"
