"""A word alignment model: ln p of sentence pairs in both directions, and the links between their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.kit.files.declared import Array, Offsets, Part, Setting, WordList
from rerank_plugins.translation.alignment.bitext import split_words
from rerank_plugins.translation.alignment.list_kernel import align_list
from rerank_plugins.translation.alignment.pair_kernels import NO_LINK, look_up
from rerank_plugins.translation.alignment.symmetrisation import Links, Method, symmetrised

FLOOR = 1e-7  # the least t, that of words which never co-occurred and of unknown words
Words = Sequence[str]
Probabilities = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The pairs of source word w: their target words `targets[starts[w] : starts[w + 1]]`, ascending.

    `forward` is t(target | source), and `backward` t(source | target).
    """

    starts: Annotated[LongArray, Offsets("F", "P")]
    targets: Annotated[IntArray, Array("P")]
    forward: Annotated[Probabilities, Array("P", name="forward.t")]
    backward: Annotated[Probabilities, Array("P", name="backward.t")]


@dataclass(frozen=True, eq=False)
class DirectionModel:
    """t(word | NULL) of each generated word, λ of the diagonal prior, and the jumps of the HMM."""

    null: Annotated[Probabilities, Array("V")]
    tension: Annotated[float, Setting("tension.*")]
    jumps: Annotated[FloatArray, Array("J")]


class Lookup(NamedTuple):
    """The translation probabilities of the words of a source sentence and of some target sentences.

    The words of target sentence h are `tokens[offsets[h] : offsets[h + 1]]`, columns of `forward`, t(target | source),
    and of `backward`, t(source | target), both (l, D). `forward_null` is (D), `backward_null` (l).
    """

    tokens: LongArray
    offsets: LongArray
    forward: FloatArray
    backward: FloatArray
    forward_null: FloatArray
    backward_null: FloatArray


class Aligned(NamedTuple):
    """Ln p(target | source) and ln p(source | target), (n, 2); the best links of both directions.

    `forward` has, for each target word of all sentences, the source word that generated it, and `backward` (n, l) the
    target word that generated each source word; NO_LINK (-1) stands for NULL.
    """

    ln_p: FloatArray
    forward: LongArray
    backward: LongArray


@dataclass(frozen=True, eq=False)
class WordAlignmentModel:
    """The words of both sides, in how many sentences each occurs, the lexicon and the positions of both directions.

    `settings` are those of training, with the numbers of pairs and words it was trained on.
    """

    source_words: Annotated[tuple[str, ...], WordList("F", name="source.words")]
    target_words: Annotated[tuple[str, ...], WordList("E", name="target.words")]
    source_sentences: Annotated[LongArray, Array("F", name="source.sentences")]
    target_sentences: Annotated[LongArray, Array("E", name="target.sentences")]
    lexicon: Annotated[Lexicon, Part()]
    forward: Annotated[DirectionModel, Part("forward.", V="E")]
    backward: Annotated[DirectionModel, Part("backward.", V="F")]
    settings: Annotated[Mapping[str, Any], Setting("training")]

    @cached_property
    def _source_numbers(self) -> dict[str, int]:
        return dict(zip(self.source_words, range(len(self.source_words)), strict=True))

    @cached_property
    def _target_numbers(self) -> dict[str, int]:
        return dict(zip(self.target_words, range(len(self.target_words)), strict=True))

    @property
    def is_hmm(self) -> bool:
        """Whether the positions are those of an HMM."""
        return bool(self.settings["model"] == "hmm")

    def look_up(self, source: Words, targets: Sequence[Words]) -> Lookup:
        """The translation probabilities of a source sentence and target sentences, each of one word or more."""
        source_tokens = self._numbers(source, self._source_numbers)
        flat = self._numbers([word for words in targets for word in words], self._target_numbers)
        distinct, tokens = np.unique(flat, return_inverse=True)
        offsets = np.zeros(len(targets) + 1, np.int64)
        np.cumsum([len(words) for words in targets], out=offsets[1:])
        shape = len(source_tokens), len(distinct)
        forward, backward = np.empty(shape), np.empty(shape)
        lexicon = self.lexicon
        look_up(
            lexicon.starts, lexicon.targets, lexicon.forward, lexicon.backward, source_tokens, distinct, FLOOR, forward,
            backward,
        )  # fmt: skip
        return Lookup(
            tokens, offsets, forward, backward, _of_null(self.forward, distinct), _of_null(self.backward, source_tokens)
        )

    def align(
        self, source: Words, targets: Sequence[Words], *, ln_p: bool = True, forward: bool = True, backward: bool = True
    ) -> Aligned:
        """Align a source sentence and target sentences, each of a word or more; a value whose flag is false is 0."""
        return self.align_words(self.look_up(source, targets), ln_p=ln_p, forward=forward, backward=backward)

    def align_words(self, words: Lookup, *, ln_p: bool = True, forward: bool = True, backward: bool = True) -> Aligned:
        """Align words that have been looked up; values whose argument is false are 0."""
        number, length = len(words.offsets) - 1, len(words.forward)
        most = max(length, int(np.diff(words.offsets).max(initial=1)))
        aligned = Aligned(
            np.zeros((number, 2)), np.zeros(len(words.tokens), np.int64), np.zeros((number, length), np.int64)
        )
        space = (
            np.empty((most, most)), np.empty(most), np.empty(most * (most + 1)), np.empty(most * (most + 1)),
            np.empty((most + 1, most + 1)), np.empty(most), np.empty((most, most + 1), np.int64),
        )  # fmt: skip
        null = 0.0 if self.settings["model"] == "ibm1" else float(self.settings["null"])
        align_list(
            self.is_hmm, null, np.array([self.forward.tension, self.backward.tension]), self.forward.jumps,
            self.backward.jumps, *words, ln_p, forward, backward, *space, aligned.ln_p, aligned.forward,
            aligned.backward.reshape(-1),
        )  # fmt: skip
        return aligned

    def links(self, source: Words, target: Words, method: Method = "grow-diag-final-and") -> Links:
        """The links (source word, target word), from 0, of a sentence pair, in ascending order.

        `method` is one of symmetrisation.METHODS. Sentences are spelt as the model's words are by `words_of`.
        """
        if not source or not target:
            return []
        aligned = self.align(source, [target], ln_p=False)
        return symmetrised(aligned.forward, aligned.backward[0], method)

    def words_of(self, text: str) -> list[str]:
        """The words of a tokenised text in the spelling of the model: in lower case, if it was trained so."""
        return split_words(text, self.settings["lowercase"])

    def source_weights(self, source: Words) -> FloatArray:
        """(l) ln(N / n) of each source word, n of the N source sentences of training contain it; ln N if none does."""
        pairs = float(self.settings["pairs"])
        tokens = self._numbers(source, self._source_numbers)
        counts = np.where(tokens >= 0, self.source_sentences[np.maximum(tokens, 0)], 1)
        return np.asarray(np.log(pairs / np.maximum(counts, 1)), np.float64)

    def _numbers(self, words: Words, numbers: Mapping[str, int]) -> LongArray:
        return np.fromiter((numbers.get(word, -1) for word in words), np.int64, len(words))


def _of_null(direction: DirectionModel, words: LongArray) -> FloatArray:
    """T(word | NULL) of words, of which -1 is unknown."""
    return np.where(words >= 0, np.maximum(direction.null[np.maximum(words, 0)], FLOOR), FLOOR).astype(np.float64)


__all__ = ["FLOOR", "NO_LINK", "Aligned", "DirectionModel", "Lexicon", "Lookup", "WordAlignmentModel"]
