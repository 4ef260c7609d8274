"""Ratios that hold on any machine: time grows linearly with the sentence, and a list shares its prefixes' work."""

import pytest

from rerank_plugins.hhmm.language_model import HhmmLanguageModel
from tests.bench.timing import in_turn, seconds
from tests.hhmm.prefix_counts import prefixes

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


@pytest.mark.slow
def test_four_times_the_beam_costs_less_than_four_times_as_much(model):
    """The further stores are improbable, and most of their rules are below the bound."""
    wide = HhmmLanguageModel(beam=200)
    narrow, four = in_turn(*(lambda m=each: m.score([SENTENCE * 4]) for each in (model, wide)), times=6)
    assert four < 4 * narrow


@pytest.mark.slow
def test_rules_that_are_remembered_are_not_searched_again(model):
    """The second time a sentence is read, the rules that may follow its stores are there."""
    model.score([SENTENCE * 2])
    again = min(seconds(lambda: model.score([SENTENCE * 2])) for _ in range(3))
    memory = model.hhmm.tables.memory

    def forgotten():
        memory.state[:] = memory.state[0] + len(memory.bounds), 0, 0
        model.score([SENTENCE * 2])

    first = min(seconds(forgotten) for _ in range(3))
    assert again < 0.8 * first
