"""Bootstrap samples of a tuning set, for bagging (Breiman 1996): tuned on each, weights are averaged.

The mean of weights that were tuned on resampled lists depends less on single lists than weights tuned once, most of all
where features are correlated and many weight vectors do equally well.
"""

from __future__ import annotations

import numpy as np

from rerank_adapters.tuners.problem import Problem


def bootstrap_sample(problem: Problem, rng: np.random.Generator) -> tuple[Problem, Problem]:
    """As many lists as the problem has, drawn with replacement, and those not drawn (about e⁻¹ of them).

    Where every list is drawn, the second problem is the sample too.
    """
    drawn = np.sort(rng.integers(0, problem.segments, problem.segments))
    left = np.setdiff1d(np.arange(problem.segments), drawn)
    sample = problem.take(drawn)
    return sample, problem.take(left) if len(left) else sample
