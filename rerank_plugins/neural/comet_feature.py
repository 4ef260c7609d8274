"""The feature `comet`: the score of a hypothesis given its source, by an estimator that reads no reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from rerank_plugins import ConfigError, FeatureExtractor, FloatArray, NBestList, option
from rerank_plugins.neural.comet_checkpoint import ENCODER, MODEL, open_estimator
from rerank_plugins.neural.opening import BATCH_READ, DEVICE, DTYPE, ENGINES, TOKENS, Dtype


@dataclass(frozen=True)
class CometFeature(FeatureExtractor):
    """Score of hypothesis and source by a COMET estimator that reads no reference (COMET-QE, CometKiwi)."""

    engines: ClassVar[tuple[str, ...]] = ENGINES
    one_process: ClassVar[bool] = True

    model: Path = option(doc=MODEL)
    encoder: Path | None = option(None, doc=ENCODER)
    device: str = option("cpu", doc=DEVICE, changes_results=False)
    dtype: Dtype = option("float32", doc=DTYPE)
    batch_tokens: Annotated[int, Field(ge=1)] = option(TOKENS, doc=BATCH_READ, changes_results=False)

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 1) scores. Raises ConfigError for a list without source and an estimator of references, ModelError."""
        return self.extract_all([nbest])[0]

    def extract_all(self, nbests: Sequence[NBestList]) -> list[FloatArray]:
        """(n, 1) scores of each list; all lists share the batches."""
        for nbest in nbests:
            if len(nbest) and nbest.source is None:
                raise ConfigError(f"comet: segment {nbest.segment_id} has no source sentence: name a source file")
        texts = [text for nbest in nbests for text in nbest.texts]
        sources = [nbest.source or "" for nbest in nbests for _ in nbest.texts]
        if not texts:
            return [np.zeros((0, 1)) for _ in nbests]
        estimator = open_estimator(self.model, self.encoder, self.device, self.dtype)
        if estimator.settings.reads_reference:
            raise ConfigError(f"{self.model}: an estimator that reads references is no feature; it can be a metric")
        values = estimator.scores(texts, sources, None, self.batch_tokens)[:, None]
        return np.split(values, np.cumsum([len(nbest) for nbest in nbests])[:-1])
