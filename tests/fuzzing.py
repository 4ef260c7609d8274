"""Damaged and hostile files: mutations of good ones, and a guard that calls a reader with bounded time and memory."""

import bz2
import gzip
import json
import lzma
import re
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import zstandard

from rerank_plugins.core.errors import RerankError
from rerank_plugins.core.files import add_checksums, checked
from rerank_plugins.kit.files.model_file import ALIGNMENT, MAGIC

SECONDS = 10.0  # of CPU time for one file of some kilobytes; a kernel that is not in the cache is compiled within it
MEMORY = 1 << 30  # bytes beyond what the process has
TOKENS = (
    "", "0", "-1", "-0", "1", "2147483648", "9223372036854775808", "-9223372036854775809", "1e999", "-1e999", "1e-999", "nan",
    "inf", "-inf", "NaN", "Infinity", "9" * 400, "9" * 5000, "0x10", "1_000", "1.5", "²", "９", "½", "٣", "null", "true", "[]",
    "{}", '"', "\\", "'", "(", ")", "[", "{", "|||", "\t", "\r", "\x00", "\x0b", "\x85", "\u2028", "\ufeff", "\ud7ff", "𝒳",
    "%s", "{0}", "../..", "/", "-", "_", "=", ":", "#", "<unk>", "</s>", "\\end\\", "ngram 1=99999999999", "x" * 20_000,
)  # fmt: skip
NESTED = ("[", "(", "{", '{"a":', "(X ", "[[", "a.", "x=[", "((")
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


class Hanging(BaseException):
    """A reader has used up its time."""


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """The content with one to three random changes: of bits, bytes, lines, numbers, nesting, encoding or compression."""
    for _ in range(int(rng.integers(1, 4))):
        content = CHANGES[int(rng.integers(len(CHANGES)))](content, rng)
    return content


def _place(content: bytes, rng: np.random.Generator) -> int:
    return int(rng.integers(len(content) + 1))


def _flipped(content: bytes, rng: np.random.Generator) -> bytes:
    if not content:
        return content
    changed = bytearray(content)
    for place in rng.integers(len(content), size=int(rng.integers(1, 6))):
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: _place(content, rng)]


def _without_a_part(content: bytes, rng: np.random.Generator) -> bytes:
    begin, end = sorted((_place(content, rng), _place(content, rng)))
    return content[:begin] + content[min(end, begin + 50) :]


def _with_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    place = _place(content, rng)
    return content[:place] + rng.bytes(int(rng.integers(1, 9))) + content[place:]


def _with_a_token(content: bytes, rng: np.random.Generator) -> bytes:
    place = _place(content, rng)
    return content[:place] + _token(rng) + content[place:]


def _token(rng: np.random.Generator) -> bytes:
    return TOKENS[int(rng.integers(len(TOKENS)))].encode()


def _other_number(content: bytes, rng: np.random.Generator) -> bytes:
    numbers = list(NUMBER.finditer(content[:50_000]))
    if not numbers:
        return content
    number = numbers[int(rng.integers(len(numbers)))]
    return content[: number.start()] + _token(rng) + content[number.end() :]


def _other_word(content: bytes, rng: np.random.Generator) -> bytes:
    words = list(re.finditer(rb"[^\s,:\t\"]+", content[:50_000]))
    if not words:
        return content
    word = words[int(rng.integers(len(words)))]
    return content[: word.start()] + _token(rng) + content[word.end() :]


def _other_lines(content: bytes, rng: np.random.Generator) -> bytes:
    lines = content.splitlines(keepends=True)
    if not lines:
        return b"\n" * int(rng.integers(3))
    one, other = rng.integers(len(lines), size=2).tolist()
    kind = int(rng.integers(5))
    if kind == 0:
        lines.insert(one, lines[other])
    elif kind == 1:
        del lines[one]
    elif kind == 2:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 3:
        lines[one] = lines[one].rstrip(b"\r\n")
    else:
        lines.insert(one, (b"\n", b"\r\n", b" \n", b"\t\t\t\n")[int(rng.integers(4))])
    return b"".join(lines)


def _nested(content: bytes, rng: np.random.Generator) -> bytes:
    bracket = NESTED[int(rng.integers(len(NESTED)))].encode()
    place = _place(content, rng) if rng.integers(2) else 0
    return content[:place] + bracket * 30_000 + content[place:]


def _other_encoding(content: bytes, rng: np.random.Generator) -> bytes:
    text = content.decode(errors="replace")
    kind = int(rng.integers(4))
    if kind == 0:
        return b"\xef\xbb\xbf" + content
    return text.encode(("utf-16", "latin-1", "utf-7")[kind - 1], errors="replace")


def _compressed(content: bytes, rng: np.random.Generator) -> bytes:
    compress: tuple[Callable[[bytes], bytes], ...] = (
        gzip.compress, lambda text: lzma.compress(text, preset=0), bz2.compress, zstandard.ZstdCompressor(1).compress,
    )  # fmt: skip
    whole = compress[int(rng.integers(len(compress)))](content[: 1 << 20])
    return (whole, _cut(whole, rng), _flipped(whole, rng), whole + whole)[int(rng.integers(4))]


def _nothing(content: bytes, rng: np.random.Generator) -> bytes:
    return (b"", b"\n", b"\0", b" ")[int(rng.integers(4))]


CHANGES = (
    _flipped, _flipped, _cut, _without_a_part, _with_bytes, _with_a_token, _with_a_token, _other_number, _other_number,
    _other_number, _other_word, _other_word, _other_lines, _other_lines, _nested, _other_encoding, _compressed, _nothing,
)  # fmt: skip


def forged(content: bytes, rng: np.random.Generator, folder: Path) -> bytes:
    """A model file (kit/files/model_file.py) whose header or arrays are changed and whose checksums fit all the same."""
    path = folder / "forged"
    whole = checked(np.frombuffer(content, np.uint8))
    assert whole is not None
    plain = whole.tobytes()
    if is_packed := not plain.startswith(MAGIC):
        plain = zstandard.ZstdDecompressor().decompress(plain)
    length = int.from_bytes(plain[12:16], "little")
    header, arrays = plain[16 : 16 + length], plain[16 + length :]
    if rng.integers(4) == 0:
        arrays = _flipped(arrays, rng)
    elif rng.integers(5) == 0:
        header = mutated(header.rstrip(), rng)[: 1 << 20]
    else:
        document = json.loads(header)
        _change_inside(document, rng)
        header = json.dumps(document).encode()
    header += b" " * (-(16 + len(header)) % ALIGNMENT)
    plain = plain[:12] + len(header).to_bytes(4, "little") + header + arrays
    path.write_bytes(zstandard.ZstdCompressor(1).compress(plain) if is_packed else plain)
    add_checksums(path)
    return path.read_bytes()


VALUES = (None, True, -1, 0, 1, 2**31, 2**63, 10**400, 1.5, float("nan"), float("inf"), "", "x", "nan", "<f8", "O", [], {}, [[]],
          {"x": 1}, [1, 2, 3], "|V0", "<U9", "<i1", [0], [-1], [2**62, 4])  # fmt: skip


def _change_inside(document: object, rng: np.random.Generator) -> None:
    """Replace, remove or repeat a value somewhere in JSON, each depth being equally likely."""
    levels: list[list[tuple[dict | list, object]]] = []  # type: ignore[type-arg]
    here: list[object] = [document]
    while here:
        level = [
            (inner, key)
            for inner in here
            if isinstance(inner, dict | list)
            for key in (inner if isinstance(inner, dict) else range(len(inner)))
        ]
        if level:
            levels.append(level)
        here = [inner[key] for inner, key in level]  # type: ignore[index]
    level = levels[int(rng.integers(len(levels)))]
    inner, key = level[int(rng.integers(len(level)))]
    kind = int(rng.integers(5))
    if kind == 0:
        del inner[key]  # type: ignore[arg-type]
    elif kind == 1 and isinstance(inner, list):
        inner.append(inner[key])  # type: ignore[call-overload]
    else:
        inner[key] = VALUES[int(rng.integers(len(VALUES)))]  # type: ignore[index]


def said(read: Callable[[], object]) -> str | None:
    """What a reader says of a file: None if it accepts it, otherwise its error, which must be the program's own.

    Any other error, an error of several lines, more than SECONDS of CPU time and more than MEMORY fail the test.
    """
    message = None
    try:
        with bounded():
            read()
    except RerankError as error:
        message = str(error)
    except Hanging:
        raise AssertionError(f"more than {SECONDS} s of CPU time") from None
    if message is not None:
        assert message.strip(), "an error without a message"
        assert len(message.splitlines()) == 1, f"an error of several lines: {message!r}"
        assert len(message) < 2000, f"an error of {len(message):,} characters: {message[:200]!r}"
    return message


@contextmanager
def bounded(seconds: float = SECONDS, memory: int = MEMORY) -> Iterator[None]:
    """In the block, CPU time beyond `seconds` raises Hanging, and `memory` (bytes) beyond what is there MemoryError."""

    def stop(number: int, frame: object) -> None:
        raise Hanging

    limits = resource.getrlimit(resource.RLIMIT_AS)
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    resource.setrlimit(resource.RLIMIT_AS, (mapped + memory, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
