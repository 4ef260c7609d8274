"""Trains word alignment models by EM: translation probabilities of both directions, and the positions of each.

The HMM starts from the translation probabilities of model 1 after as many iterations; model 2 with the diagonal prior
starts from equal ones, as fast_align does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from rerank_plugins.core.errors import ConfigError
from rerank_plugins.translation.alignment.bitext import Bitext, read_bitext
from rerank_plugins.translation.alignment.cooccurrence import Cooccurrence, cooccurrence
from rerank_plugins.translation.alignment.direction import Direction, Kind
from rerank_plugins.translation.alignment.model import DirectionModel, Lexicon, WordAlignmentModel


@dataclass(frozen=True)
class Settings:
    """The settings of training.

    `iterations`  of EM, for the HMM of each of its two models
    `alpha`       of the symmetric Dirichlet prior of translation probabilities (variational Bayes); 0 for none
    `null`        p₀, the probability that a word is aligned to NULL; in model 1 it is 1 / (l + 1) instead
    `lowercase`   whether words are compared in lower case
    `longest`     pairs with more words on a side are left out
    `least`       pairs of words whose t is smaller in both directions are not kept in the model

    Raises ConfigError for values out of range.
    """

    model: Kind = "hmm"
    iterations: int = 5
    alpha: float = 0.01
    null: float = 0.08
    lowercase: bool = True
    longest: int = 100
    least: float = 1e-5

    def __post_init__(self) -> None:
        if self.model not in ("ibm1", "diagonal", "hmm"):
            raise ConfigError(f"model {self.model!r}: wanted ibm1, diagonal or hmm")
        for name, least in (("iterations", 1), ("longest", 1), ("alpha", 0), ("least", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} = {getattr(self, name)}: wanted at least {least}")
        if not 0 < self.null < 1:
            raise ConfigError(f"null = {self.null}: wanted a probability between 0 and 1")


class Iteration(NamedTuple):
    """The state before an iteration of EM: `bound` is the log-likelihood of the text in nats.

    With variational Bayes it is the lower bound of the log of its marginal likelihood; either never falls within a
    model. `words` is the number of words that were generated.
    """

    direction: str
    model: Kind
    number: int
    bound: float
    words: int


class Trained(NamedTuple):
    """A trained model, and the text that it was trained on."""

    model: WordAlignmentModel
    bitext: Bitext


def train(
    pairs: Iterable[tuple[str, str]],
    settings: Settings,
    *,
    jobs: int = 1,
    report: Callable[[Iteration], None] = lambda iteration: None,
    progress: Callable[[str], None] = lambda stage: None,
) -> Trained:
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
        stages: tuple[Kind, ...] = ("ibm1", "hmm") if settings.model == "hmm" else (settings.model,)
        for model in stages:
            direction.begin(model)
            for number in range(1, settings.iterations + 1):
                progress(f"{name}, {model}, iteration {number}")
                bound = direction.iterate(settings.alpha)
                report(Iteration(name, model, number, bound, len(generated.tokens)))
        direction.finish()
        directions.append(direction)
    return Trained(_model(bitext, words, directions[0], directions[1], settings), bitext)


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
        DirectionModel(direction.t_null.astype(np.float32), direction.tension, direction.final_jumps())
        for direction in (forward, backward)
    ]
    trained_on = {
        "pairs": len(bitext),
        "empty": bitext.empty,
        "too_long": bitext.too_long,
        "source_words": len(bitext.source.tokens),
        "target_words": len(bitext.target.tokens),
    }
    return WordAlignmentModel(
        bitext.source.words, bitext.target.words, bitext.source.sentence_counts(), bitext.target.sentence_counts(),
        lexicon, parameters[0], parameters[1], {**asdict(settings), **trained_on},
    )  # fmt: skip
