"""Ratios that hold on any machine: time grows linearly with the sentence, and a list shares its prefixes' work."""

import pytest

from rerank_plugins.hhmm.language_model import HhmmLanguageModel
from tests.bench.timing import in_turn
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


def test_linear_in_the_length(model):
    short, long = SENTENCE * 4, SENTENCE * 32
    times = in_turn(lambda: model.score([short]), lambda: model.score([long]), times=6)
    per_word = [time / len(sentence) for time, sentence in zip(times, (short, long), strict=True)]
    assert per_word[1] < 2 * per_word[0]


def test_a_list_costs_its_distinct_prefixes(model):
    nbest = [[*SENTENCE[:cut], other, *SENTENCE[cut:]] for cut in range(8, 18) for other in ("very", "not", "old")]
    words, steps = prefixes(nbest)
    together, alone = in_turn(lambda: model.score(nbest), lambda: [model.score([each]) for each in nbest], times=6)
    assert steps < 0.6 * words
    assert together < alone * (steps / words) * 1.5


def test_four_times_the_beam_costs_less_than_four_times_as_much(model):
    """The further stores are improbable, and most of their rules are below the bound."""
    wide = HhmmLanguageModel(beam=200)
    narrow, four = in_turn(*(lambda m=each: m.score([SENTENCE * 4]) for each in (model, wide)), times=6)
    assert four < 4 * narrow


def test_rules_that_are_remembered_are_not_searched_again(model):
    """The second time a sentence is read, the rules that may follow its stores are there."""
    model.score([SENTENCE * 2])
    memory = model.hhmm.tables.memory

    def forgotten():
        memory.state[:] = memory.state[0] + len(memory.bounds), 0, 0
        model.score([SENTENCE * 2])

    first, again = in_turn(forgotten, lambda: model.score([SENTENCE * 2]), times=6)
    assert again < 0.8 * first
