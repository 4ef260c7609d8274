"""The feature `neural-translation`: ln p(hypothesis | source) and ln p(source | hypothesis) by transformers models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from rerank_plugins import ConfigError, FeatureExtractor, FloatArray, NBestList, PickledFields, option
from rerank_plugins.neural.opening import BATCH, DEVICE, DTYPE, ENGINES, TOKENS, Dtype, Opened, open_model
from rerank_plugins.neural.pieces import split
from rerank_plugins.neural.translation import translation_scores


@dataclass(frozen=True)
class NeuralTranslationFeature(PickledFields, FeatureExtractor):
    """Ln p(hypothesis | source) by an encoder–decoder model, ln p(source | hypothesis) by another, or both.

    The second is the channel model of noisy-channel reranking (Yee et al. 2019). Each is a total and a value per word
    of what is predicted and its end. An empty hypothesis has the score of the end alone.
    """

    engines: ClassVar[tuple[str, ...]] = ENGINES
    one_process: ClassVar[bool] = True

    model: Path | None = option(None, doc="folder of the model that translates the source into hypotheses")
    reverse_model: Path | None = option(None, doc="folder of the model that translates hypotheses into the source")
    source_language: str | None = option(None, doc="code of the source's language, for models of many languages")
    target_language: str | None = option(None, doc="code of the hypotheses' language, for models of many languages")
    device: str = option("cpu", doc=DEVICE, changes_results=False)
    dtype: Dtype = option("float32", doc=DTYPE)
    batch_tokens: int = option(TOKENS, doc=BATCH, changes_results=False)

    def __post_init__(self) -> None:
        if self.model is None and self.reverse_model is None:
            raise ValueError("give 'model' (source to hypothesis), 'reverse_model', or both")

    @property
    def components(self) -> tuple[str, ...]:
        """`direct` and `direct_per_word` if there is a `model`, `reverse` and `reverse_per_word` likewise."""
        names = [name for name, path in (("direct", self.model), ("reverse", self.reverse_model)) if path is not None]
        return tuple(column for name in names for column in (name, f"{name}_per_word"))

    @cached_property
    def _direct(self) -> Opened | None:
        return self._open(self.model, self.source_language, self.target_language)

    @cached_property
    def _reverse(self) -> Opened | None:
        return self._open(self.reverse_model, self.target_language, self.source_language)

    def _open(self, folder: Path | None, read: str | None, predicted: str | None) -> Opened | None:
        if folder is None:
            return None
        opened = open_model("Seq2SeqLM", folder, self.device, self.dtype)
        for name, code in (("src_lang", read), ("tgt_lang", predicted)):
            if code is not None:
                setattr(opened.tokenizer, name, code)
        return opened

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 2 or 4) natural logs. Raises ConfigError for a list without source, ModelError."""
        return self.extract_all([nbest])[0]

    def extract_all(self, nbests: Sequence[NBestList]) -> list[FloatArray]:
        """(n, 2 or 4) natural logs of each list; all lists share the batches."""
        pairs: dict[tuple[str, str], int] = {}
        rows: list[int] = []
        for nbest in nbests:
            if len(nbest) and nbest.source is None:
                where = f"segment {nbest.segment_id} has no source sentence"
                raise ConfigError(f"neural-translation: {where}: name a source file")
            source = " ".join((nbest.source or "").split())
            rows += [pairs.setdefault((source, " ".join(text.split())), len(pairs)) for text in nbest.texts]
        both = list(pairs)
        columns = []
        if self._direct is not None:
            columns += self._scores(self._direct, both)
        if self._reverse is not None:
            columns += self._scores(self._reverse, [(text, source) for source, text in both])
        return _by_list(np.stack(columns, axis=1)[np.array(rows, np.int64)], nbests)

    def _scores(self, opened: Opened, pairs: Sequence[tuple[str, str]]) -> list[FloatArray]:
        """(n) ln p of the second text of each pair given the first, and the same per word."""
        texts = {text: number for number, text in enumerate(dict.fromkeys(first for first, _ in pairs))}
        sources = split(opened.tokenizer, [text.split() for text in texts], special=True)
        words = [second.split() for _, second in pairs]
        targets = split(opened.tokenizer, words, special=True, target=True)
        values = translation_scores(
            opened, [s.ids for s in sources], [t.ids for t in targets], [texts[f] for f, _ in pairs], self.batch_tokens
        )
        totals = np.array([value.sum() for value in values], np.float64)
        return [totals, totals / [len(sentence) + 1 for sentence in words]]


def _by_list(values: FloatArray, nbests: Sequence[NBestList]) -> list[FloatArray]:
    """The rows of each list."""
    return np.split(values, np.cumsum([len(nbest) for nbest in nbests])[:-1]) if nbests else []
