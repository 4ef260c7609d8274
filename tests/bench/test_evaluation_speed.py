"""Resampling against sacrebleu's, choosing against Python's sort, the oracle search: ratios, never absolute times."""

import numpy as np
import pytest
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

from rerank_adapters.evaluation import Resampling, evaluate, oracle
from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.tuners.within_lists import one_best
from tests.bench.timing import seconds
from tests.evaluation import naive_evaluation as naive

WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "ran",
    "on",
    "under",
    "mat",
    "tree",
    "and",
    "then",
    "it",
    "was",
    "very",
    "old",
    "not",
    "seen",
    "again",
    ".",
]


@pytest.fixture(scope="module")
def systems():
    rng = np.random.default_rng(1)
    references = [" ".join(rng.choice(WORDS, 12)) for _ in range(300)]

    def noisy(rate):
        return [" ".join(w if rng.random() > rate else str(rng.choice(WORDS)) for w in r.split()) for r in references]

    return references, {"baseline": noisy(0.3), "one": noisy(0.28), "two": noisy(0.25)}


@pytest.mark.parametrize(("kind", "ours"), [("bs", {"randomisation": 0}), ("ar", {"bootstrap": 0})])
def test_significance_against_sacrebleu(benchmark, systems, kind, ours):
    references, outputs = systems
    segments = [[reference] for reference in references]
    metric = Bleu(tokenize="none")
    samples = 1000
    sizes = {"bootstrap": samples, "randomisation": samples} | ours

    def fast():
        return evaluate(outputs, segments, {"BLEU": metric}, Resampling(**sizes))

    fast()  # compiled
    benchmark(fast)
    test = PairedTest(list(outputs.items()), {"BLEU": BLEU(tokenize="none")}, [references], kind, samples)
    slow = seconds(test)  # without the baseline's statistics, which the constructor counts
    ratio = slow / seconds(fast, 5)
    benchmark.extra_info["times as fast as sacrebleu"] = round(ratio, 1)
    assert ratio > 3


@pytest.fixture(scope="module")
def scores():
    return np.random.default_rng(0).normal(size=200_000), np.arange(0, 200_001, 100)


def sort_all(scores, offsets):
    return [naive.sorted_rows(scores, i, j) for i, j in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]


def test_choosing_against_python_sort(benchmark, scores):
    benchmark(one_best, *scores)
    ratio = seconds(lambda: sort_all(*scores)) / seconds(lambda: one_best(*scores), 5)
    benchmark.extra_info["times as fast as sorted()"] = round(ratio, 1)
    benchmark.extra_info["million hypotheses"] = 0.2
    assert ratio > 20


def test_oracle_search_against_scoring_one_by_one(benchmark):
    """The baseline scores every swap alone: one pass of the same search."""
    rng = np.random.default_rng(3)
    metric = Bleu(tokenize="none")
    references = [[" ".join(rng.choice(WORDS, 10))] for _ in range(50)]
    lists = [[" ".join(rng.choice([*WORDS, *refs[0].split() * 3], 10)) for _ in range(100)] for refs in references]
    statistics, offsets = metric.statistics(lists, references), np.arange(0, 5001, 100)

    def one_by_one():
        rows = offsets[:-1].copy()
        for segment in range(50):
            totals = statistics[rows].sum(0) - statistics[rows[segment]]
            alone = [float(metric.score(totals + statistics[row])) for row in range(segment * 100, segment * 100 + 100)]
            rows[segment] = segment * 100 + int(np.argmax(alone))

    benchmark(oracle, statistics, offsets, metric)
    ratio = seconds(one_by_one) / seconds(lambda: oracle(statistics, offsets, metric), 3)
    benchmark.extra_info["times as fast as one pass, row by row"] = round(ratio, 1)
    assert ratio > 2
