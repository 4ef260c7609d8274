"""White space separates words where it does in the program whose number is promised: jiwer, sclite, KenLM."""

import json
import shutil
import subprocess

import jiwer
import numpy as np
import pytest

from rerank_adapters.metrics.accuracy import SentenceErrorRate
from rerank_adapters.metrics.edit_rate import CER, WER
from rerank_plugins import Hypothesis
from tests.command_line import done

SCLITE = [shutil.which("sctk"), "sclite"] if shutil.which("sctk") else [shutil.which("sclite")]
needs_sclite = pytest.mark.skipif(not SCLITE[0], reason="NIST's sclite (Debian package sctk) is not installed")
FAST = ("--bootstrap", 0, "--randomisation", 0, "--as", "json")
# No-break, thin, narrow and ideographic spaces, of zero width, NEL, the line separator, vertical tab, form feed and the
# separator of units.
SPACES = "\u00a0\u2009\u202f\u3000\u200b\x85\u2028\x0b\x0c\x1f"
ODD = [f"a{space}b" for space in SPACES] + [f"{space} a" for space in SPACES] + [f"a {space} b" for space in SPACES]
SCLITES = [(1, 1, 0), (1, 1, 0)]  # of `a X b` and `aXb c`, where X separates no words


def scores(*arguments):
    found = json.loads(done("evaluate", *arguments, *FAST).out)["metrics"]
    return [metric["systems"][0]["score"] for metric in found]


def texts_of(seed, count=120):
    """Texts of one to six words between white space of all kinds, some of them empty."""
    rng = np.random.default_rng(seed)
    separators = [" ", " ", " ", "  ", "\t", *SPACES, *(f" {space}" for space in SPACES), *(2 * s for s in SPACES)]

    def text():
        words = rng.choice(["a", "b", "c", "ab", "é", ""], rng.integers(0, 7))
        return "".join(f"{word}{rng.choice(separators)}" for word in words)

    return [text() for _ in range(count)]


@pytest.mark.parametrize("space", SPACES)
def test_a_space_in_the_hypothesis_alone_is_no_other_space(space, tmp_path):
    reference, output = ["the train leaves at ten", "so it is"], [f"the train leaves at{space}ten", f"{space}so it is"]
    (tmp_path / "ref").write_text("".join(f"{text}\n" for text in reference), newline="")
    (tmp_path / "hyp").write_text("".join(f"{text}\n" for text in output), newline="")
    found = scores("-r", tmp_path / "ref", "-m", "wer", "-m", "cer", "-m", "ser", tmp_path / "hyp")
    wer, cer = 100 * jiwer.wer(reference, output), 100 * jiwer.cer(reference, output)
    wrong = sum(jiwer.wer(*pair) > 0 for pair in zip(reference, output, strict=True))
    assert found == pytest.approx([wer, cer, 50 * wrong])


@pytest.mark.parametrize("space", SPACES)
def test_the_same_in_transcripts_by_the_rules_of_sclite(space, tmp_path):
    """sclite 2.4.10 with `-e utf-8` splits at the white space of ASCII alone."""
    (tmp_path / "ref.trn").write_text("the train leaves at ten (s-0)\n")
    (tmp_path / "hyp.trn").write_text(f"the train leaves at{space}ten (s-0)\n", newline="")
    wrong = 0 if space in "\x0b\x0c" else 2
    metric = ("-m", "wer,costs=sclite", "-m", "cer,costs=sclite,whitespace=false")
    found = scores("-r", tmp_path / "ref.trn", *metric, tmp_path / "hyp.trn")
    assert found == pytest.approx([100 * wrong / 5, 100 * (wrong > 0) / 19])


@pytest.mark.parametrize("seed", range(4))
def test_word_and_character_error_rates_are_those_of_jiwer(seed):
    references, outputs = texts_of(seed), texts_of(seed + 100)
    for text in (*references, *outputs, *ODD):
        assert WER().split(text) == jiwer.wer_default(text)[0]
    pairs = [(r, o) for r, o in zip(references, outputs, strict=True) if r.strip()]
    for metric, theirs in ((WER(), jiwer.process_words), (CER(), jiwer.process_characters)):
        statistics = metric.statistics([[output] for _, output in pairs], [[reference] for reference, _ in pairs])
        for (reference, output), (edits, length) in zip(pairs, statistics.tolist(), strict=True):
            found = theirs(reference, output)
            counts = (found.hits, found.substitutions, found.deletions, found.insertions)
            assert (edits, length) == (sum(counts[1:]), sum(counts[:3])), (reference, output)
            aligned = metric.align(output, [reference])
            assert aligned.errors == edits


@pytest.mark.parametrize("seed", range(2))
def test_of_several_references_the_closest_counts(seed):
    several = [texts_of(seed + part) for part in (0, 10, 20)]
    references, outputs = list(zip(*several, strict=True)), texts_of(seed + 100)
    for metric, theirs in ((WER(), jiwer.process_words), (CER(), jiwer.process_characters)):
        statistics = metric.statistics([[output] for output in outputs], references)
        for output, texts, (edits, length) in zip(outputs, references, statistics.tolist(), strict=True):
            found = [theirs(text, output) for text in texts]
            lengths = [one.hits + one.substitutions + one.deletions for one in found]
            assert edits == min(one.substitutions + one.deletions + one.insertions for one in found)
            assert length == pytest.approx(np.mean(lengths))


@needs_sclite
def test_word_error_rates_are_those_of_sclite(tmp_path):
    """Texts without line ends, which end a transcript."""
    references, outputs = texts_of(1), texts_of(2)
    for name, texts in (("ref", references), ("hyp", outputs)):
        text = "".join(f"{text} (a-{number:03d})\n" for number, text in enumerate(texts))
        (tmp_path / name).write_text(text, newline="")
    command = [*SCLITE, "-s", "-e", "utf-8", "-i", "rm", "-r", tmp_path / "ref", "trn", "-h", tmp_path / "hyp", "trn"]
    for metric, option in ((WER(costs="sclite"), ()), (CER(costs="sclite", whitespace=False), ("-c",))):
        ran = subprocess.run([*command, *option, "-o", "pralign", "stdout"], capture_output=True, check=True)
        report = ran.stdout.decode().split("id: (a-")[1:]
        theirs = {}
        for utterance in report:
            counts = utterance.split("(#C #S #D #I) ")[1].split("\n")[0].split()
            theirs[int(utterance[:3])] = (sum(map(int, counts[1:])), sum(map(int, counts[:3])))
        statistics = metric.statistics([[text] for text in outputs], [[text] for text in references])
        assert [tuple(row) for row in statistics.tolist()] == [theirs[number] for number in range(len(outputs))]


@pytest.mark.parametrize("space", SPACES)
def test_two_answers_are_equal_if_their_words_are(space):
    metric = SentenceErrorRate()
    assert metric.statistics([[f"a{space}b"]], [["a b"]])[0, 0] == (
        WER().statistics([[f"a{space}b"]], [["a b"]])[0, 0] == 0
    )


def kenlm_words(text):
    """The words of a text as the package kenlm splits it, which is at the white space of ASCII."""
    return [word.decode() for word in text.encode().split()]


@pytest.mark.parametrize("space", SPACES)
def test_models_split_a_text_where_kenlm_does(space, tmp_path, kenlm):
    """The model knows `ten` and `kg`, which the space joins or separates."""
    (tmp_path / "text").write_text("it is ten kg\nit was ten kg or so\nnine kg\n")
    model = tmp_path / "model.arpa"
    done("train", "ngram", tmp_path / "text", "--order", 2, "--arpa", model, "-o", tmp_path / "model.ngram")
    text = f"it is ten{space}kg"
    (tmp_path / "lines").write_text(f"{text}\n", newline="")
    rows = done("lm", "surprisal", tmp_path / "lines", "-M", model).out.split("\n")[1:-1]
    words = [row.split("\t")[2] for row in rows]
    assert words == [*kenlm_words(text), "</s>"]
    assert Hypothesis(text).words == kenlm_words(text)
    total = kenlm.Model(str(model)).score(text)
    bits = sum(float(row.split("\t")[3]) for row in rows)
    assert bits == pytest.approx(-total * np.log2(10), rel=1e-4)
