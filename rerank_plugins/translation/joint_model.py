"""The neural network joint model: ln p of target words, given the words before and the source (Devlin et al. 2014).

With x the concatenated embeddings of a context's symbols, a network with one hidden layer gives

    ln p(e | x) = s_e - ln sum over e' of exp(s_e'),    s = O max(W x + b, 0) + c.

A linked target word is affiliated with its source word, another one with that of the nearest linked word; of two that
are equally near, with that of the one to the right. The context of target word j, affiliated with source word a, is the
2w + 1 source words from a - w to a + w, and the h target words before j. `</s>` is predicted too, and affiliated with
the end of the source. Positions outside of a sentence have symbols of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.kit.elementary_functions import log
from rerank_plugins.kit.files.model_schema import Array, ModelFile, Part, Setting, WordList
from rerank_plugins.kit.matrix_products import product
from rerank_plugins.kit.vocabulary.unknown_types import divide_unknown
from rerank_plugins.translation.words import split_words

if TYPE_CHECKING:
    from rerank_plugins.translation.alignment.model import WordAlignmentModel

UNKNOWN_WORD, BEFORE, AFTER = range(3)  # of the source side, followed by the source words
TARGET_UNKNOWN, TARGET_BEFORE = range(2)  # of the target side, which begins after the source's
END = 1  # the output `</s>`; the output 0 is the unknown word, and those from 2 on are the target words
Weights = NDArray[np.float32]
BATCH = 1024  # contexts whose scores of all outputs are in memory at a time
ARRAYS = ("embeddings", "hidden", "hidden_bias", "output", "output_bias")


def affiliations(alignment: WordAlignmentModel, source: str, targets: Sequence[str]) -> list[LongArray]:
    """The source word, from 0, of each word of each target text; an array of 0 words for a text without words."""
    words = alignment.words_of(source)
    sentences = [alignment.words_of(text) for text in targets]
    with_words = [sentence for sentence in sentences if sentence]
    if not words or not with_words:
        return [np.zeros(len(sentence), np.int64) for sentence in sentences]
    aligned = alignment.align(words, with_words, ln_p=False, backward=False)
    parts = iter(np.split(aligned.forward, np.cumsum([len(sentence) for sentence in with_words])[:-1]))
    return [filled(next(parts), len(words)) if sentence else np.zeros(0, np.int64) for sentence in sentences]


def filled(links: LongArray, length: int) -> LongArray:
    """The affiliations of words that have `links`, -1 for none; where no word has a link, of equal positions.

    `length` is the number of source words.
    """
    places = np.arange(len(links))
    linked = np.flatnonzero(links >= 0)
    if not len(linked):
        return np.minimum(places, length - 1)
    right = np.minimum(np.searchsorted(linked, places), len(linked) - 1)  # the first linked word at or after each
    left = np.maximum(right - 1, 0)
    left_is_nearer = np.abs(places - linked[left]) < np.abs(places - linked[right])
    return np.asarray(links[linked[np.where(left_is_nearer, left, right)]], np.int64)


@dataclass(frozen=True)
class Contexts:
    """The contexts of (n) predicted words, as windows of two arrays of symbols of whole sentences.

    The source words of context i are `source[about[i] : about[i] + 2w + 1]`, its target words
    `target[after[i] : after[i] + h]`, and the predicted word is `outputs[i]`.
    """

    source: IntArray
    target: IntArray
    about: LongArray
    after: LongArray
    outputs: IntArray
    window: int
    history: int

    def __len__(self) -> int:
        return len(self.outputs)

    def symbols(self, chosen: LongArray | slice = slice(None)) -> IntArray:
        """(n, 2w + 1 + h) symbols of the contexts that are chosen."""
        source = self.about[chosen, None] + np.arange(2 * self.window + 1)
        target = self.after[chosen, None] + np.arange(self.history)
        return np.hstack([self.source[source], self.target[target]])


@dataclass(frozen=True)
class Numbering:
    """The numbers of words: `source_words` and `target_words`, the window w, the history h, and the source's case."""

    source_words: Annotated[tuple[str, ...], WordList("F", name="source.words")]
    target_words: Annotated[tuple[str, ...], WordList("T", name="target.words")]
    window: Annotated[int, Setting("training.window")]
    history: Annotated[int, Setting("training.history")]
    lowercase: Annotated[bool, Setting("training.lowercase")]

    @property
    def symbols(self) -> int:
        """The number of symbols in contexts."""
        return len(self.source_words) + len(self.target_words) + 5

    @property
    def outputs(self) -> int:
        """The number of predicted words, with the unknown one and `</s>`."""
        return len(self.target_words) + 2

    @cached_property
    def _source_numbers(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.source_words, AFTER + 1)}

    @cached_property
    def _target_numbers(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.target_words, 2)}

    def contexts(self, groups: Iterable[tuple[str, Sequence[str], Sequence[LongArray]]]) -> Contexts:
        """The contexts of all words of target texts, in order, each text with its `</s>`.

        A group is a source text, its target texts, and the affiliations of their words.
        """
        first_target = len(self.source_words) + AFTER + 1
        source, target, about, after, outputs = ([np.zeros(0, np.int64)] for _ in range(5))
        source_size = target_size = 0
        for text, targets, affiliated in groups:
            words = [self._source_numbers.get(word, UNKNOWN_WORD) for word in split_words(text, self.lowercase)]
            source.append(np.array([BEFORE] * self.window + words + [AFTER] * (self.window + 1), np.int64))
            for translation, places in zip(targets, affiliated, strict=True):
                numbers = np.array([self._target_numbers.get(w, 0) for w in split_words(translation, False)], np.int64)
                inputs = np.where(numbers > 0, numbers, TARGET_UNKNOWN)
                target.append(first_target + np.concatenate([np.full(self.history, TARGET_BEFORE), inputs]))
                about.append(source_size + np.append(np.minimum(places, max(len(words) - 1, 0)), len(words)))
                after.append(target_size + np.arange(len(numbers) + 1))
                outputs.append(np.append(numbers, END))
                target_size += len(target[-1])
            source_size += len(source[-1])
        source_symbols, target_symbols, predicted = (
            np.concatenate(part).astype(np.int32) for part in (source, target, outputs)
        )
        starts = np.concatenate(about), np.concatenate(after)
        return Contexts(source_symbols, target_symbols, *starts, predicted, self.window, self.history)


@dataclass(frozen=True, eq=False)
class JointModel:
    """A network over the words of `numbering`.

    `embeddings` are (symbols, D), `hidden` W (K D, H) and `hidden_bias` b (H) for the K symbols of a context, `output`
    O (outputs, H) and `output_bias` c (outputs). The unknown output stands for so many `unknown_types`
    (kit/vocabulary/unknown_types.py).
    """

    numbering: Annotated[Numbering, Part()]
    embeddings: Annotated[Weights, Array("S", "D")]
    hidden: Annotated[Weights, Array("KD", "H")]
    hidden_bias: Annotated[Weights, Array("H")]
    output: Annotated[Weights, Array("T+2", "H")]
    output_bias: Annotated[Weights, Array("T+2")]
    settings: Annotated[Mapping[str, Any], Setting("training", versioned=True)] = field(default_factory=dict)
    unknown_types: Annotated[int, Setting(missing=1)] = 1

    def activations(self, symbols: IntArray) -> tuple[Weights, Weights]:
        """The inputs x (n, K D) and the hidden layer (n, H) of (n, K) contexts."""
        inputs = self.embeddings[symbols].reshape(len(symbols), -1)
        return inputs, np.maximum(product(inputs, self.hidden) + self.hidden_bias, 0)

    def word_ln_p(self, contexts: Contexts, types: int | None = None) -> FloatArray:
        """(n) ln p of the words; an unknown one is one of the model's unknown types, or of so many `types`."""
        ln_p = self.ln_p(contexts)
        divide_unknown(ln_p, contexts.outputs == 0, types or self.unknown_types)
        return ln_p

    def ln_p(self, contexts: Contexts) -> FloatArray:
        """(n) ln p of the predicted outputs; equal contexts are computed once."""
        rows = np.column_stack([contexts.symbols(), contexts.outputs])
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
        symbols, starts = distinct[:, :-1], np.arange(0, len(distinct), BATCH)
        parts = [self._ln_p(symbols[i : i + BATCH], distinct[i : i + BATCH, -1]) for i in starts]
        return np.concatenate([np.zeros(0), *parts])[inverse.ravel()]

    def _ln_p(self, symbols: IntArray, outputs: IntArray) -> FloatArray:
        scores = product(self.activations(symbols)[1], self.output.T)
        scores += self.output_bias
        right = scores[np.arange(len(scores)), outputs].astype(np.float64)
        highest = scores.max(axis=1)
        scores -= highest[:, None]
        total = np.exp(scores, out=scores).sum(axis=1, dtype=np.float64)
        return np.asarray(right - highest - log(total), np.float64)


def _fits(model: JointModel) -> bool:
    """Whether the embeddings fit the numbering and the hidden layer."""
    numbering, (symbols, embedding) = model.numbering, model.embeddings.shape
    inputs = (2 * numbering.window + 1 + numbering.history) * embedding
    return min(numbering.window, numbering.history) >= 0 and (symbols, inputs) == (numbering.symbols, len(model.hidden))


FILE = ModelFile(JointModel, "joint-lm", "joint model", first=ARRAYS, check=_fits)
read_model, write_model = FILE.read, FILE.write
