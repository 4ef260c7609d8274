"""The feature `substitutes`: each word among the best substitutes of its place."""

import math

import numpy as np
import pytest

from rerank_plugins.ngram.training import NgramSettings, train
from rerank_plugins.substitutes.fastsubs import FastSubs
from rerank_plugins.substitutes.feature import SubstitutesFeature

TEXT = [
    "the old man sat in the house by the sea",
    "the dog went to the sea and the cat went to the garden",
    "a dog and a cat sat by the old man in the garden",
]
SENTENCES = [
    "the old cat sat in the garden",
    "the old man sat in the garden",
    "the zebra sat",
    "",
    "sea",
    "the old cat sat in the garden",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "lm.ngram"
    train([("text", TEXT)], NgramSettings(order=3)).ngrams.save(path)
    return path


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", "")


def naive(model, words, k):
    """The definition, one place at a time, against all words of the model in order."""
    substitutes = FastSubs.load(model)
    number = substitutes.ngrams.vocabulary.number
    rows = []
    for position, word in enumerate(words):
        ids, ln_p = substitutes.top(words, position, 10_000)
        own_id = number.get(word, 0)
        tokens = substitutes.encode([words])
        own = substitutes.scores(tokens, np.array([position + 1]), np.array([own_id], np.int32))[0]
        best = list(ids[:k])
        rank = best.index(own_id) + 1 if own_id in best else k + 1
        mass = sum(math.exp(p) for i, p in zip(best, ln_p, strict=False) if i != own_id) + math.exp(own)
        rows.append((own, -math.log(rank), math.exp(own) / mass))
    return np.mean(rows, axis=0)


@pytest.mark.parametrize("k", [1, 4])
def test_values_by_definition(model, k):
    values = SubstitutesFeature(model, k).values([text.split() for text in SENTENCES])
    wanted = [naive(model, text.split() or ["<unk>"], k) for text in SENTENCES]
    np.testing.assert_allclose(values, wanted, rtol=1e-12)
    assert np.isfinite(values).all()


def test_lists_are_searched_together(model, monkeypatch):
    feature = SubstitutesFeature(model, 4)
    searched = []
    original = FastSubs.top_places

    def counting(self, tokens, places, k, jobs=1):
        searched.extend(places.tolist())
        return original(self, tokens, places, k, jobs)

    monkeypatch.setattr(FastSubs, "top_places", counting)
    values = feature.values([SENTENCES[0].split()] * 50)
    assert len(searched) == len(SENTENCES[0].split())
    assert (values == values[0]).all()


def test_better_words_have_higher_values(model):
    good, bad = SubstitutesFeature(model).values([TEXT[0].split(), TEXT[0].split()[::-1]])
    assert (good > bad).all()


def test_bad_k(model):
    with pytest.raises(ValueError, match="k = 0: wanted at least 1"):
        SubstitutesFeature(model, 0)
