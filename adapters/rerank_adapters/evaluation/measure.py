"""Metrics of a job, with the text steps that hypotheses and references go through before each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rerank_adapters.text import TextPipeline
from rerank_adapters.texts.transcript import Transcript, change_words
from rerank_plugins import ConfigError, FloatArray, Metric
from rerank_plugins.core.contracts import checked_statistics


@dataclass(frozen=True)
class Measure:
    """A metric, its name in reports, and the text pipeline that hypotheses and references go through before it."""

    name: str
    metric: Metric
    text: TextPipeline = TextPipeline()

    @property
    def steps(self) -> str:
        """The names of the text steps, empty for none."""
        return self.text.describe() if self.text.steps else ""

    @property
    def ignores_case(self) -> bool:
        """Whether the metric takes words that differ in case alone for the same word, as its signature says."""
        return "case:lc" in self.metric.signature().split("|")

    def seen(self, groups: Sequence[Sequence[str]]) -> list[list[str]]:
        """The texts of each segment as the metric sees them. Raises ConfigError as `check` and `through` do."""
        self.check(groups)
        return through(self.text, groups)

    def statistics(
        self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]], sources: Sequence[str | None]
    ) -> FloatArray:
        """(rows, S) the metric's statistics of texts as they are read. Raises as `seen` and the metric do."""
        metric = self.metric.with_sources(sources)
        return checked_statistics(metric, self.seen(hypotheses), self.seen(references))

    def check(self, groups: Sequence[Sequence[str]]) -> None:
        """Raise ConfigError where texts have alternatives or optional words and the metric does not know these."""
        marked = next((text for group in groups for text in group if isinstance(text, Transcript)), None)
        if marked is not None and not getattr(self.metric, "reads_alternatives", False):
            known = "wer, cer, ser and accuracy score these"
            raise ConfigError(f"{self.name}: found alternatives or optional words, as in `{marked}`: {known}")


def through(text: TextPipeline, groups: Sequence[Sequence[str]]) -> list[list[str]]:
    """The texts of each segment after a pipeline, which all texts go through together.

    Raises ConfigError where a text has alternatives and a step of the pipeline looks at the context of a word.
    """
    lines = [line for group in groups for line in group]
    marked = text.steps and any(isinstance(line, Transcript) for line in lines)
    try:
        flat = change_words(lines, text.apply) if marked else text.apply(lines)
    except ValueError as error:
        raise ConfigError(f"the text steps {text.describe()}: {error}") from None
    cuts = [0]
    for group in groups:
        cuts.append(cuts[-1] + len(group))
    return [flat[start:stop] for start, stop in pairwise(cuts)]
