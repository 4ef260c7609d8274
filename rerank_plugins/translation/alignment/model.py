"""A word alignment model: ln p of sentence pairs in both directions, and the links between their words.

The kernels see the given and the generated words of one direction. `t` (m, l) and `t_null` (m) are the probabilities of
the generated words, `place_p` the positions (positions.py), which are diagonal unless `is_hmm`.
"""

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
from rerank_plugins.kit.files.array_values import ContentsError
from rerank_plugins.kit.files.model_schema import Array, ModelFile, Offsets, Part, Setting, WordList
from rerank_plugins.kit.kernels import filling_kernel, part, place_in_row
from rerank_plugins.translation.alignment.em import forward
from rerank_plugins.translation.alignment.links import Links, Method, symmetrised
from rerank_plugins.translation.alignment.positions import fill_diagonal, fill_transitions
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


class PlaceModels(NamedTuple):
    """The positions of both directions: λ of the diagonal prior of each, or the jumps of the HMM; and NULL's p₀."""

    is_hmm: bool
    null: float
    tensions: FloatArray  # (2)
    jumps: FloatArray
    backward_jumps: FloatArray


class AlignmentRoom(NamedTuple):
    """Room for a pair of sentences of at most n words each."""

    pair_t: FloatArray  # (n, n)
    pair_null: FloatArray  # (n)
    place_p: FloatArray  # (n · (n + 1)), like `back_place_p`
    back_place_p: FloatArray
    states: FloatArray  # (n + 1, n + 1)
    scales: FloatArray  # (n)
    came: LongArray  # (n, n + 1)


@part
def fill_positions(
    is_hmm: bool, tension: float, jumps: FloatArray, given: int, generated: int, place_p: FloatArray
) -> None:
    """Fill in the position probabilities of a pair."""
    if is_hmm:
        fill_transitions(jumps, given, place_p, 0)
    else:
        fill_diagonal(tension, given, generated, place_p, 0)


@part
def ln_pair(
    is_hmm: bool, given: int, generated: int, t: FloatArray, t_null: FloatArray, null: float, place_p: FloatArray,
    states: FloatArray, scales: FloatArray,
) -> float:  # fmt: skip
    """Return ln p(generated | given)."""
    if is_hmm:
        return forward(given, generated, t, t_null, null, place_p, 0, states, scales)
    total = 0.0
    for j in range(generated):
        sum_ = 0.0
        for i in range(given):
            sum_ += place_p[j * given + i] * t[j, i]
        total += log(null * t_null[j] + (1.0 - null) * sum_)
    return total


@part
def best_links(
    is_hmm: bool, given: int, generated: int, t: FloatArray, t_null: FloatArray, null: float, place_p: FloatArray,
    states: FloatArray, came: LongArray, links: LongArray, start: int,
) -> None:  # fmt: skip
    """Fill in the given word that each generated word is aligned to, or NO_LINK, in the most probable alignment.

    `states` (m + 1, l + 1) and the whole numbers `came` (m, l + 1) are space for work; `came` gets the position before
    position i, or NO_LINK where the word is aligned to NULL.

    It has many arguments because both directions call it, each with its own tables and room.
    """
    if not is_hmm:
        for j in range(generated):
            best, links[start + j] = null * t_null[j], NO_LINK
            for i in range(given):
                value = (1.0 - null) * place_p[j * given + i] * t[j, i]
                if value > best:
                    best, links[start + j] = value, i
        return
    states[0, 0] = 1.0
    states[0, 1 : given + 1] = 0.0
    for j in range(generated):
        highest = 0.0
        for i in range(given + 1):
            states[j + 1, i] = null * t_null[j] * states[j, i]
            came[j, i] = NO_LINK
            if i > 0:
                of_word = (1.0 - null) * t[j, i - 1]
                for before in range(given + 1):
                    value = states[j, before] * place_p[before * given + i - 1] * of_word
                    if value > states[j + 1, i]:
                        states[j + 1, i] = value
                        came[j, i] = before
            highest = max(highest, states[j + 1, i])
        for i in range(given + 1):
            states[j + 1, i] /= highest
    at = 0
    for i in range(given + 1):
        if states[generated, i] > states[generated, at]:
            at = i
    for j in range(generated - 1, -1, -1):
        links[start + j] = NO_LINK
        if came[j, at] != NO_LINK:
            links[start + j] = at - 1
            at = came[j, at]


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
    places: PlaceModels, words: Lookup, with_ln_p: bool, with_forward: bool, with_backward: bool, room: AlignmentRoom,
    ln_p: FloatArray, forward_links: LongArray, backward_links: LongArray,
) -> None:  # fmt: skip
    """Fill in ln p of both directions, (n, 2), and the best links of each.

    `forward_links` has a source word for each token, `backward_links` (n · l) a target word for each source word of
    each sentence. A null probability of 0 stands for 1 / (words + 1), as in model 1.
    """
    is_hmm, null, tensions = places.is_hmm, places.null, places.tensions
    tokens, offsets = words.tokens, words.offsets
    pair_t, pair_null, place_p, back_place_p = room.pair_t, room.pair_null, room.place_p, room.back_place_p
    states, scales, came = room.states, room.scales, room.came
    length = len(words.forward)
    if is_hmm:
        fill_positions(is_hmm, 0.0, places.jumps, length, 0, place_p)
    for h in range(len(offsets) - 1):
        start, size = offsets[h], offsets[h + 1] - offsets[h]
        if with_ln_p or with_forward:
            if not is_hmm:
                fill_positions(is_hmm, tensions[0], places.jumps, length, size, place_p)
            for j in range(size):
                word = tokens[start + j]
                pair_null[j] = words.forward_null[word]
                for i in range(length):
                    pair_t[j, i] = words.forward[i, word]
            null_p = null if null > 0 else 1.0 / (length + 1)
            if with_ln_p:
                ln_p[h, 0] = ln_pair(is_hmm, length, size, pair_t, pair_null, null_p, place_p, states, scales)
            if with_forward:
                best_links(
                    is_hmm, length, size, pair_t, pair_null, null_p, place_p, states, came, forward_links, start
                )  # fmt: skip
        if with_ln_p or with_backward:
            fill_positions(is_hmm, tensions[1], places.backward_jumps, size, length, back_place_p)
            for i in range(length):
                for j in range(size):
                    pair_t[i, j] = words.backward[i, tokens[start + j]]
            null_p = null if null > 0 else 1.0 / (size + 1)
            if with_ln_p:
                ln_p[h, 1] = ln_pair(
                    is_hmm, size, length, pair_t, words.backward_null, null_p, back_place_p, states, scales
                )  # fmt: skip
            if with_backward:
                best_links(
                    is_hmm, size, length, pair_t, words.backward_null, null_p, back_place_p, states, came,
                    backward_links, h * length,
                )  # fmt: skip


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
    """t(word | NULL) of each generated word, λ of the diagonal prior, and the jumps of the HMM."""

    null: Annotated[Probabilities, Array("V", values="probabilities")]
    tension: Annotated[float, Setting("tension.*")]
    jumps: Annotated[FloatArray, Array("J", values="positive")]


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
    source_sentences: Annotated[LongArray, Array("F", name="source.sentences", values="not negative")]
    target_sentences: Annotated[LongArray, Array("E", name="target.sentences", values="not negative")]
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
        room = AlignmentRoom(
            np.empty((most, most)), np.empty(most), np.empty(most * (most + 1)), np.empty(most * (most + 1)),
            np.empty((most + 1, most + 1)), np.empty(most), np.empty((most, most + 1), np.int64),
        )  # fmt: skip
        null = 0.0 if self.settings["model"] == "ibm1" else float(self.settings["null"])
        tensions = np.array([self.forward.tension, self.backward.tension])
        places = PlaceModels(self.is_hmm, null, tensions, self.forward.jumps, self.backward.jumps)
        into = aligned.ln_p, aligned.forward, aligned.backward.reshape(-1)
        align_list(places, words, ln_p, forward, backward, room, *into)
        return aligned

    def links(self, source: Words, target: Words, method: Method = "grow-diag-final-and") -> Links:
        """The links (source word, target word), from 0, of a sentence pair, in ascending order.

        `method` is one of `links.METHODS`. Sentences are spelt as the model's words are by `words_of`.
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
        check_sentence(source)
        tokens = self._numbers(source, self._source_numbers)
        counts = np.where(tokens >= 0, self.source_sentences[np.maximum(tokens, 0)], 1)
        return np.asarray(np.log(pairs / np.maximum(counts, 1)), np.float64)

    def _numbers(self, words: Words, numbers: Mapping[str, int]) -> LongArray:
        return np.fromiter((numbers.get(word, -1) for word in words), np.int64, len(words))


def _of_null(direction: DirectionModel, words: LongArray) -> FloatArray:
    """T(word | NULL) of words, of which -1 is unknown."""
    return np.where(words >= 0, np.maximum(direction.null[np.maximum(words, 0)], FLOOR), FLOOR).astype(np.float64)


def check_jumps(model: WordAlignmentModel) -> None:
    """Raise ContentsError unless the jumps of both directions go as far to the left as to the right."""
    for name, direction in (("forward", model.forward), ("backward", model.backward)):
        if len(direction.jumps) % 2 == 0:
            raise ContentsError(f"{name}.jumps has the length {len(direction.jumps)}, wanted an odd number")


FILE = ModelFile(
    WordAlignmentModel, "word-alignment", "word alignment model", first=("source_words", "source_sentences"),
    check=check_jumps,
)  # fmt: skip
read_model, write_model = FILE.read, FILE.write
