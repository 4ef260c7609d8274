"""Training n-gram models: values worked out by hand, lmplz where there is one, settings, the command."""

import math
import re
import shutil
import subprocess

import numpy as np
import pytest

from rerank_plugins.core.errors import ConfigError, FormatError, ModelError
from rerank_plugins.kit.backoff.smoothing import parse_prune
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.ngram.model import NgramModel
from rerank_plugins.ngram.training import NgramSettings, train
from tests.command_line import done, refused, says_what_it_wrote
from tests.kit.naive_backoff import NaiveKneserNey, NaiveStupidBackoff, events_of_text, sentence_lns
from tests.ngram.matched_ngrams import matches


def trained(lines, order=3, **settings):
    return train([("text", lines)], NgramSettings(order, **settings))


def scores(tmp_path, made, text):
    made.ngrams.save(tmp_path / "lm")
    return NgramLanguageModel(tmp_path / "lm").score([text.split()])[0]


def test_values_worked_out_by_hand(tmp_path):
    """Two sentences, `a b` and `a`; too little text, so D = 0.5, 1, 1.5 at both orders.

    1-grams by continuation: a 1, b 1, </s> 2 (after a and b), so Σ = 4, γ = (0.5 + 0.5 + 1) / 4, and the uniform
    distribution is over a, b, </s>, <unk>: p(a) = p(b) = 0.5/4 + 0.5/4, p(</s>) = 1/4 + 0.5/4, p(<unk>) = 0.5/4.
    2-grams by count: <s> a 2, a b 1, a </s> 1, b </s> 1; γ = 1/2 after each of <s>, a and b.
    """
    made = trained(["a b\n", "a"], 2)
    assert made.estimated.enough == [False, False]
    unk, end, a = 0.125, 0.375, 0.25
    wanted = {
        "a b": [(2 - 1) / 2 + a / 2, (1 - 0.5) / 2 + 0.25 / 2, 0.5 + end / 2],
        "a": [0.625, 0.25 + end / 2],
        "b a": [0.25 / 2, a / 2, 0.25 + end / 2],
        "x a": [unk / 2, a, 0.25 + end / 2],
        "": [end / 2],
    }
    for text, values in wanted.items():
        np.testing.assert_allclose(np.exp(scores(tmp_path, made, text)), values, rtol=1e-6)


def test_stupid_backoff_by_hand(tmp_path):
    """S(a | <s>) = 2/2; S(b | a) = 1/2; `<s> a b` has C = 1 of C(<s> a ·) = 2; unknown: 0.4 · 0.4 · 1/5."""
    made = trained(["a b", "a"], 3, smoothing="stupid-backoff")
    np.testing.assert_allclose(np.exp(scores(tmp_path, made, "a b")), [1, 0.5, 1], rtol=1e-6)
    wanted = [0.4 / 5, 0.4 * 0.4 * 2 / 5, 0.4 * 0.5, 1]
    np.testing.assert_allclose(np.exp(scores(tmp_path, made, "x a b")), wanted, rtol=1e-6)


@pytest.fixture(scope="module")
def sentences(root):
    with open_text(root / "example_nbest" / "mt" / "tune.en") as lines:
        return [line.split() for line in lines]


@pytest.mark.parametrize(("order", "prune"), [(1, ()), (3, ()), (5, ()), (4, (0, 0, 1))])
def test_real_text_against_the_definitions(tmp_path, sentences, order, prune):
    half = len(sentences) // 2
    lines = [" ".join(words) for words in sentences[:half]]
    events = events_of_text(sentences[:half], order)
    vocabulary = {x for _, x in events} | {"<unk>"}
    known = [[word if word in vocabulary else "<unk>" for word in words] for words in sentences[half:]]
    for smoothing, naive in (
        ("kneser-ney", NaiveKneserNey(events, order, vocabulary, prune).p),
        ("stupid-backoff", NaiveStupidBackoff(events, order, prune).score),
    ):
        trained(lines, order, prune=prune, smoothing=smoothing).ngrams.save(tmp_path / "lm")
        found = NgramLanguageModel(tmp_path / "lm").score(sentences[half:])
        for words, values in zip(known, found, strict=True):
            np.testing.assert_allclose(values, sentence_lns(naive, words, order), atol=2e-6)


@pytest.mark.skipif(shutil.which("lmplz") is None, reason="no lmplz on PATH")
@pytest.mark.parametrize("prune", [(), (0, 0, 1, 2)])
def test_agrees_with_lmplz(tmp_path, shared_data, prune):
    """n-grams, discounts and log10 probabilities of KenLM's own estimator, on a novel's worth of text."""
    with open_text(shared_data / "text_en" / "textbooks.txt.xz") as lines:
        text = [line for line, _ in zip(lines, range(20_000), strict=False)]
    (tmp_path / "text").write_text("".join(text), encoding="utf-8")
    command = ["lmplz", "-o", "5", "-S", "1G", "-T", str(tmp_path), "--text", str(tmp_path / "text")]
    if prune:
        command += ["--prune", *map(str, prune)]
    ran = subprocess.run([*command, "--arpa", str(tmp_path / "theirs")], capture_output=True, text=True, check=True)
    made = trained(text, 5, prune=prune)
    found = made.estimated
    for order, (ngrams, kept) in enumerate(zip(found.ngrams, made.ngrams.tables.sizes, strict=True), 1):
        line = re.search(rf"^{order} ([\d/]+) D1=(\S+) D2=(\S+) D3\+=(\S+)", ran.stderr, re.MULTILINE)
        assert line is not None
        counts = [int(count) for count in line[1].split("/")]
        extra = 2 if order == 1 else 0  # <unk> and <s>
        assert counts == (
            [(kept if order > 1 else ngrams) + extra, ngrams + extra] if len(counts) > 1 else [ngrams + extra]
        )
        np.testing.assert_allclose(found.discounts[order - 1], [float(d) for d in line.groups()[1:]], rtol=1e-5)
    made.ngrams.save(tmp_path / "ours")
    ours, theirs = NgramLanguageModel(tmp_path / "ours"), NgramModel.load(tmp_path / "theirs")
    assert sorted(theirs.vocabulary.words) == sorted(made.ngrams.vocabulary.words)
    theirs.save(tmp_path / "theirs.lm")
    rng = np.random.default_rng(1)
    asked = [line.split() for line in text[::40]]
    asked += [list(rng.permutation([*words, "unseenword"])) for words in asked]
    imported = NgramLanguageModel(tmp_path / "theirs.lm")
    for left, right in zip(ours.score(asked), imported.score(asked), strict=True):
        np.testing.assert_allclose(left / math.log(10), right / math.log(10), atol=1e-6)
    assert matches(ours, asked) == matches(NgramLanguageModel(tmp_path / "theirs"), asked)


def test_vocabulary_cut_off(tmp_path):
    lines = ["a a b c", "a b d", "a <unk>"]
    made = trained(lines, 2, min_count=2)
    assert made.ngrams.vocabulary.words == ("<unk>", "<s>", "</s>", "a", "b")
    assert made.ngrams.settings["unknown"] == 3
    mapped = trained(["a a b <unk>", "a b <unk>", "a <unk>"], 2)
    assert made.ngrams.tables.events.tobytes() == mapped.ngrams.tables.events.tobytes()
    assert trained(lines, 2, most_words=1).ngrams.vocabulary.words[3:] == ("a",)
    assert np.exp(scores(tmp_path, made, "z")[0]) > 0.01  # <unk> was counted


def test_a_closed_vocabulary_has_no_unknown_word(tmp_path):
    made = trained(["a b", "a"], 2, closed=True)
    made.ngrams.save(tmp_path / "lm")
    lm = NgramLanguageModel(tmp_path / "lm")
    state = lm.advance(lm.start(), "a")[1]
    for context in (lm.start(), state):
        total = sum(math.exp(lm.advance(context, word)[0]) for word in ("a", "b")) + math.exp(lm.finish(context))
        assert total == pytest.approx(1, abs=1e-6)
        assert lm.advance(context, "z")[0] < -200
    with pytest.raises(ConfigError, match="3 words of the text are out of vocabulary"):
        trained(["a a b c", "a d"], 2, closed=True, min_count=2)


def test_the_model_does_not_depend_on_order_or_threads(sentences):
    lines = [" ".join(words) for words in sentences]
    made = trained(lines, 4).ngrams
    other = train([("x", lines[50:]), ("y", lines[:50])], NgramSettings(4), jobs=3).ngrams
    assert other.vocabulary == made.vocabulary
    for name in ("contexts", "events"):
        assert getattr(other.tables, name).tobytes() == getattr(made.tables, name).tobytes()


def test_odd_text(tmp_path):
    """NULs, a line of 10,000 words, empty lines, white space that separates no words for lmplz, no end of line."""
    lines = ["a\0b c\n", " ".join(["w", "x"] * 5000) + "\n", "\n", " \t one\u2028two\u00a0three\r\n", "y"]
    made = trained(lines, 5)
    sizes = made.ngrams.settings["sentences"], made.ngrams.settings["words"]
    assert sizes == (5, 2 + 10_000 + 1 + 1)
    assert {"a\0b", "one\u2028two\u00a0three", "y"} < set(made.ngrams.vocabulary.words)
    assert np.isfinite(scores(tmp_path, made, "a\0b c w x w")).all()


def test_bad_text_and_settings():
    with pytest.raises(FormatError, match=r"^text:3: </s> is added by the model"):
        trained(["a", "b", "c </s> d", "e"])
    with pytest.raises(FormatError, match=r"^text:20001: <s> is added by"):
        trained([*["a"] * 20_000, "<s> d"])
    for empty in ([], ["\n", ""]):
        with pytest.raises(ModelError, match="no words to train on"):
            trained(empty)
    for settings, message in (
        ({"order": 7}, "orders 1 to 6"),
        ({"order": 0}, "orders 1 to 6"),
        ({"prune": (1,)}, "the vocabulary leaves out rare words"),
        ({"prune": (0, 3, 2)}, "may not be lower"),
    ):
        with pytest.raises(ConfigError, match=message):
            trained(["a b"], **{"order": 3, **settings})
    with pytest.raises(ConfigError, match="wanted whole numbers"):
        parse_prune("0 x")
    assert parse_prune("0, 1 2") == (0, 1, 2)


def test_the_command(tmp_path, small):
    """Train, report, ARPA for KenLM, held-out perplexity; the feature and the language model take the file."""
    model, arpa = tmp_path / "lm.ngram", tmp_path / "lm.arpa.gz"
    (tmp_path / "more.txt").write_text("the cat sat on the mat\n")
    ran = done(
        "train", "ngram", small / "tune.en", tmp_path / "more.txt", "-o", model, "--order", 3, "--prune", "0,0,1",
        "--arpa", arpa, "--held-out", small / "test.en",
    )  # fmt: skip
    assert ran.out == ""
    assert re.search(r"^21 sentences, \d+ words, \d+ distinct known words$", ran.err, re.MULTILINE)
    assert re.search(r"^3-grams \d+ of \d+  D1 0\.\d{4} D2 \d\.\d{4} D3\+ \d\.\d{4}", ran.err, re.MULTILINE)
    assert says_what_it_wrote(ran, r"the model \([\d.]+ MB\)", model)
    assert "words/s" not in ran.err  # of a first run, most of the time may be compilation
    settings = NgramModel.load(model).settings
    assert settings["prune"] == [0, 0, 1]
    assert [text.rsplit("/", 1)[1] for text in settings["texts"]] == ["tune.en", "more.txt"]
    sentences = [line.split() for line in (small / "test.en").read_text().splitlines()]
    own, theirs = NgramLanguageModel(model), NgramLanguageModel(arpa)
    for left, right in zip(own.score(sentences), theirs.score(sentences), strict=True):
        np.testing.assert_allclose(left, right, atol=1e-5)
    perplexity = math.exp(-own.totals(sentences).sum() / sum(len(words) + 1 for words in sentences))
    assert f"perplexity {perplexity:.2f} with OOVs" in ran.err
    done("extract", small / "tune.nbest", "-f", f"ngram-lm,model={model}", "-o", tmp_path / "a.npz", "-j", 1)
    done("extract", small / "tune.nbest", "-f", f"ngram-lm,model={arpa}", "-o", tmp_path / "b.npz", "-j", 1)
    from rerank_plugins import FeatureTable

    left, right = (FeatureTable.load(tmp_path / name).values for name in ("a.npz", "b.npz"))
    np.testing.assert_allclose(left, right, atol=1e-4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b.npz", "lm.arpa.gz", "lm.ngram", "more.txt"]


def test_the_command_refuses(tmp_path):
    (tmp_path / "text").write_text("a b\n")
    out = ("-o", tmp_path / "lm")
    assert "no such file" in refused("train", "ngram", tmp_path / "none", *out)
    assert "not to stdout" in refused("train", "ngram", tmp_path / "text", "-o", "-")
    assert "no such command 'ngrm'" in refused("train", "ngrm").lower()
    assert "cannot be written as ARPA" in refused(
        "train", "ngram", tmp_path / "text", *out, "--smoothing", "stupid-backoff", "--arpa", tmp_path / "x.arpa"
    )
    assert not (tmp_path / "x.arpa").exists()
