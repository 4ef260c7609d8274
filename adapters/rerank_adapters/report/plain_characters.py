r"""What our own characters become where the encoding of the output lacks them: `^` for ↑, `>=` for ≥.

Tables take the plain characters before they are laid out, so that columns stay straight; everything else that is
printed takes them while it is encoded. A character of the user's own text that the encoding lacks is written as its
escape (`\u4e2d`). Nothing here is about files: those are UTF-8 always.
"""

from __future__ import annotations

import codecs
import io
from functools import lru_cache
from typing import Any

PLAIN = {
    **{"↑": "^", "↓": "v", "→": "->", "←": "<-", "≥": ">=", "≤": "<=", "≠": "!=", "±": "+-", "−": "-", "×": "x"},
    **{"–": "-", "—": "-", "…": "...", "·": "*", "‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " "},
    **{"Σ": "sum", "Π": "product", "α": "alpha", "ρ": "rho", "λ": "lambda"},
}
HANDLER = "rerank-plain-characters"  # the name of the error handler of encoders
ASCII = "rerank_ascii"  # ASCII under a name of our own: click writes UTF-8 to streams that are called ASCII


def plain(text: str, encoding: str) -> str:
    """The text with the characters that the encoding lacks in plain form; those that have none stay.

    >>> plain("BLEU ↑ ±0.1 中", "latin-1")
    'BLEU ^ ±0.1 中'
    """
    if text.isascii() or not (lacking := _lacking(encoding)):
        return text
    return text.translate(lacking)


@lru_cache
def _lacking(encoding: str) -> dict[int, str]:
    found = {}
    for character, replacement in PLAIN.items():
        try:
            character.encode(encoding)
        except UnicodeEncodeError:
            found[ord(character)] = replacement
    return found


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
    """Make a text stream (stdout, stderr) write plain characters where its encoding is no Unicode one."""
    if not isinstance(stream, io.TextIOWrapper):
        return
    encoding = codecs.lookup(stream.encoding).name
    if encoding == "ascii":
        stream.reconfigure(encoding=ASCII, errors=HANDLER)
    elif not encoding.startswith("utf"):
        stream.reconfigure(errors=HANDLER)
