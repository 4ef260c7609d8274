"""Trains a word lexicon: logistic regressions of all target words, by stochastic gradient ascent.

The regressions of two target words do not depend on each other. Blocks of target words are therefore trained in
threads, over the same order of the sentence pairs, and the result does not depend on their number. The weights of a
block stay in the processor's cache. The cost of an epoch is O(words of all pairs * target words) additions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.elementary_functions import log
from rerank_plugins.translation.frequent_words import frequent_words
from rerank_plugins.translation.lexicon.model import WordLexicon, source_words, target_words

BLOCK = 512  # target words that are trained together
SMALL = 0.01  # weights that are smaller are not stored


@dataclass(frozen=True)
class Settings:
    """The settings of training.

    `epochs` passes over the pairs, with the step `rate` at first, which each pass multiplies by `decay`; rarer source
    words than `source_count` and rarer target words than `target_count`, in numbers of sentences, are unknown.
    """

    epochs: int = 10
    rate: float = 0.15
    decay: float = 0.75
    source_count: int = 2
    target_count: int = 5
    lowercase: bool = True
    seed: int = 1


@dataclass(frozen=True)
class Sides:
    """The distinct known words of one side: those of pair s are words[starts[s]:starts[s + 1]], ascending."""

    words: IntArray
    starts: LongArray

    def block(self, first: int) -> Sides:
        """The words of a block, from `first`, numbered from 0 within it."""
        inside = (self.words >= first) & (self.words < first + BLOCK)
        before = np.concatenate([[0], np.cumsum(inside)])
        return Sides((self.words[inside] - first).astype(np.int32), before[self.starts].astype(np.int64))


def train(
    pairs: Iterable[tuple[str, str]],
    settings: Settings,
    *,
    jobs: int = 1,
    report: Callable[[int, float], None] = lambda epoch, likelihood: None,
) -> WordLexicon:
    """The lexicon of tokenised sentence pairs (source, target); pairs with an empty side are left out.

    `report` is called with the number of each epoch and its log-likelihood per pair, which is counted before the
    updates of a pair and rises. Raises ModelError where no known words are left.
    """
    sentences = [(source_words(f, settings.lowercase), target_words(e)) for f, e in pairs]
    sentences = [(f, e) for f, e in sentences if f and e]
    sources = frequent_words((set(f) for f, _ in sentences), settings.source_count)
    targets = frequent_words((set(e) for _, e in sentences), settings.target_count)  # blocks of like words
    if not sources or not targets:
        raise ModelError(f"no words to learn from: {len(sentences)} pairs, in which no word is frequent enough")
    f_side = _sides([f for f, _ in sentences], {word: i + 1 for i, word in enumerate(sources)}, always=0)
    e_side = _sides([e for _, e in sentences], {word: i for i, word in enumerate(targets)})
    orders = [
        np.random.default_rng([settings.seed, epoch]).permutation(len(sentences)) for epoch in range(settings.epochs)
    ]
    share = np.bincount(e_side.words, minlength=len(targets)) / len(sentences)
    share = np.minimum(share, 1 - 0.5 / len(sentences))  # a word of all sentences has finite log odds
    start = log(share / (1 - share)).astype(np.float32)

    def block(first: int) -> tuple[NDArray[np.float32], list[float]]:
        from rerank_plugins.translation.lexicon.gradient_ascent import visit_pairs  # loads numba

        part, width = e_side.block(first), min(BLOCK, len(targets) - first)
        weights = np.zeros((len(sources) + 1, width), np.float32)
        weights[0] = start[first : first + width]
        scratch = np.empty(width, np.float32), np.empty(width, np.int32)
        sums = []
        for epoch, order in enumerate(orders):
            rate = np.float32(settings.rate * settings.decay**epoch)
            arguments = (f_side.words, f_side.starts, part.words, part.starts, rate, weights, *scratch)
            likelihood: float = visit_pairs(order, *arguments)  # type: ignore[no-untyped-call]
            sums.append(likelihood)
        return weights, sums

    with ThreadPoolExecutor(jobs) as pool:
        blocks = list(pool.map(block, range(0, len(targets), BLOCK)))
    for epoch, sums in enumerate(zip(*(sums for _, sums in blocks), strict=True), 1):
        report(epoch, sum(sums) / len(sentences))
    return _lexicon(sources, targets, [weights for weights, _ in blocks], {**asdict(settings), "pairs": len(sentences)})


def _sides(sentences: Sequence[Sequence[str]], numbers: dict[str, int], always: int | None = None) -> Sides:
    first = [] if always is None else [always]
    rows = [first + sorted({numbers[word] for word in words if word in numbers}) for words in sentences]
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Sides(np.fromiter((word for row in rows for word in row), np.int32, int(starts[-1])), starts)


def _lexicon(
    sources: tuple[str, ...], targets: tuple[str, ...], blocks: list[NDArray[np.float32]], settings: dict[str, object]
) -> WordLexicon:
    """The lexicon without the weights that are close to 0."""
    rows: list[LongArray] = []
    columns: list[LongArray] = []
    values: list[NDArray[np.float32]] = []
    for number, block in enumerate(blocks):
        row, column = np.nonzero(np.abs(block[1:]) >= SMALL)
        rows.append(row)
        columns.append(column + number * BLOCK)
        values.append(block[1:][row, column])
    source, target, weights = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
    order = np.lexsort((target, source))
    starts = np.searchsorted(source[order], np.arange(len(sources) + 1)).astype(np.int64)
    bias = np.concatenate([block[0] for block in blocks])
    return WordLexicon(sources, targets, bias, starts, target[order].astype(np.int32), weights[order], settings)
