"""The format that the first lines show: every golden file, texts that show none, and what is said."""

import json
import shutil
import time
from pathlib import Path

import pytest

from rerank_adapters.builtin import BUILTIN
from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.formats.recognition import format_of, guess
from rerank_adapters.weights import read_weights
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.loader import load_plugins
from tests.command_line import done, rerank

GOLDEN = Path(__file__).parents[1] / "golden" / "formats"
SHOWN = {
    "moses.nbest": "moses",
    "moses_old.nbest": "moses",
    "moses_sparse.nbest": "moses",
    "cdec.nbest": "cdec",
    "joshua.nbest": "joshua",
    "joshua_old.nbest": "moses",  # numbers without labels, which Moses's reader reads
    "travatar.nbest": "travatar",
    "marian.nbest": "marian",
    "fairseq.out": "fairseq",
    "hyporadise.jsonl": "hyporadise",
    "sockeye.jsonl": "sockeye",
    "ctranslate2.jsonl": "ctranslate2",
    "completions.jsonl": "completions",
    "transformers.jsonl": "transformers",
    "transformers_pipeline.jsonl": "transformers",
    "rows.csv": "rows",
    "rows.tsv": "rows",
    "rows.jsonl": "rows",
    "kaldi.text": "kaldi",
    "kaldi/words_text": "kaldi",
    "srilm.nbest": "srilm",
    "srilm1.nbest": "srilm",
    "srilm/utt-12.score.gz": "srilm",
    "julius.out": "julius",
    "espnet.text": "espnet",
    "espnet": "espnet",
    "espnet/output.1/1best_recog/text": "espnet",
    "whisper.jsonl": "whisper",
    "icefall.txt": "icefall",
    "wenet.txt": "wenet",
    "alternatives.jsonl": "alternatives",
    "kaldi.lat": "kaldi-lattice",
    "htk.slf": "htk-slf",
}
DOUBTFUL = (  # their lines may be those of a text
    *("kaldi.text", "kaldi/words_text", "srilm.nbest", "srilm/utt-12.score.gz", "espnet.text", "kaldi.lat"),
)


@pytest.mark.parametrize(("name", "format"), SHOWN.items(), ids=SHOWN)
def test_every_golden_file_shows_its_format(name, format, caplog):
    caplog.set_level("INFO", "rerank_adapters")
    assert format_of(GOLDEN / name) == format
    if name in DOUBTFUL:
        (said,) = caplog.messages
        assert said == f"rerank: {GOLDEN / name} reads as {format}; --format names another format"
    else:
        assert not caplog.messages
    assert read_nbest([GOLDEN / name], FORMATS[format](), repeated=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("just text\nand more\n", r"x:1: the first line, 'just text', does not show .*--format: plain,n=N .*; kaldi \(utt-1"),
        ("1089-134686-0001 so it is\n1089-134686-0002 oh no\n", r"does not show the format"),
        ("a b-1\n", r"does not show the format"),
        ('{"a": 1}\n', r"does not show the format"),
        ("0 ||| the old mill\n0 ||| an old mill\n1 ||| no\n", r"x:1: reads as id \|\|\| text; wanted a third column"),
        ("0 ||| the old mill\n1 ||| an old mill\n0 ||| no\n", r"x:1: reads as score \|\|\| text; .*"),
        ("-0.41 ||| the old mill\n-0.63 ||| an old mill\n", r"x:1: reads as score \|\|\| text; .*plain,n=N,prefix=true"),
        ("the old mill\nan old mill\n\nno\n", r"x:1: reads as groups of lines between blank lines; .* --format plain,n=N"),
        ('#!LABELS!#\n"*/utt-07.rec"\n0 3600000 so -12\n///\nso -13\n.\n', r"x:1: the first line, '#!LABELS!#', does not show the format"),
        ('[["so", null, [], -1, -2]]\n', r"does not show the format of these lists: expected an object with \"hyps\""),
        ("[\n", r"does not show the format of these lists: expected an object with \"hyps\""),
        ("[laughter] so it is\n", r"does not show .*--format: plain,n=N"),
        ("\n \n", r"x: the file holds no n-best list"),
    ],
)  # fmt: skip
def test_what_shows_no_format(text, said):
    with pytest.raises(FormatError, match=said):
        guess(text.splitlines(keepends=True), "x")


def test_documents_that_span_lines():
    assert (
        guess(["{\n", '  "results": [\n', '  {"alternatives": [\n', '{"transcript": "a"\n'], "x").name == "alternatives"
    )


def test_nothing_is_said_of_a_sure_guess_and_the_format_is_recorded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(GOLDEN / "wenet.txt", "lists")
    Path("ref").write_text("utt-07 so is it\nutt-12 oh no\n")
    ran = done("tune", "lists", "-r", "ref", "-m", "wer", "-t", "mira", "-o", "w.toml")
    assert "reads as" not in ran.err
    checked = done("check", "--nbest", "lists", "-r", "ref", "-m", "wer")
    assert "[nbest]: the lists are read as wenet" in checked.out
    assert 'use = "wenet"' in Path("w.toml").read_text() or '"wenet"' in Path("w.toml").read_text()
    applied = done("apply", "lists", "-w", "w.toml", "--nbest-out", "out")
    assert "reads as" not in applied.err
    assert "rerank: out: in the format of Moses, since lists in their own are read alone" in applied.err
    assert Path("out").read_text().startswith("utt-07 ||| so ")


def test_an_unclear_file_is_one_line(tmp_path):
    (tmp_path / "x").write_text("just text\n")
    ran = rerank("lists", "merge", tmp_path / "x")
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert "name it with --format: plain,n=N" in ran.err
    folder = rerank("lists", "merge", tmp_path)
    assert folder.code == 2
    assert "is a folder, expected a file; for a file per utterance name it with --format: srilm" in folder.err


RANKED = '{"id": "a", "hyps": ["so it is", "so is it"]}\n{"id": "b", "hyps": ["oh no", "owe no", "oh know"]}\n'


def test_lists_without_scores_get_ranks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lists").write_text(RANKED)
    Path("ref").write_text("a so it is\nb oh no\n")
    checked = done("check", "--nbest", "lists", "-r", "ref", "-m", "wer")
    assert "ok      lists: the lists have no scores: the feature reciprocal-rank, 1 / rank in the" in checked.out
    ran = done("tune", "lists", "-r", "ref", "-m", "wer", "-f", "length", "-t", "mira", "-o", "w.toml")
    assert "rerank: the lists have no scores: the feature reciprocal-rank" in ran.err
    assert "reciprocal-rank" in Path("w.toml").read_text()
    assert done("apply", "lists", "-w", "w.toml").out == "a so it is\nb oh no\n"
    for feature in ("reciprocal-rank", "decoder-score"):
        said = rerank("extract", "lists", "-f", feature, "-o", f"{feature}.npz")
        assert "is added" not in said.err
    Path("off.toml").write_text("ranks = false\n")
    assert "is added" not in done("extract", "lists", "-c", "off.toml", "-f", "length", "-o", "x.npz").err
    assert "is added" in done("extract", "lists", "-f", "length", "-o", "x.npz").err


def test_ranks_in_a_table_stand_back_for_a_feature_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lists").write_text(RANKED)
    Path("ref").write_text("a so it is\nb oh no\n")
    done("extract", "lists", "-f", "length", "-o", "x.npz")
    tune = "tune", "lists", "-r", "ref", "-m", "wer", "-t", "mira,passes=2", "--table", "x.npz", "-f", "length"
    done(*tune, "-f", "reciprocal-rank", "-o", "w.toml")
    assert set(read_weights("w.toml").dense) == {"length", "reciprocal-rank"}
    assert done("apply", "lists", "-w", "w.toml").out == done("apply", "lists", "-w", "w.toml", "--table", "x.npz").out


def test_a_run_without_scores(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lists").write_text(RANKED)
    Path("ref").write_text("a so it is\nb oh no\n")
    data = 'nbest = ["lists"]\nreferences = ["ref"]\n'
    metric = '[[metric]]\nuse = "wer"\n[evaluation]\nbootstrap = 10\nrandomisation = 10\n'
    systems = '[[feature]]\nuse = "length"\n[[system]]\nname = "short"\nwithout = ["length"]\n'
    Path("job.toml").write_text(f"[tune]\n{data}[[test]]\n{data}{metric}{systems}")
    ran = done("run", "job.toml", "--work", "work")
    assert ran.err.count("is added") + ran.out.count("is added") == 1
    assert "is added" not in done("check", "job.toml", "--no-estimate").err
    assert "reciprocal-rank" in Path("work/weights.toml").read_text()


def test_one_bests_with_ids(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(GOLDEN / "wenet.txt", "lists")
    Path("ref").write_text("utt-07 so is it\nutt-12 oh no\n")
    Path("segments").write_text("utt-07 call 0 1.5\nutt-12 call 2 3\n")
    done("tune", "lists", "-r", "ref", "-m", "wer", "-o", "w.toml")
    done("apply", "lists", "-w", "w.toml", "--as", "trn", "-o", "out.trn")
    assert Path("out.trn").read_text().splitlines()[1] == "oh no (utt-12)"
    done("apply", "lists", "-w", "w.toml", "--as", "ctm", "--segments", "segments", "-o", "out.ctm")
    assert Path("out.ctm").read_text().splitlines()[-1] == "call 1 2.50 0.50 no"
    said = rerank("apply", "lists", "-w", "w.toml", "--as", "ctm", "-o", "none")
    assert said.code == 2
    assert "name one with --segments" in said.err
    assert not Path("none").exists()
    evaluated = done("evaluate", "-r", "ref", "-m", "wer", "--nbest", "lists", "out=out.trn")
    assert "WER" in evaluated.out.upper()


@pytest.mark.parametrize("format", ["moses", "hyporadise", "whisper", "sockeye"])
def test_lists_are_converted(format, tmp_path, monkeypatch):
    """The lists of a lattice, with their features and totals, in another format."""
    monkeypatch.chdir(tmp_path)
    lattice = GOLDEN / "htk.slf"
    done("lists", "merge", lattice, "--format", "htk-slf,n=2", "--as", format, "-o", "converted")
    (before,) = read_nbest([lattice], FORMATS["htk-slf"](n=2))
    (after,) = read_nbest(
        ["converted"],
        load_plugins(BUILTIN, installed=False).get("format", format).factory(),
    )
    assert after.texts == before.texts
    assert [h.score for h in after] == [h.score for h in before]
    assert [h.features for h in after] == [h.features for h in before]


def test_a_document_in_one_long_line_is_recognised_by_its_beginning():
    line = json.dumps([{"id": f"u{n}", "hyps": ["so it is " * 50] * 20} for n in range(1000)])
    begun = time.process_time()
    assert guess([line], "x").name == "hyporadise"
    assert time.process_time() - begun < 2  # seconds; searched to its end, nine megabytes take five
