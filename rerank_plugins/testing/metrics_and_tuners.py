"""The contracts of metrics and of tuners."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from rerank_plugins.core.contracts import checked_statistics, checked_tuning
from rerank_plugins.core.errors import RerankError
from rerank_plugins.core.feature_table import FeatureTable
from rerank_plugins.core.metrics_and_tuners import Metric, Tuner, TuningData
from rerank_plugins.testing.samples import SENTENCES, assertions, check_options


@assertions
def check_metric(metric: Metric, hypotheses: Sequence[str] = SENTENCES, reference: str = SENTENCES[0]) -> None:
    """Check that a metric keeps its contract; `hypotheses` (two or more) and `reference` may be your own.

    - `statistics` gives a float64 row for each hypothesis, segment after segment, which does not depend on the other
      hypotheses; the order of the references does not change its score.
    - A text in place of a sequence of texts is an error, not a sequence of characters (call `check_texts`).
    - `score` works over any leading axes, and is finite also for statistics that are all 0.
    - `sentence_scores` gives a finite score for each row, and no hypothesis beats the reference itself.
    - `pairwise` equals the sentence scores of the pairs (to 1e-7).
    - `signature` is not empty.
    """
    check_options("metric", metric)
    references = [[reference, SENTENCES[1]], [SENTENCES[2]]]
    groups = [list(hypotheses), list(hypotheses[::-1])]
    rows = checked_statistics(metric, groups, references)
    assert rows.shape[0] == sum(map(len, groups)), f"{rows.shape[0]} rows for {sum(map(len, groups))} hypotheses"
    assert rows.dtype == np.float64, f"type {rows.dtype}, wanted float64"
    flat: tuple[tuple[Any, Any], ...] = ((groups, [reference] * 2), (["a", "b"], references), ("ab", references))
    for texts, others in flat:
        try:
            metric.statistics(texts, others)
        except (TypeError, ValueError, RerankError):
            continue
        raise AssertionError(
            f"statistics took {texts!r:.60} and {others!r:.60}, a text in place of a list of texts: call check_texts"
        )
    alone = metric.statistics([[hypotheses[1]]], references[:1])
    np.testing.assert_array_equal(alone[0], rows[1], "a row must not depend on the other hypotheses")
    swapped = metric.statistics(groups[:1], [references[0][::-1]])
    better = 1.0 if metric.higher_is_better else -1.0
    np.testing.assert_allclose(
        metric.sentence_scores(swapped), metric.sentence_scores(rows[: len(hypotheses)]), 1e-9,
        err_msg="the order of references must not matter",
    )  # fmt: skip
    totals = np.stack([rows.sum(axis=0), rows[0], np.zeros(rows.shape[1])])
    scores = metric.score(totals)
    assert scores.shape == (3,), f"score of (3, S) totals has shape {scores.shape}, wanted (3,)"
    assert np.isfinite(scores).all(), f"scores must be finite, also of empty statistics: {scores}"
    np.testing.assert_allclose(metric.score(totals[0]), scores[0], err_msg="score must work row by row")
    np.testing.assert_allclose(metric.score(totals[None])[0], scores, err_msg="score must work over leading axes")
    single = metric.sentence_scores(rows)
    assert single.shape == (len(rows),), f"sentence_scores has shape {single.shape}, wanted ({len(rows)},)"
    assert np.isfinite(single).all(), f"sentence scores must be finite: {single}"
    perfect = metric.sentence_scores(metric.statistics([[reference]], [[reference]]))[0]
    others = metric.sentence_scores(metric.statistics([list(hypotheses)], [[reference]]))
    assert (better * (perfect - others) >= -1e-9).all(), f"the reference itself scores {perfect}, beaten: {others}"
    texts = [text for text in hypotheses if text]
    table = metric.pairwise(texts)
    naive = Metric.pairwise(metric, texts)
    np.testing.assert_allclose(table, naive, 1e-7, 1e-7, err_msg="pairwise must equal sentence scores of pairs")
    assert metric.signature(), "the signature must name the settings of the score"


@assertions
def check_tuner(tuner: Tuner, metric: Metric, segments: int = 12, size: int = 15, seed: int = 0) -> None:
    """Check that a tuner keeps its contract, on random lists in which one feature counts the wrong words.

    There are `segments` lists of `size` hypotheses, drawn with `seed`, and three features: the telling one, noise, and
    one whose weight is fixed.

    - There is one finite weight for each feature, and the same seed gives the same weights.
    - Where the decision is "map": the fixed weight keeps its value, weights are within their bounds, the telling
      feature has a positive weight, and the tuned weights do not score worse than the ones that tuning started from.
    """
    check_options("tuner", tuner)
    data = _tuning_data(metric, segments, size, np.random.default_rng(seed))
    start = np.array([0.1, 0.3, 0.2])
    result = checked_tuning(tuner, data, start.copy(), np.random.default_rng(seed))
    again = tuner.tune(data, start.copy(), np.random.default_rng(seed))
    assert result.weights.shape == start.shape, f"{result.weights.shape} weights, wanted {start.shape}"
    assert np.isfinite(result.weights).all(), f"weights must be finite: {result.weights}"
    np.testing.assert_array_equal(result.weights, again.weights, "the same seed must give the same weights")
    if result.decision == "map":
        assert result.weights[2] == start[2], f"fixed weight changed from {start[2]} to {result.weights[2]}"
        assert result.weights[0] > 0, f"the telling feature got weight {result.weights[0]}"
        assert (result.weights >= data.lower - 1e-12).all(), f"below its bound: {result.weights}"
        assert (result.weights <= data.upper + 1e-12).all(), f"above its bound: {result.weights}"
        chosen, before = (_chosen_score(data, weights) for weights in (result.weights, start))
        better = 1.0 if metric.higher_is_better else -1.0
        assert better * (chosen - before) >= -1e-9, f"tuning went from {before} to {chosen}"


def _tuning_data(metric: Metric, segments: int, size: int, rng: np.random.Generator) -> TuningData:
    vocabulary = ["the", "a", "cat", "dog", "saw", "heard", "big", "small", "man", "old", "garden", "in"]
    references = [[" ".join(rng.choice(vocabulary, 8))] for _ in range(segments)]
    lists = []
    for (reference,) in references:
        words = reference.split()
        wrong = [rng.choice(8, rng.integers(1, 8), replace=False) for _ in range(size)]
        lists.append([" ".join("xyz" if i in w else words[i] for i in range(8)) for w in wrong])
    statistics = metric.statistics(lists, references)
    errors = np.array([text.split().count("xyz") for nbest in lists for text in nbest], float)
    values = np.stack([-errors, rng.normal(size=len(errors)), rng.normal(size=len(errors))], axis=1)
    table = FeatureTable.dense(("telling", "noise", "fixed"), values, np.arange(segments + 1) * size)
    bounds = np.full(3, np.inf)
    return TuningData(table, statistics, metric, np.array([False, False, True]), -bounds, bounds, lists)


def _chosen_score(data: TuningData, weights: Any) -> float:
    scores, offsets = data.table.scores(weights), data.table.offsets
    rows = [start + int(np.argmax(scores[start:stop])) for start, stop in pairwise(offsets)]
    return float(data.metric.score(data.statistics[rows].sum(axis=0)))
