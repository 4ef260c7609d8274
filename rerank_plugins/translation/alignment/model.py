"""A word alignment model: ln p of sentence pairs in both directions, and the links between their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.core.sentences import check_sentence, check_sentences
from rerank_plugins.kit.files.model_schema import Array, ModelFile, Offsets, Part, Setting, WordList
from rerank_plugins.kit.kernels import filling_kernel, place_in_row
from rerank_plugins.translation.alignment.diagonal import fill_diagonal
from rerank_plugins.translation.words import split_words

NO_LINK = -1
FLOOR = 1e-7  # the least t, that of words which never co-occurred and of unknown words
Words = Sequence[str]
Probabilities = NDArray[np.float32]


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


@filling_kernel
def look_up(
    starts: LongArray, targets: IntArray, t_forward: NDArray[np.float32], t_backward: NDArray[np.float32],
    source: LongArray, distinct: LongArray, floor: float, forward_t: FloatArray, backward_t: FloatArray,
) -> None:  # fmt: skip
    """Fill in t(target | source), (l, D), and t(source | target), of source tokens and distinct target words.

    An unknown word is -1. No probability is below `floor`.
    """
    for i in range(len(source)):
        for word in range(len(distinct)):
            forward_t[i, word] = backward_t[i, word] = floor
            if source[i] >= 0 and distinct[word] >= 0:
                place = place_in_row(starts, targets, source[i], distinct[word])
                if place >= 0:
                    forward_t[i, word] = max(floor, t_forward[place])
                    backward_t[i, word] = max(floor, t_backward[place])


@filling_kernel
def align_list(
    null: float, tension: float, backward_tension: float, words: Lookup, place_p: FloatArray, ln_p: FloatArray,
    links: LongArray,
) -> None:  # fmt: skip
    """Fill in ln p of both directions, (n, 2), and for each target token the source word of its best link, or NO_LINK.

    `null` is p₀, the tensions are the λ of both directions, and `place_p` is room for a pair of sentences.
    """
    tokens, offsets, length = words.tokens, words.offsets, len(words.forward)
    for h in range(len(offsets) - 1):
        start, size = offsets[h], offsets[h + 1] - offsets[h]
        fill_diagonal(tension, length, size, place_p, 0)
        total = 0.0
        for j in range(size):
            word = tokens[start + j]
            best, links[start + j] = null * words.forward_null[word], NO_LINK
            sum_ = best
            for i in range(length):
                p = (1.0 - null) * place_p[j * length + i] * words.forward[i, word]
                sum_ += p
                if p > best:
                    best, links[start + j] = p, i
            total += log(sum_)
        ln_p[h, 0] = total
        fill_diagonal(backward_tension, size, length, place_p, 0)
        total = 0.0
        for i in range(length):
            sum_ = null * words.backward_null[i]
            for j in range(size):
                sum_ += (1.0 - null) * place_p[i * size + j] * words.backward[i, tokens[start + j]]
            total += log(sum_)
        ln_p[h, 1] = total


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The pairs of source word w: their target words `targets[starts[w] : starts[w + 1]]`, ascending.

    `forward` is t(target | source), and `backward` t(source | target).
    """

    starts: Annotated[LongArray, Offsets("F", "P")]
    targets: Annotated[IntArray, Array("P", below="E")]
    forward: Annotated[Probabilities, Array("P", name="forward.t", values="probabilities")]
    backward: Annotated[Probabilities, Array("P", name="backward.t", values="probabilities")]


@dataclass(frozen=True, eq=False)
class DirectionModel:
    """t(word | NULL) of each generated word, and λ of the diagonal prior."""

    null: Annotated[Probabilities, Array("V", values="probabilities")]
    tension: Annotated[float, Setting("tension.*")]


class Aligned(NamedTuple):
    """Ln p(target | source) and ln p(source | target), (n, 2), and the links of the most probable alignments.

    `links` has, for each target word of all sentences, the source word that generated it; NO_LINK (-1) stands for NULL.
    """

    ln_p: FloatArray
    links: LongArray


@dataclass(frozen=True, eq=False)
class WordAlignmentModel:
    """The words of both sides, the sentences with each source word, the lexicon, and the priors of both directions.

    `settings` are those of training, with the numbers of pairs and words it was trained on.
    """

    source_words: Annotated[tuple[str, ...], WordList("F", name="source.words")]
    target_words: Annotated[tuple[str, ...], WordList("E", name="target.words")]
    source_sentences: Annotated[LongArray, Array("F", name="source.sentences", values="not negative")]
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

    def look_up(self, source: Words, targets: Sequence[Words]) -> Lookup:
        """The translation probabilities of a source sentence and target sentences, each of one word or more."""
        check_sentence(source)
        check_sentences(targets)
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

    def align(self, source: Words, targets: Sequence[Words]) -> Aligned:
        """Align a source sentence and target sentences, each of a word or more."""
        return self.align_words(self.look_up(source, targets))

    def align_words(self, words: Lookup) -> Aligned:
        """Align words that have been looked up."""
        longest = int(np.diff(words.offsets).max(initial=1))
        aligned = Aligned(np.zeros((len(words.offsets) - 1, 2)), np.zeros(len(words.tokens), np.int64))
        place_p = np.empty(len(words.forward) * longest)
        null, tensions = float(self.settings["null"]), (self.forward.tension, self.backward.tension)
        align_list(null, *tensions, words, place_p, *aligned)
        return aligned

    def words_of(self, text: str) -> list[str]:
        """The words of a tokenised text in the spelling of the model: in lower case, if it was trained so."""
        return split_words(text, self.settings["lowercase"])

    def source_weights(self, source: Words) -> FloatArray:
        """(l) ln(N / n) of each source word, n of the N source sentences of training contain it; ln N if none does."""
        pairs = float(self.settings["pairs"])
        check_sentence(source)
        tokens = self._numbers(source, self._source_numbers)
        counts = np.where(tokens >= 0, self.source_sentences[np.maximum(tokens, 0)], 1)
        return np.asarray(np.log(pairs / np.maximum(counts, 1)), np.float64)

    def _numbers(self, words: Words, numbers: Mapping[str, int]) -> LongArray:
        return np.fromiter((numbers.get(word, -1) for word in words), np.int64, len(words))


def _of_null(direction: DirectionModel, words: LongArray) -> FloatArray:
    """T(word | NULL) of words, of which -1 is unknown."""
    return np.where(words >= 0, np.maximum(direction.null[np.maximum(words, 0)], FLOOR), FLOOR).astype(np.float64)


FILE = ModelFile(
    WordAlignmentModel, "word-alignment", "word alignment model", first=("source_words", "source_sentences")
)
read_model, write_model = FILE.read, FILE.write
