"""Reads ARPA files into arrays of word numbers and log10 values, all of which are kept.

Fields may be separated by tabs or spaces, back-off weights may be missing, and `-inf` is log10 of 0 (-99). Words are
separated by ASCII white space, as in KenLM. The usual lines are parsed by a compiled loop (arpa_lines.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.backoff.tables import LOG_ZERO
from rerank_plugins.kit.vocabulary.word_hash import hash_table
from rerank_plugins.kit.vocabulary.word_numbers import SPECIAL, Vocabulary
from rerank_plugins.kit.workspace import Collection, Workspace
from rerank_plugins.ngram.arpa_lines import Parsed, parse_lines

BLOCK = 1 << 15  # lines parsed at a time
MISSING_UNK = -100.0  # KenLM's log10 p of an unknown word where the file has no <unk>


@dataclass(frozen=True)
class ArpaOrder:
    """The n-grams of one order, in the order of the file: (n, k) word numbers, (n) log10 p, (n) log10 back-off."""

    words: IntArray
    log10: NDArray[np.float32]
    backoff: NDArray[np.float32]


class _Lines:
    """The lines of a file, stripped and counted; iteration skips blank ones."""

    def __init__(self, lines: Iterable[bytes], path: str) -> None:
        self._lines, self.path, self.number = iter(lines), path, 0

    def block(self, size: int) -> list[bytes]:
        lines = [line.strip() for line in islice(self._lines, size)]
        self.number += len(lines)
        return lines

    def __iter__(self) -> Iterator[bytes]:
        while lines := self.block(1):
            if lines[0]:
                yield lines[0]

    def error(self, message: str) -> ModelError:
        return ModelError(f"{self.path}:{self.number}: {message}")


def read_arpa(lines: Iterable[bytes], path: str, workspace: Workspace) -> tuple[Vocabulary, list[ArpaOrder]]:
    """The vocabulary and the n-grams of orders 1 … n; the 1-grams are in the order of the vocabulary.

    Special words that the file lacks are added: `<unk>` with log10 p -100 as in KenLM, `<s>` and `</s>` with -99.
    Raises ModelError naming the line for a file that is not ARPA, is cut short, or has another number of n-grams than
    its header promises.
    """
    source = _Lines(lines, path)
    sizes = _header(source)
    numbers: dict[bytes, int] = {word.encode(): number for number, word in enumerate(SPECIAL)}
    _expect(source, b"\\1-grams:")
    unigrams = _section(source, 1, sizes[0], numbers, None, workspace)
    orders = [_all_words(unigrams, list(numbers), path)]
    try:
        vocabulary = Vocabulary(tuple(word.decode() for word in numbers))
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: has a word that is not UTF-8: {error.object!r}") from None
    table = hash_table(vocabulary.words, 0)
    for order, size in enumerate(sizes[1:], 2):
        _expect(source, b"\\%d-grams:" % order)
        orders.append(_section(source, order, size, numbers, table, workspace))
    _expect(source, b"\\end\\")
    return vocabulary, orders


def _header(source: _Lines) -> list[int]:
    inside, sizes = False, list[int]()
    for line in source:
        if line == b"\\data\\":
            inside = True
        elif inside and line.startswith(b"ngram"):
            order, _, count = line[5:].partition(b"=")
            are_numbers = order.strip().isdigit() and count.strip().isdigit() and len(order) < 10 and len(count) < 19
            if not (are_numbers and int(order) == len(sizes) + 1):
                raise source.error(f"expected 'ngram {len(sizes) + 1}=…', found {line.decode(errors='replace')!r}")
            sizes.append(int(count))
        elif inside and line.startswith(b"\\"):
            source._lines = _again(line, source._lines)
            source.number -= 1
            break
    if not sizes:
        raise source.error("not an ARPA file: it has no '\\data\\' with the numbers of n-grams")
    while len(sizes) > 1 and sizes[-1] == 0:
        sizes.pop()
    return sizes


def _again(line: bytes, lines: Iterator[bytes]) -> Iterator[bytes]:
    yield line
    yield from lines


def _expect(source: _Lines, wanted: bytes) -> None:
    for line in source:
        if line == wanted:
            return
        if wanted == b"\\end\\" and line.endswith(b"-grams:"):  # of an order without n-grams
            continue
        raise source.error(f"expected {wanted.decode()!r}, found {line.decode(errors='replace')!r}")
    raise source.error(f"cut short: expected {wanted.decode()!r}")


def _section(
    source: _Lines,
    order: int,
    size: int,
    numbers: dict[bytes, int],
    table: LongArray | None,
    workspace: Workspace,
) -> ArpaOrder:
    words = Collection(workspace, np.int32, order)
    log10, backoff = Collection(workspace, np.float32), Collection(workspace, np.float32)
    while words.rows < size:
        block = source.block(min(BLOCK, size - words.rows))
        if not block:
            raise source.error(f"cut short: {words.rows} {order}-grams found, {size} promised in the header")
        lines = [line for line in block if line]
        try:
            parsed = parse_lines(lines, order, table) if table is not None and lines else None
            parsed = parsed or _parse(lines, order, numbers)
        except (ValueError, IndexError):
            source.number -= len(block)
            raise _first_error(source, block, order, numbers) from None
        for collection, part in zip((words, log10, backoff), parsed, strict=True):
            collection.append(part)
    return ArpaOrder(words.finish(), log10.finish(), backoff.finish())


def _parse(lines: list[bytes], order: int, numbers: dict[bytes, int]) -> Parsed:
    """`parse_lines` for any lines; the words of 1-grams get numbers. Raises ValueError for a line that is no n-gram."""
    rows = [line.split() for line in lines]
    if not set(map(len, rows)) <= {order + 1, order + 2}:
        raise ValueError
    if order == 1:
        for row in rows:
            numbers.setdefault(row[1], len(numbers))
    get = numbers.get
    ids = np.array([[get(word, -1) for word in row[1 : order + 1]] for row in rows], np.int32).reshape(-1, order)
    values = np.array([float(row[0]) for row in rows])
    weights = np.array([float(row[order + 1]) if len(row) > order + 1 else 0.0 for row in rows])
    if (ids < 0).any() or not (values <= 0).all() or not (weights < np.inf).all():
        raise ValueError
    return ids, _finite(values), _finite(weights)


def _finite(values: FloatArray) -> NDArray[np.float32]:
    return np.where(np.isneginf(values), LOG_ZERO, values).astype(np.float32)


def _first_error(source: _Lines, block: list[bytes], order: int, numbers: dict[bytes, int]) -> ModelError:
    """The error of the first bad line of a block."""
    for line in block:
        source.number += 1
        row = line.split()
        if not row:
            continue
        shown = line.decode(errors="replace")
        if line.startswith(b"\\"):
            return source.error(f"fewer {order}-grams than promised in the header: found {shown!r}")
        unknown = [word for word in row[1 : order + 1] if word not in numbers]
        if len(row) in (order + 1, order + 2) and unknown:
            return source.error(f"{unknown[0].decode(errors='replace')!r} is not among the 1-grams")
        try:
            _parse([line], order, numbers)
        except (ValueError, IndexError):
            return source.error(f"expected 'log10 {'word ' * order}[back-off]', found {shown!r}")
    raise AssertionError("a bad block without a bad line")


def _all_words(unigrams: ArpaOrder, words: list[bytes], path: str) -> ArpaOrder:
    """The 1-grams by number, including those that the file lacks. Raises ModelError for one that is there twice."""
    times = np.bincount(unigrams.words[:, 0], minlength=len(words))
    if times.max() > 1:
        raise ModelError(f"{path}: has the 1-gram {words[int(times.argmax())].decode(errors='replace')!r} twice")
    log10, backoff = np.full(len(words), LOG_ZERO, np.float32), np.zeros(len(words), np.float32)
    log10[0] = MISSING_UNK
    log10[unigrams.words[:, 0]], backoff[unigrams.words[:, 0]] = unigrams.log10, unigrams.backoff
    return ArpaOrder(np.arange(len(words), dtype=np.int32)[:, None], log10, backoff)
