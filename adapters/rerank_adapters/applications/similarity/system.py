"""A trained similarity system in one file: a regression for each source, the forest that mixes them, and vectors.

The file does not include the data of other families of measures (WordNet, ESA …); `data` identifies them.

`mode` determines how the regressions of several sources yield one score (Wu et al. 2013, section 3.3): `one` has a
single regression for all sources (the paper's r4); `mixed` averages the scores of all regressions, weighted by the
forest's probability of each source (r1); `best` takes the score of the most probable source (r2). Scores are clipped to
the range of the training scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import nan
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rerank_adapters.applications.similarity.random_forest import RandomForest
from rerank_plugins import __version__
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.kit.files import model_file
from rerank_plugins.similarity.random_indexing.model import FILE as VECTORS
from rerank_plugins.similarity.random_indexing.model import RandomIndexModel

KIND = "similarity"
Mode = Literal["one", "mixed", "best"]
Learner = Literal["shrunk", "selected", "paper"]


@dataclass(frozen=True, eq=False)
class Regression:
    """Score = constant + Σ weight · value, summed over `columns`.

    `correlation` is the correlation with the scores in ten-fold cross-validation, nan without cross-validation. After
    forward selection, `curve` has for each round, including those after the best one, the column added and the
    correlation reached.
    """

    columns: tuple[str, ...]
    weights: FloatArray
    constant: float
    correlation: float = nan
    curve: tuple[tuple[str, float], ...] = ()

    def scores(self, values: FloatArray, names: Sequence[str]) -> FloatArray:
        """(n) scores of (n, names) values."""
        positions = [names.index(column) for column in self.columns]
        return np.asarray(values[:, positions] @ self.weights + self.constant, np.float64)


@dataclass(frozen=True, eq=False)
class SimilarityModel:
    """A model that scores pairs of sentences; `names` are the columns that the forest reads, in order."""

    mode: Mode
    names: tuple[str, ...]
    regressions: Mapping[str, Regression]
    scale: tuple[float, float]
    text: tuple[str, ...]
    forest: RandomForest | None = None
    vectors: RandomIndexModel | None = None
    data: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def families(self) -> set[str]:
        """The families of the measures that the scores depend on."""
        regressions = self.regressions.values()
        used = self.names if self.forest else [name for regression in regressions for name in regression.columns]
        return {name.partition(".")[0] for name in used}

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


def write_similarity(model: SimilarityModel, path: Path) -> int:
    """Write the model atomically and return the size of the file in bytes. Raises OSError."""
    vectors, arrays = VECTORS.contents(model.vectors, "vectors.") if model.vectors else (None, {})
    settings = {
        "mode": model.mode,
        "names": model.names,
        "scale": model.scale,
        "text": model.text,
        "regressions": {
            source: {
                "columns": regression.columns,
                "weights": regression.weights.tolist(),
                "constant": regression.constant,
                "correlation": regression.correlation,
                "curve": regression.curve,
            }
            for source, regression in model.regressions.items()
        },
        "vectors": vectors,
        "data": dict(model.data),
        "provenance": {**model.provenance, "version": __version__},
    }
    if model.forest is not None:
        forest = {f"forest.{array.name}": getattr(model.forest, array.name) for array in fields(RandomForest)}
        arrays = forest | arrays
    return model_file.write_model(path, KIND, settings, arrays)


def read_similarity(path: Path) -> SimilarityModel:
    """Read a model.

    Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind.
    """
    settings, arrays = model_file.read_model(path, KIND)
    try:
        regressions = {
            source: Regression(
                tuple(table["columns"]),
                np.array(table["weights"], np.float64),
                float(table["constant"]),
                float(table["correlation"]),
                tuple((str(name), float(correlation)) for name, correlation in table["curve"]),
            )
            for source, table in settings["regressions"].items()
        }
        forest = None
        if settings["mode"] != "one":
            forest = RandomForest(**{array.name: arrays[f"forest.{array.name}"] for array in fields(RandomForest)})
        vectors = None
        if settings["vectors"] is not None:
            vectors = VECTORS.from_contents(settings["vectors"], arrays, str(path), "vectors.")
        lowest, highest = settings["scale"]
        model = SimilarityModel(
            settings["mode"], tuple(settings["names"]), regressions, (lowest, highest), tuple(settings["text"]),
            forest, vectors, settings["data"], settings["provenance"],
        )  # fmt: skip
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged similarity model ({type(error).__name__}: {error})") from None
    used = {column for regression in regressions.values() for column in regression.columns}
    if not regressions or used - set(model.names):
        raise ModelError(f"{path}: damaged similarity model: its regressions do not fit its measures")
    return model
