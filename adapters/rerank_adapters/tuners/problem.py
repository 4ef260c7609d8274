"""The problem that a tuner's algorithm solves: free, standardised features, and the conversion back to raw weights.

Each dense feature is centred within its list, which changes no choice, and divided by its standard deviation within
lists (pooled over all lists), so that a step of 1 means the same for every feature. Sparse features are counts, mostly
0 and 1, and keep their scale, since a rare one divided by its deviation would get too much influence. Dense features
that are constant within every list cannot change a choice; they are left out and get the weight nearest to 0 that their
bounds allow. The fixed features are summed up to one number per row, `base`, so that the score of a row is
`base + features.dot(weights)`.

The memory needed is one copy of the dense values, by columns.

The prior of a search are its start weights, from which a penalty keeps the tuned weights from going far. Many
correlated features on few lists leave most directions of the weight vector undetermined. A penalty on the distance from
weights that are known to be good, such as the decoder's, keeps those directions as they are unless the lists speak
against it: it is the logarithm of a Gaussian prior whose mean are these weights (Chelba & Acero 2004). Where only the
direction of a weight vector counts, the distance is that from the ray of all positive multiples of the start weights,
so that the length of the learnt weights stays free and the penalty does not depend on the length of the start's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rerank_adapters.tuners.within_lists import CONSTANT, FeatureRows, centred, dot, one_best
from rerank_plugins import FloatArray, Metric, TuningData
from rerank_plugins.core.arrays import BoolArray, LongArray

MIN_DERIVATIVE, MIN_DECREASE = 1e-6, 1e-8  # below which a minimisation ends

Objective = Callable[[FloatArray], tuple[float, FloatArray]]  # its value and its gradient


@dataclass(frozen=True, eq=False)
class Problem:
    """The free, standardised features of a tuning set. A weight vector has the dense features, then the sparse ones.

    `features`     the free features: dense ones centred within lists and of unit variance, sparse ones unchanged
    `base`         (rows) the sum that the fixed features add to each score
    `offsets`      (segments + 1) the bounds of the lists' rows; `statistics` (rows, S) are those of `metric`
    `lower, upper` the bounds of these weights
    `raw`          the raw weights of all names, with the start's values for fixed and left-out features
    `free`         the positions of this problem's weights in `raw`; `scales` the deviation that each was divided by
    `normalised`   whether all weights may be scaled by a common factor, that is, no fixed weight and no finite bound
                   other than 0 prevents it
    """

    features: FeatureRows
    base: FloatArray
    offsets: LongArray
    statistics: FloatArray
    metric: Metric
    lower: FloatArray
    upper: FloatArray
    raw: FloatArray
    free: LongArray
    scales: FloatArray
    normalised: bool

    @classmethod
    def of(cls, data: TuningData, start: FloatArray) -> Problem:
        """The problem of tuning the free weights of `data`; the fixed ones stay as in `start` (raw, one per name)."""
        table, offsets = data.table, data.table.offsets
        dense = len(table.names)
        raw = np.where(data.fixed, start, np.clip(0.0, data.lower, data.upper))
        free: list[int] = []
        scales: list[float] = []
        columns = np.empty((len(table.values), int((~data.fixed[:dense]).sum())), order="F")
        for f in np.flatnonzero(~data.fixed[:dense]):
            column = centred(table.values[:, f], offsets)
            scale = float(np.sqrt(np.mean(column**2)))
            if scale > CONSTANT * float(np.abs(table.values[:, f]).max(initial=0.0)):
                columns[:, len(free)] = column / scale
                free.append(int(f))
                scales.append(scale)
        free_sparse = np.flatnonzero(~data.fixed[dense:])
        sparse_names = [table.sparse.names[i] for i in free_sparse]
        where = np.array([*free, *(dense + free_sparse)], np.int64)
        left_out = raw.copy()
        left_out[where] = 0.0
        anchored = left_out.any() or any(_anchors(bound, data.fixed) for bound in (data.lower, data.upper))
        scale_of = np.array(scales + [1.0] * len(free_sparse))
        return cls(
            features=FeatureRows(columns[:, : len(free)], table.sparse.renamed(sparse_names)),
            base=centred(table.scores(left_out), offsets) if left_out.any() else np.zeros(len(table.values)),
            offsets=offsets,
            statistics=data.statistics,
            metric=data.metric,
            lower=data.lower[where] * scale_of,
            upper=data.upper[where] * scale_of,
            raw=raw,
            free=where,
            scales=scale_of,
            normalised=not anchored,
        )

    @property
    def size(self) -> int:
        """The number of free weights."""
        return len(self.free)

    @property
    def segments(self) -> int:
        """The number of lists."""
        return len(self.offsets) - 1

    @property
    def sign(self) -> float:
        """1 for a metric to be maximised, -1 for one to be minimised."""
        return 1.0 if self.metric.higher_is_better else -1.0

    def standardised(self, raw: FloatArray) -> FloatArray:
        """The weights of this problem from raw ones of all names, clipped to the bounds."""
        weights: FloatArray = np.clip(raw[self.free] * self.scales, self.lower, self.upper)
        return weights

    def unfolded(self, weights: FloatArray) -> FloatArray:
        """The raw weights of all names; their absolute values sum to 1 where `normalised`."""
        raw = self.raw.copy()
        raw[self.free] = weights / self.scales
        total = np.abs(raw).sum()
        return raw / total if self.normalised and total > 0 else raw

    def scores(self, weights: FloatArray) -> FloatArray:
        """(rows): the weighted sums, up to a constant per list."""
        return self.base + self.features.dot(weights)

    def corpus_score(self, weights: FloatArray) -> float:
        """The corpus score of the 1-bests by these weights."""
        chosen = one_best(self.scores(weights), self.offsets)
        return float(self.metric.score(self.statistics[chosen].sum(axis=0)))

    def minimum(self, objective: Objective, start: FloatArray, iterations: int = 100) -> FloatArray:
        """A local minimum of the objective within the bounds, by L-BFGS-B (Byrd et al. 1995) from `start`.

        The search ends after `iterations`, or where no free derivative and no relative decrease is above its limit.
        """
        from scipy.optimize import Bounds, minimize

        options = {"maxiter": iterations, "ftol": MIN_DECREASE, "gtol": MIN_DERIVATIVE}
        bounds, clipped = Bounds(self.lower, self.upper), np.clip(start, self.lower, self.upper)
        found = minimize(objective, clipped, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return np.asarray(found.x)

    def take(self, segments: LongArray) -> Problem:
        """The same problem on some of its lists; the scales stay those of the whole set."""
        lengths = np.diff(self.offsets)[segments]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        rows = np.repeat(self.offsets[:-1][segments] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return replace(
            self,
            features=self.features.rows(rows),
            base=self.base[rows],
            offsets=offsets,
            statistics=self.statistics[rows],
        )


def _anchors(bounds: FloatArray, fixed: BoolArray) -> bool:
    """Whether these bounds constrain more than the signs of the free features' weights."""
    free = bounds[~fixed]
    return bool(np.any(np.isfinite(free) & (free != 0)))


@dataclass(frozen=True, eq=False)
class Prior:
    """The start weights of a problem, standardised; of unit length (or 0) where `ray`, as they are otherwise."""

    weights: FloatArray
    ray: bool

    @classmethod
    def of(cls, problem: Problem, start: FloatArray) -> Prior:
        """The prior of a search from `start` (standardised): the ray where the length of the weights is free."""
        length = dot(start, start) ** 0.5 if problem.normalised else 1.0
        return cls(start / max(length, 1e-300), problem.normalised)

    def residual(self, weights: FloatArray) -> FloatArray:
        """The weights less the point of the prior that is nearest to them: the gradient of `penalty`."""
        if not self.ray:
            return weights - self.weights
        return weights - max(dot(weights, self.weights), 0.0) * self.weights

    def penalty(self, weights: FloatArray) -> float:
        """Half the squared distance of the weights from the prior."""
        residual = self.residual(weights)
        return dot(residual, residual) / 2

    def relative_penalty(self, weights: FloatArray) -> FloatArray:
        """(…): for weights (…, F), the squared distance as a fraction of the weights' squared length, between 0 and 1.

        Where `ray` this is the squared sine of the angle with the start weights, and 1 beyond a right angle. Otherwise
        it is the squared distance over the squared length of the start weights, which has no upper bound.
        """
        if not self.ray:
            squares = np.sum((weights - self.weights) ** 2, axis=-1)
            return np.asarray(squares / max(dot(self.weights, self.weights), 1e-300))
        along = np.maximum(np.einsum("...f,f->...", weights, self.weights), 0.0)
        return np.asarray(1.0 - along**2 / np.maximum(np.sum(weights**2, axis=-1), 1e-300))
