"""Ratios that hold on any machine: time grows linearly with the sentence, and a list shares its prefixes' work."""

import pytest

from rerank_plugins.language_models.hhmm import HhmmLanguageModel
from rerank_plugins.models.hhmm.prefix_trie import prefixes
from tests.bench.timing import seconds

SENTENCE = [
    "the",
    "man",
    "who",
    "saw",
    "the",
    "dog",
    "in",
    "the",
    "garden",
    "said",
    "that",
    "the",
    "old",
    "house",
    "was",
    "near",
    "the",
    "sea",
    ",",
    "and",
]


@pytest.fixture(scope="module")
def model():
    made = HhmmLanguageModel(beam=50)
    made.score([SENTENCE])
    return made


@pytest.mark.slow
def test_linear_in_the_length(model):
    short, long = SENTENCE * 4, SENTENCE * 32
    per_word = [
        min(seconds(lambda s=sentence: model.score([s])) for _ in range(3)) / len(sentence)
        for sentence in (short, long)
    ]
    assert per_word[1] < 2 * per_word[0]


@pytest.mark.slow
def test_a_list_costs_its_distinct_prefixes(model):
    nbest = [[*SENTENCE[:cut], other, *SENTENCE[cut:]] for cut in range(8, 18) for other in ("very", "not", "old")]
    words, steps = prefixes(nbest)
    together = min(seconds(lambda: model.score(nbest)) for _ in range(3))
    alone = min(seconds(lambda: [model.score([each]) for each in nbest]) for _ in range(3))
    assert steps < 0.6 * words
    assert together < alone * (steps / words) * 1.5
