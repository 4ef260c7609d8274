"""NIST's transcripts, with alternatives, optional words and the empty word.

    i've { um / uh / @ } as far (as) i'm concerned

One alternative between braces counts, the one that is closest to the hypothesis; alternatives may hold alternatives.
`@` is not a word. A word in brackets may be missing (sclite -D). Of `word;tag;tag` the word counts, and an asterisk
at the end of a word is not part of it. These are the rules of sclite (SCTK 2.4.10) for references in STM and trn form.

A transcript with such signs is a `Transcript`, which the aligner of `metrics/word_networks.py` reads piece by piece. A
brace or a slash of any other text is a character like the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from itertools import groupby, pairwise

GAP = re.compile(r"[ \t\n\v\f\r]+")  # between words, for sclite: the white space of ASCII
PIECES = re.compile(r"[{}]|[^ \t\n\v\f\r{}]+")
GLUED = re.compile(r"[^ \t\n\v\f\r{/]\{")


class Sign(Enum):
    """A sign of the markup, with its spelling; `OPTIONAL` and `END` are around a word that may be missing."""

    OPEN, OR, CLOSE, EMPTY, OPTIONAL, END = "{/}@()"


Piece = str | Sign


class Transcript(str):
    """A text with alternatives or optional words: its words and signs, in order. As a `str` it is spelt as NIST does.

    It equals transcripts with the same pieces alone, never a plain text of the same spelling.
    """

    __slots__ = ("pieces",)
    pieces: tuple[Piece, ...]

    def __new__(cls, pieces: Iterable[Piece]) -> Transcript:
        """A transcript of these pieces."""
        pieces = tuple(pieces)
        spelt = " ".join(piece.value if isinstance(piece, Sign) else piece for piece in pieces)
        made = super().__new__(cls, re.sub(r"\( (\S+) \)", r"(\1)", spelt))
        made.pieces = pieces
        return made

    def __eq__(self, other: object) -> bool:
        """Whether the other is a transcript with the same pieces."""
        return isinstance(other, Transcript) and self.pieces == other.pieces

    def __ne__(self, other: object) -> bool:
        """Whether it is not."""
        return not self == other

    def __hash__(self) -> int:
        """The hash of the pieces."""
        return hash(self.pieces)

    def __reduce__(self) -> tuple[type[Transcript], tuple[tuple[Piece, ...]]]:
        """How it is copied and pickled."""
        return Transcript, (self.pieces,)


def text_of(pieces: Iterable[Piece]) -> str:
    """The text of some pieces: a `Transcript` if a sign is among them."""
    pieces = tuple(pieces)
    words = [piece for piece in pieces if isinstance(piece, str)]
    return " ".join(words) if len(words) == len(pieces) else Transcript(pieces)


def pieces_of(text: str) -> Sequence[Piece]:
    """The words and signs of a transcript; of any other text the words between white space."""
    return text.pieces if isinstance(text, Transcript) else text.split()


def reference_text(transcript: str) -> str:
    """The text of a reference, with single spaces between words.

    Raises ValueError, with the text found and the form expected, for braces that are not in pairs, alternatives without
    words, and a brace inside a word.
    """
    if "{" not in transcript and "}" not in transcript:
        return text_of(piece for word in GAP.split(transcript) if word for piece in _word(word))
    if glued := GLUED.search(transcript):
        raise ValueError(f"found {glued[0]!r}: a space is wanted before a brace")
    pieces: list[Piece] = []
    depth = 0
    for text in PIECES.findall(transcript):
        if text in "{}":
            depth += 1 if text == "{" else -1
            pieces.append(Sign(text))
            if depth < 0:
                raise ValueError("found } without { before it")
        elif depth:
            parts = [part for part in re.split("(/)", text) if part]
            pieces += [piece for part in parts for piece in ([Sign.OR] if part == "/" else _word(part))]
        else:
            pieces += _word(text)
    if depth:
        raise ValueError("found { without } after it")
    for before, after in pairwise(pieces):
        if before in (Sign.OPEN, Sign.OR) and after in (Sign.OR, Sign.CLOSE):
            raise ValueError("found an alternative without words: the empty one is written @")
    return text_of(pieces)


def hypothesis_text(transcript: str) -> str:
    """The output of a recogniser: `@` is left out, and alternatives raise ValueError."""
    text = reference_text(transcript)
    if not isinstance(text, Transcript):
        return text
    if Sign.OPEN in text.pieces:
        raise ValueError("found alternatives { / } in the output of a system, expected them in references alone")
    return text_of(piece for piece in text.pieces if piece is not Sign.EMPTY)


def _word(text: str) -> list[Piece]:
    """A word without tags and asterisk, between signs where it may be missing."""
    if text == "@":
        return [Sign.EMPTY]
    text = re.split(r"(?<=[^\\]);", text, maxsplit=1)[0] or text
    text = text[:-1] if len(text) > 1 and text.endswith("*") else text
    optional = len(text) > 2 and text[0] == "(" and text[-1] == ")"
    return [Sign.OPTIONAL, text[1:-1], Sign.END] if optional else [text]


def first_alternative(text: str) -> str:
    """The text with the first of all alternatives and with its optional words."""
    if not isinstance(text, Transcript):
        return text
    words: list[str] = []
    later: list[bool] = []  # for each brace that is open, whether its first alternative has ended
    for piece in text.pieces:
        if piece is Sign.OPEN:
            later.append(False)
        elif piece is Sign.CLOSE:
            later.pop()
        elif piece is Sign.OR:
            later[-1] = True
        elif isinstance(piece, str) and not any(later):
            words.append(piece)
    return " ".join(words)


def change_words(texts: Sequence[str], change: Callable[[list[str]], list[str]]) -> list[str]:
    """The texts with their words changed, such as by a pipeline of text steps; the signs of transcripts stay.

    Raises ValueError where the words of a transcript would be changed in another way if they came without signs, since
    the change depends on the context.
    """
    split = [_runs(text) for text in texts]
    runs = [run for pieces in split for run in pieces if isinstance(run, str)]
    changed = iter(change(runs))
    together = change([" ".join(run for run in pieces if isinstance(run, str)) for pieces in split])
    results = []
    for text, pieces, whole in zip(texts, split, together, strict=True):
        new: list[Piece] = [piece if isinstance(piece, Sign) else next(changed) for piece in pieces]
        if not isinstance(text, Transcript):
            results.append(str(new[0]))
            continue
        words = [word for run in new if isinstance(run, str) for word in run.split()]
        if words != whole.split():
            raise ValueError("a text step changes words by their context, which alternatives { / } do not have")
        results.append(text_of(w for run in new for w in ([run] if isinstance(run, Sign) else run.split())))
    return results


def _runs(text: str) -> list[Piece]:
    """The signs of a transcript, and the runs of words between them; any other text is one run."""
    if not isinstance(text, Transcript):
        return [text]
    groups = groupby(text.pieces, lambda piece: isinstance(piece, str))
    return [piece for words, run in groups for piece in ([" ".join(map(str, run))] if words else run)]
