"""The markup of NIST's transcripts: alternatives, optional words, and the empty word.

    i've { um / uh / @ } as far (as) i'm concerned

One alternative between braces counts, the one that is closest to the hypothesis; alternatives may hold alternatives.
`@` is not a word. A word in brackets may be missing (sclite -D). Of `word;tag;tag` the word counts, and an asterisk
at the end of a word is not part of it. These are the rules of sclite (SCTK 2.4.10) for references in STM and trn form.

A transcript that was read is text again, in which the mark U+FDD0, a code point that no text holds, stands before each
sign of the markup. So a brace or a slash of another text is never taken for markup, and a metric that does not know
alternatives can be told from one that does: `is_marked` shows that a text needs `metrics/word_networks.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

MARK = "\ufdd0"  # a noncharacter of Unicode, for internal use
OPEN, OR, CLOSE, EMPTY = (MARK + sign for sign in "{/}@")
OPTIONAL, END = (MARK + sign for sign in "()")  # around a word that may be missing
SIGNS = (OPEN, OR, CLOSE, EMPTY, OPTIONAL, END)
PIECES = re.compile(r"[{}]|[^\s{}]+")
GLUED = re.compile(r"[^\s{/]\{")


def reference_text(transcript: str) -> str:
    """A transcript with its markup marked, and single spaces between words.

    Raises ValueError, with the text found and the form expected, for braces that are not in pairs, alternatives without
    words, and a brace inside a word.
    """
    if "{" not in transcript and "}" not in transcript:
        return " ".join(piece for word in transcript.split() for piece in _word(word))
    if glued := GLUED.search(transcript):
        raise ValueError(f"found {glued[0]!r}: a space is wanted before a brace")
    pieces: list[str] = []
    depth = 0
    for text in PIECES.findall(transcript):
        if text in "{}":
            depth += 1 if text == "{" else -1
            pieces.append(MARK + text)
            if depth < 0:
                raise ValueError("found } without { before it")
        elif depth:
            parts = [part for part in re.split("(/)", text) if part]
            pieces += [piece for part in parts for piece in ([OR] if part == "/" else _word(part))]
        else:
            pieces += _word(text)
    if depth:
        raise ValueError("found { without } after it")
    for before, after in pairwise(pieces):
        if before in (OPEN, OR) and after in (OR, CLOSE):
            raise ValueError("found an alternative without words: the empty one is written @")
    return " ".join(pieces)


def hypothesis_text(transcript: str) -> str:
    """The output of a recogniser: optional words are marked, `@` is left out, and alternatives raise ValueError."""
    text = reference_text(transcript)
    if OPEN in text:
        raise ValueError("found alternatives { / } in the output of a system, expected them in references alone")
    return " ".join(word for word in text.split() if word != EMPTY)


def _word(text: str) -> list[str]:
    """A word without tags and asterisk, between marks where it may be missing."""
    if text == "@":
        return [EMPTY]
    text = re.split(r"(?<=[^\\]);", text, maxsplit=1)[0] or text
    text = text[:-1] if len(text) > 1 and text.endswith("*") else text
    return [OPTIONAL, text[1:-1], END] if len(text) > 2 and text[0] == "(" and text[-1] == ")" else [text]


def is_marked(text: str) -> bool:
    """Whether a text has alternatives or optional words."""
    return MARK in text


def shown(text: str) -> str:
    """The text as NIST writes it: `{ um / @ } so (uh)`."""
    return text.replace(f"{OPTIONAL} ", "(").replace(f" {END}", ")").replace(MARK, "") if MARK in text else text


def first_alternative(text: str) -> str:
    """The text with the first of all alternatives and with its optional words."""
    if MARK not in text:
        return text
    words: list[str] = []
    later: list[bool] = []  # for each brace that is open, whether its first alternative has ended
    for piece in text.split():
        if piece == OPEN:
            later.append(False)
        elif piece == CLOSE:
            later.pop()
        elif piece == OR:
            later[-1] = True
        elif not any(later) and piece not in SIGNS:
            words.append(piece)
    return " ".join(words)


def through_runs(texts: Sequence[str], change: Callable[[list[str]], list[str]]) -> list[str]:
    """The texts with the words between marks changed, run by run, such as by a pipeline of text steps.

    Raises ValueError where the words of a text would be changed in another way if they came without marks, since the
    change depends on the context.
    """
    split = [list(_runs(text)) for text in texts]
    runs = [" ".join(run) for pieces in split for run in pieces if run[0] not in SIGNS]
    changed = change(runs)
    together = change([" ".join(w for run in pieces if run[0] not in SIGNS for w in run) for pieces in split])
    results, start = [], 0
    for pieces, whole in zip(split, together, strict=True):
        count = sum(run[0] not in SIGNS for run in pieces)
        own = iter(changed[start : start + count])
        if " ".join(" ".join(changed[start : start + count]).split()) != " ".join(whole.split()):
            raise ValueError("a text step changes words by their context, which alternatives { / } do not have")
        results.append(" ".join(run[0] if run[0] in SIGNS else next(own) for run in pieces))
        start += count
    return results


def _runs(text: str) -> Iterator[list[str]]:
    """The signs of a marked text, each alone, and the runs of words between them."""
    run: list[str] = []
    for piece in text.split():
        if piece in SIGNS:
            if run:
                yield run
            yield [piece]
            run = []
        else:
            run.append(piece)
    if run:
        yield run
