"""Reads ARPA files into arrays of word numbers and log10 values, all of which are kept.

Fields may be separated by tabs or spaces, back-off weights may be missing, and `-inf` is log10 of 0 (-99). Words are
separated by ASCII white space, and `<UNK>` is `<unk>`, as in KenLM. The usual lines are parsed by a compiled loop
(arpa_lines.py). The n-gram that a longer one begins with is found by 64-bit hashes of n-grams. Equal hashes count as
equal n-grams, as in KenLM: among ten million n-grams the probability of any collision is 3e-6.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import IntArray, LongArray, ModelError
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.kit.backoff.tables import LOG_ZERO
from rerank_plugins.kit.kernels import filling_kernel, part
from rerank_plugins.kit.vocabulary.word_hash import EMPTY, hash_table, slot_of
from rerank_plugins.kit.vocabulary.word_ids import SPECIAL, UNK, Vocabulary
from rerank_plugins.ngram.arpa_files import open_arpa
from rerank_plugins.ngram.arpa_lines import BLANKS, fill_lines

MIX = 0xD6E8FEB86659FD93


@part
def mixed(key: int | np.int64, number: int) -> Any:
    """The hash of a sequence that is longer by one word."""
    value = (np.uint64(key) ^ np.uint64(number + 1)) * np.uint64(MIX)
    value = (value ^ (value >> np.uint64(32))) * np.uint64(MIX)
    return np.int64(value ^ (value >> np.uint64(32)))


@filling_kernel
def hash_ngrams(words: IntArray, beginnings: LongArray, keys: LongArray) -> None:
    """Fill in the hash of each n-gram without its last word, and that of the whole n-gram."""
    last = words.shape[1] - 1
    for i in range(len(words)):
        key = np.int64(0)
        for column in range(last):
            key = mixed(key, words[i, column])
        beginnings[i] = key if key != EMPTY else np.int64(1)
        key = mixed(key, words[i, last])
        keys[i] = key if key != EMPTY else np.int64(1)


@filling_kernel
def fill_rows(keys: LongArray, table: LongArray) -> None:
    """Put each row into a hash table of (size, 2), as in kit/vocabulary/word_hash.py."""
    for row in range(len(keys)):
        slot = slot_of(table, keys[row])
        table[slot, 0] = keys[row]
        table[slot, 1] = row


@filling_kernel
def find_rows(keys: LongArray, table: LongArray, rows: IntArray) -> None:
    """Fill in the row with each hash, or -1; the n-grams of a file that follow each other often begin alike."""
    for i in range(len(keys)):
        if i > 0 and keys[i] == keys[i - 1]:
            rows[i] = rows[i - 1]
            continue
        slot = slot_of(table, keys[i])
        rows[i] = table[slot, 1] if table[slot, 0] != EMPTY else -1


PIECE = 1 << 22  # bytes read at a time
LINES_A_BLOCK, PLAIN_LINES = 1 << 15, 1 << 10  # parsed by the compiled loop, and from an uncommon one on without it
MOST_NGRAMS = (1 << 31) - 1
UNKNOWN_WORD, CAPITAL_UNK = SPECIAL[UNK].encode(), b"<UNK>"
MISSING_UNK = -100.0  # KenLM's log10 p of an unknown word where the file has no <unk>
logger = logging.getLogger(__name__)
Block = tuple[IntArray, NDArray[np.floating], NDArray[np.floating]]


@dataclass(frozen=True)
class ArpaOrder:
    """The n-grams of one order, in the order of the file; the 1-grams are in that of the vocabulary.

    (n) the n-gram that each begins with, as its place in the order before; (n) last word; (n) log10 p, log10 back-off.
    """

    beginning: IntArray
    last: IntArray
    log10: NDArray[np.float32]
    backoff: NDArray[np.float32]


class _Text:
    """The text of a file in pieces of whole lines: the bytes, the place in them, and how many lines are before it."""

    def __init__(self, stream: IO[bytes], path: str) -> None:
        self._stream, self.path = stream, path
        self._text, self.bytes, self.at, self.number = b"", np.zeros(0, np.uint8), 0, 0

    def more(self) -> bool:
        """Whether there is any text left; reads the next piece if need be."""
        if self.at >= len(self._text):
            self._text = (self._stream.read(PIECE) + self._stream.readline()).translate(BLANKS)
            if self._text and not self._text.endswith(b"\n"):
                self._text += b"\n"
            self.bytes, self.at = np.frombuffer(self._text, np.uint8), 0
        return self.at < len(self._text)

    def block(self, size: int) -> list[bytes]:
        """Some of the next lines, stripped, at most `size` of them; none at the end of the file."""
        if not self.more():
            return []
        *lines, rest = self._text[self.at :].split(b"\n", size)
        self.at = len(self._text) - len(rest)
        self.number += len(lines)
        return [line.strip() for line in lines]

    def __iter__(self) -> Iterator[bytes]:
        while lines := self.block(1):
            if lines[0]:
                yield lines[0]

    def error(self, message: str) -> ModelError:
        return ModelError(f"{self.path}:{self.number}: {message}")


def read_arpa(stream: IO[bytes], path: str) -> tuple[Vocabulary, int, Iterator[ArpaOrder]]:
    """The vocabulary, the number of n-grams, and the n-grams of orders 1 … n, each read when it is asked for.

    Special words that the file lacks are added: `<unk>` with log10 p -100 as in KenLM, `<s>` and `</s>` with -99.
    Raises ModelError naming the line for a file that is not ARPA, is cut short, has another number of n-grams than its
    header promises, or an n-gram without the one that it begins with; MemoryError for too many n-grams.
    """
    source = _Text(stream, path)
    sizes = _header(source)
    numbers: dict[bytes, int] = {word.encode(): number for number, word in enumerate(SPECIAL)}
    blocks = list(_blocks(source, 1, sizes[0], numbers))
    vocabulary = Vocabulary(tuple(word.decode(errors="backslashreplace") for word in numbers))
    foreign = [word for word, text in zip(numbers, vocabulary.words, strict=True) if word != text.encode()]
    if foreign:
        logger.warning("%s: %d words are not UTF-8 and match no text, %r first", path, len(foreign), foreign[0])
    unigrams = _all_words(blocks, vocabulary, path)
    table = hash_table((*vocabulary.words, CAPITAL_UNK.decode()), 0)
    table[table[:, 1] == len(vocabulary), 1] = numbers[CAPITAL_UNK] = UNK
    longer = _longer(source, sizes, vocabulary, numbers, table)
    return vocabulary, len(vocabulary) + sum(sizes[1:]), chain([unigrams], longer)


def read_unigrams(path: Path) -> dict[str, float]:
    """Ln p of the 1-grams of an ARPA file, plain or compressed; nothing after them is read.

    An `<unk>` that the file lacks is added, with log10 p -100. Raises ModelError as `read_arpa` does.
    """
    with open_arpa(path) as stream:
        source, numbers = _Text(stream, str(path)), dict[bytes, int]()
        size = _header(source)[0]
        blocks = list(_blocks(source, 1, size, numbers))
        if not next(iter(source), b"").startswith(b"\\"):
            raise source.error(f"cut short, or more than the {size} 1-grams that are promised in the header")
    table = {SPECIAL[UNK]: LN10 * MISSING_UNK}
    words = [word.decode(errors="backslashreplace") for word in numbers]
    for numbered, log10, _ in blocks:
        table |= {words[i]: LN10 * value for (i,), value in zip(numbered.tolist(), log10.tolist(), strict=True)}
    return table


def _header(source: _Text) -> list[int]:
    """The number of n-grams of each order; reads up to the title of the 1-grams."""
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
            _check(source, line, b"\\1-grams:")
            break
    if not sizes:
        raise source.error("not an ARPA file: it has no '\\data\\' with the numbers of n-grams")
    if sum(sizes) > MOST_NGRAMS:
        raise source.error(f"the header promises {sum(sizes)} n-grams, wanted at most {MOST_NGRAMS}")
    while len(sizes) > 1 and sizes[-1] == 0:
        sizes.pop()
    return sizes


def _check(source: _Text, line: bytes, wanted: bytes) -> None:
    if line != wanted:
        raise source.error(f"expected {wanted.decode()!r}, found {line.decode(errors='replace')!r}")


def _expect(source: _Text, wanted: bytes) -> None:
    for line in source:
        if wanted == b"\\end\\" and line.endswith(b"-grams:"):  # of an order without n-grams
            continue
        return _check(source, line, wanted)
    raise source.error(f"cut short: expected {wanted.decode()!r}")


def _longer(
    source: _Text, sizes: list[int], vocabulary: Vocabulary, numbers: dict[bytes, int], table: LongArray
) -> Iterator[ArpaOrder]:
    """The n-grams of orders 2 … n."""
    rows = np.zeros((0, 2), np.int64)
    for order, size in enumerate(sizes[1:], 2):
        _expect(source, b"\\%d-grams:" % order)
        beginning, last = np.empty(size, np.int32), np.empty(size, np.int32)
        log10, backoff = np.empty(size, np.float32), np.empty(size, np.float32)
        keys = np.empty(size if order < len(sizes) else 0, np.int64)
        end = 0
        for words, *values in _blocks(source, order, size, numbers, table):
            here = slice(end, end := end + len(words))
            beginnings, hashes = np.empty(len(words), np.int64), np.empty(len(words), np.int64)
            hash_ngrams(words, beginnings, hashes)
            keys[here] = hashes[: len(keys)]
            if order > 2:
                find_rows(beginnings, rows, beginning[here])
            else:
                beginning[here] = words[:, 0]
            if (beginning[here] < 0).any():
                lacking = " ".join(vocabulary.words[number] for number in words[beginning[here].argmin(), :-1])
                raise ModelError(f"{source.path}: has n-grams that begin with {lacking!r}, but not that n-gram")
            last[here], log10[here], backoff[here] = words[:, -1], *values
        rows = np.zeros((1 << (3 * len(keys) // 2).bit_length(), 2), np.int64)
        fill_rows(keys, rows)
        yield ArpaOrder(beginning, last, log10, backoff)
    _expect(source, b"\\end\\")


def _blocks(
    source: _Text, order: int, size: int, numbers: dict[bytes, int], table: LongArray | None = None
) -> Iterator[Block]:
    """The n-grams of a section: (n, order) words by number, (n) log10 p, (n) log10 back-off."""
    left = size
    while left > 0:
        if not source.more():
            raise source.error(f"cut short: {size - left} {order}-grams found, {size} promised in the header")
        block = None if table is None else _common_lines(source, order, min(LINES_A_BLOCK, left), table)
        if block is None or not len(block[1]):
            block = _plain_lines(source, order, min(PLAIN_LINES if order > 1 else LINES_A_BLOCK, left), numbers)
        left -= len(block[1])
        yield block


def _common_lines(source: _Text, order: int, size: int, table: LongArray) -> Block:
    """The n-grams of the lines that come before the first uncommon one, at most `size`."""
    words, log10, backoff = np.empty((size, order), np.int32), np.empty(size, np.float32), np.empty(size, np.float32)
    rows, source.at, lines = fill_lines(source.bytes, source.at, table, words, log10, backoff)
    source.number += lines
    return words[:rows], log10[:rows], backoff[:rows]


def _plain_lines(source: _Text, order: int, size: int, numbers: dict[bytes, int]) -> Block:
    """The n-grams of at most `size` lines in any form; the words of 1-grams get numbers."""
    lines = source.block(size)
    source.number -= len(lines)
    rows = []
    for line in lines:
        source.number += 1
        if line.startswith(b"\\"):
            shown = line.decode(errors="replace")
            raise source.error(f"fewer {order}-grams than promised in the header: found {shown!r}")
        if line:
            try:
                rows.append(parse_line(line, order, numbers))
            except ValueError as error:
                raise source.error(str(error)) from None
    words, *values = zip(*rows, strict=True) if rows else ((), (), ())
    log10, backoff = (np.where(np.isneginf(column), LOG_ZERO, column).astype(np.float64) for column in values)
    return np.array(words, np.int32).reshape(-1, order), log10, backoff


def parse_line(line: bytes, order: int, numbers: dict[bytes, int]) -> tuple[list[int], float, float]:
    """The words by number, log10 p and log10 back-off of a line. Raises ValueError with the message for another one."""
    log10, *words = line.split()[: order + 1]
    rest = line.split()[order + 1 :]
    if order == 1 and words:
        words = [UNKNOWN_WORD if words[0] == CAPITAL_UNK else words[0]]
        numbers.setdefault(words[0], len(numbers))
    if len(words) == order and len(rest) <= 1:
        if unknown := [word for word in words if word not in numbers]:
            raise ValueError(f"{unknown[0].decode(errors='replace')!r} is not among the 1-grams")
        with suppress(ValueError):
            value, weight = float(log10), float(rest[0]) if rest else 0.0
            if value <= 0 and weight < np.inf:
                return [numbers[word] for word in words], value, weight
    raise ValueError(f"expected 'log10 {'word ' * order}[back-off]', found {line.decode(errors='replace')!r}")


def _all_words(blocks: list[Block], vocabulary: Vocabulary, path: str) -> ArpaOrder:
    """The 1-grams by number, including those that the file lacks. Raises ModelError for one that is there twice."""
    words, values, weights = (np.concatenate(part) for part in zip(*blocks, strict=True))
    times = np.bincount(words[:, 0], minlength=len(vocabulary))
    if times.max() > 1:
        raise ModelError(f"{path}: has the 1-gram {vocabulary.words[int(times.argmax())]!r} twice")
    log10, backoff = np.full(len(vocabulary), LOG_ZERO, np.float32), np.zeros(len(vocabulary), np.float32)
    log10[UNK] = MISSING_UNK
    log10[words[:, 0]], backoff[words[:, 0]] = values, weights
    return ArpaOrder(np.zeros(len(vocabulary), np.int32), np.arange(len(vocabulary), dtype=np.int32), log10, backoff)
