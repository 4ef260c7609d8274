"""The five forms of English verbs and the two of nouns, from the words of tagged text.

A regular verb is a base of which at least two of the forms in -s, -ed and -ing are attested as verbs; irregular ones
come from the list in irregular_forms.py. The number of a noun follows from its ending and its other form:
`number` is `s` (singular), `p` (plural), or `-` where a form is both or the number of its verb is not that of its form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rerank_plugins.english.closed_classes import word_set
from rerank_plugins.english.lexicon.irregular_forms import NOUNS, VERBS, rows
from rerank_plugins.english.lexicon.word_forms import s_form, suffixed

PARTICIPLE_IS_BASE = frozenset(["come", "become", "run", "overcome"])
INVARIANT = word_set(
    "sheep fish deer series species aircraft means news mathematics physics politics economics ethics "
    "headquarters works barracks gallows measles linguistics statistics athletics gymnastics dozen hundred "
    "thousand million billion lot number majority minority variety couple pair plenty rest half part percent none "
    "any all some most data media staff crew team family committee government public police cattle folk kind sort "
    "type chaos lens gas bus"
)
SINGULAR_IN_S = ("ss", "us", "is")


class VerbForms(NamedTuple):
    """The forms of a verb."""

    base: str
    third: str
    past: str
    participle: str
    gerund: str


def verb_paradigms(tagged: Mapping[tuple[str, str], int]) -> list[VerbForms]:
    """The verbs of a text, from the counts of its words (in lower case) with their UPOS tags."""
    attested = {word for (word, tag), count in tagged.items() if tag == "VERB" and count >= 1}
    verbs = [forms for row in rows(VERBS) if (forms := irregular_forms(row)) and forms.base in attested]
    irregular = {form for forms in verbs for form in forms}
    for base in sorted(attested - irregular):
        if tagged[base, "VERB"] < 2 or len(base) < 2 or not base.isascii() or not base.isalpha():
            continue
        third, pasts, gerunds = s_form(base), suffixed(base, "ed"), suffixed(base, "ing")
        past, gerund = (max(forms, key=lambda form: tagged.get((form, "VERB"), 0)) for forms in (pasts, gerunds))
        if sum(form in attested for form in (third, past, gerund)) >= 2:
            verbs.append(VerbForms(base, third, past, past, gerund))
    return verbs


def irregular_forms(row: tuple[str, ...]) -> VerbForms:
    """The forms in a row of irregular verbs: five; four if past and participle are equal; three if both are the base.

    >>> irregular_forms(("put", "puts", "putting")).past
    'put'
    """
    base, third, *middle, gerund = row
    past = middle[0] if middle else base
    participle = middle[1] if len(middle) > 1 else base if base in PARTICIPLE_IS_BASE else past
    return VerbForms(base, third, past, participle, gerund)


def noun_numbers(tagged: Mapping[tuple[str, str], int]) -> Iterator[tuple[str, str, str]]:
    """(noun, number, its other form or "") for each noun of a text, from the counts of its words with their tags."""
    nouns = Counter({word: count for (word, tag), count in tagged.items() if tag == "NOUN" and word.isalpha()})
    irregular = dict(row for row in rows(NOUNS) if len(row) == 2)
    plurals = irregular | {word: s_form(word) for word in nouns if word not in irregular}
    singulars = {plural: word for word, plural in plurals.items() if nouns[word] >= 2 and nouns[plural] >= 2}
    singulars |= {plural: word for word, plural in irregular.items()}
    for noun in nouns:
        if noun in INVARIANT:
            yield noun, "-", ""
        elif noun in singulars:
            yield noun, "p", singulars[noun]
        else:
            singular = not noun.endswith("s") or noun.endswith(SINGULAR_IN_S) or plurals[noun] in singulars
            yield noun, "s" if singular else "-", plurals[noun] if plurals[noun] in singulars else ""
