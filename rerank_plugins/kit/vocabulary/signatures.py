"""Unknown words: the signatures that replace them, and the words of a training corpus that are treated as unknown.

A signature, such as `UNK-INITC-KNOWNLC`, `UNK-LC-ing` or `UNK-NUM`, is itself a word of the closed vocabulary. Its
features are those of the Berkeley parser's lexicon (Petrov et al. 2006) at its finest level. All models that are
compared see the same replacements, so that their probabilities are those of the same events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rerank_plugins.core.brackets_and_quotes import known_spelling, normal_form

UNKNOWN = "UNK"  # the signature without features, which every closed vocabulary has
ENDINGS = ("ed", "ing", "ion", "er", "est", "ly", "ity", "y", "al")
Sentence = Sequence[str]


def signature(word: str, first: bool, lower_known: bool) -> str:
    """The signature of a word outside the vocabulary.

    `first` is whether it begins its sentence, `lower_known` whether its lower-case form is in the vocabulary.
    """
    lowered = word.lower()
    capitals = sum(character.isalpha() and not character.islower() for character in word)
    digit, dash = any(character.isdigit() for character in word), "-" in word
    parts = [UNKNOWN]
    if word[:1].isupper() or word[:1].istitle():
        parts += (["INITC", "KNOWNLC"] if lower_known else ["INITC"]) if first and capitals == 1 else ["CAPS"]
    elif capitals and not word[:1].isalpha():
        parts.append("CAPS")
    elif any(character.islower() for character in word):
        parts.append("LC")
    parts += ["NUM"] * digit + ["DASH"] * dash
    if len(word) >= 3 and lowered.endswith("s"):
        parts += ["s"] * (lowered[-2] not in "siu")
    elif len(word) >= 5 and not dash and not (digit and capitals):
        parts += [ending for ending in ENDINGS if lowered.endswith(ending)][:1]
    return "-".join(parts)


def is_signature(word: str) -> bool:
    """Whether a word of a closed vocabulary is a signature, which stands for unknown words."""
    return word == UNKNOWN or word.startswith(f"{UNKNOWN}-")


def backed_off(full: str) -> Iterator[str]:
    """A signature, then the same without its last feature, and so on down to `UNK`.

    >>> list(backed_off("UNK-LC-NUM"))
    ['UNK-LC-NUM', 'UNK-LC', 'UNK']
    """
    while full:
        yield full
        full = full.rpartition("-")[0]


def known_form(word: str, position: int, vocabulary: Container[str]) -> str:
    """The word if it is in the vocabulary, else the most specific of its signatures that is, in the end `UNK`.

    Brackets and quotation marks may have any of their spellings (core/brackets_and_quotes.py).

    >>> known_form("-LRB-", 3, {"(", "UNK"}), known_form("walking", 3, {"UNK-LC", "UNK"})
    ('(', 'UNK-LC')
    """
    known = known_spelling(word, vocabulary)
    if known is not None:
        return known
    word = normal_form(word)
    full = signature(word, position == 0, word.lower() in vocabulary)
    return next((form for form in backed_off(full) if form in vocabulary), UNKNOWN)


def closed(sentence: Sentence, vocabulary: Container[str]) -> tuple[str, ...]:
    """The sentence with its unknown words replaced, as all models of a comparison read it."""
    return tuple(known_form(word, position, vocabulary) for position, word in enumerate(sentence))


@dataclass(frozen=True)
class UnknownWords:
    """Decides which occurrences in a training corpus become signatures, so that models learn about unknown words.

    In a large corpus (Pauls & Klein 2012, §4), after the first `first` sentences, a word that has not occurred before
    becomes its signature with probability `rate`, drawn with `seed`. In a corpus of fewer than twice `first` sentences,
    the words that occur only once become signatures, and nothing is drawn. In both cases the vocabulary consists of the
    words of the resulting corpus, and `UNK`.
    """

    first: int = 10_000
    rate: float = 0.1
    seed: int = 1

    def replaced(self, sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
        """The training corpus with signatures in place of some words; nothing else changes."""
        unknown = self._singletons(sentences) if len(sentences) < 2 * self.first else self._drawn(sentences)
        known = {
            word
            for sentence, marks in zip(sentences, unknown, strict=True)
            for word, mark in zip(sentence, marks, strict=True)
            if not mark
        }
        return [
            tuple(
                signature(word, position == 0, word.lower() in known) if mark else word
                for position, (word, mark) in enumerate(zip(sentence, marks, strict=True))
            )
            for sentence, marks in zip(sentences, unknown, strict=True)
        ]

    def _singletons(self, sentences: Sequence[Sentence]) -> list[list[bool]]:
        counts = Counter(word for sentence in sentences for word in sentence)
        return [[counts[word] == 1 for word in sentence] for sentence in sentences]

    def _drawn(self, sentences: Sequence[Sentence]) -> list[list[bool]]:
        rng = np.random.default_rng(self.seed)
        seen: set[str] = set()
        marks = []
        for number, sentence in enumerate(sentences):
            row = []
            for word in sentence:
                new = word not in seen
                seen.add(word)
                row.append(new and number >= self.first and rng.random() < self.rate)
            marks.append(row)
        return marks
