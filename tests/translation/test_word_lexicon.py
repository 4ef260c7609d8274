"""The discriminative word lexicon: training against its obvious twin, the file, the feature and the command."""

import math

import numpy as np
import pytest

from rerank_plugins import ConfigError, ModelError
from rerank_plugins.core.nbest import Hypothesis, NBestList
from rerank_plugins.translation import word_lexicon as training
from rerank_plugins.translation.model_features import WordLexiconFeature
from rerank_plugins.translation.word_lexicon import Settings, read_model, train, write_model
from tests.command_line import done, refused
from tests.translation.naive_word_lexicon import naive_lexicon

SETTINGS = Settings(epochs=4, rate=0.5, decay=0.8, source_count=1, target_count=1)
GENERATOR = np.random.default_rng(5)
WORDS = {"bank": "bank", "ufer": "shore", "geld": "money", "fluss": "river", "im": "in"}


def translated(words):
    """A translation by a rule that words decide together: a `bank` beside a `fluss` is a bench."""
    return " ".join("bench" if word == "bank" and "fluss" in words else WORDS[word] for word in words)


SOURCES = [list(GENERATOR.choice(list(WORDS), 3, replace=False)) for _ in range(60)]
PAIRS = [(" ".join(words), translated(words)) for words in SOURCES]


@pytest.fixture(scope="module")
def lexicon():
    return train(PAIRS, SETTINGS)


def test_it_is_what_single_regressions_give(monkeypatch):
    """Weights and log-likelihoods; whatever the blocks and the threads."""
    monkeypatch.setattr(training, "TARGETS_A_BLOCK", 4)
    monkeypatch.setattr(training, "SMALL", 0.0)
    reports = []
    found = train(PAIRS, SETTINGS, jobs=2, report=lambda *line: reports.append(line))
    orders = [np.random.default_rng([1, epoch]).permutation(len(PAIRS)) for epoch in range(4)]
    weights, likelihoods = naive_lexicon(PAIRS, orders, 0.5, 0.8, found.source_words, found.target_words)
    for f, word in enumerate(found.source_words):
        part = slice(found.starts[f], found.starts[f + 1])
        row = dict(zip(found.targets[part].tolist(), found.weights[part].tolist(), strict=True))
        for e, target in enumerate(found.target_words):
            assert row.get(e, 0.0) == pytest.approx(weights.get((word, target), 0.0), abs=1e-4)
    assert [number for number, _ in reports] == [1, 2, 3, 4]
    assert [value for _, value in reports] == pytest.approx(likelihoods, abs=1e-4)
    assert likelihoods == sorted(likelihoods)


def test_words_decide_together(lexicon):
    """The sense of `bank` depends on another word of the source."""
    number = {word: i for i, word in enumerate(lexicon.target_words)}
    money, river = lexicon.log_odds("bank geld im"), lexicon.log_odds("BANK fluss im unbekannt")
    assert money[number["bank"]] > 0 > money[number["bench"]]
    assert river[number["bench"]] > 0 > river[number["bank"]]
    assert lexicon.log_odds("") == pytest.approx(lexicon.bias.astype(float))


def test_the_feature_sums_over_distinct_known_words(lexicon, tmp_path):
    write_model(lexicon, tmp_path / "l")
    texts = ["in the bench in river", "", "the", "money"]
    nbest = NBestList("0", tuple(Hypothesis(text) for text in texts), source="im fluss bank")
    values = WordLexiconFeature(tmp_path / "l").extract(nbest)
    number = {word: i for i, word in enumerate(lexicon.target_words)}
    odds = lexicon.log_odds("im fluss bank")
    z = [odds[number[word]] for word in ("in", "bench", "river")]
    b = [float(lexicon.bias[number[word]]) for word in ("in", "bench", "river")]
    ln_p = sum(-math.log1p(math.exp(-x)) for x in z)
    gain = ln_p + sum(math.log1p(math.exp(-x)) for x in b)
    assert values[0] == pytest.approx([sum(z), ln_p, gain, ln_p / 3, sum(min(x, 0) for x in z)])
    assert (values[1:3] == 0).all()
    assert values[3, 4] < 0
    with pytest.raises(ConfigError, match="word-lexicon compares with the source sentence"):
        WordLexiconFeature(tmp_path / "l").extract(NBestList("0", nbest.hypotheses))


def test_files(lexicon, tmp_path):
    size = write_model(lexicon, tmp_path / "l")
    again = read_model(tmp_path / "l")
    assert size == (tmp_path / "l").stat().st_size
    assert (again.log_odds("bank geld") == lexicon.log_odds("bank geld")).all()
    (tmp_path / "l").write_bytes((tmp_path / "l").read_bytes()[:-100])
    with pytest.raises(ModelError):
        read_model(tmp_path / "l")


def test_the_command(tmp_path):
    (tmp_path / "pairs").write_text("".join(f"{f} ||| {e}\n" for f, e in PAIRS))
    ran = done("train", "word-lexicon", tmp_path / "pairs", "-o", tmp_path / "l", "--epochs", 2)
    assert "epoch 2: ln p -" in ran.err
    assert "60 sentence pairs, 5 source and 6 target words" in ran.err
    (tmp_path / "pairs").write_text("a ||| b\n")
    assert "no words to learn from: 1 pairs" in refused(
        "train", "word-lexicon", tmp_path / "pairs", "-o", tmp_path / "m"
    )
