"""Compare learners of sentence similarity by how well they generalise to sources without human scores.

`left out` is the mean over the sources of the correlation on the source of what is learnt from the others. A learner is
chosen by this number and not by the test sets beside it. Every learner computes weights from the centred values of each
source.

DATA is a folder with sts/2012.*.tsv, sts/2013.*.test.tsv and so on (`score<TAB>sentence<TAB>sentence`). It may have
eval_only/sts_benchmark/*.csv too, which is then a third source to learn from. The options are those of `rerank
similarity`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from docs.results.scripts.experiment import experiment
from docs.results.scripts.similarity_sets import TESTS, Sets, read_sets, with_measures
from rerank_adapters.applications.similarity.correlation import pearson
from rerank_adapters.applications.similarity.learning import SimilaritySettings, Training
from rerank_adapters.applications.similarity.measure_data import family_of
from rerank_adapters.applications.similarity.selection import select
from rerank_adapters.applications.similarity.shrinkage import PENALTY, shrunk_weights
from rerank_plugins.core.arrays import FloatArray

Learner = Callable[[Training], FloatArray]  # returns the weights of all measures


def prepared(training: Training, own: bool = False) -> tuple[list[FloatArray], list[FloatArray], FloatArray]:
    """The centred values and scores of each source, and the deviations; with `own`, divided by the source's own."""
    values, scores = [], []
    for source in np.unique(training.source):
        x, y = (array[training.source == source] for array in (training.values, training.scores))
        x, y = x - x.mean(axis=0), y - y.mean()
        values.append(x / positive(x.std(axis=0)) if own else x)
        scores.append(y / y.std() if own else y)
    return values, scores, positive(np.vstack(values).std(axis=0))


def positive(deviations: FloatArray) -> FloatArray:
    """The deviations as divisors: infinite where a value is constant."""
    return np.where(deviations > 1e-9, deviations, np.inf)


def correlations(training: Training) -> FloatArray:
    """(sources, names): the correlation of each measure by itself."""
    sources = [training.source == source for source in np.unique(training.source)]
    return np.array([[pearson(x, training.scores[rows]) for x in training.values[rows].T] for rows in sources])


def ridge(
    training: Training, *, pairs: float = 0.0, penalty: float = 0.0, power: float = 0.0, over: Callable[..., FloatArray] = np.mean,
    negative: bool = True, own: bool = False,
) -> FloatArray:  # fmt: skip
    """Ridge regression with the penalty `pairs` per pair and `penalty` in total; trust is a power of the correlation."""
    values, scores, deviations = prepared(training, own)
    trust = np.maximum(0.0, over(correlations(training), axis=0)) ** power if power else np.ones(len(deviations))
    scale: FloatArray = trust / trust.max() / deviations
    square = np.mean([(x * scale).T @ (x * scale) / len(x) for x in values], axis=0)
    right = np.mean([(x * scale).T @ y / len(x) for x, y in zip(values, scores, strict=True)], axis=0)
    many = len(values) ** 2 / sum(1 / len(x) for x in values)
    square += (pairs + penalty / many) * np.eye(len(square))
    weights: FloatArray = np.linalg.solve(square, right) if negative else not_negative(square, right)
    return scale * weights


def not_negative(square: FloatArray, right: FloatArray) -> FloatArray:
    """The w ≥ 0 that minimises ½ w'Sw - r'w."""
    from scipy.optimize import nnls

    lower = np.linalg.cholesky(square)
    weights: FloatArray = nnls(lower.T, np.linalg.solve(lower, right))[0]
    return weights


def as_paper(training: Training) -> FloatArray:
    """The paper's learner: linear regression over all pairs, on those of its measures that forward selection keeps."""
    part = training.of(SimilaritySettings(learner="paper"))
    regression = select(part.values, part.scores, part.names, rng=np.random.default_rng(1))
    weights = dict(zip(regression.columns, regression.weights, strict=True))
    return np.array([weights.get(name, 0.0) for name in training.names])


def shrunk(training: Training) -> FloatArray:
    """The package's own learner: `ridge` with trust by the correlation, where no copy in another order may gain."""
    part = training.of(SimilaritySettings())
    weights = shrunk_weights(part.values, part.scores, part.source, PENALTY, part.differences)[0]
    by_name = dict(zip(part.names, weights, strict=True))
    return np.array([by_name.get(name, 0.0) for name in training.names])


def mean_of_best(training: Training, *, size: int) -> FloatArray:
    """The mean of the measures that correlate best with the scores, each divided by its deviation."""
    best = np.argsort(-correlations(training).mean(axis=0))[:size]
    weights = np.zeros(len(training.names))
    weights[best] = 1 / prepared(training)[2][best]
    return weights


def families(training: Training, *, pairs: float) -> FloatArray:
    """Non-negative ridge regression on the means of each family's measures."""
    values, scores, deviations = prepared(training)
    kinds = [family_of(name) for name in training.names]
    means = np.array([[(kind == name) / kinds.count(name) for name in dict.fromkeys(kinds)] for kind in kinds], float)
    means /= deviations[:, None]
    means /= np.vstack([x @ means for x in values]).std(axis=0)
    square = np.mean([(x @ means).T @ (x @ means) / len(x) for x in values], axis=0)
    right = np.mean([(x @ means).T @ y / len(x) for x, y in zip(values, scores, strict=True)], axis=0)
    return means @ not_negative(square + pairs * np.eye(len(square)), right)


def across(training: Training, *, pairs: float, most: int = 15, tolerance: float = 0.002) -> FloatArray:
    """Forward selection by the correlation on each source with weights learnt from the others."""
    values, scores, deviations = prepared(training)
    squares = [(x / deviations).T @ (x / deviations) / len(x) for x in values]
    rights = [(x / deviations).T @ y / len(x) for x, y in zip(values, scores, strict=True)]
    parts = range(len(values))

    def weights(columns: list[int], of: Sequence[int]) -> FloatArray:
        square = np.mean([squares[s][np.ix_(columns, columns)] for s in of], axis=0)
        return np.linalg.solve(square + pairs * np.eye(len(columns)), np.mean([rights[s][columns] for s in of], axis=0))

    def reached(columns: list[int]) -> float:
        per_source = []
        for held in parts:
            w = weights(columns, [s for s in parts if s != held] or [held])
            size = np.sqrt(w @ squares[held][np.ix_(columns, columns)] @ w) * scores[held].std()
            per_source.append(w @ rights[held][columns] / size if size > 0 else 0.0)
        return float(np.mean(per_source))

    chosen: list[int] = []
    curve: list[float] = []
    while len(chosen) < most:
        rest = [i for i in range(len(deviations)) if i not in chosen and np.isfinite(deviations[i])]
        best, negative = max((reached([*chosen, i]), -i) for i in rest)
        chosen.append(-negative)
        curve.append(best)
    kept = chosen[: 1 + int(np.argmax(np.array(curve) >= max(curve) - tolerance))]
    result = np.zeros(len(deviations))
    result[kept] = weights(kept, list(parts)) / deviations[kept]
    return result


SHRUNK = "**trusted by r, λ = 30, no copy in another order gains** (`shrunk`)"
LEARNERS: dict[str, Learner] = {
    "the paper's (`paper`)": as_paper,
    "forward selection across sources, λ = 0.1 a pair": partial(across, pairs=0.1),
    "the same, λ = 3 a pair": partial(across, pairs=3.0),
    "the best measure": partial(mean_of_best, size=1),
    "mean of the 8 best": partial(mean_of_best, size=8),
    "mean of the 20 best": partial(mean_of_best, size=20),
    "means of families, weights ≥ 0, λ = 0.3 a pair": partial(families, pairs=0.3),
    "all measures, λ = 100": partial(ridge, penalty=100.0),
    "all measures, λ = 1000": partial(ridge, penalty=1000.0),
    "all measures, λ = 3 a pair": partial(ridge, pairs=3.0),
    "the same, weights ≥ 0": partial(ridge, pairs=3.0, negative=False),
    "the same, divided by deviations of each source": partial(ridge, pairs=3.0, own=True),
    SHRUNK: shrunk,
    "trusted by r, λ = 30, any order": partial(ridge, penalty=30.0, power=1.0),
    "trusted by r, λ = 100": partial(ridge, penalty=100.0, power=1.0),
    "trusted by r², λ = 30": partial(ridge, penalty=30.0, power=2.0),
    "trusted by r², λ = 100": partial(ridge, penalty=100.0, power=2.0),
    "trusted by r², λ = 300": partial(ridge, penalty=300.0, power=2.0),
    "trusted by r³, λ = 30": partial(ridge, penalty=30.0, power=3.0),
    "trusted by r⁴, λ = 30": partial(ridge, penalty=30.0, power=4.0),
    "trusted by the least r², λ = 100": partial(ridge, penalty=100.0, power=2.0, over=np.min),
    "trusted by r², λ = 100, weights ≥ 0": partial(ridge, penalty=100.0, power=2.0, negative=False),
}


def left_out(learner: Learner, training: Training, own: bool) -> float:
    """The mean correlation on each source of what is learnt from the others."""
    per_source = []
    for source in np.unique(training.source):
        held = training.source == source
        rest = {key: getattr(training, key)[~held] for key in ("values", "scores", "source")}
        part = replace(training, **rest)
        per_source.append(pearson(applied(learner(part), training.values[held], own), training.scores[held]))
    return float(np.mean(per_source))


def applied(weights: FloatArray, values: FloatArray, own: bool) -> FloatArray:
    """The similarities by some weights; with `own`, the values are divided by their own deviations."""
    return values / (positive(values.std(axis=0)) if own else 1.0) @ weights


@experiment("similarity_learners", __doc__)
@with_measures
def main(**options: Any) -> None:
    """Compute the measures, learn with each learner and print the table."""
    started = time.process_time()
    sets = read_sets(**options)
    tables = [sets.only(sets.sources[:size]) for size in (2, len(sets.sources))]
    print("| learner |" + " left out | mean 13 | mean of all |" * 2 + "\n| --- |" + " ---: |" * 6)
    for label, learner in LEARNERS.items():
        row(label, learner, sets, tables)
    row(f"{SHRUNK}, less `shape`", shrunk, sets, [training.without(["shape"]) for training in tables])
    print(f"\n{time.process_time() - started:.0f} s of CPU time")


def row(label: str, learner: Learner, sets: Sets, tables: Sequence[Training]) -> None:
    """Print the row of a learner."""
    cells = []
    own = isinstance(learner, partial) and learner.keywords.get("own", False)
    for training in tables:
        at = [sets.training.names.index(name) for name in training.names]
        weights = learner(training)
        tested = sets.row({name: applied(weights, sets.values[name][:, at], own) for name in TESTS}).split(" | ")
        cells += [f"{left_out(learner, training, own):.3f}", tested[3], tested[6]]
    print(f"| {label} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
