"""The tokens of each of a caller's words, where a text step has split the text into tokens of its own.

Tokens and words have the same characters but for the marks that a tokeniser writes in another way: `"` becomes two
backquotes or two apostrophes, `(` may be -LRB-, and … is three dots. The words are read from left to right, each as far
as its own characters go: linear time.
"""

from __future__ import annotations

from collections.abc import Sequence

from rerank_plugins import ConfigError
from rerank_plugins.core.brackets_and_quotes import PLAIN

CHARACTERS = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "ʼ": "'", "…": "..."})


def spans_of(tokens: Sequence[str], words: Sequence[str], where: str) -> list[tuple[int, int]]:
    """The first token of each word, and the one after its last.

    Raises ConfigError, which begins with `where`, for a token that lies in two words, and where the characters differ.

    >>> spans_of(["``", "do", "n't", "go", "''", "."], ['"don’t', 'go".'], "words[0]")
    [(0, 3), (3, 6)]
    """
    if isinstance(words, str):
        raise TypeError(f"{where}: wanted a sequence of words, found the text {words!r:.60}")
    spans, token = [], 0
    for word in words:
        begin, rest = token, _in_one_spelling(word)
        while rest and token < len(tokens):
            start = _in_one_spelling(tokens[token])
            if not rest.startswith(start):
                raise ConfigError(f"{where}: the token {tokens[token]!r} is not in the word {word!r}, or not whole")
            rest, token = rest.removeprefix(start), token + 1
        if rest or begin == token:
            raise ConfigError(f"{where}: the text has no tokens of the word {word!r}")
        spans.append((begin, token))
    if token < len(tokens):
        raise ConfigError(f"{where}: the token {tokens[token]!r} of the text is in none of the words")
    return spans


def _in_one_spelling(word: str) -> str:
    """The characters of a word or token, quotation marks and brackets in one spelling."""
    return PLAIN.get(word, word).translate(CHARACTERS).replace("``", '"').replace("''", '"')
