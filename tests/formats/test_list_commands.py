"""Lists, references and text of other programs, compressed, piped and processed on the way."""

import gzip
import json
import re
from pathlib import Path

import pytest

from rerank_adapters.evaluation import Evaluation
from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.weights import read_weights
from rerank_plugins import FeatureTable
from tests.command_line import done, refused

SPEECH = """\
{"id": "atis_0001", "hyps": ["two words", "to words"], "scores": [-2, -1]}
{"id": "atis_0000", "hyps": ["so it is", "so it was"], "scores": [-1, -2]}
"""


@pytest.mark.parametrize(
    "references", ["atis_0000 so it was\natis_0001 two words\n", "so it was (atis_0000)\ntwo words (atis_0001)\n"]
)
def test_utterances_and_transcripts_are_matched_by_id(references, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lists").write_text(SPEECH)
    Path("refs").write_text(references)
    speech = ("--format", "hyporadise,id_key=id", "-r", "refs", "-m", "wer")
    report = json.loads(done("evaluate", "--nbest", "lists", *speech, "--as", "json").out)
    assert report["metrics"][0]["systems"][0]["score"] == pytest.approx(100 * 1 / 5)
    assert [(s["segment_id"], s["references"]) for s in report["segments"]] == [
        ("atis_0001", ["two words"]),
        ("atis_0000", ["so it was"]),
    ]
    done(
        "tune", "lists", *speech, "-t", "mira,passes=2", "-f", "decoder-score", "-f", "reciprocal-rank", "-o", "w.toml"
    )
    assert "error" not in done("check", "--nbest", "lists", *speech).out
    said = refused("evaluate", "--nbest", "lists", *speech, "--reference-form", "lines")
    assert re.match("refs: the segments have ids, such as 'atis_000.', and the file has none; ", said)
    Path("refs").write_text("atis_0000 so it was\n")
    said = refused("tune", "lists", *speech, "-o", "w.toml")
    assert said.startswith("refs: segment 'atis_0001' is not in the file (1 segment: atis_0000)")


def test_systems_with_ids_beside_references_with_ids(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("ref").write_text("so it was (u0)\ntwo words (u1)\n")
    Path("by_id").write_text("to words (u1)\nso it was (u0)\n")
    Path("by_line").write_text("so it was\nto words\n")
    Path("less").write_text("so it was (u0)\n")
    evaluate = ("evaluate", "-r", "ref", "-m", "wer", "--as", "json")
    for arguments in (("by_id",), ("by_line", "--system-form", "lines")):
        (system,) = json.loads(done(*evaluate, "--reference-form", "trn", *arguments).out)["metrics"][0]["systems"]
        assert system["score"] == 20
    said = refused(*evaluate, "--reference-form", "trn", "by_line")
    assert said.startswith("by_line: the segments have ids, such as 'u0', and the file has none; ")
    assert said.endswith("--system-form lines matches them by position")
    said = refused(*evaluate, "--reference-form", "trn", "--unpaired", "error", "less")
    assert said == "less: no output for 1 of 2 segments (u1)"
    said = refused(*evaluate, "by_id")
    assert said.startswith("ref: each line ends with what may be an id, as (u0): name the form")
    done(*evaluate, "--reference-form", "lines", "by_id")


IDS = [f"sp{n % 2}-{n:04d}" for n in range(12)]
SPOKEN = [f"word{n % 5} {'is ' * (n % 3)}here" for n in range(12)]


@pytest.fixture
def spoken(tmp_path, monkeypatch):
    """References, and two systems in other orders with a wrong word in 4 and 5 of 32: in Kaldi's form and as trn."""
    monkeypatch.chdir(tmp_path)
    for name, order, wrong in (("ref", 1, 0), ("one", -1, 4), ("two", 5, 5)):
        texts = ["wrong" + text[5:] if n < wrong else text for n, text in enumerate(SPOKEN)]
        lines = sorted(zip(IDS, texts, strict=True), key=lambda line: order * int(line[0][-4:]) % 13)
        Path(name).write_text("".join(f"{id_} {text}\n" for id_, text in lines))
        Path(f"{name}.trn").write_text("".join(f"{text} ({id_})\n" for id_, text in lines))
        Path(f"{name}.text").write_text("".join(f"{text}\n" for text in texts))


def rates(*arguments):
    systems = json.loads(done("evaluate", *arguments, "-m", "wer", "--as", "json").out)["metrics"][0]["systems"]
    return [round(system["score"], 2) for system in systems]


def test_ids_that_all_files_share_are_no_words(spoken):
    wanted = [round(100 * wrong / 36, 2) for wrong in (4, 5)]
    assert rates("-r", "ref", "--reference-form", "kaldi", "one", "two") == wanted
    assert rates("-r", "ref", "one", "two") == wanted
    assert rates("-r", "ref.trn", "one.trn", "two") == wanted
    assert rates("-r", "ref.trn", "one.text", "--system-form", "lines") == wanted[:1]
    assert rates("-r", "ref", "one.trn") == wanted[:1]
    assert rates("-r", "ref.text", "one.text") == wanted[:1]
    said = done("evaluate", "-r", "ref", "one", "-m", "wer").err.splitlines()[0]
    assert said == "rerank: the lines of ref, one have ids: they are read in kaldi form"


def test_a_file_that_alone_has_ids_needs_its_form(spoken):
    asked = "each line begins with what may be an id, as {}: name the form, kaldi for ids or lines for text (--reference-form)"
    assert refused("evaluate", "-r", "ref", "one.text") == f"ref: {asked.format('sp0-0000')}"
    assert refused("evaluate", "-r", "ref.text", "one").startswith("one: each line begins with what may be an id")
    said = ("--reference-form", "kaldi", "--system-form", "lines")
    assert rates("-r", "ref", "one.text", *said) == [round(400 / 36, 2)]
    assert len(rates("-r", "ref.text", "one", "--reference-form", "lines")) == 1
    Path("lists").write_text("".join(f"{n} ||| {text} ||| a= 1 ||| 1\n" for n, text in enumerate(SPOKEN)))
    for command in (("evaluate", "--nbest"), ("tune", "-o", "w.toml")):
        assert refused(*command, "lists", "-r", "ref", "-m", "wer") == f"ref: {asked.format('sp0-0000')}"
    said = refused("evaluate", "--nbest", "lists", "-r", "ref.text", "-m", "wer", "one")
    assert said.startswith("one: each line begins with what may be an id")
    Path("few").write_text("u1 the cat sat\nu2 a dog ran\n")
    Path("same").write_text("u1 the cat sat\nu2 a dog ran\n")
    assert refused("evaluate", "-r", "few", "same", "-m", "wer") == f"few: {asked.format('u1')}"


def test_compressed_and_piped_everything(small, tuned, tmp_path):
    packed = gzip.compress((small / "test.nbest").read_bytes())
    (tmp_path / "test.nbest.gz").write_bytes(packed)
    source = ("--source", small / "test.de")
    plain = done("apply", small / "test.nbest", "-w", tuned / "weights.toml", *source).out
    assert done("apply", tmp_path / "test.nbest.gz", "-w", tuned / "weights.toml", *source).out == plain
    assert done("apply", "-", "-w", tuned / "weights.toml", *source, stdin=packed).out == plain
    done("apply", small / "test.nbest", "-w", tuned / "weights.toml", *source, "-o", tmp_path / "best.gz")
    assert gzip.decompress((tmp_path / "best.gz").read_bytes()).decode() == plain
    assert done("evaluate", "-r", small / "test.en", f"x={tmp_path / 'best.gz'}", "--as", "tsv").out.count("\n") >= 2


def test_text_pipelines_reach_features_and_metrics(small, tmp_path):
    pieces = (small / "tune.nbest").read_text().replace(" the ", " th@@ e ")
    (tmp_path / "tune.nbest").write_text(pieces)
    (tmp_path / "tune.en").write_text((small / "tune.en").read_text().upper())
    (tmp_path / "mt.toml").write_text(
        '[text]\nwhole = ["undo-bpe"]\nloud = ["undo-bpe", "uppercase"]\n'
        '[[feature]]\nuse = "length"\ntext = "whole"\n'
        '[[feature]]\nuse = "length"\nlabel = "pieces"\n'
        '[[metric]]\nuse = "bleu"\ntokenize = "none"\ntext = "loud"\n'
    )
    config = ("-c", tmp_path / "mt.toml")
    done("extract", tmp_path / "tune.nbest", *config, "-o", tmp_path / "t.npz")
    table = FeatureTable.load(tmp_path / "t.npz")
    whole, subwords = (table.values[:, table.names.index(name)] for name in ("length", "pieces"))
    assert (whole <= subwords).all()
    assert whole.tolist() == [
        len(h.words) for nbest in read_nbest([small / "tune.nbest"], FORMATS["moses"]()) for h in nbest
    ]
    tune = (
        "tune",
        tmp_path / "tune.nbest",
        "-r",
        tmp_path / "tune.en",
        "-t",
        "mira,passes=2",
        "-o",
        tmp_path / "w.toml",
    )
    done(*tune, *config, "--table", tmp_path / "t.npz")
    assert read_weights(tmp_path / "w.toml").provenance["text"] == "undo-bpe+uppercase"
    assert read_weights(tmp_path / "w.toml").provenance["score"] > 20  # of texts that look nothing like the references
    evaluated = done(
        "evaluate", *config, "-r", tmp_path / "tune.en", "--nbest", tmp_path / "tune.nbest", "--as", "json"
    ).out
    assert Evaluation.from_json(evaluated).metrics[0].systems[0].score > 20
    (tmp_path / "plain.toml").write_text('[text]\nwhole = ["uppercase"]\n')
    done(*tune, "-c", tmp_path / "plain.toml", "--table", tmp_path / "t.npz")
    (length, _) = read_weights(tmp_path / "w.toml").provenance["job"]["feature"]
    assert length["text"] == ["undo-bpe"]  # as the table records it, whatever the name means in another config


def test_text_as_a_filter(tmp_path):
    assert done("tools", "text", "undo-bpe", "uppercase", stdin="a b@@ c\n\nd\n").out == "A BC\n\nD\n"
    (tmp_path / "in").write_text("Hello , world .\n")
    done("tools", "text", "detokenize:en", "-i", tmp_path / "in", "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "Hello, world.\n"
    assert refused("tools", "text", "undo-bp", stdin="a\n") == "unknown text step 'undo-bp'; did you mean 'undo-bpe'?"


def test_merge(small, tmp_path):
    lines = (small / "tune.nbest").read_text().splitlines(keepends=True)
    (tmp_path / "a").write_text("".join(lines[:15]))
    (tmp_path / "b").write_text("".join(lines[5:30]))
    ran = done("lists", "merge", tmp_path / "a", tmp_path / "b")
    assert ran.out == "".join(lines[:30])
    assert re.fullmatch(r"wrote 3 segments, 30 hypotheses to stdout in \d\.\d s\n", ran.err)
    done("lists", "merge", tmp_path / "b", tmp_path / "a", "-o", tmp_path / "c.gz")
    merged = gzip.decompress((tmp_path / "c.gz").read_bytes()).decode()
    assert sorted(merged.splitlines()) == sorted(ran.lines)
