"""Trains a model of missing words: counts texts, and tunes the weights on sentences held out of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rerank_plugins.core.brackets_and_quotes import normal_text
from rerank_plugins.core.errors import ConfigError, ModelError
from rerank_plugins.kit.vocabulary.word_numbers import UNK, TextCollector
from rerank_plugins.kit.workspace import Workspace
from rerank_plugins.missing_words.gap_words import COMPONENTS, FIRST
from rerank_plugins.missing_words.model import MissingWordsModel
from rerank_plugins.missing_words.text_counts import count_contexts, count_pairs
from rerank_plugins.missing_words.tuning import GAMMAS, SHORTEST, remove_words, tuned

EVERY = 20  # one sentence in so many is held out
MOST = 20_000  # sentences held out


@dataclass(frozen=True)
class Settings:
    """The settings of training.

    Words that occur fewer than `min_count` times, and all but the `most_words` most frequent, are unknown. `window` is
    W, the number of words around a gap whose distances are counted. `gammas` are the exponents γ to choose from.
    `seed` chooses the words that are removed from held-out sentences.
    """

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
            words = line.split()
            if len(words) >= SHORTEST and len(self.sentences) < MOST:
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
    workspace: Workspace | None = None,
    jobs: int = 2,
    progress: Callable[[str, int | None], None] = lambda stage, words: None,
) -> MissingWordsModel:
    """Train on texts, each a path and its lines; weights are tuned on `held_out`, or on sentences kept out of them.

    Raises ConfigError for settings out of range, FormatError for a line with `<s>` or `</s>`, and ModelError for too
    little text.
    """
    workspace = workspace or Workspace()
    collector, own = TextCollector(workspace), HeldOut([])
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
        count_pairs(tokens, size, settings.window, workspace, jobs, stage),
        count_contexts(tokens, size, workspace, jobs, stage),
        {}, np.full(len(COMPONENTS), 1 / len(COMPONENTS)), record,
    )  # fmt: skip
    stage("tuning weights")
    removed = remove_words(own.sentences if held_out is None else held_out, settings.seed)
    record["held_out"] = len(removed)
    return tuned(model, removed, settings.gammas)
