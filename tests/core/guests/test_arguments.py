"""A plugin of other people that changes its arguments in place is an error: others read them after it."""

import numpy as np
import pytest

from rerank_plugins import (
    FeatureExtractor,
    FeatureTable,
    NBestList,
    PluginError,
    SentenceFeature,
    Tuner,
    TuningData,
    TuningResult,
)
from tests.core.guests.test_language_models import Uniform
from tests.core.guests.test_metrics import Words

FAULT = "it changed in place what it was given; wanted a copy, as sorted(sentences) or values - mean makes it"


def lengths(sentences):
    return np.array([[float(len(words))] for words in sentences])


class Sorted(SentenceFeature):
    """Sorts the sentences by their lengths, as batches want them."""

    def values(self, sentences):
        sentences.sort(key=len)
        return lengths(sentences)


class Emptied(SentenceFeature):
    """Takes the sentences away, one by one."""

    def values(self, sentences):
        return np.array([[float(len(sentences.pop()))] for _ in range(len(sentences))])


class SortedCopy(SentenceFeature):
    """Sorts a copy, and puts the values in the order of the sentences."""

    def values(self, sentences):
        order = sorted(range(len(sentences)), key=lambda at: len(sentences[at]))
        values = np.empty((len(sentences), 1))
        values[order] = lengths([sentences[at] for at in order])
        return values


class Ended(Uniform):
    """Adds the end to each sentence."""

    def totals(self, sentences):
        for words in sentences:
            words.append("</s>")
        return np.array([-float(len(words)) for words in sentences])


class Centred(FeatureExtractor):
    """Takes the mean from the decoder's features."""

    def extract(self, nbest):
        values = nbest.values
        values -= values.mean()
        return values[:, :1]


class Lowercased(Words):
    """Lower-cases the hypotheses."""

    def statistics(self, hypotheses, references):
        for texts in hypotheses:
            texts[:] = [text.lower() for text in texts]
        return super().statistics(hypotheses, references)


class Smoothed(Words):
    """Adds something to the statistics."""

    def score(self, totals):
        totals += 1
        return super().score(totals)


class Standardised(Tuner):
    """Changes the part of the data that its option names."""

    def __init__(self, part):
        self.part = part

    def tune(self, data, start, rng, report=lambda step: None):
        changed = {"features": data.table.values, "statistics": data.statistics, "start": start}[self.part]
        changed += 1
        return TuningResult(np.zeros(2), 0.5)


def nbest():
    return NBestList.from_texts(["a b", "c"], features={"lm": [-1.0, -3.0]}, segment_id="0").packed()


def tuned(part):
    table = FeatureTable.dense(("one", "two"), np.ones((3, 2)), np.array([0, 3]))
    free = np.zeros(2, bool), np.full(2, -np.inf), np.full(2, np.inf)
    return Standardised(part).tune(
        TuningData(table, np.ones((3, 2)), Words(), *free), np.ones(2), np.random.default_rng(1)
    )


CHANGED = {
    "sorted": lambda: Sorted().values([["a", "b"], ["c"]]),
    "emptied": lambda: Emptied().values([["a", "b"], ["c"]]),
    "of lists": lambda: Sorted().extract_all([nbest()]),
    "ended": lambda: Ended().values([["a"], []]),
    "features of a list": lambda: Centred().extract(nbest()),
    "features of lists": lambda: Centred().extract_all([nbest()]),
    "hypotheses": lambda: Lowercased().statistics([["A"]], [["a"]]),
    "totals": lambda: Smoothed().score(np.ones((2, 2))),
    "by name": lambda: Smoothed().score(totals=np.ones((2, 2))),
    "table": lambda: tuned("features"),
    "statistics": lambda: tuned("statistics"),
    "start": lambda: tuned("start"),
}


@pytest.mark.parametrize("call", CHANGED.values(), ids=CHANGED)
def test_changed_arguments(call):
    with pytest.raises(PluginError) as error:
        call()
    assert str(error.value).endswith(FAULT), str(error.value)


def test_a_copy_may_be_changed():
    assert SortedCopy().values([["a", "b"], ["c"], []]).ravel().tolist() == [2, 1, 0]


def test_sorting_what_is_sorted_changes_nothing():
    assert Sorted().values([["c"], ["a", "b"]]).ravel().tolist() == [1, 2]
