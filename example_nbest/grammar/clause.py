"""What is said, before it is said in a language: noun phrases and clauses as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from grammar.lexicon import Adverb, Noun, Verb

Form = Literal["present", "perfect", "modal", "passive present", "passive past"]


@dataclass(frozen=True)
class Pronoun:
    """A personal pronoun: nominative, accusative and dative in German, subject and object in English."""

    german: tuple[str, str, str]
    english: tuple[str, str]
    person: int
    plural: bool


@dataclass(frozen=True)
class NounPhrase:
    """`determiner` is the German lemma (der, ein, kein, dies, mein …); `relative` a clause that lacks this phrase.

    `gap` says as what it is lacking there. A plural with the determiner `ein` has none.
    """

    noun: Noun
    determiner: str
    adjective: tuple[str, str] | None = None
    plural: bool = False
    relative: Clause | None = None
    gap: Literal["subject", "object"] = "subject"
    person: int = 3


Argument = Pronoun | NounPhrase


@dataclass(frozen=True)
class Clause:
    """Who does what to whom, when and where. In the passive the subject is what it is done to, `object` the agent."""

    subject: Argument
    verb: Verb
    object: Argument | None = None
    recipient: Argument | None = None
    time: Adverb | None = None
    place: tuple[str, str] | None = None
    form: Form = "present"
    modal: str = ""
    negated: bool = False


def _pronoun(german: str, english: str, person: int, plural: bool) -> Pronoun:
    nominative, accusative, dative = german.split()
    subject, object_ = english.split()
    return Pronoun((nominative, accusative, dative), (subject, object_), person, plural)


PRONOUNS = [
    _pronoun("ich mich mir", "I me", 1, False),
    _pronoun("du dich dir", "you you", 2, False),
    _pronoun("er ihn ihm", "he him", 3, False),
    _pronoun("sie sie ihr", "she her", 3, False),
    _pronoun("wir uns uns", "we us", 1, True),
    _pronoun("ihr euch euch", "you you", 2, True),
    _pronoun("sie sie ihnen", "they them", 3, True),
]
