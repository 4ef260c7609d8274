"""Gradient-boosted regression trees on the features of a hypothesis, relative to its list (Friedman 2001).

Each hypothesis has a target: the gain of the metric (within_lists.py), standardised in its list. The score of a
hypothesis is a weighted sum plus trees. The weighted sum is MIRA's, or of the fixed features alone (`base = "none"`),
and the trees are fitted by least squares to what it leaves of the target, on hypotheses drawn from each list. They see
features that are standardised within the list (trees.py). Scikit-learn's histogram-based boosting fits them (Ke et al.
2017); it is needed for tuning only.

Trees use dense features; the weights of sparse features are MIRA's. Bounds and signs hold for the weights, not for the
trees. The time is O(trees * sampled rows * features).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar, Literal

import numpy as np

from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuners.trees import Trees, joined, standardised_in_lists
from rerank_adapters.tuners.within_lists import centred, dot, gains_of, metric_slope, one_best
from rerank_plugins import FloatArray, PluginError, Tuner, TuningData, TuningResult, option
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.metrics_and_tuners import TuningReport


@dataclass
class Boosted(Tuner):
    """Gradient-boosted trees (Friedman 2001) beside MIRA's weighted sum; needs scikit-learn (the extra `ml`)."""

    base: Literal["mira", "none"] = option("mira", doc="weighted sum to which trees are added: MIRA's, or none")
    trees: int = option(100, doc="number of trees")
    rate: float = option(0.05, doc="learning rate: the part of each tree's values that is added")
    leaves: int = option(8, doc="largest number of leaves of a tree")
    least: int = option(200, doc="smallest number of hypotheses in a leaf")
    l2: float = option(1.0, doc="weight of the squared values of the leaves")
    sample: int = option(50, doc="largest number of hypotheses drawn from each list")
    gain: Literal["corpus", "sentence"] = option(
        "corpus", doc="the gain of a hypothesis: what it adds to the 1-bests' corpus score, or its sentence score"
    )

    learns_scorer: ClassVar[bool] = True
    extra: ClassVar[str] = "ml"  # the extra that it needs; such tuners are not compared unless they are named

    def __post_init__(self) -> None:
        """Check the options. Raises ValueError for a value out of range, PluginError without scikit-learn."""
        if find_spec("sklearn") is None:
            raise PluginError("the tuner boosted needs scikit-learn: pip install 'rerank-plugins[ml]'")
        if min(self.trees, self.leaves - 1, self.least, self.sample - 1) < 1:
            raise ValueError("trees and least must be 1 or more, leaves and sample 2 or more")
        if self.rate <= 0 or self.l2 < 0:
            raise ValueError(f"rate is {self.rate}, l2 {self.l2}; wanted a rate above 0 and l2 of 0 or more")

    def tune(
        self, data: TuningData, start: FloatArray, rng: np.random.Generator, report: TuningReport = lambda step: None
    ) -> TuningResult:
        """Tune the weighted sum, then the trees."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        table, offsets = data.table, data.table.offsets
        if self.base == "mira":
            weights = Mira().tune(data, start, rng, report).weights
        else:
            weights = np.where(data.fixed, start, np.clip(0.0, data.lower, data.upper))
        linear = centred(table.scores(weights), offsets)
        target = standardised_in_lists(self._gains(data, linear)[:, None], offsets)[:, 0]
        # target = slope * linear + trees; the weights keep their scale, so the trees' values are divided by the slope.
        length = dot(linear, linear)
        slope = max(dot(linear, target), 0.0) / length if length > 0 else 1.0
        slope = slope or 1.0 / float(np.sqrt(length / len(linear)))
        rows = _drawn(offsets, self.sample, rng)
        values = standardised_in_lists(table.values, offsets)
        model = HistGradientBoostingRegressor(
            max_iter=self.trees, learning_rate=self.rate, max_leaf_nodes=self.leaves, min_samples_leaf=self.least,
            l2_regularization=self.l2, early_stopping=False, random_state=int(rng.integers(2**31)),
        ).fit(values[rows], target[rows] - (slope * linear)[rows] if length > 0 else target[rows])  # fmt: skip
        trees = _arrays_of(model, table.names, 1.0 / slope, values[rows[:100]])
        result = TuningResult(weights, 0.0, scorer=trees)
        chosen = one_best(result.scores(table), offsets)
        score = float(data.metric.score(data.statistics[chosen].sum(axis=0)))
        notes = (f"{len(trees.roots)} trees on {len(rows)} hypotheses",)
        return TuningResult(weights, score, scorer=trees, notes=notes)

    def _gains(self, data: TuningData, linear: FloatArray) -> FloatArray:
        """(rows): the gains, by the corpus metric around the 1-bests of the weighted sum or by sentences."""
        if self.gain == "sentence":
            sign = 1.0 if data.metric.higher_is_better else -1.0
            return np.asarray(sign * data.metric.sentence_scores(data.statistics))
        totals = data.statistics[one_best(linear, data.table.offsets)].sum(axis=0)
        return gains_of(data.statistics, metric_slope(data.metric, totals, data.table.segments))


def _drawn(offsets: LongArray, most: int, rng: np.random.Generator) -> LongArray:
    """The rows of at most so many hypotheses of each list, drawn without replacement, ascending."""
    lists = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    shuffled = np.lexsort((rng.random(int(offsets[-1])), lists))
    rank = np.arange(len(shuffled)) - offsets[:-1][lists]
    return np.sort(shuffled[rank < most])


def _arrays_of(model: Any, names: tuple[str, ...], scale: float, probe: FloatArray) -> Trees:
    """The trees of a fitted model as arrays, their values times `scale`; the constant that it adds is left out.

    Raises PluginError where they do not give the model's own predictions for the rows of `probe`, as with a release of
    scikit-learn that stores its trees in another way.
    """
    trees, depth = [], 0
    try:
        for (predictor,) in model._predictors:
            nodes = predictor.nodes
            itself, is_leaf = np.arange(len(nodes)), nodes["is_leaf"].astype(bool)
            depth = max(depth, int(nodes["depth"].max()))
            trees.append(
                {
                    "feature": np.where(is_leaf, 0, nodes["feature_idx"]),
                    "threshold": np.where(is_leaf, np.inf, nodes["num_threshold"]),
                    "left": np.where(is_leaf, itself, nodes["left"]),
                    "right": np.where(is_leaf, itself, nodes["right"]),
                    "value": np.where(is_leaf, nodes["value"], 0.0),
                }
            )
        ours = joined(names, trees, depth, 1.0).sums(probe) + np.ravel(model._baseline_prediction)[0]
        same = np.allclose(ours, model.predict(probe), rtol=1e-6, atol=1e-9)
    except (AttributeError, ValueError, IndexError, TypeError):
        same = False
    if not same:
        raise PluginError("the tuner boosted cannot read the trees of this release of scikit-learn; 1.4 to 1.9 work")
    return joined(names, trees, depth, scale)
