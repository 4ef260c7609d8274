"""Random parallel sentences: a clause is drawn, then said in both languages.

Draws use `random()` of the standard library alone, whose stream is promised to stay the same in every Python version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from grammar import english, german
from grammar.clause import PRONOUNS, Argument, Clause, Form, NounPhrase
from grammar.lexicon import ADJECTIVES, GIVING, GO, GOALS, MODALS, NOUNS, PLACES, TIMES, VERBS

Pair = tuple[str, str]
T = TypeVar("T")
TRANSITIVE = [verb for verb in VERBS if verb.objects]
INTRANSITIVE = [verb for verb in VERBS if not verb.objects]
MATRIX = [  # what a dass-clause or indirect question hangs on
    ("ich glaube , dass", "I think that"),
    ("wir hoffen , dass", "we hope that"),
    ("sie sagt , dass", "she says that"),
    ("er hat mir gesagt , dass", "he told me that"),
    ("weißt du , ob", "do you know whether"),
    ("ich weiß nicht , warum", "I do not know why"),
    ("ich möchte wissen , wann", "I would like to know when"),
]
CONTROL = [  # what an infinitive with zu hangs on
    ("sie hat versprochen ,", "she promised"),
    ("ich habe vergessen ,", "I forgot"),
    ("er versucht ,", "he is trying"),
    ("wir haben versucht ,", "we tried"),
    ("es ist wichtig ,", "it is important"),
    ("hast du Zeit ,", "do you have time"),
]
CONJUNCTIONS = [("weil", "because"), ("obwohl", "although"), ("bevor", "before")]
PRESENT_CONJUNCTIONS = [*CONJUNCTIONS, ("wenn", "if"), ("wenn", "when"), ("während", "while")]
POSSESSIVES = ["mein", "dein", "sein", "ihr", "unser"]
FORMS: list[Form] = ["present", "perfect", "perfect", "modal"]
KINDS_OF_TIME = {"present": ("present", "future", "habit"), "perfect": ("past",), "modal": ("present", "future")}
QUESTION_WORDS = [("wo", "where"), ("wann", "when"), ("warum", "why")]


class Speaker:
    """Draws sentences with its generator."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def choose(self, items: Sequence[T]) -> T:
        """One of the items, all equally likely."""
        return items[int(self.random.random() * len(items))]

    def chance(self, p: float) -> bool:
        """True with probability p."""
        return self.random.random() < p

    def noun_phrase(self, kinds: Sequence[str], relative: float = 0.0) -> NounPhrase:
        """A noun of one of the kinds, with a relative clause at that probability."""
        noun = self.choose([noun for noun in NOUNS if noun.kind in kinds])
        determiners = ["der", "der", "der", "ein", "ein", "dies"]
        if noun.kind == "family":
            determiners = POSSESSIVES
        elif noun.kind != "person":
            determiners = [*determiners, *POSSESSIVES]
        adjective = self.choose(ADJECTIVES[noun.kind]) if self.chance(0.3) else None
        plural = noun.german_plural != "-" and self.chance(0.25)
        phrase = NounPhrase(noun, self.choose(determiners), adjective, plural)
        if not self.chance(relative):
            return phrase
        if noun.kind in ("person", "family"):
            return replace(phrase, determiner="der", relative=self.clause(phrase, simple=True), gap="subject")
        takers = [verb for verb in TRANSITIVE if noun.kind in verb.objects]
        clause = Clause(self.someone(), self.choose(takers), phrase, form="perfect")
        return replace(phrase, determiner="der", relative=clause, gap="object")

    def someone(self, relative: float = 0.0) -> Argument:
        """A person who does something."""
        if self.chance(0.45):
            return self.choose(PRONOUNS)
        return self.noun_phrase(["person", "family"], relative)

    def clause(self, subject: Argument, *, simple: bool = False) -> Clause:
        """An active clause; a simple one has a plain object and no negation."""
        draw = self.random.random()
        form: Form = self.choose(FORMS)
        kind = KINDS_OF_TIME[form]
        time = self.choose([time for time in TIMES if time.time in kind]) if self.chance(0.55) else None
        place = self.choose(PLACES) if self.chance(0.3) else None
        clause = Clause(subject, GO, time=time, form=form, modal=self.choose(list(MODALS)) if form == "modal" else "")
        if draw < 0.25:
            clause = replace(clause, verb=self.choose(INTRANSITIVE), place=place)
        elif draw < 0.35:
            clause = replace(clause, place=self.choose(GOALS))
        elif draw < 0.5:
            verb = self.choose(GIVING)
            recipient = self.choose(PRONOUNS[2:4]) if self.chance(0.3) else self.noun_phrase(["family", "person"])
            clause = replace(clause, verb=verb, recipient=recipient, object=self.noun_phrase(verb.objects))
        else:
            verb = self.choose(TRANSITIVE)
            object_ = self.noun_phrase(verb.objects, relative=0.0 if simple else 0.15)
            clause = replace(clause, verb=verb, object=object_, place=place if self.chance(0.3) else None)
        return clause if simple or not self.chance(0.2) else self.negate(clause)

    def negate(self, clause: Clause) -> Clause:
        """Not … or, where the object is indefinite, no …."""
        object_ = clause.object
        if isinstance(object_, NounPhrase) and object_.determiner == "ein":
            clause = replace(clause, object=replace(object_, determiner="kein"))
        return replace(clause, negated=True)

    def statement(self) -> Pair:
        """A main clause, the time first in German half of the time."""
        clause = self.clause(self.someone(relative=0.15))
        front = "time" if clause.time and self.chance(0.5) else ""
        english_front = bool(front) and not (clause.time and clause.time.medial) and self.chance(0.3)
        return german.main(clause, front) + " .", english.main(clause, english_front) + " ."

    def question(self) -> Pair:
        """A question with or without a question word."""
        clause = replace(self.clause(self.someone(), simple=True), negated=False)
        word = self.choose(QUESTION_WORDS[clause.verb is GO :]) if self.chance(0.5) else ("", "")
        clause = replace(clause, time=None if word[0] == "wann" else clause.time)
        clause = replace(clause, place=None if word[0] == "wo" else clause.place)
        return german.question(clause, word[0]) + " ?", english.question(clause, word[1]) + " ?"

    def embedded(self) -> Pair:
        """A clause that hangs on another."""
        matrix, clause = self.choose(MATRIX), self.clause(self.someone())
        mark = " ?" if matrix[1].startswith("do ") else " ."
        return german.subordinate(clause, matrix[0]) + mark, english.subordinate(clause, matrix[1]) + mark

    def adverbial(self) -> Pair:
        """A main clause with a clause of reason or time, after it or before it."""
        one, two = self.clause(self.someone(), simple=True), self.clause(self.someone(), simple=True)
        conjunction = self.choose(CONJUNCTIONS if one.form == "perfect" else PRESENT_CONJUNCTIONS)
        two = replace(two, time=None, form="perfect" if one.form == "perfect" else "present", modal="")
        if conjunction[0] in ("bevor", "wenn"):  # before I open, not: before I am opening
            two = replace(two, verb=two.verb._replace(stative=True))
        if self.chance(0.6):
            return (
                f"{german.main(one)} , {german.subordinate(two, conjunction[0])} .",
                f"{english.main(one)} {english.subordinate(two, conjunction[1])} .",
            )
        return (
            german.main(one, front=german.subordinate(two, conjunction[0]) + " ,") + " .",
            f"{english.subordinate(two, conjunction[1])} , {english.main(one)} .",
        )

    def infinitive(self) -> Pair:
        """An infinitive with zu, or with um … zu."""
        clause = replace(self.clause(PRONOUNS[0], simple=True), time=None, form="present", modal="")
        if self.chance(0.5):
            matrix = self.choose(CONTROL)
            mark = " ?" if matrix[1].startswith("do ") else " ."
            return f"{matrix[0]} {german.infinitive(clause)}{mark}", f"{matrix[1]} {english.infinitive(clause)}{mark}"
        going = Clause(self.someone(), GO, place=self.choose(GOALS), form=self.choose(FORMS[:2]))
        return (
            f"{german.main(going)} , um {german.infinitive(clause)} .",
            f"{english.main(going)} {english.infinitive(clause)} .",
        )

    def passive(self) -> Pair:
        """What was done, perhaps by whom."""
        verb = self.choose([verb for verb in TRANSITIVE if verb.case == "acc" and not verb.stative])
        time = self.choose([time for time in TIMES if time.time == "past"]) if self.chance(0.6) else None
        agent = self.noun_phrase(["person", "family"]) if self.chance(0.3) else None
        clause = Clause(self.noun_phrase(verb.objects), verb, agent, time=time, form="passive past")
        if not time and self.chance(0.4):
            clause = replace(clause, form="passive present")
        front = "time" if time and self.chance(0.3) else ""
        return german.main(clause, front) + " .", english.main(clause) + " ."


def sentences(random: Random) -> Iterator[Pair]:
    """An endless stream of parallel sentences, German first, tokenised, without capitals that only start a sentence."""
    speaker = Speaker(random)
    kinds: list[Callable[[], Pair]] = [
        speaker.statement, speaker.statement, speaker.statement, speaker.question, speaker.embedded,
        speaker.embedded, speaker.adverbial, speaker.infinitive, speaker.passive,
    ]  # fmt: skip
    while True:
        source, target = speaker.choose(kinds)()
        yield _tidy(source), _tidy(target)


def _tidy(text: str) -> str:
    """One comma where a relative clause ends with its sentence or meets another, none before the full stop."""
    for mark in (" ,", " .", " ?"):
        text = text.replace(" ," + mark, mark)
    return text
