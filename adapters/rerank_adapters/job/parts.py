"""The features and the metrics of a config: each a plugin under its label, with the text steps before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rerank_adapters.job.config import Given
from rerank_adapters.job.specs import Names, Spec, plugin_table, split_table
from rerank_adapters.text import TextPipeline


@dataclass(frozen=True)
class Part:
    """A feature or a metric under its label, with the text steps of hypotheses and of sources before it."""

    label: str
    spec: Spec
    text: TextPipeline = field(default_factory=TextPipeline)
    source: TextPipeline = field(default_factory=TextPipeline)

    @classmethod
    def read(cls, kind: str, given: Given, names: Names, where: str = "") -> Part:
        """The part of a table or of NAME,option=value; `where` names its place in errors. Raises as `Spec.read`."""
        own, ours, base = split_table(kind, given)
        spec = Spec.read(kind, own, names, where, base)
        text, source = ours.get("text"), ours.get("source_text")
        steps = names.pipeline(text, where), names.pipeline(source, where, of_source=True)
        return cls(label_of(kind, given, names), spec, *steps)

    def table(self, folder: Path, *, objects: bool = False) -> dict[str, Any]:
        """The table that makes it again, with paths relative to a folder.

        In the place of an object that no table makes there is its label or, with `objects`, the object.
        """
        table = self.spec.table(folder)
        if self.spec.is_object:
            table = {"use": self.spec.make() if objects else self.label}
        label = "" if self.label == table["use"] else self.label
        own = {"label": label, "text": self.text.rebased(folder), "source_text": self.source.rebased(folder)}
        return table | {key: value for key, value in own.items() if value}


def label_of(kind: str, given: Given, names: Names) -> str:
    """The label in the table of a feature or a metric: its own one, or the name of the plugin."""
    table = plugin_table(given) if isinstance(given, str) else given
    use = table.get("use", "")
    return str(table.get("label") or (use if isinstance(use, str) else Spec.of(kind, use, names).label))
