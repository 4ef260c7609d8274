"""Data that a result is measured on, and that were learnt from, are warned of: whatever their name or compression."""

import gzip

import pytest

from rerank_adapters.data.overlap import SEGMENTS, segment_sample, warn_if_tuned_on
from tests.command_line import done
from tests.conftest import ROOT

TOO_GOOD = "optimistic; use held-out data"
PAIRS = ROOT / "example_nbest" / "similarity" / "pairs.tsv"
JUDGEMENTS = "".join(f"{i % 2}\t{'w' * (1 + i % 2)} {i} {'x ' * (i % 2)}\n" for i in range(12))


@pytest.fixture
def put(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return write


def test_judgements_of_both_sets(put):
    dev, same = put("dev.tsv", JUDGEMENTS), put("test.tsv.gz", JUDGEMENTS)
    features = ("-f", "length", "--text", "none")
    warning = f"12 of the 12 distinct sentences of {same} are in {dev}, too"
    assert warning in done("acceptability", "sentences", dev, same, *features).err
    rows = JUDGEMENTS.splitlines(keepends=True)
    few = put("few.tsv", "".join([*rows[:3], *(row.replace("w", "v") for row in rows[3:])]))
    assert TOO_GOOD not in done("acceptability", "sentences", dev, few, *features).err


def test_pairs_that_a_similarity_system_was_trained_on(put, tmp_path):
    text = PAIRS.read_text(encoding="utf-8")
    copy, other = put("copy.tsv", text), put("other.tsv", "".join(text.splitlines(keepends=True)[:9]))
    done("similarity", "train", PAIRS, "-o", tmp_path / "m.sim")
    assert f"copy.tsv: the system {tmp_path}/m.sim was trained on this very file (as pairs.tsv)" in (
        done("similarity", "evaluate", copy, other, "-M", tmp_path / "m.sim").err
    )
    assert TOO_GOOD not in done("similarity", "evaluate", other, "-M", tmp_path / "m.sim").err


def test_held_out_text_that_a_model_is_trained_on(put, tmp_path):
    text = put("text.en", "a b c\n" * 30)
    train = ("train", "ngram", text, "--order", "2", "-o", tmp_path / "m.ngram", "--held-out")
    assert TOO_GOOD in done(*train, put("dev.en.gz", "a b c\n" * 30)).err
    assert TOO_GOOD not in done(*train, put("other.en", "a b\n")).err


LISTS = "".join(f"{i} ||| {text} ||| lm= {j}.5 ||| {-j}\n" for i in range(6) for j, text in enumerate((f"a {i}", "b")))
CONFIG = """
[tune]
nbest = ["tune.nbest"]
references = ["tune.ref"]
[[test]]
nbest = ["test.nbest"]
references = ["{references}"]
[[metric]]
use = "bleu"
[tuner]
use = "pro"
[evaluation]
bootstrap = 0
randomisation = 0
contribution_folds = 0
weight_samples = 0
explained = 0
"""


@pytest.mark.parametrize(("references", "is_same"), [("tune.ref", True), ("test.ref", False)])
def test_segments_of_the_tuning_set(put, tmp_path, references, is_same):
    """Also where another decoder made the lists: it is the references that tell a segment."""
    put("tune.nbest", LISTS)
    put("test.nbest", LISTS.replace("b", "c"))
    put("tune.ref", "".join(f"a {i}\n" for i in range(6)))
    put("test.ref", "".join(f"c {i}\n" for i in range(6)))
    config = put("job.toml", CONFIG.format(references=references))
    warning = "6 of the 6 distinct segments of test are in the tuning set, too"
    assert (warning in done("check", config).out) is is_same
    assert (warning in done("run", config, "--work", tmp_path / "work").err) is is_same


def test_questions_that_weights_were_tuned_on(put, tmp_path):
    """Whatever their order, and in other files: the lists of `complete --lists` are tuned on."""
    rows = [f"{i}\tthe {i} _____ barks\tdog\tcat\tcow\t{'abc'[i % 3]}\n" for i in range(30)]
    header = "id\tquestion\ta\tb\tc\tanswer\n"
    dev, turned = put("dev.tsv", header + "".join(rows)), put("turned.tsv", header + "".join(rows[::-1]))
    few = put("few.tsv", header + "".join([*rows[:5], *(row.replace("the", "a") for row in rows[5:])]))
    features = ("-f", "length", "-f", "unigram")
    done("words", "complete", dev, *features, "--lists", tmp_path / "dev", "-o", tmp_path / "answers")
    weights = tmp_path / "weights.toml"
    config, reference = put("job.toml", "ranks = false\n"), tmp_path / "dev.ref"
    done("tune", tmp_path / "dev.nbest", "-r", reference, "-m", "accuracy", "-c", config, *features, "-o", weights)
    warning = "half of its segments or more are among those that the weights were tuned on"
    assert f"{turned}: {warning}" in done("words", "complete", turned, *features, "-w", weights).err
    assert warning not in done("words", "complete", few, *features, "-w", weights).err
    assert warning not in done("words", "complete", turned, *features).err


def test_sentences_that_weights_were_tuned_on(put, tmp_path):
    text, other = put("text", "a b c d e\nb c a e d\n" * 20), put("other", "e d c b a\nd a b c e\n" * 20)
    done("train", "missing-words", text, "-o", tmp_path / "m.mw")
    for path in (text, other):
        done("words", "remove", path, "-o", f"{path}.tsv", "--complete", f"{path}.ref")
    restore = ("words", "restore", "-M", tmp_path / "m.mw", "--top", "2")
    done(*restore, f"{text}.tsv", "--nbest-out", tmp_path / "lists", "-o", tmp_path / "best")
    weights = tmp_path / "weights.toml"
    done("tune", tmp_path / "lists", "-r", f"{text}.ref", "-m", "accuracy", "-f", "length", "-o", weights)
    assert TOO_GOOD in done(*restore, f"{text}.tsv", "--accuracy", "-w", weights).err
    assert TOO_GOOD not in done(*restore, f"{other}.tsv", "--accuracy", "-w", weights).err


@pytest.mark.parametrize("shared", [0, 0.3, 0.7, 1])
def test_the_sample_of_segments_shows_how_many_are_shared(caplog, shared):
    tuned = [(f"tuned {i}",) for i in range(3000)]
    test = [(f"{'tuned' if i < shared * 2000 else 'other'} {i}",) for i in range(2000)]
    record = {SEGMENTS: segment_sample(tuned)}
    assert len(record[SEGMENTS]) < 1200
    warn_if_tuned_on(record, test, "test")
    assert (TOO_GOOD in caplog.text) is (shared > 0.5)
    caplog.clear()
    warn_if_tuned_on({}, test, "test")
    warn_if_tuned_on(record, [], "test")
    assert not caplog.records
