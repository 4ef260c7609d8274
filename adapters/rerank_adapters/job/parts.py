"""The features and the metrics of a config: each a plugin under its label, with the text steps before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rerank_adapters.features.feature import check_label
from rerank_adapters.job.config import Table
from rerank_adapters.job.names import Names
from rerank_adapters.job.specs import Spec
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError
from rerank_plugins.core.plugins import RESERVED


@dataclass(frozen=True)
class Part:
    """A feature or a metric under its label, with the text steps of hypotheses and of sources before it."""

    label: str
    spec: Spec
    text: TextPipeline
    source: TextPipeline

    @classmethod
    def read(cls, kind: str, label: str, table: Table, names: Names, where: str) -> Part:
        """The part of a table; `where` names its place in errors. Raises what `Spec.read` raises, and ConfigError."""
        options, ours = split_table(kind, table)
        spec = Spec.read(kind, options, names, where)
        text = names.pipeline(ours.get("text"), where)
        return cls(label, spec, text, names.pipeline(ours.get("source_text"), where, of_source=True))

    def table(self, folder: Path) -> dict[str, Any]:
        """The table that makes it again, for a file in a folder; of an object that no table makes, its label alone."""
        table = {"use": self.label} if self.spec.is_object else self.spec.table(folder)
        label = "" if self.label == table["use"] else self.label
        own = {"label": label, "text": self.text.rebased(folder), "source_text": self.source.rebased(folder)}
        return table | {key: value for key, value in own.items() if value}


def split_table(kind: str, table: Table) -> tuple[dict[str, Any], dict[str, Any]]:
    """A plugin's table without the keys that are not the plugin's (`label`, `text`, `margin`), and those keys."""
    ours = RESERVED[kind].keys() - {"use"}
    return {k: v for k, v in table.items() if k not in ours}, {k: v for k, v in table.items() if k in ours}


def labelled(kind: str, tables: Sequence[Table], names: Names) -> Mapping[str, Table]:
    """The tables of the features or the metrics by label: their own one, or the name of the plugin.

    Raises ConfigError for two of the same label, and for a label that does not fit into files of lists and weights.
    """
    by_label: dict[str, Table] = {}
    for number, table in enumerate(tables, 1):
        use = table.get("use", "")
        spec = None if isinstance(use, str) else Spec.of(kind, use, names)
        label = str(table.get("label") or (use if spec is None else spec.entry.name))
        if spec is not None and spec.is_object and label in {**by_label, **names.registry.known(kind)}:
            raise ConfigError(f"two {kind}s are called {label!r}: name them, as in {{name: plugin}}")
        if label in by_label:
            advice = "give one a label of its own"
            raise ConfigError(f"[[{kind}]] {number}: another {kind} has the label {label!r}; {advice}")
        if kind == "feature":
            check_label(label)
        by_label[label] = table
    return by_label
