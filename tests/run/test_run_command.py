"""One config for the whole job: `rerank run`, `check` and `cross-validate`, and what they say."""

import re
import shutil

import numpy as np
import pytest

from rerank_adapters import Reranker
from rerank_adapters.evaluation import Evaluation
from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.weights import read_weights
from rerank_plugins import FeatureTable
from tests.command_line import BLEU, done, file_names, one_line, refused, rerank


@pytest.fixture
def config(small, tmp_path):
    shutil.copytree(small, tmp_path / "data")
    (tmp_path / "mt.toml").write_text(
        """
seed = 3
[tune]
nbest = ["data/tune.nbest"]
references = ["data/tune.en"]
source = "data/tune.de"
[[test]]
name = "held"
nbest = ["data/test.nbest"]
references = ["data/test.en"]
source = "data/test.de"
[tuner]
use = "mira"
passes = 5
[evaluation]
bootstrap = 50
randomisation = 50
[[metric]]
use = "bleu"
tokenize = "none"
[[metric]]
use = "chrf"
[language_model.target]
use = "ngram-lm"
model = "data/lm.arpa"
[[feature]]
use = "length"
[[feature]]
use = "target"
label = "ngram-lm"
[[feature]]
use = "untranslated"
"""
    )
    return tmp_path / "mt.toml"


def test_run_does_the_whole_job(config, small):
    work = config.parent / "work"
    ran = done("run", config, "--work", work)
    kept = {
        "tune.npz",
        "weights.toml",
        "held.npz",
        "held.1best",
        "held.nbest.gz",
        "held.report.json",
        "held.report.html",
        "contributions.json",
        "intervals.json",
        "made.json",
    }
    assert file_names(work) == kept
    assert "BLEU" in ran.out.upper()
    assert "reranked" in ran.out
    assert "oracle" in ran.out
    evaluation = Evaluation.from_json((work / "held.report.json").read_text())
    assert evaluation.systems == ("1-best", "reranked")
    best = (work / "held.1best").read_text()
    again = done("apply", small / "test.nbest", "-w", work / "weights.toml", "--source", small / "test.de").out
    assert again == best
    table = (work / "tune.npz").read_bytes()
    assert done("run", config, "--work", work).out == ran.out
    assert (work / "tune.npz").read_bytes() == table


def test_run_writes_the_ids_of_utterances_before_their_1_bests(tmp_path):
    lists = "".join(
        f"u{s}-{rank} {text}\n" for s in range(6) for rank, text in ((1, "so it was"), (2, "so it is"), (3, ""))
    )
    (tmp_path / "lists").write_text(lists)
    (tmp_path / "text").write_text("".join(f"u{s} so it {'is' if s else 'was'}\n" for s in (3, 2, 1, 0, 5, 4)))
    data = 'nbest = ["lists"]\nreferences = ["text"]\n'
    (tmp_path / "asr.toml").write_text(
        f'[tune]\n{data}[[test]]\n{data}[[metric]]\nuse = "wer"\n[[feature]]\nuse = "character-length"\n'
        "[evaluation]\nbootstrap = 9\nrandomisation = 9\nweight_samples = 0\n"
    )
    work = tmp_path / "work"
    done("run", tmp_path / "asr.toml", "--work", work)
    best = (work / "test.1best").read_text().splitlines()
    assert best == [f"u{s} so it is" for s in range(6)]
    assert Reranker.load(work / "weights.toml").rerank(["so it was", "so it is", ""]).best == "so it is"
    evaluation = Evaluation.from_json((work / "test.report.json").read_text())
    assert [system.score for system in evaluation.metrics[0].systems] == pytest.approx([500 / 18, 100 / 18])
    ran = done("evaluate", "-r", tmp_path / "text", "--nbest", tmp_path / "lists", "-m", "wer", work / "test.1best",
               "--as", "json")  # fmt: skip
    assert Evaluation.from_json(ran.out).metrics[0].systems[1].score == pytest.approx(100 / 18)


def test_run_names_its_files_and_takes_jobs(config, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", "")
    work = config.parent / "work"
    ran = done("run", config, "--work", work, "-j", "1")
    *_, page, last = ran.err.splitlines()
    assert page.endswith(f"for a browser: {work}/held.report.html")
    assert re.fullmatch(rf"wrote (.*) to {re.escape(str(work))} in [\d.]+ s", last)
    assert set(re.findall(r"[\w.]+\.\w+(?=,| to)", last)) == file_names(work)
    assert "CPU seconds, summed over processes: " in ran.err
    assert "jobs" in refused("run", config, "-j", "0")


def test_commands_say_what_they_wrote_and_where(small, tuned, tmp_path):
    weights, same = tuned / "weights.toml", tmp_path / "same"
    same.write_bytes((small / "test.en").read_bytes())
    wanted = {
        ("tools", "weights", weights): "wrote 17 weights (section) to stdout",
        (
            "tools",
            "weights",
            weights,
            "--as",
            "toml",
            "-o",
            tmp_path / "w",
        ): f"wrote 17 weights (toml) to {tmp_path / 'w'}",
        ("apply", small / "test.nbest", "-w", weights, "--source", small / "test.de"): "wrote 20 1-bests to stdout",
        ("extract", small / "tune.nbest", "-f", "length", "-o", tmp_path / "t.npz"): (
            f"wrote 9 features of 20 segments, 200 hypotheses to {tmp_path / 't.npz'}"
        ),
        ("evaluate", "-r", small / "test.en", *BLEU, f"same={same}", "--bootstrap", "9"): (
            "wrote an evaluation of 1 system by 1 metric to stdout"
        ),
        ("tune", small / "tune.nbest", "-r", small / "tune.en", *BLEU, "-t", "mira,passes=1", "-o", tmp_path / "v"): (
            f"wrote 8 weights to {tmp_path / 'v'}"
        ),
    }
    for arguments, said in wanted.items():
        assert re.fullmatch(rf"{re.escape(said)} in \d\.\d s", done(*arguments).err.splitlines()[-1])


def test_the_decoders_1_best_is_reported(small, tmp_path):
    """By `tune` and `cross-validate` beside equal weights, by `evaluate --nbest` as a row."""
    lists, known = small / "tune.nbest", ("-r", small / "tune.en", *BLEU)
    first = tmp_path / "first"
    first.write_text("".join(nbest[0].text + "\n" for nbest in read_nbest([lists], FORMATS["moses"]())))
    gold = tmp_path / "gold"
    gold.write_bytes((small / "tune.en").read_bytes())
    evaluate = ("evaluate", *known, "--nbest", lists, "--as", "json")
    evaluation = Evaluation.from_json(done(*evaluate, f"gold={gold}").out)
    assert (evaluation.systems, evaluation.baseline) == (("1-best", "gold"), "1-best")
    assert Evaluation.from_json(done(*evaluate, f"first={first}").out).systems == ("first",)  # it is there already
    assert Evaluation.from_json(done(*evaluate, f"1-best={gold}").out).systems == (
        "decoder's 1-best",
        "1-best",
    )
    score = f"{evaluation.metrics[0].systems[0].score:.2f}"
    tuned = done("tune", lists, *known, "-t", "mira,passes=1", "-o", tmp_path / "w.toml").err
    assert f"bleu on the tuning set: 1-best {score}, equal weights " in tuned
    table = done("cross-validate", lists, *known, "-t", "mira,passes=1", "--folds", "2", "--seeds", "1")
    assert re.search(rf"│ 1-best(?: \*)? +│ +{score} │", table.out)
    assert "±" not in table.out
    assert re.fullmatch(r"compared 1 tuner on 2 folds and 1 seed in \d\.\d s", table.err.splitlines()[-1])


def test_run_equals_its_steps(config, tmp_path):
    data = tmp_path / "data"
    done("run", config, "--work", tmp_path / "work")
    done("extract", data / "tune.nbest", "--source", data / "tune.de", "-c", config, "-o", tmp_path / "t.npz")
    table, whole = FeatureTable.load(tmp_path / "t.npz"), FeatureTable.load(tmp_path / "work" / "tune.npz")
    np.testing.assert_array_equal(table.values, whole.values)
    done(
        "tune",
        data / "tune.nbest",
        "-r",
        data / "tune.en",
        "-c",
        config,
        "--table",
        tmp_path / "t.npz",
        "-o",
        tmp_path / "w.toml",
    )
    assert read_weights(tmp_path / "w.toml").dense == read_weights(tmp_path / "work" / "weights.toml").dense


def test_work_goes_where_the_config_says(config, monkeypatch, tmp_path):
    config.write_text('work = "there"\n' + config.read_text())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    done("run", config)
    assert (tmp_path / "there" / "weights.toml").exists()
    assert file_names(elsewhere) == set()


@pytest.mark.parametrize("command", [("run",), ("run", "--dry-run")])
def test_a_run_does_not_overwrite_what_it_reads(config, tmp_path, command):
    lists = tmp_path / "data" / "held.nbest.gz"
    lists.write_bytes((tmp_path / "data" / "test.nbest").read_bytes())
    config.write_text('work = "data"\n' + config.read_text().replace("data/test.nbest", "data/held.nbest.gz"))
    before = {path: path.read_bytes() for path in lists.parent.iterdir()}
    assert "held.nbest.gz: is read and would be overwritten" in one_line(rerank(*command, config), 2, after=True)
    assert {path: path.read_bytes() for path in lists.parent.iterdir()} == before


def test_a_run_does_not_overwrite_the_weights_that_it_starts_from(config, tmp_path):
    done("run", config, "--work", tmp_path / "work")
    before = (tmp_path / "work" / "weights.toml").read_bytes()
    config.write_text(config.read_text() + '[tuning]\nstart = "work/weights.toml"\n')
    said = one_line(rerank("run", config, "--work", tmp_path / "work"), 2, after=True)
    assert "weights.toml: is read and would be overwritten" in said
    assert (tmp_path / "work" / "weights.toml").read_bytes() == before


def test_check_finds_a_good_job_good(config, small):
    ran = done("check", config)
    assert "error" not in ran.out
    assert "20 segments, 200 hypotheses" in ran.out
    assert done("check", "--nbest", small / "tune.nbest", "-r", small / "tune.en").out.startswith("ok")


def test_cross_validation(small, tuned):
    ran = done(
        *("cross-validate", small / "tune.nbest", "-r", small / "tune.en", "--table", tuned / "tune.npz", *BLEU),
        *("-t", "mira,passes=3", "-t", "mert,restarts=1", "--folds", "2", "--seeds", "1"),
    )
    for name in ("mira,passes=3", "mert,restarts=1", "equal weights", "decoder's weights"):
        assert name in ran.out
