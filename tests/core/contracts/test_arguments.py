"""A plugin of other people cannot change its arguments in place: others read them after it."""

import numpy as np
import pytest

from rerank_adapters.features.extract import extracted
from rerank_adapters.features.feature import Feature
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
from rerank_plugins.core.contracts import checked_statistics, checked_tuning
from tests.core.contracts.test_language_models import Uniform
from tests.core.contracts.test_metrics import Words


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
    data = TuningData(table, np.ones((3, 2)), Words(), *free)
    return checked_tuning(Standardised(part), data, np.ones(2), np.random.default_rng(1))


def extracted_of(extractor):
    return extracted(Feature("own", extractor), [nbest()])


CHANGED = {
    "sorted": lambda: extracted_of(Sorted()),
    "emptied": lambda: extracted_of(Emptied()),
    "ended": lambda: extracted_of(Ended()),
    "features": lambda: extracted_of(Centred()),
    "hypotheses": lambda: checked_statistics(Lowercased(), [["A"]], [["a"]]),
    "totals": lambda: checked_statistics(Smoothed(), [["A"]], [["a"]]),
    "table": lambda: tuned("features"),
    "statistics": lambda: tuned("statistics"),
    "start": lambda: tuned("start"),
}
FAULT = r"AttributeError: 'tuple' object has no|TypeError: 'tuple' object does not|ValueError: .*read-only"


@pytest.mark.parametrize("call", CHANGED.values(), ids=CHANGED)
def test_arguments_cannot_be_changed(call):
    with pytest.raises(PluginError, match=FAULT):
        call()


def test_a_copy_may_be_changed():
    assert extracted_of(SortedCopy())[0].ravel().tolist() == [2, 1]
