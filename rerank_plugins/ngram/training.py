"""Trains n-gram models on texts.

With the default settings the model is that of KenLM's `lmplz`: interpolated modified Kneser–Ney, raw counts for n-grams
that begin with `<s>`, unigrams interpolated with the uniform distribution over the vocabulary, from which alone `<unk>`
has its probability. With a cut-off of the vocabulary, `<unk>` stands for the rare words and has their counts; the model
records for how many types it stands (kit/vocabulary/unknown_types.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rerank_plugins import ConfigError, ModelError
from rerank_plugins.kit.backoff.estimation import Estimate, cutoffs, estimate
from rerank_plugins.kit.backoff.events import TextEvents
from rerank_plugins.kit.backoff.smoothing import KneserNey, Smoothing, StupidBackoff
from rerank_plugins.kit.vocabulary.word_ids import BOS, EOS, UNK, TextCollector
from rerank_plugins.ngram.model import NgramModel

SMOOTHING: dict[str, type[Smoothing]] = {"kneser-ney": KneserNey, "stupid-backoff": StupidBackoff}


@dataclass(frozen=True)
class NgramSettings:
    """The settings of training.

    `prune` is by order the count up to which n-grams are left out; its last value holds for all higher orders. Words
    that occur fewer than `min_count` times, and all but the `most_words` most frequent, are unknown. With `closed`,
    `<unk>` has no probability, and every word of the text must be known.
    """

    order: int = 5
    smoothing: Literal["kneser-ney", "stupid-backoff"] = "kneser-ney"
    prune: tuple[int, ...] = ()
    min_count: int = 1
    most_words: int | None = None
    closed: bool = False

    @property
    def never(self) -> list[int]:
        """The words that have no probability."""
        return [BOS, UNK] if self.closed else [BOS]


@dataclass(frozen=True)
class Trained:
    """A trained model, whose settings have the size of its text, and what was estimated of each order."""

    ngrams: NgramModel
    estimated: Estimate


def train(
    texts: Iterable[tuple[str, Iterable[str]]],
    settings: NgramSettings,
    *,
    jobs: int = 2,
    progress: Callable[[str, int], None] = lambda stage, words: None,
) -> Trained:
    """Train on texts, each a path and its lines; `progress` is called with each stage and the number of words read.

    Raises ConfigError for settings that do not go together, FormatError for a line with `<s>` or `</s>`, and ModelError
    for texts without words.
    """
    if not 1 <= settings.order <= 6:
        raise ConfigError(f"order {settings.order}: orders 1 to 6 are supported")
    cut = cutoffs(settings.prune, settings.order)
    text = TextCollector()
    for path, lines in texts:
        text.add(lines, path, lambda words: progress("reading", words))
    words = text.tokens
    vocabulary, tokens, counts = text.finish(settings.min_count, settings.most_words)
    if counts.sum() == counts[BOS] + counts[EOS]:
        raise ModelError("there are no words to train on: the texts are empty")
    if settings.closed and counts[UNK]:
        raise ConfigError(
            f"{counts[UNK]} words of the text are out of vocabulary, which a closed vocabulary does not allow"
        )
    source = TextEvents(tokens, len(vocabulary), settings.order)
    del tokens
    estimated = estimate(
        source, SMOOTHING[settings.smoothing](), prune=cut, never=settings.never, jobs=jobs,
        progress=lambda stage: progress(stage, words),
    )  # fmt: skip
    record: dict[str, Any] = {**asdict(settings), "words": words, "sentences": int(counts[EOS])}
    record |= {"unknown": int(counts[UNK]), "unknown_types": vocabulary.unknown_types}
    record["discounts"] = estimated.discounts
    return Trained(NgramModel(vocabulary, estimated.tables, record, counts), estimated)
