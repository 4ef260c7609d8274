"""Numbers the words of sentence pairs for training, and the pairs of words that co-occur in them.

Both directions use this table of pairs. The links of a sentence pair of l source and m target tokens are l · m numbers
of pairs, source token by source token. They take 4 bytes each: 1.6 GB for a million pairs of sentences of 20 words.
Time is linear in them: source words are visited one by one, and a target word that a source word has met already is
found in a table of target words, without sorting or hashing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rerank_plugins import IntArray, LongArray, ModelError
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.kit.vocabulary.word_ids import Numbering
from rerank_plugins.translation.words import Sentences, split_words

MOST_PAIRS = np.iinfo(np.int32).max  # of words that co-occur


@dataclass(frozen=True, eq=False)
class Bitext:
    """Sentence pairs, each side with a word or more: words by falling frequency, equal ones in alphabetical order.

    `empty` of the lines had an empty side, and `too_long` a side with too many words.
    """

    source: Sentences
    target: Sentences
    empty: int
    too_long: int

    def __len__(self) -> int:
        return len(self.source)


def read_bitext(pairs: Iterable[tuple[str, str]], *, lowercase: bool, longest: int) -> Bitext:
    """Number the words of the pairs (source line, target line). Raises ModelError if no pair is left."""
    numberings = Numbering(), Numbering()
    tokens: tuple[list[IntArray], list[IntArray]] = ([], [])
    empty = too_long = 0
    for lines in pairs:
        sentences = [split_words(line, lowercase) for line in lines]
        if not all(sentences):
            empty += 1
        elif max(map(len, sentences)) > longest:
            too_long += 1
        else:
            for side, numbering, words in zip(tokens, numberings, sentences, strict=True):
                side.append(numbering.numbers_of(words, len(words)))
    if not tokens[0]:
        left_out = f"{empty:,} have an empty side, {too_long:,} more than {longest} words"
        raise ModelError(f"there is no sentence pair to train on: of {empty + too_long:,} lines, {left_out}")
    source, target = map(_side, numberings, tokens)
    return Bitext(source, target, empty, too_long)


def _side(numbering: Numbering, sentences: list[IntArray]) -> Sentences:
    """The side with its words numbered again, by falling frequency."""
    side = Sentences.numbered(numbering, sentences)
    names, counts = side.words, np.bincount(side.tokens, minlength=len(side.words)).tolist()
    order = sorted(range(len(names)), key=lambda number: (-counts[number], names[number]))
    new = np.empty(len(names), np.int32)
    new[order] = np.arange(len(names), dtype=np.int32)
    return Sentences(tuple(names[number] for number in order), new[side.tokens], side.offsets)


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """The pairs of source word w are `starts[w]` … `starts[w + 1]`, with their `targets` in the order of the text."""

    starts: LongArray
    sources: IntArray
    targets: IntArray
    links: IntArray
    link_starts: LongArray


def cooccurrence(bitext: Bitext) -> Cooccurrence:
    """Find the pairs of co-occurring words. Raises ModelError for more than 2^31 - 1 of them."""
    source, target = bitext.source, bitext.target
    link_starts = np.concatenate([[0], np.cumsum(source.lengths * target.lengths)]).astype(np.int64)
    # The occurrences of each source word, in the order of the text.
    places = np.argsort(source.tokens, kind="stable")
    bounds = np.searchsorted(source.tokens[places], np.arange(len(source.words) + 1))
    sentences = np.repeat(np.arange(len(bitext)), source.lengths)
    arrays = (places, bounds, sentences, source.offsets, target.offsets, target.tokens, link_starts)
    numbers = np.empty(len(target.words), np.int64)
    sizes = np.zeros(len(source.words) + 1, np.int64)
    nothing = np.zeros(0, np.int32)
    number_pairs(*arrays, numbers, sizes, False, nothing, nothing)
    starts = np.cumsum(sizes)
    if starts[-1] > MOST_PAIRS:
        raise ModelError(f"{starts[-1]:,} pairs of words co-occur: wanted at most {MOST_PAIRS:,}; train on less text")
    targets, links = np.empty(starts[-1], np.int32), np.empty(link_starts[-1], np.int32)
    number_pairs(*arrays, numbers, sizes, True, targets, links)
    sources = np.repeat(np.arange(len(source.words), dtype=np.int32), np.diff(starts))
    return Cooccurrence(starts, sources, targets, links, link_starts)


@filling_kernel
def number_pairs(
    places: LongArray, bounds: LongArray, sentences: LongArray, source_offsets: LongArray, target_offsets: LongArray,
    target_tokens: IntArray, link_starts: LongArray, numbers: LongArray, sizes: LongArray, fill: bool,
    targets: IntArray, links: IntArray,
) -> None:  # fmt: skip
    """Count the distinct target words of each source word w in `sizes[w + 1]`, and then `fill` in pairs and links.

    `numbers` is the space for a number of each target word: that of its pair with the current source word, if it is not
    below the first one.

    Its arguments are the columns of the bitext and of its pairs, which are filled in two passes.
    """
    numbers[:] = -1
    pairs = 0
    for word in range(len(bounds) - 1):
        first = pairs
        for occurrence in range(bounds[word], bounds[word + 1]):
            place = places[occurrence]
            sentence = sentences[place]
            begin, end = target_offsets[sentence], target_offsets[sentence + 1]
            link = link_starts[sentence] + (place - source_offsets[sentence]) * (end - begin)
            for at in range(begin, end):
                target = target_tokens[at]
                if numbers[target] < first:
                    numbers[target] = pairs
                    if fill:
                        targets[pairs] = target
                    pairs += 1
                if fill:
                    links[link] = numbers[target]
                    link += 1
        sizes[word + 1] = pairs - first
