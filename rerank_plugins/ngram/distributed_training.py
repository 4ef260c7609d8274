"""Trains an n-gram model whose n-grams tasks on several machines count; it equals that of training.py to the last byte.

Tasks hand over files in a folder that all machines share; each needs the memory of its piece or part.

1. Reading: a task numbers the words of a piece of the text for itself; the command merges the words of all pieces.
2. Dealing: a task packs the events of its piece, and deals them into *parts*, by their last words. A part is a range of
   the vocabulary; all parts have about the same number of events.
3. Counting: a task makes the trie of a part. A k-gram stands beside all its extensions there, so its counts are those
   of the whole text; and the n-grams of the parts, one part after the other, are those of the text in suffix order.

From these the command estimates the model, as it does from its own counts.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import LongArray, ModelError
from rerank_plugins.core.checksummed_files import unfinished
from rerank_plugins.core.paths import this_machine
from rerank_plugins.kit.backoff.estimation import estimate_counted
from rerank_plugins.kit.backoff.events import MOST_EVENTS, TextEvents, TupleEvents, bucket_bounds, scatter_rows
from rerank_plugins.kit.backoff.stores import PackedStore
from rerank_plugins.kit.backoff.suffix_trie import TrieLevel, build_trie
from rerank_plugins.kit.vocabulary.word_ids import BOS, EOS, SPECIAL, Numbering, TextCollector, Vocabulary, chosen
from rerank_plugins.kit.workspace import Workspace
from rerank_plugins.ngram.training import NgramSettings, Trained, check_text, checked, finished

NEEDED = 120  # bytes that the counting of a part needs for each of its events, about
Opened = Callable[[Any], AbstractContextManager[tuple[str, Iterator[str]]]]
# Does a task for each item on some machine; the results have the order of the items, and messages call it by its name.
Each = Callable[[Callable[[Any], Any], Iterable[Any], str], list[Any]]
Read = tuple[str, LongArray]  # the words of a piece in the order of their numbers, one a line, and their counts


@contextmanager
def shards_folder(parent: Path | None) -> Iterator[Path]:
    """A new folder in `parent`, by default that of temporary files, for as long as the block. Raises OSError.

    A folder `.shards-MACHINE.1a2b3c4d` belongs to the process that holds the lock of the file beside it
    (core/checksummed_files.py); those of killed processes are removed.
    """
    parent = Path(parent or tempfile.gettempdir()).resolve()
    name = f".shards-{hashlib.blake2b(this_machine().encode(), digest_size=4).hexdigest()}"
    with unfinished(parent / name) as lock:  # which removes the files of killed processes
        for folder in parent.glob(f"{name}.*"):
            if not (parent / f".{folder.name}.tmp").exists():
                shutil.rmtree(folder, ignore_errors=True)
        folder = parent / lock.name.removeprefix(".").removesuffix(".tmp")
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def write(path: Path, array: NDArray[Any]) -> None:
    """Write an array, whose file appears when it is complete, as two workers may do the same task. Raises OSError."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with temporary.open("xb") as stream:
        np.save(stream, array)
    temporary.replace(path)


def number_piece(folder: Path, memory: int, opened: Opened, numbered_piece: tuple[int, Any]) -> Read:
    """The task: number the words of a piece, to `tokens-PIECE`; `opened` gives the name and the lines of one."""
    number, piece = numbered_piece
    collector = TextCollector(Workspace(memory, folder))
    with opened(piece) as (name, lines):
        collector.add(lines, name)
    names, counts, tokens = collector.numbered()
    write(folder / f"tokens-{number}", tokens)
    return "\n".join(names), counts


def deal_piece(folder: Path, memory: int, order: int, bounds: Sequence[int], piece: int) -> None:
    """The task: deal the events of a piece into parts, to `rows-PIECE`, which begin there at `starts-PIECE`.

    `numbers-PIECE` has the number in the vocabulary of each word of the piece; part i has the words from `bounds[i]`
    to `bounds[i + 1]`.
    """
    workspace, parts = Workspace(memory, folder), len(bounds) - 1
    tokens = np.load(folder / f"numbers-{piece}")[np.load(folder / f"tokens-{piece}")]
    part_of = np.repeat(np.arange(parts, dtype=np.int32), np.diff(bounds))
    starts = np.concatenate([[0], np.cumsum(np.bincount(part_of[tokens], minlength=parts))]).astype(np.int64)
    events = TextEvents(tokens, bounds[-1], order, workspace)
    shift, packed = int(events.layout.places[0, 1]), events.packed()
    rows = workspace.empty(packed.shape, np.int64)
    scatter_rows(packed, 0, len(packed), shift, part_of, starts[:-1].copy(), rows)
    write(folder / f"rows-{piece}", rows)
    write(folder / f"starts-{piece}", starts)


def count_part(
    folder: Path, memory: int, sizes: tuple[int, ...], pieces: int, continuation: bool, raw: bool, part: int
) -> None:
    """The task: count the n-grams of a part; the columns of the levels of its trie go to `level-PART-ORDER`."""
    workspace = Workspace(memory, folder)
    events = TupleEvents(sizes, workspace)
    for piece in range(pieces):
        start, end = np.load(folder / f"starts-{piece}")[part : part + 2]
        events.add_packed(np.load(folder / f"rows-{piece}", mmap_mode="r")[start:end])
    rows, starts = events.deal(workspace, 1)
    levels = build_trie(rows, starts, events.layout.places, workspace, continuation=continuation, raw=raw, jobs=1)
    for order, level in enumerate(levels, 1):
        columns = [level.symbol, level.parent, level.count, *([] if level.raw is None else [level.raw])]
        write(folder / f"level-{part}-{order}", np.stack(columns))


def joined_level(folder: Path, parts: int, order: int, before: LongArray, workspace: Workspace) -> TrieLevel:
    """The n-grams of an order of all parts; (parts + 1) `before` is how many shorter n-grams precede each part.

    It is replaced by the same of this order. Raises ModelError for too many n-grams.
    """
    files = [np.load(folder / f"level-{part}-{order}", mmap_mode="r") for part in range(parts)]
    ends = np.cumsum([0, *(file.shape[1] for file in files)])
    if ends[-1] > MOST_EVENTS:
        raise ModelError(
            f"{ends[-1]:,} {order}-grams are more than the {MOST_EVENTS:,} that a model can be estimated from"
        )
    columns = [workspace.empty(int(ends[-1]), np.int32) for _ in files[0]]
    for file, start, end, shorter in zip(files, ends, ends[1:], before, strict=False):
        for column, values in zip(columns, file, strict=True):
            column[start:end] = values
        if order > 1:
            columns[1][start:end] += np.int32(shorter)
    before[:] = ends
    symbol, parent, count, *raw = columns
    return TrieLevel(symbol, parent, count, raw[0] if raw else None)


def train_shards(
    pieces: Sequence[Any],
    opened: Opened,
    settings: NgramSettings,
    *,
    workspace: Workspace,
    each: Each,
    parts: int = 1,
    memory: int | None = None,
    progress: Callable[[str, int], None] = lambda stage, words: None,
) -> Trained:
    """Train on pieces of text, whose name and lines `opened` gives; the model equals that of `train` to the last byte.

    The tasks that `each` does write to the folder of the workspace. Each has `memory` bytes, by default as much as the
    workspace; the events are cut into `parts` parts, or into as many as the memory requires. Raises as `train` does.
    """
    memory = memory or workspace.memory
    smoothing, prune = checked(settings)
    with shards_folder(workspace.folder) as folder:
        progress("reading", 0)
        read = each(partial(number_piece, folder, memory, opened), list(enumerate(pieces)), "the reading of text")
        words = sum(int(counts.sum() - counts[EOS]) for _, counts in read)
        progress("vocabulary", words)
        vocabulary, counts = merged(read, settings, folder)
        check_text(counts, settings)
        del read
        # Parts with about the same number of events.
        number = max(parts, -(-NEEDED * int(counts.sum()) // max(1, memory)))
        of_text = counts * (np.arange(len(counts)) != BOS)
        part_of, _ = bucket_bounds(of_text, max(1, -(-int(of_text.sum()) // number)))
        bounds = tuple(np.searchsorted(part_of, np.arange(int(part_of[-1]) + 2)).tolist())
        sizes = (len(vocabulary),) * settings.order
        progress("dealing", words)
        each(partial(deal_piece, folder, memory, settings.order, bounds), range(len(pieces)), "the dealing of events")
        progress("counting n-grams", words)
        counting = partial(count_part, folder, memory, sizes, len(pieces), smoothing.continuation, any(prune))
        each(counting, range(len(bounds) - 1), "the counting of n-grams")
        for path in folder.glob("rows-*"):  # which no later round reads
            path.unlink()
        before = np.zeros(len(bounds), np.int64)
        levels = [
            joined_level(folder, len(bounds) - 1, order, before, workspace) for order in range(1, settings.order + 1)
        ]
    store = PackedStore(settings.order, settings.estimated_bits, workspace)
    estimated = estimate_counted(
        store, levels, sizes, smoothing, workspace=workspace, prune=prune, never=settings.never,
        progress=lambda stage: progress(stage, words),
    )  # fmt: skip
    return finished(vocabulary, counts, estimated, settings)


def merged(read: Sequence[Read], settings: NgramSettings, folder: Path) -> tuple[Vocabulary, LongArray]:
    """The vocabulary of all pieces and its counts, as TextCollector has them; the tasks get `numbers-PIECE`.

    Raises ModelError for a word that occurs too often.
    """
    names = Numbering(SPECIAL)
    numbers = [names.numbers_of(words.split("\n"), len(counts)) for words, counts in read]
    totals = np.zeros(len(names), np.int64)
    for (_, counts), places in zip(read, numbers, strict=True):
        totals[places] += counts
    vocabulary, new, counts = chosen(list(names), totals, settings.min_count, settings.most_words)
    if counts.max() >= 1 << 31:
        raise ModelError(f"a word occurs {counts.max():,} times; a model has counts below 2**31")
    for number, places in enumerate(numbers):
        write(folder / f"numbers-{number}", new[places])
    return vocabulary, counts
