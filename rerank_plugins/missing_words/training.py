"""Trains a model of missing words: counts texts, and tunes the weights on sentences held out of them.

Contexts and word pairs are counted by the sorting and counting of n-gram models (kit/backoff). The time is that of one
sort for each of the five contexts and one for all pairs; the memory that of the largest sort, 16 bytes for each event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rerank_plugins import ConfigError, IntArray, LongArray, ModelError
from rerank_plugins.core.brackets_and_quotes import normal_text
from rerank_plugins.core.words import split_words
from rerank_plugins.kit.backoff.events import TupleEvents
from rerank_plugins.kit.backoff.suffix_trie import TrieLevel, build_trie
from rerank_plugins.kit.vocabulary.word_ids import UNK, TextCollector
from rerank_plugins.missing_words.gap_words import COMPONENTS, FIRST
from rerank_plugins.missing_words.model import MissingWordsModel
from rerank_plugins.missing_words.tables import (
    CONTEXTS,
    KEYS,
    ContextTable,
    PairTable,
    context_events,
    pair_events,
    pieces,
)
from rerank_plugins.missing_words.tuning import GAMMAS, SHORTEST, remove_words, tuned

EVERY = 20  # one sentence in so many is held out
MOST_HELD_OUT = 20_000  # sentences held out


def count_contexts(tokens: IntArray, words: int, jobs: int, progress: Callable[[str], None]) -> dict[str, ContextTable]:
    """The words of a text in each of the five contexts, with their counts."""
    tables = {}
    for context in CONTEXTS:
        progress(f"counting words by {len(KEYS[context])} neighbours ({context})")
        sizes = (words,) * (len(KEYS[context]) + 1)
        levels = _counted(sizes, (context_events(piece, context) for piece in pieces(tokens)), jobs)
        tables[context] = _context_table(levels, words)
    return tables


def count_pairs(tokens: IntArray, words: int, window: int, jobs: int, progress: Callable[[str], None]) -> PairTable:
    """The pairs of words of a text with fewer than `window` words between them, by the number of these words."""
    progress("counting pairs of words")
    events = (block for piece in pieces(tokens) for block in pair_events(piece, window))
    lefts, rights, numbers = _counted((words, words, window), events, jobs)
    counts = np.zeros((len(rights), window), np.int32)
    counts[numbers.parent, numbers.symbol] = numbers.count
    return PairTable(_starts(lefts.symbol[rights.parent], words), rights.symbol, counts)


def _counted(sizes: tuple[int, ...], blocks: Iterable[IntArray], jobs: int) -> list[TrieLevel]:
    source = TupleEvents(sizes)
    for block in blocks:
        source.add(block)
    rows, starts = source.deal(jobs)
    places = source.layout.places
    return build_trie(rows, starts, places, continuation=False, raw=False, jobs=jobs)


def _context_table(levels: list[TrieLevel], words: int) -> ContextTable:
    first, last = levels[0], levels[-1]
    if len(levels) == 2:
        totals = np.zeros(words, np.int64)
        totals[first.symbol] = first.count
        none = np.zeros(0, np.int32)
        return ContextTable(
            np.arange(words + 1), none, _starts(first.symbol[last.parent], words), totals, last.symbol, last.count
        )
    second = levels[1]
    rows = _starts(last.parent, len(second))
    starts = _starts(first.symbol[second.parent], words)
    return ContextTable(starts, second.symbol, rows, second.count.astype(np.int64), last.symbol, last.count)


def _starts(sorted_keys: IntArray, size: int) -> LongArray:
    """(size + 1) where each of the keys 0 … size - 1 begins among the sorted ones."""
    return np.searchsorted(sorted_keys, np.arange(size + 1)).astype(np.int64)


@dataclass(frozen=True)
class Settings:
    """The settings of training: the options of `rerank train missing-words`. Raises ConfigError for unusable values."""

    min_count: int = 2
    most_words: int | None = None
    window: int = 4
    gammas: tuple[float, ...] = GAMMAS
    seed: int = 1

    def __post_init__(self) -> None:
        if not (2 <= self.window <= 10 and self.window % 2 == 0):
            raise ConfigError(f"a window of {self.window} words: wanted an even number from 2 to 10")
        if not self.gammas or min(self.gammas) < 0:
            raise ConfigError(f"exponents γ {self.gammas}: wanted one or more, none of them negative")


@dataclass
class HeldOut:
    """Sentences taken out of texts while these are read: every 20th of three words or more, 20,000 at most."""

    sentences: list[tuple[str, ...]]
    seen: int = 0

    def without(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the other lines."""
        for line in lines:
            words = split_words(line)
            if len(words) >= SHORTEST and len(self.sentences) < MOST_HELD_OUT:
                self.seen += 1
                if self.seen % EVERY == 0:
                    self.sentences.append(tuple(words))
                    continue
            yield line


def train(
    texts: Iterable[tuple[str, Iterable[str]]],
    settings: Settings,
    *,
    held_out: Sequence[Sequence[str]] | None = None,
    jobs: int = 2,
    progress: Callable[[str, int | None], None] = lambda stage, words: None,
) -> MissingWordsModel:
    """Train on texts, each a path and its lines; weights are tuned on `held_out`, or on sentences kept out of them.

    Raises ConfigError for settings out of range, FormatError for a line with `<s>` or `</s>`, and ModelError for too
    little text.
    """
    collector, own = TextCollector(), HeldOut([])
    for path, lines in texts:
        lines = map(normal_text, lines)
        collector.add(own.without(lines) if held_out is None else lines, path, lambda words: progress("reading", words))
    read, sentences = collector.tokens, collector.sentences
    vocabulary, tokens, counts = collector.finish(settings.min_count, settings.most_words)
    unknown = int(counts[UNK])
    if len(vocabulary) == FIRST:
        raise ModelError(f"no word occurs {settings.min_count} times in the text: use more text or a lower minimum")

    def stage(name: str) -> None:
        progress(name, None)

    size = len(vocabulary)
    record: dict[str, Any] = {**asdict(settings), "words": read, "sentences": sentences, "unknown": unknown}
    model = MissingWordsModel(
        vocabulary, counts,
        count_pairs(tokens, size, settings.window, jobs, stage),
        count_contexts(tokens, size, jobs, stage),
        {}, np.full(len(COMPONENTS), 1 / len(COMPONENTS)), record,
    )  # fmt: skip
    stage("tuning weights")
    removed = remove_words(own.sentences if held_out is None else held_out, settings.seed)
    record["held_out"] = len(removed)
    return tuned(model, removed, settings.gammas)
