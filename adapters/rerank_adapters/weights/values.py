"""The weights of a linear model, by feature name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from rerank_adapters.formats.feature_field import label_groups, names_differ
from rerank_adapters.tuners.trees import Trees
from rerank_plugins import ConfigError, FeatureTable, FloatArray, PluginError, TuningResult


@dataclass(frozen=True)
class Weights:
    """Weights by name, the decision rule, and the provenance.

    `dense`       the weight of each dense feature; a table must have exactly these features
    `sparse`      the weights of sparse features; a feature without one has weight 0
    `decision`    "map" chooses the highest weighted sum, "mbr" the highest expected utility under softmax(scale * sum),
                  taken over the `evidence` hypotheses of highest sum (0: all of them)
    `provenance`  how they were made: version, seed, metric signature, tuner and settings, fingerprints, score ...
    `trees`       boosted trees whose sum is added to the weighted sum; None where there are weights alone
    """

    dense: Mapping[str, float]
    sparse: Mapping[str, float] = field(default_factory=dict)
    decision: Literal["map", "mbr"] = "map"
    scale: float = 1.0
    evidence: int = 0
    provenance: Mapping[str, Any] = field(default_factory=dict)
    trees: Trees | None = None

    @classmethod
    def from_tuning(cls, table: FeatureTable, result: TuningResult, provenance: Mapping[str, Any]) -> Weights:
        """The weights of a tuning result for the features of `table`.

        Raises PluginError for a scorer other than boosted trees, for which there is no file.
        """
        if result.scorer is not None and not isinstance(result.scorer, Trees):
            raise PluginError(f"a {type(result.scorer).__name__} cannot be written with the weights: only Trees can")
        values = [float(value) for value in result.weights]
        dense = dict(zip(table.names, values, strict=False))
        sparse = dict(zip(table.sparse.names, values[len(table.names) :], strict=True))
        return cls(dense, sparse, result.decision, float(result.scale), result.evidence, provenance, result.scorer)

    def vector(self, all_names: Sequence[str], sparse_names: Collection[str] = ()) -> FloatArray:
        """(len(all_names)): the weights in the order of a table's `all_names`; 0 for `sparse_names` without a weight.

        Dense weights called F0, F1, ..., as kbmira writes them without the features' names, are assigned by position
        where the table has none of these names. Raises ConfigError with the features that lack a weight and the dense
        weights without a feature.
        """
        sparse_names = frozenset(sparse_names)
        dense = self.dense_for(all_names, sparse_names)
        known = {**self.sparse, **dense}
        names = set(all_names)
        missing = [name for name in all_names if name not in known and name not in sparse_names]
        difference = names_differ(missing, [name for name in dense if name not in names])
        if difference:
            origin = f" of {self.provenance['file']}" if "file" in self.provenance else ""
            raise ConfigError(f"the weights{origin} are for other features: the file {difference}")
        return np.array([known.get(name, 0.0) for name in all_names], np.float64)

    def vector_for(self, table: FeatureTable) -> FloatArray:
        """The weights in the order of a table's columns. Raises ConfigError as `vector` does, and for boosted trees."""
        if self.trees is not None:
            origin = self.provenance.get("file", "the weights")
            raise ConfigError(f"{origin}: boosted trees belong to these weights, which alone would choose otherwise")
        return self.vector(table.all_names, frozenset(table.sparse.names))

    def dense_for(self, all_names: Sequence[str], sparse_names: Collection[str]) -> Mapping[str, float]:
        """The dense weights by name; those called F0, F1, ... get the names of the table's features, by position."""
        wanted = [name for name in all_names if name not in sparse_names and name not in self.sparse]
        anonymous = [f"F{i}" for i in range(len(self.dense))]
        if list(self.dense) != anonymous or len(wanted) != len(anonymous) or set(wanted) & set(anonymous):
            return self.dense
        return dict(zip(wanted, self.dense.values(), strict=True))


def grouped(weights: Mapping[str, float]) -> dict[str, list[float] | float]:
    """The weights with each run X_0, X_1, ... as a list under the name X (see `label_groups`)."""
    return {
        label: [weights[name] for name in members] if len(members) > 1 else weights[label]
        for label, members in label_groups(list(weights))
    }


def ungrouped(label: str, values: Sequence[float]) -> dict[str, float]:
    """The weights of a group by name: X for a single value, X_0, X_1, ... for several."""
    if len(values) == 1:
        return {label: values[0]}
    return {f"{label}_{i}": value for i, value in enumerate(values)}
