"""The feature of a word alignment model: how well the words of a hypothesis and of its source translate each other.

With hypothesis e = e_1 … e_m, source f = f_1 … f_l, translation probabilities t (at least 1e-7) and the option b:

    forward             ln p(e | f)                      forward_per_word    ln p(e | f) / m
    backward            ln p(f | e)                      backward_per_word   ln p(f | e) / l
    unlinked_target     -#{j : max_i t(e_j | f_i) < b}
    unlinked_source     -#{i : max_j t(f_i | e_j) < b}
    distance            -mean |i / l - j / m| over the links of the best alignment of e to f; -1 without links
    coverage            Σ w_i over the linked source words / Σ w_i over all, w_i = ln(N / n_i)

n_i of the N source sentences of training contain f_i. An empty hypothesis or source has the values of one unknown word.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerank_plugins import FeatureExtractor, FloatArray, LongArray, NBestList, PickledFields, option
from rerank_plugins.kit.nbest_lists import source_of

if TYPE_CHECKING:
    from rerank_plugins.translation.alignment.model import WordAlignmentModel

UNKNOWN_WORD = ""  # no word of a text is empty


@dataclass(frozen=True)
class WordTranslationFeature(FeatureExtractor, PickledFields):
    """Translation of words between source and hypothesis: ln p both ways, unlinked words, distance, coverage."""

    file_kind: ClassVar[str] = "word-alignment"
    model: Path = option(doc="model from `rerank train word-alignment`")
    bound: float = option(0.01, doc="a word all of whose translation probabilities are lower is unlinked")

    components = (
        "forward", "backward", "forward_per_word", "backward_per_word", "unlinked_target", "unlinked_source",
        "distance", "coverage",
    )  # fmt: skip

    @cached_property
    def _model(self) -> WordAlignmentModel:
        from rerank_plugins.translation.alignment.model import read_model  # loads numba, at the first use

        return read_model(self.model)

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, components) values. Raises ConfigError for a list without a source, ModelError for an unusable model."""
        if not len(nbest):
            return np.zeros((0, len(self.components)))
        model = self._model
        source = model.words_of(source_of(nbest, "word-translation")) or [UNKNOWN_WORD]
        words = model.look_up(source, [model.words_of(text) or [UNKNOWN_WORD] for text in nbest.texts])
        aligned = model.align_words(words)
        forward, backward = aligned.ln_p.T
        unlinked = (words.forward.max(axis=0) < self.bound).astype(np.float64)
        unlinked_target = 0.0 - np.add.reduceat(unlinked[words.tokens], words.offsets[:-1])
        # (l, n) whether each source word is linked to a word of each hypothesis
        linked = np.logical_or.reduceat((words.backward >= self.bound)[:, words.tokens], words.offsets[:-1], axis=1)
        weights = model.source_weights(source)
        covered, total = weights @ linked, weights.sum()
        columns = [
            forward, backward, forward / np.diff(words.offsets), backward / len(source), unlinked_target,
            linked.sum(axis=0) - float(len(weights)), distances(aligned.links, words.offsets, len(source)),
            covered / total if total > 0 else np.ones_like(covered),
        ]  # fmt: skip
        return np.stack(columns, axis=1)


def distances(links: LongArray, offsets: LongArray, length: int) -> FloatArray:
    """(n) minus the mean |i / l - j / m| over the links of each hypothesis; -1 for one without links.

    `links` has the source word, from 0, of each word of all hypotheses, -1 if none; those of hypothesis h are
    `offsets[h]` … `offsets[h + 1]`, at least one.
    """
    sizes = np.diff(offsets)
    places = np.arange(len(links)) - np.repeat(offsets[:-1], sizes)
    relative = (places + 1) / np.repeat(sizes, sizes)
    is_linked = links >= 0
    away = np.where(is_linked, np.abs((links + 1) / length - relative), 0.0)
    numbers = np.add.reduceat(is_linked.astype(np.float64), offsets[:-1])
    return np.where(numbers > 0, -np.add.reduceat(away, offsets[:-1]) / np.maximum(numbers, 1), -1.0)
