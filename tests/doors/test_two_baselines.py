"""Lists that are not in the order of their totals have two baselines, and gains are over the stronger of both.

Samples of a language model come in no order, so that the first one is a random one. What reranking gains over that one
is mostly what taking the highest total gains, which needs no reranking.
"""

import base64
import gzip
import json
import random
import re

import pytest

from rerank_adapters import Pipeline, evaluate, read_nbest
from rerank_adapters.weights import read_weights
from tests.command_line import done

WORDS = ["the", "a", "dog", "cat", "saw", "heard", "old", "man", "in", "garden", "big", "small"]
SEGMENTS, SAMPLES = 30, 4
BOTH = ["1-best", "highest total"]


def write_samples(folder, name, seed, *, in_order):
    """Samples whose totals count their wrong words, and the best of which is at another place in each list."""
    rng = random.Random(seed)
    lines, references = [], []
    for segment in range(SEGMENTS):
        reference = [rng.choice(WORDS) for _ in range(6)]
        references.append(" ".join(reference) + "\n")
        wrong = sorted(rng.sample(range(6), SAMPLES))
        for count in wrong if in_order else rng.sample(wrong, SAMPLES):
            words = ["wrong" if place < count else word for place, word in enumerate(reference)]
            lines.append(f"{segment} ||| {' '.join(words)} ||| LM= {-count + rng.gauss(0, 0.4):.3f} ||| {-count}\n")
    (folder / f"{name}.nbest").write_text("".join(lines))
    (folder / f"{name}.ref").write_text("".join(references))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("baselines")
    for seed, name in enumerate(("tune", "test")):
        write_samples(folder, name, seed, in_order=False)
        write_samples(folder, f"{name}-in-order", seed, in_order=True)
    for name in ("test", "test-in-order"):
        lists = read_nbest(folder / f"{name}.nbest")
        (folder / f"{name}.last").write_text("".join(f"{nbest[-1].text}\n" for nbest in lists))
        (folder / f"{name}.highest").write_text(
            "".join(f"{max(nbest, key=lambda h: h.score).text}\n" for nbest in lists)
        )
    return folder


def evaluated(folder, name, *more, metric="wer"):
    files = ("-r", folder / f"{name}.ref", "--nbest", folder / f"{name}.nbest")
    return json.loads(done("evaluate", *files, "-m", metric, "--as", "json", *more).out)


def test_evaluate_compares_with_the_highest_total(folder):
    found = evaluated(folder, "test", f"last={folder / 'test.last'}")
    assert (found["systems"], found["baseline"]) == ([*BOTH, "last"], "highest total")
    first, highest, last = found["metrics"][0]["systems"]
    assert highest["comparison"] is None
    assert first["comparison"]["difference"] == pytest.approx(first["score"] - highest["score"])
    assert last["comparison"]["difference"] == pytest.approx(last["score"] - highest["score"])


def test_evaluate_names_the_first_hypothesis_where_it_is_stronger(folder):
    """By a metric that is better for wrong words, the totals, which count right ones, are the weaker baseline."""
    lists = folder / "turned.nbest"
    text = (folder / "test-in-order.nbest").read_text()
    lists.write_text(re.sub(r"\|\|\| -(\d+)$", r"||| \1", text, flags=re.M))
    found = json.loads(
        done("evaluate", "-r", folder / "test.ref", "--nbest", lists, "-m", "wer", "--trust-pairs", "--as", "json").out
    )
    assert (found["systems"], found["baseline"]) == (BOTH, "1-best")


def test_evaluate_in_words(folder):
    files = ("-r", folder / "test.ref", "--nbest", folder / "test.nbest", f"last={folder / 'test.last'}", "-m", "wer")
    table = done("evaluate", *files).out
    assert "Differences are to highest total." in table
    assert "not in the order of their totals" in table
    page = done("evaluate", *files, "--as", "html").out
    assert re.search(r"<h1>\+[\d.]+ wer over the hypotheses of the highest total", page)


def test_a_system_that_is_the_highest_total_has_no_gain(folder):
    found = evaluated(folder, "test", f"best={folder / 'test.highest'}")
    assert (found["systems"], found["baseline"]) == ([*BOTH, "best"], "highest total")
    assert found["metrics"][0]["systems"][2]["comparison"]["difference"] == 0


def test_a_named_baseline_is_the_baseline(folder):
    found = evaluated(folder, "test", f"last={folder / 'test.last'}", "--baseline", "1-best")
    assert (found["systems"], found["baseline"]) == ([*BOTH, "last"], "1-best")


def test_nothing_changes_for_lists_in_order(folder):
    found = evaluated(folder, "test-in-order", f"last={folder / 'test-in-order.last'}")
    assert (found["systems"], found["baseline"]) == (["1-best", "last"], "1-best")


def test_lists_without_totals_have_one_baseline(folder):
    text = re.sub(r" \|\|\| -?\d+$", "", (folder / "test.nbest").read_text(), flags=re.M)
    (folder / "no-totals.nbest").write_text(text)
    (folder / "no-totals.ref").write_text((folder / "test.ref").read_text())
    assert evaluated(folder, "no-totals")["systems"] == ["1-best"]


def test_python_compares_with_the_highest_total(folder):
    lists = read_nbest(folder / "test.nbest")
    first, last = ([nbest[place].text for nbest in lists] for place in (0, -1))
    found = evaluate({"first": first, "last": last}, folder / "test.ref", metrics="wer", nbests=lists)
    assert (found.systems, found.baseline) == (("first", "highest total", "last"), "highest total")
    other = evaluate({"last": last, "first": first}, folder / "test.ref", metrics="wer", nbests=lists)
    assert (other.systems, other.baseline) == (("last", "first", "highest total"), "last")
    in_order = read_nbest(folder / "test-in-order.nbest")
    own = evaluate({"last": last}, folder / "test.ref", metrics="wer", nbests=in_order, trust_pairs=True)
    assert (own.systems, own.baseline) == (("last",), "last")


def test_samples_that_are_chosen_by_mbr_are_compared_with_the_highest_total(folder):
    done("lists", "mbr", folder / "test.nbest", "-m", "wer", "-o", folder / "test.mbr")
    found = evaluated(folder, "test", f"mbr={folder / 'test.mbr'}")
    assert (found["systems"], found["baseline"]) == ([*BOTH, "mbr"], "highest total")


def tuned(folder, name, *more):
    weights = folder / f"{name}{''.join(more).replace(',', '-')}.toml"
    lists = (folder / f"{name}.nbest", "-r", folder / f"{name}.ref")
    return weights, done("tune", *lists, "-f", "length", "-m", "wer", *more, "-o", weights)


def test_the_held_out_gain_is_over_the_highest_total(folder):
    weights, ran = tuned(folder, "tune")
    found = re.search(r"tuning lists: wer ([\d.]+), 1-best ([\d.]+), highest total ([\d.]+), a gain of (\S+)", ran.err)
    assert found is not None, ran.err
    score, first, highest, gain = map(float, found.groups())
    assert gain == pytest.approx(highest - score, abs=0.011)
    assert first - score > 10 > abs(gain)
    assert re.search(r"on the tuning set: 1-best [\d.]+, highest total [\d.]+, equal weights", ran.err)
    recorded = read_weights(weights).provenance["held_out"]["baselines"]
    assert list(recorded.items()) == [
        ("highest total", pytest.approx(highest, abs=0.01)),
        ("1-best", pytest.approx(first, abs=0.01)),
    ]


def test_no_gain_over_the_highest_total_is_said(folder):
    (folder / "useless.nbest").write_text(re.sub(r"LM= \S+", "LM= 1.0", (folder / "tune.nbest").read_text()))
    (folder / "useless.ref").write_text((folder / "tune.ref").read_text())
    _, ran = tuned(folder, "useless")
    assert "No gain is shown" in ran.err
    assert "the highest total" in ran.err.split("No gain is shown")[1]


def test_the_held_out_gain_of_lists_in_order_is_as_before(folder):
    weights, ran = tuned(folder, "tune-in-order")
    assert re.search(r"tuning lists: wer [\d.]+, 1-best [\d.]+, a gain of", ran.err)
    assert "highest" not in ran.err
    assert not {"baselines", "highest_total"} & read_weights(weights).provenance["held_out"].keys()


def test_a_pipeline_measures_its_gain_over_the_highest_total(folder):
    lists = read_nbest(folder / "tune.nbest")
    held = Pipeline("length", metric="wer").fit(lists, folder / "tune.ref").tuning_.held_out
    assert held.baseline == "highest total"
    assert held.gain == pytest.approx(held.baselines["highest total"] - held.score)
    assert held.first > held.baselines["highest total"] + 10


@pytest.fixture(scope="module")
def work(folder):
    config = folder / "job.toml"
    config.write_text(f"""
        [[feature]]
        use = "length"
        [[metric]]
        use = "wer"
        [tune]
        nbest = ["{folder}/tune.nbest"]
        references = ["{folder}/tune.ref"]
        [[test]]
        name = "test"
        nbest = ["{folder}/test.nbest"]
        references = ["{folder}/test.ref"]
        """)
    work = folder / "work"
    return work, done("run", config, "--work", work)


def test_a_run_compares_with_the_highest_total(work):
    folder, ran = work
    report = json.loads((folder / "test.report.json").read_text())
    assert (report["systems"], report["baseline"]) == ([*BOTH, "reranked"], "highest total")
    assert "Differences are to highest total." in ran.out
    assert re.search(r"highest ┃ +held ┃ +gain over the ┃.*\n.* 1-best ┃ +total ┃ +out ┃ +highest total ┃", ran.out)
    page = (folder / "test.report.html").read_text()
    packed = page.split('id="explanations">')[1].split("<")[0]
    explained = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert {record["b"]["name"] for record in explained.values()} == {"highest total"}
    assert re.search(r"<h1>[^<]*the hypotheses of the highest total", page)
