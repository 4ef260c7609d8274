"""A plugin for translation: how much of the source a hypothesis covers, by word pairs learnt from parallel text."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from rerank_plugins import (
    ConfigError,
    FeatureExtractor,
    FloatArray,
    ModelError,
    NBestList,
    PickledFields,
    Trained,
    Trainer,
    TrainingData,
    counted,
    hookimpl,
    option,
    read_model,
    word_array,
    words_from,
    write_model,
)

KIND = "source-coverage"  # what the model file says it holds


@dataclass
class SourceCoverageFeature(PickledFields, FeatureExtractor):
    """Proportions of source words translated in the hypothesis, and of hypothesis words that translate one."""

    model: Path = option(doc="model file of `rerank train source-coverage`")

    @property
    def components(self) -> tuple[str, ...]:
        """`source` (recall) and `hypothesis` (precision), both in [0, 1]."""
        return ("source", "hypothesis")

    @cached_property
    def _pairs(self) -> frozenset[str]:
        """The pairs of a source word and a target word; read on first use, in each process."""
        _, arrays = read_model(self.model, KIND)  # ModelError, in one line: missing, damaged, of another kind
        return frozenset(words_from(arrays["pairs"]))

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 2) proportions; 0 for an empty hypothesis. Raises ConfigError for a list without source, ModelError."""
        values = np.zeros((len(nbest), 2))
        if not len(nbest):  # an empty list needs no source
            return values
        if nbest.source is None:
            raise ConfigError(f"source-coverage: segment {nbest.segment_id} has no source sentence: name a source file")
        source = nbest.source.split()
        for row, text in enumerate(nbest.texts):
            target = text.split()
            if source and target:
                covered = sum(any(f"{f} {e}" in self._pairs for e in target) for f in source)
                explained = sum(any(f"{f} {e}" in self._pairs for f in source) for e in target)
                values[row] = covered / len(source), explained / len(target)
        return values


def word_pairs(sentences: Iterable[tuple[str, str]], keep: int) -> list[str]:
    """For each source word the `keep` target words with the highest Dice coefficient 2 c(f, e) / (c(f) + c(e))."""
    both: Counter[tuple[str, str]] = Counter()
    sources: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    for f_line, e_line in sentences:
        f_words, e_words = set(f_line.split()), set(e_line.split())
        sources.update(f_words)
        targets.update(e_words)
        both.update((f, e) for f in f_words for e in e_words)
    ranked = sorted(both, key=lambda pair: (-2 * both[pair] / (sources[pair[0]] + targets[pair[1]]), pair))
    kept: Counter[str] = Counter()
    pairs = []
    for f, e in ranked:
        if kept[f] < keep:
            kept[f] += 1
            pairs.append(f"{f} {e}")
    return pairs


@dataclass
class SourceCoverageTrainer(Trainer):
    """Learn word pairs from SOURCE and TARGET, parallel text with one sentence per line."""

    reads = "pairs"  # so the command opens both files, compressed or not, and checks that they have as many lines

    keep: Annotated[int, Field(ge=1)] = option(3, doc="Translations of a word.")

    def train(self, data: TrainingData) -> Trained:
        """The word pairs. Raises ModelError if there are no words."""
        pairs = word_pairs(data.examples(), self.keep)
        if not pairs:
            raise ModelError(f"no words to learn from in {' and '.join(data.names)}")

        def save(path: Path) -> None:
            write_model(path, KIND, {"keep": self.keep}, {"pairs": word_array(pairs)})

        return Trained(save, [counted(len(pairs), "word pair")])


@hookimpl
def register_feature_extractors(register):
    """Register the feature."""
    register("source-coverage", SourceCoverageFeature)


@hookimpl
def register_trainers(register):
    """Register `rerank train source-coverage`."""
    register("source-coverage", SourceCoverageTrainer)
