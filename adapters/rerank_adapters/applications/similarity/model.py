"""A trained similarity system in one file: a regression for each source, the forest that mixes them, and vectors.

The file does not include the data of other families of measures (WordNet, ESA …); `data` identifies them.

`mode` determines how the regressions of several sources yield one score (Wu et al. 2013, section 3.3): `one` has a
single regression for all sources (the paper's r4); `mixed` averages the scores of all regressions, weighted by the
forest's probability of each source (r1); `best` takes the score of the most probable source (r2). Scores are clipped to
the range of the training scores.

scikit-learn (the extra `ml`) trains the random forest, but is not needed to apply or store it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from rerank_plugins import __version__
from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.errors import DAMAGE, ConfigError, ModelError
from rerank_plugins.kit.files import model_file
from rerank_plugins.kit.files.array_values import ContentsError, found
from rerank_plugins.kit.files.model_schema import Array, ModelFile
from rerank_plugins.similarity.random_indexing import FILE as VECTORS
from rerank_plugins.similarity.random_indexing import RandomIndexModel

TREES, SMALLEST_LEAF = 200, 5
KIND = "similarity"
Mode = Literal["one", "mixed", "best"]
Learner = Literal["shrunk", "selected", "paper"]


@dataclass(frozen=True, eq=False)
class RandomForest:
    """The nodes of all trees, concatenated; `roots` (trees) has the index of each tree's root.

    `children` (nodes, 2) has the indices of the left and the right child, -1 for a leaf. A row goes left if
    values[feature] <= threshold, with `features` (nodes) and `thresholds` (nodes). `shares` (nodes, classes) has the
    proportions of the classes among the training rows in a node.
    """

    roots: Annotated[LongArray, Array("T", below="N")]
    children: Annotated[LongArray, Array("N", "2")]
    features: Annotated[LongArray, Array("N", values="not negative")]
    thresholds: Annotated[FloatArray, Array("N")]
    shares: Annotated[FloatArray, Array("N", "C", values="probabilities")]

    def probabilities(self, values: FloatArray) -> FloatArray:
        """(n, classes) mean over the trees of the class proportions in the leaf that each row (n, features) reaches."""
        rows = np.arange(len(values))
        single_precision = values.astype(np.float32)  # scikit-learn compares in single precision
        total = np.zeros((len(values), self.shares.shape[1]))
        for root in self.roots:
            node = np.full(len(values), root)
            while (inside := self.children[node, 0] >= 0).any():
                right = single_precision[rows, self.features[node]] > self.thresholds[node]
                node = np.where(inside, self.children[node, right.astype(np.int64)], node)
            total += self.shares[node]
        return np.asarray(total / len(self.roots), np.float64)


def check_children(forest: RandomForest) -> None:
    """Raise ContentsError unless each node has no child or two, nodes that come after it: no row goes round."""
    nodes, inside = np.arange(len(forest.children))[:, None], forest.children[:, :1] >= 0
    fits = np.where(inside, forest.children > nodes, forest.children == -1) & (forest.children < len(nodes))
    if not fits.all():
        raise ContentsError(f"forest.children has {found(forest.children, ~fits)}, wanted -1 or a later node")


FOREST = ModelFile(RandomForest, KIND, "similarity model", check=check_children)


def train_forest(values: FloatArray, classes: LongArray, seed: int) -> RandomForest:
    """Train a forest to predict the class (n) of each row. Raises ConfigError if scikit-learn is not installed."""
    try:
        from sklearn.ensemble import RandomForestClassifier
    except ImportError:
        raise ConfigError("a random forest needs scikit-learn: pip install 'rerank-plugins[ml]'") from None
    fitted = RandomForestClassifier(TREES, min_samples_leaf=SMALLEST_LEAF, random_state=seed).fit(values, classes)
    trees = [estimator.tree_ for estimator in fitted.estimators_]
    roots = np.cumsum([0, *(tree.node_count for tree in trees)])
    children: list[LongArray] = []
    for tree, root in zip(trees, roots, strict=False):
        indices = np.column_stack([tree.children_left, tree.children_right]).astype(np.int64)
        children.append(np.where(indices >= 0, indices + root, -1))
    shares = np.concatenate([tree.value[:, 0] for tree in trees])
    return RandomForest(
        roots[:-1].astype(np.int64),
        np.concatenate(children),
        np.maximum(np.concatenate([tree.feature for tree in trees]), 0).astype(np.int64),
        np.concatenate([tree.threshold for tree in trees]).astype(np.float64),
        shares / shares.sum(axis=1, keepdims=True),
    )


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
        arrays = FOREST.contents(model.forest, "forest.")[1] | arrays
    return model_file.write_model(path, KIND, settings, arrays)


def read_similarity(path: Path) -> SimilarityModel:
    """Read a model. Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind."""
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
            forest = FOREST.from_contents({}, arrays, str(path), "forest.")
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
    if forest is not None:
        has = forest.shares.shape[1], int(forest.features.max(initial=0))
        if has[0] != len(regressions) or has[1] >= len(model.names) or not len(forest.roots):
            problem = f"forest.shares has {has[0]} columns, and forest.features goes up to {has[1]}"
            wanted = f"wanted {len(regressions)} columns and at most {len(model.names) - 1}, and a tree"
            raise ModelError(f"{path}: damaged similarity model: {problem}, {wanted}")
    return model
