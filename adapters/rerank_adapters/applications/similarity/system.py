"""A trained system of textual similarity in one file: regressions by source, the forest that mixes them, vectors.

Data of the other families that have any (WordNet, ESA …) stay where they are; `data` says which they were.

`mode` says how the regressions of several sources make one score (Wu et al. 2013, section 3.3): `one` has one
regression for all sources (the paper's r4), `mixed` weighs the scores of all by the forest's confidence in each source
(r1), `best` takes that of the most probable source (r2). Scores are clipped to the range of the training scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import nan
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rerank_adapters.applications.similarity.random_forest import RandomForest
from rerank_plugins import __version__, model_file
from rerank_plugins.arrays import FloatArray
from rerank_plugins.errors import ModelError
from rerank_plugins.models.random_indexing import model_file as vector_file
from rerank_plugins.models.random_indexing.model import RandomIndexModel

KIND = "similarity"
Mode = Literal["one", "mixed", "best"]
Learner = Literal["shrunk", "selected", "paper"]


@dataclass(frozen=True, eq=False)
class Regression:
    """Score = constant + Σ weight · value over the columns named.

    `correlation` is that with the scores in ten-fold cross-validation, nan where there was none. Of a selection,
    `curve` has the column that came in and the correlation then, round by round, also after the best one.
    """

    columns: tuple[str, ...]
    weights: FloatArray
    constant: float
    correlation: float = nan
    curve: tuple[tuple[str, float], ...] = ()

    def scores(self, values: FloatArray, names: Sequence[str]) -> FloatArray:
        """(n) scores of (n, names) values."""
        at = [names.index(column) for column in self.columns]
        return np.asarray(values[:, at] @ self.weights + self.constant, np.float64)


@dataclass(frozen=True, eq=False)
class SimilarityModel:
    """What gives pairs their scores; `names` are the columns that the forest reads, in order."""

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
        used = self.names if self.forest else [name for each in self.regressions.values() for name in each.columns]
        return {name.partition(".")[0] for name in used}

    def scores(self, values: FloatArray) -> FloatArray:
        """(n) scores of (n, names) values of the measures."""
        every = np.column_stack([each.scores(values, self.names) for each in self.regressions.values()])
        if self.forest is None:
            found = every[:, 0]
        elif self.mode == "mixed":
            found = np.einsum("ij,ij->i", every, self.forest.probabilities(values))
        else:
            found = every[np.arange(len(every)), self.forest.probabilities(values).argmax(axis=1)]
        return np.clip(found, *self.scale)


def write_similarity(model: SimilarityModel, path: Path) -> int:
    """Write the model, whole or not at all; how many bytes the file has. Raises OSError."""
    settings = {
        "mode": model.mode,
        "names": model.names,
        "scale": model.scale,
        "text": model.text,
        "regressions": {
            source: {
                "columns": each.columns,
                "weights": each.weights.tolist(),
                "constant": each.constant,
                "correlation": each.correlation,
                "curve": each.curve,
            }
            for source, each in model.regressions.items()
        },
        "vectors": vector_file.described(model.vectors) if model.vectors else None,
        "data": dict(model.data),
        "provenance": {**model.provenance, "version": __version__},
    }
    arrays: model_file.Arrays = {}
    if model.forest is not None:
        arrays |= {f"forest.{each.name}": getattr(model.forest, each.name) for each in fields(RandomForest)}
    if model.vectors is not None:
        arrays |= vector_file.model_arrays(model.vectors, "vectors.")
    return model_file.write_model(path, KIND, settings, arrays)


def read_similarity(path: Path) -> SimilarityModel:
    """Read a model.

    Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind.
    """
    settings, arrays = model_file.read_model(path, KIND)
    try:
        regressions = {
            source: Regression(
                tuple(each["columns"]),
                np.array(each["weights"], np.float64),
                float(each["constant"]),
                float(each["correlation"]),
                tuple((str(name), float(value)) for name, value in each["curve"]),
            )
            for source, each in settings["regressions"].items()
        }
        forest = None
        if settings["mode"] != "one":
            forest = RandomForest(**{each.name: arrays[f"forest.{each.name}"] for each in fields(RandomForest)})
        vectors = None
        if settings["vectors"] is not None:
            vectors = vector_file.model_from(settings["vectors"], arrays, str(path), "vectors.")
        lowest, highest = settings["scale"]
        model = SimilarityModel(
            settings["mode"], tuple(settings["names"]), regressions, (lowest, highest), tuple(settings["text"]),
            forest, vectors, settings["data"], settings["provenance"],
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{path}: damaged similarity model ({type(error).__name__}: {error})") from None
    used = {column for each in regressions.values() for column in each.columns}
    if not regressions or used - set(model.names):
        raise ModelError(f"{path}: damaged similarity model: its regressions do not fit its measures")
    return model
