"""Training by EM: both directions of the word alignment model, from the same pairs of words.

The translation probabilities of both directions are estimated from one table of the pairs of words that co-occur.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.core.threads import in_threads
from rerank_plugins.translation.alignment.bitext import Bitext, Cooccurrence, cooccurrence, read_bitext
from rerank_plugins.translation.alignment.diagonal import best_tension, fill_diagonals
from rerank_plugins.translation.alignment.em import (
    BAYES,
    ONE,
    RATIO,
    LinkCounts,
    SentencePairs,
    Tables,
    divergence,
    estimate,
    expect,
    fill_denominators,
)
from rerank_plugins.translation.alignment.model import DirectionModel, Lexicon, WordAlignmentModel
from rerank_plugins.translation.words import Sentences

FIRST_TENSION = 4.0


@dataclass(frozen=True, eq=False)
class Positions:
    """The distances from the diagonal in classes of sentence pairs of equal lengths, and where each pair's begin.

    Row by row: an element |i/l - j/m| for each given word, a row for each generated word.
    """

    given: LongArray
    generated: LongArray
    starts: LongArray
    of_sentences: LongArray
    rows: LongArray
    distances: FloatArray

    @classmethod
    def of(cls, given_side: Sentences, side: Sentences) -> Positions:
        """The positions of all sentence pairs of a text."""
        lengths = np.stack([given_side.lengths, side.lengths], axis=1)
        classes, of_sentences = np.unique(lengths, axis=0, return_inverse=True)
        given, generated = np.ascontiguousarray(classes.T)
        ends = np.cumsum(given * generated)
        starts = ends - given * generated
        row_lengths = np.repeat(given, generated)
        rows = np.cumsum(row_lengths) - row_lengths
        row_numbers = np.arange(len(row_lengths)) - np.repeat(np.cumsum(generated) - generated, generated)
        i = np.arange(ends[-1]) - np.repeat(rows, row_lengths) + 1
        relative = np.repeat((row_numbers + 1) / np.repeat(generated, generated), row_lengths)
        distances = np.abs(i / np.repeat(row_lengths, row_lengths) - relative)
        return cls(given, generated, starts, starts[of_sentences.ravel()], rows, distances)


class Direction:
    """The model of one side given the other, of which `iterate` makes an iteration of EM."""

    def __init__(self, bitext: Bitext, pairs: Cooccurrence, *, given_is_source: bool, null: float, jobs: int) -> None:
        """Start with equal translation probabilities."""
        self._given, self._side = (bitext.source, bitext.target) if given_is_source else (bitext.target, bitext.source)
        self._pairs, self._given_is_source, self._null, self._jobs = pairs, given_is_source, null, jobs
        self._given_words: IntArray = pairs.sources if given_is_source else pairs.targets
        words = len(self._side.words)
        self._sizes = np.bincount(self._given_words, minlength=len(self._given.words)).astype(np.float64)
        self.t = np.full(len(pairs.targets), 1.0 / words)
        self.t_null = np.full(words, 1.0 / words)
        self.tension = FIRST_TENSION
        self._counts: LongArray = np.zeros(0, np.int64)
        self._null_counts: LongArray = np.zeros(0, np.int64)
        self._bayes = self._penalty = 0.0  # the α by which t was estimated, and the divergence from the prior
        self.positions = Positions.of(self._given, self._side)
        self._cuts = self._ranges()

    def iterate(self, alpha: float) -> float:
        """Make an iteration of EM; return the log-likelihood, in nats, of the parameters before it.

        If these were estimated with α > 0, it is the lower bound of variational Bayes, which takes their posterior into
        account. `alpha` is 0 for maximum likelihood.
        """
        ln_p, place_counts = self._expect()
        bound = ln_p - self._penalty
        self.tension = best_tension(place_counts / ONE, self.positions.distances, self.positions.rows)
        self._bayes = alpha
        self._estimate(BAYES if alpha > 0 else RATIO, alpha)
        self._penalty = self._divergence() if alpha > 0 else 0.0
        return bound

    def finish(self) -> None:
        """Replace the values of variational Bayes by the means of their posterior, which sum to 1."""
        if self._bayes > 0:
            self._estimate(RATIO, self._bayes)

    def _expect(self) -> tuple[float, LongArray]:
        """Sum the expected counts; return ln p of the text, and the expected counts of the positions."""
        at, pairs = self.positions, self._pairs
        place_p = np.empty(len(at.distances))
        fill_diagonals(self.tension, at.given, at.generated, at.starts, place_p)
        ln_p = np.empty(len(self._given.offsets) - 1)
        sentences = SentencePairs(
            self._given.offsets, self._side.offsets, self._side.tokens, pairs.link_starts, pairs.links,
            self._given_is_source,
        )  # fmt: skip
        tables = Tables(self.t, self.t_null, self._null, place_p, at.of_sentences)
        longest = int(self._given.lengths.max())

        def expected(first: int, last: int) -> LinkCounts:
            sizes = len(self.t), len(self.t_null), len(place_p)
            sums = LinkCounts(*(np.zeros(size, np.int64) for size in sizes))
            expect(first, last, sentences, tables, np.empty(longest), sums, ln_p)
            return sums

        partial = in_threads(expected, self._cuts, self._jobs)
        counts, nulls, place_counts = partial[0]
        for more in partial[1:]:
            counts += more[0]
            nulls += more[1]
            place_counts += more[2]
        self._counts, self._null_counts = counts, nulls
        return float(ln_p.sum()), place_counts

    def _estimate(self, how: int, alpha: float) -> None:
        totals = self._totals()
        denominators = np.empty(len(totals))
        fill_denominators(how, alpha, totals, self._sizes, denominators)
        cuts = np.linspace(0, len(self.t), self._jobs + 1).astype(int).tolist()
        arrays = self._counts, self._given_words, denominators, self.t
        in_threads(lambda first, last: estimate(first, last, how, alpha, *arrays), list(pairwise(cuts)), self._jobs)
        words = len(self.t_null)
        null = np.zeros(words, np.int32)
        fill_denominators(how, alpha, self._null_counts.sum(keepdims=True), np.array([float(words)]), denominators[:1])
        estimate(0, words, how, alpha, self._null_counts, null, denominators, self.t_null)

    def _totals(self) -> LongArray:
        """The sum of the counts of each given word."""
        counts = self._counts
        if self._given_is_source:
            sums = np.concatenate([[0], np.cumsum(counts)])
            return np.asarray(np.diff(sums[self._pairs.starts]), np.int64)
        # Sums of whole numbers below 2^53 are exact as doubles; beyond, they are rounded, but always in this order.
        return np.bincount(self._given_words, counts, len(self._given.words)).astype(np.int64)

    def _divergence(self) -> float:
        size = np.array([float(len(self.t_null))])
        of_null = divergence(self._bayes, self._null_counts, self._null_counts.sum(keepdims=True), size)
        return divergence(self._bayes, self._counts, self._totals(), self._sizes) + of_null

    def _ranges(self) -> list[tuple[int, int]]:
        """Ranges of sentence pairs of about equal cost, one for each thread."""
        costs = np.cumsum(self._given.lengths * self._side.lengths)
        cuts = np.searchsorted(costs, costs[-1] * np.arange(1, self._jobs) / self._jobs)
        bounds = np.unique(np.concatenate([[0], cuts, [len(costs)]]))
        return list(pairwise(bounds.tolist()))


@dataclass(frozen=True)
class Settings:
    """The settings of training: the options of `rerank train word-alignment`.

    `null` is p₀, the probability that a word is aligned to NULL.
    """

    iterations: int = 5
    alpha: float = 0.01
    null: float = 0.08
    lowercase: bool = True
    longest: int = 100
    least: float = 1e-5


class Iteration(NamedTuple):
    """The state before an iteration of EM: `bound` is the log-likelihood of the text in nats.

    With variational Bayes it is the lower bound of the log of its marginal likelihood; neither ever falls. `words` is
    the number of words that were generated.
    """

    direction: str
    number: int
    bound: float
    words: int


def train(
    pairs: Iterable[tuple[str, str]],
    settings: Settings,
    *,
    jobs: int = 1,
    report: Callable[[Iteration], None] = lambda iteration: None,
    progress: Callable[[str], None] = lambda stage: None,
) -> WordAlignmentModel:
    """Train a model on pairs of (source line, target line); the number of threads, `jobs`, does not change it.

    Raises ModelError if no pair is left to train on.
    """
    progress("reading sentence pairs")
    bitext = read_bitext(pairs, lowercase=settings.lowercase, longest=settings.longest)
    progress("pairing words")
    words = cooccurrence(bitext)
    directions = []
    for name, given_is_source in (("target given source", True), ("source given target", False)):
        direction = Direction(bitext, words, given_is_source=given_is_source, null=settings.null, jobs=jobs)
        generated = bitext.target if given_is_source else bitext.source
        for number in range(1, settings.iterations + 1):
            progress(f"{name}, iteration {number}")
            bound = direction.iterate(settings.alpha)
            report(Iteration(name, number, bound, len(generated.tokens)))
        direction.finish()
        directions.append(direction)
    return _model(bitext, words, directions[0], directions[1], settings)


def _model(
    bitext: Bitext, pairs: Cooccurrence, forward: Direction, backward: Direction, settings: Settings
) -> WordAlignmentModel:
    kept = np.flatnonzero((forward.t >= settings.least) | (backward.t >= settings.least))
    kept = kept[np.lexsort((pairs.targets[kept], pairs.sources[kept]))]
    sizes = np.bincount(pairs.sources[kept], minlength=len(bitext.source.words))
    lexicon = Lexicon(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        pairs.targets[kept],
        forward.t[kept].astype(np.float32),
        backward.t[kept].astype(np.float32),
    )
    parameters = [
        DirectionModel(direction.t_null.astype(np.float32), direction.tension) for direction in (forward, backward)
    ]
    trained_on = {
        "pairs": len(bitext),
        "empty": bitext.empty,
        "too_long": bitext.too_long,
        "source_words": len(bitext.source.tokens),
        "target_words": len(bitext.target.tokens),
    }
    return WordAlignmentModel(
        bitext.source.words, bitext.target.words, bitext.source.sentence_counts(), lexicon, parameters[0],
        parameters[1], {**asdict(settings), **trained_on},
    )  # fmt: skip
