"""Pairs of forms: agreement of verbs, determiners and reflexives; reflexives and pronouns in place; irregular verbs."""

from __future__ import annotations

from collections.abc import Iterator

from rerank_plugins.english.minimal_pairs.clauses import (
    MinimalPair,
    Setting,
    declarative,
    phrase,
    plain,
    replaced,
)
from rerank_plugins.english.rules.agreement import (
    antecedent,
    clash,
    features,
    finite_word,
    local_subject,
    number_of_verb,
)
from rerank_plugins.english.word_lists import (
    ACCUSATIVE_OF,
    DEMONSTRATIVES,
    FEMININE,
    FINITE_AUXILIARIES,
    MASCULINE,
    NOMINATIVE_OF,
    OTHER_NUMBER,
    PLURAL_DETERMINERS,
    REFLEXIVES,
    SINGULAR_DETERMINERS,
)

SAID = ("said that", "thought that", "knew that", "explained that", "believed that", "hoped that")
REFLEXIVE_OF = {"him": "himself", "her": "herself", "them": "themselves"}
SUBJECT_REFLEXIVE = {"he": "himself", "she": "herself", "they": "themselves"}
DISTRACTORS = {"s": ("near the houses", "with the books", "beside these women", "behind some of the trees"),
               "p": ("near the house", "with the book", "beside this woman", "behind one of the trees")}  # fmt: skip


def irregular_forms(setting: Setting) -> Iterator[MinimalPair]:
    """The past after an auxiliary or before a noun, or the participle as finite verb."""
    view, lexicon, _ = setting
    for i, tag in enumerate(view.tags):
        verb = lexicon.by_form.get(view.words[i]) if tag in ("VERB", "ADJ") else None
        if verb is None or verb.past == verb.participle or verb.participle == verb.base:
            continue
        slots = lexicon.slots(view.words[i])
        if slots == {"participle"} and (view.auxiliaries(i) or view.relations[i] == "amod"):
            yield setting.changed("irregular_forms", "past-for-participle", {i: verb.past})
        elif slots == {"past"} and tag == "VERB" and not view.auxiliaries(i):
            yield setting.changed("irregular_forms", "participle-for-past", {i: verb.participle})


def case(setting: Setting) -> Iterator[MinimalPair]:
    """A subject in the accusative, or an object in the nominative."""
    view = setting.view
    for i, form in enumerate(view.words):
        head, relation = view.heads[i], view.relations[i]
        if head < 0 or view.dependents(i, "conj"):
            continue
        finite = any(view.words[k] in FINITE_AUXILIARIES for k in view.auxiliaries(head)) or (
            view.tags[head] == "VERB" and not view.is_infinitive(head)
        )
        if form in ACCUSATIVE_OF and relation == "nsubj" and head > i and finite:
            yield setting.changed("case", "subject-case", {i: ACCUSATIVE_OF[form]})
        elif form in NOMINATIVE_OF and relation in ("obj", "obl") and head < i and view.tags[head] == "VERB":
            following = view.tags[min(i + 1, len(view) - 1)]
            if following not in ("VERB", "AUX", "PART"):
                yield setting.changed("case", "object-case", {i: NOMINATIVE_OF[form]})


def places(setting: Setting) -> Iterator[MinimalPair]:
    """A reflexive for a pronoun whose antecedent is outside its clause: as subject, or beside another subject."""
    view, lexicon, _ = setting
    clause = declarative(view)
    if clause is None:
        return
    subject = view.subject(clause.verb)
    assert subject is not None  # a declarative clause has a subject
    form = view.words[subject]
    if form in SUBJECT_REFLEXIVE:
        names = {"he": MASCULINE, "she": FEMININE}
        who = ["the", "women"] if form == "they" else [setting.drawn(names[form])]
        before = [*who, *setting.drawn(SAID).split()]
        rest = plain(view, clause.without([subject]))
        sides = ([*before, word, *rest] for word in (form, SUBJECT_REFLEXIVE[form]))
        yield setting.contrast("binding", "reflexive-subject", *sides)
    is_ = features(view, lexicon, antecedent(view, subject))
    for i in view.dependents(clause.verb, "obj"):
        pronoun = view.words[i]
        if pronoun not in REFLEXIVE_OF or local_subject(view, i) != subject:
            continue
        gender = {"him": "m", "her": "f"}.get(pronoun)
        other_gender = gender is not None and is_.gender in ("m", "f") and is_.gender != gender
        other_number = pronoun == "them" and is_.number == "s"
        if is_.person == 3 and (other_gender or other_number):
            who = ["the", "women"] if pronoun == "them" else [setting.drawn(MASCULINE if gender == "m" else FEMININE)]
            before = [*who, *setting.drawn(SAID).split()]
            left, right = (plain(view, positions) for positions in (range(i), range(i + 1, clause.body.stop)))
            sides = ([*before, *left, word, *right] for word in (pronoun, REFLEXIVE_OF[pronoun]))
            yield setting.contrast("binding", "reflexive-distance", *sides)


def subject_verb(setting: Setting) -> Iterator[MinimalPair]:
    """The verb in the other number, as it stands and with a noun of the other number before it."""
    view, lexicon, _ = setting
    for subject, relation in enumerate(view.relations):
        predicate = view.heads[subject]
        if relation != "nsubj" or predicate < subject or view.tags[subject] not in ("NOUN", "PROPN", "PRON"):
            continue
        finite, is_ = finite_word(view, predicate), features(view, lexicon, antecedent(view, subject))
        if finite is None or finite < subject or is_.number == "-" or is_.person != 3:
            continue
        if number_of_verb(view, lexicon, finite) != is_.number:
            continue
        form = view.words[finite]
        verb = lexicon.by_form.get(form)
        other = OTHER_NUMBER.get(form) or (verb and (verb.base if is_.number == "s" else verb.third))
        if not other or other == form:
            continue
        pair = setting.changed("subject_verb_agreement", "verb-number", {finite: other})
        yield pair
        span = phrase(view, subject)
        if view.tags[subject] == "NOUN" and span is not None and span[-1] < finite:
            words = setting.drawn(DISTRACTORS[is_.number]).split()
            at = span[-1] + 1
            good_far, bad_far = ((*side[:at], *words, *side[at:]) for side in (pair.good, pair.bad))
            yield MinimalPair("subject_verb_agreement", "verb-number-distractor", good_far, bad_far)


def determiner_noun(setting: Setting) -> Iterator[MinimalPair]:
    """A demonstrative, or a noun after a determiner or numeral, in the other number."""
    view, lexicon, _ = setting
    for i, form in enumerate(view.words):
        noun = view.heads[i]
        if noun <= i or view.tags[noun] != "NOUN" or view.relations[i] not in ("det", "nummod", "amod"):
            continue
        number, other = lexicon.noun_number(view.words[noun]), lexicon.other_number(view.words[noun])
        if not other or number != ("s" if form in SINGULAR_DETERMINERS else "p"):
            continue
        if view.dependents(noun, "nummod") and form in SINGULAR_DETERMINERS:
            continue
        if form in DEMONSTRATIVES and view.relations[i] == "det":
            yield setting.changed("determiner_noun_agreement", "determiner-number", {i: DEMONSTRATIVES[form]})
        if form in (SINGULAR_DETERMINERS | PLURAL_DETERMINERS) - {"the"}:
            yield setting.changed("determiner_noun_agreement", "noun-number", {noun: other})


def anaphors(setting: Setting) -> Iterator[MinimalPair]:
    """A reflexive of another gender or number than the subject of its clause, also with such a name between them."""
    view, lexicon, _ = setting
    for i, form in enumerate(view.words):
        if form not in REFLEXIVES or (subject := local_subject(view, i)) is None or subject > i:
            continue
        is_ = features(view, lexicon, antecedent(view, subject))
        if is_.person != 3 or clash(view, lexicon, i, subject) or (is_.number, form) == ("p", "itself"):
            continue
        others = {"himself": "herself", "herself": "himself"} if is_.gender in ("m", "f") else {}
        wrong = others.get(form)
        if wrong is not None:
            yield setting.changed("anaphor_agreement", "reflexive-gender", {i: wrong})
            span = phrase(view, subject)
            if span is not None and span[-1] < i and view.tags[subject] == "NOUN":
                name = setting.drawn(FEMININE if is_.gender == "m" else MASCULINE)
                words, at = ("who", "knew", name), span[-1] + 1
                good, bad = ((*side[:at], *words, *side[at:]) for side in (view.tree.words, replaced(view, {i: wrong})))
                yield MinimalPair("binding", "reflexive-distractor", good, bad)
        if is_.number == "s" and form in ("himself", "herself", "itself"):
            yield setting.changed("anaphor_agreement", "reflexive-number", {i: "themselves"})
        elif is_.number == "p" and form == "themselves":
            wrong = setting.drawn(("himself", "herself"))
            yield setting.changed("anaphor_agreement", "reflexive-number", {i: wrong})
