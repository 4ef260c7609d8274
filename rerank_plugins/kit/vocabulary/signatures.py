"""Unknown words: the signatures that replace them, and the words of a training corpus that are treated as unknown.

A signature, such as `UNK-INITC-KNOWNLC`, `UNK-LC-ing` or `UNK-NUM`, is itself a word of the closed vocabulary. Its
features are those of the Berkeley parser's lexicon (Petrov et al. 2006) at its finest level. All models that are
compared see the same replacements, so that their probabilities are those of the same events.

The endings of these features are English. In any other language they are the last one to three letters, `UNK-LC-~g-~ng`
and `UNK-LC-~g-~ng-~ung`, as far as enough unknown words of the training corpus share them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile

import numpy as np

from rerank_plugins.core.brackets_and_quotes import known_spelling, normal_form

UNKNOWN_SIGNATURE = "UNK"  # the signature without features, which every closed vocabulary has
ENDINGS = ("ed", "ing", "ion", "er", "est", "ly", "ity", "y", "al")
LAST = "~"  # the first character of the last letters of a word, as features
MAX_ENDING_LETTERS, MIN_STEM_LETTERS = 3, 2  # of such an ending, and of the stem before it
MIN_SHARED_WORDS = 10  # unknown words that have an ending at least
Sentence = Sequence[str]


def signature(word: str, first: bool, lower_known: bool, *, english: bool = True) -> str:
    """The signature of a word outside the vocabulary.

    `first` is whether it begins its sentence, `lower_known` whether its lower-case form is in the vocabulary.

    >>> signature("Walking", True, False), signature("Wandlung", True, False, english=False)
    ('UNK-INITC-ing', 'UNK-INITC-~g-~ng-~ung')
    """
    lowered = word.lower()
    capitals = sum(character.isalpha() and not character.islower() for character in word)
    digit, dash = any(character.isdigit() for character in word), "-" in word
    parts = [UNKNOWN_SIGNATURE]
    if word[:1].isupper() or word[:1].istitle():
        parts += (["INITC", "KNOWNLC"] if lower_known else ["INITC"]) if first and capitals == 1 else ["CAPS"]
    elif capitals and not word[:1].isalpha():
        parts.append("CAPS")
    elif any(character.islower() for character in word):
        parts.append("LC")
    parts += ["NUM"] * digit + ["DASH"] * dash
    if not english:
        endings = (lowered[-size:] for size in range(1, min(MAX_ENDING_LETTERS, len(word) - MIN_STEM_LETTERS) + 1))
        parts += [LAST + ending for ending in takewhile(str.isalpha, endings)]
    elif len(word) >= 3 and lowered.endswith("s"):
        parts += ["s"] * (lowered[-2] not in "siu")
    elif len(word) >= 5 and not dash and not (digit and capitals):
        parts += [ending for ending in ENDINGS if lowered.endswith(ending)][:1]
    return "-".join(parts)


def is_signature(word: str) -> bool:
    """Whether a word of a closed vocabulary is a signature, which stands for unknown words."""
    return word == UNKNOWN_SIGNATURE or word.startswith(f"{UNKNOWN_SIGNATURE}-")


def backed_off(full: str) -> Iterator[str]:
    """A signature, then the same without its last feature, and so on down to `UNK`.

    >>> list(backed_off("UNK-LC-NUM"))
    ['UNK-LC-NUM', 'UNK-LC', 'UNK']
    """
    while full:
        yield full
        full = full.rpartition("-")[0]


def signatures(word: str, first: bool, lower_known: bool) -> Iterator[str]:
    """The signatures of a word that a vocabulary may have, the most specific one first: last letters, then English.

    The vocabulary of an English model has none with last letters, and that of another one none with English endings.
    """
    letters = backed_off(signature(word, first, lower_known, english=False))
    return chain((form for form in letters if LAST in form), backed_off(signature(word, first, lower_known)))


def with_shared_endings(counts: Mapping[str, int]) -> dict[str, str]:
    """The signature of each of these: last letters that fewer than MIN_SHARED_WORDS words have lose the first of them.

    >>> with_shared_endings({"UNK-~n-~en": 8, "UNK-~n-~on": 2, "UNK-~t": 9, "UNK-ing": 1})
    {'UNK-~n-~en': 'UNK-~n', 'UNK-~n-~on': 'UNK-~n', 'UNK-~t': 'UNK', 'UNK-ing': 'UNK-ing'}
    """
    now = {form: form for form in counts}
    for size in range(MAX_ENDING_LETTERS, 0, -1):
        totals = Counter[str]()
        for form, count in counts.items():
            totals[now[form]] += count
        for form, kept in now.items():
            shorter, _, last = kept.rpartition("-")
            if last.startswith(LAST) and len(last) == size + len(LAST) and totals[kept] < MIN_SHARED_WORDS:
                now[form] = shorter
    return now


def known_form(word: str, position: int, vocabulary: Container[str]) -> str:
    """The word if it is in the vocabulary, else the most specific of its signatures that is, in the end `UNK`.

    Brackets and quotation marks may have any of their spellings (core/brackets_and_quotes.py).

    >>> known_form("-LRB-", 3, {"(", "UNK"}), known_form("walking", 3, {"UNK-LC", "UNK"})
    ('(', 'UNK-LC')
    """
    known = known_spelling(word, vocabulary)
    return class_of(normal_form(word), position == 0, vocabulary) if known is None else known


def class_of(word: str, first: bool, vocabulary: Container[str]) -> str:
    """The most specific signature of a word, in its normal form, that the vocabulary has, in the end `UNK`."""
    forms = signatures(word, first, word.lower() in vocabulary)
    return next((form for form in forms if form in vocabulary), UNKNOWN_SIGNATURE)


def closed(sentence: Sentence, vocabulary: Container[str]) -> tuple[str, ...]:
    """The sentence with its unknown words replaced, as all models of a comparison read it."""
    return tuple(known_form(word, position, vocabulary) for position, word in enumerate(sentence))


@dataclass(frozen=True)
class UnknownWords:
    """Decides which occurrences in a training corpus become signatures, so that models learn about unknown words.

    In a large corpus (Pauls & Klein 2012, §4), after the first `first` sentences, a word that has not occurred before
    becomes its signature with probability `rate`, drawn with `seed`. In a corpus of fewer than twice `first` sentences,
    the words that occur only once become signatures, and nothing is drawn. In both cases the vocabulary consists of the
    words of the resulting corpus, and `UNK`. Signatures have `english` endings, or the last letters that words share.
    """

    first: int = 10_000
    rate: float = 0.1
    seed: int = 1
    english: bool = True

    def replaced(self, sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
        """The training corpus with signatures in place of some words; nothing else changes."""
        unknown = self._singletons(sentences) if len(sentences) < 2 * self.first else self._drawn(sentences)
        known = {
            word
            for sentence, marks in zip(sentences, unknown, strict=True)
            for word, mark in zip(sentence, marks, strict=True)
            if not mark
        }
        full = [
            [
                signature(word, position == 0, word.lower() in known, english=self.english) if mark else ""
                for position, (word, mark) in enumerate(zip(sentence, marks, strict=True))
            ]
            for sentence, marks in zip(sentences, unknown, strict=True)
        ]
        shared = with_shared_endings(Counter(form for forms in full for form in forms if form))
        return [
            tuple(shared[form] if form else word for word, form in zip(sentence, forms, strict=True))
            for sentence, forms in zip(sentences, full, strict=True)
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
