"""Extraction: the n-gram consensus, language model scores and a whole table, against one hypothesis at a time."""

import time
from collections import Counter

import numpy as np
import pytest

from rerank_adapters.features.extract import extract
from rerank_adapters.features.feature import Feature
from rerank_plugins import Hypothesis, NBestList
from rerank_plugins.lists.consensus import ConsensusFeature
from rerank_plugins.lists.length import CharacterLengthFeature, LengthFeature
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel
from tests.bench.timing import report, timed
from tests.ngram import naive_features as naive

SEGMENTS, SIZE = 60, 50
VOCABULARY = [*sorted({word for sentence in naive.CORPUS for word in sentence}), "zebra", "runs"]


@pytest.fixture(scope="module")
def nbests():
    """Lists as decoders make them: variants of one sentence, with repeated hypotheses."""
    rng = np.random.default_rng(1)
    made = []
    for s in range(SEGMENTS):
        base = rng.choice(VOCABULARY, 15)
        rows = []
        for h in range(SIZE):
            words = base.copy()
            words[rng.integers(0, 15, 3)] = rng.choice(VOCABULARY, 3)
            rows.append(Hypothesis(" ".join(words), score=-0.1 * h))
        made.append(NBestList(str(s), (*rows, *rows)))
    return made


def counted(nbest, scale):
    """Consensus with dictionaries: the obvious program."""
    posterior = naive.softmax([h.score for h in nbest], scale)
    values = np.zeros((len(nbest), 4))
    for n in range(1, 5):
        grams = [Counter(naive.ngrams(h.words, n)) for h in nbest]
        mass = Counter()
        for p, own in zip(posterior, grams, strict=True):
            for gram, times in own.items():
                for k in range(times):
                    mass[gram, k] += p
        values[:, n - 1] = [sum(mass[g, k] for g, times in own.items() for k in range(times)) for own in grams]
    return values


def one_by_one(nbest, extractors):
    """All features of each hypothesis by itself."""
    rows = [[e.extract(nbest.select([row]))[0] for e in extractors.values()] for row in range(len(nbest))]
    return np.array([np.concatenate(values) for values in rows])


@pytest.mark.benchmark(timer=time.process_time)
def test_consensus(benchmark, nbests):
    extractor = ConsensusFeature()
    extractor.extract_all(nbests[:1])  # compiles
    made = np.concatenate(benchmark(extractor.extract_all, nbests))
    obvious, seconds = timed(lambda: np.concatenate([counted(nbest, extractor.scale) for nbest in nbests]))
    np.testing.assert_allclose(made[:, :4], obvious)  # the last column is the posterior of the length
    report(benchmark, "one by one", seconds, len(made), "hypotheses")


@pytest.mark.benchmark(timer=time.process_time)
def test_text_features(benchmark, nbests, tmp_path):
    arpa = naive.write_arpa(tmp_path / "lm.arpa")
    extractors = {
        "lm": NgramLanguageModel(arpa),
        "unigram": UnigramLanguageModel(),
        "length": LengthFeature(),
        "characters": CharacterLengthFeature(),
    }
    features = [Feature(label, extractor) for label, extractor in extractors.items()]
    extract(nbests[:1], features)  # loads the models
    made = benchmark(extract, nbests, features)
    obvious, seconds = timed(lambda: np.concatenate([one_by_one(nbest, extractors) for nbest in nbests]))
    np.testing.assert_allclose(made, obvious)
    report(benchmark, "one by one", seconds, len(made), "hypotheses")
