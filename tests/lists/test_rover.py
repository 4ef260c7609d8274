"""ROVER: agreement with a slow twin, with a hand-made vote and with NIST's program, and the command on CTMs and lists."""

import json
import random
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_adapters.applications.speech.rover import Combination, Output, System, VotingSettings, tune
from rerank_adapters.formats.nist.ctm import TimedWord, read_ctm
from rerank_adapters.metrics.edit_rate import WER
from rerank_plugins.lists.confusion_network import ConfusionNetwork, Voting
from tests.command_line import done, refused
from tests.conftest import SHARED_DATA
from tests.lists.naive_rover import rover

ROVER = shutil.which("rover") or shutil.which("sctk")
needs_rover = pytest.mark.skipif(not ROVER, reason="NIST's rover (Debian package sctk) is not installed")
WORDS = st.lists(st.sampled_from("abcd"), max_size=5)
SETTINGS = st.sampled_from([(1.0, 0.0), (0.5, 0.4), (0.0, 0.55), (0.7, 0.9)])


def combined(outputs, confidences, alpha=1.0, null=0.0, kind="avg"):
    """The words that win by the program, with their confidences."""
    times = [[TimedWord("u", "A", i, 1.0, word) for i, word in enumerate(words)] for words in outputs]
    made = zip(outputs, confidences, times, strict=True)
    systems = [System("", "ctm", {"u": Output(words, np.array(own), timed)}) for words, own, timed in made]
    combination = Combination.of("u", systems, confident=True)
    point = VotingSettings(alpha, null, kind)
    timed = list(combination.timed(point))
    assert combination.text(combination.winners([point])[0]).split() == [part.word for part in timed]
    return [(part.word, part.confidence) for part in timed]


@settings(max_examples=40)
@given(st.lists(WORDS, min_size=1, max_size=4), SETTINGS, st.sampled_from(["avg", "max"]), st.randoms())
def test_agrees_with_the_slow_twin(outputs, shares, kind, rng):
    confidences = [[round(rng.random(), 3) for _ in words] for words in outputs]
    ours, slow = combined(outputs, confidences, *shares, kind), rover(outputs, confidences, *shares, kind)
    assert [word for word, _ in ours] == [word for word, _ in slow]
    assert [own for _, own in ours] == pytest.approx([own for _, own in slow])


def test_a_vote_by_hand():
    """Slot 2 has d once (0.5) and ε twice, slot 3 has b twice (0.2, 0.4) and c once (0.9)."""
    outputs, confidences = ["ab", "adc", "ab"], [[0.6, 0.2], [0.6, 0.5, 0.9], [0.6, 0.4]]
    assert combined(outputs, confidences) == [("a", pytest.approx(0.6)), ("b", pytest.approx(0.3))]
    # α = 1/2: b has (2/3 + 0.3) / 2 = 0.48, c (1/3 + 0.9) / 2 = 0.62; d (1/3 + 0.5) / 2 = 0.42, ε (2/3 + 0.2) / 2 = 0.43
    assert [word for word, _ in combined(outputs, confidences, 0.5, 0.2)] == ["a", "c"]
    assert [word for word, _ in combined(outputs, confidences, 0.5, 0.1)] == ["a", "d", "c"]
    # by the maximum and α = 0.9, b has 0.6 + 0.04 and c 0.3 + 0.09
    assert [word for word, _ in combined(outputs, confidences, 0.9, 0.1, "max")] == ["a", "b"]


def test_weights_count_in_shares_and_averages():
    network = ConfusionNetwork.combine([["b"], ["c"], ["b"]], np.array([1.0, 6.0, 3.0]))
    voting = Voting.count(network, np.array([1.0, 6.0, 3.0]), [np.array([0.8]), np.array([0.5]), np.array([0.4])])
    assert voting.proportions.ravel().tolist() == pytest.approx([0.4, 0.6, 0.4])
    assert voting.confidences["avg"].ravel().tolist() == pytest.approx([0.5, 0.5, 0.5])
    assert voting.confidences["max"].ravel().tolist() == pytest.approx([0.8, 0.5, 0.8])


def test_the_grid_finds_the_settings_that_make_fewest_errors():
    """The word of one system is right where its confidence is high."""
    system = System("a", "lines", {"1": Output(["x"], np.array([0.9])), "2": Output(["x"], np.array([0.2]))})
    other = {name: Output(["y"], np.array([0.5])) for name in "12"}
    systems = [System("b", "lines", other), system, System("c", "lines", other)]
    combinations = [Combination.of(utterance, systems, confident=True) for utterance in "12"]
    best, rate, by_frequency = tune(combinations, ["x", "y"], WER())
    assert (rate, by_frequency) == (0.0, 50.0)
    assert best == VotingSettings(pytest.approx(0.5), 0.0, "avg")  # x: α/3 + 0.9 (1 - α) > y: 2α/3 + 0.5 (1 - α)


# --- NIST's program ---------------------------------------------------------------------------------------------------


def ctm(path, outputs, confidences):
    """Write the outputs of a system as a CTM."""
    lines = [
        TimedWord(f"u{number:05d}", "A", i / 2, 0.5, word, own).line()
        for number, (words, values) in enumerate(zip(outputs, confidences, strict=True))
        for i, (word, own) in enumerate(zip(words, values, strict=True))
    ]
    path.write_text("".join(lines))
    return path


def nist(files, output, *options):
    """The lines of NIST's program: file, word and confidence."""
    command = [ROVER, *(["rover"] if ROVER.endswith("sctk") else [])]
    named = [part for path in files for part in ("-h", path, "ctm")]
    subprocess.run([*command, *named, "-o", output, *options], check=True, capture_output=True)
    return [(f[0], f[4], float(f[5])) for f in map(str.split, output.read_text().splitlines())]


@needs_rover
@pytest.mark.parametrize(("theirs", "ours"), [("meth1", "avg"), ("maxconf", "max")])
def test_votes_agree_with_nists(theirs, ours, tmp_path):
    """Four systems that differ in one slot, with all settings."""
    rng = random.Random(1)
    slots = [[rng.choice(["a", "a", "b", "c", ""]) for _ in range(4)] for _ in range(60)]
    files = []
    for system in range(4):
        outputs = [["s", *([slot[system]] if slot[system] else []), "t"] for slot in slots]
        confidences = [[round(rng.random(), 3) for _ in words] for words in outputs]
        files.append(ctm(tmp_path / f"{system}.ctm", outputs, confidences))
    for alpha, null in ((1, 0), (0.5, 0.4), (0, 0.55)):
        wanted = nist(files, tmp_path / "nist", "-m", theirs, "-a", str(alpha), "-c", str(null))
        done(
            "lists",
            "rover",
            *files,
            "--alpha",
            alpha,
            "--null-confidence",
            null,
            "--confidence",
            ours,
            "-o",
            tmp_path / "o",
        )
        found = [(f[0], f[4], float(f[5])) for f in map(str.split, (tmp_path / "o").read_text().splitlines())]
        assert [line[:2] for line in found] == [line[:2] for line in wanted]
        if ours == "avg":  # of the maximum, NIST's program also writes the average
            assert [line[2] for line in found] == pytest.approx([line[2] for line in wanted], abs=1e-5)


@needs_rover
@pytest.mark.slow
def test_real_outputs_agree_with_nists(tmp_path):
    """The first three hypotheses of Whisper as three systems; where alignments are equally cheap, a few differ."""
    path = SHARED_DATA / "asr_nbest_hyporadise" / "commonvoice_test.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    rng, rows = random.Random(1), [json.loads(line) for line in path.read_text().splitlines()]
    files = []
    for system in range(3):
        outputs = [row["hyps"][system].split() for row in rows]
        files.append(ctm(tmp_path / f"{system}.ctm", outputs, [[round(rng.random(), 3) for _ in o] for o in outputs]))
    texts = {}
    wanted = nist(files, tmp_path / "nist", "-m", "meth1", "-a", "0.5", "-c", "0.3")
    for name, lines in (("nist", [line[:2] for line in wanted]), ("ours", None)):
        if lines is None:
            done("lists", "rover", *files, "--alpha", "0.5", "--null-confidence", "0.3", "-o", tmp_path / "o.ctm")
            lines = [(f[0], f[4]) for f in map(str.split, (tmp_path / "o.ctm").read_text().splitlines())]
        for utterance, word in lines:
            texts.setdefault(utterance, {}).setdefault(name, []).append(word.lower())
    same = sum(of.get("nist") == of.get("ours") for of in texts.values())
    assert same / len(texts) > 0.99


# --- the command ------------------------------------------------------------------------------------------------------


def test_a_ctm_keeps_times_and_may_lack_utterances(tmp_path):
    a = ctm(tmp_path / "a.ctm", [["so", "it"], ["oh"]], [[0.9, 0.3], [0.2]])
    b = ctm(tmp_path / "b.ctm", [["so", "is"]], [[0.7, 0.8]])
    ran = done("lists", "rover", a, b, "--alpha", "0", "--null-confidence", "0.5")
    assert ran.out == "u00000 A 0.00 0.50 so 0.800000\nu00000 A 0.50 0.50 is 0.800000\n"
    assert done("lists", "rover", a, b, "--as", "trn").out == "so it (u00000)\noh (u00001)\n"
    (tmp_path / "c").write_text("u00000 so is\nu00001 oh\n")
    mixed = done("lists", "rover", tmp_path / "c", a, "--reference-form", "kaldi")
    assert mixed.out == "u00000 so is\nu00001 oh\n"


def test_lists_have_posteriors_as_confidences(tmp_path):
    (tmp_path / "a").write_text("0 ||| a b ||| ||| -1\n0 ||| a c ||| ||| -1.1\n")
    (tmp_path / "b").write_text("0 ||| a d ||| ||| -1\n0 ||| a b ||| ||| -9\n")
    (tmp_path / "refs").write_text("a d\n")
    assert done("lists", "rover", "--nbest", tmp_path / "a", tmp_path / "b").out == "a b\n"
    ran = done("lists", "rover", "--nbest", tmp_path / "a", tmp_path / "b", "-r", tmp_path / "refs")
    assert ran.out == "a d\n"
    assert "--alpha 0.95 --null-confidence 0 --confidence avg: WER 0.00, by frequency alone 50.00" in ran.err


def test_what_does_not_fit_is_refused(tmp_path):
    words = ctm(tmp_path / "a.ctm", [["so"]], [[0.5]])
    (tmp_path / "plain.trn").write_text("so (u00000)\n")
    plain = (tmp_path / "plain.trn", "--reference-form", "trn")
    assert "its words have no confidences" in refused("lists", "rover", words, *plain, "--alpha", "0.5")
    (tmp_path / "b.ctm").write_text("u00000 A 0 1 so\n")
    assert "b.ctm: its words have no confidences" in refused(
        "lists", "rover", words, tmp_path / "b.ctm", "--alpha", "0"
    )
    assert "wanted CTMs" in refused("lists", "rover", words, tmp_path / "b.ctm", "-r", tmp_path / "plain.trn")
    (tmp_path / "c").write_text("u00000 so\n")
    said = refused("lists", "rover", words, tmp_path / "c", "--reference-form", "kaldi")
    assert said.startswith(str(tmp_path / "c")), said
    assert "a CTM of combined outputs needs the times of all systems" in said
    (tmp_path / "d.ctm").write_text("u00000 A 0 x so 0.5\n")
    assert "d.ctm:1" in refused("lists", "rover", words, tmp_path / "d.ctm")


def test_words_are_in_the_order_of_their_times():
    read = read_ctm([";; a comment", "call 1 2.0 0.5 it 0.5", "call 1 1.0 0.5 so", "other 1 0 1 oh"], "x")
    assert [part.word for part in read["call", "1"]] == ["so", "it"]
    assert [part.confidence for part in read["call", "1"]] == [None, 0.5]
