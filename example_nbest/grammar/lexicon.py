"""Words of the grammar, German beside English, from tables (*.txt) that a reader can extend by a line."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Noun(NamedTuple):
    """Gender is m, f or n; `kind` says which verbs may take the noun."""

    german: str
    gender: str
    german_plural: str
    english: str
    english_plural: str
    kind: str


class Verb(NamedTuple):
    """`prefix` is the separable part; `case` that of the object; `objects` the kinds of noun it may be.

    `stem` is the infinitive without its prefix, `third` the third person singular without it, `auxiliary` of the
    perfect. English forms are base, third person, past, participle and -ing. Stative verbs have no progressive.
    """

    prefix: str
    stem: str
    third: str
    participle: str
    auxiliary: str
    case: str
    objects: tuple[str, ...]
    english: str
    english_third: str
    english_past: str
    english_participle: str
    english_ing: str
    stative: bool


class Adverb(NamedTuple):
    """`time` is when it can be said: present, future, past, habit, or any; `medial` stands before the English verb."""

    german: str
    english: str
    time: str
    medial: bool = False


def _lines(name: str) -> list[list[str]]:
    """The lines of a table beside this file, each as its columns."""
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    return [line.split(" | ") for line in text.splitlines() if not line.startswith("#")]


def _noun(columns: list[str]) -> Noun:
    (german, gender, german_plural), (english, english_plural), (kind,) = (column.split() for column in columns)
    return Noun(german, gender, german_plural, english, english_plural, kind)


def _verb(columns: list[str]) -> Verb:
    prefix, stem, third, participle, auxiliary = columns[0].split()
    case, kinds = columns[1].split()
    base, third_en, past, participle_en, ing, *stative = (word.replace("_", " ") for word in columns[2].split())
    objects = () if kinds == "-" else tuple(kinds.split("+"))
    german = (prefix.strip("-"), stem, third, participle, auxiliary, case.strip("-"))
    return Verb(*german, objects, base, third_en, past, participle_en, ing, bool(stative))


NOUNS = [_noun(line) for line in _lines("nouns.txt")]
VERBS = [_verb(line) for line in _lines("verbs.txt")]
GIVING = [_verb(line) for line in _lines("giving_verbs.txt")]

ADJECTIVES = {  # German stem, English, kinds of noun
    "person": [("alt", "old"), ("jung", "young"), ("freundlich", "friendly"), ("krank", "ill"), ("müd", "tired")],
    "family": [("alt", "old"), ("klein", "little"), ("lieb", "dear")],
    "animal": [("alt", "old"), ("klein", "little"), ("schwarz", "black"), ("groß", "big")],
    "building": [("neu", "new"), ("alt", "old"), ("groß", "big"), ("klein", "small"), ("schön", "beautiful")],
    "machine": [("neu", "new"), ("alt", "old"), ("teuer", "expensive"), ("kaputt", "broken"), ("rot", "red")],
    "opening": [("alt", "old"), ("groß", "big"), ("grün", "green"), ("kaputt", "broken")],
    "thing": [("neu", "new"), ("schwer", "heavy"), ("klein", "small"), ("alt", "old"), ("schön", "beautiful")],
    "clothing": [("warm", "warm"), ("rot", "red"), ("neu", "new"), ("teuer", "expensive"), ("schön", "beautiful")],
    "reading": [("lang", "long"), ("gut", "good"), ("neu", "new"), ("interessant", "interesting"), ("kurz", "short")],
    "food": [("warm", "warm"), ("gut", "good"), ("frisch", "fresh"), ("groß", "big")],
    "question": [("schwer", "difficult"), ("letzt", "last"), ("lang", "long")],
}

TIMES = [
    Adverb("heute", "today", "present"),
    Adverb("jetzt", "now", "present"),
    Adverb("gerade", "at the moment", "present"),
    Adverb("morgen", "tomorrow", "future"),
    Adverb("nächste Woche", "next week", "future"),
    Adverb("am Sonntag", "on Sunday", "future"),
    Adverb("bald", "soon", "future"),
    Adverb("gestern", "yesterday", "past"),
    Adverb("gestern Abend", "yesterday evening", "past"),
    Adverb("letzte Woche", "last week", "past"),
    Adverb("letztes Jahr", "last year", "past"),
    Adverb("am Montag", "on Monday", "past"),
    Adverb("vor drei Tagen", "three days ago", "past"),
    Adverb("jeden Tag", "every day", "habit"),
    Adverb("jeden Abend", "every evening", "habit"),
    Adverb("am Abend", "in the evening", "habit"),
    Adverb("oft", "often", "habit", True),
    Adverb("immer", "always", "habit", True),
]

PLACES = [
    ("im Garten", "in the garden"), ("in der Küche", "in the kitchen"), ("zu Hause", "at home"),
    ("im Büro", "at the office"), ("am Bahnhof", "at the station"), ("in der Schule", "at school"),
    ("im Park", "in the park"), ("auf dem Markt", "at the market"), ("im Keller", "in the cellar"),
    ("vor dem Haus", "in front of the house"), ("im Zug", "on the train"), ("in der Stadt", "in town"),
]  # fmt: skip

MODALS = {  # infinitive: (singular first and third person, second person, English)
    "müssen": ("muss", "musst", "must"),
    "können": ("kann", "kannst", "can"),
    "wollen": ("will", "willst", "want to"),
    "sollen": ("soll", "sollst", "should"),
    "dürfen": ("darf", "darfst", "may"),
}

GO = _verb(["- gehen geht gegangen sein", "- -", "go goes went gone going"])
GOALS = [  # where one goes, said as the place of a clause with `GO`
    ("in die Stadt", "to town"), ("nach Hause", "home"), ("in den Garten", "into the garden"),
    ("zum Bahnhof", "to the station"), ("auf den Markt", "to the market"), ("ins Büro", "to the office"),
    ("in die Schule", "to school"), ("in die Küche", "into the kitchen"), ("zum Arzt", "to the doctor"),
]  # fmt: skip
