"""Trains an n-gram model by tasks on several machines: from text to rows of events (backoff/shards does the rest).

Each task reads a piece of the text and numbers its words for itself. The words of all pieces are merged a bucket at a
time, where the hash of a word decides on its bucket; then each task deals the events of its piece into the parts of the
estimation. Tasks need the memory of a piece and of a bucket.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import IntArray, LongArray, ModelError
from rerank_plugins.kit.backoff.estimation import Estimate
from rerank_plugins.kit.backoff.events import pack_text
from rerank_plugins.kit.backoff.shards.files import (
    Shards,
    balanced_bounds,
    mapped_array,
    part_of_file,
    parts_within,
    shards_folder,
    write_array,
    write_parts,
)
from rerank_plugins.kit.backoff.shards.rounds import Share, estimate_shards
from rerank_plugins.kit.backoff.smoothing import Smoothing
from rerank_plugins.kit.backoff.stores import PackedStore, RecordStore
from rerank_plugins.kit.files.model_file import word_array
from rerank_plugins.kit.vocabulary.word_numbers import BOS, EOS, SPECIAL, UNK, TextCollector, Vocabulary
from rerank_plugins.kit.workspace import Workspace
from rerank_plugins.ngram.training import (
    NgramSettings,
    Trained,
    check_unknown,
    check_words,
    checked,
    never_predicted,
    pruned_by_entropy,
    summary,
)

BUCKETS = 64  # of words, at most
STRETCH = 1 << 20  # tokens renumbered at a time

Opened = Callable[[Any], AbstractContextManager[tuple[str, Iterator[str]]]]


class Read(NamedTuple):
    """The numbers of tokens, with `</s>`, and of sentences of a piece."""

    tokens: int
    sentences: int


@dataclass(frozen=True)
class Reading:
    """The task: numbers the words of a piece; `opened` gives the name and the lines of one.

    It writes `tokens-PIECE`, and by bucket, in alphabetical order, `words-PIECE`, their `counts-PIECE` and
    `ids-PIECE`.
    """

    folder: Path
    buckets: int
    memory: int
    opened: Opened

    def __call__(self, numbered_piece: tuple[int, Any]) -> Read:
        """The size of the piece that has this number."""
        number, piece = numbered_piece
        collector = TextCollector(Workspace(self.memory, self.folder))
        with self.opened(piece) as (name, lines):
            collector.add(lines, name)
        names, counts, tokens = collector.numbered()
        by_bucket: list[list[tuple[str, int]]] = [[] for _ in range(self.buckets)]
        for i in range(len(SPECIAL), len(names)):
            by_bucket[zlib.crc32(names[i].encode()) % self.buckets].append((names[i], i))
        words = [[word for word, _ in bucket] for bucket in map(sorted, by_bucket)]
        ids = np.array([i for bucket in by_bucket for _, i in sorted(bucket)], np.int64)
        starts = np.cumsum([0, *map(len, words)])
        _write_words(self.folder / f"words-{number}", words)
        write_parts(self.folder / f"counts-{number}", counts[ids], starts)
        write_parts(self.folder / f"ids-{number}", ids.astype(np.int32), starts)
        write_array(self.folder / f"tokens-{number}", tokens)
        return Read(len(tokens), collector.sentences)


@dataclass(frozen=True)
class Merging:
    """The task: the words of a bucket in alphabetical order, to `vocabulary-BUCKET`, and their counts, to `totals-…`.

    Words that occur fewer than `min_count` times are left out.
    """

    folder: Path
    pieces: int
    min_count: int

    def __call__(self, bucket: int) -> None:
        """Merge the words of the bucket."""
        totals: defaultdict[str, int] = defaultdict(int)
        for piece in range(self.pieces):
            counts = part_of_file(self.folder / f"counts-{piece}", bucket, np.int64)
            for word, count in zip(_words(self.folder / f"words-{piece}", bucket), counts.tolist(), strict=True):
                totals[word] += count
        known = sorted(word for word, count in totals.items() if count >= self.min_count)
        _write_words(self.folder / f"vocabulary-{bucket}", [known])
        write_array(self.folder / f"totals-{bucket}", np.array([totals[word] for word in known], np.int64))


@dataclass(frozen=True)
class Dealing:
    """The task: deals the events of a piece into parts, to `rows-PIECE`; `numbers-BUCKET` has the numbers of words."""

    shards: Shards
    buckets: int

    def __call__(self, piece: int) -> None:
        """Deal the events of the piece."""
        shards, workspace = self.shards, self.shards.workspace()
        new = self._new_numbers(piece)
        source = mapped_array(shards.file("tokens", piece), np.int32)
        tokens = workspace.empty(len(source), np.int32)
        for start in range(0, len(source), STRETCH):
            tokens[start : start + STRETCH] = new[source[start : start + STRETCH]]
        layout, part_of = shards.layout, shards.part_of
        sizes = np.bincount(tokens, minlength=shards.sizes[0])
        starts = np.concatenate([[0], np.cumsum(np.bincount(part_of, sizes, shards.parts))]).astype(np.int64)
        rows = workspace.empty((len(tokens), layout.words), np.int64)
        pack_text(tokens, 0, len(tokens), BOS, EOS, layout.places, part_of, starts[:-1].copy(), rows)
        write_parts(shards.file("rows", piece), rows, starts)

    def _new_numbers(self, piece: int) -> IntArray:
        """The number in the vocabulary of each word of the piece."""
        folder = self.shards.folder
        ids, numbers = [np.arange(len(SPECIAL), dtype=np.int32)], [np.array([UNK, BOS, EOS], np.int32)]
        for bucket in range(self.buckets):
            known = _words(folder / f"vocabulary-{bucket}", 0)
            number = dict(zip(known, mapped_array(folder / f"numbers-{bucket}", np.int32).tolist(), strict=True))
            words = _words(folder / f"words-{piece}", bucket)
            ids.append(part_of_file(folder / f"ids-{piece}", bucket, np.int32))
            numbers.append(np.array([number.get(word, UNK) for word in words], np.int32))
        new = np.zeros(sum(map(len, ids)), np.int32)
        new[np.concatenate(ids)] = np.concatenate(numbers)
        return new


def train_shards(
    pieces: Sequence[Any],
    opened: Opened,
    settings: NgramSettings,
    *,
    workspace: Workspace,
    share: Share,
    parts: int = 1,
    memory: int | None = None,
    progress: Callable[[str, int], None] = lambda stage, words: None,
) -> Trained:
    """Train on pieces of text, whose name and lines `opened` gives; the model equals that of `train` to the last byte.

    The tasks that `share` does write to the folder of the workspace. Each has `memory` bytes, by default as much as the
    workspace; the events are cut into `parts` parts, or into as many as the memory requires. Raises as `train` does.
    """
    memory = memory or workspace.memory
    smoothing, prune = checked(settings)
    with shards_folder(workspace.folder) as folder:
        progress("reading", 0)
        buckets = min(BUCKETS, len(pieces))
        reading = Reading(folder, buckets, memory, opened)
        read = share(reading, list(enumerate(pieces)), "the reading of text")
        events, sentences = sum(r.tokens for r in read), sum(r.sentences for r in read)
        words = events - sentences
        check_words(words)
        progress("vocabulary", words)
        share(Merging(folder, len(pieces), settings.min_count), range(buckets), "the counting of words")
        vocabulary, counts = _vocabulary(folder, buckets, settings.most_words)
        unknown = words - int(counts[len(SPECIAL) :].sum())
        check_unknown(unknown, settings)
        counts[UNK], counts[BOS], counts[EOS] = unknown, sentences, sentences
        if counts.max() >= 1 << 31:
            raise ModelError(f"a word occurs {counts.max():,} times; a model has counts below 2**31")
        bounds = balanced_bounds(counts, max(parts, parts_within(memory, events)))
        shards = Shards(
            folder, (len(vocabulary),) * settings.order, bounds, bounds, True, len(pieces), tuple(prune),
            smoothing.continuation, bool(settings.prune_entropy), memory,
        )  # fmt: skip
        progress("dealing", words)
        share(Dealing(shards, buckets), range(len(pieces)), "the dealing of events")
        estimated, tables = _estimated(
            shards, smoothing, settings, workspace, share, lambda stage: progress(stage, words)
        )
    return summary(vocabulary, counts, estimated, tables, settings)


def _estimated(
    shards: Shards, smoothing: Smoothing, settings: NgramSettings, workspace: Workspace, share: Share,
    progress: Callable[[str], None],
) -> tuple[Estimate[Any], Any]:  # fmt: skip
    """The estimate and its packed tables, as training._estimated has them."""
    never = never_predicted(settings)
    if not settings.prune_entropy:
        store = PackedStore(settings.order, settings.quantise, workspace)
        packed = estimate_shards(shards, smoothing, store, never=never, share=share, progress=progress)
        return packed, packed.tables
    records = RecordStore(workspace, True)
    estimated = estimate_shards(shards, smoothing, records, never=never, share=share, progress=progress)
    progress("pruning")
    return estimated, pruned_by_entropy(estimated, settings)


def _vocabulary(folder: Path, buckets: int, most: int | None) -> tuple[Vocabulary, LongArray]:
    """The vocabulary of all buckets and its counts, as TextCollector has them; it writes `numbers-BUCKET`."""
    words, totals = [], []
    for bucket in range(buckets):
        words.append(_words(folder / f"vocabulary-{bucket}", 0))
        totals.append(mapped_array(folder / f"totals-{bucket}", np.int64))
    names, counts = [word for bucket in words for word in bucket], np.concatenate(totals)
    falling = (-counts).tolist()
    order = sorted(range(len(names)), key=lambda i: (falling[i], names[i]))[:most]
    numbers = np.full(len(names), UNK, np.int32)
    numbers[order] = np.arange(len(SPECIAL), len(SPECIAL) + len(order))
    start = 0
    for bucket, known in enumerate(words):
        write_array(folder / f"numbers-{bucket}", numbers[start : start + len(known)])
        start += len(known)
    return Vocabulary((*SPECIAL, *(names[i] for i in order))), np.concatenate([np.zeros(3, np.int64), counts[order]])


def _write_words(path: Path, parts: Sequence[Sequence[str]]) -> None:
    arrays = [word_array(part) for part in parts]
    write_parts(path, np.concatenate(arrays), np.cumsum([0, *map(len, arrays)]))


def _words(path: Path, part: int) -> list[str]:
    text = part_of_file(path, part, np.uint8).tobytes().decode()
    return text.split("\n") if text else []
