"""The prior of a search: its start weights, from which a penalty keeps the tuned weights from going far.

Many correlated features on few lists leave most directions of the weight vector undetermined. A penalty on the distance
from weights that are known to be good, such as the decoder's, keeps those directions as they are unless the lists speak
against it: it is the logarithm of a Gaussian prior whose mean are these weights (Chelba & Acero 2004). Where only the
direction of a weight vector counts, the distance is that from the ray of all positive multiples of the start weights,
so that the length of the learnt weights stays free and the penalty does not depend on the length of the start's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_adapters.tuners.feature_rows import dot
from rerank_adapters.tuners.problem import Problem
from rerank_plugins.core.arrays import FloatArray


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
