"""Converts plain English text to Penn Treebank tokens (`did n't`, `-LRB-`), and such tokens back to plain characters.

The rules are those of the treebank's published sed script: quotes are directed, clitics split, brackets named, and only
the last full stop is split off. Curly quotation marks and apostrophes are read as those of a keyboard, and an ellipsis
as three full stops. Sentences are not split, so abbreviations within a line keep their full stops. Linear time.
"""

from __future__ import annotations

import re

from rerank_plugins.core.brackets_and_quotes import BRACKETS
from rerank_plugins.core.words import split_words, straight_apostrophes

CURLY = str.maketrans({"“": " `` ", "„": " `` ", "”": " '' ", "‘": "'", "…": " ... "})
RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r'(^|[\s(\[{<])"(?=\S)', r"\1 `` "),  # an opening quote
        (r'(?<=\S)"', " '' "),  # but not one that is a token already, which may open or close
        (r"\.\.\.", " ... "),
        (r"([,:])([^\d])", r" \1 \2"),  # but not 3,000 or 10:30
        (r"([,:])$", r" \1"),
        (r"([;@#$%&?!])", r" \1 "),
        (r"([^.\s])(\.)((?:\s|''|[\])}>])*)$", r"\1 \2 \3"),  # the last full stop
        (r"([\[\](){}<>])", r" \1 "),
        (r"--+", r" \g<0> "),
        (r"(^|\s)'(?!\s|$|'|(?:s|m|d|ll|re|ve|em|tis|twas)\b)", r"\1` "),
        (r"([^\s'])'(?=\s|$)", r"\1 '"),
        (r"(?i)([^\s])('(?:s|m|d|ll|re|ve))(?=\s|$)", r"\1 \2"),
        (r"(?i)([^\s])(n't)(?=\s|$)", r"\1 \2"),
        (r"(?i)\b(can)(not)\b", r"\1 \2"),
        (r"(?i)\b(gim|lem)(me)\b", r"\1 \2"),
        (r"(?i)\b(gon|wan)(na)\b", r"\1 \2"),
        (r"(?i)\b(got)(ta)\b", r"\1 \2"),
        (r"(?i)(^|\s)('t)(is|was)\b", r"\1\2 \3"),
    )
)


def penn_tokenize(text: str) -> str:
    """Convert plain English text to Penn tokens; text that already consists of them stays as it is.

    >>> penn_tokenize("I can't (yet)."), penn_tokenize("“So it’s,” he said")
    ("I ca n't -LRB- yet -RRB- .", "`` So it 's , '' he said")
    """
    if not text.isascii():
        text = straight_apostrophes(text).translate(CURLY)
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    tokens = " ".join(split_words(text))
    for name, character in BRACKETS.items():
        tokens = tokens.replace(character, name)
    return tokens


def penn_unescape(text: str) -> str:
    """Convert named brackets and directed quotes to characters and join `n't` to its verb; other tokens stay apart.

    >>> print(penn_unescape("`` I ca n't '' -LRB- he said -RRB-"))
    " I can't " ( he said )
    """
    for name, character in BRACKETS.items():
        text = text.replace(name, character).replace(name.lower(), character)
    text = re.sub(r"(?i)(?<=\w) (n't)(?= |$)", r"\1", text)
    if "`" in text or "''" in text or "\\/" in text:
        text = text.replace("\\/", "/")
        quotes = {"``": '"', "''": '"', "`": "'"}
        text = " ".join(quotes.get(token, token) for token in text.split(" "))
    return text
