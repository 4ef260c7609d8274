r"""Replaces our own characters where the encoding of the output lacks them: `^` for ↑, `>=` for ≥.

In tables, characters are replaced before the columns are laid out, so that these stay straight; in all other output,
while it is encoded. A character of the user's text that the encoding lacks is written as its escape (`\u4e2d`). Files
are not affected: they are always UTF-8.
"""

from __future__ import annotations

import codecs
import io
from functools import lru_cache
from typing import Any

PLAIN = {
    **{"↑": "^", "↓": "v", "→": "->", "←": "<-", "≥": ">=", "≤": "<=", "≠": "!=", "±": "+-", "−": "-", "×": "x"},
    **{"–": "-", "—": "-", "…": "...", "█": "#", "·": "*", "‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " "},
    **{"Σ": "sum", "Π": "product", "α": "alpha", "ρ": "rho", "λ": "lambda"},
}
HANDLER = "rerank-plain-characters"  # the name of the error handler of encoders
ASCII = "rerank_ascii"  # ASCII under another name, because click writes UTF-8 to streams whose encoding is called ASCII


def plain(text: str, encoding: str) -> str:
    """The text with characters that the encoding lacks replaced by plain ones; characters without a replacement stay.

    >>> plain("BLEU ↑ ±0.1 中", "latin-1")
    'BLEU ^ ±0.1 中'
    """
    if text.isascii() or not (lacking := _lacking(encoding)):
        return text
    return text.translate(lacking)


@lru_cache
def _lacking(encoding: str) -> dict[int, str]:
    replacements = {}
    for character, replacement in PLAIN.items():
        try:
            character.encode(encoding)
        except UnicodeEncodeError:
            replacements[ord(character)] = replacement
    return replacements


def _encode_plain(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    piece = error.object[error.start : error.end]
    written = (PLAIN.get(character) or character.encode("ascii", "backslashreplace").decode() for character in piece)
    return "".join(written), error.end


def _find_codec(name: str) -> codecs.CodecInfo | None:
    if name != ASCII:
        return None
    ascii_ = codecs.lookup("ascii")
    return codecs.CodecInfo(
        ascii_.encode, ascii_.decode, incrementalencoder=ascii_.incrementalencoder,
        incrementaldecoder=ascii_.incrementaldecoder, name=ASCII,
    )  # fmt: skip


codecs.register_error(HANDLER, _encode_plain)
codecs.register(_find_codec)


def write_plainly(stream: Any) -> None:
    """Make a text stream (stdout, stderr) write plain characters if its encoding is not one of Unicode."""
    if not isinstance(stream, io.TextIOWrapper):
        return
    encoding = codecs.lookup(stream.encoding).name
    if encoding == "ascii":
        stream.reconfigure(encoding=ASCII, errors=HANDLER)
    elif not encoding.startswith("utf"):
        stream.reconfigure(errors=HANDLER)
