"""Brackets and quotation marks: the names that the Penn Treebank gives them, and the one form that models know them by.

Brackets. `(` and `-LRB-` are one word, and so is `-lrb-`, which lower-casing makes of the name; the same holds of the
other five. The normal form is the character. Training counts normal forms, and every look-up in a vocabulary, a
lexicon, a table of frequencies or a list of words tries the normal form first. A vocabulary that comes from elsewhere
may hold the names alone, and then these are found. (The word frequencies of a user's model file are looked up in the
spelling of the text first, for such a file may have two of them as two words.)

Quotation marks. `` and '' say which end of a quotation they are, and " does not, so that each of the three is a word of
its own, with its own counts: a model of directed marks would lose that difference if all of them were folded into one.
Only where a vocabulary lacks a mark does another stand for it: " for a directed mark, and one of the directed marks for
". No English model that is embedded takes a quotation mark for an unknown word. In a table of word frequencies, " has
the frequency of both directed marks together where it has none itself (language_models/unigram.py). To the embedded
dependency parser all quotation marks are " (parsers/biaffine/pieces.py).

Parsers of others, UDPipe and Stanza, read brackets in their normal form, as their treebanks have them.

Left as they are: the words of n-gram models (KenLM, ARPA, `rerank train ngram`), which are those of the user's text;
the tokens of a sentence, which trees stand over exactly; curly quotation marks; single ones (` and ').
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container

BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
DIRECTED = ("``", "''")  # quotation marks that open and close
PLAIN = BRACKETS | dict.fromkeys(DIRECTED, '"')

_SPELLINGS = {"``": ("``", '"'), "''": ("''", '"'), '"': ('"', "''", "``")}
_SPELLINGS |= {
    word: (character, name, name.lower())
    for name, character in BRACKETS.items()
    for word in (character, name, name.lower())
}
_NAME = re.compile(r"(?<!\S)-(?:[LR][RSC]B|[lr][rsc]b)-(?!\S)")


def spellings(word: str) -> tuple[str, ...]:
    """The forms under which a vocabulary may have the word, its normal form first.

    >>> spellings("-LRB-"), spellings("``"), spellings("dog")
    (('(', '-LRB-', '-lrb-'), ('``', '"'), ('dog',))
    """
    return _SPELLINGS.get(word) or (word,)


def normal_form(word: str) -> str:
    """The word as models know it: a bracket for its name, and every other word as it is.

    >>> normal_form("-RSB-"), normal_form("-rsb-"), normal_form("''"), normal_form("dog")
    (']', ']', "''", 'dog')
    """
    return spellings(word)[0]


def normal_text(text: str) -> str:
    """Tokenised text with its words in normal form; its spaces stay.

    >>> normal_text("He -LRB- Bo -RRB-  left")
    'He ( Bo )  left'
    """
    return _NAME.sub(lambda name: normal_form(name[0]), text)


def known_spelling(word: str, vocabulary: Container[str], form: Callable[[str], str] = str) -> str | None:
    """The first of the word's spellings that the vocabulary has, after `form` (lower-casing, say); None for none.

    >>> known_spelling("-LRB-", {"("}), known_spelling("(", {"-lrb-"}), known_spelling('"', {"''"})
    ('(', '-lrb-', "''")
    """
    forms = _SPELLINGS.get(word)
    if forms is None:  # as of nearly every word
        found = form(word)
        return found if found in vocabulary else None
    return next((each for each in map(form, forms) if each in vocabulary), None)
