"""The metric `comet`: the mean score of an estimator over the chosen hypotheses.

The statistics (S = 2) are the score of the hypothesis, the mean over its references, and the number of segments (1).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from rerank_plugins import ConfigError, FloatArray, PickledFields, __version__, check_texts, option
from rerank_plugins.core.identity import path_hash
from rerank_plugins.core.metrics_and_tuners import SegmentAverage
from rerank_plugins.neural.comet_checkpoint import ENCODER, MODEL, open_estimator
from rerank_plugins.neural.opening import BATCH_READ, DEVICE, DTYPE, ENGINES, TOKENS, Dtype


@dataclass
class CometMetric(PickledFields, SegmentAverage):
    """Mean score of a COMET estimator for hypothesis, source and reference, or for hypothesis and source alone.

    A text is read by the encoder once, also where hypotheses are compared with each other.
    """

    engines: ClassVar[tuple[str, ...]] = ENGINES

    model: Path = option(doc=MODEL)
    encoder: Path | None = option(None, doc=ENCODER)
    scale: Annotated[float, Field(gt=0)] = option(
        100.0, doc="multiply the scores by this; 1 for those that unbabel-comet prints"
    )
    device: str = option("cpu", doc=DEVICE, changes_results=False)
    dtype: Dtype = option("float32", doc=DTYPE)
    batch_tokens: Annotated[int, Field(ge=1)] = option(TOKENS, doc=BATCH_READ, changes_results=False)

    def __post_init__(self) -> None:
        """Start without sources: `with_sources` names them."""
        self._sources: tuple[str | None, ...] | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the options."""
        self.__dict__.update(state)
        self._sources = None

    def with_sources(self, sources: Sequence[str | None]) -> CometMetric:
        """The metric for segments with these sources; copies share the estimator."""
        copied = copy.copy(self)
        copied._sources = tuple(sources)
        return copied

    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, 2): the scaled score of the hypothesis, and 1.

        Raises as `check_texts` does, ConfigError for segments without source, ModelError for what cannot be opened.
        """
        check_texts(hypotheses, references)
        segments = list(zip(hypotheses, references, self._sources_of(len(hypotheses)), strict=True))
        rows = [(text, source, other) for group, several, source in segments for text in group for other in several]
        scores = self._scores(rows)
        means, start = list[float](), 0
        for group, several, _ in segments:
            part = scores[start : start + len(group) * len(several)].reshape(len(group), len(several))
            means += np.sort(part, axis=1).mean(axis=1).tolist()  # sorted: rounded alike in any order of references
            start += part.size
        return np.column_stack([np.array(means, np.float64), np.ones(len(means))])

    def pairwise(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n): the scores of pairs of hypotheses of one segment. Raises as `statistics` does."""
        (source,) = self._sources_of(1)
        rows = [(text, source, other) for text in hypotheses for other in hypotheses]
        return self._scores(rows).reshape(len(hypotheses), len(hypotheses))

    def signature(self) -> str:
        """The folder's name, the start of its hash, and the scale, in sacrebleu's form."""
        parts = {"model": self.model.name, "sha256": (path_hash(self.model) or "none")[:8], "scale": f"{self.scale:g}"}
        parts["version"] = __version__
        return "|".join(f"{key}:{value}" for key, value in parts.items())

    def _sources_of(self, number: int) -> list[str]:
        """The sources of the segments. Raises ConfigError where there are none, or one is missing."""
        if not number:
            return []
        sources = self._sources or (None,) * number
        if len(sources) != number:
            raise ConfigError(f"comet: {len(sources)} sources for {number} segments")
        known = [source for source in sources if source is not None]
        if len(known) < number:
            which = "there are no source sentences" if not known else f"segment {sources.index(None) + 1} has no source"
            raise ConfigError(f"comet: {which}, which the estimator reads: name a source file")
        return known

    def _scores(self, rows: Sequence[tuple[str, str, str]]) -> FloatArray:
        """(n) the scaled scores of rows of a hypothesis, its source and its reference."""
        if not rows:
            return np.zeros(0)
        estimator = open_estimator(self.model, self.encoder, self.device, self.dtype)
        hypotheses, sources, references = zip(*rows, strict=True)
        return self.scale * estimator.scores(hypotheses, sources, references, self.batch_tokens)
