"""Shared meaning as a metric: its values are those of the measure, and it serves as a utility of MBR."""

import numpy as np
import pytest

from rerank_adapters import evaluate, load, mbr
from rerank_plugins.similarity import meaning
from rerank_plugins.similarity.sentence_meanings import SentenceMeanings, read_concepts
from rerank_plugins.svs.parser import parser_of_concepts

TEXTS = (
    "The company sold its shares .", "The shares were sold by the company .", "The firm sold some stock .",
    "The boy ate an apple .", "",
)  # fmt: skip


@pytest.fixture(scope="module")
def metric():
    return load("meaning", "metric")


def test_statistics_are_those_of_the_measure(metric):
    """One pair of sentences at a time, by the measure itself."""
    sentences = SentenceMeanings(parser_of_concepts(), read_concepts(None))

    def shared(one, other):
        return float(meaning.between(sentences.of([one.split()]), sentences.of([other.split()]))[0, 0])

    table = np.array([[100 * shared(one, other) for other in TEXTS] for one in TEXTS])
    assert metric.pairwise(TEXTS) == pytest.approx(table, abs=1e-9)
    found = metric.statistics([TEXTS, TEXTS[:1]], [TEXTS[1:4], [TEXTS[0]]])
    assert found[:, 0] == pytest.approx([*(table[:, 1:4].max(axis=1) / 100), 1.0])
    assert metric.score(found.sum(axis=0)) == pytest.approx(metric.sentence_scores(found).mean())
    assert metric.score(np.zeros(2)) == 0


def test_it_knows_what_a_sentence_says(metric):
    same, passive, other, unrelated, empty = metric.pairwise(TEXTS)[0]
    assert same == pytest.approx(100)
    assert passive > 90
    assert 2 * unrelated < other < passive
    assert empty == 0


def test_it_is_a_utility_and_evaluates():
    (chosen,) = mbr([[TEXTS[3], TEXTS[0], TEXTS[1], TEXTS[2]]], "meaning")
    assert chosen["choice"] in TEXTS[:2]
    result = evaluate({"one": [TEXTS[1]], "other": [TEXTS[3]]}, [[TEXTS[0]]], metrics=["meaning"])
    one, other = (float(line.split()[2]) for line in str(result).splitlines()[1:])
    assert one > 90 > 50 > other
