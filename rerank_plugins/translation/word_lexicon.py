"""A discriminative word lexicon (Mauser, Hasan and Ney 2009, section 3), trained by stochastic gradient ascent.

For each target word e there is a logistic regression on the set of source words F,

    p(e in E | F) = 1 / (1 + exp(-z_e)),    z_e = b_e + sum over f in F of w_fe,

so that all words of the source decide about a word together, wherever they stand. Weights close to 0 are not stored.
The regressions of two target words do not depend on each other. Blocks of target words are therefore trained in
threads, over the same order of the sentence pairs, and the result does not depend on their number. The cost of an epoch
is O(words of all pairs * target words) additions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, IntArray, LongArray, ModelError, PickledFields
from rerank_plugins.kit.files.model_schema import Array, ModelFile, Offsets, Setting, WordList
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.translation.words import frequent_words, split_words

TARGETS_A_BLOCK = 512  # target words that are trained together
SMALL = 0.01  # weights that are smaller are not stored
LEAST_LOG_ODDS = np.float32(-8.0)  # log odds below this have p < 3.4e-4, which is left out of the gradient


@dataclass(frozen=True, eq=False)
class WordLexicon(PickledFields):
    """The weights of source word f are `weights[starts[f]:starts[f + 1]]`, those of the target words `targets[…]`.

    `bias` (T) has the log odds of each target word where no source word is known.
    """

    source_words: Annotated[tuple[str, ...], WordList("F", name="source.words")]
    target_words: Annotated[tuple[str, ...], WordList("T", name="target.words")]
    bias: Annotated[NDArray[np.float32], Array("T")]
    starts: Annotated[LongArray, Offsets("F", "W")]
    targets: Annotated[IntArray, Array("W", below="T")]
    weights: Annotated[NDArray[np.float32], Array("W")]
    settings: Annotated[Mapping[str, Any], Setting("training", versioned=True)] = field(default_factory=dict)

    @cached_property
    def _source_number(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.source_words)}

    @cached_property
    def _target_number(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.target_words)}

    def log_odds(self, source: str) -> FloatArray:
        """(T): the log odds of each target word, given a tokenised source sentence."""
        odds = self.bias.astype(np.float64)
        known = {self._source_number.get(word, -1) for word in split_words(source, bool(self.settings["lowercase"]))}
        for f in sorted(known - {-1}):
            part = slice(self.starts[f], self.starts[f + 1])
            odds[self.targets[part]] += self.weights[part]
        return odds

    def words_of(self, texts: Iterable[str]) -> tuple[LongArray, LongArray]:
        """The distinct known target words of each tokenised text: (n) rows of texts and (n) numbers of words."""
        rows, words = [], []
        for row, text in enumerate(texts):
            distinct = dict.fromkeys(split_words(text, False))
            numbers = [self._target_number[word] for word in distinct if word in self._target_number]
            rows += [row] * len(numbers)
            words += numbers
        return np.array(rows, np.int64), np.array(words, np.int64)


def ln_probability(log_odds: FloatArray) -> FloatArray:
    """The (n) ln p of events with these (n) log odds."""
    return np.minimum(log_odds, 0.0) - np.log1p(np.exp(-np.abs(log_odds)))


@filling_kernel
def visit_pairs(  # type: ignore[no-untyped-def]
    order, sources, source_starts, targets, target_starts, rate, weights, log_odds, active
):
    """Move `weights` (source words, block) along the gradient of each pair of `order`; return the log-likelihood.

    Pair s has the distinct source words sources[source_starts[s]:source_starts[s + 1]] (0, the bias, is one of them)
    and, of the block, the distinct target words targets[target_starts[s]:target_starts[s + 1]]. `rate` is the step;
    with 0 nothing is changed. `log_odds` (block) and `active` (block) are scratch.
    """
    width = weights.shape[1]
    likelihood = 0.0
    for s in order:
        for t in range(width):
            log_odds[t] = 0
        for i in range(source_starts[s], source_starts[s + 1]):
            row = weights[sources[i]]
            for t in range(width):
                log_odds[t] += row[t]
        size = 0
        for t in range(width):
            if log_odds[t] > LEAST_LOG_ODDS:
                active[size] = t
                size += 1
        for i in range(target_starts[s], target_starts[s + 1]):
            t = targets[i]
            likelihood += log_odds[t]
            if log_odds[t] <= LEAST_LOG_ODDS:
                active[size] = t
                size += 1
        for k in range(size):  # ln(1 + e^z) and p = 1 / (1 + e^-z), without overflow
            z = log_odds[active[k]]
            small = math.exp(-abs(z))
            likelihood -= max(z, np.float32(0)) + math.log1p(small)
            log_odds[active[k]] = 1 / (1 + small) if z >= 0 else small / (1 + small)
        if rate > 0:
            for i in range(target_starts[s], target_starts[s + 1]):
                log_odds[targets[i]] -= 1  # p - 1 for words that are there, p for others
            for i in range(source_starts[s], source_starts[s + 1]):
                row = weights[sources[i]]
                for k in range(size):
                    row[active[k]] -= rate * log_odds[active[k]]
    return likelihood


@dataclass(frozen=True)
class Settings:
    """The settings of training: the options of `rerank train word-lexicon`."""

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
        inside = (self.words >= first) & (self.words < first + TARGETS_A_BLOCK)
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
    sentences = [(split_words(f, settings.lowercase), split_words(e, False)) for f, e in pairs]
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
    frequency = np.bincount(e_side.words, minlength=len(targets)) / len(sentences)
    frequency = np.minimum(frequency, 1 - 0.5 / len(sentences))  # a word of all sentences has finite log odds
    start = np.log(frequency / (1 - frequency)).astype(np.float32)

    def block(first: int) -> tuple[NDArray[np.float32], list[float]]:
        part, width = e_side.block(first), min(TARGETS_A_BLOCK, len(targets) - first)
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
        blocks = list(pool.map(block, range(0, len(targets), TARGETS_A_BLOCK)))
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
        columns.append(column + number * TARGETS_A_BLOCK)
        values.append(block[1:][row, column])
    source, target, weights = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
    order = np.lexsort((target, source))
    starts = np.searchsorted(source[order], np.arange(len(sources) + 1)).astype(np.int64)
    bias = np.concatenate([block[0] for block in blocks])
    return WordLexicon(sources, targets, bias, starts, target[order].astype(np.int32), weights[order], settings)


FILE = ModelFile(
    WordLexicon,
    "word-lexicon",
    "word lexicon",
    first=("bias", "starts", "targets", "weights"),
    check=lambda lexicon: isinstance(lexicon.settings["lowercase"], bool),
)
read_model, write_model = FILE.read, FILE.write
