"""A gain that is not there is said, a margin keeps 1-bests, and lists unlike those of the tuning are named."""

import math
import random
import re

import pytest

from rerank_adapters import Reranker, read_nbest
from rerank_adapters.data.unlike import MIN_LISTS
from rerank_adapters.weights import read_weights
from tests.command_line import done, refused

WORDS = ["the", "a", "dog", "cat", "saw", "heard", "old", "man", "in", "garden", "big", "small"]
NO_GAIN = "No gain is shown"
LISTS = MIN_LISTS + 20


def write_lists(folder, name, seed, *, telling, spread=1.0, longest=5):
    """Moses lists with a feature that counts right words where it is `telling`, and noise; the 1-best is half right."""
    rng = random.Random(seed)
    lists, references = [], []
    for segment in range(LISTS):
        reference = [rng.choice(WORDS) for _ in range(6)]
        references.append(" ".join(reference) + "\n")
        for rank in range(rng.randint(longest - 2, longest)):
            wrong = rng.randint(0, 1) if rank == 0 and not telling else rng.randint(1, 4)
            words = [rng.choice(WORDS) if place < wrong else word for place, word in enumerate(reference)]
            right = sum(map(str.__eq__, words, reference))
            value = spread * ((right if telling else 0) + rng.gauss(0, 0.3))
            features = f"Told= {value:.4f} Chance= {rng.gauss(0, 1):.4f}"
            lists.append(f"{segment} ||| {' '.join(words)} ||| {features} ||| {-rank}\n")
    (folder / f"{name}.nbest").write_text("".join(lists))
    (folder / f"{name}.ref").write_text("".join(references))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Lists in which nothing is to be gained, lists with a telling feature, and weights tuned on both."""
    folder = tmp_path_factory.mktemp("harm")
    write_lists(folder, "noise", 1, telling=False)
    write_lists(folder, "more-noise", 2, telling=False)
    write_lists(folder, "good", 3, telling=True)
    write_lists(folder, "more-good", 4, telling=True)
    write_lists(folder, "other", 5, telling=False, spread=2.0, longest=9)
    return folder


def tune(folder, name, *more):
    weights = folder / f"{name}{''.join(more).replace(',', '-')}.toml"
    return weights, done(
        "tune", folder / f"{name}.nbest", "-r", folder / f"{name}.ref", "-m", "wer", *more, "-o", weights
    )


def best(folder, name, weights):
    return done("apply", folder / f"{name}.nbest", "-w", weights, "-o", "-")


def first(folder, name):
    return [nbest[0].text for nbest in read_nbest(folder / f"{name}.nbest")]


@pytest.fixture(scope="module")
def noise(folder):
    return tune(folder, "noise")


@pytest.fixture(scope="module")
def guarded(folder):
    return tune(folder, "noise", "-t", "mira,margin=tuned")


def test_tune_says_that_nothing_is_gained(noise):
    weights, ran = noise
    assert re.search(
        r"held out on 5 folds of the tuning lists: wer [\d.]+, 1-best [\d.]+, a gain of [-+][\d.]+", ran.err
    )
    assert f"{NO_GAIN}: " in ran.err
    assert "margin" in ran.err
    recorded = read_weights(weights).provenance["held_out"]
    assert recorded["interval"][0] <= 0
    assert recorded["segments"] == LISTS


def test_tune_says_nothing_of_the_kind_where_there_is_a_gain(folder):
    weights, ran = tune(folder, "good")
    assert "a gain of +" in ran.err
    assert NO_GAIN not in ran.err
    assert read_weights(weights).provenance["held_out"]["interval"][0] > 0


def test_weights_show_what_was_gained(noise):
    weights, _ = noise
    shown = done("tools", "weights", weights)
    assert "held out on 5 folds" in shown.err
    assert NO_GAIN in shown.err
    assert shown.out.startswith("[weight]")


def test_run_says_it_in_its_table_and_in_the_headline_of_its_page(folder, tmp_path):
    (tmp_path / "job.toml").write_text(
        f"""
        tune = {{nbest = ["{folder}/noise.nbest"], references = ["{folder}/noise.ref"]}}
        [[test]]
        nbest = ["{folder}/more-noise.nbest"]
        references = ["{folder}/more-noise.ref"]
        [[metric]]
        use = "wer"
        [[system]]
        name = "guarded"
        tuner = {{use = "mira", margin = "tuned"}}
        [evaluation]
        randomisation = 0
        contribution_folds = 0
        weight_samples = 0
        """
    )
    ran = done("run", tmp_path / "job.toml", "--work", tmp_path)
    assert f"{NO_GAIN}: " in ran.err
    assert f"guarded: {NO_GAIN}, so the margin is infinite" in ran.err
    assert "Held out on the tuning lists: wer" in ran.out
    assert f"reranked: {NO_GAIN}" in ran.out
    (headline,) = re.findall("<h1>(.*)</h1>", (tmp_path / "test.report.html").read_text())
    assert NO_GAIN in headline
    assert (tmp_path / "test.guarded.1best").read_text().splitlines() == first(folder, "more-noise")
    assert NO_GAIN in done("run", tmp_path / "job.toml", "--work", tmp_path).out  # also where nothing is made again


def test_a_tuned_margin_keeps_every_1_best_where_nothing_is_gained(folder, noise, guarded):
    weights, ran = guarded
    assert read_weights(weights).margin == math.inf
    assert "the margin is infinite and keeps every 1-best" in ran.err
    assert best(folder, "more-noise", weights).lines == first(folder, "more-noise")
    assert best(folder, "more-noise", noise[0]).lines != first(folder, "more-noise")


def test_a_tuned_margin_leaves_the_1_best_where_something_is_gained(folder):
    weights, ran = tune(folder, "good", "-t", "mira,margin=tuned")
    assert read_weights(weights).margin < math.inf
    assert NO_GAIN not in ran.err
    assert best(folder, "more-good", weights).lines != first(folder, "more-good")


@pytest.mark.parametrize("tuner", ["mira", "pro,rounds=2", "mert,restarts=2", "expected-risk", "mbr"])
def test_every_tuner_can_have_a_margin(folder, tuner):
    weights, _ = tune(folder, "noise", "-t", f"{tuner},margin=inf")
    assert best(folder, "more-noise", weights).lines == first(folder, "more-noise")


def test_a_reranker_decides_by_the_margin(folder):
    weights, _ = tune(folder, "good", "-t", "mira,margin=0.5")
    reranker = Reranker.load(weights)
    reranked = list(reranker.rerank_all(read_nbest(folder / "more-good.nbest")))
    assert [one.best for one in reranked] == best(folder, "more-good", weights).lines
    assert all(one[0].score >= other.score for one in reranked for other in one)  # totals agree with the order
    kept = sum(one[0].row == 0 for one in reranked)
    plain = Reranker.load(tune(folder, "good")[0])
    assert kept > sum(one[0].row == 0 for one in plain.rerank_all(read_nbest(folder / "more-good.nbest")))


def test_explain_names_the_margin(folder, guarded):
    weights, _ = guarded
    lists = folder / "more-noise.nbest"
    explained = done(
        "explain", "0", lists, "-r", folder / "more-noise.ref", "-w", weights, "-a", "first", "-b", "worst"
    )
    assert re.search(r"^ +margin ", explained.out, re.MULTILINE)


def test_a_file_of_moses_leaves_the_margin_out_and_says_so(guarded):
    assert "the margin of inf is left out" in done("tools", "weights", guarded[0]).err


@pytest.mark.parametrize("margin", ["-1", "'some'", "true"])
def test_a_wrong_margin_is_an_error(folder, margin):
    lists = folder / "noise.nbest", "-r", folder / "noise.ref", "-o", folder / "never.toml"
    assert "margin is" in refused("tune", *lists, "-t", f"mira,margin={margin}")
    text = (folder / "noise.toml").read_text()
    (folder / "wrong.toml").write_text(text.replace("evidence = 0", f"evidence = 0\nmargin = {margin}"))
    assert "wrong.toml:4: margin is" in refused("apply", folder / "noise.nbest", "-w", folder / "wrong.toml")


def test_a_margin_cannot_be_tuned_without_folds(folder, tmp_path):
    (tmp_path / "job.toml").write_text("[tuning]\nheld_out_folds = 0\n")
    lists = folder / "noise.nbest", "-r", folder / "noise.ref", "-o", tmp_path / "w.toml", "-c", tmp_path / "job.toml"
    assert "held out" not in done("tune", *lists).err
    assert "held_out_folds" in refused("tune", *lists, "-t", "mira,margin=tuned")


def test_apply_warns_of_lists_unlike_those_of_the_tuning(folder, noise, guarded):
    warned = best(folder, "other", noise[0]).err
    assert "these lists differ from the ones the weights were tuned on: " in warned
    assert re.search(r"[\d.]+ distinct hypotheses a list \([\d.]+ in tuning\)", warned)
    assert "1-bests changed" not in best(folder, "other", guarded[0]).err  # none changes anywhere
    assert re.search(r"Told spreads by [\d.]+ within lists \([\d.]+\)", warned)


@pytest.mark.parametrize("margin", [(), ("-t", "mira,margin=tuned"), ("-t", "mira,margin=0.5")])
def test_apply_does_not_warn_of_lists_of_the_same_decoder(folder, margin):
    assert "these lists differ" not in best(folder, "more-noise", tune(folder, "noise", *margin)[0]).err


def test_few_lists_are_not_judged(folder, noise, tmp_path):
    lines = (folder / "other.nbest").read_text().splitlines(keepends=True)
    (tmp_path / "few.nbest").write_text("".join(line for line in lines if int(line.split()[0]) < MIN_LISTS - 1))
    assert "these lists differ" not in best(tmp_path, "few", noise[0]).err
