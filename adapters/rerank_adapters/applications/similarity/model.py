"""A trained similarity system in one file: a regression for each source, the forest that mixes them, and vectors.

The file does not include the data of other families of measures (WordNet, ESA …); `data` identifies them.

`mode` determines how the regressions of several sources yield one score (Wu et al. 2013, section 3.3): `one` has a
single regression for all sources (the paper's r4); `mixed` averages the scores of all regressions, weighted by the
forest's probability of each source (r1); `best` takes the score of the most probable source (r2). Scores are clipped to
the range of the training scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np

from rerank_adapters.applications.similarity.forest import RandomForest
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.kit.files.array_values import ContentsError
from rerank_plugins.kit.files.model_schema import ModelFile, Part, Setting
from rerank_plugins.similarity.random_indexing import FILE as VECTORS
from rerank_plugins.similarity.random_indexing import RandomIndexModel

Mode = Literal["one", "mixed", "best"]
Learner = Literal["shrunk", "paper"]


@dataclass(frozen=True, eq=False)
class Regression:
    """Score = constant + Σ weight · value, summed over `columns`.

    `correlation` is the correlation with the scores in ten-fold cross-validation. After forward selection, `curve` has
    for each round, including those after the best one, the column added and the correlation reached.
    """

    columns: tuple[str, ...]
    weights: FloatArray
    constant: float
    correlation: float
    curve: tuple[tuple[str, float], ...] = ()

    def scores(self, values: FloatArray, names: Sequence[str]) -> FloatArray:
        """(n) scores of (n, names) values."""
        positions = [names.index(column) for column in self.columns]
        return np.asarray(values[:, positions] @ self.weights + self.constant, np.float64)


@dataclass(frozen=True, eq=False)
class SimilarityModel:
    """A model that scores pairs of sentences; `names` are the columns that the forest reads, in order."""

    mode: Annotated[Mode, Setting()]
    names: Annotated[tuple[str, ...], Setting()]
    regressions: Annotated[Mapping[str, Regression], Setting()]
    scale: Annotated[tuple[float, float], Setting()]
    text: Annotated[tuple[str, ...], Setting()]
    forest: Annotated[RandomForest | None, Part("forest.", optional=True)] = None
    vectors: Annotated[RandomIndexModel | None, Part("vectors.", optional=True)] = None
    data: Annotated[Mapping[str, str], Setting()] = field(default_factory=dict)
    provenance: Annotated[Mapping[str, Any], Setting("learnt", versioned=True)] = field(default_factory=dict)

    @property
    def families(self) -> set[str]:
        """The families of the measures that the scores depend on."""
        return {name.partition(".")[0] for name in (self.names if self.forest else self.columns)}

    @property
    def columns(self) -> set[str]:
        """The measures that the regressions read."""
        return {column for regression in self.regressions.values() for column in regression.columns}

    def scores(self, values: FloatArray) -> FloatArray:
        """(n) scores of (n, names) values of the measures."""
        by_source = np.column_stack([regression.scores(values, self.names) for regression in self.regressions.values()])
        if self.forest is None:
            scores = by_source[:, 0]
        elif self.mode == "mixed":
            scores = np.einsum("ij,ij->i", by_source, self.forest.probabilities(values))
        else:
            scores = by_source[np.arange(len(by_source)), self.forest.probabilities(values).argmax(axis=1)]
        return np.clip(scores, *self.scale)


def check_parts(model: SimilarityModel) -> None:
    """Raise ContentsError unless regressions, measures and forest fit together."""
    if not model.regressions or model.columns - set(model.names) or (model.forest is None) != (model.mode == "one"):
        raise ContentsError("its regressions do not fit its measures")
    for name, regression in model.regressions.items():
        if regression.weights.shape != (len(regression.columns),):
            raise ContentsError(f"the regression {name!r} has not one weight for each of its measures")
    if model.forest is not None:
        model.forest.check(len(model.names), len(model.regressions))
    if model.vectors is not None:
        VECTORS.check(model.vectors)


FILE = ModelFile(SimilarityModel, "similarity", "similarity model", check=check_parts)
read_similarity, write_similarity = FILE.read, FILE.write
