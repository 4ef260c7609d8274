"""Brackets and quotation marks: their names in the Penn Treebank, and the one spelling that models use.

`(`, `-LRB-` and `-lrb-` are spellings of one word, whose normal form is the character; likewise the other brackets.
Training counts normal forms, and every look-up tries the normal form first, then the other spellings. (In a table of
word frequencies of the user's, the spelling of the text is tried first.)

`` opens a quotation, '' closes it, and " does either: three words with counts of their own. Only if a vocabulary lacks
a mark is another used: " for a directed mark, and one of the directed marks for " (in a table of word frequencies, the
sum of both). The embedded dependency parser reads every quotation mark as " (dependency/biaffine/pieces.py).

An apostrophe is ', ’ or ʼ: models read texts with ' (words.py), and a vocabulary that lacks `don't` may contain
`don’t`. A curly quotation mark that a vocabulary lacks is read as the directed one.

Not normalised are the words of n-gram models (KenLM, ARPA, `rerank train ngram`), whose look-up tries the spelling of
the text first; the tokens of a sentence, over which the trees stand; and single quotation marks (` and ').
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
DIRECTED = ("``", "''")  # the opening and the closing quotation mark
PLAIN = BRACKETS | dict.fromkeys(DIRECTED, '"')

_SPELLINGS = {"``": ("``", '"'), "''": ("''", '"'), '"': ('"', "''", "``")}
_SPELLINGS |= {
    word: (character, name, name.lower())
    for name, character in BRACKETS.items()
    for word in (character, name, name.lower())
}
_SPELLINGS |= {"“": ("“", "``", '"'), "”": ("”", "''", '"'), "„": ("„", "``", '"'), "‘": ("‘", "`", "'")}
MARKS = sorted({form for forms in _SPELLINGS.values() for form in forms})  # all spellings of all marks
_APOSTROPHE = re.compile("['’ʼ]")
_NAME = re.compile(r"(?<!\S)-(?:[LR][RSC]B|[lr][rsc]b)-(?!\S)")


class Words(Protocol):
    """Anything that can be asked whether it contains a word: a language model, a model of trees, a set."""

    def __contains__(self, word: str, /) -> bool: ...


def spellings(word: str) -> tuple[str, ...]:
    """The spellings of the word that a vocabulary may contain, the normal form first.

    >>> spellings("-LRB-"), spellings("``"), spellings("dog"), spellings("it's")
    (('(', '-LRB-', '-lrb-'), ('``', '"'), ('dog',), ("it's", 'it’s', 'itʼs'))
    """
    return _SPELLINGS.get(word) or (word, *other_apostrophes(word))


def has_apostrophe(word: str) -> bool:
    """Whether the word has an apostrophe of any kind."""
    return "'" in word or "’" in word or "ʼ" in word


def other_apostrophes(word: str) -> tuple[str, ...]:
    """The word with each other kind of apostrophe; nothing for a word without any, and for a mark.

    >>> other_apostrophes("o’clock"), other_apostrophes("clock"), other_apostrophes("''")
    (("o'clock", 'oʼclock'), (), ())
    """
    if not has_apostrophe(word) or word in _SPELLINGS:
        return ()
    forms = (_APOSTROPHE.sub(apostrophe, word) for apostrophe in "'’ʼ")
    return tuple(form for form in dict.fromkeys(forms) if form != word)


def normal_form(word: str) -> str:
    """The spelling that models use: the character for the name of a bracket; any other word is unchanged.

    >>> normal_form("-RSB-"), normal_form("-rsb-"), normal_form("''"), normal_form("dog")
    (']', ']', "''", 'dog')
    """
    return spellings(word)[0]


def normal_text(text: str) -> str:
    """Tokenised text with its words in normal form; white space is unchanged.

    >>> normal_text("He -LRB- Bo -RRB-  left")
    'He ( Bo )  left'
    """
    return _NAME.sub(lambda name: normal_form(name[0]), text)


def known_spelling(word: str, vocabulary: Words, form: Callable[[str], str] = str) -> str | None:
    """The first spelling of the word that, after `form` (lower-casing, say), is in the vocabulary; None if none is.

    >>> known_spelling("-LRB-", {"("}), known_spelling("(", {"-lrb-"}), known_spelling('"', {"''"})
    ('(', '-lrb-', "''")
    """
    alternatives = _SPELLINGS.get(word)
    if alternatives is None:
        spelling = form(word)
        if spelling in vocabulary:
            return spelling
        alternatives = other_apostrophes(word)  # nearly every word has a single spelling
    return next((spelling for spelling in map(form, alternatives) if spelling in vocabulary), None)
