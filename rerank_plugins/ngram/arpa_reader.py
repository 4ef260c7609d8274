"""Reads ARPA files into arrays of word numbers and log10 values, all of which are kept.

Fields may be separated by tabs or spaces, back-off weights may be missing, and `-inf` is log10 of 0 (-99). Words are
separated by ASCII white space, and `<UNK>` is `<unk>`, as in KenLM. The usual lines are parsed by a compiled loop
(arpa_lines.py).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import IntArray, LongArray, ModelError
from rerank_plugins.kit.backoff.scoring import LN10
from rerank_plugins.kit.backoff.tables import LOG_ZERO
from rerank_plugins.kit.vocabulary.word_hash import hash_table
from rerank_plugins.kit.vocabulary.word_numbers import SPECIAL, UNK, Vocabulary
from rerank_plugins.ngram.arpa_files import open_arpa
from rerank_plugins.ngram.arpa_lines import BLANKS, fill_lines

PIECE = 1 << 22  # bytes read at a time
MOST, HIGHEST = (1 << 31) - 1, 7  # n-grams; words of one, whose context is an event of kit/backoff/events.py
UNKNOWN, FORMER_UNK = SPECIAL[UNK].encode(), b"<UNK>"
MISSING_UNK = -100.0  # KenLM's log10 p of an unknown word where the file has no <unk>
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ArpaOrder:
    """The n-grams of one order: (n, order) words by number, (n) log10 p, (n) log10 back-off (0 if absent).

    They are in the order of the file; the 1-grams that `read_arpa` gives are in that of the vocabulary.
    """

    words: IntArray
    log10: NDArray[np.floating]
    backoff: NDArray[np.floating]


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

    def line(self) -> bytes:
        """The next line, stripped, where there is one."""
        end = self._text.index(b"\n", self.at)
        line = self._text[self.at : end].strip()
        self.at, self.number = end + 1, self.number + 1
        return line

    def __iter__(self) -> Iterator[bytes]:
        while self.more():
            if line := self.line():
                yield line

    def error(self, message: str) -> ModelError:
        return ModelError(f"{self.path}:{self.number}: {message}")


def read_arpa(stream: IO[bytes], path: str) -> tuple[Vocabulary, list[ArpaOrder]]:
    """The vocabulary, and the n-grams of orders 1 … n.

    Special words that the file lacks are added: `<unk>` with log10 p -100 as in KenLM, `<s>` and `</s>` with -99.
    Raises ModelError naming the line for a file that is not ARPA, is cut short, or has another number of n-grams than
    its header promises; MemoryError for too many n-grams.
    """
    source = _Text(stream, path)
    sizes = _header(source)
    numbers: dict[bytes, int] = {word.encode(): number for number, word in enumerate(SPECIAL)}
    unigrams = _section(source, 1, sizes[0], numbers)
    vocabulary = Vocabulary(tuple(word.decode(errors="backslashreplace") for word in numbers))
    foreign = [word for word, text in zip(numbers, vocabulary.words, strict=True) if word != text.encode()]
    if foreign:
        logger.warning("%s: %d words are not UTF-8 and match no text, %r first", path, len(foreign), foreign[0])
    orders = [_all_words(unigrams, vocabulary, path)]
    table = hash_table((*vocabulary.words, FORMER_UNK.decode()), 0)
    table[table[:, 1] == len(vocabulary), 1] = numbers[FORMER_UNK] = UNK
    for order, size in enumerate(sizes[1:], 2):
        _expect(source, b"\\%d-grams:" % order)
        orders.append(_section(source, order, size, numbers, table))
    _expect(source, b"\\end\\")
    return vocabulary, orders


def read_unigrams(path: Path) -> dict[str, float]:
    """Ln p of the 1-grams of an ARPA file, plain or compressed; nothing after them is read.

    An `<unk>` that the file lacks is added, with log10 p -100. Raises ModelError as `read_arpa` does.
    """
    with open_arpa(path) as stream:
        source, numbers = _Text(stream, str(path)), dict[bytes, int]()
        size = _header(source)[0]
        unigrams = _section(source, 1, size, numbers)
        if not next(iter(source), b"").startswith(b"\\"):
            raise source.error(f"cut short, or more than the {size} 1-grams that are promised in the header")
    table = {SPECIAL[UNK]: LN10 * MISSING_UNK}
    words = [word.decode(errors="backslashreplace") for word in numbers]
    pairs = zip(unigrams.words[:, 0].tolist(), unigrams.log10.tolist(), strict=True)
    return table | {words[i]: LN10 * value for i, value in pairs}


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
    if sum(sizes) > MOST:
        raise source.error(f"the header promises {sum(sizes)} n-grams, wanted at most {MOST}")
    while len(sizes) > 1 and sizes[-1] == 0:
        sizes.pop()
    if len(sizes) > HIGHEST:
        raise source.error(f"the header promises {len(sizes)}-grams, wanted n-grams of at most {HIGHEST} words")
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


def _section(
    source: _Text, order: int, size: int, numbers: dict[bytes, int], table: LongArray | None = None
) -> ArpaOrder:
    """The n-grams of a section; the words of 1-grams, which have no hash table, get numbers."""
    words = np.empty((size, order), np.int32)
    log10, backoff = np.empty((2, size), np.float64 if table is None else np.float32)
    row = 0
    while row < size:
        if not source.more():
            raise source.error(f"cut short: {row} {order}-grams found, {size} promised in the header")
        # The lines up to the first uncommon one, and that line.
        if table is not None:
            rows, source.at, lines = fill_lines(source.bytes, source.at, table, words[row:], log10[row:], backoff[row:])
            row, source.number = row + rows, source.number + lines
        if row < size and source.at < len(source.bytes) and (line := source.line()):
            if line.startswith(b"\\"):
                shown = line.decode(errors="replace")
                raise source.error(f"fewer {order}-grams than promised in the header: found {shown!r}")
            try:
                words[row], log10[row], backoff[row] = parse_line(line, order, numbers)
            except ValueError as error:
                raise source.error(str(error)) from None
            row += 1
    return ArpaOrder(words, log10, backoff)


def parse_line(line: bytes, order: int, numbers: dict[bytes, int]) -> tuple[list[int], float, float]:
    """The words by number, log10 p and log10 back-off of a line. Raises ValueError with the message for another one."""
    log10, *words = line.split()[: order + 1]
    rest = line.split()[order + 1 :]
    if order == 1 and words:
        words = [UNKNOWN if words[0] == FORMER_UNK else words[0]]
        numbers.setdefault(words[0], len(numbers))
    if len(words) == order and len(rest) <= 1:
        if unknown := [word for word in words if word not in numbers]:
            raise ValueError(f"{unknown[0].decode(errors='replace')!r} is not among the 1-grams")
        with suppress(ValueError):
            value, weight = (LOG_ZERO if float(text) == -np.inf else float(text) for text in (log10, *rest, b"0")[:2])
            if value <= 0 and weight < np.inf:
                return [numbers[word] for word in words], value, weight
    raise ValueError(f"expected 'log10 {'word ' * order}[back-off]', found {line.decode(errors='replace')!r}")


def _all_words(unigrams: ArpaOrder, vocabulary: Vocabulary, path: str) -> ArpaOrder:
    """The 1-grams by number, including those that the file lacks. Raises ModelError for one that is there twice."""
    numbers = np.arange(len(vocabulary), dtype=np.int32)[:, None]
    times = np.bincount(unigrams.words[:, 0], minlength=len(vocabulary))
    if times.max() > 1:
        raise ModelError(f"{path}: has the 1-gram {vocabulary.words[int(times.argmax())]!r} twice")
    log10, backoff = np.full(len(vocabulary), LOG_ZERO, np.float32), np.zeros(len(vocabulary), np.float32)
    log10[UNK] = MISSING_UNK
    log10[unigrams.words[:, 0]], backoff[unigrams.words[:, 0]] = unigrams.log10, unigrams.backoff
    return ArpaOrder(numbers, log10, backoff)
