"""`rerank evaluate` and the forms of its output."""

import json
import re

import pytest

from rerank_adapters.evaluation import Evaluation
from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.reading import read_nbest
from tests.command_line import BLEU, done


@pytest.fixture(scope="module")
def systems(small, tuned):
    best = tuned.parent / "best"
    done("apply", small / "test.nbest", "-w", tuned / "weights.toml", "--source", small / "test.de", "-o", best)
    first = tuned.parent / "first"
    first.write_text("".join(nbest[0].text + "\n" for nbest in read_nbest([small / "test.nbest"], FORMATS["moses"]())))
    return (
        f"first={first}",
        f"best={best}",
        "-r",
        small / "test.en",
        "--nbest",
        small / "test.nbest",
        *BLEU,
        "-m",
        "ter,label=TER",
    )


def test_evaluation_as_json_reads_back(systems, small):
    text = done("evaluate", *systems, "--source", small / "test.de", "--as", "json").out
    evaluation = Evaluation.from_json(text)
    assert evaluation.to_json() == text
    assert evaluation.systems == ("first", "best")
    bleu, ter = evaluation.metrics
    assert (bleu.name, ter.name) == ("bleu", "TER")
    assert "nrefs:1" in bleu.signature
    assert json.loads(text)


def test_evaluation_in_every_other_form(systems, tmp_path):
    evaluation = Evaluation.from_json(done("evaluate", *systems, "--as", "json").out)
    first, best = (f"{system.score:.2f}" for system in evaluation.metrics[0].systems)
    table = done("evaluate", *systems, "--max-changes", "3").out
    markdown = done("evaluate", *systems, "--as", "markdown").out
    latex = done("evaluate", *systems, "--as", "latex").out
    tsv = done("evaluate", *systems, "--as", "tsv").out
    for text in (table, markdown, latex):
        assert first in text
        assert best in text
        assert "oracle" in text
    assert re.search(r"^\| *first *\|.*\|$", markdown, re.M)
    assert re.search(r"^\| *:?-+", markdown, re.M)
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 1
    header, *rows = [line.split("\t") for line in tsv.splitlines()]
    assert {"metric", "system", "score"} <= set(header)
    assert {len(row) for row in rows} == {len(header)}
    score, metric, system = (header.index(name) for name in ("score", "metric", "system"))
    found = {(row[metric], row[system]): float(row[score]) for row in rows}
    for result in evaluation.metrics:
        for one in result.systems:
            assert found[result.name, one.system] == pytest.approx(one.score, abs=1e-3)
    done("evaluate", *systems, "--as", "html", "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.lower().startswith("<!doctype html>")
    assert first in page
    assert "http" not in re.sub(r"http://www\.w3\.org/[^\"' ]*", "", page)  # self-contained


def test_evaluating_lists_alone_and_several_references(root, small):
    both = ("-r", small / "test.en", "-r", small / "tune.en", "--trust-pairs")  # those of other sentences
    row, *_ = Evaluation.from_json(done("evaluate", *both, "--nbest", small / "test.nbest", "--as", "json").out).metrics
    assert "nrefs:2" in row.signature


def test_settings_of_the_tests_reach_the_evaluation(systems):
    few = done("evaluate", *systems, "--bootstrap", "20", "--randomisation", "30", "--seed", "7", "--as", "json").out
    assert "bs:20|ar:30|seed:7" in Evaluation.from_json(few).metrics[0].signature


def test_words_in_silence_have_one_rate(tmp_path):
    """Five words against empty references are 500 % in every table, as in jiwer 4.0.0; sacrebleu's TER is 100."""
    (tmp_path / "ref").write_text("\n\n")
    (tmp_path / "heard").write_text("hello out there\ngood night\n")
    files = ("-r", tmp_path / "ref", tmp_path / "heard", "--as", "json")
    wer, ter = json.loads(done("evaluate", *files, "-m", "wer", "-m", "ter").out)["metrics"]
    assert (wer["systems"][0]["score"], wer["systems"][0]["bucket_scores"]) == (500.0, [500.0])
    assert wer["errors"][0]["insertions"] == 5
    assert ter["systems"][0]["score"] == 100.0
    table = done("evaluate", *files[:3], "-m", "wer").out
    assert re.search(r"heard +│ +500\.00 ±", table)
    assert "100.00 ±" not in table
