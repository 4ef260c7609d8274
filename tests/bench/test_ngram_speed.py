"""N-gram models: training beside dictionaries of counts, scoring and loading beside KenLM, of the same text."""

import time

import numpy as np
import pytest

from rerank_plugins.ngram.arpa_writer import arpa_text
from rerank_plugins.ngram.kenlm_binary import KenlmBinary
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.ngram.model import NgramModel
from rerank_plugins.ngram.training import NgramSettings, train
from tests.bench.timing import report, timed
from tests.kit.naive_backoff import NaiveKneserNey, events_of_text

WORDS, TYPES, ORDER = 60_000, 5_000, 5


@pytest.fixture(scope="module")
def sentences():
    """Zipfian words in sentences of 20, each word leaning on the one before it."""
    rng = np.random.default_rng(1)
    first = np.minimum(rng.zipf(1.3, WORDS), TYPES)
    follows = rng.integers(0, TYPES, TYPES + 1)
    lean = rng.random(WORDS) < 0.5
    ids = np.where(lean, follows[np.roll(first, 1)], first)
    return [[f"w{i}" for i in row] for row in ids.reshape(-1, 20).tolist()]


@pytest.fixture(scope="module")
def models(sentences, tmp_path_factory):
    folder = tmp_path_factory.mktemp("speed")
    made = train([("", [" ".join(words) for words in sentences])], NgramSettings(ORDER)).ngrams
    made.save(folder / "lm.ngram")
    (folder / "lm.arpa").write_bytes(b"".join(arpa_text(made.tables, made.vocabulary.words)))
    return folder


@pytest.mark.benchmark(timer=time.process_time)
def test_training(benchmark, sentences, models):
    lines = [" ".join(words) for words in sentences]
    made = benchmark(lambda: train([("", lines)], NgramSettings(ORDER)))
    events = events_of_text(sentences, ORDER)
    vocabulary = {x for _, x in events} | {"<unk>"}
    naive, seconds = timed(NaiveKneserNey, events, ORDER, vocabulary)
    assert made.estimated.ngrams == [len(kept) for kept in naive.kept]
    report(benchmark, "dictionaries", seconds, WORDS, "words")


@pytest.mark.benchmark(timer=time.process_time)
def test_scoring(benchmark, kenlm, sentences, models):
    rng = np.random.default_rng(2)
    asked = [list(rng.permutation(words)) if rng.random() < 0.5 else words for words in sentences]
    ours, theirs = NgramLanguageModel(models / "lm.ngram"), KenlmBinary(models / "lm.arpa")
    ours.score(asked[:2]), theirs.totals(asked[:2])
    made = benchmark(ours.totals, asked)
    wanted, seconds = timed(theirs.totals, asked)
    np.testing.assert_allclose(made, wanted, atol=1e-3)
    report(benchmark, "KenLM", seconds, WORDS + len(asked), "words")


@pytest.mark.benchmark(timer=time.process_time)
def test_loading(benchmark, kenlm, models):
    made = benchmark(NgramModel.load, models / "lm.ngram")
    assert made.tables.order == ORDER
    _, seconds = timed(lambda: KenlmBinary(models / "lm.arpa").totals([["a"]]))
    report(benchmark, "KenLM reading ARPA", seconds)


@pytest.mark.benchmark(timer=time.process_time)
def test_reading_arpa(benchmark, kenlm, models):
    made = benchmark(NgramModel.load, models / "lm.arpa")
    _, seconds = timed(lambda: KenlmBinary(models / "lm.arpa").totals([["a"]]))
    report(benchmark, "KenLM reading ARPA", seconds, sum(made.tables.sizes), "n-grams")
