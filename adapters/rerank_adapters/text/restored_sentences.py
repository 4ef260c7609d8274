"""Restores the case and the final mark of recognised words, for models of written text.

Recognisers write lower-case words without punctuation, and the embedded models read cased sentences that end in a
mark. Each word takes the casing that it most often has in the embedded table of word frequencies (Lita et al. 2003
call this the unigram baseline of truecasing), the first letter of the sentence is a capital, and a question mark
follows what begins like a question, a full stop anything else. The rules are English.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from rerank_plugins.core.words import split_words, straight_apostrophes
from rerank_plugins.kit.vocabulary.unigrams import read_embedded

MARKS = ".?!…:;"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


AUXILIARIES = _words(
    "is are was were am do does did has have had can could will would shall should may might must "
    "isn't aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't can't couldn't won't wouldn't "
    "shan't shouldn't mustn't"
)
QUESTION_WORDS = _words("who whom whose what which when where why how")
SUBJECTS = _words(
    "i you he she it we they there this that these those the a an any my your his her its our their "
    "anybody anyone anything everybody everyone somebody someone nobody not"
)
IMPERATIVES = _words("do have don't")  # these begin a question only before a subject: `do you`, but not `do come`
MEASURES = {
    "how": _words("many much long far old often big"),
    "what": _words("kind sort time"),
    "which": _words("one way"),
}


def restore_sentence(text: str) -> str:
    """Write recognised words as a sentence: `where did john go` -> `Where did John go?`.

    Words that have a capital already and a final mark that is there stay as they are; an empty text stays empty.
    """
    text = " ".join(split_words(straight_apostrophes(text)))
    body = text.rstrip(MARKS).rstrip()
    words = split_words(body)
    if not words:
        return text
    casings = _casings()
    cased = [_cased(word, casings) for word in words]
    cased[0] = cased[0][:1].upper() + cased[0][1:]
    mark = text[len(body) :] or final_mark([word.lower() for word in words])
    return " ".join(cased) + mark


def final_mark(words: list[str]) -> str:
    """`?` if the lower-cased words begin like a question, that is with an auxiliary before its subject, else `.`.

    A question word alone does not make a question (`when he came`); an auxiliary must follow it (`when did he`), or a
    measure (`how many`).
    """
    first, second = words[0], words[1] if len(words) > 1 else ""
    if first in QUESTION_WORDS:
        return "?" if not second or second in AUXILIARIES or second in MEASURES.get(first, ()) else "."
    if first not in AUXILIARIES or not second or second == "not":
        return "."
    subjects = SUBJECTS - {"a", "an", "the"} if first in IMPERATIVES else SUBJECTS  # `have the goodness`
    return "?" if second in subjects else "."


def _cased(word: str, casings: Mapping[str, str]) -> str:
    """The word in its usual casing; of a word with an apostrophe that is not known, the part before it is looked up."""
    if not word.islower():
        return word
    if word in casings:
        return casings[word]
    head, apostrophe, tail = word.partition("'")
    return casings.get(head, head) + apostrophe + tail


@cache
def _casings() -> dict[str, str]:
    """By lower-cased word, its most frequent casing in the embedded table; the lower-case one among equals."""
    best: dict[str, tuple[float, bool]] = {}
    casings: dict[str, str] = {}
    for form, log_probability in read_embedded().items():
        lower = form.lower()
        rank = (log_probability, form == lower)
        if lower not in best or rank > best[lower]:
            best[lower], casings[lower] = rank, form
    return casings
